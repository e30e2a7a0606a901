/* profile.c -- errors of a fit held against the cost itself; see profile.h. */
#include "errors/profile.h"
#include "errors/axis.h"
#include "errors/likelihood.h"
#include "errors/sandwich.h"
#include "math/special.h"
#include "errors/survey.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double NEAR = 2, CLOSE = 0.2; /* standard errors */
static const double MUCH = 1.5; /* times as far as the paraboloid's interval, or as little: its error does not hold */
static const double MUCH_ROWS = 4; /* of tables, where it is the custom to tell the paraboloid's */
static const double FLAT = 0.5; /* a standard error of this part of the box: not determined for all it matters */
static const double AS_EXPECTED[2] = {3.3, 4.9}; /* of 4: the paraboloid's interval holds */
static const double LINEAR_EXPECTED[2] = {2.8, 5.6}; /* the same for linear parameters, which are never too large */
static const double HOPELESS = 5; /* times as much as expected: the valley is to be followed step by step */
static const double NOT_FAR = 2, LOOK_GTOL = 0.1; /* factor of 4; standard errors */
static const double AGREES = 0.1; /* of a rise: so near must the sketch be to the data, not to ask them again */
/* Of another minimum: chi2 above the least, in units of the noise, and distance in standard errors at which these do
 * not tell what else is possible.  (An error is believed for some of its multiples.) */
static const double RIVAL = 9, APART = 3;
static const double VISIBLE = 1e-2; /* rounding of the cost, in units of the noise, beyond which it shows nothing */
/* A linear parameter whose variance owes less than this part to the others: with these held the cost is a paraboloid.
 */
static const double OWED = 0.3;
static const double NOTHING = 3; /* standard errors: a linear parameter that may be 0 */
enum { PASSES = 600 }; /* so many passes, then no more intervals of what has no error anyway */

struct profile {
    struct fit_ls *f;
    const double *best;
    double variance, cost, limit; /* limit: of the root of the rise at the ends of 95 % */
    double *theta;
    unsigned char *looked;    /* nfull: 1: its interval was looked for */
    double *scale;            /* nfull: of the rise of the sketch; 0: it is of no use */
    struct fit_likelihood *l; /* nfull */
    double *lower, *upper;    /* work space of rise_along(): the bounds */
    struct fit_sketch *cheap, *data; /* what is asked first: the sketch, or the data; these */
};

static double value_of(const struct fit_result *r, size_t e)
{
    return e < r->nparam ? r->theta[e] : r->lin[e - r->nparam];
}

static int is_free(const struct fit_result *r, size_t e)
{
    return r->upper[e] > r->lower[e];
}

/* What the noise that residuals share makes of the standard error of e.  Rises of chi2 count in its square: profiles of
 * a composite likelihood (Rotnitzky & Jewell, Biometrika 77 (1990) 485; Varin, Reid & Firth, Stat. Sinica 21 (2011) 5,
 * section 2.4). */
static double wider(const struct profile *p, size_t e)
{
    return p->f->res->interval[e].wider;
}

/* chi2 above the best, in units of the noise, `far` standard errors of e away along the axis of the paraboloid, for
 * `from`; where it is above `enough` the others are fitted.  NaN: beyond a bound. */
static double rise_along(struct profile *p, struct fit_sketch *from, size_t e, double far, double enough)
{
    struct fit_ls *f = p->f;
    const struct fit_result *r = f->res;
    const double w = wider(p, e), variance = p->variance * w * w;
    double v = value_of(r, e) + far * w * r->std[e];
    if (v <= r->lower[e] || v >= r->upper[e])
        return NAN;
    long u = e < f->p ? -1 : f->obj->map[e - f->p];
    double held = u < 0 ? 0 : v - f->obj->origin[u];
    fit_axis_point(f, e, v, p->theta);
    double cost = fit_sketch_value(from, p->theta, u, held), gradient;
    double rise = 2 * (cost - p->cost) / variance;
    if (rise > enough && (u >= 0 || rise < HOPELESS * enough)) {
        double certain = u < 0 ? INFINITY : p->cost + 0.5 * LINEAR_EXPECTED[0] * variance;
        struct fit_sketch_spec spec = {p->lower, p->upper, u, held, LOOK_GTOL, certain, variance, 2};
        double low = u < 0 ? f->lower[e] : 0, high = u < 0 ? f->upper[e] : 0;
        if (u < 0)
            p->lower[e] = p->upper[e] = v;
        fit_sketch_minimise(from, &spec, p->theta, &cost, &gradient);
        if (u < 0)
            p->lower[e] = low, p->upper[e] = high;
    }
    return 2 * (cost - p->cost) / variance;
}

