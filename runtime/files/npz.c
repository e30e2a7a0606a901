/* npz.c -- reading numpy's .npz, and .npy as a container of one array (arrays: npy.c).
 *
 * Format:  PKWARE APPNOTE 6.3 (ZIP: end-of-central-directory
 * record, ZIP64 locator, central directory).  numpy writes 0xffffffff sizes into local headers, so
 * the central directory is the only source of sizes.  All sizes are checked against the file
 * before use.
 */
#include "base/arena.h"
#include "machine/memory.h"
#include "files/npy.h"

#include "common/regular.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <zlib.h>

enum {
    PIECE = 1 << 16, /* bytes handled at a time */
    MOST_MEMBERS = 4096,
    DEFLATE_RATIO = 1032, /* most bytes that one deflated byte can expand to (zlib's algorithm.txt) */
    MOST_HEADER = 1 << 16, /* bytes of an NPY header */
    END_BYTES = 22,
    ZIP64_LOCATOR_BYTES = 20,
    ZIP64_END_BYTES = 56,
    CENTRAL_BYTES = 46,
    LOCAL_BYTES = 30
};

struct member {
    struct fit_npz_array array;
    char *name;
    int method;
    uint64_t packed, plain; /* bytes in the file, bytes expanded */
    uint64_t start;         /* of the bytes in the file */
    uint64_t data;          /* of the array in the expanded bytes: length of the NPY header */
};

struct fit_npz {
    FILE *f;
    char *file;
    uint64_t size;
    struct member *member;
    size_t n;
    /* The stream being read: its member, and how many expanded bytes have been handed out. */
    int open;
    uint64_t at, taken; /* expanded bytes delivered; packed bytes consumed */
    z_stream stream;
    unsigned char in[PIECE];
};

static uint64_t little(const unsigned char *p, int bytes)
{
    uint64_t v = 0;
    for (int i = bytes; i-- > 0;)
        v = v << 8 | p[i];
    return v;
}

static int read_at(struct fit_npz *z, uint64_t where, void *to, size_t n)
{
    return where <= z->size && n <= z->size - where && fseeko(z->f, (off_t)where, SEEK_SET) == 0 &&
           fread(to, 1, n, z->f) == n;
}

static int begins_with(const char *file, const void *magic, size_t n)
{
    char head[8];
    FILE *f = regular_open(file);
    int yes = f && n <= sizeof head && fread(head, 1, n, f) == n && memcmp(head, magic, n) == 0;
    if (f)
        fclose(f);
    return yes;
}

int fit_npz_is_npz(const char *file)
{
    return begins_with(file, "PK\3\4", 4) || begins_with(file, "PK\5\6", 4);
}

int fit_npz_is_npy(const char *file)
{
    return begins_with(file, "\x93NUMPY", 6);
}

/* ---- the stream of a member ------------------------------------------------------------------ */

static void stream_close(struct fit_npz *z)
{
    if (z->open >= 0 && z->member[z->open].method == 8)
        inflateEnd(&z->stream);
    z->open = -1;
}

static int stream_open(struct fit_npz *z, int k)
{
    stream_close(z);
    z->at = z->taken = 0;
    if (z->member[k].method == 8) {
        memset(&z->stream, 0, sizeof z->stream);
        if (inflateInit2(&z->stream, -MAX_WBITS) != Z_OK)
            return 0;
    }
    z->open = k;
    return 1;
}

/* The next n expanded bytes (n <= PIECE); 1 when they are all there. */
static int inflate_piece(struct fit_npz *z, const struct member *m, unsigned char *to, size_t n)
{
    z->stream.next_out = to;
    z->stream.avail_out = (uInt)n;
    while (z->stream.avail_out) {
        if (!z->stream.avail_in && z->taken < m->packed) {
            size_t take = m->packed - z->taken < PIECE ? (size_t)(m->packed - z->taken) : PIECE;
            if (!read_at(z, m->start + z->taken, z->in, take))
                return 0;
            z->taken += take;
            z->stream.next_in = z->in;
            z->stream.avail_in = (uInt)take;
        }
        int r = inflate(&z->stream, Z_NO_FLUSH);
        if (r == Z_STREAM_END)
            return z->stream.avail_out == 0;
        if (r != Z_OK)
            return 0;
    }
    return 1;
}

