/* emit_normal.c -- normal for pairs of frames: the sums of J^T J, J^T r and the cross moments.
 *
 * The products m_c m_d of the channels are summed over the groups first (fields F); then they are multiplied
 * by the small tables U, which do not depend on the group:
 *     (J^T J)_kl = sum_cd F_cd U_ck U_dl.
 * The cross moments sum b_q m_k are needed per group: their fields are summed down the columns and along the
 * rows, and multiplied by the tables once per tile:
 *     sum_ij s_ij (U_j - U_i) = sum_j U_j (sum_i s_ij) - sum_i U_i (sum_j s_ij).
 * Of many groups, the products of fewer numbers that channels share are summed, where there are such (emit_shared.c).
 */
#include "emit/emit_block.h"
#include "emit/emit_contract.h"
#include "graph/words.h"

#include <string.h>

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
    enum hg_channel_kind kind = hg_form_slot_kind(em->form, slot);
    return kind == HG_CHANNEL_DELTA || kind == HG_CHANNEL_AT_J;
}

static int has_row(const struct hg_emit *em, uint32_t slot)
{
    return hg_form_slot_kind(em->form, slot) != HG_CHANNEL_AT_J;
}

/* Index of a slot among those with a column (or a row); for the number of slots: their number. */
static uint32_t place(const struct hg_emit *em, uint32_t slot, int (*has)(const struct hg_emit *, uint32_t))
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < slot; s++)
        n += has(em, s) != 0;
    return n;
}

/* --- the part of a pair that does not depend on the group ----------------------------------------------- */

/* Nodes by the loop in which they are computed. */
struct split {
    hg_id *scalar; /* numbers of the call, the group or the row */
    hg_id *stored; /* vectors of the pair part that the groups read */
    uint32_t nscalar, nstored;
};

static int is_stored(const struct hg_emit *em, hg_id id)
{
    const struct hg_node *n = hg_at(em->e, id);
    return (n->vary & HG_J) && !(n->vary & (HG_G | HG_K)) && n->op != HG_AT_J && !(hg_op_flags[n->op] & HG_F_BOOL);
}

static struct split split_nodes(const struct hg_emit *em, const struct hg_code *c, uint32_t nroot, const hg_id *root)
{
    struct split s = {0};
    hg_id top = 0;
    for (uint32_t k = 0; k < nroot; k++)
        top = root[k] > top ? root[k] : top;
    HG_SCRATCH unsigned char *mark = hg_zeros(top + 1, 1);
    s.scalar = hg_alloc(em->e->arena, (top + 1) * sizeof *s.scalar);
    s.stored = hg_alloc(em->e->arena, (top + 1) * sizeof *s.stored);
    for (uint32_t k = 0; k < nroot; k++)
        mark[root[k]] = 1;
    for (hg_id id = top; id > 0; id--) {
        const struct hg_node *n = hg_at(em->e, id);
        int open = (n->vary & HG_J) && !is_stored(em, id) && !c->is_leaf(c, id);
        for (uint32_t k = 0; mark[id] && open && k < n->nargs; k++)
            mark[n->arg[k]] = 1;
    }
    for (hg_id id = 1; id <= top; id++) {
        if (!mark[id] || hg_at(em->e, id)->op == HG_CONST || (hg_at(em->e, id)->vary & HG_K))
            continue; /* nodes that vary with turns of a sum are computed in its loop */
        if (is_stored(em, id))
            s.stored[s.nstored++] = id;
        else if (!(hg_at(em->e, id)->vary & HG_J))
            s.scalar[s.nscalar++] = id;
    }
    return s;
}

static void pair_function(struct hg_emit *em, struct hg_block *b, const struct split *s, struct hg_tree *out)
{
    struct hg_code c = hg_block_begin(em, b, out, s->nstored, s->stored);
    hg_put(out, "/* Pairs (i, 8b .. 8b+7): what does not depend on the group. */\n");
    hg_open_function(out, hg_format(em->e->arena, "%s void", em->inlined), "normal_pair",
                "const struct fit_layout *l, const struct tables *w, const struct fit_exp_tile *exps, size_t i, size_t "
                "b, size_t h, fit_vd *restrict pair");
    hg_block_head(out, 0);
    hg_code_push(&c);
    for (uint32_t k = 0; k < s->nstored; k++) {
        hg_code_need(&c, s->stored[k]);
        hg_do(c.out, "pair[%u] = %s;", k, hg_code_vector(&c, s->stored[k]));
    }
    hg_code_pop(&c);
    hg_code_end(&c);
    hg_close_function(out);
}

