/* fit.c -- one least-squares fit from options to a result with errors.
 *
 * Order of work: bounds and start (check_options), starting points from thinned data (start.c), the full
 * fit from the best of them until a minimum is found twice or no rival is left (run_candidates), the noise
 * and, if groups differ in it, one fit with weights (settle_noise), a robust loss if asked for (run_robust),
 * covariance and identifiability at the end (finish).
 *
 * Noise.  With weights from the file, or a given sigma, errors are absolute.  Otherwise sigma is estimated
 * from the residuals, per group: sigma_g^2 = ssr_g / (n_g - parameters of the group - its share of the common
 * ones).  Groups are weighted by 1 / sigma_g^2 only when sigmas differ by more than 20 % and by more than
 * their own uncertainty sigma_g / sqrt(2 n_g) allows: with equal noise, equal weights are the best estimate.
 */
#include "fit.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "covariance.h"
#include "linalg.h"
#include "nlsq.h"
#include "objective.h"
#include "start.h"

static const double SIGMAS_DIFFER = 1.2;
/* Two runs have met when their chi2 differ by less than this in units of the noise. */
static const double SAME_MINIMUM = 1e-2;
/* A rival is followed on all data when thinned data do not tell it from the best: chi2 apart by less. */
static const double RIVAL = 50;
enum { MOST_RUNS = 3, MOST_RUNS_MULTI = 5, RIVAL_STEPS = 60, ROBUST_ROUNDS = 200, ROBUST_STEPS = 3 };

struct run {
    const struct fit_kernel *kernel;
    const struct fit_dataset *ds;
    const struct fit_options *opt;
    struct fit_result *res;
    struct fit_error *err;
    size_t p, q, ng;
    double *lower, *upper, *start, *theta, *best, *began_at, *B, *g, *linear, *factor, *save;
    char origin[48];
    struct fit_objective_setup setup;
    struct fit_objective *obj;
    struct fit_nlsq *nlsq;
    struct fit_candidates list;
    struct fit_start *starts; /* what was followed; theta: one block each */
    size_t nstart;
    double noise_data; /* variance of the data's noise, without a model; NaN: unknown */
    double began, deadline, dof, noise; /* noise: known variance of weighted residuals, or 0 */
    double unit;    /* variance to which sum w r^2 is referred: 1, or the given sigma squared */
    double robust;  /* cost with the robust loss; NAN: linear */
    double huber;   /* factor on (J^T J)^-1 for the robust loss */
    double square;  /* sum w r^2 with the robust loss */
};

void fit_options_default(struct fit_options *opt)
{
    *opt = (struct fit_options){.max_iterations = 200,
                                .ftol = 1e-14,
                                .xtol = 1e-12,
                                .gtol = 1e-6,
                                .loss = FIT_LOSS_LINEAR,
                                .f_scale = 1,
                                .scaling = FIT_SCALING_INDIVIDUAL};
}

const char *fit_word_name(enum fit_word w)
{
    static const char *const name[] = {"converged_gradient", "converged_cost", "converged_step", "at_bound",
                                       "max_iterations",     "failed",         "interrupted"};
    return (unsigned)w < sizeof name / sizeof *name ? name[w] : "unknown";
}

/* ---- memory ----------------------------------------------------------------------------------------- */

/* Hands out parts of one block: first pass (block NULL) only counts. */
struct arena {
    char *block;
    size_t used;
};

static void *take(struct arena *a, size_t bytes)
{
    void *p = a->block ? a->block + a->used : NULL;
    a->used += (bytes + 15) / 16 * 16;
    return p;
}

static void lay_out(struct arena *a, struct fit_result *r)
{
    size_t d = sizeof(double), p = r->nparam, n = r->nfull;
    r->theta = take(a, p * d);
    r->lin = take(a, r->ngroup * r->nlinear * d);
    r->sigma = take(a, r->ngroup * d);
    r->std = take(a, n * d);
    r->covariance = take(a, n * n * d);
    r->correlation = take(a, n * n * d);
    r->at_bound = take(a, n);
    r->lower = take(a, n * d);
    r->upper = take(a, n * d);
    r->start = take(a, p * d);
    r->starts = take(a, r->nstart * sizeof *r->starts);
    double *theta = take(a, r->nstart * p * d);
    for (size_t k = 0; r->starts && k < r->nstart; k++)
        r->starts[k].theta = theta + k * p;
    r->eigenvalue = take(a, p * d);
    r->eigenvector = take(a, p * p * d);
    r->scale = take(a, p * d);
    r->normal_matrix = take(a, p * p * d);
}

