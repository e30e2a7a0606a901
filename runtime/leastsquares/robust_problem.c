/* robust_problem.c -- see robust_problem.h.
 *
 * Every pass (fit_objective_newton) gives the cost F at theta and linear parameters u, and a quadratic model that
 * touches it:
 *     F - g.dtheta - gu.du + 1/2 (dtheta, du) (H C; C^T A) (dtheta, du).
 * Its minimum over u, inside their bounds, leaves a model in theta alone: nlsq.h takes its step. At the end of the step
 * u is the minimum of the model, correct to first order: the next pass is value and derivatives at once. Only where F
 * then exceeds the prediction, and u seems to be the cause, u is improved at the same theta.
 *
 * The model omits second derivatives of the mean, and the dependence of the residuals' size on the derivatives. Their
 * effect appears in the gradients: g(x) - g(x + s) = (B + S) s, from which S is learned as in the augmented
 * Gauss-Newton method of Dennis, Gay & Welsch (ACM Trans. Math. Softw. 7 (1981) 348), where u is so close to its
 * optimum that the gradients are exact.
 */
#include "leastsquares/robust_problem.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "leastsquares/objective_impl.h"
#include "leastsquares/rate_valley.h"
#include "math/linalg.h"

/* A step that gains this fraction of the prediction needs no further one of u; nor does it when the predicted gain
 * of u is smaller. */
static const double ENOUGH = 0.5;
/* A step of theta has failed where so many times the predicted gain of steps of u would not repair it. */
static const double OPTIMISTIC = 2;
/* S is used while B + S is not less than this fraction of B, and not more than that multiple. */
static const double LEAST = 0.02, MOST = 4;
enum { TURNS = 30 };

struct fit_robust_problem {
    struct fit_objective *o;
    struct fit_objective_robust r;
    const double *lower, *upper, *factor;
    double *at;                       /* nu: where u was in the last pass whose cost counts */
    double *B, *g;                    /* of the last pass */
    int based;                        /* 1: derivatives were asked for; where they were last: */
    double *A, *b, *cross;            /* of the sum of squares there */
    double *before, *slope, *hessian; /* theta, gradient, B + S */
    double cost, gain;                /* there; what the step of u promised */
    double *S, *work;                 /* nparam x nparam; the same + 2 nparam */
};

struct fit_robust_problem *fit_robust_problem_new(struct fit_objective *o, const double *factor, enum fit_loss loss,
                                                  double f_scale, const double *lower, const double *upper,
                                                  struct fit_arena *a)
{
    const size_t p = o->nparam;
    struct fit_robust_problem *c = fit_take(a, 1, sizeof *c);
    if (!c)
        return NULL;
    *c = (struct fit_robust_problem){.o = o, .r = {.loss = loss, .f_scale = f_scale}, .lower = lower, .upper = upper};
    FIT_TAKE_DOUBLES(a, o->nu, &c->at, &c->b);
    FIT_TAKE_DOUBLES(a, fit_objective_matrices(o), &c->A);
    FIT_TAKE_DOUBLES(a, o->nu * p, &c->cross);
    FIT_TAKE_DOUBLES(a, p, &c->g, &c->before, &c->slope);
    FIT_TAKE_DOUBLES(a, p * p, &c->B, &c->hessian, &c->S);
    FIT_TAKE_DOUBLES(a, p * p + 2 * p, &c->work);
    c->factor = factor;
    return c;
}

/* lin where u is. */
static void put_linear(struct fit_objective *o)
{
    for (size_t g = 0; g < o->ngroup; g++)
        fit_objective_group(o, g, o->u, o->lin + g * o->nlinear);
}

/* ---- value ----------------------------------------------------------------------------------- */

/* u at the minimum of the model at `before` for this x. */
static enum fit_eval predict(struct fit_robust_problem *c, const double *x)
{
    struct fit_objective *o = c->o;
    size_t p = o->nparam;
    memcpy(o->A, c->A, fit_objective_matrices(o) * sizeof *o->A);
    for (size_t u = 0; u < o->nu; u++) {
        o->b[u] = c->b[u];
        for (size_t k = 0; k < p; k++)
            o->b[u] -= c->cross[u * p + k] * (x[k] - c->before[k]);
    }
    return fit_objective_solve(o);
}

/* Predicted gain of the step to x by the model at `before`. */
static double promised_by_step(const struct fit_robust_problem *c, const double *x)
{
    size_t p = c->o->nparam;
    double sum = 0;
    for (size_t k = 0; k < p; k++) {
        double s = x[k] - c->before[k];
        sum += s * c->slope[k];
        for (size_t l = 0; l < p; l++)
            sum -= 0.5 * s * c->hessian[k * p + l] * (x[l] - c->before[l]);
    }
    return fmax(sum, 0);
}

