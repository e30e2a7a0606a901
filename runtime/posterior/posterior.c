/* posterior.c -- combines priors, coordinates and the collapsed density; see posterior.h. */
#include "posterior/posterior.h"

#include "data/tile_sums.h"
#include "model/linkage.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A linear parameter nearer to a bound than this many standard deviations is sampled: beyond, the probability
 * outside the bound is below 2e-9 for a normal distribution. For a t distribution (few values, noise integrated out)
 * it is the distance at which the density has fallen by as much. */
static const double NEAR = 6;

struct fit_posterior_lane {
    struct fit_collapsed *c;
    double *theta, *u, *log_sigma;    /* the point */
    double *g_theta, *g_u, *g_sigma;  /* its slopes */
    struct fit_rate_point *rate;      /* nrate, at the point */
    size_t nvalue, nadjoint;          /* passes before the transition that is being made */
};

/* ---- setting up ---------------------------------------------------------------------------------------- */

static size_t groups(const struct fit_posterior *p)
{
    return p->setup.kernel->space == FIT_ROWS && p->setup.ds->layout.ngroup == 0 ? 1 : p->setup.ds->layout.ngroup;
}

/* The setup with its own arrays. */
static int keep(struct fit_posterior *p)
{
    struct fit_posterior_setup *s = &p->setup;
    struct fit_arena *a = &p->storage_;
    size_t np = s->kernel->nparam, nl = s->kernel->nlinear, ng = groups(p);
    double *theta = fit_take_copy(a, s->theta, np, sizeof *theta);
    for (size_t k = 0; theta && k < np; k++)
        theta[k] = s->param[k].fixed ? s->param[k].value : theta[k];
    s->theta = theta;
    s->param = fit_take_copy(a, s->param, np + nl, sizeof *s->param);
    s->level = s->level ? fit_take_copy(a, s->level, np, sizeof *s->level) : NULL;
    s->lin = fit_take_copy(a, s->lin, ng * nl, sizeof *s->lin);
    s->sigma = fit_take_copy(a, s->sigma, ng, sizeof *s->sigma);
    return !a->failed;
}

static int normal_prior(const struct fit_posterior_param *x)
{
    return x->prior == FIT_PRIOR_NORMAL || x->prior == FIT_PRIOR_TRUNCATED_NORMAL || x->prior == FIT_PRIOR_NONE;
}

static struct fit_posterior_level level_of(const struct fit_posterior *p, size_t param)
{
    return p->setup.level ? p->setup.level[param] : (struct fit_posterior_level){{0, 0}, 0};
}

static enum fit_status add_coordinate(struct fit_posterior *p, enum fit_posterior_kind kind, size_t index,
                                      const struct fit_posterior_param *x, const char *name, struct fit_error *err)
{
    struct fit_posterior_coordinate *c = &p->coordinate[p->n++];
    *c = (struct fit_posterior_coordinate){.kind = kind, .index = index};
    snprintf(c->name, sizeof c->name, "%s", name);
    if (kind == FIT_POSTERIOR_PARAM || kind == FIT_POSTERIOR_LEVEL)
        memcpy(c->from, level_of(p, index).from, sizeof c->from);
    if (!fit_prior_init(&c->prior, x->prior, x->a, x->b, x->lower, x->upper))
        return fit_fail(err, FIT_ERR_CONFIG,
                        "%s: the prior %s (%g, %g) is not a density between the bounds %g and %g; give positive"
                        " deviations or scales, and bounds that leave it some mass",
                        name, fit_prior_word(x->prior), x->a, x->b, x->lower, x->upper);
    c->map = fit_coordinate_for(x->lower, x->upper);
    if (c->from[0] || c->from[1])
        c->prior.proper = 0;
    if (kind == FIT_POSTERIOR_LEVEL) {
        c->map = fit_coordinate_for(-INFINITY, INFINITY);
        snprintf(c->name, sizeof c->name, "level of %.50s", name);
    }
    if (kind == FIT_POSTERIOR_LOG_SIGMA) /* the coordinate of sigma is its logarithm */
        c->map = fit_coordinate_for(0, INFINITY);
    return FIT_OK;
}

static enum fit_status params_first(struct fit_posterior *p, struct fit_error *err)
{
    const struct fit_kernel *k = p->setup.kernel;
    for (size_t i = 0; i < k->nparam; i++) {
        const struct fit_posterior_param *x = &p->setup.param[i];
        enum fit_posterior_kind kind = level_of(p, i).deviation ? FIT_POSTERIOR_LEVEL : FIT_POSTERIOR_PARAM;
        enum fit_status st = x->fixed ? FIT_OK : add_coordinate(p, kind, i, x, k->param[i].name, err);
        if (st != FIT_OK)
            return st;
    }
    return FIT_OK;
}

