/* nuts.c -- one transition of the no-U-turn sampler.
 *
 * Potential V = -lp, momentum p ~ N(0, M), velocity v = M^-1 p, Hamiltonian H = V + p.v / 2.  The
 * trajectory doubles forwards or backwards at random until it turns (Hoffman & Gelman 2014).  A
 * state has weight exp(H0 - H); subtrees choose their candidate with probability proportional to
 * weight, the trajectory prefers its newer half (Betancourt 2017, appendix A.3.2).
 *
 * Turned: with rho the sum of momenta between two ends a and b, v_a.rho <= 0 or v_b.rho <= 0. Asked
 * of every subtree, and of each half joined with the first state of the other half, which sees the
 * turns that fall between the halves (Stan 2.21, pull request 2800).
 *
 * Momenta are never reversed: backward integration uses a negative step. */
#include "sampler/nuts.h"
#include "math/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MAX_ENERGY_ERROR = 1000; /* Stan's; beyond it the integrator has diverged */

struct end { /* of a (sub)trajectory */
    double *p, *v;
};

struct candidate {
    double *q, *g, lp, energy;
};

struct level { /* what build() keeps at one depth */
    struct end a_last, b_first;
    double *rho_a, *rho_b;
    struct candidate prop;
};

struct state {
    double *q, *p, *g, lp;
};

struct fit_nuts {
    size_t n;
    unsigned max_depth;
    struct level level[FIT_NUTS_MAX_DEPTH];
    struct state fwd, bck;                         /* ends of the trajectory */
    struct end bck_bck, bck_fwd, fwd_bck, fwd_fwd; /* [half]_[its end] */
    double *rho, *rho_bck, *rho_fwd;
    struct candidate sample, prop;

    /* of the running transition */
    const struct fit_nuts_move *move;
    struct state *z;
    double step; /* with sign */
    double h0, accept_sum;
    struct fit_rng rng;
    struct fit_draw_stats *stats;
    int stop;
    double memory[];
};

/* ---- work space ------------------------------------------------------------------------------ */

static double *take(double **at, size_t n)
{
    double *p = *at;
    *at += n;
    return p;
}

static struct end take_end(double **at, size_t n)
{
    struct end e;
    e.p = take(at, n);
    e.v = take(at, n);
    return e;
}

static struct candidate take_candidate(double **at, size_t n)
{
    struct candidate c = {0};
    c.q = take(at, n);
    c.g = take(at, n);
    return c;
}

static struct state take_state(double **at, size_t n)
{
    struct state s = {0};
    s.q = take(at, n);
    s.p = take(at, n);
    s.g = take(at, n);
    return s;
}

struct fit_nuts *fit_nuts_new(size_t n, unsigned max_depth)
{
    if (max_depth > FIT_NUTS_MAX_DEPTH)
        max_depth = FIT_NUTS_MAX_DEPTH;
    size_t need = (8 * max_depth + 21) * n;
    struct fit_nuts *w = calloc(1, sizeof *w + need * sizeof(double));
    if (!w)
        return NULL;
    double *at = w->memory;
    w->n = n;
    w->max_depth = max_depth;
    for (unsigned d = 0; d < max_depth; d++) {
        w->level[d].a_last = take_end(&at, n);
        w->level[d].b_first = take_end(&at, n);
        w->level[d].rho_a = take(&at, n);
        w->level[d].rho_b = take(&at, n);
        w->level[d].prop = take_candidate(&at, n);
    }
    w->fwd = take_state(&at, n);
    w->bck = take_state(&at, n);
    w->bck_bck = take_end(&at, n);
    w->bck_fwd = take_end(&at, n);
    w->fwd_bck = take_end(&at, n);
    w->fwd_fwd = take_end(&at, n);
    w->rho = take(&at, n);
    w->rho_bck = take(&at, n);
    w->rho_fwd = take(&at, n);
    w->sample = take_candidate(&at, n);
    w->prop = take_candidate(&at, n);
    return w;
}

