/* nlsq.c -- bounded trust-region Gauss-Newton for few parameters and any number of residuals.
 *
 * Takes cost, J^T J and J^T r as functions; gives the minimum and says how it was found. In scaled variables z = D p
 * the step solves
 *     min  1/2 z.(B' + rho + lambda) z - g'.z     lower <= x + z/D <= upper,   |z| <= delta,
 * B' = D^-1 B D^-1, g' = D^-1 g. |z(lambda)| does not increase with lambda, also with the box, so lambda is found by a
 * secant on 1/|z| (Hebden 1973; More 1978) inside a bracket.
 *
 * rho_k = (s / (10 width_k D_k))^2: a direction that the data leave open over more than ten times the box is not
 * followed. This only shortens steps; the minimum is still where g = 0.
 *
 * Where the reduction of the cost repeatedly differs strongly from the predicted one, the second derivatives that B
 * omits, S = sum r d2r, are found by differences and added (Dennis, Gay & Welsch, ACM TOMS 7 (1981) 348, who update
 * them from the steps).
 *
 * For runs that end close to one another, as those along a profile do, B is much the same, and a pass for the gradient
 * alone costs a fifth to a tenth of one for both. Such a run begins with a known B and with the gradient. It takes
 * steps by that B (the chord method, Ortega & Rheinboldt, Iterative Solution of Nonlinear Equations (1970), 7.1) while
 * these approach the minimum, and recomputes B where it is far, or where a step fails or leaves too much of the
 * gradient.
 *
 * More, Lect. Notes Math. 630 (1978) 105; Conn, Gould & Toint, Trust-Region Methods (2000), chapter 6.
 */
#include "leastsquares/nlsq.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "math/linalg.h"

/* The cost judges a step only where the predicted reduction is so many times its rounding error: both ends of the
 * difference have one, and each is an estimate to a factor of about two. */
static const double MEASURABLE = 4;
/* An ftol of this or less requests the resolution of the cost: then steps continue while the gradient falls. A
 * larger one ends the run by itself. */
static const double FINEST_FTOL = 1e-13;
/* A step is accepted when the cost falls by this fraction of the predicted reduction (More 1978); below POOR of it
 * the trust region shrinks, above GOOD it grows (Conn, Gould & Toint, section 6.1). */
static const double ACCEPTED_PART = 1e-4, POOR = 0.25, GOOD = 0.75;
/* After so many reductions that differ from the predicted ones by more than POOR of them, and so many iterations in
 * all, second derivatives are computed: most fits have converged before, which saves n passes. */
enum { MISJUDGED = 8, EARLY = 15 };
/* Corrected steps: CORRECTION is the largest length of a correction relative to the failed step; it is accepted when
 * it yields WORTH of the reduction predicted for the failed step, and the radius is kept when it yields more than
 * FULL of it. After TRIES failures in a row there is none for the next RESTS failed steps. */
static const double CORRECTION = 0.3, WORTH = 0.1, FULL = 0.5;
enum { TRIES = 2, RESTS = 4 };
/* Required relative agreement of |z| with delta (More 1978, sigma = 0.1): a closer one changes no relevant step.
 * Radii shrink by a half at least, so that MOST_TRIALS of them reach the rounding of any x. */
static const double RADIUS = 0.1;
enum { MOST_SECANTS = 40, MOST_TRIALS = 80 };
/* Differences for second derivatives are taken over this fraction of a standard error: the cost is quadratic over
 * such distances, and gradients differ by more than their rounding. */
static const double DIFFERENCE = 1e-2;
/* A parameter is followed over at most so many widths of its box; without a box, over so many times its size. */
static const double WIDTHS = 10, UNBOUNDED = 1e3;
/* Within this distance of the minimum, in standard errors, no test of chi2 distinguishes two points: a run that
 * cannot continue, or has used up its iterations where data do not determine some direction, has converged. */
static const double NEAR = 1e-2;
/* Where rounding hides the gain of steps, the gradient decides: a run ends when more than STALLS such steps in all,
 * after the first, have left at least STILL of it. */
