/* test_gen_stability.c -- rules of rewrites.c by themselves, the rounding error of models, what is rewritten in
 * them and what is left as it is. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "generator/language/dsl.h"
#include "generator/judge/rewrites.h"
#include "generator/judge/stability.h"

/* --- rules ---------------------------------------------------------------------------------------------- */

/* Each rule where it is meant: a, b, c between the limits (0 inside: tried there and next to it).  The replacement is
 * within `after` ulp in value and slopes, the pattern worse than `before`.  Replacements that vanish inside (or
 * whose slopes do, like that of sinc) are only right to the condition of their operands; `after` tells. */
static const struct where_meant {
    const char *name;
    uint32_t n;
    double low[2], high[2];
    double before, after;
} meant[] = {
    {"expm1", 1, {-1}, {1}, 1e9, 2},
    {"difference of exponentials", 2, {1, 1}, {2, 2}, 1e9, 8},
    {"exprel", 1, {-3}, {3}, 1e9, 8},
    {"sinhc", 1, {-3}, {3}, 1e9, 12},
    {"tanhc", 1, {-3}, {3}, 1e9, 12},
    {"root of 1 + a less 1", 1, {-0.5}, {2}, 1e9, 4},
    {"power of 1 + a less 1", 2, {-0.5, 0.2}, {2, 3}, 1e9, 8},
    {"difference of roots", 2, {1, 1}, {2, 2}, 1e9, 4},
    {"softplus", 1, {-1000}, {1000}, HUGE_VAL, 4},
    {"log-sum-exp", 2, {710, 710}, {712, 712}, HUGE_VAL, 16},
    {"log1p", 1, {-0.5}, {2}, 1e9, 2},
    {"log1prel", 1, {-0.5}, {3}, 1e9, 16},
    {"difference of logarithms", 2, {1, 1}, {2, 2}, 1e9, 8},
    {"logistic", 1, {-1000}, {1000}, HUGE_VAL, 8},
    {"complement of logistic", 1, {-10}, {40}, 1e9, 4},
    {"1 less a squared cosine", 1, {-1}, {1}, 1e9, 4},
    {"1 less a squared sine", 1, {1.5707}, {1.5709}, 1e5, 4},
    {"1 less a squared tanh", 1, {-18}, {18}, 1e9, 8},
    {"versine", 1, {-2}, {2}, 1e9, 4},
    {"difference of cosines", 2, {1, 1}, {2, 2}, 1e9, 4},
    {"difference of sines", 2, {0, 0}, {1, 1}, 1e9, 4},
    {"sinc", 1, {-3}, {3}, 1e9, 8},
    {"tanc", 1, {-1}, {1}, 1e9, 12},
    {"cosh less 1", 1, {-2}, {2}, 1e9, 4},
    {"complement of tanh", 1, {0}, {19}, 1e9, 8},
    {"complement of erf", 1, {0}, {6}, 1e9, 16}, /* erfc of the C library: not 1 ulp in its tail */
    {"complement of erfc", 1, {0}, {1}, 1e9, 4},
    {"difference of squares", 2, {1, 1}, {2, 2}, 1e9, 2},
    {"1 less a square", 1, {0.5}, {2}, 1e5, 2},
    {"power at 0", 2, {0, 0.3}, {2, 3}, HUGE_VAL, 8},
};

enum { GRID = 12 };

/* A grid of values for a, b; c is 1. */
static uint32_t grid(const struct where_meant *w, double *value)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < GRID; i++)
        for (uint32_t j = 0; j < (w->n > 1 ? GRID : 1); j++, n++) {
            value[3 * n] = w->low[0] + (w->high[0] - w->low[0]) * (i + 0.37) / GRID;
            value[3 * n + 1] = w->n > 1 ? w->low[1] + (w->high[1] - w->low[1]) * (j + 0.61) / GRID : 1;
            value[3 * n + 2] = 1;
        }
    value[0] = w->low[0];
    value[3 * (n - 1)] = w->high[0];
    return n;
}

static const struct hg_rule *rule_named(const char *name)
{
    for (uint32_t k = 0; k < hg_nrule; k++)
        if (strcmp(hg_rule[k].name, name) == 0)
            return &hg_rule[k];
    fail_msg("no rule %s", name);
    return NULL;
}

