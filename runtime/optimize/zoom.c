/* zoom.c -- a step that satisfies both strong Wolfe conditions: outward until an interval contains one, then into
 * the interval; see line.h. Near the minimum differences of values are rounding errors; there the slope measures the
 * decrease: where phi(t) <= phi(0) + 1e-6 |phi(0)|, by phi'(t) <= (2 c1 - 1) phi'(0) (Hager & Zhang 2005, equation
 * 4.1). */
#include "optimize/line.h"

#include <math.h>
#include <string.h>

static const double DECREASE = 1e-4, CURVATURE = 0.9, EXPAND = 2, ROUNDING = 1e-6;
/* A shorter interval contains no better point; trials keep away from its ends by MARGIN of its length. */
static const double SHORTEST = 1e-5, MARGIN = 0.1;

static int decreases(const struct fit_line *line, struct fit_line_point p)
{
    const struct fit_line_point s = line->start;
    if (p.f <= s.f + DECREASE * p.t * s.slope)
        return 1;
    return p.f <= s.f + ROUNDING * fabs(s.f) && p.slope <= (2 * DECREASE - 1) * s.slope;
}

static int flat(const struct fit_line *line, struct fit_line_point p)
{
    return fabs(p.slope) <= CURVATURE * -line->start.slope;
}

/* Remembers the last trial. */
static void keep(struct fit_line *line, struct fit_line_point *best, struct fit_line_point p)
{
    *best = p;
    memcpy(line->best_x, line->xt, line->o->n * sizeof *line->xt);
    memcpy(line->best_g, line->gt, line->o->n * sizeof *line->gt);
}

/* Between lo, the best point so far, whose x and gradient are kept, and hi. */
static double between(struct fit_line_point lo, struct fit_line_point hi)
{
    const double margin = MARGIN * fabs(hi.t - lo.t), least = fmin(lo.t, hi.t) + margin,
                 most = fmax(lo.t, hi.t) - margin;
    double t = isfinite(hi.f) ? fit_line_cubic(lo, hi) : NAN;
    if (!(t >= least && t <= most) && isfinite(hi.f))
        t = lo.t - lo.slope * (hi.t - lo.t) / ((hi.f - lo.f) / (hi.t - lo.t) - lo.slope) / 2;
    return t >= least && t <= most ? t : lo.t + (hi.t - lo.t) / 2;
}

static enum fit_status zoom(struct fit_line *line, size_t left, struct fit_line_point *lo, struct fit_line_point hi,
                            struct fit_line_point *p, struct fit_error *err)
{
    for (; left > 0 && fabs(hi.t - lo->t) > SHORTEST; left--) {
        const enum fit_status st = fit_line_evaluate(line, between(*lo, hi), p, err);
        if (st != FIT_OK)
            return st;
        if (!decreases(line, *p) || (p->f >= lo->f && !(flat(line, *p) && p->f <= line->start.f))) {
            hi = *p;
            continue;
        }
        if (p->slope * (hi.t - lo->t) >= 0)
            hi = *lo;
        keep(line, lo, *p);
        if (flat(line, *p))
            break;
    }
    return FIT_OK;
}

/* lo is where the search ends. */
static enum fit_optimize_step chosen(struct fit_line *line, struct fit_line_point lo, struct fit_line_point *p)
{
    const int finite = isfinite(p->f);
    if (!(lo.t > 0))
        return finite ? FIT_STEP_NO_DECREASE : FIT_STEP_NONFINITE;
    *p = lo;
    memcpy(line->xt, line->best_x, line->o->n * sizeof *line->xt);
    memcpy(line->gt, line->best_g, line->o->n * sizeof *line->gt);
    return FIT_STEP_DONE;
}

enum fit_status fit_line_zoom(struct fit_line *line, double t, struct fit_line_point *p, enum fit_optimize_step *end,
                              struct fit_error *err)
{
    struct fit_line_point lo = line->start;
    const size_t most = line->o->opt.maxls;
    enum fit_status st = FIT_OK;
    for (size_t k = 0; k < most; k++, t *= EXPAND) {
        if ((st = fit_line_evaluate(line, t, p, err)) != FIT_OK)
            return st;
        const struct fit_line_point before = lo;
        if (!decreases(line, *p) || (k > 0 && p->f >= lo.f)) {
            st = zoom(line, most - k - 1, &lo, *p, p, err);
            break;
        }
        keep(line, &lo, *p);
        if (flat(line, *p))
            break;
        if (p->slope >= 0) {
            st = zoom(line, most - k - 1, &lo, before, p, err);
            break;
        }
    }
    if (st == FIT_OK)
        *end = chosen(line, lo, p);
    return st;
}
