/* gen_expr.c -- random expressions: see gen_expr.h. */
#include "gen_expr.h"

#include <string.h>

#include "generator/graph/functions.h"

/* In the order of ops.def; the test counts them against it. */
const enum recipe_guard recipe_guard[HG_NOP] = {
    [HG_EXP] = GUARD_BOUNDED,    [HG_LOG] = GUARD_POSITIVE,     [HG_EXPM1] = GUARD_BOUNDED,
    [HG_LOG1P] = GUARD_POSITIVE, [HG_TAN] = GUARD_BOUNDED,      [HG_ASIN] = GUARD_BOUNDED,
    [HG_ACOS] = GUARD_BOUNDED,   [HG_SINH] = GUARD_BOUNDED,     [HG_COSH] = GUARD_BOUNDED,
    [HG_ABS] = GUARD_OFFSET,     [HG_SIGN] = GUARD_OFFSET,      [HG_POW] = GUARD_POSITIVE,
    [HG_LT] = GUARD_OFFSET,      [HG_LE] = GUARD_OFFSET,        [HG_ATAN2] = GUARD_POSITIVE,
    [HG_DIRECTION] = GUARD_MADE, [HG_INPUT] = GUARD_MADE,       [HG_SEED] = GUARD_MADE,
    [HG_LOCAL] = GUARD_MADE,     [HG_EXPD] = GUARD_MADE,        [HG_SIND] = GUARD_MADE,
    [HG_COSD] = GUARD_MADE,      [HG_SINC_SERIES] = GUARD_MADE, [HG_DSINC_SERIES] = GUARD_MADE,
    [HG_SMALL] = GUARD_MADE,     [HG_GUARD] = GUARD_MADE,       [HG_INDEX] = GUARD_MADE,
    [HG_NODE] = GUARD_MADE,      [HG_REDUCE] = GUARD_MADE,      [HG_HOLD] = GUARD_MADE,
    [HG_CARRIED] = GUARD_MADE,   [HG_STATE] = GUARD_MADE,       [HG_ERFINV] = GUARD_BOUNDED,
    [HG_ERFI] = GUARD_BOUNDED,   [HG_BESSEL_Y] = GUARD_POSITIVE, [HG_BESSEL_I] = GUARD_BOUNDED,
    [HG_BESSEL_K] = GUARD_POSITIVE, [HG_SPHERICAL_Y] = GUARD_POSITIVE,
    [HG_SPHERICAL_I] = GUARD_BOUNDED, [HG_SPHERICAL_K] = GUARD_POSITIVE,
    [HG_GAMMA_P] = GUARD_POSITIVE, [HG_GAMMA_Q] = GUARD_POSITIVE, [HG_GAMMA_DENSITY] = GUARD_POSITIVE,
};

/* --- building -------------------------------------------------------------------------------- */

static hg_id make(struct hg_expr *e, int raw, enum hg_op op, uint32_t n, const hg_id *arg)
{
    return raw ? hg_raw(e, op, n, arg) : hg_make(e, op, n, arg);
}

static hg_id make2(struct hg_expr *e, int raw, enum hg_op op, hg_id a, hg_id b)
{
    hg_id arg[2] = {a, b};
    return make(e, raw, op, 2, arg);
}

static hg_id positive(struct hg_expr *e, int raw, hg_id x)
{
    return make2(e, raw, HG_SUM, hg_const(e, 1.0), make2(e, raw, HG_POW, x, hg_const(e, 2.0)));
}

static hg_id wrapped(struct hg_expr *e, int raw, enum recipe_guard g, hg_id x, double value)
{
    switch (g) {
    case GUARD_BOUNDED: {
        hg_id root = make2(e, raw, HG_POW, positive(e, raw, x), hg_const(e, -0.5));
        hg_id arg[3] = {hg_const(e, 0.9), x, root};
        return make(e, raw, HG_PROD, 3, arg);
    }
    case GUARD_POSITIVE: return positive(e, raw, x);
    case GUARD_OFFSET: return make2(e, raw, HG_SUM, hg_const(e, value), x);
    default: return x;
    }
}

