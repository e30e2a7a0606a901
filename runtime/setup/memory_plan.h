/* memory_plan.h -- the memory that a fit needs, from the shape of its data. */
#pragma once

#include "config/config.h"
#include "input/select.h"
#include "leastsquares/fit_types.h"

struct fit_memory_plan {
    size_t file_frames, frames, ngroup; /* rows of the matrices; number inside the window */
    size_t nmatrix; /* in the file */
    double points;
    double held_mb, streamed_mb; /* whole program, values in memory (for a rank: those it holds) or read in every
                                  * pass */
    double available_mb, limit_mb;
    size_t data_limit; /* bytes, for fit_selection.memory */
    int weighted;      /* values have errors of their own */
    int streamed;      /* what sel->stream and the limit lead to */
};

/* From the shape of the data, before any matrix is read.  fraction: of the available memory. */
enum fit_status fit_memory_plan(const struct fit_selection *sel, double fraction,
                                struct fit_memory_plan *plan, struct fit_error *err);

/* The same for all data files of a configuration; several are held in memory: FIT_ERR_MEMORY when they do not fit.
 * *sel: the selection with which the first, or only, file is read. */
enum fit_status fit_memory_plan_files(const struct fit_config *cfg, struct fit_selection *sel,
                                      struct fit_memory_plan *plan, struct fit_error *err);

/* MB of each of so many ranks, with all values or only those of its share (sel->divide). */
double fit_memory_plan_rank(const struct fit_memory_plan *plan, size_t ranks, int divided);

/* Adds the memory that a fit with this loss needs beside the values (objective.h). */
void fit_memory_plan_loss(struct fit_memory_plan *plan, enum fit_loss loss);

/* Approximate number of bytes that this process will read while the data are loaded: the file for its SHA-256, and
 * the selected matrices, which are examined before their values stay in the file. NaN: unknown. */
double fit_memory_plan_bytes(const struct fit_selection *sel, const struct fit_memory_plan *plan);
