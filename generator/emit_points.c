/* emit_points.c -- points: the mean and its derivatives at single points, and curves: derived functions of
 * time.  The direct formulas, one point at a time: what the factored tile functions are compared with.
 */
#include "emit_points.h"

#include <string.h>

static int point_is_leaf(const struct hg_code *c, hg_id id)
{
    const struct hg_node *n = hg_at(c->e, id);
    return n->nargs == 0 || n->op == HG_AT_I || n->op == HG_AT_J || n->op == HG_DELTA;
}

const char *hg_point_table(struct hg_code *c, hg_id u, const char *frame)
{
    struct hg_points *q = c->user;
    int group = (hg_at(c->e, u)->vary & HG_G) != 0;
    const char *f = hg_emit_field(q->em, group ? HG_FIELD_FRAME_G : HG_FIELD_FRAME, u, q->derivative)->name;
    return hg_format(c->e->arena, group ? "w.%s_i[%s * ng + g]" : "w.%s[%s]", f, frame);
}

const char *hg_point_delta(struct hg_code *c, hg_id u, const char *name)
{
    const char *s = hg_code_unique(c, name ? name : "delta"), *at_i = hg_point_table(c, u, "i");
    hg_line(c, "const double %s = %s - %s;", s, hg_point_table(c, u, "j"), at_i);
    return s;
}

static const char *point_leaf(struct hg_code *c, hg_id id)
{
    struct hg_points *q = c->user;
    struct hg_arena *a = c->e->arena;
    const struct hg_node *n = hg_at(c->e, id);
    const char *s, *at_i;
    switch (n->op) {
    case HG_AT_I: return hg_point_table(c, n->arg[0], "i");
    case HG_AT_J: return hg_point_table(c, n->arg[0], "j");
    case HG_INPUT: return hg_point_input(c, id);
    case HG_DELTA:
        if (!hg_emit_has_low(q->em, n->arg[0]))
            return hg_point_delta(c, n->arg[0], n->name);
        s = hg_code_unique(c, n->name ? n->name : "delta");
        at_i = hg_emit_field(q->em, HG_FIELD_FRAME, n->arg[0], 0)->name;
        hg_line(c, "const double %s = fit_low_difference(w.%s, w.%s_low, j, i);", s, at_i, at_i);
        return s;
    case HG_LINEAR: return hg_format(a, "lin[g * %u + %u]", q->em->p->nlinear, n->ref);
    case HG_COLUMN: return hg_format(a, "l->column[%u][i]", n->ref);
    case HG_LOCAL:
        return hg_format(a, n->vary ? "w.%s[g]" : "w.%s[0]",
                         hg_emit_field(q->em, n->vary ? HG_FIELD_GROUP : HG_FIELD_SCALAR, id, 0)->name);
    default: return hg_emit_common_leaf(c, id);
    }
}

struct hg_code hg_points_begin(struct hg_points *q, FILE *out, uint32_t nroot, const hg_id *root)
{
    const struct hg_model *m = q->em->p->model;
    struct hg_code c = {.e = q->em->e, .out = out, .indent = 2, .source = m->file, .units = q->em->p->model,
                        .leaf = point_leaf, .is_leaf = point_is_leaf, .user = q};
    hg_code_begin(&c, nroot, root);
    return c;
}

void hg_points_head(struct hg_code *c, const char *name, const char *results)
{
    struct hg_points *q = c->user;
    const struct hg_plan *p = q->em->p;
    int indent = (int)strlen("static void (") + (int)strlen(name);
    fprintf(c->out, "static void %s(const struct fit_layout *l, const double *ws, const double *lin, size_t n,\n"
                    "%*sconst uint32_t *pi, const uint32_t *pj, const uint32_t *pg, %s)\n{\n"
                    "    const size_t ng = l->ngroup;\n    struct tables w;\n    carve(l, (double *)(uintptr_t)ws, &w);\n"
                    "    (void)ng, (void)lin, (void)w;\n"
                    "    for (size_t p = 0; p < n; p++) {\n", name, indent, "", results);
    if (p->model->space == FIT_ROWS)
        hg_line(c, "const size_t i = pi[p], g = %s;\n        (void)pj, (void)pg, (void)i, (void)g;",
                p->model->axis.n ? "pg ? pg[p] : 0" : "0");
    else
        hg_line(c, "const size_t g = pg[p], i = pi[p] < pj[p] ? pi[p] : pj[p], j = pi[p] < pj[p] ? pj[p] : pi[p];\n"
                   "        (void)g;");
    hg_code_push(c);
    for (uint32_t k = 0; k < p->nlinear; k++) {
        if (!hg_code_uses(c, p->linear[k]))
            continue;
        const char *s = hg_code_unique(c, p->model->linear.item[k].name);
        hg_line(c, "const double %s = lin[g * %u + %u];", s, p->nlinear, k);
        hg_code_bind(c, p->linear[k], s);
    }
}

