/* roll.h -- loops in the place of statements that repeat.
 *
 * A model with forty peaks is written out peak by peak, and so are its kernels: the C compiler would take the time of
 * forty, and more.  Where many statements of the text of a kernel are the same again and again, but for numbers,
 * subscripts, fields of the workspace and the names that they declare, one turn is kept:
 *
 *     const fit_vd z3 = w.inv_w3[0]*x;        fit_vd z3_each[38];
 *     const fit_vd z4 = w.inv_w4[0]*x;   ->   for (size_t turn = 0; turn < 38; turn++) {
 *     ...                                         const fit_vd z3 = w.fit_field[12 + 9 * turn][0]*x;
 *     const fit_vd z40 = w.inv_w40[0]*x;          z3_each[turn] = z3;
 *                                             }
 *
 * The same operations, in the same order.  Text with less to gain stays as it is.
 */
#pragma once

#include <stdio.h>

/* The text of a kernel, rolled. */
void hg_roll(const char *text, FILE *out);
