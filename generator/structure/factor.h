/* factor.h -- last arrangement of expressions before they are written: by loop, then by common factors.
 *
 * Sums and products are split by the loop in which their operands live -- scalars of the call or group; pair (no
 * group); pair and group -- so that each part is computed in the outermost loop that allows it. Then products that
 * share factors share sub-products: the most frequent pair of factors is given a node of its own, repeatedly (Breuer's
 * greedy factoring, CACM 12 (1969) 333). Integer powers count as repeated factors, so x^4 = (x^2)^2 results without a
 * special rule.
 *
 * The nodes made are raw: the simplifying constructors would undo them.
 */
#pragma once

#include "graph/expr.h"

/* Rearranges the n roots together; root[k] is replaced. */
void hg_factor(struct hg_expr *e, uint32_t n, hg_id *root);
