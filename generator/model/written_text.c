/* written_text.c -- a formula as its author wrote it, in one line of text, for messages. */
#include "model/written.h"

#include <string.h>

#include "model/formula.h"
#include "model/model.h"

/* Precedence of an operation (Lua 5.4 manual, 3.4.8). */
enum { BINDS_SUM = 1, BINDS_PRODUCT, BINDS_SIGN, BINDS_POWER, BINDS_ALL };

enum { DEEPEST = 30 };

static int binds(const struct hg_model *m, const struct hg_written *w)
{
    switch (w->word) {
    case HG_W_ADD:
    case HG_W_SUB: return BINDS_SUM;
    case HG_W_MUL:
    case HG_W_DIV: return BINDS_PRODUCT;
    case HG_W_NEG: return BINDS_SIGN;
    case HG_W_NUMBER: return w->value < 0 ? BINDS_SIGN : BINDS_ALL;
    case HG_W_POW: return hg_written_is(m, w->arg[1], 0.5) ? BINDS_ALL : BINDS_POWER;
    default: return BINDS_ALL;
    }
}

static const char *text_of(const struct hg_model *m, hg_wid id, hg_wid root, int depth);

/* Argument k, in parentheses when its precedence is below `least`. */
static const char *part(const struct hg_model *m, hg_wid id, uint32_t k, int least, int depth)
{
    hg_wid a = hg_written_at(m, id)->arg[k];
    int bare = hg_written_is_named(m, a) || binds(m, hg_written_at(m, a)) >= least;
    return hg_format(m->expr->arena, bare ? "%s" : "(%s)", text_of(m, a, 0, depth + 1));
}

static const char *call(const struct hg_model *m, hg_wid id, const char *name, int depth)
{
    const struct hg_written *w = hg_written_at(m, id);
    const char *text = hg_format(m->expr->arena, "%s(", name);
    for (uint32_t k = 0; k < w->nargs; k++)
        text = hg_format(m->expr->arena, "%s%s%s", text, k ? ", " : "", part(m, id, k, 0, depth));
    return hg_format(m->expr->arena, "%s)", text);
}

static const char *between(const struct hg_model *m, hg_wid id, const char *sign, int left, int right, int depth)
{
    return hg_format(m->expr->arena, "%s%s%s", part(m, id, 0, left, depth), sign, part(m, id, 1, right, depth));
}

static const char *text_of(const struct hg_model *m, hg_wid id, hg_wid root, int depth)
{
    const struct hg_written *w = hg_written_at(m, id);
    struct hg_arena *a = m->expr->arena;
    if (id != root && hg_written_is_named(m, id))
        return w->name;
    if (depth > DEEPEST)
        return "...";
    switch (w->word) {
    case HG_W_NUMBER: return hg_format(a, "%.12g", w->value);
    case HG_W_UNIT: return hg_format(a, "unit \"%s\"", hg_unit_text(m->units, w->unit));
    case HG_W_SYMBOL: return hg_text(m->expr, w->node, 0);
    case HG_W_ADD: return between(m, id, " + ", BINDS_SUM, BINDS_SUM, depth);
    case HG_W_SUB: return between(m, id, " - ", BINDS_SUM, BINDS_PRODUCT, depth);
    case HG_W_MUL: return between(m, id, " * ", BINDS_PRODUCT, BINDS_PRODUCT, depth);
    case HG_W_DIV: return between(m, id, " / ", BINDS_PRODUCT, BINDS_SIGN, depth);
    case HG_W_NEG: return hg_format(a, "-%s", part(m, id, 0, BINDS_SIGN, depth));
    case HG_W_POW:
        if (hg_written_is(m, w->arg[1], 0.5))
            return hg_format(a, "sqrt(%s)", part(m, id, 0, 0, depth));
        return between(m, id, "^", BINDS_ALL, BINDS_SIGN, depth);
    case HG_W_FUNCTION: return call(m, id, hg_op_text[w->op], depth);
    case HG_W_ATAN2: return call(m, id, "atan2", depth);
    case HG_W_LT: return call(m, id, "lt", depth);
    case HG_W_LE: return call(m, id, "le", depth);
    case HG_W_WHERE: return call(m, id, "where", depth);
    case HG_W_INTEGRAL: return call(m, id, "integral", depth);
    case HG_W_AT: return call(m, id, "at", depth);
    case HG_W_TOTAL:
    case HG_W_OVER:
        return hg_format(a, "%s(%s, %s, %s)", w->word == HG_W_TOTAL ? "sum" : "integrate", part(m, id, 2, 0, depth),
                         part(m, id, 3, 0, depth), part(m, id, 0, 0, depth));
    case HG_W_MEAN: return hg_format(a, "average(%s)", part(m, id, 0, 0, depth));
    case HG_W_SAME:
        return hg_format(a, "convert(%s, \"%s\")", part(m, id, 0, 0, depth), hg_unit_text(m->units, w->unit));
    default: return "...";
    }
}

const char *hg_written_by_author(const struct hg_model *m, hg_id node)
{
    for (hg_wid id = 1; id < m->nwritten; id++)
        if (hg_written_at(m, id)->node == node && hg_written_at(m, id)->word != HG_W_SAME)
            return text_of(m, id, id, 0);
    return NULL;
}

const char *hg_written_text(const struct hg_model *m, hg_id node)
{
    const char *written = hg_written_by_author(m, node);
    if (written)
        return written;
    const char *plain = hg_formula(m->expr, node), *named = hg_text(m->expr, node, 1);
    return strlen(plain) < strlen(named) ? plain : named;
}
