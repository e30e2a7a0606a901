/* emit_gpu.c -- the frame of the kernels for accelerators: head, tables, passes, and their description for the host.
 *
 * Takes the results of emit.c; writes a file that three languages read. It adds no tables: `prepare` of the kernel for
 * processors fills the workspace.
 */
#include "emit/emit_gpu.h"

#include <string.h>

#include "graph/functions.h"

/* Sums of one set of parameters that have passes. */
enum { MOST_NUMBERS = 1000 };

static const char *const kind_name[] = {"moments", "normal", "cross", "gradient", "value"};
static const char *const kind_says[] = {
    "For each group the sums of b_p b_q, b_p d, d^2; b: what a linear parameter multiplies, d: the data less the rest",
    "Sums of J_k J_l, k <= l, and J_k r; J: derivatives of the mean by the parameters, r: the data less the mean",
    "For each group the sums of b_q J_k; b: what a linear parameter multiplies, J: derivatives by the parameters",
    "Derivatives by the parameters of the log density in which the linear parameters are integrated out",
    "The mean"};
static const char *const law_says[] = {
    "For each group -2 times the log density",
    "Minus its second derivatives by the parameters k <= l, and its first ones", "",
    "Derivatives of the log density by the parameters", "The mean"};
static const char *const kind_constant[] = {"FIT_GPU_MOMENTS", "FIT_GPU_NORMAL", "FIT_GPU_CROSS", "FIT_GPU_GRADIENT",
                                            "FIT_GPU_VALUE"};

/* 1: the numbers of each of so many parts fit into registers. */
static int parts_fit(struct hg_gpu *x, uint32_t n, uint32_t parts, hg_gpu_kept *kept)
{
    for (uint32_t k = 0; k < parts; k++) {
        const uint32_t from = n * k / parts, to = n * (k + 1) / parts;
        if (to - from > HG_GPU_SUMS || (to - from > 1 && kept && kept(x, from, to) > HG_GPU_KEPT))
            return 0;
    }
    return 1;
}

void hg_gpu_parts(struct hg_gpu *x, uint32_t n, hg_gpu_kept *kept,
                  void (*write)(struct hg_gpu *x, uint32_t from, uint32_t to))
{
    uint32_t parts = n ? 1 : 0;
    while (parts < n && !parts_fit(x, n, parts, kept))
        parts++;
    for (x->part = 0; x->part < parts; x->part++)
        write(x, n * x->part / parts, n * (x->part + 1) / parts);
    x->part = 0;
}

void hg_gpu_open(struct hg_gpu *x, enum fit_gpu_kind kind, uint32_t first, uint32_t count, int groups)
{
    struct hg_arena *a = x->em->e->arena;
    const char *name = hg_format(a, "%s_%s_%u", x->name, kind_name[kind], x->part);
    x->pass = hg_grow(a, x->pass, x->npass, x->npass + 1, sizeof *x->pass, &x->pass_room);
    x->tables = "w";
    x->pass[x->npass++] = (struct fit_gpu_pass){name, kind, first, count, groups, NULL};
    hg_put(x->out, "/* %s%s. */\n", (x->em->density ? law_says : kind_says)[kind],
           first ? hg_format(a, "; from number %u on", first) : "");
    hg_open_function(x->out, "FIT_INLINE void", hg_format(a, "%s_of", name),
                     kind == FIT_GPU_VALUE ? "const struct fit_gpu_task *t, FIT_GLOBAL double *fit_out"
                                           : "const struct fit_gpu_task *t, double *fit_sum");
}

void hg_gpu_close(struct hg_gpu *x)
{
    const struct fit_gpu_pass *p = &x->pass[x->npass - 1];
    hg_close_function(x->out);
    if (p->kind == FIT_GPU_VALUE)
        hg_put(x->out, "FIT_GPU_VALUES(%s)\n\n", p->name);
    else
        hg_put(x->out, "FIT_GPU_SUMS(%s, %u)\n\n", p->name, p->count);
}

void hg_gpu_declare_sums(struct hg_gpu *x, const char *stem, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        hg_put(x->out, "%*s%s%s%u = 0.0%s", k % 8 ? 0 : 4 * x->out->depth, "", k % 8 ? " " : "double ", stem, k,
               k % 8 == 7 || k + 1 == n ? ";\n" : ",");
}

/* Number `at` of the sums of b_p b_q, b_p d, d^2, p <= q < Q: its two factors, Q stands for d. */
static void moment_factors(uint32_t Q, uint32_t at, uint32_t *p, uint32_t *q)
{
    *p = 0;
    while (*p < Q && at >= Q - *p)
        at -= Q - (*p)++;
    if (*p < Q) {
        *q = *p + at;
        return;
    }
    *p = at < Q ? at : Q;
    *q = Q;
}

