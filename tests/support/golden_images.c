/* golden_images.c -- see golden_images.h. */
#include "golden_images.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/sums.h"
#include "machine/cpu.h"
#include "observation/grid.h"

#define GOLDEN FIT_SOURCE_DIR "/tests/data/imaging/golden_eht.h5"

enum { MOST_PATH = 200 };
static const double PI = 3.14159265358979323846;

struct fit_h5 *golden;
struct fit_error err;

/* What the inputs point to. */
struct fit_arena arena;
double pixel, flux, beam, degree;

void must(enum fit_status s)
{
    if (s != FIT_OK)
        fail_msg("%s", err.message);
}

double *read_array(const char *path, size_t *n)
{
    size_t ignored;
    double *x = NULL;
    must(fit_h5_read_doubles(golden, path, &x, n ? n : &ignored, &err));
    double *copy = fit_take_copy(&arena, x, n ? *n : ignored, sizeof *x);
    free(x);
    assert_non_null(copy);
    return copy;
}

double read_number(const char *path)
{
    double x;
    must(fit_h5_read_scalar(golden, path, &x, &err));
    return x;
}

double read_attribute(const char *path, const char *name)
{
    double *x = NULL;
    size_t n;
    must(fit_h5_read_attr_doubles(golden, path, name, &x, &n, &err));
    const double value = x[0];
    free(x);
    return value;
}

const char *path_of(const char *format, ...)
{
    char text[MOST_PATH];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return fit_arena_string(&arena, text);
}

/* FIT_TEST_DEVICE=plain, opencl:0: objectives are evaluated there.  77: there is no such device. */
static struct fit_device *device;

static void open_device(void)
{
    const char *word = getenv("FIT_TEST_DEVICE");
    char note[400];
    if (!word)
        return;
    fit_device_offer(fit_gpu_sources, NULL);
    if (fit_device_open(word, &device, note, sizeof note, &err) != FIT_OK) {
        printf("skipped: %s\n", err.message);
        exit(77);
    }
    fit_device_use(device);
}

/* All evaluations were made there. */
static int close_device(void)
{
    if (!device)
        return 0;
    const struct fit_device_tally t = fit_device_tally(device);
    printf("%s: %zu evaluations in %zu launches%s%s\n", fit_device_about(device)->word, t.calls, t.launches,
           t.why[0] ? ": " : "", t.why);
    fit_device_close(device);
    return t.calls == 0 || t.why[0] != 0;
}

int open_golden(void **state)
{
    (void)state;
    open_device();
    must(fit_h5_open(GOLDEN, &golden, &err));
    pixel = read_attribute("/grid", "psize");
    flux = read_attribute("/grid", "flux");
    beam = read_attribute("/grid", "beam_size");
    degree = read_attribute("/grid", "DEGREE");
    return 0;
}

int close_golden(void **state)
{
    (void)state;
    fit_h5_close(golden);
    fit_arena_free(&arena);
    return close_device();
}

void put_axis(struct fit_inputs *in, const char *name, size_t n)
{
    fit_inputs_put(in, (struct fit_input){.name = name, .kind = FIT_INPUT_AXIS, .n = n, .nx = NX, .ny = NY});
}

void put_array(struct fit_inputs *in, const char *name, size_t n, const double *x)
{
    fit_inputs_put(in, (struct fit_input){.name = name, .kind = FIT_INPUT_ARRAY, .n = n, .array = x});
}

void put_number(struct fit_inputs *in, const char *name, double x)
{
    fit_inputs_put(in, (struct fit_input){.name = name, .kind = FIT_INPUT_NUMBER, .value = x});
}

double *doubles(size_t n)
{
    double *x = fit_take(&arena, n, sizeof *x);
    assert_non_null(x);
    return x;
}

