/* fit/functional.h -- the bridge between an emitted objective and the programs that evaluate it.
 *
 * An objective J = sum over terms of weight (value + offset) of free arrays is evaluated in phases, one after the
 * other.  A phase computes for a range of units of an axis; units do not depend on each other, so that any cut into
 * ranges gives the same bits.  A unit of elements is a block of FIT_BLOCK of them.  Sums go over the elements of a
 * block in a fixed order, into `partial`, and over blocks by a tree: who runs the phases does that.
 *
 * Second derivatives along a direction, at the arrays, numbers and slopes that forward and backward phases have left:
 * `tangent` phases make the tangents of arrays and numbers, `second` ones those of slopes.  Phase k of `second` is the
 * counterpart of phase k of `backward`.  Those of operators are the operator itself: they read and write c->array and
 * c->slope, where who runs them puts tangents.
 *
 * Arrays have room for whole blocks.  What stands behind their last element is not used: sums leave it out.
 */
#ifndef FIT_FUNCTIONAL_H
#define FIT_FUNCTIONAL_H

#include <stddef.h>
#include <stdint.h>

#define FIT_FUNCTIONAL_INTERFACE 5
#define FIT_BLOCK 64 /* elements; part of the definition of sums, not of a machine */

enum fit_array_kind { FIT_ARRAY_FREE, FIT_ARRAY_DATA, FIT_ARRAY_KEPT, FIT_ARRAY_MADE };
enum fit_number_kind { FIT_NUMBER_HYPER, FIT_NUMBER_SIZE, FIT_NUMBER_TOTAL };
enum fit_operator_kind { FIT_OUTER, FIT_DIFFERENCE, FIT_GATHER, FIT_BLOCKS, FIT_DENSE };
enum fit_term_kind { FIT_TERM_DATA, FIT_TERM_REGULARIZER, FIT_TERM_PRIOR };

/* What units of a phase are. */
enum fit_unit_kind {
    FIT_UNIT_ELEMENTS, /* blocks of FIT_BLOCK elements of an axis */
    FIT_UNIT_ROWS,     /* rows of a grid, FIT_UNIT_OF_ROWS at a time; of a folded one (operators.h) its own and their
                          mirrors */
    FIT_UNIT_BLOCKS,   /* square blocks of an operator */
    FIT_UNIT_ONE       /* the whole */
};
#define FIT_UNIT_OF_ROWS 4

struct fit_index_desc {
    const char *name, *doc;
    const char *row, *column; /* of a grid; else NULL */
    uint32_t size;            /* the number that holds its size */
};

struct fit_array_desc {
    const char *name, *doc, *unit; /* unit: NULL: none was declared */
    enum fit_array_kind kind;
    uint32_t axis;
    int moves;     /* with a free array: has a slope */
    uint64_t need; /* terms that need it */
};

struct fit_number_desc {
    const char *name, *doc, *unit; /* unit: NULL: none was declared */
    enum fit_number_kind kind;
    uint32_t axis;
    double start;  /* hyper-parameters: the default, NaN: must be given */
    double lower, upper; /* lower < upper: what it may be, both included */
    uint64_t need; /* terms that need it */
};

struct fit_operator_desc {
    const char *name, *data; /* data: what its numbers are called; rows or columns of a difference */
    enum fit_operator_kind kind;
    uint32_t from, to; /* axes */
    uint32_t in, out;  /* first arrays */
    int is_complex;    /* gather: there are two of each */
    uint64_t need;     /* terms that need it */
};

struct fit_term_desc {
    const char *name, *doc;
    enum fit_term_kind kind;
    double offset, weight; /* weight: the default */
    int residual;          /* a multiple of a sum of squares (m.squares) */
};

/* One evaluation; all belongs to who calls. */
struct fit_functional_call {
    double *const *array; /* by number of array */
    double *const *slope; /* dJ/d array; NULL where it does not move, or no gradient is wanted */
    double *const *dot;       /* tangents of arrays and numbers, of their slopes */
    double *const *slope_dot;
    const double *number, *number_dot;
    double *number_slope, *number_slope_dot;
    double *partial;        /* sums over the blocks of a phase: [which][block] */
    size_t nblock;          /* blocks of its axis */
    const size_t *size;     /* of axes */
    const double *weight;   /* of terms */
    double *term;           /* their values */
    void *const *operation; /* by number of operator: struct fit_outer, ... (operators.h) */
    uint64_t on;            /* terms wanted */
};

enum fit_phase_kind { FIT_PHASE_FORMULA, FIT_PHASE_SUM, FIT_PHASE_OPERATOR };

struct fit_phase {
    const char *name;
    enum fit_phase_kind kind;
    uint64_t need; /* of use when one of these terms is wanted */
    enum fit_unit_kind unit;
    uint32_t axis;       /* ELEMENTS, ROWS */
    uint32_t operation;  /* BLOCKS */
    uint32_t work;       /* operations for an element, about */
    uint32_t nsum;       /* sums over blocks */
    const uint32_t *sum; /* the numbers that they are; in the way back: the slopes of numbers they are added to */
    void (*run)(const struct fit_functional_call *c, size_t from, size_t to); /* units */
};

struct fit_functional {
    uint32_t interface; /* FIT_FUNCTIONAL_INTERFACE */
    const char *name, *title, *formula, *reference, *hash, *isa, *compiler;
    uint32_t naxis, narray, nnumber, noperator, nterm, nforward, nbackward, ntangent;
    const struct fit_index_desc *axis;
    const struct fit_array_desc *array;
    const struct fit_number_desc *number;
    const struct fit_operator_desc *operation;
    const struct fit_term_desc *term;
    const struct fit_phase *forward, *backward, *tangent, *second; /* nbackward of the last */
    void (*terms)(const struct fit_functional_call *c); /* values of the terms wanted, from numbers */
    void (*seeds)(const struct fit_functional_call *c); /* slopes of numbers, from the terms wanted */
    void (*seeds_second)(const struct fit_functional_call *c); /* tangents of these */
};

#endif
