/* functional.h -- an emitted objective bound to data: its value, its terms, its gradient.
 *
 * The phases of the kernel (fit/functional.h) run one after the other, each in parts that threads share.  Sums over
 * blocks are added by a tree that depends on their number alone: value, terms and gradient have the same bits for any
 * number of threads and any cut into parts.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/status.h"
#include "fit/functional.h"
#include "functional/inputs.h"

struct fit_bound {
    const struct fit_functional *o;
    struct fit_arena arena;
    size_t *size, *nx, *ny; /* of axes; of one that is no grid nx is its size, ny 1 */
    double **array, **slope;
    double **dot, **slope_dot; /* second derivatives: tangents of arrays and of slopes; NULL until they are asked for */
    double *number_dot, *number_slope_dot;
    double *number, *number_slope, *number_given; /* given: hyper-parameters and sizes, between evaluations */
    double *weight, *term, *partial;
    void **operation;
    unsigned char *held; /* arrays: free ones that are kept at what they are */
    uint64_t missing;  /* terms whose data are not there */
    const char **lack; /* of each such term: the first thing that is not */
    uint64_t on;       /* terms that are evaluated */
    struct fit_objective_pool *device; /* evaluates it (on_device.h); NULL: not yet, or (over) never */
    size_t device_place;
    int device_over;
    int stale;         /* arrays, numbers and slopes on the host are not those of the last evaluation; 2: nor slopes */
    int threads;       /* as in struct fit_team */
    size_t cut;        /* units of a part; 0: by the work.  For tests: no bit depends on it */
};

/* The first of a list that this machine runs, and that is for the instruction set `isa` ("v3", "x86-64-v3"; NULL, "":
 * any); NULL: none. */
const struct fit_functional *fit_functional_pick(const struct fit_functional *const *kernels, const char *isa);

/* *b is to be freed by fit_bound_free.  Weights are the kernel's defaults; terms with a weight are on.
 * FIT_ERR_DATA: an input has not the size of its axis, or places outside of theirs. */
enum fit_status fit_bound_new(const struct fit_functional *o, const struct fit_inputs *in, struct fit_bound **b,
                              struct fit_error *err);
void fit_bound_free(struct fit_bound *b);

/* The term of a name, -1: there is none. */
int fit_bound_term(const struct fit_bound *b, const char *name);

/* Sets a weight; the term is on from now on.  FIT_ERR_CONFIG: no such term, or its data are not there. */
enum fit_status fit_bound_weight(struct fit_bound *b, const char *term, double weight, struct fit_error *err);

/* May the hyper-parameter be x?  FIT_ERR_CONFIG: it is not within its declared range (common/range.h).  text: what was
 * given; NULL: the number. */
enum fit_status fit_number_admits(const struct fit_number_desc *d, const char *text, double x, struct fit_error *err);

/* The value of a text, with or without a unit, in the declared one.  FIT_ERR_CONFIG: it is no number, has a unit of
 * another kind, or is not within the range. */
enum fit_status fit_number_read(const struct fit_number_desc *d, const char *text, double *value,
                                struct fit_error *err);

/* A line about the hyper-parameter: name, default, unit, description, range. */
void fit_number_print(FILE *f, const struct fit_number_desc *d);

/* Sets a hyper-parameter; NaN: it has no value.  FIT_ERR_CONFIG: there is none of that name; it may not be that. */
enum fit_status fit_bound_hyper(struct fit_bound *b, const char *name, double value, struct fit_error *err);

/* The same of a text: a number, or a number with a unit, which becomes that of its declaration. */
enum fit_status fit_bound_quantity(struct fit_bound *b, const char *name, const char *text, struct fit_error *err);

/* Hyper-parameters that terms in use need are there; some term is on. */
enum fit_status fit_bound_ready(const struct fit_bound *b, struct fit_error *err);

/* Keeps a free array at these values (as many as it has; copied), so that x and the gradient leave it out; NULL sets it
 * free again.  FIT_ERR_CONFIG: there is no free array of that name. */
enum fit_status fit_bound_hold(struct fit_bound *b, const char *name, const double *values, struct fit_error *err);

/* What x is made of: the free arrays that are not held and that some term in use needs, one after the other in the
 * order in which the objective declares them.  1: array k is one of them. */
int fit_bound_solves(const struct fit_bound *b, uint32_t k);
size_t fit_bound_unknowns(const struct fit_bound *b); /* elements of x */

/* Where the free array of that name begins in x; FIT_BOUND_NOWHERE: x does not have it. */
#define FIT_BOUND_NOWHERE SIZE_MAX
size_t fit_bound_place(const struct fit_bound *b, const char *name);

/* J at x (fit_bound_unknowns elements), by the device that is used (device/device.h) where it has kernels for it, else
 * here; gradient (the same) may be NULL; b->term then has the values of terms,
 * without offset and weight.  J may be infinite or NaN: no error here. */
double fit_bound_value(struct fit_bound *b, const double *x, double *gradient);

/* What a device has evaluated, here as well: kept arrays, numbers, slopes. */
void fit_bound_settle(struct fit_bound *b);

enum fit_curvature {
    FIT_HESSIAN,     /* all second derivatives */
    FIT_GAUSS_NEWTON /* without those of kept arrays: of terms of m.squares J^T J times twice their factors */
};

/* out <- the matrix of second derivatives of J times v, at the x of the last call of fit_bound_value with a gradient
 * (fit_bound_unknowns elements each): the cost of two or three gradients.  The same bits for any number of threads.
 * FIT_ERR_MEMORY. */
enum fit_status fit_bound_curvature(struct fit_bound *b, enum fit_curvature which, const double *v, double *out,
                                    struct fit_error *err);

/* The matrix of `index` (n elements of x; NULL: all), n x n, row by row, symmetric to the last bit: n products. */
enum fit_status fit_bound_matrix(struct fit_bound *b, enum fit_curvature which, size_t n, const size_t *index,
                                 double *matrix, struct fit_error *err);

/* NULL: all terms in use are sums of squares; else the name of one that is not. */
const char *fit_bound_not_squares(const struct fit_bound *b);
