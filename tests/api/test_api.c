/* Tests of fit_api.h against the models of the build: descriptions, values, derivatives, fits,
 * messages. */
#include "fit_api.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 12, ANGLES = 2, LAMINAR = 7, FULL = LAMINAR + 2 };

static const double truth[LAMINAR] = {6000, -0.3, 300, 0.004, -0.4, 0.0003, -4};
static const double scale[2 * ANGLES] = {0.3, 1, 0.25, 1.02};
static const double phi[ANGLES] = {10, 80};

static void message_holds(const char *text)
{
    if (!strstr(fit_api_message(), text))
        fail_msg("'%s' does not hold '%s'", fit_api_message(), text);
}

static struct fit_api_model *laminar(void)
{
    struct fit_api_model *m = fit_api_open("laminar", NULL);
    if (!m)
        fail_msg("%s", fit_api_message());
    return m;
}

/* Settings q, gap in the order of the model. */
static void fill_settings(const struct fit_api_model *m, double *setting)
{
    for (size_t s = 0; s < fit_api_count(m, FIT_API_SETTING); s++) {
        struct fit_api_item item = {.size = sizeof item};
        assert_int_equal(fit_api_item(m, FIT_API_SETTING, s, &item), 0);
        setting[s] = strcmp(item.name, "q") == 0     ? 0.0054
                     : strcmp(item.name, "gap") == 0 ? 2e6
                                                     : NAN;
    }
}

static struct fit_api_problem *laminar_problem(const struct fit_api_model *m, size_t n,
                                               const double *value)
{
    static const double *const coord[] = {phi};
    double setting[8];
    fill_settings(m, setting);
    struct fit_api_problem *p =
        fit_api_problem_new(m, &(struct fit_api_data){.size = sizeof(struct fit_api_data),
                                                      .setting = setting,
                                                      .ngroup = ANGLES,
                                                      .coord = coord,
                                                      .ntime = n,
                                                      .step = 0.1,
                                                      .value = value});
    if (!p)
        fail_msg("%s", fit_api_message());
    return p;
}

static void test_unknown_model_is_told_with_the_nearest(void **state)
{
    (void)state;
    assert_null(fit_api_open("laminer", NULL));
    message_holds("did you mean 'laminar'");
    assert_int_equal(fit_api_status(), FIT_API_USAGE);
    assert_null(fit_api_open("laminar", "fastest"));
    message_holds("fastest");
    assert_null(fit_api_open("/nowhere/x.so", NULL));
    assert_int_equal(fit_api_status(), FIT_API_IO);
    assert_null(fit_api_open(NULL, NULL));
}

static void test_items_describe_the_model(void **state)
{
    (void)state;
    struct fit_api_model *m = laminar();
    struct fit_api_item item = {.size = sizeof item};
    assert_int_equal(fit_api_count(m, FIT_API_PARAM), LAMINAR);
    assert_int_equal(fit_api_item(m, FIT_API_PARAM, 0, &item), 0);
    assert_string_equal(item.name, "D0");
    assert_string_equal(item.unit, "angstrom^2/s");
    assert_true(item.lower < item.start && item.start < item.upper);
    assert_int_equal(fit_api_item(m, FIT_API_LINEAR, 0, &item), 0);
    assert_int_equal(item.per_group, 1);
    assert_int_equal(fit_api_item(m, FIT_API_PARAM, LAMINAR, &item), FIT_API_USAGE);
    item.size = 0;
    assert_int_equal(fit_api_item(m, FIT_API_PARAM, 0, &item), FIT_API_USAGE);
    message_holds("sizeof");
    fit_api_close(m);
}

/* A program compiled when the structure ended before `role` gets no more than it knows. */
static void test_older_structure_is_not_written_behind(void **state)
{
    (void)state;
    struct fit_api_model *m = fit_api_open("kww", NULL);
    struct fit_api_item item = {.size = offsetof(struct fit_api_item, role), .role = 77};
    assert_non_null(m);
    assert_int_equal(fit_api_item(m, FIT_API_COLUMN, 1, &item), 0);
    assert_string_equal(item.name, "g2");
    assert_int_equal(item.role, 77);
    fit_api_close(m);
}

