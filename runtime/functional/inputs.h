/* inputs.h -- inputs of an objective, by name: sizes of axes, arrays, numbers of operators.
 *
 * An input is only a pointer: its target must outlive its users.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum fit_input_kind {
    FIT_INPUT_AXIS,   /* n elements; of a grid ny rows of nx */
    FIT_INPUT_NUMBER, /* value: a hyper-parameter */
    FIT_INPUT_ARRAY,  /* n numbers */
    FIT_INPUT_PLACES, /* n places from 1, negative: the conjugate */
    FIT_INPUT_OUTER,  /* row factors n x ny and column factors n x nx, complex */
    FIT_INPUT_BLOCKS, /* nblock square matrices of block[k] rows, each row by row */
    FIT_INPUT_MATRIX  /* n x nx, row by row */
};

struct fit_input {
    const char *name;
    enum fit_input_kind kind;
    size_t n, nx, ny, nblock;
    double value;
    const double *array; /* ARRAY, MATRIX, BLOCKS */
    const double *row_re, *row_im, *column_re, *column_im;
    const int32_t *place;
    size_t stride; /* PLACES: distance between consecutive ones; 0: 1 */
    const size_t *block;
};

struct fit_inputs {
    struct fit_arena arena;
    struct fit_input *input;
    size_t n;
};

/* Adds an input, replacing one of the same name and kind; its name is copied. */
void fit_inputs_put(struct fit_inputs *in, struct fit_input input);

/* The input of that name and kind, or NULL. */
const struct fit_input *fit_inputs_find(const struct fit_inputs *in, const char *name, enum fit_input_kind kind);

void fit_inputs_free(struct fit_inputs *in);
