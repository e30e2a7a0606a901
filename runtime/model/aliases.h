/* aliases.h -- a parameter of which the frames do not tell the value from others: an oscillation that turns back
 * between one frame and the next.
 *
 * Values at times dt apart are the same for phases that differ by 2 pi over dt (Nyquist, Trans. AIEE 47 (1928) 617;
 * Shannon, Proc. IRE 37 (1949) 10): a velocity v in cos(q v t) beyond pi/(q dt) has aliases v + 2 pi k/(q dt), which
 * fit as well.  The model knows times between the frames, too.  A parameter in the phase of an oscillation has the
 * derivative A phase sin(phase), which changes its sign with every half turn: from equal times to the next frame, in
 * each group and at several ages, changes of sign are counted.  It is told of when there are some wherever the model
 * depends on it, and somewhere more than one.  An azimuth almost across the flow turns less: where that is by less
 * than half a turn, it tells the aliases from each other.
 */
#pragma once

#include "fit/kernel.h"

struct fit_aliases_spec {
    const struct fit_kernel *kernel;
    const struct fit_layout *layout;
    const double *theta, *lower, *upper; /* nparam */
    const double *lin;                   /* as the kernel wants it */
};

/* *which <- the parameter that the frames do not tell from its aliases, nparam: none.  Returns 1 out of memory. */
int fit_aliases(const struct fit_aliases_spec *spec, size_t *which);
