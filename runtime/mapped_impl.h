/* mapped_impl.h -- what mapped.c and mapped_large.c share. */
#ifndef FIT_MAPPED_IMPL_H
#define FIT_MAPPED_IMPL_H

#include "mapped.h"

#include <stdatomic.h>

struct fit_mapped {
    int fd;
    uint64_t from;      /* byte of the file that stands at map */
    unsigned char *map; /* page of the first byte */
    size_t bytes;       /* from there on, whole pages */
    size_t shift;       /* of the first byte in its page */
    int large;          /* large pages were asked for */
    atomic_int lost;
    atomic_int content; /* nothing is to be read again for the sake of large pages */
    atomic_size_t again, spent, missed; /* bytes that were, microseconds of it, bytes that were not large then */
};

size_t fit_mapped_page(void);

/* Byte `at` of the mapping is wanted: it is mapped, after it was read when it has to be. */
static inline void fit_mapped_touch(const struct fit_mapped *m, size_t at)
{
    (void)*(const volatile unsigned char *)(m->map + at);
}

#endif
