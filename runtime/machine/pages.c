/* pages.c -- large vectors in their own pages, small ones from malloc; see pages.h. */
#define _DEFAULT_SOURCE /* madvise */
#include "machine/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
enum { PAGE_DOUBLES = 512, SMALL = 65536, VECTOR = 64 }; /* bytes: below SMALL a mapping costs more than its use */

static void *multiple_of(size_t unit, void *p)
{
    return (void *)(((uintptr_t)p + unit - 1) & ~(uintptr_t)(unit - 1));
}

int fit_pages_new(struct fit_pages *p, size_t ndouble)
{
    const size_t bytes = ndouble * sizeof(double);
    *p = (struct fit_pages){0};
    if (ndouble > (SIZE_MAX >> 5))
        return 0;
    if (bytes < SMALL) {
        void *heap = calloc(1, bytes + 2 * VECTOR); /* a vector more may be read */
        *p = (struct fit_pages){heap, 0, multiple_of(VECTOR, heap), ndouble};
        return heap != NULL;
    }
    void *map = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return 0;
    double *data = multiple_of(HUGE_PAGE, map);
    *p = (struct fit_pages){map, bytes + HUGE_PAGE, data, ndouble};
#ifdef MADV_HUGEPAGE
    if (bytes >= 2 * HUGE_PAGE)
        madvise(data, bytes & ~(HUGE_PAGE - 1), MADV_HUGEPAGE);
#endif
    return 1;
}

void fit_pages_touch(const struct fit_pages *p, size_t k, size_t n)
{
    const size_t pages = (p->ndouble + PAGE_DOUBLES - 1) / PAGE_DOUBLES;
    volatile double *x = p->data;
    for (size_t page = pages * k / n; page < pages * (k + 1) / n; page++)
        x[page * PAGE_DOUBLES] = 0;
}

void fit_pages_free(struct fit_pages *p)
{
    if (!p->map_bytes)
        free(p->map);
    else
        munmap(p->map, p->map_bytes);
    *p = (struct fit_pages){0};
}
