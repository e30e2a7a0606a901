/* reference.h -- the homodyne models once more, in long double, by the formulas of the model files.
 *
 *     mean = offset + contrast g,   g = exp(-q^2 I_D) S
 *     static: S = 1;  laminar: S = sinc(x)^4, x = q gap/(2 pi) c I_G;  laminar_theory: S = sinc(x)^2,
 *     x = q gap/2 c I_G;   c = cos((phi0 - phi) pi/180)
 *     D = max(D0 ts^alpha + D_offset, 1e-10), G = max(gamma_dot_t0 ts^beta + gamma_dot_t_offset, 1e-10),
 *     ts = max(t, dt/2);  I_D, I_G: trapezoid sums over the frame times between t1 and t2.
 *
 * Nothing is factored, tabulated over pairs or shared with the emitted code.  Derivatives are written out by
 * hand; a floored rate has derivative 0.
 */
#ifndef TESTS_E2E_REFERENCE_H
#define TESTS_E2E_REFERENCE_H

#include "fit/kernel.h"

#include <stddef.h>

enum { REFERENCE_PARAMETERS = 7 };

struct reference {
    int sinc_power; /* 0: static; 4: laminar; 2: laminar_theory */
    size_t nparam;
    const struct fit_layout *layout;
    long double q2, factor, phi0; /* factor: q gap/(2 pi) or q gap/2 */
    long double *F;               /* 8 x ntime: I_D, its three derivatives, I_G, its three derivatives */
};

/* For the kernel's model; fails the test when the model is not one of the above. */
struct reference reference_new(const struct fit_kernel *k, const struct fit_layout *l, const double *theta);
void reference_free(struct reference *r);

/* g and dg/dtheta (REFERENCE_PARAMETERS numbers, or NULL) of used frames i <= j and group p. */
long double reference_g(const struct reference *r, size_t i, size_t j, size_t p, long double *dg);

/* eps times the largest argument that the prefix sums reach: no formula in double can know the arguments
 * of exp and sin better than this. */
double reference_argument_error(const struct reference *r);

#endif
