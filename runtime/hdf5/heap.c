/* heap.c -- the heaps of an HDF5 file. See object.h; specification III.D (local), III.E (global), III.G (fractal).
 *
 * A fractal heap is a table of blocks: `width` in a row, those of rows 0 and 1 of `start` bytes, then twice as many in
 * each further row; rows whose blocks would be larger than direct_most contain tables again.
 */
#include "hdf5/object.h"

#include <stdlib.h>
#include <string.h>

/* ---- local ----------------------------------------------------------------------------------- */

enum fit_status fit_h5_local_heap(struct fit_h5_bytes *f, uint64_t address, unsigned char **data,
                                  size_t *n, struct fit_error *err)
{
    unsigned char *head;
    *data = NULL;
    enum fit_status st = fit_h5_block(f, "the heap of a group", address,
                                      8 + 2 * f->wide_size + f->wide, &head, err);
    if (st != FIT_OK)
        return st;
    struct fit_h5_cursor c = fit_h5_cursor(head, 8 + 2 * f->wide_size + f->wide);
    int good = fit_h5_signed(&c, "HEAP") && fit_h5_take(&c, 1) == 0 && fit_h5_skip(&c, 3);
    uint64_t size = fit_h5_take_size(f, &c);
    fit_h5_take_size(f, &c);
    uint64_t at = fit_h5_take_address(f, &c);
    free(head);
    if (!good)
        return fit_h5_damaged(f, "the heap of a group", address, err);
    st = fit_h5_block(f, "the heap of a group", at, size, data, err);
    *n = st == FIT_OK ? (size_t)size : 0;
    return st;
}

/* ---- global ---------------------------------------------------------------------------------- */

/* Heads and objects begin at multiples of 8, for any width of sizes: libhdf5 does so, III.E does not say it. */
static size_t aligned(size_t n)
{
    return (n + 7) / 8 * 8;
}

static enum fit_status read_collection(struct fit_h5_bytes *f, struct fit_h5_collection *c,
                                       uint64_t address, struct fit_error *err)
{
    unsigned char head[16];
    const size_t n = 8 + f->wide_size;
    enum fit_status st = fit_h5_get(f, "a text", address, n, head, err);
    if (st != FIT_OK)
        return st;
    struct fit_h5_cursor k = fit_h5_cursor(head, n);
    int good = fit_h5_signed(&k, "GCOL") && fit_h5_take(&k, 1) == 1 && fit_h5_skip(&k, 3);
    uint64_t size = fit_h5_take_size(f, &k);
    if (!good || size < n)
        return fit_h5_damaged(f, "a text", address, err);
    free(c->block);
    *c = (struct fit_h5_collection){0};
    st = fit_h5_block(f, "a text", address, size, &c->block, err);
    if (st == FIT_OK) {
        c->address = address;
        c->n = (size_t)size;
    }
    return st;
}

enum fit_status fit_h5_global(struct fit_h5_bytes *f, struct fit_h5_collection *c,
                              uint64_t address, unsigned index, const unsigned char **data,
                              size_t *n, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    if (!c->block || c->address != address)
        st = read_collection(f, c, address, err);
    if (st != FIT_OK)
        return st;
    struct fit_h5_cursor k = fit_h5_cursor(c->block, c->n);
    fit_h5_skip(&k, aligned(8 + f->wide_size));
    while (fit_h5_left(&k) >= 8 + f->wide_size) {
        unsigned here = (unsigned)fit_h5_take(&k, 2);
        fit_h5_skip(&k, 6);
        uint64_t size = fit_h5_take_size(f, &k);
        if (!here) /* what is left is free */
            break;
        fit_h5_skip(&k, aligned(8 + f->wide_size) - (8 + f->wide_size));
        *data = fit_h5_skip(&k, size);
        *n = (size_t)size;
        if (k.bad)
            break;
        if (here == index)
            return FIT_OK;
        fit_h5_skip(&k, (8 - size % 8) % 8);
    }
    return fit_h5_damaged(f, "a text", address, err);
}

