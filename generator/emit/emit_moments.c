/* emit_moments.c -- moments and model for pairs of frames.
 *
 * Each is a loop over rows i and blocks of columns j that calls an inlined block function, which holds the
 * physics.  Blocks that are cut by the diagonal or the edge, and weighted data, take the `masked` form.
 */
#include "emit/emit_block.h"

static int is_constant(const struct hg_emit *em, hg_id id, double *v)
{
    return hg_is_const(em->e, id, v);
}

/* Number of sums kept per group in scratch, and what they are. */
static uint32_t moment_sums(struct hg_emit *em, FILE *out, struct hg_code *c, int pass)
{
    uint32_t Q = em->p->nlinear, n = 0;
    double v, u;
    int rest = !hg_is_value(em->e, em->form->rest, 0.0);
    const char *y = rest ? "d" : "y";
    for (uint32_t p = 0; p < Q; p++) {
        if (is_constant(em, em->form->basis[p], &v))
            continue;
        if (pass)
            fprintf(out, "        sum[%u] += b%u_w;\n", n, p);
        n++;
        for (uint32_t q = p; q < Q; q++) {
            if (is_constant(em, em->form->basis[q], &u))
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
            const char *s = cp && cq ? hg_format(a, "%s * data[0]", hg_number(a, v * u))
                            : cp     ? hg_format(a, "%s * fit_vsum(sum[%u])", hg_number(a, v), first[q])
                            : cq     ? hg_format(a, "%s * fit_vsum(sum[%u])", hg_number(a, u), first[p])
                                     : hg_format(a, "fit_vsum(sum[%u])", product[p * Q + q]);
            fprintf(out, "        out[%u] = %s;\n", at++, s);
        }
    for (uint32_t p = 0; p < Q; p++) {
        if (is_constant(em, em->form->basis[p], &v))
            fprintf(out, "        out[%u] = %s * %s;\n", at++, hg_number(a, v),
                    rest ? hg_format(a, "fit_vsum(sum[%u])", n) : "data[1]");
        else
            fprintf(out, "        out[%u] = fit_vsum(sum[%u]);\n", at++, data[p]);
    }
    fprintf(out, "        out[%u] = %s;\n", at++, rest ? hg_format(a, "fit_vsum(sum[%u])", n + 1) : "data[2]");
    fprintf(out, "        out += %u;\n", at);
}

void hg_emit_moments(struct hg_emit *em, FILE *out)
{
    struct hg_block b = {.em = em};
    uint32_t Q = em->p->nlinear, nroot = 0;
    hg_id *root = hg_alloc(em->e->arena, (Q + 1) * sizeof *root);
    double v;
    int rest = !hg_is_value(em->e, em->form->rest, 0.0);
    for (uint32_t q = 0; q < Q; q++)
        if (!is_constant(em, em->form->basis[q], &v))
            root[nroot++] = em->form->basis[q];
    if (rest)
        root[nroot++] = em->form->rest;
    struct hg_code c = hg_block_begin(em, &b, out, nroot, root);
    uint32_t nsum = moment_sums(em, out, &c, 0);

    fprintf(out,
            "/* Pairs (i, 8b .. 8b+7): sums of products of the basis functions and the data, per group. */\n"
            "%s void moments_block(const struct fit_layout *l, const struct tables *w,\n"
            "                              const struct fit_exp_tile *exps, const struct fit_tile *t, size_t i,\n"
            "                              size_t b, size_t h, size_t at, const double *data, fit_vd *restrict sums,\n"
            "                              const int masked)\n{\n%s",
            em->inlined, hg_block_head);
    hg_code_push(&c);
    hg_block_need_pair_part(&c, nroot, root);
    fprintf(out, "    for (size_t g = 0; g < ng; g++) {\n%s        fit_vd *restrict sum = sums + g * %u;\n",
            hg_group_head, nsum);
    c.indent = 2;
    hg_code_push(&c);
    hg_block_need_scalars(&c, nroot, root);
    for (uint32_t k = 0; k < nroot; k++)
        hg_code_need(&c, root[k]);
    for (uint32_t q = 0; q < Q; q++)
        if (!is_constant(em, em->form->basis[q], &v)) {
            hg_line(&c, "const fit_vd b%u = fit_kept(masked, use, %s); /* multiplies %s */", q,
                    hg_code_vector(&c, em->form->basis[q]), em->p->model->linear.item[q].name);
            hg_line(&c, "const fit_vd b%u_w = fit_weighted(masked, weight, b%u);", q, q);
        }
    if (rest) {
        hg_line(&c, "const fit_vd d = fit_kept(masked, use, y - (%s));", hg_code_text(&c, em->form->rest));
        hg_line(&c, "const fit_vd d_w = fit_weighted(masked, weight, d);");
    }
    moment_sums(em, out, &c, 1);
    fprintf(out, "    }\n}\n\n");
    hg_code_pop(&c);
    hg_code_pop(&c);
    hg_code_end(&c);

    fprintf(out,
            "static void moments(const struct fit_layout *l, const double *ws, const struct fit_tile *t,\n"
            "                    double *scratch, double *out)\n{\n"
            "    const size_t ng = l->ngroup, end = fit_padded(t->j1) / FIT_LANES;\n"
            "    struct tables tables;\n    carve(l, (double *)(uintptr_t)ws, &tables);\n    const struct tables "
            "*const w = &tables;\n"
            "    fit_vd *sums = (fit_vd *)scratch;\n"
            "    struct fit_exp_tile *exps = (struct fit_exp_tile *)(sums + %u * ng);\n"
            "    size_t at = 0;\n"
            "    for (size_t k = 0; k < %u * ng; k++)\n        sums[k] = (fit_vd){0};\n",
            nsum, nsum);
    em->moment_sums = nsum;
    hg_block_exp_prologue(em, &b, out);
    hg_block_loops(out, "moments_block(l, w, exps, t, i, b, h, at, data, sums", "");
    fprintf(out, "    for (size_t g = 0; g < ng; g++) {\n"
                 "        const double *data = t->sum + 3 * g;\n        const fit_vd *sum = sums + g * %u;\n"
                 "        (void)data, (void)sum;\n", nsum);
    moment_outputs(em, out);
    fprintf(out, "    }\n}\n\n");
    em->table_doubles = b.doubles;
}

/* --- model -------------------------------------------------------------------------------------------- */

void hg_emit_model(struct hg_emit *em, FILE *out)
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
    fprintf(out, "/* Pairs (i, 8b .. 8b+7): the mean of every group. */\n"
                 "%s void model_block(const struct fit_layout *l, const struct tables *w, const double *lin,\n"
                 "                            size_t i, size_t b, size_t h, double *out)\n{\n"
                 "    const size_t ng = l->ngroup, j = b * FIT_LANES + h;\n    (void)j, (void)lin;\n", em->inlined);
    hg_code_push(&c);
    hg_block_need_pair_part(&c, nroot, root);
    fprintf(out, "    for (size_t g = 0; g < ng; g++) {\n");
    c.indent = 2;
    hg_code_push(&c);
    hg_block_declare_linear(&c);
    hg_block_need_scalars(&c, nroot, root);
    for (uint32_t k = 0; k < nroot; k++)
        hg_code_need(&c, root[k]);
    hg_line(&c, "fit_vstore(out + g * FIT_LANES + h, fit_vset1(0.0) + (%s));", hg_block_mean(&c));
    fprintf(out, "    }\n}\n\n");
    hg_code_pop(&c);
    hg_code_pop(&c);
    hg_code_end(&c);
    fprintf(out, "static void model(const struct fit_layout *l, const double *ws, const double *lin,\n"
                 "                  const struct fit_tile *t, double *out)\n{\n"
                 "    const size_t ng = l->ngroup, end = fit_padded(t->j1) / FIT_LANES;\n"
                 "    struct tables tables;\n    carve(l, (double *)(uintptr_t)ws, &tables);\n    const struct tables "
                 "*const w = &tables;\n"
                 "    (void)ng;\n");
    fprintf(out,
            "    for (size_t i = t->i0; i < t->i1; i++)\n"
            "        for (size_t b = (i + 1 > t->j0 ? i + 1 : t->j0) / FIT_LANES; b < end; b++) {\n"
            "            for (size_t h = 0; h < FIT_LANES; h += FIT_VL)\n"
            "                model_block(l, w, lin, i, b, h, out);\n"
            "            out += ng * FIT_LANES;\n"
            "        }\n}\n\n");
}