static enum fit_status result_new(struct run *f)
{
    struct fit_result *r = f->res;
    struct arena count = {0}, real = {0};
    r->nparam = f->p;
    r->nlinear = f->q;
    r->ngroup = f->ng;
    r->nfull = f->p + f->ng * f->q;
    r->nstart = f->nstart;
    lay_out(&count, r);
    real.block = calloc(count.used + 1, 1);
    if (!real.block)
        return fit_fail(f->err, FIT_ERR_MEMORY, "fit: out of memory");
    lay_out(&real, r);
    r->storage_ = real.block;
    for (size_t k = 0; k < f->nstart; k++) {
        double *theta = r->starts[k].theta;
        memcpy(theta, f->starts[k].theta, f->p * sizeof *theta);
        r->starts[k] = f->starts[k];
        r->starts[k].theta = theta;
    }
    return FIT_OK;
}

void fit_result_free(struct fit_result *res)
{
    if (!res)
        return;
    free(res->storage_);
    *res = (struct fit_result){0};
}

static enum fit_status run_new(struct run *f)
{
    size_t n = f->p + 1, e = f->ng * f->q + 1;
    double *all = calloc(7 * n + 2 * n * n + 2 * e + 3 * f->ng + 8, sizeof *all);
    if (!all)
        return fit_fail(f->err, FIT_ERR_MEMORY, "fit: out of memory");
    f->lower = all;
    f->upper = f->lower + n;
    f->start = f->upper + n;
    f->theta = f->start + n;
    f->best = f->theta + n;
    f->began_at = f->best + n;
    f->g = f->began_at + n;
    f->B = f->g + n;
    f->linear = f->B + n * n;
    f->factor = f->linear + e;
    f->save = f->factor + f->ng;
    f->nlsq = fit_nlsq_new(f->p);
    if (!f->nlsq)
        return fit_fail(f->err, FIT_ERR_MEMORY, "fit: out of memory");
    return FIT_OK;
}

/* ---- options ---------------------------------------------------------------------------------------- */

static double given(const double *array, size_t k, double otherwise)
{
    return array && !isnan(array[k]) ? array[k] : otherwise;
}

static enum fit_status check_parameter(struct run *f, size_t k, int *moved)
{
    const struct fit_param *par = &f->kernel->param[k];
    double lo = given(f->opt->lower, k, par->lower), hi = given(f->opt->upper, k, par->upper);
    double x = given(f->opt->start, k, par->start);
    lo = isnan(lo) ? -INFINITY : lo;
    hi = isnan(hi) ? INFINITY : hi;
    if (!(lo <= hi))
        return fit_fail(f->err, FIT_ERR_CONFIG, "%s: lower bound %g lies above the upper bound %g", par->name,
                        lo, hi);
    if (f->opt->fixed && f->opt->fixed[k]) {
        if (!isfinite(x))
            return fit_fail(f->err, FIT_ERR_CONFIG, "%s is held fixed, but no value is given for it", par->name);
        lo = hi = x;
    }
    if (!isfinite(x))
        x = isfinite(lo) && isfinite(hi) ? 0.5 * (lo + hi) : isfinite(lo) ? lo : isfinite(hi) ? hi : 0;
    *moved |= x < lo || x > hi;
    f->start[k] = fmin(fmax(x, lo), hi);
    f->lower[k] = lo;
    f->upper[k] = hi;
    return FIT_OK;
}

static enum fit_status check_options(struct run *f)
{
    const struct fit_options *o = f->opt;
    int moved = 0, any = 0;
    for (size_t k = 0; k < f->p; k++) {
        enum fit_status st = check_parameter(f, k, &moved);
        if (st != FIT_OK)
            return st;
        any |= o->start && !isnan(o->start[k]);
    }
    snprintf(f->origin, sizeof f->origin, "%s%s", any ? "given" : "model", moved ? ", moved into the bounds" : "");
    if (o->loss == FIT_LOSS_SOFT_L1 && !(o->f_scale > 0))
        return fit_fail(f->err, FIT_ERR_CONFIG, "f_scale: %g is not possible; give a positive number", o->f_scale);
    for (size_t g = 0; o->sigma && g < f->ng; g++)
        if (!(o->sigma[g] > 0) || !isfinite(o->sigma[g]))
            return fit_fail(f->err, FIT_ERR_CONFIG, "sigma of group %zu: %g is not possible; give a positive number",
                            g + 1, o->sigma[g]);
    return FIT_OK;
}