static void test_every_rule_helps_where_it_is_meant(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof meant / sizeof *meant; k++) {
        const struct where_meant *w = &meant[k];
        double value[3 * GRID * GRID], before, after;
        unsigned wanted = w->n > 1 ? 3 : 1;
        int fine = hg_rule_measure(rule_named(w->name), w->n, wanted, grid(w, value), value, &before, &after);
        if (!fine || !(before >= w->before) || !(after <= w->after))
            fail_msg("%s: %.3g ulp before, %.3g after%s", w->name, before, after,
                     fine ? "" : ", a slope becomes worse");
    }
}

static void test_every_rule_has_a_test(void **state)
{
    (void)state;
    for (uint32_t r = 0; r < hg_nrule; r++) {
        int found = strcmp(hg_rule[r].name, "difference of reciprocals") == 0; /* below */
        for (size_t k = 0; k < sizeof meant / sizeof *meant; k++)
            found |= strcmp(meant[k].name, hg_rule[r].name) == 0;
        if (!found)
            fail_msg("rule %s has no line in this file", hg_rule[r].name);
        assert_true(strlen(hg_rule[r].source) > 5);
    }
}

/* Far from what it is meant for a rule costs digits, and is found out. */
static void test_a_rule_can_be_worse(void **state)
{
    static const struct where_meant power = {"", 2, {1e5, 20}, {1e6, 25}, 0, 0}; /* (1 + a)^b, error of b log */
    static const struct where_meant reciprocals = {"", 2, {1e-3, 100}, {1e-2, 1000}, 0, 0};
    double value[3 * GRID * GRID], before, after;
    (void)state;
    hg_rule_measure(rule_named("power of 1 + a less 1"), 2, 1, grid(&power, value), value, &before, &after);
    assert_true(before < 8 && after > 4 * before);
    /* its slope: -1/(ab) - (b - a)/(a^2 b) instead of -1/a^2 */
    static const struct where_meant far = {"", 2, {100, 1e-3}, {1000, 1e-2}, 0, 0};
    uint32_t n = grid(&far, value);
    int fine = hg_rule_measure(rule_named("difference of reciprocals"), 2, 3, n, value, &before, &after);
    assert_false(fine && after < before);
    hg_rule_measure(rule_named("difference of reciprocals"), 2, 3, grid(&reciprocals, value), value, &before, &after);
    assert_true(before < 8);
}

/* --- matching ------------------------------------------------------------------------------------------- */

struct graph {
    struct hg_arena *a;
    struct hg_expr *e;
    hg_id x, y, z;
};

static struct graph new_graph(void)
{
    struct graph g = {.a = hg_arena_new()};
    g.e = hg_expr_new(g.a);
    g.x = hg_symbol(g.e, HG_PARAM, 0);
    g.y = hg_symbol(g.e, HG_PARAM, 1);
    g.z = hg_symbol(g.e, HG_PARAM, 2);
    return g;
}

static hg_id apply(struct graph *g, const char *name, hg_id node)
{
    hg_id bind[HG_RULE_VARIABLES];
    for (uint32_t k = 0; k < hg_nrule; k++)
        if (strcmp(hg_rule[k].name, name) == 0) {
            hg_id r = hg_rule_apply(g->e, k, node, bind);
            if (r)
                return r;
        }
    return 0;
}

static hg_id built(struct graph *g, const char *text)
{
    hg_id bind[HG_RULE_VARIABLES] = {g->x, g->y, g->z};
    return hg_rule_build(g->e, text, bind);
}

