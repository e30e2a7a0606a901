/* page.c -- the contents of the page that documents a model. */
#include "document/page.h"
#include "graph/march.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "common/range.h"
#include "judge/accuracy.h"
#include "emit/code.h"

struct page {
    struct hg_model *m;
    struct hg_arena *a;
    const struct hg_page_format *f;
    FILE *out;
    int conditions; /* derivatives have [conditions] as factors */
    int degrees;    /* some parameters are angles in degrees */
};

__attribute__((format(printf, 2, 3))) static void say(struct page *p, const char *format, ...)
{
    char text[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    p->f->text(p->out, text);
}

static void surrounded(struct page *p, struct hg_around around, const char *text)
{
    fputs(around.before, p->out);
    p->f->text(p->out, text);
    fputs(around.after, p->out);
}

static void paragraph(struct page *p, const char *text)
{
    surrounded(p, p->f->paragraph, text);
}

/* --- tables ----------------------------------------------------------------------------------- */

struct table {
    struct page *p;
    uint32_t k; /* cells of the row */
};

static struct table table(struct page *p, const struct hg_column *column)
{
    uint32_t n = 0;
    while (column[n].title)
        n++;
    p->f->table(p->out, column, n);
    return (struct table){.p = p};
}

/* Ends the previous cell, and the previous row when it is full; starts the next one. */
static void cell(struct table *t)
{
    const struct hg_page_format *f = t->p->f;
    fputs(t->k == 0 ? f->row.before : f->cell_end, t->p->out);
    f->cell(t->p->out, t->k++);
}

static void row_end(struct table *t)
{
    fputs(t->p->f->cell_end, t->p->out);
    fputs(t->p->f->row.after, t->p->out);
    t->k = 0;
}

static void cell_text(struct table *t, const char *text)
{
    cell(t);
    t->p->f->text(t->p->out, text ? text : "");
}

static void cell_code(struct table *t, const char *text)
{
    cell(t);
    t->p->f->code(t->p->out, text);
}

static void cell_math(struct table *t, const struct hg_box *b)
{
    cell(t);
    if (b)
        t->p->f->math(t->p->out, b);
}

/* --- the parts of the page -------------------------------------------------------------------- */

static void formula(struct page *p, const struct hg_formula *f)
{
    p->f->formula(p->out, f);
}

/* The parts of a formula; those marked in `shown` are left out, and all are marked. */
static void parts(struct page *p, hg_wid root, unsigned char *shown)
{
    struct hg_formula f;
    hg_wid *part;
    uint32_t n = hg_written_parts(p->m, root, &part);
    for (uint32_t k = 0; k < n; k++) {
        if (shown[part[k]])
            continue;
        shown[part[k]] = 1;
        hg_typeset_part(p->m, part[k], NULL, &f);
        formula(p, &f);
    }
}

static void mean(struct page *p, const struct hg_variant *v, unsigned char *shown)
{
    struct hg_formula f;
    hg_typeset_mean(p->m, v->written, &f);
    formula(p, &f);
    if (hg_written_at(p->m, v->written)->depth <= HG_WRITTEN_DEEP)
        parts(p, v->written, shown);
}

/* Functions that some readers may not know. */
static void notes(struct page *p)
{
    static const struct {
        enum hg_word word;
        enum hg_op op;
        const char *text;
    } note[] = {
        {HG_W_FUNCTION, HG_SINC, "sinc x = sin x / x; sinc′ is its derivative."},
        {HG_W_FUNCTION, HG_SOFTPLUS, "softplus x = ln(1 + exp x)."},
        {HG_W_FUNCTION, HG_LOGISTIC, "logistic x = 1/(1 + exp(-x))."},
        {HG_W_FUNCTION, HG_LGAMMA, "Γ is the gamma function, ψ the derivative of ln Γ."},
        {HG_W_FUNCTION, HG_GAMMA, "Γ is the gamma function, ψ the derivative of ln Γ."},
        {HG_W_FUNCTION, HG_GAMMA_P, "P is the lower incomplete gamma function, regularised."},
        {HG_W_FUNCTION, HG_GAMMA_Q, "Q is the upper incomplete gamma function, regularised."},
        {HG_W_FUNCTION, HG_GAMMA_DENSITY, "p(a, x) = x^(a - 1) exp(-x)/Γ(a)."},
        {HG_W_FUNCTION, HG_EXPREL, "exprel x = (exp x - 1)/x."},
        {HG_W_FUNCTION, HG_LOG1MEXP, "log1mexp x = ln(1 - exp x)."},
        {HG_W_FUNCTION, HG_ERFCX, "erfcx x = exp(x^2) erfc x."},
        {HG_W_INTEGRAL, 0, "Integrals are sums by the trapezoidal rule over the frames."},
        {HG_W_OVER, 0, "Integrals are sums over the nodes of a rule."},
        {HG_W_ATAN2, 0, "atan2(y, x) is the angle of the point (x, y)."},
    };
    const char *all = "";
    for (size_t k = 0; k < sizeof note / sizeof *note; k++) {
        int used = 0;
        for (uint32_t v = 0; v < p->m->nvariant; v++)
            used |= hg_typeset_uses(p->m, p->m->variant[v].written, note[k].word, note[k].op);
        if (p->m->density)
            used |= hg_typeset_uses(p->m, p->m->density->written, note[k].word, note[k].op);
        if (used)
            all = hg_format(p->a, "%s%s%s", all, *all ? "  " : "", note[k].text);
    }
    if (*all)
        paragraph(p, all);
}

/* How the measurements scatter about the mean. */
static void law(struct page *p, unsigned char *shown)
{
    const struct hg_density *d = p->m->density;
    struct hg_formula f;
    if (!d)
        return;
    paragraph(p, d->law == FIT_LAW_OTHER
                     ? hg_format(p->a, "That is the mean of %s, whose density has the logarithm", p->m->observable)
                     : hg_format(p->a,
                                 "That is the mean of %s. The density of the noise distribution, %s, has the logarithm",
                                 p->m->observable, d->name));
    hg_typeset_part(p->m, d->written, "l", &f);
    formula(p, &f);
    parts(p, d->written, shown);
}

/* The quantities carried from row to row. */
static void states(struct page *p, unsigned char *shown)
{
    struct hg_model *m = p->m;
    struct hg_formula f;
    const struct hg_march *march = m->expr->march;
    if (m->state.n && march->flow)
        paragraph(p,
                  hg_format(p->a,
                            "States follow a differential equation; a dot is the rate of change by %s. What they are "
                            "at the beginning comes behind each of them.",
                            m->column.item[hg_at(m->expr, march->time)->ref].name));
    else if (m->state.n)
        paragraph(p,
                  "States are carried from row to row, here to row n; what stands for them before the first row comes "
                  "behind each of them.");
    for (uint32_t q = 0; q < m->state.n; q++) {
        const struct hg_symbol_decl *s = &m->state.item[q];
        if (s->doc)
            paragraph(p, hg_format(p->a, "%s: %s", s->name, s->doc));
        hg_typeset_part(m, s->written, march->flow ? hg_format(p->a, "%s_dot", s->name) : s->name, &f);
        formula(p, &f);
        parts(p, s->written, shown);
        hg_typeset_part(m, s->before, hg_format(p->a, "%s_0", s->name), &f);
        formula(p, &f);
    }
}

/* Jumps of states at given times. */
static void events(struct page *p, unsigned char *shown)
{
    struct hg_model *m = p->m;
    struct hg_formula f;
    const struct hg_march *march = m->expr->march;
    if (!march || !march->nevent)
        return;
    paragraph(p, "States jump at these times; what is added to each of them comes behind the time.");
    for (uint32_t v = 0; v < march->nevent; v++) {
        hg_typeset_part(m, march->event[v].written_at, hg_format(p->a, "t_%u", v + 1), &f);
        formula(p, &f);
        for (uint32_t q = 0; q < m->state.n; q++)
            if (march->event[v].jump[q]) {
                hg_typeset_part(m, march->event[v].written_jump[q], hg_format(p->a, "Delta_%s", m->state.item[q].name),
                                &f);
                formula(p, &f);
                parts(p, march->event[v].written_jump[q], shown);
            }
    }
}

static void equations(struct page *p, unsigned char *shown)
{
    surrounded(p, p->f->section, "Equations");
    mean(p, &p->m->variant[0], shown);
    law(p, shown);
    states(p, shown);
    events(p, shown);
    notes(p);
    if (p->m->formula) {
        paragraph(p, "In the author's words:");
        p->f->verbatim(p->out, p->m->formula);
    }
}

static const char *prior_text(struct page *p, const struct hg_symbol_decl *s)
{
    const struct hg_symbol_decl *x = p->m->param.item;
    const char *a = s->prior_from[0] ? x[s->prior_from[0] - 1].name : hg_format(p->a, "%g", s->prior_a);
    const char *b = s->prior_from[1] ? x[s->prior_from[1] - 1].name : hg_format(p->a, "%g", s->prior_b);
    switch (s->prior) {
    case FIT_PRIOR_NORMAL: return hg_format(p->a, "normal, mean %s, sd %s", a, b);
    case FIT_PRIOR_TRUNCATED_NORMAL: return hg_format(p->a, "normal within the bounds, mean %s, sd %s", a, b);
    case FIT_PRIOR_LOG_NORMAL: return hg_format(p->a, "log-normal, ln: mean %s, sd %s", a, b);
    case FIT_PRIOR_HALF_NORMAL: return hg_format(p->a, "half-normal, scale %s", b);
    case FIT_PRIOR_HALF_CAUCHY: return hg_format(p->a, "half-Cauchy, scale %s", b);
    case FIT_PRIOR_EXPONENTIAL: return hg_format(p->a, "exponential, scale %s", b);
    case FIT_PRIOR_BETA_SCALED: return hg_format(p->a, "beta(%s, %s) over the bounds", a, b);
    case FIT_PRIOR_LAPLACE: return hg_format(p->a, "Laplace, mean %s, scale %s", a, b);
    case FIT_PRIOR_LOG_UNIFORM: return "uniform in the logarithm";
    case FIT_PRIOR_NONE:
    case FIT_PRIOR_TANH_NORMAL:
    case FIT_PRIOR_JEFFREYS: break;
    }
    return "";
}

static const struct hg_box *interval(struct page *p, double lower, double upper)
{
    if (isinf(lower) && isinf(upper))
        return NULL;
    const struct hg_box *row[3] = {hg_typeset_value(p->a, lower),
                                   hg_box(p->a, HG_BOX_TEXT, " … ", "\\,\\dots\\,", 0, NULL),
                                   hg_typeset_value(p->a, upper)};
    return hg_box(p->a, HG_BOX_ROW, NULL, NULL, 3, row);
}

static const char *description(struct page *p, const struct hg_symbol_decl *s, int linear)
{
    const char *text = s->doc ? s->doc : "";
    if (linear)
        text = hg_format(p->a, "%s%slinear: eliminated in each step", text, *text ? "; " : "");
    if (s->over >= 0)
        text = hg_format(p->a, "%s%sone value per %s", text, *text ? "; " : "", p->m->axis.item[s->over].name);
    for (const char *const *alias = s->alias; alias && *alias; alias++)
        text = hg_format(p->a, "%s%s%s", text, alias == s->alias ? *text ? "; also called " : "also called " : ", ",
                         *alias);
    return text;
}

static void parameters(struct page *p)
{
    static const struct hg_column column[] = {{"", 0},       {"name", 0},   {"unit", 0},         {"start", 0},
                                              {"bounds", 0}, {"prior", 26}, {"description", 42}, {NULL, 0}};
    uint32_t n = p->m->param.n + p->m->linear.n;
    surrounded(p, p->f->section, "Parameters");
    struct table t = table(p, column);
    for (uint32_t k = 0; k < n; k++) {
        int linear = k >= p->m->param.n;
        const struct hg_symbol_decl *s = hg_model_unknown(p->m, k);
        cell_math(&t, hg_typeset_symbol(p->m, s));
        cell_code(&t, s->name);
        cell_math(&t, hg_typeset_unit(p->a, s->unit));
        cell_math(&t, hg_typeset_value(p->a, s->start));
        cell_math(&t, interval(p, s->lower, s->upper));
        cell_text(&t, prior_text(p, s));
        cell_text(&t, description(p, s, linear));
        row_end(&t);
    }
    fputs(p->f->table_end, p->out);
}

static const char *symbol_kind(const struct page *p, const struct hg_list *list, const struct hg_symbol_decl *s)
{
    static const char *const role[] = {[FIT_ROLE_COVARIATE] = "column",
                                       [FIT_ROLE_VALUE] = "column, measured",
                                       [FIT_ROLE_SIGMA] = "column, standard deviation"};
    return list == &p->m->setting ? "setting" : list == &p->m->axis ? "axis" : role[s->role];
}

static const struct hg_box *unit_or_one(struct page *p, const char *unit)
{
    const struct hg_box *b = hg_typeset_unit(p->a, unit);
    return b ? b : hg_box(p->a, HG_BOX_NUMBER, "1", NULL, 0, NULL);
}

static void data(struct page *p)
{
    static const struct hg_column column[] = {{"", 0},     {"name", 0},         {"unit", 0},
                                              {"kind", 0}, {"description", 90}, {NULL, 0}};
    const struct hg_list *const list[] = {&p->m->column, &p->m->axis, &p->m->setting};
    struct hg_model *m = p->m;
    surrounded(p, p->f->section, "Data and settings");
    struct table t = table(p, column);
    if (m->space == FIT_PAIRS) {
        cell_math(&t, hg_typeset_name(p->a, m->observable));
        cell_code(&t, m->observable);
        cell_math(&t, unit_or_one(p, m->observable_unit));
        cell_text(&t, "measured");
        cell_text(&t, "a matrix over pairs of frames for each group; each pair counts once, the "
                      "diagonal does not");
        row_end(&t);
        cell_math(&t, hg_typeset_name(p->a, m->grid_name));
        cell_code(&t, m->grid_name);
        cell_math(&t, hg_typeset_unit(p->a, "s"));
        cell_text(&t, "grid");
        cell_text(&t, "time of a frame; frames follow each other at a constant period");
        row_end(&t);
    }
    for (size_t l = 0; l < sizeof list / sizeof *list; l++)
        for (uint32_t k = 0; k < list[l]->n; k++) {
            const struct hg_symbol_decl *s = &list[l]->item[k];
            cell_math(&t, hg_typeset_symbol(m, s));
            cell_code(&t, s->name);
            cell_math(&t, unit_or_one(p, s->unit));
            cell_text(&t, symbol_kind(p, list[l], s));
            const char *doc = s->doc ? s->doc : "";
            if (list[l] == &m->setting && !isnan(s->start))
                doc = hg_format(p->a, "%s%sdefault %g", doc, *doc ? "; " : "", s->start);
            char range[RANGE_TEXT];
            range_text(s->lower, s->upper, NULL, range);
            if (*range)
                doc = hg_format(p->a, "%s%s%s", doc, *doc ? "; " : "", range);
            cell_text(&t, doc);
            row_end(&t);
        }
    fputs(p->f->table_end, p->out);
}

/* --- derivatives ------------------------------------------------------------------------------ */

/* 1 when both parameters reach `root` through the same parts only. */
static int alike(const struct page *p, hg_wid root, const hg_wid *part, uint32_t n, hg_id a, hg_id b)
{
    if (hg_written_depends(p->m, root, a, 1) || hg_written_depends(p->m, root, b, 1))
        return 0;
    for (uint32_t k = 0; k < n; k++)
        if (part[k] != root && hg_written_depends(p->m, part[k], a, 0) != hg_written_depends(p->m, part[k], b, 0) &&
            hg_written_mentions(p->m, root, part[k]))
            return 0;
    return 1;
}

/* ",  theta = a, b, c" */
static const struct hg_box *thetas(struct page *p, const struct hg_symbol_decl *const *s, uint32_t n)
{
    const struct hg_box **row = hg_alloc(p->a, (3 * n + 3) * sizeof *row);
    uint32_t k = 0;
    row[k++] = hg_box(p->a, HG_BOX_TEXT, "  for ", "\\quad\\text{for }", 0, NULL);
    row[k++] = hg_box(p->a, HG_BOX_LETTER, "θ", "\\theta", 0, NULL);
    row[k++] = hg_box(p->a, HG_BOX_SIGN, "=", NULL, 0, NULL);
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            row[k++] = hg_box(p->a, HG_BOX_COMMA, ",", NULL, 0, NULL);
        row[k++] = hg_typeset_symbol(p->m, s[i]);
    }
    return hg_box(p->a, HG_BOX_ROW, NULL, NULL, k, row);
}

