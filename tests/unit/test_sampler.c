/* Chains: known targets, adaptation, the same bytes for any number of threads and after any
 * interruption. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sampler/diagnostics.h"
#include "sampler/sampler.h"
#include "targets.h"

#include <math.h>
#include <string.h>

static struct fit_error error;

static void ok(enum fit_status s)
{
    if (s != FIT_OK)
        fail_msg("%s", error.message);
}

static struct fit_sampler *started(const struct fit_target *t,
                                   const struct fit_sampler_options *opt,
                                   const struct fit_sampler_start *start)
{
    struct fit_sampler *s;
    ok(fit_sampler_new(t, opt, &s, &error));
    ok(fit_sampler_start(s, start, &error));
    return s;
}

/* Draws of coordinate k of all chains. */
static struct fit_draws coordinate(const struct fit_sampler *s, size_t n, size_t k,
                                   const double **x)
{
    for (size_t c = 0; c < fit_sampler_chains(s); c++)
        x[c] = fit_sampler_draws(s, c) + k;
    return (struct fit_draws){fit_sampler_chains(s), fit_sampler_count(s, 0), x, n};
}

static struct fit_convergence judged(const struct fit_sampler *s, size_t n, size_t k)
{
    const double *x[8];
    struct fit_draws d = coordinate(s, n, k, x);
    struct fit_convergence c;
    ok(fit_convergence(&d, &c, &error));
    return c;
}

static struct fit_chain_health health(const struct fit_sampler *s, size_t chain, unsigned depth)
{
    struct fit_chain_health h;
    fit_chain_health(fit_sampler_stats(s, chain), fit_sampler_count(s, chain), depth, &h);
    return h;
}

/* Mean and standard deviation within four Monte Carlo errors, and the chains agree. */
static void assert_moments(const char *what, const struct fit_sampler *s, size_t n, size_t k,
                           double mean, double sd)
{
    struct fit_convergence c = judged(s, n, k);
    if (!(fabs(c.mean - mean) < 4 * c.mcse_mean) || !(fabs(c.sd - sd) < 4 * c.mcse_sd) ||
        !(c.r_hat < 1.01) || !(c.ess_bulk > 400) || !(c.ess_tail > 400))
        fail_msg("%s, coordinate %zu: mean %g +- %g (%g), sd %g +- %g (%g), R-hat %g, ESS %g %g",
                 what, k, c.mean, c.mcse_mean, mean, c.sd, c.mcse_sd, sd, c.r_hat, c.ess_bulk,
                 c.ess_tail);
}

/* ---- known targets --------------------------------------------------------------------------- */

static void check_normal(const char *what, struct normal_target *t,
                         const struct fit_chain_options *opt, const double *covariance)
{
    struct fit_target target = {t->n, t, normal_eval, NULL};
    double mode[TARGET_MOST] = {0};
    struct fit_sampler *s =
        started(&target, &(struct fit_sampler_options){.chain = *opt, .draws = 1000},
                &(struct fit_sampler_start){.mode = mode, .covariance = covariance});
    ok(fit_sampler_run(s, NULL, &error));
    for (size_t k = 0; k < t->n; k++)
        assert_moments(what, s, t->n, k, 0, sqrt(t->covariance[k * t->n + k]));
    fit_sampler_free(s);
}

static void test_normal_of_condition_one_million(void **state)
{
    (void)state;
    static struct normal_target t;
    normal_target_fill(&t, 10, 1e6);
    check_normal("given covariance", &t, &(struct fit_chain_options){.seed = 1, .warmup = 300},
                 t.covariance);
    check_normal("no covariance", &t, &(struct fit_chain_options){.seed = 2, .warmup = 600}, NULL);
    check_normal(
        "Stan's schedule", &t,
        &(struct fit_chain_options){.seed = 3, .warmup = 1000, .schedule = FIT_SCHEDULE_STAN},
        NULL);
}

/* Scales from 1 to 1000 along the axes: what a diagonal metric is for. */
static void test_diagonal_metric_takes_up_the_scales(void **state)
{
    (void)state;
    static struct normal_target t;
    t.n = 4;
    for (int k = 0; k < 4; k++) {
        t.covariance[5 * k] = pow(100, k);
        t.precision[5 * k] = pow(100, -k);
    }
    for (int schedule = 0; schedule < 2; schedule++) {
        struct fit_chain_options opt = {
            .seed = 4, .warmup = 600, .diagonal = 1, .schedule = (enum fit_schedule)schedule};
        check_normal("diagonal metric", &t, &opt, NULL);
    }
}

