/* test_dataset.c -- tiles hold every pair once, where the kernel looks for it, with the right
 * sums. */
#include "data/dataset.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A value that tells its own place. */
static double value_at(size_t g, size_t i, size_t j)
{
    return 1.0 + (double)g * 1e-1 + (double)i * 1e-4 + (double)j * 1e-7;
}

static double sigma_at(size_t g, size_t i, size_t j)
{
    return 0.5 + 0.01 * (double)((7 * g + 3 * i + 5 * j) % 11);
}

static double *matrix_of(size_t n, size_t g, double (*f)(size_t, size_t, size_t))
{
    double *m = malloc(n * n * sizeof *m);
    assert_non_null(m);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            m[i * n + j] = i < j ? f(g, i, j) : 1e300; /* i >= j must not be read */
    return m;
}

struct setup {
    size_t n, ngroup, table_doubles, nframe;
    const uint32_t *frame;
    int center, sigma;
    size_t bad_i, bad_j; /* a NaN in group 0 at these rows of the matrix; 0, 0: none */
};

static struct fit_dataset *build(const struct setup *s)
{
    double *time = malloc(s->n * sizeof *time), *phi = malloc(s->ngroup * sizeof *phi);
    struct fit_error err = {0};
    struct fit_dataset *ds = NULL;
    for (size_t i = 0; i < s->n; i++)
        time[i] = 0.1 * (double)i;
    for (size_t g = 0; g < s->ngroup; g++)
        phi[g] = 10.0 * (double)g;
    const double *coord[1] = {phi};
    const double setting[2] = {0.0054, 2e6};
    struct fit_dataset_pairs spec = {.ntime = s->n,
                                     .time = time,
                                     .step = 0.1,
                                     .nframe = s->nframe,
                                     .frame = s->frame,
                                     .ngroup = s->ngroup,
                                     .naxis = 1,
                                     .nsetting = 2,
                                     .coord = coord,
                                     .setting = setting,
                                     .center = s->center,
                                     .table_doubles = s->table_doubles};
    if (fit_dataset_new_pairs(&spec, &ds, &err) != FIT_OK)
        fail_msg("%s", err.message);
    for (size_t g = 0; g < s->ngroup; g++) {
        double *m = matrix_of(s->n, g, value_at),
               *e = s->sigma ? matrix_of(s->n, g, sigma_at) : NULL;
        if (g == 0 && s->bad_j)
            m[s->bad_i * s->n + s->bad_j] = NAN;
        if (fit_dataset_put(ds, g, m, e, &err) != FIT_OK)
            fail_msg("%s", err.message);
        free(m);
        free(e);
    }
    if (fit_dataset_finish(ds, &err) != FIT_OK)
        fail_msg("%s", err.message);
    free(time);
    free(phi);
    return ds;
}

/* Walks the stream exactly as fit/kernel.h says and checks every lane, every offset and every sum.
 */
static void check(const struct setup *s, const struct fit_dataset *ds)
{
    const struct fit_layout *l = &ds->layout;
    size_t n = l->nframe, pairs = 0, dropped = 0;
    unsigned char *seen = calloc(n * n, 1);
    assert_int_equal(l->panel % FIT_LANES, 0);
    for (size_t k = 0; k < ds->ntile; k++) {
        const struct fit_tile *t = &ds->tile[k];
        size_t at = 0;
        double *sum = calloc(l->ngroup * 3, sizeof *sum);
        assert_int_equal((uintptr_t)t->y % 64, 0);
        assert_int_equal(t->j0 % l->panel, 0);
        assert_int_equal(t->i0 % l->chunk, 0);
        assert_true(t->i0 < t->i1 && t->i0 + 1 < t->j1 && t->i1 < t->j1);
        for (size_t i = t->i0; i < t->i1; i++) {
            for (size_t b = (t->j0 > i + 1 ? t->j0 : i + 1) / 8; b < (t->j1 + 7) / 8; b++) {
                for (size_t g = 0; g < l->ngroup; g++) {
                    for (size_t lane = 0; lane < 8; lane++, at++) {
                        size_t j = 8 * b + lane, fi = l->frame[i];
                        if (j <= i || j >= t->j1) {
                            assert_true(t->y[at] == 0);
                            if (t->w)
                                assert_true(t->w[at] == 0);
                            continue;
                        }
                        size_t fj = l->frame[j];
                        int bad = g == 0 && s->bad_j && fi == s->bad_i && fj == s->bad_j;
                        double e = s->sigma ? sigma_at(g, fi, fj) : 1;
                        double y = bad ? 0 : value_at(g, fi, fj) - ds->reference[g];
                        double w = bad ? 0 : 1 / (e * e);
                        assert_true(t->y[at] == y);
                        if (t->w)
                            assert_true(t->w[at] == w);
                        else
                            assert_true(w == 1);
                        assert_int_equal(fit_tile_offset(l, t, i, j, g), at);
                        sum[3 * g] += w;
                        sum[3 * g + 1] += w * y;
                        sum[3 * g + 2] += w * y * y;
                        dropped += (size_t)bad;
                        if (g == 0) {
                            assert_int_equal(seen[i * n + j], 0);
                            seen[i * n + j] = 1;
                            pairs++;
                        }
                    }
                }
            }
        }
        assert_int_equal(fit_tile_doubles(l, t), at);
        for (size_t c = 0; c < 3 * l->ngroup; c++)
            assert_true(fabs(sum[c] - t->sum[c]) <= 1e-10 * (1 + fabs(sum[c])));
        free(sum);
    }
    assert_int_equal(pairs, n * (n - 1) / 2);
    assert_int_equal(ds->ndropped, dropped);
    assert_int_equal(ds->npoint, pairs * l->ngroup - dropped);
    assert_int_equal(ds->npoint_group[0], pairs - dropped);
    free(seen);
}

