/* link.c -- the members of groups, and where a path leads.  See object.h; specification
 * III.B-C (symbol tables), IV.A.2.c, g (link messages).
 *
 * A link into another file, and one that only a plugin understands, is told from what is not there, but
 * never followed: a data file decides about nothing but itself.
 */
#include "hdf5/object.h"

#include <stdlib.h>
#include <string.h>

enum { JUMPS = 16 /* soft links on the way to an object */ };

struct walk {
    struct fit_h5_bytes *f;
    fit_h5_on_link *on;
    void *user;
    const unsigned char *names; /* of an old group */
    size_t nnames;
    struct fit_h5_fractal heap;
};

/* ---- old groups ------------------------------------------------------------------------------ */

static int name_at(const struct walk *w, uint64_t at, const char **name, size_t *n)
{
    if (at >= w->nnames)
        return 0;
    *name = (const char *)w->names + at;
    const char *end = memchr(*name, 0, w->nnames - (size_t)at);
    *n = end ? (size_t)(end - *name) : 0;
    return end != NULL;
}

static int hand_symbols(struct walk *w, struct fit_h5_cursor *c, size_t n, uint64_t address,
                        struct fit_error *err)
{
    enum { NO_CACHE, GROUP, SOFT };
    int stop = 0;
    for (size_t k = 0; k < n && !stop; k++) {
        struct fit_h5_link l = {.kind = FIT_H5_HARD};
        uint64_t name = fit_h5_take(c, w->f->wide);
        l.address = fit_h5_take_address(w->f, c);
        unsigned cached = (unsigned)fit_h5_take(c, 4);
        fit_h5_skip(c, 4);
        uint64_t target = fit_h5_take(c, 4);
        fit_h5_skip(c, 12);
        int good = !c->bad && name_at(w, name, &l.name, &l.nname);
        if (good && cached == SOFT) {
            l.kind = FIT_H5_SOFT;
            good = name_at(w, target, &l.target, &l.ntarget);
        }
        if (!good) {
            fit_h5_damaged(w->f, "a group", address, err);
            return 1;
        }
        stop = w->on(w->user, &l, err);
    }
    return stop;
}

static int on_node(void *user, const unsigned char *record, size_t n, struct fit_error *err)
{
    struct walk *w = user;
    struct fit_h5_cursor c = fit_h5_cursor(record, n);
    unsigned char *head, *entries;
    const size_t wide = 2 * w->f->wide + 24;
    fit_h5_take_size(w->f, &c);
    uint64_t address = fit_h5_take_address(w->f, &c);
    if (fit_h5_block(w->f, "a group", address, 8, &head, err) != FIT_OK)
        return 1;
    c = fit_h5_cursor(head, 8);
    int good = fit_h5_signed(&c, "SNOD") && fit_h5_take(&c, 1) == 1 && fit_h5_skip(&c, 1);
    size_t count = (size_t)fit_h5_take(&c, 2);
    free(head);
    if (!good) {
        fit_h5_damaged(w->f, "a group", address, err);
        return 1;
    }
    if (fit_h5_block(w->f, "a group", address + 8, count * wide, &entries, err) != FIT_OK)
        return 1;
    c = fit_h5_cursor(entries, count * wide);
    int stop = hand_symbols(w, &c, count, address, err);
    free(entries);
    return stop;
}

static enum fit_status old_links(struct walk *w, const struct fit_h5_message *m,
                                 struct fit_error *err)
{
    struct fit_h5_cursor c = fit_h5_cursor(m->body, m->n);
    unsigned char *names;
    uint64_t tree = fit_h5_take_address(w->f, &c), heap = fit_h5_take_address(w->f, &c);
    enum fit_status st = fit_h5_local_heap(w->f, heap, &names, &w->nnames, err);
    if (st != FIT_OK)
        return st;
    w->names = names;
    st = fit_h5_tree(w->f, tree, 0, w->f->wide_size, on_node, w, err);
    free(names);
    return st;
}

/* ---- new groups ------------------------------------------------------------------------------ */

