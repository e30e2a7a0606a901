/* marcher.c -- states in the reference interpreter: see marcher.h. */
#include "graph/marcher.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

struct hg_marcher {
    const struct hg_expr *e;
    uint32_t width;                  /* numbers of a state: value, derivatives */
    struct hg_eval **first, **next;  /* by state: what it is before the first row; its step */
    struct hg_num *before, *now;     /* state x width */
    struct hg_num *arg;              /* of the march that was made last, and where: */
    const double *const *history;
    uint32_t nhistory;
    const double *row;               /* columns of the row at hand; NULL: those of the arguments times */
    uint32_t made_up;                /* what belongs to so many rows before the own */
    int valid;
};

static struct hg_eval *evaluator(const struct hg_expr *e, hg_id value, const hg_id *derivative, uint32_t n)
{
    hg_id *root = hg_zeros(n + 1, sizeof *root);
    uint32_t nroot = 0;
    root[nroot++] = value;
    for (uint32_t k = 0; k < n; k++)
        if (derivative[k])
            root[nroot++] = derivative[k];
    struct hg_eval *ev = hg_eval_new(e, nroot, root);
    free(root);
    return ev;
}

struct hg_marcher *hg_marcher_new(const struct hg_expr *e)
{
    const struct hg_march *m = e->march;
    struct hg_marcher *x = hg_zeros(1, sizeof *x);
    x->e = e;
    x->width = 1 + m->nparam;
    x->first = hg_zeros(m->n, sizeof *x->first);
    x->next = hg_zeros(m->n, sizeof *x->next);
    x->before = hg_zeros((size_t)m->n * x->width, sizeof *x->before);
    x->now = hg_zeros((size_t)m->n * x->width, sizeof *x->now);
    x->arg = hg_zeros(m->narg + 1, sizeof *x->arg);
    for (uint32_t q = 0; q < m->n; q++) {
        x->first[q] = evaluator(e, m->state[q].before, m->state[q].d_before, m->nparam);
        x->next[q] = evaluator(e, m->state[q].step, m->state[q].d_step, m->nparam);
    }
    return x;
}

void hg_marcher_free(struct hg_marcher *x)
{
    if (!x)
        return;
    for (uint32_t q = 0; q < x->e->march->n; q++) {
        hg_eval_free(x->first[q]);
        hg_eval_free(x->next[q]);
    }
    free(x->first);
    free(x->next);
    free(x->before);
    free(x->now);
    free(x->arg);
    free(x);
}

/* Of a column, rows before the own: it grows, and columns differ. */
static long double part_of(uint32_t rows, uint32_t column)
{
    return powl(1 - (long double)rows / (HG_MADE_UP_ROWS + 1), 1 + 0.37L * ((5 * column + 2) % 4));
}

static struct hg_num scaled(struct hg_num x, long double by)
{
    return (struct hg_num){x.v * by, x.d * by, x.e * by};
}

struct hg_num hg_marcher_leaf(const struct hg_marcher *x, hg_id leaf)
{
    const struct hg_node *n = hg_at(x->e, leaf);
    const struct hg_march *m = x->e->march;
    const struct hg_carried_place p = hg_carried_at(n->ref);
    if (n->op == HG_CARRIED)
        return (p.before ? x->before : x->now)[p.state * x->width + p.k];
    if (n->op == HG_COLUMN && x->row)
        return (struct hg_num){x->row[n->ref], 0, 0};
    for (uint32_t k = 1; k <= m->narg; k++)
        if (m->arg[k] == leaf)
            return n->op == HG_COLUMN && x->made_up ? scaled(x->arg[k], part_of(x->made_up, n->ref)) : x->arg[k];
    hg_bug("marcher: a symbol that no step has");
}

/* Value and derivatives of state q by the evaluator to `to`.  Derivatives carry no dual numbers. */
static void take(struct hg_marcher *x, struct hg_eval *ev, hg_id value, const hg_id *derivative, uint32_t q,
                 struct hg_num *to)
{
    const struct hg_point p = {.march = x};
    hg_eval_run(ev, &p);
    to += q * x->width;
    to[0] = hg_eval_get(ev, value, 0);
    for (uint32_t k = 0; k + 1 < x->width; k++)
        if (derivative[k]) {
            to[1 + k] = hg_eval_get(ev, derivative[k], 0);
            to[1 + k].d = 0;
        }
}

static void march(struct hg_marcher *x, const struct hg_point *p)
{
    const struct hg_march *m = x->e->march;
    const uint32_t n = p->history ? p->nhistory : HG_MADE_UP_ROWS;
    for (uint32_t r = 0; r <= n; r++) {
        x->row = r < n && p->history ? p->history[r] : NULL;
        x->made_up = p->history ? 0 : n - r;
        for (uint32_t q = 0; q < m->n && r == 0; q++)
            take(x, x->first[q], m->state[q].before, m->state[q].d_before, q, x->before);
        if (r)
            memcpy(x->before, x->now, (size_t)m->n * x->width * sizeof *x->now);
        for (uint32_t k = 0; k < m->n; k++) {
            const uint32_t q = m->order[k];
            take(x, x->next[q], m->state[q].step, m->state[q].d_step, q, x->now);
        }
    }
}

static int same(const struct hg_num *a, const struct hg_num *b)
{
    return a->v == b->v && a->d == b->d && a->e == b->e;
}

struct hg_num hg_marcher_get(struct hg_marcher *x, struct hg_carried_place place, const struct hg_num *arg,
                             const struct hg_point *p)
{
    const struct hg_march *m = x->e->march;
    int known = x->valid && x->history == p->history && x->nhistory == p->nhistory;
    for (uint32_t k = 1; k <= m->narg && known; k++)
        known = same(&x->arg[k], &arg[k]);
    if (!known) {
        memcpy(x->arg, arg, (m->narg + 1) * sizeof *arg);
        x->history = p->history;
        x->nhistory = p->nhistory;
        x->valid = 1;
        march(x, p);
    }
    return (place.before ? x->before : x->now)[place.state * x->width + place.k];
}
