/* start.c -- looks for starting points by the sum of squares itself, on thinned data.
 *
 * Takes the box and one given start; gives candidates, each followed some way downhill, best
 * first.  A pass over 50 frames costs a hundredth of one over 500, so that some hundreds of points
 * are affordable where a second full fit would not be.  What the thinned data prefer is judged on
 * all data by fit.c.
 *
 * Dropping the worse part of the runs while they are under way: Jamieson & Talwalkar, AISTATS 2016
 * ("successive halving").
 */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problem.h"
#include "start_impl.h"
#include "team.h"

enum {
    COARSE_FRAMES = 56,  /* wanted on the coarse copy */
    COARSE_ENOUGH = 84,  /* with fewer frames the data are their own coarse copy */
    MEDIUM_FRAMES = 200, /* the finer copy, for more than MEDIUM_ENOUGH frames */
    MEDIUM_ENOUGH = 400,
    MEDIUM_STEPS = 25,
    MOST_WORKERS = 32,   /* points looked at side by side */
    SURVIVORS = 3, /* of the coarse copy */
    FEW = 8,       /* free parameters; for each one beyond them more points are followed */
    MOST_MORE = 8, /* so many at most */
    STAGES = 3,
    EXPLORED = 4,     /* points followed from scans */
    EXPLORATIONS = 3,
    CROSSINGS = 4,
    GLOBAL_STEPS = 40,
    RIVALS = 2,  /* on the finer copy */
    THOROUGH = 8 /* rivals on the finer copy when many minima are asked for */
};

/* One round: screened points per free parameter, followed points, how many more for each parameter beyond FEW, steps
 * of each stage.  The last is for tables only, where it costs little: fringes of a scattering curve have many narrow
 * minima.  Crossings of the first round, and of those that follow because it was in vain. */
static const struct round {
    size_t points, followed, more;
    size_t steps[STAGES];
} rounds[] = {{16, 8, 0, {4, 8, 25}}, {48, 20, 8, {5, 10, 30}}, {100, 40, 8, {6, 12, 40}}, {2000, 20, 8, {6, 12, 40}}},
  exploration = {0, EXPLORED, 0, {4, 8, 25}}, first_crossing = {24, 0, 2, {5, 10, 25}},
  later_crossing = {48, 0, 8, {5, 10, 30}};

static const double WORK = 2e8;  /* residuals that screening may cost at most */
static const double APART = 0.1; /* least distance of followed points, as a part of the box */
/* Differences of chi2 within which two runs have come to the same minimum: when both are at their
 * ends, and when one is still creeping along a valley. */
static const double SAME = 1e-2, SAME_UNDER_WAY = 1e-4;
/* A fall of chi2 that makes the best worth crossing once more. */
static const double BETTER = 0.2;
/* Differences of chi2 that thinned data cannot judge: 16 times as many data make 3 of them. */
static const double UNDECIDED = 50;

/* ---- screening ------------------------------------------------------------------------------- */

/* Does body(user, obj, k) for k < n, each with an objective of its own when there are workers.  What is done with
 * one k must not depend on the others, so the number of workers changes nothing. */
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

static void each(const struct fit_search *q, struct fit_objective *obj, size_t n,
                 void (*body)(void *user, struct fit_objective *obj, size_t k), void *user)
{
    struct each e = {q, obj, body, user};
    fit_team_run((struct fit_team){q->nworker < 2 ? 1 : (int)q->nworker, FIT_TEAM_NEXT}, n, one, &e);
}

static int interrupted(const struct fit_search *q)
{
    return q->s->setup->interrupt && *q->s->setup->interrupt;
}

static void screen_point(void *user, struct fit_objective *obj, size_t i)
{
    struct fit_search *q = user;
    q->cost[i] = fit_objective_value(obj, q->point + i * q->p) == FIT_EVAL_OK ? obj->cost : INFINITY;
}