/* A derivative too long for a line is not shown. */
static void shorten(struct page *p, struct hg_formula *f)
{
    enum { WIDEST = 110 }; /* letters */
    for (uint32_t k = 0; k < f->n; k++) {
        if (hg_box_width(f->piece[k]) < WIDEST)
            continue;
        const struct hg_box *row[2] = {hg_box(p->a, HG_BOX_SIGN, "=", NULL, 0, NULL),
                                       hg_box(p->a, HG_BOX_TEXT, "(too long to be shown)", NULL, 0, NULL)};
        const struct hg_box **piece = hg_alloc(p->a, 2 * sizeof *piece); /* room for the list of parameters */
        piece[0] = hg_box(p->a, HG_BOX_ROW, NULL, NULL, 2, row);
        f->piece = piece;
        f->n = 1;
        return;
    }
}

/* Derivatives of one formula by all parameters it depends on; those that enter in the same way
 * together. */
static void slopes(struct page *p, hg_wid root, int is_part, const hg_wid *part, uint32_t npart)
{
    struct hg_model *m = p->m;
    uint32_t n = m->param.n + m->linear.n;
    unsigned char *done = hg_alloc(p->a, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        const struct hg_symbol_decl **group = hg_alloc(p->a, n * sizeof *group);
        uint32_t ngroup = 0;
        hg_id node = hg_model_unknown(m, k)->node;
        if (done[k] || !hg_written_depends(m, root, node, 0))
            continue;
        group[ngroup++] = hg_model_unknown(m, k);
        for (uint32_t j = k + 1; j < n; j++)
            if (!done[j] && hg_written_depends(m, root, hg_model_unknown(m, j)->node, 0) &&
                alike(p, root, part, npart, node, hg_model_unknown(m, j)->node)) {
                group[ngroup++] = hg_model_unknown(m, j);
                done[j] = 1;
            }
        hg_wid d = hg_written_diff(m, root, is_part, node);
        if (!d)
            continue;
        struct hg_formula f;
        p->conditions |= hg_typeset_uses(m, d, HG_W_WHEN, 0);
        hg_typeset_slope(m, is_part ? root : 0, d, node, ngroup > 1, &f);
        shorten(p, &f);
        if (ngroup > 1) {
            const struct hg_box **piece = hg_alloc(p->a, (f.n + 1) * sizeof *piece);
            memcpy(piece, f.piece, f.n * sizeof *piece);
            piece[f.n++] = thetas(p, group, ngroup);
            f.piece = piece;
        }
        formula(p, &f);
    }
}

