/* model.c -- declarations of a model file: look-up, units of nodes, checks of the whole. */
#include "model/model.h"
#include "graph/functions.h"
#include "graph/march.h"

#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "common/unit_words.h"

struct hg_model *hg_model_new(struct hg_arena *a)
{
    struct hg_model *m = hg_alloc(a, sizeof *m);
    m->expr = hg_expr_new(a);
    m->units = hg_units_new(a);
    m->which = -1;
    return m;
}

struct hg_symbol_decl *hg_model_declare(struct hg_model *m, struct hg_list *list, const struct hg_symbol_decl *s)
{
    if ((list->n & (list->n - 1)) == 0) { /* full at powers of two */
        struct hg_symbol_decl *item = hg_alloc(m->expr->arena, (list->n ? 2 * list->n : 1) * sizeof *item);
        if (list->n)
            memcpy(item, list->item, list->n * sizeof *item);
        list->item = item;
    }
    list->item[list->n] = *s;
    return &list->item[list->n++];
}

const struct hg_symbol_decl *hg_model_unknown(const struct hg_model *m, uint32_t k)
{
    return k < m->param.n ? &m->param.item[k] : &m->linear.item[k - m->param.n];
}

const struct hg_symbol_decl *hg_model_find(const struct hg_model *m, const char *name)
{
    const struct hg_list *list[] = {&m->param, &m->linear, &m->setting, &m->axis, &m->column, &m->state};
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        for (uint32_t i = 0; i < list[k]->n; i++) {
            if (strcmp(list[k]->item[i].name, name) == 0)
                return &list[k]->item[i];
        }
    }
    return NULL;
}

double hg_model_typical(const struct hg_model *m, const struct hg_list *list, uint32_t k, size_t offset, int *told)
{
    int ignored;
    if (!told)
        told = &ignored;
    *told = 1;
    for (uint32_t t = 0; t < m->ntest; t++) {
        const double *x = *(double *const *)(const void *)((const char *)&m->test[t] + offset);
        if (x && isfinite(x[k]))
            return x[k];
    }
    *told = isfinite(list->item[k].start);
    return *told ? list->item[k].start : 1.0;
}

double hg_model_between(const struct hg_symbol_decl *s, double u)
{
    if (s->lower > 0 && s->upper > 100 * s->lower)
        return s->lower * hg_value_pow(s->upper / s->lower, u);
    return s->lower + (s->upper - s->lower) * u;
}

double hg_model_coordinate(const struct hg_model *m, uint32_t axis, uint32_t g, uint32_t groups)
{
    const struct hg_symbol_decl *s = &m->axis.item[axis];
    double x = hg_model_typical(m, &m->axis, axis, offsetof(struct hg_test, coord), NULL);
    double far = strcmp(s->unit, "deg") == 0 ? 37 : 1;
    if (s->lower < s->upper)
        return hg_model_between(s, (double)g / (groups - 1));
    return x != 0 ? x * (1 + 0.4 * g) : far * g;
}

int hg_model_sizes_told(const struct hg_model *m, struct hg_diag *d)
{
    static const char with_test[] = "a point with it: m.test { ... }";
    const struct {
        const struct hg_list *list;
        size_t offset;
        const char *what, *help, *with_unit; /* with_unit: NULL, or help where there is a unit */
    } kind[] = {
        {&m->setting, offsetof(struct hg_test, setting), "setting", with_test, NULL},
        {&m->axis, offsetof(struct hg_test, coord), "axis",
         "m.axis(\"%s\", { range = {lowest, highest} }), or a point with it: m.test { ... }",
         "m.axis(\"%s\", { unit = \"%s\", range = {lowest, highest} }), or a point with it: m.test { ... }"},
        {&m->column, offsetof(struct hg_test, column), "column",
         "{ \"%s\", range = {lowest, highest} } in m.columns, or a point with it: "
         "m.test { ... }",
         "{ \"%s\", unit = \"%s\", range = {lowest, highest} } in m.columns, or a point with it: "
         "m.test { ... }"},
    };
    int all = 1;
    for (size_t n = 0; n < sizeof kind / sizeof *kind; n++)
        for (uint32_t k = 0; k < kind[n].list->n; k++) {
            const struct hg_symbol_decl *s = &kind[n].list->item[k];
            int told;
            hg_model_typical(m, kind[n].list, k, kind[n].offset, &told);
            if (told || s->lower < s->upper || s->role != FIT_ROLE_COVARIATE)
                continue;
            all = 0;
            if (d)
                hg_warning(d, s->line, s->name,
                           kind[n].with_unit && s->unit && *s->unit && strcmp(s->unit, "1") != 0
                               ? hg_format(m->expr->arena, kind[n].with_unit, s->name, s->unit)
                               : hg_format(m->expr->arena, kind[n].help, s->name),
                           "nothing gives the size of the %s '%s': derivatives and kernels are "
                           "tested near 1, rounding errors %s",
                           kind[n].what, s->name, kind[n].list == &m->column ? "not at all" : "there");
        }
    return all;
}

