/* hdf5_io.c -- reading HDF5 files.  See hdf5_io.h. */
#include "hdf5_internal.h"

#include "lzf.h"

#include <stdlib.h>
#include <string.h>

/* More elements than any list in a data file: a damaged extent is told apart from a large one. */
#define MOST_ELEMENTS ((size_t)1 << 34)
#define MOST_STRINGS ((size_t)1 << 20)
#define MOST_TEXT ((size_t)1 << 24)

/* No printing; and no cleaning up when the program ends, which HDF5 does not survive when a file could
 * not be closed because the disk is full.  Files are closed one by one. */
static void library_opened(void)
{
    H5dont_atexit(); /* before anything else; later calls do nothing */
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

struct fit_h5 *fit_h5_new(const char *name)
{
    struct fit_h5 *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    library_opened();
    fit_lzf_register();
    h->file = -1;
    h->name = malloc(strlen(name) + 1);
    if (!h->name) {
        free(h);
        return NULL;
    }
    strcpy(h->name, name);
    return h;
}

int fit_h5_is_hdf5(const char *file)
{
    library_opened();
    return H5Fis_hdf5(file) > 0;
}

static herr_t keep_innermost(unsigned n, const H5E_error2_t *e, void *to)
{
    (void)n;
    *(const char **)to = e->desc;
    return 0;
}

/* Without file locks where HDF5 can do so: network file systems of beamlines often refuse them. */
static hid_t open_unlocked(const char *file)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
#if H5_VERSION_GE(1, 12, 1) || (H5_VERS_MINOR == 10 && H5_VERS_RELEASE >= 7)
    H5Pset_file_locking(access, 0, 1);
#endif
    hid_t f = H5Fopen(file, H5F_ACC_RDONLY, access);
    hid_t why = f < 0 ? H5Eget_current_stack() : -1; /* closing the list clears the reason */
    H5Pclose(access);
    if (why >= 0)
        H5Eset_current_stack(why); /* closes `why` */
    return f;
}

enum fit_status fit_h5_open(const char *file, struct fit_h5 **out, struct fit_error *err)
{
    struct fit_h5 *h = fit_h5_new(file);
    *out = NULL;
    if (!h)
        return fit_fail(err, FIT_ERR_MEMORY, "%s: out of memory", file);
    h->file = open_unlocked(file);
    if (h->file < 0) {
        const char *why = NULL;
        H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_innermost, &why);
        enum fit_status st =
            fit_fail(err, FIT_ERR_IO, "%s: cannot be opened as HDF5 (%s); is the file complete?",
                     file, why && *why ? why : "no reason given");
        fit_h5_close(h);
        return st;
    }
    *out = h;
    return FIT_OK;
}

void fit_h5_close(struct fit_h5 *h)
{
    if (!h)
        return;
    if (h->file >= 0)
        H5Fclose(h->file);
    free(h->name);
    free(h);
}

const char *fit_h5_file(const struct fit_h5 *h)
{
    return h->name;
}

/* ---- what is there --------------------------------------------------------------------------- */

/* H5Lexists fails when a group on the way is missing, so every step is asked for. */
int fit_h5_exists(const struct fit_h5 *h, const char *path)
{
    char *p, *copy = malloc(strlen(path) + 1);
    int found = 1;
    if (!copy)
        return 0;
    strcpy(copy, path);
    for (p = copy; found && *p; p++) {
        if (p == copy || *p != '/')
            continue;
        *p = 0;
        found = H5Lexists(h->file, copy, H5P_DEFAULT) > 0;
        *p = '/';
    }
    if (found && strcmp(path, "/") != 0)
        found = H5Lexists(h->file, copy, H5P_DEFAULT) > 0 &&
                H5Oexists_by_name(h->file, copy, H5P_DEFAULT) > 0;
    free(copy);
    return found;
}

static enum fit_h5_kind kind_of_type(hid_t type)
{
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
    case H5T_FLOAT:
        return FIT_H5_NUMBER;
    case H5T_STRING:
        return FIT_H5_TEXT;
    default:
        return FIT_H5_OTHER;
    }
}

