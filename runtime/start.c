/* start.c -- looks for starting points by the sum of squares itself, on thinned data.
 *
 * Takes the box and one given start; gives candidates, each followed some way downhill, best first.  A
 * pass over 50 frames costs a hundredth of one over 500, so that a few hundred points are affordable where
 * a second full fit would not be.  What the thinned data prefer is judged again on all data by fit.c.
 *
 * Latin hypercube: McKay, Beckman & Conover, Technometrics 21 (1979) 239.
 */
#include "start.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nlsq.h"
#include "rng.h"

enum {
    COARSE_FRAMES = 56,      /* wanted on the coarse copy */
    COARSE_ENOUGH = 84,      /* with fewer frames the data are their own coarse copy */
    MEDIUM_FRAMES = 200,     /* the finer copy, for more than MEDIUM_ENOUGH frames */
    MEDIUM_ENOUGH = 400,
    POINTS_PER_PARAMETER = 16,
    POINTS_MOST = 160,
    FOLLOWED = 5, /* besides the given start, when multi_start does not say otherwise */
    COARSE_STEPS = 15,
    MEDIUM_STEPS = 25
};

static const double WORK = 3e7; /* residuals that screening may cost */
static const double APART = 0.1; /* least distance of followed points, as a part of the box */

struct search {
    const struct fit_start_spec *s;
    size_t p, npoint;   /* parameters; screened points */
    double *point;      /* npoint x p */
    double *unit;       /* npoint x p: position in the box, 0..1 */
    double *cost;       /* npoint */
    size_t *rank;       /* npoint, by cost */
    size_t nmodel;      /* points 1..nmodel are the model's own */
};

/* ---- where to look ---------------------------------------------------------------------------------- */

static double log_between(double lo, double hi, double u)
{
    return exp(log(lo) + u * (log(hi) - log(lo)));
}

/* Sign by halves of u, size from 1e-5 of the half width to all of it. */
static double signed_log(double lower, double upper, double u)
{
    double part = u < 0.5 ? 1 - 2 * u : 2 * u - 1, most = u < 0.5 ? -lower : upper;
    return (u < 0.5 ? -1 : 1) * most * pow(10, -5 * (1 - part));
}

double fit_start_sample(double lower, double upper, double start, double u)
{
    double v;
    if (!(upper > lower))
        return lower;
    if (!isfinite(lower) || !isfinite(upper)) {
        v = fabs(start) > 0 ? start * pow(10, 3 * (u - 0.5)) : 2 * u - 1;
        return fmin(fmax(v, lower), upper);
    }
    if (lower > 0 && upper > 100 * lower)
        v = log_between(lower, upper, u);
    else if (upper < 0 && lower < 100 * upper)
        v = -log_between(-upper, -lower, 1 - u);
    else if (lower < 0 && upper > 0 && fmin(-lower, upper) > 0.05 * fmax(-lower, upper) && upper > 100)
        v = signed_log(lower, upper, u);
    else
        v = lower + u * (upper - lower);
    return fmin(fmax(v, lower), upper);
}

/* Position of x in the coordinate in which the box is sampled, 0..1. */
static double unit_position(double lower, double upper, double start, double x)
{
    double lo = 0, hi = 1;
    if (!(upper > lower))
        return 0;
    for (int k = 0; k < 30; k++) { /* sample() increases with u */
        double mid = 0.5 * (lo + hi), v = fit_start_sample(lower, upper, start, mid);
        int below = start < 0 && (!isfinite(lower) || !isfinite(upper)) ? v > x : v < x;
        *(below ? &lo : &hi) = mid;
    }
    return 0.5 * (lo + hi);
}

/* Permutation of 0..n-1 for dimension k (Fisher & Yates), from the seed alone. */
static void shuffle(uint64_t seed, size_t k, size_t n, size_t *perm)
{
    for (size_t i = 0; i < n; i++)
        perm[i] = i;
    for (size_t i = n; i-- > 1;) {
        double u[2];
        fit_rng_uniform(seed, 0x5354415254u + k, i, u);
        size_t j = (size_t)(u[0] * (double)(i + 1)), t = perm[i];
        perm[i] = perm[j];
        perm[j] = t;
    }
}

static double clip(const struct fit_start_spec *s, size_t k, double x)
{
    return isfinite(x) ? fmin(fmax(x, s->lower[k]), s->upper[k]) : s->start[k];
}