static enum fit_status screen(struct fit_search *q, struct fit_objective *obj, struct fit_error *err)
{
    each(q, obj, q->npoint, screen_point, q);
    if (interrupted(q))
        return fit_fail(err, FIT_ERR_INTERRUPTED, "fit: interrupted while looking for a start");
    for (size_t i = 0; i < q->npoint; i++) {
        size_t at = i; /* insertion keeps equal costs in the order of points */
        for (; at > 0 && q->cost[q->rank[at - 1]] > q->cost[i]; at--)
            q->rank[at] = q->rank[at - 1];
        q->rank[at] = i;
    }
    return FIT_OK;
}

static double distance(const struct fit_search *q, size_t a, size_t b)
{
    double d = 0;
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
        /* what is better than the best minimum so far stands in another valley, however close */
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

/* Two that have come to the same minimum: the given one stays, else the better one. */
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
    struct fit_nlsq_problem problem = fit_problem(obj, q->s->lower, q->s->upper, dof, 0);
    struct fit_nlsq_options opt = {.max_iterations = w->steps,
                                   .ftol = 1e-12,
                                   .xtol = 1e-10,
                                   .gtol = 1e-2,
                                   .deadline = q->s->deadline};
    enum fit_word word = fit_nlsq_run(s, &problem, &opt, f->theta);
    f->cost = isfinite(s->cost) ? s->cost : INFINITY;
    f->dof = dof;
    f->variance = 2 * f->cost / dof;
    f->converged = word <= FIT_CONVERGED_STEP || word == FIT_FAILED;
    fit_nlsq_free(s);
}

/* Follows those alive in item[from..) for some steps; then sorts. */
static enum fit_status follow(const struct fit_search *q, struct fit_objective *obj, size_t steps,
                              size_t from, struct fit_candidates *list, struct fit_error *err)
{
    struct following w = {q, list->item + from, steps, 0};
    each(q, obj, list->n - from, follow_one, &w);
    if (w.out_of_memory)
        return fit_fail(err, FIT_ERR_MEMORY, "fit: out of memory");
    if (interrupted(q))
        return fit_fail(err, FIT_ERR_INTERRUPTED, "fit: interrupted while looking for a start");
    drop_doubles(list);
    qsort(list->item + from, list->n - from, sizeof *list->item, by_variance);
    return FIT_OK;
}

/* Keeps at most `most` of item[from..) alive, none above `factor` times the best. */
static void keep(struct fit_candidates *list, size_t from, size_t most, double factor)
{
    for (size_t c = from; c < list->n; c++)
        if (c >= from + most || !(list->item[c].variance <= factor * list->item[from].variance))
            list->item[c].alive = 0;
}

/* What more free parameters than FEW add: with each of them more points that look good lead into
 * side valleys. */
static size_t beyond_few(const struct fit_search *q)
{
    return q->nfree > FEW ? q->nfree - FEW : 0;
}

/* Keeps the best; of many parameters also those that the thinned data do not tell from them. */
static void keep_survivors(const struct fit_search *q, struct fit_candidates *list)
{
    const struct fit_candidate *best = &list->item[0];
    size_t most = SURVIVORS;
    while (most < SURVIVORS + beyond_few(q) && most < list->n && list->item[most].alive &&
           list->item[most].dof * (list->item[most].variance - best->variance) <=
               UNDECIDED * best->variance)
        most++;
    keep(list, 0, most, 2);
}

/* Residuals as small as the noise: nothing better can be found. */
static int good_enough(const struct fit_candidates *list)
{
    const struct fit_candidate *best = &list->item[0];
    return isnan(list->noise) || best->variance <= list->noise * (1 + 2.5 * sqrt(2 / best->dof));
}

/* ---- memory ---------------------------------------------------------------------------------- */

static enum fit_status list_new(struct fit_candidates *list, size_t n, size_t p,
                                struct fit_error *err)
{
    list->item = calloc(n, sizeof *list->item);
    list->numbers = calloc(2 * n * p + 1, sizeof *list->numbers);
    if (!list->item || !list->numbers)
        return fit_fail(err, FIT_ERR_MEMORY, "fit: out of memory");
    for (size_t c = 0; c < n; c++) {
        list->item[c].first = list->numbers + 2 * c * p;
        list->item[c].theta = list->numbers + (2 * c + 1) * p;
    }
    list->noise = NAN;
    return FIT_OK;
}