/* Energies before and after a transition have one distribution: half chi^2 of 2 d degrees of
 * freedom for a normal target, mean d and variance d. */
static void test_energies_have_their_distribution(void **state)
{
    (void)state;
    enum { D = 10, DRAWS = 4000 };
    static struct normal_target t;
    static double x[3][2][DRAWS];
    normal_target_fill(&t, D, 100);
    struct fit_target target = {D, &t, normal_eval, NULL};
    double mode[D] = {0};
    struct fit_sampler *s =
        started(&target,
                &(struct fit_sampler_options){
                    .chain = {.seed = 8, .warmup = 300}, .chains = 2, .draws = DRAWS},
                &(struct fit_sampler_start){.mode = mode, .covariance = t.covariance});
    ok(fit_sampler_run(s, NULL, &error));
    for (size_t c = 0; c < 2; c++)
        for (size_t i = 0; i < DRAWS; i++) {
            const struct fit_draw_stats *d = fit_sampler_stats(s, c) + i;
            x[0][c][i] = d->energy_error;
            x[1][c][i] = d->energy;
            x[2][c][i] = d->lp;
        }
    const double mean[3] = {0, D, -D / 2.0}, sd[3] = {0, sqrt(D), sqrt(D / 2.0)};
    for (int k = 0; k < 3; k++) {
        const double *chain[2] = {x[k][0], x[k][1]};
        struct fit_convergence v;
        ok(fit_convergence(&(struct fit_draws){2, DRAWS, chain, 1}, &v, &error));
        assert_true(fabs(v.mean - mean[k]) < 4 * v.mcse_mean);
        assert_true(k == 0 || fabs(v.sd - sd[k]) < 4 * v.mcse_sd);
    }
    assert_true(health(s, 0, 10).ebfmi > 0.8);
    fit_sampler_free(s);
}

/* The curved ridge is 1/2 wide and bends by 4 |x|: short steps reach its ends without bias, long
 * ones stop there as divergences. */
static struct fit_sampler *sample_banana(double target_accept)
{
    static const struct fit_target target = {2, NULL, banana_eval, NULL};
    static const double mode[2] = {0, 0};
    struct fit_chain_options chain = {.seed = 5, .warmup = 1000, .target_accept = target_accept};
    struct fit_sampler *s =
        started(&target, &(struct fit_sampler_options){.chain = chain, .draws = 4000},
                &(struct fit_sampler_start){.mode = mode});
    ok(fit_sampler_run(s, NULL, &error));
    return s;
}

static void test_banana(void **state)
{
    (void)state;
    struct fit_sampler *s = sample_banana(0.99);
    assert_moments("banana", s, 2, 0, 0, 1);
    assert_moments("banana", s, 2, 1, 1, 1.5); /* var x^2 + 1/4 */
    for (size_t c = 0; c < 4; c++)
        assert_true(health(s, c, 10).divergences <= 0);
    fit_sampler_free(s);
    s = sample_banana(0.8);
    for (size_t c = 0; c < 4; c++)
        assert_true(health(s, c, 10).divergences > 0);
    fit_sampler_free(s);
}

/* The funnel cannot be sampled in these coordinates, and that must show. */
static void test_funnel_is_reported(void **state)
{
    (void)state;
    struct fit_target target = {10, NULL, funnel_eval, NULL};
    double mode[10] = {0}, divergences = 0, ebfmi = 1;
    struct fit_sampler *s = started(
        &target, &(struct fit_sampler_options){.chain = {.seed = 6, .warmup = 600}, .draws = 1000},
        &(struct fit_sampler_start){.mode = mode});
    ok(fit_sampler_run(s, NULL, &error));
    for (size_t c = 0; c < 4; c++) {
        struct fit_chain_health h = health(s, c, 10);
        divergences += h.divergences;
        ebfmi = fmin(ebfmi, h.ebfmi);
    }
    assert_true(divergences > 0 || ebfmi < 0.3);
    fit_sampler_free(s);
}

