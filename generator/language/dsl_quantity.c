/* dsl_quantity.c -- several measured quantities of a table: m.observe once for each.
 *
 * A row of the file holds one value of each quantity. The data hold one row for each value, and a column `which` with
 * the number of its quantity, 0, 1, ... So the model stays one formula of one value: mean = where(which < 1/2, mean of
 * the first, where(which < 3/2, mean of the second, ...)), and likewise for log densities and the arguments of
 * distributions.
 */
#include <string.h>

#include "graph/march.h"
#include "language/dsl_private.h"

static const char WHICH[] = "quantity";

void dsl_quantity_add(struct lua_State *L, uint32_t value, int sigma)
{
    struct dsl *d = dsl_of(L);
    struct hg_model *m = d->m;
    if (m->nquantity && m->state.n && !m->expr->march->flow)
        dsl_fail(L, "observe", "states of m.ode may be measured by several",
                 "a model whose rows follow from rows measures one quantity; '%s' is it", m->observable);
    for (uint32_t k = 0; k < m->nquantity; k++)
        if (m->quantity[k].value == value)
            dsl_fail(L, "observe", "another formula for the same data: m.variant(name, { mean = ... })",
                     "'%s' is observed twice", m->column.item[value].name);
    m->quantity =
        hg_grow(d->arena, m->quantity, m->nquantity, m->nquantity + 1, sizeof *m->quantity, &m->quantity_room);
    m->quantity[m->nquantity++] = (struct hg_quantity){value, sigma, FIT_SUPPORT_REAL};
}

/* Without errors the relative weights of different quantities are unknown. */
static void check_errors(struct lua_State *L)
{
    const struct hg_model *m = dsl_of(L)->m;
    for (uint32_t k = 0; !m->density && k < m->nquantity; k++)
        if (m->quantity[k].sigma < 0)
            dsl_fail(L, "observe", "sigma = a column of standard deviations, or noise = gaussian { sd = a parameter }",
                     "several measured quantities are weighed by their errors; those of '%s' are not told",
                     m->column.item[m->quantity[k].value].name);
}

/* The column that distinguishes the quantities. */
static void declare_which(struct lua_State *L)
{
    struct dsl *d = dsl_of(L);
    struct hg_model *m = d->m;
    if (hg_model_find(m, WHICH))
        dsl_fail(L, WHICH, "call that column otherwise", "the name '%s' is that of the measured quantity here", WHICH);
    struct hg_symbol_decl s = {.over = -1, .line = dsl_line(L), .name = WHICH, .unit = "1", .role = FIT_ROLE_COVARIATE,
                               .doc = "number of the measured quantity, from 0"};
    m->which = (int)m->column.n;
    s.node = hg_symbol(dsl_build(L), HG_COLUMN, m->column.n);
    hg_name(m->expr, s.node, WHICH);
    hg_model_set_unit(m, s.node, HG_UNIT_ONE, 0);
    hg_model_declare(m, &m->column, &s);
}

/* where(which < k - 1/2, old, new): as a node, and as it is written. */
static hg_id choose(struct lua_State *L, hg_id old, hg_id new, uint32_t *written)
{
    struct dsl *d = dsl_of(L);
    struct hg_model *m = d->m;
    struct hg_expr *e = dsl_build(L);
    const double bound = m->nquantity - 1.5;
    const hg_id which = m->column.item[m->which].node, below = hg_call2(e, HG_LT, which, hg_const(e, bound));
    const hg_id id = hg_where(e, below, old, new);
    hg_model_set_unit(m, id, dsl_unit(L, m->observable_unit), 0);
    struct hg_written symbol = {.word = HG_W_SYMBOL, .node = which, .unit = HG_UNIT_ONE};
    struct hg_written number = {.word = HG_W_NUMBER, .value = bound};
    struct hg_written lt = {.word = HG_W_LT, .nargs = 2, .node = below, .unit = HG_UNIT_BOOL};
    lt.arg[0] = hg_written_add(m, &symbol);
    lt.arg[1] = hg_written_add(m, &number);
    struct hg_written w = {.word = HG_W_WHERE, .nargs = 3, .node = id, .unit = dsl_unit(L, m->observable_unit)};
    w.arg[0] = hg_written_add(m, &lt);
    w.arg[1] = written[0];
    w.arg[2] = written[1];
    written[0] = hg_written_add(m, &w);
    return id;
}

/* Two distributions of one kind form one, whose arguments depend on the quantity; of two kinds, only the log density
 * remains known. */
static void join_laws(struct lua_State *L, struct hg_density *old, const struct hg_density *new)
{
    struct hg_expr *e = dsl_of(L)->m->expr;
    uint32_t written[2] = {old->written, new->written};
    const hg_id node = hg_replace(e, new->node, 1, &new->value, &old->value);
    const int alike = old->law == new->law && old->narg == new->narg && strcmp(old->name, new->name) == 0;
    old->node = choose(L, old->node, node, written);
    old->written = written[0];
    old->support = old->support == new->support ? old->support : FIT_SUPPORT_REAL;
    for (uint32_t k = 0; alike && k < old->narg; k++) {
        uint32_t unused[2] = {0, 0};
        old->arg[k] = choose(L, old->arg[k], new->arg[k], unused);
    }
    if (alike)
        return;
    old->law = FIT_LAW_OTHER;
    old->name = "log_density";
    old->narg = 0;
}

void dsl_quantity_join(struct lua_State *L, struct dsl_value mean, struct hg_density *before)
{
    struct hg_model *m = dsl_of(L)->m;
    struct hg_variant *v = &m->variant[0];
    uint32_t written[2] = {v->written, mean.written};
    if (m->nquantity == 2) {
        declare_which(L);
        m->quantity[0].support = before ? before->support : FIT_SUPPORT_REAL;
    }
    m->quantity[m->nquantity - 1].support = m->density ? m->density->support : FIT_SUPPORT_REAL;
    check_errors(L);
    struct hg_symbol_decl *which = &m->column.item[m->which];
    which->lower = 0;
    which->upper = m->nquantity - 1;
    if (strcmp(m->column.item[m->quantity[m->nquantity - 1].value].unit, m->observable_unit) != 0)
        m->observable_unit = "1";
    m->observable = "value";
    v->mean = choose(L, v->mean, mean.id, written);
    v->written = written[0];
    if (before && m->density) {
        join_laws(L, before, m->density);
        m->density = before;
    } else if (before || m->density)
        dsl_fail(L, "noise", "noise = gaussian { sd = ... } is the normal distribution",
                 "a noise distribution for one measured quantity and none for another");
}
