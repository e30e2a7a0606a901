/* emit_gpu_pairs.c -- kernels for accelerators over pairs of frames.
 *
 *     moments, cross, value   a block has one group; a thread goes down a column
 *     normal, gradient        a block has all groups: for each pair the fields are summed over the groups first,
 *                                 F_cd = sum_g w m_c m_d,   G_c = sum_g w m_c r ,
 *                             and then contracted with the small factors u of the parameters (emit_contract.h)
 * so that a thread keeps the fields of one pair and one number for each result. Exponentials of differences are
 * computed per pair: usually that is one for all groups, and needs no tables centred on tiles.
 */
#include <string.h>

#include "emit/emit_block.h"
#include "emit/emit_contract.h"
#include "emit/emit_gpu.h"
#include "emit/emit_gradient.h"

/* --- common parts of the functions ---------------------------------------------------------------------- */

static struct hg_code begin(struct hg_gpu *x, struct hg_block *b, uint32_t nroot, const hg_id *root)
{
    *b = (struct hg_block){.em = x->em, .direct_exp = 1};
    struct hg_code c = hg_block_begin(x->em, b, x->out, nroot, root);
    c.fused = 1;
    return c;
}

static void head(struct hg_gpu *x)
{
    struct hg_tree *out = x->out;
    hg_offer(out, "const struct fit_gpu_layout *const", "l = &t->l;");
    hg_define(out, "w", "struct tables tables;\ncarve(l, t->ws, &tables);\n"
                        "const struct tables *const w = &tables;\n");
    hg_offer(out, "FIT_GLOBAL const double *const", "lin = t->lin;");
    hg_offer(out, "FIT_GLOBAL const double *const", "adj = t->adj;");
    hg_offer(out, "const size_t", "ng = l->ngroup;");
}

static void own_group(struct hg_gpu *x)
{
    hg_offer(x->out, "const size_t", "g = t->group;");
}

/* The loop down the column of a thread. The compiler must not know that the column stays the same: it would keep
 * everything that depends only on it in registers, some seventy of them in a model of two components. */
static void open_column(struct hg_gpu *x)
{
    hg_declare(x->out, "const size_t", "column = t->c0 + t->thread %% FIT_GPU_COLUMNS;");
    hg_open(x->out, "for (size_t line = t->r0 + t->thread / FIT_GPU_COLUMNS; line < t->r1; line += FIT_GPU_ROWS) {");
    hg_line(x->out, "if (column <= line || column >= t->c1)\n"
                    "    continue;\n"
                    "size_t i = line, j = column; /* unknown to the compiler: nothing of a column is kept */\n"
                    "FIT_OPAQUE(i);\n"
                    "FIT_OPAQUE(j);");
    hg_offer(x->out, "const size_t", "b = j / FIT_LANES;");
    hg_offer(x->out, "const size_t", "h = j %% FIT_LANES;");
    hg_offer(x->out, "const size_t", "at = fit_gpu_pair(t, i, b) + h;");
}

/* Tables for the part after the groups: their addresses are computed again, so that they occupy no register until
 * then. */
static void carve_again(struct hg_gpu *x)
{
    hg_define(x->out, "v", "/* addresses of tables once more, in no register until here */\n"
                           "FIT_OPAQUE(i);\nFIT_OPAQUE(j);\n"
                           "struct fit_gpu_layout layout_again = *l;\nstruct tables tables_again;\n"
                           "size_t frames = l->nframe, times = l->ntime, groups = l->ngroup;\n"
                           "FIT_GLOBAL const double *base = t->ws;\n"
                           "FIT_OPAQUE(frames);\nFIT_OPAQUE(times);\nFIT_OPAQUE(groups);\nFIT_OPAQUE(base);\n"
                           "layout_again.nframe = frames;\nlayout_again.ntime = times;\n"
                           "layout_again.ngroup = groups;\n"
                           "carve(&layout_again, base, &tables_again);\n"
                           "const struct tables *const v = &tables_again;\n");
    x->tables = "v";
}

/* Data of the pair in group g. */
static void open_group(struct hg_gpu *x)
{
    hg_define(x->out, "weight",
              "const double weight = t->weighted ? t->w[at + g * FIT_LANES] : 1.0;\n"
              "if (!(weight > 0.0))\n    continue;\n");
    hg_offer(x->out, "const double", "y = t->y[at + g * FIT_LANES];");
}

