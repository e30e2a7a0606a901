/* fit/ode_problem.h -- an initial value problem x' = f(t, x) as the solver of fit/ode.h sees it, with what is carried
 * beside the values, and by what its errors are measured.
 */
#ifndef FIT_ODE_PROBLEM_H
#define FIT_ODE_PROBLEM_H

#include <math.h>
#include <stddef.h>

#define FIT_ODE_STAGES 12 /* of the explicit method */
#define FIT_ODE_POINTS 5  /* of the implicit one */

/* What is allowed of the error of derivatives beside that of values.  Theirs is larger by the order of the method where
 * all is well; to make them equally small costs more than to make both smaller. */
#define FIT_ODE_SLOPES 100.0

/* numbers that are summed side by side, and how many places a row of n of them has */
#define FIT_ODE_SIDE 4
#define FIT_ODE_ROW(n) (((n) + FIT_ODE_SIDE - 1) / FIT_ODE_SIDE * FIT_ODE_SIDE)

/* doubles of `work` for n numbers, nv of them values */
#define FIT_ODE_WORK(nv, n)                                                                                            \
    ((FIT_ODE_STAGES + 6) * FIT_ODE_ROW(n) + FIT_ODE_POINTS * (nv) * (FIT_ODE_POINTS * (nv) + 5) +                     \
     (nv) * (2 * (nv) + 4))

/* dx <- f(t, x) */
typedef void fit_rates(const void *context, double t, const double *x, double *dx);
/* df[i * nvalue + j] <- d f_i / d x_j, of values */
typedef void fit_ode_jacobian(const void *context, double t, const double *x, double *df);

struct fit_ode {
    fit_rates *rates, *values; /* of all numbers; of the values alone */
    fit_ode_jacobian *jacobian;
    const void *context;
    size_t nvalue, n;      /* values; all numbers */
    const unsigned *slope; /* nslope x nvalue: where the derivative of each value by one parameter is; 0: it is none */
    size_t nslope;
    const unsigned *parameter; /* nslope: which one of theta that is */
    const double *theta;
    double tolerance; /* of a step: relative to a value (fit_ode_size) */
    double *top;      /* n: the largest |number| so far */
    double *work;     /* FIT_ODE_WORK(nvalue, n) */

    /* the solver's own */
    double step;                  /* that the last one suggests; 0: none yet */
    int implicit;                 /* 1: by the implicit method from here on */
    int hurried, calm;            /* steps kept short by stability, and others behind them */
    double error, slope_error;    /* of the last step over what is allowed */
    double past;                  /* length of the last implicit step, whose points are in z; 0: none */
    int inside;                   /* 1: in a part of a step */
    size_t row;                   /* places of the n numbers of a stage; those beyond n are 0 */
    double *k, *y, *next, *inner; /* parts of work: stages; the last one; ends of steps, of parts of a step */
    double *error5, *error3;      /* sums of both estimates of the error, by their orders */
    double *z, *f, *guess, *residual, *matrix, *pivot, *small, *small_pivot, *df;
};

/* Where the parts of work are. */
static inline void fit_ode_rooms(struct fit_ode *o)
{
    const size_t row = FIT_ODE_ROW(o->n), nv = o->nvalue, m = FIT_ODE_POINTS * nv;
    o->row = row;
    o->k = o->work;
    o->y = o->k + FIT_ODE_STAGES * row;
    o->next = o->y + row;
    o->inner = o->next + row;
    o->error5 = o->inner + 2 * row;
    o->error3 = o->error5 + row;
    o->z = o->error3 + row;
    o->f = o->z + m;
    o->guess = o->f + m;
    o->residual = o->guess + m;
    o->pivot = o->residual + m + 2 * nv;
    o->matrix = o->pivot + m;
    o->small = o->matrix + m * m;
    o->small_pivot = o->small + nv * nv;
    o->df = o->small_pivot + 2 * nv;
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

/* The same of the derivative of value q at place i by parameter number s, which begins at 0 mostly: the greater of both
 * ends counts, and a thousandth of the value for a change of the parameter by itself. */
static inline double fit_ode_slope_size(const struct fit_ode *o, size_t s, size_t q, const double *x,
                                        const double *next)
{
    const size_t i = o->slope[s * o->nvalue + q];
    const double theta = fabs(o->theta[o->parameter[s]]),
                 least = theta > 0.0 ? 1e-3 * fit_ode_size(o, q, x, 0.0) / theta : 0.0;
    double size = fabs(x[i]) > 1e-9 * o->top[i] ? fabs(x[i]) : 1e-9 * o->top[i];
    size = fabs(next[i]) > size ? fabs(next[i]) : size;
    size = fabs(next[i] - x[i]) > size ? fabs(next[i] - x[i]) : size;
    return least > size ? least : size;
}

#endif
