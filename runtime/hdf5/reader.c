/* reader.c -- reading HDF5 files: structure, numbers, texts, attributes. See reader.h; the files described in
 * object.h read the format. */
#include "hdf5/external.h"
#include "hdf5/handle.h"
#include "hdf5/library.h"
#include "hdf5/raw_impl.h"
#include "machine/memory.h"

#include <stdlib.h>
#include <string.h>

#define MOST_STRINGS ((size_t)1 << 20)
#define MOST_TEXT ((size_t)1 << 26) /* bytes of all strings of a dataset */

struct fit_h5 *fit_h5_new(const char *name)
{
    struct fit_h5 *h = calloc(1, sizeof *h);
    if (h && !(h->name = strdup(name))) {
        free(h);
        return NULL;
    }
    if (h)
        h->out = -1;
    return h;
}

int fit_h5_is_hdf5(const char *file)
{
    return fit_h5_bytes_is(file);
}

enum fit_status fit_h5_open(const char *file, struct fit_h5 **out, struct fit_error *err)
{
    struct fit_h5 *h = fit_h5_new(file);
    *out = NULL;
    if (!h)
        return fit_no_memory(err, file);
    struct fit_error why = {.status = FIT_OK};
    enum fit_status st = fit_h5_file_open(file, &h->in, &why);
    if (st != FIT_OK)
        fit_fail(err, st, st == FIT_ERR_UNSUPPORTED ? "%s: cannot be read as HDF5: %s" : "%.0s%s", file, why.message);
    if (st == FIT_OK)
        *out = h;
    else
        fit_h5_close(h);
    return st;
}

void fit_h5_close(struct fit_h5 *h)
{
    if (!h)
        return;
    if (h->in)
        fit_h5_library_forget(h->in, 0);
    fit_h5_bytes_close(h->in);
    free(h->name);
    free(h);
}

const char *fit_h5_file(const struct fit_h5 *h)
{
    return h->name;
}

int fit_h5_starved(const struct fit_h5 *h)
{
    return h->in && h->in->starved;
}

const struct fit_notes *fit_h5_notes(const struct fit_h5 *h)
{
    return &h->in->notes;
}

void fit_h5_alone(struct fit_h5 *h)
{
    h->in->alone = 1;
}

static enum fit_status noted(const struct fit_h5 *h, enum fit_status st)
{
    if (st == FIT_ERR_MEMORY)
        h->in->starved = 1;
    return st;
}

/* ---- what is there --------------------------------------------------------------------------- */

/* The header of the object, or *end when there is none in the file. */
static enum fit_status look(const struct fit_h5 *h, const char *path, enum fit_h5_end *end,
                            struct fit_h5_header *header, struct fit_error *err)
{
    struct fit_h5_at at;
    *header = (struct fit_h5_header){0};
    enum fit_status st = fit_h5_find(h->in, path, end, &at, err);
    if (st == FIT_OK && *end == FIT_H5_OBJECT)
        st = fit_h5_header_read(at.f, at.address, header, err);
    return fit_h5_refused(h->in, path, noted(h, st), err);
}

int fit_h5_exists(const struct fit_h5 *h, const char *path)
{
    return fit_h5_kind(h, path) != FIT_H5_NONE;
}

static enum fit_h5_kind kind_of_type(const struct fit_h5_datatype *t)
{
    return fit_h5_is_number(t) || t->class == FIT_H5_ODD_NUMBER              ? FIT_H5_NUMBER
           : t->class == FIT_H5_FIXED_TEXT || t->class == FIT_H5_LONG_TEXT ? FIT_H5_TEXT
                                                                             : FIT_H5_OTHER;
}

/* Type and extent; by libhdf5 where this room's reader does not know them. shape: that of a virtual dataset is
 * libhdf5's, because its sources may have grown. */
static enum fit_status type_and_extent(const struct fit_h5_header *header, const char *path, int shape,
                                       struct fit_h5_dataset *d, struct fit_error *err)
{
    struct fit_error why = {.status = FIT_OK};
    struct fit_h5_library *library;
    enum fit_status st = fit_h5_dataset_look(header, d, &why);
    if (st == FIT_OK && !(shape && fit_h5_is_virtual(header)))
        return st;
    if (st == FIT_OK)
        st = fit_h5_dataset_read(header, d, &why);
    fit_h5_dataset_free(d);
    if (st != FIT_ERR_UNSUPPORTED)
        return fit_fail(err, st, "%s", why.message);
    st = fit_h5_library_open(header, path, why.message, d, &library, err);
    fit_h5_library_close(library);
    return st;
}

