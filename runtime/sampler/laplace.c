/* laplace.c -- Hessian at a mode, and importance sampling from a t distribution around it. */
#include "sampler/laplace.h"

#include "base/clock.h"
#include "machine/team.h"
#include "math/linalg.h"
#include "math/rng.h"
#include "math/special.h"
#include "ranks/ranks.h"
#include "sampler/metric.h"
#include "sampler/psis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Hessian --------------------------------------------------------------------------------- */

static const double HESSIAN_STEP =
    1e-3;                           /* of a standard deviation: truncation 1e-6, rounding 1e-13 */
static const double WEAKEST = 1e-8; /* smallest eigenvalue, of the largest */

/* Row k: -d gradient / d q_k.  point, g: n numbers each. */
static enum fit_eval hessian_row(const struct fit_target *t, const double *q, double step, size_t k,
                                 double *row, double *point, double *g)
{
    size_t n = t->n;
    double lp;
    memcpy(point, q, n * sizeof *point);
    point[k] = q[k] + step;
    double up = point[k];
    enum fit_eval answer = fit_target_eval(t, 0, point, &lp, row);
    if (answer != FIT_EVAL_OK)
        return answer;
    point[k] = q[k] - step;
    double width = up - point[k]; /* what rounding has made of it */
    answer = fit_target_eval(t, 0, point, &lp, g);
    if (answer != FIT_EVAL_OK)
        return answer;
    for (size_t j = 0; j < n; j++)
        row[j] = (g[j] - row[j]) / width;
    return FIT_EVAL_OK;
}

/* covariance <- inverse of the Hessian with its small eigenvalues raised, both in units that make
 * the diagonal of the Hessian 1 (or of `scale` where it is not positive). */
