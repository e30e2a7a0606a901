/* dsl_objective.c -- objectives of arrays in Lua: objective "name" {...} and the functions of its result.
 *
 *     local m = objective "deconvolution" { title = "..." }
 *     local pixel = m.grid("pixel", "row", "column")     local vis = m.axis("visibility")
 *     local x = m.free("x", pixel)                       local v = m.data("v", vis, { complex = true })
 *     local z = m.outer("z", vis, m.keep("I", exp(x)))
 *     m.term("vis", { kind = "data", value = m.mean(abs(z - v)^2) / 2, offset = -1 })
 *
 * A formula describes one element and uses the operators and functions of all models; an operation that joins elements
 * becomes a step (model/objective.h). A formula has arrays of one axis.
 */
#include <math.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "common/nearest.h"
#include "common/range.h"
#include "language/dsl_private.h"
#include "model/objective.h"

#define OBJECTIVE "objective"
#define AXIS "axis of an objective"

enum { MOST_ARRAYS = 1000 };

static struct hg_objective *objective_of(lua_State *L)
{
    return dsl_of(L)->m->objective;
}

/* --- axes, arrays, numbers ------------------------------------------------------------------------------ */

/* A new symbol of a list, by its number. */
static uint32_t declare(lua_State *L, struct hg_list *list, enum hg_op op, struct hg_symbol_decl s)
{
    struct dsl *d = dsl_of(L);
    if (list->n >= MOST_ARRAYS)
        dsl_fail(L, s.name, NULL, "more than %d arrays or numbers", MOST_ARRAYS);
    s.line = dsl_line(L);
    s.over = -1;
    s.unit = s.unit ? s.unit : "1";
    s.node = hg_symbol(dsl_build(L), op, list->n);
    hg_name(d->m->expr, s.node, s.name);
    hg_model_declare(d->m, list, &s);
    return list->n - 1;
}

/* The properties in the declaration of an array or a number. */
struct about {
    const char *doc, *unit;
};

static uint32_t add_array(lua_State *L, const char *name, struct about about, struct hg_array array)
{
    struct dsl *d = dsl_of(L);
    struct hg_objective *o = d->m->objective;
    const uint32_t k =
        declare(L, &d->m->column, HG_COLUMN,
                (struct hg_symbol_decl){.name = name, .doc = about.doc, .unit = about.unit});
    array.node = d->m->column.item[k].node;
    o->array = hg_grow(d->arena, o->array, o->narray, o->narray + 1, sizeof *o->array, &o->array_room);
    o->array[o->narray++] = array;
    return k;
}

static uint32_t add_declared(lua_State *L, struct hg_symbol_decl s, struct hg_number_of number)
{
    struct dsl *d = dsl_of(L);
    struct hg_objective *o = d->m->objective;
    const uint32_t k = declare(L, &d->m->setting, HG_SETTING, s);
    number.node = d->m->setting.item[k].node;
    o->number = hg_grow(d->arena, o->number, o->nnumber, o->nnumber + 1, sizeof *o->number, &o->number_room);
    o->number[o->nnumber++] = number;
    return k;
}

/* A number that the program computes itself. */
static uint32_t add_number(lua_State *L, const char *name, struct hg_number_of number)
{
    return add_declared(L, (struct hg_symbol_decl){.name = name, .start = NAN}, number);
}

static void add_step(lua_State *L, enum hg_step_kind kind, uint32_t of)
{
    struct dsl *d = dsl_of(L);
    struct hg_objective *o = d->m->objective;
    o->step = hg_grow(d->arena, o->step, o->nstep, o->nstep + 1, sizeof *o->step, &o->step_room);
    o->step[o->nstep++] = (struct hg_step){.kind = kind, .of = of};
}

static void push_array(lua_State *L, uint32_t k)
{
    dsl_push(L, objective_of(L)->array[k].node, HG_UNIT_ONE);
}

static void push_number(lua_State *L, uint32_t k)
{
    dsl_push(L, objective_of(L)->number[k].node, HG_UNIT_ONE);
}

static uint32_t axis_at(lua_State *L, int i, const char *function)
{
    const uint32_t *axis = luaL_testudata(L, i, AXIS);
    if (!axis)
        dsl_fail(L, function, "local vis = m.axis(\"visibility\"), and then vis", "argument %d of m.%s must be an axis",
                 i, function);
    return *axis;
}