enum fit_h5_kind fit_h5_kind(const struct fit_h5 *h, const char *path)
{
    struct fit_h5_header header;
    struct fit_h5_dataset d;
    enum fit_h5_end end;
    enum fit_h5_kind kind = FIT_H5_NONE;
    const enum fit_status st = look(h, path, &end, &header, NULL);
    if (end == FIT_H5_ELSEWHERE)
        kind = FIT_H5_AWAY;
    else if (st == FIT_OK && end == FIT_H5_OBJECT && fit_h5_is_dataset(&header))
        kind = noted(h, type_and_extent(&header, path, 0, &d, NULL)) == FIT_OK ? kind_of_type(&d.type) : FIT_H5_OTHER;
    else if (st == FIT_OK && end == FIT_H5_OBJECT && fit_h5_is_group(&header))
        kind = FIT_H5_GROUP;
    fit_h5_header_free(&header);
    return kind;
}

static enum fit_status look_at_dataset(const struct fit_h5 *h, const char *path,
                                       struct fit_h5_dataset *d, struct fit_error *err)
{
    struct fit_h5_header header;
    enum fit_status st = fit_h5_dataset_header(h->in, path, &header, err);
    if (st == FIT_OK)
        st = type_and_extent(&header, path, 1, d, err);
    fit_h5_header_free(&header);
    return fit_h5_refused(h->in, path, noted(h, st), err);
}

