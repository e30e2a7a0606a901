/* test_shard.c -- shards hold every value once, with the sums of what they hold, in equal parts and mixtures; their
 * numbers are those of homodyne's rules. */
#include "consensus/shard.h"
#include "math/special.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 45, NG = 3 };

static void test_sizes_are_those_of_homodyne(void **state)
{
    (void)state;
    struct fit_shard_rule r = {.npoint = 23000000, .ngroup = 23, .flow = 1, .iterations = 2000};
    assert_int_equal(fit_shard_size(&r), 5000);
    assert_int_equal(fit_shard_count(&r), 1000); /* the cap: 23 000 points each */
    r = (struct fit_shard_rule){.npoint = 3000000, .ngroup = 3, .flow = 1, .iterations = 2000};
    assert_int_equal(fit_shard_size(&r), 3000);
    assert_int_equal(fit_shard_count(&r), 1000);
    r = (struct fit_shard_rule){.npoint = 500000, .ngroup = 1, .iterations = 2000};
    assert_int_equal(fit_shard_size(&r), 6000);
    assert_int_equal(fit_shard_count(&r), 84);
    r = (struct fit_shard_rule){.npoint = 23000000, .ngroup = 23, .flow = 1, .iterations = 1500};
    assert_int_equal(fit_shard_size(&r), 6666);
    r.most_points = 50000;
    assert_int_equal(fit_shard_count(&r), 460);
    r.shards = 7;
    assert_int_equal(fit_shard_count(&r), 7);
}

static void test_iterations_are_those_of_homodyne(void **state)
{
    static const size_t expected[][4] = {
        {3000, 10, 200, 500}, {50, 7, 140, 350}, {5000, 10, 250, 750}, {40000, 10, 500, 1500}};
    (void)state;
    for (size_t k = 0; k < 4; k++) {
        const size_t *e = expected[k];
        assert_int_equal(fit_shard_iterations(500, 100, 20, e[1], e[0]), e[2]);
        assert_int_equal(fit_shard_iterations(1500, 200, 50, e[1], e[0]), e[3]);
    }
}

/* Values from SciPy, stats.chi2.sf. */
static void test_chi2_tail(void **state)
{
    static const double value[][3] = {{3.841458820694124, 1, 0.05}, {18.307038053275146, 10, 0.05},
                                      {75100, 75000, 0.397506958218418}, {74000, 75000, 0.9952266706244395},
                                      {140, 76, 1.1036581640256774e-05}, {1e-3, 2, 0.9995001249791693}};
    (void)state;
    for (size_t k = 0; k < 6; k++) /* lgamma(37500) is rounded to 1e-11 */
        assert_true(fabs(fit_chi2_tail(value[k][0], value[k][1]) / value[k][2] - 1) < 1e-9);
    assert_true(fit_chi2_tail(0, 3) == 1); /* exact */
}

/* ---- divisions ----------------------------------------------------------------------------------------- */

static double value_at(size_t g, size_t i, size_t j)
{
    return 1 + (double)g * 0.1 + (double)i * 1e-3 + (double)j * 1e-5;
}

static struct fit_dataset *pairs(int weights)
{
    double time[N], *matrix = malloc(N * N * sizeof *matrix), *sigma = malloc(N * N * sizeof *sigma);
    struct fit_dataset *ds;
    struct fit_error err;
    assert_non_null(matrix);
    assert_non_null(sigma);
    for (size_t i = 0; i < N; i++)
        time[i] = 0.1 * (double)i;
    struct fit_dataset_pairs spec = {
        .ntime = N, .time = time, .step = 0.1, .ngroup = NG, .center = 1, .table_doubles = 40};
    assert_int_equal(fit_dataset_new_pairs(&spec, &ds, &err), FIT_OK);
    for (size_t g = 0; g < NG; g++) {
        for (size_t k = 0; k < N * N; k++) {
            matrix[k] = value_at(g, k / N, k % N);
            sigma[k] = 0.5 + 0.01 * (double)(k % 7);
        }
        matrix[5 * N + 9] = NAN;
        assert_int_equal(fit_dataset_put(ds, g, matrix, weights ? sigma : NULL, &err), FIT_OK);
    }
    assert_int_equal(fit_dataset_finish(ds, &err), FIT_OK);
    free(matrix);
    free(sigma);
    return ds;
}

/* Frame of the whole at a place of the view's list; times are whole tenths. */
static size_t frame_of(const struct fit_dataset *v, size_t place)
{
    return (size_t)lround(10 * v->layout.time[v->layout.frame[place]]);
}

