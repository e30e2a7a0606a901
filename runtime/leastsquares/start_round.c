/* start_round.c -- one round of the search for starting points: many points are screened, the best that lie apart from
 * one another are followed downhill, in stages after each of which a part continues.
 *
 * Dropping the worse part of the runs while they are under way: Jamieson & Talwalkar, AISTATS 2016 ("successive
 * halving").
 */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/share.h"
#include "leastsquares/problem.h"
#include "leastsquares/start_impl.h"
#include "machine/team.h"
#include "ranks/ranks.h"

enum {
    SURVIVORS = 3, /* of the coarse copy */
    FEW = 8        /* free parameters; for each one beyond them more points are followed */
};

static const double WORK = 2e8;  /* residuals that screening may cost at most */
static const double VALUES_FOR_RANKS = 200000; /* less work takes no longer than a meeting of ranks */
static const double APART = 0.1; /* least distance of followed points, as a part of the box */
/* Differences of chi2 within which two runs have reached the same minimum: when both have ended, and when one is
 * still following a valley. */
static const double SAME = 1e-2, SAME_UNDER_WAY = 1e-4;
/* Differences of chi2 that thinned data cannot resolve: 16 times as many data make 3 of them. */
static const double UNDECIDED = 50;

/* ---- screening ------------------------------------------------------------------------------- */

/* Does body(user, obj, k) for k < n, each with its own objective when there are workers. The result for one k must
 * not depend on the others, so the number of workers changes nothing; nor does that of ranks, among which they are
 * divided where all have the data and the work is long compared with the meeting that distributes the results: the
 * caller spreads them. */
struct each {
    const struct fit_search *q;
    struct fit_objective *obj;
    void (*body)(void *user, struct fit_objective *obj, size_t k);
    void *user;
};

static void one(void *user, size_t k, size_t thread)
{
    const struct each *e = user;
    e->body(e->user, e->q->nworker < 2 ? e->obj : e->q->worker[thread], k);
}

static int is_divided(const struct fit_objective *obj, size_t n)
{
    return fit_ranks_shared() && n > 1 && !fit_dataset_divided(obj->ds) && !fit_dataset_streamed(obj->ds) &&
           (double)obj->ds->npoint * (double)n >= VALUES_FOR_RANKS;
}

static void each(const struct fit_search *q, struct fit_objective *obj, size_t n,
                 void (*body)(void *user, struct fit_objective *obj, size_t k), void *user)
{
    struct each e = {q, obj, body, user};
    const struct fit_team team = {q->nworker < 2 ? 1 : (int)q->nworker, FIT_TEAM_NEXT};
    if (is_divided(obj, n))
        fit_ranks_run(team, n, one, &e);
    else
        fit_team_run(team, n, one, &e);
}

static int interrupted(const struct fit_search *q)
{
    return q->s->setup->interrupt && *q->s->setup->interrupt;
}

static void screen_point(void *user, struct fit_objective *obj, size_t i)
{
    struct fit_search *q = user;
    q->cost[i] =
        fit_objective_value(obj, q->point + i * q->p) == FIT_EVAL_OK ? obj->cost : INFINITY;
}

/* Two ranked runs [at, middle), [middle, end) of `from` become one; of equal costs the earlier point is first. */
static void merge(const double *cost, const size_t *from, size_t at, size_t middle, size_t end, size_t *to)
{
    for (size_t i = at, j = middle, k = at; k < end; k++)
        to[k] = j >= end || (i < middle && !(cost[from[i]] > cost[from[j]])) ? from[i++] : from[j++];
}

/* Points by cost, those of equal cost in their order; `chosen` is scratch. */
static void rank_points(struct fit_search *q)
{
    const size_t n = q->npoint;
    size_t *from = q->rank, *to = q->chosen;
    for (size_t i = 0; i < n; i++)
        from[i] = i;
    for (size_t run = 1; run < n; run *= 2) {
        for (size_t at = 0; at < n; at += 2 * run)
            merge(q->cost, from, at, at + run < n ? at + run : n, at + 2 * run < n ? at + 2 * run : n, to);
        size_t *sorted = to;
        to = from;
        from = sorted;
    }
    q->rank = from;
    q->chosen = to;
}

