/* efficient.c -- see efficient.h. */
#include "fit/efficient.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "errors/rate_value.h"
#include "errors/speckle_errors.h"
#include "fit/efficient_ends.h"
#include "fit/fit.h"
#include "leastsquares/covariance.h"
#include "math/linalg.h"
#include "math/special.h"
#include "ranks/ranks.h"

/* Probability below which the two estimates differ by more than chance. At 1 % the false alarms alone, which return
 * to least-squares estimates that are far off, would add half of the variance of efficient estimates for few decays. */
static const double DIFFER = 1e-4;
static const double HOPELESS = 1e-40; /* p of the test of fit so low that other estimates cannot make it acceptable */
static const double AGAIN = 0.2; /* p above which it is accepted: its value at the estimates does not matter at 1 %
                                  * then */
static const double NO_DIFFERENCE = 0.01; /* relative difference of variances below which both estimates count as the
                                           * same */

enum { TURNS = 8 }; /* of the reference to the estimates */
static const double NEAR = 0.5, SAME_CONTRAST = 0.02; /* errors; part of the contrast: where it need not move again */
static const double KNOWN = 100; /* degrees of freedom of noise that is known: M of one angle to 14 % */

static const char *const OUT_OF_TIME = "the time limit was reached";

struct job {
    struct fit_ls *f;
    struct fit_result *res;      /* of least squares */
    size_t p, q, ng, n, P;       /* n: of the full vector; P: parameters of a group */
    double *theta, *lin;         /* reference */
    double *H;                   /* n x n: (J^T J)^-1 of least squares at the reference; 0 for what is held */
    double *B, *g;               /* p x p, p: of their cost at the reference */
    double *S, *V, *A, *both;    /* n x n: covariance of sums; of least squares, of efficient estimates, of both */
    double *temporary;
    size_t *class;
    unsigned char *fixed, *held; /* q; p */
    double *start;               /* p */
    double *share; /* P: for each parameter the fraction that the residuals of a group have absorbed */
    struct fit_speckle_noise *noise; /* ng */
    struct fit_objective *obj;
    struct fit_scores scores;        /* at the reference */
    struct fit_speckle_kernel *made;
    struct fit_result found;
    struct fit_arena storage;
};

static int time_is_up(const struct fit_ls *f)
{
    return f->deadline > 0 && fit_ranks_seconds() > f->deadline;
}

/* ---- applicability -------------------------------------------------------------------------------------- */

/* Why there are no efficient estimates; NULL: there may be. */
static const char *unsuited(const struct fit_ls *f)
{
    const struct fit_result *r = f->res;
    if (f->kernel->space != FIT_PAIRS || f->kernel->density || !f->kernel->points || f->kernel->intercept < 0)
        return "they are for two-time models with a baseline";
    if (f->opt->loss != FIT_LOSS_LINEAR)
        return "they are for the linear loss";
    if (f->opt->scaling == FIT_SCALING_HIERARCHICAL)
        return "not with hierarchical scaling";
    if (f->ds->weighted || f->opt->sigma)
        return "the errors of the values are given, and are taken for independent";
    for (size_t k = 0; k < f->opt->nlikelihood; k++)
        if (f->opt->likelihood[k] >= r->nfull)
            return "profiles of derived quantities are those of least squares";
    if (f->ds->files)
        return "they are of one data file";
    if (f->opt->cluster_joint)
        return "groups share their noise";
    if (f->opt->noise_model.kind == FIT_NOISE_KIND_MONITOR)
        return "frames were divided by a monitor";
    if (time_is_up(f))
        return OUT_OF_TIME;
    if (!r->converged)
        return "least squares did not converge";
    if (r->robust.kind == FIT_ROBUST_WHITE)
        return "no noise that pairs of frames share is seen, and for independent noise least squares are efficient";
    if (r->nnull > 0 || r->ndegenerate > 0)
        return "the data do not determine all parameters";
    return NULL;
}

/* The same for what the noise revealed: *text, 1: there may be none. Where only the test of fit objects, it is
 * repeated at the efficient estimates: those of least squares may be far from the truth, where derivatives differ. */
static int unknown_noise(const struct fit_ls *f, char *text, size_t size)
{
    const struct fit_robust *x = &f->res->robust;
    if (x->closed || (x->misfit && f->res->speckle_test.p > HOPELESS))
        return 0;
    const char *why = x->misfit ? NULL : x->not_closed;
    snprintf(text, size, "the noise is not known to be that of speckles of this model%s%s%s", why && *why ? ": " : "",
             why ? why : "", x->misfit ? ": the structure of the residuals is another" : "");
    return 1;
}

