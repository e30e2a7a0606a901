/* quality.c -- a verdict about a fit in one word and one sentence: the only file that makes it.
 *
 * Only facts that were examined count: "good" requires convergence, residuals without evidence against the model, a
 * signal in the data, and for each parameter an error or an interval with two ends. Data without signal (a constant
 * explains them as well, and its own residuals are no larger than the noise) make every model fit; they are "flat",
 * however small chi2. A fit of contrasts only has not tested the model ("held"). A fit is "doubtful" when residuals are
 * far below the given noise, when some are far off all others, when those of neighbouring rows are correlated, or when
 * a first frame at t = 0 determines a parameter.
 *
 * Pairs of frames: significance decides. Residuals with a structure that independent noise does not have (misfit.h, p <
 * UNLIKELY) are compared with speckle noise (fit_types.h, fit_speckle_test). If that explains them, the model holds,
 * with its robust errors; otherwise the fit is "poor" where residuals exceed the noise by more than TOLERATED, and
 * "doubtful" however small they are. Where the noise is known, chi2 has its distribution.
 *
 * Rows of a table with known errors are independent, and chi2 has its distribution, too; a probability below IMPROBABLE
 * is doubtful. With many rows this would be so for any residuals, since no error is known to a fraction of a per cent;
 * therefore TOLERATED is allowed.
 */
#include "errors/profile.h"
#include "data/file_times.h"
#include "results/results.h"
#include "math/special.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Deviation of chi2 in standard deviations (of its noise alone) that is not surprising, and a fraction of it that is
 * not surprising either: the noise itself is known to a few per cent. */
static const double SURPRISE = 5, TOLERATED = 0.05;
/* Probability of chi2 of independent rows below which it is surprising. */
static const double IMPROBABLE = 1e-3;
/* The same for a chi2 that is too small, below which it is reported. */
static const double SMALL = 0.025;
/* Variance of the estimate of sigma by the median of |r|, relative to that by the mean square (Rousseeuw & Croux, J.
 * Am. Stat. Assoc. 88 (1993) 1273: efficiency 37 %). */
static const double MEDIAN_SCATTER = 2.72;
/* Residuals smaller than this fraction of the given noise: the noise is too large. */
static const double TOO_SMALL = 0.5;
/* Kurtosis of residuals above which some of them are not noise (normal: 3). */
static const double OUTLIERS = 10;
/* Ratio of robust to standard errors above which residuals are not those of independent noise. */
static const double CORRELATED = 2;
/* Number of standard deviations by which the first frame moves a parameter by chance. */
static const double CHANCE = 4;

/* The amount by which the model lowers chi2 below that of one constant for each group, in units of the noise; below
 * that of 0 if the model has no constant of its own; NaN where the errors are not noise about a mean. */
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

/* "; offset stands at its bound 0.5 ...; D0 stands at its bound 1e+05 ..." when the model's constant, and a
 * parameter, are not free to fit the data; else empty. */
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

/* The smallest chi2 per degree of freedom that is not surprising (Wilson and Hilferty 1931); 0 for few of them. */
static double least_goodness(double dof)
{
    const double v = 2 / (9 * dof), root = 1 - v - SURPRISE * sqrt(v);
    return root > 0 ? root * root * root : 0;
}

/* Parameters on which a verdict is based: nonlinear ones, and for tables all (linear ones of pairs are the
 * contrasts). */
static size_t judged(const struct fit_results *r)
{
    return r->kernel->space == FIT_PAIRS ? r->fit->nparam : r->fit->nfull;
}

/* A 95 % interval that extends further than this multiple of the quadratic one is no longer an error of about that
 * size.
 */
static const double BEYOND = 4;

/* 1: no standard error, but a 95 % interval in one piece with both ends set by the data: the cost is not quadratic,
 * and the parameter is determined nevertheless. */
static int has_interval(const struct fit_result *f, size_t k)
{
    const struct fit_interval *x = &f->interval[k];
    return x->known && !x->several && x->part[1].n == 1 && !x->open_lower[1] && !x->open_upper[1] && !f->at_bound[k] &&
           f->reason[k] < 0 && x->upper[1] - x->lower[1] < BEYOND * 2 * 1.96 * f->std_curvature[k];
}

int fit_result_determines(const struct fit_result *f, size_t k)
{
    return isfinite(f->std[k]) || has_interval(f, k);
}

