/* gather.c -- the cost of meeting: mpiexec -n RANKS bench-gather libbench-allreduce-MPI.so [ROUNDS]
 *
 * One pass ends with the leaves of each rank; what follows is timed, for the sums of 7 parameters and 1, 23 and 100
 * groups and 512 leaves: by the tree (nodes of the own leaves, gathered, the tree finished: the bits of one process),
 * and by MPI_Allreduce of the own leaves' sum (bits that depend on the number of ranks); the two take turns.  Then
 * blocks of different lengths are gathered, and a line through the least times gives the constants of
 * runtime/data/pass_cost.h for bench-ranks: seconds of an addition, of a message, and bytes in a second (Hockney
 * 1994). */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "data/sum_tree.h"
#include "ranks/find.h"
#include "ranks/ranks.h"

enum { LEAVES = 512, MOST = 1 << 20 };

typedef void allreduce(const double *mine, double *sum, int n);

struct bench {
    size_t nout, first, last, nnode, total, rank, size;
    size_t leaf[FIT_TREE_NODES], width[FIT_TREE_NODES], *count, begin[LEAVES], done[LEAVES];
    double *partial, *send, *receive, *sum;
    allreduce *reduce;
};

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Shares and nodes, as tile_sums.c has them. */
static void share(struct bench *b)
{
    b->total = 0;
    for (size_t r = 0; r < b->size; r++) {
        const size_t from = fit_tree_cut(LEAVES, b->size, r), to = fit_tree_cut(LEAVES, b->size, r + 1);
        b->count[r] = fit_tree_cover(LEAVES, from, to, b->leaf, b->width) * b->nout;
        for (size_t k = 0; k < b->count[r] / b->nout; k++) {
            b->begin[b->total++] = b->leaf[k];
            for (size_t i = b->leaf[k]; i < LEAVES && i < b->leaf[k] + b->width[k]; i++)
                b->done[i] = b->width[k];
        }
    }
    b->first = fit_tree_cut(LEAVES, b->size, b->rank);
    b->last = fit_tree_cut(LEAVES, b->size, b->rank + 1);
    b->nnode = fit_tree_cover(LEAVES, b->first, b->last, b->leaf, b->width);
}

static void fill(struct bench *b)
{
    for (size_t k = 0; k < LEAVES * b->nout; k++)
        b->partial[k] = sin((double)k);
}

static double by_tree(struct bench *b)
{
    const struct fit_tree_rows rows = {b->partial, b->nout, b->nout, 0};
    const double t = fit_seconds();
    for (size_t k = 0; k < b->nnode; k++) {
        fit_tree_node(&rows, LEAVES, b->leaf[k], b->width[k]);
        memcpy(b->send + k * b->nout, b->partial + b->leaf[k] * b->nout, b->nout * sizeof *b->send);
    }
    fit_ranks_gather(b->send, b->count, b->receive);
    for (size_t k = 0; k < b->total; k++)
        memcpy(b->partial + b->begin[k] * b->nout, b->receive + k * b->nout, b->nout * sizeof *b->receive);
    fit_tree_finish(&rows, LEAVES, b->done);
    return fit_seconds() - t;
}

static double by_allreduce(struct bench *b)
{
    const struct fit_tree_rows rows = {b->partial + b->first * b->nout, b->nout, b->nout, 0};
    const double t = fit_seconds();
    fit_tree_node(&rows, b->last - b->first, 0, b->last - b->first);
    b->reduce(rows.sum, b->sum, (int)b->nout);
    return fit_seconds() - t;
}

/* The same number of the slowest rank, of each round. */
static void of_slowest(double *x, size_t n)
{
    for (size_t k = 0; k < n; k++)
        x[k] = -fit_ranks_least(-x[k]);
    qsort(x, n, sizeof *x, ascending);
}

static void compare(struct bench *b, size_t groups, size_t rounds)
{
    double *tree = malloc(rounds * sizeof *tree), *all = malloc(rounds * sizeof *all);
    b->nout = groups * 6 + 35 + groups * 14;
    share(b);
    for (size_t k = 0; tree && all && k < rounds; k++) {
        fill(b);
        fit_ranks_agree();
        tree[k] = by_tree(b);
        fill(b);
        fit_ranks_agree();
        all[k] = by_allreduce(b);
    }
    if (tree && all) {
        of_slowest(tree, rounds);
        of_slowest(all, rounds);
        if (b->rank == 0)
            printf("%6zu %8zu %7zu %11.1f %11.1f %11.1f %11.1f %8.2f %8.2f\n", groups, b->nout, b->total,
                   1e6 * tree[0], 1e6 * tree[rounds / 2], 1e6 * all[0], 1e6 * all[rounds / 2],
                   tree[0] / all[0], tree[rounds / 2] / all[rounds / 2]);
    }
    free(tree);
    free(all);
}

