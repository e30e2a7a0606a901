/* minimum.c -- from starting points to the best minimum on all data.
 *
 * Takes the candidates of start.c, followed on thinned data; runs the full fit from the best and from rivals that
 * thinned data cannot distinguish from it, until a minimum is found twice or none is left. While the residuals are
 * larger than the noise of neighbouring values, the search is repeated with a wider range. Thinned data may be
 * misleading (a fringe that they alias); then the given start is followed as it is. In small tables it always is, so
 * that it leads where the user expects.
 */
#include "base/clock.h"
#include "data/tile_sums.h"
#include "leastsquares/fit_impl.h"
#include "leastsquares/qr_steps.h"
#include "leastsquares/problem.h"
#include "leastsquares/residual_blocks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two runs have reached the same minimum when their chi2 differ by less than this in units of the noise. */
static const double SAME_MINIMUM = 1e-2;
/* Or when they differ by less than this fraction of the data's sum of squares: residuals of 1e-13 of the data are
 * rounding. */
static const double SAME_ROUNDING = 1e-26;
/* A rival is followed on all data when thinned data do not distinguish it from the best: chi2 differs by less. */
static const double RIVAL = 50;
/* Correlation of neighbouring residuals, in standard deviations for independent ones, beyond which it is structure.
 */
static const double STRUCTURE = 5;
enum {
    MOST_RUNS = 3,
    MOST_RUNS_THOROUGH = 10,
    RIVAL_STEPS = 60, /* of a rival */
    FIRST_STEPS = 20, /* of any, while a wider search is still possible (may_widen) */
    MOST_MINIMA = 32
};

/* ---- the optimiser on all data --------------------------------------------------------------- */

/* Another optimizer; the derivatives at its end then decide whether it has converged. */
static void by_other(struct fit_ls *f, const struct fit_nlsq_problem *problem, const struct fit_nlsq_options *given,
                     double *theta)
{
    const struct fit_minimiser *m = f->opt->minimiser;
    struct fit_nlsq_options opt = *given;
    enum fit_nlsq_end end;
    size_t iterations;
    opt.max_iterations = f->opt->max_iterations;
    const char *reason = m->run(m->user, problem, &opt, theta, &iterations, &end);
    opt.max_iterations = 0;
    opt.watch = NULL;
    fit_nlsq_run(f->nlsq, problem, &opt, theta);
    f->nlsq->iterations = f->nlsq->accepted = iterations;
    if (end == FIT_NLSQ_STOPPED || (f->nlsq->end == FIT_NLSQ_LIMIT && !fit_nlsq_converged(end))) {
        f->nlsq->end = end;
        f->nlsq->reason = reason;
    } else if (f->nlsq->end == FIT_NLSQ_LIMIT) {
        f->nlsq->reason = "the optimizer took for a minimum what is none";
    }
}

static enum fit_word optimise(struct fit_ls *f, double *theta, size_t iterations, int brief)
{
    struct fit_nlsq_problem problem = fit_problem(f->obj, f->lower, f->upper, f->dof, f->noise);
    struct fit_watch watch = {f->began, f->deadline, f->opt->progress, f->opt->progress_user,
                              fit_parallel_interrupt(f->obj->par)};
    struct fit_nlsq_options opt = {.max_iterations = iterations,
                                   .brief = brief,
                                   .curved = !brief,
                                   .ftol = f->opt->ftol,
                                   .xtol = f->opt->xtol,
                                   .gtol = f->opt->gtol,
                                   .watch = fit_watch,
                                   .watch_user = &watch};
    if (f->opt->minimiser && !brief)
        by_other(f, &problem, &opt, theta);
    else
        fit_nlsq_run(f->nlsq, &problem, &opt, theta);
    const enum fit_word word = fit_word_of(f->nlsq->end);
    const double *S = f->nlsq->curvature;
    f->curvature = S ? memcpy(f->second, S, f->p * f->p * sizeof *S) : NULL;
    return word;
}

enum fit_word fit_ls_optimise(struct fit_ls *f, double *theta, size_t iterations)
{
    enum fit_word word = optimise(f, theta, iterations, 0);
    f->over |= fit_word_ends(word);
    return word;
}