void fit_candidates_free(struct fit_candidates *list)
{
    free(list->numbers);
    free(list->item);
    *list = (struct fit_candidates){0};
}

static void round_free(struct fit_search *q)
{
    free(q->point);
    free(q->unit);
    free(q->cost);
    free(q->rank);
    q->point = q->unit = q->cost = NULL;
    q->rank = NULL;
}

static enum fit_status round_new(struct fit_search *q, size_t points, const struct fit_dataset *ds,
                                 struct fit_error *err)
{
    double most = WORK / (double)(ds->npoint + 1);
    if ((double)points > most)
        points = most > 8 ? (size_t)most : 8;
    round_free(q);
    q->nmodel = q->s->kernel->screen && !q->centre ? q->s->kernel->nscreen : 0;
    q->npoint = 1 + q->nmodel + points;
    q->point = malloc(q->npoint * q->p * sizeof *q->point);
    q->unit = malloc(q->npoint * q->p * sizeof *q->unit);
    q->cost = malloc(q->npoint * sizeof *q->cost);
    q->rank = malloc(2 * q->npoint * sizeof *q->rank);
    if (!q->point || !q->unit || !q->cost || !q->rank)
        return fit_fail(err, FIT_ERR_MEMORY, "fit: out of memory");
    q->chosen = q->rank + q->npoint;
    return FIT_OK;
}

