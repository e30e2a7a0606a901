/* dsl_states.c -- states in the language: quantities that are carried from row to row (graph/march.h).
 *
 *     local e = m.state("e", { unit = , before = , doc = })      its value in a row; `before` the first row
 *     m.step(e, formula)                                         from previous(e), columns, other states
 *     previous(e)                                                its value in the previous row
 *     previous(f, before)                                        that of any formula of a row, of a column
 *
 *     m.ode(t, { from = 0, [u] = rate, [v] = rate })             states that follow a differential equation in the
 * column t
 *
 *     m.event(when, { [u] = f })                                 at that time f is added to the state u
 *
 * A formula of a row may depend on values measured in earlier rows, but not in its own.
 */
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "graph/march.h"
#include "language/dsl_private.h"

static const char usage[] = "local e = m.state(\"e\", { unit = \"mV\", before = 0 }), then m.step(e, y - mean)";

static const struct hg_march *march_of(lua_State *L)
{
    return dsl_of(L)->m->expr->march;
}

/* Is it known before the first row: free of frames and states? */
static void check_before(lua_State *L, struct dsl_value v)
{
    struct hg_model *m = dsl_of(L)->m;
    if (hg_at(m->expr, v.id)->vary & ~(unsigned)(HG_R | HG_G))
        dsl_fail(L, "before", NULL, "the value before the first row is a formula of parameters, settings and columns");
    for (uint32_t q = 0; march_of(L) && q < march_of(L)->n; q++)
        for (int before = 0; before < 2; before++)
            if (hg_contains(m->expr, v.id, hg_carried(m->expr, q, before, 0)))
                dsl_fail(L, "before", "before = a formula of parameters, settings and columns",
                         "the value before the first row cannot be that of a state, '%s'", march_of(L)->state[q].name);
}

/* Declares a state with its value before the first row. */
static uint32_t add_state(lua_State *L, struct hg_symbol_decl *s, struct dsl_value before)
{
    struct dsl *d = dsl_of(L);
    struct hg_expr *e = dsl_build(L);
    if (e->march && e->march->n == HG_MOST_STATES)
        dsl_fail(L, s->name,
                 "lags far back stand in columns of their own; a sum over all earlier rows is one state: m.step(s, rho "
                 "* previous(s) + y)",
                 "more than %d states: each previous(f) of another formula is one", HG_MOST_STATES);
    if (d->m->nvariant)
        dsl_fail(L, s->name, "above the first m.observe: local last = previous(y, 0)",
                 "what is carried from row to row, m.state and previous(f), comes before the first m.observe");
    check_before(L, before);
    uint32_t q = hg_march_add(e, s->name, before.id);
    s->before = before.written;
    s->node = hg_carried(e, q, 0, 0);
    hg_name(e, s->node, s->name);
    hg_name(e, hg_carried(e, q, 1, 0), hg_format(d->arena, "%s_before", s->name));
    hg_model_declare(d->m, &d->m->state, s);
    return q;
}

static void need_columns(lua_State *L, const char *what)
{
    if (!dsl_of(L)->m->column.n)
        dsl_fail(L, what, "local y = m.columns(\"y\")", "%s is for tables: declare the columns first", what);
}

int dsl_state(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    struct hg_symbol_decl s = {.over = -1, .line = dsl_line(L)};
    s.name = dsl_new_name(L, 1, "state");
    need_columns(L, "m.state");
    dsl_need_table(L, 2, usage);
    dsl_check_keys(L, 2, "a state", "unit before doc");
    const char *text = dsl_text(L, 2, "unit");
    hg_unit unit = dsl_unit(L, text ? text : "1");
    s.unit = hg_unit_text(d->m->units, unit);
    s.doc = dsl_text(L, 2, "doc");
    if (lua_getfield(L, 2, "before") == LUA_TNIL)
        dsl_fail(L, s.name, "before = its value before the first row, a number or a formula",
                 "the state '%s' does not say what it is before the first row", s.name);
    struct dsl_value before = dsl_value_at(L, -1, "before");
    lua_pop(L, 1);
    if (before.unit != unit && before.unit != HG_UNIT_ANY)
        dsl_complain(L, "before", dsl_unit_help(L, before.unit, unit),
                     "unit mismatch: '%s' is in %s, its value before the first row in %s", s.name, s.unit,
                     dsl_unit_text(L, before.unit));
    add_state(L, &s, before);
    dsl_push(L, d->m->state.item[d->m->state.n - 1].node, unit);
    return 1;
}