/* Least time of gathering n numbers from each. */
static double gathered(struct bench *b, size_t n, size_t rounds)
{
    double least = INFINITY;
    for (size_t r = 0; r < b->size; r++)
        b->count[r] = n;
    for (size_t k = 0; k < rounds; k++) {
        fit_ranks_agree();
        const double t = fit_seconds();
        fit_ranks_gather(b->send, b->count, b->receive);
        least = fmin(least, fit_seconds() - t);
    }
    return -fit_ranks_least(-least);
}

static double addition(struct bench *b, size_t rounds)
{
    const struct fit_tree_rows rows = {b->partial, b->nout, b->nout, 0};
    double least = INFINITY;
    for (size_t k = 0; k < rounds; k++) {
        fill(b);
        const double t = fit_seconds();
        fit_tree_node(&rows, LEAVES, 0, LEAVES);
        least = fmin(least, fit_seconds() - t);
    }
    return least / (double)((LEAVES - 1) * b->nout);
}

static void constants(struct bench *b, size_t rounds)
{
    b->nout = 495;
    const double add = addition(b, rounds), few = gathered(b, 1, rounds), many = gathered(b, MOST / 8, rounds / 8 + 1);
    const double steps = ceil(log2((double)b->size)), bytes = 8.0 * (double)b->size * (MOST / 8 - 1);
    if (b->rank == 0)
        printf("constants: %.3g ns an addition, %.3g us a message, %.3g GB/s\n", 1e9 * add, 1e6 * few / steps,
               1e-9 * bytes / (many - few));
}

static int begin(struct bench *b, const char *library)
{
    static atomic_int interrupt;
    char path[FIT_RANKS_PATH];
    const char *words = getenv("OMPI_COMM_WORLD_SIZE"), *size = words ? words : getenv("PMI_SIZE");
    const struct fit_ranks_plugin *plugin = NULL;
    struct fit_error err = {.status = FIT_OK};
    const char *told = words ? "OMPI_COMM_WORLD_SIZE" : "PMI_SIZE";
    if (!size || fit_ranks_find(told, &plugin, path, &err) != FIT_OK || !plugin ||
        fit_ranks_begin(plugin, atol(size), &interrupt, &err) != FIT_OK) {
        fprintf(stderr, "bench-gather: %s\n", size ? err.message : "to be started by mpiexec");
        return 0;
    }
    void *handle = dlopen(library, RTLD_NOW);
    *(void **)&b->reduce = handle ? dlsym(handle, "bench_allreduce") : NULL;
    b->rank = fit_ranks_rank();
    b->size = fit_ranks_size();
    b->partial = calloc(LEAVES * 2100, sizeof(double));
    b->send = calloc(MOST, sizeof(double));
    b->receive = calloc(MOST * b->size, sizeof(double));
    b->sum = calloc(2100, sizeof(double));
    b->count = calloc(b->size, sizeof *b->count);
    return b->reduce && b->partial && b->send && b->receive && b->sum && b->count;
}

int main(int argc, char **argv)
{
    static struct bench b;
    const size_t rounds = argc > 2 ? strtoul(argv[2], NULL, 10) : 400;
    if (argc < 2 || !begin(&b, argv[1])) {
        fprintf(stderr, "mpiexec -n 2 bench-gather libbench-allreduce-MPI.so [ROUNDS]\n");
        return 2;
    }
    if (b.rank == 0)
        printf("%s, %zu ranks, %d leaves; us of the slowest rank: least and median of the rounds\n"
               "%6s %8s %7s %23s %23s %17s\n",
               fit_ranks_library(), b.size, LEAVES, "groups", "numbers", "nodes", "tree", "MPI_Allreduce", "ratio");
    compare(&b, 1, rounds);
    compare(&b, 23, rounds);
    compare(&b, 100, rounds / 4 + 1);
    if (b.size > 1)
        constants(&b, rounds);
    free(b.partial);
    free(b.send);
    free(b.receive);
    free(b.sum);
    free(b.count);
    fit_ranks_end(FIT_OK);
    return 0;
}
