/* test_source.c -- layouts, labels, halves, selection, blank frames, time: from data file to
 * dataset.
 *
 * Files in tests/data were written by h5py and numpy (make_samples.py there); the others are made
 * here.
 */
#include "hdf5/h5_writer.h"
#include "hdf5/reader.h"
#include "input/measurement.h"
#include "shared.h"
#include "input/source.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define DATA FIT_SOURCE_DIR "/tests/data/"
enum { N = 16 }; /* frames of the files in tests/data */

static char file[64];
static struct fit_error err;

static const struct fit_axis axes[] = {{"phi", "deg", ""}};
static const struct fit_setting settings[] = {{"q", "1/angstrom", "", NAN, FIT_STATISTIC_NONE, 0}};
static const struct fit_kernel kernel = {.name = "toy",
                                         .naxis = 1,
                                         .axis = axes,
                                         .nsetting = 1,
                                         .setting = settings,
                                         .intercept = -1,
                                         .table_doubles = 4};

/* The values of make_samples.py, rounded to float where the file does so. */
static double value(size_t k, size_t i, size_t j)
{
    size_t a = i < j ? i : j, b = i < j ? j : i;
    return 1 + (double)k / 8 + (double)a / 256 + (double)b / 4096;
}

static struct fit_source *open_ok(const char *name, const char *layout)
{
    struct fit_source *s;
    if (fit_source_open(name, &(struct fit_source_wish){.layout = layout}, &s, &err) != FIT_OK)
        fail_msg("%s", err.message);
    return s;
}

static void check_matrix(struct fit_source *s, size_t k, size_t expected)
{
    double m[N * N];
    assert_int_equal(s->nframe, N);
    if (fit_source_read(s, k, m, &err) != FIT_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            assert_true(fabs(m[i * N + j] - value(expected, i, j)) < 1e-12);
}

static struct fit_measurement *load_ok(const struct fit_selection *sel)
{
    struct fit_measurement *m;
    if (fit_measurement_load(sel, &kernel, NULL, &m, &err) != FIT_OK)
        fail_msg("%s", err.message);
    return m;
}

static enum fit_status write_scalar(struct fit_h5 *h, const char *path, double value)
{
    return fit_h5_write(h, path, &(struct fit_h5_array){.type = FIT_H5_F64, .value = &value}, &err);
}

static void load_bad(const struct fit_selection *sel, enum fit_status st, const char *message)
{
    struct fit_measurement *m;
    enum fit_status got = fit_measurement_load(sel, &kernel, NULL, &m, &err);
    if (got != st)
        fail_msg("status %d instead of %d: %s", got, st, err.message);
    assert_null(m);
    if (!strstr(err.message, message))
        fail_msg("'%s' does not tell '%s'", err.message, message);
}

static int has_note(const struct fit_measurement *m, const char *text)
{
    for (size_t i = 0; i < m->notes.n; i++)
        if (strstr(m->notes.text[i], text))
            return 1;
    return 0;
}

/* Value of element (i, j) of group g in the dataset; i, j index used frames. */
static double stored(const struct fit_dataset *ds, size_t i, size_t j, size_t g, double *w)
{
    for (size_t k = 0; k < ds->ntile; k++) {
        const struct fit_tile *t = &ds->tile[k];
        if (i < t->i0 || i >= t->i1 || j < t->j0 || j >= t->j1)
            continue;
        size_t at = fit_tile_offset(&ds->layout, t, i, j, g);
        *w = t->w ? t->w[at] : 1;
        return t->y[at] + ds->reference[g];
    }
    fail();
    return 0;
}

/* ---- files of other writers ------------------------------------------------------------------ */

static void test_aps_u_with_masked_sectors(void **state)
{
    (void)state;
    struct fit_source *s = open_ok(DATA "aps_u_lzf.h5", NULL);
    /* bins 1 2 3 5 8 9 10 lie in cells 0 1 3 6 9 10 11 of 3 x 4 */
    static const double q[] = {0.003, 0.003, 0.003, 0.005, 0.008, 0.008, 0.008};
    static const double phi[] = {-45, 0, 90, 45, 0, 45, 90};
    assert_string_equal(s->layout, "aps_u");
    assert_int_equal(s->nmatrix, 7);
    for (size_t k = 0; k < 7; k++) {
        assert_true(s->matrix[k].q == q[k] && s->matrix[k].phi == phi[k]);
        check_matrix(s, k, k);
    }
    assert_int_equal(s->matrix[3].bin, 5);
    assert_string_equal(s->matrix[3].key, "c2_00004");
    assert_true(fabs(s->dt - 0.003) < 1e-9); /* 0.0005 (float32, (1,1)) x 2 x 3 */
    assert_non_null(strstr(s->notes.text[0], "masked"));
    fit_source_close(s);
}

static void test_aps_legacy_takes_bins_from_names(void **state)
{
    (void)state;
    struct fit_source *s = open_ok(DATA "aps_legacy.h5", NULL);
    assert_string_equal(s->layout, "aps_legacy");
    assert_int_equal(s->nmatrix, 3); /* of /exchange1, not of /exchange */
    static const size_t bin[] = {4, 7, 12};
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(s->matrix[k].bin, bin[k]);
        assert_true(fabs(s->matrix[k].q - (0.002 + 0.001 * (double)((bin[k] - 1) / 5))) < 1e-15);
        assert_true(s->matrix[k].phi == 10.0 * (double)((bin[k] - 1) % 5));
        check_matrix(s, k, k);
    }
    assert_true(s->dt == 0.5);
    fit_source_close(s);
}

static void attribute(struct fit_h5 *h, const char *path, const char *name, const double *v, size_t n)
{
    const struct fit_h5_array a = {.type = FIT_H5_F64, .rank = n ? 1 : 0, .dims = &n, .value = v};
    assert_int_equal(fit_h5_write_attr(h, path, name, &a, NULL), FIT_OK);
}