static void test_patterns_match_inside_sums_and_products(void **state)
{
    static const struct {
        const char *rule, *from, *to;
    } row[] = {
        {"expm1", "exp(a*b) - 1", "expm1(a*b)"},
        {"expm1", "c - 2*b*exp(a) + 2*b", "c - 2*b*expm1(a)"},
        {"expm1", "1 - exp(-a)", "-expm1(-a)"},
        {"versine", "b*c - b*c*cos(2*a)", "2*b*c*sin(a)^2"},
        {"root of 1 + a less 1", "1 - (1 - a)^0.5", "a/(1 + (1 - a)^0.5)"},
        {"root of 1 + a less 1", "(1 + a^2 + b)^0.5 - 1", "(a^2 + b)/(1 + (1 + a^2 + b)^0.5)"},
        {"difference of squares", "c*a^2 - c*b^2", "c*(a - b)*(a + b)"},
        {"difference of squares", "a^2*b^2 - c^2", "(a*b - c)*(a*b + c)"},
        {"sinc", "b*sin(2*a)^2/a^2", "4*b*sinc(2*a)^2"},
        {"sinc", "sin(a*b)/b", "a*sinc(a*b)"},
        {"exprel", "expm1(a)*b/a", "b*exprel(a)"},
        {"log-sum-exp", "log(exp(a) + exp(b))", "a + softplus(b - a)"},
        {"logistic", "c/(1 + exp(a - b))", "c*logistic(-(a - b))"},
        {"difference of logarithms", "log(a) - log(b) + c",
         "c + where(lt(abs(a - b), abs(b)/2), log1p((a - b)/b), log(a/b))"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct graph g = new_graph();
        hg_id from = built(&g, row[k].from), to = built(&g, row[k].to), seen = 0;
        for (hg_id id = 1; id <= from && !seen; id++) { /* at whichever node */
            hg_id r = apply(&g, row[k].rule, id);
            seen = r ? hg_replace(g.e, from, 1, &id, &r) : 0;
        }
        if (seen != to)
            fail_msg("%s: %s gave %s, not %s", row[k].rule, row[k].from, seen ? hg_text(g.e, seen, 1) : "nothing",
                     hg_text(g.e, to, 1));
        hg_arena_free(g.a);
    }
}

static void test_patterns_do_not_match_what_only_looks_like_them(void **state)
{
    static const char *const row[][2] = {{"expm1", "exp(a) + 1"}, {"expm1", "exp(a) - 2"}, {"expm1", "b*exp(a) - 1"},
                                         {"versine", "1 + cos(a)"}, {"sinc", "sin(a)/b"}, {"sinc", "a*sin(a)"},
                                         {"log1p", "log(2 + a)"}, {"difference of squares", "a^2 + b^2"},
                                         {"difference of squares", "a^2 - b^3"}, {"power at 0", "a^2"}};
    (void)state;
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct graph g = new_graph();
        if (apply(&g, row[k][0], built(&g, row[k][1])))
            fail_msg("%s matches %s", row[k][0], row[k][1]);
        hg_arena_free(g.a);
    }
}

/* --- models --------------------------------------------------------------------------------------------- */

struct loaded {
    struct hg_arena *a;
    struct hg_model *m;
    struct hg_diag d;
    char *text; /* messages */
    size_t size;
    int ok;
    hg_id before;
    struct hg_analysis found;
};

static struct loaded *load(const char *source)
{
    struct loaded *l = calloc(1, sizeof *l);
    assert_non_null(l);
    l->a = hg_arena_new();
    l->d.out = open_memstream(&l->text, &l->size);
    assert_non_null(l->d.out);
    l->m = hg_dsl_load_text(l->a, "test.lua", source, &l->d);
    fflush(l->d.out);
    if (!l->m)
        fail_msg("%s", l->text);
    l->before = l->m->variant[0].mean;
    l->ok = hg_stability(l->m, &l->m->variant[0], &l->found, &l->d, NULL);
    fflush(l->d.out);
    return l;
}

static void unload(struct loaded *l)
{
    fclose(l->d.out);
    free(l->text);
    hg_arena_free(l->a);
    free(l);
}

/* A table model y(x; a, b) with x in the range. */
static const char *table(const char *mean, const char *range)
{
    static char s[2000];
    snprintf(s, sizeof s,
             "local m = model \"t\" { title = \"t\" }\n"
             "local x, y = m.columns({\"x\", range = {%s}}, \"y\")\n"
             "local a = m.parameter(\"a\", { start = 1, bounds = {0.1, 2} })\n"
             "local b = m.parameter(\"b\", { start = 0.5, bounds = {0.05, 3} })\n"
             "m.observe(y, { mean = %s })\n",
             range, mean);
    return s;
}