/* --- the part of a group ------------------------------------------------------------------------------ */

/* Place in the pair part of the one factor of x that varies within a strip; 0: there are others; else 1 + place. */
static uint32_t pair_factor(const struct hg_emit *em, const struct split *s, hg_id x)
{
    const struct hg_node *n = hg_at(em->e, x);
    const uint32_t nfactor = n->op == HG_PROD ? n->nargs : 1;
    const hg_id *factor = n->op == HG_PROD ? n->arg : &x;
    uint32_t found = 0;
    for (uint32_t k = 0; k < nfactor; k++) {
        const unsigned vary = hg_at(em->e, factor[k])->vary;
        uint32_t at = 0;
        while ((vary & HG_J) && at < s->nstored && s->stored[at] != factor[k])
            at++;
        if ((vary & HG_K) || ((vary & HG_J) && (found || at == s->nstored)))
            return 0;
        found = vary & HG_J ? at + 1 : found;
    }
    return found;
}

/* Whether a condition can hold in a strip: by the least |p| of its pairs. */
static void declare_near(struct hg_code *c, const struct split *s, hg_id condition)
{
    struct hg_block *b = c->user;
    const hg_id x = hg_at(c->e, condition)->arg[0];
    const uint32_t place = hg_at(c->e, condition)->op == HG_SMALL ? pair_factor(b->em, s, x) : 0;
    if (!place || b->nnear == sizeof b->near / sizeof *b->near)
        return;
    const char *bound = hg_format(c->e->arena, "nearest[%u]", b->nnear);
    for (uint32_t k = 0; hg_at(c->e, x)->op == HG_PROD && k < hg_at(c->e, x)->nargs; k++) {
        const hg_id factor = hg_at(c->e, x)->arg[k];
        if (factor == s->stored[place - 1])
            continue;
        hg_code_need(c, factor);
        bound = hg_format(c->e->arena, "fabs(%s)*%s", hg_code_text(c, factor), bound);
    }
    const char *name = hg_code_unique(c, "near");
    hg_declare(c->out, "const int", "%s = masked || fit_vany(%s < FIT_SINC_NEAR);", name, bound);
    b->near[b->nnear++] = (struct hg_near){condition, place - 1, name};
}

static void declare_nears(struct hg_code *c, const struct split *s)
{
    const struct hg_block *b = c->user;
    for (hg_id id = 1; id < c->e->n; id++) {
        const struct hg_node *n = hg_at(c->e, id);
        uint32_t k = 0;
        if (n->op != HG_GUARD || !hg_code_uses(c, id))
            continue;
        while (k < b->nnear && b->near[k].condition != n->arg[0])
            k++;
        if (k == b->nnear)
            declare_near(c, s, n->arg[0]);
    }
}

static const char *near_test(const struct hg_code *c, hg_id condition)
{
    const struct hg_block *b = c->user;
    for (uint32_t k = 0; k < b->nnear; k++)
        if (b->near[k].condition == condition)
            return b->near[k].test;
    return NULL;
}

static void accumulate_slots(struct hg_emit *em, struct hg_code *c)
{
    for (uint32_t s = 0; s < em->form->nslot; s++) {
        const struct hg_moment *x = hg_form_slot(em->form, s);
        hg_declare(c->out, "const fit_vd", "s%u = fit_counted(masked, use, weight, %s); /* %s: b m_%s */", s,
                   hg_code_vector(c, x->core), em->p->model->linear.item[x->q].name, em->p->channel[x->channel].name);
        if (has_column(em, s))
            hg_do(c->out, "at_column[%u] += s%u;", place(em, s, has_column), s);
        if (has_row(em, s))
            hg_do(c->out, "row%u += s%u;", place(em, s, has_row), s);
    }
}

static int shares(const struct hg_emit *em)
{
    return em->form->shared.nfield > 0;
}

