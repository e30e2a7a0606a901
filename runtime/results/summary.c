/* summary.c -- one screen about a fit: at most 25 lines of at most 80 columns, in addition to those about parameters
 * that the model cannot distinguish. */
#include "base/number_text.h"
#include "errors/profile.h"
#include "results/results.h"
#include "data/file_times.h"

#include "common/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, LINES = 25, TEXT = 720, ROWS = 16 /* of parameters, even if that takes more lines */ };

/* Prints one line, truncated to the width. */
static void line(FILE *f, int *left, const char *format, ...)
{
    char text[TEXT];
    va_list ap;
    if (*left <= 0)
        return;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    size_t n = strlen(text);
    if (n > WIDTH) {
        n = WIDTH - 3;
        while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80) /* not inside a character */
            n--;
        memcpy(text + n, "...", 4);
    }
    while (n > 0 && text[n - 1] == ' ')
        text[--n] = '\0';
    fprintf(f, "%s\n", text);
    *left -= 1;
}

static void wrapped(FILE *f, int *left, const char *text)
{
    *left -= fit_put_wrapped(f, text, WIDTH, 2, *left);
}

/* Appends " word" if it still fits. */
static void append(char *text, size_t size, const char *format, ...)
{
    size_t n = strlen(text);
    va_list ap;
    va_start(ap, format);
    vsnprintf(text + n, size - n, format, ap);
    va_end(ap);
}

/* 1: several files, which differ in setting s. */
static int setting_differs(const struct fit_results *r, size_t s)
{
    const struct fit_dataset_files *files = r->ds->files;
    const size_t n = r->kernel->nsetting;
    for (size_t f = 1; files && f < files->n; f++)
        if (files->setting[f * n + s] < files->setting[s] || files->setting[f * n + s] > files->setting[s])
            return 1;
    return 0;
}

/* Its value, or those of all files. */
static void setting_values(char text[TEXT], const struct fit_results *r, size_t s)
{
    append(text, TEXT, "%.6g", r->ds->layout.setting[s]);
    for (size_t f = 1; setting_differs(r, s) && f < r->ds->files->n; f++)
        append(text, TEXT, ", %.6g", r->ds->files->setting[f * r->kernel->nsetting + s]);
}

static void file_words(char text[TEXT], const struct fit_input *in)
{
    if (in->npart)
        append(text, TEXT, "%zu files", in->npart);
    else
        append(text, TEXT, "%s", text_file_name(in->file));
}

/* 1: two-time files that differ in their frames, or the times of these. */
static int frames_differ(const struct fit_results *r)
{
    const struct fit_measurement_file *x = r->input->part;
    for (size_t k = 1; k < r->input->npart; k++)
        if (x[k].first != x->first || x[k].last != x->last || x[k].file_frames != x->file_frames ||
            x[k].nmasked != x->nmasked)
            return 1;
    return fit_dataset_times_differ(r->ds);
}

/* Frames of a file. */
static void frame_words(char text[TEXT], const struct fit_measurement_file *x)
{
    append(text, TEXT, " (frames %ld..%ld of %zu, dt %.4g s", x->first, x->last, x->file_frames, x->dt);
    if (x->nmasked)
        append(text, TEXT, ", %zu masked", x->nmasked);
    append(text, TEXT, ")");
}

/* For several files: numbers and names, as in the brackets of parameters. */
static void files(FILE *f, int *left, const struct fit_results *r)
{
    const int own = r->kernel->space == FIT_PAIRS && frames_differ(r);
    char text[TEXT] = "";
    for (size_t k = 0; k < r->input->npart; k++) {
        append(text, sizeof text, "%sfile %zu: %s", k ? ", " : "", k + 1,
               text_file_name(r->input->part[k].file));
        if (own)
            frame_words(text, &r->input->part[k]);
    }
    wrapped(f, left, text);
}

/* Settings of the model in the model's units, which shows numbers given in another unit; for pairs those that the
 * head does not contain already. */
static void settings(FILE *f, int *left, const struct fit_results *r)
{
    char text[TEXT] = "";
    for (size_t s = 0; s < r->kernel->nsetting; s++) {
        const char *name = r->kernel->setting[s].name, *unit = r->kernel->setting[s].unit;
        const int in_head = strcmp(name, "q") == 0 || strcmp(name, "gap") == 0;
        if (r->kernel->space == FIT_PAIRS && in_head && !setting_differs(r, s))
            continue;
        append(text, sizeof text, "%s%s ", *text ? ", " : "", name);
        setting_values(text, r, s);
        append(text, sizeof text, "%s%s",
               unit && *unit && strcmp(unit, "1") != 0 ? " " : "", unit && strcmp(unit, "1") != 0 ? unit : "");
    }
    wrapped(f, left, text);
}

