/* results_quality.c -- a verdict about a fit in one word and one sentence.
 *
 * Only what was looked at counts: "good" needs an end that was reached, residuals no larger than a noise that is
 * known without the model, a signal in the data, and errors for all parameters.  Data without signal (a constant
 * explains them as well, and itself has residuals no larger than the noise) make every model fit; they are "flat",
 * however small chi2.  Where nothing but contrasts was fitted the model was not tried ("held"); residuals far below the
 * noise that was given, some far off all others, those of neighbouring rows alike, or a parameter that a first frame at
 * t = 0 decides about make a fit "doubtful".
 *
 * How large chi2 may be: rows of a table with known errors are independent, so that chi2 has its distribution; a
 * probability below IMPROBABLE is doubtful.  It is so for any residuals where values are many, since no error is known
 * to a fraction of a per cent; TOLERATED is free.  Pairs of frames share frames and are not independent: for them, and
 * for "poor", the limit is SURPRISE standard deviations besides.
 */
#include "profile.h"
#include "results.h"
#include "special.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Standard deviations of chi2 (of its noise alone) that are no surprise, and a part of it that is none either:
 * the noise itself is known to a few per cent. */
static const double SURPRISE = 5, TOLERATED = 0.05;
/* Probability of chi2 of independent rows below which it is a surprise. */
static const double IMPROBABLE = 1e-3;
/* Variance of the estimate of sigma by the median of |r|, relative to that by the mean square (Rousseeuw & Croux, J. Am.
 * Stat. Assoc. 88 (1993) 1273: efficiency 37 %). */
static const double MEDIAN_SCATTER = 2.72;
/* Residuals of less than this part of the noise that was given: it is too large. */
static const double TOO_SMALL = 0.5;
/* Kurtosis of residuals from which some of them are not noise (normal: 3). */
static const double OUTLIERS = 10;
/* Factor between robust and usual errors from which residuals are not those of independent noise. */
static const double CORRELATED = 2;
/* Standard deviations by which the first frame moves a parameter by chance. */
static const double CHANCE = 3;

/* By how much the model lowers chi2 below that of one constant for each group, in units of the noise; below that of 0
 * where the model has no constant of its own; NaN where the errors are no noise about a mean. */
static double gain_over_constant(const struct fit_results *r)
{
    const struct fit_result *f = r->fit;
    double gain = 0;
    const int constant = r->kernel->intercept >= 0;
    if (r->kernel->density)
        return NAN;
    for (size_t g = 0; g < f->ngroup; g++) {
        double w = 0, wy = 0, wyy = 0, s2 = f->sigma[g] * f->sigma[g];
        for (size_t t = 0; t < r->ds->ntile; t++) {
            const double *sum = &r->ds->tile[t].sum[3 * g];
            w += sum[0];
            wy += sum[1];
            wyy += sum[2];
        }
        if (w > 0 && s2 > 0)
            gain += (wyy - (constant ? wy * wy / w : 0)) / s2 - (double)r->ds->npoint_group[g];
    }
    return gain;
}

/* "; offset stands at its bound 0.5 ...; D0 stands at its bound 1e+05 ..." where the model's constant, and a parameter,
 * are not free to be those of the data; else empty. */
static void held_by_bound(const struct fit_results *r, char *text, size_t size)
{
    const struct fit_result *f = r->fit;
    const int q = r->kernel->intercept;
    *text = '\0';
    for (size_t g = 0; q >= 0 && g < f->ngroup && !*text; g++) {
        const size_t place = g * f->nlinear + (size_t)q;
        if (f->at_bound[f->nparam + place] && !fit_results_fixed(r, f->nparam + place))
            snprintf(text, size, "; %s stands at its bound %.4g%s", r->kernel->linear[q].name, f->lin[place],
                     r->kernel->space == FIT_PAIRS ? ": are the data normalised?" : "");
    }
    for (size_t k = 0; k < f->nparam; k++) {
        const char *name = r->kernel->param[k].name;
        if (!f->at_bound[k] || fit_results_fixed(r, k) || strchr(name, '['))
            continue;
        const size_t n = strlen(text);
        snprintf(text + n, size - n, "; %s stands at its bound %.4g: is that far enough (--bounds %s=LO:HI)?", name,
                 f->theta[k], name);
        return;
    }
}

