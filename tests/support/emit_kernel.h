/* emit_kernel.h -- from a model to the text of its kernel, for tests: the passes of the compiler's main() without those
 * that judge. */
#ifndef TESTS_EMIT_KERNEL_H
#define TESTS_EMIT_KERNEL_H

#include "generator/emit/emit.h"
#include "generator/language/dsl.h"

static inline int emit_kernel(struct hg_model *m, int hessian, struct hg_diag *d, FILE *out)
{
    const struct hg_variant *v = hg_model_variant(m, "fast");
    struct hg_plan *plan = hg_plan_new(m, v, d);
    if (!plan)
        return 0;
    struct hg_form *form = hg_form_separate(plan);
    hg_form_factor(form);
    struct hg_emit *em = hg_emit_functions(form, v, hessian);
    const struct hg_analysis found = {.degenerate = hg_degenerate(m, v), .cost = em->cost};
    hg_emit_file(em, &found, out);
    return 1;
}

#endif