/* ---- rates --------------------------------------------------------------------------------------------- */

static double or_infinite(double x, double sign)
{
    return isfinite(x) ? x : sign * INFINITY;
}

/* Parameter of a part of a rate; -1: there is none. */
static int param_of(const struct fit_rate *r, int part)
{
    const int param[FIT_RATE_PARTS] = {(int)r->amplitude, (int)r->offset, (int)r->exponent, r->shift};
    return param[part];
}

/* Mean of the base's logarithm over the frames. */
static double reference_of(const struct fit_rate *r, const struct fit_layout *l)
{
    double sum = 0, n = 0;
    for (size_t k = 0; k < l->nframe; k++) {
        double t = l->time[l->frame[k]] / r->time;
        if (r->kind == FIT_RATE_POWER && !(t > 0))
            continue;
        sum += r->kind == FIT_RATE_POWER ? log(t) : t;
        n++;
    }
    return sum / n;
}

/* Standard deviation of a shift by its prior, or a quarter of the distance between its bounds. */
static double width_of(const struct fit_posterior_param *x)
{
    struct fit_prior p;
    if (fit_prior_init(&p, x->prior, x->a, x->b, x->lower, x->upper) && p.proper)
        return 0.25 * (fit_prior_quantile(&p, 0.98) - fit_prior_quantile(&p, 0.02));
    return 0.25 * (x->upper - x->lower);
}

/* The map of rate r; 0: it has none. */
static int map_of(const struct fit_posterior *p, size_t r, struct fit_rate_map *m)
{
    const struct fit_rate *rate = &p->setup.kernel->rate[r];
    double q[FIT_RATE_COORDINATES];
    *m = (struct fit_rate_map){.reference = reference_of(rate, &p->setup.ds->layout)};
    for (int n = 0; n < FIT_RATE_PARTS; n++) {
        int k = param_of(rate, n);
        const struct fit_posterior_param *x = k < 0 ? NULL : &p->setup.param[k];
        m->fixed[n] = !x || x->fixed;
        m->part[n] =
            !x ? (struct fit_coordinate){FIT_COORDINATE_IDENTITY, 0, 0} : fit_coordinate_for(x->lower, x->upper);
        m->start[n] = k < 0 ? 0 : p->setup.theta[k];
        m->part[n].lower = m->fixed[n] ? m->start[n] : or_infinite(m->part[n].lower, -1);
        m->part[n].upper = m->fixed[n] ? m->start[n] : or_infinite(m->part[n].upper, 1);
    }
    if (!m->fixed[FIT_RATE_X])
        m->width = width_of(&p->setup.param[rate->shift]);
    if (r >= FIT_LINKAGE_RATES || p->setup.plain_rates >> r & 1 || !isfinite(m->reference) || !isfinite(m->width) ||
        (m->fixed[FIT_RATE_A] && (m->fixed[FIT_RATE_C] || !m->fixed[FIT_RATE_X])) || !(m->part[FIT_RATE_A].lower >= 0))
        return 0;
    return fit_rate_of(m, m->start, q);
}

/* Coordinate of a nonlinear parameter, these come first; -1: it is fixed. */
static int coordinate_of(const struct fit_posterior *p, int param)
{
    for (size_t i = 0; i < p->n && param >= 0; i++)
        if (p->coordinate[i].index == (size_t)param)
            return (int)i;
    return -1;
}

static void name_rate(const struct fit_posterior *p, const struct fit_rate *rate, int k, char *name)
{
    const struct fit_param *x = p->setup.kernel->param;
    const char *A = x[rate->amplitude].name, *E = x[rate->exponent].name, *C = x[rate->offset].name;
    const char *X = rate->shift >= 0 ? x[rate->shift].name : "";
    switch (k) {
    case FIT_RATE_U:
        if (rate->kind == FIT_RATE_POWER)
            snprintf(name, 64, "log(%s t^%s + %s)", A, E, C);
        else
            snprintf(name, 64, *X ? "log(%s exp(%s (t - %s)) + %s)" : "log(%s exp(%s t%s) + %s)", A, E, X, C);
        break;
    case FIT_RATE_V: snprintf(name, 64, "log share of %s", A); break;
    case FIT_RATE_Y: snprintf(name, 64, "%s times share", E); break;
    default: snprintf(name, 64, "%s or %s", A, X); break;
    }
}