static const double STILL = 0.7;
enum { STALLS = 2 };
/* B of another point is used within so many standard errors of the minimum, while steps leave less than LEADS of the
 * gradient. */
static const double NEARBY = 1, LEADS = 0.3;

/* n numbers each, but for matrices (n x n) and what linalg.h asks for. */
struct fit_nlsq_work {
    double *d, *floor, *gs, *lower, *upper, *ref, *z, *trial; /* of the step */
    double *g, *x0, *d0, *B0; /* gradient beside x; with g, what a step that is corrected may have to go back to */
    double *Bs, *M, *S;       /* matrices; S: second derivatives that B omits */
    double *eigen, *qp;
    signed char *active;
    struct fit_arena storage;
};

struct state {
    const struct fit_nlsq_problem *p;
    const struct fit_nlsq_options *opt;
    struct fit_nlsq *s;
    double *x;
    double delta, lambda, s2;
    int tries, rests; /* of corrected steps */
    int stalled;   /* steps below the rounding of the cost that did not lower the gradient */
    double before; /* gradient before the last such step */
    int misjudged; /* reductions far from the predicted ones, since S was found */
    int curved;    /* S is known */
    int stale;     /* B is that of another point */
    struct fit_nlsq_work *w;
};

static struct fit_nlsq_work *work_new(size_t n)
{
    const size_t m = n + 1;
    struct fit_nlsq_work *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    struct fit_arena *a = &w->storage;
    FIT_TAKE_DOUBLES(a, m, &w->d, &w->floor, &w->gs, &w->lower, &w->upper, &w->ref, &w->z, &w->trial, &w->g, &w->x0,
                     &w->d0);
    FIT_TAKE_DOUBLES(a, m * m, &w->Bs, &w->M, &w->S, &w->B0);
    FIT_TAKE_DOUBLES(a, m + fit_eigen_work(m), &w->eigen);
    FIT_TAKE_DOUBLES(a, fit_boxqp_work(m), &w->qp);
    w->active = fit_take(a, m, sizeof *w->active);
    return w;
}

struct fit_nlsq *fit_nlsq_new(size_t n)
{
    struct fit_nlsq *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->n = n;
    s->work = work_new(n);
    if (s->work) {
        FIT_TAKE_DOUBLES(&s->work->storage, (n + 1) * (n + 1), &s->B);
        FIT_TAKE_DOUBLES(&s->work->storage, n + 1, &s->g);
    }
    if (!s->work || s->work->storage.failed) {
        fit_nlsq_free(s);
        return NULL;
    }
    return s;
}

void fit_nlsq_free(struct fit_nlsq *s)
{
    if (!s)
        return;
    if (s->work)
        fit_arena_free(&s->work->storage);
    free(s->work);
    free(s);
}

static int free_parameter(const struct state *t, size_t k)
{
    return t->p->upper[k] > t->p->lower[k];
}

/* Largest reasonable change of the parameter. */
static double width(const struct state *t, size_t k)
{
    double w = t->p->upper[k] - t->p->lower[k];
    return isfinite(w) && w > 0 ? w : UNBOUNDED * fmax(fabs(t->x[k]), 1);
}

/* Adds S to Bs. Where the sum is not positive definite, because the cost is not convex there, only the part of S
 * with positive eigenvalues is added: where B underestimates the curvature, steps are limited accordingly. */
static void add_curvature(struct state *t)
{
    const size_t n = t->p->n;
    double *M = t->w->M, *w = t->w->eigen;
    for (size_t k = 0; k < n * n; k++)
        M[k] = t->w->Bs[k] + t->w->S[k] / (t->w->d[k / n] * t->w->d[k % n]);
    for (size_t k = 0; k < n; k++)
        M[k * (n + 1)] += t->w->floor[k] / t->w->d[k] * (t->w->floor[k] / t->w->d[k]);
    const int bowl = fit_cholesky(n, M, 1e-12) == 0;
    for (size_t k = 0; k < n * n; k++)
        M[k] = t->w->S[k] / (t->w->d[k / n] * t->w->d[k % n]);
    if (!bowl && fit_eigen(n, M, w, w + n) != 0)
        return;
    for (size_t k = 0; k < n * n && bowl; k++)
        t->w->Bs[k] += M[k];
    for (size_t e = 0; e < n && !bowl; e++)
        for (size_t k = 0; k < n * n && w[e] > 0; k++)
            t->w->Bs[k] += w[e] * M[e * n + k / n] * M[e * n + k % n];
}

