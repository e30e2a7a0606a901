/* emit_rows.c -- moments, normal, gradient and model for the rows of a table: vectors of eight rows.
 *
 * With axes the rows of a tile belong to one group, t->group; sums of the other groups are 0. */

#include "emit/emit_rows.h"

const char *hg_row_leaf(struct hg_code *c, hg_id id)
{
    struct hg_emit *em = c->user;
    struct hg_arena *a = c->e->arena;
    const struct hg_node *n = hg_at(c->e, id);
    const char *name;
    switch (n->op) {
    case HG_COLUMN:
        name = hg_code_unique(c, n->name ? n->name : em->p->model->column.item[n->ref].name);
        hg_declare(c->out, "const fit_vd", "%s = fit_vload(l->column[%u] + row);", name, n->ref);
        return name;
    case HG_CARRIED:
        name = hg_emit_row_field(em, id);
        return hg_format(a, "fit_vload(w.%s + row)", name);
    case HG_LINEAR: return hg_format(a, "lin[%u]", n->ref);
    case HG_LOCAL: return hg_emit_local(em, c, id, "w.");
    default: return hg_emit_common_leaf(c, id);
    }
}

static int has_groups(const struct hg_emit *em)
{
    return em->p->model->axis.n > 0;
}

/* Declarations for every function over rows. */
void hg_rows_head(const struct hg_emit *em, struct hg_tree *out)
{
    hg_define(out, "w", "struct tables w;\ncarve(l, (double *)(uintptr_t)ws, &w);\n");
    if (has_groups(em))
        hg_offer(out, "const size_t", "g = t->group;");
}

/* The linear parameters of the tile's group. */
static void own_linear(const struct hg_emit *em, struct hg_tree *out)
{
    if (has_groups(em))
        hg_do(out, "lin += %u * g;", em->p->nlinear);
}

struct hg_code hg_rows_begin(struct hg_emit *em, struct hg_tree *out, uint32_t nroot, const hg_id *root,
                             const char *(*leaf)(struct hg_code *c, hg_id id))
{
    struct hg_code c = {.e = em->e,
                        .out = out,
                        .vector_if = HG_R,
                        .source = em->p->model->file,
                        .units = em->p->model,
                        .leaf = leaf,
                        .is_leaf = hg_code_is_symbol,
                        .user = em};
    hg_code_begin(&c, nroot, root);
    hg_code_push(&c);
    return c;
}

static struct hg_code begin(struct hg_emit *em, struct hg_tree *out, uint32_t nroot, const hg_id *root)
{
    return hg_rows_begin(em, out, nroot, root, hg_row_leaf);
}

void hg_rows_end(struct hg_code *c)
{
    hg_code_pop(c);
    hg_code_end(c);
}

static const char loop_head[] = "for (size_t row = t->i0; row < fit_padded(t->i1); row += FIT_VL) {";

/* Weight of the lanes: 0 for unused lanes. Such a lane repeats the last row (kernel.h), so its values are finite
 * when those of the data are, and the weight alone removes it from the sums. */
static void loop_with_weights(struct hg_tree *out)
{
    hg_open(out, "%s", loop_head);
    hg_offer(out, "const size_t", "at = row - t->i0;");
    hg_define(out, "weight",
              "fit_vd weight = t->w ? fit_vload(t->w + at) : fit_vset1(1.0);\n"
              "if (__builtin_expect(row + FIT_VL > t->i1, 0))\n"
              "    weight = fit_where_set(fit_row_lanes(t, row), weight);\n");
}

static uint32_t value_roots(const struct hg_emit *em, hg_id *root)
{
    uint32_t n = 0;
    for (uint32_t q = 0; q < em->p->nlinear; q++)
        root[n++] = em->form->basis[q];
    root[n++] = em->form->rest;
    return n;
}

/* Sums of b_p b_q, b_p d and d^2. */
static uint32_t moments_of(uint32_t Q)
{
    return Q * (Q + 1) / 2 + Q + 1;
}

/* The vectors of scratch that the sums need. */
static uint32_t scratch_of(const struct hg_emit *em)
{
    uint32_t Q = em->p->nlinear, K = em->p->nparam, n = K ? K * (K + 1) / 2 + K + Q * K + 1 : 0;
    return Q > HG_FEW_LINEAR && moments_of(Q) > n ? moments_of(Q) : n;
}

static void add_few_moments(struct hg_code *c, uint32_t Q)
{
    const hg_id *basis = ((struct hg_emit *)c->user)->form->basis;
    uint32_t at = 0;
    for (uint32_t q = 0; q < Q; q++)
        hg_declare(c->out, "const fit_vd", "b%u = %s;", q, hg_code_vector(c, basis[q]));
    for (uint32_t p = 0; p < Q; p++)
        for (uint32_t q = p; q < Q; q++)
            hg_do(c->out, "sum[%u] += weight*b%u*b%u;", at++, p, q);
    for (uint32_t p = 0; p < Q; p++)
        hg_do(c->out, "sum[%u] += weight*b%u*d;", at++, p);
    hg_do(c->out, "sum[%u] += weight*d*d;", at);
}