/* Counts every (g, i, j) that a tile of a view holds, and compares value and sums. */
static void walk(const struct fit_dataset *v, const struct fit_tile *t, unsigned *seen, double *sum)
{
    for (size_t g = 0; g < NG; g++) {
        double w = 0, wy = 0;
        for (size_t i = t->i0; i < t->i1; i++)
            for (size_t j = t->j0 > i + 1 ? t->j0 : i + 1; j < t->j1; j++) {
                size_t at = fit_tile_offset(&v->layout, t, i, j, g), a = frame_of(v, i), b = frame_of(v, j);
                assert_true(a < b);
                seen[(g * N + a) * N + b]++;
                if (t->w[at] > 0)
                    assert_true(fabs(t->y[at] + v->reference[g] - value_at(g, a, b)) < 1e-14);
                w += t->w[at];
                wy += t->w[at] * t->y[at];
            }
        assert_true(fabs(w - t->sum[3 * g]) <= 1e-12 * w + 1e-300);
        assert_true(fabs(wy - t->sum[3 * g + 1]) <= 1e-12 * w);
        sum[g] += w;
    }
}

static void check_division(const struct fit_dataset *ds, size_t nshard)
{
    struct fit_shards *s;
    struct fit_error err = {0};
    unsigned *seen = calloc(NG * N * N, sizeof *seen);
    double sum[NG] = {0}, lag[2] = {INFINITY, 0}, whole[NG] = {0};
    size_t least = SIZE_MAX, most = 0, all = 0, last = ds->npoint;
    assert_non_null(seen);
    assert_int_equal(fit_shards_new(ds, nshard, 11, &s, &err), FIT_OK);
    for (size_t k = 0; k < s->n; k++) {
        struct fit_dataset *v;
        double mean = 0;
        size_t count = 0, number = s->order[k];
        assert_int_equal(fit_shards_open(s, number, 2, &v, &err), FIT_OK);
        for (size_t t = 0; t < v->ntile; t++) {
            walk(v, &v->tile[t], seen, sum);
            for (size_t i = v->tile[t].i0; i < v->tile[t].i1; i++)
                for (size_t j = v->tile[t].j0 > i + 1 ? v->tile[t].j0 : i + 1; j < v->tile[t].j1; j++, count++)
                    mean += (double)(frame_of(v, j) - frame_of(v, i));
        }
        mean /= (double)count;
        lag[0] = fmin(lag[0], mean);
        lag[1] = fmax(lag[1], mean);
        least = v->npoint < least ? v->npoint : least;
        most = v->npoint > most ? v->npoint : most;
        all += v->npoint;
        assert_true(v->npoint <= last + NG); /* longest first; a value of each group does not count */
        last = v->npoint;
        fit_shards_close(s, v);
    }
    for (size_t g = 0; g < NG; g++)
        for (size_t i = 0; i < N; i++)
            for (size_t j = i + 1; j < N; j++)
                assert_int_equal(seen[(g * N + i) * N + j], 1);
    for (size_t t = 0; t < ds->ntile; t++)
        for (size_t g = 0; g < NG; g++)
            whole[g] += ds->tile[t].sum[3 * g];
    for (size_t g = 0; g < NG; g++)
        assert_true(fabs(sum[g] / whole[g] - 1) < 1e-13);
    assert_int_equal(all, ds->npoint);
    printf("    %zu shards: %zu..%zu points, mean lag %.1f..%.1f\n", nshard, least, most, lag[0], lag[1]);
    assert_true((double)(most - least) < 0.35 * (double)all / (double)nshard); /* a piece or two */
    /* Lags deviate by N / sqrt(18) from their mean; means of m picked at random would lie within 6 / sqrt(m) of it. */
    assert_true(lag[1] - lag[0] <= 6 * N / sqrt(18.0 * (double)least / NG));
    fit_shards_free(s);
    free(seen);
}

static void test_pairs_are_in_one_shard_each(void **state)
{
    (void)state;
    struct fit_dataset *ds = pairs(1);
    static const size_t number[] = {1, 2, 3, 7, 12, 25, 40}; /* from 25 on with few pairs in each */
    for (size_t k = 0; k < 7; k++)
        check_division(ds, number[k]);
    fit_dataset_free(ds);
}

