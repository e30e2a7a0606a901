/* dsl_expr.c -- expressions in Lua: operators that build nodes. Units are checked as expressions are written, so that a
 * mistake is reported at its line and only once. Functions: dsl_functions.c.
 *
 * After a unit mismatch the result has the unit ANY, which agrees with everything: no error follows from an error.
 */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "language/dsl_private.h"
#include "common/nearest.h"

#define TYPE "expression" /* name of the metatable; Lua shows it in its own messages */

const char dsl_large_help[] = "a model has some hundred nodes; is there a loop that builds expressions? A sum or "
                              "recurrence of many terms needs a closed form, or fewer terms; an implicit equation, "
                              "eight of Newton's steps";

enum { MOST_DEPTHS = 100000, DEEP = 50 };
enum { MAX_NODES = 200000, MAX_WRITTEN = 1000000, MAX_ARENA = 1 << 30, MAX_UNIT_TEXT = 100 };

static const double degree = 3.14159265358979323846 / 180; /* pi/180 */

/* --- values ----------------------------------------------------------------------------------- */

void dsl_push_written(lua_State *L, hg_id id, hg_unit unit, struct hg_written w)
{
    struct dsl *d = dsl_of(L);
    w.node = id;
    w.unit = unit;
    hg_model_set_unit(d->m, id, unit, 0);
    struct dsl_value *v = lua_newuserdatauv(L, sizeof *v, 0);
    *v = (struct dsl_value){id, unit, hg_written_add(d->m, &w)};
    luaL_setmetatable(L, TYPE);
}

void dsl_push(lua_State *L, hg_id id, hg_unit unit)
{
    const int constant = hg_at(dsl_of(L)->m->expr, id)->op == HG_CONST; /* a unit as a factor */
    dsl_push_written(L, id, unit, (struct hg_written){.word = constant ? HG_W_UNIT : HG_W_SYMBOL});
}

void dsl_push_word(lua_State *L, hg_id id, hg_unit unit, enum hg_word word, enum hg_op op)
{
    struct hg_model *m = dsl_of(L)->m;
    dsl_check_bound(L, id);
    struct hg_written w = {.word = word, .op = op};
    for (int k = 1; k <= lua_gettop(L) && k <= 3; k++) {
        const struct dsl_value *v = dsl_test(L, k);
        if (v)
            w.arg[w.nargs++] = v->written;
        else if (lua_type(L, k) == LUA_TNUMBER)
            w.arg[w.nargs++] =
                hg_written_add(m, &(struct hg_written){.word = HG_W_NUMBER, .value = lua_tonumber(L, k)});
    }
    dsl_push_written(L, id, unit, w);
}

const struct dsl_value *dsl_test(lua_State *L, int i)
{
    return luaL_testudata(L, i, TYPE);
}

/* Limit of operations applied one upon the other in a loop: the cost of the passes grows with the square of their
 * number. In wide models (200 parameters of 40 peaks) the path from a node to its leaves has 7 operations on
 * average. */
static int is_too_deep(const struct hg_expr *e)
{
    return hg_depths(e) > MOST_DEPTHS && hg_depths(e) > (uint64_t)DEEP * e->n;
}

struct hg_expr *dsl_build(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    struct hg_expr *e = d->m->expr;
    if (is_too_deep(e))
        dsl_fail(L, NULL, dsl_large_help,
                 "the expressions of this model are too large (%u nodes, up to %u operations one"
                 " upon the other)",
                 (unsigned)e->n, (unsigned)hg_at(e, e->n - 1)->depth);
    if (e->n > MAX_NODES || d->m->nwritten > MAX_WRITTEN || hg_arena_size(d->arena) > MAX_ARENA ||
        hg_steps_done(e) > HG_MOST_STEPS_OF_SCRIPT)
        dsl_fail(L, NULL, dsl_large_help, "the expressions of this model are too large (%u nodes)", (unsigned)e->n);
    e->line = dsl_line(L);
    return e;
}

