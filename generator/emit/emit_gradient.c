/* emit_gradient.c -- the adjoint sums for pairs of frames: one number for each parameter, at a cost that does not
 * depend on the number of parameters.
 *
 * The result (fit/kernel.h, gradient) is sum over pairs of w sum_q v_q d b_q/d theta_k, with a number v_q for each
 * basis function and pair, the seed, which is known once the residual is. At the cut of plan.h
 *
 *     sum_q v_q d b_q/d theta_k = sum_c a_c U_ck ,      a_c = sum_q v_q d m_c/d lin_q ,
 *
 * so each channel c needs one number a_c of a pair. These are added down the columns and along the rows; the tables U
 * enter once per tile:
 *     sum_ij a_ij (U_j - U_i) = sum_j U_j (sum_i a_ij) - sum_i U_i (sum_j a_ij).
 * Within a pair, a_c = sum_r C_cr F_r: the fields F_r must be summed over the groups; the coefficients C_cr do not
 * depend on the group. Channels share fields.
 */
#include "emit/emit_block.h"
#include "emit/emit_gradient.h"


/* --- arrangement -------------------------------------------------------------------------------------- */

hg_id hg_emit_adjoint(struct hg_emit *em, hg_id m)
{
    struct hg_plan *p = em->p;
    struct hg_expr *e = em->e;
    hg_id *term = hg_alloc(e->arena, (p->nlinear + 1) * sizeof *term);
    hg_id *zero = hg_alloc(e->arena, (p->nlinear + 1) * sizeof *zero);
    for (uint32_t q = 0; q < p->nlinear; q++) {
        term[q] = hg_mul(e, hg_seed(e, q), hg_diff(e, m, p->linear[q]));
        zero[q] = hg_const(e, 0.0);
    }
    term[p->nlinear] = hg_mul(e, hg_seed(e, p->nlinear), hg_replace(e, m, p->nlinear, p->linear, zero));
    return hg_sum(e, p->nlinear + 1, term);
}

hg_id *hg_adjoint_arrange(struct hg_emit *em, struct hg_terms *x, uint32_t *nroot)
{
    struct hg_plan *p = em->p;
    struct hg_expr *e = em->e;
    uint32_t n = 0;
    for (uint32_t c = 0; c < p->nchannel; c++)
        hg_terms_add(x, c, hg_separate(p, hg_emit_adjoint(em, p->channel[c].m), &em->form->separation));
    hg_id *root = hg_alloc(e->arena, (p->nlinear + 1 + x->nfield + x->nterm) * sizeof *root);
    for (uint32_t q = 0; q < p->nlinear; q++)
        root[n++] = hg_separate(p, p->basis[q], &em->form->separation);
    root[n++] = hg_separate(p, p->rest, &em->form->separation);
    for (uint32_t f = 0; f < x->nfield; f++)
        root[n++] = x->field[f];
    for (uint32_t k = 0; k < x->nterm; k++)
        root[n++] = x->term[k].coefficient;
    hg_factor(e, n, root);
    for (uint32_t f = 0; f < x->nfield; f++)
        x->field[f] = root[p->nlinear + 1 + f];
    for (uint32_t k = 0; k < x->nterm; k++)
        x->term[k].coefficient = root[p->nlinear + 1 + x->nfield + k];
    *nroot = n;
    return root;
}

/* --- the block function ------------------------------------------------------------------------------- */

/* Index of M_qp after the first number of adj. */
static uint32_t adj_place(const struct hg_emit *em, uint32_t q, uint32_t p)
{
    uint32_t a = q < p ? q : p, b = q < p ? p : q, Q = em->p->nlinear;
    return 1 + a * Q - a * (a + 1) / 2 + b;
}

