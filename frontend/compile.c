/* compile.c -- from a model file to a kernel that homodyne-any loads; compiled once.
 *
 * Cache: $XDG_CACHE_HOME/homodyne (or ~/.cache/homodyne)/KEY/MODEL.so. KEY is the SHA-256 of the model file, the
 * compiler homodyne-gen, the C compiler's identification, its options, the headers that the kernel is compiled with,
 * the version and the instruction set: when one of them changes, another kernel is made. A kernel is made in a
 * folder of its own, checked against the compiler's interpreter (`selfcheck`), and then put in place by one rename;
 * several processes may do so at the same time. That folder has a unique name, .making.ID, and beside it a locked
 * file, .making.ID.lock: if the lock is free, a killed process has left the folder, and it is removed. The cache
 * belongs to the user: a folder that others may write to is not used, since its contents are executed. */
#define _XOPEN_SOURCE 700
#include "frontend/front.h"
#include "base/json.h"

#include "base/clock.h"
#include "common/regular.h"
#include "common/sha256.h"
#include "common/unique.h"
#include "machine/cpu.h"

#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_MODEL = 1 << 20, MOST_WORDS = 40 };
static const char BASE[] = "aarch64-base", SVE[] = "aarch64-sve"; /* NEON; levels, the bits of a vector behind it */

struct job {
    struct front *f;
    const char *file;
    char *text; /* of the model */
    size_t size;
    const char *cc;
    char beside[FRONT_PATH + 32]; /* the compiler beside the programs */
    char level[16]; /* "x86-64-v3", or "" */
    char cache[FRONT_PATH], key[SHA256_HEX];
    char dir[FRONT_PATH + 96];
    struct front_making making;
};

/* ---- identity -------------------------------------------------------------------------------- */

static enum fit_status read_model(struct job *job, struct fit_error *err)
{
    FILE *f = regular_open(job->file);
    if (!f)
        return fit_fail(err, FIT_ERR_USAGE, "--model %s: cannot be read: %s%s", job->file,
                        regular_what(job->file) ? "it is no file, but " : "",
                        regular_what(job->file) ? regular_what(job->file) : strerror(errno));
    job->text = malloc(LONGEST_MODEL + 1);
    job->size = job->text ? fread(job->text, 1, LONGEST_MODEL + 1, f) : 0;
    const int bad = ferror(f);
    fclose(f);
    if (!job->text)
        return fit_no_memory(err, NULL);
    if (bad || job->size > LONGEST_MODEL)
        return fit_fail(err, FIT_ERR_USAGE, "--model %s: no model file", job->file);
    return FIT_OK;
}

static void add_text(struct sha256 *s, const char *text)
{
    sha256_update(s, text, strlen(text) + 1);
}

static enum fit_status add_file(struct sha256 *s, const char *path, struct fit_error *err)
{
    char buffer[1 << 14];
    FILE *f = fopen(path, "rb");
    if (!f)
        return fit_fail(err, FIT_ERR_IO, "%s: cannot be read: %s", path, strerror(errno));
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, f)) > 0;)
        sha256_update(s, buffer, n);
    fclose(f);
    return FIT_OK;
}

void front_level(char level[16])
{
    static const char *const known[] = {
#if defined(__aarch64__)
        BASE, "aarch64-sve256", "aarch64-sve512",
#endif
        "x86-64-v2", "x86-64-v3", "x86-64-v4"};
    const char *wanted = getenv("FIT_ISA");
    int is_wanted = 0;
    level[0] = '\0';
    for (size_t k = 0; k < sizeof known / sizeof *known && !is_wanted; k++)
        if (fit_cpu_supports(known[k])) {
            snprintf(level, 16, "%s", known[k]);
            is_wanted = wanted && fit_cpu_is_named(known[k], wanted);
        }
}

static int is_sve(const char *level)
{
    return strncmp(level, SVE, sizeof SVE - 1) == 0;
}

/* clang refuses the assembly of fit/vmath.h for vectors of SVE (FitModel.cmake): its models are those of NEON. */
static enum fit_status choose_level(struct job *job, const char *version, struct fit_error *err)
{
    const char *wanted = getenv("FIT_ISA");
    if (!is_sve(job->level) || !strstr(version, "clang"))
        return FIT_OK;
    if (wanted && fit_cpu_is_named(job->level, wanted))
        return fit_fail(err, FIT_ERR_USAGE, "FIT_ISA=%.20s: '%.150s' is clang, which compiles models for NEON only "
                                            "(FIT_ISA=base); gcc compiles them for SVE", wanted, job->cc);
    snprintf(job->level, sizeof job->level, "%s", BASE);
    return FIT_OK;
}