/* A number as an expression; 0 agrees with every unit. */
static struct dsl_value constant(lua_State *L, double x)
{
    if (!isfinite(x))
        dsl_fail(L, NULL, "was something divided by zero?", "the number %g cannot enter an expression", x);
    hg_wid written = hg_written_add(dsl_of(L)->m, &(struct hg_written){.word = HG_W_NUMBER, .value = x});
    return (struct dsl_value){hg_const(dsl_build(L), x), x == 0.0 ? HG_UNIT_ANY : HG_UNIT_ONE, written};
}

/* A remedy for a table used as an expression: it may be a noise distribution or a prior; NULL: neither. */
static const char *table_help(lua_State *L, int i)
{
    struct dsl *d = dsl_of(L);
    const char *help = NULL;
    i = lua_absindex(L, i);
    if (dsl_is_complex(L, i))
        help = "re(z), im(z), abs(z) and arg(z) are real; i is the imaginary unit, and no number that counts";
    else if (lua_getfield(L, i, "law") == LUA_TSTRING)
        help = hg_format(d->arena, "%s is a noise distribution; it belongs in m.observe, after `noise =`",
                         lua_tostring(L, -1));
    else if (lua_rawgeti(L, i, 1) == LUA_TSTRING && dsl_is_in("normal log_normal", lua_tostring(L, -1)))
        help = hg_format(d->arena, "%s(...) is a prior: m.parameter(\"p\", { ..., prior = %s(...) })",
                         lua_tostring(L, -1), lua_tostring(L, -1));
    else if (dsl_test(L, -1))
        help = "a list holds several formulas; the first is c[1] of a list c";
    return help; /* the rest of the stack does not matter: an error follows */
}

struct dsl_value dsl_value_at(lua_State *L, int i, const char *what)
{
    const struct dsl_value *v = dsl_test(L, i);
    if (v)
        return *v;
    if (lua_type(L, i) == LUA_TNUMBER)
        return constant(L, lua_tonumber(L, i));
    const char *help = lua_isnoneornil(L, i) ? "is a name misspelt, or an argument missing?" : NULL;
    if (lua_isboolean(L, i))
        help = "conditions are written with lt, le, gt, ge inside where(condition, a, b)";
    if (lua_istable(L, i))
        help = table_help(L, i);
    const char *culprit, *remedy;
    if (lua_isnoneornil(L, i) && dsl_find_nil(L, &culprit, &remedy))
        dsl_fail(L, culprit, remedy ? remedy : help, "%s must be an expression or a number; %s is nil", what, culprit);
    if (lua_type(L, i) == LUA_TSTRING)
        help = "a variable is written without quotes, a unit as a factor unit \"s\"";
    if (lua_isfunction(L, i))
        help = "a function is called: f(x)";
    dsl_fail(L, strchr(what, ' ') ? NULL : what, help, "%s must be an expression or a number, not %s", what,
             lua_isnoneornil(L, i) ? "nil" : dsl_is_complex(L, i) ? "a complex value" : luaL_typename(L, i));
}

const char *dsl_local_name(lua_State *L, struct dsl_value v)
{
    struct dsl *d = dsl_of(L);
    lua_Debug ar;
    const struct hg_node *n = hg_at(d->m->expr, v.id);
    if (n->name)
        return n->name;
    for (int level = 0; lua_getstack(L, level, &ar); level++) {
        lua_getinfo(L, "S", &ar);
        if (strcmp(ar.source, d->chunk) != 0)
            continue;
        const char *found = NULL, *name;
        for (int k = 1; (name = lua_getlocal(L, &ar, k)) != NULL; k++) {
            const struct dsl_value *w = dsl_test(L, -1);
            if (w && w->id == v.id && w->unit == v.unit && *name != '(')
                found = hg_strdup(d->arena, name);
            lua_pop(L, 1);
            if (found)
                return found;
        }
        return NULL;
    }
    return NULL;
}