/* Both are there: they say the same to a millionth, in whatever seconds they are told, or the user has to tell. */
static void test_aps_legacy_knows_the_period_once(void **state)
{
    (void)state;
    enum { FRAMES = 6 };
    static const struct {
        double period, exposure, stride, dt;
    } c[] = {
        {0.25, NAN, 2, 0.5},       {NAN, 0.125, 2, 0.25},      {NAN, NAN, 1, NAN},
        {0.25, 0.25, 2, 0.5},      {0.25, 0.125, 1, NAN},      {0.125, 0.25, 1, NAN},
        {0.05, 0.0500005, 1, NAN}, {0.05, 0.0499995, 1, NAN},  {0.05, 0.05000004, 1, 0.05},
        {200, 200.0001, 1, 200},   {200, 199.9999, 1, 200},    {200, 200.0005, 1, NAN},
    };
    const double bin[] = {0.004, 0.005};
    double matrix[FRAMES * FRAMES];
    const size_t dims[] = {FRAMES, FRAMES};
    for (size_t k = 0; k < FRAMES * FRAMES; k++)
        matrix[k] = 1;
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        struct fit_h5 *h;
        struct fit_source *s;
        const struct fit_h5_array a = {.type = FIT_H5_F64, .rank = 2, .dims = dims, .value = matrix};
        assert_int_equal(fit_h5_create("legacy_made.h5", &h, NULL), FIT_OK);
        assert_int_equal(fit_h5_write(h, "/exchange/C2T_all/g2_00002", &a, NULL), FIT_OK);
        fit_h5_write_doubles(h, "/xpcs/dqlist", bin, 2, NULL);
        fit_h5_write_doubles(h, "/xpcs/dphilist", bin, 2, NULL);
        write_scalar(h, "/xpcs/stride_frames", c[k].stride);
        if (!isnan(c[k].period))
            write_scalar(h, "/measurement/instrument/detector/exposure_period", c[k].period);
        if (!isnan(c[k].exposure))
            write_scalar(h, "/measurement/instrument/detector/exposure_time", c[k].exposure);
        assert_int_equal(fit_h5_finish(h, NULL), FIT_OK);
        if (fit_source_open("legacy_made.h5", NULL, &s, &err) != FIT_OK)
            fail_msg("%zu: %s", k, err.message);
        assert_string_equal(s->layout, "aps_legacy");
        if (isnan(c[k].dt) ? !isnan(s->dt) : !(fabs(s->dt - c[k].dt) <= 1e-12 * c[k].dt))
            fail_msg("%zu: dt %.17g (%s)", k, s->dt, s->dt_text);
        const int differ = isnan(c[k].dt) && !isnan(c[k].period);
        assert_int_equal(s->notes.n, differ);
        if (differ)
            assert_non_null(strstr(s->notes.text[0], "must come from the configuration"));
        fit_source_close(s);
        remove("legacy_made.h5");
    }
}

/* pyCHX: what the second number of a bin is, and how long a frame of g12b is; NaN: not told. */
static void test_chx_geometry_and_binned_frames(void **state)
{
    (void)state;
    enum { FRAMES = 12, M = 2 };
    static const struct {
        double second[M], bins, lags; /* of md; step of taus2 */
        const char *unit, *geometry;
        double phi, dt;
        const char *says;
    } c[] = {{{0, 45}, NAN, NAN, NULL, NULL, 45, 0.1, NULL},
             {{0.021, 0.05}, NAN, NAN, NULL, NULL, NAN, 0.1, "qz"},
             {{1.2, 1.4}, NAN, NAN, NULL, "gi_saxs", NAN, 0.1, "qz"},
             {{0.25, 0.5}, NAN, NAN, NULL, "ang_saxs", 0.5, 0.1, NULL},
             {{0, 45}, 4, NAN, NULL, NULL, 45, 0.4, NULL},
             {{0, 45}, 4, 0.4, NULL, NULL, 45, 0.4, NULL},
             {{0, 45}, 4, 400, "ms", NULL, 45, 0.4, NULL},
             {{0, 45}, NAN, 0.4, NULL, NULL, 45, 0.4, NULL},
             {{0, 45}, 4, 0.1, NULL, NULL, 45, NAN, "--dt"},
             {{0, 45}, NAN, 0.13, NULL, NULL, 45, NAN, "--dt"}};
    double g[FRAMES * FRAMES * M], lag[FRAMES];
    for (size_t k = 0; k < FRAMES * FRAMES * M; k++)
        g[k] = 1.1 + 0.01 * sin(0.1 * (double)(k / M % FRAMES + k / M / FRAMES));
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        struct fit_h5 *h;
        struct fit_source *s;
        const size_t dims[] = {FRAMES, FRAMES, M};
        const struct fit_h5_array a = {.type = FIT_H5_F64, .rank = 3, .dims = dims, .value = g};
        assert_int_equal(fit_h5_create("chx_made.h5", &h, NULL), FIT_OK);
        assert_int_equal(fit_h5_write(h, "/g12b", &a, NULL), FIT_OK);
        write_scalar(h, "/qval_dict", 1);
        write_scalar(h, "/md", 1);
        for (size_t m = 0; m < M; m++)
            attribute(h, "/qval_dict", m ? "1" : "0", (const double[]){0.004, c[k].second[m]}, 2);
        attribute(h, "/md", "acquire period", (const double[]){0.1}, 0);
        if (c[k].bins > 0)
            attribute(h, "/md", "bin_frame_number", &c[k].bins, 0);
        if (c[k].geometry)
            fit_h5_write_attr_string(h, "/md", "scat_geometry", c[k].geometry, NULL);
        for (size_t i = 0; i < FRAMES; i++)
            lag[i] = c[k].lags * (double)i;
        if (c[k].lags > 0)
            fit_h5_write_doubles(h, "/taus2", lag, FRAMES, NULL);
        if (c[k].unit)
            fit_h5_write_attr_string(h, "/taus2", "units", c[k].unit, NULL);
        assert_int_equal(fit_h5_finish(h, NULL), FIT_OK);
        if (fit_source_open("chx_made.h5", NULL, &s, &err) != FIT_OK)
            fail_msg("%zu: %s", k, err.message);
        if (isnan(c[k].phi) ? !isnan(s->matrix[1].phi) : fabs(s->matrix[1].phi - c[k].phi) > 1e-12)
            fail_msg("%zu: phi %g", k, s->matrix[1].phi);
        if (isnan(c[k].dt) ? !isnan(s->dt) : fabs(s->dt - c[k].dt) > 1e-12)
            fail_msg("%zu: dt %g (%s)", k, s->dt, s->dt_text);
        assert_int_equal(s->notes.ndoubt, c[k].says != NULL);
        if (c[k].says)
            assert_non_null(strstr(s->notes.text[0], c[k].says));
        fit_source_close(s);
        remove("chx_made.h5");
    }
}

