/* library.c -- libhdf5, one thread at a time and silent; datasets that it reads. See library.h. */
#define _XOPEN_SOURCE 700 /* realpath, recursive mutexes */
#include "hdf5/h5_writer.h"
#include "hdf5/library.h"

#include "hdf5/lzf.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CACHE_SLOTS = 12421, KEPT = 8 /* open datasets: each may hold a cache */ };

struct fit_h5_library {
    struct fit_h5_library *next; /* in the list of those requested from a file */
    size_t users;
    const struct fit_h5_bytes *in;
    uint64_t address;
    char *file, *path;
    hid_t set, memory; /* the dataset; the type of values in memory */
    struct fit_h5_datatype type;
    struct fit_h5_space space;
};

/* ---- one thread at a time -------------------------------------------------------------------- */

static pthread_mutex_t lock;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static char version[48] = "libhdf5"; /* with its number, once it was entered */

/* This room's decoders for libhdf5: sources of virtual datasets are often stored in this way. */
static size_t swap(size_t written, unsigned char *out, size_t *size, void **buf)
{
    if (!written) {
        H5free_memory(out);
        return 0;
    }
    H5free_memory(*buf);
    *buf = out;
    return *size = written;
}

/* Filter 32004, 32008 or 32015; decoding only. */
static size_t plugin(int filter, size_t nparam, const unsigned param[], size_t nbytes, size_t *size, void **buf)
{
    static const size_t MOST_RATIO = 32768;
    uint32_t known[FIT_H5_PARAMETERS] = {0};
    for (size_t k = 0; k < nparam && k < FIT_H5_PARAMETERS; k++)
        known[k] = param[k];
    const struct fit_bitshuffle how = fit_h5_bitshuffle(known);
    const size_t wanted = fit_plugin_size(filter, &how, *buf, nbytes);
    unsigned char *out = wanted && wanted / MOST_RATIO <= nbytes ? H5allocate_memory(wanted, 0) : NULL;
    if (!out)
        return 0;
    const enum fit_plugin good = filter == FIT_H5_LZ4    ? fit_lz4_chunk(*buf, nbytes, out, wanted)
                                 : filter == FIT_H5_ZSTD ? fit_zstd_chunk(*buf, nbytes, out, wanted)
                                                         : fit_bitshuffle_chunk(&how, *buf, nbytes, out, wanted);
    return swap(good == FIT_PLUGIN_GOOD ? wanted : 0, out, size, buf);
}

#define PLUGIN(name, number)                                                                                         \
    static size_t name(unsigned flags, size_t nparam, const unsigned param[], size_t nbytes, size_t *size, void **buf) \
    {                                                                                                                  \
        return flags & H5Z_FLAG_REVERSE ? plugin(number, nparam, param, nbytes, size, buf) : 0;                        \
    }
PLUGIN(lz4, FIT_H5_LZ4)
PLUGIN(bitshuffle, FIT_H5_BITSHUFFLE)
PLUGIN(zstd, FIT_H5_ZSTD)

/* LZF as h5py writes it, for reading: parameter 2 is the size of a chunk. */
static size_t lzf(unsigned flags, size_t nparam, const unsigned param[], size_t nbytes, size_t *size, void **buf)
{
    size_t written;
    if (!(flags & H5Z_FLAG_REVERSE) || nparam < 3)
        return 0;
    unsigned char *out = H5allocate_memory(param[2], 0);
    const int good = out && fit_lzf_decode(*buf, nbytes, out, param[2], &written) == FIT_LZF_OK;
    return swap(good && written == param[2] ? written : 0, out, size, buf);
}

/* Disables the cleanup at the end of the program, which HDF5 does not survive when a file could not be closed
 * because the disk is full: files are closed one by one. */
static void begin(void)
{
    static const H5Z_class2_t class[] = {
        {H5Z_CLASS_T_VERS, FIT_H5_LZF, 0, 1, "lzf", NULL, NULL, lzf},
        {H5Z_CLASS_T_VERS, FIT_H5_LZ4, 0, 1, "LZ4", NULL, NULL, lz4},
        {H5Z_CLASS_T_VERS, FIT_H5_BITSHUFFLE, 0, 1, "bitshuffle", NULL, NULL, bitshuffle},
        {H5Z_CLASS_T_VERS, FIT_H5_ZSTD, 0, 1, "Zstandard", NULL, NULL, zstd}};
    pthread_mutexattr_t again;
    unsigned number[3];
    pthread_mutexattr_init(&again);
    pthread_mutexattr_settype(&again, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &again);
    pthread_mutexattr_destroy(&again);
    H5dont_atexit(); /* before anything else; later calls do nothing */
    for (size_t k = 0; k < sizeof class / sizeof *class - !fit_plugin_zstd_known(); k++)
        H5Zregister(&class[k]); /* without Zstandard in this build a plugin may still have it */
    if (H5get_libversion(&number[0], &number[1], &number[2]) >= 0)
        snprintf(version, sizeof version, "libhdf5 %u.%u.%u", number[0], number[1], number[2]);
}

