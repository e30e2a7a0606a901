/* array.c -- the two arrays that index chunks. See object.h; specification VII.C (fixed array), VII.D (extensible
 * array).
 *
 * Blocks of more than 2^page elements are divided into pages, each with a checksum; a bitmap says which were written.
 *
 * Extensible array: the first elements are in the index block. Super block u has 2^(u/2) (rounded down) data blocks of
 * first * 2^((u+1)/2) elements. The index block points to the data blocks of the first super blocks itself, and then to
 * super blocks.
 */
#include "hdf5/object.h"

#include <stdlib.h>
#include <string.h>

static const char array_name[] = "the index of chunks";

/* Elements of one block: n of them, beginning with number k. */
struct elements {
    const struct fit_h5_numbered *a;
    size_t wide; /* bytes of an element */
    uint64_t page; /* elements of a page */
};

static void hand_elements(const struct elements *e, const unsigned char *block, uint64_t k,
                          uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        fit_h5_numbered(e->a, k + i, block + i * e->wide, e->wide);
}

static int bit_of(const unsigned char *map, uint64_t k)
{
    return map[k / 8] >> (7 - k % 8) & 1;
}

/* The pages from an address on. */
static enum fit_status read_pages(const struct elements *e, uint64_t address,
                                  const unsigned char *map, uint64_t k, uint64_t n,
                                  struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    for (uint64_t p = 0; p * e->page < n && st == FIT_OK; p++) {
        uint64_t left = n - p * e->page, count = left < e->page ? left : e->page;
        unsigned char *block;
        if (!bit_of(map, p))
            continue;
        st = fit_h5_block(e->a->f, array_name, address + p * (e->page * e->wide + 4),
                          count * e->wide + 4, &block, err);
        if (st == FIT_OK && !fit_h5_sum_is_right(block, count * e->wide + 4))
            st = fit_h5_damaged(e->a->f, array_name, address, err);
        if (st == FIT_OK)
            hand_elements(e, block, k + p * e->page, count);
        free(block);
    }
    return st;
}

/* Not 0 when the width of an element is invalid. */
static int check_wide(const struct elements *e)
{
    const size_t address = e->a->f->wide;
    return e->a->d->nfilter ? e->wide < address + 5 || e->wide > address + 12 : e->wide != address;
}

/* ---- fixed ----------------------------------------------------------------------------------- */

/* Signature, version, client and address of the header, of a block of this many further bytes. */
static enum fit_status open_block(const struct elements *e, const char *name, uint64_t address,
                                  uint64_t n, unsigned char **block, struct fit_h5_cursor *c,
                                  struct fit_error *err)
{
    const size_t head = 6 + e->a->f->wide;
    enum fit_status st = fit_h5_block(e->a->f, array_name, address, head + n, block, err);
    if (st != FIT_OK)
        return st;
    *c = fit_h5_cursor(*block, head + n);
    if (fit_h5_signed(c, name) && fit_h5_take(c, 1) == 0 && fit_h5_skip(c, 1 + e->a->f->wide) &&
        fit_h5_sum_is_right(*block, head + n))
        return FIT_OK;
    free(*block);
    *block = NULL;
    return fit_h5_damaged(e->a->f, array_name, address, err);
}

enum fit_status fit_h5_fixed_array(const struct fit_h5_numbered *a, struct fit_error *err)
{
    struct fit_h5_bytes *f = a->f;
    struct elements e = {.a = a};
    unsigned char *block;
    struct fit_h5_cursor c;
    const size_t size = 12 + f->wide_size + f->wide;
    enum fit_status st = fit_h5_block(f, array_name, a->d->address, size, &block, err);
    if (st != FIT_OK)
        return st;
    c = fit_h5_cursor(block, size);
    int good = fit_h5_signed(&c, "FAHD") && fit_h5_take(&c, 1) == 0 && fit_h5_skip(&c, 1);
    e.wide = (size_t)fit_h5_take(&c, 1);
    unsigned bits = (unsigned)fit_h5_take(&c, 1);
    uint64_t n = fit_h5_take_size(f, &c), address = fit_h5_take_address(f, &c);
    good = good && bits < 32 && !check_wide(&e) && n <= f->size && fit_h5_sum_is_right(block, size);
    free(block);
    if (!good)
        return fit_h5_damaged(f, array_name, a->d->address, err);
    if (address == FIT_H5_NOWHERE)
        return FIT_OK;
    e.page = UINT64_C(1) << bits;
    if (n <= e.page) {
        st = open_block(&e, "FADB", address, n * e.wide + 4, &block, &c, err);
        if (st == FIT_OK)
            hand_elements(&e, c.at, 0, n);
    } else {
        uint64_t map = ((n - 1) / e.page + 8) / 8;
        st = open_block(&e, "FADB", address, map + 4, &block, &c, err);
        if (st == FIT_OK)
            st = read_pages(&e, address + 6 + f->wide + map + 4, c.at, 0, n, err);
    }
    free(block);
    return st;
}

/* ---- growing --------------------------------------------------------------------------------- */

struct growing {
    struct elements e;
    unsigned bits, direct, super; /* data blocks and super blocks to which the index block points */
    uint64_t inside, first;       /* elements of the index block, of the first data block */
    unsigned wide_offset;
    uint64_t address; /* of the index block */
};

static uint64_t blocks_of(unsigned u)
{
    return UINT64_C(1) << u / 2;
}

static uint64_t elements_of(const struct growing *g, unsigned u)
{
    return g->first << (u + 1) / 2;
}

