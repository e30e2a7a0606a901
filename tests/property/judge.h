/* judge.h -- a kernel judged by the interpreter: the products at given parameters.
 *
 *     points    mean and derivatives at all pairs, in either order, against dual numbers
 *     model     against the same, in the order of a tile
 *     moments, normal     against long double sums over the reference values
 *     hessian, second     when the kernel has them, at some points: against dual numbers of the first
 *                         derivatives
 */
#ifndef JUDGE_H
#define JUDGE_H

#include "fit/kernel.h"
#include "generator/graph/eval.h"
#include "generator/model/model.h"
#include "property/random.h"

enum judge_product {
    JUDGE_POINTS,
    JUDGE_JACOBIAN,
    JUDGE_MODEL,
    JUDGE_MOMENTS,
    JUDGE_NORMAL,
    JUDGE_HESSIAN,
    JUDGE_SECOND,
    JUDGE_PRODUCTS
};
extern const char *const judge_name[JUDGE_PRODUCTS];

/* Errors found so far, in units of the running error bound. */
struct judge_report {
    double worst[JUDGE_PRODUCTS];
    unsigned long compared;
};

struct judge;

/* The reference of a model (its variant "fast").  Call after the kernel has been emitted. */
struct judge *judge_new(struct hg_model *m, int hessian);
void judge_free(struct judge *j);

/* Draws a geometry (frames, masks, groups, tiles) and parameters, and compares everything.  edges:
 * parameters stand on bounds.  Returns NULL, or what was wrong (until the next call). */
const char *judge_case(struct judge *j, const struct fit_kernel *k, struct random *r, int edges,
                       struct judge_report *report);

/* The same for `model` alone. */
const char *judge_values(struct judge *j, const struct fit_kernel *k, struct random *r, int edges,
                         struct judge_report *report);

#endif
