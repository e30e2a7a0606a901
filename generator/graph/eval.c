/* eval.c -- the reference interpreter. */
#include "graph/eval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "graph/functions.h"
#include "graph/loop.h"
#include "graph/marcher.h"

/* The needed nodes that depend on a leaf, in ascending order, ended by 0. */
struct dependents {
    hg_id leaf, *id;
};

/* The most ids of dependents that are kept; evaluators of larger models evaluate all nodes. */
enum { MOST_DEPENDENTS = 1 << 24 };

struct hg_eval {
    const struct hg_expr *e;
    hg_id n;              /* nodes 1 .. n-1 */
    unsigned char *need;
    hg_id *list;          /* those that are needed */
    uint32_t nlist;
    hg_id *moving;        /* the needed nodes that contain states or columns, built on first use; ended by 0 */
    struct hg_num *one;   /* values of nodes that are not functions of time */
    struct hg_num **table;/* tables of functions of time, and of nodes that vary with turns of a sum (loop.h) */
    uint32_t ntime;
    const struct hg_point *at;
    struct hg_marcher *march; /* where states are needed */
    hg_id seed;               /* of the last run */
    struct dependents *by_leaf;
    size_t nleaf, leaf_room, kept;
};

struct hg_eval *hg_eval_new(const struct hg_expr *e, uint32_t nroot, const hg_id *root)
{
    struct hg_eval *ev = hg_zeros(1, sizeof *ev);
    ev->e = e;
    ev->n = e->n;
    ev->need = hg_zeros(e->n, 1);
    ev->one = hg_zeros(e->n, sizeof *ev->one);
    ev->table = hg_zeros(e->n, sizeof *ev->table);
    for (uint32_t k = 0; k < nroot; k++)
        ev->need[root[k]] = 1;
    for (hg_id id = e->n - 1; id > 0; id--)
        if (ev->need[id])
            for (uint32_t k = 0; k < hg_at(e, id)->nargs; k++)
                ev->need[hg_at(e, id)->arg[k]] = 1;
    int states = 0, slopes = 0;
    ev->list = hg_zeros(e->n, sizeof *ev->list);
    for (hg_id id = 1; id < e->n; id++)
        if (ev->need[id])
            ev->list[ev->nlist++] = id;
    for (hg_id id = 1; id < e->n; id++)
        if (ev->need[id] && hg_at(e, id)->op == HG_STATE) {
            states = 1;
            slopes |= hg_state_at(e, id).k != 0;
        }
    if (states)
        ev->march = hg_marcher_new(e, slopes);
    return ev;
}

void hg_eval_free(struct hg_eval *ev)
{
    if (!ev)
        return;
    hg_marcher_free(ev->march);
    for (hg_id id = 0; id < ev->n; id++)
        free(ev->table[id]);
    free(ev->table);
    free(ev->one);
    free(ev->need);
    free(ev->list);
    free(ev->moving);
    for (size_t k = 0; k < ev->nleaf; k++)
        free(ev->by_leaf[k].id);
    free(ev->by_leaf);
    free(ev);
}

/* --- functions ---------------------------------------------------------------------------------------- */

static struct hg_num num_pow(struct hg_num a, struct hg_num b)
{
    struct hg_num r = {real_power(a.v, b.v), 0, 0};
    const int whole = b.v == rintl((long double)b.v); /* multiplications */
    r.e = (2 + (whole ? real_abs(b.v) : 0)) * real_abs(r.v);
    if (a.d != 0)
        r.d += b.v * real_power(a.v, b.v - 1) * a.d;
    if (b.d != 0)
        r.d += r.v * real_log(a.v) * b.d;
    if (a.e != 0)
        r.e += real_abs(b.v * real_power(a.v, b.v - 1)) * a.e;
    if (b.e != 0)
        r.e += real_abs(r.v * real_log(a.v)) * b.e;
    return r;
}

static struct hg_num num_prod(uint32_t n, const struct hg_num *x)
{
    struct hg_num r = {1, 0, 0};
    for (uint32_t k = 0; k < n; k++)
        r = (struct hg_num){r.v * x[k].v, r.d * x[k].v + r.v * x[k].d,
                            r.e * real_abs(x[k].v) + real_abs(r.v) * x[k].e + real_abs(r.v * x[k].v)};
    return r;
}

/* The error that a function adds to that of its argument: two roundings of its value, and for sines and cosines
 * their absolute error, divided by x in the sinc family, whose tables serve |x| > 0.5. */
