/* study.c -- profiles, bootstrap and sequence as text and in files; see study.h. */
#include "results/study.h"

#include "common/nearest.h"
#include "base/number_text.h"
#include "model/derived.h"
#include "model/registry.h"
#include "results/results.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void fit_study_free(struct fit_study *s)
{
    fit_bootstrap_free(&s->bootstrap);
    fit_sequence_free(&s->sequence);
}

/* ---- names of profiles ----------------------------------------------------------------------------------------- */

/* Does the name refer to element e of the full vector? */
static int is_meant(const struct fit_kernel *k, const struct fit_linkage *link, size_t e, const char *name)
{
    char own[128];
    if (e < k->nparam) {
        const char *of_model = link ? link->inner->param[link->of[e]].name : k->param[e].name;
        return strcmp(name, "all") == 0 || strcmp(name, k->param[e].name) == 0 || strcmp(name, of_model) == 0;
    }
    size_t q = (e - k->nparam) % k->nlinear, g = (e - k->nparam) / k->nlinear;
    snprintf(own, sizeof own, "%.100s[%zu]", k->linear[q].name, g);
    return strcmp(name, own) == 0 || (strcmp(name, k->linear[q].name) == 0 && (k->linear[q].over >= 0 || g == 0));
}

/* Stores the indices of the derived quantity of this name, in the order of fit_result.derived, in list; returns
 * their number. */
static size_t add_derived(const struct fit_kernel *k, size_t ngroup, const char *name, size_t *list, size_t *n)
{
    size_t place = k->nparam + ngroup * k->nlinear, found = 0;
    char own[128];
    for (size_t d = 0; d < k->nderived; d++)
        for (size_t g = 0; g < (k->derived[d].each ? ngroup : 1); g++, place++) {
            snprintf(own, sizeof own, "%.100s[%zu]", k->derived[d].name, g);
            if (strcmp(name, k->derived[d].name) == 0 || (k->derived[d].each && strcmp(name, own) == 0))
                list[found++] = place;
        }
    *n += found;
    return found;
}

enum fit_status fit_study_profiles(const struct fit_config *cfg, const struct fit_kernel *kernel,
                                   const struct fit_linkage *link, size_t ngroup, size_t **list, size_t *n,
                                   struct fit_error *err)
{
    const struct fit_cfg_texts *names = &cfg->study.profile;
    size_t all = kernel->nparam + ngroup * kernel->nlinear;
    *n = 0;
    *list = calloc(all + fit_derived_count(kernel, ngroup) + 1, sizeof **list);
    if (!*list)
        return fit_no_memory(err, "profiles");
    for (size_t k = 0; k < names->n; k++) {
        size_t before = *n, known = 0;
        struct nearest near = {.name = names->value[k]};
        for (size_t e = 0; e < all; e++) {
            if (e < kernel->nparam)
                nearest_offer(&near, kernel->param[e].name);
            if (!is_meant(kernel, link, e, names->value[k]))
                continue;
            int twice = 0;
            for (size_t i = 0; i < *n; i++)
                twice |= (*list)[i] == e;
            known = 1;
            if (!twice)
                (*list)[(*n)++] = e;
        }
        known += add_derived(kernel, ngroup, names->value[k], *list + *n, n);
        if (*n > before || known)
            continue;
        char where[160];
        fit_origin_text(cfg, names->from, where, sizeof where);
        return fit_fail(err, FIT_ERR_CONFIG, "%s: profile: the fit has no parameter '%s' (tied?)%s%s%s", where,
                        names->value[k], near.best ? "; did you mean '" : "", near.best ? near.best : "",
                        near.best ? "'?" : "");
    }
    return FIT_OK;
}

/* ---- fit.json -------------------------------------------------------------------------------------------------- */

