/* analysis.h -- what the passes find out about a variant of a model: facts beside the model, which stays what its file
 * declares.
 */
#pragma once

#include "judge/accuracy.h"
#include "judge/degenerate.h"
#include "judge/rule_error.h"

struct hg_analysis {
    const struct hg_accuracy *accuracy;       /* worst rounding errors (stability.h); NULL: not measured */
    const struct hg_degeneracies *degenerate; /* what data cannot tell apart (degenerate.h); NULL: not looked for */
    const struct hg_rule_error *rules;        /* of integrals (rule_error.h); NULL: not measured */
    struct fit_cost cost;                     /* of the kernel, once its functions are written */
};