static void set_rate(struct fit_posterior *p, size_t r, const struct fit_rate_map *m)
{
    const struct fit_rate *rate = &p->setup.kernel->rate[r];
    struct fit_posterior_rate *x = &p->rate[p->nrate++];
    *x = (struct fit_posterior_rate){.map = *m, .which = r, .cut = !(m->part[FIT_RATE_C].lower >= 0)};
    int at[FIT_RATE_PARTS];
    for (int n = 0; n < FIT_RATE_PARTS; n++)
        at[n] = coordinate_of(p, param_of(rate, n));
    int place[FIT_RATE_COORDINATES] = {at[FIT_RATE_A], at[FIT_RATE_C], at[FIT_RATE_E], at[FIT_RATE_X]};
    if (m->fixed[FIT_RATE_A])
        place[FIT_RATE_U] = at[FIT_RATE_C];
    for (int k = 0; k < FIT_RATE_COORDINATES; k++) {
        x->at[k] = fit_rate_uses(m, k) ? place[k] : -1;
        if (x->at[k] < 0)
            continue;
        struct fit_posterior_coordinate *c = &p->coordinate[x->at[k]];
        c->kind = FIT_POSTERIOR_RATE;
        c->map = (struct fit_coordinate){FIT_COORDINATE_IDENTITY, -INFINITY, INFINITY};
        name_rate(p, rate, k, c->name);
    }
}

static enum fit_status rates_next(struct fit_posterior *p, struct fit_error *err)
{
    struct fit_rate_map map;
    size_t n = p->setup.kernel->nrate;
    p->rate = fit_take(&p->storage_, n, sizeof *p->rate);
    for (size_t l = 0; l < p->setup.chains; l++)
        p->lane[l].rate = fit_take(&p->storage_, n, sizeof *p->lane[l].rate);
    if (p->storage_.failed)
        return fit_no_memory(err, "posterior");
    const struct fit_posterior *like = p->setup.like;
    for (size_t r = 0; like && r < like->nrate; r++)
        set_rate(p, like->rate[r].which, &like->rate[r].map);
    for (size_t r = 0; !like && r < n; r++)
        if (map_of(p, r, &map))
            set_rate(p, r, &map);
    return FIT_OK;
}

/* ---- linear parameters and noise ----------------------------------------------------------------------- */

/* Group and parameter of an unknown (the first that has it). */
static size_t entry_of(const struct fit_objective *o, size_t u)
{
    for (size_t e = 0; e < o->ngroup * o->nlinear; e++)
        if (o->map[e] == (int)u)
            return e;
    return 0;
}

static int shared(const struct fit_objective *o, size_t u)
{
    size_t n = 0;
    for (size_t e = 0; e < o->ngroup * o->nlinear; e++)
        n += o->map[e] == (int)u;
    return n > 1 || o->ngroup == 1;
}

static int is_open(const struct fit_posterior *p, size_t q)
{
    return q < 64 && (p->setup.open >> q & 1);
}

/* Integrals over a parameter that only its bounds limit do not exist: it is excluded from them before the first
 * evaluation. */
static void open_first(struct fit_posterior *p)
{
    struct fit_collapsed *c = p->lane[0].c;
    for (size_t u = 0; u < c->o->nu; u++)
        if (is_open(p, entry_of(c->o, u) % p->setup.kernel->nlinear))
            fit_collapsed_explicit(c, u);
}

/* Distance in standard deviations at which the density of unknown u has fallen to that of a normal one at NEAR: its
 * t distribution has 2 a_n degrees of freedom n, density ~ (1 + t^2/n)^(-(n + 1)/2), and deviation sqrt(n/(n - 2)). */
static double reach_of(const struct fit_collapsed *c, size_t u)
{
    const double n = 2 * c->a_n[c->block_unit[c->o->block_of[u]]];
    if (c->variance != FIT_VARIANCE_UNIT && c->variance != FIT_VARIANCE_SHARED)
        return NEAR;
    return sqrt(fmax(n - 2, 0) * expm1(NEAR * NEAR / (n + 1)));
}