/* The least chi2 by degrees of freedom that is no surprise (Wilson and Hilferty 1931); 0 for few of them. */
static double least_goodness(double dof)
{
    const double v = 2 / (9 * dof), root = 1 - v - SURPRISE * sqrt(v);
    return root > 0 ? root * root * root : 0;
}

/* Parameters by which a fit is judged: nonlinear ones, and of tables all (linear ones of pairs are the contrasts). */
static size_t judged(const struct fit_results *r)
{
    return r->kernel->space == FIT_PAIRS ? r->fit->nparam : r->fit->nfull;
}

/* Of pairs: contrasts, offsets without an error, one entry for those of all angles; named and counted as free ones. */
static size_t open_scaling(const struct fit_results *r, size_t *nfree, char *names, size_t size)
{
    const struct fit_result *f = r->fit;
    size_t n = 0;
    for (size_t q = 0; r->kernel->space == FIT_PAIRS && q < f->nlinear; q++) {
        size_t open = 0, at = strlen(names);
        for (size_t g = 0; g < f->ngroup; g++) {
            size_t k = f->nparam + g * f->nlinear + q;
            open += !fit_results_fixed(r, k) && !isfinite(f->std[k]);
        }
        if (open && at < size)
            snprintf(names + at, size - at, "%s%s of %zu of %zu angles", at ? ", " : "", r->kernel->linear[q].name, open,
                     f->ngroup);
        n += open > 0;
    }
    *nfree += n;
    return n;
}

/* Those of them that were free, and without an error. */
static size_t undetermined(const struct fit_results *r, size_t *nfree, char *names, size_t size)
{
    const size_t all = judged(r);
    size_t n = 0;
    *nfree = 0;
    *names = '\0';
    for (size_t k = 0; k < all; k++) {
        const struct fit_full_param p = fit_results_param(r, k);
        if (fit_results_fixed(r, k) ||
            (p.linear < r->fit->nlinear && p.group < 0 && k >= r->fit->nparam + r->fit->nlinear))
            continue; /* one value for all groups counts once */
        ++*nfree;
        if (isfinite(r->fit->std[k]))
            continue;
        size_t at = strlen(names);
        if (n < 4 && at < size && p.group >= 0)
            snprintf(names + at, size - at, "%s%s[%ld]", n ? ", " : "", p.param->name, p.group + 1);
        else if (n < 4 && at < size)
            snprintf(names + at, size - at, "%s%s", n ? ", " : "", p.param->name);
        else if (n == 4 && at < size)
            snprintf(names + at, size - at, ", ...");
        n++;
    }
    return n + open_scaling(r, nfree, names, size);
}

/* Why those of them have none that were free. */
static const char *why_open(const struct fit_results *r)
{
    const struct fit_result *f = r->fit;
    int bound = 0, interval = 0, unknown = 0, several = 0;
    for (size_t k = 0; k < f->nfull; k++) {
        if (fit_results_fixed(r, k) || isfinite(f->std[k]))
            continue;
        several |= f->interval[k].several;
        if (f->at_bound[k])
            bound = 1;
        else if (f->reason[k] < 0 && isfinite(f->std_curvature[k]))
            interval = 1;
        else
            unknown = 1;
    }
    return several ? "other minima fit as well or nearly so, or the cost is no paraboloid"
           : bound + interval + unknown > 1 ? "undetermined, on a bound, or known as an interval"
           : bound                        ? "on a bound"
           : interval                     ? "an interval is known in its place"
                                          : "the data do not determine it";
}

/* The cure of the first rate that may be simpler; else empty. */
static void simpler_rate(const struct fit_results *r, char *text, size_t size)
{
    *text = '\0';
    for (size_t k = 0; k < r->fit->nrate && !*text; k++) {
        const struct fit_rate_value *x = &r->fit->rate[k];
        if (x->needed && x->std > 0)
            fit_results_rate_cure(r, x, text, size);
    }
}

/* The largest kurtosis of residuals of any group; 0: not looked at. */
static double kurtosis(const struct fit_result *f)
{
    double most = 0;
    for (size_t g = 0; f->robust.kind != FIT_ROBUST_NONE && g < f->ngroup; g++)
        most = fmax(most, f->residual[g].kurtosis);
    return most;
}

