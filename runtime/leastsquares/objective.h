/* objective.h -- the sum of squares as a function of the nonlinear parameters alone.
 *
 * Variable projection (Golub & Pereyra 1973; Kaufman 1975). For given theta the linear parameters solve, inside their
 * bounds, a convex quadratic program whose coefficients the kernel's `moments` gives; cost(theta) is its minimum.
 * Derivatives use the kernel's `normal`:
 *     g = J^T r            exact: at the minimum over lin the derivative of lin does not enter;
 *     B = H - C^T A^-1 C   Kaufman's Gauss-Newton matrix, H = sum w m_k m_l, A and C over the free linear
 *                          parameters only (those on a bound are held).
 *
 * For a kernel with a density (fit/kernel.h) cost is -log L + offset and B its exact Hessian; there are no linear
 * parameters.
 *
 * Three numberings of linear parameters:
 *   (g, q)     those of the kernel: ngroup x nlinear, reference subtracted from the intercept;
 *   unknown u  the free ones: parameters shared over groups once, fixed ones not at all;
 *   blocks     unknowns that occur together in some group: the quadratic program decomposes into these.
 * lin(g,q) = u[map] + shift, or = shift alone when it is fixed (map = -1).
 */
#pragma once

#include <stdatomic.h>

#include "data/dataset.h"
#include "data/tile_sums.h"
#include "device/sums.h"
#include "leastsquares/fit_types.h"

struct fit_objective_setup {
    enum fit_scaling scaling;
    const double *linear_lower, *linear_upper; /* nlinear, NaN: the model's; or NULL */
    const unsigned char *linear_fixed;         /* nlinear, or NULL */
    const double *linear_start; /* ngroup x nlinear, data units, NaN: the model's; or NULL */
    const size_t *linear_class; /* ngroup x nlinear: groups with equal numbers share a value; NULL: as
                                   the model and `scaling` have it */
    const double *shrink;       /* nlinear, or NULL: 1/2 shrink sum_g (lin - mean of all groups)^2 is added to the
                                   cost, over the groups' own values; 0: not */
    int threads;
    const atomic_int *interrupt;
};

/* Additional weighting of residuals on top of the weights of the data set. */
enum fit_weighting {
    FIT_WEIGHT_DATA,  /* as they are */
    FIT_WEIGHT_GROUP, /* times factor[g] */
    FIT_WEIGHT_LOSS   /* robust: see fit_objective_freeze() */
};

/* Read-only for others, except through the functions below. */
struct fit_objective {
    const struct fit_kernel *kernel;
    const struct fit_dataset *ds;
    size_t nparam, nlinear, ngroup, npoint;
    size_t nu;                   /* free linear unknowns */
    int *map;                    /* ngroup x nlinear: unknown, or -1 */
    double *shift;               /* ngroup x nlinear */
    double *origin;              /* nu: unknowns are stored minus this, against cancellation */
    double *lower, *upper, *ref; /* nu, minus origin; ref: preferred where the data are uninformative */
    size_t nblock;
    size_t *block_first;         /* nblock + 1: into the order of unknowns by block */
    size_t *block_matrix;        /* nblock: offset of the block's matrix in A */
    size_t *order;               /* nu: unknowns, block by block */
    size_t *place;               /* nu: position of the unknown inside its block */
    size_t *block_of;            /* nu */

    /* At the theta of the last call of fit_objective_value(): */
    double *u, *du;              /* nu; the second: how far fit_objective_newton() has moved it */
    signed char *state;          /* nu: -1 on the lower bound, +1 on the upper, 0 free */
    double *lin;                 /* ngroup x nlinear, in the form of the kernel */
    double *ssr;                 /* ngroup: sum w r^2 */
    double *A, *b;               /* matrices and right sides of the blocks */
    double *moment;              /* ngroup x sums of the kernel's moments */
    double *summed_at;           /* nparam: where they were taken, with these weights, */
    unsigned long summed;        /* of values with this stamp (dataset.h); 0: nowhere */
    double cost, cost_error;     /* 1/2 sum of ssr, and penalty; estimate of its rounding error */
    double penalty;              /* what shrinkage adds */
    double density_constant;     /* of a density: terms of log L without parameters */
    double offset;               /* of a density: cost + log L; keeps the cost positive */
    double ridge;                /* the largest ridge that the linear solve needed */

