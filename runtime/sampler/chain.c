/* chain.c -- one Markov chain: start, warm-up and sampling, and its state as bytes.
 *
 * Everything that the next iteration depends on is in the words of the struct that each_word()
 * lists and in the block of doubles behind `q`. */
#include "sampler/chain.h"

#include "common/sha256.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct fit_chain {
    size_t n, number;
    struct fit_chain_options opt;

    uint32_t iteration;
    uint32_t known;  /* the first metric came from outside */
    uint32_t search; /* a first step size has to be found before the next transition */
    double step;     /* to search from */
    struct fit_dual dual;
    double warm_gradients, warm_divergences;
    struct fit_point x;
    struct fit_metric metric;
    struct fit_window window;

    struct fit_windows plan; /* follows from opt and known */
    struct fit_nuts *nuts;
    double *work;
    size_t nblock;
    double block[]; /* q, g, metric, window; then work */
};

/* ---- making ---------------------------------------------------------------------------------- */

static double *take(double **at, size_t n)
{
    double *p = *at;
    *at += n;
    return p;
}

struct fit_chain *fit_chain_new(size_t n, size_t number, const struct fit_chain_options *opt)
{
    int dense = !opt->diagonal;
    size_t nm = fit_metric_size(n, dense);
    size_t nblock = 2 * n + 2 * nm + fit_window_size(n, dense);
    struct fit_chain *c = calloc(1, sizeof *c + (nblock + fit_metric_work(n)) * sizeof(double));
    if (!c)
        return NULL;
    c->n = n;
    c->number = number;
    c->opt = *opt;
    if (c->opt.target_accept <= 0)
        c->opt.target_accept = 0.85;
    if (c->opt.max_depth == 0)
        c->opt.max_depth = 10;
    double *at = c->block;
    c->nblock = nblock;
    c->x.q = take(&at, n);
    c->x.g = take(&at, n);
    c->metric = (struct fit_metric){n, dense, NULL, NULL};
    c->metric.inverse = take(&at, nm);
    c->metric.factor = take(&at, nm);
    c->window = (struct fit_window){.n = n, .dense = dense};
    c->window.mean_x = take(&at, n);
    c->window.mean_g = take(&at, n);
    c->window.sum_x = take(&at, nm);
    c->window.sum_g = take(&at, nm);
    c->work = at;
    c->nuts = fit_nuts_new(n, c->opt.max_depth);
    if (!c->nuts) {
        free(c);
        return NULL;
    }
    return c;
}

void fit_chain_free(struct fit_chain *c)
{
    if (!c)
        return;
    fit_nuts_free(c->nuts);
    free(c);
}

/* 1 / |g|: with one draw and one gradient no more is known (Seyboldt et al. 2024, section 3).
 */
static void metric_from_gradient(struct fit_chain *c)
{
    for (size_t k = 0; k < c->n; k++)
        c->work[k] = fmin(fmax(1 / fabs(c->x.g[k]), 1e-20), 1e20);
    fit_metric_diagonal(&c->metric, c->work);
}

enum fit_status fit_chain_start(struct fit_chain *c, const struct fit_target *target,
                                const double *q, const double *covariance, struct fit_error *err)
{
    memcpy(c->x.q, q, c->n * sizeof *q);
    enum fit_eval answer = fit_target_eval(target, c->number, c->x.q, &c->x.lp, c->x.g);
    if (answer == FIT_EVAL_STOP)
        return fit_fail(err, FIT_ERR_INTERRUPTED, "chain %zu: stopped at its start", c->number);
    if (answer != FIT_EVAL_OK)
        return fit_fail(err, FIT_ERR_NUMERIC,
                        "chain %zu: the log density at the starting point is not finite",
                        c->number);
    if (covariance && fit_metric_covariance(&c->metric, covariance) != 0)
        return fit_fail(err, FIT_ERR_NUMERIC,
                        "chain %zu: the covariance for the first metric is not positive definite",
                        c->number);
    c->known = covariance != NULL;
    if (!c->known)
        metric_from_gradient(c);
    fit_windows_plan(&c->plan, c->opt.schedule, c->opt.warmup, (int)c->known);
    fit_window_clear(&c->window);
    c->iteration = 0;
    c->search = 1;
    c->step = 1;
    c->warm_gradients = 1;
    c->warm_divergences = 0;
    fit_dual_start(&c->dual, c->opt.target_accept, c->step);
    return FIT_OK;
}

/* ---- one iteration --------------------------------------------------------------------------- */

static enum fit_status interrupted(const struct fit_chain *c, const struct fit_target *target, struct fit_error *err)
{
    fit_target_transition(target, c->number, 1);
    return fit_fail(err, FIT_ERR_INTERRUPTED, "chain %zu: stopped after %lu iterations", c->number,
                    (unsigned long)c->iteration);
}