/* Acceptance of 32 chains, mean and scatter. */
static double acceptance(const struct fit_target *t, const struct fit_chain_options *opt,
                         const double *covariance, double *scatter)
{
    enum { CHAINS = 32 };
    double mode[TARGET_MOST] = {0}, sum = 0, square = 0;
    struct fit_sampler_options so = {.chain = *opt, .chains = CHAINS, .draws = 500};
    struct fit_sampler *s =
        started(t, &so, &(struct fit_sampler_start){.mode = mode, .covariance = covariance});
    ok(fit_sampler_run(s, NULL, &error));
    for (size_t c = 0; c < CHAINS; c++) {
        double a = health(s, c, 10).accept_mean;
        sum += a;
        square += a * a;
    }
    fit_sampler_free(s);
    sum /= CHAINS;
    *scatter = sqrt(fmax(0, square / CHAINS - sum * sum));
    return sum;
}

/* The mean acceptance of the draws is the target to 0.02.  That of a single chain scatters: n
 * transitions, whose acceptance has the deviation s (0.15 at 0.85), fix its step no better than to
 * an acceptance of s / sqrt(n), 0.011 with the 200 iterations left after the first window of a
 * warm-up of 300; at 0.95 s is 0.06.  Below 0.8 and with one coordinate, where trees have a few
 * points only, the acceptance is steep and far from linear in the step: means are within 0.04 and
 * 0.03.  Where it depends on the place, as in the banana, no step has the target everywhere. */
static void test_step_size_reaches_the_target_acceptance(void **state)
{
    (void)state;
    static struct normal_target t;
    const double target_accept[] = {0.6, 0.8, 0.85, 0.95};
    for (size_t n = 1; n <= 10; n += n == 1 ? 2 : 7)
        for (uint32_t warmup = 300; warmup <= 1000; warmup += 700)
            for (int k = 0; k < 4; k++) {
                struct fit_chain_options opt = {
                    .seed = 7, .warmup = warmup, .target_accept = target_accept[k]};
                normal_target_fill(&t, n, n == 1 ? 1 : 100);
                struct fit_target target = {n, &t, normal_eval, NULL};
                double scatter, mean = acceptance(&target, &opt, t.covariance, &scatter);
                double room = k == 0 ? 0.04 : n == 1 ? 0.03 : 0.02;
                print_message("    %2zu coordinates, warm-up %4u, target %.2f: mean %.3f, chains "
                              "scatter by %.3f\n",
                              n, (unsigned)warmup, target_accept[k], mean, scatter);
                if (!(fabs(mean - target_accept[k]) < room) || !(scatter < (k < 2 ? 0.06 : 0.02)))
                    fail_msg("acceptance %g +- %g, should be %g", mean, scatter, target_accept[k]);
            }
}

/* ---- the same bytes -------------------------------------------------------------------------- */

enum { ND = 5, NW = 60, NDRAW = 40, NC = 3 };
static struct normal_target shared;
static const double origin[ND];
static const struct fit_sampler_start at_origin = {.mode = origin};

/* Counts evaluations of all chains and stops at one; the count is only used without threads. */
struct stopping {
    long calls, stop_at;
    long counted[NC], before[NC]; /* evaluations of each chain; before its transition */
};

static enum fit_eval stopping_eval(void *user, size_t chain, const double *q, double *lp, double *g)
{
    struct stopping *s = user;
    if (s->stop_at > 0 && ++s->calls == s->stop_at)
        return FIT_EVAL_STOP;
    s->counted[chain]++;
    return normal_eval(&shared, chain, q, lp, g);
}

static void count_transition(void *user, size_t chain, int given_up)
{
    struct stopping *s = user;
    if (given_up)
        s->counted[chain] = s->before[chain];
    s->before[chain] = s->counted[chain];
}

static const struct fit_sampler_options small = {
    .chain = {.seed = 42, .warmup = NW}, .chains = NC, .draws = NDRAW};

static void assert_same(const struct fit_sampler *a, const struct fit_sampler *b)
{
    for (size_t c = 0; c < NC; c++) {
        assert_int_equal(fit_sampler_count(a, c), NDRAW);
        assert_int_equal(fit_sampler_count(b, c), NDRAW);
        assert_memory_equal(fit_sampler_draws(a, c), fit_sampler_draws(b, c),
                            NDRAW * ND * sizeof(double));
        assert_memory_equal(fit_sampler_stats(a, c), fit_sampler_stats(b, c),
                            NDRAW * sizeof(struct fit_draw_stats));
    }
    size_t size = fit_sampler_state_size(a);
    assert_int_equal(size, fit_sampler_state_size(b));
    unsigned char *x = malloc(size), *y = malloc(size);
    fit_sampler_state_save(a, x);
    fit_sampler_state_save(b, y);
    assert_memory_equal(x, y, size);
    free(x);
    free(y);
}

