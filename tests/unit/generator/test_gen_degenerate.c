/* test_gen_degenerate.c -- what the compiler says cannot be identified, and that it says nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "generator/judge/degenerate.h"
#include "generator/language/dsl.h"

/* The sentences about the model; ends with NULL. */
static void expect(struct hg_arena *a, struct hg_model *m, const char *variant, const char *const *sentence)
{
    const struct hg_degeneracies *d = hg_degenerate(m, hg_model_variant(m, variant));
    uint32_t n = 0;
    for (; sentence[n]; n++) {
        const char *seen = n < d->n ? hg_format(a, "%s%s", d->item[n].proved ? "proved: " : "", d->item[n].text)
                                    : "(nothing)";
        if (strcmp(seen, sentence[n]) != 0) {
            hg_degenerate_print(d, stderr);
            fail_msg("'%s' instead of '%s'", seen, sentence[n]);
        }
    }
    if (d->n != n) {
        hg_degenerate_print(d, stderr);
        fail_msg("%s: %u sentences instead of %u", m->name, (unsigned)d->n, (unsigned)n);
    }
}

static void expect_file(const char *name, const char *variant, const char *const *sentence)
{
    struct hg_arena *a = hg_arena_new();
    struct hg_diag d = {.out = stderr};
    struct hg_model *m = hg_dsl_load(a, hg_format(a, FIT_SOURCE_DIR "/models/%s.lua", name), &d);
    assert_non_null(m);
    expect(a, m, variant, sentence);
    hg_arena_free(a);
}

/* A table model of x with the given declarations and mean. */
static void expect_mean(const char *declarations, const char *mean, const char *const *sentence)
{
    struct hg_arena *a = hg_arena_new();
    struct hg_diag d = {.out = stderr};
    const char *text = hg_format(a, "local m = model \"x\" { title = \"x\" }\nlocal x, y = m.columns(\"x\", \"y\")\n"
                                    "local function p(name, start, bounds) return m.parameter(name, { start = start,"
                                    " bounds = bounds, linear = false }) end\n%s\nm.observe(y, { mean = %s })\n",
                                 declarations, mean);
    struct hg_model *m = hg_dsl_load_text(a, "x.lua", text, &d);
    assert_non_null(m);
    expect(a, m, "fast", sentence);
    hg_arena_free(a);
}

#define HETERODYNE \
    "proved: f0 and f2 enter only as f0 exp(-f1 f2): only this combination is determined", \
        "proved: at alpha_ref = 0 D0_ref and D_offset_ref enter only as D0_ref + D_offset_ref: only this combination " \
        "is determined", \
        "proved: at alpha_sample = 0 D0_sample and D_offset_sample enter only as D0_sample + D_offset_sample: only " \
        "this combination is determined", \
        "proved: at v_beta = 0 v0 and v_offset enter only as v0 + v_offset: only this combination is determined", \
        "proved: at f0 = 0 f1 and f2 have no effect", "proved: at f1 = 0 f2 has no effect", \
        "proved: at f1 = 0 f0 and f3 enter only as f0 + f3: only this combination is determined", \
        "proved: with one value of phi v0, v_offset and phi0_het enter only as v0 cos(phi + phi0_het) and v_offset " \
        "cos(phi + phi0_het): only these are determined", \
        "v0 -> -v0, v_offset -> -v_offset leaves the mean as it is", \
        "the exchange of ref and sample with f0 -> -f0, f3 -> 1 - f3 leaves the mean as it is", \
        "where all phi are equal modulo 90 deg, phi0_het and -2 phi - phi0_het give the same mean"

static void test_heterodyne(void **state)
{
    (void)state;
    static const char *const sentence[] = {HETERODYNE, NULL};
    expect_file("heterodyne", "fast", sentence);
    expect_file("heterodyne", "parity_hard", sentence);
}

static void test_laminar(void **state)
{
    (void)state;
    static const char *const sentence[] = {
        "proved: at alpha = 0 D0 and D_offset enter only as D0 + D_offset: only this combination is determined",
        "proved: at beta = 0 gamma_dot_t0 and gamma_dot_t_offset enter only as gamma_dot_t0 + gamma_dot_t_offset: only "
        "this combination is determined",
        "proved: with one value of phi gamma_dot_t0, gamma_dot_t_offset and phi0 enter only as gamma_dot_t0 cos(phi0 - "
        "phi) and gamma_dot_t_offset cos(phi0 - phi): only these are determined",
        "where all phi are equal modulo 90 deg, phi0 and 2 phi - phi0 give the same mean", NULL};
    expect_file("laminar", "fast", sentence);
}

static void test_models_without(void **state)
{
    (void)state;
    static const char *const none[] = {NULL};
    expect_file("kww", "fast", none);
    expect_file("nist/chwirut1", "fast", none); /* at b3 = 0 dependent to first order only */
    expect_file("nist/lanczos1", "fast", none);
}

