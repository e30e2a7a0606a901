/* emit_points.c -- points: the mean and its derivatives at single points, and curves: derived functions of time. These
 * are the direct formulas, against which the factored tile functions are checked; a vector of points at a time
 * (fit/points.h).
 */
#include "emit/emit_points.h"
#include "graph/loop.h"

#include <string.h>

static int point_is_leaf(const struct hg_code *c, hg_id id)
{
    const struct hg_node *n = hg_at(c->e, id);
    return n->nargs == 0 || n->op == HG_AT_I || n->op == HG_AT_J || n->op == HG_DELTA;
}

static const char *frame_field(struct hg_code *c, hg_id u, int *group)
{
    struct hg_points *q = c->user;
    *group = (hg_at(c->e, u)->vary & HG_G) != 0;
    return hg_emit_field(q->em, *group ? HG_FIELD_FRAME_G : HG_FIELD_FRAME, u, q->derivative)->name;
}

const char *hg_point_table(struct hg_code *c, hg_id u, const char *frame)
{
    int group;
    const char *f = frame_field(c, u, &group);
    return hg_format(c->e->arena, group ? "fit_pick_group_%s(w.%s_i, ng, &at)" : "fit_pick_%s(w.%s, &at)", frame, f);
}

static const char *change_of(struct hg_code *c, hg_id u)
{
    int group;
    const char *f = frame_field(c, u, &group);
    return hg_format(c->e->arena, group ? "fit_pick_change_group(w.%s_i, ng, &at)" : "fit_pick_change(w.%s, &at)", f);
}

/* Declares a vector with this value under a name made from `stem`. */
static const char *declare_vector(struct hg_code *c, const char *stem, const char *value)
{
    const char *s = hg_code_unique(c, stem);
    hg_declare(c->out, "const fit_vd", "%s = %s;", s, value);
    return s;
}

const char *hg_point_delta(struct hg_code *c, hg_id u, const char *name)
{
    int group;
    return declare_vector(c, name ? name : hg_format(c->e->arena, "d_%s", frame_field(c, u, &group)), change_of(c, u));
}

const char *hg_point_delta_low(struct hg_code *c, hg_id u, const char *name)
{
    struct hg_points *q = c->user;
    const char *f = hg_emit_field(q->em, HG_FIELD_FRAME, u, 0)->name;
    return declare_vector(c, name ? name : hg_format(c->e->arena, "d_%s", f),
                          hg_format(c->e->arena, "fit_pick_change_low(w.%s, w.%s_low, &at)", f, f));
}

const char *hg_point_at(struct hg_code *c, hg_id u, const char *frame, const char *name)
{
    int group;
    return declare_vector(c, name ? name : hg_format(c->e->arena, "%s_%s", frame_field(c, u, &group), frame),
                          hg_point_table(c, u, frame));
}

static const char *point_leaf(struct hg_code *c, hg_id id)
{
    struct hg_points *q = c->user;
    struct hg_arena *a = c->e->arena;
    const struct hg_node *n = hg_at(c->e, id);
    const char *s;
    switch (n->op) {
    case HG_AT_I: return hg_point_at(c, n->arg[0], "i", n->name);
    case HG_AT_J: return hg_point_at(c, n->arg[0], "j", n->name);
    case HG_INPUT: return hg_point_input(c, id);
    case HG_DELTA:
        if (!hg_emit_has_low(q->em, n->arg[0]))
            return hg_point_delta(c, n->arg[0], n->name);
        return hg_point_delta_low(c, n->arg[0], n->name);
    case HG_COLUMN:
        return declare_vector(c, n->name ? n->name : q->em->p->model->column.item[n->ref].name,
                              hg_format(a, "fit_pick(l->column[%u], at.i)", n->ref));
    case HG_CARRIED:
        s = hg_emit_row_field(q->em, id);
        return declare_vector(c, s, hg_format(a, "fit_pick(w.%s, at.i)", s));
    case HG_COORD:
        return declare_vector(c, n->name ? n->name : q->em->p->model->axis.item[n->ref].name,
                              hg_format(a, "fit_pick_g(l->coord[%u], &at)", n->ref));
    case HG_LOCAL:
        if (!(n->vary & HG_G))
            return hg_emit_local(q->em, c, id, "w.");
        s = hg_emit_local_field(q->em, id)->name;
        return declare_vector(c, s, n->vary & HG_K ? hg_format(a, "fit_pick_stride(w.%s + %s, %zu, &at)", s,
                                                               hg_code_turn(c, id), hg_extent(c->e, id, 1))
                                                   : hg_format(a, "fit_pick_g(w.%s, &at)", s));
    default: return hg_emit_common_leaf(c, id);
    }
}

