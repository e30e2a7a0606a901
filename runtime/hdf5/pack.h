/* pack.h -- chunks of an array packed by all threads, for a dataset that HDF5 has created.
 *
 * The bytes of the file are those of HDF5's own filters shuffle and deflate, which pack one chunk after the other. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* An array of n values of `item` bytes, in memory as in the file, cut into `chunks` pieces that follow one another. */
struct fit_packing {
    const void *value;
    size_t item, n, chunks;
    int level; /* of deflate */
};

/* A packed chunk: *size bytes at data, the caller's to free, NULL: no memory.  *skipped: mask of the filters that were
 * not used (bit 1, deflate, when it does not make the chunk smaller). */
struct fit_packed {
    unsigned char *data;
    size_t size;
    uint32_t skipped;
};

/* Chunks [first, first + n) into out[n]. */
void fit_pack_chunks(const struct fit_packing *p, size_t first, size_t n, struct fit_packed *out);
