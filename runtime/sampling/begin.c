/* begin.c -- from a least-squares result to the mode of the posterior.
 *
 * Newton's method starts from the result. Where that finds no mode, or least squares had not converged or ended on a
 * bound, several starts are followed as well (mode.c). Rates whose coordinates exclude a part of the posterior
 * (rate_coordinates.h) get plain ones, and the mode is sought again.
 */
#include "posterior/mode.h"
#include "sampling/sampling_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STARTS = 6, MINIMA = 6 };
static const double AS_GOOD = 20;  /* chi2 of another minimum above the best that the posterior may prefer to it */
static const double WIDEST = 4;    /* of a coordinate on a logarithmic or logistic scale, e^8 between its ends */
static const double CUT_WIDTH = 0.25; /* deviation of log rate from which rates of 0 and less count */
static const double TAIL = 0.001;  /* of a prior: farther out, least squares and prior are inconsistent */

void fit_mode_scales(const struct fit_posterior *p, const struct fit_result *fit, const double *q, double *scale,
                         double *widest)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct fit_posterior_coordinate *c = &p->coordinate[i];
        int plain = c->map.kind == FIT_COORDINATE_IDENTITY && c->kind != FIT_POSTERIOR_RATE;
        double slope, sd = NAN, wide = WIDEST;
        fit_coordinate_at(&c->map, q[i], &slope, NULL, NULL);
        if (c->kind == FIT_POSTERIOR_PARAM && fit) /* those of rates: the Hessian will tell */
            sd = fit->std[c->index] / fabs(slope);
        if (c->kind == FIT_POSTERIOR_LEVEL) /* about standard normal by their prior */
            sd = 0.5;
        if (c->kind == FIT_POSTERIOR_LOG_SIGMA)
            sd = 1 / sqrt(2 * (double)p->setup.ds->npoint);
        if (plain && c->kind != FIT_POSTERIOR_LEVEL)
            wide = c->prior.proper ? fit_prior_quantile(&c->prior, 0.98) - fit_prior_quantile(&c->prior, 0.02) : 1e300;
        scale[i] = sd > 1e-10 && sd < 1 ? sd : 0.03;
        widest[i] = wide;
    }
}

/* ---- several starts ------------------------------------------------------------------------------------ */

static int is_odd(const struct fit_posterior_coordinate *c, double x)
{
    return c->prior.proper && !(x > fit_prior_quantile(&c->prior, TAIL) && x < fit_prior_quantile(&c->prior, 1 - TAIL));
}

/* Parameters of start k: the result; the result with parameters that contradict the prior at its median; all
 * medians; where least squares began; the model's own; the first of its random sets. */
static void start_point(const struct fit_posterior *p, const struct fit_result *fit, int k, double *theta)
{
    const struct fit_kernel *kernel = p->setup.kernel;
    memcpy(theta, p->setup.theta, kernel->nparam * sizeof *theta);
    for (size_t i = 0; i < p->n; i++) {
        const struct fit_posterior_coordinate *c = &p->coordinate[i];
        size_t n = c->index;
        if (c->kind != FIT_POSTERIOR_PARAM && c->kind != FIT_POSTERIOR_RATE)
            continue;
        if (c->prior.proper && (k == 2 || (k == 1 && is_odd(c, theta[n]))))
            theta[n] = fit_prior_quantile(&c->prior, 0.5);
        else if (k == 3 && fit)
            theta[n] = fit->start[n];
        else if (k == 4)
            theta[n] = kernel->param[n].start;
        else if (k == 5 && kernel->nscreen)
            theta[n] = kernel->screen[n];
    }
}

/* "at D0_ref 5870, f1 -0.047": the two parameters by which another mode differs most, in units of their priors. */
static void name_mode(const struct fit_posterior *p, const double *here, const double *there, char *text, size_t size)
{
    const struct fit_kernel *k = p->setup.kernel;
    size_t most = 0, next = 0;
    double far = -1, less = -1;
    for (size_t i = 0; i < k->nparam; i++) {
        const struct fit_param *x = &k->param[i];
        double scale = x->upper - x->lower > 0 && isfinite(x->upper - x->lower) ? fabs(here[i]) + fabs(there[i]) : 1;
        double apart = fabs(here[i] - there[i]) / (scale > 0 ? scale : 1);
        if (apart > far) {
            next = most;
            less = far;
            most = i;
            far = apart;
        } else if (apart > less) {
            next = i;
            less = apart;
        }
    }
    snprintf(text, size, "%s %.3g instead of %.3g", k->param[most].name, there[most], here[most]);
    size_t n = strlen(text);
    if (less > 0)
        snprintf(text + n, size - n, ", %s %.3g instead of %.3g", k->param[next].name, there[next], here[next]);
}

static void note_other(struct fit_samples *s, const struct fit_posterior *p, const struct fit_mode *mode,
                       const double *other, double other_mass, double *theta)
{
    s->other_mass = 0;
    if (!(other_mass > -INFINITY))
        return;
    s->other_mass = 1 / (1 + exp(mode->log_mass - other_mass));
    if (fit_posterior_theta(p, mode->q, theta) && fit_posterior_theta(p, other, theta + s->nparam))
        name_mode(p, theta, theta + s->nparam, s->other_text, sizeof s->other_text);
}

