/* bench.c -- `bench`: the speed of the kernels on synthetic data.
 *
 *   value     sums for the linear parameters (kernel->moments), with the tables
 *   normal    J^T J and J^T r (kernel->normal), with the tables
 *   jacobian  explicit derivatives by the direct formula (kernel->points), a block at a time
 *   gradient  adjoint sums (kernel->gradient), with the tables
 * Each is the best of --repeat runs (9) on all pairs of --frames frames (1000) and --angles angles (23), tiled as for a
 * fit; for table models --frames is the number of rows. Times do not depend on the values of the data.
 */
#include "base/arena.h"
#include "base/clock.h"
#include "data/dataset.h"
#include "base/json.h"
#include "data/tile_sums.h"
#include "commands/program.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bench {
    const struct fit_kernel *k;
    struct fit_dataset *ds;
    struct fit_parallel *par;
    double *theta, *lin, *adj, *ws, *out, *setting;
    size_t nmoments, nnormal, pairs;
    struct fit_arena storage;
};

static double default_setting(const struct fit_setting *s)
{
    if (!isnan(s->value))
        return s->value;
    const double usual = strcmp(s->name, "q") == 0 ? 0.0054 : strcmp(s->name, "gap") == 0 ? 2e6 : 0.1;
    const double v = fit_units_to_model(s->name, s->unit, usual);
    return isnan(v) ? 1 : v;
}

static enum fit_status data_pairs(struct bench *b, size_t n, size_t ngroup, struct fit_error *err)
{
    const struct fit_kernel *k = b->k;
    FIT_SCRATCH(scratch);
    double *time = fit_take(&scratch, n, sizeof *time), *phi = fit_take(&scratch, ngroup, sizeof *phi);
    double *matrix = fit_take(&scratch, n * n, sizeof *matrix);
    const double **coord = fit_take(&scratch, k->naxis, sizeof *coord);
    if (scratch.failed)
        return fit_no_memory(err, "bench");
    for (size_t i = 0; i < n; i++)
        time[i] = 0.1 * (double)i;
    for (size_t g = 0; g < ngroup; g++)
        phi[g] = 180.0 * (double)g / (double)ngroup;
    for (size_t a = 0; a < k->naxis; a++)
        coord[a] = phi;
    for (size_t i = 0; i < n * n; i++)
        matrix[i] = 1.1 + 1e-3 * (double)(i % 97);
    struct fit_dataset_pairs spec = {.ntime = n,
                                     .time = time,
                                     .step = 0.1,
                                     .ngroup = ngroup,
                                     .naxis = k->naxis,
                                     .nsetting = k->nsetting,
                                     .coord = coord,
                                     .setting = b->setting,
                                     .center = k->intercept >= 0,
                                     .table_doubles = k->table_doubles};
    enum fit_status st = fit_dataset_new_pairs(&spec, &b->ds, err);
    for (size_t g = 0; g < ngroup && st == FIT_OK; g++)
        st = fit_dataset_put(b->ds, g, matrix, NULL, err);
    return st;
}

static enum fit_status data_rows(struct bench *b, size_t n, struct fit_error *err)
{
    const struct fit_kernel *k = b->k;
    FIT_SCRATCH(scratch);
    double *x, *y, *one;
    FIT_TAKE_DOUBLES(&scratch, n, &x, &y, &one);
    const double **column = fit_take(&scratch, k->ncolumn + k->naxis, sizeof *column);
    if (scratch.failed)
        return fit_no_memory(err, "bench");
    const double **axis = column + k->ncolumn;
    for (size_t i = 0; i < n; i++) {
        x[i] = 0.1 + 10.0 * (double)i / (double)n;
        y[i] = 1 + 1e-3 * (double)(i % 97);
    }
    for (size_t c = 0; c < k->ncolumn; c++)
        column[c] = x;
    for (size_t i = 0; i < n; i++)
        one[i] = 1;
    for (size_t a = 0; a < k->naxis; a++)
        axis[a] = one;
    const struct fit_dataset_table table = {.nrow = n,
                                            .ncolumn = k->ncolumn,
                                            .naxis = k->naxis,
                                            .nsetting = k->nsetting,
                                            .column = column,
                                            .axis = axis,
                                            .value = y,
                                            .setting = b->setting,
                                            .center = k->intercept >= 0};
    return fit_dataset_new_table(&table, &b->ds, err);
}

