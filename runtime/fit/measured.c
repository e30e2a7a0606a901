/* measured.c -- data before any fit; see measured.h.
 *
 * The maps are made by maps.c, with a model that is 1 below every value: its residuals are 1 / sigma, which is all
 * that is needed besides the data. */
#include "fit/measured.h"

#include "leastsquares/local_noise.h"
#include "leastsquares/start.h"

#include <math.h>

static size_t no_workspace(const struct fit_layout *l)
{
    (void)l;
    return FIT_LANES;
}

static enum fit_eval no_tables(const struct fit_layout *l, const double *theta, int derivative,
                               double *ws)
{
    (void)l;
    (void)theta;
    (void)derivative;
    (void)ws;
    return FIT_EVAL_OK;
}

static void one_below(const struct fit_layout *l, const double *ws, const double *lin,
                      const struct fit_tile *t, double *out)
{
    const size_t n = fit_tile_doubles(l, t);
    (void)ws;
    (void)lin;
    for (size_t k = 0; k < n; k++)
        out[k] = t->y[k] - 1;
}

static void finish(const struct fit_kernel *kernel, const struct fit_dataset *ds,
                   struct fit_measured *m)
{
    const size_t nrow = kernel->space == FIT_ROWS ? m->maps->n : 0;
    for (size_t g = 0; g < ds->layout.ngroup; g++)
        if (!(m->sigma[g] > 0))
            m->sigma[g] = NAN;
    for (size_t k = 0; k < nrow; k++)
        m->maps->residual[k] = m->maps->residual[k] > 0 ? 1 / m->maps->residual[k] : NAN;
}

/* Variances of the groups; NaN where unknown. */
static enum fit_status of_pairs(const struct fit_dataset *ds, double *variance, struct fit_error *err)
{
    FIT_SCRATCH(a);
    struct fit_local_noise *each = fit_take(&a, ds->layout.ngroup, sizeof *each);
    enum fit_status st = each ? fit_noise_of_data(ds, each, NULL, err) : fit_no_memory(err, NULL);
    for (size_t g = 0; st == FIT_OK && g < ds->layout.ngroup; g++)
        variance[g] = each[g].variance;
    return st;
}

enum fit_status fit_measured_new(const struct fit_kernel *kernel, const struct fit_dataset *ds,
                                 int threads, struct fit_measured *m, struct fit_error *err)
{
    const size_t ngroup = ds->layout.ngroup;
    const struct fit_kernel none = {.space = kernel->space,
                                    .intercept = -1,
                                    .workspace = no_workspace,
                                    .prepare = no_tables,
                                    .model = one_below};
    const struct fit_objective all = {
        .kernel = kernel, .ds = ds, .ngroup = ngroup, .npoint = ds->npoint};
    double *against, nothing = 0;
    *m = (struct fit_measured){0};
    FIT_TAKE_DOUBLES(&m->storage_, ngroup, &m->sigma, &against);
    enum fit_status st = m->storage_.failed ? fit_no_memory(err, NULL) : FIT_OK;
    if (st == FIT_OK)
        st = kernel->space == FIT_PAIRS ? of_pairs(ds, m->sigma, err) : fit_start_noises(&all, m->sigma, err);
    if (st == FIT_OK) {
        for (size_t g = 0; g < ngroup; g++) { /* weights are errors already */
            m->sigma[g] = sqrt(m->sigma[g]);
            against[g] = ds->weighted ? 1 : m->sigma[g];
        }
        const struct fit_result data = {.theta = &nothing, .lin = &nothing, .against = against};
        st = fit_maps_new(&none, ds, &data, threads, &m->maps, err);
    }
    if (st == FIT_OK)
        finish(kernel, ds, m);
    else
        fit_measured_free(m);
    return st;
}

void fit_measured_free(struct fit_measured *m)
{
    fit_maps_free(m->maps);
    fit_arena_free(&m->storage_);
    *m = (struct fit_measured){0};
}
