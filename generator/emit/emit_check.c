/* emit_check.c -- reference values from the interpreter: see emit_check.h.
 *
 * Values are computed in extended precision. Derivatives are dual numbers, which share no rule with the derivatives
 * in the emitted code. */
#include "emit/emit_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graph/eval.h"
#include "graph/functions.h"
#include "graph/march.h"

enum { GROUPS = 3, FRAMES = 18, ROWS = 43, SETS = 4, MANY_DERIVATIVES = 64 };

struct check {
    struct hg_model *m;
    FILE *out;
    uint32_t K, Q;
    hg_id *root;     /* mean (or log density), then its K + Q derivatives */
    int twice;       /* second derivatives are asked for */
    int flows;       /* of differential equations */
    uint32_t stride; /* at every so many points */
    hg_id *leaf;     /* K + Q */
    hg_id *second;   /* packed second derivatives; NULL when not requested */
    struct hg_eval *symbolic, *dual, *symbolic2;
    double *setting, *coord, *column, *time, *theta, *lin; /* coord: naxis x GROUPS */
    uint32_t frame[FRAMES], nframe;
    uint32_t ngroup, nrow, npoint;
    double step;
    const double **history;  /* nrow: columns of each row, for models with states */
    hg_real *value; /* npoint x (1 + K + Q) */
    double *error;
    size_t nsecond;             /* numbers of a point: W (W + 1) / 2, W = K + Q */
    hg_real *value2;        /* npoint x nsecond */
    double *error2, *direction; /* the same; K + ngroup x Q */
};

/* Number of parameter sets, including the starts; two for differential equations and for models of many derivatives,
 * which take time. */
static uint32_t sets_of(const struct hg_model *m)
{
    const int slow = (m->expr->march && m->expr->march->flow) || m->param.n + m->linear.n > MANY_DERIVATIVES;
    const uint32_t most = slow ? 2 : SETS;
    return 1 + (m->nscreen < most - 1 ? m->nscreen : most - 1);
}

static double *numbers(struct check *c, size_t n)
{
    return hg_alloc(c->m->expr->arena, (n + 1) * sizeof(double));
}

/* Frames 4 and 11 are left out, like masked frames. */
static void draw_grid(struct check *c)
{
    const struct hg_model *m = c->m;
    c->ngroup = m->axis.n && !m->expr->march ? GROUPS : 1; /* states go along the rows of one group */
    c->step = m->ntest && m->test[0].step > 0 ? m->test[0].step : 0.1;
    c->time = numbers(c, FRAMES);
    for (uint32_t k = 0; m->space == FIT_PAIRS && k < FRAMES; k++) {
        c->time[k] = c->step * k;
        if (k != 4 && k != 11)
            c->frame[c->nframe++] = k;
    }
    c->coord = numbers(c, (size_t)m->axis.n * GROUPS);
    for (uint32_t a = 0; a < m->axis.n; a++)
        for (uint32_t g = 0; g < c->ngroup; g++)
            c->coord[a * c->ngroup + g] = hg_model_coordinate(m, a, g, GROUPS);
}

/* Covariates of a table: geometric around the value of a test, so that fast and slow processes are covered; without
 * a test spread over the declared range, or around 1. */
static void draw_rows(struct check *c)
{
    const struct hg_model *m = c->m;
    c->nrow = m->space == FIT_PAIRS ? 0 : ROWS;
    c->column = numbers(c, (size_t)m->column.n * ROWS);
    for (uint32_t k = 0; k < m->column.n; k++) {
        const struct hg_symbol_decl *s = &m->column.item[k];
        int told;
        double x = hg_model_typical(m, &m->column, k, offsetof(struct hg_test, column), &told);
        for (uint32_t r = 0; r < c->nrow; r++)
            c->column[k * c->nrow + r] = !told && s->lower < s->upper
                                             ? hg_model_between(s, (double)r / (ROWS - 1))
                                             : x * hg_value(HG_EXP, 0.15 * ((double)r - 21));
    }
}

/* Replaces measured values that the noise distribution does not allow. */
static void allow_values(struct check *c)
{
    const struct hg_model *m = c->m;
    const struct hg_density *x = m->density;
    double *y = x ? c->column + hg_at(m->expr, x->value)->ref * c->nrow : NULL, least = 0.3, trials;
    if (!x || x->support == FIT_SUPPORT_REAL)
        return;
    for (uint32_t r = 0; r < c->nrow; r++) {
        const struct hg_node *n = x->support == FIT_SUPPORT_TRIALS ? hg_at(m->expr, x->arg[0]) : NULL;
        if (n && n->op == HG_COLUMN)
            y[r] = c->column[n->ref * c->nrow + r] * (r % 5) / 4;
        else if (n && hg_is_const(m->expr, x->arg[0], &trials))
            y[r] = trials * (r % 5) / 4;
        else if (!(y[r] > 0))
            y[r] = least *= 1.3;
    }
}

