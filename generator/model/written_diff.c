/* written_diff.c -- derivatives of written formulas, short enough to be read.
 *
 * The derivative of a formula is expressed by its named parts: d g1/d alpha = g1 (-q^2/2 integral of dD/d alpha), with
 * dD/d alpha a formula of its own. These formulas are for reading. They are made by the same rules as those of diff.c,
 * which serve the kernels and which --check tests.
 *
 * A factor exp(u) of a named product F gives F du; where F itself is a maximum, the value of F determines its branch.
 */
#include <math.h>
#include <stdlib.h>

#include "model/model.h"
#include "model/written.h"

struct diff {
    struct hg_model *m;
    hg_wid root;
    int part; /* root has a name */
    hg_id node;
    hg_wid *made; /* by node: its derivative; 0: none */
    unsigned char *done;
    int unknown; /* there is no rule for it */
};

static hg_wid number(struct hg_model *m, double x)
{
    return hg_written_add(m, &(struct hg_written){.word = HG_W_NUMBER, .value = x});
}

static hg_wid make(struct hg_model *m, enum hg_word word, hg_wid a, hg_wid b)
{
    return hg_written_add(m, &(struct hg_written){.word = word, .nargs = b ? 2 : 1, .arg = {a, b}});
}

static hg_wid call(struct hg_model *m, enum hg_op op, hg_wid a)
{
    return hg_written_add(m, &(struct hg_written){.word = HG_W_FUNCTION, .op = op, .nargs = 1, .arg = {a}});
}

static hg_wid neg(struct hg_model *m, hg_wid a)
{
    const struct hg_written *w = hg_written_at(m, a);
    if (w->word == HG_W_NUMBER)
        return number(m, -w->value);
    return w->word == HG_W_NEG ? w->arg[0] : make(m, HG_W_NEG, a, 0);
}

static hg_wid mul(struct hg_model *m, hg_wid a, hg_wid b)
{
    if (hg_written_is(m, a, 1))
        return b;
    if (hg_written_is(m, b, 1))
        return a;
    if (hg_written_is(m, b, -1))
        return neg(m, a);
    return make(m, HG_W_MUL, a, b);
}

static hg_wid divide(struct hg_model *m, hg_wid a, hg_wid b)
{
    return hg_written_is(m, b, 1) ? a : make(m, HG_W_DIV, a, b);
}

/* Sums of derivatives that may be absent. */
static hg_wid add(struct hg_model *m, hg_wid a, hg_wid b)
{
    return a && b ? make(m, HG_W_ADD, a, b) : a ? a : b;
}

static hg_wid power(struct hg_model *m, hg_wid a, hg_wid b, double less)
{
    const struct hg_written *w = hg_written_at(m, b);
    hg_wid e = w->word == HG_W_NUMBER ? number(m, w->value - less) : make(m, HG_W_SUB, b, number(m, less));
    return hg_written_is(m, e, 1) ? a : make(m, HG_W_POW, a, e);
}

static hg_wid reference(struct hg_model *m, hg_wid a)
{
    return make(m, HG_W_REF, a, 0);
}

/* The whole whose derivative is taken, by its name; otherwise 0. */
static hg_wid whole(const struct diff *d, hg_wid id)
{
    return id == d->root && d->part ? reference(d->m, id) : 0;
}

/* f'(x), y = f(x).  0: no rule. */
static hg_wid slope(struct hg_model *m, enum hg_op f, hg_wid x, hg_wid y)
{
    hg_wid one = number(m, 1), two = number(m, 2);
    hg_wid square = make(m, HG_W_POW, x, two);
    switch (f) {
    case HG_EXP: return y;
    case HG_LOG: return divide(m, one, x);
    case HG_EXPM1: return call(m, HG_EXP, x);
    case HG_LOG1P: return divide(m, one, make(m, HG_W_ADD, one, x));
    case HG_SIN: return call(m, HG_COS, x);
    case HG_COS: return neg(m, call(m, HG_SIN, x));
    case HG_TAN: return divide(m, one, make(m, HG_W_POW, call(m, HG_COS, x), two));
    case HG_ASIN: return divide(m, one, make(m, HG_W_POW, make(m, HG_W_SUB, one, square), number(m, 0.5)));
    case HG_ACOS: return neg(m, divide(m, one, make(m, HG_W_POW, make(m, HG_W_SUB, one, square), number(m, 0.5))));
    case HG_ATAN: return divide(m, one, make(m, HG_W_ADD, one, square));
    case HG_SINH: return call(m, HG_COSH, x);
    case HG_COSH: return call(m, HG_SINH, x);
    case HG_TANH: return divide(m, one, make(m, HG_W_POW, call(m, HG_COSH, x), two));
    case HG_ASINH: return divide(m, one, make(m, HG_W_POW, make(m, HG_W_ADD, one, square), number(m, 0.5)));
    case HG_ERF:
    case HG_ERFC: {
        hg_wid pi = number(m, 3.14159265358979323846);
        hg_wid c = divide(m, two, make(m, HG_W_POW, pi, number(m, 0.5)));
        return mul(m, f == HG_ERF ? c : neg(m, c), call(m, HG_EXP, neg(m, square)));
    }
    case HG_SINC: return call(m, HG_DSINC, x);
    case HG_SOFTPLUS: return call(m, HG_LOGISTIC, x);
    case HG_LOGISTIC: return mul(m, y, make(m, HG_W_SUB, one, y));
    case HG_LGAMMA: return call(m, HG_DIGAMMA, x);
    case HG_DIGAMMA: return call(m, HG_TRIGAMMA, x);
    case HG_TRIGAMMA: return call(m, HG_TETRAGAMMA, x);
    case HG_GAMMA: return mul(m, y, call(m, HG_DIGAMMA, x));
    case HG_EXPREL: return call(m, HG_DEXPREL, x);
    case HG_LOG1MEXP: return neg(m, divide(m, one, make(m, HG_W_SUB, call(m, HG_EXP, neg(m, x)), one)));
    case HG_ERFCX: return call(m, HG_DERFCX, x);
    case HG_ABS: return call(m, HG_SIGN, x);
    default: return 0;
    }
}

