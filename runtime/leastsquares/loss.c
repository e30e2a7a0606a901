/* loss.c -- robust losses as sums of squares, by reweighting.
 *
 * rho(z) is concave in z = (r / (f_scale sigma))^2, so the weighted sum of squares with w = rho'(z) taken at one point
 * lies above the robust cost everywhere and touches it there: a step that lowers the former lowers the latter. It is
 * too steep by the ratio of sum rho' to sum psi'; with that taken into account it is Newton's method except for the
 * spread of the residuals (objective.h). Kernels are unaware of this: they get the tile with the weights of the loss,
 * computed from their own model just before. Where the weights are those of another point, the model there is
 * recomputed for every tile, so that nothing as large as the data is stored, unless the data are few.
 *
 * Holland & Welsch, Commun. Stat. A6 (1977) 813; Huber, Robust Statistics (1981), sections 7.6 to 7.8; Triggs,
 * McLauchlan, Hartley & Fitzgibbon, Bundle Adjustment (2000), section 4.3.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "data/tile_sums.h"
#include "leastsquares/objective_impl.h"

/* Lower limit of the curvature, relative to the majorant's. */
static const double LEAST_CURVE = 0.1;

struct loss {
    const struct fit_objective *obj;
    const struct fit_tile *tile;
    const double *mean;
    double *settled; /* mean, while it is put in order */
    double *w;       /* weights out, or NULL */
    double unit;     /* of the histogram: of 1 / r^2 */
    uint32_t *count; /* its bins */
    const struct bins *bins;
};

/* Lanes that do not count get a residual of zero, so that sums over whole vectors can include them. */
static void settle_vector(void *user, size_t g, size_t offset, size_t lo, size_t hi)
{
    struct loss *c = user;
    (void)g;
    for (size_t k = 0; k < FIT_LANES; k++)
        if (k < lo || k >= hi)
            c->settled[offset + k] = c->tile->y[offset + k];
}

/* ... and, in the end, weight zero. */
static void clear_vector(void *user, size_t g, size_t offset, size_t lo, size_t hi)
{
    struct loss *c = user;
    (void)g;
    for (size_t k = 0; k < FIT_LANES; k++)
        if (k < lo || k >= hi)
            c->w[offset + k] = 0;
}

static struct fit_lanes lanes_of(const struct fit_objective *o, const struct fit_tile *t, const double *mean)
{
    int rows = o->kernel->space == FIT_ROWS; /* of one group */
    return (struct fit_lanes){fit_tile_doubles(&o->ds->layout, t) / FIT_LANES, rows ? 1 : o->ngroup, t->y, mean, t->w,
                              rows ? o->factor + t->group : o->factor};
}

void fit_loss_weights(struct fit_objective *o, const struct fit_tile *t, double *y, double *w)
{
    struct loss c = {.obj = o, .tile = t, .mean = y, .settled = y, .w = w};
    struct fit_lanes lanes = lanes_of(o, t, y);
    o->kernel->model(&o->ds->layout, o->ws_loss, o->lin_loss, t, y);
    fit_objective_edges(o, t, settle_vector, &c);
    fit_rho_weights(&lanes, o->loss, o->loss_scale, o->loss_curve, w, y);
    fit_objective_edges(o, t, clear_vector, &c);
}

/* ---- sums over residuals --------------------------------------------------------------------- */

enum { BINS_PER_OCTAVE = 16, OCTAVES_BELOW = 28, MANTISSA = 52, FINE = 5, EIGHTHS = BINS_PER_OCTAVE / 2 };

/* Bins of the size |r| as those of r^2, of which an octave has EIGHTHS: the exponent counts the octaves, and the
 * first FINE bits of the mantissa determine the bin up to one border, at border[n] for the n-th bin: 2^(n /
 * EIGHTHS). */
struct bins {
    uint64_t border[EIGHTHS + 1];
    unsigned char first[1 << FINE];
};

