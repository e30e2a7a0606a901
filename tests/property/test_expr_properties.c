/* test_expr_properties.c -- laws of the expression graph, at random expressions.
 *
 *   simplified and raw form have the same value          derivatives agree with dual numbers
 *   (so do all derivatives at once)
 *   so do second derivatives, and two sweeps along a direction with the sum of them
 *   differentiation is linear and obeys the chain rule   the same input gives the same ids
 *
 * HG_SEED=n, HG_CASES=n (default 1, 5000).  A failure prints the seed and the smallest expression
 * found that still fails. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "generator/graph/eval.h"
#include "generator/graph/functions.h"
#include "generator/graph/loop.h"
#include "property/gen_expr.h"
#include "support/tol.h"

enum { FRAMES = 9, POINTS = 3 };

/* A place where expressions are evaluated. */
struct place {
    double param[RECIPE_PARAMETERS], one[2], column[2], time[FRAMES];
    struct hg_point p;
};

static void draw_place(struct place *at, struct random *r)
{
    for (int k = 0; k < RECIPE_PARAMETERS; k++)
        at->param[k] = random_in(r, -2, 2);
    for (int k = 0; k < 2; k++) {
        at->one[k] = random_in(r, 0.2, 2);
        at->column[k] = random_in(r, -2, 2);
    }
    for (int k = 0; k < FRAMES; k++)
        at->time[k] = 0.25 * k;
    uint32_t i = random_below(r, FRAMES - 1);
    at->p = (struct hg_point){.param = at->param,
                              .linear = at->one,
                              .setting = at->one + 1,
                              .coord = at->one,
                              .column = at->column,
                              .time = at->time,
                              .ntime = FRAMES,
                              .step = 0.25,
                              .i = i,
                              .j = i + 1 + random_below(r, FRAMES - 1 - i)};
}

static struct hg_num value_at(const struct hg_expr *e, hg_id root, struct place *at, hg_id seed)
{
    struct hg_eval *ev = hg_eval_new(e, 1, &root);
    at->p.seed = seed;
    hg_eval_run(ev, &at->p);
    struct hg_num x = hg_eval_get(ev, root, 0);
    hg_eval_free(ev);
    return x;
}

/* Too large to be of interest, or not a number: nothing is asserted. */
static int wild(long double x)
{
    return !(fabsl(x) < 1e30L);
}

static int close_to(long double a, long double b, long double bound, long double allowed)
{
    return fabsl(a - b) <= allowed * TOL_UNIT * bound + TOL_TINY;
}

/* --- the laws: 1 when they are broken -------------------------------------------------------- */

struct context {
    uint64_t seed; /* of the places */
    unsigned long skipped, compared;
    unsigned char seen[HG_NOP];
    char message[300];
};

typedef int law(const struct recipe *r, void *user);

static void count_operations(struct context *c, const struct hg_expr *e)
{
    for (hg_id id = 1; id < e->n; id++)
        c->seen[hg_at(e, id)->op] = 1;
}

static int simplified_differs(const struct recipe *r, void *user)
{
    struct context *c = user;
    struct hg_arena *a = hg_arena_new();
    struct hg_expr *e = hg_expr_new(a);
    hg_id raw = recipe_build(r, e, 1, NULL);
    count_operations(c, e);
    hg_id simple = recipe_build(r, e, 0, NULL);
    struct random random = {c->seed};
    struct place at;
    int bad = 0;
    for (int k = 0; k < POINTS && !bad; k++) {
        draw_place(&at, &random);
        struct hg_num x = value_at(e, raw, &at, 0), y = value_at(e, simple, &at, 0);
        c->compared++;
        if (wild(x.e) || wild(x.v)) {
            c->skipped++;
            continue;
        }
        bad = !close_to(x.v, y.v, x.e + y.e, TOL_REWRITE);
        if (bad)
            snprintf(c->message, sizeof c->message, "raw %.19Lg, simplified %.19Lg (bound %.2Lg)",
                     x.v, y.v, (x.e + y.e) * TOL_UNIT);
    }
    hg_arena_free(a);
    return bad;
}

