/* dsl_observe.c -- the second half of a model file: the observed quantity and its formula (m.observe, m.variant),
 * derived curves (m.curve), realistic random parameters (m.random) and points with known values (m.test).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "base/random.h"
#include "graph/functions.h"
#include "graph/march.h"
#include "language/dsl_private.h"
#include "common/nearest.h"

enum { MAX_TESTS = 1000, MAX_CURVES = 64, NSCREEN = 64 };

/* The column at stack position i (an expression, or the name of one), or NULL. */
static struct hg_symbol_decl *column_at(lua_State *L, int i)
{
    struct dsl *d = dsl_of(L);
    const struct dsl_value *v = dsl_test(L, i);
    for (uint32_t k = 0; k < d->m->column.n; k++) {
        struct hg_symbol_decl *c = &d->m->column.item[k];
        if (v ? c->node == v->id : lua_type(L, i) == LUA_TSTRING && strcmp(lua_tostring(L, i), c->name) == 0)
            return c;
    }
    return NULL;
}

/* --- the measured quantity -------------------------------------------------------------------- */

/* The list `linear` of observe: names of parameters. */
static void read_linear_list(lua_State *L, int t)
{
    struct dsl *d = dsl_of(L);
    int type = lua_getfield(L, t, "linear");
    if (type == LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    if (type != LUA_TTABLE)
        dsl_fail(L, "linear", "linear = { contrast, offset }", "linear must be a list of parameters");
    d->claim = 1;
    lua_Unsigned n = lua_rawlen(L, -1);
    for (lua_Unsigned k = 1; k <= n; k++, lua_pop(L, 1)) {
        lua_rawgeti(L, -1, (lua_Integer)k);
        const struct dsl_value *v = dsl_test(L, -1);
        const struct hg_node *node = v ? hg_at(d->m->expr, v->id) : NULL;
        if (!node || (node->op != HG_PARAM && node->op != HG_LINEAR))
            dsl_fail(L, "linear", NULL, "entry %d of the list `linear` is not a parameter", (int)k);
        dsl_add_name(d, &d->claimed, node->name);
    }
    lua_pop(L, 1);
}

/* Entry k of the list `over`, on top of the stack: an axis is marked, t1 and t2 are accepted. */
static void mark_axis(lua_State *L, int k, int *listed)
{
    struct dsl *d = dsl_of(L);
    const struct dsl_value *v = dsl_test(L, -1);
    const struct hg_node *n = v ? hg_at(d->m->expr, v->id) : NULL;
    if (n && n->op == HG_COORD)
        listed[n->ref] = 1;
    else if (!n || !d->has_pair || (v->id != d->t1 && v->id != d->t2))
        dsl_fail(L, "over", "over = { phi, t1, t2 }", "entry %d of `over` is not an axis", k);
}

/* Does the mean have the axis, or a parameter with one value for each of its values? */
static int varies_with(struct hg_model *m, hg_id mean, int axis)
{
    const struct hg_list *list[] = {&m->param, &m->linear};
    int found = hg_contains(m->expr, mean, m->axis.item[axis].node);
    for (size_t l = 0; l < 2; l++)
        for (uint32_t k = 0; k < list[l]->n; k++)
            found |= list[l]->item[k].over == axis && hg_contains(m->expr, mean, list[l]->item[k].node);
    return found;
}

/* The list `over` of observe: t1, t2 and the axes that the mean may vary with. */
static void check_over(lua_State *L, int t, hg_id mean)
{
    struct dsl *d = dsl_of(L);
    int *listed = hg_alloc(d->arena, (d->m->axis.n + 1) * sizeof *listed);
    int type = lua_getfield(L, t, "over");
    if (type != LUA_TNIL && type != LUA_TTABLE)
        dsl_fail(L, "over", "over = { phi, t1, t2 }", "over must be a list of axes");
    for (lua_Unsigned k = 1; type == LUA_TTABLE && k <= lua_rawlen(L, -1); k++) {
        lua_rawgeti(L, -1, (lua_Integer)k);
        mark_axis(L, (int)k, listed);
        lua_pop(L, 1);
    }
    for (uint32_t k = 0; type == LUA_TTABLE && k < d->m->axis.n; k++) {
        const struct hg_symbol_decl *axis = &d->m->axis.item[k];
        if (!listed[k] && varies_with(d->m, mean, (int)k))
            dsl_fail(L, "over", hg_format(d->arena, "over = { %s, t1, t2 }", axis->name),
                     "the mean varies with '%s', which is not in `over`", axis->name);
    }
    lua_pop(L, 1);
}

static const char *unit_phrase(struct dsl *d, hg_unit unit)
{
    return unit == HG_UNIT_ONE ? "a plain number" : hg_format(d->arena, "in %s", hg_unit_text(d->m->units, unit));
}

/* The name of the current observable. */
static const char *measured(const struct dsl *d)
{
    const struct hg_model *m = d->m;
    return m->nquantity ? m->column.item[m->quantity[m->nquantity - 1].value].name : m->observable;
}

static const char *mean_help(lua_State *L, hg_unit mean, hg_unit wanted)
{
    struct dsl *d = dsl_of(L);
    const char *y = measured(d), *help = dsl_unit_help(L, mean, wanted);
    if (!help && mean == HG_UNIT_ONE)
        help = hg_format(d->arena, "a factor in %s is missing: has a parameter no unit?",
                         hg_unit_text(d->m->units, wanted));
    if (!help && wanted == HG_UNIT_ONE && d->m->space == FIT_ROWS)
        help = hg_format(d->arena, "if '%s' is in %s, say so: m.columns(..., \"%s:%s\")", y,
                         hg_unit_text(d->m->units, mean), y, hg_unit_text(d->m->units, mean));
    return help;
}

/* The mean under the key `mean`; its unit must be that of the observable. */
static struct dsl_value read_mean(lua_State *L, int t, hg_unit unit)
{
    struct dsl *d = dsl_of(L);
    if (!dsl_law_mean(L, t))
        lua_pushnil(L);
    struct dsl_value v = dsl_value_at(L, -1, "mean");
    lua_pop(L, 1);
    if (v.unit != unit && v.unit != HG_UNIT_ANY)
        dsl_complain(L, "mean", mean_help(L, v.unit, unit), "unit mismatch: the mean is %s, '%s' is %s",
                     unit_phrase(d, v.unit), measured(d), unit_phrase(d, unit));
    return v;
}

/* Table models: the measured column and its standard deviation. */
static hg_unit observe_column(lua_State *L, int t)
{
    struct dsl *d = dsl_of(L);
    struct hg_symbol_decl *value = column_at(L, 1);
    if (!value)
        dsl_fail(L, "observe", "m.observe(y, { mean = ... }), with y from m.columns(...)",
                 "the first argument of m.observe must be a column");
    int errors = -1;
    value->role = FIT_ROLE_VALUE;
    dsl_check_statistics(L, value);
    if (!d->m->nquantity) {
        d->m->observable = value->name;
        d->m->observable_unit = value->unit;
    }
    if (lua_getfield(L, t, "sigma") != LUA_TNIL) {
        struct hg_symbol_decl *sigma = column_at(L, -1);
        if (!sigma || sigma == value)
            dsl_fail(L, "sigma",
                     "one error for all rows: noise = gaussian { sd = 0.1 } here, or --sigma 0.1 at the fit",
                     "sigma must be another column%s",
                     lua_type(L, -1) == LUA_TNUMBER ? ", not a number"
                     : sigma                        ? ", not the measured one"
                                                    : "");
        if (strcmp(sigma->unit, value->unit) != 0)
            dsl_complain(L, "sigma", NULL, "unit mismatch: '%s' is in %s, its standard deviation '%s' in %s",
                         value->name, value->unit, sigma->name, sigma->unit);
        sigma->role = FIT_ROLE_SIGMA;
        errors = (int)(sigma - d->m->column.item);
    }
    lua_pop(L, 1);
    dsl_quantity_add(L, (uint32_t)(value - d->m->column.item), errors);
    return dsl_unit(L, value->unit);
}

static hg_unit observe_pairs(lua_State *L, int t)
{
    struct dsl *d = dsl_of(L);
    const char *name = dsl_text_at(L, 1, "the name of what is observed"), *unit = dsl_text(L, t, "unit");
    dsl_check_c_name(L, name, "measured quantity");
    if (hg_model_find(d->m, name))
        dsl_fail(L, name, NULL, "'%s' is declared twice", name);
    d->m->observable = name;
    d->m->observable_unit = unit ? unit : "1";
    return dsl_unit(L, d->m->observable_unit);
}

/* noise = {"half_cauchy", 2.5}: prior of the standard deviation of the noise, for data without errors. */
static void read_noise(lua_State *L, int t)
{
    struct hg_model *m = dsl_of(L)->m;
    if (lua_getfield(L, t, "noise") != LUA_TNIL) {
        m->noise = (struct hg_symbol_decl){.name = "noise", .lower = 0, .upper = INFINITY};
        dsl_read_prior(L, t, "noise", &m->noise);
        m->has_noise = 1;
    }
    lua_pop(L, 1);
}

/* The mean must not contain the measured quantity or its error. */
static void check_columns(lua_State *L, hg_id mean)
{
    struct hg_model *m = dsl_of(L)->m;
    for (uint32_t k = 0; k < m->column.n; k++) {
        const struct hg_symbol_decl *c = &m->column.item[k];
        if (c->role != FIT_ROLE_COVARIATE && hg_contains(m->expr, mean, c->node))
            dsl_fail(L, "mean",
                     c->role == FIT_ROLE_VALUE ? hg_format(dsl_of(L)->arena,
                                                           "the mean is computed from the other columns; "
                                                           "the value in the row before is previous(%s, first)",
                                                           c->name)
                                               : "the mean is computed from the other columns",
                     "the mean contains '%s', which is %s", c->name,
                     c->role == FIT_ROLE_VALUE ? "what is measured" : "its standard deviation");
    }
}

/* A local variable without a value: after `local x, y, s = m.columns("x", "y")`, sigma = s has no effect. */
static void warn_of_nil(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    lua_Debug ar;
    const char *name;
    for (int level = 0; !d->silent && lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "S", &ar);
        if (strcmp(ar.source, d->chunk) != 0)
            continue;
        for (int k = 1; (name = lua_getlocal(L, &ar, k)) != NULL; k++) {
            if (lua_isnil(L, -1) && *name != '(')
                hg_warning(d->diag, dsl_line(L), name, "m.columns gives one value for each name", "'%s' is nil", name);
            lua_pop(L, 1);
        }
    }
}