/* Interval i of a profile: its ends, the rise of chi2 there and, where it has gaps, its parts. */
static void json_limits(struct fit_json *j, const struct fit_likelihood *l, int i)
{
    fit_json_begin(j, i ? "interval_95" : "interval_68", '{');
    fit_json_number(j, "lower", l->lower[i]);
    fit_json_number(j, "upper", l->upper[i]);
    fit_json_boolean(j, "lower_is_bound", l->open_lower[i] || l->one_sided < 0);
    fit_json_boolean(j, "upper_is_bound", l->open_upper[i] || l->one_sided > 0);
    fit_json_number(j, "chi2_rise", l->limit[i] * l->limit[i]);
    fit_json_end(j);
    if (l->part[i].n > 1)
        fit_json_union(j, i ? "intervals_95" : "intervals_68", &l->part[i]);
}

/* Unit and best value of the quantity of a profile. */
static const char *unit_of(const struct fit_results *r, const struct fit_likelihood *l)
{
    return l->which < r->fit->nfull ? fit_results_param(r, l->which).param->unit
                                    : r->kernel->derived[r->fit->derived[l->which - r->fit->nfull].which].unit;
}

static double best_of(const struct fit_results *r, const struct fit_likelihood *l)
{
    return l->which < r->fit->nfull ? fit_results_param(r, l->which).value
                                    : r->fit->derived[l->which - r->fit->nfull].value;
}

/* Profiles of efficient estimates hold the noise fixed; their intervals use the noise at their ends. */
static const char *held_noise(const struct fit_results *r)
{
    return r->fit->estimates.used == FIT_ESTIMATOR_EFFICIENT ? "held as it is at the estimates" : NULL;
}

static void json_profiles(struct fit_json *j, const struct fit_results *r)
{
    char name[160];
    if (!r->fit->nlikelihood)
        return;
    fit_json_begin(j, "profiles", '{');
    for (size_t k = 0; k < r->fit->nlikelihood; k++) {
        const struct fit_likelihood *l = &r->fit->likelihood[k];
        fit_results_full_name(r, l->which, name, sizeof name);
        fit_json_begin(j, name, '{');
        fit_json_string(j, "text", l->text);
        fit_json_string(j, "unit", unit_of(r, l));
        fit_json_number(j, "best", best_of(r, l));
        if (held_noise(r))
            fit_json_string(j, "noise", held_noise(r));
        for (int i = 0; i < 2 && l->n > 0; i++)
            json_limits(j, l, i);
        fit_json_boolean(j, "one_sided", l->one_sided != 0);
        fit_json_boolean(j, "better_minimum_met", l->lower_cost);
        fit_json_numbers(j, "value", l->value, l->n);
        fit_json_numbers(j, "chi2_rise", l->rise, l->n);
        fit_json_end(j);
    }
    fit_json_end(j);
}

static void json_bootstrap(struct fit_json *j, const struct fit_results *r)
{
    const struct fit_bootstrap *b = &r->study->bootstrap;
    char name[160];
    if (b->kind == FIT_BOOTSTRAP_NONE)
        return;
    fit_json_begin(j, "bootstrap", '{');
    fit_json_string(j, "kind", fit_bootstrap_word(b->kind));
    fit_json_integer(j, "replicates", (int64_t)b->n);
    fit_json_integer(j, "converged", (int64_t)b->good);
    fit_json_integer(j, "cluster_frames", (int64_t)b->length);
    fit_json_number(j, "seconds", b->seconds);
    fit_json_begin(j, "parameters", '{');
    for (size_t e = 0; e < b->nfull; e++) {
        if (isnan(b->std[e]) || (e >= r->fit->nparam + r->fit->nlinear && fit_results_param(r, e).group < 0))
            continue;
        fit_results_full_name(r, e, name, sizeof name);
        fit_json_begin(j, name, '{');
        fit_json_number(j, "std", b->std[e]);
        fit_json_number(j, "bias", b->mean[e] - fit_results_param(r, e).value);
        fit_json_number(j, "lower_68", b->quantile[4 * e + 1]);
        fit_json_number(j, "upper_68", b->quantile[4 * e + 2]);
        fit_json_number(j, "lower_95", b->quantile[4 * e]);
        fit_json_number(j, "upper_95", b->quantile[4 * e + 3]);
        fit_json_end(j);
    }
    fit_json_end(j);
    fit_json_end(j);
}