static uint32_t mean_roots(const struct hg_gpu *x, hg_id *root)
{
    const struct hg_plan *p = x->em->p;
    uint32_t n = 0;
    for (uint32_t q = 0; q < p->nlinear; q++)
        root[n++] = x->em->form->basis[q];
    for (uint32_t q = 0; q < p->nlinear; q++)
        root[n++] = p->linear[q];
    root[n++] = x->em->form->rest;
    return n;
}

static hg_id *room_for_roots(const struct hg_gpu *x)
{
    const struct hg_plan *p = x->em->p;
    return hg_alloc(x->em->e->arena,
                    (2 * p->nlinear + 1 + p->nchannel + 2 * x->em->form->nmoment + 1) * sizeof(hg_id));
}

/* u of channel c and parameter k at the pair; NULL: it is 1. */
static const char *factor_name(struct hg_gpu *x, uint32_t c, uint32_t k)
{
    const struct hg_channel *ch = &x->em->p->channel[c];
    return ch->kind == HG_CHANNEL_ONE
               ? NULL : hg_format(x->em->e->arena, "u_%u_%u", c, k);
}

static void declare_factor(struct hg_gpu *x, struct hg_code *c, uint32_t channel, uint32_t k)
{
    const struct hg_channel *ch = &x->em->p->channel[channel];
    if (!ch->table[k] || ch->kind == HG_CHANNEL_ONE)
        return;
    const char *t = hg_emit_field(x->em, HG_FIELD_FRAME, ch->table[k], 1)->name, *u = factor_name(x, channel, k);
    const char *name = hg_format(c->e->arena, "%s: %s", ch->name, x->em->p->model->param.item[k].name);
    if (ch->kind == HG_CHANNEL_DELTA)
        hg_declare(c->out, "const double", "%s = %s->%s[j] - %s->%s[i]; /* %s */", u, x->tables, t, x->tables, t, name);
    else
        hg_declare(c->out, "const double", "%s = %s->%s[%s]; /* %s */", u, x->tables, t,
                   ch->kind == HG_CHANNEL_AT_I ? "i" : "j", name);
}

/* --- normal --------------------------------------------------------------------------------------------- */

/* Index of H_kl in the upper triangle. */
static uint32_t upper(uint32_t K, uint32_t k, uint32_t l)
{
    uint32_t low = k < l ? k : l, high = k < l ? l : k;
    return low * K - low * (low + 1) / 2 + high;
}

/* Calls fn for every product that enters a number from .. to-1: channels c <= d (d = nchannel: the residual),
 * parameters k and l, the number. */
struct products {
    struct hg_gpu *x;
    struct hg_code *c;
    uint32_t from, to;
    unsigned char *field, *factor; /* wanted: by field; by channel and parameter */
    void (*fn)(struct products *p, uint32_t c, uint32_t d, uint32_t k, uint32_t l, uint32_t number);
};

static void each_of_channels(struct products *p, uint32_t c, uint32_t d)
{
    const struct hg_plan *plan = p->x->em->p;
    const uint32_t K = plan->nparam, E = plan->nchannel;
    for (uint32_t k = 0; k < K; k++) {
        if (!plan->channel[c].table[k])
            continue;
        if (d == E) {
            const uint32_t n = K * (K + 1) / 2 + k;
            if (n >= p->from && n < p->to)
                p->fn(p, c, d, k, K, n);
            continue;
        }
        for (uint32_t l = 0; l < K; l++) {
            const uint32_t n = upper(K, k, l);
            if (plan->channel[d].table[l] && (c != d || k <= l) && n >= p->from && n < p->to)
                p->fn(p, c, d, k, l, n);
        }
    }
}

static void each_product(struct products *p)
{
    const uint32_t E = p->x->em->p->nchannel;
    for (uint32_t c = 0; c < E; c++)
        for (uint32_t d = c; d <= E; d++)
            each_of_channels(p, c, d);
}

static void note_product(struct products *p, uint32_t c, uint32_t d, uint32_t k, uint32_t l, uint32_t number)
{
    const struct hg_plan *plan = p->x->em->p;
    (void)number;
    p->field[hg_contract_field(p->x->em, c, d)] = 1;
    p->factor[c * plan->nparam + k] = 1;
    if (d < plan->nchannel)
        p->factor[d * plan->nparam + l] = 1;
}

