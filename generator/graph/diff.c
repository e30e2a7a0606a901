/* diff.c -- symbolic differentiation: one forward sweep over the ids.
 *
 * d[id] is the derivative of node id along the direction, or 0 where it does not depend on a leaf: no product with zero
 * is ever built. A second sweep over the result gives second derivatives. hg_gradient goes the other way (Linnainmaa
 * 1976): from the root down, it computes the derivative of the root with respect to every node. The cumulative
 * trapezoid is linear, so the derivative of potential(f) is potential(df): derivatives of integrals are again tables
 * over the time grid. Likewise, the derivative of a sum over turns of a loop is the sum of derivatives.
 */
#include <math.h>

#include "base/diag.h"
#include "graph/expr.h"
#include "graph/loop.h"
#include "graph/march.h"
#include "graph/functions.h"

static hg_id d_prod(struct hg_expr *e, const struct hg_node *n, const hg_id *d)
{
    hg_id *term = hg_alloc(e->arena, n->nargs * sizeof *term);
    hg_id *factor = hg_alloc(e->arena, n->nargs * sizeof *factor);
    uint32_t nterm = 0;
    for (uint32_t k = 0; k < n->nargs; k++) {
        if (!d[n->arg[k]])
            continue;
        for (uint32_t l = 0; l < n->nargs; l++)
            factor[l] = l == k ? d[n->arg[l]] : n->arg[l];
        term[nterm++] = hg_prod(e, n->nargs, factor);
    }
    return hg_sum(e, nterm, term);
}

static hg_id d_sum(struct hg_expr *e, const struct hg_node *n, const hg_id *d)
{
    hg_id *term = hg_alloc(e->arena, n->nargs * sizeof *term);
    uint32_t nterm = 0;
    for (uint32_t k = 0; k < n->nargs; k++)
        if (d[n->arg[k]])
            term[nterm++] = d[n->arg[k]];
    return hg_sum(e, nterm, term);
}

static int nonnegative(const struct hg_expr *e, hg_id id);

/* 1 when the node's value is known to exceed some positive number, also after underflow. */
static int above_zero(const struct hg_expr *e, hg_id id)
{
    const struct hg_node *n = hg_at(e, id);
    switch (n->op) {
    case HG_CONST: return n->value > 0;
    case HG_COSH: return 1;
    case HG_SUM: {
        int any = 0;
        for (uint32_t k = 0; k < n->nargs; k++) {
            if (!nonnegative(e, n->arg[k]))
                return 0;
            any |= above_zero(e, n->arg[k]);
        }
        return any;
    }
    default: return 0;
    }
}

static int nonnegative(const struct hg_expr *e, hg_id id)
{
    const struct hg_node *n = hg_at(e, id);
    double b;
    switch (n->op) {
    case HG_EXP:
    case HG_ABS:
    case HG_SOFTPLUS:
    case HG_LOGISTIC: return 1;
    case HG_POW: return hg_is_const(e, n->arg[1], &b) && (fmod(b, 2) == 0 || nonnegative(e, n->arg[0]));
    case HG_PROD:
        for (uint32_t k = 0; k < n->nargs; k++)
            if (!nonnegative(e, n->arg[k]))
                return 0;
        return 1;
    default: return above_zero(e, id);
    }
}

/* d a^b = b a^(b-1) da + a^b ln(a) db. Where a cannot be zero, the first term is b (a^b / a) da: one power serves
 * both value and slopes. */
static hg_id d_pow(struct hg_expr *e, hg_id id, hg_id a, hg_id b, hg_id da, hg_id db)
{
    hg_id sum[2];
    uint32_t n = 0;
    if (da) {
        int share = hg_at(e, b)->op != HG_CONST && above_zero(e, a);
        hg_id slope = share ? hg_div(e, id, a) : hg_pow(e, a, hg_sub(e, b, hg_const(e, 1.0)));
        hg_id f[3] = {b, slope, da};
        sum[n++] = hg_prod(e, 3, f);
    }
    if (db) {
        hg_id f[3] = {id, hg_call(e, HG_LOG, a), db};
        sum[n++] = hg_prod(e, 3, f);
    }
    return hg_sum(e, n, sum);
}

