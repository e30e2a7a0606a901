/* nlsq.c -- bounded trust-region Gauss-Newton for few parameters and any number of residuals.
 *
 * Takes cost, J^T J and J^T r as functions; gives the minimum and an honest word about how it was
 * found. In scaled variables z = D p the step solves
 *     min  1/2 z.(B' + rho + lambda) z - g'.z     lower <= x + z/D <= upper,   |z| <= delta,
 * B' = D^-1 B D^-1, g' = D^-1 g.  |z(lambda)| does not increase with lambda, also with the box, so
 * lambda is found by a secant on 1/|z| (Hebden 1973; More 1978) inside a bracket.
 *
 * rho_k = (s / (10 width_k D_k))^2: a direction that the data leave open over more than ten times
 * the box is not followed.  It shortens steps only; the minimum is where g = 0 all the same.
 *
 * More, Lect. Notes Math. 630 (1978) 105; Conn, Gould & Toint, Trust-Region Methods (2000),
 * chapter 6.
 */
#include "leastsquares/nlsq.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/linalg.h"

/* Steps whose predicted gain is below this many times the rounding of the cost cannot be judged by
 * it. */
static const double MEASURABLE = 4;
/* An ftol of this or less asks for what the cost can show at most: then steps go on while the
 * gradient falls.  A larger one ends the run by itself. */
static const double FINEST_FTOL = 1e-13;

/* The tests of cost and step count only this close to the minimum, in standard errors: in a narrow
 * curved valley steps are short and gain little, far from its lowest point.  They are not doubted
 * more often than PATIENCE times. */
static const double CLOSE = 0.02;
enum { PATIENCE = 200 };
/* So many steps whose gain differs from what they promise by more than this part of it, after so many iterations: B
 * will not do. */
enum { BROKEN_PROMISES = 8, EARLY = 15 };
static const double KEPT = 0.25;
/* A run that has used up its iterations has arrived all the same when it is this close: where data do not determine
 * some direction, there may be no lowest point. */
static const double NEAR = 1e-2;

/* n numbers each, but for matrices (n x n) and what linalg.h asks for. */
struct fit_nlsq_work {
    double *d, *floor, *gs, *lower, *upper, *ref, *z, *trial; /* of the step */
    double *saved_g, *saved_x, *saved_d;                      /* before a step that is corrected */
    double *Bs, *M, *S, *saved_B;                             /* matrices */
    double *eigen, *qp;
    double *all; /* the block that holds them */
    signed char *active;
};

struct state {
    const struct fit_nlsq_problem *p;
    const struct fit_nlsq_options *opt;
    struct fit_nlsq *s;
    double *x;
    double delta, lambda, s2;
    int luck, wait; /* with corrected steps: see correct() */
    int stalled;    /* steps below the rounding of the cost that did not lower the gradient */
    double before;  /* gradient before the last such step */
    int broken;     /* promises, since S was found */
    int curved;     /* S is known */
    struct fit_nlsq_work *w; /* w->S: second derivatives of the cost that B leaves out */
};

static struct fit_nlsq_work *work_new(size_t n)
{
    const size_t vectors = 11, matrices = 4, m = n + 1;
    const size_t eigen = m + fit_eigen_work(m), size = vectors * m + matrices * m * m + eigen + fit_boxqp_work(m);
    struct fit_nlsq_work *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    double *at = w->all = calloc(size, sizeof *at);
    w->active = calloc(m, sizeof *w->active);
    double **vector[] = {&w->d, &w->floor, &w->gs,      &w->lower,   &w->upper,  &w->ref,
                         &w->z, &w->trial, &w->saved_g, &w->saved_x, &w->saved_d};
    double **matrix[] = {&w->Bs, &w->M, &w->S, &w->saved_B};
    for (size_t k = 0; at && k < vectors; k++, at += m)
        *vector[k] = at;
    for (size_t k = 0; at && k < matrices; k++, at += m * m)
        *matrix[k] = at;
    w->eigen = at;
    w->qp = at ? at + eigen : NULL;
    return w;
}

static void work_free(struct fit_nlsq_work *w)
{
    if (!w)
        return;
    free(w->all);
    free(w->active);
    free(w);
}

struct fit_nlsq *fit_nlsq_new(size_t n)
{
    struct fit_nlsq *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->n = n;
    s->B = calloc((n + 1) * (n + 1), sizeof *s->B);
    s->g = calloc(n + 1, sizeof *s->g);
    s->work = work_new(n);
    if (!s->B || !s->g || !s->work || !s->work->all || !s->work->active) {
        fit_nlsq_free(s);
        return NULL;
    }
    return s;
}

void fit_nlsq_free(struct fit_nlsq *s)
{
    if (!s)
        return;
    free(s->B);
    free(s->g);
    work_free(s->work);
    free(s);
}