static void derivatives(struct page *p)
{
    hg_wid root = p->m->variant[0].written, *part;
    if (hg_written_at(p->m, root)->depth > HG_WRITTEN_DEEP)
        return;
    uint32_t n = hg_written_parts(p->m, root, &part);
    surrounded(p, p->f->section, "Derivatives");
    paragraph(p, "What the kernels compute, perhaps rearranged; the build tests it against dual numbers.");
    slopes(p, root, 0, part, n);
    for (uint32_t k = 0; k < n; k++)
        slopes(p, part[k], 1, part, n);
    if (p->m->state.n)
        paragraph(p, "That is at given states; these depend on the parameters, too, and their derivatives are carried "
                     "from row to row with them.");
    for (uint32_t k = 0; k < p->m->param.n; k++)
        p->degrees |= strcmp(p->m->param.item[k].unit, "deg") == 0;
    if (p->degrees)
        paragraph(p, "With respect to an angle in degrees they are written per radian; the kernels, and all errors,"
                     " have them per degree, which is a factor of pi/180.");
    if (p->conditions)
        paragraph(p, "[condition] is 1 where the condition holds and 0 elsewhere.");
}

/* --- the rest --------------------------------------------------------------------------------- */

static void variants(struct page *p, unsigned char *shown)
{
    if (p->m->nvariant < 2)
        return;
    surrounded(p, p->f->section, "Variants");
    paragraph(p, "Other formulas for the same data, chosen with --variant. Names that are not "
                 "defined here are those of "
                 "the equations above.");
    for (uint32_t v = 1; v < p->m->nvariant; v++) {
        surrounded(p, p->f->subsection, p->m->variant[v].name);
        mean(p, &p->m->variant[v], shown);
    }
}

