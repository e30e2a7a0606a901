/* dsl_sums.c -- sum, integrate, average: functions of a bound variable, kept as loops (graph/loop.h).
 *
 *   sum(1, 20, function(k) return ... end)
 *   integrate(a, b, function(x) return ... end, { nodes = 20, rule = "gauss" })
 *   average({ "log_normal", median = R, sd = 0.2 }, function(r) return ... end, { nodes = 20 })
 *
 * Each calls the function once, with the variable as an expression. An integral is the sum of its rule, with nodes
 * mapped to the interval: for x = a + (b - a) u the sum of (b - a) w f(x). So its derivatives, including those by
 * limits, are exactly those of the sum, and need no other rule.
 */
#include <math.h>
#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "graph/loop.h"
#include "language/dsl_private.h"

/* A sum whose function is being run. */
struct bound {
    const char *word; /* "sum" */
    uint32_t loop;
    hg_id u, w;       /* abscissa and weight of its rule */
};

void dsl_check_bound(lua_State *L, hg_id id)
{
    const struct dsl *d = dsl_of(L);
    const struct hg_node *n = hg_at(d->m->expr, id);
    for (unsigned level = 0; level < HG_LEVELS; level++)
        if (n->loop[level] && (level >= d->depth || n->loop[level] != d->open[level]))
            dsl_fail(L, NULL, "use it inside of the function only; what the sum gives is what sum(...), integrate(...) "
                              "or average(...) returns",
                     "the variable of a sum or an integral is used outside of its function");
}

static struct bound open_bound(lua_State *L, const char *word, enum hg_rule_kind rule, uint32_t n, double first)
{
    struct dsl *d = dsl_of(L);
    struct hg_expr *e = dsl_build(L);
    if (d->depth == HG_LEVELS)
        dsl_fail(L, word, "two are possible, one inside of the other; a third needs a closed form",
                 "%s inside of a function that is itself inside of two others", word);
    struct bound b = {.word = word, .loop = hg_loop_open(e, d->depth + 1, rule, n, first)};
    d->open[d->depth++] = b.loop;
    b.u = hg_loop_node(e, b.loop, HG_ABSCISSA);
    b.w = hg_loop_node(e, b.loop, HG_WEIGHT);
    return b;
}

/* f(x) for the function at stack position i; the variable has the name that it has there. */
static struct dsl_value call(lua_State *L, const struct bound *b, int i, hg_id x, hg_unit unit,
                             struct dsl_value *variable)
{
    struct dsl *d = dsl_of(L);
    x = hg_hold(dsl_build(L), x);
    lua_pushvalue(L, i);
    const char *name = lua_getlocal(L, NULL, 1); /* pops the function */
    if (name && hg_at(d->m->expr, x)->op != HG_CONST)
        hg_name(d->m->expr, x, hg_strdup(d->arena, name));
    lua_pushvalue(L, i);
    dsl_push(L, x, unit);
    *variable = *dsl_test(L, -1);
    lua_call(L, 1, 1);
    if (lua_isnil(L, -1))
        dsl_fail(L, b->word, hg_format(d->arena, "write function(%s) return ... end", name ? name : "x"),
                 "the function of %s returns nothing", b->word);
    struct dsl_value f = dsl_factor(L, lua_gettop(L), hg_format(d->arena, "what the function of %s returns", b->word));
    dsl_check_bound(L, f.id);
    return f;
}

/* The sum of body over the turns; after that the variable is unknown. */
static hg_id close_bound(lua_State *L, const struct bound *b, hg_id body)
{
    struct dsl *d = dsl_of(L);
    struct hg_expr *e = dsl_build(L);
    d->depth--;
    return hg_loop_close(e, b->loop, hg_reduce(e, hg_loop_index(e, b->loop), body));
}

static void need_function(lua_State *L, const char *word, int i, const char *usage)
{
    if (lua_type(L, i) != LUA_TFUNCTION)
        dsl_fail(L, word, usage, "argument %d of %s must be a function, not %s", i, word,
                 dsl_test(L, i) ? "a formula" : luaL_typename(L, i));
}

/* Pushes the result of the sum; its variable, its function, then the two numbers shown with them on the page. */
static void push_sum(lua_State *L, hg_id id, hg_unit unit, enum hg_word word, const struct dsl_value arg[4], int kind)
{
    struct hg_written w = {.word = word, .nargs = 4, .value = kind};
    for (int k = 0; k < 4; k++)
        w.arg[k] = arg[k].written;
    dsl_check_bound(L, id);
    dsl_push_written(L, id, unit, w);
}

/* --- options -------------------------------------------------------------------------------------------- */

