/* fit/points.h -- single points of the data in the lanes of vectors: which they are, what they read, where the
 * results go.
 *
 * Emitted functions at arbitrary points take FIT_VL of them at once.  Behind the last point it is taken again,
 * and only what counts is stored, so a result depends on its own point alone.
 */
#ifndef FIT_POINTS_H
#define FIT_POINTS_H

#include "fit/kernel.h"
#include "fit/vmath.h"

/* Points p, p + 1, ... of a list. */
struct fit_points {
    size_t n; /* that count: 1 .. FIT_VL */
    uint32_t i[FIT_VL], j[FIT_VL], g[FIT_VL]; /* frames i <= j of a pair, or place i of a row; the group */
};

/* How many of the n points from place p on fit into a vector. */
FIT_INLINE size_t fit_points_left(size_t p, size_t n)
{
    return n - p < FIT_VL ? n - p : FIT_VL;
}

/* Pairs of frames in any order. */
FIT_INLINE struct fit_points fit_pairs_at(size_t p, size_t n, const uint32_t *pi, const uint32_t *pj,
                                          const uint32_t *pg)
{
    struct fit_points at;
    at.n = fit_points_left(p, n);
    for (size_t k = 0; k < FIT_VL; k++) {
        const size_t q = k < at.n ? p + k : n - 1;
        at.i[k] = pi[q] < pj[q] ? pi[q] : pj[q];
        at.j[k] = pi[q] < pj[q] ? pj[q] : pi[q];
        at.g[k] = pg[q];
    }
    return at;
}

/* Rows of a table; pg may be NULL where there is one group. */
FIT_INLINE struct fit_points fit_rows_at(size_t p, size_t n, const uint32_t *pi, const uint32_t *pg)
{
    struct fit_points at;
    at.n = fit_points_left(p, n);
    for (size_t k = 0; k < FIT_VL; k++) {
        const size_t q = k < at.n ? p + k : n - 1;
        at.i[k] = at.j[k] = pi[q];
        at.g[k] = pg ? pg[q] : 0;
    }
    return at;
}

/* x[at], lane by lane. */
FIT_INLINE fit_vd fit_pick(const double *x, const uint32_t *at)
{
    fit_vd r = {0};
    for (size_t k = 0; k < FIT_VL; k++)
        r[k] = x[at[k]];
    return r;
}

/* x[at stride]: a column of a matrix by rows. */
FIT_INLINE fit_vd fit_pick_stride(const double *x, size_t stride, const uint32_t *at)
{
    fit_vd r = {0};
    for (size_t k = 0; k < FIT_VL; k++)
        r[k] = x[at[k] * stride];
    return r;
}

/* Entry (f, g) of a table [frame][group]. */
FIT_INLINE fit_vd fit_pick_group(const double *x, const uint32_t *f, size_t ng, const uint32_t *g)
{
    fit_vd r = {0};
    for (size_t k = 0; k < FIT_VL; k++)
        r[k] = x[f[k] * ng + g[k]];
    return r;
}

/* x_j - x_i of a table over frames. */
FIT_INLINE fit_vd fit_pick_change(const double *x, const struct fit_points *at)
{
    return fit_pick(x, at->j) - fit_pick(x, at->i);
}

/* The same of a table [frame][group]. */
FIT_INLINE fit_vd fit_pick_change_group(const double *x, size_t ng, const struct fit_points *at)
{
    return fit_pick_group(x, at->j, ng, at->g) - fit_pick_group(x, at->i, ng, at->g);
}

/* The same of a table P over frames with what its rounding left, P_low. */
FIT_INLINE fit_vd fit_pick_change_low(const double *P, const double *P_low, const struct fit_points *at)
{
    return fit_pick_change(P, at) + fit_pick_change(P_low, at);
}

/* The first n lanes. */
FIT_INLINE void fit_store_points(double *out, size_t n, fit_vd x)
{
    if (__builtin_expect(n == FIT_VL, 1))
        fit_vstoreu(out, x);
    else
        for (size_t k = 0; k < n; k++)
            out[k] = x[k];
}

/* The first n rows of a matrix with `width` columns: lane k of column[c] goes to out[k width + c]. */
FIT_INLINE void fit_store_rows(double *out, size_t width, size_t n, const fit_vd *column)
{
    for (size_t k = 0; k < n; k++)
        for (size_t c = 0; c < width; c++)
            out[k * width + c] = column[c][k];
}

#endif
