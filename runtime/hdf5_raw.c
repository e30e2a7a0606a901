/* hdf5_raw.c -- reading boxes of an HDF5 dataset from its bytes in the file.  See hdf5_raw.h.
 *
 * Chunks: (address, bytes, mask of skipped filters) of each chunk, in the order of their places.
 * A chunk is expanded by the thread that wants it first; others wait for it.  Expanded chunks form
 * a list, used last first; from its end chunks that nobody reads are dropped when there are more
 * than `budget` bytes.
 *
 * Filters: HDF5 File Format Specification 3.0, IV.A.2.l; shuffle puts the k-th bytes of all
 * elements together.
 */
#define _DEFAULT_SOURCE /* pread, nanoseconds of struct stat */
#include "hdf5_raw.h"

#include "clock.h"
#include "hdf5_internal.h"
#include "lzf.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { RANK = 3, FILTERS = 4, LZF = 32000 };
#define MOST_CHUNKS ((size_t)1 << 22)
#define MOST_BYTES ((hsize_t)1 << 32) /* of a chunk, as in HDF5 */
#define LARGE_CHUNK ((size_t)8 << 20)
#define PIECE_BYTES ((size_t)1 << 20)

struct file {
    struct file *next;
    char *name;
    int fd;
    struct stat seen; /* when it was opened */
};

struct chunk {
    uint64_t address, bytes; /* bytes 0: never written */
    unsigned skipped;        /* filters that were left out for this chunk */
    int busy;                /* being expanded */
    int shuffled;            /* data: the first bytes of all elements, then the second ones, ... */
    size_t readers;          /* copy from it now */
    unsigned char *data;     /* expanded, or NULL */
    struct chunk *before, *after;
    size_t size; /* of data */
};

struct fit_h5_raw {
    struct fit_h5_raw *next;
    struct fit_h5_raw_set *set;
    const struct fit_h5 *from; /* for recognition only */
    struct file *file;
    char *path;
    size_t item;
    int rank, chunked, nfilter, filter[FILTERS];
    size_t dims[RANK], part[RANK], grid[RANK], nchunk;
    uint64_t address; /* contiguous */
    struct chunk *chunk;
    unsigned char fill[8];
};

struct fit_h5_raw_set {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct file *file;
    struct fit_h5_raw *raw;
    struct chunk list; /* head of the ring of expanded chunks */
    size_t held, budget;
};

/* ---- opening --------------------------------------------------------------------------------- */

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
    free(r->path);
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
        close(f->fd);
        free(f->name);
        free(f);
    }
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* The file in which an object lies: links may lead to others. */
static struct file *open_file(struct fit_h5_raw_set *s, hid_t object)
{
    ssize_t n = H5Fget_name(object, NULL, 0);
    char *name = n > 0 ? malloc((size_t)n + 1) : NULL;
    if (!name)
        return NULL;
    H5Fget_name(object, name, (size_t)n + 1);
    for (struct file *f = s->file; f; f = f->next)
        if (strcmp(f->name, name) == 0) {
            free(name);
            return f;
        }
    struct file *f = calloc(1, sizeof *f);
    if (f)
        f->fd = open(name, O_RDONLY | O_CLOEXEC);
    if (!f || f->fd < 0 || fstat(f->fd, &f->seen) != 0) {
        if (f && f->fd >= 0)
            close(f->fd);
        free(f);
        free(name);
        return NULL;
    }
    f->name = name;
    f->next = s->file;
    s->file = f;
    return f;
}

static size_t place_of(const struct fit_h5_raw *r, const hsize_t *offset)
{
    size_t at = 0;
    for (int i = 0; i < r->rank; i++)
        at = at * r->grid[i] + (size_t)offset[i] / r->part[i];
    return at;
}

static void note_chunk(struct fit_h5_raw *r, const hsize_t *offset, unsigned mask, uint64_t address,
                       uint64_t bytes)
{
    size_t k = place_of(r, offset);
    if (k < r->nchunk)
        r->chunk[k] = (struct chunk){.address = address, .bytes = bytes, .skipped = mask};
}

#if H5_VERSION_GE(1, 14, 0)
static int on_chunk(const hsize_t *offset, unsigned mask, haddr_t address, hsize_t bytes, void *to)
{
    note_chunk(to, offset, mask, address, bytes);
    return H5_ITER_CONT;
}
#endif