static void head(FILE *f, int *left, const struct fit_results *r)
{
    const struct fit_input *in = r->input;
    char text[TEXT] = "";
    if (r->kernel->space == FIT_ROWS) {
        append(text, sizeof text, "%s  ", r->kernel->name);
        file_words(text, in);
        append(text, sizeof text, "  %zu rows", r->ds->nrow);
        if (r->kernel->naxis)
            append(text, sizeof text, ", %zu %s of %s", r->fit->ngroup,
                   r->fit->ngroup == 1 ? "value" : "values", r->kernel->axis[0].name);
        line(f, left, "%s", text);
        files(f, left, r);
        settings(f, left, r);
        return;
    }
    append(text, sizeof text, "%s  ", r->kernel->name);
    file_words(text, in);
    line(f, left, "%s  (%s)", text, in->layout);
    *text = 0;
    const enum fit_group_kind kind = fit_input_groups(in, r->fit->ngroup);
    if (in->q > 0)
        append(text, sizeof text, "q %.4g 1/angstrom, ", in->q);
    else if (in->q_group)
        append(text, sizeof text, "q %.4g .. %.4g 1/angstrom, ", in->q_group[0], in->q_group[r->fit->ngroup - 1]);
    if (in->gap > 0)
        append(text, sizeof text, "gap %.4g um, ", in->gap / 1e4);
    append(text, sizeof text, "%zu %s", r->fit->ngroup, fit_group_word(kind, r->fit->ngroup));
    const int alike = !frames_differ(r); /* otherwise each file tells its own */
    if (alike)
        append(text, sizeof text, ", frames %zu..%zu of %zu, dt %.4g s", in->first, in->last, in->nfile, in->dt);
    if (alike && in->nmasked)
        append(text, sizeof text, ", %zu masked", in->nmasked);
    line(f, left, "%s", text);
    files(f, left, r);
    settings(f, left, r);
}

/* "negative binomial" */
static const char *law_words(const struct fit_results *r)
{
    static const char *const words[] = {
#define LAW(KIND, word, words) [FIT_LAW_##KIND] = words,
#include "common/laws.def"
    };
    return words[r->kernel->density->law];
}

static void noise(FILE *f, int *left, const struct fit_results *r)
{
    const struct fit_result *fit = r->fit;
    double least = INFINITY, most = 0;
    for (size_t g = 0; g < fit->ngroup; g++) {
        least = fmin(least, fit->sigma[g]);
        most = fmax(most, fit->sigma[g]);
    }
    char text[64];
    if (fit->ngroup == 1 || most <= 1.02 * least) /* all alike, or all 0 */
        snprintf(text, sizeof text, "%.4g", fit->sigma_common);
    else
        snprintf(text, sizeof text, "%.4g .. %.4g by %s", least, most,
                 r->kernel->space == FIT_PAIRS ? fit_group_word(fit_input_groups(r->input, fit->ngroup), 1)
                 : r->kernel->naxis ? r->kernel->axis[0].name
                                    : "row");
    const struct fit_config_nlsq *how = &r->config->nlsq;
    if (how->loss.value != FIT_LOSS_LINEAR)
        line(f, left, "loss %s, f_scale %.4g sigma", fit_loss_name((enum fit_loss)how->loss.value),
             how->f_scale.value);
    if (fit->noise == FIT_NOISE_LAW)
        line(f, left, "%zu points, errors %s; log likelihood %.6g", fit->npoint, law_words(r), fit->log_likelihood);
    else if (fit->noise == FIT_NOISE_FILE)
        line(f, left, "%zu points, weighted by the errors in the file", fit->npoint);
    else if (fit->noise == FIT_NOISE_GIVEN)
        line(f, left, "%zu points, noise as given; residuals %s", fit->npoint, text);
    else
        line(f, left, "%zu points, noise %s (%sfrom the residuals)", fit->npoint, text,
             fit->ngroup == 1 || most <= 1.02 * least ? "estimated " : ""); /* a range takes its room */
}