/* The residual and the channels, multiplied by the root of the weight so that products of two have the weight. */
static void store_channels(struct hg_emit *em, struct hg_code *c)
{
    uint32_t E = em->p->nchannel;
    hg_declare(c->out, "const fit_vd", "r = fit_kept(masked, use, y - (%s));", hg_block_mean(c));
    if (shares(em)) {
        hg_open(c->out, "if (many) {");
        hg_shared_store(em, c);
        hg_close(c->out);
        hg_open(c->out, "if (!many) {");
    }
    for (uint32_t e = 0; e < E; e++)
        hg_do(c->out, "at_m[%u] = fit_weighted(masked, root, fit_kept(masked, use, %s)); /* m_%s */", e,
              hg_code_vector(c, em->form->m[e]), em->p->channel[e].name);
    hg_do(c->out, "at_m[%u] = fit_weighted(masked, root, r);", E);
    if (shares(em))
        hg_close(c->out);
}

/* Arguments of a function of one group of a strip. */
static const struct hg_member strip_member[] = {
    {"const struct fit_layout *", "l"}, {"const struct tables *", "w"},        {"const double *", "lin"},
    {"const struct fit_exp_tile *", "exps"}, {"const struct fit_tile *", "t"}, {"size_t ", "i"},
    {"size_t ", "g"},                   {"size_t ", "first"},                  {"size_t ", "at"},
    {"const double *", "data"},         {"const fit_vd *restrict ", "pair"},   {"const fit_vd *", "nearest"},
    {NULL, NULL}};

/* What functions and calls have in addition where channels share numbers. */
static const char *many_too(const struct hg_emit *em, const char *text)
{
    return shares(em) ? text : "";
}

/* Results of such a function. They are parameters: gcc uses `restrict` of parameters, but not of members. */
static const char written[] = "fit_vd *restrict column, fit_vd *restrict row, fit_vd *restrict m";

static void group_loop(struct hg_tree *out)
{
    hg_open(out, "for (size_t k = k0; k < k1; k++) {");
    hg_declare(out, "const size_t", "b = first + k / PIECES, h = k %% PIECES * FIT_VL;");
    hg_offer(out, "const size_t", "j = b * FIT_LANES + h;");
    hg_declare(out, "const size_t", "here = ((b - first) * ng + g) * FIT_LANES + h;");
    hg_offer(out, "const fit_vd *", "at_pair = pair + k * PAIRS;");
    hg_offer(out, "fit_vd *", "at_column = column + k * COLUMNS;");
    hg_line(out, "fit_vd *at_m = m + k * BATCH * CHANNELS_R;\n"
                 "fit_vm use = {0};\n"
                 "fit_vd weight = {0}, root = {0};\n"
                 "if (masked) {\n"
                 "    weight = t->w ? fit_vload(t->w + at + here) : fit_vset1(1.0);\n"
                 "    use = fit_pair_lanes(t, i, j) & (weight > 0.0);\n"
                 "    weight = fit_where_set(use, weight);\n"
                 "    root = fit_vsqrt(weight);\n"
                 "}\n"
                 "const fit_vd y = fit_data(data + here, STRIP * ng * FIT_LANES);");
}

static void group_function(struct hg_emit *em, struct hg_code *c, const struct split *s, uint32_t nroot,
                           const hg_id *root)
{
    uint32_t nrow = place(em, em->form->nslot, has_row);
    struct hg_tree *out = c->out;
    hg_put(out,
        "/* Group g of the vectors k0 .. k1-1 of a strip: residual and channels m_c\n"
        " * (d mean/d theta_k = sum_c m_c U_ck) to m, cross moments to the sums of the columns and of the row. */\n");
    hg_open_function(out, hg_format(em->e->arena, "%s void", em->inlined), "normal_group",
                     hg_format(em->e->arena, "const struct strip *strip, size_t k0, size_t k1, const int masked, %s%s",
                               many_too(em, "const int many, "), written));
    hg_define_members(out, "strip", strip_member);
    hg_declare(out, "const size_t", "ng = l->ngroup;");
    hg_code_push(c);
    hg_block_declare_linear(c);
    for (uint32_t k = 0; k < s->nscalar; k++) {
        hg_code_need(c, s->scalar[k]);
        if (!hg_code_bound(c, s->scalar[k]) && hg_at(em->e, s->scalar[k])->nargs && !c->is_leaf(c, s->scalar[k]))
            hg_code_declare(c, s->scalar[k], NULL);
    }
    declare_nears(c, s);
    c->near = near_test;
    for (uint32_t k = 0; k < nrow; k++)
        hg_declare(c->out, "fit_vd", "row%u = row[%u];", k, k);
    group_loop(out);
    hg_code_push(c);
    for (uint32_t k = 0; k < s->nstored; k++) {
        const char *name = hg_words(em->e, s->stored[k], NULL, NULL);
        name = hg_code_unique(c, name ? name : "part");
        hg_declare(c->out, "const fit_vd", "%s = at_pair[%u];", name, k);
        hg_code_bind(c, s->stored[k], name);
    }
    for (uint32_t k = 0; k < nroot; k++)
        hg_code_need(c, root[k]);
    store_channels(em, c);
    accumulate_slots(em, c);
    hg_code_pop(c);
    hg_close(out);
    for (uint32_t k = 0; k < nrow; k++)
        hg_do(c->out, "row[%u] = row%u;", k, k);
    hg_code_pop(c);
    hg_close_function(out);
}