static int locate_chunks(struct fit_h5_raw *r, hid_t id)
{
    r->chunk = calloc(r->nchunk, sizeof *r->chunk);
    if (!r->chunk)
        return 0;
#if H5_VERSION_GE(1, 14, 0)
    return H5Dchunk_iter(id, H5P_DEFAULT, on_chunk, r) >= 0;
#else
    hsize_t n = 0;
    hid_t space = H5Dget_space(id);
    int ok = H5Dget_num_chunks(id, space, &n) >= 0;
    for (hsize_t k = 0; ok && k < n; k++) {
        hsize_t offset[RANK] = {0}, bytes = 0;
        haddr_t address = 0;
        unsigned mask = 0;
        ok = H5Dget_chunk_info(id, space, k, offset, &mask, &address, &bytes) >= 0;
        if (ok)
            note_chunk(r, offset, mask, address, bytes);
    }
    H5Sclose(space);
    return ok;
#endif
}

/* Filters of the dataset in the order in which they were applied; NULL or what is not understood. */
static const char *read_filters(struct fit_h5_raw *r, hid_t made)
{
    r->nfilter = H5Pget_nfilters(made);
    if (r->nfilter < 0 || r->nfilter > FILTERS)
        return "it goes through too many filters";
    for (int i = 0; i < r->nfilter; i++) {
        unsigned flags = 0, nothing[8] = {0}, config = 0;
        size_t n = 8;
        r->filter[i] = H5Pget_filter2(made, (unsigned)i, &flags, &n, nothing, 0, NULL, &config);
        if (r->filter[i] != H5Z_FILTER_DEFLATE && r->filter[i] != H5Z_FILTER_SHUFFLE &&
            r->filter[i] != LZF)
            return "its compression is neither gzip nor LZF";
    }
    return NULL;
}

static const char *read_chunks(struct fit_h5_raw *r, hid_t id, hid_t made)
{
    hsize_t part[RANK] = {0}, bytes = r->item;
    if (H5Pget_chunk(made, r->rank, part) != r->rank)
        return "its chunks cannot be made out";
    r->chunked = 1;
    r->nchunk = 1;
    for (int i = 0; i < r->rank; i++) {
        r->part[i] = (size_t)part[i];
        if (!r->part[i] || !r->dims[i])
            return "it is empty";
        r->grid[i] = (r->dims[i] - 1) / r->part[i] + 1;
        if (r->grid[i] > MOST_CHUNKS / r->nchunk)
            return "it has too many chunks";
        r->nchunk *= r->grid[i];
        bytes = part[i] > MOST_BYTES / bytes ? MOST_BYTES : bytes * part[i];
    }
    if (bytes >= MOST_BYTES)
        return "its chunks are too large";
    const char *why = read_filters(r, made);
    if (why)
        return why;
    hid_t type = r->item == 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE;
    if (H5Pget_fill_value(made, type, r->fill) < 0)
        memset(r->fill, 0, sizeof r->fill);
    return locate_chunks(r, id) ? NULL : "its chunks cannot be found";
}

static const char *examine(struct fit_h5_raw *r, hid_t id, hid_t type, hid_t made)
{
    hsize_t dims[RANK] = {0};
    hid_t space = H5Dget_space(id);
    r->rank = H5Sget_simple_extent_ndims(space);
    if (r->rank >= 2 && r->rank <= RANK)
        H5Sget_simple_extent_dims(space, dims, NULL);
    H5Sclose(space);
    if (r->rank < 2 || r->rank > RANK)
        return "it has neither 2 nor 3 dimensions";
    for (int i = 0; i < r->rank; i++)
        r->part[i] = r->dims[i] = (size_t)dims[i];
    r->item = H5Tequal(type, H5T_NATIVE_FLOAT) > 0    ? 4
              : H5Tequal(type, H5T_NATIVE_DOUBLE) > 0 ? 8
                                                      : 0;
    if (!r->item)
        return "its numbers are neither float32 nor float64 of this machine";
    if (H5Pget_layout(made) == H5D_CHUNKED)
        return read_chunks(r, id, made);
    haddr_t at = H5Pget_layout(made) == H5D_CONTIGUOUS && H5Pget_external_count(made) == 0
                     ? H5Dget_offset(id)
                     : HADDR_UNDEF;
    r->address = at;
    return at == HADDR_UNDEF ? "it is stored neither contiguously nor in chunks" : NULL;
}