static enum fit_status find_step(struct fit_chain *c, const struct fit_nuts_move *move,
                                 struct fit_error *err)
{
    double step = c->step, gradients = 0;
    enum fit_eval answer = fit_nuts_first_step(c->nuts, move, &c->x, &step, &gradients);
    if (answer == FIT_EVAL_STOP)
        return interrupted(c, move->target, err);
    if (answer != FIT_EVAL_OK)
        return fit_fail(err, FIT_ERR_NUMERIC,
                        "chain %zu, iteration %lu: no step size from 1e-300 to 1e7 changes the log "
                        "density by about 0.2: it is flat, or has no finite value around the point",
                        c->number, (unsigned long)c->iteration);
    c->warm_gradients += gradients;
    c->search = 0;
    fit_dual_start(&c->dual, c->opt.target_accept, step);
    return FIT_OK;
}

/* A metric that has changed by less keeps the adapted step size (one direction twice as wide counts 0.5; see
 * fit_metric_fisher). */
static const double NEW_METRIC = 1;

/* Adaptation of the warm-up after iteration c->iteration. */
static void adapt(struct fit_chain *c, const struct fit_draw_stats *s)
{
    const struct fit_windows *plan = &c->plan;
    c->warm_gradients += s->n_gradient;
    c->warm_divergences += s->divergent;
    fit_dual_update(&c->dual, s->accept_stat);
    if (plan->n == 0 || c->iteration < plan->collect || c->iteration > plan->end[plan->n - 1])
        return;
    fit_window_add(&c->window, c->x.q, c->x.g);
    for (uint32_t k = 0; k < plan->n; k++) {
        if (plan->end[k] != c->iteration)
            continue;
        double change = 0;
        if (c->opt.schedule == FIT_SCHEDULE_STAN)
            fit_metric_stan(&c->metric, &c->window, c->work, &change);
        else
            fit_metric_fisher(&c->metric, &c->window, c->work, &change);
        fit_window_clear(&c->window);
        if (change > NEW_METRIC || c->opt.schedule == FIT_SCHEDULE_STAN) {
            c->search = 1;
            c->step = fit_dual_final(&c->dual);
        } else {
            fit_dual_settle(&c->dual);
        }
    }
}

enum fit_status fit_chain_step(struct fit_chain *c, const struct fit_target *target,
                               struct fit_draw_stats *stats, struct fit_error *err)
{
    struct fit_nuts_move move = {
        .target = target,
        .chain = c->number,
        .metric = &c->metric,
        .rng = {.seed = c->opt.seed, .chain = (uint32_t)c->number, .iteration = c->iteration}};
    fit_target_transition(target, c->number, 0);
    if (c->search) {
        enum fit_status st = find_step(c, &move, err);
        if (st != FIT_OK)
            return st;
        fit_target_transition(target, c->number, 0); /* the step stays */
    }
    move.step = fit_chain_step_size(c);
    if (fit_nuts_transition(c->nuts, &move, &c->x, stats) == FIT_EVAL_STOP)
        return interrupted(c, target, err);
    if (c->iteration < c->opt.warmup)
        adapt(c, stats);
    c->iteration++;
    return FIT_OK;
}

/* ---- looking --------------------------------------------------------------------------------- */

uint32_t fit_chain_iteration(const struct fit_chain *c)
{
    return c->iteration;
}

const double *fit_chain_q(const struct fit_chain *c)
{
    return c->x.q;
}

const struct fit_metric *fit_chain_metric(const struct fit_chain *c)
{
    return &c->metric;
}

double fit_chain_step_size(const struct fit_chain *c)
{
    return c->iteration < c->opt.warmup ? fit_dual_step(&c->dual) : fit_dual_final(&c->dual);
}

double fit_chain_warmup_gradients(const struct fit_chain *c)
{
    return c->warm_gradients;
}

/* ---- the state as bytes ---------------------------------------------------------------------- */

static const char MAGIC[8] = "FITCHAIN";
enum { VERSION = 2, WORD = 8 };

static void put_word(unsigned char **at, uint64_t v)
{
    for (int k = 0; k < WORD; k++)
        *(*at)++ = (unsigned char)(v >> (8 * k));
}

static uint64_t get_word(const unsigned char **at)
{
    uint64_t v = 0;
    for (int k = 0; k < WORD; k++)
        v |= (uint64_t) * (*at)++ << (8 * k);
    return v;
}

static void put_double(unsigned char **at, double x)
{
    uint64_t v;
    memcpy(&v, &x, sizeof v);
    put_word(at, v);
}

static double get_double(const unsigned char **at)
{
    uint64_t v = get_word(at);
    double x;
    memcpy(&x, &v, sizeof x);
    return x;
}

