/* ranks.h -- the processes of one run, its ranks: their identity and communication.
 *
 * All ranks run the same program on the same input and take the same decisions, because everything that decisions
 * depend on is equal to the bit: sums over the data consist of parts that the ranks compute and gather
 * (data/tile_sums.h), independent turns of loops are divided and their results distributed, and what may differ between
 * processes (the clock, a signal, memory) is agreed upon here. Only rank 0 prints and writes. Without other ranks every
 * function here does nothing.
 *
 * A collective call ("meeting") is made by all ranks in the same order, hence only by the thread that has called
 * fit_ranks_begin, outside the turns of a team (machine/team.h) and outside a divided loop; elsewhere
 * fit_ranks_shared() is 0 and a rank computes alone.
 */
#pragma once

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "machine/team.h"
#include "ranks/plugin.h"

/* From now on the calling thread's process is one of several ranks. interrupt: becomes 1 for all ranks at the same
 * point of the program, when one of them was told to stop. FIT_ERR_USAGE: the plugin sees another number of ranks
 * than `expected`. */
enum fit_status fit_ranks_begin(const struct fit_ranks_plugin *plugin, long expected, atomic_int *interrupt,
                                struct fit_error *err);

/* At the end of the program, with the status st: says who reports it; then, after the report, fit_ranks_leave. LOST:
 * another rank has not reached its end, because this one had an error of its own; this one reports it, and ends all by
 * fit_ranks_abort. ALONE: there were no
 * others; this one reports it. */
enum fit_ranks_last { FIT_RANKS_SPEAKS, FIT_RANKS_SILENT, FIT_RANKS_LOST, FIT_RANKS_ALONE };
enum fit_ranks_last fit_ranks_end(enum fit_status st);
void fit_ranks_leave(void); /* meeting: launchers end all when one ends with an error, before the report, else */
void fit_ranks_abort(int exit_code);

size_t fit_ranks_size(void); /* 1 without others */
size_t fit_ranks_rank(void); /* 0 */
const char *fit_ranks_library(void); /* "" without others */

/* Of those who meet: the host of rank r, cut if it is long, and "rank 1 (host)". */
enum { FIT_RANKS_HOST = 64, FIT_RANKS_WHERE = FIT_RANKS_HOST + 32 };
const char *fit_ranks_host(size_t r);
const char *fit_ranks_where(size_t r, char text[FIT_RANKS_WHERE]);

/* Is told why ranks.c ends a run; one rank is, as a rule. */
void fit_ranks_tell(void (*tell)(const char *why));

/* 1: there are other ranks, and this is a point where all can meet. */
int fit_ranks_shared(void);

/* A signal tells this rank to stop. 1: there are others, which learn of it at the next meeting; 0: alone. */
int fit_ranks_ask(void);

/* The clock for common decisions: without other ranks fit_seconds(), otherwise the clock of rank 0 at the last
 * meeting; in a divided loop the rank's own. */
double fit_ranks_seconds(void);

/* Meeting: agrees on the clock and on stopping. */
void fit_ranks_agree(void);

/* Meeting: the minimum of the ranks' numbers. */
double fit_ranks_least(double x);

/* Meeting: the sum of the ranks' numbers, added in rank order. */
double fit_ranks_total(double x);

/* Meeting: the ranks' n numbers x are added in rank order; all receive the sums. */
void fit_ranks_add(double *x, size_t n);

/* Meeting: the first status that is not FIT_OK becomes that of all, with its message, which names the rank unless all
 * have failed. */
enum fit_status fit_ranks_agree_status(enum fit_status st, struct fit_error *err);

/* Meeting: data of rank `from` are sent to all. */
void fit_ranks_copy(size_t from, void *data, size_t bytes);

/* Meeting: rank r sends count[r] numbers; all receive those of the ranks one after the other. */
void fit_ranks_gather(const double *mine, const size_t *count, double *all);

/* ---- divided loops --------------------------------------------------------------------------------------- */

/* Independent turns k < n: rank r takes those with k mod size = r, and divides them among its threads. In them a
 * rank is alone: it sees its own clock and signals. Where ranks cannot meet, all turns are done here. */
void fit_ranks_run(struct fit_team team, size_t n, fit_turn *turn, void *user);

/* Meeting: afterwards results[k] (bytes each, for k < n) are those of the rank that did turn k. */
void fit_ranks_spread(void *results, size_t n, size_t bytes);

/* The rank that does turn k. */
size_t fit_ranks_owner(size_t k);

/* Between the two calls a rank is alone; they do nothing where ranks cannot meet. The second is a meeting. */
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
