/* rows.c -- tables as datasets: tiles of consecutive rows. See dataset.h and fit/kernel.h.
 *
 * Rows are sorted by group, in a stable way; each group begins at a position that is a multiple of 8, and tiles contain
 * rows of one group. Rows that do not count (a value that is not finite, an error that is not positive) keep their
 * position with weight zero, and repeat the columns of a row that counts, so that the model stays finite there. The
 * same holds for the padding of a group to a multiple of 8.
 */
#include "data/dataset_impl.h"

#include <math.h>
#include <string.h>

#define L FIT_LANES

enum { TILES_WANTED = 16, ROWS_MIN = 64, ROWS_MAX = 4096 };

/* How the rows are distributed. */
struct groups {
    size_t n;
    uint32_t *of;    /* nrow: group of a row */
    size_t *count;   /* rows of a group */
    size_t *first;   /* place of its first row */
    double *coord;   /* naxis x FIT_GROUPS_MOST */
    size_t places;   /* of all, the padding of the last group not counted */
};

static size_t padded(size_t nrow)
{
    return (nrow + L - 1) / L * L;
}

/* ---- groups ---------------------------------------------------------------------------------- */

static int same_group(const struct fit_dataset_table *t, const struct groups *s, size_t g, size_t r)
{
    for (size_t a = 0; a < t->naxis; a++)
        if (s->coord[a * FIT_GROUPS_MOST + g] != t->axis[a][r]) /* equal to the last digit */
            return 0;
    return 1;
}

static int on_axes(const struct fit_dataset_table *t, size_t r)
{
    for (size_t a = 0; a < t->naxis; a++)
        if (!isfinite(t->axis[a][r]))
            return 0;
    return 1;
}

/* Group of row r, found or new; rows often come group by group, so the last one is tried first. A row without finite
 * coordinates does not count, wherever it is. */
static size_t group_of(const struct fit_dataset_table *t, struct groups *s, size_t last, size_t r)
{
    if (!on_axes(t, r) || (s->n && same_group(t, s, last, r)))
        return last;
    for (size_t g = 0; g < s->n; g++)
        if (same_group(t, s, g, r))
            return g;
    if (s->n < FIT_GROUPS_MOST)
        for (size_t a = 0; a < t->naxis; a++)
            s->coord[a * FIT_GROUPS_MOST + s->n] = t->axis[a][r];
    return s->n++;
}

static enum fit_status find_groups(const struct fit_dataset_table *t, struct groups *s, struct fit_arena *a,
                                   struct fit_error *err)
{
    const size_t most = t->nrow < FIT_GROUPS_MOST ? t->nrow : FIT_GROUPS_MOST;
    s->of = fit_take_unset(a, t->nrow, sizeof *s->of);
    s->count = fit_take(a, most, sizeof *s->count);
    s->first = fit_take(a, most, sizeof *s->first);
    s->coord = fit_take_unset(a, t->naxis * FIT_GROUPS_MOST, sizeof *s->coord);
    if (a->failed)
        return fit_no_memory(err, "table");
    for (size_t r = 0, g = 0; r < t->nrow; r++) {
        g = group_of(t, s, g, r);
        if (g >= FIT_GROUPS_MOST)
            return fit_fail(err, FIT_ERR_DATA,
                            "table: more than %d groups at row %zu: rows of one group have the same"
                            " coordinate to the last digit",
                            FIT_GROUPS_MOST, r + 1);
        s->of[r] = (uint32_t)g;
        s->count[g]++;
    }
    s->n = s->n ? s->n : 1;
    for (size_t g = 1; g < s->n; g++)
        s->first[g] = s->first[g - 1] + padded(s->count[g - 1]);
    s->places = s->first[s->n - 1] + s->count[s->n - 1];
    return FIT_OK;
}

/* ds->row, and the coordinates of the groups. */
static enum fit_status place_rows(struct fit_dataset *ds, const struct fit_dataset_table *t,
                                  const struct groups *s, struct fit_error *err)
{
    struct fit_dataset_private *p = ds->private_;
    FIT_SCRATCH(scratch);
    size_t *next = fit_take_copy(&scratch, s->first, s->n, sizeof *next);
    p->coord = fit_take(&p->storage, t->naxis, sizeof *p->coord);
    p->naxis = t->naxis;
    ds->row = fit_take(&p->storage, s->places, sizeof *ds->row);
    for (size_t a = 0; p->coord && a < t->naxis; a++)
        p->coord[a] = fit_take_copy(&p->storage, s->coord + a * FIT_GROUPS_MOST, s->n, sizeof **p->coord);
    if (scratch.failed || p->storage.failed)
        return fit_no_memory(err, "table");
    for (size_t k = 0; k < s->places; k++)
        ds->row[k] = FIT_NO_ROW;
    for (size_t r = 0; r < t->nrow; r++)
        ds->row[next[s->of[r]]++] = (uint32_t)r;
    ds->layout.coord = (const double *const *)p->coord;
    return FIT_OK;
}

