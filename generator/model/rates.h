/* rates.h -- parameters that form a rate together: amplitude time^exponent + offset, and the same with exp(exponent
 * (time - shift)). */
#pragma once

#include "model/model.h"

struct hg_rate {
    enum fit_rate_kind kind;
    uint32_t amplitude, exponent, offset; /* indices of nonlinear parameters */
    int shift;                            /* the same; -1: none */
    double time;                          /* s: the base of the power, or the argument of exp, is t / time */
};

/* Finds the rates among the functions of the frame time in the model file, for m->rate. Call it before any pass adds
 * nodes. No parameter belongs to two rates: the first in the file's order has it. */
void hg_rates_find(struct hg_model *m);
