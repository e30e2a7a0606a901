/* emit_objective.c -- phases of an objective: loops over blocks of elements, calls of operators, sums.
 *
 * Forward: arrays that are kept, operators, sums, in the order of the steps. Backward: the same in reverse order. Where
 * a step has the slope s of its result, each array and number of its formula f that varies with free arrays gets s
 * df/d(it): arrays in place, numbers as sums over blocks.
 *
 * Second derivatives along a direction: forward, the tangent of each array and number that varies, which is the sum of
 * df/d(it) times the tangents of the leaves of its formula f; then backward, the tangents of slopes: s' df/d(it) + s
 * (df/d(it))', where ' is along the tangents (Pearlmutter, Neural Comput. 6, 147 (1994)). Operators are linear:
 * tangents go through them like values.
 */
#include "emit/emit_objective.h"

#include <math.h>
#include <string.h>

#include "base/tmpl.h"
#include "emit/code.h"
#include "emit/objective_desc.h"
#include "emit/tree.h"

extern const unsigned char embedded_objective_c_tmpl[];

struct writer {
    struct hg_model *m;
    struct hg_objective *o;
    struct hg_expr *e;
    struct hg_tree *tree[HG_OBJECTIVE_PASSES], *terms;
    struct hg_objective_phases phases[HG_OBJECTIVE_PASSES];
    const char *prefix; /* before the names of kernels */
    int gpu; /* for accelerators: formulas of values and slopes only */
};

static const char *array_name(const struct writer *w, uint32_t k)
{
    return w->m->column.item[k].name;
}

/* --- formulas ------------------------------------------------------------------------------------------- */

/* Tangents are symbols after all others: of array k, narray + k. */
static const char *leaf(struct hg_code *c, hg_id id)
{
    const struct writer *w = c->user;
    const struct hg_node *n = hg_at(c->e, id);
    const uint32_t most = n->op == HG_COLUMN ? w->o->narray : w->o->nnumber;
    const int dot = n->ref >= most;
    const uint32_t ref = dot ? n->ref - most : n->ref;
    if (n->op != HG_COLUMN)
        return hg_format(c->e->arena, "AT_NUMBER%s(%u)", dot ? "_DOT" : "", ref);
    const char *name = hg_code_unique(c, hg_format(c->e->arena, "%s%s", array_name(w, ref), dot ? "_dot" : ""));
    hg_declare(c->out, "const fit_vd", "%s = fit_vload(AT_%s(%u) + row);", name, dot ? "DOT" : "ARRAY", ref);
    return name;
}

static struct hg_code begin(struct writer *w, struct hg_tree *out, uint32_t nroot, const hg_id *root)
{
    static const char *const names[] = {"c", "row", "from", "to", "block", "n", "end",
                                        "sum", "slope", "slope_dot", "add"};
    struct hg_code c = {.e = w->e,
                        .out = out,
                        .vector_if = HG_R,
                        .source = w->m->file,
                        .units = w->m,
                        .leaf = leaf,
                        .is_leaf = hg_code_is_symbol,
                        .reserve = names,
                        .nreserve = sizeof names / sizeof *names,
                        .user = w};
    hg_code_begin(&c, nroot, root);
    hg_code_push(&c);
    for (uint32_t k = 0; k < nroot; k++)
        hg_code_need(&c, root[k]);
    return c;
}

static void finish(struct hg_code *c)
{
    hg_code_pop(c);
    hg_code_end(c);
}

static const char arguments[] = "const struct fit_functional_call *c, size_t from, size_t to";
static const char gpu_arguments[] = "const struct fit_gpu_call *c, size_t from, size_t to";

/* The loops over blocks and over the vectors of a block. */
static void open_rows(struct hg_tree *out, uint32_t axis, uint32_t nsum)
{
    hg_declare(out, "const size_t", "n = AT_SIZE(%u);", axis);
    hg_open(out, "for (size_t block = from; block < to; block++) {");
    hg_declare(out, "const size_t", "end = block * FIT_BLOCK + FIT_BLOCK < n ? block * FIT_BLOCK + FIT_BLOCK : n;");
    if (nsum)
        hg_declare(out, "fit_vd", "sum[%u] = AT_ZEROS;", nsum);
    hg_open(out, "for (size_t row = AT_ROW(block); row < end; row += AT_STEP) {");
}