/* What the chain was made with: has to agree. */
static const char *const KEY_NAME[] = {"version",
                                       "number of coordinates",
                                       "number of the chain",
                                       "seed",
                                       "length of the warm-up",
                                       "target acceptance",
                                       "maximal tree depth",
                                       "schedule",
                                       "kind of metric"};
enum { NKEY = sizeof KEY_NAME / sizeof *KEY_NAME };

static void keys(const struct fit_chain *c, uint64_t key[NKEY])
{
    double accept = c->opt.target_accept;
    key[0] = VERSION;
    key[1] = c->n;
    key[2] = c->number;
    key[3] = c->opt.seed;
    key[4] = c->opt.warmup;
    memcpy(&key[5], &accept, sizeof accept);
    key[6] = c->opt.max_depth;
    key[7] = (uint64_t)c->opt.schedule;
    key[8] = (uint64_t)c->opt.diagonal;
}

/* The doubles outside the block. */
enum { NSCALAR = 13 };

static void scalars(const struct fit_chain *c, const double *at[NSCALAR])
{
    const double *list[NSCALAR] = {
        &c->step,       &c->x.lp,           &c->dual.target,      &c->dual.gamma,
        &c->dual.mu,    &c->dual.h_mean,    &c->dual.log_step,    &c->dual.log_step_mean,
        &c->dual.count, &c->dual.settled,   &c->warm_gradients,   &c->warm_divergences,
        &c->window.count};
    memcpy(at, list, sizeof list);
}

size_t fit_chain_state_size(const struct fit_chain *c)
{
    return sizeof MAGIC + WORD * (1 + NKEY + 3 + NSCALAR + c->nblock) + SHA256_BYTES;
}

static void digest(const unsigned char *buffer, size_t size, unsigned char out[SHA256_BYTES])
{
    struct sha256 s;
    sha256_init(&s);
    sha256_update(&s, buffer, size);
    sha256_final(&s, out);
}

void fit_chain_state_save(const struct fit_chain *c, unsigned char *buffer)
{
    unsigned char *at = buffer;
    size_t size = fit_chain_state_size(c);
    uint64_t key[NKEY];
    const double *scalar[NSCALAR];
    memcpy(at, MAGIC, sizeof MAGIC);
    at += sizeof MAGIC;
    put_word(&at, size);
    keys(c, key);
    for (int k = 0; k < NKEY; k++)
        put_word(&at, key[k]);
    put_word(&at, c->iteration);
    put_word(&at, c->known);
    put_word(&at, c->search);
    scalars(c, scalar);
    for (int k = 0; k < NSCALAR; k++)
        put_double(&at, *scalar[k]);
    for (size_t k = 0; k < c->nblock; k++)
        put_double(&at, c->block[k]);
    digest(buffer, size - SHA256_BYTES, at);
}

enum fit_status fit_chain_state_load(struct fit_chain *c, const unsigned char *buffer, size_t size,
                                     struct fit_error *err)
{
    const unsigned char *at = buffer + sizeof MAGIC;
    size_t want = fit_chain_state_size(c);
    unsigned char sum[SHA256_BYTES];
    uint64_t key[NKEY];
    const double *scalar[NSCALAR];
    if (size < sizeof MAGIC || memcmp(buffer, MAGIC, sizeof MAGIC) != 0)
        return fit_fail(err, FIT_ERR_DATA, "chain %zu: these bytes are not the state of a chain",
                        c->number);
    if (size < sizeof MAGIC + WORD * (1 + NKEY))
        return fit_fail(err, FIT_ERR_DATA, "chain %zu: the saved state ends after %zu bytes",
                        c->number, size);
    uint64_t said = get_word(&at);
    keys(c, key);
    for (int k = 0; k < NKEY; k++)
        if (get_word(&at) != key[k])
            return fit_fail(err, FIT_ERR_DATA, "chain %zu: the saved state has another %s",
                            c->number, KEY_NAME[k]);
    if (size != want || said != want)
        return fit_fail(err, FIT_ERR_DATA, "chain %zu: the saved state has %zu bytes, not %zu",
                        c->number, size, want);
    digest(buffer, size - SHA256_BYTES, sum);
    if (memcmp(sum, buffer + size - SHA256_BYTES, SHA256_BYTES) != 0)
        return fit_fail(err, FIT_ERR_DATA, "chain %zu: the saved state is damaged (checksum)",
                        c->number);
    c->iteration = (uint32_t)get_word(&at);
    c->known = (uint32_t)get_word(&at);
    c->search = (uint32_t)get_word(&at);
    scalars(c, scalar);
    for (int k = 0; k < NSCALAR; k++)
        *(double *)scalar[k] = get_double(&at); /* c is not const here */
    for (size_t k = 0; k < c->nblock; k++)
        c->block[k] = get_double(&at);
    fit_windows_plan(&c->plan, c->opt.schedule, c->opt.warmup, (int)c->known);
    return FIT_OK;
}
