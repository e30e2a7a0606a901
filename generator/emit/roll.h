/* roll.h -- replaces repeated statements by loops.
 *
 * A model with forty peaks is written out peak by peak, and so are its kernels: the C compiler would take the time of
 * forty, and more. Many statements of the text of a kernel repeat, apart from numbers, subscripts, fields of the
 * workspace and the names that they declare. One turn of them is kept:
 *
 *     const fit_vd z3 = w.inv_w3[0]*x;        fit_vd z3_each[38];
 *     const fit_vd z4 = w.inv_w4[0]*x;   ->   for (size_t turn = 0; turn < 38; turn++) {
 *     ...                                         const fit_vd z3 = w.fit_field[12 + 9 * turn][0]*x;
 *     const fit_vd z40 = w.inv_w40[0]*x;          z3_each[turn] = z3;
 *                                             }
 *
 * The operations and their order stay the same. Text with less to gain stays as it is.
 */
#pragma once

#include <stdio.h>

/* The text of a kernel, rolled. */
void hg_roll(const char *text, FILE *out);
