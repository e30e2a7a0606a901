/* emit.c -- a kernel file from a variant of a model: the pieces in the order of the template. */
#include "emit/emit.h"

#include <stdlib.h>
#include <string.h>

#include "judge/accuracy.h"
#include "emit/emit_desc.h"
#include "base/tmpl.h"

extern const unsigned char embedded_kernel_c_tmpl[];

struct pieces {
    struct hg_emit *em;
    char *text[8]; /* in the order of piece_name */
};

static const char *const piece_name[] = {"tables", "prepare", "sums", "points", "combinations"};

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

static void head(struct hg_emit *em, FILE *out)
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
    const struct hg_variant *v = hg_model_variant(m, em->variant);
    if (v && v->accuracy) {
        fprintf(out,
                " *\n * worst rounding error found, of the direct formula, in units of the last place of the result, "
                "or of\n"
                " * what rounding its inputs changes where that is more; at %lu places of the declared box\n",
                v->accuracy->places);
        hg_accuracy_print(v->accuracy, " *   ", 98, out);
    }
}

/* Calls of vector functions in what was written. */
static unsigned calls(const struct pieces *p)
{
    unsigned n = 0;
    for (size_t k = 0; k < sizeof piece_name / sizeof *piece_name; k++)
        for (const char *s = p->text[k]; (s = strstr(s, "fit_v")) != NULL; s++) {
            size_t letters = strspn(s + 5, "abcdefghijklmnopqrstuvwxyz0123456789");
            n += s[5 + letters] == '(' && strncmp(s + 5, "load", 4) != 0 &&
                 (s[5] != 's' || strncmp(s + 5, "sin", 3) == 0);
        }
    return n;
}

/* Large kernels take the C compiler minutes when all is inlined and optimised as small ones are: there functions
 * are called, and blocks as well. */
static void compile_lightly(struct pieces *p, FILE *out)
{
    enum { MOST_INLINED = 400 };
    static const char from[] = "\nFIT_INLINE ", to[] = "\nFIT_CALLED "; /* of equal length */
    unsigned n = calls(p);
    if (n <= MOST_INLINED)
        return;
    fprintf(out, "#define FIT_VMATH_CALLED /* %u calls of vector functions: too many to be inlined */\n"
                 "#if defined(__GNUC__) && !defined(__clang__)\n#pragma GCC optimize(\"O1\")\n#endif\n", n);
    for (size_t k = 0; k < sizeof piece_name / sizeof *piece_name; k++)
        for (char *s = p->text[k]; (s = strstr(s, from)) != NULL;)
            memcpy(s, to, sizeof to - 1);
}

static void fill(void *user, const char *name, FILE *out)
{
    struct pieces *p = user;
    for (size_t k = 0; k < sizeof piece_name / sizeof *piece_name; k++)
        if (strcmp(name, piece_name[k]) == 0) {
            fputs(p->text[k], out);
            if (*p->text[k])
                fputc('\n', out);
            return;
        }
    if (strcmp(name, "calls") == 0)
        compile_lightly(p, out);
    else if (strcmp(name, "head") == 0)
        head(p->em, out);
    else if (strcmp(name, "descriptor") == 0)
        hg_emit_desc(p->em->p->model, p->em->variant, p->em->p->intercept, &p->em->cost, p->em->table_doubles,
                     p->em->degenerate, out);
    else
        hg_bug("emit: the template asks for '%s'", name);
}

static char *written(struct hg_emit *em, void (*write)(struct hg_emit *, FILE *))
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        hg_out_of_memory();
    write(em, f);
    fclose(f);
    return text;
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
    if (em->p->model->hessian) {
        fputc('\n', out);
        hg_emit_second(em, out);
    }
}

int hg_emit_kernel(struct hg_model *m, const struct hg_variant *v, struct hg_diag *d, FILE *out, FILE *explain)
{
    struct hg_emit em = {.e = m->expr, .variant = v->name};
    struct pieces p = {.em = &em};
    em.p = hg_plan_new(m, v, d);
    if (!em.p)
        return 0;
    hg_emit_arrange(&em);
    p.text[2] = written(&em, m->density ? hg_emit_density : m->space == FIT_ROWS ? hg_emit_rows : pair_sums);
    p.text[3] = written(&em, points_and_curves);
    p.text[1] = written(&em, hg_emit_prepare);
    p.text[0] = written(&em, hg_emit_tables);
    em.degenerate = hg_degenerate(m, v);
    p.text[4] = written(&em, hg_emit_combine);
    hg_count_cost(&em);
    m->variant[v - m->variant].cost = em.cost;
    hg_template((const char *)embedded_kernel_c_tmpl, m->name, m->file, fill, &p, out);
    if (explain)
        hg_explain(&em, explain);
    for (size_t k = 0; k < sizeof piece_name / sizeof *piece_name; k++)
        free(p.text[k]);
    return 1;
}