/* ", D0 and alpha by their intervals": judged parameters with an interval instead of a standard error; else empty. */
static void interval_words(const struct fit_results *r, char *text, size_t size)
{
    size_t n = 0;
    *text = '\0';
    for (size_t k = 0; k < judged(r) && strlen(text) + 1 < size; k++) {
        const struct fit_full_param p = fit_results_param(r, k);
        if (fit_results_fixed(r, k) || isfinite(r->fit->std[k]) || !has_interval(r->fit, k))
            continue;
        const size_t at = strlen(text);
        if (p.group >= 0)
            snprintf(text + at, size - at, ", %s[%ld]", p.param->name, p.group + 1);
        else
            snprintf(text + at, size - at, ", %s", p.param->name);
        n++;
    }
    const size_t at = strlen(text);
    if (n)
        snprintf(text + at, size - at, n == 1 ? " by its interval" : " by their intervals");
}

/* For pairs: undetermined contrasts and offsets, one entry for those of all angles; named, and counted as free. */
static size_t open_scaling(const struct fit_results *r, size_t *nfree, char *names, size_t size)
{
    const struct fit_result *f = r->fit;
    size_t n = 0;
    for (size_t q = 0; r->kernel->space == FIT_PAIRS && q < f->nlinear; q++) {
        size_t open = 0, at = strlen(names);
        for (size_t g = 0; g < f->ngroup; g++) {
            size_t k = f->nparam + g * f->nlinear + q;
            open += !fit_results_fixed(r, k) && !fit_result_determines(f, k);
        }
        if (open && at < size)
            snprintf(names + at, size - at, "%s%s of %zu of %zu angles", at ? ", " : "", r->kernel->linear[q].name,
                     open, f->ngroup);
        n += open > 0;
    }
    *nfree += n;
    return n;
}

/* Those of them that were free, and have neither an error nor an interval with two ends. */
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
        if (fit_result_determines(r->fit, k))
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

/* The reason why free ones among them have none. */
static const char *why_open(const struct fit_results *r)
{
    const struct fit_result *f = r->fit;
    int bound = 0, interval = 0, unknown = 0, several = 0;
    for (size_t k = 0; k < f->nfull; k++) {
        if (fit_results_fixed(r, k) || fit_result_determines(f, k))
            continue;
        several |= f->interval[k].several;
        if (f->at_bound[k])
            bound = 1;
        else if (f->reason[k] < 0 && isfinite(f->std_curvature[k]))
            interval = 1;
        else
            unknown = 1;
    }
    return several ? "other minima fit as well or nearly so, or the cost is not quadratic"
           : bound + interval + unknown > 1 ? "undetermined, on a bound, or known as an interval"
           : bound                        ? "on a bound"
           : interval                     ? "an interval is known instead"
                                          : "the data do not determine it";
}

/* The remedy for the first rate that may be simpler; else empty. */
static void simpler_rate(const struct fit_results *r, char *text, size_t size)
{
    *text = '\0';
    for (size_t k = 0; k < r->fit->nrate && !*text; k++) {
        const struct fit_rate_value *x = &r->fit->rate[k];
        if (x->needed && x->std > 0)
            fit_results_rate_cure(r, x, text, size);
    }
}

/* The largest kurtosis of residuals of any group; 0: not computed. */
static double kurtosis(const struct fit_result *f)
{
    double most = 0;
    for (size_t g = 0; f->robust.kind != FIT_ROBUST_NONE && g < f->ngroup; g++)
        most = fmax(most, f->residual[g].kurtosis);
    return most;
}

/* "the first frame, at t = 0, decides about beta ...": the parameter that it moves most, by more than the error and
 * more than by chance. Powers of t and trapezoids are coarse there, where rates may diverge. Empty: none. */
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
        snprintf(text, size,
                 "the first frame, at t = 0, decides about %s, %+.1f robust errors away without it: powers of t"
                 " are taken at dt/2 there, the integral to the next frame is a trapezoid; try --exclude-t0",
                 r->kernel->param[k].name, moved);
    }
}

/* Is there a parameter with an interval of which the data set at least one end? */
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
    const int known = f->noise == FIT_NOISE_FILE || f->noise == FIT_NOISE_GIVEN;
    if (!known || (r->kernel->space == FIT_PAIRS && r->config->nlsq.loss.value != FIT_LOSS_LINEAR))
        return NAN;
    return fit_chi2_tail(f->reduced_chi2 * freedom(f), freedom(f));
}

