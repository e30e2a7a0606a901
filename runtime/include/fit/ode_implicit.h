/* fit/ode_implicit.h -- a step of Radau's method of 5 points and order 9 (IIA; Ehle 1969, Axelsson 1969; Hairer and
 * Wanner, Solving Ordinary Differential Equations II, 1996, sections IV.5 and IV.8) for stiff problems: it dies out as
 * fast as the solution does, whatever the step.
 *
 *     z_i = h sum_j a_ij f(t + c_j h, x + z_j),   x(t + h) = x + z_5,
 *
 * by Newton's method with the Jacobian of every point.  The derivatives of the same step solve linear equations of the
 * matrix that Newton's method ends with, and so are exactly those of the discrete solution.
 *
 * The error is that of a formula of order 5 with one more point at the beginning of the step,
 *
 *     e = (1 - h g df/dx)^-1 h (g f(t, x) + sum_j e_j f_j)
 *
 * (equation IV.8.19); of order 6 in h, where the step has 10.  What is allowed of e is therefore a power of the
 * tolerance, 0.1 tolerance^(6/10), as in the authors' program RADAU.
 */
#ifndef FIT_ODE_IMPLICIT_H
#define FIT_ODE_IMPLICIT_H

#include "fit/ode_problem.h"

enum { FIT_ODE_NEWTON = 12 }; /* iterations at most */
#define FIT_ODE_FAST 0.03 /* a correction over the one before it: another matrix would not be worth its price */

static const double fit_radau_c[FIT_ODE_POINTS] = {0.05710419611451768, 0.2768430136381238, 0.5835904323689168,
                                                   0.8602401356562195, 1.0};
static const double fit_radau_a[FIT_ODE_POINTS][FIT_ODE_POINTS] = {
    {0.07299886431790333, -0.02673533110794557, 0.018676929763984353, -0.01287910609330644, 0.005042839233882015},
    {0.15377523147918246, 0.14621486784749352, -0.03644456890512809, 0.02123306311930472, -0.007935579902728777},
    {0.14006304568480987, 0.29896712949128346, 0.16758507013524895, -0.03396910168661774, 0.010944288744192253},
    {0.14489430810953477, 0.2765000687601592, 0.32579792291042103, 0.12875675325490976, -0.015708917378805327},
    {0.14371356079122594, 0.28135601514946207, 0.31182652297574126, 0.22310390108357075, 0.04}};
static const double fit_radau_gamma = 0.15906584442746913; /* the real eigenvalue of a */
static const double fit_radau_e[FIT_ODE_POINTS] = {-0.2523433122495464, 0.16035712210296996, -0.11627313434096281,
                                                   0.08100664894556402, -0.03181316888549383};

/* a <- L U of n x n, rows exchanged as pivot tells. */
static inline void fit_ode_lu(size_t n, double *a, double *pivot)
{
    for (size_t i = 0; i < n; i++) {
        size_t best = i;
        for (size_t r = i + 1; r < n; r++)
            best = fabs(a[r * n + i]) > fabs(a[best * n + i]) ? r : best;
        pivot[i] = (double)best;
        for (size_t c = 0; c < n && best != i; c++) {
            const double swap = a[i * n + c];
            a[i * n + c] = a[best * n + c];
            a[best * n + c] = swap;
        }
        for (size_t r = i + 1; r < n; r++) {
            if (a[r * n + i] == 0.0)
                continue;
            const double by = a[r * n + i] /= a[i * n + i];
            for (size_t c = i + 1; c < n; c++)
                a[r * n + c] -= by * a[i * n + c];
        }
    }
}