/* A noise distribution: all parameters are then nonlinear. */
static void observe_law(lua_State *L, hg_unit unit, int kind)
{
    struct dsl *d = dsl_of(L);
    struct hg_model *m = d->m;
    if (!m->column.n)
        dsl_fail(L, kind == 2 ? "log_density" : "noise", "errors of pairs of frames are normal",
                 "other noise distributions are for models with columns");
    if (d->claim || d->claimed.n)
        dsl_fail(L, "linear", "drop `linear`", "parameters are solved for as linear ones where errors are normal only");
    dsl_read_law(L, &m->column.item[m->quantity[m->nquantity - 1].value], unit, kind);
}

int dsl_observe(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    struct hg_model *m = d->m;
    dsl_need_table(L, 2,
                   m->column.n
                       ? "m.observe(y, { mean = ..., sigma = s }), y and s from m.columns"
                       : "m.observe(\"c2\", { over = {phi, t1, t2}, mean = ..., linear = {contrast, offset} })");
    dsl_check_keys(L, 2, "observe", "over mean linear unit sigma noise log_density support");
    if (m->nvariant && !m->column.n)
        dsl_fail(L, "observe", "another formula for the same data: m.variant(name, { mean = ... })",
                 "a model over pairs of frames observes one quantity; '%s' is it", m->observable);
    if (m->nvariant > 1 || m->ntest || m->nscreen)
        dsl_fail(L, "observe", NULL, "m.observe comes before m.variant, m.random and m.test");
    if (!m->column.n && !d->has_grid)
        dsl_fail(L, "observe", "m.grid(\"t\", \"s\") for pairs of frames, m.columns(...) for a table",
                 "there is neither a time grid nor a column");
    struct hg_density *before = m->density;
    int law = dsl_has_law(L, 2);
    hg_unit unit = m->column.n ? observe_column(L, 2) : observe_pairs(L, 2);
    dsl_name_locals(L);
    struct dsl_value mean = read_mean(L, 2, unit);
    warn_of_nil(L);
    check_over(L, 2, mean.id);
    check_columns(L, mean.id);
    read_linear_list(L, 2);
    if (law)
        observe_law(L, unit, law);
    else
        read_noise(L, 2);
    mean.id = dsl_with_states(L, mean.id, "the mean");
    m->observe_line = dsl_line(L);
    if (m->nvariant) {
        m->density = law ? m->density : NULL;
        dsl_quantity_join(L, mean, before);
        return 0;
    }
    m->variant[m->nvariant++] =
        (struct hg_variant){.name = "fast", .mean = mean.id, .written = mean.written, .line = m->observe_line};
    dsl_observed(L);
    return 0;
}

