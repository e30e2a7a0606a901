/* team.h -- threads that share the iterations ("turns") of a loop.
 *
 * A call takes idle threads from a store that all calls share, creates missing ones, and returns them at its end; the
 * calling thread takes part. Idle threads sleep after some 50 us, so that they take no time from other work on the
 * machine. (The threads of libgomp spin for milliseconds first, and the variables that prevent it must be set before
 * the program starts.)
 *
 * A call from within a turn runs alone, in order. OMP_PROC_BIND (true, close, spread) binds each created thread to one
 * core; the calling thread is not bound.
 */
#pragma once

#include <stddef.h>

/* One turn. thread: 0 .. threads - 1; turns that run at the same time have different threads. */
typedef void fit_turn(void *user, size_t k, size_t thread);

enum fit_team_order {
    FIT_TEAM_NEXT, /* turns begin in the order 0, 1, 2, ... */
    FIT_TEAM_SHARE /* thread t begins with [t n/T, (t+1) n/T), then helps others: the same thread always meets the
                    * same memory */
};

struct fit_team {
    int threads; /* at most so many threads; 0 and 1: the caller alone; FIT_TEAM_ALL */
    enum fit_team_order order;
};
#define FIT_TEAM_ALL (-1) /* the default of tile_sums.h */

/* Runs turn(user, k, thread) once for each k < n and returns when all are done. */
void fit_team_run(struct fit_team team, size_t n, fit_turn *turn, void *user);

/* 1: the calling thread is in a turn that it shares with other threads. */
int fit_team_inside(void);

/* A pointer of the calling thread that all threads of its calls have as well, during their turns; NULL at first. */
void fit_team_carry(void *what);
void *fit_team_carried(void);
