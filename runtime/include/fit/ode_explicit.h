/* fit/ode_explicit.h -- a step of the explicit method of order 8 of Dormand and Prince with the error estimates of
 * orders 5 and 3 (Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, 1993, section II.10;
 * coefficients as in their program DOP853), and how it notices that its steps are kept short by stability (by the idea
 * of section IV.2 of volume II).
 */
#ifndef FIT_ODE_EXPLICIT_H
#define FIT_ODE_EXPLICIT_H

#include "fit/ode_problem.h"

/* clang-format off */
static const double fit_ode_c[FIT_ODE_STAGES] = {
    0.0, 0.05260015195876773, 0.0789002279381516, 0.1183503419072274, 0.2816496580927726, 0.3333333333333333,
    0.25, 0.3076923076923077, 0.6512820512820513, 0.6, 0.8571428571428571, 1.0
};
static const double fit_ode_b[FIT_ODE_STAGES] = {
    0.054293734116568765, 0.0, 0.0, 0.0, 0.0, 4.450312892752409, 1.8915178993145003, -5.801203960010585,
    0.3111643669578199, -0.1521609496625161, 0.20136540080403034, 0.04471061572777259
};
static const double fit_ode_e5[FIT_ODE_STAGES] = {
    0.01312004499419488, 0.0, 0.0, 0.0, 0.0, -1.2251564463762044, -0.4957589496572502, 1.6643771824549864,
    -0.35032884874997366, 0.3341791187130175, 0.08192320648511571, -0.022355307863886294
};
static const double fit_ode_e3[FIT_ODE_STAGES] = {
    -0.18980075407240762, 0.0, 0.0, 0.0, 0.0, 4.450312892752409, 1.8915178993145003, -5.801203960010585,
    -0.4226823213237919, -0.1521609496625161, 0.20136540080403034, 0.02265179219836082
};
/* row by row below the diagonal */
static const double fit_ode_a[FIT_ODE_STAGES * (FIT_ODE_STAGES - 1) / 2] = {
    0.05260015195876773,
    0.0197250569845379, 0.0591751709536137,
    0.02958758547680685, 0.0, 0.08876275643042054,
    0.2413651341592667, 0.0, -0.8845494793282861, 0.924834003261792,
    0.037037037037037035, 0.0, 0.0, 0.17082860872947386, 0.12546768756682242,
    0.037109375, 0.0, 0.0, 0.17025221101954405, 0.06021653898045596, -0.017578125,
    0.03709200011850479, 0.0, 0.0, 0.17038392571223998, 0.10726203044637328, -0.015319437748624402,
    0.008273789163814023,
    0.6241109587160757, 0.0, 0.0, -3.3608926294469414, -0.868219346841726, 27.59209969944671,
    20.154067550477894, -43.48988418106996,
    0.47766253643826434, 0.0, 0.0, -2.4881146199716677, -0.590290826836843, 21.230051448181193,
    15.279233632882423, -33.28821096898486, -0.020331201708508627,
    -0.9371424300859873, 0.0, 0.0, 5.186372428844064, 1.0914373489967295, -8.149787010746927,
    -18.52006565999696, 22.739487099350505, 2.4936055526796523, -3.0467644718982196,
    2.273310147516538, 0.0, 0.0, -10.53449546673725, -2.0008720582248625, -17.9589318631188, 27.94888452941996,
    -2.8589982771350235, -8.87285693353063, 12.360567175794303, 0.6433927460157636
};
/* clang-format on */

/* Numbers side by side. */
typedef double fit_ode_side __attribute__((vector_size(FIT_ODE_SIDE * sizeof(double)), aligned(8), may_alias));

/* sum <- the sum of the first `stages` rows of k, each times its weight: of every number in the order of the stages. */
static inline void fit_ode_sums(const struct fit_ode *o, size_t stages, const double *weight, double *sum)
{
    for (size_t i = 0; i < o->row; i += FIT_ODE_SIDE) {
        fit_ode_side part = {0.0};
        for (size_t s = 0; s < stages; s++)
            part += weight[s] * *(const fit_ode_side *)(o->k + s * o->row + i);
        *(fit_ode_side *)(sum + i) = part;
    }
}

