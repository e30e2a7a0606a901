/* test_written.c -- what the page of a model shows is what its kernels compute.
 *
 * The formulas as written (written.h) are built again with the constructors of the graph: the
 * result must be the very node that the front end made.  Their derivatives (written_diff.c) are
 * built likewise, with the slopes of named parts taken from diff.c, and evaluated beside those of
 * diff.c at the model's random sets. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "generator/graph/functions.h"
#include "generator/language/dsl.h"
#include "generator/graph/eval.h"
#include "generator/model/written.h"

static const double degree = 3.14159265358979323846 / 180;

static hg_id build(struct hg_model *m, hg_wid id);

static hg_id part(struct hg_model *m, hg_wid id, uint32_t k)
{
    return build(m, hg_written_at(m, id)->arg[k]);
}

static int is_degrees(struct hg_model *m, hg_wid id)
{
    hg_unit unit = hg_written_at(m, id)->unit;
    return unit != HG_UNIT_ANY && unit != HG_UNIT_BOOL &&
           strcmp(hg_unit_text(m->units, unit), "deg") == 0;
}

/* Derivatives by an angle in degrees are shown for radians: the factor between them. */
static double angle(struct hg_model *m, hg_id node)
{
    return strcmp(hg_model_unit_text(m, node), "deg") == 0 ? degree : 1;
}

static hg_id build_function(struct hg_model *m, hg_wid id)
{
    const struct hg_written w = *hg_written_at(m, id);
    struct hg_expr *e = m->expr;
    hg_id x = part(m, id, 0), arg[4] = {0};
    for (uint32_t k = 0; hg_many(w.op) && k < w.nargs; k++)
        arg[k] = part(m, id, k);
    if (hg_many(w.op))
        return hg_call_many(e, w.op, arg);
    if ((w.op == HG_SIN || w.op == HG_COS || w.op == HG_TAN || w.op == HG_SINC) &&
        is_degrees(m, w.arg[0]))
        x = hg_mul(e, hg_const(e, degree), x);
    return hg_call(e, w.op, x);
}

static hg_id build_integral(struct hg_model *m, hg_wid id)
{
    struct hg_expr *e = m->expr;
    hg_id f = part(m, id, 0), from = part(m, id, 1), to = part(m, id, 2);
    hg_id integral = from == to ? hg_const(e, 0.0) : hg_delta(e, hg_potential(e, f));
    return hg_at(e, from)->op == HG_AT_J && from != to ? hg_neg(e, integral) : integral;
}

static hg_id build_same(struct hg_model *m, hg_wid id)
{
    const struct hg_written w = *hg_written_at(m, id);
    double size = w.value;
    assert_true(size != 0 || hg_unit_factor(m->units, hg_written_at(m, w.arg[0])->unit, w.unit, &size));
    return hg_mul(m->expr, hg_const(m->expr, size), part(m, id, 0));
}

/* The node of the graph for a written one. */
static hg_id build(struct hg_model *m, hg_wid id)
{
    const struct hg_written w = *hg_written_at(m, id);
    struct hg_expr *e = m->expr;
    switch (w.word) {
    case HG_W_NUMBER: return hg_const(e, w.value);
    case HG_W_UNIT: return hg_const(e, 1.0);
    case HG_W_SYMBOL: return w.node;
    case HG_W_ADD: return hg_add(e, part(m, id, 0), part(m, id, 1));
    case HG_W_SUB: return hg_sub(e, part(m, id, 0), part(m, id, 1));
    case HG_W_MUL: return hg_mul(e, part(m, id, 0), part(m, id, 1));
    case HG_W_DIV: return hg_div(e, part(m, id, 0), part(m, id, 1));
    case HG_W_NEG: return hg_neg(e, part(m, id, 0));
    case HG_W_POW: return hg_pow(e, part(m, id, 0), part(m, id, 1));
    case HG_W_FUNCTION: return build_function(m, id);
    case HG_W_ATAN2: return hg_call2(e, HG_ATAN2, part(m, id, 0), part(m, id, 1));
    case HG_W_LT: return hg_call2(e, HG_LT, part(m, id, 0), part(m, id, 1));
    case HG_W_GT: return hg_call2(e, HG_LT, part(m, id, 1), part(m, id, 0));
    case HG_W_LE: return hg_call2(e, HG_LE, part(m, id, 0), part(m, id, 1));
    case HG_W_WHEN: return hg_where(e, part(m, id, 0), hg_const(e, 1.0), hg_const(e, 0.0));
    case HG_W_WHERE: {
        hg_id condition = part(m, id, 0), yes = part(m, id, 1);
        return hg_where(e, condition, yes, part(m, id, 2));
    }
    case HG_W_INTEGRAL: return build_integral(m, id);
    case HG_W_AT: {
        hg_id f = part(m, id, 0);
        return hg_pair_at(e, f, hg_at(e, part(m, id, 1))->op == HG_AT_J);
    }
    case HG_W_SAME: return build_same(m, id);
    case HG_W_REF: return part(m, id, 0);
    case HG_W_SLOPE:
        return hg_mul(e, hg_const(e, 1 / angle(m, w.node)), hg_diff(e, part(m, id, 0), w.node));
    case HG_W_TOTAL: /* no loop is written here */
    case HG_W_OVER:
    case HG_W_MEAN: break;
    }
    fail();
    return 0;
}

