/* likelihood.c -- profile likelihood of one parameter; see likelihood.h.
 *
 * The curve is followed outwards from the best value, each point from the last; steps are chosen for the root of the
 * rise to grow by STEP, so that the curve has as many points in a narrow direction as in a wide one.  Ends of
 * intervals are found by secants on the root, which is nearly straight.
 */
#include "likelihood.h"

#include "problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double LEVEL[2] = {0.68, 0.95};
static const double STEP = 0.45, BEYOND = 1.1; /* of the root; how far beyond the last limit, as a factor */
static const double CLOSE = 2e-3;              /* root at the end of an interval */
static const double BETTER = 0.1;              /* chi2 below the least: another minimum */
enum { STEPS = 60, SIDE = (FIT_LIKELIHOOD_POINTS - 2) / 2, SECANTS = 8 };

struct curve {
    struct fit_job *f;
    struct fit_likelihood *out;
    double variance, cost;       /* at the minimum */
    double best, low, high;      /* value; bounds */
    double limit[2];             /* of the root */
    long u;                      /* linear unknown, or -1: nonlinear parameter */
    double *theta, *lower, *upper, *start; /* start: theta at the last point */
    int stopped;
};

/* Acklam's rational approximation, once corrected by Newton's rule: exact to rounding. */
static double normal_quantile(double p)
{
    static const double a[] = {-3.969683028665376e+01, 2.209460984245205e+02, -2.759285104469687e+02,
                               1.383577518672690e+02,  -3.066479806614716e+01, 2.506628277459239e+00},
                        b[] = {-5.447609879822406e+01, 1.615858368580409e+02, -1.556989798598866e+02,
                               6.680131188771972e+01, -1.328068155288572e+01};
    static const double c[] = {-7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e+00,
                               -2.549732539343734e+00, 4.374664141464968e+00, 2.938163982698783e+00},
                        d[] = {7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e+00,
                               3.754408661907416e+00};
    double x, q, r;
    if (p < 0.02425) {
        q = sqrt(-2 * log(p));
        x = (((((c[0] * q + c[1]) * q + c[2]) * q + c[3]) * q + c[4]) * q + c[5]) /
            ((((d[0] * q + d[1]) * q + d[2]) * q + d[3]) * q + 1);
    } else {
        q = p - 0.5;
        r = q * q;
        x = (((((a[0] * r + a[1]) * r + a[2]) * r + a[3]) * r + a[4]) * r + a[5]) * q /
            (((((b[0] * r + b[1]) * r + b[2]) * r + b[3]) * r + b[4]) * r + 1);
    }
    for (int turn = 0; turn < 2; turn++)
        x -= (0.5 * erfc(-x / sqrt(2)) - p) * sqrt(2 * 3.14159265358979323846) * exp(0.5 * x * x);
    return x;
}

/* Hill (1970), Algorithm 396, by its expansion in 1/dof; for few degrees of freedom corrected by Newton's rule with
 * the integral of the density. */
double fit_student_quantile(double p, double dof)
{
    double z = -normal_quantile(p), z2 = z * z, t = z;
    if (!isfinite(dof) || dof > 1e8)
        return z;
    t += z * (z2 + 1) / (4 * dof) + z * ((5 * z2 + 16) * z2 + 3) / (96 * dof * dof) +
         z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * dof * dof * dof);
    double scale = exp(lgamma(0.5 * (dof + 1)) - lgamma(0.5 * dof)) / sqrt(dof * 3.14159265358979323846);
    for (int turn = 0; turn < 20 && dof < 1000; turn++) {
        enum { N = 400 };
        double area = 0, h = t / N; /* from 0 to t, by Simpson's rule */
        for (int k = 0; k <= N; k++)
            area += (k == 0 || k == N ? 1 : k % 2 ? 4 : 2) * pow(1 + (k * h) * (k * h) / dof, -0.5 * (dof + 1));
        double excess = 0.5 - scale * area * h / 3 - p;
        double step = excess / (scale * pow(1 + t * t / dof, -0.5 * (dof + 1)));
        t += step;
        if (fabs(step) < 1e-12 * t)
            break;
    }
    return t;
}

/* ---- one point ------------------------------------------------------------------------------------------------ */

