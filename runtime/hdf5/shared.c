/* shared.c -- header messages that are stored elsewhere, because several objects share them. See object.h;
 * specification IV.A.1 (flag 1), IV.C (shared message: where it is), III.I (table of shared messages).
 *
 * They are in the header of a committed type, in that of another object, or in a fractal heap of the file: the table,
 * whose address is in the superblock extension, names a heap for each kind of message.
 */
#include "hdf5/object.h"

#include <stdlib.h>
#include <string.h>

static const char table_name[] = "the table of shared messages";

enum { ID = 8 /* bytes of an identifier in a heap of shared messages */ };

/* The heap in which messages of this type are. */
static enum fit_status find_heap(struct fit_h5_bytes *f, unsigned type, uint64_t *heap, struct fit_error *err)
{
    const size_t one = 14 + 2 * f->wide, size = 4 + f->shared_lists * one + 4;
    unsigned char *block;
    *heap = FIT_H5_NOWHERE;
    if (f->shared == FIT_H5_NOWHERE)
        return fit_h5_damaged(f, table_name, 0, err);
    enum fit_status st = fit_h5_block(f, table_name, f->shared, size, &block, err);
    if (st != FIT_OK)
        return st;
    struct fit_h5_cursor c = fit_h5_cursor(block, size);
    int good = fit_h5_signed(&c, "SMTB") && fit_h5_sum_is_right(block, size);
    for (unsigned k = 0; good && k < f->shared_lists; k++) {
        fit_h5_skip(&c, 2);
        const unsigned types = (unsigned)fit_h5_take(&c, 2);
        fit_h5_skip(&c, 10 + f->wide); /* least size, thresholds between list and tree, number, its address */
        const uint64_t at = fit_h5_take_address(f, &c);
        if (type < 16 && types >> type & 1)
            *heap = at;
    }
    free(block);
    return good && *heap != FIT_H5_NOWHERE ? FIT_OK : fit_h5_damaged(f, table_name, f->shared, err);
}

enum fit_status fit_h5_shared_heap(struct fit_h5_bytes *f, unsigned type, const unsigned char *id, unsigned char **body,
                                   size_t *n, struct fit_error *err)
{
    struct fit_h5_fractal heap;
    uint64_t at;
    enum fit_status st = find_heap(f, type, &at, err);
    if (st == FIT_OK)
        st = fit_h5_fractal_open(f, at, &heap, err);
    return st == FIT_OK ? fit_h5_fractal_read(f, &heap, id, ID, body, n, err) : st;
}

enum fit_status fit_h5_shared_read(struct fit_h5_bytes *f, const struct fit_h5_message *m, unsigned char **body,
                                   size_t *n, struct fit_error *err)
{
    enum { IN_HEAP = 1 };
    struct fit_h5_cursor c = fit_h5_cursor(m->body, m->n);
    struct fit_h5_header h;
    const unsigned version = (unsigned)fit_h5_take(&c, 1), kind = (unsigned)fit_h5_take(&c, 1);
    if (version == 1)
        fit_h5_skip(&c, 6);
    *body = NULL;
    if (version == 3 && kind == IN_HEAP) {
        const unsigned char *id = fit_h5_skip(&c, ID);
        return id ? fit_h5_shared_heap(f, m->type, id, body, n, err) : fit_h5_damaged(f, "a shared message", 0, err);
    }
    const uint64_t address = fit_h5_take_address(f, &c);
    enum fit_status st =
        c.bad ? fit_h5_damaged(f, "a shared message", 0, err) : fit_h5_header_as_is(f, address, &h, err);
    if (st != FIT_OK)
        return st;
    const struct fit_h5_message *there = fit_h5_message(&h, m->type);
    if (!there || there->shared) {
        st = fit_h5_damaged(f, "a shared message", address, err);
    } else if (!(*body = malloc(there->n ? there->n : 1))) {
        st = fit_no_memory(err, f->name);
    } else {
        memcpy(*body, there->body, there->n);
        *n = there->n;
    }
    fit_h5_header_free(&h);
    return st;
}
