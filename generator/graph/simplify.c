/* simplify.c -- constructors that simplify while they build.
 *
 * Rewrites, all exact for reals where both sides are finite:
 *   constants folded; x + 0, 1 x, x^1, x^0 = 1, 0 x = 0; nested sums and products flattened and sorted;
 *   equal terms and equal bases collected (2x + 3x = 5x, x^a x^b = x^(a+b) for constant a, b, x/x = 1);
 *   exp(a) exp(b) = exp(a+b), exp(a)^n = exp(n a), log(exp x) = x, exp(log x) = x;
 *   (x y)^n = x^n y^n for integer n; (x^a)^n = x^(a n) for integer n; 1/x^a = x^-a;
 *   cos, sinc even; sin, tan, dsinc, ... odd in the sign of a constant factor;
 *   f(at_i x) = at_i f(x), and sums and products of at_i gathered into one: an expression of one frame is a
 *   table over frames; the same for at_j; delta of a constant is 0;
 *   the sum of c x_k is c times that of x_k.
 * Sums and products keep a constant first, the other operands in order of id.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/functions.h"
#include "base/diag.h"
#include "graph/expr.h"
#include "graph/loop.h"

/* --- small helpers ----------------------------------------------------------------------------------- */

static int is_integer(double x)
{
    return x == floor(x) && fabs(x) < 1e9; /* exact test for an integral literal */
}

/* Terms of a sum (factor * rest) or factors of a product (rest ^ factor) while they are collected. */
struct part {
    hg_id rest;
    double factor;
};

struct parts {
    struct part *p;
    uint32_t n, room;
    double constant;
    hg_id at_i, at_j;     /* gathered operands of at_i, at_j; 0: none */
    hg_id exponent;       /* products: sum of exponents of exp() */
};

static int by_rest(const void *a, const void *b)
{
    hg_id x = ((const struct part *)a)->rest, y = ((const struct part *)b)->rest;
    return (x > y) - (x < y);
}

static void add_part(struct hg_expr *e, struct parts *t, hg_id rest, double factor)
{
    hg_steps(e, HG_STEPS_TO_BUILD);
    if (t->n == t->room) {
        t->room = t->room ? 2 * t->room : 8;
        t->p = realloc(t->p, t->room * sizeof *t->p);
        if (!t->p)
            hg_out_of_memory();
    }
    t->p[t->n++] = (struct part){rest, factor};
}

/* Sorts by rest and adds the factors of equal ones. */
static void collect(struct parts *t)
{
    uint32_t m = 0;
    if (t->n == 0)
        return;
    qsort(t->p, t->n, sizeof *t->p, by_rest);
    for (uint32_t k = 0; k < t->n; k++) {
        if (m && t->p[m - 1].rest == t->p[k].rest)
            t->p[m - 1].factor += t->p[k].factor;
        else
            t->p[m++] = t->p[k];
    }
    t->n = m;
}

/* --- sums -------------------------------------------------------------------------------------------- */

/* rest of a product without its leading constant */
static hg_id without_constant(struct hg_expr *e, const struct hg_node *n)
{
    return n->nargs == 2 ? n->arg[1] : hg_raw(e, HG_PROD, n->nargs - 1, n->arg + 1);
}

static void add_term(struct hg_expr *e, struct parts *t, hg_id id, double factor)
{
    const struct hg_node n = *hg_at(e, id);
    double c;
    if (n.op == HG_CONST) {
        t->constant += factor * n.value;
    } else if (n.op == HG_SUM) {
        for (uint32_t k = 0; k < n.nargs; k++)
            add_term(e, t, n.arg[k], factor);
    } else if (n.op == HG_PROD && hg_is_const(e, n.arg[0], &c)) {
        add_term(e, t, without_constant(e, &n), factor * c);
    } else if (n.op == HG_AT_I || n.op == HG_AT_J) {
        hg_id *at = n.op == HG_AT_I ? &t->at_i : &t->at_j;
        hg_id x = hg_mul(e, hg_const(e, factor), n.arg[0]);
        *at = *at ? hg_add(e, *at, x) : x;
    } else {
        add_part(e, t, id, factor);
    }
}

