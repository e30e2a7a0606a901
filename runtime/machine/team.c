/* team.c -- threads that share the iterations ("turns") of a loop. See team.h.
 *
 * Each thread has a share [next, end) of the turns behind an atomic counter. With FIT_TEAM_NEXT there is one share for
 * all; with FIT_TEAM_SHARE a thread that has finished its own share takes turns from the shares of the others, in the
 * order of their numbers. Which thread does a turn has no influence on what it computes.
 *
 * A call ends when all threads have left it; `left` orders their writes before the reads of the caller, and is the last
 * thing that they touch.
 *
 * The passes of a small fit take less time than the kernel needs to wake a thread. A waiting thread therefore spins for
 * the first PATIENCE, and sleeps after that.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_attr_setaffinity_np */
#endif
#include "machine/team.h"

#include "base/clock.h"
#include "machine/topology.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 1024, LINE = 64, LOOKS = 16 /* iterations between two readings of the clock */ };
static const long PATIENCE = 50000; /* ns: about twice what a wake takes */

struct share {
    _Alignas(LINE) atomic_size_t next;
    size_t end;
};

struct call {
    fit_turn *turn;
    void *user;
    size_t nshare;
    struct share *share;
    pthread_mutex_t lock;
    pthread_cond_t done;
    size_t busy;
    atomic_size_t left; /* threads that the caller must wait for */
    int patient;        /* each thread has a core: spinning costs nobody anything */
    enum fit_clock at;  /* what the caller is at */
    void *carried;
};

struct worker {
    struct worker *idle; /* the next in the store */
    pthread_cond_t wake;
    _Atomic(struct call *) call;
    size_t thread;      /* its number in the current call, or in the last one */
    atomic_int patient; /* was the last call? */
};

static pthread_mutex_t store_lock = PTHREAD_MUTEX_INITIALIZER;
static struct worker *store;
static size_t made;
static _Thread_local int inside; /* a turn: what it calls runs alone */
static _Thread_local void *carried;

static void turns_of(struct call *c, size_t which, size_t thread)
{
    struct share *s = &c->share[which];
    for (;;) {
        size_t k = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
        if (k >= s->end)
            return;
        c->turn(c->user, k, thread);
    }
}

