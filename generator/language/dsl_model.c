/* dsl_model.c -- declarations in Lua: model "name" {...} and those functions of its result that declare symbols:
 * m.grid, m.axis, m.setting, m.parameter, m.columns.
 */
#include <math.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "language/dsl_private.h"
#include "common/nearest.h"

#define MODEL "model"

enum { MAX_SYMBOLS = 2048 };

/* --- names ------------------------------------------------------------------------------------ */

const char *dsl_new_name(lua_State *L, int i, const char *what)
{
    struct dsl *d = dsl_of(L);
    const char *name = dsl_text_at(L, i, hg_format(d->arena, "the name of a %s", what));
    dsl_check_c_name(L, name, what);
    if (dsl_is_in("t1 t2 dt first_time tolerance variant", name))
        dsl_fail(L, name, NULL, "the name '%s' is taken: m.test{} uses it", name);
    const struct hg_symbol_decl *old = hg_model_find(d->m, name);
    if (old)
        dsl_fail(L, name, hg_format(d->arena, "the first one is in line %u", (unsigned)old->line),
                 "'%s' is declared twice", name);
    if (d->m->nvariant)
        dsl_fail(L, name, NULL, "declare '%s' before m.observe", name);
    return name;
}

static void check_space(lua_State *L, enum fit_space space, const char *what)
{
    struct dsl *d = dsl_of(L);
    if ((space == FIT_ROWS && d->has_grid) || (space == FIT_PAIRS && d->m->column.n))
        dsl_fail(L, what, "a model is over pairs of frames (grid) or over rows of a table (columns)",
                 "a time grid and columns of a table in one model");
}

/* --- symbols ---------------------------------------------------------------------------------- */

/* Unit of a symbol: checks the text, keeps the author's spelling in normalised form. */
static hg_unit symbol_unit(lua_State *L, struct hg_symbol_decl *s, const char *text)
{
    struct dsl *d = dsl_of(L);
    hg_unit unit = dsl_unit(L, text ? text : "1");
    s->unit = hg_unit_text(d->m->units, unit);
    return unit;
}

/* Adds the symbol to the list and pushes its leaf. */
static int push_symbol(lua_State *L, struct hg_list *list, struct hg_symbol_decl *s, enum hg_op op, hg_unit unit)
{
    struct hg_expr *e = dsl_build(L);
    if (list->n >= MAX_SYMBOLS)
        dsl_fail(L, s->name, NULL, "more than %d symbols of one kind", MAX_SYMBOLS);
    s->node = hg_symbol(e, op, list->n);
    hg_name(e, s->node, s->name);
    hg_model_declare(dsl_of(L)->m, list, s);
    dsl_push(L, s->node, unit);
    return 1;
}

/* m.grid("t", "s", { first = 1 }): the times of the frames; the first is 0 or the frame period. */
static int m_grid(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    check_space(L, FIT_PAIRS, "grid");
    const char *name = dsl_new_name(L, 1, "time grid");
    hg_unit unit = dsl_unit(L, lua_isnoneornil(L, 2) ? "s" : dsl_text_at(L, 2, "the unit"));
    if (d->has_grid)
        dsl_fail(L, "grid", NULL, "there is one time grid only; '%s' is it", d->m->grid_name);
    if (unit != dsl_unit(L, "s"))
        dsl_fail(L, "grid", "frame times are given in seconds", "the time grid must be in s");
    d->m->grid_name = name;
    d->m->space = FIT_PAIRS;
    if (lua_istable(L, 3)) {
        dsl_check_keys(L, 3, "the time grid", "first");
        const double first = dsl_number(L, 3, "first", 0);
        if (first != 0 && first != 1)
            dsl_fail(L, "first", "m.grid(\"t\", \"s\", { first = 1 })",
                     "first = %g: the first frame lies at 0 or at 1 frame period", first);
        d->m->first_step = first == 1;
    }
    struct hg_expr *e = dsl_build(L);
    d->time = hg_symbol(e, HG_TIME, 0);
    d->has_grid = 1;
    hg_name(e, d->time, name);
    dsl_push(L, d->time, unit);
    return 1;
}