static enum fit_status make_key(struct job *job, struct fit_error *err)
{
    char path[FRONT_PATH + 64], *version = NULL;
    char *words[] = {front_word(job->cc), front_word("--version"), NULL};
    unsigned char digest[SHA256_BYTES];
    struct sha256 s;
    int code = 1;
    enum fit_status st = front_capture(job->cc, words, &version, &code, err);
    if (st != FIT_OK || code != 0) {
        free(version);
        return fit_fail(
            err, FIT_ERR_USAGE,
            "--model %s needs a C compiler, and '%s' cannot be run; install gcc (Debian: "
            "apt install gcc libc6-dev) or, where Python installed this program, "
            "'pip install homodyne-gen[compiler]', or set CC",
            job->file, job->cc);
    }
    st = choose_level(job, version, err);
    sha256_init(&s);
    add_text(&s, FIT_VERSION);
    add_text(&s, FRONT_KERNEL_FLAGS);
    add_text(&s, job->cc);
    add_text(&s, version);
    add_text(&s, job->level);
    for (const struct front_header *h = front_headers; h->name; h++)
        sha256_update(&s, h->text, *h->size);
    sha256_update(&s, job->text, job->size);
    snprintf(path, sizeof path, "%s/homodyne-gen", job->f->dir);
    st = st == FIT_OK ? add_file(&s, path, err) : st;
    sha256_final(&s, digest);
    sha256_hex(digest, job->key);
    free(version);
    return st;
}

/* ---- the cache ------------------------------------------------------------------------------- */

/* mkdir -p; only the user may access the last one. */
static int make_folders(char *path)
{
    for (char *c = path + 1;; c++) {
        if (*c != '/' && *c)
            continue;
        const char end = *c;
        *c = '\0';
        const int bad = mkdir(path, end ? 0777 : 0700) != 0 && errno != EEXIST;
        *c = end;
        if (bad || !end)
            return bad ? -1 : 0;
    }
}

/* The private group that many systems give each user: it has the user's name and no other member. There umask is
 * 002. */
static int is_own_group(gid_t group)
{
    const struct passwd *user = getpwuid(geteuid());
    const struct group *g = getgrgid(group);
    if (!user || !g || strcmp(user->pw_name, g->gr_name) != 0)
        return 0;
    for (char **member = g->gr_mem; member && *member; member++)
        if (strcmp(*member, g->gr_name) != 0)
            return 0;
    return 1;
}

/* Can another user replace this folder? The folder above must be the user's or root's, and others may write to it
 * only if it is sticky (like /tmp); those further above must not be open to everybody. Returns the one that is not,
 * in `path`, or 0. */
static int is_replaceable(const char *folder, char path[FRONT_PATH])
{
    char full[PATH_MAX + 1];
    struct stat s;
    if (!realpath(folder, full) || strlen(full) >= FRONT_PATH)
        return 0;
    strcpy(path, full);
    for (int above = 1; strcmp(path, "/") != 0; above++) {
        char *slash = strrchr(path, '/');
        slash[slash == path] = '\0';
        if (stat(path, &s) != 0)
            return 1;
        const int group = above == 1 && (s.st_mode & S_IWGRP) && !is_own_group(s.st_gid);
        if ((group || (s.st_mode & S_IWOTH)) && !(s.st_mode & S_ISVTX))
            return 1;
        if (above == 1 && s.st_uid != geteuid() && s.st_uid != 0)
            return 1;
    }
    return 0;
}

static enum fit_status find_cache(struct job *job, struct fit_error *err)
{
    char above[FRONT_PATH];
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    struct stat s;
    int n = 0;
    if (base && *base == '/')
        n = snprintf(job->cache, sizeof job->cache, "%s/homodyne", base);
    else if (home && *home == '/')
        n = snprintf(job->cache, sizeof job->cache, "%s/.cache/homodyne", home);
    if (n <= 0 || (size_t)n >= sizeof job->cache)
        return fit_fail(err, FIT_ERR_USAGE, "no folder for compiled models: set XDG_CACHE_HOME");
    if (make_folders(job->cache) != 0 || stat(job->cache, &s) != 0)
        return fit_fail(
            err, FIT_ERR_IO,
            "%s, for compiled models, cannot be made: %s; set XDG_CACHE_HOME to another "
            "folder",
            job->cache, strerror(errno));
    if (s.st_uid != geteuid() || (s.st_mode & (S_IWGRP | S_IWOTH)))
        return fit_fail(err, FIT_ERR_USAGE,
                        "%s: others may write to this folder, and programs are run from it; remove "
                        "it, or set XDG_CACHE_HOME to another one",
                        job->cache);
    if (is_replaceable(job->cache, above))
        return fit_fail(
            err, FIT_ERR_USAGE,
            "%.2000s: others may write to this folder, and so put another one in the place of %.1500s, from which"
            " programs are run; set XDG_CACHE_HOME to a folder in one of your own",
            above, job->cache);
    snprintf(job->dir, sizeof job->dir, "%s/%s", job->cache, job->key);
    return FIT_OK;
}