/* Scale, scaled gradient and matrix, and box for z, at the current x. */
static void rescale(struct state *t)
{
    size_t n = t->p->n;
    double s2 = 2 * t->s->cost / t->p->dof;
    t->s2 = t->p->likelihood ? 1 : t->p->noise > 0 ? fmin(t->p->noise, s2) : s2;
    for (size_t k = 0; k < n; k++) {
        t->w->floor[k] = sqrt(t->s2) / (WIDTHS * width(t, k));
        t->w->d[k] = fmax(t->w->d[k], fmax(sqrt(fmax(t->s->B[k * n + k], 0)), t->w->floor[k]));
        if (!(t->w->d[k] > 0))
            t->w->d[k] = 1;
        t->w->gs[k] = t->s->g[k] / t->w->d[k];
        t->w->lower[k] = (t->p->lower[k] - t->x[k]) * t->w->d[k];
        t->w->upper[k] = (t->p->upper[k] - t->x[k]) * t->w->d[k];
    }
    for (size_t k = 0; k < n; k++)
        for (size_t l = 0; l < n; l++)
            t->w->Bs[k * n + l] = t->s->B[k * n + l] / (t->w->d[k] * t->w->d[l]);
    if (t->curved)
        add_curvature(t);
}

/* z for a given lambda; returns its length, NaN when the matrix is not finite. */
static double solve(struct state *t, double lambda)
{
    size_t n = t->p->n;
    double s = 0;
    memcpy(t->w->M, t->w->Bs, n * n * sizeof *t->w->M);
    for (size_t k = 0; k < n; k++) {
        double open = t->w->floor[k] / t->w->d[k];
        t->w->M[k * n + k] += lambda + open * open;
    }
    if (fit_boxqp(&(struct fit_box){n, t->w->M, t->w->gs, t->w->lower, t->w->upper, t->w->ref}, t->w->z, t->w->active,
                  t->w->qp) < 0)
        return NAN;
    for (size_t k = 0; k < n; k++)
        s += t->w->z[k] * t->w->z[k];
    return sqrt(s);
}

/* Reduction of the cost that the model predicts for z; *square: z.B z. */
static double promised(const struct state *t, double *square)
{
    size_t n = t->p->n;
    double linear = 0, q = 0;
    for (size_t k = 0; k < n; k++) {
        linear += t->w->gs[k] * t->w->z[k];
        for (size_t l = 0; l < n; l++)
            q += t->w->z[k] * t->w->Bs[k * n + l] * t->w->z[l];
    }
    *square = q;
    return linear - 0.5 * q;
}

/* z inside the trust region.  Returns its length. */
static double find_step(struct state *t)
{
    double length = solve(t, 0), lo = 0, at_lo = length, hi, at_hi = 0, g = 0;
    if (!(length > (1 + RADIUS) * t->delta)) {
        t->lambda = 0;
        return length;
    }
    for (size_t k = 0; k < t->p->n; k++)
        g += t->w->gs[k] * t->w->gs[k];
    hi = sqrt(g) / t->delta; /* |z| <= |g'| / lambda */
    double lambda = t->lambda > 0 && t->lambda < hi ? t->lambda : 0.001 * hi;
    for (int turn = 0; turn < MOST_SECANTS; turn++) {
        length = solve(t, lambda);
        if (isnan(length) || fabs(length - t->delta) <= RADIUS * t->delta)
            break;
        if (length > t->delta) {
            lo = lambda;
            at_lo = length;
        } else {
            hi = lambda;
            at_hi = length;
        }
        double next = -1;
        if (at_hi > 0) /* secant on 1/length, which is nearly linear in lambda */
            next = lo + (hi - lo) * (1 / t->delta - 1 / at_lo) / (1 / at_hi - 1 / at_lo);
        else if (lo > 0)
            next = lo * (at_lo / t->delta) * 2;
        if (!(next > lo + 1e-3 * (hi - lo) && next < hi - 1e-3 * (hi - lo)))
            next = lo > 0 ? sqrt(lo * hi) : 1e-2 * hi;
        lambda = next;
    }
    t->lambda = lambda;
    return length;
}

