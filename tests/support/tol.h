/* tol.h -- tolerances of the tests of the model compiler, each with its reason.
 *
 * Computed numbers are judged by a running error bound: generator/eval.c carries with every value what
 * rounding in double does to it, to first order (struct hg_num, e, in units of 2^-53).  A kernel computes the
 * same value by other formulas -- products of tables, angle addition, sums in another order -- so it may miss
 * by a small multiple of that bound.
 */
#ifndef TOL_H
#define TOL_H

/* Unit roundoff of double. */
#define TOL_UNIT 0x1p-53L

/* points(): the direct formula, with different temporaries than the interpreter. */
#define TOL_POINTS 8.0L

/* model(): products of tables re-centred per tile: three roundings where the direct formula has one. */
#define TOL_MODEL 12.0L

/* moments(), normal(): sums.  The bound adds the errors of all terms, so the order of summation, which adds
 * at most log2 of the number of vectors times the sum of magnitudes, stays inside. */
#define TOL_SUMS 16.0L

/* Below this nothing is compared: tables may underflow where the product does not (kernels flush there on
 * purpose), and denormal numbers have no relative accuracy. */
#define TOL_TINY 1e-290L

/* Two forms of one expression, both in long double: the running error is for 2^-53 and long double has
 * 2^-64, so what remains is 2^-11 of it; a factor 16 for the different order. */
#define TOL_REWRITE (16.0L / 2048.0L)

/* A symbolic derivative against a dual number, both in long double: as above, with the error of the symbolic
 * expression. */
#define TOL_DUAL (16.0L / 2048.0L)

#endif
