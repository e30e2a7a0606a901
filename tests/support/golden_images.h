/* golden_images.h -- objectives of images beside tests/data/imaging/golden_eht.h5: reading it, inputs of its grid,
 * comparisons.  What is read lives in `arena` until close_golden. */
#pragma once

#include "functional/functional.h"
#include "hdf5/reader.h"

extern const struct fit_functional *const fit_functionals[];

enum { NX = 12, NY = 10, N = NX * NY };

extern struct fit_h5 *golden;
extern struct fit_error err;
extern struct fit_arena arena;
extern double pixel, flux, beam, degree; /* of /grid */

int open_golden(void **state);
int close_golden(void **state);

/* They fail the test where status or file are not as they should be. */
void must(enum fit_status s);
double *read_array(const char *path, size_t *n); /* n may be NULL */
double read_number(const char *path);
double read_attribute(const char *path, const char *name);
double *doubles(size_t n);

const char *path_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

void put_axis(struct fit_inputs *in, const char *name, size_t n);
void put_array(struct fit_inputs *in, const char *name, size_t n, const double *x);
void put_number(struct fit_inputs *in, const char *name, double x);
void put_factors(struct fit_inputs *in, const char *name, size_t n, const double *u, const double *v);

/* Coordinates, prior, mask (NULL: all), numbers of the regularizers. */
struct fit_inputs image_inputs(const unsigned char *mask);

/* The data terms of eht-imaging, and the inputs of all of them: every leg of every term is a point of its own. */
enum { NDATA_TERM = 9 };
extern const char *const data_term[NDATA_TERM];
void put_data(struct fit_inputs *in);

/* The kernel that is the best this machine runs; bound to inputs, which are freed. */
const struct fit_functional *functional(void);
struct fit_bound *bind_objective(struct fit_inputs *in);

/* This term and no other. */
void only(struct fit_bound *b, const char *term, double weight);

double largest(size_t n, const double *x); /* by size */
void same_value(const char *what, double seen, double wanted, double tolerance); /* relative */
void same_gradient(const char *what, size_t n, const double *seen, const double *wanted, double tolerance);

/* Same bits of value, terms and gradient with 1, 2, 3, 4, 7 and 16 threads, however the work is cut. */
void same_bits_for_any_threads(struct fit_bound *b, const double *x);

/* The gradient of the terms in use at x beside differences of sixth order with step h, at 25 places: within tolerance
 * of its largest element. */
void same_as_differences(const char *what, struct fit_bound *b, const double *x, double h, double tolerance);