static enum fit_status search(struct fit_sampling_run *m, const struct fit_result *fit, const struct fit_mode_ask *ask,
                              struct fit_mode *mode, struct fit_error *err)
{
    size_t n = m->p->n, np = m->s->nparam, more = fit && fit->nminimum > 1 ? fit->nminimum - 1 : 0, nstart = 0;
    more = more < MINIMA ? more : MINIMA;
    double other_mass, *room = malloc(((STARTS + more + 1) * n + 2 * np + 1) * sizeof *room);
    if (!room)
        return fit_no_memory(err, "posterior");
    double *theta = room + (STARTS + more + 1) * n, *other = room + (STARTS + more) * n;
    for (int k = 0; k < STARTS; k++) {
        start_point(m->p, fit, k, theta);
        nstart += fit_posterior_coordinates(m->p, theta, room + nstart * n) != 0;
    }
    for (size_t k = 1; k <= more; k++)
        nstart += fit_posterior_coordinates(m->p, fit->minima[k].theta, room + nstart * n) != 0;
    enum fit_status st = fit_mode_search(&m->p->target, nstart, room, ask, mode, other, &other_mass, err);
    m->s->starts = nstart;
    if (st == FIT_OK)
        note_other(m->s, m->p, mode, other, other_mass, theta);
    free(m->other);
    m->nother = n;
    m->other = st == FIT_OK && other_mass > -INFINITY ? malloc(n * sizeof *m->other) : NULL;
    if (m->other)
        memcpy(m->other, other, n * sizeof *m->other);
    free(room);
    return st;
}

/* Why several starts are needed; NULL: they are not. */
static const char *doubt(const struct fit_samples *s, const struct fit_result *fit, const struct fit_mode *mode)
{
    if (fit && !fit->converged)
        return "least squares had not converged";
    for (size_t k = 0; fit && k < s->nparam; k++)
        if (fit->at_bound[k])
            return "least squares ended on a bound";
    if (fit && fit->nminimum > 1 && fit->minima[1].above < AS_GOOD)
        return "least squares found another minimum nearly as good";
    return mode->found ? NULL : "there was no mode near the least-squares result";
}

/* ---- the mode ------------------------------------------------------------------------------------------ */

static enum fit_status mode_of(struct fit_sampling_run *m, const struct fit_result *fit, struct fit_error *err)
{
    struct fit_samples *s = m->s;
    size_t n = m->p->n;
    double *scale = malloc(2 * n * sizeof *scale);
    if (!scale)
        return fit_no_memory(err, "posterior");
    struct fit_mode_ask ask = {.scale = scale, .widest = scale + n, .seed = s->seed};
    struct fit_mode mode = {.q = s->mode, .covariance = s->mode_covariance};
    fit_posterior_start(m->p, s->mode);
    fit_mode_scales(m->p, fit, s->mode, scale, scale + n);
    enum fit_status st = fit_mode_find(&m->p->target, &ask, &mode, err);
    if (st == FIT_ERR_NUMERIC)
        mode.log_mass = -INFINITY;
    const char *why = doubt(s, fit, &mode);
    s->starts = 1;
    if (why && (st == FIT_OK || st == FIT_ERR_NUMERIC))
        st = search(m, fit, &ask, &mode, err);
    if (why)
        snprintf(s->start_text, sizeof s->start_text, "%s", why);
    s->weak = mode.weak;
    free(scale);
    return st;
}

/* Rates that may be 0 or less in the posterior, as bits. */
static uint64_t cut_rates(const struct fit_posterior *p, const double *covariance)
{
    uint64_t bits = 0;
    for (size_t r = 0; r < p->nrate; r++) {
        size_t u = (size_t)p->rate[r].at[FIT_RATE_U];
        if (p->rate[r].cut && !(covariance[u * p->n + u] < CUT_WIDTH * CUT_WIDTH))
            bits |= UINT64_C(1) << p->rate[r].which;
    }
    return bits;
}

enum fit_status fit_sampling_mode(struct fit_sampling_run *m, const struct fit_posterior_setup *setup,
                                  const struct fit_result *fit, struct fit_error *err)
{
    enum fit_status st = mode_of(m, fit, err);
    uint64_t cut = st == FIT_OK ? cut_rates(m->p, m->s->mode_covariance) : 0;
    if (cut) {
        m->plain_rates |= cut;
        fit_posterior_free(m->p);
        m->p = NULL;
        st = fit_sampling_open(m, setup, err);
        if (st == FIT_OK)
            st = mode_of(m, fit, err);
    }
    if (st != FIT_OK && m->opt->interrupt && *m->opt->interrupt) /* a density was not finished, not infinite */
        st = fit_fail(err, FIT_ERR_INTERRUPTED, "stopped while the mode of the posterior was looked for");
    return st;
}