/* Index of the state at i; -1: none. */
static long state_at(lua_State *L, int i)
{
    const struct dsl_value *v = dsl_test(L, i);
    const struct hg_node *n = v ? hg_at(dsl_of(L)->m->expr, v->id) : NULL;
    if (!n || n->op != HG_CARRIED || hg_carried_at(n->ref).before)
        return -1;
    return (long)hg_carried_at(n->ref).state;
}

/* States of the same row must be known when they are used. */
static void check_order(lua_State *L, uint32_t state, hg_id step)
{
    const struct hg_march *x = march_of(L);
    struct hg_expr *e = dsl_of(L)->m->expr;
    for (uint32_t q = 0; q < x->n; q++)
        if (!x->state[q].step && hg_contains(e, step, hg_carried(e, q, 0, 0)))
            dsl_fail(L, x->state[q].name,
                     hg_format(dsl_of(L)->arena, "previous(%s) is its value in the row before%s", x->state[q].name,
                               q == state ? "" : "; or give the other step first"),
                     "the step of '%s' needs '%s' in the same row, which is not known yet", x->state[state].name,
                     x->state[q].name);
}

int dsl_step(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    long q = state_at(L, 1);
    if (q < 0)
        dsl_fail(L, "step", usage, "the first argument of m.step must be a state");
    if (d->m->nvariant)
        dsl_fail(L, "step", NULL, "m.step comes before m.observe");
    struct hg_carried *s = &d->m->expr->march->state[q];
    if (s->step)
        dsl_fail(L, s->name, NULL, "the state '%s' has two steps", s->name);
    dsl_name_locals(L);
    struct dsl_value v = dsl_value_at(L, 2, "a step"), own = *dsl_test(L, 1);
    if (v.unit != own.unit && v.unit != HG_UNIT_ANY)
        dsl_complain(L, "step", dsl_unit_help(L, v.unit, own.unit), "unit mismatch: '%s' is in %s, its step in %s",
                     s->name, dsl_unit_text(L, own.unit), dsl_unit_text(L, v.unit));
    if (hg_at(d->m->expr, v.id)->vary & ~(unsigned)(HG_R | HG_G))
        dsl_fail(L, "step", NULL, "the step of '%s' must be a formula of a row", s->name);
    check_order(L, (uint32_t)q, v.id);
    hg_march_step(d->m->expr, (uint32_t)q, v.id);
    d->m->state.item[q].written = v.written;
    return 0;
}

/* --- differential equations --------------------------------------------------------------------------------------- */

static const char ode_usage[] = "m.ode(t, { from = 0, [u] = a * u, [v] = -b * v }), u and v from m.state";

/* Rates may depend on the time, states, columns, and quantities that are constant for a curve. */
static void check_rate(lua_State *L, uint32_t q, hg_id rate)
{
    const struct hg_model *m = dsl_of(L)->m;
    for (uint32_t p = 0; p < march_of(L)->n; p++)
        if (hg_contains(m->expr, rate, hg_carried(m->expr, p, 1, 0)))
            dsl_fail(L, march_of(L)->state[p].name, NULL, "the rate of '%s' contains previous(%s): time has no rows",
                     march_of(L)->state[q].name, march_of(L)->state[p].name);
}

/* The rate of state q, on top of the stack; its unit is that of the state over that of time. */
static void read_rate(lua_State *L, uint32_t q, const struct dsl_value *time)
{
    struct dsl *d = dsl_of(L);
    struct hg_carried *s = &d->m->expr->march->state[q];
    struct dsl_value v = dsl_value_at(L, -1, hg_format(d->arena, "the rate of '%s'", s->name));
    hg_unit wanted = hg_unit_div(d->m->units, dsl_unit(L, d->m->state.item[q].unit), time->unit);
    if (v.unit != wanted && v.unit != HG_UNIT_ANY)
        dsl_complain(L, s->name,
                     hg_unit_div(d->m->units, v.unit, time->unit) == wanted
                         ? hg_format(d->arena, "this is a change, not one in a time: (...) / unit \"%s\" where the "
                                               "time is counted in that", dsl_unit_text(L, time->unit))
                         : dsl_unit_help(L, v.unit, wanted),
                     "unit mismatch: the rate of '%s' must be in %s, this one is in %s", s->name,
                     dsl_unit_text(L, wanted), dsl_unit_text(L, v.unit));
    if (hg_at(d->m->expr, v.id)->vary & ~(unsigned)(HG_R | HG_G))
        dsl_fail(L, s->name, NULL, "the rate of '%s' must be a formula of a row", s->name);
    check_rate(L, q, v.id);
    if (s->step)
        dsl_fail(L, s->name, NULL, "the state '%s' has a step and a rate, or two of them", s->name);
    hg_march_step(d->m->expr, q, v.id);
    d->m->state.item[q].written = v.written;
}

