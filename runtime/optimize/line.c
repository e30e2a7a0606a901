/* line.c -- trials along a direction, and the backtracking search; see line.h. */
#include "optimize/line.h"

#include <math.h>
#include <string.h>

#include "optimize/vectors.h"

enum fit_status fit_line_evaluate(struct fit_line *line, double t, struct fit_line_point *p, struct fit_error *err)
{
    const size_t n = line->o->n;
    if (t == 1 && line->end)
        memcpy(line->xt, line->end, n * sizeof *line->xt);
    else
        fit_vector_along(n, line->o->x, t, line->d, line->xt);
    fit_optimize_inside(line->o->problem, line->xt);
    p->t = t;
    const enum fit_status st = fit_optimize_evaluate(line->o, line->xt, &p->f, line->gt, err);
    p->slope = isfinite(p->f) ? fit_vector_dot(n, line->gt, line->d) : NAN;
    return st;
}

/* Nocedal & Wright (2006), equation 3.59. */
double fit_line_cubic(struct fit_line_point a, struct fit_line_point b)
{
    const double d1 = a.slope + b.slope - 3 * (a.f - b.f) / (a.t - b.t), q = d1 * d1 - a.slope * b.slope;
    if (!(q >= 0))
        return NAN;
    const double d2 = copysign(sqrt(q), b.t - a.t);
    return b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2));
}

enum fit_status fit_line_backtrack(struct fit_line *line, double t, struct fit_line_point *p,
                                   enum fit_optimize_step *end, struct fit_error *err)
{
    static const double DECREASE = 1e-4, SHRINK = 0.8;
    for (size_t k = 0; k < line->o->opt.maxls; k++, t *= SHRINK) {
        const enum fit_status st = fit_line_evaluate(line, t, p, err);
        if (st != FIT_OK)
            return st;
        *end = FIT_STEP_DONE;
        if (p->f <= line->start.f + DECREASE * t * line->start.slope)
            return FIT_OK;
        *end = isfinite(p->f) ? FIT_STEP_NO_DECREASE : FIT_STEP_NONFINITE;
    }
    if (*end == FIT_STEP_NO_DECREASE && line->o->opt.accept_last)
        *end = FIT_STEP_DONE;
    return FIT_OK;
}
