/* forked_ranks.h -- ranks for unit tests: copies of the test's process, which meet in shared memory; no MPI is wanted.
 *
 *     static void work(const void *user, double *result);      what every rank does, with what it gives
 *     double *alone = forked_ranks(1, n, work, user);          one process without others: n numbers
 *     double *many = forked_ranks(3, n, work, user);           three ranks: 3 x n numbers
 *     forked_ranks_free(alone, 1, n);
 *
 * A rank that ends otherwise than by returning from work(), or takes more than a minute, makes the test fail.  Threads
 * do not come with a copy: the test itself must not start any.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ranks/ranks.h"

enum { FORKED_ROOM = 1 << 20, FORKED_SECONDS = 60 };

struct forked_place {
    pthread_barrier_t turn;
    double room[FORKED_ROOM]; /* what is told in a meeting */
};

enum { FORKED_GROUPS = 4 }; /* of ranks, at most */

static struct forked {
    int size;
    struct forked_place all, group[FORKED_GROUPS];
} *forked;
static int forked_rank, forked_ngroup = 1;
static atomic_int forked_interrupt;

typedef void forked_work(const void *user, double *result);

static int forked_begin(int *rank, int *size)
{
    *rank = forked_rank;
    *size = forked->size;
    return 0;
}

static const char *forked_name(void)
{
    return "copies of the test";
}

/* Where this rank meets others, and as which of how many. */
static struct forked_place *forked_here(int *rank, int *size)
{
    *size = forked->size / forked_ngroup;
    *rank = forked_rank % *size;
    return forked_ngroup > 1 ? &forked->group[forked_rank / *size] : &forked->all;
}

static int forked_group(int n)
{
    static int made; /* barriers are of one size: all groups of a test are alike */
    if (n > FORKED_GROUPS || (made && n > 1 && n != made))
        return 1;
    pthread_barrier_wait(&forked->all.turn);
    if (forked_rank == 0 && n > 1 && !made) {
        pthread_barrierattr_t attr;
        pthread_barrierattr_init(&attr);
        pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
        for (int k = 0; k < n; k++)
            pthread_barrier_init(&forked->group[k].turn, &attr, (unsigned)(forked->size / n));
    }
    pthread_barrier_wait(&forked->all.turn);
    made = n > 1 ? n : made;
    forked_ngroup = n;
    return 0;
}

static int forked_gather(const double *mine, double *all, const int *count, const int *place)
{
    int rank, size;
    struct forked_place *here = forked_here(&rank, &size);
    const int last = size - 1;
    if (place[last] + count[last] > FORKED_ROOM)
        return 1;
    memcpy(here->room + place[rank], mine, (size_t)count[rank] * sizeof *mine);
    pthread_barrier_wait(&here->turn);
    memcpy(all, here->room, (size_t)(place[last] + count[last]) * sizeof *all);
    pthread_barrier_wait(&here->turn);
    return 0;
}

static int forked_broadcast(void *data, size_t bytes, int root)
{
    int rank, size;
    struct forked_place *here = forked_here(&rank, &size);
    const size_t most = sizeof here->room;
    for (size_t at = 0; at < bytes; at += most) {
        const size_t n = bytes - at < most ? bytes - at : most;
        if (rank == root)
            memcpy(here->room, (char *)data + at, n);
        pthread_barrier_wait(&here->turn);
        if (rank != root)
            memcpy((char *)data + at, here->room, n);
        pthread_barrier_wait(&here->turn);
    }
    return 0;
}

static int forked_meet(double seconds)
{
    (void)seconds;
    pthread_barrier_wait(&forked->all.turn);
    return 1;
}

static void forked_fail(int code)
{
    _exit(code ? code : 1);
}

static void forked_end(void)
{
}

static const struct fit_ranks_plugin forked_plugin = {.abi = FIT_RANKS_ABI,
                                                      .begin = forked_begin,
                                                      .name = forked_name,
                                                      .gather = forked_gather,
                                                      .broadcast = forked_broadcast,
                                                      .group = forked_group,
                                                      .meet = forked_meet,
                                                      .fail = forked_fail,
                                                      .end = forked_end};

static void *forked_shared(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        abort();
    return p;
}

/* The whole life of a rank. */
static void forked_live(int rank, int size, forked_work *work, const void *user, double *result)
{
    struct fit_error err;
    alarm(FORKED_SECONDS);
    forked_rank = rank;
    if (size > 1 && fit_ranks_begin(&forked_plugin, size, &forked_interrupt, &err) != FIT_OK)
        _exit(90);
    work(user, result);
    if (size > 1 && fit_ranks_end(FIT_OK) == FIT_RANKS_LOST)
        _exit(91);
    _exit(0);
}

static double *forked_ranks(int size, size_t n, forked_work *work, const void *user)
{
    double *result = forked_shared((size_t)size * n * sizeof *result);
    pthread_barrierattr_t attr;
    forked = forked_shared(sizeof *forked);
    forked->size = size;
    pthread_barrierattr_init(&attr);
    pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&forked->all.turn, &attr, (unsigned)size);
    fflush(NULL);
    for (int r = 0; r < size; r++)
        if (fork() == 0)
            forked_live(r, size, work, user, result + (size_t)r * n);
    for (int r = 0, status; r < size; r++) {
        assert_true(wait(&status) > 0);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
    munmap(forked, sizeof *forked);
    return result;
}

static void forked_ranks_free(double *result, int size, size_t n)
{
    munmap(result, (size_t)size * n * sizeof *result);
}

/* Every rank has the numbers of one process. */
static inline void forked_ranks_agree(size_t n, forked_work *work, const void *user)
{
    static const int sizes[] = {2, 3, 7};
    double *alone = forked_ranks(1, n, work, user);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        double *many = forked_ranks(sizes[s], n, work, user);
        for (int r = 0; r < sizes[s]; r++)
            for (size_t k = 0; k < n; k++)
                if (memcmp(&many[(size_t)r * n + k], &alone[k], sizeof *alone) != 0)
                    fail_msg("number %zu of rank %d of %d is %.17g, of one process %.17g", k, r, sizes[s],
                             many[(size_t)r * n + k], alone[k]);
        forked_ranks_free(many, sizes[s], n);
    }
    forked_ranks_free(alone, 1, n);
}
