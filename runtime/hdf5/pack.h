/* pack.h -- chunks of an array compressed by all threads, for a dataset that HDF5 has created.
 *
 * The bytes of the file are those of HDF5's own filters shuffle and deflate, which compress one chunk after the
 * other. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* An array of n values of `item` bytes, in memory as in the file, divided into `chunks` consecutive pieces. */
struct fit_packing {
    const void *value;
    size_t item, n, chunks;
    int level; /* of deflate */
};

/* A compressed chunk: *size bytes at data, owned by the caller, NULL: no memory. *skipped: mask of unused filters
 * (bit 1, deflate, when it does not make the chunk smaller). */
struct fit_packed {
    unsigned char *data;
    size_t size;
    uint32_t skipped;
};

/* Chunks [first, first + n) into out[n]. */
void fit_pack_chunks(const struct fit_packing *p, size_t first, size_t n, struct fit_packed *out);
