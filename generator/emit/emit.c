/* emit.c -- a kernel file from a variant of a model: the pieces in the order of the template. */
#include "emit/emit.h"

#include <stdlib.h>
#include <string.h>

#include "emit/emit_desc.h"
#include "base/tmpl.h"

extern const unsigned char embedded_kernel_c_tmpl[];

/* Text laid out in lines of at most `width` characters after a prefix. */
static void paragraph(FILE *out, const char *prefix, const char *text, int width)
{
    int column = 0;
    while (*text) {
        size_t n = strcspn(text, " \n");
        if (column && column + 1 + (int)n > width) {
            fputc('\n', out);
            column = 0;
        }
        fputs(column ? " " : prefix, out);
        fprintf(out, "%.*s", (int)n, text);
        column += (column ? 1 : 0) + (int)n;
        text += n;
        if (*text == '\n' && column) {
            fputc('\n', out);
            column = 0;
        }
        text += *text != 0;
    }
    if (column)
        fputc('\n', out);
}

static void list_of(FILE *out, const char *title, const struct hg_list *list)
{
    for (uint32_t k = 0; k < list->n; k++)
        fprintf(out, " *   %-9s %2u  %-20s [%s]\n", k ? "" : title, k, list->item[k].name, list->item[k].unit);
}

/* The meaning of the names of the functions below. */
static const char pair_names[] =
    " *\n"
    " * l, t, w    the layout of the data, a tile of them (frames i0 .. i1-1 by j0 .. j1-1), the tables below\n"
    " * i, j, g    first and second frame of a pair, its group; a vector holds pairs (i, j), (i, j+1), ..., a block b\n"
    " *            FIT_LANES of them, beginning with lane h\n"
    " * y, r       the data, the residual y - mean; use, weight, root: lanes that count, weights, their roots\n"
    " * b_X        the basis function that the linear parameter X multiplies\n"
    " * m_C        a channel: d mean / d C of an integral or factor C; u_C_X = d C / d X, small, of a parameter X\n"
    " * F, field   products of two channels, or of a channel and the residual, summed over groups\n"
    " * H          sums of J^T J, upper triangle row by row, then of J^T r, for J = d mean / d theta = sum of m_C u_C\n"
    " * V          cross moments sum b_X d mean / d theta of each group\n"
    " * column, row, row_sum   the sums of these down the columns, along a row, and times tables\n"
    " * down, along            sums of fields, the same, that get their other factor later\n"
    " * pair       what does not depend on the group; exps: whether the tables of an exponential serve in this tile\n"
    " * sums       of b_X b_Y, b_X y, y y for each group; scratch: memory for all sums, in vectors\n";
static const char row_names[] =
    " *\n"
    " * l, t, w    the layout of the data, a tile of them (rows i0 .. i1-1), the tables below\n"
    " * row, at    first row of a vector, its place in the tile; g the group of the tile\n"
    " * y, r       the data, the residual y - mean; weight: of a row, 0 where it does not count\n"
    " * b          basis functions that the linear parameters multiply\n"
    " * m          d mean / d theta_k over factor[k], which is the same for all rows\n"
    " * H, G, V    sums of J^T J (upper triangle, row by row), J^T r, and of b times J, for J = d mean / d theta\n"
    " * scratch    memory for the sums, in vectors\n";

static void head(const struct hg_emit *em, FILE *out)
{
    const struct hg_accuracy *accuracy = em->found->accuracy;
    const struct hg_model *m = em->p->model;
    paragraph(out, " * ", m->title ? m->title : m->name, 96);
    if (m->formula) {
        fprintf(out, " *\n");
        paragraph(out, " *     ", m->formula, 100);
    }
    fprintf(out, " *\n");
    list_of(out, "theta", &m->param);
    list_of(out, "lin", &m->linear);
    list_of(out, "setting", &m->setting);
    list_of(out, "group", &m->axis);
    list_of(out, "column", &m->column);
    fprintf(out, " *\n * cost of normal, operations: %u per frame, %u per %s, %u per %s and group; of moments %u\n",
            em->cost.per_frame, em->cost.per_pair, m->space == FIT_ROWS ? "row" : "pair", em->cost.per_pair_group,
            m->space == FIT_ROWS ? "row" : "pair", em->cost.value_per_pair_group);
    fputs(m->space == FIT_ROWS ? row_names : pair_names, out);
    if (accuracy) {
        fprintf(out,
                " *\n * worst rounding error found, of the direct formula, in units of the last place of the result, "
                "or of\n"
                " * what rounding its inputs changes where that is more; at %lu places of the declared box\n",
                accuracy->places);
        hg_accuracy_print(accuracy, " *   ", 98, out);
        hg_rule_error_print(em->found->rules, " *   ", out);
    }
}

/* Large kernels take the C compiler minutes when everything is inlined and optimised as in small ones. In them,
 * functions are called, and so are blocks. */