/* What a rise of the sketch along the axis of e counts for: its curvature there, in that of the data. */
static double calibrate(struct profile *p, size_t e)
{
    double sum = 0, n = 0;
    for (int side = -1; side <= 1 && fit_sketch_is_thin(p->cheap); side += 2) {
        double rise = rise_along(p, p->cheap, e, side * CLOSE, INFINITY) / (CLOSE * CLOSE);
        if (rise > 0 && isfinite(rise))
            sum += rise, n++;
    }
    return n > 0 ? n / sum : 1;
}

/* One value on each side where the paraboloid is four above its least: no more is done when it holds.  *worst: the one
 * that is farthest from four, of those that are not far. */
static int looks_right(struct profile *p, size_t e, double *worst)
{
    const double *expected = e < p->f->p ? AS_EXPECTED : LINEAR_EXPECTED;
    struct fit_sketch *from =
        e < p->f->p ? p->cheap : p->data; /* contrasts are of short lags, of which sketches know little */
    int right = 1, far = 0;
    p->scale[e] = e < p->f->p ? calibrate(p, e) : 0;
    for (int side = -1; side <= 1; side += 2) {
        double scale = p->scale[e] > 0 ? p->scale[e] : 1;
        double rise = scale * rise_along(p, from, e, side * NEAR, expected[1] / scale);
        right &= isnan(rise) || (rise > expected[0] && (e >= p->f->p || rise < expected[1]));
        far |= !isnan(rise) && !(fabs(log(rise / 4)) < log(NOT_FAR));
        if (e < p->f->p && fabs(log(rise / 4)) < log(NOT_FAR) && fabs(rise - 4) >= fabs(*worst - 4))
            *worst = rise;
    }
    if (far || !(fabs(log(p->scale[e])) < log(NOT_FAR)))
        p->scale[e] = 0;
    return right;
}

/* The part of the variance of linear parameter e that it owes to the nonlinear ones. */
static double owed(const struct profile *p, size_t e)
{
    const struct fit_result *r = p->f->res;
    const double *row = r->covariance + e * r->nfull;
    double sum = 0;
    for (size_t k = 0; k < r->nparam; k++)
        for (size_t l = 0; l < r->nparam; l++)
            if (isfinite(row[k]) && isfinite(row[l]))
                sum += row[k] * r->normal_matrix[k * r->nparam + l] * row[l];
    return sum / (p->variance * row[e]);
}

/* Is there a linear parameter on a bound?  The errors of the others take it for held there. */
static int linear_on_bound(const struct fit_ls *f)
{
    int any = 0;
    for (size_t e = f->p; e < f->res->nfull; e++)
        any |= f->res->at_bound[e] != 0;
    return any;
}

/* Is the error of e, as far as it is told, to be held against the cost away from the minimum? */
static int worth_a_look(struct profile *p, size_t e, double *worst)
{
    const struct fit_result *r = p->f->res;
    if (!(r->std[e] > 0) || !isfinite(r->std[e]) || !is_free(r, e))
        return 0;
    if (e >= r->nparam && owed(p, e) < OWED && !linear_on_bound(p->f))
        return 0;
    return !looks_right(p, e, worst) || (e < r->nparam && r->std[e] > FLAT * (r->upper[e] - r->lower[e]));
}

/* ---- intervals ------------------------------------------------------------------------------------------------- */

static void take_interval(struct profile *p, size_t e)
{
    const struct fit_likelihood *l = &p->l[e];
    struct fit_interval *x = &p->f->res->interval[e];
    if (l->part[1].n == 0 || l->lower_cost)
        return;
    x->known = 1;
    for (int i = 0; i < 2; i++) {
        x->part[i] = l->part[i];
        x->part[i].piece[0].open_lower |= l->one_sided < 0;
        x->part[i].piece[l->part[i].n - 1].open_upper |= l->one_sided > 0;
        x->lower[i] = l->lower[i];
        x->upper[i] = l->upper[i];
        x->open_lower[i] = x->part[i].piece[0].open_lower;
        x->open_upper[i] = x->part[i].piece[l->part[i].n - 1].open_upper;
    }
}

static double much(const struct profile *p)
{
    return p->f->kernel->space == FIT_ROWS ? MUCH_ROWS : MUCH;
}

/* How far an interval reaches, in the unit of the paraboloid's. */
static double reach(const struct profile *p, size_t e)
{
    const struct fit_result *r = p->f->res;
    const struct fit_interval *x = &r->interval[e];
    const double best = value_of(r, e), unit = p->limit * wider(p, e) * r->std[e];
    if (x->open_lower[1] && best - r->lower[e] > much(p) * unit)
        return INFINITY;
    if (x->open_upper[1] && r->upper[e] - best > much(p) * unit)
        return INFINITY;
    return fmax(best - x->lower[1], x->upper[1] - best) / unit;
}