static void check_count(lua_State *L, const char *function, int least, int most, const char *usage)
{
    if (lua_gettop(L) < least || lua_gettop(L) > most)
        dsl_fail(L, function, usage, "m.%s takes %d to %d arguments, not %d", function, least, most, lua_gettop(L));
}

/* m.axis("visibility", "doc"), m.grid("pixel", "row", "column", "doc") */
static int new_axis(lua_State *L, const char *row, const char *column, int doc)
{
    struct dsl *d = dsl_of(L);
    struct hg_objective *o = d->m->objective;
    const char *name = dsl_new_name(L, 1, "axis");
    o->axis = hg_grow(d->arena, o->axis, o->naxis, o->naxis + 1, sizeof *o->axis, &o->axis_room);
    o->axis[o->naxis] =
        (struct hg_index){.name = name,
                          .row = row,
                          .column = column,
                          .doc = lua_isnoneornil(L, doc) ? NULL : dsl_text_at(L, doc, "the description"),
                          .line = dsl_line(L)};
    o->axis[o->naxis].size = add_number(L, hg_format(d->arena, "n_%s", name),
                                        (struct hg_number_of){.kind = FIT_NUMBER_SIZE, .axis = o->naxis});
    uint32_t *axis = lua_newuserdatauv(L, sizeof *axis, 0);
    *axis = o->naxis++;
    luaL_setmetatable(L, AXIS);
    return 1;
}

static int m_axis(lua_State *L)
{
    check_count(L, "axis", 1, 2, "local vis = m.axis(\"visibility\")");
    return new_axis(L, NULL, NULL, 2);
}

static int m_grid(lua_State *L)
{
    check_count(L, "grid", 3, 4, "local pixel = m.grid(\"pixel\", \"row\", \"column\")");
    return new_axis(L, dsl_text_at(L, 2, "the rows"), dsl_text_at(L, 3, "the columns"), 4);
}

static int m_size(lua_State *L)
{
    const struct hg_objective *o = objective_of(L);
    push_number(L, o->axis[axis_at(L, 1, "size")].size);
    return 1;
}

/* doc and unit of the table at t; an invalid unit is refused. */
static struct about about_at(lua_State *L, int t)
{
    const struct about a = {dsl_text(L, t, "doc"), dsl_text(L, t, "unit")};
    if (a.unit)
        dsl_unit(L, a.unit);
    return a;
}

/* The range of the number, by bounds or positive, of the table at 2. */
static void read_range(lua_State *L, struct hg_symbol_decl *s)
{
    const int positive = (lua_getfield(L, 2, "positive"), lua_toboolean(L, -1));
    const int bounds = lua_getfield(L, 2, "bounds") != LUA_TNIL;
    lua_pop(L, 2);
    if (positive && bounds)
        dsl_fail(L, "positive", "bounds = {0, math.huge} allow 0, positive = true does not",
                 "'%s' has bounds and is positive: one of them", s->name);
    dsl_read_bounds(L, 2, s);
    if (positive)
        s->lower = RANGE_ABOVE_0;
    if (isnan(s->start) || range_holds(s->lower, s->upper, s->start))
        return;
    char range[RANGE_TEXT];
    range_text(s->lower, s->upper, s->unit, range);
    dsl_fail(L, "default", "a default within the bounds, or wider bounds", "default = %g of '%s' is not %s", s->start,
             s->name, *range ? range : "finite");
}

static int m_hyper(lua_State *L)
{
    struct hg_symbol_decl s = {.name = dsl_new_name(L, 1, "hyper-parameter")};
    dsl_need_table(L, 2, "m.hyper(\"flux\", { default = 1, positive = true, doc = \"total flux, Jy\" })");
    dsl_check_keys(L, 2, "a hyper-parameter", "default doc unit bounds positive");
    const struct about about = about_at(L, 2);
    s.doc = about.doc, s.unit = about.unit;
    s.start = dsl_number(L, 2, "default", NAN);
    read_range(L, &s);
    push_number(L, add_declared(L, s, (struct hg_number_of){.kind = FIT_NUMBER_HYPER}));
    return 1;
}

