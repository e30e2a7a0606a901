/* emit_combine.c -- numbers that follow from parameters, with their derivatives: combine, the combinations of
 * parameters that stay determined (degenerate.h); derive, the derived quantities of the model.
 */
#include "emit/emit.h"

/* Linear parameters stand in an array lin over all groups. */
static const char *leaf(struct hg_code *c, hg_id id)
{
    const struct hg_emit *em = c->user;
    const struct hg_node *n = hg_at(c->e, id);
    return n->op == HG_LINEAR ? hg_format(c->e->arena, "lin[g * %u + %u]", em->p->nlinear, n->ref)
                              : hg_emit_common_leaf(c, id);
}

/* Function `name` of n numbers: value[n], and gradient, n rows: derivatives by the nonlinear parameters and by the
 * linear ones of a group. */
static void write_numbers(struct hg_emit *em, const char *name, const char *arguments, uint32_t n, const hg_id *number,
                          int of_group, struct hg_tree *out)
{
    const uint32_t K = em->p->nparam, by = of_group ? K + em->p->nlinear : K;
    uint32_t nroot = 0;
    hg_id *root = hg_alloc(em->e->arena, ((size_t)n * (by + 1) + 1) * sizeof *root);
    for (uint32_t k = 0; k < n; k++)
        root[nroot++] = number[k];
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < by; i++)
            root[nroot++] = hg_diff(em->e, number[k], i < K ? em->p->param[i] : em->p->linear[i - K]);
    const char *const *reserve;
    uint32_t nreserve = hg_emit_names(em, &reserve);
    struct hg_code c = {.e = em->e, .out = out, .leaf = leaf, .is_leaf = hg_code_is_symbol,
                        .reserve = reserve, .nreserve = nreserve, .nparam = K, .user = em};
    hg_code_begin(&c, nroot, root);
    hg_open_function(out, "static void", name, arguments);
    if (!of_group)
        hg_offer(out, "const size_t", "g = 0;");
    hg_emit_declare_names(em, out);
    hg_code_push(&c);
    for (uint32_t k = 0; k < n; k++) {
        hg_code_need(&c, root[k]);
        hg_do(c.out, "value[%u] = %s;", k, hg_code_text(&c, root[k]));
    }
    if (of_group)
        hg_line(c.out, "if (!gradient)\n    return;");
    hg_line(c.out, "for (size_t k = 0; k < %u; k++)\n    gradient[k] = 0.0;", n * by);
    for (uint32_t k = n; k < nroot; k++) {
        if (hg_is_value(em->e, root[k], 0.0))
            continue;
        hg_code_need(&c, root[k]);
        hg_do(c.out, "gradient[%u] = %s;", k - n, hg_code_text(&c, root[k]));
    }
    hg_code_pop(&c);
    hg_code_end(&c);
    hg_close(out);
}

void hg_emit_combine(struct hg_emit *em, const struct hg_degeneracies *d, struct hg_tree *out)
{
    hg_id *number = hg_alloc(em->e->arena, (d->ncombination + 1) * sizeof *number);
    if (d->ncombination == 0)
        return;
    for (uint32_t k = 0; k < d->ncombination; k++)
        number[k] = d->combination[k].id;
    write_numbers(em, "combine", "const struct fit_layout *l, const double *theta, double *value, double *gradient",
                  d->ncombination, number, 0, out);
}

void hg_emit_derive(struct hg_emit *em, struct hg_tree *out)
{
    const struct hg_list *list = &em->p->model->derived;
    hg_id *number = hg_alloc(em->e->arena, (list->n + 1) * sizeof *number);
    if (list->n == 0)
        return;
    for (uint32_t k = 0; k < list->n; k++)
        number[k] = list->item[k].node;
    write_numbers(em, "derive",
                  "const struct fit_layout *l, const double *theta, const double *lin, size_t g, double *value, "
                  "double *gradient",
                  list->n, number, 1, out);
}
