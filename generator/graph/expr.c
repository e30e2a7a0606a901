/* expr.c -- the store of the expression graph: hash table, raw nodes, walks, text. */
#include "graph/expr.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "graph/loop.h"

const char *const hg_op_text[HG_NOP] = {
#define OP(name, nargs, text, flags) text,
#include "graph/ops.def"
};

const unsigned char hg_op_flags[HG_NOP] = {
#define OP(name, nargs, text, flags) flags,
#include "graph/ops.def"
};

static const signed char op_nargs[HG_NOP] = {
#define OP(name, nargs, text, flags) nargs,
#include "graph/ops.def"
};

/* Open addressing; a slot holds an id or 0.  The table is kept at most half full. */
struct hg_expr_private {
    uint32_t *slot;
    uint32_t size;       /* power of two */
    size_t capacity;     /* of e->node */
    uint64_t steps;      /* work done */
    uint64_t depths;     /* sum over nodes */
};

struct hg_expr *hg_expr_new(struct hg_arena *a)
{
    struct hg_expr *e = hg_alloc(a, sizeof *e);
    e->arena = a;
    e->private_ = hg_alloc(a, sizeof *e->private_);
    e->private_->size = 1024;
    e->private_->slot = hg_alloc(a, e->private_->size * sizeof(uint32_t));
    e->node = hg_grow(a, NULL, 0, 512, sizeof *e->node, &e->private_->capacity);
    e->n = 1;
    return e;
}

void hg_steps(const struct hg_expr *e, uint64_t n)
{
    e->private_->steps += n;
    if (e->too_large && e->private_->steps > HG_MOST_STEPS)
        e->too_large(e);
}

uint64_t hg_steps_done(const struct hg_expr *e)
{
    return e->private_->steps;
}

uint64_t hg_depths(const struct hg_expr *e)
{
    return e->private_->depths;
}

static uint32_t depth_of(const struct hg_expr *e, uint32_t nargs, const hg_id *arg)
{
    uint32_t deepest = 0;
    for (uint32_t k = 0; k < nargs; k++)
        deepest = hg_at(e, arg[k])->depth > deepest ? hg_at(e, arg[k])->depth : deepest;
    return deepest + 1;
}

