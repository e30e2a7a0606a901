/* qr_steps.h -- the last digits of a fit of a small table: steps with the whole Jacobian.
 *
 * Sums over the data (J^T J) lose half of the digits: with condition number kappa of J, errors of
 * parameters grow with kappa^2 times the rounding, with QR of J itself only with kappa (Bjorck
 * 1996, sections 1.4 and 2.4).  For a table of a few thousand rows the whole Jacobian is cheap, so
 * the fit ends with Gauss-Newton steps of all free parameters, linear ones included, by QR, until
 * they no longer become smaller; the covariance comes from R.
 */
#pragma once

#include "leastsquares/covariance.h"
#include "leastsquares/objective.h"

enum { FIT_POLISH_MOST = 1000000 }; /* rows times parameters */

struct fit_polish {
    size_t n;        /* columns: free linear unknowns, then free nonlinear parameters */
    size_t nlin;     /* how many of them are linear */
    size_t *column;  /* n: place in the full vector of fit_types.h */
    double *theta;   /* nparam: the result */
    double *lin;     /* nlinear, as the kernel wants it (reference subtracted) */
    double *r;       /* n x n: upper triangular factor of J with columns of unit length */
    double *scale;   /* n: lengths of the columns */
    double chi2;     /* sum w r^2 */
    double gradient; /* distance to the minimum in standard errors */
    struct fit_arena storage_;
};

/* Starting state: theta inside its bounds, obj after fit_objective_value() there. */
struct fit_polish_spec {
    const struct fit_objective *obj;
    const double *theta, *lower, *upper; /* nparam; parameters on a bound are held */
    double dof, noise;                   /* as in nlsq.h */
};

/* 1 when the data are a sufficiently small table. */
int fit_polish_suits(const struct fit_objective *obj);

/* FIT_OK with p->n > 0: done. FIT_OK with p->n = 0: nothing to do, or the columns of J are dependent to rounding, or
 * the derivatives are not finite; the fit is unchanged. FIT_ERR_MEMORY. Free in any case. */
enum fit_status fit_polish(const struct fit_polish_spec *spec, struct fit_polish *p,
                           struct fit_error *err);
void fit_polish_free(struct fit_polish *p);

/* Recomputes from R the arrays of res that fit_covariance() has filled: std, covariance and correlation of the
 * columns, eigenvalues, eigenvectors, scale, normal_matrix. variance as there. FIT_ERR_NUMERIC when the Jacobian is
 * not finite. */
enum fit_status fit_polish_covariance(const struct fit_polish *p, double variance,
                                      struct fit_result *res, struct fit_error *err);