/* A data block of n elements, beginning with number k. */
static enum fit_status read_data(const struct growing *g, uint64_t address, uint64_t k, uint64_t n,
                                 const unsigned char *map, struct fit_error *err)
{
    unsigned char *block;
    struct fit_h5_cursor c;
    if (address == FIT_H5_NOWHERE)
        return FIT_OK;
    if (map)
        return read_pages(&g->e, address + 6 + g->e.a->f->wide + g->wide_offset + 4, map, k, n,
                          err);
    if (n > g->e.a->f->size)
        return fit_h5_damaged(g->e.a->f, array_name, address, err);
    enum fit_status st = open_block(&g->e, "EADB", address, g->wide_offset + n * g->e.wide + 4,
                                    &block, &c, err);
    if (st != FIT_OK)
        return st;
    fit_h5_skip(&c, g->wide_offset);
    hand_elements(&g->e, c.at, k, n);
    free(block);
    return st;
}

static enum fit_status read_super(const struct growing *g, uint64_t address, unsigned u, uint64_t k,
                                  struct fit_error *err)
{
    struct fit_h5_bytes *f = g->e.a->f;
    const uint64_t nblock = blocks_of(u), n = elements_of(g, u), page = g->e.page;
    const uint64_t map = n > page ? (n / page + 7) / 8 : 0;
    unsigned char *block;
    struct fit_h5_cursor c;
    if (address == FIT_H5_NOWHERE)
        return FIT_OK;
    if (nblock > f->size || map > f->size / nblock)
        return fit_h5_damaged(f, array_name, address, err);
    enum fit_status st = open_block(&g->e, "EASB", address,
                                    g->wide_offset + nblock * (map + f->wide) + 4, &block, &c, err);
    if (st != FIT_OK)
        return st;
    fit_h5_skip(&c, g->wide_offset);
    const unsigned char *maps = fit_h5_skip(&c, nblock * map);
    for (uint64_t b = 0; b < nblock && st == FIT_OK; b++)
        st = read_data(g, fit_h5_take_address(f, &c), k + b * n, n, map ? maps + b * map : NULL,
                       err);
    free(block);
    return st;
}

static enum fit_status read_index(const struct growing *g, struct fit_error *err)
{
    struct fit_h5_bytes *f = g->e.a->f;
    const uint64_t bytes = g->inside * g->e.wide + (uint64_t)(g->direct + g->super) * f->wide + 4;
    unsigned char *block;
    struct fit_h5_cursor c;
    enum fit_status st = open_block(&g->e, "EAIB", g->address, bytes, &block, &c, err);
    if (st != FIT_OK)
        return st;
    hand_elements(&g->e, fit_h5_skip(&c, g->inside * g->e.wide), 0, g->inside);
    uint64_t k = g->inside;
    unsigned u = 0;
    for (uint64_t named = 0; named < g->direct && st == FIT_OK; u++)
        for (uint64_t b = 0; b < blocks_of(u) && named < g->direct && st == FIT_OK; b++, named++) {
            st = read_data(g, fit_h5_take_address(f, &c), k, elements_of(g, u), NULL, err);
            k += elements_of(g, u);
        }
    for (unsigned s = 0; s < g->super && st == FIT_OK; s++, u++) {
        st = read_super(g, fit_h5_take_address(f, &c), u, k, err);
        k += blocks_of(u) * elements_of(g, u);
    }
    free(block);
    return st;
}

static int take_growing(struct growing *g, struct fit_h5_cursor *c)
{
    struct fit_h5_bytes *f = g->e.a->f;
    g->e.wide = (size_t)fit_h5_take(c, 1);
    g->bits = (unsigned)fit_h5_take(c, 1);
    g->inside = fit_h5_take(c, 1);
    g->first = fit_h5_take(c, 1);
    const unsigned pointers = (unsigned)fit_h5_take(c, 1), page = (unsigned)fit_h5_take(c, 1);
    fit_h5_skip(c, 6 * (size_t)f->wide_size);
    g->address = fit_h5_take_address(f, c);
    if (c->bad || check_wide(&g->e) || !g->first || !pointers || page >= 32 || g->bits > 40)
        return 0;
    const unsigned all = 1 + g->bits - fit_h5_log2(g->first), named = 2 * fit_h5_log2(pointers);
    if (fit_h5_log2(g->first) > g->bits || named > all)
        return 0;
    g->direct = 2 * (pointers - 1);
    g->super = all - named;
    g->e.page = UINT64_C(1) << page;
    g->wide_offset = (g->bits + 7) / 8;
    return 1;
}

enum fit_status fit_h5_growing_array(const struct fit_h5_numbered *a, struct fit_error *err)
{
    struct fit_h5_bytes *f = a->f;
    struct growing g = {.e = {.a = a}};
    unsigned char *block;
    const size_t size = 16 + 6 * f->wide_size + f->wide;
    enum fit_status st = fit_h5_block(f, array_name, a->d->address, size, &block, err);
    if (st != FIT_OK)
        return st;
    struct fit_h5_cursor c = fit_h5_cursor(block, size);
    int good = fit_h5_signed(&c, "EAHD") && fit_h5_take(&c, 1) == 0 && fit_h5_skip(&c, 1) &&
               take_growing(&g, &c) && fit_h5_sum_is_right(block, size);
    free(block);
    if (!good)
        return fit_h5_damaged(f, array_name, a->d->address, err);
    return g.address == FIT_H5_NOWHERE ? FIT_OK : read_index(&g, err);
}
