/* attribute.c -- attributes of an HDF5 object.  See object.h; specification IV.A.2.m (in the
 * header), IV.A.2.v (in a heap). */
#include "hdf5/object.h"

#include <stdlib.h>
#include <string.h>

struct walk {
    struct fit_h5_bytes *f;
    fit_h5_on_attribute *on;
    void *user;
    struct fit_h5_fractal heap;
};

/* One part of the message, in version 1 padded to a multiple of 8. */
static struct fit_h5_message part(struct fit_h5_cursor *c, unsigned type, size_t n, unsigned version)
{
    struct fit_h5_message m = {.type = type, .n = n};
    m.body = fit_h5_skip(c, version == 1 ? (n + 7) / 8 * 8 : n);
    return m;
}

/* Type and extent, each of which may be stored elsewhere. */
static enum fit_status read_parts(const struct walk *w, struct fit_h5_message m[2], struct fit_h5_attribute *a,
                                  struct fit_error *err)
{
    unsigned char *away[2] = {NULL, NULL};
    enum fit_status st = FIT_OK;
    for (int k = 0; k < 2 && st == FIT_OK; k++)
        if (m[k].shared && (st = fit_h5_shared_read(w->f, &m[k], &away[k], &m[k].n, err)) == FIT_OK) {
            m[k].body = away[k];
            m[k].shared = 0;
        }
    if (st == FIT_OK && (st = fit_h5_type_read(w->f, &m[0], &a->type, err)) == FIT_OK)
        st = fit_h5_space_read(w->f, &m[1], &a->space, err);
    free(away[0]);
    free(away[1]);
    return st;
}

/* Passes on the understood part of a message. */
static int hand(const struct walk *w, const unsigned char *body, size_t n, struct fit_error *err)
{
    enum { SHARED_TYPE = 1, SHARED_SPACE = 2 };
    struct fit_h5_cursor c = fit_h5_cursor(body, n);
    struct fit_h5_attribute a = {0};
    unsigned version = (unsigned)fit_h5_take(&c, 1), flags = (unsigned)fit_h5_take(&c, 1);
    size_t nname = (size_t)fit_h5_take(&c, 2), ntype = (size_t)fit_h5_take(&c, 2),
           nspace = (size_t)fit_h5_take(&c, 2);
    fit_h5_skip(&c, version == 3 ? 1 : 0);
    struct fit_h5_message name = part(&c, FIT_H5_ATTRIBUTE, nname, version), parts[2];
    parts[0] = part(&c, FIT_H5_TYPE, ntype, version);
    parts[1] = part(&c, FIT_H5_SPACE, nspace, version);
    parts[0].shared = version > 1 && flags & SHARED_TYPE;
    parts[1].shared = version > 1 && flags & SHARED_SPACE;
    struct fit_error why = {.status = FIT_OK};
    if (c.bad || version < 1 || version > 3)
        return 0;
    a.name = (const char *)name.body;
    a.nname = strnlen(a.name, nname);
    if (read_parts(w, parts, &a, &why) != FIT_OK) {
        if (why.status != FIT_ERR_MEMORY)
            return 0;
        fit_fail(err, why.status, "%s", why.message);
        return 1;
    }
    if (a.space.n > fit_h5_left(&c) / a.type.size)
        return 0;
    a.value = c.at;
    return w->on(w->user, &a, err);
}

static int on_record(void *user, const unsigned char *record, size_t n, struct fit_error *err)
{
    enum { ID = 8, REST = 9 /* flags, order, hash */, SHARED = 2 };
    struct walk *w = user;
    unsigned char *object;
    size_t size;
    if (n < ID + REST)
        return 0;
    struct fit_error why = {.status = FIT_OK};
    if ((record[ID] & SHARED
             ? fit_h5_shared_heap(w->f, FIT_H5_ATTRIBUTE, record, &object, &size, &why)
             : fit_h5_fractal_read(w->f, &w->heap, record, ID, &object, &size, &why)) != FIT_OK) {
        if (why.status != FIT_ERR_MEMORY)
            return 0;
        fit_fail(err, why.status, "%s", why.message);
        return 1;
    }
    int stop = hand(w, object, size, err);
    free(object);
    return stop;
}

static enum fit_status dense(struct walk *w, const struct fit_h5_message *m, struct fit_error *err)
{
    return fit_h5_dense(w->f, m, 2, &w->heap, on_record, w, err);
}

enum fit_status fit_h5_attributes(const struct fit_h5_header *h, fit_h5_on_attribute *on, void *user,
                                  struct fit_error *err)
{
    struct walk w = {.f = h->file, .on = on, .user = user};
    const struct fit_h5_message *info = fit_h5_message(h, FIT_H5_ATTRIBUTE_INFO);
    for (size_t k = 0; k < h->n; k++) {
        struct fit_error why = {.status = FIT_OK};
        const struct fit_h5_message *m = &h->message[k];
        if (m->type != FIT_H5_ATTRIBUTE || m->shared || !hand(&w, m->body, m->n, &why))
            continue;
        return why.status == FIT_OK ? FIT_OK : fit_fail(err, why.status, "%s", why.message);
    }
    return info ? dense(&w, info, err) : FIT_OK;
}