/* The text in place of an error, or after it. */
static const char *remark(const struct fit_results *r, size_t k)
{
    if (fit_results_fixed(r, k))
        return "held";
    if (r->fit->at_bound[k])
        return r->fit->at_bound[k] < 0 ? "AT LOWER BOUND" : "AT UPPER BOUND";
    if (isnan(r->fit->std[k]) || r->fit->reason[k] >= 0)
        return "UNDETERMINED";
    return "";
}

/* A parameter with a known interval instead of an error; 0 when it is not of this kind. */
static int interval(FILE *f, int *left, const struct fit_results *r, size_t k)
{
    struct fit_full_param p = fit_results_param(r, k);
    const char *unit = strcmp(p.param->unit, "1") == 0 ? "" : p.param->unit;
    char text[128], value[40], row[TEXT] = "", behind[TEXT] = "";
    if (!isnan(r->fit->std[k]) || !fit_results_interval_text(r, k, text, sizeof text))
        return 0;
    double lower[2], upper[2];
    fit_profile_interval(r->fit, k, lower, upper);
    fit_format_unsure(p.value, lower[1], upper[1], value, sizeof value);
    int wide = fit_results_shows_robust(r) ? 18 : 20;
    append(row, sizeof row, "  %-*s %14s    %s", wide, p.param->name, value, text);
    if (r->fit->at_bound[k])
        append(behind, sizeof behind, "%s%s%s", unit, *unit ? "  " : "", remark(r, k));
    else
        append(behind, sizeof behind, "%s", unit);
    const int fits = strlen(row) + 2 + strlen(behind) <= WIDTH;
    line(f, left, "%s%s%s", row, fits && *behind ? "  " : "", fits ? behind : "");
    if (!fits && *behind) {
        *left += 1;
        line(f, left, "  %-*s %14s    %s", wide, "", "", behind);
    }
    return 1;
}

static void parameter(FILE *f, int *left, const struct fit_results *r, size_t k)
{
    if (interval(f, left, r, k))
        return;
    struct fit_full_param p = fit_results_param(r, k);
    char value[40], error[40], name[64];
    const char *unit = strcmp(p.param->unit, "1") == 0 ? "" : p.param->unit;
    snprintf(name, sizeof name, "%s", p.param->name);
    fit_format_error(p.value, r->fit->std[k], value, sizeof value, error, sizeof error);
    if (!error[0] && !fit_results_fixed(r, k) && !r->fit->at_bound[k])
        fit_format_unsure(p.value, NAN, NAN, value, sizeof value);
    if (fit_results_shows_robust(r)) {
        char ignored[40], robust[40];
        fit_format_error(p.value, r->std_robust[k], ignored, sizeof ignored, robust, sizeof robust);
        line(f, left, error[0] ? "  %-18s %14s %s %-9s %-9s %-12s %s" : "  %-18s %14s %s %.0s%.0s%-19s %s", name, value,
             error[0] ? "+-" : "  ", error, robust, error[0] ? unit : remark(r, k), error[0] ? remark(r, k) : unit);
        return;
    }
    line(f, left, "  %-20s %14s %s %-11s %-13s %s", name, value, error[0] ? "+-" : "  ", error,
         unit, remark(r, k));
}

/* "1234 .. 1300" and the errors of several values of one parameter, as a row of the table. */
struct row {
    const char *name, *unit, *remark;
    size_t n;
    double least, most, std, robust;
};

static void row_add(struct row *w, double value, double std, double robust)
{
    w->least = w->n ? fmin(w->least, value) : value;
    w->most = w->n ? fmax(w->most, value) : value;
    w->std = w->n ? fmax(w->std, std) : std;
    w->robust = w->n ? fmax(w->robust, robust) : robust;
    w->n++;
}

static void row_print(FILE *f, int *left, const struct fit_results *r, const struct row *w)
{
    char low[40], high[40], error[40], robust[40] = "", ignored[40], value[96], what[64];
    const char *unit = strcmp(w->unit, "1") == 0 ? "" : w->unit;
    fit_format_error(w->least, w->std, low, sizeof low, error, sizeof error);
    fit_format_error(w->most, w->std, high, sizeof high, error, sizeof error);
    if (fit_results_shows_robust(r))
        fit_format_error(w->least, w->robust, ignored, sizeof ignored, robust, sizeof robust);
    snprintf(value, sizeof value, w->n > 1 ? "%s .. %s" : "%s", low, high);
    snprintf(what, sizeof what, w->n > 1 ? "%zu, %s" : "%.0zu%s", w->n > 1 ? w->n : 0, w->remark); /* 13 columns */
    int wide = w->n > 1;
    if (fit_results_shows_robust(r))
        line(f, left, "  %-*s %*s %s %-9s %-9s %-*s%s", wide ? 12 : 18, w->name, wide ? 20 : 14, value,
             error[0] ? "+-" : "  ", error, robust, wide && !*unit ? 0 : 13, unit, what);
    else
        line(f, left, "  %-*s %*s %s %-11s %-*s%s", wide ? 14 : 20, w->name, wide ? 20 : 14, value,
             error[0] ? "+-" : "  ", error, wide && !*unit ? 0 : 14, unit, what);
}