enum fit_status fit_start_screen(struct fit_search *q, struct fit_objective *obj,
                                 struct fit_error *err)
{
    const int divided = is_divided(obj, q->npoint);
    each(q, obj, q->npoint, screen_point, q);
    if (divided)
        fit_ranks_spread(q->cost, q->npoint, sizeof *q->cost);
    if (interrupted(q))
        return fit_fail(err, FIT_ERR_INTERRUPTED, "fit: interrupted while looking for a start");
    rank_points(q);
    return FIT_OK;
}

static double distance(struct fit_search *q, size_t a, size_t b)
{
    double d = 0;
    fit_start_locate(q, a);
    fit_start_locate(q, b);
    for (size_t k = 0; k < q->p; k++)
        d = fmax(d, fabs(q->unit[a * q->p + k] - q->unit[b * q->p + k]));
    return d;
}

static void set_candidate(const struct fit_search *q, size_t i, struct fit_candidate *f)
{
    memcpy(f->first, q->point + i * q->p, q->p * sizeof *f->first);
    memcpy(f->theta, f->first, q->p * sizeof *f->theta);
    f->given = i == 0;
    f->alive = 1;
    f->cost = q->cost[i];
    f->variance = INFINITY;
    if (i == 0)
        snprintf(f->origin, sizeof f->origin, "%s", q->s->origin);
    else if (i <= q->nmodel)
        snprintf(f->origin, sizeof f->origin, "data-driven: model point %zu", i);
    else
        snprintf(f->origin, sizeof f->origin, "data-driven: point %zu", q->number + i - q->nmodel);
}

/* Adds the best points that lie apart from one another (first round: after the given start). */
static size_t choose(struct fit_search *q, size_t wanted, struct fit_candidates *list)
{
    size_t n = 1, from = q->centre ? 1 : 0, first = list->n;
    q->chosen[0] = 0;
    for (size_t r = 0; r < q->npoint && n < wanted + 1; r++) {
        size_t i = q->rank[r];
        int near = !isfinite(q->cost[i]) || isnan(q->unit[i * q->p]) || i == 0;
        /* a point better than the best minimum so far is in another valley, however close */
        size_t c = q->centre && q->cost[i] < q->cost[0] ? 1 : 0;
        for (; c < n && !near; c++)
            near = distance(q, i, q->chosen[c]) < APART;
        if (!near)
            q->chosen[n++] = i;
    }
    for (size_t c = from; c < n; c++)
        set_candidate(q, q->chosen[c], &list->item[list->n++]);
    return first;
}

/* ---- following ------------------------------------------------------------------------------- */

static int by_variance(const void *a, const void *b)
{
    const struct fit_candidate *x = a, *y = b;
    if (x->alive != y->alive)
        return y->alive - x->alive;
    if (x->variance < y->variance || x->variance > y->variance)
        return x->variance < y->variance ? -1 : 1;
    return y->given != x->given ? y->given - x->given : strcmp(x->origin, y->origin);
}

/* Of two that have reached the same minimum the given one stays, otherwise the better one. */
static void drop_doubles(struct fit_candidates *list)
{
    for (size_t a = 0; a < list->n; a++)
        for (size_t b = a + 1; b < list->n; b++) {
            struct fit_candidate *x = &list->item[a], *y = &list->item[b];
            if (!x->alive || !y->alive)
                continue;
            double least = fmin(x->variance, y->variance), gap = fabs(x->variance - y->variance);
            if (!(x->dof * gap <= (x->converged && y->converged ? SAME : SAME_UNDER_WAY) * least))
                continue;
            struct fit_candidate *less = y->given ? x : y;
            less->alive = 0;
            less->doubled = 1;
        }
}

void fit_start_sort(struct fit_candidates *list)
{
    qsort(list->item, list->n, sizeof *list->item, by_variance);
    drop_doubles(list);
}

struct following {
    const struct fit_search *q;
    struct fit_candidate *item;
    size_t steps;
    atomic_int out_of_memory;
};