static void need_observe(lua_State *L, const char *what)
{
    if (!dsl_of(L)->m->nvariant)
        dsl_fail(L, what, NULL, "m.%s comes after m.observe", what);
}

/* m.variant("parity", { mean = ... }): another formula for the same observable. */
int dsl_variant(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    struct hg_model *m = d->m;
    need_observe(L, "variant");
    if (m->density)
        dsl_fail(L, "variant", NULL, "variants are for normal errors; the distribution '%s' has one formula",
                 m->density->name);
    if (m->nquantity > 1)
        dsl_fail(L, "variant", NULL, "variants are for models that measure one quantity; this one measures %u",
                 (unsigned)m->nquantity);
    const char *name = dsl_text_at(L, 1, "the name of a variant");
    dsl_check_c_name(L, name, "variant");
    dsl_need_table(L, 2, "m.variant(\"parity\", { mean = ... })");
    dsl_check_keys(L, 2, "a variant", "mean");
    if (hg_model_variant(m, name))
        dsl_fail(L, name, NULL, "the variant '%s' is declared twice%s", name,
                 strcmp(name, "fast") == 0 ? "; \"fast\" is the one of m.observe" : "");
    if (m->nvariant == sizeof m->variant / sizeof *m->variant)
        dsl_fail(L, name, NULL, "more than %u variants", (unsigned)m->nvariant);
    dsl_name_locals(L);
    struct dsl_value mean = read_mean(L, 2, dsl_unit(L, m->observable_unit));
    mean.id = dsl_with_states(L, mean.id, "the mean");
    m->variant[m->nvariant++] =
        (struct hg_variant){.name = name, .mean = mean.id, .written = mean.written, .line = dsl_line(L)};
    return 0;
}

