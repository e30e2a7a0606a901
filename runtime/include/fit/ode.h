/* fit/ode.h -- initial value problems x' = f(t, x) in emitted kernels, with what is carried beside them.
 *
 * The explicit method of order 8 of Dormand and Prince with the error estimates of orders 5 and 3 (Hairer, Norsett and
 * Wanner, Solving Ordinary Differential Equations I, 1993, section II.10; coefficients as in their program DOP853).
 * The first numbers of x are values, which alone determine the steps; the others, their derivatives by parameters, go
 * along in the same steps.  So values have the same bits with and without derivatives, and derivatives are those of the
 * steps that were made (internal differentiation; Bock 1981): least squares see a smooth function.
 */
#ifndef FIT_ODE_H
#define FIT_ODE_H

#include <math.h>
#include <stddef.h>

#define FIT_ODE_STAGES 12
#define FIT_ODE_WORK(n) ((FIT_ODE_STAGES + 1) * (n)) /* doubles of `work` for n numbers */

enum { FIT_ODE_MOST_STEPS = 200000 };

/* dx <- f(t, x) */
typedef void fit_rates(const void *context, double t, const double *x, double *dx);

struct fit_ode {
    fit_rates *rates;
    const void *context;
    size_t nvalue, n;  /* values; all numbers */
    double tolerance;  /* of a step: relative to a value (fit_ode_size) */
    double step;       /* that the last one suggests; 0: none yet */
    double *top;       /* nvalue: the largest |value| so far */
    double *work;      /* FIT_ODE_WORK(n) */
};

static const double fit_ode_c[FIT_ODE_STAGES] = {
    0.0, 0.05260015195876773, 0.0789002279381516, 0.1183503419072274, 0.2816496580927726, 0.3333333333333333, 0.25,
    0.3076923076923077, 0.6512820512820513, 0.6, 0.8571428571428571, 1.0};
static const double fit_ode_b[FIT_ODE_STAGES] = {
    0.054293734116568765, 0.0, 0.0, 0.0, 0.0, 4.450312892752409, 1.8915178993145003, -5.801203960010585,
    0.3111643669578199, -0.1521609496625161, 0.20136540080403034, 0.04471061572777259};
static const double fit_ode_e5[FIT_ODE_STAGES] = {
    0.01312004499419488, 0.0, 0.0, 0.0, 0.0, -1.2251564463762044, -0.4957589496572502, 1.6643771824549864,
    -0.35032884874997366, 0.3341791187130175, 0.08192320648511571, -0.022355307863886294};
static const double fit_ode_e3[FIT_ODE_STAGES] = {
    -0.18980075407240762, 0.0, 0.0, 0.0, 0.0, 4.450312892752409, 1.8915178993145003, -5.801203960010585,
    -0.4226823213237919, -0.1521609496625161, 0.20136540080403034, 0.02265179219836082};
/* row by row below the diagonal */
static const double fit_ode_a[FIT_ODE_STAGES * (FIT_ODE_STAGES - 1) / 2] = {
    0.05260015195876773, 0.0197250569845379, 0.0591751709536137, 0.02958758547680685, 0.0, 0.08876275643042054,
    0.2413651341592667, 0.0, -0.8845494793282861, 0.924834003261792, 0.037037037037037035, 0.0, 0.0,
    0.17082860872947386, 0.12546768756682242, 0.037109375, 0.0, 0.0, 0.17025221101954405, 0.06021653898045596,
    -0.017578125, 0.03709200011850479, 0.0, 0.0, 0.17038392571223998, 0.10726203044637328, -0.015319437748624402,
    0.008273789163814023, 0.6241109587160757, 0.0, 0.0, -3.3608926294469414, -0.868219346841726, 27.59209969944671,
    20.154067550477894, -43.48988418106996, 0.47766253643826434, 0.0, 0.0, -2.4881146199716677, -0.590290826836843,
    21.230051448181193, 15.279233632882423, -33.28821096898486, -0.020331201708508627, -0.9371424300859873, 0.0,
    0.0, 5.186372428844064, 1.0914373489967295, -8.149787010746927, -18.52006565999696, 22.739487099350505,
    2.4936055526796523, -3.0467644718982196, 2.273310147516538, 0.0, 0.0, -10.53449546673725, -2.0008720582248625,
    -17.9589318631188, 27.94888452941996, -2.8589982771350235, -8.87285693353063, 12.360567175794303,
    0.6433927460157636};

/* The stages of a step: k[s n ...] <- f at stage s, the first one known; y: room for n numbers. */
static inline void fit_ode_stages(const struct fit_ode *o, double t, double h, const double *x, double *k, double *y)
{
    const double *a = fit_ode_a;
    for (size_t s = 1; s < FIT_ODE_STAGES; a += s, s++) {
        for (size_t i = 0; i < o->n; i++) {
            double sum = 0.0;
            for (size_t r = 0; r < s; r++)
                sum += a[r] * k[r * o->n + i];
            y[i] = x[i] + h * sum;
        }
        o->rates(o->context, t + fit_ode_c[s] * h, y, k + s * o->n);
    }
}