static void write_product(struct products *p, uint32_t c, uint32_t d, uint32_t k, uint32_t l, uint32_t number)
{
    struct hg_gpu *x = p->x;
    struct hg_arena *a = x->em->e->arena;
    const uint32_t E = x->em->p->nchannel, f = hg_contract_field(x->em, c, d), s = number - p->from;
    const char *uc = factor_name(x, c, k), *ud = d < E ? factor_name(x, d, l) : NULL;
    const char *first = hg_format(a, d < E && c != d && k == l ? "2.0*F_%u" : "F_%u", f);
    if (uc && ud)
        hg_do(p->c->out, "s_%u = fit_vfma(%s*%s, %s, s_%u);", s, first, ud, uc, s);
    else if (uc || ud)
        hg_do(p->c->out, "s_%u = fit_vfma(%s, %s, s_%u);", s, first, uc ? uc : ud, s);
    else
        hg_do(p->c->out, "s_%u += %s;", s, first);
}

/* Fields of a group: the channels needed, and the residual. */
static void add_fields(struct products *p, struct hg_code *c)
{
    struct hg_gpu *x = p->x;
    struct hg_emit *em = x->em;
    const uint32_t E = em->p->nchannel;
    hg_declare(c->out, "const double", "r = y - (%s);", hg_gpu_mean(x, c));
    for (uint32_t e = 0; e < E; e++)
        hg_declare(c->out, "const double", "m_%u = %s; /* %s */", e, hg_code_text(c, em->form->m[e]),
                   em->p->channel[e].name);
    for (uint32_t e = 0; e < E; e++) {
        int used = 0;
        for (uint32_t d = e; d <= E; d++)
            used |= p->field[hg_contract_field(em, e, d)];
        if (used)
            hg_declare(c->out, "const double", "wm_%u = weight*m_%u;", e, e);
        for (uint32_t d = e; d <= E; d++) {
            const uint32_t f = hg_contract_field(em, e, d);
            const char *other = d == E ? "r" : hg_format(em->e->arena, "m_%u", d);
            if (p->field[f])
                hg_do(c->out, "F_%u = fit_vfma(wm_%u, %s, F_%u); /* %s */", f, e, other, f,
                      hg_contract_field_name(em, e, d));
        }
    }
}

/* The loop over the groups of a pair, in which the fields are added up. */
static void sum_fields(struct products *p, struct hg_code *c, uint32_t nroot, const hg_id *root)
{
    struct hg_gpu *x = p->x;
    hg_block_need_pair_part(c, nroot, root);
    for (uint32_t f = 0; f < hg_contract_nfield(x->em); f++)
        if (p->field[f])
            hg_declare(c->out, "double", "F_%u = 0.0;", f);
    hg_open(x->out, "for (size_t g = 0; g < ng; g++) {");
    open_group(x);
    hg_code_push(c);
    hg_block_declare_linear(c);
    for (uint32_t k = 0; k < nroot; k++)
        hg_code_need(c, root[k]);
    add_fields(p, c);
    hg_code_pop(c);
    hg_close(x->out);
}

/* The fields and factors that the numbers from .. to-1 need. */
static struct products wanted_products(struct hg_gpu *x, uint32_t from, uint32_t to)
{
    struct hg_arena *a = x->em->e->arena;
    const struct hg_plan *plan = x->em->p;
    struct products p = {.x = x, .from = from, .to = to, .field = hg_alloc(a, hg_contract_nfield(x->em) + 1),
                         .factor = hg_alloc(a, plan->nchannel * plan->nparam + 1), .fn = note_product};
    each_product(&p);
    return p;
}

static uint32_t normal_kept(struct hg_gpu *x, uint32_t from, uint32_t to)
{
    const struct products p = wanted_products(x, from, to);
    uint32_t n = to - from;
    for (uint32_t f = 0; f < hg_contract_nfield(x->em); f++)
        n += p.field[f];
    return n;
}

