/* noise.c -- the size of the noise, weights of groups, and the robust loss.
 *
 * With weights from the file, or a given sigma, errors are absolute. Otherwise sigma is estimated from the residuals,
 * per group: sigma_g^2 = ssr_g / (n_g - parameters of the group - its share of the common ones). Groups are weighted by
 * 1 / sigma_g^2 only when sigmas differ by more than 20 % and by more than their own uncertainty sigma_g / sqrt(2 n_g):
 * with equal noise, equal weights are the best estimate.
 *
 * The robust fit starts from the linear one and minimises the cost of the loss (robust_problem.h) until its gradient is
 * zero or falls no more. Where many values are wrong the linear one is far off: then rounds of a few steps on sums of
 * squares with fixed weights come first, which eliminate the linear parameters exactly. Its covariance is Huber's
 * (1981, section 7.6): sum psi^2 / dof / mean(psi')^2 times (J^T J)^-1.
 */
#include "base/clock.h"
#include "data/tile_sums.h"
#include "leastsquares/fit_impl.h"
#include "leastsquares/problem.h"
#include "leastsquares/robust_problem.h"
#include "ranks/ranks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double SIGMAS_DIFFER = 1.2;
/* The tests of cost and step do not end a robust fit: its steps are cheap, and the cost is flat. */
static const double ROBUST_FTOL = 1e-14, ROBUST_XTOL = 0;
/* A fit is near when the mean error of the parameters is so many standard errors, or rounds gain no more than this. */
static const double ROBUST_NEAR = 1, ROBUST_STILL = 1e-3;
enum { ROBUST_ROUNDS = 60, ROBUST_STEPS = 3, ROBUST_ITERATIONS = 100 };

/* ---- noise ----------------------------------------------------------------------------------- */

