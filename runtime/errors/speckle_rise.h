/* speckle_rise.h -- the noise of efficient estimates as a function of the parameters, and the uncertainty of its
 * numbers.
 *
 * The table of speckle_kernel.h uses the covariance of its rows at the reference. At the end of a long interval the
 * noise differs: there the model has, say, half the rate and twice the contrast. The set of parameters that the data do
 * not reject, with fixed weights W,
 *
 *     { theta:  min over the others of u(theta)^T S(theta)^-1 u(theta)  below the limit },
 *
 * has the correct coverage whether or not the cost is quadratic, because at the truth u has the covariance S(truth)
 * (Hansen, Heaton & Yaron, J. Bus. Econ. Stat. 14 (1996) 262; Stock & Wright, Econometrica 68 (2000) 1055). The numbers
 * of the noise follow the trial contrast c, M as c^2 and s2 as c: the data determine no more.
 *
 * The number of speckles is an estimate, too, and slow noise, most of the variance of an estimate, is proportional to
 * 1/M. With its relative variance as that of the scale, 2/f for f degrees of freedom (Satterthwaite, Biometrics Bull. 2
 * (1946) 110), limits are those of Student's t; where shot noise is a part of the variance they are a little too wide.
 */
#pragma once

#include "errors/speckle_kernel.h"

struct fit_speckle_rise;

/* noise: ngroup, with the contrast of the reference; class: ngroup x nlinear, groups that share a linear parameter;
 * fixed: nlinear; open: nparam, 1: free.  All borrowed.  To be freed; NULL: out of memory. */
struct fit_speckle_rise_spec {
    const struct fit_speckle_kernel *made;
    const struct fit_speckle_noise *noise;
    const size_t *class;
    const unsigned char *fixed, *open;
};
struct fit_speckle_rise *fit_speckle_rise_new(const struct fit_speckle_rise_spec *spec);
void fit_speckle_rise_free(struct fit_speckle_rise *r);

/* The cost u^T S^-1 u with S of theta, lin (ngroup x nlinear), where parameter `held` is held and the others are
 * free to first order: theta and lin are near their optimum. NaN: there is none. */
double fit_speckle_rise_at(struct fit_speckle_rise *r, const double *theta, const double *lin, size_t held);

/* f; INFINITY where the numbers of the noise are given. */
double fit_speckle_freedom(const struct fit_speckle_noise *noise, size_t ngroup);
