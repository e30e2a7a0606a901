/* source_impl.h -- shared by source.c, source_read.c and the files of the layouts (source_*.c). */
#pragma once

#include "data/plane.h"
#include "files/npz.h"
#include "hdf5/reader.h"
#include "input/source.h"

enum fit_half { FIT_HALF_UNKNOWN, FIT_HALF_FULL, FIT_HALF_UPPER, FIT_HALF_LOWER };

/* One array that holds all matrices. */
struct fit_cube {
    char path[512]; /* dataset; unused for npz */
    int member;     /* of the npz file */
    size_t n;       /* matrices */
    size_t nframe;
    int last; /* 1: (N,N,n); 0: (n,N,N), (N,N) or (n1,n2,N,N) */
    int rank;
    size_t inner; /* n2 */
};

struct fit_source_private {
    struct fit_h5 *h5; /* one of the two is open */
    struct fit_npz *npz;
    struct fit_h5_raw_set *set; /* the cubes that are read matrix by matrix, with their expanded chunks; or NULL */
    struct fit_h5 *sigma_h5; /* errors from another file, or both NULL */
    struct fit_npz *sigma_npz;
    const struct fit_source_layout *ops;
    struct fit_source_wish wish;
    size_t averaged; /* number of planes along the first axis of a cube of 4 that are averaged; 0: none */
    char *file;
    char group[256]; /* path of the group of matrices, with a final '/' */
    char g2[256];    /* dataset (lag, matrix) of diagonal means, or "" */
    struct fit_cube cube, sigma;
    enum fit_half half; /* stated by the file */
    int flipped;        /* 1: rows run upwards */
    double baseline;    /* added to every value */
    int seconds;        /* 1: the file states a unit of its times: integers are then not frame numbers */
};

struct fit_source_layout {
    const char *name;
    int in_hdf5; /* else in npz or npy */
    int (*detect)(const struct fit_source *s);
    enum fit_status (*open)(struct fit_source *s, struct fit_error *err);
    enum fit_status (*read)(struct fit_source *s, size_t k, double *m,
                            struct fit_error *err); /* as stored */
};

extern const struct fit_source_layout fit_layout_aps_u, fit_layout_aps_legacy, fit_layout_chx, fit_layout_nxxpcs,
    fit_layout_id02, fit_layout_midtools, fit_layout_homodyne_npz, fit_layout_heterodyne_npz, fit_layout_exchange,
    fit_layout_sirius, fit_layout_flat, fit_layout_npy, fit_layout_dataset, fit_layout_member;

/* ---- helpers of source.c --------------------------------------------------------------------- */

/* Makes n matrices with unknown q and phi, bin 0, keys "[0]", "[1]", ... */
enum fit_status fit_source_matrices(struct fit_source *s, size_t n, struct fit_error *err);

/* Takes the n values (borrowed) as q (or phi) of the matrices: one each, or one for all.  Any
 * other number is an error that names `what`. */
enum fit_status fit_source_label(struct fit_source *s, const char *what, int is_q, const double *value, size_t n,
                                 struct fit_error *err);

/* Converts numbers of the quantity `name` (q, phi, dt; see units.h) from the unit that the file states to the
 * program's; unit NULL: the file states none. Another kind of unit is an error that names both. */
enum fit_status fit_source_convert(struct fit_source *s, const char *what, const char *name, const char *unit,
                                   double *value, size_t n, struct fit_error *err);

/* The same by the attribute `units` or `unit` of the dataset of an HDF5 file. */
enum fit_status fit_source_units(struct fit_source *s, const char *path, const char *name, double *value, size_t n,
                                 struct fit_error *err);

/* fit_source_time() for a dataset of an HDF5 file, in the unit that it states; frame numbers are not times. */
enum fit_status fit_source_time_units(struct fit_source *s, const char *path, double *time, size_t n,
                                      struct fit_error *err);

/* The caller's entry for q, phi, t (or sigma); NULL: none. */
const char *fit_source_wished_axis(const struct fit_source *s, const char *role);
const char *fit_source_wished_unit(const struct fit_source *s, const char *role);

/* ---- source_hdf5.c: one dataset of all matrices ---------------------------------------------- */

