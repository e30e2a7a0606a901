/* plugins.c -- LZ4, bitshuffle and Zstandard; see plugins.h.
 *
 * LZ4 (Collet, LZ4 Block Format Description): sequences of a byte with two lengths of 4 bits, more bytes of the first
 * length while they are 255, literals, the distance (2 bytes, the lower first), more bytes of the second length, to
 * which 4 are added; the last sequence ends behind its literals.
 *
 * The filter of LZ4 (HDF Group, registered filter 32004): bytes of the whole (8) and of a block (4), the higher first;
 * then, for each block, its bytes (4) and the block, which is stored as it is where it did not become shorter.
 *
 * Bitshuffle (Masui et al., Astronomy and Computing, 2015, 12, 181): the elements of a block as a matrix of bits,
 * transposed: first the lowest bits of the first bytes of all elements, eight elements in a byte, the first of them
 * lowest.  Blocks have a multiple of 8 elements; up to 7 elements at the end of a chunk are left as they are.  With a
 * compression inside the chunk begins as that of LZ4, and each block is compressed by itself.
 */
#include "hdf5/plugins.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef FIT_HAVE_ZSTD
#include <zstd.h>
#endif

enum { HEAD = 12, LENGTH = 4, EIGHT = 8, USUAL_BYTES = 8192, LEAST_BLOCK = 128, LZ4_LEAST = 4, LZ4_INSIDE = 2 };

static uint64_t big_endian(const unsigned char *p, size_t n)
{
    uint64_t v = 0;
    for (size_t k = 0; k < n; k++)
        v = v << 8 | p[k];
    return v;
}

/* ---- LZ4 ------------------------------------------------------------------------------------- */

/* A length of 4 bits and its extension; 0: the bytes end too early. */
static int take_length(const unsigned char *in, size_t n, size_t *i, size_t *length)
{
    enum { MORE = 15, MOST = 255 };
    if (*length < MORE)
        return 1;
    for (;;) {
        if (*i >= n)
            return 0;
        const size_t add = in[(*i)++];
        *length += add;
        if (add < MOST)
            return 1;
    }
}

/* Copies bytes that may overlap their destination. */
static void repeat(unsigned char *to, size_t distance, size_t n)
{
    if (distance >= n)
        memcpy(to, to - distance, n);
    else
        for (size_t k = 0; k < n; k++)
            to[k] = to[(ptrdiff_t)k - (ptrdiff_t)distance];
}

enum fit_plugin fit_lz4_block(const unsigned char *in, size_t n, unsigned char *out, size_t size)
{
    size_t i = 0, o = 0;
    while (i < n) {
        const unsigned token = in[i++];
        size_t literals = token >> 4, length = token & 15;
        if (!take_length(in, n, &i, &literals) || literals > n - i || literals > size - o)
            return FIT_PLUGIN_DAMAGED;
        memcpy(out + o, in + i, literals);
        i += literals;
        o += literals;
        if (i == n)
            break;
        if (n - i < 2)
            return FIT_PLUGIN_DAMAGED;
        const size_t distance = in[i] | (size_t)in[i + 1] << 8;
        i += 2;
        if (!take_length(in, n, &i, &length))
            return FIT_PLUGIN_DAMAGED;
        length += LZ4_LEAST;
        if (!distance || distance > o || length > size - o)
            return FIT_PLUGIN_DAMAGED;
        repeat(out + o, distance, length);
        o += length;
    }
    return o == size ? FIT_PLUGIN_GOOD : FIT_PLUGIN_DAMAGED;
}

/* ---- Zstandard ------------------------------------------------------------------------------- */

int fit_plugin_zstd_known(void)
{
#ifdef FIT_HAVE_ZSTD
    return 1;
#else
    return 0;
#endif
}

enum fit_plugin fit_zstd_chunk(const unsigned char *in, size_t n, unsigned char *out, size_t size)
{
#ifdef FIT_HAVE_ZSTD
    return ZSTD_decompress(out, size, in, n) == size ? FIT_PLUGIN_GOOD : FIT_PLUGIN_DAMAGED;
#else
    (void)in, (void)n, (void)out, (void)size;
    return FIT_PLUGIN_DAMAGED;
#endif
}

/* ---- chunks of blocks ------------------------------------------------------------------------ */

/* One block, n bytes of which expand to `size`; with scratch of as many bytes where needed. */
typedef enum fit_plugin on_block(const struct fit_bitshuffle *how, const unsigned char *in, size_t n,
                                 unsigned char *out, size_t size, unsigned char *scratch);

/* The blocks after a head, of `block` bytes each except the last, `size` bytes in all; *used: their compressed
 * bytes. */
static enum fit_plugin each_block(const struct fit_bitshuffle *how, on_block *undo, size_t block,
                                  const unsigned char *in, size_t n, unsigned char *out, size_t size, size_t *used)
{
    unsigned char *scratch = how ? malloc(block ? block : 1) : NULL;
    enum fit_plugin good = how && !scratch ? FIT_PLUGIN_NO_MEMORY : FIT_PLUGIN_GOOD;
    size_t i = HEAD;
    for (size_t o = 0; o < size && good == FIT_PLUGIN_GOOD; o += block) {
        const size_t here = size - o < block ? size - o : block;
        const size_t packed = n - i >= LENGTH ? (size_t)big_endian(in + i, LENGTH) : n;
        if (n - i < LENGTH || packed > n - i - LENGTH)
            good = FIT_PLUGIN_DAMAGED;
        else
            good = undo(how, in + i + LENGTH, packed, out + o, here, scratch);
        i += good == FIT_PLUGIN_GOOD ? LENGTH + packed : 0;
    }
    free(scratch);
    *used = i;
    return good;
}

