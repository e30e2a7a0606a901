/* test_optimize_names.c -- optimizers by name: the table, words that are none, least squares, and functions of the
 * user's in C and Lua. */
#include "optimizers/minimiser.h"
#include "optimizers/registry.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define LUA_FILE FIT_SOURCE_DIR "/tests/data/optimizers/own.lua"

/* ---- a sum of squares: Rosenbrock's, and a quadratic function ------------------------------------ */

struct problem {
    size_t n, values, gradients, normals;
    int fails; /* after so many gradients; 0: never */
};

static enum fit_status value(void *context, const double *x, double *f, struct fit_error *err)
{
    struct problem *p = context;
    (void)err;
    p->values++;
    const double a = 10 * (x[1] - x[0] * x[0]), b = 1 - x[0];
    *f = 0.5 * (a * a + b * b);
    return FIT_OK;
}

static enum fit_status value_gradient(void *context, const double *x, double *f, double *g, struct fit_error *err)
{
    struct problem *p = context;
    if (p->fails && ++p->gradients > (size_t)p->fails)
        return fit_fail(err, FIT_ERR_DATA, "the data have gone");
    const double a = 10 * (x[1] - x[0] * x[0]), b = 1 - x[0];
    *f = 0.5 * (a * a + b * b);
    g[0] = -20 * x[0] * a - b;
    g[1] = 10 * a;
    return FIT_OK;
}

static enum fit_status normal(void *context, const double *x, double *f, double *JtJ, double *Jtr,
                              struct fit_error *err)
{
    struct problem *p = context;
    p->normals++;
    JtJ[0] = 400 * x[0] * x[0] + 1;
    JtJ[1] = JtJ[2] = -200 * x[0];
    JtJ[3] = 100;
    return value_gradient(context, x, f, Jtr, err);
}

static enum fit_status bowl(void *context, const double *x, double *f, double *g, struct fit_error *err)
{
    const struct problem *p = context;
    (void)err;
    *f = 0;
    for (size_t k = 0; k < p->n; k++) {
        const double z = x[k] - (double)k, a = 1 + (double)(k % 2);
        *f += 0.5 * a * z * z;
        g[k] = a * z;
    }
    return FIT_OK;
}

static enum fit_status run_named(const char *name, const struct fit_optimize_problem *p,
                                 const struct fit_optimize_options *opt, double *x, struct fit_optimize_result *r,
                                 struct fit_error *err)
{
    struct fit_optimizer found;
    struct fit_optimize *o = NULL;
    enum fit_status st = fit_optimizer_find(&found, name, err);
    if (st == FIT_OK)
        st = fit_optimize_new(&o, &found.method, p->n, opt, err);
    if (st == FIT_OK)
        st = fit_optimize_run(o, p, x, r, err);
    fit_optimize_free(o);
    fit_optimizer_close(&found);
    return st;
}

/* ---- names ------------------------------------------------------------------------------------ */

static void test_the_table_of_names(void **state)
{
    static const struct {
        const char *word, *name;
        enum fit_optimize_kind kind;
    } row[] = {{NULL, "lbfgsb", FIT_OPTIMIZE_LINE_SEARCH},
               {"", "lbfgsb", FIT_OPTIMIZE_LINE_SEARCH},
               {"lbfgs", "lbfgsb", FIT_OPTIMIZE_LINE_SEARCH},
               {"LBFGS", "lbfgsb", FIT_OPTIMIZE_LINE_SEARCH},
               {"L-BFGS-B", "lbfgsb", FIT_OPTIMIZE_LINE_SEARCH},
               {"l_bfgs_b", "lbfgsb", FIT_OPTIMIZE_LINE_SEARCH},
               {"SciPy", "lbfgsb", FIT_OPTIMIZE_LINE_SEARCH},
               {"scipy-lbfgs", "lbfgsb", FIT_OPTIMIZE_LINE_SEARCH},
               {"optax-lbfgs", "lbfgs-zoom", FIT_OPTIMIZE_LINE_SEARCH},
               {"lbfgs-zoom", "lbfgs-zoom", FIT_OPTIMIZE_LINE_SEARCH},
               {"optax-lbfgs-bt", "lbfgs-bt", FIT_OPTIMIZE_LINE_SEARCH},
               {"lbfgs-bt", "lbfgs-bt", FIT_OPTIMIZE_LINE_SEARCH},
               {"Adam", "adam", FIT_OPTIMIZE_FIRST_ORDER},
               {"adamw", "adamw", FIT_OPTIMIZE_FIRST_ORDER},
               {"SGD", "sgd", FIT_OPTIMIZE_FIRST_ORDER},
               {"rmsprop", "rmsprop", FIT_OPTIMIZE_FIRST_ORDER},
               {"nlsq", "nlsq", FIT_OPTIMIZE_LEAST_SQUARES}};
    (void)state;
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        struct fit_optimizer found;
        struct fit_error err = {0};
        assert_int_equal(fit_optimizer_find(&found, row[k].word, &err), FIT_OK);
        assert_string_equal(found.method.name, row[k].name);
        assert_int_equal(found.method.kind, row[k].kind);
        fit_optimizer_close(&found);
    }
}

