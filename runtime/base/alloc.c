/* alloc.c -- storage for vectors of numbers; see alloc.h. */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

double *fit_alloc_doubles(size_t n)
{
    void *p = NULL;
    if (n > SIZE_MAX / sizeof(double) - 8)
        return NULL;
    if (posix_memalign(&p, 64, (n ? n : 1) * sizeof(double)) != 0)
        return NULL;
    memset(p, 0, n * sizeof(double));
    return p;
}
