/* scaling_hierarchy.c -- contrasts of many angles as draws from one population.
 *
 * c_g is normal about a common mean with standard deviation tau.  For given tau the joint estimate of theta, c_g and
 * the mean minimises
 *     1/2 chi2 + s^2 / (2 tau^2) sum_g (c_g - mean of c)^2,      s^2 the variance of the weighted residuals:
 * least squares with one more quadratic term in the linear unknowns, which variable projection solves exactly
 * (objective.h, shrink).  tau comes from the fit in which every angle has its own value: restricted maximum
 * likelihood with the full covariance V of the c_g there (Patterson & Thompson, Biometrika 58 (1971) 545),
 *     -2 l = log |S| + log (1^T S^-1 1) + (c - m)^T S^-1 (c - m),   S = V + tau^2,   m = 1^T S^-1 c / 1^T S^-1 1,
 * in the eigenvectors of V.  Where l is largest at tau = 0, one value is fitted for all angles.
 *
 * With a robust loss V is Huber's covariance h (J^T J)^-1 (noise.c) and the cost, in place of 1/2 chi2, rises by
 * kappa / 2 d^T J^T J d near its minimum, kappa the mean of psi'.  As minus the logarithm of a density with the
 * covariance V it is to be divided by h kappa, which so takes the place of s^2.
 *
 * The intercept (offset) is left as it is: its errors are so small that nothing is gained.
 */
#include "leastsquares/fit_impl.h"

#include <math.h>
#include <string.h>

#include "leastsquares/covariance.h"
#include "math/linalg.h"

enum { GRID = 60, GOLDEN = 60 };

/* ---- the population ------------------------------------------------------------------------------------------ */

struct reml {
    size_t n;
    const double *w, *a, *b; /* eigenvalues of V; 1 and the values in its eigenvectors */
};

/* -2 l for a variance of the population. */
static double deviance(const struct reml *r, double variance, double *mean)
{
    double aa = 0, ab = 0, bb = 0, log_det = 0;
    for (size_t k = 0; k < r->n; k++) {
        double s = r->w[k] + variance;
        aa += r->a[k] * r->a[k] / s;
        ab += r->a[k] * r->b[k] / s;
        bb += r->b[k] * r->b[k] / s;
        log_det += log(s);
    }
    *mean = ab / aa;
    return log_det + log(aa) + bb - ab * ab / aa;
}

static double smallest(const struct reml *r, double low, double high)
{
    const double part = 0.6180339887498949;
    double mean, best = low, least = INFINITY;
    for (int k = 0; k <= GRID; k++) { /* the deviance may have two dips */
        double v = low + (high - low) * k / GRID, d = deviance(r, exp(v), &mean);
        if (d < least) {
            least = d;
            best = v;
        }
    }
    double step = (high - low) / GRID, lo = best - step, hi = best + step;
    double x = hi - part * (hi - lo), y = lo + part * (hi - lo);
    double fx = deviance(r, exp(x), &mean), fy = deviance(r, exp(y), &mean);
    for (int k = 0; k < GOLDEN; k++) {
        if (fx < fy) {
            hi = y, y = x, fy = fx;
            x = hi - part * (hi - lo), fx = deviance(r, exp(x), &mean);
        } else {
            lo = x, x = y, fx = fy;
            y = lo + part * (hi - lo), fy = deviance(r, exp(y), &mean);
        }
    }
    return exp(0.5 * (lo + hi));
}

int fit_reml(size_t n, const double *value, double *V, double *mean, double *variance)
{
    FIT_SCRATCH(arena);
    double *w, *a, *b, scatter = 0, zero_mean;
    FIT_TAKE_DOUBLES(&arena, n, &w, &a, &b);
    double *work = fit_take(&arena, fit_eigen_work(n), sizeof *work);
    struct reml r = {n, w, a, b};
    if (arena.failed || n < 2 || fit_eigen(n, V, w, work) || !(w[0] > 0))
        return 1;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++) {
            a[k] += V[k * n + i];
            b[k] += V[k * n + i] * value[i];
        }
    deviance(&r, 0, &zero_mean);
    for (size_t i = 0; i < n; i++)
        scatter += (value[i] - zero_mean) * (value[i] - zero_mean);
    double most = scatter + r.w[n - 1];
    *variance = smallest(&r, log(1e-6 * r.w[0]), log(10 * most));
    if (!(deviance(&r, *variance, mean) < deviance(&r, 0, &zero_mean) - 1e-9)) {
        *variance = 0;
        *mean = zero_mean;
    }
    return 0;
}

/* ---- the fit --------------------------------------------------------------------------------------------------- */