/* ---- the reference ------------------------------------------------------------------------------------------ */

static enum fit_status no_memory(struct job *j)
{
    return fit_no_memory(j->f->err, "efficient estimates");
}

static enum fit_status job_new(struct job *j)
{
    struct fit_arena *a = &j->storage;
    FIT_TAKE_DOUBLES(a, j->n, &j->theta);
    j->lin = j->theta + j->p;
    FIT_TAKE_DOUBLES(a, j->p * j->p, &j->B);
    FIT_TAKE_DOUBLES(a, j->p, &j->g);
    FIT_TAKE_DOUBLES(a, j->n * j->n, &j->H, &j->A, &j->temporary, &j->S, &j->V, &j->both);
    j->class = fit_take(a, j->ng * j->q, sizeof *j->class);
    j->fixed = fit_take(a, j->q, sizeof *j->fixed);
    j->held = fit_take(a, j->p, sizeof *j->held);
    FIT_TAKE_DOUBLES(a, j->p, &j->start);
    FIT_TAKE_DOUBLES(a, j->P, &j->share);
    j->noise = fit_take_copy(a, j->res->speckle, j->ng, sizeof *j->noise);
    if (a->failed)
        return no_memory(j);
    memcpy(j->theta, j->res->theta, j->p * sizeof *j->theta);
    memcpy(j->lin, j->res->lin, j->ng * j->q * sizeof *j->lin);
    return FIT_OK;
}

static void job_free(struct job *j)
{
    fit_speckle_kernel_free(j->made);
    fit_objective_free(j->obj);
    fit_scores_free(&j->scores);
    fit_result_free(&j->found);
    fit_arena_free(&j->storage);
}

/* Sets the model at the reference: its baseline is subtracted, so that lin may be in the units of the data. */
static struct fit_speckle_model model_at(const struct job *j)
{
    return (struct fit_speckle_model){j->f->kernel, &j->f->ds->layout, j->obj->ws, j->lin};
}

/* Groups that share a linear parameter, and which of them are held. */
static void find_classes(struct job *j)
{
    const struct fit_objective *o = j->obj;
    for (size_t e = 0; e < j->ng * j->q; e++) {
        j->class[e] = o->map[e] < 0 ? 0 : (size_t)o->map[e];
        j->fixed[e % j->q] |= o->map[e] < 0;
    }
    for (size_t e = 0; e < j->P; e++)
        j->share[e] = e >= j->p ? !j->fixed[e - j->p] : j->res->upper[e] > j->res->lower[e] ? 1 / (double)j->ng : 0;
}

/* Contrast and decay of the model at theta and lin; 0: the model cannot have speckle noise. */
static int look_at_model(struct job *j)
{
    const struct fit_speckle_model m = model_at(j);
    for (size_t g = 0; g < j->ng; g++) {
        struct fit_speckle_noise x;
        const char *why;
        if (!fit_speckle_suits(&m, g, &x, &why) || !(x.contrast > 0))
            return 0;
        j->noise[g].contrast = x.contrast;
        j->noise[g].frames = x.frames;
    }
    return 1;
}

static enum fit_status evaluated(const struct job *j, enum fit_eval e)
{
    if (e == FIT_EVAL_OK)
        return FIT_OK;
    return fit_fail(j->f->err, e == FIT_EVAL_STOP ? FIT_ERR_INTERRUPTED : FIT_ERR_NUMERIC,
                    e == FIT_EVAL_STOP ? "fit: interrupted" : "fit: the model is not finite");
}

/* Objective, sums by blocks and kernel at theta and lin. */
static enum fit_status look(struct job *j)
{
    struct fit_ls *f = j->f;
    struct fit_objective_setup setup = f->setup;
    const struct fit_score_loss loss = {FIT_LOSS_LINEAR, 1, NULL};
    double *D = NULL;
    enum fit_status st = FIT_OK;
    FIT_SCRATCH(a);
    FIT_TAKE_DOUBLES(&a, j->n * j->n, &D);
    fit_speckle_kernel_free(j->made);
    fit_objective_free(j->obj);
    j->made = NULL;
    j->obj = NULL;
    setup.linear_start = j->lin;
    if (a.failed)
        st = no_memory(j);
    else if ((st = fit_objective_new(f->kernel, f->ds, &setup, &j->obj, f->err)) == FIT_OK) {
        const enum fit_eval e = fit_objective_value(j->obj, j->theta);
        st = evaluated(j, e == FIT_EVAL_OK ? fit_objective_prepare(j->obj, j->theta, 1) : e);
    }
    if (st == FIT_OK)
        st = fit_scores_new(j->obj, &loss, D, 1, &j->scores, f->err);
    if (st != FIT_OK)
        return st;
    if (!look_at_model(j))
        return fit_fail(f->err, FIT_ERR_NUMERIC, "fit: the model's contrast is gone");
    find_classes(j);
    const struct fit_speckle_reference at = {j->obj, &j->scores, j->lin, j->noise, f->opt->noise_model,
                                             j->share, fit_objective_threads(j->obj)};
    return fit_speckle_kernel_new(&at, &j->made, f->err);
}