/* Second argument "unit" or {unit=..., doc=..., more}; returns the table's index or 0. */
static int unit_or_options(lua_State *L, struct hg_symbol_decl *s, hg_unit *unit, const char *what, const char *keys)
{
    if (lua_type(L, 2) != LUA_TTABLE) {
        *unit = symbol_unit(L, s, lua_isnoneornil(L, 2) ? NULL : dsl_text_at(L, 2, "the unit"));
        s->doc = lua_isnoneornil(L, 3) ? NULL : dsl_text_at(L, 3, "the description");
        return 0;
    }
    dsl_check_keys(L, 2, what, keys);
    *unit = symbol_unit(L, s, dsl_text(L, 2, "unit"));
    s->doc = dsl_text(L, 2, "doc");
    return 2;
}

/* range = {lower, upper}: the range of values of a column or an axis. */
static void read_range(lua_State *L, int t, struct hg_symbol_decl *s)
{
    if (lua_getfield(L, t, "range") != LUA_TNIL) {
        if (lua_type(L, -1) != LUA_TTABLE || lua_rawlen(L, -1) != 2)
            dsl_fail(L, "range", "range = {0, 10}", "range must be two numbers");
        lua_rawgeti(L, -1, 1);
        s->lower = dsl_number_at(L, -1, "range");
        lua_rawgeti(L, -2, 2);
        s->upper = dsl_number_at(L, -1, "range");
        lua_pop(L, 2);
        if (!(s->lower < s->upper) || !isfinite(s->lower) || !isfinite(s->upper))
            dsl_fail(L, "range", NULL, "the range {%g, %g} is empty or infinite", s->lower, s->upper);
    }
    lua_pop(L, 1);
}

/* m.axis("phi", "deg", "description"): one coordinate per group.  Pairs: of each measured matrix; tables: the
 * column of that name, rows with equal values are a group.  Or {unit=, doc=, range=}. */
static int m_axis(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    struct hg_symbol_decl s = {.over = -1, .line = dsl_line(L), .start = NAN};
    hg_unit unit;
    s.name = dsl_new_name(L, 1, "axis");
    int t = unit_or_options(L, &s, &unit, "an axis", "unit doc range");
    if (t)
        read_range(L, t, &s);
    if (s.lower < s.upper)
        s.start = hg_model_between(&s, 0.5);
    else if (s.unit && strcmp(s.unit, "deg") == 0) /* angles have a size of their own */
        s.start = 0;
    return push_symbol(L, &d->m->axis, &s, HG_COORD, unit);
}

/* m.setting("q", "1/angstrom", "description") or {unit=, doc=, default=}. */
static int m_setting(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    struct hg_symbol_decl s = {.over = -1, .line = dsl_line(L), .start = NAN};
    hg_unit unit;
    s.name = dsl_new_name(L, 1, "setting");
    int t = unit_or_options(L, &s, &unit, "a setting", "unit doc default");
    if (t)
        s.start = dsl_number(L, t, "default", NAN);
    return push_symbol(L, &d->m->setting, &s, HG_SETTING, unit);
}

/* --- parameters ------------------------------------------------------------------------------- */

void dsl_read_bounds(lua_State *L, int t, struct hg_symbol_decl *s)
{
    s->lower = -HUGE_VAL;
    s->upper = HUGE_VAL;
    int type = lua_getfield(L, t, "bounds");
    if (type == LUA_TTABLE) {
        if (lua_rawgeti(L, -1, 1) != LUA_TNIL)
            s->lower = dsl_number_at(L, -1, "bounds");
        if (lua_rawgeti(L, -2, 2) != LUA_TNIL)
            s->upper = dsl_number_at(L, -1, "bounds");
        lua_pop(L, 2);
    } else if (type != LUA_TNIL) {
        dsl_fail(L, "bounds", "bounds = {0, 1}; math.huge for none", "bounds must be a list of two numbers");
    }
    lua_pop(L, 1);
    if (!(s->lower < s->upper))
        dsl_fail(L, "bounds", "the lower one comes first", "the bounds of '%s' leave no room: {%g, %g}", s->name,
                 s->lower, s->upper);
}

static void read_start(lua_State *L, int t, struct hg_symbol_decl *s)
{
    s->start = dsl_number(L, t, "start", NAN);
    if (isnan(s->start))
        dsl_fail(L, s->name, "start = ... is a typical value", "'%s' has no start", s->name);
    if (!isfinite(s->start) || s->start < s->lower || s->start > s->upper)
        dsl_fail(L, "start", "a start within the bounds, or wider bounds",
                 "start = %g of '%s' is outside its bounds [%g, %g]", s->start, s->name, s->lower, s->upper);
}

