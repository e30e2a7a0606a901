/* fit_earlier.c -- files of the previous fit in the folder of the results: those that this fit does not write are
 * removed when the new ones are in place; files that other programs made of it stay, and a note names them.
 *
 * A file belongs to the previous fit when its fit.json describes it. The checkpoint of chains stays, since it may
 * represent hours, and it identifies its run itself. When this fit was ended before its own posterior, nothing is
 * removed. */
#include "commands/fit_job.h"
#include "files/yaml_tree.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int is_there(const struct fit_job *job, const char *name)
{
    char path[sizeof job->folder + 64];
    snprintf(path, sizeof path, "%s/%s", job->folder, name);
    return access(path, F_OK) == 0;
}

/* "fit.json" of the folder, or NULL. */
static struct fit_yaml_doc *read_result(const struct fit_job *job)
{
    char path[sizeof job->folder + 16];
    struct fit_yaml_doc *doc = NULL;
    struct fit_error ignored = {.status = FIT_OK};
    snprintf(path, sizeof path, "%s/fit.json", job->folder);
    return access(path, R_OK) == 0 && fit_yaml_parse_file(path, &doc, &ignored) == FIT_OK ? doc : NULL;
}

static void say(struct fit_job *job, const char *text)
{
    const size_t n = strlen(job->earlier);
    snprintf(job->earlier + n, sizeof job->earlier - n, "%s\n", text);
    fit_job_say(job, "note: %s", text);
}

static enum fit_status drop(struct fit_job *job, struct fit_output *out, const char *folder, const char *name,
                            struct fit_error *err)
{
    const int ended_early = job->fit.status == FIT_INTERRUPTED || job->no_posterior[0];
    char file[64], text[160];
    snprintf(file, sizeof file, "%s%s", folder, name);
    if (!is_there(job, file))
        return FIT_OK;
    snprintf(text, sizeof text, "%s of the fit before is %s", file, ended_early ? "left as it was" : "removed");
    say(job, text);
    if (ended_early) {
        const size_t n = strlen(job->kept);
        snprintf(job->kept + n, sizeof job->kept - n, "%s%s", n ? " " : "", file);
    }
    return ended_early ? FIT_OK : fit_output_remove(out, file, err);
}

enum fit_status fit_job_earlier(struct fit_job *job, struct fit_output *out, struct fit_error *err)
{
    struct fit_yaml_doc *doc = read_result(job);
    const struct fit_yaml *root = doc ? fit_yaml_root(doc) : NULL, *list = fit_yaml_get(root, "sequence");
    const int sampled = fit_yaml_get(fit_yaml_get(root, "posterior"), "parameters") != NULL;
    enum fit_status st = FIT_OK;
    if (sampled && !job->sampled)
        st = drop(job, out, "", "posterior.nc", err);
    for (size_t k = 0; st == FIT_OK && sampled && !fit_job_writes_cmc(job) && k < FIT_CMC_FILES; k++)
        st = drop(job, out, "cmc/", fit_cmc_file[k], err);
    if (st == FIT_OK && list && list->n && !job->study.sequence.n)
        st = drop(job, out, "", "sequence.csv", err);
    if (!fit_sampling_wanted(job->cfg) && is_there(job, "posterior.checkpoint"))
        say(job, "posterior.checkpoint is of an earlier run, which --resume goes on with");
    if (root && is_there(job, "report.html"))
        say(job, "report.html is from the previous fit; `homodyne report` makes it anew");
    if (root && is_there(job, "figures"))
        say(job, "figures are of the fit before; `homodyne plot` makes them anew");
    fit_yaml_free(doc);
    return st;
}