enum fit_h5_kind fit_h5_kind(const struct fit_h5 *h, const char *path)
{
    enum fit_h5_kind kind = FIT_H5_NONE;
    if (!fit_h5_exists(h, path))
        return FIT_H5_NONE;
    hid_t object = H5Oopen(h->file, path, H5P_DEFAULT);
    if (object < 0)
        return FIT_H5_NONE;
    H5I_type_t type = H5Iget_type(object);
    if (type == H5I_GROUP) {
        kind = FIT_H5_GROUP;
    } else if (type == H5I_DATASET) {
        hid_t t = H5Dget_type(object);
        kind = t < 0 ? FIT_H5_OTHER : kind_of_type(t);
        if (t >= 0)
            H5Tclose(t);
    }
    H5Oclose(object);
    return kind;
}

/* An open dataset or attribute with its type and space. */
struct opened {
    hid_t id, type, space;
    int rank;
    size_t dims[FIT_H5_RANK], n;
};

static void opened_close(struct opened *o, int attribute)
{
    if (o->space >= 0)
        H5Sclose(o->space);
    if (o->type >= 0)
        H5Tclose(o->type);
    if (o->id >= 0 && attribute)
        H5Aclose(o->id);
    else if (o->id >= 0)
        H5Dclose(o->id);
}

/* Fills rank, extents and number of elements from o->space; 0, or -1 when they make no sense. */
static int measure(struct opened *o)
{
    hsize_t dims[FIT_H5_RANK];
    H5S_class_t class = H5Sget_simple_extent_type(o->space);
    o->rank = H5Sget_simple_extent_ndims(o->space);
    o->n = class == H5S_NULL ? 0 : 1;
    for (int i = 0; i < FIT_H5_RANK; i++)
        o->dims[i] = 1;
    if (class == H5S_NO_CLASS || o->rank < 0 || o->rank > FIT_H5_RANK ||
        H5Sget_simple_extent_dims(o->space, dims, NULL) < 0)
        return -1;
    for (int i = 0; i < o->rank; i++) {
        o->dims[i] = (size_t)dims[i];
        if (dims[i] > MOST_ELEMENTS || (o->n && dims[i] && o->n > MOST_ELEMENTS / dims[i]))
            return -1;
        o->n *= o->dims[i];
    }
    return 0;
}

static enum fit_status open_dataset(const struct fit_h5 *h, const char *path, struct opened *o,
                                    struct fit_error *err)
{
    *o = (struct opened){.id = -1, .type = -1, .space = -1};
    enum fit_h5_kind kind = fit_h5_kind(h, path);
    if (kind == FIT_H5_NONE)
        return fit_fail(err, FIT_ERR_DATA, "%s: no dataset %s", h->name, path);
    if (kind == FIT_H5_GROUP)
        return fit_fail(err, FIT_ERR_DATA, "%s: %s is a group; a dataset was expected", h->name,
                        path);
    o->id = H5Dopen2(h->file, path, H5P_DEFAULT);
    if (o->id >= 0) {
        o->type = H5Dget_type(o->id);
        o->space = H5Dget_space(o->id);
    }
    if (o->id < 0 || o->type < 0 || o->space < 0 || measure(o)) {
        opened_close(o, 0);
        return fit_fail(err, FIT_ERR_DATA, "%s: %s is damaged or has an extent that cannot be",
                        h->name, path);
    }
    return FIT_OK;
}

static enum fit_status open_numbers(const struct fit_h5 *h, const char *path, struct opened *o,
                                    struct fit_error *err)
{
    enum fit_status st = open_dataset(h, path, o, err);
    if (st == FIT_OK && kind_of_type(o->type) != FIT_H5_NUMBER) {
        opened_close(o, 0);
        st = fit_fail(err, FIT_ERR_DATA, "%s: %s does not hold numbers", h->name, path);
    }
    return st;
}

enum fit_status fit_h5_shape(const struct fit_h5 *h, const char *path, int *rank,
                             size_t dims[FIT_H5_RANK], struct fit_error *err)
{
    struct opened o;
    enum fit_status st = open_dataset(h, path, &o, err);
    if (st != FIT_OK)
        return st;
    *rank = o.rank;
    memcpy(dims, o.dims, sizeof o.dims);
    opened_close(&o, 0);
    return FIT_OK;
}

size_t fit_h5_item_bytes(const struct fit_h5 *h, const char *path)
{
    struct opened o;
    if (open_dataset(h, path, &o, NULL) != FIT_OK)
        return 0;
    size_t bytes = H5Tget_size(o.type);
    opened_close(&o, 0);
    return bytes;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static enum fit_status unreadable(const struct fit_h5 *h, const char *path, struct fit_error *err)
{
    const char *why = NULL;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_innermost, &why);
    return fit_fail(err, FIT_ERR_DATA, "%s: %s cannot be read (%s); the file may be truncated",
                    h->name, path, why && *why ? why : "no reason given");
}

