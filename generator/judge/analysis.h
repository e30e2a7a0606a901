/* analysis.h -- the results of passes about a variant of a model. They are kept apart from the model, which holds only
 * the declarations of its file.
 */
#pragma once

#include "judge/accuracy.h"
#include "judge/degenerate.h"
#include "judge/rule_error.h"

struct hg_analysis {
    const struct hg_accuracy *accuracy;       /* worst rounding errors (stability.h); NULL: not measured */
    const struct hg_degeneracies *degenerate; /* parameters that data cannot distinguish (degenerate.h); NULL: not
                                               * searched for */
    const struct hg_rule_error *rules;        /* of integrals (rule_error.h); NULL: not measured */
    struct fit_cost cost;                     /* of the kernel, once its functions are written */
};
