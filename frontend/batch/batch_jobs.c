/* batch_jobs.c -- from words to a list of fits: options, keys, what is done.
 *
 * The key of a fit is the SHA-256 of all its inputs: the program's file (and so its version), the configuration's text,
 * the options, q, and name, size and time of the data file (not its content: a series may be hundreds of gigabytes).
 * It stands in batch.key beside the result, with the run that has made it: another fit into the same folder is none of
 * the batch. */
#define _XOPEN_SOURCE 700
#include "frontend/batch/batch.h"

#include "base/output.h"
#include "base/paths.h"
#include "common/regular.h"
#include "common/sha256.h"
#include "common/text.h"
#include "machine/topology.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- keys ------------------------------------------------------------------------------------ */

static void add_text(struct sha256 *s, const char *text)
{
    sha256_update(s, text, strlen(text) + 1);
}

static void add_stat(struct sha256 *s, const char *path)
{
    struct stat t;
    char text[96] = "none";
    if (stat(path, &t) == 0)
        snprintf(text, sizeof text, "%lld %lld.%09ld", (long long)t.st_size,
                 (long long)t.st_mtim.tv_sec, (long)t.st_mtim.tv_nsec);
    add_text(s, path);
    add_text(s, text);
}

static enum fit_status add_content(struct sha256 *s, const char *path, struct fit_error *err)
{
    char buffer[4096];
    FILE *f = regular_open(path);
    if (!f)
        return fit_fail(err, FIT_ERR_CONFIG, "%s: cannot be read: %s", path, strerror(errno));
    for (size_t n; (n = fread(buffer, 1, sizeof buffer, f)) > 0;)
        sha256_update(s, buffer, n);
    fclose(f);
    return FIT_OK;
}

static enum fit_status make_keys(struct batch *b, struct fit_error *err)
{
    struct sha256 common;
    unsigned char digest[SHA256_BYTES];
    sha256_init(&common);
    enum fit_status st = add_content(&common, b->fitter.program, err);
    if (st == FIT_OK && b->fitter.kernel[0])
        st = add_content(&common, b->fitter.kernel, err);
    if (st == FIT_OK)
        st = add_content(&common, b->config, err);
    for (size_t k = 0; k < b->noption; k++) {
        const char *word = b->option[k];
        if (strcmp(word, "--threads") == 0 || strcmp(word, "-j") == 0)
            k++; /* the same bits for any number of threads */
        else if (strncmp(word, "--threads=", 10) != 0)
            add_text(&common, word);
    }
    struct sha256 s = common;
    sha256_final(&s, digest);
    sha256_hex(digest, b->settings);
    for (size_t k = 0; k < b->n; k++) {
        s = common;
        char q[40];
        snprintf(q, sizeof q, "%.17g", b->job[k].q);
        add_text(&s, q);
        add_stat(&s, b->job[k].file);
        sha256_final(&s, digest);
        sha256_hex(digest, b->job[k].key);
    }
    return st;
}

void batch_look(struct batch_job *j)
{
    if (j->has_result)
        front_result_free(&j->result);
    char key[80] = "", run[80] = "", *path = fit_path_join(j->folder, "batch.key");
    struct fit_error ignored;
    FILE *f = path ? fopen(path, "r") : NULL;
    if (f && fgets(key, sizeof key, f))
        j->done = strncmp(key, j->key, 64) == 0;
    if (f && !fgets(run, sizeof run, f))
        run[0] = '\0';
    if (f)
        fclose(f);
    free(path);
    run[strcspn(run, "\n")] = '\0';
    j->has_result = j->done && front_result_read(j->folder, &j->result, &ignored) == FIT_OK;
    j->done = j->has_result && (!run[0] || strcmp(run, j->result.run) == 0);
    j->replaces = key[0] && !j->done;
    if (j->has_result && !j->done)
        front_result_free(&j->result);
    j->has_result = j->done;
    j->code = j->done ? (j->result.converged ? 0 : 2) : -1;
}

enum fit_status batch_remember(const struct batch_job *job, struct fit_error *err)
{
    char *path = fit_path_join(job->folder, "batch.key"), text[120];
    if (!path)
        return fit_no_memory(err, NULL);
    snprintf(text, sizeof text, "%s\n%s\n", job->key, job->has_result ? job->result.run : "");
    const enum fit_status st = fit_output_write(path, text, strlen(text), err);
    free(path);
    return st;
}

/* ---- words ----------------------------------------------------------------------------------- */

