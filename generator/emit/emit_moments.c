/* emit_moments.c -- moments and model for pairs of frames.
 *
 * Each is a loop over rows i and blocks of columns j that calls an inlined block function, which contains the physics.
 * Blocks cut by the diagonal or the edge, and weighted data, use the `masked` form.
 */
#include "emit/emit_block.h"

static int is_constant(const struct hg_emit *em, hg_id id, double *v)
{
    return hg_is_const(em->e, id, v);
}

/* Adds one sum per group to those kept in scratch; with c its statement is written. */
static void add_sum(struct hg_code *c, uint32_t *n, const char *value)
{
    if (c)
        hg_do(c->out, "sum[%u] += %s;", *n, value);
    ++*n;
}

/* The sums kept per group; returns their number. c NULL: only counts them. */
static uint32_t moment_sums(struct hg_emit *em, struct hg_code *c)
{
    struct hg_arena *a = em->e->arena;
    uint32_t Q = em->p->nlinear, n = 0;
    double v;
    int rest = !hg_is_value(em->e, em->form->rest, 0.0);
    for (uint32_t p = 0; p < Q; p++) {
        if (is_constant(em, em->form->basis[p], &v))
            continue;
        add_sum(c, &n, hg_format(a, "b%u_w", p));
        for (uint32_t q = p; q < Q; q++)
            if (!is_constant(em, em->form->basis[q], &v))
                add_sum(c, &n, hg_format(a, "b%u_w*b%u", p, q));
        add_sum(c, &n, hg_format(a, "b%u_w*%s", p, rest ? "d" : "y"));
    }
    if (rest) {
        add_sum(c, &n, "d_w");
        add_sum(c, &n, "d_w*d");
    }
    return n;
}

/* "c * x", or x alone. */
static const char *times(struct hg_arena *a, double c, const char *x)
{
    return c == 1.0 ? x : hg_format(a, "%s * %s", hg_number(a, c), x);
}

/* Text of the outputs of one group from the sums. */
static void moment_outputs(struct hg_emit *em, struct hg_tree *out)
{
    uint32_t Q = em->p->nlinear, n = 0, at = 0, *first = hg_alloc(em->e->arena, (Q + 1) * sizeof *first);
    uint32_t *product = hg_alloc(em->e->arena, (Q * Q + 1) * sizeof *product),
             *data = hg_alloc(em->e->arena, (Q + 1) * sizeof *data);
    struct hg_arena *a = em->e->arena;
    double v, u;
    int rest = !hg_is_value(em->e, em->form->rest, 0.0);
    for (uint32_t p = 0; p < Q; p++) {
        if (is_constant(em, em->form->basis[p], &v))
            continue;
        first[p] = n++;
        for (uint32_t q = p; q < Q; q++)
            if (!is_constant(em, em->form->basis[q], &u))
                product[p * Q + q] = n++;
        data[p] = n++;
    }
    for (uint32_t p = 0; p < Q; p++)
        for (uint32_t q = p; q < Q; q++) {
            int cp = is_constant(em, em->form->basis[p], &v), cq = is_constant(em, em->form->basis[q], &u);
            const char *s = cp && cq ? times(a, v * u, "data[0]")
                            : cp     ? times(a, v, hg_format(a, "fit_vsum(sum[%u])", first[q]))
                            : cq     ? times(a, u, hg_format(a, "fit_vsum(sum[%u])", first[p]))
                                     : hg_format(a, "fit_vsum(sum[%u])", product[p * Q + q]);
            hg_do(out, "out[%u] = %s;", at++, s);
        }
    for (uint32_t p = 0; p < Q; p++) {
        if (is_constant(em, em->form->basis[p], &v))
            hg_do(out, "out[%u] = %s;", at++, times(a, v, rest ? hg_format(a, "fit_vsum(sum[%u])", n) : "data[1]"));
        else
            hg_do(out, "out[%u] = fit_vsum(sum[%u]);", at++, data[p]);
    }
    hg_do(out, "out[%u] = %s;", at++, rest ? hg_format(a, "fit_vsum(sum[%u])", n + 1) : "data[2]");
    hg_do(out, "out += %u;", at);
}

/* Basis functions that vary, with their weights, and the data less the rest; then the sums. */
static void block_sums(struct hg_emit *em, struct hg_code *c)
{
    double v;
    for (uint32_t q = 0; q < em->p->nlinear; q++) {
        if (is_constant(em, em->form->basis[q], &v))
            continue;
        hg_declare(c->out, "const fit_vd", "b%u = fit_kept(masked, use, %s); /* multiplies %s */", q,
                   hg_code_vector(c, em->form->basis[q]), em->p->model->linear.item[q].name);
        hg_declare(c->out, "const fit_vd", "b%u_w = fit_weighted(masked, weight, b%u);", q, q);
    }
    if (!hg_is_value(em->e, em->form->rest, 0.0)) {
        hg_declare(c->out, "const fit_vd", "d = fit_kept(masked, use, y - (%s));", hg_code_text(c, em->form->rest));
        hg_declare(c->out, "const fit_vd", "d_w = fit_weighted(masked, weight, d);");
    }
    moment_sums(em, c);
}