static void test_words_that_are_none(void **state)
{
    static const char *const row[][2] = {{"lbgfs", "did you mean 'lbfgs'"},
                                         {"adamm", "did you mean 'adam'"},
                                         {"simplex", "there are lbfgsb, lbfgs-zoom"},
                                         {"x.so", "which function?"},
                                         {".so:f", "no optimizer '.so:f'"}};
    char longest[1000];
    struct fit_optimizer found;
    struct fit_error err = {0};
    (void)state;
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        assert_int_equal(fit_optimizer_find(&found, row[k][0], &err), FIT_ERR_CONFIG);
        assert_non_null(strstr(err.message, row[k][1]));
    }
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = 0;
    assert_int_equal(fit_optimizer_find(&found, longest, &err), FIT_ERR_CONFIG);
    assert_int_equal(fit_optimizer_find(&found, "/nowhere/x.so:f", &err), FIT_ERR_IO);
    assert_int_equal(fit_optimizer_find(&found, "/nowhere/x.lua:f", &err), FIT_ERR_CONFIG);
    assert_non_null(strstr(err.message, "/nowhere/x.lua"));
}

static void test_the_list_of_names(void **state)
{
    size_t n = 0;
    const char *const *alias;
    (void)state;
    for (const struct fit_optimize_method *m; (m = fit_optimizer_entry(n, &alias)); n++) {
        assert_true(m->name && m->summary && alias);
        assert_true((m->step != NULL) != (m->whole != NULL));
        assert_string_equal(fit_optimizer_kind(m->kind), n < 3   ? "line-search"
                                                         : n < 7 ? "first-order"
                                                                 : "least-squares");
    }
    assert_int_equal(n, 8);
}

/* ---- least squares ---------------------------------------------------------------------------- */

static int stop_at_two(void *user, const struct fit_optimize_report *r)
{
    (void)user;
    return r->iteration == 2;
}

static void test_least_squares(void **state)
{
    struct fit_optimize_options opt = fit_optimize_defaults();
    struct problem q = {.n = 2};
    struct fit_optimize_problem p = {
        .n = 2, .context = &q, .value_gradient = value_gradient, .value = value, .normal = normal};
    struct fit_optimize_result r;
    struct fit_error err = {0};
    double x[2] = {-1.2, 1};
    const double upper[2] = {0.5, 2};
    (void)state;
    opt.ftol = 0;
    assert_int_equal(run_named("nlsq", &p, &opt, x, &r, &err), FIT_OK);
    assert_int_equal(r.end, FIT_OPTIMIZE_GTOL);
    assert_true(fabs(x[0] - 1) < 1e-7 && r.f < 1e-14 && r.gradient_max <= 1e-6);
    assert_int_equal(r.ngev, q.normals + 1);
    assert_int_equal(r.nfev, q.normals + q.values + 1);
    assert_true(r.nit < 30);
    p.value = NULL; /* it is not needed */
    p.upper = upper;
    x[0] = -1.2, x[1] = 1;
    assert_int_equal(run_named("nlsq", &p, &opt, x, &r, &err), FIT_OK);
    assert_true(fit_optimize_converged(r.end) && x[0] == 0.5 && fabs(x[1] - 0.25) < 1e-7);
    p.upper = NULL;
    x[0] = -1.2, x[1] = 1;
    opt.maxiter = 3;
    assert_int_equal(run_named("nlsq", &p, &opt, x, &r, &err), FIT_OK);
    assert_int_equal(r.end, FIT_OPTIMIZE_MAXITER);
    opt.watch = stop_at_two;
    x[0] = -1.2, x[1] = 1;
    assert_int_equal(run_named("nlsq", &p, &opt, x, &r, &err), FIT_OK);
    assert_int_equal(r.end, FIT_OPTIMIZE_USER_STOP);
    q.fails = 1;
    assert_int_equal(run_named("nlsq", &p, &opt, x, &r, &err), FIT_ERR_DATA);
    p.normal = NULL;
    assert_int_equal(run_named("nlsq", &p, &opt, x, &r, &err), FIT_ERR_CONFIG);
    assert_non_null(strstr(err.message, "needs a sum of squared residuals"));
    opt.state_file = "/tmp/none";
    p.normal = normal;
    assert_int_equal(run_named("nlsq", &p, &opt, x, &r, &err), FIT_ERR_CONFIG);
}