static void test_chx_nexus_and_caches(void **state)
{
    (void)state;
    static const char *const name[] = {"chx.h5", "nxxpcs.h5", "homodyne.npz", "heterodyne.npz"};
    static const char *const layout[] = {"chx", "nxxpcs", "homodyne_npz", "heterodyne_npz"};
    for (size_t f = 0; f < 4; f++) {
        char path[1200];
        snprintf(path, sizeof path, DATA "%s", name[f]);
        struct fit_source *s = open_ok(path, NULL);
        assert_string_equal(s->layout, layout[f]);
        assert_int_equal(s->nmatrix, f == 1 ? 2 : 3);
        for (size_t k = s->nmatrix; k-- > 0;)
            check_matrix(s, k, k);
        assert_true(s->matrix[1].phi == (f == 0 ? 30 : f == 1 ? 90 : 45));
        assert_true(s->matrix[1].q == (f == 0 ? 0.004 : f == 1 ? 0.01 : 0.0054));
        if (f == 1)
            assert_true(isnan(s->dt));
        else
            assert_true(s->dt == (f == 0 ? 0.01 : 0.5));
        assert_int_equal(s->first_frame, f == 2 ? 11 : 1);
        fit_source_close(s);
        assert_int_equal(fit_source_open(path, &(struct fit_source_wish){.layout = layout[(f + 1) % 4]}, &s, &err),
                         FIT_ERR_DATA);
        assert_int_equal(fit_source_open(path, &(struct fit_source_wish){.layout = "aps-9"}, &s, &err), FIT_ERR_CONFIG);
    }
}

static void test_data_folder_is_left_as_it_is(void **state)
{
    (void)state;
    struct stat before, after;
    struct fit_selection sel;
    fit_selection_init(&sel, DATA "aps_u_lzf.h5");
    sel.q = 0.008;
    assert_int_equal(stat(DATA, &before), 0);
    fit_measurement_free(load_ok(&sel));
    assert_int_equal(stat(DATA, &after), 0);
    assert_true(before.st_mtime == after.st_mtime && before.st_nlink == after.st_nlink);
}

/* ---- files made here ------------------------------------------------------------------------- */

enum form { UPPER, LOWER, FULL, ODD };

struct recipe {
    size_t n, nmatrix;
    enum form form;
    int short_names;       /* c2_1 instead of c2_00001 */
    const double *bin;     /* processed_bins; NULL: 1, 2, ... */
    size_t nbin;           /* 0: nmatrix */
    const double *mapping; /* dynamic_index_mapping or NULL */
    size_t nmapping;
    const char *map_names[2];
    double frame_time;           /* 0: none */
    const double *time;          /* n, or NULL */
    size_t blank_from, blank_to; /* frames with zero rows: [from, to) */
    size_t nan_i, nan_j;         /* a NaN in matrix 0; 0, 0: none */
    int all_nan, constant;
    int g2; /* 1 write normalized_g2; 2 with columns exchanged */
    int deflate, single;
};

static double entry(const struct recipe *r, size_t k, size_t i, size_t j)
{
    int blank = (i >= r->blank_from && i < r->blank_to) || (j >= r->blank_from && j < r->blank_to);
    if (r->constant)
        return 1;
    if (k == 0 && r->nan_j &&
        ((i == r->nan_i && j == r->nan_j) || (i == r->nan_j && j == r->nan_i)))
        return NAN;
    return r->all_nan && k == 1 ? NAN : blank ? 0 : value(k, i, j);
}

static void write_matrix(struct fit_h5 *h, const struct recipe *r, size_t k, double *g2)
{
    char key[40], path[100];
    size_t n = r->n, dims[2] = {n, n};
    double *m = calloc(n * n, sizeof *m);
    float *f = calloc(n * n, sizeof *f);
    snprintf(key, sizeof key, r->short_names ? "c2_%zu" : "c2_%05zu", k + 1);
    snprintf(path, sizeof path, "/xpcs/twotime/correlation_map/%s", key);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            int keep = r->form == FULL || r->form == ODD || (r->form == UPPER ? j >= i : j <= i);
            m[i * n + j] = keep ? entry(r, k, i, j) : 0;
            if (r->form == ODD && i == 0 && j == n - 1)
                m[j] += 0.01;
            f[i * n + j] = (float)m[i * n + j];
            if (j >= i)
                g2[(j - i) * r->nmatrix + k] += entry(r, k, i, j) / (double)(n - (j - i));
        }
    assert_int_equal(
        fit_h5_write(h, path,
                     &(struct fit_h5_array){.type = r->single ? FIT_H5_F32 : FIT_H5_F64,
                                            .rank = 2,
                                            .dims = dims,
                                            .value = r->single ? (void *)f : (void *)m,
                                            .deflate = r->deflate},
                     &err),
        FIT_OK);
    free(m);
    free(f);
}

/* An APS-U file: q = 0.004, 0.006, ...; phi = 0, 30, 60; three azimuths per q. */
static void make(const struct recipe *r)
{
    struct fit_h5 *h;
    static const double q[] = {0.004, 0.006, 0.008, 0.01, 0.012}, phi[] = {0, 30, 60};
    double bins[16], *g2 = calloc(r->n * r->nmatrix, sizeof *g2);
    assert_int_equal(fit_h5_create(file, &h, &err), FIT_OK);
    for (size_t k = 0; k < 16; k++)
        bins[k] = r->bin && k < r->nmatrix ? r->bin[k] : (double)k + 1;
    fit_h5_write_doubles(h, "/xpcs/qmap/dynamic_v_list_dim0", q, 5, &err);
    fit_h5_write_doubles(h, "/xpcs/qmap/dynamic_v_list_dim1", phi, 3, &err);
    fit_h5_write_doubles(h, "/xpcs/twotime/processed_bins", bins, r->nbin ? r->nbin : r->nmatrix,
                         &err);
    if (r->mapping)
        fit_h5_write_doubles(h, "/xpcs/qmap/dynamic_index_mapping", r->mapping, r->nmapping, &err);
    if (r->map_names[0])
        fit_h5_write_strings(h, "/xpcs/qmap/map_names", r->map_names, 2, &err);
    if (r->frame_time > 0)
        write_scalar(h, "/entry/instrument/detector_1/frame_time", r->frame_time);
    if (r->time)
        fit_h5_write_doubles(h, "/xpcs/twotime/t", r->time, r->n, &err);
    for (size_t k = 0; k < r->nmatrix; k++)
        write_matrix(h, r, k, g2);
    if (r->g2 == 2)
        for (size_t lag = 0; lag < r->n; lag++) {
            double first = g2[lag * r->nmatrix];
            g2[lag * r->nmatrix] = g2[lag * r->nmatrix + 1];
            g2[lag * r->nmatrix + 1] = first;
        }
    if (r->g2)
        fit_h5_write(
            h, "/xpcs/twotime/normalized_g2",
            &(struct fit_h5_array){
                .type = FIT_H5_F64, .rank = 2, .dims = (size_t[]){r->n, r->nmatrix}, .value = g2},
            &err);
    assert_int_equal(fit_h5_finish(h, &err), FIT_OK);
    free(g2);
}