/* Constant scaling without values: those of one variable projection at the start. */
static enum fit_status constant_values(struct run *f)
{
    struct fit_objective_setup s = f->setup;
    struct fit_objective *obj = NULL;
    int missing = 0;
    for (size_t e = 0; e < f->ng * f->q; e++) {
        f->linear[e] = given(f->opt->linear_start, e, NAN);
        missing |= isnan(f->linear[e]);
    }
    if (f->opt->scaling != FIT_SCALING_CONSTANT || !missing)
        return FIT_OK;
    s.scaling = FIT_SCALING_INDIVIDUAL;
    enum fit_status st = fit_objective_new(f->kernel, f->ds, &s, &obj, f->err);
    if (st != FIT_OK)
        return st;
    if (fit_objective_value(obj, f->start) != FIT_EVAL_OK)
        st = fit_fail(f->err, FIT_ERR_NUMERIC, "fit: the model is not finite at the start");
    for (size_t e = 0; st == FIT_OK && e < f->ng * f->q; e++)
        if (isnan(f->linear[e]))
            f->linear[e] = fit_objective_linear(obj, e / f->q, e % f->q);
    fit_objective_free(obj);
    f->setup.linear_start = f->linear;
    return st;
}

/* ---- the optimiser on all data ---------------------------------------------------------------------- */

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

static enum fit_word optimise(struct run *f, double *theta, size_t iterations)
{
    struct fit_nlsq_problem problem = {f->p, f->lower, f->upper, f->dof, f->noise, f->obj, value, normal};
    struct fit_nlsq_options opt = {.max_iterations = iterations,
                                   .ftol = f->opt->ftol,
                                   .xtol = f->opt->xtol,
                                   .gtol = f->opt->gtol,
                                   .deadline = f->deadline,
                                   .began = f->began,
                                   .progress = f->opt->progress,
                                   .progress_user = f->opt->progress_user};
    return fit_nlsq_run(f->nlsq, &problem, &opt, theta);
}

static int is_end(enum fit_word w)
{
    return w == FIT_INTERRUPTED || w == FIT_MAX_ITERATIONS;
}

/* What the winning run left behind. */
struct outcome {
    enum fit_word word;
    const char *reason;
    double cost, gradient;
    size_t iterations, accepted;
    double thin, thin_dof; /* variance on the thinned data from which it came; NaN: none */
    char origin[48];
};

static void keep_best(struct run *f, struct outcome *o)
{
    const struct fit_nlsq *s = f->nlsq;
    o->word = s->word;
    o->reason = s->reason;
    o->cost = s->cost;
    o->gradient = s->gradient;
    o->iterations = s->iterations;
    o->accepted = s->accepted;
    memcpy(f->best, f->theta, f->p * sizeof *f->best);
}

/* Runs from theta; better than before: kept.  Returns 1 when it met the best so far. */
static int run_from(struct run *f, const double *theta, const struct fit_candidate *from, struct outcome *o)
{
    size_t most = f->opt->max_iterations;
    memcpy(f->theta, theta, f->p * sizeof *f->theta);
    if (isfinite(o->cost) && most > RIVAL_STEPS)
        most = RIVAL_STEPS; /* a rival that is still behind after so many steps is given up */
    optimise(f, f->theta, most);
    double cost = f->nlsq->cost, gap = fabs(cost - o->cost);
    double s2 = f->noise > 0 ? f->noise : 2 * fmin(cost, o->cost) / f->dof;
    int met = isfinite(o->cost) && (2 * gap <= SAME_MINIMUM * s2 || gap <= 1e-28 * f->obj->data_square);
    if (!isfinite(cost) || met || cost >= o->cost)
        return met;
    if (f->nlsq->word == FIT_MAX_ITERATIONS && most < f->opt->max_iterations)
        optimise(f, f->theta, f->opt->max_iterations - most); /* ahead, but not at its end */
    keep_best(f, o);
    memcpy(o->origin, from->origin, sizeof o->origin);
    memcpy(f->began_at, from->first, f->p * sizeof *f->began_at);
    o->thin = f->list.searched && !f->list.on_all && theta != from->first ? from->variance : NAN;
    o->thin_dof = from->dof;
    return 0;
}

