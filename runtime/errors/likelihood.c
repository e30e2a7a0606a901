/* likelihood.c -- profile likelihood of one parameter; see likelihood.h.
 *
 * The curve is followed outward from the best value: the first point starts on the axis of the quadratic approximation
 * (axis.h), each other one on a line through the last two. For a curve, steps are chosen for even growth of the square
 * root of the rise, so that it has as many points in a narrow direction as in a wide one; where only the ends of
 * intervals matter, steps aim at these. Ends are found by secants on the root, which is nearly straight. Where the fit
 * has a sketch of the cost (thin_profile.h), the sketch leads from the line to the minimum; the data give the cost
 * there, and near the ends of intervals the derivatives.
 */
#include "errors/likelihood.h"

#include "errors/axis.h"
#include "errors/thin_profile.h"
#include "leastsquares/problem.h"
#include "leastsquares/rate_valley.h"
#include "math/special.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double LEVEL[2] = {0.68, 0.95};
static const double BETTER = 0.1; /* chi2 below the least: another minimum */

/* Accuracy of the profile: steps of the root; how far beyond the last limit, as a factor; the root at the end of an
 * interval; the largest distance of the others from their minimum, in standard errors (the predicted gain of the
 * gradient is subtracted from the rise). */
struct pace {
    double step, beyond, close, gtol;
    int curve; /* 1: a curve to be drawn */
};
static const struct pace CURVE = {0.45, 1.1, 2e-3, 1e-3, 1}, ENDS = {1.2, 1, 4e-2, 0.15, 0};
static const double ENOUGH = 1.5; /* times the rise at the end of the interval */
static const double AT_WALL =
    0.02; /* so close, as a part of the way, to where the profile rises at once: there it ends */
static const double STEEP = 2; /* a root there, in that of the wide interval, up to which the profile is a slope */
/* The sketch: the distance from its minimum to which it leads, in standard errors; the factor of its rise beyond
 * which that of the data is not computed; the excess of a rise over its prediction at which the way back is
 * explored. */
static const double SKETCH_GTOL = 0.03, CERTAIN = 3, ASTRAY = 1;
/* Largest difference between the rises of data and sketch, plus a relative one; distance from the root at an end
 * within which derivatives are computed. */
static const double AGREES[2] = {0.1, 0.05}, AT_END = 0.1;
static const double LITTLE = 0.1; /* root of a rise that allows for much longer steps */
static const double LITTLE_WAY = 0.05; /* of the way from the best value: so far an end is told by the slope */
static const double WORK = 1e8; /* values that a wall is worth to be asked, where there is no sketch */
static const double APART = 0.02; /* of the length of the intervals: so far outside is outside */
enum {
    MOST_PARTS = 8,
    STEPS = 60,
    FEW_STEPS = 25,
    SIDE = (FIT_LIKELIHOOD_POINTS - 2) / 2,
    SECANTS = 8,
    PATIENT = 8,
    MOST_ENDS = 100,
    TRAIL = 8, /* points of a side that are kept, and of these the nearest, through which a parabola goes on */
    NODES = 3
};
/* A parabola is extrapolated only up to where it magnifies errors of its points so many times. */
static const double WILD = 50;

struct curve {
    struct fit_ls *f;
    struct fit_likelihood *out;
    double variance, cost;       /* in whose units a rise counts, at the minimum */
    double inflated;             /* factor of the rise for noise that is shared instead of independent */
    double best, low, high;      /* value; bounds */
    double limit[2];             /* of the root */
    long u;                      /* linear unknown, or -1: nonlinear parameter */
    double *theta, *lower, *upper, *start; /* start: theta at the last point */
    double *before;              /* theta at the point before the last */
    double *other;               /* a start that the evidence proposes */
    double *led;                 /* where the sketch leads */
    double *trail, passed[TRAIL]; /* theta at the last points of this side, and the values there */
    size_t npassed;
    double *matrix;              /* B of a point nearby; NaN in front: not known */
    double *origin;              /* theta from which the interval is followed, and the value and root there */
    double from, from_root;
    struct pace pace;
    struct fit_evidence *evidence;
    int as_given;                /* a fit starts at the given point, whatever the evidence predicts */
    int trust;                   /* the sketch represents the data, which need not be evaluated */
    int hurry, enough, stopped;  /* stop a fit whose rise is larger than matters; stopped for that; from outside */
};

/* ---- one point ------------------------------------------------------------------------------------------------ */

/* The excess of a point over the limit does not matter where only ends are sought. The predicted gain of the
 * gradient counts twice, and may still be too small (another branch of the valley may be found late); it is
 * therefore used only after some steps, and such a point is a starting point for further approach, not an end. */
