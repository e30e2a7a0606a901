/* degeneracy.c -- which degeneracies of the model concern this fit, and what remains determined.
 *
 * A degeneracy at a value (D0 and D_offset at alpha = 0) concerns the fit when the parameter is at that value within
 * its standard error. Then the valley of the cost reaches the degenerate set inside one standard deviation and follows
 * it to the bounds: an error from the curvature at its minimum is false, however finite. That standard error is
 * computed with all parameters of the set free, those on bounds too: where D0 has run to its bound while alpha
 * approached 0, the errors with D0 held there look small.
 *
 * A combination c(theta) that the degenerate directions do not change is determined: var c = g^T S^- g with the
 * gradient g and any generalised inverse S^- of the projected J^T J (Searle 1971, section 5.4: estimable functions).
 */
#include "errors/degeneracy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "leastsquares/covariance.h"

/* Largest distance (in standard errors) of a parameter from the value at which others cannot be distinguished. It is
 * larger when one of these has run to a bound, or is not distinguished from it: the errors of the rest are
 * conditional on its value there, and false unless the special value is clearly excluded. (An amplitude that is
 * consistent with 0 leaves its exponent undetermined, and hence the value at which it takes the place of another.) */
static const double WITHIN = 1, WITHIN_AT_BOUND = 3;
/* A relative component of a gradient along an undetermined direction below this is rounding. */
static const double ALONG = 1e-3;
/* Angles closer than this, in degrees, count as equal. */
static const double SAME_ANGLE = 1e-6;

struct work {
    const struct fit_kernel *k;
    const struct fit_layout *l;
    struct fit_result *r;
    double variance;
    unsigned char *free; /* nparam: taken as free */
    double *gradient;    /* ncombination x nparam */
    struct fit_spread spread;
};

/* Indices of parameter `index` of a degeneracy in the full vector: first, step and number. */
static size_t places(const struct work *c, size_t index, size_t *first, size_t *step)
{
    size_t p = c->r->nparam;
    *first = index;
    *step = c->r->nlinear;
    return index < p ? 1 : c->r->ngroup;
}

static int is_fixed(const struct work *c, size_t index)
{
    size_t first, step;
    places(c, index, &first, &step);
    return !(c->r->upper[first] > c->r->lower[first]);
}

static int same_angles(const struct work *c, double period)
{
    const double *x = c->l->ngroup && c->k->naxis ? c->l->coord[0] : NULL;
    const double degree = x ? fit_units_turn(c->k->axis[0].unit) / 360 : 1;
    for (size_t g = 1; x && g < c->l->ngroup; g++)
        if (!(fabs(remainder(x[g] - x[0], period * degree)) <= SAME_ANGLE * degree))
            return 0;
    return x != NULL;
}

/* ---- does it concern this fit? --------------------------------------------------------------- */

static int has(const struct fit_degeneracy *d, size_t k)
{
    for (size_t i = 0; i < d->nparam; i++)
        if (d->param[i] == k)
            return 1;
    return d->condition >= 0 && (size_t)d->condition == k;
}

/* Of every set that is never distinguishable one member is held, preferably not one of d: f0 is not near 0 because
 * f2 could compensate. */
static void hold_one(struct work *c, const struct fit_degeneracy *d)
{
    for (size_t n = 0; n < c->r->ndegenerate; n++) {
        const struct fit_degeneracy *x = &c->k->degeneracy[c->r->degenerate[n].which];
        size_t held = c->r->nparam;
        if (x == d || x->kind == FIT_DEGENERATE_AT_VALUE || x->kind >= FIT_DEGENERATE_MIRROR)
            continue;
        for (size_t i = 0; i < x->nparam; i++)
            if (x->param[i] < c->r->nparam && (int)x->param[i] != d->condition &&
                (held == c->r->nparam || has(d, held)))
                held = x->param[i];
        if (held < c->r->nparam)
            c->free[held] = 0;
    }
}

/* 1: the data determine no value of parameter k by itself, because a linear parameter compensates for any; k is at
 * its start, and its distance from some value is meaningless. */
static int has_any_value(const struct work *c, size_t k)
{
    for (size_t n = 0; n < c->r->ndegenerate; n++) {
        const struct fit_degeneracy *x = &c->k->degeneracy[c->r->degenerate[n].which];
        for (size_t i = 0; x->kind == FIT_DEGENERATE_EVERYWHERE && !x->each && has(x, k) && i < x->nparam; i++)
            if (x->param[i] >= c->r->nparam && !is_fixed(c, x->param[i]))
                return 1;
    }
    return 0;
}