/* ---- the fit ------------------------------------------------------------------------------------------------ */

/* 1: all intervals of least squares are quadratic. */
static int straight(const struct fit_result *r)
{
    for (size_t k = 0; k < r->nfull; k++)
        if (r->interval[k].known)
            return 0;
    return 1;
}

/* Options of the fit of the kernel from `start`. */
static struct fit_options options_of(const struct job *j, const double *start)
{
    struct fit_options inner = *j->f->opt;
    inner.estimator = FIT_ESTIMATOR_LEAST_SQUARES;
    inner.scaling = FIT_SCALING_INDIVIDUAL;
    inner.start = start;
    inner.linear_start = j->lin;
    inner.linear_fixed = j->fixed;
    inner.linear_class = j->class;
    inner.start_only = 1;
    inner.global = 0;
    inner.multi_start = 0;
    inner.nlikelihood = 0;
    inner.brief = 1;
    inner.progress = NULL;
    if (j->f->deadline > 0)
        inner.max_seconds = fmax(j->f->deadline - fit_ranks_seconds(), 1e-3);
    inner.few_data_allowed = 1;
    inner.of_pairs = 1;
    return inner;
}

/* The fit; last: also compares errors with the cost, where that of least squares is not quadratic. */
static enum fit_status solve(struct job *j, const double *start, int last, struct fit_result *out)
{
    struct fit_options inner = options_of(j, start);
    inner.nlikelihood = last ? j->f->opt->nlikelihood : 0;
    inner.brief = !last || straight(j->res);
    return fit_run(&j->made->kernel, j->made->ds, &inner, out, j->f->err);
}

/* The fit with parameter k at v. */
static enum fit_status solve_held(void *user, size_t k, double v, struct fit_result *out)
{
    struct job *j = user;
    struct fit_options inner = options_of(j, j->start);
    memcpy(j->start, j->found.theta, j->p * sizeof *j->start);
    for (size_t e = 0; e < j->p; e++)
        j->held[e] = e == k || !(j->found.upper[e] > j->found.lower[e]);
    j->start[k] = v;
    inner.fixed = j->held;
    return fit_run(&j->made->kernel, j->made->ds, &inner, out, j->f->err);
}

/* Ends of intervals with the noise there, where the cost was explored and the noise is not well known: for few
 * decays, in which it changes within an interval. */
static enum fit_status move_ends(struct job *j)
{
    const double freedom = fit_speckle_freedom(j->noise, j->ng);
    if (straight(j->res) || freedom >= KNOWN)
        return FIT_OK;
    unsigned char open[j->p + 1];
    for (size_t e = 0; e < j->p; e++)
        open[e] = j->found.upper[e] > j->found.lower[e];
    struct fit_speckle_rise *rise = fit_speckle_rise_new(
        &(struct fit_speckle_rise_spec){j->made, j->noise, j->class, j->fixed, open});
    if (!rise)
        return no_memory(j);
    const struct fit_efficient_ends ends = {rise, &j->found, freedom, solve_held, j};
    const enum fit_status st = fit_efficient_ends(&ends);
    fit_speckle_rise_free(rise);
    return st;
}

/* The same from all minima of the sum of squares that the data do not distinguish from the best; keeps the lowest. */
static enum fit_status solve_from_all(struct job *j)
{
    const struct fit_result *r = j->res;
    enum fit_status st = solve(j, j->theta, 0, &j->found);
    for (size_t k = 1; st == FIT_OK && k < r->nminimum; k++) {
        struct fit_result other;
        if (!r->minima[k].inside)
            continue;
        if ((st = solve(j, r->minima[k].theta, 0, &other)) != FIT_OK)
            break;
        if (other.cost < j->found.cost) {
            const struct fit_result swap = j->found;
            j->found = other;
            other = swap;
        }
        fit_result_free(&other);
    }
    return st;
}