/* Passes at x, from u on, until the cost is at most `low`, or cannot become so, or the predicted gain of u is at
 * most `enough`, or the cost no longer falls. A step of mean curvature may be too long, one of the majorant's never
 * is. */
static enum fit_eval step_linear(struct fit_robust_problem *c, const double *x, double low, double enough)
{
    struct fit_objective *o = c->o;
    double least = INFINITY, curve = 1, promised = INFINITY;
    for (int turn = 0; turn < TURNS; turn++) {
        enum fit_eval e = fit_objective_newton(o, x, &c->r, c->B, c->g);
        if (e != FIT_EVAL_OK)
            return e;
        const double cost = c->r.cost + c->r.penalty;
        if (cost > least * (1 + 1e-12)) { /* back, and a shorter step */
            for (size_t u = 0; u < o->nu; u++) {
                const double reached = o->u[u] - o->du[u];
                o->u[u] = c->at[u] + curve * (reached - c->at[u]);
            }
            curve *= curve < 1 ? 1 : 0.5;
            put_linear(o);
            continue;
        }
        const int stalls = turn > 2 && c->r.gain > 0.5 * promised && least - cost <= 1e-12 * cost;
        const int hopeless = isfinite(low) && cost - OPTIMISTIC * c->r.gain > low;
        if (cost <= low || c->r.gain <= enough || stalls || hopeless)
            return FIT_EVAL_OK;
        for (size_t u = 0; u < o->nu; u++)
            c->at[u] = o->u[u] - o->du[u];
        least = cost;
        promised = c->r.gain;
        curve = c->r.curve;
    }
    return FIT_EVAL_OK;
}

static enum fit_eval value(void *user, const double *x, double *cost, double *error)
{
    struct fit_robust_problem *c = user;
    const double promised = c->based ? promised_by_step(c, x) : 0;
    const double low = c->based ? c->cost - ENOUGH * promised : INFINITY;
    enum fit_eval e = c->based ? predict(c, x) : FIT_EVAL_OK;
    if (e == FIT_EVAL_OK)
        e = step_linear(c, x, low, fmax(ENOUGH * promised, DBL_EPSILON * c->cost));
    *cost = c->r.cost + c->r.penalty;
    *error = 4 * DBL_EPSILON * *cost;
    return e;
}

/* ---- derivatives ----------------------------------------------------------------------------- */

/* Can parameter k move both ways from x, and does it matter? */
static int moves(const struct fit_robust_problem *c, const double *x, size_t k)
{
    return x[k] > c->lower[k] && x[k] < c->upper[k] && c->B[k * (c->o->nparam + 1)] > 0;
}

/* 1: B + S lies between LEAST B and MOST B, over the parameters that vary. */
static int believable(const struct fit_robust_problem *c, const double *x)
{
    size_t p = c->o->nparam;
    const double *B = c->B;
    for (int side = 0; side < 2; side++) {
        for (size_t k = 0; k < p; k++)
            for (size_t l = 0; l < p; l++) {
                const double sum = side ? (MOST - 1) * B[k * p + l] - c->S[k * p + l]
                                        : (1 - LEAST) * B[k * p + l] + c->S[k * p + l];
                c->work[k * p + l] = moves(c, x, k) && moves(c, x, l) ? sum : k == l;
            }
        if (fit_cholesky(p, c->work, 0) != 0)
            return 0;
    }
    return 1;
}

/* S learns from the gradients at `before` and at x, with B taken midway: with y their difference and v = y - (B + S)
 * s, S + (v y^T + y v^T) / y.s - (v.s) y y^T / (y.s)^2 is the nearest matrix that maps s to y - B s. */
static void learn(struct fit_robust_problem *c, const double *x)
{
    size_t p = c->o->nparam;
    double *v = c->work, *y = v + p, vs = 0, ys = 0, square = 0;
    for (size_t k = 0; k < p; k++) {
        double half = 0;
        for (size_t l = 0; l < p; l++)
            half += 0.5 * (c->B[k * p + l] + c->S[k * p + l] + c->hessian[k * p + l]) * (x[l] - c->before[l]);
        const int any = moves(c, x, k);
        y[k] = any ? c->slope[k] - c->g[k] : 0;
        v[k] = any ? y[k] - half : 0;
        vs += v[k] * (x[k] - c->before[k]);
        ys += y[k] * (x[k] - c->before[k]);
        square += half * (x[k] - c->before[k]);
    }
    if (ys > LEAST * square && fmax(c->gain, c->r.gain) <= 0.5 * square)
        for (size_t k = 0; k < p; k++)
            for (size_t l = 0; l < p; l++)
                c->S[k * p + l] += (v[k] * y[l] + y[k] * v[l]) / ys - vs / ys * y[k] * y[l] / ys;
    if (!believable(c, x))
        memset(c->S, 0, p * p * sizeof *c->S);
}