/* The file of a folder with this ending; its name without the ending goes to `stem`. */
static int find_file(const char *dir, const char *end, char *path, size_t size, char stem[64])
{
    DIR *d = opendir(dir);
    int found = 0;
    if (!d)
        return 0;
    for (struct dirent *e; !found && (e = readdir(d)) != NULL;) {
        const size_t n = strlen(e->d_name), m = strlen(end);
        if (n <= m || n - m >= 64 || strcmp(e->d_name + n - m, end) != 0)
            continue;
        found = snprintf(path, size, "%s/%s", dir, e->d_name) < (int)size;
        snprintf(stem, 64, "%.*s", (int)(n - m), e->d_name);
    }
    closedir(d);
    return found;
}

/* Removes a folder of plain files, and of one subfolder with plain files. */
static void remove_folder(const char *dir)
{
    char path[FRONT_PATH + 512];
    DIR *d = opendir(dir);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%.4300s/%.200s", dir, e->d_name);
        if (unlink(path) != 0)
            remove_folder(path);
    }
    closedir(d);
    rmdir(dir);
}

static const char MAKING[] = ".making.", LOCK[] = ".lock";

/* Folders of processes that were killed.  The lock is made before the folder and removed after it. */
static void sweep(const char *cache)
{
    char path[FRONT_PATH + 300], lock[FRONT_PATH + 320];
    DIR *d = opendir(cache);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        int enforced = 0;
        if (!unique_is_name(e->d_name, MAKING, "") && !unique_is_name(e->d_name, MAKING, LOCK))
            continue;
        snprintf(path, sizeof path, "%s/%.*s", cache, (int)(strlen(MAKING) + UNIQUE_ID - 1), e->d_name);
        snprintf(lock, sizeof lock, "%s%s", path, LOCK);
        const int fd = unique_claim(lock, 0600, &enforced);
        if (fd < 0)
            continue;
        if (enforced) {
            remove_folder(path);
            unlink(lock);
        }
        close(fd);
    }
    closedir(d);
}

enum fit_status front_making_begin(struct front_making *m, const char *cache, struct fit_error *err)
{
    char id[UNIQUE_ID], lock[FRONT_PATH + 160];
    int enforced;
    sweep(cache);
    do { /* EBUSY: another process is cleaning up, and takes it for a dead one's */
        unique_id(id);
        snprintf(m->folder, sizeof m->folder, "%s/%s%s", cache, MAKING, id);
        snprintf(lock, sizeof lock, "%s%s", m->folder, LOCK);
        m->lock = unique_claim(lock, 0600, &enforced);
    } while (m->lock < 0 && errno == EBUSY);
    if (m->lock < 0 || mkdir(m->folder, 0700) != 0)
        return fit_fail(err, FIT_ERR_IO, "%s: %s", m->folder, strerror(errno));
    return FIT_OK;
}

void front_making_end(struct front_making *m)
{
    char lock[FRONT_PATH + 160];
    if (!*m->folder)
        return;
    remove_folder(m->folder);
    snprintf(lock, sizeof lock, "%s%s", m->folder, LOCK);
    if (m->lock >= 0) {
        unlink(lock);
        close(m->lock);
    }
}

/* ---- making ---------------------------------------------------------------------------------- */

/* A list of words for a program; some are split at blanks. */
struct words {
    char *word[MOST_WORDS + 1], *storage;
    size_t n;
};

static void add_word(struct words *w, const char *word)
{
    if (w->n < MOST_WORDS)
        w->word[w->n++] = front_word(word);
}

static enum fit_status run(const struct words *w, const char *what, struct fit_error *err)
{
    char *text = NULL;
    int code = 1;
    enum fit_status st = front_capture(w->word[0], w->word, &text, &code, err);
    free(text);
    if (st == FIT_OK && code != 0) /* it has said why on standard error */
        st = fit_fail(err, FIT_ERR_CONFIG, "%s", what);
    return st;
}