void dsl_name_value(lua_State *L, const struct dsl_value *v, const char *name)
{
    struct hg_model *m = dsl_of(L)->m;
    const struct hg_node *n = hg_at(m->expr, v->id);
    if (n->op != HG_CONST && !n->name) {
        hg_name(m->expr, v->id, name);
        hg_model_set_unit(m, v->id, v->unit, 1);
    }
    hg_written_name(m, v->written, name, HG_NAMED);
}

void dsl_name_locals(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    lua_Debug ar;
    for (int level = 0; lua_getstack(L, level, &ar); level++) {
        const char *name;
        lua_getinfo(L, "S", &ar);
        if (strcmp(ar.source, d->chunk) != 0)
            continue;
        for (int k = 1; (name = lua_getlocal(L, &ar, k)) != NULL; k++) {
            const struct dsl_value *v = dsl_test(L, -1);
            if (v && hg_name_is_c(name))
                dsl_name_value(L, v, hg_strdup(d->arena, name));
            else if (dsl_is_complex(L, -1) && hg_name_is_c(name))
                dsl_name_complex(L, -1, name);
            lua_pop(L, 1);
        }
    }
}

/* Arguments of the function are left out: other calls use the same names. */
void dsl_name_inside(lua_State *L, lua_Debug *ar)
{
    struct dsl *d = dsl_of(L);
    const char *name;
    lua_getinfo(L, "Su", ar);
    if (strcmp(ar->source, d->chunk) != 0 || strcmp(ar->what, "Lua") != 0)
        return;
    for (int k = ar->nparams + 1; (name = lua_getlocal(L, ar, k)) != NULL; k++) {
        const struct dsl_value *v = dsl_test(L, -1);
        if (v && hg_name_is_c(name))
            hg_written_name(d->m, v->written, hg_strdup(d->arena, name), HG_NAMED_INSIDE);
        lua_pop(L, 1);
    }
}

/* --- units ------------------------------------------------------------------------------------ */

hg_unit dsl_unit(lua_State *L, const char *text)
{
    struct dsl *d = dsl_of(L);
    hg_unit unit;
    const char *why = NULL;
    if (strlen(text) > MAX_UNIT_TEXT)
        dsl_fail(L, NULL, NULL, "this unit has more than %d letters", MAX_UNIT_TEXT);
    if (!hg_unit_parse(d->m->units, text, &unit, &why))
        dsl_fail(L, text, NULL, "unit \"%s\": %s", text, why);
    return unit;
}

const char *dsl_unit_text(lua_State *L, hg_unit unit)
{
    return hg_unit_text(dsl_of(L)->m->units, unit);
}

/* Both units in base units, where that shows the missing factor; else NULL. */
const char *dsl_base_help(lua_State *L, hg_unit a, hg_unit b)
{
    struct hg_units *u = dsl_of(L)->m->units;
    const char *p = hg_unit_base_text(u, a), *q = hg_unit_base_text(u, b);
    if (strcmp(p, hg_unit_text(u, a)) == 0 && strcmp(q, hg_unit_text(u, b)) == 0)
        return NULL;
    return hg_format(dsl_of(L)->arena, "in base units: %s and %s", p, q);
}

const char *dsl_unit_help(lua_State *L, hg_unit a, hg_unit b)
{
    struct dsl *d = dsl_of(L);
    double factor;
    int same = hg_unit_factor(d->m->units, a, b, &factor);
    if (same && b == HG_UNIT_ONE)
        return hg_format(d->arena, "%s is the number %.12g: write convert(..., \"1\")", dsl_unit_text(L, a), factor);
    if (same)
        return hg_format(d->arena, "1 %s = %.12g %s; write convert(..., \"%s\")", dsl_unit_text(L, a), factor,
                         dsl_unit_text(L, b), dsl_unit_text(L, b));
    return dsl_base_help(L, a, b);
}

static int is_degrees(lua_State *L, hg_unit unit)
{
    return strcmp(dsl_unit_text(L, unit), "deg") == 0;
}