/* Standard deviations per group from the residuals of the last value, in units of 1 / sqrt(w). */
static void group_sigmas(const struct fit_ls *f, double *sigma, double *common)
{
    const struct fit_objective *o = f->obj;
    double n = (double)f->ds->npoint, total = 0, own_all = 0;
    for (size_t g = 0; g < f->ng; g++)
        for (size_t k = 0; k < f->q; k++) {
            int u = o->map[g * f->q + k];
            size_t block = u >= 0 ? o->block_of[u] : 0;
            own_all +=
                u >= 0 && o->block_first[block + 1] - o->block_first[block] <= f->q && f->ng > 1;
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

static int sigmas_differ(const struct fit_ls *f, const double *sigma)
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

/* Known sigmas that differ become group factors; equal ones only set the unit. */
void fit_ls_known_sigmas(struct fit_ls *f)
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

/* Standard deviations are in units of those of the noise distribution. */
static void law(struct fit_ls *f)
{
    struct fit_result *r = f->res;
    r->noise = FIT_NOISE_LAW;
    for (size_t g = 0; g < f->ng; g++)
        r->sigma[g] = 1;
    r->sigma_common = 1;
    snprintf(r->noise_text, sizeof r->noise_text, "the noise distribution of the model, %s: maximum likelihood",
             f->kernel->density->name);
}

static void noise_words(const struct fit_ls *f, struct fit_result *r)
{
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
}

enum fit_status fit_ls_noise(struct fit_ls *f, struct fit_outcome *o)
{
    struct fit_result *r = f->res;
    r->noise = f->ds->weighted ? FIT_NOISE_FILE : f->opt->sigma ? FIT_NOISE_GIVEN : FIT_NOISE_RESIDUALS;
    if (fit_objective_value(f->obj, f->best) != FIT_EVAL_OK)
        return fit_fail(f->err, FIT_ERR_INTERRUPTED, "fit: interrupted");
    if (f->kernel->density) {
        law(f);
        return FIT_OK;
    }
    group_sigmas(f, r->sigma, &r->sigma_common);
    noise_words(f, r);
    if (r->noise != FIT_NOISE_RESIDUALS || f->opt->loss != FIT_LOSS_LINEAR || f->ng < 2 ||
        fit_word_ends(o->word) || !sigmas_differ(f, r->sigma))
        return FIT_OK;
    double common = r->sigma_common * r->sigma_common;
    for (size_t g = 0; g < f->ng; g++)
        f->factor[g] = r->sigma[g] > 0 ? common / (r->sigma[g] * r->sigma[g]) : 1;
    fit_objective_group_factor(f->obj, f->factor);
    memcpy(f->theta, f->best, f->p * sizeof *f->theta);
    fit_ls_optimise(f, f->theta, f->opt->max_iterations);
    fit_ls_keep(f, o);
    r->reweighted = 1;
    snprintf(r->noise_text, sizeof r->noise_text,
             "estimated from the residuals, per group; they differ by more than 20 %%: fitted "
             "again with "
             "weights 1/sigma^2");
    if (fit_objective_value(f->obj, f->best) != FIT_EVAL_OK)
        return fit_fail(f->err, FIT_ERR_INTERRUPTED, "fit: interrupted");
    group_sigmas(f, r->sigma, &r->sigma_common);
    return FIT_OK;
}

/* ---- robust loss ----------------------------------------------------------------------------- */

/* sigma for the loss: known, or 1.4826 times the median of the absolute residuals of the linear
 * fit, which outliers hardly move. */
static enum fit_eval loss_sigma(struct fit_ls *f)
{
    struct fit_result *r = f->res;
    double median;
    for (size_t g = 0; g < f->ng; g++)
        f->factor[g] = f->ds->weighted ? 1
                       : f->opt->sigma ? 1 / (f->opt->sigma[g] * f->opt->sigma[g])
                                       : 1;
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
    f->unit = 1 / (sigma * sigma); /* chi2 is reported in the units of unweighted data */
    snprintf(
        r->noise_text, sizeof r->noise_text,
        "estimated from the residuals: 1.4826 times the median of their size after a linear fit");
    return FIT_EVAL_OK;
}

enum fit_status fit_ls_robust(struct fit_ls *f, struct fit_outcome *o)
{
    enum fit_eval e = loss_sigma(f);
    if (e == FIT_EVAL_OK)
        return fit_ls_robust_again(f, o);
    return fit_fail(f->err, e == FIT_EVAL_STOP ? FIT_ERR_INTERRUPTED : FIT_ERR_NUMERIC,
                    e == FIT_EVAL_STOP ? "fit: interrupted" : "fit: the model is not finite at the optimum");
}

/* Computes what the covariance needs at the minimum. */
static void take_minimum(struct fit_ls *f, const struct fit_objective_robust *r)
{
    const double mean = r->dpsi / (double)f->ds->npoint;
    memcpy(f->best, f->theta, f->p * sizeof *f->best);
    memcpy(f->save, f->obj->lin, f->ng * f->q * sizeof *f->save);
    f->robust = r->cost;
    f->majorant = r->curve;
    f->curve = mean;
    f->huber = r->psi2 / f->dof / (mean * mean);
    f->square = r->square;
}

static int is_late(const struct fit_ls *f)
{
    return f->deadline > 0 && fit_ranks_seconds() > f->deadline;
}

static void count_steps(const struct fit_ls *f, struct fit_outcome *o)
{
    o->iterations += f->nlsq->iterations;
    o->accepted += f->nlsq->accepted;
}

/* Moves from f->theta to where Newton's method takes over; known: as in nlsq.h. */
static enum fit_eval approach(struct fit_ls *f, struct fit_robust_problem *problem, struct fit_outcome *o,
                              double known[2])
{
    const double near = 0.5 * ROBUST_NEAR * ROBUST_NEAR * (double)f->res->nfree;
    double before = INFINITY, promised;
    int majorant = 0;
    for (int round = 0; round < ROBUST_ROUNDS; round++) {
        enum fit_eval e = fit_robust_problem_begin(problem, f->theta, known, &promised);
        majorant = round > 0 && !majorant && e != FIT_EVAL_STOP && !(e == FIT_EVAL_OK && known[0] <= before);
        if (majorant) { /* a step of mean curvature was too long */
            memcpy(f->theta, f->before, f->p * sizeof *f->theta);
            memcpy(f->obj->lin, f->save, f->ng * f->q * sizeof *f->save);
            e = fit_robust_problem_begin(problem, f->theta, known, &promised);
        }
        if (e != FIT_EVAL_OK || promised <= near || (!majorant && before - known[0] <= ROBUST_STILL) || is_late(f))
            return e;
        before = known[0];
        memcpy(f->before, f->theta, f->p * sizeof *f->before);
        if ((e = fit_robust_problem_freeze(problem, f->theta, majorant)) != FIT_EVAL_OK)
            return e;
        memcpy(f->save, f->obj->lin, f->ng * f->q * sizeof *f->save);
        e = fit_ls_step(f, f->theta, ROBUST_STEPS);
        count_steps(f, o);
        if (e == FIT_EVAL_STOP)
            return e;
    }
    return fit_robust_problem_begin(problem, f->theta, known, &promised);
}

/* Newton's method from *known on: so many iterations at a time; a valley is then left where the predicted gain is
 * insignificant (nlsq.c). */
static void descend(struct fit_ls *f, const struct fit_nlsq_problem *p, struct fit_outcome *o, double known[2])
{
    struct fit_watch watch = {f->began, f->deadline, f->opt->progress, f->opt->progress_user, NULL};
    struct fit_nlsq_options opt = {.ftol = ROBUST_FTOL,
                                   .xtol = ROBUST_XTOL,
                                   .gtol = f->opt->gtol,
                                   .known = known,
                                   .watch = fit_watch,
                                   .watch_user = &watch};
    size_t iterations = 0, most = f->opt->max_iterations;
    for (int more = 1; more;) {
        opt.max_iterations = most - iterations < ROBUST_ITERATIONS ? most - iterations : ROBUST_ITERATIONS;
        fit_nlsq_run(f->nlsq, p, &opt, f->theta);
        iterations += f->nlsq->iterations;
        count_steps(f, o);
        known[0] = f->nlsq->cost;
        known[1] = f->nlsq->error;
        more = f->nlsq->end == FIT_NLSQ_LIMIT && f->nlsq->iterations > 0 && iterations < most && !is_late(f);
    }
}

static enum fit_eval minimise(struct fit_ls *f, struct fit_robust_problem *problem, struct fit_outcome *o)
{
    double known[2];
    struct fit_nlsq_problem p = fit_robust_problem(problem, f->dof);
    struct fit_objective_robust sums;
    memcpy(f->theta, f->best, f->p * sizeof *f->theta);
    o->iterations = o->accepted = 0;
    enum fit_eval e = approach(f, problem, o, known);
    if (e == FIT_EVAL_OK)
        descend(f, &p, o, known);
    else if (e == FIT_EVAL_STOP)
        f->nlsq->end = FIT_NLSQ_STOPPED, f->nlsq->reason = "stopped on request";
    else
        return e;
    if (f->nlsq->end == FIT_NLSQ_STOPPED)
        fit_parallel_uninterruptible(f->obj->par);
    else if (!isfinite(f->nlsq->cost))
        return FIT_EVAL_REJECT;
    const int known_here = f->nlsq->current && f->nlsq->end != FIT_NLSQ_STOPPED;
    e = fit_robust_problem_end(problem, f->theta, known_here, f->opt->gtol, &sums);
    if (e == FIT_EVAL_OK)
        take_minimum(f, &sums);
    return e;
}

enum fit_status fit_ls_robust_again(struct fit_ls *f, struct fit_outcome *o)
{
    FIT_SCRATCH(a);
    struct fit_robust_problem *problem =
        fit_robust_problem_new(f->obj, f->factor, f->opt->loss, f->opt->f_scale, f->lower, f->upper, &a);
    if (a.failed)
        return fit_no_memory(f->err, "fit");
    enum fit_eval e = minimise(f, problem, o);
    if (e != FIT_EVAL_OK)
        return fit_fail(f->err, FIT_ERR_NUMERIC, "fit: the robust fit met values that are not finite");
    o->word = fit_word_of(f->nlsq->end);
    o->reason = f->nlsq->reason;
    o->gradient = f->nlsq->gradient;
    return FIT_OK;
}

/* Moments and sums for the covariance of the robust fit: J^T J without the weights of the loss, at its lin. The
 * robust cost rises by mean(psi') / 2 of that, which is why shrinkage counts for more here. */
enum fit_eval fit_ls_robust_normal(struct fit_ls *f)
{
    struct fit_objective *o = f->obj;
    fit_objective_group_factor(o, f->factor);
    for (size_t k = 0; k < f->q; k++)
        o->shrink[k] /= f->curve;
    enum fit_eval e = fit_objective_value(o, f->best);
    for (size_t k = 0; k < f->q; k++)
        o->shrink[k] *= f->curve;
    if (e != FIT_EVAL_OK)
        return e;
    memcpy(o->lin, f->save, f->ng * f->q * sizeof *f->save);
    if ((e = fit_objective_median(o, f->best, &f->median)) != FIT_EVAL_OK)
        return e;
    return fit_objective_normal(o, f->best, f->B, f->g);
}

enum fit_eval fit_ls_robust_paraboloid(struct fit_ls *f, double *variance)
{
    const struct fit_objective_robust r = {.loss = f->opt->loss, .f_scale = f->opt->f_scale, .curve = f->majorant};
    memcpy(f->obj->lin, f->save, f->ng * f->q * sizeof *f->save);
    enum fit_eval e = fit_objective_freeze(f->obj, f->best, f->factor, &r);
    if (e == FIT_EVAL_OK && (e = fit_objective_value(f->obj, f->best)) == FIT_EVAL_OK)
        e = fit_objective_normal(f->obj, f->best, f->B, f->g);
    *variance = f->huber * f->curve;
    return e;
}
