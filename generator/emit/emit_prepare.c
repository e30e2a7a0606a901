/* emit_prepare.c -- `prepare` of a kernel, which fills its workspace, and `direction` for second
 * derivatives.
 *
 * prepare runs in the order in which tables depend on each other: scalars; then, for each depth of nested
 * integrals, the functions of time (vectors of 8 frames) and their cumulative trapezoids; then what the
 * pair loop reads: tables at the used frames, re-centred exponentials, rotations.
 */
#include <stdlib.h>
#include <string.h>

#include "emit/emit.h"

/* Marks of what is kept on the grid, in the order of struct hg_field's `derivative`, from 1. */
enum { VALUE = 1, TANGENT, SECOND, DIRECTION };

struct prepare {
    struct hg_emit *em;
    unsigned char *stored;     /* per node: its mark; 0: not kept */
    unsigned char *ready;      /* grid table written already */
    uint32_t *depth;           /* integrals nested below */
    uint32_t deepest;
    hg_id n;
};

static int is_time(const struct hg_emit *em, hg_id id)
{
    return (hg_at(em->e, id)->vary & HG_T) != 0;
}

static const struct hg_field *grid_field(struct hg_emit *em, hg_id id, int derivative)
{
    return hg_emit_field(em, hg_at(em->e, id)->vary & HG_G ? HG_FIELD_GRID_G : HG_FIELD_GRID, id, derivative);
}

/* Marks id and, below it, integrals and what they integrate. */
static void keep(struct prepare *q, hg_id root, unsigned char mark)
{
    HG_SCRATCH unsigned char *need = hg_zeros(root + 1, 1);
    need[root] = 1;
    if (!q->stored[root])
        q->stored[root] = mark;
    for (hg_id id = root; id > 0; id--) {
        const struct hg_node *n = hg_at(q->em->e, id);
        if (!need[id] || !is_time(q->em, id) || q->ready[id])
            continue;
        for (uint32_t k = 0; k < n->nargs; k++)
            need[n->arg[k]] = 1;
        if (n->op == HG_POTENTIAL) {
            if (!q->stored[id])
                q->stored[id] = mark;
            if (!q->stored[n->arg[0]])
                q->stored[n->arg[0]] = mark;
        }
    }
}

static void reach(const struct prepare *q, unsigned char *set, unsigned char mark)
{
    for (hg_id id = 1; id < q->n; id++)
        set[id] = q->stored[id] == mark;
    for (hg_id id = q->n - 1; id > 0; id--)
        for (uint32_t k = 0; set[id] && k < hg_at(q->em->e, id)->nargs; k++)
            set[hg_at(q->em->e, id)->arg[k]] = 1;
}

/* Functions needed both for values and for derivatives are computed once. */
static void keep_shared_functions(struct prepare *q)
{
    HG_SCRATCH unsigned char *reached = hg_zeros(q->n, 1), *first = hg_zeros(q->n, 1), *again = hg_zeros(q->n, 1);
    for (int k = VALUE; k <= SECOND; k++) {
        const unsigned char mark = (unsigned char)k;
        reach(q, reached, mark);
        for (hg_id id = 1; id < q->n; id++) {
            again[id] |= reached[id] && first[id];
            first[id] = reached[id] && !first[id] ? mark : first[id];
        }
    }
    for (hg_id id = 1; id < q->n; id++) {
        const struct hg_node *n = hg_at(q->em->e, id);
        double power;
        int cheap = !(hg_op_flags[n->op] & HG_F_POINTWISE) || n->op == HG_WHERE || (hg_op_flags[n->op] & HG_F_BOOL) ||
                    (n->op == HG_POW && hg_is_const(q->em->e, n->arg[1], &power));
        if (again[id] && is_time(q->em, id) && n->nargs && !cheap && !q->stored[id])
            q->stored[id] = first[id];
    }
}

