/* functional.h -- an emitted objective bound to data: its value, its terms, its gradient.
 *
 * The phases of the kernel (fit/functional.h) run one after the other, each in parts that threads share. Sums over
 * blocks are added by a tree that depends only on their number: value, terms and gradient have the same bits for any
 * number of threads and any division into parts.
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
    size_t *size, *nx, *ny; /* sizes of axes; nx is that of an axis that is no grid, with ny 1 */
    double **array, **slope;
    double **dot, **slope_dot; /* second derivatives: tangents of arrays and of gradients; NULL until they are needed */
    double *number_dot, *number_slope_dot;
    double *number, *number_slope, *number_given; /* given: hyper-parameters and sizes, between evaluations */
    double *weight, *term, *partial;
    void **operation;
    unsigned char *held; /* arrays: free ones that are held fixed */
    uint64_t missing;  /* terms whose data are not there */
    const char **lack; /* for each such term: the first missing input */
    uint64_t on;       /* terms that are evaluated */
    struct fit_objective_pool *device; /* evaluates it (on_device.h); NULL: not yet, or (over) never */
    size_t device_place;
    int device_over;
    int stale;         /* arrays, numbers and gradients on the host are not those of the last evaluation; 2: not even
                        * gradients */
    int threads;       /* as in struct fit_team */
    size_t cut;        /* units of a part; 0: by the work. For tests: no bit depends on it */
};

/* The first kernel of a list that this machine runs and whose instruction set is `isa` ("v3", "x86-64-v3"; NULL, "":
 * any); NULL: none. */
const struct fit_functional *fit_functional_pick(const struct fit_functional *const *kernels, const char *isa);

/* *b is to be freed by fit_bound_free. Weights are the kernel's defaults; terms with a weight are on. FIT_ERR_DATA:
 * an input does not have the size of its axis, or indices are out of range. */
enum fit_status fit_bound_new(const struct fit_functional *o, const struct fit_inputs *in, struct fit_bound **b,
                              struct fit_error *err);
void fit_bound_free(struct fit_bound *b);

/* The term of a name, -1: there is none. */
int fit_bound_term(const struct fit_bound *b, const char *name);

/* Sets a weight; the term is on from now on. FIT_ERR_CONFIG: no such term, or its data are missing. */
enum fit_status fit_bound_weight(struct fit_bound *b, const char *term, double weight, struct fit_error *err);

/* May the hyper-parameter be x? FIT_ERR_CONFIG: it is outside its declared range (common/range.h). text: the input;
 * NULL: the number. */
enum fit_status fit_number_admits(const struct fit_number_desc *d, const char *text, double x, struct fit_error *err);

/* The value of a text, with or without a unit, in the declared unit. FIT_ERR_CONFIG: it is not a number, has a unit
 * of another dimension, or is out of range. */
enum fit_status fit_number_read(const struct fit_number_desc *d, const char *text, double *value,
                                struct fit_error *err);

/* A line about the hyper-parameter: name, default, unit, description, range. */
void fit_number_print(FILE *f, const struct fit_number_desc *d);

/* Sets a hyper-parameter; NaN: it has no value. FIT_ERR_CONFIG: unknown name, or an invalid value. */
enum fit_status fit_bound_hyper(struct fit_bound *b, const char *name, double value, struct fit_error *err);

/* The same for a text: a number, or a number with a unit, which is converted to the declared one. */
enum fit_status fit_bound_quantity(struct fit_bound *b, const char *name, const char *text, struct fit_error *err);

/* Checks that hyper-parameters of terms in use have values, and that some term is on. */
enum fit_status fit_bound_ready(const struct fit_bound *b, struct fit_error *err);

/* Holds a free array at these values (as many as it has; copied), so that x and the gradient omit it; NULL frees it
 * again. FIT_ERR_CONFIG: there is no free array of that name. */
enum fit_status fit_bound_hold(struct fit_bound *b, const char *name, const double *values, struct fit_error *err);

/* Composition of x: the free arrays that are not held and that some term in use needs, one after the other in the
 * order of declaration. 1: array k is one of them. */
int fit_bound_solves(const struct fit_bound *b, uint32_t k);
size_t fit_bound_unknowns(const struct fit_bound *b); /* elements of x */

/* Index in x at which the free array of that name begins; FIT_BOUND_NOWHERE: x does not contain it. */
#define FIT_BOUND_NOWHERE SIZE_MAX
size_t fit_bound_place(const struct fit_bound *b, const char *name);

/* J at x (fit_bound_unknowns elements), by the current device (device/device.h) where it has kernels for it,
 * otherwise here; gradient (the same) may be NULL; b->term then has the values of terms, without offset and weight.
 * J may be infinite or NaN: no error here. */
double fit_bound_value(struct fit_bound *b, const double *x, double *gradient);

/* Copies the results of an evaluation on a device to the host: kept arrays, numbers, gradients. */
void fit_bound_settle(struct fit_bound *b);

enum fit_curvature {
    FIT_HESSIAN,     /* all second derivatives */
    FIT_GAUSS_NEWTON /* without those of kept arrays: for terms of m.squares this is J^T J times twice their factors */
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
