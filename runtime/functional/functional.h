/* functional.h -- an emitted objective bound to data: its value, its terms, its gradient.
 *
 * The phases of the kernel (fit/functional.h) run one after the other, each in parts that threads share.  Sums over
 * blocks are added by a tree that depends on their number alone: value, terms and gradient have the same bits for any
 * number of threads and any cut into parts.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "fit/functional.h"
#include "functional/inputs.h"

struct fit_bound {
    const struct fit_functional *o;
    struct fit_arena arena;
    size_t *size;  /* of axes */
    size_t nx, ny; /* of the grid of the free array; nx = its size, ny = 1 where that is no grid */
    double **array, **slope;
    double *number, *number_slope, *number_given; /* given: hyper-parameters and sizes, between evaluations */
    double *weight, *term, *partial;
    void **operation;
    uint64_t missing;  /* terms whose data are not there */
    const char **lack; /* of each such term: the first thing that is not */
    uint64_t on;       /* terms that are evaluated */
    int threads;       /* as in struct fit_team */
    size_t cut;        /* units of a part; 0: by the work.  For tests: no bit depends on it */
};

/* *b is to be freed by fit_bound_free.  Weights are the kernel's defaults; terms with a weight are on.
 * FIT_ERR_DATA: an input has not the size of its axis, or places outside of theirs. */
enum fit_status fit_bound_new(const struct fit_functional *o, const struct fit_inputs *in, struct fit_bound **b,
                              struct fit_error *err);
void fit_bound_free(struct fit_bound *b);

/* The term of a name, -1: there is none. */
int fit_bound_term(const struct fit_bound *b, const char *name);

/* Sets a weight; the term is on from now on.  FIT_ERR_CONFIG: no such term, or its data are not there. */
enum fit_status fit_bound_weight(struct fit_bound *b, const char *term, double weight, struct fit_error *err);

/* Sets a hyper-parameter.  FIT_ERR_CONFIG: there is none of that name. */
enum fit_status fit_bound_hyper(struct fit_bound *b, const char *name, double value, struct fit_error *err);

/* Hyper-parameters that terms in use need are there; some term is on. */
enum fit_status fit_bound_ready(const struct fit_bound *b, struct fit_error *err);

/* J at x (as many as the free array has); gradient (the same) may be NULL; b->term then has the values of terms,
 * without offset and weight.  J may be infinite or NaN: no error here. */
double fit_bound_value(struct fit_bound *b, const double *x, double *gradient);
