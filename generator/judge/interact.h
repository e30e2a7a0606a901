/* interact.h -- which parameters of a mean interact.
 *
 * Two parameters do not interact when the mean is a sum of terms none of which contains both: then the mean is g(k,
 * ...) + h(l, ...), and the effect of a map on k says nothing about l. A model of many peaks is such a sum; its maps
 * are tried within a peak instead of among all parameters.
 */
#pragma once

#include "judge/degenerate.h"

struct hg_interaction {
    uint32_t n;
    unsigned char *may;  /* n x n: 1 when some term of the mean contains both */
    unsigned char *does; /* n x n: 1 when some mixed second difference of the mean did not vanish */
};

/* At the first two random sets; in the arena of the model. */
struct hg_interaction hg_interact(const struct hg_probe *p);

static inline int hg_may_interact(const struct hg_interaction *x, uint32_t k, uint32_t l)
{
    return x->may[(size_t)k * x->n + l];
}

static inline int hg_does_interact(const struct hg_interaction *x, uint32_t k, uint32_t l)
{
    return x->does[(size_t)k * x->n + l];
}
