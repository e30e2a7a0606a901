/* loop.c -- the loops of a graph, and where their numbers are stored. */
#include "graph/loop.h"

#include "base/diag.h"

struct hg_loops {
    struct hg_loop *item; /* [1 .. n] */
    uint32_t n, opened;
    size_t room;
};

const struct hg_loop *hg_loop_at(const struct hg_expr *e, uint32_t loop)
{
    if (!e->loops || loop == 0 || loop > e->loops->n)
        hg_bug("loop: there is no loop %u", loop);
    return &e->loops->item[loop];
}

uint32_t hg_loop_count(const struct hg_expr *e)
{
    return e->loops ? e->loops->n : 0;
}

static uint32_t add(struct hg_expr *e, const struct hg_loop *like)
{
    if (!e->loops)
        e->loops = hg_alloc(e->arena, sizeof *e->loops);
    struct hg_loops *l = e->loops;
    l->item = hg_grow(e->arena, l->item, l->n + (l->n > 0), l->n + 2, sizeof *l->item, &l->room);
    l->item[++l->n] = *like;
    return l->n;
}

uint32_t hg_loop_shared(struct hg_expr *e, unsigned level, enum hg_rule_kind rule, uint32_t n, double first)
{
    for (uint32_t k = 1; k <= hg_loop_count(e); k++) {
        const struct hg_loop *l = hg_loop_at(e, k);
        if (!l->open && l->level == level && l->rule == rule && l->n == n && l->first == first)
            return k;
    }
    struct hg_loop l = {.level = level, .rule = rule, .n = n, .first = first};
    for (unsigned c = 0; c < HG_LOOP_COLUMNS; c++)
        l.column[c] = hg_alloc(e->arena, n * sizeof **l.column);
    hg_rule_nodes(rule, n, first, l.column[HG_ABSCISSA], l.column[HG_WEIGHT]);
    return add(e, &l);
}

uint32_t hg_loop_open(struct hg_expr *e, unsigned level, enum hg_rule_kind rule, uint32_t n, double first)
{
    struct hg_loop l = *hg_loop_at(e, hg_loop_shared(e, level, rule, n, first));
    l.open = ++e->loops->opened;
    return add(e, &l);
}

hg_id hg_loop_replace(struct hg_expr *e, uint32_t from, uint32_t to, hg_id root)
{
    hg_id a[HG_LOOP_COLUMNS + 1] = {hg_loop_index(e, from)}, b[HG_LOOP_COLUMNS + 1] = {hg_loop_index(e, to)};
    for (unsigned c = 0; c < HG_LOOP_COLUMNS; c++) {
        a[c + 1] = hg_loop_node(e, from, c);
        b[c + 1] = hg_loop_node(e, to, c);
        if (hg_at(e, a[c + 1])->name)
            hg_name(e, b[c + 1], hg_at(e, a[c + 1])->name);
    }
    return hg_replace(e, root, HG_LOOP_COLUMNS + 1, a, b);
}

hg_id hg_loop_close(struct hg_expr *e, uint32_t loop, hg_id root)
{
    const struct hg_loop l = *hg_loop_at(e, loop);
    return hg_loop_replace(e, loop, hg_loop_shared(e, l.level, l.rule, l.n, l.first), root);
}

hg_id hg_loop_thinned(struct hg_expr *e, uint32_t n, hg_id root)
{
    for (uint32_t k = 1; k <= hg_loop_count(e); k++) {
        const struct hg_loop l = *hg_loop_at(e, k);
        if (!l.open && l.rule != HG_COUNT && l.n > n && hg_contains(e, root, hg_loop_index(e, k)))
            root = hg_loop_replace(e, k, hg_loop_shared(e, l.level, l.rule, n, l.first), root);
    }
    return root;
}

hg_id hg_loop_judged(struct hg_expr *e, hg_id root)
{
    enum { MOST_TURNS = 400, NODES = 12 };
    size_t turns = 0;
    for (hg_id id = 1; id <= root; id++) {
        const struct hg_node *n = hg_at(e, id);
        if (n->op != HG_REDUCE && (n->vary & HG_K) == (HG_K1 | HG_K2) && hg_extent(e, id, 1) > turns &&
            hg_contains(e, root, id))
            turns = hg_extent(e, id, 1);
    }
    return turns > MOST_TURNS ? hg_loop_thinned(e, NODES, root) : root;
}

hg_id hg_loop_index(struct hg_expr *e, uint32_t loop)
{
    return hg_symbol(e, HG_INDEX, loop);
}

hg_id hg_loop_node(struct hg_expr *e, uint32_t loop, unsigned column)
{
    return hg_symbol(e, HG_NODE, loop * HG_LOOP_COLUMNS + column);
}

uint32_t hg_node_loop(const struct hg_node *n)
{
    return n->ref / HG_LOOP_COLUMNS;
}

const double *hg_node_numbers(const struct hg_expr *e, const struct hg_node *n)
{
    return hg_loop_at(e, hg_node_loop(n))->column[n->ref % HG_LOOP_COLUMNS];
}

void hg_node_use(const struct hg_expr *e, const struct hg_node *n)
{
    e->loops->item[hg_node_loop(n)].used[n->ref % HG_LOOP_COLUMNS] = 1;
}

/* --- numbers over turns --------------------------------------------------------------------------------- */

static size_t turns_of(const struct hg_expr *e, const struct hg_node *n, unsigned level)
{
    return n->loop[level - 1] ? hg_loop_at(e, n->loop[level - 1])->n : 1;
}

size_t hg_extent(const struct hg_expr *e, hg_id id, uint32_t ntime)
{
    const struct hg_node *n = hg_at(e, id);
    return n->vary & HG_T ? ntime : turns_of(e, n, 1) * turns_of(e, n, 2);
}

/* The turns k1 and k2 in the array of a node. */
static size_t at_turns(const struct hg_expr *e, const struct hg_node *n, size_t k1, size_t k2)
{
    return (n->vary & HG_K1 ? k1 : 0) * turns_of(e, n, 2) + (n->vary & HG_K2 ? k2 : 0);
}

size_t hg_place(const struct hg_expr *e, const struct hg_node *n, size_t k, const struct hg_node *operand)
{
    if (!(n->vary & HG_K))
        return operand->vary & HG_T ? k : 0;
    const size_t columns = turns_of(e, n, 2);
    return at_turns(e, operand, k / columns, k % columns);
}

size_t hg_turn(const struct hg_expr *e, const struct hg_node *sum, size_t k, uint32_t turn)
{
    const struct hg_node *body = hg_at(e, sum->arg[1]);
    const size_t columns = turns_of(e, sum, 2);
    const int inner = hg_at(e, sum->arg[0])->vary == HG_K2;
    return at_turns(e, body, inner ? k / columns : turn, inner ? turn : k % columns);
}

uint32_t hg_turns(const struct hg_expr *e, const struct hg_node *sum)
{
    return hg_loop_at(e, hg_at(e, sum->arg[0])->ref)->n;
}
