/* write_json.c -- fit.json: the results of a fit for scripts.
 *
 * Errors (std): from J^T J, scaled by the estimated noise unless the noise is known. null (`determined`: false)
 * means "not determined by the data", "held at a bound", or that the cost is too far from quadratic for such an
 * error (profile.h); in the last case `std_curvature` has its number. `at_bound` and `std_reason` distinguish these
 * cases. `interval_68` and `interval_95` are those of the quadratic approximation where it is valid
 * (`interval_from`: "curvature"), else those of the profile likelihood ("profile") with null for an end that the
 * data do not set. `degeneracies` names parameters that cannot be distinguished, and gives the combinations that
 * stay determined. Correlations are between the parameters of the table; the full matrix, with those of every angle,
 * is in fit.h5. */
#include "base/clock.h"
#include "base/json.h"
#include "data/file_times.h"
#include "device/device.h"
#include "errors/profile.h"
#include "model/registry.h"
#include "results/results.h"
#include "results/write_derived.h"
#include "results/write_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_bound(struct fit_json *j, int at_bound)
{
    fit_json_string(j, "at_bound", at_bound < 0 ? "lower" : at_bound > 0 ? "upper" : NULL);
}

/* The reason why there is no standard error; NULL when there is one. */
static const char *std_reason(const struct fit_results *r, size_t k)
{
    const struct fit_result *f = r->fit;
    if (!isnan(f->std[k]))
        return NULL;
    return f->reason[k] >= 0 ? f->degenerate[f->reason[k]].text
           : f->at_bound[k]  ? "held at a bound"
           : !isnan(f->std_curvature[k])
               ? (f->interval[k].cut       ? "a bound cuts the interval: no standard error"
                  : f->interval[k].several ? "no standard error: several minima fit; the intervals around them hold"
                                           : "not quadratic near the minimum: profile-likelihood interval given")
                             : "not determined by the data";
}

static void put_interval(struct fit_json *j, const char *name, int known, double lower, double upper)
{
    if (!known) {
        fit_json_string(j, name, NULL);
        return;
    }
    fit_json_numbers(j, name, (double[]){lower, upper}, 2);
}

void fit_json_union(struct fit_json *j, const char *name, const struct fit_union *u)
{
    fit_json_begin(j, name, '[');
    for (size_t k = 0; k < u->n; k++) {
        const struct fit_piece *x = &u->piece[k];
        fit_json_numbers(j, NULL, (double[]){x->open_lower ? NAN : x->lower, x->open_upper ? NAN : x->upper}, 2);
    }
    fit_json_end(j);
}

/* Intervals of parameter k, for names that begin with prefix. */
static void put_intervals(struct fit_json *j, const struct fit_results *r, size_t k, const char *prefix)
{
    char name[96];
    double lower[2], upper[2];
    enum fit_interval_kind from = fit_profile_interval(r->fit, k, lower, upper);
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "%sinterval_%s", prefix, i ? "95" : "68");
        put_interval(j, name, from != FIT_INTERVAL_NONE, lower[i], upper[i]);
        snprintf(name, sizeof name, "%sintervals_%s", prefix, i ? "95" : "68");
        if (from == FIT_INTERVAL_PROFILE && r->fit->interval[k].part[i].n > 1)
            fit_json_union(j, name, &r->fit->interval[k].part[i]);
    }
    snprintf(name, sizeof name, "%sinterval_from", prefix);
    fit_json_string(j, name, fit_interval_word(from));
}

/* Parameters that follow others. */
static void put_tied(struct fit_json *j, const struct fit_results *r)
{
    const struct fit_result *f = r->fit;
    for (size_t k = 0; r->link && k < r->link->ntied; k++) {
        const struct fit_linkage_tied *t = &r->link->tied[k];
        if (t->group >= 0) /* in "scaling" */
            continue;
        fit_json_begin(j, t->name, '{');
        fit_json_number(j, "value", fit_linkage_value(r->link, k, f->theta, f->lin));
        fit_json_number(j, "std", fit_linkage_std(r->link, k, f->covariance, f->nfull));
        fit_json_number(j, "std_robust",
                        r->std_robust ? fit_linkage_std(r->link, k, f->covariance_robust, f->nfull) : NAN);
        fit_json_string(j, "unit", t->param->unit);
        fit_json_string(j, "tied", t->text);
        fit_json_end(j);
    }
}

