/* results.c -- properties of a fit that several writers of results need; see results.h. */
#include "base/number_text.h"
#include "results/results.h"
#include "errors/profile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fit_full_param fit_results_param(const struct fit_results *r, size_t k)
{
    const struct fit_kernel *kernel = r->kernel;
    if (k < kernel->nparam)
        return (struct fit_full_param){&kernel->param[k], -1, kernel->nlinear, r->fit->theta[k]};
    size_t place = k - kernel->nparam, q = place % kernel->nlinear, g = place / kernel->nlinear;
    const struct fit_param *p = &kernel->linear[q];
    return (struct fit_full_param){p, p->over < 0 ? -1 : (long)g, q, r->fit->lin[place]};
}

void fit_results_full_name(const struct fit_results *r, size_t k, char *text, size_t size)
{
    if (k >= r->fit->nfull) {
        const struct fit_derived_value *d = &r->fit->derived[k - r->fit->nfull];
        const char *derived = r->kernel->derived[d->which].name;
        if (d->group >= 0)
            snprintf(text, size, "%s[%ld]", derived, d->group);
        else
            snprintf(text, size, "%s", derived);
        return;
    }
    struct fit_full_param p = fit_results_param(r, k);
    if (p.group >= 0)
        snprintf(text, size, "%s[%ld]", p.param->name, p.group);
    else
        snprintf(text, size, "%s", p.param->name);
}

double fit_results_column_value(const struct fit_results *r, size_t column)
{
    const struct fit_result *f = r->fit;
    size_t linear = f->ngroup * f->nlinear;
    if (column < f->nparam)
        return f->theta[column];
    column -= f->nparam;
    if (column >= linear + f->ngroup)
        return f->derived[column - linear - f->ngroup].value;
    return column < linear ? f->lin[column] : f->sigma[column - linear];
}

double fit_results_column_std(const struct fit_results *r, size_t column)
{
    const struct fit_result *f = r->fit;
    const size_t sampled = f->nfull + f->ngroup;
    return column < f->nfull ? f->std[column] : column < sampled ? NAN : f->derived[column - sampled].std;
}

const char *fit_results_column_unit(const struct fit_results *r, size_t column)
{
    const struct fit_result *f = r->fit;
    const size_t sampled = f->nfull + f->ngroup;
    if (column < f->nfull)
        return fit_results_param(r, column).param->unit;
    return column < sampled ? "1" : r->kernel->derived[f->derived[column - sampled].which].unit;
}

size_t fit_results_table(const struct fit_results *r, size_t *index)
{
    size_t n = 0;
    for (size_t k = 0; k < r->kernel->nparam + r->kernel->nlinear; k++)
        if (k < r->fit->nfull && fit_results_param(r, k).group < 0)
            index[n++] = k;
    return n;
}

int fit_results_fixed(const struct fit_results *r, size_t k)
{
    return !(r->fit->upper[k] > r->fit->lower[k]);
}

double fit_results_strongest(const struct fit_results *r, size_t *a, size_t *b)
{
    size_t n = r->kernel->nparam + r->kernel->nlinear, nfull = r->fit->nfull;
    FIT_OWNED size_t *index = malloc((n + 1) * sizeof *index);
    double best = 0;
    size_t m = index ? fit_results_table(r, index) : 0;
    for (size_t i = 0; i < m; i++)
        for (size_t j = i + 1; j < m; j++) {
            double c = r->fit->correlation[index[i] * nfull + index[j]];
            if (fabs(c) > fabs(best)) {
                best = c;
                *a = index[i];
                *b = index[j];
            }
        }
    return best;
}

int fit_results_explained(const struct fit_results *r, size_t k)
{
    const struct fit_result *f = r->fit;
    const double *v = f->eigenvector + k * f->nparam;
    double largest = 0;
    for (size_t j = 0; j < f->nparam; j++)
        largest = fmax(largest, fabs(v[j]));
    for (size_t j = 0; j < f->nparam; j++)
        if (fabs(v[j]) > 1e-4 * largest && f->reason[j] < 0)
            return 0;
    return largest > 0;
}