/* Memory for sums and for a pass. */
static enum fit_status set_up_passes(struct bench *b, size_t n, size_t ngroup, int threads, struct fit_error *err)
{
    const struct fit_kernel *k = b->k;
    const int rows = k->space == FIT_ROWS;
    size_t np = k->nparam, nl = k->nlinear;
    b->pairs = rows ? n : n * (n - 1) / 2 * ngroup;
    b->nmoments = ngroup * (nl * (nl + 1) / 2 + nl + 1);
    b->nnormal = np * (np + 1) / 2 + np + ngroup * nl * np;
    size_t nout = b->nmoments > b->nnormal ? b->nmoments : b->nnormal;
    size_t nadj = 1 + nl * (nl + 1) / 2;
    FIT_TAKE_DOUBLES(&b->storage, nout, &b->out);
    FIT_TAKE_DOUBLES(&b->storage, k->workspace(&b->ds->layout), &b->ws);
    FIT_TAKE_DOUBLES(&b->storage, ngroup * nadj, &b->adj);
    if (b->storage.failed)
        return fit_no_memory(err, "bench");
    for (size_t g = 0; g < ngroup * nadj; g++)
        b->adj[g] = g % nadj ? 0.01 : 1;
    struct fit_parallel_need need = {
        .nout = nout, .nextra = k->scratch ? k->scratch(&b->ds->layout) : 0, .threads = threads};
    return fit_parallel_new(b->ds, &need, &b->par, err);
}

static enum fit_status set_up(struct bench *b, const struct fit_cli *cli, struct fit_error *err)
{
    const struct fit_kernel *k = b->k;
    int rows = k->space == FIT_ROWS;
    size_t n = cli->frames ? (size_t)cli->frames
               : rows      ? 100000
                           : 1000,
           ngroup = rows ? 1 : (size_t)cli->angles;
    if (n < 2 || ngroup < 1 || (!rows && n > 30000))
        return fit_fail(err, FIT_ERR_USAGE, "bench: --frames %zu --angles %zu; 2 to 30000 frames, one angle or more", n,
                        ngroup);
    FIT_TAKE_DOUBLES(&b->storage, k->nsetting, &b->setting);
    FIT_TAKE_DOUBLES(&b->storage, k->nparam, &b->theta);
    FIT_TAKE_DOUBLES(&b->storage, ngroup * k->nlinear, &b->lin);
    if (b->storage.failed)
        return fit_no_memory(err, "bench");
    for (size_t s = 0; s < k->nsetting; s++)
        b->setting[s] = default_setting(&k->setting[s]);
    for (size_t p = 0; p < k->nparam; p++)
        b->theta[p] = k->param[p].start;
    for (size_t c = 0; c < ngroup * k->nlinear; c++)
        b->lin[c] = k->linear[c % k->nlinear].start;
    enum fit_status st = rows ? data_rows(b, n, err) : data_pairs(b, n, ngroup, err);
    if (st == FIT_OK)
        st = fit_dataset_finish(b->ds, err);
    return st == FIT_OK ? set_up_passes(b, n, ngroup, (int)cli->threads, err) : st;
}

static void tile_moments(void *user, const struct fit_tile *t, double *scratch, size_t stride,
                         double *out)
{
    const struct bench *b = user;
    (void)stride;
    b->k->moments(&b->ds->layout, b->ws, t, scratch, out);
}

static void tile_normal(void *user, const struct fit_tile *t, double *scratch, size_t stride,
                        double *out)
{
    const struct bench *b = user;
    (void)stride;
    b->k->normal(&b->ds->layout, b->ws, b->lin, t, scratch, out);
}

static void tile_gradient(void *user, const struct fit_tile *t, double *scratch, size_t stride,
                          double *out)
{
    const struct bench *b = user;
    (void)stride;
    b->k->gradient(&b->ds->layout, b->ws, b->lin, b->adj, t, scratch, out);
}

/* All points of row k (pairs: of all groups; rows: a block of 1000) by the direct formula. */
static void row_points(void *user, size_t row)
{
    const struct bench *b = user;
    const struct fit_kernel *k = b->k;
    const struct fit_layout *l = &b->ds->layout;
    size_t full = k->nparam + k->nlinear, m = 1000;
    size_t n = k->space == FIT_ROWS ? (row + 1) * m <= l->nrow ? m : l->nrow - row * m
                                    : l->nframe - row - 1;
    FIT_OWNED uint32_t *index = malloc(3 * (n + 1) * sizeof *index);
    FIT_OWNED double *mean = malloc((n + 1) * (full + 1) * sizeof *mean);
    for (size_t g = 0; g < l->ngroup && index && mean; g++) {
        for (size_t c = 0; c < n; c++) {
            index[c] = (uint32_t)(k->space == FIT_ROWS ? row * m + c : row);
            index[n + c] = (uint32_t)(row + 1 + c);
            index[2 * n + c] = (uint32_t)g;
        }
        k->points(l, b->ws, b->lin, &(struct fit_points){n, index, index + n, index + 2 * n}, mean, mean + n);
    }
}