/* Signed root of the rise with the parameter held at v; theta comes in as a start and goes out as the minimum. */
static double root_at(struct curve *c, double v)
{
    struct fit_job *f = c->f;
    struct fit_objective *o = f->obj;
    size_t k = c->out->which, u = c->u < 0 ? 0 : (size_t)c->u;
    double low = c->u < 0 ? 0 : o->lower[u], high = c->u < 0 ? 0 : o->upper[u];
    memcpy(c->lower, f->lower, f->p * sizeof *c->lower);
    memcpy(c->upper, f->upper, f->p * sizeof *c->upper);
    if (c->u < 0)
        c->lower[k] = c->upper[k] = c->theta[k] = v;
    else
        o->lower[u] = o->upper[u] = v - o->origin[u];
    struct fit_nlsq_problem problem = fit_problem(o, c->lower, c->upper, f->dof, f->noise);
    struct fit_nlsq_options opt = {.max_iterations = STEPS, .ftol = 1e-12, .xtol = 1e-12, .gtol = 1e-3,
                                   .deadline = f->deadline};
    enum fit_word word = fit_nlsq_run(f->nlsq, &problem, &opt, c->theta);
    double rise = 2 * (f->nlsq->cost - c->cost) / c->variance;
    if (c->u >= 0) {
        o->lower[u] = low;
        o->upper[u] = high;
    }
    c->stopped |= word == FIT_INTERRUPTED;
    if (rise < -BETTER && !c->out->lower_cost) {
        c->out->lower_cost = 1;
        c->out->better = v;
    }
    return copysign(sqrt(fmax(rise, 0)), v - c->best);
}

static void add_point(struct fit_likelihood *l, double v, double root)
{
    if (l->n == FIT_LIKELIHOOD_POINTS)
        return;
    size_t at = l->n++;
    for (; at > 0 && l->value[at - 1] > v; at--) {
        l->value[at] = l->value[at - 1];
        l->rise[at] = l->rise[at - 1];
    }
    l->value[at] = v;
    l->rise[at] = root * root;
}

/* ---- one side -------------------------------------------------------------------------------------------------- */

/* Where the root is `wanted`, between (a, ra) and (b, rb) with theta at a and b. */
static double find_end(struct curve *c, double wanted, double a, double ra, const double *at_a, double b, double rb,
                       double *work)
{
    size_t bytes = c->f->p * sizeof *work;
    double x = b;
    memcpy(work, c->theta, bytes);
    for (int turn = 0; turn < SECANTS && fabs(b - a) > 1e-12 * fabs(b) && !c->stopped; turn++) {
        double part = (wanted - ra) / (rb - ra);
        part = fmin(fmax(part, 0.02), 0.98);
        x = a + part * (b - a);
        memcpy(c->theta, at_a, bytes);
        double r = fabs(root_at(c, x));
        if (fabs(r - wanted) < CLOSE)
            break;
        if (r < wanted)
            a = x, ra = r;
        else
            b = x, rb = r;
    }
    memcpy(c->theta, work, bytes);
    return x;
}

/* Follows the profile toward side (+1, -1); ends of the intervals in limit[2]. */
static void follow(struct curve *c, double side, double std, double *end, int *open, double *work)
{
    struct fit_job *f = c->f;
    double at = c->best, root = 0, step = STEP * std, bound = side > 0 ? c->high : c->low;
    size_t bytes = f->p * sizeof *c->theta, next = 0;
    memcpy(c->theta, f->res->theta, bytes);
    for (size_t n = 0; n < SIDE && !c->stopped; n++) {
        double v = at + side * step;
        int last = side * (v - bound) >= 0;
        v = last ? bound : v;
        memcpy(c->start, c->theta, bytes);
        double r = fabs(root_at(c, v));
        if (r > root + 3 * STEP && step > 1e-9 * std && n + 1 < SIDE) { /* too far at once */
            memcpy(c->theta, c->start, bytes);
            step *= fmax(0.2, STEP / (r - root));
            continue;
        }
        add_point(c->out, v, r);
        for (; next < 2 && r >= c->limit[next]; next++) {
            end[next] = find_end(c, c->limit[next], at, root, c->start, v, r, work);
            open[next] = 0;
        }
        step *= fmin(fmax(r > root ? STEP / (r - root) : 4, 0.25), 4);
        at = v;
        root = r;
        if (last || r >= BEYOND * c->limit[1])
            break;
    }
    for (; next < 2; next++) { /* not reached */
        end[next] = at;
        open[next] = 1;
    }
}

/* ---- in words --------------------------------------------------------------------------------------------------- */

