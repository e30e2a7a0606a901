/* fit/gpu_shape.h -- sizes and places of numbers that kernels for accelerators (fit/gpu.h) and the host know. */
#ifndef FIT_GPU_SHAPE_H
#define FIT_GPU_SHAPE_H

#define FIT_GPU_THREADS 128
#define FIT_GPU_COLUMNS 32
#define FIT_GPU_ROWS 4 /* threads / columns */

#define FIT_SHAPE_GROUPS 0
#define FIT_SHAPE_TIMES 1    /* of the grid */
#define FIT_SHAPE_FRAMES 2   /* that take part */
#define FIT_SHAPE_ROWS 3     /* of a table, padded */
#define FIT_SHAPE_ITEMS 4    /* of all data */
#define FIT_SHAPE_WEIGHTED 5
#define FIT_SHAPE_WS 6       /* from evaluation to evaluation: doubles of ws, lin, adj, y (and w, values), fixed; */
#define FIT_SHAPE_LIN 7      /* 0: all the same */
#define FIT_SHAPE_ADJ 8
#define FIT_SHAPE_DATA 9
#define FIT_SHAPE_FIXED 10
#define FIT_SHAPE_FIRST 11   /* item of the first block: data may come in several parts */
#define FIT_SHAPE_AT 12      /* and the place of its part in y */
#define FIT_SHAPE_OUT 13     /* before the sums of this pass: doubles of each evaluation */
#define FIT_SHAPE_NUMBERS 14 /* behind them, where DATA is not 0: which data each evaluation has */

#define FIT_TOTAL_ITEMS 0
#define FIT_TOTAL_OWN 1      /* 1: items of a row are those of its group */
#define FIT_TOTAL_PART 2     /* before the sums and totals of this pass: doubles of each evaluation */
#define FIT_TOTAL_OUT 3
#define FIT_TOTAL_LEAVES 4   /* 1: the sums of the threads, for a tree that several devices share */
#define FIT_TOTAL_NUMBERS 5

#define FIT_ITEM_I0 0
#define FIT_ITEM_I1 1
#define FIT_ITEM_J0 2
#define FIT_ITEM_J1 3
#define FIT_ITEM_R0 4
#define FIT_ITEM_R1 5
#define FIT_ITEM_C0 6
#define FIT_ITEM_C1 7
#define FIT_ITEM_AT 8        /* of the tile, in y */
#define FIT_ITEM_GROUP 9
#define FIT_ITEM_NUMBERS 10

#endif