void fit_results_direction(const struct fit_results *r, size_t k, char *text, size_t size)
{
    const struct fit_result *f = r->fit;
    const double *v = f->eigenvector + k * f->nparam;
    size_t lead = 0, at = 0;
    for (size_t j = 1; j < f->nparam; j++)
        if (fabs(v[j]) > fabs(v[lead]))
            lead = j;
    text[0] = '\0';
    if (f->nparam == 0 || v[lead] == 0)
        return;
    double turn = 0; /* the first one has a plus */
    for (size_t j = 0; j < f->nparam && at + 1 < size; j++) {
        double c = v[j] / v[lead];
        if (fabs(c) < 0.05)
            continue;
        turn = turn != 0 ? turn : c < 0 ? -1 : 1;
        c *= turn;
        const char *sign = at ? (c < 0 ? " - " : " + ") : "";
        int n = fabs(c) > 0.995
                    ? snprintf(text + at, size - at, "%s%s", sign, r->kernel->param[j].name)
                    : snprintf(text + at, size - at, "%s%.2g %s", sign, fabs(c), r->kernel->param[j].name);
        at += n > 0 ? (size_t)n : 0;
    }
}

void fit_results_rate(const struct fit_results *r, const struct fit_rate_value *x, char *text, size_t size)
{
    const struct fit_param *param = r->kernel->param;
    snprintf(text, size, "%s t^%s + %s", param[x->amplitude].name, param[x->exponent].name, param[x->offset].name);
}

/* 1: its slope is consistent with 0, and exponent and offset may be fixed at 0. */
static int is_constant(const struct fit_results *r, const struct fit_rate_value *x)
{
    const struct fit_result *f = r->fit;
    const double at[3] = {x->value, 0, 0};
    const size_t member[3] = {x->amplitude, x->exponent, x->offset};
    int inside = 1;
    for (int k = 0; k < 3; k++) /* one of several angles, alpha[45], cannot be fixed by itself */
        inside &= f->lower[member[k]] <= at[k] && at[k] <= f->upper[member[k]] &&
                  !strchr(r->kernel->param[member[k]].name, '[');
    return inside && fabs(x->slope) < 2 * x->slope_std;
}

/* The rate's offset has no error, and 0 is inside its 95 % interval. */
static int needs_no_offset(const struct fit_results *r, const struct fit_rate_value *x)
{
    double lower[2], upper[2];
    return !strchr(r->kernel->param[x->offset].name, '[') && r->fit->theta[x->offset] != 0 &&
           fit_profile_interval(r->fit, x->offset, lower, upper) == FIT_INTERVAL_PROFILE &&
           isnan(r->fit->std[x->offset]) && !(lower[1] > 0) && !(upper[1] < 0); /* NaN: open */
}

void fit_results_rate_cure(const struct fit_results *r, const struct fit_rate_value *x, char *text, size_t size)
{
    const struct fit_param *param = r->kernel->param;
    text[0] = '\0';
    if (is_constant(r, x))
        snprintf(text, size, "consistent with a constant rate: --fix %s=0 --fix %s=0", param[x->exponent].name,
                 param[x->offset].name);
    else if (needs_no_offset(r, x))
        snprintf(text, size, "consistent with a power of t alone: --fix %s=0", param[x->offset].name);
}

enum { MOST_SHOWN = 2 }; /* parts of an interval, on a line of the table */

/* One interval: "1.2 .. 1.9", "above 1.2". */
static void piece_text(double lower, double upper, double value, double width, char *text, size_t size)
{
    char low[40], high[40], none[40];
    if (isnan(upper) || isnan(lower)) { /* two digits of the distance from the value */
        const double end = isnan(upper) ? lower : upper;
        fit_format_error(end, fabs(end - value), low, sizeof low, none, sizeof none);
        snprintf(text, size, "%s %s", isnan(upper) ? "above" : "below", low);
        return;
    }
    fit_format_error(lower, width, low, sizeof low, none, sizeof none); /* as many digits as distinguish the two */
    fit_format_error(upper, width, high, sizeof high, none, sizeof none);
    snprintf(text, size, "%s .. %s", low, high);
}

int fit_results_interval_text(const struct fit_results *r, size_t k, char *text, size_t size)
{
    double lower[2], upper[2];
    text[0] = '\0';
    if (fit_profile_interval(r->fit, k, lower, upper) != FIT_INTERVAL_PROFILE)
        return 0;
    if (isnan(lower[1]) && isnan(upper[1]))
        return 0;
    const struct fit_union *u = &r->fit->interval[k].part[1];
    const double value = fit_results_param(r, k).value;
    char one[100];
    size_t used = 0;
    if (u->n > MOST_SHOWN) {
        piece_text(lower[1], upper[1], value, upper[1] - lower[1], one, sizeof one);
        snprintf(text, size, "%zu parts of %s (95 %%)", u->n, one);
        return 1;
    }
    for (size_t i = 0; i < u->n && used < size; i++) {
        const struct fit_piece *x = &u->piece[i];
        piece_text(x->open_lower ? NAN : x->lower, x->open_upper ? NAN : x->upper, value, x->upper - x->lower, one,
                   sizeof one);
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", one);
    }
    if (used < size)
        snprintf(text + used, size - used, " (95 %%)");
    return 1;
}

