/* factor.c -- arranges expressions by loop and by common factors. */
#include "structure/factor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"

enum { BIG = HG_I | HG_J | HG_R };
enum { SCALAR, PAIR, PAIR_GROUP, NCLASS };
enum { MAX_FACTORS = 64 }; /* longer products are not shared */

/* The factors of a product, without its scalars; they may be shared with other products. */
struct list {
    hg_id f[MAX_FACTORS];
    uint32_t n;
};

struct product {  /* one PROD node of the source */
    hg_id id;
    int list;     /* index of its list, or -1 */
    hg_id scalar; /* product of the scalars, or 0 */
};

struct work {
    struct hg_expr *e;
    hg_id *map;
    struct list *list;
    uint32_t nlist;
    size_t room;
};

static int class_of(const struct hg_expr *e, hg_id id)
{
    unsigned v = hg_at(e, id)->vary;
    if (!(v & BIG))
        return SCALAR;
    return v & HG_G ? PAIR_GROUP : PAIR;
}

static hg_id raw_or_only(struct hg_expr *e, enum hg_op op, uint32_t n, const hg_id *arg)
{
    return n == 1 ? arg[0] : hg_raw(e, op, n, arg);
}

/* --- sharing ------------------------------------------------------------------------------------------ */

struct pair_count {
    hg_id a, b;
    uint32_t n;
};

/* Number of occurrences of each pair in all lists: a hash table with open addressing, at least half empty. */
struct pairs {
    struct pair_count *slot; /* a = 0: empty */
    size_t room, used;       /* room is a power of 2 */
};