/* trial = x + z / d, exactly on the active bounds, curved by the problem's own function. */
static void make_trial(struct state *t)
{
    for (size_t k = 0; k < t->p->n; k++) {
        double v = t->x[k] + t->w->z[k] / t->w->d[k];
        if (!free_parameter(t, k))
            v = t->x[k];
        else if (t->w->active[k])
            v = t->w->active[k] < 0 ? t->p->lower[k] : t->p->upper[k];
        t->w->trial[k] = fmin(fmax(v, t->p->lower[k]), t->p->upper[k]);
    }
    if (t->p->bend)
        t->p->bend(t->p->user, t->p->lower, t->p->upper, t->x, t->w->trial);
}

static int tiny_step(const struct state *t)
{
    for (size_t k = 0; k < t->p->n; k++) {
        double size = fabs(t->x[k]), w = t->p->upper[k] - t->p->lower[k];
        if (isfinite(w))
            size = fmax(size, 1e-6 * w);
        if (fabs(t->w->trial[k] - t->x[k]) > t->opt->xtol * size)
            return 0;
    }
    return 1;
}

enum outcome { ACCEPTED, LAST, ENDED }; /* LAST: accepted, and no further step is worth while */

static enum outcome end(struct state *t, enum fit_nlsq_end how, const char *reason)
{
    t->s->end = how;
    t->s->reason = reason;
    return ENDED;
}

static enum outcome last(struct state *t, enum fit_nlsq_end how, const char *reason)
{
    end(t, how, reason);
    return LAST;
}

static enum outcome no_better(struct state *t)
{
    if (t->s->gradient < NEAR)
        return end(t, t->s->accepted ? FIT_NLSQ_STEP : FIT_NLSQ_FAILED,
                   "steps have become too short to matter");
    return end(t, FIT_NLSQ_FAILED, "no step lowers the cost, although the gradient promises it");
}

/* After a step whose gain rounding hides: continue only while the gradient falls. */
static int stalls(struct state *t, int measurable)
{
    if (measurable) {
        t->stalled = 0;
        return 0;
    }
    if (t->stalled && t->s->gradient > STILL * t->before)
        t->stalled++;
    else
        t->stalled += !t->stalled;
    t->before = t->s->gradient;
    return t->stalled > STALLS;
}

static void accept(struct state *t, double cost, double error, double square)
{
    t->s->step = sqrt(fmax(square, 0) / (t->s2 > 0 ? t->s2 : DBL_MIN));
    memcpy(t->x, t->w->trial, t->p->n * sizeof *t->x);
    t->s->cost = cost;
    t->s->error = error;
    t->s->accepted++;
}

/* Result of one trial step. */
struct trial {
    double length, square;    /* of z, and z.B z */
    double predicted, actual; /* reduction of the cost */
    double cost, error;
    enum fit_eval e;
    int measurable; /* the cost can judge it */
    int tiny;
};

/* Evaluates the cost at the trial point. 0: no step has a predicted gain. */
static int try_step(struct state *t, struct trial *r)
{
    r->length = find_step(t);
    r->predicted = promised(t, &r->square);
    if (isnan(r->length) || !(r->predicted > 0))
        return 0;
    make_trial(t);
    r->error = 0;
    r->e = t->p->value(t->p->user, t->w->trial, &r->cost, &r->error);
    t->s->evaluations++;
    r->tiny = tiny_step(t);
    r->measurable = r->predicted > MEASURABLE * (r->error + t->s->error);
    r->actual = t->s->cost - r->cost;
    return 1;
}

