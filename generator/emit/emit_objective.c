/* emit_objective.c -- phases of an objective: loops over blocks of elements, calls of operators, sums.
 *
 * Forward: arrays that are kept, operators, sums, as the steps stand.  Backward: the same in reverse order.  Where a
 * step has the slope s of its result, each array and number of its formula f that moves gets s df/d(it): arrays in
 * place, numbers as sums over blocks.
 */
#include "emit/emit_objective.h"

#include <math.h>
#include <string.h>

#include "base/tmpl.h"
#include "emit/code.h"
#include "emit/objective_desc.h"
#include "emit/tree.h"

extern const unsigned char embedded_objective_c_tmpl[];

struct writer {
    struct hg_model *m;
    struct hg_objective *o;
    struct hg_expr *e;
    struct hg_tree *forward, *backward, *terms;
    struct hg_objective_phases phases[2]; /* forward, backward */
};

static const char *array_name(const struct writer *w, uint32_t k)
{
    return w->m->column.item[k].name;
}

/* --- formulas ------------------------------------------------------------------------------------------- */

static const char *leaf(struct hg_code *c, hg_id id)
{
    const struct writer *w = c->user;
    const struct hg_node *n = hg_at(c->e, id);
    if (n->op != HG_COLUMN)
        return hg_format(c->e->arena, "c->number[%u]", n->ref);
    const char *name = hg_code_unique(c, array_name(w, n->ref));
    hg_line(c, "const fit_vd %s = fit_vload(c->array[%u] + row);", name, n->ref);
    return name;
}

static struct hg_code begin(struct writer *w, struct hg_tree *out, int indent, uint32_t nroot, const hg_id *root)
{
    static const char *const names[] = {"c", "row", "from", "to", "block", "n", "end", "sum", "slope", "add"};
    struct hg_code c = {.e = w->e,
                        .out = out,
                        .indent = indent,
                        .vector_if = HG_R,
                        .source = w->m->file,
                        .units = w->m,
                        .leaf = leaf,
                        .is_leaf = hg_code_is_symbol,
                        .reserve = names,
                        .nreserve = sizeof names / sizeof *names,
                        .user = w};
    hg_code_begin(&c, nroot, root);
    hg_code_push(&c);
    for (uint32_t k = 0; k < nroot; k++)
        hg_code_need(&c, root[k]);
    return c;
}

static void finish(struct hg_code *c)
{
    hg_code_pop(c);
    hg_code_end(c);
}

static const char arguments[] = "const struct fit_functional_call *c, size_t from, size_t to";

/* The loops over blocks and over the vectors of a block. */
static void open_rows(struct hg_tree *out, uint32_t axis, uint32_t nsum)
{
    hg_put(out, "    const size_t n = c->size[%u];\n    for (size_t block = from; block < to; block++) {\n", axis);
    hg_put(out, "        const size_t end = block * FIT_BLOCK + FIT_BLOCK < n ? block * FIT_BLOCK + FIT_BLOCK : n;\n");
    if (nsum)
        hg_put(out, "        fit_vd sum[%u] = {{0}};\n", nsum);
    hg_put(out, "        for (size_t row = block * FIT_BLOCK; row < end; row += FIT_VL) {\n");
}

static void close_rows(struct hg_tree *out, uint32_t nsum)
{
    hg_put(out, "        }\n");
    for (uint32_t k = 0; k < nsum; k++)
        hg_put(out,
               nsum == 1 ? "        c->partial[block] = fit_vsum(sum[0]);\n"
                         : "        c->partial[%u * c->nblock + block] = fit_vsum(sum[%u]);\n",
               k, k);
    hg_put(out, "    }\n}\n\n");
}

static void add_to_sum(struct hg_code *c, uint32_t k, hg_id id)
{
    hg_line(c, "sum[%u] += fit_where_set(LANES(row, n), %s);", k, hg_code_vector(c, id));
}

/* --- phases --------------------------------------------------------------------------------------------- */