static void close_rows(struct writer *w, enum hg_objective_pass pass, uint32_t nsum)
{
    struct hg_tree *out = w->tree[pass];
    hg_close(out);
    for (uint32_t k = 0; k < nsum; k++)
        hg_do(out, "AT_PARTIAL(%u, block) = fit_vsum(sum[%u]);", k, k);
    hg_close(out);
    hg_close_function(out);
    if (w->gpu) {
        const char *function = w->phases[pass].phase[w->phases[pass].n - 1].function;
        hg_put(out, "FIT_GPU_PHASE(%s_%s, %s, %u)\n\n", w->prefix, function, function, nsum);
    }
}

static void add_to_sum(struct hg_code *c, uint32_t k, hg_id id)
{
    hg_do(c->out, "sum[%u] += fit_where_set(LANES(row, n), %s);", k, hg_code_vector(c, id));
}

/* --- phases --------------------------------------------------------------------------------------------- */

static struct hg_objective_phase *add_phase(struct writer *w, enum hg_objective_pass pass, const struct hg_step *s,
                                            const char *name)
{
    static const enum fit_phase_kind kind[] = {
        [HG_KEEP] = FIT_PHASE_FORMULA, [HG_APPLY] = FIT_PHASE_OPERATOR, [HG_ADD] = FIT_PHASE_SUM};
    struct hg_objective_phases *p = &w->phases[pass];
    p->phase = hg_grow(w->e->arena, p->phase, p->n, p->n + 1, sizeof *p->phase, &p->room);
    p->phase[p->n] = (struct hg_objective_phase){
        .name = name,
        .function = hg_format(w->e->arena, "%s_%u", hg_objective_pass_name[pass], p->n),
        .kind = kind[s->kind],
        .need = s->need};
    return &p->phase[p->n++];
}

/* For tangents the phase of an operator is the same. */
static void share_phase(struct writer *w, enum hg_objective_pass pass, const struct hg_objective_phase *of)
{
    struct hg_objective_phases *p = &w->phases[pass];
    p->phase = hg_grow(w->e->arena, p->phase, p->n, p->n + 1, sizeof *p->phase, &p->room);
    p->phase[p->n++] = *of;
}

static void open_phase(struct writer *w, struct hg_tree *out, const struct hg_objective_phase *p, const char *what)
{
    hg_put(out, "/* %s%s */\n", what, p->name);
    hg_open_function(out, w->gpu ? "FIT_INLINE void" : "static void", p->function, w->gpu ? gpu_arguments : arguments);
}

static uint32_t nodes_below(const struct writer *w, uint32_t nroot, const hg_id *root)
{
    HG_SCRATCH unsigned char *mark = hg_zeros(w->e->n, 1);
    uint32_t n = 0;
    for (uint32_t k = 0; k < nroot; k++)
        hg_mark(w->e, root[k], mark);
    for (hg_id id = 1; id < w->e->n; id++)
        n += mark[id] && hg_at(w->e, id)->nargs;
    return n;
}

/* An array that is kept, or its tangent; `to` receives it. */
static void keep_phase(struct writer *w, enum hg_objective_pass pass, const struct hg_step *s, hg_id formula,
                       const char *to)
{
    struct hg_objective_phase *p = add_phase(w, pass, s, array_name(w, s->of));
    p->axis = w->o->array[s->of].axis;
    p->work = 4 + 4 * nodes_below(w, 1, &formula);
    open_phase(w, w->tree[pass], p, pass == HG_FORWARD ? "" : "tangent of ");
    open_rows(w->tree[pass], p->axis, 0);
    struct hg_code c = begin(w, w->tree[pass], 1, &formula);
    hg_do(c.out, "fit_vstore(AT_%s(%u) + row, %s);", to, s->of, hg_code_vector(&c, formula));
    finish(&c);
    close_rows(w, pass, 0);
}

static void add_phase_of(struct writer *w, enum hg_objective_pass pass, const struct hg_step *s, hg_id formula)
{
    struct hg_objective_phase *p = add_phase(w, pass, s, w->m->setting.item[s->of].name);
    p->axis = w->o->number[s->of].axis;
    p->nsum = 1;
    p->sum = hg_alloc(w->e->arena, sizeof *p->sum);
    p->sum[0] = s->of;
    p->work = 4 + 4 * nodes_below(w, 1, &formula);
    open_phase(w, w->tree[pass], p, pass == HG_FORWARD ? "sum of a formula: " : "tangent of a sum: ");
    open_rows(w->tree[pass], p->axis, 1);
    struct hg_code c = begin(w, w->tree[pass], 1, &formula);
    add_to_sum(&c, 0, formula);
    finish(&c);
    close_rows(w, pass, 1);
}