static enum fit_plugin lz4_or_plain(const struct fit_bitshuffle *how, const unsigned char *in, size_t n,
                                    unsigned char *out, size_t size, unsigned char *scratch)
{
    (void)how, (void)scratch;
    if (n != size)
        return fit_lz4_block(in, n, out, size);
    memcpy(out, in, n);
    return FIT_PLUGIN_GOOD;
}

enum fit_plugin fit_lz4_chunk(const unsigned char *in, size_t n, unsigned char *out, size_t size)
{
    size_t used;
    if (n < HEAD || big_endian(in, EIGHT) != size)
        return FIT_PLUGIN_DAMAGED;
    const size_t block = (size_t)big_endian(in + EIGHT, LENGTH);
    return size && !block ? FIT_PLUGIN_DAMAGED : each_block(NULL, lz4_or_plain, block, in, n, out, size, &used);
}

/* ---- bitshuffle ------------------------------------------------------------------------------ */

/* The 8 x 8 bits of a word transposed: bit 8 i + k becomes bit 8 k + i (Warren, Hacker's Delight, 2013, 7-3). */
static uint64_t transpose(uint64_t x)
{
    uint64_t t = (x ^ x >> 7) & UINT64_C(0x00aa00aa00aa00aa);
    x = x ^ t ^ t << 7;
    t = (x ^ x >> 14) & UINT64_C(0x0000cccc0000cccc);
    x = x ^ t ^ t << 14;
    t = (x ^ x >> 28) & UINT64_C(0x00000000f0f0f0f0);
    return x ^ t ^ t << 28;
}

/* Restores a bitshuffled block of `count` elements, a multiple of 8. */
static void unshuffle(const unsigned char *in, size_t count, size_t item, unsigned char *out)
{
    const size_t row = count / EIGHT;
    for (size_t b = 0; b < item; b++)
        for (size_t k = 0; k < row; k++) {
            uint64_t word = 0;
            for (size_t bit = 0; bit < EIGHT; bit++)
                word |= (uint64_t)in[(b * EIGHT + bit) * row + k] << EIGHT * bit;
            word = transpose(word);
            for (size_t e = 0; e < EIGHT; e++)
                out[(k * EIGHT + e) * item + b] = (unsigned char)(word >> EIGHT * e);
        }
}

static enum fit_plugin expand_and_unshuffle(const struct fit_bitshuffle *how, const unsigned char *in, size_t n,
                                            unsigned char *out, size_t size, unsigned char *scratch)
{
    const enum fit_plugin good = how->inside == LZ4_INSIDE ? fit_lz4_block(in, n, scratch, size)
                                                            : fit_zstd_chunk(in, n, scratch, size);
    if (good == FIT_PLUGIN_GOOD)
        unshuffle(scratch, size / how->item, how->item, out);
    return good;
}

/* Bytes of a block where the chunk does not say it. */
static size_t usual_block(const struct fit_bitshuffle *how)
{
    size_t count = how->block ? how->block : USUAL_BYTES / how->item / EIGHT * EIGHT;
    if (!how->block && count < LEAST_BLOCK)
        count = LEAST_BLOCK;
    return count / EIGHT * EIGHT * how->item;
}

/* Consecutive bitshuffled blocks without compression. */
static enum fit_plugin plain_blocks(const struct fit_bitshuffle *how, const unsigned char *in, size_t n,
                                    unsigned char *out, size_t whole)
{
    const size_t block = usual_block(how);
    if (!block || n < whole)
        return FIT_PLUGIN_DAMAGED;
    for (size_t o = 0; o < whole; o += block) {
        const size_t here = whole - o < block ? whole - o : block;
        unshuffle(in + o, here / how->item, how->item, out + o);
    }
    return FIT_PLUGIN_GOOD;
}

enum fit_plugin fit_bitshuffle_chunk(const struct fit_bitshuffle *how, const unsigned char *in, size_t n,
                                     unsigned char *out, size_t size)
{
    const size_t eight = how->item * EIGHT;
    if (!how->item || how->item > SIZE_MAX / USUAL_BYTES || size % how->item)
        return FIT_PLUGIN_DAMAGED;
    const size_t whole = size / eight * eight, rest = size - whole;
    size_t used = whole;
    enum fit_plugin good;
    if (!how->inside) {
        good = plain_blocks(how, in, n, out, whole);
    } else {
        const size_t block = n < HEAD ? 0 : (size_t)big_endian(in + EIGHT, LENGTH);
        if (!block || block % eight || big_endian(in, EIGHT) != size)
            return FIT_PLUGIN_DAMAGED;
        good = each_block(how, expand_and_unshuffle, block < whole ? block : whole, in, n, out, whole, &used);
    }
    if (good != FIT_PLUGIN_GOOD)
        return good;
    if (n - used != rest)
        return FIT_PLUGIN_DAMAGED;
    memcpy(out + whole, in + used, rest);
    return FIT_PLUGIN_GOOD;
}

/* ---- sizes ----------------------------------------------------------------------------------- */

size_t fit_plugin_size(int filter, const struct fit_bitshuffle *how, const unsigned char *in, size_t n)
{
    if (filter == FIT_H5_BITSHUFFLE && !how->inside)
        return n;
#ifdef FIT_HAVE_ZSTD
    if (filter == FIT_H5_ZSTD) {
        const unsigned long long size = ZSTD_getFrameContentSize(in, n);
        return size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > SIZE_MAX ? 0 : (size_t)size;
    }
#endif
    const uint64_t size = filter == FIT_H5_ZSTD || n < HEAD ? 0 : big_endian(in, EIGHT);
    return size > SIZE_MAX ? 0 : (size_t)size;
}
