/* explain.c -- the compiler's results: operation counts, dependences, factorisations. */
#include <math.h>
#include <string.h>

#include "emit/emit_contract.h"

enum { BIG = HG_I | HG_J | HG_R };

/* Operations below the roots, by loop; nodes are counted once. */
struct count {
    unsigned pair, pair_group, calls;
};

static unsigned operations(const struct hg_expr *e, const struct hg_node *n)
{
    double b;
    switch (n->op) {
    case HG_SUM:
    case HG_PROD: return n->nargs - 1;
    case HG_POW: return hg_is_const(e, n->arg[1], &b) && b > 0 && b <= 4 ? (unsigned)b - 1 : 1;
    case HG_DELTA:
    case HG_EXPD:
    case HG_LT:
    case HG_LE: return 1;
    case HG_SIND:
    case HG_COSD: return 2;
    default: return 1;
    }
}

/* Is it a call of a function: exp, sin, a power that is neither a root nor a short product? */
static int is_call(const struct hg_expr *e, const struct hg_node *n)
{
    double b;
    if (n->op == HG_POW)
        return !hg_is_const(e, n->arg[1], &b) || (fabs(b) != 0.5 && (b != floor(b) || fabs(b) > 4));
    return n->op >= HG_EXP && n->op <= HG_ATAN2 && n->op != HG_ABS && n->op != HG_SIGN;
}

static struct count count(const struct hg_expr *e, uint32_t n, const hg_id *root)
{
    struct count c = {0, 0, 0};
    HG_SCRATCH unsigned char *need = hg_zeros(e->n, 1);
    for (uint32_t k = 0; k < n; k++)
        need[root[k]] = 1;
    for (hg_id id = e->n - 1; id > 0; id--) {
        const struct hg_node *x = hg_at(e, id);
        int leaf = x->op == HG_AT_I || x->op == HG_AT_J || x->op == HG_DELTA || x->op == HG_EXPD ||
                   x->op == HG_SIND || x->op == HG_COSD;
        if (!need[id] || !(x->vary & BIG))
            continue;
        if (x->nargs && x->op != HG_AT_I && x->op != HG_AT_J)
            *(x->vary & HG_G ? &c.pair_group : &c.pair) += operations(e, x);
        c.calls += (unsigned)is_call(e, x);
        for (uint32_t k = 0; k < x->nargs && !leaf; k++)
            need[x->arg[k]] = 1;
    }
    return c;
}

/* Approximate number of calls of vector functions in a kernel: those of frames stand in prepare, those of pairs and
 * rows in moments, normal, gradient and model. */
unsigned hg_count_calls(const struct hg_emit *em)
{
    const struct hg_plan *p = em->p;
    HG_SCRATCH unsigned char *need = hg_zeros(em->e->n, 1);
    unsigned n = 0;
    for (uint32_t q = 0; q < p->nlinear; q++)
        need[em->form->basis[q]] = 1;
    need[em->form->rest] = 1;
    for (uint32_t c = 0; c < p->nchannel; c++) {
        need[em->form->m[c]] = 1;
        for (uint32_t k = 0; k < p->nparam; k++)
            need[p->channel[c].table[k]] = 1;
    }
    for (hg_id id = em->e->n - 1; id > 0; id--) {
        const struct hg_node *x = hg_at(em->e, id);
        for (uint32_t k = 0; need[id] && k < x->nargs; k++)
            need[x->arg[k]] = 1;
        if (need[id] && (x->vary & (BIG | HG_T)) && is_call(em->e, x))
            n += x->vary & BIG ? 4 : 1;
    }
    return n;
}

