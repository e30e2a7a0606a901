/* rates.h -- parameters that make a rate together: amplitude time^exponent + offset. */
#ifndef HG_RATES_H
#define HG_RATES_H

#include "model.h"

struct hg_rate {
    uint32_t amplitude, exponent, offset; /* indices of nonlinear parameters */
    double time;                          /* s: the base of the power is t / time */
};

/* Finds the rates among the functions of the frame time that the model file wrote, for m->rate.  To be called
 * before any pass adds nodes.  No parameter belongs to two rates: the first in the file's order has it. */
void hg_rates_find(struct hg_model *m);

#endif