/* ---- noise ------------------------------------------------------------------------------------------------ */

double fit_results_wider(const struct fit_results *r)
{
    const struct fit_result *f = r->fit;
    return fit_robust_given(&f->robust) && f->robust.eta > 0 ? 1 / sqrt(f->robust.eta) : NAN;
}

int fit_results_shows_robust(const struct fit_results *r)
{
    const struct fit_result *f = r->fit;
    if (!r->std_robust)
        return 0;
    double most = 0.2;
    if (f->robust.kind == FIT_ROBUST_ROWS)
        most += 3 / sqrt(2 * (double)f->npoint);
    for (size_t k = 0; k < f->nfull; k++) {
        int shown = k < f->nparam || fit_results_param(r, k).group < 0;
        if (shown && f->std[k] > 0 && fabs(log(r->std_robust[k] / f->std[k])) > log1p(most))
            return 1;
    }
    return 0;
}

/* The strongest of the correlations of all groups, mean over groups, and its kind. */
static double strongest_residual(const struct fit_result *f, const char **what)
{
    double lag = 0, age = 0, share = 0, n = (double)f->ngroup;
    for (size_t g = 0; g < f->ngroup; g++) {
        lag += f->residual[g].along_lag / n;
        age += f->residual[g].along_age / n;
        share += f->residual[g].sharing / n;
    }
    *what = "pairs that share a frame";
    if (lag > 0.05 || age > 0.05) {
        *what = age > lag ? "neighbouring pairs of the same lag" : "neighbouring pairs";
        return age > lag ? age : lag;
    }
    return share;
}

/* Under independence the correlation of n neighbours has a standard error of 1/sqrt(n); for noise whose size varies
 * slowly it is sqrt(kurtosis / 3) times that. With a correlation that decays as powers of rho, a mean of rows, and
 * every smooth function of them, has sqrt((1 + rho)/(1 - rho)) times the standard error (Bartlett, J. R. Stat. Soc.
 * Suppl. 8 (1946) 27; Priestley, Spectral Analysis and Time Series, 1981, section 5.3). */
double fit_results_neighbours(const struct fit_results *r, double *factor)
{
    static const double TOLD = 3, MATTERS = 1.2;
    const struct fit_result *f = r->fit;
    double n = 0, sum = 0, square = 0;
    *factor = 1;
    for (size_t g = 0; f->robust.kind == FIT_ROBUST_ROWS && g < f->ngroup; g++) {
        const double rows = (double)r->ds->npoint_group[g];
        if (isnan(f->residual[g].along_lag))
            continue;
        n += rows;
        sum += rows * f->residual[g].along_lag;
        square += rows * fmax(f->residual[g].kurtosis / 3, 1);
    }
    if (!(sum > TOLD * sqrt(square)))
        return 0;
    double rho = fmin(sum / n, 0.99);
    *factor = sqrt((1 + rho) / (1 - rho));
    return *factor > MATTERS ? rho : 0;
}

int fit_results_misses(const struct fit_results *r)
{
    static const double FAR = 2;
    return r->fit->noise != FIT_NOISE_RESIDUALS && r->fit->reduced_chi2 > FAR;
}

static const char *cause(const struct fit_results *r)
{
    return fit_results_misses(r) ? "the model misses something or the noise is"
                                 : "the noise is or the model misses something";
}

/* Speckles of all groups. */
static double speckle_count(const struct fit_result *f)
{
    double count = 0;
    for (size_t g = 0; g < f->ngroup; g++)
        count += f->speckle[g].known == FIT_SPECKLE_BOTH ? f->speckle[g].count : 0;
    return count;
}

/* The number of speckles whose noise explains the residuals; 0: none does. */
static double speckles(const struct fit_result *f)
{
    static const double EXPLAINED = 0.01;
    return f->robust.kind == FIT_ROBUST_SPECKLE && f->speckle_test.p > EXPLAINED ? speckle_count(f) : 0;
}

