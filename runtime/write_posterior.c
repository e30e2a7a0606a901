/* write_posterior.c -- posterior.nc: the draws in the InferenceData layout of ArviZ, in netCDF-4.
 *
 * netCDF-4 is HDF5 with dimension scales; no netCDF library is needed to write or to read it:
 *
 *     arviz.from_netcdf("posterior.nc")                                        ArviZ (with h5netcdf
 * or netCDF4) h5py.File("posterior.nc")["posterior/D0"][()]                            h5py: chains
 * x draws
 *
 * Groups, each with coordinates of its own (the convention of ArviZ):
 *     posterior                one variable per free parameter, (chain, draw) or (chain, draw,
 * phi); attributes: units, long_name, prior and its quantiles, bounds, least-squares value and
 * error sample_stats             lp, energy, diverging, tree_depth, n_steps, acceptance_rate,
 * step_size, ...; Laplace: log_weight of the proposal that a draw is a copy of, attribute pareto_k
 *     posterior_robust         the same for correlated noise (sampling_robust.c), with covariance and
 * covariance_robust (column, column_2); without what the fit has no robust errors for
 *     unconstrained_posterior  q (chain, draw, coordinate): what the sampler moves in; its mode,
 * metric prior                    draws of the nonlinear parameters with a proper prior
 *     log_likelihood           value (chain, draw, row), for models with a law of the errors of their own; draws are
 *     posterior_predictive     thinned where there are many rows; data drawn from the law, attribute p_scatter
 *     predictive_check         <measure>_p, _z, _data, _model (group): residuals beside the model's noise, residual_check.h
 *     observed_data            pairs: cuts g2(phi, age, tau) with errors; tables: the values, when
 * they are few constant_data            settings, fixed parameters, least-squares noise
 *
 * The dimension of the groups of data is called phi when they are azimuths, else as the model's
 * axis, else group.
 */
#include "hdf5_results.h"
#include "json.h"
#include "results.h"
#include "rng.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 192, PRIOR_DRAWS = 1000, MOST_ROWS = 10000 };

struct nc {
    struct fit_h5r *w;
    const struct fit_results *r;
    const struct fit_samples *s;
    const double *x;        /* of the samples: x or x_robust */
    const char *group_name; /* of the dimension of the groups of data; NULL: there is none */
    const char *group_unit;
    double *group_coord; /* ngroup */
    double *buffer;      /* chains x draws x max(ngroup, ncoordinate) */
    int64_t *count;      /* max(chains, draws, chains x draws) */
    unsigned char *flag; /* chains x draws */
};

/* ---- dimensions ------------------------------------------------------------------------------ */

static const char *join(char path[PATH], const char *group, const char *name)
{
    snprintf(path, PATH, "/%s/%s", group, name);
    return path;
}

/* The coordinate 0, 1, ... n - 1 as a dimension of a group. */
static void put_index(struct nc *f, const char *group, const char *name, size_t n)
{
    char path[PATH];
    for (size_t k = 0; k < n; k++)
        f->count[k] = (int64_t)k;
    fit_h5r_integers(f->w, join(path, group, name), n, f->count);
    fit_h5r_scale(f->w, path, name);
}

static void put_coordinate(struct nc *f, const char *group, const char *name, size_t n,
                           const double *value, const char *unit)
{
    char path[PATH];
    fit_h5r_reals(f->w, join(path, group, name), 1, &n, value, unit);
    fit_h5r_scale(f->w, path, name);
}

static void put_draw_dimensions(struct nc *f, const char *group)
{
    char path[PATH];
    snprintf(path, sizeof path, "/%s", group);
    fit_h5r_group(f->w, path, NULL);
    put_index(f, group, "chain", f->s->chains);
    put_index(f, group, "draw", f->s->draws);
}

static void put_group_dimension(struct nc *f, const char *group)
{
    if (f->group_name)
        put_coordinate(f, group, f->group_name, f->s->ngroup, f->group_coord, f->group_unit);
}

/* The dimensions of a dataset: names of scales in its own group, ended by NULL. */
static void attach(struct nc *f, const char *group, const char *name, const char *const *dims)
{
    char path[PATH], scale[PATH];
    join(path, group, name);
    for (unsigned k = 0; dims[k]; k++)
        fit_h5r_attach(f->w, path, k, join(scale, group, dims[k]));
}