static int derivative_differs(const struct recipe *r, void *user)
{
    struct context *c = user;
    struct hg_arena *a = hg_arena_new();
    struct hg_expr *e = hg_expr_new(a);
    hg_id root = recipe_build(r, e, 0, NULL), raw = recipe_build(r, e, 1, NULL);
    struct random random = {c->seed};
    struct place at;
    int bad = 0;
    for (uint32_t k = 0; k < RECIPE_PARAMETERS && !bad; k++) {
        hg_id p = hg_symbol(e, HG_PARAM, k), d = hg_diff(e, root, p), draw = hg_diff(e, raw, p);
        draw_place(&at, &random);
        struct hg_num x = value_at(e, root, &at, p), y = value_at(e, d, &at, 0);
        struct hg_num z = value_at(e, draw, &at, 0);
        c->compared++;
        if (wild(y.e) || wild(x.d) || wild(z.e)) {
            c->skipped++;
            continue;
        }
        bad = !close_to(x.d, y.v, y.e + z.e + fabsl(x.d), TOL_DUAL) ||
              !close_to(x.d, z.v, y.e + z.e + fabsl(x.d), TOL_DUAL);
        if (bad)
            snprintf(c->message, sizeof c->message,
                     "by p%u: dual %.19Lg, symbolic %.19Lg, of the raw form %.19Lg (bound %.2Lg)",
                     k, x.d, y.v, z.v, (y.e + z.e) * TOL_UNIT);
    }
    hg_arena_free(a);
    return bad;
}

/* Of rows: no function of two frames. */
static int is_of_rows(const struct recipe *r)
{
    for (uint32_t k = 0; k < r->n; k++) {
        const int op = r->step[k].op;
        if (op == HG_POTENTIAL || op == HG_DELTA || op == HG_AT_I || op == HG_AT_J)
            return 0;
    }
    return 1;
}

/* All derivatives at once, of the simplified and of the raw form. */
static int gradient_differs(const struct recipe *r, void *user)
{
    if (!is_of_rows(r))
        return 0;
    enum { P = RECIPE_PARAMETERS };
    struct context *c = user;
    struct hg_arena *a = hg_arena_new();
    struct hg_expr *e = hg_expr_new(a);
    hg_id leaf[P], slope[P];
    struct random random = {c->seed};
    struct place at;
    int bad = 0;
    for (uint32_t k = 0; k < P; k++)
        leaf[k] = hg_symbol(e, HG_PARAM, k);
    for (int raw = 0; raw < 2; raw++) {
        hg_id root = recipe_build(r, e, raw, NULL);
        hg_gradient(e, root, P, leaf, slope);
        for (uint32_t k = 0; k < P && !bad; k++) {
            draw_place(&at, &random);
            struct hg_num x = value_at(e, root, &at, leaf[k]), y = value_at(e, slope[k], &at, 0);
            struct hg_num z = value_at(e, hg_diff(e, root, leaf[k]), &at, 0);
            c->compared++;
            if (wild(x.d) || wild(z.e)) {
                c->skipped++;
                continue;
            }
            if (!hg_contains(e, root, leaf[k]) && !hg_is_value(e, slope[k], 0))
                bad = 1;
            bad = bad || (!wild(y.e) && !close_to(x.d, y.v, y.e + z.e + fabsl(x.d), TOL_DUAL));
            if (bad)
                snprintf(c->message, sizeof c->message, "by p%u: dual %.19Lg, of the gradient %.19Lg (bound %.2Lg)", k,
                         x.d, y.v, (y.e + z.e) * TOL_UNIT);
        }
    }
    hg_arena_free(a);
    return bad;
}