/* A remedy for degrees beside a plain number: radians. */
static const char *angle_help(lua_State *L, struct dsl_value angle, struct dsl_value other)
{
    struct hg_arena *a = dsl_of(L)->arena;
    const char *p = dsl_local_name(L, angle), *q = dsl_local_name(L, other);
    const char *first =
        hg_format(a, "degrees become radians, which are numbers, by convert(%s, \"rad\")", p ? p : "...");
    return other.unit == HG_UNIT_ONE ? first
                                     : hg_format(a, "%s; %s is made a number by convert(%s, \"1\")", first,
                                                 dsl_unit_text(L, other.unit), q ? q : "...");
}

/* A remedy for two units that do not agree. */
static const char *mismatch_help(lua_State *L, struct dsl_value a, struct dsl_value b)
{
    struct dsl *d = dsl_of(L);
    const struct hg_expr *e = d->m->expr;
    double factor;
    if (a.unit == HG_UNIT_BOOL || b.unit == HG_UNIT_BOOL)
        return "a comparison is not a number; choose with where(condition, a, b)";
    if (hg_unit_factor(d->m->units, a.unit, b.unit, &factor) && is_degrees(L, a.unit) != is_degrees(L, b.unit))
        return is_degrees(L, a.unit) ? angle_help(L, a, b) : angle_help(L, b, a);
    if (hg_unit_factor(d->m->units, a.unit, b.unit, &factor))
        return a.unit == HG_UNIT_ONE ? dsl_unit_help(L, b.unit, a.unit) : dsl_unit_help(L, a.unit, b.unit);
    if (a.unit == HG_UNIT_ONE && hg_is_const(e, a.id, NULL))
        return hg_format(d->arena, "a bare number has no unit; give it one: ... * unit \"%s\"",
                         dsl_unit_text(L, b.unit));
    if (b.unit == HG_UNIT_ONE && hg_is_const(e, b.id, NULL))
        return hg_format(d->arena, "a bare number has no unit; give it one: ... * unit \"%s\"",
                         dsl_unit_text(L, a.unit));
    const char *p = dsl_local_name(L, a), *q = dsl_local_name(L, b);
    if (p && q)
        return hg_format(d->arena, "'%s' is in %s and '%s' in %s", p, dsl_unit_text(L, a.unit), q,
                         dsl_unit_text(L, b.unit));
    return dsl_base_help(L, a.unit, b.unit);
}

/* The unit that two operands share; complains when they do not agree. */
hg_unit dsl_common_unit(lua_State *L, const char *op, struct dsl_value a, struct dsl_value b)
{
    if (a.unit == b.unit && a.unit != HG_UNIT_BOOL)
        return a.unit;
    if (a.unit != HG_UNIT_BOOL && b.unit != HG_UNIT_BOOL) {
        if (a.unit == HG_UNIT_ANY)
            return b.unit;
        if (b.unit == HG_UNIT_ANY)
            return a.unit;
    }
    const char *near = dsl_local_name(L, a), *help = mismatch_help(L, a, b);
    if (!near)
        near = op;
    if (isalpha((unsigned char)*op))
        dsl_complain(L, near, help, "unit mismatch in %s: %s and %s", op, dsl_unit_text(L, a.unit),
                     dsl_unit_text(L, b.unit));
    else
        dsl_complain(L, near, help, "unit mismatch: %s %s %s", dsl_unit_text(L, a.unit), op, dsl_unit_text(L, b.unit));
    return HG_UNIT_ANY;
}

/* A hint that is more likely than a missing division by a unit: "has 'rate' a unit, 1/s? else ". */
static const char *suspicion(lua_State *L, struct dsl_value v)
{
    struct dsl *d = dsl_of(L);
    const struct hg_list *list[] = {&d->m->param, &d->m->linear, &d->m->setting};
    const char *bare = NULL;
    for (size_t l = 0; l < 3; l++)
        for (uint32_t k = 0; k < list[l]->n; k++) {
            const struct hg_symbol_decl *s = &list[l]->item[k];
            if (strcmp(s->unit, "1") == 0 && hg_contains(d->m->expr, v.id, s->node))
                bare = bare ? "" : s->name;
        }
    if (bare && *bare)
        return hg_format(d->arena, "has '%s' a unit, %s (%s where it divides)? else ", bare,
                         dsl_unit_text(L, hg_unit_pow(d->m->units, v.unit, -1, 1)), dsl_unit_text(L, v.unit));
    if (d->has_grid && v.unit == dsl_unit(L, "1/s"))
        return "is integral(f, t1, t2) missing? else ";
    return "";
}

