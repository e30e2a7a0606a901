/* emit_gpu_rows.c -- kernels for accelerators over the rows of a table: every row belongs to the group of its item.
 *
 *     s += w m_k m_l, w m_k r, w m_k b_q      with d mean / d theta_k = factor_k m_k, factor_k the same for all rows
 * or, for another noise distribution, sums of the log density and its derivatives (emit_density.c).
 */
#include <string.h>

#include "emit/emit_gpu.h"
#include "emit/emit_rows.h"

static void head(struct hg_gpu *x)
{
    struct hg_tree *out = x->out;
    hg_offer(out, "const struct fit_gpu_layout *const", "l = &t->l;");
    hg_define(out, "w", "struct tables w;\ncarve(l, t->ws, &w);\n");
    hg_offer(out, "const size_t", "g = t->group;");
    hg_offer(out, "FIT_GLOBAL const double *const", "lin = t->lin + %u * g;", x->em->p->nlinear);
    hg_offer(out, "FIT_GLOBAL const double *const", "adj = t->adj;");
}

static void open_rows(struct hg_gpu *x)
{
    hg_open(x->out, "for (size_t row = t->r0 + t->thread; row < t->r1; row += FIT_GPU_THREADS) {");
    hg_define(x->out, "weight", "const double weight = t->weighted ? t->w[row - t->i0] : 1.0;\n"
                                "if (!(weight > 0.0))\n    continue;\n");
    hg_offer(x->out, "const double", "y = t->y[row - t->i0];");
}

static struct hg_code begin(struct hg_gpu *x, uint32_t nroot, const hg_id *root)
{
    struct hg_code c = hg_rows_begin(x->em, x->out, nroot, root, x->em->density ? hg_density_leaf : hg_row_leaf);
    c.fused = 1;
    for (uint32_t k = 0; k < nroot; k++)
        hg_code_need(&c, root[k]);
    return c;
}

static uint32_t value_roots(struct hg_gpu *x, hg_id *root)
{
    uint32_t n = 0;
    for (uint32_t q = 0; q < x->em->p->nlinear; q++)
        root[n++] = x->em->form->basis[q];
    for (uint32_t q = 0; q < x->em->p->nlinear; q++)
        root[n++] = x->em->p->linear[q];
    root[n++] = x->em->form->rest;
    return n;
}

static void write_moments(struct hg_gpu *x, uint32_t from, uint32_t to)
{
    hg_id *root = hg_alloc(x->em->e->arena, (2 * x->em->p->nlinear + 1) * sizeof *root);
    const uint32_t nroot = value_roots(x, root);
    hg_gpu_open(x, FIT_GPU_MOMENTS, from, to - from, 1);
    head(x);
    hg_gpu_declare_sums(x, "s_", to - from);
    open_rows(x);
    struct hg_code c = begin(x, nroot, root);
    hg_gpu_add_moments(x, &c, from, to);
    hg_rows_end(&c);
    hg_close(x->out);
    hg_gpu_store_sums(x, to - from);
    hg_gpu_close(x);
}

static void write_values(struct hg_gpu *x)
{
    hg_id *root = hg_alloc(x->em->e->arena, (2 * x->em->p->nlinear + 1) * sizeof *root);
    const uint32_t nroot = value_roots(x, root);
    hg_gpu_open(x, FIT_GPU_VALUE, 0, 0, 1);
    head(x);
    hg_open(x->out, "for (size_t row = t->r0 + t->thread; row < t->r1; row += FIT_GPU_THREADS) {");
    struct hg_code c = begin(x, nroot, root);
    hg_do(c.out, "fit_out[t->at + row - t->i0] = %s;", hg_gpu_mean(x, &c));
    hg_rows_end(&c);
    hg_close(x->out);
    hg_gpu_close(x);
}

/* --- derivatives of the mean ---------------------------------------------------------------------------- */

/* The channel of a parameter; nchannel: none. */
static uint32_t channel_of(const struct hg_gpu *x, uint32_t k)
{
    uint32_t e = 0;
    for (uint32_t c = 0; c < x->em->p->nchannel; c++)
        e = x->em->p->channel[c].table[k] ? c + 1 : e;
    return e ? e - 1 : x->em->p->nchannel;
}

/* Roots of the mean and of its derivatives: core and factor by channel. */
static uint32_t slope_roots(struct hg_gpu *x, hg_id *root, hg_id **core, hg_id *factor)
{
    uint32_t n = value_roots(x, root);
    *core = root + n;
    for (uint32_t e = 0; e < x->em->p->nchannel; e++)
        hg_form_strip(x->em->e, x->em->form->m[e], &factor[e], &root[n++]);
    return n;
}