static int has_user_block(hid_t object)
{
    hsize_t n = 0;
    hid_t file = H5Iget_file_id(object), made = file >= 0 ? H5Fget_create_plist(file) : -1;
    if (made >= 0) {
        H5Pget_userblock(made, &n);
        H5Pclose(made);
    }
    if (file >= 0)
        H5Fclose(file);
    return n > 0;
}

enum fit_status fit_h5_raw_open(struct fit_h5_raw_set *s, const struct fit_h5 *h, const char *path,
                                struct fit_h5_raw **out, const char **why, struct fit_error *err)
{
    hid_t id = -1, type = -1, made = -1;
    enum fit_status st = FIT_OK;
    *why = NULL;
    for (*out = s->raw; *out; *out = (*out)->next)
        if ((*out)->from == h && strcmp((*out)->path, path) == 0)
            return FIT_OK;
    struct fit_h5_raw *r = calloc(1, sizeof *r);
    if (!r || !(r->path = malloc(strlen(path) + 1))) {
        st = fit_fail(err, FIT_ERR_MEMORY, "%s: out of memory", h->name);
        goto done;
    }
    strcpy(r->path, path);
    r->set = s;
    r->from = h;
    id = H5Dopen2(h->file, path, H5P_DEFAULT);
    if (id < 0 || (type = H5Dget_type(id)) < 0 || (made = H5Dget_create_plist(id)) < 0) {
        st = fit_fail(err, FIT_ERR_DATA, "%s: no dataset %s", h->name, path);
        goto done;
    }
    *why = examine(r, id, type, made);
    if (!*why && has_user_block(id))
        *why = "its file begins with a user block";
    if (!*why && !(r->file = open_file(s, id)))
        *why = "its file cannot be opened a second time";
    if (!*why) {
        *out = r;
        r->next = s->raw;
        s->raw = r;
        r = NULL;
    }
done:
    if (made >= 0)
        H5Pclose(made);
    if (type >= 0)
        H5Tclose(type);
    if (id >= 0)
        H5Dclose(id);
    if (r)
        raw_free(r);
    return st;
}

size_t fit_h5_raw_item(const struct fit_h5_raw *r)
{
    return r->item;
}

int fit_h5_raw_compressed(const struct fit_h5_raw *r)
{
    return r->chunked && r->nfilter > 0;
}

const size_t *fit_h5_raw_chunk(const struct fit_h5_raw *r)
{
    return r->part;
}

static size_t chunk_bytes(const struct fit_h5_raw *r)
{
    size_t n = r->item;
    for (int i = 0; i < r->rank; i++)
        n *= r->part[i];
    return n;
}

size_t fit_h5_raw_band(const struct fit_h5_raw *r, unsigned fixed)
{
    size_t n = r->chunked ? chunk_bytes(r) : 0;
    for (int i = 0; i < r->rank; i++)
        n *= fixed >> i & 1 ? 1 : r->grid[i];
    return n;
}

void fit_h5_raw_keep(struct fit_h5_raw_set *s, size_t budget)
{
    s->budget = budget > s->budget ? budget : s->budget;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static enum fit_status file_changed(const struct file *f, struct fit_error *err)
{
    struct stat now;
    const struct stat *was = &f->seen;
    if (stat(f->name, &now) != 0)
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: is gone; a file must stay as it is while a fit reads from it",
                        f->name);
    if (now.st_ino == was->st_ino && now.st_dev == was->st_dev && now.st_size == was->st_size &&
        now.st_mtim.tv_sec == was->st_mtim.tv_sec && now.st_mtim.tv_nsec == was->st_mtim.tv_nsec)
        return FIT_OK;
    return fit_fail(err, FIT_ERR_DATA,
                    "%s: was changed while the fit read from it (%lld bytes at the beginning, %lld "
                    "now); it must stay as it is until the fit is over",
                    f->name, (long long)was->st_size, (long long)now.st_size);
}

enum fit_status fit_h5_raw_check(const struct fit_h5_raw_set *s, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    for (const struct file *f = s->file; f && st == FIT_OK; f = f->next)
        st = file_changed(f, err);
    return st;
}