static int is_acceptable(const struct state *t, const struct trial *r)
{
    return r->e == FIT_EVAL_OK && (r->measurable ? r->actual > ACCEPTED_PART * r->predicted
                                                 : r->actual >= -MEASURABLE * (r->error + t->s->error));
}

/* The trial point becomes x, unless rounding hides its gain. */
static enum outcome accept_step(struct state *t, const struct trial *r)
{
    const int small = fmax(fabs(r->actual), r->predicted) <= t->opt->ftol * r->cost;
    if (stalls(t, r->measurable && !small))
        return end(t, FIT_NLSQ_COST, "the cost is at its minimum to rounding");
    if (r->measurable && r->actual < POOR * r->predicted)
        t->delta = 0.5 * r->length;
    else if (r->measurable && r->actual > GOOD * r->predicted)
        t->delta = fmax(t->delta, 2 * r->length);
    t->misjudged += r->measurable && fabs(r->actual - r->predicted) > POOR * r->predicted;
    accept(t, r->cost, r->error, r->square);
    if (small && t->opt->ftol > FINEST_FTOL)
        return last(t, FIT_NLSQ_COST, "the cost does not fall any further");
    if (r->tiny)
        return last(t, FIT_NLSQ_STEP, "steps have become too short to matter");
    return ACCEPTED;
}

/* Saves the state to which a corrected step may have to return. */
static void set_aside(struct state *t)
{
    const size_t n = t->p->n;
    memcpy(t->w->B0, t->s->B, n * n * sizeof *t->w->B0);
    memcpy(t->w->g, t->s->g, n * sizeof *t->w->g);
    memcpy(t->w->x0, t->x, n * sizeof *t->x);
    memcpy(t->w->d0, t->w->d, n * sizeof *t->w->d);
}

static void go_back(struct state *t)
{
    const size_t n = t->p->n;
    memcpy(t->s->B, t->w->B0, n * n * sizeof *t->w->B0);
    memcpy(t->s->g, t->w->g, n * sizeof *t->w->g);
    memcpy(t->x, t->w->x0, n * sizeof *t->x);
    memcpy(t->w->d, t->w->d0, n * sizeof *t->w->d);
}

/* Derivatives at the end of the failed step, and the cost after another step from there; *again: its result. */
static enum fit_eval step_again(struct state *t, const struct trial *failed, struct trial *again)
{
    enum fit_eval e = t->p->normal(t->p->user, t->w->trial, t->s->B, t->s->g);
    if (e != FIT_EVAL_OK)
        return e;
    memcpy(t->x, t->w->trial, t->p->n * sizeof *t->x);
    t->s->cost = failed->cost;
    t->s->error = failed->error;
    rescale(t);
    t->delta = CORRECTION * failed->length;
    again->length = failed->length + find_step(t);
    promised(t, &again->square);
    make_trial(t);
    t->s->evaluations++;
    again->error = failed->error;
    return t->p->value(t->p->user, t->w->trial, &again->cost, &again->error);
}

/* A step along a narrow curved valley fails because it leaves the floor sideways, although its direction is right.
 * Before it is given up, one correction from its end is tried (the watchdog of Chamberlain, Powell, Lemarechal &
 * Pedersen, Math. Programming Study 16 (1982) 1, with one step of patience), at the price of a pass with
 * derivatives. 1: the corrected point is x; -1: told to stop. */
