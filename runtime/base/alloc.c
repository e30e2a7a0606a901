/* alloc.c -- storage for vectors of numbers; see alloc.h. */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

double *fit_alloc_doubles(size_t n)
{
    enum { VECTOR = 64 }; /* bytes */
    if (n > (SIZE_MAX - 2 * VECTOR) / sizeof(double))
        return NULL;
    const size_t bytes = (n * sizeof(double) + 2 * VECTOR - 1) / VECTOR * VECTOR;
    double *p = aligned_alloc(VECTOR, bytes);
    if (p)
        memset(p, 0, bytes);
    return p;
}
