/* dataset_rows.c -- tables as datasets: tiles of consecutive rows.  See dataset.h and fit/kernel.h.
 *
 * Rows that do not count (a value that is not finite, an error that is not positive) keep their
 * place with weight zero, and repeat the columns of a row that counts, so that the model stays
 * finite there.  The same holds for the padding to a multiple of 8.
 */
#include "dataset_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define L FIT_LANES

enum { TILES_WANTED = 16, ROWS_MIN = 64, ROWS_MAX = 4096 };

static enum fit_status no_memory(struct fit_error *err)
{
    return fit_fail(err, FIT_ERR_MEMORY, "table: out of memory");
}

static size_t padded(size_t nrow)
{
    return (nrow + L - 1) / L * L;
}

static enum fit_status copy_columns(struct fit_dataset *ds, size_t nrow, size_t ncolumn,
                                    const double *const *column, struct fit_error *err)
{
    struct fit_dataset_private *p = ds->private_;
    p->column = calloc(ncolumn ? ncolumn : 1, sizeof *p->column);
    if (!p->column)
        return no_memory(err);
    p->ncolumn = ncolumn;
    for (size_t c = 0; c < ncolumn; c++) {
        if (!(p->column[c] = aligned_alloc(64, padded(nrow) * sizeof(double))))
            return no_memory(err);
        memcpy(p->column[c], column[c], nrow * sizeof(double));
    }
    ds->layout.column = (const double *const *)p->column;
    return FIT_OK;
}

/* 1 for rows in which everything is finite and the error is positive. */
static int row_counts(const struct fit_dataset *ds, size_t r, const double *value,
                      const double *sigma)
{
    for (size_t c = 0; c < ds->private_->ncolumn; c++)
        if (!isfinite(ds->private_->column[c][r]))
            return 0;
    return fit_dataset_counts(value[r], sigma, r);
}

/* Rows that do not count, and the padding, repeat a row that does: the model stays finite there. */
static void fill_row(struct fit_dataset *ds, size_t r, size_t from)
{
    for (size_t c = 0; c < ds->private_->ncolumn; c++)
        ds->private_->column[c][r] = ds->private_->column[c][from];
}

static enum fit_status make_row_tiles(struct fit_dataset *ds, struct fit_error *err)
{
    struct fit_dataset_private *p = ds->private_;
    size_t n = ds->layout.nrow;
    size_t chunk = padded(n / TILES_WANTED + 1);
    chunk = chunk < ROWS_MIN ? ROWS_MIN : chunk > ROWS_MAX ? ROWS_MAX : chunk;
    ds->layout.chunk = chunk;
    ds->ntile = (n + chunk - 1) / chunk;
    ds->tile = calloc(ds->ntile, sizeof *ds->tile);
    p->offset = calloc(ds->ntile, sizeof *p->offset);
    p->sum = calloc(ds->ntile * 3, sizeof *p->sum);
    if (!ds->tile || !p->offset || !p->sum)
        return no_memory(err);
    for (size_t k = 0; k < ds->ntile; k++) {
        ds->tile[k] =
            (struct fit_tile){.i0 = k * chunk, .i1 = (k + 1) * chunk < n ? (k + 1) * chunk : n};
        p->offset[k] = k * chunk;
    }
    p->ndouble = padded(n);
    return FIT_OK;
}

static enum fit_status fill_rows(struct fit_dataset *ds, const double *value, const double *sigma,
                                 struct fit_error *err)
{
    struct fit_dataset_private *p = ds->private_;
    size_t n = ds->layout.nrow, first = n, good = 0, last;
    double mean = 0;
    unsigned char *ok = malloc(n);
    enum fit_status st = FIT_OK;
    if (!ok)
        return no_memory(err);
    for (size_t r = 0; r < n; r++) {
        ok[r] = (unsigned char)row_counts(ds, r, value, sigma);
        if (ok[r]) {
            first = first < n ? first : r;
            mean += value[r];
            good++;
        }
    }
    if (!good) {
        st = fit_fail(err, FIT_ERR_DATA,
                      "table: none of the %zu rows is finite with a positive error", n);
        goto done;
    }
    ds->reference[0] = p->center ? mean / (double)good : 0;
    if ((sigma || good < n) && (st = fit_dataset_block_new(&p->w, p->ndouble, err)) != FIT_OK)
        goto done;
    last = first;
    for (size_t r = 0; r < n; r++) {
        p->y.data[r] = ok[r] ? value[r] - ds->reference[0] : 0;
        if (p->w.data)
            p->w.data[r] = !ok[r] ? 0 : sigma ? 1 / (sigma[r] * sigma[r]) : 1;
        if (ok[r])
            last = r;
        else
            fill_row(ds, r, last);
    }
    for (size_t r = n; r < p->ndouble; r++)
        fill_row(ds, r, n - 1);
done:
    free(ok);
    return st;
}

enum fit_status fit_dataset_new_rows(size_t nrow, size_t ncolumn, const double *const *column,
                                     const double *value, const double *sigma, size_t nsetting,
                                     const double *setting, int center, struct fit_dataset **out,
                                     struct fit_error *err)
{
    enum fit_status st;
    *out = NULL;
    if (!nrow)
        return fit_fail(err, FIT_ERR_DATA, "table: no rows");
    struct fit_dataset *ds = fit_dataset_alloc(1);
    if (!ds)
        return no_memory(err);
    struct fit_dataset_private *p = ds->private_;
    ds->layout.nrow = nrow;
    ds->weighted = sigma != NULL;
    p->center = center;
    p->nsetting = nsetting;
    if (!(p->setting = fit_dataset_copy(setting, nsetting * sizeof *setting))) {
        st = no_memory(err);
        goto done;
    }
    ds->layout.setting = p->setting;
    if ((st = copy_columns(ds, nrow, ncolumn, column, err)) != FIT_OK ||
        (st = make_row_tiles(ds, err)) != FIT_OK ||
        (st = fit_dataset_block_new(&p->y, p->ndouble, err)) != FIT_OK ||
        (st = fill_rows(ds, value, sigma, err)) != FIT_OK)
        goto done;
    fit_dataset_point_tiles(ds);
done:
    if (st == FIT_OK)
        *out = ds;
    else
        fit_dataset_free(ds);
    return st;
}
