/* test_imaging_objective.c -- the objective of models/imaging/imaging.lua against eht-imaging 1.4 (tests/data/imaging):
 * every data term and regularizer, values and gradients; the same bits however the work is cut; rows without weight. */
#include "functional/functional.h"
#include "hdf5/reader.h"
#include "machine/cpu.h"

#include <hdf5.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const struct fit_functional *const fit_functionals[];

#define GOLDEN FIT_SOURCE_DIR "/tests/data/imaging/golden_eht.h5"

enum { NX = 12, NY = 10, N = NX * NY, MOST_PATH = 200 };
static const double PI = 3.14159265358979323846;

static struct fit_h5 *h;
static struct fit_error err;

/* What the inputs point to. */
static struct fit_arena arena;
static double pixel, flux, beam, degree;

static void must(enum fit_status s)
{
    if (s != FIT_OK)
        fail_msg("%s", err.message);
}

static double *read_array(const char *path, size_t *n)
{
    size_t ignored;
    double *x = NULL;
    must(fit_h5_read_doubles(h, path, &x, n ? n : &ignored, &err));
    double *copy = fit_take_copy(&arena, x, n ? *n : ignored, sizeof *x);
    free(x);
    assert_non_null(copy);
    return copy;
}

static double read_number(const char *path)
{
    double x;
    must(fit_h5_read_scalar(h, path, &x, &err));
    return x;
}

static double read_attribute(const char *path, const char *name)
{
    double *x = NULL;
    size_t n;
    must(fit_h5_read_attr_doubles(h, path, name, &x, &n, &err));
    const double value = x[0];
    free(x);
    return value;
}

static const char *path_of(const char *format, ...)
{
    char text[MOST_PATH];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return fit_arena_string(&arena, text);
}

static int open_golden(void **state)
{
    (void)state;
    must(fit_h5_open(GOLDEN, &h, &err));
    pixel = read_attribute("/grid", "psize");
    flux = read_attribute("/grid", "flux");
    beam = read_attribute("/grid", "beam_size");
    degree = read_attribute("/grid", "DEGREE");
    return 0;
}

static int close_golden(void **state)
{
    (void)state;
    fit_h5_close(h);
    fit_arena_free(&arena);
    return 0;
}

/* --- inputs --------------------------------------------------------------------------------------------- */

static void put_axis(struct fit_inputs *in, const char *name, size_t n)
{
    fit_inputs_put(in, (struct fit_input){.name = name, .kind = FIT_INPUT_AXIS, .n = n, .nx = NX, .ny = NY});
}

static void put_array(struct fit_inputs *in, const char *name, size_t n, const double *x)
{
    fit_inputs_put(in, (struct fit_input){.name = name, .kind = FIT_INPUT_ARRAY, .n = n, .array = x});
}

static void put_number(struct fit_inputs *in, const char *name, double x)
{
    fit_inputs_put(in, (struct fit_input){.name = name, .kind = FIT_INPUT_NUMBER, .value = x});
}

static double *doubles(size_t n)
{
    double *x = fit_take(&arena, n, sizeof *x);
    assert_non_null(x);
    return x;
}

static struct fit_inputs image_inputs(const unsigned char *mask)
{
    struct fit_inputs in = {.n = 0};
    double *array[6], *floor_unit = doubles(N);
    const double *stored = read_array("/regularizers/randomfloor_unit", NULL); /* of pixels outside of the mask */
    static const char *const name[] = {"x_pixel", "y_pixel", "x_whole", "y_whole", "mask"};
    for (int k = 0; k < 5; k++)
        array[k] = doubles(N);
    for (int r = 0; r < NY; r++)
        for (int c = 0; c < NX; c++) {
            array[0][r * NX + c] = (c - (NX - 1) / 2.0) * pixel;
            array[1][r * NX + c] = (r - (NY - 1) / 2.0) * pixel;
            array[2][r * NX + c] = (NX / 2 - c) * pixel;
            array[3][r * NX + c] = (NY / 2 - r) * pixel;
            array[4][r * NX + c] = !mask || mask[r * NX + c];
        }
    put_axis(&in, "pixel", N);
    for (int k = 0; k < 5; k++)
        put_array(&in, name[k], N, array[k]);
    put_array(&in, "prior", N, read_array("/grid/prior_normalised", NULL));
    for (size_t k = 0, i = 0; k < N; k++)
        floor_unit[k] = mask && !mask[k] ? stored[i++] : 0;
    put_array(&in, "floor", N, floor_unit);
    put_number(&in, "flux", flux);
    put_number(&in, "beam", beam);
    put_number(&in, "pixel_size", pixel);
    put_number(&in, "major", 60 * read_attribute("/grid", "RADPERUAS"));
    put_number(&in, "minor", 45 * read_attribute("/grid", "RADPERUAS"));
    put_number(&in, "PA", 0.4);
    put_number(&in, "alpha_A", 1.5);
    put_number(&in, "epsilon_tv", 1e-10);
    return in;
}