/* Expanded bytes from .. from + n - 1 of member k, n <= PIECE. */
static int member_bytes(struct fit_npz *z, int k, uint64_t from, unsigned char *to, size_t n)
{
    const struct member *m = &z->member[k];
    if (from > m->plain || n > m->plain - from)
        return 0;
    if (m->method == 0)
        return read_at(z, m->start + from, to, n);
    if ((z->open != k || z->at > from) && !stream_open(z, k))
        return 0;
    while (z->at < from) { /* skip; the target serves as waste bin */
        unsigned char waste[1024];
        size_t skip = from - z->at < sizeof waste ? (size_t)(from - z->at) : sizeof waste;
        if (!inflate_piece(z, m, waste, skip)) {
            stream_close(z);
            return 0;
        }
        z->at += skip;
    }
    if (!inflate_piece(z, m, to, n)) {
        stream_close(z);
        return 0;
    }
    z->at += n;
    return 1;
}

/* ---- NPY header of a member ------------------------------------------------------------------ */

/* Reads the NPY header of member k.  0: not an array. */
static int read_header(struct fit_npz *z, int k)
{
    struct member *m = &z->member[k];
    unsigned char head[12];
    size_t first, length;
    if (!member_bytes(z, k, 0, head, 10) || memcmp(head, "\x93NUMPY", 6) != 0)
        return 0;
    if (head[6] == 1) {
        first = 10;
        length = (size_t)little(head + 8, 2);
    } else {
        if (head[6] > 3 || !member_bytes(z, k, 0, head, 12))
            return 0;
        first = 12;
        length = (size_t)little(head + 8, 4);
    }
    FIT_OWNED char *text = length <= MOST_HEADER ? calloc(1, length + 1) : NULL;
    int ok = text && member_bytes(z, k, first, (unsigned char *)text, length);
    if (ok) {
        ok = fit_npy_header(text, &m->array);
        m->data = first + length;
    }
    return ok;
}

/* ---- ZIP directory --------------------------------------------------------------------------- */

struct directory {
    uint64_t start, bytes, count;
};

/* The end record is searched backwards: a comment of up to 64 KiB may follow it. */
static int find_directory(struct fit_npz *z, struct directory *d)
{
    static const size_t most = END_BYTES + 65535;
    size_t n = z->size < most ? (size_t)z->size : most;
    unsigned char *tail = malloc(n ? n : 1), *end = NULL, zip64[ZIP64_END_BYTES];
    int ok = 0;
    if (!tail || n < END_BYTES || !read_at(z, z->size - n, tail, n))
        goto done;
    for (size_t i = n - END_BYTES + 1; i-- > 0 && !end;)
        if (memcmp(tail + i, "PK\5\6", 4) == 0)
            end = tail + i;
    if (!end)
        goto done;
    *d = (struct directory){
        .count = little(end + 10, 2), .bytes = little(end + 12, 4), .start = little(end + 16, 4)};
    if (end - tail >= ZIP64_LOCATOR_BYTES && memcmp(end - ZIP64_LOCATOR_BYTES, "PK\6\7", 4) == 0) {
        uint64_t where = little(end - ZIP64_LOCATOR_BYTES + 8, 8);
        if (!read_at(z, where, zip64, sizeof zip64) || memcmp(zip64, "PK\6\6", 4) != 0)
            goto done;
        *d = (struct directory){.count = little(zip64 + 32, 8),
                                .bytes = little(zip64 + 40, 8),
                                .start = little(zip64 + 48, 8)};
    }
    ok = d->count <= MOST_MEMBERS && d->start <= z->size && d->bytes <= z->size - d->start;
done:
    free(tail);
    return ok;
}

/* ZIP64 extra field: 64-bit numbers for those that are 0xffffffff, in this order. */
static int apply_zip64(const unsigned char *p, size_t n, uint64_t *plain, uint64_t *packed,
                       uint64_t *local)
{
    uint64_t *wanted[3] = {plain, packed, local};
    while (n >= 4) {
        size_t id = (size_t)little(p, 2), size = (size_t)little(p + 2, 2), at = 4;
        if (size > n - 4)
            return 0;
        for (int i = 0; id == 1 && i < 3; i++) {
            if (*wanted[i] != 0xffffffff)
                continue;
            if (at + 8 > size + 4)
                return 0;
            *wanted[i] = little(p + at, 8);
            at += 8;
        }
        p += size + 4;
        n -= size + 4;
    }
    return 1;
}

