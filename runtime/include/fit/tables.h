/* fit/tables.h -- small tables over frames that emitted kernels read: gathering, re-centring, rotations.
 *
 * Frame arrays hold one double per used frame, padded with copies of the last one to a multiple of
 * FIT_LANES.  For functions that differ between groups there are two copies: _i [frame][group], read as
 * scalars at the first frame of a pair, and _j [frame / 8][group][8], read as vectors at the second.
 */
#ifndef FIT_TABLES_H
#define FIT_TABLES_H

#include "fit/kernel.h"
#include "fit/vmath.h"

#define FIT_INLINE static inline __attribute__((always_inline, unused))

/* A product of tables is trusted when no factor can overflow: re-centred arguments below this. */
#define FIT_EXP_SPAN 300.0

/* n doubles, rounded up to whole vectors of the data. */
FIT_INLINE size_t fit_padded(size_t n)
{
    return (n + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
}

/* Takes the used frames out of a table on the time grid. */
FIT_INLINE void fit_gather(const struct fit_layout *l, const double *grid, double *frame)
{
    for (size_t f = 0; f < fit_padded(l->nframe); f++)
        frame[f] = grid[l->frame[f < l->nframe ? f : l->nframe - 1]];
}

/* The same for ngroup tables, each padded(ntime) long, into both orders. */
FIT_INLINE void fit_gather_group(const struct fit_layout *l, const double *grid, double *frame_i, double *frame_j)
{
    const size_t ng = l->ngroup, stride = fit_padded(l->ntime);
    for (size_t f = 0; f < fit_padded(l->nframe); f++)
        for (size_t g = 0; g < ng; g++) {
            const double x = grid[g * stride + l->frame[f < l->nframe ? f : l->nframe - 1]];
            frame_i[f * ng + g] = x;
            frame_j[(f / FIT_LANES * ng + g) * FIT_LANES + f % FIT_LANES] = x;
        }
}

/* Place of frame f (a multiple of FIT_VL), group g in a _j array. */
FIT_INLINE size_t fit_group_at(const struct fit_layout *l, size_t f, size_t g)
{
    return (f / FIT_LANES * l->ngroup + g) * FIT_LANES + f % FIT_LANES;
}

/* P_j - P_i for the vector of frames from j, with what rounding left of P. */
FIT_INLINE fit_vd fit_delta_low(const double *P, const double *P_low, size_t j, size_t i)
{
    return (fit_vload(P + j) - P[i]) + (fit_vload(P_low + j) - P_low[i]);
}

/* First frame of the panel that holds frame f: the reference of exp tables at the second frame. */
FIT_INLINE size_t fit_panel_start(const struct fit_layout *l, size_t f)
{
    return f / l->panel * l->panel;
}

/* Last used frame of the chunk that holds frame f: the reference of exp tables at the first frame. */
FIT_INLINE size_t fit_chunk_end(const struct fit_layout *l, size_t f)
{
    const size_t end = (f / l->chunk + 1) * l->chunk;
    return (end < l->nframe ? end : l->nframe) - 1;
}

/* exp(u_j - u_i) = e_j * middle * e_i with e_j = exp(u_j - u_panel start), e_i = exp(u_chunk end - u_i) and
 * middle = exp(u_panel start - u_chunk end) per tile.  For a decaying exponential every factor is <= 1
 * outside the diagonal tiles: nothing overflows, and underflow happens only where the product underflows. */
FIT_INLINE void fit_exp_tables(const struct fit_layout *l, const double *u, double *e_i, double *e_j)
{
    for (size_t f = 0; f < fit_padded(l->nframe); f += FIT_VL) {
        fit_vd to_i, to_j;
        for (size_t k = 0; k < FIT_VL; k++) {
            const size_t ff = f + k < l->nframe ? f + k : l->nframe - 1;
            to_i[k] = u[fit_chunk_end(l, ff)] - u[ff];
            to_j[k] = u[ff] - u[fit_panel_start(l, ff)];
        }
        fit_vstore(e_i + f, fit_vexp(to_i));
        fit_vstore(e_j + f, fit_vexp(to_j));
    }
}

/* P_j - P_i of a table P with what its rounding left, P_low. */
FIT_INLINE double fit_low_difference(const double *P, const double *P_low, size_t j, size_t i)
{
    return (P[j] - P[i]) + (P_low[j] - P_low[i]);
}

/* fit_exp_tables for u = a P, from P + P_low: differences first, then the factor. */
FIT_INLINE void fit_exp_tables_scaled(const struct fit_layout *l, double a, const double *P, const double *P_low,
                                      double *e_i, double *e_j)
{
    for (size_t f = 0; f < fit_padded(l->nframe); f += FIT_VL) {
        fit_vd to_i, to_j;
        for (size_t k = 0; k < FIT_VL; k++) {
            const size_t ff = f + k < l->nframe ? f + k : l->nframe - 1;
            to_i[k] = a * fit_low_difference(P, P_low, fit_chunk_end(l, ff), ff);
            to_j[k] = a * fit_low_difference(P, P_low, ff, fit_panel_start(l, ff));
        }
        fit_vstore(e_i + f, fit_vexp(to_i));
        fit_vstore(e_j + f, fit_vexp(to_j));
    }
}

/* fit_exp_tables per group; u_i in the order [frame][group]. */
FIT_INLINE void fit_exp_tables_group(const struct fit_layout *l, const double *u_i, double *e_i, double *e_j)
{
    const size_t ng = l->ngroup;
    for (size_t f = 0; f < fit_padded(l->nframe); f += FIT_VL)
        for (size_t g = 0; g < ng; g++) {
            fit_vd to_i, to_j;
            for (size_t k = 0; k < FIT_VL; k++) {
                const size_t ff = f + k < l->nframe ? f + k : l->nframe - 1;
                to_i[k] = u_i[fit_chunk_end(l, ff) * ng + g] - u_i[ff * ng + g];
                to_j[k] = u_i[ff * ng + g] - u_i[fit_panel_start(l, ff) * ng + g];
            }
            to_i = fit_vexp(to_i);
            fit_vstore(e_j + fit_group_at(l, f, g), fit_vexp(to_j));
            for (size_t k = 0; k < FIT_VL; k++)
                e_i[(f + k) * ng + g] = to_i[k];
        }
}

/* What a tile needs to know of an exponential: the factor between its two references, and whether the
 * tables may be used (else exp is taken per pair). */
struct fit_exp_tile {
    double middle;
    int direct;
};

/* u: frame array (ng = 1) or [frame][group] at group g. */
FIT_INLINE struct fit_exp_tile fit_exp_tile(const struct fit_layout *l, const struct fit_tile *t, const double *u,
                                            size_t ng, size_t g)
{
    const double ref_i = u[fit_chunk_end(l, t->i0) * ng + g], ref_j = u[fit_panel_start(l, t->j0) * ng + g];
    double top = ref_j - ref_i, span = fabs(top);
    for (size_t i = t->i0; i < t->i1; i++) {
        const double x = ref_i - u[i * ng + g];
        top = x > top ? x : top;
        span = fabs(x) > span ? fabs(x) : span;
    }
    for (size_t j = t->j0; j < t->j1; j++) {
        const double x = u[j * ng + g] - ref_j;
        top = x > top ? x : top;
        span = fabs(x) > span ? fabs(x) : span;
    }
    /* all factors at most e: an underflow of one is an underflow of the product */
    return (struct fit_exp_tile){exp(ref_j - ref_i), !(top <= 1.0 || span < FIT_EXP_SPAN)};
}

/* The same for u = a P. */
FIT_INLINE struct fit_exp_tile fit_exp_tile_scaled(const struct fit_layout *l, const struct fit_tile *t, double a,
                                                   const double *P, const double *P_low)
{
    const size_t end = fit_chunk_end(l, t->i0), start = fit_panel_start(l, t->j0);
    const double middle = a * fit_low_difference(P, P_low, start, end);
    double top = middle, span = fabs(middle);
    for (size_t i = t->i0; i < t->i1; i++) {
        const double x = a * (P[end] - P[i]);
        top = x > top ? x : top;
        span = fabs(x) > span ? fabs(x) : span;
    }
    for (size_t j = t->j0; j < t->j1; j++) {
        const double x = a * (P[j] - P[start]);
        top = x > top ? x : top;
        span = fabs(x) > span ? fabs(x) : span;
    }
    return (struct fit_exp_tile){exp(middle), !(top <= 1.0 || span < FIT_EXP_SPAN)};
}

/* sin and cos of u, a frame array. */
FIT_INLINE void fit_rotation(const struct fit_layout *l, const double *u, double *s, double *c)
{
    for (size_t f = 0; f < fit_padded(l->nframe); f += FIT_VL) {
        fit_vd sn, cs;
        fit_vsincos(fit_vload(u + f), &sn, &cs);
        fit_vstore(s + f, sn);
        fit_vstore(c + f, cs);
    }
}

/* A vector of frames from f (a multiple of FIT_VL) of group g, into both orders. */
FIT_INLINE void fit_store_group(const struct fit_layout *l, size_t f, size_t g, fit_vd x, double *x_i, double *x_j)
{
    fit_vstore(x_j + fit_group_at(l, f, g), x);
    for (size_t k = 0; k < FIT_VL; k++)
        x_i[(f + k) * l->ngroup + g] = x[k];
}

/* sin and cos of a_g P, P + P_low a frame array.  The product's rounding error is passed on, so that
 * differences of large angles keep the accuracy of P. */
FIT_INLINE void fit_rotation_group(const struct fit_layout *l, const double *a, const double *P,
                                   const double *P_low, double *s_i, double *c_i, double *s_j, double *c_j)
{
    for (size_t f = 0; f < fit_padded(l->nframe); f += FIT_VL)
        for (size_t g = 0; g < l->ngroup; g++) {
            const fit_vd p = fit_vload(P + f), hi = p * a[g];
            fit_vd lo, sn, cs;
            for (size_t k = 0; k < FIT_VL; k++)
                lo[k] = fma(p[k], a[g], -hi[k]);
            lo += a[g] * fit_vload(P_low + f);
            fit_vsincos2(hi, lo, &sn, &cs);
            fit_store_group(l, f, g, sn, s_i, s_j);
            fit_store_group(l, f, g, cs, c_i, c_j);
        }
}

/* The same from u_j in the order [frame / 8][group][8]. */
FIT_INLINE void fit_rotation_group_u(const struct fit_layout *l, const double *u_j, double *s_i, double *c_i,
                                     double *s_j, double *c_j)
{
    for (size_t f = 0; f < fit_padded(l->nframe); f += FIT_VL)
        for (size_t g = 0; g < l->ngroup; g++) {
            fit_vd sn, cs;
            fit_vsincos(fit_vload(u_j + fit_group_at(l, f, g)), &sn, &cs);
            fit_store_group(l, f, g, sn, s_i, s_j);
            fit_store_group(l, f, g, cs, c_i, c_j);
        }
}

/* Lanes of the columns j, j+1, ... that pair with row i in the tile. */
FIT_INLINE fit_vm fit_pair_lanes(const struct fit_tile *t, size_t i, size_t j)
{
    fit_vm m = {0};
    for (size_t k = 0; k < FIT_VL; k++)
        m[k] = (j + k > i && j + k >= t->j0 && j + k < t->j1) ? -1 : 0;
    return m;
}

/* The sum over all lanes of n vectors, `stride` apart, times a table; less the sums of rows, where they are given. */
static __attribute__((noinline, unused)) double fit_column_sum(const fit_vd *column, size_t stride, size_t n,
                                                               const double *table, const fit_vd *row)
{
    fit_vd v = {0};
    for (size_t k = 0; k < n; k++)
        v += column[k * stride] * fit_vload(table + k * FIT_VL);
    return fit_vsum(row ? v - *row : v);
}

/* Row i of a tile in single precision to t->row, in the order of t->y, less the references; lanes that do not count are
 * 0, as outside of them there may be no file.  The next row, or the first one of the next panel, is asked for: rows of
 * a group lie on different pages. */
static __attribute__((noinline, unused)) const double *fit_row_single(const struct fit_layout *l,
                                                                      const struct fit_tile *t, size_t i)
{
    enum { LINE = 64 / sizeof(float) };
    const size_t ng = l->ngroup, begin = (i + 1 > t->j0 ? i + 1 : t->j0) / FIT_LANES * FIT_LANES;
    const ptrdiff_t here = (ptrdiff_t)(i - t->i0) * t->raw_row;
    const ptrdiff_t next = i + 1 < t->i1 ? here + t->raw_row : (ptrdiff_t)l->panel;
    for (size_t g = 0; g < ng; g++) {
        const float *x = t->raw[g];
        const double reference = t->reference[g];
        double *to = t->row + g * FIT_LANES;
        for (size_t k = 0; k < t->j1 - t->j0 + LINE; k += LINE)
            __builtin_prefetch(x + next + k);
        for (size_t j = begin; j < t->j1; j += FIT_LANES, to += ng * FIT_LANES) {
            const float *from = x + here + (ptrdiff_t)(j - t->j0);
            if (j > i && j + FIT_LANES <= t->j1)
                for (size_t k = 0; k < FIT_LANES; k += FIT_VL)
                    fit_vstore(to + k, fit_vload_single(from + k) - reference);
            else
                for (size_t k = 0; k < FIT_LANES; k++)
                    to[k] = i < j + k && j + k < t->j1 ? (double)from[k] - reference : 0;
        }
    }
    return t->row;
}

/* Data of row i of a tile from its first block on; that is at t->y + at. */
FIT_INLINE const double *fit_row_data(const struct fit_layout *l, const struct fit_tile *t, size_t i, size_t at)
{
    return t->raw ? fit_row_single(l, t, i) : t->y + at;
}

/* A vector of data; what comes `next` doubles later is asked for. */
FIT_INLINE fit_vd fit_data(const double *data, size_t next)
{
    __builtin_prefetch(data + next);
    return fit_vload(data);
}

/* Lane by lane the least |x| of the vectors from .. to-1, which are `stride` apart; NaN is passed over. */
FIT_INLINE fit_vd fit_nearest(const fit_vd *x, size_t stride, size_t from, size_t to)
{
    fit_vd least = fit_vset1(INFINITY);
    for (size_t k = from; k < to; k++) {
        const fit_vd a = fit_vabs(x[k * stride]);
        least = fit_vselect(a < least, a, least);
    }
    return least;
}

/* Where the rows of a group begin and end. */
FIT_INLINE size_t fit_rows_first(const struct fit_layout *l, size_t g)
{
    return l->first ? l->first[g] : 0;
}

FIT_INLINE size_t fit_rows_end(const struct fit_layout *l, size_t g)
{
    return l->first ? l->first[g] + l->count[g] : l->nrow;
}

/* Repeats the last row of a group behind it. */
FIT_INLINE void fit_pad_rows(size_t end, double *table)
{
    for (size_t row = end; row < fit_padded(end); row++)
        table[row] = table[end - 1];
}

/* Rows row, row+1, ... of a table that belong to the tile. */
FIT_INLINE fit_vm fit_row_lanes(const struct fit_tile *t, size_t row)
{
    return fit_lane_index() + (double)row < (double)t->i1;
}

/* Weights of the rows from row on: 0 where a lane does not count. */
FIT_INLINE fit_vd fit_row_weight(const struct fit_tile *t, size_t row)
{
    const fit_vd weight = t->w ? fit_vload(t->w + (row - t->i0)) : fit_vset1(1.0);
    return row + FIT_VL > t->i1 ? (fit_vd)(fit_row_lanes(t, row) & (fit_vm)weight) : weight;
}

/* x where the mask is set, 0 elsewhere (also when x is not finite there). */
FIT_INLINE fit_vd fit_where_set(fit_vm m, fit_vd x)
{
    return (fit_vd)(m & (fit_vm)x);
}

/* What enters a sum in a block.  masked is a constant in every call, so that whole blocks pay nothing. */
FIT_INLINE fit_vd fit_kept(int masked, fit_vm use, fit_vd x)
{
    return masked ? fit_where_set(use, x) : x;
}

/* The same times a weight, which is finite also where nothing counts. */
FIT_INLINE fit_vd fit_weighted(int masked, fit_vd weight, fit_vd x)
{
    return masked ? weight * x : x;
}

/* Both: x may be anything where it does not count. */
FIT_INLINE fit_vd fit_counted(int masked, fit_vm use, fit_vd weight, fit_vd x)
{
    return masked ? fit_where_set(use, weight * x) : x;
}

#endif
