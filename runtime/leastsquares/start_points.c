/* start_points.c -- points in the box for a search for starts: hypercubes over it, scans along the parameters through a
 * point, crossings of a point with others.
 *
 * Parameters are sampled on the scale that suits them (fit_start_sample). All numbers are functions of the seed and of
 * the draw's number alone.
 *
 * Latin hypercube: McKay, Beckman & Conover, Technometrics 21 (1979) 239.
 */
#include <math.h>
#include <string.h>

#include "leastsquares/start_impl.h"
#include "math/rng.h"

static int has_natural_scale(const struct fit_param *param)
{
    static const char *const unit[] = {"", "1", "deg", "degree", "degrees", "rad"};
    for (size_t k = 0; param->unit && k < sizeof unit / sizeof *unit; k++)
        if (strcmp(param->unit, unit[k]) == 0)
            return 1;
    return !param->unit;
}

/* The part of u that belongs to a side of zero gives the sign, the rest the size, from 1e-5 of the side to all of it.
 */
static double signed_log(double lower, double upper, double u)
{
    double part = u < 0.5 ? 1 - 2 * u : 2 * u - 1;
    return (u < 0.5 ? lower : upper) * pow(10, -5 * (1 - part));
}

double fit_start_sample(const struct fit_param *param, double lower, double upper, double start,
                        double u)
{
    double v;
    if (!(upper > lower))
        return lower;
    if (!isfinite(lower) || !isfinite(upper))
        v = fabs(start) > 0 ? start * pow(10, 3 * (start > 0 ? u - 0.5 : 0.5 - u)) : 2 * u - 1;
    else if (lower > 0 && upper > 100 * lower)
        v = lower * pow(upper / lower, u);
    else if (upper < 0 && lower < 100 * upper)
        v = upper * pow(lower / upper, 1 - u);
    else if (lower < 0 && upper > 0 && !has_natural_scale(param))
        v = signed_log(lower, upper, u);
    else
        v = lower + u * (upper - lower);
    return fmin(fmax(v, lower), upper);
}

double fit_start_position(const struct fit_start_spec *s, size_t k, double x)
{
    double lo = 0, hi = 1;
    for (int turn = 0; turn < 30; turn++) {
        double mid = 0.5 * (lo + hi);
        if (fit_start_sample(&s->kernel->param[k], s->lower[k], s->upper[k], s->start[k], mid) < x)
            lo = mid;
        else
            hi = mid;
    }
    return 0.5 * (lo + hi);
}

void fit_start_locate(struct fit_search *q, size_t i)
{
    const struct fit_start_spec *s = q->s;
    for (size_t k = 0; k < q->p && !q->located[i]; k++)
        q->unit[i * q->p + k] = s->upper[k] > s->lower[k] ? fit_start_position(s, k, q->point[i * q->p + k]) : 0;
    q->located[i] = 1;
}

/* Permutation of 0..n-1 (Fisher & Yates) from seed and stream alone. */
static void shuffle(uint64_t seed, uint64_t stream, size_t n, size_t *perm)
{
    for (size_t i = 0; i < n; i++)
        perm[i] = i;
    for (size_t i = n; i-- > 1;) {
        double u[2];
        fit_rng_uniform(seed, stream, i, u);
        size_t j = (size_t)(u[0] * (double)(i + 1)), t = perm[i];
        perm[i] = perm[j];
        perm[j] = t;
    }
}

static double clip(const struct fit_start_spec *s, size_t k, double x)
{
    return isfinite(x) ? fmin(fmax(x, s->lower[k]), s->upper[k]) : s->start[k];
}

/* Hypercube points first..npoint-1 of parameter k; every third near the best of earlier rounds. */
static void make_column(struct fit_search *q, size_t k, size_t first)
{
    const struct fit_start_spec *s = q->s;
    size_t n = q->npoint - first;
    uint64_t stream = q->draw * 4096 + k;
    shuffle(s->seed, 0x53480000u + stream, n, q->rank);
    double at = q->centre ? fit_start_position(s, k, q->centre[k]) : 0;
    for (size_t i = 0; i < n; i++) {
        double u[2], z[2], v;
        fit_rng_uniform(s->seed, 0x4c480000u + stream, i, u);
        v = ((double)q->rank[i] + u[0]) / (double)n;
        if (q->centre && i % 3 == 0) {
            fit_rng_normal(s->seed, 0x4e4f0000u + stream, i, z);
            v = fmin(fmax(at + 0.15 * z[0], 0), 1);
        }
        q->point[(first + i) * q->p + k] =
            fit_start_sample(&s->kernel->param[k], s->lower[k], s->upper[k], s->start[k], v);
    }
}

