/* written.c -- the store of the author's formulas: names, comparisons, the named parts of a formula. */
#include "model/written.h"

#include <stdlib.h>
#include <string.h>

#include "model/model.h"

hg_wid hg_written_add(struct hg_model *m, const struct hg_written *w)
{
    size_t next = m->nwritten ? m->nwritten : 1; /* 0 is none */
    m->written = hg_grow(m->expr->arena, m->written, m->nwritten, next + 1, sizeof *m->written, &m->written_room);
    m->nwritten = next;
    struct hg_written *to = &m->written[m->nwritten];
    *to = *w;
    to->depth = 1;
    for (uint32_t k = 0; k < w->nargs; k++) {
        uint32_t depth = m->written[w->arg[k]].depth + 1;
        to->depth = depth > to->depth ? depth : to->depth;
    }
    return (hg_wid)m->nwritten++;
}

const struct hg_written *hg_written_at(const struct hg_model *m, hg_wid id)
{
    return &m->written[id];
}

static int is_leaf(const struct hg_written *w)
{
    return w->word == HG_W_NUMBER || w->word == HG_W_UNIT || w->word == HG_W_SYMBOL;
}

void hg_written_name(struct hg_model *m, hg_wid id, const char *name, enum hg_name_rank rank)
{
    struct hg_written *w = &m->written[id];
    if (id == 0 || is_leaf(w) || w->rank >= rank)
        return;
    w->name = name;
    w->rank = rank;
}

int hg_written_is_named(const struct hg_model *m, hg_wid id)
{
    return hg_written_at(m, id)->rank != HG_UNNAMED;
}

int hg_written_is(const struct hg_model *m, hg_wid id, double value)
{
    const struct hg_written *w = hg_written_at(m, id);
    return w->word == HG_W_NUMBER && w->value == value; /* exact literal asked for */
}

int hg_written_same(const struct hg_model *m, hg_wid a, hg_wid b)
{
    const struct hg_written *x = hg_written_at(m, a);
    return a == b || (x->word == HG_W_NUMBER && hg_written_is(m, b, x->value));
}

int hg_written_extremum(const struct hg_model *m, hg_wid id, hg_wid *a, hg_wid *b)
{
    const struct hg_written *w = hg_written_at(m, id);
    if (w->word != HG_W_WHERE)
        return 0;
    const struct hg_written *c = hg_written_at(m, w->arg[0]);
    if (c->word != HG_W_LT && c->word != HG_W_LE)
        return 0;
    *a = w->arg[2]; /* where(le(x, lo), lo, x): the last operand is the bounded one */
    *b = w->arg[1];
    if (hg_written_same(m, c->arg[0], w->arg[2]) && hg_written_same(m, c->arg[1], w->arg[1]))
        return 1;
    return hg_written_same(m, c->arg[0], w->arg[1]) && hg_written_same(m, c->arg[1], w->arg[2]) ? -1 : 0;
}

/* --- walks: operands have smaller ids --------------------------------------------------------- */

int hg_written_mentions(const struct hg_model *m, hg_wid root, hg_wid part)
{
    HG_SCRATCH unsigned char *need = hg_zeros((size_t)root + 1, 1);
    need[root] = 1;
    for (hg_wid id = root; id > part; id--) {
        const struct hg_written *w = hg_written_at(m, id);
        for (uint32_t k = 0; k < w->nargs && need[id] && (id == root || !hg_written_is_named(m, id)); k++)
            need[w->arg[k]] = 1;
    }
    return part <= root && need[part];
}

int hg_written_depends(const struct hg_model *m, hg_wid root, hg_id node, int direct)
{
    HG_SCRATCH unsigned char *need = hg_zeros((size_t)root + 1, 1);
    int found = 0;
    need[root] = 1;
    for (hg_wid id = root; id > 0 && !found; id--) {
        const struct hg_written *w = hg_written_at(m, id);
        if (!need[id])
            continue;
        found = w->word == HG_W_SYMBOL && w->node == node;
        for (uint32_t k = 0; k < w->nargs; k++)
            need[w->arg[k]] |= !direct || !hg_written_is_named(m, w->arg[k]);
    }
    return found;
}