/* Fields that other fields are made from. */
static void register_sources(struct prepare *q)
{
    struct hg_emit *em = q->em;
    for (uint32_t k = 0; k < em->nfield; k++) {
        struct hg_field f = em->field[k];
        hg_id a, P;
        switch (f.kind) {
        case HG_FIELD_EXP:
            P = hg_emit_scaled(em, f.id, 0, &a);
            hg_emit_field(em, HG_FIELD_FRAME, P ? P : f.id, 0);
            break;
        case HG_FIELD_EXP_G: hg_emit_field(em, HG_FIELD_FRAME_G, f.id, f.derivative); break;
        case HG_FIELD_ROT: hg_emit_field(em, HG_FIELD_FRAME, f.id, f.derivative); break;
        case HG_FIELD_ROT_G:
            P = hg_emit_scaled(em, f.id, HG_G, &a);
            if (P)
                hg_emit_field(em, HG_FIELD_FRAME, P, 0);
            else
                hg_emit_field(em, HG_FIELD_FRAME_G, f.id, f.derivative);
            break;
        default: break;
        }
    }
}

static void new_marks(struct prepare *q)
{
    q->n = q->em->e->n;
    q->stored = hg_zeros(q->n, 1);
    q->ready = hg_zeros(q->n, 1);
    q->depth = hg_zeros(q->n, sizeof *q->depth);
}

static void free_marks(struct prepare *q)
{
    free(q->stored);
    free(q->ready);
    free(q->depth);
}

/* Marks what the fields of one kind of derivative need. */
static void keep_fields(struct prepare *q, unsigned char mark)
{
    struct hg_emit *em = q->em;
    for (uint32_t k = 0; k < em->nfield; k++)
        if (em->field[k].derivative + 1 == mark && is_time(em, em->field[k].id) &&
            (em->field[k].kind == HG_FIELD_FRAME || em->field[k].kind == HG_FIELD_FRAME_G))
            keep(q, em->field[k].id, mark);
}

/* The depth of every node, and a field for what is kept. */
static void find_depths(struct prepare *q)
{
    struct hg_emit *em = q->em;
    for (hg_id id = 1; id < q->n; id++) {
        const struct hg_node *n = hg_at(em->e, id);
        for (uint32_t k = 0; k < n->nargs; k++)
            q->depth[id] = q->depth[n->arg[k]] > q->depth[id] ? q->depth[n->arg[k]] : q->depth[id];
        q->depth[id] += n->op == HG_POTENTIAL;
        if (q->stored[id] && q->depth[id] > q->deepest)
            q->deepest = q->depth[id];
        if (q->stored[id] && hg_at(em->e, id)->op != HG_TIME)
            grid_field(em, id, q->stored[id] - 1);
    }
}

static void plan_tables(struct prepare *q)
{
    register_sources(q);
    new_marks(q);
    for (int mark = VALUE; mark <= SECOND; mark++)
        keep_fields(q, (unsigned char)mark);
    keep_shared_functions(q);
    find_depths(q);
}

static int prepare_is_leaf(const struct hg_code *c, hg_id id)
{
    const struct prepare *q = c->user;
    return hg_at(c->e, id)->nargs == 0 || (id < q->n && q->ready[id]);
}

static const char *prepare_leaf(struct hg_code *c, hg_id id)
{
    struct prepare *q = c->user;
    const struct hg_node *n = hg_at(c->e, id);
    struct hg_arena *a = c->e->arena;
    if (n->op == HG_TIME)
        return "fit_vload(w.time_grid + k)";
    if (n->op == HG_LOCAL)
        return hg_emit_local(q->em, c, id, "w.");
    if (n->op == HG_DIRECTION)
        return n->ref < q->em->p->nparam ? hg_format(a, "v[%u]", n->ref)
                                         : hg_format(a, "v[%u + g * %u]", n->ref, q->em->p->nlinear);
    if (id < q->n && q->ready[id]) {
        const struct hg_field *f = grid_field(q->em, id, DIRECTION - 1);
        return hg_format(a, n->vary & HG_G ? "fit_vload(w.%s + g * nt + k)" : "fit_vload(w.%s + k)", f->name);
    }
    return hg_emit_common_leaf(c, id);
}