/* Quantities that follow from the parameters: curves, derived quantities. */
static void followers(struct page *p, const char *title, const struct hg_list *list, unsigned char *shown)
{
    static const struct hg_column column[] = {{"", 0}, {"name", 0}, {"unit", 0}, {"description", 90}, {NULL, 0}};
    if (list->n == 0)
        return;
    surrounded(p, p->f->section, title);
    paragraph(p, "In the results of every fit, with the errors that follow from those of the parameters.");
    struct table t = table(p, column);
    for (uint32_t k = 0; k < list->n; k++) {
        const struct hg_symbol_decl *s = &list->item[k];
        int named = hg_written_is_named(p->m, s->written);
        cell_math(&t, named ? hg_typeset_name_of(p->m, s->written) : hg_typeset_name(p->a, s->name));
        cell_code(&t, s->name);
        cell_math(&t, unit_or_one(p, s->unit));
        cell_text(&t, s->doc);
        row_end(&t);
    }
    fputs(p->f->table_end, p->out);
    for (uint32_t k = 0; k < list->n; k++) {
        hg_wid w = list->item[k].written;
        struct hg_formula f;
        if (hg_written_at(p->m, w)->depth > HG_WRITTEN_DEEP || shown[w])
            continue;
        shown[w] = 1;
        hg_typeset_part(p->m, w, list->item[k].name, &f);
        formula(p, &f);
        parts(p, w, shown);
    }
}

