/* ranks.c -- thousands of virtual ranks in one process:
 *     bench-ranks [FRAMES [GROUPS [NANOSECONDS [ADDITION [MESSAGE [BYTES]]]]]]
 *
 * The real tiles, leaves, shares and tree of a data set of FRAMES frames and GROUPS angles (9400 and 23: 1e9 values),
 * without its values: each tile gives numbers that follow from its index.  For 1 to 4096 ranks: every virtual rank adds
 * its leaves to nodes, the nodes of all are put together, the tree is finished; is the total that of one rank, to the
 * bit?  Then what the model of pass_cost.h predicts: largest share over mean, time of a pass, efficiency; and a table
 * of 1e7 to 1e11 values.  NANOSECONDS for a value on one core, which each rank has (1.2; `estimate` measures it);
 * nanoseconds of an ADDITION, microseconds of a MESSAGE, GB/s of messages (bench-gather measures them; else those of
 * pass_cost.c).  Exit code 1: other bits. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/pass_cost.h"
#include "data/share.h"
#include "data/sum_tree.h"
#include "data/tile_sums.h"

enum { PARAMETERS = 7, LINEAR = 2, MOST = 4096 };

static size_t numbers(size_t groups)
{
    return groups * (LINEAR * (LINEAR + 1) / 2 + LINEAR + 1) + PARAMETERS * (PARAMETERS + 3) / 2 +
           groups * LINEAR * PARAMETERS;
}

static struct fit_dataset *shape(size_t frames, size_t groups)
{
    struct fit_error err;
    struct fit_dataset *ds = NULL;
    double *time = malloc(frames * sizeof *time), *phi = malloc(groups * sizeof *phi);
    const double *coord[] = {phi};
    for (size_t i = 0; time && i < frames; i++)
        time[i] = 0.1 * (double)(i + 1);
    for (size_t g = 0; phi && g < groups; g++)
        phi[g] = (double)g;
    const struct fit_dataset_pairs spec = {.ntime = frames, .time = time, .step = 0.1, .ngroup = groups, .naxis = 1,
                                           .coord = coord, .table_doubles = 8, .streamed = 1};
    if (time && phi && fit_dataset_new_pairs(&spec, &ds, &err) != FIT_OK)
        fprintf(stderr, "%s\n", err.message);
    free(time);
    free(phi);
    return ds;
}

/* Number i of a tile: of any size and sign. */
static double number(size_t tile, size_t i)
{
    uint64_t x = (uint64_t)tile * 0x9e3779b97f4a7c15u + i * 0xbf58476d1ce4e5b9u + 1;
    x ^= x >> 31;
    x *= 0x94d049bb133111ebu;
    x ^= x >> 29;
    return ((double)(x >> 11) * 0x1p-53 - 0.4) * (double)(1 + x % 1000);
}

struct run {
    const struct fit_dataset *ds;
    size_t leaves, nout;
    double *leaf, *node; /* leaves x nout */
    size_t *done;
};

static void sum_leaves(const struct run *x)
{
    for (size_t k = 0; k < x->leaves; k++)
        for (size_t t = k * x->ds->ntile / x->leaves; t < (k + 1) * x->ds->ntile / x->leaves; t++)
            for (size_t i = 0; i < x->nout; i++)
                x->leaf[k * x->nout + i] += number(t, i);
}

/* The total by `size` ranks, in row 0 of x->node. */
static void by_ranks(const struct run *x, size_t size)
{
    size_t leaf[FIT_TREE_NODES], width[FIT_TREE_NODES];
    double *own = malloc(x->leaves * x->nout * sizeof *own);
    size_t *cut = malloc((size + 1) * sizeof *cut);
    const int ok = own && cut && fit_share_leaves(x->ds, size, cut);
    for (size_t r = 0; ok && r < size; r++) {
        const size_t a = cut[r], b = cut[r + 1];
        const struct fit_tree_rows rows = {own, x->nout, x->nout, a}; /* room for its leaves only */
        memcpy(own, x->leaf + a * x->nout, (b - a) * x->nout * sizeof *own);
        const size_t n = fit_tree_cover(x->leaves, a, b, leaf, width);
        for (size_t k = 0; k < n; k++) {
            fit_tree_node(&rows, x->leaves, leaf[k], width[k]);
            memcpy(x->node + leaf[k] * x->nout, own + (leaf[k] - a) * x->nout, x->nout * sizeof *own);
            for (size_t i = leaf[k]; i < x->leaves && i < leaf[k] + width[k]; i++)
                x->done[i] = width[k];
        }
    }
    free(own);
    free(cut);
    fit_tree_finish(&(struct fit_tree_rows){x->node, x->nout, x->nout, 0}, x->leaves, x->done);
}

