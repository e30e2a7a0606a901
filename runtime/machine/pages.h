/* pages.h -- large vectors in their own pages; small ones share pages. */
#pragma once

#include <stddef.h>

struct fit_pages {
    void *map; /* argument of munmap, or of free where map_bytes is 0 */
    size_t map_bytes;
    double *data; /* ndouble zeros, aligned to 64 bytes, large ones for huge pages; NULL: none */
    size_t ndouble;
};

/* ndouble zeros, on huge pages if they fill some; 0: out of memory. The caller calls fit_pages_free(). */
int fit_pages_new(struct fit_pages *p, size_t ndouble);

/* Pages come into existence at their first touch, near the touching thread. Adding to zeros reads first, which costs
 * a second fault and an interrupt of all threads: touch the pages before. Part k of n. */
void fit_pages_touch(const struct fit_pages *p, size_t k, size_t n);

void fit_pages_free(struct fit_pages *p);
