/* test_gen_sums.c -- sums that stay loops: nodes and weights of the rules, and sums against the same terms written out:
 * values, derivatives forwards and backwards, in extended precision.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "generator/graph/eval.h"
#include "generator/graph/loop.h"
#include "generator/graph/twin.h"

/* --- rules ------------------------------------------------------------------------------------------------ */

/* By mpmath, 60 digits: zeros of the polynomials, weights from their derivatives and from sums of squares. */
static void test_nodes_to_the_last_place(void **state)
{
    static const struct {
        enum hg_rule_kind rule;
        uint32_t n, k;
        long double x, w;
    } c[] = {
        {HG_LEGENDRE, 5, 4, 0.9530899229693319964L, 0.11846344252809454376L},
        {HG_LEGENDRE, 20, 19, 0.99656429959254746239L, 0.0088070035695760591559L},
        {HG_LEGENDRE, 20, 12, 0.68685304435770978034L, 0.071048054659191025665L},
        {HG_LEGENDRE, 200, 199, 0.99996403564253498852L, 0.000092295048735648721984L},
        {HG_LEGENDRE, 200, 100, 0.50391714557115318464L, 0.0078341308579161274038L},
        {HG_HERMITE, 3, 2, 1.7320508075688772935L, 0.16666666666666666667L},
        {HG_HERMITE, 20, 19, 7.6190485416797582914L, 1.2578006724379270154e-13L},
        {HG_HERMITE, 20, 13, 2.4586636111723677513L, 0.01399783744710100335L},
        {HG_HERMITE, 40, 39, 11.453377841548730346L, 1.4618398738694167063e-29L},
        {HG_HERMITE, 100, 96, 16.850442196467576409L, 5.0885512754455025411e-63L},
    };
    double x[200], w[200];
    (void)state;
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        hg_rule_nodes(c[k].rule, c[k].n, 0, x, w);
        const double ex = (double)fabsl(x[c[k].k] / c[k].x - 1), ew = (double)fabsl(w[c[k].k] / c[k].w - 1);
        if (!(ex <= 0x1p-52 && ew <= 0x1p-51)) /* a weight is a sum of n squares, in 64 bits */
            fail_msg("%s, n = %u: node %u is off by %g, its weight by %g", hg_rule_name(c[k].rule), c[k].n,
                     c[k].k, ex, ew);
    }
}

static double by_rule(enum hg_rule_kind rule, uint32_t n, double (*f)(double))
{
    double x[1000], w[1000], s = 0;
    hg_rule_nodes(rule, n, 0, x, w);
    for (uint32_t k = 0; k < n; k++)
        s += w[k] * f(x[k]);
    return s;
}

static double power_7(double x) { return pow(x, 7); }
static double power_8(double x) { return pow(x, 8); }
static double root(double x) { return sqrt(x); }
static double pole(double x) { return 1 / sqrt(x); }
static double decay(double x) { return exp(-x); }
static double bell(double x) { return exp(-x * x); }
static double bump(double x) { return exp(-200 * (x - 0.5) * (x - 0.5)); }

static void test_rules_integrate(void **state)
{
    static const double pi = 3.14159265358979323846;
    (void)state;
    assert_true(fabs(by_rule(HG_LEGENDRE, 4, power_7) - 1 / 8.0) < 1e-16); /* exact to degree 2n - 1 */
    assert_true(fabs(by_rule(HG_LEGENDRE, 4, power_8) - 1 / 9.0) > 1e-7);
    assert_true(fabs(by_rule(HG_HERMITE, 5, power_8) - 105) < 1e-12);
    assert_true(fabs(by_rule(HG_HERMITE, 4, power_8) - 105) > 1);
    assert_true(fabs(by_rule(HG_TANH_SINH, 61, root) - 2 / 3.0) < 1e-14);
    assert_true(fabs(by_rule(HG_TANH_SINH, 61, pole) - 2) < 1e-13);
    assert_true(fabs(by_rule(HG_EXP_SINH, 121, decay) - 1) < 1e-14);
    assert_true(fabs(by_rule(HG_SINH_SINH, 121, bell) - sqrt(pi)) < 1e-12);
    assert_true(fabs(by_rule(HG_MIDPOINT, 60, bump) - sqrt(pi / 200)) < 1e-14);
}

/* --- sums against what they stand for ----------------------------------------------------------------------- */