static void add_many_moments(struct hg_code *c, uint32_t Q)
{
    hg_code_array(c, "b", Q, ((struct hg_emit *)c->user)->form->basis);
    hg_line(c->out,
            "for (size_t p = 0, n = 0; p < %u; p++) {\n"
            "    const fit_vd wb = weight*b[p];\n"
            "    for (size_t q = p; q < %u; q++)\n"
            "        sum[n++] += wb*b[q];\n"
            "    sum[%u + p] += wb*d;\n"
            "}",
            Q, Q, Q * (Q + 1) / 2);
    hg_do(c->out, "sum[%u] += weight*d*d;", moments_of(Q) - 1);
}

static void emit_moments(struct hg_emit *em, struct hg_tree *out)
{
    uint32_t Q = em->p->nlinear, nsum = moments_of(Q);
    int many = Q > HG_FEW_LINEAR;
    hg_id *root = hg_alloc(em->e->arena, (Q + 1) * sizeof *root);
    uint32_t nroot = value_roots(em, root);
    hg_open_function(out, "static void", "moments",
                "const struct fit_layout *l, const double *ws, const struct fit_tile *t, double *scratch, double *out");
    hg_rows_head(em, out);
    if (many)
        hg_line(out, "fit_vd *sum = (fit_vd *)scratch;\nfor (size_t k = 0; k < %u; k++)\n    sum[k] = (fit_vd){0};",
                nsum);
    else
        hg_declare(out, "fit_vd", "sum[%u] = {{0}};", nsum);
    loop_with_weights(out);
    struct hg_code c = begin(em, out, nroot, root);
    for (uint32_t k = 0; k < nroot; k++)
        hg_code_need(&c, root[k]);
    if (hg_is_value(em->e, em->form->rest, 0.0))
        hg_declare(c.out, "const fit_vd", "d = fit_vload(t->y + at);");
    else
        hg_declare(c.out, "const fit_vd", "d = fit_vload(t->y + at) - (%s);", hg_code_text(&c, em->form->rest));
    if (many)
        add_many_moments(&c, Q);
    else
        add_few_moments(&c, Q);
    hg_rows_end(&c);
    hg_close(out);
    if (has_groups(em))
        hg_line(out, "for (size_t k = 0; k < l->ngroup * %u; k++)\n    out[k] = 0.0;\nout += g * %u;", nsum, nsum);
    hg_line(out, "for (size_t k = 0; k < %u; k++)\n    out[k] = fit_vsum(sum[k]);", nsum);
    hg_close_function(out);
}

static void residual(struct hg_code *c, struct hg_emit *em, const char *before)
{
    struct hg_arena *a = em->e->arena;
    const char *s = NULL;
    for (uint32_t q = 0; q < em->p->nlinear; q++) {
        const char *x = hg_is_value(em->e, em->form->basis[q], 1.0)
                            ? hg_format(a, "lin[%u]", q)
                            : hg_format(a, "lin[%u]*%s", q, hg_code_factor(c, em->form->basis[q]));
        s = s ? hg_format(a, "%s + %s", s, x) : x;
    }
    if (!hg_is_value(em->e, em->form->rest, 0.0))
        s = s ? hg_format(a, "%s + %s", s, hg_code_factor(c, em->form->rest)) : hg_code_text(c, em->form->rest);
    hg_line(c->out, before, s ? s : "0.0");
}

/* The number of sums that stay in registers, where they are named one by one. */
enum { FEW_SUMS = 24 };

static void add_few(struct hg_code *c, uint32_t K, uint32_t Q)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < K; k++) {
        hg_declare(c->out, "const fit_vd", "mw%u = weight*m[%u];", k, k);
        for (uint32_t q = k; q < K; q++)
            hg_do(c->out, "H[%u] += mw%u*m[%u];", n++, k, q);
        hg_do(c->out, "G[%u] += mw%u*r;", k, k);
        for (uint32_t q = 0; q < Q; q++)
            hg_do(c->out, "V[%u] += mw%u*b%u;", q * K + k, k, q);
    }
}

static void add_many(struct hg_tree *out, uint32_t K, uint32_t Q)
{
    hg_open(out, "for (size_t k = 0, n = 0; k < %u; k++) {", K);
    hg_line(out, "const fit_vd mw = weight*m[k];\nfor (size_t p = k; p < %u; p++)\n    H[n++] += mw*m[p];\n"
                 "G[k] += mw*r;", K);
    for (uint32_t q = 0; q < Q; q++)
        hg_do(out, "V[%u + k] += mw*b%u;", q * K, q);
    hg_close(out);
}