static enum fit_status find_interval(struct profile *p, size_t e)
{
    struct fit_ls *f = p->f;
    struct fit_sketch *sketch = f->sketch;
    const int trusted = f->sketch_trusted;
    p->looked[e] = 1;
    f->sketch = e < f->p ? sketch : NULL;
    f->sketch_scale = p->scale[e];
    f->sketch_trusted = trusted && p->scale[e] > 0 && e < f->p;
    for (int turn = f->sketch_trusted ? 0 : 1; turn < 2; turn++) {
        enum fit_status st = fit_likelihood_ends(f, e, p->variance, &f->evidence, &p->l[e]);
        if (st != FIT_OK) {
            f->sketch = sketch;
            return st;
        }
        take_interval(p, e);
        if (turn == 0 && reach(p, e) <= MUCH && f->res->interval[e].part[1].n == 1)
            break;
        f->sketch_trusted = 0; /* far away the data are asked */
    }
    f->sketch = sketch;
    f->sketch_trusted = trusted;
    return FIT_OK;
}

/* Another minimum is nearly as low, and far away. */
static int has_rival(const struct profile *p, size_t e)
{
    const struct fit_result *r = p->f->res;
    int rival = 0;
    for (size_t k = 0; k < p->f->evidence.n; k++)
        rival |= p->f->evidence.rise[k] >= pow(p->limit * wider(p, e), 2) && is_free(r, e) &&
                 fabs(fit_evidence_at(&p->f->evidence, k)[e] - value_of(r, e)) > APART * wider(p, e) * r->std[e];
    return rival;
}

/* A value was met, inside the interval of another parameter or at another minimum, that is farther than e should reach.
 */
static int met_far(const struct profile *p, size_t e)
{
    const struct fit_result *r = p->f->res;
    double best = value_of(r, e), far = 0;
    if (p->looked[e] || !(r->std[e] > 0) || !isfinite(r->std[e]) || !is_free(r, e))
        return 0;
    for (size_t k = 0; k < p->f->evidence.n; k++)
        if (p->f->evidence.rise[k] < pow(p->limit * wider(p, e), 2))
            far = fmax(far, fabs(fit_evidence_at(&p->f->evidence, k)[e] - best));
    return has_rival(p, e) || far > 1.15 * p->limit * wider(p, e) * r->std[e];
}

/* Without a standard error for another reason, and worth an interval. */
static int lacks_error(const struct profile *p, size_t e)
{
    const struct fit_result *r = p->f->res;
    if (!isnan(r->std[e]) || !is_free(r, e) || p->looked[e])
        return 0;
    if (r->reason[e] >= 0)
        return e < p->f->p &&
               p->f->kernel->degeneracy[r->degenerate[r->reason[e]].which].kind == FIT_DEGENERATE_AT_VALUE;
    return r->at_bound[e] != 0;
}

static void withhold(struct fit_result *r, size_t e)
{
    double *const matrix[] = {r->covariance, r->correlation, r->covariance_robust};
    r->std[e] = r->std_robust[e] = NAN;
    for (size_t m = 0; m < sizeof matrix / sizeof *matrix; m++)
        for (size_t k = 0; k < r->nfull; k++)
            if (k != e || matrix[m] != r->correlation)
                matrix[m][e * r->nfull + k] = matrix[m][k * r->nfull + e] = NAN;
}

enum fit_interval_kind fit_profile_interval(const struct fit_result *r, size_t k, double lower[2], double upper[2])
{
    static const double tail[2] = {0.16, 0.025};
    const struct fit_interval *x = &r->interval[k];
    double dof = r->noise == FIT_NOISE_RESIDUALS ? fmax((double)r->npoint - (double)r->nfree, 1) : INFINITY;
    double value = value_of(r, k);
    if (r->robust.kind == FIT_ROBUST_WITHHELD) { /* nobody knows by how much they would be too narrow */
        lower[0] = lower[1] = upper[0] = upper[1] = NAN;
        return FIT_INTERVAL_NONE;
    }
    lower[0] = lower[1] = upper[0] = upper[1] = NAN;
    if (!is_free(r, k) || (isnan(r->std[k]) && !x->known))
        return FIT_INTERVAL_NONE;
    for (int i = 0; i < 2; i++) {
        double half = x->known ? NAN : x->wider * r->std[k] * fit_student_quantile(tail[i], dof);
        lower[i] = !x->known ? fmax(value - half, r->lower[k]) : x->open_lower[i] ? NAN : x->lower[i];
        upper[i] = !x->known ? fmin(value + half, r->upper[k]) : x->open_upper[i] ? NAN : x->upper[i];
    }
    return x->known ? FIT_INTERVAL_PROFILE : FIT_INTERVAL_CURVATURE;
}

