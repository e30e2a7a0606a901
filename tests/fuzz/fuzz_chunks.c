/* fuzz_chunks.c -- chunks of an HDF5 dataset: box.c, filter.c and lzf.c.
 *
 * The file around the chunks is made by the HDF5 library, which is trusted to read it; the bytes of
 * the chunks are the input's.  What is read from the bytes must be what the library makes of them.
 *
 *     byte 0      filters: 1 shuffle, 2 gzip, 4 LZF; 8: float32; 16: three dimensions; 32: little memory for reading
 *     byte 1, 2   extent of the dataset, extent of a chunk
 *     then, for each chunk: mask of the filters that were left out, length (2 bytes), its bytes */
#include "fuzz.h"

#include <hdf5.h>
#include <string.h>

#include "hdf5/lzf.h"
#include "hdf5/reader.h"

enum { LZF = 32000, MOST = 24 };

struct input {
    const uint8_t *at;
    size_t left;
};

static unsigned take(struct input *in)
{
    if (!in->left)
        return 0;
    in->left--;
    return *in->at++;
}

struct shape {
    int rank;
    size_t extent, part, item;
    unsigned flags;
};

/* LZF for the library: it reads what fit_lzf_decode reads, and writes nothing. */
static size_t filter(unsigned flags, size_t nparam, const unsigned param[], size_t nbytes,
                     size_t *size, void **buf)
{
    size_t written;
    if (!(flags & H5Z_FLAG_REVERSE) || nparam < 3)
        return 0;
    unsigned char *out = H5allocate_memory(param[2], 0);
    if (!out || fit_lzf_decode(*buf, nbytes, out, param[2], &written) != FIT_LZF_OK ||
        written != param[2]) {
        H5free_memory(out);
        return 0;
    }
    H5free_memory(*buf);
    *buf = out;
    *size = param[2];
    return written;
}

static hid_t plan_of(const struct shape *s, const hsize_t *part)
{
    const unsigned size[3] = {4, 0x0105, (unsigned)(s->item * s->part * s->part *
                                                    (s->rank == 3 ? s->part : 1))};
    hid_t made = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(made, s->rank, part);
    if (s->flags & 1)
        H5Pset_shuffle(made);
    if (s->flags & 2)
        H5Pset_deflate(made, 4);
    if (s->flags & 4)
        H5Pset_filter(made, LZF, H5Z_FLAG_OPTIONAL, 3, size);
    return made;
}

static void put_chunks(hid_t set, const struct shape *s, struct input *in)
{
    const size_t grid = (s->extent + s->part - 1) / s->part;
    size_t n = grid * grid * (s->rank == 3 ? grid : 1);
    for (size_t k = 0; k < n && in->left > 3; k++) {
        const hsize_t offset[3] = {k % grid * s->part, k / grid % grid * s->part,
                                   k / grid / grid * s->part};
        const unsigned mask = take(in) & 7;
        size_t length = take(in);
        length |= (size_t)take(in) << 8;
        if (length > in->left)
            length = in->left;
        if (length)
            H5Dwrite_chunk(set, H5P_DEFAULT, mask, offset, length, in->at);
        in->at += length;
        in->left -= length;
    }
}

static void write_file(const char *file, const struct shape *s, struct input *in)
{
    const hsize_t extent[3] = {s->extent, s->extent, s->extent}, part[3] = {s->part, s->part, s->part};
    static const H5Z_class2_t class = {H5Z_CLASS_T_VERS, LZF, 1, 1, "lzf", NULL, NULL, filter};
    H5Zregister(&class);
    hid_t f = H5Fcreate(file, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t space = H5Screate_simple(s->rank, extent, NULL), made = plan_of(s, part);
    hid_t set = H5Dcreate2(f, "/c2", s->item == 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE, space,
                           H5P_DEFAULT, made, H5P_DEFAULT);
    FUZZ_ASSERT(f >= 0 && set >= 0);
    put_chunks(set, s, in);
    H5Dclose(set);
    H5Pclose(made);
    H5Sclose(space);
    H5Fclose(f);
}

static int read_by_library(const char *file, double *value)
{
    hid_t f = H5Fopen(file, H5F_ACC_RDONLY, H5P_DEFAULT), set = H5Dopen2(f, "/c2", H5P_DEFAULT);
    int ok = set >= 0 && H5Dread(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, value) >= 0;
    H5Dclose(set);
    H5Fclose(f);
    return ok;
}

/* Both ways of reading; when both find the chunks sound, they agree.  The library is asked for sound
 * chunks only: HDF5 1.10 reads beyond its buffer when a chunk expands to less than it should. */
static void read_both(struct fit_h5 *h, const char *file, const struct shape *s, size_t budget)
{
    static double other[MOST * MOST * MOST];
    static unsigned char got[sizeof other];
    struct fit_h5_raw_set *set;
    struct fit_h5_raw *raw;
    const char *why;
    const size_t start[3] = {0}, count[3] = {s->extent, s->extent, s->extent};
    const size_t n = s->extent * s->extent * (s->rank == 3 ? s->extent : 1);
    FUZZ_ASSERT(fit_h5_raw_new(budget, &set, NULL) == FIT_OK);
    struct fit_error err = {0};
    enum fit_status st = fit_h5_raw_open(set, h, "/c2", &raw, &why, &err);
    if (st != FIT_OK) { /* two compressors, one after the other: nobody writes that, and libhdf5 would read it */
        FUZZ_ASSERT(st == FIT_ERR_UNSUPPORTED && (s->flags & 6) == 6 && err.message[0]);
        fit_h5_raw_free(set);
        return;
    }
    FUZZ_ASSERT(raw && !why);
    const int first = fit_h5_raw_read(raw, start, count, got, &err) == FIT_OK;
    FUZZ_ASSERT(first || err.message[0]);
    const int second = first && read_by_library(file, other);
    for (size_t k = 0; second && k < n; k++) {
        float f;
        double x;
        memcpy(&f, got + s->item * k, sizeof f);
        memcpy(&x, got + s->item * k, s->item == 8 ? sizeof x : sizeof f);
        x = s->item == 8 ? x : (double)f;
        FUZZ_ASSERT(x == other[k] || (x != x && other[k] != other[k]));
    }
    fit_h5_raw_free(set);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, size};
    struct shape s = {.flags = take(&in)};
    struct fit_h5 *h = NULL;
    unsigned char out[300];
    size_t written;
    if (fit_lzf_decode(data, size, out, sizeof out, &written) == FIT_LZF_OK)
        FUZZ_ASSERT(written <= sizeof out);
    s.extent = 1 + take(&in) % MOST;
    s.part = 1 + take(&in) % s.extent;
    s.item = s.flags & 8 ? 4 : 8;
    s.rank = s.flags & 16 ? 3 : 2;
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    const char *file = fuzz_no_file();
    write_file(file, &s, &in);
    if (fit_h5_open(file, &h, NULL) == FIT_OK) {
        fit_h5_alone(h);
        read_both(h, file, &s, s.flags & 32 ? 100 : 1 << 20);
        fit_h5_close(h);
    }
    return 0;
}