static void put_parameters(struct fit_json *j, const struct fit_results *r, const size_t *index,
                           size_t n)
{
    const struct fit_result *f = r->fit;
    fit_json_begin(j, "parameters", '{');
    for (size_t i = 0; i < n; i++) {
        size_t k = index[i];
        struct fit_full_param p = fit_results_param(r, k);
        fit_json_begin(j, p.param->name, '{');
        fit_json_number(j, "value", p.value);
        fit_json_number(j, "std", f->std[k]);
        fit_json_string(j, "std_reason", std_reason(r, k));
        fit_json_boolean(j, "determined", fit_result_determines(f, k));
        fit_json_number(j, "std_curvature", f->std_curvature[k]);
        if (k < f->nparam) /* null: not determined */
            fit_json_number(j, "std_profile", f->profile[k]);
        put_intervals(j, r, k, "");
        fit_json_number(j, "std_robust", r->std_robust ? r->std_robust[k] : NAN);
        fit_json_string(j, "unit", p.param->unit);
        fit_json_number(j, "lower", f->lower[k]);
        fit_json_number(j, "upper", f->upper[k]);
        put_bound(j, f->at_bound[k]);
        fit_json_boolean(j, "fixed", fit_results_fixed(r, k));
        fit_json_number(j, "start", k < f->nparam ? f->start[k] : NAN);
        if (r->link && k < f->nparam) {
            const char *own = r->link->inner->param[r->link->of[k]].name;
            fit_json_string(j, "parameter", own); /* the model's, of which this is one value */
        }
        fit_json_end(j);
    }
    put_tied(j, r);
    fit_json_end(j);
}

/* Linear parameters of a group. */
static void put_linear(struct fit_json *j, const struct fit_results *r, size_t g)
{
    const struct fit_result *f = r->fit;
    char key[80];
    for (size_t q = 0; q < f->nlinear; q++) {
        size_t k = f->nparam + g * f->nlinear + q;
        const char *name = r->kernel->linear[q].name;
        if (r->kernel->linear[q].over < 0)
            continue;
        fit_json_number(j, name, f->lin[g * f->nlinear + q]);
        snprintf(key, sizeof key, "%s_std", name);
        fit_json_number(j, key, f->std[k]);
        if (isnan(f->std[k]) || f->interval[k].known) {
            snprintf(key, sizeof key, "%s_", name);
            put_intervals(j, r, k, key);
        }
        if (r->std_robust) {
            snprintf(key, sizeof key, "%s_std_robust", name);
            fit_json_number(j, key, r->std_robust[k]);
        }
        if (f->at_bound[k]) {
            snprintf(key, sizeof key, "%s_at_bound", name);
            fit_json_string(j, key, f->at_bound[k] < 0 ? "lower" : "upper");
        }
    }
}

/* The parameters of a group that are tied to others. */
static void put_group_tied(struct fit_json *j, const struct fit_results *r, size_t g)
{
    const struct fit_result *f = r->fit;
    char key[80];
    for (size_t t = 0; r->link && t < r->link->ntied; t++) {
        const struct fit_linkage_tied *x = &r->link->tied[t];
        if (x->group != (long)g)
            continue;
        fit_json_number(j, x->param->name, fit_linkage_value(r->link, t, f->theta, f->lin));
        snprintf(key, sizeof key, "%s_std", x->param->name);
        fit_json_number(j, key, fit_linkage_std(r->link, t, f->covariance, f->nfull));
        snprintf(key, sizeof key, "%s_%s", x->param->name, x->series ? "series" : "tied");
        fit_json_string(j, key, x->text);
    }
}

/* One object per group: its position on the axes and its own linear parameters. */
static void put_scaling(struct fit_json *j, const struct fit_results *r)
{
    const struct fit_result *f = r->fit;
    fit_json_begin(j, "scaling", '[');
    int pairs = r->kernel->space == FIT_PAIRS;
    for (size_t g = 0; g < f->ngroup && (pairs || r->kernel->naxis); g++) {
        fit_json_begin(j, NULL, '{');
        if (pairs && r->input->q_group)
            fit_json_number(j, "q", r->input->q_group[g]);
        if (pairs)
            fit_json_number(j, "phi", r->input->phi ? r->input->phi[g] : NAN);
        if (pairs && r->input->files)
            fit_json_integer(j, "file", (int64_t)r->input->files->of[g] + 1);
        for (size_t a = 0; !pairs && a < r->kernel->naxis; a++)
            fit_json_number(j, r->kernel->axis[a].name, r->ds->layout.coord[a][g]);
        put_linear(j, r, g);
        put_group_tied(j, r, g);
        if (r->maps) {
            fit_json_integer(j, "n_points", (int64_t)r->maps->npoint[g]);
            fit_json_number(j, "chi2_per_point", r->maps->chi2[g] / (double)r->maps->npoint[g]);
        }
        fit_json_end(j);
    }
    fit_json_end(j);
}

