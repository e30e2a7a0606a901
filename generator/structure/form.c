/* form.c -- basis functions, rest, channels and cross moments, separated and factored. */
#include "structure/form.h"

#include "base/diag.h"
#include "structure/factor.h"

void hg_form_strip(struct hg_expr *e, hg_id x, hg_id *coefficient, hg_id *core)
{
    const struct hg_node n = *hg_at(e, x);
    hg_id *in = hg_alloc(e->arena, (n.nargs + 1) * sizeof *in), *out = hg_alloc(e->arena, (n.nargs + 1) * sizeof *out);
    uint32_t nin = 0, nout = 0;
    *coefficient = hg_const(e, 1.0);
    *core = x;
    if (n.op != HG_PROD)
        return;
    for (uint32_t k = 0; k < n.nargs; k++) {
        if (hg_at(e, n.arg[k])->vary & ~(unsigned)HG_G)
            in[nin++] = n.arg[k];
        else
            out[nout++] = n.arg[k];
    }
    if (nin == 0 || nout == 0)
        return;
    *core = nin == 1 ? in[0] : hg_raw(e, HG_PROD, nin, in);
    *coefficient = nout == 1 ? out[0] : hg_raw(e, HG_PROD, nout, out);
}

struct hg_form *hg_form_separate(struct hg_plan *p)
{
    struct hg_arena *a = p->e->arena;
    uint32_t Q = p->nlinear, E = p->nchannel;
    struct hg_form *f = hg_alloc(a, sizeof *f);
    f->p = p;
    f->basis = hg_alloc(a, (Q + 1) * sizeof *f->basis);
    f->m = hg_alloc(a, (E + 1) * sizeof *f->m);
    f->moment = hg_alloc(a, (Q * E + 1) * sizeof *f->moment);
    for (uint32_t q = 0; q < Q; q++)
        f->basis[q] = hg_separate(p, p->basis[q], &f->separation);
    f->rest = hg_separate(p, p->rest, &f->separation);
    for (uint32_t c = 0; c < E; c++)
        f->m[c] = hg_separate(p, p->channel[c].m, &f->separation);
    for (uint32_t q = 0; q < Q && p->model->space == FIT_PAIRS; q++) /* rows: products are added directly */
        for (uint32_t c = 0; c < E; c++) {
            struct hg_moment *x = &f->moment[f->nmoment++];
            *x = (struct hg_moment){.q = q, .channel = c};
            hg_form_strip(p->e, hg_mul(p->e, f->basis[q], f->m[c]), &x->coefficient, &x->core);
        }
    return f;
}

/* Moments with the same core and kind of channel share a slot. */
static void number_slots(struct hg_form *f)
{
    struct hg_moment *x = f->moment;
    hg_id top = 0;
    for (uint32_t k = 0; k < f->nmoment; k++)
        top = x[k].core > top ? x[k].core : top;
    /* the last moment with its own slot of each core, and the previous one; 0: none */
    HG_SCRATCH uint32_t *last = hg_zeros(top + 1, sizeof *last);
    HG_SCRATCH uint32_t *before = hg_zeros(f->nmoment + 1, sizeof *before);
    for (uint32_t k = 0; k < f->nmoment; k++) {
        uint32_t m = last[x[k].core];
        while (m && f->p->channel[x[m - 1].channel].kind != f->p->channel[x[k].channel].kind)
            m = before[m - 1];
        if (m) {
            x[k].slot = x[m - 1].slot;
            continue;
        }
        x[k].slot = f->nslot++;
        before[k] = last[x[k].core];
        last[x[k].core] = k + 1;
    }
}

void hg_form_factor(struct hg_form *f)
{
    struct hg_expr *e = f->p->e;
    uint32_t Q = f->p->nlinear, E = f->p->nchannel, n = 0;
    hg_id *root = hg_alloc(e->arena, (Q + 1 + E + Q * E) * sizeof *root);
    for (uint32_t q = 0; q < Q; q++)
        root[n++] = f->basis[q];
    root[n++] = f->rest;
    for (uint32_t c = 0; c < E; c++)
        root[n++] = f->m[c];
    for (uint32_t k = 0; k < f->nmoment; k++)
        root[n++] = f->moment[k].core;
    hg_factor(e, n, root);
    n = 0;
    for (uint32_t q = 0; q < Q; q++) {
        f->basis[q] = root[n++];
        if (hg_at(e, f->basis[q])->nargs)
            hg_name(e, f->basis[q], hg_format(e->arena, "b_%s", f->p->model->linear.item[q].name));
    }
    f->rest = root[n++];
    for (uint32_t c = 0; c < E; c++)
        f->m[c] = root[n++];
    for (uint32_t k = 0; k < f->nmoment; k++)
        f->moment[k].core = root[n++];
    number_slots(f);
}

const struct hg_moment *hg_form_slot(const struct hg_form *f, uint32_t slot)
{
    for (uint32_t k = 0; k < f->nmoment; k++)
        if (f->moment[k].slot == slot)
            return &f->moment[k];
    hg_bug("form: no such slot");
}

enum hg_channel_kind hg_form_slot_kind(const struct hg_form *f, uint32_t slot)
{
    return f->p->channel[hg_form_slot(f, slot)->channel].kind;
}

/* Parameters whose tables the slot is multiplied by (those of all its channels). */
int hg_form_slot_uses(const struct hg_form *f, uint32_t slot, uint32_t channel, uint32_t k)
{
    for (uint32_t m = 0; m < f->nmoment; m++)
        if (f->moment[m].slot == slot && f->moment[m].channel == channel && f->p->channel[channel].table[k])
            return 1;
    return 0;
}
