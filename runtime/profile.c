/* profile.c -- errors of a fit held against the cost itself; see profile.h. */
#include "profile.h"
#include "likelihood.h"
#include "linalg.h"
#include "problem.h"
#include "sketch.h"
#include "special.h"
#include "valley.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double NEAR = 2; /* standard errors */
static const double MUCH = 2; /* times as far as the paraboloid's interval, or as little: its error does not hold */
static const double FLAT = 0.5; /* a standard error of this part of the box: not determined for all it matters */
static const double AS_EXPECTED[2] = {2.5, 12}; /* of 4: the paraboloid holds, or bends a little */
static const double BENT = 64; /* chi2 on the axis, of 15: its valley is to be followed */
static const double BETTER = 0.1; /* chi2 below the least: another minimum */
static const double SKETCH_GTOL = 0.1; /* standard errors: so near the sketch leads to its minimum */
enum { STEPS = 30, PASSES = 600 }; /* so many passes, then no more intervals of what has no error anyway */

struct profile {
    struct fit_job *f;
    const double *best;
    double variance, cost, limit; /* limit: of the root of the rise at the ends of 95 % */
    double *lower, *upper, *theta;
    double *move;       /* work space of predict() */
    signed char *state; /* the same */
    double *low, *high; /* nfull: farthest values met inside the interval of 95 % of any parameter */
    int asked;             /* for the sketch */
    unsigned char *looked; /* nfull: 1: by a fit away from the minimum; 2: its interval was found */
};

/* theta: parameter k at v, the others where the paraboloid has its least value then, inside their bounds; bent into the
 * valleys of rates. */
static void predict(struct profile *p, size_t k, double v)
{
    const struct fit_job *f = p->f;
    size_t n = f->p;
    double *low = p->move + n, *high = low + n, *none = high + n, *work = none + n;
    for (size_t l = 0; l < n; l++) {
        low[l] = l == k ? v - p->best[l] : f->lower[l] - p->best[l];
        high[l] = l == k ? v - p->best[l] : f->upper[l] - p->best[l];
        none[l] = 0;
    }
    if (fit_boxqp(n, f->B, f->g, low, high, none, p->move, p->state, work) < 0)
        memset(p->move, 0, n * sizeof *p->move);
    for (size_t l = 0; l < n; l++)
        p->theta[l] = fmin(fmax(p->best[l] + p->move[l], f->lower[l]), f->upper[l]);
    p->theta[k] = v;
    memcpy(p->move, p->theta, n * sizeof *p->move); /* the straight step */
    fit_valley_bend(f->kernel, &f->ds->layout, f->lower, f->upper, p->best, p->theta);
    for (size_t i = 0; i < f->kernel->nrate; i++) {
        const struct fit_rate *r = &f->kernel->rate[i];
        if (k != r->amplitude && k != r->offset)
            continue;
        const size_t member[3] = {r->amplitude, r->exponent, r->offset};
        for (int m = 0; m < 3; m++)
            p->theta[member[m]] = p->move[member[m]];
        fit_valley_hold(f->kernel, &f->ds->layout, f->lower, f->upper, p->best, k, p->theta);
    }
}

/* chi2 above the best, in units of the noise, at theta. */
static double rise_at_theta(const struct profile *p)
{
    if (fit_objective_value(p->f->obj, p->theta) != FIT_EVAL_OK)
        return INFINITY;
    return 2 * (p->f->obj->cost - p->cost) / p->variance;
}

/* The same with parameter k held at v and the others fitted from theta on, until the sign of rise - limit^2 is
 * certain by twice what the gradient promises; NaN when there is none. */