/* Sums over a few groups of products of two channels, or of a channel and the residual: passes over as many as
 * registers hold. */
static void products_function(struct hg_emit *em, const char *kind, const char *name, uint32_t E, struct hg_tree *out)
{
    enum { MOST = 27 };
    const uint32_t n = hg_contract_place(E, E, E - 1) + 1;
    hg_put(out,
        "/* field = (begin) or += sum over n groups of the products of two of the numbers m of a pair. */\n");
    hg_open_function(out, hg_format(em->e->arena, "%s void", kind), name,
                "size_t n, int begin, const fit_vd *restrict m, fit_vd *restrict field");
    for (uint32_t from = 0; from < n; from += MOST) {
        uint32_t to = n - from > MOST ? from + MOST : n;
        for (uint32_t f = from; f < to; f++)
            hg_declare(out, "fit_vd", "s%u = begin ? (fit_vd){0} : field[%u];", f, f);
        hg_open(out, "for (size_t g = 0; g < n; g++) {");
        hg_declare(out, "const fit_vd *", "x = m + g * CHANNELS_R;");
        for (uint32_t c = 0; c < E; c++)
            for (uint32_t d = c; d <= E; d++) {
                const uint32_t f = hg_contract_place(E, c, d);
                if (f >= from && f < to)
                    hg_do(out, "s%u += x[%u]*x[%u];%s", f, c, d, E < em->p->nchannel ? "" :
                          hg_format(em->e->arena, " /* %s */", hg_contract_field_name(em, c, d)));
            }
        hg_close(out);
        for (uint32_t f = from; f < to; f++)
            hg_do(out, "field[%u] = s%u;", f, f);
    }
    hg_close_function(out);
}

static void strip_structure(const struct hg_block *b, struct hg_tree *out)
{
    struct hg_member member[sizeof strip_member / sizeof *strip_member];
    memcpy(member, strip_member, sizeof member);
    if (!b->nnear)
        member[sizeof member / sizeof *member - 2] = (struct hg_member){NULL, NULL};
    hg_put(out, "/* One group of a strip, which begins with block `first` of row i. */\n");
    hg_declare_members(out, "strip", member);
}

/* What sums of many groups need is in functions of its own: in those of few groups it would take registers. */
static void many_function(struct hg_tree *out)
{
    hg_put(out, "/* Vectors of pairs that are not cut: the numbers that channels share, to m. */\n");
    hg_open_function(out, "FIT_HUGE void", "normal_many",
                     hg_format(out->a, "const struct strip *strip, size_t k0, size_t k1, %s", written));
    hg_do(out, "normal_group(strip, k0, k1, 0, 1, column, row, m);");
    hg_close_function(out);
}

