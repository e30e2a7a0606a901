/* misfit.c -- structure of the residuals; see misfit.h. */
#include "data/file_times.h"
#include "errors/misfit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>


enum { AGES = FIT_MISFIT_AGES, MODES = 4, DRIFTS = 3, POWERS = 3 };

/* Families of templates: of single groups or of all, of positions or of the model. */
enum { SINGLE, ALL, SINGLE_MODEL, ALL_MODEL, FAMILIES };

/* A template of which the fit absorbs more than this fraction is uninformative. */
static const double TAKEN = 0.98;
/* Bins of so few values are no templates by themselves: their sums are not normal. */
static const double FEWEST = 20;
/* The mean square of a bin is combined with so many values of the group's. */
static const double SHRUNK = 100;

/* ---- bins ------------------------------------------------------------------------------------------------------ */

/* 1, 2, 3, 4 .. 5, 6 .. 7, 8 .. 10, 11 .. 15, ... */
static size_t class_of(size_t lag)
{
    return lag < 4 ? lag - 1 : (size_t)floor(2 * log2((double)lag) + 1e-9) - 1;
}

enum fit_status fit_misfit_bins_new(const struct fit_layout *l, size_t P, struct fit_misfit_bins *b,
                                    struct fit_arena *a, struct fit_error *err)
{
    const size_t most = l->frame[l->nframe - 1] - l->frame[0] + 1;
    *b = (struct fit_misfit_bins){.ngroup = l->ngroup, .P = P, .each = P + 3, .nlags = most, .nframe = l->nframe};
    b->lag = fit_take(a, most, sizeof *b->lag);
    if (!b->lag)
        return fit_no_memory(err, "fit, tests of the residuals");
    for (size_t k = 0; k < most; k++) {
        const size_t c = class_of(k + 1);
        b->lag[k] = (unsigned char)(c < FIT_MISFIT_LAGS ? c : FIT_MISFIT_LAGS - 1);
    }
    b->nlag = most > 1 ? (size_t)b->lag[most - 2] + 1 : 1;
    b->nbin = b->nlag * AGES;
    return FIT_OK;
}

/* ---- templates ------------------------------------------------------------------------------------------------- */

struct work {
    const struct fit_misfit_spec *s;
    const struct fit_misfit_bins *b;
    size_t n;       /* unknowns */
    double *phi;    /* nbin, of the template at hand */
    double *x;       /* n */
    size_t *present; /* n: elements of x that are not 0 */
    double *mean2;  /* ngroup: mean square of z */
    double *var;    /* ngroup x nbin: that of each bin */
    long *place;    /* ngroup x P: among the unknowns, -1: held */
    double tests[FAMILIES];
    struct {
        double z, mean;
        long group;
        size_t lag[2], age[2];
        int kind;
    } best[FAMILIES];
};

enum { KIND_BIN, KIND_LAG, KIND_AGE, KIND_MODE, KIND_POWER, KIND_DRIFT };

static const double *bin_of(const struct work *w, size_t g, size_t k)
{
    return w->s->sum + (g * w->b->nbin + k) * w->b->each;
}

static int place_of(const struct fit_objective *o, size_t g, size_t e, long *out)
{
    if (e < o->nparam)
        *out = (long)e;
    else
        *out =
            o->map[g * o->nlinear + e - o->nparam] < 0 ? -1 : (long)o->nparam + o->map[g * o->nlinear + e - o->nparam];
    return *out >= 0;
}

static int work_new(struct work *w, struct fit_arena *a)
{
    const size_t ng = w->b->ngroup;
    FIT_TAKE_DOUBLES(a, ng * w->b->nbin, &w->phi, &w->var);
    FIT_TAKE_DOUBLES(a, w->n, &w->x);
    FIT_TAKE_DOUBLES(a, ng, &w->mean2);
    w->present = fit_take(a, w->n, sizeof *w->present);
    w->place = fit_take(a, ng * w->b->P, sizeof *w->place);
    if (a->failed)
        return 1;
    for (size_t g = 0; g < ng; g++) {
        double n = 0, z2 = 0;
        for (size_t k = 0; k < w->b->nbin; k++) {
            n += bin_of(w, g, k)[0];
            z2 += bin_of(w, g, k)[2];
        }
        w->mean2[g] = n > 0 ? z2 / n : 0;
        for (size_t k = 0; k < w->b->nbin; k++)
            w->var[g * w->b->nbin + k] = (bin_of(w, g, k)[2] + SHRUNK * w->mean2[g]) / (bin_of(w, g, k)[0] + SHRUNK);
        for (size_t e = 0; e < w->b->P; e++)
            place_of(w->s->obj, g, e, &w->place[g * w->b->P + e]);
    }
    return 0;
}

/* Description of a template, for the words. */
struct shape {
    int kind;
    size_t lag[2], age[2]; /* classes, first and last */
};