/* Linear parameter q of group g in the form of the kernel. */
static double as_kernel(const struct job *j, const double *lin, size_t g, size_t q)
{
    const struct fit_objective *o = j->obj;
    return lin[g * j->q + q] - fit_objective_linear(o, g, q) + o->lin[g * j->q + q];
}

/* Sum of squares of all values at theta, at which the last value was computed, and lin. */
static double square_at(const struct job *j, const double *lin)
{
    const size_t q = j->q, each = q * (q + 1) / 2 + q + 1;
    double all = 0;
    for (size_t g = 0; g < j->ng; g++) {
        const double *m = j->obj->moment + g * each, *v = m + q * (q + 1) / 2;
        double sum = v[q];
        for (size_t a = 0; a < q; a++) {
            const double x = as_kernel(j, lin, g, a);
            sum -= 2 * v[a] * x;
            for (size_t b = a; b < q; b++)
                sum += (a == b ? 1 : 2) * x * as_kernel(j, lin, g, b) * *m++;
        }
        all += sum * fit_score_factor(j->f->obj, g);
    }
    return all;
}

/* ---- comparison of both estimates ----------------------------------------------------------------------- */

/* Index of element e of group g in the full vector. */
static size_t place(const struct job *j, size_t g, size_t e)
{
    return e < j->p ? e : j->p + g * j->q + e - j->p;
}

/* out <- H S B for symmetric H and B. */
static void product(const struct job *j, const double *B, double *out)
{
    fit_multiply(j->n, j->n, j->n, j->H, j->S, j->n, j->temporary);
    fit_multiply(j->n, j->n, j->n, j->temporary, B, j->n, out);
}

/* S <- covariance of the sums of least squares, or their covariance with the equations of the efficient estimates. */
static void add_up(struct job *j, int with)
{
    const size_t P = j->P, PP = P * P;
    memset(j->S, 0, j->n * j->n * sizeof *j->S);
    for (size_t g = 0; g < j->ng; g++) {
        const double factor = fit_score_factor(j->obj, g);
        const double *plain = j->made->plain + g * PP, *cross = j->made->cross + g * PP;
        const double *slope = j->made->slope + g * PP;
        for (size_t a = 0; a < P; a++)
            for (size_t b = 0; b < P; b++) {
                double sum = 0;
                for (size_t row = 0; with && row < P; row++)
                    sum += cross[row * P + a] * slope[row * P + b];
                j->S[place(j, g, a) * j->n + place(j, g, b)] += factor * (with ? sum : factor * plain[a * P + b]);
            }
    }
}

/* Covariances of both estimates at the reference. */
static void find_covariances(struct job *j)
{
    for (size_t k = 0; k < j->n * j->n; k++)
        j->A[k] = isnan(j->found.paraboloid[k]) ? 0 : j->found.paraboloid[k];
    add_up(j, 0);
    product(j, j->H, j->V);
    add_up(j, 1);
    product(j, j->A, j->both);
}

/* Number of nonlinear parameters that both have estimated. */
static size_t compared(const struct job *j, size_t *which)
{
    size_t m = 0;
    for (size_t k = 0; k < j->p; k++)
        if (j->V[k * (j->n + 1)] > 0 && j->A[k * (j->n + 1)] > 0)
            which[m++] = k;
    return m;
}

/* One Gauss-Newton step of least squares from the reference. */
static double step_to(const struct job *j, size_t k)
{
    double sum = j->theta[k];
    for (size_t l = 0; l < j->p; l++)
        sum += j->H[k * j->n + l] * j->g[l];
    return sum;
}

/* Their difference, and its covariance, in standard deviations of least squares. */
static void difference(const struct job *j, size_t m, const size_t *which, double *d, double *M)
{
    const size_t n = j->n;
    for (size_t a = 0; a < m; a++) {
        const size_t k = which[a];
        const double unit = sqrt(j->V[k * (n + 1)]);
        d[a] = (j->found.theta[k] - step_to(j, k)) / unit;
        for (size_t b = 0; b < m; b++) {
            const size_t l = which[b], at = k * n + l;
            M[a * m + b] = (j->V[at] + j->A[at] - j->both[at] - j->both[l * n + k]) / (unit * sqrt(j->V[l * (n + 1)]));
        }
    }
}