/* Literals are keyed by bit pattern: 0.0 and -0.0 differ, and a NaN equals itself. */
static uint64_t bits(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static uint32_t hash_node(enum hg_op op, uint32_t nargs, const hg_id *arg, double value, uint32_t ref)
{
    uint64_t h = 1469598103934665603u ^ (uint64_t)op;
    h = (h ^ bits(value)) * 1099511628211u;
    h = (h ^ ref) * 1099511628211u;
    for (uint32_t k = 0; k < nargs; k++)
        h = (h ^ arg[k]) * 1099511628211u;
    return (uint32_t)(h ^ (h >> 32));
}

static int same_node(const struct hg_node *n, enum hg_op op, uint32_t nargs, const hg_id *arg, double value,
                     uint32_t ref)
{
    return n->op == op && n->nargs == nargs && n->ref == ref && bits(n->value) == bits(value) &&
           (nargs == 0 || memcmp(n->arg, arg, nargs * sizeof *arg) == 0);
}

static void rehash(struct hg_expr *e)
{
    struct hg_expr_private *p = e->private_;
    uint32_t size = p->size * 2;
    uint32_t *slot = hg_alloc(e->arena, size * sizeof *slot);
    for (hg_id id = 1; id < e->n; id++) {
        const struct hg_node *n = hg_at(e, id);
        uint32_t s = hash_node(n->op, n->nargs, n->arg, n->value, n->ref) & (size - 1);
        while (slot[s])
            s = (s + 1) & (size - 1);
        slot[s] = id;
    }
    p->slot = slot;
    p->size = size;
}

/* The loop of a level with which the operands vary: one, or none. */
static uint32_t loop_of(const struct hg_expr *e, unsigned level, uint32_t nargs, const hg_id *arg)
{
    uint32_t loop = 0;
    for (uint32_t k = 0; k < nargs; k++) {
        uint32_t other = hg_at(e, arg[k])->loop[level];
        loop = !loop || !other || loop == other ? loop | other : HG_MIXED;
    }
    return loop;
}

static void set_loops(const struct hg_expr *e, struct hg_node *n, const hg_id *arg)
{
    for (unsigned level = 0; level < HG_LEVELS; level++)
        n->loop[level] = loop_of(e, level, n->nargs, arg);
    if (n->op == HG_INDEX || n->op == HG_NODE) {
        uint32_t loop = n->op == HG_NODE ? hg_node_loop(n) : n->ref;
        n->loop[hg_loop_at(e, loop)->level - 1] = loop;
    }
    if (n->op == HG_REDUCE)
        for (unsigned level = 0; level < HG_LEVELS; level++)
            if (hg_at(e, arg[0])->loop[level])
                n->loop[level] = 0;
    n->vary |= (n->loop[0] ? HG_K1 : 0u) | (n->loop[1] ? HG_K2 : 0u);
}

static unsigned vary_of(const struct hg_expr *e, enum hg_op op, uint32_t nargs, const hg_id *arg)
{
    unsigned v = 0;
    for (uint32_t k = 0; k < nargs; k++)
        v |= hg_at(e, arg[k])->vary & ~(unsigned)HG_K;
    switch (op) {
    case HG_LINEAR:
    case HG_COORD: return HG_G;
    case HG_TIME: return HG_T;
    case HG_COLUMN: return HG_R;
    case HG_STATE: return v | HG_R;
    case HG_AT_I: return (v & ~(unsigned)HG_T) | HG_I;
    case HG_AT_J: return (v & ~(unsigned)HG_T) | HG_J;
    case HG_DELTA:
    case HG_EXPD:
    case HG_SIND:
    case HG_COSD: return (v & ~(unsigned)HG_T) | HG_I | HG_J;
    default: return v;
    }
}

int hg_has_line(const struct hg_expr *e, hg_id id, uint32_t line)
{
    const struct hg_line *l = hg_at(e, id)->also;
    while (l && l->line != line)
        l = l->next;
    return hg_at(e, id)->line == line || l;
}

/* An existing node is requested again, in the current line. */
static hg_id used_again(struct hg_expr *e, hg_id id)
{
    struct hg_node *n = &e->node[id];
    if (e->line == 0 || n->nargs == 0 || hg_has_line(e, id, e->line))
        return id;
    struct hg_line *l = hg_alloc(e->arena, sizeof *l);
    *l = (struct hg_line){e->line, n->also};
    n->also = l;
    return id;
}

static hg_id intern(struct hg_expr *e, enum hg_op op, uint32_t nargs, const hg_id *arg, double value,
                    uint32_t ref)
{
    struct hg_expr_private *p = e->private_;
    hg_steps(e, HG_STEPS_TO_BUILD * (1 + nargs));
    if (2 * e->n >= p->size)
        rehash(e);
    uint32_t s = hash_node(op, nargs, arg, value, ref) & (p->size - 1);
    for (; p->slot[s]; s = (s + 1) & (p->size - 1))
        if (same_node(hg_at(e, p->slot[s]), op, nargs, arg, value, ref))
            return used_again(e, p->slot[s]);

    if (e->n == p->capacity)
        e->node = hg_grow(e->arena, e->node, e->n, e->n + 1, sizeof *e->node, &p->capacity);
    hg_id id = e->n++;
    struct hg_node *n = &e->node[id];
    *n = (struct hg_node){.op = op, .nargs = nargs, .value = value, .ref = ref, .line = e->line};
    n->vary = vary_of(e, op, nargs, arg);
    set_loops(e, n, arg);
    n->depth = depth_of(e, nargs, arg);
    p->depths += n->depth;
    if (nargs) {
        hg_id *copy = hg_alloc(e->arena, nargs * sizeof *copy);
        memcpy(copy, arg, nargs * sizeof *copy);
        n->arg = copy;
    }
    p->slot[s] = id;
    return id;
}

hg_id hg_raw(struct hg_expr *e, enum hg_op op, uint32_t nargs, const hg_id *arg)
{
    if (op_nargs[op] >= 0 && (uint32_t)op_nargs[op] != nargs)
        hg_bug("expr: %s with %u operands", hg_op_text[op], nargs);
    for (uint32_t k = 0; k < nargs; k++)
        if (arg[k] == 0 || arg[k] >= e->n)
            hg_bug("expr: %s with an operand that does not exist", hg_op_text[op]);
    return intern(e, op, nargs, arg, 0.0, 0);
}

hg_id hg_const(struct hg_expr *e, double value)
{
    return intern(e, HG_CONST, 0, NULL, value, 0);
}

hg_id hg_symbol(struct hg_expr *e, enum hg_op op, uint32_t ref)
{
    if (op_nargs[op] != 0 || op == HG_CONST)
        hg_bug("expr: %s is not a symbol", hg_op_text[op]);
    return intern(e, op, 0, NULL, 0.0, ref);
}

hg_id hg_opaque(struct hg_expr *e, enum hg_op op, uint32_t ref, unsigned vary)
{
    hg_id id = intern(e, op, 0, NULL, 0.0, ref);
    e->node[id].vary = vary;
    return id;
}

hg_id hg_seed(struct hg_expr *e, uint32_t ref)
{
    hg_id id = intern(e, HG_SEED, 0, NULL, 0.0, ref);
    e->node[id].vary = HG_I | HG_J | HG_G | HG_R;
    return id;
}

hg_id hg_local(struct hg_expr *e, uint32_t ref, hg_id def)
{
    const struct hg_node d = *hg_at(e, def);
    hg_id id = hg_opaque(e, HG_LOCAL, ref, d.vary);
    for (unsigned level = 0; level < HG_LEVELS; level++)
        e->node[id].loop[level] = d.loop[level];
    return id;
}

void hg_name(struct hg_expr *e, hg_id id, const char *name)
{
    if (!e->node[id].name && e->node[id].op != HG_CONST)
        e->node[id].name = hg_strdup(e->arena, name);
}

int hg_is_const(const struct hg_expr *e, hg_id id, double *value)
{
    if (hg_at(e, id)->op != HG_CONST)
        return 0;
    if (value)
        *value = hg_at(e, id)->value;
    return 1;
}

int hg_is_value(const struct hg_expr *e, hg_id id, double value)
{
    /* exact literal asked for */
    return hg_at(e, id)->op == HG_CONST && hg_at(e, id)->value == value;
}

unsigned char *hg_below(const struct hg_expr *e, hg_id root)
{
    unsigned char *below = hg_zeros(root + 1, 1);
    hg_steps(e, root / 8 + 1);
    below[root] = 1;
    for (hg_id id = root; id > 0; id--)
        for (uint32_t k = 0; below[id] && k < hg_at(e, id)->nargs; k++)
            below[hg_at(e, id)->arg[k]] = 1;
    return below;
}

int hg_contains(const struct hg_expr *e, hg_id root, hg_id leaf)
{
    if (root < leaf)
        return 0;
    hg_steps(e, (root - leaf) / 8 + 1);
    HG_SCRATCH unsigned char *has = hg_zeros(root + 1, 1);
    has[leaf] = 1;
    for (hg_id id = leaf + 1; id <= root; id++) {
        const struct hg_node *n = hg_at(e, id);
        for (uint32_t k = 0; k < n->nargs && !has[id]; k++)
            has[id] = has[n->arg[k]];
    }
    return has[root];
}

void hg_mark(const struct hg_expr *e, hg_id root, unsigned char *mark)
{
    mark[root] = 1;
    for (hg_id id = root; id > 0; id--)
        for (uint32_t k = 0; mark[id] && k < hg_at(e, id)->nargs; k++)
            mark[hg_at(e, id)->arg[k]] = 1;
}

hg_id hg_replace(struct hg_expr *e, hg_id root, uint32_t nfrom, const hg_id *from, const hg_id *to)
{
    hg_steps(e, root / 8 + 1);
    HG_SCRATCH hg_id *new_id = hg_zeros(root + 1, sizeof *new_id);
    HG_SCRATCH unsigned char *need = hg_zeros(root + 1, 1);
    for (uint32_t k = 0; k < nfrom; k++)
        if (from[k] <= root)
            new_id[from[k]] = to[k];
    need[root] = 1;
    for (hg_id id = root; id > 0; id--)
        if (need[id] && !new_id[id])
            for (uint32_t k = 0; k < hg_at(e, id)->nargs; k++)
                need[hg_at(e, id)->arg[k]] = 1;
    for (hg_id id = 1; id <= root; id++) {
        if (!need[id] || new_id[id])
            continue;
        const struct hg_node n = *hg_at(e, id);
        hg_id small[8], *arg = n.nargs <= 8 ? small : hg_alloc(e->arena, n.nargs * sizeof *arg);
        int changed = 0;
        for (uint32_t k = 0; k < n.nargs; k++) {
            arg[k] = new_id[n.arg[k]];
            changed |= arg[k] != n.arg[k];
        }
        uint32_t line = e->line;
        e->line = n.line;
        new_id[id] = changed ? hg_make(e, n.op, n.nargs, arg) : id;
        e->line = line;
        if (changed && n.name)
            hg_name(e, new_id[id], n.name);
    }
    return new_id[root];
}

/* --- text, for messages and dumps ------------------------------------------------------------------- */

struct text {
    char *p;
    size_t n, room;
};

static void put(struct text *t, const char *s)
{
    size_t n = strlen(s);
    if (t->n + n + 1 > t->room) {
        if (t->n + 4 > t->room)
            return;
        s = "...", n = 3;
        t->room = 0;
    }
    memcpy(t->p + t->n, s, n + 1);
    t->n += n;
}

static void put_node(struct text *t, const struct hg_expr *e, hg_id id, int expand, int depth)
{
    const struct hg_node *n = hg_at(e, id);
    char number[40];
    if (t->room == 0)
        return;
    if (n->name && !expand) {
        put(t, n->name);
    } else if (n->op == HG_CONST) {
        snprintf(number, sizeof number, "%.6g", n->value);
        put(t, number);
    } else if (n->nargs == 0) {
        snprintf(number, sizeof number, "%s%u", hg_op_text[n->op], n->ref);
        put(t, n->op == HG_TIME || n->op == HG_STEP ? hg_op_text[n->op] : number);
    } else if (depth > 12) {
        put(t, "...");
    } else {
        int infix = n->op == HG_SUM || n->op == HG_PROD || n->op == HG_LT || n->op == HG_LE;
        put(t, infix ? "(" : hg_op_text[n->op]);
        if (!infix)
            put(t, "(");
        for (uint32_t k = 0; k < n->nargs; k++) {
            if (k)
                put(t, infix ? " " : ", ");
            if (k && infix) {
                put(t, hg_op_text[n->op]);
                put(t, " ");
            }
            put_node(t, e, n->arg[k], 0, depth + 1);
        }
        put(t, ")");
    }
}

char *hg_text(const struct hg_expr *e, hg_id id, int expand_root)
{
    char buffer[2000] = "";
    struct text t = {.p = buffer, .room = 1990};
    put_node(&t, e, id, expand_root, 0);
    return hg_strdup(e->arena, buffer);
}