/* Complains unless the value has no unit; angles in degrees become numbers when `angle`. */
struct dsl_value dsl_dimensionless(lua_State *L, const char *function, struct dsl_value v, int angle)
{
    struct dsl *d = dsl_of(L);
    if (v.unit == HG_UNIT_ONE || v.unit == HG_UNIT_ANY)
        return v;
    if (angle && is_degrees(L, v.unit)) {
        struct hg_expr *e = dsl_build(L);
        return (struct dsl_value){hg_mul(e, hg_const(e, degree), v.id), HG_UNIT_ONE, v.written};
    }
    const char *name = dsl_local_name(L, v);
    double factor;
    if (v.unit != HG_UNIT_BOOL && hg_unit_factor(d->m->units, v.unit, HG_UNIT_ONE, &factor))
        dsl_complain(L, name ? name : function,
                     hg_format(d->arena, "%s is the number %.12g: write convert(%s, \"%s\")", dsl_unit_text(L, v.unit),
                               factor, name ? name : "...", is_degrees(L, v.unit) ? "rad" : "1"),
                     "%s needs a dimensionless argument, this one is in %s", function, dsl_unit_text(L, v.unit));
    else if (v.unit == HG_UNIT_BOOL)
        dsl_complain(L, name, "choose with where(condition, a, b)", "a comparison is used as a number");
    else
        dsl_complain(L, name ? name : function,
                     hg_format(d->arena, "%sdivide it by its unit: %s / unit \"%s\"", suspicion(L, v),
                               name ? name : "...", dsl_unit_text(L, v.unit)),
                     "%s needs a dimensionless argument, this one is in %s", function, dsl_unit_text(L, v.unit));
    return (struct dsl_value){v.id, HG_UNIT_ANY, v.written};
}

/* --- operators -------------------------------------------------------------------------------- */

static int op_add(lua_State *L)
{
    if (dsl_complex(L, "__add"))
        return 1;
    struct dsl_value a = dsl_value_at(L, 1, "a term of +"), b = dsl_value_at(L, 2, "a term of +");
    hg_unit unit = dsl_common_unit(L, "+", a, b);
    dsl_push_word(L, hg_add(dsl_build(L), a.id, b.id), unit, HG_W_ADD, 0);
    return 1;
}

static int op_sub(lua_State *L)
{
    if (dsl_complex(L, "__sub"))
        return 1;
    struct dsl_value a = dsl_value_at(L, 1, "a term of -"), b = dsl_value_at(L, 2, "a term of -");
    hg_unit unit = dsl_common_unit(L, "-", a, b);
    dsl_push_word(L, hg_sub(dsl_build(L), a.id, b.id), unit, HG_W_SUB, 0);
    return 1;
}

static int op_neg(lua_State *L)
{
    struct dsl_value a = dsl_value_at(L, 1, "the term of -");
    if (a.unit == HG_UNIT_BOOL)
        a = dsl_dimensionless(L, "-", a, 0);
    lua_settop(L, 1); /* Lua passes the operand twice */
    dsl_push_word(L, hg_neg(dsl_build(L), a.id), a.unit, HG_W_NEG, 0);
    return 1;
}

/* Products and quotients: only comparisons cannot be factors. */
struct dsl_value dsl_factor(lua_State *L, int i, const char *op)
{
    struct dsl_value v = dsl_value_at(L, i, op);
    return v.unit == HG_UNIT_BOOL ? dsl_dimensionless(L, op, v, 0) : v;
}