static void plain(struct fit_selection *sel)
{
    fit_selection_init(sel, file);
    sel->q = 0.004;
    sel->dt = 0.5;
}

static void test_halves_wholes_types_and_filters(void **state)
{
    (void)state;
    for (int form = UPPER; form <= FULL; form++)
        for (int variant = 0; variant < 4; variant++) {
            struct fit_selection sel;
            double w;
            make(&(struct recipe){.n = 40,
                                  .nmatrix = 3,
                                  .form = (enum form)form,
                                  .deflate = variant & 1,
                                  .single = variant >> 1,
                                  .g2 = 1});
            plain(&sel);
            struct fit_measurement *m = load_ok(&sel);
            assert_int_equal(m->ngroup, 3);
            assert_int_equal(m->dataset->npoint, 3 * 40 * 39 / 2);
            for (size_t i = 0; i < 40; i++)
                for (size_t j = i + 1; j < 40; j++)
                    assert_true(fabs(stored(m->dataset, i, j, 2, &w) - value(2, i, j)) < 1e-7);
            assert_true(m->dataset->layout.coord[0][1] == 30);
            assert_true(m->dataset->layout.setting[0] == 0.004);
            assert_true(m->time[0] == 0 && m->time[3] == 1.5);
            fit_measurement_free(m);
        }
}

static void test_neither_symmetric_nor_half(void **state)
{
    (void)state;
    struct fit_selection sel;
    make(&(struct recipe){.n = 40, .nmatrix = 3, .form = ODD});
    plain(&sel);
    load_bad(&sel, FIT_ERR_DATA, "neither symmetric nor one half");
}

static void test_labels_of_bins(void **state)
{
    (void)state;
    struct fit_selection sel;
    const double mixed[] = {9, 2, 1, 14, 3}, beyond[] = {1, 2, 16}, fraction[] = {1, 2.5, 3};
    const double short_map[] = {0, 1, 20};
    make(&(struct recipe){.n = 20, .nmatrix = 5, .bin = mixed});
    plain(&sel);
    struct fit_measurement *m = load_ok(&sel); /* bins 1, 2, 3 in the order of the file: 2, 1, 3 */
    assert_int_equal(m->ngroup, 3);
    assert_true(m->group[0].phi == 30 && m->group[1].phi == 0 && m->group[2].phi == 60);
    assert_int_equal(m->group[2].matrix, 4);
    assert_true(has_note(m, "bin n is taken for cell n - 1"));
    fit_measurement_free(m);
    make(&(struct recipe){.n = 20, .nmatrix = 3, .bin = beyond});
    load_bad(&sel, FIT_ERR_DATA, "bins go from 1 to 15");
    make(&(struct recipe){.n = 20, .nmatrix = 3, .bin = fraction});
    load_bad(&sel, FIT_ERR_DATA, "is 2.5");
    make(&(struct recipe){.n = 20, .nmatrix = 3, .mapping = short_map, .nmapping = 3});
    load_bad(&sel, FIT_ERR_DATA, "dynamic_index_mapping[2] is 20");
    make(&(struct recipe){.n = 20, .nmatrix = 3, .nbin = 2});
    load_bad(&sel, FIT_ERR_DATA, "2 bins");
    make(&(struct recipe){.n = 20, .nmatrix = 3, .map_names = {"x", "y"}});
    load_bad(&sel, FIT_ERR_DATA, "map_names are x, y");
    make(&(struct recipe){.n = 20, .nmatrix = 3, .map_names = {"q", "phi"}});
    fit_measurement_free(load_ok(&sel));
}

static void test_more_than_nine_matrices_keep_their_order(void **state)
{
    (void)state;
    make(&(struct recipe){.n = N, .nmatrix = 12, .form = FULL, .short_names = 1});
    struct fit_source *s = open_ok(file, NULL);
    assert_string_equal(s->matrix[1].key, "c2_2");
    assert_string_equal(s->matrix[11].key, "c2_12");
    check_matrix(s, 9, 9);
    fit_source_close(s);
}

static void test_self_check_of_the_mapping(void **state)
{
    (void)state;
    struct fit_selection sel;
    make(&(struct recipe){.n = 20, .nmatrix = 3, .g2 = 2});
    plain(&sel);
    load_bad(&sel, FIT_ERR_DATA, "bin mapping");
    assert_non_null(strstr(err.message, "column 2"));
}

static void test_choice_of_q(void **state)
{
    (void)state;
    struct fit_selection sel;
    make(&(struct recipe){.n = 20, .nmatrix = 9});
    plain(&sel);
    sel.q = 0.0061;
    struct fit_measurement *m = load_ok(&sel);
    assert_true(m->ngroup == 3 && m->group[0].q == 0.006 && m->group[0].bin == 4);
    assert_true(has_note(m, "nearest"));
    fit_measurement_free(m);
    sel.q = 0.0237;
    load_bad(&sel, FIT_ERR_DATA, "nearest q bin is 0.008 1/A, you asked for 0.0237");
    assert_non_null(strstr(err.message, "0.004 0.006 0.008"));
    sel.q = NAN;
    load_bad(&sel, FIT_ERR_DATA, "3 values of q");
    sel.q = 0.006;
    sel.q_rule =
        FIT_Q_HOMODYNE_OLD; /* fewer than five within 10 %: the ten nearest, here all nine */
    m = load_ok(&sel);
    assert_int_equal(m->ngroup, 9);
    fit_measurement_free(m);
}