static enum fit_nlsq_answer is_enough(void *user, const struct fit_nlsq_report *now)
{
    struct curve *c = user;
    struct fit_watch watch = {.deadline = c->f->deadline};
    double rise = (2 * now->cost - 2 * c->cost) / c->variance;
    c->enough = c->hurry && now->iteration >= PATIENT &&
                rise - 2 * now->gradient * now->gradient > ENOUGH * c->limit[1] * c->limit[1];
    return c->enough ? FIT_NLSQ_STOP : fit_watch(&watch, now);
}

/* Where only the ends matter, other points need no derivatives: points at the minimum of the sketch at which the
 * cost of the data agrees with its prediction. */
static int needs_no_more(const struct curve *c, double rise, double expected)
{
    if (c->pace.curve || rise < -BETTER || fabs(rise - expected) > AGREES[0] + AGREES[1] * expected)
        return 0;
    for (int k = 0; k < 2; k++)
        if (fabs(sqrt(fmax(rise, 0)) - c->limit[k]) < AT_END)
            return 0;
    return 1;
}

/* The sketch may have been misleading, to the cost known[0]. 1: the cost at theta is lower; known is then that of
 * theta. */
static int stays(struct curve *c, double *known)
{
    struct fit_objective *o = c->f->obj;
    int better = fit_objective_value(o, c->theta) == FIT_EVAL_OK && o->cost < known[0];
    known[0] = better ? o->cost : NAN;
    known[1] = o->cost_error;
    return better;
}

/* Lets the sketch lead from theta toward the minimum. 1: *rise is known well enough: certainly too high to matter,
 * or inside the interval where nothing else is needed, or not near its end. Otherwise known[2] is the cost at theta
 * and its error, or NaN. */
static int lead(struct curve *c, double *rise, double *known)
{
    struct fit_ls *f = c->f;
    struct fit_objective *o = f->obj;
    size_t bytes = f->p * sizeof *c->led;
    double cost, gradient, inside = c->limit[1] * c->limit[1], far = ENOUGH * inside;
    struct fit_sketch_spec spec = {c->lower, c->upper, c->u, c->u < 0 ? 0 : o->lower[c->u], SKETCH_GTOL,
                                   c->hurry ? c->cost + 0.5 * CERTAIN * far * c->variance : INFINITY, c->variance, 0,
                                   NULL, c->pace.curve ? NULL : c->matrix};
    memcpy(c->led, c->theta, bytes);
    fit_sketch_minimise(f->sketch, &spec, c->led, &cost, &gradient);
    double expected = 2 * (cost - c->cost) / c->variance;
    int there = gradient <= SKETCH_GTOL;
    known[0] = NAN;
    if (c->trust && there) {
        memcpy(c->theta, c->led, bytes);
        *rise = fmax(expected, 0) * f->sketch_scale;
        c->enough = c->hurry && *rise > far;
        return 1;
    }
    if (isnan(cost) || fit_objective_value(o, c->led) != FIT_EVAL_OK)
        return 0;
    known[0] = o->cost;
    known[1] = o->cost_error;
    *rise = 2 * (o->cost - c->cost) / c->variance;
    c->enough = c->hurry && *rise > far && expected - 2 * gradient * gradient > CERTAIN * far;
    if (c->enough || (there && needs_no_more(c, *rise, expected))) {
        memcpy(c->theta, c->led, bytes);
        *rise = fmax(*rise, 0);
        if (*rise < inside)
            fit_evidence_add(c->evidence, o, c->theta, *rise, c->inflated);
        return 1;
    }
    if (*rise > expected + ASTRAY && stays(c, known))
        return 0;
    memcpy(c->theta, c->led, bytes);
    return 0;
}

/* The bounds of the linear unknown, if it is one. */
static void hold_linear(const struct curve *c, double low, double high)
{
    if (c->u < 0)
        return;
    c->f->obj->lower[c->u] = low;
    c->f->obj->upper[c->u] = high;
}

/* A cost with the parameter at its value, from the sketch where there is one. */
static double cost_at(struct curve *c, const double *theta)
{
    struct fit_objective *o = c->f->obj;
    if (c->f->sketch)
        return fit_sketch_value(c->f->sketch, theta, c->u, c->u < 0 ? 0 : o->lower[c->u]);
    return fit_objective_value(o, theta) == FIT_EVAL_OK ? o->cost : INFINITY;
}

/* theta: the known point x, moved to the value v along the valley of the rate to which the parameter belongs. */
static void carry(const struct curve *c, const double *x, double v, double *theta)
{
    const struct fit_ls *f = c->f;
    for (size_t l = 0; l < f->p; l++)
        theta[l] = fmin(fmax(x[l], f->lower[l]), f->upper[l]);
    if (c->u >= 0)
        return;
    theta[c->out->which] = v;
    fit_valley_hold(f->kernel, &f->ds->layout, f->lower, f->upper, x, c->out->which, theta);
}

