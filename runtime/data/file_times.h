/* file_times.h -- frames and times of several files in one data set.
 *
 * The frames of every file are counted from its own first one; the data set has as many as the longest file, and values
 * of frames that a file lacks have the weight 0. Where all files have the same frame period and first time, the times
 * of the longest are those of all. Otherwise every file has its own, and the times of the layout only span all of them:
 * so many of the times of all files, at even distances in their order, with the shortest frame period. Kernels see the
 * layout of one file (model/linkage.h); the times of the layout are for curves, and for the range that was measured.
 */
#pragma once

#include "base/arena.h"
#include "data/dataset.h"

/* Frames of one file. */
struct fit_file_time {
    size_t ntime;
    const double *time; /* s, increasing */
    double step;        /* s */
};

/* Sets files->ntime and, when they differ, files->time and files->step, of files->n files; *all gets what the layout
 * has. In storage of a, except that all->time may be that of the longest file. 0: no memory. */
int fit_file_times_join(const struct fit_file_time *part, struct fit_dataset_files *files, struct fit_file_time *all,
                        struct fit_arena *a);

/* 1: the files of the data set have different times. */
int fit_dataset_times_differ(const struct fit_dataset *ds);

/* Frames of the file of group g, counted from its first: how many of the layout's (all of them for ds->files NULL), and
 * their times, as many as the layout has: behind the last of the file they hardly increase. */
struct fit_file_time fit_dataset_group_time(const struct fit_dataset *ds, size_t g);

/* How many of the used frames of the layout the file of group g has: the first ones. */
size_t fit_dataset_group_frames(const struct fit_dataset *ds, size_t g);

/* The used frames of the layout as times of the file of a group: s. group < 0: of all groups; where their files differ
 * in their times the numbers are frames, step 1. */
struct fit_time_range {
    double first, span, step; /* the first frame, from there to the last, the frame period */
};
struct fit_time_range fit_dataset_time_range(const struct fit_dataset *ds, long group);
