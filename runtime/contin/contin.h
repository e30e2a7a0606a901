/* contin.h -- the distribution of relaxation rates in correlation functions of scattered light (CONTIN).
 *
 * Curve c is measured at delays t as
 *     y(t) = b_c + A_c (sum_k x_k exp(-s_c u_k t))^p,        p = 1: g1,  p = 2: g2 - 1 (Siegert)
 * with one distribution x >= 0 on a grid u, equidistant in log u. s_c = 1: u is a decay rate; s_c = q^2: a diffusion
 * coefficient, common to all curves. A of the first curve is 1: x includes its contrast. The solution is the minimum of
 *     lambda sum ((y - model)/sigma)^2 + alpha |L x|^2,      x >= 0,
 * L the second difference with zeros beyond both ends (Provencher, Comput. Phys. Commun. 27, 213 (1982)); lambda is 1
 * where errors are known. For p = 2, and for several amplitudes, Gauss-Newton steps find it, each a least-squares
 * problem with x >= 0 (math/nnls.h).
 *
 * As a density: y is normal, x has the prior alpha^(n/2) exp(-alpha/2 |L x|^2) on x >= 0, b and log A are free.
 */
#pragma once

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct contin_curve {
    size_t n;
    const double *delay, *y, *sigma; /* sigma: NULL: unknown, equal for all values of all curves */
    double scale;                    /* s_c */
};

enum contin_smoothing { CONTIN_EVIDENCE, CONTIN_LCURVE, CONTIN_FIXED };

struct contin_problem {
    size_t ncurve;
    const struct contin_curve *curve;
    int power;         /* p: 1 or 2 */
    int free_baseline; /* 0: b = 0 */
    size_t n;
    const double *u; /* n, ascending */
    enum contin_smoothing smoothing;
    double alpha; /* CONTIN_FIXED */
    size_t draws; /* for the errors; 0: none are wanted */
    uint64_t seed;
};

enum { CONTIN_PEAKS = 16, CONTIN_LCURVE_POINTS = 33 };

/* A mode: the part between two valleys. Means and widths are those of log u; [1], [2]: ends of the 95 % interval,
 * which contains [0], NaN without draws. For a mode at an end of the grid, whose extent is unknown, they are NaN. */
struct contin_peak {
    size_t first, last;                  /* points of the grid, both included */
    double mean[3], weight[3], width[3]; /* u; fraction of 1; standard deviation of log u */
    int at_edge;                         /* -1, 1: it reaches the lower, the upper end of the grid; otherwise 0 */
};

struct contin_result {
    size_t n;
    double *x;                       /* n: the solution */
    double *lower, *upper, *average; /* n: ends of the 95 % intervals, mean of the draws; of x / sum x */
    size_t ncurve;
    double *contrast, *contrast_error; /* ncurve: A (sum x)^p, the value at delay 0 without baseline */
    double *baseline, *baseline_error; /* ncurve: b */
    double alpha, alpha_range[2];      /* with evidence: 95 % of its posterior */
    double lambda;                     /* 1 / variance of y when errors are not known, else 1 */
    double chi2, roughness;            /* lambda sum (..)^2;  |L x|^2 */
    size_t nvalue;
    double determined; /* number of directions that the data determine: trace of the influence matrix */
    size_t npeak;
    struct contin_peak peak[CONTIN_PEAKS];
    size_t ndraw;   /* 0: no errors: none were requested, or the requested smoothing is too weak for any */
    size_t nlcurve; /* CONTIN_LCURVE: what was tried */
    double lcurve[CONTIN_LCURVE_POINTS][3]; /* alpha, chi2, |L x|^2 */
};

/* FIT_ERR_NUMERIC when no finite distribution is found; FIT_ERR_MEMORY. */
enum fit_status contin_solve(const struct contin_problem *p, struct contin_result *r, struct fit_error *err);
void contin_result_free(struct contin_result *r);