/* B, g and H at the reference; x: a result of the same size that is no longer needed. */
static enum fit_status move_curvature(struct job *j, struct fit_result *x)
{
    const struct fit_covariance_spec spec = {j->obj, j->theta, j->res->lower, j->res->upper, j->B, 1};
    enum fit_status st = evaluated(j, fit_objective_normal(j->obj, j->theta, j->B, j->g));
    if (st == FIT_OK)
        st = fit_covariance(&spec, x, j->f->err);
    for (size_t k = 0; st == FIT_OK && k < j->n * j->n; k++)
        j->H[k] = isnan(x->covariance[k]) ? 0 : x->covariance[k];
    return st;
}

/* Hausman's test, at the efficient estimates: where the sum of squares is flat, the least-squares estimates are far
 * from these more often than a quadratic approximation predicts; one step toward them is not. */
static enum fit_status compare(struct job *j)
{
    struct fit_estimates *e = &j->res->estimates;
    double *M = NULL, *d = NULL, *w = NULL, *work = NULL;
    FIT_SCRATCH(scratch);
    size_t *which = fit_take(&scratch, j->p, sizeof *which);
    FIT_TAKE_DOUBLES(&scratch, j->p * j->p, &M);
    FIT_TAKE_DOUBLES(&scratch, j->p, &d, &w);
    FIT_TAKE_DOUBLES(&scratch, fit_eigen_work(j->p), &work);
    if (scratch.failed)
        return no_memory(j);
    find_covariances(j);
    const size_t m = compared(j, which);
    difference(j, m, which, d, M);
    if (m == 0 || fit_eigen(m, M, w, work) != 0)
        return FIT_OK;
    e->chi2 = 0;
    for (size_t a = 0; a < m; a++) {
        double z = 0;
        for (size_t b = 0; b < m; b++)
            z += M[a * m + b] * d[b];
        e->chi2 += w[a] > NO_DIFFERENCE ? z * z / w[a] : 0;
        e->rank += w[a] > NO_DIFFERENCE;
    }
    e->p = e->rank > 0 ? fit_chi2_tail(e->chi2, (double)e->rank) : 1;
    return FIT_OK;
}

/* Their covariance, over (theta, unknowns) of the objective. */
static void unknowns_of(const struct job *j, double *D)
{
    const struct fit_objective *o = j->obj;
    const size_t m = o->nparam + o->nu;
    for (size_t a = 0; a < j->n; a++)
        for (size_t b = 0; b < j->n; b++) {
            const long u = a < j->p ? (long)a : o->map[a - j->p] < 0 ? -1 : (long)j->p + o->map[a - j->p];
            const long v = b < j->p ? (long)b : o->map[b - j->p] < 0 ? -1 : (long)j->p + o->map[b - j->p];
            if (u >= 0 && v >= 0)
                D[(size_t)u * m + (size_t)v] = j->A[a * j->n + b];
        }
}

/* The difference between the estimates and the reference of the residuals. */
static void shift_of(const struct job *j, double *shift)
{
    for (size_t g = 0; g < j->ng; g++)
        for (size_t e = 0; e < j->P; e++)
            shift[g * j->P + e] = e < j->p ? j->found.theta[e] - j->theta[e]
                                           : j->found.lin[g * j->q + e - j->p] -
                                                 fit_objective_linear(j->obj, g, e - j->p);
}

/* The test of fit at the efficient estimates: where least squares is far off, its derivatives differ. */
static enum fit_status test_again(struct job *j)
{
    struct fit_speckle_errors e;
    struct fit_result x = *j->res; /* of it only what is replaced here is written */
    double *D = NULL, *shift = NULL;
    FIT_SCRATCH(scratch);
    const size_t m = j->obj->nparam + j->obj->nu;
    if (j->res->speckle_test.p >= AGAIN)
        return FIT_OK;
    x.speckle = fit_take_copy(&scratch, j->noise, j->ng, sizeof *x.speckle);
    FIT_TAKE_DOUBLES(&scratch, m * m, &D);
    FIT_TAKE_DOUBLES(&scratch, j->ng * j->P, &shift);
    if (scratch.failed)
        return no_memory(j);
    unknowns_of(j, D);
    shift_of(j, shift);
    const struct fit_speckle_spec spec = {j->obj, &j->scores, D, j->res->residual_variance, 1, j->f->opt->noise_model,
                                          j->made, shift};
    const enum fit_status st = fit_speckle_errors(&spec, &x, &e, j->f->err);
    if (st == FIT_OK && e.verdict == FIT_SPECKLE_NOISE && isfinite(x.speckle_test.p))
        j->res->speckle_test = x.speckle_test;
    free(e.S);
    return st;
}