/* "the first frame, at t = 0, decides about beta ...": the parameter that it moves most, by more than the error and more
 * than chance would.  Powers of t and trapezoids are coarse there, where rates may diverge.  Empty: none. */
static void first_frame_decides(const struct fit_results *r, char *text, size_t size)
{
    const struct fit_result *f = r->fit;
    const struct fit_layout *l = &r->ds->layout;
    double moved = 0;
    *text = '\0';
    if (r->kernel->space != FIT_PAIRS || !fit_robust_given(&f->robust) || l->time[l->frame[0]] != 0)
        return;
    for (size_t k = 0; k < f->nparam; k++) {
        double here = f->first_frame[k] / f->std_robust[k]; /* NaN without an error */
        if (!(fabs(here) > fmax(fabs(moved), 1) && fabs(f->first_frame[k]) > CHANCE * f->first_frame_std[k]))
            continue;
        moved = here;
        snprintf(text, size, "the first frame, at t = 0, decides about %s, %+.1f robust errors away without it: powers of t"
                             " are taken at dt/2 there, the integral to the next frame is a trapezoid; try --exclude-t0",
                 r->kernel->param[k].name, moved);
    }
}

/* Is there a parameter of which an interval has at least one end that the data set? */
static int any_limit(const struct fit_results *r)
{
    double lower[2], upper[2];
    for (size_t k = 0; k < judged(r); k++)
        if (fit_profile_interval(r->fit, k, lower, upper) != FIT_INTERVAL_NONE && !(isnan(lower[1]) && isnan(upper[1])))
            return 1;
    return 0;
}

static double freedom(const struct fit_result *f)
{
    return fmax((double)f->npoint - (double)f->nfree, 1);
}

double fit_results_chi2_p(const struct fit_results *r)
{
    const struct fit_result *f = r->fit;
    if (r->kernel->space == FIT_PAIRS || (f->noise != FIT_NOISE_FILE && f->noise != FIT_NOISE_GIVEN))
        return NAN;
    return fit_chi2_tail(f->goodness * freedom(f), freedom(f));
}

/* 1: most values are as near as the noise has them, and a robust loss makes little of the others. */
static int outliers_tamed(const struct fit_results *r)
{
    return r->config->nlsq.loss.value != FIT_LOSS_LINEAR &&
           r->fit->bulk <= 1 + TOLERATED + SURPRISE * sqrt(2 * MEDIAN_SCATTER / freedom(r->fit));
}

/* What makes residuals that are as large as the noise doubtful: some far off, neighbours alike, noise of another kind,
 * chi2 too large.  0: nothing. */
static int doubt(const struct fit_results *r, char *text, size_t size)
{
    const struct fit_result *f = r->fit;
    const int pairs = r->kernel->space == FIT_PAIRS, linear = r->config->nlsq.loss.value == FIT_LOSS_LINEAR;
    const double p = fit_results_chi2_p(r);
    double factor;
    const double alike = fit_results_neighbours(r, &factor);
    if (kurtosis(f) > OUTLIERS * (1 + 6 * sqrt(24 / fmax((double)f->npoint, 1))) && linear)
        snprintf(text, size,
                 "some values are far off (kurtosis of the residuals %.3g, not 3), and least squares follow "
                 "them: try loss soft_l1",
                 kurtosis(f));
    else if (alike > 0)
        fit_results_noise_words(r, text, size);
    else if (fit_results_wider(r) > CORRELATED && pairs)
        snprintf(text, size,
                 "residuals are as large as the noise but correlated: frames share noise, or the model does "
                 "not quite fit (see the maps of residuals); only robust errors hold");
    else if (fit_results_wider(r) > CORRELATED)
        snprintf(text, size,
                 "residuals are as large as the noise on the whole, but larger where it matters: some errors "
                 "of rows are too small, or the model does not quite fit; only robust errors hold");
    else if (p < IMPROBABLE && f->goodness > 1 + TOLERATED && linear)
        snprintf(text, size,
                 "residuals are %.3g times the noise; by chance chi2 is as large with a probability of %.1g: "
                 "errors of rows are too small, or the model does not quite fit",
                 sqrt(f->goodness), p);
    else
        return 0;
    return 1;
}

