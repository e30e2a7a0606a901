/* test_ranks_tree.c -- the tree of sums, finished in parts: the same bits for any number of ranks; shares that are
 * whole and even; the model of the cost of a pass. */
#include "data/pass_cost.h"
#include "data/sum_tree.h"
#include "data/tile_sums.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NOUT = 3, MOST = 5000 };

static double value(size_t leaf, size_t i)
{
    return sin(1.7 * (double)leaf + 0.3 * (double)i) * pow(10, (double)(leaf % 7) - 3);
}

static void fill(double *sum, size_t n)
{
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < NOUT; i++)
            sum[k * NOUT + i] = value(k, i);
}

/* The tree as one process adds it. */
static void whole(double *sum, size_t n, double total[NOUT])
{
    fill(sum, n);
    fit_tree_node(&(struct fit_tree_rows){sum, NOUT, NOUT, 0}, n, 0, n);
    memcpy(total, sum, NOUT * sizeof *total);
}

/* The same by `size` ranks, each of which sees its own leaves only; returns the number of nodes. */
static size_t by_ranks(double *own, double *sum, size_t *done, size_t n, size_t size, double total[NOUT])
{
    size_t leaf[FIT_TREE_NODES], width[FIT_TREE_NODES], nodes = 0, covered = 0;
    for (size_t k = 0; k < n * NOUT; k++)
        sum[k] = NAN; /* what no rank gives is not used */
    for (size_t r = 0; r < size; r++) {
        const size_t a = fit_tree_cut(n, size, r), b = fit_tree_cut(n, size, r + 1);
        assert_true(a <= b);
        fill(own, n);
        for (size_t k = 0; k < n; k++)
            for (size_t i = 0; i < NOUT && (k < a || k >= b); i++)
                own[k * NOUT + i] = NAN;
        const size_t count = fit_tree_cover(n, a, b, leaf, width);
        for (size_t k = 0; k < count; k++) {
            fit_tree_node(&(struct fit_tree_rows){own, NOUT, NOUT, 0}, n, leaf[k], width[k]);
            memcpy(sum + leaf[k] * NOUT, own + leaf[k] * NOUT, NOUT * sizeof *sum);
            for (size_t i = leaf[k]; i < n && i < leaf[k] + width[k]; i++, covered++)
                done[i] = width[k];
        }
        nodes += count;
    }
    assert_int_equal(covered, n); /* each leaf once */
    fit_tree_finish(&(struct fit_tree_rows){sum, NOUT, NOUT, 0}, n, done);
    memcpy(total, sum, NOUT * sizeof *total);
    return nodes;
}

static void test_same_bits(void **state)
{
    static double own[MOST * NOUT], sum[MOST * NOUT];
    static size_t done[MOST];
    static const size_t leaves[] = {1, 2, 3, 5, 17, 64, 100, 511, 512, 513, 1000, 4096},
                        ranks[] = {1, 2, 3, 4, 5, 7, 8, 16, 31, 64, 100, 1000, 4096};
    (void)state;
    for (size_t l = 0; l < sizeof leaves / sizeof *leaves; l++) {
        double one[NOUT], many[NOUT];
        whole(own, leaves[l], one);
        for (size_t r = 0; r < sizeof ranks / sizeof *ranks; r++) {
            by_ranks(own, sum, done, leaves[l], ranks[r], many);
            assert_memory_equal(one, many, sizeof one);
        }
    }
}

/* A power of two: one node for each rank; else few. */
static void test_few_nodes(void **state)
{
    static double own[MOST * NOUT], sum[MOST * NOUT];
    static size_t done[MOST];
    double total[NOUT];
    (void)state;
    assert_int_equal(by_ranks(own, sum, done, 512, 4, total), 4);
    assert_int_equal(by_ranks(own, sum, done, 4096, 4096, total), 4096);
    assert_true(by_ranks(own, sum, done, 512, 3, total) <= 3 * 8);
    assert_true(by_ranks(own, sum, done, 4096, 7, total) <= 7 * 10);
}

static void test_even_shares(void **state)
{
    (void)state;
    for (size_t size = 1; size <= 64; size++)
        for (size_t r = 0; r < size; r++) {
            const size_t n = 4096, share = fit_tree_cut(n, size, r + 1) - fit_tree_cut(n, size, r);
            assert_true((double)share < 1.08 * (double)n / (double)size + 1);
            assert_true((double)share > 0.92 * (double)n / (double)size - 1);
        }
    assert_int_equal(fit_tree_cut(512, 3, 0), 0);
    assert_int_equal(fit_tree_cut(512, 3, 3), 512);
}

/* What leaves weigh moves the cuts: none is further from its place than the heaviest leaf, or a part of a share. */
static void test_weighed_shares(void **state)
{
    static double upto[MOST];
    static const size_t leaves[] = {1, 5, 136, 512, 4096}, ranks[] = {1, 2, 3, 7, 64, 4096};
    (void)state;
    for (size_t l = 0; l < sizeof leaves / sizeof *leaves; l++) {
        const size_t n = leaves[l];
        for (size_t k = 0; k < n; k++)
            upto[k + 1] = upto[k] + (double)(n - k); /* the first weigh most */
        for (size_t m = 0; m < sizeof ranks / sizeof *ranks; m++) {
            const size_t size = ranks[m];
            assert_int_equal(fit_tree_cut_weighed(upto, n, size, 0), 0);
            assert_int_equal(fit_tree_cut_weighed(upto, n, size, size), n);
            for (size_t r = 0; r < size; r++) {
                const size_t a = fit_tree_cut_weighed(upto, n, size, r), b = fit_tree_cut_weighed(upto, n, size, r + 1);
                assert_true(a <= b);
                assert_true(fabs(upto[a] - upto[n] * (double)r / (double)size) <=
                            fmax((double)n, upto[n] / (double)size / 16));
            }
        }
    }
}

static void test_leaves(void **state)
{
    (void)state;
    assert_int_equal(fit_parallel_leaves(0), 0);
    assert_int_equal(fit_parallel_leaves(100), 100);
    assert_int_equal(fit_parallel_leaves(1000), 512);
    assert_int_equal(fit_parallel_leaves(2000), 1000);
    assert_int_equal(fit_parallel_leaves(1000000), 4096);
}

static void test_cost(void **state)
{
    struct fit_pass_cost c = fit_pass_cost_here();
    struct fit_pass_shares one = {.ranks = 1, .leaves = 512, .nout = 300, .nodes = 1, .most_leaves = 512};
    struct fit_pass_shares two = {.ranks = 2, .leaves = 512, .nout = 300, .nodes = 2, .most_leaves = 256};
    (void)state;
    one.values = one.most = two.values = 1e9;
    two.most = 5e8;
    c.value = 1e-9;
    const double gain = fit_pass_seconds(&c, &one) / fit_pass_seconds(&c, &two);
    assert_true(gain > 1.99 && gain <= 2);
    c.read = 2e-9; /* values come slower than they are computed with */
    assert_true(fit_pass_seconds(&c, &one) > 1.99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bits), cmocka_unit_test(test_few_nodes),
                                       cmocka_unit_test(test_even_shares), cmocka_unit_test(test_weighed_shares),
                                       cmocka_unit_test(test_leaves), cmocka_unit_test(test_cost)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