/* The time at which the states have their values `before`: the same for all parameters. */
static hg_id read_from(lua_State *L, const struct dsl_value *time)
{
    struct hg_model *m = dsl_of(L)->m;
    hg_id from = hg_const(dsl_build(L), 0.0);
    if (lua_getfield(L, 2, "from") != LUA_TNIL) {
        struct dsl_value v = dsl_value_at(L, -1, "from");
        if (v.unit != time->unit && v.unit != HG_UNIT_ANY && !hg_is_const(m->expr, v.id, NULL))
            dsl_complain(L, "from", dsl_unit_help(L, v.unit, time->unit),
                         "unit mismatch: the time is in %s, from in %s", dsl_unit_text(L, time->unit),
                         dsl_unit_text(L, v.unit));
        if (hg_at(m->expr, v.id)->vary & ~(unsigned)HG_G)
            dsl_fail(L, "from", NULL, "from is the same for all rows of a curve");
        for (uint32_t k = 0; k < m->param.n; k++)
            if (hg_contains(m->expr, v.id, m->param.item[k].node))
                dsl_fail(L, "from", "a number, a setting or an axis", "from contains the parameter '%s'",
                         m->param.item[k].name);
        from = v.id;
    }
    lua_pop(L, 1);
    return from;
}

static int is_stiff(lua_State *L)
{
    const int type = lua_getfield(L, 2, "stiff"), stiff = lua_toboolean(L, -1);
    if (type != LUA_TNIL && type != LUA_TBOOLEAN)
        dsl_fail(L, "stiff", "stiff = true", "stiff is true or false");
    lua_pop(L, 1);
    return stiff;
}

/* The interpolation of columns in rates between rows. */
static int are_held(lua_State *L)
{
    const char *word = dsl_text(L, 2, "columns");
    if (word && strcmp(word, "linear") != 0 && strcmp(word, "held") != 0)
        dsl_fail(L, "columns",
                 "columns = \"held\": the value of the row before; \"linear\": on a straight line, as without",
                 "columns is \"linear\" or \"held\"");
    return word && strcmp(word, "held") == 0;
}

int dsl_ode(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    const struct dsl_value *t = dsl_test(L, 1);
    if (!t || hg_at(d->m->expr, t->id)->op != HG_COLUMN)
        dsl_fail(L, "ode", ode_usage, "the first argument of m.ode must be the column of the times");
    dsl_need_table(L, 2, ode_usage);
    if (!march_of(L) || d->m->nvariant)
        dsl_fail(L, "ode", ode_usage, "m.ode comes after its states, and before m.observe");
    if (march_of(L)->flow || march_of(L)->nstep)
        dsl_fail(L, "ode", NULL, "a model has one m.ode, with the rates of all states, or steps");
    struct dsl_value time = *t;
    dsl_name_locals(L);
    double tolerance = dsl_number(L, 2, "tolerance", 1e-13);
    if (!(tolerance >= 1e-14 && tolerance <= 1e-3))
        dsl_fail(L, "tolerance", "tolerance = 1e-13", "the tolerance of a step must be between 1e-14 and 1e-3");
    hg_march_flow(d->m->expr, time.id, read_from(L, &time), tolerance, is_stiff(L));
    d->m->expr->march->held = are_held(L);
    for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) {
        long q = state_at(L, -2);
        if (q >= 0)
            read_rate(L, (uint32_t)q, &time);
        else if (lua_type(L, -2) != LUA_TSTRING || !dsl_is_in("from tolerance stiff columns", lua_tostring(L, -2)))
            dsl_fail(L, "ode", ode_usage,
                     "m.ode has a key that is neither a state nor from, tolerance, stiff, columns");
    }
    return 0;
}

/* --- events ------------------------------------------------------------------------------------------------------- */

static const char event_usage[] =
    "m.event(when, { [u] = dose }), after m.ode: at that time dose is added to the state u";

static int is_carried_in(lua_State *L, hg_id id)
{
    struct hg_expr *e = dsl_of(L)->m->expr;
    for (uint32_t q = 0; q < march_of(L)->n; q++)
        if (hg_contains(e, id, hg_carried(e, q, 0, 0)))
            return (int)q;
    return -1;
}