/* A variable over (chain, draw) and perhaps one dimension more. */
static void put_draws(struct nc *f, const char *group, const char *name, size_t extra,
                      const char *dimension, const double *value, const char *unit)
{
    char path[PATH];
    size_t dims[3] = {f->s->chains, f->s->draws, extra};
    fit_h5r_reals(f->w, join(path, group, name), dimension ? 3 : 2, dims, value, unit);
    attach(f, group, name, (const char *const[]){"chain", "draw", dimension, NULL});
}

/* ---- attributes ------------------------------------------------------------------------------ */

static void attribute_integer(struct nc *f, const char *path, const char *name, int64_t value)
{
    struct fit_h5_array a = {.type = FIT_H5_I64, .value = &value};
    if (f->w->error.status == FIT_OK)
        fit_h5_write_attr(f->w->h, path, name, &a, &f->w->error);
}

static void attribute_text(struct nc *f, const char *path, const char *name, const char *value)
{
    if (value && *value)
        fit_h5r_attribute(f->w, path, name, value);
}

/* What ArviZ expects of every group. */
static void describe_group(struct nc *f, const char *path)
{
    const struct fit_results *r = f->r;
    struct tm tm;
    char text[40];
    gmtime_r(&r->end, &tm);
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S+00:00", &tm);
    fit_h5r_attribute(f->w, path, "created_at", text);
    fit_h5r_attribute(f->w, path, "creation_library", "homodyne-gen");
    fit_h5r_attribute(f->w, path, "creation_library_version", FIT_VERSION);
    fit_h5r_attribute(f->w, path, "inference_library", r->program);
    fit_h5r_attribute(f->w, path, "inference_library_version", FIT_VERSION);
    fit_h5r_attribute_real(f->w, path, "sampling_time", f->s->seconds.sampling);
    attribute_integer(f, path, "tuning_steps", (int64_t)f->s->warmup);
    fit_h5r_attribute(f->w, path, "model_name", r->kernel->name);
}

/* How the consensus was made, and whether it holds; shard by shard: fit.json. */
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

/* Where it all comes from: attributes of the file. */
static void describe_file(struct nc *f)
{
    const struct fit_results *r = f->r;
    const struct fit_samples *s = f->s;
    char *settings = settings_text(s);
    describe_group(f, "/");
    attribute_text(f, "/", "model_title", r->kernel->title);
    attribute_text(f, "/", "model_formula", r->kernel->formula);
    attribute_text(f, "/", "model_sha256", r->kernel->hash);
    attribute_text(f, "/", "kernel", r->kernel->variant);
    attribute_text(f, "/", "isa", r->kernel->isa);
    attribute_text(f, "/", "data_file", r->input->file);
    attribute_text(f, "/", "data_sha256", r->input->sha256);
    attribute_integer(f, "/", "seed", (int64_t)s->seed);
    attribute_text(f, "/", "settings", settings);
    attribute_text(f, "/", "command_line", r->command_line);
    attribute_text(f, "/", "config_yaml", r->config_text);
    attribute_text(f, "/", "status", fit_sampling_end_word(s->end));
    attribute_text(f, "/", "verdict", fit_verdict_word(s->verdict));
    attribute_text(f, "/", "verdict_text", s->verdict_text);
    fit_h5r_attribute_real(f->w, "/", "gradients", s->gradients);
    free(settings);
}

static void describe_prior(struct nc *f, const char *path, const struct fit_prior *p)
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

/* ---- posterior ------------------------------------------------------------------------------- */

/* A name that no dimension has. */
static const char *variable_name(const struct nc *f, const char *name, char text[80])
{
    int taken = strcmp(name, "chain") == 0 || strcmp(name, "draw") == 0 ||
                (f->group_name && strcmp(name, f->group_name) == 0);
    snprintf(text, 80, "%.60s%s", name, taken ? "_parameter" : "");
    return text;
}

/* Columns first, first + stride, ...: one per group, or a single one. */
struct variable {
    char name[80];
    const char *unit, *doc;
    size_t first, stride;
    int grouped;
};

