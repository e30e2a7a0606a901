/* raw_impl.h -- what raw.c (opening) and box.c (reading) share. */
#pragma once

#include "hdf5/library.h"
#include "hdf5/handle.h"

#include <pthread.h>

enum { RANK = FIT_H5_RANK };

struct file {
    struct file *next;
    struct fit_h5_bytes *bytes;
};

struct chunk {
    uint64_t address, bytes; /* bytes 0: never written */
    unsigned skipped;        /* filters that were skipped for this chunk */
    int busy;                /* being expanded */
    int shuffled;            /* data: the first bytes of all elements, then the second ones, ... */
    size_t readers;          /* copy from it now */
    unsigned char *data;     /* expanded, or NULL */
    struct chunk *before, *after;
    size_t size; /* of data */
};

struct fit_h5_raw {
    struct fit_h5_raw *next;
    struct fit_h5_raw_set *set;
    struct fit_h5_bytes *file;               /* the values are in it */
    const struct fit_h5_bytes *asked;        /* was asked for the path */
    struct fit_h5_library *library;          /* reads the values, or NULL */
    char *path;
    struct fit_h5_dataset d;
    size_t item, chunk_size;
    int rank; /* a scalar has one axis of one element */
    size_t dims[RANK], part[RANK], grid[RANK], nchunk;
    uint64_t address; /* contiguous */
    struct chunk *chunk;
    uint64_t stored; /* bytes of all chunks */
    unsigned char *fill;
};

struct fit_h5_raw_set {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct file *file;
    struct fit_h5_raw *raw;
    struct chunk list; /* head of the ring of expanded chunks */
    size_t held, budget;
};

/* As fit_h5_raw_open, but for values of any type and number of axes; a scalar has one of 1 element. */
enum fit_status fit_h5_raw_any(struct fit_h5_raw_set *set, const struct fit_h5 *h, const char *path,
                               struct fit_h5_raw **raw, struct fit_error *err);