static struct fit_sampler *uninterrupted(const struct fit_target *t)
{
    struct fit_sampler *s = started(t, &small, &at_origin);
    ok(fit_sampler_run(s, NULL, &error));
    return s;
}

static void test_threads_and_slices_do_not_change_a_byte(void **state)
{
    (void)state;
    struct stopping none = {0};
    struct fit_target target = {ND, &none, stopping_eval, NULL};
    struct fit_sampler *reference = uninterrupted(&target);
    const double seconds[] = {0, 1e-4, 1};
    for (int threads = 0; threads <= 4; threads++)
        for (int k = 0; k < 3; k++) {
            struct fit_sampler_options opt = small;
            opt.threads = threads;
            struct fit_sampler *s = started(&target, &opt, &at_origin);
            ok(fit_sampler_run(s, &(struct fit_sampler_watch){.seconds = seconds[k]}, &error));
            assert_same(s, reference);
            fit_sampler_free(s);
        }
    fit_sampler_free(reference);
}

/* Keeps the state at one iteration and stops there. */
struct keep {
    double iteration;
    unsigned char *bytes; /* room for the state of a complete run */
    size_t size;
};

static int keep_state(void *user, const struct fit_sampler *s)
{
    struct keep *k = user;
    double total;
    if (fit_sampler_done(s, &total) < NC * k->iteration)
        return 0;
    k->size = fit_sampler_state_size(s);
    fit_sampler_state_save(s, k->bytes);
    return 1;
}

static void test_a_resumed_run_gives_the_bytes_of_an_uninterrupted_one(void **state)
{
    (void)state;
    struct stopping none = {0};
    struct fit_target target = {ND, &none, stopping_eval, NULL};
    struct fit_sampler *reference = uninterrupted(&target);
    size_t size = fit_sampler_state_size(reference);
    for (int at = 1; at < NW + NDRAW;
         at += 1) { /* every place of the warm-up and of the sampling */
        struct keep keep = {at, malloc(size), 0};
        struct fit_sampler *s = started(&target, &small, &at_origin), *t;
        struct fit_sampler_watch watch = {keep_state, &keep, 0};
        assert_int_equal(fit_sampler_run(s, &watch, &error), FIT_ERR_INTERRUPTED);
        assert_int_equal(fit_chain_iteration(fit_sampler_chain(s, 0)), at);
        fit_sampler_free(s);
        ok(fit_sampler_new(&target, &small, &t, &error));
        ok(fit_sampler_state_load(t, keep.bytes, keep.size, &error));
        ok(fit_sampler_run(t, NULL, &error));
        assert_same(t, reference);
        fit_sampler_free(t);
        free(keep.bytes);
    }
    fit_sampler_free(reference);
}

/* Not the room for all draws, which may be gigabytes: a state grows by the draws that were made. */
static void test_a_state_holds_the_draws_that_there_are(void **state)
{
    (void)state;
    struct stopping none = {0};
    struct fit_target target = {ND, &none, stopping_eval, NULL};
    const size_t row = ND * sizeof(double) + sizeof(struct fit_draw_stats);
    struct fit_sampler_options many = small;
    many.draws = 1000000;
    struct fit_sampler *s = started(&target, &many, &at_origin), *t;
    const size_t without = fit_sampler_state_size(s);
    assert_true(without < 100 * row * NC);
    struct keep keep = {NW + 7, malloc(without + NC * 7 * row), 0};
    struct fit_sampler_watch watch = {keep_state, &keep, 0};
    assert_int_equal(fit_sampler_run(s, &watch, &error), FIT_ERR_INTERRUPTED);
    assert_int_equal(keep.size, without + NC * 7 * row);
    ok(fit_sampler_new(&target, &many, &t, &error));
    ok(fit_sampler_state_load(t, keep.bytes, keep.size, &error));
    for (size_t c = 0; c < NC; c++) {
        assert_int_equal(fit_sampler_count(t, c), 7);
        assert_memory_equal(fit_sampler_draws(t, c), fit_sampler_draws(s, c), 7 * ND * sizeof(double));
        assert_memory_equal(fit_sampler_stats(t, c), fit_sampler_stats(s, c), 7 * sizeof(struct fit_draw_stats));
    }
    fit_sampler_free(s);
    fit_sampler_free(t);
    /* all draws asked for were fewer than these */
    many.draws = 6;
    ok(fit_sampler_new(&target, &many, &t, &error));
    assert_int_equal(fit_sampler_state_load(t, keep.bytes, keep.size, &error), FIT_ERR_DATA);
    assert_non_null(strstr(error.message, "67 iterations of 66"));
    fit_sampler_free(t);
    free(keep.bytes);
}