const struct hg_variant *hg_model_variant(const struct hg_model *m, const char *name)
{
    for (uint32_t k = 0; k < m->nvariant; k++) {
        if (strcmp(m->variant[k].name, name) == 0)
            return &m->variant[k];
    }
    return NULL;
}

int hg_name_is_c(const char *name)
{
    static const char *const reserved[] = {
        "auto",   "break",    "case",     "char",     "const",   "continue", "default", "do",     "double",
        "else",   "enum",     "extern",   "float",    "for",     "goto",     "if",      "inline", "int",
        "long",   "register", "restrict", "return",   "short",   "signed",   "sizeof",  "static", "struct",
        "switch", "typedef",  "union",    "unsigned", "void",    "volatile", "while",   "asm",    "typeof",
        "main",   "NULL",     "NAN",      "INFINITY", "HUGE_VAL"};
    if (!isalpha((unsigned char)*name) || strncmp(name, "fit_", 4) == 0 || strncmp(name, "FIT_", 4) == 0)
        return 0;
    for (const char *s = name; *s; s++) {
        if (!isalnum((unsigned char)*s) && *s != '_')
            return 0;
    }
    for (size_t k = 0; k < sizeof reserved / sizeof *reserved; k++) {
        if (strcmp(name, reserved[k]) == 0)
            return 0;
    }
    return 1;
}

/* --- units of nodes --------------------------------------------------------------------------- */

static const char *declared_unit(const struct hg_list *list, uint32_t ref)
{
    return ref < list->n && list->item[ref].unit ? list->item[ref].unit : "1";
}

static hg_unit leaf_unit(struct hg_model *m, const struct hg_node *n)
{
    const char *text = "1", *why;
    hg_unit unit;
    switch (n->op) {
    case HG_NODE: return HG_UNIT_ONE;
    case HG_CONST: return n->value == 0.0 ? HG_UNIT_ANY : HG_UNIT_ONE; /* exactly the literal 0 */
    case HG_TIME:
    case HG_STEP: text = "s"; break;
    case HG_PARAM: text = declared_unit(&m->param, n->ref); break;
    case HG_LINEAR: text = declared_unit(&m->linear, n->ref); break;
    case HG_SETTING: text = declared_unit(&m->setting, n->ref); break;
    case HG_COORD: text = declared_unit(&m->axis, n->ref); break;
    case HG_COLUMN: text = declared_unit(&m->column, n->ref); break;
    case HG_CARRIED:
        if (hg_carried_at(n->ref).k)
            return HG_UNIT_UNKNOWN;
        text = declared_unit(&m->state, hg_carried_at(n->ref).state);
        break;
    default: return HG_UNIT_UNKNOWN;
    }
    return hg_unit_parse(m->units, text, &unit, &why) ? unit : HG_UNIT_UNKNOWN;
}

static hg_unit power_unit(struct hg_model *m, const struct hg_node *n)
{
    hg_unit base = m->node_unit[n->arg[0]], unit;
    double exponent;
    if (base == HG_UNIT_ONE)
        return HG_UNIT_ONE;
    if (!hg_is_const(m->expr, n->arg[1], &exponent) || !hg_unit_pow_number(m->units, base, exponent, &unit))
        return HG_UNIT_UNKNOWN;
    return unit;
}

/* Degrees times pi/180 are radians: dsl_expr.c inserts that factor before sin, cos, tan and sinc. */
static int is_radians(const struct hg_model *m, const struct hg_node *n)
{
    double c;
    return hg_is_const(m->expr, n->arg[0], &c) && fabs(fabs(c) - 3.14159265358979323846 / 180) < 1e-16;
}