/* v_q = adj_0 lin_q r - sum_p M_qp b_p */
static void declare_seed(struct hg_emit *em, struct hg_code *c, const hg_id *basis, uint32_t q)
{
    struct hg_arena *a = em->e->arena;
    uint32_t Q = em->p->nlinear;
    hg_id seed = hg_seed(em->e, q);
    if (!hg_code_uses(c, seed))
        return;
    if (q == Q) {
        hg_declare(c->out, "const fit_vd", "seed_rest = seeds[0]*r;");
        hg_code_bind(c, seed, "seed_rest");
        return;
    }
    const char *sum = NULL, *name = hg_code_unique(c, hg_format(a, "seed_%s", em->p->model->linear.item[q].name));
    for (uint32_t p = 0; p < Q; p++) {
        const char *b = hg_is_value(em->e, basis[p], 1.0) ? "" : hg_format(a, "*%s", hg_code_factor(c, basis[p]));
        const char *t = hg_format(a, "seeds[%u]%s", adj_place(em, q, p), b);
        sum = sum ? hg_format(a, "%s + %s", sum, t) : t;
    }
    hg_declare(c->out, "const fit_vd", "%s = (seeds[0]*at_lin[%u])*r - (%s);", name, q, sum);
    hg_code_bind(c, seed, name);
}

static const char *mean_text(struct hg_emit *em, struct hg_code *c, const hg_id *basis)
{
    struct hg_arena *a = em->e->arena;
    const char *s = NULL;
    for (uint32_t q = 0; q < em->p->nlinear; q++) {
        const char *l = hg_format(a, "at_lin[%u]", q);
        const char *t = hg_is_value(c->e, basis[q], 1.0) ? l : hg_format(a, "%s*%s", l, hg_code_factor(c, basis[q]));
        s = s ? hg_format(a, "%s + %s", s, t) : t;
    }
    hg_id rest = basis[em->p->nlinear];
    if (!hg_is_value(c->e, rest, 0.0))
        s = s ? hg_format(a, "%s + %s", s, hg_code_factor(c, rest)) : hg_code_text(c, rest);
    return s ? s : "fit_vset1(0.0)";
}

/* The seeds of many basis functions, in a loop: M is symmetric and packed by rows. */
static void seeds_in_loop(struct hg_emit *em, struct hg_code *c, const hg_id *basis)
{
    struct hg_arena *a = em->e->arena;
    uint32_t Q = em->p->nlinear;
    const char *b = hg_code_unique(c, "basis"), *v = hg_code_unique(c, "seed");
    hg_code_array(c, b, Q, basis);
    hg_declare(c->out, "fit_vd", "%s[%u]; /* seeds[0] lin_q r - sum_p M_qp basis_p */", v, Q);
    hg_open(c->out, "for (size_t q = 0; q < %u; q++) {", Q);
    hg_declare(c->out, "fit_vd", "known = {0};");
    hg_line(c->out, "for (size_t p = 0, m = q + 1; p < %u; m += p < q ? %u - p : 1, p++)", Q, Q - 1);
    hg_line(c->out, "    known += seeds[m]*%s[p];", b);
    hg_do(c->out, "%s[q] = (seeds[0]*at_lin[q])*r - known;", v);
    hg_close(c->out);
    for (uint32_t q = 0; q < Q; q++)
        hg_code_bind(c, hg_seed(em->e, q), hg_format(a, "%s[%u]", v, q));
}

void hg_emit_seeds(struct hg_emit *em, struct hg_code *c, const char *y, const hg_id *basis)
{
    uint32_t Q = em->p->nlinear, first = 0;
    for (uint32_t q = 0; q <= Q; q++)
        hg_code_need(c, basis[q]);
    hg_declare(c->out, "const fit_vd", "r = %s - (%s); /* residual */", y, mean_text(em, c, basis));
    if (Q > HG_FEW_LINEAR) {
        seeds_in_loop(em, c, basis);
        first = Q;
    }
    for (uint32_t q = first; q <= Q; q++)
        declare_seed(em, c, basis, q);
}

static void group_part(struct hg_emit *em, const struct hg_terms *x, struct hg_code *c, const hg_id *root)
{
    hg_emit_seeds(em, c, "y", root);
    hg_block_need_scalars(c, x->nfield, x->field);
    for (uint32_t f = 0; f < x->nfield; f++)
        hg_code_need(c, x->field[f]);
    for (uint32_t f = 0; f < x->nfield; f++)
        hg_do(c->out, "F%u += fit_counted(masked, use, weight, %s);", f, hg_code_vector(c, x->field[f]));
}

