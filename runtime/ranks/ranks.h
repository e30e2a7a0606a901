/* ranks.h -- the processes of one run, its ranks: who they are, and what they tell each other.
 *
 * All ranks run the same program on the same input and take the same decisions, for all that they decide by is equal to
 * the bit: sums over the data are made of parts that the ranks compute and gather (data/tile_sums.h), independent turns
 * are divided and their results spread, and what may differ between processes (the clock, a signal, memory) is agreed
 * upon here.  Rank 0 alone prints and writes.  Without other ranks every function here is as good as not called.
 *
 * A call that meets the other ranks is made by all of them in the same order, so only by the thread that has called
 * fit_ranks_begin, outside of the turns of a team (machine/team.h) and outside of a divided loop; elsewhere
 * fit_ranks_shared() is 0 and a rank computes alone.
 */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "machine/team.h"
#include "ranks/plugin.h"

/* The calling thread's process is one of several from now on.  interrupt: becomes 1 for all ranks at the same place of
 * the program, when one of them was asked to stop.  FIT_ERR_USAGE: the plugin sees another number of ranks than
 * `expected`. */
enum fit_status fit_ranks_begin(const struct fit_ranks_plugin *plugin, long expected, atomic_int *interrupt,
                                struct fit_error *err);

/* At the end of the program, which ended here with st: who tells it.  LOST: some rank has not come to its end, because
 * this one had an error of its own; it says so, and ends all by fit_ranks_abort. */
enum fit_ranks_last { FIT_RANKS_SPEAKS, FIT_RANKS_SILENT, FIT_RANKS_LOST };
enum fit_ranks_last fit_ranks_end(enum fit_status st);
void fit_ranks_abort(int exit_code);

size_t fit_ranks_size(void); /* 1 without others */
size_t fit_ranks_rank(void); /* 0 */
const char *fit_ranks_library(void); /* "" without others */

/* 1: there are other ranks, and this is a place where all meet. */
int fit_ranks_shared(void);

/* A signal asks this rank to stop.  1: there are others, who are told at the next meeting; 0: alone. */
int fit_ranks_ask(void);

/* What all ranks decide by: without others fit_seconds(), else the clock of rank 0 at the last meeting; in a divided
 * loop the rank's own. */
double fit_ranks_seconds(void);

/* Meets: the clock and whether to stop. */
void fit_ranks_agree(void);

/* Meets: the least of the ranks' numbers. */
double fit_ranks_least(double x);

/* Meets: the sum of the ranks' numbers, added in their order. */
double fit_ranks_total(double x);

/* Meets: the ranks' n numbers x are added in the order of the ranks; all get the sums. */
void fit_ranks_add(double *x, size_t n);

/* Meets: the first status that is not FIT_OK, with its message, becomes that of all. */
enum fit_status fit_ranks_agree_status(enum fit_status st, struct fit_error *err);

/* Meets: data of rank `from` go to all. */
void fit_ranks_copy(size_t from, void *data, size_t bytes);

/* Meets: rank r gives count[r] numbers, all get those of the ranks one after the other. */
void fit_ranks_gather(const double *mine, const size_t *count, double *all);

/* ---- divided loops --------------------------------------------------------------------------------------- */

/* Turns that do not depend on each other, for k < n: rank r takes those with k mod size = r, and shares them among its
 * threads.  In them a rank is alone: it sees its own clock and signals.  Where ranks do not meet: all turns here. */
void fit_ranks_run(struct fit_team team, size_t n, fit_turn *turn, void *user);

/* Meets: after it, results[k] (bytes each, for k < n) are those of the rank that had turn k. */
void fit_ranks_spread(void *results, size_t n, size_t bytes);

/* The rank that has turn k. */
size_t fit_ranks_owner(size_t k);

/* Between the two a rank is alone; nothing happens where ranks do not meet.  The second meets. */
int fit_ranks_part(void);
void fit_ranks_join(int parted);

/* Groups of ranks: n of the same size, of ranks that follow one another; 0 < n < the number of ranks, which n divides.
 * Between the two functions those who meet are the ranks of a group, and size, rank and clock are the group's; a signal
 * stops the group that it has come to.  Returns which group this rank is of; 0, and nothing happens, where ranks do not
 * meet.  Both meet, all ranks. */
size_t fit_ranks_group(size_t n);
void fit_ranks_ungroup(void);

/* The first rank of group k of n. */
size_t fit_ranks_leader(size_t n, size_t k);

/* In a divided loop: a signal that has come is seen. */
void fit_ranks_look(void);
