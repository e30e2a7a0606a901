/* test_team.c -- loops that threads share: every turn once, order, calls within calls and side by side;
 * processors and their limits; the clock of what threads do. */
#include "base/clock.h"
#include "machine/team.h"
#include "machine/topology.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TURNS = 5000, THREADS = 7 };

struct tally {
    atomic_int done[TURNS];
    atomic_int at_work[THREADS];
    atomic_size_t begun; /* turns that have begun */
    int threads, early, crowded;
    enum fit_team_order order;
};

static void count(void *user, size_t k, size_t thread)
{
    struct tally *t = user;
    if (thread >= (size_t)t->threads || atomic_fetch_add(&t->at_work[thread], 1) != 0)
        t->crowded = 1;
    /* others may have begun later turns, but never more of them than there are threads */
    size_t begun = atomic_fetch_add(&t->begun, 1);
    if (t->order == FIT_TEAM_NEXT && k > begun + (size_t)t->threads)
        t->early = 1;
    atomic_fetch_add(&t->done[k], 1);
    if (thread < THREADS)
        atomic_fetch_sub(&t->at_work[thread], 1);
}

static void each_turn_once(int threads, enum fit_team_order order, size_t n)
{
    struct tally *t = calloc(1, sizeof *t);
    t->threads = threads > 1 ? threads : 1;
    t->order = order;
    fit_team_run((struct fit_team){threads, order}, n, count, t);
    for (size_t k = 0; k < TURNS; k++)
        assert_int_equal(t->done[k], k < n);
    assert_false(t->crowded);
    assert_false(t->early);
    free(t);
}

static void test_each_turn_is_done_once(void **state)
{
    (void)state;
    static const size_t many[] = {0, 1, 2, 6, 7, 8, 1000, TURNS};
    for (int threads = 0; threads <= THREADS; threads++)
        for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
            each_turn_once(threads, FIT_TEAM_NEXT, many[i]);
            each_turn_once(threads, FIT_TEAM_SHARE, many[i]);
        }
}

static void test_short_calls_one_after_the_other(void **state)
{
    (void)state;
    for (int k = 0; k < 2000; k++)
        each_turn_once(2 + k % (THREADS - 1), k % 2 ? FIT_TEAM_NEXT : FIT_TEAM_SHARE, 3);
}

struct inner {
    struct tally *tally;
    atomic_int other_threads;
};

static void inner_turn(void *user, size_t k, size_t thread)
{
    struct inner *x = user;
    (void)k;
    x->other_threads += thread != 0;
    atomic_fetch_add(&x->tally->done[k], 1);
}

static void outer_turn(void *user, size_t k, size_t thread)
{
    (void)k;
    (void)thread;
    fit_team_run((struct fit_team){THREADS, FIT_TEAM_SHARE}, 10, inner_turn, user);
}

static void test_a_call_within_a_turn_runs_alone(void **state)
{
    (void)state;
    struct inner x = {.tally = calloc(1, sizeof *x.tally)};
    fit_team_run((struct fit_team){THREADS, FIT_TEAM_NEXT}, 50, outer_turn, &x);
    assert_int_equal(x.other_threads, 0);
    for (size_t k = 0; k < 10; k++)
        assert_int_equal(x.tally->done[k], 50);
    free(x.tally);
}

static void *caller(void *user)
{
    (void)user;
    for (int k = 0; k < 200; k++)
        each_turn_once(3, k % 2 ? FIT_TEAM_NEXT : FIT_TEAM_SHARE, 100);
    return NULL;
}

static void test_calls_side_by_side(void **state)
{
    (void)state;
    pthread_t t[3];
    for (int k = 0; k < 3; k++)
        assert_int_equal(pthread_create(&t[k], NULL, caller, NULL), 0);
    for (int k = 0; k < 3; k++)
        pthread_join(t[k], NULL);
}

static void test_topology_is_consistent(void **state)
{
    (void)state;
    struct fit_topology *t = malloc(sizeof *t);
    fit_topology_read(t);
    assert_true(t->cores >= 1 && t->cores <= t->logical && t->nodes >= 1 && t->nodes <= t->cores);
    assert_true(fit_topology_usable(t) >= 1 && fit_topology_usable(t) <= t->cores);
    t->quota = 0.3; /* less than a processor is still one thread */
    assert_int_equal(fit_topology_usable(t), 1);
    t->cores = 16;
    t->quota = 3.6;
    assert_int_equal(fit_topology_usable(t), 4);
    t->quota = 64;
    assert_int_equal(fit_topology_usable(t), 16);
    free(t);
    /* as many threads as cores: each its own */
    fit_topology_read(t = malloc(sizeof *t));
    for (int spread = 0; spread < 2; spread++)
        for (int a = 0; a < t->cores; a++)
            for (int b = 0; b < a; b++)
                assert_int_not_equal(fit_topology_core((size_t)a, spread),
                                     fit_topology_core((size_t)b, spread));
    free(t);
}

static void spin(double seconds)
{
    double end = fit_seconds() + seconds;
    while (fit_seconds() < end)
        ;
}

static void busy_turn(void *user, size_t k, size_t thread)
{
    (void)user;
    (void)k;
    (void)thread;
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_PAIRS);
    spin(0.002);
    enum fit_clock inner = fit_clock_enter(FIT_CLOCK_DECODE);
    spin(0.001);
    fit_clock_enter(inner);
    fit_clock_enter(was);
}