static enum fit_status get_bytes(const struct fit_h5_raw *r, uint64_t at, size_t n, void *to,
                                 struct fit_error *err)
{
    unsigned char *p = to;
    while (n) {
        ssize_t got = pread(r->file->fd, p, n, (off_t)at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            enum fit_status st = file_changed(r->file, err);
            return st != FIT_OK ? st
                                : fit_fail(err, FIT_ERR_DATA,
                                           "%s: %s cannot be read (%s); the file may be truncated",
                                           r->file->name, r->path,
                                           got < 0 ? strerror(errno) : "end of the file");
        }
        p += got;
        at += (uint64_t)got;
        n -= (size_t)got;
    }
    return FIT_OK;
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static int inflate_all(const unsigned char *in, size_t n, unsigned char *out, size_t size)
{
    uLongf got = size;
    return uncompress(out, &got, in, n) == Z_OK && got == size;
}

/* Bytes [at, at + n) of the file, inflated to `size` bytes, by pieces: no copy of what is compressed.
 * *damaged: it is not what it should be. */
static enum fit_status inflate_from(const struct fit_h5_raw *r, const struct chunk *c,
                                    unsigned char *out, size_t size, int *damaged,
                                    struct fit_error *err)
{
    unsigned char *piece = malloc(PIECE_BYTES);
    z_stream z = {0};
    enum fit_status st = FIT_OK;
    size_t written = 0, left = c->bytes;
    uint64_t at = c->address;
    int answer = piece && inflateInit(&z) == Z_OK ? Z_OK : Z_MEM_ERROR;
    *damaged = 0;
    while (answer == Z_OK && left && st == FIT_OK) {
        size_t n = left < PIECE_BYTES ? left : PIECE_BYTES;
        st = get_bytes(r, at, n, piece, err);
        z.next_in = piece;
        z.avail_in = st == FIT_OK ? (uInt)n : 0;
        while (answer == Z_OK && z.avail_in && written < size) {
            size_t room = size - written < PIECE_BYTES ? size - written : PIECE_BYTES;
            z.next_out = out + written;
            z.avail_out = (uInt)room;
            answer = inflate(&z, Z_NO_FLUSH);
            written += room - z.avail_out;
        }
        at += n;
        left = written < size ? left - n : 0;
    }
    *damaged = written != size || (answer != Z_OK && answer != Z_STREAM_END);
    inflateEnd(&z);
    free(piece);
    if (answer == Z_MEM_ERROR)
        return fit_fail(err, FIT_ERR_MEMORY, "%s: %s: no memory to expand a chunk", r->file->name,
                        r->path);
    return st;
}

static void unshuffle(const unsigned char *in, size_t n, size_t item, unsigned char *out)
{
    size_t count = n / item;
    for (size_t b = 0; b < item; b++)
        for (size_t k = 0; k < count; k++)
            out[k * item + b] = in[b * count + k];
    memcpy(out + count * item, in + count * item, n - count * item);
}

/* Undoes the filters, last first.  `in` (malloc, n bytes) is used up; NULL: damaged. */
static unsigned char *expand(const struct fit_h5_raw *r, unsigned skipped, unsigned char *in,
                             size_t n, size_t size)
{
    for (int i = r->nfilter - 1; i >= 0; i--) {
        if (skipped >> i & 1)
            continue;
        unsigned char *out = malloc(size);
        size_t written = size;
        int ok = out != NULL;
        if (ok && r->filter[i] == H5Z_FILTER_DEFLATE)
            ok = inflate_all(in, n, out, size);
        else if (ok && r->filter[i] == LZF)
            ok = fit_lzf_decode(in, n, out, size, &written) == FIT_LZF_OK && written == size;
        else if (ok && (ok = n == size))
            unshuffle(in, n, r->item, out);
        free(in);
        if (!ok) {
            free(out);
            return NULL;
        }
        in = out;
        n = size;
    }
    if (n == size)
        return in;
    free(in);
    return NULL;
}

static enum fit_status tell_damage(const struct fit_h5_raw *r, struct fit_error *err)
{
    enum fit_status st = file_changed(r->file, err);
    return st != FIT_OK ? st
                        : fit_fail(err, FIT_ERR_DATA, "%s: %s: a compressed chunk is damaged",
                                   r->file->name, r->path);
}

/* Large chunks, as those of whole matrices, are left shuffled: so there is only one copy of them. */
static int is_large(const struct fit_h5_raw *r, const struct chunk *c)
{
    int last = r->nfilter - 1;
    return c->bytes && !c->skipped && chunk_bytes(r) >= LARGE_CHUNK && last >= 0 &&
           r->filter[last] == H5Z_FILTER_DEFLATE &&
           (last == 0 || (last == 1 && r->filter[0] == H5Z_FILTER_SHUFFLE));
}

static enum fit_status load_large(const struct fit_h5_raw *r, const struct chunk *c,
                                  unsigned char **data, struct fit_error *err)
{
    int damaged;
    size_t size = chunk_bytes(r);
    *data = malloc(size);
    if (!*data)
        return fit_fail(err, FIT_ERR_MEMORY, "%s: %s: no memory for a chunk of %zu MB",
                        r->file->name, r->path, size >> 20);
    enum fit_status st = inflate_from(r, c, *data, size, &damaged, err);
    if (st == FIT_OK && damaged)
        st = tell_damage(r, err);
    if (st != FIT_OK) {
        free(*data);
        *data = NULL;
    }
    return st;
}

static enum fit_status load_chunk(const struct fit_h5_raw *r, const struct chunk *c,
                                  unsigned char **data, struct fit_error *err)
{
    size_t size = chunk_bytes(r);
    if (is_large(r, c))
        return load_large(r, c, data, err);
    unsigned char *p = malloc(c->bytes > 0 ? c->bytes : size);
    *data = NULL;
    if (!p)
        return fit_fail(err, FIT_ERR_MEMORY, "%s: %s: no memory for a chunk of %zu MB",
                        r->file->name, r->path, size >> 20);
    if (!c->bytes) {
        for (size_t k = 0; k < size; k += r->item)
            memcpy(p + k, r->fill, r->item);
        *data = p;
        return FIT_OK;
    }
    enum fit_status st = get_bytes(r, c->address, c->bytes, p, err);
    if (st != FIT_OK) {
        free(p);
        return st;
    }
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_DECODE);
    *data = expand(r, c->skipped, p, c->bytes, size);
    fit_clock_enter(was);
    return *data ? FIT_OK : tell_damage(r, err);
}