#define NORMAL "const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t, " \
               "double *scratch, double *out"
#define GRADIENT "const struct fit_layout *l, const double *ws, const double *lin, const double *adj, " \
                 "const struct fit_tile *t, double *scratch, double *out"

/* The loop over rows in two forms: for rows that all have weight 1, without multiplications by it, and for any rows. */
static void normal_head(const struct hg_emit *em, struct hg_tree *out)
{
    hg_put(out, "enum { SUMS = %u };\n\nstatic size_t scratch_size(const struct fit_layout *l)\n{\n"
                 "    return FIT_VL * SUMS;\n}\n\n", scratch_of(em));
    hg_open_function(out, hg_format(em->e->arena, "%s void", em->inlined), "normal_rows",
                "const struct fit_layout *l, const struct tables w, const double *lin, const struct fit_tile *t, "
                "size_t from, size_t to, const int plain, fit_vd *H, fit_vd *G, fit_vd *V");
    if (has_groups(em))
        hg_offer(out, "const size_t", "g = t->group;");
    hg_open(out, "for (size_t row = from; row < to; row += FIT_VL) {");
    hg_line(out, "const size_t at = row - t->i0;\n"
                 "fit_vd weight = t->w && !plain ? fit_vload(t->w + at) : fit_vset1(1.0);\n"
                 "if (!plain && row + FIT_VL > t->i1)\n    weight = fit_where_set(fit_row_lanes(t, row), weight);");
}

/* d mean / d theta_k = factor[k] m[k]: factors that are the same for all rows are multiplied in at the end. */
static void normal_tail(struct hg_code *c, const hg_id *factor, uint32_t nH, uint32_t K, uint32_t Q)
{
    const struct hg_emit *em = c->user;
    struct hg_tree *out = c->out;
    hg_close(out);
    hg_close_function(out);
    hg_open_function(out, "static void", "normal", NORMAL);
    hg_rows_head(em, out);
    own_linear(em, out);
    if (nH + K + Q * K <= FEW_SUMS)
        hg_declare(out, "fit_vd", "H[%u] = {{0}}, G[%u] = {{0}}, V[%u] = {{0}};", nH ? nH : 1, K ? K : 1,
                   Q && K ? Q * K : 1);
    else
        hg_line(out, "fit_vd *H = (fit_vd *)scratch, *G = H + %u, *V = G + %u;\nfor (size_t k = 0; k < SUMS; k++)\n"
                     "    H[k] = (fit_vd){0};", nH, K);
    hg_line(out, "const size_t full = t->w ? t->i0 : t->i1 / FIT_VL * FIT_VL;\n"
                 "normal_rows(l, w, lin, t, t->i0, full, 1, H, G, V);\n"
                 "normal_rows(l, w, lin, t, full, fit_padded(t->i1), 0, H, G, V);\ndouble factor[%u] = {0};",
                 K ? K : 1);
    for (uint32_t e = 0; e < em->p->nchannel; e++)
        for (uint32_t k = 0; k < K; k++)
            if (em->p->channel[e].table[k])
                hg_do(c->out, "factor[%u] = %s;", k, hg_code_text(c, factor[e]));
    hg_line(out,
            "for (size_t k = 0, n = 0; k < %u; k++)\n"
            "    for (size_t q = k; q < %u; q++)\n"
            "        *out++ = factor[k]*factor[q]*fit_vsum(H[n++]);\n"
            "for (size_t k = 0; k < %u; k++)\n"
            "    *out++ = factor[k]*fit_vsum(G[k]);",
            K, K, K);
    if (Q && K && has_groups(em))
        hg_line(out, "for (size_t n = 0; n < l->ngroup * %u; n++)\n    out[n] = 0.0;\nout += g * %u;", Q * K, Q * K);
    if (Q && K)
        hg_line(out, "for (size_t n = 0; n < %u; n++)\n    *out++ = factor[n %% %u]*fit_vsum(V[n]);", Q * K, K);
    hg_close_function(out);
}

/* A model whose parameters are all linear: there is nothing to sum. */
static void emit_none(const struct hg_emit *em, struct hg_tree *out)
{
    const char *size = scratch_of(em) ? hg_format(em->e->arena, "FIT_VL * %u", scratch_of(em)) : "0";
    hg_put(out, "static size_t scratch_size(const struct fit_layout *l)\n{\n    return %s;\n}\n\n", size);
    hg_open_function(out, "static void", "normal", NORMAL);
    hg_line(out, "/* no nonlinear parameters */");
    hg_close_function(out);
    hg_open_function(out, "static void", "gradient", GRADIENT);
    hg_close_function(out);
}