static void compile_lightly(const struct hg_emit *em, FILE *out)
{
    if (em->calls > HG_MOST_INLINED)
        fprintf(out, "#define FIT_VMATH_CALLED /* about %u calls of vector functions: too many to be inlined */\n"
                     "#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC optimize(\"O1\")\n#endif\n", em->calls);
}

static void include_special(const struct hg_emit *em, FILE *out)
{
    for (hg_id id = 1; id < em->e->n; id++)
        if (hg_at(em->e, id)->op >= HG_GAMMA_P && hg_at(em->e, id)->op <= HG_GAMMA_DENSITY) {
            fputs("#include \"fit/vmath_incomplete.h\"\n", out);
            return;
        }
}

static void fill(void *user, const char *name, FILE *out)
{
    const struct hg_emit *em = user;
    const struct hg_pieces *text = &em->text;
    const struct {
        const char *name;
        const struct hg_tree *text;
    } piece[] = {{"tables", text->tables}, {"carve", text->carve},   {"prepare", text->prepare},
                 {"sums", text->sums},     {"points", text->points}, {"combinations", text->combinations}};
    for (size_t k = 0; k < sizeof piece / sizeof *piece; k++)
        if (strcmp(name, piece[k].name) == 0) {
            hg_tree_print(piece[k].text, out);
            return;
        }
    if (strcmp(name, "special") == 0)
        include_special(em, out);
    else if (strcmp(name, "calls") == 0)
        compile_lightly(em, out);
    else if (strcmp(name, "head") == 0)
        head(em, out);
    else if (strcmp(name, "descriptor") == 0)
        hg_emit_desc(em, em->found->degenerate, out);
    else
        hg_bug("emit: the template asks for '%s'", name);
}

static struct hg_tree *written(struct hg_emit *em, void (*write)(struct hg_emit *, struct hg_tree *))
{
    struct hg_tree *t = hg_tree_new(em->e->arena);
    write(em, t);
    if (!hg_tree_empty(t))
        hg_put(t, "\n");
    hg_tree_trim(t);
    return t;
}

/* Loops in all that is written, in the order of the file. */
static void roll(struct hg_emit *em)
{
    struct hg_pieces *x = &em->text;
    struct hg_tree *const piece[] = {x->carve, x->prepare, x->sums, x->points, x->combinations};
    const char **table = hg_alloc(em->e->arena, em->ntable * sizeof *table);
    for (uint32_t k = 0; k < em->ntable; k++)
        table[k] = em->table[k].name;
    em->rolls = (struct hg_rolls){.table = table, .ntable = em->ntable};
    for (size_t k = 0; k < sizeof piece / sizeof *piece; k++)
        hg_roll(piece[k], &em->rolls);
}

static void combinations(struct hg_emit *em, struct hg_tree *out)
{
    hg_emit_combine(em, em->found->degenerate, out);
}

static void pair_sums(struct hg_emit *em, struct hg_tree *out)
{
    hg_emit_moments(em, out);
    hg_emit_normal(em, out);
    hg_emit_gradient(em, out);
    hg_emit_model(em, out);
}

static void points_and_curves(struct hg_emit *em, struct hg_tree *out)
{
    hg_emit_points(em, out);
    hg_put(out, "\n");
    hg_emit_curves(em, out);
    if (em->p->model->derived.n) {
        hg_put(out, "\n");
        hg_emit_derive(em, out);
    }
    if (em->hessian) {
        hg_put(out, "\n");
        hg_emit_second(em, out);
    }
}

struct hg_emit *hg_emit_functions(struct hg_form *form, const struct hg_variant *v, int hessian)
{
    struct hg_emit *em = hg_alloc(form->p->e->arena, sizeof *em);
    *em = (struct hg_emit){.p = form->p, .e = form->p->e, .form = form, .variant = v->name, .hessian = hessian};
    const struct hg_model *m = em->p->model;
    em->calls = hg_count_calls(em);
    em->inlined = em->calls > HG_MOST_INLINED ? "FIT_CALLED" : "FIT_INLINE";
    em->text.sums = written(em, m->density ? hg_emit_density : m->space == FIT_ROWS ? hg_emit_rows : pair_sums);
    em->text.points = written(em, points_and_curves);
    em->text.prepare = written(em, hg_emit_prepare);
    hg_emit_list_tables(em);
    em->text.carve = written(em, hg_emit_carve);
    hg_count_cost(em);
    return em;
}

void hg_emit_file(struct hg_emit *em, const struct hg_analysis *found, FILE *out)
{
    em->found = found;
    em->text.combinations = written(em, combinations);
    roll(em);
    em->text.tables = written(em, hg_emit_tables);
    hg_template((const char *)embedded_kernel_c_tmpl, em->p->model->name, em->p->model->file, fill, em, out);
}
