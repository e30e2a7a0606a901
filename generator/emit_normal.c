/* emit_normal.c -- normal for pairs of frames: the sums of J^T J, J^T r and the cross moments.
 *
 * The products m_c m_d of the channels are summed over the groups first (fields F); then they are multiplied
 * by the small tables U, which do not depend on the group:
 *     (J^T J)_kl = sum_cd F_cd U_ck U_dl.
 * The cross moments sum b_q m_k are needed per group: their fields are summed down the columns and along the
 * rows, and multiplied by the tables once per tile:
 *     sum_ij s_ij (U_j - U_i) = sum_j U_j (sum_i s_ij) - sum_i U_i (sum_j s_ij).
 */
#include "emit_block.h"
#include "emit_contract.h"

#include <stdlib.h>

static int channel_serves(const struct hg_emit *em, uint32_t c, uint32_t k)
{
    return em->p->channel[c].table[k] != 0;
}

static const char *table_name(struct hg_emit *em, uint32_t c, uint32_t k)
{
    return hg_emit_field(em, HG_FIELD_FRAME, em->p->channel[c].table[k], 1)->name;
}

/* Cross moments have a sum down the columns unless the table is at i (or there is none), and one along the rows
 * unless it is at j. */
static int has_column(const struct hg_emit *em, uint32_t slot)
{
    enum hg_channel_kind kind = hg_emit_slot_kind(em, slot);
    return kind == HG_CHANNEL_DELTA || kind == HG_CHANNEL_AT_J;
}

static int has_row(const struct hg_emit *em, uint32_t slot)
{
    return hg_emit_slot_kind(em, slot) != HG_CHANNEL_AT_J;
}

/* Place of a slot among those with a column (or a row); of the number of slots: their number. */
static uint32_t place(const struct hg_emit *em, uint32_t slot, int (*has)(const struct hg_emit *, uint32_t))
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < slot; s++)
        n += has(em, s) != 0;
    return n;
}

static void accumulate_slots(struct hg_emit *em, struct hg_code *c)
{
    uint32_t n = hg_emit_nslot(em);
    for (uint32_t s = 0; s < n; s++) {
        const struct hg_moment *x = hg_emit_slot(em, s);
        hg_line(c, "const fit_vd s%u = fit_counted(masked, use, weight, %s); /* %s: b m_%s */", s,
                hg_code_vector(c, x->core), em->p->model->linear.item[x->q].name, em->p->channel[x->channel].name);
        if (has_column(em, s))
            hg_line(c, "column[g * COLUMNS + %u] += s%u;", place(em, s, has_column), s);
        if (has_row(em, s))
            hg_line(c, "row[g * ROWS + %u] += s%u;", place(em, s, has_row), s);
    }
}

static void normal_group(struct hg_emit *em, struct hg_code *c, uint32_t nroot, const hg_id *root)
{
    uint32_t E = em->p->nchannel;
    const struct hg_channel *ch = em->p->channel;
    hg_block_declare_linear(c);
    hg_block_need_scalars(c, nroot, root);
    for (uint32_t k = 0; k < nroot; k++)
        hg_code_need(c, root[k]);
    hg_line(c, "const fit_vd r = fit_kept(masked, use, fit_vload(y) - (%s));", hg_block_mean(c));
    for (uint32_t e = 0; e < E; e++) {
        hg_line(c, "const fit_vd m_%s = fit_kept(masked, use, %s);", ch[e].name, hg_code_vector(c, em->m[e]));
        hg_line(c, "const fit_vd w_%s = fit_weighted(masked, weight, m_%s);", ch[e].name, ch[e].name);
    }
    for (uint32_t e = 0; e < E; e++)
        for (uint32_t f = e; f < E; f++)
            hg_line(c, "%s += w_%s*m_%s;", hg_contract_field_name(em, e, f), ch[e].name, ch[f].name);
    for (uint32_t e = 0; e < E; e++)
        hg_line(c, "%s += w_%s*r;", hg_contract_field_name(em, e, E), ch[e].name);
    accumulate_slots(em, c);
}