/* Nodes to be written now: kept with this mark, at this depth, not integrals, with or without groups. */
static uint32_t pick(const struct prepare *q, unsigned char mark, uint32_t depth, unsigned group, hg_id *out)
{
    uint32_t n = 0;
    for (hg_id id = 1; id < q->n; id++) {
        const struct hg_node *x = hg_at(q->em->e, id);
        if (q->stored[id] == mark && q->depth[id] == depth && x->op != HG_POTENTIAL && x->op != HG_TIME &&
            (x->vary & HG_G) == group)
            out[n++] = id;
    }
    return n;
}

/* Code of prepare and direction.  vector_if: what varies with it is a vector. */
static struct hg_code prepare_code(struct prepare *q, struct hg_tree *out, unsigned vector_if)
{
    struct hg_code c = {.e = q->em->e,
                        .out = out,
                        .vector_if = vector_if,
                        .source = q->em->p->model->file,
                        .units = q->em->p->model,
                        .leaf = prepare_leaf,
                        .is_leaf = prepare_is_leaf,
                        .user = q,
                        .nparam = q->em->p->nparam};
    c.nreserve = hg_emit_names(q->em, &c.reserve);
    return c;
}

/* Scalars that the statements use. */
static void need_scalars(struct prepare *q, struct hg_code *c, uint32_t n, const hg_id *root)
{
    for (hg_id id = 1; id < q->n; id++) {
        int used = 0;
        if (is_time(q->em, id) || !hg_at(c->e, id)->nargs || hg_at(c->e, id)->op == HG_LOCAL ||
            (hg_at(c->e, id)->vary & HG_K))
            continue;
        for (uint32_t k = 0; k < n && !used; k++)
            used = hg_contains(c->e, root[k], id);
        if (used)
            hg_code_need(c, id);
    }
}

/* Scalars first, outside the loop, then the loop over frames. */
static void time_loop(struct prepare *q, struct hg_tree *out, uint32_t n, const hg_id *root)
{
    struct hg_code c = prepare_code(q, out, HG_T);
    unsigned group = hg_at(c.e, root[0])->vary & HG_G;
    if (group)
        hg_line(out, "for (size_t g = 0; g < ng; g++)");
    hg_open(out, "{");
    hg_code_begin(&c, n, root);
    hg_code_push(&c);
    need_scalars(q, &c, n, root);
    hg_open(c.out, "for (size_t k = 0; k < nt; k += FIT_VL) {");
    for (uint32_t k = 0; k < n; k++) {
        const struct hg_field *f = grid_field(q->em, root[k], DIRECTION - 1);
        hg_code_need(&c, root[k]);
        hg_do(out, group ? "fit_vstore(w.%s + g * nt + k, %s);" : "fit_vstore(w.%s + k, %s);", f->name,
              hg_code_vector(&c, root[k]));
    }
    hg_close(c.out);
    hg_code_pop(&c);
    hg_code_end(&c);
    hg_close(c.out);
    for (uint32_t k = 0; k < n; k++)
        q->ready[root[k]] = 1;
}

/* Integrals of functions of time, by one call. */
static void plain_integrals(struct prepare *q, struct hg_tree *out, unsigned char mark, uint32_t depth)
{
    uint32_t count = 0;
    struct hg_tree *list = hg_tree_part(out, out->depth + 1);
    for (hg_id id = 1; id < q->n; id++) {
        const struct hg_node *n = hg_at(q->em->e, id);
        if (q->stored[id] != mark || q->depth[id] != depth || n->op != HG_POTENTIAL || !is_time(q->em, n->arg[0]) ||
            hg_at(q->em->e, n->arg[0])->vary & HG_G)
            continue;
        const char *F = grid_field(q->em, id, DIRECTION - 1)->name;
        const char *f = hg_at(q->em->e, n->arg[0])->op == HG_TIME ? "time_grid"
                                                                   : grid_field(q->em, n->arg[0], DIRECTION - 1)->name;
        hg_statement(list, HG_VERBATIM | HG_WHOLE, mark == VALUE ? "{w.%s, w.%s, w.%s_low}," : "{w.%s, w.%s, NULL},", f,
                     F, F);
        q->ready[id] = 1;
        count++;
    }
    if (!count)
        return;
    hg_open(out, "fit_trapezoids(l->ntime, l->time, %u, (const struct fit_integral[]){", count);
    hg_put_tree(out, list);
    hg_close_with(out, "});");
}