const char *fit_h5_library_name(void)
{
    pthread_once(&once, begin);
    return version;
}

struct fit_h5_inside fit_h5_enter(void)
{
    struct fit_h5_inside in = {.say = NULL};
    pthread_once(&once, begin);
    pthread_mutex_lock(&lock);
    H5Eget_auto2(H5E_DEFAULT, &in.say, &in.with);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    return in;
}

void fit_h5_leave(const struct fit_h5_inside *in)
{
    H5Eset_auto2(H5E_DEFAULT, in->say, in->with);
    pthread_mutex_unlock(&lock);
}

struct reason {
    char *text;
    size_t size;
};

static herr_t innermost(unsigned n, const H5E_error2_t *e, void *user)
{
    const struct reason *r = user;
    if (n == 0 && e->desc)
        snprintf(r->text, r->size, "%s", e->desc);
    return 0;
}

void fit_h5_reason(char *text, size_t size)
{
    snprintf(text, size, "no reason is given");
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, innermost, &(struct reason){text, size});
}

/* ---- opening --------------------------------------------------------------------------------- */

hid_t fit_h5_library_file(const char *name)
{
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
#if H5_VERSION_GE(1, 10, 7)
    H5Pset_file_locking(access, 0, 1); /* the own reader takes no locks either */
#endif
    H5Pset_cache(access, 0, CACHE_SLOTS, FIT_H5_LIBRARY_CACHE, 0.75);
    hid_t f = H5Fopen(name, H5F_ACC_RDONLY, access), reasons = f < 0 ? H5Eget_current_stack() : -1;
    H5Pclose(access); /* which forgets why */
    if (reasons >= 0)
        H5Eset_current_stack(reasons);
    return f;
}

static enum fit_status cannot(const char *file, const char *path, struct fit_error *err)
{
    char reason[200];
    fit_h5_reason(reason, sizeof reason);
    return fit_fail(err, FIT_ERR_DATA, "%s: %s cannot be read by %s: %s", file, path, version, reason);
}

enum fit_status fit_h5_library_filters(const struct fit_h5_bytes *f, hid_t set, const char *path, struct fit_error *err)
{
    hid_t made = H5Dget_create_plist(set);
    const int n = H5Pget_nfilters(made);
    enum fit_status st = FIT_OK;
    for (int k = 0; k < n && st == FIT_OK; k++) {
        unsigned flags, can = 0;
        size_t values = 0;
        char name[64] = "";
        const H5Z_filter_t filter = H5Pget_filter2(made, (unsigned)k, &flags, &values, NULL, sizeof name, name, NULL);
        name[strcspn(name, ";\n")] = 0;
        if (filter < 0)
            st = cannot(f->name, path, err);
        else if (H5Zfilter_avail(filter) <= 0)
            st = fit_fail(err, FIT_ERR_DATA,
                          "%s: %s is stored with filter %d%s%s%s, for which %s finds no plugin; it looks in the folder "
                          "of the variable HDF5_PLUGIN_PATH (that of Python's hdf5plugin is its PLUGIN_PATH)",
                          f->name, path, (int)filter, *name ? " (" : "", name, *name ? ")" : "", version);
        else if (H5Zget_filter_info(filter, &can) < 0 || !(can & H5Z_FILTER_CONFIG_DECODE_ENABLED))
            st = fit_fail(err, FIT_ERR_DATA, "%s: %s is stored with filter %d (%s), which this %s was built without",
                          f->name, path, (int)filter, name, version);
    }
    H5Pclose(made);
    return st;
}

/* Checks that the chunks of a dataset with unknown filters lie inside the file. */
static void note_place(void *user, const struct fit_h5_place *p)
{
    uint64_t *worst = user;
    if (p->address > UINT64_MAX - p->bytes || p->address + p->bytes > *worst)
        *worst = p->address > UINT64_MAX - p->bytes ? UINT64_MAX : p->address + p->bytes;
}

