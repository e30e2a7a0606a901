/* box.c -- reading boxes of an HDF5 dataset from its bytes in the file. See reader.h.
 *
 * Chunks: (address, bytes, mask of skipped filters) of each chunk, in the order of their positions. The thread that
 * needs a chunk first expands it; others wait for it. Expanded chunks form a list in order of last use; chunks without
 * readers are dropped from its end when the list exceeds `budget` bytes.
 */
#include "base/clock.h"
#include "hdf5/raw_impl.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define LARGE_CHUNK ((size_t)8 << 20)
#define PIECE_BYTES ((size_t)1 << 20)

/* ---- chunks ---------------------------------------------------------------------------------- */

/* Bytes [at, at + n) of the file, inflated to `size` bytes in pieces, without a copy of the compressed bytes.
 * *damaged: the bytes are invalid. */
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
        st = fit_h5_get(r->file, r->path, at, n, piece, err);
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

static enum fit_status tell_damage(const struct fit_h5_raw *r, struct fit_error *err)
{
    return fit_h5_broken(r->file, err, "%s cannot be read: a chunk is damaged", r->path);
}

/* Large chunks, such as those of whole matrices, stay shuffled, so that there is only one copy of them. */
static int is_large(const struct fit_h5_raw *r, const struct chunk *c)
{
    int last = r->d.nfilter - 1;
    return !c->skipped && r->chunk_size >= LARGE_CHUNK && last >= 0 &&
           r->d.filter[last] == FIT_H5_DEFLATE &&
           (last == 0 || (last == 1 && r->d.filter[0] == FIT_H5_SHUFFLE));
}

static enum fit_status load_large(const struct fit_h5_raw *r, const struct chunk *c,
                                  unsigned char **data, struct fit_error *err)
{
    int damaged;
    size_t size = r->chunk_size;
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
    const size_t size = r->chunk_size;
    *data = NULL;
    if (c->address > r->file->size || c->bytes > r->file->size - c->address ||
        !fit_h5_can_become(&r->d, c->skipped, c->bytes, size))
        return tell_damage(r, err);
    if (is_large(r, c))
        return load_large(r, c, data, err);
    unsigned char *p = malloc(c->bytes);
    int damaged = 0;
    if (!p)
        return fit_fail(err, FIT_ERR_MEMORY, "%s: %s: no memory for a chunk of %zu MB",
                        r->file->name, r->path, size >> 20);
    enum fit_status st = fit_h5_get(r->file, r->path, c->address, c->bytes, p, err);
    if (st != FIT_OK) {
        free(p);
        return st;
    }
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_DECODE);
    st = fit_h5_expand(&r->d, c->skipped, p, c->bytes, size, data, &damaged, err);
    fit_clock_enter(was);
    if (st != FIT_OK)
        return fit_fail(err, st, "%s: %s: no memory for a chunk of %zu MB", r->file->name, r->path,
                        size >> 20);
    return damaged ? tell_damage(r, err) : FIT_OK;
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
        c->shuffled = is_large(r, c) && r->d.nfilter == 2;
        c->size = r->chunk_size;
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

struct box {
    size_t start[RANK], count[RANK];
};

/* The next index below hi of all axes but the last; 0 after the last one. */
static int step(size_t *at, const size_t *lo, const size_t *hi, int axes)
{
    for (int i = axes - 1; i >= 0; i--) {
        if (++at[i] < hi[i])
            return 1;
        at[i] = lo[i];
    }
    return 0;
}

static void fill_up(const struct fit_h5_raw *r, size_t n, unsigned char *out)
{
    for (size_t k = 0; k < n; k++)
        memcpy(out + k * r->item, r->fill, r->item);
}

/* n consecutive values, beginning with number `from`. */
static enum fit_status read_run(const struct fit_h5_raw *r, size_t from, size_t n,
                                unsigned char *out, struct fit_error *err)
{
    if (r->d.storage == FIT_H5_COMPACT)
        memcpy(out, r->d.compact + from * r->item, n * r->item);
    else if (r->address == FIT_H5_NOWHERE)
        fill_up(r, n, out);
    else
        return fit_h5_get(r->file, r->path, r->address + (uint64_t)from * r->item, n * r->item, out,
                          err);
    return FIT_OK;
}

