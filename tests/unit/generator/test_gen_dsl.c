/* test_gen_dsl.c -- from a model's text to its declarations and expressions; the models of the
 * project at their test points. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "generator/language/dsl.h"
#include "generator/graph/eval.h"
#include "generator/document/manifest.h"
#include "generator/model/rates.h"

#ifndef FIT_SOURCE_DIR
#define FIT_SOURCE_DIR "."
#endif

#define HEAD                                                                                       \
    "local m = model \"x\" { title = \"t\" }\n"                                                    \
    "local t = m.grid(\"t\", \"s\")\n"                                                             \
    "local phi = m.axis(\"phi\", \"deg\")\n"                                                       \
    "local q = m.setting(\"q\", \"1/angstrom\")\n"                                                 \
    "local D = m.parameter(\"D\", { unit = \"angstrom^2/s\", start = 2, bounds = {0, 10} })\n"     \
    "local a = m.parameter(\"a\", { start = 1, over = phi })\n"                                    \
    "local b = m.parameter(\"b\", { start = 1, over = phi })\n"                                    \
    "local t1, t2 = pair(t)\n"                                                                     \
    "local g = exp(-q^2 * integral(D, t1, t2))\n"
#define OBSERVE "m.observe(\"c2\", { over = {phi, t1, t2}, mean = b + a * g, linear = {a, b} })\n"

static struct hg_arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = hg_arena_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    hg_arena_free(arena);
    return 0;
}

static struct hg_model *load(const char *text)
{
    struct hg_diag d = {.out = stderr};
    struct hg_model *m = hg_dsl_load_text(arena, "x.lua", text, &d);
    assert_non_null(m);
    assert_int_equal(d.errors, 0);
    return m;
}

static void refused(const char *text)
{
    struct hg_diag d = {.out = tmpfile()};
    assert_non_null(d.out);
    assert_null(hg_dsl_load_text(arena, "x.lua", text, &d));
    assert_true(d.errors > 0);
    fclose(d.out);
}

static hg_id named(const struct hg_model *m, const char *name)
{
    for (hg_id k = 1; k < m->expr->n; k++) {
        if (hg_at(m->expr, k)->name && strcmp(hg_at(m->expr, k)->name, name) == 0)
            return k;
    }
    fail_msg("no node is named %s", name);
    return 0;
}

static void test_declarations_arrive(void **state)
{
    (void)state;
    struct hg_model *m = load(HEAD OBSERVE);
    assert_string_equal(m->name, "x");
    assert_int_equal(m->space, FIT_PAIRS);
    assert_int_equal(m->param.n, 1);
    assert_int_equal(m->linear.n, 2);
    assert_string_equal(m->param.item[0].name, "D");
    assert_string_equal(m->param.item[0].unit, "angstrom^2/s");
    assert_int_equal(m->param.item[0].line, 5);
    assert_true(m->param.item[0].upper == 10.0); /* exactly */
    assert_int_equal(m->linear.item[1].over, 0);
    assert_true(isnan(m->setting.item[0].start));
    assert_int_equal(strlen(m->hash), 64);
}

static void test_nodes_have_names_lines_and_units(void **state)
{
    (void)state;
    struct hg_model *m = load(HEAD "local speed = D * t / second\n" OBSERVE);
    hg_id g = named(m, "g");
    assert_int_equal(hg_at(m->expr, g)->line, 9);
    assert_string_equal(hg_model_unit_text(m, g), "1");
    assert_string_equal(hg_model_unit_text(m, named(m, "D")), "angstrom^2/s");
    assert_string_equal(hg_model_unit_text(m, named(m, "speed")), "angstrom^2/s");
}

static void test_units_follow_through_derivatives(void **state)
{
    (void)state;
    struct hg_model *m = load(HEAD OBSERVE);
    hg_id g = named(m, "g");
    hg_id slope = hg_diff(m->expr, g, m->param.item[0].node); /* 1 / (angstrom^2/s) */
    assert_string_equal(hg_model_unit_text(m, slope), "s/angstrom^2");
}