static void follow_one(void *user, struct fit_objective *obj, size_t c)
{
    struct following *w = user;
    const struct fit_search *q = w->q;
    struct fit_candidate *f = &w->item[c];
    if (!f->alive || f->converged || interrupted(q))
        return;
    struct fit_nlsq *s = fit_nlsq_new(q->p);
    if (!s) {
        w->out_of_memory = 1;
        return;
    }
    double dof = fmax((double)obj->npoint - (double)obj->nu - (double)q->nfree, 1);
    struct fit_nlsq_problem problem = fit_problem(obj, q->s->lower, q->s->upper, dof, obj->kernel->density ? 1 : 0);
    struct fit_watch watch = {.deadline = q->s->deadline};
    struct fit_nlsq_options opt = {.max_iterations = w->steps,
                                   .ftol = 1e-12,
                                   .xtol = 1e-10,
                                   .gtol = 1e-2,
                                   .watch = fit_watch,
                                   .watch_user = &watch};
    const enum fit_nlsq_end end = fit_nlsq_run(s, &problem, &opt, f->theta);
    f->cost = isfinite(s->cost) ? s->cost : INFINITY;
    f->dof = dof;
    f->variance = 2 * f->cost / dof;
    f->converged = fit_nlsq_converged(end) || end == FIT_NLSQ_FAILED;
    fit_nlsq_free(s);
}

/* Sends the ranks' results for n candidates to all. */
static enum fit_status spread(const struct following *w, size_t n, struct fit_error *err)
{
    enum { COST, DOF, VARIANCE, CONVERGED, THETA };
    const size_t p = w->q->p, each = THETA + p;
    FIT_SCRATCH(a);
    double *all = fit_take(&a, n * each, sizeof *all);
    const enum fit_status st =
        fit_ranks_agree_status(!all || w->out_of_memory ? fit_no_memory(err, "fit") : FIT_OK, err);
    for (size_t c = 0; c < n && st == FIT_OK; c++) {
        const struct fit_candidate *f = &w->item[c];
        memcpy(all + c * each, (const double[]){f->cost, f->dof, f->variance, f->converged}, THETA * sizeof *all);
        memcpy(all + c * each + THETA, f->theta, p * sizeof *all);
    }
    if (st == FIT_OK)
        fit_ranks_spread(all, n, each * sizeof *all);
    for (size_t c = 0; c < n && st == FIT_OK; c++) {
        struct fit_candidate *f = &w->item[c];
        const double *got = all + c * each;
        f->cost = got[COST];
        f->dof = got[DOF];
        f->variance = got[VARIANCE];
        f->converged = got[CONVERGED] > 0;
        memcpy(f->theta, got + THETA, p * sizeof *f->theta);
    }
    return st;
}

enum fit_status fit_start_follow(const struct fit_search *q, struct fit_objective *obj,
                                 size_t steps, size_t from, struct fit_candidates *list,
                                 struct fit_error *err)
{
    const size_t n = list->n - from;
    struct following w = {q, list->item + from, steps, 0};
    const int divided = is_divided(obj, n);
    each(q, obj, n, follow_one, &w);
    enum fit_status st = divided ? spread(&w, n, err) : w.out_of_memory ? fit_no_memory(err, "fit") : FIT_OK;
    if (st != FIT_OK)
        return st;
    if (interrupted(q))
        return fit_fail(err, FIT_ERR_INTERRUPTED, "fit: interrupted while looking for a start");
    drop_doubles(list);
    qsort(list->item + from, list->n - from, sizeof *list->item, by_variance);
    return FIT_OK;
}

void fit_start_keep(struct fit_candidates *list, size_t from, size_t most, double factor)
{
    for (size_t c = from; c < list->n; c++)
        if (c >= from + most || !(list->item[c].variance <= factor * list->item[from].variance))
            list->item[c].alive = 0;
}

size_t fit_start_beyond_few(const struct fit_search *q)
{
    return q->nfree > FEW ? q->nfree - FEW : 0;
}

void fit_start_keep_survivors(const struct fit_search *q, struct fit_candidates *list)
{
    const struct fit_candidate *best = &list->item[0];
    size_t most = SURVIVORS;
    while (most < SURVIVORS + fit_start_beyond_few(q) && most < list->n && list->item[most].alive &&
           list->item[most].dof * (list->item[most].variance - best->variance) <=
               UNDECIDED * best->variance)
        most++;
    fit_start_keep(list, 0, most, 2);
}

int fit_start_good_enough(const struct fit_candidates *list)
{
    const struct fit_candidate *best = &list->item[0];
    return isnan(list->noise) || best->variance <= list->noise * (1 + 2.5 * sqrt(2 / best->dof));
}

/* ---- memory ---------------------------------------------------------------------------------- */