/* ---- fractal --------------------------------------------------------------------------------- */

static const char heap_name[] = "a heap of links or attributes";

enum fit_status fit_h5_fractal_open(struct fit_h5_bytes *f, uint64_t address,
                                    struct fit_h5_fractal *heap, struct fit_error *err)
{
    unsigned char *block;
    const size_t size = 26 + 12 * f->wide_size + 3 * f->wide;
    enum fit_status st = fit_h5_block(f, heap_name, address, size, &block, err);
    if (st != FIT_OK)
        return st;
    struct fit_h5_cursor c = fit_h5_cursor(block, size);
    *heap = (struct fit_h5_fractal){.address = address};
    int good = fit_h5_signed(&c, "FRHP") && fit_h5_take(&c, 1) == 0;
    heap->wide_id = (unsigned)fit_h5_take(&c, 2);
    heap->filters = (unsigned)fit_h5_take(&c, 2);
    fit_h5_take(&c, 1);
    uint64_t largest = fit_h5_take(&c, 4);
    fit_h5_take_size(f, &c);
    heap->large = fit_h5_take_address(f, &c);
    fit_h5_skip(&c, 9 * f->wide_size + f->wide); /* free space, counts */
    heap->width = (unsigned)fit_h5_take(&c, 2);
    heap->start = fit_h5_take_size(f, &c);
    heap->direct_most = fit_h5_take_size(f, &c);
    heap->bits = (unsigned)fit_h5_take(&c, 2);
    fit_h5_take(&c, 2);
    heap->root = fit_h5_take_address(f, &c);
    heap->rows = (unsigned)fit_h5_take(&c, 2);
    good = good && !c.bad && heap->wide_id && heap->width && heap->start && heap->direct_most >= heap->start &&
           heap->bits && heap->bits <= 64 && (heap->filters || fit_h5_sum_is_right(block, size));
    free(block);
    if (!good)
        return fit_h5_damaged(f, heap_name, address, err);
    unsigned a = (fit_h5_log2(heap->direct_most) + 7) / 8, b = fit_h5_log2(largest) / 8 + 1;
    heap->wide_offset = (heap->bits + 7) / 8;
    heap->wide_length = a < b ? a : b;
    if (heap->filters)
        return fit_h5_refuse(err, "compressed links or attributes");
    return FIT_OK;
}

/* Bytes of a block in a row. */
static uint64_t row_bytes(const struct fit_h5_fractal *heap, unsigned row)
{
    unsigned twice = row > 1 ? row - 1 : 0;
    return twice >= 63 - fit_h5_log2(heap->start) ? UINT64_MAX / 2 : heap->start << twice;
}

/* Descends from a table of `rows` rows at heap offset 0 of *offset; on return *address is that of the block that
 * contains the offset, *offset counts from its beginning, *room is its size. */
static enum fit_status descend(struct fit_h5_bytes *f, const struct fit_h5_fractal *heap,
                               uint64_t *address, uint64_t *offset, uint64_t *room,
                               struct fit_error *err)
{
    unsigned rows = heap->rows;
    for (int depth = 0; depth < 64; depth++) {
        uint64_t entry = 0, bytes = 0;
        unsigned row = 0;
        for (; row < rows; row++) {
            bytes = row_bytes(heap, row);
            if (*offset / bytes < heap->width)
                break;
            *offset -= bytes * heap->width;
            entry += heap->width;
        }
        if (row == rows)
            break;
        entry += *offset / bytes;
        *offset %= bytes;
        unsigned char *child;
        uint64_t at = *address + 5 + f->wide + heap->wide_offset + entry * f->wide;
        enum fit_status st = fit_h5_block(f, heap_name, at, f->wide, &child, err);
        if (st != FIT_OK)
            return st;
        struct fit_h5_cursor c = fit_h5_cursor(child, f->wide);
        *address = fit_h5_take_address(f, &c);
        free(child);
        *room = bytes;
        if (bytes <= heap->direct_most)
            return FIT_OK;
        unsigned first = fit_h5_log2(heap->start) + fit_h5_log2(heap->width);
        rows = fit_h5_log2(bytes) > first ? fit_h5_log2(bytes) - first + 1 : 1;
    }
    return fit_h5_damaged(f, heap_name, heap->address, err);
}

