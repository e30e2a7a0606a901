/* commands.h -- the commands of an imaging program. */
#pragma once

#include <stdatomic.h>
#include <stdio.h>

#include "imaging/problem.h"

struct fit_imaging_program {
    const char *name;
    const struct fit_functional *const *kernels; /* from the best instruction set to the worst; ends with NULL */
    const struct fit_functional *kernel;         /* the one in use */
    FILE *out, *err;
    int err_is_terminal;
    const atomic_int *interrupt; /* a fit stops and writes its results so far */
    int exit_code;               /* exit code of a completed command: 2: an optimizer has not converged */
};

/* out.h5: /value, /terms/NAME without weights, /gradient by x, shaped as the image. */
enum fit_status fit_imaging_eval(struct fit_imaging_program *p, const struct fit_imaging_options *o,
                                 struct fit_error *err);

/* out.h5: the same at the end, /image, /x, attributes that describe how the optimizer ended. */
enum fit_status fit_imaging_fit(struct fit_imaging_program *p, const struct fit_imaging_options *o,
                                struct fit_error *err);

/* A minimum for each point of a grid of weights, numbers and setups; out.h5 when all are complete (survey.c). */
enum fit_status fit_imaging_survey(struct fit_imaging_program *p, const struct fit_imaging_options *o,
                                   struct fit_error *err);

/* The points of a survey whose data terms are below thresholds, the best first, and the frequency of each value of
 * each axis among them. */
enum fit_status fit_imaging_top(struct fit_imaging_program *p, const struct fit_imaging_options *o,
                                struct fit_error *err);

/* An observation of an image, with noise. */
enum fit_status fit_imaging_simulate(struct fit_imaging_program *p, const struct fit_imaging_options *o,
                                     struct fit_error *err);

/* Terms, hyper-parameters; of an observation: rows, baselines, closures. */
enum fit_status fit_imaging_info(struct fit_imaging_program *p, const struct fit_imaging_options *o,
                                 struct fit_error *err);

int fit_imaging_main(int argc, char **argv, const struct fit_functional *const *kernels);