static void normal_block(struct hg_emit *em, struct hg_block *b, FILE *out)
{
    uint32_t E = em->p->nchannel, Q = em->p->nlinear, nroot = 0, n = hg_emit_nslot(em);
    hg_id *root = hg_alloc(em->e->arena, (2 * Q + 1 + E + em->nmoment) * sizeof *root);
    for (uint32_t q = 0; q < Q; q++)
        root[nroot++] = em->basis[q];
    for (uint32_t q = 0; q < Q; q++)
        root[nroot++] = em->p->linear[q];
    root[nroot++] = em->rest;
    for (uint32_t e = 0; e < E; e++)
        root[nroot++] = em->m[e];
    for (uint32_t s = 0; s < n; s++)
        root[nroot++] = hg_emit_slot(em, s)->core;
    struct hg_code c = hg_block_begin(em, b, out, nroot, root);
    fprintf(out,
            "/* Pairs (i, 8b .. 8b+7): products of the channels m_c (d mean/d theta_k = sum_c m_c U_ck), summed over\n"
            " * the groups, to `field`; and the sums of the cross moments per group. */\n"
            "FIT_INLINE void normal_block(const struct fit_layout *l, const struct tables *w, const double *lin,\n"
            "                             const struct fit_exp_tile *exps, const struct fit_tile *t, size_t i,\n"
            "                             size_t b, size_t h, size_t at, fit_vd *restrict column, fit_vd *restrict row,\n"
            "                             fit_vd *restrict field, const int masked)\n{\n%s"
            "    (void)lin, (void)column, (void)row;\n", hg_block_head);
    hg_code_push(&c);
    hg_block_need_pair_part(&c, nroot, root);
    for (uint32_t e = 0; e < E; e++)
        for (uint32_t f = e; f <= E; f++)
            fprintf(out, "    fit_vd %s = {0};\n", hg_contract_field_name(em, e, f));
    fprintf(out, "    for (size_t g = 0; g < ng; g++) {\n%s", hg_group_head);
    c.indent = 2;
    hg_code_push(&c);
    normal_group(em, &c, nroot, root);
    hg_code_pop(&c);
    hg_code_pop(&c);
    hg_code_end(&c);
    fprintf(out, "    }\n");
    for (uint32_t e = 0; e < E; e++)
        for (uint32_t f = e; f <= E; f++)
            fprintf(out, "    field[%u] = %s;\n", hg_contract_field(em, e, f), hg_contract_field_name(em, e, f));
    fprintf(out, "}\n\n");
}

/* At the end of a row: row sums times the tables at i (or simply added up for channels without tables). */
static void row_end(struct hg_emit *em, FILE *out, uint32_t *nrow)
{
    uint32_t n = hg_emit_nslot(em), at = 0;
    fprintf(out, "        for (size_t g = 0; g < ng; g++) {\n"
                 "            fit_vd *r = row + g * ROWS, *s = row_sum + g * ROW_SUMS;\n"
                 "            (void)r, (void)s;\n");
    for (uint32_t s = 0; s < n; s++) {
        enum hg_channel_kind kind = hg_emit_slot_kind(em, s);
        uint32_t r = place(em, s, has_row);
        if (!has_row(em, s))
            continue;
        if (kind == HG_CHANNEL_ONE) {
            fprintf(out, "            s[%u] += r[%u];\n", at++, r);
        } else {
            for (uint32_t c = 0; c < em->p->nchannel; c++)
                for (uint32_t k = 0; k < em->p->nparam; k++)
                    if (hg_emit_slot_uses(em, s, c, k))
                        fprintf(out, "            s[%u] += r[%u]*w->%s[i];\n", at++, r, table_name(em, c, k));
        }
        fprintf(out, "            r[%u] = (fit_vd){0};\n", r);
    }
    fprintf(out, "        }\n");
    *nrow = at;
}

/* Place of the row sum of slot s (channel c, parameter k) among the row sums. */
static uint32_t row_place(const struct hg_emit *em, uint32_t s, uint32_t c, uint32_t k)
{
    uint32_t at = 0;
    for (uint32_t x = 0; x <= s; x++) {
        enum hg_channel_kind kind = hg_emit_slot_kind(em, x);
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
                if (hg_emit_slot_uses(em, x, d, m)) {
                    if (x == s && d == c && m == k)
                        return at;
                    at++;
                }
    }
    hg_bug("emit: no row sum");
}