static void write_normal(struct hg_gpu *x, uint32_t from, uint32_t to)
{
    struct hg_emit *em = x->em;
    struct hg_block b;
    const uint32_t E = em->p->nchannel, K = em->p->nparam;
    hg_id *root = room_for_roots(x);
    struct products p = wanted_products(x, from, to);
    uint32_t nroot = mean_roots(x, root);
    for (uint32_t e = 0; e < E; e++)
        root[nroot++] = em->form->m[e];
    hg_gpu_open(x, FIT_GPU_NORMAL, from, to - from, 0);
    struct hg_code c = begin(x, &b, nroot, root);
    head(x);
    hg_gpu_declare_sums(x, "s_", to - from);
    open_column(x);
    hg_code_push(&c);
    sum_fields(&p, &c, nroot, root);
    carve_again(x);
    for (uint32_t e = 0; e < E; e++)
        for (uint32_t k = 0; k < K; k++)
            if (p.factor[e * K + k])
                declare_factor(x, &c, e, k);
    p.c = &c;
    p.fn = write_product;
    each_product(&p);
    hg_code_pop(&c);
    hg_code_end(&c);
    hg_close(x->out);
    hg_gpu_store_sums(x, to - from);
    hg_gpu_close(x);
}

/* --- cross moments -------------------------------------------------------------------------------------- */

/* Sums of one slot times the factor of a parameter: S = sum w core u. */
struct slot_sum {
    uint32_t slot, channel, k;
};

static uint32_t find_slot_sum(struct slot_sum *sum, uint32_t *n, struct slot_sum s)
{
    uint32_t at = 0;
    while (at < *n && (sum[at].slot != s.slot || sum[at].channel != s.channel || sum[at].k != s.k))
        at++;
    if (at == *n)
        sum[(*n)++] = s;
    return at;
}

/* The sums that numbers from .. to-1 need: the moments that enter q nparam + k. */
static uint32_t slot_sums(struct hg_gpu *x, uint32_t from, uint32_t to, struct slot_sum *sum)
{
    const struct hg_form *f = x->em->form;
    const uint32_t K = x->em->p->nparam;
    uint32_t n = 0;
    for (uint32_t m = 0; m < f->nmoment; m++)
        for (uint32_t k = 0; k < K; k++)
            if (x->em->p->channel[f->moment[m].channel].table[k] && f->moment[m].q * K + k >= from &&
                f->moment[m].q * K + k < to)
                find_slot_sum(sum, &n, (struct slot_sum){f->moment[m].slot, f->moment[m].channel, k});
    return n;
}

static uint32_t cross_kept(struct hg_gpu *x, uint32_t from, uint32_t to)
{
    HG_SCRATCH struct slot_sum *sum = hg_zeros(x->em->form->nmoment * x->em->p->nparam + 1, sizeof *sum);
    return slot_sums(x, from, to, sum);
}

static void add_slots(struct hg_gpu *x, struct hg_code *c, uint32_t n, const struct slot_sum *sum)
{
    const struct hg_form *f = x->em->form;
    const uint32_t K = x->em->p->nparam;
    HG_SCRATCH unsigned char *slot = hg_zeros(f->nslot + 1, 1), *factor = hg_zeros(x->em->p->nchannel * K + 1, 1);
    for (uint32_t s = 0; s < n; s++) {
        if (!slot[sum[s].slot])
            hg_declare(c->out, "const double", "core_%u = weight*%s;", sum[s].slot,
                       hg_code_factor(c, hg_form_slot(f, sum[s].slot)->core));
        if (!factor[sum[s].channel * K + sum[s].k])
            declare_factor(x, c, sum[s].channel, sum[s].k);
        slot[sum[s].slot] = factor[sum[s].channel * K + sum[s].k] = 1;
    }
    for (uint32_t s = 0; s < n; s++) {
        const char *u = factor_name(x, sum[s].channel, sum[s].k);
        if (u)
            hg_do(c->out, "s_%u = fit_vfma(core_%u, %s, s_%u);", s, sum[s].slot, u, s);
        else
            hg_do(c->out, "s_%u += core_%u;", s, sum[s].slot);
    }
}

/* fit_sum <- coefficients times sums. */
static void combine_slots(struct hg_gpu *x, struct hg_code *c, uint32_t from, uint32_t to, struct slot_sum *sum,
                          uint32_t n)
{
    const struct hg_form *f = x->em->form;
    const uint32_t K = x->em->p->nparam;
    for (uint32_t o = from; o < to; o++) {
        const char *s = NULL;
        for (uint32_t m = 0; m < f->nmoment; m++) {
            const struct hg_moment *y = &f->moment[m];
            if (y->q != o / K || !x->em->p->channel[y->channel].table[o % K])
                continue;
            const uint32_t at = find_slot_sum(sum, &n, (struct slot_sum){y->slot, y->channel, o % K});
            const char *k = hg_code_factor(c, y->coefficient);
            s = s ? hg_format(c->e->arena, "fit_vfma(%s, s_%u, %s)", k, at, s)
                  : hg_format(c->e->arena, "%s*s_%u", k, at);
        }
        hg_do(c->out, "fit_sum[%u] = %s; /* %s */", o - from, s ? s : "0.0", hg_gpu_number(x, FIT_GPU_CROSS, o));
    }
}