/* A table without axes is one group: quantities that vary with the group are then one number. */
static int has_groups(const struct hg_model *m)
{
    return m->space == FIT_PAIRS || m->axis.n > 0;
}

struct hg_code hg_points_begin(struct hg_points *q, struct hg_tree *out, uint32_t nroot, const hg_id *root)
{
    const struct hg_model *m = q->em->p->model;
    struct hg_code c = {.e = q->em->e, .out = out, .source = m->file, .units = q->em->p->model,
                        .leaf = point_leaf, .is_leaf = point_is_leaf, .user = q};
    c.vector_if = HG_I | HG_J | HG_R | (has_groups(m) ? HG_G : 0u);
    hg_code_begin(&c, nroot, root);
    return c;
}

/* The linear parameters by their names. */
static void declare_linear(struct hg_code *c)
{
    struct hg_points *q = c->user;
    const struct hg_plan *p = q->em->p;
    for (uint32_t k = 0; k < p->nlinear; k++) {
        const char *name = p->model->linear.item[k].name;
        if (!hg_code_uses(c, p->linear[k]))
            continue;
        if (has_groups(p->model)) {
            name = declare_vector(c, name,
                                  p->nlinear == 1
                                      ? "fit_pick_g(lin, &at)"
                                      : hg_format(c->e->arena, "fit_pick_stride(lin + %u, %u, &at)", k, p->nlinear));
        } else {
            name = hg_code_unique(c, name);
            hg_declare(c->out, "const double", "%s = lin[%u];", name, k);
        }
        hg_code_bind(c, p->linear[k], name);
    }
}

static void open_loop(struct hg_code *c, const char *run)
{
    const struct hg_plan *p = ((struct hg_points *)c->user)->em->p;
    hg_offer(c->out, "const size_t", "ng = l->ngroup;");
    hg_define(c->out, "w", "struct tables w;\ncarve(l, (double *)(uintptr_t)ws, &w);\n");
    hg_open(c->out, "for (size_t p = 0; p < list->n; p += FIT_VL) { /* points p, p + 1, ...: a vector of them */");
    if (p->model->space == FIT_PAIRS)
        hg_declare(c->out, "const struct fit_vpoints", "at = fit_pairs_at(list, p, %s);", run);
    else
        hg_declare(c->out, "const struct fit_vpoints", "at = fit_rows_at(list, p);");
    hg_code_push(c);
    declare_linear(c);
}

#define POINTS "const struct fit_layout *l, const double *ws, const double *lin, const struct fit_points *list, "

void hg_points_head(struct hg_code *c, const char *name, const char *results)
{
    hg_open_function(c->out, "static void", name, hg_format(c->e->arena, "%s%s", POINTS, results));
    open_loop(c, "0");
}

void hg_points_end(struct hg_code *c)
{
    hg_code_pop(c);
    hg_close(c->out);
    hg_close(c->out);
    hg_code_end(c);
}

/* --- points ------------------------------------------------------------------------------------------- */

/* A sum as text; whether it is a vector. */
struct sum {
    const char *text;
    int vector;
};

static void add_term(struct hg_code *c, struct sum *s, const char *x, int vector)
{
    s->text = s->text ? hg_format(c->e->arena, "%s + %s", s->text, x) : x;
    s->vector |= vector;
}

static const char *vector_of(struct hg_code *c, const struct sum *s)
{
    return s->vector ? s->text : hg_format(c->e->arena, "fit_vset1(%s)", s->text ? s->text : "0.0");
}

