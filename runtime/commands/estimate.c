/* estimate.c -- `estimate`: the memory and time of a fit, before it starts.
 *
 * Memory follows from the shape of the data (memory.h). Time: the model's sums are timed on a small synthetic data set
 * with as many groups, reading on the first rows of the first matrix; a pass costs only the former or, when values stay
 * in the file, the larger of the two. The number of passes is not known beforehand: PASSES is what fits of good data
 * need, starts included.
 */
#include "base/clock.h"
#include "commands/configuration.h"
#include "device/predict.h"
#include "device/report.h"
#include "base/json.h"
#include "data/pass_cost.h"
#include "data/tile_sums.h"
#include "commands/program.h"
#include "setup/memory_plan.h"
#include "input/source_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PASSES = 25, FRAMES = 256, GROUPS = 100, REPEAT = 3, MOST_RANKS = 1000000 };
#define READ_BYTES ((size_t)32 << 20)

struct estimate {
    const struct fit_kernel *k;
    struct fit_memory_plan plan;
    double ns_per_point; /* of a pass with derivatives, all threads */
    double bytes_per_second, bytes; /* of reading; of a pass. NaN: unknown */
    double pass, fit;    /* s */
    struct fit_device_info device; /* the requested one; its word is "": none */
    double device_pass, device_fit; /* s, by predict.h */
    size_t nout;         /* numbers of a sum */
    struct fit_pass_shares shares; /* --ranks */
    double rank_pass, rank_fit, efficiency;
};

struct sums {
    const struct fit_kernel *k;
    const struct fit_layout *l;
    double *ws, *lin, *out;
    size_t nmoments;
    struct fit_arena storage;
};

static void sum_tile(void *user, const struct fit_tile *t, double *scratch, size_t stride,
                     double *out)
{
    const struct sums *s = user;
    (void)stride;
    s->k->moments(s->l, s->ws, t, scratch, out);
    s->k->normal(s->l, s->ws, s->lin, t, scratch, out + s->nmoments);
}

/* ---- speed of the model ---------------------------------------------------------------------- */

static enum fit_status put_all(struct fit_dataset *ds, const double *matrix, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    for (size_t g = 0; g < ds->layout.ngroup && st == FIT_OK; g++)
        st = fit_dataset_put(ds, g, matrix, NULL, err);
    return st == FIT_OK ? fit_dataset_finish(ds, err) : st;
}

static enum fit_status put_toy(struct fit_dataset *ds, size_t n, struct fit_error *err)
{
    FIT_OWNED double *m = malloc(n * n * sizeof *m);
    if (!m)
        return fit_no_memory(err, "estimate");
    for (size_t i = 0; i < n * n; i++)
        m[i] = 1 + 0.01 * (double)(i % 17);
    return put_all(ds, m, err);
}

/* shape: without values. */
static enum fit_status toy_data(const struct fit_kernel *k, const double *setting, size_t n, size_t ngroup, int shape,
                                struct fit_dataset **ds, struct fit_error *err)
{
    FIT_SCRATCH(scratch);
    double *time = fit_take(&scratch, n, sizeof *time);
    double *axis, *small; /* degrees, and 1/angstrom */
    FIT_TAKE_DOUBLES(&scratch, ngroup, &axis, &small);
    const double **coord = fit_take(&scratch, k->naxis, sizeof *coord);
    if (scratch.failed)
        return fit_no_memory(err, "estimate");
    for (size_t i = 0; i < n; i++)
        time[i] = (double)(i + 1) * 0.1;
    for (size_t g = 0; g < ngroup; g++)
        small[g] = 1e-3 * (axis[g] = 1 + (double)g);
    for (size_t a = 0; a < k->naxis; a++)
        coord[a] = strcmp(k->axis[a].name, "q") == 0 ? small : axis;
    const struct fit_dataset_pairs spec = {.ntime = n,
                                           .time = time,
                                           .step = 0.1,
                                           .ngroup = ngroup,
                                           .naxis = k->naxis,
                                           .nsetting = k->nsetting,
                                           .coord = coord,
                                           .setting = setting,
                                           .center = k->intercept >= 0,
                                           .table_doubles = k->table_doubles,
                                           .streamed = shape};
    enum fit_status st = fit_dataset_new_pairs(&spec, ds, err);
    return st == FIT_OK && !shape ? put_toy(*ds, n, err) : st;
}

