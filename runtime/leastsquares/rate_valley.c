/* rate_valley.c -- see rate_valley.h. For any model the geodesic acceleration of Transtrum & Sethna (arXiv:1201.5885,
 * 2012) gives a step that follows a curved valley to second order; here the curve is known in closed form.
 */
#include "leastsquares/rate_valley.h"

#include <math.h>

/* The two times, as fractions of the measurement, and the one used where only one of A and C can follow. */
static const double PART[2] = {0.1, 0.7}, ONE_PART = 0.4;

/* The factor of the amplitude at time t (in units of the rate), and the derivative of its logarithm with respect to the
 * exponent.
 */
struct shape {
    double value, slope;
};

static struct shape shape_at(const struct fit_rate *r, const double *x, double t)
{
    double at = r->kind == FIT_RATE_EXPONENTIAL ? t - (r->shift >= 0 ? x[r->shift] : 0) : log(t);
    return (struct shape){exp(x[r->exponent] * at), at};
}

/* A time of the measurement in the unit of the rate. */
static double time_at(const struct fit_rate *r, const struct fit_layout *l, double part)
{
    double first = l->time[0], last = l->time[l->ntime - 1];
    return (first + part * (last - first)) / r->time;
}

static double held(double x, double lower, double upper)
{
    return fmin(fmax(x, lower), upper);
}

static int strictly_inside(double x, double lower, double upper)
{
    return x > lower && x < upper;
}

/* The rate at time t that the step from x to trial predicts to first order. */
static double promised(const struct fit_rate *r, double t, const double *x, const double *trial)
{
    struct shape s = shape_at(r, x, t);
    double change = s.slope * (trial[r->exponent] - x[r->exponent]);
    if (r->shift >= 0)
        change -= x[r->exponent] * (trial[r->shift] - x[r->shift]);
    return (trial[r->amplitude] + x[r->amplitude] * change) * s.value + trial[r->offset];
}

/* Do the times have logarithms? */
static int has_times(const struct fit_rate *r, const struct fit_layout *l)
{
    return r->kind == FIT_RATE_EXPONENTIAL || time_at(r, l, PART[0]) > 0;
}

/* A and C for which the rate has these values at both times. */
static void solve(const double *factor, const double *value, double *amplitude, double *offset)
{
    *amplitude = (value[1] - value[0]) / (factor[1] - factor[0]);
    *offset = value[0] - *amplitude * factor[0];
}

static void bend_one(const struct fit_rate *r, const struct fit_layout *l, const double *lower, const double *upper,
                     const double *x, double *trial)
{
    size_t a = r->amplitude, c = r->offset;
    double value[2], factor[2], amplitude = trial[a], offset = trial[c];
    int move_a = strictly_inside(trial[a], lower[a], upper[a]), move_c = strictly_inside(trial[c], lower[c], upper[c]);
    int bends = trial[r->exponent] != x[r->exponent] || (r->shift >= 0 && trial[r->shift] != x[r->shift]);
    if (!bends || (!move_a && !move_c) || !has_times(r, l))
        return;
    if (move_a && move_c) {
        for (int k = 0; k < 2; k++) {
            double t = time_at(r, l, PART[k]);
            value[k] = promised(r, t, x, trial);
            factor[k] = shape_at(r, trial, t).value;
        }
        solve(factor, value, &amplitude, &offset);
    } else {
        double t = time_at(r, l, ONE_PART), rate = promised(r, t, x, trial), f = shape_at(r, trial, t).value;
        if (move_a)
            amplitude = (rate - offset) / f;
        else
            offset = rate - amplitude * f;
    }
    if ((move_a && !strictly_inside(amplitude, lower[a], upper[a])) ||
        (move_c && !strictly_inside(offset, lower[c], upper[c])))
        return;
    trial[a] = amplitude;
    trial[c] = offset;
}

void fit_valley_bend(const struct fit_kernel *kernel, const struct fit_layout *l, const double *lower,
                     const double *upper, const double *x, double *trial)
{
    for (size_t k = 0; kernel->space == FIT_PAIRS && k < kernel->nrate; k++)
        bend_one(&kernel->rate[k], l, lower, upper, x, trial);
}

/* The exponent with which amplitude A makes the rate change by `change` between both times; NaN when there is none.
 * By Newton's method: near E = 0 the change is A E times a constant. */
static double exponent_for(const struct fit_rate *r, const double *trial, const double *t, double A, double change,
                           double exponent)
{
    double x[2] = {shape_at(r, trial, t[0]).slope, shape_at(r, trial, t[1]).slope};
    for (int turn = 0; turn < 40; turn++) {
        double f[2] = {exp(exponent * x[0]), exp(exponent * x[1])};
        double step = (A * (f[1] - f[0]) - change) / (A * (x[1] * f[1] - x[0] * f[0]));
        exponent -= step;
        if (!isfinite(exponent) || fabs(step) <= 1e-12 * fabs(exponent))
            return exponent;
    }
    return NAN;
}