static void test_choice_of_azimuths(void **state)
{
    (void)state;
    struct fit_selection sel;
    struct fit_measurement *m;
    const double list[] = {59, 0.5, 1}, far[] = {0, 45};
    const struct fit_angle_range wrap[] = {{.lower = 350, .upper = 370}},
                                 none[] = {{.lower = 80, .upper = 90}};
    make(&(struct recipe){.n = 20, .nmatrix = 6});
    plain(&sel);
    sel.list = list;
    sel.nlist = 3;
    m = load_ok(&sel);
    assert_true(m->ngroup == 2 && m->group[0].phi == 60 && m->group[1].phi == 0);
    assert_true(has_note(m, "already chosen"));
    fit_measurement_free(m);
    sel.list = far;
    sel.nlist = 2;
    load_bad(&sel, FIT_ERR_DATA, "no azimuth within 5 degrees of 45; there are 0 30 60");
    sel.nlist = 0;
    sel.range = wrap;
    sel.nrange = 1;
    m = load_ok(&sel);
    assert_true(m->ngroup == 1 && m->group[0].phi == 0);
    fit_measurement_free(m);
    sel.range = none;
    load_bad(&sel, FIT_ERR_DATA, "no azimuth lies in the ranges");
    sel.fallback_all = 1;
    m = load_ok(&sel);
    assert_int_equal(m->ngroup, 3);
    fit_measurement_free(m);
}

static void test_angles_wrap(void **state)
{
    (void)state;
    assert_true(fit_wrap_angle(370) == 10 && fit_wrap_angle(-190) == 170 &&
                fit_wrap_angle(180) == 180);
    assert_true(fit_wrap_angle(-180) == 180 && fit_wrap_angle(-540) == 180 &&
                fit_wrap_angle(0) == 0);
    assert_true(fit_angle_inside(5, -10, 10) && fit_angle_inside(365, -10, 10) &&
                !fit_angle_inside(11, -10, 10));
    assert_true(fit_angle_inside(-175, 170, -170) && fit_angle_inside(175, 170, 190));
    assert_true(!fit_angle_inside(0, 170, -170));
    assert_true(fit_angle_inside(33, 0, 360) && fit_angle_inside(33, -180, 180));
}

static void test_window_of_frames(void **state)
{
    (void)state;
    struct fit_selection sel;
    struct fit_measurement *m;
    double w;
    make(&(struct recipe){.n = 40, .nmatrix = 3});
    plain(&sel);
    sel.first = 11;
    sel.last = 20;
    m = load_ok(&sel);
    assert_true(m->ntime == 10 && m->nframe == 10 && m->first == 11 && m->last == 20);
    assert_true(fabs(stored(m->dataset, 2, 7, 1, &w) - value(1, 12, 17)) < 1e-12);
    assert_true(m->time[0] == 0);
    fit_measurement_free(m);
    sel.time_origin = FIT_TIME_FILE;
    m = load_ok(&sel);
    assert_true(m->time[0] == 5);
    fit_measurement_free(m);
    sel.last = 1000;
    m = load_ok(&sel);
    assert_true(m->last == 40 && has_note(m, "beyond"));
    fit_measurement_free(m);
    sel.first = 0;
    sel.last = 3;
    m = load_ok(&sel);
    assert_true(m->ntime == 3 && has_note(m, "taken as 1"));
    fit_measurement_free(m);
    sel.first = 30;
    sel.last = 20;
    load_bad(&sel, FIT_ERR_DATA, "frames 30..20");
    sel.first = 41;
    sel.last = -1;
    load_bad(&sel, FIT_ERR_DATA, "the file has 1..40");
    sel.first = 39;
    load_bad(&sel, FIT_ERR_DATA, "at least 3");
    fit_selection_init(&sel, DATA "homodyne.npz"); /* cut at frame 11 */
    sel.first = 13;
    sel.last = 17;
    m = load_ok(&sel);
    assert_true(m->ntime == 5 && fabs(stored(m->dataset, 0, 1, 0, &w) - value(0, 2, 3)) < 1e-12);
    fit_measurement_free(m);
}

static void test_small_and_single(void **state)
{
    (void)state;
    struct fit_selection sel;
    make(&(struct recipe){.n = 3, .nmatrix = 1, .bin = (const double[]){5}});
    plain(&sel);
    sel.q = NAN;
    struct fit_measurement *m = load_ok(&sel);
    assert_true(m->ngroup == 1 && m->group[0].phi == 30 && m->group[0].q == 0.006 &&
                m->dataset->npoint == 3);
    fit_measurement_free(m);
    make(&(struct recipe){.n = 2, .nmatrix = 1});
    load_bad(&sel, FIT_ERR_DATA, "2 x 2");
}

static void test_frame_period(void **state)
{
    (void)state;
    struct fit_selection sel;
    struct fit_measurement *m;
    make(&(struct recipe){.n = 20, .nmatrix = 3, .frame_time = 0.25});
    plain(&sel);
    load_bad(&sel, FIT_ERR_DATA,
             "frame_time x stride x avg = 0.25 x 1 x 1 s but the configuration says dt = 0.5");
    sel.dt_policy = FIT_DT_YAML;
    m = load_ok(&sel);
    assert_true(m->dt == 0.5 && m->dataset->layout.step == 0.5);
    fit_measurement_free(m);
    sel.dt_policy = FIT_DT_FILE;
    m = load_ok(&sel);
    assert_true(m->dt == 0.25 && has_note(m, "from the file"));
    fit_measurement_free(m);
    sel.dt_policy = FIT_DT_STRICT;
    sel.dt = 0.25 * (1 + 1e-8);
    fit_measurement_free(load_ok(&sel));
    sel.dt = NAN;
    fit_measurement_free(load_ok(&sel));
    make(&(struct recipe){.n = 20, .nmatrix = 3});
    load_bad(&sel, FIT_ERR_DATA, "set analyzer_parameters.dt in s (or --dt)");
    sel.dt = -1;
    load_bad(&sel, FIT_ERR_CONFIG, "positive");
}

static void test_time_axis(void **state)
{
    (void)state;
    struct fit_selection sel;
    double t[20];
    for (size_t i = 0; i < 20; i++)
        t[i] = 7 + 0.5 * (double)i;
    const struct recipe r = {.n = 20, .nmatrix = 3, .time = t};
    make(&r);
    plain(&sel);
    sel.dt = NAN;
    struct fit_measurement *m = load_ok(&sel);
    assert_true(fabs(m->dt - 0.5) < 1e-12 && m->time[0] == 0 && has_note(m, "its times begin at 7 s"));
    fit_measurement_free(m);
    sel.origin_given = 1;
    m = load_ok(&sel);
    assert_true(m->time[0] == 0 && !has_note(m, "its times begin"));
    fit_measurement_free(m);
    sel.origin_given = 0;
    t[5] = 8.9; /* before its neighbour */
    make(&r);
    load_bad(&sel, FIT_ERR_DATA, "times must increase");
    t[5] = t[4];
    make(&r);
    load_bad(&sel, FIT_ERR_DATA, "times must increase");
    t[5] = 9.1; /* uneven */
    make(&r);
    load_bad(&sel, FIT_ERR_DATA, "2 steps are not 0.5 s as the others; the first is that from frame 5 to 6, 0.1 s; "
                                 "frames must be equally spaced");
    for (size_t i = 5; i < 20; i++)
        t[i] = 8 + 0.5 * (double)i;
    make(&r);
    load_bad(&sel, FIT_ERR_DATA, "the step from frame 5 to 6 is 1.5 s, all others 0.5 s; frames must");
    sel.dt = 0.5;
    sel.dt_policy = FIT_DT_YAML;
    fit_measurement_free(load_ok(&sel));
    t[5] = NAN;
    make(&r);
    load_bad(&sel, FIT_ERR_DATA, "time of frame 6 is nan");
}

