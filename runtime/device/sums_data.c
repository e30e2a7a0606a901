/* sums_data.c -- the data of a fit on the device: items, coordinates, columns, values.
 *
 * Values that do not fit into PART of the memory come in pieces of whole tiles, in every pass anew. */
#include "device/sums_impl.h"

#include <stdlib.h>
#include <string.h>

#include "fit/gpu_shape.h"

enum { LEAST_MEMORY = 1 << 28 };

int fit_device_room(struct fit_device_sums *s, struct fit_device_buffer *b, size_t bytes)
{
    if (bytes <= b->bytes && b->b)
        return 0;
    fit_device_release(s->d, b->b);
    *b = (struct fit_device_buffer){0};
    b->b = fit_device_buffer(s->d, bytes);
    b->bytes = b->b ? bytes : 0;
    return b->b ? 0 : -1;
}

static int put(struct fit_device_sums *s, struct fit_device_buffer *b, const void *from, size_t bytes)
{
    return fit_device_room(s, b, bytes) != 0 ? -1 : fit_device_write(s->d, b->b, 0, from, bytes);
}

/* Step, coordinates, columns: as fit/gpu.h wants them. */
static int put_fixed(struct fit_device_sums *s)
{
    const struct fit_layout *l = &s->ds->layout;
    const struct fit_gpu_program *p = s->source->program;
    const size_t ng = l->ngroup, rows = (l->nrow + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
    const size_t n = 1 + p->axes * ng + p->columns * rows;
    double *x = calloc(n, sizeof *x);
    if (!x)
        return -1;
    x[0] = l->step;
    for (size_t a = 0; a < s->kernel->naxis && a < p->axes; a++)
        memcpy(x + 1 + a * ng, l->coord[a], ng * sizeof *x);
    for (size_t c = 0; rows && c < s->kernel->ncolumn && c < p->columns; c++)
        if (l->column && l->column[c])
            memcpy(x + 1 + p->axes * ng + c * rows, l->column[c], rows * sizeof *x);
    const int failed = put(s, &s->fixed, x, n * sizeof *x);
    free(x);
    return failed;
}

size_t fit_device_piece(const struct fit_device_sums *s, size_t from)
{
    size_t to = from + 1;
    while (to < s->ds->ntile && s->items.at[to + 1] - s->items.at[from] <= s->piece)
        to++;
    return to;
}

static void fill_ones(const struct fit_dataset *ds, const struct fit_tile *t, double *w)
{
    const size_t n = fit_tile_doubles(&ds->layout, t);
    for (size_t k = 0; k < n; k++)
        w[k] = 1;
}

int fit_device_put_tiles(struct fit_device_sums *s, size_t from, size_t to)
{
    const struct fit_dataset *ds = s->ds;
    int failed = 0;
    for (size_t k = from; k < to && !failed; k++) {
        struct fit_tile own;
        const struct fit_tile *t = fit_dataset_tile(ds, k, s->values, &own);
        const size_t at = (s->items.at[k] - s->items.at[from]) * sizeof(double);
        const size_t n = (s->items.at[k + 1] - s->items.at[k]) * sizeof(double);
        if (!t)
            return -1;
        failed = fit_device_write(s->d, s->y.b, at, t->y, n);
        if (failed || !s->weighted)
            continue;
        if (!t->w)
            fill_ones(ds, t, s->values + fit_dataset_buffer(ds));
        failed = fit_device_write(s->d, s->w.b, at, t->w ? t->w : s->values + fit_dataset_buffer(ds), n);
    }
    s->held_tile = from;
    return failed;
}

/* How many values are there at a time. */
static int choose_pieces(struct fit_device_sums *s)
{
    const size_t all = s->items.at[s->ds->ntile], memory = fit_device_about(s->d)->memory;
    const size_t part = (memory > LEAST_MEMORY ? memory : LEAST_MEMORY) / 4 * 3 / (s->weighted ? 16 : 8);
    const char *limit = getenv("FIT_DEVICE_MB"); /* for tests */
    const size_t most = limit ? (size_t)strtoul(limit, NULL, 10) * (1u << 17) : part;
    size_t largest = 0;
    for (size_t k = 0; k < s->ds->ntile; k++)
        if (s->items.at[k + 1] - s->items.at[k] > largest)
            largest = s->items.at[k + 1] - s->items.at[k];
    s->resident = all <= most && !fit_dataset_streamed(s->ds);
    s->piece = s->resident ? all : most > largest ? most : largest;
    if (s->piece > all)
        s->piece = all;
    s->values = malloc((fit_dataset_buffer(s->ds) + largest + 1) * sizeof *s->values);
    return s->values ? 0 : -1;
}

int fit_device_put_data(struct fit_device_sums *s)
{
    const struct fit_dataset *ds = s->ds;
    for (size_t k = 0; k < ds->ntile; k++)
        s->weighted |= ds->tile[k].w != NULL;
    if (fit_dataset_streamed(ds))
        s->weighted = 1;
    if (choose_pieces(s) != 0 || put_fixed(s) != 0 ||
        put(s, &s->item, s->items.item, s->items.n * FIT_ITEM_NUMBERS * sizeof(long)) != 0 ||
        put(s, &s->first, s->items.first, (2 * ds->layout.ngroup + 1) * sizeof(long)) != 0 ||
        fit_device_room(s, &s->y, s->piece * sizeof(double)) != 0 ||
        fit_device_room(s, &s->w, s->weighted ? s->piece * sizeof(double) : sizeof(double)) != 0)
        return -1;
    s->held_tile = SIZE_MAX;
    if (!s->resident)
        return 0;
    fit_dataset_begin(ds);
    const int failed = fit_device_put_tiles(s, 0, ds->ntile);
    fit_dataset_end(ds);
    s->count.bytes = s->piece * sizeof(double) * (s->weighted ? 2 : 1);
    return failed;
}