/* d2 f / dp_a dp_b is the dual number of d f / dp_a with seed p_b; along a direction v their sum. */
static int second_differs(const struct recipe *r, void *user)
{
    enum { P = RECIPE_PARAMETERS };
    struct context *c = user;
    struct hg_arena *a = hg_arena_new();
    struct hg_expr *e = hg_expr_new(a);
    struct recipe smooth = *r; /* the family of sinc ends with its second derivative: models have only sinc */
    for (uint32_t k = 0; k < smooth.n; k++)
        smooth.step[k].op = smooth.step[k].op == HG_DSINC ? HG_SINC : smooth.step[k].op;
    hg_id root = recipe_build(&smooth, e, 0, NULL), leaf[P], rate[P];
    struct random random = {c->seed};
    struct place at;
    double v[P];
    int bad = 0, skip = 0;
    for (uint32_t k = 0; k < P; k++) {
        v[k] = random_in(&random, -1, 1);
        leaf[k] = hg_symbol(e, HG_PARAM, k);
        rate[k] = hg_const(e, v[k]);
    }
    draw_place(&at, &random);
    long double sum = 0, bound = 0;
    for (uint32_t k = 0; k < P && !bad; k++) {
        hg_id first = hg_diff(e, root, leaf[k]);
        for (uint32_t l = 0; l < P && !bad; l++) {
            struct hg_num x = value_at(e, first, &at, leaf[l]);
            struct hg_num y = value_at(e, hg_diff(e, first, leaf[l]), &at, 0);
            skip |= wild(y.e) || wild(x.d);
            sum += (long double)v[k] * v[l] * x.d;
            bound += fabsl((long double)v[k] * v[l]) * (y.e + fabsl(x.d));
            bad = !skip && !close_to(x.d, y.v, y.e + fabsl(x.d), TOL_DUAL);
            if (bad)
                snprintf(c->message, sizeof c->message, "by p%u p%u: dual %.19Lg, symbolic %.19Lg", k, l, x.d, y.v);
        }
    }
    hg_id along = hg_diff_along(e, root, P, leaf, rate);
    struct hg_num z = value_at(e, hg_diff_along(e, along, P, leaf, rate), &at, 0);
    c->compared++;
    c->skipped += (unsigned long)(skip || wild(z.e));
    if (!bad && !skip && !wild(z.e) && !close_to(sum, z.v, z.e + bound, TOL_DUAL)) {
        bad = 1;
        snprintf(c->message, sizeof c->message, "along a direction: %.19Lg, the sum is %.19Lg", z.v, sum);
    }
    hg_arena_free(a);
    return bad;
}

/* d (3 f + p1 g) / dp0 = 3 df + p1 dg with g = f(p0 -> p2 p0). */
static int not_linear(const struct recipe *r, void *user)
{
    struct context *c = user;
    struct hg_arena *a = hg_arena_new();
    struct hg_expr *e = hg_expr_new(a);
    hg_id p0 = hg_symbol(e, HG_PARAM, 0), p1 = hg_symbol(e, HG_PARAM, 1);
    hg_id to = hg_mul(e, p0, hg_symbol(e, HG_PARAM, 2)), f = recipe_build(r, e, 0, NULL);
    hg_id g = hg_replace(e, f, 1, &p0, &to), three = hg_const(e, 3.0);
    hg_id sum = hg_diff(e, hg_add(e, hg_mul(e, three, f), hg_mul(e, p1, g)), p0);
    hg_id parts = hg_add(e, hg_mul(e, three, hg_diff(e, f, p0)), hg_mul(e, p1, hg_diff(e, g, p0)));
    struct random random = {c->seed};
    struct place at;
    draw_place(&at, &random);
    struct hg_num x = value_at(e, sum, &at, 0), y = value_at(e, parts, &at, 0);
    int skip = wild(x.e) || wild(y.e), bad;
    c->compared++;
    c->skipped += (unsigned long)skip;
    bad = !skip && !close_to(x.v, y.v, x.e + y.e, TOL_REWRITE);
    if (bad)
        snprintf(c->message, sizeof c->message, "of the sum %.19Lg, sum of them %.19Lg", x.v, y.v);
    hg_arena_free(a);
    return bad;
}