/* Unit of a node from those of its operands. */
static hg_unit derived_unit(struct hg_model *m, const struct hg_node *n)
{
    hg_unit unit = HG_UNIT_ANY, second;
    struct hg_carried_place place;
    const char *why;
    switch (n->op) {
    case HG_SUM: /* numbers are ignored: a sum may contain a stripped 1 s */
        for (uint32_t k = 0; k < n->nargs && (unit == HG_UNIT_ANY || unit == HG_UNIT_UNKNOWN); k++) {
            if (hg_at(m->expr, n->arg[k])->op != HG_CONST)
                unit = m->node_unit[n->arg[k]];
        }
        return unit;
    case HG_PROD:
        unit = HG_UNIT_ONE;
        for (uint32_t k = 0; k < n->nargs; k++)
            unit = hg_unit_mul(m->units, unit, m->node_unit[n->arg[k]]);
        if (is_radians(m, n) && strcmp(hg_unit_text(m->units, unit), "deg") == 0)
            unit = HG_UNIT_ONE;
        return unit;
    case HG_POW: return power_unit(m, n);
    case HG_ABS:
    case HG_AT_I:
    case HG_AT_J:
    case HG_HOLD:
    case HG_DELTA: return m->node_unit[n->arg[0]];
    case HG_REDUCE: return m->node_unit[n->arg[1]];
    case HG_WHERE:
    case HG_GUARD: /* a number does not vote here either */
        for (uint32_t k = 2; k >= 1 && (unit == HG_UNIT_ANY || unit == HG_UNIT_UNKNOWN); k--)
            if (hg_at(m->expr, n->arg[k])->op != HG_CONST)
                unit = m->node_unit[n->arg[k]];
        return unit;
    case HG_STATE:
        place = hg_carried_at((uint32_t)hg_at(m->expr, n->arg[0])->value);
        if (place.k || !hg_unit_parse(m->units, declared_unit(&m->state, place.state), &unit, &why))
            return HG_UNIT_UNKNOWN;
        return unit;
    case HG_LT:
    case HG_LE:
    case HG_SMALL: return HG_UNIT_BOOL;
    case HG_POTENTIAL:
        hg_unit_parse(m->units, "s", &second, &why);
        return hg_unit_mul(m->units, m->node_unit[n->arg[0]], second);
    default: return n->nargs ? HG_UNIT_ONE : leaf_unit(m, n);
    }
}

/* Units of all nodes up to and including id, in order of id: operands come first. */
static void spread_units(struct hg_model *m, hg_id id)
{
    m->node_unit =
        hg_grow(m->expr->arena, m->node_unit, m->nnode_unit, (size_t)id + 1, sizeof *m->node_unit, &m->node_unit_room);
    if (m->nnode_unit == 0)
        m->node_unit[m->nnode_unit++] = HG_UNIT_UNKNOWN; /* node 0 is none */
    for (; m->nnode_unit <= id; m->nnode_unit++)
        m->node_unit[m->nnode_unit] = derived_unit(m, hg_at(m->expr, (hg_id)m->nnode_unit));
}

hg_unit hg_model_unit(struct hg_model *m, hg_id id)
{
    if (id >= m->nnode_unit)
        spread_units(m, id);
    return m->node_unit[id];
}

void hg_model_set_unit(struct hg_model *m, hg_id id, hg_unit unit, int force)
{
    hg_unit known = hg_model_unit(m, id);
    if (hg_at(m->expr, id)->nargs == 0)
        return; /* declared */
    if (force || known == HG_UNIT_UNKNOWN || known == HG_UNIT_ANY)
        m->node_unit[id] = unit;
}

const char *hg_model_unit_text(struct hg_model *m, hg_id id)
{
    hg_unit unit = hg_model_unit(m, id);
    return unit == HG_UNIT_UNKNOWN || unit == HG_UNIT_ANY || unit == HG_UNIT_BOOL ? NULL : hg_unit_text(m->units, unit);
}

/* --- checks of the whole ---------------------------------------------------------------------- */

int hg_model_is_linear(struct hg_model *m, hg_id mean, hg_id a, hg_id b)
{
    return !hg_contains(m->expr, hg_diff(m->expr, mean, a), b);
}