/* Appends a point of the profile to the trail. */
static void leave_trail(struct curve *c, double v)
{
    const size_t p = c->f->p;
    if (c->npassed == TRAIL) {
        memmove(c->trail, c->trail + p, (TRAIL - 1) * p * sizeof *c->trail);
        memmove(c->passed, c->passed + 1, (TRAIL - 1) * sizeof *c->passed);
        c->npassed--;
    }
    memcpy(c->trail + c->npassed * p, c->theta, p * sizeof *c->trail);
    c->passed[c->npassed++] = v;
}

/* The nearest points of the trail to v, at most n; returns how many. */
static size_t nearest(const struct curve *c, double v, size_t n, size_t *at)
{
    size_t found = 0;
    for (size_t k = 0; k < c->npassed; k++) {
        size_t place = found < n ? found++ : n;
        for (; place > 0 && fabs(c->passed[at[place - 1]] - v) > fabs(c->passed[k] - v); place--)
            if (place < n)
                at[place] = at[place - 1];
        if (place < n)
            at[place] = k;
    }
    return found;
}

/* theta for the value v as the sum of points with weights that add up to 1, rates as the same sum. */
static void mix(const struct curve *c, double v, struct fit_valley_mix points, double *theta)
{
    const struct fit_ls *f = c->f;
    for (size_t l = 0; l < f->p; l++) {
        double sum = 0;
        for (size_t k = 0; k < points.n; k++)
            sum += points.weight[k] * points.point[k][l];
        theta[l] = fmin(fmax(sum, f->lower[l]), f->upper[l]);
    }
    if (c->u < 0)
        theta[c->out->which] = v;
    fit_valley_mixed(f->kernel, &f->ds->layout, f->lower, f->upper, points, c->u < 0 ? (long)c->out->which : -1, theta);
}

/* theta at v on the parabola through the nearest points of the trail.  0: too few, or too far from them. */
static int along_trail(const struct curve *c, double v, double *theta)
{
    size_t at[NODES];
    double weight[NODES];
    const double *point[NODES];
    if (nearest(c, v, NODES, at) < NODES)
        return 0;
    for (size_t k = 0; k < NODES; k++) {
        weight[k] = 1;
        point[k] = c->trail + at[k] * c->f->p;
        for (size_t m = 0; m < NODES; m++)
            weight[k] *= m == k ? 1 : (v - c->passed[at[m]]) / (c->passed[at[k]] - c->passed[at[m]]);
        if (!(fabs(weight[k]) < WILD))
            return 0;
    }
    mix(c, v, (struct fit_valley_mix){NODES, point, weight}, theta);
    return 1;
}

/* Another start than theta for the value v, where a known point on either side, or the parabola, predicts a lower
 * cost. */
static void best_start(struct curve *c, double v)
{
    const struct fit_ls *f = c->f;
    double least = NAN; /* at theta, not asked yet */
    long beside[2];
    fit_evidence_beside(c->evidence, c->out->which, v, beside);
    for (int turn = 0; turn < 3; turn++) {
        if (turn < 2 ? beside[turn] < 0 : !along_trail(c, v, c->other))
            continue;
        if (turn < 2)
            carry(c, fit_evidence_at(c->evidence, (size_t)beside[turn]), v, c->other);
        if (isnan(least))
            least = cost_at(c, c->theta);
        const double cost = cost_at(c, c->other);
        if (!(cost < least) && isfinite(least))
            continue;
        least = cost;
        memcpy(c->theta, c->other, f->p * sizeof *c->theta);
    }
}

/* Minimises on the data from theta, where known[0] is the cost; returns the rise. */
static double descend(struct curve *c, double v, const double *known)
{
    struct fit_ls *f = c->f;
    struct fit_nlsq_problem problem = fit_problem(f->obj, c->lower, c->upper, f->dof, f->noise);
    struct fit_nlsq_options opt = {.max_iterations = c->hurry ? FEW_STEPS : STEPS,
                                   .ftol = 1e-12,
                                   .xtol = 1e-12,
                                   .gtol = c->pace.gtol,
                                   .curved = f->curvature != NULL,
                                   .curvature = f->curvature,
                                   .near = !c->pace.curve && isfinite(c->matrix[0]) ? c->matrix : NULL,
                                   .known = isnan(known[0]) ? NULL : known,
                                   .watch = is_enough,
                                   .watch_user = c};
    const enum fit_nlsq_end end = fit_nlsq_run(f->nlsq, &problem, &opt, c->theta);
    const double above = 2 * (f->nlsq->cost - c->cost), promised = f->nlsq->gradient * f->nlsq->gradient;
    const double rise = above / c->variance - (promised < 1 ? promised : 0);
    if (isfinite(f->nlsq->cost))
        memcpy(c->matrix, f->nlsq->B, f->p * f->p * sizeof *c->matrix);
    if (rise < c->limit[1] * c->limit[1] && f->nlsq->current)
        fit_evidence_add(c->evidence, f->obj, c->theta, fmax(rise, 0), c->inflated);
    c->stopped |= end == FIT_NLSQ_STOPPED && !c->enough;
    c->enough |= c->hurry && end == FIT_NLSQ_LIMIT;
    if (above < -BETTER * c->variance / c->inflated && !c->out->lower_cost) {
        c->out->lower_cost = 1;
        c->out->better = v;
        memcpy(f->better, c->theta, f->p * sizeof *f->better);
        f->found_lower = 1;
    }
    return fmax(rise, 0);
}

