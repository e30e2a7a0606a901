/* header.c -- object headers of an HDF5 file. See object.h; specification IV.A.1. */
#include "hdf5/object.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 1024, SHARED = 2 };

/* A header being read: blocks may point to further ones. */
struct reading {
    struct fit_h5_bytes *f;
    struct fit_h5_header *h;
    unsigned version, ordered; /* ordered: messages carry their creation order */
    uint64_t next[BLOCKS], size[BLOCKS];
    size_t nnext;
};

/* From here on the header owns the block (malloc). */
static enum fit_status own_block(struct fit_h5_header *h, unsigned char *block, struct fit_error *err)
{
    unsigned char **grown = realloc(h->block, (h->nblock + 1) * sizeof *grown);
    if (!grown) {
        free(block);
        return fit_no_memory(err, h->file->name);
    }
    h->block = grown;
    h->block[h->nblock++] = block;
    return FIT_OK;
}

static enum fit_status keep_block(struct reading *r, uint64_t address, uint64_t n,
                                  unsigned char **block, struct fit_error *err)
{
    enum fit_status st = fit_h5_block(r->f, "a header", address, n, block, err);
    return st == FIT_OK ? own_block(r->h, *block, err) : st;
}

static enum fit_status add_message(struct reading *r, const struct fit_h5_message *m,
                                   struct fit_error *err)
{
    struct fit_h5_header *h = r->h;
    if (m->type == FIT_H5_CONTINUED) {
        struct fit_h5_cursor c = fit_h5_cursor(m->body, m->n);
        uint64_t address = fit_h5_take_address(r->f, &c), n = fit_h5_take_size(r->f, &c);
        if (c.bad || r->nnext == BLOCKS)
            return fit_h5_damaged(r->f, "a header", h->address, err);
        r->next[r->nnext] = address;
        r->size[r->nnext++] = n;
        return FIT_OK;
    }
    if (h->n == h->room) {
        size_t room = h->room ? 2 * h->room : 16;
        struct fit_h5_message *grown = realloc(h->message, room * sizeof *grown);
        if (!grown)
            return fit_no_memory(err, r->f->name);
        h->message = grown;
        h->room = room;
    }
    h->message[h->n++] = *m;
    return FIT_OK;
}

static enum fit_status take_messages(struct reading *r, struct fit_h5_cursor c,
                                     struct fit_error *err)
{
    const size_t head = r->version == 1 ? 8 : r->ordered ? 6 : 4;
    enum fit_status st = FIT_OK;
    while (st == FIT_OK && fit_h5_left(&c) >= head) { /* less is a gap */
        struct fit_h5_message m = {0};
        m.type = (unsigned)fit_h5_take(&c, r->version == 1 ? 2 : 1);
        m.n = (size_t)fit_h5_take(&c, 2);
        m.shared = (fit_h5_take(&c, 1) & SHARED) != 0;
        fit_h5_skip(&c, r->version == 1 ? 3 : r->ordered ? 2 : 0);
        m.body = fit_h5_skip(&c, m.n);
        st = c.bad ? fit_h5_damaged(r->f, "a header", r->h->address, err) : add_message(r, &m, err);
    }
    return st;
}