void fit_nuts_free(struct fit_nuts *w)
{
    free(w);
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

static void copy(size_t n, const double *from, double *to)
{
    memcpy(to, from, n * sizeof *to);
}

/* log(exp(a) + exp(b)); either may be -infinity. */
static double log_add(double a, double b)
{
    double high = a > b ? a : b, low = a > b ? b : a;
    return isinf(high) ? high : high + log1p(exp(low - high));
}

static void swap(struct candidate *a, struct candidate *b)
{
    struct candidate t = *a;
    *a = *b;
    *b = t;
}

/* The ends still move apart: both velocities along rho = r + s (s may be NULL). */
static int extends(size_t n, const double *va, const double *vb, const double *r, const double *s)
{
    double a = 0, b = 0;
    for (size_t k = 0; k < n; k++) {
        double rho = s ? r[k] + s[k] : r[k];
        a += va[k] * rho;
        b += vb[k] * rho;
    }
    return a > 0 && b > 0;
}

/* One step of *z; v <- the velocity at its end.  Returns the Hamiltonian there, infinity when the
 * density has no value. */
static double leapfrog(struct fit_nuts *w, struct state *z, double step, double *v)
{
    const struct fit_nuts_move *move = w->move;
    size_t n = w->n;
    for (size_t k = 0; k < n; k++)
        z->p[k] += 0.5 * step * z->g[k];
    fit_metric_velocity(move->metric, z->p, v);
    for (size_t k = 0; k < n; k++)
        z->q[k] += step * v[k];
    enum fit_eval answer = fit_target_eval(move->target, move->chain, z->q, &z->lp, z->g);
    if (answer != FIT_EVAL_OK) {
        w->stop |= answer == FIT_EVAL_STOP;
        return INFINITY;
    }
    for (size_t k = 0; k < n; k++)
        z->p[k] += 0.5 * step * z->g[k];
    fit_metric_velocity(move->metric, z->p, v);
    double h = 0.5 * fit_dot(n, z->p, v) - z->lp;
    return isnan(h) ? INFINITY : h;
}

/* ---- trajectory ------------------------------------------------------------------------------ */

/* A subtree: where build() puts its ends, its sum of momenta and its candidate; log of its weight.
 * `first` is the end nearer to the start of the trajectory. */
struct subtree {
    struct end first, last;
    double *rho;
    struct candidate *prop;
    double log_weight;
};

/* Returns 1, or 0 when the step diverged or was stopped. */
static int leaf(struct fit_nuts *w, struct subtree *t)
{
    struct state *z = w->z;
    size_t n = w->n;
    double h = leapfrog(w, z, w->step, t->last.v);
    if (w->stop)
        return 0;
    w->stats->n_leapfrog++;
    w->accept_sum += h > w->h0 ? exp(w->h0 - h) : 1;
    if (h - w->h0 > MAX_ENERGY_ERROR) {
        w->stats->divergent = 1;
        return 0;
    }
    copy(n, z->p, t->last.p);
    copy(n, z->p, t->first.p);
    copy(n, t->last.v, t->first.v);
    copy(n, z->p, t->rho);
    copy(n, z->q, t->prop->q);
    copy(n, z->g, t->prop->g);
    t->prop->lp = z->lp;
    t->prop->energy = h;
    t->log_weight = w->h0 - h;
    return 1;
}

/* 2^depth steps from w->z.  Returns 0 when they are not to be used: divergent, turned or stopped.
 */
static int build(struct fit_nuts *w, unsigned depth, struct subtree *t)
{
    if (depth == 0)
        return leaf(w, t);
    size_t n = w->n;
    struct level *l = &w->level[depth];
    struct subtree a = {t->first, l->a_last, l->rho_a, t->prop, 0};
    struct subtree b = {l->b_first, t->last, l->rho_b, &l->prop, 0};
    if (!build(w, depth - 1, &a) || !build(w, depth - 1, &b))
        return 0;
    t->log_weight = log_add(a.log_weight, b.log_weight);
    if (fit_rng_next_uniform(&w->rng) < exp(b.log_weight - t->log_weight))
        swap(t->prop, &l->prop);
    for (size_t k = 0; k < n; k++)
        t->rho[k] = a.rho[k] + b.rho[k];
    return extends(n, t->first.v, t->last.v, t->rho, NULL) &&
           extends(n, t->first.v, b.first.v, a.rho, b.first.p) &&
           extends(n, a.last.v, t->last.v, b.rho, a.last.p);
}

/* Doubles the trajectory in the given direction; its old states become the other half. */
static int extend(struct fit_nuts *w, int forward, unsigned depth, double *log_weight)
{
    size_t n = w->n;
    struct end inner = forward ? w->fwd_bck : w->bck_fwd;
    struct end outer = forward ? w->fwd_fwd : w->bck_bck;
    struct end other = forward ? w->bck_fwd : w->fwd_bck;
    copy(n, outer.p, other.p);
    copy(n, outer.v, other.v);
    copy(n, w->rho, forward ? w->rho_bck : w->rho_fwd);
    struct subtree t = {inner, outer, forward ? w->rho_fwd : w->rho_bck, &w->prop, 0};
    w->z = forward ? &w->fwd : &w->bck;
    w->step = forward ? w->move->step : -w->move->step;
    if (!build(w, depth, &t))
        return 0;
    *log_weight = t.log_weight;
    return 1;
}

static int trajectory_extends(const struct fit_nuts *w)
{
    size_t n = w->n;
    return extends(n, w->bck_bck.v, w->fwd_fwd.v, w->rho, NULL) &&
           extends(n, w->bck_bck.v, w->fwd_bck.v, w->rho_bck, w->fwd_bck.p) &&
           extends(n, w->bck_fwd.v, w->fwd_fwd.v, w->rho_fwd, w->bck_fwd.p);
}

/* Initialises everything at the starting point, with a fresh momentum. */
static void begin(struct fit_nuts *w, const struct fit_nuts_move *move, const struct fit_point *x)
{
    size_t n = w->n;
    w->move = move;
    w->stop = 0;
    struct fit_rng r = fit_rng_for(&move->rng, FIT_RNG_MOMENTUM);
    double *p = w->fwd_fwd.p, *v = w->fwd_fwd.v;
    fit_rng_next_normals(&r, n, p);
    fit_metric_momentum(move->metric, p, p);
    fit_metric_velocity(move->metric, p, v);
    copy(n, p, w->bck_bck.p);
    copy(n, v, w->bck_bck.v);
    copy(n, p, w->rho);
    struct state *ends[] = {&w->fwd, &w->bck};
    for (int e = 0; e < 2; e++) {
        copy(n, x->q, ends[e]->q);
        copy(n, x->g, ends[e]->g);
        copy(n, p, ends[e]->p);
    }
    w->h0 = 0.5 * fit_dot(n, p, v) - x->lp;
    copy(n, x->q, w->sample.q);
    copy(n, x->g, w->sample.g);
    w->sample.lp = x->lp;
    w->sample.energy = w->h0;
    w->accept_sum = 0;
    w->rng = fit_rng_for(&move->rng, FIT_RNG_TREE);
}

enum fit_eval fit_nuts_transition(struct fit_nuts *w, const struct fit_nuts_move *move,
                                  struct fit_point *x, struct fit_draw_stats *stats)
{
    size_t n = w->n;
    struct fit_draw_stats s = {.step = move->step};
    w->stats = &s;
    begin(w, move, x);
    double log_weight = 0; /* of the whole trajectory */
    unsigned depth = 0;
    while (depth < w->max_depth) {
        double fresh;
        int forward = fit_rng_next_uniform(&w->rng) < 0.5;
        if (!extend(w, forward, depth, &fresh))
            break;
        depth++;
        if (fresh > log_weight || fit_rng_next_uniform(&w->rng) < exp(fresh - log_weight))
            swap(&w->sample, &w->prop);
        log_weight = log_add(log_weight, fresh);
        for (size_t k = 0; k < n; k++)
            w->rho[k] = w->rho_bck[k] + w->rho_fwd[k];
        if (!trajectory_extends(w))
            break;
    }
    w->stats = NULL; /* it ends with this call */
    if (w->stop)
        return FIT_EVAL_STOP;
    copy(n, w->sample.q, x->q);
    copy(n, w->sample.g, x->g);
    x->lp = w->sample.lp;
    s.lp = w->sample.lp;
    s.energy = w->sample.energy;
    s.energy_error = w->sample.energy - w->h0;
    s.tree_depth = depth;
    s.accept_stat = s.n_leapfrog > 0 ? w->accept_sum / s.n_leapfrog : 0;
    s.n_gradient = s.n_leapfrog;
    *stats = s;
    return FIT_EVAL_OK;
}

enum fit_eval fit_nuts_first_step(struct fit_nuts *w, const struct fit_nuts_move *move,
                                  const struct fit_point *x, double *step, double *gradients)
{
    const double threshold = log(0.8);
    size_t n = w->n;
    struct fit_rng r = fit_rng_for(&move->rng, FIT_RNG_STEP);
    double *p = w->fwd.p, *v = w->fwd_fwd.v, e = *step;
    int direction = 0;
    w->move = move;
    w->stop = 0;
    while (e < 1e7 && e > 1e-300) {
        fit_rng_next_normals(&r, n, p);
        fit_metric_momentum(move->metric, p, p);
        fit_metric_velocity(move->metric, p, v);
        copy(n, x->q, w->fwd.q);
        copy(n, x->g, w->fwd.g);
        double h0 = 0.5 * fit_dot(n, p, v) - x->lp;
        double h = leapfrog(w, &w->fwd, e, v);
        ++*gradients;
        if (w->stop)
            return FIT_EVAL_STOP;
        int good = h0 - h > threshold;
        if (direction == 0)
            direction = good ? 1 : -1;
        else if (good != (direction > 0)) {
            *step = e;
            return FIT_EVAL_OK;
        }
        e = direction > 0 ? 2 * e : 0.5 * e;
    }
    return FIT_EVAL_REJECT;
}