static const char *mean_of(struct hg_code *c)
{
    struct hg_points *q = c->user;
    const struct hg_plan *p = q->em->p;
    struct sum s = {NULL, 0};
    for (uint32_t k = 0; k < p->nlinear; k++) {
        const char *x = hg_code_text(c, p->linear[k]);
        if (!hg_is_value(c->e, p->basis[k], 1.0))
            x = hg_format(c->e->arena, "%s*%s", x, hg_code_factor(c, p->basis[k]));
        add_term(c, &s, x, hg_code_is_vector(c, p->linear[k]) || hg_code_is_vector(c, p->basis[k]));
    }
    if (!hg_is_value(c->e, p->rest, 0.0))
        add_term(c, &s, s.text ? hg_code_factor(c, p->rest) : hg_code_text(c, p->rest), hg_code_is_vector(c, p->rest));
    return vector_of(c, &s);
}

/* Slopes that several parameters share, under the names that they have in `normal`. */
static void declare_slope(struct hg_code *c, const struct hg_channel *ch)
{
    static const char *const by[] = {"integral of ", "factor ", "factor "};
    hg_code_need(c, ch->m);
    if (hg_code_bound(c, ch->m) || !hg_code_is_vector(c, ch->m) || ch->kind == HG_CHANNEL_ONE)
        return;
    const char *value = hg_code_text(c, ch->m), *s = hg_code_unique(c, hg_format(c->e->arena, "m_%s", ch->name));
    hg_declare(c->out, "const fit_vd", "%s = %s; /* d mean / d %s%s */", s, value, by[ch->kind], ch->name);
    hg_code_bind(c, ch->m, s);
}

/* sum over channels of m_c times its small factor */
static const char *derivative_of(struct hg_code *c, uint32_t k)
{
    struct hg_points *q = c->user;
    struct hg_arena *a = c->e->arena;
    struct sum s = {NULL, 0};
    for (uint32_t n = 0; n < q->em->p->nchannel; n++) {
        const struct hg_channel *ch = &q->em->p->channel[n];
        const char *m, *x;
        if (!ch->table[k])
            continue;
        m = ch->kind == HG_CHANNEL_ONE && !s.text ? hg_code_text(c, ch->m) : hg_code_factor(c, ch->m);
        switch (ch->kind) {
        case HG_CHANNEL_DELTA: x = hg_format(a, "%s*%s", m, change_of(c, ch->table[k])); break;
        case HG_CHANNEL_AT_I: x = hg_format(a, "%s*%s", m, hg_point_table(c, ch->table[k], "i")); break;
        case HG_CHANNEL_AT_J: x = hg_format(a, "%s*%s", m, hg_point_table(c, ch->table[k], "j")); break;
        default: x = m; break;
        }
        add_term(c, &s, x, ch->kind != HG_CHANNEL_ONE || hg_code_is_vector(c, ch->m));
    }
    return vector_of(c, &s);
}

/* Separate code for runs of points, in which everything is read without gathers. */
static void write_stretches(struct hg_tree *out)
{
    hg_put(out, "\n");
    hg_open_function(out, "static void", "points", POINTS "double *mean, double *jac");
    hg_line(out, "int run;\n"
                 "for (size_t p = 0, m; p < list->n; p += m) {\n"
                 "    const struct fit_points part = fit_pairs_stretch(list, p, &run);\n"
                 "    double *to = jac ? jac + p : NULL;\n"
                 "    m = part.n;\n"
                 "    if (run)\n"
                 "        points_of(l, ws, lin, &part, mean + p, to, list->n, 1);\n"
                 "    else\n"
                 "        points_of(l, ws, lin, &part, mean + p, to, list->n, 0);\n"
                 "}");
    hg_close(out);
}

