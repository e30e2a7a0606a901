/* rate_escape.c -- new starts where a fit has ended at the wrong end of the valley of a rate A t^E + C.
 *
 * Near E = 0 the amplitude and the offset may grow with opposite signs, A -> -C -> infinity, while the rate hardly
 * changes. The cost then has a long valley, which a bound cuts off. A descent that entered it on the wrong side of E =
 * 0 ends on that bound. When A or C has ended on a bound, other exponents are tried, with A and C such that the rate
 * keeps its values at two times of the measurement (rate_valley.h). The best exponent on each side of the present one
 * is followed.
 *
 * A rate that is negative during a part of the measurement counts as 0 there (models have a floor), so that no
 * derivative leads out. Then positive rates are tried, nearly constant, rising and falling, and the best is followed.
 *
 * Most of these starts lead nowhere, and the way is long. They are first followed on thinned data, and on all data only
 * if these favour them.
 */
#include "leastsquares/fit_impl.h"
#include "leastsquares/problem.h"
#include "leastsquares/rate_valley.h"

#include <math.h>
#include <string.h>

enum {
    EXPONENTS = 16,    /* on either side, evenly spaced: one pass each */
    STEPS = 40,        /* iterations of a trial, which begins far along a valley */
    FRAMES = 56,       /* of thinned data: 1540 pairs of each group */
    FINER = FIT_LS_LARGE / 2, /* of large data: a quarter of their pairs at most */
    FRAMES_ENOUGH = 2  /* times as many frames the data must have: thinning then saves three quarters */
};
/* Differences of chi2, in units of the noise, that thinned data cannot resolve: RIVAL of minimum.c; smaller for
 * finer ones, which lose less of the information that distinguishes minima. */
static const double UNDECIDED = 50, UNDECIDED_FINER = 10;

/* The objective that compares trial points. */
static struct fit_objective *cheap(const struct fit_ls *f)
{
    return f->thin_obj && fit_ls_is_large(f) ? f->thin_obj : f->obj;
}

/* The best exponent in (low, high) into best; its cost, or INFINITY. */
static double scan(struct fit_ls *f, const struct fit_rate *r, double low, double high, double *best)
{
    struct fit_objective *obj = cheap(f);
    double least = INFINITY;
    for (size_t i = 0; i < EXPONENTS; i++) {
        double exponent = low + (high - low) * ((double)i + 0.5) / EXPONENTS;
        memcpy(f->theta, f->best, f->p * sizeof *f->theta);
        if (!fit_valley_point(r, &f->ds->layout, f->lower, f->upper, f->best, exponent, f->theta) ||
            fit_objective_value(obj, f->theta) != FIT_EVAL_OK || !(obj->cost < least))
            continue;
        least = obj->cost;
        memcpy(best, f->theta, f->p * sizeof *best);
    }
    return least;
}

/* Makes the thinned data, unless they exist or would not be much smaller. */
static enum fit_status need_thin(struct fit_ls *f)
{
    struct fit_objective_setup setup = f->setup;
    struct fit_error err = {0};
    const int finer = fit_ls_is_large(f);
    const size_t frames = finer ? FINER : FRAMES;
    if (!finer)
        setup.threads = 1;
    if (f->thin || f->ds->layout.nframe < FRAMES_ENOUGH * frames || f->kernel->density)
        return FIT_OK;
    enum fit_status st = fit_dataset_thin(f->ds, frames, &f->thin, &err);
    if (st == FIT_OK)
        st = fit_objective_new(f->kernel, f->thin, &setup, &f->thin_obj, &err);
    if (st == FIT_OK && f->obj->weighting == FIT_WEIGHT_GROUP)
        fit_objective_group_factor(f->thin_obj, f->obj->factor);
    return st == FIT_ERR_MEMORY ? fit_fail(f->err, st, "fit: out of memory") : FIT_OK; /* else without them */
}

/* Follows f->theta on thinned data. 0: on these it leads to nothing as good as f->best. */
static int is_promising(struct fit_ls *f)
{
    if (!f->thin_obj || fit_objective_value(f->thin_obj, f->best) != FIT_EVAL_OK)
        return 1;
    double best = f->thin_obj->cost, dof = fmax((double)f->thin->npoint - (double)f->p, 1), s2 = 2 * best / dof;
    struct fit_nlsq_problem problem = fit_problem(f->thin_obj, f->lower, f->upper, dof, f->noise);
    struct fit_watch watch = {.deadline = f->deadline};
    struct fit_nlsq_options opt = {
        .max_iterations = STEPS, .ftol = 1e-8, .xtol = 1e-8, .gtol = 0.1, .watch = fit_watch, .watch_user = &watch};
    f->over |= fit_nlsq_run(f->nlsq, &problem, &opt, f->theta) == FIT_NLSQ_STOPPED;
    return !f->over && !(2 * (f->nlsq->cost - best) > (fit_ls_is_large(f) ? UNDECIDED_FINER : UNDECIDED) * s2);
}