/* One entry of the directory at p (n bytes left); returns its length, or 0. */
static size_t add_member(struct fit_npz *z, const unsigned char *p, size_t n)
{
    unsigned char local[LOCAL_BYTES];
    if (n < CENTRAL_BYTES || memcmp(p, "PK\1\2", 4) != 0)
        return 0;
    size_t name = (size_t)little(p + 28, 2), extra = (size_t)little(p + 30, 2);
    size_t all = CENTRAL_BYTES + name + extra + (size_t)little(p + 32, 2);
    uint64_t packed = little(p + 20, 4), plain = little(p + 24, 4), where = little(p + 42, 4);
    if (all > n || !apply_zip64(p + CENTRAL_BYTES + name, extra, &plain, &packed, &where))
        return 0;
    struct member *m = &z->member[z->n];
    if (!read_at(z, where, local, sizeof local) || memcmp(local, "PK\3\4", 4) != 0)
        return 0;
    m->start = where + LOCAL_BYTES + little(local + 26, 2) + little(local + 28, 2);
    m->method = (int)little(p + 10, 2);
    m->packed = packed;
    m->plain = plain;
    if (m->start > z->size || packed > z->size - m->start || (m->method == 0 && packed != plain) ||
        (m->method == 8 && plain / DEFLATE_RATIO > packed) ||
        (little(p + 8, 2) & 1) /* encrypted */ || !(m->name = calloc(1, name + 1)))
        return 0;
    memcpy(m->name, p + CENTRAL_BYTES, name);
    if (name >= 4 && strcmp(m->name + name - 4, ".npy") == 0)
        m->name[name - 4] = 0;
    m->array.name = m->name;
    m->array.kind = '?';
    z->n++;
    if (m->method == 0 || m->method == 8)
        if (!read_header(z, (int)z->n - 1))
            m->array.kind = '?';
    return all;
}

static enum fit_status read_directory(struct fit_npz *z, struct fit_error *err)
{
    struct directory d;
    enum fit_status st = FIT_OK;
    unsigned char *bytes = NULL;
    if (!find_directory(z, &d))
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: the directory of the npz file is missing or damaged; is the "
                        "file complete?",
                        z->file);
    bytes = malloc((size_t)d.bytes + 1);
    z->member = calloc((size_t)d.count + 1, sizeof *z->member);
    if (!bytes || !z->member)
        st = fit_no_memory(err, z->file);
    else if (!read_at(z, d.start, bytes, (size_t)d.bytes))
        st = fit_fail(err, FIT_ERR_IO, "%s: cannot be read", z->file);
    for (size_t at = 0, k = 0; st == FIT_OK && k < d.count; k++) {
        size_t length = add_member(z, bytes + at, (size_t)d.bytes - at);
        if (!length)
            st = fit_fail(err, FIT_ERR_DATA, "%s: member %zu of the npz file is damaged", z->file,
                          k + 1);
        at += length;
    }
    free(bytes);
    return st;
}

static enum fit_status single_member(struct fit_npz *z, struct fit_error *err)
{
    if (!(z->member = calloc(1, sizeof *z->member)) || !(z->member[0].name = calloc(1, 1)))
        return fit_no_memory(err, z->file);
    z->member[0].plain = z->member[0].packed = z->size;
    z->member[0].array.name = z->member[0].name;
    z->n = 1;
    if (!read_header(z, 0))
        return fit_fail(err, FIT_ERR_DATA, "%s: the header of the npy file is damaged", z->file);
    return FIT_OK;
}

enum fit_status fit_npz_open(const char *file, struct fit_npz **out, struct fit_error *err)
{
    struct fit_npz *z = calloc(1, sizeof *z);
    enum fit_status st = FIT_OK;
    off_t size = -1;
    *out = NULL;
    if (!z || !(z->file = malloc(strlen(file) + 1))) {
        free(z);
        return fit_no_memory(err, file);
    }
    strcpy(z->file, file);
    z->open = -1;
    z->f = regular_open(file);
    if (!z->f || fseeko(z->f, 0, SEEK_END) != 0 || (size = ftello(z->f)) < 0)
        st = fit_fail(err, FIT_ERR_IO, "%s: cannot be opened", file);
    z->size = size > 0 ? (uint64_t)size : 0;
    if (st == FIT_OK)
        st = fit_npz_is_npy(file) ? single_member(z, err) : read_directory(z, err);
    if (st == FIT_OK)
        *out = z;
    else
        fit_npz_close(z);
    return st;
}

void fit_npz_close(struct fit_npz *z)
{
    if (!z)
        return;
    stream_close(z);
    if (z->f)
        fclose(z->f);
    for (size_t i = 0; i < z->n; i++)
        free(z->member[i].name);
    free(z->member);
    free(z->file);
    free(z);
}

const char *fit_npz_file(const struct fit_npz *z)
{
    return z->file;
}

size_t fit_npz_count(const struct fit_npz *z)
{
    return z->n;
}

const struct fit_npz_array *fit_npz_array(const struct fit_npz *z, int member)
{
    return member >= 0 && (size_t)member < z->n ? &z->member[member].array : NULL;
}