static int has_column(const struct hg_channel *ch)
{
    return ch->kind == HG_CHANNEL_DELTA || ch->kind == HG_CHANNEL_AT_J;
}

static int has_row(const struct hg_channel *ch)
{
    return ch->kind == HG_CHANNEL_DELTA || ch->kind == HG_CHANNEL_AT_I;
}

static void pair_sums(const struct hg_plan *p, const struct hg_terms *x, struct hg_code *c)
{
    struct hg_arena *a = c->e->arena;
    for (uint32_t ch = 0; ch < p->nchannel; ch++) {
        const char *s = NULL, *name = hg_format(a, "a_%s", p->channel[ch].name);
        for (uint32_t k = 0; k < x->nterm; k++) {
            if (x->term[k].channel != ch)
                continue;
            hg_id coefficient = x->term[k].coefficient;
            const char *t = hg_is_value(c->e, coefficient, 1.0)
                                ? hg_format(a, "F%u", x->term[k].field)
                                : hg_format(a, "%s*F%u", hg_code_factor(c, coefficient), x->term[k].field);
            s = s ? hg_format(a, "%s + %s", s, t) : t;
        }
        if (!s)
            continue;
        hg_declare(c->out, "const fit_vd", "%s = fit_kept(masked, lanes, %s);", name, s);
        if (has_column(&p->channel[ch]))
            hg_do(c->out, "column[%u] += %s;", ch, name);
        if (has_row(&p->channel[ch]) || p->channel[ch].kind == HG_CHANNEL_ONE)
            hg_do(c->out, "row[%u] += %s;", ch, name);
    }
}

static void gradient_block(struct hg_emit *em, struct hg_block *b, struct hg_tree *out)
{
    struct hg_terms fields = {.e = em->e}, *x = &fields;
    uint32_t nroot, Q = em->p->nlinear;
    hg_id *root = hg_adjoint_arrange(em, x, &nroot);
    hg_id *all = hg_alloc(em->e->arena, (nroot + Q + 1) * sizeof *all);
    for (uint32_t k = 0; k < nroot; k++)
        all[k] = root[k];
    for (uint32_t q = 0; q <= Q; q++) /* seeds and the mean use the basis functions again */
        all[nroot + q] = root[q];
    struct hg_code c = hg_block_begin(em, b, out, nroot + Q + 1, all);
    hg_put(out, "/* Pairs (i, 8b .. 8b+7): the adjoint a_c of every channel, from fields F summed over the groups;\n"
                " * added to column and row. */\n");
    hg_open_function(out, hg_format(em->e->arena, "%s void", em->inlined), "gradient_block",
                     "const struct block *block, fit_vd *restrict column, fit_vd *restrict row, const int masked");
    hg_block_head(out, 1);
    hg_code_push(&c);
    hg_block_need_pair_part(&c, nroot, root);
    for (uint32_t f = 0; f < x->nfield; f++)
        hg_declare(out, "fit_vd", "F%u = {0};", f);
    hg_open(out, "for (size_t g = 0; g < ng; g++) {");
    hg_group_head(out);
    hg_offer(out, "const double *", "seeds = adj + g * %u;", 1 + Q * (Q + 1) / 2);
    hg_offer(out, "const double *", "at_lin = lin + g * %u;", Q);
    hg_code_push(&c);
    group_part(em, x, &c, root);
    hg_code_pop(&c);
    hg_close(out);
    hg_put(out, "\n");
    hg_line(out, "/* products with what does not depend on the group */");
    pair_sums(em->p, x, &c);
    hg_code_pop(&c);
    hg_code_end(&c);
    hg_close_function(out);
}

/* --- the tile function -------------------------------------------------------------------------------- */

static const char *table_name(struct hg_emit *em, uint32_t c, uint32_t k)
{
    return hg_emit_field(em, HG_FIELD_FRAME, em->p->channel[c].table[k], 1)->name;
}