void hg_points_end(struct hg_code *c)
{
    hg_code_pop(c);
    fprintf(c->out, "    }\n}\n");
    hg_code_end(c);
}

/* --- points ------------------------------------------------------------------------------------------- */

static const char *mean_of(struct hg_code *c)
{
    struct hg_points *q = c->user;
    const struct hg_plan *p = q->em->p;
    struct hg_arena *a = c->e->arena;
    const char *s = NULL;
    for (uint32_t k = 0; k < p->nlinear; k++) {
        const char *x = hg_code_text(c, p->linear[k]);
        if (!hg_is_value(c->e, p->basis[k], 1.0))
            x = hg_format(a, "%s*%s", x, hg_code_factor(c, p->basis[k]));
        s = s ? hg_format(a, "%s + %s", s, x) : x;
    }
    if (!hg_is_value(c->e, p->rest, 0.0))
        s = s ? hg_format(a, "%s + %s", s, hg_code_factor(c, p->rest)) : hg_code_text(c, p->rest);
    return s ? s : "0.0";
}

/* sum over channels of m_c times its small factor */
static const char *derivative_of(struct hg_code *c, uint32_t k)
{
    struct hg_points *q = c->user;
    struct hg_arena *a = c->e->arena;
    const char *s = NULL;
    for (uint32_t n = 0; n < q->em->p->nchannel; n++) {
        const struct hg_channel *ch = &q->em->p->channel[n];
        const char *m, *i, *x;
        if (!ch->table[k])
            continue;
        m = hg_code_factor(c, ch->m);
        switch (ch->kind) {
        case HG_CHANNEL_DELTA:
            i = hg_point_table(c, ch->table[k], "i");
            x = hg_format(a, "%s*(%s - %s)", m, hg_point_table(c, ch->table[k], "j"), i);
            break;
        case HG_CHANNEL_AT_I: x = hg_format(a, "%s*%s", m, hg_point_table(c, ch->table[k], "i")); break;
        case HG_CHANNEL_AT_J: x = hg_format(a, "%s*%s", m, hg_point_table(c, ch->table[k], "j")); break;
        default: x = m; break;
        }
        s = s ? hg_format(a, "%s + %s", s, x) : x;
    }
    return s ? s : "0.0";
}

void hg_emit_points(struct hg_emit *em, FILE *out)
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
    hg_points_head(&c, "points", "double *mean,\n                   double *jac");
    for (uint32_t k = 0; k <= Q; k++)
        hg_code_need(&c, root[k]);
    hg_line(&c, "mean[p] = %s;", mean_of(&c));
    hg_line(&c, "if (!jac)\n            continue;");
    q.derivative = 1;
    hg_line(&c, "double *J = jac + p * %u;", K + Q);
    for (uint32_t k = 0; k < p->nchannel; k++)
        hg_code_need(&c, p->channel[k].m);
    for (uint32_t k = 0; k < K; k++)
        hg_line(&c, "J[%u] = %s; /* %s */", k, derivative_of(&c, k), p->model->param.item[k].name);
    for (uint32_t k = 0; k < Q; k++)
        hg_line(&c, "J[%u] = %s; /* %s */", K + k, hg_code_text(&c, p->basis[k]), p->model->linear.item[k].name);
    hg_points_end(&c);
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

static int curve_is_leaf(const struct hg_code *c, hg_id id)
{
    return hg_at(c->e, id)->nargs == 0;
}

void hg_emit_curves(struct hg_emit *em, FILE *out)
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
    struct hg_code c = {.e = em->e, .out = out, .indent = 2, .source = m->file, .units = m, .leaf = curve_leaf,
                        .is_leaf = curve_is_leaf, .reserve = reserve, .nreserve = nreserve, .nparam = K, .user = em};
    hg_code_begin(&c, nroot, root);
    fprintf(out, "static void curves(const struct fit_layout *l, const double *theta, double *value, double *tangent)\n{\n"
                 "    const size_t n = %s;\n    (void)theta, (void)value, (void)tangent;\n",
            m->space == FIT_ROWS ? "l->nrow" : "l->ntime");
    hg_emit_declare_names(em, out);
    fprintf(out, "    for (size_t k = 0; k < n; k++) {\n");
    hg_code_push(&c);
    for (uint32_t k = 0; k < n; k++) {
        hg_code_need(&c, root[k]);
        hg_line(&c, "value[%u * n + k] = %s; /* %s */", k, hg_code_text(&c, root[k]), m->curve.item[k].name);
    }
    if (n && K) {
        hg_line(&c, "if (!tangent)\n            continue;");
        for (uint32_t k = n; k < nroot; k++) {
            hg_code_need(&c, root[k]);
            hg_line(&c, "tangent[%u * n + k] = %s;", k - n, hg_code_text(&c, root[k]));
        }
    }
    hg_code_pop(&c);
    hg_code_end(&c);
    fprintf(out, "    }\n}\n");
}