/* The functions of a strip; the number of vectors of the pair part. */
static uint32_t strip_functions(struct hg_emit *em, struct hg_block *b, struct hg_tree *out)
{
    uint32_t E = em->p->nchannel, Q = em->p->nlinear, nroot = 0, n = em->form->nslot;
    hg_id *root = hg_alloc(em->e->arena, (2 * Q + 1 + 2 * E + em->form->nmoment) * sizeof *root);
    for (uint32_t q = 0; q < Q; q++)
        root[nroot++] = em->form->basis[q];
    for (uint32_t q = 0; q < Q; q++)
        root[nroot++] = em->p->linear[q];
    root[nroot++] = em->form->rest;
    for (uint32_t e = 0; e < E; e++)
        root[nroot++] = em->form->m[e];
    for (uint32_t s = 0; s < n; s++)
        root[nroot++] = hg_form_slot(em->form, s)->core;
    nroot += hg_shared_roots(em, root + nroot);
    struct hg_code c = hg_block_begin(em, b, out, nroot, root);
    struct split s = split_nodes(em, &c, nroot, root);
    hg_code_end(&c);
    pair_function(em, b, &s, out);
    struct hg_tree *group = hg_tree_part(out, 0);
    c = hg_block_begin(em, b, group, nroot, root);
    group_function(em, &c, &s, nroot, root);
    hg_code_end(&c);
    strip_structure(b, out);
    hg_put_tree(out, group);
    products_function(em, em->inlined, "normal_products", E, out);
    if (shares(em)) {
        many_function(out);
        products_function(em, "FIT_HUGE", "shared_products", em->form->shared.nfield, out);
        hg_shared_function(em, b, out);
    }
    return s.nstored;
}

/* --- rows, columns, the tile ----------------------------------------------------------------------------- */

/* The sums along rows times the tables at these rows (or simply added up, for channels without tables).  Several rows
 * at a time: the sums of their products stay in registers.  Returns the number of these. */
static uint32_t rows_function(struct hg_emit *em, struct hg_tree *out)
{
    struct hg_tree *add = hg_tree_part(out, 3);
    uint32_t n = em->form->nslot, at = 0;
    for (uint32_t s = 0; s < n; s++) {
        const uint32_t r = place(em, s, has_row);
        if (!has_row(em, s))
            continue;
        if (hg_form_slot_kind(em->form, s) == HG_CHANNEL_ONE) {
            hg_do(add, "s%u += r[%u];", at++, r);
        } else {
            for (uint32_t c = 0; c < em->p->nchannel; c++)
                for (uint32_t k = 0; k < em->p->nparam; k++)
                    if (hg_form_slot_uses(em->form, s, c, k))
                        hg_do(add, "s%u += r[%u]*w->%s[i];", at++, r, table_name(em, c, k));
        }
        hg_do(add, "r[%u] = (fit_vd){0};", r);
    }
    if (!at)
        return 0;
    hg_put(out, "/* Sums of n rows from i0 on, times the tables at the rows: to the row sums of the tile. */\n");
    hg_open_function(out, "FIT_LARGE void", "add_rows",
                     "const struct tables *w, size_t ng, size_t i0, size_t n, fit_vd *restrict row, fit_vd *restrict "
                     "row_sum");
    hg_open(out, "for (size_t g = 0; g < ng; g++) {");
    hg_declare(out, "fit_vd *", "s = row_sum + g * ROW_SUMS;");
    for (uint32_t k = 0; k < at; k++)
        hg_declare(out, "fit_vd", "s%u = s[%u];", k, k);
    hg_open(out, "for (size_t h = 0; h < n; h++) {");
    hg_declare(out, "fit_vd *", "r = row + (h * ng + g) * ROWS;");
    hg_offer(out, "const size_t", "i = i0 + h;");
    hg_put_tree(out, add);
    hg_close(out);
    for (uint32_t k = 0; k < at; k++)
        hg_do(out, "s[%u] = s%u;", k, k);
    hg_close(out);
    hg_close_function(out);
    return at;
}

/* Index of the row sum of slot s (channel c, parameter k) among the row sums. */
static uint32_t row_place(const struct hg_emit *em, uint32_t s, uint32_t c, uint32_t k)
{
    uint32_t at = 0;
    for (uint32_t x = 0; x <= s; x++) {
        enum hg_channel_kind kind = hg_form_slot_kind(em->form, x);
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
                if (hg_form_slot_uses(em->form, x, d, m)) {
                    if (x == s && d == c && m == k)
                        return at;
                    at++;
                }
    }
    hg_bug("emit: no row sum");
}