int fit_npz_find(const struct fit_npz *z, const char *name)
{
    for (size_t i = 0; i < z->n; i++)
        if (strcmp(z->member[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* ---- values ---------------------------------------------------------------------------------- */

static enum fit_status member_ready(const struct fit_npz *z, int k, int text, struct fit_error *err)
{
    if (k < 0 || (size_t)k >= z->n)
        return fit_fail(err, FIT_ERR_DATA, "%s: no such member", z->file);
    const struct member *m = &z->member[k];
    const char *comma = *m->name ? ": " : "";
    if (m->method != 0 && m->method != 8)
        return fit_fail(err, FIT_ERR_DATA,
                        "%s%s%s: compression method %d is not supported; save it again "
                        "with numpy.savez or savez_compressed",
                        z->file, comma, m->name, m->method);
    if (m->array.kind == 'O')
        return fit_fail(err, FIT_ERR_DATA,
                        "%s%s%s: holds pickled Python objects, which are not read; save "
                        "plain arrays",
                        z->file, comma, m->name);
    if (!strchr(text ? "US" : "fiub", m->array.kind))
        return fit_fail(err, FIT_ERR_DATA, "%s%s%s: does not hold %s", z->file, comma, m->name,
                        text ? "text" : "real numbers of 1 to 8 bytes");
    return FIT_OK;
}

enum fit_status fit_npz_read(struct fit_npz *z, int k, size_t first, size_t n, double *value,
                             struct fit_error *err)
{
    enum fit_status st = member_ready(z, k, 0, err);
    if (st != FIT_OK)
        return st;
    const struct member *m = &z->member[k];
    if (first > m->array.n || n > m->array.n - first)
        return fit_fail(err, FIT_ERR_DATA, "%s: %s has %zu elements; %zu were expected", z->file,
                        m->name, m->array.n, first + n);
    FIT_OWNED unsigned char *piece = malloc(PIECE);
    if (!piece)
        return fit_no_memory(err, z->file);
    size_t item = m->array.item, most = PIECE / item;
    for (size_t i = 0; i < n && st == FIT_OK; i += most) {
        size_t c = n - i < most ? n - i : most;
        if (member_bytes(z, k, m->data + (uint64_t)(first + i) * item, piece, c * item))
            fit_npy_doubles(piece, &m->array, c, value + i);
        else
            st = fit_fail(err, FIT_ERR_DATA,
                          "%s: %s ends early or is damaged; is the file complete?", z->file,
                          *m->name ? m->name : "the array");
    }
    return st;
}

enum fit_status fit_npz_read_all(struct fit_npz *z, int k, double **value, size_t *n,
                                 struct fit_error *err)
{
    enum fit_status st = member_ready(z, k, 0, err);
    *value = NULL;
    *n = 0;
    if (st != FIT_OK)
        return st;
    const struct member *m = &z->member[k];
    if (m->array.n > m->plain / m->array.item) /* before asking for memory */
        return fit_fail(err, FIT_ERR_DATA, "%s: %s ends early; is the file complete?", z->file,
                        m->name);
    double *v =
        fit_memory_room((double)m->array.n * sizeof *v) ? malloc((m->array.n ? m->array.n : 1) * sizeof *v) : NULL;
    if (!v)
        return fit_fail(err, FIT_ERR_MEMORY, "%s: no memory for %zu values", z->file, m->array.n);
    if ((st = fit_npz_read(z, k, 0, m->array.n, v, err)) != FIT_OK) {
        free(v);
        return st;
    }
    *value = v;
    *n = m->array.n;
    return FIT_OK;
}

enum fit_status fit_npz_read_text(struct fit_npz *z, int k, char **text, struct fit_error *err)
{
    enum fit_status st = member_ready(z, k, 1, err);
    *text = NULL;
    if (st != FIT_OK)
        return st;
    const struct member *m = &z->member[k];
    size_t item = m->array.item;
    if (!m->array.n || item > m->plain)
        return fit_fail(err, FIT_ERR_DATA, "%s: %s is empty", z->file, m->name);
    unsigned char *raw = malloc(item ? item : 1);
    char *s = malloc(fit_npy_text_size(&m->array));
    int ok = raw && s;
    for (size_t at = 0; ok && at < item; at += PIECE)
        ok = member_bytes(z, k, m->data + at, raw + at, item - at < PIECE ? item - at : PIECE);
    if (ok)
        fit_npy_text(raw, &m->array, s);
    free(raw);
    if (!ok) {
        free(s);
        return fit_fail(err, FIT_ERR_DATA, "%s: %s ends early or is damaged", z->file, m->name);
    }
    *text = s;
    return FIT_OK;
}