static int is_fixed(const struct nc *f, const struct variable *v)
{
    for (size_t g = 0; g < (v->grouped ? f->s->ngroup : 1); g++)
        if (!f->s->column[v->first + g * v->stride].constant)
            return 0;
    return 1;
}

static void describe_variable(struct nc *f, const char *path, const struct variable *v)
{
    const struct fit_result *fit = f->r->fit;
    const struct fit_column_summary *c = &f->s->column[v->first];
    attribute_text(f, path, "long_name", v->doc);
    if (c->prior.log_norm != 0 || c->prior.proper ||
        c->prior.kind != FIT_PRIOR_NONE) /* noise without a prior: none */
        describe_prior(f, path, &c->prior);
    if (v->grouped)
        return;
    fit_h5r_attribute_real(f->w, path, "least_squares", fit_results_column_value(f->r, v->first));
    if (v->first < fit->nfull)
        fit_h5r_attribute_real(f->w, path, "least_squares_error", fit->std[v->first]);
}

static void put_variable(struct nc *f, const char *group, const struct variable *v)
{
    const struct fit_samples *s = f->s;
    size_t n = v->grouped ? s->ngroup : 1, rows = s->chains * s->draws;
    char path[PATH];
    for (size_t k = 0; k < rows; k++)
        for (size_t g = 0; g < n; g++)
            f->buffer[k * n + g] = f->x[k * s->ncolumn + v->first + g * v->stride];
    put_draws(f, group, v->name, n, v->grouped ? f->group_name : NULL, f->buffer, v->unit);
    describe_variable(f, join(path, group, v->name), v);
}

static void put_fixed(struct nc *f, const char *group, const struct variable *v)
{
    char path[PATH];
    size_t n = f->s->ngroup;
    for (size_t g = 0; g < n; g++)
        f->buffer[g] = f->s->x[v->first + g * v->stride];
    fit_h5r_reals(f->w, join(path, group, v->name), v->grouped, &n, f->buffer, v->unit);
    if (v->grouped)
        attach(f, group, v->name, (const char *const[]){f->group_name, NULL});
    attribute_text(f, path, "long_name", v->doc);
}

/* Calls put for all variables that are fixed, or are not. */
static void each_variable(struct nc *f, const char *group, int fixed,
                          void (*put)(struct nc *, const char *, const struct variable *))
{
    const struct fit_kernel *k = f->r->kernel;
    const struct fit_samples *s = f->s;
    int averaged = fit_config_scaling(f->r->config, s->ngroup) == FIT_SCALING_AVERAGED;
    for (size_t c = 0; c < s->nparam + s->nlinear + 1; c++) {
        size_t q = c - s->nparam;
        const struct fit_param *p = c < s->nparam    ? &k->param[c]
                                    : q < s->nlinear ? &k->linear[q]
                                                     : NULL;
        struct variable v = {
            .unit = p ? p->unit : "1",
            .doc = p ? p->doc : "standard deviation of the noise",
            .first = q < s->nlinear || c < s->nparam ? c : s->nparam + s->ngroup * s->nlinear,
            .stride = q < s->nlinear ? s->nlinear : 1};
        variable_name(f, p ? p->name : "sigma", v.name);
        if (c < s->nparam)
            v.stride = 0;
        v.grouped = f->group_name && c >= s->nparam && !(p && (p->over < 0 || averaged));
        for (size_t other = 0; !p && other < s->nparam; other++)
            if (strcmp(k->param[other].name, "sigma") == 0)
                snprintf(v.name, sizeof v.name, "sigma_noise");
        if (is_fixed(f, &v) == fixed && (p || !k->density))
            put(f, group, &v);
    }
}

static void put_posterior(struct nc *f)
{
    put_draw_dimensions(f, "posterior");
    put_group_dimension(f, "posterior");
    each_variable(f, "posterior", 0, put_variable);
    describe_group(f, "/posterior");
}

/* Variables that have robust errors in every group. */
static void put_stretched(struct nc *f, const char *group, const struct variable *v)
{
    for (size_t g = 0; g < (v->grouped ? f->s->ngroup : 1); g++)
        if (isnan(f->s->x_robust[v->first + g * v->stride]))
            return;
    put_variable(f, group, v);
}