static void integrals(struct prepare *q, struct hg_tree *out, unsigned char mark, uint32_t depth)
{
    plain_integrals(q, out, mark, depth);
    for (hg_id id = 1; id < q->n; id++) {
        const struct hg_node *n = hg_at(q->em->e, id);
        if (q->stored[id] != mark || q->depth[id] != depth || n->op != HG_POTENTIAL || q->ready[id])
            continue;
        const char *F = grid_field(q->em, id, DIRECTION - 1)->name;
        const char *f = hg_at(q->em->e, n->arg[0])->op == HG_TIME ? "time_grid"
                                                                   : grid_field(q->em, n->arg[0], DIRECTION - 1)->name;
        if (!(hg_at(q->em->e, n->arg[0])->vary & HG_G))
            hg_bug("emit: integral of a constant was not simplified");
        hg_line(out, "for (size_t g = 0; g < ng; g++)");
        hg_line(out, "    fit_trapezoid(l->ntime, w.%s + g * nt, l->time, w.%s + g * nt);", f, F);
        q->ready[id] = 1;
    }
}

static void gather(struct prepare *q, struct hg_tree *out, int derivative)
{
    struct hg_emit *em = q->em;
    for (uint32_t k = 0; k < em->nfield; k++) {
        const struct hg_field *f = &em->field[k];
        if (f->derivative != derivative)
            continue;
        const char *grid = f->kind != HG_FIELD_FRAME                   ? ""
                           : hg_at(em->e, f->id)->op == HG_TIME ? "time_grid"
                                                                : grid_field(em, f->id, DIRECTION - 1)->name;
        f = &em->field[k];
        if (f->kind == HG_FIELD_FRAME)
            hg_whole(out, "fit_gather(l, w.%s, w.%s);", grid, f->name);
        if (f->kind == HG_FIELD_FRAME && !derivative && hg_emit_has_low(em, f->id))
            hg_whole(out, "fit_gather(l, w.%s_low, w.%s_low);", grid, f->name);
        if (f->kind == HG_FIELD_FRAME_G)
            hg_whole(out, "fit_gather_group(l, w.%s, w.%s_i, w.%s_j);", grid_field(em, f->id, DIRECTION - 1)->name,
                     f->name, f->name);
    }
}

static void rotation_of_group(struct hg_emit *em, const struct hg_field *f, struct hg_tree *out)
{
    hg_id a = 0, P = hg_emit_scaled(em, f->id, HG_G, &a);
    const char *u = P ? hg_emit_field(em, HG_FIELD_FRAME, P, 0)->name : "";
    const char *by = P ? hg_emit_field(em, HG_FIELD_GROUP, a, 0)->name
                       : hg_emit_field(em, HG_FIELD_FRAME_G, f->id, 0)->name;
    const char *from = hg_format(em->e->arena, P ? "group(l, w.%s, w.%s, w.%s_low" : "group_u(l, w.%s_j", by, u, u);
    hg_whole(out, "fit_rotation_%s, w.sin_%s_i, w.cos_%s_i, w.sin_%s_j, w.cos_%s_j);", from, f->name, f->name, f->name,
             f->name);
}