static int simulate(const struct run *x, struct fit_pass_cost cost)
{
    double *one = malloc(x->nout * sizeof *one);
    int bad = !one;
    const struct fit_pass_shares alone = fit_pass_shares(x->ds, x->nout, 1);
    by_ranks(x, 1);
    if (one)
        memcpy(one, x->node, x->nout * sizeof *one);
    printf("%8s %6s %8s %10s %12s %11s\n", "ranks", "nodes", "bits", "largest", "pass", "efficiency");
    for (size_t size = 1; one && size <= MOST; size = size < 4 ? size + 1 : size == 4 ? 7 : size == 7 ? 16 : size * 4) {
        by_ranks(x, size);
        const int same = memcmp(one, x->node, x->nout * sizeof *one) == 0;
        const struct fit_pass_shares s = fit_pass_shares(x->ds, x->nout, size);
        const double t = fit_pass_seconds(&cost, &s);
        printf("%8zu %6zu %8s %10.3f %9.3g s %9.1f %%\n", size, s.nodes, same ? "same" : "DIFFER",
               s.most * (double)size / s.values, t, 100 * fit_pass_seconds(&cost, &alone) / t / (double)size);
        bad |= !same;
    }
    free(one);
    return bad;
}

/* Efficiency for other amounts of data with the same groups. */
static void predict(size_t groups, struct fit_pass_cost cost)
{
    static const size_t ranks[] = {1, 4, 16, 64, 256, 1024, 4096};
    printf("\nefficiency, %%, by values and ranks\n%8s", "");
    for (size_t k = 0; k < sizeof ranks / sizeof *ranks; k++)
        printf(" %6zu", ranks[k]);
    for (double values = 1e7; values < 2e11; values *= 10) {
        struct fit_dataset *ds = shape((size_t)sqrt(2 * values / (double)groups), groups);
        printf("\n%8.0e", values);
        for (size_t k = 0; ds && k < sizeof ranks / sizeof *ranks; k++) {
            const struct fit_pass_shares one = fit_pass_shares(ds, numbers(groups), 1),
                                         s = fit_pass_shares(ds, numbers(groups), ranks[k]);
            printf(" %6.1f", 100 * fit_pass_seconds(&cost, &one) / fit_pass_seconds(&cost, &s) / (double)ranks[k]);
        }
        fit_dataset_free(ds);
    }
    printf("\n");
}

int main(int argc, char **argv)
{
    const size_t frames = argc > 1 ? strtoul(argv[1], NULL, 10) : 9400;
    const size_t groups = argc > 2 ? strtoul(argv[2], NULL, 10) : 23;
    struct fit_pass_cost cost = fit_pass_cost_here();
    cost.value = 1e-9 * (argc > 3 ? strtod(argv[3], NULL) : 1.2);
    cost.addition = argc > 4 ? 1e-9 * strtod(argv[4], NULL) : cost.addition;
    cost.message = argc > 5 ? 1e-6 * strtod(argv[5], NULL) : cost.message;
    cost.bytes = argc > 6 ? 1e9 * strtod(argv[6], NULL) : cost.bytes;
    struct run x = {.ds = shape(frames, groups), .nout = numbers(groups)};
    if (!x.ds)
        return 1;
    x.leaves = fit_parallel_leaves(x.ds->ntile);
    x.leaf = calloc(x.leaves * x.nout, sizeof *x.leaf);
    x.node = calloc(x.leaves * x.nout, sizeof *x.node);
    x.done = calloc(x.leaves, sizeof *x.done);
    int bad = !x.leaf || !x.node || !x.done;
    if (!bad) {
        sum_leaves(&x);
        printf("%zu frames, %zu angles: %zu tiles, %zu leaves, %zu numbers in a sum\n", frames, groups, x.ds->ntile,
               x.leaves, x.nout);
        bad = simulate(&x, cost);
        predict(groups, cost);
    }
    free(x.leaf);
    free(x.node);
    free(x.done);
    fit_dataset_free((struct fit_dataset *)x.ds);
    return bad;
}