/* The rows in the order in which states meet them. */
static void keep_history(struct check *c)
{
    const uint32_t n = c->m->column.n;
    c->history = hg_alloc(c->m->expr->arena, (c->nrow + 1) * sizeof *c->history);
    for (uint32_t r = 0; r < c->nrow; r++) {
        double *row = numbers(c, n);
        for (uint32_t k = 0; k < n; k++)
            row[k] = c->column[k * c->nrow + r];
        c->history[r] = row;
    }
}

static void prepare(struct check *c, const struct hg_variant *v)
{
    struct hg_model *m = c->m;
    c->K = m->param.n;
    c->Q = m->linear.n;
    c->setting = numbers(c, m->setting.n);
    for (uint32_t k = 0; k < m->setting.n; k++)
        c->setting[k] = hg_model_typical(m, &m->setting, k, offsetof(struct hg_test, setting), NULL);
    draw_grid(c);
    draw_rows(c);
    allow_values(c);
    keep_history(c);
    c->npoint = m->space == FIT_PAIRS ? c->nframe * (c->nframe - 1) / 2 * c->ngroup : c->nrow * c->ngroup;
    c->theta = numbers(c, c->K);
    c->lin = numbers(c, c->Q);
    c->root = hg_alloc(m->expr->arena, (c->K + c->Q + 1) * sizeof *c->root);
    c->leaf = hg_alloc(m->expr->arena, (c->K + c->Q + 1) * sizeof *c->leaf);
    c->root[0] = v->mean;
    for (uint32_t k = 0; k < c->K + c->Q; k++) {
        c->leaf[k] = k < c->K ? hg_symbol(m->expr, HG_PARAM, k) : hg_symbol(m->expr, HG_LINEAR, k - c->K);
        c->root[k + 1] = hg_diff(m->expr, v->mean, c->leaf[k]);
    }
    c->symbolic = hg_eval_new(m->expr, c->K + c->Q + 1, c->root);
    c->dual = hg_eval_new(m->expr, 1, c->root);
    c->value = hg_zeros((size_t)c->npoint * (1 + c->K + c->Q), sizeof *c->value);
    c->error = hg_zeros((size_t)c->npoint * (1 + c->K + c->Q), sizeof *c->error);
}

/* Second derivatives: values are dual numbers of the symbolic first ones. */
static void prepare_second(struct check *c)
{
    uint32_t W = c->K + c->Q, n = 0;
    if (!c->twice)
        return;
    c->nsecond = (size_t)W * (W + 1) / 2;
    c->second = hg_alloc(c->m->expr->arena, (c->nsecond + 1) * sizeof *c->second);
    for (uint32_t a = 0; a < W; a++)
        for (uint32_t b = a; b < W; b++)
            c->second[n++] = hg_diff(c->m->expr, c->root[a + 1], c->leaf[b]);
    c->symbolic2 = hg_eval_new(c->m->expr, n, c->second);
    c->value2 = hg_zeros(c->npoint * c->nsecond + 1, sizeof *c->value2);
    c->error2 = hg_zeros(c->npoint * c->nsecond + 1, sizeof *c->error2);
    c->direction = numbers(c, c->K + (size_t)c->ngroup * c->Q);
}

/* --- values ---------------------------------------------------------------------------------- */

static void point_at(const struct check *c, uint32_t i, uint32_t j, uint32_t g, double *coord, double *column,
                     struct hg_point *p)
{
    *p = (struct hg_point){.param = c->theta,
                           .linear = c->lin,
                           .setting = c->setting,
                           .coord = coord,
                           .column = column,
                           .time = c->time,
                           .step = c->step,
                           .ntime = c->m->space == FIT_PAIRS ? FRAMES : 0};
    for (uint32_t a = 0; a < c->m->axis.n; a++)
        coord[a] = c->coord[a * c->ngroup + g];
    for (uint32_t k = 0; k < c->m->column.n; k++)
        column[k] = c->column[k * c->nrow + i];
    if (c->m->expr->march) {
        p->history = c->history;
        p->nhistory = i;
        p->sharp = 1;
    }
    if (c->m->space == FIT_PAIRS) {
        p->i = c->frame[i];
        p->j = c->frame[j];
    }
}

/* Stores the results of a sweep with seed k (0: none) at a point. */
static void take(struct check *c, struct hg_eval *ev, uint32_t point, uint32_t k)
{
    size_t W = 1 + c->K + c->Q, at = point * W;
    if (k) {
        c->value[at + k] = hg_eval_get(ev, c->root[0], 0).d;
        return;
    }
    for (size_t n = 0; n < W; n++) {
        struct hg_num x = hg_eval_get(ev, c->root[n], 0);
        c->value[at + n] = x.v;
        c->error[at + n] = (double)((x.e + real_abs(x.v)) * 0x1p-53L);
    }
}