void hg_emit_points(struct hg_emit *em, struct hg_tree *out)
{
    struct hg_points q = {.em = em};
    const struct hg_plan *p = em->p;
    uint32_t nroot = 0, K = p->nparam, Q = p->nlinear;
    hg_id *root = hg_alloc(em->e->arena, (2 * Q + 1 + p->nchannel) * sizeof *root);
    for (uint32_t k = 0; k < Q; k++)
        root[nroot++] = p->basis[k];
    root[nroot++] = p->rest;
    for (uint32_t k = 0; k < Q; k++)
        root[nroot++] = p->linear[k];
    for (uint32_t c = 0; c < p->nchannel; c++)
        root[nroot++] = p->channel[c].m;
    struct hg_code c = hg_points_begin(&q, out, nroot, root);
    const int pairs = p->model->space == FIT_PAIRS;
    if (pairs) {
        hg_open_function(out, hg_format(em->e->arena, "%s void", em->inlined), "points_of",
                    POINTS "double *mean, double *jac, size_t stride, int run");
        open_loop(&c, "run");
    } else {
        hg_points_head(&c, "points", "double *mean, double *jac");
    }
    for (uint32_t k = 0; k <= Q; k++)
        hg_code_need(&c, root[k]);
    hg_do(c.out, "fit_store_points(mean + p, at.n, %s);", mean_of(&c));
    hg_line(c.out, "if (!jac)\n    continue;");
    q.derivative = 1;
    hg_declare(c.out, "fit_vd", "J[%u];", K + Q ? K + Q : 1);
    for (uint32_t k = 0; k < p->nchannel; k++)
        declare_slope(&c, &p->channel[k]);
    for (uint32_t k = 0; k < K; k++)
        hg_do(c.out, "J[%u] = %s; /* %s */", k, derivative_of(&c, k), p->model->param.item[k].name);
    for (uint32_t k = 0; k < Q; k++)
        hg_do(c.out, "J[%u] = %s; /* %s */", K + k, hg_code_vector(&c, p->basis[k]), p->model->linear.item[k].name);
    hg_do(c.out, "fit_store_columns(jac + p, %s, %u, at.n, J);", pairs ? "stride" : "list->n", K + Q);
    hg_points_end(&c);
    if (pairs)
        write_stretches(out);
}

/* --- curves ------------------------------------------------------------------------------------------- */

static const char *curve_leaf(struct hg_code *c, hg_id id)
{
    const struct hg_node *n = hg_at(c->e, id);
    if (n->op == HG_TIME)
        return "l->time[k]";
    if (n->op == HG_COLUMN)
        return hg_format(c->e->arena, "l->column[%u][k]", n->ref);
    return hg_emit_common_leaf(c, id);
}

void hg_emit_curves(struct hg_emit *em, struct hg_tree *out)
{
    struct hg_model *m = em->p->model;
    uint32_t n = m->curve.n, K = m->param.n, nroot = 0;
    hg_id *root = hg_alloc(em->e->arena, (n * (K + 1) + 1) * sizeof *root);
    for (uint32_t c = 0; c < n; c++)
        root[nroot++] = m->curve.item[c].node;
    for (uint32_t c = 0; c < n; c++)
        for (uint32_t k = 0; k < K; k++)
            root[nroot++] = hg_diff(em->e, m->curve.item[c].node, em->p->param[k]);
    const char *const *reserve;
    uint32_t nreserve = hg_emit_names(em, &reserve);
    struct hg_code c = {.e = em->e,
                        .out = out,
                        .source = m->file,
                        .units = m,
                        .leaf = curve_leaf,
                        .is_leaf = hg_code_is_symbol,
                        .reserve = reserve,
                        .nreserve = nreserve,
                        .nparam = K,
                        .user = em};
    hg_open_function(out, "static void", "curves",
                "const struct fit_layout *l, const double *theta, double *value, double *tangent");
    if (n == 0) {
        hg_line(out, "/* the model has none */");
        hg_close(out);
        return;
    }
    hg_code_begin(&c, nroot, root);
    hg_declare(out, "const size_t", "n = %s;", m->space == FIT_ROWS ? "l->nrow" : "l->ntime");
    hg_emit_declare_names(em, out);
    hg_open(out, "for (size_t k = 0; k < n; k++) {");
    hg_code_push(&c);
    for (uint32_t k = 0; k < n; k++) {
        hg_code_need(&c, root[k]);
        hg_do(c.out, "value[%u * n + k] = %s; /* %s */", k, hg_code_text(&c, root[k]), m->curve.item[k].name);
    }
    if (n && K) {
        hg_line(c.out, "if (!tangent)\n    continue;");
        for (uint32_t k = n; k < nroot; k++) {
            hg_code_need(&c, root[k]);
            hg_do(c.out, "tangent[%u * n + k] = %s;", k - n, hg_code_text(&c, root[k]));
        }
    }
    hg_code_pop(&c);
    hg_code_end(&c);
    hg_close(out);
    hg_close(out);
}
