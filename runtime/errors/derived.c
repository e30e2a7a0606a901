/* derived.c -- see derived.h. */
#include "errors/derived.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "errors/sandwich.h"
#include "math/special.h"


/* A relative component of a gradient outside the span of others below this is rounding. */
static const double OUTSIDE = 1e-6;

struct work {
    const struct fit_kernel *k;
    const struct fit_result *r;
    double *combined, *slope; /* combinations; their gradients */
    double *base;             /* of those of one degeneracy, made orthogonal; then one more row */
    const struct fit_layout *l;
    double *theta, *lin, *values, *gradient; /* of a look elsewhere */
};

enum fit_status fit_derived_values(const struct fit_kernel *kernel, const struct fit_layout *layout,
                                   struct fit_result *res, struct fit_error *err)
{
    const size_t n = kernel->nderived, p = res->nparam, q = res->nlinear;
    FIT_SCRATCH(a);
    double *value = fit_take(&a, n, sizeof *value), *slope = fit_take(&a, n * (p + q), sizeof *slope);
    if (a.failed)
        return fit_no_memory(err, "fit, derived quantities");
    for (size_t g = 0; n > 0 && g < res->ngroup; g++) {
        kernel->derive(layout, res->theta, res->lin, g, value, slope);
        for (size_t k = 0; k < res->nderived; k++) {
            struct fit_derived_value *d = &res->derived[k];
            if (d->group != (long)g && (d->group >= 0 || g > 0))
                continue;
            const double *from = slope + d->which * (p + q);
            d->value = value[d->which];
            memset(d->gradient, 0, res->nfull * sizeof *d->gradient);
            memcpy(d->gradient, from, p * sizeof *from);
            memcpy(d->gradient + p + g * q, from + p, q * sizeof *from);
        }
    }
    return FIT_OK;
}

/* ---- is it determined? ------------------------------------------------------------------------------------- */

/* Component of the gradient x along member i of a degeneracy. */
static double component(const struct work *w, const struct fit_degeneracy *d, size_t i, const double *x)
{
    return d->param[i] < w->r->nparam ? x[d->param[i]] : 0;
}

/* Removes from x (d->nparam numbers) its components along the rows of w->base, m of them, each of length 1; returns
 * what remains. */
static double take_off(const struct work *w, const struct fit_degeneracy *d, size_t m, double *x)
{
    double left = 0;
    for (size_t b = 0; b < m; b++) {
        const double *row = w->base + b * d->nparam;
        double t = 0;
        for (size_t i = 0; i < d->nparam; i++)
            t += row[i] * x[i];
        for (size_t i = 0; i < d->nparam; i++)
            x[i] -= t * row[i];
    }
    for (size_t i = 0; i < d->nparam; i++)
        left = hypot(left, x[i]);
    return left;
}

/* Is the gradient g with respect to the members of d in the span of those of the determined combinations? Each
 * member is measured in units of its own size, so that the answer does not depend on units. */
static int is_in_span(const struct work *w, const struct fit_degeneracy *d, const double *g)
{
    const struct fit_result *r = w->r;
    size_t m = 0;
    double whole = 0, left = 0;
    for (size_t c = 0; c <= d->ncombination; c++) {
        const double *from = c < d->ncombination ? w->slope + (d->first + c) * r->nparam : g;
        double *x = w->base + m * d->nparam, size = 0;
        for (size_t i = 0; i < d->nparam; i++) {
            const double unit = d->param[i] < r->nparam ? r->scale[d->param[i]] : 1;
            size = hypot(size, x[i] = component(w, d, i, from) / unit);
        }
        left = take_off(w, d, m, x);
        whole = size;
        if (c == d->ncombination || !(left > OUTSIDE * size))
            continue;
        for (size_t i = 0; i < d->nparam; i++)
            x[i] /= left;
        m++;
    }
    return left <= OUTSIDE * whole;
}