/* Parameters that follow others; the values of several groups in one line. */
static void tied(FILE *f, int *left, const struct fit_results *r)
{
    const struct fit_result *fit = r->fit;
    for (size_t k = 0; r->link && k < r->link->ntied;) {
        const struct fit_linkage_tied *t = &r->link->tied[k];
        struct row w = {.name = t->param->name, .unit = t->param->unit, .remark = t->series ? "SERIES" : "TIED"};
        for (; k < r->link->ntied && r->link->tied[k].inner == t->inner; k++)
            row_add(&w, fit_linkage_value(r->link, k, fit->theta, fit->lin),
                    fit_linkage_std(r->link, k, fit->covariance, fit->nfull),
                    fit_linkage_std(r->link, k, fit->covariance_robust, fit->nfull));
        row_print(f, left, r, &w);
    }
}

/* Derived quantities; the values of several groups in one line. */
static void derived(FILE *f, int *left, const struct fit_results *r)
{
    const struct fit_result *fit = r->fit;
    for (size_t k = 0; k < fit->nderived;) {
        const struct fit_derived_value *d = &fit->derived[k];
        const struct fit_derived *x = &r->kernel->derived[d->which];
        struct row w = {.name = x->name, .unit = x->unit, .remark = "derived"};
        for (; k < fit->nderived && fit->derived[k].which == d->which; k++)
            row_add(&w, fit->derived[k].value, fit->derived[k].std, fit->derived[k].std_robust);
        row_print(f, left, r, &w);
    }
}

/* The reason why some have no error. */
static void derived_reasons(FILE *f, int *left, const struct fit_results *r)
{
    char text[TEXT];
    for (size_t k = 0; k < r->fit->nderived; k++) {
        const struct fit_derived_value *d = &r->fit->derived[k];
        if (!d->reason[0] || (k && d[-1].which == d->which && d[-1].reason[0]))
            continue;
        snprintf(text, sizeof text, "%s has no error: %s", r->kernel->derived[d->which].name, d->reason);
        wrapped(f, left, text);
    }
}

/* Lines that these take. */
static int derived_lines(const struct fit_results *r)
{
    int n = (int)r->kernel->nderived;
    for (size_t k = 0; k < r->fit->nderived; k++)
        n += r->fit->derived[k].reason[0] ? 1 + (int)(strlen(r->fit->derived[k].reason) / (WIDTH - 40)) : 0;
    return n;
}

/* What they follow. */
static void relations(FILE *f, int *left, const struct fit_results *r)
{
    char text[TEXT];
    for (size_t k = 0; r->link && k < r->link->ntied; k++) {
        if (k && r->link->tied[k].inner == r->link->tied[k - 1].inner)
            continue;
        snprintf(text, sizeof text, "%s%s = %s", r->link->tied[k].series ? "" : "tied: ",
                 r->link->tied[k].param->name, r->link->tied[k].text);
        wrapped(f, left, text);
    }
}

/* Lines that these two take. */
static int tied_lines(const struct fit_results *r)
{
    int n = 0;
    for (size_t k = 0; r->link && k < r->link->ntied; k++)
        if (k == 0 || r->link->tied[k].inner != r->link->tied[k - 1].inner)
            n += 2 + (int)(strlen(r->link->tied[k].text) / (WIDTH - 30));
    return n;
}

/* Values of one parameter for more groups than this stand in one line. */
enum { VALUES = 6 };

/* Number of values, from index[i] on, of the same parameter of the model. */
static size_t values_of(const struct fit_results *r, const size_t *index, size_t i, size_t n)
{
    size_t m = 1;
    if (!r->link || index[i] >= r->kernel->nparam)
        return 1;
    while (i + m < n && index[i + m] < r->kernel->nparam && r->link->of[index[i + m]] == r->link->of[index[i]])
        m++;
    return m;
}