/* Point 0: the given start.  Then the model's, then the hypercube's.  rank serves as scratch. */
static void make_points(struct search *q)
{
    const struct fit_start_spec *s = q->s;
    size_t p = q->p, first = 1 + q->nmodel, n = q->npoint - first;
    memcpy(q->point, s->start, p * sizeof *q->point);
    for (size_t i = 0; i < q->nmodel; i++)
        for (size_t k = 0; k < p; k++)
            q->point[(1 + i) * p + k] = clip(s, k, s->kernel->screen[i * p + k]);
    for (size_t k = 0; k < p; k++) {
        shuffle(s->seed, k, n, q->rank);
        for (size_t i = 0; i < n; i++) {
            double u[2];
            fit_rng_uniform(s->seed, 0x4c4853u + k, i, u);
            q->point[(first + i) * p + k] = fit_start_sample(
                s->lower[k], s->upper[k], s->start[k], ((double)q->rank[i] + u[0]) / (double)n);
        }
    }
    for (size_t i = 0; i < q->npoint; i++)
        for (size_t k = 0; k < p; k++) {
            double *x = &q->point[i * p + k];
            if (!(s->upper[k] > s->lower[k]))
                *x = s->lower[k];
            q->unit[i * p + k] = unit_position(s->lower[k], s->upper[k], s->start[k], *x);
        }
}

/* ---- screening -------------------------------------------------------------------------------------- */

static enum fit_status screen(struct search *q, struct fit_objective *obj, struct fit_error *err)
{
    for (size_t i = 0; i < q->npoint; i++) {
        enum fit_eval e = fit_objective_value(obj, q->point + i * q->p);
        if (e == FIT_EVAL_STOP)
            return fit_fail(err, FIT_ERR_INTERRUPTED, "fit: interrupted while looking for a start");
        q->cost[i] = e == FIT_EVAL_OK ? obj->cost : INFINITY;
        size_t at = i; /* insertion keeps equal costs in the order of points */
        for (; at > 0 && q->cost[q->rank[at - 1]] > q->cost[i]; at--)
            q->rank[at] = q->rank[at - 1];
        q->rank[at] = i;
    }
    return FIT_OK;
}

static double distance(const struct search *q, size_t a, size_t b)
{
    double d = 0;
    for (size_t k = 0; k < q->p; k++)
        d = fmax(d, fabs(q->unit[a * q->p + k] - q->unit[b * q->p + k]));
    return d;
}

static void name_point(const struct search *q, size_t i, char *name, size_t size)
{
    if (i == 0)
        snprintf(name, size, "%s", q->s->origin);
    else if (i <= q->nmodel)
        snprintf(name, size, "data-driven: model point %zu", i);
    else
        snprintf(name, size, "data-driven: point %zu", i - q->nmodel);
}

/* The given start and the best points that lie apart from one another. */
static void choose(const struct search *q, size_t wanted, struct fit_candidates *list, size_t *chosen)
{
    size_t n = 0;
    chosen[n++] = 0;
    for (size_t r = 0; r < q->npoint && n < wanted; r++) {
        size_t i = q->rank[r];
        int near = !isfinite(q->cost[i]) || i == 0;
        for (size_t c = 0; c < n && !near; c++)
            near = distance(q, i, chosen[c]) < APART;
        if (!near)
            chosen[n++] = i;
    }
    for (size_t c = 0; c < n; c++) {
        struct fit_candidate *f = &list->item[c];
        memcpy(f->first, q->point + chosen[c] * q->p, q->p * sizeof *f->first);
        memcpy(f->theta, f->first, q->p * sizeof *f->theta);
        name_point(q, chosen[c], f->origin, sizeof f->origin);
        f->given = c == 0;
        f->alive = 1;
        f->cost = q->cost[chosen[c]];
        f->variance = f->cost;
    }
    list->n = n;
}

/* ---- following -------------------------------------------------------------------------------------- */

static enum fit_eval value(void *user, const double *x, double *cost, double *error)
{
    struct fit_objective *o = user;
    enum fit_eval e = fit_objective_value(o, x);
    *cost = o->cost;
    *error = o->cost_error;
    return e;
}

static enum fit_eval normal(void *user, const double *x, double *B, double *g)
{
    return fit_objective_normal(user, x, B, g);
}

static double degrees_of_freedom(const struct search *q, const struct fit_objective *o)
{
    double n = (double)o->npoint - (double)o->nu;
    for (size_t k = 0; k < q->p; k++)
        n -= q->s->upper[k] > q->s->lower[k];
    return fmax(n, 1);
}

