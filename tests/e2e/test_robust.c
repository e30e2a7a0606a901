/* test_robust.c -- robust fits of data with outliers against scipy.optimize.least_squares.
 *
 * tests/data/robust: data, and the minimum of each loss at two scales as scipy finds it
 * (make_reference.py says how).  In both spaces: a table (kww) and pairs of frames (static_anisotropic).
 * Cost and parameters agree to 1e-8; without knowledge of the reference the gradient must be zero to the
 * accuracy asked for.  Prints how many passes over the data each took.
 *
 * tests/data/hierarchy: six angles whose contrasts are drawn together, against a dense computation.
 */
#include "fit/fit.h"
#include "leastsquares/fit_types.h"
#include "support.h"
#include "files/yaml_tree.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { FRAMES = 24, ANGLES = 2, ROWS = 80, MANY = 6, FEW_FRAMES = 20 };
static const char folder[] = FIT_SOURCE_DIR "/tests/data/";
static const double AGREE = 1e-8;
static const double TAU_AGREES = 1e-6; /* a minimum in one variable is found to the square root of rounding, 1e-8 */

static FILE *open_data(const char *name)
{
    char path[512], line[128];
    snprintf(path, sizeof path, "%s%s", folder, name);
    FILE *f = fopen(path, "r");
    if (!f || !fgets(line, sizeof line, f))
        fail_msg("%s: cannot be read", path);
    return f;
}

static struct fit_dataset *table(const struct fit_kernel *k)
{
    static double x[ROWS], y[ROWS], s[ROWS];
    const double *column[3] = {x, y, s};
    struct fit_dataset *ds = NULL;
    struct fit_error err = {0};
    FILE *f = open_data("robust/decay.csv");
    size_t n = 0;
    while (n < ROWS && fscanf(f, "%lf,%lf", &x[n], &y[n]) == 2)
        s[n++] = 1;
    fclose(f);
    assert_int_equal(n, ROWS);
    if (fit_dataset_new_table(&(struct fit_dataset_table){.nrow = ROWS,
                                                          .ncolumn = 3,
                                                          .column = column,
                                                          .value = y,
                                                          .nsetting = k->nsetting,
                                                          .center = k->intercept >= 0},
                              &ds, &err) != FIT_OK ||
        fit_dataset_finish(ds, &err) != FIT_OK)
        fail_msg("%s", err.message);
    return ds;
}

static struct fit_dataset *pairs(const struct fit_kernel *k, const char *name, size_t frames, size_t angles)
{
    static const double phi[MANY] = {0, 90, 20, 40, 60, 80};
    static double c2[MANY][FRAMES * FRAMES], time[FRAMES];
    struct fit_error err = {0};
    unsigned i, j, g;
    double y;
    for (size_t n = 0; n < frames; n++)
        time[n] = 0.1 * (double)(n + 1);
    FILE *f = open_data(name);
    while (fscanf(f, "%u,%u,%u,%lf", &i, &j, &g, &y) == 4)
        c2[g][i * frames + j] = y;
    fclose(f);
    struct fit_dataset *ds = e2e_dataset(k, &(struct e2e_grid){.ntime = frames,
                                                               .time = time,
                                                               .dt = 0.1,
                                                               .q = 0.0054,
                                                               .gap = 2e6,
                                                               .nphi = angles,
                                                               .phi = phi});
    for (g = 0; g < angles; g++)
        assert_int_equal(fit_dataset_put(ds, g, c2[g], NULL, &err), FIT_OK);
    assert_int_equal(fit_dataset_finish(ds, &err), FIT_OK);
    return ds;
}

static double number(const struct fit_yaml *node, const char *key)
{
    return strtod(fit_yaml_get(node, key)->text, NULL);
}

static enum fit_loss loss_named(const char *name)
{
    for (int loss = FIT_LOSS_LINEAR; loss <= FIT_LOSS_ARCTAN; loss++)
        if (strcmp(fit_loss_name((enum fit_loss)loss), name) == 0)
            return (enum fit_loss)loss;
    fail_msg("no loss %s", name);
    return FIT_LOSS_LINEAR;
}

/* Where parameter number n of the reference stands: pairs have contrast[0..1], offset[0..1]. */
static double found(const struct fit_result *r, size_t n, int is_table)
{
    if (n < 2)
        return r->theta[n];
    return is_table ? r->lin[n - 2] : r->lin[(n - 2) % 2 * 2 + (n - 2) / 2];
}