/* m.curve("D", D, "description"): a derived function of time (of the first covariate for tables).
 */
int dsl_curve(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    struct hg_model *m = d->m;
    struct hg_symbol_decl s = {.over = -1, .line = dsl_line(L)};
    s.name = dsl_text_at(L, 1, "the name of a curve");
    dsl_check_c_name(L, s.name, "curve");
    for (uint32_t k = 0; k < m->curve.n; k++) {
        if (strcmp(m->curve.item[k].name, s.name) == 0)
            dsl_fail(L, s.name, NULL, "the curve '%s' is declared twice", s.name);
    }
    dsl_name_locals(L);
    struct dsl_value v = dsl_value_at(L, 2, "a curve");
    for (uint32_t k = 0; k < m->linear.n; k++) {
        if (hg_contains(m->expr, v.id, m->linear.item[k].node))
            dsl_fail(L, s.name, NULL,
                     "the curve '%s' contains the linear parameter '%s'; curves are functions of "
                     "the nonlinear ones",
                     s.name, m->linear.item[k].name);
    }
    for (uint32_t q = 0; q < 2 * m->state.n; q++)
        if (hg_contains(m->expr, v.id, hg_carried(m->expr, q / 2, (int)(q % 2), 0)))
            dsl_fail(L, s.name, "curves follow from the parameters alone", "the curve '%s' contains the state '%s'",
                     s.name, m->state.item[q / 2].name);
    unsigned allowed = m->column.n ? HG_R : HG_T;
    if (hg_at(m->expr, v.id)->vary & ~allowed)
        dsl_fail(L, s.name, m->column.n ? NULL : "a curve is drawn once for all groups, over the frame times",
                 "the curve '%s' must be a function of %s only", s.name, m->column.n ? "columns" : "time");
    s.doc = lua_isnoneornil(L, 3) ? NULL : dsl_text_at(L, 3, "the description");
    s.unit = hg_unit_text(m->units, v.unit <= HG_UNIT_UNKNOWN ? HG_UNIT_ONE : v.unit);
    s.node = v.id;
    s.written = v.written;
    if (m->curve.n >= MAX_CURVES)
        dsl_fail(L, s.name, NULL, "more than %d curves", MAX_CURVES);
    hg_model_declare(m, &m->curve, &s);
    return 0;
}

