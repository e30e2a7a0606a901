/* measurement_impl.h -- shared by measurement.c (whole matrices), blocks.c and check.c. */
#pragma once

#include "input/measurement.h"

/* Expanded chunks of matrices that are read by rows: of values that stay in the file (about one row of
 * chunks of all matrices), and when they are read once. */
#define FIT_CHUNKS_KEPT ((size_t)192 << 20)
#define FIT_CHUNKS_ONCE ((size_t)32 << 20)

struct loading {
    const struct fit_selection *sel;
    const struct fit_kernel *kernel;
    struct fit_source *src;
    struct fit_measurement *m;
    size_t *index;      /* ngroup matrices of the file */
    size_t row;         /* first row of the window */
    unsigned char *out; /* ntime: 1 listed as masked, 2 blank */
    size_t nblank;
    unsigned char *dead; /* ngroup: 1 for matrices without any value; known when too many frames are blank */
    uint32_t *frame; /* used frames */
    int errors;      /* values have errors of their own, or groups have different ones */
    double *matrix, *sigma; /* buffers: file_frames squared; sigma NULL when not needed */
    double *g2;             /* file_frames: diagonal means */
    int divided;            /* 1: each of several ranks holds the values of its own tiles */
    struct fit_arena storage;
};

/* ---- check.c ------------------------------------------------------------------------- */

/* Compares the means over the diagonals of matrix g with those that the file holds: its own g2 of
 * each bin must be the one of the matrix that carries the bin's name. */
enum fit_status fit_loading_mapping(struct loading *l, size_t g, const double *means,
                                    struct fit_error *err);

/* The same for the whole matrix in l->matrix; nothing when the file holds no such means. */
enum fit_status fit_loading_check_mapping(struct loading *l, size_t g, struct fit_error *err);

/* 1 when frame i of l->matrix, cut to the window, has a finite positive value with any other. */
int fit_loading_lives(const struct loading *l, size_t i);

/* Marks frames of l->matrix without a positive value that are not yet left out; returns how many. */
size_t fit_loading_find_blank(struct loading *l);

/* Are there more blank frames than can be excluded without asking the user? */
int fit_loading_too_blank(const struct loading *l);

/* The message about blank frames, the last of them found in matrix g; l->dead is known. */
enum fit_status fit_loading_blank(const struct loading *l, size_t g, struct fit_error *err);

/* ---- measurement.c ------------------------------------------------------------------------------- */

/* Frames of the window that are used, from l->out. */
enum fit_status fit_loading_frames(struct loading *l, struct fit_error *err);

/* An empty dataset for these frames; streamed: without room for values. */
enum fit_status fit_loading_dataset(struct loading *l, int streamed, struct fit_error *err);

/* The window of a file_frames-wide matrix moves to its front, ntime wide. */
void fit_loading_cut(const struct loading *l, double *matrix);

/* Each rank reads some of the matrices, and stores of all of them the values of its tiles (ranks_share.c). *done: 0:
 * there are blank frames, and nothing has been stored. */
enum fit_status fit_loading_by_ranks(struct loading *l, int *done, struct fit_error *err);

/* Loads by blocks of rows. *why: NULL, or why that is not possible (then nothing has been stored). */
enum fit_status fit_loading_blocks(struct loading *l, int streamed, const char **why,
                                   struct fit_error *err);