enum fit_status front_write_headers(const char *folder, struct fit_error *err)
{
    char path[FRONT_PATH + 256];
    snprintf(path, sizeof path, "%s/fit", folder);
    if (mkdir(path, 0700) != 0)
        return fit_fail(err, FIT_ERR_IO, "%s: %s", path, strerror(errno));
    for (const struct front_header *h = front_headers; h->name; h++) {
        snprintf(path, sizeof path, "%s/fit/%s", folder, h->name);
        FILE *f = fopen(path, "wb");
        const int ok = f && fwrite(h->text, 1, *h->size, f) == *h->size;
        if ((f && fclose(f) != 0) || !ok)
            return fit_fail(err, FIT_ERR_IO, "%s: cannot be written", path);
    }
    return FIT_OK;
}

static enum fit_status generate(const struct job *job, struct fit_error *err)
{
    char gen[FRONT_PATH + 32], what[256];
    struct words w = {.n = 0};
    snprintf(gen, sizeof gen, "%s/homodyne-gen", job->f->dir);
    add_word(&w, gen);
    add_word(&w, job->file);
    add_word(&w, "-o");
    add_word(&w, job->making.folder);
    add_word(&w, "--check");
    add_word(&w, "--emit=c,check");
    snprintf(what, sizeof what, "--model %.200s: the model is not good", job->file);
    return run(&w, what, err);
}

/* The flags of a level, like those of the build (FitModel.cmake). */
static void add_level(struct words *w, const char *level, char march[32], char bits[32])
{
    if (!*level || strcmp(level, BASE) == 0)
        return;
    snprintf(march, 32, "-march=%.20s", is_sve(level) ? "armv8.2-a+sve" : level);
    add_word(w, march);
    snprintf(bits, 32, "-msve-vector-bits=%.10s", is_sve(level) ? level + sizeof SVE - 1 : "");
    if (is_sve(level))
        add_word(w, bits);
    if (strcmp(level, "x86-64-v4") == 0)
        add_word(w, "-mprefer-vector-width=512");
}

static enum fit_status compile(const struct job *job, const char *source, const char *object,
                               struct fit_error *err)
{
    char march[32], bits[32], isa[64], include[FRONT_PATH + 160], what[256], *save;
    char flags[] = FRONT_KERNEL_FLAGS;
    struct words w = {.n = 0};
    add_word(&w, job->cc);
    for (char *word = strtok_r(flags, " ", &save); word; word = strtok_r(NULL, " ", &save))
        add_word(&w, word);
    add_level(&w, job->level, march, bits);
    snprintf(isa, sizeof isa, "-DFIT_KERNEL_ISA=\"%s\"", job->level[0] ? job->level : "native");
    snprintf(include, sizeof include, "-I%s", job->making.folder);
    add_word(&w, "-std=gnu11");
    add_word(&w, "-shared");
    add_word(&w, "-fPIC");
    add_word(&w, "-DFIT_KERNEL_SYMBOL=fit_kernel_loaded");
    add_word(&w, isa);
    add_word(&w, "-DFIT_ISA_SUFFIX=_loaded");
    add_word(&w, include);
    add_word(&w, source);
    add_word(&w, "-o");
    add_word(&w, object);
    add_word(&w, "-lm");
    snprintf(what, sizeof what, "--model %.150s: the C compiler '%.60s' failed", job->file,
             job->cc);
    return run(&w, what, err);
}

static enum fit_status selfcheck(const struct job *job, const char *object, const char *values,
                                 struct fit_error *err)
{
    char any[FRONT_PATH + 32], what[256];
    struct words w = {.n = 0};
    snprintf(any, sizeof any, "%s/homodyne-any", job->f->dir);
    add_word(&w, any);
    add_word(&w, object);
    add_word(&w, "selfcheck");
    add_word(&w, values);
    snprintf(what, sizeof what,
             "--model %.150s: the kernel does not give the values of the interpreter", job->file);
    return run(&w, what, err);
}

