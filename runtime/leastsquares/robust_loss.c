/* robust_loss.c -- robust losses, four lanes at a time: gcc keeps vectors of eight in memory where a register holds
 * four (fit/vmath.h); see robust_loss.h.  */
#include "leastsquares/robust_loss.h"

#include <string.h>

#include "base/each_isa.h"
#include "fit/kernel.h"

#define FIT_VL 4 /* whatever the machine: the sums are the same */
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
        const fit_vd root = fit_vsqrt(1.0 + z), more = 1.0 + root, both = 1.0 / (root * more); /* one division */
        r.value = 2.0 * z * root * both; /* 2 z / (1 + root): no difference of large numbers */
        r.slope = more * both;
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

/* Adds the sums of a half vector: residuals r of weight v, whose loss is x. */
FIT_INLINE void add(fit_vd *s, struct rho x, fit_vd v, fit_vd r2)
{
    s[FIT_RHO_COST] += x.value;
    s[FIT_RHO_SLOPE] += v * (x.slope - 1.0);
    s[FIT_RHO_CURVE] += v * (x.curve - 1.0);
    s[FIT_RHO_PSI2] += r2 * x.slope * x.slope;
    s[FIT_RHO_DPSI] += x.curve - 1.0;
    s[FIT_RHO_SQUARE] += r2;
}

/* w, y: destination of weights and values; sum: of sums; or NULL, which is a constant of every call. */
FIT_INLINE void walk(const struct fit_lanes *t, enum fit_loss loss, double f, double curve, double *w, double *y,
                     double *sum)
{
    const double scale = 1 / (f * f), stretch = 1 / curve;
    fit_vd s[FIT_RHO_SUMS] = {{0}};
    size_t g = 0;
    for (size_t n = 0; n < t->nvector; n++) {
        const double factor = t->factor[g];
        for (size_t k = n * FIT_LANES; k < (n + 1) * FIT_LANES; k += FIT_VL) {
            const fit_vd v = t->w0 ? fit_vloadu(t->w0 + k) * factor : fit_vset1(factor);
            const fit_vd mean = fit_vloadu(t->mean + k), r = fit_vloadu(t->y + k) - mean, r2 = v * r * r;
            const struct rho x = rho_of(loss, scale * r2, sum != NULL);
            if (w)
                fit_vstoreu(w + k, curve * v * x.slope);
            if (y)
                fit_vstoreu(y + k, mean + stretch * r);
            if (sum)
                add(s, x, v, r2);
        }
        g = g + 1 < t->ngroup ? g + 1 : 0;
    }
    for (size_t k = 0; sum && k < FIT_RHO_SUMS; k++)
        sum[k] = fit_vsum(s[k]);
    if (sum)
        sum[FIT_RHO_COST] *= 0.5 * f * f;
}

/* One loop for each loss, without a decision inside. */
EACH_ISA
EACH_ISA
void fit_rho_weights(const struct fit_lanes *t, enum fit_loss loss, double f, double curve, double *w, double *y)
{
    switch (loss) {
    case FIT_LOSS_LINEAR: walk(t, FIT_LOSS_LINEAR, f, curve, w, y, NULL); break;
    case FIT_LOSS_SOFT_L1: walk(t, FIT_LOSS_SOFT_L1, f, curve, w, y, NULL); break;
    case FIT_LOSS_HUBER: walk(t, FIT_LOSS_HUBER, f, curve, w, y, NULL); break;
    case FIT_LOSS_CAUCHY: walk(t, FIT_LOSS_CAUCHY, f, curve, w, y, NULL); break;
    case FIT_LOSS_ARCTAN: walk(t, FIT_LOSS_ARCTAN, f, curve, w, y, NULL); break;
    }
}

EACH_ISA
void fit_rho_both(const struct fit_lanes *t, enum fit_loss loss, double f, double *w, double *sum)
{
    switch (loss) {
    case FIT_LOSS_LINEAR: walk(t, FIT_LOSS_LINEAR, f, 1, w, NULL, sum); break;
    case FIT_LOSS_SOFT_L1: walk(t, FIT_LOSS_SOFT_L1, f, 1, w, NULL, sum); break;
    case FIT_LOSS_HUBER: walk(t, FIT_LOSS_HUBER, f, 1, w, NULL, sum); break;
    case FIT_LOSS_CAUCHY: walk(t, FIT_LOSS_CAUCHY, f, 1, w, NULL, sum); break;
    case FIT_LOSS_ARCTAN: walk(t, FIT_LOSS_ARCTAN, f, 1, w, NULL, sum); break;
    }
}
