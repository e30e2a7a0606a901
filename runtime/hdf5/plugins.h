/* plugins.h -- decoders of what HDF5 has as plugins and detectors write: LZ4 (filter 32004), bitshuffle (32008) alone
 * and with LZ4 or Zstandard inside, Zstandard (32015).
 *
 * None reads outside of `in` nor writes outside of `out`, whatever the bytes say; all of `out` is written, or the
 * answer is not FIT_PLUGIN_GOOD.
 */
#pragma once

#include <stddef.h>

enum { FIT_H5_LZ4 = 32004, FIT_H5_BITSHUFFLE = 32008, FIT_H5_ZSTD = 32015 };

enum fit_plugin { FIT_PLUGIN_GOOD, FIT_PLUGIN_DAMAGED, FIT_PLUGIN_NO_MEMORY };

/* The third and the fifth number that a dataset has for bitshuffle. */
struct fit_bitshuffle {
    size_t item; /* bytes of an element */
    size_t block; /* elements of a block, where the chunk does not say it; 0: the usual number */
    unsigned inside; /* 0: nothing, 2: LZ4, 3: Zstandard */
};

/* 1 when Zstandard was there when this was built. */
int fit_plugin_zstd_known(void);

/* One block of LZ4 (without a frame) that becomes exactly `size` bytes. */
enum fit_plugin fit_lz4_block(const unsigned char *in, size_t n, unsigned char *out, size_t size);

/* Chunks. */
enum fit_plugin fit_lz4_chunk(const unsigned char *in, size_t n, unsigned char *out, size_t size);
enum fit_plugin fit_zstd_chunk(const unsigned char *in, size_t n, unsigned char *out, size_t size);
enum fit_plugin fit_bitshuffle_chunk(const struct fit_bitshuffle *how, const unsigned char *in, size_t n,
                                     unsigned char *out, size_t size);

/* Bytes that a chunk says to become; 0: it does not say it, or is damaged. */
size_t fit_plugin_size(int filter, const struct fit_bitshuffle *how, const unsigned char *in, size_t n);