static void test_derivatives_are_slopes_of_values(void **state)
{
    (void)state;
    enum { ALL = ANGLES * N * N };
    struct fit_api_model *m = laminar();
    struct fit_api_problem *p = laminar_problem(m, N, NULL);
    static double mean[ALL], jac[ALL * FULL], up[ALL], down[ALL];
    double theta[LAMINAR];
    assert_int_equal(fit_api_evaluate(p, truth, scale, 2, mean, jac), 0);
    for (size_t g = 0; g < ANGLES; g++)
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++)
                assert_true(mean[(g * N + i) * N + j] ==
                            mean[(g * N + j) * N + i]); /* to the last digit */
    for (size_t k = 0; k < LAMINAR; k++) {
        /* Error of the difference: h^2/6 third derivative + 2^-52 mean / h; h^(1/3) of the rounding
         * is near the best. */
        const double h = 1e-5 * fabs(truth[k]);
        memcpy(theta, truth, sizeof theta);
        theta[k] = truth[k] + h;
        assert_int_equal(fit_api_evaluate(p, theta, scale, 1, up, NULL), 0);
        theta[k] = truth[k] - h;
        assert_int_equal(fit_api_evaluate(p, theta, scale, 1, down, NULL), 0);
        for (size_t n = 0; n < ALL; n++) /* relative to the parameter: d mean / d log */
            assert_true(fabs((up[n] - down[n]) / (2 * h) - jac[n * FULL + k]) * fabs(truth[k]) <
                        1e-9);
    }
    for (size_t n = 0; n < ALL; n++) { /* contrast b + offset */
        const size_t g = n / (N * N);
        assert_true(fabs(mean[n] - scale[2 * g] * jac[n * FULL + LAMINAR] - scale[2 * g + 1]) <
                    1e-15 * 8);
        assert_true(fabs(jac[n * FULL + LAMINAR + 1] - 1) < 1e-15);
    }
    fit_api_problem_free(p);
    fit_api_close(m);
}

static void test_fit_of_exact_values_finds_the_parameters(void **state)
{
    (void)state;
    enum { FRAMES = 60, ALL = ANGLES * FRAMES * FRAMES };
    struct fit_api_model *m = laminar();
    struct fit_api_problem *grid = laminar_problem(m, FRAMES, NULL);
    double *c2 = malloc(ALL * sizeof *c2);
    assert_non_null(c2);
    assert_int_equal(fit_api_evaluate(grid, truth, scale, 0, c2, NULL), 0);
    assert_null(fit_api_fit(grid, NULL));
    message_holds("without values");
    struct fit_api_problem *p = laminar_problem(m, FRAMES, c2);
    const struct fit_api_result *r = fit_api_fit(p, NULL);
    if (!r)
        fail_msg("%s", fit_api_message());
    assert_int_equal(r->converged, 1);
    assert_int_equal(r->nfull, LAMINAR + 2 * ANGLES);
    assert_int_equal(r->npoint, ANGLES * FRAMES * (FRAMES - 1) / 2);
    assert_null(r->law);
    assert_true(isnan(r->log_likelihood));
    assert_true(sqrt(r->residual_variance) < 1e-7); /* nothing is left: below 1e-6 of the contrast */
    for (size_t k = 0; k < 2 * ANGLES; k++)
        assert_true(fabs(r->linear[k] - scale[k]) < 1e-4);
    fit_api_result_free(r);

    struct fit_api_options o = {.size = sizeof o, .loss = "hubber"};
    assert_null(fit_api_fit(p, &o));
    message_holds("huber");
    unsigned char fixed[LAMINAR] = {1, 1, 1, 1, 1, 1, 1};
    fixed[1] = 0;
    o = (struct fit_api_options){.size = sizeof o, .start = truth, .fixed = fixed, .start_only = 1};
    r = fit_api_fit(p, &o);
    assert_non_null(r);
    assert_true(r->param[0] == truth[0] && r->std[0] == 0); /* held: to the last digit */
    assert_true(fabs(r->param[1] - truth[1]) < 1e-6);
    fit_api_result_free(r);
    fit_api_problem_free(p);
    fit_api_problem_free(grid);
    fit_api_close(m);
    free(c2);
}

