/* laplace.c -- the normal approximation of spread.h. */
#include "imaging/spread.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/linalg.h"

enum { MOST = 10000 }; /* unknowns: two matrices of 0.8 GB */

/* --- the scale ------------------------------------------------------------------------------------------ */

/* -log L of a data term is its chi2 times this. */
static double likelihood(const struct fit_product *p)
{
    return p->imag ? (double)p->n : (double)p->n / 2;
}

/* s, and a note if the weights are not in the ratio of likelihoods. */
static double scale_of(struct fit_imaging *q)
{
    const struct fit_imaging_options *o = q->options;
    double sum = 0, weights = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t t = 0; t < o->nterm; t++) {
            const int kind = fit_product_kind(o->term[t].name);
            for (size_t c = 0; kind >= 0 && c < q->nchannel; c++) {
                const struct fit_product *p = q->product[c][kind];
                if (!p || !(o->term[t].value > 0))
                    continue;
                const double counted = pass ? sum / weights * o->term[t].value / likelihood(p) : 1;
                if (pass && fabs(counted - 1) > 0.01)
                    fit_notes_add(&q->notes, "uncertainties: %s counts %.3g times its likelihood; a weight of %g "
                                             "would make it 1",
                                  o->term[t].name, counted, likelihood(p) * weights / sum);
                sum += pass ? 0 : likelihood(p);
                weights += pass ? 0 : o->term[t].value;
            }
        }
    return weights > 0 ? sum / weights : 1;
}

/* --- the matrix ----------------------------------------------------------------------------------------- */

/* dx/d(variable of the density): 1/I for pixels solved for as ln I, else 1. */
static void factors(const struct fit_imaging_run *r, double *factor)
{
    const size_t at = fit_bound_place(r->q->bound, fit_imaging_free_name[FIT_FREE_X]);
    for (size_t k = 0; k < r->n; k++) {
        const int is_log =
            !r->q->options->no_log && at != FIT_BOUND_NOWHERE && r->place[k] >= at && r->place[k] < at + r->q->n;
        factor[k] = is_log ? exp(-r->x[k]) : 1;
    }
}

static int is_stopped(const struct fit_imaging_run *r)
{
    return r->interrupt && atomic_load(r->interrupt);
}

/* Lower triangle of s times the second derivatives. */
static enum fit_status fill(struct fit_imaging_run *r, double s, const double *factor, struct fit_progress_view *view,
                            double *matrix, struct fit_error *err)
{
    const size_t n = r->n;
    enum fit_status status = FIT_OK;
    FIT_SCRATCH(a);
    double *v, *out;
    FIT_TAKE_DOUBLES(&a, r->q->unknowns, &v, &out);
    if (a.failed)
        return fit_no_memory(err, "uncertainty");
    fit_progress_phase(view, "second derivatives");
    for (size_t i = 0; status == FIT_OK && i < n; i++) {
        v[r->place[i]] = 1;
        status = fit_bound_curvature(r->q->bound, FIT_HESSIAN, v, out, err);
        v[r->place[i]] = 0;
        for (size_t j = 0; j <= i; j++)
            matrix[i * n + j] = s * factor[i] * factor[j] * out[r->place[j]];
        if (factor[i] != 1)
            matrix[i * n + i] -= s * factor[i] * factor[i] * r->gradient[r->place[i]];
        fit_progress_part(view, (double)(i + 1), (double)n);
        if (is_stopped(r))
            status = fit_fail(err, FIT_ERR_INTERRUPTED, "interrupted while second derivatives were computed");
    }
    return status;
}

/* Scales matrix and unknowns to a unit diagonal, then factorises. unit[n]: 1/sqrt(diagonal). */
static enum fit_status factorise(size_t n, double *matrix, double *unit, struct fit_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (!(matrix[i * n + i] > 0))
            return fit_fail(err, FIT_ERR_NUMERIC, "the image is not a minimum: the second derivative by unknown %zu "
                                                  "is %g;"
                                                  " more iterations, smaller --ftol and --gtol, or a regularizer",
                            i, matrix[i * n + i]);
        unit[i] = 1 / sqrt(matrix[i * n + i]);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            matrix[i * n + j] *= unit[i] * unit[j];
    const size_t bad = fit_cholesky(n, matrix, 1e-14);
    return bad == 0 ? FIT_OK
                    : fit_fail(err, FIT_ERR_NUMERIC,
                               "the image is not a minimum: second derivatives are not positive definite (unknown "
                               "%zu); "
                               "more iterations, smaller --ftol and --gtol, or a regularizer",
                               bad - 1);
}

/* sqrt(g^T H^-1 g): the distance to the minimum of the quadratic function, in its own metric. */
static double distance(const struct fit_imaging_run *r, double s, const double *factor, const double *unit,
                       const double *matrix, double *work)
{
    for (size_t k = 0; k < r->n; k++)
        work[k] = s * r->gradient[r->place[k]] * factor[k] * unit[k];
    fit_lower_solve(r->n, matrix, work);
    return sqrt(fit_dot(r->n, work, work));
}

