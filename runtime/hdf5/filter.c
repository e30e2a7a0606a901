/* filter.c -- reverses the filters of a chunk of an HDF5 dataset. See object.h; IV.A.2.l.
 *
 * Shuffle stores the k-th bytes of all elements together. Fletcher's checksum (Fletcher 1982, 32 bits) over pairs of
 * bytes, the higher first, follows the chunk; old versions wrote it with the bytes of the pairs exchanged.
 */
#include "hdf5/object.h"

#include "hdf5/lzf.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Most bytes from compressed ones: 1 byte of deflate gives at most 1032 (zlib's algorithm.txt), 3 bytes of LZF 264,
 * one of LZ4 255, 4 of Zstandard 128 kB (RFC 8878, 3.1.1.2.3); and a few bytes */
enum { DEFLATE_RATIO = 1032, LZF_RATIO = 88, LZ4_RATIO = 255, ZSTD_RATIO = 32768, SLACK = 64 };
enum { ITEM = 2, BLOCK, INSIDE, LZ4_INSIDE = 2 }; /* parameters of bitshuffle: size of an element, ... */

struct fit_bitshuffle fit_h5_bitshuffle(const uint32_t *parameter)
{
    return (struct fit_bitshuffle){.item = parameter[ITEM], .block = parameter[BLOCK], .inside = parameter[INSIDE]};
}

static uint64_t ratio_of(const struct fit_h5_dataset *d, int k)
{
    const uint32_t inside = d->parameter[k][INSIDE];
    switch (d->filter[k]) {
    case FIT_H5_DEFLATE: return DEFLATE_RATIO;
    case FIT_H5_LZF: return LZF_RATIO;
    case FIT_H5_LZ4: return LZ4_RATIO;
    case FIT_H5_ZSTD: return ZSTD_RATIO;
    case FIT_H5_BITSHUFFLE: return !inside ? 1 : inside == LZ4_INSIDE ? LZ4_RATIO : ZSTD_RATIO;
    default: return 1;
    }
}

int fit_h5_knows_zstd(void)
{
    return fit_plugin_zstd_known();
}

int fit_h5_compresses(const struct fit_h5_dataset *d, int k)
{
    return ratio_of(d, k) > 1;
}

int fit_h5_can_become(const struct fit_h5_dataset *d, unsigned skipped, uint64_t n, uint64_t size)
{
    uint64_t ratio = 1;
    for (int i = 0; i < d->nfilter; i++)
        if (!(skipped >> i & 1))
            ratio *= ratio_of(d, i);
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

/* One of the filters that libhdf5 has as plugins. */
static enum fit_plugin undo_plugin(const struct fit_h5_dataset *d, int k, const unsigned char *in, size_t n,
                                   unsigned char *out, size_t size)
{
    const struct fit_bitshuffle how = fit_h5_bitshuffle(d->parameter[k]);
    return d->filter[k] == FIT_H5_LZ4    ? fit_lz4_chunk(in, n, out, size)
           : d->filter[k] == FIT_H5_ZSTD ? fit_zstd_chunk(in, n, out, size)
                                         : fit_bitshuffle_chunk(&how, in, n, out, size);
}

/* Filter k; n and size as the filter sees them. 1; 0: damaged; -1: no memory. */
static int undo(const struct fit_h5_dataset *d, int k, const unsigned char *in, size_t n, unsigned char *out,
                size_t size)
{
    const int filter = d->filter[k];
    size_t written = 0;
    int memory = 0;
    if (filter == FIT_H5_LZ4 || filter == FIT_H5_ZSTD || filter == FIT_H5_BITSHUFFLE) {
        const enum fit_plugin good = undo_plugin(d, k, in, n, out, size);
        return good == FIT_PLUGIN_GOOD ? 1 : good == FIT_PLUGIN_NO_MEMORY ? -1 : 0;
    }
    if (filter == FIT_H5_DEFLATE)
        return inflate_all(in, n, out, size, &memory) ? 1 : memory ? -1 : 0;
    if (filter == FIT_H5_LZF)
        return fit_lzf_decode(in, n, out, size, &written) == FIT_LZF_OK && written == size;
    if (n != size)
        return 0;
    unshuffle(in, n, d->type.size, out);
    return 1;
}

/* Bytes that enter filter i on writing: a checksum lengthens the input of the next filter. */
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
        int done = next ? undo(d, i, in, n, next, wanted) : -1;
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