/* Unknowns that cannot be integrated out become coordinates in all lanes. */
static enum fit_status linear_next(struct fit_posterior *p, struct fit_error *err)
{
    struct fit_collapsed *c = p->lane[0].c;
    const struct fit_objective *o = c->o;
    const struct fit_kernel *k = p->setup.kernel;
    for (size_t u = 0; u < o->nu; u++) {
        size_t e = entry_of(o, u), q = e % k->nlinear;
        const struct fit_posterior_param *x = &p->setup.param[k->nparam + q];
        double mean, sd;
        fit_collapsed_unknown(c, u, &mean, &sd);
        mean += o->origin[u];
        const double reach = reach_of(c, u) * sd;
        int near = mean - reach < x->lower || mean + reach > x->upper; /* no bound: false */
        if (p->setup.like ? !p->setup.like->lane[0].c->explicit_[u] : normal_prior(x) && !near && !is_open(p, q))
            continue;
        char name[64];
        if (shared(o, u))
            snprintf(name, sizeof name, "%s", k->linear[q].name);
        else
            snprintf(name, sizeof name, "%s[%zu]", k->linear[q].name, e / k->nlinear);
        enum fit_status st = add_coordinate(p, FIT_POSTERIOR_LINEAR, u, x, name, err);
        if (st != FIT_OK)
            return st;
        p->nbound += near ? 1 : 0;
    }
    for (size_t i = 0; i < p->n; i++)
        for (size_t l = 0; l < p->setup.chains && p->coordinate[i].kind == FIT_POSTERIOR_LINEAR; l++)
            fit_collapsed_explicit(p->lane[l].c, p->coordinate[i].index);
    return FIT_OK;
}

/* Contribution of bounds to the priors of integrated parameters, each unknown once. */
static double cut_of(const struct fit_posterior *p)
{
    const struct fit_collapsed *c = p->lane[0].c;
    const struct fit_kernel *k = p->setup.kernel;
    double sum = 0;
    for (size_t u = 0; u < c->o->nu; u++) {
        const struct fit_posterior_param *x = &p->setup.param[k->nparam + entry_of(c->o, u) % k->nlinear];
        struct fit_prior cut, whole = {0};
        int normal = x->prior != FIT_PRIOR_NONE;
        if (!c->explicit_[u] && fit_prior_init(&cut, x->prior, x->a, x->b, x->lower, x->upper) &&
            (!normal || fit_prior_init(&whole, x->prior, x->a, x->b, -INFINITY, INFINITY)))
            sum -= cut.log_norm - whole.log_norm;
    }
    return sum;
}

static enum fit_status sigma_last(struct fit_posterior *p, struct fit_error *err)
{
    const struct fit_collapsed *c = p->lane[0].c;
    for (size_t k = 0; k < c->nunit && fit_variance_given(p->setup.variance); k++) {
        char name[64];
        snprintf(name, sizeof name, c->nunit > 1 ? "sigma[%zu]" : "sigma", k);
        enum fit_status st = add_coordinate(p, FIT_POSTERIOR_LOG_SIGMA, k, &p->setup.noise, name, err);
        if (st != FIT_OK)
            return st;
    }
    return FIT_OK;
}

static enum fit_status new_lane(struct fit_posterior *p, struct fit_posterior_lane *l,
                                const struct fit_collapsed_setup *cs, struct fit_error *err)
{
    size_t np = p->setup.kernel->nparam, nu = groups(p) * p->setup.kernel->nlinear, ng = groups(p);
    enum fit_status st = fit_collapsed_new(p->setup.kernel, p->setup.ds, cs, &l->c, err);
    if (st != FIT_OK)
        return st;
    l->theta = fit_take_copy(&p->storage_, p->setup.theta, np, sizeof *l->theta);
    FIT_TAKE_DOUBLES(&p->storage_, np, &l->g_theta);
    FIT_TAKE_DOUBLES(&p->storage_, nu, &l->u, &l->g_u);
    FIT_TAKE_DOUBLES(&p->storage_, ng, &l->log_sigma, &l->g_sigma);
    if (p->storage_.failed)
        return fit_no_memory(err, "posterior");
    for (size_t k = 0; k < l->c->nunit; k++)
        l->log_sigma[k] = log(l->c->s0[k]);
    return FIT_OK;
}