const char *hg_gpu_number(const struct hg_gpu *x, enum fit_gpu_kind kind, uint32_t n)
{
    const struct hg_plan *p = x->em->p;
    const struct hg_model *m = p->model;
    uint32_t k, l;
    if (kind == FIT_GPU_GRADIENT)
        return m->param.item[n].name;
    if (kind == FIT_GPU_CROSS)
        return hg_format(x->em->e->arena, "%s, %s", m->linear.item[n / p->nparam].name,
                         m->param.item[n % p->nparam].name);
    const int linear = kind == FIT_GPU_MOMENTS;
    const uint32_t N = linear ? p->nlinear : p->nparam;
    moment_factors(N, n, &k, &l);
    const char *first = k == N ? "data" : linear ? m->linear.item[k].name : m->param.item[k].name;
    const char *second = l == N ? (linear ? "data" : "residual") : linear ? m->linear.item[l].name
                                                                         : m->param.item[l].name;
    return hg_format(x->em->e->arena, "%s, %s", first, second);
}

void hg_gpu_store_sums(struct hg_gpu *x, uint32_t n)
{
    const struct fit_gpu_pass *p = &x->pass[x->npass - 1];
    for (uint32_t k = 0; k < n; k++)
        hg_do(x->out, "fit_sum[%u] = s_%u; /* %s */", k, k, hg_gpu_number(x, p->kind, p->first + k));
}

/* The mean: terms without a basis function first, the others fused with them. */
const char *hg_gpu_mean(struct hg_gpu *x, struct hg_code *c)
{
    const struct hg_plan *p = x->em->p;
    const struct hg_form *f = x->em->form;
    struct hg_arena *a = c->e->arena;
    const char *s = hg_is_value(c->e, f->rest, 0.0) ? NULL : hg_code_factor(c, f->rest);
    for (uint32_t q = 0; q < p->nlinear; q++)
        if (hg_is_value(c->e, f->basis[q], 1.0))
            s = s ? hg_format(a, "%s + %s", s, hg_code_text(c, p->linear[q])) : hg_code_text(c, p->linear[q]);
    for (uint32_t q = 0; q < p->nlinear; q++) {
        if (hg_is_value(c->e, f->basis[q], 1.0))
            continue;
        const char *l = hg_code_text(c, p->linear[q]), *b = hg_code_factor(c, f->basis[q]);
        s = s ? hg_format(a, "fit_vfma(%s, %s, %s)", l, b, s) : hg_format(a, "%s*%s", l, b);
    }
    return s ? s : "0.0";
}

void hg_gpu_add_moments(struct hg_gpu *x, struct hg_code *c, uint32_t from, uint32_t to)
{
    const uint32_t Q = x->em->p->nlinear;
    const struct hg_form *f = x->em->form;
    if (hg_is_value(c->e, f->rest, 0.0))
        hg_declare(c->out, "const double", "b_%u = y;", Q);
    else
        hg_declare(c->out, "const double", "b_%u = y - (%s);", Q, hg_code_text(c, f->rest));
    for (uint32_t q = 0; q < Q; q++)
        hg_declare(c->out, "const double", "b_%u = %s; /* multiplies %s */", q, hg_code_text(c, f->basis[q]),
                   x->em->p->model->linear.item[q].name);
    for (uint32_t n = from; n < to; n++) {
        uint32_t p, q;
        moment_factors(Q, n, &p, &q);
        hg_do(c->out, "s_%u = fit_vfma(weight*b_%u, b_%u, s_%u);", n - from, p, q, n - from);
    }
}

/* 1 when the graph needs more than exponentials and circular functions; *lacks: the function that has no text there. */
static int needs_special(const struct hg_emit *em, const char **lacks)
{
    static const char *const simple[] = {"exp", "log", "expm1", "log1p", "sin", "cos", "tan", "asin", "acos", "atan",
                                         "sinh", "cosh", "tanh", "asinh", "erf", "erfc", "sinc", "dsinc", "d2sinc",
                                         "sqrt", "abs", "fabs", "floor", "ceil", "round", "sign", "cbrt", "softplus",
                                         "logistic", "sinc_series", "dsinc_series", "pow", "min", "max"};
    int special = 0;
    for (hg_id id = 1; id < em->e->n; id++) {
        const enum hg_op op = hg_at(em->e, id)->op;
        const struct hg_function *f = hg_function(op);
        int found = !f;
        for (size_t k = 0; f && k < sizeof simple / sizeof *simple; k++)
            found |= strcmp(f->vector, simple[k]) == 0;
        special |= !found || hg_many(op) != NULL;
        if (op >= HG_GAMMA_P && op <= HG_GAMMA_DENSITY)
            *lacks = "incomplete gamma functions";
    }
    return special;
}

