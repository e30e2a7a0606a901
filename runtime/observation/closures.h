/* closures.h -- data products: quantities computed from visibilities before an image is fitted to them.
 *
 * With V and sigma of the legs (observation.h), phases in degrees (FIT_OBS_DEGREE):
 *     vis        V
 *     amp        a = |V|;  debias: sqrt(|V|^2 - sigma^2), 0 where |V| <= sigma
 *     logamp     the numbers of amp where a > 0; the term makes ln a, of error sigma / a
 *     bs         B = V12 V23 V31,  sigma |B| sqrt(sum sigma_k^2 / |V_k|^2)
 *     cphase     arg B,  sigma_B / |B|
 *     camp       C = |V12| |V34| / (|V14| |V23|),  C sqrt(sum 1 / snr_k^2), snr = |V| / sigma
 *     logcamp    ln C,  sqrt(sum 1 / snr_k^2)
 *     cphase_diag, logcamp_diag: T c of the closures c of one time, T the eigenvectors (rows) of their covariance
 *                M diag(sigma_k^2 / |V_k|^2) M^T, M the incidence of closures on legs; sigma: roots of the eigenvalues,
 *                ascending (Blackburn et al. 2020, ApJ 894, 31)
 *     vvis       V of Stokes V
 *     pvis       P = Q + iU, and in the other direction Q* + iU*: two rows for a baseline; sqrt(sigma_Q^2 + sigma_U^2)
 *     m          P / I of the same rows,  sqrt(sigma_Q^2 + sigma_U^2 + (sigma_I |m|)^2) / |I|
 * debias in closure amplitudes: |V| is sqrt(|V|^2 - sigma^2), sigma where |V| < sigma; C is divided by 1 + 1/snr14^2 +
 * 1/snr23^2, ln C gets (1/snr12^2 + 1/snr34^2 - 1/snr14^2 - 1/snr23^2) / 2.
 *
 * SETS. Rows of one time (times that differ by less than 4 ms) with n stations, in the order of fit_obs_site_order:
 *     minimal    triangles (s0, sa, sb), 0 < a < b; quadrangles (s0, si, sj, sk), i = 3 .. n-1, j = 1 .. i-1,
 *                k = 1 where j = i-1, else j+1
 *     maximal    all triangles (a < b < c); of all four stations (a,b,c,d), (a,c,b,d), (a,b,d,c)
 * A closure with an unmeasured leg is left out.
 */
#pragma once

#include "observation/observation.h"

#include <stdint.h>

enum fit_product_kind {
    FIT_PRODUCT_VIS,
    FIT_PRODUCT_AMP,
    FIT_PRODUCT_LOGAMP,
    FIT_PRODUCT_BS,
    FIT_PRODUCT_CPHASE,
    FIT_PRODUCT_CPHASE_DIAG,
    FIT_PRODUCT_CAMP,
    FIT_PRODUCT_LOGCAMP,
    FIT_PRODUCT_LOGCAMP_DIAG,
    FIT_PRODUCT_VVIS,
    FIT_PRODUCT_PVIS,
    FIT_PRODUCT_M,
    FIT_PRODUCTS
};

/* "vis" ... "m"; the kind of a name, or -1. */
const char *fit_product_name(enum fit_product_kind kind);
int fit_product_kind(const char *name);

/* All zero: products as they are, minimal sets. */
struct fit_product_options {
    enum fit_stokes stokes;
    int debias;  /* amp, logamp, camp, logcamp, logcamp_diag */
    int maximal; /* sets of closures */
    int uniform; /* sigma of all rows: their median */

    /* vis, amp, logamp: sigma^2 + 2 f^2 |V|^2; with numbers of stations the level 2 f^2 is f_1^2 + f_2^2 (f^2 + f^2 for
     * equal ones), and baselines of a station with a negative number are left out. */
    double systematic_noise;
    const double *systematic_site;  /* nsite; NULL: systematic_noise for all */
    double systematic_cphase_noise; /* degrees, added in quadrature to the sigma of closure phases */

    /* Rows below these are left out: |V| / sigma (before systematic noise), |B| / sigma_B, C / sigma_C; for diagonal
     * sets, the closures of which they are made. */
    double snrcut;
    double cp_uv_min; /* wavelengths: shorter baselines make no closure phases */

    /* Diagonal sets. 0: a leg and the same leg backwards count as independent, as in eht-imaging. 1: they are one
     * measurement, which is mathematically correct: they share its error, with the opposite sign in phases. */
    int one_error_per_leg;
};

struct fit_product {
    enum fit_product_kind kind;
    size_t n;        /* rows; the N of its term */
    int nleg;        /* 1, 3 (12, 23, 31) or 4 (12, 34, 14, 23) */
    int32_t *leg;    /* n x nleg: +-(row + 1) of the observation; negative: the conjugate */
    double *data;    /* n; of complex ones the real part */
    double *imag;    /* n, of those that are complex; else NULL */
    double *sigma;   /* n */
    size_t repeated; /* rows not used in closures: their baseline has an earlier measurement at the same time */
    size_t nblock;   /* diagonal sets: blocks of closures of one time; else 0 */
    size_t *block;   /* nblock: closures of each; their sum is n */
    double *T;       /* sum of block^2: the square matrices, each row by row */
    struct fit_arena arena;
};

/* *p is NULL after an error.  FIT_ERR_DATA: no stations are known, or nothing is left. */
enum fit_status fit_product_make(const struct fit_obs *obs, enum fit_product_kind kind,
                                 const struct fit_product_options *options, struct fit_product **p,
                                 struct fit_error *err);

/* Closures that an HDF5 file holds beside its visibilities, in the group "/" and the name: data (or data_re and
 * data_im), sigma and leg_row_signed1 (n x nleg). *p is NULL and the status FIT_OK when the group does not exist. */
enum fit_status fit_product_read(const char *file, const struct fit_obs *obs, enum fit_product_kind kind,
                                 struct fit_product **p, struct fit_error *err);
void fit_product_free(struct fit_product *p);