static enum fit_status new_lanes(struct fit_posterior *p, struct fit_error *err)
{
    const struct fit_kernel *k = p->setup.kernel;
    FIT_SCRATCH(a);
    double *mean, *sd;
    FIT_TAKE_DOUBLES(&a, k->nlinear, &mean, &sd);
    unsigned char *fixed = fit_take(&a, k->nlinear, sizeof *fixed);
    enum fit_status st = a.failed ? fit_no_memory(err, "posterior") : FIT_OK;
    for (size_t q = 0; st == FIT_OK && q < k->nlinear; q++) {
        const struct fit_posterior_param *x = &p->setup.param[k->nparam + q];
        mean[q] = x->a;
        sd[q] = x->prior == FIT_PRIOR_NONE || !normal_prior(x) ? INFINITY : x->b;
        fixed[q] = x->fixed != 0;
    }
    struct fit_collapsed_setup cs = {.scaling = p->setup.scaling, .linear_class = p->setup.linear_class,
                                     .variance = p->setup.variance, .mean = mean,
                                     .sd = sd, .a0 = p->setup.a0, .sigma = p->setup.sigma, .linear_fixed = fixed,
                                     .linear_value = p->setup.lin, .count = p->setup.count,
                                     .temper = p->setup.temper,
                                     .like = p->setup.like ? p->setup.like->lane[0].c : NULL,
                                     .threads = p->setup.threads, .interrupt = p->setup.interrupt};
    for (size_t l = 0; st == FIT_OK && l < p->setup.chains; l++)
        st = new_lane(p, &p->lane[l], &cs, err);
    return st;
}

static struct fit_collapsed_point at_lane(const struct fit_posterior_lane *l)
{
    return (struct fit_collapsed_point){l->theta, l->u, l->log_sigma};
}

static enum fit_eval eval(void *user, size_t chain, const double *q, double *lp, double *g);
static void transition(void *user, size_t chain, int given_up);

/* The density is finite at the first point. */
static enum fit_status begin_finite(struct fit_posterior *p, struct fit_error *err)
{
    double lp;
    const struct fit_collapsed_point at = at_lane(&p->lane[0]);
    const enum fit_eval answer = fit_collapsed_eval(p->lane[0].c, &at, &lp, NULL);
    if (answer == FIT_EVAL_STOP)
        return fit_fail(err, FIT_ERR_INTERRUPTED, "sampling was stopped before it began");
    if (answer != FIT_EVAL_OK)
        return fit_fail(err, FIT_ERR_NUMERIC, "the posterior has no finite density at the least-squares result");
    return FIT_OK;
}

enum fit_status fit_posterior_new(const struct fit_posterior_setup *s, struct fit_posterior **out,
                                  struct fit_error *err)
{
    struct fit_posterior *p = calloc(1, sizeof *p);
    *out = NULL;
    if (!p)
        return fit_no_memory(err, "posterior");
    p->setup = *s;
    p->setup.chains = s->chains ? s->chains : 1;
    p->setup.temper = s->temper > 0 ? s->temper : 1;
    p->lane = fit_take(&p->storage_, p->setup.chains, sizeof *p->lane);
    size_t most = s->kernel->nparam + groups(p) * (s->kernel->nlinear + 1);
    p->coordinate = fit_take(&p->storage_, most, sizeof *p->coordinate);
    enum fit_status st = keep(p) ? FIT_OK : fit_no_memory(err, "posterior");
    if (st == FIT_OK && (st = new_lanes(p, err)) == FIT_OK && (st = params_first(p, err)) == FIT_OK &&
        (st = rates_next(p, err)) == FIT_OK) {
        open_first(p);
        st = begin_finite(p, err);
    }
    if (st == FIT_OK)
        st = linear_next(p, err);
    if (st == FIT_OK)
        st = sigma_last(p, err);
    if (st == FIT_OK && p->n == 0)
        st = fit_fail(err, FIT_ERR_CONFIG, "all parameters of %s are fixed: there is nothing to sample",
                      s->kernel->name);
    p->target = (struct fit_target){p->n, p, eval, transition};
    if (st != FIT_OK) {
        fit_posterior_free(p);
        return st;
    }
    p->cut = cut_of(p);
    *out = p;
    return FIT_OK;
}

void fit_posterior_free(struct fit_posterior *p)
{
    if (!p)
        return;
    for (size_t l = 0; p->lane && l < p->setup.chains; l++)
        fit_collapsed_free(p->lane[l].c);
    fit_arena_free(&p->storage_);
    free(p);
}

/* ---- the density --------------------------------------------------------------------------------------- */

/* Destination of a coordinate's value; the value in physical units. */
static double *place_of(const struct fit_posterior *p, struct fit_posterior_lane *l, size_t i)
{
    const struct fit_posterior_coordinate *c = &p->coordinate[i];
    switch (c->kind) {
    case FIT_POSTERIOR_PARAM:
    case FIT_POSTERIOR_LEVEL:
    case FIT_POSTERIOR_RATE: return &l->theta[c->index];
    case FIT_POSTERIOR_LINEAR: return &l->u[c->index];
    default: return &l->log_sigma[c->index];
    }
}