/* Not 0 when the message is damaged. */
static int read_link(const struct fit_h5_bytes *f, const unsigned char *body, size_t n,
                     struct fit_h5_link *l)
{
    enum { HARD, SOFT };
    struct fit_h5_cursor c = fit_h5_cursor(body, n);
    *l = (struct fit_h5_link){.kind = FIT_H5_HARD};
    if (fit_h5_take(&c, 1) != 1)
        return 1;
    unsigned flags = (unsigned)fit_h5_take(&c, 1);
    unsigned kind = flags & 8 ? (unsigned)fit_h5_take(&c, 1) : HARD;
    fit_h5_skip(&c, (flags & 4 ? 8 : 0) + (flags & 16 ? 1 : 0));
    l->nname = (size_t)fit_h5_take(&c, 1u << (flags & 3));
    l->name = (const char *)fit_h5_skip(&c, l->nname);
    if (kind == HARD) {
        l->address = fit_h5_take_address(f, &c);
    } else {
        l->kind = kind == SOFT ? FIT_H5_SOFT : FIT_H5_AWAY;
        l->ntarget = (size_t)fit_h5_take(&c, 2);
        l->target = (const char *)fit_h5_skip(&c, l->ntarget);
    }
    return c.bad;
}

static int on_link_record(void *user, const unsigned char *record, size_t n, struct fit_error *err)
{
    enum { HASH = 4 };
    struct walk *w = user;
    unsigned char *object;
    size_t size;
    struct fit_h5_link l;
    if (n <= HASH) {
        fit_h5_damaged(w->f, "a group", w->heap.address, err);
        return 1;
    }
    if (fit_h5_fractal_read(w->f, &w->heap, record + HASH, n - HASH, &object, &size, err) != FIT_OK)
        return 1;
    int stop = 1;
    if (read_link(w->f, object, size, &l))
        fit_h5_damaged(w->f, "a group", w->heap.address, err);
    else
        stop = w->on(w->user, &l, err);
    free(object);
    return stop;
}

static enum fit_status dense_links(struct walk *w, const struct fit_h5_message *m,
                                   struct fit_error *err)
{
    struct fit_h5_cursor c = fit_h5_cursor(m->body, m->n);
    fit_h5_take(&c, 1);
    unsigned flags = (unsigned)fit_h5_take(&c, 1);
    fit_h5_skip(&c, flags & 1 ? 8 : 0);
    uint64_t heap = fit_h5_take_address(w->f, &c), tree = fit_h5_take_address(w->f, &c);
    if (c.bad || heap == FIT_H5_NOWHERE || tree == FIT_H5_NOWHERE)
        return FIT_OK; /* the links are in the header */
    enum fit_status st = fit_h5_fractal_open(w->f, heap, &w->heap, err);
    return st == FIT_OK ? fit_h5_tree2(w->f, tree, on_link_record, w, err) : st;
}

enum fit_status fit_h5_links(struct fit_h5_bytes *f, uint64_t group, fit_h5_on_link *on, void *user,
                             struct fit_error *err)
{
    struct walk w = {.f = f, .on = on, .user = user};
    struct fit_h5_header h;
    enum fit_status st = fit_h5_header_read(f, group, &h, err);
    if (st != FIT_OK)
        return st;
    const struct fit_h5_message *old = fit_h5_message(&h, FIT_H5_SYMBOLS);
    const struct fit_h5_message *info = fit_h5_message(&h, FIT_H5_LINK_INFO);
    struct fit_error why = {.status = FIT_OK};
    int stop = 0;
    for (size_t k = 0; k < h.n && !stop && st == FIT_OK; k++) {
        struct fit_h5_link l;
        if (h.message[k].type != FIT_H5_LINK)
            continue;
        if (read_link(f, h.message[k].body, h.message[k].n, &l))
            st = fit_h5_damaged(f, "a group", group, err);
        else if ((stop = on(user, &l, &why)) != 0 && why.status != FIT_OK)
            st = fit_fail(err, why.status, "%s", why.message);
    }
    if (st == FIT_OK && !stop && old)
        st = old_links(&w, old, err);
    else if (st == FIT_OK && !stop && info)
        st = dense_links(&w, info, err);
    fit_h5_header_free(&h);
    return st;
}

