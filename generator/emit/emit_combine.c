/* emit_combine.c -- combine: the combinations of parameters that stay determined (degenerate.h), with their
 * derivatives.
 */
#include "emit/emit.h"

void hg_emit_combine(struct hg_emit *em, const struct hg_degeneracies *d, struct hg_tree *out)
{
    uint32_t n = d->ncombination, K = em->p->nparam, nroot = 0;
    hg_id *root = hg_alloc(em->e->arena, ((size_t)n * (K + 1) + 1) * sizeof *root);
    if (n == 0)
        return;
    for (uint32_t k = 0; k < n; k++)
        root[nroot++] = d->combination[k].id;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < K; i++)
            root[nroot++] = hg_diff(em->e, d->combination[k].id, em->p->param[i]);
    const char *const *reserve;
    uint32_t nreserve = hg_emit_names(em, &reserve);
    struct hg_code c = {.e = em->e, .out = out, .indent = 1, .leaf = hg_emit_common_leaf, .is_leaf = hg_code_is_symbol,
                        .reserve = reserve, .nreserve = nreserve, .nparam = K, .user = em};
    hg_code_begin(&c, nroot, root);
    hg_open_function(out, "static void", "combine",
                "const struct fit_layout *l, const double *theta, double *value, double *gradient");
    hg_define(out, "g", "    const size_t g = 0;\n");
    hg_emit_declare_names(em, out);
    hg_code_push(&c);
    for (uint32_t k = 0; k < n; k++) {
        hg_code_need(&c, root[k]);
        hg_line(&c, "value[%u] = %s;", k, hg_code_text(&c, root[k]));
    }
    hg_line(&c, "for (size_t k = 0; k < %u; k++)\n        gradient[k] = 0.0;", n * K);
    for (uint32_t k = n; k < nroot; k++) {
        if (hg_is_value(em->e, root[k], 0.0))
            continue;
        hg_code_need(&c, root[k]);
        hg_line(&c, "gradient[%u] = %s;", k - n, hg_code_text(&c, root[k]));
    }
    hg_code_pop(&c);
    hg_code_end(&c);
    hg_put(out, "}\n");
}