static void test_interrupted_fit_gives_its_best_point(void **state)
{
    (void)state;
    enum { FRAMES = 40, ALL = ANGLES * FRAMES * FRAMES };
    struct fit_api_model *m = laminar();
    struct fit_api_problem *grid = laminar_problem(m, FRAMES, NULL);
    static double c2[ALL];
    const volatile int stop = 1;
    assert_int_equal(fit_api_evaluate(grid, truth, scale, 0, c2, NULL), 0);
    struct fit_api_problem *p = laminar_problem(m, FRAMES, c2);
    const struct fit_api_result *r = fit_api_fit(
        p, &(struct fit_api_options){.size = sizeof(struct fit_api_options), .interrupt = &stop});
    if (r) {
        assert_int_equal(r->converged, 0);
        assert_string_equal(r->quality, "unfinished");
        assert_non_null(strstr(r->quality_text, "did not finish"));
        assert_string_equal(r->status, "interrupted");
    } else {
        assert_int_equal(fit_api_status(), FIT_API_INTERRUPTED);
    }
    fit_api_result_free(r);
    fit_api_problem_free(p);
    fit_api_problem_free(grid);
    fit_api_close(m);
}

/* Rows of two curves, mixed, one with a delay that is no number. */
static void test_rows_keep_their_order_and_find_their_groups(void **state)
{
    (void)state;
    struct fit_api_model *m = fit_api_open("diffusion_q", NULL);
    assert_non_null(m);
    const double q[] = {0.01, 0.02, 0.01, 0.02, 0.01}, delay[] = {0, 0, 0.05, 1e9, NAN};
    const double *const axis[] = {q}, *const column[] = {delay, NULL, NULL};
    struct fit_api_data d = {.size = sizeof d, .nrow = 5, .column = column, .axis = axis};
    struct fit_api_problem *p = fit_api_problem_new(m, &d);
    if (!p)
        fail_msg("%s", fit_api_message());
    assert_int_equal(fit_api_groups(p), 2);
    assert_true(fit_api_coord(p, 0)[0] == 0.01 && fit_api_coord(p, 0)[1] == 0.02);
    assert_null(fit_api_coord(p, 1));
    double mean[5], jac[5 * 4];
    assert_int_equal(
        fit_api_evaluate(p, (double[]){4e4, 2}, (double[]){0.2, 1.01, 0.3, 1.02}, 0, mean, jac), 0);
    assert_true(fabs(mean[0] - 1.21) < 1e-15 && fabs(mean[1] - 1.32) < 1e-15 &&
                fabs(mean[3] - 1.02) < 1e-15);
    assert_true(fabs(mean[2] - 1.14406400920712787) < 1e-14); /* the model's own test point */
    assert_true(isnan(mean[4]) && isnan(jac[4 * 4]));
    fit_api_problem_free(p);

    d.axis = NULL;
    assert_null(fit_api_problem_new(m, &d));
    message_holds("'q'");
    fit_api_close(m);
}

static void test_missing_parts_are_named(void **state)
{
    (void)state;
    struct fit_api_model *m = laminar();
    const double *const coord[] = {phi};
    struct fit_api_data d = {
        .size = sizeof d, .ngroup = ANGLES, .coord = coord, .ntime = N, .step = 0.1};
    double setting[8];
    assert_null(fit_api_problem_new(m, &d));
    message_holds("'q'");
    fill_settings(m, setting);
    d.setting = setting;
    d.step = 0;
    assert_null(fit_api_problem_new(m, &d));
    message_holds("period");
    d.step = 0.1;
    d.coord = NULL;
    assert_null(fit_api_problem_new(m, &d));
    message_holds("phi of matrix 1");
    d.size = sizeof d + 8;
    assert_null(fit_api_problem_new(m, &d));
    message_holds("fit_api_data");
    fit_api_close(m);
}