/* F(u) with u = p1 and g(p0):  d F(g) / dp0 = F'(g) g'. */
static int chain_broken(const struct recipe *r, void *user)
{
    struct context *c = user;
    struct hg_arena *a = hg_arena_new();
    struct hg_expr *e = hg_expr_new(a);
    hg_id p0 = hg_symbol(e, HG_PARAM, 0), u = hg_symbol(e, HG_PARAM, 1);
    hg_id half = hg_mul(e, hg_const(e, 0.5), p0);
    hg_id g = hg_add(e, hg_call(e, HG_SIN, p0), hg_mul(e, half, half));
    hg_id F = recipe_build(r, e, 0, NULL);
    hg_id whole = hg_diff(e, hg_replace(e, F, 1, &u, &g), p0);
    hg_id outer = hg_diff(e, F, u), inner = hg_diff(e, g, p0);
    hg_id chain = hg_mul(e, hg_replace(e, outer, 1, &u, &g), inner);
    struct random random = {c->seed};
    struct place at;
    draw_place(&at, &random);
    struct hg_num x = value_at(e, whole, &at, 0), y = value_at(e, chain, &at, 0);
    int skip = wild(x.e) || wild(y.e), bad;
    c->compared++;
    c->skipped += (unsigned long)skip;
    bad = !skip && !close_to(x.v, y.v, x.e + y.e, TOL_REWRITE);
    if (bad)
        snprintf(c->message, sizeof c->message, "of the whole %.19Lg, by the chain rule %.19Lg",
                 x.v, y.v);
    hg_arena_free(a);
    return bad;
}

static int ids_differ(const struct recipe *r, void *user)
{
    struct context *c = user;
    struct hg_arena *a = hg_arena_new();
    struct hg_expr *e[2];
    hg_id root[2];
    for (int k = 0; k < 2; k++) {
        e[k] = hg_expr_new(a);
        root[k] = recipe_build(r, e[k], 0, NULL);
        root[k] = hg_add(e[k], root[k], hg_diff(e[k], root[k], hg_symbol(e[k], HG_PARAM, 0)));
    }
    int bad = root[0] != root[1] || e[0]->n != e[1]->n ||
              strcmp(hg_text(e[0], root[0], 1), hg_text(e[1], root[1], 1)) != 0;
    /* building again in the same graph adds nothing */
    hg_id n = e[0]->n;
    recipe_build(r, e[0], 0, NULL);
    bad |= e[0]->n != n;
    c->compared++;
    if (bad)
        snprintf(c->message, sizeof c->message, "root %u, %u of %u, %u nodes", root[0], root[1], n,
                 e[1]->n);
    hg_arena_free(a);
    return bad;
}

/* --- running --------------------------------------------------------------------------------- */

static void print_recipe(const struct recipe *r)
{
    for (uint32_t k = 0; k < r->n; k++) {
        const struct recipe_step *s = &r->step[k];
        print_message("  %2u: %s", k, hg_op_text[s->op]);
        for (uint32_t a = 0; a < s->nargs; a++)
            print_message(" #%u", s->arg[a]);
        print_message(" (ref %u, value %.17g)\n", s->ref, s->value);
    }
    struct hg_arena *a = hg_arena_new();
    struct hg_expr *e = hg_expr_new(a);
    hg_id raw = recipe_build(r, e, 1, NULL), simple = recipe_build(r, e, 0, NULL);
    print_message("  raw        %s\n", hg_text(e, raw, 1));
    print_message("  simplified %s\n", hg_text(e, simple, 1));
    hg_arena_free(a);
}

static void run(law *broken, uint32_t share, uint32_t first, struct context *c)
{
    uint64_t seed = random_environment("HG_SEED", 1),
             n = random_environment("HG_CASES", 5000) / share;
    struct random random = {seed};
    *c = (struct context){0};
    for (uint64_t k = 0; k < n; k++) {
        struct recipe r;
        c->seed = random_bits(&random);
        recipe_draw(&r, &random, 5 + random_below(&random, RECIPE_MOST - 5), k % 5 == 4, first);
        if (!broken(&r, c))
            continue;
        recipe_shrink(&r, broken, c);
        broken(&r, c);
        print_message("HG_SEED=%llu, case %llu: %s\n", (unsigned long long)seed,
                      (unsigned long long)k, c->message);
        print_recipe(&r);
        fail();
    }
    /* the generator must not make mostly nonsense */
    assert_true(c->skipped * 10 <= c->compared);
}

