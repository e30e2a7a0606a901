/* fit/operators.h -- linear operators between arrays of an objective: applied, and their adjoints.
 *
 * Adjoints add to the slopes of what the operator was applied to.  Each element of a result is a sum in an order that
 * does not depend on the range of units: of adjoints as well, which are computed by who owns the element.
 *
 * Included by emitted objectives after fit/vmath.h with FIT_VL = FIT_VL_NATIVE, and by nothing else.
 */
#ifndef FIT_OPERATORS_H
#define FIT_OPERATORS_H

#include "fit/functional.h"
#include "fit/operator_data.h"
#include "fit/vmath.h"

/* ---- outer: z_v = sum over r and c of y_vr x_vc I_rc ------------------------------------------------------- */

/* Of folded grids x_v,n-1-c = conj x_vc, and the same of y: then sums over half of the columns and rows of
 *     P0 = even even, P1 = odd odd, P2 = odd rows even columns, P3 = even rows odd columns
 * give  Re z = sum Re x (sum Re y P0) - Im x (sum Im y P1),  Im z = sum Re x (sum Im y P2) + Im x (sum Re y P3):
 * half of the work.  Of other grids all four are the image itself. */
enum { FIT_OUTER_ROWS = 4, FIT_OUTER_WIDE = 3 }; /* visibilities and vectors of columns at a time */

/* sum[v] += column factor times (sum over rows of row factor times plane), vector by vector; `wide` vectors from
 * column c on. */
FIT_INLINE void fit_outer_part(const struct fit_outer *o, const double *row, const double *column, const double *plane,
                               size_t v, size_t c, int wide, fit_vd sum[FIT_OUTER_ROWS], double sign)
{
    fit_vd a[FIT_OUTER_ROWS][FIT_OUTER_WIDE] = {{{0}}};
    const double *p = plane + c, *y = row + v * o->nrow;
    for (size_t r = 0; r < o->nrow; r++, p += o->pitch)
        for (int i = 0; i < FIT_OUTER_ROWS; i++)
            for (int j = 0; j < wide; j++)
                a[i][j] += y[(size_t)i * o->nrow + r] * fit_vload(p + j * FIT_VL);
    for (int i = 0; i < FIT_OUTER_ROWS; i++)
        for (int j = 0; j < wide; j++)
            sum[i] += sign * fit_vload(column + (v + (size_t)i) * o->pitch + c + (size_t)j * FIT_VL) * a[i][j];
}

/* Columns of a plane as wide as registers hold; of each the visibilities first .. first + n - 1, while they are in the
 * cache.  sum: of these visibilities. */
static void fit_outer_plane(const struct fit_outer *o, const double *row, const double *column, const double *plane,
                            size_t first, size_t n, fit_vd *sum, double sign)
{
    for (size_t c = 0; c < o->pitch; c += FIT_OUTER_WIDE * FIT_VL) {
        const size_t left = (o->pitch - c) / FIT_VL;
        for (size_t v = 0; v < n; v += FIT_OUTER_ROWS)
            if (left >= FIT_OUTER_WIDE)
                fit_outer_part(o, row, column, plane, first + v, c, FIT_OUTER_WIDE, sum + v, sign);
            else if (left == 2)
                fit_outer_part(o, row, column, plane, first + v, c, 2, sum + v, sign);
            else
                fit_outer_part(o, row, column, plane, first + v, c, 1, sum + v, sign);
    }
}

/* The planes of an image; one unit. */
static void fit_outer_fold(const struct fit_outer *o, const double *image)
{
    const size_t nx = o->nx, ny = o->ny;
    for (size_t r = 0; r < o->nrow; r++) {
        const double *a = image + r * nx, *b = image + (ny - 1 - r) * nx;
        double *p = o->plane + r * o->pitch;
        const int middle = o->folded && r == ny - 1 - r;
        for (size_t c = 0; c < o->ncolumn; c++) {
            const size_t d = nx - 1 - c;
            if (!o->folded) {
                p[c] = a[c];
                continue;
            }
            const double right = c == d ? 0.0 : 1.0, below = middle ? 0.0 : 1.0;
            const double even = a[c] + right * a[d], odd = right * (a[c] - a[d]);
            const double even_below = b[c] + right * b[d], odd_below = right * (b[c] - b[d]);
            p[c] = even + below * even_below;
            p[o->plane_size + c] = below * (odd - odd_below);
            p[2 * o->plane_size + c] = below * (even - even_below);
            p[3 * o->plane_size + c] = odd + below * odd_below;
        }
    }
}

