/* setup.c -- from the command line and a configuration to what a fit needs; see setup.h. */
#define _DEFAULT_SOURCE /* getrusage */
#include "setup/setup.h"

#include "setup/sampling_setup.h"

#include "base/run_id.h"
#include "data/quantiles.h"
#include "files/npz.h"
#include "fit/bootstrap.h"
#include "hdf5/reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- configuration --------------------------------------------------------------------------- */

static const char *config_file(const struct fit_cli *cli)
{
    return cli->config ? cli->config : cli->nword ? cli->word[0] : NULL;
}

int fit_setup_is_data(const char *file)
{
    static const char *const ending[] = {".h5",  ".hdf5", ".hdf", ".nxs", ".npz",
                                         ".npy", ".csv",  ".tsv", ".dat", ".txt"};
    const char *dot = strrchr(file, '.');
    for (size_t k = 0; dot && k < sizeof ending / sizeof *ending; k++)
        if (strcmp(dot, ending[k]) == 0)
            return 1;
    return fit_h5_is_hdf5(file) || fit_npz_is_npz(file) || fit_npz_is_npy(file);
}

static enum fit_status override(struct fit_config *cfg, const struct fit_cli *cli,
                                struct fit_config_log *log, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    char threads[32];
    for (size_t k = 0; k < cli->nchange && st == FIT_OK; k++)
        st = fit_config_override(cfg, cli->change[k].name, cli->change[k].value, log, err);
    if (st == FIT_OK && cli->output && cli->command != FIT_COMMAND_EXTRACT) /* there a file */
        st = fit_config_override(cfg, "output-dir", cli->output, log, err);
    if (st == FIT_OK && cli->variant)
        st = fit_config_override(cfg, "variant", cli->variant, log, err);
    if (st == FIT_OK && cli->threads) {
        snprintf(threads, sizeof threads, "%llu", (unsigned long long)cli->threads);
        st = fit_config_override(cfg, "threads", threads, log, err);
    }
    return st;
}

/* Starts from the parameters of an earlier fit.h5 in `folder` (--resume). */
static enum fit_status start_from(struct fit_config *cfg, const char *folder,
                                 struct fit_config_log *log, struct fit_error *err)
{
    char path[1024], text[128], **name = NULL, number[40];
    double *value = NULL;
    size_t n = 0, m = 0;
    struct fit_h5 *h = NULL;
    snprintf(path, sizeof path, "%s/fit.h5", folder ? folder : ".");
    if (access(path, R_OK) != 0)
        return fit_fail(err, FIT_ERR_USAGE, "--resume: no %s to go on from", path);
    enum fit_status st = fit_run_id_check(folder ? folder : ".", err);
    if (st == FIT_OK)
        st = fit_h5_open(path, &h, err);
    if (st == FIT_OK)
        st = fit_h5_read_strings(h, "/entry/parameters/name", &name, &n, err);
    if (st == FIT_OK)
        st = fit_h5_read_doubles(h, "/entry/parameters/value", &value, &m, err);
    for (size_t k = 0; k < n && k < m && st == FIT_OK; k++) {
        int index = fit_config_param_index(cfg->kernel, name[k]); /* contrast[2] is none */
        if (index < 0 || (size_t)index >= cfg->nparam)
            continue;
        const struct fit_config_param *c = &cfg->param[index];
        if (c->fixed.value ||
            c->start.from.kind == FIT_FROM_COMMAND) /* the command line knows better */
            continue;
        snprintf(number, sizeof number, "%.17g", value[k]);
        snprintf(text, sizeof text, "%.60s=%s", name[k], number);
        st = fit_config_override(cfg, "start", text, log, err);
    }
    fit_h5_free_strings(name, n);
    free(value);
    fit_h5_close(h);
    return st;
}