/* `covariance` of the columns that have robust errors. */
static void put_covariance(struct nc *f, const char *group, const char *name, const double *covariance, size_t n,
                           const size_t *column)
{
    char path[PATH];
    double *block = malloc((n * n + 1) * sizeof *block);
    for (size_t i = 0; block && i < n; i++)
        for (size_t j = 0; j < n; j++)
            block[i * n + j] = covariance[column[i] * f->s->ncolumn + column[j]];
    if (block)
        fit_h5r_reals(f->w, join(path, group, name), 2, (const size_t[]){n, n}, block, NULL);
    else
        fit_h5r_no_memory(f->w, name);
    attach(f, group, name, (const char *const[]){"column", "column_2", NULL});
    free(block);
}

/* Draws stretched for correlated noise, and their covariance with that of the draws themselves. */
static void put_robust(struct nc *f)
{
    static const char group[] = "posterior_robust", *const both[] = {"column", "column_2"};
    const struct fit_samples *s = f->s;
    size_t n = 0, *column = malloc((s->ncolumn + 1) * sizeof *column);
    char path[PATH], (*text)[64] = malloc((s->ncolumn + 1) * sizeof *text);
    const char **name = malloc((s->ncolumn + 1) * sizeof *name);
    if (!column || !text || !name)
        fit_h5r_no_memory(f->w, group);
    if (s->x_robust && column && text && name) {
        put_draw_dimensions(f, group);
        put_group_dimension(f, group);
        f->x = s->x_robust;
        each_variable(f, group, 0, put_stretched);
        f->x = s->x;
        for (size_t k = 0; k < s->ncolumn; k++) {
            if (isnan(s->x_robust[k]))
                continue;
            fit_samples_name(f->r->kernel, s->ngroup, k, text[n]);
            name[n] = text[n];
            column[n++] = k;
        }
        for (size_t k = 0; k < 2; k++) {
            fit_h5r_texts(f->w, join(path, group, both[k]), n, name);
            fit_h5r_scale(f->w, path, both[k]);
        }
        put_covariance(f, group, "covariance", s->covariance, n, column);
        put_covariance(f, group, "covariance_robust", s->covariance_robust, n, column);
        describe_group(f, "/posterior_robust");
    }
    free(name);
    free(text);
    free(column);
}

/* ---- sample_stats ---------------------------------------------------------------------------- */

/* Column `at` of the statistics, as doubles, integers or truth values. */
enum as { REAL, WHOLE, TRUTH };

static void put_statistic(struct nc *f, const char *name, size_t at, enum as as, double above)
{
    const struct fit_samples *s = f->s;
    size_t n = s->chains * s->draws, columns = sizeof *s->stats / sizeof(double),
           dims[2] = {s->chains, s->draws};
    const double *from = (const double *)(const void *)s->stats + at;
    char path[PATH];
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
    fit_h5r_array(f->w, join(path, "sample_stats", name), &a, NULL);
    if (as == TRUTH)
        fit_h5r_attribute(f->w, path, "dtype", "bool");
    attach(f, "sample_stats", name, (const char *const[]){"chain", "draw", NULL});
}

#define AT(member) (offsetof(struct fit_draw_stats, member) / sizeof(double))

static void put_sample_stats(struct nc *f)
{
    const struct fit_samples *s = f->s;
    put_draw_dimensions(f, "sample_stats");
    put_draws(f, "sample_stats", "lp", 0, NULL, s->lp, NULL);
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
        put_draws(f, "sample_stats", "log_weight", 0, NULL, s->log_weight, NULL);
        fit_h5r_attribute_real(f->w, "/sample_stats", "pareto_k", s->pareto_k);
        fit_h5r_attribute_real(f->w, "/sample_stats", "weight_ess", s->weight_ess);
        fit_h5r_attribute_real(f->w, "/sample_stats", "log_evidence", s->log_evidence);
    }
    describe_group(f, "/sample_stats");
}

/* ---- coordinates ----------------------------------------------------------------------------- */

