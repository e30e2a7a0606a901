/* write_posterior.c -- posterior.nc: the draws in the InferenceData layout of ArviZ, in netCDF-4.
 *
 * netCDF-4 is HDF5 with dimension scales; no netCDF library is needed to write or to read it:
 *
 *     arviz.from_netcdf("posterior.nc")                 ArviZ (with h5netcdf or netCDF4)
 *     h5py.File("posterior.nc")["posterior/D0"][()]     h5py: chains x draws
 *
 * Groups, each with coordinates of its own (the convention of ArviZ); those of the draws are written here:
 *     posterior                one variable per free parameter, (chain, draw) or (chain, draw, phi); attributes: units,
 *                              long_name, prior and its quantiles, bounds, least-squares value and error
 *     posterior_robust         the same for correlated noise (widen.c), with covariance and covariance_robust
 *                              (column, column_2); without parameters that have no robust errors
 *     sample_stats             lp, energy, diverging, tree_depth, n_steps, acceptance_rate, step_size, ...; Laplace:
 *                              log_weight of the proposal that a draw is a copy of, attribute pareto_k
 *     unconstrained_posterior  q (chain, draw, coordinate): the sampler's coordinates; its mode, metric
 * and in write_posterior_data.c:
 *     prior                    draws of the nonlinear parameters with a proper prior
 *     log_likelihood           tables: value (chain, draw, row); draws are thinned if there are many rows
 *     posterior_predictive     the same, for models with a noise distribution of their own: data drawn from it;
 *                              attribute p_scatter
 *     predictive_check         <measure>_p, _z, _data, _model (group): residuals beside the model's noise,
 *                              residual_check.h
 *     observed_data            pairs: cuts g2(phi, age, tau) with errors; tables: the values, if there are few
 *     constant_data            settings, fixed parameters, least-squares noise
 *
 * The dimension of the groups of data is called phi when they are azimuths, else like the model's axis, else group:
 * then q and phi (the axes of a table) are coordinates along it.
 */
#include "results/write_posterior_impl.h"

#include "base/json.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- posterior ------------------------------------------------------------------------------- */

static void describe_prior(struct fit_nc *f, const char *path, const struct fit_prior *p)
{
    static const double part[] = {0.025, 0.5, 0.975};
    static const char *const name[] = {"prior_q025", "prior_median", "prior_q975"};
    fit_h5r_attribute(f->w, path, "prior", fit_prior_word(p->kind));
    fit_h5r_attribute_real(f->w, path, "prior_a", p->a);
    fit_h5r_attribute_real(f->w, path, "prior_b", p->b);
    fit_h5r_attribute_real(f->w, path, "lower", p->lower);
    fit_h5r_attribute_real(f->w, path, "upper", p->upper);
    for (int k = 0; k < 3 && p->proper; k++)
        fit_h5r_attribute_real(f->w, path, name[k], fit_prior_quantile(p, part[k]));
}

static void describe_variable(struct fit_nc *f, const char *path, const struct fit_nc_variable *v)
{
    const struct fit_result *fit = f->r->fit;
    const struct fit_column_summary *c = &f->s->column[v->first];
    fit_nc_text(f, path, "long_name", v->doc);
    if (c->prior.log_norm != 0 || c->prior.proper ||
        c->prior.kind != FIT_PRIOR_NONE) /* noise without a prior: none */
        describe_prior(f, path, &c->prior);
    if (v->grouped)
        return;
    fit_h5r_attribute_real(f->w, path, "least_squares", fit_results_column_value(f->r, v->first));
    const double std = fit_results_column_std(f->r, v->first);
    if (v->first < fit->nfull || !isnan(std))
        fit_h5r_attribute_real(f->w, path, "least_squares_error", std);
}

static void put_variable(struct fit_nc *f, const char *group, const struct fit_nc_variable *v)
{
    const struct fit_samples *s = f->s;
    size_t n = v->grouped ? s->ngroup : 1, rows = s->chains * s->draws;
    char path[FIT_NC_PATH];
    for (size_t k = 0; k < rows; k++)
        for (size_t g = 0; g < n; g++)
            f->buffer[k * n + g] = f->x[k * s->ncolumn + v->first + g * v->stride];
    fit_nc_draws(f, group, v->name, n, v->grouped ? f->group_name : NULL, f->buffer, v->unit);
    describe_variable(f, fit_nc_path(path, group, v->name), v);
}

static void put_posterior(struct fit_nc *f)
{
    fit_nc_draw_dimensions(f, "posterior");
    fit_nc_group_dimension(f, "posterior");
    fit_nc_each_variable(f, "posterior", 0, put_variable);
    fit_nc_describe(f, "/posterior");
}