enum fit_status fit_setup_config(const struct fit_cli *cli, const struct fit_kernel *kernel,
                                 struct fit_config_log *log, struct fit_config **cfg,
                                 struct fit_error *err)
{
    const char *file = config_file(cli);
    const int keep = cli->command == FIT_COMMAND_CHECK; /* all mistakes, not the first alone */
    struct fit_config_options options = {.lax = cli->lax, .keep = keep};
    enum fit_status st = FIT_OK;
    *cfg = NULL;
    if (cli->nword + (cli->config != NULL) > 1)
        return fit_fail(err, FIT_ERR_USAGE, "'%s': one configuration at a time",
                        cli->word[cli->nword - 1]);
    if (!file && !fit_cli_data(cli) && cli->command != FIT_COMMAND_PLAN)
        return fit_fail(err, FIT_ERR_USAGE, "%s: a configuration is missing, or --data FILE",
                        fit_cli_command_name(cli->command));
    if (file && fit_setup_is_data(file))
        return kernel->space == FIT_PAIRS
                   ? fit_fail(err, FIT_ERR_USAGE,
                              "%s: this is data, not a configuration: homodyne-%s init %s -o "
                              "my.yaml makes one; or --data %s",
                              file, kernel->name, file, file)
                   : fit_fail(err, FIT_ERR_USAGE,
                              "%s: this is data, not a configuration: --data %s", file, file);
    st = file ? fit_config_read(file, kernel, &options, log, cfg, err)
              : fit_config_new(kernel, cfg, err);
    if (*cfg)
        (*cfg)->data_only = cli->command == FIT_COMMAND_EXTRACT;
    if (st == FIT_OK)
        st = override(*cfg, cli, log, err);
    else if (*cfg && override(*cfg, cli, log, NULL) == FIT_OK)
        fit_config_finish(*cfg, log, NULL); /* what this finds is in the log */
    if (st == FIT_OK && cli->resume && !fit_sampling_wanted(*cfg)) /* chains go on from their checkpoint */
        st = start_from(*cfg, (*cfg)->output.dir.value, log, err);
    if (st == FIT_OK)
        st = fit_config_finish(*cfg, log, err);
    return st;
}

/* ---- options --------------------------------------------------------------------------------- */

static double *nan_array(size_t n)
{
    double *a = malloc((n + 1) * sizeof *a);
    for (size_t k = 0; a && k < n; k++)
        a[k] = NAN;
    return a;
}

static int allocate(struct fit_setup *s, const struct fit_kernel *k, size_t ngroup)
{
    s->start = nan_array(k->nparam);
    s->lower = nan_array(k->nparam);
    s->upper = nan_array(k->nparam);
    s->linear_lower = nan_array(k->nlinear);
    s->linear_upper = nan_array(k->nlinear);
    s->linear_start = nan_array(k->nlinear * ngroup);
    s->sigma = nan_array(ngroup);
    s->fixed = calloc(k->nparam + 1, 1);
    s->linear_fixed = calloc(k->nlinear + 1, 1);
    return s->start && s->lower && s->upper && s->linear_lower && s->linear_upper &&
           s->linear_start && s->sigma && s->fixed && s->linear_fixed;
}

static void fill_parameters(struct fit_setup *s, const struct fit_config *cfg,
                            const struct fit_kernel *k, size_t ngroup)
{
    for (size_t p = 0; p < k->nparam; p++) {
        const struct fit_config_param *c = &cfg->param[p];
        s->start[p] = c->automatic ? NAN : c->start.value;
        s->lower[p] = c->lower.value;
        s->upper[p] = c->upper.value;
        int hyper = k->level && k->level[p].hyper; /* no data see it */
        s->fixed[p] = c->fixed.value != 0 || hyper;
        if (s->fixed[p])
            s->start[p] = c->automatic && hyper ? k->param[p].start : c->start.value;
    }
    for (size_t q = 0; q < k->nlinear; q++) {
        const struct fit_config_param *c = &cfg->param[k->nparam + q];
        s->linear_lower[q] = c->lower.value;
        s->linear_upper[q] = c->upper.value;
        s->linear_fixed[q] = c->fixed.value != 0;
        for (size_t g = 0; g < ngroup; g++)
            s->linear_start[g * k->nlinear + q] = c->list.n == ngroup ? c->list.value[g]
                                                  : c->automatic && !s->linear_fixed[q]
                                                      ? NAN
                                                      : c->start.value;
    }
}