enum fit_source_axis { FIT_SOURCE_Q, FIT_SOURCE_PHI, FIT_SOURCE_TIME };

int fit_source_is_number(const struct fit_source *s, const char *path);

/* Makes the dataset the source's array of matrices. */
enum fit_status fit_source_use_cube(struct fit_source *s, const char *path, struct fit_error *err);
enum fit_status fit_source_read_cube(struct fit_source *s, size_t k, double *m, struct fit_error *err);

/* q, phi or time from a dataset, if it exists, in the unit that it states; otherwise in `unit` (NULL: the
 * program's), with a note. */
enum fit_status fit_source_use_axis(struct fit_source *s, const char *path, enum fit_source_axis axis, const char *unit,
                                    struct fit_error *err);
void fit_source_use_sigma(struct fit_source *s, const char *path);

/* The first of the names that is a dataset of numbers below the prefix; NULL: none. */
const char *fit_source_first_of(const struct fit_source *s, const char *prefix, const char *const *name, char *path,
                                size_t size);
extern const char *const fit_source_names_q[], *const fit_source_names_phi[], *const fit_source_names_t[];

/* ---- source_aps.c: a dataset for each matrix ------------------------------------------------- */

/* Lists the matrices of a group: keys and the common shape. */
enum fit_status fit_source_list_matrices(struct fit_source *s, const char *group, struct fit_error *err);
enum fit_status fit_source_read_member(struct fit_source *s, size_t k, double *m, struct fit_error *err);

/* ---- source_dataset.c: datasets named by the caller ------------------------------------------ */

/* The axes that the caller names, for any layout. */
enum fit_status fit_source_take_axes(struct fit_source *s, struct fit_error *err);

/* "/a/c2 (3 x 64 x 64), ...": datasets that may be matrices, at any depth; empty: none. */
void fit_source_list_cubes(const struct fit_source *s, char *text, size_t size);

/* Takes the times (borrowed); a wrong number gives a note and is ignored, except when it is frame
 * numbers. */
enum fit_status fit_source_time(struct fit_source *s, const char *what, const double *time,
                                size_t n, struct fit_error *err);

/* Shape of an array of matrices -> cube; an error that names `what` when it is not one. */
enum fit_status fit_cube_shape(const struct fit_source *s, const char *what, int rank,
                               const size_t *dims, struct fit_cube *c, struct fit_error *err);

/* Reads matrix k of a cube. */
enum fit_status fit_cube_read_h5(struct fit_source *s, const struct fit_cube *c, size_t k,
                                 double *m, struct fit_error *err);
enum fit_status fit_cube_read_npz(struct fit_source *s, const struct fit_cube *c, size_t k,
                                  double *m, struct fit_error *err);

/* ---- source_read.c, for blocks.c ---------------------------------------------------------------- */

/* Some rows and the same columns of a matrix, as stored in the file; or the whole matrix. */
struct fit_probes {
    const double *row, *column; /* fit_source_probes x nframe */
    const double *whole;        /* NULL, or nframe x nframe */
};

/* The number of rows that distinguish halves from whole matrices, and row of probe p. */
size_t fit_source_probes(const struct fit_source *s);
size_t fit_source_probe(const struct fit_source *s, size_t p);

/* Which half of matrix k holds data; an error when it is neither symmetric nor a half. */
enum fit_status fit_source_half(const struct fit_source *s, size_t k,
                                const struct fit_probes *look, enum fit_half *half,
                                struct fit_error *err);
int fit_source_half_known(const struct fit_source *s);

/* fit_source_read_upper, which also tells which half the file holds. */
enum fit_status fit_source_read_known(struct fit_source *s, size_t k, double *m, enum fit_half *half,
                                      struct fit_error *err);

/* 1 when the layout has means over diagonals (fit_source_read_g2). */
int fit_source_tells_g2(const struct fit_source *s);

/* Matrix k (or its errors) for reading in boxes.  *why: NULL, or why that is not possible. */
enum fit_status fit_source_plane(const struct fit_source *s, struct fit_h5_raw_set *set, size_t k,
                                 int sigma, struct fit_plane *plane, const char **why,
                                 struct fit_error *err);