    /* At the theta of the last call of fit_objective_normal(): */
    double *cross;               /* nu x nparam: sum w b_u m_k */
    double *hessian;             /* nparam x nparam: sum w m_k m_l, not projected */

    enum fit_weighting weighting;
    double *factor;              /* ngroup */
    double *shrink;              /* nlinear */
    enum fit_loss loss;
    double loss_scale;           /* f_scale */
    double loss_curve;           /* curvature, as a part of the majorant's */
    double *ws, *ws_loss;        /* tables of the kernel; the second at the point of the weights */
    double *at;                  /* nparam: where those of ws belong, */
    int prepared;                /* when this is 1 */
    double *lin_loss;            /* ngroup x nlinear at the point of the weights */
    double *kept;                /* values, weights and sums of the loss, of few data: objective.c; or NULL */
    size_t nkept;                /* length of each of its arrays */
    unsigned char *is_kept;      /* ntile: the tile's are there */

    double data_square;          /* sum w y^2, reference subtracted */
    double reference_square;     /* sum w reference^2 */
    struct fit_parallel *par;
    struct fit_device_sums *device; /* takes passes with the weights of the data; NULL: none */
    double *sum;                 /* result of a pass */
    double *work;
    double *residual_seeds;          /* of an adjoint pass that gives sum w m r */
    const double *lin_adjoint, *adj; /* of the adjoint pass that runs */
    size_t nvalue, nnormal, nadjoint; /* passes over the data */
    struct fit_arena storage_;
};

/* Borrows kernel and ds.  FIT_ERR_CONFIG when bounds cross or a fixed value is missing. */
enum fit_status fit_objective_new(const struct fit_kernel *kernel, const struct fit_dataset *ds,
                                  const struct fit_objective_setup *setup,
                                  struct fit_objective **obj, struct fit_error *err);
void fit_objective_free(struct fit_objective *obj);

/* The same function on the same values, with separate work space, for passes in parallel with those of `from`, which
 * it borrows and which keeps its weights meanwhile. It does not use the results of `from`. Only for values in
 * memory. */
enum fit_status fit_objective_twin(const struct fit_objective *from, int threads, struct fit_objective **twin,
                                   struct fit_error *err);

/* Minimum over the linear parameters at theta[nparam]: u, state, lin, ssr, cost.
 * FIT_EVAL_REJECT when the model is not finite there, FIT_EVAL_STOP when interrupted. */
enum fit_eval fit_objective_value(struct fit_objective *obj, const double *theta);

/* Tables of the kernel at theta (fit/kernel.h); existing ones are not recomputed. */
enum fit_eval fit_objective_prepare(struct fit_objective *o, const double *theta, int derivative);

/* B (nparam x nparam) and g = sum w m r (nparam; the direction of descent) at theta, for which
 * fit_objective_value() must have been called just before.  A parameter whose derivative lies in
 * the span of the linear terms to rounding gets a zero row and column in B and zero in g. */
enum fit_eval fit_objective_normal(struct fit_objective *obj, const double *theta, double *B,
                                   double *g);

/* g alone, in the same way, of kernels that have a gradient and no density. */
enum fit_eval fit_objective_gradient(struct fit_objective *obj, const double *theta, double *g);

/* Lower Cholesky factor of the free part of a block's matrix, scaled to a unit diagonal with a ridge where rounding
 * requires one: A_ff = D (L L^T) D. index: the free unknowns, d their scale. Returns how many. Arrays for the size
 * of the block (squared for the factor). */
size_t fit_objective_factor(const struct fit_objective *obj, size_t block, size_t *index, double *d,
                            double *factor);

/* The two passes of which the above consist, for densities built on the same sums (collapsed.h). sums: moment <-
 * sums of every group (fit/kernel.h, moments), A and b <- matrices and right sides of the blocks in the numbering of
 * unknowns; derivative: 1 when an adjoint pass may follow. adjoint: at the theta of the last sums, out[nparam] <-
 * the kernel's gradient with lin and adj. */
enum fit_eval fit_objective_sums(struct fit_objective *obj, const double *theta, int derivative);
enum fit_eval fit_objective_adjoint(struct fit_objective *obj, const double *lin,
                                    const double *adj, double *out);

/* lin[nlinear] of group g, in the form of the kernel, at the unknowns u[nu]; returns sum w r^2 from the last sums. */
double fit_objective_group(const struct fit_objective *obj, size_t g, const double *u, double *lin);