static int correct(struct state *t, const struct trial *failed)
{
    struct fit_nlsq *s = t->s;
    const double cost = s->cost, error = s->error, delta = t->delta, lambda = t->lambda;
    struct trial again;
    if (t->rests > 0) {
        t->rests--;
        return 0;
    }
    set_aside(t);
    const enum fit_eval e = step_again(t, failed, &again);
    if (e == FIT_EVAL_OK && cost - again.cost > WORTH * failed->predicted) {
        t->misjudged++;
        accept(t, again.cost, again.error, again.square);
        t->delta = cost - again.cost > FULL * failed->predicted ? fmax(delta, 2 * again.length) : delta;
        t->tries = TRIES;
        return 1;
    }
    go_back(t);
    s->cost = cost;
    s->error = error;
    rescale(t);
    t->delta = delta;
    t->lambda = lambda;
    if (--t->tries <= 0)
        t->rests = RESTS;
    return e == FIT_EVAL_STOP ? -1 : 0;
}

/* The minimum of the parabola through both costs and the slope (More 1978), within [0.1, 0.5]. */
static void shrink(struct state *t, const struct trial *r)
{
    const double slope = r->predicted + 0.5 * r->square;
    const double part = r->e == FIT_EVAL_OK ? 0.5 * slope / (slope - r->actual) : 0.1;
    t->delta = fmin(fmax(part, 0.1), 0.5) * fmin(r->length, t->delta);
    t->lambda *= 2;
}

/* Distance to the minimum by B and g; NaN: they are not finite. */
static double distance(struct state *t)
{
    double square;
    rescale(t);
    if (isnan(solve(t, 0)))
        return NAN;
    const double gain = fmax(promised(t, &square), 0);
    return t->s2 > 0 ? sqrt(2 * gain / t->s2) : gain > 0 ? INFINITY : 0;
}

/* B and g at x. */
static enum fit_eval renew(struct state *t)
{
    struct fit_nlsq *s = t->s;
    const enum fit_eval e = t->p->normal(t->p->user, t->x, s->B, s->g);
    t->stale = 0;
    s->gradient = e == FIT_EVAL_OK ? distance(t) : NAN;
    return e;
}

/* After a failed step by a B of another point: computes that of x. 0: there is nothing to renew, or it cannot be
 * done (*over: the run has ended). */
static int try_renewed(struct state *t, int *over)
{
    double cost, error;
    if (!t->stale)
        return 0;
    enum fit_eval e = t->p->value(t->p->user, t->x, &cost, &error);
    t->s->evaluations++;
    if (e == FIT_EVAL_OK)
        e = renew(t);
    *over = e == FIT_EVAL_STOP;
    t->stale = 0;
    return e == FIT_EVAL_OK && isfinite(t->s->gradient);
}

/* Tries steps until one is accepted. */
static enum outcome iterate(struct state *t)
{
    for (int turn = 0; turn < MOST_TRIALS; turn++) {
        struct trial r;
        if (!try_step(t, &r))
            return end(t, FIT_NLSQ_COST, "the gradient is zero to rounding");
        if (r.e == FIT_EVAL_STOP)
            return end(t, FIT_NLSQ_STOPPED, "stopped on request");
        if (is_acceptable(t, &r))
            return accept_step(t, &r);
        int over = 0;
        if (try_renewed(t, &over))
            continue;
        if (over)
            return end(t, FIT_NLSQ_STOPPED, "stopped on request");
        if (r.e == FIT_EVAL_OK && !r.measurable)
            return end(t, FIT_NLSQ_COST, "the cost is at its minimum to rounding");
        if (r.tiny)
            return no_better(t);
        const int corrected = r.e == FIT_EVAL_OK ? correct(t, &r) : 0;
        if (corrected)
            return corrected > 0 ? ACCEPTED : end(t, FIT_NLSQ_STOPPED, "stopped on request");
        shrink(t, &r);
    }
    return no_better(t);
}