/* Do the groups agree on the parameters that they share? (Hansen's test of overidentification: Econometrica 50
 * (1982) 1029, lemma 4.2) */
static void compare_groups(struct job *j)
{
    struct fit_estimates *e = &j->res->estimates;
    const struct fit_result *x = &j->found;
    if (x->npoint <= x->nfree)
        return;
    e->groups_rank = x->npoint - x->nfree;
    e->groups_chi2 = x->chi2;
    e->groups_p = fit_chi2_tail(x->chi2, (double)e->groups_rank);
}

/* Keeps the estimates that the result does not use. */
static void keep_other(struct job *j, const double *theta, const double *lin, const double *std)
{
    struct fit_estimates *e = &j->res->estimates;
    e->compared = 1;
    memcpy(e->other, theta, j->p * sizeof *theta);
    memcpy(e->other + j->p, lin, j->ng * j->q * sizeof *lin);
    memcpy(e->other_std, std, j->n * sizeof *std);
}

static void take_errors(struct job *j)
{
    struct fit_result *r = j->res;
    const struct fit_result *x = &j->found;
    const size_t n = j->n, nn = n * n;
    double *const to[] = {r->covariance, r->covariance_robust, r->paraboloid, r->paraboloid_robust};
    for (size_t k = 0; k < sizeof to / sizeof *to; k++)
        memcpy(to[k], k < 2 ? x->covariance : x->paraboloid, nn * sizeof **to);
    memcpy(r->correlation, x->correlation, nn * sizeof *r->correlation);
    memcpy(r->std, x->std, n * sizeof *r->std);
    memcpy(r->std_robust, x->std, n * sizeof *r->std);
    memcpy(r->std_curvature, x->std_curvature, n * sizeof *r->std);
    memcpy(r->profile, x->profile, j->p * sizeof *r->profile);
    memcpy(r->at_bound, x->at_bound, n);
    memcpy(r->interval, x->interval, n * sizeof *r->interval);
    for (size_t k = 0; k < n; k++)
        r->interval[k].wider = 1;
    memcpy(r->likelihood, x->likelihood, r->nlikelihood * sizeof *r->likelihood);
    r->robust = (struct fit_robust){.kind = FIT_ROBUST_SPECKLE, .closed = 1, .eta = 1};
}

/* What the data determine. */
static void take_directions(struct job *j)
{
    struct fit_result *r = j->res;
    const struct fit_result *x = &j->found;
    const size_t p = j->p;
    memcpy(r->normal_matrix, x->normal_matrix, p * p * sizeof *r->normal_matrix);
    memcpy(r->eigenvalue, x->eigenvalue, p * sizeof *r->eigenvalue);
    memcpy(r->eigenvector, x->eigenvector, p * p * sizeof *r->eigenvector);
    memcpy(r->scale, x->scale, p * sizeof *r->scale);
    r->neigen = x->neigen;
    r->nnull = x->nnull;
    r->variance = x->variance;
}

static void take_derived(struct job *j)
{
    for (size_t k = 0; k < j->res->nderived; k++) {
        struct fit_derived_value *to = &j->res->derived[k];
        double *gradient = to->gradient;
        memcpy(gradient, j->found.derived[k].gradient, j->n * sizeof *gradient);
        *to = j->found.derived[k];
        to->gradient = gradient;
        to->std_robust = to->std;
        to->wider = 1;
    }
}

/* Numbers of the noise depend on the fitted contrast c, s2 as c and M as c^2: its error is theirs. */
static void take_noise(struct job *j)
{
    const size_t q = (size_t)(j->f->kernel->intercept == 0);
    for (size_t g = 0; g < j->ng; g++) {
        struct fit_speckle_noise *x = &j->noise[g];
        const double error = j->found.std[j->p + g * j->q + q] / x->contrast;
        if (j->q == 2 && error > 0 && x->known == FIT_SPECKLE_BOTH) {
            x->count_std = x->count_std > 0 ? x->count * hypot(x->count_std / x->count, 2 * error) : 0;
            x->shot_std = x->shot_std > 0 ? x->shot * hypot(x->shot_std / x->shot, error) : 0;
        }
    }
    memcpy(j->res->speckle, j->noise, j->ng * sizeof *j->noise);
}

