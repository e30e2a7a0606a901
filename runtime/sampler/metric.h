/* metric.h -- the inverse mass matrix of Hamiltonian Monte Carlo, diagonal or dense.
 *
 * The inverse metric is an estimate of the covariance of the target.  Kept with it: its lower
 * Cholesky factor L (dense: n x n, row by row) or its square roots (diagonal: n).
 */
#pragma once

#include <stddef.h>

struct fit_metric {
    size_t n;
    int dense;
    double *inverse; /* n x n row by row, or n */
    double *factor;  /* as many */
};

/* Doubles of `inverse`, and of `factor`. */
size_t fit_metric_size(size_t n, int dense);

/* Inverse metric <- covariance (n x n, symmetric), or its diagonal.  Returns 0; 1 when it is not
 * positive definite, the metric is then unchanged. */
int fit_metric_covariance(struct fit_metric *m, const double *covariance);

/* Inverse metric <- the diagonal matrix v[n].  Returns 0; 1 when an element is not positive and
 * finite, the metric is then unchanged. */
int fit_metric_diagonal(struct fit_metric *m, const double *v);

/* v <- M^-1 p. */
void fit_metric_velocity(const struct fit_metric *m, const double *p, double *v);

/* p <- a momentum N(0, M) from the standard normals z (p may be z). */
void fit_metric_momentum(const struct fit_metric *m, const double *z, double *p);

/* x <- L z: a vector N(0, M^-1) from standard normals (x may be z). */
void fit_metric_position(const struct fit_metric *m, const double *z, double *x);

/* First and second moments of the draws x and gradients g of a window of the warm-up (Welford
 * 1962).  Sums of squares: n x n row by row, or n. */
struct fit_window {
    size_t n;
    int dense;
    double count;
    double *mean_x, *mean_g; /* n */
    double *sum_x, *sum_g;   /* of squares around the means */
};

/* Doubles of the four arrays together. */
size_t fit_window_size(size_t n, int dense);
void fit_window_clear(struct fit_window *w);
void fit_window_add(struct fit_window *w, const double *x, const double *g);

/* Updates of the metric at the end of a window.  work: fit_metric_work(n) doubles.  Both return 0,
 * or 1 when the estimate is not usable; the metric is then unchanged.
 *
 * fisher: the inverse metric S that minimises the mean of |S^1/2 g + S^-1/2 (x - mu)|^2 (Seyboldt,
 * Carlson & Carpenter 2024), S C_g S = C_x with covariances C_x of draws and C_g of gradients.  For
 * a Gaussian target it is the covariance, exactly, from n + 1 draws.  Regularised as if five more
 * draws had been seen whose moments are those of the estimate itself: directions without
 * information keep what the old metric said of them, others forget it.
 *
 * stan: covariance of the draws, shrunk to 1e-3 by five draws (Stan reference manual, 15.2).
 *
 * change (may be NULL) <- sum over the eigenvalues e of M_old M_new^-1 of e + 1/e - 2: 0 when
 * nothing changed, 0.5 when one direction became twice or half as wide in variance. */
size_t fit_metric_work(size_t n);
int fit_metric_fisher(struct fit_metric *m, const struct fit_window *w, double *work,
                      double *change);
int fit_metric_stan(struct fit_metric *m, const struct fit_window *w, double *work, double *change);
