/* lzf.h -- decoder of LZF, the compression that h5py applies by default (HDF5 filter 32000). */
#pragma once

#include <stddef.h>

enum fit_lzf {
    FIT_LZF_OK,
    FIT_LZF_FULL /* the output is too small */,
    FIT_LZF_BAD /* not LZF data */
};

/* Decodes n bytes of `in` into `out` (room for size bytes); *written: the number of decoded bytes. Never reads or
 * writes outside the two buffers. */
enum fit_lzf fit_lzf_decode(const unsigned char *in, size_t n, unsigned char *out, size_t size,
                            size_t *written);
