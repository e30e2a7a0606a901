/* survey.c -- see survey.h. */
#include "errors/survey.h"
#include "math/rng.h"
#include "leastsquares/start_impl.h"
#include "leastsquares/rate_valley.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double BETTER = 0.1; /* chi2 below the least: another minimum */
static const double GTOL = 0.05;  /* standard errors: so near to their minimum the others are brought */
static const double PROMISING = 4; /* times the limit of the rise: of minima that are told */
static const double SAME = 2;      /* standard errors between minima that are one */
/* So many standard errors away an exponent needs no look, where its error is not in doubt. */
static const double FAR = 12;
/* Exponents at which the valley is looked at, on both sides of zero; of a power of time, and of exp in units of the
 * time that was measured. */
static const double EXPONENT[] = {0.003, 0.01, 0.03, 0.07, 0.13, 0.2, 0.3, 0.45, 0.65, 0.9, 1.2, 1.6, 2, 2.6, 3.5, 5};
enum {
    EXPONENTS = sizeof EXPONENT / sizeof *EXPONENT,
    SCAN = 24, SCAN_MOST = 512, /* points of a scan: pairs; tables, at most */
    RANDOM = 64,                /* points for each parameter of a table */
    FOLLOWED = 6, FOLLOWED_ROWS = 24,
    STEPS = 12
};
static const double EQUAL = 1e-3, EQUAL_STD = 0.3; /* of a value, of its error: the same */
static const double SCAN_WORK = 4e6; /* residuals that the scans of a table may cost */

struct candidate {
    double *theta, rise;
};

struct survey {
    struct fit_ls *f;
    const struct fit_survey_spec *spec;
    const double *best;
    double least;               /* cost at the best */
    double *lower, *upper, *theta, *next, *cost;
    struct candidate *candidate; /* by rise */
    size_t n, most;
    struct fit_start_spec box; /* for fit_start_sample() and its inverse */
};

static double rise_of(const struct survey *s, double cost)
{
    return 2 * (cost - s->least) / s->spec->variance;
}

/* ---- costs ------------------------------------------------------------------------------------------------------- */

/* The rise at the minimum that theta leads to, with parameter k (unless negative) held where it is. */
static double follow(struct survey *s, long k, double *theta)
{
    const struct fit_ls *f = s->f;
    double cost, gradient, far = PROMISING * s->spec->limit * s->spec->limit;
    struct fit_sketch_spec spec = {s->lower, s->upper, -1, 0, GTOL, s->least + 0.5 * far * s->spec->variance,
                                   s->spec->variance, 0};
    if (k >= 0)
        s->lower[k] = s->upper[k] = theta[k];
    fit_sketch_minimise(s->spec->cheap, &spec, theta, &cost, &gradient);
    if (k >= 0) {
        s->lower[k] = f->lower[k];
        s->upper[k] = f->upper[k];
    }
    return isnan(cost) ? INFINITY : rise_of(s, cost);
}

/* A lower cost than that of the fit. */
static void better(struct survey *s, const double *theta)
{
    if (s->f->found_lower)
        return;
    s->f->found_lower = 1;
    memcpy(s->f->better, theta, s->f->p * sizeof *theta);
}

/* What the data say about a point that looks good enough; kept when its rise is below `most`. */
static double confirm(struct survey *s, const double *theta, double most)
{
    if (fit_objective_value(s->f->obj, theta) != FIT_EVAL_OK)
        return INFINITY;
    double rise = rise_of(s, s->f->obj->cost);
    if (rise < most)
        fit_evidence_add(&s->f->evidence, s->f->obj, theta, fmax(rise, 0), s->spec->inflated);
    if (rise < -BETTER)
        better(s, theta);
    return rise;
}

/* ---- valleys of rates -------------------------------------------------------------------------------------------- */

/* What exponents are counted in. */
static double unit_of(const struct fit_rate *r, const struct fit_layout *l)
{
    return r->kind == FIT_RATE_EXPONENTIAL ? r->time / (l->time[l->ntime - 1] - l->time[0]) : 1;
}

/* The exponents from that of the fit on toward side. */
static size_t exponents(const struct survey *s, const struct fit_rate *r, double side, double *out)
{
    const struct fit_ls *f = s->f;
    double unit = unit_of(r, &f->ds->layout), low = f->lower[r->exponent], high = f->upper[r->exponent];
    double at = s->best[r->exponent], end = side > 0 ? high : low;
    size_t n = 0;
    for (size_t i = 0; i < 2 * EXPONENTS; i++) { /* ascending, or descending */
        double v = unit * (i < EXPONENTS ? -EXPONENT[EXPONENTS - 1 - i] : EXPONENT[i - EXPONENTS]) * side;
        if (side * (v - at) > 1e-3 * unit && side * (end - v) > 0)
            out[n++] = v;
    }
    if (isfinite(end) && side * (end - at) > 0)
        out[n++] = end;
    return n;
}