/* A large object has a record of its own: address, length, number. */
struct large {
    struct fit_h5_bytes *f;
    uint64_t number, address, length;
    int found;
};

static int on_large(void *user, const unsigned char *record, size_t n, struct fit_error *err)
{
    struct large *l = user;
    struct fit_h5_cursor c = fit_h5_cursor(record, n);
    (void)err;
    l->address = fit_h5_take_address(l->f, &c);
    l->length = fit_h5_take_size(l->f, &c);
    l->found = fit_h5_take_size(l->f, &c) == l->number && !c.bad;
    return l->found;
}

static enum fit_status find_large(struct fit_h5_bytes *f, const struct fit_h5_fractal *heap,
                                  struct fit_h5_cursor *id, uint64_t *address, uint64_t *length,
                                  struct fit_error *err)
{
    const unsigned rest = heap->wide_id - 1;
    struct large l = {.f = f};
    enum fit_status st = FIT_OK;
    if (rest >= f->wide + f->wide_size) { /* the identifier itself tells */
        *address = fit_h5_take_address(f, id);
        *length = fit_h5_take_size(f, id);
        return id->bad ? fit_h5_damaged(f, heap_name, heap->address, err) : FIT_OK;
    }
    l.number = fit_h5_take(id, rest < f->wide_size ? rest : f->wide_size);
    if (!id->bad && heap->large != FIT_H5_NOWHERE)
        st = fit_h5_tree2(f, heap->large, on_large, &l, err);
    *address = l.address;
    *length = l.length;
    return st == FIT_OK && !l.found ? fit_h5_damaged(f, heap_name, heap->address, err) : st;
}

static enum fit_status find_managed(struct fit_h5_bytes *f, const struct fit_h5_fractal *heap,
                                    struct fit_h5_cursor *id, uint64_t *address, uint64_t *length,
                                    struct fit_error *err)
{
    uint64_t offset = fit_h5_take(id, heap->wide_offset), room = heap->start;
    enum fit_status st = FIT_OK;
    *length = fit_h5_take(id, heap->wide_length);
    *address = heap->root;
    if (heap->rows)
        st = descend(f, heap, address, &offset, &room, err);
    if (st == FIT_OK &&
        (id->bad || offset > room || *length > room - offset || *address == FIT_H5_NOWHERE))
        st = fit_h5_damaged(f, heap_name, heap->address, err);
    *address += offset;
    return st;
}

enum fit_status fit_h5_fractal_read(struct fit_h5_bytes *f, const struct fit_h5_fractal *heap,
                                    const unsigned char *id, size_t n, unsigned char **object,
                                    size_t *size, struct fit_error *err)
{
    enum { MANAGED, LARGE };
    struct fit_h5_cursor c = fit_h5_cursor(id, n);
    uint64_t address = 0, length = 0;
    unsigned kind = (unsigned)fit_h5_take(&c, 1) >> 4;
    *object = NULL;
    enum fit_status st = kind == MANAGED ? find_managed(f, heap, &c, &address, &length, err)
                         : kind == LARGE ? find_large(f, heap, &c, &address, &length, err)
                                         : fit_h5_damaged(f, heap_name, heap->address, err);
    if (st == FIT_OK)
        st = fit_h5_block(f, heap_name, address, length, object, err);
    *size = st == FIT_OK ? (size_t)length : 0;
    return st;
}
