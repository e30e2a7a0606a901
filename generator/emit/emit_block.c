/* emit_block.c -- common parts of the functions over pairs: leaves of a block, loops around it.
 *
 * A block is a vector of pairs (i, j .. j + lanes - 1) for all groups. First comes the part of the pairs that does not
 * depend on the group, then a loop over the groups.
 */
#include "emit/emit_block.h"


#include "graph/words.h"

static int pair_is_leaf(const struct hg_code *c, hg_id id)
{
    const struct hg_node *n = hg_at(c->e, id);
    return n->nargs == 0 || n->op == HG_AT_I || n->op == HG_AT_J || n->op == HG_DELTA || n->op == HG_EXPD ||
           n->op == HG_SIND || n->op == HG_COSD;
}

static const char *words(const struct hg_code *c, hg_id id, const char *other)
{
    const char *s = hg_words(c->e, id, NULL, NULL);
    return s ? s : other;
}

static const char *at_leaf(struct hg_code *c, hg_id u, int second)
{
    struct hg_block *b = c->user;
    struct hg_arena *a = c->e->arena;
    if (hg_at(c->e, u)->vary & HG_G) {
        const char *f = hg_emit_field(b->em, HG_FIELD_FRAME_G, u, b->derivative)->name;
        b->doubles += second != 0;
        return second ? hg_format(a, "fit_vload(w->%s_j + (b * ng + g) * FIT_LANES + h)", f)
                      : hg_format(a, "w->%s_i[i * ng + g]", f);
    }
    const char *f = hg_emit_field(b->em, HG_FIELD_FRAME, u, b->derivative)->name;
    return second ? hg_format(a, "fit_vload(w->%s + j)", f) : hg_format(a, "w->%s[i]", f);
}

/* The table's name at the second frame. */
static const char *at_name(struct hg_code *c, hg_id u)
{
    struct hg_block *b = c->user;
    int group = (hg_at(c->e, u)->vary & HG_G) != 0;
    const char *f = hg_emit_field(b->em, group ? HG_FIELD_FRAME_G : HG_FIELD_FRAME, u, b->derivative)->name;
    return hg_format(c->e->arena, "%s_j", f);
}

static const char *delta_leaf(struct hg_code *c, hg_id id)
{
    struct hg_block *b = c->user;
    struct hg_arena *a = c->e->arena;
    hg_id u = hg_at(c->e, id)->arg[0];
    int low = hg_emit_has_low(b->em, u), group = (hg_at(c->e, u)->vary & HG_G) != 0;
    const char *field =
        hg_emit_field(b->em, group ? HG_FIELD_FRAME_G : HG_FIELD_FRAME, u, low ? 0 : b->derivative)->name;
    const char *name = hg_at(c->e, id)->name;
    name = hg_code_unique(c, name ? name : hg_format(a, "d_%s", field));
    if (low) {
        hg_declare(c->out, "const fit_vd", "%s = fit_delta_low(w->%s, w->%s_low, j, i);", name, field, field);
    } else {
        const char *at_j = at_leaf(c, u, 1);
        hg_declare(c->out, "const fit_vd", "%s = %s - %s;", name, at_j, at_leaf(c, u, 0));
    }
    return name;
}

/* exp(u_j - u_i) without tables */
static const char *direct_exp(struct hg_code *c, hg_id u)
{
    struct hg_block *b = c->user;
    struct hg_arena *a = c->e->arena;
    hg_id scale, P = hg_emit_scaled(b->em, u, 0, &scale);
    if (P) {
        const char *f = hg_emit_field(b->em, HG_FIELD_FRAME, P, 0)->name;
        return hg_format(a, "fit_vexp(w->%s[0] * fit_delta_low(w->%s, w->%s_low, j, i))",
                         hg_emit_field(b->em, HG_FIELD_SCALAR, scale, 0)->name, f, f);
    }
    const char *at_j = at_leaf(c, u, 1);
    return hg_format(a, "fit_vexp(%s - %s)", at_j, at_leaf(c, u, 0));
}