static void put_unit(struct fit_json *j, const char *name, const char *unit)
{
    fit_json_begin(j, NULL, '{');
    fit_json_string(j, "name", name);
    fit_json_string(j, "unit", unit);
    fit_json_end(j);
}

/* Units of the entries of put_scaling. */
static void put_scaling_units(struct fit_json *j, const struct fit_results *r)
{
    fit_json_begin(j, "scaling_units", '[');
    for (size_t q = 0; q < r->kernel->nlinear; q++)
        if (r->kernel->linear[q].over >= 0)
            put_unit(j, r->kernel->linear[q].name, r->kernel->linear[q].unit);
    for (size_t t = 0; r->link && t < r->link->ntied; t++)
        if (r->link->tied[t].group == 0)
            put_unit(j, r->link->tied[t].param->name, r->link->tied[t].param->unit);
    fit_json_end(j);
}

/* Hierarchical scaling: the population of each linear parameter. */
static void put_hierarchy(struct fit_json *j, const struct fit_results *r)
{
    const struct fit_result *f = r->fit;
    if (r->scaling != FIT_SCALING_HIERARCHICAL)
        return;
    fit_json_begin(j, "hierarchy", '{');
    for (size_t q = 0; q < f->nlinear; q++) {
        double mean = 0;
        if (isnan(f->spread[q]))
            continue;
        for (size_t g = 0; g < f->ngroup; g++)
            mean += f->lin[g * f->nlinear + q] / (double)f->ngroup;
        fit_json_begin(j, r->kernel->linear[q].name, '{');
        fit_json_number(j, "mean", mean);
        fit_json_number(j, "spread", f->spread[q]);
        fit_json_end(j);
    }
    fit_json_end(j);
}

static void put_correlation(struct fit_json *j, const struct fit_results *r, const size_t *index,
                            size_t n)
{
    FIT_OWNED double *row = malloc((n + 1) * sizeof *row);
    fit_json_begin(j, "correlation", '{');
    fit_json_begin(j, "names", '[');
    for (size_t i = 0; i < n; i++)
        fit_json_string(j, NULL, fit_results_param(r, index[i]).param->name);
    fit_json_end(j);
    fit_json_begin(j, "matrix", '[');
    for (size_t i = 0; i < n && row; i++) {
        for (size_t m = 0; m < n; m++)
            row[m] = r->fit->correlation[index[i] * r->fit->nfull + index[m]];
        fit_json_numbers(j, NULL, row, n);
    }
    fit_json_end(j);
    fit_json_end(j);
}

static void put_identifiability(struct fit_json *j, const struct fit_results *r)
{
    const struct fit_result *f = r->fit;
    char text[512];
    fit_json_begin(j, "identifiability", '{');
    fit_json_integer(j, "undetermined_directions", (int64_t)f->nnull);
    fit_json_numbers(j, "eigenvalues", f->eigenvalue, f->neigen);
    fit_json_begin(j, "directions", '[');
    for (size_t k = 0; k < f->neigen; k++) {
        fit_results_direction(r, k, text, sizeof text);
        fit_json_string(j, NULL, text);
    }
    fit_json_end(j);
    fit_json_end(j);
}

static void put_degeneracies(struct fit_json *j, const struct fit_results *r)
{
    const struct fit_result *f = r->fit;
    const struct fit_kernel *k = r->kernel;
    fit_json_begin(j, "degeneracies", '[');
    for (size_t i = 0; i < f->ndegenerate; i++) {
        const struct fit_degeneracy *d = &k->degeneracy[f->degenerate[i].which];
        fit_json_begin(j, NULL, '{');
        fit_json_string(j, "text", f->degenerate[i].text);
        fit_json_begin(j, "parameters", '[');
        for (size_t n = 0; n < d->nparam; n++)
            fit_json_string(j, NULL, fit_kernel_unknown(k, d->param[n])->name);
        fit_json_end(j);
        fit_json_begin(j, "combinations", '{');
        for (size_t n = d->first; n < d->first + d->ncombination; n++) {
            fit_json_begin(j, k->combination[n].text, '{');
            fit_json_number(j, "value", f->combination[n]);
            fit_json_number(j, "std", f->combination_std[n]);
            fit_json_string(j, "unit", k->combination[n].unit);
            fit_json_end(j);
        }
        fit_json_end(j);
        fit_json_boolean(j, "proved", d->proved);
        fit_json_end(j);
    }
    fit_json_end(j);
}

