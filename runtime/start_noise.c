/* start_noise.c -- the noise of data without any model: second differences of neighbouring values, of whose
 * variance white noise makes 6 times its own.
 *
 * Gasser, Sroka & Jennen-Steinmetz, Biometrika 73 (1986) 625.
 */
#include <math.h>
#include <stdlib.h>

#include "experiment.h"
#include "start.h"

struct second {
    const struct fit_tile *tile;
    double sum, n;
};

static void second_differences(void *user, size_t g, size_t offset, size_t lo, size_t hi)
{
    struct second *c = user;
    const double *y = c->tile->y + offset, *w = c->tile->w ? c->tile->w + offset : NULL;
    (void)g;
    for (size_t k = lo + 1; k + 1 < hi; k++) {
        double d = y[k - 1] - 2 * y[k] + y[k + 1];
        if (!w) {
            c->sum += d * d / 6;
            c->n += 1;
        } else if (w[k - 1] > 0 && w[k] > 0 && w[k + 1] > 0) {
            c->sum += d * d / (1 / w[k - 1] + 4 / w[k] + 1 / w[k + 1]);
            c->n += 1;
        }
    }
}

double fit_start_noise(const struct fit_objective *obj)
{
    const struct fit_dataset *ds = obj->ds;
    struct second c = {0};
    size_t stride = 1 + ds->npoint / 200000; /* a sample is enough */
    double *buffer = fit_alloc_doubles(fit_dataset_buffer(ds));
    struct fit_tile own;
    for (size_t t = 0; buffer && t < ds->ntile; t += stride) {
        c.tile = fit_dataset_single(ds, t, buffer, &own);
        if (c.tile)
            fit_objective_vectors(obj, c.tile, second_differences, &c);
    }
    free(buffer);
    double seen = c.n >= 10 ? c.sum / c.n : NAN;
    return obj->kernel->space == FIT_ROWS && ds->weighted ? fmin(seen, 1) : seen;
}