/* The suggestion after a failed look-up of a symbol. */
static const char *nearest_symbol(struct dsl *d, const char *name, const char *more)
{
    const struct hg_model *m = d->m;
    const struct hg_list *list[] = {&m->param, &m->linear, &m->setting, &m->axis, &m->column};
    struct nearest near = {.name = name};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        for (uint32_t i = 0; i < list[k]->n; i++)
            nearest_offer(&near, list[k]->item[i].name);
    }
    if (!near.best)
        near.best = dsl_nearest_in(d, more, name);
    return near.best ? hg_format(d->arena, "did you mean '%s'?", near.best) : NULL;
}

/* --- random parameters and test points -------------------------------------------------------- */

/* u(a, b): uniform between a and b. */
static int call_uniform(lua_State *L)
{
    double a = luaL_optnumber(L, 1, 0), b = luaL_optnumber(L, 2, 1);
    lua_pushnumber(L, a + (b - a) * hg_random(&dsl_of(L)->random));
    return 1;
}

/* Six digits: the same text, whatever the last bits of a mathematical library. */
static double rounded(double x)
{
    char text[40];
    lua_Number y = x;
    snprintf(text, sizeof text, "%.6g", y);
    return strtod(text, NULL);
}

double dsl_random_start(struct dsl *d, const struct hg_symbol_decl *s)
{
    double u = hg_random(&d->random);
    if (s->lower > 0 && isfinite(s->upper) && s->upper > 100 * s->lower)
        return rounded(s->lower * hg_value_pow(s->upper / s->lower, u));
    if (isfinite(s->lower) && isfinite(s->upper))
        return rounded(s->lower + (s->upper - s->lower) * u);
    double x = s->start + (s->start != 0.0 ? fabs(s->start) : 1.0) * (u - 0.5); /* exactly zero: no scale */
    return rounded(x < s->lower ? s->lower : x > s->upper ? s->upper : x);
}

static const char *symbol_names(struct dsl *d)
{
    const struct hg_list *list[] = {&d->m->param, &d->m->linear};
    const char *names = "";
    for (size_t k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < list[k]->n; i++)
            names = hg_format(d->arena, "%s%s%s", names, *names ? " " : "", list[k]->item[i].name);
    }
    return names;
}

/* m.random(function(u) return { D0 = 10^u(2, 5), ... } end): 64 realistic sets; omitted parameters are at their
 * starts. */