static void describe(struct curve *c, const char *name)
{
    struct fit_likelihood *l = c->out;
    char at[2][64];
    if (l->lower_cost) {
        snprintf(l->text, sizeof l->text,
                 "with %s = %.6g a better minimum than that of the fit was met: fit again from there", name, l->better);
        return;
    }
    if (l->one_sided) {
        const double *end = l->one_sided < 0 ? l->upper : l->lower;
        const int *open = l->one_sided < 0 ? l->open_upper : l->open_lower;
        snprintf(l->text, sizeof l->text,
                 "the best value is the %s bound; %s %.5g with 68 %%%s, %s %.5g with 95 %%%s%s",
                 l->one_sided < 0 ? "lower" : "upper", l->one_sided < 0 ? "below" : "above", end[0],
                 open[0] ? " (the other bound)" : "", l->one_sided < 0 ? "below" : "above", end[1],
                 open[1] ? " (the other bound)" : "", open[1] ? ": the data exclude no value" : "");
        return;
    }
    for (int k = 0; k < 2; k++)
        snprintf(at[k], sizeof at[k], "%.5g%s .. %.5g%s", l->lower[k], l->open_lower[k] ? " (bound)" : "", l->upper[k],
                 l->open_upper[k] ? " (bound)" : "");
    snprintf(l->text, sizeof l->text, "68 %%: %s; 95 %%: %s%s", at[0], at[1],
             l->open_lower[1] && l->open_upper[1] ? ": the data exclude no value"
             : l->open_lower[1]                   ? ": no lower limit from the data"
             : l->open_upper[1]                   ? ": no upper limit from the data"
                                                  : "");
}

/* ---- the curve -------------------------------------------------------------------------------------------------- */

static void set_limits(struct curve *c)
{
    double dof = c->f->res->noise == FIT_NOISE_RESIDUALS ? c->f->dof : INFINITY;
    for (int k = 0; k < 2; k++)
        c->limit[k] = fit_student_quantile(c->out->one_sided ? 1 - LEVEL[k] : 0.5 * (1 - LEVEL[k]), dof);
}

/* A first step: the standard error, else what the curvature says, else a part of the box. */
static double first_scale(const struct curve *c)
{
    const struct fit_result *r = c->f->res;
    double std = r->std[c->out->which], box = c->high - c->low;
    if (std > 0 && isfinite(std))
        return std;
    if (c->u < 0 && c->f->B[c->out->which * (c->f->p + 1)] > 0) {
        double s = sqrt(c->variance / c->f->B[c->out->which * (c->f->p + 1)]);
        return isfinite(box) ? fmin(s, 0.1 * box) : s;
    }
    return isfinite(box) ? 0.02 * box : fmax(fabs(c->best), 1) * 0.01;
}

enum fit_status fit_likelihood_curve(struct fit_job *f, size_t which, double variance, struct fit_likelihood *out)
{
    const struct fit_result *r = f->res;
    struct curve c = {.f = f, .out = out, .variance = variance, .u = -1};
    double *all = malloc((5 * f->p + 1) * sizeof *all);
    const char *name = which < f->p ? f->kernel->param[which].name : f->kernel->linear[(which - f->p) % f->q].name;
    *out = (struct fit_likelihood){.which = which};
    if (!all)
        return fit_fail(f->err, FIT_ERR_MEMORY, "profile: out of memory");
    c.theta = all, c.lower = c.theta + f->p, c.upper = c.lower + f->p, c.start = c.upper + f->p;
    double *work = c.start + f->p;
    c.best = which < f->p ? r->theta[which] : r->lin[which - f->p];
    c.low = r->lower[which];
    c.high = r->upper[which];
    c.u = which < f->p ? -1 : f->obj->map[which - f->p];
    if (!(c.high > c.low) || (which >= f->p && c.u < 0)) {
        snprintf(out->text, sizeof out->text, "%s is held: it has no profile", name);
        free(all);
        return FIT_OK;
    }
    out->one_sided = r->at_bound[which];
    set_limits(&c);
    memcpy(c.theta, r->theta, f->p * sizeof *c.theta);
    c.cost = fit_objective_value(f->obj, r->theta) == FIT_EVAL_OK ? f->obj->cost : NAN;
    add_point(out, c.best, 0);
    for (int k = 0; k < 2; k++)
        out->lower[k] = out->upper[k] = c.best;
    if (out->one_sided >= 0)
        follow(&c, -1, first_scale(&c), out->lower, out->open_lower, work);
    if (out->one_sided <= 0)
        follow(&c, 1, first_scale(&c), out->upper, out->open_upper, work);
    describe(&c, name);
    free(all);
    if (c.stopped)
        return fit_fail(f->err, FIT_ERR_INTERRUPTED, "profile: interrupted");
    return FIT_OK;
}