/* At the end of a row: its sums times the tables at i. */
static struct hg_tree *row_end(struct hg_emit *em, const struct hg_tree *whole)
{
    struct hg_plan *p = em->p;
    struct hg_tree *out = hg_tree_part(whole, 2);
    for (uint32_t c = 0; c < p->nchannel; c++) {
        if (!has_row(&p->channel[c]))
            continue;
        for (uint32_t k = 0; k < p->nparam; k++)
            if (p->channel[c].table[k])
                hg_do(out, "sum[%u] %s= row[%u]*w->%s[i];", k, p->channel[c].kind == HG_CHANNEL_DELTA ? "-" : "+", c,
                      table_name(em, c, k));
        hg_do(out, "row[%u] = (fit_vd){0};", c);
    }
    return out;
}

static void column_end(struct hg_emit *em, struct hg_tree *out)
{
    struct hg_plan *p = em->p;
    for (uint32_t c = 0; c < p->nchannel; c++)
        for (uint32_t k = 0; k < p->nparam; k++) {
            if (!p->channel[c].table[k])
                continue;
            if (p->channel[c].kind == HG_CHANNEL_ONE)
                hg_do(out, "sum[%u] += row[%u];", k, c);
            else if (has_column(&p->channel[c]))
                hg_line(out, "for (size_t k = 0; k < pieces; k++)\n"
                             "    sum[%u] += column[k * CHANNELS + %u]*fit_vload(w->%s + t->j0 + k * FIT_VL);",
                             k, c, table_name(em, c, k));
        }
    hg_line(out, "for (size_t k = 0; k < %u; k++)\n    out[k] = fit_vsum(sum[k]);", p->nparam);
    hg_close_function(out);
}

void hg_emit_gradient(struct hg_emit *em, struct hg_tree *out)
{
    struct hg_block b = {.em = em};
    uint32_t E = em->p->nchannel, K = em->p->nparam;
    gradient_block(em, &b, out);
    hg_put(out,
            "enum { CHANNELS = %u, GRADIENT_SUMS = %u, GRADIENT_EXPS = %u };\n\n"
            "/* Scratch, in vectors: column sums [block][CHANNELS], the sums of a row [CHANNELS], one sum for each\n"
            " * parameter; then what the exponentials need to know of the tile.  Enough for every tile function. */\n"
            "static size_t tile_scratch(const struct fit_layout *l)\n{\n"
            "    const size_t mine = l->panel * CHANNELS + FIT_VL * (CHANNELS + GRADIENT_SUMS) + 2 * GRADIENT_EXPS * "
            "l->ngroup;\n"
            "    const size_t other = scratch_size(l);\n"
            "    return mine > other ? mine : other;\n}\n\n",
            E ? E : 1, K ? K : 1, b.nexp + 1);
    hg_open_function(out, "static void", "gradient",
                "const struct fit_layout *l, const double *ws, const double *lin, const double *adj, const struct "
                "fit_tile *t, double *scratch, double *out");
    hg_tile_head(out);
    hg_line(out, "const size_t pieces = (end - start) * PIECES; /* vectors in a row of the tile */\n"
                 "fit_vd *column = (fit_vd *)scratch, *row = column + pieces * CHANNELS, *sum = row + CHANNELS;");
    hg_offer(out, "struct fit_exp_tile *", "exps = (struct fit_exp_tile *)(sum + GRADIENT_SUMS);");
    hg_line(out, "size_t at = 0;\nfor (fit_vd *v = column; v < sum + GRADIENT_SUMS; v++)\n    *v = (fit_vd){0};");
    hg_block_exp_prologue(em, &b, out);
    hg_block_loops(out, "gradient_block(&block, column + ((b - start) * PIECES + h / FIT_VL) * CHANNELS, row",
                   b.nexp ? ", .lin = lin, .adj = adj, .exps = exps" : ", .lin = lin, .adj = adj", row_end(em, out));
    column_end(em, out);
    if (b.doubles > em->table_doubles)
        em->table_doubles = b.doubles;
}
