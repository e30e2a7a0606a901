/* filter.c -- what was done to a chunk of an HDF5 dataset is undone.  See object.h; IV.A.2.l.
 *
 * Shuffle puts the k-th bytes of all elements together.  Fletcher's checksum (Fletcher 1982, 32 bits)
 * over pairs of bytes, the higher first, follows the chunk; old versions wrote it with the pairs' bytes
 * exchanged.
 */
#include "hdf5/object.h"

#include "hdf5/lzf.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* 1 byte of deflate makes at most 1032 (zlib's algorithm.txt), 3 bytes of LZF 264; and a few bytes */
enum { DEFLATE_RATIO = 1032, LZF_RATIO = 88, SLACK = 64 };

int fit_h5_can_become(const struct fit_h5_dataset *d, unsigned skipped, uint64_t n, uint64_t size)
{
    uint64_t ratio = 1;
    for (int i = 0; i < d->nfilter; i++)
        if (!(skipped >> i & 1))
            ratio *= d->filter[i] == FIT_H5_DEFLATE ? DEFLATE_RATIO
                     : d->filter[i] == FIT_H5_LZF   ? LZF_RATIO
                                                    : 1;
    return size <= SLACK || n >= (size - SLACK) / ratio;
}

static int inflate_all(const unsigned char *in, size_t n, unsigned char *out, size_t size,
                       int *memory)
{
    uLongf got = size;
    int answer = uncompress(out, &got, in, n);
    *memory = answer == Z_MEM_ERROR;
    return answer == Z_OK && got == size;
}

static void unshuffle(const unsigned char *in, size_t n, size_t item, unsigned char *out)
{
    size_t count = n / item;
    for (size_t b = 0; b < item; b++)
        for (size_t k = 0; k < count; k++)
            out[k * item + b] = in[b * count + k];
    memcpy(out + count * item, in + count * item, n - count * item);
}

static uint32_t fletcher(const unsigned char *p, size_t n)
{
    uint32_t a = 0, b = 0;
    for (size_t k = 0; k < n; k += 2) {
        a = (a + ((uint32_t)p[k] << 8) + (k + 1 < n ? p[k + 1] : 0)) % 65535;
        b = (b + a) % 65535;
    }
    return b << 16 | a;
}

/* Sums modulo 65535 have two zeros. */
static uint32_t one_zero(uint32_t sum)
{
    uint32_t a = sum & 0xffff, b = sum >> 16;
    return (b == 0xffff ? 0 : b << 16) | (a == 0xffff ? 0 : a);
}

static int fletcher_agrees(const unsigned char *p, size_t n)
{
    const unsigned char *s = p + n;
    uint32_t now = fletcher(p, n);
    uint32_t told = (uint32_t)s[3] << 24 | (uint32_t)s[2] << 16 | (uint32_t)s[1] << 8 | s[0];
    uint32_t turned = (told & 0x00ff00ffu) << 8 | (told >> 8 & 0x00ff00ffu);
    return one_zero(told) == now || one_zero(turned) == now;
}

/* One filter; n and size as the filter sees them.  1, 0: damaged, -1: no memory. */
static int undo(const struct fit_h5_dataset *d, int filter, const unsigned char *in, size_t n,
                unsigned char *out, size_t size)
{
    size_t written = 0;
    int memory = 0;
    if (filter == FIT_H5_DEFLATE)
        return inflate_all(in, n, out, size, &memory) ? 1 : memory ? -1 : 0;
    if (filter == FIT_H5_LZF)
        return fit_lzf_decode(in, n, out, size, &written) == FIT_LZF_OK && written == size;
    if (n != size)
        return 0;
    unshuffle(in, n, d->type.size, out);
    return 1;
}

/* Bytes that go into filter i on writing: a checksum lengthens what comes behind it. */
static size_t size_before(const struct fit_h5_dataset *d, unsigned skipped, int i, size_t size)
{
    for (int k = 0; k < i; k++)
        if (!(skipped >> k & 1) && d->filter[k] == FIT_H5_FLETCHER)
            size += 4;
    return size;
}

enum fit_status fit_h5_expand(const struct fit_h5_dataset *d, unsigned skipped, unsigned char *in,
                              size_t n, size_t size, unsigned char **out, int *damaged,
                              struct fit_error *err)
{
    *out = NULL;
    *damaged = !fit_h5_can_become(d, skipped, n, size);
    for (int i = d->nfilter - 1; i >= 0 && !*damaged; i--) {
        if (skipped >> i & 1)
            continue;
        if (d->filter[i] == FIT_H5_FLETCHER) {
            *damaged = n < 4 || !fletcher_agrees(in, n - 4);
            n -= *damaged ? 0 : 4;
            continue;
        }
        const size_t wanted = size_before(d, skipped, i, size);
        unsigned char *next = malloc(wanted ? wanted : 1);
        int done = next ? undo(d, d->filter[i], in, n, next, wanted) : -1;
        free(in);
        in = next;
        n = wanted;
        if (done < 0) {
            free(in);
            return fit_fail(err, FIT_ERR_MEMORY, "no memory to expand a chunk of %zu bytes", size);
        }
        *damaged = !done;
    }
    *damaged |= n != size;
    if (*damaged)
        free(in);
    else
        *out = in;
    return FIT_OK;
}