/* Rates A t^E + C: the value at one time and the slope by ln t, which stay determined where A, E and C are not. */
static void put_rates(struct fit_json *j, const struct fit_results *r)
{
    char text[200];
    fit_json_begin(j, "rates", '[');
    for (size_t k = 0; k < r->fit->nrate; k++) {
        const struct fit_rate_value *x = &r->fit->rate[k];
        fit_results_rate(r, x, text, sizeof text);
        fit_json_begin(j, NULL, '{');
        fit_json_string(j, "expression", text);
        fit_json_number(j, "time", x->time);
        fit_json_number(j, "value", x->value);
        fit_json_number(j, "std", x->std);
        fit_json_number(j, "slope_by_ln_t", x->slope);
        fit_json_number(j, "slope_std", x->slope_std);
        fit_json_string(j, "unit", r->kernel->param[x->offset].unit);
        fit_json_boolean(j, "only_these_are_determined", x->needed);
        fit_json_end(j);
    }
    fit_json_end(j);
}

static void put_noise(struct fit_json *j, const struct fit_results *r)
{
    fit_json_begin(j, "noise", '{');
    fit_json_string(j, "source", fit_noise_name(r->fit->noise));
    fit_json_string(j, "text", r->fit->noise_text);
    fit_json_number(j, "local_sigma", r->fit->local_sigma); /* of neighbours along the age */
    if (r->kernel->space == FIT_PAIRS)
        fit_json_numbers(j, "local_sigma_of_groups", r->fit->local, r->fit->ngroup);
    if (r->kernel->density) {
        fit_json_string(j, "law", r->kernel->density->name);
    } else {
        fit_json_numbers(j, "sigma", r->fit->sigma, r->fit->ngroup);
        fit_json_number(j, "sigma_common", r->fit->sigma_common);
    }
    fit_json_boolean(j, "reweighted", r->fit->reweighted);
    if (r->kernel->feedback) /* rows depend on values measured in earlier ones */
        fit_json_boolean(j, "feedback", 1);
    fit_json_end(j);
}

/* How the robust errors were found, and what the residuals show about the noise. */
static void put_robust(struct fit_json *j, const struct fit_results *r)
{
    static const char *const kind[] = {"none",          "clusters of frames", "HC3",
                                       "speckle noise", "independent noise",  "withheld"};
    const struct fit_result *f = r->fit;
    char text[512];
    fit_results_noise_words(r, text, sizeof text);
    fit_json_begin(j, "robust", '{');
    fit_json_string(j, "method", kind[f->robust.kind]);
    if (f->robust.kind == FIT_ROBUST_WITHHELD)
        fit_json_string(j, "reason", f->robust.reason);
    fit_json_integer(j, "cluster_frames", (int64_t)f->robust.length);
    fit_json_integer(j, "clusters", (int64_t)f->robust.clusters);
    fit_json_boolean(j, "clipped", f->robust.clipped);
    fit_json_number(j, "eta", fit_robust_given(&f->robust) ? f->robust.eta : NAN);
    fit_json_number(j, "errors_wider_by", fit_results_wider(r));
    fit_json_end(j);
    fit_json_string(j, "residuals_text", text);
    fit_json_begin(j, "residuals", '[');
    for (size_t g = 0; f->robust.kind != FIT_ROBUST_NONE && g < f->ngroup; g++) {
        const struct fit_residual_test *t = &f->residual[g];
        fit_json_begin(j, NULL, '{');
        fit_json_number(j, "correlation_along_lag", t->along_lag);
        fit_json_number(j, "correlation_along_age", t->along_age);
        fit_json_number(j, "correlation_sharing_a_frame", t->sharing);
        fit_json_number(j, "kurtosis", t->kurtosis);
        if (r->kernel->space == FIT_PAIRS)
            fit_json_numbers(j, "variance_by_lag_decile", t->decile, FIT_RESIDUAL_DECILES);
        fit_json_end(j);
    }
    fit_json_end(j);
}