static void put_unconstrained(struct nc *f)
{
    static const char group[] = "unconstrained_posterior", *const both[] = {"coordinate",
                                                                            "coordinate_2"};
    const struct fit_samples *s = f->s;
    size_t d = s->ncoordinate, dims[3] = {s->chains, d, d};
    const char **name = malloc((d + 1) * sizeof *name);
    char path[PATH];
    if (!name)
        fit_h5r_no_memory(f->w, group);
    put_draw_dimensions(f, group);
    for (size_t k = 0; name && k < d; k++)
        name[k] = s->coordinate_name[k];
    for (int k = 0; name && k < 2; k++) {
        fit_h5r_texts(f->w, join(path, group, both[k]), d, name);
        fit_h5r_scale(f->w, path, both[k]);
    }
    put_draws(f, group, "q", d, "coordinate", s->q, NULL);
    fit_h5r_reals(f->w, join(path, group, "mode"), 1, &d, s->mode, NULL);
    attach(f, group, "mode", (const char *const[]){"coordinate", NULL});
    fit_h5r_reals(f->w, join(path, group, "mode_covariance"), 2, dims + 1, s->mode_covariance,
                  NULL);
    attach(f, group, "mode_covariance", (const char *const[]){"coordinate", "coordinate_2", NULL});
    if (s->inverse_metric) {
        fit_h5r_reals(f->w, join(path, group, "inverse_metric"), s->dense ? 3 : 2, dims,
                      s->inverse_metric, NULL);
        attach(
            f, group, "inverse_metric",
            (const char *const[]){"chain", "coordinate", s->dense ? "coordinate_2" : NULL, NULL});
    }
    describe_group(f, "/unconstrained_posterior");
    free(name);
}

/* ---- prior, data ----------------------------------------------------------------------------- */

/* Draws of the prior of parameter p to all[p]; a prior with parameters takes those that were drawn of them.  0: it is
 * held, or its prior no density. */
static int draw_prior(const struct nc *f, size_t p, double *all)
{
    const struct fit_column_summary *c = &f->s->column[p];
    struct fit_rng rng = {.chain = (uint32_t)p, .purpose = FIT_RNG_PRIOR};
    const unsigned *from = c->prior_from;
    double *draw = all + p * PRIOR_DRAWS;
    int any = from[0] || from[1];
    draw[0] = NAN;
    if (c->constant || (!any && !c->prior.proper))
        return 0;
    for (size_t n = 0; n < PRIOR_DRAWS; n++) {
        struct fit_prior prior = c->prior;
        double u = fit_rng_next_uniform(&rng);
        if (any) {
            double a = from[0] ? all[(from[0] - 1) * PRIOR_DRAWS + n] : prior.a;
            double b = from[1] ? all[(from[1] - 1) * PRIOR_DRAWS + n] : prior.b;
            if (!fit_prior_init(&prior, prior.kind, a, b, prior.lower, prior.upper))
                return 0;
        }
        draw[n] = fit_prior_quantile(&prior, u);
    }
    return 1;
}

/* Draws by inversion; the same for any seed. */
static void put_prior(struct nc *f)
{
    const struct fit_kernel *k = f->r->kernel;
    double *all = malloc((f->s->nparam + 1) * PRIOR_DRAWS * sizeof *all);
    size_t dims[2] = {1, PRIOR_DRAWS};
    char path[PATH], name[80];
    fit_h5r_group(f->w, "/prior", NULL);
    put_index(f, "prior", "chain", 1);
    put_index(f, "prior", "draw", PRIOR_DRAWS);
    for (size_t p = 0; all && p < f->s->nparam; p++) {
        double *draw = all + p * PRIOR_DRAWS;
        if (!draw_prior(f, p, all))
            continue;
        variable_name(f, k->param[p].name, name);
        fit_h5r_reals(f->w, join(path, "prior", name), 2, dims, draw, k->param[p].unit);
        attach(f, "prior", name, (const char *const[]){"chain", "draw", NULL});
    }
    free(all);
    describe_group(f, "/prior");
}