static enum fit_status time_sums(struct sums *s, const struct fit_dataset *ds, int threads,
                                 double *ns, struct fit_error *err)
{
    size_t np = s->k->nparam, nl = s->k->nlinear, ngroup = ds->layout.ngroup;
    s->nmoments = ngroup * (nl * (nl + 1) / 2 + nl + 1);
    size_t nout = s->nmoments + np * (np + 1) / 2 + np + ngroup * nl * np;
    struct fit_parallel *par = NULL;
    struct fit_parallel_need need = {.nout = nout,
                                     .nextra = s->k->scratch ? s->k->scratch(s->l) : 0,
                                     .threads = threads};
    s->out = fit_take(&s->storage, nout, sizeof *s->out);
    enum fit_status st = s->out ? fit_parallel_new(ds, &need, &par, err)
                                : fit_no_memory(err, "estimate");
    *ns = INFINITY;
    for (int k = 0; k < REPEAT && st == FIT_OK; k++) {
        double begin = fit_seconds();
        fit_parallel_sum(par, &(struct fit_parallel_task){sum_tile, s, nout, s->k->raw}, s->out);
        *ns = fmin(*ns, 1e9 * (fit_seconds() - begin) / (double)ds->npoint);
    }
    fit_parallel_free(par);
    return st;
}

/* Settings of the configuration, else of the model; the model's starts. */
static void start_values(const struct fit_kernel *k, const struct fit_config *cfg, size_t ngroup, double *setting,
                         double *theta, double *lin)
{
    for (size_t i = 0; i < k->nsetting; i++) {
        double v = cfg->setting[i].value;
        setting[i] = isnan(v) ? isnan(k->setting[i].value) ? 0.01 : k->setting[i].value : v;
    }
    for (size_t p = 0; p < k->nparam; p++)
        theta[p] = k->param[p].start;
    for (size_t c = 0; c < ngroup * k->nlinear; c++)
        lin[c] = k->linear[c % k->nlinear].start;
}

static enum fit_status time_model(struct estimate *e, const struct fit_config *cfg, int threads,
                                  struct fit_error *err)
{
    const struct fit_kernel *k = e->k;
    struct fit_dataset *ds = NULL;
    size_t n = e->plan.frames < FRAMES ? e->plan.frames : FRAMES,
           ngroup = e->plan.ngroup < GROUPS ? e->plan.ngroup : GROUPS;
    struct sums s = {.k = k};
    double *setting, *theta;
    FIT_TAKE_DOUBLES(&s.storage, k->nsetting, &setting);
    FIT_TAKE_DOUBLES(&s.storage, k->nparam, &theta);
    FIT_TAKE_DOUBLES(&s.storage, ngroup * k->nlinear, &s.lin);
    enum fit_status st = FIT_OK;
    if (s.storage.failed) {
        st = fit_no_memory(err, "estimate");
        goto done;
    }
    start_values(k, cfg, ngroup, setting, theta, s.lin);
    if ((st = toy_data(k, setting, n, ngroup, 0, &ds, err)) != FIT_OK)
        goto done;
    s.l = &ds->layout;
    s.ws = fit_take(&s.storage, k->workspace(s.l), sizeof *s.ws);
    if (!s.ws)
        st = fit_no_memory(err, "estimate");
    else if (k->prepare(s.l, theta, 1, s.ws) != FIT_EVAL_OK)
        st = fit_fail(err, FIT_ERR_NUMERIC, "estimate: the model has no finite value at its start");
    else
        st = time_sums(&s, ds, threads, &e->ns_per_point, err);
    e->nout = s.nmoments + k->nparam * (k->nparam + 3) / 2 + e->plan.ngroup * k->nlinear * k->nparam;
done:
    fit_dataset_free(ds);
    fit_arena_free(&s.storage);
    return st;
}

