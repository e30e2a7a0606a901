/* fit_noise.c -- how large the noise is, weights of groups, and the robust loss.
 *
 * With weights from the file, or a given sigma, errors are absolute.  Otherwise sigma is estimated
 * from the residuals, per group: sigma_g^2 = ssr_g / (n_g - parameters of the group - its share of
 * the common ones).  Groups are weighted by 1 / sigma_g^2 only when sigmas differ by more than 20 %
 * and by more than their own uncertainty sigma_g / sqrt(2 n_g) allows: with equal noise, equal
 * weights are the best estimate.
 *
 * The robust fit starts from the linear one and alternates weights (loss.c) with a few steps of the
 * optimiser, until the gradient of the robust cost is zero or falls no more.
 * Its covariance is Huber's (1981, section 7.6): sum psi^2 / dof / mean(psi')^2 times (J^T J)^-1.
 */
#include "fit_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double SIGMAS_DIFFER = 1.2;
enum { ROBUST_ROUNDS = 200, ROBUST_STEPS = 3, ROBUST_PATIENCE = 3 };

/* ---- noise ----------------------------------------------------------------------------------- */

/* Standard deviations per group from the residuals of the last value, in units of 1 / sqrt(w). */
static void group_sigmas(const struct fit_job *f, double *sigma, double *common)
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

static int sigmas_differ(const struct fit_job *f, const double *sigma)
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
void fit_job_known_sigmas(struct fit_job *f)
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

/* Deviations are in units of those of the law. */
static void law(struct fit_job *f)
{
    struct fit_result *r = f->res;
    r->noise = FIT_NOISE_LAW;
    for (size_t g = 0; g < f->ng; g++)
        r->sigma[g] = 1;
    r->sigma_common = 1;
    snprintf(r->noise_text, sizeof r->noise_text, "the law of the model, %s: maximum likelihood", f->kernel->density->name);
}

enum fit_status fit_job_noise(struct fit_job *f, struct fit_outcome *o)
{
    struct fit_result *r = f->res;
    r->noise = f->ds->weighted ? FIT_NOISE_FILE
               : f->opt->sigma ? FIT_NOISE_GIVEN
                               : FIT_NOISE_RESIDUALS;
    if (fit_objective_value(f->obj, f->best) != FIT_EVAL_OK)
        return fit_fail(f->err, FIT_ERR_INTERRUPTED, "fit: interrupted");
    if (f->kernel->density) {
        law(f);
        return FIT_OK;
    }
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
    if (r->noise != FIT_NOISE_RESIDUALS || f->opt->loss != FIT_LOSS_LINEAR || f->ng < 2 ||
        fit_word_ends(o->word) || !sigmas_differ(f, r->sigma))
        return FIT_OK;
    double common = r->sigma_common * r->sigma_common;
    for (size_t g = 0; g < f->ng; g++)
        f->factor[g] = r->sigma[g] > 0 ? common / (r->sigma[g] * r->sigma[g]) : 1;
    fit_objective_group_factor(f->obj, f->factor);
    memcpy(f->theta, f->best, f->p * sizeof *f->theta);
    fit_job_optimise(f, f->theta, f->opt->max_iterations);
    fit_job_keep(f, o);
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
static enum fit_eval loss_sigma(struct fit_job *f)
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
    f->unit = 1 / (sigma * sigma); /* chi2 is told in the units of unweighted data */
    snprintf(
        r->noise_text, sizeof r->noise_text,
        "estimated from the residuals: 1.4826 times the median of their size after a linear fit");
    return FIT_EVAL_OK;
}

/* Where the loss was taken last: to go back to.  cost: with what shrinkage adds (penalty). */
struct robust_point {
    double *theta, *lin, cost, penalty;
};

static void remember(struct fit_job *f, struct robust_point *p, double penalty)
{
    memcpy(p->theta, f->theta, f->p * sizeof *p->theta);
    memcpy(p->lin, f->obj->lin, f->ng * f->q * sizeof *p->lin);
    p->cost = f->robust + penalty;
    p->penalty = penalty;
}

/* Takes the loss at theta; *penalty: that of the linear parameters there.  When the cost has risen, the step of mean curvature was too long: takes it at the
 * point before once more, as the majorant, which cannot lead up. */
static enum fit_eval take_loss(struct fit_job *f, struct robust_point *before, double *curve, double *penalty)
{
    struct fit_objective_robust r = {f->opt->loss, f->opt->f_scale, 0, 0};
    enum fit_eval e = fit_objective_reweight(f->obj, f->theta, f->factor, &r);
    *penalty = f->obj->penalty;
    int rose = *curve < 1 && (e == FIT_EVAL_REJECT ||
                              (e == FIT_EVAL_OK && r.cost + *penalty > before->cost * (1 + 1e-12)));
    if (rose) {
        memcpy(f->theta, before->theta, f->p * sizeof *f->theta);
        memcpy(f->obj->lin, before->lin, f->ng * f->q * sizeof *f->obj->lin);
        r.curve = 1;
        *penalty = before->penalty;
        e = fit_objective_reweight(f->obj, f->theta, f->factor, &r);
    }
    *curve = r.curve;
    f->robust = r.cost;
    return e;
}