/* Parameters of rate r in theta; 0: there are none. */
static int rate_of(const struct fit_posterior *p, size_t r, const double *q, double *theta, struct fit_rate_point *at)
{
    const struct fit_posterior_rate *x = &p->rate[r];
    double own[FIT_RATE_COORDINATES];
    for (int k = 0; k < FIT_RATE_COORDINATES; k++)
        own[k] = x->at[k] >= 0 ? q[x->at[k]] : 0;
    if (!fit_rate_at(&x->map, own, at))
        return 0;
    for (int n = 0; n < FIT_RATE_PARTS; n++)
        if (!x->map.fixed[n])
            theta[param_of(&p->setup.kernel->rate[x->which], n)] = at->part[n];
    return 1;
}

/* Values of levels from their coordinates: the numbers of their priors come before them. 0: there are none. */
static int levels_of(const struct fit_posterior *p, const double *q, double *theta)
{
    struct fit_prior prior;
    for (size_t i = 0; i < p->n; i++) {
        const struct fit_posterior_coordinate *c = &p->coordinate[i];
        if (c->kind != FIT_POSTERIOR_LEVEL)
            continue;
        if (!fit_posterior_level_prior(c, theta, &prior))
            return 0;
        theta[c->index] = fit_posterior_level_value(&prior, q[i]);
    }
    return 1;
}

/* The lane's point from coordinates; 0: there is none. */
static int point_of(const struct fit_posterior *p, struct fit_posterior_lane *l, const double *q)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct fit_posterior_coordinate *c = &p->coordinate[i];
        if (c->kind == FIT_POSTERIOR_LEVEL)
            continue;
        double x = fit_coordinate_at(&c->map, q[i], NULL, NULL, NULL);
        *place_of(p, l, i) = c->kind == FIT_POSTERIOR_LINEAR      ? x - l->c->o->origin[c->index]
                             : c->kind == FIT_POSTERIOR_LOG_SIGMA ? q[i]
                                                                  : x;
    }
    for (size_t r = 0; r < p->nrate; r++)
        if (!rate_of(p, r, q, l->theta, &l->rate[r]))
            return 0;
    return levels_of(p, q, l->theta);
}

/* d log p / d value in physical units. */
static double *slope_of(const struct fit_posterior *p, struct fit_posterior_lane *l, size_t i)
{
    const struct fit_posterior_coordinate *c = &p->coordinate[i];
    switch (c->kind) {
    case FIT_POSTERIOR_LINEAR: return &l->g_u[c->index];
    case FIT_POSTERIOR_LOG_SIGMA: return &l->g_sigma[c->index];
    default: return &l->g_theta[c->index];
    }
}

/* A parameter in physical units, linear ones without the origin subtracted; sigma itself. */
static double value_of(const struct fit_posterior *p, struct fit_posterior_lane *l, size_t i)
{
    const struct fit_posterior_coordinate *c = &p->coordinate[i];
    double x = *place_of(p, l, i);
    return c->kind == FIT_POSTERIOR_LINEAR      ? x + l->c->o->origin[c->index]
           : c->kind == FIT_POSTERIOR_LOG_SIGMA ? exp(x)
                                                : x;
}

/* Log priors; their derivatives, to the power of the setup, are added to those of the data; for sigma the derivative
 * is with respect to its logarithm. */
static double add_priors(const struct fit_posterior *p, struct fit_posterior_lane *l, int gradient)
{
    double lp = 0, slope, temper = p->setup.temper;
    for (size_t i = 0; i < p->n; i++) {
        const struct fit_posterior_coordinate *c = &p->coordinate[i];
        struct fit_prior prior = c->prior;
        double x = value_of(p, l, i), by_a, by_b;
        int numbers = c->from[0] || c->from[1];
        if (numbers && !fit_posterior_level_prior(c, l->theta, &prior))
            return -INFINITY;
        lp += fit_prior_log(&prior, x, &slope);
        if (gradient && numbers) {
            fit_prior_slopes(&prior, x, &by_a, &by_b);
            if (c->from[0])
                l->g_theta[c->from[0] - 1] += temper * by_a;
            if (c->from[1])
                l->g_theta[c->from[1] - 1] += temper * by_b;
        }
        if (gradient)
            *slope_of(p, l, i) +=
                p->setup.temper * (p->coordinate[i].kind == FIT_POSTERIOR_LOG_SIGMA ? slope * x : slope);
    }
    return lp;
}