hg_id recipe_apply(struct hg_expr *e, int raw, enum hg_op op, uint32_t n, const hg_id *arg,
                   double value)
{
    hg_id x[4];
    memcpy(x, arg, n * sizeof *x);
    switch (op) {
    case HG_POW: /* a constant exponent when there is one operand */
        x[0] = positive(e, raw, x[0]);
        x[1] = n == 2 ? wrapped(e, raw, GUARD_BOUNDED, x[1], 0) : hg_const(e, value);
        return make(e, raw, op, 2, x);
    case HG_ATAN2: x[1] = positive(e, raw, x[1]); break;
    case HG_LT:
    case HG_LE: /* a step gives a number: where(x < c, y, z) */
    case HG_WHERE:
        if (n == 1) { /* floor_at and cap_at of models; the operand stands in both places */
            hg_id c = hg_const(e, value), low = make2(e, raw, HG_LT, c, x[0]);
            hg_id choice[3] = {low, op == HG_LE ? c : x[0], op == HG_LE ? x[0] : c};
            return make(e, raw, HG_WHERE, 3, choice);
        }
        x[0] = make2(e, raw, op == HG_LE ? HG_LE : HG_LT, x[0], hg_const(e, value));
        return make(e, raw, HG_WHERE, 3, x);
    default: x[0] = wrapped(e, raw, recipe_guard[op], x[0], value); break;
    }
    if (op >= HG_GAMMA_P && op <= HG_GAMMA_DENSITY) { /* of shapes about 1.5 */
        const hg_id bounded = wrapped(e, raw, GUARD_BOUNDED, arg[n - 1], 0);
        const hg_id of_shape[] = {hg_const(e, 0), make2(e, raw, HG_SUM, hg_const(e, 1.5), bounded), x[0]};
        return make(e, raw, op, 3, of_shape);
    }
    if (hg_many(op)) { /* the order, before them */
        memmove(x + 1, x, n * sizeof *x);
        x[0] = hg_const(e, hg_many(op)->most ? 1 : 0);
        return make(e, raw, op, n + 1, x);
    }
    return make(e, raw, op, n, x);
}

static hg_id build_step(struct hg_expr *e, int raw, const struct recipe_step *s, const hg_id *at)
{
    hg_id arg[4];
    for (uint32_t k = 0; k < s->nargs; k++)
        arg[k] = at[s->arg[k]];
    if (s->op == HG_CONST)
        return hg_const(e, s->value);
    if (s->nargs == 0)
        return hg_symbol(e, s->op, s->ref);
    return recipe_apply(e, raw, s->op, s->nargs, arg, s->value);
}

hg_id recipe_build(const struct recipe *r, struct hg_expr *e, int raw, hg_id *at)
{
    hg_id own[RECIPE_MOST];
    at = at ? at : own;
    for (uint32_t k = 0; k < r->n; k++)
        at[k] = build_step(e, raw, &r->step[k], at);
    return at[r->n - 1];
}

/* --- drawing --------------------------------------------------------------------------------- */

static const enum hg_op pointwise[] = {
    HG_SUM,  HG_SUM,   HG_SUM,   HG_PROD,  HG_PROD, HG_PROD, HG_POW,   HG_POW,      HG_EXP,
    HG_LOG,  HG_EXPM1, HG_LOG1P, HG_SIN,   HG_COS,  HG_TAN,  HG_ASIN,  HG_ACOS,     HG_ATAN,
    HG_SINH, HG_COSH,  HG_TANH,  HG_ASINH, HG_ERF,   HG_ERFC, HG_SINC, HG_DSINC, HG_SOFTPLUS, HG_LOGISTIC,
    HG_ABS,  HG_SIGN,  HG_ATAN2, HG_WHERE, HG_LT,   HG_LE,   HG_LGAMMA, HG_DIGAMMA,
    HG_GAMMA, HG_EXPREL, HG_LOG1MEXP, HG_ERFCX,
    HG_ERFINV, HG_ERFI, HG_BESSEL_J, HG_SPHERICAL_J, HG_BESSEL_Y, HG_BESSEL_I, HG_BESSEL_K, HG_SPHERICAL_Y,
    HG_SPHERICAL_I, HG_SPHERICAL_K,
    HG_FADDEEVA_RE, HG_FADDEEVA_IM, HG_GAMMA_P, HG_GAMMA_Q, HG_GAMMA_DENSITY};

static double draw_constant(struct random *random)
{
    static const double nice[] = {-1, 2, 0.5, -2, 3};
    return random_chance(random, 0.5) ? nice[random_below(random, 5)]
                                      : random_in(random, -1.5, 1.5);
}

static void draw_leaf(struct recipe_step *s, struct random *random, enum recipe_kind kind, int rows,
                      uint32_t first)
{
    static const enum hg_op scalar[] = {HG_PARAM,   HG_PARAM, HG_PARAM, HG_LINEAR,
                                        HG_SETTING, HG_COORD, HG_STEP,  HG_CONST};
    *s = (struct recipe_step){.kind = kind};
    if (kind == KIND_SCALAR) {
        s->op = scalar[random_below(random, 8)];
        if (s->op == HG_CONST)
            s->value = draw_constant(random);
        else if (s->op == HG_PARAM)
            s->ref = first + random_below(random, RECIPE_PARAMETERS - first);
    } else if (kind == KIND_TIME) {
        s->op = HG_TIME;
    } else if (rows) {
        s->op = HG_COLUMN;
        s->ref = random_below(random, 2);
    }
}