static void unlink_chunk(struct chunk *c)
{
    c->before->after = c->after;
    c->after->before = c->before;
}

static void link_first(struct fit_h5_raw_set *s, struct chunk *c)
{
    c->before = &s->list;
    c->after = s->list.after;
    c->before->after = c->after->before = c;
}

static void drop_old(struct fit_h5_raw_set *s)
{
    for (struct chunk *c = s->list.before; c != &s->list && s->held > s->budget;) {
        struct chunk *older = c;
        c = c->before;
        if (older->readers)
            continue;
        unlink_chunk(older);
        s->held -= older->size;
        free(older->data);
        older->data = NULL;
    }
}

/* The expanded chunk, held until release_chunk. */
static enum fit_status acquire_chunk(struct fit_h5_raw *r, struct chunk *c, struct fit_error *err)
{
    struct fit_h5_raw_set *s = r->set;
    enum fit_status st = FIT_OK;
    pthread_mutex_lock(&s->lock);
    while (c->busy)
        pthread_cond_wait(&s->changed, &s->lock);
    if (c->data) {
        unlink_chunk(c);
    } else {
        unsigned char *data = NULL;
        c->busy = 1;
        pthread_mutex_unlock(&s->lock);
        st = load_chunk(r, c, &data, err);
        pthread_mutex_lock(&s->lock);
        c->busy = 0;
        c->data = data;
        c->shuffled = is_large(r, c) && r->nfilter == 2;
        c->size = chunk_bytes(r);
        if (st == FIT_OK)
            s->held += c->size;
        pthread_cond_broadcast(&s->changed);
    }
    if (st == FIT_OK) {
        link_first(s, c);
        c->readers++;
        drop_old(s);
    }
    pthread_mutex_unlock(&s->lock);
    return st;
}

static void release_chunk(struct fit_h5_raw_set *s, struct chunk *c)
{
    pthread_mutex_lock(&s->lock);
    c->readers--;
    drop_old(s);
    pthread_mutex_unlock(&s->lock);
}

/* ---- boxes ----------------------------------------------------------------------------------- */

/* A box of three dimensions: a dataset of two has one element in the first. */
struct box {
    size_t start[RANK], count[RANK];
};

static struct box box_of(const struct fit_h5_raw *r, const size_t *start, const size_t *count)
{
    struct box b = {.start = {0, 0, 0}, .count = {1, 1, 1}};
    int shift = RANK - r->rank;
    for (int i = 0; i < r->rank; i++) {
        b.start[i + shift] = start[i];
        b.count[i + shift] = count[i];
    }
    return b;
}