/* {doc =, unit =, complex =} at t, which may be absent. */
static struct about array_options(lua_State *L, int t, const char *known, int *complex)
{
    *complex = 0;
    if (lua_isnoneornil(L, t))
        return (struct about){NULL, NULL};
    dsl_need_table(L, t, "m.data(\"v\", vis, { complex = true, doc = \"visibilities\" })");
    dsl_check_keys(L, t, "an array", known);
    lua_getfield(L, t, "complex");
    *complex = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return about_at(L, t);
}

static int m_free(lua_State *L)
{
    int complex;
    check_count(L, "free", 2, 3, "local x = m.free(\"x\", pixel)");
    const char *name = dsl_new_name(L, 1, "array");
    const struct about about = array_options(L, 3, "doc unit", &complex);
    push_array(L, add_array(L, name, about, (struct hg_array){.kind = FIT_ARRAY_FREE, .axis = axis_at(L, 2, "free")}));
    return 1;
}

static int m_data(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    int complex;
    check_count(L, "data", 2, 3, "local v = m.data(\"v\", vis, { complex = true, doc = \"...\" })");
    const char *name = dsl_new_name(L, 1, "array");
    const struct about about = array_options(L, 3, "doc unit complex", &complex);
    const struct hg_array array = {.kind = FIT_ARRAY_DATA, .axis = axis_at(L, 2, "data")};
    if (!complex)
        return push_array(L, add_array(L, name, about, array)), 1;
    push_array(L, add_array(L, hg_format(d->arena, "%s_re", name), about, array));
    push_array(L, add_array(L, hg_format(d->arena, "%s_im", name), about, array));
    dsl_make_complex(L);
    return 1;
}

/* --- arrays that are kept, sums ------------------------------------------------------------------------- */

/* The axis of a formula; fails when it has none. */
static uint32_t axis_of(lua_State *L, hg_id formula, const char *function)
{
    const struct hg_model *m = dsl_of(L)->m;
    const struct hg_objective *o = m->objective;
    const struct hg_array *other;
    const int axis = hg_objective_axis(m, formula, &other);
    if (axis < 0)
        dsl_fail(L, function, "a formula of arrays, such as those of m.data and m.free",
                 "what m.%s is given has no array in it", function);
    if (other)
        dsl_fail(L, function, "m.gather brings an array to another axis",
                 "arrays over '%s' and over '%s' in one formula", o->axis[axis].name, o->axis[other->axis].name);
    return (uint32_t)axis;
}

static uint32_t keep(lua_State *L, struct dsl_value v, const char *name)
{
    const struct hg_objective *o = objective_of(L);
    const hg_id formula = v.id;
    const struct hg_node *n = hg_at(dsl_of(L)->m->expr, formula);
    if (n->op == HG_COLUMN)
        return n->ref;
    for (uint32_t k = 0; k < o->narray; k++)
        if (o->array[k].kind == FIT_ARRAY_KEPT && o->array[k].formula == formula)
            return k;
    const uint32_t k =
        add_array(L, name, (struct about){NULL, NULL},
                  (struct hg_array){.kind = FIT_ARRAY_KEPT,
                                    .axis = axis_of(L, formula, "keep"),
                                    .formula = formula,
                                    .written = v.written});
    add_step(L, HG_KEEP, k);
    return k;
}

/* m.keep("I", formula): computed once, then an array like others. */
static int m_keep(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    check_count(L, "keep", 2, 2, "local I = m.keep(\"I\", exp(x))");
    const char *name = dsl_new_name(L, 1, "array");
    dsl_name_locals(L);
    if (!dsl_is_complex(L, 2))
        return push_array(L, keep(L, dsl_factor(L, 2, "what m.keep is given"), name)), 1;
    struct dsl_value part[2];
    dsl_complex_parts(L, 2, part);
    const uint32_t re = keep(L, part[0], hg_format(d->arena, "%s_re", name));
    const uint32_t im = keep(L, part[1], hg_format(d->arena, "%s_im", name));
    push_array(L, re);
    push_array(L, im);
    dsl_make_complex(L);
    return 1;
}