static void test_linear_parameters_are_found(void **state)
{
    (void)state;
    struct hg_model *m =
        load(HEAD "m.observe(\"c2\", { over = {phi, t1, t2}, mean = b + a * g })\n");
    assert_int_equal(m->linear.n, 2);
    m = load(
        "local m = model \"x\" {}\nlocal x, y = m.columns(\"x\", \"y\")\n"
        "local a = m.parameter(\"a\", { start = 1 })\nlocal b = m.parameter(\"b\", { start = 1 })\n"
        "local c = m.parameter(\"c\", { start = 1 })\nm.observe(y, { mean = a * exp(-b * x) + a * "
        "c })\n");
    assert_int_equal(m->linear.n, 1);
    assert_string_equal(m->linear.item[0].name, "a");
    assert_int_equal(m->param.n, 2);
    m = load(
        "local m = model \"x\" {}\nlocal x, y = m.columns(\"x\", \"y\")\n"
        "local a = m.parameter(\"a\", { start = 1 })\nlocal b = m.parameter(\"b\", { start = 1 })\n"
        "m.observe(y, { mean = a * exp(-b * x), linear = {} })\n");
    assert_int_equal(m->linear.n, 0);
}

static void test_integral_changes_sign_with_its_limits(void **state)
{
    (void)state;
    struct hg_model *m =
        load(HEAD "local up, down = integral(D * t, t1, t2), integral(D * t, t2, t1)\n"
                  "local nothing = up + down\n" OBSERVE);
    hg_id up = named(m, "up"), down = named(m, "down");
    assert_true(hg_is_value(m->expr, hg_add(m->expr, up, down), 0.0));
}

static void test_degrees_are_converted(void **state)
{
    (void)state;
    struct hg_model *m = load(HEAD "local right = cos(90 * deg - phi)\n"
                              "local back = convert(convert(phi, 'rad') + 2 * atan2(D, D), 'deg') / deg\n" OBSERVE);
    hg_id root = named(m, "right"), back = named(m, "back");
    double coord[1] = {30}, zero[3] = {1, 1, 1}, time[2] = {0, 1};
    struct hg_point p = {.param = zero,
                         .linear = zero,
                         .setting = zero,
                         .coord = coord,
                         .time = time,
                         .ntime = 2,
                         .step = 1};
    struct hg_eval *ev = hg_eval_new(m->expr, 1, &root);
    hg_eval_run(ev, &p);
    assert_true(fabs((double)hg_eval_get(ev, root, 0).v - 0.5) < 1e-15);
    hg_eval_free(ev);
    ev = hg_eval_new(m->expr, 1, &back);
    hg_eval_run(ev, &p);
    assert_true(fabs((double)hg_eval_get(ev, back, 0).v - 120) < 1e-13);
    hg_eval_free(ev);
    refused(HEAD "local wrong = cos(D / unit 'angstrom^2/s' + phi)\n" OBSERVE);
}

static void test_numbers_stay_numbers(void **state)
{
    (void)state;
    load(HEAD "assert(type(exp(1)) == \"number\" and abs(sqrt(2)^2 - 2) < 1e-15)\n"
         "assert(clamp(5, 0, 1) == 1 and floor_at(-1, 0) == 0 and lt(1, 2) and not ge(1, 2))\n"
         "assert(where(true, 1, 2) == 1 and sinc(0) == 1 and log10(1000) - 3 < 1e-15)\n" OBSERVE);
}

static void test_random_rows_repeat_and_keep_bounds(void **state)
{
    static const char text[] =
        HEAD OBSERVE "m.random(function(u) return { D = 10^u(-3, 1) } end)\n";
    (void)state;
    struct hg_model *m = load(text), *again = load(text);
    assert_int_equal(m->nscreen, 64);
    for (uint32_t k = 0; k < m->nscreen; k++) {
        assert_true(m->screen[k] >= 0 && m->screen[k] <= 10);
        assert_true(m->screen[k] == again->screen[k]); /* exactly */
    }
    assert_true(m->screen[0] != m->screen[1]);
}

static void test_order_of_pairs_is_that_of_the_keys(void **state)
{
    (void)state;
    load(HEAD OBSERVE
         "local s = \"\"\nfor k, v in pairs { z = 1, a = 2, m = 3, [2] = 4, [1] = 5 } do\n"
         "s = s .. tostring(k) end\nassert(s == \"12amz\", s)\n");
}

/* What == and ~= mean between numbers, texts and nil stays; beside an expression they are refused wherever they
 * stand. */