/* Covariance at the best point so far, in res. *variance: the factor that turns the cost into minus a log density. */
static enum fit_status errors_now(struct fit_ls *f, double *variance)
{
    struct fit_result *r = f->res;
    int robust = !isnan(f->robust);
    enum fit_eval e = robust ? fit_ls_robust_normal(f) : fit_objective_value(f->obj, f->best);
    if (e == FIT_EVAL_OK && !robust)
        e = fit_objective_normal(f->obj, f->best, f->B, f->g);
    if (e != FIT_EVAL_OK)
        return fit_fail(f->err, FIT_ERR_NUMERIC, "fit: derivatives are not finite at the optimum");
    double scale = robust ? f->huber : f->noise > 0 ? f->noise : 2 * f->obj->cost / f->dof;
    *variance = robust ? f->huber * f->curve : scale;
    struct fit_covariance_spec spec = {f->obj, f->best, f->lower, f->upper, f->B, scale};
    return fit_covariance(&spec, r, f->err);
}

static int suits(const struct fit_ls *f, size_t q)
{
    return f->kernel->linear[q].over >= 0 && (int)q != f->kernel->intercept &&
           !(f->opt->linear_fixed && f->opt->linear_fixed[q]) && f->ng > 1;
}

/* tau of linear parameter q, from the groups with known errors; NaN: too few of them. */
static double population(const struct fit_ls *f, size_t q)
{
    const struct fit_result *r = f->res;
    FIT_SCRATCH(a);
    size_t *index = fit_take(&a, f->ng, sizeof *index), n = 0;
    double *V = fit_take(&a, f->ng * f->ng, sizeof *V), *c = fit_take(&a, f->ng, sizeof *c), mean, variance = NAN;
    for (size_t g = 0; !a.failed && g < f->ng; g++) {
        size_t e = f->p + g * f->q + q;
        if (r->std[e] > 0 && isfinite(r->std[e])) {
            c[n] = fit_objective_linear(f->obj, g, q);
            index[n++] = e;
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            V[i * n + j] = r->covariance[index[i] * r->nfull + index[j]];
    if (n < 3 || fit_reml(n, c, V, &mean, &variance))
        variance = NAN;
    return sqrt(variance);
}

/* Remakes the objective with the results; weights of groups stay. */
static enum fit_status renew(struct fit_ls *f)
{
    struct fit_objective *obj;
    f->setup.shrink = f->shrink;
    f->setup.linear_class = f->linear_class;
    enum fit_status st = fit_objective_new(f->kernel, f->ds, &f->setup, &obj, f->err);
    if (st != FIT_OK)
        return st;
    if (f->obj->weighting == FIT_WEIGHT_GROUP)
        fit_objective_group_factor(obj, f->obj->factor);
    memcpy(obj->lin, f->obj->lin, f->ng * f->q * sizeof *obj->lin);
    obj->nvalue = f->obj->nvalue;
    obj->nnormal = f->obj->nnormal;
    fit_objective_free(f->obj);
    f->obj = obj;
    return FIT_OK;
}

/* Uses one value of linear parameter q for all groups, starting from the mean. */
static void make_one(struct fit_ls *f, size_t q)
{
    double mean = 0;
    for (size_t g = 0; g < f->ng; g++)
        mean += f->obj->lin[g * f->q + q] / (double)f->ng;
    for (size_t g = 0; g < f->ng; g++) {
        f->linear_class[g * f->q + q] = 0;
        f->obj->lin[g * f->q + q] = mean;
    }
}

enum fit_status fit_ls_hierarchy(struct fit_ls *f, struct fit_outcome *o)
{
    struct fit_result *r = f->res;
    double variance = 0;
    enum fit_status st = errors_now(f, &variance);
    if (st != FIT_OK)
        return st;
    f->shrink = fit_take(&f->storage, f->q, sizeof *f->shrink);
    f->linear_class = fit_take(&f->storage, f->ng * f->q, sizeof *f->linear_class);
    if (f->storage.failed)
        return fit_no_memory(f->err, "fit");
    for (size_t e = 0; e < f->ng * f->q; e++)
        f->linear_class[e] = f->opt->linear_class ? f->opt->linear_class[e] : e / f->q;
    for (size_t q = 0; q < f->q; q++) {
        r->spread[q] = suits(f, q) ? population(f, q) : NAN;
        if (r->spread[q] > 0)
            f->shrink[q] = variance / (r->spread[q] * r->spread[q]);
        if (r->spread[q] == 0) /* exactly: none was seen */
            make_one(f, q);
    }
    if ((st = renew(f)) != FIT_OK)
        return st;
    if (!isnan(f->robust))
        return fit_ls_robust_again(f, o);
    memcpy(f->theta, f->best, f->p * sizeof *f->theta);
    fit_ls_optimise(f, f->theta, f->opt->max_iterations);
    fit_ls_keep(f, o);
    return FIT_OK;
}