/* n floats in the second half of value's memory become n doubles.  Double i ends at byte 8 i + 8,
 * float i + 1 begins at 4 n + 4 i + 4: going forward, nothing is overwritten before it is read. */
static void widen_in_place(double *value, size_t n)
{
    enum { PIECE = 256 };
    const char *from = (const char *)value + n * sizeof(float);
    float piece[PIECE];
    for (size_t i = 0; i < n; i += PIECE) {
        size_t m = n - i < PIECE ? n - i : PIECE;
        memcpy(piece, from + i * sizeof(float), m * sizeof(float));
        for (size_t k = 0; k < m; k++)
            value[i + k] = (double)piece[k];
    }
}

static enum fit_status read_open(const struct fit_h5 *h, const char *path, const struct opened *o,
                                 double *value, struct fit_error *err)
{
    int narrow = H5Tequal(o->type, H5T_NATIVE_FLOAT) > 0;
    void *to = narrow ? (void *)((char *)value + o->n * sizeof(float)) : (void *)value;
    if (H5Dread(o->id, narrow ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                to) < 0)
        return unreadable(h, path, err);
    if (narrow)
        widen_in_place(value, o->n);
    return FIT_OK;
}

enum fit_status fit_h5_read_into(const struct fit_h5 *h, const char *path, double *value, size_t n,
                                 struct fit_error *err)
{
    struct opened o;
    enum fit_status st = open_numbers(h, path, &o, err);
    if (st != FIT_OK)
        return st;
    if (o.n != n)
        st = fit_fail(err, FIT_ERR_DATA, "%s: %s has %zu elements; %zu were expected", h->name,
                      path, o.n, n);
    else
        st = read_open(h, path, &o, value, err);
    opened_close(&o, 0);
    return st;
}

enum fit_status fit_h5_read_doubles(const struct fit_h5 *h, const char *path, double **value,
                                    size_t *n, struct fit_error *err)
{
    struct opened o;
    enum fit_status st = open_numbers(h, path, &o, err);
    *value = NULL;
    *n = 0;
    if (st != FIT_OK)
        return st;
    double *v = malloc((o.n ? o.n : 1) * sizeof *v);
    if (!v)
        st = fit_fail(err, FIT_ERR_MEMORY, "%s: %s: no memory for %zu values", h->name, path, o.n);
    else if (o.n)
        st = read_open(h, path, &o, v, err);
    if (st == FIT_OK) {
        *value = v;
        *n = o.n;
    } else {
        free(v);
    }
    opened_close(&o, 0);
    return st;
}

enum fit_status fit_h5_read_block(const struct fit_h5 *h, const char *path, const size_t *start,
                                  const size_t *count, double *value, struct fit_error *err)
{
    struct opened o;
    hsize_t from[FIT_H5_RANK], size[FIT_H5_RANK];
    enum fit_status st = open_numbers(h, path, &o, err);
    hid_t memory = -1;
    if (st != FIT_OK)
        return st;
    for (int i = 0; i < o.rank; i++) {
        from[i] = start[i];
        size[i] = count[i];
        if (count[i] > o.dims[i] || start[i] > o.dims[i] - count[i]) {
            st = fit_fail(err, FIT_ERR_DATA,
                          "%s: %s has %zu elements in dimension %d; %zu were expected", h->name,
                          path, o.dims[i], i, start[i] + count[i]);
            goto done;
        }
    }
    memory = H5Screate_simple(o.rank, size, NULL);
    if (memory < 0 || H5Sselect_hyperslab(o.space, H5S_SELECT_SET, from, NULL, size, NULL) < 0 ||
        H5Dread(o.id, H5T_NATIVE_DOUBLE, memory, o.space, H5P_DEFAULT, value) < 0)
        st = unreadable(h, path, err);
done:
    if (memory >= 0)
        H5Sclose(memory);
    opened_close(&o, 0);
    return st;
}

