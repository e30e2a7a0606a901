/* aliases.h -- detects a parameter that the frames cannot distinguish from its aliases: an oscillation that turns back
 * between one frame and the next.
 *
 * Values at times dt apart are the same for phases that differ by 2 pi over dt (Nyquist, Trans. AIEE 47 (1928) 617;
 * Shannon, Proc. IRE 37 (1949) 10): a velocity v in cos(q v t) beyond pi/(q dt) has aliases v + 2 pi k/(q dt), which
 * fit as well. The model can be evaluated between the frames, too. A parameter in the phase of an oscillation has the
 * derivative A phase sin(phase), which changes its sign with every half turn: changes of sign are counted from equal
 * times to the next frame, in each group and at several ages. The parameter is reported when there are some wherever
 * the model depends on it, and more than one somewhere. The phase of an azimuth almost across the flow turns less:
 * where it turns by less than half a turn, it distinguishes the aliases.
 */
#pragma once

#include "fit/kernel.h"

struct fit_aliases_spec {
    const struct fit_kernel *kernel;
    const struct fit_layout *layout;
    const double *theta, *lower, *upper; /* nparam */
    const double *lin;                   /* as the kernel wants it */
};

/* *which <- the parameter that the frames cannot distinguish from its aliases, nparam: none. Returns 1 out of
 * memory. */
int fit_aliases(const struct fit_aliases_spec *spec, size_t *which);
