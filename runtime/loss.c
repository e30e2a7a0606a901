/* loss.c -- robust losses as sums of squares, by reweighting.
 *
 * rho(z) is concave in z = (r / (f_scale sigma))^2, so the weighted sum of squares with w = rho'(z) taken at
 * one point lies above the robust cost everywhere and touches it there: a step that lowers the former lowers
 * the latter.  It is too steep by the ratio of sum rho' to sum psi'; with that taken into account it is
 * Newton's method but for the spread of the residuals (objective.h).  Kernels know nothing of this: for every
 * tile the model at the point of the weights is computed again into scratch memory, so nothing as large as the
 * data is stored, unless these are few.
 *
 * Holland & Welsch, Commun. Stat. A6 (1977) 813; Huber, Robust Statistics (1981), sections 7.6 to 7.8;
 * Triggs, McLauchlan, Hartley & Fitzgibbon, Bundle Adjustment (2000), section 4.3.
 */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "objective.h"
#include "rho.h"

/* The curvature is not taken to be less than this part of the majorant's. */
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

/* Lanes that do not count get a residual of zero, so that the sums over whole vectors can pass over them. */
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

/* Bins of the size |r| as those of r^2, of which an octave has EIGHTHS: the exponent counts the octaves, and the first
 * FINE bits of the mantissa tell the bin but for one border, at border[n] for the n-th bin: 2^(n / EIGHTHS). */
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
    const double *ws, *lin;
    size_t n;
    double unit;             /* of the histogram: of 1 / r^2 */
    const struct bins *bins; /* NULL: the sums of rho.h */
};

static void pass_tile(void *user, const struct fit_tile *t, double *scratch, size_t stride,
                      double *out)
{
    struct pass *p = user;
    uint32_t count[FIT_OBJECTIVE_BINS] = {0};
    struct loss c = {p->obj, t, scratch, scratch, NULL, p->unit, count, p->bins};
    struct fit_lanes lanes = lanes_of(p->obj, t, scratch);
    (void)stride;
    p->obj->kernel->model(&p->obj->ds->layout, p->ws, p->lin, t, scratch);
    if (p->bins) {
        fit_objective_vectors(p->obj, t, histogram_vector, &c);
        for (size_t k = 0; k < p->n; k++)
            out[k] = count[k];
        return;
    }
    fit_objective_edges(p->obj, t, settle_vector, &c);
    fit_rho_sums(&lanes, p->obj->loss, p->obj->loss_scale, out);
}

static enum fit_eval run(struct pass *p)
{
    struct fit_parallel_task task = {pass_tile, p, p->n, 0};
    return fit_parallel_sum(p->obj->par, &task, p->obj->sum) ? FIT_EVAL_STOP : FIT_EVAL_OK;
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

/* Room for the weighted values, unless there are many; they are to be filled anew. */
static void keep(struct fit_objective *o)
{
    size_t last = o->ds->ntile - 1;
    if (!o->kept && o->ds->npoint <= FIT_OBJECTIVE_KEPT && !fit_dataset_streamed(o->ds)) {
        const struct fit_tile *t = &o->ds->tile[last];
        o->nkept = (size_t)(t->y - o->ds->tile[0].y) + (fit_tile_doubles(&o->ds->layout, t) + 7) / 8 * 8;
        size_t n = 2 * o->nkept + 3 * o->ngroup * o->ds->ntile;
        o->kept = aligned_alloc(64, (n * sizeof *o->kept + 127) / 64 * 64);
        o->is_kept = malloc(o->ds->ntile);
        if (!o->is_kept) { /* then they are not kept */
            free(o->kept);
            o->kept = NULL;
        }
    }
    if (o->kept)
        memset(o->is_kept, 0, o->ds->ntile);
}

enum fit_eval fit_objective_reweight(struct fit_objective *o, const double *theta,
                                     const double *factor, struct fit_objective_robust *robust)
{
    if (!o->ws_loss) {
        size_t bytes = (o->kernel->workspace(&o->ds->layout) * sizeof(double) + 127) / 64 * 64;
        o->ws_loss = aligned_alloc(64, bytes);
        if (!o->ws_loss)
            return FIT_EVAL_STOP;
        memset(o->ws_loss, 0, bytes);
    }
    enum fit_eval e = o->kernel->prepare(&o->ds->layout, theta, 0, o->ws_loss);
    if (e != FIT_EVAL_OK)
        return e;
    o->weighting = FIT_WEIGHT_LOSS;
    o->loss = robust->loss;
    o->loss_scale = robust->f_scale;
    memcpy(o->factor, factor, o->ngroup * sizeof *factor);
    memcpy(o->lin_loss, o->lin, o->ngroup * o->nlinear * sizeof *o->lin);
    keep(o);
    struct pass p = {o, o->ws_loss, o->lin_loss, FIT_RHO_SUMS, 0, NULL};
    e = run(&p);
    robust->cost = o->sum[FIT_RHO_COST];
    if (e == FIT_EVAL_OK && !isfinite(robust->cost))
        e = FIT_EVAL_REJECT;
    o->loss_curve = robust->curve = robust->curve > 0 || e != FIT_EVAL_OK ? robust->curve : mean_curve(o);
    return e;
}

enum fit_eval fit_objective_loss_sums(struct fit_objective *o, double *psi2, double *dpsi,
                                      double *square)
{
    struct pass p = {o, o->ws, o->lin, FIT_RHO_SUMS, 0, NULL};
    enum fit_eval e = run(&p);
    *psi2 = o->sum[FIT_RHO_PSI2];
    *dpsi = (double)o->npoint + o->sum[FIT_RHO_DPSI];
    *square = o->sum[FIT_RHO_SQUARE];
    return e;
}

enum fit_eval fit_objective_median(struct fit_objective *o, const double *theta, double *median)
{
    double total = 0, below = 0, ssr = 0;
    enum fit_eval e = o->kernel->prepare(&o->ds->layout, theta, 0, o->ws);
    if (e != FIT_EVAL_OK)
        return e;
    if (o->weighting == FIT_WEIGHT_DATA)
        for (size_t g = 0; g < o->ngroup; g++)
            o->factor[g] = 1;
    for (size_t g = 0; g < o->ngroup; g++)
        ssr += o->ssr[g];
    const double unit = sqrt(ssr / (double)(o->npoint ? o->npoint : 1));
    struct bins bins = {0};
    struct pass p = {o, o->ws, o->lin, FIT_OBJECTIVE_BINS, 1 / (unit * unit), &bins};
    make_bins(&bins);
    *median = 0;
    if (!(unit > 0) || !isfinite(p.unit))
        return FIT_EVAL_OK;
    if ((e = run(&p)) != FIT_EVAL_OK)
        return e;
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
