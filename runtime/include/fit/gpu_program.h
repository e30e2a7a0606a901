/* fit/gpu_program.h -- what the host knows of a model's kernels for accelerators (fit/gpu.h).
 *
 * A program is a text, and a list of passes: kernels of one kind whose results, one after the other, are the sums of
 * fit/kernel.h for all of the data. */
#ifndef FIT_GPU_PROGRAM_H
#define FIT_GPU_PROGRAM_H

#include <stddef.h>

enum fit_gpu_kind {
    FIT_GPU_MOMENTS,  /* for each group what `moments` gives */
    FIT_GPU_NORMAL,   /* J^T J and J^T r */
    FIT_GPU_CROSS,    /* for each group nlinear x nparam cross moments */
    FIT_GPU_GRADIENT, /* what `gradient` gives */
    FIT_GPU_VALUE,    /* the mean, in the order of the data; adds up nothing */
    FIT_GPU_KINDS
};

struct fit_gpu_grid;

/* A kernel as plain C: fit/gpu.h, FIT_GPU_ARGUMENTS. */
typedef void fit_gpu_plain(const struct fit_gpu_grid *grid, const long *shape, const long *item, const double *fixed,
                           const double *ws, const double *lin, const double *adj, const double *y, const double *w,
                           double *out);

struct fit_gpu_pass {
    const char *name; /* of the kernel */
    enum fit_gpu_kind kind;
    unsigned first, count; /* which of the numbers of its kind */
    int groups;            /* 1: a result for each group */
    fit_gpu_plain *plain;
};

struct fit_gpu_program {
    const char *name, *variant; /* of the model */
    const char *hash;           /* of its text, as in struct fit_kernel */
    const char *lacks;          /* why there are no passes; or NULL */
    unsigned axes, columns;
    size_t npass;
    const struct fit_gpu_pass *pass;
};

/* Of one model: its kernels, their text (without the headers fit/...), and PTX when there was something to make it. */
struct fit_gpu_source {
    const struct fit_gpu_program *program;
    const unsigned char *text, *ptx; /* end with 0; ptx may be NULL */
};

/* The programs compiled into a fitter, ended by one without program. */
extern const struct fit_gpu_source fit_gpu_sources[];

#endif