struct walk {
    const struct hg_model *m;
    unsigned char *seen;
    hg_wid *list;
    uint32_t n;
};

/* Depth first, the last operand first: `list`, read backwards, has each part before those it mentions, and otherwise
 * keeps the order of reading. */
static void visit(struct walk *v, hg_wid id)
{
    const struct hg_written *w = hg_written_at(v->m, id);
    for (uint32_t k = w->nargs; k-- > 0;) {
        if (v->seen[w->arg[k]])
            continue;
        v->seen[w->arg[k]] = 1;
        visit(v, w->arg[k]);
        if (hg_written_is_named(v->m, w->arg[k]))
            v->list[v->n++] = w->arg[k];
    }
}

uint32_t hg_written_parts(const struct hg_model *m, hg_wid root, hg_wid **part)
{
    struct walk v = {.m = m, .seen = hg_zeros((size_t)root + 1, 1)};
    v.list = hg_alloc(m->expr->arena, ((size_t)root + 1) * sizeof *v.list);
    visit(&v, root);
    free(v.seen);
    for (uint32_t k = 0; k < v.n / 2; k++) {
        hg_wid last = v.list[v.n - 1 - k];
        v.list[v.n - 1 - k] = v.list[k];
        v.list[k] = last;
    }
    *part = v.list;
    return v.n;
}

/* Names of variables of the file take precedence over those of variables inside its functions. */
static void add_primes(struct hg_model *m, hg_wid root, enum hg_name_rank rank, hg_wid *all, uint32_t *nall)
{
    hg_wid *part;
    uint32_t n = hg_written_parts(m, root, &part);
    part[n++] = root; /* a curve may have a name */
    for (uint32_t k = 0; k < n; k++) {
        const char *name = hg_written_at(m, part[k])->name;
        if (hg_written_at(m, part[k])->rank != rank)
            continue;
        uint32_t primes = hg_model_find(m, name) || strcmp(name, m->observable) == 0, j;
        for (j = 0; j < *nall && all[j] != part[k]; j++)
            primes += strcmp(hg_written_at(m, all[j])->name, name) == 0;
        if (j < *nall)
            continue;
        m->written[part[k]].primes = primes;
        all[(*nall)++] = part[k];
    }
}

/* A name that many nodes have, as when a function is called in a loop: they are numbered. */
static void number_many(struct hg_model *m, const hg_wid *all, uint32_t nall)
{
    enum { MANY = 4 };
    for (uint32_t k = 0; k < nall; k++) {
        uint32_t same = 0, before = 0;
        for (uint32_t j = 0; j < nall; j++) {
            int equal = strcmp(m->written[all[j]].name, m->written[all[k]].name) == 0;
            same += (uint32_t)equal;
            before += equal && j < k;
        }
        m->written[all[k]].number = same > MANY ? before + 1 : 0;
    }
}

void hg_written_primes(struct hg_model *m)
{
    if (m->primed)
        return;
    m->primed = 1;
    hg_wid *all = hg_alloc(m->expr->arena, (m->nwritten + 1) * sizeof *all);
    uint32_t nall = 0;
    const uint32_t more = m->nvariant + m->curve.n;
    for (enum hg_name_rank rank = HG_NAMED; rank > HG_UNNAMED; rank--)
        for (uint32_t v = 0; v < more + m->derived.n; v++) {
            hg_wid root = v < m->nvariant ? m->variant[v].written
                          : v < more      ? m->curve.item[v - m->nvariant].written
                                          : m->derived.item[v - more].written;
            if (hg_written_at(m, root)->depth <= HG_WRITTEN_DEEP)
                add_primes(m, root, rank, all, &nall);
        }
    number_many(m, all, nall);
}