enum fit_status fit_setup_supported(const struct fit_config *cfg, const struct fit_kernel *k,
                                    struct fit_error *err)
{
    if (fit_sampling_wanted(cfg) && !k->gradient)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "the kernel of %s has no gradient and cannot be sampled; use --method nlsq", k->name);
    if (fit_sampling_wanted(cfg) && !cfg->scaling.automatic && cfg->scaling.mode.value == FIT_SCALING_HIERARCHICAL)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "hierarchical scaling: for least squares only; a posterior integrates over contrast and "
                        "offset of every angle anyway (--scaling individual)");
    if (k->density && cfg->study.bootstrap.value != FIT_BOOTSTRAP_NONE)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "bootstrap: it draws residuals, which have no distribution of their own where the"
                        " errors are %s; --method nuts gives intervals",
                        k->density->name);
    if (cfg->study.sequence.value == FIT_SEQUENCE_Q && fit_config_axis_index(k, "q") >= 0)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "sequence: q is an axis of the model %s, whose fit is of all q of the file "
                        "together; --q Q fits one of them, `homodyne batch --q all` every one by itself",
                        k->name);
    if (cfg->input.path.n > 1)
        return fit_fail(err, FIT_ERR_CONFIG, "%zu data files: this version fits one at a time",
                        cfg->input.path.n);
    return FIT_OK;
}

/* Constant scaling without values: quantiles of the data, for a contrast and an offset. */
static enum fit_status constant_values(struct fit_setup *s, const struct fit_kernel *k, const struct fit_dataset *ds,
                                       struct fit_error *err)
{
    size_t offset = (size_t)k->intercept, contrast = 1 - offset;
    if (k->space != FIT_PAIRS || k->nlinear != 2 || k->intercept < 0)
        return FIT_OK;
    for (size_t g = 0; g < ds->layout.ngroup; g++) {
        double value[2], *given = s->linear_start + 2 * g;
        if (!isnan(given[0]) && !isnan(given[1]))
            continue;
        enum fit_status st = fit_quantiles(ds, g, &value[contrast], &value[offset], err);
        if (st != FIT_OK)
            return st;
        for (size_t q = 0; q < 2; q++)
            if (isnan(given[q]))
                given[q] = fmin(fmax(value[q], s->linear_lower[q]), s->linear_upper[q]);
    }
    return FIT_OK;
}

/* The errors of tables know no clusters. */
static enum fit_status no_clusters(const struct fit_config *cfg, struct fit_error *err)
{
    const int joint = cfg->robust.cluster_joint.value, blocks = cfg->study.bootstrap.value == FIT_BOOTSTRAP_BLOCK;
    char where[160];
    if (!joint && (cfg->robust.cluster_length.value == 0 || blocks))
        return FIT_OK;
    fit_origin_text(cfg, joint ? cfg->robust.cluster_joint.from : cfg->robust.cluster_length.from, where, sizeof where);
    return fit_fail(err, FIT_ERR_CONFIG,
                    joint ? "%s: cluster_joint is for two-time data: the curves of a table are independent"
                          : "%s: cluster_length is for two-time data; of a table it sets the rows of a block of"
                            " --bootstrap block, and errors by curvature make no use of it",
                    where);
}

/* Too few clusters tell nothing: of their scatter every one takes a part with it. */
static enum fit_status check_clusters(const struct fit_config *cfg, const struct fit_dataset *ds,
                                      struct fit_error *err)
{
    enum { FEWEST = 4 };
    const int pairs = ds->layout.nframe > 0;
    size_t length = (size_t)cfg->robust.cluster_length.value, n = ds->layout.nframe;
    char where[160];
    if (!pairs && no_clusters(cfg, err) != FIT_OK)
        return err->status;
    for (size_t g = 0; !pairs && g < ds->layout.ngroup; g++)
        n = g == 0 || ds->npoint_group[g] < n ? ds->npoint_group[g] : n;
    const size_t most = n / FEWEST;
    if (length <= most)
        return FIT_OK;
    fit_origin_text(cfg, cfg->robust.cluster_length.from, where, sizeof where);
    return fit_fail(err, FIT_ERR_CONFIG,
                    "%s: cluster_length = %zu leaves fewer than %d clusters of %zu %s; give at most "
                    "%zu, or auto",
                    where, length, FEWEST, n, pairs ? "frames" : "rows", most);
}