/* Number of speckles and shot noise. */
static void put_speckle_noise(struct fit_json *j, const struct fit_speckle_noise *x)
{
    static const char *const known[] = {"nothing", "noise", "count and shot"};
    const int both = x->known == FIT_SPECKLE_BOTH;
    fit_json_begin(j, NULL, '{');
    fit_json_string(j, "known", known[x->known]);
    fit_json_number(j, "count", both ? x->count : NAN);
    fit_json_number(j, "count_std", both ? x->count_std : NAN);
    fit_json_number(j, "shot", both ? x->shot : NAN);
    fit_json_number(j, "shot_std", both ? x->shot_std : NAN);
    fit_json_number(j, "noise", x->known != FIT_SPECKLE_UNKNOWN ? x->noise : NAN);
    fit_json_number(j, "contrast", x->contrast > 0 ? x->contrast : NAN); /* to which these numbers belong */
    fit_json_number(j, "decay_frames", x->frames > 0 ? x->frames : NAN);
    fit_json_end(j);
}

/* Lags and ages of all groups are frames, where their files differ in the period. */
static int pooled_in_frames(const struct fit_results *r, long group)
{
    return group < 0 && fit_dataset_times_differ(r->ds);
}

/* The speckle noise of each group, and the goodness-of-fit test that uses it. */
static void put_speckle(struct fit_json *j, const struct fit_results *r)
{
    const struct fit_result *f = r->fit;
    const struct fit_speckle_test *t = &f->speckle_test;
    fit_json_begin(j, "speckle", '{');
    fit_json_number(j, "p", t->p);
    fit_json_number(j, "chi2", t->chi2);
    fit_json_integer(j, "rank", (int64_t)t->rank);
    if (isfinite(t->p)) {
        fit_json_begin(j, "farthest", '{');
        fit_json_number(j, "z", t->z);
        fit_json_integer(j, "group", t->group + 1); /* 0: all */
        fit_json_numbers(j, "lag", t->lag, 2);
        fit_json_numbers(j, "age", t->age, 2);
        if (pooled_in_frames(r, t->group))
            fit_json_string(j, "unit", "frames");
        fit_json_end(j);
    }
    if (t->kurtosis > 0) {
        fit_json_begin(j, "outliers", '{');
        fit_json_number(j, "kurtosis", t->kurtosis);
        fit_json_number(j, "expected", t->expected);
        fit_json_integer(j, "group", (int64_t)t->of + 1);
        fit_json_number(j, "near", t->near);
        fit_json_end(j);
    }
    fit_json_begin(j, "groups", '[');
    for (size_t g = 0; f->robust.kind != FIT_ROBUST_NONE && g < f->ngroup; g++)
        put_speckle_noise(j, &f->speckle[g]);
    fit_json_end(j);
    fit_json_end(j);
}

/* The kind of estimates, and the alternative ones; nothing when only least squares were requested. */
static void put_estimates(struct fit_json *j, const struct fit_results *r)
{
    const struct fit_result *f = r->fit;
    const struct fit_estimates *e = &f->estimates;
    char text[400];
    if (!e->compared && !*e->reason)
        return;
    fit_results_estimator_words(r, text, sizeof text);
    fit_json_begin(j, "estimator", '{');
    fit_json_string(j, "used", fit_estimator_name(e->used));
    if (*e->reason)
        fit_json_string(j, "reason", e->reason);
    if (*text)
        fit_json_string(j, "text", text);
    if (isfinite(e->groups_p)) {
        fit_json_begin(j, "groups", '{');
        fit_json_number(j, "p", e->groups_p);
        fit_json_number(j, "chi2", e->groups_chi2);
        fit_json_integer(j, "rank", (int64_t)e->groups_rank);
        fit_json_end(j);
    }
    if (e->compared) {
        fit_json_number(j, "p", e->p);
        fit_json_number(j, "chi2", e->chi2);
        fit_json_integer(j, "rank", (int64_t)e->rank);
        fit_json_begin(j, e->used == FIT_ESTIMATOR_EFFICIENT ? "least_squares" : "efficient", '{');
        for (size_t k = 0; k < f->nparam; k++) {
            fit_json_begin(j, r->kernel->param[k].name, '{');
            fit_json_number(j, "value", e->other[k]);
            fit_json_number(j, "std", e->other_std[k]);
            fit_json_end(j);
        }
        fit_json_end(j);
    }
    fit_json_end(j);
}

/* Frames and times of a file of two-time data. */
static void put_frames(struct fit_json *j, const struct fit_measurement_file *x)
{
    fit_json_number(j, "dt", x->dt);
    fit_json_number(j, "first_time", x->begin);
    fit_json_integer(j, "first_frame", (int64_t)x->first);
    fit_json_integer(j, "last_frame", (int64_t)x->last);
    fit_json_integer(j, "masked_frames", (int64_t)x->nmasked);
}

