/* judge_alone.c -- functions at single points take them a vector at a time: what they give must not depend on the
 * lane, on the points beside it, or on how many there are.
 *
 * A list of random points, of mixed groups and any length, and of pairs that in part follow one another along a row,
 * against a call for each of them: the same bits.
 */
#include "judge_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 21 }; /* two vectors and a part of one, of eight lanes */

typedef void function(const struct setup *s, size_t n, const uint32_t *i, const uint32_t *j, const uint32_t *g,
                      double *out);

/* Means, then the Jacobian, of each point. */
static void values(const struct setup *s, size_t n, const uint32_t *i, const uint32_t *j, const uint32_t *g,
                   double *out)
{
    size_t W = s->jd->K + s->jd->Q;
    double mean[MOST], *jac = calloc(MOST * W + 1, sizeof *jac);
    if (!jac)
        abort();
    s->k->points(&s->l, s->ws, s->lin, &(struct fit_points){n, i, j, g}, mean, jac);
    for (size_t p = 0; p < n; p++) {
        out[p * (W + 1)] = mean[p];
        for (size_t c = 0; c < W; c++)
            out[p * (W + 1) + 1 + c] = jac[c * n + p];
    }
    free(jac);
}

static void hessians(const struct setup *s, size_t n, const uint32_t *i, const uint32_t *j, const uint32_t *g,
                     double *out)
{
    s->k->hessian(&s->l, s->ws, s->lin, &(struct fit_points){n, i, j, g}, out);
}

static void seconds(const struct setup *s, size_t n, const uint32_t *i, const uint32_t *j, const uint32_t *g,
                    double *out)
{
    s->k->second(&s->l, s->ws, s->lin, &(struct fit_points){n, i, j, g}, out);
}

/* Random points; with `runs`, of which some are followed by their neighbours in the row. */
static void draw(const struct setup *s, size_t n, int runs, uint32_t *i, uint32_t *j, uint32_t *g)
{
    for (size_t p = 0; p < n; p++) {
        const int follows = runs && p > 0 && j[p - 1] + 1 < s->l.nframe && random_chance(s->r, 0.9);
        const size_t q = random_below(s->r, (uint32_t)s->npoint);
        i[p] = follows ? i[p - 1] : (uint32_t)s->pi[q];
        j[p] = follows ? j[p - 1] + 1 : (uint32_t)s->pj[q];
        g[p] = follows ? g[p - 1] : (uint32_t)s->pg[q];
    }
}

static int check(struct setup *s, const char *name, function *f, size_t each)
{
    uint32_t i[MOST], j[MOST], g[MOST];
    size_t n = 1 + random_below(s->r, MOST);
    double *list = calloc((MOST + 1) * each, sizeof *list), *alone = list + MOST * each;
    int ok = 1;
    if (!list)
        abort();
    draw(s, n, s->k->space == FIT_PAIRS && random_chance(s->r, 0.5), i, j, g);
    f(s, n, i, j, g, list);
    for (size_t p = 0; p < n && ok; p++) {
        f(s, 1, i + p, j + p, g + p, alone);
        ok = memcmp(alone, list + p * each, each * sizeof *alone) == 0;
        if (!ok)
            snprintf(s->jd->message, sizeof s->jd->message,
                     "%s: point %zu of %zu (i %u, j %u, g %u) alone gives other bits (%s)", name, p, n, i[p], j[p],
                     g[p], s->k->isa);
    }
    free(list);
    return ok;
}

int judge_alone(struct setup *s)
{
    size_t W = s->jd->K + s->jd->Q;
    if (s->derivative == 0 || s->npoint == 0)
        return 1;
    if (!check(s, "points", values, W + 1))
        return 0;
    if (s->derivative < 2 || !s->k->hessian || W == 0)
        return 1;
    return check(s, "hessian", hessians, W * (W + 1) / 2) && check(s, "second", seconds, 1);
}
