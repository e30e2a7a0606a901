/* pages.c -- large vectors in pages of their own; see pages.h. */
#define _DEFAULT_SOURCE /* madvise */
#include "machine/pages.h"

#include <stdint.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
enum { PAGE_DOUBLES = 512 };

int fit_pages_new(struct fit_pages *p, size_t ndouble)
{
    const size_t bytes = ndouble * sizeof(double);
    *p = (struct fit_pages){0};
    if (ndouble > (SIZE_MAX >> 5))
        return 0;
    void *map = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return 0;
    double *data = (double *)(((uintptr_t)map + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
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
    if (p->map)
        munmap(p->map, p->map_bytes);
    *p = (struct fit_pages){0};
}