/* Pushes the sum of the formula at 1; its axis. */
static uint32_t push_total(lua_State *L, const char *function)
{
    struct dsl *d = dsl_of(L);
    struct hg_objective *o = d->m->objective;
    check_count(L, function, 1, 1, "m.sum(formula)");
    if (dsl_is_complex(L, 1))
        dsl_fail(L, function, "re(z), im(z), abs(z)^2 are real", "m.%s takes no complex value", function);
    const struct dsl_value v = dsl_factor(L, 1, "what is summed");
    const uint32_t axis = axis_of(L, v.id, function);
    dsl_name_locals(L);
    for (uint32_t k = 0; k < o->nnumber; k++)
        if (o->number[k].kind == FIT_NUMBER_TOTAL && o->number[k].formula == v.id)
            return push_number(L, k), axis;
    const uint32_t k = add_number(L, hg_format(d->arena, "sum_%u", o->nnumber),
                                  (struct hg_number_of){.kind = FIT_NUMBER_TOTAL,
                                                        .axis = axis,
                                                        .formula = v.id,
                                                        .written = v.written});
    add_step(L, HG_ADD, k);
    push_number(L, k);
    return axis;
}

static int m_sum(lua_State *L)
{
    push_total(L, "sum");
    return 1;
}

/* The sum over the true size of the axis. */
static int m_mean(lua_State *L)
{
    const uint32_t axis = push_total(L, "mean");
    push_number(L, objective_of(L)->axis[axis].size);
    lua_arith(L, LUA_OPDIV);
    return 1;
}

/* m.squares(formula): the sum of squares of an array that is kept; for a complex one, of both parts. */
static int m_squares(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    struct hg_objective *o = d->m->objective;
    struct hg_expr *e = d->m->expr;
    struct dsl_value part[2];
    check_count(L, "squares", 1, 1, "m.squares((y - f) / sigma)");
    const int n = dsl_is_complex(L, 1) ? 2 : 1;
    if (n == 2)
        dsl_complex_parts(L, 1, part);
    else
        part[0] = dsl_factor(L, 1, "what is squared");
    dsl_name_locals(L);
    hg_id sum = hg_const(e, 0);
    uint32_t array = 0;
    for (int k = 0; k < n; k++) {
        array = keep(L, part[k], hg_format(d->arena, "residual_%u", o->narray));
        sum = hg_add(e, sum, hg_mul(e, o->array[array].node, o->array[array].node));
    }
    const uint32_t k = add_number(
        L, hg_format(d->arena, "squares_%u", o->nnumber),
        (struct hg_number_of){.kind = FIT_NUMBER_TOTAL, .axis = o->array[array].axis, .formula = sum, .squares = 1});
    add_step(L, HG_ADD, k);
    push_number(L, k);
    return 1;
}

/* --- operators ------------------------------------------------------------------------------------------ */

/* The arrays of the value at i, one or (complex) two. */
static uint32_t operands(lua_State *L, int i, const char *name, uint32_t array[HG_MOST_PARTS])
{
    struct dsl *d = dsl_of(L);
    dsl_name_locals(L);
    if (!dsl_is_complex(L, i)) {
        array[0] = keep(L, dsl_factor(L, i, "what the operator takes"), hg_format(d->arena, "%s_in", name));
        return 1;
    }
    struct dsl_value part[2];
    dsl_complex_parts(L, i, part);
    array[0] = keep(L, part[0], hg_format(d->arena, "%s_in_re", name));
    array[1] = keep(L, part[1], hg_format(d->arena, "%s_in_im", name));
    return 2;
}

static void add_operation(lua_State *L, struct hg_operation p)
{
    struct dsl *d = dsl_of(L);
    struct hg_objective *o = d->m->objective;
    p.line = dsl_line(L);
    for (uint32_t k = 0; k < p.nout; k++)
        p.out[k] = add_array(L, p.nout == 1 ? p.name : hg_format(d->arena, "%s_%s", p.name, k ? "im" : "re"),
                             (struct about){NULL, NULL},
                             (struct hg_array){.kind = FIT_ARRAY_MADE, .axis = p.to});
    o->operation =
        hg_grow(d->arena, o->operation, o->noperation, o->noperation + 1, sizeof *o->operation, &o->operation_room);
    o->operation[o->noperation] = p;
    add_step(L, HG_APPLY, o->noperation++);
    for (uint32_t k = 0; k < p.nout; k++)
        push_array(L, p.out[k]);
    if (p.nout == 2)
        dsl_make_complex(L);
}

