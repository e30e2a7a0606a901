/* items.c -- see items.h.
 *
 * Pairs: strips of FIT_GPU_COLUMNS columns of a tile, divided into pieces of as many rows as leave some thousand
 * items, so that every multiprocessor of a large card has several; at least LEAST_ROWS, which amortise the sums at
 * the end of a block. Tables: TABLE_ROWS rows of a tile. */
#include "device/items.h"

#include <stdlib.h>

#include "fit/gpu_shape.h"

enum { NUMBERS = FIT_ITEM_NUMBERS, WANTED = 4096, LEAST_ROWS = 8, TABLE_ROWS = 512 };

/* Counts the items of a tile with pieces of so many rows; with `to` they are written there. */
static size_t pairs_of(const struct fit_tile *t, size_t rows, size_t at, long *to)
{
    size_t n = 0;
    for (size_t c = t->j0; c < t->j1; c += FIT_GPU_COLUMNS) {
        const size_t end = c + FIT_GPU_COLUMNS < t->j1 ? c + FIT_GPU_COLUMNS : t->j1;
        for (size_t r = t->i0; r < t->i1 && r + 1 < end; r += rows, n++) {
            const size_t last = r + rows < t->i1 ? r + rows : t->i1;
            const long item[NUMBERS] = {(long)t->i0, (long)t->i1, (long)t->j0, (long)t->j1, (long)r,
                                        (long)last, (long)c, (long)end, (long)at, 0};
            for (size_t k = 0; to && k < NUMBERS; k++)
                to[n * NUMBERS + k] = item[k];
        }
    }
    return n;
}

static size_t rows_of(const struct fit_tile *t, size_t at, long *to)
{
    size_t n = 0;
    for (size_t r = t->i0; r < t->i1; r += TABLE_ROWS, n++) {
        const size_t last = r + TABLE_ROWS < t->i1 ? r + TABLE_ROWS : t->i1;
        const long item[NUMBERS] = {(long)t->i0, (long)t->i1, 0, 0, (long)r, (long)last, 0, 0, (long)at,
                                    (long)t->group};
        for (size_t k = 0; to && k < NUMBERS; k++)
            to[n * NUMBERS + k] = item[k];
    }
    return n;
}

static size_t all_of(const struct fit_dataset *ds, size_t rows, struct fit_items *x)
{
    size_t n = 0, at = 0;
    for (size_t k = 0; k < ds->ntile; k++) {
        const struct fit_tile *t = &ds->tile[k];
        long *to = x ? x->item + n * NUMBERS : NULL;
        if (x) {
            x->tile[k] = n;
            x->at[k] = at;
        }
        n += ds->layout.nrow ? rows_of(t, at, to) : pairs_of(t, rows, at, to);
        at += fit_tile_doubles(&ds->layout, t);
    }
    if (x) {
        x->tile[ds->ntile] = n;
        x->at[ds->ntile] = at;
    }
    return n;
}

/* Items of a group are consecutive, as its rows are. */
static void find_groups(const struct fit_dataset *ds, struct fit_items *x)
{
    for (size_t n = 0; n < x->n && ds->layout.nrow; n++) {
        const size_t g = (size_t)x->item[n * NUMBERS + FIT_ITEM_GROUP];
        if (x->first[2 * g + 1] == 0)
            x->first[2 * g] = (long)n;
        x->first[2 * g + 1] = (long)n + 1;
    }
}

int fit_items_new(const struct fit_dataset *ds, struct fit_items *x)
{
    size_t rows = ds->layout.nrow ? 0 : ds->layout.chunk;
    while (rows > LEAST_ROWS && all_of(ds, rows, NULL) < WANTED)
        rows = rows / 2 > LEAST_ROWS ? rows / 2 : LEAST_ROWS;
    *x = (struct fit_items){.n = all_of(ds, rows, NULL)};
    x->item = calloc(x->n ? x->n * NUMBERS : 1, sizeof *x->item);
    x->first = calloc(2 * ds->layout.ngroup + 1, sizeof *x->first);
    x->tile = calloc(ds->ntile + 1, sizeof *x->tile);
    x->at = calloc(ds->ntile + 1, sizeof *x->at);
    if (!x->item || !x->first || !x->tile || !x->at) {
        fit_items_free(x);
        return 0;
    }
    all_of(ds, rows, x);
    find_groups(ds, x);
    return 1;
}

void fit_items_free(struct fit_items *x)
{
    free(x->item);
    free(x->first);
    free(x->tile);
    free(x->at);
    *x = (struct fit_items){0};
}
