/* survey.c -- see survey.h. */
#include "errors/survey.h"
#include "math/rng.h"
#include "leastsquares/start_impl.h"
#include "leastsquares/rate_valley.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double BETTER = 0.1; /* chi2 below the least: another minimum */
static const double GTOL = 0.05;  /* standard errors: accuracy to which the others are minimised */
static const double PROMISING = 4; /* times the limit of the rise: of minima that are told */
static const double SAME = 2;      /* standard errors between minima that are one */
/* Within so many standard errors an exponent need not be explored, if its error is not in doubt. */
static const double FAR = 12;
/* Exponents at which the valley is explored, on both sides of zero; of a power of time, and of exp in units of the
 * measured time. */
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
    int told; /* 1: a minimum of the data, to be recorded with that rise */
};

/* Work space of a crew member. */
struct desk {
    struct fit_sketch *cheap;
    double *lower, *upper, *theta, *next;
};

/* Findings of a piece of the survey. */
struct met {
    struct fit_evidence evidence;
    double *better; /* a lower cost than that of the fit */
    int lower;      /* 1: there is one */
};

struct survey {
    struct fit_ls *f;
    const struct fit_survey_spec *spec;
    const double *best;
    double least;               /* cost at the best */
    struct desk *desk;          /* of each member; the first is also that of what is done alone */
    double *theta, *next;       /* of the first desk */
    double *cost;
    size_t points;              /* of a scan */
    struct candidate *candidate; /* by rise */
    size_t n, most;
    struct fit_start_spec box; /* for fit_start_sample() and its inverse */
    struct fit_arena storage;
};

static double rise_of(const struct survey *s, double cost)
{
    return 2 * (cost - s->least) / s->spec->variance;
}

/* ---- costs ------------------------------------------------------------------------------------------------------- */

/* The rise at the minimum to which theta leads, with parameter k (unless negative) held at its value. */
static double follow(const struct survey *s, const struct desk *d, long k, double *theta)
{
    const struct fit_ls *f = s->f;
    double cost, gradient, far = PROMISING * s->spec->limit * s->spec->limit;
    struct fit_sketch_spec spec = {d->lower, d->upper, -1, 0, GTOL, s->least + 0.5 * far * s->spec->variance,
                                   s->spec->variance, 0, NULL, NULL};
    if (k >= 0)
        d->lower[k] = d->upper[k] = theta[k];
    fit_sketch_minimise(d->cheap, &spec, theta, &cost, &gradient);
    if (k >= 0) {
        d->lower[k] = f->lower[k];
        d->upper[k] = f->upper[k];
    }
    return isnan(cost) ? INFINITY : rise_of(s, cost);
}

/* Evaluates on the data a point that looks good enough; keeps it when its rise is below `most`. */
static double confirm(const struct survey *s, const struct fit_ls *own, const double *theta, double most,
                      struct met *met)
{
    if (fit_objective_value(own->obj, theta) != FIT_EVAL_OK)
        return INFINITY;
    double rise = rise_of(s, own->obj->cost);
    if (rise < most)
        fit_evidence_add(&met->evidence, own->obj, theta, fmax(rise, 0), s->spec->inflated);
    if (rise < -BETTER && !met->lower) {
        met->lower = 1;
        memcpy(met->better, theta, own->p * sizeof *theta);
    }
    return rise;
}

/* Room for the findings of n pieces, each at most `room` points; NULL: out of memory. */
static struct met *met_new(struct survey *s, size_t n, size_t room)
{
    struct met *met = fit_take(&s->storage, n, sizeof *met);
    const size_t nfull = s->f->evidence.nfull;
    for (size_t k = 0; met && k < n; k++) {
        struct fit_evidence *e = &met[k].evidence;
        *e = (struct fit_evidence){.room = room, .nparam = s->f->p, .nfull = nfull};
        e->x = fit_take(&s->storage, room * nfull, sizeof *e->x);
        FIT_TAKE_DOUBLES(&s->storage, room, &e->rise, &e->own);
        met[k].better = fit_take(&s->storage, s->f->p, sizeof *met[k].better);
    }
    return s->storage.failed ? NULL : met;
}

/* Merges the findings of the pieces, in their order. */
static void take_met(struct survey *s, const struct met *met, size_t n)
{
    struct fit_ls *f = s->f;
    for (size_t k = 0; k < n; k++) {
        fit_evidence_append(&f->evidence, &met[k].evidence, 0);
        if (!met[k].lower || f->found_lower)
            continue;
        f->found_lower = 1;
        memcpy(f->better, met[k].better, f->p * sizeof *f->better);
    }
}