static void test_simplified_equals_raw(void **state)
{
    struct context c;
    (void)state;
    run(simplified_differs, 1, 0, &c);
    if (random_environment("HG_CASES", 5000) < 5000)
        return;
    for (int op = 0; op < HG_NOP; op++)
        if (recipe_guard[op] != GUARD_MADE && !c.seen[op] && (!hg_function(op) || hg_function(op)->language))
            fail_msg("no random expression had the operation %s", hg_op_text[op]);
}

static void test_derivatives_equal_dual_numbers(void **state)
{
    struct context c;
    (void)state;
    run(derivative_differs, 1, 0, &c);
}

static void test_gradients_equal_dual_numbers(void **state)
{
    struct context c;
    (void)state;
    run(gradient_differs, 2, 0, &c);
}

/* where(0 < p0, log(p0), p1) sin(p0): the slope of the branch that is not taken, infinite or no number, has no share;
 * nor has it where the choice is held and only its branch depends on the leaf. */
static void test_gradient_of_a_choice(void **state)
{
    struct hg_arena *a = hg_arena_new();
    struct hg_expr *e = hg_expr_new(a);
    hg_id p[3], zero = hg_const(e, 0), slope[3];
    struct random random = {1};
    struct place at;
    (void)state;
    for (uint32_t k = 0; k < 3; k++)
        p[k] = hg_symbol(e, HG_PARAM, k);
    hg_id yes = hg_call(e, HG_LOG, p[0]);
    hg_id root = hg_mul(e, hg_where(e, hg_call2(e, HG_LT, zero, p[0]), yes, p[1]), hg_call(e, HG_SIN, p[2]));
    hg_gradient(e, root, 3, p, slope);
    draw_place(&at, &random);
    static const double first[] = {0, -0.5, 0.75};
    for (int k = 0; k < 3; k++) {
        const double x = at.param[0] = first[k], y = at.param[1], z = at.param[2];
        const double want[3] = {x > 0 ? sin(z) / x : 0, x > 0 ? 0 : sin(z), (x > 0 ? log(x) : y) * cos(z)};
        for (int by = 0; by < 3; by++)
            assert_true(fabsl(value_at(e, slope[by], &at, 0).v - want[by]) < 1e-14L);
    }
    hg_arena_free(a);
}

static void test_gradient_of_a_leaf_and_of_a_bare_choice(void **state)
{
    struct hg_arena *a = hg_arena_new();
    struct hg_expr *e = hg_expr_new(a);
    hg_id zero = hg_const(e, 0), p[2] = {hg_symbol(e, HG_PARAM, 0), hg_symbol(e, HG_PARAM, 1)}, slope[3];
    struct random random = {1};
    struct place at;
    (void)state;
    slope[2] = 12345; /* is no slope of two leaves */
    hg_gradient(e, p[1], 2, p, slope);
    assert_true(hg_is_value(e, slope[0], 0) && hg_is_value(e, slope[1], 1) && slope[2] == 12345);
    hg_id root = hg_where(e, hg_call2(e, HG_LT, zero, p[0]), hg_call(e, HG_LOG, p[0]), p[1]);
    hg_gradient(e, root, 2, p, slope);
    draw_place(&at, &random);
    at.param[0] = 0; /* where the other branch has an infinite slope */
    assert_true(value_at(e, slope[0], &at, 0).v == 0 && value_at(e, slope[1], &at, 0).v == 1);
    hg_arena_free(a);
}

static void test_second_derivatives_equal_dual_numbers(void **state)
{
    struct context c;
    (void)state;
    run(second_differs, 5, 0, &c);
}

static void test_differentiation_is_linear(void **state)
{
    struct context c;
    (void)state;
    run(not_linear, 4, 0, &c);
}

static void test_chain_rule(void **state)
{
    struct context c;
    (void)state;
    run(chain_broken, 4, 1, &c); /* F is free of p0 */
}

static void test_same_input_same_ids(void **state)
{
    struct context c;
    (void)state;
    run(ids_differ, 4, 0, &c);
}

/* --- slopes of powers ------------------------------------------------------------------------ */

