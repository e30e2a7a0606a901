/* write_hdf5.c -- fit.h5: everything about a fit, in NeXus groups with netCDF-4 dimension scales.
 *
 * h5py, xarray (engine h5netcdf) and netCDF4 read it without help:
 *     xarray.open_dataset("fit.h5", group="entry/parameters", engine="h5netcdf").value.sel(name="D0")
 * Text is UTF-8 of variable length; there are no compound types. write_maps.c writes the part about the data
 * themselves.
 */
#include "hdf5/h5_writer.h"
#include "leastsquares/covariance.h"
#include "errors/profile.h"
#include "results/results.h"
#include "results/write_derived.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters ------------------------------------------------------------------------------ */

struct columns { /* of the table of all parameters */
    const char **name, **unit, **group, **label;
    double *value, *start;
    unsigned char *fixed, *bound;
    int64_t *phi;
};

static void fill_columns(const struct fit_results *r, struct columns *c, struct fit_arena *a)
{
    const struct fit_result *f = r->fit;
    for (size_t k = 0; k < f->nfull; k++) {
        struct fit_full_param p = fit_results_param(r, k);
        char name[160];
        fit_results_full_name(r, k, name, sizeof name);
        c->name[k] = fit_arena_string(a, name);
        c->unit[k] = p.param->unit;
        c->group[k] = k < f->nparam ? "physics" : "scaling";
        c->label[k] = p.param->doc;
        c->value[k] = p.value;
        c->start[k] = k < f->nparam ? f->start[k] : NAN;
        c->fixed[k] = fit_results_fixed(r, k) != 0;
        c->bound[k] = f->at_bound[k] != 0;
        c->phi[k] = p.group;
    }
}

/* Numbers of each parameter: one, or `width` in a row. */
static void put_numbers(struct fit_h5r *w, const struct fit_results *r, const char *name, size_t width, const double *x)
{
    char path[64];
    snprintf(path, sizeof path, "/entry/parameters/%s", name);
    fit_h5r_reals(w, path, width > 1 ? 2 : 1, (size_t[]){r->fit->nfull, width}, x, NULL);
    fit_h5r_attach(w, path, 0, "/entry/parameters/name");
}

static void put_matrix(struct fit_h5r *w, const struct fit_results *r, const char *name, const double *x)
{
    char path[64];
    snprintf(path, sizeof path, "/entry/parameters/%s", name);
    fit_h5r_reals(w, path, 2, (size_t[]){r->fit->nfull, r->fit->nfull}, x, NULL);
    fit_h5r_attach(w, path, 0, "/entry/parameters/name");
    fit_h5r_attach(w, path, 1, "/entry/parameters/name_2");
}

/* Standard errors, whether they are valid or not; intervals n x 2, NaN for an end that the data do not set. */
static void put_intervals(struct fit_h5r *w, const struct fit_results *r)
{
    FIT_SCRATCH(a);
    const size_t n = r->fit->nfull;
    double *all = fit_take(&a, 4 * n, sizeof *all), lower[2], upper[2];
    put_numbers(w, r, "error_curvature", 1, r->fit->std_curvature);
    if (a.failed) {
        fit_h5r_no_memory(w, "/entry/parameters/interval_68");
        return;
    }
    for (size_t k = 0; k < n; k++) {
        fit_profile_interval(r->fit, k, lower, upper);
        for (size_t i = 0; i < 2; i++) {
            all[2 * (i * n + k)] = lower[i];
            all[2 * (i * n + k) + 1] = upper[i];
        }
    }
    put_numbers(w, r, "interval_68", 2, all);
    put_numbers(w, r, "interval_95", 2, all + 2 * n);
}