static void cost(struct page *p, const struct hg_variant *v, const struct fit_cost *c)
{
    static const struct hg_column column[] = {{"operations", 0}, {"per", 90}, {NULL, 0}};
    const char *each = p->m->space == FIT_ROWS ? "row" : "pair";
    const struct {
        unsigned n;
        const char *per;
    } line[] = {
        {c->per_frame, "frame, for the tables"},
        {c->per_pair, hg_format(p->a, "%s, whatever the group", each)},
        {c->per_pair_group,
         hg_format(p->a, p->m->axis.n ? "%s and %s" : "%s", each, p->m->axis.n ? p->m->axis.item[0].name : "")},
        {c->value_per_pair_group,
         hg_format(p->a, p->m->axis.n ? "%s and %s, when only values are wanted" : "%s, when only values are wanted",
                   each, p->m->axis.n ? p->m->axis.item[0].name : "")},
        {c->functions_per_pair, hg_format(p->a, "%s, of them calls of exp, sin, ...", each)},
    };
    surrounded(p, p->f->section, "Cost");
    fputs(p->f->paragraph.before, p->out);
    say(p,
        "Residuals, gradient and Gauss-Newton matrix of the variant %s, %u parameters, arithmetic "
        "operations:",
        v->name, (unsigned)(p->m->param.n + p->m->linear.n));
    fputs(p->f->paragraph.after, p->out);
    struct table t = table(p, column);
    for (size_t k = p->m->space == FIT_ROWS ? 1 : 0; k < sizeof line / sizeof *line; k++) {
        cell_text(&t, hg_format(p->a, "%u", line[k].n));
        cell_text(&t, line[k].per);
        row_end(&t);
    }
    fputs(p->f->table_end, p->out);
}

