/* raw.c -- HDF5 datasets whose values are read from their bytes: opening. See reader.h; reading is in box.c.
 *
 * The claimed size of a dataset is compared with the stored bytes before memory is allocated: bytes outside the file,
 * chunks that overlap, or far more values than the filters can expand to are damage.
 */
#include "hdf5/external.h"
#include "hdf5/handle.h"
#include "hdf5/raw_impl.h"

#include <stdlib.h>
#include <string.h>

#define MOST_CHUNKS ((uint64_t)1 << 22)
#define MOST_EMPTY ((uint64_t)1 << 26) /* bytes of values that were never written; and, for chunks, */
#define TOO_MUCH ((size_t)1 << 40)     /* to be kept by anybody */
#define EMPTY_RATIO 4                  /* so many times the written bytes: halves of matrices are written */

enum fit_status fit_h5_raw_new(size_t budget, struct fit_h5_raw_set **out, struct fit_error *err)
{
    struct fit_h5_raw_set *s = calloc(1, sizeof *s);
    *out = s;
    if (!s)
        return fit_fail(err, FIT_ERR_MEMORY, "data: out of memory");
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    s->budget = budget;
    s->list.before = s->list.after = &s->list;
    return FIT_OK;
}

static void raw_free(struct fit_h5_raw *r)
{
    for (size_t k = 0; r->chunk && k < r->nchunk; k++)
        free(r->chunk[k].data);
    free(r->chunk);
    fit_h5_library_close(r->library);
    free(r->fill);
    free(r->path);
    fit_h5_dataset_free(&r->d);
    free(r);
}