static hg_real own_error(enum hg_op f, hg_real x, hg_real y)
{
    hg_real e = 2 * real_abs(y);
    switch (f) {
    case HG_SIN:
    case HG_COS: return e + 1;
    case HG_SINC: return real_abs(x) > 0.5L ? e + 1 / real_abs(x) : e;
    case HG_DSINC: return real_abs(x) > 0.5L ? e + 2 / real_abs(x) : e;
    case HG_D2SINC: return e + 8;
    case HG_DIGAMMA: return e + 4; /* near its zero: error of the log and of the sum, each below 3 */
    default: return e;
    }
}

static struct hg_num apply_to(enum hg_op f, struct hg_num x)
{
    struct hg_num r = {0, 0, 0};
    hg_real slope;
    hg_eval_function(f, x.v, &r.v, &slope);
    r.d = x.d != 0 ? slope * x.d : 0;
    r.e = (x.e != 0 ? real_abs(slope) * x.e : 0) + own_error(f, x.v, r.v);
    return r;
}

static struct hg_num apply_many(const struct hg_node *n, const struct hg_num *x)
{
    struct hg_ext operand[4];
    for (uint32_t k = 0; k < n->nargs; k++)
        operand[k] = real_ext(x[k].v);
    struct hg_num r = {real_of(hg_many_value(n->op, operand)), 0, 0};
    r.e = 2 * real_abs(r.v) + hg_many_error(n->op, operand, r.v);
    for (uint32_t k = 1; k < n->nargs; k++) {
        if (x[k].d == 0 && x[k].e == 0)
            continue;
        hg_real slope = hg_many_slope(n->op, operand, k);
        r.d += x[k].d != 0 ? slope * x[k].d : 0;
        r.e += x[k].e != 0 ? real_abs(slope) * x[k].e : 0;
    }
    return r;
}

/* Pointwise operations on values already selected for one point. */
static struct hg_num apply(const struct hg_node *n, const struct hg_num *x)
{
    struct hg_num r = {0, 0, 0};
    hg_real rr;
    switch (n->op) {
    case HG_SUM:
        for (uint32_t k = 0; k < n->nargs; k++)
            r.v += x[k].v, r.d += x[k].d, r.e += x[k].e + real_abs(x[k].v);
        return r;
    case HG_PROD: return num_prod(n->nargs, x);
    case HG_POW: return num_pow(x[0], x[1]);
    case HG_LT: r.v = x[0].v < x[1].v; return r;
    case HG_LE: r.v = x[0].v <= x[1].v; return r;
    case HG_HOLD: return x[0];
    case HG_WHERE:
    case HG_GUARD: return x[0].v != 0 ? x[1] : x[2];
    case HG_ATAN2:
        r.v = real_atan2(x[0].v, x[1].v);
        rr = x[0].v * x[0].v + x[1].v * x[1].v;
        r.d = (x[1].v * x[0].d - x[0].v * x[1].d) / rr;
        r.e = (real_abs(x[1].v) * x[0].e + real_abs(x[0].v) * x[1].e) / rr + 2 * real_abs(r.v);
        return r;
    case HG_SMALL: r.v = real_abs(x[0].v) < 0.5L; return r;
    case HG_SINC_SERIES: r.v = real_sinc(real_sqrt(x[0].v), 0); return r;
    case HG_DSINC_SERIES: r.v = real_sinc(x[0].v, 1); return r;
    default: return hg_many(n->op) ? apply_many(n, x) : apply_to(n->op, x[0]);
    }
}

static struct hg_num leaf(const struct hg_eval *ev, hg_id id, size_t k)
{
    const struct hg_node *n = hg_at(ev->e, id);
    const struct hg_point *p = ev->at;
    struct hg_num r = {0, id == p->seed, 0};
    if (p->march && n->op != HG_CONST && n->op != HG_INDEX && n->op != HG_NODE)
        return hg_marcher_leaf(p->march, id);
    switch (n->op) {
    case HG_CONST: r.v = n->value; break;
    case HG_PARAM: r.v = p->param[n->ref]; break;
    case HG_LINEAR: r.v = p->linear[n->ref]; break;
    case HG_SETTING: r.v = p->setting[n->ref]; break;
    case HG_COORD: r.v = p->coord[n->ref]; break;
    case HG_COLUMN: r.v = p->column[n->ref]; break;
    case HG_STEP: r.v = p->step; break;
    case HG_TIME: r.v = p->time[k]; break;
    case HG_INDEX: r.v = k; break;
    case HG_NODE: r.v = hg_node_numbers(ev->e, n)[k]; break;
    default: hg_bug("eval: no leaf %s", hg_op_text[n->op]);
    }
    return r;
}