/* ---- errors ------------------------------------------------------------------------------------------------ */

static const char *name_of(const struct work *w, size_t e)
{
    return e < w->r->nparam ? w->k->param[e].name : w->k->linear[(e - w->r->nparam) % w->r->nlinear].name;
}

static double propagated(const struct fit_result *r, const double *g, const double *covariance)
{
    double sum = 0;
    for (size_t a = 0; a < r->nfull; a++)
        for (size_t b = 0; g[a] != 0 && b < r->nfull; b++)
            if (g[b] != 0)
                sum += g[a] * covariance[a * r->nfull + b] * g[b];
    return sqrt(sum);
}

/* Parameter e of *d has no error: 1 when *d cannot have one either, with the reason in d->reason. */
static int withheld(const struct work *w, struct fit_derived_value *d, size_t e)
{
    const struct fit_result *r = w->r;
    const char *name = name_of(w, e);
    const struct fit_degeneracy *x = r->reason[e] < 0 ? NULL
                                                      : &w->k->degeneracy[r->degenerate[r->reason[e]].which];
    if (r->at_bound[e])
        snprintf(d->reason, sizeof d->reason, "%s stands on a bound", name);
    else if (x && x->kind == FIT_DEGENERATE_AT_VALUE && !is_in_span(w, x, d->gradient))
        snprintf(d->reason, sizeof d->reason, "%s", r->degenerate[r->reason[e]].text);
    else if (!x && !isnan(r->std_curvature[e]))
        snprintf(d->reason, sizeof d->reason, "the cost is not quadratic along %s", name);
    return d->reason[0] != '\0';
}

static void find_error(const struct work *w, struct fit_derived_value *d)
{
    const struct fit_result *r = w->r;
    const char *open = NULL;
    d->reason[0] = '\0';
    d->std = d->std_robust = NAN;
    for (size_t e = 0; e < r->nfull; e++) {
        if (d->gradient[e] == 0 || !isnan(r->std[e]))
            continue;
        if (withheld(w, d, e))
            return;
        open = name_of(w, e);
    }
    d->std = open ? d->spread : propagated(r, d->gradient, r->covariance);
    if (!open && fit_robust_given(&r->robust))
        d->std_robust = propagated(r, d->gradient, r->covariance_robust);
    d->wider = !fit_sandwich_shared(&r->robust)                    ? 1
               : d->std_robust > 0 && isfinite(d->std_robust / d->std) ? d->std_robust / d->std
               : r->robust.eta > 0                                     ? 1 / sqrt(r->robust.eta)
                                                                       : 1;
    if (!isnan(d->std))
        return;
    if (open)
        snprintf(d->reason, sizeof d->reason, "%s is not determined by the data", open);
    else
        snprintf(d->reason, sizeof d->reason, "its value or its derivatives are not finite");
}

/* The only parameter of *d; nfull: it has several, or none. */
static size_t only_one(const struct fit_result *r, const struct fit_derived_value *d)
{
    size_t at = r->nfull;
    for (size_t e = 0; e < r->nfull; e++) {
        if (d->gradient[e] == 0)
            continue;
        if (at < r->nfull)
            return r->nfull;
        at = e;
    }
    return at;
}

/* Its value where element e of the full vector is x; *slope: the derivative. */
static double value_where(const struct work *w, const struct fit_derived_value *d, size_t e, double x, double *slope)
{
    const struct fit_result *r = w->r;
    const size_t p = r->nparam, q = r->nlinear, group = d->group < 0 ? 0 : (size_t)d->group;
    memcpy(w->theta, r->theta, p * sizeof *w->theta);
    memcpy(w->lin, r->lin, r->ngroup * q * sizeof *w->lin);
    *(e < p ? &w->theta[e] : &w->lin[e - p]) = x;
    w->k->derive(w->l, w->theta, w->lin, group, w->values, w->gradient);
    *slope = w->gradient[d->which * (p + q) + (e < p ? e : p + (e - p) % q)];
    return w->values[d->which];
}

