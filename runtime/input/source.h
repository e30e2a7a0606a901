/* source.h -- two-time correlation matrices as beamlines and programs store them.
 *
 * fit_source_open() determines the layout of a file from its content (never from its suffix), lists the matrices with
 * their q and azimuth, and reads the information about time. No matrix is read before it is requested. Layouts, in the
 * order in which they are tried:
 *
 *   aps_u           /xpcs/twotime/correlation_map, boost_corr (APS 8-ID-I, 9-ID)
 *   aps_legacy      <output>/C2T_all with /xpcs/dqlist (xpcs-eigen); /xpcs/C2T_all (boost_corr until 2025)
 *   chx             /g12b, q last (pyCHX, NSLS-II)
 *   nxxpcs          ENTRY/twotime/two_time_corr_func, also below ENTRY/XPCS (NeXus)
 *   id02            ENTRY/correlations/KEY/twotime/ttcf, or ENTRY/dynamix/correlations/directions/KEY/
 *                   2times_correlation/ttcf (ESRF ID02)
 *   midtools        /train_resolved/correlation/ttc, mean over trains (European XFEL, MID)
 *   homodyne_npz    cache of homodyne and xpcsjax
 *   heterodyne_npz  cache of heterodyne; any npz with c2 (and t, q, phi)
 *   exchange        /exchange/{twotime_corr, twotime, c2, corr, correlation, data}
 *   sirius          /Two-time correlation function/2-TCF
 *   flat            /c2, /t, /q, /phi
 *   npy             one array: (N,N), (n,N,N) or (N,N,n)
 *   dataset         named by the caller: a dataset of any HDF5 file, a group of matrices, a member of an npz
 *
 * Files may hold the whole matrix or one half with zeros in the other; the reader determines which for each matrix,
 * unless the file states it.
 *
 * Units: q 1/angstrom, phi degrees, times s. Not for use by several threads at a time. Reads only.
 */
#pragma once

#include "base/notes.h"
#include "base/status.h"
#include "config/config.h"

#include <stddef.h>

struct fit_source_matrix {
    size_t bin;    /* label of the (q, phi) bin in the file, from 1; 0: the layout has none */
    char key[64];  /* name of the dataset, or index in the array: "c2_00001", "[3]" */
    double q, phi; /* NaN: the file does not say */
};

struct fit_source {
    const char *file;   /* as given */
    const char *layout; /* one of the names above */
    size_t nmatrix;
    struct fit_source_matrix *matrix;
    size_t nframe; /* rows of every matrix */
    long
        first_frame; /* number of the first row in the original file; 1 unless a cache was cut */
    double dt;         /* s from row to row; NaN: the file does not say */
    char dt_text[160]; /* source of dt: "frame_time x stride x avg = 2e-05 x 1 x 1 s" */
    double *time;      /* nframe times, s, or NULL */
    int has_sigma;     /* fit_source_read_sigma works */
    struct fit_notes notes; /* about the file */
    struct fit_source_private *private_;
};

/* The caller's knowledge about the file; all of it may be missing. */
struct fit_source_wish {
    const char *layout;  /* one of the names above, except `dataset`; NULL: determine it */
    const char *dataset; /* matrices, as (N,N), (n,N,N), (N,N,n) or (n1,n2,N,N), or a group of (N,N); NULL: search
                          * for them */
    size_t naxis, nunit;
    const struct fit_config_column
        *axis; /* q, phi, t, sigma: the dataset that holds it, from the root or beside the matrices */
    const struct fit_config_column *unit; /* q, phi, t: the unit of its numbers, whatever the file states */
};

/* wish may be NULL; it is needed during the call only. FIT_ERR_IO: the file does not exist or is incomplete;
 * FIT_ERR_DATA: no known layout, with a list of the file's contents. */
enum fit_status fit_source_open(const char *file, const struct fit_source_wish *wish, struct fit_source **src,
                                struct fit_error *err);
void fit_source_close(struct fit_source *src);

/* Matrix k: nframe x nframe, symmetric.  Values are as stored (baseline near 1; files that state a
 * baseline of 0 get 1 added); blank frames and NaN are left as they are. */
enum fit_status fit_source_read(struct fit_source *src, size_t k, double *matrix,
                                struct fit_error *err);

/* The same, but only elements i <= j are meaningful: saves a transposition. */
enum fit_status fit_source_read_upper(struct fit_source *src, size_t k, double *matrix,
                                      struct fit_error *err);

/* Standard deviations of matrix k, elements i <= j. */
enum fit_status fit_source_read_sigma(struct fit_source *src, size_t k, double *sigma,
                                      struct fit_error *err);

/* Takes errors from another file:  FILE (npy, npz with sigma, HDF5 with /sigma) or FILE:/dataset.
 * One matrix for all, or one for each. */
enum fit_status fit_source_attach_sigma(struct fit_source *src, const char *where,
                                        struct fit_error *err);

/* The mean over the diagonals of matrix k that the file holds, lags 0 .. n - 1; *g2 = NULL when it holds none. The
 * caller frees. */
enum fit_status fit_source_read_g2(struct fit_source *src, size_t k, double **g2, size_t *n,
                                   struct fit_error *err);

/* Adds notes on how values have been read so far (by libhdf5, from other files), unless they were added before. */
void fit_source_tell(const struct fit_source *s, struct fit_notes *notes);

/* 1 when the file has a time axis with uneven steps; text names them. */
int fit_source_is_uneven(const struct fit_source *s, char *text, size_t size);
