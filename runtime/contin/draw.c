/* draw.c -- draws of the distribution, of its smoothness and of unknown noise.
 *
 * The density of x, linearised at the minimum, is a normal one truncated to x >= 0. A draw of it follows the motion
 *     x(t) = mu + (x - mu) cos t + v sin t,   v normal with the covariance S,   0 <= t <= pi/2,
 * which is exact between the walls and is reflected at them (Pakman & Paninski, J. Comput. Graph. Stat. 23, 518
 * (2014)): v -> v - 2 v_k / S_kk S_k. In turn are drawn x; the strength, alpha given x, a gamma variate, because the
 * prior on x >= 0 has the normalisation alpha^(n/2) times a constant; and the noise. The draws of x are thus
 * averaged over both. */
#include "contin/contin_impl.h"
#include "math/linalg.h"
#include "math/rng.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BOUNCES = 50000, STUCK = 10 };

struct chain {
    struct contin_work *w;
    const struct contin_run *run;
    size_t m;                                         /* the points that are drawn, the others are 0 */
    const size_t *at;                                 /* their places */
    double *S, *l, *mu, *x, *v, *end, *square, *pull; /* square: B^T B, pull: B^T c */
    double *full;                                     /* x of all points */
    struct fit_rng rng;
    double alpha, lambda, least, most;
    size_t stuck; /* motions that met too many walls */
};

size_t contin_stride(const struct contin_work *w)
{
    return w->p->n + 2 * w->p->ncurve + 2;
}

/* Normal with precision lambda B^T B + alpha L^T L: mean, covariance, a velocity. */
static int prepare(struct chain *c)
{
    const size_t n = c->m;
    static const double band[] = {6, -4, 1};
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            const size_t d = c->at[i] - c->at[j];
            c->l[i * n + j] = c->lambda * c->square[i * n + j] + (d < 3 ? c->alpha * band[d] : 0);
        }
    if (fit_cholesky(n, c->l, 1e-16) != 0)
        return 0;
    fit_cholesky_inverse(n, c->l, c->S);
    for (size_t i = 0; i < n; i++)
        c->mu[i] = c->lambda * c->pull[i];
    fit_cholesky_solve(n, c->l, c->mu);
    return 1;
}

/* Time until coordinate k falls to 0. */
static double time_to_wall(double a, double v, double mu)
{
    static const double TURN = 6.283185307179586476925286766559;
    const double r = hypot(a, v);
    if (!(r > fabs(mu)))
        return INFINITY;
    double t = atan2(v, a) + acos(-mu / r);
    if (t < 0)
        t += TURN;
    return t >= TURN ? t - TURN : t;
}

/* x and v after time t. */
static void move(struct chain *c, double t)
{
    const size_t n = c->m;
    const double co = cos(t), si = sin(t);
    for (size_t i = 0; i < n; i++) {
        const double a = c->end[i] - c->mu[i], v = c->v[i];
        c->end[i] = c->mu[i] + a * co + v * si;
        c->v[i] = v * co - a * si;
    }
}

/* One motion; 0: it hit too many walls, and x stays. */
static int travel(struct chain *c)
{
    const size_t n = c->m;
    double left = 1.5707963267948966192313216916398;
    fit_rng_next_normals(&c->rng, n, c->v);
    fit_lower_solve_transposed(n, c->l, c->v);
    memcpy(c->end, c->x, n * sizeof *c->x);
    for (size_t turn = 0; turn < BOUNCES; turn++) {
        double soonest = left;
        size_t wall = n;
        for (size_t k = 0; k < n; k++) {
            const double a = c->end[k] - c->mu[k], v = c->v[k], mu = c->mu[k];
            /* x(t) is at least x + v t - (|a| + |v|) t^2/2, which is concave: positive at both ends, hence between */
            if (a + mu + v * soonest - 0.5 * (fabs(a) + fabs(v)) * soonest * soonest > 0)
                continue;
            const double t = time_to_wall(a, v, mu);
            if (t < soonest) {
                soonest = t;
                wall = k;
            }
        }
        move(c, soonest);
        if (wall == n) {
            for (size_t k = 0; k < n; k++)
                c->x[k] = fmax(c->end[k], 0);
            return 1;
        }
        left -= soonest;
        const double push = 2 * c->v[wall] / c->S[wall * n + wall];
        for (size_t k = 0; k < n; k++)
            c->v[k] -= push * c->S[wall * n + k];
        c->end[wall] = 0;
        c->v[wall] = fabs(c->v[wall]);
    }
    return 0;
}

static double misfit(const struct chain *c)
{
    const struct contin_work *w = c->w;
    const size_t f = w->nfree, n = w->p->n, rows = w->rows;
    double sum = w->rest;
    for (size_t i = f; i < rows; i++) {
        double r = w->tri[(f + n) * rows + i];
        for (size_t j = 0; j < c->m; j++)
            r -= w->tri[(f + c->at[j]) * rows + i] * c->x[j];
        sum += r * r;
    }
    return sum;
}