static void values_row(FILE *f, int *left, const struct fit_results *r, const size_t *index, size_t n)
{
    const struct fit_param *p = &r->link->inner->param[r->link->of[index[0]]];
    struct row w = {.name = p->name, .unit = p->unit, .remark = "see fit.json"};
    for (size_t i = 0; i < n; i++)
        row_add(&w, r->fit->theta[index[i]], r->fit->std[index[i]], r->std_robust ? r->std_robust[index[i]] : NAN);
    row_print(f, left, r, &w);
}

/* A linear parameter of every group, in one line. */
static void per_group(FILE *f, int *left, const struct fit_results *r, size_t q)
{
    const struct fit_result *fit = r->fit;
    double least = INFINITY, most = -INFINITY, std = 0, wider = 0;
    size_t bounds = 0;
    for (size_t g = 0; g < fit->ngroup; g++) {
        size_t k = fit->nparam + g * fit->nlinear + q;
        least = fmin(least, fit->lin[g * fit->nlinear + q]);
        most = fmax(most, fit->lin[g * fit->nlinear + q]);
        std = fmax(std, fit->std[k]);
        wider = fmax(wider, r->std_robust ? r->std_robust[k] : 0);
        bounds += fit->at_bound[k] != 0;
    }
    if (fit->ngroup == 1) {
        parameter(f, left, r, fit->nparam + q);
        return;
    }
    char low[40], high[40], error[40], text[96];
    fit_format_error(least, std, low, sizeof low, error, sizeof error);
    fit_format_error(most, std, high, sizeof high, error, sizeof error);
    snprintf(text, sizeof text, "%s .. %s", low, high);
    char what[64];
    if (r->kernel->space == FIT_PAIRS)
        snprintf(what, sizeof what, "%s", fit_group_word(fit_input_groups(r->input, fit->ngroup), 2));
    else
        snprintf(what, sizeof what, "values of %s", r->kernel->naxis ? r->kernel->axis[0].name : "");
    if (fit_results_shows_robust(r)) {
        char robust[40];
        fit_format_error(least, wider, low, sizeof low, robust, sizeof robust);
        line(f, left, "  %-12s %20s %s %-9s %-9s %zu %s%s", r->kernel->linear[q].name, text,
             error[0] ? "+-" : "  ", error, robust, fit->ngroup, what, bounds ? ", AT BOUND" : "");
        return;
    }
    line(f, left, "  %-14s %20s %s %-11s %zu %s%s", r->kernel->linear[q].name, text,
         error[0] ? "+-" : "  ", error, fit->ngroup, what, bounds ? ", AT BOUND" : "");
}

/* Replaces rows when there are too many. */
static void names_of_others(FILE *f, int *left, const struct fit_results *r, size_t n, const size_t *index)
{
    char text[WIDTH] = "";
    size_t k = 0;
    for (; k < n; k++) {
        const char *name = fit_results_param(r, index[k]).param->name;
        if (strlen(text) + strlen(name) + 30 > WIDTH)
            break;
        append(text, sizeof text, "%s%s", k ? ", " : "", name);
    }
    if (k < n)
        append(text, sizeof text, " and %zu more", n - k);
    line(f, left, "  ... %s: in fit.json", text);
}

static void quality(FILE *f, int *left, const struct fit_results *r)
{
    const struct fit_result *fit = r->fit;
    char text[TEXT] = "";
    size_t a = 0, b = 0;
    double c = fit_results_strongest(r, &a, &b);
    if (!isnan(fit->reduced_chi2)) { /* relative to the known noise, or to that of neighbouring values */
        append(text, sizeof text, "chi2/dof %.4f", fit->reduced_chi2);
        if (fit->noise == FIT_NOISE_RESIDUALS && !isnan(fit->local_sigma))
            append(text, sizeof text, " (noise of neighbouring values%s %.4g)",
                   r->config->nlsq.loss.value == FIT_LOSS_LINEAR ? "" : ", outliers included,", fit->local_sigma);
        append(text, sizeof text, "  ");
    }
    if (r->maps)
        append(text, sizeof text, "nrmse %.4g", r->maps->nrmse);
    if (c != 0)
        append(text, sizeof text, "  correlation %s/%s %.3f%s", fit_results_param(r, a).param->name,
               fit_results_param(r, b).param->name, c, fabs(c) > 0.95 ? " (!)" : "");
    wrapped(f, left, text);
    for (size_t k = 0; k < fit->nnull && k < fit->neigen; k++) {
        char direction[256];
        if (fit_results_explained(r, k))
            continue;
        fit_results_direction(r, k, direction, sizeof direction);
        line(f, left, "not determined by the data: %s", direction);
    }
}