void fit_setup_borrow(struct fit_setup *s)
{
    struct fit_options *o = &s->options;
    o->start = s->start;
    o->lower = s->lower;
    o->upper = s->upper;
    o->fixed = s->fixed;
    o->linear_lower = s->linear_lower;
    o->linear_upper = s->linear_upper;
    o->linear_fixed = s->linear_fixed;
    o->linear_start = s->linear_start;
    o->linear_class = s->linear_class;
}

/* What the configuration says of least squares. */
static void fill_options(struct fit_options *o, const struct fit_config *cfg, size_t ngroup)
{
    fit_options_default(o);
    o->max_iterations = (size_t)cfg->nlsq.max_iterations.value;
    if (fit_given(cfg->nlsq.ftol.from))
        o->ftol = cfg->nlsq.ftol.value;
    if (fit_given(cfg->nlsq.xtol.from))
        o->xtol = cfg->nlsq.xtol.value;
    if (fit_given(cfg->nlsq.gtol.from))
        o->gtol = cfg->nlsq.gtol.value;
    o->loss = (enum fit_loss)cfg->nlsq.loss.value;
    o->f_scale = cfg->nlsq.f_scale.value;
    o->scaling = fit_config_scaling(cfg, ngroup);
    o->threads = (int)cfg->threads.value;
    o->multi_start = cfg->nlsq.multi_start.value ? (size_t)cfg->nlsq.n_starts.value : 0;
    o->global = cfg->nlsq.global.value;
    o->cluster_length = (size_t)cfg->robust.cluster_length.value;
    o->cluster_joint = cfg->robust.cluster_joint.value;
    o->few_data_allowed = fit_sampling_wanted(cfg);
    o->seed = (uint64_t)cfg->seed.value;
    o->max_seconds = isnan(cfg->max_seconds.value) ? 0 : cfg->max_seconds.value;
}

enum fit_status fit_setup_options(const struct fit_config *cfg, const struct fit_kernel *kernel,
                                  const struct fit_dataset *ds, const struct fit_measurement *m,
                                  struct fit_setup *s, struct fit_error *err)
{
    size_t ngroup = ds->layout.ngroup;
    struct fit_options *o = &s->options;
    *s = (struct fit_setup){0};
    enum fit_status st = fit_setup_supported(cfg, kernel, err);
    if (st == FIT_OK)
        st = check_clusters(cfg, ds, err);
    if (st != FIT_OK)
        return st;
    if (!allocate(s, kernel, ngroup))
        return fit_fail(err, FIT_ERR_MEMORY, "out of memory for the options of the fit");
    fill_parameters(s, cfg, kernel, ngroup);
    fill_options(o, cfg, ngroup);
    fit_setup_borrow(s);
    if (o->scaling == FIT_SCALING_CONSTANT && (st = constant_values(s, kernel, ds, err)) != FIT_OK)
        return st;
    if (m && m->sigma_from == FIT_SIGMA_GIVEN && !ds->weighted) {
        for (size_t g = 0; g < ngroup; g++)
            s->sigma[g] = m->group[g].sigma;
        o->sigma = s->sigma;
    }
    return FIT_OK;
}

void fit_setup_free(struct fit_setup *s)
{
    free(s->start);
    free(s->lower);
    free(s->upper);
    free(s->linear_lower);
    free(s->linear_upper);
    free(s->linear_start);
    free(s->sigma);
    free(s->fixed);
    free(s->linear_fixed);
    free(s->linear_class);
    fit_linkage_free(s->link);
    *s = (struct fit_setup){0};
}

/* ---- the process ----------------------------------------------------------------------------- */

double fit_memory_peak_mb(void)
{
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) == 0 ? (double)u.ru_maxrss * 1024 / 1e6
                                           : NAN; /* Linux: KiB */
}

static int is_plain(const char *word)
{
    return *word &&
           strspn(word,
                  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+@%") ==
               strlen(word);
}

char *fit_command_line(int argc, char *const *argv)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    for (int k = 0; k < argc; k++) {
        fputs(k ? " " : "", f);
        if (is_plain(argv[k])) {
            fputs(argv[k], f);
            continue;
        }
        fputc('\'', f);
        for (const char *c = argv[k]; *c; c++)
            fputs(*c == '\'' ? "'\\''" : (char[]){*c, 0}, f);
        fputc('\'', f);
    }
    if (fclose(f) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