static void keep_forward(struct writer *w, const struct hg_step *s)
{
    const struct hg_array *a = &w->o->array[s->of];
    keep_phase(w, HG_FORWARD, s, a->formula, "ARRAY");
    if (a->moves && !w->gpu)
        keep_phase(w, HG_TANGENT, s, hg_objective_moving(w->m, a->formula).tangent, "DOT");
}

static void add_forward(struct writer *w, const struct hg_step *s)
{
    const struct hg_number_of *n = &w->o->number[s->of];
    add_phase_of(w, HG_FORWARD, s, n->formula);
    if (n->moves && !w->gpu)
        add_phase_of(w, HG_TANGENT, s, hg_objective_moving(w->m, n->formula).tangent);
}

/* The backward phase of a formula: the sums over blocks are slopes of numbers. */
static struct hg_objective_phase *open_back(struct writer *w, enum hg_objective_pass pass, const struct hg_step *s,
                                            uint32_t axis, const char *name, const struct hg_moving *v)
{
    struct hg_objective_phase *p = add_phase(w, pass, s, name);
    p->axis = axis;
    p->nsum = v->n - v->narray;
    p->sum = hg_alloc(w->e->arena, (p->nsum + 1) * sizeof *p->sum);
    for (uint32_t k = v->narray; k < v->n; k++)
        p->sum[k - v->narray] = hg_at(w->e, v->leaf[k])->ref;
    p->work = 4 + 4 * nodes_below(w, v->n, v->part);
    open_phase(w, w->tree[pass], p, pass == HG_BACKWARD ? "by way of " : "second derivatives by way of ");
    open_rows(w->tree[pass], axis, p->nsum);
    return p;
}

/* The contribution to leaf k: an array in place, a number in a sum. */
static void give(struct hg_code *c, const struct hg_moving *v, uint32_t k, const char *to, const char *text)
{
    const struct writer *w = c->user;
    const uint32_t ref = hg_at(w->e, v->leaf[k])->ref;
    if (k < v->narray)
        hg_do(c->out, "add(AT_%s(%u) + row, %s); /* %s */", to, ref, text, array_name(w, ref));
    else
        hg_do(c->out, "sum[%u] += fit_where_set(LANES(row, n), %s); /* %s */", k - v->narray, text,
              w->m->setting.item[ref].name);
}

/* s df/d(leaf) for the leaves of f that vary with free arrays; slope: the text of s, a number or a vector. */
static void formula_back(struct writer *w, const struct hg_step *s, const struct hg_moving *v, uint32_t axis,
                         const char *name, const char *slope)
{
    struct hg_tree *out = w->tree[HG_BACKWARD];
    const struct hg_objective_phase *p = open_back(w, HG_BACKWARD, s, axis, name, v);
    struct hg_code c = begin(w, out, v->n, v->part);
    hg_declare(c.out, "const fit_vd", "slope = %s;", slope);
    for (uint32_t k = 0; k < v->n; k++)
        give(&c, v, k, "SLOPE", hg_format(w->e->arena, "slope*(%s)", hg_code_vector(&c, v->part[k])));
    finish(&c);
    close_rows(w, HG_BACKWARD, p->nsum);
}

