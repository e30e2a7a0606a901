/* plane.h -- one two-time matrix in a file: boxes of its upper triangle.
 *
 * Rows and columns are those of the symmetric matrix, from 0. A box of rows and columns i < j is read from whichever
 * half the file contains; a view says where in the bytes each element is.
 */
#pragma once

#include "hdf5/reader.h"

struct fit_plane {
    struct fit_h5_raw *raw;
    size_t n;        /* rows of the matrix */
    size_t at;       /* which of the matrices of the dataset */
    size_t total;    /* matrices of the dataset */
    int rank, last;  /* of the dataset; last = 1: (n, n, matrices) */
    int lower;       /* 1: the elements below the diagonal contain the data */
    int flipped;     /* 1: rows run upwards in the file */
    double baseline; /* is added to every value */
};

struct fit_rect {
    size_t r0, r1, c0, c1; /* rows [r0, r1), columns [c0, c1) */
};

/* Element (r, c) of the box, both counted from its corner, is value[r row + c column]. */
struct fit_view {
    const void *value;
    int single; /* 1: float, 0: double */
    ptrdiff_t row, column;
    double baseline;
};

static inline double fit_view_get(const struct fit_view *v, size_t r, size_t c)
{
    ptrdiff_t k = (ptrdiff_t)r * v->row + (ptrdiff_t)c * v->column;
    double x = v->single ? (double)((const float *)v->value)[k] : ((const double *)v->value)[k];
    return v->baseline > 0 ? x + v->baseline : x;
}

/* Number of matrices per read: all of the dataset where their axis is last, otherwise 1. */
size_t fit_plane_together(const struct fit_plane *p);

/* Bytes of the expanded chunks that contain one row; 0 when nothing is expanded. */
size_t fit_plane_band(const struct fit_plane *p);

/* Reads the box: rows x columns x fit_plane_together elements. */
enum fit_status fit_plane_read(const struct fit_plane *p, const struct fit_rect *box, void *out,
                               struct fit_error *err);

/* The view of p in the bytes that were read (of p or of another plane that is read together with it). */
struct fit_view fit_plane_view(const struct fit_plane *p, const struct fit_rect *box,
                               const void *bytes);