/* Amplitude, exponent and offset of trial for which the rate has both values; trial[which] is kept. */
static void pass_through(const struct fit_rate *r, const double *t, const double *value, const double *lower,
                         const double *upper, size_t which, double guess, double *trial)
{
    size_t a = r->amplitude, e = r->exponent, c = r->offset;
    double A = trial[a], E = trial[e], C = trial[c], before = trial[e], factor[2];
    if (which == a)
        E = exponent_for(r, trial, t, A, value[1] - value[0], guess);
    else if (which == c)
        E = log((value[1] - C) / (value[0] - C)) / (shape_at(r, trial, t[1]).slope - shape_at(r, trial, t[0]).slope);
    trial[e] = E;
    for (int k = 0; k < 2; k++)
        factor[k] = shape_at(r, trial, t[k]).value;
    trial[e] = before;
    if (which == e)
        solve(factor, value, &A, &C);
    else if (which == a)
        C = value[0] - A * factor[0];
    else
        A = (value[0] - C) / factor[0];
    if ((which != a && !strictly_inside(A, lower[a], upper[a])) ||
        (which != e && !strictly_inside(E, lower[e], upper[e])) ||
        (which != c && !strictly_inside(C, lower[c], upper[c])))
        return;
    trial[a] = A;
    trial[e] = E;
    trial[c] = C;
}

/* Does parameter `which` belong to a rate whose three parameters can vary? */
static int is_of(const struct fit_rate *r, const struct fit_layout *l, const double *lower, const double *upper,
                 size_t which)
{
    return (which == r->amplitude || which == r->exponent || which == r->offset) && has_times(r, l) &&
           upper[r->amplitude] > lower[r->amplitude] && upper[r->exponent] > lower[r->exponent] &&
           upper[r->offset] > lower[r->offset];
}

void fit_valley_hold(const struct fit_kernel *kernel, const struct fit_layout *l, const double *lower,
                     const double *upper, const double *x, size_t which, double *trial)
{
    for (size_t k = 0; kernel->space == FIT_PAIRS && k < kernel->nrate; k++) {
        const struct fit_rate *r = &kernel->rate[k];
        double t[2], value[2];
        if (!is_of(r, l, lower, upper, which))
            continue;
        for (int i = 0; i < 2; i++) {
            t[i] = time_at(r, l, PART[i]);
            value[i] = promised(r, t[i], x, trial);
        }
        pass_through(r, t, value, lower, upper, which, x[r->exponent] * x[r->amplitude] / trial[r->amplitude], trial);
    }
}

/* Amplitude and offset of trial for which the rate has both values with the present exponent. */
static void meet(const struct fit_rate *r, const double *t, const double *value, const double *lower,
                 const double *upper, double *trial)
{
    const size_t a = r->amplitude, c = r->offset;
    double factor[2], A, C;
    for (int k = 0; k < 2; k++)
        factor[k] = shape_at(r, trial, t[k]).value;
    solve(factor, value, &A, &C);
    if (!strictly_inside(A, lower[a], upper[a]) || !strictly_inside(C, lower[c], upper[c]))
        return;
    trial[a] = A;
    trial[c] = C;
}

void fit_valley_mixed(const struct fit_kernel *kernel, const struct fit_layout *l, const double *lower,
                      const double *upper, struct fit_valley_mix mix, long which, double *trial)
{
    for (size_t k = 0; kernel->space == FIT_PAIRS && k < kernel->nrate; k++) {
        const struct fit_rate *r = &kernel->rate[k];
        double t[2], value[2] = {0, 0};
        const double *near = mix.point[0];
        if (!has_times(r, l))
            continue;
        for (int i = 0; i < 2; i++) {
            t[i] = time_at(r, l, PART[i]);
            for (size_t m = 0; m < mix.n; m++)
                value[i] += mix.weight[m] * promised(r, t[i], mix.point[m], mix.point[m]);
        }
        for (size_t m = 1; m < mix.n; m++)
            near = mix.weight[m] > 0.5 ? mix.point[m] : near;
        if (which >= 0 && is_of(r, l, lower, upper, (size_t)which))
            pass_through(r, t, value, lower, upper, (size_t)which,
                         near[r->exponent] * near[r->amplitude] / trial[r->amplitude], trial);
        else if ((long)r->amplitude != which && (long)r->offset != which)
            meet(r, t, value, lower, upper, trial);
    }
}

void fit_valley_values(const struct fit_rate *r, const struct fit_layout *l, const double *x, double value[2],
                       double all[2])
{
    for (int k = 0; k < 2; k++)
        value[k] = promised(r, time_at(r, l, PART[k]), x, x);
    double first = fmax(time_at(r, l, 0), l->step / r->time),
           last = time_at(r, l, 1); /* in between it has no extremum */
    double a = promised(r, first, x, x), b = promised(r, last, x, x);
    all[0] = fmax(a, b);
    all[1] = fmin(a, b);
}

int fit_valley_from(const struct fit_rate *r, const struct fit_layout *l, const double *lower, const double *upper,
                    const double value[2], double exponent, double *out)
{
    double factor[2], amplitude, offset;
    out[r->exponent] = exponent;
    for (int k = 0; k < 2; k++)
        factor[k] = shape_at(r, out, time_at(r, l, PART[k])).value;
    solve(factor, value, &amplitude, &offset);
    if (!isfinite(amplitude) || !isfinite(offset))
        return 0;
    out[r->amplitude] = held(amplitude, lower[r->amplitude], upper[r->amplitude]);
    offset = 0.5 * (value[0] + value[1] - out[r->amplitude] * (factor[0] + factor[1]));
    out[r->offset] = held(offset, lower[r->offset], upper[r->offset]);
    return 1;
}

int fit_valley_point(const struct fit_rate *r, const struct fit_layout *l, const double *lower, const double *upper,
                     const double *x, double exponent, double *out)
{
    double value[2], all[2];
    fit_valley_values(r, l, x, value, all);
    return fit_valley_from(r, l, lower, upper, value, exponent, out);
}
