/* program.c -- the results of the passes, as lists of roots. */
#include "structure/program.h"

static void add(struct hg_root *root, uint32_t *n, const char *name, hg_id id)
{
    root[(*n)++] = (struct hg_root){name, id};
}

struct hg_root *hg_model_roots(const struct hg_model *m, const struct hg_variant *v, uint32_t *n)
{
    struct hg_root *root = hg_alloc(m->expr->arena, 2 * sizeof *root);
    *n = 0;
    add(root, n, "mean", v->mean);
    add(root, n, "log_density", m->density ? m->density->node : 0);
    return root;
}

struct hg_root *hg_plan_roots(const struct hg_plan *p, uint32_t *n)
{
    struct hg_arena *a = p->e->arena;
    const struct hg_model *m = p->model;
    struct hg_root *root =
        hg_alloc(a, (p->nlocal + p->nlinear + 1 + p->nchannel * ((size_t)p->nparam + 1)) * sizeof *root);
    *n = 0;
    for (uint32_t k = 0; k < p->nlocal; k++)
        add(root, n, hg_text(p->e, p->local[k].symbol, 0), p->local[k].def);
    for (uint32_t q = 0; q < p->nlinear; q++)
        add(root, n, hg_format(a, "b_%s", m->linear.item[q].name), p->basis[q]);
    add(root, n, "rest", p->rest);
    for (uint32_t c = 0; c < p->nchannel; c++) {
        const struct hg_channel *x = &p->channel[c];
        add(root, n, hg_format(a, "m_%s", x->name), x->m);
        for (uint32_t k = 0; x->kind != HG_CHANNEL_ONE && k < p->nparam; k++)
            add(root, n, hg_format(a, "U_%s_%s", x->name, m->param.item[k].name), x->table[k]);
    }
    return root;
}

struct hg_root *hg_form_roots(const struct hg_form *f, uint32_t *n)
{
    const struct hg_plan *p = f->p;
    struct hg_arena *a = p->e->arena;
    struct hg_root *root = hg_alloc(a, ((size_t)p->nlinear + 1 + p->nchannel + f->nmoment) * sizeof *root);
    *n = 0;
    for (uint32_t q = 0; q < p->nlinear; q++)
        add(root, n, hg_format(a, "b_%s", p->model->linear.item[q].name), f->basis[q]);
    add(root, n, "rest", f->rest);
    for (uint32_t c = 0; c < p->nchannel; c++)
        add(root, n, hg_format(a, "m_%s", p->channel[c].name), f->m[c]);
    for (uint32_t k = 0; k < f->nmoment; k++)
        add(root, n, hg_format(a, "core_%s_%s", p->model->linear.item[f->moment[k].q].name,
                               p->channel[f->moment[k].channel].name), f->moment[k].core);
    return root;
}