/* Factors of n points along one axis. */
static void factor(size_t n, const double *w, int width, double *re, double *im)
{
    for (size_t v = 0; v < n; v++)
        for (int c = 0; c < width; c++) {
            const double a = PI * pixel * w[v], s = a == 0 ? 1 : sin(a) / a, at = ((width - 1) / 2.0 - c) * pixel;
            re[v * (size_t)width + (size_t)c] = s * s * cos(2 * PI * w[v] * at);
            im[v * (size_t)width + (size_t)c] = s * s * sin(2 * PI * w[v] * at);
        }
}

static const struct term {
    const char *name;
    int legs, complex, degrees, diagonal;
} terms[] = {{"vis", 1, 1, 0, 0},  {"amp", 1, 0, 0, 0},     {"logamp", 1, 0, 0, 0},
             {"bs", 3, 1, 0, 0},   {"cphase", 3, 0, 1, 0},  {"cphase_diag", 3, 0, 1, 1},
             {"camp", 4, 0, 0, 0}, {"logcamp", 4, 0, 0, 0}, {"logcamp_diag", 4, 0, 0, 1}};
enum { NTERM = sizeof terms / sizeof *terms };

/* Data and weights of a term; its legs are points `first`, first + 1, ... of the uv plane. */
static size_t put_term(struct fit_inputs *in, const struct term *t, size_t first)
{
    size_t n, nblock;
    double *sigma = read_array(path_of("/dataterms/%s/sigma", t->name), &n);
    const double unit = t->degrees ? degree : 1;
    put_axis(in, t->name, n);
    double *weight = doubles(n), *data;
    for (size_t k = 0; k < n; k++)
        weight[k] = 1 / (sigma[k] * unit * sigma[k] * unit);
    put_array(in, path_of("%s_weight", t->name), n, weight);
    if (t->complex) {
        put_array(in, path_of("%s_data_re", t->name), n, read_array(path_of("/dataterms/%s/data_re", t->name), NULL));
        put_array(in, path_of("%s_data_im", t->name), n, read_array(path_of("/dataterms/%s/data_im", t->name), NULL));
    } else {
        data = read_array(path_of("/dataterms/%s/data", t->name), NULL);
        for (size_t k = 0; k < n; k++)
            data[k] *= unit;
        put_array(in, path_of("%s_data", t->name), n, data);
    }
    if (strcmp(t->name, "logamp") == 0) /* sigma is that of the logarithm */
        for (size_t k = 0; k < n; k++)
            weight[k] = 1 / (sigma[k] * sigma[k]);
    for (int leg = 0; leg < t->legs; leg++) {
        int32_t *place = fit_take(&arena, n, sizeof *place);
        for (size_t k = 0; k < n; k++)
            place[k] = (int32_t)(first + k * (size_t)t->legs + (size_t)leg + 1);
        fit_inputs_put(
            in, (struct fit_input){
                    .name = path_of("%s_leg%d", t->name, leg + 1), .kind = FIT_INPUT_PLACES, .n = n, .place = place});
    }
    if (t->diagonal) {
        const double *sizes = read_array(path_of("/dataterms/%s/block_sizes", t->name), &nblock);
        size_t *block = fit_take(&arena, nblock, sizeof *block);
        for (size_t k = 0; k < nblock; k++)
            block[k] = (size_t)sizes[k];
        fit_inputs_put(in, (struct fit_input){.name = path_of("%s_T", t->name),
                                              .kind = FIT_INPUT_BLOCKS,
                                              .nblock = nblock,
                                              .block = block,
                                              .array = read_array(path_of("/dataterms/%s/T_flat", t->name), NULL)});
    }
    return n * (size_t)t->legs;
}

/* Every leg of every term as a point of its own. */
static void put_data(struct fit_inputs *in)
{
    double *u = NULL, *v = NULL, *f[4];
    size_t n = 0;
    for (int k = 0; k < NTERM; k++) {
        size_t legs;
        const double *a = read_array(path_of("/dataterms/%s/u", terms[k].name), &legs);
        const double *b = read_array(path_of("/dataterms/%s/v", terms[k].name), &legs);
        double *u_more = doubles(n + legs), *v_more = doubles(n + legs);
        if (n) {
            memcpy(u_more, u, n * sizeof *u);
            memcpy(v_more, v, n * sizeof *v);
        }
        memcpy(u_more + n, a, legs * sizeof *a);
        memcpy(v_more + n, b, legs * sizeof *b);
        u = u_more;
        v = v_more;
        assert_int_equal(put_term(in, &terms[k], n), legs);
        n += legs;
    }
    put_axis(in, "uv", n);
    for (int k = 0; k < 4; k++)
        f[k] = doubles(n * NX);
    factor(n, u, NX, f[0], f[1]);
    factor(n, v, NY, f[2], f[3]);
    fit_inputs_put(in, (struct fit_input){.name = "z",
                                          .kind = FIT_INPUT_OUTER,
                                          .n = n,
                                          .nx = NX,
                                          .ny = NY,
                                          .column_re = f[0],
                                          .column_im = f[1],
                                          .row_re = f[2],
                                          .row_im = f[3]});
}

