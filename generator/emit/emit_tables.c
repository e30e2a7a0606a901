/* emit_tables.c -- the workspace of a kernel: its fields, registered by the functions that read them, and
 * their arrays, carved out of one piece of memory.  emit_prepare.c writes what fills them.
 */
#include <string.h>

#include "emit/emit.h"
#include "graph/loop.h"
#include "graph/words.h"
#include "model/formula.h"
#include "model/written.h"

/* --- fields ------------------------------------------------------------------------------------------- */

static const char *field_stem(const struct hg_emit *em, enum hg_field_kind kind, hg_id id)
{
    const struct hg_node *n = hg_at(em->e, id);
    struct hg_arena *a = em->e->arena;
    const char *name = hg_words(em->e, id, NULL, NULL);
    if (!name)
        name = n->op == HG_POTENTIAL ? "int_f" : n->vary & HG_T ? "f" : "scale";
    switch (kind) {
    case HG_FIELD_GRID:
    case HG_FIELD_GRID_G: return hg_format(a, "%s_grid", name);
    case HG_FIELD_EXP:
    case HG_FIELD_EXP_G: return hg_format(a, "exp_%s", name);
    case HG_FIELD_ROT:
    case HG_FIELD_ROT_G: return name;
    default: return name;
    }
}

static int is_time_grid(const char *name)
{
    return strcmp(name, "time_grid") == 0;
}

/* Makes room in the index of fields for node id and one more field. */
static void grow_index(struct hg_emit *em, hg_id id)
{
    struct hg_arena *a = em->e->arena;
    em->field_of =
        hg_grow(a, em->field_of, em->field_of_room, (size_t)id + 1, sizeof *em->field_of, &em->field_of_room);
    em->field_before = hg_grow(a, em->field_before, em->nfield, em->nfield + 1, sizeof *em->field_before,
                               &em->field_before_room);
    em->field = hg_grow(a, em->field, em->nfield, em->nfield + 1, sizeof *em->field, &em->field_room);
}

const struct hg_field *hg_emit_field(struct hg_emit *em, enum hg_field_kind kind, hg_id id, int derivative)
{
    for (uint32_t k = id < em->field_of_room ? em->field_of[id] : 0; k; k = em->field_before[k - 1])
        if (em->field[k - 1].kind == kind) {
            if (derivative < em->field[k - 1].derivative)
                em->field[k - 1].derivative = derivative;
            return &em->field[k - 1];
        }
    char *clean = hg_strdup(em->e->arena, field_stem(em, kind, id));
    for (char *q = clean; *q; q++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *q))
            *q = '_';
    if (hg_code_macro(clean))
        clean = hg_format(em->e->arena, "%s_", clean);
    const char *name = hg_names_unique(&em->field_names, em->e->arena, clean, is_time_grid);
    grow_index(em, id);
    em->field[em->nfield] = (struct hg_field){kind, id, name, derivative};
    em->field_before[em->nfield] = em->field_of[id];
    em->field_of[id] = ++em->nfield;
    return &em->field[em->nfield - 1];
}

const char *hg_emit_row_field(struct hg_emit *em, hg_id carried)
{
    return hg_emit_field(em, HG_FIELD_ROW, carried, hg_carried_at(hg_at(em->e, carried)->ref).k != 0)->name;
}

int hg_emit_has_low(const struct hg_emit *em, hg_id id)
{
    const struct hg_node *n = hg_at(em->e, id);
    return n->op == HG_POTENTIAL && !(n->vary & HG_G);
}

const struct hg_field *hg_emit_local_field(struct hg_emit *em, hg_id local)
{
    return hg_emit_field(em, hg_at(em->e, local)->vary & HG_G ? HG_FIELD_GROUP : HG_FIELD_SCALAR, local, 0);
}

const char *hg_emit_local(struct hg_emit *em, const struct hg_code *c, hg_id local, const char *w)
{
    struct hg_arena *a = em->e->arena;
    const char *name = hg_emit_local_field(em, local)->name;
    const unsigned vary = hg_at(em->e, local)->vary;
    if (!(vary & HG_K))
        return hg_format(a, vary ? "%s%s[g]" : "%s%s[0]", w, name);
    if (!(vary & HG_G))
        return hg_format(a, "%s%s[%s]", w, name, hg_code_turn(c, local));
    return hg_format(a, "%s%s[g * %zu + %s]", w, name, hg_extent(em->e, local, 1), hg_code_turn(c, local));
}

