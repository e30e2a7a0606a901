/* joint.h -- several data files as one measurement: groups of all of them side by side, told apart by an axis more.
 *
 * Every file is read as if it were alone, with its own notes and its own q, and then becomes a part of one dataset
 * whose coordinates are those of the axes of the model and behind them the number of the file, 1, 2, ...  Settings may
 * differ from file to file (settings: {T: [290, 300]}, wavevectors of the files).  The kernel to fit with is that of a
 * linkage (model/linkage.h), which hands every file its own settings.
 *
 *     Tables       the rows of all files; statistics of columns are those of all rows.
 *     Matrices     one grid of times, that of the longest file: frame period and time of the first frame must be the
 *                  same.  Pairs of frames that a file lacks have weight zero.
 *
 * Errors (sigma) must be known in all files or in none.
 */
#pragma once

#include "config/config.h"
#include "input/measurement.h"

/* The files of the configuration, more than one.  FIT_ERR_CONFIG, FIT_ERR_DATA with the file at fault. */
enum fit_status fit_joint_load(const struct fit_config *cfg, const struct fit_kernel *kernel,
                               struct fit_measurement **m, struct fit_error *err);

/* What file f < n of the configuration is to be read with: its name, its q and its errors. */
void fit_joint_selection(const struct fit_config *cfg, size_t f, struct fit_selection *sel);