static enum fit_status prove_chunks(struct fit_h5_bytes *f, const struct fit_h5_dataset *d, struct fit_error *err)
{
    uint64_t end = 0;
    enum fit_status st = d->storage == FIT_H5_CHUNKED ? fit_h5_chunks(f, d, note_place, &end, err) : FIT_OK;
    return st == FIT_OK && end > f->size ? fit_h5_damaged(f, "a chunk", d->address, err) : st;
}

/* The type of values in memory: as stored if this reader knows it, so that one function converts; otherwise double. */
static enum fit_status choose_type(struct fit_h5_library *l, struct fit_h5_dataset *d, struct fit_error *err)
{
    hid_t stored = H5Dget_type(l->set);
    const H5T_class_t class = H5Tget_class(stored);
    const int known = d->type.size && (fit_h5_is_number(&d->type) || d->type.class == FIT_H5_FIXED_TEXT);
    if (known && H5Tget_size(stored) == d->type.size) {
        l->memory = stored;
        return FIT_OK;
    }
    H5Tclose(stored);
    if (class != H5T_INTEGER && class != H5T_FLOAT)
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: %s holds neither numbers nor texts of one length, as which alone it is read "
                        "by %s",
                        l->file, l->path, version);
    const union {
        uint16_t number;
        unsigned char byte[2];
    } order = {1};
    l->memory = H5Tcopy(H5T_NATIVE_DOUBLE);
    d->type = (struct fit_h5_datatype){.class = FIT_H5_FLOAT, .size = sizeof(double), .big_endian = !order.byte[0]};
    return FIT_OK;
}

static enum fit_status take_extent(struct fit_h5_library *l, struct fit_h5_space *to, struct fit_error *err)
{
    hsize_t dims[H5S_MAX_RANK] = {0};
    hid_t space = H5Dget_space(l->set);
    const int rank = H5Sget_simple_extent_dims(space, dims, NULL);
    const hssize_t n = H5Sget_simple_extent_npoints(space);
    H5Sclose(space);
    if (rank < 0 || rank > FIT_H5_RANK || n < 0)
        return fit_fail(err, FIT_ERR_DATA, "%s: %s has %d dimensions; at most %d are read", l->file, l->path, rank,
                        FIT_H5_RANK);
    *to = (struct fit_h5_space){.rank = rank, .n = (size_t)n};
    for (int i = 0; i < FIT_H5_RANK; i++)
        to->most[i] = to->dims[i] = i < rank ? (size_t)dims[i] : 1;
    return FIT_OK;
}

/* The dataset and, when it is virtual, its sources, in the file called `name`. */
static enum fit_status open_set(struct fit_h5_library *l, const struct fit_h5_header *h, const char *name,
                                int is_virtual, struct fit_h5_sources *s, struct fit_error *err)
{
    hid_t file = fit_h5_library_file(name);
    enum fit_status st = FIT_OK;
    l->set = file >= 0 ? H5Oopen_by_addr(file, h->address) : -1;
    if (l->set < 0)
        st = cannot(l->file, l->path, err);
    if (st == FIT_OK)
        st = fit_h5_library_filters(h->file, l->set, l->path, err);
    if (st == FIT_OK && is_virtual)
        st = fit_h5_virtual_sources(h->file, l->set, name, s, err);
    if (st != FIT_OK && l->set >= 0) {
        H5Oclose(l->set);
        l->set = -1;
    }
    if (file >= 0)
        H5Fclose(file); /* goes when the dataset is closed */
    return st;
}

static void tell(const struct fit_h5_library *l, struct fit_h5_bytes *f, const char *what,
                 const struct fit_h5_sources *s)
{
    struct fit_notes *notes = &f->first->notes;
    char text[1000];
    snprintf(text, sizeof text, "%s: read by %s: %s%s%s", l->file, version, what, s->n ? ", values of " : "", s->text);
    for (size_t k = 0; k < notes->n; k++)
        if (strcmp(notes->text[k], text) == 0)
            return;
    fit_notes_add(notes, "%s", text);
    if (s->missing)
        fit_notes_doubt(notes,
                        "%s: sources of %s that are not there: %zu, first %s; the fill value stands for their values",
                        l->file, l->path, s->missing, s->first_missing);
}