/* A whole number under `nodes` in the table at t, if there is one. */
static uint32_t nodes_of(lua_State *L, const char *word, int t, uint32_t otherwise)
{
    double n = lua_istable(L, t) ? dsl_number(L, t, "nodes", otherwise) : otherwise;
    if (n != rint(n) || n < 2 || n > HG_MOST_NODES)
        dsl_fail(L, "nodes", hg_format(dsl_of(L)->arena, "a whole number from 2 to %d", HG_MOST_NODES),
                 "%s cannot have %g nodes", word, n);
    return (uint32_t)n;
}

static void check_options(lua_State *L, const char *word, int t, const char *known)
{
    if (lua_gettop(L) > t)
        dsl_fail(L, word, NULL, "%s takes %d arguments, not %d", word, t, lua_gettop(L));
    if (lua_isnoneornil(L, t))
        return;
    if (!lua_istable(L, t))
        dsl_fail(L, word, "options stand in a table: { nodes = 40 }", "argument %d of %s must be a table of options", t,
                 word);
    dsl_check_keys(L, t, word, known);
}

static struct dsl_value number(lua_State *L, double x)
{
    lua_pushnumber(L, x);
    struct dsl_value v = dsl_value_at(L, lua_gettop(L), "a number");
    lua_pop(L, 1);
    return v;
}

/* --- sum ------------------------------------------------------------------------------------------------ */

static double whole_number(lua_State *L, int i)
{
    double x = lua_type(L, i) == LUA_TNUMBER ? lua_tonumber(L, i) : NAN;
    if (!(x == rint(x) && fabs(x) < 1e9))
        dsl_fail(L, "sum",
                 lua_istable(L, i)
                     ? "the sum of a list: local f = 0; for _, v in ipairs(list) do f = f + v end"
                     : "sum(1, 20, function(k) return ... end); what depends on a parameter goes into the function: "
                       "where(le(k, n), ..., 0)",
                 "the limits of sum must be whole numbers%s", dsl_test(L, i) ? ", not formulas" : "");
    return x;
}

static int call_sum(lua_State *L)
{
    double first = whole_number(L, 1), last = whole_number(L, 2);
    need_function(L, "sum", 3, "sum(1, 20, function(k) return ... end)");
    if (last < first || last - first >= HG_MOST_TURNS)
        dsl_fail(L, "sum", NULL, last < first ? "the limits of sum are reversed: from %g to %g"
                                              : "a sum from %g to %g has too many terms", first, last);
    struct bound b = open_bound(L, "sum", HG_COUNT, (uint32_t)(last - first) + 1, first);
    struct dsl_value k, f = call(L, &b, 3, b.u, HG_UNIT_ONE, &k);
    push_sum(L, close_bound(L, &b, f.id), f.unit, HG_W_TOTAL,
             (struct dsl_value[]){f, k, number(L, first), number(L, last)}, 0);
    return 1;
}

/* --- integrate ------------------------------------------------------------------------------------------ */

/* x = from + span u, with u in (0, 1), (0, infinity) or (-infinity, infinity). */
struct range {
    enum hg_rule_kind rule;
    struct dsl_value from, to;
    hg_id start, span;
    hg_unit unit;
};

static int is_infinite(lua_State *L, int i)
{
    return lua_type(L, i) == LUA_TNUMBER && isinf(lua_tonumber(L, i)) ? lua_tonumber(L, i) > 0 ? 1 : -1 : 0;
}

/* The limits 1 and 2, one of them infinite; `scale` in the table at 4. */
static struct range infinite_range(lua_State *L)
{
    const int a = is_infinite(L, 1), b = is_infinite(L, 2);
    struct hg_expr *e = dsl_build(L);
    struct range r = {.rule = a && b ? HG_SINH_SINH : HG_EXP_SINH};
    if (a > 0 || b < 0)
        dsl_fail(L, "integrate", NULL, "the limits of integrate are reversed");
    struct dsl_value scale = number(L, 1),
                     from = a && b ? number(L, 0) : dsl_factor(L, a ? 2 : 1, "a limit of integrate");
    if (lua_istable(L, 4)) {
        if (lua_getfield(L, 4, "scale") != LUA_TNIL)
            scale = dsl_factor(L, lua_gettop(L), "scale");
        lua_pop(L, 1);
    }
    if (from.unit != scale.unit && from.unit != HG_UNIT_ANY)
        dsl_fail(L, "integrate",
                 hg_format(dsl_of(L)->arena,
                           "give { scale = ... } in %s: the distance within which the integrand changes",
                           dsl_unit_text(L, from.unit)),
                 "an integral without an end needs a scale in the unit of its other limit");
    r.unit = scale.unit;
    r.start = from.id;
    r.span = a && !b ? hg_neg(e, scale.id) : scale.id;
    r.from = r.to = number(L, 0);
    *(a ? &r.to : &r.from) = from;
    return r;
}

