/* linalg.h -- small dense linear algebra.
 *
 * Matrices are n x n doubles, row by row. Nothing allocates; work space is the caller's. Sums have a fixed order, which
 * does not depend on the processor: the same bits on every machine.
 */
#pragma once

#include <stddef.h>

static inline double fit_dot(size_t n, const double *x, const double *y)
{
    double s = 0;
    for (size_t j = 0; j < n; j++)
        s += x[j] * y[j];
    return s;
}

/* Lower Cholesky factor of a in place (the lower triangle is read and written).
 * Returns 0, or 1 + the index of the first pivot that is not > tol times its diagonal element. */
size_t fit_cholesky(size_t n, double *a, double tol);

/* b <- L^-1 b,  b <- L^-T b,  b <- (L L^T)^-1 b. */
void fit_lower_solve(size_t n, const double *l, double *b);
void fit_lower_solve_transposed(size_t n, const double *l, double *b);
void fit_cholesky_solve(size_t n, const double *l, double *b);

/* inverse <- (L L^T)^-1, column by column. */
void fit_cholesky_inverse(size_t n, const double *l, double *inverse);

/* out (m x p) <- A (m x n) B; B: n rows of p, `step` from one to the next. */
void fit_multiply(size_t m, size_t n, size_t p, const double *A, const double *B, size_t step, double *out);

/* Eigenvalues w (ascending) and eigenvectors of the symmetric matrix a; on return row k of a is
 * the k-th eigenvector, its largest component positive.  work: fit_eigen_work(n) doubles. Returns
 * 0, or nonzero when a is not finite. */
size_t fit_eigen_work(size_t n);
int fit_eigen(size_t n, double *a, double *w, double *work);

/* Singular values w (ascending) of the upper triangular matrix a; on return row k of a is the k-th
 * right singular vector, its largest component positive, to high relative accuracy when columns of
 * a have been scaled to unit length (one-sided Jacobi, Demmel & Veselic 1992).  Returns 0, or nonzero when a is not
 * finite. */
int fit_singular(size_t n, double *a, double *w);

/* Least squares min |a x - b| with a of m rows and n columns (row by row, m >= n, destroyed) by
 * Householder QR.  On return b holds x in its first n elements and r (n x n, upper triangle, row
 * by row) the triangular factor.  work: fit_qr_work(m, n) doubles.  Returns 0, or nonzero when a
 * diagonal element of r is below tol times the largest (the columns are dependent) or not finite;
 * b is then undefined. */
size_t fit_qr_work(size_t m, size_t n);
int fit_qr_solve(size_t m, size_t n, double *a, double *b, double *r, double tol, double *work);

/* A quadratic function inside bounds, all n and n x n. */
struct fit_box {
    size_t n;
    const double *a, *b, *lower, *upper, *ref;
};

/* Minimum of 1/2 x^T a x - b^T x inside lower <= x <= upper, a symmetric and positive
 * semidefinite; bounds may be infinite; lower = upper holds a variable.  Where a is singular, x
 * stays as near to ref as the rounding of a allows (a ridge of 1e-12 or more of the diagonal
 * toward ref).
 * state: -1 on the lower bound, +1 on the upper, 0 free.  work: fit_boxqp_work(n) doubles.
 * Primal active set (Nocedal & Wright 2006, algorithm 16.3), exact for the strictly convex case.
 * Returns the ridge that was needed (0 when none), or -1 when a or b are not finite. */
size_t fit_boxqp_work(size_t n);
double fit_boxqp(const struct fit_box *box, double *x, signed char *state, double *work);
