/* joint.h -- several data files as one measurement: all of their groups side by side, distinguished by one more axis.
 *
 * Every file is read as if it were alone, with its own notes and its own q, and then becomes a part of one dataset. Its
 * coordinates are those of the axes of the model, followed by the number of the file, 1, 2, ... Settings may differ
 * from file to file (settings: {T: [290, 300]}, wavevectors of the files). The fit uses the kernel of a linkage
 * (model/linkage.h), which gives every file its own settings.
 *
 *     Tables       the rows of all files; statistics of columns are those of all rows.
 *     Matrices     the frames of the longest file, each file with its own frame period and time of the first frame
 *                  (data/file_times.h).  Pairs of frames that a file lacks have weight zero.
 *
 * Errors (sigma) must be known in all files or in none.
 */
#pragma once

#include "config/config.h"
#include "input/measurement.h"

/* Loads the files of the configuration, more than one. FIT_ERR_CONFIG, FIT_ERR_DATA with the faulty file. */
enum fit_status fit_joint_load(const struct fit_config *cfg, const struct fit_kernel *kernel,
                               struct fit_measurement **m, struct fit_error *err);

/* The selection with which file f < n of the configuration is read: its name, its q and its errors. */
void fit_joint_selection(const struct fit_config *cfg, size_t f, struct fit_selection *sel);
