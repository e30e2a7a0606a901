/* fit_goodness.c -- chi2, the variance of the residuals and their comparison with the noise: the only definition.
 *
 *     chi2               sum w r^2, w = 1 / sigma^2 where sigma is known (file, given), else 1
 *     residual_variance  chi2 / (n - parameters)
 *     reduced_chi2       residual_variance / variance of the noise: 1 where sigma is known, else that of neighbouring
 *                        values (local_noise.h); a number only where one of the two is known.
 *
 * The noise of neighbours comes from the residuals, which contain no signal for an exact model and less for any; it
 * comes from the data where residuals were not tested, or where it is clearly smaller there, because a wrong model may
 * add structure that the data do not have.
 *
 * Noise distributions whose mean determines their variance: chi2 = sum w (y - mean)^2 / variance (Pearson).
 */
#include <math.h>

#include "errors/scores.h"
#include "leastsquares/fit_impl.h"
#include "model/law.h"

/* The data's estimate is preferred when it is smaller by this fraction and this many standard errors. */
static const double CLEARLY = 0.02, SURPRISE = 4;
enum { MOST_ARGUMENTS = 8 };

enum fit_status fit_ls_local(struct fit_ls *f)
{
    struct fit_local_noise all;
    f->noise_error = 0;
    for (size_t g = 0; g < f->ng; g++)
        f->local[g] = (struct fit_local_noise){NAN, NAN, NAN, FIT_LOCAL_NONE};
    if (f->kernel->space != FIT_PAIRS || f->kernel->density)
        return fit_start_noise(f->obj, &f->noise_data, f->err);
    enum fit_status st = fit_noise_of_data(f->ds, f->local, &all, f->err);
    f->noise_data = all.guess;
    f->noise_error = isnan(all.error) ? 0 : all.error;
    return st;
}

void fit_ls_costs(struct fit_ls *f, double square, double cost)
{
    struct fit_result *r = f->res;
    r->chi2 = square / f->unit;
    r->cost = cost / f->unit;
    r->residual_variance = r->chi2 / f->dof;
    r->log_likelihood = r->noise == FIT_NOISE_LAW ? -0.5 * r->chi2 : NAN;
    for (size_t g = 0; g < f->ng; g++)
        r->against[g] = r->noise == FIT_NOISE_FILE    ? 1
                        : r->noise == FIT_NOISE_GIVEN ? f->opt->sigma[g]
                                                      : r->sigma[g];
}

/* ---- noise of neighbours --------------------------------------------------------------------------------------- */

/* From the residuals, with the weights of the fit; FIT_LOCAL_FEW where they were not tested. */
static struct fit_local_noise of_residuals(const struct fit_ls *f)
{
    struct fit_noise_sums all = {0};
    for (size_t g = 0; g < f->ng && f->res->robust.kind != FIT_ROBUST_NONE; g++)
        fit_noise_add(&all, &f->res->residual[g].neighbours, 1);
    return fit_noise_of_residuals(&all);
}

/* From the data, for the same weights. */
static struct fit_local_noise of_data(const struct fit_ls *f)
{
    struct fit_local_noise out = {0, 0, NAN, FIT_LOCAL_KNOWN};
    double n = 0, error = 0;
    for (size_t g = 0; g < f->ng; g++) {
        const double m = (double)f->ds->npoint_group[g], scale = m * fit_score_factor(f->obj, g);
        if (m > 0 && f->local[g].doubt != FIT_LOCAL_KNOWN)
            return (struct fit_local_noise){NAN, NAN, NAN, f->local[g].doubt};
        if (!(m > 0))
            continue;
        n += m;
        out.variance += scale * f->local[g].variance;
        error += pow(scale * f->local[g].variance * f->local[g].error, 2);
    }
    out.error = sqrt(error) / out.variance;
    out.variance /= n;
    return out;
}

static struct fit_local_noise of_neighbours(const struct fit_ls *f)
{
    const struct fit_local_noise r = of_residuals(f), d = of_data(f);
    if (r.doubt != FIT_LOCAL_KNOWN)
        return r.doubt == FIT_LOCAL_CORRELATED ? r : d;
    const int less = d.variance < r.variance * (1 - CLEARLY - SURPRISE * hypot(d.error, r.error)); /* not of NaN */
    return less ? d : r;
}