/* A variable of the table's rows for the draws that were taken. */
static void put_predicted(struct nc *f, const char *group, const double *value, const char *unit)
{
    const struct fit_predictive *p = f->r->predictive;
    const size_t dims[3] = {p->chains, p->draws, p->nrow};
    int64_t *number = malloc((p->draws + p->nrow + p->chains) * sizeof *number);
    const size_t count[] = {p->chains, p->draws, p->nrow}, step[] = {1, p->step, 1};
    static const char *const name[] = {"chain", "draw", "row"};
    char path[PATH];
    snprintf(path, sizeof path, "/%s", group);
    fit_h5r_group(f->w, path, NULL);
    for (int d = 0; number && d < 3; d++) {
        for (size_t k = 0; k < count[d]; k++)
            number[k] = (int64_t)(k * step[d]);
        fit_h5r_integers(f->w, join(path, group, name[d]), count[d], number);
        fit_h5r_scale(f->w, path, name[d]);
    }
    fit_h5r_reals(f->w, join(path, group, "value"), 3, dims, value, unit);
    attach(f, group, "value", (const char *const[]){"chain", "draw", "row", NULL});
    snprintf(path, sizeof path, "/%s", group);
    describe_group(f, path);
    free(number);
}

/* Log likelihood of the rows, and data drawn for them. */
static void put_predictive(struct nc *f)
{
    const struct fit_predictive *p = f->r->predictive;
    if (!p)
        return;
    put_predicted(f, "log_likelihood", p->log_likelihood, NULL);
    if (!p->y)
        return;
    put_predicted(f, "posterior_predictive", p->y, NULL);
    fit_h5r_attribute_real(f->w, "/posterior_predictive", "p_scatter", p->p);
}

/* One of p, z, data, model of a measure for every group; the mean over groups is an attribute. */
static void put_residual_number(struct nc *f, size_t m, const char *what, size_t at)
{
    static const char group[] = "predictive_check";
    const struct fit_residual_check *c = f->r->residuals;
    char path[PATH], name[80];
    size_t n = c->ngroup;
    for (size_t g = 0; g <= n; g++)
        f->buffer[g] = *(const double *)((const char *)&c->result[g * FIT_RESIDUAL_MEASURES + m] + at);
    snprintf(name, sizeof name, "%s_%s", fit_residual_word((enum fit_residual_measure)m), what);
    fit_h5r_reals(f->w, join(path, group, name), f->group_name ? 1 : 0, &n, f->buffer, NULL);
    if (f->group_name)
        attach(f, group, name, (const char *const[]){f->group_name, NULL});
    fit_h5r_attribute_real(f->w, path, "all", f->buffer[n]);
}

static void put_residual_check(struct nc *f)
{
    const struct fit_residual_check *c = f->r->residuals;
    char text[1024];
    if (!c)
        return;
    fit_h5r_group(f->w, "/predictive_check", NULL);
    put_group_dimension(f, "predictive_check");
    for (size_t m = 0; m < FIT_RESIDUAL_MEASURES; m++) {
        if (isnan(c->result[c->ngroup * FIT_RESIDUAL_MEASURES + m].p))
            continue;
        put_residual_number(f, m, "p", offsetof(struct fit_residual_result, p));
        put_residual_number(f, m, "z", offsetof(struct fit_residual_result, z));
        put_residual_number(f, m, "data", offsetof(struct fit_residual_result, data));
        put_residual_number(f, m, "model", offsetof(struct fit_residual_result, model));
    }
    fit_residual_text(c, f->r->input->phi ? "angles" : "groups", sizeof text, text);
    attribute_text(f, "/predictive_check", "text", text);
    attribute_integer(f, "/predictive_check", "draws", (int64_t)c->draws);
    describe_group(f, "/predictive_check");
}

static void put_cuts(struct nc *f)
{
    static const char group[] = "observed_data";
    const struct fit_maps *m = f->r->maps;
    size_t dims[3] = {m->ngroup, FIT_MAPS_AGES, m->nlag};
    const double *value[] = {m->g2, m->g2_error};
    static const char *const name[] = {"g2", "g2_err"};
    char path[PATH];
    put_group_dimension(f, group);
    put_coordinate(f, group, "age", FIT_MAPS_AGES, m->age, "s");
    put_coordinate(f, group, "tau", m->nlag, m->tau, "s");
    for (int k = 0; k < 2; k++) {
        fit_h5r_reals(f->w, join(path, group, name[k]), 3, dims, value[k], "1");
        attach(f, group, name[k], (const char *const[]){f->group_name, "age", "tau", NULL});
    }
}