/* Log Jacobians of levels; their gradients, and the contribution to the numbers of their priors, which come before
 * them. */
static double add_levels(const struct fit_posterior *p, struct fit_posterior_lane *l, const double *q, double *g)
{
    double lp = 0, unused = 0;
    for (size_t i = p->n; i-- > 0;) {
        const struct fit_posterior_coordinate *c = &p->coordinate[i];
        struct fit_prior prior;
        if (c->kind != FIT_POSTERIOR_LEVEL || !fit_posterior_level_prior(c, l->theta, &prior))
            continue;
        double *by_a = c->from[0] ? &l->g_theta[c->from[0] - 1] : &unused;
        double *by_b = c->from[1] ? &l->g_theta[c->from[1] - 1] : &unused;
        lp += fit_posterior_level_jacobian(&prior, q[i], l->theta[c->index], p->setup.temper,
                                           g ? l->g_theta[c->index] : 0, g ? &g[i] : NULL, by_a, by_b);
    }
    return lp;
}

/* Log Jacobians of the rates; converts gradients with respect to their parameters to gradients with respect to the
 * coordinates. */
static double add_rates(const struct fit_posterior *p, struct fit_posterior_lane *l, double *g)
{
    double lp = 0;
    for (size_t r = 0; r < p->nrate; r++) {
        const struct fit_posterior_rate *x = &p->rate[r];
        const struct fit_rate_point *at = &l->rate[r];
        lp += at->log_slope;
        for (int k = 0; g && k < FIT_RATE_COORDINATES; k++) {
            double by = p->setup.temper * at->d_log_slope[k];
            for (int n = 0; n < FIT_RATE_PARTS; n++)
                if (!x->map.fixed[n])
                    by += l->g_theta[param_of(&p->setup.kernel->rate[x->which], n)] * at->d_part[n][k];
            if (x->at[k] >= 0)
                g[x->at[k]] = by;
        }
    }
    return lp;
}

/* Log Jacobians of single coordinates and their gradients. */
static double add_coordinates(const struct fit_posterior *p, struct fit_posterior_lane *l, const double *q, double *g)
{
    double lp = 0, dx, log_dx, bend;
    for (size_t i = 0; i < p->n; i++) {
        enum fit_posterior_kind kind = p->coordinate[i].kind;
        fit_coordinate_at(&p->coordinate[i].map, q[i], &dx, &log_dx, &bend);
        lp += log_dx;
        if (g && kind != FIT_POSTERIOR_RATE && kind != FIT_POSTERIOR_LEVEL)
            g[i] = *slope_of(p, l, i) * (kind == FIT_POSTERIOR_LOG_SIGMA ? 1 : dx) + p->setup.temper * bend;
    }
    return lp;
}

static enum fit_eval eval(void *user, size_t chain, const double *q, double *lp, double *g)
{
    struct fit_posterior *p = user;
    struct fit_posterior_lane *l = &p->lane[chain % p->setup.chains];
    struct fit_collapsed_slope slope = {l->g_theta, l->g_u, l->g_sigma};
    if (!point_of(p, l, q))
        return FIT_EVAL_REJECT;
    struct fit_collapsed_point at = at_lane(l);
    const size_t nvalue = l->c->o->nvalue, nadjoint = l->c->o->nadjoint;
    enum fit_eval e = fit_collapsed_eval(l->c, &at, lp, g ? &slope : NULL);
    if (e == FIT_EVAL_STOP) { /* another run makes it again, and counts it */
        l->c->o->nvalue = nvalue;
        l->c->o->nadjoint = nadjoint;
    }
    if (e != FIT_EVAL_OK)
        return e;
    *lp += p->setup.temper * (p->cut + add_priors(p, l, g != NULL));
    *lp += p->setup.temper * add_levels(p, l, q, g);
    *lp += p->setup.temper * add_rates(p, l, g);
    *lp += p->setup.temper * add_coordinates(p, l, q, g);
    return isfinite(*lp) ? FIT_EVAL_OK : FIT_EVAL_REJECT;
}

static void transition(void *user, size_t chain, int given_up)
{
    const struct fit_posterior *p = user;
    struct fit_posterior_lane *l = &p->lane[chain % p->setup.chains];
    struct fit_objective *o = l->c->o;
    if (given_up) {
        o->nvalue = l->nvalue;
        o->nadjoint = l->nadjoint;
    }
    l->nvalue = o->nvalue;
    l->nadjoint = o->nadjoint;
}

double fit_posterior_height(const struct fit_posterior *p)
{
    return p->lane[0].c->height;
}

