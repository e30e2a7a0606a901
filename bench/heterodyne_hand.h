/* heterodyne_hand.h -- normal equations of models/heterodyne.lua written by hand, see
 * heterodyne_hand.c. */
#ifndef HETERODYNE_HAND_H
#define HETERODYNE_HAND_H

#include <stddef.h>

#include "fit/kernel.h"

struct heterodyne_hand; /* tables over the frames */

/* l: all frames of an even grid, the groups' azimuths (degrees) as coord[0].  NULL: no memory. */
struct heterodyne_hand *heterodyne_hand_new(const struct fit_layout *l);
void heterodyne_hand_free(struct heterodyne_hand *x);

/* Tables and tangent tables at theta, in the order of the model's parameters; q in 1/angstrom. */
void heterodyne_hand_prepare(struct heterodyne_hand *x, const double theta[14], double q);

/* What fit_kernel.normal gives for a tile without weights, in the same order; lin: contrast and
 * offset of each group. */
void heterodyne_hand_normal(struct heterodyne_hand *x, const double *lin, const struct fit_tile *t,
                            double *out);

#endif
