/* emit_pairs.c -- moments, normal and model for pairs of frames.
 *
 * Each function is a loop over rows i and blocks of eight columns j that calls an inlined block function;
 * the block function holds the physics: the angle-independent part of the pairs once, then a loop over the
 * groups.  Blocks that are cut by the diagonal or the edge, and weighted data, take the `masked` form.
 *
 * normal: the products m_e m_f of the channels are summed over the groups first (fields F); then they are
 * multiplied by the small tables U, which do not depend on the group.  The cross moments sum b_q m_k are
 * needed per group: their fields are summed down the columns (adjoint) and along the rows, and multiplied
 * by the tables once per tile:
 *     sum_ij s_ij (U_j - U_i) = sum_j U_j (sum_i s_ij) - sum_i U_i (sum_j s_ij).
 */
#include <stdlib.h>
#include <string.h>

#include "emit.h"

/* --- arrangement -------------------------------------------------------------------------------------- */

/* Takes the scalars out of a product. */
static void strip(struct hg_emit *em, hg_id x, hg_id *coefficient, hg_id *core)
{
    const struct hg_node n = *hg_at(em->e, x);
    hg_id *in = hg_alloc(em->e->arena, (n.nargs + 1) * sizeof *in), *out = hg_alloc(em->e->arena, (n.nargs + 1) * sizeof *out);
    uint32_t nin = 0, nout = 0;
    *coefficient = hg_const(em->e, 1.0);
    *core = x;
    if (n.op != HG_PROD)
        return;
    for (uint32_t k = 0; k < n.nargs; k++) {
        if (hg_at(em->e, n.arg[k])->vary & ~(unsigned)HG_G)
            in[nin++] = n.arg[k];
        else
            out[nout++] = n.arg[k];
    }
    if (nin == 0 || nout == 0)
        return;
    *core = nin == 1 ? in[0] : hg_raw(em->e, HG_PROD, nin, in);
    *coefficient = nout == 1 ? out[0] : hg_raw(em->e, HG_PROD, nout, out);
}

void hg_emit_arrange(struct hg_emit *em)
{
    struct hg_plan *p = em->p;
    struct hg_expr *e = em->e;
    uint32_t Q = p->nlinear, E = p->nchannel, nroot = 0;
    hg_id *root = hg_alloc(e->arena, (Q + 1 + E + Q * E) * sizeof *root);
    em->basis = hg_alloc(e->arena, (Q + 1) * sizeof *em->basis);
    em->m = hg_alloc(e->arena, (E + 1) * sizeof *em->m);
    em->moment = hg_alloc(e->arena, (Q * E + 1) * sizeof *em->moment);
    for (uint32_t q = 0; q < Q; q++)
        root[nroot++] = em->basis[q] = hg_separate(p, p->basis[q], &em->separation);
    root[nroot++] = em->rest = hg_separate(p, p->rest, &em->separation);
    for (uint32_t c = 0; c < E; c++)
        root[nroot++] = em->m[c] = hg_separate(p, p->channel[c].m, &em->separation);
    for (uint32_t q = 0; q < Q; q++)
        for (uint32_t c = 0; c < E; c++) {
            struct hg_moment *x = &em->moment[em->nmoment++];
            x->q = q;
            x->channel = c;
            strip(em, hg_mul(e, em->basis[q], em->m[c]), &x->coefficient, &x->core);
            root[nroot++] = x->core;
        }
    hg_factor(e, nroot, root);
    nroot = 0;
    for (uint32_t q = 0; q < Q; q++) {
        em->basis[q] = root[nroot++];
        if (hg_at(e, em->basis[q])->nargs)
            hg_name(e, em->basis[q], hg_format(e->arena, "b_%s", p->model->linear.item[q].name));
    }
    em->rest = root[nroot++];
    for (uint32_t c = 0; c < E; c++)
        em->m[c] = root[nroot++];
    uint32_t slots = 0;
    for (uint32_t k = 0; k < em->nmoment; k++) {
        struct hg_moment *x = &em->moment[k];
        x->core = root[nroot++];
        x->slot = slots;
        for (uint32_t m = 0; m < k; m++)
            if (em->moment[m].core == x->core &&
                p->channel[em->moment[m].channel].kind == p->channel[x->channel].kind)
                x->slot = em->moment[m].slot;
        slots += x->slot == slots;
    }
}

static uint32_t nslot(const struct hg_emit *em)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < em->nmoment; k++)
        n = em->moment[k].slot >= n ? em->moment[k].slot + 1 : n;
    return n;
}

static const struct hg_moment *slot(const struct hg_emit *em, uint32_t s)
{
    for (uint32_t k = 0; k < em->nmoment; k++)
        if (em->moment[k].slot == s)
            return &em->moment[k];
    hg_bug("emit: no such slot");
}

static enum hg_channel_kind slot_kind(const struct hg_emit *em, uint32_t s)
{
    return em->p->channel[slot(em, s)->channel].kind;
}

/* Parameters whose tables the slot is multiplied by (those of all its channels). */
static int slot_uses(const struct hg_emit *em, uint32_t s, uint32_t channel, uint32_t k)
{
    for (uint32_t m = 0; m < em->nmoment; m++)
        if (em->moment[m].slot == s && em->moment[m].channel == channel && em->p->channel[channel].table[k])
            return 1;
    return 0;
}

/* --- leaves of a block -------------------------------------------------------------------------------- */

