/* fit/ode.h -- initial value problems x' = f(t, x) in emitted kernels, with what is carried beside them.
 *
 * The first numbers of x are values, which alone determine the steps; the others, their derivatives by parameters, go
 * along in the same steps.  So values have the same bits with and without derivatives, and derivatives are those of the
 * steps that were made (internal differentiation; Bock 1981): least squares see a smooth function.  Where a step is too
 * long for the derivatives, they alone go through it in shorter ones.
 *
 * Steps are explicit (fit/ode_explicit.h) until stability and not accuracy keeps them short; from there on, or from the
 * beginning when that is asked for, they are implicit (fit/ode_implicit.h).
 */
#ifndef FIT_ODE_H
#define FIT_ODE_H

#include "fit/ode_explicit.h"
#include "fit/ode_implicit.h"

enum { FIT_ODE_MOST_STEPS = 200000, FIT_ODE_MOST_INNER = 64, FIT_ODE_HURRIED = 30, FIT_ODE_CALM = 6 };

/* A first step from t: a hundredth of the time in which the values change by their size, and not lost beside t. */
static inline double fit_ode_first_step(const struct fit_ode *o, double t, double span, const double *x,
                                        const double *dx)
{
    const double least = 1e-12 * fabs(t) < span ? 1e-12 * fabs(t) : span;
    double h = span;
    for (size_t i = 0; i < o->nvalue; i++) {
        const double size = fit_ode_size(o, i, x, 0.0);
        if (dx[i] != 0.0 && size > 0.0 && 0.01 * size / fabs(dx[i]) < h)
            h = 0.01 * size / fabs(dx[i]);
    }
    return h > least ? h : least;
}

/* A column at a time between the rows `last` and `row`: on the straight line between them. */
static inline double fit_ode_between(const double *column, const double *times, size_t last, size_t row, double time)
{
    const double span = times[row] - times[last];
    return span > 0.0 ? column[last] + (column[row] - column[last]) * ((time - times[last]) / span) : column[row];
}

/* At the beginning again. */
static inline void fit_ode_begin(struct fit_ode *o, int implicit, const double *start, double *x)
{
    fit_ode_rooms(o);
    for (size_t i = 0; i < o->n; i++) {
        x[i] = start[i];
        o->top[i] = 0.0;
    }
    for (size_t i = 0; i < FIT_ODE_STAGES * o->row; i++)
        o->k[i] = 0.0;
    o->step = o->past = 0.0;
    o->inside = 0;
    o->implicit = implicit;
    o->hurried = o->calm = 0;
}

static inline int fit_ode_one(struct fit_ode *o, double t, double h, const double *x, double *next)
{
    return o->implicit ? fit_ode_implicit(o, t, h, x, next) : fit_ode_explicit(o, t, h, x, next);
}

/* Derivatives of a step that is too long for them, by `parts` shorter ones: those of `next`.  0: they fail, or are too
 * long. */
static inline int fit_ode_parts(struct fit_ode *o, double t, double h, size_t parts, const double *x, double *next)
{
    const double part = h / (double)parts;
    double *from = o->inner, *to = from + o->row, worst = 0.0;
    for (size_t i = 0; i < o->n; i++)
        from[i] = x[i];
    for (size_t p = 0; p < parts; p++) {
        const double at = t + (double)p * part;
        o->rates(o->context, at, from, o->k);
        if (!fit_ode_one(o, at, part, from, to) || !isfinite(o->slope_error))
            return 0;
        worst = o->slope_error <= worst ? worst : o->slope_error;
        for (size_t i = 0; i < o->n; i++)
            from[i] = to[i];
    }
    for (size_t i = o->nvalue; i < o->n; i++)
        next[i] = from[i];
    return worst <= 1.0;
}

/* Derivatives as sharp as values: in so many parts as their error tells, and in more when these do not do. */
static inline void fit_ode_sharpen(struct fit_ode *o, double t, double h, const double *x, double *next)
{
    const double error = o->error, wanted = ceil(1.1 * pow(o->slope_error, o->implicit ? 1.0 / 6.0 : 0.125));
    size_t parts = wanted < FIT_ODE_MOST_INNER ? (size_t)wanted : FIT_ODE_MOST_INNER;
    o->inside = 1;
    for (parts = parts < 2 ? 2 : parts; !fit_ode_parts(o, t, h, parts, x, next) && parts < FIT_ODE_MOST_INNER;)
        parts *= 2;
    o->inside = 0;
    o->error = error;
}

/* Whether steps have been kept short by stability for some time; behind a step from x to `next`, where the rates are f.
 */
static inline int fit_ode_watch(struct fit_ode *o, double h, const double *x, const double *next, const double *f)
{
    const int hurried = fit_ode_hurries(o, h, x, next, f);
    o->hurried += hurried;
    o->calm = hurried ? 0 : o->calm + 1;
    if (o->calm == FIT_ODE_CALM)
        o->hurried = 0;
    return o->hurried >= FIT_ODE_HURRIED;
}

/* The factor by which the next step may be longer. */
static inline double fit_ode_growth(const struct fit_ode *o)
{
    const double factor = o->error > 0.0 ? 0.9 * pow(o->error, o->implicit ? -1.0 / 6.0 : -0.125) : 6.0;
    return factor < 6.0 ? factor : 6.0;
}

/* What a step has come to: x <- next, and the rates there. */
static inline void fit_ode_accept(struct fit_ode *o, double t, double h, double to, double *x)
{
    const int coarse = o->slope_error > 1.0;
    int implicit = o->implicit;
    if (!implicit) {
        o->values(o->context, to, o->next, o->inner);
        implicit = fit_ode_watch(o, h, x, o->next, o->inner);
    }
    if (coarse)
        fit_ode_sharpen(o, t, h, x, o->next);
    o->implicit = implicit;
    for (size_t i = 0; i < o->n; i++)
        x[i] = o->next[i];
    o->rates(o->context, to, x, o->k);
}

/* From time t to `end`, x in place.  0: it is not finite, or takes too many steps. */
static inline int fit_ode_to(struct fit_ode *o, double t, double end, double *x)
{
    const double way = end < t ? -1.0 : 1.0;
    int rejected = 0;
    if (t != end)
        o->rates(o->context, t, x, o->k);
    for (size_t steps = 0; t != end; steps++) {
        if (steps == FIT_ODE_MOST_STEPS || !isfinite(end))
            return 0;
        for (size_t i = 0; i < o->n; i++)
            o->top[i] = fabs(x[i]) > o->top[i] ? fabs(x[i]) : o->top[i];
        if (!(o->step > 0.0))
            o->step = fit_ode_first_step(o, t, fabs(end - t), x, o->k);
        const int last = o->step >= fabs(end - t);
        const double h = last ? end - t : way * o->step;
        if (t + h == t || !isfinite(h))
            return 0;
        const int reached = fit_ode_one(o, t, h, x, o->next);
        double factor = fit_ode_growth(o);
        if (!reached || !(o->error < 1.0)) { /* also NaN */
            o->step = fabs(h) * (reached && factor > 0.2 && isfinite(o->error) ? factor : 0.2);
            rejected = 1;
            continue;
        }
        factor = rejected && factor > 1.0 ? 1.0 : factor;
        if (!last || fabs(h) * factor > o->step || factor < 1.0) /* a step cut short by the end says little */
            o->step = fabs(h) * factor;
        fit_ode_accept(o, t, h, last ? end : t + h, x);
        t = last ? end : t + h;
        rejected = 0;
    }
    return 1;
}

#endif