/* ---- paths ----------------------------------------------------------------------------------- */

struct wanted {
    const char *name;
    size_t n;
    int found;
    enum fit_h5_link_kind kind;
    uint64_t address;
    char *target; /* of a soft link; malloc */
};

static int is_wanted(void *user, const struct fit_h5_link *l, struct fit_error *err)
{
    struct wanted *w = user;
    if (l->nname != w->n || memcmp(l->name, w->name, w->n) != 0)
        return 0;
    w->found = 1;
    w->kind = l->kind;
    w->address = l->address;
    if (l->kind == FIT_H5_SOFT) {
        w->target = malloc(l->ntarget + 1);
        if (!w->target) {
            fit_fail(err, FIT_ERR_MEMORY, "out of memory");
        } else {
            memcpy(w->target, l->target, l->ntarget);
            w->target[l->ntarget] = 0;
        }
    }
    return 1;
}

/* `path` from the group *address on; *jumps: soft links that may still be followed. */
static enum fit_status find_from(struct fit_h5_bytes *f, const char *path, int *jumps,
                                 enum fit_h5_end *end, uint64_t *address, struct fit_error *err)
{
    if (*path == '/')
        *address = f->root;
    *end = FIT_H5_OBJECT;
    while (*end == FIT_H5_OBJECT && *(path += strspn(path, "/")) != 0) {
        struct wanted w = {.name = path, .n = strcspn(path, "/")};
        path += w.n;
        if (w.n == 1 && *w.name == '.')
            continue;
        enum fit_status st = fit_h5_links(f, *address, is_wanted, &w, err);
        if (st == FIT_OK && !w.found) {
            *end = FIT_H5_NOTHING;
        } else if (st == FIT_OK && w.kind == FIT_H5_HARD) {
            *address = w.address;
        } else if (st == FIT_OK && w.kind == FIT_H5_AWAY) {
            *end = FIT_H5_ELSEWHERE;
        } else if (st == FIT_OK && (*jumps)-- > 0) {
            st = find_from(f, w.target, jumps, end, address, err);
        } else if (st == FIT_OK) {
            st = fit_fail(err, FIT_ERR_DATA, "%s: soft links lead in a circle at %s", f->name,
                          w.target);
        }
        free(w.target);
        if (st != FIT_OK)
            return st;
    }
    return FIT_OK;
}

enum fit_status fit_h5_find(struct fit_h5_bytes *f, const char *path, enum fit_h5_end *end,
                            uint64_t *address, struct fit_error *err)
{
    int jumps = JUMPS;
    *end = FIT_H5_NOTHING;
    *address = f->root;
    fit_h5_walk(f);
    return find_from(f, path, &jumps, end, address, err);
}

enum fit_status fit_h5_dataset_header(struct fit_h5_bytes *f, const char *path,
                                      struct fit_h5_header *h, struct fit_error *err)
{
    enum fit_h5_end end;
    uint64_t address;
    *h = (struct fit_h5_header){0};
    enum fit_status st = fit_h5_find(f, path, &end, &address, err);
    if (st == FIT_OK && end == FIT_H5_ELSEWHERE)
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: %s is a link out of the file, which is not followed (h5copy makes one "
                        "file of several)",
                        f->name, path);
    if (st == FIT_OK && end == FIT_H5_OBJECT)
        st = fit_h5_header_read(f, address, h, err);
    if (st != FIT_OK || fit_h5_is_dataset(h))
        return st;
    int group = fit_h5_is_group(h);
    fit_h5_header_free(h);
    return group ? fit_fail(err, FIT_ERR_DATA, "%s: %s is a group; a dataset was expected", f->name,
                            path)
                 : fit_fail(err, FIT_ERR_DATA, "%s: no dataset %s", f->name, path);
}
