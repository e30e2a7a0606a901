/* copies.h -- detects several copies of a program that does not divide its work.
 *
 * `srun -n 8 homodyne fit ...` and `mpirun -np 8 homodyne fit ...` start the same fit eight times. The environment
 * that launchers set for their processes reveals it. */
#pragma once

#include <stddef.h>

#include "base/status.h"
#include "ranks/ranks.h"

/* FIT_ERR_USAGE, with the remedy, when this is one of several copies, unless FIT_COPIES=each says that each has its
 * own work. command: "fit". alike: all copies are refused, and the first alone will say so; 0: this one could not
 * become a rank. */
enum fit_status fit_copies_refuse(const char *command, int alike, struct fit_error *err);

/* *of_one: there are several copies, and not each has its own work. FIT_ERR_USAGE: FIT_COPIES has another word. */
enum fit_status fit_copies_of_one(int *of_one, struct fit_error *err);

/* The number of copies; *rank: the number of this one, from 0; *told: the variable that says so, or NULL. */
long fit_copies(long *rank, const char **told);

/* Can copies that `told` reveals communicate? Not those of srun without --mpi: they are independent, and some MPIs end
 * a program that starts so. With only a PMIx server the number of copies is unknown. */
int fit_copies_can_meet(const char *told);

/* "rank 1 (host)" by the variables of the launcher, for a copy that has not met the others; "" without others. */
const char *fit_copies_where(char text[FIT_RANKS_WHERE]);

/* Is the descriptor a terminal of the user, as isatty() says, and not one that a launcher has made? */
int fit_copies_terminal(int fd);

/* This copy ends with an error before it has met the others. 1: all of them fail alike, and the first says why. 0: this
 * one speaks; of a fit, after the time that the first needs to speak, and the launcher to end the others. */
int fit_copies_spoken_for(int is_fit);

/* The share K of N of this copy, when each copy has its own work; elements of a SLURM array may consist of several
 * copies each; 1 of 1 without copies. */
void fit_copies_part(size_t *part, size_t *parts);

/* Tells programs started by this one that each of them has its own work. */
void fit_copies_divide(void);

/* This copy ends, with this exit code, before it has met the others: a launcher that would let them wait for it is told
 * to end them. */
void fit_copies_leave(int exit_code);