static enum fit_status read_first(struct reading *r, struct fit_error *err)
{
    enum { LONGEST = 34 };
    unsigned char head[LONGEST], *block;
    const uint64_t at = r->h->address;
    size_t n = at < r->f->size && r->f->size - at < LONGEST ? (size_t)(r->f->size - at) : LONGEST;
    enum fit_status st = fit_h5_get(r->f, "a header", at, n, head, err);
    if (st != FIT_OK)
        return st;
    struct fit_h5_cursor c = fit_h5_cursor(head, n);
    uint64_t size; /* of the messages */
    if (head[0] == 1) {
        r->version = 1;
        fit_h5_skip(&c, 8);
        size = fit_h5_take(&c, 4);
        fit_h5_skip(&c, 4); /* up to a multiple of 8 */
    } else {
        r->version = 2;
        if (!fit_h5_signed(&c, "OHDR") || fit_h5_take(&c, 1) != 2)
            return fit_h5_damaged(r->f, "a header", at, err);
        unsigned flags = (unsigned)fit_h5_take(&c, 1);
        r->ordered = flags >> 2 & 1;
        fit_h5_skip(&c, (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0));
        size = fit_h5_take(&c, 1u << (flags & 3));
    }
    if (c.bad || size > r->f->size) /* before anything is added to it */
        return fit_h5_damaged(r->f, "a header", at, err);
    size_t begin = (size_t)(c.at - head), whole = begin + size + (r->version == 2 ? 4 : 0); /* with the checksum */
    if ((st = keep_block(r, at, whole, &block, err)) != FIT_OK)
        return st;
    if (r->version == 2 && !fit_h5_sum_is_right(block, whole))
        return fit_h5_damaged(r->f, "a header", at, err);
    return take_messages(r, fit_h5_cursor(block + begin, size), err);
}

static enum fit_status read_next(struct reading *r, uint64_t address, uint64_t n,
                                 struct fit_error *err)
{
    unsigned char *block;
    enum fit_status st = keep_block(r, address, n, &block, err);
    if (st != FIT_OK)
        return st;
    struct fit_h5_cursor c = fit_h5_cursor(block, n);
    if (r->version == 2) {
        if (!fit_h5_signed(&c, "OCHK") || fit_h5_left(&c) < 4 || !fit_h5_sum_is_right(block, n))
            return fit_h5_damaged(r->f, "a header", address, err);
        c.end -= 4;
    }
    return take_messages(r, c, err);
}

enum fit_status fit_h5_header_as_is(struct fit_h5_bytes *f, uint64_t address, struct fit_h5_header *h,
                                    struct fit_error *err)
{
    struct reading r = {.f = f, .h = h};
    *h = (struct fit_h5_header){.file = f, .address = address};
    enum fit_status st = read_first(&r, err);
    for (size_t k = 0; k < r.nnext && st == FIT_OK; k++)
        st = read_next(&r, r.next[k], r.size[k], err);
    if (st != FIT_OK)
        fit_h5_header_free(h);
    return st;
}

/* Replaces shared messages by their content; a message that cannot be found stays shared, so that its user reports
 * it. */
enum fit_status fit_h5_header_read(struct fit_h5_bytes *f, uint64_t address, struct fit_h5_header *h,
                                   struct fit_error *err)
{
    enum fit_status st = fit_h5_header_as_is(f, address, h, err);
    for (size_t k = 0; st == FIT_OK && k < h->n; k++) {
        struct fit_h5_message *m = &h->message[k];
        unsigned char *body;
        size_t n;
        if (!m->shared)
            continue;
        st = fit_h5_shared_read(f, m, &body, &n, err);
        if (st == FIT_ERR_DATA)
            st = FIT_OK;
        else if (st == FIT_OK && (st = own_block(h, body, err)) == FIT_OK)
            *m = (struct fit_h5_message){.type = m->type, .body = body, .n = n};
    }
    if (st != FIT_OK)
        fit_h5_header_free(h);
    return st;
}

void fit_h5_header_free(struct fit_h5_header *h)
{
    for (size_t k = 0; k < h->nblock; k++)
        free(h->block[k]);
    free(h->block);
    free(h->message);
    *h = (struct fit_h5_header){0};
}

const struct fit_h5_message *fit_h5_message(const struct fit_h5_header *h, unsigned type)
{
    for (size_t k = 0; k < h->n; k++)
        if (h->message[k].type == type)
            return &h->message[k];
    return NULL;
}

int fit_h5_is_dataset(const struct fit_h5_header *h)
{
    return fit_h5_message(h, FIT_H5_SPACE) && fit_h5_message(h, FIT_H5_TYPE) &&
           fit_h5_message(h, FIT_H5_LAYOUT);
}

int fit_h5_is_group(const struct fit_h5_header *h)
{
    return fit_h5_message(h, FIT_H5_SYMBOLS) || fit_h5_message(h, FIT_H5_LINK_INFO);
}