/* f(t2) - f(t1) + c is a difference, like those of integrals; t2 - t1 is the most common. */
static void join_difference(struct hg_expr *e, struct parts *t)
{
    if (!t->at_i || !t->at_j)
        return;
    hg_id both = hg_add(e, t->at_i, t->at_j);
    if (hg_at(e, both)->vary & HG_T)
        return;
    add_term(e, t, hg_delta(e, t->at_j), 1.0);
    add_term(e, t, both, 1.0);
    t->at_i = t->at_j = 0;
}

hg_id hg_sum(struct hg_expr *e, uint32_t nargs, const hg_id *arg)
{
    struct parts t = {0};
    for (uint32_t k = 0; k < nargs; k++)
        add_term(e, &t, arg[k], 1.0);
    join_difference(e, &t);
    if (t.at_i)
        add_part(e, &t, hg_pair_at(e, t.at_i, 0), 1.0);
    if (t.at_j)
        add_part(e, &t, hg_pair_at(e, t.at_j, 1), 1.0);
    collect(&t);

    hg_id *out = hg_alloc(e->arena, (t.n + 1) * sizeof *out);
    uint32_t n = 0;
    for (uint32_t k = 0; k < t.n; k++) {
        double c;
        if (hg_is_const(e, t.p[k].rest, &c))
            t.constant += c * t.p[k].factor;
        else if (t.p[k].factor != 0.0)
            out[n++] = hg_mul(e, hg_const(e, t.p[k].factor), t.p[k].rest);
    }
    free(t.p);
    if (t.constant != 0.0) {
        memmove(out + 1, out, n * sizeof *out);
        out[0] = hg_const(e, t.constant);
        n++;
    }
    if (n == 0)
        return hg_const(e, 0.0);
    return n == 1 ? out[0] : hg_raw(e, HG_SUM, n, out);
}

/* --- products ---------------------------------------------------------------------------------------- */

static void add_factor(struct hg_expr *e, struct parts *t, hg_id id, double power)
{
    const struct hg_node n = *hg_at(e, id);
    double c;
    if (n.op == HG_CONST) {
        t->constant *= power == 1.0 ? n.value : hg_value_pow(n.value, power);
    } else if (n.op == HG_PROD && is_integer(power)) {
        for (uint32_t k = 0; k < n.nargs; k++)
            add_factor(e, t, n.arg[k], power);
    } else if (n.op == HG_POW && hg_is_const(e, n.arg[1], &c) && is_integer(power)) {
        add_factor(e, t, n.arg[0], c * power);
    } else if (n.op == HG_EXP) {
        hg_id x = hg_mul(e, hg_const(e, power), n.arg[0]);
        t->exponent = t->exponent ? hg_add(e, t->exponent, x) : x;
    } else if (n.op == HG_AT_I || n.op == HG_AT_J) {
        hg_id *at = n.op == HG_AT_I ? &t->at_i : &t->at_j;
        hg_id x = hg_pow(e, n.arg[0], hg_const(e, power));
        *at = *at ? hg_mul(e, *at, x) : x;
    } else {
        add_part(e, t, id, power);
    }
}

/* rest^factor as a node, without going through hg_pow's distribution again */
static hg_id power_node(struct hg_expr *e, hg_id rest, double power)
{
    hg_id arg[2] = {rest, hg_const(e, power)};
    return power == 1.0 ? rest : hg_raw(e, HG_POW, 2, arg);
}