static void factored(struct prepare *q, struct hg_tree *out)
{
    struct hg_emit *em = q->em;
    for (uint32_t k = 0; k < em->nfield; k++) {
        struct hg_field f = em->field[k];
        const char *u;
        hg_id a = 0, P;
        switch (f.kind) {
        case HG_FIELD_EXP:
            P = hg_emit_scaled(em, f.id, 0, &a);
            u = hg_emit_field(em, HG_FIELD_FRAME, P ? P : f.id, 0)->name;
            if (P)
                hg_whole(out, "fit_exp_tables_scaled(l, w.%s[0], w.%s, w.%s_low, w.%s_i, w.%s_j);",
                         hg_emit_field(em, HG_FIELD_SCALAR, a, 0)->name, u, u, f.name, f.name);
            else
                hg_whole(out, "fit_exp_tables(l, w.%s, w.%s_i, w.%s_j);", u, f.name, f.name);
            break;
        case HG_FIELD_EXP_G:
            u = hg_emit_field(em, HG_FIELD_FRAME_G, f.id, 0)->name;
            hg_whole(out, "fit_exp_tables_group(l, w.%s_i, w.%s_i, w.%s_j);", u, f.name, f.name);
            break;
        case HG_FIELD_ROT:
            u = hg_emit_field(em, HG_FIELD_FRAME, f.id, 0)->name;
            hg_whole(out, "fit_rotation(l, w.%s, w.sin_%s, w.cos_%s);", u, f.name, f.name);
            break;
        case HG_FIELD_ROT_G:
            rotation_of_group(em, &f, out);
            break;
        default: break;
        }
    }
}

/* 1 for every node that depends on the direction, by itself or by a local: their definitions have smaller ids. */
static unsigned char *along_direction(const struct hg_emit *em)
{
    unsigned char *has = hg_zeros(em->e->n, 1);
    for (hg_id id = 1; id < em->e->n; id++) {
        const struct hg_node *n = hg_at(em->e, id);
        has[id] =
            n->op == HG_DIRECTION || (n->op == HG_LOCAL && n->ref < em->p->nlocal && has[em->p->local[n->ref].def]);
        for (uint32_t k = 0; k < n->nargs && !has[id]; k++)
            has[id] = has[n->arg[k]];
    }
    return has;
}

/* A list of scalars: those of the call (group 0) or of the groups; done: written. */
struct locals {
    const uint32_t *list;
    uint32_t n;
    int group, any;
    unsigned char *done; /* by number of the local */
};

static void assign(struct prepare *q, struct hg_code *c, struct locals *x, uint32_t local)
{
    const struct hg_local *l = &q->em->p->local[local];
    if (x->group && !x->any)
        hg_open(c->out, "for (size_t g = 0; g < ng; g++) {");
    x->any = x->done[local] = 1;
    hg_code_need(c, l->def);
    const char *s = hg_format(q->em->e->arena, "%s = %s;", hg_emit_local(q->em, c, l->symbol, "w."),
                              hg_code_text(c, l->def));
    hg_code_source(c, l->def);
    hg_do(c->out, "%s", s);
}

/* Has it no number for each turn of a sum?  Is it to be written now, and are all that it uses written? */
static int is_single(const struct prepare *q, uint32_t local)
{
    return !(hg_at(q->em->e, q->em->p->local[local].symbol)->vary & HG_K);
}

static int is_due(const struct prepare *q, const struct locals *x, uint32_t local)
{
    return !x->done[local] && ((hg_at(q->em->e, q->em->p->local[local].symbol)->vary & HG_G) != 0) == x->group;
}

static int is_ready(const struct prepare *q, const struct locals *x, uint32_t local)
{
    const struct hg_plan *p = q->em->p;
    const hg_id def = p->local[local].def;
    HG_SCRATCH unsigned char *below = hg_zeros((size_t)def + 1, 1);
    int waits = 0;
    hg_mark(q->em->e, def, below);
    for (uint32_t k = 0; k < x->n && !waits; k++)
        waits = is_due(q, x, x->list[k]) && p->local[x->list[k]].symbol <= def && below[p->local[x->list[k]].symbol];
    return !waits;
}

