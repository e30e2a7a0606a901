/* start.c -- looks for starting points by the sum of squares itself, on thinned data.
 *
 * Takes the box and one given start; gives candidates, each followed some way downhill, best first. A pass over 50
 * frames costs a hundredth of one over 500, so that some hundreds of points are affordable where a second full fit
 * would not be. fit.c judges the candidates of the thinned data on all data.
 *
 * One round, from screened points to minima, is in start_round.c; this file decides which rounds there are, and on
 * which copies of the data.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "leastsquares/start_impl.h"
#include "machine/topology.h"
#include "ranks/ranks.h"

enum {
    COARSE_FRAMES = 56,  /* wanted on the coarse copy */
    COARSE_ENOUGH = 84,  /* with fewer frames the data are their own coarse copy */
    MEDIUM_FRAMES = 200, /* the finer copy, for more than MEDIUM_ENOUGH frames */
    MEDIUM_ENOUGH = 400,
    MEDIUM_STEPS = 25,
    MOST_WORKERS = 32, /* points looked at side by side */
    MOST_MORE = 8, /* points followed for parameters beyond a few */
    EXPLORED = 4, /* points followed from scans */
    EXPLORATIONS = 3,
    CROSSINGS = 4,
    GLOBAL_STEPS = 40,
    RIVALS = 2,  /* on the finer copy */
    THOROUGH = 8 /* rivals on the finer copy when many minima are requested */
};

/* The last round is for tables only, where it costs little: fringes of a scattering curve have many narrow minima.
 * Crossings of the first round, and of those that follow because it was futile. */
static const struct fit_start_plan rounds[] = {{16, 8, 0, {4, 8, 25}},
                                               {48, 20, 8, {5, 10, 30}},
                                               {100, 40, 8, {6, 12, 40}},
                                               {2000, 20, 8, {6, 12, 40}}},
                                   exploration = {0, EXPLORED, 0, {4, 8, 25}},
                                   first_crossing = {24, 0, 2, {5, 10, 25}},
                                   later_crossing = {48, 0, 8, {5, 10, 30}};

/* A decrease of chi2 that makes another crossing of the best worthwhile. */
static const double BETTER = 0.2;

/* ---- exploring around a minimum -------------------------------------------------------------- */

/* Parameters without effect at the best point: the model has saturated there (a floor, a cut). */
static size_t find_dead(const struct fit_search *q, struct fit_objective *obj, const double *at,
                        double *B, unsigned char *dead)
{
    size_t n = 0;
    memset(dead, 0, q->p);
    if (fit_objective_value(obj, at) != FIT_EVAL_OK ||
        fit_objective_normal(obj, at, B, B + q->p * q->p) != FIT_EVAL_OK)
        return 0;
    for (size_t k = 0; k < q->p; k++) {
        dead[k] = q->s->upper[k] > q->s->lower[k] && !(B[k * (q->p + 1)] > 0);
        n += dead[k];
    }
    return n;
}

/* Keeps the local minima of a scan except the one that contains the best point; of the redrawn values those with an
 * effect, and each effect once. */
static void keep_dips(struct fit_search *q)
{
    size_t n = 1;
    fit_start_locate(q, 0);
    for (size_t k = 0; k < q->p; k++) {
        if (!(q->s->upper[k] > q->s->lower[k]))
            continue;
        const double *c = q->cost + n;
        double here = q->unit[k];
        for (size_t i = 0; i < FIT_START_SCAN; i++) {
            int dip = (i == 0 || c[i] < c[i - 1]) && (i + 1 == FIT_START_SCAN || c[i] < c[i + 1]);
            int own = fabs(((double)i + 0.5) / FIT_START_SCAN - here) <= 1.0 / FIT_START_SCAN;
            if (!dip || own)
                q->unit[(n + i) * q->p] = NAN;
        }
        n += FIT_START_SCAN;
    }
    for (size_t first = n; n < q->npoint; n++) {
        int same = !(fabs(q->cost[n] - q->cost[0]) > 0);
        for (size_t i = first; i < n && !same; i++)
            same = !(fabs(q->cost[n] - q->cost[i]) > 0);
        if (same)
            q->unit[n * q->p] = NAN;
    }
}

