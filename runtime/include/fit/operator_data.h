/* fit/operator_data.h -- the numbers of operators: who binds an objective to data makes them, fit/operators.h reads
 * them. */
#ifndef FIT_OPERATOR_DATA_H
#define FIT_OPERATOR_DATA_H

#include <stddef.h>
#include <stdint.h>

/* Row and column factors, [n][nrow] and [n][pitch]; n is rounded up to 4 in memory, with zeros.  Of a folded grid
 * nrow = (ny + 1)/2 and ncolumn = (nx + 1)/2, else ny and nx.  pitch: ncolumn rounded up to 8 or more, with
 * zeros. */
struct fit_outer {
    size_t n, nx, ny, nrow, ncolumn, pitch, plane_size;
    int folded;
    double *row_re, *row_im, *column_re, *column_im;
    double *plane; /* four of plane_size = nrow * pitch; work */
    double *back;  /* four times nrow (rounded up to 4) times pitch; work */
};

struct fit_difference {
    size_t n, nx, stride; /* stride: 1 along a row (columns differ), nx between rows */
};

/* place: from 1, negative: conjugate.  user[begin[k]] .. user[begin[k + 1] - 1]: those that take element k. */
struct fit_gather {
    size_t n, nfrom;
    int64_t *place;
    size_t *begin, *user;
};

struct fit_blocks {
    size_t n;               /* blocks */
    size_t *begin, *offset; /* n + 1: first element; first number of the matrix */
    double *matrix;
};

/* Rows of `pitch` numbers, nfrom of them and zeros. */
struct fit_dense {
    size_t n, nfrom, pitch;
    double *matrix;
};

#endif
