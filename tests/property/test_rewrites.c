/* test_rewrites.c -- rewriting random models: the pattern of a rule with random expressions for its variables,
 * inside a random expression over two columns and three parameters.
 *
 *   what was rewritten has the same value, and no output has become worse, at places the compiler did not see
 *   the double value agrees with the interpreter's value of the original within the error that is claimed
 *
 * HG_SEED=n, HG_CASES=n (default 1, 400). */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "generator/judge/rewrites.h"
#include "generator/judge/stability.h"
#include "property/gen_expr.h"

enum { PLACES = 40 };

/* Rewriting folds literals anew (1/(3 x) into 0.333 (1/x)) and cuts series: some roundings of the result. */
#define LITERALS 1e-15

static struct hg_model *empty_model(struct hg_arena *a)
{
    static const char *const name[] = {"p0", "p1", "p2"};
    struct hg_model *m = hg_model_new(a);
    struct hg_symbol_decl p = {.unit = "1", .start = 0.5, .lower = -2, .upper = 2, .over = -1};
    m->name = m->observable = "y";
    m->file = "random";
    m->space = FIT_ROWS;
    for (int k = 0; k < RECIPE_PARAMETERS; k++) {
        p.name = name[k];
        hg_model_declare(m, &m->param, &p);
    }
    p.lower = 0.2;
    p.name = "l";
    hg_model_declare(m, &m->linear, &p);
    p.name = "s";
    hg_model_declare(m, &m->setting, &p);
    p.name = "c";
    hg_model_declare(m, &m->axis, &p);
    p.lower = -2;
    p.role = FIT_ROLE_COVARIATE;
    p.name = "x0";
    hg_model_declare(m, &m->column, &p);
    p.name = "x1";
    hg_model_declare(m, &m->column, &p);
    return m;
}

/* F(pattern(a, b, c)), a, b, c small random expressions, F a product or a sum with others. */
static hg_id random_mean(struct hg_expr *e, struct random *random, uint32_t *rule)
{
    hg_id bind[HG_RULE_VARIABLES], other;
    struct recipe r;
    *rule = random_below(random, hg_nrule);
    for (int k = 0; k < HG_RULE_VARIABLES; k++) {
        recipe_draw(&r, random, 4 + random_below(random, 3), 1, 0);
        bind[k] = recipe_build(&r, e, 0, NULL);
    }
    recipe_draw(&r, random, 4 + random_below(random, 6), 1, 0);
    other = recipe_build(&r, e, 0, NULL);
    hg_id x = hg_rule_build(e, hg_rule[*rule].from, bind);
    switch (random_below(random, 3)) {
    case 0: return hg_mul(e, x, other);
    case 1: return hg_add(e, x, other);
    default: return x;
    }
}

struct place {
    double param[RECIPE_PARAMETERS], linear[1], setting[1], coord[1], column[2];
    struct hg_point p;
};

static void draw_place(struct place *at, struct random *r)
{
    for (int k = 0; k < RECIPE_PARAMETERS; k++)
        at->param[k] = random_in(r, -2, 2);
    for (int k = 0; k < 2; k++)
        at->column[k] = random_chance(r, 0.2) ? random_in(r, -1e-6, 1e-6) : random_in(r, -2, 2);
    at->linear[0] = random_in(r, 0.2, 2);
    at->setting[0] = at->coord[0] = 0.5; /* as the model has it */
    at->p = (struct hg_point){.param = at->param, .linear = at->linear, .setting = at->setting, .coord = at->coord,
                              .column = at->column, .ntime = 1, .step = 0.1};
}

/* Error in ulp of the larger of the value and its condition; NaN where it has none. */
static double error_at(const struct hg_expr *e, hg_id root, struct place *at, struct hg_ext *exact, double *scale)
{
    struct hg_twins *t = hg_twins_new(e, 1, &root, 1, 0, NULL);
    hg_twins_run(t, &at->p);
    struct hg_twin y = hg_twins_get(t, root, 0);
    hg_twins_sweep(t, root);
    *scale = fmax((double)fabsl(y.x.hi), hg_twins_condition(t));
    *exact = y.x;
    hg_twins_free(t);
    return (double)fabsl(hg_ext_sub(y.x, hg_ext(y.f)).hi) / (0x1p-52 * fmax(*scale, 1e-280));
}