static int explains_data(const struct run *f, const struct outcome *o)
{
    return isfinite(o->cost) && 2 * o->cost / f->dof <= f->noise_data * (1 + 2.5 * sqrt(2 / f->dof));
}

/* The thinned data led astray: all data fit clearly worse than they did. */
static int misled(const struct run *f, const struct outcome *o)
{
    if (!isfinite(o->cost) || o->word == FIT_FAILED)
        return 1;
    return 2 * o->cost / f->dof > (1.3 + 6 * sqrt(2 / fmax(o->thin_dof, 1))) * o->thin;
}

/* Appends a record of something followed. */
static enum fit_status record_start(struct run *f, const struct fit_candidate *c, int full)
{
    struct fit_start *all = realloc(f->starts, (f->nstart + 1) * sizeof *all);
    if (!all)
        return fit_fail(f->err, FIT_ERR_MEMORY, "fit: out of memory");
    f->starts = all;
    struct fit_start *s = &all[f->nstart];
    s->theta = malloc((f->p + 1) * sizeof *s->theta);
    if (!s->theta)
        return fit_fail(f->err, FIT_ERR_MEMORY, "fit: out of memory");
    memcpy(s->theta, c->first, f->p * sizeof *s->theta);
    memcpy(s->origin, c->origin, sizeof s->origin);
    s->cost_start = NAN;
    s->cost_final = full ? f->nlsq->cost : c->cost;
    s->full = full;
    f->nstart++;
    return FIT_OK;
}

static int worth_following(const struct run *f, const struct fit_candidate *k, const struct outcome *o)
{
    const struct fit_candidate *first = &f->list.item[0];
    if (!k->alive)
        return 0;
    return f->opt->multi_start || !isfinite(o->cost) || !explains_data(f, o) ||
           k->dof * (k->variance - first->variance) <= RIVAL * first->variance;
}

/* Follows the candidates of the list on all data, best first. */
static enum fit_status run_candidates(struct run *f, struct outcome *o)
{
    size_t most = f->opt->multi_start ? MOST_RUNS_MULTI : MOST_RUNS, runs = 0;
    const struct fit_candidate *own = NULL;
    enum fit_status st = FIT_OK;
    int over = 0;
    for (size_t c = 0; st == FIT_OK && c < f->list.n; c++) {
        const struct fit_candidate *k = &f->list.item[c];
        own = k->given ? k : own;
        if (over || runs >= most || !worth_following(f, k, o)) {
            st = record_start(f, k, 0);
            continue;
        }
        over = run_from(f, k->theta, k, o) && !f->opt->multi_start;
        over |= is_end(f->nlsq->word);
        runs++;
        st = record_start(f, k, 1);
    }
    if (st == FIT_OK && own && f->nlsq->word != FIT_INTERRUPTED && misled(f, o)) {
        run_from(f, own->first, own, o);
        st = record_start(f, own, 1);
    }
    return st;
}

