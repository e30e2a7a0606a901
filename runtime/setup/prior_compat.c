/* prior_compat.c -- the priors of homodyne's sampler; see prior_compat.h. */
#include "setup/prior_compat.h"
#include "math/special.h"

#include <math.h>
#include <stdlib.h>

static const double TO_DEVIATION = 1.4826;  /* of a normal distribution, from its median absolute deviation */
static const double LEAST_SCALE = 1e-3, WIDTH = 1.5;

static enum fit_status set_prior(const struct fit_config_param *c, struct fit_posterior_param *x, struct fit_error *err)
{
    double half = 0.5 * (x->upper - x->lower), sd = 0.5 * half;
    if (!isfinite(half))
        return fit_fail(err, FIT_ERR_CONFIG,
                        "prior_compat: %s has the bounds %g and %g; homodyne's prior needs finite ones",
                        c->declared->name, x->lower, x->upper);
    x->a = x->lower + half;
    int named = c->prior.value == FIT_PRIOR_NORMAL || c->prior.value == FIT_PRIOR_TRUNCATED_NORMAL;
    if (named && fit_given(c->prior.from)) {
        x->a = c->prior_a;
        sd = c->prior_b;
    }
    x->b = fmax(sd, 0.2 * half);
    x->prior = FIT_PRIOR_TANH_NORMAL;
    return FIT_OK;
}

/* ---- noise ---------------------------------------------------------------------------------------------- */

/* All values of used pairs -> y[ds->npoint]; returns their number. */
static size_t collect(const struct fit_dataset *ds, double *y)
{
    const struct fit_layout *l = &ds->layout;
    size_t n = 0;
    for (size_t k = 0; k < ds->ntile; k++) {
        const struct fit_tile *t = &ds->tile[k];
        for (size_t i = t->i0; i < t->i1; i++)
            for (size_t j = t->j0 > i + 1 ? t->j0 : i + 1; j < t->j1; j++)
                for (size_t g = 0; g < l->ngroup && n < ds->npoint; g++) {
                    size_t at = fit_tile_offset(l, t, i, j, g);
                    if (!t->w || t->w[at] > 0)
                        y[n++] = t->y[at] + ds->reference[g];
                }
    }
    return n;
}

/* Sorts y. */
static double median(double *y, size_t n)
{
    qsort(y, n, sizeof *y, fit_ascending);
    return n % 2 ? y[n / 2] : 0.5 * (y[n / 2 - 1] + y[n / 2]);
}

static enum fit_status spread(const struct fit_dataset *ds, double *scale, struct fit_error *err)
{
    FIT_OWNED double *y = malloc((ds->npoint + 1) * sizeof *y);
    if (!y)
        return fit_no_memory(err, "prior_compat");
    size_t n = collect(ds, y);
    double middle = n ? median(y, n) : 0;
    for (size_t k = 0; k < n; k++)
        y[k] = fabs(y[k] - middle);
    *scale = fmax(n ? TO_DEVIATION * median(y, n) : 0, LEAST_SCALE);
    return FIT_OK;
}

enum fit_status fit_prior_compat_homodyne(const struct fit_config *cfg, struct fit_posterior_param *param,
                                          struct fit_posterior_setup *s, struct fit_error *err)
{
    double scale = 0;
    if (s->kernel->space != FIT_PAIRS || s->ds->weighted)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "prior_compat: homodyne's sampler is for two-time data and one noise level; %s",
                        s->ds->weighted ? "these data bring errors of their own" : "these data are a table");
    enum fit_status st = spread(s->ds, &scale, err);
    for (size_t k = 0; st == FIT_OK && k < cfg->nparam + cfg->nlinear; k++)
        st = param[k].fixed ? FIT_OK : set_prior(&cfg->param[k], &param[k], err);
    s->variance = FIT_VARIANCE_GIVEN_SHARED;
    s->noise = (struct fit_posterior_param){
        .upper = INFINITY, .prior = FIT_PRIOR_HALF_NORMAL, .b = WIDTH * scale};
    return st;
}
