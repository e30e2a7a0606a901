/* run_id.h -- which run has written a file: 16 hexadecimal digits, drawn anew by every run and written into each file
 * of its result.  Two of them in one folder say that a set was put together from two runs: by a crash between two
 * renames, a copy, or a program that does not know the lock (lock.h).
 *
 *     fit.json, cmc/.json    "run_id"            fit.h5            /entry/run_id
 *     posterior.nc           attribute run_id    cmc/samples.npz   array run_id
 *     run.log, summary.txt, config.effective.yaml, sequence of chains in posterior.checkpoint: a line "run 0123..."
 */
#pragma once

#include "base/status.h"

enum { FIT_RUN_ID = 17 };

void fit_run_id_new(char id[FIT_RUN_ID]);