/* A number as Lua writes it: 1, not 1.0. */
static const char *plain(struct page *p, double x)
{
    char *s = hg_strdup(p->a, hg_number(p->a, x));
    size_t n = strlen(s);
    if (n > 2 && strcmp(s + n - 2, ".0") == 0)
        s[n - 2] = 0;
    return s;
}

/* Worst rounding errors, when they were measured. */
static void accuracy(struct page *p, const struct hg_variant *v, const struct hg_accuracy *a)
{
    static const struct hg_column column[] = {{"value", 0}, {"ulp", 90}, {NULL, 0}};
    if (!a || !hg_places_declared(a->box))
        return;
    surrounded(p, p->f->section, "Rounding");
    fputs(p->f->paragraph.before, p->out);
    say(p,
        "Largest errors found within the bounds, for the variant %s, in units of the last place "
        "(2.2e-16):",
        v->name);
    fputs(p->f->paragraph.after, p->out);
    struct table t = table(p, column);
    for (uint32_t k = 0; k < a->n; k++) {
        double ulp = a->output[k].ulp;
        cell_text(&t, a->output[k].name);
        cell_text(&t, ulp < 1e6 ? hg_format(p->a, "%.*f", ulp < 10 ? 1 : 0, ulp) : hg_format(p->a, "%.1e", ulp));
        row_end(&t);
    }
    fputs(p->f->table_end, p->out);
}

