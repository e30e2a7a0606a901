/* noise.h -- the speckle noise of two-time values: its size, its effect on weighted sums of residuals, and a test of
 * fit under it.
 *
 * A detector region sees M independent speckles. The intensity of one of its pixels at frame s, divided by its mean, is
 * 1 + d_s with E d_s d_t = C_st = b g_st^2, C = c2 - baseline of the model, b its value at equal times, g = |g1|;
 * photon counting adds shot noise s2 on the diagonal: Ct = C + s2 1. Frames are divided by their means over the region.
 * To first order in 1/M, for complex Gaussian fields of 1/b modes and s != t, u != v (Isserlis' theorem for the fields;
 * noise of photon correlation data: Schaetzel, Quantum Opt. 2 (1990) 287),
 *
 *     M Cov[c_st, c_uv] = Ct_su Ct_tv + Ct_sv Ct_tu
 *                       + 2 b^3 (g_st g_tu g_uv g_vs + g_st g_tv g_vu g_us + g_su g_ut g_tv g_vs)
 *                       - C_uv [k(s,t,u) + k(s,t,v)] - C_st [k(u,v,s) + k(u,v,t)]
 *                       + C_st C_uv (Ct_su + Ct_sv + Ct_tu + Ct_tv),        k(i,j,k) = 2 b^2 g_ij g_jk g_ki.
 *
 * The variance of photons is proportional to the intensity: this adds s2 k(s,t,v) to pairs (s,t), (s,v) that share a
 * frame, s2^2 C_st to a pair with itself, and s2 C_st to k(s,t,s).
 *
 * M and s2 are the only unknowns beyond the model.
 *   Moments   sums over differences of neighbouring residuals, which neither slow noise nor the fit affects
 *             (moments.c, while residuals are in memory: scores.c)
 *   Estimate  M and s2 of each group from them (estimate.c)
 *   Covariance of sum_{s<t} P_k(s,t) c_st for any number of fields P_k (covariance.c)
 *   Errors    of least squares, and the test of fit (speckle_errors.c)
 */
#pragma once

#include <stddef.h>

#include "fit/kernel.h"
#include "leastsquares/fit_types.h"

/* ---- moments --------------------------------------------------------------------------------------------- */

enum {
    FIT_SPECKLE_SLICES = 8,    /* of the later frame: each has its own sums, for their scatter */
    FIT_SPECKLE_DISTANCES = 5, /* 1, 2, 4, 8, 16 frames */
    FIT_SPECKLE_LEVELS = 5     /* 2, 4, 8, 16, 32 rows */
};

/* Of one group, over t - s >= 3.  With e_k = R_st - R_s,t+k, sums and numbers of
 *     square[k]      e_k^2
 *     product[h]     e_1(s,t) e_1(s',t), s != s' both in one of the segments of 2^(h+1) rows. */
struct fit_speckle_moments {
    double square[FIT_SPECKLE_DISTANCES][FIT_SPECKLE_SLICES], nsquare[FIT_SPECKLE_DISTANCES][FIT_SPECKLE_SLICES];
    double product[FIT_SPECKLE_LEVELS][FIT_SPECKLE_SLICES], nproduct[FIT_SPECKLE_LEVELS][FIT_SPECKLE_SLICES];
};

/* Sums by column of the tile, in room of fit_speckle_room() doubles. */
struct fit_speckle_columns {
    const struct fit_layout *layout;
    size_t j0, n, width; /* frame of the first; how many; length of the arrays */
    double *square, *nsquare; /* DISTANCES x width */
    double *sum, *count;      /* LEVELS x width: of the segment at hand */
    double *product, *nproduct; /* LEVELS x width: squares of these, of the segments before */
};

/* Adds to *m the residuals of one group inside a tile: row after row, r[k] the residual of column j0 + k, NaN: none
 * (below the diagonal it may be anything). */
void fit_speckle_moments_begin(const struct fit_layout *l, const struct fit_tile *t, double *room,
                               struct fit_speckle_columns *c);
void fit_speckle_moments_row(struct fit_speckle_columns *c, size_t i, const double *r);
void fit_speckle_moments_end(struct fit_speckle_columns *c, struct fit_speckle_moments *m);
size_t fit_speckle_room(const struct fit_layout *l);

/* ---- the model ------------------------------------------------------------------------------------------- */

/* Source of the values of the model. */
struct fit_speckle_model {
    const struct fit_kernel *kernel;
    const struct fit_layout *layout;
    const double *ws, *lin;
};

/* out[k] <- C between frames i[k] and j[k] of group g, for any number of them. */
void fit_speckle_values(const struct fit_speckle_model *m, size_t g, size_t n, const uint32_t *i, const uint32_t *j,
                        double *out);

/* Is the model's c2 of this group a baseline plus a function that is largest, positive, and constant at equal times,
 * and nowhere negative? Then contrast and frames of *x are set, otherwise the reason. Both are set where its
 * contrast is 0. */
int fit_speckle_suits(const struct fit_speckle_model *m, size_t g, struct fit_speckle_noise *x, const char **why);

/* Adds to *sum the products of differences with a common frame, and to *variance the variance of that sum for
 * independent noise of all values. frames: decay of the model. */
void fit_speckle_sharing(const struct fit_speckle_moments *m, double frames, double *sum, double *variance);

/* Afterwards: M and s2 of group g, except given ones (0: none). shared: 0 when values that share a frame are not
 * correlated. */
void fit_speckle_estimate(const struct fit_speckle_model *m, size_t g, const struct fit_speckle_moments *moments,
                          int shared, const struct fit_noise_model *given, struct fit_speckle_noise *x);

/* ---- covariance ------------------------------------------------------------------------------------------ */

/* Fields over n frames, or averages of frames; matrices are n x n, symmetric. */
struct fit_speckle_fields {
    size_t n, nfield;
    const double *C, *g;  /* between frames, diagonals b and 1 (of averages: their mean) */
    double contrast;      /* b */
    const double *shot;   /* n: s2 of a frame (of averages: divided by their number) */
    const double *field;  /* nfield matrices: 1/2 of the weight of (s,t) off the diagonal */
    size_t coarse;        /* for the third cycle: number of frames that it combines */
};

/* out[nfield x nfield] <- M times the covariance of the sums.  room: fit_speckle_covariance_room() doubles. */
void fit_speckle_covariance(const struct fit_speckle_fields *f, double *room, double *out);
size_t fit_speckle_covariance_room(size_t n, size_t nfield);