static void fit_outer_apply(const struct fit_outer *o, double *re, double *im, size_t from, size_t to)
{
    const double *p[4];
    for (int k = 0; k < 4; k++)
        p[k] = o->plane + (o->folded ? (size_t)k * o->plane_size : 0);
    for (size_t block = from; block < to; block++) {
        const size_t v = block * FIT_BLOCK, n = o->n - v < FIT_BLOCK ? o->n - v : FIT_BLOCK;
        fit_vd x[FIT_BLOCK] = {{0}}, y[FIT_BLOCK] = {{0}};
        fit_outer_plane(o, o->row_re, o->column_re, p[0], v, n, x, 1.0);
        fit_outer_plane(o, o->row_im, o->column_im, p[1], v, n, x, -1.0);
        fit_outer_plane(o, o->row_im, o->column_re, p[2], v, n, y, 1.0);
        fit_outer_plane(o, o->row_re, o->column_im, p[3], v, n, y, 1.0);
        for (size_t i = 0; i < n; i++) {
            re[v + i] = fit_vsum(x[i]);
            im[v + i] = fit_vsum(y[i]);
        }
    }
}

enum { FIT_OUTER_RUN = 128, FIT_OUTER_UNITS = 8 }; /* visibilities, and units of rows, at a time, in the cache */

/* out[i][c] += sum over v of scaled[v][i] column[v][c], for FIT_UNIT_OF_ROWS rows i. */
FIT_INLINE void fit_outer_back_part(const struct fit_outer *o, const double *scaled, const double *column, size_t n,
                                    size_t c, int wide, double *out)
{
    fit_vd a[FIT_UNIT_OF_ROWS][FIT_OUTER_WIDE];
    for (size_t i = 0; i < FIT_UNIT_OF_ROWS; i++)
        for (int j = 0; j < wide; j++)
            a[i][j] = fit_vload(out + i * o->pitch + c + (size_t)j * FIT_VL);
    for (size_t v = 0; v < n; v++)
        for (size_t i = 0; i < FIT_UNIT_OF_ROWS; i++)
            for (int j = 0; j < wide; j++)
                a[i][j] += scaled[v * FIT_UNIT_OF_ROWS + i] * fit_vload(column + v * o->pitch + c + (size_t)j * FIT_VL);
    for (size_t i = 0; i < FIT_UNIT_OF_ROWS; i++)
        for (int j = 0; j < wide; j++)
            fit_vstore(out + i * o->pitch + c + (size_t)j * FIT_VL, a[i][j]);
}

/* out += the adjoint of one plane at the rows of some units, from row r on: row factor times s, times column factor.
 * step: from the numbers of a unit in out to those of the next. */
static void fit_outer_back_plane(const struct fit_outer *o, const double *row, const double *column, const double *s,
                                 double sign, size_t r, size_t units, double *out, size_t step)
{
    double scaled[FIT_OUTER_UNITS][FIT_OUTER_RUN * FIT_UNIT_OF_ROWS];
    for (size_t v0 = 0; v0 < o->n; v0 += FIT_OUTER_RUN) {
        const size_t n = o->n - v0 < FIT_OUTER_RUN ? o->n - v0 : FIT_OUTER_RUN;
        for (size_t v = 0; v < n; v++)
            for (size_t i = 0; i < units * FIT_UNIT_OF_ROWS; i++)
                scaled[i / FIT_UNIT_OF_ROWS][v * FIT_UNIT_OF_ROWS + i % FIT_UNIT_OF_ROWS] =
                    r + i < o->nrow ? sign * s[v0 + v] * row[(v0 + v) * o->nrow + r + i] : 0.0;
        const double *x = column + v0 * o->pitch;
        for (size_t c = 0; c < o->pitch; c += FIT_OUTER_WIDE * FIT_VL) {
            const size_t left = (o->pitch - c) / FIT_VL;
            for (size_t k = 0; k < units; k++)
                if (left >= FIT_OUTER_WIDE)
                    fit_outer_back_part(o, scaled[k], x, n, c, FIT_OUTER_WIDE, out + k * step);
                else if (left == 2)
                    fit_outer_back_part(o, scaled[k], x, n, c, 2, out + k * step);
                else
                    fit_outer_back_part(o, scaled[k], x, n, c, 1, out + k * step);
        }
    }
}