/* Signed square root of the rise with the parameter held at v; theta: on entry a start, on return the minimum. */
static double root_at(struct curve *c, double v)
{
    struct fit_ls *f = c->f;
    struct fit_objective *o = f->obj;
    size_t k = c->out->which, u = c->u < 0 ? 0 : (size_t)c->u;
    double low = c->u < 0 ? 0 : o->lower[u], high = c->u < 0 ? 0 : o->upper[u], rise, known[2] = {NAN, 0};
    memcpy(c->lower, f->lower, f->p * sizeof *c->lower);
    memcpy(c->upper, f->upper, f->p * sizeof *c->upper);
    if (c->u < 0)
        c->lower[k] = c->upper[k] = c->theta[k] = v;
    else
        hold_linear(c, v - o->origin[u], v - o->origin[u]);
    if (!c->as_given)
        best_start(c, v);
    c->enough = 0;
    if (!f->sketch || !lead(c, &rise, known))
        rise = descend(c, v, known);
    hold_linear(c, low, high);
    if (!c->enough) /* else theta is no minimum */
        leave_trail(c, v);
    return copysign(sqrt(rise), v - c->best);
}

static void add_point(struct curve *c, double v, double root)
{
    struct fit_likelihood *l = c->out;
    if (l->n == FIT_LIKELIHOOD_POINTS)
        return;
    size_t at = l->n++;
    for (; at > 0 && l->value[at - 1] > v; at--) {
        l->value[at] = l->value[at - 1];
        l->rise[at] = l->rise[at - 1];
    }
    l->value[at] = v;
    l->rise[at] = root * root * c->inflated;
}

/* ---- one side -------------------------------------------------------------------------------------------------- */

/* theta for the value v on the line through the points x1 and x2 of the profile, with v1 and v2, curved so that
 * rates change evenly. */
static void on_line(struct curve *c, double v, double v1, const double *x1, double v2, const double *x2)
{
    const double part = v2 != v1 ? (v - v1) / (v2 - v1) : 0;
    mix(c, v, (struct fit_valley_mix){2, (const double *[]){x1, x2}, (double[]){1 - part, part}}, c->theta);
}

/* The absolute root at x, between (first, ra) and (last, rb) with theta at_a and at_b. If it exceeds both, the start
 * was in the valley of another minimum: then it is repeated from the line between the two, and from either end,
 * whatever the price. */
static double root_between(struct curve *c, double x, double first, double ra, const double *at_a, double last,
                           double rb, const double *at_b)
{
    const double *start[2] = {at_a, at_b};
    on_line(c, x, first, at_a, last, at_b);
    double r = fabs(root_at(c, x));
    c->as_given = 1;
    for (int k = 0; k < 3 && r > fmax(ra, rb) + c->pace.close; k++) {
        if (k == 0)
            on_line(c, x, first, at_a, last, at_b);
        else
            carry(c, start[k - 1], x, c->theta);
        r = fmin(r, fabs(root_at(c, x)));
    }
    c->as_given = 0;
    return r;
}

/* Where the root is `wanted`, between (a, ra) and (b, rb) with theta at a and b. */
static double find_end(struct curve *c, double wanted, double a, double ra, const double *at_a, double b, double rb,
                       double *work)
{
    size_t bytes = c->f->p * sizeof *work;
    double x = b, first = a, last = b, fa = ra - wanted, fb = rb - wanted;
    int side = 0; /* +1: a was moved last, -1: b */
    memcpy(work, c->theta, bytes);
    for (int turn = 0; turn < SECANTS && fabs(b - a) > 1e-12 * fabs(b) && !c->stopped; turn++) {
        double part = fa / (fa - fb);
        part = fmin(fmax(part, 0.02), 0.98);
        x = a + part * (b - a);
        double r = root_between(c, x, first, ra, at_a, last, rb, work);
        if (fabs(r - wanted) < c->pace.close) { /* the rest by the slope */
            x = fmin(fmax(x + (wanted - r) * (b - a) / (fb - fa), fmin(a, b)), fmax(a, b));
            break;
        }
        if (r < wanted) { /* the Illinois rule: an end that stays counts half */
            fb *= side > 0 ? 0.5 : 1;
            a = x, fa = r - wanted, side = 1;
        } else {
            fa *= side < 0 ? 0.5 : 1;
            b = x, fb = r - wanted, side = -1;
        }
    }
    memcpy(c->theta, work, bytes);
    return x;
}

/* Does the profile end at v? A fit that was stopped early may have missed the continuation: it is repeated from all
 * known points, on the data too, and to its end. Returns the root there; theta is the minimum. */