static void moments_block(struct hg_emit *em, struct hg_block *b, uint32_t nsum, struct hg_tree *out)
{
    uint32_t Q = em->p->nlinear, nroot = 0;
    hg_id *root = hg_alloc(em->e->arena, (Q + 1) * sizeof *root);
    double v;
    for (uint32_t q = 0; q < Q; q++)
        if (!is_constant(em, em->form->basis[q], &v))
            root[nroot++] = em->form->basis[q];
    if (!hg_is_value(em->e, em->form->rest, 0.0))
        root[nroot++] = em->form->rest;
    struct hg_code c = hg_block_begin(em, b, out, nroot, root);
    hg_block_struct(out);
    hg_put(out, "/* Pairs (i, 8b .. 8b+7): sums of products of the basis functions and the data, per group. */\n");
    hg_open_function(out, hg_format(em->e->arena, "%s void", em->inlined), "moments_block",
                     "const struct block *block, fit_vd *restrict sums, const int masked");
    hg_block_head(out, 1);
    hg_code_push(&c);
    hg_block_need_pair_part(&c, nroot, root);
    hg_open(out, "for (size_t g = 0; g < ng; g++) {");
    hg_group_head(out);
    hg_offer(out, "fit_vd *restrict", "sum = sums + g * %u;", nsum);
    hg_code_push(&c);
    hg_block_need_scalars(&c, nroot, root);
    for (uint32_t k = 0; k < nroot; k++)
        hg_code_need(&c, root[k]);
    block_sums(em, &c);
    hg_close(out);
    hg_close_function(out);
    hg_code_pop(&c);
    hg_code_pop(&c);
    hg_code_end(&c);
}

void hg_emit_moments(struct hg_emit *em, struct hg_tree *out)
{
    struct hg_block b = {.em = em};
    uint32_t nsum = em->moment_sums = moment_sums(em, NULL);
    moments_block(em, &b, nsum, out);
    hg_open_function(out, "static void", "moments",
                     "const struct fit_layout *l, const double *ws, const struct fit_tile *t, double *scratch, "
                     "double *out");
    hg_tile_head(out);
    hg_declare(out, "fit_vd *", "sums = (fit_vd *)scratch;");
    hg_offer(out, "struct fit_exp_tile *", "exps = (struct fit_exp_tile *)(sums + %u * ng);", nsum);
    hg_line(out, "size_t at = 0;\nfor (size_t k = 0; k < %u * ng; k++)\n    sums[k] = (fit_vd){0};", nsum);
    hg_block_exp_prologue(em, &b, out);
    hg_block_loops(out, "moments_block(&block, sums", b.nexp ? ", .exps = exps" : "", NULL);
    hg_open(out, "for (size_t g = 0; g < ng; g++) {");
    hg_offer(out, "const double *", "data = t->sum + 3 * g;");
    hg_offer(out, "const fit_vd *", "sum = sums + g * %u;", nsum);
    moment_outputs(em, out);
    hg_close(out);
    hg_close_function(out);
    em->table_doubles = b.doubles;
}

/* --- model -------------------------------------------------------------------------------------------- */

void hg_emit_model(struct hg_emit *em, struct hg_tree *out)
{
    struct hg_block b = {.em = em, .direct_exp = 1};
    uint32_t Q = em->p->nlinear, nroot = 0;
    hg_id *root = hg_alloc(em->e->arena, (2 * Q + 1) * sizeof *root);
    for (uint32_t q = 0; q < Q; q++)
        root[nroot++] = em->form->basis[q];
    for (uint32_t q = 0; q < Q; q++)
        root[nroot++] = em->p->linear[q];
    root[nroot++] = em->form->rest;
    struct hg_code c = hg_block_begin(em, &b, out, nroot, root);
    hg_put(out, "/* Pairs (i, 8b .. 8b+7): the mean of every group. */\n");
    hg_open_function(out, hg_format(em->e->arena, "%s void", em->inlined), "model_block",
                "const struct fit_layout *l, const struct tables *w, const double *lin, size_t i, size_t b, size_t h, "
                "double *out");
    hg_block_head(out, 0);
    hg_code_push(&c);
    hg_block_need_pair_part(&c, nroot, root);
    hg_open(out, "for (size_t g = 0; g < ng; g++) {");
    hg_code_push(&c);
    hg_block_declare_linear(&c);
    hg_block_need_scalars(&c, nroot, root);
    for (uint32_t k = 0; k < nroot; k++)
        hg_code_need(&c, root[k]);
    hg_do(c.out, "fit_vstore(out + g * FIT_LANES + h, fit_vset1(0.0) + (%s));", hg_block_mean(&c));
    hg_close(out);
    hg_close_function(out);
    hg_code_pop(&c);
    hg_code_pop(&c);
    hg_code_end(&c);
    hg_open_function(out, "static void", "model",
                "const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t, "
                     "double *out");
    hg_tile_head(out);
    hg_line(out, "for (size_t i = t->i0; i < t->i1; i++)\n"
                 "    for (size_t b = (i + 1 > t->j0 ? i + 1 : t->j0) / FIT_LANES; b < end; b++) {\n"
                 "        for (size_t h = 0; h < FIT_LANES; h += FIT_VL)\n"
                 "            model_block(l, w, lin, i, b, h, out);\n"
                 "        out += ng * FIT_LANES;\n"
                 "    }");
    hg_close_function(out);
}