/* Explores around the best point as long as that leads to a better one. */
static enum fit_status explore(struct fit_search *q, struct fit_objective *obj,
                               struct fit_candidates *list, struct fit_error *err)
{
    FIT_SCRATCH(a);
    double *B = fit_take(&a, q->p * q->p + q->p, sizeof *B), before = INFINITY;
    unsigned char *dead = fit_take(&a, 2 * q->p, 1);
    size_t points = q->nfree * FIT_START_SCAN + FIT_START_DEAD + q->s->kernel->nrate * FIT_START_RATE;
    enum fit_status st = !a.failed ? FIT_OK : fit_no_memory(err, "fit");
    for (size_t turn = 0; st == FIT_OK && turn < EXPLORATIONS; turn++) {
        const double *best = list->item[0].theta;
        if (!(list->item[0].variance < before * (1 - 1e-6)))
            break;
        before = list->item[0].variance;
        size_t ndead = find_dead(q, obj, best, B, dead);
        q->centre = best; /* no model points, and no second copy of the given start */
        if ((st = fit_start_round_new(q, points, obj->ds, err)) != FIT_OK)
            break;
        if (q->npoint < 1 + points)
            break; /* too much data for so many points */
        q->npoint = fit_start_scans(q, best, dead, ndead, dead + q->p);
        if ((st = fit_start_screen(q, obj, err)) != FIT_OK)
            break;
        keep_dips(q);
        st = fit_start_follow_chosen(q, &exploration, obj, list, err);
    }
    return st;
}

/* Many parameters: a minimum that fits well may still be a side valley. New starts that share a part of its values
 * are tried, until a set of them (later two in a row) leads to nothing better. */
static enum fit_status cross(struct fit_search *q, struct fit_objective *obj,
                             struct fit_candidates *list, struct fit_error *err)
{
    const struct fit_start_plan *crossing = list->rounds > 1 ? &later_crossing : &first_crossing;
    size_t vain = 0, patience = list->rounds > 1 ? 2 : 1;
    double before = INFINITY;
    enum fit_status st = FIT_OK;
    for (size_t turn = 0; fit_start_beyond_few(q) && st == FIT_OK && turn < CROSSINGS; turn++) {
        const double *best = list->item[0].theta;
        int better = turn == 0 || list->item[0].dof * (before - list->item[0].variance) > BETTER * before;
        vain = better ? 0 : vain + 1;
        if (vain == patience)
            break;
        before = list->item[0].variance;
        q->centre = best;
        list->crossed = 1;
        if ((st = fit_start_round_new(q, crossing->points * q->nfree, obj->ds, err)) != FIT_OK)
            break;
        fit_start_crossings(q, best);
        if ((st = fit_start_screen(q, obj, err)) == FIT_OK)
            st = fit_start_follow_chosen(q, crossing, obj, list, err);
    }
    return st;
}

/* ---- all together ---------------------------------------------------------------------------- */

size_t fit_start_rounds(const struct fit_kernel *kernel)
{
    return sizeof rounds / sizeof *rounds - (kernel->space == FIT_PAIRS);
}

/* 1: more minima were requested than lead to the best. */
static int thorough(const struct fit_search *q)
{
    return q->s->multi_start || q->s->global;
}

/* The global stage; what it finds is followed to its minimum. */
static enum fit_status search_box(struct fit_search *q, struct fit_objective *obj,
                                  struct fit_candidates *list, struct fit_error *err)
{
    size_t from = list->n;
    enum fit_status st = fit_start_global(q, obj, list, err);
    if (st == FIT_OK)
        st = fit_start_follow(q, obj, GLOBAL_STEPS, from, list, err);
    fit_start_sort(list);
    return st;
}

static enum fit_status search_coarse(struct fit_search *q, struct fit_objective *obj,
                                     struct fit_candidates *list, struct fit_error *err)
{
    size_t most = 2 + q->s->multi_start + FIT_START_RESTARTS;
    for (size_t r = 0; r < fit_start_rounds(q->s->kernel); r++)
        most += rounds[r].followed + (1 + CROSSINGS) * MOST_MORE * fit_start_beyond_few(q) +
                EXPLORATIONS * EXPLORED;
    enum fit_status st = fit_start_list(list, most, q->p, err);
    if (st == FIT_OK)
        st = fit_start_noise(obj, &list->noise, err);
    if (st != FIT_OK)
        return st;
    list->rounds = q->s->first_round;
    while (list->rounds < fit_start_rounds(q->s->kernel)) {
        if ((st = fit_start_round(q, &rounds[list->rounds++], obj, list, err)) != FIT_OK ||
            q->s->multi_start)
            break;
        if ((st = explore(q, obj, list, err)) != FIT_OK ||
            (st = cross(q, obj, list, err)) != FIT_OK || fit_start_good_enough(list))
            break;
        if (q->s->deadline > 0 && fit_ranks_seconds() > q->s->deadline)
            break;
        q->centre = list->item[0].theta;
    }
    if (st == FIT_OK && q->s->global)
        st = search_box(q, obj, list, err);
    if (!thorough(q))
        fit_start_keep_survivors(q, list);
    return st;
}

