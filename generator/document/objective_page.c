/* objective_page.c -- see objective_page.h. */
#include "document/objective_page.h"

#include <math.h>
#include <string.h>

#include "model/objective.h"

struct sheet {
    struct hg_model *m;
    const struct hg_objective *o;
    struct hg_arena *a;
    const struct hg_page_format *f;
    FILE *out;
    uint32_t cell; /* of the row */
    unsigned char *shown; /* by what is written */
};

static void around(struct sheet *s, struct hg_around how, const char *text)
{
    fputs(how.before, s->out);
    s->f->text(s->out, text);
    fputs(how.after, s->out);
}

/* ---- tables --------------------------------------------------------------------------------------- */

static void open_table(struct sheet *s, const struct hg_column *column, uint32_t n)
{
    s->cell = 0;
    s->f->table(s->out, column, n);
}

static void next_cell(struct sheet *s)
{
    fputs(s->cell ? s->f->cell_end : s->f->row.before, s->out);
    s->f->cell(s->out, s->cell++);
}

static void text(struct sheet *s, const char *words)
{
    next_cell(s);
    s->f->text(s->out, words ? words : "");
}

static void code(struct sheet *s, const char *words)
{
    next_cell(s);
    s->f->code(s->out, words);
}

static void end_row(struct sheet *s)
{
    fputs(s->f->cell_end, s->out);
    fputs(s->f->row.after, s->out);
    s->cell = 0;
}

static void close_table(struct sheet *s)
{
    fputs(s->f->table_end, s->out);
}

/* ---- definitions ----------------------------------------------------------------------------------- */

/* "pixel" of an axis, with rows and columns of a grid. */
static const char *axis_words(struct sheet *s, const struct hg_index *x)
{
    return x->row ? hg_format(s->a, "grid of %s and %s", x->row, x->column) : "plain";
}

static void axes(struct sheet *s)
{
    static const struct hg_column column[] = {{"axis", 0}, {"kind", 0}, {"what it is", 90}};
    around(s, s->f->section, "Axes");
    open_table(s, column, 3);
    for (uint32_t k = 0; k < s->o->naxis; k++) {
        code(s, s->o->axis[k].name);
        text(s, axis_words(s, &s->o->axis[k]));
        text(s, s->o->axis[k].doc);
        end_row(s);
    }
    close_table(s);
}

static void unit(struct sheet *s, const struct hg_symbol_decl *d)
{
    text(s, strcmp(d->unit, "1") ? d->unit : "");
}

static void arrays(struct sheet *s, enum fit_array_kind kind, const char *title)
{
    static const struct hg_column column[] = {{"array", 0}, {"over", 0}, {"unit", 0}, {"what it is", 80}};
    around(s, s->f->section, title);
    open_table(s, column, 4);
    for (uint32_t k = 0; k < s->o->narray; k++) {
        if (s->o->array[k].kind != kind)
            continue;
        code(s, s->m->column.item[k].name);
        code(s, s->o->axis[s->o->array[k].axis].name);
        unit(s, &s->m->column.item[k]);
        text(s, s->m->column.item[k].doc);
        end_row(s);
    }
    close_table(s);
}

static void numbers(struct sheet *s)
{
    static const struct hg_column column[] = {{"number", 0}, {"default", 0}, {"unit", 0}, {"what it is", 80}};
    around(s, s->f->section, "Numbers that are given at run time");
    open_table(s, column, 4);
    for (uint32_t k = 0; k < s->o->nnumber; k++) {
        const struct hg_symbol_decl *d = &s->m->setting.item[k];
        if (s->o->number[k].kind != FIT_NUMBER_HYPER)
            continue;
        code(s, d->name);
        text(s, isnan(d->start) ? "must be given" : hg_format(s->a, "%.6g", d->start));
        unit(s, d);
        text(s, d->doc);
        end_row(s);
    }
    close_table(s);
}

/* ---- how it is computed --------------------------------------------------------------------------- */

/* name = formula, under whatever name a variable of the file has; then the named parts in it that were not shown
 * before. */
static void formula(struct sheet *s, hg_wid written, const char *name)
{
    struct hg_formula f;
    hg_wid *part;
    hg_typeset_part(s->m, written, name, &f);
    f.left = hg_typeset_name(s->a, name);
    s->f->formula(s->out, &f);
    s->shown[written] = 1;
    const uint32_t n = hg_written_parts(s->m, written, &part);
    for (uint32_t k = 0; k < n; k++) {
        if (s->shown[part[k]])
            continue;
        s->shown[part[k]] = 1;
        hg_typeset_part(s->m, part[k], NULL, &f);
        s->f->formula(s->out, &f);
    }
}