/* A product of already gathered at_i, exp, ... may need one more round when gathering made constants. */
hg_id hg_prod(struct hg_expr *e, uint32_t nargs, const hg_id *arg)
{
    struct parts t = {.constant = 1.0};
    for (uint32_t k = 0; k < nargs; k++)
        add_factor(e, &t, arg[k], 1.0);
    if (t.constant == 0.0) {
        free(t.p);
        return hg_const(e, 0.0);
    }
    if (t.at_i)
        add_part(e, &t, hg_pair_at(e, t.at_i, 0), 1.0);
    if (t.at_j)
        add_part(e, &t, hg_pair_at(e, t.at_j, 1), 1.0);
    if (t.exponent)
        add_part(e, &t, hg_call(e, HG_EXP, t.exponent), 1.0);
    collect(&t);

    hg_id *out = hg_alloc(e->arena, (t.n + 1) * sizeof *out);
    uint32_t n = 0;
    for (uint32_t k = 0; k < t.n; k++) {
        double c;
        if (hg_is_const(e, t.p[k].rest, &c))
            t.constant *= hg_value_pow(c, t.p[k].factor);
        else if (t.p[k].factor != 0.0)
            out[n++] = power_node(e, t.p[k].rest, t.p[k].factor);
    }
    free(t.p);
    if (n == 0)
        return hg_const(e, t.constant);
    if (t.constant != 1.0) {
        memmove(out + 1, out, n * sizeof *out);
        out[0] = hg_const(e, t.constant);
        n++;
    }
    return n == 1 ? out[0] : hg_raw(e, HG_PROD, n, out);
}

/* --- sugar ------------------------------------------------------------------------------------------- */

hg_id hg_add(struct hg_expr *e, hg_id a, hg_id b)
{
    hg_id arg[2] = {a, b};
    return hg_sum(e, 2, arg);
}

hg_id hg_mul(struct hg_expr *e, hg_id a, hg_id b)
{
    hg_id arg[2] = {a, b};
    return hg_prod(e, 2, arg);
}

hg_id hg_neg(struct hg_expr *e, hg_id a)
{
    return hg_mul(e, hg_const(e, -1.0), a);
}

hg_id hg_sub(struct hg_expr *e, hg_id a, hg_id b)
{
    return hg_add(e, a, hg_neg(e, b));
}

hg_id hg_div(struct hg_expr *e, hg_id a, hg_id b)
{
    return hg_mul(e, a, hg_pow(e, b, hg_const(e, -1.0)));
}

/* --- lifting functions of one frame into the table --------------------------------------------------- */

/* When some operands are at_i(x) (or some at_j) and the others do not depend on frames at all:
 * at_i(op(x...)), else 0. */
static hg_id lifted(struct hg_expr *e, enum hg_op op, uint32_t nargs, const hg_id *arg)
{
    enum hg_op at = HG_NOP;
    hg_id inner[3];
    for (uint32_t k = 0; k < nargs; k++) {
        const struct hg_node *n = hg_at(e, arg[k]);
        inner[k] = arg[k];
        if (n->op == HG_AT_I || n->op == HG_AT_J) {
            if (at != HG_NOP && at != n->op)
                return 0;
            at = n->op;
            inner[k] = n->arg[0];
        } else if (n->vary & (HG_T | HG_I | HG_J | HG_K)) {
            return 0;
        }
    }
    return at == HG_NOP ? 0 : hg_pair_at(e, hg_make(e, op, nargs, inner), at == HG_AT_J);
}

/* --- powers ------------------------------------------------------------------------------------------ */

hg_id hg_pow(struct hg_expr *e, hg_id a, hg_id b)
{
    hg_id arg[2] = {a, b}, lift;
    double ca, cb, c;
    int a_const = hg_is_const(e, a, &ca), b_const = hg_is_const(e, b, &cb);
    if (b_const && cb == 0.0)
        return hg_const(e, 1.0);
    if (b_const && cb == 1.0)
        return a;
    if (a_const && b_const)
        return hg_const(e, hg_value_pow(ca, cb));
    if (a_const && ca == 1.0)
        return a;
    const struct hg_node n = *hg_at(e, a);
    if (n.op == HG_EXP)
        return hg_call(e, HG_EXP, hg_mul(e, b, n.arg[0]));
    if (b_const && is_integer(cb)) {
        if (n.op == HG_POW && hg_is_const(e, n.arg[1], &c))
            return hg_pow(e, n.arg[0], hg_const(e, c * cb));
        if (n.op == HG_POW && cb == -1.0)
            return hg_pow(e, n.arg[0], hg_neg(e, n.arg[1]));
        if (n.op == HG_PROD) {
            hg_id *f = hg_alloc(e->arena, n.nargs * sizeof *f);
            for (uint32_t k = 0; k < n.nargs; k++)
                f[k] = hg_pow(e, n.arg[k], b);
            return hg_prod(e, n.nargs, f);
        }
    }
    if ((lift = lifted(e, HG_POW, 2, arg)))
        return lift;
    return hg_raw(e, HG_POW, 2, arg);
}