static void compare(const struct fit_kernel *k, const struct fit_dataset *ds, const struct fit_yaml *problem,
                    int is_table)
{
    const struct fit_yaml *runs = fit_yaml_get(problem, "runs");
    double sigma[ANGLES], start[3] = {NAN, NAN, 0};
    unsigned char fixed[3] = {0, 0, 1}; /* static: D_offset = 0 */
    sigma[0] = sigma[1] = number(problem, "sigma");
    for (size_t n = 0; n < runs->n; n++) {
        const struct fit_yaml *run = runs->entry[n].value, *p = fit_yaml_get(run, "parameters");
        struct fit_options o;
        struct fit_result r;
        struct fit_error err = {0};
        fit_options_default(&o);
        o.loss = loss_named(fit_yaml_get(run, "loss")->text);
        o.f_scale = number(run, "f_scale");
        o.sigma = sigma;
        o.gtol = 1e-9;
        o.threads = 1;
        if (!is_table)
            o.start = start, o.fixed = fixed;
        if (fit_run(k, ds, &o, &r, &err) != FIT_OK)
            fail_msg("%s", err.message);
        double cost = number(run, "cost"), worst = fabs(r.cost / cost - 1);
        for (size_t m = 0; m < p->n; m++)
            worst = fmax(worst, fabs(found(&r, m, is_table) / strtod(p->entry[m].value->text, NULL) - 1));
        print_message("  %-8s %-8s f_scale %.1f: %3zu passes, %2zu with derivatives, off by %.1e, %s\n", k->name,
                      fit_loss_name(o.loss), o.f_scale, r.evaluations, r.normals, worst, fit_word_name(r.status));
        assert_true(r.converged && r.gradient <= o.gtol);
        assert_true(worst < AGREE);
        fit_result_free(&r);
    }
}

static void run(const char *model, const char *problem, int is_table)
{
    struct fit_yaml_doc *doc = NULL;
    struct fit_error err = {0};
    char path[512];
    const struct fit_kernel *k = e2e_kernel(model, "fast", NULL);
    assert_non_null(k);
    snprintf(path, sizeof path, "%srobust/reference.json", folder);
    if (fit_yaml_parse_file(path, &doc, &err) != FIT_OK)
        fail_msg("%s", err.message);
    struct fit_dataset *ds = is_table ? table(k) : pairs(k, "robust/pairs.csv", FRAMES, ANGLES);
    compare(k, ds, fit_yaml_get(fit_yaml_root(doc), problem), is_table);
    fit_dataset_free(ds);
    fit_yaml_free(doc);
}

static void test_losses_of_a_table_agree_with_scipy(void **s)
{
    (void)s;
    run("kww", "decay", 1);
}

static void test_losses_of_pairs_agree_with_scipy(void **s)
{
    (void)s;
    run("static_anisotropic", "pairs", 0);
}

/* Off by, relative: the parameters; *std: their errors. */
static double off(const struct fit_result *r, const struct fit_yaml *run, double *std)
{
    const struct fit_yaml *p = fit_yaml_get(run, "parameters"), *e = fit_yaml_get(run, "std");
    double worst = 0;
    *std = 0;
    for (size_t n = 0; n < p->n; n++) {
        size_t q = (n - 2) / MANY, place = n < 2 ? n : r->nparam + (n - 2) % MANY * 2 + q;
        double value = n < 2 ? r->theta[n] : r->lin[place - r->nparam];
        worst = fmax(worst, fabs(value / strtod(p->entry[n].value->text, NULL) - 1));
        *std = fmax(*std, fabs(r->std[place] / strtod(e->entry[n].value->text, NULL) - 1));
    }
    return worst;
}

static void test_contrasts_drawn_together_agree_with_a_dense_computation(void **state)
{
    (void)state;
    const struct fit_kernel *k = e2e_kernel("static_anisotropic", "fast", NULL);
    struct fit_dataset *ds = pairs(k, "hierarchy/pairs.csv", FEW_FRAMES, MANY);
    struct fit_yaml_doc *doc = NULL;
    struct fit_error err = {0};
    char path[512];
    snprintf(path, sizeof path, "%shierarchy/reference.json", folder);
    assert_int_equal(fit_yaml_parse_file(path, &doc, &err), FIT_OK);
    const struct fit_yaml *runs = fit_yaml_get(fit_yaml_root(doc), "runs");
    double sigma[MANY], start[3] = {NAN, NAN, 0};
    unsigned char fixed[3] = {0, 0, 1};
    for (size_t g = 0; g < MANY; g++)
        sigma[g] = number(fit_yaml_root(doc), "sigma");
    assert_true(runs->n > 0);
    for (size_t n = 0; n < runs->n; n++) {
        const struct fit_yaml *run = runs->entry[n].value;
        struct fit_options o;
        struct fit_result r;
        double std;
        fit_options_default(&o);
        o.loss = loss_named(fit_yaml_get(run, "loss")->text);
        o.f_scale = number(run, "f_scale");
        o.scaling = FIT_SCALING_HIERARCHICAL;
        o.sigma = sigma;
        o.start = start;
        o.fixed = fixed;
        o.gtol = 1e-9;
        o.threads = 1;
        if (fit_run(k, ds, &o, &r, &err) != FIT_OK)
            fail_msg("%s", err.message);
        double tau = fabs(r.spread[0] / number(run, "tau") - 1), worst = off(&r, run, &std);
        print_message("  %-8s f_scale %.3f: spread off by %.1e, values %.1e, errors %.1e, %s\n", fit_loss_name(o.loss),
                      o.f_scale, tau, worst, std, fit_word_name(r.status));
        assert_true(r.converged);
        assert_true(tau < TAU_AGREES && worst < TAU_AGREES && std < TAU_AGREES);
        fit_result_free(&r);
    }
    fit_yaml_free(doc);
    fit_dataset_free(ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_losses_of_a_table_agree_with_scipy),
        cmocka_unit_test(test_losses_of_pairs_agree_with_scipy),
        cmocka_unit_test(test_contrasts_drawn_together_agree_with_a_dense_computation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
