/* load.h -- from an HDF5 file to an objective that is bound to it, everything by name.
 *
 * At the root of the file, or in the group of FILE.h5:/GROUP:
 *
 *     NAME                     an array, row by row where its axis is a grid; for a free array its start
 *     NAME_re, NAME_im         a complex array
 *     NAME (a scalar)          a number; or an attribute of the group
 *     MATRIX                   rows x columns, of m.dense
 *     PLACES                   from 1, negative: the conjugate, of m.gather
 *     T and T_sizes            square matrices one after the other, and their rows, of m.blocks
 *     Z_row_re, .._row_im, .._column_re, .._column_im      rows x (rows, columns of the grid), of m.outer
 *
 * A dataset that has an attribute `units` is converted to the unit that the objective declares. Sizes of axes are
 * those of their arrays. */
#pragma once

#include "arrays/arrays_options.h"
#include "base/notes.h"
#include "functional/functional.h"

struct fit_arrays {
    const struct fit_arrays_options *options;
    struct fit_inputs in;
    struct fit_bound *bound;
    struct fit_notes notes;
    struct fit_arena arena;
    double **start; /* of arrays: where free ones begin; NULL: not one, or 0 */
};

/* With weights and numbers of the options. To be freed in any case. */
enum fit_status fit_arrays_load(const struct fit_functional *kernel, const struct fit_arrays_options *o,
                                struct fit_arrays *p, struct fit_error *err);
void fit_arrays_free(struct fit_arrays *p);