static struct hg_objective_phase *add_phase(struct writer *w, int back, const struct hg_step *s, const char *name)
{
    struct hg_objective_phases *p = &w->phases[back];
    p->phase = hg_grow(w->e->arena, p->phase, p->n, p->n + 1, sizeof *p->phase, &p->room);
    p->phase[p->n] =
        (struct hg_objective_phase){.name = name,
                                    .function = hg_format(w->e->arena, "%s_%u", back ? "backward" : "forward", p->n),
                                    .need = s->need};
    return &p->phase[p->n++];
}

static void open_phase(struct writer *w, struct hg_tree *out, const struct hg_objective_phase *p, const char *what)
{
    hg_put(out, "/* %s%s */\n", what, p->name);
    hg_open_function(out, "static void", p->function, arguments);
    (void)w;
}

static uint32_t nodes_below(const struct writer *w, uint32_t nroot, const hg_id *root)
{
    HG_SCRATCH unsigned char *mark = hg_zeros(w->e->n, 1);
    uint32_t n = 0;
    for (uint32_t k = 0; k < nroot; k++)
        hg_mark(w->e, root[k], mark);
    for (hg_id id = 1; id < w->e->n; id++)
        n += mark[id] && hg_at(w->e, id)->nargs;
    return n;
}

static void keep_forward(struct writer *w, const struct hg_step *s)
{
    const struct hg_array *a = &w->o->array[s->of];
    struct hg_objective_phase *p = add_phase(w, 0, s, array_name(w, s->of));
    p->axis = a->axis;
    p->work = 4 + 4 * nodes_below(w, 1, &a->formula);
    open_phase(w, w->forward, p, "");
    open_rows(w->forward, a->axis, 0);
    struct hg_code c = begin(w, w->forward, 3, 1, &a->formula);
    hg_line(&c, "fit_vstore(c->array[%u] + row, %s);", s->of, hg_code_vector(&c, a->formula));
    finish(&c);
    close_rows(w->forward, 0);
}

static void add_forward(struct writer *w, const struct hg_step *s)
{
    const struct hg_number_of *n = &w->o->number[s->of];
    struct hg_objective_phase *p = add_phase(w, 0, s, w->m->setting.item[s->of].name);
    p->axis = n->axis;
    p->nsum = 1;
    p->sum = hg_alloc(w->e->arena, sizeof *p->sum);
    p->sum[0] = s->of;
    p->work = 4 + 4 * nodes_below(w, 1, &n->formula);
    open_phase(w, w->forward, p, "sum of a formula: ");
    open_rows(w->forward, n->axis, 1);
    struct hg_code c = begin(w, w->forward, 3, 1, &n->formula);
    add_to_sum(&c, 0, n->formula);
    finish(&c);
    close_rows(w->forward, 1);
}

/* What moves in a formula: leaves of arrays first, then of numbers. */
static uint32_t moving_leaves(const struct writer *w, hg_id formula, hg_id *leaves, uint32_t *narray)
{
    HG_SCRATCH unsigned char *mark = hg_objective_leaves(w->m, formula);
    uint32_t n = 0;
    for (uint32_t k = 0; k < w->o->narray; k++)
        if (mark[w->o->array[k].node] && w->o->array[k].moves)
            leaves[n++] = w->o->array[k].node;
    *narray = n;
    for (uint32_t k = 0; k < w->o->nnumber; k++)
        if (mark[w->o->number[k].node] && w->o->number[k].moves)
            leaves[n++] = w->o->number[k].node;
    return n;
}