static int invert_clipped(size_t n, const double *scale, struct fit_hessian *h, double *work)
{
    double *a = work, *unit = a + n * n, *w = unit + n, *rest = w + n;
    for (size_t k = 0; k < n; k++) {
        double d = h->hessian[k * n + k];
        unit[k] = d > 0 ? 1 / sqrt(d) : scale[k];
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            a[i * n + j] = h->hessian[i * n + j] * unit[i] * unit[j];
    if (fit_eigen(n, a, w, rest) != 0 || !(w[n - 1] > 0))
        return 1;
    h->weak = 0;
    memset(h->covariance, 0, n * n * sizeof *h->covariance);
    for (size_t k = 0; k < n; k++) {
        const double *v = a + k * n;
        double floor = WEAKEST * w[n - 1];
        h->weak += w[k] < floor;
        double inverse = 1 / fmax(w[k], floor);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                h->covariance[i * n + j] += inverse * v[i] * unit[i] * v[j] * unit[j];
    }
    for (size_t k = 0; h->direction && k < n; k++)
        h->direction[k] = a[k] * unit[k];
    return 0;
}

enum fit_status fit_hessian_at(const struct fit_target *t, const double *q, const double *scale,
                               struct fit_hessian *h, struct fit_error *err)
{
    size_t n = t->n;
    enum fit_status st = FIT_OK;
    FIT_OWNED double *work = malloc((n * n + 4 * n + fit_eigen_work(n)) * sizeof *work);
    if (!work)
        return fit_no_memory(err, "Hessian");
    for (size_t k = 0; k < n && st == FIT_OK; k++) {
        enum fit_eval answer =
            hessian_row(t, q, HESSIAN_STEP * scale[k], k, h->hessian + k * n, work, work + n);
        if (answer == FIT_EVAL_STOP)
            st = fit_fail(err, FIT_ERR_INTERRUPTED, "stopped during the Hessian");
        else if (answer != FIT_EVAL_OK)
            st = fit_fail(err, FIT_ERR_NUMERIC,
                          "Hessian: the log density is not finite %g away from the mode in "
                          "coordinate %zu",
                          HESSIAN_STEP * scale[k], k);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            h->hessian[i * n + j] = h->hessian[j * n + i] =
                0.5 * (h->hessian[i * n + j] + h->hessian[j * n + i]);
    if (st == FIT_OK && invert_clipped(n, scale, h, work) != 0)
        st = fit_fail(err, FIT_ERR_NUMERIC,
                      "Hessian: no direction in which the log density falls from the point given");
    return st;
}

/* ---- proposal -------------------------------------------------------------------------------- */

static const double NU = 7;

/* A multivariate t: location + L z / sqrt(chi^2 / nu). */
struct proposal {
    const struct fit_target *target;
    struct fit_laplace *out;
    struct fit_metric shape;
    double log_norm;
    uint64_t seed;
    uint32_t round;
    double *log_q; /* draws */
    enum fit_eval *answer; /* FIT_EVAL_STOP: not yet evaluated */
    size_t slots, ranks;   /* slot k is of rank k mod ranks, and there it has lane k / ranks of the target */
    double deadline, pause; /* on the clock: the end; a time to save */
    const struct fit_laplace_options *opt;
    unsigned char *state;
};

static double norm_of(const struct fit_metric *shape)
{
    double n = (double)shape->n;
    double log_norm = fit_log_gamma(0.5 * (NU + n)) - fit_log_gamma(0.5 * NU) - 0.5 * n * log(NU * 3.14159265358979324);
    for (size_t k = 0; k < shape->n; k++)
        log_norm -= log(shape->factor[k * shape->n + k]);
    return log_norm;
}

enum fit_status fit_laplace_density(const struct fit_laplace *l, size_t nq, const double *q, double *density,
                                    struct fit_error *err)
{
    FIT_SCRATCH(a);
    size_t n = l->n;
    double *block = fit_take(&a, 2 * n * n + n, sizeof *block), *x = block ? block + 2 * n * n : NULL;
    struct fit_metric shape = {n, 1, block, block ? block + n * n : NULL};
    if (!block)
        return fit_no_memory(err, "density of proposals");
    if (fit_metric_covariance(&shape, l->scale) != 0)
        return fit_fail(err, FIT_ERR_NUMERIC, "importance sampling: the scale is not positive definite");
    double log_norm = norm_of(&shape);
    for (size_t i = 0; i < nq; i++) {
        double r2 = 0;
        for (size_t k = 0; k < n; k++)
            x[k] = q[i * n + k] - l->location[k];
        fit_lower_solve(n, shape.factor, x);
        for (size_t k = 0; k < n; k++)
            r2 += x[k] * x[k];
        density[i] = log_norm - 0.5 * (NU + (double)n) * log1p(r2 / NU);
    }
    return FIT_OK;
}

static void one_draw(struct proposal *p, size_t i, size_t slot)
{
    struct fit_laplace *out = p->out;
    size_t n = out->n;
    double *q = out->q + i * n, r2 = 0;
    struct fit_rng r = {.seed = p->seed, .chain = p->round, .iteration = (uint32_t)i};
    r = fit_rng_for(&r, FIT_RNG_LAPLACE);
    double stretch = sqrt(0.5 * NU / fit_rng_next_gamma(&r, 0.5 * NU));
    fit_rng_next_normals(&r, n, q);
    for (size_t k = 0; k < n; k++)
        r2 += q[k] * q[k];
    fit_metric_position(&p->shape, q, q);
    for (size_t k = 0; k < n; k++)
        q[k] = out->location[k] + stretch * q[k];
    p->log_q[i] = p->log_norm - 0.5 * (NU + (double)n) * log1p(stretch * stretch * r2 / NU);
    if (p->answer[i] == FIT_EVAL_STOP)
        p->answer[i] = fit_target_eval(p->target, slot, q, &out->lp[i], NULL);
    if (p->answer[i] != FIT_EVAL_OK)
        out->lp[i] = -INFINITY;
}

/* Draws first, first + slots, ... belong together: their evaluations come one after the other. */
static void draws_of_slot(void *user, size_t slot, size_t thread)
{
    struct proposal *p = user;
    (void)thread;
    for (size_t i = slot; i < p->out->draws; i += p->slots) {
        double now = p->answer[i] == FIT_EVAL_STOP ? fit_ranks_seconds() : 0;
        if ((p->deadline > 0 && now > p->deadline) || (p->pause > 0 && now > p->pause))
            break;
        one_draw(p, i, slot / p->ranks);
        if (p->answer[i] == FIT_EVAL_STOP)
            break;
    }
}

/* All slots; divided between ranks, with their results combined. */
static void run_slots(struct proposal *p, int threads)
{
    struct fit_laplace *out = p->out;
    const struct fit_team team = {threads, FIT_TEAM_NEXT};
    if (p->ranks < 2) {
        fit_team_run(team, p->slots, draws_of_slot, p);
        return;
    }
    fit_ranks_run(team, p->slots, draws_of_slot, p);
    fit_ranks_spread(out->q, out->draws, out->n * sizeof *out->q);
    fit_ranks_spread(out->lp, out->draws, sizeof *out->lp);
    fit_ranks_spread(p->log_q, out->draws, sizeof *p->log_q);
    fit_ranks_spread(p->answer, out->draws, sizeof *p->answer);
}

static size_t evaluated(const struct proposal *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->out->draws; i++)
        n += p->answer[i] != FIT_EVAL_STOP;
    return n;
}

/* ---- the state as bytes: doubles, as everything in a checkpoint (checkpoint.h) ----------------- */

enum { HEAD = 3 }; /* coordinates, draws, round; then location, scale, density and answer of draws */

static size_t state_doubles(const struct fit_laplace *out)
{
    return HEAD + out->n + out->n * out->n + 2 * out->draws;
}

static void save(struct proposal *p, int all)
{
    const struct fit_laplace *out = p->out;
    size_t n = out->n, s = out->draws;
    if (!p->opt->save)
        return;
    double *x = (double *)(void *)p->state;
    x[0] = (double)n;
    x[1] = (double)s;
    x[2] = p->round;
    memcpy(x + HEAD, out->location, n * sizeof *x);
    memcpy(x + HEAD + n, out->scale, n * n * sizeof *x);
    double *lp = x + HEAD + n + n * n, *answer = lp + s;
    for (size_t i = 0; i < s; i++) {
        answer[i] = p->answer[i];
        lp[i] = p->answer[i] == FIT_EVAL_OK ? out->lp[i] : 0;
    }
    p->opt->save(p->opt->save_user, p->state, state_doubles(out) * sizeof *x, all);
}

/* round, location, scale, density and answers; *resumed <- 1. */
static enum fit_status load(struct proposal *p, int *resumed, struct fit_error *err)
{
    struct fit_laplace *out = p->out;
    size_t n = out->n, s = out->draws, want = state_doubles(out) * sizeof(double);
    double head[HEAD] = {0}, answer;
    *resumed = p->opt->state != NULL;
    if (!p->opt->state)
        return FIT_OK;
    if (p->opt->state_size == want)
        memcpy(head, p->opt->state, sizeof head);
    if (!(head[0] == (double)n && head[1] == (double)s && (head[2] == 0 || head[2] == 1)))
        return fit_fail(err, FIT_ERR_DATA, "importance sampling: the saved state (%zu bytes) is not of %zu draws of %zu"
                                           " coordinates", p->opt->state_size, s, n);
    const unsigned char *at = p->opt->state + sizeof head;
    p->round = (uint32_t)head[2];
    memcpy(out->location, at, n * sizeof(double));
    memcpy(out->scale, at += n * sizeof(double), n * n * sizeof(double));
    memcpy(out->lp, at += n * n * sizeof(double), s * sizeof(double));
    for (size_t i = 0; i < s; i++) {
        memcpy(&answer, at + (s + i) * sizeof(double), sizeof answer);
        p->answer[i] = answer == FIT_EVAL_OK       ? FIT_EVAL_OK
                       : answer == FIT_EVAL_REJECT ? FIT_EVAL_REJECT
                                                   : FIT_EVAL_STOP;
    }
    out->evaluations = p->round * s;
    out->refits = (int)p->round;
    out->resumed = out->evaluations + evaluated(p);
    return FIT_OK;
}

/* ---- all draws --------------------------------------------------------------------------------- */

static const double SAVE_SECONDS = 60;

/* Evaluates the remaining draws; with pauses to save them. */
static void all_draws(struct proposal *p, int threads)
{
    double every = p->opt->save_seconds > 0 ? p->opt->save_seconds : SAVE_SECONDS;
    p->ranks = p->opt->divided && fit_ranks_shared() ? fit_ranks_size() : 1;
    p->slots = (threads > 1 ? (size_t)threads : 1) * p->ranks; /* draw i is of rank i mod ranks */
    for (;;) {
        p->pause = p->opt->save ? fit_ranks_seconds() + every : 0;
        run_slots(p, threads);
        size_t done = evaluated(p);
        int late = p->deadline > 0 && fit_ranks_seconds() > p->deadline;
        int paused = p->pause > 0 && fit_ranks_seconds() > p->pause;
        if (done == p->out->draws || late || !paused)
            break;
        save(p, 0);
    }
    if (evaluated(p) < p->out->draws)
        save(p, 0);
}

/* ---- weights --------------------------------------------------------------------------------- */

/* mean and covariance of the draws by their weights. */
static void moments(struct fit_laplace *out)
{
    size_t n = out->n;
    memset(out->mean, 0, n * sizeof *out->mean);
    memset(out->covariance, 0, n * n * sizeof *out->covariance);
    for (size_t i = 0; i < out->draws; i++)
        for (size_t k = 0; k < n; k++)
            out->mean[k] += exp(out->log_weight[i]) * out->q[i * n + k];
    for (size_t i = 0; i < out->draws; i++) {
        const double *q = out->q + i * n;
        double w = exp(out->log_weight[i]);
        for (size_t k = 0; k < n; k++)
            for (size_t l = 0; l < n; l++)
                out->covariance[k * n + l] += w * (q[k] - out->mean[k]) * (q[l] - out->mean[l]);
    }
}

static enum fit_status stopped(const struct proposal *p, struct fit_error *err)
{
    size_t made = evaluated(p);
    int late = p->deadline > 0 && fit_ranks_seconds() > p->deadline;
    return fit_fail(err, FIT_ERR_INTERRUPTED, "importance sampling was %s after %zu of %zu draws",
                    late ? "ended by the time limit" : "stopped", made, p->out->draws);
}

static enum fit_status weigh(struct proposal *p, double *work, size_t *index, struct fit_error *err)
{
    struct fit_laplace *out = p->out;
    double top = -INFINITY, sum = 0;
    out->rejected = 0;
    out->evaluations += out->draws;
    for (size_t i = 0; i < out->draws; i++) {
        if (p->answer[i] == FIT_EVAL_STOP)
            return stopped(p, err);
        out->rejected += p->answer[i] != FIT_EVAL_OK;
        out->log_weight[i] = out->lp[i] - p->log_q[i];
        top = fmax(top, out->log_weight[i]);
    }
    if (!isfinite(top))
        return fit_fail(err, FIT_ERR_NUMERIC,
                        "importance sampling: no draw around the mode has a finite log density");
    for (size_t i = 0; i < out->draws; i++)
        sum += exp(out->log_weight[i] - top);
    out->log_evidence = top + log(sum / (double)out->draws);
    out->k = fit_psis_smooth(out->draws, out->log_weight, work, index);
    out->ess = fit_importance_ess(out->draws, out->log_weight);
    moments(out);
    return FIT_OK;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static enum fit_status allocate(struct fit_laplace *out, struct fit_error *err)
{
    size_t n = out->n, s = out->draws;
    FIT_TAKE_DOUBLES(&out->storage_, s * n, &out->q);
    FIT_TAKE_DOUBLES(&out->storage_, s, &out->lp, &out->log_weight);
    FIT_TAKE_DOUBLES(&out->storage_, n, &out->location, &out->mean);
    FIT_TAKE_DOUBLES(&out->storage_, n * n, &out->scale, &out->covariance);
    return out->storage_.failed ? fit_fail(err, FIT_ERR_MEMORY, "no memory for %zu draws", s) : FIT_OK;
}

void fit_laplace_free(struct fit_laplace *l)
{
    fit_arena_free(&l->storage_);
    *l = (struct fit_laplace){0};
}

/* location: NULL: that of the state. */
static enum fit_status one_round(struct proposal *p, const double *location, const double *scale,
                                 int threads, double *work, size_t *index, struct fit_error *err)
{
    struct fit_laplace *out = p->out;
    size_t n = out->n;
    if (location) {
        memmove(out->location, location, n * sizeof *location);
        memmove(out->scale, scale, n * n * sizeof *scale);
        for (size_t i = 0; i < out->draws; i++)
            p->answer[i] = FIT_EVAL_STOP;
    }
    if (fit_metric_covariance(&p->shape, out->scale) != 0)
        return fit_fail(err, FIT_ERR_NUMERIC,
                        "importance sampling: the covariance at the mode is not positive definite");
    p->log_norm = norm_of(&p->shape);
    all_draws(p, threads);
    return weigh(p, work, index, err);
}

/* A round, and another with the weighted moments of the first, if these are useful. */
static enum fit_status rounds(struct proposal *p, const double *mode, const double *covariance, size_t *index,
                              struct fit_error *err)
{
    struct fit_laplace *out = p->out;
    double *work = p->log_q + out->draws;
    const int threads = p->opt->threads;
    int resumed;
    enum fit_status st = load(p, &resumed, err);
    if (st == FIT_OK)
        st = one_round(p, resumed ? NULL : mode, covariance, threads, work, index, err);
    if (st != FIT_OK || p->opt->no_refit || p->round > 0 || out->k < 0.5)
        return st;
    /* Weighted moments are of use when more than a few draws carry the weight. */
    if (out->ess < 4 * (double)out->n || fit_metric_covariance(&p->shape, out->covariance) != 0)
        return FIT_OK;
    p->round = 1;
    out->refits = 1;
    return one_round(p, out->mean, out->covariance, threads, work, index, err);
}

enum fit_status fit_laplace_run(const struct fit_target *t, const double *mode,
                                const double *covariance, const struct fit_laplace_options *opt,
                                struct fit_laplace *out, struct fit_error *err)
{
    FIT_SCRATCH(a);
    size_t n = t->n, draws = opt->draws ? opt->draws : 2000;
    *out = (struct fit_laplace){.n = n, .draws = draws, .threshold = fit_psis_threshold(draws)};
    double *block = fit_take(&a, 2 * n * n + 2 * draws, sizeof *block);
    size_t *index = fit_take(&a, draws, sizeof *index);
    struct proposal p = {.target = t, .out = out, .seed = opt->seed, .deadline = opt->deadline, .opt = opt};
    p.answer = fit_take(&a, draws, sizeof *p.answer);
    p.state = fit_take(&a, state_doubles(out), sizeof(double));
    if (a.failed)
        return fit_fail(err, FIT_ERR_MEMORY, "no memory for %zu draws", draws);
    p.shape = (struct fit_metric){n, 1, block, block + n * n};
    p.log_q = block + 2 * n * n;
    enum fit_status st = allocate(out, err);
    if (st == FIT_OK)
        st = rounds(&p, mode, covariance, index, err);
    if (st == FIT_OK)
        save(&p, 1);
    if (st != FIT_OK) {
        size_t kept = out->resumed;
        fit_laplace_free(out);
        out->resumed = kept;
    }
    return st;
}