/* 1: most values are as close as the noise permits, and a robust loss gives the others little weight. */
static int outliers_tamed(const struct fit_results *r)
{
    return r->config->nlsq.loss.value != FIT_LOSS_LINEAR &&
           r->fit->bulk <= 1 + TOLERATED + SURPRISE * sqrt(2 * MEDIAN_SCATTER / freedom(r->fit));
}

/* ---- structure of the residuals of pairs ----------------------------------------------------------------------- */

/* Probability under independent noise below which residuals have a structure; for structure like that of speckles,
 * when their noise is clearly detected by itself, and when it is detected weakly. */
static const double UNLIKELY = 0.02, SPECKLE = 1e-3, SPECKLE_FAINT = 1e-2;
/* Standard deviations at which noise shared by the values of a frame is detected: in all groups together, in one of
 * them. */
static const double SEEN = 2, SEEN_ALONE = 4;
enum { RANK = 3 }; /* fewer bins do not test it */

static int structured(const struct fit_result *f)
{
    return f->misfit.p < UNLIKELY; /* not of NaN */
}

/* Standard deviations at which the number of speckles of a group is distinguished from infinity; where shot noise
 * exceeds speckle noise, the ratio of the two, which is the contrast over the shot noise. */
static double shared_noise_seen(const struct fit_speckle_noise *x)
{
    const double count = x->count >= 1 ? x->count / x->count_std : 0, /* infinite where it was given */
                 beside = x->shot > x->contrast && x->shared_std > 0 ? 1 / x->shared_std : 0;
    return x->known == FIT_SPECKLE_BOTH ? fmax(count, beside) : 0;
}

/* 1: consistent with speckles whose noise has been detected by itself: with an unknown number of speckles, anything
 * would pass. In one group or, by Stouffer's sum, in all together. */
static int speckled(const struct fit_result *f)
{
    double sum = 0, most = 0;
    for (size_t g = 0; g < f->ngroup && structured(f); g++) {
        const double z = shared_noise_seen(&f->speckle[g]);
        sum += z;
        most = fmax(most, z);
    }
    const int clearly = most >= SEEN_ALONE, faintly = sum >= SEEN * sqrt((double)f->ngroup);
    const double least = clearly ? SPECKLE : SPECKLE_FAINT;
    return (clearly || faintly) && f->speckle_test.p >= least && f->speckle_test.rank >= RANK &&
           (f->robust.kind == FIT_ROBUST_SPECKLE || f->robust.kind == FIT_ROBUST_WITHHELD ||
            f->robust.kind == FIT_ROBUST_FRAMES);
}

static void where_words(const struct fit_results *r, long group, const double *lag, const double *age, char *text,
                        size_t size)
{
    const struct fit_layout *l = &r->ds->layout;
    const char *unit = group < 0 && fit_dataset_times_differ(r->ds) ? "frames" : "s";
    int n = snprintf(text, size, "at lags %.3g .. %.3g %s, ages %.3g .. %.3g %s", lag[0], lag[1], unit, age[0], age[1],
                     unit);
    if (group >= 0 && r->fit->ngroup > 1 && r->kernel->naxis > 0 && n > 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, " (%s %.4g)", r->kernel->axis[0].name, l->coord[0][group]);
}

/* The strongest feature. */
static void structure_words(const struct fit_results *r, char *text, size_t size)
{
    static const char *const along[] = {"are neighbours along the lag", "are neighbours along the age",
                                        "share a frame"};
    const struct fit_misfit *m = &r->fit->misfit;
    char where[160];
    where_words(r, m->group, m->lag, m->age, where, sizeof where);
    if (m->p_neighbours < m->p_bins || (m->p_bins <= 0 && m->rho_z > fabs(m->z)))
        snprintf(text, size, "residuals that %s are correlated (%.2g, %.3g standard deviations)", along[m->along],
                 m->rho, m->rho_z);
    else if (m->kind == FIT_MISFIT_BINS)
        snprintf(text, size, "the data lie %s the model %s, by %.2g of a residual (%.3g standard deviations)",
                 m->z > 0 ? "above" : "below", where, fabs(m->mean), fabs(m->z));
    else if (m->kind == FIT_MISFIT_SMOOTH)
        snprintf(text, size, "residuals vary smoothly over lag and age (%.3g standard deviations)", fabs(m->z));
    else
        snprintf(text, size,
                 "residuals look like those of a parameter that changes with lag or age (%.3g standard deviations)",
                 fabs(m->z));
}