/* What the error of value i is compared with: the value; where it goes through 0 what it gains in the step; and a least
 * part of the largest value that it, or any other, has had. */
static inline double fit_ode_size(const struct fit_ode *o, size_t i, const double *x, double gain)
{
    double size = fabs(x[i]) > 1e-9 * o->top[i] ? fabs(x[i]) : 1e-9 * o->top[i];
    size = fabs(gain) > size ? fabs(gain) : size;
    for (size_t j = 0; j < o->nvalue; j++)
        size = 1e-12 * o->top[j] > size ? 1e-12 * o->top[j] : size;
    return size;
}

/* Error of the values of a step over what is allowed, in the mean (Hairer et al., section II.10). */
static inline double fit_ode_error(const struct fit_ode *o, double h, const double *x, const double *k)
{
    double five = 0.0, three = 0.0;
    for (size_t i = 0; i < o->nvalue; i++) {
        const double size = fit_ode_size(o, i, x, h * k[i]);
        double e5 = 0.0, e3 = 0.0;
        for (size_t s = 0; s < FIT_ODE_STAGES; s++) {
            e5 += fit_ode_e5[s] * k[s * o->n + i];
            e3 += fit_ode_e3[s] * k[s * o->n + i];
        }
        e5 /= o->tolerance * size + 1e-300;
        e3 /= o->tolerance * size + 1e-300;
        five += e5 * e5;
        three += e3 * e3;
    }
    if (five == 0.0 && three == 0.0)
        return 0.0;
    return fabs(h) * five / sqrt((five + 0.01 * three) * (double)o->nvalue);
}

/* A first step: a hundredth of the time in which the values change by their size. */
static inline double fit_ode_first_step(const struct fit_ode *o, double span, const double *x, const double *dx)
{
    double h = span;
    for (size_t i = 0; i < o->nvalue; i++) {
        const double size = fit_ode_size(o, i, x, 0.0);
        if (dx[i] != 0.0 && size > 0.0 && 0.01 * size / fabs(dx[i]) < h)
            h = 0.01 * size / fabs(dx[i]);
    }
    return h;
}

/* At the beginning again. */
static inline void fit_ode_begin(struct fit_ode *o, const double *start, double *x)
{
    for (size_t i = 0; i < o->n; i++)
        x[i] = start[i];
    for (size_t i = 0; i < o->nvalue; i++)
        o->top[i] = 0.0;
    o->step = 0.0;
}

/* From time t to `end`, x in place.  0: it is not finite, or takes too many steps. */
static inline int fit_ode_to(struct fit_ode *o, double t, double end, double *x)
{
    double *k = o->work, *y = k + FIT_ODE_STAGES * o->n;
    const double way = end < t ? -1.0 : 1.0;
    int known = 0, rejected = 0;
    for (size_t steps = 0; t != end; steps++) {
        if (steps == FIT_ODE_MOST_STEPS || !isfinite(end))
            return 0;
        for (size_t i = 0; i < o->nvalue; i++)
            o->top[i] = fabs(x[i]) > o->top[i] ? fabs(x[i]) : o->top[i];
        if (!known)
            o->rates(o->context, t, x, k);
        known = 1;
        if (!(o->step > 0.0))
            o->step = fit_ode_first_step(o, fabs(end - t), x, k);
        const int last = o->step >= fabs(end - t);
        const double h = last ? end - t : way * o->step;
        if (t + h == t || !isfinite(h))
            return 0;
        fit_ode_stages(o, t, h, x, k, y);
        const double error = fit_ode_error(o, h, x, k);
        double factor = error > 0.0 ? 0.9 * pow(error, -0.125) : 6.0;
        factor = factor < 6.0 ? factor : 6.0;
        if (!(error < 1.0)) { /* also NaN */
            o->step = fabs(h) * (factor > 0.2 ? factor : 0.2);
            rejected = 1;
            continue;
        }
        for (size_t i = 0; i < o->n; i++) {
            double sum = 0.0;
            for (size_t s = 0; s < FIT_ODE_STAGES; s++)
                sum += fit_ode_b[s] * k[s * o->n + i];
            x[i] += h * sum;
        }
        factor = rejected && factor > 1.0 ? 1.0 : factor;
        if (!last || fabs(h) * factor > o->step || factor < 1.0) /* a step cut short by the end says little */
            o->step = fabs(h) * factor;
        t = last ? end : t + h;
        known = rejected = 0;
    }
    return 1;
}

#endif