/* Several files: each with its settings. */
static void put_files(struct fit_json *j, const struct fit_results *r)
{
    const struct fit_input *in = r->input;
    const size_t n = r->kernel->nsetting;
    if (!in->npart)
        return;
    fit_json_begin(j, "files", '[');
    for (size_t f = 0; f < in->npart; f++) {
        fit_json_begin(j, NULL, '{');
        fit_json_string(j, "file", in->part[f].file);
        fit_json_string(j, "sha256", in->part[f].sha256);
        fit_json_string(j, "sha256_of", in->part[f].of_values ? "values" : "file");
        fit_json_integer(j, "size", (int64_t)in->part[f].size);
        fit_json_integer(j, "points", (int64_t)in->part[f].npoint);
        fit_json_integer(j, "groups", (int64_t)in->part[f].ngroup);
        if (r->kernel->space == FIT_PAIRS)
            put_frames(j, &in->part[f]);
        fit_json_begin(j, "settings", '{');
        for (size_t s = 0; s < n; s++)
            fit_json_number(j, r->kernel->setting[s].name, in->files->setting[f * n + s]);
        fit_json_end(j);
        fit_json_end(j);
    }
    fit_json_end(j);
}

static void put_data(struct fit_json *j, const struct fit_results *r)
{
    const struct fit_input *in = r->input;
    fit_json_begin(j, "data", '{');
    fit_json_string(j, "file", in->file);
    fit_json_string(j, "sha256", in->sha256);
    fit_json_string(j, "sha256_of", in->of_values ? "values" : "file");
    fit_json_integer(j, "size", (int64_t)in->size);
    fit_json_string(j, "layout", in->layout);
    if (r->kernel->space == FIT_PAIRS) {
        fit_json_number(j, "q", in->q);
        if (in->q_group)
            fit_json_numbers(j, "q_values", in->q_group, r->fit->ngroup);
        if (!isnan(in->gap))
            fit_json_number(j, "gap", in->gap);
        fit_json_number(j, "dt", in->dt);
        fit_json_string(j, "dt_source", in->dt_text);
        fit_json_integer(j, "first_frame", (int64_t)in->first);
        fit_json_integer(j, "last_frame", (int64_t)in->last);
        fit_json_integer(j, "masked_frames", (int64_t)in->nmasked);
        if (in->phi)
            fit_json_numbers(j, "phi", in->phi, r->fit->ngroup);
        fit_json_begin(j, "keys", '[');
        for (size_t g = 0; in->key && g < r->fit->ngroup; g++)
            fit_json_string(j, NULL, in->key[g]);
        fit_json_end(j);
    }
    put_files(j, r);
    fit_json_integer(j, "dropped_values", (int64_t)r->ds->ndropped);
    fit_json_end(j);
}

static void put_settings(struct fit_json *j, const struct fit_results *r)
{
    static const char *const scaling[] = {"individual", "constant", "averaged", "fourier", "hierarchical"};
    static const char *const method[] = {"nlsq", "nuts", "laplace", "cmc"};
    const struct fit_config *c = r->config;
    fit_json_begin(j, "settings", '{');
    for (size_t s = 0; s < r->kernel->nsetting; s++)
        fit_json_number(j, r->kernel->setting[s].name, r->ds->layout.setting[s]);
    fit_json_begin(j, "units", '{');
    for (size_t s = 0; s < r->kernel->nsetting; s++)
        fit_json_string(j, r->kernel->setting[s].name, r->kernel->setting[s].unit);
    fit_json_end(j);
    fit_json_string(j, "method", method[c->method.value]);
    fit_json_string(j, "loss", fit_loss_name((enum fit_loss)c->nlsq.loss.value));
    fit_json_string(j, "scaling", scaling[r->scaling]);
    fit_json_string(j, "optimizer", c->nlsq.optimizer.value ? c->nlsq.optimizer.value : "nlsq");
    fit_json_integer(j, "max_iterations", c->nlsq.max_iterations.value);
    fit_json_number(j, "ftol", c->nlsq.ftol.value);
    fit_json_number(j, "xtol", c->nlsq.xtol.value);
    fit_json_number(j, "gtol", c->nlsq.gtol.value);
    fit_json_integer(j, "seed", c->seed.value);
    fit_json_string(j, "variant", r->kernel->variant);
    fit_json_string(j, "config", c->file);
    fit_json_end(j);
}