/* The k-th value of a node. */
static struct hg_num pick(const struct hg_eval *ev, hg_id id, size_t k)
{
    return hg_at(ev->e, id)->vary & (HG_T | HG_K) ? ev->table[id][k] : ev->one[id];
}

static struct hg_num sum_of_turns(const struct hg_eval *ev, const struct hg_node *n, size_t k)
{
    struct hg_num r = {0, 0, 0};
    for (uint32_t turn = 0; turn < hg_turns(ev->e, n); turn++) {
        struct hg_num x = pick(ev, n->arg[1], hg_turn(ev->e, n, k, turn));
        r.v += x.v, r.d += x.d, r.e += x.e + real_abs(r.v);
    }
    return r;
}

static struct hg_num difference(const struct hg_eval *ev, hg_id p)
{
    struct hg_num a = ev->table[p][ev->at->i], b = ev->table[p][ev->at->j];
    return (struct hg_num){b.v - a.v, b.d - a.d, a.e + b.e + real_abs(a.v) + real_abs(b.v)};
}

static struct hg_num pointwise(const struct hg_eval *ev, hg_id id, size_t k)
{
    const struct hg_node *n = hg_at(ev->e, id);
    struct hg_num small[8], *x = n->nargs <= 8 ? small : malloc(n->nargs * sizeof *x), r, d;
    if (n->nargs == 0)
        return leaf(ev, id, k);
    if (!x)
        hg_out_of_memory();
    switch (n->op) {
    case HG_AT_I: r = ev->table[n->arg[0]][ev->at->i]; break;
    case HG_AT_J: r = ev->table[n->arg[0]][ev->at->j]; break;
    case HG_DELTA: r = difference(ev, n->arg[0]); break;
    case HG_EXPD: d = difference(ev, n->arg[0]); r = apply_to(HG_EXP, d); break;
    case HG_SIND: d = difference(ev, n->arg[0]); r = apply_to(HG_SIN, d); break;
    case HG_COSD: d = difference(ev, n->arg[0]); r = apply_to(HG_COS, d); break;
    case HG_REDUCE: r = sum_of_turns(ev, n, k); break;
    default:
        for (uint32_t m = 0; m < n->nargs; m++) {
            const struct hg_node *operand = hg_at(ev->e, n->arg[m]);
            const int varies = operand->vary & (HG_T | HG_K);
            x[m] = varies ? pick(ev, n->arg[m], hg_place(ev->e, n, k, operand)) : ev->one[n->arg[m]];
        }
        r = n->op == HG_STATE ? hg_marcher_get(ev->march, hg_state_at(ev->e, id), x, ev->at) : apply(n, x);
    }
    if (x != small)
        free(x);
    if (id == ev->at->seed)
        r.d = 1;
    return r;
}

/* Cumulative trapezoid over the frame times, F[0] = 0. */
static void potential(struct hg_eval *ev, hg_id id)
{
    hg_id f = hg_at(ev->e, id)->arg[0];
    struct hg_num *F = ev->table[id];
    F[0] = (struct hg_num){0, 0, 0};
    for (uint32_t k = 1; k < ev->ntime; k++) {
        struct hg_num a = pick(ev, f, k - 1), b = pick(ev, f, k);
        hg_real h = 0.5L * ((hg_real)ev->at->time[k] - ev->at->time[k - 1]);
        F[k] = (struct hg_num){F[k - 1].v + h * (a.v + b.v), F[k - 1].d + h * (a.d + b.d),
                               F[k - 1].e + h * (a.e + b.e + real_abs(a.v) + real_abs(b.v))};
    }
}

static void evaluate(struct hg_eval *ev, hg_id id)
{
    unsigned vary = hg_at(ev->e, id)->vary;
    const size_t n = hg_extent(ev->e, id, ev->ntime);
    if (!(vary & (HG_T | HG_K))) {
        ev->one[id] = pointwise(ev, id, 0);
        return;
    }
    if (!ev->table[id])
        ev->table[id] = malloc(n * sizeof **ev->table);
    if (!ev->table[id])
        hg_out_of_memory();
    if (hg_at(ev->e, id)->op == HG_POTENTIAL)
        potential(ev, id);
    else
        for (size_t k = 0; k < n; k++)
            ev->table[id][k] = pointwise(ev, id, k);
}

/* Evaluates the node where it is needed and counts it as work. */
static void evaluate_needed(struct hg_eval *ev, hg_id id)
{
    const struct hg_node *n = hg_at(ev->e, id);
    if (!ev->need[id])
        return;
    if (!(n->vary & (HG_T | HG_K)) && n->op != HG_REDUCE) {
        hg_steps(ev->e, 1 + n->nargs);
        ev->one[id] = pointwise(ev, id, 0);
        return;
    }
    hg_steps(ev->e, (1 + n->nargs) * (uint64_t)hg_extent(ev->e, id, ev->ntime) *
                        (n->op == HG_REDUCE ? hg_turns(ev->e, n) : 1));
    evaluate(ev, id);
}