static void look_along(struct survey *s, const struct fit_rate *r, double side, double far)
{
    const struct fit_ls *f = s->f;
    double exponent[2 * EXPONENTS + 1], *at = s->theta;
    size_t n = exponents(s, r, side, exponent), bytes = f->p * sizeof *at;
    memcpy(at, s->best, bytes);
    for (size_t i = 0; i < n && fabs(exponent[i] - s->best[r->exponent]) <= far; i++) {
        memcpy(s->next, at, bytes);
        if (!fit_valley_point(r, &f->ds->layout, f->lower, f->upper, at, exponent[i], s->next))
            continue;
        double rise = follow(s, (long)r->exponent, s->next);
        if (!isfinite(rise))
            continue;
        memcpy(at, s->next, bytes);
        if (rise < 1.5 * s->spec->limit * s->spec->limit)
            confirm(s, at, s->spec->limit * s->spec->limit);
    }
}

static int is_free(const struct fit_ls *f, size_t k)
{
    return f->upper[k] > f->lower[k];
}

static void look_at_valleys(struct survey *s)
{
    const struct fit_ls *f = s->f;
    for (size_t k = 0; f->kernel->space == FIT_PAIRS && k < f->kernel->nrate; k++) {
        const struct fit_rate *r = &f->kernel->rate[k];
        if (!is_free(f, r->exponent) || !is_free(f, r->amplitude) || !is_free(f, r->offset))
            continue;
        double std = f->res->std[r->exponent], far = std > 0 && isfinite(std) ? FAR * std : INFINITY;
        look_along(s, r, -1, far);
        look_along(s, r, 1, far);
    }
}

/* Without bounds there is no place in which to look for other values: periods below the distance of the points, say. */
static int has_box(const struct fit_ls *f, size_t k)
{
    return is_free(f, k) && isfinite(f->lower[k]) && isfinite(f->upper[k]);
}

/* ---- other modes ------------------------------------------------------------------------------------------------- */

/* Keeps s->theta among the candidates, if its rise is one of the lowest. */
static void propose(struct survey *s, double rise)
{
    if (!isfinite(rise) || (s->n == s->most && rise >= s->candidate[s->n - 1].rise))
        return;
    size_t at = s->n < s->most ? s->n++ : s->n - 1;
    double *theta = s->candidate[at].theta;
    for (; at > 0 && s->candidate[at - 1].rise > rise; at--)
        s->candidate[at] = s->candidate[at - 1];
    memcpy(theta, s->theta, s->f->p * sizeof *theta);
    s->candidate[at] = (struct candidate){theta, rise};
}

static double cheap_rise(struct survey *s)
{
    return rise_of(s, fit_sketch_value(s->spec->cheap, s->theta, -1, 0));
}

/* Dips along parameter k, beside that in which the best lies. */
static void scan(struct survey *s, size_t k, size_t points)
{
    const struct fit_ls *f = s->f;
    double here = fit_start_position(&s->box, k, s->best[k]);
    memcpy(s->theta, s->best, f->p * sizeof *s->theta);
    for (int turn = 0; turn < 2; turn++) /* costs, and then the dips */
        for (size_t i = 0; i < points; i++) {
            double u = ((double)i + 0.5) / (double)points;
            s->theta[k] = fit_start_sample(&f->kernel->param[k], f->lower[k], f->upper[k], s->best[k], u);
            if (turn == 0)
                s->cost[i] = cheap_rise(s);
            else if ((i == 0 || s->cost[i] < s->cost[i - 1]) && (i + 1 == points || s->cost[i] <= s->cost[i + 1]) &&
                     fabs(u - here) > 1.0 / (double)points)
                propose(s, s->cost[i]);
        }
}

/* s->theta as a reflection of the best, in its bounds. */
static void reflected(struct survey *s, size_t k, double image)
{
    const struct fit_ls *f = s->f;
    if (!has_box(f, k) || image < f->lower[k] || image > f->upper[k] || image == s->best[k])
        return;
    memcpy(s->theta, s->best, f->p * sizeof *s->theta);
    s->theta[k] = image;
    propose(s, cheap_rise(s));
}