/* exp(u_j - u_i): tables, or exp per pair in a tile where they could overflow. */
static const char *exp_leaf(struct hg_code *c, hg_id id)
{
    struct hg_block *b = c->user;
    struct hg_arena *a = c->e->arena;
    hg_id u = hg_at(c->e, id)->arg[0];
    int group = (hg_at(c->e, u)->vary & HG_G) != 0;
    const char *f = hg_emit_field(b->em, group ? HG_FIELD_EXP_G : HG_FIELD_EXP, u, b->derivative)->name;
    const char *name = hg_code_unique(c, words(c, id, "e"));
    uint32_t k = 0;
    if (b->direct_exp) {
        hg_declare(c->out, "const fit_vd", "%s = %s;", name, direct_exp(c, u));
        return name;
    }
    while (k < b->nexp && b->exps[k] != id)
        k++;
    if (k == b->nexp) {
        if (b->nexp == 16)
            hg_bug("emit: more than 16 exponentials of differences");
        b->exps[b->nexp++] = id;
    }
    b->doubles += (uint32_t)group;
    const char *x = group ? hg_format(a, "exps[%u * ng + g]", k) : hg_format(a, "exps[%u * ng]", k);
    hg_declare(c->out, "fit_vd", "%s;", name);
    hg_line(c->out, "if (!%s.direct)", x);
    if (group)
        hg_line(c->out,
                "    %s = fit_vload(w->%s_j + (b * ng + g) * FIT_LANES + h) * (w->%s_i[i * ng + g] * %s.middle);", name,
                f, f, x);
    else
        hg_line(c->out, "    %s = fit_vload(w->%s_j + j) * (w->%s_i[i] * %s.middle);", name, f, f, x);
    hg_line(c->out, "else");
    hg_line(c->out, "    %s = %s;", name, direct_exp(c, u));
    return name;
}

/* sin and cos of u_j - u_i by angle addition; both forms share the four table entries. */
static const char *rotation_leaf(struct hg_code *c, hg_id id)
{
    struct hg_block *b = c->user;
    struct hg_arena *a = c->e->arena;
    enum hg_op op = hg_at(c->e, id)->op;
    hg_id u = hg_at(c->e, id)->arg[0];
    int group = (hg_at(c->e, u)->vary & HG_G) != 0;
    const char *f = hg_emit_field(b->em, group ? HG_FIELD_ROT_G : HG_FIELD_ROT, u, b->derivative)->name;
    const char *at_i = group ? "_i[i * ng + g]" : "[i]";
    const char *at_j = group ? hg_format(a, "_j + (b * ng + g) * FIT_LANES + h") : " + j";
    hg_id twin = hg_raw((struct hg_expr *)(uintptr_t)c->e, op == HG_SIND ? HG_COSD : HG_SIND, 1, &u);
    const char *si = hg_code_unique(c, "sin_i"), *ci = hg_code_unique(c, "cos_i");
    const char *sj = hg_code_unique(c, "sin_j"), *cj = hg_code_unique(c, "cos_j");
    hg_declare(c->out, "const double", "%s = w->sin_%s%s, %s = w->cos_%s%s;", si, f, at_i, ci, f, at_i);
    hg_declare(c->out, "const fit_vd", "%s = fit_vload(w->sin_%s%s), %s = fit_vload(w->cos_%s%s);", sj, f, at_j, cj, f,
               at_j);
    hg_id cosine_id = op == HG_COSD ? id : twin, sine_id = op == HG_SIND ? id : twin;
    const char *s = hg_code_unique(c, words(c, sine_id, "sn")), *k = hg_code_unique(c, words(c, cosine_id, "cs"));
    int sine = op == HG_SIND || hg_code_uses(c, twin), cosine = op == HG_COSD || hg_code_uses(c, twin);
    b->doubles += 2 * (uint32_t)group;
    if (sine)
        hg_declare(c->out, "const fit_vd", "%s = %s*%s - %s*%s; /* sin of the difference */", s, sj, ci, cj, si);
    if (cosine)
        hg_declare(c->out, "const fit_vd", "%s = %s*%s + %s*%s; /* its cosine */", k, cj, ci, sj, si);
    if (sine && cosine)
        hg_code_bind(c, twin, op == HG_SIND ? k : s);
    return op == HG_SIND ? s : k;
}

static const char *pair_leaf(struct hg_code *c, hg_id id)
{
    struct hg_block *b = c->user;
    struct hg_arena *a = c->e->arena;
    const struct hg_node *n = hg_at(c->e, id);
    const char *s;
    switch (n->op) {
    case HG_AT_I: return at_leaf(c, n->arg[0], 0);
    case HG_AT_J:
        s = hg_code_unique(c, n->name ? n->name : at_name(c, n->arg[0]));
        hg_declare(c->out, "const fit_vd", "%s = %s;", s, at_leaf(c, n->arg[0], 1));
        return s;
    case HG_DELTA: return delta_leaf(c, id);
    case HG_EXPD: return exp_leaf(c, id);
    case HG_SIND:
    case HG_COSD: return rotation_leaf(c, id);
    case HG_LINEAR: return hg_format(a, "lin[g * %u + %u]", b->em->p->nlinear, n->ref);
    case HG_LOCAL:
        s = hg_code_unique(c, hg_emit_local_field(b->em, id)->name);
        hg_declare(c->out, "const double", "%s = %s;", s, hg_emit_local(b->em, c, id, "w->"));
        return s;
    default: return hg_emit_common_leaf(c, id);
    }
}