struct fit_inputs image_inputs(const unsigned char *mask)
{
    struct fit_inputs in = {.n = 0};
    unsigned char all[N];
    double *array[6], *floor_unit = doubles(N);
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
    memset(all, 1, N);
    fit_random_floor(N, mask ? mask : all, 1, floor_unit);
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

void put_factors(struct fit_inputs *in, const char *name, size_t n, const double *u, const double *v)
{
    double *f[4];
    for (int k = 0; k < 4; k++)
        f[k] = doubles(n * NX);
    factor(n, u, NX, f[0], f[1]);
    factor(n, v, NY, f[2], f[3]);
    fit_inputs_put(in, (struct fit_input){.name = name,
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
const struct fit_functional *functional(void)
{
    size_t k = 0;
    while (!fit_cpu_supports(fit_functionals[k]->isa))
        k++;
    return fit_functionals[k];
}

struct fit_bound *bind_objective(struct fit_inputs *in)
{
    struct fit_bound *b;
    must(fit_bound_new(functional(), in, &b, &err));
    fit_inputs_free(in);
    return b;
}

void only(struct fit_bound *b, const char *term, double weight)
{
    b->on = 0;
    must(fit_bound_weight(b, term, weight, &err));
}

double largest(size_t n, const double *x)
{
    double most = 0;
    for (size_t k = 0; k < n; k++)
        most = fmax(most, fabs(x[k]));
    return most;
}

void same_value(const char *what, double seen, double wanted, double tolerance)
{
    if (!(fabs(seen - wanted) <= tolerance * fabs(wanted)))
        fail_msg("%s: %.17g, not %.17g (%.2g)", what, seen, wanted, seen / wanted - 1);
}

void same_gradient(const char *what, size_t n, const double *seen, const double *wanted, double tolerance)
{
    const double scale = largest(n, wanted);
    for (size_t k = 0; k < n; k++)
        if (!(fabs(seen[k] - wanted[k]) <= tolerance * scale))
            fail_msg("%s: gradient[%zu] %.17g, not %.17g (%.2g)", what, k, seen[k], wanted[k],
                     (seen[k] - wanted[k]) / scale);
}

void same_bits_for_any_threads(struct fit_bound *b, const double *x)
{
    static const size_t cut[] = {0, 1, 3, 1000};
    const size_t n = fit_bound_unknowns(b), nterm = b->o->nterm;
    double *gradient[2] = {doubles(n), doubles(n)}, *term[2] = {doubles(nterm), doubles(nterm)}, value = 0;
    static const int workers[] = {1, 2, 3, 4, 7, 16};
    for (size_t k = 0; k < sizeof workers / sizeof *workers; k++)
        for (size_t c = 0; c < sizeof cut / sizeof *cut; c++) {
            const int first = k == 0 && c == 0;
            b->threads = workers[k];
            b->cut = cut[c];
            const double seen = fit_bound_value(b, x, gradient[!first]);
            memcpy(term[!first], b->term, nterm * sizeof(double));
            value = first ? seen : value;
            assert_memory_equal(&seen, &value, sizeof value);
            assert_memory_equal(gradient[!first], gradient[0], n * sizeof(double));
            assert_memory_equal(term[!first], term[0], nterm * sizeof(double));
        }
    b->cut = 0;
    b->threads = 1;
}

void same_as_differences(const char *what, struct fit_bound *b, const double *x, double h, double tolerance)
{
    static const double weight[] = {45.0 / 60, -9.0 / 60, 1.0 / 60};
    enum { PLACES = 25 };
    const size_t n = fit_bound_unknowns(b);
    double *moved = doubles(n), *gradient = doubles(n);
    memcpy(moved, x, n * sizeof *x);
    fit_bound_value(b, x, gradient);
    const double scale = largest(n, gradient);
    for (size_t j = 0; j < PLACES; j++) {
        const size_t k = (j * n + n / 2) / PLACES;
        double sum = 0;
        for (int i = 1; i <= 3; i++) {
            moved[k] = x[k] + i * h;
            sum += weight[i - 1] * fit_bound_value(b, moved, NULL);
            moved[k] = x[k] - i * h;
            sum -= weight[i - 1] * fit_bound_value(b, moved, NULL);
        }
        moved[k] = x[k];
        if (!(fabs(sum / h - gradient[k]) <= tolerance * scale))
            fail_msg("%s: gradient[%zu] %.12g, differences %.12g", what, k, gradient[k], sum / h);
    }
}

/* --- data terms ------------------------------------------------------------------------------------------- */

static const struct data_term {
    const char *name;
    int legs, complex, degrees, diagonal;
} terms[] = {{"vis", 1, 1, 0, 0},  {"amp", 1, 0, 0, 0},     {"logamp", 1, 0, 0, 0},
             {"bs", 3, 1, 0, 0},   {"cphase", 3, 0, 1, 0},  {"cphase_diag", 3, 0, 1, 1},
             {"camp", 4, 0, 0, 0}, {"logcamp", 4, 0, 0, 0}, {"logcamp_diag", 4, 0, 0, 1}};
const char *const data_term[NDATA_TERM] = {"vis",    "amp",  "logamp",  "bs",          "cphase",
                                           "cphase_diag", "camp", "logcamp", "logcamp_diag"};

/* Data and weights of a term; its legs are points `first`, first + 1, ... of the uv plane. */
static size_t put_term(struct fit_inputs *in, const struct data_term *t, size_t first)
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
void put_data(struct fit_inputs *in)
{
    double *u = NULL, *v = NULL;
    size_t n = 0;
    for (int k = 0; k < NDATA_TERM; k++) {
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
    put_factors(in, "z", n, u, v);
}
