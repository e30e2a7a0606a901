/* linkage.h -- linked parameters: by linear relations, and over groups of data.
 *
 * A kernel has one value of each nonlinear parameter for all groups, and one of each linear parameter (contrast,
 * offset) for every group. A linkage makes another kernel around it, whose parameters x and c are
 *
 *     theta of group g  =  T_g x + s_g          lin of group g  =  P_g c + p_g
 *
 * with constant matrices: a parameter that differs between azimuths (or sets of them) is several elements of x; a tied
 * one ("0.1 D0 + 5") is a row of T or P and no element of x or c; contrast and offset as Fourier series in the azimuth
 * have the coefficients as c, the same for all groups. Whatever works on kernels (least squares, errors,
 * identifiability, the sandwich, sampling) then works on x and c, and by the chain rule
 *     J_x^T J_x = sum_g T_g^T (J_g^T J_g) T_g,      and with P_g for the linear ones.
 * Groups with the same theta, and of one file, form a class; for each class the inner kernel runs once over the values
 * of its groups, so that a fit in which all parameters are shared costs no more than without a linkage.
 *
 * The kernel finds its linkage by layout.context, which fit_linkage_new() sets in the dataset; thinned copies of the
 * dataset have it, too. It differs from an emitted one only in that `points`, `curves`, `combine` and `derive` allocate
 * (out of memory: NaN), and that it has no second derivatives.
 */
#pragma once

#include "base/status.h"
#include "data/dataset.h"
#include "fit/kernel.h"

enum { FIT_LINKAGE_RATES = 48 }; /* largest number of rates of a kernel: the sampler keeps a bit for each */

struct fit_linkage_spec {
    /* Relations.  With n = nparam + nlinear of the inner kernel, row k (n + 1 numbers) of a tied parameter k holds
     * the factors of all parameters and last the constant; factors of tied parameters, and of linear ones for a
     * nonlinear one and vice versa, are 0.  NULL: none. */
    const unsigned char *tied; /* n */
    const double *tie;         /* n x (n + 1) */
    const char *const *text;   /* n: as the user wrote them */

    /* Groups that share a value of nonlinear parameter k: those with the same number share[k * ngroup + g]. NULL:
     * all groups, for all parameters. With several files the linear ones follow: those whose numbers differ are
     * `over` the axis "file" where the model has one value. */
    const size_t *share;

    /* Linear parameters of every group as Fourier series of so many harmonics in the first axis (degrees):
     * c_0 + sum_k c_2k-1 cos(k phi) + c_2k sin(k phi).  0: not. */
    size_t harmonics;

    /* Data of several files, borrowed: the file of each group; of each file its settings, and its frames and times.
     * The kernel has one axis more, "file", of which the layout has the coordinate, 1, 2, ..., behind those of the
     * inner kernel; groups of two files are in two classes, so that a kernel without axes sees one group, and only the
     * frames and times of its file (where these differ: data/file_times.h).  NULL: one file. */
    const struct fit_dataset_files *files;
};

/* A tied parameter: its expression in terms of the unknowns. */
struct fit_linkage_tied {
    char *name;                  /* "D_offset", "D_offset[45]" */
    const struct fit_param *param;
    const char *text;            /* "0.1*D0 + 5" */
    long group;                  /* linear ones: group; else -1 */
    int series;                  /* 1: value of a Fourier series */
    size_t inner;                /* number of the parameter in the inner kernel */
    size_t nterm;
    size_t *at;                  /* unknown: element of x, or nparam + element of c (of the group) */
    double *factor, constant;
};

struct fit_linkage {
    struct fit_kernel kernel;    /* the one to fit with */
    struct fit_density density;  /* of it, when the inner one has one */
    const struct fit_kernel *inner;
    size_t *of;                  /* kernel.nparam: number of the inner parameter */
    size_t *of_linear;           /* kernel.nlinear: the same */
    size_t *term_linear;         /* kernel.nlinear: 0, or the number of the basis function of a series */
    size_t *group_first;         /* kernel.nparam: first group in which it is used */
    size_t nclass;
    size_t *class_of;            /* ngroup */
    size_t ntied;
    struct fit_linkage_tied *tied;
    struct fit_linkage_private *private_;
};

/* The linkage behind a kernel and its layout; NULL: it is none. */
const struct fit_linkage *fit_linkage_of(const struct fit_kernel *kernel, const struct fit_layout *layout);

/* Sets ds->layout.context. kernel and ds are borrowed, and must outlive the linkage; the arrays of spec are copied,
 * its texts borrowed. FIT_ERR_MEMORY; FIT_ERR_CONFIG for a series without enough azimuths. */
enum fit_status fit_linkage_new(const struct fit_kernel *kernel, struct fit_dataset *ds,
                                const struct fit_linkage_spec *spec, struct fit_linkage **link,
                                struct fit_error *err);
void fit_linkage_free(struct fit_linkage *link);

/* Bounds of the unknowns from those of the inner parameters (nonlinear, then linear), so that tied values respect
 * theirs: exactly where a tied value depends on one unknown; where it depends on several, FIT_ERR_CONFIG unless its
 * whole range lies inside. Of a Fourier series only the mean is bounded. lower, upper: in, for n inner parameters;
 * xlower, xupper: out, kernel.nparam + kernel.nlinear. */
enum fit_status fit_linkage_bounds(const struct fit_linkage *link, const double *lower, const double *upper,
                                   double *xlower, double *xupper, struct fit_error *err);

/* Value and, from a covariance of the full vector (fit_types.h), standard deviation of tied parameter k. */
double fit_linkage_value(const struct fit_linkage *link, size_t k, const double *theta, const double *lin);
double fit_linkage_std(const struct fit_linkage *link, size_t k, const double *covariance, size_t nfull);

/* theta of the inner kernel for group g, and its linear parameters from those of all groups. */
void fit_linkage_theta(const struct fit_linkage *link, size_t g, const double *x, double *theta);
void fit_linkage_linear(const struct fit_linkage *link, size_t g, const double *lin, double *inner);