/* f'(x) for the functions of one argument; y = f(x). */
static hg_id slope(struct hg_expr *e, enum hg_op f, hg_id x, hg_id y)
{
    hg_id one = hg_const(e, 1.0), two = hg_const(e, 2.0);
    hg_id xx = hg_pow(e, x, two);
    switch (f) {
    case HG_EXP: return y;
    case HG_LOG: return hg_div(e, one, x);
    case HG_EXPM1: return hg_call(e, HG_EXP, x);
    case HG_LOG1P: return hg_div(e, one, hg_add(e, one, x));
    case HG_SIN: return hg_call(e, HG_COS, x);
    case HG_COS: return hg_neg(e, hg_call(e, HG_SIN, x));
    case HG_TAN: return hg_add(e, one, hg_pow(e, y, two));
    case HG_ASIN: return hg_pow(e, hg_sub(e, one, xx), hg_const(e, -0.5));
    case HG_ACOS: return hg_neg(e, hg_pow(e, hg_sub(e, one, xx), hg_const(e, -0.5)));
    case HG_ATAN: return hg_div(e, one, hg_add(e, one, xx));
    case HG_SINH: return hg_call(e, HG_COSH, x);
    case HG_COSH: return hg_call(e, HG_SINH, x);
    case HG_TANH: return hg_pow(e, hg_call(e, HG_COSH, x), hg_const(e, -2.0));
    case HG_ASINH: return hg_pow(e, hg_add(e, one, xx), hg_const(e, -0.5));
    case HG_ERF:
    case HG_ERFC: {
        double c = 1.1283791670955126; /* 2/sqrt(pi) */
        return hg_mul(e, hg_const(e, f == HG_ERF ? c : -c), hg_call(e, HG_EXP, hg_neg(e, xx)));
    }
    case HG_SINC: return hg_call(e, HG_DSINC, x);
    case HG_DSINC: return hg_call(e, HG_D2SINC, x);
    case HG_SOFTPLUS: return hg_call(e, HG_LOGISTIC, x);
    case HG_LOGISTIC: return hg_mul(e, y, hg_call(e, HG_LOGISTIC, hg_neg(e, x)));
    case HG_LGAMMA: return hg_call(e, HG_DIGAMMA, x);
    case HG_DIGAMMA: return hg_call(e, HG_TRIGAMMA, x);
    case HG_TRIGAMMA: return hg_call(e, HG_TETRAGAMMA, x);
    case HG_GAMMA: return hg_mul(e, y, hg_call(e, HG_DIGAMMA, x));
    case HG_EXPREL: return hg_call(e, HG_DEXPREL, x);
    case HG_DEXPREL: return hg_call(e, HG_D2EXPREL, x);
    case HG_LOG1MEXP: return hg_neg(e, hg_div(e, one, hg_call(e, HG_EXPM1, hg_neg(e, x))));
    case HG_ERFCX: return hg_call(e, HG_DERFCX, x);
    case HG_DERFCX: return hg_call(e, HG_D2ERFCX, x);
    case HG_ERFINV: /* sqrt(pi)/2 e^(y^2) */
        return hg_mul(e, hg_const(e, 0.88622692545275801), hg_call(e, HG_EXP, hg_pow(e, y, two)));
    case HG_ERFI: return hg_mul(e, hg_const(e, 1.1283791670955126), hg_call(e, HG_EXP, xx));
    case HG_ABS: return hg_call(e, HG_SIGN, x);
    case HG_SIGN: return hg_const(e, 0.0);
    default: hg_bug("diff: no rule for %s", hg_op_text[f]);
    }
}