static void test_equality_is_lua_s_but_for_expressions(void **state)
{
    (void)state;
    load(HEAD
         "local n, word = 3, [[a == b]] -- n == D\n"
         "assert(n == 3 and n ~= 4 and not (n == 4) and word == 'a == b' and (n == 3) == true)\n"
         "assert(1 + 2 == n == true) assert(-n == -3) assert(not n == false) assert(2 < 3 == true)\n"
         "assert((n ~= 3) == false and (1 ~= 2 == true) and n .. '' == '3' and #word == 6 and n^2 == 9)\n"
         "local f = function(k) if k == 1 then return 'one' elseif k == 2 then return 'two' end return k == 3 end\n"
         "assert(f(1) == 'one' and f(2) == 'two' and f(3) == true and f(4) == false and f(n) == (n == 3))\n"
         "local list = { n == 3, x = n == 4, [n == 3] = 5, n ~= 3; f { } == false }\n"
         "assert(list[1] == true and list.x == false and list[true] == 5 and list[2] == false and list[3])\n"
         "local k, c = 0, n == 3 local e = n == 4 k = 1\n"
         "repeat k = k + 1 until k == 7 while k == 7 do k = 8 end assert(k == 8 and c == true and e == false)\n"
         "for j = 1, n == 3 and 2 or 1 do k = j end assert(k == 2)\n"
         "local none = function() end local two = function() return 3, 4 end\n"
         "assert(nil == none() and none() == nil and 3 == two() and two() == 3 and none ~= two)\n"
         "assert(none == function() end == false) local s = n == 3 f(1)\n"
         "assert((1 == 1 == true ~= false == true) and 1 ~= 2 ~= false and not (1 == 1 ~= true))\n"
         "local o = { D = D }\n"
         "assert(o.D ~= nil and o.E == nil and D == D and o.D == D and type(D) ~= 'number' and D ~= 'D')\n" OBSERVE);
    refused(HEAD "if D == 3 then error('') end\n" OBSERVE);
    refused(HEAD "if 3 == D then error('') end\n" OBSERVE);
    refused(HEAD "local r = D ~= 2 and 1 or 2\n" OBSERVE);
    refused(HEAD "local r = 2 * D / D == 2\n" OBSERVE);
    refused(HEAD "local r = { a and D^2 == a }\n" OBSERVE);
    refused(HEAD "local f = function(k) return k == 1 end local r = f(D)\n" OBSERVE);
    refused(HEAD "local r = lt(D, 2 * D) == true\n" OBSERVE);
}

static void test_the_sandbox_has_no_exit(void **state)
{
    static const char *const bad[] = {
        "string.rep(\"x\", 1 << 40)",
        "local f = print f()()",
        "table.concat({}, (\"x\"):rep(1 << 27))",
        "error()",
        "error({})",
        "local t = {} t[t] = t.x.y",
        "string.format(\"%d\", \"x\")",
        "return model",
        "_ENV = nil; x = 1",
        "_ENV.x = 1",
        "_G.x = 1",
        "model(nil)",
        "model(12)",
        "model(\"x\"){ title = 1 }",
        "model \"x\".test{}",
        "model \"x\".observe()",
        "model \"x\".random(1)",
        "pair()",
        "integral()",
        "where()",
        "exp()",
        "exp(1, 2)",
        "unit()",
        "convert()",
        "at()",
        "atan2()",
        "lt()",
        "\27Lua",
        "\"",
        "goto out",
        "local a <close> = 1",
        "for k in pairs() do end",
        "select(-9)",
        "math.huge()",
        "string.rep(\"(\", 300)()",
        "model \"x\".columns({})",
        "model \"x\".columns(1)",
        "model \"x\".parameter(\"a\", { start = 1, alias = {1} })",
        "model \"x\".parameter(\"a\", { start = 1, bounds = {0, {}} })",
        "model \"x\".parameter(\"a\", { start = 0/0 })",
        "model \"x\".setting(\"a\", { default = \"1\" })",
        "model \"x\".parameter(\"a\", { start = 1, over = 3 })",
        "model \"x\"()",
        "model \"x\".x.y = 1",
        "local t = setmetatable({}, {})",
        "math.random()",
        "(\"x\"):gsub(\"x\", \"y\")",
        "next({})"};
    (void)state;
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        refused(bad[k]);
}

/* Rates found in a model of one parameter set; the mean is a function of `rate`. */
static const struct hg_model *with_rate(const char *rate)
{
    return load(hg_format(arena,
                          "local m = model \"x\" {}\nlocal t = m.grid(\"t\", \"s\")\n"
                          "local tau = m.setting(\"tau\", \"s\")\n"
                          "local A = m.parameter(\"A\", { start = 1 })\nlocal E = m.parameter(\"E\", { start = 1 })\n"
                          "local C = m.parameter(\"C\", { start = 1 })\nlocal X = m.parameter(\"X\", { start = 1 "
                          "})\nlocal ts = floor_at(t, t.step / 2) / second\n"
                          "local t1, t2 = pair(t)\nlocal r = %s\n"
                          "m.observe(\"y\", { mean = exp(-integral(r, t1, t2) / second - tau / second - X) })\n",
                          rate));
}