static void write_cross(struct hg_gpu *x, uint32_t from, uint32_t to)
{
    struct hg_emit *em = x->em;
    struct hg_block b;
    hg_id *root = room_for_roots(x);
    struct slot_sum *sum = hg_alloc(em->e->arena, (em->form->nmoment * em->p->nparam + 1) * sizeof *sum);
    const uint32_t n = slot_sums(x, from, to, sum), nslot = em->form->nslot;
    uint32_t nroot = 0;
    for (uint32_t s = 0; s < nslot; s++)
        root[nroot++] = hg_form_slot(em->form, s)->core;
    for (uint32_t m = 0; m < em->form->nmoment; m++)
        root[nroot++] = em->form->moment[m].coefficient;
    hg_gpu_open(x, FIT_GPU_CROSS, from, to - from, 1);
    struct hg_code c = begin(x, &b, nroot, root);
    head(x);
    own_group(x);
    hg_gpu_declare_sums(x, "s_", n);
    open_column(x);
    open_group(x);
    hg_code_push(&c);
    hg_block_declare_linear(&c);
    for (uint32_t s = 0; s < n; s++)
        hg_code_need(&c, hg_form_slot(em->form, sum[s].slot)->core);
    add_slots(x, &c, n, sum);
    hg_code_pop(&c);
    hg_close(x->out);
    hg_code_push(&c);
    hg_block_declare_linear(&c);
    for (uint32_t m = 0; m < em->form->nmoment; m++)
        hg_code_need(&c, em->form->moment[m].coefficient);
    combine_slots(x, &c, from, to, sum, n);
    hg_code_pop(&c);
    hg_code_end(&c);
    hg_gpu_close(x);
}

/* --- moments -------------------------------------------------------------------------------------------- */

static void write_moments(struct hg_gpu *x, uint32_t from, uint32_t to)
{
    struct hg_block b;
    hg_id *root = room_for_roots(x);
    uint32_t nroot = 0;
    for (uint32_t q = 0; q < x->em->p->nlinear; q++)
        root[nroot++] = x->em->form->basis[q];
    root[nroot++] = x->em->form->rest;
    hg_gpu_open(x, FIT_GPU_MOMENTS, from, to - from, 1);
    struct hg_code c = begin(x, &b, nroot, root);
    head(x);
    own_group(x);
    hg_gpu_declare_sums(x, "s_", to - from);
    open_column(x);
    open_group(x);
    hg_code_push(&c);
    for (uint32_t k = 0; k < nroot; k++)
        hg_code_need(&c, root[k]);
    hg_gpu_add_moments(x, &c, from, to);
    hg_code_pop(&c);
    hg_code_end(&c);
    hg_close(x->out);
    hg_gpu_store_sums(x, to - from);
    hg_gpu_close(x);
}

/* --- gradient ------------------------------------------------------------------------------------------- */

/* a_c of every channel, then the sums of the parameters. */
static void add_adjoints(const struct hg_terms *y, struct hg_gpu *x, struct hg_code *c, uint32_t from, uint32_t to)
{
    struct hg_arena *a = c->e->arena;
    const struct hg_plan *p = x->em->p;
    for (uint32_t e = 0; e < p->nchannel; e++) {
        const char *s = NULL;
        for (uint32_t k = 0; k < y->nterm; k++) {
            if (y->term[k].channel != e)
                continue;
            const uint32_t f = y->term[k].field;
            const int one = hg_is_value(c->e, y->term[k].coefficient, 1.0);
            const char *z = one ? "1.0" : hg_code_factor(c, y->term[k].coefficient);
            s = s ? hg_format(a, "fit_vfma(%s, F_%u, %s)", z, f, s)
                  : one ? hg_format(a, "F_%u", f) : hg_format(a, "%s*F_%u", z, f);
        }
        hg_declare(c->out, "const double", "a_%u = %s; /* %s */", e, s ? s : "0.0", p->channel[e].name);
        for (uint32_t k = from; k < to; k++) {
            if (!p->channel[e].table[k])
                continue;
            declare_factor(x, c, e, k);
            const char *u = factor_name(x, e, k);
            if (u)
                hg_do(c->out, "s_%u = fit_vfma(a_%u, %s, s_%u);", k - from, e, u, k - from);
            else
                hg_do(c->out, "s_%u += a_%u;", k - from, e);
        }
    }
}

