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

static void head(const struct hg_emit *em, const struct hg_accuracy *accuracy, FILE *out)
{
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
    if (accuracy) {
        fprintf(out,
                " *\n * worst rounding error found, of the direct formula, in units of the last place of the result, "
                "or of\n"
                " * what rounding its inputs changes where that is more; at %lu places of the declared box\n",
                accuracy->places);
        hg_accuracy_print(accuracy, " *   ", 98, out);
    }
}

/* Large kernels take the C compiler minutes when all is inlined and optimised as small ones are: there functions
 * are called, and blocks as well. */
static void compile_lightly(const struct hg_emit *em, FILE *out)
{
    if (em->calls > HG_MOST_INLINED)
        fprintf(out, "#define FIT_VMATH_CALLED /* about %u calls of vector functions: too many to be inlined */\n"
                     "#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC optimize(\"O1\")\n#endif\n", em->calls);
}

static void fill(void *user, const char *name, FILE *out)
{
    const struct hg_emit *em = user;
    const struct hg_pieces *text = &em->text;
    const struct {
        const char *name, *text;
    } piece[] = {{"tables", text->tables}, {"prepare", text->prepare}, {"sums", text->sums},
                 {"points", text->points}, {"combinations", text->combinations}};
    for (size_t k = 0; k < sizeof piece / sizeof *piece; k++)
        if (strcmp(name, piece[k].name) == 0) {
            fprintf(out, "%s%s", piece[k].text, *piece[k].text ? "\n" : "");
            return;
        }
    if (strcmp(name, "calls") == 0)
        compile_lightly(em, out);
    else if (strcmp(name, "head") == 0)
        head(em, em->found->accuracy, out);
    else if (strcmp(name, "descriptor") == 0)
        hg_emit_desc(em, em->found->degenerate, out);
    else
        hg_bug("emit: the template asks for '%s'", name);
}

static const char *written(struct hg_emit *em, void (*write)(struct hg_emit *, FILE *))
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        hg_out_of_memory();
    write(em, f);
    fclose(f);
    const char *copy = hg_strdup(em->e->arena, text);
    free(text);
    return copy;
}

static void combinations(struct hg_emit *em, FILE *out)
{
    hg_emit_combine(em, em->found->degenerate, out);
}

static void pair_sums(struct hg_emit *em, FILE *out)
{
    hg_emit_moments(em, out);
    hg_emit_normal(em, out);
    hg_emit_gradient(em, out);
    hg_emit_model(em, out);
}

static void points_and_curves(struct hg_emit *em, FILE *out)
{
    hg_emit_points(em, out);
    fputc('\n', out);
    hg_emit_curves(em, out);
    if (em->hessian) {
        fputc('\n', out);
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
    em->text.tables = written(em, hg_emit_tables);
    hg_count_cost(em);
    return em;
}

void hg_emit_file(struct hg_emit *em, const struct hg_analysis *found, FILE *out)
{
    em->found = found;
    em->text.combinations = written(em, combinations);
    hg_template((const char *)embedded_kernel_c_tmpl, em->p->model->name, em->p->model->file, fill, em, out);
}