static double root_at_wall(struct curve *c, double v)
{
    const struct fit_ls *f = c->f;
    const size_t bytes = f->p * sizeof *c->led, n = c->evidence->n;
    const size_t step = f->sketch ? 1 : 1 + (size_t)((double)n * (double)f->ds->npoint / WORK);
    const int trust = c->trust, hurry = c->hurry;
    const double low = c->u < 0 ? 0 : f->obj->lower[c->u], high = c->u < 0 ? 0 : f->obj->upper[c->u];
    double least = INFINITY;
    if (c->u >= 0)
        hold_linear(c, v - f->obj->origin[c->u], v - f->obj->origin[c->u]);
    memcpy(c->led, c->theta, bytes);
    for (size_t k = 0; k <= n; k += k < n && k + step > n ? n - k : step) { /* the minimum is the last */
        carry(c, k < n ? fit_evidence_at(c->evidence, k) : f->res->theta, v, c->theta);
        double cost = cost_at(c, c->theta);
        if (!(cost < least))
            continue;
        least = cost;
        memcpy(c->led, c->theta, bytes);
    }
    memcpy(c->theta, c->led, bytes);
    hold_linear(c, low, high);
    c->trust = c->hurry = 0;
    double r = fabs(root_at(c, v));
    c->trust = trust;
    c->hurry = hurry;
    return r;
}

/* Progress along a side: value and root at the last point, and at the one before (c->before); change of the value
 * per growth of the root between the two, at first from the standard error. */
struct walk {
    double at, root, before, root_before, slope;
    double step, wall; /* wall: the nearest point that was too far */
    size_t next;       /* end that is looked for */
    int last, walled;  /* the bound is reached; there is no way on */
};

/* Required growth of the root at the next point: up to the next end, where only ends are sought. */
static double growth(const struct curve *c, const struct walk *w)
{
    return c->pace.curve || w->next > 1 ? c->pace.step : fmin(c->pace.step, c->limit[w->next] - w->root);
}

/* The point (v, r), with theta at the one before in c->start, becomes the last. The next step is that of the
 * parabola through the last three, value versus root; of a line, where a curve is to be drawn. */
static void step_to(struct curve *c, struct walk *w, double v, double r)
{
    const double way = fabs(v - w->at), grown = r - w->root, slope = way / grown;
    const double bend = c->pace.curve || !(w->slope > 0) ? 0 : (slope - w->slope) / (r - w->root_before);
    const double most = fmax((r < LITTLE ? 16 : 4) * way, c->pace.curve ? 0 : 2 * fabs(v - w->before));
    memcpy(c->before, c->start, c->f->p * sizeof *c->before);
    w->before = w->at, w->root_before = w->root;
    w->at = v, w->root = r;
    w->slope = slope;
    w->step = 16 * way;
    w->walled = 0;
    if (!(grown > 0))
        return;
    const double more = growth(c, w), wanted = more * fmax(slope + (more + grown) * bend, 0.25 * slope);
    w->step = fmin(fmax(wanted, (c->pace.curve ? 0.25 : 0.02) * way), most);
}

/* The next value: at most half of the way to the wall, from nearby the wall itself. */
static double next_value(const struct curve *c, struct walk *w, double side, double bound)
{
    double v = w->at + side * w->step;
    if (isfinite(w->wall) && fabs(v - w->at) > 0.5 * fabs(w->wall - w->at))
        v = w->at + 0.5 * (w->wall - w->at);
    w->walled = !c->pace.curve && fabs(w->wall - w->at) < AT_WALL * fabs(w->at - c->from);
    v = w->walled ? w->wall : v;
    w->last = side * (v - bound) >= 0;
    return w->last ? bound : v;
}

/* theta for the value v: on the line through the last two points, from the minimum on the axis of its paraboloid. */
static void set_out(struct curve *c, double v, const struct walk *w)
{
    if (w->at == c->best && w->root == 0)
        fit_axis_point(c->f, c->out->which, v, c->theta);
    else
        on_line(c, v, w->before, c->before, w->at, c->start);
}

/* The value where the root is `limit`, near (v, r): on the parabola, value versus root, through it and the last two. */
static double value_at_root(const struct walk *w, double v, double r, double limit)
{
    const double slope = (v - w->at) / (r - w->root);
    double bend = 0;
    if (w->root > w->root_before)
        bend = (slope - (w->at - w->before) / (w->root - w->root_before)) / (r - w->root_before);
    return v + (limit - r) * (slope + bend * (limit - w->root));
}

/* The ends between the last point and (v, r), or just beyond: where the profile continues to rise as before, a small
 * fraction of the way so far. (A flat one may never get there.) */
