/* second_differences.c -- the noise of data without a model: second differences of neighbouring values, whose variance
 * is 6 times that of white noise.
 *
 * Gasser, Sroka & Jennen-Steinmetz, Biometrika 73 (1986) 625.
 */
#include <math.h>

#include "leastsquares/start.h"

struct second {
    const struct fit_tile *tile;
    int each; /* group by group: `of` has so many elements, else one */
    struct {
        double sum, n;
    } * of;
};

static void second_differences(void *user, size_t g, size_t offset, size_t lo, size_t hi)
{
    struct second *c = user;
    const double *y = c->tile->y + offset, *w = c->tile->w ? c->tile->w + offset : NULL;
    double *sum = &c->of[c->each ? g : 0].sum, *n = &c->of[c->each ? g : 0].n;
    for (size_t k = lo + 1; k + 1 < hi; k++) {
        double d = y[k - 1] - 2 * y[k] + y[k + 1];
        if (!w) {
            *sum += d * d / 6;
            *n += 1;
        } else if (w[k - 1] > 0 && w[k] > 0 && w[k + 1] > 0) {
            *sum += d * d / (1 / w[k - 1] + 4 / w[k] + 1 / w[k + 1]);
            *n += 1;
        }
    }
}

/* Variances of all groups together (each = 0) or of each. */
static enum fit_status estimate(const struct fit_objective *obj, int each, double *variance, struct fit_error *err)
{
    const struct fit_dataset *ds = obj->ds;
    const size_t n = each ? obj->ngroup : 1;
    struct second c = {.each = each};
    size_t stride = 1 + ds->npoint / 200000; /* a sample is enough */
    /* With a noise distribution the errors differ in size. */
    const size_t ntile = obj->kernel->density ? 0 : ds->ntile;
    FIT_SCRATCH(a);
    double *buffer = fit_take(&a, fit_dataset_buffer(ds), sizeof *buffer);
    struct fit_tile own;
    c.of = fit_take(&a, n, sizeof *c.of);
    if (a.failed)
        return fit_no_memory(err, "the noise of the data");
    for (size_t t = 0; t < ntile; t += stride) {
        c.tile = fit_dataset_single(ds, t, buffer, &own);
        if (c.tile)
            fit_objective_vectors(obj, c.tile, second_differences, &c);
    }
    for (size_t g = 0; g < n; g++)
        variance[g] = c.of[g].n >= 10 ? c.of[g].sum / c.of[g].n : NAN;
    return FIT_OK;
}

enum fit_status fit_start_noise(const struct fit_objective *obj, double *variance, struct fit_error *err)
{
    enum fit_status st = estimate(obj, 0, variance, err);
    if (st == FIT_OK && obj->kernel->space == FIT_ROWS && obj->ds->weighted)
        *variance = fmin(*variance, 1);
    return st;
}

enum fit_status fit_start_noises(const struct fit_objective *obj, double *variance, struct fit_error *err)
{
    return estimate(obj, 1, variance, err);
}