static void write_columns(struct fit_h5r *w, const struct fit_results *r, const struct columns *c)
{
    const struct fit_result *f = r->fit;
    const size_t n = f->nfull;
    static const char *const attached[] = {"fixed", "at_bound", "unit", "group", "label", "phi_index"};
    fit_h5r_group(w, "/entry/parameters", "NXcollection");
    fit_h5r_texts(w, "/entry/parameters/name", n, c->name);
    fit_h5r_scale(w, "/entry/parameters/name", "name");
    fit_h5r_texts(w, "/entry/parameters/name_2", n, c->name);
    fit_h5r_scale(w, "/entry/parameters/name_2", "name_2");
    put_numbers(w, r, "value", 1, c->value);
    put_numbers(w, r, "error", 1, f->std);
    put_numbers(w, r, "initial", 1, c->start);
    put_numbers(w, r, "lower", 1, f->lower);
    put_numbers(w, r, "upper", 1, f->upper);
    fit_h5r_bytes(w, "/entry/parameters/fixed", n, c->fixed);
    fit_h5r_bytes(w, "/entry/parameters/at_bound", n, c->bound);
    fit_h5r_texts(w, "/entry/parameters/unit", n, c->unit);
    fit_h5r_texts(w, "/entry/parameters/group", n, c->group);
    fit_h5r_texts(w, "/entry/parameters/label", n, c->label);
    fit_h5r_integers(w, "/entry/parameters/phi_index", n, c->phi);
    for (size_t k = 0; k < sizeof attached / sizeof *attached; k++) {
        char path[64];
        snprintf(path, sizeof path, "/entry/parameters/%s", attached[k]);
        fit_h5r_attach(w, path, 0, "/entry/parameters/name");
    }
    if (r->std_robust) {
        put_numbers(w, r, "error_robust", 1, r->std_robust);
        put_matrix(w, r, "covariance_robust", f->covariance_robust);
    }
    put_intervals(w, r);
    put_matrix(w, r, "covariance", f->covariance);
    put_matrix(w, r, "correlation", f->correlation);
}

/* Number of speckles and shot noise of each group. */
static void put_speckle(struct fit_h5r *w, const struct fit_results *r)
{
    FIT_SCRATCH(a);
    const struct fit_result *f = r->fit;
    if (r->kernel->space != FIT_PAIRS)
        return;
    double *x = fit_take(&a, 5 * f->ngroup, sizeof *x);
    if (!x) {
        fit_h5r_no_memory(w, "/entry/speckle");
        return;
    }
    const size_t n = f->ngroup;
    for (size_t g = 0; g < n; g++) {
        const struct fit_speckle_noise *s = &f->speckle[g];
        const double number[5] = {s->count, s->count_std, s->shot, s->shot_std, s->noise};
        for (size_t k = 0; k < 5; k++)
            x[k * n + g] = s->known == FIT_SPECKLE_BOTH || (k == 4 && s->known == FIT_SPECKLE_SHOT) ? number[k] : NAN;
    }
    static const char *const name[5] = {"count", "count_std", "shot", "shot_std", "noise"};
    fit_h5r_group(w, "/entry/speckle", "NXcollection");
    for (size_t k = 0; k < 5; k++) {
        char path[64];
        snprintf(path, sizeof path, "/entry/speckle/%s", name[k]);
        fit_h5r_reals(w, path, 1, &n, x + k * n, NULL);
    }
    fit_h5r_real(w, "/entry/speckle/p", f->speckle_test.p, NULL);
}

/* The kind of estimates, and the alternative ones. */
static void put_estimates(struct fit_h5r *w, const struct fit_results *r)
{
    const struct fit_estimates *e = &r->fit->estimates;
    if (!e->compared && !*e->reason)
        return;
    fit_h5r_group(w, "/entry/estimator", "NXcollection");
    fit_h5r_text(w, "/entry/estimator/used", fit_estimator_name(e->used));
    fit_h5r_text(w, "/entry/estimator/reason", *e->reason ? e->reason : NULL);
    if (!e->compared)
        return;
    fit_h5r_reals(w, "/entry/estimator/other", 1, &r->fit->nparam, e->other, NULL);
    fit_h5r_reals(w, "/entry/estimator/other_std", 1, &r->fit->nparam, e->other_std, NULL);
    fit_h5r_real(w, "/entry/estimator/p", e->p, NULL);
    fit_h5r_real(w, "/entry/estimator/groups_p", e->groups_p, NULL);
}