static void test_rates_are_found(void **state)
{
    static const char *const yes[] = {"A * ts^E + C", "C + ts^E * A", "A * where(le(t, 0 * second), 0, ts^E) + C",
                                      "floor_at(A * ts^E + C, 1e-10)", "A * (ts / 60)^E + C"};
    static const char *const no[] = {
        "A * ts^E * C",          "A * ts^A + C * E",          "A * (t / tau)^E + C",
        "A * (ts + ts^2)^E + C", "A * exp(E * ts - X) + C",   "A * exp(E * (ts - E)) + C",
        "A * exp(E * ts^2) + C", "A * exp(E * (ts - A)) + C", "A * exp(E * (tau / second - X)) + C",
        "2 * A * ts^E + C",      "A * ts^E + C + E"};
    (void)state;
    for (size_t k = 0; k < sizeof yes / sizeof *yes; k++) {
        const struct hg_model *m = with_rate(yes[k]);
        if (m->nrate != 1)
            fail_msg("%s: %u rates", yes[k], (unsigned)m->nrate);
        assert_true(m->rate[0].amplitude == 0 && m->rate[0].exponent == 1 && m->rate[0].offset == 2);
        assert_true(m->rate[0].kind == FIT_RATE_POWER && m->rate[0].shift == -1);
        assert_true(fabs(m->rate[0].time - (k == 4 ? 60 : 1)) < 1e-9);
    }
    static const struct {
        const char *text;
        int shift;
        double time;
    } exponential[] = {{"A * exp(E * t / second) + C", -1, 1},
                       {"C + exp(E * (t / second - X)) * A", 3, 1},
                       {"A * exp(clamp(E * (t / second - X), -700, 700)) + C", 3, 1},
                       {"A * exp(E * (t / second / 60 - X)) + C", 3, 60}};
    for (size_t k = 0; k < sizeof exponential / sizeof *exponential; k++) {
        const struct hg_model *m = with_rate(exponential[k].text);
        if (m->nrate != 1)
            fail_msg("%s: %u rates", exponential[k].text, (unsigned)m->nrate);
        const struct hg_rate *r = &m->rate[0];
        assert_true(r->kind == FIT_RATE_EXPONENTIAL && r->amplitude == 0 && r->exponent == 1 && r->offset == 2);
        assert_int_equal(r->shift, exponential[k].shift);
        assert_true(fabs(r->time - exponential[k].time) < 1e-9);
    }
    for (size_t k = 0; k < sizeof no / sizeof *no; k++)
        if (with_rate(no[k])->nrate != 0)
            fail_msg("%s is no rate", no[k]);
}

static void test_nan_is_visible_behind_a_floor(void **state)
{
    (void)state;
    struct hg_model *m = load("local m = model \"x\" {}\nlocal x, y = m.columns(\"x\", \"y\")\n"
                              "local p = m.parameter(\"p\", { start = 1 })\n"
                              "local f = floor_at(p * x, 0.5)\nm.observe(y, { mean = f })\n");
    hg_id root = m->variant[0].mean;
    double param[1] = {NAN}, column[2] = {1, 0};
    struct hg_point p = {.param = param, .column = column};
    struct hg_eval *ev = hg_eval_new(m->expr, 1, &root);
    hg_eval_run(ev, &p);
    assert_true(isnan((double)hg_eval_get(ev, root, 0).v));
    hg_eval_free(ev);
}

/* --- the models of the project ---------------------------------------------------------------- */

static void fill_starts(double *x, const struct hg_list *list)
{
    for (uint32_t k = 0; k < list->n; k++)
        x[k] = isnan(x[k]) ? list->item[k].start : x[k];
}