/* b <- a^-1 b */
static inline void fit_ode_lu_solve(size_t n, const double *a, const double *pivot, double *b)
{
    for (size_t i = 0; i < n; i++) {
        const size_t other = (size_t)pivot[i];
        const double swap = b[i];
        b[i] = b[other];
        b[other] = swap;
    }
    for (size_t i = 1; i < n; i++)
        for (size_t c = 0; c < i; c++)
            b[i] -= a[i * n + c] * b[c];
    for (size_t i = n; i-- > 0;) {
        for (size_t c = i + 1; c < n; c++)
            b[i] -= a[i * n + c] * b[c];
        b[i] /= a[i * n + i];
    }
}

/* What the points are where the last step's polynomial goes on; 0 where there was none, and in parts of a step, of
 * which the values must not know. */
static inline void fit_radau_predict(struct fit_ode *o, double h)
{
    const size_t nv = o->nvalue;
    const int known = o->past != 0.0 && !o->inside;
    double node[FIT_ODE_POINTS + 1] = {0.0};
    for (size_t j = 0; j < FIT_ODE_POINTS; j++)
        node[j + 1] = fit_radau_c[j];
    for (size_t p = 0; p < FIT_ODE_POINTS; p++)
        for (size_t i = 0; i < nv; i++)
            o->guess[p * nv + i] = known ? -o->z[(FIT_ODE_POINTS - 1) * nv + i] : 0.0;
    for (size_t p = 0; p < FIT_ODE_POINTS && known; p++)
        for (size_t j = 1; j <= FIT_ODE_POINTS; j++) {
            const double at = 1.0 + fit_radau_c[p] * h / o->past;
            double weight = 1.0;
            for (size_t m = 0; m <= FIT_ODE_POINTS; m++)
                weight *= m == j ? 1.0 : (at - node[m]) / (node[j] - node[m]);
            for (size_t i = 0; i < nv; i++)
                o->guess[p * nv + i] += weight * o->z[(j - 1) * nv + i];
        }
}

/* matrix <- L U of 1 - h a x df at the points x + z. */
static inline void fit_radau_matrix(struct fit_ode *o, double t, double h, const double *x, const double *z)
{
    const size_t nv = o->nvalue, m = FIT_ODE_POINTS * nv;
    for (size_t j = 0; j < FIT_ODE_POINTS; j++) {
        for (size_t i = 0; i < nv; i++)
            o->y[i] = x[i] + z[j * nv + i];
        o->jacobian(o->context, t + fit_radau_c[j] * h, o->y, o->df);
        for (size_t p = 0; p < FIT_ODE_POINTS; p++)
            for (size_t r = 0; r < nv; r++)
                for (size_t c = 0; c < nv; c++)
                    o->matrix[(p * nv + r) * m + j * nv + c] =
                        (p == j && r == c ? 1.0 : 0.0) - h * fit_radau_a[p][j] * o->df[r * nv + c];
    }
    fit_ode_lu(m, o->matrix, o->pivot);
}

/* f at the points; r <- h a f - z. */
static inline void fit_radau_residual(struct fit_ode *o, double t, double h, const double *x, const double *z,
                                      double *r)
{
    const size_t nv = o->nvalue;
    for (size_t j = 0; j < FIT_ODE_POINTS; j++) {
        for (size_t i = 0; i < nv; i++)
            o->y[i] = x[i] + z[j * nv + i];
        o->values(o->context, t + fit_radau_c[j] * h, o->y, o->f + j * nv);
    }
    for (size_t p = 0; p < FIT_ODE_POINTS; p++)
        for (size_t i = 0; i < nv; i++) {
            double sum = 0.0;
            for (size_t j = 0; j < FIT_ODE_POINTS; j++)
                sum += fit_radau_a[p][j] * o->f[j * nv + i];
            r[p * nv + i] = h * sum - z[p * nv + i];
        }
}

/* The largest correction of a point over what is allowed of the value. */
static inline double fit_radau_change(const struct fit_ode *o, const double *x, const double *z, const double *d)
{
    double most = 0.0;
    for (size_t p = 0; p < FIT_ODE_POINTS; p++)
        for (size_t i = 0; i < o->nvalue; i++) {
            const size_t at = p * o->nvalue + i;
            const double change = fabs(d[at]) / (o->tolerance * fit_ode_size(o, i, x, z[at]) + 1e-300);
            most = change <= most ? most : change; /* NaN as well */
        }
    return most;
}