/* The stages of a step: row s of k <- f at stage s, the first one known; y: where the last one is. */
static inline void fit_ode_stages(const struct fit_ode *o, double t, double h, const double *x)
{
    const double *a = fit_ode_a;
    for (size_t s = 1; s < FIT_ODE_STAGES; a += s, s++) {
        fit_ode_sums(o, s, a, o->y);
        for (size_t i = 0; i < o->n; i++)
            o->y[i] = x[i] + h * o->y[i];
        o->rates(o->context, t + fit_ode_c[s] * h, o->y, o->k + s * o->row);
    }
}

/* Error of the values of a step over what is allowed, in the mean. */
static inline double fit_ode_explicit_error(const struct fit_ode *o, double h, const double *x)
{
    double five = 0.0, three = 0.0;
    for (size_t i = 0; i < o->nvalue; i++) {
        const double allowed = o->tolerance * fit_ode_size(o, i, x, h * o->k[i]) + 1e-300;
        const double e5 = o->error5[i] / allowed, e3 = o->error3[i] / allowed;
        five += e5 * e5;
        three += e3 * e3;
    }
    if (five == 0.0 && three == 0.0)
        return 0.0;
    return fabs(h) * five / sqrt((five + 0.01 * three) * (double)o->nvalue);
}

/* Error of number i of a step over what is allowed (Hairer et al., section II.10); size: what it is compared with. */
static inline double fit_ode_error_of(const struct fit_ode *o, double h, size_t i, double size)
{
    const double e5 = o->error5[i], e3 = o->error3[i];
    if (e5 == 0.0 && e3 == 0.0)
        return 0.0;
    return fabs(h) * e5 * e5 / (sqrt(e5 * e5 + 0.01 * e3 * e3) * (o->tolerance * size + 1e-300));
}

/* Is the step from x to `next`, where the rates are f, short for nothing that the values do?  A deviation would change
 * by h l in it (estimated from two points at its end), where l is the steepest slope of the rates, and the values
 * change much less.  Near the bound of stability, h l = 6.1, errors keep steps short long before it: 0.6 and more is
 * near. */
static inline int fit_ode_hurries(const struct fit_ode *o, double h, const double *x, const double *next,
                                  const double *f)
{
    const double *last = o->k + (FIT_ODE_STAGES - 1) * o->row;
    double top = 0.0, bottom = 0.0, change = 0.0;
    for (size_t i = 0; i < o->nvalue; i++) {
        const double size = fit_ode_size(o, i, next, 0.0) + 1e-300;
        top += (f[i] - last[i]) * (f[i] - last[i]) / (size * size);
        bottom += (next[i] - o->y[i]) * (next[i] - o->y[i]) / (size * size);
        change = fmax(change, fabs(next[i] - x[i]) / size);
    }
    const double hl = bottom > 0.0 ? fabs(h) * sqrt(top / bottom) : 0.0;
    return hl > 0.6 && hl > 50.0 * change;
}

/* One step of h from x at t, where the rates are the first n of k; to `next`. */
static inline int fit_ode_explicit(struct fit_ode *o, double t, double h, const double *x, double *next)
{
    fit_ode_stages(o, t, h, x);
    fit_ode_sums(o, FIT_ODE_STAGES, fit_ode_e5, o->error5);
    fit_ode_sums(o, FIT_ODE_STAGES, fit_ode_e3, o->error3);
    fit_ode_sums(o, FIT_ODE_STAGES, fit_ode_b, next);
    for (size_t i = 0; i < o->n; i++)
        next[i] = x[i] + h * next[i];
    o->error = fit_ode_explicit_error(o, h, x);
    o->slope_error = 0.0;
    for (size_t s = 0; s < o->nslope && o->n > o->nvalue; s++)
        for (size_t q = 0; q < o->nvalue; q++) {
            const size_t i = o->slope[s * o->nvalue + q];
            const double size = i ? FIT_ODE_SLOPES * fit_ode_slope_size(o, s, q, x, next) : 0.0;
            const double e = i ? fit_ode_error_of(o, h, i, size) : 0.0;
            o->slope_error = e <= o->slope_error ? o->slope_error : e; /* NaN as well */
        }
    return 1;
}

#endif