/* Row k of S from the gradient one difference away from x, where B and g are those of x. */
static enum fit_eval curvature_row(struct state *t, size_t k)
{
    struct fit_nlsq *s = t->s;
    const size_t n = t->p->n;
    double *trial = t->w->trial, *g = t->w->g, cost, error, step = DIFFERENCE * sqrt(t->s2) / t->w->d[k];
    if (t->x[k] + step > t->p->upper[k])
        step = -step;
    trial[k] = t->x[k] + step;
    step = trial[k] - t->x[k]; /* as it is in double precision */
    enum fit_eval e = FIT_EVAL_OK;
    if (free_parameter(t, k) && step != 0 && trial[k] >= t->p->lower[k]) {
        e = t->p->value(t->p->user, trial, &cost, &error);
        s->evaluations++;
        if (e == FIT_EVAL_OK)
            e = t->p->normal(t->p->user, trial, t->w->M, g);
        for (size_t l = 0; l < n && e == FIT_EVAL_OK; l++) /* g falls where the cost is convex */
            t->w->S[k * n + l] = (s->g[l] - g[l]) / step - s->B[k * n + l];
    }
    trial[k] = t->x[k];
    return e;
}

/* S at x: one pass for the cost and one with derivatives for each free parameter. */
static enum fit_eval find_curvature(struct state *t)
{
    struct fit_nlsq *s = t->s;
    const size_t n = t->p->n;
    double *H = t->w->S, cost, error;
    enum fit_eval e = FIT_EVAL_OK;
    memset(H, 0, n * n * sizeof *H);
    memcpy(t->w->trial, t->x, n * sizeof *t->x);
    for (size_t k = 0; k < n && e == FIT_EVAL_OK; k++)
        e = curvature_row(t, k);
    for (size_t k = 0; k < n; k++)
        for (size_t l = 0; l < k; l++)
            H[k * n + l] = H[l * n + k] = free_parameter(t, k) && free_parameter(t, l)
                                              ? 0.5 * (H[k * n + l] + H[l * n + k])
                                              : 0;
    t->curved = e == FIT_EVAL_OK;
    for (size_t k = 0; k < n * n; k++)
        t->curved &= isfinite(H[k]);
    s->curvature = t->curved ? H : NULL;
    if (e != FIT_EVAL_STOP) { /* the problem is at x again */
        e = t->p->value(t->p->user, t->x, &cost, &error);
        s->evaluations++;
    }
    return e;
}

/* g at x, and B where the present one cannot be used. */
static enum fit_eval differentiate(struct state *t)
{
    struct fit_nlsq *s = t->s;
    const double enough = s->iterations ? LEADS * s->gradient : NEARBY;
    if (!t->stale)
        return renew(t);
    const enum fit_eval e = t->p->gradient(t->p->user, t->x, s->g);
    s->gradient = e == FIT_EVAL_OK ? distance(t) : NAN;
    return e != FIT_EVAL_OK || s->gradient <= fmax(t->opt->gtol, enough) ? e : renew(t);
}

/* Computes derivatives at x and tests the gradient. Returns 1 when the run is over. */
static int linearise(struct state *t)
{
    struct fit_nlsq *s = t->s;
    enum fit_eval e = differentiate(t);
    if (e != FIT_EVAL_OK) {
        end(t, e == FIT_EVAL_STOP ? FIT_NLSQ_STOPPED : FIT_NLSQ_FAILED,
            e == FIT_EVAL_STOP ? "stopped on request" : "derivatives are not finite");
        return 1;
    }
    if (t->misjudged >= MISJUDGED && s->iterations >= EARLY && t->opt->curved && !t->p->likelihood) {
        if (find_curvature(t) == FIT_EVAL_STOP) {
            end(t, FIT_NLSQ_STOPPED, "stopped on request");
            return 1;
        }
        t->misjudged = 0;
        s->gradient = distance(t);
    }
    if (isnan(s->gradient)) {
        end(t, FIT_NLSQ_FAILED, "derivatives are not finite");
        return 1;
    }
    if (s->gradient <= t->opt->gtol) {
        end(t, FIT_NLSQ_GRADIENT, "the gradient is zero to the accuracy asked for");
        return 1;
    }
    if (s->cost <= s->error) {
        end(t, FIT_NLSQ_COST, "the model goes through the data to rounding");
        return 1;
    }
    return 0;
}