/* The numbers k, l of an element of the upper triangle. */
static void element(uint32_t K, uint32_t n, uint32_t *k, uint32_t *l)
{
    *k = 0;
    while (n >= K - *k)
        n -= K - (*k)++;
    *l = *k + n;
}

static void declare_slopes(struct hg_gpu *x, struct hg_code *c, const hg_id *core)
{
    for (uint32_t k = 0; k < x->em->p->nparam; k++) {
        const uint32_t e = channel_of(x, k);
        hg_declare(c->out, "const double", "m_%u = %s; /* %s */", k,
                   e < x->em->p->nchannel ? hg_code_text(c, core[e]) : "0.0", x->em->p->model->param.item[k].name);
    }
}

static const char *factor_text(struct hg_gpu *x, struct hg_code *c, const hg_id *factor, uint32_t k)
{
    const uint32_t e = channel_of(x, k);
    return e < x->em->p->nchannel ? hg_code_factor(c, factor[e]) : "0.0";
}

static struct hg_code open_slopes(struct hg_gpu *x, uint32_t n, hg_id **core, hg_id **factor)
{
    const uint32_t Q = x->em->p->nlinear, E = x->em->p->nchannel;
    hg_id *root = hg_alloc(x->em->e->arena, (2 * Q + 1 + E) * sizeof *root);
    *factor = hg_alloc(x->em->e->arena, (E + 1) * sizeof **factor);
    const uint32_t nroot = slope_roots(x, root, core, *factor);
    head(x);
    hg_gpu_declare_sums(x, "s_", n);
    open_rows(x);
    struct hg_code c = begin(x, nroot, root);
    declare_slopes(x, &c, *core);
    return c;
}

static void write_normal(struct hg_gpu *x, uint32_t from, uint32_t to)
{
    const uint32_t K = x->em->p->nparam, H = K * (K + 1) / 2;
    hg_id *core, *factor;
    uint32_t k, l;
    hg_gpu_open(x, FIT_GPU_NORMAL, from, to - from, 0);
    struct hg_code c = open_slopes(x, to - from, &core, &factor);
    hg_declare(c.out, "const double", "r = y - (%s);", hg_gpu_mean(x, &c));
    for (uint32_t n = from; n < to; n++) {
        if (n < H)
            element(K, n, &k, &l);
        else
            k = n - H;
        hg_do(c.out, "s_%u = fit_vfma(weight*m_%u, %s, s_%u);", n - from, k,
              n < H ? hg_format(c.e->arena, "m_%u", l) : "r", n - from);
    }
    hg_code_pop(&c);
    hg_close(x->out);
    for (uint32_t n = from; n < to; n++) {
        if (n < H)
            element(K, n, &k, &l);
        const char *a = hg_strdup(c.e->arena, factor_text(x, &c, factor, n < H ? k : n - H));
        if (n < H)
            hg_do(c.out, "fit_sum[%u] = %s*%s*s_%u; /* %s */", n - from, a, factor_text(x, &c, factor, l), n - from,
                  hg_gpu_number(x, FIT_GPU_NORMAL, n));
        else
            hg_do(c.out, "fit_sum[%u] = %s*s_%u; /* %s */", n - from, a, n - from, hg_gpu_number(x, FIT_GPU_NORMAL, n));
    }
    hg_code_end(&c);
    hg_gpu_close(x);
}

static void write_cross(struct hg_gpu *x, uint32_t from, uint32_t to)
{
    const uint32_t K = x->em->p->nparam;
    hg_id *core, *factor;
    hg_gpu_open(x, FIT_GPU_CROSS, from, to - from, 1);
    struct hg_code c = open_slopes(x, to - from, &core, &factor);
    for (uint32_t n = from; n < to; n++)
        hg_do(c.out, "s_%u = fit_vfma(weight*m_%u, %s, s_%u);", n - from, n % K,
              hg_code_factor(&c, x->em->form->basis[n / K]), n - from);
    hg_code_pop(&c);
    hg_close(x->out);
    for (uint32_t n = from; n < to; n++)
        hg_do(c.out, "fit_sum[%u] = %s*s_%u; /* %s */", n - from, factor_text(x, &c, factor, n % K), n - from,
              hg_gpu_number(x, FIT_GPU_CROSS, n));
    hg_code_end(&c);
    hg_gpu_close(x);
}