/* The head of an operator: its name at 1, its argument at `argument`. */
static struct hg_operation begin(lua_State *L, enum fit_operator_kind kind, int argument)
{
    struct hg_operation p = {.kind = kind, .name = dsl_new_name(L, 1, "array")};
    p.nin = operands(L, argument, p.name, p.in);
    p.from = objective_of(L)->array[p.in[0]].axis;
    p.data = p.name;
    return p;
}

/* m.outer("z", vis, I, "factors"): sum over pixels of row factor times column factor times I, complex. */
static int m_outer(lua_State *L)
{
    static const char usage[] = "local z = m.outer(\"z\", vis, I, \"factors\"), of a real array over a grid";
    check_count(L, "outer", 3, 4, usage);
    struct hg_operation p = begin(L, FIT_OUTER, 3);
    if (!lua_isnoneornil(L, 4))
        p.data = dsl_text_at(L, 4, "the name of the factors");
    if (p.nin != 1 || !objective_of(L)->axis[p.from].row)
        dsl_fail(L, "outer", usage, "m.outer takes a real array over a grid");
    p.to = axis_at(L, 2, "outer");
    p.nout = 2;
    add_operation(L, p);
    return 1;
}

/* m.gather("z_leg", tri, z, "leg"): z at the indices in `leg`, conjugate where these are negative. */
static int m_gather(lua_State *L)
{
    check_count(L, "gather", 3, 4, "local z1 = m.gather(\"z1\", tri, z, \"leg_1\")");
    struct hg_operation p = begin(L, FIT_GATHER, 3);
    p.to = axis_at(L, 2, "gather");
    p.nout = p.nin;
    if (!lua_isnoneornil(L, 4))
        p.data = dsl_text_at(L, 4, "the name of the places");
    add_operation(L, p);
    return 1;
}

/* m.difference("dr", I, "row"): to the next row or column, 0 beyond the last. */
static int m_difference(lua_State *L)
{
    static const char usage[] = "local dr = m.difference(\"dr\", I, \"row\")";
    check_count(L, "difference", 3, 3, usage);
    struct hg_operation p = begin(L, FIT_DIFFERENCE, 2);
    const struct hg_index *axis = &objective_of(L)->axis[p.from];
    const char *along = dsl_text_at(L, 3, "the direction");
    if (!axis->row || (strcmp(along, axis->row) != 0 && strcmp(along, axis->column) != 0))
        dsl_fail(L, "difference", usage,
                 axis->row ? "'%s' is neither rows nor columns of '%s'" : "no direction '%s': '%s' is not a grid",
                 along, axis->name);
    if (p.nin != 1)
        dsl_fail(L, "difference", "of re(z) and of im(z)", "m.difference takes no complex value");
    p.data = strcmp(along, axis->row) == 0 ? "row" : "column";
    p.to = p.from;
    p.nout = 1;
    add_operation(L, p);
    return 1;
}

/* m.blocks("y", x, "T"): a square matrix for each of the runs into which the axis is divided. */
static int m_blocks(lua_State *L)
{
    check_count(L, "blocks", 2, 3, "local y = m.blocks(\"y\", x, \"T\")");
    struct hg_operation p = begin(L, FIT_BLOCKS, 2);
    if (p.nin != 1)
        dsl_fail(L, "blocks", "of re(z) and of im(z)", "m.blocks takes no complex value");
    if (!lua_isnoneornil(L, 3))
        p.data = dsl_text_at(L, 3, "the name of the matrices");
    p.to = p.from;
    p.nout = 1;
    add_operation(L, p);
    return 1;
}

/* m.dense("y", row, x, "K"): y = K x for any matrix. */
static int m_dense(lua_State *L)
{
    check_count(L, "dense", 3, 4, "local y = m.dense(\"y\", row, x, \"K\")");
    struct hg_operation p = begin(L, FIT_DENSE, 3);
    if (p.nin != 1)
        dsl_fail(L, "dense", "of re(z) and of im(z)", "m.dense takes no complex value");
    p.to = axis_at(L, 2, "dense");
    if (!lua_isnoneornil(L, 4))
        p.data = dsl_text_at(L, 4, "the name of the matrix");
    p.nout = 1;
    add_operation(L, p);
    return 1;
}