static enum fit_status take(struct job *j)
{
    struct fit_result *r = j->res;
    const double before = r->chi2;
    keep_other(j, r->theta, r->lin, r->std_robust);
    if (fit_objective_value(j->obj, j->found.theta) != FIT_EVAL_OK)
        return fit_fail(j->f->err, FIT_ERR_NUMERIC, "fit: the model is not finite at the efficient estimates");
    r->chi2 = square_at(j, j->found.lin);
    r->cost = r->chi2 / 2;
    r->residual_variance *= r->chi2 / before;
    r->reduced_chi2 *= r->chi2 / before;
    memcpy(r->theta, j->found.theta, j->p * sizeof *r->theta);
    memcpy(r->lin, j->found.lin, j->ng * j->q * sizeof *r->lin);
    take_noise(j);
    take_errors(j);
    take_directions(j);
    take_derived(j);
    r->estimates.used = FIT_ESTIMATOR_EFFICIENT;
    return fit_rate_values(j->f->kernel, &j->f->ds->layout, r->variance, r, j->f->err);
}

/* Why the efficient estimates are not used; NULL: they are. */
static const char *refused(const struct job *j)
{
    const struct fit_result *x = &j->found;
    if (j->res->speckle_test.p < FIT_SPECKLE_MISFIT)
        return "the structure of the residuals is not that of speckle noise of the model";
    if (!x->converged || x->nnull > 0)
        return "the weighted equations do not determine all parameters";
    for (size_t k = 0; k < j->n; k++)
        if (j->res->std[k] > 0 && !(x->std_curvature[k] > 0) && !x->interval[k].known)
            return "the weighted equations do not determine all parameters";
    if (j->f->opt->estimator == FIT_ESTIMATOR_AUTO && j->res->estimates.p < DIFFER)
        return "efficient estimates differ from those of least squares by more than chance allows";
    return NULL;
}

/* Moves the reference to the estimates. */
static void move_reference(struct job *j)
{
    fit_scores_free(&j->scores);
    memcpy(j->theta, j->found.theta, j->p * sizeof *j->theta);
    memcpy(j->lin, j->found.lin, j->ng * j->q * sizeof *j->lin);
}

/* Are the estimates so close to the reference that it has their noise? */
static int is_near(const struct job *j)
{
    const struct fit_result *x = &j->found;
    for (size_t e = 0; e < j->p; e++)
        if (x->std_curvature[e] > 0 && fabs(x->theta[e] - j->theta[e]) > NEAR * x->std_curvature[e])
            return 0;
    for (size_t e = 0; e < j->ng * j->q; e++)
        if ((int)(e % j->q) != j->f->kernel->intercept &&
            fabs(x->lin[e] - j->lin[e]) > SAME_CONTRAST * j->noise[e / j->q].contrast)
            return 0;
    return 1;
}

/* The efficient estimates, in `found`, with the noise of the previous estimates. */
static enum fit_status estimate_again(struct job *j)
{
    enum fit_status st;
    move_reference(j);
    if ((st = look(j)) == FIT_OK)
        st = move_curvature(j, &j->found);
    fit_result_free(&j->found);
    return st == FIT_OK ? solve(j, j->theta, 1, &j->found) : st;
}

/* The efficient estimates, in `found`, at a reference near them. */
static enum fit_status estimate(struct job *j)
{
    enum fit_status st;
    if ((st = job_new(j)) != FIT_OK || (st = look(j)) != FIT_OK || (st = solve_from_all(j)) != FIT_OK)
        return st;
    for (int turn = 0; turn < TURNS && st == FIT_OK && !time_is_up(j->f) && (turn == 0 || !is_near(j)); turn++)
        st = estimate_again(j);
    if (st == FIT_OK && !time_is_up(j->f) && (st = move_ends(j)) == FIT_OK)
        fit_efficient_bounds(&j->found);
    return st;
}

static enum fit_status run(struct job *j, const char **why)
{
    enum fit_status st = estimate(j);
    if (st == FIT_OK && time_is_up(j->f)) {
        *why = OUT_OF_TIME;
        return FIT_OK;
    }
    if (st != FIT_OK || (st = compare(j)) != FIT_OK || (st = test_again(j)) != FIT_OK)
        return st;
    compare_groups(j);
    *why = refused(j);
    if (!*why)
        return take(j);
    keep_other(j, j->found.theta, j->found.lin, j->found.std);
    return FIT_OK;
}