hg_id hg_emit_scaled(const struct hg_emit *em, hg_id u, unsigned group, hg_id *a)
{
    const struct hg_node *n = hg_at(em->e, u);
    if (n->op != HG_PROD || n->nargs != 2)
        return 0;
    for (uint32_t k = 0; k < 2; k++)
        if (hg_at(em->e, n->arg[k])->op == HG_LOCAL && hg_at(em->e, n->arg[k])->vary == group &&
            hg_emit_has_low(em, n->arg[1 - k])) {
            *a = n->arg[k];
            return n->arg[1 - k];
        }
    return 0;
}

/* Sizes of the arrays of a field, by its kind. */
static const char *const sizes[] = {"8",       "ng", "nt",      "ng * nt", "nf",     "nf * ng",
                                    "nf",      "nf * ng", "nf", "nf * ng", "l->nrow"};

/* What a table holds, as the author wrote it or in the same language; at most so long. */
static const char *meaning(const struct hg_emit *em, hg_id id)
{
    enum { LONGEST = 76 };
    const struct hg_node *n = hg_at(em->e, id);
    id = n->op == HG_LOCAL ? em->p->local[n->ref].def : id;
    const char *written = hg_written_by_author(em->p->model, id), *s = written ? written : hg_formula_code(em->e, id);
    return strlen(s) > LONGEST ? hg_format(em->e->arena, "%.*s...", LONGEST - 3, s) : s;
}

/* Scalars have a number for each turn of the sums with which they vary. */
static const char *size_of(const struct hg_emit *em, const struct hg_field *f)
{
    if (!(hg_at(em->e, f->id)->vary & HG_K))
        return sizes[f->kind];
    return hg_format(em->e->arena, f->kind == HG_FIELD_GROUP ? "ng * %zu" : "%zu", hg_extent(em->e, f->id, 1));
}

/* --- tables ------------------------------------------------------------------------------------------- */

/* An array of the workspace; comment: what it holds, or NULL. */
static void table(struct hg_emit *em, const char *name, const char *size, const char *comment)
{
    em->table = hg_grow(em->e->arena, em->table, em->ntable, em->ntable + 1, sizeof *em->table, &em->table_room);
    em->table[em->ntable++] = (struct hg_table){name, size, comment};
}

/* The arrays of each kind of field: before and behind its name, and what they hold; of_it: of the quantity. */
static const struct part {
    const char *prefix, *suffix, *holds;
    int of_it;
} one[4] = {{"", "", "", 1}}, parts[][4] = {
    [HG_FIELD_FRAME_G] = {{"", "_i", "", 1}, {"", "_j", "the same, vectors at the second frame", 0}},
    [HG_FIELD_EXP] = {{"", "_i", "exp of ", 1}, {"", "_j", "the same for the second frame", 0}},
    [HG_FIELD_EXP_G] = {{"", "_i", "", 1}, {"", "_j", "the same, vectors at the second frame", 0}},
    [HG_FIELD_ROT] = {{"sin_", "", "sin of ", 1}, {"cos_", "", "and its cos", 0}},
    [HG_FIELD_ROT_G] = {{"sin_", "_i", "sin of ", 1}, {"cos_", "_i", "and its cos", 0},
                        {"sin_", "_j", "the same, vectors at the second frame", 0},
                        {"cos_", "_j", "and their cos", 0}}};

static void arrays_of(struct hg_emit *em, const struct hg_field *f)
{
    struct hg_arena *a = em->e->arena;
    const int single = f->kind <= HG_FIELD_FRAME || f->kind == HG_FIELD_ROW;
    const struct part *p = single ? one : parts[f->kind];
    const char *what = meaning(em, f->id), *size = hg_format(a, "fit_padded(%s)", size_of(em, f));
    for (uint32_t k = 0; k < 4 && p[k].prefix; k++)
        table(em, hg_format(a, "%s%s%s", p[k].prefix, f->name, p[k].suffix), size,
              hg_format(a, "%s%s", p[k].holds, p[k].of_it ? what : ""));
    if (single && !f->derivative && f->kind != HG_FIELD_SCALAR && f->kind != HG_FIELD_ROW &&
        hg_emit_has_low(em, f->id))
        table(em, hg_format(a, "%s_low", f->name), size, "what its rounding left");
}