/* The combinations that stay determined, as further rows of the table. */
static void combinations(FILE *f, int *left, const struct fit_results *r)
{
    for (size_t k = 0; k < r->fit->ncombination; k++) {
        const struct fit_combination *c = &r->kernel->combination[k];
        const int robust = fit_results_shows_robust(r), wide = robust ? 18 : 20;
        char value[40], error[40];
        if (!(r->fit->combination_std[k] > 0))
            continue;
        fit_format_error(r->fit->combination[k], r->fit->combination_std[k], value, sizeof value, error, sizeof error);
        const char *name = c->text;
        const int room = wide + 14 - (int)strlen(value); /* for the name, with the unused part of the value's column */
        if ((int)strlen(name) > room) {
            *left += 1;
            line(f, left, "  %s", name);
            name = "";
        }
        const int over = (int)strlen(name) > wide ? (int)strlen(name) - wide : 0;
        line(f, left, "  %-*s %*s +- %-*s %s", wide, name, 14 - over, value, robust ? 19 : 11, error,
             strcmp(c->unit, "1") == 0 ? "" : c->unit);
    }
}

static int tells_any(const struct fit_results *r, const struct fit_degeneracy *d)
{
    int any = 0;
    for (size_t i = d->first; i < d->first + d->ncombination; i++)
        any |= !isnan(r->fit->combination_std[i]);
    return any;
}

/* "f0, f2: only f0 exp(-f1 f2) is determined"; the whole sentence is in fit.json. */
static void degeneracy_text(const struct fit_results *r, size_t n, char *text, size_t size)
{
    const struct fit_kernel *k = r->kernel;
    const struct fit_degeneracy *d = &k->degeneracy[r->fit->degenerate[n].which];
    *text = '\0';
    if (d->kind >= FIT_DEGENERATE_MIRROR || (d->ncombination == 0 && !d->each)) {
        snprintf(text, size, "%s", r->fit->degenerate[n].text);
        return;
    }
    for (size_t i = 0; i < d->nparam; i++)
        append(text, size, "%s%s", i ? ", " : "",
               (d->param[i] < k->nparam ? &k->param[d->param[i]] : &k->linear[d->param[i] - k->nparam])->name);
    if (d->each || !tells_any(r, d)) {
        append(text, size, d->each ? ": without effect" : ": not told apart");
    } else {
        for (size_t i = 0; i < d->ncombination; i++)
            append(text, size, "%s%s", i ? ", " : ": only ", k->combination[d->first + i].text);
        append(text, size, d->ncombination > 1 ? " are determined" : " is determined");
    }
    if (d->kind == FIT_DEGENERATE_AT_VALUE)
        append(text, size, fit_results_fixed(r, (size_t)d->condition) ? " (%s = %g)" : " (%s consistent with %g)",
               k->param[d->condition].name, d->value);
    if (d->kind == FIT_DEGENERATE_ONE_GROUP)
        append(text, size, " (one %s)", k->naxis ? k->axis[0].name : "group");
}

static void degeneracies(FILE *f, int *left, const struct fit_results *r)
{
    char text[TEXT];
    for (size_t k = 0; k < r->fit->ndegenerate; k++) {
        degeneracy_text(r, k, text, sizeof text);
        wrapped(f, left, text);
    }
}

/* Lines that the two above will take. */
static int degenerate_lines(const struct fit_results *r)
{
    int n = 0;
    for (size_t k = 0; k < r->fit->ncombination; k++)
        n += r->fit->combination_std[k] > 0;
    for (size_t k = 0; k < r->fit->ndegenerate; k++) {
        char text[TEXT];
        degeneracy_text(r, k, text, sizeof text);
        n += 1 + (int)(strlen(text) / (WIDTH - 6));
    }
    return n;
}

/* The first parameter at a bound, and the number of others. */
static void at_bounds(FILE *f, int *left, const struct fit_results *r)
{
    const struct fit_result *fit = r->fit;
    size_t n = 0, first = 0;
    for (size_t k = fit->nfull; k-- > 0;)
        if (fit->at_bound[k] && fit->reason[k] < 0 && !fit_results_fixed(r, k)) {
            first = k;
            n++;
        }
    if (n == 1)
        line(f, left, "errors hold only with %s at its bound",
             fit_results_param(r, first).param->name);
    else if (n)
        line(f, left, "errors hold only with %s and %zu more at their bounds",
             fit_results_param(r, first).param->name, n - 1);
}

