/* arrange.c -- the plan's expressions in the form in which they are written.
 *
 * Basis functions, rest and channels are separated (separate.h) and factored (factor.h) together, with the
 * cores of the cross moments sum b_q m_k.  The cross moments are needed per group; equal cores share a slot.
 */
#include "emit/emit.h"

void hg_emit_strip(struct hg_emit *em, hg_id x, hg_id *coefficient, hg_id *core)
{
    const struct hg_node n = *hg_at(em->e, x);
    hg_id *in = hg_alloc(em->e->arena, (n.nargs + 1) * sizeof *in),
          *out = hg_alloc(em->e->arena, (n.nargs + 1) * sizeof *out);
    uint32_t nin = 0, nout = 0;
    *coefficient = hg_const(em->e, 1.0);
    *core = x;
    if (n.op != HG_PROD)
        return;
    for (uint32_t k = 0; k < n.nargs; k++) {
        if (hg_at(em->e, n.arg[k])->vary & ~(unsigned)HG_G)
            in[nin++] = n.arg[k];
        else
            out[nout++] = n.arg[k];
    }
    if (nin == 0 || nout == 0)
        return;
    *core = nin == 1 ? in[0] : hg_raw(em->e, HG_PROD, nin, in);
    *coefficient = nout == 1 ? out[0] : hg_raw(em->e, HG_PROD, nout, out);
}

void hg_emit_arrange(struct hg_emit *em)
{
    struct hg_plan *p = em->p;
    struct hg_expr *e = em->e;
    uint32_t Q = p->nlinear, E = p->nchannel, nroot = 0;
    hg_id *root = hg_alloc(e->arena, (Q + 1 + E + Q * E) * sizeof *root);
    em->basis = hg_alloc(e->arena, (Q + 1) * sizeof *em->basis);
    em->m = hg_alloc(e->arena, (E + 1) * sizeof *em->m);
    em->moment = hg_alloc(e->arena, (Q * E + 1) * sizeof *em->moment);
    for (uint32_t q = 0; q < Q; q++)
        root[nroot++] = em->basis[q] = hg_separate(p, p->basis[q], &em->separation);
    root[nroot++] = em->rest = hg_separate(p, p->rest, &em->separation);
    for (uint32_t c = 0; c < E; c++)
        root[nroot++] = em->m[c] = hg_separate(p, p->channel[c].m, &em->separation);
    for (uint32_t q = 0; q < Q; q++)
        for (uint32_t c = 0; c < E; c++) {
            struct hg_moment *x = &em->moment[em->nmoment++];
            x->q = q;
            x->channel = c;
            hg_emit_strip(em, hg_mul(e, em->basis[q], em->m[c]), &x->coefficient, &x->core);
            root[nroot++] = x->core;
        }
    hg_factor(e, nroot, root);
    nroot = 0;
    for (uint32_t q = 0; q < Q; q++) {
        em->basis[q] = root[nroot++];
        if (hg_at(e, em->basis[q])->nargs)
            hg_name(e, em->basis[q], hg_format(e->arena, "b_%s", p->model->linear.item[q].name));
    }
    em->rest = root[nroot++];
    for (uint32_t c = 0; c < E; c++)
        em->m[c] = root[nroot++];
    uint32_t slots = 0;
    for (uint32_t k = 0; k < em->nmoment; k++) {
        struct hg_moment *x = &em->moment[k];
        x->core = root[nroot++];
        x->slot = slots;
        for (uint32_t m = 0; m < k; m++)
            if (em->moment[m].core == x->core &&
                p->channel[em->moment[m].channel].kind == p->channel[x->channel].kind)
                x->slot = em->moment[m].slot;
        slots += x->slot == slots;
    }
}

uint32_t hg_emit_nslot(const struct hg_emit *em)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < em->nmoment; k++)
        n = em->moment[k].slot >= n ? em->moment[k].slot + 1 : n;
    return n;
}

const struct hg_moment *hg_emit_slot(const struct hg_emit *em, uint32_t s)
{
    for (uint32_t k = 0; k < em->nmoment; k++)
        if (em->moment[k].slot == s)
            return &em->moment[k];
    hg_bug("emit: no such slot");
}

enum hg_channel_kind hg_emit_slot_kind(const struct hg_emit *em, uint32_t s)
{
    return em->p->channel[hg_emit_slot(em, s)->channel].kind;
}

/* Parameters whose tables the slot is multiplied by (those of all its channels). */
int hg_emit_slot_uses(const struct hg_emit *em, uint32_t s, uint32_t channel, uint32_t k)
{
    for (uint32_t m = 0; m < em->nmoment; m++)
        if (em->moment[m].slot == s && em->moment[m].channel == channel && em->p->channel[channel].table[k])
            return 1;
    return 0;
}
