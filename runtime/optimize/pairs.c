/* pairs.c -- see pairs.h. */
#include "optimize/pairs.h"

#include <float.h>
#include <math.h>

#include "optimize/vectors.h"

size_t fit_pairs_size(size_t n, size_t most)
{
    return most * (2 * n + 1);
}

struct fit_pairs fit_pairs_of(const struct fit_optimize *o)
{
    const size_t m = o->opt.memory;
    double *at = o->kept;
    return (struct fit_pairs){o->n, m, (size_t)o->s->pairs, o->s, at, at + m * o->n, at + 2 * m * o->n};
}

size_t fit_pairs_slot(const struct fit_pairs *p, size_t k)
{
    return ((size_t)p->state->newest + p->most - k) % p->most;
}

int fit_pairs_take(struct fit_pairs *p, const double *x, const double *g, const double *xt, const double *gt)
{
    const size_t n = p->n, slot = p->count ? fit_pairs_slot(p, p->most - 1) : 0;
    double ss, sy, yy;
    fit_vector_differences(n, x, xt, g, gt, &ss, &sy, &yy);
    if (!(sy > DBL_EPSILON * sqrt(ss) * sqrt(yy)) || !isfinite(yy / sy))
        return 0;
    fit_vector_minus(n, xt, x, p->s + slot * n);
    fit_vector_minus(n, gt, g, p->y + slot * n);
    p->sy[slot] = sy;
    if (p->count < p->most)
        p->count++;
    p->state->pairs = (double)p->count;
    p->state->newest = (double)slot;
    p->state->theta = yy / sy;
    return 1;
}

void fit_pairs_direction(const struct fit_pairs *p, const double *g, double *alpha, double *d)
{
    fit_vector_scale(p->n, -1, g, d);
    for (size_t k = 0; k < p->count; k++) {
        const size_t i = fit_pairs_slot(p, k);
        alpha[k] = fit_vector_dot(p->n, p->s + i * p->n, d) / p->sy[i];
        fit_vector_add(p->n, -alpha[k], p->y + i * p->n, d);
    }
    if (p->count)
        fit_vector_scale(p->n, 1 / p->state->theta, d, d);
    for (size_t k = p->count; k-- > 0;) {
        const size_t i = fit_pairs_slot(p, k);
        const double beta = fit_vector_dot(p->n, p->y + i * p->n, d) / p->sy[i];
        fit_vector_add(p->n, alpha[k] - beta, p->s + i * p->n, d);
    }
}