/* The target stops in the middle of a trajectory, or of the search for a step size. */
static void test_a_stopped_run_goes_on_as_if_nothing_had_been(void **state)
{
    (void)state;
    struct stopping none = {0}, stop = {0}, whole = {0};
    struct fit_target plain = {ND, &none, stopping_eval, NULL}, target = {ND, &stop, stopping_eval, count_transition};
    struct fit_target counting = {ND, &whole, stopping_eval, NULL};
    struct fit_sampler *reference = started(&counting, &small, &at_origin);
    memset(whole.counted, 0, sizeof whole.counted);
    ok(fit_sampler_run(reference, NULL, &error));
    int stops = 0;
    for (long at = 10; at < 1300; at += 37) {
        struct fit_sampler *s = started(&plain, &small, &at_origin), *t;
        unsigned char *bytes = malloc(fit_sampler_state_size(s));
        fit_sampler_state_save(s, bytes);
        fit_sampler_free(s);
        ok(fit_sampler_new(&target, &small, &t, &error));
        ok(fit_sampler_state_load(t, bytes, fit_sampler_state_size(t), &error));
        stop = (struct stopping){.stop_at = at};
        enum fit_status st = fit_sampler_run(t, NULL, &error);
        stops += st == FIT_ERR_INTERRUPTED;
        if (st == FIT_ERR_INTERRUPTED)
            ok(fit_sampler_run(t, NULL, &error));
        assert_same(t, reference);
        assert_memory_equal(stop.counted, whole.counted, sizeof stop.counted); /* each transition once */
        fit_sampler_free(t);
        free(bytes);
    }
    assert_true(stops > 10);
    fit_sampler_free(reference);
}

static void test_states_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    struct stopping none = {0};
    struct fit_target target = {ND, &none, stopping_eval, NULL};
    struct fit_sampler *s = uninterrupted(&target), *t;
    size_t size = fit_sampler_state_size(s);
    unsigned char *bytes = malloc(size);
    fit_sampler_state_save(s, bytes);
    ok(fit_sampler_new(&target, &small, &t, &error));
    assert_int_equal(fit_sampler_state_load(t, bytes, size - 1, &error), FIT_ERR_DATA);
    assert_int_equal(fit_sampler_state_load(t, bytes, 40, &error), FIT_ERR_DATA);
    assert_int_equal(fit_sampler_state_load(t, bytes, 0, &error), FIT_ERR_DATA);
    for (size_t k = 0; k < size; k += 97) { /* a flipped bit anywhere */
        bytes[k] ^= 4;
        assert_int_equal(fit_sampler_state_load(t, bytes, size, &error), FIT_ERR_DATA);
        bytes[k] ^= 4;
    }
    fit_sampler_free(t);
    struct fit_sampler_options other = small;
    other.chain.seed = 43;
    ok(fit_sampler_new(&target, &other, &t, &error));
    assert_int_equal(fit_sampler_state_load(t, bytes, size, &error), FIT_ERR_DATA);
    assert_non_null(strstr(error.message, "seed"));
    fit_sampler_free(t);
    free(bytes);
    fit_sampler_free(s);
}

static void test_the_state_of_one_chain_is_checked_by_itself(void **state)
{
    (void)state;
    struct stopping none = {0};
    struct fit_target target = {ND, &none, stopping_eval, NULL};
    struct fit_chain *a = fit_chain_new(ND, 0, &small.chain),
                     *b = fit_chain_new(ND, 0, &small.chain);
    size_t size = fit_chain_state_size(a);
    unsigned char *bytes = malloc(size), *again = malloc(size);
    struct fit_draw_stats stats;
    ok(fit_chain_start(a, &target, origin, NULL, &error));
    for (int i = 0; i < 70; i++)
        ok(fit_chain_step(a, &target, &stats, &error));
    fit_chain_state_save(a, bytes);
    for (size_t k = 0; k < size; k += 61) {
        bytes[k] ^= 1;
        assert_int_equal(fit_chain_state_load(b, bytes, size, &error), FIT_ERR_DATA);
        bytes[k] ^= 1;
    }
    for (size_t k = 0; k < size; k += 100)
        assert_int_equal(fit_chain_state_load(b, bytes, k, &error), FIT_ERR_DATA);
    ok(fit_chain_state_load(b, bytes, size, &error));
    fit_chain_state_save(b, again);
    assert_memory_equal(bytes, again, size);
    assert_int_equal(fit_chain_iteration(b), 70);
    fit_chain_free(a);
    fit_chain_free(b);
    free(bytes);
    free(again);
}

