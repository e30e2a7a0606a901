/* test_imaging_objective.c -- the objective of models/imaging/imaging.lua against eht-imaging 1.4 (tests/data/imaging):
 * every data term and regularizer, values and gradients; the same bits however the work is cut; rows without weight. */
#include "golden_images.h"

#include <hdf5.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define GOLDEN FIT_SOURCE_DIR "/tests/data/imaging/golden_eht.h5"

/* --- tests ---------------------------------------------------------------------------------------------- */

static void every_data_term_has_its_value_and_gradient(void **state)
{
    (void)state;
    static const char *const point[] = {"init", "rand"};
    struct fit_inputs in = image_inputs(NULL);
    put_data(&in);
    struct fit_bound *b = bind_objective(&in);
    for (int k = 0; k < NDATA_TERM; k++)
        for (int i = 0; i < 2; i++) {
            const char *what = path_of("/dataterms/%s/%s", data_term[k], point[i]);
            double gradient[N];
            only(b, data_term[k], 1);
            must(fit_bound_hyper(b, "log_transform", 1, &err));
            /* camp at init has a visibility that is rounding alone */
            const int null = strcmp(data_term[k], "camp") == 0 && i == 0;
            fit_bound_value(b, read_array(path_of("/grid/x_%s", point[i]), NULL), gradient);
            same_value(what, b->term[fit_bound_term(b, data_term[k])],
                       read_number(path_of("/dataterms/%s/value_%s", data_term[k], point[i])), null ? 1e-9 : 1e-12);
            same_gradient(what, N, gradient,
                          read_array(path_of("/dataterms/%s/grad_x_%s", data_term[k], point[i]), NULL),
                          null ? 1e-8 : 1e-10);
            must(fit_bound_hyper(b, "log_transform", 0, &err));
            fit_bound_value(b, read_array(path_of("/grid/I_%s", point[i]), NULL), gradient);
            same_gradient(what, N, gradient,
                          read_array(path_of("/dataterms/%s/grad_I_%s", data_term[k], point[i]), NULL),
                          null ? 1e-8 : 1e-10);
        }
    fit_bound_free(b);
}

static void one_regularizer(struct fit_bound *b, const char *group, const char *name, const char *which,
                            const char *point, const unsigned char *mask)
{
    double gradient[N], inside[N];
    size_t n = 0;
    const char *what = path_of("%s/%s/%s", group, which, point);
    const char *exact = path_of("%s/grad_I_exact_%s_%s", group, which, point);
    only(b, name, 1);
    fit_bound_value(b, read_array(path_of("/grid/I_%s", point), NULL), gradient);
    for (int k = 0; k < N; k++) {
        if (!mask || mask[k])
            inside[n++] = gradient[k];
        else if (!(gradient[k] == 0))
            fail_msg("%s: gradient[%d] %g", what, k, gradient[k]);
    }
    const double *wanted =
        read_array(fit_h5_exists(golden, exact) ? exact : path_of("%s/grad_I_%s_%s", group, which, point), NULL);
    /* at init some are 0 but for rounding: their size is that of the other point */
    const double size = fabs(read_number(path_of("%s/value_%s_rand", group, which)));
    const double steep = largest(n, read_array(path_of("%s/grad_I_%s_rand", group, which), NULL));
    const double value = read_number(path_of("%s/value_%s_%s", group, which, point));
    const double seen = b->term[fit_bound_term(b, name)];
    if (!(fabs(seen - value) <= 1e-12 * (fabs(value) + 1e-3 * size)))
        fail_msg("%s: %.17g, not %.17g", what, seen, value);
    for (size_t k = 0; k < n; k++)
        if (!(fabs(inside[k] - wanted[k]) <= 1e-10 * (largest(n, wanted) + 1e-3 * steep)))
            fail_msg("%s: gradient[%zu] %.17g, not %.17g", what, k, inside[k], wanted[k]);
}

/* An enumeration, which our reader takes for no number. */
static void read_mask(unsigned char mask[N])
{
    const hid_t f = H5Fopen(GOLDEN, H5F_ACC_RDONLY, H5P_DEFAULT),
                d = H5Dopen2(f, "/regularizers/mask_partial", H5P_DEFAULT);
    const hid_t type = H5Dget_type(d);
    assert_int_equal(H5Tget_size(type), 1);
    assert_true(H5Dread(d, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, mask) >= 0);
    H5Tclose(type);
    H5Dclose(d);
    H5Fclose(f);
}

static void every_regularizer_has_its_value_and_gradient(void **state)
{
    (void)state;
    static const char *const name[] = {"flux", "simple", "gs",    "l1",     "l1w",     "lA",       "patch", "cm",
                                       "tv",   "tv2",    "tvlog", "tv2log", "compact", "compact2", "rgauss"};
    static const char *const eps[] = {"1e-10", "0.0001"};
    unsigned char mask[N];
    int seen = 0;
    read_mask(mask);
    for (int masked = 0; masked < 2; masked++) {
        struct fit_inputs in = image_inputs(masked ? mask : NULL);
        struct fit_bound *b = bind_objective(&in);
        must(fit_bound_hyper(b, "log_transform", 0, &err));
        for (size_t k = 0; k < sizeof name / sizeof *name; k++)
            for (int norm = 0; norm < 2; norm++)
                for (int e = 0; e < 2; e++) {
                    const char *group = path_of("/regularizers/%s/norm%d_eps%s", name[k], norm, eps[e]);
                    if (!fit_h5_exists(golden, group))
                        continue;
                    must(fit_bound_hyper(b, "norm_reg", norm, &err));
                    must(fit_bound_hyper(b, "epsilon_tv", atof(eps[e]), &err));
                    one_regularizer(b, group, name[k], masked ? "masked" : "full", "init", masked ? mask : NULL);
                    one_regularizer(b, group, name[k], masked ? "masked" : "full", "rand", masked ? mask : NULL);
                    seen++;
                }
        fit_bound_free(b);
    }
    assert_true(seen >= 60);
}

