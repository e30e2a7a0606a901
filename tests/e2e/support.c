/* support.c -- see support.h. */
#include "machine/cpu.h"
#include "support.h"

#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- kernels ---------------------------------------------------------------------------------------- */

static int level_is(const char *isa, const char *wanted)
{
    size_t n = strlen(isa), m = strlen(wanted);
    return n >= m && strcmp(isa + n - m, wanted) == 0;
}

const struct fit_kernel *e2e_kernel(const char *model, const char *variant, const char *isa)
{
    for (size_t k = 0; e2e_kernels[k]; k++) {
        const struct fit_kernel *kernel = e2e_kernels[k];
        if (strcmp(kernel->name, model) == 0 && strcmp(kernel->variant, variant) == 0 &&
            (!isa || level_is(kernel->isa, isa)) && fit_cpu_supports(kernel->isa))
            return kernel;
    }
    return NULL;
}

double *e2e_doubles(size_t n)
{
    void *p = NULL;
    if (posix_memalign(&p, 64, (n ? n : 1) * sizeof(double)) != 0)
        fail_msg("out of memory");
    memset(p, 0, (n ? n : 1) * sizeof(double));
    return p;
}

double e2e_max(double a, double b)
{
    return isnan(a) || isnan(b) ? (double)NAN : a > b ? a : b;
}

struct fit_dataset *e2e_dataset(const struct fit_kernel *k, const struct e2e_grid *grid)
{
    double *time = e2e_doubles(grid->ntime), setting[8] = {0};
    const double *coord[4] = {0};
    struct fit_error err = {0};
    struct fit_dataset *ds = NULL;
    for (size_t i = 0; i < grid->ntime; i++)
        time[i] = grid->time ? grid->time[i] : (double)i * grid->dt;
    for (size_t s = 0; s < k->nsetting; s++)
        setting[s] = strcmp(k->setting[s].name, "q") == 0 ? grid->q : grid->gap;
    for (size_t a = 0; a < k->naxis; a++)
        coord[a] = grid->phi;
    struct fit_dataset_pairs spec = {
        .ntime = grid->ntime, .time = time, .step = grid->dt, .nframe = grid->nframe, .frame = grid->frame,
        .ngroup = grid->nphi, .naxis = k->naxis, .nsetting = k->nsetting, .coord = coord, .setting = setting,
        .table_doubles = k->table_doubles};
    if (fit_dataset_new_pairs(&spec, &ds, &err) != FIT_OK)
        fail_msg("%s", err.message);
    free(time);
    return ds;
}

/* All tables at once, and the same ones in two steps; scratch whose content must not matter. */
struct e2e_prepared e2e_prepare(const struct fit_kernel *k, const struct fit_layout *l, const double *theta)
{
    struct e2e_prepared p = {.kernel = k, .layout = l};
    const size_t n = k->workspace(l);
    double *steps = e2e_doubles(n);
    p.ws = e2e_doubles(n);
    p.scratch = e2e_doubles(k->scratch(l));
    for (size_t i = 0; i < k->scratch(l); i++)
        p.scratch[i] = NAN;
    p.answer = k->prepare(l, theta, 1, p.ws);
    assert_int_equal(k->prepare(l, theta, 0, steps), p.answer);
    if (p.answer == FIT_EVAL_OK) {
        assert_int_equal(k->prepare(l, theta, -1, steps), FIT_EVAL_OK);
        if (!l->context) /* a kernel around another one has rooms of its threads there */
            assert_memory_equal(steps, p.ws, n * sizeof *steps);
    }
    free(steps);
    return p;
}

void e2e_release(struct e2e_prepared *p)
{
    free(p->ws);
    free(p->scratch);
    p->ws = p->scratch = NULL;
}

/* ---- programs --------------------------------------------------------------------------------------- */

static void redirect(const char *file, int to)
{
    int fd = open(file ? file : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0 || dup2(fd, to) < 0)
        _exit(126);
    close(fd);
}

int e2e_run(const char *const argv[], const char *out, const char *err)
{
    char program[1024];
    int status = 0;
    snprintf(program, sizeof program, "%s%s%s", strchr(argv[0], '/') ? "" : E2E_BIN_DIR,
             strchr(argv[0], '/') ? "" : "/", argv[0]);
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        fail_msg("fork failed");
    if (pid == 0) {
        redirect(out, 1);
        redirect(err, 2);
        execv(program, (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    if (waitpid(pid, &status, 0) != pid)
        fail_msg("waitpid failed");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* ---- JSON ------------------------------------------------------------------------------------------- */

static const char *space(const char *s)
{
    return s + strspn(s, " \t\r\n,:");
}

static const char *skip_string(const char *s)
{
    for (s++; *s && *s != '"'; s++)
        if (*s == '\\' && s[1])
            s++;
    return *s ? s + 1 : s;
}

/* Behind the value that begins at s. */
static const char *skip_value(const char *s)
{
    if (*s == '"')
        return skip_string(s);
    if (*s != '{' && *s != '[')
        return s + strcspn(s, ",}] \n");
    for (s = space(s + 1); *s && *s != '}' && *s != ']'; s = space(s))
        s = skip_value(s);
    return *s ? s + 1 : s;
}

/* The member `word` of the object or array that begins at s, or NULL. */
static const char *member(const char *s, const char *word)
{
    size_t n = strlen(word), index = (size_t)strtoul(word, NULL, 10);
    int object = *s == '{';
    if (!object && *s != '[')
        return NULL;
    s = space(s + 1);
    for (size_t k = 0; *s && *s != '}' && *s != ']'; k++, s = space(skip_value(s))) {
        int found = !object ? k == index : strncmp(s + 1, word, n) == 0 && s[n + 1] == '"';
        if (object)
            s = space(skip_string(s));
        if (found)
            return s;
    }
    return NULL;
}

static char *read_text(const char *file)
{
    FILE *f = fopen(file, "rb");
    size_t n = 0, size = 1 << 22;
    char *text = calloc(1, size);
    if (f && text)
        n = fread(text, 1, size - 1, f);
    if (f)
        fclose(f);
    (void)n;
    return text;
}

static const char *find(const char *text, const char *const path[])
{
    const char *s = text ? space(text) : NULL;
    for (size_t k = 0; s && path[k]; k++)
        s = member(s, path[k]);
    return s;
}

double e2e_json(const char *file, const char *const path[])
{
    char *text = read_text(file), *end = NULL;
    const char *s = find(text, path);
    double value = s ? strtod(s, &end) : (double)NAN;
    if (s && end == s)
        value = strncmp(s, "true", 4) == 0 ? 1 : strncmp(s, "false", 5) == 0 ? 0 : (double)NAN;
    free(text);
    return value;
}

void e2e_json_text(const char *file, const char *const path[], char *text, size_t size)
{
    char *all = read_text(file);
    const char *s = find(all, path);
    text[0] = '\0';
    if (s && *s == '"')
        snprintf(text, size, "%.*s", (int)(skip_string(s) - s - 2), s + 1);
    free(all);
}

/* ---- folders ---------------------------------------------------------------------------------------- */

char *e2e_folder(void)
{
    const char *base = getenv("TMPDIR");
    char *path = calloc(1, 1024);
    if (!path) {
        fail_msg("out of memory");
        return NULL;
    }
    snprintf(path, 1024, "%s/homodyne-e2e-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(path))
        fail_msg("no temporary folder %s", path);
    return path;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

void e2e_remove(char *folder)
{
    if (folder)
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(folder);
}