static void emit_normal(struct hg_emit *em, struct hg_tree *out)
{
    struct hg_arena *a = em->e->arena;
    uint32_t Q = em->p->nlinear, K = em->p->nparam, E = em->p->nchannel, nH = K * (K + 1) / 2, nroot;
    hg_id *root = hg_alloc(a, (Q + 1 + E) * sizeof *root), *core, *factor = hg_alloc(a, (E + 1) * sizeof *factor);
    nroot = value_roots(em, root);
    core = root + nroot;
    for (uint32_t e = 0; e < E; e++)
        hg_form_strip(em->e, em->form->m[e], &factor[e], &root[nroot++]);
    normal_head(em, out);
    struct hg_code c = begin(em, out, nroot, root);
    for (uint32_t k = 0; k < nroot; k++)
        hg_code_need(&c, root[k]);
    residual(&c, em, "const fit_vd r = fit_vload(t->y + at) - (%s);");
    hg_declare(c.out, "fit_vd", "m[%u] = {{0}}; /* d mean / d theta_k, over factor[k] */", K ? K : 1);
    for (uint32_t e = 0; e < E; e++)
        for (uint32_t k = 0; k < K; k++)
            if (em->p->channel[e].table[k])
                hg_do(c.out, "m[%u] = %s; /* %s */", k, hg_code_vector(&c, core[e]), em->p->model->param.item[k].name);
    for (uint32_t q = 0; q < Q; q++)
        hg_declare(c.out, "const fit_vd", "b%u = %s;", q, hg_code_vector(&c, em->form->basis[q]));
    if (nH + K + Q * K <= FEW_SUMS)
        add_few(&c, K, Q);
    else
        add_many(out, K, Q);
    hg_code_pop(&c);
    normal_tail(&c, factor, nH, K, Q);
    hg_code_end(&c);
}

static void emit_gradient(struct hg_emit *em, struct hg_tree *out)
{
    uint32_t Q = em->p->nlinear, K = em->p->nparam, E = em->p->nchannel, nroot;
    hg_id *root = hg_alloc(em->e->arena, (2 * (Q + 1) + E) * sizeof *root), *a = root + 2 * (Q + 1);
    nroot = value_roots(em, root);
    nroot += value_roots(em, root + nroot); /* the residual and the seeds use them again */
    for (uint32_t e = 0; e < E; e++)
        a[e] = root[nroot++] = hg_emit_adjoint(em, em->p->channel[e].m);
    hg_factor(em->e, E, a);
    hg_open_function(out, "static void", "gradient", GRADIENT);
    hg_rows_head(em, out);
    struct hg_arena *arena = em->e->arena;
    hg_offer(out, "const double *const", "seeds = adj%s;",
             has_groups(em) ? hg_format(arena, " + %u * g", 1 + Q * (Q + 1) / 2) : "");
    hg_offer(out, "const double *const", "at_lin = lin%s;", has_groups(em) ? hg_format(arena, " + %u * g", Q) : "");
    hg_declare(out, "fit_vd", "sum[%u] = {{0}};", K ? K : 1);
    loop_with_weights(out);
    struct hg_code c = begin(em, out, nroot, root);
    hg_emit_seeds(em, &c, "fit_vload(t->y + at)", root);
    for (uint32_t e = 0; e < E; e++)
        hg_code_need(&c, a[e]);
    for (uint32_t e = 0; e < E; e++)
        for (uint32_t k = 0; k < K; k++)
            if (em->p->channel[e].table[k])
                hg_do(c.out, "sum[%u] += weight*(%s); /* %s */", k, hg_code_vector(&c, a[e]),
                      em->p->model->param.item[k].name);
    hg_rows_end(&c);
    hg_close(out);
    hg_line(out, "for (size_t k = 0; k < %u; k++)\n    out[k] = fit_vsum(sum[k]);", K);
    hg_close_function(out);
}

void hg_rows_model(struct hg_emit *em, struct hg_tree *out)
{
    hg_id *root = hg_alloc(em->e->arena, (em->p->nlinear + 1) * sizeof *root);
    uint32_t nroot = value_roots(em, root);
    hg_open_function(out, "static void", "model",
                "const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t, "
                     "double *out");
    hg_rows_head(em, out);
    own_linear(em, out);
    hg_open(out, "%s", loop_head);
    struct hg_code c = begin(em, out, nroot, root);
    for (uint32_t k = 0; k < nroot; k++)
        hg_code_need(&c, root[k]);
    residual(&c, em, "fit_vstore(out + (row - t->i0), fit_vset1(0.0) + (%s));");
    hg_rows_end(&c);
    hg_close(out);
    hg_close_function(out);
}

void hg_emit_rows(struct hg_emit *em, struct hg_tree *out)
{
    emit_moments(em, out);
    if (em->p->nparam) {
        emit_normal(em, out);
        emit_gradient(em, out);
    } else {
        emit_none(em, out);
    }
    hg_rows_model(em, out);
}