void fit_h5_raw_free(struct fit_h5_raw_set *s)
{
    if (!s)
        return;
    while (s->raw) {
        struct fit_h5_raw *r = s->raw;
        s->raw = r->next;
        raw_free(r);
    }
    while (s->file) {
        struct file *f = s->file;
        s->file = f->next;
        fit_h5_bytes_close(f->bytes);
        free(f);
    }
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

static int keep_file(struct fit_h5_raw_set *s, struct fit_h5_bytes *bytes)
{
    for (struct file *f = s->file; f; f = f->next)
        if (f->bytes == bytes)
            return 1;
    struct file *f = malloc(sizeof *f);
    if (!f)
        return 0;
    *f = (struct file){.next = s->file, .bytes = fit_h5_bytes_keep(bytes)};
    s->file = f;
    return 1;
}

static void note_chunk(void *user, const struct fit_h5_place *p)
{
    struct fit_h5_raw *r = user;
    size_t at = 0;
    int edge = 0;
    for (int i = 0; i < r->rank; i++) {
        if (p->at[i] >= r->grid[i])
            return; /* the dataset was larger once */
        edge |= (p->at[i] + 1) * r->part[i] > r->dims[i];
        at = at * r->grid[i] + (size_t)p->at[i];
    }
    r->chunk[at] = (struct chunk){.address = p->address,
                                  .bytes = p->bytes,
                                  .skipped = edge && r->d.plain_edges ? ~0u : p->skipped};
    r->stored += p->bytes > r->file->size ? r->file->size : p->bytes;
}

static enum fit_status read_chunks(struct fit_h5_raw *r, struct fit_h5_bytes *f, struct fit_error *err)
{
    uint64_t n = 1, bytes = fit_h5_chunk_bytes(&r->d);
    if (!bytes)
        return fit_h5_refuse(err, "chunks of 4 GB or more");
    for (int i = 0; i < r->rank; i++) {
        r->part[i] = r->d.part[i];
        r->grid[i] = r->dims[i] ? (r->dims[i] - 1) / r->part[i] + 1 : 0;
        if (r->grid[i] > MOST_CHUNKS || (r->grid[i] && n > MOST_CHUNKS / r->grid[i]))
            return fit_h5_refuse(err, "more than %llu chunks", (unsigned long long)MOST_CHUNKS);
        n *= r->grid[i];
    }
    r->nchunk = (size_t)n;
    r->chunk_size = (size_t)bytes;
    r->chunk = calloc(n ? n : 1, sizeof *r->chunk);
    if (!r->chunk)
        return fit_no_memory(err, f->name);
    enum fit_status st = fit_h5_chunks(f, &r->d, note_chunk, r, err);
    if (st == FIT_OK && r->stored > f->size)
        return fit_h5_damaged(f, r->path, r->d.address, err);
    return st;
}

/* Does the file store enough bytes for so many values? */
static enum fit_status weigh(const struct fit_h5_raw *r, struct fit_error *err)
{
    const uint64_t size = (uint64_t)r->d.space.n * r->item;
    int enough = 1;
    if (r->d.storage == FIT_H5_COMPACT)
        enough = r->d.ncompact >= size;
    else if (r->d.storage == FIT_H5_CHUNKED)
        enough = size <= MOST_EMPTY || fit_h5_can_become(&r->d, 0, EMPTY_RATIO * r->stored, size - MOST_EMPTY);
    else if (r->address == FIT_H5_NOWHERE)
        enough = size <= MOST_EMPTY;
    else
        enough = r->address <= r->file->size && size <= r->file->size - r->address;
    if (enough)
        return FIT_OK;
    return fit_h5_broken(r->file, err,
                         "%s cannot be read: it should have %zu values, for which the file holds too little", r->path,
                         r->d.space.n);
}

/* Locates the values, by this room's reader. */
static enum fit_status lay_out(struct fit_h5_raw *r, const struct fit_h5_header *h, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    if (r->d.type.class == FIT_H5_ODD_NUMBER)
        return fit_h5_refuse(err, "numbers of %zu bytes, neither integers of at most 8 nor IEEE 754 of 2, 4 or 8",
                             r->d.type.size);
    r->address = r->d.address;
    r->fill = calloc(1, r->item);
    if (!r->fill)
        return fit_no_memory(err, h->file->name);
    if (r->d.fill)
        memcpy(r->fill, r->d.fill, r->item);
    if (r->d.storage == FIT_H5_CHUNKED && !r->d.space.rank)
        return fit_h5_damaged(h->file, r->path, h->address, err);
    if (r->d.storage == FIT_H5_CHUNKED)
        st = read_chunks(r, h->file, err);
    return st == FIT_OK ? weigh(r, err) : st;
}

static void take_extent(struct fit_h5_raw *r)
{
    r->item = r->d.type.size;
    r->rank = r->d.space.rank ? r->d.space.rank : 1;
    for (int i = 0; i < r->rank; i++)
        r->part[i] = r->dims[i] = r->d.space.dims[i];
}

/* The same for chunks that libhdf5 reads. */
static void take_grid(struct fit_h5_raw *r)
{
    r->chunk_size = (size_t)fit_h5_chunk_bytes(&r->d);
    for (int i = 0; i < r->rank; i++) {
        r->part[i] = r->d.part[i];
        r->grid[i] = r->dims[i] ? (r->dims[i] - 1) / r->part[i] + 1 : 0;
    }
}

/* By this room's reader; by libhdf5 what that does not support. */
static enum fit_status examine(struct fit_h5_raw *r, const struct fit_h5_header *h, struct fit_error *err)
{
    struct fit_error why = {.status = FIT_OK};
    enum fit_status st = fit_h5_dataset_read(h, &r->d, &why);
    take_extent(r);
    if (st == FIT_OK)
        st = lay_out(r, h, &why);
    if (st != FIT_ERR_UNSUPPORTED)
        return st == FIT_OK ? st : fit_fail(err, st, "%s", why.message);
    free(r->chunk);
    r->chunk = NULL;
    st = fit_h5_library_open(h, r->path, why.message, &r->d, &r->library, err);
    take_extent(r);
    if (st == FIT_OK && r->d.storage == FIT_H5_CHUNKED)
        take_grid(r);
    return st;
}

enum fit_status fit_h5_raw_any(struct fit_h5_raw_set *s, const struct fit_h5 *h, const char *path,
                               struct fit_h5_raw **out, struct fit_error *err)
{
    struct fit_h5_header header;
    for (*out = s->raw; *out; *out = (*out)->next)
        if ((*out)->asked == h->in && strcmp((*out)->path, path) == 0)
            return FIT_OK;
    enum fit_status st = fit_h5_dataset_header(h->in, path, &header, err);
    if (st != FIT_OK)
        return fit_h5_refused(h->in, path, st, err);
    struct fit_h5_raw *r = calloc(1, sizeof *r);
    if (!r || !(r->path = strdup(path)) || !keep_file(s, header.file)) {
        st = fit_no_memory(err, h->name);
    } else {
        r->set = s;
        r->file = header.file;
        r->asked = h->in;
        st = fit_h5_refused(h->in, path, examine(r, &header, err), err);
    }
    if (st == FIT_OK) {
        fit_h5_external_note(header.file);
        *out = r;
        r->next = s->raw;
        s->raw = r;
    } else if (r) {
        raw_free(r);
    }
    fit_h5_header_free(&header);
    return st;
}

enum fit_status fit_h5_raw_open(struct fit_h5_raw_set *s, const struct fit_h5 *h, const char *path,
                                struct fit_h5_raw **out, const char **why, struct fit_error *err)
{
    *why = NULL;
    enum fit_status st = fit_h5_raw_any(s, h, path, out, err);
    if (st != FIT_OK)
        return st;
    if (!fit_h5_is_native(&(*out)->d.type))
        *why = "its numbers are neither float32 nor float64 of this machine";
    else if ((*out)->d.space.rank < 2 || (*out)->d.space.rank > 3)
        *why = "it has neither 2 nor 3 dimensions";
    else if ((*out)->d.space.n == 0)
        *why = "it is empty";
    if (*why)
        *out = NULL;
    return FIT_OK;
}

size_t fit_h5_raw_item(const struct fit_h5_raw *r)
{
    return r->item;
}

int fit_h5_raw_compressed(const struct fit_h5_raw *r)
{
    return r->library || (r->chunk && r->d.nfilter > 0);
}

size_t fit_h5_raw_band(const struct fit_h5_raw *r, unsigned fixed)
{
    size_t n = r->chunk_size;
    for (int i = 0; i < r->rank; i++)
        n *= fixed >> i & 1 ? 1 : r->grid[i];
    return r->library && n > FIT_H5_LIBRARY_CACHE ? TOO_MUCH : n;
}

void fit_h5_raw_keep(struct fit_h5_raw_set *s, size_t budget)
{
    s->budget = budget > s->budget ? budget : s->budget;
}

enum fit_status fit_h5_raw_check(const struct fit_h5_raw_set *s, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    for (const struct file *f = s->file; f && st == FIT_OK; f = f->next)
        st = fit_h5_bytes_check(f->bytes, err);
    return st;
}