int batch_words(const struct batch *b, const struct batch_job *j, struct batch_words *w)
{
    const char *last[] = {"--data", j->file, "--output-dir", j->folder, "--quiet"};
    w->n = 0;
    w->word = calloc(b->noption + 16, sizeof *w->word);
    if (!w->word)
        return 0;
    if (!b->cli.config)
        w->word[w->n++] = front_word(b->config);
    for (size_t k = 0; k < b->noption; k++)
        w->word[w->n++] = b->option[k];
    for (size_t k = 0; k < sizeof last / sizeof *last; k++)
        w->word[w->n++] = front_word(last[k]);
    if (!isnan(j->q)) {
        snprintf(w->q, sizeof w->q, "%.17g", j->q);
        w->word[w->n++] = front_word("--q");
        w->word[w->n++] = w->q;
    }
    if (!b->cli.threads) { /* simultaneous fits share the cores */
        const long each = fit_topology_threads() / b->jobs;
        snprintf(w->threads, sizeof w->threads, "%ld", each > 1 ? each : 1);
        w->word[w->n++] = front_word("--threads");
        w->word[w->n++] = w->threads;
    }
    return 1;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Options that affect only the screen: batch has a screen of its own. */
static int is_screen_only(const char *word)
{
    static const char *const words[] = {"--json", "--quiet",   "-q", "--silent",
                                        "-v",     "--verbose", "--"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (strcmp(word, words[k]) == 0)
            return 1;
    return 0;
}

const char *batch_option(const struct batch *b, const char *name)
{
    for (size_t k = b->cli.nchange; k-- > 0;)
        if (strcmp(b->cli.change[k].name, name) == 0)
            return b->cli.change[k].value;
    return NULL;
}

/* Options of `fit` that the fits of a list cannot have in common. */
static enum fit_status refuse_options(const struct batch *b, struct fit_error *err)
{
    const struct fit_cli_pair *data = fit_cli_data(&b->cli);
    if (data)
        return fit_fail(err, FIT_ERR_USAGE,
                        "--%s: batch takes data files as plain words, behind the configuration", data->name);
    if (b->cli.each)
        return fit_fail(err, FIT_ERR_USAGE,
                        "--each: `homodyne fit --each %s` fits the curves of a table, in one call and with a table of"
                        " its own; batch collects fits of whole files", b->cli.each);
    if (b->cli.log)
        return fit_fail(err, FIT_ERR_USAGE,
                        "--log: all fits would write %s; each has run.log and batch.log in its folder", b->cli.log);
    if (batch_option(b, "optimizer-state"))
        return fit_fail(err, FIT_ERR_USAGE, "--optimizer-state: all fits would go on from the same state, in %s",
                        batch_option(b, "optimizer-state"));
    return b->cli.version ? fit_fail(err, FIT_ERR_USAGE, "batch: --version stands alone: `homodyne --version`")
                          : FIT_OK;
}

/* The words that are options: for every fit the same. */
static enum fit_status take_options(const struct front_args *a, struct batch *b,
                                    struct fit_error *err)
{
    b->option = calloc(a->nrest + 1, sizeof *b->option);
    if (!b->option)
        return fit_no_memory(err, NULL);
    for (size_t k = 0; k < a->nrest; k++) {
        int plain = is_screen_only(a->rest[k]);
        for (size_t w = 0; w < b->cli.nword; w++)
            plain |= b->cli.word[w] == a->rest[k];
        if (!plain)
            b->option[b->noption++] = a->rest[k];
    }
    return refuse_options(b, err);
}

static enum fit_status parse_words(const struct front_args *a, struct batch *b,
                                   struct fit_error *err)
{
    const enum fit_status st = front_parse_rest(a, "fit", &b->cli, err);
    if (st != FIT_OK)
        return st;
    b->config = b->cli.config ? b->cli.config : b->cli.nword ? b->cli.word[0] : NULL;
    return b->config ? FIT_OK : fit_fail(err, FIT_ERR_USAGE, "batch: a configuration is missing");
}

/* The output folder: -o or --output-dir DIR, or --output DIR. */
static enum fit_status take_folder(const struct front_args *a, struct batch *b, struct fit_error *err)
{
    const char *dir = option_value(&a->own, "output-dir"), *other = option_value(&a->own, "output");
    b->folder = dir ? dir : other ? other : "batch";
    if (dir && other && strcmp(dir, other) != 0)
        return fit_fail(err, FIT_ERR_USAGE, "--output-dir '%s' and --output '%s': one of them can hold", dir, other);
    return *b->folder ? FIT_OK : fit_fail(err, FIT_ERR_USAGE, "--output-dir: the name of the folder is empty");
}

enum fit_status batch_make(struct front *f, const struct front_args *a, struct batch *b,
                           struct fit_error *err)
{
    *b = (struct batch){.jobs = fit_topology_threads(),
                        .jobs_given = option_given(&a->own, "jobs"),
                        .quiet = a->quiet || a->json};
    enum fit_status st = take_folder(a, b, err);
    if (st == FIT_OK)
        st = front_count(a, "jobs", 1, &b->jobs, err);
    if (st == FIT_OK)
        st = parse_words(a, b, err);
    if (st == FIT_OK)
        st = take_options(a, b, err);
    if (st == FIT_OK)
        st = front_choose(f, option_value(&a->own, "model"), b->config, NULL, a->quiet, &b->fitter, err);
    if (st == FIT_OK)
        front_device_kernels(f, a, &b->fitter);
    if (st == FIT_OK)
        st = batch_files(f, a, b, err);
    if (st == FIT_OK)
        st = batch_name(b, err);
    if (st == FIT_OK)
        st = make_keys(b, err);
    if (st == FIT_OK)
        st = batch_part(a, b, err);
    if (st == FIT_OK)
        st = batch_files_exist(b, err);
    b->again = option_given(&a->own, "again");
    if (st == FIT_OK && !b->again)
        for (size_t k = 0; k < b->n; k++)
            batch_look(&b->job[k]);
    return st;
}

void batch_free(struct batch *b)
{
    for (size_t k = 0; k < b->n; k++) {
        struct batch_job *j = &b->job[k];
        if (j->has_result)
            front_result_free(&j->result);
        free(j->name);
        free(j->file);
        free(j->folder);
        free(j->log);
    }
    batch_others_free(b);
    free(b->job);
    free(b->names);
    free(b->option);
    fit_cli_free(&b->cli);
}