static void take(struct work *w, const struct shape *shape, long g, double z, double mean)
{
    const int family = (g < 0 ? ALL : SINGLE) + (shape->kind >= KIND_POWER ? SINGLE_MODEL : 0);
    w->tests[family] += 1;
    if (!(fabs(z) > fabs(w->best[family].z)))
        return;
    w->best[family].z = z;
    w->best[family].mean = mean;
    w->best[family].group = g;
    w->best[family].kind = shape->kind;
    memcpy(w->best[family].lag, shape->lag, sizeof shape->lag);
    memcpy(w->best[family].age, shape->age, sizeof shape->age);
}

/* x^T D x: a single group has few unknowns. */
static double form(struct work *w)
{
    size_t n = 0;
    double sum = 0;
    for (size_t a = 0; a < w->n; a++)
        if (fabs(w->x[a]) > 0 || isnan(w->x[a]))
            w->present[n++] = a;
    for (size_t k = 0; k < n; k++)
        for (size_t m = 0; m < n; m++)
            sum += w->x[w->present[k]] * w->s->D[w->present[k] * w->n + w->present[m]] * w->x[w->present[m]];
    return sum;
}

/* The template phi over groups [g0, g1). */
static void try(struct work *w, size_t g0, size_t g1, const struct shape *shape)
{
    const size_t nb = w->b->nbin, P = w->b->P;
    double T = 0, white = 0, taken = 0, s2 = 0, n = 0;
    memset(w->x, 0, w->n * sizeof *w->x);
    for (size_t g = g0; g < g1; g++)
        for (size_t k = 0; k < nb; k++) {
            const double *bin = bin_of(w, g, k), phi = w->phi[g * nb + k];
            if (!(bin[0] > 0) || !(fabs(phi) > 0))
                continue;
            T += phi * bin[1];
            white += phi * phi * bin[0] * w->var[g * nb + k];
            n += fabs(phi) * bin[0];
            s2 += phi * phi * bin[0];
            for (size_t e = 0; e < P; e++)
                if (w->place[g * P + e] >= 0)
                    w->x[w->place[g * P + e]] += phi * bin[3 + e];
        }
    if (!(white > 0) || n * n < FEWEST * s2) /* effective number of values */
        return;
    taken = form(w);
    taken *= white / s2;
    if (taken < TAKEN * white)
        take(w, shape, g1 - g0 > 1 ? -1 : (long)g0, T / sqrt(white - taken), T / n / sqrt(white / s2));
}

/* Applies the template to every group, and to all together. */
static void try_all(struct work *w, const struct shape *shape)
{
    for (size_t g = 0; g < w->b->ngroup; g++)
        try(w, g, g + 1, shape);
    if (w->b->ngroup > 1)
        try(w, 0, w->b->ngroup, shape);
}

/* Bins of lag classes [l0, l1] and ages [a0, a1]. */
static void try_box(struct work *w, int kind, size_t l0, size_t l1, size_t a0, size_t a1)
{
    const struct shape shape = {kind, {l0, l1}, {a0, a1}};
    memset(w->phi, 0, w->b->ngroup * w->b->nbin * sizeof *w->phi);
    for (size_t g = 0; g < w->b->ngroup; g++)
        for (size_t l = l0; l <= l1; l++)
            for (size_t a = a0; a <= a1; a++)
                w->phi[g * w->b->nbin + l * AGES + a] = 1;
    try_all(w, &shape);
}

static double mode(size_t k, size_t at, size_t of)
{
    return cos(3.141592653589793 * (double)k * ((double)at + 0.5) / (double)of);
}

/* Smooth modes; times the mean derivative with respect to element e of the score, unless that is -1. */
static void try_mode(struct work *w, long e, size_t by_lag, size_t by_age)
{
    const struct shape shape = {e < 0 ? KIND_MODE : KIND_DRIFT, {0, w->b->nlag - 1}, {0, AGES - 1}};
    for (size_t g = 0; g < w->b->ngroup; g++)
        for (size_t l = 0; l < w->b->nlag; l++)
            for (size_t a = 0; a < AGES; a++) {
                const double *bin = bin_of(w, g, l * AGES + a);
                const double d = e < 0 ? 1 : bin[0] > 0 ? bin[3 + e] / bin[0] : 0;
                w->phi[g * w->b->nbin + l * AGES + a] = d * mode(by_lag, l, w->b->nlag) * mode(by_age, a, AGES);
            }
    try_all(w, &shape);
}

/* A power of the model's own values, which are its derivative with respect to the contrast. */
static void try_power(struct work *w, size_t slope, int power)
{
    const struct shape shape = {KIND_POWER, {0, w->b->nlag - 1}, {0, AGES - 1}};
    for (size_t k = 0; k < w->b->ngroup * w->b->nbin; k++) {
        const double *bin = w->s->sum + k * w->b->each;
        const double value = bin[0] > 0 ? bin[3 + slope] / bin[0] : 0;
        w->phi[k] = value;
        for (int p = 1; p < power; p++)
            w->phi[k] *= value;
    }
    try_all(w, &shape);
}