static const struct fit_kernel *model_of(const struct fit_results *r)
{
    return r->link ? r->link->inner : r->kernel;
}

static const struct fit_param *model_param(const struct fit_results *r, size_t e)
{
    return fit_kernel_unknown(model_of(r), e);
}

static const char *axis_name(const struct fit_results *r)
{
    const char *axis = r->study ? r->study->sequence.axis : NULL;
    return axis ? axis : model_of(r)->naxis ? model_of(r)->axis[0].name : "group";
}

/* Mean of parameter e over the rows, weighted with their errors, and chi^2 per degree of freedom for the hypothesis
 * that it is the same for all; 0: fewer than two rows determine it. */
static int sequence_mean(const struct fit_sequence_result *s, size_t e, double *mean, double *std, double *chi2)
{
    double w = 0, wv = 0, n = 0;
    *mean = *std = *chi2 = NAN;
    for (int turn = 0; turn < 2; turn++)
        for (size_t g = 0; g < s->n; g++) {
            const struct fit_sequence_row *row = &s->row[g];
            double own = !row->fitted ? 0 : row->robust[e] > 0 ? row->robust[e] : row->std[e];
            if (!(own > 0) || !isfinite(own) || row->at_bound[e])
                continue;
            double d = turn ? (row->value[e] - wv / w) / own : 0;
            if (turn)
                *chi2 = (isnan(*chi2) ? 0 : *chi2) + d * d / (n - 1);
            else
                w += 1 / (own * own), wv += row->value[e] / (own * own), n++;
        }
    if (n < 2)
        return 0;
    *mean = wv / w;
    *std = 1 / sqrt(w);
    return 1;
}

static void json_means(struct fit_json *j, const struct fit_results *r)
{
    const struct fit_sequence_result *s = &r->study->sequence;
    double mean, std, chi2;
    if (s->n < 2)
        return;
    fit_json_begin(j, "sequence_mean", '{');
    for (size_t e = 0; e < model_of(r)->nparam; e++)
        if (sequence_mean(s, e, &mean, &std, &chi2)) {
            fit_json_begin(j, model_param(r, e)->name, '{');
            fit_json_number(j, "value", mean);
            fit_json_number(j, "std", std);
            fit_json_number(j, "chi2_per_dof", chi2);
            fit_json_number(j, "std_from_scatter", std * sqrt(chi2)); /* of the rows: repeated measurements */
            fit_json_end(j);
        }
    fit_json_end(j);
}

static void json_sequence(struct fit_json *j, const struct fit_results *r)
{
    const struct fit_sequence_result *s = &r->study->sequence;
    if (s->n == 0)
        return;
    fit_json_begin(j, "sequence", '[');
    for (size_t g = 0; g < s->n; g++) {
        const struct fit_sequence_row *row = &s->row[g];
        fit_json_begin(j, NULL, '{');
        fit_json_number(j, axis_name(r), row->coord);
        fit_json_string(j, "status", row->fitted ? fit_word_name(row->status) : "failed");
        fit_json_boolean(j, "converged", row->converged);
        fit_json_string(j, "message", row->text);
        fit_json_number(j, "reduced_chi2", row->fitted ? row->reduced_chi2 : NAN);
        fit_json_integer(j, "n_points", (int64_t)row->npoint);
        fit_json_begin(j, "parameters", '{');
        for (size_t e = 0; row->fitted && e < s->nvalue; e++) {
            fit_json_begin(j, model_param(r, e)->name, '{');
            fit_json_number(j, "value", row->value[e]);
            fit_json_number(j, "std", row->std[e]);
            fit_json_number(j, "std_robust", row->robust[e]);
            fit_json_string(j, "at_bound", row->at_bound[e] < 0 ? "lower" : row->at_bound[e] > 0 ? "upper" : NULL);
            fit_json_end(j);
        }
        fit_json_end(j);
        fit_json_end(j);
    }
    fit_json_end(j);
}

void fit_study_json(struct fit_json *j, const struct fit_results *r)
{
    json_profiles(j, r);
    if (r->study) {
        json_bootstrap(j, r);
        json_sequence(j, r);
        if (r->study->sequence.n)
            json_means(j, r);
    }
}