static void test_products_and_sums(void **state)
{
    (void)state;
    expect_mean("local a, b = p('a', 2, {1, 3}), p('b', 3, {2, 5})", "exp(-a * b * x)",
                (const char *const[]){"proved: a and b enter only as a b: only this combination is determined", NULL});
    expect_mean(
        "local a, b = p('a', 2, {1, 3}), p('b', 3, {2, 5})", "exp(-a^2 / b * x)",
        (const char *const[]){"proved: a and b enter only as a/b^0.5: only this combination is determined", NULL});
    expect_mean("local a, b, c = p('a', 2, {1, 3}), p('b', 3, {2, 5}), p('c', 1, {0.5, 2})",
                "b / (1 + exp(a - 2 * c * x))"
                " + exp(-x)",
                (const char *const[]){NULL});
    expect_mean("local a, b, c = p('a', 2, {1, 3}), p('b', 3, {2, 5}), p('c', 1, {0.5, 2})",
                "exp(-(x - a)^2 / c) * exp(b * c)", (const char *const[]){NULL});
    expect_mean(
        "local a, b = p('a', 2, {1, 3}), p('b', 0.5, {0.2, 1})", "exp(-x / exp(a - 3 * b)) + x",
        (const char *const[]){"proved: a and b enter only as a - 3 b: only this combination is determined", NULL});
}

/* a + b (x - c) + d (x - c)^2: the shift of the origin */
static void test_three_that_depend_on_one_another(void **state)
{
    (void)state;
    expect_mean(
        "local a, b, c = p('a', 2, {1, 3}), p('b', 3, {2, 5}), p('c', 1, {0.5, 2})", "exp(-0.1 * (a + b * (x - c)))",
        (const char *const[]){"proved: a and c enter only as a - b c: only this combination is determined", NULL});
}

/* What holds on a side of a choice only is no degeneracy at a value. */
static void test_a_floor_is_no_special_value(void **state)
{
    (void)state;
    expect_mean("local a, b = p('a', 2, {0.5, 3}), p('b', 3, {-50, 5})", "exp(-floor_at(a + b * x, 0))",
                (const char *const[]){NULL});
}

/* The branch for x above 1000 is entered by data that the compiler does not see. */
static void test_a_branch_of_the_data_is_not_judged(void **state)
{
    (void)state;
    expect_mean("local a, b, c = p('a', 2, {1, 3}), p('b', 3, {2, 5}), p('c', 1, {0.5, 2})",
                "where(lt(x, 1000), exp(-a * x), exp(-b * c * x))", (const char *const[]){NULL});
    expect_mean("local a, b, c = p('a', 2, {1, 3}), p('b', 3, {2, 5}), p('c', 1, {0.5, 2})",
                "where(lt(x, 1), exp(-a * x), where(lt(x, 1.000001), exp(-b * x), exp(-c * x)))",
                (const char *const[]){NULL});
    expect_mean("local a, b, c = p('a', 2, {1, 3}), p('b', 3, {2, 5}), p('c', 1, {0.5, 2})",
                "where(lt(x, 1000), exp(-a * b * x), exp(-c * x))",
                (const char *const[]){"proved: a and b enter only as a b: only this combination is determined", NULL});
}

/* Nothing tells the size of x: exp(-a x) may be 0 all over the data or not. */
static void test_without_sizes_only_proofs_count(void **state)
{
    (void)state;
    static const char declared[] = "local a, b = p('a', 1e6, {1e5, 1e7}), p('b', 1, {0.5, 2})";
    expect_mean(declared, "1 + exp(-a * x) / b", (const char *const[]){NULL});
    expect_mean(declared, "1 + exp(-1e-6 * a * b * x)",
                (const char *const[]){"proved: a and b enter only as a b: only this combination is determined", NULL});
}

/* Only parameters of one peak interact: maps of others are not tried together.  Each width enters as its square. */
static void test_a_map_is_tried_where_parameters_interact(void **state)
{
    (void)state;
    enum { PEAKS = 12 };
    const char *sentence[PEAKS + 1] = {NULL};
    struct hg_arena *a = hg_arena_new();
    struct hg_diag d = {.out = stderr};
    struct hg_model *m = hg_dsl_load_text(a, "x.lua",
        "local m = model \"x\" { title = \"x\" }\n"
        "local x, y = m.columns({ \"x\", range = {0, 2.5} }, \"y\")\n"
        "local mean = 0\n"
        "for k = 1, 12 do\n"
        "    local c = m.parameter(\"c\" .. k, { start = k / 5, bounds = {k / 5 - 0.05, k / 5 + 0.05} })\n"
        "    local w = m.parameter(\"w\" .. k, { start = 0.2, bounds = {0.1, 0.5} })\n"
        "    mean = mean + k * exp(-((x - c) / w)^2 / 2)\n"
        "end\n"
        "m.observe(y, { mean = mean })\n", &d);
    assert_non_null(m);
    for (int k = 0; k < PEAKS; k++)
        sentence[k] = hg_format(a, "w%d -> -w%d leaves the mean as it is", k + 1, k + 1);
    uint64_t before = hg_steps_done(m->expr);
    expect(a, m, "fast", sentence);
    assert_true(hg_steps_done(m->expr) - before < 30000000);
    hg_arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heterodyne), cmocka_unit_test(test_laminar), cmocka_unit_test(test_models_without),
        cmocka_unit_test(test_products_and_sums), cmocka_unit_test(test_three_that_depend_on_one_another),
        cmocka_unit_test(test_a_floor_is_no_special_value),
        cmocka_unit_test(test_a_branch_of_the_data_is_not_judged),
        cmocka_unit_test(test_without_sizes_only_proofs_count),
        cmocka_unit_test(test_a_map_is_tried_where_parameters_interact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