/* Everything that is not held, and members of the degeneracy that are on a bound. */
static int spread_around(struct work *c, const struct fit_degeneracy *d)
{
    const struct fit_result *r = c->r;
    for (size_t k = 0; k < r->nparam; k++)
        c->free[k] = !is_fixed(c, k) && r->at_bound[k] == 0;
    for (size_t i = 0; i < d->nparam; i++)
        if (d->param[i] < r->nparam && !is_fixed(c, d->param[i]))
            c->free[d->param[i]] = 1;
    if (d->condition >= 0 && !is_fixed(c, (size_t)d->condition))
        c->free[d->condition] = 1;
    return fit_spread_set(&c->spread, r, c->free) == 0;
}

/* Standard error of one parameter in that spread; infinite when it is not determined. */
static double std_in_spread(struct work *c, size_t k)
{
    memset(c->gradient, 0, c->r->nparam * sizeof *c->gradient);
    c->gradient[k] = 1;
    double v = fit_spread_variance(&c->spread, c->gradient, ALONG);
    return isnan(v) ? INFINITY : sqrt(c->variance * v);
}

/* Parameters left after those that are held: the degeneracy needs all of them, or any one when each is degenerate by
 * itself. */
static int takes_part(const struct work *c, const struct fit_degeneracy *d)
{
    size_t held = 0;
    for (size_t i = 0; i < d->nparam; i++)
        held += is_fixed(c, d->param[i]) != 0;
    return d->each ? held < d->nparam : held == 0;
}

/* Is it on a bound, or within a standard error of it? */
static int reaches_bound(const struct fit_result *r, size_t k)
{
    return r->at_bound[k] || r->theta[k] - r->lower[k] < r->std[k] || r->upper[k] - r->theta[k] < r->std[k];
}

static int near_value(struct work *c, const struct fit_degeneracy *d)
{
    size_t k = (size_t)d->condition;
    double off = fabs(c->r->theta[k] - d->value);
    if (is_fixed(c, k) || has_any_value(c, k))
        return off == 0; /* held exactly there */
    if (!spread_around(c, d) || (hold_one(c, d), fit_spread_set(&c->spread, c->r, c->free)))
        return -1;
    const double std = std_in_spread(c, k);
    int on_bound = 0;
    for (size_t i = 0; i < d->nparam; i++)
        on_bound |= d->param[i] < c->r->nparam && reaches_bound(c->r, d->param[i]);
    return off <= (on_bound ? WITHIN_AT_BOUND : WITHIN) * std;
}

/* The other angle with the same mean, when it is inside the bounds and differs by more than the error. */
static int mirror_angle(struct work *c, const struct fit_degeneracy *d, double *image)
{
    size_t k = (size_t)d->condition;
    if (is_fixed(c, k) || !same_angles(c, 90))
        return 0;
    for (size_t n = 0; n < c->r->ndegenerate; n++) /* one of many angles then, not of two */
        if (has(&c->k->degeneracy[c->r->degenerate[n].which], k))
            return 0;
    *image = d->value * c->l->coord[0][0] - c->r->theta[k];
    return *image >= c->r->lower[k] && *image <= c->r->upper[k] &&
           !(fabs(*image - c->r->theta[k]) <= 3 * c->r->std[k]);
}

/* 1 when it concerns the fit (text filled in), 0 when not, -1 on failure. */
static int concerns(struct work *c, const struct fit_degeneracy *d, char *text, size_t size)
{
    double image = 0;
    int yes = 0;
    if (!takes_part(c, d))
        return 0;
    switch (d->kind) {
    case FIT_DEGENERATE_EVERYWHERE:
        snprintf(text, size, "%s", d->text);
        return 1;
    case FIT_DEGENERATE_ONE_GROUP:
        snprintf(text, size, "%s", d->text);
        return c->k->naxis > 0 && (c->l->ngroup == 1 || (c->k->space == FIT_PAIRS && same_angles(c, 360)));
    case FIT_DEGENERATE_AT_VALUE:
        yes = near_value(c, d);
        if (!is_fixed(c, (size_t)d->condition)) /* its error, or the interval of the profile, is reported elsewhere */
            snprintf(text, size, "%s is consistent with %g, and %s", c->k->param[d->condition].name, d->value, d->text);
        else
            snprintf(text, size, "%s", d->text);
        return yes;
    case FIT_DEGENERATE_MIRROR_ANGLE:
        yes = mirror_angle(c, d, &image);
        snprintf(text, size, "%s = %.6g fits equally well: %s", c->k->param[d->condition].name, image, d->text);
        return yes;
    default:
        return 0;
    }
}

