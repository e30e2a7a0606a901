/* interact.c -- which parameters of a mean interact. */
#include "judge/interact.h"

#include <math.h>
#include <string.h>

#include "base/diag.h"
#include "graph/eval.h"

#define ERROR_UNIT (64 * 0x1p-64L)

enum { POINTS = HG_ROWS * HG_GROUPS };

struct search {
    const struct hg_probe *p;
    const struct hg_expr *e;
    struct hg_interaction x;
    unsigned char *has, *below; /* by node: it contains a parameter; it is in the term */
    uint32_t *found;            /* parameters of a term */
    long double *sum, *error;   /* of the mixed difference, at every point */
    uint32_t point;
    double sign;
};

/* --- terms --------------------------------------------------------------------------------------------- */

static void add_term(struct search *q, hg_id id)
{
    uint32_t n = 0;
    memset(q->below, 0, id + 1);
    hg_mark(q->e, id, q->below);
    for (hg_id k = 1; k <= id; k++)
        if (q->below[k] && hg_at(q->e, k)->op == HG_PARAM)
            q->found[n++] = hg_at(q->e, k)->ref;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++)
            q->x.may[(size_t)q->found[a] * q->x.n + q->found[b]] = 1;
}

/* Splits sums, and multiples of them by factors without parameters. */
static void take_apart(struct search *q, hg_id id)
{
    const struct hg_node *n = hg_at(q->e, id);
    uint32_t many = 0;
    hg_id only = 0;
    if (!q->has[id])
        return;
    for (uint32_t k = 0; k < n->nargs; k++)
        if (q->has[n->arg[k]]) {
            many++;
            only = n->arg[k];
        }
    if (n->op == HG_PROD && many == 1)
        take_apart(q, only);
    else if (n->op != HG_SUM)
        add_term(q, id);
    else
        for (uint32_t k = 0; k < n->nargs; k++)
            take_apart(q, n->arg[k]);
}

static void find_terms(struct search *q)
{
    for (hg_id id = 1; id <= q->p->mean; id++) {
        const struct hg_node *n = hg_at(q->e, id);
        q->has[id] = n->op == HG_PARAM;
        for (uint32_t k = 0; k < n->nargs; k++)
            q->has[id] |= q->has[n->arg[k]];
    }
    take_apart(q, q->p->mean);
}

/* --- mixed differences --------------------------------------------------------------------------------- */

static int add_mean(void *user, const struct hg_eval *ev, uint32_t group)
{
    struct search *q = user;
    struct hg_num y = hg_eval_get(ev, q->p->mean, 0);
    (void)group;
    if (q->point == POINTS)
        return 1;
    q->sum[q->point] += q->sign * y.v;
    q->error[q->point++] += y.e + fabsl(y.v);
    return 0;
}

static void add_at(struct search *q, double sign, const double *theta)
{
    q->point = 0;
    q->sign = sign;
    hg_probe_run(q->p, q->p->value, theta, HG_GROUPS, add_mean, q);
}

/* f(k', l') - f(k', l) - f(k, l') + f(k, l) is not 0 at some point. */
static int is_seen(struct search *q, uint32_t k, uint32_t l, const double *here, const double *there, double *theta)
{
    memset(q->sum, 0, POINTS * sizeof *q->sum);
    memset(q->error, 0, POINTS * sizeof *q->error);
    for (int c = 0; c < 4; c++) {
        theta[k] = c & 1 ? there[k] : here[k];
        theta[l] = c & 2 ? there[l] : here[l];
        add_at(q, c == 1 || c == 2 ? -1 : 1, theta);
    }
    theta[k] = here[k];
    theta[l] = here[l];
    for (uint32_t i = 0; i < q->point; i++)
        if (fabsl(q->sum[i]) > ERROR_UNIT * q->error[i])
            return 1;
    return 0;
}

static void find_seen(struct search *q)
{
    uint32_t n = q->x.n;
    HG_SCRATCH double *here = hg_zeros(n + 1, sizeof *here);
    HG_SCRATCH double *there = hg_zeros(n + 1, sizeof *there);
    HG_SCRATCH double *theta = hg_zeros(n + 1, sizeof *theta);
    hg_probe_set(q->p, 0, here);
    hg_probe_set(q->p, 0, theta);
    hg_probe_set(q->p, 1, there);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t l = k + 1; l < n; l++)
            if (hg_may_interact(&q->x, k, l) && is_seen(q, k, l, here, there, theta))
                q->x.does[(size_t)k * n + l] = q->x.does[(size_t)l * n + k] = 1;
}

struct hg_interaction hg_interact(const struct hg_probe *p)
{
    struct hg_arena *a = p->m->expr->arena;
    size_t n = p->nparam, all = n * n + 1;
    struct search q = {.p = p, .e = p->m->expr, .x = {p->nparam, hg_alloc(a, all), hg_alloc(a, all)}};
    HG_SCRATCH unsigned char *has = hg_zeros(p->mean + 1, 1);
    HG_SCRATCH unsigned char *below = hg_zeros(p->mean + 1, 1);
    HG_SCRATCH uint32_t *found = hg_zeros(n + 1, sizeof *found);
    HG_SCRATCH long double *sum = hg_zeros(POINTS, sizeof *sum);
    HG_SCRATCH long double *error = hg_zeros(POINTS, sizeof *error);
    q.has = has;
    q.below = below;
    q.found = found;
    q.sum = sum;
    q.error = error;
    find_terms(&q);
    if (p->nset > 1)
        find_seen(&q);
    return q.x;
}