int dsl_random(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    struct hg_model *m = d->m;
    need_observe(L, "random");
    if (lua_type(L, 1) != LUA_TFUNCTION)
        dsl_fail(L, "random", "m.random(function(u) return { tau = 10^u(-3, 0) } end)", "m.random needs a function");
    const char *names = symbol_names(d);
    m->nscreen = NSCREEN;
    m->has_random = 1;
    m->screen = hg_alloc(d->arena, (size_t)NSCREEN * (m->param.n + 1) * sizeof *m->screen);
    for (uint32_t row = 0; row < NSCREEN; row++) {
        lua_pushvalue(L, 1);
        lua_pushcfunction(L, call_uniform);
        lua_call(L, 1, 1);
        if (lua_type(L, -1) != LUA_TTABLE)
            dsl_fail(L, "random", "m.random(function(u) return { tau = 10^u(-3, 0) } end)",
                     "the function of m.random must return a table");
        if (row == 0)
            dsl_check_keys(L, lua_gettop(L), "m.random: the model", names);
        for (uint32_t k = 0; k < m->param.n; k++) {
            const struct hg_symbol_decl *s = &m->param.item[k];
            double x = dsl_number(L, lua_gettop(L), s->name, s->start);
            if (x < s->lower || x > s->upper)
                dsl_fail(L, s->name, "narrower numbers in u(a, b), or wider bounds",
                         "m.random gave %s = %g, outside its bounds [%g, %g]", s->name, x, s->lower, s->upper);
            x = rounded(x);
            m->screen[row * m->param.n + k] = x < s->lower ? s->lower : x > s->upper ? s->upper : x;
        }
        lua_pop(L, 1);
    }
    return 0;
}

/* Values of a test for one list of symbols. */
static double *test_values(lua_State *L, const struct hg_list *list, const char *required)
{
    double *x = hg_alloc(dsl_of(L)->arena, (list->n + 1) * sizeof *x);
    for (uint32_t k = 0; k < list->n; k++) {
        const struct hg_symbol_decl *s = &list->item[k];
        x[k] = dsl_number(L, 1, s->name, NAN);
        if (list == &dsl_of(L)->m->column && (int)k == dsl_of(L)->m->which) {
            x[k] = 0; /* add_tests */
            continue;
        }
        int needed = required && (list != &dsl_of(L)->m->setting || isnan(s->start)) && s->role == FIT_ROLE_COVARIATE;
        if (isnan(x[k]) && needed)
            dsl_fail(L, "test", hg_format(dsl_of(L)->arena, "%s = ..., in %s", s->name, s->unit),
                     "the test gives no value for the %s '%s'", required, s->name);
    }
    return x;
}

/* --- rows of a test: models with states */

/* How many numbers the key has: 0: none, 1: a number or a list of one. */
static uint32_t list_length(lua_State *L, const char *key)
{
    int type = lua_getfield(L, 1, key);
    uint32_t n = type == LUA_TNIL ? 0 : type == LUA_TTABLE ? (uint32_t)lua_rawlen(L, -1) : 1;
    lua_pop(L, 1);
    return n;
}

/* Number r of a list under the key, or the number for all rows; NaN: none. */
static double list_number(lua_State *L, const char *key, uint32_t r)
{
    double x = NAN;
    int type = lua_getfield(L, 1, key);
    if (type == LUA_TTABLE) {
        lua_rawgeti(L, -1, (lua_Integer)r + 1);
        x = dsl_number_at(L, -1, key);
        lua_pop(L, 1);
    } else if (type != LUA_TNIL) {
        x = dsl_number_at(L, -1, key);
    }
    lua_pop(L, 1);
    return x;
}

/* Lists must have the same length. */
static uint32_t rows_of_test(lua_State *L, const char *answer)
{
    const struct hg_model *m = dsl_of(L)->m;
    uint32_t n = list_length(L, answer), own;
    for (uint32_t k = 0; k < m->column.n; k++) {
        own = list_length(L, m->column.item[k].name);
        if (own > 1 && n > 1 && own != n)
            dsl_fail(L, m->column.item[k].name, NULL, "the lists of the test have %u and %u numbers", (unsigned)n,
                     (unsigned)own);
        n = own > n ? own : n;
    }
    return n ? n : 1;
}