void fit_ls_try(struct fit_ls *f, double *theta, size_t iterations)
{
    enum fit_word word = optimise(f, theta, iterations, 0);
    int given_up =
        word == FIT_MAX_ITERATIONS && f->nlsq->iterations >= iterations && iterations < f->opt->max_iterations;
    f->over |= fit_word_ends(word) && !given_up;
}

enum fit_eval fit_ls_step(struct fit_ls *f, double *theta, size_t iterations)
{
    optimise(f, theta, iterations, 1);
    return f->nlsq->end == FIT_NLSQ_STOPPED ? FIT_EVAL_STOP
           : f->nlsq->current               ? FIT_EVAL_OK
                                            : fit_objective_value(f->obj, theta);
}

void fit_ls_keep(struct fit_ls *f, struct fit_outcome *o)
{
    const struct fit_nlsq *s = f->nlsq;
    o->word = fit_word_of(s->end);
    o->reason = s->reason;
    o->cost = s->cost;
    o->gradient = s->gradient;
    o->iterations = s->iterations;
    o->accepted = s->accepted;
    memcpy(f->best, f->theta, f->p * sizeof *f->best);
}

/* ---- minima ---------------------------------------------------------------------------------- */

/* Square of the distance in standard errors, by the last derivatives. */
static double squared_distance(const struct fit_ls *f, const double *a, const double *b, double s2)
{
    double d = 0;
    for (size_t k = 0; k < f->p; k++)
        for (size_t l = 0; l < f->p; l++)
            d += (a[k] - b[k]) * f->nlsq->B[k * f->p + l] * (a[l] - b[l]);
    return s2 > 0 ? d / s2 : d > 0 ? INFINITY : 0;
}

/* 1: no nonlinear parameter has an effect where the last run ended (a linear one is at a bound that removes their
 * term): its gradient vanishes, but it is no minimum. */
static int is_idle(const struct fit_ls *f)
{
    int idle = f->p > 0;
    for (size_t k = 0; k < f->p; k++)
        idle &= f->upper[k] > f->lower[k] ? f->nlsq->B[k * (f->p + 1)] <= 0 : 1;
    return idle;
}

/* Records the end of the last run as a new minimum, or as a known one found again. */
static enum fit_status record_minimum(struct fit_ls *f, const char *origin)
{
    double cost = f->nlsq->cost, s2 = f->noise > 0 ? f->noise : 2 * cost / f->dof;
    if (!fit_nlsq_converged(f->nlsq->end) || f->nminimum >= MOST_MINIMA)
        return FIT_OK;
    for (size_t k = 0; k < f->nminimum; k++) {
        struct fit_minimum *m = &f->minima[k];
        if (fabs(m->cost - cost) > 0.1 * s2 || squared_distance(f, m->theta, f->theta, s2) > 1)
            continue;
        m->found++;
        if (cost < m->cost) {
            m->cost = cost;
            memcpy(m->theta, f->theta, f->p * sizeof *m->theta);
        }
        return FIT_OK;
    }
    f->minima = fit_take_more(&f->storage, f->minima, f->nminimum, sizeof *f->minima);
    double *theta = fit_take(&f->storage, f->p, sizeof *theta);
    if (f->storage.failed)
        return fit_no_memory(f->err, "fit");
    struct fit_minimum *m = &f->minima[f->nminimum];
    *m = (struct fit_minimum){.theta = theta, .cost = cost, .found = 1, .idle = is_idle(f)};
    memcpy(m->theta, f->theta, f->p * sizeof *m->theta);
    memcpy(m->origin, origin, sizeof m->origin);
    f->nminimum++;
    return FIT_OK;
}

static int by_cost(const void *a, const void *b)
{
    double x = ((const struct fit_minimum *)a)->cost, y = ((const struct fit_minimum *)b)->cost;
    return (x > y) - (x < y);
}

