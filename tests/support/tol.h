/* tol.h -- tolerances of the tests of the model compiler, each with its reason.
 *
 * Computed numbers are judged by a running error bound: generator/graph/eval.c carries with every value
 * what rounding in double does to it, to first order (struct hg_num, e, in units of 2^-53).  A
 * kernel computes the same value by other formulas -- products of tables, angle addition, sums in
 * another order -- so it may miss by a small multiple of that bound.
 */
#ifndef TOL_H
#define TOL_H

/* Unit roundoff of double. */
#define TOL_UNIT 0x1p-53L

/* points(): the direct formula, with other temporaries than the interpreter.  Seen: 0.9. */
#define TOL_POINTS 4.0L

/* model(): products of tables re-centred per tile: three roundings where the direct formula has
 * one.  Seen: 0.9. */
#define TOL_MODEL 6.0L

/* moments(), normal(): sums.  The bound adds the errors of all terms, so the order of summation,
 * which adds at most the logarithm of the number of vectors, stays inside.  Seen: 0.95. */
#define TOL_SUMS 6.0L

/* Below this nothing is compared: tables may underflow where the product does not (kernels flush
 * there on purpose), and denormal numbers have no relative accuracy. */
#define TOL_TINY 1e-290L

/* Above this nothing is compared: squares and products on the way overflow. */
#define TOL_HUGE 1e150L

/* Two forms of one expression, both evaluated in long double.  Constants are folded in double,
 * which the bound of the other form accounts for; a factor for folding several at once. */
#define TOL_REWRITE 4.0L

/* A symbolic derivative against a dual number, both in long double; constants as above. */
#define TOL_DUAL 4.0L

#endif