/* Nodes of p0 and p1. */
struct bases {
    struct hg_expr *e;
    hg_id p0, p1, one, root, exp0, cosh1, abs0, sinh1;
};

static struct bases bases_of(struct hg_expr *e)
{
    struct bases x = {.e = e, .p0 = hg_symbol(e, HG_PARAM, 0), .p1 = hg_symbol(e, HG_PARAM, 1), .one = hg_const(e, 1)};
    x.root = hg_pow(e, hg_call(e, HG_ABS, x.p0), hg_const(e, 0.5));
    x.exp0 = hg_call(e, HG_EXP, x.p0);
    x.cosh1 = hg_call(e, HG_COSH, x.p1);
    x.abs0 = hg_call(e, HG_ABS, x.p0);
    x.sinh1 = hg_call(e, HG_SINH, x.p1);
    return x;
}

/* a^p2 is no power again in its slope by p0, b (a^b / a) da, where a is above zero whatever p0 and p1 are. */
static void test_slope_of_a_power_of_what_is_above_zero(void **state)
{
    struct hg_arena *a = hg_arena_new();
    struct hg_expr *e = hg_expr_new(a);
    const struct bases x = bases_of(e);
    hg_id square = hg_pow(e, x.p0, hg_const(e, 2)), b = hg_symbol(e, HG_PARAM, 2);
    const hg_id above[] = {
        hg_add(e, x.one, square),        hg_add(e, x.one, hg_mul(e, square, x.exp0)),
        hg_add(e, x.one, x.exp0),        hg_add(e, x.one, hg_mul(e, x.abs0, hg_call(e, HG_EXP, x.p1))),
        hg_add(e, x.cosh1, x.root),      hg_add(e, x.one, hg_call(e, HG_SOFTPLUS, x.p0)),
        hg_call(e, HG_COSH, x.p0),       hg_add(e, x.cosh1, hg_call(e, HG_LOGISTIC, x.p0)),
        hg_add(e, x.one, x.root),
    };
    (void)state;
    for (size_t k = 0; k < sizeof above / sizeof *above; k++) {
        hg_id power = hg_pow(e, above[k], b), slope = hg_diff(e, power, x.p0);
        if (!hg_contains(e, slope, power))
            fail_msg("%zu: %s", k, hg_text(e, slope, 1));
    }
    hg_arena_free(a);
}

/* Where a can be 0 it is b a^(b-1) da: 0 at a = 0, not 0/0. */
static void test_slope_of_a_power_of_what_can_be_zero(void **state)
{
    struct hg_arena *a = hg_arena_new();
    struct hg_expr *e = hg_expr_new(a);
    const struct bases x = bases_of(e);
    struct random random = {1};
    struct place at;
    hg_id minus = hg_neg(e, x.one), both = hg_mul(e, x.p0, x.p1);
    const struct {
        hg_id base;
        double p0, p1;
    } c[] = {
        {x.p0, 0, 1},
        {hg_add(e, x.one, x.p0), -1, 0},
        {hg_add(e, x.one, both), 1, -1},
        {hg_add(e, x.one, hg_mul(e, both, x.exp0)), 0, 0}, /* not 0, and yet no NaN */
        {hg_add(e, x.one, hg_pow(e, x.p0, hg_const(e, 3))), -1, 0},
        {hg_add(e, x.exp0, minus), 0, 0},
        {hg_mul(e, x.p0, x.p0), 0, 0},
        {hg_mul(e, x.p0, x.cosh1), 0, 0.5},
        {hg_add(e, x.p0, x.p1), 0.5, -0.5},
        {hg_add(e, x.one, hg_mul(e, x.p0, x.sinh1)), 0, 0.5},
        {hg_add(e, hg_const(e, -1), x.abs0), 1, 0},
        {hg_add(e, x.one, hg_mul(e, x.p0, hg_add(e, x.p1, minus))), 1, 0},
        {hg_add(e, x.one, hg_mul(e, x.exp0, hg_add(e, x.p1, minus))), 0, 0},
        {hg_call(e, HG_SINH, x.p0), 0, 0},
    };
    (void)state;
    draw_place(&at, &random);
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        hg_id slope = hg_diff(e, hg_pow(e, c[k].base, hg_symbol(e, HG_PARAM, 2)), x.p0);
        at.param[0] = c[k].p0;
        at.param[1] = c[k].p1;
        at.param[2] = 2.5;
        const long double base = value_at(e, c[k].base, &at, 0).v, found = value_at(e, slope, &at, 0).v;
        const long double want = 2.5L * powl(base, 1.5L) * value_at(e, c[k].base, &at, x.p0).d;
        if (!(fabsl(found - want) <= 1e-15L))
            fail_msg("%zu: %s is %Lg, not %Lg", k, hg_text(e, slope, 1), found, want);
    }
    hg_arena_free(a);
}