/* The derivative a of the expression that w converts. */
static hg_wid same(struct hg_model *m, const struct hg_written *w, hg_wid a)
{
    struct hg_written made = {.word = HG_W_SAME, .nargs = 1, .arg = {a}, .unit = w->unit};
    if (!hg_unit_factor(m->units, hg_written_at(m, w->arg[0])->unit, w->unit, &made.value))
        made.value = 1;
    return hg_written_add(m, &made);
}

static hg_wid diff(struct diff *d, hg_wid id);

static int is_exp(const struct diff *d, hg_wid id)
{
    const struct hg_written *w = hg_written_at(d->m, id);
    return w->word == HG_W_FUNCTION && w->op == HG_EXP && !hg_written_is_named(d->m, id);
}

/* The factors of a product, MUL only, in order; returns their number (at most max). */
static uint32_t factors(const struct diff *d, hg_wid id, hg_wid *list, uint32_t n, uint32_t max)
{
    const struct hg_written *w = hg_written_at(d->m, id);
    if (w->word == HG_W_MUL && (id == d->root || !hg_written_is_named(d->m, id)) && n + 2 <= max) {
        n = factors(d, w->arg[0], list, n, max - 1);
        return factors(d, w->arg[1], list, n, max);
    }
    list[n++] = id;
    return n;
}

static hg_wid d_product(struct diff *d, hg_wid id)
{
    enum { MAX = 32 };
    struct hg_model *m = d->m;
    hg_wid list[MAX], sum = 0;
    uint32_t n = factors(d, id, list, 0, MAX);
    for (uint32_t k = 0; k < n; k++) {
        hg_wid dk = diff(d, list[k]), term = 0;
        if (!dk)
            continue;
        if (is_exp(d, list[k]) && whole(d, id)) {
            term = mul(m, whole(d, id), diff(d, hg_written_at(m, list[k])->arg[0]));
        } else {
            for (uint32_t j = 0; j < n; j++)
                if (j != k)
                    term = term ? mul(m, term, list[j]) : list[j];
            term = term ? mul(m, term, dk) : dk;
        }
        sum = add(m, sum, term);
    }
    return sum;
}

static hg_wid d_quotient(struct diff *d, hg_wid id)
{
    struct hg_model *m = d->m;
    const struct hg_written w = *hg_written_at(m, id);
    hg_wid da = diff(d, w.arg[0]), db = diff(d, w.arg[1]);
    hg_wid first = da ? divide(m, da, w.arg[1]) : 0;
    hg_wid square = db ? make(m, HG_W_POW, w.arg[1], number(m, 2)) : 0;
    hg_wid second = db ? neg(m, mul(m, divide(m, w.arg[0], square), db)) : 0;
    return add(m, first, second);
}

static hg_wid d_power(struct diff *d, hg_wid id)
{
    struct hg_model *m = d->m;
    const struct hg_written w = *hg_written_at(m, id);
    hg_wid da = diff(d, w.arg[0]), db = diff(d, w.arg[1]);
    hg_wid first = 0, second = 0, y = whole(d, id) ? whole(d, id) : id;
    if (da)
        first = mul(m, mul(m, w.arg[1], power(m, w.arg[0], w.arg[1], 1)), da);
    if (db)
        second = mul(m, mul(m, y, call(m, HG_LOG, w.arg[0])), db);
    return add(m, first, second);
}

/* The bounded expression, inside other bounds that are numbers. */
static hg_wid bounded(const struct diff *d, hg_wid id)
{
    hg_wid a, b;
    while (!hg_written_is_named(d->m, id) && hg_written_extremum(d->m, id, &a, &b) &&
           hg_written_at(d->m, b)->depth == 1)
        id = a;
    return id;
}

