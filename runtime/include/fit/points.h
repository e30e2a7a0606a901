/* fit/points.h -- single points of the data in the lanes of vectors: which they are, what they read, where the
 * results go.
 *
 * Emitted functions at arbitrary points take FIT_VL of them at once.  Behind the last point it is taken again,
 * and only what counts is stored, so a result depends on its own point alone.  Where they are a run along a row of a
 * matrix, what they read is one number or lies side by side: the same numbers, without a gather.
 */
#ifndef FIT_POINTS_H
#define FIT_POINTS_H

#include "fit/kernel.h"
#include "fit/vmath.h"

/* Points p, p + 1, ... of a list: a vector of them. */
struct fit_vpoints {
    size_t n; /* that count: 1 .. FIT_VL */
    int run;  /* 1: one frame i, one group, j rising by one; the first of each is given.  A constant where it is read */
    uint32_t i[FIT_VL], j[FIT_VL], g[FIT_VL]; /* frames i <= j of a pair, or place i of a row; the group */
};

/* How many of the n points from place p on fit into a vector. */
FIT_INLINE size_t fit_points_left(size_t p, size_t n)
{
    return n - p < FIT_VL ? n - p : FIT_VL;
}

/* 1: the FIT_VL pairs from the first on are a run. */
FIT_INLINE int fit_pairs_run(const uint32_t *pi, const uint32_t *pj, const uint32_t *pg)
{
    uint32_t other = pi[0] > pj[0];
    for (uint32_t k = 1; k < FIT_VL; k++)
        other |= (pi[k] ^ pi[0]) | (pg[k] ^ pg[0]) | (pj[k] ^ (pj[0] + k));
    return other == 0;
}

/* The stretch of pairs from place p on that are all whole runs, or of which none is; *run: which. */
FIT_INLINE struct fit_points fit_pairs_stretch(const struct fit_points *list, size_t p, int *run)
{
    const uint32_t *pi = list->i + p, *pj = list->j + p, *pg = list->g + p;
    size_t n = list->n - p, m = FIT_VL;
    *run = n >= FIT_VL && fit_pairs_run(pi, pj, pg);
    while (m + FIT_VL <= n && fit_pairs_run(pi + m, pj + m, pg + m) == *run)
        m += FIT_VL;
    return (struct fit_points){*run || m + FIT_VL <= n ? m : n, pi, pj, pg};
}

/* Pairs of frames in any order, or runs. */
FIT_INLINE struct fit_vpoints fit_pairs_at(const struct fit_points *list, size_t p, int run)
{
    const uint32_t *pi = list->i, *pj = list->j, *pg = list->g;
    struct fit_vpoints at;
    at.n = run ? FIT_VL : fit_points_left(p, list->n);
    at.run = run;
    if (run) {
        at.i[0] = pi[p];
        at.j[0] = pj[p];
        at.g[0] = pg[p];
        return at;
    }
    for (size_t k = 0; k < FIT_VL; k++) {
        const size_t q = k < at.n ? p + k : list->n - 1;
        at.i[k] = pi[q] < pj[q] ? pi[q] : pj[q];
        at.j[k] = pi[q] < pj[q] ? pj[q] : pi[q];
        at.g[k] = pg[q];
    }
    return at;
}

/* Rows of a table. */
FIT_INLINE struct fit_vpoints fit_rows_at(const struct fit_points *list, size_t p)
{
    struct fit_vpoints at;
    at.n = fit_points_left(p, list->n);
    at.run = 0;
    for (size_t k = 0; k < FIT_VL; k++) {
        const size_t q = k < at.n ? p + k : list->n - 1;
        at.i[k] = at.j[k] = list->i[q];
        at.g[k] = list->g ? list->g[q] : 0;
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

/* The same of frames i, of frames j, and of groups. */
FIT_INLINE fit_vd fit_pick_i(const double *x, const struct fit_vpoints *at)
{
    return at->run ? fit_vset1(x[at->i[0]]) : fit_pick(x, at->i);
}

FIT_INLINE fit_vd fit_pick_j(const double *x, const struct fit_vpoints *at)
{
    return at->run ? fit_vloadu(x + at->j[0]) : fit_pick(x, at->j);
}

FIT_INLINE fit_vd fit_pick_g(const double *x, const struct fit_vpoints *at)
{
    return at->run ? fit_vset1(x[at->g[0]]) : fit_pick(x, at->g);
}

/* x[g stride]: of a matrix with a row for each group. */
FIT_INLINE fit_vd fit_pick_stride(const double *x, size_t stride, const struct fit_vpoints *at)
{
    fit_vd r = {0};
    if (at->run)
        return fit_vset1(x[at->g[0] * stride]);
    for (size_t k = 0; k < FIT_VL; k++)
        r[k] = x[at->g[k] * stride];
    return r;
}

/* Entries (f, g) of a table [frame][group], f the frames i or j. */
FIT_INLINE fit_vd fit_pick_group(const double *x, const uint32_t *f, size_t ng, const uint32_t *g)
{
    fit_vd r = {0};
    for (size_t k = 0; k < FIT_VL; k++)
        r[k] = x[f[k] * ng + g[k]];
    return r;
}

FIT_INLINE fit_vd fit_pick_group_i(const double *x, size_t ng, const struct fit_vpoints *at)
{
    return at->run ? fit_vset1(x[at->i[0] * ng + at->g[0]]) : fit_pick_group(x, at->i, ng, at->g);
}

FIT_INLINE fit_vd fit_pick_group_j(const double *x, size_t ng, const struct fit_vpoints *at)
{
    fit_vd r = {0};
    if (!at->run)
        return fit_pick_group(x, at->j, ng, at->g);
    for (size_t k = 0; k < FIT_VL; k++)
        r[k] = x[(at->j[0] + k) * ng + at->g[0]];
    return r;
}

/* x_j - x_i of a table over frames. */
FIT_INLINE fit_vd fit_pick_change(const double *x, const struct fit_vpoints *at)
{
    return fit_pick_j(x, at) - fit_pick_i(x, at);
}

/* The same of a table [frame][group]. */
FIT_INLINE fit_vd fit_pick_change_group(const double *x, size_t ng, const struct fit_vpoints *at)
{
    return fit_pick_group_j(x, ng, at) - fit_pick_group_i(x, ng, at);
}

/* The same of a table P over frames with what its rounding left, P_low. */
FIT_INLINE fit_vd fit_pick_change_low(const double *P, const double *P_low, const struct fit_vpoints *at)
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

/* The first n lanes of `width` columns of a matrix, the columns `stride` numbers apart. */
FIT_INLINE void fit_store_columns(double *out, size_t stride, size_t width, size_t n, const fit_vd *column)
{
    for (size_t c = 0; c < width; c++)
        fit_store_points(out + c * stride, n, column[c]);
}

/* The first n rows of a matrix with `width` columns: lane k of column[c] goes to out[k width + c]. */
FIT_INLINE void fit_store_rows(double *out, size_t width, size_t n, const fit_vd *column)
{
    for (size_t k = 0; k < n; k++)
        for (size_t c = 0; c < width; c++)
            out[k * width + c] = column[c][k];
}

#endif