/* Parameters that follow others. */
static void put_tied(struct fit_h5r *w, const struct fit_results *r)
{
    FIT_SCRATCH(a);
    size_t n = r->link ? r->link->ntied : 0;
    const char **text = fit_take(&a, 3 * n, sizeof *text);
    double *value = fit_take(&a, 2 * n, sizeof *value);
    if (a.failed)
        fit_h5r_no_memory(w, "/entry/tied");
    for (size_t k = 0; !a.failed && k < n; k++) {
        const struct fit_linkage_tied *t = &r->link->tied[k];
        text[k] = t->name;
        text[n + k] = t->text;
        text[2 * n + k] = t->param->unit;
        value[k] = fit_linkage_value(r->link, k, r->fit->theta, r->fit->lin);
        value[n + k] = fit_linkage_std(r->link, k, r->fit->covariance, r->fit->nfull);
    }
    if (n && text && value) {
        fit_h5r_group(w, "/entry/tied", "NXcollection");
        fit_h5r_texts(w, "/entry/tied/name", n, text);
        fit_h5r_texts(w, "/entry/tied/expression", n, text + n);
        fit_h5r_texts(w, "/entry/tied/unit", n, text + 2 * n);
        fit_h5r_reals(w, "/entry/tied/value", 1, &n, value, NULL);
        fit_h5r_reals(w, "/entry/tied/error", 1, &n, value + n, NULL);
    }
}

static enum fit_status put_parameters(struct fit_h5r *w, const struct fit_results *r,
                                      struct fit_error *err)
{
    FIT_SCRATCH(a);
    size_t n = r->fit->nfull;
    struct columns c = {fit_take(&a, n, sizeof *c.name),  fit_take(&a, n, sizeof *c.unit),
                        fit_take(&a, n, sizeof *c.group), fit_take(&a, n, sizeof *c.label),
                        fit_take(&a, n, sizeof *c.value), fit_take(&a, n, sizeof *c.start),
                        fit_take(&a, n, sizeof *c.fixed), fit_take(&a, n, sizeof *c.bound),
                        fit_take(&a, n, sizeof *c.phi)};
    if (!a.failed)
        fill_columns(r, &c, &a);
    if (a.failed)
        return fit_no_memory(err, "fit.h5, table of parameters");
    write_columns(w, r, &c);
    return FIT_OK;
}

/* ---- quality, convergence, starts, curves ---------------------------------------------------- */

/* Parameters that the model cannot distinguish here, as text, and the combinations that stay determined. */
static void put_degeneracies(struct fit_h5r *w, const struct fit_results *r)
{
    FIT_SCRATCH(a);
    const struct fit_result *f = r->fit;
    size_t n = f->ndegenerate, m = f->ncombination, kept = 0;
    const char **text = fit_take(&a, n + m, sizeof *text);
    double *value = fit_take(&a, 2 * m, sizeof *value), *error = value ? value + m : NULL;
    if (a.failed) {
        fit_h5r_no_memory(w, "/entry/identifiability");
        return;
    }
    for (size_t k = 0; k < n; k++)
        text[k] = f->degenerate[k].text;
    if (n)
        fit_h5r_texts(w, "/entry/identifiability/degeneracy", n, text);
    for (size_t k = 0; k < m; k++)
        if (!isnan(f->combination_std[k])) {
            text[kept] = r->kernel->combination[k].text;
            value[kept] = f->combination[k];
            error[kept++] = f->combination_std[k];
        }
    if (kept) {
        fit_h5r_texts(w, "/entry/identifiability/combination", kept, text);
        fit_h5r_reals(w, "/entry/identifiability/combination_value", 1, &kept, value, NULL);
        fit_h5r_reals(w, "/entry/identifiability/combination_error", 1, &kept, error, NULL);
    }
}

static void put_group_quality(struct fit_h5r *w, const struct fit_maps *m)
{
    FIT_SCRATCH(a);
    double *reduced = fit_take(&a, m->ngroup, sizeof *reduced);
    for (size_t g = 0; reduced && g < m->ngroup; g++)
        reduced[g] = m->chi2[g] / (double)m->npoint[g];
    fit_h5r_real(w, "/entry/fit_quality/nrmse", m->nrmse, NULL);
    if (reduced)
        fit_h5r_reals(w, "/entry/fit_quality/reduced_chi_squared_phi", 1, &m->ngroup, reduced, NULL);
    else
        fit_h5r_no_memory(w, "/entry/fit_quality");
}

static void put_identifiability(struct fit_h5r *w, const struct fit_results *r)
{
    const struct fit_result *f = r->fit;
    if (!f->neigen)
        return;
    size_t dims[2] = {f->neigen, f->nparam}, square[2] = {f->nparam, f->nparam};
    fit_h5r_group(w, "/entry/identifiability", "NXcollection");
    fit_h5r_integer(w, "/entry/identifiability/undetermined_directions", (int64_t)f->nnull);
    fit_h5r_reals(w, "/entry/identifiability/eigenvalue", 1, dims, f->eigenvalue, NULL);
    fit_h5r_reals(w, "/entry/identifiability/eigenvector", 2, dims, f->eigenvector, NULL);
    fit_h5r_reals(w, "/entry/identifiability/scale", 1, &f->nparam, f->scale, NULL);
    fit_h5r_reals(w, "/entry/identifiability/normal_matrix", 2, square, f->normal_matrix, NULL);
    put_degeneracies(w, r);
}