/* Minima besides the best; those that fit equally well are other solutions. */
static void other_minima(FILE *f, int *left, const struct fit_results *r)
{
    const struct fit_result *fit = r->fit;
    size_t equal = 0;
    for (size_t k = 1; k < fit->nminimum; k++)
        equal += fit->minima[k].above < 0.1;
    if (fit->nminimum < 2)
        return;
    if (equal)
        line(f, left, equal == 1 ? "OTHER ANSWERS: %zu other minimum fits as well (fit.json: minima)"
                            : "OTHER ANSWERS: %zu other minima fit as well (fit.json: minima)", equal);
    else
        line(f, left, "%zu other minim%s found, chi2 larger by %.3g or more (fit.json: minima)",
             fit->nminimum - 1, fit->nminimum == 2 ? "um" : "a", fit->minima[1].above);
}

/* A rate of which the data determine a value and a slope, not the three parameters; "" for others. */
static void rate_text(const struct fit_results *r, const struct fit_rate_value *x, char *text, size_t size)
{
    char formula[200], value[40], error[40];
    const char *unit = r->kernel->param[x->offset].unit;
    text[0] = '\0';
    if (!x->needed || !(x->std > 0))
        return;
    fit_results_rate(r, x, formula, sizeof formula);
    fit_format_error(x->value, x->std, value, sizeof value, error, sizeof error);
    append(text, size, "best determined: %s at t = %.4g s: %s +- %s%s%s", formula, x->time, value, error,
           unit && *unit ? " " : "", unit ? unit : "");
    if (x->slope_std > 0) {
        fit_format_error(x->slope, x->slope_std, value, sizeof value, error, sizeof error);
        append(text, size, ", slope along ln t %s +- %s", value, error);
    }
}

/* The meaning of the amplitude of a rate that is fixed as constant: "D0: transport coefficient ...; of plain
 * diffusion, 2 D". */
static void constant_text(const struct fit_results *r, size_t k, char *text, size_t size)
{
    const struct fit_rate *x = &r->kernel->rate[k];
    const struct fit_param *amplitude = &r->kernel->param[x->amplitude];
    const double *value = r->fit->theta;
    text[0] = '\0';
    if (r->kernel->space == FIT_PAIRS && amplitude->doc && fit_results_fixed(r, x->exponent) &&
        value[x->exponent] == 0 && fit_results_fixed(r, x->offset) && value[x->offset] == 0 &&
        !fit_results_fixed(r, x->amplitude))
        append(text, size, "%s: %s", amplitude->name, amplitude->doc);
}

static void rates(FILE *f, int *left, const struct fit_results *r)
{
    char text[TEXT];
    for (size_t k = 0; k < r->kernel->nrate; k++) {
        constant_text(r, k, text, sizeof text);
        if (*text)
            wrapped(f, left, text);
    }
    for (size_t k = 0; k < r->fit->nrate; k++) {
        const struct fit_rate_value *x = &r->fit->rate[k];
        rate_text(r, x, text, sizeof text);
        wrapped(f, left, text);
        if (!text[0])
            continue;
        fit_results_rate_cure(r, x, text, sizeof text);
        if (text[0] && !strstr(fit_results_quality(r).text, text))
            line(f, left, "  %s", text);
    }
}

static int lines_of(const char *text)
{
    return text[0] ? 1 + (int)(strlen(text) / (WIDTH - 10)) : 0;
}

static int rate_lines(const struct fit_results *r)
{
    char text[TEXT];
    int n = 0;
    for (size_t k = 0; k < r->kernel->nrate; k++) {
        constant_text(r, k, text, sizeof text);
        n += lines_of(text);
    }
    for (size_t k = 0; k < r->fit->nrate; k++) {
        rate_text(r, &r->fit->rate[k], text, sizeof text);
        n += text[0] ? 2 + (int)(strlen(text) / (WIDTH - 10)) : 0;
    }
    return n;
}

/* Names of the columns of errors, when there are two. */
static void robust_head(FILE *f, int *left, const struct fit_results *r)
{
    if (fit_results_shows_robust(r))
        line(f, left, "  %-18s %14s    %-9s %s", "", "", "standard", "robust error");
}