/* Extents in three dimensions. */
static void extents(const struct fit_h5_raw *r, const size_t *from, size_t to[RANK])
{
    int shift = RANK - r->rank;
    for (int i = 0; i < RANK; i++)
        to[i] = i < shift ? 1 : from[i - shift];
}

static enum fit_status read_contiguous(const struct fit_h5_raw *r, const struct box *b,
                                       unsigned char *out, struct fit_error *err)
{
    size_t d[RANK], row = b->count[2] * r->item;
    enum fit_status st = FIT_OK;
    extents(r, r->dims, d);
    int whole = b->count[2] == d[2]; /* rows follow one another */
    for (size_t a = 0; a < b->count[0] && st == FIT_OK; a++)
        for (size_t i = 0; i < b->count[1] && st == FIT_OK; i += whole ? b->count[1] : 1) {
            uint64_t at = ((uint64_t)(b->start[0] + a) * d[1] + b->start[1] + i) * d[2] +
                          b->start[2];
            st = get_bytes(r, r->address + at * r->item, whole ? row * b->count[1] : row, out, err);
            out += whole ? row * b->count[1] : row;
        }
    return st;
}

/* n elements from element `from` on of a chunk of `count` elements. */
static void copy_elements(const struct chunk *c, size_t item, size_t count, size_t from, size_t n,
                          unsigned char *out)
{
    if (!c->shuffled) {
        memcpy(out, c->data + from * item, n * item);
        return;
    }
    for (size_t b = 0; b < item; b++) {
        const unsigned char *bytes = c->data + b * count + from;
        for (size_t k = 0; k < n; k++)
            out[k * item + b] = bytes[k];
    }
}

/* Copies what the chunk at grid place p and the box have in common. */
static void copy_common(const struct fit_h5_raw *r, const size_t p[RANK], const size_t part[RANK],
                        const struct chunk *c, const struct box *b, unsigned char *out)
{
    size_t count = part[0] * part[1] * part[2];
    size_t lo[RANK], hi[RANK];
    for (int i = 0; i < RANK; i++) {
        size_t first = p[i] * part[i], end = first + part[i], last = b->start[i] + b->count[i];
        lo[i] = first > b->start[i] ? first : b->start[i];
        hi[i] = end < last ? end : last;
    }
    for (size_t a = lo[0]; a < hi[0]; a++)
        for (size_t i = lo[1]; i < hi[1]; i++) {
            size_t from = ((a - p[0] * part[0]) * part[1] + i - p[1] * part[1]) * part[2] + lo[2] -
                          p[2] * part[2];
            size_t to = ((a - b->start[0]) * b->count[1] + i - b->start[1]) * b->count[2] + lo[2] -
                        b->start[2];
            copy_elements(c, r->item, count, from, hi[2] - lo[2], out + to * r->item);
        }
}

static enum fit_status read_chunked(struct fit_h5_raw *r, const struct box *b, unsigned char *out,
                                    struct fit_error *err)
{
    size_t part[RANK], grid[RANK], lo[RANK], hi[RANK], p[RANK];
    extents(r, r->part, part);
    extents(r, r->grid, grid);
    for (int i = 0; i < RANK; i++) {
        lo[i] = b->start[i] / part[i];
        hi[i] = (b->start[i] + b->count[i] - 1) / part[i];
    }
    for (p[0] = lo[0]; p[0] <= hi[0]; p[0]++)
        for (p[1] = lo[1]; p[1] <= hi[1]; p[1]++)
            for (p[2] = lo[2]; p[2] <= hi[2]; p[2]++) {
                struct chunk *c = &r->chunk[(p[0] * grid[1] + p[1]) * grid[2] + p[2]];
                enum fit_status st = acquire_chunk(r, c, err);
                if (st != FIT_OK)
                    return st;
                copy_common(r, p, part, c, b, out);
                release_chunk(r->set, c);
            }
    return FIT_OK;
}

enum fit_status fit_h5_raw_read(struct fit_h5_raw *r, const size_t *start, const size_t *count,
                                void *out, struct fit_error *err)
{
    struct box b = box_of(r, start, count);
    for (int i = 0; i < r->rank; i++) {
        if (!count[i])
            return FIT_OK;
        if (count[i] > r->dims[i] || start[i] > r->dims[i] - count[i])
            return fit_fail(err, FIT_ERR_INTERNAL, "%s: %s: box outside the dataset",
                            r->file->name, r->path);
    }
    return r->chunked ? read_chunked(r, &b, out, err) : read_contiguous(r, &b, out, err);
}