/* Fields F of a group. */
static void adjoint_group(const struct hg_terms *y, struct hg_gpu *x, struct hg_code *c, const hg_id *root)
{
    hg_open(x->out, "for (size_t g = 0; g < ng; g++) {");
    open_group(x);
    const uint32_t Q = x->em->p->nlinear;
    hg_offer(x->out, "FIT_GLOBAL const double *const", "seeds = adj + g * %u;", 1 + Q * (Q + 1) / 2);
    hg_offer(x->out, "FIT_GLOBAL const double *const", "at_lin = lin + g * %u;", Q);
    hg_code_push(c);
    hg_emit_seeds(x->em, c, "y", root);
    for (uint32_t f = 0; f < y->nfield; f++)
        hg_code_need(c, y->field[f]);
    for (uint32_t f = 0; f < y->nfield; f++)
        hg_do(c->out, "F_%u = fit_vfma(weight, %s, F_%u);", f, hg_code_text(c, y->field[f]), f);
    hg_code_pop(c);
    hg_close(x->out);
}

static void write_gradient(struct hg_gpu *x, uint32_t from, uint32_t to)
{
    struct hg_emit *em = x->em;
    struct hg_terms y = {.e = em->e};
    struct hg_block b;
    const uint32_t Q = em->p->nlinear;
    uint32_t nroot;
    hg_id *root = hg_adjoint_arrange(em, &y, &nroot);
    hg_id *all = hg_alloc(em->e->arena, (nroot + Q + 1) * sizeof *all);
    memcpy(all, root, nroot * sizeof *all);
    memcpy(all + nroot, root, (Q + 1) * sizeof *all); /* seeds and the mean use the basis functions again */
    hg_gpu_open(x, FIT_GPU_GRADIENT, from, to - from, 0);
    struct hg_code c = begin(x, &b, nroot + Q + 1, all);
    head(x);
    hg_gpu_declare_sums(x, "s_", to - from);
    open_column(x);
    hg_code_push(&c);
    hg_block_need_pair_part(&c, nroot, root);
    hg_gpu_declare_sums(x, "F_", y.nfield);
    adjoint_group(&y, x, &c, root);
    carve_again(x);
    add_adjoints(&y, x, &c, from, to);
    hg_code_pop(&c);
    hg_code_end(&c);
    hg_close(x->out);
    hg_gpu_store_sums(x, to - from);
    hg_gpu_close(x);
}

/* --- values --------------------------------------------------------------------------------------------- */

static void write_values(struct hg_gpu *x)
{
    struct hg_block b;
    hg_id *root = room_for_roots(x);
    const uint32_t nroot = mean_roots(x, root);
    hg_gpu_open(x, FIT_GPU_VALUE, 0, 0, 1);
    struct hg_code c = begin(x, &b, nroot, root);
    head(x);
    own_group(x);
    open_column(x);
    hg_code_push(&c);
    hg_block_declare_linear(&c);
    for (uint32_t k = 0; k < nroot; k++)
        hg_code_need(&c, root[k]);
    hg_do(c.out, "fit_out[at + g * FIT_LANES] = %s;", hg_gpu_mean(x, &c));
    hg_code_pop(&c);
    hg_code_end(&c);
    hg_close(x->out);
    hg_gpu_close(x);
}

void hg_gpu_pairs(struct hg_gpu *x)
{
    const uint32_t Q = x->em->p->nlinear, K = x->em->p->nparam;
    hg_gpu_parts(x, Q * (Q + 1) / 2 + Q + 1, NULL, write_moments);
    hg_gpu_parts(x, K ? K * (K + 1) / 2 + K : 0, normal_kept, write_normal);
    hg_gpu_parts(x, Q * K, cross_kept, write_cross);
    hg_gpu_parts(x, K, NULL, write_gradient);
    write_values(x);
}