static hg_id d_atan2(struct hg_expr *e, hg_id y, hg_id x, hg_id dy, hg_id dx)
{
    hg_id two = hg_const(e, 2.0), zero = hg_const(e, 0.0);
    hg_id rr = hg_add(e, hg_pow(e, x, two), hg_pow(e, y, two));
    hg_id top = hg_sub(e, dy ? hg_mul(e, x, dy) : zero, dx ? hg_mul(e, y, dx) : zero);
    return hg_div(e, top, rr);
}

/* Values carried along the rows depend on the parameters among their arguments; nothing differentiates them by other
 * symbols.
 */
static hg_id d_state(struct hg_expr *e, hg_id id, const struct hg_node *n, const hg_id *d)
{
    hg_id *term = hg_alloc(e->arena, n->nargs * sizeof *term);
    uint32_t nterm = 0;
    for (uint32_t k = 1; k < n->nargs; k++) {
        const struct hg_node *symbol = hg_at(e, e->march->arg[k]);
        hg_id slope = d[n->arg[k]] && symbol->op == HG_PARAM ? hg_state_slope(e, id, symbol->ref) : 0;
        if (slope)
            term[nterm++] = hg_mul(e, slope, d[n->arg[k]]);
    }
    return nterm ? hg_sum(e, nterm, term) : 0;
}

/* f of another order at the same arguments. */
static hg_id of_order(struct hg_expr *e, enum hg_op f, double order, const struct hg_node *n)
{
    hg_id arg[4] = {hg_const(e, order)};
    for (uint32_t k = 1; k < n->nargs; k++)
        arg[k] = n->arg[k];
    return hg_call_many(e, f, arg);
}

/* The derivative by the argument of the density of order n: ((a - 1)/x - 1) p_n + n/x p_(n - 1). */
static hg_id d_density(struct hg_expr *e, const struct hg_node *n, double order)
{
    const hg_id a = n->arg[1], x = n->arg[2], less = hg_add(e, a, hg_const(e, -1.0));
    const hg_id rise = hg_mul(e, hg_add(e, hg_div(e, less, x), hg_const(e, -1.0)), of_order(e, n->op, order, n));
    return order == 0 ? rise : hg_add(e, rise, hg_mul(e, hg_div(e, hg_const(e, order), x),
                                                      of_order(e, n->op, order - 1, n)));
}

/* (before n f_(n-1) + after (n + 1) f_(n+1))/(2 n + 1) */
static hg_id d_spherical(struct hg_expr *e, const struct hg_node *n, double order, int before, int after)
{
    const double by = 1 / (2 * order + 1);
    hg_id next = hg_mul(e, hg_const(e, after * (order + 1) * by), of_order(e, n->op, order + 1, n));
    return order == 0 ? next
                      : hg_add(e, next, hg_mul(e, hg_const(e, before * order * by), of_order(e, n->op, order - 1, n)));
}

/* The derivative by operand k >= 1 of a function of an order: recurrences (Abramowitz & Stegun 1965, 9.1.27, 9.6.26,
 * 10.1.20) and the Cauchy-Riemann equations. */