/* --- planes --------------------------------------------------------------------------------------------- */

/* Row i of out: column i of L^-1, times the unit of i. */
static void invert(size_t n, const double *l, const double *unit, double *out)
{
    for (size_t i = 0; i < n; i++) {
        double *y = out + i * n;
        y[i] = 1 / l[i * n + i];
        for (size_t k = i + 1; k < n; k++)
            y[k] = -fit_dot(k - i, l + k * n + i, y + i) / l[k * n + k];
        for (size_t k = i; k < n; k++)
            y[k] *= unit[i];
    }
}

/* The intensities: the exact diagonal of the covariance. */
static void spread_of_intensity(const struct fit_imaging_run *r, const double *inverse, double *sd)
{
    const size_t at = fit_bound_place(r->q->bound, fit_imaging_free_name[FIT_FREE_X]), n = r->n;
    for (size_t k = 0; k < n; k++)
        if (at != FIT_BOUND_NOWHERE && r->place[k] >= at && r->place[k] < at + r->q->n)
            sd[r->place[k] - at] = sqrt(fit_dot(n - k, inverse + k * n + k, inverse + k * n + k));
}

/* The other planes: the sum of squares of their tangents along the columns of the factor of the covariance. */
static enum fit_status spread_of_planes(struct fit_imaging_run *r, const double *factor, const double *inverse,
                                        const struct fit_imaging_output *output, struct fit_imaging_spread *out,
                                        struct fit_error *err)
{
    enum fit_status s = FIT_OK;
    FIT_SCRATCH(a);
    double *v, *ignored;
    FIT_TAKE_DOUBLES(&a, r->q->unknowns, &v, &ignored);
    if (a.failed)
        return fit_no_memory(err, "uncertainty");
    for (size_t j = 0; s == FIT_OK && j < r->n; j++) {
        for (size_t i = 0; i < r->n; i++)
            v[r->place[i]] = i <= j ? factor[i] * inverse[i * r->n + j] : 0;
        s = fit_bound_curvature(r->q->bound, FIT_HESSIAN, v, ignored, err);
        for (size_t p = 1; s == FIT_OK && p < out->noutput; p++)
            for (size_t k = 0; k < r->q->n; k++)
                out->sd[p][k] += pow(r->q->bound->dot[output[p].array][k], 2);
    }
    for (size_t p = 1; p < out->noutput; p++)
        for (size_t k = 0; k < r->q->n; k++)
            out->sd[p][k] = sqrt(out->sd[p][k]);
    return s;
}

static enum fit_status compute(struct fit_imaging_run *r, struct fit_progress_view *view,
                               struct fit_imaging_spread *out, struct fit_error *err)
{
    struct fit_imaging_output output[FIT_IMAGING_OUTPUTS];
    const size_t n = r->n;
    FIT_OWNED double *matrix = malloc(n * n * sizeof *matrix), *inverse = calloc(n * n, sizeof *inverse);
    FIT_OWNED double *factor = malloc(3 * n * sizeof *factor);
    out->noutput = fit_imaging_outputs(r->q, output);
    for (size_t p = 0; p < out->noutput; p++)
        out->sd[p] = fit_take(&out->arena, r->q->n, sizeof(double));
    if (!matrix || !inverse || !factor || out->arena.failed)
        return fit_no_memory(err, "uncertainty");
    double *unit = factor + n, *work = unit + n;
    out->scale = scale_of(r->q);
    factors(r, factor);
    enum fit_status s = fill(r, out->scale, factor, view, matrix, err);
    fit_progress_phase(view, "covariance");
    s = s == FIT_OK ? factorise(n, matrix, unit, err) : s;
    if (s != FIT_OK)
        return s;
    out->away = distance(r, out->scale, factor, unit, matrix, work);
    invert(n, matrix, unit, inverse);
    spread_of_intensity(r, inverse, out->sd[0]);
    return out->noutput > 1 ? spread_of_planes(r, factor, inverse, output, out, err) : FIT_OK;
}

enum fit_status fit_imaging_laplace(struct fit_imaging_run *r, struct fit_progress_view *view,
                                    struct fit_imaging_spread *out, struct fit_error *err)
{
    *out = (struct fit_imaging_spread){.scale = 1};
    if (r->n > MOST)
        return fit_fail(err, FIT_ERR_CONFIG, "uncertainties of %zu unknowns: at most %d are possible (their matrix "
                                             "would have %.1f GB)",
                        r->n, MOST, 8e-9 * (double)r->n * (double)r->n);
    const enum fit_status s = compute(r, view, out, err);
    fit_progress_clear(view);
    if (s == FIT_OK && out->away > 0.3)
        fit_notes_add(&r->q->notes, "uncertainties: the minimum is %.3g standard deviations away: iterate further "
                                    "(--maxiter, --ftol, --gtol)",
                      out->away);
    return s;
}
