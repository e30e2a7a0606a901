/* aliases.c -- see aliases.h. */
#include "model/aliases.h"

#include <math.h>

#include "base/arena.h"
#include "math/rng.h"

enum {
    AGES = 8,
    TIMES = 18, /* of an interval: the frame, times after it, and the next frame */
    TURNS = 2   /* changes of sign that a parameter needs: an exponent causes one in the course of a decay */
};
static const double NOISE = 0.02;  /* a derivative below this fraction of the largest in the interval has no sign */
static const double SILENT = 1e-6; /* the same, relative to the largest anywhere: nothing there depends on the
                                    * parameter */

struct seen {
    double size; /* largest derivative of an interval */
    size_t turns;
};

struct job {
    const struct fit_aliases_spec *s;
    struct fit_layout fine; /* intervals between frames, each of TIMES times */
    size_t nage;
    double *ws, *mean, *jac;
    struct seen *seen;      /* nparam x (ngroup x nage) */
};

/* Times of the fine grid: fractions of a frame that share no period. */
static size_t fine_times(const struct fit_layout *l, double *time)
{
    size_t nage = 0;
    for (size_t a = 0; a < AGES; a++) {
        const size_t f = (a + 1) * (l->nframe - 2) / AGES; /* never the first, where powers of t may diverge */
        const double t0 = l->time[l->frame[f]], t1 = l->time[l->frame[f + 1]];
        double *to = time + nage * TIMES;
        if (nage > 0 && !(t0 >= to[-1]))
            continue;
        to[0] = t0;
        for (size_t k = 1; k < TIMES; k++) {
            double u[2], t = t1;
            fit_rng_uniform(1, a, k, u);
            t = k + 1 < TIMES ? t0 + u[0] * (t1 - t0) : t1;
            size_t at = k;
            for (; at > 1 && to[at - 1] > t; at--)
                to[at] = to[at - 1];
            to[at] = t;
        }
        nage++;
    }
    return nage;
}

/* How often the derivative changes its sign within an interval. */
static struct seen look(const double *d)
{
    struct seen x = {0};
    double last = 0;
    for (size_t k = 1; k < TIMES; k++)
        x.size = fmax(x.size, fabs(d[k]));
    for (size_t k = 1; k < TIMES; k++) {
        if (!(fabs(d[k]) > NOISE * x.size))
            continue;
        x.turns += last * d[k] < 0;
        last = d[k];
    }
    return x;
}

static void look_everywhere(struct job *x)
{
    const struct fit_kernel *k = x->s->kernel;
    const size_t each = x->fine.ngroup * x->nage;
    uint32_t i[TIMES], j[TIMES], g[TIMES];
    for (size_t at = 0; at < each; at++) {
        for (size_t t = 0; t < TIMES; t++) {
            i[t] = (uint32_t)(at % x->nage * TIMES);
            j[t] = (uint32_t)(i[t] + t);
            g[t] = (uint32_t)(at / x->nage);
        }
        k->points(&x->fine, x->ws, x->s->lin, &(struct fit_points){TIMES, i, j, g}, x->mean, x->jac);
        for (size_t e = 0; e < k->nparam; e++)
            x->seen[e * each + at] = look(x->jac + e * TIMES);
    }
}

/* The relative value of parameter e at which its derivative changes sign: 0 where it never does. *everywhere: at all
 * points where the model depends on it; *most: how often in an interval. */
static double turned_by(const struct job *x, size_t e, int *everywhere, size_t *most)
{
    const size_t each = x->fine.ngroup * x->nage;
    const struct seen *s = x->seen + e * each;
    double largest = 0;
    size_t turns = 0;
    for (size_t at = 0; at < each; at++)
        largest = fmax(largest, s[at].size);
    *everywhere = 1;
    for (size_t at = 0; at < each; at++) {
        turns = s[at].turns > turns ? s[at].turns : turns;
        *everywhere &= s[at].turns > 0 || !(s[at].size > SILENT * largest);
    }
    *most = turns > *most ? turns : *most;
    return turns > 0 && isfinite(largest) ? largest * fabs(x->s->theta[e]) : 0;
}

/* The parameter in the phase: its derivative is the phase times those of others, of an amplitude or its decay. */
static size_t in_phase(const struct job *x)
{
    const struct fit_aliases_spec *s = x->s;
    const size_t p = s->kernel->nparam;
    double largest = 0;
    size_t which = p, turns = 0;
    for (size_t e = 0; e < p; e++) {
        int everywhere;
        const double by = turned_by(x, e, &everywhere, &turns);
        if (by <= largest)
            continue;
        largest = by;
        which = everywhere && s->upper[e] > s->lower[e] ? e : p;
    }
    return turns >= TURNS ? which : p;
}

static void job_new(struct job *x, struct fit_arena *a)
{
    const struct fit_kernel *k = x->s->kernel;
    double *time;
    uint32_t *frame = fit_take(a, AGES * TIMES, sizeof *frame);
    FIT_TAKE_DOUBLES(a, AGES * TIMES, &time);
    FIT_TAKE_DOUBLES(a, (1 + k->nparam + k->nlinear) * TIMES, &x->mean);
    if (a->failed)
        return;
    x->jac = x->mean + TIMES;
    x->nage = fine_times(x->s->layout, time);
    x->fine = *x->s->layout;
    x->fine.ntime = x->fine.nframe = x->nage * TIMES;
    for (size_t t = 0; t < x->fine.ntime; t++)
        frame[t] = (uint32_t)t;
    x->fine.time = time;
    x->fine.frame = frame;
    x->ws = fit_take(a, k->workspace(&x->fine), sizeof *x->ws);
    x->seen = fit_take(a, k->nparam * x->fine.ngroup * x->nage, sizeof *x->seen);
}

int fit_aliases(const struct fit_aliases_spec *spec, size_t *which)
{
    const struct fit_kernel *k = spec->kernel;
    struct job x = {.s = spec};
    FIT_SCRATCH(a);
    *which = k->nparam;
    if (k->space != FIT_PAIRS || !k->points || spec->layout->nframe < 3)
        return 0;
    job_new(&x, &a);
    if (!a.failed && k->prepare(&x.fine, spec->theta, 1, x.ws) == FIT_EVAL_OK) {
        look_everywhere(&x);
        *which = in_phase(&x);
    }
    return a.failed;
}