/* ---- valleys of rates -------------------------------------------------------------------------------------------- */

/* The unit of exponents. */
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

/* The valley of a rate on one side of the exponent of the fit. */
struct valley {
    const struct fit_rate *rate;
    double side, far;
};

struct valleys {
    const struct survey *s;
    const struct valley *valley;
    struct met *met;
};

static enum fit_status look_along(void *user, struct fit_ls *own, size_t m, size_t k)
{
    const struct valleys *all = user;
    const struct survey *s = all->s;
    const struct valley *v = &all->valley[k];
    const struct fit_ls *f = s->f;
    struct desk *d = &s->desk[m];
    const size_t e = v->rate->exponent;
    double exponent[2 * EXPONENTS + 1], *at = d->theta;
    size_t n = exponents(s, v->rate, v->side, exponent), bytes = f->p * sizeof *at;
    memcpy(at, s->best, bytes);
    for (size_t i = 0; i < n && fabs(exponent[i] - s->best[e]) <= v->far; i++) {
        memcpy(d->next, at, bytes);
        if (!fit_valley_point(v->rate, &f->ds->layout, f->lower, f->upper, at, exponent[i], d->next))
            continue;
        double rise = follow(s, d, (long)e, d->next);
        if (!isfinite(rise))
            continue;
        memcpy(at, d->next, bytes);
        if (rise < 1.5 * s->spec->limit * s->spec->limit)
            confirm(s, own, at, s->spec->limit * s->spec->limit, &all->met[k]);
    }
    return FIT_OK;
}

static int is_free(const struct fit_ls *f, size_t k)
{
    return f->upper[k] > f->lower[k];
}

static enum fit_status look_at_valleys(struct survey *s)
{
    const struct fit_ls *f = s->f;
    const size_t nrate = f->kernel->space == FIT_PAIRS ? f->kernel->nrate : 0;
    struct valley *valley = fit_take(&s->storage, 2 * nrate, sizeof *valley);
    size_t n = 0;
    for (size_t k = 0; valley && k < nrate; k++) {
        const struct fit_rate *r = &f->kernel->rate[k];
        if (!is_free(f, r->exponent) || !is_free(f, r->amplitude) || !is_free(f, r->offset))
            continue;
        double std = f->res->std[r->exponent], far = std > 0 && isfinite(std) ? FAR * std : INFINITY;
        valley[n++] = (struct valley){r, -1, far};
        valley[n++] = (struct valley){r, 1, far};
    }
    struct valleys all = {s, valley, met_new(s, n, 2 * EXPONENTS + 1)};
    if (!all.met)
        return fit_no_memory(f->err, "fit");
    enum fit_status st = fit_crew_run(s->spec->crew, n, look_along, &all);
    take_met(s, all.met, n);
    return st;
}

/* Without bounds there is no range in which to look for other values: periods below the distance of the points, say. */
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
    s->candidate[at] = (struct candidate){theta, rise, 0};
}

static double cheap_rise(const struct survey *s)
{
    return rise_of(s, fit_sketch_value(s->desk[0].cheap, s->theta, -1, 0));
}

/* The i-th value of a scan along parameter k, as a position in its box from 0 to 1. */
static double scanned(const struct survey *s, size_t k, size_t i, double *theta)
{
    const struct fit_ls *f = s->f;
    double u = ((double)i + 0.5) / (double)s->points;
    theta[k] = fit_start_sample(&f->kernel->param[k], f->lower[k], f->upper[k], s->best[k], u);
    return u;
}

/* Costs along parameter k. */
static enum fit_status scan(void *user, struct fit_ls *own, size_t m, size_t k)
{
    const struct survey *s = user;
    const struct desk *d = &s->desk[m];
    memcpy(d->theta, s->best, own->p * sizeof *d->theta);
    for (size_t i = 0; has_box(own, k) && i < s->points; i++) {
        scanned(s, k, i, d->theta);
        s->cost[k * s->points + i] = rise_of(s, fit_sketch_value(d->cheap, d->theta, -1, 0));
    }
    return FIT_OK;
}