static int by_variance(const void *a, const void *b)
{
    const struct fit_candidate *x = a, *y = b;
    if (x->alive != y->alive)
        return y->alive - x->alive;
    if (x->variance < y->variance || x->variance > y->variance)
        return x->variance < y->variance ? -1 : 1;
    return y->given - x->given ? y->given - x->given : strcmp(x->origin, y->origin);
}

/* Two that have come to the same minimum: the given one stays, else the better one. */
static void drop_doubles(struct fit_candidates *list)
{
    for (size_t a = 0; a < list->n; a++)
        for (size_t b = a + 1; b < list->n; b++) {
            struct fit_candidate *x = &list->item[a], *y = &list->item[b];
            double gap = x->dof * fabs(x->variance - y->variance) / fmin(x->variance, y->variance);
            if (!x->alive || !y->alive || !x->converged || !y->converged)
                continue;
            if (gap < 1e-2 || !(fmax(x->variance, y->variance) > 0))
                *(y->given ? &x->alive : &y->alive) = 0;
        }
}

static enum fit_status follow(const struct search *q, struct fit_objective *obj, size_t steps,
                              struct fit_candidates *list, struct fit_error *err)
{
    struct fit_nlsq *s = fit_nlsq_new(q->p);
    if (!s)
        return fit_fail(err, FIT_ERR_MEMORY, "fit: out of memory");
    double dof = degrees_of_freedom(q, obj);
    struct fit_nlsq_problem problem = {q->p, q->s->lower, q->s->upper, dof, 0, obj, value, normal};
    struct fit_nlsq_options opt = {.max_iterations = steps, .ftol = 1e-12, .xtol = 1e-10, .gtol = 1e-2,
                                   .deadline = q->s->deadline};
    enum fit_word w = FIT_FAILED;
    for (size_t c = 0; c < list->n && w != FIT_INTERRUPTED; c++) {
        struct fit_candidate *f = &list->item[c];
        if (!f->alive)
            continue;
        w = fit_nlsq_run(s, &problem, &opt, f->theta);
        f->cost = isfinite(s->cost) ? s->cost : INFINITY;
        f->dof = dof;
        f->variance = 2 * f->cost / dof;
        f->converged = w == FIT_CONVERGED_GRADIENT || w == FIT_CONVERGED_COST || w == FIT_CONVERGED_STEP;
    }
    fit_nlsq_free(s);
    if (w == FIT_INTERRUPTED)
        return fit_fail(err, FIT_ERR_INTERRUPTED, "fit: interrupted while looking for a start");
    drop_doubles(list);
    qsort(list->item, list->n, sizeof *list->item, by_variance);
    return FIT_OK;
}

/* Keeps at most `most` alive, none with a variance above `factor` times the best. */
static void keep(struct fit_candidates *list, size_t most, double factor)
{
    for (size_t c = 1; c < list->n; c++)
        if (c >= most || !(list->item[c].variance <= factor * list->item[0].variance))
            list->item[c].alive = 0;
}

/* ---- all together ----------------------------------------------------------------------------------- */

static enum fit_status list_new(struct fit_candidates *list, size_t n, size_t p, struct fit_error *err)
{
    list->item = calloc(n, sizeof *list->item);
    double *numbers = calloc(2 * n * p + 1, sizeof *numbers);
    if (!list->item || !numbers) {
        free(list->item);
        free(numbers);
        list->item = NULL;
        return fit_fail(err, FIT_ERR_MEMORY, "fit: out of memory");
    }
    for (size_t c = 0; c < n; c++) {
        list->item[c].first = numbers + 2 * c * p;
        list->item[c].theta = numbers + (2 * c + 1) * p;
    }
    list->n = n;
    return FIT_OK;
}

/* The block of numbers begins where the lowest pointer points: items are sorted, so look for it. */
void fit_candidates_free(struct fit_candidates *list)
{
    double *numbers = NULL;
    for (size_t c = 0; list->item && c < list->n; c++)
        if (!numbers || list->item[c].first < numbers)
            numbers = list->item[c].first;
    free(numbers);
    free(list->item);
    *list = (struct fit_candidates){0};
}

enum fit_status fit_start_given(const struct fit_start_spec *spec, struct fit_candidates *list,
                                struct fit_error *err)
{
    size_t p = spec->kernel->nparam;
    *list = (struct fit_candidates){0};
    enum fit_status st = list_new(list, 1, p, err);
    if (st != FIT_OK)
        return st;
    memcpy(list->item->first, spec->start, p * sizeof *spec->start);
    memcpy(list->item->theta, spec->start, p * sizeof *spec->start);
    snprintf(list->item->origin, sizeof list->item->origin, "%s", spec->origin);
    list->item->given = list->item->alive = 1;
    list->item->cost = list->item->variance = NAN;
    return FIT_OK;
}