/* ---- columns --------------------------------------------------------------------------------- */

static size_t row_at(const struct fit_dataset *ds, size_t place)
{
    return ds->row ? ds->row[place] : place;
}

static enum fit_status copy_columns(struct fit_dataset *ds, const struct fit_dataset_table *t,
                                    struct fit_error *err)
{
    struct fit_dataset_private *p = ds->private_;
    size_t n = ds->layout.nrow;
    p->column = fit_take(&p->storage, t->ncolumn, sizeof *p->column);
    p->ncolumn = t->ncolumn;
    for (size_t c = 0; p->column && c < t->ncolumn; c++)
        p->column[c] = fit_take(&p->storage, padded(n), sizeof **p->column);
    if (p->storage.failed)
        return fit_no_memory(err, "table");
    for (size_t c = 0; c < t->ncolumn; c++)
        for (size_t k = 0; k < n; k++)
            p->column[c][k] = row_at(ds, k) == FIT_NO_ROW ? 0 : t->column[c][row_at(ds, k)];
    ds->layout.column = (const double *const *)p->column;
    return FIT_OK;
}

static int columns_are_finite(const struct fit_dataset *ds, const struct fit_dataset_table *t, size_t place)
{
    for (size_t c = 0; c < ds->private_->ncolumn; c++)
        if (!isfinite(ds->private_->column[c][place]) && !(t->keep && t->column[c] == t->value) &&
            !(t->keep && t->column[c] == t->sigma))
            return 0;
    return 1;
}

/* 1 for positions where everything is finite and the error is positive. */
static int row_counts(const struct fit_dataset *ds, const struct fit_dataset_table *t, size_t place)
{
    size_t r = row_at(ds, place);
    return columns_are_finite(ds, t, place) && on_axes(t, r) && fit_dataset_counts(t->value[r], t->sigma, r);
}

/* Rows that do not count, and the padding, repeat a row that does, so that the model stays finite there. keep: only
 * where they have no number themselves. */
static void fill_row(struct fit_dataset *ds, size_t r, size_t from, int keep)
{
    for (size_t c = 0; c < ds->private_->ncolumn; c++)
        if (!keep || !isfinite(ds->private_->column[c][r]))
            ds->private_->column[c][r] = ds->private_->column[c][from];
}

/* ---- tiles ----------------------------------------------------------------------------------- */