/* ---- starts ---------------------------------------------------------------------------------- */

static void test_starts_are_twice_as_wide_as_the_target(void **state)
{
    (void)state;
    enum { D = 6, CHAINS = 200 };
    static struct normal_target t;
    normal_target_fill(&t, D, 1e4);
    struct fit_target target = {D, &t, normal_eval, NULL};
    double mode[D] = {0}, mean = 0, lp;
    struct fit_sampler *s =
        started(&target, &(struct fit_sampler_options){.chains = CHAINS},
                &(struct fit_sampler_start){.mode = mode, .covariance = t.covariance});
    for (size_t c = 0; c < CHAINS; c++) {
        normal_eval(&t, 0, fit_chain_q(fit_sampler_chain(s, c)), &lp, NULL);
        mean += -2 * lp / CHAINS;
    }
    /* 4 chi^2 of D degrees of freedom: mean 24, standard error 4 sqrt(12 / 200) = 0.98 */
    assert_true(fabs(mean - 4 * D) < 5 * 0.98);
    fit_sampler_free(s);
}

static void test_without_a_covariance_starts_shrink_to_where_there_is_density(void **state)
{
    (void)state;
    static struct normal_target t;
    normal_target_fill(&t, 1, 1e-12);
    struct fit_target target = {1, &t, normal_eval, NULL};
    double mode[1] = {0}, lp;
    struct fit_sampler *s = started(&target, &(struct fit_sampler_options){.chains = 4},
                                    &(struct fit_sampler_start){.mode = mode});
    for (size_t c = 0; c < 4; c++) {
        normal_eval(&t, 0, fit_chain_q(fit_sampler_chain(s, c)), &lp, NULL);
        assert_true(lp > -55 && lp < -1e-6);
    }
    fit_sampler_free(s);
}

static enum fit_eval nowhere_eval(void *user, size_t chain, const double *q, double *lp, double *g)
{
    (void)user;
    (void)chain;
    *lp = q[0] > 0 ? NAN : -q[0];
    if (g)
        g[0] = -1;
    return FIT_EVAL_OK;
}

static void test_impossible_starts_are_errors(void **state)
{
    (void)state;
    struct fit_target target = {1, NULL, nowhere_eval, NULL};
    const double outside[4] = {-1, -1, 1, -1}, wrong[1] = {-1};
    struct fit_sampler *s;
    ok(fit_sampler_new(&target, &(struct fit_sampler_options){.draws = 1}, &s, &error));
    struct fit_sampler_start start = {.points = outside};
    assert_int_equal(fit_sampler_start(s, &start, &error), FIT_ERR_NUMERIC);
    assert_non_null(strstr(error.message, "chain 2"));
    start = (struct fit_sampler_start){.mode = outside + 2};
    assert_int_equal(fit_sampler_start(s, &start, &error), FIT_ERR_NUMERIC);
    start = (struct fit_sampler_start){.mode = outside, .covariance = wrong};
    assert_int_equal(fit_sampler_start(s, &start, &error), FIT_ERR_NUMERIC);
    fit_sampler_free(s);
}

int main(void)
{
    normal_target_fill(&shared, ND, 50);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_normal_of_condition_one_million),
        cmocka_unit_test(test_diagonal_metric_takes_up_the_scales),
        cmocka_unit_test(test_energies_have_their_distribution),
        cmocka_unit_test(test_banana),
        cmocka_unit_test(test_funnel_is_reported),
        cmocka_unit_test(test_step_size_reaches_the_target_acceptance),
        cmocka_unit_test(test_threads_and_slices_do_not_change_a_byte),
        cmocka_unit_test(test_a_resumed_run_gives_the_bytes_of_an_uninterrupted_one),
        cmocka_unit_test(test_a_stopped_run_goes_on_as_if_nothing_had_been),
        cmocka_unit_test(test_a_state_holds_the_draws_that_there_are),
        cmocka_unit_test(test_states_that_do_not_fit_are_refused),
        cmocka_unit_test(test_the_state_of_one_chain_is_checked_by_itself),
        cmocka_unit_test(test_starts_are_twice_as_wide_as_the_target),
        cmocka_unit_test(test_without_a_covariance_starts_shrink_to_where_there_is_density),
        cmocka_unit_test(test_impossible_starts_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