/* The same for the tangent of the slope. */
static void formula_second(struct writer *w, const struct hg_step *s, const struct hg_moving *v, uint32_t axis,
                           const char *name, const char *slope, const char *slope_dot)
{
    struct hg_arena *a = w->e->arena;
    struct hg_tree *out = w->tree[HG_SECOND];
    const struct hg_objective_phase *p = open_back(w, HG_SECOND, s, axis, name, v);
    hg_id *root = hg_alloc(a, 2 * (v->n + 1) * sizeof *root);
    memcpy(root, v->part, v->n * sizeof *root);
    memcpy(root + v->n, v->second, v->n * sizeof *root);
    struct hg_code c = begin(w, out, 2 * v->n, root);
    int curved = 0;
    for (uint32_t k = 0; k < v->n; k++)
        curved |= !hg_is_value(w->e, v->second[k], 0);
    hg_declare(c.out, "const fit_vd", "slope_dot = %s;", slope_dot);
    if (curved)
        hg_declare(c.out, "const fit_vd", "slope = %s;", slope);
    for (uint32_t k = 0; k < v->n; k++) {
        const char *text = hg_format(a, "slope_dot*(%s)", hg_code_vector(&c, v->part[k]));
        if (!hg_is_value(w->e, v->second[k], 0))
            text = hg_format(a, "%s + slope*(%s)", text, hg_code_vector(&c, v->second[k]));
        give(&c, v, k, "SLOPE_DOT", text);
    }
    finish(&c);
    close_rows(w, HG_SECOND, p->nsum);
}

/* Backward through a formula, whose result is number or array `of`. */
static void back(struct writer *w, const struct hg_step *s, hg_id formula, uint32_t axis, const char *name,
                 const char *text)
{
    const struct hg_moving v = hg_objective_moving(w->m, formula);
    formula_back(w, s, &v, axis, name, hg_format(w->e->arena, text, "SLOPE", s->of));
    if (!w->gpu)
        formula_second(w, s, &v, axis, name, hg_format(w->e->arena, text, "SLOPE", s->of),
                       hg_format(w->e->arena, text, "SLOPE_DOT", s->of));
}

static void keep_backward(struct writer *w, const struct hg_step *s)
{
    const struct hg_array *a = &w->o->array[s->of];
    if (a->moves)
        back(w, s, a->formula, a->axis, array_name(w, s->of), "fit_vload(AT_%s(%u) + row)");
}

static void add_backward(struct writer *w, const struct hg_step *s)
{
    const struct hg_number_of *n = &w->o->number[s->of];
    if (n->moves)
        back(w, s, n->formula, n->axis, w->m->setting.item[s->of].name, "fit_vset1(AT_NUMBER_%s(%u))");
}

/* --- operators ------------------------------------------------------------------------------------------ */

static const char *const operator_name[] = {"outer", "difference", "gather", "blocks", "dense"};

/* Grids are folded before rows of visibilities are computed. */
static void fold_phase(struct writer *w, const struct hg_step *s, const struct hg_operation *q)
{
    struct hg_objective_phase *p = add_phase(w, HG_FORWARD, s, q->name);
    p->unit = FIT_UNIT_ONE;
    p->operation = s->of;
    if (w->gpu)
        return;
    open_phase(w, w->tree[HG_FORWARD], p, "even and odd parts for ");
    hg_do(w->tree[HG_FORWARD], "fit_outer_fold(c->operation[%u], c->array[%u]);", s->of, q->in[0]);
    hg_close_function(w->tree[HG_FORWARD]);
    if (w->o->array[q->in[0]].moves)
        share_phase(w, HG_TANGENT, p);
}

static enum fit_unit_kind unit_of(const struct hg_operation *q, int back)
{
    return q->kind == FIT_BLOCKS ? FIT_UNIT_BLOCKS : q->kind == FIT_OUTER && back ? FIT_UNIT_ROWS : FIT_UNIT_ELEMENTS;
}

/* One call for each part of a complex value, except outer, which computes both at once. */
static void operation_calls(struct writer *w, const struct hg_step *s, int back)
{
    const struct hg_operation *q = &w->o->operation[s->of];
    struct hg_tree *out = w->tree[back ? HG_BACKWARD : HG_FORWARD];
    const char *name = operator_name[q->kind], *how = back ? "adjoint" : "apply", *a = back ? "slope" : "array";
    if (q->kind == FIT_OUTER)
        hg_do(out,
              back ? "fit_outer_adjoint(c->operation[%u], c->slope[%u], c->slope[%u], c->slope[%u], from, to);"
                   : "fit_outer_apply(c->operation[%u], c->array[%u], c->array[%u], from, to);",
              s->of, q->out[0], q->out[1], q->in[0]);
    for (uint32_t k = 0; q->kind != FIT_OUTER && k < q->nin; k++)
        if (!back || w->o->array[q->in[k]].moves)
            hg_do(out, "fit_%s_%s(c->operation[%u], %sc->%s[%u], c->%s[%u], from, to);", name, how, s->of,
                  q->kind != FIT_GATHER ? ""
                  : k                   ? "-1.0, "
                                        : "1.0, ",
                  a, back ? q->out[k] : q->in[k], a, back ? q->in[k] : q->out[k]);
    hg_close_function(out);
}