static void take_second(struct check *c, struct hg_eval *ev, uint32_t point, uint32_t k)
{
    uint32_t W = c->K + c->Q;
    hg_real *value = c->value2 + point * c->nsecond;
    double *error = c->error2 + point * c->nsecond;
    for (size_t n = 0; n < c->nsecond && ev == c->symbolic2; n++) {
        struct hg_num x = hg_eval_get(ev, c->second[n], 0);
        error[n] = (double)((x.e + real_abs(x.v)) * 0x1p-53L);
    }
    for (uint32_t a = 0; a < k && ev == c->symbolic; a++) /* a <= b = k - 1 */
        value[a * W - a * (a + 1) / 2 + k - 1] = hg_eval_get(ev, c->root[a + 1], 0).d;
}

/* Everything once per group, then only the nodes that vary with the pair. */
static void sweep(struct check *c, struct hg_eval *ev, uint32_t k)
{
    double *coord = numbers(c, c->m->axis.n), *column = numbers(c, c->m->column.n);
    uint32_t point = 0, n = c->m->space == FIT_PAIRS ? c->nframe : c->nrow;
    struct hg_point p;
    for (uint32_t g = 0; g < c->ngroup; g++)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = i + 1; j < (c->m->space == FIT_PAIRS ? n : i + 2); j++, point++) {
                point_at(c, i, j, g, coord, column, &p);
                p.seed = k ? c->leaf[k - 1] : 0;
                if (c->m->space != FIT_PAIRS || (i == 0 && j == 1))
                    hg_eval_run(ev, &p);
                else
                    hg_eval_pair(ev, &p);
                if (ev == c->symbolic2 || (ev == c->symbolic && k))
                    take_second(c, ev, point, k);
                else
                    take(c, ev, point, k);
            }
}

/* Derivatives at the rows, seed by seed. */
static void sweep_rows(struct check *c)
{
    double *coord = numbers(c, c->m->axis.n), *column = numbers(c, c->m->column.n);
    struct hg_point p;
    for (uint32_t point = 0; point < c->nrow * c->ngroup; point++) {
        point_at(c, point % c->nrow, 0, point / c->nrow, coord, column, &p);
        for (uint32_t k = 1; k <= c->K + c->Q; k++) {
            p.seed = c->leaf[k - 1];
            k > 1 ? hg_eval_seed(c->dual, &p) : hg_eval_run(c->dual, &p);
            take(c, c->dual, point, k);
        }
    }
}

/* --- text ------------------------------------------------------------------------------------ */

static void list(FILE *out, const char *name, size_t n, const double *x)
{
    fprintf(out, "%s", name);
    for (size_t k = 0; k < n; k++)
        fprintf(out, " %a", x[k]);
    fputc('\n', out);
}

/* A value with its error. For a differential equation the error is that of its tolerance, and digits far below it
 * are omitted: they would be those of the interpreter, which for such models has the precision of the machine. */
static double shown(const struct check *c, hg_real value, double error)
{
    const double v = (double)value;
    if (!c->flows || !isfinite(v) || !(error > 0x1p-1000))
        return v;
    const double unit = ldexp(1, ilogb(error) - 7);
    return fabs(v) < 0x1p52 * unit ? unit * rint(v / unit) : v;
}

static void write_number(const struct check *c, hg_real value, double error)
{
    const double v = shown(c, value, error); /* what is no number has no sign */
    fprintf(c->out, c->flows ? " %a %.2g" : " %a %.3g", isnan(v) ? fabs(v) : v, isnan(error) ? fabs(error) : error);
}

static void write_head(const struct check *c, const struct hg_variant *v)
{
    const struct hg_model *m = c->m;
    fprintf(c->out, "homodyne-selfcheck 1\nmodel %s variant %s hash %s\n", m->name, v->name, m->hash);
    fprintf(c->out, "sizes %u %u %u %u %u %u %u %u %u %u %u\n", c->K, c->Q, m->setting.n, m->axis.n, m->column.n,
            c->ngroup, m->space == FIT_PAIRS ? (uint32_t)FRAMES : 0, c->nframe, c->nrow, c->npoint,
            1 + (sets_of(m) - 1));
    list(c->out, "setting", m->setting.n, c->setting);
    list(c->out, "coord", (size_t)m->axis.n * c->ngroup, c->coord);
    list(c->out, "step", 1, &c->step);
    list(c->out, "time", m->space == FIT_PAIRS ? FRAMES : 0, c->time);
    fprintf(c->out, "frame");
    for (uint32_t k = 0; k < c->nframe; k++)
        fprintf(c->out, " %u", c->frame[k]);
    fputc('\n', c->out);
    list(c->out, "column", (size_t)m->column.n * c->nrow, c->column);
}