static struct range finite_range(lua_State *L, int exponential)
{
    struct range r = {.rule = exponential ? HG_TANH_SINH : HG_LEGENDRE};
    double a, b;
    r.from = dsl_factor(L, 1, "the lower limit of integrate");
    r.to = dsl_factor(L, 2, "the upper limit of integrate");
    r.unit = dsl_common_unit(L, "integrate", r.from, r.to);
    struct hg_expr *e = dsl_build(L);
    if (hg_is_const(e, r.from.id, &a) && hg_is_const(e, r.to.id, &b) && a > b)
        dsl_fail(L, "integrate", "integrate(a, b, f) goes from a to b",
                 "the limits of integrate are reversed: from %g to %g", a, b);
    r.start = r.from.id;
    r.span = hg_sub(e, r.to.id, r.from.id);
    return r;
}

/* 1 for the double exponential rule, 0 for that of Gauss. */
static int rule_of(lua_State *L, int infinite)
{
    const char *rule = lua_istable(L, 4) ? dsl_text(L, 4, "rule") : NULL;
    if (rule && !dsl_is_in("gauss double_exponential", rule))
        dsl_fail(L, "rule", "known: \"gauss\", \"double_exponential\"", "there is no rule '%s'", rule);
    if (rule && infinite && strcmp(rule, "gauss") == 0)
        dsl_fail(L, "rule",
                 "rule = \"double_exponential\", or finite limits; averages over distributions: average(...)",
                 "an integral without an end cannot be taken by the rule of Gauss");
    return infinite || (rule && strcmp(rule, "gauss") != 0);
}

static int call_integrate(lua_State *L)
{
    static const char usage[] = "integrate(a, b, function(x) return ... end)";
    if (lua_type(L, 1) == LUA_TFUNCTION)
        dsl_fail(L, "integrate", usage, "the limits of integrate come first, then the function");
    need_function(L, "integrate", 3, usage);
    check_options(L, "integrate", 4, "nodes rule scale");
    const int infinite = is_infinite(L, 1) || is_infinite(L, 2), exponential = rule_of(L, infinite);
    struct range r = infinite ? infinite_range(L) : finite_range(L, exponential);
    struct bound b = open_bound(L, "integrate", r.rule, nodes_of(L, "integrate", 4, exponential ? 61 : 20), 0);
    struct hg_expr *e = dsl_build(L);
    struct dsl_value x, f = call(L, &b, 3, hg_add(e, r.start, hg_mul(e, r.span, b.u)), r.unit, &x);
    hg_id size = infinite && is_infinite(L, 1) && !is_infinite(L, 2) ? hg_neg(e, r.span) : r.span;
    hg_id id = close_bound(L, &b, hg_mul(e, hg_mul(e, size, b.w), f.id));
    push_sum(L, id, hg_unit_mul(dsl_of(L)->m->units, f.unit, r.unit), HG_W_OVER,
             (struct dsl_value[]){f, x, r.from, r.to}, 0);
    return 1;
}

/* --- average -------------------------------------------------------------------------------------------- */

static const struct distribution {
    const char *name, *number[2], *known, *usage;
    enum hg_rule_kind rule;
    uint32_t nodes;
} distribution[HG_NDISTRIBUTIONS] = {
    [HG_NORMAL] = {"normal", {"mean", "sd"}, "mean sd", "{ \"normal\", mean = ..., sd = ... }", HG_HERMITE, 20},
    [HG_LOG_NORMAL] = {"log_normal", {"median", "sd"}, "median sd",
                       "{ \"log_normal\", median = ..., sd = ... }, sd of the natural logarithm", HG_HERMITE, 20},
    [HG_SCHULZ] = {"schulz", {"mean", "sd"}, "mean sd", "{ \"schulz\", mean = ..., sd = ... }", HG_MIDPOINT, 40},
    [HG_UNIFORM] = {"uniform", {"from", "to"}, "from to", "{ \"uniform\", from = ..., to = ... }", HG_LEGENDRE, 20}};

static enum hg_distribution read_kind(lua_State *L)
{
    static const char known[] = "normal log_normal schulz uniform";
    const char *name = NULL;
    const int top = lua_gettop(L);
    if (lua_istable(L, 1) && lua_rawgeti(L, 1, 1) == LUA_TSTRING)
        name = dsl_text_at(L, lua_gettop(L), "the name of a distribution");
    lua_settop(L, top);
    for (int k = 0; name && k < HG_NDISTRIBUTIONS; k++)
        if (strcmp(distribution[k].name, name) == 0)
            return (enum hg_distribution)k;
    dsl_fail(L, "average",
             name ? hg_format(dsl_of(L)->arena, "known: %s", known)
                  : "average({ \"log_normal\", median = R, sd = 0.2 }, function(r) return ... end)",
             name ? "there is no distribution '%s'" : "average needs a distribution first", name);
}