/* The slope with respect to a linear parameter contains no linear parameter. */
static void check_linear(struct hg_model *m, const struct hg_variant *v, struct hg_diag *d)
{
    for (uint32_t a = 0; a < m->linear.n; a++) {
        const struct hg_symbol_decl *p = &m->linear.item[a];
        const hg_id slope = hg_diff(m->expr, v->mean, p->node);
        HG_SCRATCH unsigned char *below = hg_below(m->expr, slope);
        for (uint32_t b = a; b < m->linear.n; b++) {
            const struct hg_symbol_decl *q = &m->linear.item[b];
            if (q->node > slope || !below[q->node])
                continue;
            const char *help =
                p->over >= 0 ? hg_format(m->expr->arena,
                                         "only linear parameters have one value per group by themselves; drop `over`,"
                                         " and fit with --share %s=per_%s",
                                         p->name, m->space == FIT_ROWS ? m->axis.item[p->over].name : "angle")
                             : "take it out of the list `linear`, or write `linear = false` in its declaration";
            if (a == b)
                hg_error(d, v->line, p->name, help, "the mean is not linear in '%s'", p->name);
            else
                hg_error(d, v->line, p->name, help, "the mean is not linear in '%s' and '%s' together", p->name,
                         q->name);
            return;
        }
    }
}

static const char *index_name(const struct hg_model *m, unsigned vary)
{
    if (vary & HG_T)
        return m->grid_name;
    if (vary & HG_G)
        return m->axis.n ? m->axis.item[0].name : "the group";
    if (vary & HG_K)
        return "the variable of a sum or an integral that is over";
    return vary & HG_R ? "the row" : "the pair of frames";
}

static void check_vary(const struct hg_model *m, const struct hg_variant *v, struct hg_diag *d)
{
    unsigned vary = hg_at(m->expr, v->mean)->vary;
    unsigned allowed = m->space == FIT_PAIRS ? HG_I | HG_J | HG_G : HG_R | HG_G; /* G: linear parameters */
    if (vary & ~allowed)
        hg_error(d, v->line, "mean",
                 m->space == FIT_PAIRS
                     ? "a value at one frame is at(f, t1) or at(f, t2); between two: integral(f, t1, t2)"
                     : "a table model varies with its columns only",
                 "the mean varies with %s", index_name(m, vary & ~allowed));
    else if (!m->density && !(vary & (HG_I | HG_J | HG_R)) && !(m->space == FIT_ROWS && m->axis.n && vary & HG_G))
        hg_error(d, v->line, "mean", NULL, "the mean is the same for every %s",
                 m->space == FIT_PAIRS ? "pair of frames" : "row");
}

int hg_model_uses(const struct hg_model *m, hg_id node)
{
    for (uint32_t k = 0; k < m->nvariant; k++) {
        if (hg_contains(m->expr, m->variant[k].mean, node))
            return 1;
    }
    return m->density && hg_contains(m->expr, m->density->node, node);
}

static int is_in_derived(const struct hg_model *m, hg_id node)
{
    int found = 0;
    for (uint32_t k = 0; k < m->derived.n; k++)
        found |= hg_contains(m->expr, m->derived.item[k].node, node);
    return found;
}

int hg_model_derived_each(const struct hg_model *m, const struct hg_symbol_decl *derived)
{
    const struct hg_list *list[] = {&m->param, &m->linear, &m->axis};
    for (size_t l = 0; l < sizeof list / sizeof *list; l++)
        for (uint32_t k = 0; k < list[l]->n; k++)
            if ((l == 2 || list[l]->item[k].over >= 0) && hg_contains(m->expr, derived->node, list[l]->item[k].node))
                return 1;
    return 0;
}

static int is_axis_of_parameter(const struct hg_model *m, uint32_t axis)
{
    for (uint32_t k = 0; k < m->linear.n; k++) {
        if (m->linear.item[k].over == (int)axis)
            return 1;
    }
    for (uint32_t k = 0; k < m->param.n; k++) {
        if (m->param.item[k].over == (int)axis)
            return 1;
    }
    return 0;
}