/* Off: nothing is counted.  On: the seconds of the main thread are those that pass. */
static void test_clock_adds_up(void **state)
{
    (void)state;
    struct fit_clock_thread t[64];
    assert_int_equal(fit_clock_enter(FIT_CLOCK_PAIRS), FIT_CLOCK_PAIRS);
    assert_int_equal(fit_clock_report(t, 64), 0);
    double begin = fit_seconds();
    fit_clock_start();
    fit_team_run((struct fit_team){3, FIT_TEAM_NEXT}, 30, busy_turn, NULL);
    size_t n = fit_clock_report(t, 64);
    double passed = fit_seconds() - begin, sum = 0, pairs = 0, decode = 0;
    assert_true(n >= 1);
    assert_string_equal(t[0].name, "main");
    for (int c = 0; c < FIT_CLOCKS; c++)
        sum += t[0].seconds[c];
    assert_true(sum <= passed && sum > 0.5 * passed);
    for (size_t k = 0; k < n; k++) {
        pairs += t[k].seconds[FIT_CLOCK_PAIRS];
        decode += t[k].seconds[FIT_CLOCK_DECODE];
    }
    assert_true(pairs >= 0.999 * 30 * 0.002 && decode >= 0.999 * 30 * 0.001);
}

/* ---- placement on machines with several nodes ----------------------------------------------------------------- */

/* nodes x cores x threads of a core, numbered as firmware does: first threads of all cores, then the second ones
 * (siblings = 1), or core after core (0). */
static struct fit_topology *machine(int nodes, int cores, int pus, int siblings)
{
    static struct fit_topology t;
    t = (struct fit_topology){.online = nodes * cores * pus, .logical = nodes * cores * pus};
    for (int k = 0; k < t.logical; k++) {
        int core = siblings ? k % (nodes * cores) : k / pus;
        t.cpu[k] = (struct fit_topology_cpu){
            .cpu = k, .core = siblings ? core : core * pus, .package = core / cores, .node = core / cores};
    }
    fit_topology_count(&t);
    return &t;
}

static void test_threads_are_placed_one_per_core(void **state)
{
    (void)state;
    static const int shape[][3] = {{1, 4, 1}, {2, 16, 2}, {4, 8, 2}, {8, 16, 1}};
    for (size_t s = 0; s < sizeof shape / sizeof *shape; s++)
        for (int siblings = 0; siblings < 2; siblings++) {
            int nodes = shape[s][0], cores = shape[s][1], order[FIT_TOPOLOGY_CPUS];
            const struct fit_topology *t = machine(nodes, cores, shape[s][2], siblings);
            assert_int_equal(t->cores, nodes * cores);
            assert_int_equal(t->nodes, nodes);
            assert_int_equal(fit_topology_usable(t), nodes * cores);
            for (int spread = 0; spread < 2; spread++) {
                assert_int_equal(fit_topology_order(t, spread, order), t->cores);
                for (int k = 0; k < t->cores; k++) {
                    assert_int_equal(t->cpu[order[k]].node, spread ? k % nodes : k / cores);
                    for (int i = 0; i < k; i++)
                        assert_int_not_equal(t->cpu[order[i]].core, t->cpu[order[k]].core);
                }
            }
        }
}

/* A mask that leaves 3 cores of the first node and 1 of the second. */
static void test_placement_inside_an_affinity_mask(void **state)
{
    (void)state;
    static const int left[] = {2, 5, 7, 20};
    struct fit_topology t = *machine(2, 16, 1, 0), *all = machine(2, 16, 1, 0);
    int order[FIT_TOPOLOGY_CPUS];
    t.logical = 4;
    for (int k = 0; k < 4; k++)
        t.cpu[k] = all->cpu[left[k]];
    fit_topology_count(&t);
    assert_int_equal(t.cores, 4);
    assert_int_equal(t.nodes, 2);
    assert_int_equal(fit_topology_order(&t, 0, order), 4);
    assert_memory_equal(order, left, sizeof left);
    static const int in_turn[] = {2, 20, 5, 7};
    assert_int_equal(fit_topology_order(&t, 1, order), 4);
    assert_memory_equal(order, in_turn, sizeof in_turn);
    t.quota = 2;
    assert_int_equal(fit_topology_usable(&t), 2);
}

struct who {
    pthread_t thread[THREADS];
    atomic_int present;
};

/* Every thread takes one turn: nobody goes on before all are there. */
static void note_thread(void *user, size_t k, size_t thread)
{
    struct who *w = user;
    (void)k;
    w->thread[thread] = pthread_self();
    atomic_fetch_add(&w->present, 1);
    while (atomic_load(&w->present) < THREADS)
        sched_yield();
}

/* So that every thread meets the pages again that it touched first. */
static void test_numbers_of_threads_stay(void **state)
{
    (void)state;
    struct who first = {.present = 0};
    fit_team_run((struct fit_team){THREADS, FIT_TEAM_SHARE}, THREADS, note_thread, &first);
    assert_int_equal(first.present, THREADS);
    for (int again = 0; again < 200; again++) {
        struct who now = {.present = 0};
        fit_team_run((struct fit_team){THREADS, FIT_TEAM_SHARE}, THREADS, note_thread, &now);
        for (int k = 0; k < THREADS; k++)
            assert_true(pthread_equal(now.thread[k], first.thread[k]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_turn_is_done_once),
        cmocka_unit_test(test_short_calls_one_after_the_other),
        cmocka_unit_test(test_a_call_within_a_turn_runs_alone),
        cmocka_unit_test(test_calls_side_by_side),
        cmocka_unit_test(test_topology_is_consistent),
        cmocka_unit_test(test_clock_adds_up),
        cmocka_unit_test(test_threads_are_placed_one_per_core),
        cmocka_unit_test(test_placement_inside_an_affinity_mask),
        cmocka_unit_test(test_numbers_of_threads_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