static double value_at(const struct hg_model *m, struct hg_test *t)
{
    enum { FRAMES = 64 };
    hg_id root = hg_model_variant(m, t->variant)->mean;
    double time[FRAMES];
    struct hg_point p = {.param = t->param,
                         .linear = t->linear,
                         .setting = t->setting,
                         .coord = t->coord,
                         .column = t->column,
                         .time = time,
                         .step = t->step};
    fill_starts(t->param, &m->param);
    fill_starts(t->linear, &m->linear);
    fill_starts(t->setting, &m->setting);
    if (m->space == FIT_PAIRS) {
        for (int k = 0; k < FRAMES; k++)
            time[k] = t->first_time + k * t->step;
        p.ntime = FRAMES;
        p.i = (uint32_t)lround((t->t1 - t->first_time) / t->step);
        p.j = (uint32_t)lround((t->t2 - t->first_time) / t->step);
    }
    struct hg_eval *ev = hg_eval_new(m->expr, 1, &root);
    hg_eval_run(ev, &p);
    double v = (double)hg_eval_get(ev, root, 0).v;
    hg_eval_free(ev);
    return v;
}

static void test_models_agree_with_their_test_points(void **state)
{
    static const char *const name[] = {"kww", "laminar", "laminar_theory", "static_anisotropic",
                                       "static_isotropic"};
    (void)state;
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
        char path[600];
        struct hg_diag d = {.out = stderr};
        snprintf(path, sizeof path, "%s/models/%s.lua", FIT_SOURCE_DIR, name[k]);
        struct hg_model *m = hg_dsl_load(arena, path, &d);
        assert_non_null(m);
        assert_string_equal(m->name, name[k]);
        assert_int_equal(d.warnings, 0);
        assert_true(m->ntest > 0);
        for (uint32_t i = 0; i < m->ntest; i++) {
            double v = value_at(m, &m->test[i]);
            if (!(fabs(v - m->test[i].expected) <= 1e-14 * fabs(m->test[i].expected)))
                fail_msg("%s:%u: %.17g instead of %.17g", m->file, (unsigned)m->test[i].line, v,
                         m->test[i].expected);
        }
    }
}

/* Warnings about sizes that nothing tells, and the value of column x that the checks take. */
static unsigned untold(const char *columns, const char *test, double *x)
{
    struct hg_diag d = {.out = tmpfile()};
    char text[900];
    int told;
    assert_non_null(d.out);
    snprintf(text, sizeof text, "local m = model \"x\" { title = \"t\" }\nlocal q = m.axis(\"q\", \"1/nm\")\n"
             "local T = m.setting(\"T\", \"K\")\nlocal x, y, s = m.columns(%s, \"y\", \"s\")\n"
             "local a = m.parameter(\"a\", { unit = \"1/K\", start = 2 })\n"
             "m.observe(y, { mean = exp(-a * T * x) + q * nanometer, sigma = s })\n%s\n", columns, test);
    struct hg_model *m = hg_dsl_load_text(arena, "x.lua", text, &d);
    assert_non_null(m);
    *x = hg_model_typical(m, &m->column, 0, offsetof(struct hg_test, column), &told);
    told = hg_model_sizes_told(m, &d);
    assert_int_equal(told, d.warnings == 0);
    fclose(d.out);
    return d.warnings;
}

static void test_sizes_are_told_by_tests_ranges_or_defaults(void **state)
{
    double x;
    (void)state;
    assert_int_equal(untold("\"x\"", "", &x), 3); /* q, T, x */
    assert_true(x == 1.0); /* not 0, where nothing is tested */
    assert_int_equal(untold("{ \"x\", range = {1, 2} }", "", &x), 2);
    assert_int_equal(untold("\"x\"", "m.test { q = 3, T = 300, x = 7, a = 1e-3, y = 1 }", &x), 0);
    assert_true(x == 7.0);
}

/* An axis with a range is told, and tested from end to end; without one around the number of a test. */
static void test_an_axis_has_a_range(void **state)
{
    static const char text[] =
        "local m = model \"x\" { title = \"t\" }\n"
        "local T = m.axis(\"T\", { unit = \"K\"%s })\n"
        "local x, y = m.columns({ \"x\", range = {0, 1} }, \"y\")\n"
        "local a = m.parameter(\"a\", { unit = \"K\", start = 2, bounds = {1, 3} })\n"
        "m.observe(y, { mean = exp(-a * x / T) })\n%s";
    char ranged[900], tested[900], wrong[900];
    (void)state;
    snprintf(ranged, sizeof ranged, text, ", range = {280, 340}", "");
    snprintf(tested, sizeof tested, text, "", "m.test { T = 300, x = 0, a = 1, y = 1 }\n");
    snprintf(wrong, sizeof wrong, text, ", range = {340, 280}", "");
    struct hg_model *m = load(ranged);
    assert_true(hg_model_sizes_told(m, NULL));
    assert_true(m->axis.item[0].start == 310);
    assert_true(hg_model_coordinate(m, 0, 0, 3) == 280);
    assert_true(hg_model_coordinate(m, 0, 2, 3) == 340);
    m = load(tested);
    assert_true(hg_model_coordinate(m, 0, 0, 3) == 300);
    refused(wrong);
}