static int told_to_stop(struct state *t)
{
    const struct fit_nlsq *s = t->s;
    if (!t->opt->watch)
        return 0;
    const struct fit_nlsq_report r = {s->iterations, s->cost, s->step, s->gradient};
    const enum fit_nlsq_answer answer = t->opt->watch(t->opt->watch_user, &r);
    if (answer == FIT_NLSQ_STOP)
        end(t, FIT_NLSQ_STOPPED, "stopped on request");
    else if (answer == FIT_NLSQ_TIME_IS_UP)
        end(t, FIT_NLSQ_LIMIT, "the time allowed is over");
    return answer != FIT_NLSQ_GO_ON;
}

/* First radius: the length of x itself, as in MINPACK; of the residual when x is zero. */
static double first_radius(const struct state *t)
{
    double s = 0;
    for (size_t k = 0; k < t->p->n; k++)
        s += free_parameter(t, k) ? t->x[k] * t->w->d[k] * t->x[k] * t->w->d[k] : 0;
    return s > 0 ? sqrt(s) : fmax(sqrt(2 * t->s->cost), DBL_MIN);
}

/* Initial state of a run from x, which is moved into the box. */
static struct state begin(struct fit_nlsq *s, const struct fit_nlsq_problem *p, const struct fit_nlsq_options *opt,
                          double *x)
{
    struct state t = {.p = p, .opt = opt, .s = s, .x = x, .tries = TRIES, .w = s->work};
    *s = (struct fit_nlsq){
        .n = s->n, .B = s->B, .g = s->g, .work = s->work, .cost = NAN, .gradient = NAN, .first = NAN};
    memset(t.w->ref, 0, p->n * sizeof *t.w->ref);
    memset(t.w->d, 0, p->n * sizeof *t.w->d);
    if (opt->curvature) {
        t.curved = 1;
        memmove(t.w->S, opt->curvature, p->n * p->n * sizeof *t.w->S);
    }
    t.stale = opt->near && p->gradient;
    if (t.stale)
        memmove(s->B, opt->near, p->n * p->n * sizeof *s->B);
    for (size_t k = 0; k < p->n; k++)
        x[k] = fmin(fmax(x[k], p->lower[k]), p->upper[k]);
    return t;
}

/* Cost at the start; 0: none, and the run is over. */
static int first_cost(struct state *t)
{
    struct fit_nlsq *s = t->s;
    enum fit_eval e = FIT_EVAL_OK;
    if (t->opt->known) {
        s->cost = t->opt->known[0];
        s->error = t->opt->known[1];
    } else {
        e = t->p->value(t->p->user, t->x, &s->cost, &s->error);
        s->evaluations = 1;
    }
    s->current = e == FIT_EVAL_OK;
    if (e == FIT_EVAL_OK)
        return 1;
    s->cost = NAN;
    end(t, e == FIT_EVAL_STOP ? FIT_NLSQ_STOPPED : FIT_NLSQ_FAILED,
        e == FIT_EVAL_STOP ? "stopped on request" : "the model is not finite at the start");
    return 0;
}

static int used_up(struct state *t)
{
    if (t->s->iterations < t->opt->max_iterations)
        return 0;
    if (t->s->gradient <= NEAR)
        end(t, FIT_NLSQ_COST, "a valley goes on, but chi2 would fall by less than 1e-4 along it");
    else
        end(t, FIT_NLSQ_LIMIT, "the number of iterations allowed is reached");
    return 1;
}

enum fit_nlsq_end fit_nlsq_run(struct fit_nlsq *s, const struct fit_nlsq_problem *p,
                               const struct fit_nlsq_options *opt, double *x)
{
    struct state t = begin(s, p, opt, x);
    if (!first_cost(&t))
        return s->end;
    int over = linearise(&t);
    s->first = s->gradient;
    t.delta = over ? 0 : first_radius(&t);
    while (!over && !told_to_stop(&t) && !used_up(&t)) {
        s->iterations++;
        const enum outcome o = iterate(&t);
        s->current = o != ENDED;
        if (o == ENDED || (opt->brief && s->iterations >= opt->max_iterations))
            break;
        over = linearise(&t) || o == LAST;
    }
    return s->end;
}
