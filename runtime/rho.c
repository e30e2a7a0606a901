/* rho.c -- robust losses, eight lanes at a time; see rho.h. */
#include "rho.h"

#include <string.h>

#include "each_isa.h"
#include "fit/kernel.h"

#define FIT_VL 8 /* FIT_LANES, whatever the machine */
#include "fit/vmath.h"

struct rho {
    fit_vd value, slope, curve; /* rho, rho', rho' + 2 z rho'' */
};

FIT_INLINE struct rho rho_of(enum fit_loss loss, fit_vd z, int value)
{
    struct rho r = {z, fit_vset1(1), fit_vset1(1)};
    switch (loss) {
    case FIT_LOSS_LINEAR: break;
    case FIT_LOSS_SOFT_L1: {
        fit_vd root = fit_vsqrt(1.0 + z);
        r.value = 2.0 * z / (1.0 + root); /* no difference of large numbers */
        r.slope = 1.0 / root;
        r.curve = r.slope * r.slope * r.slope;
        break;
    }
    case FIT_LOSS_HUBER: {
        fit_vm inside = z <= 1.0;
        fit_vd root = fit_vsqrt(fit_vselect(inside, fit_vset1(1), z));
        r.value = fit_vselect(inside, z, 2.0 * root - 1.0);
        r.slope = 1.0 / root;
        r.curve = fit_vselect(inside, fit_vset1(1), (fit_vd){0});
        break;
    }
    case FIT_LOSS_CAUCHY:
        r.value = value ? fit_vlog1p(z) : z;
        r.slope = 1.0 / (1.0 + z);
        r.curve = (1.0 - z) * r.slope * r.slope;
        break;
    case FIT_LOSS_ARCTAN:
        r.value = value ? fit_vatan(z) : z;
        r.slope = 1.0 / (1.0 + z * z);
        r.curve = (1.0 - 3.0 * z * z) * r.slope * r.slope;
        break;
    }
    return r;
}

/* Weight and residual of vector n. */
FIT_INLINE fit_vd residual(const struct fit_lanes *t, size_t n, size_t g, fit_vd *v, fit_vd *mean)
{
    fit_vd w = t->w0 ? fit_vloadu(t->w0 + n * FIT_LANES) : fit_vset1(1);
    *v = w * t->factor[g];
    *mean = fit_vloadu(t->mean + n * FIT_LANES);
    return fit_vloadu(t->y + n * FIT_LANES) - *mean;
}

FIT_INLINE void sums(const struct fit_lanes *t, enum fit_loss loss, double f, double *sum)
{
    const double scale = 1 / (f * f);
    fit_vd s[FIT_RHO_SUMS] = {{0}}, v, mean;
    size_t g = 0;
    for (size_t n = 0; n < t->nvector; n++) {
        const fit_vd r = residual(t, n, g, &v, &mean), r2 = v * r * r;
        const struct rho x = rho_of(loss, scale * r2, 1);
        s[FIT_RHO_COST] += x.value;
        s[FIT_RHO_SLOPE] += v * (x.slope - 1.0);
        s[FIT_RHO_CURVE] += v * (x.curve - 1.0);
        s[FIT_RHO_PSI2] += r2 * x.slope * x.slope;
        s[FIT_RHO_DPSI] += x.curve - 1.0;
        s[FIT_RHO_SQUARE] += r2;
        g = g + 1 < t->ngroup ? g + 1 : 0;
    }
    for (size_t k = 0; k < FIT_RHO_SUMS; k++)
        sum[k] = fit_vsum(s[k]);
    sum[FIT_RHO_COST] *= 0.5 * f * f;
}

FIT_INLINE void weights(const struct fit_lanes *t, enum fit_loss loss, double f, double curve, double *w,
                        double *y)
{
    const double scale = 1 / (f * f), stretch = 1 / curve;
    fit_vd v, mean;
    size_t g = 0;
    for (size_t n = 0; n < t->nvector; n++) {
        const fit_vd r = residual(t, n, g, &v, &mean);
        const struct rho x = rho_of(loss, scale * v * r * r, 0);
        fit_vstoreu(w + n * FIT_LANES, curve * v * x.slope);
        fit_vstoreu(y + n * FIT_LANES, mean + stretch * r);
        g = g + 1 < t->ngroup ? g + 1 : 0;
    }
}

/* One loop for each loss, so that none decides inside. */
EACH_ISA
void fit_rho_sums(const struct fit_lanes *t, enum fit_loss loss, double f, double *sum)
{
    switch (loss) {
    case FIT_LOSS_LINEAR: sums(t, FIT_LOSS_LINEAR, f, sum); break;
    case FIT_LOSS_SOFT_L1: sums(t, FIT_LOSS_SOFT_L1, f, sum); break;
    case FIT_LOSS_HUBER: sums(t, FIT_LOSS_HUBER, f, sum); break;
    case FIT_LOSS_CAUCHY: sums(t, FIT_LOSS_CAUCHY, f, sum); break;
    case FIT_LOSS_ARCTAN: sums(t, FIT_LOSS_ARCTAN, f, sum); break;
    }
}

EACH_ISA
void fit_rho_weights(const struct fit_lanes *t, enum fit_loss loss, double f, double curve, double *w,
                     double *y)
{
    switch (loss) {
    case FIT_LOSS_LINEAR: weights(t, FIT_LOSS_LINEAR, f, curve, w, y); break;
    case FIT_LOSS_SOFT_L1: weights(t, FIT_LOSS_SOFT_L1, f, curve, w, y); break;
    case FIT_LOSS_HUBER: weights(t, FIT_LOSS_HUBER, f, curve, w, y); break;
    case FIT_LOSS_CAUCHY: weights(t, FIT_LOSS_CAUCHY, f, curve, w, y); break;
    case FIT_LOSS_ARCTAN: weights(t, FIT_LOSS_ARCTAN, f, curve, w, y); break;
    }
}
