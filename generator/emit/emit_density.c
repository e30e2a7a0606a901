/* emit_density.c -- tables with a noise distribution of their own (fit/kernel.h, fit_density): sums of the log density
 * l and its derivatives over vectors of eight rows.
 *
 * l is a sum; terms without parameters go into `constant`, which is computed once per data set. First derivatives come
 * from one sweep from l down to the parameters (hg_gradient), so gradient costs a few times l, however many parameters
 * there are; second ones come from differentiating these once more. Unused lanes may hold values without a density:
 * their terms are masked, not multiplied by 0.
 */
#include "emit/emit.h"
#include "emit/emit_rows.h"

/* --- expressions to write ------------------------------------------------------------------------------- */

static int has_other_than_columns(const struct hg_expr *e, hg_id root)
{
    unsigned char *need = hg_alloc(e->arena, root + 1);
    need[root] = 1;
    for (hg_id id = root; id > 0; id--) {
        const struct hg_node *n = hg_at(e, id);
        if (need[id] && n->nargs == 0 && n->op != HG_COLUMN && n->op != HG_CONST)
            return 1;
        for (uint32_t k = 0; need[id] && k < n->nargs; k++)
            need[n->arg[k]] = 1;
    }
    return 0;
}

/* Terms of l that are fixed for a table, whatever the parameters and settings. */
static void split(struct hg_density_form *x, hg_id l)
{
    struct hg_expr *e = x->em->e;
    const struct hg_node n = *hg_at(e, l);
    hg_id *still = hg_alloc(e->arena, (n.nargs + 1) * sizeof *still),
          *moving = hg_alloc(e->arena, (n.nargs + 1) * sizeof *moving);
    uint32_t nstill = 0, nmoving = 0;
    for (uint32_t k = 0; n.op == HG_SUM && k < n.nargs; k++) {
        if (has_other_than_columns(e, n.arg[k]))
            moving[nmoving++] = n.arg[k];
        else
            still[nstill++] = n.arg[k];
    }
    x->constant = hg_sum(e, nstill, still);
    x->rest = n.op == HG_SUM ? hg_sum(e, nmoving, moving) : l;
}

static hg_id arranged(struct hg_emit *em, hg_id id)
{
    return hg_separate(em->p, hg_plan_bundle(em->p, id), &em->form->separation);
}

static void derive(struct hg_density_form *x)
{
    struct hg_emit *em = x->em;
    struct hg_expr *e = em->e;
    const struct hg_density *d = em->p->model->density;
    uint32_t K = x->K = em->p->nparam, n = 0;
    x->slope = hg_alloc(e->arena, (K + 1) * sizeof *x->slope);
    x->nbend = K * (K + 1) / 2;
    x->bend = hg_alloc(e->arena, (x->nbend + 1) * sizeof *x->bend);
    x->argument = hg_alloc(e->arena, HG_LAW_ARGUMENTS * sizeof *x->argument);
    split(x, d->node);
    hg_gradient(e, x->rest, K, em->p->param, x->slope);
    for (uint32_t a = 0; a < K; a++)
        for (uint32_t b = a; b < K; b++)
            x->bend[n++] = arranged(em, hg_diff(e, x->slope[a], em->p->param[b]));
    for (uint32_t k = 0; k < K; k++)
        x->slope[k] = arranged(em, x->slope[k]);
    for (uint32_t k = 0; k < d->narg; k++)
        x->argument[k] = arranged(em, d->arg[k]);
    x->rest = arranged(em, x->rest);
}

/* --- loops ---------------------------------------------------------------------------------------------- */

/* The measured value comes with the tile; it may differ from the column of the table. */
const char *hg_density_leaf(struct hg_code *c, hg_id id)
{
    struct hg_emit *em = c->user;
    const struct hg_density *d = em->p->model->density;
    if (id != d->value)
        return hg_row_leaf(c, id);
    const char *name = hg_code_unique(c, em->p->model->observable);
    hg_declare(c->out, "const fit_vd", "%s = fit_vload(t->y + (row - t->i0));", name);
    return name;
}

static struct hg_code begin(struct hg_density_form *x, struct hg_tree *out, uint32_t nroot, const hg_id *root)
{
    struct hg_code c = hg_rows_begin(x->em, out, nroot, root, hg_density_leaf);
    for (uint32_t k = 0; k < nroot; k++)
        hg_code_need(&c, root[k]);
    return c;
}

static void head(struct hg_density_form *x, struct hg_tree *out, const char *name, const char *arguments)
{
    hg_open_function(out, "static void", name,
                hg_format(x->em->e->arena, "const struct fit_layout *l, const double *ws, %s", arguments));
    hg_rows_head(x->em, out);
}

static const char loop[] = "for (size_t row = t->i0; row < fit_padded(t->i1); row += FIT_VL) {";
/* sum[k] += w root[k] over the rows. */
static void add_up(struct hg_density_form *x, struct hg_tree *out, uint32_t nroot, hg_id *root)
{
    hg_open(out, "%s", loop);
    hg_offer(out, "const fit_vd", "weight = fit_row_weight(t, row);");
    hg_offer(out, "const fit_vm", "on = weight > 0;");
    hg_factor(x->em->e, nroot, root);
    struct hg_code c = begin(x, out, nroot, root);
    for (uint32_t k = 0; k < nroot; k++)
        if (!hg_is_value(x->em->e, root[k], 0.0))
            hg_do(c.out, "sum[%u] += fit_where_set(on, weight*%s);", k, hg_code_factor(&c, root[k]));
    hg_rows_end(&c);
    hg_close(out);
}