/* ---- all of it ------------------------------------------------------------------------------------------------- */

static enum fit_status ask(struct profile *p)
{
    struct fit_ls *f = p->f;
    enum fit_status st = fit_sketch_new(f, &f->sketch);
    if (st == FIT_OK && !(p->data = fit_sketch_of_data(f)))
        st = fit_fail(f->err, FIT_ERR_MEMORY, "fit: out of memory");
    p->cheap = f->sketch ? f->sketch : p->data;
    return st;
}

/* Parameters whose interval is to be found, marked in want.  Returns the one whose look is farthest from what is
 * expected, but not far. */
static size_t look_at_all(struct profile *p, unsigned char *want)
{
    const struct fit_result *r = p->f->res;
    double worst = 4;
    size_t which = r->nparam;
    for (size_t e = 0; e < r->nfull; e++) {
        double before = worst;
        want[e] = worth_a_look(p, e, &worst) != 0;
        which = worst != before ? e : which;
    }
    return which;
}

/* 1: the sketch shows what the data do, along the axis of `which`. */
static int shows_the_data(struct profile *p, size_t which)
{
    int agree = which < p->f->p;
    for (int side = -1; side <= 1 && agree; side += 2) {
        double a = p->scale[which] * rise_along(p, p->cheap, which, side * NEAR, INFINITY);
        double b = rise_along(p, p->data, which, side * NEAR, INFINITY);
        agree = isnan(a) || fabs(a - b) <= AGREES * fmax(4, b);
    }
    return agree;
}

static void look(struct profile *p, unsigned char *want)
{
    size_t which = look_at_all(p, want);
    if (!fit_sketch_is_thin(p->cheap))
        return;
    p->f->sketch_trusted = shows_the_data(p, which);
    if (p->f->sketch_trusted)
        return;
    struct fit_sketch *sketch = p->cheap; /* which only leads the way */
    p->cheap = p->data;
    look_at_all(p, want);
    p->cheap = sketch;
}

/* Intervals of those marked, and of those that the evidence speaks against, which grows with each. */
static enum fit_status find_intervals(struct profile *p, const unsigned char *want)
{
    struct fit_ls *f = p->f;
    size_t n = f->res->nfull, before = f->obj->nnormal;
    enum fit_status st = FIT_OK;
    for (int again = 1; again && st == FIT_OK && !f->found_lower;) {
        again = 0;
        for (size_t e = 0; e < n && st == FIT_OK && !f->found_lower; e++) {
            const int tired = f->obj->nnormal - before > PASSES, wrong = (want[e] && !p->looked[e]) || met_far(p, e);
            if (tired && wrong) /* its interval would take too long */
                withhold(f->res, e);
            if (tired || (!wrong && !lacks_error(p, e)))
                continue;
            st = find_interval(p, e);
            again = 1;
        }
    }
    for (size_t e = 0; e < n && st == FIT_OK && !f->found_lower; e++) { /* what later ones have met */
        if (!p->looked[e] || !f->res->interval[e].known)
            continue;
        st = fit_likelihood_extend(f, e, p->variance, &f->evidence, &p->l[e]);
        take_interval(p, e);
    }
    return st;
}

/* Inside the interval of a parameter whose noise counts for more, a linear parameter was met far beyond its own errors:
 * that of an angle that is gone within a frame, which a change of the rates moves by factors. */
static int is_carried_off(const struct profile *p, size_t e)
{
    const struct fit_result *r = p->f->res;
    const struct fit_evidence *met = &p->f->evidence;
    double far = 0;
    for (size_t k = 0; k < met->n && e >= r->nparam; k++)
        if (met->own[k] < p->limit * p->limit && met->rise[k] > pow(p->limit * wider(p, e), 2))
            far = fmax(far, fabs(fit_evidence_at(met, k)[e] - value_of(r, e)));
    return far > much(p) * p->limit * wider(p, e) * r->std[e];
}

/* A linear parameter that may be 0, while some parameter is not determined: what has decayed before the first value is
 * measured looks the same as what is not there, and at 0 its derivatives tell nothing of that. */