static void test_help_about_sizes_keeps_the_unit(void **state)
{
    char help[2000];
    struct hg_diag d = {.out = tmpfile()};
    (void)state;
    assert_non_null(d.out);
    struct hg_model *m = hg_dsl_load_text(arena, "x.lua", "local m = model \"x\" { title = \"t\" }\n"
        "local x, y, s = m.columns({ \"x\", unit = \"s\" }, \"y\", \"s\")\n"
        "local a = m.parameter(\"a\", { unit = \"1/s\", start = 2 })\n"
        "m.observe(y, { mean = exp(-a * x), sigma = s })\n", &d);
    assert_non_null(m);
    assert_int_equal(hg_model_sizes_told(m, &d), 0);
    rewind(d.out);
    help[fread(help, 1, sizeof help - 1, d.out)] = 0;
    fclose(d.out);
    assert_non_null(strstr(help, "{ \"x\", unit = \"s\", range = {lowest, highest} } in m.columns"));
}

static void test_manifest_mentions_every_symbol(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    (void)state;
    assert_non_null(f);
    struct hg_model *m = load(HEAD OBSERVE);
    const struct hg_analysis found = {0};
    hg_manifest_json(m, &found, f);
    hg_manifest_yaml(m, f);
    fclose(f);
    static const char *const part[] = {
        "\"name\": \"D\"",   "\"upper\": 10",    "\"upper\": null",    "\"default\": null",
        "\"over\": \"phi\"", "analysis_mode: x", "wavevector_q: null", "FILL IN"};
    for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
        if (!strstr(text, part[k]))
            fail_msg("no %s in\n%s", part[k], text);
    }
    free(text);
}

/* What follows the reading of a model counts its work as well, and ends with the exit code of a wrong model. */
static void test_too_much_work_ends_the_program(void **state)
{
    (void)state;
    struct hg_diag d = {.out = tmpfile()};
    int status;
    char text[400] = "";
    assert_non_null(d.out);
    struct hg_model *m = hg_dsl_load_text(
        arena, "x.lua",
        "local m = model \"x\" { title = \"x\" }\nlocal t, y = m.columns({ \"t\", range = {0, 1} }, \"y\")\n"
        "local a = m.parameter(\"a\", { start = 1, bounds = {0, 2} })\nm.observe(y, { mean = exp(-a * t) })\n",
        &d);
    assert_non_null(m);
    assert_true(hg_steps_done(m->expr) < HG_MOST_STEPS / 1000);
    pid_t child = fork();
    if (child == 0) {
        hg_steps(m->expr, HG_MOST_STEPS);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 3);
    rewind(d.out);
    assert_true(fread(text, 1, sizeof text - 1, d.out) > 0);
    assert_non_null(strstr(text, "too large"));
    fclose(d.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_too_much_work_ends_the_program),
        cmocka_unit_test(test_declarations_arrive),
        cmocka_unit_test(test_nodes_have_names_lines_and_units),
        cmocka_unit_test(test_units_follow_through_derivatives),
        cmocka_unit_test(test_linear_parameters_are_found),
        cmocka_unit_test(test_integral_changes_sign_with_its_limits),
        cmocka_unit_test(test_degrees_are_converted),
        cmocka_unit_test(test_numbers_stay_numbers),
        cmocka_unit_test(test_random_rows_repeat_and_keep_bounds),
        cmocka_unit_test(test_order_of_pairs_is_that_of_the_keys),
        cmocka_unit_test(test_equality_is_lua_s_but_for_expressions),
        cmocka_unit_test(test_the_sandbox_has_no_exit),
        cmocka_unit_test(test_rates_are_found),
        cmocka_unit_test(test_nan_is_visible_behind_a_floor),
        cmocka_unit_test(test_models_agree_with_their_test_points),
        cmocka_unit_test(test_sizes_are_told_by_tests_ranges_or_defaults),
        cmocka_unit_test(test_help_about_sizes_keeps_the_unit),
        cmocka_unit_test(test_an_axis_has_a_range),
        cmocka_unit_test(test_manifest_mentions_every_symbol),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
