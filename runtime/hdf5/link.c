/* link.c -- the members of groups, and the resolution of paths. See object.h; specification III.B-C (symbol tables),
 * IV.A.2.c, g (link messages).
 *
 * A link into another file is followed as described in external.h, and by the same rules from there on. A link that
 * only a plugin understands is recognised, but not followed.
 */
#include "hdf5/external.h"
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
        uint64_t name = fit_h5_take_size(w->f, c); /* libhdf5 does so; III.C: of the width of an address */
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
    const size_t wide = w->f->wide_size + w->f->wide + 24;
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
    enum { HARD, SOFT, EXTERNAL = 64 };
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
        l->kind = kind == SOFT ? FIT_H5_SOFT : kind == EXTERNAL ? FIT_H5_EXTERNAL_LINK : FIT_H5_ODD_LINK;
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
    return fit_h5_dense(w->f, m, 8, &w->heap, on_link_record, w, err);
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
    char *target; /* target of a soft link, ended by NUL; malloc */
    size_t ntarget;
};

static int is_wanted(void *user, const struct fit_h5_link *l, struct fit_error *err)
{
    struct wanted *w = user;
    if (l->nname != w->n || memcmp(l->name, w->name, w->n) != 0)
        return 0;
    w->found = 1;
    w->kind = l->kind;
    w->address = l->address;
    if (l->kind != FIT_H5_HARD) {
        w->ntarget = l->ntarget;
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

/* Finds a link in the cached list, otherwise by a walk. */
static enum fit_status find_link(struct fit_h5_at *at, struct wanted *w, struct fit_error *err)
{
    const struct fit_h5_link *link;
    struct fit_error why = {.status = FIT_OK};
    if (!fit_h5_known_link(at->f, at->address, w->name, w->n, &link))
        return fit_h5_links(at->f, at->address, is_wanted, w, err);
    if (link)
        is_wanted(w, link, &why);
    return why.status == FIT_OK ? FIT_OK : fit_fail(err, why.status, "%s", why.message);
}

static enum fit_status find_from(struct fit_h5_at *at, const char *path, int *jumps, enum fit_h5_end *end,
                                 struct fit_error *err);

/* The target of a link into another file: a byte of version and flags, the file's name, the path in it. */
static enum fit_status follow(struct fit_h5_at *at, const struct wanted *w, int *jumps, enum fit_h5_end *end,
                              struct fit_error *err)
{
    const char *file = w->target + 1, *stop = w->target + w->ntarget;
    const size_t n = w->ntarget ? strnlen(file, (size_t)(stop - file)) : 0;
    if (!n || file + n >= stop || w->target[0] >> 4)
        return fit_h5_damaged(at->f, "a link", at->address, err);
    *end = FIT_H5_ELSEWHERE;
    if (at->f->first->alone)
        return FIT_OK;
    struct fit_h5_at there = {.f = NULL};
    enum fit_status st = fit_h5_external_open(at->f, file, &there.f, err);
    if (st != FIT_OK)
        return st;
    there.address = there.f->root;
    const char *from = at->f->name;
    if ((st = find_from(&there, file + n + 1, jumps, end, err)) == FIT_OK && *end == FIT_H5_NOTHING) {
        *end = FIT_H5_ELSEWHERE;
        st = fit_fail(err, FIT_ERR_DATA, "%s: links to %s in %s, which is not there", from, file + n + 1,
                      there.f->name);
    }
    *at = there;
    return st;
}

/* Resolves `path` from the group *at; *jumps: soft links that may still be followed. */
static enum fit_status find_from(struct fit_h5_at *at, const char *path, int *jumps, enum fit_h5_end *end,
                                 struct fit_error *err)
{
    if (*path == '/')
        at->address = at->f->root;
    *end = FIT_H5_OBJECT;
    while (*end == FIT_H5_OBJECT && *(path += strspn(path, "/")) != 0) {
        struct wanted w = {.name = path, .n = strcspn(path, "/")};
        path += w.n;
        if (w.n == 1 && *w.name == '.')
            continue;
        enum fit_status st = find_link(at, &w, err);
        if (st == FIT_OK && !w.found) {
            *end = FIT_H5_NOTHING;
        } else if (st == FIT_OK && w.kind == FIT_H5_HARD) {
            at->address = w.address;
        } else if (st == FIT_OK && w.kind == FIT_H5_ODD_LINK) {
            *end = FIT_H5_ELSEWHERE;
        } else if (st == FIT_OK && (*jumps)-- > 0) {
            st = w.kind == FIT_H5_SOFT ? find_from(at, w.target, jumps, end, err) : follow(at, &w, jumps, end, err);
        } else if (st == FIT_OK) {
            *end = FIT_H5_ELSEWHERE;
            st = fit_fail(err, FIT_ERR_DATA, "%s: links lead in a circle at %.*s", at->f->name, (int)w.n, w.name);
        }
        free(w.target);
        if (st != FIT_OK)
            return st;
    }
    return FIT_OK;
}

enum fit_status fit_h5_find(struct fit_h5_bytes *f, const char *path, enum fit_h5_end *end, struct fit_h5_at *at,
                            struct fit_error *err)
{
    int jumps = JUMPS;
    *end = FIT_H5_NOTHING;
    *at = (struct fit_h5_at){f, f->root};
    fit_h5_walk(f);
    return find_from(at, path, &jumps, end, err);
}

enum fit_status fit_h5_dataset_header(struct fit_h5_bytes *f, const char *path,
                                      struct fit_h5_header *h, struct fit_error *err)
{
    enum fit_h5_end end;
    struct fit_h5_at at;
    *h = (struct fit_h5_header){0};
    enum fit_status st = fit_h5_find(f, path, &end, &at, err);
    if (st == FIT_OK && end == FIT_H5_ELSEWHERE)
        return fit_h5_refuse(err, "link that is not followed");
    if (st == FIT_OK && end == FIT_H5_OBJECT)
        st = fit_h5_header_read(at.f, at.address, h, err);
    if (st != FIT_OK || fit_h5_is_dataset(h))
        return st;
    int group = fit_h5_is_group(h);
    fit_h5_header_free(h);
    return group ? fit_fail(err, FIT_ERR_DATA, "%s: %s is a group; a dataset was expected", f->name,
                            path)
                 : fit_fail(err, FIT_ERR_DATA, "%s: no dataset %s", f->name, path);
}