struct fit_quality fit_results_quality(const struct fit_results *r)
{
    const struct fit_result *f = r->fit;
    struct fit_quality q = {"unknown", ""};
    char names[160], stuck[300], first[240], why[300];
    size_t nfree, open = undetermined(r, &nfree, names, sizeof names);
    double gain = gain_over_constant(r), n = (double)f->nfree, dof = freedom(f);
    double limit = 1 + TOLERATED + SURPRISE * sqrt(2 / dof);
    const int needless = gain < n + SURPRISE * sqrt(2 * n);
    const char *constant = r->kernel->intercept < 0 ? "0" : "a constant for each group";
    held_by_bound(r, stuck, sizeof stuck);
    first_frame_decides(r, first, sizeof first);
    if (!f->converged) {
        q.word = "unfinished";
        snprintf(q.text, sizeof q.text, f->accepted ? "the fit did not reach its end: the values are those of the best "
                                                      "point so far"
                                                    : "no step led away from the start: the values are not a result");
    } else if (nfree == 0 && f->nparam > 0) {
        q.word = "held";
        snprintf(q.text, sizeof q.text, "all parameters of the model are held: it was not fitted%s",
                 isnan(f->goodness)      ? ""
                 : f->goodness > limit   ? "; residuals are larger than the noise"
                                         : "; residuals are as large as the noise");
    } else if (needless && !(f->goodness > limit)) {
        q.word = "flat";
        snprintf(q.text, sizeof q.text,
                 r->kernel->intercept < 0
                     ? "0 explains the data as well as the model: they tell nothing about it"
                     : "a constant for each group explains the data as well as the model: they tell nothing about it");
    } else if (f->goodness > limit && outliers_tamed(r)) {
        q.word = "doubtful";
        snprintf(q.text, sizeof q.text,
                 "some values are far off all others, by which residuals are %.3g times the noise; "
                 "most are as near as it has them, and loss %s makes little of the others",
                 sqrt(f->goodness), fit_loss_name((enum fit_loss)r->config->nlsq.loss.value));
    } else if (f->goodness > limit && needless) {
        q.word = "poor";
        snprintf(q.text, sizeof q.text,
                 "residuals are %.3g times the noise: the model explains the data no better than "
                 "%s does%s",
                 sqrt(f->goodness), constant, stuck);
    } else if (f->goodness > limit) {
        q.word = "poor";
        snprintf(q.text, sizeof q.text, "residuals are %.3g times the noise: the model does not explain the data, and "
                                        "errors that follow from the noise are too small%s%s%s",
                 sqrt(f->goodness), stuck, *first ? "; " : "", first);
    } else if (f->noise != FIT_NOISE_RESIDUALS && f->goodness < TOO_SMALL * least_goodness(dof)) {
        q.word = "doubtful";
        snprintf(q.text, sizeof q.text, f->noise == FIT_NOISE_LAW
                                            ? "residuals are only %.3g times the noise that the law of the errors has"
                                            : "residuals are only %.3g times the noise that was given: it is too large, and so are "
                                              "all errors", sqrt(f->goodness));
    } else if (*first || doubt(r, why, sizeof why)) {
        q.word = "doubtful";
        snprintf(q.text, sizeof q.text, "%s%s%s", *first ? first : why, open ? "; without error: " : "", names);
    } else if (nfree > 0 && open == nfree && !any_limit(r)) {
        q.word = "undetermined";
        snprintf(q.text, sizeof q.text, "the data determine none of the parameters by itself%s",
                 f->accepted ? "" : "; the start was kept");
    } else if (open > 0) {
        char cure[160];
        simpler_rate(r, cure, sizeof cure);
        q.word = "partial";
        snprintf(q.text, sizeof q.text, "no standard error for %s: %s%s%s%s", names, why_open(r),
                 isnan(f->goodness) ? "" : "; residuals are as large as the noise", *cure ? "; " : "", cure);
    } else if (isnan(f->goodness) && f->noise == FIT_NOISE_LAW) {
        snprintf(q.text, sizeof q.text, "the width of the errors is a part of the model: whether the model explains the "
                                        "data cannot be told");
    } else if (isnan(f->goodness)) {
        snprintf(q.text, sizeof q.text, "the noise is known from the residuals only: whether the model explains the "
                                        "data cannot be told");
    } else {
        q.word = "good";
        snprintf(q.text, sizeof q.text, "residuals are as large as the noise, and all parameters are determined");
    }
    return q;
}