/* --- functions --------------------------------------------------------------------------------------- */

/* 1 when x = -y with y simpler: a product with a negative constant, or a sum whose first term has one. */
static int is_negative(const struct hg_expr *e, hg_id x)
{
    const struct hg_node *n = hg_at(e, x);
    double c;
    return n->op == HG_PROD && hg_is_const(e, n->arg[0], &c) && c < 0;
}

hg_id hg_call(struct hg_expr *e, enum hg_op f, hg_id x)
{
    const struct hg_node n = *hg_at(e, x);
    double c, v;
    hg_id lift;
    if (hg_is_const(e, x, &c)) {
        v = hg_value(f, c);
        if (isfinite(v))
            return hg_const(e, v);
    }
    if ((f == HG_EXP && n.op == HG_LOG) || (f == HG_LOG && n.op == HG_EXP))
        return n.arg[0];
    if (hg_function(f)->symmetry != HG_NEITHER && is_negative(e, x)) {
        hg_id y = hg_call(e, f, hg_neg(e, x));
        return hg_function(f)->symmetry == HG_EVEN ? y : hg_neg(e, y);
    }
    if ((hg_op_flags[f] & HG_F_POINTWISE) && (lift = lifted(e, f, 1, &x)))
        return lift;
    return hg_raw(e, f, 1, &x);
}

hg_id hg_call2(struct hg_expr *e, enum hg_op f, hg_id a, hg_id b)
{
    hg_id arg[2] = {a, b}, lift;
    double x, y;
    if (hg_is_const(e, a, &x) && hg_is_const(e, b, &y)) {
        if (f == HG_LT || f == HG_LE)
            return hg_const(e, f == HG_LT ? x < y : x <= y);
        return hg_const(e, hg_value_atan2(x, y));
    }
    if (f != HG_ATAN2 && a == b)
        return hg_const(e, f == HG_LE);
    if ((lift = lifted(e, f, 2, arg)))
        return lift;
    return hg_raw(e, f, 2, arg);
}

hg_id hg_call_many(struct hg_expr *e, enum hg_op f, const hg_id *arg)
{
    const uint32_t n = hg_many(f)->nargs;
    struct hg_ext operand[4];
    uint32_t known = 0;
    double c;
    for (; known < n && hg_is_const(e, arg[known], &c); known++)
        operand[known] = hg_ext(c);
    if (known == n) {
        double v = hg_ext_round(hg_many_value(f, operand));
        if (isfinite(v))
            return hg_const(e, v);
    }
    hg_id lift = lifted(e, f, n, arg);
    return lift ? lift : hg_raw(e, f, n, arg);
}

hg_id hg_where(struct hg_expr *e, hg_id condition, hg_id yes, hg_id no)
{
    hg_id arg[3] = {condition, yes, no}, lift;
    double c;
    if (yes == no)
        return yes;
    if (hg_is_const(e, condition, &c))
        return c != 0.0 ? yes : no;
    if ((lift = lifted(e, HG_WHERE, 3, arg)))
        return lift;
    return hg_raw(e, HG_WHERE, 3, arg);
}

/* --- structure --------------------------------------------------------------------------------------- */

hg_id hg_potential(struct hg_expr *e, hg_id f)
{
    if (hg_at(e, f)->vary & (HG_I | HG_J | HG_R))
        hg_bug("potential of something that is not a function of time alone");
    if (!(hg_at(e, f)->vary & HG_T)) /* up to a constant, which cancels in a difference */
        return hg_mul(e, f, hg_symbol(e, HG_TIME, 0));
    return hg_raw(e, HG_POTENTIAL, 1, &f);
}