/* All that have a number for each turn of the same loops as the first one, and are ready, in one loop. */
static void assign_turns(struct prepare *q, struct hg_code *c, struct locals *x, uint32_t first)
{
    struct hg_emit *em = q->em;
    const struct hg_node like = *hg_at(em->e, em->p->local[first].symbol);
    uint32_t n = 0, *local = hg_alloc(em->e->arena, x->n * sizeof *local);
    hg_id *root = hg_alloc(em->e->arena, x->n * sizeof *root);
    for (uint32_t k = 0; k < x->n; k++) {
        const struct hg_node *l = hg_at(em->e, em->p->local[x->list[k]].symbol);
        if (!is_due(q, x, x->list[k]) || l->loop[0] != like.loop[0] || l->loop[1] != like.loop[1] ||
            !is_ready(q, x, x->list[k]))
            continue;
        local[n] = x->list[k];
        root[n++] = em->p->local[x->list[k]].def;
    }
    if (x->group && !x->any)
        hg_open(c->out, "for (size_t g = 0; g < ng; g++) {");
    x->any = 1;
    for (unsigned level = 0; level < HG_LEVELS; level++)
        if (like.loop[level])
            hg_code_open_loop(c, like.loop[level], n, root);
    for (uint32_t k = 0; k < n; k++)
        assign(q, c, x, local[k]);
    for (unsigned level = HG_LEVELS; level > 0; level--)
        if (like.loop[level - 1])
            hg_code_close_loop(c, like.loop[level - 1]);
}

/* In the order of their numbers, later ones may use earlier ones; those with a number for each turn as soon as what
 * they use is there. */
static void locals_of(struct prepare *q, struct hg_code *c, struct locals *x)
{
    for (uint32_t k = 0; k < x->n; k++) {
        const uint32_t local = x->list[k];
        if (!is_due(q, x, local))
            continue;
        if (is_single(q, local))
            assign(q, c, x, local);
        else
            assign_turns(q, c, x, local);
    }
    if (x->group && x->any)
        hg_close(c->out);
}

/* Scalars of the call and of the groups, in the order of their numbers: later ones may use earlier ones. */
static void locals(struct prepare *q, struct hg_tree *out, int direction)
{
    struct hg_emit *em = q->em;
    uint32_t n = 0, *list = hg_alloc(em->e->arena, (em->p->nlocal + 1) * sizeof *list);
    hg_id *root = hg_alloc(em->e->arena, (em->p->nlocal + 1) * sizeof *root);
    HG_SCRATCH unsigned char *along = along_direction(em);
    for (uint32_t k = 0; k < em->p->nlocal; k++)
        if (along[em->p->local[k].def] == direction) {
            list[n] = k;
            root[n++] = em->p->local[k].def;
        }
    if (n == 0)
        return;
    hg_open(out, "{");
    struct hg_code c = prepare_code(q, out, 0);
    HG_SCRATCH unsigned char *done = hg_zeros(em->p->nlocal, 1);
    hg_code_begin(&c, n, root);
    for (int group = 0; group < 2; group++) { /* the groups may use what was declared for the call */
        struct locals x = {.list = list, .n = n, .group = group, .done = done};
        hg_code_push(&c);
        locals_of(q, &c, &x);
    }
    hg_code_pop(&c);
    hg_code_pop(&c);
    hg_code_end(&c);
    hg_close(out);
}

static void finite_check(struct prepare *q, struct hg_tree *out)
{
    struct hg_emit *em = q->em;
    uint32_t n = 0;
    for (uint32_t k = 0; k < em->nfield; k++) {
        const struct hg_field *f = &em->field[k];
        if (f->derivative || f->kind != HG_FIELD_FRAME)
            continue;
        if (n++ == 0)
            hg_declare(out, "double", "check = 0.0; /* NaN where a table is not finite */");
        hg_do(out, "check += 0.0 * w.%s[l->nframe - 1];", f->name);
    }
    hg_line(out, n ? "return check == 0.0 ? FIT_EVAL_OK : FIT_EVAL_REJECT;" : "return FIT_EVAL_OK;");
}