static void write_gradient(struct hg_gpu *x, uint32_t from, uint32_t to)
{
    struct hg_emit *em = x->em;
    const uint32_t Q = em->p->nlinear, E = em->p->nchannel;
    hg_id *root = hg_alloc(em->e->arena, (2 * (Q + 1) + E) * sizeof *root), *a = root + 2 * (Q + 1);
    uint32_t nroot = 0;
    for (uint32_t twice = 0; twice < 2; twice++) { /* the residual and the seeds use them again */
        for (uint32_t q = 0; q < Q; q++)
            root[nroot++] = em->form->basis[q];
        root[nroot++] = em->form->rest;
    }
    for (uint32_t e = 0; e < E; e++)
        a[e] = root[nroot++] = hg_emit_adjoint(em, em->p->channel[e].m);
    hg_factor(em->e, E, a);
    hg_gpu_open(x, FIT_GPU_GRADIENT, from, to - from, 0);
    head(x);
    hg_offer(x->out, "FIT_GLOBAL const double *const", "seeds = adj + %u * g;", 1 + Q * (Q + 1) / 2);
    hg_offer(x->out, "FIT_GLOBAL const double *const", "at_lin = lin;");
    hg_gpu_declare_sums(x, "s_", to - from);
    open_rows(x);
    struct hg_code c = hg_rows_begin(em, x->out, nroot, root, hg_row_leaf);
    c.fused = 1;
    hg_emit_seeds(em, &c, "y", root);
    for (uint32_t e = 0; e < E; e++)
        hg_code_need(&c, a[e]);
    for (uint32_t k = from; k < to; k++) {
        const uint32_t e = channel_of(x, k);
        if (e < E)
            hg_do(c.out, "s_%u = fit_vfma(weight, %s, s_%u);", k - from, hg_code_text(&c, a[e]), k - from);
    }
    hg_rows_end(&c);
    hg_close(x->out);
    hg_gpu_store_sums(x, to - from);
    hg_gpu_close(x);
}

/* --- log densities -------------------------------------------------------------------------------------- */

/* fit_sum <- sign times the sums of w root; when rho is set, times its number of the group. */
static void write_law(struct hg_gpu *x, uint32_t n, const hg_id *of, const char *sign, uint32_t negative)
{
    hg_id *root = hg_alloc(x->em->e->arena, (n + 1) * sizeof *root);
    memcpy(root, of, n * sizeof *root);
    hg_factor(x->em->e, n, root);
    head(x);
    hg_gpu_declare_sums(x, "s_", n);
    open_rows(x);
    struct hg_code c = begin(x, n, root);
    for (uint32_t k = 0; k < n; k++)
        if (!hg_is_value(x->em->e, root[k], 0.0))
            hg_do(c.out, "s_%u = fit_vfma(weight, %s, s_%u);", k, hg_code_text(&c, root[k]), k);
    hg_rows_end(&c);
    hg_close(x->out);
    for (uint32_t k = 0; k < n; k++)
        hg_do(x->out, "fit_sum[%u] = %s%ss_%u;", k, k < negative ? "-" : "", sign, k);
    hg_gpu_close(x);
}

static void law_moments(struct hg_gpu *x, uint32_t from, uint32_t to)
{
    hg_gpu_open(x, FIT_GPU_MOMENTS, from, to - from, 1);
    write_law(x, 1, &x->em->density->rest, "2.0*", 1);
}

static void law_normal(struct hg_gpu *x, uint32_t from, uint32_t to)
{
    const struct hg_density_form *d = x->em->density;
    hg_id *of = hg_alloc(x->em->e->arena, (d->nbend + d->K + 1) * sizeof *of);
    memcpy(of, d->bend, d->nbend * sizeof *of);
    memcpy(of + d->nbend, d->slope, d->K * sizeof *of);
    hg_gpu_open(x, FIT_GPU_NORMAL, from, to - from, 0);
    write_law(x, to - from, of + from, "", from < d->nbend ? d->nbend - from : 0);
}

static void law_gradient(struct hg_gpu *x, uint32_t from, uint32_t to)
{
    hg_gpu_open(x, FIT_GPU_GRADIENT, from, to - from, 0);
    write_law(x, to - from, x->em->density->slope + from, "adj[g]*", 0);
}

void hg_gpu_rows(struct hg_gpu *x)
{
    const uint32_t Q = x->em->p->nlinear, K = x->em->p->nparam, H = K ? K * (K + 1) / 2 + K : 0;
    const int law = x->em->density != NULL;
    hg_gpu_parts(x, Q * (Q + 1) / 2 + Q + 1, NULL, law ? law_moments : write_moments);
    hg_gpu_parts(x, H, NULL, law ? law_normal : write_normal);
    hg_gpu_parts(x, Q * K, NULL, write_cross);
    hg_gpu_parts(x, K, NULL, law ? law_gradient : write_gradient);
    write_values(x);
}
