/* copies.h -- has somebody started several copies of a program that does not divide its work?
 *
 * `srun -n 8 homodyne fit ...` and `mpirun -np 8 homodyne fit ...` start the same fit eight times.  What the launchers
 * tell their processes by the environment is looked at. */
#pragma once

#include <stddef.h>

#include "base/status.h"

/* FIT_ERR_USAGE, with what to do instead, when this is one of several; unless FIT_COPIES=each says that each has work
 * of its own.  command: "fit". */
enum fit_status fit_copies_refuse(const char *command, struct fit_error *err);

/* How many copies there are; *rank: which of them this is, from 0; *told: the variable that says so, or NULL. */
long fit_copies(long *rank, const char **told);

/* The share K of N that is ours, when each copy has work of its own: of an array of SLURM, of whose elements each may
 * be several copies; 1 of 1 where nobody has started several. */
void fit_copies_part(size_t *part, size_t *parts);

/* Says to the programs that this one starts that each of them has work of its own. */
void fit_copies_divide(void);