/* The best that this machine runs. */
static const struct fit_functional *functional(void)
{
    size_t k = 0;
    while (!fit_cpu_supports(fit_functionals[k]->isa))
        k++;
    return fit_functionals[k];
}

static struct fit_bound *bind(struct fit_inputs *in)
{
    struct fit_bound *b;
    must(fit_bound_new(functional(), in, &b, &err));
    fit_inputs_free(in);
    return b;
}

static void only(struct fit_bound *b, const char *term, double weight)
{
    b->on = 0;
    must(fit_bound_weight(b, term, weight, &err));
}

/* --- comparison ----------------------------------------------------------------------------------------- */

static double largest(size_t n, const double *x)
{
    double most = 0;
    for (size_t k = 0; k < n; k++)
        most = fmax(most, fabs(x[k]));
    return most;
}

static void same_value(const char *what, double seen, double wanted, double tolerance)
{
    if (!(fabs(seen - wanted) <= tolerance * fabs(wanted)))
        fail_msg("%s: %.17g, not %.17g (%.2g)", what, seen, wanted, seen / wanted - 1);
}

static void same_gradient(const char *what, size_t n, const double *seen, const double *wanted, double tolerance)
{
    const double scale = largest(n, wanted);
    for (size_t k = 0; k < n; k++)
        if (!(fabs(seen[k] - wanted[k]) <= tolerance * scale))
            fail_msg("%s: gradient[%zu] %.17g, not %.17g (%.2g)", what, k, seen[k], wanted[k],
                     (seen[k] - wanted[k]) / scale);
}

/* --- tests ---------------------------------------------------------------------------------------------- */

static void every_data_term_has_its_value_and_gradient(void **state)
{
    (void)state;
    static const char *const point[] = {"init", "rand"};
    struct fit_inputs in = image_inputs(NULL);
    put_data(&in);
    struct fit_bound *b = bind(&in);
    for (int k = 0; k < NTERM; k++)
        for (int i = 0; i < 2; i++) {
            const char *what = path_of("/dataterms/%s/%s", terms[k].name, point[i]);
            double gradient[N];
            only(b, terms[k].name, 1);
            must(fit_bound_hyper(b, "log_transform", 1, &err));
            /* camp at init has a visibility that is rounding alone */
            const int null = strcmp(terms[k].name, "camp") == 0 && i == 0;
            fit_bound_value(b, read_array(path_of("/grid/x_%s", point[i]), NULL), gradient);
            same_value(what, b->term[fit_bound_term(b, terms[k].name)],
                       read_number(path_of("/dataterms/%s/value_%s", terms[k].name, point[i])), null ? 1e-9 : 1e-12);
            same_gradient(what, N, gradient,
                          read_array(path_of("/dataterms/%s/grad_x_%s", terms[k].name, point[i]), NULL),
                          null ? 1e-8 : 1e-10);
            must(fit_bound_hyper(b, "log_transform", 0, &err));
            fit_bound_value(b, read_array(path_of("/grid/I_%s", point[i]), NULL), gradient);
            same_gradient(what, N, gradient,
                          read_array(path_of("/dataterms/%s/grad_I_%s", terms[k].name, point[i]), NULL),
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
        read_array(fit_h5_exists(h, exact) ? exact : path_of("%s/grad_I_%s_%s", group, which, point), NULL);
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
        struct fit_bound *b = bind(&in);
        must(fit_bound_hyper(b, "log_transform", 0, &err));
        for (size_t k = 0; k < sizeof name / sizeof *name; k++)
            for (int norm = 0; norm < 2; norm++)
                for (int e = 0; e < 2; e++) {
                    const char *group = path_of("/regularizers/%s/norm%d_eps%s", name[k], norm, eps[e]);
                    if (!fit_h5_exists(h, group))
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
    struct fit_bound *b = bind(&in);
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
    static const int workers[] = {1, 2, 3, 4, 7, 16};
    static const size_t cut[] = {0, 1, 3, 1000};
    const double *x = read_array("/grid/x_rand", NULL);
    struct fit_inputs in = image_inputs(NULL);
    put_data(&in);
    struct fit_bound *b = bind(&in);
    for (int objective = 'A'; objective <= 'D'; objective++) {
        double gradient[2][N], value, term[2][64];
        use(b, (char[]){(char)objective, 0});
        for (size_t w = 0; w < sizeof workers / sizeof *workers; w++)
            for (size_t c = 0; c < sizeof cut / sizeof *cut; c++) {
                const int first = w == 0 && c == 0;
                b->threads = workers[w];
                b->cut = cut[c];
                const double seen = fit_bound_value(b, x, gradient[!first]);
                memcpy(term[!first], b->term, b->o->nterm * sizeof **term);
                if (first)
                    value = seen;
                assert_memory_equal(&seen, &value, sizeof value);
                assert_memory_equal(gradient[!first], gradient[0], sizeof *gradient);
                assert_memory_equal(term[!first], term[0], b->o->nterm * sizeof **term);
            }
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
    b = bind(&in);
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