/* s df/d(leaf) for what moves in f = formula; slope: the text of s, a number or a vector. */
static void formula_back(struct writer *w, const struct hg_step *s, hg_id formula, uint32_t axis, const char *name,
                         const char *slope)
{
    struct hg_arena *a = w->e->arena;
    hg_id *leaves = hg_alloc(a, (w->o->narray + w->o->nnumber) * sizeof *leaves);
    uint32_t narray, n = moving_leaves(w, formula, leaves, &narray);
    hg_id *part = hg_alloc(a, n * sizeof *part);
    hg_gradient(w->e, formula, n, leaves, part);
    struct hg_objective_phase *p = add_phase(w, 1, s, name);
    p->axis = axis;
    p->nsum = n - narray;
    p->sum = hg_alloc(a, (n - narray + 1) * sizeof *p->sum);
    for (uint32_t k = narray; k < n; k++)
        p->sum[k - narray] = hg_at(w->e, leaves[k])->ref;
    p->work = 4 + 4 * nodes_below(w, n, part);
    open_phase(w, w->backward, p, "by way of ");
    open_rows(w->backward, axis, p->nsum);
    struct hg_code c = begin(w, w->backward, 3, n, part);
    hg_line(&c, "const fit_vd slope = %s;", slope);
    for (uint32_t k = 0; k < narray; k++) {
        const uint32_t array = hg_at(w->e, leaves[k])->ref;
        hg_line(&c, "add(c->slope[%u] + row, slope*(%s)); /* %s */", array, hg_code_vector(&c, part[k]),
                array_name(w, array));
    }
    for (uint32_t k = narray; k < n; k++)
        hg_line(&c, "sum[%u] += fit_where_set(LANES(row, n), slope*(%s)); /* %s */", k - narray,
                hg_code_vector(&c, part[k]), w->m->setting.item[hg_at(w->e, leaves[k])->ref].name);
    finish(&c);
    close_rows(w->backward, p->nsum);
}

static void keep_backward(struct writer *w, const struct hg_step *s)
{
    const struct hg_array *a = &w->o->array[s->of];
    if (a->moves)
        formula_back(w, s, a->formula, a->axis, array_name(w, s->of),
                     hg_format(w->e->arena, "fit_vload(c->slope[%u] + row)", s->of));
}

static void add_backward(struct writer *w, const struct hg_step *s)
{
    const struct hg_number_of *n = &w->o->number[s->of];
    if (n->moves)
        formula_back(w, s, n->formula, n->axis, w->m->setting.item[s->of].name,
                     hg_format(w->e->arena, "fit_vset1(c->number_slope[%u])", s->of));
}

/* --- operators ------------------------------------------------------------------------------------------ */

static const char *const operator_name[] = {"outer", "difference", "gather", "blocks", "dense"};

/* Grids are folded before rows of visibilities are computed. */
static void fold_phase(struct writer *w, const struct hg_step *s, const struct hg_operation *q)
{
    struct hg_objective_phase *p = add_phase(w, 0, s, q->name);
    p->unit = FIT_UNIT_ONE;
    open_phase(w, w->forward, p, "even and odd parts for ");
    hg_put(w->forward, "    fit_outer_fold(c->operation[%u], c->array[%u]);\n}\n\n", s->of, q->in[0]);
}

static enum fit_unit_kind unit_of(const struct hg_operation *q, int back)
{
    return q->kind == FIT_BLOCKS ? FIT_UNIT_BLOCKS : q->kind == FIT_OUTER && back ? FIT_UNIT_ROWS : FIT_UNIT_ELEMENTS;
}

/* One call for each part of a complex value, but outer, which makes both at once. */
static void operation_phase(struct writer *w, const struct hg_step *s, int back)
{
    const struct hg_operation *q = &w->o->operation[s->of];
    struct hg_tree *out = back ? w->backward : w->forward;
    const char *name = operator_name[q->kind], *how = back ? "adjoint" : "apply", *a = back ? "slope" : "array";
    if (back && !w->o->array[q->in[0]].moves)
        return;
    if (q->kind == FIT_OUTER && !back)
        fold_phase(w, s, q);
    struct hg_objective_phase *p = add_phase(w, back, s, q->name);
    p->unit = unit_of(q, back);
    p->axis = back ? q->from : q->to;
    p->operation = s->of;
    p->work = q->kind == FIT_OUTER || q->kind == FIT_DENSE ? 0 : 8; /* 0: by the numbers of the operator */
    open_phase(w, out, p, back ? "adjoint of " : "");
    if (q->kind == FIT_OUTER)
        hg_put(out,
               back ? "    fit_outer_adjoint(c->operation[%u], c->slope[%u], c->slope[%u], c->slope[%u], from, to);\n"
                    : "    fit_outer_apply(c->operation[%u], c->array[%u], c->array[%u], from, to);\n",
               s->of, q->out[0], q->out[1], q->in[0]);
    for (uint32_t k = 0; q->kind != FIT_OUTER && k < q->nin; k++)
        hg_put(out, "    fit_%s_%s(c->operation[%u], %sc->%s[%u], c->%s[%u], from, to);\n", name, how, s->of,
               q->kind != FIT_GATHER ? ""
               : k                   ? "-1.0, "
                                     : "1.0, ",
               a, back ? q->out[k] : q->in[k], a, back ? q->in[k] : q->out[k]);
    hg_put(out, "}\n\n");
}