static hg_id d_order(struct hg_expr *e, const struct hg_node *n, uint32_t k)
{
    double order = 0;
    hg_is_const(e, n->arg[0], &order);
    switch (n->op) {
    case HG_BESSEL_I:
    case HG_BESSEL_K: {
        hg_id sum = order == 0 ? of_order(e, n->op, 1, n)
                               : hg_mul(e, hg_const(e, 0.5), hg_add(e, of_order(e, n->op, order - 1, n),
                                                                    of_order(e, n->op, order + 1, n)));
        return n->op == HG_BESSEL_I ? sum : hg_neg(e, sum);
    }
    case HG_BESSEL_J:
    case HG_BESSEL_Y:
        return order == 0 ? hg_neg(e, of_order(e, n->op, 1, n))
                          : hg_mul(e, hg_const(e, 0.5),
                                   hg_sub(e, of_order(e, n->op, order - 1, n), of_order(e, n->op, order + 1, n)));
    case HG_SPHERICAL_J:
    case HG_SPHERICAL_Y: return d_spherical(e, n, order, 1, -1);
    case HG_SPHERICAL_I: return d_spherical(e, n, order, 1, 1);
    case HG_SPHERICAL_K: return d_spherical(e, n, order, -1, -1);
    case HG_FADDEEVA_RE:
        return k == 1 ? of_order(e, n->op, order + 1, n) : hg_neg(e, of_order(e, HG_FADDEEVA_IM, order + 1, n));
    case HG_FADDEEVA_IM: return of_order(e, k == 1 ? n->op : HG_FADDEEVA_RE, order + 1, n);
    case HG_GAMMA_P: return of_order(e, k == 1 ? n->op : HG_GAMMA_DENSITY, order + (k == 1), n);
    case HG_GAMMA_Q:
        return k == 1 ? of_order(e, n->op, order + 1, n) : hg_neg(e, of_order(e, HG_GAMMA_DENSITY, order, n));
    case HG_GAMMA_DENSITY: return k == 1 ? of_order(e, n->op, order + 1, n) : d_density(e, n, order);
    default: hg_bug("diff: no rule for %s", hg_op_text[n->op]);
    }
}

static hg_id d_many(struct hg_expr *e, const struct hg_node *n, const hg_id *d)
{
    hg_id term[4];
    uint32_t m = 0;
    for (uint32_t k = 1; k < n->nargs; k++)
        if (d[n->arg[k]])
            term[m++] = hg_mul(e, d_order(e, n, k), d[n->arg[k]]);
    return hg_sum(e, m, term);
}

static hg_id d_node(struct hg_expr *e, hg_id id, const hg_id *d)
{
    const struct hg_node n = *hg_at(e, id); /* a copy: the array of nodes may move */
    hg_id zero;
    int depends = 0;
    for (uint32_t k = 0; k < n.nargs; k++)
        depends |= d[n.arg[k]] != 0;
    if (!depends)
        return 0;
    zero = hg_const(e, 0.0);
    switch (n.op) {
    case HG_SUM: return d_sum(e, &n, d);
    case HG_PROD: return d_prod(e, &n, d);
    case HG_POW: return d_pow(e, id, n.arg[0], n.arg[1], d[n.arg[0]], d[n.arg[1]]);
    case HG_LT:
    case HG_LE: return 0;
    case HG_WHERE:
        return hg_where(e, n.arg[0], d[n.arg[1]] ? d[n.arg[1]] : zero, d[n.arg[2]] ? d[n.arg[2]] : zero);
    case HG_ATAN2: return d_atan2(e, n.arg[0], n.arg[1], d[n.arg[0]], d[n.arg[1]]);
    case HG_POTENTIAL: return hg_potential(e, d[n.arg[0]]);
    case HG_AT_I: return hg_pair_at(e, d[n.arg[0]], 0);
    case HG_AT_J: return hg_pair_at(e, d[n.arg[0]], 1);
    case HG_DELTA: return hg_delta(e, d[n.arg[0]]);
    case HG_REDUCE: return hg_reduce(e, n.arg[0], d[n.arg[1]]);
    case HG_HOLD: return d[n.arg[0]];
    case HG_STATE: return d_state(e, id, &n, d);
    default: return hg_many(n.op) ? d_many(e, &n, d) : hg_mul(e, slope(e, n.op, n.arg[0], id), d[n.arg[0]]);
    }
}

/* Stores the integration variables of a sum in `held` (NULL: only counts them): HOLD nodes below its body that vary
 * with its turns. */