int fit_objective_threads(const struct fit_objective *obj);

/* 1: the current device (device/device.h) takes the sums of objectives of these data; threads: the processor's,
 * where the faster of the two is chosen. */
int fit_objective_on_device(const struct fit_kernel *kernel, const struct fit_dataset *ds, int threads);

/* A linear parameter in the units of the data. */
double fit_objective_linear(const struct fit_objective *obj, size_t g, size_t q);

/* Weights of the data set times factor[g]; NULL: unchanged. */
void fit_objective_group_factor(struct fit_objective *obj, const double *factor);

/* ---- robust loss (loss.c) -------------------------------------------------------------------- */

/* The cost 1/2 f_scale^2 sum rho(z) (robust_loss.h, v = w factor[g] = 1 / sigma^2) at theta and the linear
 * parameters in u and lin, and a sum of squares with its gradient there and c times the curvature of its majorant
 * (Holland & Welsch 1977), c = sum psi' / sum rho' the mean curvature of the loss (Huber 1981, section 7.8), at
 * least 0.1. For residuals whose size is independent of the derivatives that is Newton's method up to 1/sqrt(n),
 * whatever the loss; the curvature of each single residual (Triggs et al. 2000) would have to be truncated where it
 * is negative, and is no better for soft_l1, worse for the others. */
struct fit_objective_robust {
    enum fit_loss loss;
    double f_scale;
    double curve;              /* c */
    double cost, penalty;      /* that of the loss; what shrinkage adds */
    double gain;               /* predicted gain of the step of u: its minimum at theta is so much lower */
    double psi2, dpsi, square; /* sum psi^2, sum psi' and sum r^2, r = residual / sigma, psi = r rho'(z): for the
                                  covariance of M-estimates (Huber 1981, section 7.6) */
};

/* One pass over the data for all of this. Takes loss and f_scale; gives the rest, and u, lin, state, A, b of the sum
 * of squares, B and g at these: a step of theta continues from there. A step dtheta changes b by -cross dtheta. */
enum fit_eval fit_objective_newton(struct fit_objective *obj, const double *theta, struct fit_objective_robust *robust,
                                   double *B, double *g);

/* From now on the objective is such a sum of squares, for the loss at theta and lin, with `curve` times the
 * curvature of the majorant: w = curve v rho'(z), y = mean + (y - mean) / curve. No pass over the data.
 * FIT_EVAL_STOP: no memory. */
enum fit_eval fit_objective_freeze(struct fit_objective *obj, const double *theta, const double *factor,
                                   const struct fit_objective_robust *robust);

/* For at most so many values in memory, their weighted values are kept: 16 bytes each. */
enum { FIT_OBJECTIVE_KEPT = 1 << 21 };

/* Patches of the tiles (data/tile_patches.h), of their effective values and weights, and the mean at the theta and
 * lin of the last value. Several threads call `take`. */
struct fit_residual_patches {
    size_t most;
    void *user;
    size_t (*take)(void *user, const struct fit_tile *t, const double *mean, double *patch);
    void (*add)(void *user, const struct fit_tile *t, const double *patch, size_t n);
};
enum fit_eval fit_objective_residuals(struct fit_objective *obj, const struct fit_residual_patches *patches);

/* The median of sqrt(w) |r| over all points at theta and the lin of the last value, from a
 * histogram with bins of 4 %, interpolated: independent of the order of the points.  Group factors
 * are applied. */
enum fit_eval fit_objective_median(struct fit_objective *obj, const double *theta, double *median);

/* ---- for loss.c and objective.c -------------------------------------------------------------- */

enum { FIT_OBJECTIVE_BINS = 512, FIT_OBJECTIVE_SCRATCH = 4 };

/* Calls fn for every vector of the tile, in the order of the data: group, offset of its first lane from tile->y, and
 * the lanes [lo, hi) that count. */
typedef void fit_vector_fn(void *user, size_t g, size_t offset, size_t lo, size_t hi);
void fit_objective_vectors(const struct fit_objective *obj, const struct fit_tile *t,
                           fit_vector_fn *fn, void *user);

/* The same for vectors with lanes that do not count. */
void fit_objective_edges(const struct fit_objective *obj, const struct fit_tile *t, fit_vector_fn *fn, void *user);

/* Data and weights of the tile for the robust loss. */
void fit_loss_weights(struct fit_objective *obj, const struct fit_tile *t, double *y, double *w);