static void run(struct setup s)
{
    struct fit_dataset *ds = build(&s);
    check(&s, ds);
    if (ds->layout.nframe >= 100)
        assert_true(ds->ntile >= 16);
    fit_dataset_free(ds);
}

static void test_every_pair_is_stored_once_for_many_shapes(void **state)
{
    (void)state;
    const size_t n[] = {2, 3, 7, 8, 9, 15, 16, 17, 31, 64, 65, 100, 129, 257};
    const size_t ngroup[] = {1, 2, 5, 23};
    for (size_t a = 0; a < sizeof n / sizeof *n; a++)
        for (size_t b = 0; b < sizeof ngroup / sizeof *ngroup; b++)
            for (size_t table = 1; table < 60; table += 29)
                run((struct setup){.n = n[a], .ngroup = ngroup[b], .table_doubles = table});
}

/* Large enough for several threads at a matrix. */
static void test_large_matrix(void **state)
{
    (void)state;
    run((struct setup){.n = 3001, .ngroup = 1, .table_doubles = 4, .center = 1});
}

static void test_weights_and_references(void **state)
{
    (void)state;
    run((struct setup){.n = 70, .ngroup = 3, .table_doubles = 4, .center = 1});
    run((struct setup){.n = 70, .ngroup = 3, .table_doubles = 4, .center = 1, .sigma = 1});
    run((struct setup){
        .n = 70, .ngroup = 3, .table_doubles = 4, .center = 1, .bad_i = 3, .bad_j = 9});
    run((struct setup){.n = 70, .ngroup = 3, .sigma = 1, .bad_i = 3, .bad_j = 69});
}

static void test_reference_is_the_mean_of_the_group(void **state)
{
    (void)state;
    struct setup s = {.n = 70, .ngroup = 3, .table_doubles = 4, .center = 1};
    struct fit_dataset *ds = build(&s);
    for (size_t g = 0; g < 3; g++) {
        double sum = 0;
        for (size_t k = 0; k < ds->ntile; k++)
            sum += ds->tile[k].sum[3 * g + 1];
        assert_true(fabs(sum) < 1e-10);
    }
    assert_null(ds->tile[0].w);
    fit_dataset_free(ds);
}

static void test_left_out_frames(void **state)
{
    (void)state;
    uint32_t frame[110];
    size_t m = 0;
    for (uint32_t i = 0; i < 115; i++)
        if (i != 0 && i != 17 && (i < 40 || i > 47))
            frame[m++] = i;
    run((struct setup){
        .n = 115, .ngroup = 2, .table_doubles = 3, .nframe = m, .frame = frame, .center = 1});
    run((struct setup){.n = 115, .ngroup = 2, .nframe = m - 1, .frame = frame + 1, .sigma = 1});
}