static void put_rows(struct nc *f)
{
    const struct fit_maps *m = f->r->maps;
    double *value = malloc((m->n + 1) * sizeof *value);
    int64_t *row = malloc((m->n + 1) * sizeof *row);
    for (size_t k = 0; value && row && k < m->n; k++) {
        value[k] = (double)m->c2[k];
        row[k] = (int64_t)k;
    }
    if (value && row) {
        fit_h5r_integers(f->w, "/observed_data/row", m->n, row);
        fit_h5r_scale(f->w, "/observed_data/row", "row");
        fit_h5r_reals(f->w, "/observed_data/value", 1, &m->n, value, NULL);
        attach(f, "observed_data", "value", (const char *const[]){"row", NULL});
    } else {
        fit_h5r_no_memory(f->w, "observed_data");
    }
    free(value);
    free(row);
}

static void put_observed(struct nc *f)
{
    int pairs = f->r->kernel->space == FIT_PAIRS;
    if (!f->r->maps || (!pairs && f->r->maps->n > MOST_ROWS))
        return;
    fit_h5r_group(f->w, "/observed_data", NULL);
    if (pairs)
        put_cuts(f);
    else
        put_rows(f);
    describe_group(f, "/observed_data");
}

static void put_constants(struct nc *f)
{
    const struct fit_kernel *k = f->r->kernel;
    const char *const groups[] = {f->group_name, NULL};
    size_t n = f->s->ngroup;
    char path[PATH], name[80];
    fit_h5r_group(f->w, "/constant_data", NULL);
    put_group_dimension(f, "constant_data");
    for (size_t s = 0; s < k->nsetting; s++)
        fit_h5r_real(f->w, join(path, "constant_data", variable_name(f, k->setting[s].name, name)),
                     f->r->ds->layout.setting[s], k->setting[s].unit);
    if (k->space == FIT_PAIRS)
        fit_h5r_real(f->w, "/constant_data/frame_period", f->r->ds->layout.step, "s");
    if (!k->density) {
        fit_h5r_reals(f->w, "/constant_data/least_squares_sigma", f->group_name != NULL, &n,
                      f->r->fit->sigma, "1");
        attach(f, "constant_data", "least_squares_sigma", groups);
    }
    each_variable(f, "constant_data", 1, put_fixed);
    describe_group(f, "/constant_data");
}

/* ---- the file -------------------------------------------------------------------------------- */

static enum fit_status open_groups(struct nc *f, struct fit_error *err)
{
    const struct fit_results *r = f->r;
    const struct fit_samples *s = f->s;
    const struct fit_kernel *k = r->kernel;
    size_t n = s->chains * s->draws, wide = s->ngroup > s->ncoordinate ? s->ngroup : s->ncoordinate;
    int pairs = k->space == FIT_PAIRS;
    f->group_coord = calloc(s->ngroup + 1, sizeof *f->group_coord);
    f->buffer = malloc((n * (wide + 1) + s->ngroup + 1) * sizeof *f->buffer);
    f->count = malloc((n + PRIOR_DRAWS + 1) * sizeof *f->count);
    f->flag = malloc(n + 1);
    if (!f->group_coord || !f->buffer || !f->count || !f->flag)
        return fit_fail(err, FIT_ERR_MEMORY, "posterior.nc: out of memory");
    int phi = pairs && r->input->phi, axis = !phi && k->naxis == 1 && r->ds->layout.coord;
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
    struct nc f = {.w = &w, .r = r, .s = r->samples, .x = r->samples->x};
    enum fit_status st = open_groups(&f, err);
    if (st == FIT_OK)
        st = fit_h5r_create(path, &w, err);
    if (st == FIT_OK) {
        put_posterior(&f);
        put_robust(&f);
        put_sample_stats(&f);
        put_unconstrained(&f);
        put_prior(&f);
        put_predictive(&f);
        put_residual_check(&f);
        put_observed(&f);
        put_constants(&f);
        describe_file(&f);
        st = fit_h5r_close(&w, err);
    }
    free(f.group_coord);
    free(f.buffer);
    free(f.count);
    free(f.flag);
    return st;
}
