/* run_id.h -- the identity of the run that has written a file: 16 hexadecimal digits, drawn anew by every run and
 * written into each file of its result. Two of them in one folder show that files of two runs are mixed: by a crash
 * between two renames, a copy, or a program that ignores the lock (lock.h).
 *
 *     fit.json, cmc/.json    "run_id"            fit.h5            /entry/run_id
 *     posterior.nc           attribute run_id    cmc/samples.npz   array run_id
 *     run.log, summary.txt, config.effective.yaml, sequence of chains in posterior.checkpoint: a line "run 0123..."
 */
#pragma once

#include "base/status.h"

enum { FIT_RUN_ID = 17 };

void fit_run_id_new(char id[FIT_RUN_ID]);