void hg_emit_list_tables(struct hg_emit *em)
{
    const int rows = em->p->model->space == FIT_ROWS;
    if (!rows)
        table(em, "time_grid", "nt", "time, padded");
    for (uint32_t k = 0; k < em->nfield; k++)
        arrays_of(em, &em->field[k]);
    if (em->ntable == 0)
        table(em, "none", "8", NULL);
}

/* Columns of loops that the functions read. */
static void node_tables(const struct hg_emit *em, const char *kind, struct hg_tree *out)
{
    for (uint32_t k = 1; k <= hg_loop_count(em->e); k++) {
        const struct hg_loop *l = hg_loop_at(em->e, k);
        for (unsigned column = 0; column < HG_LOOP_COLUMNS; column++) {
            if (!l->used[column])
                continue;
            hg_put(out, "/* %s of %s, n = %u */\n%s %s%u[%u] = {", column ? "weights" : "nodes",
                   hg_rule_name(l->rule), l->n, kind, hg_loop_column_name[column], k, l->n);
            for (uint32_t i = 0; i < l->n; i++)
                hg_put(out, "%s%s", i == 0 ? "\n    " : i % 4 ? ", " : ",\n    ",
                       hg_number(em->e->arena, l->column[column][i]));
            hg_put(out, "};\n\n");
        }
    }
}

static void tables_struct(const struct hg_emit *em, const char *type, int by_number, struct hg_tree *out)
{
    hg_put(out, "/* Workspace: scalars, tables over the time grid, tables at the used frames. */\nstruct tables {\n%s",
           by_number ? "    union {\n    struct {\n" : "");
    for (uint32_t k = 0; k < em->ntable; k++) {
        const struct hg_table *x = &em->table[k];
        hg_put(out, x->comment ? "    %s%s; /* %s */\n" : "    %s%s;\n", type, x->name, x->comment);
    }
    if (by_number)
        hg_put(out, "    };\n    double *fit_field[%u]; /* the same, by their numbers */\n    };\n", em->ntable);
    hg_put(out, "};\n");
}

static void carve_function(const struct hg_emit *em, const char *result, const char *parameters, struct hg_tree *out)
{
    hg_open_function(out, result, "carve", parameters);
    hg_offer(out, "const size_t", "ng = l->ngroup;");
    hg_offer(out, "const size_t", "nt = fit_padded(l->ntime);");
    hg_offer(out, "const size_t", "nf = fit_padded(l->nframe);");
    hg_declare(out, "size_t", "n = 0;");
    for (uint32_t k = 0; k < em->ntable; k++)
        hg_do(out, "w->%s = base + n, n += %s;", em->table[k].name, em->table[k].size);
    hg_line(out, "return n;");
    hg_close(out);
}

void hg_emit_tables(struct hg_emit *em, struct hg_tree *out)
{
    node_tables(em, "static const double", out);
    tables_struct(em, "double *", em->rolls.by_number, out);
}

void hg_emit_carve(struct hg_emit *em, struct hg_tree *out)
{
    carve_function(em, hg_format(em->e->arena, "%s size_t", em->inlined),
                   "const struct fit_layout *l, double *base, struct tables *w", out);
    hg_put(out, "\nstatic size_t workspace(const struct fit_layout *l)\n{\n"
                "    static double origin[1]; /* only differences of addresses are used */\n"
                "    struct tables w;\n    return carve(l, origin, &w);\n}\n");
}

void hg_emit_gpu_tables(struct hg_emit *em, struct hg_tree *out)
{
    node_tables(em, "FIT_COEFFICIENTS", out);
    tables_struct(em, "FIT_GLOBAL const double *", 0, out);
    hg_put(out, "\n");
    carve_function(em, "FIT_INLINE size_t",
                   "const struct fit_gpu_layout *l, FIT_GLOBAL const double *base, struct tables *w", out);
    hg_put(out, "\n");
}