/* The best first; how far the others lie above it; of those that are no minima only the best. */
static void sort_minima(struct fit_ls *f)
{
    if (f->nminimum == 0)
        return;
    qsort(f->minima, f->nminimum, sizeof *f->minima, by_cost);
    size_t n = 1;
    for (size_t k = 1; k < f->nminimum; k++)
        if (!f->minima[k].idle)
            f->minima[n++] = f->minima[k];
    f->nminimum = n;
    double least = f->minima[0].cost, s2 = f->noise > 0 ? f->noise : 2 * least / f->dof;
    for (size_t k = 0; k < f->nminimum; k++)
        f->minima[k].above = f->minima[k].cost > least ? 2 * (f->minima[k].cost - least) / s2 : 0;
}

/* ---- from starts to the best ----------------------------------------------------------------- */

/* 1: more minima were requested than lead to the best. */
static int thorough(const struct fit_ls *f)
{
    return f->opt->multi_start || f->opt->global;
}

/* 1: large data, for which thinned ones have led the way, and a wider search on them is still possible: a run need
 * not be completed. */
static int may_widen(const struct fit_ls *f)
{
    return fit_ls_is_large(f) && f->list.searched && !f->list.on_all && !thorough(f) &&
           f->list.rounds < fit_start_rounds(f->kernel);
}

/* Runs from theta; keeps the result if it is better. It also keeps the given start's run when it meets the best so
 * far: of equivalent minima (an exchange of terms, a sign) the one nearest to the start is wanted. Returns 1 when
 * the two have met. */
static int run_from(struct fit_ls *f, const double *theta, const struct fit_candidate *from, struct fit_outcome *o)
{
    size_t most = f->opt->max_iterations;
    memcpy(f->theta, theta, f->p * sizeof *f->theta);
    if (isfinite(o->cost) && most > RIVAL_STEPS)
        most = RIVAL_STEPS; /* a rival that is still worse after so many steps is given up */
    const int first = may_widen(f) && most > FIRST_STEPS;
    if (first)
        most = FIRST_STEPS; /* go_on() follows if this is the way */
    fit_ls_try(f, f->theta, most);
    double cost = f->nlsq->cost, gap = fabs(cost - o->cost);
    double s2 = f->noise > 0 ? f->noise : 2 * fmin(cost, o->cost) / f->dof;
    double square = f->obj->data_square + f->obj->reference_square;
    int met = isfinite(o->cost) && (2 * gap <= SAME_MINIMUM * s2 || gap <= SAME_ROUNDING * square);
    if (!isfinite(cost) || (met && !from->given) || (!met && cost >= o->cost))
        return met;
    if (f->nlsq->end == FIT_NLSQ_LIMIT && most < f->opt->max_iterations && !first)
        fit_ls_optimise(f, f->theta, f->opt->max_iterations - most); /* ahead, but not at its end */
    fit_ls_keep(f, o);
    memcpy(o->origin, from->origin, sizeof o->origin);
    memcpy(f->began_at, from->first, f->p * sizeof *f->began_at);
    o->thin = f->list.searched && !f->list.on_all && theta != from->first ? from->variance : NAN;
    o->thin_dof = from->dof;
    return met;
}

/* A variance as large as that of the noise. */
static int explains_data(const struct fit_ls *f, const struct fit_outcome *o)
{
    return isfinite(o->cost) &&
           2 * o->cost / f->dof <= f->noise_data * (1 + 2.5 * sqrt(2 / f->dof + f->noise_error * f->noise_error));
}

/* 1: the thinned data were misleading: all data fit clearly worse than they did. */
static int misled(const struct fit_ls *f, const struct fit_outcome *o)
{
    if (!isfinite(o->cost) || o->word == FIT_FAILED)
        return 1;
    return 2 * o->cost / f->dof > (1.3 + 6 * sqrt(2 / fmax(o->thin_dof, 1))) * o->thin;
}