/* Follows the trial point in f->before for some steps, and to its end when it leads to something better; first from
 * the end on thinned data, which may have been misleading. */
static void follow(struct fit_ls *f, struct fit_outcome *o, int *found)
{
    memcpy(f->theta, f->before, f->p * sizeof *f->theta);
    if (!is_promising(f))
        return;
    fit_ls_try(f, f->theta, STEPS);
    if (!f->over && !(f->nlsq->cost < o->cost) && f->thin_obj && !fit_ls_is_large(f)) {
        memcpy(f->theta, f->before, f->p * sizeof *f->theta);
        fit_ls_try(f, f->theta, STEPS);
    }
    if (f->over || !(f->nlsq->cost < o->cost))
        return;
    if (f->nlsq->end == FIT_NLSQ_LIMIT)
        fit_ls_optimise(f, f->theta, f->opt->max_iterations);
    fit_ls_keep(f, o);
    *found = 1;
}

/* Trial rates: the value at the first time relative to `most`, the ratio of the value at the second time to it, and
 * the exponent. Levels cover two decades by factors of 3. When the best of all leads to nothing better, the best of
 * those from LEVEL[HIGH] on is followed. */
static const double LEVEL[] = {0.01, 0.03, 0.1, 0.3, 1}, CHANGE[] = {0.3, 1, 3}, EXPONENT[] = {-0.5, 0.5};
enum { LEVELS = sizeof LEVEL / sizeof *LEVEL, HIGH = 2, CHANGES = sizeof CHANGE / sizeof *CHANGE, SIGNS = 2 };

/* Writes the best rate that stays positive, its level LEVEL[first] of `most` or higher, into f->before; returns its
 * cost. */
static double lift(struct fit_ls *f, const struct fit_rate *r, double most, size_t first)
{
    struct fit_objective *obj = cheap(f);
    double least = INFINITY;
    for (size_t i = first * CHANGES * SIGNS; i < LEVELS * CHANGES * SIGNS; i++) {
        double level = LEVEL[i / (CHANGES * SIGNS)] * most, change = CHANGE[i / SIGNS % CHANGES];
        double E = fmin(fmax(EXPONENT[i % SIGNS], f->lower[r->exponent]), f->upper[r->exponent]);
        memcpy(f->theta, f->best, f->p * sizeof *f->theta);
        if (!fit_valley_from(r, &f->ds->layout, f->lower, f->upper, (double[]){level, change * level}, E, f->theta) ||
            fit_objective_value(obj, f->theta) != FIT_EVAL_OK || !(obj->cost < least))
            continue;
        least = obj->cost;
        memcpy(f->before, f->theta, f->p * sizeof *f->before);
    }
    return least;
}

/* Leaves the floor of a rate, at f->best, where `most` is its largest value; as fit_ls_escape(). */
static void climb(struct fit_ls *f, const struct fit_rate *r, double most, struct fit_outcome *o, int *found)
{
    if (!(most > 0)) { /* negative throughout: the start gives the scale of a rate */
        double value[2], all[2];
        fit_valley_values(r, &f->ds->layout, f->start, value, all);
        most = 10 * all[0];
    }
    if (!(most > 0) || !isfinite(most))
        return;
    for (size_t turn = 0; turn < 2 && !f->over && !*found; turn++)
        if (isfinite(lift(f, r, most, turn * HIGH)))
            follow(f, o, found);
}

enum fit_status fit_ls_escape(struct fit_ls *f, const struct fit_rate *r, struct fit_outcome *o, int *found)
{
    size_t a = r->amplitude, e = r->exponent, c = r->offset;
    double side[3] = {f->lower[e], f->best[e], f->upper[e]};
    int bends = f->upper[a] > f->lower[a] && f->upper[e] > f->lower[e] && f->upper[c] > f->lower[c];
    *found = 0;
    if (!bends || !isfinite(o->cost))
        return FIT_OK;
    const int cut = fit_ls_on_bound(f, a, f->best) || fit_ls_on_bound(f, c, f->best);
    double value[2], all[2];
    fit_valley_values(r, &f->ds->layout, f->best, value, all);
    const int sunk = all[1] < 0;
    enum fit_status st = cut || sunk ? need_thin(f) : FIT_OK;
    if (st != FIT_OK || !(cut || sunk))
        return st;
    if (sunk)
        climb(f, r, all[0], o, found);
    if (!(fit_ls_on_bound(f, a, f->best) || fit_ls_on_bound(f, c, f->best)))
        return FIT_OK;
    for (int k = 0; k < 2 && !f->over && !*found; k++)
        if (side[k + 1] > side[k] && isfinite(side[k + 1] - side[k]) &&
            isfinite(scan(f, r, side[k], side[k + 1], f->before)))
            follow(f, o, found);
    return FIT_OK;
}
