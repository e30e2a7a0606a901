/* efficient_ends.c -- see efficient_ends.h. */
#include "fit/efficient_ends.h"

#include <math.h>

#include "errors/profile.h"
#include "fit/fit.h"
#include "math/special.h"

enum { TURNS = 4 };
static const double TAIL[2] = {0.16, 0.025};
static const double CLOSE = 0.05;             /* relative accuracy of the square root of the rise at an end */
static const double SHORTER = 0.4, LONGER = 2; /* of one step to the next */

/* The root of the rise above `least` at a value of parameter k; NaN: there is none. */
static enum fit_status root_at(const struct fit_efficient_ends *e, size_t k, double least, double v, double *root)
{
    struct fit_result x;
    const enum fit_status st = e->held(e->user, k, v, &x);
    *root = NAN;
    if (st != FIT_OK)
        return st == FIT_ERR_NUMERIC ? FIT_OK : st;
    const double rise = fit_speckle_rise_at(e->rise, x.theta, x.lin, k) - least;
    *root = isnan(rise) ? NAN : sqrt(fmax(rise, 0));
    fit_result_free(&x);
    return FIT_OK;
}

/* State of one end of the interval of k: distances from the best value, roots there. */
struct end {
    double best, bound, limit, least; /* least: cost at the best value */
    double at, root;         /* now */
    double before, root_before;
    int open;
};

/* Where the root would be the limit by a line through the last two. */
static double next_of(const struct end *x)
{
    const double slope = (x->root - x->root_before) / (x->at - x->before);
    double to = x->at + (x->limit - x->root) / slope;
    if (!(slope * x->at > 0) || !isfinite(to)) /* it does not rise there */
        to = x->root < x->limit ? LONGER * x->at : SHORTER * x->at;
    const double times = fmin(fmax(to / x->at, SHORTER), LONGER), most = x->bound - x->best;
    return fabs(times * x->at) < fabs(most) ? times * x->at : most;
}

/* Moves the end; where the rise is unknown it stays. */
static enum fit_status move_end(const struct fit_efficient_ends *e, size_t k, struct end *x)
{
    enum fit_status st = root_at(e, k, x->least, x->best + x->at, &x->root);
    const double first = x->at;
    for (int turn = 0; turn < TURNS && st == FIT_OK && fabs(x->root / x->limit - 1) > CLOSE; turn++) {
        const double to = next_of(x);
        if (to == x->at) { /* on the bound, and not excluded */
            x->open = 1;
            return FIT_OK;
        }
        x->before = x->at;
        x->root_before = x->root;
        x->at = to;
        st = root_at(e, k, x->least, x->best + x->at, &x->root);
    }
    if (!isfinite(x->root))
        x->at = first;
    return st;
}

/* One part with these ends. */
static void finish(struct fit_interval *x)
{
    x->known = 1;
    for (int i = 0; i < 2; i++) {
        x->part[i].n = 1;
        x->part[i].piece[0] = (struct fit_piece){x->lower[i], x->upper[i], x->open_lower[i], x->open_upper[i]};
    }
}

static enum fit_status move_ends(const struct fit_efficient_ends *e, size_t k)
{
    struct fit_result *r = e->r;
    struct fit_interval *x = &r->interval[k];
    enum fit_status st = FIT_OK;
    const double least = fit_speckle_rise_at(e->rise, r->theta, r->lin, k);
    for (int i = 0; i < 2 && !isnan(least); i++)
        for (int side = 0; side < 2 && st == FIT_OK; side++) {
            double *to = side ? &x->upper[i] : &x->lower[i];
            signed char *open = side ? &x->open_upper[i] : &x->open_lower[i];
            struct end y = {.best = r->theta[k], .bound = side ? r->upper[k] : r->lower[k], .at = *to - r->theta[k],
                            .limit = fit_student_quantile(TAIL[i], e->freedom), .least = least};
            if (*open || y.at == 0)
                continue;
            st = move_end(e, k, &y);
            *to = y.open ? y.bound : y.best + y.at;
            *open = (signed char)y.open;
        }
    finish(x);
    return st;
}

/* Where the cost is a paraboloid. */
static void widen(struct fit_result *r, size_t k, double freedom)
{
    struct fit_interval *x = &r->interval[k];
    for (int i = 0; i < 2; i++) {
        const double half = fit_student_quantile(TAIL[i], freedom) * r->std_curvature[k];
        x->lower[i] = fmax(r->theta[k] - half, r->lower[k]);
        x->upper[i] = fmin(r->theta[k] + half, r->upper[k]);
        x->open_lower[i] = x->open_upper[i] = 0;
    }
    finish(x);
}

/* The error, if the interval permits one. */
static void judge(struct fit_result *r, size_t k, double freedom)
{
    const struct fit_interval *x = &r->interval[k];
    const double times = fit_student_quantile(TAIL[0], freedom) / fit_student_quantile(TAIL[0], INFINITY);
    const double unit = fit_student_quantile(TAIL[1], freedom) * r->std_curvature[k], best = r->theta[k];
    const double below = x->open_lower[1] ? INFINITY : (best - x->lower[1]) / unit;
    const double above = x->open_upper[1] ? INFINITY : (x->upper[1] - best) / unit;
    r->profile[k] = fmax(below, above) * r->std_curvature[k];
    if (fmax(below, above) > FIT_PROFILE_MUCH || fmin(below, above) < 1 / FIT_PROFILE_MUCH) {
        fit_profile_withhold(r, k);
        return;
    }
    r->std[k] *= times;
    r->std_robust[k] *= times;
    for (size_t l = 0; l < r->nfull; l++) {
        r->covariance[k * r->nfull + l] *= times;
        r->covariance[l * r->nfull + k] *= times;
    }
}

enum fit_status fit_efficient_ends(const struct fit_efficient_ends *e)
{
    struct fit_result *r = e->r;
    enum fit_status st = FIT_OK;
    for (size_t k = 0; k < r->nparam && st == FIT_OK; k++) {
        const struct fit_interval *x = &r->interval[k];
        if (!(r->std_curvature[k] > 0) || !(r->upper[k] > r->lower[k]) || (x->known && x->part[1].n > 1))
            continue;
        if (x->known)
            st = move_ends(e, k);
        else if (r->std[k] > 0)
            widen(r, k, e->freedom);
        else
            continue;
        if (!isnan(r->std[k]))
            judge(r, k, e->freedom);
    }
    return st;
}

/* Ends on a bound are not set by the data. */
static void open_ends(struct fit_result *r, size_t k)
{
    struct fit_interval *x = &r->interval[k];
    for (int i = 0; i < 2; i++) {
        x->open_lower[i] = x->open_lower[i] || x->lower[i] <= r->lower[k];
        x->open_upper[i] = x->open_upper[i] || x->upper[i] >= r->upper[k];
    }
    finish(x);
}

void fit_efficient_bounds(struct fit_result *r)
{
    for (size_t k = 0; k < r->nparam; k++) {
        struct fit_interval *x = &r->interval[k];
        const double room = fmin(r->theta[k] - r->lower[k], r->upper[k] - r->theta[k]);
        const double half = fit_student_quantile(TAIL[1], INFINITY) * r->std_curvature[k];
        if (!(r->std[k] > 0) || !(r->upper[k] > r->lower[k]) || room >= half / FIT_PROFILE_MUCH ||
            (x->known && x->part[1].n > 1))
            continue;
        if (!x->known)
            widen(r, k, INFINITY);
        open_ends(r, k);
        x->cut = 1;
        fit_profile_withhold(r, k);
    }
}
