/* btree.c -- the B-trees of an HDF5 file, traversed in the order of their keys. See object.h; specification III.A.1
 * (version 1), III.A.2 (version 2).
 *
 * A tree whose nodes refer to one another cyclically, or more than once, is bounded by the levels, which decrease by
 * one at every step, and by the bytes of the walk.
 */
#include "hdf5/object.h"

#include <stdlib.h>
#include <string.h>

static const char tree_name[] = "a B-tree";

/* ---- version 1 ------------------------------------------------------------------------------- */

struct tree {
    struct fit_h5_bytes *f;
    unsigned type;
    size_t wide_key;
    fit_h5_on_record *on;
    void *user;
    int stopped;
};

static enum fit_status walk_node(struct tree *t, uint64_t address, unsigned level,
                                 struct fit_error *err);

/* level: of the node, or larger than any for the root. */
static enum fit_status walk_entries(struct tree *t, const unsigned char *entry, size_t n,
                                    unsigned level, struct fit_error *err)
{
    const size_t size = t->wide_key + t->f->wide;
    enum fit_status st = FIT_OK;
    for (size_t k = 0; k < n && st == FIT_OK && !t->stopped; k++, entry += size) {
        struct fit_error why = {.status = FIT_OK};
        if (level == 0) {
            t->stopped = t->on(t->user, entry, size, &why);
            if (t->stopped && why.status != FIT_OK)
                st = fit_fail(err, why.status, "%s", why.message);
            continue;
        }
        struct fit_h5_cursor c = fit_h5_cursor(entry + t->wide_key, t->f->wide);
        st = walk_node(t, fit_h5_take_address(t->f, &c), level - 1, err);
    }
    return st;
}

enum { ANY_LEVEL = 256 };

static enum fit_status walk_node(struct tree *t, uint64_t address, unsigned level,
                                 struct fit_error *err)
{
    unsigned char *head, *entries;
    const size_t before = 8 + 2 * t->f->wide;
    enum fit_status st = fit_h5_block(t->f, tree_name, address, before, &head, err);
    if (st != FIT_OK)
        return st;
    struct fit_h5_cursor c = fit_h5_cursor(head, before);
    int good = fit_h5_signed(&c, "TREE") && fit_h5_take(&c, 1) == t->type;
    unsigned here = (unsigned)fit_h5_take(&c, 1);
    size_t n = (size_t)fit_h5_take(&c, 2);
    free(head);
    if (!good || (level != ANY_LEVEL && here != level))
        return fit_h5_damaged(t->f, tree_name, address, err);
    st = fit_h5_block(t->f, tree_name, address + before, n * (t->wide_key + t->f->wide), &entries,
                      err);
    if (st == FIT_OK)
        st = walk_entries(t, entries, n, here, err);
    free(entries);
    return st;
}

enum fit_status fit_h5_tree(struct fit_h5_bytes *f, uint64_t address, unsigned type,
                            unsigned wide_key, fit_h5_on_record *on, void *user,
                            struct fit_error *err)
{
    struct tree t = {.f = f, .type = type, .wide_key = wide_key, .on = on, .user = user};
    return walk_node(&t, address, ANY_LEVEL, err);
}

/* ---- version 2 ------------------------------------------------------------------------------- */

enum { DEPTH = 32, AROUND = 10 /* signature, version, type, checksum of a node */ };

struct tree2 {
    struct fit_h5_bytes *f;
    unsigned type, depth;
    size_t node, record;
    unsigned wide_count;        /* bytes of the record count of a child */
    unsigned wide_total[DEPTH]; /* bytes of the count of all records below a node of a depth */
    fit_h5_on_record *on;
    void *user;
    int stopped;
};

static unsigned wide_of(uint64_t most)
{
    return fit_h5_log2(most) / 8 + 1;
}

/* The widths of the counts follow from the number of records that a node can hold; 0: impossible. */
static int measure(struct tree2 *t)
{
    if (t->node <= AROUND || !t->record || t->record > t->node - AROUND || t->depth >= DEPTH)
        return 0;
    uint64_t most = (t->node - AROUND) / t->record, total = most;
    t->wide_count = wide_of(most);
    t->wide_total[0] = 0;
    for (unsigned u = 1; u <= t->depth; u++) {
        size_t pointer = t->f->wide + t->wide_count + t->wide_total[u - 1];
        if (pointer + t->record > t->node - AROUND)
            return 0;
        most = (t->node - AROUND - pointer) / (t->record + pointer);
        total = total > UINT64_MAX / (2 * (most + 1)) ? UINT64_MAX / 2 : (most + 1) * total + most;
        t->wide_total[u] = wide_of(total);
        if (t->wide_total[u] > 8)
            return 0;
    }
    return 1;
}