static double rise_fitted(struct profile *p, size_t k, double v)
{
    struct fit_job *f = p->f;
    double low = f->lower[k], high = f->upper[k];
    p->lower[k] = p->upper[k] = v;
    if (f->sketch) {
        struct fit_sketch_spec spec = {p->lower, p->upper, -1, 0, SKETCH_GTOL, INFINITY, p->variance};
        double cost, gradient;
        fit_sketch_minimise(f->sketch, &spec, p->theta, &cost, &gradient);
    }
    double excess = rise_at_theta(p) - p->limit * p->limit, known[2] = {f->obj->cost, f->obj->cost_error};
    struct fit_nlsq_problem problem = fit_problem(f->obj, p->lower, p->upper, f->dof, f->noise);
    struct fit_nlsq_options opt = {.max_iterations = STEPS,
                                   .brief = 1,
                                   .ftol = 1e-8,
                                   .xtol = 1e-8,
                                   .gtol = fmax(0.3, excess > 0 && isfinite(excess) ? fmin(sqrt(0.5 * excess), 1) : 0),
                                   .known = isfinite(excess) ? known : NULL,
                                   .deadline = f->deadline};
    fit_nlsq_run(f->nlsq, &problem, &opt, p->theta);
    p->lower[k] = low;
    p->upper[k] = high;
    double rise = 2 * (f->nlsq->cost - p->cost) / p->variance, promised = f->nlsq->gradient * f->nlsq->gradient;
    if (rise < -BETTER && !f->met_better) {
        f->met_better = 1;
        memcpy(f->better, p->theta, f->p * sizeof *f->better);
    }
    return rise - (promised < fmax(1, rise) ? promised : 0);
}

/* 1 when the interval of 95 % of parameter k ends within MUCH times the paraboloid's on this side. */
static int holds_toward(struct profile *p, size_t k, double side)
{
    const struct fit_job *f = p->f;
    double std = f->res->std[k], v = p->best[k] + side * MUCH * p->limit * std;
    if (v <= f->lower[k] || v >= f->upper[k])
        return 1; /* a bound ends it, if nothing else does */
    predict(p, k, v);
    double rise = f->sketch ? 2 * (fit_sketch_value(f->sketch, p->theta) - p->cost) / p->variance : rise_at_theta(p);
    if (!(rise < BENT)) /* the valley bends: along it, step by step */
        return fit_likelihood_ends_within(p->f, k, p->variance, side, fabs(v - p->best[k]));
    double found = rise_fitted(p, k, v);
    return isnan(found) || found >= p->limit * p->limit;
}

/* 1 when on both sides the interval of 95 % of parameter k, which no bound ends, reaches less than 1 / MUCH times as far
 * as the paraboloid's: its derivative vanishes at the minimum, but not beside it (an angle of symmetry). */
static int overstated(struct profile *p, size_t k)
{
    const struct fit_job *f = p->f;
    const double most = p->limit * p->limit, half = p->limit * f->res->std[k] / MUCH;
    for (int side = -1; side <= 1; side += 2) {
        const double v = p->best[k] + side * half;
        if (v <= f->lower[k] || v >= f->upper[k])
            return 0;
        predict(p, k, v);
        if (!(rise_at_theta(p) >= most && rise_fitted(p, k, v) >= most)) /* fitted, it is the lower one */
            return 0;
    }
    return 1;
}

/* One value on each side where the paraboloid is four above its least: no more is done when it holds. */
static int looks_right(struct profile *p, size_t k)
{
    for (int side = -1; side <= 1; side += 2) {
        predict(p, k, p->best[k] + side * NEAR * p->f->res->std[k]);
        double found = rise_at_theta(p);
        if (!(found > AS_EXPECTED[0] && found < AS_EXPECTED[1]))
            return 0;
    }
    return 1;
}

static int is_free(const struct fit_result *r, size_t e)
{
    return r->upper[e] > r->lower[e];
}

/* A parameter on a bound, or open over the box: what the errors of the others say holds with it held. */
static int is_open(const struct fit_job *f)
{
    const struct fit_result *r = f->res;
    for (size_t k = 0; k < f->p; k++)
        if (is_free(r, k) && (!(r->std[k] < FLAT * (f->upper[k] - f->lower[k]))))
            return 1;
    return 0;
}

/* Is the error of nonlinear parameter k, as far as it is told, to be held against the cost away from the minimum? */
static int worth_a_look(struct profile *p, size_t k, int open)
{
    const struct fit_job *f = p->f;
    if (!(f->res->std[k] > 0) || !is_free(f->res, k) || p->looked[k])
        return 0;
    return open || !looks_right(p, k);
}

static int fails(struct profile *p, size_t k)
{
    p->looked[k] = 1;
    return overstated(p, k) || !holds_toward(p, k, 1) || !holds_toward(p, k, -1);
}

/* The sketch, unless every look is over at once. */
static enum fit_status need_sketch(struct profile *p)
{
    enum fit_status st = p->asked ? FIT_OK : fit_sketch_new(p->f, &p->f->sketch);
    p->asked = 1;
    return st;
}

/* ---- intervals ------------------------------------------------------------------------------------------------- */