/* The part that does not depend on the group, before the loop over groups. */
void hg_block_need_pair_part(struct hg_code *c, uint32_t nroot, const hg_id *root)
{
    hg_id top = 0;
    for (uint32_t k = 0; k < nroot; k++)
        top = root[k] > top ? root[k] : top;
    HG_SCRATCH unsigned char *mark = hg_zeros(top + 1, 1);
    for (uint32_t k = 0; k < nroot; k++)
        mark[root[k]] = 1;
    for (hg_id id = top; id > 0; id--) {
        const struct hg_node *n = hg_at(c->e, id);
        if (!mark[id] || !(n->vary & HG_G) || pair_is_leaf(c, id))
            continue;
        for (uint32_t k = 0; k < n->nargs; k++)
            mark[n->arg[k]] = 1;
    }
    for (hg_id id = 1; id <= top; id++) {
        const struct hg_node *n = hg_at(c->e, id);
        if (!mark[id] || (n->vary & (HG_G | HG_K)) || n->op == HG_CONST)
            continue;
        hg_code_need(c, id);
        if (!hg_code_bound(c, id) && n->nargs)
            hg_code_declare(c, id, NULL);
    }
}

/* Operands of products that are scalars of the group cost one multiplication of doubles each: they are named so that
 * they are not recomputed as vectors. */
void hg_block_need_scalars(struct hg_code *c, uint32_t nroot, const hg_id *root)
{
    for (uint32_t k = 0; k < nroot; k++) {
        const struct hg_node *n = hg_at(c->e, root[k]);
        for (uint32_t m = 0; m < n->nargs; m++) {
            const struct hg_node *x = hg_at(c->e, n->arg[m]);
            if ((x->vary & ~(unsigned)HG_G) == 0 && x->nargs) {
                hg_code_need(c, n->arg[m]);
                if (!hg_code_bound(c, n->arg[m]))
                    hg_code_declare(c, n->arg[m], NULL);
            }
        }
    }
}

struct hg_code hg_block_begin(struct hg_emit *em, struct hg_block *b, struct hg_tree *out, uint32_t nroot,
                              const hg_id *root)
{
    struct hg_code c = {.e = em->e,
                        .out = out,
                        .vector_if = HG_J,
                        .source = em->p->model->file,
                        .units = em->p->model,
                        .leaf = pair_leaf,
                        .is_leaf = pair_is_leaf,
                        .user = b};
    /* the twins of rotations must exist before the function begins */
    for (hg_id id = 1; id < em->e->n; id++) {
        const struct hg_node n = *hg_at(em->e, id);
        if (n.op == HG_SIND)
            hg_raw(em->e, HG_COSD, 1, n.arg);
        if (n.op == HG_COSD)
            hg_raw(em->e, HG_SIND, 1, n.arg);
    }
    hg_code_begin(&c, nroot, root);
    return c;
}

/* The mean as a sum over basis functions, for the residual. */
const char *hg_block_mean(struct hg_code *c)
{
    struct hg_block *b = c->user;
    struct hg_arena *a = c->e->arena;
    const char *s = NULL;
    for (uint32_t q = 0; q < b->em->p->nlinear; q++) {
        const char *l = hg_code_text(c, b->em->p->linear[q]);
        const char *x = hg_is_value(c->e, b->em->form->basis[q], 1.0)
                            ? l : hg_format(a, "%s*%s", l, hg_code_factor(c, b->em->form->basis[q]));
        s = s ? hg_format(a, "%s + %s", s, x) : x;
    }
    if (!hg_is_value(c->e, b->em->form->rest, 0.0))
        s = s ? hg_format(a, "%s + %s", s, hg_code_factor(c, b->em->form->rest)) : hg_code_text(c, b->em->form->rest);
    return s ? s : "fit_vset1(0.0)";
}

void hg_block_declare_linear(struct hg_code *c)
{
    struct hg_block *b = c->user;
    for (uint32_t q = 0; q < b->em->p->nlinear; q++) {
        if (!hg_code_uses(c, b->em->p->linear[q]))
            continue;
        const char *name = hg_code_unique(c, b->em->p->model->linear.item[q].name);
        hg_declare(c->out, "const double", "%s = lin[g * %u + %u];", name, b->em->p->nlinear, q);
        hg_code_bind(c, b->em->p->linear[q], name);
    }
}

/* --- the loops around a block ------------------------------------------------------------------------- */