static void pass_ends(struct curve *c, struct walk *w, double v, double r, double *end, int *open, double *work)
{
    const double slope = (v - w->at) / (r - w->root), close = c->pace.curve ? 0 : c->pace.close;
    for (; w->next < 2; w->next++) {
        const double limit = c->limit[w->next], rest = (limit - r) * slope;
        const int beyond = !w->last && limit - r < close && fabs(rest) < LITTLE_WAY * fabs(v - c->from);
        if (r < limit && !(beyond && r > w->root))
            break;
        end[w->next] = r > limit + close ? find_end(c, limit, w->at, w->root, c->start, v, r, work)
                       : w->last ? v
                                 : fmin(fmax(value_at_root(w, v, r, limit), c->low), c->high);
        open[w->next] = 0;
    }
}

/* At the origin. */
static void set_off(struct curve *c)
{
    const size_t bytes = c->f->p * sizeof *c->theta;
    memcpy(c->theta, c->origin, bytes);
    memcpy(c->before, c->theta, bytes);
    c->npassed = 0;
    leave_trail(c, c->from);
}

/* Follows the profile from the origin toward side (+1, -1), at most to `bound`; ends of the intervals, beginning
 * with the one that contains the origin. */
static void follow(struct curve *c, double side, double std, double bound, double *end, int *open, double *work)
{
    const size_t bytes = c->f->p * sizeof *c->theta, most = c->pace.curve ? SIDE : MOST_ENDS;
    struct walk w = {.at = c->from, .root = c->from_root, .before = c->from, .root_before = c->from_root};
    w.slope = w.root > 0 ? 0 : std;
    w.wall = side * INFINITY;
    w.next = w.root < c->limit[0] ? 0 : 1;
    w.step = growth(c, &w) * std;
    set_off(c);
    for (size_t n = 0; n < most && !c->stopped; n++) {
        double v = next_value(c, &w, side, bound);
        memcpy(c->start, c->theta, bytes);
        set_out(c, v, &w);
        c->hurry = !c->pace.curve;
        double r = w.walled ? root_at_wall(c, v) : fabs(root_at(c, v));
        c->hurry = 0;
        if (w.walled && (r >= STEEP * c->limit[1] || c->enough)) {
            memcpy(c->theta, c->start, bytes);
            break;
        }
        w.wall = w.walled ? side * INFINITY : w.wall;
        if (!w.walled && (r > w.root + 3 * c->pace.step || c->enough) && w.step > 1e-9 * std && n + 1 < most) {
            memcpy(c->theta, c->start, bytes);
            w.wall = v;
            w.step = fabs(v - w.at) * fmin(fmax(0.2, c->pace.step / (r - w.root)), 0.7);
            continue;
        }
        add_point(c, v, r);
        pass_ends(c, &w, v, r, end, open, work);
        step_to(c, &w, v, r);
        if (w.last || r >= c->pace.beyond * c->limit[1] || (w.next == 2 && !c->pace.curve))
            break;
    }
    for (; w.next < 2; w.next++) { /* not reached */
        end[w.next] = w.at;
        open[w.next] = w.last ? 1 : w.walled ? 0 : 2;
    }
}

/* ---- in words --------------------------------------------------------------------------------------------------- */

static const char *open_words(int open)
{
    return open == 1 ? " (bound)" : open ? " (not followed further)" : "";
}

/* "1.2 .. 1.9, 4.1 .. 4.7 (bound)" */
static void union_words(const struct fit_union *u, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t k = 0; k < u->n && used < size; k++)
        used += (size_t)snprintf(text + used, size - used, "%s%.5g%s .. %.5g%s", k ? ", " : "", u->piece[k].lower,
                                 open_words(u->piece[k].open_lower), u->piece[k].upper,
                                 open_words(u->piece[k].open_upper));
}

static void describe(struct curve *c, const char *name)
{
    struct fit_likelihood *l = c->out;
    char at[2][200];
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
                 open_words(open[0]), l->one_sided < 0 ? "below" : "above", end[1],
                 open_words(open[1]), open[1] ? ": the data exclude no value" : "");
        return;
    }
    for (int k = 0; k < 2; k++)
        union_words(&l->part[k], at[k], sizeof at[k]);
    snprintf(l->text, sizeof l->text, "68 %%: %s; 95 %%: %s%s", at[0], at[1],
             l->part[1].n > 1                     ? ": several minima fit"
             : l->open_lower[1] && l->open_upper[1] ? ": the data exclude no value"
             : l->open_lower[1]                   ? ": no lower limit from the data"
             : l->open_upper[1]                   ? ": no upper limit from the data"
                                                  : "");
}

/* ---- the curve -------------------------------------------------------------------------------------------------- */

void fit_likelihood_limits(const struct fit_ls *f, int one_sided, double limit[2])
{
    double dof = f->res->noise == FIT_NOISE_RESIDUALS ? f->dof : INFINITY;
    for (int k = 0; k < 2; k++)
        limit[k] = fit_student_quantile(one_sided ? 1 - LEVEL[k] : 0.5 * (1 - LEVEL[k]), dof);
}