/* A point inside the interval of 95 %, with the objective there. */
static void visit(void *user, const double *theta)
{
    struct profile *p = user;
    const struct fit_job *f = p->f;
    for (size_t e = 0; e < f->res->nfull; e++) {
        double x = e < f->p ? theta[e] : fit_objective_linear(f->obj, (e - f->p) / f->q, (e - f->p) % f->q);
        p->low[e] = fmin(p->low[e], x);
        p->high[e] = fmax(p->high[e], x);
    }
}

/* The interval of e, which then is all that is told of its error where the paraboloid's does not hold. */
static enum fit_status find_interval(struct profile *p, size_t e)
{
    struct fit_job *f = p->f;
    struct fit_result *r = f->res;
    struct fit_likelihood l;
    enum fit_status st = need_sketch(p);
    if (st != FIT_OK)
        return st;
    st = fit_likelihood_ends(f, e, p->variance, visit, p, &l);
    p->looked[e] = 2;
    if (st != FIT_OK || l.n == 0 || l.lower_cost)
        return st;
    struct fit_interval *x = &r->interval[e];
    x->known = 1;
    for (int i = 0; i < 2; i++) {
        x->lower[i] = l.lower[i];
        x->upper[i] = l.upper[i];
        x->open_lower[i] = (signed char)(l.open_lower[i] || (l.one_sided < 0));
        x->open_upper[i] = (signed char)(l.open_upper[i] || (l.one_sided > 0));
    }
    return FIT_OK;
}

static double value_of(const struct fit_result *r, size_t e)
{
    return e < r->nparam ? r->theta[e] : r->lin[e - r->nparam];
}

/* How far the interval from low to high reaches, in the unit of the paraboloid's. */
static double reach(const struct profile *p, size_t e, double low, double high)
{
    const struct fit_result *r = p->f->res;
    const struct fit_interval *x = &r->interval[e];
    const double best = value_of(r, e), unit = p->limit * r->std[e];
    if (x->open_lower[1] && best - r->lower[e] > MUCH * unit)
        return INFINITY;
    if (x->open_upper[1] && r->upper[e] - best > MUCH * unit)
        return INFINITY;
    return fmax(best - low, high - best) / unit;
}

/* Parameters met, inside the interval of another, further away than theirs should reach. */
static int met_far(const struct profile *p, size_t e)
{
    const struct fit_result *r = p->f->res;
    double most = MUCH * p->limit * r->std[e], best = value_of(r, e);
    return p->looked[e] < 2 && r->std[e] > 0 && is_free(r, e) && fmax(p->high[e] - best, best - p->low[e]) > most;
}

/* Without a standard error for another reason, and worth an interval. */
static int lacks_error(const struct profile *p, size_t e)
{
    const struct fit_result *r = p->f->res;
    if (!isnan(r->std[e]) || !is_free(r, e) || e >= p->f->p || p->looked[e] == 2)
        return 0;
    if (r->reason[e] >= 0)
        return p->f->kernel->degeneracy[r->degenerate[r->reason[e]].which].kind == FIT_DEGENERATE_AT_VALUE;
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
    lower[0] = lower[1] = upper[0] = upper[1] = NAN;
    if (!is_free(r, k) || (isnan(r->std[k]) && !x->known))
        return FIT_INTERVAL_NONE;
    for (int i = 0; i < 2; i++) {
        double half = x->known ? NAN : r->std[k] * fit_student_quantile(tail[i], dof);
        lower[i] = !x->known ? fmax(value - half, r->lower[k]) : x->open_lower[i] ? NAN : x->lower[i];
        upper[i] = !x->known ? fmin(value + half, r->upper[k]) : x->open_upper[i] ? NAN : x->upper[i];
    }
    return x->known ? FIT_INTERVAL_PROFILE : FIT_INTERVAL_CURVATURE;
}

/* ---- all of it ------------------------------------------------------------------------------------------------- */

/* Other minima as deep are inside the intervals, too. */
static void meet_minima(struct profile *p)
{
    const struct fit_job *f = p->f;
    for (size_t m = 0; m < f->nminimum; m++)
        for (size_t k = 0; f->minima[m].above < p->limit * p->limit && k < f->p; k++) {
            p->low[k] = fmin(p->low[k], f->minima[m].theta[k]);
            p->high[k] = fmax(p->high[k], f->minima[m].theta[k]);
        }
}