/* --- terms ---------------------------------------------------------------------------------------------- */

static enum fit_term_kind term_kind(lua_State *L)
{
    static const char *const word[] = {"data", "regularizer", "prior"};
    const char *kind = dsl_text(L, 2, "kind");
    for (int k = 0; kind && k < 3; k++)
        if (strcmp(kind, word[k]) == 0)
            return (enum fit_term_kind)k;
    dsl_fail(L, kind ? kind : "term", "kind = \"data\", \"regularizer\" or \"prior\"",
             kind ? "'%s' is not a kind of term" : "the term has no kind", kind);
}

static int m_term(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    struct hg_objective *o = d->m->objective;
    dsl_need_table(L, 2, "m.term(\"vis\", { kind = \"data\", value = ..., offset = -1 })");
    dsl_check_keys(L, 2, "a term", "kind value offset weight doc");
    struct hg_term t = {.name = dsl_text_at(L, 1, "the name of a term"), .line = dsl_line(L), .kind = term_kind(L)};
    dsl_check_c_name(L, t.name, "term");
    for (uint32_t k = 0; k < o->nterm; k++)
        if (strcmp(o->term[k].name, t.name) == 0)
            dsl_fail(L, t.name, hg_format(d->arena, "the first one is in line %u", o->term[k].line),
                     "the term '%s' is declared twice", t.name);
    if (o->nterm >= HG_MOST_TERMS)
        dsl_fail(L, t.name, NULL, "more than %d terms", HG_MOST_TERMS);
    t.doc = dsl_text(L, 2, "doc");
    t.offset = dsl_number(L, 2, "offset", 0);
    t.weight = dsl_number(L, 2, "weight", 0);
    lua_getfield(L, 2, "value");
    const struct dsl_value value = dsl_factor(L, lua_gettop(L), "the value of a term");
    t.value = value.id;
    t.written = value.written;
    const struct hg_array *other;
    if (hg_objective_axis(d->m, t.value, &other) >= 0)
        dsl_fail(L, "value", "m.sum(formula), m.mean(formula)",
                 "the value of the term '%s' has a value for each element", t.name);
    dsl_name_locals(L);
    o->term = hg_grow(d->arena, o->term, o->nterm, o->nterm + 1, sizeof *o->term, &o->term_room);
    o->term[o->nterm++] = t;
    return 0;
}

/* --- objective "name" { ... } --------------------------------------------------------------------------- */

static const struct method {
    const char *name;
    lua_CFunction call;
} method[] = {{"axis", m_axis},     {"grid", m_grid},   {"size", m_size},     {"hyper", m_hyper},
              {"free", m_free},     {"data", m_data},   {"keep", m_keep},     {"sum", m_sum},
              {"squares", m_squares},
              {"mean", m_mean},     {"outer", m_outer}, {"gather", m_gather}, {"difference", m_difference},
              {"blocks", m_blocks}, {"dense", m_dense}, {"term", m_term}};
enum { NMETHOD = sizeof method / sizeof *method };

static int objective_index(lua_State *L)
{
    const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
    struct nearest near = {.name = key};
    for (size_t k = 0; k < NMETHOD; k++) {
        if (strcmp(key, method[k].name) == 0)
            return lua_pushcfunction(L, method[k].call), 1;
        nearest_offer(&near, method[k].name);
    }
    dsl_fail(L, key,
             near.best
                 ? hg_format(dsl_of(L)->arena, "did you mean '%s'?", near.best)
                 : "known: axis grid size hyper free data keep sum mean squares outer gather difference blocks dense "
                   "term",
             "an objective has no '%s'", key);
}

static int call_objective(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    dsl_model_name(L);
    d->m->objective = hg_alloc(d->arena, sizeof *d->m->objective);
    lua_newuserdatauv(L, 0, 0);
    luaL_setmetatable(L, OBJECTIVE);
    return 1;
}

void dsl_open_objective(lua_State *L)
{
    luaL_newmetatable(L, AXIS);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
    luaL_newmetatable(L, OBJECTIVE);
    lua_pushcfunction(L, objective_index);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, dsl_model_table);
    lua_setfield(L, -2, "__call");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
    lua_pushcfunction(L, call_objective);
    lua_setfield(L, -2, "objective");
}