static enum fit_status search_new(struct search *q, const struct fit_dataset *ds, struct fit_error *err)
{
    size_t p = q->p, nfree = 0;
    for (size_t k = 0; k < p; k++)
        nfree += q->s->upper[k] > q->s->lower[k];
    size_t n = POINTS_PER_PARAMETER * nfree;
    n = n > POINTS_MOST ? POINTS_MOST : n;
    n = q->s->multi_start > n / 4 ? 4 * q->s->multi_start : n;
    double most = WORK / (double)(ds->npoint + 1);
    if ((double)n > most)
        n = most > 8 ? (size_t)most : 8;
    q->nmodel = q->s->kernel->screen ? q->s->kernel->nscreen : 0;
    q->npoint = 1 + q->nmodel + n;
    q->point = malloc(q->npoint * p * sizeof *q->point);
    q->unit = malloc(q->npoint * p * sizeof *q->unit);
    q->cost = malloc(q->npoint * sizeof *q->cost);
    q->rank = malloc(2 * q->npoint * sizeof *q->rank);
    if (!q->point || !q->unit || !q->cost || !q->rank)
        return fit_fail(err, FIT_ERR_MEMORY, "fit: out of memory");
    return FIT_OK;
}

/* Screens and follows on ds, then follows on `finer` when there is one. */
static enum fit_status search_on(struct search *q, const struct fit_dataset *ds,
                                 const struct fit_dataset *finer, struct fit_candidates *list,
                                 struct fit_error *err)
{
    struct fit_objective *obj = NULL;
    size_t wanted = 1 + (q->s->multi_start ? q->s->multi_start : FOLLOWED);
    size_t most = q->s->multi_start ? wanted : 3;
    double factor = q->s->multi_start ? INFINITY : 2;
    enum fit_status st;
    if ((st = search_new(q, ds, err)) != FIT_OK || (st = list_new(list, wanted, q->p, err)) != FIT_OK ||
        (st = fit_objective_new(q->s->kernel, ds, q->s->setup, &obj, err)) != FIT_OK)
        goto done;
    make_points(q);
    if ((st = screen(q, obj, err)) != FIT_OK)
        goto done;
    choose(q, wanted, list, q->rank + q->npoint);
    if ((st = follow(q, obj, COARSE_STEPS, list, err)) != FIT_OK)
        goto done;
    keep(list, most, factor);
    if (finer) {
        fit_objective_free(obj);
        obj = NULL;
        if ((st = fit_objective_new(q->s->kernel, finer, q->s->setup, &obj, err)) != FIT_OK ||
            (st = follow(q, obj, MEDIUM_STEPS, list, err)) != FIT_OK)
            goto done;
        keep(list, q->s->multi_start ? 4 : 2, q->s->multi_start ? 2 : 1.1);
    }
done:
    fit_objective_free(obj);
    return st;
}

static size_t stride_for(size_t frames, size_t wanted)
{
    return (frames + wanted - 1) / wanted;
}

static int anything_free(const struct fit_start_spec *s)
{
    for (size_t k = 0; k < s->kernel->nparam; k++)
        if (s->upper[k] > s->lower[k])
            return 1;
    return 0;
}

enum fit_status fit_start_search(const struct fit_start_spec *spec, struct fit_candidates *list,
                                 struct fit_error *err)
{
    struct fit_dataset *coarse = NULL, *medium = NULL;
    struct search q = {.s = spec, .p = spec->kernel->nparam};
    size_t frames = spec->kernel->space == FIT_PAIRS ? spec->ds->layout.nframe : 0;
    enum fit_status st = FIT_OK;
    *list = (struct fit_candidates){0};
    if (!anything_free(spec))
        return fit_start_given(spec, list, err);
    if (frames > COARSE_ENOUGH)
        st = fit_dataset_coarse(spec->ds, stride_for(frames, COARSE_FRAMES), &coarse, err);
    if (st == FIT_OK && frames > MEDIUM_ENOUGH)
        st = fit_dataset_coarse(spec->ds, stride_for(frames, MEDIUM_FRAMES), &medium, err);
    if (st == FIT_OK)
        st = search_on(&q, coarse ? coarse : spec->ds, medium, list, err);
    list->searched = 1;
    list->on_all = !coarse;
    if (st != FIT_OK)
        fit_candidates_free(list);
    fit_dataset_free(coarse);
    fit_dataset_free(medium);
    free(q.point);
    free(q.unit);
    free(q.cost);
    free(q.rank);
    return st;
}