/* Data of the model itself with a wave for noise. */
static double *measured(const struct fit_api_model *m, size_t n)
{
    double *c2 = malloc(ANGLES * n * n * sizeof *c2);
    struct fit_api_problem *grid = laminar_problem(m, n, NULL);
    assert_non_null(c2);
    assert_int_equal(fit_api_evaluate(grid, truth, scale, 0, c2, NULL), 0);
    for (size_t k = 0; k < ANGLES * n * n; k++)
        c2[k] += 0.01 * (sin(7.0 * (double)k) + cos(11.0 * (double)(k * (k % 97))));
    fit_api_problem_free(grid);
    return c2;
}

static void test_links(void **state)
{
    (void)state;
    enum { FRAMES = 60 };
    struct fit_api_model *m = laminar();
    double *c2 = measured(m, FRAMES);
    struct fit_api_problem *p = laminar_problem(m, FRAMES, c2);
    const char *also[] = {"tie", "gamma_dot_t_offset=0.075*gamma_dot_t0", "share", "D0=per_angle",
                          NULL};
    const struct fit_api_result *r = fit_api_fit(
        p, &(struct fit_api_options){.size = sizeof(struct fit_api_options), .also = also});
    if (!r)
        fail_msg("%s", fit_api_message());
    assert_int_equal(r->nparam, LAMINAR); /* one less, one more */
    assert_int_equal(r->nmodel, LAMINAR);
    assert_string_equal(r->name[0], "D0[10]");
    assert_string_equal(r->name[1], "D0[80]");
    assert_int_equal(r->ntied, 1);
    assert_string_equal(r->tied_name[0], "gamma_dot_t_offset");
    assert_true(r->group_param[0] == r->param[0] && r->group_param[LAMINAR] == r->param[1]);
    assert_true(r->group_param[5] == r->tied[0] && r->group_param[LAMINAR + 5] == r->tied[0]);
    assert_true(r->group_linear[3] == r->linear[3]);
    fit_api_result_free(r);
    r = fit_api_fit(p, NULL); /* nothing of the links is left */
    assert_non_null(r);
    assert_int_equal(r->ntied, 0);
    assert_string_equal(r->name[0], "D0");
    fit_api_result_free(r);
    static const char *const wrong[][3] = {
        {"tie", "phi0=nobody", NULL}, {"tye", "phi0=1", NULL}, {"share", "D0=33", NULL}};
    static const char *const told[] = {"nobody", "tye", "33"};
    for (size_t k = 0; k < 3; k++) {
        assert_null(fit_api_fit(p, &(struct fit_api_options){.size = sizeof(struct fit_api_options),
                                                             .also = wrong[k]}));
        message_holds(told[k]);
    }
    fit_api_problem_free(p);
    fit_api_close(m);
    free(c2);
}

struct seen {
    double most;
    int stop;
};

static int look(void *user, const struct fit_api_progress *p)
{
    struct seen *s = user;
    s->most = fmax(s->most, p->total);
    return s->stop && p->total > 0;
}

