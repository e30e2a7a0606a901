/* roll.h -- loops in the place of statements that repeat.
 *
 * A model with forty peaks is written out peak by peak, and so are its kernels: the C compiler would take the time of
 * forty, and more.  Where many declarations, assignments and calls are the same again and again, but for numbers,
 * subscripts, tables of the workspace and the names that they declare, one turn is kept:
 *
 *     const fit_vd z3 = w.inv_w3[0]*x;        fit_vd z3_each[38];
 *     const fit_vd z4 = w.inv_w4[0]*x;   ->   for (size_t turn = 0; turn < 38; turn++) {
 *     ...                                         const fit_vd z3 = w.fit_field[12 + 9 * turn][0]*x;
 *     const fit_vd z40 = w.inv_w40[0]*x;          z3_each[turn] = z3;
 *                                             }
 *
 * The same operations, in the same order.  Statements with less to gain stay as they are.
 */
#pragma once

#include "emit/tree.h"

/* What the trees of one file share. */
struct hg_rolls {
    const char *const *table; /* those of the workspace: w.fit_field[k] is w.NAME of the name k */
    uint32_t ntable;
    int by_number;            /* a loop reads one so */
    uint32_t nlist, narray;   /* of the loops that were written */
};

void hg_roll(struct hg_tree *t, struct hg_rolls *all);