/* Appends a record of a run. */
static enum fit_status record_start(struct fit_ls *f, const struct fit_candidate *c, int full)
{
    f->starts = fit_take_more(&f->storage, f->starts, f->nstart, sizeof *f->starts);
    double *theta = fit_take(&f->storage, f->p, sizeof *theta);
    if (f->storage.failed)
        return fit_no_memory(f->err, "fit");
    struct fit_start *s = &f->starts[f->nstart];
    s->theta = theta;
    memcpy(s->theta, c->first, f->p * sizeof *s->theta);
    memcpy(s->origin, c->origin, sizeof s->origin);
    s->cost_start =
        full && fit_objective_value(f->obj, c->first) == FIT_EVAL_OK ? f->obj->cost : NAN;
    s->cost_final = full ? f->nlsq->cost : c->cost;
    s->full = full;
    f->nstart++;
    return FIT_OK;
}

static int worth_following(const struct fit_ls *f, const struct fit_candidate *k, const struct fit_outcome *o)
{
    const struct fit_candidate *first = &f->list.item[0];
    if (!k->alive)
        return 0;
    return thorough(f) || !isfinite(o->cost) || !explains_data(f, o) ||
           k->dof * (k->variance - first->variance) <= RIVAL * first->variance;
}

/* Follows the candidates of the list on all data, best first. */
static enum fit_status run_candidates(struct fit_ls *f, struct fit_outcome *o)
{
    size_t most = thorough(f) ? MOST_RUNS_THOROUGH : MOST_RUNS, runs = 0;
    const struct fit_candidate *own = NULL;
    enum fit_status st = FIT_OK;
    int over = 0, followed = 0;
    for (size_t c = 0; st == FIT_OK && c < f->list.n; c++) {
        const struct fit_candidate *k = &f->list.item[c];
        own = k->given ? k : own;
        if (over || runs >= most || !worth_following(f, k, o)) {
            st = record_start(f, k, 0);
            continue;
        }
        over = run_from(f, k->theta, k, o) && !thorough(f);
        over |= f->over;
        runs++;
        if ((st = record_minimum(f, k->origin)) == FIT_OK)
            st = record_start(f, k, 1);
        followed |= k->given;
    }
    int more = !followed && fit_polish_suits(f->obj) && f->list.searched;
    if (st == FIT_OK && own && f->nlsq->end != FIT_NLSQ_STOPPED && (more || misled(f, o))) {
        run_from(f, own->first, own, o);
        if ((st = record_minimum(f, own->origin)) == FIT_OK)
            st = record_start(f, own, 1);
    }
    return st;
}

static enum fit_status find_starts(struct fit_ls *f, size_t rounds)
{
    struct fit_start_spec spec = {.kernel = f->kernel,
                                  .ds = f->ds,
                                  .setup = &f->setup,
                                  .lower = f->lower,
                                  .upper = f->upper,
                                  .start = f->start,
                                  .origin = f->origin,
                                  .multi_start = f->opt->multi_start,
                                  .global = f->opt->global && rounds == 0,
                                  .first_round = rounds,
                                  .centre = rounds ? f->best : NULL,
                                  .seed = f->opt->seed,
                                  .deadline = f->deadline};
    double t = fit_seconds();
    fit_candidates_free(&f->list);
    enum fit_status st = f->opt->start_only ? fit_start_given(&spec, &f->list, f->err)
                                            : fit_start_search(&spec, &f->list, f->err);
    f->res->seconds.start += fit_seconds() - t;
    return st;
}

/* 1: a parameter is on a bound: the fit has gone the wrong way, or the truth lies outside. */
static int at_bound(const struct fit_ls *f)
{
    for (size_t k = 0; k < f->p; k++)
        if (fit_ls_on_bound(f, k, f->best))
            return 1;
    return 0;
}

/* Continues the best run for so many steps, if it was stopped early. */
static enum fit_status go_on(struct fit_ls *f, struct fit_outcome *o, size_t steps)
{
    if (f->over || o->word != FIT_MAX_ITERATIONS)
        return FIT_OK;
    memcpy(f->theta, f->best, f->p * sizeof *f->theta);
    fit_ls_try(f, f->theta, steps);
    if (f->nlsq->cost <= o->cost)
        fit_ls_keep(f, o);
    return record_minimum(f, o->origin);
}

