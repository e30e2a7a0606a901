/* test_stream.c -- values that stay in their file: the same tiles, to the last bit, as those of a
 * dataset in memory, for all ways of storing; and what happens when the file changes. */
#include "data/dataset_impl.h"
#include "hdf5/lzf.h"
#include "input/measurement.h"

#include <hdf5.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { N = 150, GROUPS = 3, LZF = 32000, SLOT = 40000 };

enum { Q_FIRST, Q_LAST, NEXUS };
enum { PLAIN, GZIP, GZIP_SHUFFLED, LZF_ONLY, LZF_SHUFFLED };
enum { FULL, UPPER, LOWER };

struct form {
    int layout, filter, half, flipped, single, holes, sigma, blank;
    size_t chunk; /* 0: contiguous */
};

static char file[64];
static struct fit_error err;

static const struct fit_axis axes[] = {{"phi", "deg", ""}};
static const struct fit_setting settings[] = {{"q", "1/angstrom", "", NAN, FIT_STATISTIC_NONE, 0}};
static const struct fit_kernel kernel = {.name = "toy",
                                         .naxis = 1,
                                         .axis = axes,
                                         .nsetting = 1,
                                         .setting = settings,
                                         .intercept = 0,
                                         .table_doubles = 4};

/* ---- files ----------------------------------------------------------------------------------- */

static double value(const struct form *f, size_t g, size_t i, size_t j)
{
    size_t a = i < j ? i : j, b = i < j ? j : i;
    if (f->holes && g == 1 && (a * 7 + b * 3) % 101 == 0)
        return NAN;
    if (f->blank && (a == 20 || b == 20))
        return 0;
    return 1 + 0.3 * exp(-(double)(b - a) / 30) + 0.01 * sin((double)(a * 131 + b * 17 + g * 5));
}

static size_t at(const struct form *f, size_t g, size_t i, size_t j)
{
    if (f->flipped)
        i = N - 1 - i;
    return f->layout == Q_LAST ? (i * N + j) * GROUPS + g : (g * N + i) * N + j;
}

/* Literals only: a valid stream. */
static size_t pack_lzf(const unsigned char *in, size_t n, unsigned char *out)
{
    size_t o = 0;
    for (size_t i = 0; i < n; i += 32) {
        size_t k = n - i < 32 ? n - i : 32;
        out[o++] = (unsigned char)(k - 1);
        memcpy(out + o, in + i, k);
        o += k;
    }
    return o;
}

/* The filter of lzf.c cannot write; this one can.  It is registered first. */
static size_t filter(unsigned flags, size_t nparam, const unsigned param[], size_t nbytes,
                     size_t *size, void **buf)
{
    size_t room = flags & H5Z_FLAG_REVERSE ? param[2] : 2 * nbytes, n = 0;
    unsigned char *out = H5allocate_memory(room, 0);
    assert_true(nparam > 2);
    if (!(flags & H5Z_FLAG_REVERSE))
        n = pack_lzf(*buf, nbytes, out);
    else if (fit_lzf_decode(*buf, nbytes, out, room, &n) != FIT_LZF_OK)
        n = 0;
    H5free_memory(*buf);
    *buf = out;
    *size = room;
    return n;
}

static void write_cube(hid_t h, const char *name, const struct form *f, const double *v)
{
    hsize_t dims[3] = {GROUPS, N, N}, part[3] = {f->layout == NEXUS ? 2 : 1, f->chunk, f->chunk};
    if (f->layout == Q_LAST) {
        dims[0] = N;
        dims[2] = GROUPS;
        part[0] = f->chunk;
        part[2] = 2;
    }
    hid_t space = H5Screate_simple(3, dims, NULL), made = H5Pcreate(H5P_DATASET_CREATE);
    hid_t links = H5Pcreate(H5P_LINK_CREATE);
    H5Pset_create_intermediate_group(links, 1);
    if (f->chunk)
        H5Pset_chunk(made, 3, part);
    if (f->chunk && (f->filter == GZIP_SHUFFLED || f->filter == LZF_SHUFFLED))
        H5Pset_shuffle(made);
    if (f->chunk && (f->filter == GZIP || f->filter == GZIP_SHUFFLED))
        H5Pset_deflate(made, 4);
    if (f->chunk && f->filter >= LZF_ONLY)
        H5Pset_filter(made, LZF, H5Z_FLAG_MANDATORY, 3,
                      (unsigned[]){4, 0x0105, (unsigned)(part[0] * part[1] * part[2]) *
                                                  (f->single ? 4 : 8)});
    hid_t id = H5Dcreate2(h, name, f->single ? H5T_IEEE_F32LE : H5T_IEEE_F64LE, space, links, made,
                          H5P_DEFAULT);
    assert_true(id >= 0);
    assert_true(H5Dwrite(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, v) >= 0);
    if (f->flipped) {
        hid_t text = H5Tcopy(H5T_C_S1), scalar = H5Screate(H5S_SCALAR);
        H5Tset_size(text, 10);
        hid_t a = H5Acreate2(id, "time_origin_location", text, scalar, H5P_DEFAULT, H5P_DEFAULT);
        H5Awrite(a, text, "lower_left");
        H5Aclose(a);
        H5Tclose(text);
        H5Sclose(scalar);
    }
    H5Dclose(id);
    H5Pclose(links);
    H5Pclose(made);
    H5Sclose(space);
}