/* The time of an event: known before the equation is solved. */
static void check_when(lua_State *L, struct dsl_value v)
{
    const struct hg_model *m = dsl_of(L)->m;
    const int q = is_carried_in(L, v.id);
    hg_unit time = dsl_unit(L, m->column.item[hg_at(m->expr, march_of(L)->time)->ref].unit);
    if (v.unit != time && v.unit != HG_UNIT_ANY && !hg_is_const(m->expr, v.id, NULL))
        dsl_complain(L, "event", dsl_unit_help(L, v.unit, time),
                     "unit mismatch: the time is in %s, that of an event in %s",
                     dsl_unit_text(L, time), dsl_unit_text(L, v.unit));
    if (q >= 0)
        dsl_fail(L, march_of(L)->state[q].name, event_usage, "the time of an event contains the state '%s'",
                 march_of(L)->state[q].name);
    if (v.id != march_of(L)->time && hg_contains(m->expr, v.id, march_of(L)->time))
        dsl_fail(L, "event",
                 "m.event(t, ...), t alone, is an event in every row; a delay is a state of its own that is emptied "
                 "into the next",
                 "the time of an event contains the column of the times");
    if (hg_at(m->expr, v.id)->vary & ~(unsigned)(HG_R | HG_G))
        dsl_fail(L, "event", NULL, "the time of an event is a formula of parameters, settings, axes and columns");
}

/* The increment of state q, on top of the stack. */
static void read_jump(lua_State *L, uint32_t q, struct hg_event *event)
{
    struct dsl *d = dsl_of(L);
    struct dsl_value v = dsl_value_at(L, -1, hg_format(d->arena, "what is added to '%s'", march_of(L)->state[q].name));
    hg_unit unit = dsl_unit(L, d->m->state.item[q].unit);
    if (v.unit != unit && v.unit != HG_UNIT_ANY)
        dsl_complain(L, march_of(L)->state[q].name, dsl_unit_help(L, v.unit, unit),
                     "unit mismatch: '%s' is in %s, what is added to it in %s", march_of(L)->state[q].name,
                     dsl_unit_text(L, unit), dsl_unit_text(L, v.unit));
    if (hg_at(d->m->expr, v.id)->vary & ~(unsigned)(HG_R | HG_G))
        dsl_fail(L, march_of(L)->state[q].name, NULL, "what an event adds to '%s' must be a formula of a row",
                 march_of(L)->state[q].name);
    event->jump[q] = v.id;
    event->written_jump[q] = v.written;
}

/* One event at the time v; the table of its increments is argument 2. */
static void add_event(lua_State *L, struct dsl_value v)
{
    if (march_of(L)->nevent == HG_MOST_EVENTS)
        dsl_fail(L, "event", NULL, "more than %d events", HG_MOST_EVENTS);
    check_when(L, v);
    struct hg_event *event = hg_march_event(dsl_build(L), v.id);
    event->each = v.id == march_of(L)->time;
    int any = 0;
    event->written_at = v.written;
    for (lua_pushnil(L); lua_next(L, 2); lua_pop(L, 1)) {
        long q = state_at(L, -2);
        if (q < 0)
            dsl_fail(L, "event", event_usage, "m.event has a key that is not a state");
        read_jump(L, (uint32_t)q, event);
        any = 1;
    }
    if (!any)
        dsl_fail(L, "event", event_usage, "an event that changes no state");
}

int dsl_event(lua_State *L)
{
    dsl_need_table(L, 2, event_usage);
    if (!march_of(L) || !march_of(L)->flow || dsl_of(L)->m->nvariant)
        dsl_fail(L, "event", event_usage, "m.event comes after m.ode, and before m.observe");
    dsl_name_locals(L);
    if (!lua_istable(L, 1)) {
        add_event(L, dsl_value_at(L, 1, "the time of an event"));
        return 0;
    }
    for (lua_Integer k = 1; k <= luaL_len(L, 1); k++) {
        lua_geti(L, 1, k);
        add_event(L, dsl_value_at(L, -1, "the time of an event"));
        lua_pop(L, 1);
    }
    return 0;
}