/* Newton's method from the points z on: 1 when what is missing is a thousandth of what is allowed, or as small as
 * rounding lets it be.  A matrix is kept while corrections shrink fast. */
static inline int fit_radau_newton(struct fit_ode *o, double t, double h, const double *x, double *z, double *r)
{
    const size_t m = FIT_ODE_POINTS * o->nvalue;
    double last = HUGE_VAL, rate = 1.0;
    for (int turn = 0; turn < FIT_ODE_NEWTON; turn++) {
        fit_radau_residual(o, t, h, x, z, r);
        if (turn == 0 || (last > 1e-3 && rate > FIT_ODE_FAST))
            fit_radau_matrix(o, t, h, x, z);
        fit_ode_lu_solve(m, o->matrix, o->pivot, r);
        const double change = fit_radau_change(o, x, z, r);
        if (!(change < HUGE_VAL) || (turn > 2 && change > 0.5 * last && change > 0.1))
            return 0;
        for (size_t i = 0; i < m; i++)
            z[i] += r[i];
        rate = turn > 0 ? change / last : 0.0;
        if (change < 1e-3 || (turn > 0 && rate < 0.5 && change * rate < 1e-3) ||
            (turn > 1 && change < 0.1 && change > 0.5 * last))
            return 1;
        last = change;
    }
    return 0;
}

/* e of numbers of a step, at[0 .. nvalue - 1] in x and in rates: first at its beginning, then at its points. */
static inline void fit_radau_error(const struct fit_ode *o, double h, const double *first, const double *f, double *e)
{
    const size_t nv = o->nvalue;
    for (size_t i = 0; i < nv; i++) {
        double sum = fit_radau_gamma * first[i];
        for (size_t j = 0; j < FIT_ODE_POINTS; j++)
            sum += fit_radau_e[j] * f[j * nv + i];
        e[i] = h * sum;
    }
    fit_ode_lu_solve(nv, o->small, o->small_pivot, e);
}

/* small <- L U of 1 - h g df at the beginning. */
static inline void fit_radau_filter(struct fit_ode *o, double t, double h, const double *x)
{
    const size_t nv = o->nvalue;
    o->jacobian(o->context, t, x, o->small);
    for (size_t i = 0; i < nv * nv; i++)
        o->small[i] = (i % (nv + 1) == 0 ? 1.0 : 0.0) - h * fit_radau_gamma * o->small[i];
    fit_ode_lu(nv, o->small, o->small_pivot);
}

static inline double fit_radau_allowed(double tolerance)
{
    return 0.1 * pow(tolerance, 0.6);
}

/* The rates of all numbers at the points, where derivatives are those at the beginning and w: k[1 ..]. */
static inline void fit_radau_slope_rates(struct fit_ode *o, double t, double h, const double *x, const double *z,
                                         const double *w)
{
    const size_t nv = o->nvalue;
    for (size_t j = 0; j < FIT_ODE_POINTS; j++) {
        for (size_t i = 0; i < nv; i++)
            o->y[i] = x[i] + z[j * nv + i];
        for (size_t i = nv; i < o->n; i++)
            o->y[i] = x[i] + (w ? w[j * o->n + i] : 0.0);
        o->rates(o->context, t + fit_radau_c[j] * h, o->y, o->k + (1 + j) * o->n);
    }
}