/* ---- fit.h5 ---------------------------------------------------------------------------------------------------- */

static void hdf5_profiles(struct fit_h5r *w, const struct fit_results *r)
{
    char name[128], path[256];
    if (r->fit->nlikelihood)
        fit_h5r_group(w, "/entry/profiles", "NXcollection");
    for (size_t k = 0; k < r->fit->nlikelihood; k++) {
        const struct fit_likelihood *l = &r->fit->likelihood[k];
        const double interval[] = {l->lower[0], l->upper[0], l->lower[1], l->upper[1]};
        size_t two[] = {2, 2};
        fit_results_full_name(r, l->which, name, sizeof name);
        if (l->n == 0)
            continue;
        snprintf(path, sizeof path, "/entry/profiles/%s", name);
        fit_h5r_group(w, path, "NXdata");
        snprintf(path, sizeof path, "/entry/profiles/%s/value", name);
        fit_h5r_reals(w, path, 1, &l->n, l->value, unit_of(r, l));
        snprintf(path, sizeof path, "/entry/profiles/%s/chi2_rise", name);
        fit_h5r_reals(w, path, 1, &l->n, l->rise, NULL);
        snprintf(path, sizeof path, "/entry/profiles/%s/interval", name); /* 68 %, 95 % x lower, upper */
        fit_h5r_reals(w, path, 2, two, interval, NULL);
        snprintf(path, sizeof path, "/entry/profiles/%s/text", name);
        fit_h5r_text(w, path, l->text);
    }
}

static void hdf5_bootstrap(struct fit_h5r *w, const struct fit_results *r)
{
    const struct fit_bootstrap *b = &r->study->bootstrap;
    size_t size[] = {b->good, b->nfull}, four[] = {b->nfull, 4};
    if (b->kind == FIT_BOOTSTRAP_NONE)
        return;
    fit_h5r_group(w, "/entry/bootstrap", "NXcollection"); /* columns: as /entry/parameters/name */
    fit_h5r_text(w, "/entry/bootstrap/kind", fit_bootstrap_word(b->kind));
    fit_h5r_integer(w, "/entry/bootstrap/cluster_frames", (int64_t)b->length);
    fit_h5r_reals(w, "/entry/bootstrap/draws", 2, size, b->draw, NULL);
    fit_h5r_reals(w, "/entry/bootstrap/error", 1, &b->nfull, b->std, NULL);
    fit_h5r_reals(w, "/entry/bootstrap/mean", 1, &b->nfull, b->mean, NULL);
    fit_h5r_reals(w, "/entry/bootstrap/quantile", 2, four, b->quantile, NULL);
    fit_h5r_attribute(w, "/entry/bootstrap/quantile", "long_name", "2.5, 16, 84, 97.5 %");
}

static void hdf5_sequence(struct fit_h5r *w, const struct fit_results *r)
{
    FIT_SCRATCH(scratch);
    const struct fit_sequence_result *s = &r->study->sequence;
    size_t size[] = {s->n, s->nvalue}, all = s->n * s->nvalue;
    double *a = fit_take(&scratch, 3 * all + 2 * s->n, sizeof *a), *reduced = a ? a + 3 * all : NULL;
    const char **name = fit_take(&scratch, s->nvalue + s->n, sizeof *name);
    if (s->n && a && name) {
        for (size_t g = 0; g < s->n; g++) {
            const struct fit_sequence_row *row = &s->row[g];
            for (size_t e = 0; e < s->nvalue; e++) {
                a[g * s->nvalue + e] = row->fitted ? row->value[e] : NAN;
                a[all + g * s->nvalue + e] = row->fitted ? row->std[e] : NAN;
                a[2 * all + g * s->nvalue + e] = row->fitted ? row->robust[e] : NAN;
            }
            reduced[g] = row->fitted ? row->reduced_chi2 : NAN;
            reduced[s->n + g] = row->coord;
            name[s->nvalue + g] = row->fitted ? fit_word_name(row->status) : "failed";
        }
        for (size_t e = 0; e < s->nvalue; e++)
            name[e] = model_param(r, e)->name;
        fit_h5r_group(w, "/entry/sequence", "NXcollection");
        fit_h5r_texts(w, "/entry/sequence/name", s->nvalue, name);
        fit_h5r_texts(w, "/entry/sequence/status", s->n, name + s->nvalue);
        fit_h5r_reals(w, "/entry/sequence/coordinate", 1, &s->n, reduced + s->n, NULL);
        fit_h5r_reals(w, "/entry/sequence/reduced_chi_squared", 1, &s->n, reduced, NULL);
        fit_h5r_reals(w, "/entry/sequence/value", 2, size, a, NULL);
        fit_h5r_reals(w, "/entry/sequence/error", 2, size, a + all, NULL);
        fit_h5r_reals(w, "/entry/sequence/error_robust", 2, size, a + 2 * all, NULL);
    }
}