/* A first step: the standard error, otherwise from the curvature, otherwise a fraction of the box. */
static double first_scale(const struct curve *c)
{
    const struct fit_result *r = c->f->res;
    double std = r->std[c->out->which], box = c->high - c->low;
    if (std > 0 && isfinite(std))
        return std * sqrt(c->inflated);
    if (c->u < 0 && c->f->B[c->out->which * (c->f->p + 1)] > 0) {
        double s = sqrt(c->variance / c->f->B[c->out->which * (c->f->p + 1)]);
        return isfinite(box) ? fmin(s, 0.1 * box) : s;
    }
    return isfinite(box) ? 0.02 * box : fmax(fabs(c->best), 1) * 0.01;
}

/* ---- all parts -------------------------------------------------------------------------------------------------- */

/* Adds an interval, merging it with those that it meets. */
static void join(struct fit_union *u, struct fit_piece new)
{
    struct fit_piece all[FIT_PIECES + 1];
    size_t n = 0;
    int put = 0;
    for (size_t k = 0; k <= u->n; k++) { /* ascending */
        if (!put && (k == u->n || new.lower < u->piece[k].lower))
            all[n++] = new, put = 1;
        if (k < u->n)
            all[n++] = u->piece[k];
    }
    for (size_t k = 0; k + 1 < n;) {
        struct fit_piece *a = &all[k], *b = a + 1;
        if (b->lower > a->upper && n <= FIT_PIECES) {
            k++;
            continue;
        }
        if (b->upper >= a->upper)
            a->open_upper = b->upper > a->upper ? b->open_upper : a->open_upper | b->open_upper;
        a->upper = fmax(a->upper, b->upper);
        n--;
        memmove(b, b + 1, (n - k - 1) * sizeof *b);
    }
    u->n = n;
    memcpy(u->piece, all, n * sizeof *all);
}

/* The ends of the unions. */
static void take_ends(struct fit_likelihood *l)
{
    for (int i = 0; i < 2; i++) {
        const struct fit_piece *first = l->part[i].piece, *last = first + l->part[i].n - 1;
        l->lower[i] = first->lower;
        l->upper[i] = last->upper;
        l->open_lower[i] = first->open_lower;
        l->open_upper[i] = last->open_upper;
    }
}

/* Follows the interval around the origin, on both sides or the one within the bounds, and merges it with the others. */
static void trace(struct curve *c, double scale, double *work)
{
    struct fit_likelihood *out = c->out;
    double lower[2] = {c->from, c->from}, upper[2] = {c->from, c->from};
    int open_lower[2] = {0}, open_upper[2] = {0};
    if (out->one_sided >= 0)
        follow(c, -1, scale, c->low, lower, open_lower, work);
    if (out->one_sided <= 0)
        follow(c, 1, scale, c->high, upper, open_upper, work);
    for (int i = c->from_root < c->limit[0] ? 0 : 1; i < 2; i++)
        join(&out->part[i],
             (struct fit_piece){lower[i], upper[i], (signed char)open_lower[i], (signed char)open_upper[i]});
}

/* Points of the evidence outside the wider interval: other minima, or a profile that falls again. */
static void trace_others(struct curve *c, double *work)
{
    struct fit_likelihood *out = c->out;
    for (int turn = 0; turn < MOST_PARTS && !c->stopped && !out->lower_cost; turn++) {
        const struct fit_union *u = &out->part[1];
        double length = u->piece[u->n - 1].upper - u->piece[0].lower;
        long k = fit_evidence_outside(c->evidence, out->which, u, APART * length);
        if (k < 0 || c->evidence->rise[k] >= c->limit[1] * c->limit[1] * c->inflated)
            break;
        const double *x = fit_evidence_at(c->evidence, (size_t)k);
        memcpy(c->origin, x, c->f->p * sizeof *x);
        c->from = x[out->which];
        c->from_root = sqrt(c->evidence->rise[k] / c->inflated);
        join(&out->part[1], (struct fit_piece){c->from, c->from, 0, 0});
        c->pace = ENDS;
        trace(c, first_scale(c), work);
    }
}

/* The piece of the narrow interval nearest to x, among those in the same piece of the wider one; NULL: none. */
static const struct fit_piece *piece_near(const struct fit_likelihood *l, double x)
{
    const struct fit_piece *near = NULL;
    for (size_t i = 0; i < l->part[1].n; i++) {
        const struct fit_piece *wide = &l->part[1].piece[i];
        for (size_t k = 0; k < l->part[0].n && x >= wide->lower && x <= wide->upper; k++) {
            const struct fit_piece *p = &l->part[0].piece[k];
            const int inside = p->lower >= wide->lower && p->upper <= wide->upper;
            if (inside && (!near || fmax(p->lower - x, x - p->upper) < fmax(near->lower - x, x - near->upper)))
                near = p;
        }
    }
    return near;
}