static void test_blank_frames_are_masked(void **state)
{
    (void)state;
    struct fit_selection sel;
    struct fit_measurement *m;
    double w;
    make(&(struct recipe){.n = 40, .nmatrix = 3, .blank_from = 10, .blank_to = 13, .g2 = 1});
    plain(&sel);
    m = load_ok(&sel);
    assert_true(m->nframe == 37 && m->nmasked == 3 && m->masked[0] == 11 && m->masked[2] == 13);
    assert_true(m->ntime == 40 && has_note(m, "frames left out: 11..13 (3, all blank)"));
    assert_int_equal(m->dataset->npoint, 3 * 37 * 36 / 2);
    assert_true(fabs(stored(m->dataset, 9, 10, 0, &w) - value(0, 9, 13)) < 1e-12);
    fit_measurement_free(m);
    const struct fit_frame_range mask[] = {{5, 6}, {11, 13}};
    sel.mask = mask;
    sel.nmask = 2;
    sel.exclude_t0 = 1;
    m = load_ok(&sel);
    assert_true(m->nframe == 34 && m->nmasked == 5 && m->t0_excluded && has_note(m, "5..6, 11..13 (5)"));
    assert_int_equal(m->dataset->layout.frame[0], 1);
    fit_measurement_free(m);
    sel.nmask = 0;
    make(&(struct recipe){.n = 40, .nmatrix = 3, .blank_from = 28, .blank_to = 40});
    load_bad(&sel, FIT_ERR_DATA, "12 of 40 frames are blank");
    assert_non_null(strstr(err.message, "29..40. Leave them out: --frames 1:28 or --mask 29:40"));
    sel.last = 28;
    fit_measurement_free(load_ok(&sel));
}

static void test_holes_and_constants(void **state)
{
    (void)state;
    struct fit_selection sel;
    struct fit_measurement *m;
    double w;
    make(&(struct recipe){.n = 40, .nmatrix = 3, .nan_i = 4, .nan_j = 9});
    plain(&sel);
    m = load_ok(&sel);
    assert_int_equal(m->dataset->ndropped, 1);
    stored(m->dataset, 4, 9, 0, &w);
    assert_true(w == 0);
    stored(m->dataset, 4, 9, 1, &w);
    assert_true(w == 1 && m->nmasked == 0 && has_note(m, "1 of"));
    fit_measurement_free(m);
    make(&(struct recipe){.n = 40, .nmatrix = 3, .all_nan = 1});
    load_bad(&sel, FIT_ERR_DATA, "40 of 40 frames are blank");
    assert_non_null(strstr(err.message, "c2_00002 (phi = 30)"));
    assert_non_null(strstr(err.message, "the whole matrix. Leave it out: --phi=0,60"));
    make(&(struct recipe){.n = 40, .nmatrix = 3, .constant = 1});
    load_bad(&sel, FIT_ERR_DATA, "holds one value everywhere");
}

static void test_errors_of_the_data(void **state)
{
    (void)state;
    struct fit_selection sel;
    struct fit_measurement *m;
    struct fit_h5 *h;
    char other[80];
    double w, one[20 * 20];
    const double each[] = {0.1, 0.2, 0.5}, same = 0.25, zero = 0;
    make(&(struct recipe){.n = 20, .nmatrix = 3});
    plain(&sel);
    sel.sigma = FIT_SIGMA_VALUE;
    sel.sigma_value = &same;
    sel.nsigma = 1;
    m = load_ok(&sel); /* the same everywhere: no weights need be held */
    assert_true(m->sigma_from == FIT_SIGMA_GIVEN && m->group[2].sigma == 0.25 &&
                !m->dataset->weighted);
    fit_measurement_free(m);
    sel.sigma_value = each;
    sel.nsigma = 3;
    m = load_ok(&sel);
    stored(m->dataset, 3, 5, 2, &w);
    assert_true(w == 4 && m->dataset->weighted);
    fit_measurement_free(m);
    sel.nsigma = 2;
    load_bad(&sel, FIT_ERR_CONFIG, "2 values for 3 groups of data");
    sel.sigma_value = &zero;
    sel.nsigma = 1;
    load_bad(&sel, FIT_ERR_CONFIG, "positive");
    snprintf(other, sizeof other, "sigma_%s", file);
    assert_int_equal(fit_h5_create(other, &h, &err), FIT_OK);
    for (size_t i = 0; i < 400; i++)
        one[i] = 0.5;
    fit_h5_write(h, "/errors",
                 &(struct fit_h5_array){
                     .type = FIT_H5_F64, .rank = 2, .dims = (size_t[]){20, 20}, .value = one},
                 &err);
    fit_h5_finish(h, &err);
    char where[120];
    snprintf(where, sizeof where, "%s:/errors", other);
    sel.sigma = FIT_SIGMA_FILE;
    sel.sigma_path = where;
    m = load_ok(&sel);
    stored(m->dataset, 3, 5, 2, &w);
    assert_true(w == 4 && m->sigma_from == FIT_SIGMA_ARRAY);
    fit_measurement_free(m);
    sel.sigma_path = other;
    load_bad(&sel, FIT_ERR_DATA, "/sigma");
    remove(other);
}

