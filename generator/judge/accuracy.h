/* accuracy.h -- the worst rounding error of a model: of its mean and of each derivative, over its box.
 *
 * An error is |computed - exact| in ulp, 1 ulp = 2^-52 of the largest of
 *   the value;
 *   the effect of a relative change of 1 in the inputs on it, sum over inputs |x d value / d x|: the formula is not
 *   responsible for an error that rounding the inputs causes as well (Higham 2002, section 1.6);
 *   for derivatives, the largest value of the same derivative among the points of the same parameter set (a fit
 *   sees columns), and the mean divided by the size of the parameter (its value or start, whichever is
 *   larger): a change that moves a prediction by less than an ulp moves no fit.
 * Derivatives are left out where rounding the parameter itself changes the mean by its whole size. Rounding alone gives
 * 0.5, a function 0.5 to 2, a product of n factors up to n/2. Values are computed as in the emitted direct formula
 * (twin.h), at the points of sample_points.h.
 */
#pragma once

#include <stdio.h>

#include "judge/sample_points.h"
#include "base/diag.h"
#include "graph/twin.h"

#define HG_ACCURACY_BOUND 64.0 /* ulp, of the mean: 1.4e-14 */
/* Derivatives may be worse by this factor: 6e-11. They determine the steps of a fit, not its result; an error of
 * that size does not slow convergence noticeably. */
#define HG_ACCURACY_SLACK 4096.0

struct hg_worst {
    const char *name;      /* "c2", "d c2/d alpha" */
    hg_id root;
    double ulp;            /* at declared points; 0 when there is none */
    uint32_t sample, place;
    double guessed;        /* at all places */
    unsigned long undefined; /* declared points where the mean or this derivative is not finite in double */
    unsigned long guessed_undefined; /* guessed rows where the mean is finite and this derivative is not */
    uint32_t bad_sample, bad_place; /* the first of them, those of random() before the others */
};

struct hg_accuracy {
    struct hg_places *box;
    struct hg_worst *output; /* the mean, then by parameters, then by linear parameters */
    uint32_t n;
    unsigned long places;
    double bound;
};

/* Measures a mean of the model; lives in the arena. */
struct hg_accuracy *hg_accuracy_measure(struct hg_model *m, hg_id mean, struct hg_places *box);

/* A table: output, worst error, where. `prefix` starts each line. */
void hg_accuracy_print(const struct hg_accuracy *a, const char *prefix, int width, FILE *out);

/* Reports errors for outputs that are above the bound, or not finite where the model says it can be fitted: the
 * point, and the operation that loses the digits. Returns 1 when there are none, or when the model allows any error. */
int hg_accuracy_judge(struct hg_model *m, const struct hg_accuracy *a, struct hg_diag *d);