/* Slopes of the image from those of its planes, rows r and ny - 1 - r. */
static void fit_outer_unfold(const struct fit_outer *o, size_t r, const double *p, size_t step, double *slope)
{
    const size_t nx = o->nx, below = o->ny - 1 - r;
    for (size_t c = 0; c < o->ncolumn; c++) {
        const double ee = p[c], oo = p[step + c], oe = p[2 * step + c], eo = p[3 * step + c];
        const size_t d = nx - 1 - c;
        if (!o->folded) {
            slope[r * nx + c] += ((ee + oo) + oe) + eo;
            continue;
        }
        const int column = c == d, row = r == below; /* in the middle odd parts do not exist */
        slope[r * nx + c] += ((ee + (column || row ? 0 : oo)) + (row ? 0 : oe)) + (column ? 0 : eo);
        if (!column)
            slope[r * nx + d] += ((ee - (row ? 0 : oo)) + (row ? 0 : oe)) - eo;
        if (!row)
            slope[below * nx + c] += ((ee - (column ? 0 : oo)) - oe) + (column ? 0 : eo);
        if (!row && !column)
            slope[below * nx + d] += ((ee + oo) - oe) - eo;
    }
}

/* Units: FIT_UNIT_OF_ROWS rows of the (folded) grid; several of a range together, since they read the same columns. */
static void fit_outer_adjoint(const struct fit_outer *o, const double *re, const double *im, double *slope, size_t from,
                              size_t to)
{
    const size_t plane = FIT_UNIT_OF_ROWS * o->pitch, step = 4 * plane;
    for (size_t unit = from; unit < to; unit += FIT_OUTER_UNITS) {
        const size_t units = to - unit < FIT_OUTER_UNITS ? to - unit : FIT_OUTER_UNITS, r = unit * FIT_UNIT_OF_ROWS;
        double *p = o->back + unit * step;
        memset(p, 0, units * step * sizeof *p);
        fit_outer_back_plane(o, o->row_re, o->column_re, re, 1.0, r, units, p, step);
        fit_outer_back_plane(o, o->row_im, o->column_im, re, -1.0, r, units, p + plane, step);
        fit_outer_back_plane(o, o->row_im, o->column_re, im, 1.0, r, units, p + 2 * plane, step);
        fit_outer_back_plane(o, o->row_re, o->column_im, im, 1.0, r, units, p + 3 * plane, step);
        for (size_t k = 0; k < units; k++)
            for (size_t i = 0; i < FIT_UNIT_OF_ROWS && r + k * FIT_UNIT_OF_ROWS + i < o->nrow; i++)
                fit_outer_unfold(o, r + k * FIT_UNIT_OF_ROWS + i, p + k * step + i * o->pitch, plane, slope);
    }
}

/* ---- difference: to the next row or column, 0 beyond the last ---------------------------------------------- */

static void fit_difference_apply(const struct fit_difference *d, const double *x, double *y, size_t from, size_t to)
{
    for (size_t k = from * FIT_BLOCK; k < to * FIT_BLOCK && k < d->n; k++) {
        const int last = d->stride == 1 ? k % d->nx == d->nx - 1 : k + d->nx >= d->n;
        y[k] = (last ? 0.0 : x[k + d->stride]) - x[k];
    }
}