int fit_posterior_linear_proper(const struct fit_posterior *p)
{
    const struct fit_collapsed *c = p->lane[0].c;
    int proper = 1;
    for (size_t u = 0; u < c->o->nu; u++)
        proper = proper && (c->explicit_[u] || c->precision0[u] > 0);
    return proper;
}

/* ---- between coordinates and parameters ---------------------------------------------------------------- */

int fit_posterior_coordinates(const struct fit_posterior *p, const double *theta, double *q)
{
    const struct fit_posterior_lane *l = &p->lane[0];
    const struct fit_objective *o = l->c->o;
    for (size_t i = 0; i < p->n; i++) {
        const struct fit_posterior_coordinate *c = &p->coordinate[i];
        double x = c->kind == FIT_POSTERIOR_LINEAR      ? p->setup.lin[entry_of(o, c->index)]
                   : c->kind == FIT_POSTERIOR_LOG_SIGMA ? l->c->s0[c->index]
                                                        : theta[c->index];
        struct fit_prior prior;
        if (c->kind == FIT_POSTERIOR_LEVEL && !fit_posterior_level_prior(c, theta, &prior))
            return 0;
        q[i] =
            c->kind == FIT_POSTERIOR_LEVEL ? fit_posterior_level_coordinate(&prior, x) : fit_coordinate_of(&c->map, x);
    }
    for (size_t r = 0; r < p->nrate; r++) {
        const struct fit_posterior_rate *x = &p->rate[r];
        double part[FIT_RATE_PARTS], own[FIT_RATE_COORDINATES];
        for (int n = 0; n < FIT_RATE_PARTS; n++) {
            int k = param_of(&p->setup.kernel->rate[x->which], n);
            part[n] = k < 0 ? 0 : theta[k];
        }
        if (!fit_rate_of(&x->map, part, own))
            return 0;
        for (int k = 0; k < FIT_RATE_COORDINATES; k++)
            if (x->at[k] >= 0)
                q[x->at[k]] = own[k];
    }
    return 1;
}

void fit_posterior_start(const struct fit_posterior *p, double *q)
{
    fit_posterior_coordinates(p, p->setup.theta, q);
}

int fit_posterior_theta(const struct fit_posterior *p, const double *q, double *theta)
{
    struct fit_rate_point unused;
    memcpy(theta, p->setup.theta, p->setup.kernel->nparam * sizeof *theta);
    for (size_t i = 0; i < p->n; i++)
        if (p->coordinate[i].kind == FIT_POSTERIOR_PARAM)
            theta[p->coordinate[i].index] = fit_coordinate_at(&p->coordinate[i].map, q[i], NULL, NULL, NULL);
    for (size_t r = 0; r < p->nrate; r++)
        if (!rate_of(p, r, q, theta, &unused))
            return 0;
    return levels_of(p, q, theta);
}

enum fit_eval fit_posterior_draw(struct fit_posterior *p, size_t chain, const double *q, struct fit_rng *rng,
                                 double *theta, double *lin, double *sigma)
{
    struct fit_posterior_lane *l = &p->lane[chain % p->setup.chains];
    double lp;
    if (!point_of(p, l, q))
        return FIT_EVAL_REJECT;
    struct fit_collapsed_point at = at_lane(l);
    enum fit_eval e = fit_collapsed_eval(l->c, &at, &lp, NULL);
    if (e != FIT_EVAL_OK)
        return e;
    memcpy(theta, l->theta, p->setup.kernel->nparam * sizeof *theta);
    fit_collapsed_draw(l->c, rng, lin, sigma);
    return FIT_EVAL_OK;
}

void fit_posterior_uninterruptible(struct fit_posterior *p)
{
    for (size_t k = 0; k < p->setup.chains; k++)
        fit_parallel_uninterruptible(p->lane[k].c->o->par);
}

const struct fit_collapsed *fit_posterior_collapsed(const struct fit_posterior *p)
{
    return p->lane[0].c;
}

double fit_posterior_passes(const struct fit_posterior *p)
{
    double n = 0;
    for (size_t l = 0; l < p->setup.chains; l++)
        n += (double)p->lane[l].c->o->nvalue + (double)p->lane[l].c->o->nadjoint;
    return n;
}

enum fit_status fit_posterior_group(struct fit_posterior *p, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    for (size_t l = 0; l < p->setup.chains && st == FIT_OK; l++)
        st = fit_parallel_group(p->lane[l].c->o->par, err);
    return st;
}