/* The same with its consequence: by how much the model fails. */
static void misfit_words(const struct fit_results *r, char *text, size_t size)
{
    const struct fit_result *f = r->fit;
    const int n = (structure_words(r, text, size), (int)strlen(text));
    if (n < 0 || (size_t)n >= size)
        return;
    if (f->speckle_test.p < SPECKLE && f->speckle_test.kurtosis > 0)
        snprintf(text + n, size - (size_t)n,
                 "; near the frame at %.4g s they have outliers (kurtosis %.3g) that speckles do not have (%.3g; p "
                 "%.1g): is something wrong with frames there?",
                 f->speckle_test.near, f->speckle_test.kurtosis, f->speckle_test.expected, f->speckle_test.p);
    else if (f->speckle_test.p < SPECKLE)
        snprintf(text + n, size - (size_t)n, ", more than speckles do (p %.1g): the model does not quite fit",
                 f->speckle_test.p);
    else if (isnan(f->reduced_chi2))
        snprintf(text + n, size - (size_t)n, ": frames share noise, or the model does not quite fit");
    else
        snprintf(
            text + n, size - (size_t)n,
            ": frames share noise, or the model does not quite fit; only robust errors hold (residuals are %.4g times "
            "the noise)",
            sqrt(f->reduced_chi2));
}

/* ---- doubts ---------------------------------------------------------------------------------------------------- */

static int has_outliers(const struct fit_results *r)
{
    const struct fit_result *f = r->fit;
    return r->config->nlsq.loss.value == FIT_LOSS_LINEAR &&
           kurtosis(f) > OUTLIERS * (1 + 6 * sqrt(24 / fmax((double)f->npoint, 1)));
}

static void outlier_words(const struct fit_results *r, char *text, size_t size)
{
    snprintf(text, size,
             "some values are far off (kurtosis of the residuals %.3g, not 3), and least squares follow them: try loss "
             "soft_l1",
             kurtosis(r->fit));
}

/* chi2 is too large for the known noise, without other evidence. */
static int chi2_doubt(const struct fit_results *r, char *text, size_t size)
{
    const struct fit_result *f = r->fit;
    const int pairs = r->kernel->space == FIT_PAIRS;
    const double p = fit_results_chi2_p(r);
    if (!(p < IMPROBABLE) || (!pairs && !(f->reduced_chi2 > 1 + TOLERATED)))
        return 0;
    if (pairs)
        snprintf(
            text, size,
            "residuals are %.4g times the noise that was given, and show no structure; by chance chi2 is as large "
            "with a probability of %.1g: the noise is larger than given",
            sqrt(f->reduced_chi2), p);
    else
        snprintf(text, size,
                 "residuals are %.3g times the noise; by chance chi2 is as large with a probability of %.1g: "
                 "errors of rows are too small, or the model does not quite fit",
                 sqrt(f->reduced_chi2), p);
    return 1;
}

/* The reason to doubt residuals that are as large as the noise: some far off, neighbours correlated, noise of
 * another kind, chi2 too large. 0: none. */
static int doubt(const struct fit_results *r, char *text, size_t size)
{
    const struct fit_result *f = r->fit;
    const int pairs = r->kernel->space == FIT_PAIRS;
    double factor;
    const double alike = fit_results_neighbours(r, &factor);
    if (has_outliers(r))
        outlier_words(r, text, size);
    else if (alike > 0)
        fit_results_noise_words(r, text, size);
    else if (structured(f) && !speckled(f))
        misfit_words(r, text, size);
    else if (fit_results_wider(r) > CORRELATED && !pairs)
        snprintf(text, size,
                 "residuals consistent with the noise level on the whole, but larger where it matters: some errors "
                 "of rows are too small, or the model does not quite fit; only robust errors hold");
    else if (speckled(f) || !chi2_doubt(r, text, size))
        return 0;
    return 1;
}

/* ---- the quality ----------------------------------------------------------------------------------------------- */

static const char *const words[] = {"good", "doubtful",     "partial",    "poor",   "flat",
                                    "held", "undetermined", "unfinished", "unknown"};

const char *fit_quality_word(enum fit_quality_kind v)
{
    return words[v];
}

enum fit_quality_kind fit_quality_find(const char *word)
{
    int v = 0;
    while (v < FIT_QUALITY_UNKNOWN && strcmp(word, words[v]) != 0)
        v++;
    return (enum fit_quality_kind)v;
}

/* Facts that several of the steps below need. */
struct judged_fit {
    const struct fit_results *r;
    char names[160], stuck[300], first[240]; /* without error; at a bound; the first frame */
    size_t nfree, open;
    double dof, limit; /* of reduced_chi2 */
    int needless;      /* a constant does as well */
};

