/* objective.h -- the declarations of an objective: arrays over axes, operators between them, sums, terms.
 *
 * An objective is J = sum over terms of weight (value + offset), a function of free arrays, which may have thousands to
 * millions of elements: images. Formulas are those of graph/expr.h and describe one element: a COLUMN leaf is an
 * element of an array, a SETTING leaf a number (a hyper-parameter, the size of an axis, a sum). A step joins elements:
 * an array that is kept, an operator, a sum. Steps are stored in the order in which they are computed, and each knows
 * the terms that need it.
 *
 * Derivatives are taken backwards (reverse mode; Griewank and Walther, Evaluating derivatives, 2008, ch. 3). Each array
 * and number a that varies with free arrays has a slope dJ/da; steps in reverse order pass their slopes on to their
 * operands.
 */
#pragma once

#include "model/model.h"
#include "model/written.h"
#include "fit/functional.h"

enum { HG_MOST_TERMS = 64 };

struct hg_index { /* an axis */
    const char *name, *doc;
    const char *row, *column; /* of a grid of rows and columns; or NULL */
    uint32_t size;            /* the number with its size */
    uint32_t line;
};

struct hg_array { /* by the number of its column */
    enum fit_array_kind kind;
    uint32_t axis;
    hg_id node;    /* its COLUMN leaf */
    hg_id formula; /* KEPT */
    hg_wid written;
    int moves;     /* with a free array */
    uint64_t need; /* terms that need it: bits */
};

struct hg_number_of { /* by the number of its setting */
    enum fit_number_kind kind;
    uint32_t axis; /* SIZE, TOTAL */
    hg_id node;    /* its SETTING leaf */
    hg_id formula; /* TOTAL: what is summed */
    hg_wid written;
    int squares;   /* TOTAL: of squares, m.squares */
    int moves;
    uint64_t need;
};

enum { HG_MOST_PARTS = 2 }; /* arrays of one complex value */

struct hg_operation {
    enum fit_operator_kind kind;
    const char *name, *data; /* data: of the numbers of the operator, as named in the program */
    uint32_t nin, nout;
    uint32_t in[HG_MOST_PARTS], out[HG_MOST_PARTS]; /* arrays */
    uint32_t from, to;                              /* axes */
    uint32_t line;
};

enum hg_step_kind { HG_KEEP, HG_APPLY, HG_ADD };

struct hg_step {
    enum hg_step_kind kind;
    uint32_t of;   /* array, operation or number */
    uint64_t need; /* terms that need it: bits */
};

struct hg_term {
    const char *name, *doc;
    enum fit_term_kind kind;
    hg_id value;           /* of numbers */
    hg_wid written;
    double offset, weight; /* weight: the default */
    int residual;          /* a sum of squares */
    uint32_t line;
};

struct hg_objective {
    struct hg_index *axis;
    uint32_t naxis;
    struct hg_array *array;
    uint32_t narray;
    struct hg_number_of *number;
    uint32_t nnumber;
    struct hg_operation *operation;
    uint32_t noperation;
    struct hg_step *step;
    uint32_t nstep;
    struct hg_term *term;
    uint32_t nterm;
    size_t axis_room, array_room, number_room, operation_room, step_room, term_room;
};

/* Of a formula: the arrays and numbers in it, by a mark for each node. */
unsigned char *hg_objective_leaves(const struct hg_model *m, hg_id formula);

/* The axis of the arrays of a formula; -1 when there is none. *other: an array of another axis, or NULL. */
int hg_objective_axis(const struct hg_model *m, hg_id formula, const struct hg_array **other);

/* The leaves of a formula that vary with free arrays, arrays first, then numbers, and the slopes of the formula by
 * these. Along a direction, its tangent is the sum of slopes times tangents of leaves. These tangents are symbols
 * after all others: that of array k is COLUMN narray + k, that of number k SETTING nnumber + k. second: slopes of
 * the tangent. */
struct hg_moving {
    uint32_t n, narray;
    hg_id *leaf, *part, *second;
    hg_id tangent;
};
struct hg_moving hg_objective_moving(struct hg_model *m, hg_id formula);

/* Finds which arrays and numbers vary with free arrays, and the terms that each step serves. */
void hg_objective_close(struct hg_model *m);

/* Checks the objective as a whole; 0 when errors were reported. */
int hg_objective_check(struct hg_model *m, struct hg_diag *d);