static void warn_unused(const struct hg_model *m, const struct hg_list *list, const char *what, struct hg_diag *d)
{
    for (uint32_t k = 0; k < list->n; k++) {
        const struct hg_symbol_decl *s = &list->item[k];
        if (hg_model_uses(m, s->node) || (list == &m->axis && is_axis_of_parameter(m, k)))
            continue;
        if ((list == &m->column && s->role != FIT_ROLE_COVARIATE) || s->hyper)
            continue;
        if ((list == &m->setting || list == &m->axis) && is_in_derived(m, s->node))
            continue;
        if (list == &m->axis && m->expr->march) /* it distinguishes curves; states start anew in each */
            continue;
        hg_warning(d, s->line, s->name,
                   list == &m->param    ? "take it into the formula, or out of the file: data do not see it"
                   : list == &m->column ? "take it into the formula, or out of the file; a column of errors is named "
                                          "by sigma = ... in m.observe"
                                        : NULL,
                   "the mean does not depend on the %s '%s'", what, s->name);
    }
}

/* Settings and axes that data files of pairs identify by name must have the meaning of those names, in any suitable
 * unit. */
static void check_told(struct hg_model *m, const struct hg_list *list, const char *kind, struct hg_diag *d)
{
    const char *why;
    hg_unit told, unit;
    double factor;
    for (uint32_t k = 0; m->space == FIT_PAIRS && k < list->n; k++)
        for (size_t t = 0; t < unit_ntold; t++) {
            const struct hg_symbol_decl *s = &list->item[k];
            if (strcmp(s->name, unit_told[t].name) != 0 || !hg_unit_parse(m->units, unit_told[t].unit, &told, &why) ||
                !hg_unit_parse(m->units, s->unit ? s->unit : "1", &unit, &why) ||
                hg_unit_factor(m->units, told, unit, &factor))
                continue;
            hg_error(d, s->line, s->name, hg_format(m->expr->arena, "give it such a unit, or another name"),
                     "the %s '%s' is in %s; data files of pairs of frames give %s in %s", kind, s->name,
                     s->unit ? s->unit : "1", s->name, unit_told[t].unit);
        }
}

int hg_model_check(struct hg_model *m, struct hg_diag *d)
{
    unsigned before = d->errors;
    check_told(m, &m->setting, "setting", d);
    check_told(m, &m->axis, "axis", d);
    for (uint32_t k = 0; k < m->nvariant; k++) {
        check_vary(m, &m->variant[k], d);
        check_linear(m, &m->variant[k], d);
    }
    for (uint32_t k = 0; k < m->param.n; k++) {
        const struct hg_symbol_decl *s = &m->param.item[k];
        if (s->over >= 0 && !m->density)
            hg_error(d, s->line, "over",
                     hg_format(m->expr->arena,
                               "drop `over`, and fit with --share %s=per_%s; or make it a function of"
                               " the axis",
                               s->name, m->space == FIT_ROWS ? m->axis.item[s->over].name : "angle"),
                     "'%s' has one value per group but is not linear", s->name);
    }
    if (d->errors != before)
        return 0;
    warn_unused(m, &m->param, "parameter", d);
    warn_unused(m, &m->linear, "parameter", d);
    warn_unused(m, &m->setting, "setting", d);
    warn_unused(m, &m->axis, "axis", d);
    warn_unused(m, &m->column, "column", d);
    return 1;
}

int hg_model_linear_everywhere(struct hg_model *m, hg_id a, hg_id b)
{
    for (uint32_t k = 0; k < m->nvariant; k++) {
        if (!hg_model_is_linear(m, m->variant[k].mean, a, b))
            return 0;
    }
    return 1;
}

void hg_model_warn_linear(struct hg_model *m, struct hg_diag *d)
{
    if (!m->param.n && !m->linear.n)
        hg_warning(d, m->observe_line, NULL,
                   "local D = m.parameter(\"D\", { unit = \"um^2/s\", start = 1, bounds = {0, 100} })",
                   "the model has no parameter: there is nothing to fit");
    if (m->density)
        return;
    for (uint32_t k = 0; k < m->param.n; k++) {
        const struct hg_symbol_decl *s = &m->param.item[k];
        int join = !s->keep && hg_contains(m->expr, m->variant[0].mean, s->node) &&
                   hg_model_linear_everywhere(m, s->node, s->node);
        for (uint32_t q = 0; join && q < m->linear.n; q++)
            join = hg_model_linear_everywhere(m, s->node, m->linear.item[q].node);
        if (join)
            hg_warning(d, s->line, s->name,
                       "linear = true in its declaration or in the list of observe: it is solved for exactly\n"
                       "          then and needs no start; linear = false keeps it as it is",
                       "the mean is linear in '%s', which is not declared linear", s->name);
    }
}