/* Values of columns row by row, and the expected mean of quantity `which` there, under the name `answer`. */
static void read_test_rows(lua_State *L, const char *answer, uint32_t which, struct hg_test *test)
{
    struct dsl *d = dsl_of(L);
    const struct hg_model *m = d->m;
    const uint32_t n = test->nrow = rows_of_test(L, answer);
    test->row = hg_alloc(d->arena, n * sizeof *test->row);
    test->expect = hg_alloc(d->arena, n * sizeof *test->expect);
    for (uint32_t r = 0; r < n; r++) {
        double *row = hg_alloc(d->arena, (m->column.n + 1) * sizeof *row);
        for (uint32_t k = 0; k < m->column.n; k++) {
            const struct hg_symbol_decl *s = &m->column.item[k];
            row[k] = m->nquantity > 1 && (int)k == m->which           ? which
                     : s->role == FIT_ROLE_COVARIATE || m->feedback ? list_number(L, s->name, r)
                                                                    : NAN;
            if (isnan(row[k]) && (s->role == FIT_ROLE_COVARIATE || (s->role == FIT_ROLE_VALUE && m->feedback)))
                dsl_fail(L, "test", NULL, "the test gives no value for the column '%s'", s->name);
        }
        test->row[r] = row;
        test->expect[r] = list_length(L, answer) > 1 || r + 1 == n ? list_number(L, answer, r) : NAN;
    }
    test->column = (double *)(uintptr_t)test->row[n - 1];
    test->expected = test->expect[n - 1];
    if (isnan(test->expected))
        dsl_fail(L, "test", m->feedback ? "mean = its value in the last row, or a list" : NULL,
                 "the test does not say what %s'%s' should be", m->feedback ? "the mean of " : "", m->observable);
}

static void add_test(lua_State *L, const struct hg_test *test)
{
    struct dsl *d = dsl_of(L);
    struct hg_model *m = d->m;
    if (m->ntest >= MAX_TESTS)
        dsl_fail(L, "test", NULL, "more than %d tests", MAX_TESTS);
    m->test = hg_grow(d->arena, m->test, m->ntest, m->ntest + 1, sizeof *m->test, &d->test_room);
    m->test[m->ntest++] = *test;
}

/* One test for each measured quantity that the test at 1 names; where states depend on measured values, under
 * `mean`. */
static void add_test_rows(lua_State *L, struct hg_test *test)
{
    const struct hg_model *m = dsl_of(L)->m;
    const uint32_t before = m->ntest;
    for (uint32_t k = 0; m->nquantity > 1 && k < m->nquantity; k++) {
        const char *name = m->column.item[m->quantity[k].value].name;
        if (!list_length(L, name))
            continue;
        read_test_rows(L, name, k, test);
        add_test(L, test);
    }
    if (m->ntest > before)
        return;
    read_test_rows(L, m->feedback ? "mean" : m->observable, 0, test);
    add_test(L, test);
}

/* t = first_time + k step for a whole k >= 0 */
static double grid_time(lua_State *L, const struct hg_test *test, const char *key)
{
    double t = dsl_number(L, 1, key, NAN);
    double k = (t - test->first_time) / test->step;
    if (isnan(t) || k < -1e-6 || fabs(k - round(k)) > 1e-6)
        dsl_fail(L, key, "frame times are first_time + k dt, k = 0, 1, ...", "%s must be a frame time of the grid",
                 key);
    return t;
}

static void read_test_times(lua_State *L, struct hg_test *test)
{
    test->step = dsl_number(L, 1, "dt", NAN);
    test->first_time = dsl_number(L, 1, "first_time", 0);
    if (!(test->step > 0))
        dsl_fail(L, "test", "dt = 0.1, in seconds", "the test gives no frame period dt");
    test->t1 = grid_time(L, test, "t1");
    test->t2 = grid_time(L, test, "t2");
}

static void read_test_place(lua_State *L, struct hg_test *test, int mean)
{
    const struct hg_model *m = dsl_of(L)->m;
    test->column = test_values(L, &m->column, mean ? "column" : NULL);
    if (!m->column.n && mean)
        read_test_times(L, test);
}