static uint32_t held_in(const struct hg_expr *e, hg_id sum, hg_id *held)
{
    const hg_id body = hg_at(e, sum)->arg[1];
    const unsigned level = hg_at(e, hg_at(e, sum)->arg[0])->vary;
    HG_SCRATCH unsigned char *need = hg_zeros((size_t)body + 1, 1);
    uint32_t n = 0;
    need[body] = 1;
    for (hg_id id = body; id > 0; id--) {
        const struct hg_node *x = hg_at(e, id);
        int found = need[id] && x->op == HG_HOLD && (x->vary & HG_K) == level;
        if (found && held)
            held[n] = id;
        n += (uint32_t)found;
        for (uint32_t k = 0; need[id] && !found && k < x->nargs; k++)
            need[x->arg[k]] = 1;
    }
    return n;
}

/* d sum f(x_k, leaves) = sum f_x dx_k + f_leaves dir: f_x is the same for all parameters, so the loops of all
 * derivatives compute it once. */
static hg_id d_held(struct hg_expr *e, hg_id sum, uint32_t n, const hg_id *leaf, const hg_id *dir)
{
    const struct hg_node s = *hg_at(e, sum); /* a copy: the array of nodes may move */
    const uint32_t m = held_in(e, sum, NULL);
    hg_id *held = hg_alloc(e->arena, (m + 1) * sizeof *held), *term = hg_alloc(e->arena, (m + 1) * sizeof *term);
    hg_id *all = hg_alloc(e->arena, (n + m) * sizeof *all), *rate = hg_alloc(e->arena, (n + m) * sizeof *rate);
    held_in(e, sum, held);
    for (uint32_t k = 0; k < n; k++)
        all[k] = leaf[k], rate[k] = dir[k];
    for (uint32_t k = 0; k < m; k++) {
        hg_id dx = hg_diff_along(e, hg_at(e, held[k])->arg[0], n, leaf, dir);
        term[k] = hg_is_value(e, dx, 0.0) ? dx : hg_mul(e, hg_diff(e, s.arg[1], held[k]), dx);
        all[n + k] = held[k];
        rate[n + k] = hg_const(e, 0.0);
    }
    term[m] = hg_diff_along(e, s.arg[1], n + m, all, rate);
    return hg_reduce(e, s.arg[0], hg_sum(e, m + 1, term));
}

hg_id hg_diff_along(struct hg_expr *e, hg_id root, uint32_t n, const hg_id *leaf, const hg_id *dir)
{
    HG_SCRATCH hg_id *d = hg_zeros(root + 1, sizeof *d);
    HG_SCRATCH unsigned char *need = hg_zeros(root + 1, 1); /* 1: below the root; 2: a leaf */
    hg_id lowest = root + 1;
    for (uint32_t k = 0; k < n; k++)
        if (leaf[k] <= root) {
            d[leaf[k]] = hg_is_value(e, dir[k], 0.0) ? 0 : dir[k];
            need[leaf[k]] = 2;
            lowest = leaf[k] < lowest ? leaf[k] : lowest;
        }
    need[root] |= 1;
    for (hg_id id = root; id > lowest; id--) {
        if (need[id] == 1 && hg_at(e, id)->op == HG_REDUCE && held_in(e, id, NULL))
            need[id] = 5; /* by d_held */
        for (uint32_t k = 0; need[id] == 1 && k < hg_at(e, id)->nargs; k++)
            need[hg_at(e, id)->arg[k]] |= 1;
    }
    for (hg_id id = lowest + 1; id <= root; id++) {
        if (!(need[id] & 1) || (need[id] & 2))
            continue;
        uint32_t line = e->line;
        e->line = hg_at(e, id)->line;
        d[id] = need[id] == 5 ? d_held(e, id, n, leaf, dir) : d_node(e, id, d);
        if (d[id] && hg_is_value(e, d[id], 0.0))
            d[id] = 0;
        e->line = line;
    }
    return d[root] ? d[root] : hg_const(e, 0.0);
}

hg_id hg_diff(struct hg_expr *e, hg_id root, hg_id leaf)
{
    hg_id one = hg_const(e, 1.0);
    return hg_diff_along(e, root, 1, &leaf, &one);
}