/* d max(x, lo) = dx [x > lo]. Where the maximum is the whole F, the condition is F > lo. */
static hg_wid d_choice(struct diff *d, hg_wid id)
{
    struct hg_model *m = d->m;
    const struct hg_written w = *hg_written_at(m, id);
    hg_wid a, b, da = diff(d, w.arg[1]), db = diff(d, w.arg[2]), condition = w.arg[0];
    int extremum = hg_written_extremum(m, id, &a, &b);
    if (!da && !db)
        return 0;
    if (extremum && !da) {
        hg_wid x = whole(d, id) ? whole(d, id) : bounded(d, a);
        condition = make(m, extremum > 0 ? HG_W_GT : HG_W_LT, x, b);
        if (!whole(d, id))
            return mul(m, db, make(m, HG_W_WHEN, condition, 0));
        da = db;
        db = 0;
    }
    hg_wid zero = number(m, 0);
    return hg_written_add(
        m, &(struct hg_written){.word = HG_W_WHERE, .nargs = 3, .arg = {condition, da ? da : zero, db ? db : zero}});
}

/* Sums, integrals, means: those of the derivative. When the limits or the distribution depend on the parameter,
 * there is no short rule. */
static hg_wid d_bound(struct diff *d, const struct hg_written *w)
{
    struct hg_written made = *w;
    for (uint32_t k = 2; k < w->nargs; k++)
        d->unknown |= hg_written_depends(d->m, w->arg[k], d->node, 0);
    made.arg[0] = diff(d, w->arg[0]);
    made.node = 0, made.name = NULL, made.rank = HG_UNNAMED;
    return made.arg[0] ? hg_written_add(d->m, &made) : 0;
}

static hg_wid d_node(struct diff *d, hg_wid id)
{
    struct hg_model *m = d->m;
    const struct hg_written w = *hg_written_at(m, id); /* a copy: the array may move */
    hg_wid a = 0, b = 0, s;
    switch (w.word) {
    case HG_W_SYMBOL: return w.node == d->node ? number(m, 1) : 0;
    case HG_W_ADD: return add(m, diff(d, w.arg[0]), diff(d, w.arg[1]));
    case HG_W_SUB:
        a = diff(d, w.arg[0]);
        b = diff(d, w.arg[1]);
        return a && b ? make(m, HG_W_SUB, a, b) : b ? neg(m, b) : a;
    case HG_W_MUL: return d_product(d, id);
    case HG_W_DIV: return d_quotient(d, id);
    case HG_W_NEG: a = diff(d, w.arg[0]); return a ? neg(m, a) : 0;
    case HG_W_SAME: /* shown without the conversion factor; it is kept for computation */
        a = diff(d, w.arg[0]);
        return a ? same(m, &w, a) : 0;
    case HG_W_POW: return d_power(d, id);
    case HG_W_WHERE: return d_choice(d, id);
    case HG_W_FUNCTION:
        a = diff(d, w.arg[0]);
        s = a && w.nargs == 1 ? slope(m, w.op, w.arg[0], whole(d, id) ? whole(d, id) : id) : 0;
        return s ? mul(m, s, a) : 0;
    case HG_W_INTEGRAL:
    case HG_W_AT:
        a = diff(d, w.arg[0]);
        return a ? hg_written_add(
                       m, &(struct hg_written){.word = w.word, .nargs = w.nargs, .arg = {a, w.arg[1], w.arg[2]}})
                 : 0;
    case HG_W_TOTAL:
    case HG_W_OVER:
    case HG_W_MEAN: return d_bound(d, &w);
    case HG_W_ATAN2: {
        hg_wid two = number(m, 2);
        a = diff(d, w.arg[0]);
        b = diff(d, w.arg[1]);
        a = a ? mul(m, w.arg[1], a) : 0;
        b = b ? neg(m, mul(m, w.arg[0], b)) : 0;
        s = make(m, HG_W_ADD, make(m, HG_W_POW, w.arg[0], two), make(m, HG_W_POW, w.arg[1], two));
        return a || b ? divide(m, add(m, a, b), s) : 0;
    }
    default: return 0;
    }
}

static hg_wid diff(struct diff *d, hg_wid id)
{
    struct hg_model *m = d->m;
    if (id > d->root)
        return 0; /* made here; never differentiated again */
    if (d->done[id])
        return d->made[id];
    hg_wid made = 0;
    if (id != d->root && hg_written_is_named(m, id)) {
        if (hg_written_depends(m, id, d->node, 0))
            made =
                hg_written_add(m, &(struct hg_written){.word = HG_W_SLOPE, .nargs = 1, .arg = {id}, .node = d->node});
    } else {
        made = d_node(d, id);
    }
    d->done[id] = 1;
    d->made[id] = made;
    return made;
}

hg_wid hg_written_diff(struct hg_model *m, hg_wid root, int part, hg_id node)
{
    struct diff d = {.m = m, .root = root, .part = part, .node = node};
    d.made = hg_zeros((size_t)root + 1, sizeof *d.made);
    d.done = hg_zeros((size_t)root + 1, 1);
    hg_wid made = diff(&d, root);
    free(d.made);
    free(d.done);
    return d.unknown ? 0 : made;
}