enum fit_eval fit_job_robust(struct fit_job *f, struct fit_outcome *o)
{
    enum fit_eval e = loss_sigma(f);
    return e == FIT_EVAL_OK ? fit_job_robust_again(f, o) : e;
}

enum fit_eval fit_job_robust_again(struct fit_job *f, struct fit_outcome *o)
{
    double distance = INFINITY, least = INFINITY, curve = 1, penalty = 0;
    size_t iterations = 0, accepted = 0, vain = 0;
    struct robust_point before = {f->before, f->save, INFINITY, 0};
    enum fit_eval e = FIT_EVAL_OK;
    memcpy(f->theta, f->best, f->p * sizeof *f->theta);
    for (int round = 0; e == FIT_EVAL_OK && round < ROBUST_ROUNDS; round++) {
        double last = before.cost;
        if ((e = take_loss(f, &before, &curve, &penalty)) != FIT_EVAL_OK)
            break;
        int zero = distance <= f->opt->gtol;
        vain = distance < 0.7 * least ? 0 : vain + 1; /* not every round brings the gradient down */
        least = fmin(least, distance);
        if (round > 0 && fabs(last - f->robust - penalty) <= 1e-11 * f->robust && (zero || vain >= ROBUST_PATIENCE)) {
            o->word = zero ? FIT_CONVERGED_GRADIENT : FIT_CONVERGED_COST;
            o->reason = zero ? "the gradient is zero to the accuracy asked for"
                             : "the robust cost does not fall any further";
            break;
        }
        o->word = FIT_MAX_ITERATIONS;
        o->reason = "the number of iterations allowed is reached";
        if (iterations >= f->opt->max_iterations)
            break;
        remember(f, &before, penalty);
        e = fit_job_step(f, f->theta, distance < 0.1 ? 1 : ROBUST_STEPS);
        iterations += f->nlsq->iterations > 0 ? f->nlsq->iterations : 1;
        accepted += f->nlsq->accepted;
        /* where the loss was taken, the gradient is that of the robust cost */
        distance = f->nlsq->first;
        if (e == FIT_EVAL_STOP || (f->deadline > 0 && fit_seconds() > f->deadline)) {
            o->word = e == FIT_EVAL_STOP ? FIT_INTERRUPTED : FIT_MAX_ITERATIONS;
            o->reason = e == FIT_EVAL_STOP ? "stopped on request" : "the time allowed is over";
            fit_parallel_uninterruptible(f->obj->par);
            e = FIT_EVAL_OK;
            break;
        }
    }
    memcpy(f->best, f->theta, f->p * sizeof *f->best);
    o->iterations = iterations;
    o->accepted = accepted;
    o->gradient = distance;
    return e;
}

/* Moments and sums for the covariance of the robust fit: J^T J unweighted by the loss, at its lin.  The robust cost
 * rises by mean(psi') / 2 of that, which is why shrinkage counts for more here. */
enum fit_eval fit_job_robust_normal(struct fit_job *f)
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
    f->curve = dpsi / n;
    f->huber = psi2 / f->dof / (dpsi / n * (dpsi / n));
    f->square = square;
    for (size_t k = 0; k < f->q; k++)
        o->shrink[k] /= f->curve;
    ev = fit_objective_value(o, f->best);
    for (size_t k = 0; k < f->q; k++)
        o->shrink[k] *= f->curve;
    if (ev != FIT_EVAL_OK)
        return ev;
    memcpy(o->lin, f->save, bytes);
    if ((ev = fit_objective_median(o, f->best, &f->median)) != FIT_EVAL_OK)
        return ev;
    return fit_objective_normal(o, f->best, f->B, f->g);
}

enum fit_eval fit_job_robust_paraboloid(struct fit_job *f, double *variance)
{
    struct fit_objective_robust r = {f->opt->loss, f->opt->f_scale, 0, 0};
    memcpy(f->obj->lin, f->save, f->ng * f->q * sizeof *f->save);
    enum fit_eval e = fit_objective_reweight(f->obj, f->best, f->factor, &r);
    if (e == FIT_EVAL_OK && (e = fit_objective_value(f->obj, f->best)) == FIT_EVAL_OK)
        e = fit_objective_normal(f->obj, f->best, f->B, f->g);
    *variance = f->huber * f->curve;
    return e;
}