static void reflect_rate(struct survey *s, const struct fit_rate *r)
{
    const struct fit_ls *f = s->f;
    memcpy(s->theta, s->best, f->p * sizeof *s->theta);
    const size_t part[2] = {r->amplitude, r->offset};
    for (int i = 0; i < 2; i++) {
        double image = -s->best[part[i]];
        if (image < f->lower[part[i]] || image > f->upper[part[i]])
            return;
        s->theta[part[i]] = image;
    }
    propose(s, cheap_rise(s));
}

/* An angle about each measured one, and about those at right angles to it. */
static void reflect_angle(struct survey *s, const struct fit_degeneracy *d)
{
    const struct fit_layout *l = &s->f->ds->layout;
    size_t k = (size_t)d->condition;
    for (size_t g = 0; s->f->kernel->naxis && g < l->ngroup; g++) {
        int seen = 0;
        for (size_t h = 0; h < g; h++)
            seen |= fabs(remainder(l->coord[0][h] - l->coord[0][g], 90)) < 1e-6;
        for (int turn = -2; turn <= 2 && !seen; turn++)
            reflected(s, k, d->value * l->coord[0][g] - s->best[k] + 180 * turn);
    }
}

static void look_for_modes(struct survey *s)
{
    const struct fit_ls *f = s->f;
    const int rows = f->kernel->space == FIT_ROWS;
    size_t nfree = 0, points = SCAN;
    for (size_t k = 0; k < f->p; k++)
        nfree += has_box(f, k) != 0;
    if (rows)
        points = (size_t)fmin(fmax(SCAN_WORK / (double)(f->ds->npoint * (nfree + 1)), SCAN), SCAN_MOST);
    for (size_t k = 0; k < f->p; k++) {
        if (!has_box(f, k))
            continue;
        scan(s, k, points);
        reflected(s, k, -s->best[k]);
    }
    for (size_t i = 0; i < f->kernel->nrate; i++)
        reflect_rate(s, &f->kernel->rate[i]);
    for (size_t i = 0; i < f->kernel->ndegeneracy; i++)
        if (f->kernel->degeneracy[i].kind == FIT_DEGENERATE_MIRROR_ANGLE)
            reflect_angle(s, &f->kernel->degeneracy[i]);
    for (size_t i = 0; rows && points > SCAN && i < RANDOM * nfree; i++) {
        for (size_t k = 0; k < f->p; k++) {
            double u[2];
            fit_rng_uniform(f->opt->seed, 0x53560000u + k, i, u);
            s->theta[k] = !has_box(f, k)
                              ? s->best[k]
                              : fit_start_sample(&f->kernel->param[k], f->lower[k], f->upper[k], s->best[k], u[0]);
        }
        propose(s, cheap_rise(s));
    }
}

/* Square of the distance in standard errors of the paraboloid at the best. */
static double squared_distance(const struct survey *s, const double *a, const double *b)
{
    const struct fit_ls *f = s->f;
    double d = 0;
    for (size_t k = 0; k < f->p; k++)
        for (size_t l = 0; l < f->p; l++)
            d += (a[k] - b[k]) * f->B[k * f->p + l] * (a[l] - b[l]);
    return d / s->spec->variance;
}

/* The nonlinear part of a mirror image that the compiler has found. */
static void image_of(const struct survey *s, const struct fit_degeneracy *d, const double *theta, double *image)
{
    size_t p = s->f->p;
    memcpy(image, theta, p * sizeof *theta);
    for (size_t k = 0; k < d->nparam; k++)
        if (d->param[k] < p && d->param[d->image[k].from] < p)
            image[d->param[k]] = d->image[k].shift + d->image[k].sign * theta[d->param[d->image[k].from]];
}

/* The same values within their errors, of other parameters: terms of a sum that have changed places. */
static int is_exchange(struct survey *s, const double *theta)
{
    size_t p = s->f->p, found = 0;
    memcpy(s->next, theta, p * sizeof *theta);
    for (size_t k = 0; k < p; k++) {
        double std = s->f->res->std[k], near = EQUAL * fabs(s->best[k]) + (isfinite(std) ? EQUAL_STD * std : 0);
        for (size_t l = 0; l < p; l++)
            if (fabs(s->next[l] - s->best[k]) <= near) {
                s->next[l] = NAN; /* taken */
                found++;
                break;
            }
    }
    return found == p && p > 1;
}

/* Another point of a degeneracy that is told by itself: only what it leaves open differs. */
static int is_degenerate(const struct survey *s, const double *theta)
{
    const struct fit_result *r = s->f->res;
    int open = 0;
    for (size_t k = 0; k < r->nparam; k++) {
        if (r->reason[k] >= 0 && isnan(r->std[k])) {
            open++;
            continue;
        }
        if (!(fabs(theta[k] - s->best[k]) <= SAME * r->std[k]))
            return 0;
    }
    return open > 0;
}