static enum fit_status read_contiguous(const struct fit_h5_raw *r, const struct box *b,
                                       unsigned char *out, struct fit_error *err)
{
    static const size_t zero[RANK] = {0};
    size_t at[RANK] = {0}, run = 1;
    int outer = r->rank; /* axes that are stepped through; the others are contiguous */
    while (outer > 0) {
        run *= b->count[--outer];
        if (b->count[outer] != r->dims[outer])
            break;
    }
    enum fit_status st;
    do {
        size_t from = 0;
        for (int i = 0; i < r->rank; i++)
            from = from * r->dims[i] + b->start[i] + at[i];
        st = read_run(r, from, run, out, err);
        out += run * r->item;
    } while (st == FIT_OK && step(at, zero, b->count, outer));
    return st;
}

/* n elements from element `from` on of a chunk of `count` elements. */
static void copy_elements(const struct fit_h5_raw *r, const struct chunk *c, size_t from, size_t n,
                          unsigned char *out)
{
    const size_t item = r->item, count = r->chunk_size / item;
    if (!c->bytes) {
        fill_up(r, n, out);
        return;
    }
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

/* Copies the intersection of the box with the chunk at grid position p. */
static void copy_common(const struct fit_h5_raw *r, const size_t p[RANK], const struct chunk *c,
                        const struct box *b, unsigned char *out)
{
    const int last = r->rank - 1;
    size_t lo[RANK], hi[RANK], at[RANK];
    for (int i = 0; i < r->rank; i++) {
        size_t first = p[i] * r->part[i], end = first + r->part[i], stop = b->start[i] + b->count[i];
        at[i] = lo[i] = first > b->start[i] ? first : b->start[i];
        hi[i] = end < stop ? end : stop;
    }
    do {
        size_t from = 0, to = 0;
        for (int i = 0; i < r->rank; i++) {
            from = from * r->part[i] + at[i] - p[i] * r->part[i];
            to = to * b->count[i] + at[i] - b->start[i];
        }
        copy_elements(r, c, from, hi[last] - lo[last], out + to * r->item);
    } while (step(at, lo, hi, last));
}

static enum fit_status read_chunked(struct fit_h5_raw *r, const struct box *b, unsigned char *out,
                                    struct fit_error *err)
{
    size_t lo[RANK], hi[RANK], p[RANK];
    for (int i = 0; i < r->rank; i++) {
        p[i] = lo[i] = b->start[i] / r->part[i];
        hi[i] = (b->start[i] + b->count[i] - 1) / r->part[i] + 1;
    }
    do {
        size_t at = 0;
        for (int i = 0; i < r->rank; i++)
            at = at * r->grid[i] + p[i];
        struct chunk *c = &r->chunk[at];
        enum fit_status st = c->bytes ? acquire_chunk(r, c, err) : FIT_OK;
        if (st != FIT_OK)
            return st;
        copy_common(r, p, c, b, out);
        if (c->bytes)
            release_chunk(r->set, c);
    } while (step(p, lo, hi, r->rank));
    return FIT_OK;
}

enum fit_status fit_h5_raw_read(struct fit_h5_raw *r, const size_t *start, const size_t *count,
                                void *out, struct fit_error *err)
{
    struct box b;
    for (int i = 0; i < r->rank; i++) {
        if (!count[i])
            return FIT_OK;
        if (count[i] > r->dims[i] || start[i] > r->dims[i] - count[i])
            return fit_fail(err, FIT_ERR_INTERNAL, "%s: %s: box outside the dataset",
                            r->file->name, r->path);
        b.start[i] = start[i];
        b.count[i] = count[i];
    }
    return r->library ? fit_h5_library_read(r->library, start, count, out, err)
           : r->chunk ? read_chunked(r, &b, out, err)
                      : read_contiguous(r, &b, out, err);
}
