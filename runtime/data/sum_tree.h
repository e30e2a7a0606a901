/* sum_tree.h -- one binary tree of sums, finished in parts.
 *
 * n leaves are added in an order that depends only on n: at level s, leaf k + 2^s is added to leaf k, for all k that
 * are multiples of 2^(s+1). A rank that owns the leaves [first, last) can finish every node of the tree that lies
 * inside; these nodes, at most 2 log2 n of them, are all that others need: with the nodes of all ranks the tree is
 * finished by the additions that one process would do, so that the total has the same bits for any number of ranks.
 * (The dyadic cover of an interval; for binary trees in sums see Higham, Accuracy and Stability of Numerical
 * Algorithms, 2002, section 4.2.)
 */
#pragma once

#include <stddef.h>

/* Begin of the share of rank r of `size`; that of rank `size` is n. Cuts are at multiples of a power of two that is
 * small compared with a share, so that few nodes cover it. */
size_t fit_tree_cut(size_t n, size_t size, size_t r);

/* The same for leaves of unlike weight, of which each share shall have the same part.  upto: what the leaves before k
 * weigh together, for k <= n. */
size_t fit_tree_cut_weighed(const double *upto, size_t n, size_t size, size_t r);

/* Leaves of a share that begin a node inside of it, in order, and the widths of the nodes in leaves (a power of two,
 * also where the tree ends within); returns how many.  leaf, width: FIT_TREE_NODES each. */
enum { FIT_TREE_NODES = 128 };
size_t fit_tree_cover(size_t n, size_t first, size_t last, size_t *leaf, size_t *width);

/* Finishes the node of `width` leaves that begins at `leaf`: its sum is in row `leaf` afterwards. sum: rows of
 * `stride` numbers, one for each leaf from `base` on; nout of them count. */
struct fit_tree_rows {
    double *sum;
    size_t stride, nout, base;
};
void fit_tree_node(const struct fit_tree_rows *rows, size_t n, size_t leaf, size_t width);

/* The tree from nodes: done[k] is the width of the finished node to which leaf k belongs; their sums are in the rows
 * where they begin. The total is in row 0 afterwards. */
void fit_tree_finish(const struct fit_tree_rows *rows, size_t n, const size_t *done);