/* Intervals of its only parameter, transformed; by_one stays 0 where it has several parameters or is not monotonic
 * between the ends. */
static void carry_over(const struct work *w, struct fit_derived_value *d)
{
    enum { STEPS = 16 };
    const size_t e = only_one(w->r, d);
    double end[2][2], at, slope;
    d->by_one = FIT_INTERVAL_NONE;
    const enum fit_interval_kind kind = e < w->r->nfull ? fit_profile_interval(w->r, e, end[0], end[1])
                                                        : FIT_INTERVAL_NONE;
    if (kind == FIT_INTERVAL_NONE || w->r->at_bound[e])
        return;
    const double best = e < w->r->nparam ? w->r->theta[e] : w->r->lin[e - w->r->nparam], sign = d->gradient[e];
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < 2; i++) {
            double *to = (side == 0) == (sign > 0) ? d->lower : d->upper;
            for (int k = 1; k <= STEPS && !isnan(end[side][i]); k++) {
                at = value_where(w, d, e, best + (end[side][i] - best) * k / STEPS, &slope);
                if (!(slope * sign > 0) || !isfinite(at))
                    return;
            }
            to[i] = isnan(end[side][i]) ? NAN : at;
        }
    d->by_one = kind;
}

enum fit_status fit_derived_errors(const struct fit_kernel *kernel, const struct fit_layout *layout,
                                   struct fit_result *res, struct fit_error *err)
{
    struct work w = {.k = kernel, .r = res, .l = layout};
    FIT_SCRATCH(a);
    const size_t n = kernel->ncombination;
    size_t most = 1;
    for (size_t k = 0; k < kernel->ndegeneracy; k++)
        most = kernel->degeneracy[k].nparam > most ? kernel->degeneracy[k].nparam : most;
    FIT_TAKE_DOUBLES(&a, n, &w.combined);
    FIT_TAKE_DOUBLES(&a, n * res->nparam, &w.slope);
    FIT_TAKE_DOUBLES(&a, (n + 1) * most, &w.base);
    FIT_TAKE_DOUBLES(&a, res->nparam, &w.theta);
    FIT_TAKE_DOUBLES(&a, res->ngroup * res->nlinear, &w.lin);
    FIT_TAKE_DOUBLES(&a, kernel->nderived, &w.values);
    FIT_TAKE_DOUBLES(&a, kernel->nderived * (res->nparam + res->nlinear), &w.gradient);
    if (a.failed)
        return fit_no_memory(err, "fit, derived quantities");
    if (kernel->combine && res->nderived)
        kernel->combine(layout, res->theta, w.combined, w.slope);
    for (size_t k = 0; k < res->nderived; k++) {
        find_error(&w, &res->derived[k]);
        carry_over(&w, &res->derived[k]);
    }
    return FIT_OK;
}

enum fit_interval_kind fit_derived_interval(const struct fit_result *r, const struct fit_derived_value *d,
                                            double lower[2], double upper[2])
{
    static const double tail[2] = {0.16, 0.025};
    const double dof = r->noise == FIT_NOISE_RESIDUALS ? fmax((double)r->npoint - (double)r->nfree, 1) : INFINITY;
    lower[0] = lower[1] = upper[0] = upper[1] = NAN;
    if (d->by_one) {
        memcpy(lower, d->lower, sizeof d->lower);
        memcpy(upper, d->upper, sizeof d->upper);
        return (enum fit_interval_kind)d->by_one;
    }
    if (r->robust.kind == FIT_ROBUST_WITHHELD || isnan(d->std))
        return FIT_INTERVAL_NONE;
    for (int i = 0; i < 2; i++) {
        const double half = d->wider * d->std * fit_student_quantile(tail[i], dof);
        lower[i] = d->value - half;
        upper[i] = d->value + half;
    }
    return FIT_INTERVAL_CURVATURE;
}