enum fit_status fit_efficient(struct fit_ls *f)
{
    struct fit_result *r = f->res;
    if (f->opt->estimator == FIT_ESTIMATOR_LEAST_SQUARES || f->opt->brief)
        return FIT_OK;
    const char *why = unsuited(f);
    char text[200];
    enum fit_status st = FIT_OK;
    if (!why && unknown_noise(f, text, sizeof text))
        why = text;
    if (!why) {
        struct job j = {.f = f, .res = r, .p = f->p, .q = f->q, .ng = f->ng, .n = r->nfull, .P = f->p + f->q};
        st = run(&j, &why);
        job_free(&j);
        if (st == FIT_ERR_NUMERIC) { /* least squares stay */
            why = "the weighted equations have no finite solution";
            st = FIT_OK;
        }
    }
    if (st != FIT_OK || !why)
        return st;
    if (f->opt->estimator == FIT_ESTIMATOR_EFFICIENT && why != OUT_OF_TIME) /* then what there is */
        return fit_fail(f->err, FIT_ERR_CONFIG, "estimator efficient: %s; take auto or least-squares", why);
    snprintf(r->estimates.reason, sizeof r->estimates.reason, "%s", why);
    return FIT_OK;
}

/* ---- the table ---------------------------------------------------------------------------------------------- */

enum fit_status fit_efficient_table(const struct fit_kernel *kernel, const struct fit_dataset *ds,
                                    const struct fit_options *opt, const struct fit_result *r,
                                    struct fit_efficient_table *out, struct fit_error *err)
{
    struct fit_result same = *r; /* nothing of it is written */
    struct fit_ls f = fit_ls_begin(kernel, ds, opt, &same, err);
    struct job j = {.f = &f, .res = &same, .p = f.p, .q = f.q, .ng = f.ng, .n = r->nfull, .P = f.p + f.q};
    *out = (struct fit_efficient_table){0};
    enum fit_status st = job_new(&j);
    if (st == FIT_OK)
        st = look(&j);
    if (st == FIT_OK && !(out->linear_class = fit_take_copy(&out->storage_, j.class, j.ng * j.q, sizeof *j.class)))
        st = no_memory(&j);
    if (st == FIT_OK) {
        out->made = j.made;
        j.made = NULL;
    }
    job_free(&j);
    return st;
}

void fit_efficient_table_free(struct fit_efficient_table *t)
{
    fit_speckle_kernel_free(t->made);
    fit_arena_free(&t->storage_);
    *t = (struct fit_efficient_table){0};
}

/* ---- before there are data ---------------------------------------------------------------------------------- */

enum fit_status fit_efficient_errors(const struct fit_efficient_plan *plan, double *plain, double *efficient,
                                     struct fit_error *err)
{
    struct fit_result same = *plan->r; /* nothing of it is written */
    struct fit_options opt = *plan->opt;
    for (size_t k = 0; k < same.nfull; k++)
        if (isnan(same.std_curvature[k]) && !same.at_bound[k])
            return fit_fail(err, FIT_ERR_CONFIG, "no errors under the noise of speckles: some parameters are not "
                                                 "determined");
    opt.sigma = NULL;
    opt.noise_model = plan->noise;
    struct fit_ls f = fit_ls_begin(plan->kernel, plan->ds, &opt, &same, err);
    struct job j = {.f = &f, .res = &same, .p = f.p, .q = f.q, .ng = f.ng, .n = same.nfull, .P = f.p + f.q};
    enum fit_status st = job_new(&j);
    for (size_t g = 0; st == FIT_OK && g < j.ng; g++)
        j.noise[g] = (struct fit_speckle_noise){.known = FIT_SPECKLE_BOTH, .count = plan->noise.count,
                                                .shot = plan->noise.shot};
    if (st == FIT_OK)
        st = look(&j);
    if (st == FIT_OK && (st = solve(&j, j.theta, 0, &j.found)) == FIT_OK) {
        for (size_t k = 0; k < j.n; k++)
            efficient[k] = same.std_curvature[k] > 0 ? j.found.std_curvature[k] : same.std[k];
        if ((st = move_curvature(&j, &j.found)) == FIT_OK) {
            add_up(&j, 0);
            product(&j, j.H, j.V);
        }
        for (size_t k = 0; k < j.n; k++)
            plain[k] = same.std_curvature[k] > 0 ? sqrt(j.V[k * (j.n + 1)]) : same.std[k];
    }
    job_free(&j);
    if (st == FIT_ERR_NUMERIC)
        return fit_fail(err, FIT_ERR_CONFIG, "no errors under the noise of speckles: this model is not of their kind");
    return st;
}
