/* cauchy.c -- the generalised Cauchy point: Byrd, Lu, Nocedal & Zhu (1995), section 4, algorithm CP; see box.h.
 *
 * Along x(t) = P(x - t g) the model is a parabola between two breakpoints, where a variable meets its bound.  With p =
 * W^T d and c = W^T (x(t) - x) slope and curvature change at a breakpoint by a few products of 2 c elements. */
#include "optimize/box.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "math/linalg.h"
#include "optimize/vectors.h"

struct walk {
    size_t left;                       /* breakpoints in the heap */
    size_t moving;                     /* variables that still move */
    double t, slope, curvature, least; /* at t; least: of the curvature */
};

/* ---- breakpoints in a heap of pairs t, variable: the next one in order of t, of equal ones by variable -------- */

static int before(const double *a, const double *b)
{
    return a[0] < b[0] || (a[0] <= b[0] && a[1] < b[1]);
}

static void sink(double *heap, size_t n, size_t k)
{
    for (size_t child; (child = 2 * k + 1) < n; k = child) {
        if (child + 1 < n && before(heap + 2 * (child + 1), heap + 2 * child))
            child++;
        if (!before(heap + 2 * child, heap + 2 * k))
            return;
        const double a[2] = {heap[2 * k], heap[2 * k + 1]};
        memcpy(heap + 2 * k, heap + 2 * child, sizeof a);
        memcpy(heap + 2 * child, a, sizeof a);
    }
}

static void remove_first(double *heap, size_t n)
{
    memcpy(heap, heap + 2 * (n - 1), 2 * sizeof *heap);
    sink(heap, n - 1, 0);
}

/* ---- the walk --------------------------------------------------------------------------------- */

/* d = -g where a variable may move, its breakpoints, and the Cauchy point at x. */
static void set_out(struct fit_box_model *b, struct walk *w)
{
    const struct fit_optimize_problem *p = b->o->problem;
    const double *x = b->o->x, *g = b->o->g;
    for (size_t k = 0; k < b->n; k++) {
        const double lower = p->lower ? p->lower[k] : -INFINITY, upper = p->upper ? p->upper[k] : INFINITY;
        const int held = upper <= lower || (g[k] >= 0 && x[k] <= lower) || (g[k] <= 0 && x[k] >= upper);
        const double t = g[k] < 0 ? (x[k] - upper) / g[k] : g[k] > 0 ? (x[k] - lower) / g[k] : INFINITY;
        b->cauchy[k] = x[k];
        b->fixed[k] = held;
        b->d[k] = held ? 0 : -g[k];
        w->moving += !held && g[k] != 0;
        if (!held && isfinite(t)) {
            b->heap[2 * w->left] = t;
            b->heap[2 * w->left++ + 1] = (double)k;
        }
    }
    for (size_t k = w->left / 2; k-- > 0;)
        sink(b->heap, w->left, k);
}

/* Variable k has met its bound, dt after the last breakpoint. */
static void meet(struct fit_box_model *b, struct walk *w, size_t k, double dt)
{
    const struct fit_optimize_problem *p = b->o->problem;
    const size_t c2 = 2 * b->c;
    const double g = b->o->g[k];
    b->cauchy[k] = g > 0 ? p->lower[k] : p->upper[k];
    b->fixed[k] = 1;
    b->d[k] = 0;
    w->moving--;
    const double z = b->cauchy[k] - b->o->x[k];
    fit_vector_add(c2, dt, b->Mp, b->Mc);
    fit_box_row(b, k, b->w);
    fit_box_middle(b, b->w, b->Mw);
    w->slope += dt * w->curvature + g * g + b->theta * g * z - g * fit_vector_dot(c2, b->w, b->Mc);
    w->curvature -=
        b->theta * g * g + 2 * g * fit_vector_dot(c2, b->w, b->Mp) + g * g * fit_vector_dot(c2, b->w, b->Mw);
    w->curvature = fmax(w->curvature, w->least);
    fit_vector_add(c2, g, b->Mw, b->Mp);
}

void fit_box_cauchy(struct fit_box_model *b)
{
    struct walk w = {0};
    set_out(b, &w);
    fit_box_project(b, b->d, b->pd);
    fit_box_middle(b, b->pd, b->Mp);
    memset(b->Mc, 0, 2 * b->c * sizeof *b->Mc);
    w.slope = -fit_vector_dot(b->n, b->d, b->d);
    w.curvature = -b->theta * w.slope;
    w.least = DBL_EPSILON * w.curvature;
    w.curvature = fmax(w.curvature - fit_vector_dot(2 * b->c, b->pd, b->Mp), w.least);
    double ahead = w.moving ? -w.slope / w.curvature : 0;
    while (w.left > 0 && w.moving && ahead >= b->heap[0] - w.t) {
        const double t = b->heap[0], dt = t - w.t;
        meet(b, &w, (size_t)b->heap[1], dt);
        remove_first(b->heap, w.left--);
        w.t = t;
        ahead = w.moving ? -w.slope / w.curvature : 0;
    }
    ahead = fmax(ahead, 0);
    w.t += ahead;
    for (size_t k = 0; k < b->n; k++)
        if (!b->fixed[k])
            b->cauchy[k] = b->o->x[k] + w.t * b->d[k];
    fit_vector_add(2 * b->c, ahead, b->Mp, b->Mc);
}
