/* sum_tree.c -- see sum_tree.h. */
#include "data/sum_tree.h"

#include <math.h>

enum { PARTS = 16 }; /* of a share: a cut is at most one of them from its place */
/* By weight, a cut is at most this part of a share from its place: with few ranks, whose nodes are few anyway, less. */
static const double LEEWAY = 1.0 / 16, LEEWAY_OF_RANK = 1.0 / 512;

size_t fit_tree_cut(size_t n, size_t size, size_t r)
{
    size_t grain = 1;
    while (grain * 2 * PARTS * size <= n)
        grain *= 2;
    return r >= size ? n : (r * n / size + grain / 2) / grain * grain;
}

/* Leaves before which no more than `weight` lies. */
static size_t leaves_below(const double *upto, size_t n, double weight)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = (low + high + 1) / 2;
        if (upto[middle] <= weight)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

size_t fit_tree_cut_weighed(const double *upto, size_t n, size_t size, size_t r)
{
    const double share = upto[n] / (double)size, want = share * (double)r;
    const double leeway = share * fmin(LEEWAY, LEEWAY_OF_RANK * (double)size);
    if (r == 0 || r >= size)
        return r == 0 ? 0 : n;
    const size_t below = leaves_below(upto, n, want - leeway), last = leaves_below(upto, n, want + leeway);
    if (last == below) { /* a leaf is longer than that: its nearer end */
        const size_t next = below < n ? below + 1 : n;
        return upto[next] - want < want - upto[below] ? next : below;
    }
    size_t bit = 1; /* of the places behind `below`, the one that most powers of two divide */
    while (last / (2 * bit) > below / (2 * bit))
        bit *= 2;
    return last / bit * bit;
}

/* The widest node that begins at `leaf` and lies in [.., last). */
static size_t widest(size_t n, size_t leaf, size_t last)
{
    size_t width = 1;
    while (leaf % (2 * width) == 0 && width < n && (leaf + 2 * width <= last || last == n))
        width *= 2;
    return width;
}

size_t fit_tree_cover(size_t n, size_t first, size_t last, size_t *leaf, size_t *width)
{
    size_t count = 0;
    for (size_t k = first; k < last && count < FIT_TREE_NODES; k += width[count++]) {
        leaf[count] = k;
        width[count] = widest(n, k, last);
    }
    return count;
}

static void add(const struct fit_tree_rows *rows, size_t to, size_t from)
{
    double *a = rows->sum + (to - rows->base) * rows->stride;
    const double *b = rows->sum + (from - rows->base) * rows->stride;
    for (size_t i = 0; i < rows->nout; i++)
        a[i] += b[i];
}

void fit_tree_node(const struct fit_tree_rows *rows, size_t n, size_t leaf, size_t width)
{
    const size_t end = leaf + width < n ? leaf + width : n;
    for (size_t step = 1; step < width; step *= 2)
        for (size_t k = leaf; k + step < end; k += 2 * step)
            add(rows, k, k + step);
}

void fit_tree_finish(const struct fit_tree_rows *rows, size_t n, const size_t *done)
{
    for (size_t step = 1; step < n; step *= 2)
        for (size_t k = 0; k + step < n; k += 2 * step)
            if (done[k] <= step)
                add(rows, k, k + step);
}