/* Intervals told in place of errors take in what was met inside those of others. */
static void widen(struct profile *p)
{
    struct fit_result *r = p->f->res;
    for (size_t e = 0; e < r->nfull; e++) {
        struct fit_interval *x = &r->interval[e];
        if (!x->known || !isnan(r->std[e]))
            continue;
        x->lower[1] = fmin(x->lower[1], p->low[e]);
        x->upper[1] = fmax(x->upper[1], p->high[e]);
    }
}

/* Those whose error fails, again and again: one that does makes the others worth a look. */
static enum fit_status find_failing(struct profile *p)
{
    struct fit_job *f = p->f;
    size_t n = f->res->nfull;
    enum fit_status st = FIT_OK;
    int open = is_open(f);
    for (int again = 1; again && st == FIT_OK && !f->met_better;) {
        again = 0;
        for (size_t e = 0; e < n && st == FIT_OK && !f->met_better; e++) {
            int look = e < f->p && worth_a_look(p, e, open);
            if (look && (st = need_sketch(p)) != FIT_OK)
                break;
            if (!(look && fails(p, e)) && !met_far(p, e))
                continue;
            st = find_interval(p, e);
            again = 1;
            open = 1; /* the others are in the same valley */
        }
    }
    return st;
}

static enum fit_status examine(struct profile *p)
{
    struct fit_job *f = p->f;
    struct fit_result *r = f->res;
    size_t before = f->obj->nnormal;
    enum fit_status st = find_failing(p);
    for (size_t e = 0; e < r->nfull && st == FIT_OK && !f->met_better && f->obj->nnormal - before < PASSES; e++)
        if (lacks_error(p, e))
            st = find_interval(p, e);
    if (st != FIT_OK || f->met_better)
        return st;
    meet_minima(p);
    for (size_t e = 0; e < r->nfull; e++) {
        if (!r->interval[e].known || isnan(r->std[e]))
            continue;
        struct fit_interval *x = &r->interval[e];
        double alone = reach(p, e, x->lower[1], x->upper[1]);
        double wider = reach(p, e, fmin(x->lower[1], p->low[e]), fmax(x->upper[1], p->high[e]));
        if (alone < 1 / MUCH && wider >= 1 / MUCH) {
            x->known = 0; /* fits with it held have not followed a valley that others have met */
            continue;
        }
        if (e < f->p)
            r->profile[e] = (wider < 1 / MUCH ? wider : fmax(wider, 1)) * r->std[e];
        if (wider < 1 / MUCH || wider > MUCH)
            withhold(r, e);
    }
    widen(p);
    return FIT_OK;
}

void fit_profile_none(struct fit_result *r)
{
    memcpy(r->std_curvature, r->std, r->nfull * sizeof *r->std);
    memcpy(r->profile, r->std, r->nparam * sizeof *r->profile);
    memset(r->interval, 0, r->nfull * sizeof *r->interval);
}

enum fit_status fit_profile_errors(struct fit_job *f, double variance)
{
    struct fit_result *r = f->res;
    double *all = malloc((7 * f->p + 2 * r->nfull + fit_boxqp_work(f->p) + 1) * sizeof *all), limit[2];
    struct profile p = {.f = f, .best = r->theta, .variance = variance, .looked = calloc(r->nfull + 1, 1)};
    p.state = calloc(f->p + 1, 1);
    enum fit_status st = FIT_OK;
    fit_profile_none(r);
    if (!all || !p.looked || !p.state) {
        st = fit_fail(f->err, FIT_ERR_MEMORY, "fit: out of memory");
        goto done;
    }
    fit_likelihood_limits(f, 0, limit);
    p.limit = limit[1];
    p.lower = all;
    p.upper = p.lower + f->p;
    p.theta = p.upper + f->p;
    p.low = p.theta + f->p;
    p.high = p.low + r->nfull;
    p.move = p.high + r->nfull;
    memcpy(p.lower, f->lower, f->p * sizeof *p.lower);
    memcpy(p.upper, f->upper, f->p * sizeof *p.upper);
    for (size_t e = 0; e < r->nfull; e++)
        p.low[e] = p.high[e] = value_of(r, e);
    p.cost = f->obj->cost;
    st = examine(&p);
done:
    fit_sketch_free(f->sketch);
    f->sketch = NULL;
    free(all);
    free(p.looked);
    free(p.state);
    return st;
}