void fit_study_hdf5(struct fit_h5r *w, const struct fit_results *r)
{
    hdf5_profiles(w, r);
    if (r->study) {
        hdf5_bootstrap(w, r);
        hdf5_sequence(w, r);
    }
}

/* ---- the screen ------------------------------------------------------------------------------------------------ */

static void print_profiles(FILE *f, const struct fit_results *r)
{
    char name[160], line[720];
    if (r->fit->nlikelihood)
        fprintf(f, "\nprofile likelihood%s%s\n", held_noise(r) ? ", noise " : "", held_noise(r) ? held_noise(r) : "");
    for (size_t k = 0; k < r->fit->nlikelihood; k++) {
        fit_results_full_name(r, r->fit->likelihood[k].which, name, sizeof name);
        snprintf(line, sizeof line, "  %s: %s", name, r->fit->likelihood[k].text);
        fit_put_wrapped(f, line, 80, 4, INT_MAX);
    }
}

static void print_bootstrap(FILE *f, const struct fit_results *r)
{
    const struct fit_bootstrap *b = &r->study->bootstrap;
    if (b->kind == FIT_BOOTSTRAP_NONE)
        return;
    fprintf(f, "\nbootstrap, %s", fit_bootstrap_word(b->kind));
    if (b->length)
        fprintf(f, " of %zu frame%s", b->length, b->length == 1 ? "" : "s");
    fprintf(f, ", %zu of %zu fits, %.2f s\n", b->good, b->n, b->seconds);
    fprintf(f, "  %-20s %12s %10s %12s %12s\n", "", "value", "error", "2.5 %", "97.5 %");
    for (size_t e = 0; e < r->fit->nparam + r->fit->nlinear && e < b->nfull; e++) {
        struct fit_full_param p = fit_results_param(r, e);
        if (isnan(b->std[e]) || p.group >= 0)
            continue;
        fprintf(f, "  %-20s %12.6g %10.2g %12.6g %12.6g\n", p.param->name, p.value, b->std[e], b->quantile[4 * e],
                b->quantile[4 * e + 3]);
    }
}

/* "6557(542)", "-0.257(37)": the error in units of the last digits; "AT BOUND" or the value alone without one. */
static void cell(const struct fit_sequence_row *row, size_t e, char *text, size_t size)
{
    double std = row->robust[e] > 0 ? row->robust[e] : row->std[e];
    char value[40], error[40], digits[40] = "";
    fit_format_error(row->value[e], std, value, sizeof value, error, sizeof error);
    for (char *c = error, *d = digits; *c; c++) /* 0.037 -> 37 */
        if (*c >= '0' && *c <= '9' && (d > digits || *c != '0'))
            *d++ = *c, *d = '\0';
    if (!error[0])
        snprintf(text, size, "%.4g%s", row->value[e], row->at_bound[e] ? " !" : std == 0 ? "" : " ?");
    else if (strchr(error, 'e'))
        snprintf(text, size, "%.3g+-%.1g", row->value[e], std);
    else
        snprintf(text, size, "%s(%s)", value, strchr(error, '.') ? digits : error);
}

/* Of the nonlinear parameters among [first, last): a property of the sample is the same for every q and angle, and in
 * every repetition. */