static void test_the_seed_decides(void **state)
{
    (void)state;
    struct fit_dataset *ds = pairs(0);
    struct fit_shards *s[3];
    struct fit_dataset *v[3];
    struct fit_error err;
    for (size_t nshard = 4; nshard < 40; nshard += 26) { /* rows of tiles; pairs */
        int same = 1, other = 1;
        for (size_t x = 0; x < 3; x++)
            assert_int_equal(fit_shards_new(ds, nshard, x == 2 ? 2 : 1, &s[x], &err), FIT_OK);
        for (size_t k = 0; k < nshard; k++) {
            for (size_t x = 0; x < 3; x++)
                assert_int_equal(fit_shards_open(s[x], k, 2, &v[x], &err), FIT_OK);
            same = same && v[0]->ntile == v[1]->ntile;
            other = other && v[0]->ntile == v[2]->ntile;
            for (size_t t = 0; same && t < v[0]->ntile; t++)
                same = memcmp(v[0]->tile[t].sum, v[1]->tile[t].sum, 3 * NG * sizeof(double)) == 0;
            for (size_t t = 0; other && t < v[0]->ntile; t++)
                other = memcmp(v[0]->tile[t].sum, v[2]->tile[t].sum, 3 * NG * sizeof(double)) == 0;
            for (size_t x = 0; x < 3; x++)
                fit_shards_close(s[x], v[x]);
        }
        assert_true(same);
        assert_false(other);
        for (size_t x = 0; x < 3; x++)
            fit_shards_free(s[x]);
    }
    fit_dataset_free(ds);
}

static void test_tables_are_divided_by_vectors_of_rows(void **state)
{
    enum { ROWS = 300 };
    double x[ROWS], axis[ROWS], y[ROWS], total = 0;
    const double *column[] = {x}, *axes[] = {axis};
    struct fit_dataset *ds;
    struct fit_shards *s;
    struct fit_error err;
    size_t points = 0;
    (void)state;
    for (size_t r = 0; r < ROWS; r++) {
        x[r] = (double)r;
        axis[r] = (double)(r % 3);
        y[r] = 1 + 0.01 * (double)r;
    }
    struct fit_dataset_table t = {.nrow = ROWS, .ncolumn = 1, .naxis = 1, .column = column, .axis = axes, .value = y};
    assert_int_equal(fit_dataset_new_table(&t, &ds, &err), FIT_OK);
    assert_int_equal(fit_dataset_finish(ds, &err), FIT_OK);
    struct fit_dataset *v;
    assert_int_equal(fit_shards_new(ds, 4, 1, &s, &err), FIT_OK);
    for (size_t k = 0; k < 4; k++) {
        assert_int_equal(fit_shards_open(s, k, 2, &v, &err), FIT_OK);
        points += v->npoint;
        for (size_t n = 0; n < v->ntile; n++) {
            const struct fit_tile *tile = &v->tile[n];
            for (size_t i = tile->i0; i < tile->i1; i++)
                total += tile->y[fit_tile_offset(&ds->layout, tile, i, 0, tile->group)];
        }
        fit_shards_close(s, v);
    }
    assert_int_equal(points, ROWS);
    assert_true(fabs(total - (ROWS + 0.01 * 0.5 * ROWS * (ROWS - 1))) < 1e-9);
    fit_shards_free(s);
    assert_int_equal(fit_shards_new(ds, 30, 1, &s, &err), FIT_OK);
    enum fit_status st = FIT_OK;
    for (size_t k = 0; k < 30 && st == FIT_OK; k++) { /* groups are missing in some */
        st = fit_shards_open(s, k, 2, &v, &err);
        fit_shards_close(s, v);
    }
    assert_int_equal(st, FIT_ERR_CONFIG);
    assert_non_null(strstr(err.message, "ask for fewer shards"));
    fit_shards_free(s);
    assert_int_equal(fit_shards_new(ds, 1000, 1, &s, &err), FIT_ERR_CONFIG);
    assert_non_null(strstr(err.message, "give 1 to"));
    assert_int_equal(fit_shards_new(ds, 0, 1, &s, &err), FIT_ERR_CONFIG);
    fit_dataset_free(ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_are_those_of_homodyne),
        cmocka_unit_test(test_iterations_are_those_of_homodyne),
        cmocka_unit_test(test_chi2_tail),
        cmocka_unit_test(test_pairs_are_in_one_shard_each),
        cmocka_unit_test(test_the_seed_decides),
        cmocka_unit_test(test_tables_are_divided_by_vectors_of_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