/* Makes the kernel in job->making. */
static enum fit_status make(const struct job *job, struct fit_error *err)
{
    char source[FRONT_PATH + 256], object[FRONT_PATH + 256], values[FRONT_PATH + 256], name[64];
    enum fit_status st = front_write_headers(job->making.folder, err);
    if (st == FIT_OK)
        st = generate(job, err);
    if (st != FIT_OK)
        return st;
    if (!find_file(job->making.folder, ".c", source, sizeof source, name))
        return fit_fail(err, FIT_ERR_INTERNAL, "homodyne-gen wrote no kernel for %s", job->file);
    snprintf(object, sizeof object, "%s/%s.so", job->making.folder, name);
    snprintf(values, sizeof values, "%s/%s_check.txt", job->making.folder, name);
    const long live = front_live_begin(job->making.folder, source, name);
    st = compile(job, source, object, err);
    if (st == FIT_OK)
        st = selfcheck(job, object, values, err);
    front_live_end(live, job->making.folder, name);
    return st;
}

static int is_in_path(const char *program)
{
    char path[FRONT_PATH];
    const char *at = getenv("PATH");
    while (at && *at) {
        const size_t n = strcspn(at, ":");
        const int length = snprintf(path, sizeof path, "%.*s/%s", (int)n, at, program);
        if (n > 0 && length > 0 && (size_t)length < sizeof path && access(path, X_OK) == 0)
            return 1;
        at += n + (at[n] == ':');
    }
    return 0;
}

/* CC, else the first of the usual names in PATH, else the one that a wheel has beside the programs; else the first
 * name, which then cannot be run. */
const char *front_compiler(const struct front *f, char *beside, size_t size)
{
    static const char *const usual[] = {"cc", "gcc", "clang"};
    const char *cc = getenv("CC");
    if (cc && *cc && !strchr(cc, ' '))
        return cc;
    for (size_t k = 0; k < sizeof usual / sizeof *usual; k++)
        if (is_in_path(usual[k]))
            return usual[k];
    const int n = snprintf(beside, size, "%s/homodyne-cc", f->dir);
    return n > 0 && (size_t)n < size && access(beside, X_OK) == 0 ? beside : usual[0];
}

enum fit_status front_compile(struct front *f, const char *file, int quiet,
                              struct front_fitter *fitter, struct fit_error *err)
{
    struct job job = {.f = f, .file = file, .making = {.lock = -1}};
    job.cc = front_compiler(f, job.beside, sizeof job.beside);
    const double begin = fit_seconds();
    front_level(job.level);
    enum fit_status st = read_model(&job, err);
    if (st == FIT_OK)
        st = make_key(&job, err);
    if (st == FIT_OK)
        st = find_cache(&job, err);
    if (st != FIT_OK ||
        find_file(job.dir, ".so", fitter->kernel, sizeof fitter->kernel, fitter->model))
        goto done;
    if (!quiet)
        fprintf(f->err, "compiling %s ...%s", file, f->err_is_terminal ? "" : "\n");
    fflush(f->err);
    st = front_making_begin(&job.making, job.cache, err);
    if (st == FIT_OK)
        st = make(&job, err);
    if (!quiet && f->err_is_terminal)
        fprintf(f->err, st == FIT_OK ? " " : "\n");
    if (st == FIT_OK && rename(job.making.folder, job.dir) != 0 && errno != EEXIST && errno != ENOTEMPTY)
        st = fit_fail(err, FIT_ERR_IO, "%s: %s", job.dir, strerror(errno));
    front_making_end(&job.making);
    if (st == FIT_OK &&
        !find_file(job.dir, ".so", fitter->kernel, sizeof fitter->kernel, fitter->model))
        st = fit_fail(err, FIT_ERR_INTERNAL, "%s: the kernel that was compiled is no longer there", job.dir);
    if (st == FIT_OK && !quiet)
        fprintf(f->err, "compiled and checked in %.1f s; kept in %s\n", fit_seconds() - begin,
                job.cache);
done:
    free(job.text);
    return st;
}

enum fit_status front_cmd_compile(struct front *f, const struct front_args *a, struct fit_error *err)
{
    struct front_fitter fitter = {.model = ""};
    if (a->nrest != 1)
        return fit_fail(err, FIT_ERR_USAGE, "compile: give one model file, *.lua");
    enum fit_status st = front_compile(f, a->rest[0], a->quiet, &fitter, err);
    if (st == FIT_OK && a->json) {
        struct fit_json j = {0};
        fit_json_begin(&j, NULL, '{');
        fit_json_string(&j, "model", fitter.model);
        fit_json_string(&j, "kernel", fitter.kernel);
        fit_json_end(&j);
        fit_json_put(&j, f->out);
    } else if (st == FIT_OK) {
        fprintf(f->out, "%s\n", fitter.kernel);
    }
    return st;
}