static void test_coarse_takes_the_frames_picked(void **state)
{
    (void)state;
    struct fit_error err;
    for (size_t stride = 2; stride < 6; stride++)
        for (int variant = 0; variant < 3; variant++) {
            struct setup s = {.n = 131,
                              .ngroup = 3,
                              .table_doubles = 5,
                              .center = 1,
                              .sigma = variant == 1,
                              .bad_i = variant == 2 ? 60 : 0,
                              .bad_j = variant == 2 ? 120 : 0};
            struct fit_dataset *ds = build(&s), *thin = NULL;
            uint32_t pick[131];
            size_t n = 0;
            for (uint32_t k = 0; k < 131; k += (uint32_t)stride)
                pick[n++] = k;
            assert_int_equal(fit_dataset_coarse(ds, n, pick, &thin, &err), FIT_OK);
            assert_int_equal(thin->layout.nframe, (131 + stride - 1) / stride);
            assert_int_equal(thin->layout.ntime, 131);
            assert_int_equal(thin->layout.frame[2], 2 * stride);
            assert_true(thin->reference[1] == ds->reference[1]);
            if (60 % stride || 120 % stride)
                s.bad_j = 0;
            check(&s, thin);
            fit_dataset_free(thin);
            fit_dataset_free(ds);
        }
}

/* What the driver sees must not depend on who filled it: same bytes for every number of threads. */
static void test_shape_does_not_depend_on_values(void **state)
{
    (void)state;
    struct setup s = {.n = 200, .ngroup = 5, .table_doubles = 6};
    struct fit_dataset *a = build(&s), *b;
    s.sigma = 1;
    b = build(&s);
    assert_int_equal(a->ntile, b->ntile);
    for (size_t k = 0; k < a->ntile; k++) {
        assert_int_equal(a->tile[k].i0, b->tile[k].i0);
        assert_int_equal(a->tile[k].j1, b->tile[k].j1);
    }
    fit_dataset_free(a);
    fit_dataset_free(b);
}

static void test_bad_geometry_is_refused(void **state)
{
    (void)state;
    struct fit_error err;
    struct fit_dataset *ds;
    double time[4] = {0, 1, 1, 2}, phi[1] = {0};
    const double *coord[1] = {phi};
    struct fit_dataset_pairs spec = {
        .ntime = 4, .time = time, .step = 1, .ngroup = 1, .naxis = 1, .coord = coord};
    assert_int_equal(fit_dataset_new_pairs(&spec, &ds, &err), FIT_ERR_DATA);
    assert_non_null(strstr(err.message, "frame 3"));
    time[2] = NAN;
    assert_int_equal(fit_dataset_new_pairs(&spec, &ds, &err), FIT_ERR_DATA);
    time[2] = 1.5;
    spec.step = 0;
    assert_int_equal(fit_dataset_new_pairs(&spec, &ds, &err), FIT_ERR_DATA);
    spec.step = 1;
    const uint32_t frame[3] = {0, 2, 2};
    spec.frame = frame;
    spec.nframe = 3;
    assert_int_equal(fit_dataset_new_pairs(&spec, &ds, &err), FIT_ERR_INTERNAL);
    spec.frame = NULL;
    spec.nframe = 0;
    assert_int_equal(fit_dataset_new_pairs(&spec, &ds, &err), FIT_OK);
    assert_int_equal(fit_dataset_finish(ds, &err), FIT_ERR_INTERNAL); /* nothing was put */
    double m[16];
    for (size_t k = 0; k < 16; k++)
        m[k] = NAN;
    assert_int_equal(fit_dataset_put(ds, 0, m, NULL, &err), FIT_OK);
    assert_int_equal(fit_dataset_finish(ds, &err), FIT_ERR_DATA); /* nothing finite */
    fit_dataset_free(ds);
}

