/* arrays_output.h -- what the program of an objective prints and writes. */
#pragma once

#include <stdio.h>

#include "arrays/load.h"

/* Terms in use: value, weight, share of J. */
void fit_arrays_print(FILE *f, const struct fit_bound *b, double value);

/* What the objective has: axes, arrays, numbers, terms, with units. */
void fit_arrays_print_objective(FILE *f, const struct fit_functional *o);

/* FILE.h5: free arrays by their names, so that it is a start again, /kept/NAME, /gradient/NAME, /value, /terms,
 * /weights, /hyper; of a fit how it ended (r, else NULL). */
enum fit_status fit_arrays_write(const struct fit_arrays *p, const char *file, double value, const double *gradient,
                                 const struct fit_optimize_result *r, struct fit_error *err);