/* ---- speed of reading ------------------------------------------------------------------------ */

/* Rows of the first matrix, at most READ_BYTES of them. */
static enum fit_status time_reading(struct estimate *e, const struct fit_selection *sel,
                                    struct fit_error *err)
{
    struct fit_source *src = NULL;
    struct fit_h5_raw_set *set = NULL;
    struct fit_plane plane;
    const char *why = NULL;
    void *bytes = NULL;
    e->bytes_per_second = e->bytes = NAN;
    enum fit_status st = fit_source_open(sel->path, &sel->wish, &src, err);
    if (st == FIT_OK)
        st = fit_h5_raw_new(READ_BYTES, &set, err);
    if (st == FIT_OK)
        st = fit_source_plane(src, set, 0, 0, &plane, &why, err);
    if (st != FIT_OK || why)
        goto done;
    size_t row = plane.n * fit_plane_together(&plane) * fit_h5_raw_item(plane.raw);
    size_t rows = READ_BYTES / row;
    rows = rows < 1 ? 1 : rows < plane.n ? rows : plane.n;
    if (!(bytes = malloc(rows * row))) {
        st = fit_no_memory(err, "estimate");
        goto done;
    }
    const struct fit_rect box = {0, rows, 0, plane.n};
    double begin = fit_seconds();
    plane.lower = plane.flipped = 0;
    st = fit_plane_read(&plane, &box, bytes, err);
    e->bytes_per_second = (double)(rows * row) / (fit_seconds() - begin);
    e->bytes = e->plan.points * (double)fit_h5_raw_item(plane.raw);
done:
    free(bytes);
    fit_h5_raw_free(set);
    fit_source_close(src);
    return st;
}

/* ---- the command ----------------------------------------------------------------------------- */

static void add_up(struct estimate *e)
{
    double compute = 1e-9 * e->ns_per_point * e->plan.points,
           read = e->bytes / e->bytes_per_second;
    e->pass = e->plan.streamed ? fmax(compute, read) : compute;
    e->fit = PASSES * e->pass + (isnan(read) ? 0 : 2 * read);
}

/* The data's shape, without values. */
static enum fit_status shape_of_data(const struct estimate *e, struct fit_dataset **shape, struct fit_error *err)
{
    FIT_OWNED double *setting = calloc(e->k->nsetting + 1, sizeof *setting);
    return setting ? toy_data(e->k, setting, e->plan.frames, e->plan.ngroup, 1, shape, err)
                   : fit_no_memory(err, "estimate");
}

/* The same by the device of --device: values go there once, or in every pass when its memory is too small. */
static enum fit_status predict_device(struct estimate *e, const struct fit_program *p, const struct fit_cli *cli,
                                      struct fit_error *err)
{
    struct fit_device *d = NULL;
    struct fit_dataset *shape = NULL;
    const struct fit_device_wish wish = {cli->device, p->name, p->err, cli->quiet, cli->verbose};
    enum fit_status st = fit_device_begin(&wish, &d, err);
    if (st != FIT_OK || !d)
        return st;
    e->device = *fit_device_about(d);
    fit_device_close(d);
    if ((st = shape_of_data(e, &shape, err)) != FIT_OK)
        return st;
    const double bytes = e->plan.points * 8, table_bytes = 8 * (double)e->k->workspace(&shape->layout);
    fit_dataset_free(shape);
    const struct fit_device_work work = fit_device_work_of(e->k, e->plan.points, (double)e->plan.ngroup, table_bytes);
    const unsigned together = e->device.together > 1 ? e->device.together : 1;
    const int fits = bytes < 0.75 * (double)e->device.memory * together;
    const double way = bytes / fit_device_bus(&e->device), compute = fit_device_seconds(&e->device, &work);
    e->device_pass = fits ? compute : fmax(compute, way); /* values come while others are worked on */
    e->device_fit = PASSES * e->device_pass + (fits ? way : 0) +
                    (isnan(e->bytes) ? 0 : 2 * e->bytes / e->bytes_per_second);
    return FIT_OK;
}