static enum fit_eval normal(void *user, const double *x, double *B, double *g)
{
    struct fit_robust_problem *c = user;
    const struct fit_objective *o = c->o;
    size_t p = o->nparam;
    memcpy(c->A, o->A, fit_objective_matrices(o) * sizeof *c->A);
    memcpy(c->b, o->b, o->nu * sizeof *c->b);
    memcpy(c->cross, o->cross, o->nu * p * sizeof *c->cross);
    if (c->based)
        learn(c, x);
    c->based = 1;
    c->cost = c->r.cost + c->r.penalty;
    c->gain = c->r.gain;
    memcpy(c->before, x, p * sizeof *c->before);
    memcpy(c->slope, c->g, p * sizeof *c->slope);
    memcpy(g, c->g, p * sizeof *g);
    for (size_t k = 0; k < p * p; k++)
        B[k] = c->hessian[k] = c->B[k] + c->S[k];
    return FIT_EVAL_OK;
}

static void bend(void *user, const double *lower, const double *upper, const double *x, double *trial)
{
    const struct fit_robust_problem *c = user;
    fit_valley_bend(c->o->kernel, &c->o->ds->layout, lower, upper, x, trial);
}

struct fit_nlsq_problem fit_robust_problem(struct fit_robust_problem *c, double dof)
{
    const struct fit_kernel *k = c->o->kernel;
    return (struct fit_nlsq_problem){.n = c->o->nparam,
                                     .lower = c->lower,
                                     .upper = c->upper,
                                     .dof = dof,
                                     .noise = 1,
                                     .user = c,
                                     .value = value,
                                     .normal = normal,
                                     .bend = k->nrate && k->space == FIT_PAIRS ? bend : NULL};
}

/* Predicted gain, by the model of the last pass, of the best step of theta from x, ignoring bounds. */
static double promised_by_theta(struct fit_robust_problem *c, const double *x)
{
    size_t p = c->o->nparam;
    double *factor = c->work, *step = factor + p * p, sum = 0;
    for (size_t k = 0; k < p; k++) {
        step[k] = moves(c, x, k) ? c->g[k] : 0;
        for (size_t l = 0; l < p; l++)
            factor[k * p + l] = moves(c, x, k) && moves(c, x, l) ? c->B[k * p + l] : k == l;
    }
    if (fit_cholesky(p, factor, 1e-12) != 0)
        return INFINITY;
    fit_lower_solve(p, factor, step);
    for (size_t k = 0; k < p; k++)
        sum += 0.5 * step[k] * step[k];
    return sum;
}

enum fit_eval fit_robust_problem_begin(struct fit_robust_problem *c, const double *x, double known[2],
                                       double *promised)
{
    struct fit_objective *o = c->o;
    fit_objective_group_factor(o, c->factor);
    for (size_t e = 0; e < o->ngroup * o->nlinear; e++)
        if (o->map[e] >= 0)
            o->u[o->map[e]] = o->lin[e] - o->shift[e];
    c->based = 0;
    enum fit_eval e = value(c, x, &known[0], &known[1]);
    *promised = e == FIT_EVAL_OK ? c->r.gain + promised_by_theta(c, x) : INFINITY;
    return e;
}

enum fit_eval fit_robust_problem_freeze(struct fit_robust_problem *c, const double *x, int majorant)
{
    struct fit_objective *o = c->o;
    struct fit_objective_robust r = c->r;
    if (majorant)
        r.curve = 1;
    for (size_t u = 0; u < o->nu; u++)
        o->u[u] -= o->du[u];
    put_linear(o);
    return fit_objective_freeze(o, x, c->factor, &r);
}

enum fit_eval fit_robust_problem_end(struct fit_robust_problem *c, const double *x, int known, double gtol,
                                     struct fit_objective_robust *sums)
{
    /* a step of u brings it ten times nearer, and needs no pass to be taken */
    const double enough = 50 * gtol * gtol;
    enum fit_eval e = FIT_EVAL_OK;
    double cost, error;
    if (!known)
        e = value(c, x, &cost, &error);
    if (e == FIT_EVAL_OK && c->r.gain > enough)
        e = step_linear(c, x, -INFINITY, enough);
    *sums = c->r;
    return e;
}