/* Point 0: the given start (or, later, the best so far).  Then the model's, then the hypercube's.
 */
void fit_start_hypercube(struct fit_search *q)
{
    const struct fit_start_spec *s = q->s;
    size_t p = q->p, first = 1 + q->nmodel;
    memcpy(q->point, q->centre ? q->centre : s->start, p * sizeof *q->point);
    for (size_t i = 0; i < q->nmodel; i++)
        for (size_t k = 0; k < p; k++)
            q->point[(1 + i) * p + k] = clip(s, k, s->kernel->screen[i * p + k]);
    for (size_t k = 0; k < p; k++) {
        make_column(q, k, first);
        for (size_t i = 0; i < q->npoint; i++) {
            double *x = &q->point[i * p + k];
            if (!(s->upper[k] > s->lower[k]))
                *x = s->lower[k];
        }
    }
}

/* One more point: the best one with random values of the parameters marked. */
static void redraw(struct fit_search *q, const double *best, const unsigned char *marked, size_t number, double *x)
{
    const struct fit_start_spec *s = q->s;
    double u[2];
    memcpy(x, best, q->p * sizeof *x);
    for (size_t k = 0; k < q->p; k++) {
        fit_rng_uniform(s->seed, 0x44450000u + q->draw * 4096 + k, number, u);
        if (marked[k] && s->upper[k] > s->lower[k])
            x[k] = fit_start_sample(&s->kernel->param[k], s->lower[k], s->upper[k], s->start[k], u[0]);
    }
}

/* Points 1..: a scan along each free parameter through the best point, then random values of the dead ones, and of
 * the three of each rate. A descent cannot leave mirror images (the sign of an angle), saturated corners and rates
 * that have nearly vanished. */
size_t fit_start_scans(struct fit_search *q, const double *best, const unsigned char *dead, size_t ndead,
                       unsigned char *marked)
{
    const struct fit_start_spec *s = q->s;
    size_t n = 0, p = q->p;
    memcpy(q->point + p * n++, best, p * sizeof *best);
    for (size_t k = 0; k < p; k++)
        for (size_t i = 0; s->upper[k] > s->lower[k] && i < FIT_START_SCAN; i++) {
            double *x = q->point + p * n++;
            memcpy(x, best, p * sizeof *x);
            x[k] = fit_start_sample(&s->kernel->param[k], s->lower[k], s->upper[k], s->start[k],
                                    ((double)i + 0.5) / FIT_START_SCAN);
        }
    for (size_t i = 0; ndead > 0 && i < FIT_START_DEAD; i++)
        redraw(q, best, dead, i, q->point + p * n++);
    for (size_t r = 0; r < s->kernel->nrate; r++) {
        const struct fit_rate *rate = &s->kernel->rate[r];
        memset(marked, 0, p);
        marked[rate->amplitude] = marked[rate->exponent] = marked[rate->offset] = 1;
        for (size_t i = 0; i < FIT_START_RATE; i++)
            redraw(q, best, marked, FIT_START_DEAD + r * FIT_START_RATE + i, q->point + p * n++);
    }
    q->draw++;
    return n;
}

/* Points 1..: the best point with random values of about half of the free parameters: in every second point those of
 * one model point, otherwise uniform in the box. Well-determined values, such as the period of a fringe, are kept in
 * some of them, and the rest is redrawn. */
void fit_start_crossings(struct fit_search *q, const double *best)
{
    const struct fit_start_spec *s = q->s;
    size_t p = q->p, nscreen = s->kernel->screen ? s->kernel->nscreen : 0;
    memcpy(q->point, best, p * sizeof *best);
    for (size_t i = 1; i < q->npoint; i++) {
        double *x = q->point + i * p, pick[2], u[2];
        fit_rng_uniform(s->seed, 0x43520000u + q->draw, i, pick);
        const double *model = nscreen && i % 2 ? s->kernel->screen : NULL;
        if (model)
            model += (size_t)(pick[0] * (double)nscreen) * p;
        for (size_t k = 0; k < p; k++) {
            fit_rng_uniform(s->seed, 0x43580000u + q->draw * 4096 + k, i, u);
            x[k] = best[k];
            if (s->upper[k] > s->lower[k] && u[0] < 0.25 + 0.5 * pick[1])
                x[k] = model ? clip(s, k, model[k])
                             : fit_start_sample(&s->kernel->param[k], s->lower[k], s->upper[k],
                                                s->start[k], u[1]);
        }
    }
    q->draw++;
}