static enum fit_status walk_node2(struct tree2 *t, uint64_t address, size_t n, unsigned depth,
                                  struct fit_error *err);

static enum fit_status hand_record(struct tree2 *t, const unsigned char *record,
                                   struct fit_error *err)
{
    struct fit_error why = {.status = FIT_OK};
    t->stopped = t->on(t->user, record, t->record, &why);
    return t->stopped && why.status != FIT_OK ? fit_fail(err, why.status, "%s", why.message)
                                              : FIT_OK;
}

/* Children are before, between and after the records. */
static enum fit_status walk_inner(struct tree2 *t, const unsigned char *record, size_t n,
                                  unsigned depth, struct fit_h5_cursor *child,
                                  struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    for (size_t k = 0; k <= n && st == FIT_OK && !t->stopped; k++) {
        if (depth) {
            uint64_t at = fit_h5_take_address(t->f, child);
            size_t count = (size_t)fit_h5_take(child, t->wide_count);
            fit_h5_skip(child, t->wide_total[depth - 1]);
            st = walk_node2(t, at, count, depth - 1, err);
        }
        if (k < n && st == FIT_OK && !t->stopped)
            st = hand_record(t, record + k * t->record, err);
    }
    return st;
}

static enum fit_status walk_node2(struct tree2 *t, uint64_t address, size_t n, unsigned depth,
                                  struct fit_error *err)
{
    unsigned char *block;
    size_t pointer = depth ? t->f->wide + t->wide_count + t->wide_total[depth - 1] : 0;
    if (n > t->node || n * t->record + (n + 1) * pointer + AROUND > t->node)
        return fit_h5_damaged(t->f, tree_name, address, err);
    size_t used = n * t->record + (n + 1) * pointer + AROUND;
    enum fit_status st = fit_h5_block(t->f, tree_name, address, used, &block, err);
    if (st != FIT_OK)
        return st;
    struct fit_h5_cursor c = fit_h5_cursor(block, used);
    int good = fit_h5_signed(&c, depth ? "BTIN" : "BTLF") && fit_h5_take(&c, 1) == 0 &&
               fit_h5_take(&c, 1) == t->type && fit_h5_sum_is_right(block, used);
    const unsigned char *record = fit_h5_skip(&c, n * t->record);
    st = good ? walk_inner(t, record, n, depth, &c, err)
              : fit_h5_damaged(t->f, tree_name, address, err);
    free(block);
    return st;
}

enum fit_status fit_h5_tree2(struct fit_h5_bytes *f, uint64_t address, fit_h5_on_record *on,
                             void *user, struct fit_error *err)
{
    unsigned char *block;
    const size_t size = 22 + f->wide + f->wide_size;
    struct tree2 t = {.f = f, .on = on, .user = user};
    enum fit_status st = fit_h5_block(f, tree_name, address, size, &block, err);
    if (st != FIT_OK)
        return st;
    struct fit_h5_cursor c = fit_h5_cursor(block, size);
    int good = fit_h5_signed(&c, "BTHD") && fit_h5_take(&c, 1) == 0;
    t.type = (unsigned)fit_h5_take(&c, 1);
    t.node = (size_t)fit_h5_take(&c, 4);
    t.record = (size_t)fit_h5_take(&c, 2);
    t.depth = (unsigned)fit_h5_take(&c, 2);
    fit_h5_take(&c, 2); /* when nodes are split and merged */
    uint64_t root = fit_h5_take_address(f, &c);
    size_t n = (size_t)fit_h5_take(&c, 2);
    good = good && fit_h5_sum_is_right(block, size);
    free(block);
    if (!good || (root != FIT_H5_NOWHERE && !measure(&t)))
        return fit_h5_damaged(f, tree_name, address, err);
    return root == FIT_H5_NOWHERE ? FIT_OK : walk_node2(&t, root, n, t.depth, err);
}

enum fit_status fit_h5_dense(struct fit_h5_bytes *f, const struct fit_h5_message *m, unsigned orders,
                             struct fit_h5_fractal *heap, fit_h5_on_record *on, void *user, struct fit_error *err)
{
    struct fit_h5_cursor c = fit_h5_cursor(m->body, m->n);
    fit_h5_take(&c, 1);
    unsigned flags = (unsigned)fit_h5_take(&c, 1);
    fit_h5_skip(&c, flags & 1 ? orders : 0);
    uint64_t address = fit_h5_take_address(f, &c), tree = fit_h5_take_address(f, &c);
    if (c.bad || address == FIT_H5_NOWHERE || tree == FIT_H5_NOWHERE)
        return FIT_OK;
    enum fit_status st = fit_h5_fractal_open(f, address, heap, err);
    return st == FIT_OK ? fit_h5_tree2(f, tree, on, user, err) : st;
}