static enum fit_status open_inside(struct fit_h5_library *l, const struct fit_h5_header *h, const char *what,
                                   struct fit_h5_dataset *d, struct fit_error *err)
{
    const int is_virtual = d->storage == FIT_H5_VIRTUAL;
    struct fit_h5_sources s = {.n = 0};
    enum fit_status st = open_set(l, h, h->file->name, is_virtual, &s, err);
    char *real = st == FIT_ERR_IO ? realpath(h->file->name, NULL) : NULL;
    if (real && strcmp(real, h->file->name) != 0) /* sources beside the file behind a symbolic link */
        st = open_set(l, h, real, is_virtual, &s, err);
    free(real);
    if (st == FIT_OK && (st = choose_type(l, d, err)) == FIT_OK && (st = take_extent(l, &d->space, err)) == FIT_OK)
        tell(l, h->file, what, &s);
    return st;
}

static void library_free(struct fit_h5_library *l)
{
    const struct fit_h5_inside in = fit_h5_enter();
    if (l->memory >= 0)
        H5Tclose(l->memory);
    if (l->set >= 0)
        H5Oclose(l->set);
    fit_h5_leave(&in);
    free(l->file);
    free(l->path);
    free(l);
}

static enum fit_status library_new(const struct fit_h5_header *h, const char *path, const char *what,
                                   struct fit_h5_dataset *d, struct fit_h5_library **out, struct fit_error *err)
{
    enum fit_status st = prove_chunks(h->file, d, err);
    struct fit_h5_library *l = st == FIT_OK ? calloc(1, sizeof *l) : NULL;
    if (!l)
        return st == FIT_OK ? fit_no_memory(err, h->file->name) : st;
    *l = (struct fit_h5_library){.in = h->file, .address = h->address, .users = 1, .set = -1, .memory = -1};
    l->file = strdup(h->file->name);
    l->path = strdup(path);
    if (!l->file || !l->path) {
        st = fit_no_memory(err, h->file->name);
    } else {
        const struct fit_h5_inside in = fit_h5_enter();
        st = open_inside(l, h, what, d, err);
        fit_h5_leave(&in);
    }
    if (st != FIT_OK) {
        library_free(l);
        return st;
    }
    l->type = d->type;
    l->space = d->space;
    *out = l;
    return FIT_OK;
}

enum fit_status fit_h5_library_open(const struct fit_h5_header *h, const char *path, const char *what,
                                    struct fit_h5_dataset *d, struct fit_h5_library **out, struct fit_error *err)
{
    struct fit_h5_bytes *first = h->file->first;
    struct fit_h5_library *l = first->asked;
    enum fit_status st = FIT_OK;
    *out = NULL;
    if (first->alone || fit_h5_message(h, FIT_H5_EXTERNAL))
        return fit_h5_refuse(err, "%s", what);
    while (l && (l->in != h->file || l->address != h->address))
        l = l->next;
    if (!l && (st = library_new(h, path, what, d, &l, err)) == FIT_OK) {
        fit_h5_library_forget(first, KEPT - 1);
        l->next = first->asked;
        first->asked = l;
    }
    if (st != FIT_OK)
        return st;
    d->type = l->type;
    d->space = l->space;
    l->users++;
    *out = l;
    return FIT_OK;
}

void fit_h5_library_close(struct fit_h5_library *l)
{
    if (l && !--l->users)
        library_free(l);
}

void fit_h5_library_forget(struct fit_h5_bytes *first, size_t kept)
{
    struct fit_h5_library **last = &first->asked;
    while (*last && kept--)
        last = &(*last)->next;
    while (*last) {
        struct fit_h5_library *l = *last;
        *last = l->next;
        fit_h5_library_close(l);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

enum fit_status fit_h5_library_read(struct fit_h5_library *l, const size_t *start, const size_t *count, void *out,
                                    struct fit_error *err)
{
    hsize_t from[FIT_H5_RANK], n[FIT_H5_RANK];
    enum fit_status st = FIT_OK;
    for (int i = 0; i < l->space.rank; i++) {
        from[i] = start[i];
        n[i] = count[i];
    }
    const struct fit_h5_inside in = fit_h5_enter();
    hid_t file = H5Dget_space(l->set),
          memory = l->space.rank ? H5Screate_simple(l->space.rank, n, NULL) : H5Screate(H5S_SCALAR);
    if (file < 0 || memory < 0 ||
        (l->space.rank && H5Sselect_hyperslab(file, H5S_SELECT_SET, from, NULL, n, NULL) < 0) ||
        H5Dread(l->set, l->memory, memory, file, H5P_DEFAULT, out) < 0)
        st = cannot(l->file, l->path, err);
    if (memory >= 0)
        H5Sclose(memory);
    if (file >= 0)
        H5Sclose(file);
    fit_h5_leave(&in);
    return st;
}
