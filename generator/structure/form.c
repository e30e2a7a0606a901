/* form.c -- basis functions, rest, channels and cross moments, separated and factored. */
#include "structure/form.h"

#include "base/diag.h"
#include "structure/factor.h"
#include "structure/terms.h"

#include <string.h>

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

/* 1 when a parameter or setting is read outside of the scalars and tables, which are computed before the pairs. */
static int reads_parameters(const struct hg_expr *e, hg_id root)
{
    HG_SCRATCH unsigned char *need = hg_zeros(root + 1, 1);
    need[root] = 1;
    for (hg_id id = root; id > 0; id--) {
        const struct hg_node *n = hg_at(e, id);
        if (need[id] && (n->op == HG_PARAM || n->op == HG_SETTING || n->op == HG_COORD))
            return 1;
        const int before = n->op == HG_LOCAL || n->op == HG_AT_I || n->op == HG_AT_J || n->op == HG_DELTA ||
                           n->op == HG_EXPD || n->op == HG_SIND || n->op == HG_COSD;
        for (uint32_t k = 0; need[id] && !before && k < n->nargs; k++)
            need[n->arg[k]] = 1;
    }
    return 0;
}

/* Factors that simplification took out of a table are scalars again. */
static hg_id without_parameters(struct hg_plan *p, hg_id x)
{
    return reads_parameters(p->e, x) ? hg_plan_bundle(p, x) : x;
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
            hg_form_strip(p->e, without_parameters(p, hg_mul(p->e, f->basis[q], f->m[c])), &x->coefficient, &x->core);
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

/* The channels m, separated and not yet factored, by fields. */
static void collect_fields(struct hg_form *f, const hg_id *m)
{
    const uint32_t E = f->p->nchannel;
    struct hg_expr *e = f->p->e;
    struct hg_terms t = {.e = e};
    for (uint32_t c = 0; c < E; c++)
        hg_terms_add(&t, c, m[c]);
    f->shared = (struct hg_shared){.nfield = t.nfield, .field = t.field};
    f->shared.coefficient = hg_alloc(e->arena, (E * t.nfield + 1) * sizeof *f->shared.coefficient);
    memset(f->shared.coefficient, 0, E * t.nfield * sizeof *f->shared.coefficient);
    for (uint32_t k = 0; k < t.nterm; k++) {
        hg_id *to = &f->shared.coefficient[t.term[k].channel * t.nfield + t.term[k].field];
        *to = *to ? hg_add(e, *to, t.term[k].coefficient) : t.term[k].coefficient;
    }
}

/* The number of groups from which on the sums over fields pay: what products cost less in a group, against what it
 * costs to make the sums of the channels' products from them; 0: there is none worth it. */
static uint32_t least_groups(const struct hg_form *f)
{
    /* in operations, as measured: a number that is stored and loaded, a coefficient */
    enum { MOST = 32, MOVED = 6, COEFFICIENT = 3 };
    const uint32_t E = f->p->nchannel, F = f->shared.nfield;
    uint32_t once = 0;
    if (F >= E)
        return 0;
    for (uint32_t c = 0; c < E; c++)
        for (uint32_t k = 0; k < F; k++)
            if (f->shared.coefficient[c * F + k])
                once += COEFFICIENT + (F + 1) + c + 1; /* times the sums of each field, then for each channel d <= c */
    once += E * (E + 1) / 2 + E + F * (F + 1) / 2 + F;
    const uint32_t saved = (E * (E + 1) - F * (F + 1)) / 2 + (E - F) * (1 + MOVED);
    const uint32_t least = once / saved + 1;
    return least <= MOST ? least : 0;
}

/* Coefficients with more than additions and multiplications of tables: they would be made twice for each pair. */
static int is_costly(const struct hg_expr *e, uint32_t n, const hg_id *root)
{
    HG_SCRATCH unsigned char *need = hg_zeros(e->n, 1);
    for (uint32_t k = 0; k < n; k++)
        need[root[k]] = 1;
    for (hg_id id = e->n - 1; id > 0; id--) {
        const struct hg_node *x = hg_at(e, id);
        if (!need[id] || !(x->vary & HG_J) || x->op == HG_AT_J || x->op == HG_DELTA || x->op == HG_EXPD ||
            x->op == HG_SIND || x->op == HG_COSD)
            continue;
        if (x->op != HG_SUM && x->op != HG_PROD)
            return 1;
        for (uint32_t k = 0; k < x->nargs; k++)
            need[x->arg[k]] = 1;
    }
    return 0;
}

/* Turns of sums: their loops stay around the channels. */
static int is_looped(const struct hg_expr *e, uint32_t n, const hg_id *root)
{
    unsigned vary = 0;
    for (uint32_t k = 0; k < n; k++)
        vary |= hg_at(e, root[k])->vary;
    return (vary & HG_K) != 0;
}

static void share_fields(struct hg_form *f, const hg_id *m)
{
    struct hg_expr *e = f->p->e;
    const uint32_t E = f->p->nchannel;
    if (f->p->model->space != FIT_PAIRS || E < 2)
        return;
    collect_fields(f, m);
    const uint32_t F = f->shared.nfield, least = least_groups(f);
    hg_id *root = hg_alloc(e->arena, (F + E * F + 1) * sizeof *root);
    uint32_t n = 0;
    for (uint32_t k = 0; k < F; k++)
        root[n++] = f->shared.field[k];
    for (uint32_t k = 0; k < E * F; k++)
        if (f->shared.coefficient[k])
            root[n++] = f->shared.coefficient[k];
    if (!least || is_costly(e, n - F, root + F) || is_looped(e, n, root)) {
        f->shared = (struct hg_shared){0};
        return;
    }
    f->shared.least = least;
    hg_factor(e, n, root);
    n = 0;
    for (uint32_t k = 0; k < F; k++)
        f->shared.field[k] = root[n++];
    for (uint32_t k = 0; k < E * F; k++)
        if (f->shared.coefficient[k])
            f->shared.coefficient[k] = root[n++];
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
    hg_id *m = hg_alloc(e->arena, (E + 1) * sizeof *m);
    memcpy(m, f->m, E * sizeof *m);
    hg_factor(e, n, root);
    share_fields(f, m);
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