/* The share of one moment in the derivative by parameter k. */
static void add_moment(struct hg_emit *em, struct hg_code *c, const struct hg_moment *x, uint32_t k)
{
    const enum hg_channel_kind kind = em->p->channel[x->channel].kind;
    const int has_rows = kind != HG_CHANNEL_AT_J, has_columns = kind == HG_CHANNEL_DELTA || kind == HG_CHANNEL_AT_J;
    const uint32_t row = has_rows ? row_place(em, x->slot, x->channel, k) : 0;
    const char *sum = hg_format(em->e->arena, "fit_vsum(at_rows[%u])", row);
    if (has_columns)
        sum = hg_format(em->e->arena, "fit_column_sum(columns + %u, COLUMNS, pieces, w->%s + t->j0, %s)",
                        place(em, x->slot, has_column), table_name(em, x->channel, k),
                        has_rows ? hg_format(em->e->arena, "at_rows + %u", row) : "NULL");
    hg_do(c->out, "V[%u] += %s * %s;", x->q * em->p->nparam + k, hg_code_factor(c, x->coefficient), sum);
}

/* Cross moments of one group: column sums times tables at j minus (or plus) the row sums. */
static void cross_moments(struct hg_emit *em, struct hg_block *b, struct hg_tree *out)
{
    uint32_t K = em->p->nparam, nroot = 0;
    hg_id *root = hg_alloc(em->e->arena, (em->form->nmoment + 1) * sizeof *root);
    for (uint32_t m = 0; m < em->form->nmoment; m++)
        root[nroot++] = em->form->moment[m].coefficient;
    struct hg_code c = hg_block_begin(em, b, out, nroot, root);
    hg_code_push(&c);
    hg_offer(out, "const fit_vd *", "at_rows = row_sum + g * ROW_SUMS;");
    hg_offer(out, "const fit_vd *", "columns = column + g * pieces * COLUMNS;");
    hg_block_declare_linear(&c);
    for (uint32_t k = 0; k < nroot; k++)
        hg_code_need(&c, root[k]);
    for (uint32_t q = 0; q < em->p->nlinear; q++)
        for (uint32_t k = 0; k < K; k++)
            hg_do(c.out, "V[%u] = 0.0;", q * K + k);
    for (uint32_t m = 0; m < em->form->nmoment; m++) {
        const struct hg_moment *x = &em->form->moment[m];
        for (uint32_t k = 0; k < K; k++)
            if (channel_serves(em, x->channel, k))
                add_moment(em, &c, x, k);
    }
    hg_code_pop(&c);
    hg_code_end(&c);
}

/* Sizes, and the scratch of a tile. */
static void scratch_size(struct hg_emit *em, const struct hg_contract *x, uint32_t nrow, uint32_t npair,
                         struct hg_tree *out)
{
    uint32_t K = em->p->nparam, n = em->form->nslot, nH = K * (K + 1) / 2 + K;
    /* the numbers kept of a strip take at most half of a first-level cache */
    hg_put(out, "enum { PIECES = FIT_LANES / FIT_VL, COLUMNS = %u, ROWS = %u, ROW_SUMS = %u, SUMS = %u, FIELDS = %u,\n"
                 "       ALONG_SUMS = %u, COLUMN_SUMS = %u, PAIRS = %u, CHANNELS_R = %u, MOMENT_SUMS = %u };\n"
                 "/* A strip is so many blocks of a row; so many groups are kept before their products are\n"
                 " * summed, so many rows before their sums are multiplied by tables. */\n"
                 "enum { STRIP = 8, BATCH = %u, KEPT = 4 };\n\n",
            place(em, n, has_column), place(em, n, has_row), nrow, nH, hg_contract_nfield(em), hg_contract_nrow(x),
            hg_contract_ncolumn(x), npair, em->p->nchannel + 1, em->moment_sums + 1,
            em->p->nchannel < 4 ? 8 : 4);
}

static void scratch_function(uint32_t nexp, struct hg_tree *out)
{
    hg_put(out,
            "enum { EXPS = %u };\n\n"
            "/* Scratch, in vectors.  For the cross moments: column sums [group][block], the sums of rows and these "
            "times\n"
            " * tables.  For a strip: pair parts, channels, fields.  For the fields: column sums [block], the sums of "
            "a row,\n"
            " * the sums of J^T J and J^T r.  Then what the exponentials need to know of the tile. */\n"
            "static size_t scratch_size(const struct fit_layout *l)\n{\n"
            "    const size_t ng = l->ngroup, vectors = ng * (KEPT * ROWS + ROW_SUMS) + ALONG_SUMS + SUMS;\n"
            "    const size_t strip = STRIP * (PAIRS + BATCH * CHANNELS_R + FIELDS);\n"
            "    return l->panel * (ng * COLUMNS + COLUMN_SUMS) + FIT_LANES * strip + FIT_VL * vectors +\n"
            "           MOMENT_SUMS * FIT_VL * ng + 2 * EXPS * ng;\n}\n\n",
            nexp + 1);
}

