/* plugins.h -- decoders for filters that are plugins of HDF5 and that detectors write: LZ4 (filter 32004), bitshuffle
 * (32008) alone and with LZ4 or Zstandard inside, Zstandard (32015).
 *
 * None reads outside `in` nor writes outside `out`, whatever the bytes; all of `out` is written, or the result is not
 * FIT_PLUGIN_GOOD.
 */
#pragma once

#include <stddef.h>

enum { FIT_H5_LZ4 = 32004, FIT_H5_BITSHUFFLE = 32008, FIT_H5_ZSTD = 32015 };

enum fit_plugin { FIT_PLUGIN_GOOD, FIT_PLUGIN_DAMAGED, FIT_PLUGIN_NO_MEMORY };

/* The third and the fifth parameter of bitshuffle in a dataset. */
struct fit_bitshuffle {
    size_t item; /* bytes of an element */
    size_t block; /* elements of a block, if the chunk does not say it; 0: the usual number */
    unsigned inside; /* 0: nothing, 2: LZ4, 3: Zstandard */
};

/* 1 when this build has Zstandard. */
int fit_plugin_zstd_known(void);

/* One block of LZ4 (without a frame) that expands to exactly `size` bytes. */
enum fit_plugin fit_lz4_block(const unsigned char *in, size_t n, unsigned char *out, size_t size);

/* Chunks. */
enum fit_plugin fit_lz4_chunk(const unsigned char *in, size_t n, unsigned char *out, size_t size);
enum fit_plugin fit_zstd_chunk(const unsigned char *in, size_t n, unsigned char *out, size_t size);
enum fit_plugin fit_bitshuffle_chunk(const struct fit_bitshuffle *how, const unsigned char *in, size_t n,
                                     unsigned char *out, size_t size);

/* The expanded size that a chunk states; 0: it states none, or is damaged. */
size_t fit_plugin_size(int filter, const struct fit_bitshuffle *how, const unsigned char *in, size_t n);
