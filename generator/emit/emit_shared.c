/* emit_shared.c -- sums over many groups by the fields that channels share; see emit_contract.h.
 *
 * With m_c = sum_f C_cf F_f, where C does not depend on the group,
 *     sum_g m_c m_d = sum_f C_cf sum_h C_dh S_fh,    S_fh = sum_g F_f F_h,
 * and the same with the residual in place of m_d. The sums over f are taken once for each c: T_ch = sum_f C_cf S_fh.
 */
#include "emit/emit_contract.h"

uint32_t hg_shared_roots(const struct hg_emit *em, hg_id *root)
{
    const struct hg_shared *s = &em->form->shared;
    for (uint32_t f = 0; f < s->nfield; f++)
        root[f] = s->field[f];
    return s->nfield;
}

void hg_shared_store(struct hg_emit *em, struct hg_code *c)
{
    const struct hg_shared *s = &em->form->shared;
    for (uint32_t f = 0; f < s->nfield; f++)
        hg_do(c->out, "at_m[%u] = fit_weighted(masked, root, fit_kept(masked, use, %s));", f,
              hg_code_vector(c, s->field[f]));
    hg_do(c->out, "at_m[%u] = fit_weighted(masked, root, r);", s->nfield);
}

static const char *coefficient(struct hg_emit *em, uint32_t c, uint32_t f)
{
    return hg_format(em->e->arena, "c_%s_%u", em->p->channel[c].name, f);
}

static hg_id coefficient_id(const struct hg_emit *em, uint32_t c, uint32_t f)
{
    return em->form->shared.coefficient[c * em->form->shared.nfield + f];
}

/* sum_f C_cf X_f, where X_f is text(f, with). */
typedef const char *text_of(struct hg_arena *a, uint32_t f, uint32_t with);

static const char *combination(struct hg_emit *em, uint32_t c, text_of *text, uint32_t with)
{
    struct hg_arena *a = em->e->arena;
    const char *sum = NULL;
    for (uint32_t f = 0; f < em->form->shared.nfield; f++) {
        const hg_id id = coefficient_id(em, c, f);
        if (!id)
            continue;
        const char *x = text(a, f, with);
        const char *term = hg_is_value(em->e, id, 1.0) ? x : hg_format(a, "%s*%s", coefficient(em, c, f), x);
        sum = sum ? hg_format(a, "%s + %s", sum, term) : term;
    }
    return sum;
}

static const char *of_fields(struct hg_arena *a, uint32_t f, uint32_t h)
{
    return f < h ? hg_format(a, "s_%u_%u", f, h) : hg_format(a, "s_%u_%u", h, f);
}

static const char *of_channel(struct hg_arena *a, uint32_t f, uint32_t c)
{
    return hg_format(a, "t_%u_%u", c, f);
}

/* Is T_cf needed: has a channel from c on this field? */
static int needed(const struct hg_emit *em, uint32_t c, uint32_t f)
{
    for (uint32_t d = c; d < em->p->nchannel; d++)
        if (coefficient_id(em, d, f))
            return 1;
    return 0;
}

static void declare_coefficients(struct hg_emit *em, struct hg_code *c)
{
    for (uint32_t d = 0; d < em->p->nchannel; d++)
        for (uint32_t f = 0; f < em->form->shared.nfield; f++) {
            const hg_id id = coefficient_id(em, d, f);
            if (!id || hg_is_value(em->e, id, 1.0))
                continue;
            hg_code_need(c, id);
            hg_declare(c->out, "const fit_vd", "%s = fit_kept(masked, lanes, %s);", coefficient(em, d, f),
                       hg_code_vector(c, id));
        }
}

static void combine(struct hg_emit *em, struct hg_tree *out)
{
    const uint32_t E = em->p->nchannel, F = em->form->shared.nfield;
    for (uint32_t f = 0; f < F; f++)
        for (uint32_t h = f; h <= F; h++)
            hg_declare(out, "const fit_vd", "s_%u_%u = field[%u];", f, h, hg_contract_place(F, f, h));
    for (uint32_t c = 0; c < E; c++) {
        for (uint32_t h = 0; h < F; h++)
            if (needed(em, c, h))
                hg_declare(out, "const fit_vd", "t_%u_%u = %s;", c, h, combination(em, c, of_fields, h));
        for (uint32_t d = c; d < E; d++)
            hg_do(out, "field[%u] = %s; /* %s */", hg_contract_field(em, c, d), combination(em, d, of_channel, c),
                  hg_contract_field_name(em, c, d));
        hg_do(out, "field[%u] = %s; /* %s */", hg_contract_field(em, c, E), combination(em, c, of_fields, F),
              hg_contract_field_name(em, c, E));
    }
}

void hg_shared_function(struct hg_emit *em, struct hg_block *b, struct hg_tree *out)
{
    const uint32_t E = em->p->nchannel, F = em->form->shared.nfield;
    uint32_t n = 0;
    hg_id *root = hg_alloc(em->e->arena, (E * F + 1) * sizeof *root);
    for (uint32_t k = 0; k < E * F; k++)
        if (em->form->shared.coefficient[k])
            root[n++] = em->form->shared.coefficient[k];
    struct hg_code c = hg_block_begin(em, b, out, n, root);
    hg_put(out, "/* Pairs (i, 8b .. 8b+7): sums over the groups of products of two channels, from those of products\n"
                " * of two of the numbers that channels share. */\n");
    hg_open_function(out, "FIT_HUGE void", "shared_fields",
                     "const struct fit_layout *l, const struct tables *w, const struct fit_exp_tile *exps, "
                     "const struct fit_tile *t, size_t i, size_t b, size_t h, const int masked, "
                     "fit_vd *restrict field");
    hg_block_head(out, 0);
    hg_offer(out, "const fit_vm", "lanes = masked ? fit_pair_lanes(t, i, j) : (fit_vm){0};");
    hg_code_push(&c);
    declare_coefficients(em, &c);
    combine(em, out);
    hg_code_pop(&c);
    hg_code_end(&c);
    hg_close_function(out);
}