static void write_head(const struct hg_emit *em, FILE *out)
{
    const struct hg_model *m = em->p->model;
    const char *lacks = NULL;
    fprintf(out,
            "/* Kernels of %s for accelerators -- written by homodyne-gen from %s.  Edit the model, not this file.\n"
            " *\n * One text, read as CUDA C, OpenCL C and plain C: fit/gpu.h says how, and what a block and a thread\n"
            " * work on.  Names are those of the kernel for processors:\n"
            " * t, l, w    what a thread works on, the layout of the data, tables of the workspace\n"
            " * i, j, g    first and second frame of a pair, its group; row: of a table\n"
            " * m_, F_     channels, sums over groups of their products; u_: small factors of parameters\n"
            " * s_         sums of a thread\n"
            " * fit_vd, fit_vm are vectors there, a double and a truth here.\n */\n",
            m->name, m->file);
    fprintf(out, "#define FIT_GPU_OF_ITEM %d /* 1: an item is of one group; 0: the block says which */\n",
            m->space == FIT_ROWS);
    fprintf(out, "#define FIT_GPU_AXES %u\n#define FIT_GPU_TABLE_COLUMNS %u\n", m->axis.n ? m->axis.n : 1,
            m->column.n ? m->column.n : 1);
    if (needs_special(em, &lacks))
        fputs("#define FIT_GPU_SPECIAL 1\n", out);
    fputs("#include \"fit/gpu.h\"\n\n", out);
}

/* What the host knows. */
static void write_program(const struct hg_gpu *x, const char *lacks, FILE *out)
{
    const struct hg_model *m = x->em->p->model;
    fputs("#ifdef FIT_GPU_PLAIN\n#include \"fit/gpu_program.h\"\n\n", out);
    if (x->npass) {
        fputs("static const struct fit_gpu_pass passes[] = {\n", out);
        for (uint32_t k = 0; k < x->npass; k++)
            fprintf(out, "    {\"%s\", %s, %u, %u, %d, %s},\n", x->pass[k].name, kind_constant[x->pass[k].kind],
                    x->pass[k].first, x->pass[k].count, x->pass[k].groups, x->pass[k].name);
        fputs("};\n\n", out);
    }
    fputs("extern const struct fit_gpu_program FIT_GPU_SYMBOL;\n", out);
    fprintf(out, "const struct fit_gpu_program FIT_GPU_SYMBOL = {\n    .name = \"%s\",\n    .variant = \"%s\",\n"
                 "    .hash = \"%s\",\n    .axes = FIT_GPU_AXES,\n    .columns = FIT_GPU_TABLE_COLUMNS,\n",
            m->name, x->em->variant, m->hash);
    if (lacks)
        fprintf(out, "    .lacks = \"%s\",\n", lacks);
    if (x->npass)
        fprintf(out, "    .npass = %u,\n    .pass = passes,\n", x->npass);
    fputs("};\n#endif\n", out);
}

void hg_emit_gpu(struct hg_emit *em, FILE *out)
{
    struct hg_arena *a = em->e->arena;
    const struct hg_model *m = em->p->model;
    const char *variant = strcmp(em->variant, "fast") ? hg_format(a, "_%s", em->variant) : "", *lacks = NULL;
    struct hg_gpu x = {.em = em, .out = hg_tree_new(a), .name = hg_format(a, "fit_%s%s", m->name, variant)};
    const uint32_t nfield = em->nfield;
    const uint64_t K = m->param.n, Q = m->linear.n, numbers = Q * (Q + 3) / 2 + K * (K + 3) / 2 + Q * K;
    struct hg_tree *tables = hg_tree_new(a);
    needs_special(em, &lacks);
    if (numbers > MOST_NUMBERS)
        lacks = "so many parameters";
    if (!lacks && m->space == FIT_PAIRS)
        hg_gpu_pairs(&x);
    else if (!lacks)
        hg_gpu_rows(&x);
    if (em->nfield != nfield)
        hg_bug("gpu: the table %s is not one of the kernel for processors", em->field[nfield].name);
    write_head(em, out);
    if (!lacks) {
        hg_emit_gpu_tables(em, tables);
        hg_tree_trim(tables);
        hg_tree_trim(x.out);
        hg_tree_print(tables, out);
        hg_tree_print(x.out, out);
    }
    write_program(&x, lacks, out);
}
