/* lbfgsb.c -- L-BFGS-B: Byrd, Lu, Nocedal & Zhu, SIAM J. Sci. Comput. 16 (1995) 1190; with the step of Morales &
 * Nocedal, ACM TOMS 38 (2011) 7 (version 3.0); line search by More & Thuente (1994).
 *
 * The quadratic model is minimised along the projected gradient (cauchy.c), then over the variables that are free
 * there (subspace.c), and a line search goes toward that point. Without bounds that point is x - H g, which two
 * passes over the pairs give. First step: of length 1, or less. */
#include "optimize/box.h"
#include "optimize/line.h"
#include "optimize/vectors.h"

#include <math.h>
#include <string.h>

static const double FARTHEST = 1e10; /* factor of a direction without bounds */

static size_t kept(size_t n, const struct fit_optimize_options *opt)
{
    return fit_box_kept(n, opt->memory);
}

static size_t work(size_t n, const struct fit_optimize_options *opt)
{
    return fit_box_work(n, opt->memory);
}

static void forget(struct fit_optimize *o)
{
    o->s->pairs = 0;
}

/* The minimum of the model, in b->cauchy; d leads there from x. */
static void inside_bounds(struct fit_box_model *b)
{
    for (int again = 0; again < 2; again++) {
        if (fit_box_factor(b)) {
            fit_box_cauchy(b);
            if (fit_box_subspace(b))
                break;
        }
        forget(b->o);
        *b = fit_box_of(b->o);
    }
    fit_vector_minus(b->n, b->cauchy, b->o->x, b->d);
}

/* The largest factor of d within the bounds. */
static double room(const struct fit_box_model *b)
{
    const struct fit_optimize_problem *p = b->o->problem;
    double most = FARTHEST;
    for (size_t k = 0; k < b->n; k++) {
        const double d = b->d[k], x = b->o->x[k];
        const double way = d < 0 && p->lower ? p->lower[k] - x : d > 0 && p->upper ? p->upper[k] - x : INFINITY;
        if (isfinite(way) && fabs(way) < most * fabs(d))
            most = way / d;
    }
    return most;
}

/* All variables have two finite bounds. */
static int boxed(const struct fit_optimize_problem *p)
{
    for (size_t k = 0; k < p->n; k++)
        if (!p->lower || !p->upper || !isfinite(p->lower[k]) || !isfinite(p->upper[k]))
            return 0;
    return 1;
}

static enum fit_status step(struct fit_optimize *o, enum fit_optimize_step *end, struct fit_error *err)
{
    struct fit_box_model b = fit_box_of(o);
    const size_t n = o->n;
    const int bounded = fit_optimize_bounded(o->problem), first = o->s->iteration <= 0;
    if (bounded)
        inside_bounds(&b);
    else
        fit_pairs_direction(&b.p, o->g, b.u, b.d);
    struct fit_line line = {o, b.d, bounded ? b.cauchy : NULL, b.xt, b.gt, NULL, NULL, {0, o->s->f, 0}, FARTHEST};
    line.start.slope = fit_vector_dot(n, b.d, o->g);
    *end = FIT_STEP_NO_DECREASE;
    if (!(line.start.slope < 0))
        return FIT_OK;
    if (b.c > 0)
        o->s->promised = -line.start.slope / 2;
    if (bounded)
        line.most = first ? 1 : fmax(room(&b), 1);
    const double length = sqrt(fit_vector_dot(n, b.d, b.d));
    const double t = b.c == 0 && !(bounded && boxed(o->problem)) ? fmin(1 / length, line.most) : 1;
    struct fit_line_point p = line.start;
    const enum fit_status st = fit_line_more_thuente(&line, t, &p, end, err);
    if (st != FIT_OK || *end != FIT_STEP_DONE)
        return st;
    if (fit_pairs_take(&b.p, o->x, o->g, b.xt, b.gt) && bounded)
        fit_box_take(&b);
    memcpy(o->x, b.xt, n * sizeof *b.xt);
    memcpy(o->g, b.gt, n * sizeof *b.gt);
    o->s->f = p.f;
    o->s->step = p.t;
    return FIT_OK;
}

const struct fit_optimize_method fit_optimize_lbfgsb = {.name = "lbfgsb",
                                                        .summary = "L-BFGS-B, bounds",
                                                        .kind = FIT_OPTIMIZE_LINE_SEARCH,
                                                        .traits = FIT_OPTIMIZE_HAS_BOUNDS | FIT_OPTIMIZE_HAS_STATE,
                                                        .kept = kept,
                                                        .work = work,
                                                        .step = step,
                                                        .forget = forget};