/* Extends the narrow interval to points outside it that are low enough, in another valley, which the profile has
 * passed by. */
static void hold_known(struct curve *c)
{
    struct fit_likelihood *out = c->out;
    struct fit_union *u = &out->part[0];
    for (size_t turn = 0; turn < c->evidence->n && u->n > 0 && !out->lower_cost; turn++) {
        double length = u->piece[u->n - 1].upper - u->piece[0].lower;
        long k = fit_evidence_outside(c->evidence, out->which, u, APART * length);
        if (k < 0 || c->evidence->rise[k] >= c->limit[0] * c->limit[0] * c->inflated)
            break;
        double x = fit_evidence_at(c->evidence, (size_t)k)[out->which];
        const struct fit_piece *p = piece_near(out, x);
        if (!p)
            break;
        join(u, x < p->lower ? (struct fit_piece){x, p->lower, 0, 0} : (struct fit_piece){p->upper, x, 0, 0});
    }
}

/* ---- interface ------------------------------------------------------------------------------------------------- */

/* Work space and initial state; NULL: out of memory. For the caller to free. */
static double *prepare(struct curve *c, double **work)
{
    struct fit_ls *f = c->f;
    double *all = malloc(((9 + TRAIL + f->p) * f->p + 1) * sizeof *all), **const part[] = {
        &c->theta, &c->lower, &c->upper, &c->start, &c->before, &c->led, &c->other, &c->origin, work};
    if (!all)
        return NULL;
    for (size_t k = 0; k < sizeof part / sizeof *part; k++)
        *part[k] = all + k * f->p;
    c->trail = all + 9 * f->p; /* of nine vectors */
    c->matrix = c->trail + TRAIL * f->p;
    c->matrix[0] = NAN;
    c->out->one_sided = f->res->at_bound[c->out->which];
    fit_likelihood_limits(f, c->out->one_sided, c->limit);
    memcpy(c->origin, f->res->theta, f->p * sizeof *c->origin);
    c->from = c->best;
    c->from_root = 0;
    c->cost = f->sketch                                                         ? fit_sketch_least(f->sketch)
              : fit_objective_value(f->obj, f->res->theta) == FIT_EVAL_OK ? f->obj->cost
                                                                            : NAN;
    return all;
}

/* 0: the parameter is held. */
static int begin(struct curve *c, struct fit_ls *f, size_t which, struct fit_likelihood *out)
{
    const struct fit_result *r = f->res;
    c->f = f;
    c->out = out;
    c->best = which < f->p ? r->theta[which] : r->lin[which - f->p];
    c->low = r->lower[which];
    c->high = r->upper[which];
    c->u = which < f->p ? -1 : f->obj->map[which - f->p];
    c->inflated = r->interval[which].wider * r->interval[which].wider;
    c->variance *= c->inflated;
    return c->high > c->low && (which < f->p || c->u >= 0);
}

/* All parts, or, where some are known, the others. */
static enum fit_status find_parts(struct curve *c)
{
    double *work, *all = prepare(c, &work);
    if (!all)
        return fit_fail(c->f->err, FIT_ERR_MEMORY, "profile: out of memory");
    if (c->out->part[1].n == 0) {
        add_point(c, c->best, 0);
        trace(c, first_scale(c), work);
    }
    trace_others(c, work);
    hold_known(c);
    take_ends(c->out);
    free(all);
    return FIT_OK;
}

enum fit_status fit_likelihood_curve(struct fit_ls *f, size_t which, double variance, struct fit_evidence *evidence,
                                     struct fit_likelihood *out)
{
    struct curve c = {.variance = variance, .pace = CURVE, .evidence = evidence};
    const char *name = which < f->p ? f->kernel->param[which].name : f->kernel->linear[(which - f->p) % f->q].name;
    *out = (struct fit_likelihood){.which = which};
    if (!begin(&c, f, which, out)) {
        snprintf(out->text, sizeof out->text, "%s is held: it has no profile", name);
        return FIT_OK;
    }
    enum fit_status st = find_parts(&c);
    if (st == FIT_OK)
        describe(&c, name);
    return st == FIT_OK && c.stopped ? fit_fail(f->err, FIT_ERR_INTERRUPTED, "profile: interrupted") : st;
}

enum fit_status fit_likelihood_ends(struct fit_ls *f, size_t which, double variance, struct fit_evidence *evidence,
                                    struct fit_likelihood *out)
{
    *out = (struct fit_likelihood){.which = which};
    return fit_likelihood_extend(f, which, variance, evidence, out);
}

enum fit_status fit_likelihood_extend(struct fit_ls *f, size_t which, double variance, struct fit_evidence *evidence,
                                      struct fit_likelihood *out)
{
    struct curve c = {.variance = variance, .pace = ENDS, .evidence = evidence, .trust = f->sketch_trusted};
    return begin(&c, f, which, out) ? find_parts(&c) : FIT_OK;
}
