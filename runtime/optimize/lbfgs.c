/* lbfgs.c -- L-BFGS without bounds (Nocedal 1980; Liu & Nocedal, Math. Program. 45 (1989) 503), with two line
 * searches: strong Wolfe conditions by zooming, and backtracking until the value falls. The first trial is the whole
 * direction (Nocedal & Wright 2006, section 3.5), or for backtracking 1.5 times the last step where that was
 * shorter. Zooming does not start from the last step: the curvature condition accepts short steps, so that steps
 * would stay short.
 *
 * State: the pairs. Work space: direction, trial and best point with gradients, one number per pair. */
#include "optimize/line.h"
#include "optimize/pairs.h"
#include "optimize/vectors.h"

#include <math.h>
#include <string.h>

static const double GROWTH = 1.5; /* of the step, when shrinking begins */
enum { VECTORS = 5 };

static size_t kept(size_t n, const struct fit_optimize_options *opt)
{
    return fit_pairs_size(n, opt->memory);
}

static size_t work(size_t n, const struct fit_optimize_options *opt)
{
    return VECTORS * n + opt->memory;
}

static void forget(struct fit_optimize *o)
{
    o->s->pairs = 0;
    o->s->step = 0;
}

/* -H g, or -g with length 1 at most without pairs, or where rounding has made it an ascent direction. */
static double direction(struct fit_optimize *o, const struct fit_pairs *pairs, double *alpha, double *d)
{
    fit_pairs_direction(pairs, o->g, alpha, d);
    double slope = fit_vector_dot(o->n, d, o->g);
    if (pairs->count && slope < 0) {
        o->s->promised = -slope / 2;
        return slope;
    }
    const double norm = sqrt(fit_vector_dot(o->n, o->g, o->g));
    fit_vector_scale(o->n, -fmin(1, 1 / norm), o->g, d);
    return fit_vector_dot(o->n, d, o->g);
}

static enum fit_status step_by(struct fit_optimize *o, int shrinking, enum fit_optimize_step *end,
                               struct fit_error *err)
{
    const size_t n = o->n;
    double *d = o->work, *xt = d + n, *gt = xt + n, *alpha = gt + 3 * n;
    struct fit_pairs pairs = fit_pairs_of(o);
    struct fit_line line = {o, d, NULL, xt, gt, gt + n, gt + 2 * n, {0, o->s->f, 0}, INFINITY};
    line.start.slope = direction(o, &pairs, alpha, d);
    struct fit_line_point p = line.start;
    const double last = o->s->step > 0 ? o->s->step : 1;
    const enum fit_status st = shrinking ? fit_line_backtrack(&line, fmin(GROWTH * last, 1), &p, end, err)
                                         : fit_line_zoom(&line, 1, &p, end, err);
    if (st != FIT_OK || *end != FIT_STEP_DONE)
        return st;
    fit_pairs_take(&pairs, o->x, o->g, xt, gt);
    memcpy(o->x, xt, n * sizeof *xt);
    memcpy(o->g, gt, n * sizeof *gt);
    o->s->f = p.f;
    o->s->step = p.t;
    return FIT_OK;
}

static enum fit_status step_zoom(struct fit_optimize *o, enum fit_optimize_step *end, struct fit_error *err)
{
    return step_by(o, 0, end, err);
}

static enum fit_status step_shrink(struct fit_optimize *o, enum fit_optimize_step *end, struct fit_error *err)
{
    return step_by(o, 1, end, err);
}

const struct fit_optimize_method fit_optimize_lbfgs = {.name = "lbfgs-zoom",
                                                       .summary = "L-BFGS, strong Wolfe conditions",
                                                       .kind = FIT_OPTIMIZE_LINE_SEARCH,
                                                       .traits = FIT_OPTIMIZE_HAS_STATE,
                                                       .kept = kept,
                                                       .work = work,
                                                       .step = step_zoom,
                                                       .forget = forget};

const struct fit_optimize_method fit_optimize_lbfgs_bt = {.name = "lbfgs-bt",
                                                          .summary = "L-BFGS, shrinking steps",
                                                          .kind = FIT_OPTIMIZE_LINE_SEARCH,
                                                          .traits = FIT_OPTIMIZE_HAS_STATE,
                                                          .kept = kept,
                                                          .work = work,
                                                          .step = step_shrink,
                                                          .forget = forget};