static void write_set(const struct check *c)
{
    size_t W = 1 + c->K + c->Q, point = 0;
    uint32_t n = c->m->space == FIT_PAIRS ? c->nframe : c->nrow;
    list(c->out, "theta", c->K, c->theta);
    fprintf(c->out, "lin");
    for (uint32_t g = 0; g < c->ngroup; g++)
        list(c->out, "", c->Q, c->lin);
    for (uint32_t g = 0; g < c->ngroup; g++)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = i + 1; j < (c->m->space == FIT_PAIRS ? n : i + 2); j++, point++) {
                fprintf(c->out, "%u %u %u", i, j, g);
                for (size_t k = 0; k < W; k++)
                    write_number(c, c->value[point * W + k], c->error[point * W + k]);
                fputc('\n', c->out);
            }
}

/* A direction that changes every parameter by about a tenth, and the points of every group. */
static void write_second(const struct check *c)
{
    uint32_t W = c->K + c->Q, n = c->second ? (c->npoint + c->stride - 1) / c->stride : 0;
    fprintf(c->out, "hessian %u\n", n);
    if (!n)
        return;
    for (uint32_t k = 0; k < c->K; k++)
        c->direction[k] = (k % 2 ? -0.1 : 0.13) * (c->theta[k] != 0 ? c->theta[k] : 1);
    for (uint32_t k = 0; k < c->ngroup * c->Q; k++)
        c->direction[c->K + k] = 0.07 * (1 + k % 5);
    list(c->out, "direction", c->K + (size_t)c->ngroup * c->Q, c->direction);
    for (uint32_t p = 0; p < c->npoint; p += c->stride) {
        const double *lin = c->direction + c->K + p / (c->npoint / c->ngroup) * c->Q;
        const hg_real *value = c->value2 + p * c->nsecond;
        const double *error = c->error2 + p * c->nsecond;
        hg_real along = 0, bound = 0;
        for (uint32_t a = 0, at = 0; a < W; a++)
            for (uint32_t b = a; b < W; b++, at++) {
                hg_real vv = (a == b ? 1 : 2) * (hg_real)(a < c->K ? c->direction[a] : lin[a - c->K]);
                vv *= b < c->K ? c->direction[b] : lin[b - c->K];
                along += vv * value[at];
                bound += real_abs(vv) * error[at];
            }
        fprintf(c->out, "%u", p);
        write_number(c, along, (double)bound);
        for (size_t k = 0; k < c->nsecond; k++)
            write_number(c, value[k], error[k]);
        fputc('\n', c->out);
    }
}

/* Values of all sets, of the mean or of the log density. */
static void write_all(struct hg_model *m, const struct hg_variant *v, int hessian, int law, FILE *out)
{
    struct check c = {.m = m, .out = out, .twice = law || hessian, .stride = law ? 1 : 7};
    c.flows = m->expr->march && m->expr->march->flow;
    prepare(&c, v);
    prepare_second(&c);
    if (law)
        fprintf(out, "density\n");
    else
        write_head(&c, v);
    for (uint32_t k = 0; k < c.Q; k++)
        c.lin[k] = isfinite(m->linear.item[k].start) ? m->linear.item[k].start : 1.0;
    for (uint32_t s = 0; s < sets_of(m); s++) {
        for (uint32_t k = 0; k < c.K; k++)
            c.theta[k] = s ? m->screen[(size_t)(s - 1) * c.K + k] : m->param.item[k].start;
        sweep(&c, c.symbolic, 0);
        if (m->space == FIT_PAIRS || c.flows) /* a solution goes on from row to row as long as its seed stays */
            for (uint32_t k = 1; k <= c.K + c.Q; k++)
                sweep(&c, c.dual, k);
        else
            sweep_rows(&c);
        for (uint32_t k = 0; k <= c.K + c.Q && c.second; k++)
            sweep(&c, k ? c.symbolic : c.symbolic2, k);
        write_set(&c);
        write_second(&c);
    }
    hg_eval_free(c.symbolic);
    hg_eval_free(c.dual);
    hg_eval_free(c.symbolic2);
    free(c.value2);
    free(c.error2);
    free(c.value);
    free(c.error);
}

void hg_emit_check(struct hg_model *m, const struct hg_variant *v, int hessian, FILE *out)
{
    write_all(m, v, hessian, 0, out);
    if (!m->density)
        return;
    struct hg_variant law = *v;
    law.mean = m->density->node;
    write_all(m, &law, hessian, 1, out);
}
