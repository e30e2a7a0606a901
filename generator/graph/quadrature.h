/* quadrature.h -- rules for sums and integrals: the values of a bound variable, and their weights.
 *
 * HG_COUNT first, first + 1, ...; weights 1 HG_LEGENDRE integral from 0 to 1; Gauss-Legendre HG_HERMITE mean over the
 * normal distribution of mean 0 and variance 1; Gauss-Hermite HG_TANH_SINH integral from 0 to 1, with any behaviour of
 * the integrand at the ends; double exponential HG_EXP_SINH integral from 0 to infinity, double exponential
 * HG_SINH_SINH integral from -infinity to infinity, double exponential HG_MIDPOINT integral from 0 to 1 of an integrand
 * that vanishes at the ends with all its derivatives
 */
#pragma once

#include <stdint.h>

enum hg_rule_kind {
    HG_COUNT, HG_LEGENDRE, HG_HERMITE, HG_TANH_SINH, HG_EXP_SINH, HG_SINH_SINH, HG_MIDPOINT, HG_NRULES
};

enum { HG_MOST_TURNS = 100000, HG_MOST_NODES = 1000 }; /* of a count, of a rule */

const char *hg_rule_name(enum hg_rule_kind rule);

/* Fills n abscissae and weights, accurate to about one unit in the last place. */
void hg_rule_nodes(enum hg_rule_kind rule, uint32_t n, double first, double *x, double *w);