/* --- all derivatives at once ---------------------------------------------------------------------------- */

/* d node / d operand at fixed other operands; d: zeros. */
static hg_id partial(struct hg_expr *e, hg_id id, hg_id operand, hg_id *d)
{
    d[operand] = hg_const(e, 1.0);
    hg_id r = d_node(e, id, d);
    d[operand] = 0;
    return r;
}

/* Does a choice below the root depend on something with `reach`? The value of its other branch may be infinite, and
 * infinity times 0 is not a number; a sweep up chooses between derivatives instead. */
static int has_choice(const struct hg_expr *e, hg_id root, const unsigned char *reach)
{
    for (hg_id id = 1; id <= root; id++)
        if (reach[id] && (hg_at(e, id)->op == HG_WHERE || hg_at(e, id)->op == HG_GUARD))
            return 1;
    return 0;
}

/* Adds the term to the sum; distinct operands of a node are few. */
static void add_to(struct hg_expr *e, hg_id *sum, hg_id term)
{
    *sum = *sum ? hg_add(e, *sum, term) : term;
}

/* The contributions of all turns of a loop to a node that does not vary with the loop add up. */
static hg_id over_turns(struct hg_expr *e, const struct hg_node *from, hg_id to, hg_id term)
{
    for (unsigned level = HG_LEVELS; level > 0; level--)
        if (from->loop[level - 1] && !hg_at(e, to)->loop[level - 1])
            term = hg_reduce(e, hg_loop_index(e, from->loop[level - 1]), term);
    return term;
}

static void sweep_down(struct hg_expr *e, hg_id root, const unsigned char *reach, hg_id *adjoint)
{
    HG_SCRATCH hg_id *d = hg_zeros(root + 1, sizeof *d);
    adjoint[root] = hg_const(e, 1.0);
    for (hg_id id = root; id > 0; id--) {
        const struct hg_node n = *hg_at(e, id); /* a copy: the array of nodes may move */
        e->line = n.line;
        for (uint32_t k = 0; adjoint[id] && reach[id] && k < n.nargs; k++) {
            hg_id x = n.arg[k];
            int again = 0;
            for (uint32_t l = 0; l < k; l++)
                again |= n.arg[l] == x;
            hg_id slope = !reach[x] || again ? 0 : n.op == HG_REDUCE ? hg_const(e, 1.0) : partial(e, id, x, d);
            if (slope && !hg_is_value(e, slope, 0.0))
                add_to(e, &adjoint[x], over_turns(e, &n, x, hg_mul(e, adjoint[id], slope)));
        }
    }
}

void hg_gradient(struct hg_expr *e, hg_id root, uint32_t n, const hg_id *leaf, hg_id *slope)
{
    HG_SCRATCH unsigned char *reach = hg_zeros(root + 1, 1),
                  *below = hg_zeros(root + 1, 1); /* a leaf is below the node; the node is below the root */
    HG_SCRATCH hg_id *adjoint = hg_zeros(root + 1, sizeof *adjoint);
    uint32_t line = e->line;
    hg_mark(e, root, below);
    for (uint32_t k = 0; k < n; k++)
        if (leaf[k] <= root)
            reach[leaf[k]] = below[leaf[k]];
    for (hg_id id = 1; id <= root; id++)
        for (uint32_t k = 0; below[id] && k < hg_at(e, id)->nargs; k++)
            reach[id] |= reach[hg_at(e, id)->arg[k]];
    int up = has_choice(e, root, reach);
    if (!up)
        sweep_down(e, root, reach, adjoint);
    for (uint32_t k = 0; k < n; k++)
        slope[k] = up                                        ? hg_diff(e, root, leaf[k])
                   : leaf[k] <= root && adjoint[leaf[k]] ? adjoint[leaf[k]]
                                                             : hg_const(e, 0.0);
    e->line = line;
}