static int known(double x)
{
    return fabs(x) < 1e100;
}

/* Same value; worst errors of both forms into worst[2]. */
static void check_place(struct hg_model *m, hg_id before, struct place *at, const char *rule, double worst[2])
{
    struct hg_ext x, y;
    double sx, sy;
    double old = error_at(m->expr, before, at, &x, &sx), new_ = error_at(m->expr, m->variant[0].mean, at, &y, &sy);
    if (!known((double)x.hi) || !known((double)y.hi) || !known(sx) || !known(sy))
        return;
    double scale = fmax(sx, sy);
    if (!((double)fabsl(hg_ext_sub(x, y).hi) <= LITERALS * scale + 1e-25))
        fail_msg("%s: %.20Lg became %.20Lg", rule, x.hi, y.hi);
    worst[0] = fmax(worst[0], old);
    worst[1] = fmax(worst[1], new_);
    struct hg_eval *ev = hg_eval_new(m->expr, 1, &before);
    hg_eval_run(ev, &at->p);
    struct hg_num plain = hg_eval_get(ev, before, 0);
    hg_eval_free(ev);
    long double own = plain.e * 0x1p-64L; /* rounding of the interpreter itself */
    if (fabsl(plain.v - y.hi) > own * 16 + LITERALS * scale + 1e-25L)
        fail_msg("%s: interpreter %.20Lg, rewritten %.20Lg", rule, plain.v, y.hi);
}

static void check_model(struct hg_model *m, const struct hg_accuracy *accuracy, hg_id before, struct random *random,
                        const char *rule)
{
    double worst[2] = {0, 0}, claimed = accuracy->output[0].ulp;
    for (int n = 0; n < PLACES; n++) {
        struct place at;
        draw_place(&at, random);
        check_place(m, before, &at, rule, worst);
    }
    /* errors at single places are noise: the worst of both are compared, with a factor 4 for it */
    if (!(worst[1] <= 4 * fmax(claimed, worst[0]) + 4))
        fail_msg("%s: %.3g ulp became %.3g, claimed %.3g", rule, worst[0], worst[1], claimed);
}

static void test_rewritten_models_have_the_same_value_and_are_not_worse(void **state)
{
    uint64_t seed = random_environment("HG_SEED", 1), cases = random_environment("HG_CASES", 400), rewritten = 0;
    struct random random = {seed};
    (void)state;
    for (uint64_t k = 0; k < cases; k++) {
        struct hg_arena *a = hg_arena_new();
        struct hg_model *m = empty_model(a);
        char *text = NULL;
        size_t size;
        struct hg_diag d = {.out = open_memstream(&text, &size), .file = "random"};
        uint32_t rule;
        assert_non_null(d.out);
        hg_id before = random_mean(m->expr, &random, &rule);
        struct hg_analysis found = {0};
        m->nvariant = 1;
        m->variant[0] = (struct hg_variant){.name = "fast", .mean = before};
        hg_stability(m, &m->variant[0], &found, &d, NULL); /* a refusal is none of our business */
        if (m->variant[0].mean != before) {
            rewritten++;
            check_model(m, found.accuracy, before, &random,
                        hg_format(a, "HG_SEED=%llu, case %llu, %s\n  %s\n  became %s", (unsigned long long)seed,
                                  (unsigned long long)k, hg_rule[rule].name, hg_text(m->expr, before, 1),
                                  hg_text(m->expr, m->variant[0].mean, 1)));
        }
        fclose(d.out);
        free(text);
        hg_arena_free(a);
    }
    print_message("%llu of %llu rewritten\n", (unsigned long long)rewritten, (unsigned long long)cases);
    assert_true(cases < 400 || rewritten * 5 > cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rewritten_models_have_the_same_value_and_are_not_worse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
