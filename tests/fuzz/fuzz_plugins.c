/* fuzz_plugins.c -- the decoders of LZ4, bitshuffle and Zstandard (hdf5/plugins.h), in buffers of exactly the sizes
 * that they are told: what they read or write outside of them is seen by the sanitizer of addresses.
 *
 *     byte 0      filter: 0 a block of LZ4, 1 LZ4, 2 bitshuffle, 3 Zstandard
 *     byte 1, 2   bytes that it should become
 *     byte 3      bitshuffle: bytes of an element, 1 + (0 .. 15); 16, 32: what is inside; 64: a block of 64 elements
 *     then the chunk */
#include "fuzz.h"

#include "hdf5/plugins.h"

#include <stdlib.h>
#include <string.h>

enum { HEAD = 4, KINDS = 4 };

static enum fit_plugin decode(unsigned kind, const struct fit_bitshuffle *how, const unsigned char *in, size_t n,
                              unsigned char *out, size_t size)
{
    switch (kind) {
    case 0: return fit_lz4_block(in, n, out, size);
    case 1: return fit_lz4_chunk(in, n, out, size);
    case 2: return fit_bitshuffle_chunk(how, in, n, out, size);
    default: return fit_zstd_chunk(in, n, out, size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int filter[KINDS] = {FIT_H5_LZ4, FIT_H5_LZ4, FIT_H5_BITSHUFFLE, FIT_H5_ZSTD};
    if (size < HEAD)
        return 0;
    const unsigned kind = data[0] % KINDS;
    const size_t wanted = data[1] | (size_t)data[2] << 8, n = size - HEAD;
    const struct fit_bitshuffle how = {.item = 1u + (data[3] & 15),
                                       .inside = data[3] & 16 ? 2 : data[3] & 32 ? 3 : 0,
                                       .block = data[3] & 64 ? 64 : 0};
    unsigned char *in = malloc(n ? n : 1), *out = malloc(wanted ? wanted : 1);
    FUZZ_ASSERT(in && out);
    memcpy(in, data + HEAD, n);
    fit_plugin_size(filter[kind], &how, in, n);
    const enum fit_plugin first = decode(kind, &how, in, n, out, wanted);
    if (first == FIT_PLUGIN_GOOD && wanted) { /* all of it was written: another beginning ends in the same */
        unsigned char *again = malloc(wanted);
        FUZZ_ASSERT(again);
        memset(again, 0x5a, wanted);
        FUZZ_ASSERT(decode(kind, &how, in, n, again, wanted) == FIT_PLUGIN_GOOD && memcmp(again, out, wanted) == 0);
        free(again);
    }
    free(in);
    free(out);
    return 0;
}