/* 1: the best with terms exchanged, or with signs changed in a way that the compiler has found: told elsewhere, and the
 * errors are those of the terms. */
static int is_image(struct survey *s, const double *theta)
{
    const struct fit_ls *f = s->f;
    for (size_t i = 0; i < f->kernel->ndegeneracy; i++) {
        const struct fit_degeneracy *d = &f->kernel->degeneracy[i];
        if (d->kind != FIT_DEGENERATE_MIRROR)
            continue;
        image_of(s, d, theta, s->next);
        if (squared_distance(s, s->next, s->best) < SAME * SAME)
            return 1;
    }
    return is_degenerate(s, theta) || is_exchange(s, theta);
}

/* A minimum of the data at s->theta becomes one of the result. */
static void record(struct survey *s, double rise)
{
    struct fit_result *r = s->f->res;
    for (size_t k = 0; k < r->nminimum; k++)
        if (squared_distance(s, s->theta, r->minima[k].theta) < SAME * SAME)
            return;
    if (r->nminimum == r->room_minimum)
        return;
    size_t at = r->nminimum++;
    struct fit_minimum m = {.theta = r->minima[at].theta, .cost = s->least + 0.5 * rise * s->spec->variance,
                            .above = fmax(rise, 0) * s->spec->inflated, .found = 1};
    snprintf(m.origin, sizeof m.origin, "survey around the minimum");
    memcpy(m.theta, s->theta, s->f->p * sizeof *m.theta);
    for (; at > 1 && r->minima[at - 1].above > m.above; at--)
        r->minima[at] = r->minima[at - 1];
    r->minima[at] = m;
}

/* Follows the candidates, best first, to minima of the data. */
static void follow_candidates(struct survey *s)
{
    struct fit_ls *f = s->f;
    const double told = PROMISING * s->spec->limit * s->spec->limit;
    size_t bytes = f->p * sizeof *s->theta;
    for (size_t c = 0; c < s->n && !f->over; c++) {
        memcpy(s->theta, s->candidate[c].theta, bytes);
        double rise = follow(s, -1, s->theta);
        if (!(rise < told) || squared_distance(s, s->theta, s->best) < SAME * SAME || is_image(s, s->theta))
            continue;
        if (fit_sketch_is_thin(s->spec->cheap)) {
            fit_ls_try(f, s->theta, STEPS);
            if (squared_distance(s, s->theta, s->best) < SAME * SAME)
                continue;
        }
        if ((rise = confirm(s, s->theta, s->spec->rival)) < told)
            record(s, rise);
    }
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* Minima that the search for starts has met. */
static void confirm_known(struct survey *s)
{
    const struct fit_result *r = s->f->res;
    for (size_t m = 1; m < r->nminimum; m++)
        if (r->minima[m].above < s->spec->rival * s->spec->inflated && !is_image(s, r->minima[m].theta))
            confirm(s, r->minima[m].theta, s->spec->rival);
}

enum fit_status fit_survey(struct fit_ls *f, const struct fit_survey_spec *spec)
{
    size_t p = f->p, most = f->kernel->space == FIT_ROWS ? FOLLOWED_ROWS : FOLLOWED;
    struct survey s = {
        .f = f, .spec = spec, .best = f->res->theta, .most = most, .least = fit_sketch_least(spec->cheap)};
    FIT_SCRATCH(a);
    FIT_TAKE_DOUBLES(&a, p, &s.lower, &s.upper, &s.theta, &s.next);
    FIT_TAKE_DOUBLES(&a, SCAN_MOST, &s.cost);
    s.candidate = fit_take(&a, most, sizeof *s.candidate);
    for (size_t c = 0; s.candidate && c < most; c++)
        s.candidate[c].theta = fit_take(&a, p, sizeof *s.candidate->theta);
    if (a.failed)
        return fit_no_memory(f->err, "fit");
    memcpy(s.lower, f->lower, p * sizeof *s.lower);
    memcpy(s.upper, f->upper, p * sizeof *s.upper);
    s.box = (struct fit_start_spec){.kernel = f->kernel, .lower = f->lower, .upper = f->upper, .start = f->res->theta};
    confirm_known(&s);
    look_at_valleys(&s);
    if (!f->opt->start_only) { /* nothing is to be searched then */
        look_for_modes(&s);
        follow_candidates(&s);
    }
    if (f->opt->interrupt && *f->opt->interrupt)
        return fit_fail(f->err, FIT_ERR_INTERRUPTED, "fit: interrupted");
    return FIT_OK;
}