static struct judged_fit look_at(const struct fit_results *r)
{
    const double n = (double)r->fit->nfree;
    struct judged_fit x = {.r = r, .first = "", .dof = freedom(r->fit)};
    x.open = undetermined(r, &x.nfree, x.names, sizeof x.names);
    x.limit = 1 + TOLERATED + SURPRISE * fmax(sqrt(2 / x.dof), r->fit->reduced_chi2_error);
    x.needless = gain_over_constant(r) < n + SURPRISE * sqrt(2 * n);
    held_by_bound(r, x.stuck, sizeof x.stuck);
    if (!speckled(r->fit)) /* the effect of one frame is known for noise that frames do not share */
        first_frame_decides(r, x.first, sizeof x.first);
    return x;
}

static struct fit_quality quality(enum fit_quality_kind v)
{
    return (struct fit_quality){v, fit_quality_word(v), ""};
}

/* Fits that say nothing about the model. */
static int is_no_trial(const struct judged_fit *x, struct fit_quality *q)
{
    const struct fit_result *f = x->r->fit;
    if (!f->converged) {
        *q = quality(FIT_QUALITY_UNFINISHED);
        snprintf(q->text, sizeof q->text,
                 f->accepted ? "the fit did not finish: the values are those of the best point so far"
                             : "no step led away from the start: the values are not a result");
    } else if (x->nfree == 0 && f->nparam > 0) {
        *q = quality(FIT_QUALITY_HELD);
        snprintf(q->text, sizeof q->text, "all parameters of the model are held: it was not fitted%s",
                 isnan(f->reduced_chi2)       ? ""
                 : f->reduced_chi2 > x->limit ? "; residuals are larger than the noise"
                                              : "; residuals consistent with the noise level");
    } else if (x->needless && !(f->reduced_chi2 > x->limit)) {
        *q = quality(FIT_QUALITY_FLAT);
        snprintf(q->text, sizeof q->text,
                 x->r->kernel->intercept < 0
                     ? "0 explains the data as well as the model: they tell nothing about it"
                     : "a constant for each group explains the data as well as the model: they tell nothing about it");
    } else {
        return 0;
    }
    return 1;
}

/* "; more", unless it is empty. */
static void append(char *text, size_t size, const char *more)
{
    const size_t at = strlen(text);
    if (*more && at < size)
        snprintf(text + at, size - at, "; %s", more);
}

/* Residuals that exceed the noise and are not explained by outliers or speckles. */
static struct fit_quality larger(const struct judged_fit *x)
{
    const struct fit_results *r = x->r;
    const struct fit_result *f = r->fit;
    const double ratio = sqrt(f->reduced_chi2);
    char why[400] = "";
    struct fit_quality q = quality(FIT_QUALITY_POOR);
    if (structured(f))
        structure_words(r, why, sizeof why);
    if (outliers_tamed(r)) {
        q = quality(FIT_QUALITY_DOUBTFUL);
        snprintf(q.text, sizeof q.text,
                 "some values lie far from all others, which makes the residuals %.3g times the noise; most values "
                 "are as close as the noise allows, and loss %s gives the others little weight",
                 ratio, fit_loss_name((enum fit_loss)r->config->nlsq.loss.value));
    } else if (f->noise == FIT_NOISE_RESIDUALS && has_outliers(r) && !structured(f)) {
        q = quality(FIT_QUALITY_DOUBTFUL);
        outlier_words(r, q.text, sizeof q.text);
    } else if (x->needless) {
        snprintf(q.text, sizeof q.text,
                 "residuals are %.3g times the noise: the model explains the data no better than %s does%s", ratio,
                 r->kernel->intercept < 0 ? "0" : "a constant for each group", x->stuck);
    } else {
        snprintf(q.text, sizeof q.text, "residuals are %.3g times the noise: the model does not explain the data, and "
                                        "errors that follow from the noise are too small%s",
                 ratio, x->stuck);
        append(q.text, sizeof q.text, x->first);
        append(q.text, sizeof q.text, why);
        if (has_outliers(r))
            append(q.text, sizeof q.text,
                   "some values are far off, too: loss soft_l1 tells whether they are the cause");
    }
    return q;
}