/* Whole blocks above the diagonal and inside the panel are not masked. */
static void masked_function(struct hg_emit *em, struct hg_tree *out)
{
    hg_put(out, "/* Vectors of pairs (i, j ..) of a strip: fields. */\n");
    hg_open_function(out, "FIT_LARGE void", "normal_masked",
                     hg_format(em->e->arena, "const struct strip *strip, size_t k0, size_t k1, %s%s",
                               many_too(em, "const int many, "), written));
    hg_do(out, "normal_group(strip, k0, k1, 1, %scolumn, row, m);", many_too(em, "many, "));
    hg_close_function(out);
}

/* The loops over rows and strips of a tile: as far as the pair part; of a group, as far as the end of a row. */
static const char of_row[] =
    "const double *data = fit_row_data(l, t, i, at);\n"
    "const size_t kept = (i - t->i0) % KEPT;";
static const char to_pairs[] =
    "const size_t first = b, place = (b - start) * PIECES;\n"
    "b = end - b > STRIP ? b + STRIP : end;\n"
    "const size_t n = (b - first) * PIECES, j = first * FIT_LANES;\n"
    "/* vectors 0 .. low-1 and high .. n-1 are cut by the diagonal or the edge */\n"
    "const size_t cut = i < j ? 0 : (i - j) / FIT_VL + 1, low = t->w || cut > n ? n : cut;\n"
    "const size_t whole = (t->j1 - j) / FIT_VL, high = whole < low ? low : whole < n ? whole : n;\n"
    "for (size_t k = 0; k < n; k++)\n"
    "    normal_pair(l, w, exps, i, first + k / PIECES, k % PIECES * FIT_VL, pair + k * PAIRS);";
static const char to_vectors[] =
    "fit_vd *c = column + (g * pieces + place) * COLUMNS;\n"
    "fit_vd *r = row + (kept * ng + g) * ROWS, *x = m + g % BATCH * CHANNELS_R;";
static const char of_channels[] =
    "if (low > 0)\n"
    "    normal_masked(&strip, 0, low, c, r, x);\n"
    "normal_group(&strip, low, high, 0, c, r, x);\n"
    "if (high < n)\n"
    "    normal_masked(&strip, high, n, c, r, x);\n"
    "if (g % BATCH == BATCH - 1 || g + 1 == ng)\n"
    "    for (size_t k = 0; k < n; k++)\n"
    "        normal_products(g % BATCH + 1, g < BATCH, m + k * BATCH * CHANNELS_R, field + k * FIELDS);";
static const char of_channels_or_fields[] =
    "if (low > 0)\n"
    "    normal_masked(&strip, 0, low, many, c, r, x);\n"
    "if (many)\n"
    "    normal_many(&strip, low, high, c, r, x);\n"
    "else\n"
    "    normal_group(&strip, low, high, 0, 0, c, r, x);\n"
    "if (high < n)\n"
    "    normal_masked(&strip, high, n, many, c, r, x);\n"
    "if (g % BATCH < BATCH - 1 && g + 1 < ng)\n"
    "    continue;\n"
    "for (size_t k = 0; k < n && many; k++)\n"
    "    shared_products(g % BATCH + 1, g < BATCH, m + k * BATCH * CHANNELS_R, field + k * FIELDS);\n"
    "for (size_t k = 0; k < n && !many; k++)\n"
    "    normal_products(g % BATCH + 1, g < BATCH, m + k * BATCH * CHANNELS_R, field + k * FIELDS);";
static const char to_channels[] =
    "for (size_t k = 0; k < n && many; k++)\n"
    "    shared_fields(l, w, exps, t, i, first + k / PIECES, k % PIECES * FIT_VL, k < low || k >= high,\n"
    "                  field + k * FIELDS);\n";
static const char to_next[] =
    "at += (b - first) * ng * FIT_LANES;\n"
    "data += (b - first) * ng * FIT_LANES;\n"
    "contract(w, i, j, n, field, H, along, down + place * COLUMN_SUMS);";
