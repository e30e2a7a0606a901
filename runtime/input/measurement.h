/* measurement.h -- from a data file and a selection to the dataset that kernels read.
 *
 *     struct fit_selection sel;
 *     fit_selection_from_config(cfg, &sel);
 *     st = fit_measurement_load(&sel, kernel, setting, &m, &err);
 *     ... m->dataset ...
 *     fit_measurement_free(m);
 *
 * Small matrices are read one at a time, large ones by blocks of rows: memory holds the upper triangles and little
 * else. When the triangles exceed sel->memory (or sel->stream requests it), the values stay in the file and are read in
 * every pass, with the same results to the last bit. Meanwhile another thread computes the file's SHA-256. Frames whose
 * row holds no finite positive number (the detector was blank) are excluded from the pairs and listed in a note; more
 * than a fifth of them is an error. Other values that are not finite get weight zero. Nothing is written.
 */
#pragma once

#include "base/status.h"
#include "data/dataset.h"
#include "fit/kernel.h"
#include "input/select.h"

#include <stddef.h>
#include <stdint.h>

enum fit_sigma_from { FIT_SIGMA_NONE, FIT_SIGMA_GIVEN, FIT_SIGMA_ARRAY };

struct fit_group {
    double q, phi; /* 1/angstrom, degrees; NaN: unknown, and the model does not need it */
    size_t bin;    /* label in the file; 0: none */
    char key[64];  /* name of the dataset, or index in the array */
    size_t matrix; /* position in the file */
    double mean;   /* of the values that count */
    double sigma;  /* FIT_SIGMA_GIVEN: standard deviation of the values; else NaN */
    size_t file;   /* of several files, from 0 */
};

/* One of several files (joint.h). */
struct fit_measurement_file {
    char *file;
    uint64_t size;
    char sha256[65];
    int of_values; /* as in struct fit_measurement */
    size_t npoint, ngroup;
    size_t file_frames, ntime, nmasked; /* of matrices, as in struct fit_measurement */
    long first, last;
    double dt, begin; /* s: frame period, time of the first frame of the window */
    uint32_t *masked;
};

struct fit_measurement {
    char *file;         /* as given */
    const char *layout; /* name, see source.h; "table" for tables */
    uint64_t size;      /* bytes */
    char sha256[65];    /* hexadecimal */
    int of_values; /* 1: sha256 is that of the fitted values (fit_dataset_digest), not of the file, which is large */

    size_t ngroup;
    struct fit_group *group;

    size_t file_frames; /* rows of the matrices in the file */
    long first, last;   /* window: numbers of the frames, from 1, ends included */
    size_t ntime;
    double *time;     /* s, of the frames of the window */
    double dt;        /* s */
    size_t nframe;    /* frames that take part in pairs */
    size_t nmasked;   /* unused frames of the window, listed by the user or blank */
    uint32_t *masked; /* their numbers in the file, from 1 */
    int t0_excluded; /* 1: the first frame of the window is left out as well (not among `masked`) */

    enum fit_sigma_from sigma_from;
    double *setting; /* settings of the model, with q (and dt) from the file */
    struct fit_notes notes;
    size_t nfile; /* 0: one file, that of the members above; else these: the members above are of the first one, those
                   * of frames of the longest, time and dt of all together (data/file_times.h) */
    struct fit_measurement_file *part;
    struct fit_dataset_files files; /* what the dataset knows of them */
    struct fit_dataset *dataset;
    struct fit_arena storage_;
};

/* setting: nsetting values in the kernel's order; a setting named q is replaced by the q of the
 * selected matrices, one named dt by the frame period.  Axes of the kernel may be phi and q. */
enum fit_status fit_measurement_load(const struct fit_selection *sel,
                                     const struct fit_kernel *kernel, const double *setting,
                                     struct fit_measurement **m, struct fit_error *err);
/* FIT_ERR_DATA for a loaded dataset that cannot be fitted: numbers whose squares leave double precision, or one
 * value everywhere (measurement_sound.c). Adds a note for single matrices that hold one value. */
enum fit_status fit_measurement_sound(struct fit_measurement *m, const struct fit_kernel *kernel,
                                      struct fit_error *err);

/* The correction that data with this mean need to be near 1; NULL: none. */
const char *fit_measurement_doubt(double mean);

void fit_measurement_free(struct fit_measurement *m);

/* The standard deviation of the values is known: one number (n = 1), or one for each group or file. */
enum fit_status fit_measurement_give_sigma(struct fit_measurement *m, size_t n, const double *sigma,
                                           struct fit_error *err);

/* Largest memory of loading, bytes: for a message before it begins. weighted: with errors, or with missing values. */
size_t fit_measurement_memory(size_t file_frames, size_t used_frames, size_t ngroup, int weighted);

/* The same for each of several ranks that hold only the values of their own tiles. */
size_t fit_measurement_memory_of_rank(size_t file_frames, size_t used_frames, size_t ngroup, size_t ranks);

/* The same for values that stay in the file. */
size_t fit_measurement_memory_streamed(size_t used_frames, size_t ngroup, int weighted);