/* Local minima of these, except the one that contains the best. */
static void propose_dips(struct survey *s, size_t k)
{
    const double here = fit_start_position(&s->box, k, s->best[k]), *cost = s->cost + k * s->points;
    const size_t n = s->points;
    memcpy(s->theta, s->best, s->f->p * sizeof *s->theta);
    for (size_t i = 0; i < n; i++) {
        double u = scanned(s, k, i, s->theta);
        if ((i == 0 || cost[i] < cost[i - 1]) && (i + 1 == n || cost[i] <= cost[i + 1]) &&
            fabs(u - here) > 1.0 / (double)n)
            propose(s, cost[i]);
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

/* Points all over the box. */
static void propose_random(struct survey *s, size_t n)
{
    const struct fit_ls *f = s->f;
    for (size_t i = 0; i < n; i++) {
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

static enum fit_status look_for_modes(struct survey *s)
{
    const struct fit_ls *f = s->f;
    const int rows = f->kernel->space == FIT_ROWS;
    size_t nfree = 0;
    for (size_t k = 0; k < f->p; k++)
        nfree += has_box(f, k) != 0;
    s->points = SCAN;
    if (rows)
        s->points = (size_t)fmin(fmax(SCAN_WORK / (double)(f->ds->npoint * (nfree + 1)), SCAN), SCAN_MOST);
    FIT_TAKE_DOUBLES(&s->storage, f->p * s->points, &s->cost);
    if (!s->cost)
        return fit_no_memory(f->err, "fit");
    enum fit_status st = fit_crew_run(s->spec->crew, f->p, scan, s);
    for (size_t k = 0; k < f->p && st == FIT_OK; k++) {
        if (!has_box(f, k))
            continue;
        propose_dips(s, k);
        reflected(s, k, -s->best[k]);
    }
    for (size_t i = 0; i < f->kernel->nrate; i++)
        reflect_rate(s, &f->kernel->rate[i]);
    for (size_t i = 0; i < f->kernel->ndegeneracy; i++)
        if (f->kernel->degeneracy[i].kind == FIT_DEGENERATE_MIRROR_ANGLE)
            reflect_angle(s, &f->kernel->degeneracy[i]);
    if (rows && s->points > SCAN)
        propose_random(s, RANDOM * nfree);
    return st;
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

/* 1: the same values within their errors, for other parameters: exchanged terms of a sum. */
static int is_exchange(const struct survey *s, const double *theta, double *next)
{
    size_t p = s->f->p, found = 0;
    memcpy(next, theta, p * sizeof *theta);
    for (size_t k = 0; k < p; k++) {
        double std = s->f->res->std[k], near = EQUAL * fabs(s->best[k]) + (isfinite(std) ? EQUAL_STD * std : 0);
        for (size_t l = 0; l < p; l++)
            if (fabs(next[l] - s->best[k]) <= near) {
                next[l] = NAN; /* taken */
                found++;
                break;
            }
    }
    return found == p && p > 1;
}

/* 1: another point of a degeneracy that is reported anyway: only undetermined values differ. */
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

/* 1: the best with exchanged terms, or with signs changed in a way that the compiler has found: reported elsewhere,
 * and the errors are those of the terms. next: work space. */
static int is_image(const struct survey *s, const double *theta, double *next)
{
    const struct fit_ls *f = s->f;
    for (size_t i = 0; i < f->kernel->ndegeneracy; i++) {
        const struct fit_degeneracy *d = &f->kernel->degeneracy[i];
        if (d->kind != FIT_DEGENERATE_MIRROR)
            continue;
        image_of(s, d, theta, next);
        if (squared_distance(s, next, s->best) < SAME * SAME)
            return 1;
    }
    return is_degenerate(s, theta) || is_exchange(s, theta, next);
}

/* A minimum of the data becomes one of the result. */
static void record(struct survey *s, const double *theta, double rise)
{
    struct fit_result *r = s->f->res;
    for (size_t k = 0; k < r->nminimum; k++)
        if (squared_distance(s, theta, r->minima[k].theta) < SAME * SAME)
            return;
    if (r->nminimum == r->room_minimum)
        return;
    size_t at = r->nminimum++;
    struct fit_minimum m = {.theta = r->minima[at].theta, .cost = s->least + 0.5 * rise * s->spec->variance,
                            .above = fmax(rise, 0) * s->spec->inflated, .found = 1};
    snprintf(m.origin, sizeof m.origin, "survey around the minimum");
    memcpy(m.theta, theta, s->f->p * sizeof *m.theta);
    for (; at > 1 && r->minima[at - 1].above > m.above; at--)
        r->minima[at] = r->minima[at - 1];
    r->minima[at] = m;
}

struct candidates {
    const struct survey *s;
    struct met *met;
};

static enum fit_status follow_candidate(void *user, struct fit_ls *own, size_t m, size_t c)
{
    const struct candidates *all = user;
    const struct survey *s = all->s;
    struct candidate *candidate = &s->candidate[c];
    double *theta = candidate->theta, *next = s->desk[m].next;
    const double told = PROMISING * s->spec->limit * s->spec->limit;
    double rise = follow(s, &s->desk[m], -1, theta);
    if (!(rise < told) || squared_distance(s, theta, s->best) < SAME * SAME || is_image(s, theta, next))
        return FIT_OK;
    if (fit_sketch_is_thin(s->desk[m].cheap)) {
        fit_ls_try(own, theta, STEPS);
        if (squared_distance(s, theta, s->best) < SAME * SAME)
            return FIT_OK;
    }
    candidate->rise = confirm(s, own, theta, s->spec->rival, &all->met[c]);
    candidate->told = candidate->rise < told;
    return FIT_OK;
}

/* Follows the candidates to minima of the data; reports the best first. */
static enum fit_status follow_candidates(struct survey *s)
{
    struct candidates all = {s, met_new(s, s->n, 1)};
    if (!all.met)
        return fit_no_memory(s->f->err, "fit");
    enum fit_status st = s->f->over ? FIT_OK : fit_crew_run(s->spec->crew, s->n, follow_candidate, &all);
    take_met(s, all.met, s->n);
    for (size_t c = 0; c < s->n; c++)
        if (s->candidate[c].told)
            record(s, s->candidate[c].theta, s->candidate[c].rise);
    return st;
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* Minima found by the search for starts. */
static enum fit_status confirm_known(struct survey *s)
{
    const struct fit_result *r = s->f->res;
    struct met *met = met_new(s, 1, r->nminimum);
    if (!met)
        return fit_no_memory(s->f->err, "fit");
    for (size_t m = 1; m < r->nminimum; m++)
        if (r->minima[m].above < s->spec->rival * s->spec->inflated && !is_image(s, r->minima[m].theta, s->next))
            confirm(s, s->f, r->minima[m].theta, s->spec->rival, met);
    take_met(s, met, 1);
    return FIT_OK;
}

static enum fit_status begin(struct survey *s)
{
    const struct fit_ls *f = s->f;
    const size_t p = f->p;
    struct fit_arena *a = &s->storage;
    s->desk = fit_take(a, s->spec->crew->n, sizeof *s->desk);
    for (size_t m = 0; s->desk && m < s->spec->crew->n; m++) {
        struct desk *d = &s->desk[m];
        d->cheap = s->spec->cheap[m];
        FIT_TAKE_DOUBLES(a, p, &d->lower, &d->upper, &d->theta, &d->next);
        if (a->failed)
            break;
        memcpy(d->lower, f->lower, p * sizeof *d->lower);
        memcpy(d->upper, f->upper, p * sizeof *d->upper);
    }
    s->candidate = fit_take(a, s->most, sizeof *s->candidate);
    for (size_t c = 0; s->candidate && c < s->most; c++)
        s->candidate[c].theta = fit_take(a, p, sizeof *s->candidate->theta);
    if (a->failed)
        return fit_no_memory(f->err, "fit");
    s->theta = s->desk[0].theta;
    s->next = s->desk[0].next;
    return FIT_OK;
}

enum fit_status fit_survey(struct fit_ls *f, const struct fit_survey_spec *spec)
{
    struct survey s = {.f = f,
                       .spec = spec,
                       .best = f->res->theta,
                       .most = f->kernel->space == FIT_ROWS ? FOLLOWED_ROWS : FOLLOWED,
                       .least = fit_sketch_least(spec->cheap[0])};
    s.box = (struct fit_start_spec){.kernel = f->kernel, .lower = f->lower, .upper = f->upper, .start = f->res->theta};
    enum fit_status st = begin(&s);
    if (st == FIT_OK && (st = confirm_known(&s)) == FIT_OK)
        st = look_at_valleys(&s);
    if (st == FIT_OK && !f->opt->start_only && (st = look_for_modes(&s)) == FIT_OK) /* else nothing is to be searched */
        st = follow_candidates(&s);
    fit_arena_free(&s.storage);
    if (st == FIT_OK && f->opt->interrupt && *f->opt->interrupt)
        return fit_fail(f->err, FIT_ERR_INTERRUPTED, "fit: interrupted");
    return st;
}