static void print_means(FILE *f, const struct fit_results *r, size_t first, size_t last, int width)
{
    const struct fit_sequence_result *s = &r->study->sequence;
    signed char inside = 0;
    char text[96];
    for (int line = 0; line < 2; line++) {
        fprintf(f, "%9s", line ? "chi2/dof" : "mean");
        for (size_t e = first; e < last; e++) {
            double mean, std, chi2;
            int told = e < model_of(r)->nparam && sequence_mean(s, e, &mean, &std, &chi2);
            const struct fit_sequence_row row = {.value = &mean, .std = &std, .robust = &std, .at_bound = &inside};
            if (told && line)
                snprintf(text, sizeof text, "%.3g", chi2);
            else if (told)
                cell(&row, 0, text, sizeof text);
            fprintf(f, " %*s", width, told ? text : "-");
        }
        fputc('\n', f);
    }
}

static void print_sequence(FILE *f, const struct fit_results *r)
{
    enum { COLUMN = 17, PER_BLOCK = 4 };
    const struct fit_sequence_result *s = &r->study->sequence;
    if (s->n == 0)
        return;
    fprintf(f, "\nevery %s alone (! at a bound, ? not determined), %.2f s\n", axis_name(r), s->seconds);
    for (size_t first = 0; first < s->nvalue; first += PER_BLOCK) {
        size_t last = first + PER_BLOCK < s->nvalue ? first + PER_BLOCK : s->nvalue;
        fprintf(f, "%9s", axis_name(r));
        for (size_t e = first; e < last; e++)
            fprintf(f, " %*.*s", COLUMN - 1, COLUMN - 1, model_param(r, e)->name);
        fprintf(f, "%s\n", last == s->nvalue ? "  chi2/dof" : "");
        for (size_t g = 0; g < s->n; g++) {
            const struct fit_sequence_row *row = &s->row[g];
            char text[96];
            fprintf(f, "%9.4g", row->coord);
            for (size_t e = first; e < last && row->fitted; e++) {
                cell(row, e, text, sizeof text);
                fprintf(f, " %*s", COLUMN - 1, text);
            }
            if (!row->fitted)
                fprintf(f, "  %.60s", row->text);
            else if (last == s->nvalue && isnan(row->reduced_chi2)) /* the noise is not known */
                fprintf(f, "  %8s%s", "-", row->converged ? "" : " not converged");
            else if (last == s->nvalue)
                fprintf(f, "  %8.4f%s", row->reduced_chi2, row->converged ? "" : " not converged");
            fputc('\n', f);
        }
        if (s->n > 1 && first < model_of(r)->nparam)
            print_means(f, r, first, last, COLUMN - 1);
    }
}

void fit_study_summary(const struct fit_results *r, FILE *f)
{
    print_profiles(f, r);
    if (r->study) {
        print_bootstrap(f, r);
        print_sequence(f, r);
    }
}

/* ---- CSV ------------------------------------------------------------------------------------------------------- */

char *fit_study_csv(const struct fit_results *r)
{
    const struct fit_sequence_result *s = &r->study->sequence;
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    fputs(axis_name(r), f);
    for (size_t e = 0; e < s->nvalue; e++) {
        const char *name = model_param(r, e)->name;
        fprintf(f, ",%s,%s_std,%s_std_robust", name, name, name);
    }
    fprintf(f, ",reduced_chi2,status\n");
    for (size_t g = 0; g < s->n; g++) {
        const struct fit_sequence_row *row = &s->row[g];
        fprintf(f, "%.10g", row->coord);
        for (size_t e = 0; e < s->nvalue; e++)
            fprintf(f, ",%.17g,%.17g,%.17g", row->fitted ? row->value[e] : NAN, row->fitted ? row->std[e] : NAN,
                    row->fitted ? row->robust[e] : NAN);
        fprintf(f, ",%.10g,%s\n", row->fitted ? row->reduced_chi2 : NAN,
                row->fitted ? fit_word_name(row->status) : "failed");
    }
    return fit_text_end(f, &text);
}