/* Variables that have robust errors in every group. */
static void put_stretched(struct fit_nc *f, const char *group, const struct fit_nc_variable *v)
{
    for (size_t g = 0; g < (v->grouped ? f->s->ngroup : 1); g++)
        if (isnan(f->s->x_robust[v->first + g * v->stride]))
            return;
    put_variable(f, group, v);
}

/* `covariance` of the columns that have robust errors. */
static void put_covariance(struct fit_nc *f, const char *group, const char *name, const double *covariance, size_t n,
                           const size_t *column)
{
    char path[FIT_NC_PATH];
    FIT_OWNED double *block = malloc((n * n + 1) * sizeof *block);
    for (size_t i = 0; block && i < n; i++)
        for (size_t j = 0; j < n; j++)
            block[i * n + j] = covariance[column[i] * f->s->ncolumn + column[j]];
    if (block)
        fit_h5r_reals(f->w, fit_nc_path(path, group, name), 2, (const size_t[]){n, n}, block, NULL);
    else
        fit_h5r_no_memory(f->w, name);
    fit_nc_attach(f, group, name, (const char *const[]){"column", "column_2", NULL});
}

/* Draws stretched for correlated noise, and their covariance with that of the draws themselves. */
static void put_robust(struct fit_nc *f)
{
    FIT_SCRATCH(a);
    static const char group[] = "posterior_robust", *const both[] = {"column", "column_2"};
    const struct fit_samples *s = f->s;
    size_t n = 0, *column = fit_take(&a, s->ncolumn, sizeof *column);
    char path[FIT_NC_PATH], (*text)[64] = malloc((s->ncolumn + 1) * sizeof *text);
    const char **name = fit_take(&a, s->ncolumn, sizeof *name);
    if (!column || !text || !name)
        fit_h5r_no_memory(f->w, group);
    if (s->x_robust && column && text && name) {
        fit_nc_draw_dimensions(f, group);
        fit_nc_group_dimension(f, group);
        f->x = s->x_robust;
        fit_nc_each_variable(f, group, 0, put_stretched);
        f->x = s->x;
        for (size_t k = 0; k < s->ncolumn; k++) {
            if (isnan(s->x_robust[k]))
                continue;
            fit_samples_name(f->r->kernel, s->ngroup, k, text[n]);
            name[n] = text[n];
            column[n++] = k;
        }
        for (size_t k = 0; k < 2; k++) {
            fit_h5r_texts(f->w, fit_nc_path(path, group, both[k]), n, name);
            fit_h5r_scale(f->w, path, both[k]);
        }
        put_covariance(f, group, "covariance", s->covariance, n, column);
        put_covariance(f, group, "covariance_robust", s->covariance_robust, n, column);
        fit_nc_describe(f, "/posterior_robust");
    }
    free(text);
}

/* ---- sample_stats ---------------------------------------------------------------------------- */

/* Column `at` of the statistics, as doubles, integers or booleans. */
enum as { REAL, WHOLE, TRUTH };

static void put_statistic(struct fit_nc *f, const char *name, size_t at, enum as as, double above)
{
    const struct fit_samples *s = f->s;
    size_t n = s->chains * s->draws, columns = sizeof *s->stats / sizeof(double),
           dims[2] = {s->chains, s->draws};
    const double *from = (const double *)(const void *)s->stats + at;
    char path[FIT_NC_PATH];
    for (size_t k = 0; k < n; k++) {
        double x = from[k * columns];
        f->buffer[k] = x;
        f->count[k] = (int64_t)x;
        f->flag[k] = x > above;
    }
    struct fit_h5_array a = {.type = as == REAL    ? FIT_H5_F64
                                     : as == WHOLE ? FIT_H5_I64
                                                   : FIT_H5_I8,
                             .rank = 2,
                             .dims = dims,
                             .value = as == REAL    ? (const void *)f->buffer
                                      : as == WHOLE ? (const void *)f->count
                                                    : f->flag};
    fit_h5r_array(f->w, fit_nc_path(path, "sample_stats", name), &a, NULL);
    if (as == TRUTH)
        fit_h5r_attribute(f->w, path, "dtype", "bool");
    fit_nc_attach(f, "sample_stats", name, (const char *const[]){"chain", "draw", NULL});
}

#define AT(member) (offsetof(struct fit_draw_stats, member) / sizeof(double))