enum fit_status fit_start_list(struct fit_candidates *list, size_t n, size_t p,
                               struct fit_error *err)
{
    list->item = fit_take(&list->storage, n, sizeof *list->item);
    for (size_t c = 0; list->item && c < n; c++)
        FIT_TAKE_DOUBLES(&list->storage, p, &list->item[c].first, &list->item[c].theta);
    if (list->storage.failed)
        return fit_no_memory(err, "fit");
    list->noise = NAN;
    return FIT_OK;
}

void fit_candidates_free(struct fit_candidates *list)
{
    fit_arena_free(&list->storage);
    *list = (struct fit_candidates){0};
}

void fit_start_round_free(struct fit_search *q)
{
    fit_arena_free(&q->storage);
    q->point = q->unit = q->cost = NULL;
    q->rank = NULL;
    q->located = NULL;
}

enum fit_status fit_start_round_new(struct fit_search *q, size_t points,
                                    const struct fit_dataset *ds, struct fit_error *err)
{
    double most = WORK / (double)(ds->npoint + 1);
    if ((double)points > most)
        points = most > 8 ? (size_t)most : 8;
    fit_start_round_free(q);
    q->nmodel = q->s->kernel->screen && !q->centre ? q->s->kernel->nscreen : 0;
    q->npoint = 1 + q->nmodel + points;
    FIT_TAKE_DOUBLES(&q->storage, q->npoint * q->p, &q->point, &q->unit);
    FIT_TAKE_DOUBLES(&q->storage, q->npoint, &q->cost);
    q->rank = fit_take(&q->storage, q->npoint, sizeof *q->rank);
    q->chosen = fit_take(&q->storage, q->npoint, sizeof *q->chosen);
    q->located = fit_take(&q->storage, q->npoint, sizeof *q->located);
    return q->storage.failed ? fit_no_memory(err, "fit") : FIT_OK;
}

enum fit_status fit_start_given(const struct fit_start_spec *spec, struct fit_candidates *list,
                                struct fit_error *err)
{
    size_t p = spec->kernel->nparam;
    *list = (struct fit_candidates){0};
    enum fit_status st = fit_start_list(list, 1, p, err);
    if (st != FIT_OK) {
        fit_candidates_free(list);
        return st;
    }
    list->n = 1;
    memcpy(list->item->first, spec->start, p * sizeof *spec->start);
    memcpy(list->item->theta, spec->start, p * sizeof *spec->start);
    snprintf(list->item->origin, sizeof list->item->origin, "%s", spec->origin);
    list->item->given = list->item->alive = 1;
    list->item->cost = list->item->variance = NAN;
    return FIT_OK;
}

/* Follows the points chosen from the screened ones, in stages: after each, a third continues. */
enum fit_status fit_start_follow_chosen(struct fit_search *q, const struct fit_start_plan *plan,
                                        struct fit_objective *obj, struct fit_candidates *list,
                                        struct fit_error *err)
{
    size_t wide = plan->points ? fit_start_beyond_few(q) : 0, divisor = wide ? 2 : 3;
    size_t followed = q->s->multi_start ? q->s->multi_start : plan->followed + plan->more * wide;
    size_t from = choose(q, followed, list);
    for (size_t stage = 0; stage < FIT_START_STAGES; stage++) {
        enum fit_status st = fit_start_follow(q, obj, plan->steps[stage], from, list, err);
        if (st != FIT_OK)
            return st;
        if (!q->s->multi_start)
            fit_start_keep(list, from,
                           followed / (stage == 0 ? divisor : 2 * divisor) + SURVIVORS - 1,
                           INFINITY);
        for (size_t c = from; c < list->n; c++) /* the user's own start is followed to its end */
            list->item[c].alive |= list->item[c].given && !list->item[c].doubled;
    }
    q->number += q->npoint;
    fit_start_sort(list);
    return FIT_OK;
}

enum fit_status fit_start_round(struct fit_search *q, const struct fit_start_plan *plan,
                                struct fit_objective *obj, struct fit_candidates *list,
                                struct fit_error *err)
{
    size_t points = plan->points * q->nfree;
    enum fit_status st;
    if (points < 4 * q->s->multi_start)
        points = 4 * q->s->multi_start;
    if ((st = fit_start_round_new(q, points, obj->ds, err)) != FIT_OK)
        return st;
    fit_start_hypercube(q);
    q->draw++;
    if ((st = fit_start_screen(q, obj, err)) != FIT_OK)
        return st;
    return fit_start_follow_chosen(q, plan, obj, list, err);
}