static int op_mul(lua_State *L)
{
    if (dsl_complex(L, "__mul"))
        return 1;
    struct dsl_value a = dsl_factor(L, 1, "a factor of *"), b = dsl_factor(L, 2, "a factor of *");
    hg_unit unit = hg_unit_mul(dsl_of(L)->m->units, a.unit, b.unit);
    dsl_push_word(L, hg_mul(dsl_build(L), a.id, b.id), unit, HG_W_MUL, 0);
    return 1;
}

static int op_div(lua_State *L)
{
    if (dsl_complex(L, "__div"))
        return 1;
    struct dsl_value a = dsl_factor(L, 1, "the left of /"), b = dsl_factor(L, 2, "the right of /");
    struct hg_expr *e = dsl_build(L);
    if (hg_is_value(e, b.id, 0.0))
        dsl_fail(L, "/", NULL, "division by zero");
    hg_unit unit = hg_unit_div(dsl_of(L)->m->units, a.unit, b.unit);
    dsl_push_word(L, hg_div(e, a.id, b.id), unit, HG_W_DIV, 0);
    return 1;
}

/* Unit of a^b. */
static hg_unit power_unit(lua_State *L, struct dsl_value a, struct dsl_value b)
{
    struct dsl *d = dsl_of(L);
    double exponent;
    hg_unit unit;
    if (a.unit == HG_UNIT_ONE || a.unit == HG_UNIT_ANY)
        return a.unit;
    const char *name = dsl_local_name(L, a);
    if (hg_is_const(d->m->expr, b.id, &exponent)) {
        if (hg_unit_pow_number(d->m->units, a.unit, exponent, &unit))
            return unit;
        dsl_complain(L, name ? name : "^", NULL, "%s to the power %g has no unit that can be written",
                     dsl_unit_text(L, a.unit), exponent);
        return HG_UNIT_ANY;
    }
    dsl_complain(L, name ? name : "^",
                 hg_format(d->arena, "divide the base by its unit: (%s / unit \"%s\")^...", name ? name : "...",
                           dsl_unit_text(L, a.unit)),
                 "the exponent is not a number, so the base must be dimensionless; it is in %s",
                 dsl_unit_text(L, a.unit));
    return HG_UNIT_ANY;
}

static int op_pow(lua_State *L)
{
    if (dsl_complex(L, "__pow"))
        return 1;
    struct dsl_value a = dsl_factor(L, 1, "the base of ^"), b = dsl_value_at(L, 2, "the exponent of ^");
    double base, exponent;
    b = dsl_dimensionless(L, "an exponent", b, 0);
    hg_unit unit = power_unit(L, a, b);
    struct hg_expr *e = dsl_build(L);
    if (hg_is_const(e, a.id, &base) && hg_is_const(e, b.id, &exponent) && !isfinite(pow(base, exponent)))
        dsl_fail(L, "^", NULL, "%g^%g is no finite number", base, exponent);
    dsl_push_word(L, hg_pow(e, a.id, b.id), unit, HG_W_POW, 0);
    return 1;
}

static int op_compare(lua_State *L)
{
    static const char *const help[] = {"write where(lt(a, b), x, y); for > there is gt",
                                       "write where(le(a, b), x, y); for >= there is ge"};
    static const char *const sign[] = {"<", "<="}, *const name[] = {"< or >", "<= or >="};
    lua_Integer k = lua_tointeger(L, lua_upvalueindex(1));
    if (dsl_line_has(L, "math.max") || dsl_line_has(L, "math.min"))
        dsl_fail(L, dsl_line_has(L, "math.max") ? "math.max" : "math.min",
                 "the larger of two is where(lt(a, b), b, a), the smaller where(lt(a, b), a, b); floor_at(x, lo), "
                 "cap_at(x, hi)",
                 "math.max and math.min are for numbers, not for formulas");
    dsl_fail(L, sign[k], help[k], "expressions cannot be compared with %s: their values are not known yet", name[k]);
}

