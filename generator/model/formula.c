/* formula.c -- an expression as a reader would write it: "v0 cos(phi + phi0)", "f0 exp(-f1 f2)".
 *
 * Named leaves appear by name, products by juxtaposition, negative powers after a slash. The factor pi/180 inside a
 * trigonometric function is left out: its argument is an angle in degrees. Alternatively, in the language of models,
 * "D0 * ts^alpha + D_offset": products have signs, nothing is left out, and expressions named in the model appear by
 * name.
 */
#include "model/formula.h"

#include <math.h>

enum { IN_SUM, IN_PRODUCT, IN_POWER }; /* how tightly the surroundings bind */

/* In the language of models: CODE is added to depths. */
enum { DEEPEST = 10, CODE = 100 };

static const char *text_of(const struct hg_expr *e, hg_id id, int inside, int depth);

static int leading_sign(const struct hg_expr *e, hg_id id)
{
    const struct hg_node *n = hg_at(e, id);
    double c;
    if (n->op == HG_CONST)
        return n->value < 0 ? -1 : 1;
    return n->op == HG_PROD && hg_is_const(e, n->arg[0], &c) && c < 0 ? -1 : 1;
}

static const char *constant(const struct hg_expr *e, double c)
{
    return hg_format(e->arena, "%.6g", c);
}

/* A product without its sign: factors, then a slash and the factors with negative powers. */
static const char *product(const struct hg_expr *e, const struct hg_node *n, int depth)
{
    const char *above = "", *below = "", *times = depth >= CODE ? " * " : " ";
    int nbelow = 0;
    double c;
    for (uint32_t k = 0; k < n->nargs; k++) {
        const struct hg_node *x = hg_at(e, n->arg[k]);
        if (x->op == HG_CONST) {
            if (fabs(x->value) != 1.0) /* exactly one: only a sign */
                above = constant(e, fabs(x->value));
        } else if (x->op == HG_POW && hg_is_const(e, x->arg[1], &c) && c < 0) {
            const char *base = text_of(e, x->arg[0], IN_POWER, depth + 1);
            below = hg_format(e->arena, "%s%s%s", below, nbelow++ ? times : "",
                              c == -1.0 ? base : hg_format(e->arena, "%s^%g", base, -c));
        } else {
            above =
                hg_format(e->arena, "%s%s%s", above, *above ? times : "", text_of(e, n->arg[k], IN_PRODUCT, depth + 1));
        }
    }
    if (!nbelow)
        return *above ? above : "1";
    const char *stroke = depth >= CODE ? " / " : "/";
    return hg_format(e->arena, nbelow > 1 ? "%s%s(%s)" : "%s%s%s", *above ? above : "1", stroke, below);
}

static const char *unsigned_text(const struct hg_expr *e, hg_id id, int depth)
{
    const struct hg_node *n = hg_at(e, id);
    return n->op == HG_CONST ? constant(e, fabs(n->value)) : n->op == HG_PROD ? product(e, n, depth)
                                                                              : text_of(e, id, IN_SUM, depth);
}

/* Positive terms first. */
static const char *sum(const struct hg_expr *e, const struct hg_node *n, int depth)
{
    const char *s = "";
    for (int sign = 1; sign >= -1; sign -= 2)
        for (uint32_t k = 0; k < n->nargs; k++)
            if (leading_sign(e, n->arg[k]) == sign)
                s = hg_format(e->arena, "%s%s%s", s, sign < 0 ? (*s ? " - " : "-") : (*s ? " + " : ""),
                              unsigned_text(e, n->arg[k], depth + 1));
    return s;
}

/* The argument of sin, cos, tan, sinc without pi/180. */
static hg_id angle(const struct hg_expr *e, const struct hg_node *n, int depth)
{
    const struct hg_node *x = hg_at(e, n->arg[0]);
    double c, deg = 3.14159265358979323846 / 180;
    int trigonometric = depth < CODE && (n->op == HG_SIN || n->op == HG_COS || n->op == HG_TAN || n->op == HG_SINC);
    if (trigonometric && x->op == HG_PROD && x->nargs == 2 && hg_is_const(e, x->arg[0], &c) &&
        fabs(c / deg - 1) < 1e-14)
        return x->arg[1];
    return n->arg[0];
}

/* In the language of models. */
static const char *call(const struct hg_expr *e, const struct hg_node *n, int depth)
{
    const char *word = n->op == HG_LT ? "lt" : n->op == HG_LE ? "le" : hg_op_text[n->op];
    const char *s = n->op == HG_POTENTIAL ? "integral" : word;
    s = hg_format(e->arena, "%s(", s);
    for (uint32_t k = 0; k < n->nargs; k++)
        s = hg_format(e->arena, "%s%s%s", s, k ? ", " : "", text_of(e, n->arg[k], IN_SUM, depth + 1));
    return hg_format(e->arena, "%s)", s);
}

static const char *text_of(const struct hg_expr *e, hg_id id, int inside, int depth)
{
    const struct hg_node *n = hg_at(e, id);
    const char *s;
    double c;
    if (n->nargs == 0 && n->op != HG_CONST)
        return n->name ? n->name : hg_text(e, id, 0);
    if (depth > CODE && n->name)
        return n->name;
    if (depth % CODE > DEEPEST)
        return "...";
    switch (n->op) {
    case HG_CONST: return hg_format(e->arena, n->value < 0 && inside ? "(%.6g)" : "%.6g", n->value);
    case HG_SUM: return hg_format(e->arena, inside ? "(%s)" : "%s", sum(e, n, depth));
    case HG_PROD:
        s = product(e, n, depth);
        s = leading_sign(e, id) < 0 ? hg_format(e->arena, "-%s", s) : s;
        return hg_format(e->arena, inside == IN_POWER || (inside && *s == '-') ? "(%s)" : "%s", s);
    case HG_POW:
        if (hg_is_const(e, n->arg[1], &c) && c < 0)
            return hg_format(e->arena, inside == IN_POWER ? "(%s)" : "%s",
                             c == -1.0
                                 ? hg_format(e->arena, "1/%s", text_of(e, n->arg[0], IN_POWER, depth + 1))
                                 : hg_format(e->arena, "1/%s^%g", text_of(e, n->arg[0], IN_POWER, depth + 1), -c));
        return hg_format(e->arena, inside == IN_POWER ? "(%s^%s)" : "%s^%s", text_of(e, n->arg[0], IN_POWER, depth + 1),
                         text_of(e, n->arg[1], IN_POWER, depth + 1));
    case HG_HOLD: return text_of(e, n->arg[0], inside, depth);
    default: break;
    }
    if (n->nargs == 1 && depth < CODE)
        return hg_format(e->arena, "%s(%s)", hg_op_text[n->op], text_of(e, angle(e, n, depth), IN_SUM, depth + 1));
    return depth < CODE ? hg_text(e, id, 1) : call(e, n, depth);
}

const char *hg_formula(const struct hg_expr *e, hg_id id)
{
    return text_of(e, id, IN_SUM, 0);
}

const char *hg_formula_code(const struct hg_expr *e, hg_id id)
{
    return text_of(e, id, IN_SUM, CODE);
}