static void put_starts(struct fit_json *j, const struct fit_results *r)
{
    const struct fit_result *f = r->fit;
    fit_json_begin(j, "starts", '[');
    for (size_t k = 0; k < f->nstart; k++) {
        fit_json_begin(j, NULL, '{');
        fit_json_string(j, "origin", f->starts[k].origin);
        fit_json_numbers(j, "theta", f->starts[k].theta, f->nparam);
        fit_json_number(j, "cost_start", f->starts[k].cost_start);
        fit_json_number(j, "cost_final", f->starts[k].cost_final);
        fit_json_boolean(j, "all_data", f->starts[k].full);
        fit_json_end(j);
    }
    fit_json_end(j);
}

static void put_minima(struct fit_json *j, const struct fit_results *r)
{
    const struct fit_result *f = r->fit;
    fit_json_begin(j, "minima", '[');
    for (size_t k = 0; k < f->nminimum; k++) {
        fit_json_begin(j, NULL, '{');
        fit_json_number(j, "cost", f->minima[k].cost);
        fit_json_number(j, "chi2_above_best", f->minima[k].above);
        fit_json_integer(j, "found", (int64_t)f->minima[k].found);
        fit_json_string(j, "origin", f->minima[k].origin);
        fit_json_numbers(j, "theta", f->minima[k].theta, f->nparam);
        fit_json_end(j);
    }
    fit_json_end(j);
}

static void put_phases(struct fit_json *j, const struct fit_results *r)
{
    fit_json_begin(j, "phases", '{');
    fit_json_number(j, "load", r->load_seconds);
    fit_json_number(j, "start", r->fit->seconds.start);
    fit_json_number(j, "fit", r->fit->seconds.fit);
    fit_json_number(j, "covariance", r->fit->seconds.covariance);
    fit_json_number(j, "maps", r->maps_seconds);
    fit_json_number(j, "write", r->write_seconds);
    fit_json_end(j);
}

/* Until fit.json was written; with --profile-time only. */
static void put_profile(struct fit_json *j)
{
    static struct fit_clock_thread t[FIT_CLOCK_THREADS];
    size_t n = fit_clock_runs ? fit_clock_report(t, FIT_CLOCK_THREADS) : 0;
    if (!n)
        return;
    fit_json_begin(j, "profile_seconds", '{');
    for (size_t k = 0; k < n; k++) {
        fit_json_begin(j, t[k].name, '{');
        for (int c = 0; c < FIT_CLOCKS; c++)
            fit_json_number(j, fit_clock_word((enum fit_clock)c), t[k].seconds[c]);
        fit_json_end(j);
    }
    fit_json_end(j);
}

/* The run of the file, and the files beside it that belong to an earlier one. */
static void put_run(struct fit_json *j, const struct fit_results *r)
{
    char name[64];
    if (!r->run_id)
        return;
    fit_json_string(j, "run_id", r->run_id);
    if (!r->kept || !*r->kept)
        return;
    fit_json_begin(j, "kept_files", '[');
    for (const char *at = r->kept; *at; at += strcspn(at, " "), at += *at == ' ') {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, " "), at);
        fit_json_string(j, NULL, name);
    }
    fit_json_end(j);
}

/* The strongest structure of the residuals. */
static void put_misfit(struct fit_json *j, const struct fit_misfit *m, int frames)
{
    static const char *const kind[] = {"bins", "smooth", "drift"}, *const along[] = {"lag", "age", "frame"};
    if (isnan(m->p))
        return;
    fit_json_begin(j, "misfit", '{');
    fit_json_number(j, "p", m->p);
    fit_json_number(j, "p_bins", m->p_bins);
    fit_json_number(j, "z", m->z);
    fit_json_number(j, "mean", m->mean);
    fit_json_string(j, "kind", kind[m->kind]);
    fit_json_integer(j, "group", m->group + 1);
    fit_json_numbers(j, "lag", m->lag, 2);
    fit_json_numbers(j, "age", m->age, 2);
    if (frames)
        fit_json_string(j, "unit", "frames");
    fit_json_integer(j, "tests", (int64_t)m->tests);
    fit_json_number(j, "p_neighbours", m->p_neighbours);
    fit_json_number(j, "correlation", m->rho);
    fit_json_number(j, "correlation_z", m->rho_z);
    fit_json_string(j, "along", along[m->along]);
    fit_json_end(j);
}

/* The devices that computed sums, `A + B`; nothing if it was the processor. */
static void put_device(struct fit_json *j)
{
    char names[512] = "";
    struct fit_device *d = fit_device_used();
    if (!d || fit_device_tally(d).calls == 0)
        return;
    for (const struct fit_device *k = d; k; k = fit_device_next(k)) {
        const size_t n = strlen(names);
        snprintf(names + n, sizeof names - n, "%s%s", n ? " + " : "", fit_device_about(k)->name);
    }
    fit_json_string(j, "device", names);
}