static void emit_moments(struct hg_density_form *x, struct hg_tree *out)
{
    hg_id root = x->rest;
    head(x, out, "moments",
         "const struct fit_tile *t, double *scratch, double *out");
    hg_declare(out, "fit_vd", "sum[1] = {{0}};");
    add_up(x, out, 1, &root);
    if (x->em->p->model->axis.n)
        hg_line(out, "for (size_t k = 0; k < l->ngroup; k++)\n    out[k] = 0.0;\nout += g;");
    hg_do(out, "out[0] = -2.0*fit_vsum(sum[0]);");
    hg_close_function(out);
}

static void emit_normal(struct hg_density_form *x, struct hg_tree *out)
{
    uint32_t n = x->nbend + x->K;
    hg_id *root = hg_alloc(x->em->e->arena, (n + 1) * sizeof *root);
    for (uint32_t k = 0; k < n; k++)
        root[k] = k < x->nbend ? x->bend[k] : x->slope[k - x->nbend];
    hg_put(out, "enum { SUMS = %u };\n\nstatic size_t scratch_size(const struct fit_layout *l)\n{\n"
                 "    return FIT_VL * SUMS;\n}\n\n", n ? n : 1);
    head(x, out, "normal",
         "const double *lin, const struct fit_tile *t, double *scratch, double *out");
    hg_declare(out, "fit_vd *const", "sum = (fit_vd *)scratch;");
    hg_line(out, "for (size_t k = 0; k < SUMS; k++)\n    sum[k] = (fit_vd){0};");
    add_up(x, out, n, root);
    hg_line(out, "for (size_t k = 0; k < %u; k++)\n    out[k] = -fit_vsum(sum[k]);\nfor (size_t k = %u; k < %u; k++)\n"
                 "    out[k] = fit_vsum(sum[k]);", x->nbend, x->nbend, n);
    hg_close_function(out);
}

static void emit_gradient(struct hg_density_form *x, struct hg_tree *out)
{
    hg_id *root = hg_alloc(x->em->e->arena, (x->K + 1) * sizeof *root);
    for (uint32_t k = 0; k < x->K; k++)
        root[k] = x->slope[k];
    head(x, out, "gradient",
         "const double *lin, const double *adj, const struct fit_tile *t, double *scratch, double *out");
    hg_line(out, "const double rho = adj[%s];\nfit_vd sum[%u] = {{0}};",
            x->em->p->model->axis.n ? "t->group" : "0", x->K ? x->K : 1);
    add_up(x, out, x->K, root);
    hg_line(out, "for (size_t k = 0; k < %u; k++)\n    out[k] = rho*fit_vsum(sum[k]);", x->K);
    hg_close_function(out);
}

/* --- once for a data set, and row by row ---------------------------------------------------------------- */

static void emit_constant(struct hg_density_form *x, struct hg_tree *out)
{
    hg_id root = x->constant;
    hg_open_function(out, "static double", "density_constant",
                     "const struct fit_layout *l, const struct fit_tile *t");
    if (hg_is_value(x->em->e, root, 0.0)) {
        hg_line(out, "return 0.0; /* every term has parameters */");
    } else {
        hg_declare(out, "fit_vd", "sum[1] = {{0}};");
        add_up(x, out, 1, &root);
        hg_line(out, "return fit_vsum(sum[0]);");
    }
    hg_close_function(out);
}

static void emit_log_density(struct hg_density_form *x, struct hg_tree *out)
{
    hg_id root[2] = {x->rest, x->constant};
    head(x, out, "log_density", "const struct fit_tile *t, double *out");
    hg_open(out, "%s", loop);
    hg_factor(x->em->e, 2, root);
    struct hg_code c = begin(x, out, 2, root);
    if (hg_is_value(x->em->e, root[1], 0.0))
        hg_do(c.out, "fit_vstore(out + (row - t->i0), %s);", hg_code_vector(&c, root[0]));
    else
        hg_do(c.out, "fit_vstore(out + (row - t->i0), %s + %s);", hg_code_vector(&c, root[0]),
              hg_code_factor(&c, root[1]));
    hg_rows_end(&c);
    hg_close(out);
    hg_close_function(out);
}

static void emit_arguments(struct hg_density_form *x, struct hg_tree *out)
{
    uint32_t n = x->em->p->model->density->narg;
    head(x, out, "law_arguments", "const struct fit_tile *t, double *out");
    hg_offer(out, "const size_t", "n = fit_padded(t->i1) - t->i0;");
    hg_open(out, "%s", loop);
    struct hg_code c = begin(x, out, n, x->argument);
    for (uint32_t k = 0; k < n; k++)
        hg_do(c.out, "fit_vstore(out + %u*n + (row - t->i0), %s); /* %s */", k, hg_code_vector(&c, x->argument[k]),
              x->em->p->model->density->arg_name[k]);
    hg_rows_end(&c);
    hg_close(out);
    hg_close_function(out);
}

void hg_emit_density(struct hg_emit *em, struct hg_tree *out)
{
    struct hg_density_form *x = em->density = hg_alloc(em->e->arena, sizeof *x);
    *x = (struct hg_density_form){.em = em};
    derive(x);
    emit_moments(x, out);
    emit_normal(x, out);
    emit_gradient(x, out);
    emit_constant(x, out);
    emit_log_density(x, out);
    emit_arguments(x, out);
    hg_rows_model(em, out);
}