enum fit_status fit_h5_shape(const struct fit_h5 *h, const char *path, int *rank,
                             size_t dims[FIT_H5_RANK], struct fit_error *err)
{
    struct fit_h5_dataset d;
    enum fit_status st = look_at_dataset(h, path, &d, err);
    if (st != FIT_OK)
        return st;
    *rank = d.space.rank;
    memcpy(dims, d.space.dims, sizeof d.space.dims);
    return FIT_OK;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Opens a dataset for reading; fit_h5_raw_free(set) closes it. */
struct opened {
    struct fit_h5_raw_set *set;
    struct fit_h5_raw *raw;
    const struct fit_h5_dataset *d;
};

static enum fit_status open_values(const struct fit_h5 *h, const char *path, enum fit_h5_kind kind,
                                   struct opened *o, struct fit_error *err)
{
    struct fit_h5_dataset d;
    *o = (struct opened){0};
    enum fit_status st = look_at_dataset(h, path, &d, err);
    if (st == FIT_OK && kind_of_type(&d.type) != kind)
        return fit_fail(err, FIT_ERR_DATA, "%s: %s does not hold %s", h->name, path,
                        kind == FIT_H5_NUMBER ? "numbers" : "text");
    if (st == FIT_OK)
        st = fit_h5_raw_new(0, &o->set, err);
    if (st == FIT_OK)
        st = fit_h5_raw_any(o->set, h, path, &o->raw, err);
    if (st == FIT_OK) {
        o->d = &o->raw->d;
    } else {
        fit_h5_raw_free(o->set);
        o->set = NULL;
    }
    return noted(h, st);
}

/* The values are read into the end of the memory of the doubles to which they are converted. */
static enum fit_status read_box(const struct opened *o, const size_t *start, const size_t *count,
                                size_t n, double *value, struct fit_error *err)
{
    unsigned char *to = (unsigned char *)value + n * (sizeof *value - o->d->type.size);
    enum fit_status st = fit_h5_raw_read(o->raw, start, count, to, err);
    if (st == FIT_OK)
        fit_h5_convert(&o->d->type, to, n, value);
    return st;
}

static enum fit_status read_all(const struct opened *o, double *value, struct fit_error *err)
{
    static const size_t start[FIT_H5_RANK] = {0};
    return o->d->space.n ? read_box(o, start, o->d->space.dims, o->d->space.n, value, err) : FIT_OK;
}

enum fit_status fit_h5_read_into(const struct fit_h5 *h, const char *path, double *value, size_t n,
                                 struct fit_error *err)
{
    struct opened o;
    enum fit_status st = open_values(h, path, FIT_H5_NUMBER, &o, err);
    if (st != FIT_OK)
        return st;
    if (o.d->space.n != n)
        st = fit_fail(err, FIT_ERR_DATA, "%s: %s has %zu elements; %zu were expected", h->name,
                      path, o.d->space.n, n);
    else
        st = read_all(&o, value, err);
    fit_h5_raw_free(o.set);
    return noted(h, st);
}

enum fit_status fit_h5_read_doubles(const struct fit_h5 *h, const char *path, double **value,
                                    size_t *n, struct fit_error *err)
{
    struct opened o;
    *value = NULL;
    *n = 0;
    enum fit_status st = open_values(h, path, FIT_H5_NUMBER, &o, err);
    if (st != FIT_OK)
        return st;
    const size_t count = o.d->space.n;
    double *v = fit_memory_room((double)count * sizeof *v) ? malloc((count ? count : 1) * sizeof *v) : NULL;
    if (!v)
        st = fit_fail(err, FIT_ERR_MEMORY, "%s: %s: no memory for %zu values", h->name, path,
                      count);
    else
        st = read_all(&o, v, err);
    if (st == FIT_OK) {
        *value = v;
        *n = count;
    } else {
        free(v);
    }
    fit_h5_raw_free(o.set);
    return noted(h, st);
}

enum fit_status fit_h5_read_block(const struct fit_h5 *h, const char *path, const size_t *start,
                                  const size_t *count, double *value, struct fit_error *err)
{
    struct opened o;
    size_t n = 1;
    enum fit_status st = open_values(h, path, FIT_H5_NUMBER, &o, err);
    if (st != FIT_OK)
        return st;
    const struct fit_h5_space *s = &o.d->space;
    for (int i = 0; i < s->rank && st == FIT_OK; i++) {
        if (count[i] > s->dims[i] || start[i] > s->dims[i] - count[i])
            st = fit_fail(err, FIT_ERR_DATA,
                          "%s: %s has %zu elements in dimension %d; %zu were expected", h->name,
                          path, s->dims[i], i, start[i] + count[i]);
        n *= count[i];
    }
    if (st == FIT_OK && n)
        st = read_box(&o, start, count, n, value, err);
    fit_h5_raw_free(o.set);
    return noted(h, st);
}

enum fit_status fit_h5_read_scalar(const struct fit_h5 *h, const char *path, double *value,
                                   struct fit_error *err)
{
    const size_t start[FIT_H5_RANK] = {0}, count[FIT_H5_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    struct opened o;
    enum fit_status st = open_values(h, path, FIT_H5_NUMBER, &o, err);
    if (st != FIT_OK)
        return st;
    if (o.d->space.n == 0)
        st = fit_fail(err, FIT_ERR_DATA, "%s: %s is empty; a number was expected", h->name, path);
    else
        st = read_box(&o, start, count, 1, value, err);
    fit_h5_raw_free(o.set);
    return noted(h, st);
}

/* ---- strings --------------------------------------------------------------------------------- */

void fit_h5_free_strings(char **text, size_t n)
{
    for (size_t i = 0; text && i < n; i++)
        free(text[i]);
    free(text);
}

/* One text of variable length: bytes, address of a collection of the heap, index in it. */
static enum fit_status long_text(struct fit_h5_bytes *f, const unsigned char *value, size_t size,
                                 struct fit_h5_collection *heap, size_t *room, char **text,
                                 struct fit_error *err)
{
    struct fit_h5_cursor c = fit_h5_cursor(value, size);
    const unsigned char *data = (const unsigned char *)"";
    size_t n = (size_t)fit_h5_take(&c, 4), held = 0;
    uint64_t address = fit_h5_take_address(f, &c);
    unsigned index = (unsigned)fit_h5_take(&c, 4);
    if (n && address && address != FIT_H5_NOWHERE) {
        enum fit_status st = fit_h5_global(f, heap, address, index, &data, &held, err);
        if (st != FIT_OK)
            return st;
    }
    if ((n = n < held ? n : held) > *room)
        return fit_h5_damaged(f, "a text", address, err);
    *room -= n;
    *text = strndup((const char *)data, n);
    return *text ? FIT_OK : fit_no_memory(err, f->name);
}

/* n strings, bytes unchanged (ASCII or UTF-8). */
static enum fit_status texts_of(struct fit_h5_bytes *f, const struct fit_h5_datatype *t,
                                const unsigned char *value, size_t n, char ***out,
                                struct fit_error *err)
{
    struct fit_h5_collection heap = {0};
    size_t room = MOST_TEXT;
    enum fit_status st = FIT_OK;
    char **text = calloc(n ? n : 1, sizeof *text);
    if (!text)
        return fit_no_memory(err, f->name);
    for (size_t i = 0; i < n && st == FIT_OK; i++, value += t->size) {
        if (t->class == FIT_H5_LONG_TEXT) {
            st = long_text(f, value, t->size, &heap, &room, &text[i], err);
            continue;
        }
        if (!(text[i] = strndup((const char *)value, t->size)))
            st = fit_no_memory(err, f->name);
        for (size_t k = text[i] ? strlen(text[i]) : 0; t->spaces && k && text[i][k - 1] == ' '; k--)
            text[i][k - 1] = 0;
    }
    free(heap.block);
    if (st == FIT_OK)
        *out = text;
    else
        fit_h5_free_strings(text, n);
    return st;
}

enum fit_status fit_h5_read_strings(const struct fit_h5 *h, const char *path, char ***text,
                                    size_t *n, struct fit_error *err)
{
    static const size_t start[FIT_H5_RANK] = {0};
    struct opened o;
    unsigned char *value = NULL;
    *text = NULL;
    *n = 0;
    enum fit_status st = open_values(h, path, FIT_H5_TEXT, &o, err);
    if (st != FIT_OK)
        return st;
    const struct fit_h5_datatype *t = &o.d->type;
    const size_t count = o.d->space.n;
    if (count > MOST_STRINGS || count > MOST_TEXT / t->size)
        st = fit_fail(err, FIT_ERR_DATA, "%s: %s holds more text than is read (%zu strings)",
                      h->name, path, count);
    else if (!(value = malloc(count ? count * t->size : 1)))
        st = fit_no_memory(err, h->in->name);
    else if (count)
        st = fit_h5_raw_read(o.raw, start, o.d->space.rank ? o.d->space.dims : (size_t[]){1}, value,
                             err);
    if (st == FIT_OK && (st = texts_of(o.raw->file, t, value, count, text, err)) == FIT_OK)
        *n = count;
    free(value);
    fit_h5_raw_free(o.set);
    return noted(h, st);
}

/* Keeps the first of n strings and frees the others. */
static enum fit_status first_string(const struct fit_h5 *h, const char *what, char **all, size_t n,
                                    char **text, struct fit_error *err)
{
    *text = NULL;
    if (!n) {
        free(all);
        return fit_fail(err, FIT_ERR_DATA, "%s: %s is empty; a text was expected", h->name, what);
    }
    *text = all[0];
    for (size_t i = 1; i < n; i++)
        free(all[i]);
    free(all);
    return FIT_OK;
}

enum fit_status fit_h5_read_string(const struct fit_h5 *h, const char *path, char **text,
                                   struct fit_error *err)
{
    char **all;
    size_t n;
    enum fit_status st = fit_h5_read_strings(h, path, &all, &n, err);
    *text = NULL;
    return st == FIT_OK ? first_string(h, path, all, n, text, err) : st;
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* The requested content of an attribute: numbers, or texts. */
struct wanted {
    struct fit_h5_bytes *f;
    const char *name;
    int found;
    double **value;
    char ***text;
    size_t *n;
};

static int on_attribute(void *user, const struct fit_h5_attribute *a, struct fit_error *err)
{
    struct wanted *w = user;
    const enum fit_h5_kind kind = kind_of_type(&a->type);
    if (strlen(w->name) != a->nname || memcmp(w->name, a->name, a->nname) != 0)
        return 0;
    w->found = 1;
    if (w->value && !fit_h5_is_number(&a->type)) {
        fit_fail(err, FIT_ERR_DATA, "%s: attribute %s is no number", w->f->name, w->name);
    } else if (w->text && (kind != FIT_H5_TEXT || a->space.n > MOST_STRINGS)) {
        fit_fail(err, FIT_ERR_DATA, "%s: attribute %s does not hold text", w->f->name, w->name);
    } else if (w->value) {
        *w->value = malloc((a->space.n ? a->space.n : 1) * sizeof **w->value);
        if (*w->value)
            fit_h5_convert(&a->type, a->value, a->space.n, *w->value);
        else
            fit_no_memory(err, w->f->name);
    } else if (w->text) {
        texts_of(w->f, &a->type, a->value, a->space.n, w->text, err);
    }
    if (w->n)
        *w->n = a->space.n;
    return 1;
}

static enum fit_status find_attribute(const struct fit_h5 *h, const char *path, struct wanted *w,
                                      struct fit_error *err)
{
    struct fit_h5_header header;
    enum fit_h5_end end;
    enum fit_status st = look(h, path, &end, &header, err);
    w->f = end == FIT_H5_OBJECT ? header.file : h->in;
    if (st == FIT_OK && end == FIT_H5_OBJECT)
        st = fit_h5_refused(h->in, path, fit_h5_attributes(&header, on_attribute, w, err), err);
    fit_h5_header_free(&header);
    if (st == FIT_OK && !w->found)
        st = fit_fail(err, FIT_ERR_DATA, "%s: %s has no attribute %s", h->name, path, w->name);
    return noted(h, st);
}

int fit_h5_has_attr(const struct fit_h5 *h, const char *path, const char *name)
{
    return find_attribute(h, path, &(struct wanted){.name = name}, NULL) == FIT_OK;
}

enum fit_status fit_h5_read_attr_doubles(const struct fit_h5 *h, const char *path, const char *name,
                                         double **value, size_t *n, struct fit_error *err)
{
    *value = NULL;
    *n = 0;
    return find_attribute(h, path, &(struct wanted){.name = name, .value = value, .n = n},
                          err);
}

enum fit_status fit_h5_read_attr_string(const struct fit_h5 *h, const char *path, const char *name,
                                        char **text, struct fit_error *err)
{
    char **all = NULL;
    size_t n = 0;
    *text = NULL;
    enum fit_status st = find_attribute(
        h, path, &(struct wanted){.name = name, .text = &all, .n = &n}, err);
    return st == FIT_OK ? first_string(h, name, all, n, text, err) : st;
}

enum fit_status fit_h5_read_unit(const struct fit_h5 *h, const char *path, char **text, struct fit_error *err)
{
    static const char *const name[] = {"units", "unit", "Units", "Unit", "UNITS"};
    *text = NULL;
    for (size_t k = 0; k < sizeof name / sizeof *name && !*text; k++) {
        if (!fit_h5_has_attr(h, path, name[k]))
            continue;
        enum fit_status st = fit_h5_read_attr_string(h, path, name[k], text, err);
        if (st != FIT_OK)
            return st == FIT_ERR_DATA
                       ? fit_fail(err, st, "%s: attribute %s of %s does not hold text: the unit is not known", h->name,
                                  name[k], path)
                       : st;
        if (strspn(*text, " \t") == strlen(*text)) {
            free(*text);
            *text = NULL;
        }
    }
    return FIT_OK;
}

/* ---- lists ----------------------------------------------------------------------------------- */

struct names {
    const struct fit_h5 *h;
    char **name;
    size_t n, room;
};

static int add_name(struct names *l, const char *name, size_t n, struct fit_error *err)
{
    if (l->n == MOST_STRINGS) {
        fit_fail(err, FIT_ERR_DATA, "%s: a group of more than %zu members", l->h->name, l->n);
        return 1;
    }
    if (l->n == l->room) {
        size_t room = l->room ? 2 * l->room : 64;
        char **grown = realloc(l->name, room * sizeof *grown);
        if (!grown) {
            fit_no_memory(err, l->h->in->name);
            return 1;
        }
        l->name = grown;
        l->room = room;
    }
    if (!(l->name[l->n] = strndup(name, n))) {
        fit_no_memory(err, l->h->in->name);
        return 1;
    }
    l->n++;
    return 0;
}

static int add_link(void *to, const struct fit_h5_link *l, struct fit_error *err)
{
    return add_name(to, l->name, l->nname, err);
}

static int add_attribute(void *to, const struct fit_h5_attribute *a, struct fit_error *err)
{
    return add_name(to, a->name, a->nname, err);
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum fit_status list(const struct fit_h5 *h, const char *path, int attributes, char ***name,
                            size_t *n, struct fit_error *err)
{
    struct names l = {.h = h};
    struct fit_h5_header header;
    enum fit_h5_end end;
    *name = NULL;
    *n = 0;
    enum fit_status st = look(h, path, &end, &header, err);
    if (st == FIT_OK && end != FIT_H5_OBJECT)
        st = fit_fail(err, FIT_ERR_DATA, "%s: no group %s", h->name, path);
    else if (st == FIT_OK)
        st = attributes ? fit_h5_attributes(&header, add_attribute, &l, err)
                        : fit_h5_links(header.file, header.address, add_link, &l, err);
    st = fit_h5_refused(h->in, path, st, err);
    fit_h5_header_free(&header);
    if (st != FIT_OK) {
        fit_h5_free_strings(l.name, l.n);
        return noted(h, st);
    }
    if (l.n)
        qsort(l.name, l.n, sizeof *l.name, by_bytes);
    *name = l.name;
    *n = l.n;
    return FIT_OK;
}

enum fit_status fit_h5_list(const struct fit_h5 *h, const char *group, char ***name, size_t *n,
                            struct fit_error *err)
{
    return list(h, group, 0, name, n, err);
}

enum fit_status fit_h5_list_attr(const struct fit_h5 *h, const char *path, char ***name, size_t *n,
                                 struct fit_error *err)
{
    return list(h, path, 1, name, n, err);
}