/* --- every operation once -------------------------------------------------------------------- */

/* 1: has a derivative rule of its own to be tested here; 0: a leaf, or made after differentiation.
 * One entry per row of ops.def: an operation added there without one here does not compile. */
static const struct {
    const char *name;
    int rule;
} rule[] = {
    {"CONST", 0},       {"PARAM", 0},        {"LINEAR", 0}, {"SETTING", 0},    {"COORD", 0},
    {"TIME", 0},        {"STEP", 0},         {"COLUMN", 0}, {"LOCAL", 0},      {"SEED", 0},
    {"DIRECTION", 0},   {"INDEX", 0},       {"NODE", 0},   {"INPUT", 0},      {"CARRIED", 0},    {"SUM", 2},
    {"PROD", 2},        {"POW", 2},          {"EXP", 1},    {"LOG", 1},        {"EXPM1", 1},
    {"LOG1P", 1},       {"SIN", 1},          {"COS", 1},    {"TAN", 1},        {"ASIN", 1},
    {"ACOS", 1},        {"ATAN", 1},         {"SINH", 1},   {"COSH", 1},       {"TANH", 1},       {"ASINH", 1},
    {"ERF", 1},         {"ERFC", 1},         {"SINC", 1},   {"DSINC", 1},      {"D2SINC", 0},
    {"SOFTPLUS", 1},    {"LOGISTIC", 1},     {"LGAMMA", 1},   {"DIGAMMA", 1},
    {"TRIGAMMA", 1},    {"TETRAGAMMA", 0},   {"GAMMA", 1},       {"EXPREL", 1},
    {"DEXPREL", 1},     {"D2EXPREL", 0},     {"LOG1MEXP", 1}, {"ERFCX", 1},     {"DERFCX", 1},
    {"D2ERFCX", 0},     {"ERFINV", 1},       {"ERFI", 1},       {"ABS", 1},          {"SIGN", 1},       {"BESSEL_J", 1},
    {"SPHERICAL_J", 1}, {"BESSEL_Y", 1},     {"SPHERICAL_Y", 1}, {"BESSEL_I", 1},   {"BESSEL_K", 1},
    {"SPHERICAL_I", 1}, {"SPHERICAL_K", 1},
    {"FADDEEVA_RE", 2},  {"FADDEEVA_IM", 2}, {"GAMMA_P", 2},    {"GAMMA_Q", 2},    {"GAMMA_DENSITY", 2},
    {"ATAN2", 2},
    {"LT", 3},          {"LE", 3},           {"WHERE", 3},  {"POTENTIAL", -1}, {"AT_I", -1},
    {"AT_J", -1},       {"DELTA", -1},       {"HOLD", 1},
    {"REDUCE", -1}, {"STATE", 0},      {"EXPD", 0},   {"SIND", 0},       {"COSD", 0},
    {"SINC_SERIES", 0}, {"DSINC_SERIES", 0}, {"SMALL", 0},  {"GUARD", 0},
};
_Static_assert(sizeof rule / sizeof *rule == HG_NOP,
               "ops.def has rows without an entry in this table");