/* "residuals consistent with the noise level", or a remarkable property. */
static void agreement_words(const struct fit_results *r, char *text, size_t size)
{
    const struct fit_result *f = r->fit;
    const int known = f->noise == FIT_NOISE_FILE || f->noise == FIT_NOISE_GIVEN;
    const double p = known ? 1 - fit_results_chi2_p(r) : 1;
    if (speckled(f))
        snprintf(text, size, "residuals agree with speckle noise (p %.2g), and robust errors hold",
                 f->speckle_test.p);
    else if (p < SMALL && f->reduced_chi2 < 1 - TOLERATED)
        snprintf(
            text, size,
            "residuals are only %.3g times the noise that was given (by chance chi2 is as small with a probability of "
            "%.1g): it may be too large, and so would be all errors",
            sqrt(f->reduced_chi2), fmax(p, 1e-12));
    else
        snprintf(text, size, "residuals consistent with the noise level");
}

/* The residuals are acceptable: are the parameters determined? */
static struct fit_quality of_parameters(const struct judged_fit *x)
{
    const struct fit_results *r = x->r;
    const struct fit_result *f = r->fit;
    struct fit_quality q = quality(FIT_QUALITY_UNKNOWN);
    char agrees[300], cure[160], by[160];
    interval_words(r, by, sizeof by);
    agreement_words(r, agrees, sizeof agrees);
    if (speckled(f) && f->robust.kind == FIT_ROBUST_WITHHELD) {
        q = quality(FIT_QUALITY_PARTIAL);
        snprintf(q.text, sizeof q.text, "residuals agree with speckle noise (p %.2g), but no errors hold: %s",
                 f->speckle_test.p, f->robust.reason);
    } else if (x->nfree > 0 && x->open == x->nfree && !any_limit(r)) {
        q = quality(FIT_QUALITY_UNDETERMINED);
        snprintf(q.text, sizeof q.text, "the data determine none of the parameters by itself%s",
                 f->accepted ? "" : "; the start was kept");
    } else if (x->open > 0) {
        simpler_rate(r, cure, sizeof cure);
        q = quality(FIT_QUALITY_PARTIAL);
        snprintf(q.text, sizeof q.text, "no standard error for %s: %s%s%s%s%s", x->names, why_open(r),
                 isnan(f->reduced_chi2) ? "" : "; ", isnan(f->reduced_chi2) ? "" : agrees, *cure ? "; " : "", cure);
    } else if (isnan(f->reduced_chi2) && f->noise == FIT_NOISE_LAW) {
        snprintf(q.text, sizeof q.text,
                 "the width of the errors is a part of the model: whether the model explains the "
                 "data cannot be told");
    } else if (isnan(f->reduced_chi2) && isnan(f->misfit.p)) {
        snprintf(q.text, sizeof q.text, "the noise is known from the residuals only: whether the model explains the "
                                        "data cannot be told");
    } else if (isnan(f->reduced_chi2) && !speckled(f)) {
        q = quality(FIT_QUALITY_GOOD);
        snprintf(q.text, sizeof q.text, "residuals have no structure (%s: chi2 is not known), and all parameters are "
                                        "determined%s", f->reduced_chi2_reason, by);
    } else {
        q = quality(FIT_QUALITY_GOOD);
        snprintf(q.text, sizeof q.text, "%s, and all parameters are determined%s", agrees, by);
    }
    return q;
}

struct fit_quality fit_results_quality(const struct fit_results *r)
{
    const struct judged_fit x = look_at(r);
    const struct fit_result *f = r->fit;
    struct fit_quality q;
    char why[600];
    if (is_no_trial(&x, &q))
        return q;
    if (f->reduced_chi2 > x.limit && !speckled(f))
        return larger(&x);
    if (f->noise != FIT_NOISE_RESIDUALS && f->reduced_chi2 < TOO_SMALL * least_goodness(x.dof)) {
        q = quality(FIT_QUALITY_DOUBTFUL);
        snprintf(q.text, sizeof q.text,
                 f->noise == FIT_NOISE_LAW
                     ? "residuals are only %.3g times the noise that the model's noise distribution predicts"
                     : "residuals are only %.3g times the noise that was given: it is too large, and so are "
                       "all errors",
                 sqrt(f->reduced_chi2));
        return q;
    }
    if (*x.first || doubt(r, why, sizeof why)) {
        q = quality(FIT_QUALITY_DOUBTFUL);
        snprintf(q.text, sizeof q.text, "%s%s%s", *x.first ? x.first : why, x.open ? "; without error: " : "", x.names);
        return q;
    }
    return of_parameters(&x);
}
