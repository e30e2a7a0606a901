/* join.h -- several copies of this program, started by mpirun or srun, become the ranks of one run.
 *
 * Without a launcher, or with one copy, nothing happens. Without a plugin for the launcher's MPI: FIT_ERR_USAGE, as
 * in copies.h. Then all ranks have the same number of threads and the same instruction set, the lowest among them;
 * ranks with another command line or program are refused.
 *
 * A copy whose node lacks the program or the plugin never begins. The others wait for HOMODYNE_MPI_SECONDS, 300 by
 * default; then SIGALRM comes, whose handler has to end the process with what fit_join_late() returns. */
#pragma once

#include "base/status.h"
#include "commands/program.h"

enum fit_status fit_join(const char *command, struct fit_program *p, void (*late)(int), atomic_int *interrupt,
                         struct fit_error *err);

/* This copy has failed with st and err before fit_join, perhaps alone: its program is p (name and words suffice). It
 * meets the others, so that all end with the same error, which names the rank unless all have failed; returns its
 * status. */
enum fit_status fit_join_failed(const struct fit_program *p, void (*late)(int), enum fit_status st,
                                struct fit_error *err);

/* For the handler: says that the others have not come, and returns the exit code. */
int fit_join_late(void);