static void workers_free(struct fit_search *q)
{
    for (size_t k = 0; k < q->nworker; k++)
        fit_objective_free(q->worker[k]);
    free(q->worker);
    q->worker = NULL;
    q->nworker = 0;
}

/* As many objectives of one thread as there are threads. Points of a search are many, and their data few: evaluating
 * them in parallel is better than evaluating each by all threads. */
static enum fit_status workers_new(struct fit_search *q, const struct fit_dataset *ds, struct fit_error *err)
{
    struct fit_objective_setup setup = *q->s->setup;
    int threads = setup.threads > 0 ? setup.threads : fit_topology_threads();
    size_t wanted = threads > MOST_WORKERS ? MOST_WORKERS : (size_t)threads;
    enum fit_status st = FIT_OK;
    setup.threads = 1;
    q->worker = calloc(wanted, sizeof(struct fit_objective *));
    if (!q->worker)
        return fit_no_memory(err, "fit");
    for (size_t k = 0; k < wanted && wanted > 1 && st == FIT_OK; k++) {
        st = fit_objective_new(q->s->kernel, ds, &setup, &q->worker[k], err);
        q->nworker += st == FIT_OK ? 1 : 0;
    }
    return st;
}

static enum fit_status search_on(struct fit_search *q, const struct fit_dataset *ds,
                                 const struct fit_dataset *finer, struct fit_candidates *list,
                                 struct fit_error *err)
{
    struct fit_objective *obj = NULL;
    enum fit_status st = fit_objective_new(q->s->kernel, ds, q->s->setup, &obj, err);
    if (st == FIT_OK)
        st = workers_new(q, ds, err);
    if (st == FIT_OK)
        st = search_coarse(q, obj, list, err);
    workers_free(q); /* the finer data are for few points: all threads for each */
    if (st == FIT_OK && finer) {
        fit_objective_free(obj);
        for (size_t c = 0; c < list->n; c++)
            list->item[c].converged = 0;
        if ((st = fit_objective_new(q->s->kernel, finer, q->s->setup, &obj, err)) == FIT_OK)
            st = fit_start_follow(q, obj, MEDIUM_STEPS, 0, list, err);
        if (st == FIT_OK)
            fit_start_keep(list, 0, thorough(q) ? THOROUGH : RIVALS, thorough(q) ? 2 : 1.1);
    }
    fit_objective_free(obj);
    return st;
}

enum fit_status fit_start_search(const struct fit_start_spec *spec, struct fit_candidates *list,
                                 struct fit_error *err)
{
    struct fit_dataset *coarse = NULL, *medium = NULL;
    struct fit_search q = {.s = spec,
                       .p = spec->kernel->nparam,
                       .centre = spec->centre,
                       .draw = 64 * spec->first_round};
    size_t frames = spec->kernel->space == FIT_PAIRS ? spec->ds->layout.nframe : 0;
    enum fit_status st = FIT_OK;
    *list = (struct fit_candidates){0};
    for (size_t k = 0; k < q.p; k++)
        q.nfree += spec->upper[k] > spec->lower[k];
    if (q.nfree == 0)
        return fit_start_given(spec, list, err);
    if (frames > COARSE_ENOUGH)
        st = fit_dataset_thin(spec->ds, COARSE_FRAMES, &coarse, err);
    if (st == FIT_OK && frames > MEDIUM_ENOUGH)
        st = fit_dataset_thin(spec->ds, MEDIUM_FRAMES, &medium, err);
    const struct fit_dataset *finer = medium;
    if (coarse && !medium && fit_start_beyond_few(&q)) /* many rivals, and all data are not many */
        finer = spec->ds;
    if (st == FIT_OK)
        st = search_on(&q, coarse ? coarse : spec->ds, finer, list, err);
    list->searched = 1;
    list->on_all = !coarse || finer == spec->ds;
    if (st != FIT_OK)
        fit_candidates_free(list);
    fit_dataset_free(coarse);
    fit_dataset_free(medium);
    fit_start_round_free(&q);
    return st;
}
