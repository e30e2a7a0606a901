/* arrays_output.h -- output of the program of an objective, on the screen and in files. */
#pragma once

#include <stdio.h>

#include "arrays/load.h"

/* Terms in use: value, weight, share of J. */
void fit_arrays_print(FILE *f, const struct fit_bound *b, double value);

/* Description of the objective: axes, arrays, numbers, terms, with units. */
void fit_arrays_print_objective(FILE *f, const struct fit_functional *o);

/* Writes FILE.h5: free arrays by their names, so that it can serve as a start, /kept/NAME, /gradient/NAME, /value,
 * /terms, /weights, /hyper; for a fit how it ended (r, otherwise NULL). */
enum fit_status fit_arrays_write(const struct fit_arrays *p, const char *file, double value, const double *gradient,
                                 const struct fit_optimize_result *r, struct fit_error *err);