static struct pair_count *pair_slot(const struct pairs *t, hg_id a, hg_id b)
{
    uint64_t h = ((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15u;
    for (size_t k = (size_t)(h >> 32) & (t->room - 1);; k = (k + 1) & (t->room - 1))
        if (!t->slot[k].a || (t->slot[k].a == a && t->slot[k].b == b))
            return &t->slot[k];
}

static void grow_pairs(struct pairs *t)
{
    struct pairs old = *t;
    t->room = old.room ? 2 * old.room : 64;
    t->slot = hg_zeros(t->room, sizeof *t->slot);
    for (size_t k = 0; k < old.room; k++)
        if (old.slot[k].a)
            *pair_slot(t, old.slot[k].a, old.slot[k].b) = old.slot[k];
    free(old.slot);
}

static uint32_t multiplicity(const struct list *l, hg_id f)
{
    uint32_t m = 0;
    for (uint32_t k = 0; k < l->n; k++)
        m += l->f[k] == f;
    return m;
}

/* The number of times that the pair (a, b) can be taken from the list. */
static uint32_t times(const struct list *l, hg_id a, hg_id b)
{
    uint32_t m = multiplicity(l, a), n = multiplicity(l, b);
    return a == b ? m / 2 : (m < n ? m : n);
}

/* Adds the pairs of a list to the table, or removes them. */
static void count_pairs(struct pairs *t, const struct list *l, int take_out)
{
    for (uint32_t a = 0; a < l->n; a++) {
        if (a && l->f[a] == l->f[a - 1])
            continue;
        for (uint32_t b = a + 1; b < l->n; b++) {
            if (b > a + 1 && l->f[b] == l->f[b - 1])
                continue;
            if (2 * t->used >= t->room)
                grow_pairs(t);
            struct pair_count *c = pair_slot(t, l->f[a], l->f[b]);
            t->used += c->a == 0;
            uint32_t n = times(l, l->f[a], l->f[b]);
            *c = (struct pair_count){l->f[a], l->f[b], take_out ? c->n - n : c->n + n};
        }
    }
}

/* The most frequent pair (smallest ids on a tie); n = 0 when there is none. */
static struct pair_count most_frequent(const struct pairs *t)
{
    struct pair_count best = {0, 0, 0};
    for (size_t k = 0; k < t->room; k++) {
        const struct pair_count *c = &t->slot[k];
        if (c->n > best.n || (c->n == best.n && c->n && (c->a < best.a || (c->a == best.a && c->b < best.b))))
            best = *c;
    }
    return best;
}

static int by_id(const void *x, const void *y)
{
    hg_id a = *(const hg_id *)x, b = *(const hg_id *)y;
    return (a > b) - (a < b);
}

static void take(struct list *l, hg_id a, hg_id b, hg_id ab)
{
    for (uint32_t m = times(l, a, b); m > 0; m--) {
        uint32_t n = 0, need_a = 1, need_b = 1;
        for (uint32_t k = 0; k < l->n; k++) {
            if (need_a && l->f[k] == a)
                need_a = 0;
            else if (need_b && l->f[k] == b)
                need_b = 0;
            else
                l->f[n++] = l->f[k];
        }
        l->f[n++] = ab;
        l->n = n;
        qsort(l->f, l->n, sizeof *l->f, by_id);
    }
}

static void share(struct work *w)
{
    struct pairs t = {0};
    for (uint32_t l = 0; l < w->nlist; l++)
        count_pairs(&t, &w->list[l], 0);
    for (struct pair_count c; (c = most_frequent(&t)).n >= 2;) {
        hg_id arg[2] = {c.a, c.b}, ab = hg_raw(w->e, HG_PROD, 2, arg);
        for (uint32_t l = 0; l < w->nlist; l++)
            if (times(&w->list[l], c.a, c.b)) {
                count_pairs(&t, &w->list[l], 1);
                take(&w->list[l], c.a, c.b, ab);
                count_pairs(&t, &w->list[l], 0);
            }
    }
    free(t.slot);
}

/* --- splitting ---------------------------------------------------------------------------------------- */

static int new_list(struct work *w)
{
    if (w->nlist == w->room)
        w->list = hg_grow(w->e->arena, w->list, w->nlist, w->nlist + 8, sizeof *w->list, &w->room);
    w->list[w->nlist] = (struct list){0};
    return (int)w->nlist++;
}

/* Puts a factor (integer powers as repeated factors) into the list. */
static void add_factor(struct work *w, struct product *p, hg_id factor)
{
    struct hg_expr *e = w->e;
    const struct hg_node n = *hg_at(e, factor);
    double power = 1;
    hg_id base = factor;
    if (n.op == HG_POW && hg_is_const(e, n.arg[1], &power) && power == floor(power) && fabs(power) <= 16) {
        hg_id inverse[2] = {w->map[n.arg[0]], hg_const(e, -1.0)};
        base = power < 0 ? hg_raw(e, HG_POW, 2, inverse) : w->map[n.arg[0]];
    } else {
        power = 1;
        base = w->map[factor];
    }
    if (p->list < 0)
        p->list = new_list(w);
    struct list *l = &w->list[p->list];
    for (int k = 0; k < (int)fabs(power); k++)
        if (l->n < MAX_FACTORS)
            l->f[l->n++] = base;
        else
            hg_bug("factor: product of more than %d factors", MAX_FACTORS);
    qsort(l->f, l->n, sizeof *l->f, by_id);
}

static void split_product(struct work *w, hg_id id, struct product *p)
{
    const struct hg_node n = *hg_at(w->e, id);
    hg_id *scalar = hg_alloc(w->e->arena, (n.nargs + 1) * sizeof *scalar);
    uint32_t ns = 0;
    *p = (struct product){id, -1, 0};
    if (n.op == HG_POW) {
        add_factor(w, p, id);
        return;
    }
    for (uint32_t k = 0; k < n.nargs; k++) {
        if (class_of(w->e, n.arg[k]) == SCALAR)
            scalar[ns++] = n.arg[k];
        else
            add_factor(w, p, n.arg[k]);
    }
    if (ns)
        p->scalar = raw_or_only(w->e, HG_PROD, ns, scalar);
}

/* Scalars, then the factors that do not depend on the group as one, then the others. */
static hg_id join_product(struct work *w, const struct product *p)
{
    hg_id part[NCLASS][MAX_FACTORS], arg[NCLASS];
    uint32_t count[NCLASS] = {0}, n = 0;
    const struct list *l = p->list >= 0 ? &w->list[p->list] : NULL;
    for (uint32_t k = 0; l && k < l->n; k++) {
        int c = class_of(w->e, l->f[k]);
        part[c][count[c]++] = l->f[k];
    }
    if (p->scalar)
        arg[n++] = p->scalar;
    for (int c = PAIR; c < NCLASS; c++)
        if (count[c])
            arg[n++] = raw_or_only(w->e, HG_PROD, count[c], part[c]);
    return raw_or_only(w->e, HG_PROD, n, arg);
}

/* Terms of one class are added first when there are several. */
static hg_id split_sum(struct work *w, hg_id id)
{
    const struct hg_node n = *hg_at(w->e, id);
    hg_id *arg = hg_alloc(w->e->arena, (n.nargs + NCLASS) * sizeof *arg), part[NCLASS];
    uint32_t np = 0;
    for (int c = SCALAR; c < NCLASS; c++) {
        uint32_t m = 0;
        for (uint32_t k = 0; k < n.nargs; k++)
            if (class_of(w->e, n.arg[k]) == c)
                arg[m++] = w->map[n.arg[k]];
        if (m)
            part[np++] = raw_or_only(w->e, HG_SUM, m, arg);
    }
    return raw_or_only(w->e, HG_SUM, np, part);
}

/* --- the pass ----------------------------------------------------------------------------------------- */

static int is_product(const struct hg_expr *e, hg_id id)
{
    const struct hg_node *n = hg_at(e, id);
    double power;
    if (n->op == HG_PROD)
        return 1;
    return n->op == HG_POW && hg_is_const(e, n->arg[1], &power) && power == floor(power) && power != -1.0 &&
           fabs(power) <= 16;
}

static hg_id rebuilt(struct work *w, hg_id id)
{
    const struct hg_node n = *hg_at(w->e, id);
    hg_id *arg = hg_alloc(w->e->arena, (n.nargs + 1) * sizeof *arg);
    for (uint32_t k = 0; k < n.nargs; k++)
        arg[k] = w->map[n.arg[k]];
    return hg_raw(w->e, n.op, n.nargs, arg);
}

/* Base of an integer power inside a product (the power is written as repeated factors), else the node. */
static hg_id factor_base(const struct hg_expr *e, hg_id product, hg_id factor)
{
    const struct hg_node *n = hg_at(e, factor);
    double power;
    if (hg_at(e, product)->op == HG_PROD && n->op == HG_POW && hg_is_const(e, n->arg[1], &power) &&
        power == floor(power) && fabs(power) <= 16)
        return n->arg[0];
    return factor;
}

static unsigned char *mark(const struct hg_expr *e, uint32_t n, const hg_id *root, hg_id top)
{
    unsigned char *need = hg_zeros(top + 1, 1);
    for (uint32_t k = 0; k < n; k++)
        need[root[k]] = 1;
    for (hg_id id = top; id > 0; id--) {
        const struct hg_node *x = hg_at(e, id);
        int leaf = !(x->vary & BIG) || x->op == HG_AT_I || x->op == HG_AT_J || x->op == HG_DELTA ||
                   x->op == HG_EXPD || x->op == HG_SIND || x->op == HG_COSD;
        for (uint32_t k = 0; need[id] && !leaf && k < x->nargs; k++)
            need[factor_base(e, id, x->arg[k])] = 1;
    }
    return need;
}

/* The depth of nested products below a node. Products are shared level by level, from the innermost, because the
 * factors of an outer one must have their final form. */
static uint32_t *product_depth(const struct hg_expr *e, const unsigned char *need, hg_id top, uint32_t *deepest)
{
    uint32_t *depth = hg_zeros(top + 1, sizeof *depth);
    *deepest = 0;
    for (hg_id id = 1; id <= top; id++) {
        const struct hg_node *n = hg_at(e, id);
        if (!need[id])
            continue;
        for (uint32_t k = 0; k < n->nargs; k++) {
            hg_id arg = factor_base(e, id, n->arg[k]);
            uint32_t below = depth[arg] + (uint32_t)is_product(e, arg);
            depth[id] = below > depth[id] ? below : depth[id];
        }
        *deepest = depth[id] > *deepest ? depth[id] : *deepest;
    }
    return depth;
}

static void rebuild_level(struct work *w, const unsigned char *need, const uint32_t *depth, uint32_t level,
                          hg_id top)
{
    struct product *p = hg_alloc(w->e->arena, (top + 1) * sizeof *p);
    uint32_t np = 0;
    w->nlist = 0;
    for (hg_id id = 1; id <= top; id++) {
        const struct hg_node n = *hg_at(w->e, id);
        if (!need[id] || depth[id] != level)
            continue;
        w->e->line = n.line;
        if (!(n.vary & BIG) || n.nargs == 0 || n.op == HG_AT_I || n.op == HG_AT_J || n.op == HG_DELTA ||
            n.op == HG_EXPD || n.op == HG_SIND || n.op == HG_COSD)
            w->map[id] = id;
        else if (is_product(w->e, id))
            split_product(w, id, &p[np++]);
        else
            w->map[id] = n.op == HG_SUM ? split_sum(w, id) : rebuilt(w, id);
        if (w->map[id] && n.name)
            hg_name(w->e, w->map[id], n.name);
    }
    share(w);
    for (uint32_t k = 0; k < np; k++) {
        w->e->line = hg_at(w->e, p[k].id)->line;
        w->map[p[k].id] = join_product(w, &p[k]);
        if (hg_at(w->e, p[k].id)->name)
            hg_name(w->e, w->map[p[k].id], hg_at(w->e, p[k].id)->name);
    }
}

void hg_factor(struct hg_expr *e, uint32_t n, hg_id *root)
{
    hg_id top = 0;
    uint32_t deepest;
    for (uint32_t k = 0; k < n; k++)
        top = root[k] > top ? root[k] : top;
    HG_SCRATCH unsigned char *need = mark(e, n, root, top);
    HG_SCRATCH uint32_t *depth = product_depth(e, need, top, &deepest);
    struct work w = {.e = e, .map = hg_zeros(top + 1, sizeof *w.map)};
    for (uint32_t level = 0; level <= deepest; level++)
        rebuild_level(&w, need, depth, level, top);
    for (uint32_t k = 0; k < n; k++)
        root[k] = w.map[root[k]];
    e->line = 0;
    free(w.map);
}
