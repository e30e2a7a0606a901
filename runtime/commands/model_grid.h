/* model_grid.h -- a model at given parameters on a given grid, without data: for `eval` and `simulate`.
 *
 * From the command line: frames, dt, gap, values of the axes (q, azimuths, others) or, for table models, of all columns
 * (model_grid_axes.c), parameters, contrast and offset. A parameter that is not given takes the model's start; axes,
 * columns, and settings without a default must be given.
 */
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "commands/cli.h"
#include "fit/kernel.h"

struct fit_experiment {
    const struct fit_kernel *kernel;
    struct fit_layout layout; /* points into the arrays below */
    double *setting;          /* nsetting */
    double *time;             /* ntime, s */
    uint32_t *frame;          /* all frames */
    double **coord;           /* naxis x ngroup; phi is coord[iphi] */
    double **column;          /* ncolumn, padded */
    uint32_t *group;          /* tables: nrow, the group of each row */
    size_t nring;             /* pairs: number of q, one after the other, each with ngroup / nring azimuths */
    double *theta;            /* nparam, or ngroup x nparam when `own` */
    int own;                  /* 1: some nonlinear parameters have a value for each group */
    double *lin;              /* ngroup x nlinear */
    double *phi;              /* ngroup azimuths, degrees (0 when none was given) */
    double *q;                /* pairs: ngroup wavevectors, 1/angstrom (NaN when none was given) */
    double *workspace;        /* filled by fit_experiment_prepare */
    int derivative;           /* what it was prepared for */
    int measured;             /* 1: of a model with feedback: the rows contain measured values */
    size_t prepared;          /* own: the group to which its parameters belong */
    double carried[FIT_CARRIED]; /* states behind the last row (fit_layout.carried) */
    size_t *following;        /* by group: number of rows processed; NULL: none yet */
    struct fit_arena storage_;
};

/* Refuses a file name whose ending belongs to the other kind: text 1 for a table as text, 0 for HDF5. */
enum fit_status fit_experiment_file(const char *path, int text, struct fit_error *err);

enum fit_status fit_experiment_new(const struct fit_kernel *kernel, const struct fit_cli *cli,
                                   struct fit_experiment **e, struct fit_error *err);
void fit_experiment_free(struct fit_experiment *e);

/* Tables for the parameters.  FIT_ERR_NUMERIC when the model has no finite value there. */
enum fit_status fit_experiment_prepare(struct fit_experiment *e, int derivative,
                                       struct fit_error *err);

/* The same for the parameters of group g, if it has its own and they differ from those of the last call. */
enum fit_status fit_experiment_turn(struct fit_experiment *e, size_t g, struct fit_error *err);

/* For a model with feedback, rows in their order: computes the tables of a row, once the measured value of the
 * previous one is known. The time of a call does not grow with the number of rows. */
enum fit_status fit_experiment_follow(struct fit_experiment *e, size_t row, struct fit_error *err);

/* Rows [i0, i1) of the matrix of group g. */
struct fit_experiment_part {
    size_t g, i0, i1;
    int upper;   /* only columns j >= i, the rest is 0 */
    int threads; /* 0: one per core */
};

/* All columns of the rows: mean (rows x nframe) and, unless jac is NULL, the derivatives (rows x nframe x (nparam +
 * nlinear)), by kernel->points. */
enum fit_status fit_experiment_rows(const struct fit_experiment *e, const struct fit_experiment_part *part,
                                    double *mean, double *jac, struct fit_error *err);

/* Table models: mean of all rows and, unless jac is NULL, the derivatives, nrow x (nparam + nlinear). */
enum fit_status fit_experiment_table(struct fit_experiment *e, double *mean, double *jac,
                                     struct fit_error *err);

/* A description of the output as JSON: file (cli->output), shape, parameters. */
enum fit_status fit_experiment_json(const struct fit_experiment *e, const struct fit_cli *cli, FILE *f,
                                    struct fit_error *err);