/* An earlier step of the kind; -1 when there is none. */
static int earlier(const struct recipe *r, struct random *random, enum recipe_kind kind)
{
    uint32_t found[RECIPE_MOST], n = 0;
    for (uint32_t k = 0; k < r->n; k++)
        if (r->step[k].kind == kind)
            found[n++] = k;
    if (!n) /* recent steps more often: deep graphs */
        return -1;
    return (int)found[random_chance(random, 0.5) ? n - 1 : random_below(random, n)];
}

static uint32_t operand_count(enum hg_op op, struct random *random)
{
    switch (op) {
    case HG_SUM:
    case HG_PROD: return 2 + random_below(random, 2);
    case HG_POW: return 1 + random_below(random, 2);
    case HG_FADDEEVA_RE:
    case HG_FADDEEVA_IM:
    case HG_ATAN2: return 2;
    case HG_LT:
    case HG_LE: return random_chance(random, 0.4) ? 1 : 3;
    case HG_WHERE: return 3;
    default: return 1;
    }
}

/* The first operand is of the kind itself, so the step is. */
static void draw_pointwise(struct recipe *r, struct random *random, enum recipe_kind kind)
{
    static const double exponent[] = {-1, 2, 3, -2, 0.5, -0.5, 1.3};
    struct recipe_step s = {.kind = kind};
    s.op = pointwise[random_below(random, sizeof pointwise / sizeof *pointwise)];
    s.nargs = operand_count(s.op, random);
    s.value = s.op == HG_POW ? exponent[random_below(random, 7)] : random_in(random, -1, 1);
    for (uint32_t k = 0; k < s.nargs; k++) {
        int scalar = k > 0 && random_chance(random, 0.5);
        s.arg[k] = (uint32_t)earlier(r, random, scalar ? KIND_SCALAR : kind);
    }
    r->step[r->n++] = s;
}

/* Functions of time become functions of the pair. */
static void draw_structure(struct recipe *r, struct random *random)
{
    static const enum hg_op pair[] = {HG_AT_I, HG_AT_J, HG_DELTA};
    struct recipe_step s = {.nargs = 1, .arg = {(uint32_t)earlier(r, random, KIND_TIME)}};
    int potential = random_chance(random, 0.3);
    s.op = potential ? HG_POTENTIAL : pair[random_below(random, 3)];
    s.kind = potential ? KIND_TIME : KIND_POINT;
    r->step[r->n++] = s;
}

void recipe_draw(struct recipe *r, struct random *random, uint32_t size, int rows, uint32_t first)
{
    r->n = 0;
    for (int k = 0; k < 3; k++)
        draw_leaf(&r->step[r->n++], random, KIND_SCALAR, rows, first);
    r->step[0] = (struct recipe_step){.op = HG_PARAM, .ref = first};
    draw_leaf(&r->step[r->n++], random, rows ? KIND_POINT : KIND_TIME, rows, first);
    while (r->n < size) {
        enum recipe_kind kind = (enum recipe_kind)random_below(random, 3);
        if (random_chance(random, 0.1))
            draw_leaf(&r->step[r->n++], random, KIND_SCALAR, rows, first);
        else if (!rows && random_chance(random, 0.25))
            draw_structure(r, random);
        else if (earlier(r, random, kind) >= 0)
            draw_pointwise(r, random, kind);
    }
    while (r->n > 1 && r->step[r->n - 1].kind == KIND_TIME)
        r->n--; /* the root has one value */
}

/* --- shrinking ------------------------------------------------------------------------------- */

/* Without step k: what used it uses its first operand of the same kind, or a parameter. */
static int drop(const struct recipe *r, uint32_t k, struct recipe *out)
{
    const struct recipe_step *s = &r->step[k];
    uint32_t instead = RECIPE_MOST;
    for (uint32_t a = 0; a < s->nargs; a++)
        if (r->step[s->arg[a]].kind == s->kind)
            instead = s->arg[a];
    for (uint32_t a = 0; a < k && instead == RECIPE_MOST; a++)
        if (r->step[a].kind == s->kind)
            instead = a;
    if (instead == RECIPE_MOST && k + 1 < r->n)
        return 0;
    out->n = 0;
    for (uint32_t n = 0; n < r->n; n++) {
        if (n == k)
            continue;
        struct recipe_step x = r->step[n];
        for (uint32_t a = 0; a < x.nargs; a++) {
            x.arg[a] = x.arg[a] == k ? instead : x.arg[a];
            x.arg[a] -= x.arg[a] > k;
        }
        out->step[out->n++] = x;
    }
    return out->n > 0 && out->step[out->n - 1].kind != KIND_TIME;
}

void recipe_shrink(struct recipe *r, int (*fails)(const struct recipe *, void *), void *user)
{
    struct recipe smaller;
    for (int again = 1; again;) {
        again = 0;
        for (uint32_t k = r->n; k > 0; k--)
            if (drop(r, k - 1, &smaller) && fails(&smaller, user)) {
                *r = smaller;
                again = 1;
                break;
            }
    }
}