static void fit_difference_adjoint(const struct fit_difference *d, const double *y, double *x, size_t from, size_t to)
{
    for (size_t k = from * FIT_BLOCK; k < to * FIT_BLOCK && k < d->n; k++) {
        const int first = d->stride == 1 ? k % d->nx == 0 : k < d->nx;
        x[k] += (first ? 0.0 : y[k - d->stride]) - y[k];
    }
}

/* ---- gather: elements of another axis, conjugate where the place is negative -------------------------------- */

/* sign: -1 for imaginary parts, which change with conjugation, else 1. */
static void fit_gather_apply(const struct fit_gather *g, double sign, const double *x, double *y, size_t from,
                             size_t to)
{
    for (size_t k = from * FIT_BLOCK; k < to * FIT_BLOCK && k < g->n; k++)
        y[k] = g->place[k] > 0 ? x[g->place[k] - 1] : sign * x[-g->place[k] - 1];
}

/* Units of the axis that is gathered from: its elements know where they went, in rising order. */
static void fit_gather_adjoint(const struct fit_gather *g, double sign, const double *y, double *x, size_t from,
                               size_t to)
{
    for (size_t k = from * FIT_BLOCK; k < to * FIT_BLOCK && k < g->nfrom; k++) {
        double sum = 0;
        for (size_t i = g->begin[k]; i < g->begin[k + 1]; i++)
            sum += g->place[g->user[i]] > 0 ? y[g->user[i]] : sign * y[g->user[i]];
        x[k] += sum;
    }
}

/* ---- blocks: a square matrix for each run of the axis ------------------------------------------------------- */

static void fit_blocks_apply(const struct fit_blocks *b, const double *x, double *y, size_t from, size_t to)
{
    for (size_t k = from; k < to; k++) {
        const size_t n = b->begin[k + 1] - b->begin[k];
        const double *m = b->matrix + b->offset[k], *in = x + b->begin[k];
        for (size_t i = 0; i < n; i++) {
            double sum = 0;
            for (size_t j = 0; j < n; j++)
                sum += m[i * n + j] * in[j];
            y[b->begin[k] + i] = sum;
        }
    }
}

static void fit_blocks_adjoint(const struct fit_blocks *b, const double *y, double *x, size_t from, size_t to)
{
    for (size_t k = from; k < to; k++) {
        const size_t n = b->begin[k + 1] - b->begin[k];
        const double *m = b->matrix + b->offset[k], *in = y + b->begin[k];
        for (size_t j = 0; j < n; j++) {
            double sum = 0;
            for (size_t i = 0; i < n; i++)
                sum += m[i * n + j] * in[i];
            x[b->begin[k] + j] += sum;
        }
    }
}

/* ---- dense: any matrix, rows one after the other ------------------------------------------------------------ */

static void fit_dense_apply(const struct fit_dense *d, const double *x, double *y, size_t from, size_t to)
{
    for (size_t k = from * FIT_BLOCK; k < to * FIT_BLOCK && k < d->n; k++) {
        const double *m = d->matrix + k * d->pitch;
        fit_vd sum = {0};
        for (size_t j = 0; j < d->pitch; j += FIT_VL) {
            fit_vd in = fit_vload(x + j);
            if (j + FIT_VL > d->nfrom)
                in = fit_where_set((fit_lane_index() + (double)j) < (double)d->nfrom, in);
            sum += fit_vload(m + j) * in;
        }
        y[k] = fit_vsum(sum);
    }
}

static void fit_dense_adjoint(const struct fit_dense *d, const double *y, double *x, size_t from, size_t to)
{
    const size_t end = to * FIT_BLOCK < d->pitch ? to * FIT_BLOCK : d->pitch;
    for (size_t j = from * FIT_BLOCK; j < end; j += FIT_VL) {
        fit_vd sum = {0};
        for (size_t k = 0; k < d->n; k++)
            sum += y[k] * fit_vload(d->matrix + k * d->pitch + j);
        fit_vstore(x + j, fit_vload(x + j) + sum);
    }
}

#endif