static void operation_phase(struct writer *w, const struct hg_step *s, int back)
{
    const struct hg_operation *q = &w->o->operation[s->of];
    const int moves = w->o->array[q->in[0]].moves || (q->nin == 2 && w->o->array[q->in[1]].moves);
    if (back && !moves)
        return;
    if (q->kind == FIT_OUTER && !back)
        fold_phase(w, s, q);
    struct hg_objective_phase *p = add_phase(w, back ? HG_BACKWARD : HG_FORWARD, s, q->name);
    p->unit = unit_of(q, back);
    p->axis = back ? q->from : q->to;
    p->operation = s->of;
    p->work = q->kind == FIT_OUTER || q->kind == FIT_DENSE ? 0 : 8; /* 0: by the numbers of the operator */
    if (w->gpu)
        return;
    open_phase(w, w->tree[back ? HG_BACKWARD : HG_FORWARD], p, back ? "adjoint of " : "");
    operation_calls(w, s, back);
    if (moves)
        share_phase(w, back ? HG_SECOND : HG_TANGENT, p);
}

/* --- terms ---------------------------------------------------------------------------------------------- */

static const char call[] = "const struct fit_functional_call *c";

static void term_values(struct writer *w)
{
    struct hg_tree *out = w->terms;
    hg_open_function(out, w->gpu ? "FIT_INLINE void" : "static void", "terms",
                     w->gpu ? "const struct fit_gpu_call *c" : call);
    for (uint32_t t = 0; t < w->o->nterm; t++) {
        hg_open(out, "if (AT_ON & UINT64_C(0x%llx)) { /* %s */", 1ULL << t, w->o->term[t].name);
        struct hg_code c = begin(w, out, 1, &w->o->term[t].value);
        hg_do(c.out, "AT_TERM(%u) = %s;", t, hg_code_text(&c, w->o->term[t].value));
        finish(&c);
        hg_close(out);
    }
    hg_close_function(out);
}

/* Slopes of numbers from the selected terms, or (second) the contribution of the curvature of terms to their
 * tangents. */
static void term_seeds(struct writer *w, int second)
{
    struct hg_tree *out = w->terms;
    hg_open_function(out, w->gpu ? "FIT_INLINE void" : "static void", second ? "seeds_second" : "seeds",
                     w->gpu ? "const struct fit_gpu_call *c" : call);
    for (uint32_t t = 0; t < w->o->nterm; t++) {
        const struct hg_moving v = hg_objective_moving(w->m, w->o->term[t].value);
        const hg_id *part = second ? v.second : v.part;
        hg_open(out, "if (AT_ON & UINT64_C(0x%llx)) { /* %s */", 1ULL << t, w->o->term[t].name);
        struct hg_code c = begin(w, out, v.n, part);
        for (uint32_t k = 0; k < v.n; k++)
            if (!hg_is_value(w->e, part[k], 0))
                hg_do(c.out, "AT_NUMBER_SLOPE%s(%u) += AT_WEIGHT(%u)*(%s);", second ? "_DOT" : "",
                      hg_at(w->e, v.leaf[k])->ref, t, hg_code_text(&c, part[k]));
        finish(&c);
        hg_close(out);
    }
    hg_close_function(out);
}

/* --- the file ------------------------------------------------------------------------------------------- */

static void fill(void *user, const char *name, FILE *out)
{
    const struct writer *w = user;
    for (int pass = 0; pass < HG_OBJECTIVE_PASSES; pass++)
        if (strcmp(name, hg_objective_pass_name[pass]) == 0) {
            hg_tree_print(w->tree[pass], out);
            return;
        }
    if (strcmp(name, "head") == 0)
        hg_objective_head(w->m, out);
    else if (strcmp(name, "terms") == 0)
        hg_tree_print(w->terms, out);
    else if (strcmp(name, "descriptor") == 0)
        hg_objective_desc(w->m, w->phases, out);
    else
        hg_bug("emit: the template asks for '%s'", name);
}

