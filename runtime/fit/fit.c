/* fit.c -- one least-squares fit from options to a result with errors.
 *
 * Order of work: bounds and start (check_options), the best minimum on all data (minimum.c), the noise and, if groups
 * differ in it, one fit with weights, and a robust loss if requested (noise.c), the last digits of small tables
 * (qr_steps.c), covariance and identifiability (covariance.c).
 */
#include "leastsquares/fit_types.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "errors/degeneracy.h"
#include "errors/derived.h"
#include "errors/derived_profile.h"
#include "errors/likelihood.h"
#include "errors/profile.h"
#include "errors/rate_value.h"
#include "errors/sandwich.h"
#include "fit/efficient.h"
#include "fit/fit.h"
#include "leastsquares/covariance.h"
#include "leastsquares/fit_impl.h"
#include "leastsquares/qr_steps.h"
#include "math/linalg.h"
#include "model/aliases.h"
#include "model/derived.h"
#include "ranks/ranks.h"

void fit_options_default(struct fit_options *opt)
{
    *opt = (struct fit_options){.max_iterations = 200,
                                .ftol = 1e-14,
                                .xtol = 1e-12,
                                .gtol = 1e-6,
                                .loss = FIT_LOSS_LINEAR,
                                .estimator = FIT_ESTIMATOR_LEAST_SQUARES,
                                .f_scale = 1,
                                .scaling = FIT_SCALING_INDIVIDUAL};
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void lay_out(struct fit_result *r)
{
    struct fit_arena *a = &r->storage_;
    const size_t p = r->nparam, n = r->nfull, ng = r->ngroup;
    FIT_TAKE_DOUBLES(a, p, &r->theta, &r->profile, &r->first_frame, &r->first_frame_std, &r->start, &r->eigenvalue,
                     &r->scale);
    FIT_TAKE_DOUBLES(a, p * p, &r->eigenvector, &r->normal_matrix);
    FIT_TAKE_DOUBLES(a, n, &r->std, &r->std_curvature, &r->std_robust, &r->lower, &r->upper, &r->estimates.other,
                     &r->estimates.other_std);
    FIT_TAKE_DOUBLES(a, n * n, &r->covariance, &r->covariance_robust, &r->paraboloid, &r->paraboloid_robust,
                     &r->correlation);
    FIT_TAKE_DOUBLES(a, ng, &r->sigma, &r->against, &r->local);
    FIT_TAKE_DOUBLES(a, ng * r->nlinear, &r->lin);
    FIT_TAKE_DOUBLES(a, r->nlinear, &r->spread);
    FIT_TAKE_DOUBLES(a, r->ncombination, &r->combination, &r->combination_std);
    r->likelihood = fit_take(a, r->nlikelihood, sizeof *r->likelihood);
    r->interval = fit_take(a, n, sizeof *r->interval);
    r->residual = fit_take(a, ng, sizeof *r->residual);
    r->speckle = fit_take(a, ng, sizeof *r->speckle);
    r->at_bound = fit_take(a, n, sizeof *r->at_bound);
    r->reason = fit_take(a, n, sizeof *r->reason);
    r->degenerate = fit_take(a, r->room_degenerate, sizeof *r->degenerate);
    r->rate = fit_take(a, r->room_rate, sizeof *r->rate);
    r->derived = fit_take(a, r->nderived, sizeof *r->derived);
    for (size_t k = 0; r->derived && k < r->nderived; k++)
        r->derived[k].gradient = fit_take(a, n, sizeof *r->derived->gradient);
    r->starts = fit_take(a, r->nstart, sizeof *r->starts);
    for (size_t k = 0; r->starts && k < r->nstart; k++)
        r->starts[k].theta = fit_take(a, p, sizeof *r->starts->theta);
    r->minima = fit_take(a, r->room_minimum, sizeof *r->minima);
    for (size_t k = 0; r->minima && k < r->room_minimum; k++)
        r->minima[k].theta = fit_take(a, p, sizeof *r->minima->theta);
}

/* Number of minima that exploring the cost may add. */
enum { MORE_MINIMA = 8 };

static enum fit_status result_new(struct fit_ls *f)
{
    struct fit_result *r = f->res;
    r->nparam = r->aliased = f->p;
    r->nlinear = f->q;
    r->ngroup = f->ng;
    r->nfull = f->p + f->ng * f->q;
    r->nlikelihood = f->opt->nlikelihood;
    r->nstart = f->nstart;
    r->nminimum = f->nminimum;
    r->room_minimum = f->nminimum + MORE_MINIMA;
    r->room_degenerate = f->kernel->ndegeneracy + 1;
    r->ncombination = f->kernel->ncombination;
    r->room_rate = f->kernel->nrate;
    r->speckle_test = (struct fit_speckle_test){.p = NAN, .chi2 = NAN, .z = NAN, .group = -1};
    r->estimates = (struct fit_estimates){.used = FIT_ESTIMATOR_LEAST_SQUARES, .p = NAN, .chi2 = NAN,
                                           .groups_p = NAN, .groups_chi2 = NAN};
    r->nderived = fit_derived_count(f->kernel, f->ng);
    lay_out(r);
    if (r->storage_.failed)
        return fit_no_memory(f->err, "fit");
    for (size_t k = 0; k < r->nderived; k++)
        r->derived[k].which = fit_derived_which(f->kernel, f->ng, k, &r->derived[k].group);
    for (size_t k = 0; k < f->nstart; k++) {
        double *theta = r->starts[k].theta;
        memcpy(theta, f->starts[k].theta, f->p * sizeof *theta);
        r->starts[k] = f->starts[k];
        r->starts[k].theta = theta;
    }
    for (size_t k = 0; k < f->nminimum; k++) {
        double *theta = r->minima[k].theta;
        memcpy(theta, f->minima[k].theta, f->p * sizeof *theta);
        r->minima[k] = f->minima[k];
        r->minima[k].theta = theta;
    }
    return FIT_OK;
}

void fit_result_free(struct fit_result *res)
{
    if (!res)
        return;
    fit_arena_free(&res->storage_);
    *res = (struct fit_result){0};
}

static enum fit_status run_new(struct fit_ls *f)
{
    struct fit_arena *a = &f->storage;
    const size_t n = f->p, e = f->ng * f->q;
    FIT_TAKE_DOUBLES(a, n, &f->lower, &f->upper, &f->start, &f->theta, &f->best, &f->began_at, &f->open_lower,
                     &f->open_upper, &f->better, &f->g, &f->before);
    FIT_TAKE_DOUBLES(a, n * n, &f->B, &f->second);
    FIT_TAKE_DOUBLES(a, e, &f->linear, &f->save);
    FIT_TAKE_DOUBLES(a, f->ng, &f->factor);
    f->local = fit_take(a, f->ng, sizeof *f->local);
    f->axis = fit_take(a, 4 * n + fit_boxqp_work(n), sizeof *f->axis);
    f->axis_state = fit_take(a, n, sizeof *f->axis_state);
    if (!f->opt->brief || f->opt->nlikelihood)
        fit_evidence_new(&f->evidence, n, n + e, a);
    f->nlsq = fit_nlsq_new(f->p);
    return a->failed || !f->nlsq ? fit_no_memory(f->err, "fit") : FIT_OK;
}

/* ---- options --------------------------------------------------------------------------------- */

static double given(const double *array, size_t k, double otherwise)
{
    return array && !isnan(array[k]) ? array[k] : otherwise;
}

static enum fit_status check_parameter(struct fit_ls *f, size_t k, int *moved)
{
    const struct fit_param *par = &f->kernel->param[k];
    double lo = given(f->opt->lower, k, par->lower), hi = given(f->opt->upper, k, par->upper);
    double x = given(f->opt->start, k, par->start);
    lo = isnan(lo) ? -INFINITY : lo;
    hi = isnan(hi) ? INFINITY : hi;
    if (!(lo <= hi))
        return fit_fail(f->err, FIT_ERR_CONFIG, "%s: lower bound %g lies above the upper bound %g",
                        par->name, lo, hi);
    if (f->opt->fixed && f->opt->fixed[k]) {
        if (!isfinite(x))
            return fit_fail(f->err, FIT_ERR_CONFIG,
                            "%s is held fixed, but no value is given for it", par->name);
        lo = hi = x;
    }
    if (!isfinite(x))
        x = isfinite(lo) && isfinite(hi) ? 0.5 * (lo + hi)
            : isfinite(lo)               ? lo
            : isfinite(hi)               ? hi
                                         : 0;
    *moved |= x < lo || x > hi;
    f->start[k] = fmin(fmax(x, lo), hi);
    f->lower[k] = lo;
    f->upper[k] = hi;
    return FIT_OK;
}

static enum fit_status check_options(struct fit_ls *f)
{
    const struct fit_options *o = f->opt;
    int moved = 0, any = 0;
    for (size_t k = 0; k < f->p; k++) {
        enum fit_status st = check_parameter(f, k, &moved);
        if (st != FIT_OK)
            return st;
        any |= o->start && !isnan(o->start[k]);
    }
    snprintf(f->origin, sizeof f->origin, "%s%s", o->start_origin ? o->start_origin : any ? "given" : "model",
             moved ? ", moved into the bounds" : "");
    if (o->loss != FIT_LOSS_LINEAR && o->nlikelihood)
        return fit_fail(f->err, FIT_ERR_CONFIG, "profile: with loss linear only");
    for (size_t k = 0; k < o->nlikelihood; k++)
        if (o->likelihood[k] >= f->p + f->ng * f->q + fit_derived_count(f->kernel, f->ng))
            return fit_fail(f->err, FIT_ERR_INTERNAL, "profile: there is no parameter %zu", o->likelihood[k]);
    if (f->kernel->density && o->loss != FIT_LOSS_LINEAR)
        return fit_fail(f->err, FIT_ERR_CONFIG, "loss %s: not for the noise distribution of this model, %s; for "
                                                "outliers write noise = student_t { } in the model",
                        fit_loss_name(o->loss), f->kernel->density->name);
    if (o->loss != FIT_LOSS_LINEAR && !(o->f_scale > 0))
        return fit_fail(f->err, FIT_ERR_CONFIG,
                        "f_scale: %g is not possible; give a positive number", o->f_scale);
    for (size_t g = 0; o->sigma && g < f->ng; g++)
        if (!(o->sigma[g] > 0) || !isfinite(o->sigma[g]))
            return fit_fail(f->err, FIT_ERR_CONFIG,
                            "sigma of group %zu: %g is not possible; give a positive number", g + 1,
                            o->sigma[g]);
    return FIT_OK;
}

/* Constant scaling without values: those of one variable projection at the start. */
static enum fit_status constant_values(struct fit_ls *f)
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

/* ---- the end --------------------------------------------------------------------------------- */

static size_t count_free(const struct fit_ls *f)
{
    size_t n = f->obj->nu;
    for (size_t u = 0; u < f->obj->nu; u++)
        n -= !(f->obj->upper[u] > f->obj->lower[u]);
    for (size_t k = 0; k < f->p; k++)
        n += f->upper[k] > f->lower[k];
    return n;
}

static void fill_bounds(struct fit_ls *f)
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

static void tell_end(struct fit_ls *f, const struct fit_outcome *o)
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

/* Below this part of the data's sum of squares, residuals are the rounding of exact data. */
static const double EXACT = 1e-24;

/* Small tables: steps with the whole Jacobian. p->n = 0: the fit is unchanged. */
static enum fit_status polish(struct fit_ls *f, struct fit_outcome *o, struct fit_polish *p)
{
    *p = (struct fit_polish){0};
    if (!isnan(f->robust) || fit_word_ends(o->word) || !fit_polish_suits(f->obj) ||
        fit_objective_value(f->obj, f->best) != FIT_EVAL_OK)
        return FIT_OK;
    struct fit_polish_spec spec = {f->obj, f->best, f->lower, f->upper, f->dof, f->noise};
    enum fit_status st = fit_polish(&spec, p, f->err);
    if (st != FIT_OK || p->n == 0)
        return st;
    double square = f->obj->data_square + f->obj->reference_square;
    memcpy(f->best, p->theta, f->p * sizeof *f->best);
    o->gradient = p->gradient;
    if (p->gradient <= f->opt->gtol) {
        o->word = FIT_CONVERGED_GRADIENT;
        o->reason = "the gradient is zero to the accuracy asked for";
    } else if (p->gradient > 0.1 && p->chi2 > EXACT * square) {
        /* the sums over the data showed none of it */
        o->word = FIT_FAILED;
        o->reason = "the parameters depend on one another so strongly that no step leads further";
    }
    return FIT_OK;
}

/* Value and derivatives at the end. */
static enum fit_status last_pass(struct fit_ls *f)
{
    int robust = !isnan(f->robust);
    enum fit_eval e = robust ? fit_ls_robust_normal(f) : fit_objective_value(f->obj, f->best);
    if (e == FIT_EVAL_OK && !robust)
        e = fit_objective_normal(f->obj, f->best, f->B, f->g);
    if (e == FIT_EVAL_OK)
        return FIT_OK;
    char row[400];
    if (e == FIT_EVAL_STOP)
        return fit_fail(f->err, FIT_ERR_INTERRUPTED, "fit: interrupted");
    if (fit_ls_blame(f, f->best, row, sizeof row))
        return fit_fail(f->err, FIT_ERR_NUMERIC, "fit: %s", row);
    return fit_fail(f->err, FIT_ERR_NUMERIC, "fit: derivatives are not finite at the optimum");
}

/* Costs, and the variance by which (J^T J)^-1 is multiplied. */
static double fill_costs(struct fit_ls *f, double square, double cost)
{
    const struct fit_result *r = f->res;
    fit_ls_costs(f, square, cost);
    return !isnan(f->robust)                 ? f->huber
           : r->noise == FIT_NOISE_RESIDUALS ? r->residual_variance
           : r->noise == FIT_NOISE_GIVEN     ? f->unit
                                             : 1;
}

/* The results of the last steps, which are more accurate than sums over the data: one group. */
static enum fit_status take_polished(struct fit_ls *f, const struct fit_polish *p, double *variance)
{
    struct fit_result *r = f->res;
    for (size_t j = 0; j < p->nlin; j++) {
        size_t q = p->column[j] - f->p;
        r->lin[q] = p->lin[q] + ((int)q == f->kernel->intercept ? f->ds->reference[0] : 0);
    }
    r->sigma_common = r->sigma[0] = sqrt(p->chi2 / f->dof);
    *variance = fill_costs(f, p->chi2, p->chi2 / 2);
    return fit_polish_covariance(p, *variance, r, f->err);
}

/* Errors for correlated noise; none for too few values. */
static enum fit_status robust_errors(struct fit_ls *f, double variance)
{
    const int robust = !isnan(f->robust), wanted = f->kernel->points && !f->kernel->density && !f->opt->brief;
    const struct fit_aliases_spec aliases = {f->kernel, &f->ds->layout, f->best, f->lower, f->upper, f->obj->lin};
    if (wanted && fit_aliases(&aliases, &f->res->aliased))
        return fit_fail(f->err, FIT_ERR_MEMORY, "fit: out of memory");
    struct fit_sandwich_spec spec = {.obj = f->obj,
                                     .theta = f->best,
                                     .lower = f->lower,
                                     .upper = f->upper,
                                     .B = f->B,
                                     .variance = variance,
                                     .loss = {robust ? f->opt->loss : FIT_LOSS_LINEAR, f->opt->f_scale, f->local},
                                     .curve = robust ? f->curve : 1,
                                     .aliased = f->res->aliased < f->p ? f->kernel->param[f->res->aliased].name : NULL,
                                     .length = f->opt->cluster_length,
                                     .noise_model = f->opt->noise_model,
                                     .joint = f->opt->cluster_joint};
    if (wanted && f->ds->npoint > f->res->nfree)
        return fit_sandwich(&spec, f->res, f->err);
    f->res->misfit.p = NAN;
    for (size_t k = 0; k < f->res->nfull; k++)
        f->res->std_robust[k] = NAN;
    for (size_t k = 0; k < f->res->nfull * f->res->nfull; k++)
        f->res->covariance_robust[k] = NAN;
    return FIT_OK;
}

static void tell_phase(const struct fit_ls *f, const char *phase)
{
    const struct fit_progress p = {.phase = phase};
    if (f->opt->progress)
        f->opt->progress(f->opt->progress_user, &p);
}

/* Are the errors those of the cost itself? */
static enum fit_status hold_against_cost(struct fit_ls *f, int robust, double variance)
{
    enum fit_eval e = robust ? fit_ls_robust_paraboloid(f, &variance) : FIT_EVAL_OK;
    if (e != FIT_EVAL_OK)
        return fit_fail(f->err, e == FIT_EVAL_STOP ? FIT_ERR_INTERRUPTED : FIT_ERR_NUMERIC,
                        e == FIT_EVAL_STOP ? "fit: interrupted" : "fit: the robust cost is not finite at its minimum");
    enum fit_status st = fit_profile_errors(f, variance);
    if (robust)
        f->found_lower = 0; /* of the paraboloid's, not of the robust cost's */
    return st;
}

/* A point of lower cost, found during the computation of errors, is the start of another fit; at most so often. */
enum { BETTERED = 3 };

/* Errors at f->best. Exploring the cost around it may find a lower one (f->found_lower). */
static enum fit_status find_errors(struct fit_ls *f, struct fit_outcome *o)
{
    struct fit_result *r = f->res;
    struct fit_polish polished;
    r->ndegenerate = 0;
    f->evidence.n = 0;
    r->nminimum = f->nminimum;
    enum fit_status st = polish(f, o, &polished);
    if (st != FIT_OK || (st = last_pass(f)) != FIT_OK)
        goto done;
    memcpy(r->theta, f->best, f->p * sizeof *r->theta);
    memcpy(r->normal_matrix, f->B, f->p * f->p * sizeof *f->B);
    fill_bounds(f);
    int robust = !isnan(f->robust);
    double cost = f->obj->cost - f->obj->penalty - f->obj->offset;
    double variance = fill_costs(f, robust ? f->square : 2 * cost, robust ? f->robust : cost);
    struct fit_covariance_spec spec = {f->obj, f->best, f->lower, f->upper, f->B, variance};
    if ((st = fit_derived_values(f->kernel, &f->ds->layout, r, f->err)) != FIT_OK ||
        (st = fit_covariance(&spec, r, f->err)) != FIT_OK ||
        (polished.n > 0 && (st = take_polished(f, &polished, &variance)) != FIT_OK) ||
        (st = fit_degeneracies(f->kernel, &f->ds->layout, variance, r, f->err)) != FIT_OK ||
        (st = robust_errors(f, variance)) != FIT_OK || (st = fit_ls_goodness(f)) != FIT_OK)
        goto done;
    fit_profile_none(r);
    const int ended = f->kernel->space == FIT_PAIRS ? !fit_word_ends(o->word) : o->word <= FIT_CONVERGED_STEP;
    if (!f->opt->brief && ended &&
        (st = hold_against_cost(f, robust, variance)) != FIT_OK)
        goto done;
    if ((st = fit_rate_values(f->kernel, &f->ds->layout, variance, r, f->err)) != FIT_OK ||
        (st = fit_derived_values(f->kernel, &f->ds->layout, r, f->err)) != FIT_OK || /* lin has changed, perhaps */
        (st = fit_derived_errors(f->kernel, &f->ds->layout, r, f->err)) != FIT_OK)
        goto done;
done:
    fit_polish_free(&polished);
    return st;
}

/* Marks the minima that the data do not distinguish from the best. */
static void judge_minima(struct fit_ls *f)
{
    struct fit_result *r = f->res;
    double limit[2], wider = fit_profile_widest(r);
    fit_likelihood_limits(f, 0, limit);
    for (size_t k = 0; k < r->nminimum; k++)
        r->minima[k].inside = k == 0 || r->minima[k].above < pow(wider * limit[1], 2);
}

static enum fit_status finish(struct fit_ls *f, struct fit_outcome *o)
{
    struct fit_result *r = f->res;
    double t = fit_seconds();
    enum fit_status st;
    tell_phase(f, "errors of the parameters");
    for (int turn = 0; (st = find_errors(f, o)) == FIT_OK && f->found_lower && turn < BETTERED; turn++) {
        f->found_lower = 0;
        memcpy(f->theta, f->better, f->p * sizeof *f->theta);
        fit_ls_optimise(f, f->theta, f->opt->max_iterations);
        if (f->nlsq->cost < o->cost)
            fit_ls_keep(f, o);
    }
    if (st != FIT_OK)
        return st;
    judge_minima(f);
    tell_end(f, o);
    for (size_t k = 0; k < r->nlikelihood && !fit_word_ends(o->word); k++) {
        if (f->opt->likelihood[k] >= r->nfull) {
            st = fit_derived_profile(f, f->opt->likelihood[k] - r->nfull, r->variance, &r->likelihood[k]);
            if (st != FIT_OK)
                return st;
            continue;
        }
        if ((st = fit_likelihood_curve(f, f->opt->likelihood[k], r->variance, &f->evidence,
                                       &r->likelihood[k])) != FIT_OK)
            return st;
        fit_likelihood_limits(f, r->likelihood[k].one_sided, r->likelihood[k].limit);
        for (int i = 0; i < 2; i++)
            r->likelihood[k].limit[i] *= r->interval[f->opt->likelihood[k]].wider;
    }
    memcpy(r->start, f->began_at, f->p * sizeof *r->start);
    memcpy(r->start_origin, o->origin, sizeof r->start_origin);
    r->threads = fit_objective_threads(f->obj);
    r->seconds.covariance = fit_seconds() - t;
    return FIT_OK;
}

static enum fit_status run_all(struct fit_ls *f)
{
    struct fit_result *r = f->res;
    struct fit_outcome o;
    enum fit_status st;
    double t = fit_seconds();
    if ((st = check_options(f)) != FIT_OK || (st = constant_values(f)) != FIT_OK ||
        (st = fit_objective_new(f->kernel, f->ds, &f->setup, &f->obj, f->err)) != FIT_OK)
        return st;
    size_t nfree = count_free(f);
    if (f->ds->npoint <= nfree && !f->opt->few_data_allowed)
        return fit_fail(f->err, FIT_ERR_DATA,
                        "fit: %zu data points for %zu free parameters; give more data or "
                        "fix parameters",
                        f->ds->npoint, nfree);
    f->dof = f->ds->npoint > nfree ? (double)(f->ds->npoint - nfree) : 1;
    f->noise = f->ds->weighted ? 1 : 0;
    f->unit = 1;
    if (f->kernel->density)
        f->noise = 1;
    else if (f->opt->sigma && !f->ds->weighted)
        fit_ls_known_sigmas(f);
    if ((st = fit_ls_hold(f)) != FIT_OK || (st = fit_ls_minimum(f, &o)) != FIT_OK || (st = result_new(f)) != FIT_OK)
        return st;
    r->nfree = nfree;
    r->npoint = f->ds->npoint;
    if ((st = fit_ls_noise(f, &o)) != FIT_OK)
        return st;
    if (f->opt->loss != FIT_LOSS_LINEAR && !fit_word_ends(o.word) && (st = fit_ls_robust(f, &o)) != FIT_OK)
        return st;
    for (size_t q = 0; q < f->q; q++)
        r->spread[q] = NAN;
    if (f->opt->scaling == FIT_SCALING_HIERARCHICAL && !fit_word_ends(o.word) &&
        (st = fit_ls_hierarchy(f, &o)) != FIT_OK)
        return st;
    fit_ls_release(f);
    r->seconds.fit = fit_seconds() - t - r->seconds.start;
    return finish(f, &o);
}

static void release(struct fit_ls *f)
{
    fit_objective_free(f->thin_obj);
    fit_dataset_free(f->thin);
    fit_objective_free(f->obj);
    fit_nlsq_free(f->nlsq);
    fit_candidates_free(&f->list);
    fit_arena_free(&f->storage);
}

struct fit_ls fit_ls_begin(const struct fit_kernel *kernel, const struct fit_dataset *ds, const struct fit_options *opt,
                           struct fit_result *res, struct fit_error *err)
{
    struct fit_ls f = {.kernel = kernel, .ds = ds, .opt = opt, .res = res, .err = err, .robust = NAN, .huber = 1};
    f.p = kernel->nparam;
    f.q = kernel->nlinear;
    f.ng = ds->layout.ngroup;
    f.began = fit_ranks_seconds();
    f.deadline = opt->max_seconds > 0 ? f.began + opt->max_seconds : 0;
    f.setup = (struct fit_objective_setup){.scaling = opt->scaling < FIT_SCALING_FOURIER ? opt->scaling
                                                                                         : FIT_SCALING_INDIVIDUAL,
                                           .linear_lower = opt->linear_lower,
                                           .linear_upper = opt->linear_upper,
                                           .linear_fixed = opt->linear_fixed,
                                           .linear_start = opt->linear_start,
                                           .linear_class = opt->linear_class,
                                           .threads = opt->threads,
                                           .interrupt = opt->interrupt};
    return f;
}

enum fit_status fit_run(const struct fit_kernel *kernel, const struct fit_dataset *ds,
                        const struct fit_options *opt, struct fit_result *res,
                        struct fit_error *err)
{
    *res = (struct fit_result){0};
    if (kernel->abi != FIT_KERNEL_ABI)
        return fit_fail(err, FIT_ERR_INTERNAL, "%s: kernel of interface %u, the runtime speaks %d",
                        kernel->name, kernel->abi, FIT_KERNEL_ABI);
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_SOLVE);
    struct fit_ls f = fit_ls_begin(kernel, ds, opt, res, err);
    enum fit_status st = run_new(&f);
    if (st == FIT_OK)
        st = run_all(&f);
    if (st == FIT_OK)
        st = fit_efficient(&f);
    res->seconds.total = fit_ranks_seconds() - f.began;
    release(&f);
    if (st != FIT_OK)
        fit_result_free(res);
    fit_clock_enter(was);
    return st;
}