static void test_files_that_cannot_be_read(void **state)
{
    (void)state;
    struct fit_selection sel;
    struct fit_h5 *h;
    struct stat st;
    const double x[3] = {1, 2, 3};
    plain(&sel);
    sel.path = "/nonexistent.h5";
    load_bad(&sel, FIT_ERR_IO, "/nonexistent.h5: no such file");
    sel.path = file;
    FILE *f = fopen(file, "wb");
    fputs("hello, this is text", f);
    fclose(f);
    load_bad(&sel, FIT_ERR_DATA, "is text; two-time data are HDF5, npz or npy");
    f = fopen(file, "wb");
    fputs("\001\002\003 no text", f);
    fclose(f);
    load_bad(&sel, FIT_ERR_DATA, "neither HDF5 nor npz nor npy");
    assert_int_equal(fit_h5_create(file, &h, &err), FIT_OK);
    fit_h5_write_doubles(h, "/measurement/x", x, 3, &err);
    fit_h5_finish(h, &err);
    load_bad(&sel, FIT_ERR_DATA, "the file holds: measurement");
    assert_int_equal(fit_h5_create(file, &h, &err), FIT_OK);
    fit_h5_write(
        h, "/xpcs/multitau/normalized_g2",
        &(struct fit_h5_array){.type = FIT_H5_F64, .rank = 2, .dims = (size_t[]){1, 3}, .value = x},
        &err);
    fit_h5_finish(h, &err);
    load_bad(&sel, FIT_ERR_DATA, "multi-tau results only (/xpcs/multitau, 3 bins)");
    make(&(struct recipe){.n = 60, .nmatrix = 3, .form = FULL});
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(truncate(file, st.st_size / 2), 0);
    load_bad(&sel, FIT_ERR_IO, "complete");
    assert_int_equal(fit_h5_create(file, &h, &err), FIT_OK);
    fit_h5_write(
        h, "/c2",
        &(struct fit_h5_array){.type = FIT_H5_F64, .rank = 2, .dims = (size_t[]){1, 3}, .value = x},
        &err);
    fit_h5_finish(h, &err);
    load_bad(&sel, FIT_ERR_DATA, "/c2 is 1 x 3");
}

static void test_flat_files_and_exchange_groups(void **state)
{
    (void)state;
    double c2[2 * N * N], t[N], phi[2] = {0, 90};
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N; j++)
                c2[(k * N + i) * N + j] = value(k, i, j);
    for (size_t i = 0; i < N; i++)
        t[i] = 0.1 * (double)i;
    for (int exchange = 0; exchange < 2; exchange++) {
        struct fit_h5 *h;
        struct fit_selection sel;
        assert_int_equal(fit_h5_create(file, &h, &err), FIT_OK);
        fit_h5_write(h, exchange ? "/exchange/correlation" : "/c2",
                     &(struct fit_h5_array){
                         .type = FIT_H5_F64, .rank = 3, .dims = (size_t[]){2, N, N}, .value = c2},
                     &err);
        fit_h5_write_doubles(h, exchange ? "/exchange/t" : "/t", t, N, &err);
        fit_h5_write_doubles(h, exchange ? "/exchange/phi" : "/phi", phi, 2, &err);
        fit_h5_finish(h, &err);
        struct fit_source *s = open_ok(file, NULL);
        assert_string_equal(s->layout, exchange ? "exchange" : "flat");
        check_matrix(s, 1, 1);
        fit_source_close(s);
        plain(&sel);
        sel.dt = NAN;
        sel.q = 0.005; /* the file does not give q: the wish is taken */
        struct fit_measurement *m = load_ok(&sel);
        assert_true(m->setting[0] == 0.005 && m->group[1].phi == 90);
        fit_measurement_free(m);
        sel.q = NAN;
        load_bad(&sel, FIT_ERR_CONFIG, "does not give q; set");
    }
}

static void test_same_bits_in_every_load(void **state)
{
    (void)state;
    struct fit_selection sel;
    make(&(struct recipe){.n = 120, .nmatrix = 3});
    plain(&sel);
    struct fit_measurement *a = load_ok(&sel), *b = load_ok(&sel);
    assert_string_equal(a->sha256, b->sha256);
    for (size_t k = 0; k < a->dataset->ntile; k++)
        assert_memory_equal(a->dataset->tile[k].sum, b->dataset->tile[k].sum, 9 * sizeof(double));
    fit_measurement_free(a);
    fit_measurement_free(b);
}

/* npz: changed bytes;  HDF5: cut anywhere (damage inside its metadata is the library's business).
 * The answer is a measurement or an error, nothing else. */
static void test_damaged_files_do_no_harm(void **state)
{
    (void)state;
    static const char *const name[] = {"aps_u_lzf.h5", "homodyne.npz", "chx.h5", "heterodyne.npz"};
    uint32_t x = 7;
    for (size_t f = 0; f < 4; f++) {
        char path[1200];
        static unsigned char whole[60000], bytes[60000];
        snprintf(path, sizeof path, DATA "%s", name[f]);
        FILE *from = fopen(path, "rb");
        assert_non_null(from);
        size_t n = fread(whole, 1, sizeof whole, from);
        fclose(from);
        for (int k = 0; k < 150; k++) {
            struct fit_selection sel;
            struct fit_measurement *m;
            memcpy(bytes, whole, n);
            for (int c = 0; f % 2 && c < 1 + k % 8; c++) {
                x = x * 1664525u + 1013904223u;
                size_t at = (x >> 6) % n;
                x = x * 1664525u + 1013904223u;
                bytes[at] = (unsigned char)(x >> 24);
            }
            x = x * 1664525u + 1013904223u;
            FILE *to = fopen(file, "wb");
            fwrite(bytes, 1, f % 2 && k % 9 ? n : (x >> 4) % n, to);
            fclose(to);
            fit_selection_init(&sel, file);
            sel.q = f == 0 ? 0.008 : f == 2 ? 0.004 : 0.0054;
            if (fit_measurement_load(&sel, &kernel, NULL, &m, &err) == FIT_OK)
                fit_measurement_free(m);
        }
    }
}

static void test_real_and_synthetic_experiments(void **state)
{
    (void)state;
    char path[1024];
    struct fit_selection sel;
    if (!shared_path(path, sizeof path, "samples/laminar_N100x3.h5"))
        skip();
    fit_selection_init(&sel, path);
    sel.q = 0.0054;
    sel.dt = 0.1;
    struct fit_measurement *m = load_ok(&sel);
    assert_true(m->ngroup == 3 && m->ntime == 100 && m->group[1].phi == 45);
    fit_measurement_free(m);
    if (!shared_path(path, sizeof path, "data/real/chx_two_time_350.npy"))
        skip();
    fit_selection_init(&sel, path);
    sel.q = sqrt(2);
    sel.dt = 1;
    m = load_ok(&sel);
    assert_int_equal(m->dataset->npoint, 61075);
    fit_measurement_free(m);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(file, sizeof file, "test_source_%ld.h5", (long)getpid());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove(file);
    return 0;
}

