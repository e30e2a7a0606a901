/* dsl_statistics.c -- statistics of a column, known when data are loaded: settings that a model does not declare.
 *
 *     column_mean(x), column_sd(x)      of all rows; the settings x_mean and x_sd
 *     standardised(x)                   (x - column_mean(x))/column_sd(x)
 */
#include <lauxlib.h>
#include <lua.h>

#include <math.h>

#include "language/dsl_private.h"

static const char *const suffix[] = {[FIT_STATISTIC_MEAN] = "mean", [FIT_STATISTIC_SD] = "sd"};
static const char *const described[] = {[FIT_STATISTIC_MEAN] = "mean of the column %s",
                                        [FIT_STATISTIC_SD] = "standard deviation of the column %s"};

/* The column at argument 1. */
static struct hg_symbol_decl *column_at(lua_State *L, const char *word)
{
    struct hg_model *m = dsl_of(L)->m;
    const struct dsl_value *v = dsl_test(L, 1);
    const struct hg_node *n = v ? hg_at(m->expr, v->id) : NULL;
    if (!n || n->op != HG_COLUMN)
        dsl_fail(L, word, "the mean of a formula is not known before its parameters are",
                 "the argument of %s must be a column", word);
    return &m->column.item[n->ref];
}

/* The setting, declared on first use. While a model is checked, it has the statistics of values spread over the
 * whole range. */
static struct dsl_value statistic(lua_State *L, const struct hg_symbol_decl *x, enum fit_statistic which)
{
    struct dsl *d = dsl_of(L);
    const uint32_t column = (uint32_t)(x - d->m->column.item);
    const hg_unit unit = dsl_unit(L, x->unit);
    const double width = x->upper - x->lower;
    struct hg_symbol_decl s = {.over = -1, .line = dsl_line(L), .start = NAN, .unit = x->unit, .of = column};
    for (uint32_t k = 0; k < d->m->setting.n; k++)
        if (d->m->setting.item[k].statistic == which && d->m->setting.item[k].of == column)
            return (struct dsl_value){.id = d->m->setting.item[k].node, .unit = unit};
    if (width > 0)
        s.start = which == FIT_STATISTIC_MEAN ? x->lower + width / 2 : width / sqrt(12);
    s.statistic = which;
    s.doc = hg_format(d->arena, described[which], x->name);
    lua_pushstring(L, hg_format(d->arena, "%s_%s", x->name, suffix[which]));
    s.name = dsl_new_name(L, lua_gettop(L), "setting");
    lua_pop(L, 1);
    s.node = hg_symbol(dsl_build(L), HG_SETTING, d->m->setting.n);
    hg_name(d->m->expr, s.node, s.name);
    hg_model_declare(d->m, &d->m->setting, &s);
    return (struct dsl_value){.id = s.node, .unit = unit};
}

static int column_mean(lua_State *L)
{
    const struct dsl_value v = statistic(L, column_at(L, "column_mean"), FIT_STATISTIC_MEAN);
    dsl_push(L, v.id, v.unit);
    return 1;
}

static int column_sd(lua_State *L)
{
    const struct dsl_value v = statistic(L, column_at(L, "column_sd"), FIT_STATISTIC_SD);
    dsl_push(L, v.id, v.unit);
    return 1;
}

void dsl_open_statistics(lua_State *L)
{
    lua_pushcfunction(L, column_mean);
    lua_setfield(L, -2, "column_mean");
    lua_pushcfunction(L, column_sd);
    lua_setfield(L, -2, "column_sd");
}

void dsl_check_statistics(lua_State *L, const struct hg_symbol_decl *measured)
{
    const struct hg_model *m = dsl_of(L)->m;
    for (uint32_t k = 0; k < m->setting.n; k++)
        if (m->setting.item[k].statistic && &m->column.item[m->setting.item[k].of] == measured)
            dsl_fail(L, measured->name, "statistics are those of columns on which the mean depends",
                     "'%s' is a statistic of what is measured, '%s'", m->setting.item[k].name, measured->name);
}