/* Best time in ms of `repeat` passes; derivative: also the tables of derivatives. */
static double time_sum(struct bench *b, const struct fit_parallel_task *task, int derivative,
                       uint64_t repeat)
{
    double best = INFINITY;
    for (uint64_t r = 0; r < repeat; r++) {
        double begin = fit_seconds();
        b->k->prepare(&b->ds->layout, b->theta, derivative, b->ws);
        fit_parallel_sum(b->par, task, b->out);
        best = fmin(best, fit_seconds() - begin);
    }
    return 1e3 * best;
}

static double time_points(struct bench *b, uint64_t repeat)
{
    const struct fit_layout *l = &b->ds->layout;
    size_t n = b->k->space == FIT_ROWS ? (l->nrow + 999) / 1000 : l->nframe - 1;
    double best = INFINITY;
    for (uint64_t r = 0; r < repeat; r++) {
        double begin = fit_seconds();
        b->k->prepare(l, b->theta, 1, b->ws);
        fit_parallel_each(b->par, n, row_points, b);
        best = fmin(best, fit_seconds() - begin);
    }
    return 1e3 * best;
}

struct times {
    double value, normal, gradient, jacobian;
};

static enum fit_status print_json(const struct fit_program *p, const struct bench *b,
                                  struct times t, struct fit_error *err)
{
    struct fit_json j = {.compact = 1};
    fit_json_begin(&j, NULL, '{');
    fit_json_string(&j, "model", b->k->name);
    fit_json_string(&j, "variant", b->k->variant);
    fit_json_string(&j, "isa", b->k->isa);
    fit_json_integer(&j, "threads", fit_parallel_threads(b->par));
    fit_json_integer(&j, "pairs", (int64_t)b->pairs);
    fit_json_number(&j, "value_ms", t.value);
    fit_json_number(&j, "normal_ms", t.normal);
    fit_json_number(&j, "gradient_ms", t.gradient);
    fit_json_number(&j, "jacobian_ms", t.jacobian);
    fit_json_end(&j);
    const char *text = fit_json_text(&j);
    if (text)
        fprintf(p->out, "%s\n", text);
    fit_json_free(&j);
    return text ? FIT_OK : fit_no_memory(err, "bench");
}

static void print_text(const struct fit_program *p, const struct bench *b, struct times t)
{
    const double ms[] = {t.value, t.normal, t.gradient, t.jacobian};
    static const char *const name[] = {"value", "normal", "gradient", "jacobian"};
    fprintf(p->out, "%s %s %s, %d thread%s, %zu points\n", b->k->name, b->k->variant, b->k->isa,
            fit_parallel_threads(b->par), fit_parallel_threads(b->par) == 1 ? "" : "s", b->pairs);
    for (size_t k = 0; k < sizeof ms / sizeof *ms; k++)
        fprintf(p->out, "  %-9s %10.3f ms %8.3f ns per point\n", name[k], ms[k],
                1e6 * ms[k] / (double)b->pairs);
}

enum fit_status fit_cmd_bench(struct fit_program *p, const struct fit_cli *cli,
                              struct fit_error *err)
{
    struct bench b = {0};
    enum fit_status st = fit_program_kernel(p, cli, &b.k, err);
    if (st == FIT_OK)
        st = set_up(&b, cli, err);
    if (st != FIT_OK)
        goto done;
    if (b.k->prepare(&b.ds->layout, b.theta, 1, b.ws) != FIT_EVAL_OK) {
        st = fit_fail(err, FIT_ERR_NUMERIC, "bench: the model %s has no finite value at its start",
                      b.k->name);
        goto done;
    }
    uint64_t repeat = cli->repeat ? cli->repeat : 1;
    struct times t;
    t.value = time_sum(&b, &(struct fit_parallel_task){tile_moments, &b, b.nmoments, b.k->raw}, 0, repeat);
    t.normal = time_sum(&b, &(struct fit_parallel_task){tile_normal, &b, b.nnormal, b.k->raw}, 1, repeat);
    struct fit_parallel_task gradient = {tile_gradient, &b, b.k->nparam, b.k->raw};
    t.gradient = b.k->gradient ? time_sum(&b, &gradient, 1, repeat) : NAN;
    t.jacobian = time_points(&b, repeat < 3 ? repeat : 3);
    if (cli->json)
        st = print_json(p, &b, t, err);
    else
        print_text(p, &b, t);
done:
    fit_parallel_free(b.par);
    fit_dataset_free(b.ds);
    fit_arena_free(&b.storage);
    return st;
}