/* ---- the user's own --------------------------------------------------------------------------- */

static void own_one_works(const char *name)
{
    struct fit_optimize_options opt = fit_optimize_defaults();
    struct problem q = {.n = 5};
    struct fit_optimize_problem p = {.n = 5, .context = &q, .value_gradient = bowl};
    struct fit_optimize_result r;
    struct fit_error err = {0};
    const double upper[5] = {9, 9, 9, 2.5, 9};
    double x[5] = {0}, g[5], f;
    opt.maxiter = 20000;
    opt.ftol = 0;
    if (run_named(name, &p, &opt, x, &r, &err) != FIT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(r.end, FIT_OPTIMIZE_GTOL);
    for (size_t k = 0; k < 5; k++)
        assert_true(fabs(x[k] - (double)k) < 1e-5);
    bowl(&q, x, &f, g, &err);
    assert_true(f == r.f && r.nit > 3 && r.nfev > r.nit);
    opt.maxiter = 4;
    memset(x, 0, sizeof x);
    assert_int_equal(run_named(name, &p, &opt, x, &r, &err), FIT_OK);
    assert_true(r.end == FIT_OPTIMIZE_MAXITER && r.nit == 4);
    opt.watch = stop_at_two;
    memset(x, 0, sizeof x);
    assert_int_equal(run_named(name, &p, &opt, x, &r, &err), FIT_OK);
    assert_true(r.end == FIT_OPTIMIZE_USER_STOP && r.nit == 2);
    p.upper = upper; /* whatever it does, the result lies between the bounds */
    assert_int_equal(run_named(name, &p, &opt, x, &r, &err), FIT_OK);
    assert_true(x[3] <= 2.5);
    q.n = p.n = 2;
    q.fails = 2;
    p.value_gradient = value_gradient;
    assert_int_equal(run_named(name, &p, &opt, x, &r, &err), FIT_ERR_DATA);
    assert_string_equal(err.message, "the data have gone");
    opt.state_file = "/tmp/none";
    assert_int_equal(run_named(name, &p, &opt, x, &r, &err), FIT_ERR_CONFIG);
}

static void test_own_ones_in_lua(void **state)
{
    struct fit_optimizer found;
    struct fit_error err = {0};
    (void)state;
    own_one_works(LUA_FILE ":descend");
    own_one_works(LUA_FILE ":ball");
    assert_int_equal(fit_optimizer_find(&found, LUA_FILE ":ball", &err), FIT_OK);
    assert_int_equal(found.method.kind, FIT_OPTIMIZE_FIRST_ORDER); /* the table comes before what may be called */
    fit_optimizer_close(&found);
    assert_int_equal(fit_optimizer_find(&found, LUA_FILE ":nothing", &err), FIT_ERR_CONFIG);
    assert_non_null(strstr(err.message, "'nothing' is nil"));
    assert_int_equal(fit_optimizer_find(&found, LUA_FILE ":number", &err), FIT_ERR_CONFIG);
    assert_non_null(strstr(err.message, "'number' is number"));
    assert_int_equal(fit_optimizer_find(&found, LUA_FILE, &err), FIT_ERR_CONFIG); /* a table of tables */

    struct problem q = {.n = 2};
    const struct fit_optimize_problem p = {.n = 2, .context = &q, .value_gradient = bowl};
    const struct fit_optimize_options opt = fit_optimize_defaults();
    struct fit_optimize_result r;
    double x[2] = {0};
    assert_int_equal(run_named(LUA_FILE ":broken", &p, &opt, x, &r, &err), FIT_ERR_CONFIG);
    assert_non_null(strstr(err.message, "2 numbers, not 1"));
    assert_int_equal(run_named(LUA_FILE ":forgetful", &p, &opt, x, &r, &err), FIT_ERR_CONFIG);
    assert_non_null(strstr(err.message, "not string"));
    assert_int_equal(run_named(FIT_SOURCE_DIR "/tests/data/optimizers/halves.lua", &p, &opt, x, &r, &err), FIT_OK);
    assert_int_equal(r.end, FIT_OPTIMIZE_FTOL); /* it does not say otherwise */
    assert_true(r.gradient_max > 1e-6);         /* but the gradient does */
}

/* A file that does not come to its end while it is loaded: whatever holds the error back, and wherever it loops. */
static void test_endless_files(void **state)
{
    static const char *const text[] = {
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "coroutine.wrap(function() while true do pcall(function() while true do end end) end end)()",
        "while true do pcall(coroutine.wrap(function() while true do end end)) end",
    };
    (void)state;
    for (size_t k = 0; k < sizeof text / sizeof *text; k++) {
        struct fit_optimizer found;
        struct fit_error err = {0};
        FILE *f = fopen("endless_load.lua", "w");
        assert_true(f && fprintf(f, "local a = 1\n%s\n", text[k]) > 0 && fclose(f) == 0);
        assert_int_equal(fit_optimizer_find(&found, "endless_load.lua", &err), FIT_ERR_CONFIG);
        assert_non_null(strstr(err.message, "endless_load.lua:2: more than 20 million steps"));
        assert_null(found.handle_);
    }
    assert_int_equal(remove("endless_load.lua"), 0);
}

static void test_own_ones_in_c(void **state)
{
    struct fit_optimizer found;
    struct fit_error err = {0};
    (void)state;
    own_one_works(FIT_OWN_OPTIMIZER ":descend");
    assert_int_equal(fit_optimizer_find(&found, FIT_OWN_OPTIMIZER ":ascend", &err), FIT_ERR_CONFIG);
    assert_non_null(strstr(err.message, "no function 'ascend'"));
    struct problem q = {.n = 2};
    const struct fit_optimize_problem p = {.n = 2, .context = &q, .value_gradient = bowl};
    const struct fit_optimize_options opt = fit_optimize_defaults();
    struct fit_optimize_result r;
    double x[2] = {0};
    assert_int_equal(run_named(FIT_OWN_OPTIMIZER ":give_up", &p, &opt, x, &r, &err), FIT_OK);
    assert_int_equal(r.end, FIT_OPTIMIZE_LINESEARCH);
}

/* ---- in the place of least squares ------------------------------------------------------------- */

/* Half the squares of x0 - x1, x1 - 2 x2, x2 - 3. */
static enum fit_eval chain_value(void *user, const double *x, double *cost, double *error)
{
    const double a = x[0] - x[1], b = x[1] - 2 * x[2], c = x[2] - 3;
    (void)user;
    *cost = 0.5 * (a * a + b * b + c * c);
    *error = 0;
    return FIT_EVAL_OK;
}

static enum fit_eval chain_normal(void *user, const double *x, double *B, double *g)
{
    static const double curvature[9] = {1, -1, 0, -1, 2, -2, 0, -2, 5};
    const double a = x[0] - x[1], b = x[1] - 2 * x[2], c = x[2] - 3;
    (void)user;
    memcpy(B, curvature, sizeof curvature);
    g[0] = -a;
    g[1] = a - b;
    g[2] = 2 * b - c;
    return FIT_EVAL_OK;
}

/* What is held stays where it is, and the others go to the minimum that is left. */
static void test_held_parameters_stay(void **state)
{
    static const double lower[3] = {-50, -50, 1}, upper[3] = {50, 50, 1};
    const struct fit_nlsq_problem problem = {
        .n = 3, .value = chain_value, .normal = chain_normal, .lower = lower, .upper = upper, .noise = 1, .dof = 1};
    const struct fit_nlsq_options opt = {.max_iterations = 5000, .ftol = 0, .gtol = 1e-8};
    (void)state;
    struct fit_minimiser *m;
    struct fit_error err = {0};
    double x[3] = {-7, 9, 1};
    size_t iterations;
    enum fit_nlsq_end end;
    assert_int_equal(fit_minimiser_new(&m, "lbfgsb", NULL, &err), FIT_OK);
    m->run(m->user, &problem, &opt, x, &iterations, &end);
    assert_true(x[2] == 1 && iterations > 0);
    assert_true(fabs(x[0] - 2) < 1e-6 && fabs(x[1] - 2) < 1e-6);
    fit_minimiser_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_table_of_names), cmocka_unit_test(test_words_that_are_none),
        cmocka_unit_test(test_the_list_of_names),  cmocka_unit_test(test_least_squares),
        cmocka_unit_test(test_own_ones_in_lua),    cmocka_unit_test(test_endless_files),
        cmocka_unit_test(test_own_ones_in_c),      cmocka_unit_test(test_held_parameters_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