static void test_errors_for_all_or_for_none(void **state)
{
    (void)state;
    struct fit_error err;
    struct fit_dataset *ds;
    double time[3] = {0, 1, 2}, m[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    struct fit_dataset_pairs spec = {.ntime = 3, .time = time, .step = 1, .ngroup = 2};
    assert_int_equal(fit_dataset_new_pairs(&spec, &ds, &err), FIT_OK);
    assert_int_equal(fit_dataset_put(ds, 0, m, m, &err), FIT_OK);
    assert_int_equal(fit_dataset_put(ds, 1, m, NULL, &err), FIT_ERR_USAGE);
    fit_dataset_free(ds);
}

static void test_sigma_that_is_not_positive_has_weight_zero(void **state)
{
    (void)state;
    struct fit_error err;
    struct fit_dataset *ds;
    double time[3] = {0, 1, 2}, m[9] = {1, 1, 2, 1, 1, 3, 1, 1, 1},
           e[9] = {1, 0, 2, 1, 1, -1, 1, 1, 1};
    struct fit_dataset_pairs spec = {.ntime = 3, .time = time, .step = 1, .ngroup = 1};
    assert_int_equal(fit_dataset_new_pairs(&spec, &ds, &err), FIT_OK);
    assert_int_equal(fit_dataset_put(ds, 0, m, e, &err), FIT_OK);
    assert_int_equal(fit_dataset_finish(ds, &err), FIT_OK);
    assert_int_equal(ds->npoint, 1);
    assert_int_equal(ds->ndropped, 2);
    assert_true(ds->tile[0].sum[0] == 0.25);
    fit_dataset_free(ds);
}

static void test_rows_are_padded_and_bad_rows_stay_finite(void **state)
{
    (void)state;
    struct fit_error err;
    for (size_t n = 1; n < 300; n = n * 2 + 1) {
        double x[300], y[300], e[300];
        const double *column[3] = {x, y, e};
        struct fit_dataset *ds;
        for (size_t r = 0; r < n; r++) {
            x[r] = (double)r + 1;
            y[r] = 2 * x[r];
            e[r] = 0.5;
        }
        if (n > 4) {
            x[0] = NAN;
            y[3] = INFINITY;
        }
        size_t good = n > 4 ? n - 2 : n;
        assert_int_equal(
            fit_dataset_new_table(
                &(struct fit_dataset_table){.nrow = n, .ncolumn = 3, .column = column, .value = y, .sigma = e}, &ds,
                &err),
            FIT_OK);
        assert_int_equal(fit_dataset_finish(ds, &err), FIT_OK);
        assert_int_equal(ds->npoint, good);
        assert_int_equal(ds->ndropped, n - good);
        double w = 0, wy = 0, expect = 0;
        size_t rows = 0;
        for (size_t k = 0; k < ds->ntile; k++) {
            w += ds->tile[k].sum[0];
            wy += ds->tile[k].sum[1];
            rows += ds->tile[k].i1 - ds->tile[k].i0;
            assert_int_equal((uintptr_t)ds->tile[k].y % 64, 0);
            size_t at = fit_tile_offset(&ds->layout, &ds->tile[k], ds->tile[k].i1 - 1, 0, 0);
            assert_true(at < fit_tile_doubles(&ds->layout, &ds->tile[k]));
            assert_true(ds->tile[k].y[at] == 2 * ds->layout.column[0][ds->tile[k].i1 - 1]);
        }
        for (size_t r = 0; r < n; r++)
            if (isfinite(x[r]) && isfinite(y[r]))
                expect += 4 * y[r];
        assert_int_equal(rows, n);
        assert_true(w == 4 * (double)good);
        assert_true(fabs(wy - expect) <= 1e-12 * fabs(expect));
        for (size_t r = 0; r < (n + 7) / 8 * 8; r++)
            assert_true(isfinite(ds->layout.column[0][r]));
        fit_dataset_free(ds);
    }
}

/* Rows of three groups in mixed order: every group begins at a multiple of 8, holds its rows in their
 * order, and tiles and their sums belong to one group. */
static void test_rows_are_sorted_by_group(void **state)
{
    (void)state;
    enum { N = 700 };
    static double q[N], x[N], y[N], e[N];
    const double *axis[1] = {q}, *column[3] = {x, y, e};
    const double place[3] = {0.02, 0.01, 0.03};
    double mean[3] = {0}, seen[3][3] = {{0}};
    size_t count[3] = {0}, next[3] = {0};
    struct fit_error err;
    struct fit_dataset *ds;
    for (size_t r = 0; r < N; r++) {
        size_t g = r == 0 ? 0 : r * r * 7 % 11 % 3;
        q[r] = place[g];
        x[r] = (double)r;
        y[r] = (double)(g * 100 + r % 5);
        e[r] = 0.5;
        count[g]++;
        mean[g] += y[r];
    }
    assert_true(count[0] > 10 && count[1] > 10 && count[2] > 10);
    const struct fit_dataset_table t = {.nrow = N, .ncolumn = 3, .naxis = 1, .column = column, .axis = axis,
                                        .value = y, .sigma = e, .center = 1};
    assert_int_equal(fit_dataset_new_table(&t, &ds, &err), FIT_OK);
    assert_int_equal(fit_dataset_finish(ds, &err), FIT_OK);
    assert_int_equal(ds->layout.ngroup, 3);
    assert_int_equal(ds->nrow, N);
    assert_int_equal(ds->npoint, N);
    assert_int_equal(ds->ndropped, 0);
    for (size_t k = 0; k < ds->ntile; k++) {
        const struct fit_tile *tile = &ds->tile[k];
        size_t g = tile->group;
        assert_int_equal(tile->i0 % FIT_LANES, 0);
        for (size_t i = tile->i0; i < tile->i1; i++) {
            size_t r = ds->row[i];
            assert_true(q[r] == ds->layout.coord[0][g] && ds->layout.column[0][i] == x[r]);
            assert_true(r >= next[g]);
            next[g] = r + 1;
            assert_true(fabs(tile->y[i - tile->i0] + ds->reference[g] - y[r]) < 1e-12 * 200);
        }
        for (size_t h = 0; h < 3; h++)
            for (size_t s = 0; s < 3; s++) {
                seen[h][s] += tile->sum[3 * h + s];
                assert_true(h == g || tile->sum[3 * h + s] == 0);
            }
    }
    for (size_t g = 0; g < 3; g++) { /* in the order of their first rows */
        size_t h = ds->layout.coord[0][g] == place[0] ? 0 : ds->layout.coord[0][g] == place[1] ? 1 : 2;
        assert_int_equal(ds->npoint_group[g], count[h]);
        assert_true(fabs(ds->reference[g] - mean[h] / (double)count[h]) < 1e-12 * 200);
        assert_true(seen[g][0] == 4 * (double)count[h]);
        assert_true(fabs(seen[g][1]) < 1e-9); /* the mean was subtracted */
    }
    assert_true(ds->layout.coord[0][0] == place[0]);
    for (size_t i = 0; i < (ds->layout.nrow + 7) / 8 * 8; i++)
        assert_true(isfinite(ds->layout.column[0][i]));
    fit_dataset_free(ds);
}

static void test_bad_groups(void **state)
{
    (void)state;
    enum { N = FIT_GROUPS_MOST + 1 };
    static double q[N], y[N];
    const double *axis[1] = {q}, *column[1] = {y};
    struct fit_dataset_table t = {.nrow = N, .ncolumn = 1, .naxis = 1, .column = column, .axis = axis, .value = y};
    struct fit_error err;
    struct fit_dataset *ds;
    for (size_t r = 0; r < N; r++)
        q[r] = (double)r;
    assert_int_equal(fit_dataset_new_table(&t, &ds, &err), FIT_ERR_DATA); /* each row a group */
    assert_non_null(strstr(err.message, "same coordinate"));
    assert_null(ds);

    t.nrow = 9; /* a row nowhere on the axis does not count; a group of which none counts is refused */
    for (size_t r = 0; r < 9; r++)
        q[r] = r < 4 ? 1 : 2;
    q[0] = NAN;
    assert_int_equal(fit_dataset_new_table(&t, &ds, &err), FIT_OK);
    assert_int_equal(fit_dataset_finish(ds, &err), FIT_OK);
    assert_int_equal(ds->layout.ngroup, 2);
    assert_int_equal(ds->npoint, 8);
    assert_int_equal(ds->ndropped, 1);
    fit_dataset_free(ds);
    for (size_t r = 4; r < 9; r++)
        y[r] = INFINITY;
    assert_int_equal(fit_dataset_new_table(&t, &ds, &err), FIT_ERR_DATA);
    assert_non_null(strstr(err.message, "group 2 (2)"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_pair_is_stored_once_for_many_shapes),
        cmocka_unit_test(test_large_matrix),
        cmocka_unit_test(test_weights_and_references),
        cmocka_unit_test(test_reference_is_the_mean_of_the_group),
        cmocka_unit_test(test_left_out_frames),
        cmocka_unit_test(test_coarse_takes_the_frames_picked),
        cmocka_unit_test(test_shape_does_not_depend_on_values),
        cmocka_unit_test(test_bad_geometry_is_refused),
        cmocka_unit_test(test_errors_for_all_or_for_none),
        cmocka_unit_test(test_sigma_that_is_not_positive_has_weight_zero),
        cmocka_unit_test(test_rows_are_padded_and_bad_rows_stay_finite),
        cmocka_unit_test(test_rows_are_sorted_by_group),
        cmocka_unit_test(test_bad_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