void hg_count_cost(struct hg_emit *em)
{
    uint32_t Q = em->p->nlinear, E = em->p->nchannel, n = 0;
    hg_id *root = hg_alloc(em->e->arena, (Q + 1 + E + em->form->nmoment) * sizeof *root);
    for (uint32_t q = 0; q < Q; q++)
        root[n++] = em->form->basis[q];
    root[n++] = em->form->rest;
    struct count value = count(em->e, n, root);
    for (uint32_t e = 0; e < E; e++)
        root[n++] = em->form->m[e];
    unsigned calls = count(em->e, n, root).calls; /* rows have no moments of their own */
    for (uint32_t k = 0; k < em->form->nmoment; k++)
        root[n++] = em->form->moment[k].core;
    struct count all = count(em->e, n, root);
    em->cost.value_per_pair_group = value.pair_group + 2 * Q + 3;
    em->cost.per_pair_group = all.pair_group + E * (E + 1) + 2 * E + 2 * Q + 2 * em->form->nslot;
    unsigned products = 0, direct, frame = 0;
    for (uint32_t e = 0; e < E; e++)
        products += em->p->channel[e].nuse;
    products = products * (products + 3) / 2; /* tables: one channel for each parameter */
    if (em->p->model->space == FIT_PAIRS)
        hg_contract_count(hg_contract_new(em), &products, &direct);
    for (uint32_t k = 0; k < em->nfield; k++)
        frame += hg_at(em->e, em->field[k].id)->vary & HG_T ? 4 : 0;
    em->cost.per_pair = all.pair + 2 * products;
    em->cost.per_frame = frame;
    em->cost.functions_per_pair = em->p->model->space == FIT_ROWS ? calls : all.calls;
}

static const char *const channel_text[] = {"difference of tables", "table at the first frame",
                                           "table at the second frame", "once per pair"};

static const char *channel_kind(const struct hg_emit *em, uint32_t c)
{
    unsigned kind = em->p->channel[c].kind;
    return kind == HG_CHANNEL_ONE && em->p->model->space == FIT_ROWS ? "once per row" : channel_text[kind];
}

/* Products of the fields with the tables: as emitted, compared with the alternatives. */
static void explain_contraction(struct hg_emit *em, FILE *out)
{
    unsigned taken, direct, contracted = 0;
    uint32_t E = em->p->nchannel;
    hg_contract_count(hg_contract_new(em), &taken, &direct);
    for (uint32_t c = 0; c < E; c++)
        for (uint32_t d = c; d < E; d++) {
            unsigned kc = em->p->channel[c].nuse, kd = em->p->channel[d].nuse;
            contracted += (c == d ? kc : kc + kd) + 2;
        }
    fprintf(
        out,
        "products of %u fields with the tables, operations per pair: %u, with factors at one frame taken out of the\n"
        "  sums along rows and down columns; all directly %u; differences taken apart too %u, which cancels: refused\n",
        hg_contract_nfield(em), taken, direct, contracted);
}

void hg_explain(struct hg_emit *em, FILE *out)
{
    const struct hg_plan *p = em->p;
    const struct hg_model *m = p->model;
    fprintf(out, "model %s, variant %s: %u nodes\n", m->name, em->variant, em->e->n - 1);
    for (uint32_t q = 0; q < p->nlinear; q++)
        fprintf(out, "linear: %s multiplies %s\n", m->linear.item[q].name, hg_text(em->e, p->basis[q], 1));
    for (uint32_t k = 0; k < p->nlocal; k++)
        fprintf(out, "once per %s: %s = %s\n", hg_at(em->e, p->local[k].symbol)->vary & HG_G ? "group" : "call",
                hg_text(em->e, p->local[k].symbol, 0), hg_text(em->e, p->local[k].def, 1));
    for (uint32_t a = 0; a < p->ninput; a++) {
        fprintf(out, "input of a pair: %s; tangents:", hg_text(em->e, p->input[a].leaf, 1));
        for (uint32_t k = 0; k < p->nparam; k++)
            if (p->input[a].tangent[k])
                fprintf(out, " %s", m->param.item[k].name);
        fputc('\n', out);
    }
    for (uint32_t c = 0; c < p->nchannel; c++) {
        fprintf(out, "channel %u (%s):", c, channel_kind(em, c));
        for (uint32_t k = 0; k < p->nparam; k++)
            if (p->channel[c].table[k])
                fprintf(out, " %s", m->param.item[k].name);
        fputc('\n', out);
    }
    for (uint32_t k = 0; k < em->form->separation.n; k++)
        fprintf(out, "%s: %s\n  %s\n", em->form->separation.note[k].refused ? "not factored" : "factored",
                hg_text(em->e, em->form->separation.note[k].id, 1), em->form->separation.note[k].text);
    if (m->space == FIT_PAIRS)
        explain_contraction(em, out);
    const char *each = m->space == FIT_ROWS ? "row" : "pair";
    fprintf(out, "operations of normal: %u per %s, %u per %s and group; of moments %u per %s and group;\n"
                 "  functions left in the %s loop: %u\n",
            em->cost.per_pair, each, em->cost.per_pair_group, each, em->cost.value_per_pair_group, each, each,
            em->cost.functions_per_pair);
}
