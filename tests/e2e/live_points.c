/* live_points.c -- values of a kernel of this machine at points that a page has shown: live_points MODEL < NUMBERS
 *
 * Numbers: dt q gap, frames, groups, their azimuths, the parameters, groups x the linear ones, points, then for each of
 * them group i j.  Output: a value a line, in full. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>

static double next(void)
{
    double x = 0;
    if (scanf("%lf", &x) != 1) {
        fprintf(stderr, "live_points: a number is missing\n");
        exit(3);
    }
    return x;
}

static double *several(size_t n)
{
    double *x = e2e_doubles(n + 1);
    for (size_t k = 0; k < n; k++)
        x[k] = next();
    return x;
}

int main(int argc, char **argv)
{
    const struct fit_kernel *k = argc == 2 ? e2e_kernel(argv[1], "fast", NULL) : NULL;
    if (!k)
        return 3;
    struct e2e_grid grid = {.dt = next(), .q = next(), .gap = next()};
    grid.ntime = (size_t)next();
    grid.nphi = (size_t)next();
    double *phi = several(grid.nphi), *theta = several(k->nparam), *lin = several(grid.nphi * k->nlinear);
    grid.phi = phi;
    struct fit_dataset *ds = e2e_dataset(k, &grid);
    struct e2e_prepared p = e2e_prepare(k, &ds->layout, theta);
    for (size_t n = (size_t)next(); n > 0; n--) {
        const uint32_t g = (uint32_t)next(), i = (uint32_t)next(), j = (uint32_t)next();
        double value = 0;
        k->points(p.layout, p.ws, lin, &(struct fit_points){.n = 1, .i = &i, .j = &j, .g = &g}, &value, NULL);
        printf("%.17g\n", value);
    }
    e2e_release(&p);
    fit_dataset_free(ds);
    free(phi);
    free(theta);
    free(lin);
    return 0;
}
