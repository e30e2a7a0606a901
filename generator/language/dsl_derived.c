/* dsl_derived.c -- m.derived("name", expression, { doc = "..." }): a number that follows from parameters of both kinds,
 * settings and axes, and has a value and an error of its own in the results. It has one value for each group if it
 * contains an axis or a parameter with a value for each; otherwise one value.
 */
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "language/dsl_private.h"

enum { MAX_DERIVED = 256 };

int dsl_is_derived(const struct hg_model *m, const char *name)
{
    for (uint32_t k = 0; k < m->derived.n; k++)
        if (strcmp(m->derived.item[k].name, name) == 0)
            return 1;
    return 0;
}

/* Fails when the name is already in use. */
static void check_name(lua_State *L, const char *name)
{
    const struct hg_model *m = dsl_of(L)->m;
    dsl_check_c_name(L, name, "derived quantity");
    if (dsl_is_derived(m, name))
        dsl_fail(L, name, NULL, "the derived quantity '%s' is declared twice", name);
    if (hg_model_find(m, name) || strcmp(name, m->observable) == 0)
        dsl_fail(L, name, NULL, "'%s' is declared already, as something else than a derived quantity", name);
}

static const char *doc_of(lua_State *L)
{
    if (lua_isnoneornil(L, 3))
        return NULL;
    if (lua_type(L, 3) == LUA_TSTRING)
        return dsl_text_at(L, 3, "the description");
    dsl_need_table(L, 3, "m.derived(\"half_life\", math.log(2) / rate, { doc = \"...\" })");
    dsl_check_keys(L, 3, "a derived quantity", "doc");
    return dsl_text(L, 3, "doc");
}

/* A derived quantity may contain only quantities that are constant within a group. */
static void check_leaves(lua_State *L, const char *name, hg_id node)
{
    const struct hg_model *m = dsl_of(L)->m;
    int any = 0;
    for (uint32_t k = 0; k < m->param.n; k++)
        any |= hg_contains(m->expr, node, m->param.item[k].node);
    for (uint32_t k = 0; k < m->linear.n; k++)
        any |= hg_contains(m->expr, node, m->linear.item[k].node);
    if (hg_at(m->expr, node)->vary & ~(unsigned)HG_G)
        dsl_fail(L, name,
                 m->column.n ? "a function of columns is a curve: m.curve(name, f, \"...\")"
                             : "a function of time is a curve: m.curve(name, f, \"...\")",
                 "the derived quantity '%s' varies with %s; it must be a number, made of parameters, settings and axes",
                 name, m->column.n ? "the rows" : "time");
    if (!any)
        dsl_fail(L, name, NULL, "the derived quantity '%s' contains no parameter", name);
}

int dsl_derived(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    struct hg_model *m = d->m;
    struct hg_symbol_decl s = {.over = -1, .line = dsl_line(L)};
    if (!m->nvariant)
        dsl_fail(L, "derived", NULL, "m.derived comes after m.observe");
    s.name = dsl_text_at(L, 1, "the name of a derived quantity");
    check_name(L, s.name);
    dsl_name_locals(L);
    struct dsl_value v = dsl_value_at(L, 2, "a derived quantity");
    check_leaves(L, s.name, v.id);
    s.doc = doc_of(L);
    s.unit = hg_unit_text(m->units, v.unit <= HG_UNIT_UNKNOWN ? HG_UNIT_ONE : v.unit);
    s.node = v.id;
    s.written = v.written;
    if (m->derived.n >= MAX_DERIVED)
        dsl_fail(L, s.name, NULL, "more than %d derived quantities", MAX_DERIVED);
    hg_model_declare(m, &m->derived, &s);
    return 0;
}