/* Cross moments of one group: column sums times tables at j minus (or plus) the row sums. */
static void cross_moments(struct hg_emit *em, struct hg_block *b, FILE *out)
{
    uint32_t K = em->p->nparam, nroot = 0;
    hg_id *root = hg_alloc(em->e->arena, (em->nmoment + 1) * sizeof *root);
    for (uint32_t m = 0; m < em->nmoment; m++)
        root[nroot++] = em->moment[m].coefficient;
    struct hg_code c = hg_block_begin(em, b, out, nroot, root);
    c.indent = 2;
    hg_code_push(&c);
    hg_line(&c, "const fit_vd *at_rows = row_sum + g * ROW_SUMS;");
    hg_line(&c, "(void)at_rows;");
    hg_block_declare_linear(&c);
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
                hg_line(&c, "    v += column[(k * ng + g) * COLUMNS + %u] * fit_vload(w->%s + t->j0 + k * FIT_VL);",
                        place(em, x->slot, has_column), table_name(em, x->channel, k));
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

/* Sizes, and the scratch of a tile. */
static void scratch_size(struct hg_emit *em, const struct hg_contract *x, uint32_t nrow, uint32_t nexp, FILE *out)
{
    uint32_t K = em->p->nparam, n = hg_emit_nslot(em), nH = K * (K + 1) / 2 + K;
    fprintf(out, "enum { PIECES = FIT_LANES / FIT_VL, COLUMNS = %u, ROWS = %u, ROW_SUMS = %u, SUMS = %u, FIELDS = %u,\n"
                 "       ALONG_SUMS = %u, COLUMN_SUMS = %u, MOMENT_SUMS = %u, EXPS = %u };\n"
                 "enum { STRIP = 8 }; /* blocks whose fields are kept at a time */\n\n",
            place(em, n, has_column), place(em, n, has_row), nrow, nH, hg_contract_nfield(em), hg_contract_nrow(x),
            hg_contract_ncolumn(x), em->moment_sums + 1, nexp + 1);
    fprintf(out,
            "/* Scratch, in vectors: for the cross moments column sums [block][group], the sums of a row and these times\n"
            " * tables; for the fields those of a strip of blocks, column sums [block], the sums of a row, and the sums of\n"
            " * J^T J and J^T r; then what the exponentials need to know of the tile. */\n"
            "static size_t scratch_size(const struct fit_layout *l)\n{\n"
            "    const size_t ng = l->ngroup, vectors = ng * (ROWS + ROW_SUMS) + ALONG_SUMS + SUMS;\n"
            "    return l->panel * (ng * COLUMNS + COLUMN_SUMS) + STRIP * FIT_LANES * FIELDS + FIT_VL * vectors +\n"
            "           MOMENT_SUMS * FIT_VL * ng + 2 * EXPS * ng;\n}\n\n");
}

static const char loops[] =
    "    for (size_t i = t->i0; i < t->i1; i++) {\n"
    "        for (size_t b = (i + 1 > t->j0 ? i + 1 : t->j0) / FIT_LANES; b < end;) {\n"
    "            const size_t first = b, stop = end - b > STRIP ? b + STRIP : end, place = (b - start) * PIECES;\n"
    "            fit_vd *f = field;\n"
    "            for (; b < stop; b++, at += ng * FIT_LANES)\n"
    "                for (size_t h = 0; h < FIT_LANES; h += FIT_VL, f += FIELDS) {\n"
    "                    const size_t j = b * FIT_LANES + h;\n"
    "                    fit_vd *c = column + ((b - start) * PIECES + h / FIT_VL) * ng * COLUMNS;\n"
    "                    if (t->w || j <= i || j + FIT_VL > t->j1)\n"
    "                        normal_block(l, w, lin, exps, t, i, b, h, at, c, row, f, 1);\n"
    "                    else\n"
    "                        normal_block(l, w, lin, exps, t, i, b, h, at, c, row, f, 0);\n"
    "                }\n"
    "            contract(w, i, first * FIT_LANES, (stop - first) * PIECES, field, H, along, down + place * COLUMN_SUMS);\n"
    "        }\n";

void hg_emit_normal(struct hg_emit *em, FILE *out)
{
    struct hg_block b = {.em = em, .derivative = 0};
    struct hg_contract *x = hg_contract_new(em);
    uint32_t K = em->p->nparam, nH = K * (K + 1) / 2 + K, nrow = 0;
    char *row_text, *block_text;
    size_t size;
    FILE *row_out = open_memstream(&row_text, &size), *block_out = open_memstream(&block_text, &size);
    if (!row_out || !block_out)
        hg_bug("out of memory");
    row_end(em, row_out, &nrow);
    hg_contract_row_end(x, row_out);
    fclose(row_out);
    normal_block(em, &b, block_out);
    hg_contract_function(x, block_out);
    fclose(block_out);

    scratch_size(em, x, nrow, b.nexp, out);
    fputs(block_text, out);
    fprintf(out,
            "static void normal(const struct fit_layout *l, const double *ws, const double *lin,\n"
            "                   const struct fit_tile *t, double *scratch, double *out)\n{\n"
            "    const size_t ng = l->ngroup, start = t->j0 / FIT_LANES, end = fit_padded(t->j1) / FIT_LANES;\n"
            "    struct tables tables;\n    carve(l, (double *)(uintptr_t)ws, &tables);\n    const struct tables *const w = &tables;\n"
            "    const size_t pieces = (end - start) * PIECES; /* vectors in a row of the tile */\n"
            "    fit_vd *column = (fit_vd *)scratch, *row = column + pieces * ng * COLUMNS, *row_sum = row + ng * ROWS;\n"
            "    fit_vd *field = row_sum + ng * ROW_SUMS, *down = field + STRIP * PIECES * FIELDS;\n"
            "    fit_vd *along = down + pieces * COLUMN_SUMS, *H = along + ALONG_SUMS;\n"
            "    struct fit_exp_tile *exps = (struct fit_exp_tile *)(H + SUMS);\n"
            "    size_t at = 0;\n"
            "    for (fit_vd *v = column; v < H + SUMS; v++)\n        *v = (fit_vd){0};\n");
    hg_block_exp_prologue(em, &b, out);
    fprintf(out, "%s%s    }\n\n", loops, row_text);
    hg_contract_tile_end(x, out);
    fprintf(out, "    for (size_t k = 0; k < %u; k++)\n        out[k] = fit_vsum(H[k]);\n", nH);
    fprintf(out, "    double *V = out + %u;\n    for (size_t g = 0; g < ng; g++, V += %u) {\n", nH,
            em->p->nlinear * K);
    cross_moments(em, &b, out);
    fprintf(out, "    }\n}\n\n");
    if (b.doubles > em->table_doubles)
        em->table_doubles = b.doubles;
    free(row_text);
    free(block_text);
}
