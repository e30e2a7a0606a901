/* cmaes.c -- evolution strategy with covariance matrix adaptation; see cmaes.h.
 *
 * In the notation of the tutorial: m mean, s (sigma) step, C = B D^2 B^T covariance, x = m + s y, y = B D z, pc and ps
 * the evolution paths, mu the number of parents with weights w, mueff their effective number. B and D are recomputed
 * from C every n/10 generations or so, because C hardly changes in between.
 */
#include "math/cmaes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "math/linalg.h"
#include "math/rng.h"

struct member {
    double value;
    double *x, *y; /* n each: where it is (not mirrored), and (x - m)/s */
};

struct state {
    size_t n, lambda, mu;
    double mueff, cc, cs, c1, cmu, damping, chi; /* table 1; chi: expected length of a normal vector */
    double s, *w, *m, *pc, *ps, *C, *B, *D, *u, *z, *work, *history;
    struct member *member; /* lambda */
    size_t generation, past; /* past: length of the history of best values */
};

static struct state *state_new(size_t n, size_t lambda, struct fit_arena *a)
{
    struct state *t = fit_take(a, 1, sizeof *t);
    if (!t)
        return NULL;
    t->n = n;
    t->lambda = lambda;
    t->mu = lambda / 2;
    t->past = 10 + 30 * n / lambda;
    FIT_TAKE_DOUBLES(a, lambda, &t->w);
    FIT_TAKE_DOUBLES(a, n, &t->m, &t->pc, &t->ps, &t->u, &t->z, &t->D);
    FIT_TAKE_DOUBLES(a, n * n, &t->C, &t->B);
    FIT_TAKE_DOUBLES(a, t->past, &t->history);
    FIT_TAKE_DOUBLES(a, fit_eigen_work(n), &t->work);
    t->member = fit_take(a, lambda, sizeof *t->member);
    for (size_t k = 0; t->member && k < lambda; k++)
        t->member[k] = (struct member){INFINITY, fit_take(a, n, sizeof(double)), fit_take(a, n, sizeof(double))};
    if (a->failed)
        return NULL;
    return t;
}

static void set_constants(struct state *t)
{
    double n = (double)t->n, sum = 0, squares = 0;
    for (size_t k = 0; k < t->mu; k++) {
        t->w[k] = log(((double)t->lambda + 1) / 2) - log((double)k + 1);
        sum += t->w[k];
    }
    for (size_t k = 0; k < t->mu; k++) {
        t->w[k] /= sum;
        squares += t->w[k] * t->w[k];
    }
    t->mueff = 1 / squares;
    t->cc = (4 + t->mueff / n) / (n + 4 + 2 * t->mueff / n);
    t->cs = (t->mueff + 2) / (n + t->mueff + 5);
    t->c1 = 2 / ((n + 1.3) * (n + 1.3) + t->mueff);
    t->cmu = fmin(1 - t->c1, 2 * (0.25 + t->mueff + 1 / t->mueff - 2) / ((n + 2) * (n + 2) + t->mueff));
    t->damping = 1 + 2 * fmax(0, sqrt((t->mueff - 1) / (n + 1)) - 1) + t->cs;
    t->chi = sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n));
}

/* The box is continued beyond its walls by reflection. */
static double mirrored(double x)
{
    double r = fabs(fmod(x, 2));
    return r > 1 ? 2 - r : r;
}

/* B (rows: eigenvectors) and D from C.  Returns 0 when C is no longer a covariance. */
static int decompose(struct state *t)
{
    size_t n = t->n;
    memcpy(t->B, t->C, n * n * sizeof *t->B);
    if (fit_eigen(n, t->B, t->D, t->work) != 0 || !(t->D[0] > 0) || t->D[n - 1] > 1e14 * t->D[0])
        return 0;
    for (size_t k = 0; k < n; k++)
        t->D[k] = sqrt(t->D[k]);
    return 1;
}

static void draw(struct state *t, const struct fit_cmaes_options *opt, struct member *a, size_t k)
{
    size_t n = t->n, at = (t->generation * t->lambda + k) * ((n + 1) / 2);
    for (size_t i = 0; i < n; i += 2) {
        double z[2];
        fit_rng_normal(opt->seed, opt->stream, at + i / 2, z);
        t->z[i] = z[0];
        if (i + 1 < n)
            t->z[i + 1] = z[1];
    }
    for (size_t i = 0; i < n; i++)
        a->y[i] = 0;
    for (size_t e = 0; e < n; e++)
        for (size_t i = 0; i < n; i++)
            a->y[i] += t->B[e * n + i] * t->D[e] * t->z[e];
    for (size_t i = 0; i < n; i++)
        a->x[i] = t->m[i] + t->s * a->y[i];
}

/* Better ones first; equal ones stay in the order of drawing. */
static void sort_members(struct state *t)
{
    for (size_t k = 1; k < t->lambda; k++) {
        struct member a = t->member[k];
        size_t at = k;
        for (; at > 0 && t->member[at - 1].value > a.value; at--)
            t->member[at] = t->member[at - 1];
        t->member[at] = a;
    }
}

