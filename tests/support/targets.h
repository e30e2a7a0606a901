/* targets.h -- log densities with known answers, for tests of samplers; include once per program.
 *
 * Each has a cumulative distribution per test quantity and exact draws, so that samples can be
 * judged without another sampler. */
#ifndef TARGETS_H
#define TARGETS_H

#include "math/rng.h"
#include "sampler/target.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { TARGET_MOST = 60 };

/* ---- normal with a given covariance ---------------------------------------------------------- */

struct normal_target {
    size_t n;
    double precision[TARGET_MOST * TARGET_MOST], covariance[TARGET_MOST * TARGET_MOST];
    double root[TARGET_MOST * TARGET_MOST]; /* symmetric, of the covariance */
};

/* Covariance with eigenvalues 1 ... condition in geometric steps and eigenvectors that are mixed by
 * a reflection. */
static inline void normal_target_fill(struct normal_target *t, size_t n, double condition)
{
    double v[TARGET_MOST], norm = 0;
    memset(t, 0, sizeof *t);
    t->n = n;
    for (size_t i = 0; i < n; i++) {
        v[i] = sin(1.0 + 3.0 * (double)i);
        norm += v[i] * v[i];
    }
    for (size_t k = 0; k < n; k++) {
        double e = n > 1 ? pow(condition, (double)k / (double)(n - 1)) : condition;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                double hi = (double)(i == k) - 2 * v[i] * v[k] / norm;
                double hj = (double)(j == k) - 2 * v[j] * v[k] / norm;
                t->covariance[i * n + j] += e * hi * hj;
                t->precision[i * n + j] += hi * hj / e;
                t->root[i * n + j] += sqrt(e) * hi * hj;
            }
    }
}

static inline enum fit_eval normal_eval(void *user, size_t chain, const double *q, double *lp,
                                        double *g)
{
    const struct normal_target *t = user;
    double s = 0;
    (void)chain;
    for (size_t i = 0; i < t->n; i++) {
        double d = 0;
        for (size_t j = 0; j < t->n; j++)
            d += t->precision[i * t->n + j] * q[j];
        s += q[i] * d;
        if (g)
            g[i] = -d;
    }
    *lp = -0.5 * s;
    return FIT_EVAL_OK;
}

static inline void normal_draw(const void *user, struct fit_rng *r, double *q)
{
    const struct normal_target *t = user;
    double z[TARGET_MOST];
    fit_rng_next_normals(r, t->n, z);
    for (size_t i = 0; i < t->n; i++) {
        q[i] = 0;
        for (size_t j = 0; j < t->n; j++)
            q[i] += t->root[i * t->n + j] * z[j];
    }
}

/* ---- logistic, one coordinate ---------------------------------------------------------------- */

static inline enum fit_eval logistic_eval(void *user, size_t chain, const double *q, double *lp,
                                          double *g)
{
    (void)user;
    (void)chain;
    *lp = -fabs(q[0]) - 2 * log1p(exp(-fabs(q[0])));
    if (g)
        g[0] = -tanh(0.5 * q[0]);
    return FIT_EVAL_OK;
}

static inline void logistic_draw(const void *user, struct fit_rng *r, double *q)
{
    (void)user;
    double u = fit_rng_next_uniform(r);
    q[0] = log(u / (1 - u));
}

/* ---- banana: x ~ N(0, 1), y ~ N(x^2, 1/4) ---------------------------------------------------- */

static inline enum fit_eval banana_eval(void *user, size_t chain, const double *q, double *lp,
                                        double *g)
{
    (void)user;
    (void)chain;
    double x = q[0], d = q[1] - x * x;
    *lp = -0.5 * x * x - 2 * d * d;
    if (g) {
        g[0] = -x + 8 * d * x;
        g[1] = -4 * d;
    }
    return FIT_EVAL_OK;
}

static inline void banana_draw(const void *user, struct fit_rng *r, double *q)
{
    double z[2];
    (void)user;
    fit_rng_next_normals(r, 2, z);
    q[0] = z[0];
    q[1] = z[0] * z[0] + 0.5 * z[1];
}

/* ---- funnel of Neal (2003): v ~ N(0, 9), x_k ~ N(0, exp(v)), nine of them ------------------- */

static inline enum fit_eval funnel_eval(void *user, size_t chain, const double *q, double *lp,
                                        double *g)
{
    (void)user;
    (void)chain;
    double s = 0, narrow = exp(-q[0]);
    for (int k = 1; k < 10; k++)
        s += q[k] * q[k];
    *lp = -q[0] * q[0] / 18 - 4.5 * q[0] - 0.5 * s * narrow;
    if (g) {
        g[0] = -q[0] / 9 - 4.5 + 0.5 * s * narrow;
        for (int k = 1; k < 10; k++)
            g[k] = -q[k] * narrow;
    }
    return FIT_EVAL_OK;
}

/* ---- Kolmogorov and Smirnov ------------------------------------------------------------------ */

/* p-value of n values u[n], ascending, against the uniform distribution on (0, 1): the limit law
 * with Stephens' (1970) correction for n. */
static inline double ks_uniform(size_t n, const double *u)
{
    double d = 0, p = 0, root = sqrt((double)n);
    for (size_t i = 0; i < n; i++)
        d = fmax(d, fmax(u[i] - (double)i / (double)n, (double)(i + 1) / (double)n - u[i]));
    double x = d * (root + 0.12 + 0.11 / root);
    if (x < 0.2)
        return 1; /* the series needs too many terms; p is 1 to twelve digits */
    for (int k = 1; k < 200; k++)
        p += (k % 2 ? 2 : -2) * exp(-2.0 * k * k * x * x);
    return p > 1 ? 1 : p;
}

#endif