/* The number at the top of the stack, or the parameter that stands for it: then 1 + its index, else 0. */
static uint32_t prior_number(lua_State *L, const struct hg_symbol_decl *s, int scale, double *number)
{
    struct dsl *d = dsl_of(L);
    const struct dsl_value *v = dsl_test(L, -1);
    const struct hg_node *n = v ? hg_at(d->m->expr, v->id) : NULL;
    if (!n) {
        *number = dsl_number_at(L, -1, "prior");
        return 0;
    }
    if (n->op != HG_PARAM)
        dsl_fail(L, strcmp(s->name, "noise") == 0 ? "noise" : "prior",
                 strcmp(s->name, "noise") == 0 ? "errors of your own size: noise = gaussian { sd = s }"
                 : n->op == HG_LINEAR ? "linear = false in its declaration" : "declare a parameter for it",
                 "a prior has numbers and nonlinear parameters, no other expressions");
    struct hg_symbol_decl *h = &d->m->param.item[n->ref];
    if (h->over >= 0)
        dsl_fail(L, h->name, NULL, "'%s' has a value for each group: it cannot stand in the prior of '%s'", h->name,
                 s->name);
    if (scale && !(h->lower >= 0))
        dsl_fail(L, h->name, hg_format(d->arena, "bounds = {0, math.huge} in the declaration of '%s'", h->name),
                 "'%s' is the width of a prior and may be negative", h->name);
    h->hyper = 1;
    *number = h->start;
    return 1 + n->ref;
}

static const struct {
    const char *name;
    int n, positive;
    const char *usage;
} prior[] = {
#define PRIOR(KIND, word, name, numbers, positive, usage) {word, numbers, positive, usage},
    FIT_PRIORS(PRIOR)
};

/* A prior with parameters is a density for all their values: no bound may truncate it. */
static void check_prior_from(lua_State *L, const struct hg_symbol_decl *s)
{
    const int positive = prior[s->prior].positive;
    if (!s->prior_from[0] && !s->prior_from[1])
        return;
    if (!positive && s->prior != FIT_PRIOR_NORMAL)
        dsl_fail(L, "prior", "normal, log_normal, half_normal, half_cauchy and exponential can",
                 "this kind of prior cannot have parameters");
    if (isfinite(s->upper) || (positive ? s->lower > 0 : isfinite(s->lower)))
        dsl_fail(L, "bounds", positive ? "bounds = {0, math.huge}" : "drop the bounds, or use log_normal(mean, sd)",
                 "the prior of '%s' has parameters; bounds would cut it", s->name);
}