void hg_block_exp_prologue(struct hg_emit *em, const struct hg_block *b, struct hg_tree *out)
{
    for (uint32_t k = 0; k < b->nexp; k++) {
        hg_id u = hg_at(em->e, b->exps[k])->arg[0];
        int group = (hg_at(em->e, u)->vary & HG_G) != 0;
        hg_id scale, P = hg_emit_scaled(em, u, 0, &scale);
        const char *f = hg_emit_field(em, group ? HG_FIELD_FRAME_G : HG_FIELD_FRAME, P ? P : u, 0)->name;
        if (P)
            hg_do(out, "exps[%u * ng] = fit_exp_tile_scaled(l, t, w->%s[0], w->%s, w->%s_low);", k,
                  hg_emit_field(em, HG_FIELD_SCALAR, scale, 0)->name, f, f);
        else if (group)
            hg_line(out, "for (size_t g = 0; g < ng; g++)\n    exps[%u * ng + g] = fit_exp_tile(l, t, w->%s_i, ng, g);",
                    k, f);
        else
            hg_do(out, "exps[%u * ng] = fit_exp_tile(l, t, w->%s, 1, 0);", k, f);
    }
}

void hg_declare_members(struct hg_tree *out, const char *name, const struct hg_member *member)
{
    hg_open(out, "struct %s {", name);
    for (; member->name; member++)
        hg_line(out, "%s%s;", member->type, member->name);
    hg_close_with(out, "};");
    hg_put(out, "\n");
}

void hg_define_members(struct hg_tree *out, const char *name, const struct hg_member *member)
{
    for (; member->name; member++)
        hg_offer(out, member->type, "%s = %s->%s;", member->name, name, member->name);
}

static const struct hg_member block_member[] = {
    {"const struct fit_layout *", "l"}, {"const struct tables *", "w"},   {"const struct fit_exp_tile *", "exps"},
    {"const double *", "lin"},          {"const double *", "adj"},        {"const struct fit_tile *", "t"},
    {"size_t ", "i"},                   {"size_t ", "b"},                 {"size_t ", "h"},
    {"size_t ", "at"},                  {"const double *", "data"},       {NULL, NULL}};

void hg_block_struct(struct hg_tree *out)
{
    hg_put(out, "/* One vector of pairs, (i, FIT_LANES b + h), ..., and where their weights and data stand. */\n");
    hg_declare_members(out, "block", block_member);
}

void hg_block_loops(struct hg_tree *out, const char *call, const char *members, const struct hg_tree *row_end)
{
    hg_open(out, "for (size_t i = t->i0; i < t->i1; i++) {");
    hg_line(out,
            "const double *data = fit_row_data(l, t, i, at);\n"
            "for (size_t b = (i + 1 > t->j0 ? i + 1 : t->j0) / FIT_LANES; b < end; b++) {\n"
            "    for (size_t h = 0; h < FIT_LANES; h += FIT_VL) {\n"
            "        const size_t j = b * FIT_LANES + h;\n"
            "        const struct block block = {.l = l, .w = w, .t = t, .i = i, .b = b, .h = h, .at = at,\n"
            "                                    .data = data%s};\n"
            "        if (t->w || j <= i || j + FIT_VL > t->j1)\n"
            "            %s, 1);\n"
            "        else\n"
            "            %s, 0);\n"
            "    }\n"
            "    at += ng * FIT_LANES;\n"
            "    data += ng * FIT_LANES;\n"
            "}",
            members, call, call);
    if (row_end)
        hg_put_tree(out, row_end);
    hg_close(out);
}

void hg_block_head(struct hg_tree *out, int given)
{
    if (given)
        hg_define_members(out, "block", block_member);
    hg_offer(out, "const size_t", "ng = l->ngroup;");
    hg_offer(out, "const size_t", "j = b * FIT_LANES + h;");
    if (given)
        hg_offer(out, "const fit_vm", "lanes = masked ? fit_pair_lanes(t, i, j) : (fit_vm){0};");
}

void hg_group_head(struct hg_tree *out)
{
    hg_define(out, "use weight",
              "fit_vm use = lanes;\n"
              "fit_vd weight = {0};\n"
              "if (masked) {\n"
              "    weight = t->w ? fit_vload(t->w + at + g * FIT_LANES + h) : fit_vset1(1.0);\n"
              "    use &= weight > 0.0;\n"
              "}\n");
    hg_offer(out, "const fit_vd", "y = fit_data(data + g * FIT_LANES + h, 64 * FIT_LANES);");
}

void hg_tile_head(struct hg_tree *out)
{
    hg_offer(out, "const size_t", "ng = l->ngroup;");
    hg_offer(out, "const size_t", "start = t->j0 / FIT_LANES;");
    hg_offer(out, "const size_t", "end = fit_padded(t->j1) / FIT_LANES;");
    hg_define(out, "w", "struct tables tables;\n"
                        "carve(l, (double *)(uintptr_t)ws, &tables);\n"
                        "const struct tables *const w = &tables;\n");
}
