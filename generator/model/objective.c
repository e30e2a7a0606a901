/* objective.c -- analyses an objective as a whole: which quantities vary with free arrays, and which terms need
 * them. */
#include "model/objective.h"

unsigned char *hg_objective_leaves(const struct hg_model *m, hg_id formula)
{
    unsigned char *mark = hg_zeros(m->expr->n, 1);
    mark[formula] = 1;
    hg_mark(m->expr, formula, mark);
    return mark;
}

int hg_objective_axis(const struct hg_model *m, hg_id formula, const struct hg_array **other)
{
    const struct hg_objective *o = m->objective;
    HG_SCRATCH unsigned char *mark = hg_objective_leaves(m, formula);
    int axis = -1;
    *other = NULL;
    for (uint32_t k = 0; k < o->narray; k++)
        if (mark[o->array[k].node]) {
            if (axis >= 0 && o->array[k].axis != (uint32_t)axis)
                *other = &o->array[k];
            axis = axis < 0 ? (int)o->array[k].axis : axis;
        }
    return axis;
}

/* Does a formula contain something that varies with free arrays? */
static int moves(const struct hg_model *m, hg_id formula)
{
    const struct hg_objective *o = m->objective;
    HG_SCRATCH unsigned char *mark = hg_objective_leaves(m, formula);
    for (uint32_t k = 0; k < o->narray; k++)
        if (mark[o->array[k].node] && o->array[k].moves)
            return 1;
    for (uint32_t k = 0; k < o->nnumber; k++)
        if (mark[o->number[k].node] && o->number[k].moves)
            return 1;
    return 0;
}

static hg_id tangent_of(const struct hg_model *m, hg_id id)
{
    const struct hg_objective *o = m->objective;
    const struct hg_node *n = hg_at(m->expr, id);
    return hg_symbol(m->expr, n->op, n->ref + (n->op == HG_COLUMN ? o->narray : o->nnumber));
}

struct hg_moving hg_objective_moving(struct hg_model *m, hg_id formula)
{
    const struct hg_objective *o = m->objective;
    struct hg_expr *e = m->expr;
    HG_SCRATCH unsigned char *mark = hg_objective_leaves(m, formula);
    struct hg_moving v = {.leaf = hg_alloc(e->arena, (o->narray + o->nnumber) * sizeof *v.leaf)};
    for (uint32_t k = 0; k < o->narray; k++)
        if (mark[o->array[k].node] && o->array[k].moves)
            v.leaf[v.n++] = o->array[k].node;
    v.narray = v.n;
    for (uint32_t k = 0; k < o->nnumber; k++)
        if (mark[o->number[k].node] && o->number[k].moves)
            v.leaf[v.n++] = o->number[k].node;
    v.part = hg_alloc(e->arena, (v.n + 1) * sizeof *v.part);
    v.second = hg_alloc(e->arena, (v.n + 1) * sizeof *v.second);
    hg_gradient(e, formula, v.n, v.leaf, v.part);
    v.tangent = hg_const(e, 0);
    for (uint32_t k = 0; k < v.n; k++)
        v.tangent = hg_add(e, v.tangent, hg_mul(e, v.part[k], tangent_of(m, v.leaf[k])));
    hg_gradient(e, v.tangent, v.n, v.leaf, v.second);
    return v;
}

static void find_moving(struct hg_model *m)
{
    struct hg_objective *o = m->objective;
    for (uint32_t k = 0; k < o->narray; k++)
        o->array[k].moves = o->array[k].kind == FIT_ARRAY_FREE;
    for (uint32_t k = 0; k < o->nstep; k++) {
        const struct hg_step *s = &o->step[k];
        if (s->kind == HG_KEEP)
            o->array[s->of].moves = moves(m, o->array[s->of].formula);
        else if (s->kind == HG_ADD)
            o->number[s->of].moves = moves(m, o->number[s->of].formula);
        else {
            const struct hg_operation *p = &o->operation[s->of];
            for (uint32_t i = 0; i < p->nout; i++)
                for (uint32_t j = 0; j < p->nin; j++)
                    o->array[p->out[i]].moves |= o->array[p->in[j]].moves;
        }
    }
}

