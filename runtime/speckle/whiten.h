/* whiten.h -- fields between frames in coordinates in which speckle noise is white.
 *
 * To second moments, for frames s, t with the covariance Ct of their intensities, the optimal weights of values between
 * all of them are those of R -> L^-1 R L^-T, Ct = L L^T (the score of the Wishart distribution: Anderson, An
 * Introduction to Multivariate Statistical Analysis (2003), section 7.2). A frame paired with itself is not measured,
 * because it contains shot noise: this element of R is free. It minimises the cost,
 *
 *     min over d of |L^-1 (R + diag d) L^-T|^2:     (Ct^-1 o Ct^-1) d = -diag(Ct^-1 R Ct^-1)     (o: elementwise)
 *
 * and then Ct^-1 (R + diag d) Ct^-1, the weights, are 0 there by construction. (Weights Ct^-1 R Ct^-1 with the diagonal
 * deleted afterwards lose up to three quarters of the gain, and all of it where shot noise is small.)
 */
#pragma once

#include <stddef.h>

#include "base/arena.h"

struct fit_whitener {
    size_t n, nfree;
    double *lower, *upper; /* L^-1 and L^-T */
    size_t *free_;         /* nfree: elements of the diagonal that are not measured */
    double *factor;        /* nfree x nfree: Cholesky factor of their Ct^-1 o Ct^-1 */
    struct fit_arena storage_;
};

/* Ct: n x n, positive definite, is overwritten; measured: n.  To be freed.  0: Ct is not positive definite, or out of
 * memory. */
int fit_whitener_new(size_t n, double *Ct, const unsigned char *measured, struct fit_whitener *w);
void fit_whitener_free(struct fit_whitener *w);

/* (n + 1) log det Ct + log det of the free part of Ct^-1 o Ct^-1. */
double fit_whitener_log_determinant(const struct fit_whitener *w);

/* X <- L^-1 (R + diag d) L^-T for symmetric R.  room: fit_whitener_room(n) doubles; X may be R. */
void fit_whiten(const struct fit_whitener *w, const double *R, double *room, double *X);

/* W <- L^-T X L^-1, the weights of the values, from such an X. */
void fit_whitened_weights(const struct fit_whitener *w, const double *X, double *room, double *W);
size_t fit_whitener_room(size_t n);
