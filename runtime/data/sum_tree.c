/* sum_tree.c -- see sum_tree.h. */
#include "data/sum_tree.h"

enum { PARTS = 16 }; /* fractions of a share: a cut is at most one of them from its ideal position */

size_t fit_tree_cut(size_t n, size_t size, size_t r)
{
    size_t grain = 1;
    while (grain * 2 * PARTS * size <= n)
        grain *= 2;
    return r >= size ? n : (r * n / size + grain / 2) / grain * grain;
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