static void put_verdict(struct fit_json *j, const struct fit_results *r)
{
    const struct fit_result *f = r->fit;
    fit_json_string(j, "status", fit_word_name(f->status));
    fit_json_boolean(j, "converged", f->converged);
    fit_json_string(j, "message", f->message);
    struct fit_quality q = fit_results_quality(r);
    fit_json_string(j, "quality", q.word);
    fit_json_string(j, "quality_text", q.text);
    fit_json_integer(j, "iterations", (int64_t)f->iterations);
    fit_json_integer(j, "accepted_steps", (int64_t)f->accepted);
    fit_json_integer(j, "evaluations", (int64_t)f->evaluations);
    fit_json_integer(j, "derivative_evaluations", (int64_t)f->normals);
    fit_json_number(j, "gradient", f->gradient);
    fit_json_number(j, "wall_seconds", r->wall_seconds);
    put_phases(j, r);
    put_profile(j);
    fit_json_number(j, "peak_rss_mb", r->peak_mb);
    fit_json_number(j, "memory_estimate_mb", r->estimate_mb);
    fit_json_integer(j, "threads", f->threads);
    put_device(j);
    fit_json_string(j, "isa", r->kernel->isa);
    fit_json_integer(j, "n_points", (int64_t)f->npoint);
    fit_json_integer(j, "n_free", (int64_t)f->nfree);
    fit_json_number(j, "cost", f->cost);
    if (r->kernel->density)
        fit_json_number(j, "log_likelihood", f->log_likelihood);
    fit_json_number(j, "chi2", f->chi2);
    fit_json_number(j, "residual_variance", f->residual_variance);
    fit_json_number(j, "reduced_chi2", f->reduced_chi2);
    if (f->reduced_chi2_reason)
        fit_json_string(j, "reduced_chi2_reason", f->reduced_chi2_reason);
    else
        fit_json_number(j, "reduced_chi2_std", f->reduced_chi2_error);
    fit_json_number(j, "chi2_p", fit_results_chi2_p(r));
    put_misfit(j, &f->misfit, pooled_in_frames(r, f->misfit.group));
    fit_json_number(j, "nrmse", r->maps ? r->maps->nrmse : NAN);
}

static void put_model(struct fit_json *j, const struct fit_results *r)
{
    fit_json_begin(j, "model", '{');
    fit_json_string(j, "name", r->kernel->name);
    fit_json_string(j, "hash", r->kernel->hash);
    fit_json_string(j, "source", r->kernel->source);
    fit_json_string(j, "variant", r->kernel->variant);
    fit_json_end(j);
}

static void put_notes(struct fit_json *j, const struct fit_results *r)
{
    fit_json_begin(j, "notes", '[');
    for (size_t k = 0; k < r->nnote; k++)
        fit_json_string(j, NULL, r->note[k]);
    fit_json_end(j);
}

char *fit_write_json(const struct fit_results *r)
{
    struct fit_json j = {0};
    size_t *index = malloc((r->kernel->nparam + r->kernel->nlinear + 1) * sizeof *index);
    if (!index)
        return NULL;
    size_t n = fit_results_table(r, index);
    fit_json_begin(&j, NULL, '{');
    put_run(&j, r);
    put_verdict(&j, r);
    put_noise(&j, r);
    put_parameters(&j, r, index, n);
    put_scaling(&j, r);
    put_scaling_units(&j, r);
    put_hierarchy(&j, r);
    put_correlation(&j, r, index, n);
    put_robust(&j, r);
    if (r->kernel->space == FIT_PAIRS) {
        put_speckle(&j, r);
        put_estimates(&j, r);
    }
    put_identifiability(&j, r);
    put_degeneracies(&j, r);
    put_rates(&j, r);
    fit_json_derived(&j, r);
    fit_study_json(&j, r);
    fit_json_posterior(&j, r);
    put_starts(&j, r);
    put_minima(&j, r);
    put_model(&j, r);
    put_data(&j, r);
    put_settings(&j, r);
    put_notes(&j, r);
    fit_json_string(&j, "version", FIT_VERSION);
    fit_json_string(&j, "command_line", r->command_line);
    fit_json_end(&j);
    free(index);
    const char *text = fit_json_text(&j);
    char *copy = text ? strdup(text) : NULL;
    fit_json_free(&j);
    return copy;
}