static int op_refused(lua_State *L)
{
    const char *op = lua_tostring(L, lua_upvalueindex(1));
    dsl_fail(L, op, lua_tostring(L, lua_upvalueindex(2)), "%s cannot be applied to an expression", op);
}

static int op_call(lua_State *L)
{
    const struct dsl_value *v = dsl_test(L, 1);
    const char *name = v ? dsl_local_name(L, *v) : NULL;
    struct dsl *d = dsl_of(L);
    const char *help =
        lua_istable(L, 2) ? hg_format(d->arena, "is a comma missing behind '%s'?", name ? name : "it")
        : d->has_grid
            ? hg_format(d->arena, "at(%s, t1) is its value at the frame t1; a product needs *", name ? name : "f")
            : "a product needs *; a function of your own is local function f(x) return ... end";
    dsl_fail(L, name, help, "an expression is not a function");
}

static int op_index(lua_State *L)
{
    struct dsl *d = dsl_of(L);
    const struct dsl_value *v = dsl_test(L, 1);
    if (lua_type(L, 2) != LUA_TSTRING)
        dsl_fail(
            L, "[",
            d->m->column.n ? "several formulas in a list: {a, b}; the value in the row before is previous(x, first)"
                           : "several formulas in a list: {a, b}; a value at another frame cannot be had, sums over "
                             "frames are integral(f, t1, t2)",
            "a formula is not a list: it has no element [%s] (ipairs and unpack ask for it, too)",
            luaL_tolstring(L, 2, NULL));
    const char *key = lua_tostring(L, 2);
    if (v && v->id == d->time && d->has_grid && strcmp(key, "step") == 0) {
        dsl_push(L, hg_symbol(dsl_build(L), HG_STEP, 0), dsl_unit(L, "s"));
        return 1;
    }
    dsl_fail(L, key,
             d->has_grid
                 ? "only the time grid has a field: t.step, the frame period"
                 : "what a column or parameter is called, its unit and its range stand in m.columns and m.parameter",
             "an expression has no field '%s'", key);
}

static int op_tostring(lua_State *L)
{
    const struct dsl_value *v = dsl_test(L, 1);
    lua_pushstring(L, v ? hg_text(dsl_of(L)->m->expr, v->id, 1) : "?");
    return 1;
}

/* --- opening ---------------------------------------------------------------------------------- */

static void add_compare(lua_State *L, const char *event, lua_Integer which)
{
    lua_pushinteger(L, which);
    lua_pushcclosure(L, op_compare, 1);
    lua_setfield(L, -2, event);
}

static void add_refused(lua_State *L, const char *event, const char *op, const char *help)
{
    lua_pushstring(L, op);
    lua_pushstring(L, help);
    lua_pushcclosure(L, op_refused, 2);
    lua_setfield(L, -2, event);
}

static void open_metatable(lua_State *L)
{
    static const luaL_Reg event[] = {
        {"__add", op_add}, {"__sub", op_sub},   {"__mul", op_mul},     {"__div", op_div},           {"__pow", op_pow},
        {"__unm", op_neg}, {"__call", op_call}, {"__index", op_index}, {"__tostring", op_tostring}, {NULL, NULL}};
    luaL_newmetatable(L, TYPE);
    luaL_setfuncs(L, event, 0);
    add_compare(L, "__lt", 0);
    add_compare(L, "__le", 1);
    add_refused(L, "__mod", "%",
                "remainders are not available; what repeats is written with sin and cos: sin(2 * pi * x / "
                "period)");
    add_refused(L, "__idiv", "//", "write / for division");
    add_refused(L, "__concat", "..", "text of an expression: tostring(x)");
    add_refused(L, "__len", "#", "how many rows or frames there are is not known while the model is read");
    add_refused(L, "__newindex", "an assignment to a field", "a value of its own: local y = ...");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}

void dsl_open_expr(lua_State *L)
{
    open_metatable(L);
    dsl_open_functions(L);
    dsl_open_sums(L);
}
