/* fit/gpu_objective.h -- places of numbers that phases of objectives for accelerators (fit/gpu_functional.h) and the
 * host know. */
#ifndef FIT_GPU_OBJECTIVE_H
#define FIT_GPU_OBJECTIVE_H

/* At the beginning of `shape`; offsets in doubles, of the area of a place but SHARED. */
#define FIT_OBJECTIVE_SHARED 0       /* doubles that all places share */
#define FIT_OBJECTIVE_AREA 1         /* doubles of a place */
#define FIT_OBJECTIVE_NUMBER 2
#define FIT_OBJECTIVE_NUMBER_SLOPE 3
#define FIT_OBJECTIVE_TERM 4
#define FIT_OBJECTIVE_WEIGHT 5
#define FIT_OBJECTIVE_PARTIAL 6
#define FIT_OBJECTIVE_SLOPE 7        /* slopes of arrays and numbers, which begin with zeros */
#define FIT_OBJECTIVE_SLOPES 8       /* how many */
#define FIT_OBJECTIVE_ON 9           /* terms wanted */
#define FIT_OBJECTIVE_PLACES 10      /* where in `shape` the places of the evaluations stand */
#define FIT_OBJECTIVE_NUMBERS 11

/* item of a phase of formulas. */
#define FIT_PHASE_BLOCKS 0
#define FIT_PHASE_BACK 1             /* 1: its sums are added to slopes of numbers */
#define FIT_PHASE_WHICH 2            /* the numbers that its sums are */

/* item of an operator. */
#define FIT_OPERATOR_FROM 0          /* offsets of arrays in the area */
#define FIT_OPERATOR_TO 1
#define FIT_OPERATOR_IM 2            /* outer: imaginary part of TO, of FROM on the way back */
#define FIT_OPERATOR_N 3
#define FIT_OPERATOR_NFROM 4
#define FIT_OPERATOR_NX 5
#define FIT_OPERATOR_NY 6
#define FIT_OPERATOR_STRIDE 7
#define FIT_OPERATOR_SIGN 8
#define FIT_OPERATOR_PLACE 9         /* lists, in `shape`; of blocks: where their matrices begin */
#define FIT_OPERATOR_BEGIN 10
#define FIT_OPERATOR_USER 11
#define FIT_OPERATOR_MATRIX 12       /* offsets in what is shared */
#define FIT_OPERATOR_ROW_RE 13
#define FIT_OPERATOR_ROW_IM 14
#define FIT_OPERATOR_COLUMN_RE 15
#define FIT_OPERATOR_COLUMN_IM 16
#define FIT_OPERATOR_PITCH 17
#define FIT_OPERATOR_NROW 18
#define FIT_OPERATOR_NCOLUMN 19
#define FIT_OPERATOR_PLANE 20        /* offset of four planes in the area, and the doubles of each */
#define FIT_OPERATOR_PLANE_SIZE 21
#define FIT_OPERATOR_FOLDED 22
#define FIT_OPERATOR_NUMBERS 24

/* Kernels behind the phases, forward and backward, of an objective. */
enum fit_objective_kernel {
    FIT_KERNEL_TERMS,
    FIT_KERNEL_SEEDS,
    FIT_KERNEL_NUMBER,
    FIT_KERNEL_ZERO,
    FIT_KERNEL_DIFFERENCE,
    FIT_KERNEL_DIFFERENCE_BACK,
    FIT_KERNEL_GATHER,
    FIT_KERNEL_GATHER_BACK,
    FIT_KERNEL_BLOCKS,
    FIT_KERNEL_BLOCKS_BACK,
    FIT_KERNEL_DENSE,
    FIT_KERNEL_DENSE_BACK,
    FIT_KERNEL_FOLD,
    FIT_KERNEL_OUTER,
    FIT_KERNEL_OUTER_BACK,
    FIT_OBJECTIVE_KERNELS
};

#endif
