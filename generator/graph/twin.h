/* twin.h -- the graph evaluated twice at once: in double, as an emitted kernel computes it, and in extended precision
 * (extended.h) from the same inputs. The difference is the error of the kernel.
 *
 * The double side rounds every operation once, sums and products from left to right, powers and the sinc family as in
 * code.c and fit/vmath.h, without fused operations; integrals that values need are kept with their rounding remainders.
 * Where a choice depends on a comparison, both sides follow the double.
 */
#pragma once

#include "graph/eval.h"
#include "graph/extended.h"

struct hg_twin {
    double f;        /* as computed */
    struct hg_ext x; /* from the same inputs, exact to 100 bits and more */
};

struct hg_twins;

/* An evaluator for the roots. The first `nvalue` of them are values and the others derivatives. Nodes in `leaf` (may
 * be NULL) are not computed: hg_twins_bind sets their values. */
struct hg_twins *hg_twins_new(const struct hg_expr *e, uint32_t nroot, const hg_id *root, uint32_t nvalue,
                              uint32_t nleaf, const hg_id *leaf);
void hg_twins_free(struct hg_twins *t);

/* Sets a leaf of the last argument of hg_twins_new: an exact number that does not vary with frames. */
void hg_twins_bind(struct hg_twins *t, hg_id leaf, double value);

/* Evaluates everything at p; or only the nodes that vary with the pair or the row (after hg_twins_run at the same
 * tables). */
void hg_twins_run(struct hg_twins *t, const struct hg_point *p);
void hg_twins_pair(struct hg_twins *t, const struct hg_point *p);

struct hg_twin hg_twins_get(const struct hg_twins *t, hg_id id, size_t k);

/* Slopes of a root by all nodes below it, by one backward sweep (Linnainmaa 1970), from the exact values. They stay
 * until the next call. */
void hg_twins_sweep(struct hg_twins *t, hg_id root);

/* d root / d node at frame k, or turns of sums, after hg_twins_sweep. */
double hg_twins_slope(const struct hg_twins *t, hg_id node, size_t k);

/* sum over the inputs of |input d root / d input|, after hg_twins_sweep: the effect of rounding the inputs on the
 * root, in units of 2^-53 (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 1.6). Literals of
 * the model do not count. */
double hg_twins_condition(const struct hg_twins *t);

/* The node that loses the digits of the root last swept: the one whose own operation, applied to correctly rounded
 * operands, does most harm (local error: Panchekha et al., PLDI 2015, Herbie). ulp: its local error, relative to its
 * own value. 0 when no node stands out. */
hg_id hg_twins_culprit(struct hg_twins *t, hg_id root, double *ulp);

/* From a root that is not finite in double to the node that causes it: the operands of that node are finite. The
 * path runs through nodes that are not finite, and follows choices along the branch that was taken. *line (may be
 * NULL): line of that node; if several lines share the node, the one on the path. */
hg_id hg_twins_undefined(const struct hg_twins *t, hg_id root, uint32_t *line);
