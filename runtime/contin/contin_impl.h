/* contin_impl.h -- shared by the parts of CONTIN: solve.c, strength.c, draw.c, peaks.c, lognormal.c. */
#pragma once

#include "contin/contin.h"

/* Linear parameters besides x come first in a linearised problem: baselines, then amplitudes of all curves but the
 * first. */
struct contin_state {
    double *x, *b, *A; /* n, ncurve, ncurve */
};

struct contin_work {
    const struct contin_problem *p;
    size_t nvalue, nfree, rows; /* rows kept of the triangular form: at most nfree + n */
    size_t nL;                  /* n + 2 */
    double *kernel;             /* nvalue x n, column by column: exp(-s u t) */
    double *h, *y, *w;          /* nvalue: K x; data; 1 / sigma */
    size_t *of;                 /* nvalue: its curve */
    double *full;               /* nvalue x (nfree + n + 1): the linearised problem */
    double *tri;                /* rows x (nfree + n + 1): its triangular form */
    double rest;                /* squares of the right-hand side beyond these rows */
    double *stack, *rhs, *z;    /* for fit_nnls: (rows - nfree + n + 2) x n, ... */
    size_t *index;
    struct contin_state now, next;
    double alpha, lambda;
    void *memory;
};

enum fit_status contin_work_new(struct contin_work *w, const struct contin_problem *p, struct fit_error *err);
void contin_work_free(struct contin_work *w);

/* Finds the minimum at w->alpha and w->lambda from the present state; then linearises the problem there. */
enum fit_status contin_minimum(struct contin_work *w, struct fit_error *err);
void contin_linearise(struct contin_work *w);
double contin_misfit(struct contin_work *w, const struct contin_state *s); /* sum ((y - model)/sigma)^2 */
double contin_roughness(size_t n, const double *x);                        /* |L x|^2 */

/* Element of L: row i of n + 2, column k. */
double contin_difference(size_t i, size_t k);

/* Inverse of lambda B^T B + alpha L^T L over the points whose x is positive, n x n with zeros elsewhere (all: over all
 * points), and the trace of its product with lambda B^T B; B: the linearised problem without its free parameters.
 * work: n n. */
enum fit_status contin_inverse(const struct contin_work *w, int all, double *S, double *trace, double *work,
                               struct fit_error *err);

/* Strength by the L-curve; a first strength by the evidence of the positive points (strength.c). */
enum fit_status contin_lcurve(struct contin_work *w, struct contin_result *r, struct fit_error *err);
enum fit_status contin_first_strength(struct contin_work *w, struct fit_error *err);

/* Draws from the linearised density, a row of `stride` numbers each: x, then baselines and amplitudes, alpha, lambda
 * (draw.c). */
struct contin_run {
    size_t n, warm; /* draws, and turns before them */
    uint64_t stream;
    const unsigned char *support; /* n of the grid: 1: a point that is drawn, the others are 0; NULL: all are */
    const double *alpha; /* n strengths, in turn; NULL: they are drawn, or that of the work where one is given */
};
size_t contin_stride(const struct contin_work *w);
enum fit_status contin_draw(struct contin_work *w, const struct contin_run *run, double *draw, struct fit_error *err);

/* Extends the intervals of the modes of a finished result to those of log-normal fits (lognormal.c). */
enum fit_status contin_lognormal(const struct contin_work *w, struct contin_result *r, struct fit_error *err);

/* Modes of x; then their intervals from draws (peaks.c). */
void contin_find_peaks(size_t n, const double *u, const double *x, struct contin_result *r);
void contin_peak_moments(const struct contin_peak *p, size_t n, const double *u, const double *x, double *mean,
                         double *weight, double *width);
/* Shortest interval with this fraction of n sorted numbers; for nonnegative numbers (bounded) it may begin at 0.
 */
void contin_interval(size_t n, const double *sorted, double part, int bounded, double range[2]);