/* sum over k1 of exp(-p0 x k1) (p1 + sum over k2 of sin(p1 k2 x + k1)), as loops and written out. */
static hg_id term(struct hg_expr *e, hg_id k1, hg_id inner)
{
    hg_id p0 = hg_symbol(e, HG_PARAM, 0), p1 = hg_symbol(e, HG_PARAM, 1), x = hg_symbol(e, HG_COLUMN, 0);
    hg_id decay = hg_call(e, HG_EXP, hg_neg(e, hg_mul(e, p0, hg_mul(e, x, k1))));
    return hg_mul(e, decay, hg_add(e, p1, inner));
}

static hg_id inner_term(struct hg_expr *e, hg_id k1, hg_id k2)
{
    hg_id p1 = hg_symbol(e, HG_PARAM, 1), x = hg_symbol(e, HG_COLUMN, 0);
    return hg_call(e, HG_SIN, hg_add(e, hg_mul(e, p1, hg_mul(e, k2, x)), k1));
}

enum { FIRST = 2, N1 = 4, N2 = 3 };

static hg_id as_loops(struct hg_expr *e)
{
    uint32_t outer = hg_loop_open(e, 1, HG_COUNT, N1, FIRST), in = hg_loop_open(e, 2, HG_COUNT, N2, 1);
    hg_id k1 = hg_loop_node(e, outer, HG_ABSCISSA), k2 = hg_loop_node(e, in, HG_ABSCISSA);
    hg_id inside = hg_loop_close(e, in, hg_reduce(e, hg_loop_index(e, in), inner_term(e, k1, k2)));
    return hg_loop_close(e, outer, hg_reduce(e, hg_loop_index(e, outer), term(e, k1, inside)));
}

static hg_id written_out(struct hg_expr *e)
{
    hg_id sum = hg_const(e, 0);
    for (int k1 = FIRST; k1 < FIRST + N1; k1++) {
        hg_id inside = hg_const(e, 0);
        for (int k2 = 1; k2 <= N2; k2++)
            inside = hg_add(e, inside, inner_term(e, hg_const(e, k1), hg_const(e, k2)));
        sum = hg_add(e, sum, term(e, hg_const(e, k1), inside));
    }
    return sum;
}

static const double param[] = {0.7, 1.3}, column[] = {0.45};
static const struct hg_point at = {.param = param, .column = column};

static struct hg_twin value(struct hg_expr *e, hg_id id)
{
    struct hg_twins *t = hg_twins_new(e, 1, &id, 1, 0, NULL);
    hg_twins_run(t, &at);
    struct hg_twin r = hg_twins_get(t, id, 0);
    hg_twins_free(t);
    return r;
}

static void same_to(struct hg_expr *e, hg_id a, hg_id b, long double tolerance)
{
    struct hg_twin x = value(e, a), y = value(e, b);
    assert_true(fabsl(x.x.hi / y.x.hi - 1) < tolerance);
    assert_true(fabs(x.f / y.f - 1) < 1e-13);
}

static void same(struct hg_expr *e, hg_id a, hg_id b)
{
    same_to(e, a, b, 1e-18L);
}

static void test_sums_are_their_terms(void **state)
{
    struct hg_arena *a = hg_arena_new();
    struct hg_expr *e = hg_expr_new(a);
    hg_id f = as_loops(e), g = written_out(e), p[2] = {hg_symbol(e, HG_PARAM, 0), hg_symbol(e, HG_PARAM, 1)}, slope[2];
    (void)state;
    same(e, f, g);
    hg_gradient(e, f, 2, p, slope);
    for (int k = 0; k < 2; k++) {
        hg_id d = hg_diff(e, g, p[k]);
        same(e, hg_diff(e, f, p[k]), d);
        same(e, slope[k], d);
        for (int l = 0; l < 2; l++)
            same(e, hg_diff(e, hg_diff(e, f, p[k]), p[l]), hg_diff(e, d, p[l]));
    }
    hg_arena_free(a);
}

/* An integral whose limits move: derivatives, through the variable as one thing, are those of the sum written out. */
static hg_id of_variable(struct hg_expr *e, hg_id x)
{
    hg_id p1 = hg_symbol(e, HG_PARAM, 1);
    hg_id square = hg_mul(e, p1, hg_pow(e, x, hg_const(e, 2)));
    return hg_call(e, HG_SIN, hg_add(e, square, hg_mul(e, x, hg_symbol(e, HG_COLUMN, 0))));
}

static const long double FOLDED = 1e-14L; /* written out, numbers of the rule are multiplied in double */