/* prior = {"normal", mean, sd}, ... */
void dsl_read_prior(lua_State *L, int t, const char *key, struct hg_symbol_decl *s)
{
    struct nearest near = {.name = "?"};
    if (lua_getfield(L, t, key) == LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    if (lua_type(L, -1) != LUA_TTABLE || lua_rawgeti(L, -1, 1) != LUA_TSTRING)
        dsl_fail(L, "prior", prior[FIT_PRIOR_NORMAL].usage, "a prior is a list: its name, then its numbers");
    near.name = dsl_text_at(L, -1, "the prior");
    lua_pop(L, 1);
    for (size_t k = 0; k < sizeof prior / sizeof *prior; k++) {
        double *to[] = {NULL, &s->prior_a, &s->prior_b};
        nearest_offer(&near, prior[k].name);
        if (strcmp(near.name, prior[k].name) != 0)
            continue;
        if (lua_rawlen(L, -1) != (lua_Unsigned)prior[k].n + 1)
            dsl_fail(L, "prior", prior[k].usage, "the prior \"%s\" has %d numbers", prior[k].name, prior[k].n);
        for (int i = 0; i < prior[k].n; i++, lua_pop(L, 1)) {
            lua_rawgeti(L, -1, i + 2);
            int at = 3 - prior[k].n + i; /* 1: a, 2: b */
            s->prior_from[at - 1] = prior_number(L, s, at == 2, to[at]);
        }
        s->prior = (enum fit_prior_kind)k;
        check_prior_from(L, s);
        if (prior[k].n && !s->prior_from[1] && !(s->prior_b > 0))
            dsl_fail(L, "prior", prior[k].usage, "the last number of a prior must be positive");
        if (s->prior == FIT_PRIOR_BETA_SCALED && !s->prior_from[0] && !(s->prior_a > 0))
            dsl_fail(L, "prior", prior[k].usage, "both numbers of a beta prior must be positive");
        if (s->prior == FIT_PRIOR_LOG_UNIFORM && !(s->lower > 0 && isfinite(s->upper)))
            dsl_fail(L, "prior", prior[k].usage, "a log_uniform prior needs two positive bounds");
        lua_pop(L, 1);
        return;
    }
#define WORD(KIND, word, ...) " " word
    static const char known[] = "known:" FIT_PRIORS(WORD);
    static const char *const other[][2] = {
        {"gaussian", "did you mean \"normal\"?"},
        {"uniform", "bounds alone are a uniform prior between them: bounds = {0, 1}"},
        {"flat", "no prior at all is written by leaving it out"},
        {"half_gaussian", "did you mean \"half_normal\"?"},
        {"lognormal", "did you mean \"log_normal\"?"},
        {"halfnormal", "did you mean \"half_normal\"?"},
        {"cauchy", "did you mean \"half_cauchy\"?"},
        {"jeffreys", "did you mean \"log_uniform\"?"},
    };
    for (size_t k = 0; k < sizeof other / sizeof *other; k++)
        if (strcmp(near.name, other[k][0]) == 0)
            dsl_fail(L, near.name, other[k][1], "unknown prior \"%s\"", near.name);
    dsl_fail(L, near.name, near.best ? hg_format(dsl_of(L)->arena, "did you mean \"%s\"?", near.best) : known,
             "unknown prior \"%s\"", near.name);
}

/* over = phi: index of the axis; -1 when absent. */
static int read_over(lua_State *L, int t)
{
    struct dsl *d = dsl_of(L);
    int over = -1;
    if (lua_getfield(L, t, "over") != LUA_TNIL) {
        const struct dsl_value *v = dsl_test(L, -1);
        if (!v || hg_at(d->m->expr, v->id)->op != HG_COORD)
            dsl_fail(L, "over",
                     d->m->column.n ? "over = q, with local q = m.axis(\"q\", \"1/angstrom\"): rows with"
                                      " the same q are a group"
                                    : "over = phi, with local phi = m.axis(\"phi\", \"deg\")",
                     "over must be an axis");
        over = (int)hg_at(d->m->expr, v->id)->ref;
    }
    lua_pop(L, 1);
    return over;
}

/* linear = true or false; returns whether the parameter is a linear one in this run. */
static int read_linear(lua_State *L, int t, struct hg_symbol_decl *s)
{
    struct dsl *d = dsl_of(L);
    int type = lua_getfield(L, t, "linear");
    int yes = lua_toboolean(L, -1);
    if (type != LUA_TNIL && type != LUA_TBOOLEAN)
        dsl_fail(L, "linear", NULL, "linear must be true or false");
    if (type == LUA_TBOOLEAN)
        dsl_add_name(d, yes ? &d->claimed : &d->nonlinear, s->name);
    s->keep = type == LUA_TBOOLEAN && !yes;
    lua_pop(L, 1);
    return yes || dsl_has_name(&d->linear, s->name);
}

static int m_parameter(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    struct hg_symbol_decl s = {.line = dsl_line(L)};
    s.name = dsl_new_name(L, 1, "parameter");
    dsl_need_table(L, 2, "m.parameter(\"tau\", { unit = \"s\", start = 1, bounds = {0, 10}, doc = \"...\" })");
    if (dsl_has_formula_bounds(L, 2))
        return dsl_bounded(L);
    dsl_check_keys(L, 2, "a parameter", "unit start bounds prior doc alias over linear");
    hg_unit unit = symbol_unit(L, &s, dsl_text(L, 2, "unit"));
    s.doc = dsl_text(L, 2, "doc");
    s.alias = dsl_texts(L, 2, "alias");
    s.over = read_over(L, 2);
    dsl_read_bounds(L, 2, &s);
    read_start(L, 2, &s);
    dsl_read_prior(L, 2, "prior", &s);
    int linear = read_linear(L, 2, &s);
    struct hg_list *list = linear ? &d->m->linear : &d->m->param;
    return push_symbol(L, list, &s, linear ? HG_LINEAR : HG_PARAM, unit);
}

/* --- columns of a table ----------------------------------------------------------------------- */

/* m.columns("t:s", {"y", unit="count", doc="..."}, ...): one expression each. */
static int m_columns(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    int n = lua_gettop(L);
    check_space(L, FIT_ROWS, "columns");
    luaL_checkstack(L, n + 8, NULL);
    for (int k = 1; k <= n; k++) {
        struct hg_symbol_decl s = {.over = -1, .line = dsl_line(L), .start = NAN, .role = FIT_ROLE_COVARIATE};
        const char *unit = NULL;
        int type = lua_type(L, k);
        if (type != LUA_TTABLE && type != LUA_TSTRING)
            dsl_fail(L, "columns", "local x, y = m.columns(\"x:s\", {\"y\", unit = \"1\", doc = \"...\"})",
                     "column %d is neither \"name:unit\" nor a table", k);
        if (type == LUA_TTABLE) {
            if (lua_rawgeti(L, k, 1) != LUA_TSTRING)
                dsl_fail(L, "columns", "{\"y\", unit = \"1\", doc = \"...\"}: the name comes first",
                         "column %d has no name", k);
            if (lua_rawlen(L, k) > 1)
                dsl_fail(L, "columns", "one after the other: m.columns(\"x\", \"y\"); the unit is unit = \"s\"",
                         "column %d is a list of %u values", k, (unsigned)lua_rawlen(L, k));
            dsl_check_keys(L, k, "a column", "unit doc range empty [1]");
            unit = dsl_text(L, k, "unit");
            s.doc = dsl_text(L, k, "doc");
            read_range(L, k, &s);
            s.empty = dsl_number(L, k, "empty", NAN);
            s.has_empty = !isnan(s.empty);
        } else {
            const char *text = dsl_text_at(L, k, "a column"), *colon = strchr(text, ':');
            lua_pushlstring(L, text, colon ? (size_t)(colon - text) : strlen(text));
            unit = colon ? colon + 1 : NULL;
        }
        s.name = dsl_new_name(L, lua_gettop(L), "column");
        lua_pop(L, 1);
        hg_unit u = symbol_unit(L, &s, unit);
        push_symbol(L, &d->m->column, &s, HG_COLUMN, u);
    }
    d->m->space = FIT_ROWS;
    return n;
}

/* --- model "name" { ... } --------------------------------------------------------------------- */

static const struct method {
    const char *name;
    lua_CFunction call;
} method[] = {
    {"grid", m_grid},       {"axis", m_axis},         {"setting", m_setting},   {"parameter", m_parameter},
    {"columns", m_columns}, {"observe", dsl_observe}, {"variant", dsl_variant}, {"curve", dsl_curve},
    {"random", dsl_random}, {"test", dsl_test_point}, {"state", dsl_state},     {"step", dsl_step},
    {"derived", dsl_derived}, {"ode", dsl_ode},         {"ordered", dsl_ordered},   {"simplex", dsl_simplex},
    {"correlated", dsl_correlated}, {"event", dsl_event},
};
enum { NMETHOD = sizeof method / sizeof *method };

const char *dsl_method(size_t k)
{
    return k < NMETHOD ? method[k].name : NULL;
}

static int call_method(lua_State *L)
{
    const struct method *f = &method[lua_tointeger(L, lua_upvalueindex(1))];
    if (luaL_testudata(L, 1, MODEL))
        dsl_fail(L, f->name, "write m.name(...), with a dot", "m:%s(...) has a colon", f->name);
    return f->call(L);
}

/* Common first attempts, and the correct form. */
static const char *other_way(const char *key)
{
    static const struct {
        const char *key, *help;
    } way[] = {
        {"fit", "a fit is made by the program: homodyne fit --model FILE.lua --data DATA"},
        {"linear", "parameters that enter linearly are found; to say so: m.parameter(\"A\", { start = 1, "
                   "linear = true })"},
        {"constant", "a constant is a Lua number with its unit: local c = 299.8 * unit \"nm/fs\""},
        {"data", "data are named as columns: local x, y = m.columns(\"x\", \"y\")"},
        {"column", "columns are named together: local x, y = m.columns(\"x\", \"y\")"},
        {"noise", "errors are said with what is measured: m.observe(y, { mean = ..., sigma = s }), or "
                  "noise = gaussian { sd = s }"},
        {"prior", "a prior is said with its parameter: m.parameter(\"a\", { start = 1, "
                  "prior = {\"normal\", 1, 0.5} })"},
        {"bounds", "bounds are said with their parameter: m.parameter(\"a\", { start = 1, bounds = {0, 10} })"},
        {"mean", "the mean is said with what is measured: m.observe(y, { mean = ... })"},
        {"equation", "a differential equation is m.ode(t, { [u] = RATE })"},
    };
    for (size_t k = 0; k < sizeof way / sizeof *way; k++)
        if (strcmp(key, way[k].key) == 0)
            return way[k].help;
    return NULL;
}

static int model_index(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    const char *key = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
    struct nearest near = {.name = key};
    for (lua_Integer k = 0; k < NMETHOD; k++) {
        if (strcmp(key, method[k].name) == 0) {
            lua_pushinteger(L, k);
            lua_pushcclosure(L, call_method, 1);
            return 1;
        }
        nearest_offer(&near, method[k].name);
    }
    dsl_fail(L, key,
             other_way(key) ? other_way(key)
             : near.best    ? hg_format(d->arena, "did you mean '%s'?", near.best)
                            : "known: grid axis setting parameter ordered simplex correlated columns state "
                              "step ode event observe variant curve derived random test",
             "a model has no '%s'", key);
}

/* units = {"cell"}: words that are units in this model only. */
static void declare_units(lua_State *L, const char *const *word)
{
    const char *why;
    for (; word && *word; word++)
        if (!hg_unit_declare(dsl_of(L)->m->units, *word, &why))
            dsl_fail(L, *word, NULL, "units: %s", why);
}

/* package = "homodyne", mode = "laminar_flow": the Python package that has the model too, and its name there. */
static void read_package(lua_State *L, struct hg_model *m)
{
    m->package = dsl_text(L, 2, "package");
    m->mode = dsl_text(L, 2, "mode");
    if (m->package && strcmp(m->package, "homodyne") != 0 && strcmp(m->package, "heterodyne") != 0)
        dsl_fail(L, "package", "package = \"homodyne\"", "package '%s': known are homodyne and heterodyne", m->package);
    if (m->mode && !m->package)
        dsl_fail(L, "mode", NULL, "mode is a name in a package: say which");
}

/* The table after model "name". */
int dsl_model_table(lua_State *L)
{
    struct hg_model *m = dsl_of(L)->m;
    dsl_need_table(L, 2, "local m = model \"name\" { title = \"...\" }");
    dsl_check_keys(L, 2, "a model", "title formula reference validity alias package mode accuracy units");
    m->title = dsl_text(L, 2, "title");
    m->formula = dsl_lines(L, 2, "formula");
    m->reference = dsl_lines(L, 2, "reference");
    m->validity = dsl_lines(L, 2, "validity");
    m->alias = dsl_texts(L, 2, "alias");
    read_package(L, m);
    m->accuracy = dsl_number(L, 2, "accuracy", 0);
    if (m->accuracy < 0)
        dsl_fail(L, "accuracy", "accuracy = 64: the largest error of the mean, in ulp", "accuracy must be positive");
    declare_units(L, dsl_texts(L, 2, "units"));
    lua_settop(L, 1);
    return 1;
}

void dsl_model_name(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    const char *name = dsl_text_at(L, 1, "the name of the model");
    if (d->m->name)
        dsl_fail(L, "model", "the other one goes into a file of its own", "one file declares one model; '%s' is it",
                 d->m->name);
    dsl_check_c_name(L, name, "model");
    d->m->name = name;
}

static int call_model(lua_State *L)
{
    dsl_model_name(L);
    lua_newuserdatauv(L, 0, 0);
    luaL_setmetatable(L, MODEL);
    return 1;
}

void dsl_open_model(lua_State *L)
{
    luaL_newmetatable(L, MODEL);
    lua_pushcfunction(L, model_index);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, dsl_model_table);
    lua_setfield(L, -2, "__call");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
    lua_pushcfunction(L, call_model);
    lua_setfield(L, -2, "model");
}

void dsl_open_parameters(lua_State *L)
{
    dsl_open_constrained(L, m_parameter);
}