/* These terms need the arrays and numbers in a formula. */
static void need_formula(struct hg_model *m, hg_id formula, uint64_t terms)
{
    struct hg_objective *o = m->objective;
    HG_SCRATCH unsigned char *mark = hg_objective_leaves(m, formula);
    for (uint32_t k = 0; k < o->narray; k++)
        o->array[k].need |= mark[o->array[k].node] ? terms : 0;
    for (uint32_t k = 0; k < o->nnumber; k++)
        o->number[k].need |= mark[o->number[k].node] ? terms : 0;
}

static void find_needs(struct hg_model *m)
{
    struct hg_objective *o = m->objective;
    for (uint32_t t = 0; t < o->nterm; t++)
        need_formula(m, o->term[t].value, UINT64_C(1) << t);
    for (uint32_t k = o->nstep; k-- > 0;) {
        struct hg_step *s = &o->step[k];
        if (s->kind == HG_APPLY) {
            const struct hg_operation *p = &o->operation[s->of];
            for (uint32_t i = 0; i < p->nout; i++)
                s->need |= o->array[p->out[i]].need;
            for (uint32_t i = 0; i < p->nin; i++)
                o->array[p->in[i]].need |= s->need;
        } else {
            s->need = s->kind == HG_KEEP ? o->array[s->of].need : o->number[s->of].need;
            need_formula(m, s->kind == HG_KEEP ? o->array[s->of].formula : o->number[s->of].formula, s->need);
        }
    }
}

/* Only sums of squares, as least squares require: the term is linear in numbers that are such sums. */
static void find_residual_terms(struct hg_model *m)
{
    const struct hg_objective *o = m->objective;
    for (uint32_t t = 0; t < o->nterm; t++) {
        const struct hg_moving v = hg_objective_moving(m, o->term[t].value);
        int yes = v.n > 0;
        for (uint32_t k = 0; k < v.n; k++)
            yes = yes && k >= v.narray && o->number[hg_at(m->expr, v.leaf[k])->ref].squares &&
                  hg_is_value(m->expr, v.second[k], 0);
        o->term[t].residual = yes;
    }
}

void hg_objective_close(struct hg_model *m)
{
    find_moving(m);
    find_needs(m);
    find_residual_terms(m);
}

static int has_free(const struct hg_objective *o)
{
    for (uint32_t k = 0; k < o->narray; k++)
        if (o->array[k].kind == FIT_ARRAY_FREE)
            return 1;
    return 0;
}

/* The free arrays as text: 'x', 'y'. */
static const char *free_names(const struct hg_model *m)
{
    const struct hg_objective *o = m->objective;
    const char *names = "";
    for (uint32_t k = 0; k < o->narray; k++)
        if (o->array[k].kind == FIT_ARRAY_FREE)
            names = hg_format(m->expr->arena, "%s%s'%s'", names, *names ? ", " : "", m->column.item[k].name);
    return names;
}

/* Free arrays and steps that no term needs. */
static void warn_unused(const struct hg_model *m, struct hg_diag *d)
{
    const struct hg_objective *o = m->objective;
    for (uint32_t k = 0; k < o->narray; k++)
        if (o->array[k].kind == FIT_ARRAY_FREE && !o->array[k].need)
            hg_warning(d, m->column.item[k].line, m->column.item[k].name, NULL,
                       "no term depends on the free array '%s'", m->column.item[k].name);
    for (uint32_t k = 0; k < o->nstep; k++) {
        const struct hg_step *s = &o->step[k];
        if (!s->need && s->kind == HG_APPLY)
            hg_warning(d, o->operation[s->of].line, o->operation[s->of].name, NULL, "no term needs '%s'",
                       o->operation[s->of].name);
    }
}

int hg_objective_check(struct hg_model *m, struct hg_diag *d)
{
    const struct hg_objective *o = m->objective;
    const unsigned before = d->errors;
    if (!has_free(o))
        hg_error(d, 0, NULL, "local x = m.free(\"x\", pixel)",
                 "the objective has no free array: nothing can be fitted");
    if (!o->nterm)
        hg_error(d, 0, NULL, "m.term(\"vis\", { kind = \"data\", value = m.mean((y - f)^2) })",
                 "the objective has no term");
    if (d->errors != before)
        return 0;
    hg_objective_close(m);
    for (uint32_t t = 0; t < o->nterm; t++)
        if (!moves(m, o->term[t].value))
            hg_warning(d, o->term[t].line, o->term[t].name, NULL, "the term '%s' does not depend on %s",
                       o->term[t].name, free_names(m));
    warn_unused(m, d);
    return 1;
}