/* The findings from the residuals, unless the verdict states them. */
static void noise_text(const struct fit_results *r, char *text, size_t size)
{
    fit_results_noise_words(r, text, size);
    if (strstr(fit_results_quality(r).text, text))
        *text = '\0';
}

static void noise_words(FILE *f, int *left, const struct fit_results *r)
{
    char text[TEXT];
    noise_text(r, text, sizeof text);
    wrapped(f, left, text);
    fit_results_estimator_words(r, text, sizeof text);
    wrapped(f, left, text);
}

/* Lines that these take. */
static int noise_lines(const struct fit_results *r)
{
    char text[TEXT];
    noise_text(r, text, sizeof text);
    const int n = fit_results_shows_robust(r) + lines_of(text);
    fit_results_estimator_words(r, text, sizeof text);
    return n + lines_of(text);
}

static void verdict(FILE *f, int *left, const struct fit_results *r)
{
    const struct fit_result *fit = r->fit;
    const char *word = fit->status == FIT_AT_BOUND      ? "CONVERGED, AT A BOUND"
                       : fit->converged                 ? "CONVERGED"
                       : fit->status == FIT_INTERRUPTED ? "INTERRUPTED"
                                                        : "NOT CONVERGED";
    char text[TEXT] = "";
    append(text, sizeof text, "%s: %s", word, fit->message);
    line(f, left,
         "%zu step%s, %.2f s (load %.2f, start %.2f, fit %.2f, write %.2f) %d thread%s %.0f MB",
         fit->accepted, fit->accepted == 1 ? "" : "s", r->wall_seconds, r->load_seconds, fit->seconds.start,
         fit->seconds.fit + fit->seconds.covariance, r->maps_seconds + r->write_seconds,
         fit->threads, fit->threads == 1 ? "" : "s", r->peak_mb);
    line(f, left, "-> %s", r->folder);
    wrapped(f, left, text);
    struct fit_quality q = fit_results_quality(r);
    snprintf(text, sizeof text, "quality: %s: %s", q.word, q.text);
    wrapped(f, left, text);
}

/* Lines that the quality takes. */
static int quality_lines(const struct fit_results *r)
{
    return 1 + (int)(strlen(fit_results_quality(r).text) / (WIDTH - 14));
}

void fit_write_summary(const struct fit_results *r, FILE *f)
{
    const struct fit_kernel *k = r->kernel;
    int left = LINES;
    FIT_OWNED size_t *index = malloc((k->nparam + k->nlinear + 1) * sizeof *index);
    size_t n = index ? fit_results_table(r, index) : 0, per = 0;
    for (size_t q = 0; q < k->nlinear; q++)
        per += k->linear[q].over >= 0;
    head(f, &left, r);
    noise(f, &left, r);
    int keep =
        7 + quality_lines(r) + (r->fit->nminimum > 1) + (int)per + degenerate_lines(r); /* lines behind the table */
    left += quality_lines(r) + rate_lines(r) + degenerate_lines(r) + noise_lines(r) + tied_lines(r) + derived_lines(r);
    keep += tied_lines(r) + derived_lines(r);
    keep += noise_lines(r) + rate_lines(r);
    for (size_t i = 0; i < r->fit->nnull; i++)
        keep += !fit_results_explained(r, i);
    robust_head(f, &left, r);
    const int rows = n < ROWS ? (int)n : ROWS;
    if (left < rows + keep + 1)
        left = rows + keep + 1;
    for (size_t i = 0; i < n; i++) {
        if (left - keep <= 1 && i + 1 < n) {
            names_of_others(f, &left, r, n - i, index + i);
            break;
        }
        size_t values = values_of(r, index, i, n);
        if (values > VALUES) {
            values_row(f, &left, r, index + i, values);
            i += values - 1;
        } else {
            parameter(f, &left, r, index[i]);
        }
    }
    tied(f, &left, r);
    combinations(f, &left, r);
    for (size_t q = 0; q < k->nlinear; q++)
        if (k->linear[q].over >= 0)
            per_group(f, &left, r, q);
    derived(f, &left, r);
    derived_reasons(f, &left, r);
    relations(f, &left, r);
    degeneracies(f, &left, r);
    rates(f, &left, r);
    quality(f, &left, r);
    noise_words(f, &left, r);
    at_bounds(f, &left, r);
    other_minima(f, &left, r);
    verdict(f, &left, r);
}