enum fit_status fit_h5_read_scalar(const struct fit_h5 *h, const char *path, double *value,
                                   struct fit_error *err)
{
    struct opened o;
    enum fit_status st = open_numbers(h, path, &o, err);
    if (st != FIT_OK)
        return st;
    if (o.n == 0)
        st = fit_fail(err, FIT_ERR_DATA, "%s: %s is empty; a number was expected", h->name, path);
    const size_t start[FIT_H5_RANK] = {0}, count[FIT_H5_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
    int rank = o.rank;
    if (st == FIT_OK && rank == 0)
        st = read_open(h, path, &(struct opened){.id = o.id, .type = H5T_NATIVE_DOUBLE, .n = 1},
                       value, err);
    opened_close(&o, 0);
    return st == FIT_OK && rank > 0 ? fit_h5_read_block(h, path, start, count, value, err) : st;
}

/* ---- strings --------------------------------------------------------------------------------- */

void fit_h5_free_strings(char **text, size_t n)
{
    for (size_t i = 0; text && i < n; i++)
        free(text[i]);
    free(text);
}

static char *copy_text(const char *from, size_t most)
{
    size_t n = strnlen(from, most);
    char *p = malloc(n + 1);
    if (p) {
        memcpy(p, from, n);
        p[n] = 0;
    }
    return p;
}

static herr_t read_raw(const struct opened *o, int attribute, hid_t type, void *to)
{
    return attribute ? H5Aread(o->id, type, to)
                     : H5Dread(o->id, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, to);
}

/* All strings of an open dataset or attribute, bytes as they are (ASCII or UTF-8). */
static char **read_text(const struct opened *o, int attribute)
{
    char **text = calloc(o->n ? o->n : 1, sizeof *text), *fixed = NULL, **vary = NULL;
    size_t size = H5Tget_size(o->type);
    int variable = H5Tis_variable_str(o->type) > 0, ok = text != NULL;
    hid_t memory = H5Tcopy(o->type);
    if (ok && variable) {
        vary = calloc(o->n ? o->n : 1, sizeof *vary);
        ok = vary && read_raw(o, attribute, memory, vary) >= 0;
        for (size_t i = 0; ok && i < o->n; i++)
            ok = (text[i] = copy_text(vary[i] ? vary[i] : "", MOST_TEXT)) != NULL;
        if (vary && o->n)
            H5Dvlen_reclaim(memory, o->space, H5P_DEFAULT, vary);
    } else if (ok) {
        ok = size && size < MOST_TEXT && (fixed = calloc(o->n ? o->n : 1, size)) != NULL &&
             read_raw(o, attribute, memory, fixed) >= 0;
        int spaces = H5Tget_strpad(o->type) == H5T_STR_SPACEPAD;
        for (size_t i = 0; ok && i < o->n; i++) {
            ok = (text[i] = copy_text(fixed + i * size, size)) != NULL;
            for (size_t k = ok ? strlen(text[i]) : 0; spaces && k && text[i][k - 1] == ' '; k--)
                text[i][k - 1] = 0;
        }
    }
    H5Tclose(memory);
    free(fixed);
    free(vary);
    if (!ok) {
        fit_h5_free_strings(text, o->n);
        return NULL;
    }
    return text;
}

static enum fit_status strings_of(const struct fit_h5 *h, const char *what, struct opened *o,
                                  int attribute, char ***text, size_t *n, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    *text = NULL;
    *n = 0;
    if (kind_of_type(o->type) != FIT_H5_TEXT || o->n > MOST_STRINGS)
        st = fit_fail(err, FIT_ERR_DATA, "%s: %s does not hold text", h->name, what);
    else if (!(*text = read_text(o, attribute)))
        st = unreadable(h, what, err);
    else
        *n = o->n;
    return st;
}

enum fit_status fit_h5_read_strings(const struct fit_h5 *h, const char *path, char ***text,
                                    size_t *n, struct fit_error *err)
{
    struct opened o;
    enum fit_status st = open_dataset(h, path, &o, err);
    *text = NULL;
    *n = 0;
    if (st != FIT_OK)
        return st;
    st = strings_of(h, path, &o, 0, text, n, err);
    opened_close(&o, 0);
    return st;
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

int fit_h5_has_attr(const struct fit_h5 *h, const char *path, const char *name)
{
    return fit_h5_exists(h, path) && H5Aexists_by_name(h->file, path, name, H5P_DEFAULT) > 0;
}

static enum fit_status open_attr(const struct fit_h5 *h, const char *path, const char *name,
                                 struct opened *o, struct fit_error *err)
{
    *o = (struct opened){.id = -1, .type = -1, .space = -1};
    if (!fit_h5_has_attr(h, path, name))
        return fit_fail(err, FIT_ERR_DATA, "%s: %s has no attribute %s", h->name, path, name);
    o->id = H5Aopen_by_name(h->file, path, name, H5P_DEFAULT, H5P_DEFAULT);
    if (o->id >= 0) {
        o->type = H5Aget_type(o->id);
        o->space = H5Aget_space(o->id);
    }
    if (o->id < 0 || o->type < 0 || o->space < 0 || measure(o)) {
        opened_close(o, 1);
        return fit_fail(err, FIT_ERR_DATA, "%s: attribute %s of %s is damaged", h->name, name,
                        path);
    }
    return FIT_OK;
}

enum fit_status fit_h5_read_attr_doubles(const struct fit_h5 *h, const char *path, const char *name,
                                         double **value, size_t *n, struct fit_error *err)
{
    struct opened o;
    enum fit_status st = open_attr(h, path, name, &o, err);
    *value = NULL;
    *n = 0;
    if (st != FIT_OK)
        return st;
    if (kind_of_type(o.type) != FIT_H5_NUMBER)
        st =
            fit_fail(err, FIT_ERR_DATA, "%s: attribute %s of %s is no number", h->name, name, path);
    else if (!(*value = malloc((o.n ? o.n : 1) * sizeof **value)))
        st = fit_fail(err, FIT_ERR_MEMORY, "%s: out of memory", h->name);
    else if (o.n && H5Aread(o.id, H5T_NATIVE_DOUBLE, *value) < 0)
        st = unreadable(h, name, err);
    if (st == FIT_OK) {
        *n = o.n;
    } else {
        free(*value);
        *value = NULL;
    }
    opened_close(&o, 1);
    return st;
}

enum fit_status fit_h5_read_attr_string(const struct fit_h5 *h, const char *path, const char *name,
                                        char **text, struct fit_error *err)
{
    struct opened o;
    char **all;
    size_t n;
    enum fit_status st = open_attr(h, path, name, &o, err);
    *text = NULL;
    if (st != FIT_OK)
        return st;
    st = strings_of(h, name, &o, 1, &all, &n, err);
    opened_close(&o, 1);
    return st == FIT_OK ? first_string(h, name, all, n, text, err) : st;
}

/* ---- lists ----------------------------------------------------------------------------------- */

struct names {
    char **name;
    size_t n, room;
};

static herr_t add_name(struct names *l, const char *name)
{
    if (l->n == MOST_STRINGS)
        return -1;
    if (l->n == l->room) {
        size_t room = l->room ? 2 * l->room : 64;
        char **grown = realloc(l->name, room * sizeof *grown);
        if (!grown)
            return -1;
        l->name = grown;
        l->room = room;
    }
    if (!(l->name[l->n] = copy_text(name, MOST_TEXT)))
        return -1;
    l->n++;
    return 0;
}

static herr_t add_link(hid_t group, const char *name, const H5L_info_t *info, void *to)
{
    (void)group;
    (void)info;
    return add_name(to, name);
}

static herr_t add_attr(hid_t object, const char *name, const H5A_info_t *info, void *to)
{
    (void)object;
    (void)info;
    return add_name(to, name);
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static enum fit_status list(const struct fit_h5 *h, const char *path, int attributes, char ***name,
                            size_t *n, struct fit_error *err)
{
    struct names l = {0};
    enum fit_status st = FIT_OK;
    *name = NULL;
    *n = 0;
    if (!fit_h5_exists(h, path))
        return fit_fail(err, FIT_ERR_DATA, "%s: no group %s", h->name, path);
    hid_t object = H5Oopen(h->file, path, H5P_DEFAULT);
    if (object < 0 ||
        (attributes ? H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_INC, NULL, add_attr, &l)
                    : H5Literate(object, H5_INDEX_NAME, H5_ITER_INC, NULL, add_link, &l)) < 0) {
        fit_h5_free_strings(l.name, l.n);
        st = unreadable(h, path, err);
    } else {
        if (l.n)
            qsort(l.name, l.n, sizeof *l.name, by_bytes);
        *name = l.name;
        *n = l.n;
    }
    if (object >= 0)
        H5Oclose(object);
    return st;
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