/* The noise of the values of each group, NaN where it is unknown. */
static void fill_local(const struct fit_ls *f)
{
    struct fit_result *r = f->res;
    for (size_t g = 0; g < f->ng; g++) {
        const struct fit_noise_sums none = {0},
                                    *s = r->robust.kind != FIT_ROBUST_NONE ? &r->residual[g].neighbours : &none;
        const struct fit_local_noise x = fit_noise_of_residuals(s);
        r->local[g] =
            x.doubt == FIT_LOCAL_FEW ? sqrt(f->local[g].variance) : sqrt(x.variance / fit_score_factor(f->obj, g));
    }
}

/* ---- laws ------------------------------------------------------------------------------------------------------ */

/* Values of one tile: mean, and arguments of the noise distribution, `length` numbers each. */
static double pearson_tile(const struct fit_ls *f, const struct fit_tile *t, const double *mean, const double *argument,
                           size_t length)
{
    const struct fit_density *d = f->kernel->density;
    const size_t first = t->i0 / FIT_LANES * FIT_LANES;
    double sum = 0;
    for (size_t i = t->i0; i < t->i1; i++) {
        double arg[MOST_ARGUMENTS] = {0}, w = t->w ? t->w[i - first] : 1, m = mean[i - first];
        for (size_t a = 0; a < d->nargument && a < MOST_ARGUMENTS; a++)
            arg[a] = argument[a * length + (i - t->i0)];
        double s = fit_law_deviation(d->law, m, arg);
        if (w > 0 && s > 0)
            sum += w * pow((t->y[i - first] - m) / s, 2);
    }
    return sum;
}

/* NaN where the noise distribution has its own width. Tables with one are small: one thread. */
static enum fit_status pearson(const struct fit_ls *f, double *chi2)
{
    FIT_SCRATCH(a);
    const struct fit_objective *o = f->obj;
    const struct fit_layout *l = &f->ds->layout;
    size_t most = 0;
    *chi2 = NAN;
    if (!fit_law_tests(f->kernel->density->law))
        return FIT_OK;
    for (size_t k = 0; k < f->ds->ntile; k++)
        most = fit_tile_doubles(l, &f->ds->tile[k]) > most ? fit_tile_doubles(l, &f->ds->tile[k]) : most;
    most += FIT_LANES;
    double *mean = fit_take(&a, most, sizeof *mean), *argument = fit_take(&a, most * MOST_ARGUMENTS, sizeof *argument);
    *chi2 = 0;
    for (size_t k = 0; !a.failed && k < f->ds->ntile; k++) {
        const struct fit_tile *t = &f->ds->tile[k];
        f->kernel->model(l, o->ws, o->lin, t, mean);
        f->kernel->density->arguments(l, o->ws, t, argument);
        *chi2 += pearson_tile(f, t, mean, argument, (t->i1 + FIT_LANES - 1) / FIT_LANES * FIT_LANES - t->i0);
    }
    const int lost = !mean || !argument;
    return lost ? fit_no_memory(f->err, "fit, chi2") : FIT_OK;
}

/* ---- reduced chi2 ---------------------------------------------------------------------------------------------- */

static enum fit_status of_law(struct fit_ls *f)
{
    struct fit_result *r = f->res;
    enum fit_status st = pearson(f, &r->chi2);
    r->residual_variance = r->reduced_chi2 = r->chi2 / f->dof;
    r->reduced_chi2_reason = isnan(r->chi2) ? "the width of the errors is a part of the model" : NULL;
    return st;
}

enum fit_status fit_ls_goodness(struct fit_ls *f)
{
    struct fit_result *r = f->res;
    const int known = r->noise != FIT_NOISE_RESIDUALS;
    r->bulk = NAN;
    r->reduced_chi2_reason = NULL;
    r->reduced_chi2_error = sqrt(2 / f->dof);
    r->local_sigma = NAN;
    fill_local(f);
    if (r->noise == FIT_NOISE_LAW)
        return of_law(f);
    const struct fit_local_noise noise = of_neighbours(f);
    const double variance = known ? 1 : noise.variance / f->unit;
    r->local_sigma = sqrt(noise.variance / f->unit);
    r->reduced_chi2 = r->residual_variance / variance;
    if (!known && isnan(variance))
        r->reduced_chi2_reason = fit_local_text(noise.doubt);
    else if (!known)
        r->reduced_chi2_error =
            sqrt(fmax(noise.error * noise.error - 2 / f->dof, 0.1 / f->dof)); /* both of the same values */
    if (!isnan(f->robust)) /* the median of |r| of normal noise is sigma / 1.4826 */
        r->bulk = pow(1.4826 * f->median, 2) / f->unit / variance;
    return FIT_OK;
}