static void put_quality(struct fit_h5r *w, const struct fit_results *r)
{
    const struct fit_result *f = r->fit;
    double dof = (double)f->npoint - (double)f->nfree;
    fit_h5r_group(w, "/entry/fit_quality", "NXcollection");
    struct fit_quality q = fit_results_quality(r);
    fit_h5r_text(w, "/entry/fit_quality/verdict", q.word);
    fit_h5r_text(w, "/entry/fit_quality/verdict_text", q.text);
    fit_h5r_real(w, "/entry/fit_quality/cost", f->cost, NULL);
    fit_h5r_real(w, "/entry/fit_quality/chi_squared", f->chi2, NULL);
    fit_h5r_real(w, "/entry/fit_quality/degrees_of_freedom", dof, NULL);
    fit_h5r_real(w, "/entry/fit_quality/residual_variance", f->residual_variance, NULL);
    fit_h5r_real(w, "/entry/fit_quality/reduced_chi_squared", f->reduced_chi2, NULL);
    if (f->reduced_chi2_reason)
        fit_h5r_text(w, "/entry/fit_quality/reduced_chi_squared_reason", f->reduced_chi2_reason);
    if (r->kernel->density)
        fit_h5r_real(w, "/entry/fit_quality/log_likelihood", f->log_likelihood, NULL);
    if (!isnan(f->local_sigma))
        fit_h5r_real(w, "/entry/fit_quality/local_sigma", f->local_sigma, NULL);
    fit_h5r_integer(w, "/entry/fit_quality/n_data", (int64_t)f->npoint);
    fit_h5r_integer(w, "/entry/fit_quality/n_free", (int64_t)f->nfree);
    fit_h5r_text(w, "/entry/fit_quality/sigma_source", fit_noise_name(f->noise));
    fit_h5r_text(w, "/entry/fit_quality/sigma_text", f->noise_text);
    if (r->kernel->density)
        fit_h5r_text(w, "/entry/fit_quality/law", r->kernel->density->name);
    else
        fit_h5r_reals(w, "/entry/fit_quality/sigma", 1, &f->ngroup, f->sigma, NULL);
    if (r->maps)
        put_group_quality(w, r->maps);
    put_identifiability(w, r);
}

static void put_convergence(struct fit_h5r *w, const struct fit_results *r)
{
    const struct fit_result *f = r->fit;
    fit_h5r_group(w, "/entry/convergence", "NXcollection");
    fit_h5r_text(w, "/entry/convergence/status", fit_word_name(f->status));
    fit_h5r_integer(w, "/entry/convergence/converged", f->converged);
    fit_h5r_text(w, "/entry/convergence/message", f->message);
    fit_h5r_integer(w, "/entry/convergence/iterations", (int64_t)f->iterations);
    fit_h5r_integer(w, "/entry/convergence/accepted_steps", (int64_t)f->accepted);
    fit_h5r_integer(w, "/entry/convergence/function_evaluations", (int64_t)f->evaluations);
    fit_h5r_integer(w, "/entry/convergence/derivative_evaluations", (int64_t)f->normals);
    fit_h5r_real(w, "/entry/convergence/gradient_norm", f->gradient, NULL);
    fit_h5r_real(w, "/entry/convergence/time", f->seconds.total, "s");
    fit_h5r_integer(w, "/entry/convergence/threads", f->threads);
}

static void put_starts(struct fit_h5r *w, const struct fit_results *r)
{
    FIT_SCRATCH(a);
    const struct fit_result *f = r->fit;
    size_t n = f->nstart, dims[2] = {n, f->nparam};
    double *initial = fit_take(&a, n * f->nparam, sizeof *initial),
           *cost = fit_take(&a, n, sizeof *cost);
    const char **origin = fit_take(&a, n, sizeof *origin);
    for (size_t k = 0; !a.failed && k < n; k++) {
        memcpy(initial + k * f->nparam, f->starts[k].theta, f->nparam * sizeof *initial);
        cost[k] = f->starts[k].cost_final;
        origin[k] = f->starts[k].origin;
    }
    if (a.failed)
        fit_h5r_no_memory(w, "/entry/starts");
    if (!a.failed && n) {
        fit_h5r_group(w, "/entry/starts", "NXcollection");
        fit_h5r_reals(w, "/entry/starts/initial", 2, dims, initial, NULL);
        fit_h5r_reals(w, "/entry/starts/cost", 1, dims, cost, NULL);
        fit_h5r_texts(w, "/entry/starts/origin", n, origin);
    }
}