static int may_have_decayed(const struct profile *p, size_t e)
{
    const struct fit_result *r = p->f->res;
    int open = 0;
    for (size_t k = 0; k < r->nparam; k++)
        open |= is_free(r, k) && isnan(r->std[k]);
    if (!open || e < r->nparam || (long)((e - r->nparam) % r->nlinear) == p->f->kernel->intercept)
        return 0;
    return fabs(value_of(r, e)) < NOTHING * wider(p, e) * r->std[e];
}

static enum fit_status examine(struct profile *p)
{
    struct fit_ls *f = p->f;
    struct fit_result *r = f->res;
    const double inflated = pow(fit_profile_widest(r), 2);
    struct fit_survey_spec survey = {p->variance * inflated, inflated, p->limit, RIVAL, NULL};
    unsigned char *want = calloc(r->nfull + 1, 1);
    enum fit_status st = want ? ask(p) : fit_fail(f->err, FIT_ERR_MEMORY, "fit: out of memory");
    survey.cheap = p->cheap;
    if (f->kernel->space == FIT_ROWS) /* as with MUCH_ROWS */
        survey.rival = p->limit * p->limit;
    if (st == FIT_OK) {
        look(p, want);
        st = fit_survey(f, &survey);
    }
    if (st == FIT_OK && !f->found_lower)
        st = find_intervals(p, want);
    free(want);
    if (st != FIT_OK || f->found_lower)
        return st;
    for (size_t e = 0; e < r->nfull; e++) {
        if (is_carried_off(p, e) || may_have_decayed(p, e)) {
            withhold(r, e);
            r->interval[e].known = 0;
        }
        if (!r->interval[e].known || isnan(r->std[e]))
            continue;
        double far = reach(p, e);
        r->interval[e].several = has_rival(p, e) || r->interval[e].part[1].n > 1;
        if (e < f->p)
            r->profile[e] = (far < 1 / much(p) ? far : fmax(far, 1)) * r->std[e];
        if (far < 1 / much(p) || far > much(p) || r->interval[e].several)
            withhold(r, e);
    }
    return FIT_OK;
}

double fit_profile_widest(const struct fit_result *r)
{
    double most = 1;
    for (size_t e = 0; e < r->nfull; e++)
        most = fmax(most, r->interval[e].wider);
    return most;
}

void fit_profile_none(struct fit_result *r)
{
    const size_t square = r->nfull * r->nfull;
    memcpy(r->std_curvature, r->std, r->nfull * sizeof *r->std);
    memcpy(r->paraboloid, r->covariance, square * sizeof *r->covariance);
    memcpy(r->paraboloid_robust, r->covariance_robust, square * sizeof *r->covariance_robust);
    memcpy(r->profile, r->std, r->nparam * sizeof *r->profile);
    memset(r->interval, 0, r->nfull * sizeof *r->interval);
    const int shared = fit_sandwich_shared(&r->robust);
    const double all = shared && r->robust.eta > 0 ? 1 / sqrt(r->robust.eta) : 1;
    for (size_t e = 0; e < r->nfull; e++) {
        double ratio = r->std_robust[e] / r->std[e];
        r->interval[e].wider = !shared ? 1 : ratio > 0 && isfinite(ratio) ? ratio : all;
    }
}

enum fit_status fit_profile_errors(struct fit_ls *f, double variance)
{
    struct fit_result *r = f->res;
    double *all = malloc((3 * f->p + r->nfull + 1) * sizeof *all), limit[2];
    struct profile p = {.f = f, .best = r->theta, .variance = variance, .looked = calloc(r->nfull + 1, 1)};
    p.l = calloc(r->nfull + 1, sizeof *p.l);
    enum fit_status st = FIT_OK;
    fit_profile_none(r);
    if (!all || !p.looked || !p.l) {
        st = fit_fail(f->err, FIT_ERR_MEMORY, "fit: out of memory");
        goto done;
    }
    fit_likelihood_limits(f, 0, limit);
    p.limit = limit[1];
    p.scale = all;
    memset(p.scale, 0, r->nfull * sizeof *p.scale);
    p.theta = p.scale + r->nfull;
    p.lower = p.theta + f->p;
    p.upper = p.lower + f->p;
    memcpy(p.lower, f->lower, f->p * sizeof *p.lower);
    memcpy(p.upper, f->upper, f->p * sizeof *p.upper);
    p.cost = f->obj->cost;
    if (variance > 0 && 2 * f->obj->cost_error <= VISIBLE * variance)
        st = examine(&p);
done:
    fit_sketch_free(p.data);
    fit_sketch_free(f->sketch);
    f->sketch = NULL;
    f->sketch_trusted = 0;
    free(all);
    free(p.looked);
    free(p.l);
    return st;
}