static void strip_loops(const struct hg_block *b, struct hg_tree *out)
{
    const char *nearest = NULL; /* of each vector of the pair part that conditions depend on */
    for (uint32_t k = 0; k < b->nnear; k++)
        nearest = hg_format(b->em->e->arena, "%s%sfit_nearest(pair + %u, PAIRS, low, high)", nearest ? nearest : "",
                            nearest ? ", " : "", b->near[k].pair);
    hg_open(out, "for (size_t i = t->i0; i < t->i1; i++) {");
    hg_line(out, "%s", of_row);
    hg_open(out, "for (size_t b = (i + 1 > t->j0 ? i + 1 : t->j0) / FIT_LANES; b < end;) {");
    hg_line(out, "%s", to_pairs);
    if (nearest)
        hg_statement(out, HG_VERBATIM | HG_WHOLE, "const fit_vd nearest[] = {%s};", nearest);
    hg_open(out, "for (size_t g = 0; g < ng; g++) {");
    hg_line(out, "const struct strip strip = {l, w, lin, exps, t, i, g, first, at, data, pair%s};",
            nearest ? ", nearest" : "");
    hg_line(out, "%s", to_vectors);
    hg_line(out, "%s", shares(b->em) ? of_channels_or_fields : of_channels);
    hg_close(out);
    hg_line(out, "%s%s", many_too(b->em, to_channels), to_next);
    hg_close(out);
}

void hg_emit_normal(struct hg_emit *em, struct hg_tree *out)
{
    struct hg_block b = {.em = em, .derivative = 0};
    struct hg_contract *x = hg_contract_new(em);
    uint32_t K = em->p->nparam, nH = K * (K + 1) / 2 + K;
    struct hg_tree *row = hg_tree_part(out, 2), *block = hg_tree_part(out, 0), *rows = hg_tree_part(out, 0);
    const uint32_t nrow = rows_function(em, rows);
    if (nrow)
        hg_line(row, "if (kept + 1 == KEPT || i + 1 == t->i1)\n"
                     "    add_rows(w, ng, i - kept, kept + 1, row, row_sum);");
    hg_contract_row_end(x, row);
    uint32_t npair = strip_functions(em, &b, block);
    hg_contract_function(x, block);
    hg_put_tree(block, rows);

    scratch_size(em, x, nrow, npair, out);
    hg_put_tree(out, block);
    masked_function(em, out);
    scratch_function(b.nexp, out);
    hg_open_function(out, "static void", "normal",
                "const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t, double "
                "*scratch, double *out");
    hg_tile_head(out);
    hg_line(out, "const size_t pieces = (end - start) * PIECES; /* vectors in a row of the tile */\n"
                 "fit_vd *column = (fit_vd *)scratch, *row = column + pieces * ng * COLUMNS;\n"
                 "fit_vd *row_sum = row + KEPT * ng * ROWS;\n"
                 "fit_vd *pair = row_sum + ng * ROW_SUMS, *m = pair + STRIP * PIECES * PAIRS;\n"
                 "fit_vd *field = m + STRIP * PIECES * BATCH * CHANNELS_R, *down = field + STRIP * PIECES * FIELDS;\n"
                 "fit_vd *along = down + pieces * COLUMN_SUMS, *H = along + ALONG_SUMS;\n"
                 "struct fit_exp_tile *exps = (struct fit_exp_tile *)(H + SUMS);\n"
                 "size_t at = 0;\n"
                 "for (fit_vd *v = column; v < pair; v++)\n"
                 "    *v = (fit_vd){0};\n"
                 "for (fit_vd *v = down; v < H + SUMS; v++)\n"
                 "    *v = (fit_vd){0};");
    hg_block_exp_prologue(em, &b, out);
    if (shares(em))
        hg_line(out, "const int many = ng >= %u; /* groups: the numbers that channels share are summed */",
                em->form->shared.least);
    strip_loops(&b, out);
    hg_put_tree(out, row);
    hg_close(out);
    hg_put(out, "\n");
    hg_contract_tile_end(x, out);
    hg_line(out, "for (size_t k = 0; k < %u; k++)\n    out[k] = fit_vsum(H[k]);", nH);
    hg_declare(out, "double *", "V = out + %u;", nH);
    hg_open(out, "for (size_t g = 0; g < ng; g++, V += %u) {", em->p->nlinear * K);
    cross_moments(em, &b, out);
    hg_close(out);
    hg_close_function(out);
    if (b.doubles > em->table_doubles)
        em->table_doubles = b.doubles;
}