static const char *with_value(struct page *p, const char *text, const char *name, double x)
{
    return isnan(x) ? text : hg_format(p->a, "%s%s%s = %s", text, *text ? ", " : "", name, plain(p, x));
}

static const char *test_values(struct page *p, const char *text, const struct hg_list *list, const double *x)
{
    for (uint32_t k = 0; k < list->n; k++)
        if (list->item[k].role == FIT_ROLE_COVARIATE)
            text = with_value(p, text, list->item[k].name, x[k]);
    return text;
}

static void tests(struct page *p)
{
    const struct hg_column column[] = {{p->m->observable, 0}, {"variant", 0}, {"at", 105}, {NULL, 0}};
    if (p->m->ntest == 0)
        return;
    surrounded(p, p->f->section, "Test points");
    paragraph(p, "Values that the build compares with what the compiler's interpreter finds.");
    struct table t = table(p, column);
    for (uint32_t k = 0; k < p->m->ntest; k++) {
        const struct hg_test *x = &p->m->test[k];
        const char *text = test_values(p, "", &p->m->column, x->column);
        text = test_values(p, text, &p->m->axis, x->coord);
        if (p->m->space == FIT_PAIRS && x->step > 0) {
            text = with_value(p, text, "t1", x->t1);
            text = with_value(p, text, "t2", x->t2);
            text = with_value(p, text, "dt", x->step);
        }
        text = test_values(p, text, &p->m->setting, x->setting);
        text = test_values(p, text, &p->m->param, x->param);
        text = test_values(p, text, &p->m->linear, x->linear);
        text = test_values(p, text, &p->m->derived, x->derived);
        cell_text(&t, isnan(x->expected) ? "" : plain(p, x->expected));
        cell_text(&t, x->variant);
        cell_text(&t, text);
        row_end(&t);
    }
    fputs(p->f->table_end, p->out);
}

static void head(struct page *p)
{
    const struct hg_model *m = p->m;
    if (m->reference) {
        fputs(p->f->paragraph.before, p->out);
        say(p, "Reference: ");
        p->f->text(p->out, m->reference);
        fputs(p->f->paragraph.after, p->out);
    }
    if (m->validity)
        paragraph(p, m->validity);
}

static void identity(struct page *p)
{
    const struct hg_model *m = p->m;
    surrounded(p, p->f->section, "File");
    fputs(p->f->paragraph.before, p->out);
    say(p, "Made from ");
    p->f->code(p->out, m->file);
    say(p, "; SHA-256 ");
    p->f->code(p->out, m->hash);
    say(p, ", as in the results of fits with this model.");
    for (const char *const *alias = m->alias; alias && *alias; alias++) {
        say(p, alias == m->alias ? " In configurations the model is also called " : ", ");
        p->f->code(p->out, *alias);
    }
    say(p, "%s", m->alias ? "." : "");
    fputs(p->f->paragraph.after, p->out);
}

void hg_page_equations(struct hg_model *m, const struct hg_variant *v, const struct hg_page_format *f, FILE *out)
{
    struct page p = {.m = m, .a = m->expr->arena, .f = f, .out = out};
    HG_SCRATCH unsigned char *shown = hg_zeros(m->nwritten + 1, 1);
    hg_written_primes(m);
    mean(&p, v, shown);
}

void hg_page(struct hg_model *m, const struct hg_variant *v, const struct hg_analysis *found,
             const struct hg_page_format *f, FILE *out)
{
    struct page p = {.m = m, .a = m->expr->arena, .f = f, .out = out};
    unsigned char *shown = hg_alloc(p.a, m->nwritten + 1);
    hg_written_primes(m);
    f->begin(out, m->title ? m->title : m->name, hg_format(p.a, "homodyne-%s", m->name));
    head(&p);
    equations(&p, shown);
    parameters(&p);
    data(&p);
    derivatives(&p);
    variants(&p, shown);
    followers(&p, "Curves", &m->curve, shown);
    followers(&p, "Derived quantities", &m->derived, shown);
    cost(&p, v, &found->cost);
    accuracy(&p, v, found->accuracy);
    tests(&p);
    identity(&p);
    fputs(f->end, out);
}