enum fit_status fit_start_given(const struct fit_start_spec *spec, struct fit_candidates *list,
                                struct fit_error *err)
{
    size_t p = spec->kernel->nparam;
    *list = (struct fit_candidates){0};
    enum fit_status st = list_new(list, 1, p, err);
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

/* Follows the points chosen from those screened, in stages: after each, a third goes on. */
static enum fit_status follow_chosen(struct fit_search *q, const struct round *plan,
                                     struct fit_objective *obj, struct fit_candidates *list,
                                     struct fit_error *err)
{
    size_t wide = plan->points ? beyond_few(q) : 0, divisor = wide ? 2 : 3;
    size_t followed = q->s->multi_start ? q->s->multi_start : plan->followed + plan->more * wide;
    size_t from = choose(q, followed, list);
    for (size_t stage = 0; stage < STAGES; stage++) {
        enum fit_status st = follow(q, obj, plan->steps[stage], from, list, err);
        if (st != FIT_OK)
            return st;
        if (!q->s->multi_start)
            keep(list, from, followed / (stage == 0 ? divisor : 2 * divisor) + SURVIVORS - 1,
                 INFINITY);
        for (size_t c = from; c < list->n; c++) /* the user's own start is followed to its end */
            list->item[c].alive |= list->item[c].given && !list->item[c].doubled;
    }
    q->number += q->npoint;
    qsort(list->item, list->n, sizeof *list->item, by_variance);
    drop_doubles(list);
    return FIT_OK;
}

static enum fit_status one_round(struct fit_search *q, const struct round *plan,
                                 struct fit_objective *obj, struct fit_candidates *list,
                                 struct fit_error *err)
{
    size_t points = plan->points * q->nfree;
    enum fit_status st;
    if (points < 4 * q->s->multi_start)
        points = 4 * q->s->multi_start;
    if ((st = round_new(q, points, obj->ds, err)) != FIT_OK)
        return st;
    fit_start_hypercube(q);
    q->draw++;
    if ((st = screen(q, obj, err)) != FIT_OK)
        return st;
    return follow_chosen(q, plan, obj, list, err);
}

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

/* Of a scan only dips other than the one in which the best point lies are worth following; of the values drawn anew
 * those that have an effect, and each effect once. */
static void bar_slopes(struct fit_search *q)
{
    size_t n = 1;
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

/* Looks around the best point as long as that leads to a better one. */
static enum fit_status explore(struct fit_search *q, struct fit_objective *obj,
                               struct fit_candidates *list, struct fit_error *err)
{
    double *B = malloc((q->p * q->p + q->p + 1) * sizeof *B), before = INFINITY;
    unsigned char *dead = malloc(2 * q->p);
    size_t points = q->nfree * FIT_START_SCAN + FIT_START_DEAD + q->s->kernel->nrate * FIT_START_RATE;
    enum fit_status st = B && dead ? FIT_OK : fit_fail(err, FIT_ERR_MEMORY, "fit: out of memory");
    for (size_t turn = 0; st == FIT_OK && turn < EXPLORATIONS; turn++) {
        const double *best = list->item[0].theta;
        if (!(list->item[0].variance < before * (1 - 1e-6)))
            break;
        before = list->item[0].variance;
        size_t ndead = find_dead(q, obj, best, B, dead);
        q->centre = best; /* no model points, and no second copy of the given start */
        if ((st = round_new(q, points, obj->ds, err)) != FIT_OK)
            break;
        if (q->npoint < 1 + points)
            break; /* too much data for so many points */
        q->npoint = fit_start_scans(q, best, dead, ndead, dead + q->p);
        if ((st = screen(q, obj, err)) != FIT_OK)
            break;
        bar_slopes(q);
        st = follow_chosen(q, &exploration, obj, list, err);
    }
    free(B);
    free(dead);
    return st;
}

/* Many parameters: a minimum that fits well may still be a side valley; new starts that share a
 * part of its values, until a set of them (later on two in a row) leads to nothing better. */
static enum fit_status cross(struct fit_search *q, struct fit_objective *obj,
                             struct fit_candidates *list, struct fit_error *err)
{
    const struct round *crossing = list->rounds > 1 ? &later_crossing : &first_crossing;
    size_t vain = 0, patience = list->rounds > 1 ? 2 : 1;
    double before = INFINITY;
    enum fit_status st = FIT_OK;
    for (size_t turn = 0; beyond_few(q) && st == FIT_OK && turn < CROSSINGS; turn++) {
        const double *best = list->item[0].theta;
        int better = turn == 0 || list->item[0].dof * (before - list->item[0].variance) > BETTER * before;
        vain = better ? 0 : vain + 1;
        if (vain == patience)
            break;
        before = list->item[0].variance;
        q->centre = best;
        list->crossed = 1;
        if ((st = round_new(q, crossing->points * q->nfree, obj->ds, err)) != FIT_OK)
            break;
        fit_start_crossings(q, best);
        if ((st = screen(q, obj, err)) == FIT_OK)
            st = follow_chosen(q, crossing, obj, list, err);
    }
    return st;
}

/* ---- all together ---------------------------------------------------------------------------- */

size_t fit_start_rounds(const struct fit_kernel *kernel)
{
    return sizeof rounds / sizeof *rounds - (kernel->space == FIT_PAIRS);
}

/* Asked to follow more than leads to the best. */
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
        st = follow(q, obj, GLOBAL_STEPS, from, list, err);
    qsort(list->item, list->n, sizeof *list->item, by_variance);
    drop_doubles(list);
    return st;
}

static enum fit_status search_coarse(struct fit_search *q, struct fit_objective *obj,
                                     struct fit_candidates *list, struct fit_error *err)
{
    size_t most = 2 + q->s->multi_start + FIT_START_RESTARTS;
    for (size_t r = 0; r < fit_start_rounds(q->s->kernel); r++)
        most += rounds[r].followed + (1 + CROSSINGS) * MOST_MORE * beyond_few(q) +
                EXPLORATIONS * EXPLORED;
    enum fit_status st = list_new(list, most, q->p, err);
    if (st != FIT_OK)
        return st;
    list->noise = fit_start_noise(obj);
    list->rounds = q->s->first_round;
    while (list->rounds < fit_start_rounds(q->s->kernel)) {
        if ((st = one_round(q, &rounds[list->rounds++], obj, list, err)) != FIT_OK ||
            q->s->multi_start)
            break;
        if ((st = explore(q, obj, list, err)) != FIT_OK ||
            (st = cross(q, obj, list, err)) != FIT_OK || good_enough(list))
            break;
        if (q->s->deadline > 0 && fit_seconds() > q->s->deadline)
            break;
        q->centre = list->item[0].theta;
    }
    if (st == FIT_OK && q->s->global)
        st = search_box(q, obj, list, err);
    if (!thorough(q))
        keep_survivors(q, list);
    return st;
}

/* A thinner copy of the data with about `wanted` frames.  Half of them lie evenly, 2 s apart; near every second one of
 * these are two more, at distances of 1, 2, 4, ... frames: what decays between evenly thinned frames would be lost, and
 * a fringe narrower than they are apart would look like another one. */
static enum fit_status thin_copy(const struct fit_dataset *ds, size_t wanted, struct fit_dataset **thin,
                                 struct fit_error *err)
{
    size_t n = ds->layout.nframe, s = (n + wanted - 1) / wanted, scales = 0, count = 0, station = 0;
    uint32_t *pick = malloc((n + 1) * sizeof *pick);
    unsigned char *taken = calloc(n + 1, 1);
    enum fit_status st = FIT_ERR_MEMORY;
    while ((size_t)2 << scales < 2 * s)
        scales++;
    if (!pick || !taken) {
        fit_fail(err, FIT_ERR_MEMORY, "fit: out of memory");
        goto done;
    }
    for (size_t at = 0; at < n; at += 2 * s, station++) {
        size_t near = (size_t)1 << (station / 2 % (scales + 1)), far = (size_t)1 << ((station / 2 + 1) % (scales + 1));
        taken[at] = 1;
        if (station % 2)
            continue;
        if (at + near < n)
            taken[at + near] = 1;
        if (at + near + far < n)
            taken[at + near + far] = 1;
    }
    for (size_t k = 0; k < n; k++)
        if (taken[k])
            pick[count++] = (uint32_t)k;
    st = fit_dataset_coarse(ds, count, pick, thin, err);
done:
    free(pick);
    free(taken);
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

/* As many objectives of one thread as there are threads.  Points of a search are many, and their data few: they
 * are better looked at side by side than each by all threads. */
static enum fit_status workers_new(struct fit_search *q, const struct fit_dataset *ds, struct fit_error *err)
{
    struct fit_objective_setup setup = *q->s->setup;
    int threads = setup.threads > 0 ? setup.threads : fit_parallel_default_threads();
    size_t wanted = threads > MOST_WORKERS ? MOST_WORKERS : (size_t)threads;
    enum fit_status st = FIT_OK;
    setup.threads = 1;
    q->worker = calloc(wanted, sizeof(struct fit_objective *));
    if (!q->worker)
        return fit_fail(err, FIT_ERR_MEMORY, "fit: out of memory");
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
            st = follow(q, obj, MEDIUM_STEPS, 0, list, err);
        if (st == FIT_OK)
            keep(list, 0, thorough(q) ? THOROUGH : RIVALS, thorough(q) ? 2 : 1.1);
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
        st = thin_copy(spec->ds, COARSE_FRAMES, &coarse, err);
    if (st == FIT_OK && frames > MEDIUM_ENOUGH)
        st = thin_copy(spec->ds, MEDIUM_FRAMES, &medium, err);
    const struct fit_dataset *finer = medium;
    if (coarse && !medium && beyond_few(&q)) /* many rivals, and all data are not many */
        finer = spec->ds;
    if (st == FIT_OK)
        st = search_on(&q, coarse ? coarse : spec->ds, finer, list, err);
    list->searched = 1;
    list->on_all = !coarse || finer == spec->ds;
    if (st != FIT_OK)
        fit_candidates_free(list);
    fit_dataset_free(coarse);
    fit_dataset_free(medium);
    round_free(&q);
    return st;
}