static void take_part(struct call *c, size_t thread)
{
    inside++;
    for (size_t k = 0; k < c->nshare; k++)
        turns_of(c, (thread + k) % c->nshare, thread);
    inside--;
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void pause_core(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static long nanoseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (long)(t.tv_sec % 1000000) * 1000000000L + t.tv_nsec;
}

/* Spins until happened(what), for PATIENCE at most; 1: it has. */
static int look_on(int (*happened)(void *what), void *what)
{
    const long begun = nanoseconds();
    do
        for (int k = 0; k < LOOKS; k++) {
            if (happened(what))
                return 1;
            pause_core();
        }
    while ((unsigned long)(nanoseconds() - begun) < (unsigned long)PATIENCE);
    return 0;
}

static int all_left(void *what)
{
    struct call *c = what;
    return atomic_load_explicit(&c->left, memory_order_acquire) == 0;
}

static int is_called(void *what)
{
    struct worker *w = what;
    return atomic_load_explicit(&w->call, memory_order_acquire) != NULL;
}

/* ---- the threads ----------------------------------------------------------------------------- */

static void wait_for_call(struct worker *w)
{
    if (w->patient && look_on(is_called, w))
        return;
    pthread_mutex_lock(&store_lock);
    while (!w->call)
        pthread_cond_wait(&w->wake, &store_lock);
    pthread_mutex_unlock(&store_lock);
}

static void leave(struct call *c)
{
    pthread_mutex_lock(&c->lock);
    if (--c->busy == 0)
        pthread_cond_signal(&c->done);
    pthread_mutex_unlock(&c->lock);
    atomic_fetch_sub_explicit(&c->left, 1, memory_order_release); /* c may be gone from here on */
}

static void wait_for_all(struct call *c)
{
    if (c->patient && look_on(all_left, c))
        return;
    pthread_mutex_lock(&c->lock);
    while (c->busy)
        pthread_cond_wait(&c->done, &c->lock);
    pthread_mutex_unlock(&c->lock);
    while (!all_left(c)) /* the last is between two of its lines */
        sched_yield();
}

static void *work(void *user)
{
    struct worker *w = user;
    fit_clock_name("worker");
    for (;;) {
        wait_for_call(w);
        struct call *c = w->call;
        enum fit_clock was = fit_clock_enter(c->at);
        carried = c->carried;
        take_part(c, w->thread);
        carried = NULL;
        fit_clock_enter(was);
        pthread_mutex_lock(&store_lock); /* back to the store first, where the next call finds it */
        w->call = NULL;
        w->idle = store;
        store = w;
        pthread_mutex_unlock(&store_lock);
        leave(c);
    }
    return NULL;
}

/* Binds thread number k, which is being created, to one core when OMP_PROC_BIND asks for it. */
static void bind_thread(pthread_attr_t *attr, size_t k)
{
#ifdef __linux__
    static const char *const words[] = {"true", "TRUE", "close", "spread"};
    const char *wish = getenv("OMP_PROC_BIND");
    int cpu = -1;
    for (size_t i = 0; wish && i < sizeof words / sizeof *words; i++)
        if (strcmp(wish, words[i]) == 0)
            cpu = fit_topology_core(k, wish[0] == 's');
    if (cpu < 0)
        return;
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    pthread_attr_setaffinity_np(attr, sizeof set, &set);
#else
    (void)attr;
    (void)k;
#endif
}

/* A new thread, not in the store; NULL: no more can be created. The store is locked. */
static struct worker *make_worker(void)
{
    struct worker *w = made < MOST ? calloc(1, sizeof *w) : NULL;
    pthread_attr_t attr;
    pthread_t thread;
    if (!w || pthread_attr_init(&attr) != 0) {
        free(w);
        return NULL;
    }
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    bind_thread(&attr, made + 1);
    pthread_cond_init(&w->wake, NULL);
    int bad = pthread_create(&thread, &attr, work, w);
    pthread_attr_destroy(&attr);
    if (bad) {
        pthread_cond_destroy(&w->wake);
        free(w);
        return NULL;
    }
    made++;
    return w;
}

/* Takes a thread from the store: the one that had this number in its last call, so that it meets again the pages
 * that it touched first; otherwise any. NULL: the store is empty. The store is locked. */
static struct worker *take_worker(size_t thread)
{
    struct worker **at = &store;
    for (struct worker **w = &store; *w; w = &(*w)->idle)
        if ((*w)->thread == thread) {
            at = w;
            break;
        }
    struct worker *w = *at;
    if (w)
        *at = w->idle;
    return w;
}

/* Starts n - 1 threads; fewer when no more can be created. */
static void call_workers(struct call *c, size_t n)
{
    pthread_mutex_lock(&store_lock);
    pthread_mutex_lock(&c->lock);
    for (size_t thread = 1; thread < n; thread++) {
        struct worker *w = take_worker(thread);
        if (!w && !(w = make_worker()))
            break;
        c->busy++; /* no worker leaves before it has its lock */
        atomic_fetch_add_explicit(&c->left, 1, memory_order_relaxed);
        w->thread = thread;
        w->patient = c->patient;
        atomic_store_explicit(&w->call, c, memory_order_release);
        pthread_cond_signal(&w->wake);
    }
    pthread_mutex_unlock(&c->lock);
    pthread_mutex_unlock(&store_lock);
}

/* ---- a call ---------------------------------------------------------------------------------- */

static void share_out(struct call *c, size_t n)
{
    for (size_t k = 0; k < c->nshare; k++) {
        atomic_init(&c->share[k].next, k * n / c->nshare);
        c->share[k].end = (k + 1) * n / c->nshare;
    }
}

static void run_together(struct call *c, size_t threads)
{
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->done, NULL);
    call_workers(c, threads);
    take_part(c, 0);
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_WAIT);
    wait_for_all(c);
    fit_clock_enter(was);
    pthread_cond_destroy(&c->done);
    pthread_mutex_destroy(&c->lock);
}

int fit_team_inside(void)
{
    return inside > 0;
}

void fit_team_carry(void *what)
{
    carried = what;
}

void *fit_team_carried(void)
{
    return carried;
}

void fit_team_run(struct fit_team team, size_t n, fit_turn *turn, void *user)
{
    int asked = team.threads == FIT_TEAM_ALL ? fit_topology_threads() : team.threads;
    size_t threads = asked > 1 ? (size_t)asked : 1;
    threads = threads < n ? threads : n;
    struct call c = {.turn = turn, .user = user, .at = fit_clock_now(), .carried = carried};
    c.patient = threads <= (size_t)fit_topology_cores();
    c.nshare = team.order == FIT_TEAM_SHARE ? threads : 1;
    c.share = threads > 1 && !inside ? aligned_alloc(LINE, c.nshare * sizeof *c.share) : NULL;
    if (!c.share) { /* alone, or no memory for more */
        for (size_t k = 0; k < n; k++)
            turn(user, k, 0);
        return;
    }
    share_out(&c, n);
    run_together(&c, threads);
    free(c.share);
}