static void test_sample(void **state)
{
    (void)state;
    enum { FRAMES = 60, CHAINS = 2, DRAWS = 200 };
    struct fit_api_model *m = laminar();
    double *c2 = measured(m, FRAMES);
    struct fit_api_problem *p = laminar_problem(m, FRAMES, c2);
    const char *also[] = {"draws", "200", "chains", "2", "warmup", "150", NULL};
    struct seen seen = {0};
    struct fit_api_options o = {
        .size = sizeof o, .also = also, .seed = 3, .progress = look, .progress_user = &seen};
    const struct fit_api_draws *d = fit_api_sample(p, &o);
    if (!d)
        fail_msg("%s", fit_api_message());
    assert_int_equal(d->chains, CHAINS);
    assert_int_equal(d->draws, DRAWS);
    assert_int_equal(d->ncolumn, d->fit->nfull + ANGLES);
    assert_string_equal(d->name[d->ncolumn - 1], "sigma[1]");
    assert_true(seen.most == CHAINS * (DRAWS + 150));
    for (size_t k = 0; k < d->ncolumn; k++) { /* the summary is that of the draws */
        double sum = 0;
        for (size_t i = 0; i < CHAINS * DRAWS; i++)
            sum += d->x[i * d->ncolumn + k];
        assert_true(fabs(sum / (CHAINS * DRAWS) - d->mean[k]) <= 1e-12 * fabs(d->mean[k]) + 1e-15);
        assert_true(d->q025[k] <= d->median[k] && d->median[k] <= d->q975[k]);
    }
    /* the shear rate is known well: its posterior is that of least squares, to the third order in
     * error / value */
    assert_true(fabs(d->mean[3] - d->fit->param[3]) < d->fit->std[3]);
    fit_api_draws_free(d);
    seen.stop = 1;
    also[1] = "200000";
    d = fit_api_sample(p, &o);
    if (d) /* what there is */
        assert_false(d->complete);
    else
        assert_int_equal(fit_api_status(), FIT_API_INTERRUPTED);
    fit_api_draws_free(d);
    const char *nlsq[] = {"method", "nlsq", NULL};
    o = (struct fit_api_options){.size = sizeof o, .also = nlsq};
    assert_null(fit_api_sample(p, &o));
    message_holds("laplace");
    fit_api_draws_free(NULL);
    fit_api_problem_free(p);
    fit_api_close(m);
    free(c2);
}

static void test_units(void **state)
{
    (void)state;
    static const struct {
        const char *text, *unit;
        double value; /* NaN: refused */
    } c[] = {{"0.054 nm^-1", "1/angstrom", 0.0054}, {"200 um", "angstrom", 2e6}, {"0.5", "s", 0.5},
             {"20 ms", "s", 0.02},                  {"180 deg", "1", 3.14159265358979323846},
             {"7000 eV", "keV", 7},                 {"0.5 kg", "g", 500},        {"3 cell", "cell", 3},
             {"5 s", "1/s", NAN},                   {"5 foo", "s", NAN},         {"1 rad", "1", 1},
             {"5 deg", "keV", NAN},                 {"five", "s", NAN},          {"2 1", "deg", NAN}};
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        double v = NAN, times, over;
        const int status = fit_api_quantity(c[i].text, c[i].unit, &v);
        if (isnan(c[i].value)) {
            assert_int_equal(status, FIT_API_DATA);
            assert_non_null(strstr(fit_api_message(), c[i].text));
            continue;
        }
        assert_int_equal(status, 0);
        assert_true(fabs(v - c[i].value) <= 1e-15 * c[i].value);
        const char *unit = strchr(c[i].text, ' ');
        assert_int_equal(fit_api_unit(unit ? unit : c[i].unit, c[i].unit, &times, &over), 0);
        assert_true(fabs(strtod(c[i].text, NULL) * times / over - c[i].value) <= 1e-15 * c[i].value);
    }
    double times, over;
    assert_int_equal(fit_api_unit("furlong", "m", &times, &over), FIT_API_DATA);
    assert_non_null(strstr(fit_api_message(), "'furlong' is not a known unit; expected is m"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_sample),
        cmocka_unit_test(test_unknown_model_is_told_with_the_nearest),
        cmocka_unit_test(test_items_describe_the_model),
        cmocka_unit_test(test_older_structure_is_not_written_behind),
        cmocka_unit_test(test_derivatives_are_slopes_of_values),
        cmocka_unit_test(test_fit_of_exact_values_finds_the_parameters),
        cmocka_unit_test(test_interrupted_fit_gives_its_best_point),
        cmocka_unit_test(test_rows_keep_their_order_and_find_their_groups),
        cmocka_unit_test(test_missing_parts_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