/* ---- facilities: files after their public definitions (make_samples.py) ----------------------- */

struct facility {
    const char *file, *layout;
    size_t n;
    double q[3], phi[3], dt;
    const char *note;
};

static int source_notes(const struct fit_source *s, const char *text)
{
    for (size_t i = 0; i < s->notes.n; i++)
        if (strstr(s->notes.text[i], text))
            return 1;
    return 0;
}

static int same(double a, double b)
{
    return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-12 * fabs(b);
}

static void test_files_of_facilities(void **state)
{
    (void)state;
    static const struct facility all[] = {
        {"nxxpcs_entry.h5", "nxxpcs", 3, {0.005, 0.005, 0.008}, {0, 45, 90}, 0.02, "as the definition of NXxpcs"},
        {"nxxpcs_keys.h5", "nxxpcs", 2, {0.004, 0.006, 0}, {NAN, NAN, 0}, 0.5, NULL},
        {"boost_c2t.h5", "aps_legacy", 2, {0.002, 0.003, 0}, {0, 30, 0}, 0.01, NULL},
        {"id02_v2.h5", "id02", 2, {0.004, 0.006, 0}, {NAN, NAN, 0}, 0.25, "several analyses, full, horizontal"},
        {"id02_v1.h5", "id02", 2, {0.004, 0.008, 0}, {NAN, NAN, 0}, 0.25, "have nm^-1"},
        {"midtools.h5", "midtools", 2, {0.02, 0.04, 0}, {NAN, NAN, 0}, 4.4e-7, "mean over 3 trains"}};
    for (size_t f = 0; f < sizeof all / sizeof *all; f++) {
        const struct facility *x = &all[f];
        char path[400];
        snprintf(path, sizeof path, DATA "%s", x->file);
        struct fit_source *s = open_ok(path, NULL);
        assert_string_equal(s->layout, x->layout);
        assert_int_equal(s->nmatrix, x->n);
        assert_true(same(s->dt, x->dt));
        for (size_t k = 0; k < x->n; k++) {
            if (!same(s->matrix[k].q, x->q[k]) || !same(s->matrix[k].phi, x->phi[k]))
                fail_msg("%s: matrix %zu: q %g, phi %g", x->file, k, s->matrix[k].q, s->matrix[k].phi);
            check_matrix(s, k, k);
        }
        if (x->note && !source_notes(s, x->note))
            fail_msg("%s: no note '%s'", x->file, x->note);
        fit_source_close(s);
    }
}

static void test_what_the_caller_names(void **state)
{
    (void)state;
    static const struct fit_config_column axis[] = {{.role = "q", .source = "/meta/wavevector"},
                                                    {.role = "t", .source = "meta/clock"}};
    static const struct fit_config_column unit[] = {{.role = "q", .source = "nm^-1"}, {.role = "t", .source = "ms"}};
    struct fit_source_wish wish = {
        .dataset = "/results/run3/corr4", .naxis = 2, .axis = axis, .nunit = 2, .unit = unit};
    struct fit_source *s;
    if (fit_source_open(DATA "anywhere.h5", &wish, &s, &err) != FIT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(s->nmatrix, 6);
    assert_true(same(s->dt, 0.5));
    for (size_t k = 0; k < 6; k++) {
        assert_true(same(s->matrix[k].q, k < 3 ? 0.004 : 0.006) &&
                    fabs(s->matrix[k].phi - 45.0 * (double)(k % 3)) < 1e-9);
        check_matrix(s, k, k);
    }
    fit_source_close(s);
    wish = (struct fit_source_wish){.dataset = "maps", .naxis = 1, .axis = axis};
    assert_int_equal(fit_source_open(DATA "anywhere.h5", &wish, &s, &err), FIT_OK);
    for (size_t k = 0; k < 2; k++)
        check_matrix(s, k, k);
    fit_source_close(s);
    wish.dataset = "c2"; /* a member of an npz; where its q is said to be there is nothing */
    assert_int_equal(fit_source_open(DATA "heterodyne.npz", &wish, &s, &err), FIT_ERR_DATA);
    assert_non_null(strstr(err.message, "no member /meta/wavevector, which was named for q"));
    wish = (struct fit_source_wish){.layout = "dataset"}; /* which alone names none */
    assert_int_equal(fit_source_open(DATA "anywhere.h5", &wish, &s, &err), FIT_ERR_CONFIG);
    assert_non_null(strstr(err.message, "there are aps_u, "));
    assert_non_null(strstr(err.message, ", flat, npy, and --dataset PATH"));
    assert_int_equal(fit_source_open(DATA "anywhere.h5", NULL, &s, &err), FIT_ERR_DATA);
    assert_non_null(strstr(err.message, "/maps (16 x 16), /results/run3/corr4 (2 x 3 x 16 x 16): --dataset PATH"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_of_facilities),
        cmocka_unit_test(test_what_the_caller_names),
        cmocka_unit_test(test_aps_u_with_masked_sectors),
        cmocka_unit_test(test_aps_legacy_takes_bins_from_names),
        cmocka_unit_test(test_aps_legacy_knows_the_period_once),
        cmocka_unit_test(test_chx_nexus_and_caches),
        cmocka_unit_test(test_chx_geometry_and_binned_frames),
        cmocka_unit_test(test_data_folder_is_left_as_it_is),
        cmocka_unit_test(test_halves_wholes_types_and_filters),
        cmocka_unit_test(test_neither_symmetric_nor_half),
        cmocka_unit_test(test_labels_of_bins),
        cmocka_unit_test(test_more_than_nine_matrices_keep_their_order),
        cmocka_unit_test(test_self_check_of_the_mapping),
        cmocka_unit_test(test_choice_of_q),
        cmocka_unit_test(test_choice_of_azimuths),
        cmocka_unit_test(test_angles_wrap),
        cmocka_unit_test(test_window_of_frames),
        cmocka_unit_test(test_small_and_single),
        cmocka_unit_test(test_frame_period),
        cmocka_unit_test(test_time_axis),
        cmocka_unit_test(test_blank_frames_are_masked),
        cmocka_unit_test(test_holes_and_constants),
        cmocka_unit_test(test_errors_of_the_data),
        cmocka_unit_test(test_files_that_cannot_be_read),
        cmocka_unit_test(test_flat_files_and_exchange_groups),
        cmocka_unit_test(test_same_bits_in_every_load),
        cmocka_unit_test(test_damaged_files_do_no_harm),
        cmocka_unit_test(test_real_and_synthetic_experiments),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