static const struct weight {
    const char *objective, *term;
    double weight;
} weights[] = {{"A", "vis", 100},    {"A", "amp", 100},    {"A", "bs", 100},     {"A", "simple", 1},
               {"A", "flux", 1},     {"A", "tv", 10},      {"A", "l1", 1},       {"A", "gs", 1},
               {"A", "tv2", 1},      {"A", "l1w", 1},      {"B", "cphase", 100}, {"B", "camp", 50},
               {"B", "logcamp", 50}, {"B", "patch", 1},    {"B", "cm", 1},       {"B", "tvlog", 1},
               {"B", "tv2log", 1},   {"B", "compact", 1},  {"B", "compact2", 1}, {"B", "rgauss", 1},
               {"C", "amp", 100},    {"C", "cphase", 100}, {"C", "logcamp", 50}, {"C", "simple", 1},
               {"C", "tv", 10},      {"D", "vis", 1},      {"D", "simple", 1},   {"D", "tv", 1}};

static void use(struct fit_bound *b, const char *objective)
{
    b->on = 0;
    for (size_t k = 0; k < sizeof weights / sizeof *weights; k++)
        if (strcmp(weights[k].objective, objective) == 0)
            must(fit_bound_weight(b, weights[k].term, weights[k].weight, &err));
    must(fit_bound_hyper(b, "norm_reg", strcmp(objective, "B") == 0, &err));
}

static void whole_objectives(void **state)
{
    (void)state;
    static const char *const objective[] = {"A", "B", "C", "D"}, *const point[] = {"init", "rand"};
    struct fit_inputs in = image_inputs(NULL);
    put_data(&in);
    struct fit_bound *b = bind_objective(&in);
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < 2; i++) {
            double gradient[N];
            const char *what = path_of("/objectives/%s/value_%s", objective[k], point[i]);
            const int null = k == 1; /* B: the compact term is golden with another gradient; at init camp is rounding */
            use(b, objective[k]);
            const double value = fit_bound_value(b, read_array(path_of("/grid/x_%s", point[i]), NULL), gradient);
            same_value(what, value, read_number(what), null && i == 0 ? 1e-9 : 1e-12);
            same_gradient(what, N, gradient,
                          read_array(path_of("/objectives/%s/grad_x_%s", objective[k], point[i]), NULL),
                          null ? 1e-6 : 1e-10);
        }
    fit_bound_free(b);
}

static void no_cut_changes_a_bit(void **state)
{
    (void)state;
    struct fit_inputs in = image_inputs(NULL);
    put_data(&in);
    struct fit_bound *b = bind_objective(&in);
    for (int objective = 'A'; objective <= 'D'; objective++) {
        use(b, (char[]){(char)objective, 0});
        same_bits_for_any_threads(b, read_array("/grid/x_rand", NULL));
    }
    fit_bound_free(b);
}

static void what_is_not_there_is_said(void **state)
{
    (void)state;
    struct fit_inputs in = image_inputs(NULL);
    put_array(&in, "floor", N - 1, doubles(N));
    struct fit_bound *b;
    assert_int_equal(fit_bound_new(functional(), &in, &b, &err), FIT_ERR_DATA);
    assert_non_null(strstr(err.message, "'floor' has 119 elements, its axis 'pixel' 120"));
    fit_inputs_free(&in);
    in = image_inputs(NULL);
    b = bind_objective(&in);
    assert_int_equal(fit_bound_weight(b, "cphase", 1, &err), FIT_ERR_CONFIG);
    assert_non_null(strstr(err.message, "the term 'cphase' cannot be used: the data have no '"));
    assert_int_equal(fit_bound_weight(b, "entropy", 1, &err), FIT_ERR_CONFIG);
    assert_int_equal(fit_bound_ready(b, &err), FIT_ERR_CONFIG);
    must(fit_bound_weight(b, "tv", 1, &err));
    must(fit_bound_ready(b, &err));
    must(fit_bound_hyper(b, "beam", NAN, &err));
    assert_int_equal(fit_bound_ready(b, &err), FIT_ERR_CONFIG);
    assert_non_null(strstr(err.message, "'beam' has no value"));
    fit_bound_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_data_term_has_its_value_and_gradient),
        cmocka_unit_test(every_regularizer_has_its_value_and_gradient),
        cmocka_unit_test(whole_objectives),
        cmocka_unit_test(no_cut_changes_a_bit),
        cmocka_unit_test(what_is_not_there_is_said),
    };
    return cmocka_run_group_tests(tests, open_golden, close_golden);
}