static void test_models_become_accurate(void **state)
{
    static const char *const row[][2] = {
        {"b * (exp(a*x) - 1)", "0, 10"},         {"b * (exp(-a*x) - 1) / x", "0, 10"},
        {"b * (1 - cos(a*x))", "0, 3"},          {"b * (1 - cos(a*x)) / x^2", "0, 3"},
        {"b * sin(a*x) / x", "0, 10"},           {"log(1 + a*x) * b", "0, 10"},
        {"b * log(1 + a*x) / x", "0, 10"},       {"sqrt(1 + a*x) - 1 + 0*b", "0, 10"},
        {"1 - sqrt(1 - a*x/100)", "0, 10"},      {"b * (1 - erf(a*x))", "0, 10"},
        {"b * log(1 + exp(100*a*x))", "0, 10"},  {"log(exp(100*a*x) + exp(90*b*x))", "0, 10"},
        {"b / (1 + exp(100*a*x))", "0, 10"},     {"x^b * a", "0, 10"},
        {"(x/a)^b", "0, 10"},                    {"b * tanh(a*x) / x", "0, 10"},
        {"b * (1 - (1 + a*x)^-2)", "0, 10"},     {"b * sinh(a*x) / x", "0, 3"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct loaded *l = load(table(row[k][0], row[k][1]));
        const struct hg_accuracy *acc = l->found.accuracy;
        if (!l->ok || l->m->variant[0].mean == l->before)
            fail_msg("%s: %s", row[k][0], l->ok ? "nothing was rewritten" : l->text);
        for (uint32_t o = 0; o < acc->n; o++)
            if (acc->output[o].undefined || acc->output[o].ulp > 16)
                fail_msg("%s: %s has %.3g ulp", row[k][0], acc->output[o].name, acc->output[o].ulp);
        unload(l);
    }
}

/* At 0, where the pattern is 0/0, value and slope are the limits. */
static void test_removable_singularities_have_their_limits(void **state)
{
    static const struct {
        const char *mean;
        double value, slope; /* at x = 0, a = 2, b = 1; slope by a */
    } row[] = {{"b * (exp(a*x) - 1) / x", 2, 1},  {"b * sin(a*x) / x", 2, 1},    {"b * (1 - cos(a*x)) / x^2", 2, 2},
               {"b * log(1 + a*x) / x", 2, 1},    {"b * tanh(a*x) / x", 2, 1},   {"(x/a)^b", 0, 0},
               {"b * (exp(a*x) - 1)/(a*x)", 1, 0}};
    (void)state;
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct loaded *l = load(table(row[k].mean, "0, 10"));
        struct hg_expr *e = l->m->expr;
        hg_id root[2] = {l->m->variant[0].mean};
        root[1] = hg_diff(e, root[0], hg_symbol(e, HG_PARAM, 0));
        double param[2] = {2, 1}, column[2] = {0, 0};
        struct hg_point p = {.param = param, .column = column, .ntime = 1};
        assert_int_equal(l->m->param.n + l->m->linear.n, 2);
        if (l->m->linear.n) /* b was found to be linear */
            p.linear = &param[1];
        struct hg_twins *t = hg_twins_new(e, 2, root, 1, 0, NULL);
        hg_twins_run(t, &p);
        if (hg_twins_get(t, root[0], 0).f != row[k].value || hg_twins_get(t, root[1], 0).f != row[k].slope)
            fail_msg("%s: %g, slope %g", row[k].mean, hg_twins_get(t, root[0], 0).f, hg_twins_get(t, root[1], 0).f);
        hg_twins_free(t);
        unload(l);
    }
}

static void test_accurate_models_stay_as_they_are(void **state)
{
    static const char *const row[][2] = {
        {"b * (exp(a*x) - 1)", "1, 10"},     /* loses half a digit at most */
        {"b * sin(a*x) / x", "30, 40"},      {"log(1 + a*x) * b", "1, 10"},
        {"(1 + a*x)^b - 1", "10, 20"},       {"x^b * a", "1, 10"},
        {"b / (1 + exp(a*x))", "0, 10"},     {"b * exp(-a*x)", "0, 10"},
    };
    (void)state;
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct loaded *l = load(table(row[k][0], row[k][1]));
        if (!l->ok || l->m->variant[0].mean != l->before)
            fail_msg("%s became %s", row[k][0], hg_text(l->m->expr, l->m->variant[0].mean, 1));
        unload(l);
    }
}

