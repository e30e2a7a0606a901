/* start_global.c -- the global stage of a search for starts: an evolution strategy in the whole box.
 *
 * Works on the scale of fit_start_sample(), on the free parameters, on the same thinned data as the rest of the search,
 * without a start. It needs to find only the valley: its results are followed like any other candidate. Restarts with
 * doubled population: Auger & Hansen, IEEE CEC 2005, p. 1769.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "leastsquares/start_impl.h"
#include "math/cmaes.h"
#include "math/rng.h"
#include "ranks/ranks.h"

static const double WORK = 4e9;         /* residuals that the stage may cost at most */
static const double EVALUATIONS = 6e4;  /* and values */
/* The best values of so many generations agree within this fraction: some units of chi2 on thinned data. */
static const double SETTLED = 1e-4, NARROW = 1e-4;
static const double BETTER = 1e-4; /* a run that gains less is futile */

struct box {
    const struct fit_start_spec *s;
    struct fit_objective *obj;
    double *theta;
    size_t *free; /* index of free parameters */
    size_t n;
    int interrupted;
};

static void to_theta(const struct box *b, const double *u)
{
    for (size_t i = 0; i < b->n; i++) {
        size_t k = b->free[i];
        b->theta[k] = fit_start_sample(&b->s->kernel->param[k], b->s->lower[k], b->s->upper[k], b->s->start[k], u[i]);
    }
}

static double value(void *user, const double *u, int *stop)
{
    struct box *b = user;
    to_theta(b, u);
    enum fit_eval e = fit_objective_value(b->obj, b->theta);
    b->interrupted |= e == FIT_EVAL_STOP;
    *stop = b->interrupted || (b->s->deadline > 0 && fit_ranks_seconds() > b->s->deadline);
    return e == FIT_EVAL_OK ? b->obj->cost : INFINITY;
}

static void add(const struct box *b, size_t p, size_t run, double cost, struct fit_candidates *list)
{
    struct fit_candidate *c = &list->item[list->n++];
    memcpy(c->first, b->theta, p * sizeof *c->first);
    memcpy(c->theta, b->theta, p * sizeof *c->theta);
    c->given = c->doubled = c->converged = 0;
    c->alive = 1;
    c->cost = cost;
    c->variance = INFINITY;
    snprintf(c->origin, sizeof c->origin, "global search: run %zu", run + 1);
}

/* A run of the strategy from a point drawn into u; its best comes back there. */
static enum fit_cmaes_word one_run(const struct fit_search *q, struct box *b, size_t run, size_t population,
                                   size_t left, double *u, double *best, size_t *used)
{
    double draw[2];
    for (size_t i = 0; i < b->n; i++) {
        fit_rng_uniform(q->s->seed, 0x474c0000u + run, i, draw);
        u[i] = draw[0];
    }
    struct fit_cmaes_options opt = {.population = population,
                                    .evaluations = left,
                                    .ftol = SETTLED,
                                    .xtol = NARROW,
                                    .seed = q->s->seed,
                                    .stream = 0x434d0000u + run};
    return fit_cmaes_run(&(struct fit_cmaes_problem){b->n, value, b}, &opt, u, best, used);
}

enum fit_status fit_start_global(struct fit_search *q, struct fit_objective *obj, struct fit_candidates *list,
                                 struct fit_error *err)
{
    FIT_SCRATCH(a);
    struct box b = {.s = q->s, .obj = obj, .free = fit_take(&a, q->p, sizeof *b.free)};
    double *u, least = INFINITY;
    enum fit_status st = FIT_OK;
    FIT_TAKE_DOUBLES(&a, q->p, &u, &b.theta);
    if (a.failed)
        return fit_no_memory(err, "fit");
    memcpy(b.theta, q->s->start, q->p * sizeof *b.theta);
    for (size_t k = 0; k < q->p; k++)
        if (q->s->upper[k] > q->s->lower[k])
            b.free[b.n++] = k;
    size_t left = (size_t)fmin(EVALUATIONS, WORK / (double)(obj->ds->npoint + 1));
    size_t population = 4 + (size_t)(3 * log((double)b.n)), vain = 0;
    for (size_t run = 0; run < FIT_START_RESTARTS && vain < 2 && left > 0; run++, population *= 2) {
        double best;
        size_t used;
        const enum fit_cmaes_word w = one_run(q, &b, run, population, left, u, &best, &used);
        left -= used;
        if (isfinite(best)) {
            to_theta(&b, u);
            add(&b, q->p, run, best, list);
        }
        if (w == FIT_CMAES_MEMORY)
            st = fit_no_memory(err, "fit");
        if (b.interrupted)
            st = fit_fail(err, FIT_ERR_INTERRUPTED, "fit: interrupted while looking for a start");
        if (st != FIT_OK || w == FIT_CMAES_STOPPED || w == FIT_CMAES_EVALUATIONS)
            break;
        vain = best < least * (1 - BETTER) ? 0 : vain + 1;
        least = fmin(least, best);
    }
    return st;
}