static uint64_t bits(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static void make_bins(struct bins *b)
{
    const uint64_t one = (uint64_t)1 << MANTISSA;
    for (int n = 0; n <= EIGHTHS; n++)
        b->border[n] = n == EIGHTHS ? one : bits(exp2((double)n / EIGHTHS)) & (one - 1);
    for (int k = 0; k < 1 << FINE; k++)
        for (int n = 0; n < EIGHTHS; n++)
            if ((uint64_t)k << (MANTISSA - FINE) >= b->border[n])
                b->first[k] = (unsigned char)n;
}

/* square: r^2, in units of that of the histogram. */
static size_t bin_of(const struct bins *b, double square)
{
    const uint64_t u = bits(square), m = u & (((uint64_t)1 << MANTISSA) - 1);
    const size_t n = b->first[m >> (MANTISSA - FINE)];
    const long octave = (long)(u >> MANTISSA) - 1023 + 2 * OCTAVES_BELOW;
    const long bin = octave * EIGHTHS + (long)n + (m >= b->border[n + 1]);
    return bin < 0 ? 0 : bin < FIT_OBJECTIVE_BINS ? (size_t)bin : FIT_OBJECTIVE_BINS - 1;
}

static void histogram_vector(void *user, size_t g, size_t offset, size_t lo, size_t hi)
{
    const struct loss *c = user;
    const double *y = c->tile->y + offset, *mean = c->mean + offset, *w = c->tile->w ? c->tile->w + offset : NULL;
    const double unit = c->obj->factor[g] * c->unit;
    for (size_t k = lo; k < hi; k++)
        if (!w || w[k] > 0)
            c->count[bin_of(c->bins, (y[k] - mean[k]) * (y[k] - mean[k]) * (w ? w[k] * unit : unit))]++;
}

struct pass {
    struct fit_objective *obj;
    double unit; /* of the histogram: of 1 / r^2 */
    struct bins bins;
};

static void histogram_tile(void *user, const struct fit_tile *t, double *scratch, size_t stride, double *out)
{
    const struct pass *p = user;
    const struct fit_objective *o = p->obj;
    uint32_t count[FIT_OBJECTIVE_BINS] = {0};
    struct loss c = {.obj = o, .tile = t, .mean = scratch, .unit = p->unit, .count = count, .bins = &p->bins};
    (void)stride;
    o->kernel->model(&o->ds->layout, o->ws, o->lin, t, scratch);
    fit_objective_vectors(o, t, histogram_vector, &c);
    for (size_t k = 0; k < FIT_OBJECTIVE_BINS; k++)
        out[k] = count[k];
}

/* sum psi' / sum rho', both weighted with v. */
static double mean_curve(const struct fit_objective *o)
{
    double v = 0;
    for (size_t t = 0; t < o->ds->ntile; t++)
        for (size_t g = 0; g < o->ngroup; g++)
            v += o->factor[g] * o->ds->tile[t].sum[3 * g];
    double c = (v + o->sum[FIT_RHO_CURVE]) / (v + o->sum[FIT_RHO_SLOPE]);
    return c > LEAST_CURVE ? fmin(c, 1) : LEAST_CURVE;
}

/* ---- a step of Newton's method ----------------------------------------------------------------- */

static void newton_tile(void *user, const struct fit_tile *t, double *scratch, size_t stride, double *out)
{
    struct fit_objective *o = user;
    double *mean = scratch, *w = scratch + stride, *sum = w + stride, *extra = scratch + FIT_OBJECTIVE_SCRATCH * stride;
    struct loss c = {.obj = o, .tile = t, .mean = mean, .settled = mean, .w = w};
    struct fit_lanes lanes = lanes_of(o, t, mean);
    struct fit_tile weighted = *t;
    size_t first[2];
    fit_objective_newton_size(o, first);
    memset(out, 0, first[0] * sizeof *out);
    o->kernel->model(&o->ds->layout, o->ws, o->lin, t, mean);
    fit_objective_edges(o, t, settle_vector, &c);
    fit_rho_both(&lanes, o->loss, o->loss_scale, w, out);
    fit_objective_edges(o, t, clear_vector, &c);
    weighted.w = w;
    weighted.sum = sum;
    fit_objective_tile_sums(o, &weighted, extra, sum);
    o->kernel->moments(&o->ds->layout, o->ws, &weighted, extra, out + first[0]);
    o->kernel->normal(&o->ds->layout, o->ws, o->lin, &weighted, extra, out + first[1]);
}

/* Moments of the majorant in `sum` become those with c times its curvature and the same gradient at lin:
 * M <- c M,  v <- v + (c - 1) M lin. */
static void scale_moments(struct fit_objective *o, const double *sum, double c)
{
    size_t n = o->nlinear, size = fit_objective_moments(n);
    o->summed = 0;
    for (size_t g = 0; g < o->ngroup; g++) {
        const double *M = sum + g * size, *lin = o->lin + g * n;
        double *to = o->moment + g * size, *v = to + n * (n + 1) / 2;
        memcpy(to, M, size * sizeof *to);
        for (size_t p = 0; p < n; p++)
            for (size_t q = p; q < n; q++, M++, to++) {
                v[p] += (c - 1) * *M * lin[q];
                v[q] += q > p ? (c - 1) * *M * lin[p] : 0;
                *to = c * *M;
            }
    }
}

/* du: change from the previous u, which it contains, to u. Returns the predicted gain of this step. */
static double finish_step(struct fit_objective *o)
{
    double gain = 0;
    for (size_t u = 0; u < o->nu; u++)
        o->du[u] = o->u[u] - o->du[u];
    for (size_t k = 0; k < o->nblock; k++) {
        size_t n = fit_objective_block(o, k), *index = o->order + o->block_first[k];
        for (size_t i = 0; i < n; i++) {
            const double *row = o->A + o->block_matrix[k] + i * n;
            double slope = o->b[index[i]];
            for (size_t j = 0; j < n; j++)
                slope -= row[j] * (o->u[index[j]] - 0.5 * o->du[index[j]]);
            gain += o->du[index[i]] * slope;
        }
    }
    return fmax(gain, 0);
}

static void read_sums(const struct fit_objective *o, struct fit_objective_robust *r)
{
    r->cost = o->sum[FIT_RHO_COST];
    r->penalty = fit_objective_penalty(o);
    r->curve = mean_curve(o);
    r->psi2 = o->sum[FIT_RHO_PSI2];
    r->dpsi = (double)o->npoint + o->sum[FIT_RHO_DPSI];
    r->square = o->sum[FIT_RHO_SQUARE];
}

enum fit_eval fit_objective_newton(struct fit_objective *o, const double *theta, struct fit_objective_robust *r,
                                   double *B, double *g)
{
    size_t first[2], p = o->nparam, n = fit_objective_newton_size(o, first), H = p * (p + 1) / 2;
    struct fit_parallel_task task = {newton_tile, o, n, 0};
    enum fit_eval e = fit_objective_prepare(o, theta, 1);
    if (e != FIT_EVAL_OK)
        return e;
    o->loss = r->loss;
    o->loss_scale = r->f_scale;
    o->nvalue++;
    o->nnormal++;
    if (fit_parallel_sum(o->par, &task, o->sum))
        return FIT_EVAL_STOP;
    for (size_t k = 0; k < n; k++)
        if (!isfinite(o->sum[k]) && (k < FIT_RHO_SUMS || k >= first[0]))
            return FIT_EVAL_REJECT;
    read_sums(o, r);
    scale_moments(o, o->sum + first[0], r->curve);
    for (size_t k = first[1]; k < n; k++)
        o->sum[k] *= k - first[1] < H || k - first[1] >= H + p ? r->curve : 1;
    memcpy(o->du, o->u, o->nu * sizeof *o->du);
    fit_objective_assemble(o);
    if ((e = fit_objective_solve(o)) != FIT_EVAL_OK)
        return e;
    r->gain = finish_step(o);
    fit_objective_reduce(o, o->sum + first[1], o->du, B, g);
    return FIT_EVAL_OK;
}

/* ---- the loss at a fixed point ----------------------------------------------------------------- */

/* Room for the weighted values, unless there are many; they are to be recomputed. */
static void keep(struct fit_objective *o)
{
    const size_t first = o->ds->first, last = o->ds->last - 1;
    if (!o->kept && first <= last && o->ds->npoint <= FIT_OBJECTIVE_KEPT && !fit_dataset_streamed(o->ds)) {
        const struct fit_tile *t = &o->ds->tile[last];
        o->nkept = (size_t)(t->y - o->ds->tile[first].y) + (fit_tile_doubles(&o->ds->layout, t) + 7) / 8 * 8;
        size_t n = 2 * o->nkept + 3 * o->ngroup * o->ds->ntile;
        o->is_kept = fit_take(&o->storage_, o->ds->ntile, 1);
        o->kept = o->is_kept ? fit_take(&o->storage_, n, sizeof *o->kept) : NULL; /* or they are not kept */
    }
    if (o->kept)
        memset(o->is_kept, 0, o->ds->ntile);
}

enum fit_eval fit_objective_freeze(struct fit_objective *o, const double *theta, const double *factor,
                                   const struct fit_objective_robust *robust)
{
    if (!o->ws_loss)
        o->ws_loss = fit_take(&o->storage_, o->kernel->workspace(&o->ds->layout), sizeof *o->ws_loss);
    if (!o->ws_loss)
        return FIT_EVAL_STOP;
    enum fit_eval e = o->kernel->prepare(&o->ds->layout, theta, 0, o->ws_loss);
    if (e != FIT_EVAL_OK)
        return e;
    o->weighting = FIT_WEIGHT_LOSS;
    o->summed = 0;
    o->loss = robust->loss;
    o->loss_scale = robust->f_scale;
    o->loss_curve = robust->curve;
    memcpy(o->factor, factor, o->ngroup * sizeof *factor);
    memcpy(o->lin_loss, o->lin, o->ngroup * o->nlinear * sizeof *o->lin);
    keep(o);
    return FIT_EVAL_OK;
}

/* ---- the median -------------------------------------------------------------------------------- */

enum fit_eval fit_objective_median(struct fit_objective *o, const double *theta, double *median)
{
    double total = 0, below = 0, ssr = 0;
    enum fit_eval e = fit_objective_prepare(o, theta, 0);
    if (e != FIT_EVAL_OK)
        return e;
    if (o->weighting == FIT_WEIGHT_DATA)
        for (size_t g = 0; g < o->ngroup; g++)
            o->factor[g] = 1;
    for (size_t g = 0; g < o->ngroup; g++)
        ssr += o->ssr[g];
    const double unit = sqrt(ssr / (double)(o->npoint ? o->npoint : 1));
    struct pass p = {.obj = o, .unit = 1 / (unit * unit)};
    struct fit_parallel_task task = {histogram_tile, &p, FIT_OBJECTIVE_BINS, 0};
    make_bins(&p.bins);
    *median = 0;
    if (!(unit > 0) || !isfinite(p.unit))
        return FIT_EVAL_OK;
    if (fit_parallel_sum(o->par, &task, o->sum))
        return FIT_EVAL_STOP;
    for (size_t k = 0; k < FIT_OBJECTIVE_BINS; k++)
        total += o->sum[k];
    for (size_t k = 0; k < FIT_OBJECTIVE_BINS; k++) {
        if (below + o->sum[k] >= 0.5 * total) {
            double part = o->sum[k] > 0 ? (0.5 * total - below) / o->sum[k] : 0;
            *median = unit * exp2(((double)k + part) / BINS_PER_OCTAVE - OCTAVES_BELOW);
            return FIT_EVAL_OK;
        }
        below += o->sum[k];
    }
    return FIT_EVAL_OK;
}