/* Keys of a test: symbols, the observable, and the test's own keywords. */
static void check_test_keys(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    const char *words = d->m->feedback ? "mean tolerance variant"
                        : d->m->column.n ? "tolerance variant" : "t1 t2 dt first_time tolerance variant";
    const char *bad = NULL;
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "[1]";
        if (!dsl_is_in(words, key) && strcmp(key, d->m->observable) != 0 && !hg_model_find(d->m, key) &&
            !dsl_is_derived(d->m, key) &&
            (!bad || strcmp(key, bad) < 0))
            bad = hg_strdup(d->arena, key);
    }
    if (bad)
        dsl_fail(L, bad, nearest_symbol(d, bad, words), "the test names '%s', which the model does not have", bad);
}

/* Values of derived quantities that a test names; *any: 1 when there is one. */
static double *test_derived(lua_State *L, int *any)
{
    const struct hg_model *m = dsl_of(L)->m;
    double *x = hg_alloc(dsl_of(L)->arena, (m->derived.n + 1) * sizeof *x);
    *any = 0;
    for (uint32_t k = 0; k < m->derived.n; k++) {
        x[k] = dsl_number(L, 1, m->derived.item[k].name, NAN);
        *any |= !isnan(x[k]);
    }
    return x;
}

/* Does the test at 1 give the expected value of a measured quantity? */
static int names_measured(lua_State *L)
{
    const struct hg_model *m = dsl_of(L)->m;
    int found = lua_getfield(L, 1, m->observable) != LUA_TNIL;
    for (uint32_t k = 0; k < m->nquantity; k++)
        found |= lua_getfield(L, 1, m->column.item[m->quantity[k].value].name) != LUA_TNIL;
    lua_settop(L, 1);
    return found;
}

/* Derived quantities have their expected values; otherwise one test for each measured quantity that it names. */
static void add_tests(lua_State *L, struct hg_test *test, int mean)
{
    struct dsl *d = dsl_of(L);
    struct hg_model *m = d->m;
    const char *names = m->observable;
    const uint32_t before = m->ntest, several = mean && m->nquantity > 1 ? m->nquantity : 0;
    if (!mean || (!several && !isnan(test->expected = dsl_number(L, 1, m->observable, NAN))))
        add_test(L, test);
    for (uint32_t k = 0; k < several; k++) {
        const char *name = m->column.item[m->quantity[k].value].name;
        names = k ? hg_format(d->arena, "%s' or '%s", names, name) : name;
        if (isnan(test->expected = dsl_number(L, 1, name, NAN)))
            continue;
        const double *column = test->column;
        test->column = hg_alloc(d->arena, m->column.n * sizeof *test->column);
        memcpy(test->column, column, m->column.n * sizeof *column);
        test->column[m->which] = k;
        add_test(L, test);
    }
    if (m->ntest == before)
        dsl_fail(L, "test", NULL, "the test does not say what '%s' should be", names);
}

/* m.test{ parameters, settings, axes, dt, t1, t2 (or columns), c2 = expected, tolerance, variant }
 */
int dsl_test_point(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    struct hg_model *m = d->m;
    struct hg_test test = {.line = dsl_line(L), .expected = NAN};
    need_observe(L, "test");
    dsl_need_table(L, 1, "m.test{ D0 = 1000, ..., c2 = 1.23 }");
    check_test_keys(L);
    int any;
    test.derived = test_derived(L, &any);
    /* a test of derived quantities alone needs no data point */
    const int mean = !any || names_measured(L);
    test.param = test_values(L, &m->param, NULL);
    test.linear = test_values(L, &m->linear, NULL);
    test.setting = test_values(L, &m->setting, "setting");
    test.coord = test_values(L, &m->axis, mean ? "axis" : NULL);
    if (!m->state.n || !mean)
        read_test_place(L, &test, mean);
    test.tolerance = dsl_number(L, 1, "tolerance", 1e-12);
    test.variant = dsl_text(L, 1, "variant");
    if (!test.variant)
        test.variant = "fast";
    if (!hg_model_variant(m, test.variant))
        dsl_fail(L, "variant", NULL, "the model has no variant '%s'", test.variant);
    if (m->state.n && mean)
        add_test_rows(L, &test);
    else
        add_tests(L, &test, mean);
    return 0;
}