static void put_sample_stats(struct fit_nc *f)
{
    const struct fit_samples *s = f->s;
    fit_nc_draw_dimensions(f, "sample_stats");
    fit_nc_draws(f, "sample_stats", "lp", 0, NULL, s->lp, NULL);
    if (s->stats) {
        put_statistic(f, "energy", AT(energy), REAL, 0);
        put_statistic(f, "energy_error", AT(energy_error), REAL, 0);
        put_statistic(f, "acceptance_rate", AT(accept_stat), REAL, 0);
        put_statistic(f, "step_size", AT(step), REAL, 0);
        put_statistic(f, "tree_depth", AT(tree_depth), WHOLE, 0);
        put_statistic(f, "n_steps", AT(n_leapfrog), WHOLE, 0);
        put_statistic(f, "n_gradients", AT(n_gradient), WHOLE, 0);
        put_statistic(f, "diverging", AT(divergent), TRUTH, 0);
        put_statistic(f, "reached_max_treedepth", AT(tree_depth), TRUTH,
                      (double)s->max_depth - 0.5);
    } else {
        fit_nc_draws(f, "sample_stats", "log_weight", 0, NULL, s->log_weight, NULL);
        fit_h5r_attribute_real(f->w, "/sample_stats", "pareto_k", s->pareto_k);
        fit_h5r_attribute_real(f->w, "/sample_stats", "weight_ess", s->weight_ess);
        fit_h5r_attribute_real(f->w, "/sample_stats", "log_evidence", s->log_evidence);
    }
    fit_nc_describe(f, "/sample_stats");
}

/* ---- coordinates ----------------------------------------------------------------------------- */

static void put_unconstrained(struct fit_nc *f)
{
    static const char group[] = "unconstrained_posterior", *const both[] = {"coordinate",
                                                                            "coordinate_2"};
    const struct fit_samples *s = f->s;
    size_t d = s->ncoordinate, dims[3] = {s->chains, d, d};
    FIT_OWNED const char **name = malloc((d + 1) * sizeof *name);
    char path[FIT_NC_PATH];
    if (!name)
        fit_h5r_no_memory(f->w, group);
    fit_nc_draw_dimensions(f, group);
    for (size_t k = 0; name && k < d; k++)
        name[k] = s->coordinate_name[k];
    for (int k = 0; name && k < 2; k++) {
        fit_h5r_texts(f->w, fit_nc_path(path, group, both[k]), d, name);
        fit_h5r_scale(f->w, path, both[k]);
    }
    fit_nc_draws(f, group, "q", d, "coordinate", s->q, NULL);
    fit_h5r_reals(f->w, fit_nc_path(path, group, "mode"), 1, &d, s->mode, NULL);
    fit_nc_attach(f, group, "mode", (const char *const[]){"coordinate", NULL});
    fit_h5r_reals(f->w, fit_nc_path(path, group, "mode_covariance"), 2, dims + 1, s->mode_covariance,
                  NULL);
    fit_nc_attach(f, group, "mode_covariance", (const char *const[]){"coordinate", "coordinate_2", NULL});
    if (s->inverse_metric) {
        fit_h5r_reals(f->w, fit_nc_path(path, group, "inverse_metric"), s->dense ? 3 : 2, dims,
                      s->inverse_metric, NULL);
        fit_nc_attach(
            f, group, "inverse_metric",
            (const char *const[]){"chain", "coordinate", s->dense ? "coordinate_2" : NULL, NULL});
    }
    fit_nc_describe(f, "/unconstrained_posterior");
}

/* ---- the file -------------------------------------------------------------------------------- */

/* The method of the consensus, and whether it is reliable; details of shards: fit.json. */
static void put_consensus(struct fit_json *j, const struct fit_consensus *c)
{
    fit_json_begin(j, "consensus", '{');
    fit_json_integer(j, "shards", (int64_t)c->nshard);
    fit_json_integer(j, "chains", (int64_t)c->chains);
    fit_json_integer(j, "warmup", (int64_t)c->warmup);
    fit_json_integer(j, "draws", (int64_t)c->draws);
    fit_json_number(j, "heterogeneity_chi2", c->heterogeneity);
    fit_json_number(j, "heterogeneity_dof", c->freedom);
    fit_json_number(j, "heterogeneity_p", c->p);
    fit_json_number(j, "pareto_k", c->k);
    fit_json_end(j);
}

static char *settings_text(const struct fit_samples *s)
{
    struct fit_json j = {.compact = 1};
    int nuts = s->method == FIT_SAMPLING_NUTS;
    fit_json_begin(&j, NULL, '{');
    fit_json_string(&j, "method", fit_sampling_method_word(s->method));
    fit_json_integer(&j, "chains", (int64_t)s->chains);
    fit_json_integer(&j, "warmup", (int64_t)s->warmup);
    fit_json_integer(&j, "draws", (int64_t)s->draws);
    fit_json_integer(&j, "seed", (int64_t)s->seed);
    fit_json_integer(&j, "threads", s->threads);
    if (nuts) {
        fit_json_number(&j, "target_accept", s->target_accept);
        fit_json_integer(&j, "max_tree_depth", s->max_depth);
        fit_json_string(&j, "metric", s->dense ? "dense" : "diagonal");
    }
    if (s->consensus)
        put_consensus(&j, s->consensus);
    fit_json_end(&j);
    const char *text = fit_json_text(&j);
    char *copy = text ? strdup(text) : NULL;
    fit_json_free(&j);
    return copy;
}