void hg_eval_run(struct hg_eval *ev, const struct hg_point *p)
{
    ev->at = p;
    if (ev->ntime != p->ntime)
        for (hg_id id = 0; id < ev->n; id++) {
            free(ev->table[id]);
            ev->table[id] = NULL;
        }
    ev->ntime = p->ntime;
    ev->seed = p->seed;
    for (uint32_t k = 0; k < ev->nlist; k++)
        evaluate_needed(ev, ev->list[k]);
}

static void find_moving(struct hg_eval *ev)
{
    HG_SCRATCH unsigned char *moves = hg_zeros(ev->n, 1);
    uint32_t n = 0;
    ev->moving = hg_zeros(ev->nlist + 1, sizeof *ev->moving);
    for (uint32_t m = 0; m < ev->nlist; m++) {
        const hg_id id = ev->list[m];
        const struct hg_node *node = hg_at(ev->e, id);
        moves[id] = node->op == HG_CARRIED || node->op == HG_COLUMN;
        for (uint32_t k = 0; k < node->nargs && !moves[id]; k++)
            moves[id] = moves[node->arg[k]];
        if (moves[id])
            ev->moving[n++] = id;
    }
}

void hg_eval_along(struct hg_eval *ev, const struct hg_point *p)
{
    if (!ev->moving)
        find_moving(ev);
    ev->at = p;
    for (const hg_id *id = ev->moving; *id; id++)
        evaluate_needed(ev, *id);
}

static hg_id *find_dependents(const struct hg_eval *ev, hg_id leaf, size_t *n)
{
    HG_SCRATCH unsigned char *has = hg_zeros(ev->n, 1);
    HG_SCRATCH hg_id *found = hg_zeros(ev->nlist + 1, sizeof *found);
    *n = 0;
    has[leaf] = 1;
    hg_steps(ev->e, ev->nlist / 8 + 1);
    for (uint32_t m = 0; m < ev->nlist; m++) {
        const hg_id id = ev->list[m];
        const struct hg_node *node = hg_at(ev->e, id);
        for (uint32_t k = 0; k < node->nargs && !has[id]; k++)
            has[id] = has[node->arg[k]];
        if (has[id])
            found[(*n)++] = id;
    }
    hg_id *id = hg_zeros(++*n, sizeof *id);
    memcpy(id, found, *n * sizeof *id);
    return id;
}

/* The nodes that depend on a leaf (0: none); NULL: too many to be kept. */
static const hg_id *dependents_of(struct hg_eval *ev, hg_id leaf)
{
    static const hg_id none[1] = {0};
    size_t n;
    if (!leaf)
        return none;
    for (size_t k = 0; k < ev->nleaf; k++)
        if (ev->by_leaf[k].leaf == leaf)
            return ev->by_leaf[k].id;
    if (ev->kept > MOST_DEPENDENTS)
        return NULL;
    if (ev->nleaf == ev->leaf_room) {
        ev->leaf_room = 2 * ev->leaf_room + 8;
        ev->by_leaf = realloc(ev->by_leaf, ev->leaf_room * sizeof *ev->by_leaf);
        if (!ev->by_leaf)
            hg_out_of_memory();
    }
    hg_id *id = find_dependents(ev, leaf, &n);
    ev->by_leaf[ev->nleaf++] = (struct dependents){leaf, id};
    ev->kept += n;
    return id;
}

void hg_eval_seed(struct hg_eval *ev, const struct hg_point *p)
{
    const hg_id *a = dependents_of(ev, ev->seed), *b = dependents_of(ev, p->seed);
    if (ev->march || !a || !b) { /* states depend on parameters not only through their arguments */
        hg_eval_run(ev, p);
        return;
    }
    ev->at = p;
    ev->seed = p->seed;
    while (*a || *b) {
        hg_id id = *a && (!*b || *a < *b) ? *a : *b;
        evaluate_needed(ev, id);
        a += *a == id;
        b += *b == id;
    }
}

void hg_eval_pair(struct hg_eval *ev, const struct hg_point *p)
{
    ev->at = p;
    for (hg_id id = 1; id < ev->n; id++)
        if (hg_at(ev->e, id)->vary & (HG_I | HG_J | HG_R))
            evaluate_needed(ev, id);
}

struct hg_num hg_eval_get(const struct hg_eval *ev, hg_id id, size_t k)
{
    return pick(ev, id, k);
}