static void print_device(const struct estimate *e, FILE *f)
{
    if (!e->device.word[0])
        return;
    const char *class = fit_device_class(&e->device);
    fprintf(f, "%-10s %8.3g s a pass, %.3g s a fit, predicted from %s%s: %s\n", e->device.word, e->device_pass,
            e->device_fit, class ? "the rates of a " : "its clock", class ? class : "", e->device.name);
    fprintf(f, "faster     %8s\n", e->device_fit < e->fit ? e->device.word : "cpu");
}

/* --ranks: the shares of all ranks, and the time of the largest. Every rank is assumed to read as fast as one here. */
static enum fit_status add_ranks(struct estimate *e, size_t ranks, struct fit_error *err)
{
    struct fit_dataset *shape = NULL;
    enum fit_status st = shape_of_data(e, &shape, err);
    if (st != FIT_OK)
        return st;
    struct fit_pass_cost cost = fit_pass_cost_here();
    cost.value = 1e-9 * e->ns_per_point;
    cost.read = e->plan.streamed && !isnan(e->bytes) ? e->bytes / e->plan.points / e->bytes_per_second : 0;
    const struct fit_pass_shares one = fit_pass_shares(shape, e->nout, 1);
    e->shares = fit_pass_shares(shape, e->nout, ranks);
    e->rank_pass = fit_pass_seconds(&cost, &e->shares);
    e->efficiency = fit_pass_seconds(&cost, &one) / (e->rank_pass * (double)ranks);
    e->rank_fit = PASSES * e->rank_pass + e->fit - PASSES * e->pass; /* every rank does the initial reading */
    fit_dataset_free(shape);
    return FIT_OK;
}

static void print_ranks(const struct estimate *e, FILE *f)
{
    const struct fit_memory_plan *p = &e->plan;
    const double mb = fit_memory_plan_rank(p, e->shares.ranks, 1), whole = fit_memory_plan_rank(p, e->shares.ranks, 0);
    fprintf(f, "%zu ranks   %8.0f MB each, %.3g values of %.3g, %zu of %zu leaves\n", e->shares.ranks, mb,
            e->shares.most, p->points, e->shares.most_leaves, e->shares.leaves);
    if (mb < whole && !p->streamed)
        fprintf(f, "whole      %8.0f MB each: with a posterior, bootstrap, sequence or efficient estimates\n", whole);
    if (e->shares.ranks > e->shares.leaves)
        fprintf(f, "idle       %8zu ranks, which get no leaf; the largest useful number is %zu\n",
                e->shares.ranks - e->shares.leaves, e->shares.leaves);
    fprintf(f, "pass       %8.3g s\nfit        %8.3g s, efficiency of a pass %.0f %%\n", e->rank_pass, e->rank_fit,
            100 * e->efficiency);
}

static void print_text(const struct estimate *e, FILE *f)
{
    const struct fit_memory_plan *p = &e->plan;
    fprintf(f, "%.0f points: %zu matrices, %zu frames\n", p->points, p->ngroup, p->frames);
    fprintf(f, "in memory  %8.0f MB%s\n", p->held_mb, p->streamed ? "" : "   <- chosen");
    fprintf(f, "streamed   %8.0f MB%s\n", p->streamed_mb, p->streamed ? "   <- chosen" : "");
    fprintf(f, "allowed    %8.0f MB of %.0f MB available\n", p->limit_mb, p->available_mb);
    fprintf(f, "model      %8.2f ns per point with derivatives\n", e->ns_per_point);
    if (!isnan(e->bytes_per_second))
        fprintf(f, "reading    %8.0f MB/s by one thread\n", e->bytes_per_second / 1e6);
    fprintf(f, "pass       %8.3g s\nfit        %8.3g s when it takes %d passes\n", e->pass, e->fit,
            PASSES);
    print_device(e, f);
    if (e->shares.ranks)
        print_ranks(e, f);
}