/* 1: neighbouring residuals are more strongly correlated than independent noise. */
static int has_structure(struct fit_ls *f, const struct fit_outcome *o)
{
    struct fit_residual_blocks b;
    if (f->kernel->space != FIT_PAIRS || f->kernel->density || fit_objective_value(f->obj, f->best) != FIT_EVAL_OK ||
        fit_residual_blocks(f->obj, &b) != FIT_EVAL_OK)
        return 0;
    double s2 = f->noise > 0 ? f->noise : 2 * o->cost / f->dof;
    return b.square / s2 - b.count > STRUCTURE * sqrt(2 * b.count);
}

/* 1: there may be a better minimum: the residuals are larger than the noise, or, once, a parameter is on a bound; or
 * they have structure, unless a futile search has shown that nothing removes it. *before: the cost at the previous
 * search. */
static int doubtful(struct fit_ls *f, const struct fit_outcome *o, double *before)
{
    const double last = *before;
    *before = o->cost;
    if (!f->list.searched || f->list.rounds >= fit_start_rounds(f->kernel) || thorough(f) ||
        f->over || !(f->noise_data > 0))
        return 0;
    return !explains_data(f, o) || (f->list.rounds == 1 && !f->list.crossed && at_bound(f)) ||
           (o->cost < last && has_structure(f, o));
}

/* Tries new starts for all rates that have ended at the wrong end of their valley. */
static enum fit_status escape(struct fit_ls *f, struct fit_outcome *o)
{
    enum fit_status st = FIT_OK;
    for (size_t r = 0; st == FIT_OK && f->kernel->space == FIT_PAIRS && r < f->kernel->nrate && !f->over; r++) {
        int found;
        if ((st = fit_ls_escape(f, &f->kernel->rate[r], o, &found)) == FIT_OK && found)
            st = record_minimum(f, o->origin);
    }
    return st;
}

/* Why there is none. */
static enum fit_status no_minimum(const struct fit_ls *f, const struct fit_outcome *o)
{
    if (o->word == FIT_INTERRUPTED)
        return fit_fail(f->err, FIT_ERR_INTERRUPTED, "fit: interrupted before a first value was found");
    char row[400];
    if (fit_ls_blame(f, f->start, row, sizeof row))
        return fit_fail(f->err, FIT_ERR_DATA, "fit: %s", row);
    return fit_fail(f->err, FIT_ERR_NUMERIC,
                    "fit: the model is not finite at any starting point; give other start values");
}

/* Searches and fits; repeats the search, wider, while the result is doubtful. */
enum fit_status fit_ls_minimum(struct fit_ls *f, struct fit_outcome *o)
{
    enum fit_status st;
    size_t rounds = 0;
    double before = INFINITY;
    *o = (struct fit_outcome){.word = FIT_FAILED, .cost = INFINITY, .gradient = NAN, .thin = NAN};
    if ((st = fit_ls_local(f)) != FIT_OK)
        return st;
    do {
        if ((st = find_starts(f, rounds)) != FIT_OK || (st = run_candidates(f, o)) != FIT_OK)
            return st;
        if ((!may_widen(f) || explains_data(f, o)) &&
            ((st = go_on(f, o, RIVAL_STEPS)) != FIT_OK || (st = escape(f, o)) != FIT_OK))
            return st;
        rounds = f->list.rounds;
    } while (doubtful(f, o, &before));
    if ((st = go_on(f, o, f->opt->max_iterations)) != FIT_OK)
        return st;
    if (isfinite(o->cost) && !f->over && fit_ls_held_is_needed(f, f->best)) {
        fit_ls_release(f);
        memcpy(f->theta, f->best, f->p * sizeof *f->theta);
        fit_ls_optimise(f, f->theta, f->opt->max_iterations);
        if (f->nlsq->cost <= o->cost)
            fit_ls_keep(f, o);
        if ((st = record_minimum(f, o->origin)) != FIT_OK)
            return st;
    }
    sort_minima(f);
    if (f->nlsq->end == FIT_NLSQ_STOPPED) {
        o->word = FIT_INTERRUPTED; /* errors of the best point so far are still to be found */
        o->reason = f->nlsq->reason;
        fit_parallel_uninterruptible(f->obj->par);
    }
    return isfinite(o->cost) ? FIT_OK : no_minimum(f, o);
}