static void test_derivatives_go_through_the_variable(void **state)
{
    struct hg_arena *a = hg_arena_new();
    struct hg_expr *e = hg_expr_new(a);
    uint32_t loop = hg_loop_shared(e, 1, HG_LEGENDRE, N1, 0);
    const struct hg_loop l = *hg_loop_at(e, loop);
    hg_id p[2] = {hg_symbol(e, HG_PARAM, 0), hg_symbol(e, HG_PARAM, 1)}, g = hg_const(e, 0), slope[2];
    hg_id span = hg_mul(e, p[0], p[1]);
    hg_id x = hg_hold(e, hg_add(e, p[1], hg_mul(e, span, hg_loop_node(e, loop, HG_ABSCISSA))));
    hg_id f = hg_mul(e, span, hg_mul(e, hg_loop_node(e, loop, HG_WEIGHT), of_variable(e, x)));
    (void)state;
    f = hg_reduce(e, hg_loop_index(e, loop), f);
    for (uint32_t k = 0; k < N1; k++) {
        hg_id at_k = hg_add(e, p[1], hg_mul(e, span, hg_const(e, l.column[HG_ABSCISSA][k])));
        g = hg_add(e, g, hg_mul(e, hg_mul(e, hg_const(e, l.column[HG_WEIGHT][k]), span), of_variable(e, at_k)));
    }
    same_to(e, f, g, FOLDED);
    hg_gradient(e, f, 2, p, slope);
    for (int k = 0; k < 2; k++) {
        same_to(e, hg_diff(e, f, p[k]), hg_diff(e, g, p[k]), FOLDED);
        same_to(e, slope[k], hg_diff(e, g, p[k]), FOLDED);
        for (int m = 0; m < 2; m++)
            same_to(e, hg_diff(e, hg_diff(e, f, p[k]), p[m]), hg_diff(e, hg_diff(e, g, p[k]), p[m]), FOLDED);
    }
    hg_arena_free(a);
}

/* The sweep backwards and the dual numbers know sums. */
static void test_sums_are_judged(void **state)
{
    struct hg_arena *a = hg_arena_new();
    struct hg_expr *e = hg_expr_new(a);
    hg_id f = as_loops(e), p = hg_symbol(e, HG_PARAM, 1), d = hg_diff(e, f, p), root[2] = {f, d};
    struct hg_twins *t = hg_twins_new(e, 2, root, 1, 0, NULL);
    struct hg_eval *ev = hg_eval_new(e, 2, root);
    struct hg_point seeded = at;
    (void)state;
    seeded.seed = p;
    hg_twins_run(t, &at);
    hg_twins_sweep(t, f);
    hg_eval_run(ev, &seeded);
    const double want = hg_twins_get(t, d, 0).f;
    assert_true(fabs(hg_twins_slope(t, p, 0) / want - 1) < 1e-14);
    assert_true(fabsl(hg_eval_get(ev, f, 0).d / want - 1) < 1e-14L);
    assert_true(fabsl(hg_eval_get(ev, d, 0).v / want - 1) < 1e-14L);
    hg_eval_free(ev);
    hg_twins_free(t);
    hg_arena_free(a);
}

/* Equal rules of one level share their loop; a variable of another sum is told apart. */
static void test_loops_are_shared(void **state)
{
    struct hg_arena *a = hg_arena_new();
    struct hg_expr *e = hg_expr_new(a);
    (void)state;
    assert_int_equal(as_loops(e), as_loops(e));
    uint32_t one = hg_loop_open(e, 1, HG_COUNT, 3, 1), other = hg_loop_open(e, 1, HG_COUNT, 3, 1);
    hg_id both = hg_add(e, hg_loop_node(e, one, HG_ABSCISSA), hg_loop_node(e, other, HG_ABSCISSA));
    assert_true(hg_at(e, both)->loop[0] == HG_MIXED);
    hg_id c = hg_mul(e, hg_symbol(e, HG_PARAM, 0), hg_loop_node(e, one, HG_ABSCISSA));
    assert_int_equal(hg_at(e, hg_reduce(e, hg_loop_index(e, one), c))->op, HG_PROD); /* p sum of k */
    assert_true(hg_is_value(e, hg_reduce(e, hg_loop_index(e, one), hg_const(e, 2)), 6));
    hg_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nodes_to_the_last_place), cmocka_unit_test(test_rules_integrate),
        cmocka_unit_test(test_sums_are_their_terms),    cmocka_unit_test(test_sums_are_judged),
        cmocka_unit_test(test_loops_are_shared),        cmocka_unit_test(test_derivatives_go_through_the_variable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