/* --- derivatives ------------------------------------------------------------------------------ */

enum { FRAMES = 12 };

static double *some_values(struct hg_model *m, const struct hg_list *list, size_t offset)
{
    double *v = hg_alloc(m->expr->arena, (list->n + 1) * sizeof *v);
    for (uint32_t k = 0; k < list->n; k++) {
        const double *x = m->ntest ? *(double *const *)((const char *)&m->test[0] + offset) : NULL;
        v[k] = x && isfinite(x[k]) ? x[k] : isfinite(list->item[k].start) ? list->item[k].start : 1;
    }
    return v;
}

/* Compares the two at some parameter sets; `scale` of them: derivatives by degrees are shown for
 * radians. */
static void compare(struct hg_model *m, hg_id shown, hg_id exact, double scale, const char *what)
{
    double time[FRAMES];
    hg_id root[2] = {shown, exact};
    struct hg_eval *ev = hg_eval_new(m->expr, 2, root);
    for (int k = 0; k < FRAMES; k++)
        time[k] = 0.1 * k;
    unsigned vary = hg_at(m->expr, exact)->vary;
    struct hg_point p = {.linear = some_values(m, &m->linear, offsetof(struct hg_test, linear)),
                         .setting = some_values(m, &m->setting, offsetof(struct hg_test, setting)),
                         .coord = some_values(m, &m->axis, offsetof(struct hg_test, coord)),
                         .column = some_values(m, &m->column, offsetof(struct hg_test, column)),
                         .time = time,
                         .ntime = m->space == FIT_PAIRS ? FRAMES : 0,
                         .step = 0.1,
                         .i = 2,
                         .j = 7};
    for (uint32_t row = 0; row < 12; row++) {
        p.param = m->screen + row * m->param.n;
        hg_eval_run(ev, &p);
        for (uint32_t k = 0; k < (vary & HG_T ? FRAMES : 1); k++) {
            long double a = hg_eval_get(ev, shown, k).v * scale, b = hg_eval_get(ev, exact, k).v;
            if (isfinite(a) != isfinite(b) || fabsl(a - b) > 1e-12L * (fabsl(b) + 1e-6L))
                fail_msg("%s: shown %.17Lg, computed %.17Lg", what, a, b);
        }
    }
    hg_eval_free(ev);
}

static void check_slopes(struct hg_model *m, hg_wid root, int is_part)
{
    for (uint32_t k = 0; k < m->param.n + m->linear.n; k++) {
        const struct hg_symbol_decl *s =
            k < m->param.n ? &m->param.item[k] : &m->linear.item[k - m->param.n];
        hg_wid d = hg_written_diff(m, root, is_part, s->node);
        hg_id exact = hg_diff(m->expr, build(m, root), s->node);
        char what[200];
        snprintf(what, sizeof what, "%s: d %s / d %s", m->name,
                 is_part ? hg_written_at(m, root)->name : "mean", s->name);
        if (d)
            compare(m, build(m, d), exact, angle(m, s->node), what);
        else if (!hg_is_value(m->expr, exact, 0))
            fail_msg("%s is not shown", what);
    }
}

static void check_formula(struct hg_model *m, hg_wid root, hg_id node)
{
    hg_wid *p;
    if (build(m, root) != node)
        fail_msg("%s: the formula shown is not the one computed", m->name);
    uint32_t n = hg_written_parts(m, root, &p);
    check_slopes(m, root, 0);
    for (uint32_t k = 0; k < n; k++) {
        assert_int_equal(build(m, p[k]), hg_written_at(m, p[k])->node);
        check_slopes(m, p[k], 1);
    }
}

static void check_model(const char *name)
{
    char path[500];
    struct hg_arena *a = hg_arena_new();
    struct hg_diag d = {.out = stderr};
    snprintf(path, sizeof path, "%s/%s.lua", FIT_SOURCE_DIR, name);
    struct hg_model *m = hg_dsl_load(a, path, &d);
    if (!m)
        fail_msg("%s is not accepted", path);
    for (uint32_t v = 0; v < m->nvariant; v++)
        check_formula(m, m->variant[v].written, m->variant[v].mean);
    for (uint32_t k = 0; k < m->curve.n; k++)
        assert_int_equal(build(m, m->curve.item[k].written), m->curve.item[k].node);
    hg_arena_free(a);
}

static void test_formulas_shown_are_those_computed(void **state)
{
    static const char *const model[] = {"models/laminar",
                                        "models/laminar_theory",
                                        "models/heterodyne",
                                        "models/kww",
                                        "models/static_isotropic",
                                        "models/sphere",
                                        "models/cumulant",
                                        "models/dls_cumulant",
                                        "models/oscillatory_shear",
                                        "models/ballistic_aging",
                                        "models/double_exponential",
                                        "models/nist/hahn1",
                                        "models/nist/enso",
                                        "models/nist/mgh10",
                                        "models/nist/roszman1",
                                        "tests/golden/page/table_page",
                                        "tests/golden/page/pair_page"};
    (void)state;
    for (size_t k = 0; k < sizeof model / sizeof *model; k++)
        check_model(model[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_formulas_shown_are_those_computed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