static enum fit_status make_row_tiles(struct fit_dataset *ds, const struct groups *s, size_t nrow,
                                      struct fit_error *err)
{
    struct fit_dataset_private *p = ds->private_;
    size_t chunk = padded(nrow / TILES_WANTED + 1), k = 0;
    chunk = chunk < ROWS_MIN ? ROWS_MIN : chunk > ROWS_MAX ? ROWS_MAX : chunk;
    ds->layout.chunk = chunk;
    for (size_t g = 0; g < s->n; g++)
        ds->ntile += (s->count[g] + chunk - 1) / chunk;
    ds->tile = fit_take(&p->storage, ds->ntile, sizeof *ds->tile);
    p->offset = fit_take(&p->storage, ds->ntile, sizeof *p->offset);
    p->sum = fit_take(&p->storage, ds->ntile * s->n * 3, sizeof *p->sum);
    if (p->storage.failed)
        return fit_no_memory(err, "table");
    for (size_t g = 0; g < s->n; g++)
        for (size_t i = s->first[g], end = i + s->count[g]; i < end; i += chunk, k++) {
            size_t last = i + chunk < end ? i + chunk : end;
            ds->tile[k] = (struct fit_tile){.i0 = i, .i1 = last, .group = g};
            p->offset[k] = i;
        }
    p->ndouble = padded(ds->layout.nrow);
    ds->last = ds->ntile;
    return FIT_OK;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Values and weights of positions [i, i + n) of group g. */
static enum fit_status fill_group(struct fit_dataset *ds, const struct fit_dataset_table *t,
                                  const unsigned char *ok, size_t g, size_t i, size_t n,
                                  struct fit_error *err)
{
    struct fit_dataset_private *p = ds->private_;
    size_t good = 0, last = 0;
    double mean = 0;
    for (size_t k = i; k < i + n; k++)
        if (ok[k]) {
            last = good ? last : k; /* the first that counts */
            mean += t->value[row_at(ds, k)];
            good++;
        }
    if (!good && ds->layout.ngroup > 1)
        return fit_fail(err, FIT_ERR_DATA,
                        "table: none of the %zu rows of group %zu (%g) is finite with a positive"
                        " error",
                        n, g + 1, p->coord[0][g]);
    if (!good)
        return fit_fail(
            err, FIT_ERR_DATA,
            "table: none of the %zu rows is finite with a positive error; where errors are not known, leave their "
            "column out",
            n);
    ds->reference[g] = p->center ? mean / (double)good : 0;
    for (size_t k = i; k < i + n; k++) {
        size_t r = row_at(ds, k);
        p->y.data[k] = ok[k] ? t->value[r] - ds->reference[g] : 0;
        if (p->w.data)
            p->w.data[k] = !ok[k] ? 0 : t->sigma ? 1 / (t->sigma[r] * t->sigma[r]) : 1;
        if (ok[k])
            last = k;
        else
            fill_row(ds, k, last, t->keep && columns_are_finite(ds, t, k));
    }
    for (size_t k = i + n; k < i + padded(n); k++)
        fill_row(ds, k, i + n - 1, 0);
    return FIT_OK;
}

static enum fit_status fill_rows(struct fit_dataset *ds, const struct fit_dataset_table *t,
                                 const struct groups *s, struct fit_error *err)
{
    struct fit_dataset_private *p = ds->private_;
    size_t n = ds->layout.nrow, good = 0;
    FIT_SCRATCH(a);
    unsigned char *ok = fit_take(&a, n, 1);
    enum fit_status st = FIT_OK;
    if (!ok)
        return fit_no_memory(err, "table");
    for (size_t k = 0; k < n; k++)
        if (row_at(ds, k) != FIT_NO_ROW)
            good += ok[k] = (unsigned char)row_counts(ds, t, k);
    if (t->sigma || good < t->nrow)
        st = fit_dataset_block_new(&p->w, p->ndouble, err);
    for (size_t g = 0; st == FIT_OK && g < s->n; g++)
        st = fill_group(ds, t, ok, g, s->first[g], s->count[g], err);
    return st;
}

/* ---- all together ---------------------------------------------------------------------------- */

static enum fit_status make(struct fit_dataset *ds, const struct fit_dataset_table *t,
                            const struct groups *s, struct fit_error *err)
{
    struct fit_dataset_private *p = ds->private_;
    enum fit_status st = FIT_OK;
    ds->nrow = t->nrow;
    ds->layout.nrow = s->places;
    ds->weighted = t->sigma != NULL;
    p->center = t->center;
    p->keep = t->keep;
    p->nsetting = t->nsetting;
    if (!(p->setting = fit_take_copy(&p->storage, t->setting, t->nsetting, sizeof *t->setting)))
        return fit_no_memory(err, "table");
    ds->layout.setting = p->setting;
    ds->layout.first = fit_take_copy(&p->storage, s->first, s->n, sizeof *s->first);
    ds->layout.count = fit_take_copy(&p->storage, s->count, s->n, sizeof *s->count);
    if (p->storage.failed)
        return fit_no_memory(err, "table");
    if (t->naxis)
        st = place_rows(ds, t, s, err);
    if (st != FIT_OK || (st = copy_columns(ds, t, err)) != FIT_OK ||
        (st = make_row_tiles(ds, s, t->nrow, err)) != FIT_OK ||
        (st = fit_dataset_block_new(&p->y, p->ndouble, err)) != FIT_OK ||
        (st = fill_rows(ds, t, s, err)) != FIT_OK)
        return st;
    fit_dataset_point_tiles(ds);
    return FIT_OK;
}

enum fit_status fit_dataset_new_table(const struct fit_dataset_table *t, struct fit_dataset **out,
                                      struct fit_error *err)
{
    FIT_SCRATCH(a);
    struct groups s = {0};
    struct fit_dataset *ds = NULL;
    *out = NULL;
    if (!t->nrow || t->nrow >= FIT_NO_ROW)
        return fit_fail(err, FIT_ERR_DATA, t->nrow ? "table: too many rows" : "table: no rows");
    enum fit_status st = find_groups(t, &s, &a, err);
    if (st == FIT_OK && !(ds = fit_dataset_alloc(s.n)))
        st = fit_no_memory(err, "table");
    if (st == FIT_OK)
        st = make(ds, t, &s, err);
    if (st == FIT_OK)
        *out = ds;
    else
        fit_dataset_free(ds);
    return st;
}
