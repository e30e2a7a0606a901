/* profile.c -- errors of a fit held against the cost itself; see profile.h. */
#include "profile.h"
#include "problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Standard errors this many times those without the other parameters: their valley is worth a look. */
static const double CORRELATED = 4;
static const double NEAR = 2, AWAY = 4; /* in standard errors; further out a valley may end in a plain */
static const double LEAST = 0.7;   /* of the expected rise of chi2 */
static const double MUCH = 2; /* wider than the paraboloid has it */
static const double MOST_WIDER = 8; /* at one step */
static const double FLAT = 0.5; /* a standard error of this part of the box: not determined for all it matters */
static const double AS_EXPECTED[2] = {2.5, 64}; /* of 4: the paraboloid holds, or bends a little */
enum { STEPS = 30, TURNS = 8 };

struct profile {
    struct fit_job *f;
    const double *best;
    double variance, cost;
    double *lower, *upper, *theta;
    size_t along; /* 1 + the parameter along whose profile theta lies, at `last`; 0: none */
    double last;
};

/* theta: parameter k at v, the others where the paraboloid has its least value then. */
static void predict(struct profile *p, size_t k, double v)
{
    const struct fit_job *f = p->f;
    const struct fit_result *r = f->res;
    double var = r->covariance[k * r->nfull + k];
    for (size_t l = 0; l < f->p; l++) {
        double c = r->covariance[l * r->nfull + k], x = p->best[l];
        x += isfinite(c) && var > 0 ? c / var * (v - p->best[k]) : 0;
        p->theta[l] = fmin(fmax(x, f->lower[l]), f->upper[l]);
    }
    p->theta[k] = v;
}

/* chi2, in units of the noise, above the best with parameter k held at v; NaN when there is none. */
static double rise(struct profile *p, size_t k, double v)
{
    struct fit_job *f = p->f;
    double low = f->lower[k], high = f->upper[k];
    if (p->along != k + 1)
        predict(p, k, v);
    for (size_t l = 0; p->along == k + 1 && l < f->p; l++) { /* on from the last point of this profile */
        double x = p->theta[l] + (p->theta[l] - p->best[l]) * (v - p->last) / (p->last - p->best[k]);
        p->theta[l] = fmin(fmax(x, f->lower[l]), f->upper[l]);
    }
    p->theta[k] = v;
    p->along = k + 1;
    p->last = v;
    p->lower[k] = p->upper[k] = v;
    struct fit_nlsq_problem problem = fit_problem(f->obj, p->lower, p->upper, f->dof, f->noise);
    struct fit_nlsq_options opt = {.max_iterations = STEPS,
                                   .brief = 1,
                                   .ftol = 1e-8,
                                   .xtol = 1e-8,
                                   .gtol = 0.1,
                                   .deadline = f->deadline};
    fit_nlsq_run(f->nlsq, &problem, &opt, p->theta);
    p->lower[k] = low;
    p->upper[k] = high;
    return 2 * (f->nlsq->cost - p->cost) / p->variance;
}

/* The error of parameter k by its profile toward one side; INFINITY: flat up to the bound. */
static double one_side(struct profile *p, size_t k, double std, double side)
{
    p->along = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        double v = p->best[k] + side * (turn ? AWAY : NEAR) * std;
        int limited = v <= p->f->lower[k] || v >= p->f->upper[k];
        v = fmin(fmax(v, p->f->lower[k]), p->f->upper[k]);
        double away = fabs(v - p->best[k]), expected = away / std * (away / std);
        if (!(away > 0))
            return std; /* stands at the bound: the other side tells */
        double found = rise(p, k, v);
        if (turn == 0 && !limited && found >= LEAST * expected)
            continue; /* only a step on the way */
        if (isnan(found) || found >= LEAST * expected)
            return std;
        if (limited && found < LEAST * AWAY * AWAY && expected > 1)
            return INFINITY;
        std = found > 0 ? fmin(away / sqrt(found), MOST_WIDER * std) : MOST_WIDER * std;
    }
    return std;
}

/* One value on each side where the paraboloid is four above its least: no more is done when it holds. */
static int holds(struct profile *p, size_t k)
{
    for (int side = -1; side <= 1; side += 2) {
        predict(p, k, p->best[k] + side * NEAR * p->f->res->std[k]);
        if (fit_objective_value(p->f->obj, p->theta) != FIT_EVAL_OK)
            return 0;
        double found = 2 * (p->f->obj->cost - p->cost) / p->variance;
        if (!(found > AS_EXPECTED[0] && found < AS_EXPECTED[1]))
            return 0;
    }
    return 1;
}

/* A parameter on a bound, or open over the box: what the errors of the others say holds with it held. */
static int is_open(const struct fit_job *f)
{
    const struct fit_result *r = f->res;
    for (size_t k = 0; k < f->p; k++)
        if (f->upper[k] > f->lower[k] && (!(r->std[k] < FLAT * (f->upper[k] - f->lower[k]))))
            return 1;
    return 0;
}

static int worth_a_look(struct profile *p, size_t k, int open)
{
    const struct fit_job *f = p->f;
    double B = f->B[k * (f->p + 1)], std = f->res->std[k];
    if (!(std > 0) || !(f->upper[k] > f->lower[k]))
        return 0;
    return open || (!(std < CORRELATED * sqrt(p->variance / B)) && !holds(p, k));
}

enum fit_status fit_profile_errors(struct fit_job *f, double variance)
{
    struct fit_result *r = f->res;
    double *all = malloc(4 * f->p * sizeof *all + 1), *wider;
    struct profile p = {.f = f, .best = r->theta, .variance = variance};
    if (!all)
        return fit_fail(f->err, FIT_ERR_MEMORY, "fit: out of memory");
    p.lower = all;
    p.upper = p.lower + f->p;
    p.theta = p.upper + f->p;
    wider = p.theta + f->p;
    memcpy(p.lower, f->lower, f->p * sizeof *p.lower);
    memcpy(p.upper, f->upper, f->p * sizeof *p.upper);
    p.cost = f->obj->cost;
    int open = is_open(f);
    for (size_t k = 0; k < f->p; k++)
        wider[k] = -1; /* not looked at */
    for (int again = 1; again;) {
        int before = open;
        for (size_t k = 0; k < f->p; k++) {
            if (wider[k] >= 0 || !worth_a_look(&p, k, open))
                continue;
            wider[k] = fmax(one_side(&p, k, r->std[k], 1), one_side(&p, k, r->std[k], -1));
            open |= wider[k] > MUCH * r->std[k]; /* the others are in the same valley */
        }
        again = open && !before;
    }
    for (size_t k = 0; k < f->p; k++)
        r->profile[k] = wider[k] > r->std[k] ? wider[k] : r->std[k];
    free(all);
    return FIT_OK;
}