/* Mean, paths, covariance and step from the parents. */
static void adapt(struct state *t)
{
    size_t n = t->n;
    double *step = t->z, length = 0;
    memset(step, 0, n * sizeof *step);
    for (size_t k = 0; k < t->mu; k++)
        for (size_t i = 0; i < n; i++)
            step[i] += t->w[k] * t->member[k].y[i];
    for (size_t i = 0; i < n; i++)
        t->m[i] += t->s * step[i];
    for (size_t i = 0; i < n; i++) /* ps: decay */
        t->ps[i] *= 1 - t->cs;
    for (size_t e = 0; e < n; e++) { /* ... and C^(-1/2) step */
        double along = 0;
        for (size_t i = 0; i < n; i++)
            along += t->B[e * n + i] * step[i];
        along *= sqrt(t->cs * (2 - t->cs) * t->mueff) / t->D[e];
        for (size_t i = 0; i < n; i++)
            t->ps[i] += along * t->B[e * n + i];
    }
    for (size_t i = 0; i < n; i++)
        length += t->ps[i] * t->ps[i];
    length = sqrt(length);
    double settled = sqrt(1 - pow(1 - t->cs, 2 * (double)(t->generation + 1)));
    int h = length / settled < (1.4 + 2 / ((double)n + 1)) * t->chi;
    for (size_t i = 0; i < n; i++)
        t->pc[i] = (1 - t->cc) * t->pc[i] + (h ? sqrt(t->cc * (2 - t->cc) * t->mueff) * step[i] : 0);
    double keep = 1 - t->c1 - t->cmu + (h ? 0 : t->c1 * t->cc * (2 - t->cc));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double c = keep * t->C[i * n + j] + t->c1 * t->pc[i] * t->pc[j];
            for (size_t k = 0; k < t->mu; k++)
                c += t->cmu * t->w[k] * t->member[k].y[i] * t->member[k].y[j];
            t->C[i * n + j] = t->C[j * n + i] = c;
        }
    t->s = fmin(t->s * exp(t->cs / t->damping * (length / t->chi - 1)), 1);
    t->generation++;
}

static int has_settled(const struct state *t, const struct fit_cmaes_options *opt)
{
    double least = INFINITY, most = 0, widest = 0;
    for (size_t i = 0; i < t->n; i++)
        widest = fmax(widest, t->s * sqrt(t->C[i * (t->n + 1)]));
    if (widest < opt->xtol)
        return 1;
    if (t->generation < t->past)
        return 0;
    for (size_t k = 0; k < t->past; k++) {
        least = fmin(least, t->history[k]);
        most = fmax(most, t->history[k]);
    }
    return isfinite(most) && most - least <= opt->ftol * fabs(least);
}

/* Draws and values of a generation; 0: the function asks to stop. */
static int evaluate(struct state *t, const struct fit_cmaes_problem *p, const struct fit_cmaes_options *opt, double *u,
                    double *best, size_t *used)
{
    int stop = 0;
    for (size_t k = 0; k < t->lambda && !stop; k++) {
        struct member *a = &t->member[k];
        draw(t, opt, a, k);
        for (size_t i = 0; i < p->n; i++)
            t->u[i] = mirrored(a->x[i]);
        a->value = p->value(p->user, t->u, &stop);
        a->value = isnan(a->value) ? INFINITY : a->value;
        ++*used;
        if (a->value < *best) {
            *best = a->value;
            memcpy(u, t->u, p->n * sizeof *u);
        }
    }
    return !stop;
}

enum fit_cmaes_word fit_cmaes_run(const struct fit_cmaes_problem *p, const struct fit_cmaes_options *opt,
                                  double *u, double *best, size_t *used)
{
    size_t n = p->n, lambda = opt->population ? opt->population : 4 + (size_t)(3 * log((double)n));
    enum fit_cmaes_word word = FIT_CMAES_EVALUATIONS;
    FIT_SCRATCH(a);
    struct state *t = state_new(n, lambda < 4 ? 4 : lambda, &a);
    *best = INFINITY;
    *used = 0;
    if (!t)
        return FIT_CMAES_MEMORY;
    set_constants(t);
    memcpy(t->m, u, n * sizeof *t->m);
    t->s = opt->step > 0 ? opt->step : 0.3;
    for (size_t i = 0; i < n; i++)
        t->C[i * (n + 1)] = 1;
    size_t every = (size_t)(1 / ((t->c1 + t->cmu) * (double)n * 10)) + 1;
    while (*used + t->lambda <= opt->evaluations) {
        if (t->generation % every == 0 && !decompose(t)) {
            word = FIT_CMAES_FOUND; /* as narrow as numbers allow */
            break;
        }
        if (!evaluate(t, p, opt, u, best, used)) {
            word = FIT_CMAES_STOPPED;
            break;
        }
        sort_members(t);
        t->history[t->generation % t->past] = t->member[0].value;
        adapt(t);
        if (has_settled(t, opt)) {
            word = FIT_CMAES_FOUND;
            break;
        }
    }
    return word;
}