static const char *const statistic[] = {"mean",  "sd",       "median",   "q025",      "q975",
                                        "r_hat", "ess_bulk", "ess_tail", "mcse_mean", "least_squares"};
enum { NSTATISTIC = sizeof statistic / sizeof *statistic };

/* name: of the columns; value: statistic by statistic, of all columns. */
static void write_posterior(struct fit_h5r *w, const struct fit_samples *s, const char *const *name,
                            const double *value)
{
    const size_t n = s->ncolumn, square[2] = {n, n};
    char path[64];
    fit_h5r_group(w, "/entry/posterior", "NXcollection");
    fit_h5r_text(w, "/entry/posterior/status", fit_sampling_end_word(s->end));
    fit_h5r_text(w, "/entry/posterior/verdict", fit_verdict_word(s->verdict));
    fit_h5r_text(w, "/entry/posterior/verdict_text", s->verdict_text);
    fit_h5r_texts(w, "/entry/posterior/name", n, name);
    fit_h5r_scale(w, "/entry/posterior/name", "name");
    fit_h5r_texts(w, "/entry/posterior/name_2", n, name);
    fit_h5r_scale(w, "/entry/posterior/name_2", "name_2");
    for (size_t e = 0; e < NSTATISTIC; e++) {
        snprintf(path, sizeof path, "/entry/posterior/%s", statistic[e]);
        fit_h5r_reals(w, path, 1, &n, value + e * n, NULL);
        fit_h5r_attach(w, path, 0, "/entry/posterior/name");
    }
    fit_h5r_reals(w, "/entry/posterior/covariance", 2, square, s->covariance, NULL);
    fit_h5r_attach(w, "/entry/posterior/covariance", 0, "/entry/posterior/name");
    fit_h5r_attach(w, "/entry/posterior/covariance", 1, "/entry/posterior/name_2");
}

/* A summary of the posterior; the draws are in posterior.nc. */
static enum fit_status put_posterior(struct fit_h5r *w, const struct fit_results *r,
                                     struct fit_error *err)
{
    FIT_SCRATCH(a);
    const struct fit_samples *s = r->samples;
    if (!s)
        return FIT_OK;
    size_t n = s->ncolumn;
    char(*name)[64] = fit_take(&a, n, sizeof *name);
    const char **pointer = fit_take(&a, n, sizeof *pointer);
    double *value = fit_take(&a, (n + 1) * NSTATISTIC, sizeof *value);
    if (a.failed)
        return fit_no_memory(err, "fit.h5, posterior");
    for (size_t k = 0; k < n; k++) {
        const struct fit_column_summary *c = &s->column[k];
        const double of[NSTATISTIC] = {c->c.mean, c->c.sd, c->median, c->q025, c->q975, c->c.r_hat, c->c.ess_bulk,
                                       c->c.ess_tail, c->c.mcse_mean, fit_results_column_value(r, k)};
        for (size_t e = 0; e < NSTATISTIC; e++)
            value[e * n + k] = of[e];
        fit_samples_name(r->kernel, s->ngroup, k, name[k]);
        pointer[k] = name[k];
    }
    write_posterior(w, s, pointer, value);
    return FIT_OK;
}

/* Standard error of a function with gradient d (stride n). It is finite if the function is determined although
 * parameters are not, such as D(t) near alpha = 0; NaN if it depends on a parameter at a bound. */
static double function_error(const struct fit_results *r, const struct fit_spread *s, const double *d, size_t n,
                             double *gradient)
{
    for (size_t k = 0; k < r->fit->nparam; k++) {
        gradient[k] = d[k * n];
        if (gradient[k] != 0 && r->fit->at_bound[k] && r->fit->reason[k] < 0)
            return NAN;
    }
    return sqrt(r->fit->variance * fit_spread_variance(s, gradient, 1e-4));
}