static enum fit_status find_starts(struct run *f, size_t rounds)
{
    struct fit_start_spec spec = {.kernel = f->kernel,
                                  .ds = f->ds,
                                  .setup = &f->setup,
                                  .lower = f->lower,
                                  .upper = f->upper,
                                  .start = f->start,
                                  .origin = f->origin,
                                  .multi_start = f->opt->multi_start,
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

/* Searches and fits; searches again, wider, while the residuals are larger than the noise. */
static enum fit_status find_minimum(struct run *f, struct outcome *o)
{
    enum fit_status st;
    size_t rounds = 0;
    *o = (struct outcome){.word = FIT_FAILED, .cost = INFINITY, .gradient = NAN, .thin = NAN};
    f->noise_data = fit_start_noise(f->obj);
    do {
        if ((st = find_starts(f, rounds)) != FIT_OK || (st = run_candidates(f, o)) != FIT_OK)
            return st;
        rounds = f->list.rounds;
    } while (f->list.searched && rounds < FIT_START_ROUNDS && !is_end(f->nlsq->word) &&
             !f->opt->multi_start && f->noise_data > 0 && !explains_data(f, o));
    if (f->nlsq->word == FIT_INTERRUPTED) {
        o->word = FIT_INTERRUPTED; /* errors of the best point so far are still to be found */
        o->reason = f->nlsq->reason;
        fit_parallel_uninterruptible(f->obj->par);
    }
    if (isfinite(o->cost))
        return FIT_OK;
    return o->word == FIT_INTERRUPTED
               ? fit_fail(f->err, FIT_ERR_INTERRUPTED, "fit: interrupted before a first value was found")
               : fit_fail(f->err, FIT_ERR_NUMERIC,
                          "fit: the model is not finite at any starting point; give other start values");
}

/* ---- noise ------------------------------------------------------------------------------------------ */

/* Standard deviations per group from the residuals of the last value, in units of 1 / sqrt(w). */
static void group_sigmas(const struct run *f, double *sigma, double *common)
{
    const struct fit_objective *o = f->obj;
    double n = (double)f->ds->npoint, total = 0, own_all = 0;
    for (size_t g = 0; g < f->ng; g++)
        for (size_t k = 0; k < f->q; k++) {
            int u = o->map[g * f->q + k];
            size_t block = u >= 0 ? o->block_of[u] : 0;
            own_all += u >= 0 && o->block_first[block + 1] - o->block_first[block] <= f->q && f->ng > 1;
        }
    double shared = fmax((double)f->res->nfree - own_all, 0);
    for (size_t g = 0; g < f->ng; g++) {
        double ng = (double)f->ds->npoint_group[g], own = f->ng > 1 ? own_all / (double)f->ng : 0;
        double ssr = o->ssr[g] / (o->weighting == FIT_WEIGHT_GROUP ? o->factor[g] : 1);
        sigma[g] = sqrt(fmax(ssr, 0) / fmax(ng - own - shared * ng / n, 1));
        total += fmax(ssr, 0);
    }
    *common = sqrt(total / f->dof);
}

static int sigmas_differ(const struct run *f, const double *sigma)
{
    double least = INFINITY, most = 0, spread = 0;
    for (size_t g = 0; g < f->ng; g++) {
        if (f->ds->npoint_group[g] == 0)
            continue;
        least = fmin(least, sigma[g]);
        most = fmax(most, sigma[g]);
        spread = fmax(spread, 1 / sqrt(2 * (double)f->ds->npoint_group[g]));
    }
    return least > 0 && most > least * (SIGMAS_DIFFER + 6 * spread);
}

/* Known sigmas that differ become group factors; equal ones only a unit. */
static void known_sigmas(struct run *f)
{
    const double *s = f->opt->sigma;
    double sum = 0;
    int equal = 1;
    for (size_t g = 0; g < f->ng; g++) {
        sum += s[g] * s[g];
        equal &= fabs(s[g] - s[0]) <= 1e-12 * s[0];
    }
    f->unit = sum / (double)f->ng;
    f->noise = f->unit;
    for (size_t g = 0; g < f->ng; g++)
        f->factor[g] = equal ? 1 : f->unit / (s[g] * s[g]);
    if (!equal)
        fit_objective_group_factor(f->obj, f->factor);
}

static enum fit_status settle_noise(struct run *f, struct outcome *o)
{
    struct fit_result *r = f->res;
    r->noise = f->ds->weighted ? FIT_NOISE_FILE : f->opt->sigma ? FIT_NOISE_GIVEN : FIT_NOISE_RESIDUALS;
    if (fit_objective_value(f->obj, f->best) != FIT_EVAL_OK)
        return fit_fail(f->err, FIT_ERR_INTERRUPTED, "fit: interrupted");
    group_sigmas(f, r->sigma, &r->sigma_common);
    if (r->noise == FIT_NOISE_FILE)
        snprintf(r->noise_text, sizeof r->noise_text,
                 "standard deviations from the file, taken as absolute; residuals are %.4g of them",
                 r->sigma_common);
    else if (r->noise == FIT_NOISE_GIVEN)
        snprintf(r->noise_text, sizeof r->noise_text,
                 "standard deviations as given, taken as absolute; residuals are %.4g of them",
                 r->sigma_common / sqrt(f->unit));
    else
        snprintf(r->noise_text, sizeof r->noise_text,
                 "estimated from the residuals, %s; equal weights for all points",
                 f->ng > 1 ? "per group" : "one value");
    if (r->noise != FIT_NOISE_RESIDUALS || f->opt->loss != FIT_LOSS_LINEAR || f->ng < 2 || is_end(o->word) ||
        !sigmas_differ(f, r->sigma))
        return FIT_OK;
    double common = r->sigma_common * r->sigma_common;
    for (size_t g = 0; g < f->ng; g++)
        f->factor[g] = r->sigma[g] > 0 ? common / (r->sigma[g] * r->sigma[g]) : 1;
    fit_objective_group_factor(f->obj, f->factor);
    memcpy(f->theta, f->best, f->p * sizeof *f->theta);
    optimise(f, f->theta, f->opt->max_iterations);
    keep_best(f, o);
    r->reweighted = 1;
    snprintf(r->noise_text, sizeof r->noise_text,
             "estimated from the residuals, per group; they differ by more than 20 %%: fitted again with "
             "weights 1/sigma^2");
    if (fit_objective_value(f->obj, f->best) != FIT_EVAL_OK)
        return fit_fail(f->err, FIT_ERR_INTERRUPTED, "fit: interrupted");
    group_sigmas(f, r->sigma, &r->sigma_common);
    return FIT_OK;
}

/* ---- robust loss ------------------------------------------------------------------------------------ */

/* sigma for the loss: known, or 1.4826 times the median of the absolute residuals of the linear fit, which
 * outliers hardly move. */
static enum fit_eval loss_sigma(struct run *f)
{
    struct fit_result *r = f->res;
    double median;
    for (size_t g = 0; g < f->ng; g++)
        f->factor[g] = f->ds->weighted ? 1 : f->opt->sigma ? 1 / (f->opt->sigma[g] * f->opt->sigma[g]) : 1;
    f->unit = 1;
    f->noise = 1;
    if (r->noise != FIT_NOISE_RESIDUALS)
        return FIT_EVAL_OK;
    enum fit_eval e = fit_objective_median(f->obj, f->best, &median);
    if (e != FIT_EVAL_OK)
        return e;
    double sigma = median > 0 ? 1.4826 * median : r->sigma_common > 0 ? r->sigma_common : 1;
    for (size_t g = 0; g < f->ng; g++) {
        r->sigma[g] = sigma;
        f->factor[g] = 1 / (sigma * sigma);
    }
    r->sigma_common = sigma;
    f->unit = 1 / (sigma * sigma); /* chi2 is told in the units of unweighted data */
    snprintf(r->noise_text, sizeof r->noise_text,
             "estimated from the residuals: 1.4826 times the median of their size after a linear fit");
    return FIT_EVAL_OK;
}

static enum fit_eval run_robust(struct run *f, struct outcome *o)
{
    double cost, before = INFINITY;
    size_t iterations = 0, accepted = 0;
    enum fit_eval e = loss_sigma(f);
    memcpy(f->theta, f->best, f->p * sizeof *f->theta);
    for (int round = 0; e == FIT_EVAL_OK && round < ROBUST_ROUNDS; round++) {
        if ((e = fit_objective_reweight(f->obj, f->theta, f->factor, f->opt->f_scale, &cost)) != FIT_EVAL_OK)
            break;
        f->robust = cost;
        if (round > 0 && before - cost <= 1e-11 * cost) {
            o->word = FIT_CONVERGED_COST;
            o->reason = "the robust cost does not fall any further";
            break;
        }
        before = cost;
        o->word = FIT_MAX_ITERATIONS;
        o->reason = "the number of iterations allowed is reached";
        if (iterations >= f->opt->max_iterations)
            break;
        enum fit_word w = optimise(f, f->theta, ROBUST_STEPS);
        iterations += f->nlsq->iterations > 0 ? f->nlsq->iterations : 1;
        accepted += f->nlsq->accepted;
        if (w == FIT_INTERRUPTED || (f->deadline > 0 && fit_seconds() > f->deadline)) {
            o->word = w == FIT_INTERRUPTED ? w : FIT_MAX_ITERATIONS;
            o->reason = f->nlsq->reason;
            fit_parallel_uninterruptible(f->obj->par);
            break;
        }
        e = fit_objective_value(f->obj, f->theta);
    }
    memcpy(f->best, f->theta, f->p * sizeof *f->best);
    o->iterations = iterations;
    o->accepted = accepted;
    o->gradient = f->nlsq->gradient;
    return e;
}

/* Moments and sums for the covariance of the robust fit: J^T J unweighted by the loss, at its lin. */
static enum fit_eval robust_normal(struct run *f)
{
    struct fit_objective *o = f->obj;
    size_t e = f->ng * f->q, bytes = e * sizeof *f->save;
    double psi2, dpsi, square, n = (double)f->ds->npoint;
    enum fit_eval ev = fit_objective_value(o, f->best);
    if (ev != FIT_EVAL_OK)
        return ev;
    memcpy(f->save, o->lin, bytes);
    if ((ev = fit_objective_loss_sums(o, &psi2, &dpsi, &square)) != FIT_EVAL_OK)
        return ev;
    fit_objective_group_factor(o, f->factor);
    if ((ev = fit_objective_value(o, f->best)) != FIT_EVAL_OK)
        return ev;
    memcpy(o->lin, f->save, bytes);
    f->huber = psi2 / f->dof / (dpsi / n * (dpsi / n));
    f->square = square;
    return fit_objective_normal(o, f->best, f->B, f->g);
}

/* ---- the end ---------------------------------------------------------------------------------------- */

static size_t count_free(const struct run *f)
{
    size_t n = f->obj->nu;
    for (size_t u = 0; u < f->obj->nu; u++)
        n -= !(f->obj->upper[u] > f->obj->lower[u]);
    for (size_t k = 0; k < f->p; k++)
        n += f->upper[k] > f->lower[k];
    return n;
}

static void fill_bounds(struct run *f)
{
    struct fit_result *r = f->res;
    memcpy(r->lower, f->lower, f->p * sizeof *r->lower);
    memcpy(r->upper, f->upper, f->p * sizeof *r->upper);
    for (size_t e = 0; e < f->ng * f->q; e++) {
        int u = f->obj->map[e];
        r->lin[e] = fit_objective_linear(f->obj, e / f->q, e % f->q);
        r->lower[f->p + e] = u >= 0 ? f->obj->lower[u] + f->obj->origin[u] : r->lin[e];
        r->upper[f->p + e] = u >= 0 ? f->obj->upper[u] + f->obj->origin[u] : r->lin[e];
        if (u >= 0 && f->obj->state[u]) /* exactly, not by way of the reference */
            r->lin[e] = f->obj->state[u] < 0 ? r->lower[f->p + e] : r->upper[f->p + e];
    }
}

static void tell_end(struct run *f, const struct outcome *o)
{
    struct fit_result *r = f->res;
    size_t on_bound = 0;
    r->status = o->word;
    r->converged = o->word <= FIT_CONVERGED_STEP;
    for (size_t k = 0; k < r->nfull; k++)
        on_bound += r->at_bound[k] != 0;
    if (r->converged && on_bound > 0)
        r->status = FIT_AT_BOUND;
    snprintf(r->message, sizeof r->message, "%s%s", o->reason ? o->reason : "",
             on_bound ? "; at least one parameter stands on a bound" : "");
    r->iterations = o->iterations;
    r->accepted = o->accepted;
    r->gradient = o->gradient;
    r->evaluations = f->obj->nvalue;
    r->normals = f->obj->nnormal;
}

static enum fit_status finish(struct run *f, const struct outcome *o)
{
    struct fit_result *r = f->res;
    double t = fit_seconds();
    int robust = !isnan(f->robust);
    enum fit_eval e = robust ? robust_normal(f) : fit_objective_value(f->obj, f->best);
    if (e == FIT_EVAL_OK && !robust)
        e = fit_objective_normal(f->obj, f->best, f->B, f->g);
    if (e != FIT_EVAL_OK)
        return e == FIT_EVAL_STOP
                   ? fit_fail(f->err, FIT_ERR_INTERRUPTED, "fit: interrupted")
                   : fit_fail(f->err, FIT_ERR_NUMERIC, "fit: derivatives are not finite at the optimum");
    memcpy(r->theta, f->best, f->p * sizeof *r->theta);
    memcpy(r->normal_matrix, f->B, f->p * f->p * sizeof *f->B);
    fill_bounds(f);
    double chi2 = (robust ? f->square : 2 * f->obj->cost) / f->unit;
    r->chi2 = chi2;
    r->cost = (robust ? f->robust : f->obj->cost) / f->unit;
    r->reduced_chi2 = chi2 / f->dof;
    double variance = r->noise == FIT_NOISE_RESIDUALS ? r->reduced_chi2 : r->noise == FIT_NOISE_GIVEN ? f->unit : 1;
    if (robust)
        variance = f->huber;
    struct fit_covariance_spec spec = {f->obj, f->best, f->lower, f->upper, f->B, variance};
    enum fit_status st = fit_covariance(&spec, r, f->err);
    if (st != FIT_OK)
        return st;
    tell_end(f, o);
    memcpy(r->start, f->began_at, f->p * sizeof *r->start);
    memcpy(r->start_origin, o->origin, sizeof r->start_origin);
    r->threads = fit_objective_threads(f->obj);
    r->seconds.covariance = fit_seconds() - t;
    return FIT_OK;
}

static enum fit_status run_all(struct run *f)
{
    struct fit_result *r = f->res;
    struct outcome o;
    enum fit_status st;
    double t = fit_seconds();
    if ((st = check_options(f)) != FIT_OK || (st = constant_values(f)) != FIT_OK ||
        (st = fit_objective_new(f->kernel, f->ds, &f->setup, &f->obj, f->err)) != FIT_OK)
        return st;
    size_t nfree = count_free(f);
    if (f->ds->npoint <= nfree)
        return fit_fail(f->err, FIT_ERR_DATA, "fit: %zu data points for %zu free parameters; give more data or "
                        "fix parameters", f->ds->npoint, nfree);
    f->dof = (double)(f->ds->npoint - nfree);
    f->noise = f->ds->weighted ? 1 : 0;
    f->unit = 1;
    if (f->opt->sigma && !f->ds->weighted)
        known_sigmas(f);
    if ((st = find_minimum(f, &o)) != FIT_OK || (st = result_new(f)) != FIT_OK)
        return st;
    r->nfree = nfree;
    r->npoint = f->ds->npoint;
    if ((st = settle_noise(f, &o)) != FIT_OK)
        return st;
    if (f->opt->loss == FIT_LOSS_SOFT_L1 && !is_end(o.word) && run_robust(f, &o) != FIT_EVAL_OK)
        return fit_fail(f->err, FIT_ERR_NUMERIC, "fit: the robust fit met values that are not finite");
    r->seconds.fit = fit_seconds() - t - r->seconds.start;
    return finish(f, &o);
}

enum fit_status fit_run(const struct fit_kernel *kernel, const struct fit_dataset *ds,
                        const struct fit_options *opt, struct fit_result *res, struct fit_error *err)
{
    struct run f = {.kernel = kernel, .ds = ds, .opt = opt, .res = res, .err = err, .robust = NAN, .huber = 1};
    enum fit_status st;
    *res = (struct fit_result){0};
    if (kernel->abi != FIT_KERNEL_ABI)
        return fit_fail(err, FIT_ERR_INTERNAL, "%s: kernel of interface %u, the runtime speaks %d", kernel->name,
                        kernel->abi, FIT_KERNEL_ABI);
    fit_linalg_serial();
    f.p = kernel->nparam;
    f.q = kernel->nlinear;
    f.ng = kernel->space == FIT_ROWS ? 1 : ds->layout.ngroup;
    f.began = fit_seconds();
    f.deadline = opt->max_seconds > 0 ? f.began + opt->max_seconds : 0;
    f.setup = (struct fit_objective_setup){.scaling = opt->scaling,
                                           .linear_lower = opt->linear_lower,
                                           .linear_upper = opt->linear_upper,
                                           .linear_fixed = opt->linear_fixed,
                                           .linear_start = opt->linear_start,
                                           .threads = opt->threads,
                                           .interrupt = opt->interrupt};
    if ((st = run_new(&f)) == FIT_OK)
        st = run_all(&f);
    res->seconds.total = fit_seconds() - f.began;
    fit_objective_free(f.obj);
    fit_nlsq_free(f.nlsq);
    fit_candidates_free(&f.list);
    for (size_t k = 0; k < f.nstart; k++)
        free(f.starts[k].theta);
    free(f.starts);
    free(f.lower);
    if (st != FIT_OK)
        fit_result_free(res);
    return st;
}
