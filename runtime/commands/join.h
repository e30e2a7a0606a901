/* join.h -- several copies of this program, started by mpirun or srun, become the ranks of one run.
 *
 * Without a launcher, or with one copy, nothing happens. Without a plugin for the launcher's MPI: FIT_ERR_USAGE, as
 * in copies.h. Then all ranks have the same number of threads and the same instruction set, the lowest among them;
 * ranks with another command line or program are refused. */
#pragma once

#include "base/status.h"
#include "commands/program.h"

enum fit_status fit_join(const char *command, struct fit_program *p, atomic_int *interrupt, struct fit_error *err);