struct block {
    struct hg_emit *em;
    int derivative;      /* fields used here are needed for derivatives only */
    int in_group;        /* inside the loop over groups */
    int direct_exp;      /* exponentials are taken per pair (model, which has no scratch) */
    hg_id exps[16];      /* EXPD nodes met, for the tile's prologue */
    uint32_t nexp;
    uint32_t doubles;    /* table doubles read per (group, frame) */
};

static int pair_is_leaf(const struct hg_code *c, hg_id id)
{
    const struct hg_node *n = hg_at(c->e, id);
    return n->nargs == 0 || n->op == HG_AT_I || n->op == HG_AT_J || n->op == HG_DELTA || n->op == HG_EXPD ||
           n->op == HG_SIND || n->op == HG_COSD;
}

static const char *at_leaf(struct hg_code *c, hg_id u, int second)
{
    struct block *b = c->user;
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

static const char *delta_leaf(struct hg_code *c, hg_id id)
{
    struct hg_arena *a = c->e->arena;
    hg_id u = hg_at(c->e, id)->arg[0];
    const char *at_j = at_leaf(c, u, 1), *name = hg_at(c->e, id)->name;
    const char *field = hg_emit_field(((struct block *)c->user)->em,
                                      hg_at(c->e, u)->vary & HG_G ? HG_FIELD_FRAME_G : HG_FIELD_FRAME, u,
                                      ((struct block *)c->user)->derivative)->name;
    name = hg_code_unique(c, name ? name : hg_format(a, "d_%s", field));
    hg_line(c, "const fit_vd %s = %s - %s;", name, at_j, at_leaf(c, u, 0));
    return name;
}

/* exp(u_j - u_i): tables, or exp per pair in a tile where they could overflow. */
static const char *exp_leaf(struct hg_code *c, hg_id id)
{
    struct block *b = c->user;
    struct hg_arena *a = c->e->arena;
    hg_id u = hg_at(c->e, id)->arg[0];
    int group = (hg_at(c->e, u)->vary & HG_G) != 0;
    const char *f = hg_emit_field(b->em, group ? HG_FIELD_EXP_G : HG_FIELD_EXP, u, b->derivative)->name;
    const char *name = hg_code_unique(c, hg_at(c->e, id)->name ? hg_at(c->e, id)->name : "e");
    uint32_t k = 0;
    if (b->direct_exp) {
        const char *x_j = at_leaf(c, u, 1);
        hg_line(c, "const fit_vd %s = fit_vexp(%s - %s);", name, x_j, at_leaf(c, u, 0));
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
    hg_line(c, "fit_vd %s;", name);
    hg_line(c, "if (!%s.direct)", x);
    if (group)
        hg_line(c, "    %s = fit_vload(w->%s_j + (b * ng + g) * FIT_LANES + h) * (w->%s_i[i * ng + g] * %s.middle);",
                name, f, f, x);
    else
        hg_line(c, "    %s = fit_vload(w->%s_j + j) * (w->%s_i[i] * %s.middle);", name, f, f, x);
    hg_line(c, "else");
    const char *at_j = at_leaf(c, u, 1);
    hg_line(c, "    %s = fit_vexp(%s - %s);", name, at_j, at_leaf(c, u, 0));
    return name;
}

/* sin and cos of u_j - u_i by angle addition; both forms share the four table entries. */
static const char *rotation_leaf(struct hg_code *c, hg_id id)
{
    struct block *b = c->user;
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
    hg_line(c, "const double %s = w->sin_%s%s, %s = w->cos_%s%s;", si, f, at_i, ci, f, at_i);
    hg_line(c, "const fit_vd %s = fit_vload(w->sin_%s%s), %s = fit_vload(w->cos_%s%s);", sj, f, at_j, cj, f, at_j);
    const char *s = hg_code_unique(c, "sn"), *k = hg_code_unique(c, "cs");
    int sine = op == HG_SIND || hg_code_uses(c, twin), cosine = op == HG_COSD || hg_code_uses(c, twin);
    b->doubles += 2 * (uint32_t)group;
    if (sine)
        hg_line(c, "const fit_vd %s = %s*%s - %s*%s; /* sin of the difference */", s, sj, ci, cj, si);
    if (cosine)
        hg_line(c, "const fit_vd %s = %s*%s + %s*%s; /* its cosine */", k, cj, ci, sj, si);
    if (sine && cosine)
        hg_code_bind(c, twin, op == HG_SIND ? k : s);
    return op == HG_SIND ? s : k;
}

static const char *pair_leaf(struct hg_code *c, hg_id id)
{
    struct block *b = c->user;
    struct hg_arena *a = c->e->arena;
    const struct hg_node *n = hg_at(c->e, id);
    const char *s;
    switch (n->op) {
    case HG_AT_I: return at_leaf(c, n->arg[0], 0);
    case HG_AT_J:
        s = hg_code_unique(c, n->name ? n->name : "f_j");
        hg_line(c, "const fit_vd %s = %s;", s, at_leaf(c, n->arg[0], 1));
        return s;
    case HG_DELTA: return delta_leaf(c, id);
    case HG_EXPD: return exp_leaf(c, id);
    case HG_SIND:
    case HG_COSD: return rotation_leaf(c, id);
    case HG_LINEAR: return hg_format(a, "lin[g * %u + %u]", b->em->p->nlinear, n->ref);
    case HG_LOCAL: {
        const struct hg_field *f = hg_emit_field(b->em, n->vary ? HG_FIELD_GROUP : HG_FIELD_SCALAR, id, 0);
        s = hg_code_unique(c, f->name);
        hg_line(c, n->vary ? "const double %s = w->%s[g];" : "const double %s = w->%s[0];", s, f->name);
        return s;
    }
    default: return hg_emit_common_leaf(c, id);
    }
}

/* What does not depend on the group, before the loop over groups. */
static void need_pair_part(struct hg_code *c, uint32_t nroot, const hg_id *root)
{
    hg_id top = 0;
    for (uint32_t k = 0; k < nroot; k++)
        top = root[k] > top ? root[k] : top;
    unsigned char *mark = calloc(top + 1, 1);
    if (!mark)
        hg_bug("out of memory");
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
        if (!mark[id] || (n->vary & HG_G) || n->op == HG_CONST)
            continue;
        hg_code_need(c, id);
        if (!hg_code_bound(c, id) && n->nargs)
            hg_code_declare(c, id, NULL);
    }
    free(mark);
}

/* Operands of products that are scalars of the group are worth one multiplication of doubles each: name
 * them so that they are not recomputed as vectors. */
static void need_scalars(struct hg_code *c, uint32_t nroot, const hg_id *root)
{
    for (uint32_t k = 0; k < nroot; k++) {
        const struct hg_node *n = hg_at(c->e, root[k]);
        for (uint32_t m = 0; m < n->nargs; m++) {
            const struct hg_node *x = hg_at(c->e, n->arg[m]);
            if ((x->vary & ~(unsigned)HG_G) == 0 && x->nargs) {
                hg_code_need(c, n->arg[m]);
                if (!hg_code_bound(c, n->arg[m]))
                    hg_code_declare(c, n->arg[m], "scale");
            }
        }
    }
}

static struct hg_code begin(struct hg_emit *em, struct block *b, FILE *out, uint32_t nroot, const hg_id *root)
{
    struct hg_code c = {.e = em->e, .out = out, .indent = 1, .vector_if = HG_J, .source = em->p->model->file, .units = em->p->model,
                        .leaf = pair_leaf, .is_leaf = pair_is_leaf, .user = b};
    /* the twins of rotations must exist before the function is begun */
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
static const char *mean_text(struct hg_code *c)
{
    struct block *b = c->user;
    struct hg_arena *a = c->e->arena;
    const char *s = NULL;
    for (uint32_t q = 0; q < b->em->p->nlinear; q++) {
        const char *l = hg_code_text(c, b->em->p->linear[q]);
        const char *x = hg_is_value(c->e, b->em->basis[q], 1.0)
                            ? l : hg_format(a, "%s*%s", l, hg_code_factor(c, b->em->basis[q]));
        s = s ? hg_format(a, "%s + %s", s, x) : x;
    }
    if (!hg_is_value(c->e, b->em->rest, 0.0))
        s = s ? hg_format(a, "%s + %s", s, hg_code_factor(c, b->em->rest)) : hg_code_text(c, b->em->rest);
    return s ? s : "fit_vset1(0.0)";
}

static void declare_linear(struct hg_code *c)
{
    struct block *b = c->user;
    for (uint32_t q = 0; q < b->em->p->nlinear; q++) {
        if (!hg_code_uses(c, b->em->p->linear[q]))
            continue;
        const char *name = hg_code_unique(c, b->em->p->model->linear.item[q].name);
        hg_line(c, "const double %s = lin[g * %u + %u];", name, b->em->p->nlinear, q);
        hg_code_bind(c, b->em->p->linear[q], name);
    }
}

/* --- the loops around a block ------------------------------------------------------------------------- */

static void exp_prologue(struct hg_emit *em, const struct block *b, FILE *out)
{
    for (uint32_t k = 0; k < b->nexp; k++) {
        hg_id u = hg_at(em->e, b->exps[k])->arg[0];
        int group = (hg_at(em->e, u)->vary & HG_G) != 0;
        const char *f = hg_emit_field(em, group ? HG_FIELD_FRAME_G : HG_FIELD_FRAME, u, 0)->name;
        if (group)
            fprintf(out, "    for (size_t g = 0; g < ng; g++)\n"
                         "        exps[%u * ng + g] = fit_exp_tile(l, t, w->%s_i, ng, g);\n", k, f);
        else
            fprintf(out, "    exps[%u * ng] = fit_exp_tile(l, t, w->%s, 1, 0);\n", k, f);
    }
}

static void tile_loops(FILE *out, const char *call, const char *row_end)
{
    fprintf(out,
            "    for (size_t i = t->i0; i < t->i1; i++) {\n"
            "        for (size_t b = (i + 1 > t->j0 ? i + 1 : t->j0) / FIT_LANES; b < end; b++) {\n"
            "            for (size_t h = 0; h < FIT_LANES; h += FIT_VL) {\n"
            "                const size_t j = b * FIT_LANES + h;\n"
            "                if (t->w || j <= i || j + FIT_VL > t->j1)\n"
            "                    %s, 1);\n"
            "                else\n"
            "                    %s, 0);\n"
            "            }\n"
            "            at += ng * FIT_LANES;\n"
            "        }\n%s"
            "    }\n",
            call, call, row_end);
}

static const char block_head[] =
    "    const size_t ng = l->ngroup, j = b * FIT_LANES + h;\n"
    "    const fit_vm lanes = masked ? fit_pair_lanes(t, i, j) : (fit_vm){0};\n"
    "    (void)exps, (void)lanes;\n";

static const char group_head[] =
    "        const double *y = t->y + at + g * FIT_LANES + h;\n"
    "        __builtin_prefetch(y + 64 * FIT_LANES);\n"
    "        fit_vm use = lanes;\n"
    "        fit_vd weight = {0};\n"
    "        if (masked) {\n"
    "            weight = t->w ? fit_vload(t->w + at + g * FIT_LANES + h) : fit_vset1(1.0);\n"
    "            use &= weight > 0.0;\n"
    "        }\n"
    "        (void)use, (void)weight;\n";

/* --- moments ------------------------------------------------------------------------------------------ */

static int is_constant(const struct hg_emit *em, hg_id id, double *v)
{
    return hg_is_const(em->e, id, v);
}

/* Number of sums kept per group in scratch, and what they are. */
static uint32_t moment_sums(struct hg_emit *em, FILE *out, struct hg_code *c, int pass)
{
    uint32_t Q = em->p->nlinear, n = 0;
    double v, u;
    int rest = !hg_is_value(em->e, em->rest, 0.0);
    const char *y = rest ? "d" : "fit_vload(y)";
    for (uint32_t p = 0; p < Q; p++) {
        if (is_constant(em, em->basis[p], &v))
            continue;
        if (pass)
            fprintf(out, "        sum[%u] += b%u_w;\n", n, p);
        n++;
        for (uint32_t q = p; q < Q; q++) {
            if (is_constant(em, em->basis[q], &u))
                continue;
            if (pass)
                fprintf(out, "        sum[%u] += b%u_w*b%u;\n", n, p, q);
            n++;
        }
        if (pass)
            fprintf(out, "        sum[%u] += b%u_w*%s;\n", n, p, y);
        n++;
    }
    if (rest) {
        if (pass)
            fprintf(out, "        sum[%u] += d_w;\n        sum[%u] += d_w*d;\n", n, n + 1);
        n += 2;
    }
    (void)c;
    return n;
}

/* Text of the outputs of one group from the sums. */
static void moment_outputs(struct hg_emit *em, FILE *out)
{
    uint32_t Q = em->p->nlinear, n = 0, at = 0, *first = hg_alloc(em->e->arena, (Q + 1) * sizeof *first);
    uint32_t *product = hg_alloc(em->e->arena, (Q * Q + 1) * sizeof *product), *data = hg_alloc(em->e->arena, (Q + 1) * sizeof *data);
    struct hg_arena *a = em->e->arena;
    double v, u;
    int rest = !hg_is_value(em->e, em->rest, 0.0);
    for (uint32_t p = 0; p < Q; p++) {
        if (is_constant(em, em->basis[p], &v))
            continue;
        first[p] = n++;
        for (uint32_t q = p; q < Q; q++)
            if (!is_constant(em, em->basis[q], &u))
                product[p * Q + q] = n++;
        data[p] = n++;
    }
    for (uint32_t p = 0; p < Q; p++)
        for (uint32_t q = p; q < Q; q++) {
            int cp = is_constant(em, em->basis[p], &v), cq = is_constant(em, em->basis[q], &u);
            const char *s = cp && cq ? hg_format(a, "%s * data[0]", hg_number(a, v * u))
                            : cp     ? hg_format(a, "%s * fit_vsum(sum[%u])", hg_number(a, v), first[q])
                            : cq     ? hg_format(a, "%s * fit_vsum(sum[%u])", hg_number(a, u), first[p])
                                     : hg_format(a, "fit_vsum(sum[%u])", product[p * Q + q]);
            fprintf(out, "        out[%u] = %s;\n", at++, s);
        }
    for (uint32_t p = 0; p < Q; p++) {
        if (is_constant(em, em->basis[p], &v))
            fprintf(out, "        out[%u] = %s * %s;\n", at++, hg_number(a, v),
                    rest ? hg_format(a, "fit_vsum(sum[%u])", n) : "data[1]");
        else
            fprintf(out, "        out[%u] = fit_vsum(sum[%u]);\n", at++, data[p]);
    }
    fprintf(out, "        out[%u] = %s;\n", at++, rest ? hg_format(a, "fit_vsum(sum[%u])", n + 1) : "data[2]");
    fprintf(out, "        out += %u;\n", at);
}

static void emit_moments(struct hg_emit *em, FILE *out)
{
    struct block b = {.em = em};
    uint32_t Q = em->p->nlinear, nroot = 0;
    hg_id *root = hg_alloc(em->e->arena, (Q + 1) * sizeof *root);
    double v;
    int rest = !hg_is_value(em->e, em->rest, 0.0);
    for (uint32_t q = 0; q < Q; q++)
        if (!is_constant(em, em->basis[q], &v))
            root[nroot++] = em->basis[q];
    if (rest)
        root[nroot++] = em->rest;
    struct hg_code c = begin(em, &b, out, nroot, root);
    uint32_t nsum = moment_sums(em, out, &c, 0);

    fprintf(out, "/* Pairs (i, 8b .. 8b+7): sums of products of the basis functions and the data, per group. */\n"
                 "FIT_INLINE void moments_block(const struct fit_layout *l, const struct tables *w,\n"
                 "                              const struct fit_exp_tile *exps, const struct fit_tile *t, size_t i,\n"
                 "                              size_t b, size_t h, size_t at, fit_vd *restrict sums, const int masked)\n{\n%s",
            block_head);
    hg_code_push(&c);
    need_pair_part(&c, nroot, root);
    fprintf(out, "    for (size_t g = 0; g < ng; g++) {\n%s        fit_vd *restrict sum = sums + g * %u;\n", group_head,
            nsum);
    c.indent = 2;
    hg_code_push(&c);
    need_scalars(&c, nroot, root);
    for (uint32_t k = 0; k < nroot; k++)
        hg_code_need(&c, root[k]);
    for (uint32_t q = 0; q < Q; q++)
        if (!is_constant(em, em->basis[q], &v)) {
            hg_line(&c, "const fit_vd b%u = fit_kept(masked, use, %s); /* multiplies %s */", q,
                    hg_code_vector(&c, em->basis[q]), em->p->model->linear.item[q].name);
            hg_line(&c, "const fit_vd b%u_w = fit_weighted(masked, weight, b%u);", q, q);
        }
    if (rest) {
        hg_line(&c, "const fit_vd d = fit_kept(masked, use, fit_vload(y) - (%s));", hg_code_text(&c, em->rest));
        hg_line(&c, "const fit_vd d_w = fit_weighted(masked, weight, d);");
    }
    moment_sums(em, out, &c, 1);
    fprintf(out, "    }\n}\n\n");
    hg_code_pop(&c);
    hg_code_pop(&c);
    hg_code_end(&c);

    fprintf(out, "static void moments(const struct fit_layout *l, const double *ws, const struct fit_tile *t,\n"
                 "                    double *scratch, double *out)\n{\n"
                 "    const size_t ng = l->ngroup, end = fit_padded(t->j1) / FIT_LANES;\n"
                 "    struct tables tables;\n    carve(l, (double *)(uintptr_t)ws, &tables);\n    const struct tables *const w = &tables;\n"
                 "    fit_vd *sums = (fit_vd *)scratch;\n"
                 "    struct fit_exp_tile *exps = (struct fit_exp_tile *)(sums + %u * ng);\n"
                 "    size_t at = 0;\n"
                 "    for (size_t k = 0; k < %u * ng; k++)\n        sums[k] = (fit_vd){0};\n",
            nsum, nsum);
    em->moment_sums = nsum;
    exp_prologue(em, &b, out);
    tile_loops(out, "moments_block(l, w, exps, t, i, b, h, at, sums", "");
    fprintf(out, "    for (size_t g = 0; g < ng; g++) {\n"
                 "        const double *data = t->sum + 3 * g;\n        const fit_vd *sum = sums + g * %u;\n"
                 "        (void)data, (void)sum;\n", nsum);
    moment_outputs(em, out);
    fprintf(out, "    }\n}\n\n");
    em->table_doubles = b.doubles;
}

/* --- model -------------------------------------------------------------------------------------------- */

static void emit_model(struct hg_emit *em, FILE *out)
{
    struct block b = {.em = em, .direct_exp = 1};
    uint32_t Q = em->p->nlinear, nroot = 0;
    hg_id *root = hg_alloc(em->e->arena, (2 * Q + 1) * sizeof *root);
    for (uint32_t q = 0; q < Q; q++)
        root[nroot++] = em->basis[q];
    for (uint32_t q = 0; q < Q; q++)
        root[nroot++] = em->p->linear[q];
    root[nroot++] = em->rest;
    struct hg_code c = begin(em, &b, out, nroot, root);
    fprintf(out, "/* Pairs (i, 8b .. 8b+7): the mean of every group. */\n"
                 "FIT_INLINE void model_block(const struct fit_layout *l, const struct tables *w, const double *lin,\n"
                 "                            size_t i, size_t b, size_t h, double *out)\n{\n"
                 "    const size_t ng = l->ngroup, j = b * FIT_LANES + h;\n    (void)j;\n");
    hg_code_push(&c);
    need_pair_part(&c, nroot, root);
    fprintf(out, "    for (size_t g = 0; g < ng; g++) {\n");
    c.indent = 2;
    hg_code_push(&c);
    declare_linear(&c);
    need_scalars(&c, nroot, root);
    for (uint32_t k = 0; k < nroot; k++)
        hg_code_need(&c, root[k]);
    hg_line(&c, "fit_vstore(out + g * FIT_LANES + h, fit_vset1(0.0) + (%s));", mean_text(&c));
    fprintf(out, "    }\n}\n\n");
    hg_code_pop(&c);
    hg_code_pop(&c);
    hg_code_end(&c);
    fprintf(out, "static void model(const struct fit_layout *l, const double *ws, const double *lin,\n"
                 "                  const struct fit_tile *t, double *out)\n{\n"
                 "    const size_t ng = l->ngroup, end = fit_padded(t->j1) / FIT_LANES;\n"
                 "    struct tables tables;\n    carve(l, (double *)(uintptr_t)ws, &tables);\n    const struct tables *const w = &tables;\n"
                 "    (void)ng;\n");
    fprintf(out,
            "    for (size_t i = t->i0; i < t->i1; i++)\n"
            "        for (size_t b = (i + 1 > t->j0 ? i + 1 : t->j0) / FIT_LANES; b < end; b++) {\n"
            "            for (size_t h = 0; h < FIT_LANES; h += FIT_VL)\n"
            "                model_block(l, w, lin, i, b, h, out);\n"
            "            out += ng * FIT_LANES;\n"
            "        }\n}\n\n");
}

/* --- normal ------------------------------------------------------------------------------------------- */

static int channel_serves(const struct hg_emit *em, uint32_t c, uint32_t k)
{
    return em->p->channel[c].table[k] != 0;
}

/* Index of (k, l), k <= l, in the upper triangle stored row by row. */
static uint32_t triangle(uint32_t n, uint32_t k, uint32_t l)
{
    return k * n - k * (k + 1) / 2 + l;
}

static const char *table_name(struct hg_emit *em, uint32_t c, uint32_t k)
{
    return hg_emit_field(em, HG_FIELD_FRAME, em->p->channel[c].table[k], 1)->name;
}

/* The small factor U of channel c for parameter k at this pair. */
static const char *small_factor(struct hg_emit *em, uint32_t c, uint32_t k)
{
    return em->p->channel[c].kind == HG_CHANNEL_ONE ? NULL : hg_format(em->e->arena, "u_%s_%s", em->p->channel[c].name,
                                                                              em->p->model->param.item[k].name);
}

static void declare_small_factors(struct hg_emit *em, FILE *out)
{
    for (uint32_t c = 0; c < em->p->nchannel; c++)
        for (uint32_t k = 0; k < em->p->nparam; k++) {
            if (!channel_serves(em, c, k) || em->p->channel[c].kind == HG_CHANNEL_ONE)
                continue;
            const char *t = table_name(em, c, k), *u = small_factor(em, c, k);
            switch (em->p->channel[c].kind) {
            case HG_CHANNEL_DELTA:
                fprintf(out, "    const fit_vd %s = fit_vload(w->%s + j) - w->%s[i];\n", u, t, t);
                break;
            case HG_CHANNEL_AT_J: fprintf(out, "    const fit_vd %s = fit_vload(w->%s + j);\n", u, t); break;
            default: fprintf(out, "    const double %s = w->%s[i];\n", u, t); break;
            }
        }
}

/* F_c_d: sum over groups of m_c m_d. */
static const char *field_name(const struct hg_emit *em, uint32_t c, uint32_t d)
{
    const struct hg_channel *ch = em->p->channel;
    return hg_format(em->e->arena, "F_%s_%s", ch[c < d ? c : d].name, ch[c < d ? d : c].name);
}

static const char *param_name(const struct hg_emit *em, uint32_t k)
{
    return em->p->model->param.item[k].name;
}

/* H_kl += sum_c U_ck P_cl,  P_cl = sum_d F_cd U_dl;  g_k += sum_c U_ck G_c */
static void contract_fields(struct hg_emit *em, FILE *out)
{
    uint32_t E = em->p->nchannel, K = em->p->nparam;
    for (uint32_t l = 0; l < K; l++)
        for (uint32_t c = 0; c < E; c++) {
            const char *sum = NULL;
            int wanted = 0;
            for (uint32_t k = 0; k <= l; k++)
                wanted |= channel_serves(em, c, k);
            for (uint32_t d = 0; d < E && wanted; d++) {
                if (!channel_serves(em, d, l))
                    continue;
                const char *u = small_factor(em, d, l);
                const char *x = u ? hg_format(em->e->arena, "%s*%s", field_name(em, c, d), u) : field_name(em, c, d);
                sum = sum ? hg_format(em->e->arena, "%s + %s", sum, x) : x;
            }
            if (!sum)
                continue;
            const char *p = hg_format(em->e->arena, "p_%s_%s", em->p->channel[c].name, param_name(em, l));
            fprintf(out, "    const fit_vd %s = %s;\n", p, sum);
            for (uint32_t k = 0; k <= l; k++) {
                const char *u = small_factor(em, c, k);
                if (channel_serves(em, c, k))
                    fprintf(out, "    H[%u] += %s%s%s; /* %s, %s */\n", triangle(K, k, l), u ? u : "", u ? "*" : "", p,
                            param_name(em, k), param_name(em, l));
            }
        }
    for (uint32_t k = 0; k < K; k++)
        for (uint32_t c = 0; c < E; c++)
            if (channel_serves(em, c, k)) {
                const char *u = small_factor(em, c, k);
                fprintf(out, "    H[%u] += %s%sG_%s; /* J^T r: %s */\n", K * (K + 1) / 2 + k, u ? u : "", u ? "*" : "",
                        em->p->channel[c].name, param_name(em, k));
            }
}

static void accumulate_slots(struct hg_emit *em, struct hg_code *c)
{
    uint32_t n = nslot(em);
    for (uint32_t s = 0; s < n; s++) {
        enum hg_channel_kind kind = slot_kind(em, s);
        const struct hg_moment *x = slot(em, s);
        hg_line(c, "const fit_vd s%u = fit_counted(masked, use, weight, %s); /* %s: b m_%s */", s,
                hg_code_vector(c, x->core), em->p->model->linear.item[x->q].name, em->p->channel[x->channel].name);
        if (kind == HG_CHANNEL_DELTA || kind == HG_CHANNEL_AT_J)
            hg_line(c, "column[g * %u + %u] += s%u;", n, s, s);
        if (kind != HG_CHANNEL_AT_J)
            hg_line(c, "row[g * %u + %u] += s%u;", n, s, s);
    }
}

static void normal_group(struct hg_emit *em, struct hg_code *c, uint32_t nroot, const hg_id *root)
{
    uint32_t E = em->p->nchannel;
    const struct hg_channel *ch = em->p->channel;
    declare_linear(c);
    need_scalars(c, nroot, root);
    for (uint32_t k = 0; k < nroot; k++)
        hg_code_need(c, root[k]);
    hg_line(c, "const fit_vd r = fit_kept(masked, use, fit_vload(y) - (%s));", mean_text(c));
    for (uint32_t e = 0; e < E; e++) {
        hg_line(c, "const fit_vd m_%s = fit_kept(masked, use, %s);", ch[e].name, hg_code_vector(c, em->m[e]));
        hg_line(c, "const fit_vd w_%s = fit_weighted(masked, weight, m_%s);", ch[e].name, ch[e].name);
    }
    for (uint32_t e = 0; e < E; e++)
        for (uint32_t f = e; f < E; f++)
            hg_line(c, "%s += w_%s*m_%s;", field_name(em, e, f), ch[e].name, ch[f].name);
    for (uint32_t e = 0; e < E; e++)
        hg_line(c, "G_%s += w_%s*r;", ch[e].name, ch[e].name);
    accumulate_slots(em, c);
}

static void normal_block(struct hg_emit *em, struct block *b, FILE *out)
{
    uint32_t E = em->p->nchannel, Q = em->p->nlinear, nroot = 0, n = nslot(em);
    hg_id *root = hg_alloc(em->e->arena, (2 * Q + 1 + E + em->nmoment) * sizeof *root);
    for (uint32_t q = 0; q < Q; q++)
        root[nroot++] = em->basis[q];
    for (uint32_t q = 0; q < Q; q++)
        root[nroot++] = em->p->linear[q];
    root[nroot++] = em->rest;
    for (uint32_t e = 0; e < E; e++)
        root[nroot++] = em->m[e];
    for (uint32_t s = 0; s < n; s++)
        root[nroot++] = slot(em, s)->core;
    struct hg_code c = begin(em, b, out, nroot, root);
    fprintf(out,
            "/* Pairs (i, 8b .. 8b+7): products of the channels m_c (d mean/d theta_k = sum_c m_c U_ck), summed over\n"
            " * the groups, then multiplied by the tables U; and the fields of the cross moments per group. */\n"
            "FIT_INLINE void normal_block(const struct fit_layout *l, const struct tables *w, const double *lin,\n"
            "                             const struct fit_exp_tile *exps, const struct fit_tile *t, size_t i,\n"
            "                             size_t b, size_t h, size_t at, fit_vd *restrict column, fit_vd *restrict row,\n"
            "                             fit_vd *restrict H, const int masked)\n{\n%s", block_head);
    hg_code_push(&c);
    need_pair_part(&c, nroot, root);
    for (uint32_t e = 0; e < E; e++)
        for (uint32_t f = e; f < E; f++)
            fprintf(out, "    fit_vd %s = {0};\n", field_name(em, e, f));
    for (uint32_t e = 0; e < E; e++)
        fprintf(out, "    fit_vd G_%s = {0};\n", em->p->channel[e].name);
    fprintf(out, "    for (size_t g = 0; g < ng; g++) {\n%s", group_head);
    c.indent = 2;
    hg_code_push(&c);
    normal_group(em, &c, nroot, root);
    hg_code_pop(&c);
    hg_code_pop(&c);
    hg_code_end(&c);
    fprintf(out, "    }\n\n    /* products with the tables */\n");
    declare_small_factors(em, out);
    contract_fields(em, out);
    fprintf(out, "}\n\n");
}

/* At the end of a row: row sums times the tables at i (or simply added up for channels without tables). */
static void row_end(struct hg_emit *em, FILE *out, uint32_t *nrow)
{
    uint32_t n = nslot(em), at = 0;
    fprintf(out, "        for (size_t g = 0; g < ng; g++) {\n"
                 "            fit_vd *r = row + g * %u, *s = row_sum + g * ROW_SUMS;\n", n);
    for (uint32_t s = 0; s < n; s++) {
        enum hg_channel_kind kind = slot_kind(em, s);
        if (kind == HG_CHANNEL_AT_J)
            continue;
        if (kind == HG_CHANNEL_ONE) {
            fprintf(out, "            s[%u] += r[%u];\n", at++, s);
        } else {
            for (uint32_t c = 0; c < em->p->nchannel; c++)
                for (uint32_t k = 0; k < em->p->nparam; k++)
                    if (slot_uses(em, s, c, k))
                        fprintf(out, "            s[%u] += r[%u]*w->%s[i];\n", at++, s, table_name(em, c, k));
        }
        fprintf(out, "            r[%u] = (fit_vd){0};\n", s);
    }
    fprintf(out, "        }\n");
    *nrow = at;
}

/* Place of the row sum of slot s (channel c, parameter k) among the row sums. */
static uint32_t row_place(const struct hg_emit *em, uint32_t s, uint32_t c, uint32_t k)
{
    uint32_t at = 0;
    for (uint32_t x = 0; x <= s; x++) {
        enum hg_channel_kind kind = slot_kind(em, x);
        if (kind == HG_CHANNEL_AT_J)
            continue;
        if (kind == HG_CHANNEL_ONE) {
            if (x == s)
                return at;
            at++;
            continue;
        }
        for (uint32_t d = 0; d < em->p->nchannel; d++)
            for (uint32_t m = 0; m < em->p->nparam; m++)
                if (slot_uses(em, x, d, m)) {
                    if (x == s && d == c && m == k)
                        return at;
                    at++;
                }
    }
    hg_bug("emit: no row sum");
}

/* Cross moments of one group: column sums times tables at j minus (or plus) the row sums. */
static void cross_moments(struct hg_emit *em, struct block *b, FILE *out)
{
    uint32_t n = nslot(em), K = em->p->nparam, nroot = 0;
    hg_id *root = hg_alloc(em->e->arena, (em->nmoment + 1) * sizeof *root);
    for (uint32_t m = 0; m < em->nmoment; m++)
        root[nroot++] = em->moment[m].coefficient;
    struct hg_code c = begin(em, b, out, nroot, root);
    c.indent = 2;
    hg_code_push(&c);
    hg_line(&c, "const fit_vd *at_rows = row_sum + g * ROW_SUMS;");
    hg_line(&c, "(void)at_rows;");
    declare_linear(&c);
    for (uint32_t k = 0; k < nroot; k++)
        hg_code_need(&c, root[k]);
    for (uint32_t q = 0; q < em->p->nlinear; q++)
        for (uint32_t k = 0; k < K; k++)
            hg_line(&c, "V[%u] = 0.0;", q * K + k);
    for (uint32_t m = 0; m < em->nmoment; m++) {
        const struct hg_moment *x = &em->moment[m];
        enum hg_channel_kind kind = em->p->channel[x->channel].kind;
        for (uint32_t k = 0; k < K; k++) {
            if (!channel_serves(em, x->channel, k))
                continue;
            hg_line(&c, "{");
            c.indent++;
            hg_line(&c, "fit_vd v = {0};");
            if (kind == HG_CHANNEL_DELTA || kind == HG_CHANNEL_AT_J) {
                hg_line(&c, "for (size_t k = 0; k < pieces; k++)");
                hg_line(&c, "    v += column[(k * ng + g) * %u + %u] * fit_vload(w->%s + t->j0 + k * FIT_VL);", n,
                        x->slot, table_name(em, x->channel, k));
            }
            if (kind != HG_CHANNEL_AT_J)
                hg_line(&c, "v %s= at_rows[%u];", kind == HG_CHANNEL_DELTA ? "-" : "+",
                        row_place(em, x->slot, x->channel, k));
            hg_line(&c, "V[%u] += %s * fit_vsum(v);", x->q * K + k, hg_code_factor(&c, x->coefficient));
            c.indent--;
            hg_line(&c, "}");
        }
    }
    hg_code_pop(&c);
    hg_code_end(&c);
}

static void emit_normal(struct hg_emit *em, FILE *out)
{
    struct block b = {.em = em, .derivative = 0};
    uint32_t K = em->p->nparam, n = nslot(em), nH = K * (K + 1) / 2 + K, nrow = 0;
    char *row_text;
    size_t size;
    FILE *row_out = open_memstream(&row_text, &size);
    if (!row_out)
        hg_bug("out of memory");
    row_end(em, row_out, &nrow);
    fclose(row_out);
    normal_block(em, &b, out);

    fprintf(out, "enum { PIECES = FIT_LANES / FIT_VL, SLOTS = %u, ROW_SUMS = %u, SUMS = %u, MOMENT_SUMS = %u, EXPS = %u };\n\n",
            n ? n : 1, nrow ? nrow : 1, nH ? nH : 1, em->moment_sums + 1, b.nexp + 1);
    fprintf(out,
            "/* Scratch, in vectors: column sums [block][group][SLOTS], row sums of one row, row sums times tables,\n"
            " * the sums of J^T J and J^T r; then what the exponentials need to know of the tile. */\n"
            "static size_t scratch_size(const struct fit_layout *l)\n{\n"
            "    const size_t ng = l->ngroup, vectors = ng * SLOTS + ng * ROW_SUMS + SUMS;\n"
            "    return l->panel * ng * SLOTS + FIT_VL * vectors + MOMENT_SUMS * FIT_VL * ng + 2 * EXPS * ng;\n}\n\n");
    fprintf(out,
            "static void normal(const struct fit_layout *l, const double *ws, const double *lin,\n"
            "                   const struct fit_tile *t, double *scratch, double *out)\n{\n"
            "    const size_t ng = l->ngroup, start = t->j0 / FIT_LANES, end = fit_padded(t->j1) / FIT_LANES;\n"
            "    struct tables tables;\n    carve(l, (double *)(uintptr_t)ws, &tables);\n    const struct tables *const w = &tables;\n"
            "    const size_t pieces = (end - start) * PIECES; /* vectors in a row of the tile */\n"
            "    fit_vd *column = (fit_vd *)scratch, *row = column + pieces * ng * SLOTS;\n"
            "    fit_vd *row_sum = row + ng * SLOTS, *H = row_sum + ng * ROW_SUMS;\n"
            "    struct fit_exp_tile *exps = (struct fit_exp_tile *)(H + SUMS);\n"
            "    size_t at = 0;\n"
            "    for (fit_vd *v = column; v < H + SUMS; v++)\n        *v = (fit_vd){0};\n");
    exp_prologue(em, &b, out);
    tile_loops(out, hg_format(em->e->arena,
                              "normal_block(l, w, lin, exps, t, i, b, h, at, column + ((b - start) * PIECES + h / FIT_VL) * ng * %u, row, H",
                              n),
               row_text);
    fprintf(out, "\n    for (size_t k = 0; k < %u; k++)\n        out[k] = fit_vsum(H[k]);\n", nH);
    fprintf(out, "    double *V = out + %u;\n    for (size_t g = 0; g < ng; g++, V += %u) {\n", nH,
            em->p->nlinear * K);
    cross_moments(em, &b, out);
    fprintf(out, "    }\n}\n\n");
    if (b.doubles > em->table_doubles)
        em->table_doubles = b.doubles;
    free(row_text);
}

void hg_emit_pairs(struct hg_emit *em, FILE *out)
{
    emit_moments(em, out);
    emit_normal(em, out);
    emit_model(em, out);
}