/* --- terms ---------------------------------------------------------------------------------------------- */

static void term_values(struct writer *w)
{
    struct hg_tree *out = w->terms;
    hg_open_function(out, "static void", "terms", "const struct fit_functional_call *c");
    for (uint32_t t = 0; t < w->o->nterm; t++) {
        hg_put(out, "    if (c->on & UINT64_C(0x%llx)) { /* %s */\n", 1ULL << t, w->o->term[t].name);
        struct hg_code c = begin(w, out, 2, 1, &w->o->term[t].value);
        hg_line(&c, "c->term[%u] = %s;", t, hg_code_text(&c, w->o->term[t].value));
        finish(&c);
        hg_put(out, "    }\n");
    }
    hg_put(out, "}\n\n");
}

static void term_seeds(struct writer *w)
{
    struct hg_tree *out = w->terms;
    struct hg_arena *a = w->e->arena;
    hg_id *leaves = hg_alloc(a, (w->o->narray + w->o->nnumber) * sizeof *leaves);
    hg_open_function(out, "static void", "seeds", "const struct fit_functional_call *c");
    for (uint32_t t = 0; t < w->o->nterm; t++) {
        uint32_t narray, n = moving_leaves(w, w->o->term[t].value, leaves, &narray);
        hg_id *part = hg_alloc(a, n * sizeof *part);
        hg_gradient(w->e, w->o->term[t].value, n, leaves, part);
        hg_put(out, "    if (c->on & UINT64_C(0x%llx)) { /* %s */\n", 1ULL << t, w->o->term[t].name);
        struct hg_code c = begin(w, out, 2, n, part);
        for (uint32_t k = 0; k < n; k++)
            hg_line(&c, "c->number_slope[%u] += c->weight[%u]*(%s);", hg_at(w->e, leaves[k])->ref, t,
                    hg_code_text(&c, part[k]));
        finish(&c);
        hg_put(out, "    }\n");
    }
    hg_put(out, "}\n\n");
}

/* --- the file ------------------------------------------------------------------------------------------- */

static void fill(void *user, const char *name, FILE *out)
{
    const struct writer *w = user;
    if (strcmp(name, "head") == 0)
        hg_objective_head(w->m, out);
    else if (strcmp(name, "forward") == 0)
        hg_tree_print(w->forward, out);
    else if (strcmp(name, "terms") == 0)
        hg_tree_print(w->terms, out);
    else if (strcmp(name, "backward") == 0)
        hg_tree_print(w->backward, out);
    else if (strcmp(name, "descriptor") == 0)
        hg_objective_desc(w->m, w->phases, out);
    else
        hg_bug("emit: the template asks for '%s'", name);
}

void hg_emit_objective(struct hg_model *m, FILE *out)
{
    struct hg_objective *o = m->objective;
    struct writer w = {.m = m,
                       .o = o,
                       .e = m->expr,
                       .forward = hg_tree_new(m->expr->arena),
                       .backward = hg_tree_new(m->expr->arena),
                       .terms = hg_tree_new(m->expr->arena)};
    for (uint32_t k = 0; k < o->nstep; k++) {
        const struct hg_step *s = &o->step[k];
        if (!s->need)
            continue;
        if (s->kind == HG_KEEP)
            keep_forward(&w, s);
        else if (s->kind == HG_ADD)
            add_forward(&w, s);
        else
            operation_phase(&w, s, 0);
    }
    term_values(&w);
    term_seeds(&w);
    for (uint32_t k = o->nstep; k-- > 0;) {
        const struct hg_step *s = &o->step[k];
        if (!s->need)
            continue;
        if (s->kind == HG_KEEP)
            keep_backward(&w, s);
        else if (s->kind == HG_ADD)
            add_backward(&w, s);
        else
            operation_phase(&w, s, 1);
    }
    hg_template((const char *)embedded_objective_c_tmpl, m->name, m->file, fill, &w, out);
}