/* Correlated residuals, and their effect on the errors. */
static void correlated_words(const struct fit_results *r, char *text, size_t size)
{
    const struct fit_result *f = r->fit;
    const char *what;
    const double wider = fit_results_wider(r);
    double rho = strongest_residual(f, &what);
    if (f->robust.kind == FIT_ROBUST_WITHHELD)
        snprintf(text, size,
                 "residuals of %s are correlated (%.2g), because %s: the usual errors are too small, and there are no "
                 "robust ones: %s",
                 what, rho, cause(r), f->robust.reason);
    else if (wider > 1.2 && speckles(f) > 0)
        snprintf(
            text, size,
            "the noise is like that of about %.2g speckles (p = %.2g): the usual errors are too small by a factor of "
            "%.2g; the robust ones allow for it",
            speckles(f), f->speckle_test.p, wider);
    else if (wider > 1.2)
        snprintf(text, size,
                 "residuals of %s are correlated (%.2g), because %s: the usual errors are too small by a factor "
                 "of %.2g; the robust ones allow for it",
                 what, rho, cause(r), wider);
}

/* The largest ratio, over nonlinear parameters, of least-squares errors to those of the efficient estimates; 0:
 * unknown. */
static double gain(const struct fit_result *f)
{
    const int used = f->estimates.used == FIT_ESTIMATOR_EFFICIENT;
    double most = 0;
    for (size_t k = 0; k < f->nparam; k++) {
        const double ratio = f->estimates.other_std[k] / f->std_robust[k];
        if (ratio > 0 && isfinite(ratio))
            most = fmax(most, used ? ratio : 1 / ratio);
    }
    return most;
}

void fit_results_estimator_words(const struct fit_results *r, char *text, size_t size)
{
    const struct fit_result *f = r->fit;
    const struct fit_estimates *e = &f->estimates;
    text[0] = '\0';
    if (e->used == FIT_ESTIMATOR_EFFICIENT) {
        int n = snprintf(text, size, "efficient estimates, which weigh pairs by the noise of about %.2g speckles",
                         speckle_count(f));
        if (gain(f) > 1.05 && (size_t)n < size)
            n += snprintf(text + n, size - (size_t)n, ": errors of least squares are up to %.2g times as large",
                          gain(f));
        if ((size_t)n < size)
            snprintf(text + n, size - (size_t)n, "; both %s (p %.2g)", e->p < 0.01 ? "differ" : "agree", e->p);
    } else if (e->compared) {
        snprintf(text, size, "least squares: %s (p %.2g)", e->reason, e->p);
    }
}

/* Added to text: noise that varies, or is not normal. */
static void shape_words(const struct fit_result *f, char *text, size_t size)
{
    double kurtosis = 0, least = INFINITY, most = 0;
    for (size_t g = 0; g < f->ngroup; g++)
        kurtosis = fmax(kurtosis, f->residual[g].kurtosis);
    for (size_t d = 0; d < FIT_RESIDUAL_DECILES; d++) {
        double v = 0;
        for (size_t g = 0; g < f->ngroup; g++)
            v += f->residual[g].decile[d] / (double)f->ngroup;
        least = fmin(least, v);
        most = fmax(most, v);
    }
    double n = (double)f->npoint / (double)f->ngroup, scatter = 6 * sqrt(24 / n);
    size_t at = strlen(text);
    if (most > 1.5 * least * (1 + scatter) && at < size)
        snprintf(text + at, size - at, "%sthe noise depends on the lag: its variance is %.2g .. %.2g of the mean",
                 at ? "; " : "", least, most);
    at = strlen(text);
    if (kurtosis > 4 + scatter && at < size)
        snprintf(text + at, size - at, "%sresiduals are not normal (kurtosis %.2g instead of 3)", at ? "; " : "",
                 kurtosis);
}

void fit_results_noise_words(const struct fit_results *r, char *text, size_t size)
{
    const struct fit_result *f = r->fit;
    double factor, rows = fit_results_neighbours(r, &factor);
    text[0] = '\0';
    if (rows > 0)
        snprintf(text, size,
                 "residuals of neighbouring rows are correlated (%.2g), because %s; errors, the robust ones "
                 "too, are too small by a factor of about %.2g",
                 rows, cause(r), factor);
    if (f->robust.kind == FIT_ROBUST_NONE || r->kernel->space != FIT_PAIRS)
        return;
    correlated_words(r, text, size);
    shape_words(f, text, size);
}