/* 1 - exp(integral) is a product of tables; expm1 would be computed for every pair. */
static void test_tables_over_frames_are_kept(void **state)
{
    static const char source[] =
        "local m = model \"t\" { title = \"t\" }\n"
        "local t = m.grid(\"t\", \"s\")\n"
        "local a = m.parameter(\"a\", { unit = \"1/s\", start = 1, bounds = {0.1, 2} })\n"
        "local c = m.parameter(\"c\", { start = 1, bounds = {0.5, 2} })\n"
        "local n = m.parameter(\"n\", { start = 0, bounds = {0, 1} })\n"
        "local t1, t2 = pair(t)\n"
        "local g = exp(-a * integral((floor_at(t, t.step / 2) / second)^n, t1, t2))\n"
        "m.observe(\"y\", { over = {t1, t2}, mean = 3 + c * (1 - g), linear = {c} })\n";
    struct loaded *l = load(source);
    (void)state;
    if (!l->ok)
        fail_msg("%s", l->text);
    for (hg_id id = 1; id <= l->m->variant[0].mean; id++)
        if (hg_at(l->m->expr, id)->op == HG_EXPM1)
            assert_false(hg_contains(l->m->expr, l->m->variant[0].mean, id));
    unload(l);
}

/* --- the measure ---------------------------------------------------------------------------------------- */

static void test_error_is_that_of_double_arithmetic(void **state)
{
    struct loaded *l = load(table("a*x + 0*b", "1, 2"));
    const struct hg_accuracy *acc = l->found.accuracy;
    (void)state;
    assert_true(acc->output[0].ulp > 0.05 && acc->output[0].ulp <= 0.5); /* one product */
    unload(l);
    /* x - a vanishes inside: relative to the value infinite, relative to its operands half an ulp */
    l = load(table("x - a + 0*b", "0, 2"));
    assert_true(l->found.accuracy->output[0].ulp <= 0.5);
    unload(l);
}

static void test_bound_is_that_of_the_model(void **state)
{
    static const char source[] = "local m = model \"t\" { title = \"t\"%s }\n"
                                 "local x, y = m.columns({\"x\", range = {1e-3, 1}}, \"y\")\n"
                                 "local a = m.parameter(\"a\", { start = 1, bounds = {0.5, 2} })\n"
                                 "local u = a * x\n"
                                 "m.observe(y, { mean = u - sin(u) })\n";
    char text[600];
    (void)state;
    snprintf(text, sizeof text, source, "");
    struct loaded *l = load(text);
    assert_false(l->ok);
    assert_non_null(strstr(l->text, "test.lua:5: error: y loses digits"));
    assert_non_null(strstr(l->text, "64 are allowed"));
    assert_non_null(strstr(l->text, "accuracy = "));
    unload(l);
    snprintf(text, sizeof text, source, ", accuracy = 1e9");
    l = load(text);
    if (!l->ok)
        fail_msg("%s", l->text);
    assert_true(l->found.accuracy->output[0].ulp > 1e4);
    unload(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_rule_helps_where_it_is_meant),
        cmocka_unit_test(test_every_rule_has_a_test),
        cmocka_unit_test(test_a_rule_can_be_worse),
        cmocka_unit_test(test_patterns_match_inside_sums_and_products),
        cmocka_unit_test(test_patterns_do_not_match_what_only_looks_like_them),
        cmocka_unit_test(test_models_become_accurate),
        cmocka_unit_test(test_removable_singularities_have_their_limits),
        cmocka_unit_test(test_accurate_models_stay_as_they_are),
        cmocka_unit_test(test_tables_over_frames_are_kept),
        cmocka_unit_test(test_error_is_that_of_double_arithmetic),
        cmocka_unit_test(test_bound_is_that_of_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