static void draw_strengths(struct chain *c)
{
    const struct contin_work *w = c->w;
    memset(c->full, 0, w->p->n * sizeof *c->full);
    for (size_t j = 0; j < c->m; j++)
        c->full[c->at[j]] = c->x[j];
    const double rough = contin_roughness(w->p->n, c->full);
    if (w->p->smoothing == CONTIN_EVIDENCE && !c->run->alpha && rough > 0)
        c->alpha = fmin(fmax(fit_rng_next_gamma(&c->rng, 0.5 * (double)c->m) / (0.5 * rough), c->least), c->most);
    if (!w->p->curve[0].sigma && w->nvalue > w->nfree)
        c->lambda = fit_rng_next_gamma(&c->rng, 0.5 * (double)(w->nvalue - w->nfree)) / (0.5 * misfit(c));
}

/* Records x, baselines and amplitudes given x, alpha, lambda. */
static void put(struct chain *c, double *row)
{
    const struct contin_work *w = c->w;
    const size_t n = w->p->n, f = w->nfree, nc = w->p->ncurve, rows = w->rows;
    double *free_ = c->end, *noise = c->v; /* no more than n */
    fit_rng_next_normals(&c->rng, f, noise);
    for (size_t i = f; i-- > 0;) {
        double t = w->tri[(f + n) * rows + i] + noise[i] / sqrt(c->lambda);
        for (size_t j = i + 1; j < f; j++)
            t -= w->tri[j * rows + i] * free_[j];
        for (size_t j = 0; j < n; j++)
            t -= w->tri[(f + j) * rows + i] * c->full[j];
        const double d = w->tri[i * rows + i];
        free_[i] = d != 0.0 ? t / d : 0;
    }
    memcpy(row, c->full, n * sizeof *row);
    const size_t behind = w->p->free_baseline ? nc : 0;
    for (size_t k = 0; k < nc; k++) {
        row[n + k] = behind ? free_[k] : 0;
        row[n + nc + k] = k ? free_[behind + k - 1] : 1;
    }
    row[n + 2 * nc] = c->alpha;
    row[n + 2 * nc + 1] = c->lambda;
}

static void squares(struct chain *c)
{
    const struct contin_work *w = c->w;
    const size_t n = w->p->n, f = w->nfree, rows = w->rows, below = rows > f ? rows - f : 0;
    for (size_t i = 0; i < c->m; i++) {
        const double *column = w->tri + (f + c->at[i]) * rows + f;
        c->pull[i] = fit_dot(below, column, w->tri + (f + n) * rows + f);
        for (size_t j = 0; j < c->m; j++)
            c->square[i * c->m + j] = fit_dot(below, column, w->tri + (f + c->at[j]) * rows + f);
    }
}

static enum fit_status too_weak(const struct chain *c, struct fit_error *err)
{
    return fit_fail(err, FIT_ERR_NUMERIC, "the smoothing %.3g is too weak for these data: no errors can be given",
                    c->alpha);
}

/* One turn: a motion, then the strengths. */
static enum fit_status turn(struct chain *c, size_t t, struct fit_error *err)
{
    c->rng = (struct fit_rng){.seed = c->w->p->seed,
                              .chain = (uint32_t)c->run->stream,
                              .iteration = (uint32_t)t,
                              .purpose = FIT_RNG_CONDITIONAL};
    if (c->run->alpha)
        c->alpha = c->run->alpha[t % c->run->n];
    if (!prepare(c))
        return too_weak(c, err);
    c->stuck += !travel(c);
    draw_strengths(c);
    if (c->stuck > STUCK)
        return too_weak(c, err);
    return FIT_OK;
}

enum fit_status contin_draw(struct contin_work *w, const struct contin_run *run, double *draw, struct fit_error *err)
{
    const size_t n = w->p->n;
    double *room = calloc(3 * n * n + 6 * n, sizeof *room), sum = 0;
    size_t *at = calloc(n, sizeof *at);
    struct chain c = {.w = w,
                      .run = run,
                      .S = room,
                      .at = at,
                      .alpha = w->alpha,
                      .lambda = w->lambda,
                      .least = 1e-9 * w->alpha,
                      .most = 1e9 * w->alpha};
    enum fit_status st = room && at ? FIT_OK : fit_no_memory(err, "the errors of the distribution");
    if (st == FIT_OK) {
        c.l = room + n * n;
        c.square = room + 2 * n * n;
        c.mu = room + 3 * n * n;
        c.x = c.mu + n;
        c.v = c.x + n;
        c.end = c.v + n;
        c.pull = c.end + n;
        c.full = c.pull + n;
        for (size_t k = 0; k < n; k++) {
            sum += w->now.x[k] / (double)n;
            if (!run->support || run->support[k])
                at[c.m++] = k;
        }
        for (size_t k = 0; k < c.m; k++)
            c.x[k] = fmax(w->now.x[at[k]], 1e-3 * sum);
        squares(&c);
    }
    for (size_t t = 0; t < run->warm + run->n && st == FIT_OK; t++)
        if ((st = turn(&c, t, err)) == FIT_OK && t >= run->warm)
            put(&c, draw + (t - run->warm) * contin_stride(w));
    free(at);
    free(room);
    return st;
}