/* Structure: of a function of time, or of the turn of a sum, with parameters. */
static hg_id structure(struct hg_expr *e, enum hg_op op, hg_id p0, hg_id p1)
{
    uint32_t loop = hg_loop_shared(e, 1, HG_LEGENDRE, 5, 0);
    hg_id t = op == HG_REDUCE ? hg_loop_node(e, loop, HG_ABSCISSA) : hg_symbol(e, HG_TIME, 0);
    hg_id f = hg_call(e, HG_SIN, hg_add(e, hg_mul(e, p0, t), p1));
    hg_id F = op == HG_POTENTIAL ? hg_delta(e, hg_potential(e, f)) : f;
    if (op == HG_REDUCE)
        return hg_reduce(e, hg_loop_index(e, loop), hg_mul(e, f, hg_add(e, p1, hg_call(e, HG_EXP, t))));
    return op == HG_POTENTIAL ? F : hg_make(e, op, 1, &F);
}

static void test_rule_of_every_operation(void **state)
{
    static const char *const name[] = {
#define OP(name, nargs, text, flags) #name,
#include "generator/graph/ops.def"
    };
    struct random random = {random_environment("HG_SEED", 1)};
    (void)state;
    for (int op = 0; op < HG_NOP; op++) {
        assert_string_equal(rule[op].name, name[op]);
        for (int k = 0; k < 20 && rule[op].rule; k++) {
            struct hg_arena *a = hg_arena_new();
            struct hg_expr *e = hg_expr_new(a);
            hg_id p[3] = {hg_symbol(e, HG_PARAM, 0), hg_symbol(e, HG_PARAM, 1),
                          hg_symbol(e, HG_PARAM, 2)};
            hg_id f = rule[op].rule < 0
                          ? structure(e, (enum hg_op)op, p[0], p[1])
                          : recipe_apply(e, 0, (enum hg_op)op, (uint32_t)rule[op].rule, p, 0.3);
            for (int by = 0; by < 3; by++) {
                struct place at;
                draw_place(&at, &random);
                long double x = value_at(e, f, &at, p[by]).d;
                struct hg_num y = value_at(e, hg_diff(e, f, p[by]), &at, 0);
                int outside = isnan(x) && isnan(y.v); /* of the domain */
                if (!outside && !close_to(x, y.v, y.e + fabsl(x), TOL_DUAL))
                    fail_msg("%s by p%d: dual %.19Lg, symbolic %.19Lg", name[op], by, x, y.v);
            }
            hg_arena_free(a);
        }
    }
}

/* What is made of an operation is what its function gives: constants folded, signs taken out. */
static void test_what_is_made_is_simplified(void **state)
{
    struct hg_arena *a = hg_arena_new();
    struct hg_expr *e = hg_expr_new(a);
    hg_id p = hg_symbol(e, HG_PARAM, 0);
    const hg_id x[] = {hg_const(e, 0.25), p, hg_neg(e, p), hg_mul(e, hg_const(e, -2), p), hg_call(e, HG_EXP, p),
                       hg_call(e, HG_LOG, p)};
    (void)state;
    for (int op = HG_EXP; op <= HG_SIGN; op++)
        for (size_t k = 0; k < sizeof x / sizeof *x; k++)
            assert_int_equal(hg_make(e, (enum hg_op)op, 1, &x[k]), hg_call(e, (enum hg_op)op, x[k]));
    assert_true(hg_is_value(e, hg_make(e, HG_SIGN, 1, x), 1) && hg_is_value(e, hg_make(e, HG_ABS, 1, x), 0.25));
    hg_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rule_of_every_operation),
        cmocka_unit_test(test_what_is_made_is_simplified),
        cmocka_unit_test(test_slope_of_a_power_of_what_is_above_zero),
        cmocka_unit_test(test_slope_of_a_power_of_what_can_be_zero),
        cmocka_unit_test(test_simplified_equals_raw),
        cmocka_unit_test(test_derivatives_equal_dual_numbers),
        cmocka_unit_test(test_gradients_equal_dual_numbers),
        cmocka_unit_test(test_gradient_of_a_choice),
        cmocka_unit_test(test_gradient_of_a_leaf_and_of_a_bare_choice),
        cmocka_unit_test(test_second_derivatives_equal_dual_numbers),
        cmocka_unit_test(test_differentiation_is_linear),
        cmocka_unit_test(test_chain_rule),
        cmocka_unit_test(test_same_input_same_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