static void write_list(hid_t h, const char *name, const double *v, hsize_t n)
{
    hid_t links = H5Pcreate(H5P_LINK_CREATE), space = H5Screate_simple(1, &n, NULL);
    H5Pset_create_intermediate_group(links, 1);
    hid_t id = H5Dcreate2(h, name, H5T_IEEE_F64LE, space, links, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, v);
    H5Dclose(id);
    H5Sclose(space);
    H5Pclose(links);
}

static void make_file(const struct form *f)
{
    const double q[GROUPS] = {0.01, 0.01, 0.01}, phi[GROUPS] = {0, 45, 90};
    double *v = calloc(GROUPS * N * N, sizeof *v), *e = calloc(GROUPS * N * N, sizeof *e);
    for (size_t g = 0; g < GROUPS; g++)
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++) {
                if ((f->half == UPPER && i > j) || (f->half == LOWER && i < j))
                    continue;
                v[at(f, g, i, j)] = value(f, g, i, j);
                e[at(f, g, i, j)] = 0.01 + 0.001 * (double)((i + j) % 5) + 0.002 * (double)g;
            }
    hid_t h = H5Fcreate(file, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(h >= 0);
    write_cube(h, f->layout == NEXUS ? "/entry/XPCS/twotime/two_time_corr_func" : "/c2", f, v);
    if (f->sigma)
        write_cube(h, "/sigma", f, e);
    write_list(h, f->layout == NEXUS ? "/entry/XPCS/instrument/masks/dynamic_q_list" : "/q", q, GROUPS);
    write_list(h, f->layout == NEXUS ? "/entry/XPCS/instrument/masks/dynamic_phi_list" : "/phi", phi,
               GROUPS);
    H5Fclose(h);
    free(v);
    free(e);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static void wish(struct fit_selection *sel)
{
    fit_selection_init(sel, file);
    sel->dt = 0.1;
    sel->dt_policy = FIT_DT_YAML;
}

static struct fit_measurement *load(const struct fit_selection *sel, int stream, size_t slot)
{
    struct fit_measurement *m;
    struct fit_selection s = *sel;
    s.stream = stream;
    s.slot_bytes = slot;
    if (fit_measurement_load(&s, &kernel, NULL, &m, &err) != FIT_OK)
        fail_msg("%s", err.message);
    return m;
}

static void same_tile(const struct fit_dataset *ds, const struct fit_tile *a, const struct fit_tile *b)
{
    size_t n = fit_tile_doubles(&ds->layout, a);
    assert_int_equal(a->i0, b->i0);
    assert_int_equal(a->i1, b->i1);
    assert_int_equal(a->j1, b->j1);
    assert_memory_equal(a->y, b->y, n * sizeof(double));
    assert_int_equal(a->w != NULL, b->w != NULL);
    if (a->w)
        assert_memory_equal(a->w, b->w, n * sizeof(double));
    assert_memory_equal(a->sum, b->sum, 3 * ds->layout.ngroup * sizeof(double));
}

static void same_passes(const struct fit_dataset *a, const struct fit_dataset *b)
{
    size_t n = fit_dataset_buffer(b);
    double *buffer = aligned_alloc(64, (n * sizeof(double) + 127) / 64 * 64);
    struct fit_tile own;
    for (int pass = 0; pass < 3; pass++) {
        fit_dataset_begin(b);
        for (size_t k = 0; k < (pass == 1 ? b->ntile / 2 : b->ntile); k++) /* one is given up */
            same_tile(a, &a->tile[k], fit_dataset_tile(b, k, buffer, &own));
        fit_dataset_end(b);
        same_tile(a, &a->tile[a->ntile / 2], fit_dataset_single(b, a->ntile / 2, buffer, &own));
    }
    free(buffer);
}

static void same_measurements(const struct fit_measurement *a, const struct fit_measurement *b)
{
    assert_int_equal(a->dataset->ntile, b->dataset->ntile);
    assert_int_equal(a->nmasked, b->nmasked);
    assert_int_equal(a->dataset->npoint, b->dataset->npoint);
    assert_int_equal(a->dataset->ndropped, b->dataset->ndropped);
    assert_int_equal(a->dataset->weighted, b->dataset->weighted);
    assert_memory_equal(a->dataset->reference, b->dataset->reference, GROUPS * sizeof(double));
    assert_int_equal(a->notes.n, b->notes.n);
    for (size_t i = 0; i < a->notes.n; i++)
        assert_string_equal(a->notes.text[i], b->notes.text[i]);
    same_passes(a->dataset, b->dataset);
    struct fit_dataset *x, *y;
    static const uint32_t pick[] = {0, 1, 3, 8, 9, 13};
    assert_int_equal(fit_dataset_coarse(a->dataset, 6, pick, &x, &err), FIT_OK);
    assert_int_equal(fit_dataset_coarse(b->dataset, 6, pick, &y, &err), FIT_OK);
    same_passes(x, y);
    fit_dataset_free(x);
    fit_dataset_free(y);
}

static void check(const struct form *f, const struct fit_selection *sel)
{
    make_file(f);
    struct fit_measurement *memory = load(sel, FIT_STREAM_OFF, 0);
    struct fit_measurement *blocks = load(sel, FIT_STREAM_OFF, SLOT);
    struct fit_measurement *stream = load(sel, FIT_STREAM_ON, SLOT);
    struct fit_measurement *usual = load(sel, FIT_STREAM_ON, 0); /* slots of the usual size */
    assert_false(fit_dataset_streamed(memory->dataset));
    assert_false(fit_dataset_streamed(blocks->dataset));
    assert_true(fit_dataset_streamed(stream->dataset));
    same_measurements(memory, blocks);
    same_measurements(memory, stream);
    same_measurements(memory, usual);
    fit_measurement_free(usual);
    fit_measurement_free(memory);
    fit_measurement_free(blocks);
    fit_measurement_free(stream);
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_all_ways_of_storing(void **state)
{
    (void)state;
    struct fit_selection sel;
    wish(&sel);
    for (int layout = Q_FIRST; layout <= NEXUS; layout++)
        for (int filter = PLAIN; filter <= LZF_SHUFFLED; filter++) {
            struct form f = {.layout = layout,
                             .filter = filter,
                             .half = (layout + filter) % 3, /* each with each layout */
                             .single = (layout + filter / 2) % 2,
                             .chunk = filter ? 40 : 0};
            f.flipped = layout == NEXUS && f.half != UPPER;
            check(&f, &sel);
        }
}

static void test_masks_holes_errors_window(void **state)
{
    static const double three[GROUPS] = {0.01, 0.02, 0.015};
    static const struct fit_frame_range mask[] = {{7, 9}, {60, 60}};
    (void)state;
    for (int k = 0; k < 8; k++) {
        struct fit_selection sel;
        wish(&sel);
        struct form f = {.holes = k & 1, .sigma = k & 2 ? 1 : 0, .blank = k & 4 ? 1 : 0, .single = 1};
        f.layout = k == 3 || k == 6 ? Q_LAST : Q_FIRST;
        f.half = k % 3;
        f.chunk = k == 5 ? 150 : 0;
        sel.first = 4;
        sel.last = 140;
        sel.nmask = 2;
        sel.mask = mask;
        check(&f, &sel);
        if (f.sigma)
            continue;
        sel.sigma = FIT_SIGMA_VALUE;
        sel.nsigma = GROUPS;
        sel.sigma_value = three;
        check(&f, &sel);
    }
}

static struct fit_measurement *load_plain(size_t chunk, int filter, size_t slot)
{
    struct form f = {.chunk = chunk, .filter = filter};
    struct fit_selection sel;
    wish(&sel);
    make_file(&f);
    return load(&sel, FIT_STREAM_ON, slot);
}

static void pass_fails(struct fit_measurement *m, const char *message)
{
    struct fit_dataset *thin;
    uint32_t pick[64];
    size_t n = 0;
    for (uint32_t k = 0; k < m->dataset->layout.nframe && n < 64; k += 2)
        pick[n++] = k;
    assert_int_equal(fit_dataset_coarse(m->dataset, n, pick, &thin, &err), FIT_ERR_DATA);
    assert_null(thin);
    if (!strstr(err.message, message) || !strstr(err.message, file))
        fail_msg("'%s' does not tell '%s'", err.message, message);
    assert_int_equal(fit_dataset_status(m->dataset, &err), FIT_ERR_DATA);
    fit_measurement_free(m);
}

static void test_changed_files_are_errors(void **state)
{
    (void)state;
    char other[80];
    for (int k = 0; k < 3; k++) { /* as they are, in chunks, in larger slots */
        size_t chunk = k == 1 ? 30 : 0, slot = k == 2 ? 0 : SLOT;
        int filter = k == 1 ? GZIP : PLAIN;
        struct fit_measurement *m = load_plain(chunk, filter, slot);
        assert_int_equal(truncate(file, 5000), 0);
        pass_fails(m, "was changed");
        m = load_plain(chunk, filter, slot);
        snprintf(other, sizeof other, "%s.new", file);
        FILE *o = fopen(other, "w");
        fputs("another", o);
        fclose(o);
        rename(other, file);
        pass_fails(m, "was changed");
        m = load_plain(chunk, filter, slot);
        unlink(file);
        pass_fails(m, "has disappeared");
    }
}

/* Cut in the middle of a pass, behind what was read ahead: the pass fails. */
static void test_a_file_that_is_cut_during_a_pass(void **state)
{
    (void)state;
    struct fit_measurement *m = load_plain(0, PLAIN, 4000);
    const struct fit_dataset *ds = m->dataset;
    double *buffer = aligned_alloc(64, (fit_dataset_buffer(ds) * sizeof(double) + 127) / 64 * 64);
    struct fit_tile own;
    size_t k = 0;
    fit_dataset_begin(ds);
    assert_non_null(fit_dataset_tile(ds, k++, buffer, &own));
    assert_int_equal(truncate(file, 5000), 0);
    while (k < ds->ntile && fit_dataset_tile(ds, k, buffer, &own))
        k++;
    assert_true(k < ds->ntile);
    fit_dataset_end(ds);
    assert_int_equal(fit_dataset_status(ds, &err), FIT_ERR_DATA);
    assert_non_null(strstr(err.message, "was changed"));
    free(buffer);
    fit_measurement_free(m);
}

/* A library has no handler of signals in the program that loads it. */
static void test_signals_are_left_alone(void **state)
{
    (void)state;
    static const int number[] = {SIGBUS, SIGSEGV, SIGINT, SIGTERM, SIGPIPE, SIGXCPU};
    enum { SIGNALS = sizeof number / sizeof *number };
    struct sigaction before[SIGNALS] = {0}, now = {0};
    for (int k = 0; k < SIGNALS; k++)
        assert_int_equal(sigaction(number[k], NULL, &before[k]), 0);
    struct fit_measurement *m = load_plain(0, PLAIN, 0);
    for (int k = 0; k < SIGNALS; k++) {
        assert_int_equal(sigaction(number[k], NULL, &now), 0);
        assert_int_equal(now.sa_flags, before[k].sa_flags);
        assert_true(now.sa_handler == before[k].sa_handler);
    }
    fit_measurement_free(m);
}

static void test_what_cannot_be_streamed_says_so(void **state)
{
    (void)state;
    struct fit_selection sel;
    struct fit_measurement *m;
    fit_selection_init(&sel, FIT_SOURCE_DIR "/tests/data/homodyne.npz");
    sel.stream = FIT_STREAM_ON;
    assert_int_equal(fit_measurement_load(&sel, &kernel, NULL, &m, &err), FIT_ERR_DATA);
    assert_non_null(strstr(err.message, "cannot be streamed: it is no HDF5 file"));
}

static void test_a_small_limit_leads_to_streaming(void **state)
{
    (void)state;
    struct form f = {.single = 1};
    struct fit_selection sel;
    wish(&sel);
    make_file(&f);
    sel.memory = 1000;
    struct fit_measurement *m = load(&sel, FIT_STREAM_AUTO, SLOT);
    assert_true(fit_dataset_streamed(m->dataset));
    fit_measurement_free(m);
    sel.memory = 1000000000;
    m = load(&sel, FIT_STREAM_AUTO, SLOT);
    assert_false(fit_dataset_streamed(m->dataset));
    fit_measurement_free(m);
}

int main(void)
{
    static const H5Z_class2_t lzf = {H5Z_CLASS_T_VERS, LZF, 1, 1, "lzf", NULL, NULL, filter};
    H5Zregister(&lzf);
    snprintf(file, sizeof file, "test_stream.%ld.h5", (long)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_ways_of_storing),
        cmocka_unit_test(test_masks_holes_errors_window),
        cmocka_unit_test(test_changed_files_are_errors),
        cmocka_unit_test(test_a_file_that_is_cut_during_a_pass),
        cmocka_unit_test(test_signals_are_left_alone),
        cmocka_unit_test(test_what_cannot_be_streamed_says_so),
        cmocka_unit_test(test_a_small_limit_leads_to_streaming),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(file);
    return failed;
}