static void try_templates(struct work *w)
{
    const struct fit_objective *o = w->s->obj;
    const size_t L = w->b->nlag;
    for (size_t l = 0; l < L; l++)
        for (size_t a = 0; a < AGES; a++)
            try_box(w, KIND_BIN, l, l, a, a);
    for (size_t l = 0; l < L; l++)
        try_box(w, KIND_LAG, l, l, 0, AGES - 1);
    for (size_t a = 0; a < AGES; a++)
        try_box(w, KIND_AGE, 0, L - 1, a, a);
    for (size_t l = 0; l < MODES; l++)
        for (size_t a = 0; a < MODES; a++)
            try_mode(w, -1, l, a);
    if (o->nlinear == 2 && o->kernel->intercept >= 0)
        for (int k = 2; k <= POWERS; k++)
            try_power(w, o->nparam + (size_t)(1 - o->kernel->intercept), k);
    for (size_t e = 0; e < w->b->P; e++)
        for (size_t k = 1; k < DRIFTS; k++) {
            try_mode(w, (long)e, 0, k);
            try_mode(w, (long)e, k, 0);
        }
}

/* ---- the result ------------------------------------------------------------------------------------------------ */

static double two_sided(double z)
{
    return erfc(fabs(z) / sqrt(2));
}

/* First and last lag of a class, frames. */
static void lags_of(const struct fit_misfit_bins *b, const size_t class[2], double out[2])
{
    size_t k = 0;
    while (k + 1 < b->nlags && b->lag[k] < class[0])
        k++;
    out[0] = (double)(k + 1);
    while (k + 1 < b->nlags && b->lag[k + 1] <= class[1])
        k++;
    out[1] = (double)(k + 1);
}

static void fill(const struct work *w, int family, struct fit_misfit *out)
{
    const struct fit_time_range x = fit_dataset_time_range(w->s->obj->ds, w->best[family].group);
    lags_of(w->b, w->best[family].lag, out->lag);
    for (int k = 0; k < 2; k++) {
        out->lag[k] *= x.step;
        out->age[k] = x.first + x.span * (double)(w->best[family].age[k] + (size_t)k) / AGES;
    }
    out->z = w->best[family].z;
    out->group = w->best[family].group;
    out->mean = w->best[family].mean;
    const int kind = w->best[family].kind;
    out->kind = kind == KIND_DRIFT ? FIT_MISFIT_DRIFT : kind >= KIND_MODE ? FIT_MISFIT_SMOOTH : FIT_MISFIT_BINS;
}

/* For pairs that share a frame the sum is one of squares, of n rows of unequal length (linear: 3/4 n degrees of
 * freedom); z by Wilson and Hilferty (1931). */
static double shared(const struct fit_misfit_spec *s)
{
    const double n = 0.75 * (double)s->bins->nframe * (double)s->bins->ngroup, v = 2 / (9 * n);
    const double square = 1 + s->rho[FIT_SHARING] * sqrt(s->products[FIT_SHARING] / 2) * sqrt(2 / n);
    return (cbrt(square) - (1 - v)) / sqrt(v);
}

/* Correlations of neighbours, against 1 / sqrt(products). */
static void neighbours(const struct fit_misfit_spec *s, struct fit_misfit *out)
{
    for (int k = 0; k < 3; k++) {
        const double z = k == FIT_SHARING ? shared(s) : s->rho[k] * sqrt(s->products[k]),
                     p = 3 * 0.5 * erfc(z / sqrt(2));
        if (!(z > 0) || !(p < out->p_neighbours))
            continue;
        out->p_neighbours = p;
        out->rho = s->rho[k];
        out->rho_z = z;
        out->along = (enum fit_misfit_along)k;
    }
}

enum fit_status fit_misfit_find(const struct fit_misfit_spec *spec, struct fit_misfit *out, struct fit_error *err)
{
    struct work w = {.s = spec, .b = spec->bins, .n = spec->obj->nparam + spec->obj->nu};
    *out = (struct fit_misfit){.p = 1, .p_bins = 1, .p_neighbours = 1, .group = -1};
    FIT_SCRATCH(a);
    if (work_new(&w, &a))
        return fit_no_memory(err, "fit, tests of the residuals");
    try_templates(&w);
    double families = 0, tests = 0;
    for (int k = 0; k < FAMILIES; k++) {
        families += w.tests[k] > 0;
        tests += w.tests[k];
    }
    for (int k = 0; k < FAMILIES; k++) {
        const double p = fmin(1, families * w.tests[k] * two_sided(w.best[k].z));
        if (!(w.tests[k] > 0) || (out->tests && p > out->p_bins))
            continue;
        out->tests = (size_t)tests;
        out->p_bins = p;
        fill(&w, k, out);
    }
    neighbours(spec, out);
    out->p = fmin(1, 2 * fmin(out->p_bins, out->p_neighbours));
    return FIT_OK;
}