hg_id hg_pair_at(struct hg_expr *e, hg_id f, int second)
{
    if (hg_at(e, f)->vary & (HG_I | HG_J | HG_R))
        hg_bug("at() of something that is not a function of time alone");
    if (!(hg_at(e, f)->vary & HG_T))
        return f;
    return hg_raw(e, second ? HG_AT_J : HG_AT_I, 1, &f);
}

/* Factors that do not depend on time are taken out of delta: c (P_j - P_i). */
hg_id hg_delta(struct hg_expr *e, hg_id p)
{
    const struct hg_node n = *hg_at(e, p);
    if (!(n.vary & HG_T))
        return hg_const(e, 0.0);
    if (n.op == HG_PROD) {
        hg_id *in = hg_alloc(e->arena, n.nargs * sizeof *in), *out = hg_alloc(e->arena, n.nargs * sizeof *out);
        uint32_t nin = 0, nout = 0;
        for (uint32_t k = 0; k < n.nargs; k++) {
            if (hg_at(e, n.arg[k])->vary & HG_T)
                in[nin++] = n.arg[k];
            else
                out[nout++] = n.arg[k];
        }
        if (nout) {
            hg_id d = nin == 1 ? in[0] : hg_prod(e, nin, in);
            return hg_mul(e, hg_prod(e, nout, out), hg_raw(e, HG_DELTA, 1, &d));
        }
    }
    return hg_raw(e, HG_DELTA, 1, &p);
}

hg_id hg_hold(struct hg_expr *e, hg_id x)
{
    return hg_at(e, x)->nargs && hg_at(e, x)->op != HG_HOLD ? hg_raw(e, HG_HOLD, 1, &x) : x;
}

/* Factors that do not vary with the loop are taken out; a body of such factors alone is multiplied by the count. */
hg_id hg_reduce(struct hg_expr *e, hg_id index, hg_id body)
{
    const unsigned level = hg_at(e, index)->vary;
    const struct hg_node n = *hg_at(e, body);
    hg_id arg[2] = {index, body};
    if (!(n.vary & level))
        return hg_mul(e, hg_const(e, hg_loop_at(e, hg_at(e, index)->ref)->n), body);
    if (n.op != HG_PROD)
        return hg_raw(e, HG_REDUCE, 2, arg);
    hg_id *in = hg_alloc(e->arena, n.nargs * sizeof *in), *out = hg_alloc(e->arena, (n.nargs + 1) * sizeof *out);
    uint32_t nin = 0, nout = 0;
    for (uint32_t k = 0; k < n.nargs; k++)
        *(hg_at(e, n.arg[k])->vary & level ? &in[nin++] : &out[nout++]) = n.arg[k];
    if (nout == 0)
        return hg_raw(e, HG_REDUCE, 2, arg);
    arg[1] = nin == 1 ? in[0] : hg_prod(e, nin, in);
    out[nout++] = hg_raw(e, HG_REDUCE, 2, arg);
    return hg_prod(e, nout, out);
}

hg_id hg_make(struct hg_expr *e, enum hg_op op, uint32_t nargs, const hg_id *arg)
{
    switch (op) {
    case HG_SUM: return hg_sum(e, nargs, arg);
    case HG_PROD: return hg_prod(e, nargs, arg);
    case HG_POW: return hg_pow(e, arg[0], arg[1]);
    case HG_LT:
    case HG_LE:
    case HG_ATAN2: return hg_call2(e, op, arg[0], arg[1]);
    case HG_WHERE: return hg_where(e, arg[0], arg[1], arg[2]);
    case HG_POTENTIAL: return hg_potential(e, arg[0]);
    case HG_AT_I:
    case HG_AT_J: return hg_pair_at(e, arg[0], op == HG_AT_J);
    case HG_DELTA: return hg_delta(e, arg[0]);
    case HG_REDUCE: return hg_reduce(e, arg[0], arg[1]);
    case HG_HOLD: return hg_hold(e, arg[0]);
    default: break;
    }
    if (hg_many(op))
        return hg_call_many(e, op, arg);
    if (nargs == 1 && (hg_op_flags[op] & HG_F_POINTWISE) && op <= HG_SIGN)
        return hg_call(e, op, arg[0]);
    return hg_raw(e, op, nargs, arg);
}
