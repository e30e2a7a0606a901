/* setup.c -- from a configuration to the input of a fit; see setup.h. */
#include "setup/setup.h"

#include "setup/sampling_setup.h"

#include "fit/fit.h"
#include "data/quantiles.h"
#include "files/npz.h"
#include "hdf5/reader.h"
#include "optimizers/minimiser.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* ---- options --------------------------------------------------------------------------------- */

static double *nan_array(struct fit_arena *a, size_t n)
{
    double *x = fit_take(a, n, sizeof *x);
    for (size_t k = 0; x && k < n; k++)
        x[k] = NAN;
    return x;
}

static int allocate(struct fit_setup *s, const struct fit_kernel *k, size_t ngroup)
{
    struct fit_arena *a = &s->storage_;
    s->start = nan_array(a, k->nparam);
    s->lower = nan_array(a, k->nparam);
    s->upper = nan_array(a, k->nparam);
    s->linear_lower = nan_array(a, k->nlinear);
    s->linear_upper = nan_array(a, k->nlinear);
    s->linear_start = nan_array(a, k->nlinear * ngroup);
    s->sigma = nan_array(a, ngroup);
    s->fixed = fit_take(a, k->nparam, sizeof *s->fixed);
    s->linear_fixed = fit_take(a, k->nlinear, sizeof *s->linear_fixed);
    return !a->failed;
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

/* Settings that a fit of several files together cannot have. */
static enum fit_status several_files(const struct fit_config *cfg, const struct fit_kernel *k, struct fit_error *err)
{
    const size_t n = cfg->input.path.n;
    if (cfg->study.sequence.value != FIT_SEQUENCE_NONE)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "sequence: not of %zu data files together; `homodyne batch` fits each file by itself", n);
    if (cfg->nlsq.estimator.value == FIT_ESTIMATOR_EFFICIENT)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "estimator: efficient estimates are of one data file; least squares fit %zu together", n);
    if (cfg->nlsq.stream.value == FIT_STREAM_ON)
        return fit_fail(err, FIT_ERR_CONFIG, "stream: %zu data files are fitted from memory", n);
    if (k->space == FIT_PAIRS && cfg->input.sigma.value == FIT_SIGMA_FILE)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "sigma: one file of errors for %zu data files; errors stand in the data files, or are numbers",
                        n);
    if (fit_config_axis_index(k, "file") >= 0)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "model %s has an axis of its own called file; call it otherwise for a fit of several files",
                        k->name);
    return FIT_OK;
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
    if (k->feedback && cfg->study.bootstrap.value != FIT_BOOTSTRAP_NONE)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "bootstrap: it replaces measured values one by one, and in the model %s every row follows from "
                        "those before it (state %s); --method nuts gives intervals",
                        k->name, k->state[0].name);
    if (cfg->nlsq.estimator.value != FIT_ESTIMATOR_LEAST_SQUARES && cfg->study.bootstrap.value != FIT_BOOTSTRAP_NONE)
        return fit_fail(err, FIT_ERR_CONFIG, "bootstrap: of least squares only (--estimator least-squares); errors of "
                                             "efficient estimates follow from the noise of speckles");
    if (cfg->study.sequence.value == FIT_SEQUENCE_Q && k->space != FIT_PAIRS)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "sequence: q is one of a file of matrices; a table has --sequence angle, for each curve alone");
    if (cfg->study.sequence.value == FIT_SEQUENCE_Q && fit_config_axis_index(k, "q") >= 0)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "sequence: q is an axis of the model %s, whose fit is of all q of the file "
                        "together; --q Q fits one of them, `homodyne batch --q all` every one by itself",
                        k->name);
    return cfg->input.path.n > 1 ? several_files(cfg, k, err) : FIT_OK;
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

/* The errors of tables have no clusters. */
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

/* Too few clusters give no estimate of their scatter. */
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

/* The least-squares settings of the configuration. */
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
    o->estimator = (enum fit_estimator)cfg->nlsq.estimator.value;
    o->noise_model = (struct fit_noise_model){.kind = (enum fit_noise_kind)cfg->robust.noise.value,
                                              .count = fmax(cfg->robust.count.value, 0),
                                              .shot = fmax(cfg->robust.shot.value, 0)};
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

/* The optimizer that the user names, if it suits the fit. */
static enum fit_status set_optimizer(struct fit_setup *s, const struct fit_config *cfg,
                                     const struct fit_kernel *kernel, struct fit_error *err)
{
    const char *name = cfg->nlsq.optimizer.value, *state = cfg->nlsq.optimizer_state.value;
    if (!name)
        return state ? fit_fail(err, FIT_ERR_CONFIG, "optimizer_state: nlsq keeps none; name an optimizer, such as "
                                                     "lbfgsb")
                     : FIT_OK;
    const enum fit_status st = fit_minimiser_new(&s->minimiser, name, state, err);
    s->options.minimiser = s->minimiser;
    if (st != FIT_OK || !s->minimiser)
        return st;
    if (s->options.loss != FIT_LOSS_LINEAR)
        return fit_fail(err, FIT_ERR_CONFIG, "optimizer %s: with loss linear only; of robust losses nlsq", name);
    for (size_t k = 0; !fit_minimiser_has_bounds(s->minimiser) && k < kernel->nparam; k++)
        if (!s->fixed[k] && (isfinite(s->lower[k]) || isfinite(s->upper[k])))
            return fit_fail(err, FIT_ERR_CONFIG,
                            "optimizer %s keeps no bounds, and '%s' has some; lbfgsb, adam, adamw, sgd and rmsprop do",
                            name, kernel->param[k].name);
    return FIT_OK;
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
        return fit_no_memory(err, "options of the fit");
    fill_parameters(s, cfg, kernel, ngroup);
    fill_options(o, cfg, ngroup);
    fit_setup_borrow(s);
    if ((st = set_optimizer(s, cfg, kernel, err)) != FIT_OK)
        return st;
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
    fit_arena_free(&s->storage_);
    fit_linkage_free(s->link);
    fit_minimiser_free(s->minimiser);
    *s = (struct fit_setup){0};
}