/* ---- what follows ---------------------------------------------------------------------------- */

static void withhold(struct work *c, size_t index, long reason)
{
    struct fit_result *r = c->r;
    size_t first, step, n = places(c, index, &first, &step), all = r->nfull;
    for (size_t g = 0; g < n && !is_fixed(c, index); g++) {
        size_t e = first + g * step;
        if (r->reason[e] < 0)
            r->reason[e] = reason;
        r->std[e] = NAN;
        for (size_t k = 0; k < all; k++) {
            r->covariance[e * all + k] = r->covariance[k * all + e] = NAN;
            if (k != e)
                r->correlation[e * all + k] = r->correlation[k * all + e] = NAN;
        }
    }
}

/* Withholds the errors of the members; that of the condition too when a member has run to a bound or diverged,
 * because the condition has then followed it to the special value. */
static void withhold_all(struct work *c, const struct fit_degeneracy *d, long reason)
{
    const struct fit_result *r = c->r;
    int run_away = 0;
    for (size_t i = 0; i < d->nparam; i++)
        run_away |= d->param[i] < r->nparam && (r->at_bound[d->param[i]] || isnan(r->std[d->param[i]]));
    for (size_t i = 0; i < d->nparam; i++)
        withhold(c, d->param[i], reason);
    if (d->kind == FIT_DEGENERATE_AT_VALUE && run_away)
        withhold(c, (size_t)d->condition, reason);
}

/* Values of all combinations; errors of those of this degeneracy. */
static void combine(struct work *c, const struct fit_degeneracy *d)
{
    struct fit_result *r = c->r;
    if (d->ncombination == 0 || !spread_around(c, d))
        return;
    c->k->combine(c->l, r->theta, r->combination, c->gradient);
    for (size_t i = d->first; i < d->first + d->ncombination; i++)
        r->combination_std[i] =
            sqrt(c->variance * fit_spread_variance(&c->spread, c->gradient + i * r->nparam, ALONG));
}

/* Adds those that concern the fit: first the unconditional ones, which the others use, mirrors last. All are judged
 * by the original errors. */
static enum fit_status judge(struct work *c, int turn, struct fit_error *err)
{
    struct fit_result *r = c->r;
    for (size_t k = 0; k < c->k->ndegeneracy; k++) {
        const struct fit_degeneracy *d = &c->k->degeneracy[k];
        struct fit_degenerate *x = &r->degenerate[r->ndegenerate];
        if (turn != (d->kind == FIT_DEGENERATE_AT_VALUE) + 2 * (d->kind >= FIT_DEGENERATE_MIRROR))
            continue;
        int yes = concerns(c, d, x->text, sizeof x->text);
        if (yes < 0)
            return fit_fail(err, FIT_ERR_NUMERIC, "fit: J^T J is not finite at the optimum");
        x->which = k;
        r->ndegenerate += yes > 0;
    }
    return FIT_OK;
}

enum fit_status fit_degeneracies(const struct fit_kernel *kernel, const struct fit_layout *layout,
                                 double variance, struct fit_result *res, struct fit_error *err)
{
    struct work c = {.k = kernel, .l = layout, .r = res, .variance = variance};
    size_t p = res->nparam, n = kernel->ncombination > 1 ? kernel->ncombination : 1;
    FIT_SCRATCH(a);
    res->variance = variance;
    for (size_t e = 0; e < res->nfull; e++)
        res->reason[e] = -1;
    for (size_t k = 0; k < kernel->ncombination; k++)
        res->combination[k] = res->combination_std[k] = NAN;
    if (kernel->ndegeneracy == 0)
        return FIT_OK;
    c.free = fit_take(&a, p, sizeof *c.free);
    c.gradient = fit_take(&a, n * p, sizeof *c.gradient);
    fit_spread_new(&c.spread, p, &a);
    if (a.failed)
        return fit_no_memory(err, "fit, search for degeneracies");
    for (int turn = 0; turn < 3; turn++) {
        enum fit_status st = judge(&c, turn, err);
        if (st != FIT_OK)
            return st;
    }
    for (size_t k = 0; k < res->ndegenerate; k++)
        combine(&c, &kernel->degeneracy[res->degenerate[k].which]);
    for (size_t k = 0; k < res->ndegenerate; k++) {
        const struct fit_degeneracy *d = &kernel->degeneracy[res->degenerate[k].which];
        if (d->kind < FIT_DEGENERATE_MIRROR)
            withhold_all(&c, d, (long)k);
    }
    return FIT_OK;
}