/* w <- w + what is missing in w = h a f, for the derivatives by one parameter at the places `at`. */
static inline void fit_radau_correct(struct fit_ode *o, double h, const unsigned *at, double *w, double *r)
{
    const size_t nv = o->nvalue;
    for (size_t p = 0; p < FIT_ODE_POINTS; p++)
        for (size_t i = 0; i < nv; i++) {
            double sum = 0.0;
            for (size_t j = 0; at[i] && j < FIT_ODE_POINTS; j++)
                sum += fit_radau_a[p][j] * o->k[(1 + j) * o->n + at[i]];
            r[p * nv + i] = at[i] ? h * sum - w[p * o->n + at[i]] : 0.0;
        }
    fit_ode_lu_solve(FIT_ODE_POINTS * nv, o->matrix, o->pivot, r);
    for (size_t p = 0; p < FIT_ODE_POINTS; p++)
        for (size_t i = 0; i < nv; i++)
            if (at[i])
                w[p * o->n + at[i]] += r[p * nv + i];
}

/* Derivatives at the end of a step whose points are x + z; their error. */
static inline void fit_radau_slopes(struct fit_ode *o, double t, double h, const double *x, const double *z,
                                    double *next)
{
    const size_t nv = o->nvalue;
    double *w = o->k + (1 + FIT_ODE_POINTS) * o->n, *f = o->residual, *first = f + FIT_ODE_POINTS * nv, *e = first + nv;
    const double allowed = fit_radau_allowed(FIT_ODE_SLOPES * o->tolerance);
    for (size_t i = 0; i < FIT_ODE_POINTS * o->n; i++)
        w[i] = 0.0;
    fit_radau_matrix(o, t, h, x, z);
    for (int turn = 0; turn < 2; turn++) { /* the second one mends rounding */
        fit_radau_slope_rates(o, t, h, x, z, w);
        for (size_t s = 0; s < o->nslope; s++)
            fit_radau_correct(o, h, o->slope + s * nv, w, f);
    }
    for (size_t i = nv; i < o->n; i++)
        next[i] = x[i] + w[(FIT_ODE_POINTS - 1) * o->n + i];
    for (size_t s = 0; s < o->nslope; s++) {
        const unsigned *at = o->slope + s * nv;
        for (size_t i = 0; i < nv; i++) {
            first[i] = at[i] ? o->k[at[i]] : 0.0;
            for (size_t j = 0; j < FIT_ODE_POINTS; j++)
                f[j * nv + i] = at[i] ? o->k[(1 + j) * o->n + at[i]] : 0.0;
        }
        fit_radau_error(o, h, first, f, e);
        for (size_t i = 0; i < nv; i++) {
            const double size = at[i] ? fit_ode_slope_size(o, s, i, x, next) : 0.0;
            const double error = at[i] ? fabs(e[i]) / (allowed * size + 1e-300) : 0.0;
            o->slope_error = error <= o->slope_error ? o->slope_error : error;
        }
    }
}

/* One step of h from x at t, where the rates of the values are the first of k; to `next`.  0: Newton's method fails. */
static inline int fit_ode_implicit(struct fit_ode *o, double t, double h, const double *x, double *next)
{
    const size_t nv = o->nvalue, m = FIT_ODE_POINTS * nv;
    double *z = o->guess, *e = o->y, sum = 0.0;
    fit_radau_predict(o, h);
    if (!fit_radau_newton(o, t, h, x, z, o->residual))
        return 0;
    for (size_t i = 0; i < nv; i++)
        next[i] = x[i] + z[m - nv + i];
    fit_radau_filter(o, t, h, x);
    fit_radau_error(o, h, o->k, o->f, e);
    for (size_t i = 0; i < nv; i++) {
        const double error = e[i] / (fit_radau_allowed(o->tolerance) * fit_ode_size(o, i, x, next[i] - x[i]) + 1e-300);
        sum += error * error;
    }
    o->error = sqrt(sum / (double)nv);
    o->slope_error = 0.0;
    if (!(o->error < 1.0))
        return 1;
    if (o->n > nv)
        fit_radau_slopes(o, t, h, x, z, next);
    for (size_t i = 0; i < m && !o->inside; i++)
        o->z[i] = z[i];
    o->past = o->inside ? o->past : h;
    return 1;
}

#endif