/* The origin of everything: attributes of the file. */
static void describe_file(struct fit_nc *f)
{
    const struct fit_results *r = f->r;
    const struct fit_samples *s = f->s;
    FIT_OWNED char *settings = settings_text(s);
    if (!settings)
        fit_h5r_no_memory(f->w, "/");
    fit_nc_describe(f, "/");
    fit_nc_text(f, "/", "model_title", r->kernel->title);
    fit_nc_text(f, "/", "model_formula", r->kernel->formula);
    fit_nc_text(f, "/", "model_sha256", r->kernel->hash);
    fit_nc_text(f, "/", "kernel", r->kernel->variant);
    fit_nc_text(f, "/", "isa", r->kernel->isa);
    fit_nc_text(f, "/", "data_file", r->input->file);
    fit_nc_text(f, "/", "data_sha256", r->input->sha256);
    fit_nc_integer(f, "/", "seed", (int64_t)s->seed);
    fit_nc_text(f, "/", "settings", settings);
    fit_nc_text(f, "/", "command_line", r->command_line);
    if (r->run_id)
        fit_nc_text(f, "/", "run_id", r->run_id);
    fit_nc_text(f, "/", "config_yaml", r->config_text);
    fit_nc_text(f, "/", "status", fit_sampling_end_word(s->end));
    fit_nc_text(f, "/", "verdict", fit_verdict_word(s->verdict));
    fit_nc_text(f, "/", "verdict_text", s->verdict_text);
    fit_h5r_attribute_real(f->w, "/", "gradients", s->gradients);
}

static enum fit_status open_groups(struct fit_nc *f, struct fit_arena *a, struct fit_error *err)
{
    const struct fit_results *r = f->r;
    const struct fit_samples *s = f->s;
    const struct fit_kernel *k = r->kernel;
    size_t n = s->chains * s->draws, wide = s->ngroup > s->ncoordinate ? s->ngroup : s->ncoordinate;
    int pairs = k->space == FIT_PAIRS;
    f->group_coord = fit_take(a, s->ngroup, sizeof *f->group_coord);
    f->buffer = fit_take(a, n * (wide + 1) + s->ngroup, sizeof *f->buffer);
    f->count = fit_take(a, n + FIT_NC_PRIOR_DRAWS, sizeof *f->count);
    f->flag = fit_take(a, n, sizeof *f->flag);
    if (a->failed)
        return fit_no_memory(err, "posterior.nc");
    const enum fit_group_kind kind = pairs ? fit_input_groups(r->input, s->ngroup) : FIT_GROUP_PHI;
    int phi = pairs && r->input->phi && kind == FIT_GROUP_PHI;
    int axis = !phi && k->naxis == 1 && r->ds->layout.coord && kind != FIT_GROUP_BOTH;
    if (pairs || k->naxis || s->ngroup > 1) {
        f->group_name = phi ? "phi" : axis ? k->axis[0].name : "group";
        f->group_unit = phi ? "degree" : axis ? k->axis[0].unit : NULL;
    }
    for (size_t g = 0; g < s->ngroup; g++)
        f->group_coord[g] = phi ? r->input->phi[g] : axis ? r->ds->layout.coord[0][g] : (double)g;
    return FIT_OK;
}

enum fit_status fit_write_posterior(const struct fit_results *r, const char *path,
                                    struct fit_error *err)
{
    struct fit_h5r w = {0};
    struct fit_nc f = {.w = &w, .r = r, .s = r->samples, .x = r->samples->x};
    FIT_SCRATCH(a);
    enum fit_status st = open_groups(&f, &a, err);
    if (st == FIT_OK)
        st = fit_h5r_create(path, &w, err);
    if (st == FIT_OK) {
        put_posterior(&f);
        put_robust(&f);
        put_sample_stats(&f);
        put_unconstrained(&f);
        fit_nc_put_prior(&f);
        fit_nc_put_predictive(&f);
        fit_nc_put_residual_check(&f);
        fit_nc_put_observed(&f);
        fit_nc_put_constants(&f);
        describe_file(&f);
        st = fit_h5r_close(&w, err);
    }
    return st;
}
