/* team.h -- threads that share the turns of a loop.
 *
 * A call takes idle threads out of a store that all calls have in common, makes those that are
 * missing, and gives them back at its end; the calling thread takes part.  Threads without work
 * sleep after some 50 us: on a machine with other work to do they take none of its time.  (libgomp's
 * threads spin for milliseconds first, and the variables that forbid it must be set before the
 * program begins.)
 *
 * A call from within a turn runs by itself, in order.  OMP_PROC_BIND (true, close, spread) binds the
 * threads that are made to one core each; the thread that calls is left free.
 */
#pragma once

#include <stddef.h>

/* One turn.  thread: 0 .. threads - 1; no two turns that run at the same time have the same. */
typedef void fit_turn(void *user, size_t k, size_t thread);

enum fit_team_order {
    FIT_TEAM_NEXT, /* turns begin in the order 0, 1, 2, ... */
    FIT_TEAM_SHARE /* thread t begins with [t n/T, (t+1) n/T), then helps others: each time the same
                      thread meets the same memory */
};

struct fit_team {
    int threads; /* at most so many; 0 and 1: the caller alone; FIT_TEAM_ALL */
    enum fit_team_order order;
};
#define FIT_TEAM_ALL (-1) /* the default of tile_sums.h */

/* Runs turn(user, k, thread) once for each k < n and returns when all are done. */
void fit_team_run(struct fit_team team, size_t n, fit_turn *turn, void *user);

/* 1: the calling thread is in a turn that it shares with other threads. */
int fit_team_inside(void);
