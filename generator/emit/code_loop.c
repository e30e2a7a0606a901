/* code_loop.c -- sums in the emitted C: loops over turns, which fill accumulators.
 *
 * Operands in the body of a sum that do not vary with its turns are declared before the loop. Sums over the same loop
 * are computed in one pass, so that equal parts of their bodies are computed once: usually a mean and all of its
 * derivatives. A sum that needs the value of another one over the same loop comes after it.
 */
#include "emit/code.h"
#include "graph/loop.h"

const char *const hg_loop_column_name[] = {"fit_nodes_", "fit_weights_"};

static const char *const counter[] = {"node1", "node2"};

const char *hg_code_turn(const struct hg_code *c, hg_id id)
{
    const struct hg_node *n = hg_at(c->e, id);
    if ((n->vary & HG_K) == HG_K)
        return hg_format(c->e->arena, "node1 * %u + node2", hg_loop_at(c->e, n->loop[1])->n);
    return counter[n->vary & HG_K2 ? 1 : 0];
}

/* May it be declared where the loop of `level` is not yet open? */
static int is_outside(const struct hg_code *c, const struct hg_node *n, unsigned level)
{
    return !(n->vary & HG_K & (level | ~c->open));
}

/* Declares the operands of the roots that are the same in all turns. */
static void before_loop(struct hg_code *c, unsigned level, uint32_t nroot, const hg_id *root)
{
    hg_id top = 0;
    for (uint32_t k = 0; k < nroot; k++)
        top = root[k] > top ? root[k] : top;
    HG_SCRATCH unsigned char *need = hg_zeros((size_t)top + 1, 1);
    for (uint32_t k = 0; k < nroot; k++)
        need[root[k]] = 1;
    for (hg_id id = top; id > 0; id--) {
        const struct hg_node *n = hg_at(c->e, id);
        for (uint32_t k = 0; need[id] && !is_outside(c, n, level) && !c->is_leaf(c, id) && k < n->nargs; k++)
            need[n->arg[k]] = 1;
    }
    for (hg_id id = 1; id <= top; id++) {
        const struct hg_node *n = hg_at(c->e, id);
        if (!need[id] || !is_outside(c, n, level))
            continue;
        hg_code_need(c, id);
        if (!hg_code_bound(c, id) && n->nargs)
            hg_code_declare(c, id, NULL);
    }
}

void hg_code_open_loop(struct hg_code *c, uint32_t loop, uint32_t nroot, const hg_id *root)
{
    const struct hg_loop *l = hg_loop_at(c->e, loop);
    const unsigned level = l->level == 1 ? HG_K1 : HG_K2;
    const char *k = counter[l->level - 1];
    before_loop(c, level, nroot, root);
    hg_open(c->out, "for (size_t %s = 0; %s < %u; %s++) {", k, k, l->n, k);
    c->open |= level;
    hg_code_push(c);
}

void hg_code_close_loop(struct hg_code *c, uint32_t loop)
{
    hg_code_pop(c);
    c->open &= hg_loop_at(c->e, loop)->level == 1 ? ~(unsigned)HG_K1 : ~(unsigned)HG_K2;
    hg_close(c->out);
}

/* Sums over the loop of `index` that are to be declared now, are not yet declared, and do not wait for another one
 * of their level. */
static uint32_t sums_of(const struct hg_code *c, hg_id index, hg_id *sum)
{
    HG_SCRATCH unsigned char *waits = hg_zeros(c->e->n, 1);
    const unsigned level = hg_at(c->e, index)->vary;
    uint32_t n = 0;
    for (hg_id id = 1; id < c->e->n; id++) {
        const struct hg_node *x = hg_at(c->e, id);
        if (hg_code_bound(c, id) || c->is_leaf(c, id))
            continue;
        for (uint32_t k = 0; k < x->nargs && !waits[id]; k++)
            waits[id] = waits[x->arg[k]];
        if (x->op != HG_REDUCE || !hg_code_uses(c, id))
            continue;
        if (x->arg[0] == index && !waits[id] && !(x->vary & HG_K & ~c->open) && (!c->together || c->together[id]))
            sum[n++] = id;
        waits[id] |= hg_at(c->e, x->arg[0])->vary == level;
    }
    return n;
}

void hg_code_reduce(struct hg_code *c, hg_id id)
{
    const struct hg_node n = *hg_at(c->e, id);
    const uint32_t loop = hg_at(c->e, n.arg[0])->ref;
    HG_SCRATCH hg_id *sum = hg_zeros(c->e->n, sizeof *sum), *body = hg_zeros(c->e->n, sizeof *body);
    HG_SCRATCH const char **name = hg_zeros(c->e->n, sizeof *name);
    before_loop(c, hg_at(c->e, n.arg[0])->vary, 1, &n.arg[1]); /* other sums, for which this one waits */
    const uint32_t nsum = sums_of(c, n.arg[0], sum);
    for (uint32_t k = 0; k < nsum; k++) {
        const int vector = hg_code_is_vector(c, sum[k]);
        body[k] = hg_at(c->e, sum[k])->arg[1];
        name[k] = hg_code_unique(c, hg_code_stem(c, sum[k]));
        hg_code_source(c, sum[k]);
        hg_declare(c->out, vector ? "fit_vd" : "double", vector ? "%s = fit_vset1(0.0);" : "%s = 0.0;", name[k]);
    }
    hg_code_open_loop(c, loop, nsum, body);
    for (uint32_t k = 0; k < nsum; k++)
        hg_code_need(c, body[k]);
    for (uint32_t k = 0; k < nsum; k++)
        hg_do(c->out, "%s += %s;", name[k], hg_code_text(c, body[k]));
    hg_code_close_loop(c, loop);
    for (uint32_t k = 0; k < nsum; k++)
        hg_code_bind(c, sum[k], name[k]);
}