static const char *of_arrays(struct sheet *s, const uint32_t *array, uint32_t n)
{
    const char *first = s->m->column.item[array[0]].name;
    return n == 1 ? first : hg_format(s->a, "%s, %s", first, s->m->column.item[array[1]].name);
}

static void operation(struct sheet *s, const struct hg_operation *q)
{
    static const char *const does[] = {"sums over the grid of row factors times column factors", "differences along",
                                       "elements at the places", "square matrices of runs", "a matrix"};
    const struct hg_objective *o = s->o;
    fputs(s->f->paragraph.before, s->out);
    s->f->code(s->out, of_arrays(s, q->out, q->nout));
    s->f->text(s->out, hg_format(s->a, ": %s ", does[q->kind]));
    s->f->code(s->out, q->data);
    s->f->text(s->out, " of ");
    s->f->code(s->out, of_arrays(s, q->in, q->nin));
    s->f->text(s->out, hg_format(s->a, ", over %s.", o->axis[q->to].name));
    fputs(s->f->paragraph.after, s->out);
}

static void total(struct sheet *s, const struct hg_number_of *n, const char *name)
{
    if (n->squares) {
        around(s, s->f->paragraph, hg_format(s->a, "%s: the sum of squares over %s of what stands before it.", name,
                                             s->o->axis[n->axis].name));
        return;
    }
    around(s, s->f->paragraph, hg_format(s->a, "%s: the sum over %s of", name, s->o->axis[n->axis].name));
    formula(s, n->written, hg_format(s->a, "%s_element", name));
}

static void steps(struct sheet *s)
{
    around(s, s->f->section, "Steps, in their order");
    for (uint32_t k = 0; k < s->o->nstep; k++) {
        const struct hg_step *step = &s->o->step[k];
        if (!step->need)
            continue;
        if (step->kind == HG_APPLY)
            operation(s, &s->o->operation[step->of]);
        else if (step->kind == HG_KEEP)
            formula(s, s->o->array[step->of].written, s->m->column.item[step->of].name);
        else
            total(s, &s->o->number[step->of], s->m->setting.item[step->of].name);
    }
}

static void terms(struct sheet *s)
{
    static const char *const kind[] = {"data", "regularizer", "prior"};
    static const struct hg_column column[] = {{"term", 0},   {"kind", 0}, {"offset", 0}, {"weight", 0},
                                              {"squares", 0}, {"what it is", 70}};
    around(s, s->f->section, "Terms");
    around(s, s->f->paragraph, "J is the sum over terms in use of weight times (value + offset).");
    open_table(s, column, 6);
    for (uint32_t k = 0; k < s->o->nterm; k++) {
        const struct hg_term *t = &s->o->term[k];
        code(s, t->name);
        text(s, kind[t->kind]);
        text(s, hg_format(s->a, "%g", t->offset));
        text(s, hg_format(s->a, "%g", t->weight));
        text(s, t->residual ? "yes" : "");
        text(s, t->doc);
        end_row(s);
    }
    close_table(s);
    for (uint32_t k = 0; k < s->o->nterm; k++)
        formula(s, s->o->term[k].written, s->o->term[k].name);
}

void hg_objective_page(struct hg_model *m, const struct hg_page_format *f, FILE *out)
{
    struct sheet s = {.m = m, .o = m->objective, .a = m->expr->arena, .f = f, .out = out};
    s.shown = hg_alloc(s.a, m->nwritten + 1);
    hg_written_primes(m);
    f->begin(out, m->title ? m->title : m->name, hg_format(s.a, "homodyne-%s", m->name));
    if (m->formula)
        around(&s, f->paragraph, m->formula);
    if (m->reference)
        around(&s, f->paragraph, hg_format(s.a, "Reference: %s", m->reference));
    arrays(&s, FIT_ARRAY_FREE, "What is solved for");
    terms(&s);
    steps(&s);
    axes(&s);
    arrays(&s, FIT_ARRAY_DATA, "Data");
    numbers(&s);
    around(&s, f->section, "File");
    fputs(f->paragraph.before, out);
    f->text(out, "Made from ");
    f->code(out, m->file);
    f->text(out, "; SHA-256 ");
    f->code(out, m->hash);
    fputs(f->paragraph.after, out);
    fputs(f->end, out);
}