static int free_parameter(const struct state *t, size_t k)
{
    return t->p->upper[k] > t->p->lower[k];
}

/* How far the parameter may reasonably go. */
static double width(const struct state *t, size_t k)
{
    double w = t->p->upper[k] - t->p->lower[k];
    return isfinite(w) && w > 0 ? w : 1e3 * fmax(fabs(t->x[k]), 1);
}

/* Adds S to Bs; where the sum is not positive definite, because the cost is no bowl, its part with positive
 * eigenvalues: a step keeps to what the curvature allows where B sees too little of it. */
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

/* Scale, scaled gradient and matrix, box for z, at the current x. */
static void rescale(struct state *t)
{
    size_t n = t->p->n;
    double s2 = 2 * t->s->cost / t->p->dof;
    t->s2 = t->p->likelihood ? 1 : t->p->noise > 0 ? fmin(t->p->noise, s2) : s2;
    for (size_t k = 0; k < n; k++) {
        t->w->floor[k] = sqrt(t->s2) / (10 * width(t, k));
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

/* Reduction of the cost that the model promises for z; *square: z.B z. */
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

/* z inside the trust region; length within 10 % of delta when delta limits it.  Returns the
 * length. */
static double find_step(struct state *t)
{
    double length = solve(t, 0), lo = 0, at_lo = length, hi, at_hi = 0, g = 0;
    if (!(length > 1.1 * t->delta)) {
        t->lambda = 0;
        return length;
    }
    for (size_t k = 0; k < t->p->n; k++)
        g += t->w->gs[k] * t->w->gs[k];
    hi = sqrt(g) / t->delta; /* |z| <= |g'| / lambda */
    double lambda = t->lambda > 0 && t->lambda < hi ? t->lambda : 0.001 * hi;
    for (int turn = 0; turn < 40; turn++) {
        length = solve(t, lambda);
        if (isnan(length) || fabs(length - t->delta) <= 0.1 * t->delta)
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

/* trial = x + z / d, exactly on the bounds that are active, bent as the problem asks. */
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
    if (t->s->gradient < 1e-2)
        return end(t, t->s->accepted ? FIT_NLSQ_STEP : FIT_NLSQ_FAILED,
                   "steps have become too short to matter");
    return end(t, FIT_NLSQ_FAILED, "no step lowers the cost, although the gradient promises it");
}

/* After a step that the rounding of the cost hides: go on only while the gradient falls. */
static int stalls(struct state *t, int measurable)
{
    if (measurable) {
        t->stalled = 0;
        return 0;
    }
    if (t->stalled && t->s->gradient > 0.7 * t->before)
        t->stalled++;
    else
        t->stalled += !t->stalled;
    t->before = t->s->gradient;
    return t->stalled > 2;
}

static void accept(struct state *t, double cost, double error, double square)
{
    t->s->step = sqrt(fmax(square, 0) / (t->s2 > 0 ? t->s2 : DBL_MIN));
    memcpy(t->x, t->w->trial, t->p->n * sizeof *t->x);
    t->s->cost = cost;
    t->s->error = error;
    t->s->accepted++;
}

/* A step along a narrow curved valley fails because it leaves the floor sideways, although it
 * leads the right way.  Before such a step is given up, one correction from its end is tried:
 * linearise there, step again within 0.3 of its length, and look at the cost then (the watchdog of
 * Chamberlain, Powell, Lemarechal & Pedersen 1982 with one step of patience).  Costs one pass with
 * derivatives; tried less often when it does not pay.  Returns 1 when the corrected point is
 * accepted, -1 when told to stop. */
static int correct(struct state *t, double gain, double length, double cost, double error)
{
    struct fit_nlsq *s = t->s;
    size_t n = t->p->n;
    double before = s->cost, error_before = s->error, delta = t->delta, lambda = t->lambda, square;
    if (t->wait > 0) {
        t->wait--;
        return 0;
    }
    memcpy(t->w->saved_B, s->B, n * n * sizeof *s->B);
    memcpy(t->w->saved_g, s->g, n * sizeof *s->g);
    memcpy(t->w->saved_x, t->x, n * sizeof *t->x);
    memcpy(t->w->saved_d, t->w->d, n * sizeof *t->w->d);
    enum fit_eval e = t->p->normal(t->p->user, t->w->trial, s->B, s->g);
    if (e == FIT_EVAL_OK) {
        memcpy(t->x, t->w->trial, n * sizeof *t->x);
        s->cost = cost;
        s->error = error;
        rescale(t);
        t->delta = 0.3 * length;
        length += find_step(t);
        promised(t, &square);
        make_trial(t);
        e = t->p->value(t->p->user, t->w->trial, &cost, &error);
        s->evaluations++;
    }
    if (e == FIT_EVAL_OK && before - cost > 0.1 * gain) {
        t->broken++;
        accept(t, cost, error, square);
        t->delta = before - cost > 0.5 * gain ? fmax(delta, 2 * length) : delta;
        t->luck = 2;
        return 1;
    }
    memcpy(s->B, t->w->saved_B, n * n * sizeof *s->B);
    memcpy(s->g, t->w->saved_g, n * sizeof *s->g);
    memcpy(t->x, t->w->saved_x, n * sizeof *t->x);
    memcpy(t->w->d, t->w->saved_d, n * sizeof *t->w->d);
    s->cost = before;
    s->error = error_before;
    rescale(t);
    t->delta = delta;
    t->lambda = lambda;
    if (--t->luck <= 0)
        t->wait = 4;
    return e == FIT_EVAL_STOP ? -1 : 0;
}

/* Tries steps until one is accepted. */
static enum outcome iterate(struct state *t)
{
    struct fit_nlsq *s = t->s;
    for (int turn = 0; turn < 80; turn++) {
        double length = find_step(t), square, cost, error = 0;
        double gain = promised(t, &square);
        if (isnan(length) || !(gain > 0))
            return end(t, FIT_NLSQ_COST, "the gradient is zero to rounding");
        make_trial(t);
        enum fit_eval e = t->p->value(t->p->user, t->w->trial, &cost, &error);
        s->evaluations++;
        if (e == FIT_EVAL_STOP)
            return end(t, FIT_NLSQ_STOPPED, "stopped on request");
        int tiny = tiny_step(t);
        double fuzz = MEASURABLE * (error + s->error);
        int measurable = gain > fuzz;
        double actual = s->cost - cost;
        if (e == FIT_EVAL_OK && (measurable ? actual > 1e-4 * gain : actual >= -fuzz)) {
            int small = fmax(fabs(actual), gain) <= t->opt->ftol * cost;
            if (stalls(t, measurable && !small))
                return end(t, FIT_NLSQ_COST, "the cost is at its minimum to rounding");
            if (measurable && actual < 0.25 * gain)
                t->delta = 0.5 * length;
            else if (measurable && actual > 0.75 * gain)
                t->delta = fmax(t->delta, 2 * length);
            t->broken += measurable && fabs(actual - gain) > KEPT * gain;
            accept(t, cost, error, square);
            if (small && t->opt->ftol > FINEST_FTOL)
                return last(t, FIT_NLSQ_COST, "the cost does not fall any further");
            if (tiny)
                return last(t, FIT_NLSQ_STEP, "steps have become too short to matter");
            return ACCEPTED;
        }
        if (e == FIT_EVAL_OK && !measurable)
            return end(t, FIT_NLSQ_COST, "the cost is at its minimum to rounding");
        if (tiny)
            return no_better(t);
        int corrected = e == FIT_EVAL_OK ? correct(t, gain, length, cost, error) : 0;
        if (corrected)
            return corrected > 0 ? ACCEPTED : end(t, FIT_NLSQ_STOPPED, "stopped on request");
        /* minimum of the parabola through both costs and the slope (More 1978), within [0.1, 0.5]
         */
        double shrink =
            e == FIT_EVAL_OK ? 0.5 * (gain + 0.5 * square) / (gain + 0.5 * square - actual) : 0.1;
        t->delta = fmin(fmax(shrink, 0.1), 0.5) * fmin(length, t->delta);
        t->lambda *= 2;
    }
    return no_better(t);
}

/* S at x, where B and g are those of x: one pass for the cost and one with derivatives for each free parameter. */
static enum fit_eval find_curvature(struct state *t)
{
    static const double PART = 1e-2; /* of a standard error, at its smallest so far */
    struct fit_nlsq *s = t->s;
    size_t n = t->p->n;
    double *B = t->w->M, *g = t->w->saved_g, *H = t->w->S, cost, error;
    enum fit_eval e = FIT_EVAL_OK;
    memset(H, 0, n * n * sizeof *H);
    memcpy(t->w->trial, t->x, n * sizeof *t->x);
    for (size_t k = 0; k < n && e == FIT_EVAL_OK; k++) {
        double step = PART * sqrt(t->s2) / t->w->d[k];
        if (t->x[k] + step > t->p->upper[k])
            step = -step;
        t->w->trial[k] = t->x[k] + step;
        step = t->w->trial[k] - t->x[k]; /* as it is in double precision */
        if (free_parameter(t, k) && step != 0 && t->w->trial[k] >= t->p->lower[k]) {
            e = t->p->value(t->p->user, t->w->trial, &cost, &error);
            s->evaluations++;
            if (e == FIT_EVAL_OK)
                e = t->p->normal(t->p->user, t->w->trial, B, g);
            for (size_t l = 0; l < n && e == FIT_EVAL_OK; l++) /* g falls where the cost is convex */
                H[k * n + l] = (s->g[l] - g[l]) / step - s->B[k * n + l];
        }
        t->w->trial[k] = t->x[k];
    }
    for (size_t k = 0; k < n; k++)
        for (size_t l = 0; l < k; l++)
            H[k * n + l] = H[l * n + k] = free_parameter(t, k) && free_parameter(t, l)
                                              ? 0.5 * (H[k * n + l] + H[l * n + k])
                                              : 0;
    t->curved = e == FIT_EVAL_OK;
    for (size_t k = 0; k < n * n; k++)
        t->curved &= isfinite(H[k]);
    s->curvature = t->curved ? t->w->S : NULL;
    if (e != FIT_EVAL_STOP) { /* the problem is at x again */
        e = t->p->value(t->p->user, t->x, &cost, &error);
        s->evaluations++;
    }
    return e;
}

/* Asks for derivatives at x and tests the gradient.  Returns 1 when the run is over. */
static int linearise(struct state *t)
{
    struct fit_nlsq *s = t->s;
    double square;
    enum fit_eval e = t->p->normal(t->p->user, t->x, s->B, s->g);
    if (e != FIT_EVAL_OK) {
        end(t, e == FIT_EVAL_STOP ? FIT_NLSQ_STOPPED : FIT_NLSQ_FAILED,
            e == FIT_EVAL_STOP ? "stopped on request" : "derivatives are not finite");
        return 1;
    }
    rescale(t);
    if (t->broken >= BROKEN_PROMISES && s->iterations >= EARLY && t->opt->curved && !t->p->likelihood) {
        if (find_curvature(t) == FIT_EVAL_STOP) {
            end(t, FIT_NLSQ_STOPPED, "stopped on request");
            return 1;
        }
        t->broken = 0;
        rescale(t);
    }
    if (isnan(solve(t, 0))) {
        end(t, FIT_NLSQ_FAILED, "derivatives are not finite");
        return 1;
    }
    double gain = fmax(promised(t, &square), 0);
    s->gradient = t->s2 > 0 ? sqrt(2 * gain / t->s2) : gain > 0 ? INFINITY : 0;
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

enum fit_nlsq_end fit_nlsq_run(struct fit_nlsq *s, const struct fit_nlsq_problem *p,
                               const struct fit_nlsq_options *opt, double *x)
{
    struct state t = {.p = p, .opt = opt, .s = s, .x = x, .luck = 2, .w = s->work};
    *s = (struct fit_nlsq){
        .n = s->n, .B = s->B, .g = s->g, .work = s->work, .cost = NAN, .gradient = NAN, .first = NAN};
    memset(t.w->ref, 0, p->n * sizeof *t.w->ref);
    memset(t.w->d, 0, p->n * sizeof *t.w->d);
    if (opt->curvature) {
        t.curved = 1;
        memmove(t.w->S, opt->curvature, p->n * p->n * sizeof *t.w->S);
    }
    for (size_t k = 0; k < p->n; k++)
        x[k] = fmin(fmax(x[k], p->lower[k]), p->upper[k]);
    enum fit_eval e = FIT_EVAL_OK;
    if (opt->known) {
        s->cost = opt->known[0];
        s->error = opt->known[1];
    } else {
        e = p->value(p->user, x, &s->cost, &s->error);
        s->evaluations = 1;
    }
    if (e != FIT_EVAL_OK) {
        s->cost = NAN;
        end(&t, e == FIT_EVAL_STOP ? FIT_NLSQ_STOPPED : FIT_NLSQ_FAILED,
            e == FIT_EVAL_STOP ? "stopped on request" : "the model is not finite at the start");
        return s->end;
    }
    s->current = 1;
    int over = linearise(&t);
    s->first = s->gradient;
    if (over)
        return s->end;
    t.delta = first_radius(&t);
    for (int doubts = 0;;) {
        if (told_to_stop(&t))
            break;
        if (s->iterations >= opt->max_iterations) {
            if (s->gradient <= NEAR)
                end(&t, FIT_NLSQ_COST, "a valley goes on, but chi2 would fall by less than 1e-4 along it");
            else
                end(&t, FIT_NLSQ_LIMIT, "the number of iterations allowed is reached");
            break;
        }
        s->iterations++;
        enum outcome o = iterate(&t);
        s->current = o != ENDED;
        if (o == ENDED || (opt->brief && s->iterations >= opt->max_iterations))
            break;
        if (linearise(&t))
            break;
        if (o == LAST && (s->gradient <= CLOSE || ++doubts > PATIENCE))
            break;
    }
    return s->end;
}
