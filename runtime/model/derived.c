/* derived.c -- see derived.h. */
#include "model/derived.h"

size_t fit_derived_count(const struct fit_kernel *kernel, size_t ngroup)
{
    size_t n = 0;
    for (size_t k = 0; k < kernel->nderived; k++)
        n += kernel->derived[k].each ? ngroup : 1;
    return n;
}

size_t fit_derived_which(const struct fit_kernel *kernel, size_t ngroup, size_t n, long *group)
{
    size_t k = 0;
    for (; k + 1 < kernel->nderived; k++) {
        const size_t values = kernel->derived[k].each ? ngroup : 1;
        if (n < values)
            break;
        n -= values;
    }
    *group = kernel->derived[k].each ? (long)n : -1;
    return k;
}

void fit_derived_all(const struct fit_kernel *kernel, const struct fit_layout *layout, const double *theta,
                     const double *lin, double *room, double *value)
{
    const size_t ngroup = layout->ngroup, all = fit_derived_count(kernel, ngroup);
    for (size_t g = 0; all > 0 && g < ngroup; g++) {
        kernel->derive(layout, theta, lin, g, room, NULL);
        for (size_t n = 0; n < all; n++) {
            long group;
            const size_t k = fit_derived_which(kernel, ngroup, n, &group);
            if (group == (long)g || (group < 0 && g == 0))
                value[n] = room[k];
        }
    }
}