/* Steps in their order, or backwards. */
static void steps(struct writer *w, int back)
{
    for (uint32_t i = 0; i < w->o->nstep; i++) {
        const struct hg_step *s = &w->o->step[back ? w->o->nstep - 1 - i : i];
        if (!s->need)
            continue;
        if (s->kind == HG_KEEP)
            back ? keep_backward(w, s) : keep_forward(w, s);
        else if (s->kind == HG_ADD)
            back ? add_backward(w, s) : add_forward(w, s);
        else
            operation_phase(w, s, back);
    }
}

static void write_all(struct writer *w)
{
    w->o = w->m->objective;
    w->e = w->m->expr;
    w->terms = hg_tree_new(w->e->arena);
    for (int pass = 0; pass < HG_OBJECTIVE_PASSES; pass++)
        w->tree[pass] = hg_tree_new(w->e->arena);
    steps(w, 0);
    term_values(w);
    term_seeds(w, 0);
    if (!w->gpu)
        term_seeds(w, 1);
    steps(w, 1);
    hg_tree_trim(w->terms);
    for (int pass = 0; pass < HG_OBJECTIVE_PASSES; pass++)
        hg_tree_trim(w->tree[pass]);
}

void hg_emit_objective(struct hg_model *m, FILE *out)
{
    struct writer w = {.m = m};
    write_all(&w);
    hg_template((const char *)embedded_objective_c_tmpl, m->name, m->file, fill, &w, out);
}

/* ---- for accelerators ------------------------------------------------------------------------------------ */

/* Kernels of the phases of a pass; operators have none of their own. */
static void kernels(const struct writer *w, enum hg_objective_pass pass, FILE *out)
{
    for (uint32_t k = 0; k < w->phases[pass].n; k++) {
        const struct hg_objective_phase *p = &w->phases[pass].phase[k];
        if (p->kind == FIT_PHASE_OPERATOR)
            fputs("    {0, FIT_GPU_KINDS, 0, 0, 0, 0},\n", out);
        else
            fprintf(out, "    {\"%s_%s\", FIT_GPU_KINDS, 0, %u, 0, %s_%s},\n", w->prefix, p->function, p->nsum,
                    w->prefix, p->function);
    }
}

void hg_emit_objective_gpu(struct hg_model *m, FILE *out)
{
    struct writer w = {.m = m, .gpu = 1, .prefix = hg_format(m->expr->arena, "fit_%s", m->name)};
    write_all(&w);
    fprintf(out, "/* Phases of %s for accelerators -- written by homodyne-gen from %s.  Edit the model, not this"
                 " file.\n *\n * One text, read as CUDA C, OpenCL C and plain C: fit/gpu_functional.h says how.\n */\n"
                 "#define FIT_GPU_NAXIS %u\n#define FIT_GPU_NARRAY %u\n#define FIT_GPU_SPECIAL 1\n"
                 "#include \"fit/gpu_functional.h\"\n\n",
            m->name, m->file, w.o->naxis, w.o->narray);
    hg_tree_print(w.tree[HG_FORWARD], out);
    hg_tree_print(w.terms, out);
    fprintf(out, "FIT_GPU_SCALARS(%s_terms, terms)\n\nFIT_GPU_SCALARS(%s_seeds, seeds)\n\n", w.prefix, w.prefix);
    hg_tree_print(w.tree[HG_BACKWARD], out);
    fputs("#ifdef FIT_GPU_PLAIN\n#include \"fit/gpu_program.h\"\n\n"
          "static const struct fit_gpu_pass passes[] = {\n", out);
    kernels(&w, HG_FORWARD, out);
    kernels(&w, HG_BACKWARD, out);
    fprintf(out, "    {\"%s_terms\", FIT_GPU_KINDS, 0, 0, 0, %s_terms},\n"
                 "    {\"%s_seeds\", FIT_GPU_KINDS, 0, 0, 0, %s_seeds},\n    FIT_GPU_FUNCTIONAL_PASSES\n};\n\n"
                 "extern const struct fit_gpu_program FIT_GPU_SYMBOL;\n"
                 "const struct fit_gpu_program FIT_GPU_SYMBOL = {\n"
                 "    .name = \"%s\",\n    .variant = \"objective\",\n    .hash = \"%s\",\n"
                 "    .npass = sizeof passes / sizeof *passes,\n    .pass = passes,\n};\n#endif\n",
            w.prefix, w.prefix, w.prefix, w.prefix, m->name, m->hash);
}
