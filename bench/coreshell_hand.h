/* coreshell_hand.h -- what an expert writes for core-shell spheres of 40 radii (bench/coreshell.lua). */
#pragma once

#include <stddef.h>

enum { CORESHELL_NODES = 40 };

/* theta: R0, width, d, ratio.  z, w: nodes and weights of Gauss and Hermite. */
struct coreshell {
    const double *z, *w;
    double theta[4];
};

/* The average at n values of q, n a multiple of 8. */
void coreshell_values(const struct coreshell *m, size_t n, const double *q, double *value);

/* With its derivatives by theta, as columns of n. */
void coreshell_slopes(const struct coreshell *m, size_t n, const double *q, double *value, double *slope);