static void print_json(const struct estimate *e, FILE *f)
{
    struct fit_json j = {0};
    fit_json_begin(&j, NULL, '{');
    fit_json_integer(&j, "points", (int64_t)e->plan.points);
    fit_json_integer(&j, "matrices", (int64_t)e->plan.ngroup);
    fit_json_integer(&j, "frames", (int64_t)e->plan.frames);
    fit_json_number(&j, "memory_mb", e->plan.held_mb);
    fit_json_number(&j, "streamed_mb", e->plan.streamed_mb);
    fit_json_number(&j, "available_mb", e->plan.available_mb);
    fit_json_number(&j, "limit_mb", e->plan.limit_mb);
    fit_json_string(&j, "mode", e->plan.streamed ? "streamed" : "memory");
    fit_json_number(&j, "ns_per_point", e->ns_per_point);
    fit_json_number(&j, "read_mb_per_second", e->bytes_per_second / 1e6);
    fit_json_number(&j, "pass_seconds", e->pass);
    fit_json_integer(&j, "passes", PASSES);
    fit_json_number(&j, "fit_seconds", e->fit);
    if (e->device.word[0]) {
        fit_json_string(&j, "device", e->device.word);
        fit_json_number(&j, "device_pass_seconds", e->device_pass);
        fit_json_number(&j, "device_fit_seconds", e->device_fit);
    }
    if (e->shares.ranks) {
        fit_json_integer(&j, "ranks", (int64_t)e->shares.ranks);
        fit_json_integer(&j, "most_ranks", (int64_t)e->shares.leaves);
        fit_json_number(&j, "rank_mb", fit_memory_plan_rank(&e->plan, e->shares.ranks, 1));
        fit_json_number(&j, "rank_values", e->shares.most);
        fit_json_number(&j, "rank_pass_seconds", e->rank_pass);
        fit_json_number(&j, "rank_fit_seconds", e->rank_fit);
        fit_json_number(&j, "efficiency", e->efficiency);
    }
    fit_json_end(&j);
    fprintf(f, "%s\n", fit_json_text(&j) ? fit_json_text(&j) : "{}");
    fit_json_free(&j);
}

enum fit_status fit_cmd_estimate(struct fit_program *p, const struct fit_cli *cli,
                                 struct fit_error *err)
{
    struct estimate e = {0};
    struct fit_config_log log;
    struct fit_config *cfg = NULL;
    struct fit_selection sel = {.divide = 0};
    fit_config_log_init(&log);
    if (cli->ranks > MOST_RANKS)
        return fit_fail(err, FIT_ERR_USAGE, "--ranks: %zu is more than %d", (size_t)cli->ranks, MOST_RANKS);
    enum fit_status st = fit_program_kernel(p, cli, &e.k, err);
    if (st == FIT_OK)
        st = fit_setup_config(cli, e.k, &log, &cfg, err);
    if (st == FIT_OK && e.k->space != FIT_PAIRS)
        st = fit_fail(err, FIT_ERR_USAGE, "estimate: tables are small; this is for matrices");
    if (st != FIT_OK)
        goto done;
    if (!cfg->input.path.n) {
        st = fit_fail(err, FIT_ERR_CONFIG, "%s: no data file; give experimental_data.file_path",
                      cfg->file);
        goto done;
    }
    if ((st = fit_memory_plan_files(cfg, &sel, &e.plan, err)) != FIT_OK)
        goto done;
    fit_memory_plan_loss(&e.plan, (enum fit_loss)cfg->nlsq.loss.value);
    if ((st = time_model(&e, cfg, (int)cli->threads, err)) != FIT_OK ||
        (st = time_reading(&e, &sel, err)) != FIT_OK)
        goto done;
    add_up(&e);
    if ((st = predict_device(&e, p, cli, err)) != FIT_OK)
        goto done;
    if (cli->ranks && (st = add_ranks(&e, (size_t)cli->ranks, err)) != FIT_OK)
        goto done;
    if (cli->json || !cli->quiet)
        (cli->json ? print_json : print_text)(&e, p->out);
done:
    fit_config_free(cfg);
    fit_config_log_free(&log);
    return st;
}