/* Tables with one mark: functions of time and integrals by depth, then their values at the used frames. */
static void marked_tables(struct prepare *q, struct hg_tree *out, unsigned char mark)
{
    hg_id *list = hg_alloc(q->em->e->arena, q->n * sizeof *list);
    for (uint32_t d = 0; d <= q->deepest; d++) {
        for (unsigned group = 0; group <= HG_G; group += HG_G) {
            uint32_t n = pick(q, mark, d, group, list);
            if (n)
                time_loop(q, out, n, list);
        }
        integrals(q, out, mark, d + 1);
    }
    gather(q, out, mark - 1);
}

/* What every function that fills tables may need. */
static void sizes(struct hg_tree *out)
{
    hg_offer(out, "const size_t", "ng = l->ngroup;");
    hg_offer(out, "const size_t", "nt = fit_padded(l->ntime);");
    hg_define(out, "w", "struct tables w;\ncarve(l, ws, &w);\n");
}

/* Rates of change of scalars and tables along a direction in the parameters, first and second. */
static void emit_direction(struct hg_emit *em, const struct prepare *prepared, struct hg_tree *out)
{
    struct prepare q = {.em = em};
    new_marks(&q);
    for (hg_id id = 1; id < prepared->n; id++)
        q.ready[id] = prepared->ready[id] && prepared->stored[id] <= TANGENT;
    keep_fields(&q, DIRECTION);
    find_depths(&q);
    hg_put(out, "\n");
    hg_open_function(out, "static void", "direction",
                "const struct fit_layout *l, const double *theta, const double *v, double *ws");
    sizes(out);
    hg_emit_declare_names(em, out);
    locals(&q, out, 1);
    if (em->p->model->space != FIT_ROWS)
        marked_tables(&q, out, DIRECTION);
    hg_close(out);
    free_marks(&q);
}

/* Tables over the frames: values, their factored forms, tangents. */
static void tables_of_time(struct prepare *q, struct hg_tree *out)
{
    hg_put(out, "\n");
    hg_open(out, "if (derivative >= 0) { /* functions of time and their integrals */");
    hg_line(out, "for (size_t k = 0; k < nt; k++)\n    w.time_grid[k] = l->time[k < l->ntime ? k : l->ntime - 1];");
    marked_tables(q, out, VALUE);
    hg_put(out, "\n");
    hg_line(out, "/* factored forms */");
    factored(q, out);
    hg_close(out);
    hg_put(out, "\n");
    hg_open(out, "if (derivative) { /* tangents: the same integrals of the derivatives */");
    marked_tables(q, out, TANGENT);
    hg_close(out);
    if (q->em->hessian) {
        hg_put(out, "\n");
        hg_open(out, "if (derivative > 1) { /* tangents of the tangents */");
        marked_tables(q, out, SECOND);
        hg_close(out);
    }
}

void hg_emit_prepare(struct hg_emit *em, struct hg_tree *out)
{
    struct prepare q = {.em = em};
    /* every scalar has a field before the tables are planned */
    for (uint32_t k = 0; k < em->p->nlocal; k++)
        hg_emit_local_field(em, em->p->local[k].symbol);
    plan_tables(&q);
    hg_emit_march(em, out);
    hg_open_function(out, "static enum fit_eval", "prepare",
                "const struct fit_layout *l, const double *theta, int derivative, double *ws");
    sizes(out);
    hg_emit_declare_names(em, out);
    hg_put(out, "\n");
    hg_line(out, "/* scalars of the call and of the groups */");
    locals(&q, out, 0);
    if (em->p->model->space != FIT_ROWS)
        tables_of_time(&q, out);
    if (em->e->march) {
        hg_put(out, "\n");
        hg_line(out, "if (!(derivative ? march_slopes(l, theta, w) : march_values(l, theta, w)))\n"
                     "    return FIT_EVAL_REJECT;");
    }
    finite_check(&q, out);
    hg_close(out);
    if (em->hessian)
        emit_direction(em, &q, out);
    free_marks(&q);
}