/* previous(e); previous(f, before). */
static int call_previous(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    long q = state_at(L, 1);
    if (march_of(L) && march_of(L)->flow)
        dsl_fail(L, "previous",
                 "what grew since the row before is now - last of two states with the rate 0: m.event(t, { [last] = "
                 "now - last, [now] = all - now })",
                 "previous is for rows that follow from rows, not for a differential equation");
    if (q >= 0 && !lua_isnoneornil(L, 2))
        dsl_fail(L, "previous", NULL, "the state '%s' knows its value before the first row: previous(%s)",
                 march_of(L)->state[q].name, march_of(L)->state[q].name);
    if (q < 0) {
        struct dsl_value f = dsl_value_at(L, 1, "the argument of previous");
        need_columns(L, "previous");
        if (lua_isnoneornil(L, 2))
            dsl_fail(L, "previous", "previous(y, mu): what stands for it in the first row, which has none before",
                     "previous needs a second argument");
        struct dsl_value before = dsl_value_at(L, 2, "the second argument of previous");
        hg_unit unit = dsl_common_unit(L, "previous", f, before);
        const char *name = dsl_local_name(L, f);
        struct hg_symbol_decl s = {.over = -1, .line = dsl_line(L), .unit = hg_unit_text(d->m->units, unit)};
        s.name = hg_format(d->arena, "last_%s", name ? name : hg_format(d->arena, "%u", d->m->state.n));
        q = (long)add_state(L, &s, before);
        check_order(L, (uint32_t)q, f.id);
        hg_march_step(d->m->expr, (uint32_t)q, f.id);
        d->m->state.item[q].written = f.written;
        f.unit = unit;
    }
    const char *text = d->m->state.item[q].unit;
    dsl_push(L, hg_carried(dsl_build(L), (uint32_t)q, 1, 0), dsl_unit(L, text));
    return 1;
}

void dsl_open_states(lua_State *L)
{
    lua_pushcfunction(L, call_previous);
    lua_setfield(L, -2, "previous");
}

/* --- at m.observe ---------------------------------------------------------------------------------------------- */

/* A state that contains the value measured in its own row would reveal the answer. */
static void check_sight(lua_State *L, hg_id root, const char *what, const struct hg_symbol_decl *value)
{
    struct hg_expr *e = dsl_of(L)->m->expr;
    for (uint32_t q = 0; q < e->march->n; q++)
        if (hg_contains(e, root, hg_carried(e, q, 0, 0)) && hg_march_sees(e, q, value->node))
            dsl_fail(
                L, e->march->state[q].name,
                hg_format(dsl_of(L)->arena, "previous(%s) is its value in the row before", e->march->state[q].name),
                "%s contains the state '%s', which in the same row is made from '%s' itself", what,
                e->march->state[q].name, value->name);
}

static const struct hg_symbol_decl *measured(const struct hg_model *m)
{
    for (uint32_t k = 0; k < m->column.n; k++)
        if (m->column.item[k].role == FIT_ROLE_VALUE)
            return &m->column.item[k];
    return NULL;
}

/* A differential equation must not depend on measured values. */
static void check_measured(lua_State *L)
{
    const struct hg_model *m = dsl_of(L)->m;
    const struct hg_march *x = m->expr->march;
    for (uint32_t k = 1; x->flow && k <= x->narg; k++) {
        const struct hg_node *n = hg_at(m->expr, x->arg[k]);
        const struct hg_symbol_decl *s = n->op == HG_COLUMN ? &m->column.item[n->ref] : NULL;
        if (s && s->role != FIT_ROLE_COVARIATE)
            dsl_fail(L, s->name, "rates and events may have columns that are given, such as a dose or a temperature",
                     "m.ode or m.event contains '%s', which is measured", s->name);
    }
}

void dsl_close_states(lua_State *L)
{
    struct hg_model *m = dsl_of(L)->m;
    struct hg_march *x = m->expr->march;
    if (!x || x->closed)
        return;
    for (uint32_t q = 0; q < x->n; q++)
        if (!x->state[q].step && x->flow)
            dsl_fail(L, x->state[q].name, ode_usage, "the state '%s' has no rate in m.ode", x->state[q].name);
        else if (!x->state[q].step)
            dsl_fail(L, x->state[q].name, usage, "the state '%s' has no step: m.step(%s, ...)", x->state[q].name,
                     x->state[q].name);
    if (m->param.n > HG_MOST_STATE_PARAMETERS)
        dsl_fail(L, "state", NULL, "too many parameters for a model with states");
    dsl_build(L);
    hg_march_close(m->expr, m->param.n);
    check_measured(L);
    for (uint32_t k = 1; k <= x->narg; k++) {
        const struct hg_node *n = hg_at(m->expr, x->arg[k]);
        if (n->op == HG_LINEAR)
            dsl_fail(L, n->name, "drop `linear` of it", "'%s' is in the step of a state: no parameter there is linear",
                     n->name);
        m->feedback |= measured(m) && x->arg[k] == measured(m)->node;
    }
}

hg_id dsl_with_states(lua_State *L, hg_id root, const char *what)
{
    struct hg_model *m = dsl_of(L)->m;
    if (!m->expr->march)
        return root;
    dsl_close_states(L);
    if (measured(m))
        check_sight(L, root, what, measured(m));
    return hg_march_states(dsl_build(L), root);
}