/* Its number k: an expression. */
static struct dsl_value read_number(lua_State *L, const struct distribution *d, int k)
{
    if (lua_getfield(L, 1, d->number[k]) == LUA_TNIL)
        dsl_fail(L, "average", d->usage, "the distribution %s needs %s", d->name, d->number[k]);
    struct dsl_value v = dsl_factor(L, lua_gettop(L), d->number[k]);
    lua_pop(L, 1);
    return v;
}

static void check_distribution(lua_State *L, const struct distribution *d)
{
    lua_pushnil(L);
    while (lua_next(L, 1)) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
        if (key ? !dsl_is_in(d->known, key) : lua_type(L, -2) == LUA_TNUMBER && lua_tonumber(L, -2) > 1)
            dsl_fail(L, key ? key : "average", d->usage,
                     key ? "the distribution %s has no number '%s'" : "the numbers of the distribution %s have names",
                     d->name, key);
        lua_pop(L, 1);
    }
}

/* Schulz-Zimm: x = mean e^s, and with a = (mean/sd)^2 the density of s is proportional to e^(a (s + 1 - e^s)). It is
 * 0 to 16 digits outside [lowest, highest], for all a from 1 to infinity. *density: that of the nodes, up to a
 * factor. */
static hg_id schulz(struct hg_expr *e, hg_id mean, hg_id sd, hg_id u, hg_id *density)
{
    hg_id width = hg_div(e, sd, mean), square = hg_pow(e, width, hg_const(e, 2));
    hg_id lowest = hg_neg(e, hg_add(e, hg_mul(e, hg_const(e, 8.7), width), hg_mul(e, hg_const(e, 36), square)));
    hg_id highest = hg_call(e, HG_LOG1P, hg_add(e, hg_mul(e, hg_const(e, 8.7), width),
                                                hg_mul(e, hg_const(e, 38), square)));
    hg_id s = hg_add(e, lowest, hg_mul(e, hg_sub(e, highest, lowest), u));
    hg_id less = hg_sub(e, s, hg_call(e, HG_EXPM1, s));
    *density = hg_call(e, HG_EXP, hg_div(e, less, square));
    return hg_mul(e, mean, hg_call(e, HG_EXP, s));
}

/* x of the nodes u; *weight: their weights. */
static hg_id mapped(struct hg_expr *e, enum hg_distribution kind, hg_id p, hg_id q, const struct bound *b,
                    hg_id *weight)
{
    hg_id density;
    *weight = b->w;
    switch (kind) {
    case HG_NORMAL: return hg_add(e, p, hg_mul(e, q, b->u));
    case HG_LOG_NORMAL: return hg_mul(e, p, hg_call(e, HG_EXP, hg_mul(e, q, b->u)));
    case HG_UNIFORM: return hg_add(e, p, hg_mul(e, hg_sub(e, q, p), b->u));
    default: {
        hg_id x = schulz(e, p, q, b->u, &density);
        *weight = hg_div(e, density, hg_reduce(e, hg_loop_index(e, b->loop), density));
        return x;
    }
    }
}

static int call_average(lua_State *L)
{
    if (lua_type(L, 1) == LUA_TFUNCTION)
        dsl_fail(L, "average", "average({ \"log_normal\", median = R, sd = 0.2 }, function(r) return ... end)",
                 "the distribution comes first, then the function");
    const enum hg_distribution kind = read_kind(L);
    const struct distribution *d = &distribution[kind];
    need_function(L, "average", 2, hg_format(dsl_of(L)->arena, "average(%.*s, function(x) return ... end)",
                                             (int)strcspn(d->usage, "}") + 1, d->usage));
    check_options(L, "average", 3, "nodes");
    check_distribution(L, d);
    struct dsl_value p = read_number(L, d, 0), q = read_number(L, d, 1), x;
    if (kind == HG_LOG_NORMAL)
        q = dsl_dimensionless(L, "sd", q, 0);
    hg_unit unit = kind == HG_LOG_NORMAL ? p.unit : dsl_common_unit(L, "average", p, q);
    struct bound b = open_bound(L, "average", d->rule, nodes_of(L, "average", 3, d->nodes), 0);
    struct hg_expr *e = dsl_build(L);
    hg_id weight, at = mapped(e, kind, p.id, q.id, &b, &weight);
    struct dsl_value f = call(L, &b, 2, at, unit, &x);
    push_sum(L, close_bound(L, &b, hg_mul(e, weight, f.id)), f.unit, HG_W_MEAN,
             (struct dsl_value[]){f, x, p, q}, (int)kind);
    return 1;
}

void dsl_open_sums(lua_State *L)
{
    static const luaL_Reg builtin[] = {
        {"sum", call_sum}, {"integrate", call_integrate}, {"average", call_average}, {NULL, NULL}};
    luaL_setfuncs(L, builtin, 0);
}