/* The covariance of the free parameters; those that ran to a bound along a degeneracy count as free. */
static int open_spread(const struct fit_results *r, struct fit_spread *s, struct fit_arena *a)
{
    size_t p = r->fit->nparam;
    unsigned char *free_ = fit_take(a, p, sizeof *free_);
    fit_spread_new(s, p, a);
    for (size_t k = 0; k < p && !a->failed; k++)
        free_[k] = r->fit->upper[k] > r->fit->lower[k] && (!r->fit->at_bound[k] || r->fit->reason[k] >= 0);
    return !a->failed && fit_spread_set(s, r->fit, free_) == 0;
}

/* A curve and its errors, in a folder of curves. */
static void put_curve(struct fit_h5r *w, const char *folder, const struct fit_curve *c, size_t n, const double *value,
                      const double *error)
{
    char path[128], scale[64];
    snprintf(scale, sizeof scale, "%s/t", folder);
    snprintf(path, sizeof path, "%s/%s", folder, c->name);
    fit_h5r_reals(w, path, 1, &n, value, c->unit);
    fit_h5r_attribute(w, path, "long_name", c->doc);
    fit_h5r_attach(w, path, 0, scale);
    snprintf(path, sizeof path, "%s/%s_err", folder, c->name);
    fit_h5r_reals(w, path, 1, &n, error, c->unit);
    fit_h5r_attach(w, path, 0, scale);
}

/* Derived curves with errors at the times of a layout: var f = d^T S^- d with d the tangent at each time. */
static enum fit_status put_curves_at(struct fit_h5r *w, const struct fit_results *r, const struct fit_layout *l,
                                     const char *folder, struct fit_error *err)
{
    const struct fit_kernel *k = r->kernel;
    FIT_SCRATCH(a);
    struct fit_spread spread = {0};
    const size_t n = l->ntime, np = k->nparam;
    char path[64];
    double *value = fit_take(&a, k->ncurve * n, sizeof *value), *error = fit_take(&a, n, sizeof *error);
    double *tangent = fit_take(&a, k->ncurve * np * n, sizeof *tangent), *gradient = fit_take(&a, np, sizeof *gradient);
    if (!open_spread(r, &spread, &a))
        return fit_no_memory(err, "fit.h5, curves");
    k->curves(l, r->fit->theta, value, tangent);
    fit_h5r_group(w, folder, "NXdata");
    snprintf(path, sizeof path, "%s/t", folder);
    fit_h5r_reals(w, path, 1, &n, l->time, "s");
    fit_h5r_scale(w, path, "t");
    for (size_t c = 0; c < k->ncurve; c++) {
        for (size_t i = 0; i < n; i++)
            error[i] = function_error(r, &spread, tangent + c * np * n + i, n, gradient);
        put_curve(w, folder, &k->curve[c], n, value + c * n, error);
    }
    return FIT_OK;
}

static enum fit_status put_curves(struct fit_h5r *w, const struct fit_results *r,
                                  struct fit_error *err)
{
    FIT_SCRATCH(a);
    struct fit_layout fine;
    if (!fit_results_has_curves(r))
        return FIT_OK;
    enum fit_status st = put_curves_at(w, r, &r->ds->layout, "/entry/curves", err);
    if (st == FIT_OK && fit_results_fine(r, &fine, &a))
        st = put_curves_at(w, r, &fine, "/entry/curves_fine", err);
    return st;
}

enum fit_status fit_write_hdf5(const struct fit_results *r, const char *path, struct fit_error *err)
{
    struct fit_h5r w;
    enum fit_status st = fit_h5r_create(path, &w, err);
    if (st != FIT_OK)
        return st;
    fit_write_data(&w, r);
    st = put_parameters(&w, r, err);
    put_speckle(&w, r);
    put_estimates(&w, r);
    put_tied(&w, r);
    fit_study_hdf5(&w, r);
    put_quality(&w, r);
    put_convergence(&w, r);
    put_starts(&w, r);
    if (st == FIT_OK)
        st = put_posterior(&w, r, err);
    fit_hdf5_derived(&w, r);
    if (st == FIT_OK)
        st = put_curves(&w, r, err);
    if (st == FIT_OK)
        st = fit_write_bands(&w, r, err);
    enum fit_status closed = fit_h5r_close(&w, st == FIT_OK ? err : NULL);
    return st == FIT_OK ? closed : st;
}
