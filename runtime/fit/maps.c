/* maps.c -- data, model and residuals at the optimum; see maps.h.
 *
 * Tiles are taken in batches: the model of the batch is computed by one thread per tile, then its
 * values are added to the maps by one thread per some groups, tile after tile.  So every sum is made in
 * the same order whatever the number of threads, and no two threads write to the same place. */
#include "fit/maps.h"

#include "base/clock.h"
#include "machine/team.h"
#include "machine/topology.h"
#include "model/law.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARGUMENTS = 8 }; /* of a law */

struct sums { /* of one group */
    double n, y, y2, r2, chi2;
};

struct work {
    const struct fit_kernel *k;
    const struct fit_dataset *ds;
    const struct fit_result *fit;
    double *ws, *lin; /* tables; linear parameters as the kernel wants them */
    struct fit_maps *maps;
    struct sums *sums;  /* ngroup */
    double *map[4];     /* sum of 1, data, model, r / sigma; pairs: ngroup upper triangles, rows: n */
    double *cut[4];     /* ngroup x ages x nlag: sum of 1, data, model, sigma^2 */
    unsigned char *age; /* 2 ntime: range of ages by the sum of two frame numbers */
    unsigned shift;     /* log2 of maps->bin */
    double *model;      /* of the batch: `stride` doubles per tile */
    size_t stride;
    double *buffer; /* of the batch: `nbuffer` doubles per tile whose values stay in a file */
    size_t nbuffer;
    struct fit_tile *own; /* of the batch */
    double *argument;     /* of the law of the errors: `stride` doubles each per tile; NULL: they are normal */
    const struct fit_tile **tile;
    double *row, *alike; /* of each thread: room for a row of a tile, three times; ngroup: inverse_sigma of weight 1 */
    uint32_t *column;    /* the same for its frames */
    size_t share;        /* groups that a thread takes at a time */
    struct fit_arena storage;
};

/* 1 / standard deviation of a value of group g: from its weight when weights are errors, the given
 * one, or that of the group's residuals. */
static double inverse_sigma(const struct work *w, size_t g, double weight)
{
    return (w->ds->weighted ? sqrt(weight) : 1) / w->fit->against[g];
}

static void add_sums(struct sums *s, double y, double r, double z)
{
    s->n += 1;
    s->y += y;
    s->y2 += y * y;
    s->r2 += r * r;
    s->chi2 += z * z;
}

/* Place of (a, b), a <= b, in the upper triangle of a map. */
static size_t triangle(const struct fit_maps *m, size_t a, size_t b)
{
    return a * (2 * m->n - a - 1) / 2 + b;
}

/* Row i of a tile, group g: its values one after the other, those that do not count left out. */
struct row {
    size_t g, i, from, n;        /* [from, n) of the arrays */
    double *y, *model, *inverse; /* inverse[k]: 1 / standard deviation; of rows without weights it is `alike` */
    double alike;
    uint32_t *j; /* frames of the list of used ones */
};

/* A row that has weights, which become 1 / standard deviation: values that do not count are left out. */
static void take_weighted(const struct work *w, struct row *row)
{
    size_t to = row->from;
    for (size_t k = row->from; k < row->n; k++) {
        const double weight = row->inverse[k];
        row->y[to] = row->y[k];
        row->model[to] = row->model[k];
        row->j[to] = row->j[k];
        row->inverse[to] = w->ds->weighted && weight > 0 ? inverse_sigma(w, row->g, weight) : row->alike;
        to += weight > 0;
    }
    row->n = to;
}

/* Values of the row, out of blocks of 8 lanes that stand ngroup blocks apart. */
static void take_row(const struct work *w, const struct fit_tile *t, const double *model, struct row *row)
{
    enum { BYTES = FIT_LANES * sizeof(double) };
    const struct fit_layout *l = &w->ds->layout;
    const size_t first = t->j0 > row->i + 1 ? t->j0 : row->i + 1, block = first / FIT_LANES * FIT_LANES;
    size_t at = fit_tile_offset(l, t, row->i, block, row->g);
    row->from = first - block;
    row->n = t->j1 - block;
    for (size_t k = 0; k < row->n; k += FIT_LANES, at += l->ngroup * FIT_LANES) {
        memcpy(row->y + k, t->y + at, BYTES);
        memcpy(row->model + k, model + at, BYTES);
        if (t->w)
            memcpy(row->inverse + k, t->w + at, BYTES);
    }
    for (size_t k = 0; k < row->n; k++)
        row->j[k] = (uint32_t)(block + k);
    if (t->w)
        take_weighted(w, row);
}

/* Sums over the group, and over the columns of each point of the map. */
static void add_sums_of_row(struct work *w, const struct row *row, int weighted)
{
    const struct fit_maps *m = w->maps;
    const size_t map = row->g * triangle(m, m->n - 1, m->n) + triangle(m, row->i >> w->shift, 0);
    const double reference = w->ds->reference[row->g];
    struct sums s = w->sums[row->g];
    double n = 0, data = 0, model = 0, residual = 0;
    for (size_t k = row->from; k < row->n; k++) {
        const double y = row->y[k], r = y - row->model[k], z = r * (weighted ? row->inverse[k] : row->alike);
        const size_t point = row->j[k] >> w->shift;
        add_sums(&s, y, r, z);
        n += 1;
        data += y + reference;
        model += row->model[k] + reference;
        residual += z;
        if (k + 1 == row->n || row->j[k + 1] >> w->shift != point) {
            w->map[0][map + point] += n;
            w->map[1][map + point] += data;
            w->map[2][map + point] += model;
            w->map[3][map + point] += residual;
            n = data = model = residual = 0;
        }
    }
    w->sums[row->g] = s;
}

/* End of the values from k on whose lags follow one another and whose age is the same. */
static size_t end_of_cut(const struct work *w, const struct row *row, size_t k)
{
    const uint32_t *frame = w->ds->layout.frame;
    const size_t fi = frame[row->i], fj = frame[row->j[k]], last = row->n - 1;
    const unsigned char age = w->age[fi + fj];
    if (frame[row->j[last]] - fj == last - k && w->age[fi + frame[row->j[last]]] == age) /* ages increase */
        return row->n;
    size_t end = k + 1;
    while (end < row->n && frame[row->j[end]] == fj + (end - k) && w->age[fi + frame[row->j[end]]] == age)
        end++;
    return end;
}

static void add_values(double *restrict sum, const double *restrict value, double reference, size_t n)
{
    for (size_t k = 0; k < n; k++)
        sum[k] += value[k] + reference;
}

static void add_number(double *sum, double number, size_t n)
{
    for (size_t k = 0; k < n; k++)
        sum[k] += number;
}

/* The cuts: the values of a row have different lags. */
static void add_cuts_of_row(struct work *w, const struct row *row, int weighted)
{
    const uint32_t *frame = w->ds->layout.frame;
    const size_t fi = frame[row->i], nlag = w->maps->nlag, cut = row->g * FIT_MAPS_AGES * nlag;
    const double reference = w->ds->reference[row->g], variance = 1 / (row->alike * row->alike);
    for (size_t k = row->from, end; k < row->n; k = end) {
        const size_t fj = frame[row->j[k]], to = cut + w->age[fi + fj] * nlag + (fj - fi - 1);
        end = end_of_cut(w, row, k);
        add_number(w->cut[0] + to, 1, end - k);
        add_values(w->cut[1] + to, row->y + k, reference, end - k);
        add_values(w->cut[2] + to, row->model + k, reference, end - k);
        if (!weighted)
            add_number(w->cut[3] + to, variance, end - k);
        for (size_t c = k; weighted && c < end; c++)
            w->cut[3][to + c - k] += 1 / (row->inverse[c] * row->inverse[c]);
    }
}

static size_t room_of_row(const struct fit_layout *l)
{
    return (l->panel / FIT_LANES + 1) * FIT_LANES;
}

/* Rows of the groups [g, end), in the order of the tile's memory. */
static void add_tile_pairs(struct work *w, const struct fit_tile *t, const double *model, size_t g, size_t end,
                           size_t thread)
{
    const size_t most = room_of_row(&w->ds->layout);
    double *room = w->row + thread * 3 * most;
    struct row row = {.y = room, .model = room + most, .inverse = room + 2 * most, .j = w->column + thread * most};
    for (row.i = t->i0; row.i < t->i1; row.i++)
        for (row.g = g; row.g < end; row.g++) {
            row.alike = w->alike[row.g];
            take_row(w, t, model, &row);
            add_sums_of_row(w, &row, t->w != NULL);
            add_cuts_of_row(w, &row, t->w != NULL);
        }
}

/* 1 / standard deviation of row i of a tile, by the law of the errors. */
static double inverse_deviation(const struct work *w, const struct fit_tile *t, double mean, const double *argument,
                                size_t i)
{
    const struct fit_density *d = w->k->density;
    size_t length = (t->i1 + FIT_LANES - 1) / FIT_LANES * FIT_LANES - t->i0;
    double arg[MOST_ARGUMENTS] = {0};
    for (size_t a = 0; a < d->nargument && a < MOST_ARGUMENTS; a++)
        arg[a] = argument[a * length + (i - t->i0)];
    double s = fit_law_deviation(d->law, mean, arg);
    return s > 0 ? 1 / s : 0;
}

static void add_tile_rows(struct work *w, const struct fit_tile *t, const double *model, const double *argument)
{
    size_t first = t->i0 / FIT_LANES * FIT_LANES, g = t->group;
    for (size_t i = t->i0; i < t->i1; i++) {
        double weight = t->w ? t->w[i - first] : 1;
        double y = t->y[i - first], r = y - model[i - first];
        double z =
            r * (argument ? inverse_deviation(w, t, model[i - first], argument, i) : inverse_sigma(w, g, weight));
        if (!(weight > 0))
            continue;
        add_sums(&w->sums[g], y, r, z);
        size_t row = w->ds->row ? w->ds->row[i] : i; /* results are in the order of the file */
        w->map[0][row] = 1;
        w->map[1][row] = y + w->ds->reference[g];
        w->map[2][row] = model[i - first] + w->ds->reference[g];
        w->map[3][row] = z;
    }
}

enum { TILES_PER_THREAD = 4, SHARES_PER_THREAD = 4 };

struct batch {
    struct work *w;
    size_t first, last; /* tiles */
};

/* Data and model of a tile of the batch. */
static void take_tile(void *user, size_t b, size_t thread)
{
    const struct batch *x = user;
    struct work *w = x->w;
    (void)thread;
    w->tile[b] = fit_dataset_tile(w->ds, x->first + b, w->buffer + b * w->nbuffer, &w->own[b]);
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_PAIRS);
    if (w->tile[b])
        w->k->model(&w->ds->layout, w->ws, w->lin, w->tile[b], w->model + b * w->stride);
    if (w->tile[b] && w->argument)
        w->k->density->arguments(&w->ds->layout, w->ws, w->tile[b], w->argument + b * w->stride * MOST_ARGUMENTS);
    fit_clock_enter(was);
}

/* The batch, of some groups. */
static void add_groups(void *user, size_t k, size_t thread)
{
    const struct batch *x = user;
    struct work *w = x->w;
    const size_t g = k * w->share, end = g + w->share < w->maps->ngroup ? g + w->share : w->maps->ngroup;
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_PAIRS);
    for (size_t b = 0; b < x->last - x->first; b++) {
        const double *model = w->model + b * w->stride;
        if (!w->tile[b])
            continue;
        if (w->k->space == FIT_PAIRS)
            add_tile_pairs(w, w->tile[b], model, g, end, thread);
        else if (w->tile[b]->group >= g && w->tile[b]->group < end)
            add_tile_rows(w, w->tile[b], model, w->argument ? w->argument + b * w->stride * MOST_ARGUMENTS : NULL);
    }
    fit_clock_enter(was);
}

static void one_pass(struct work *w, int threads)
{
    size_t many = (size_t)threads * TILES_PER_THREAD, shares = (w->maps->ngroup + w->share - 1) / w->share;
    const struct fit_team team = {threads, FIT_TEAM_NEXT};
    fit_dataset_begin(w->ds);
    for (size_t first = 0; first < w->ds->ntile; first += many) {
        size_t last = first + many < w->ds->ntile ? first + many : w->ds->ntile;
        struct batch x = {w, first, last};
        fit_team_run(team, last - first, take_tile, &x);
        fit_team_run(team, shares, add_groups, &x);
    }
    fit_dataset_end(w->ds);
}

/* ---- from sums to averages ------------------------------------------------------------------- */

static void finish_maps(struct work *w)
{
    struct fit_maps *m = w->maps;
    int rows = w->k->space == FIT_ROWS;
    size_t side = rows ? 1 : m->n, squares = rows ? 1 : m->ngroup, from = 0;
    for (size_t g = 0; g < squares; g++)
        for (size_t a = 0; a < m->n; a++)
            for (size_t b = rows ? 0 : a; b < side; b++, from++) {
                size_t at = rows ? a : (g * m->n + a) * m->n + b,
                       mirror = rows ? a : (g * m->n + b) * m->n + a;
                double n = w->map[0][from];
                m->c2[at] = m->c2[mirror] = n > 0 ? (float)(w->map[1][from] / n) : NAN;
                m->model[at] = m->model[mirror] = n > 0 ? (float)(w->map[2][from] / n) : NAN;
                m->residual[at] = m->residual[mirror] = n > 0 ? (float)(w->map[3][from] / n) : NAN;
                m->mask[at] = m->mask[mirror] = n > 0;
            }
}

static void finish_cuts(struct work *w)
{
    struct fit_maps *m = w->maps;
    for (size_t k = 0; k < m->ngroup * FIT_MAPS_AGES * m->nlag; k++) {
        double n = w->cut[0][k];
        m->g2[k] = n > 0 ? w->cut[1][k] / n : NAN;
        m->g2_model[k] = n > 0 ? w->cut[2][k] / n : NAN;
        m->g2_error[k] = n > 0 ? sqrt(w->cut[3][k]) / n : NAN;
    }
}

static void finish_sums(struct work *w)
{
    struct fit_maps *m = w->maps;
    double r2 = 0, variance = 0;
    for (size_t g = 0; g < m->ngroup; g++) {
        const struct sums *s = &w->sums[g];
        m->chi2[g] = s->chi2;
        m->npoint[g] = (size_t)s->n;
        r2 += s->r2;
        variance += s->n > 0 ? s->y2 - s->y * s->y / s->n : 0;
    }
    m->nrmse = variance > 0 ? sqrt(r2 / variance) : NAN;
}

/* ---- storage --------------------------------------------------------------------------------- */

/* Smallest power of two by which the frames must be averaged. */
static size_t choose_bin(size_t nframe, size_t ngroup)
{
    size_t bin = 1;
    while (ngroup * ((nframe + bin - 1) / bin) * ((nframe + bin - 1) / bin) > FIT_MAPS_VALUES &&
           bin < nframe)
        bin *= 2;
    return bin;
}

static void grids(struct fit_maps *m, const struct fit_layout *l)
{
    for (size_t a = 0; a < m->n; a++) {
        size_t first = a * m->bin, last = first + m->bin < l->nframe ? first + m->bin : l->nframe;
        double sum = 0;
        for (size_t i = first; i < last; i++)
            sum += l->time[l->frame[i]];
        m->t[a] = sum / (double)(last - first);
    }
    for (size_t k = 0; k < m->nlag; k++)
        m->tau[k] = (double)(k + 1) * l->step;
    double length = l->time[l->ntime - 1] - l->time[0];
    for (size_t a = 0; a < FIT_MAPS_AGES; a++)
        m->age[a] = l->time[0] + length * ((double)a + 0.5) / FIT_MAPS_AGES;
}

static struct fit_maps *allocate(const struct fit_kernel *k, const struct fit_dataset *ds)
{
    const struct fit_layout *l = &ds->layout;
    struct fit_maps *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    int pairs = k->space == FIT_PAIRS;
    m->ngroup = l->ngroup;
    m->bin = pairs ? choose_bin(l->nframe, l->ngroup) : 1;
    m->n = pairs ? (l->nframe + m->bin - 1) / m->bin : ds->nrow;
    m->nlag = pairs ? l->ntime - 1 : 0;
    size_t values = pairs ? m->ngroup * m->n * m->n : m->n,
           cuts = m->ngroup * FIT_MAPS_AGES * m->nlag;
    struct fit_arena *a = &m->storage_;
    FIT_TAKE_DOUBLES(a, m->n, &m->t);
    FIT_TAKE_DOUBLES(a, m->nlag, &m->tau);
    FIT_TAKE_DOUBLES(a, cuts, &m->g2, &m->g2_model, &m->g2_error);
    FIT_TAKE_DOUBLES(a, m->ngroup, &m->chi2);
    m->c2 = fit_take(a, values, sizeof *m->c2);
    m->model = fit_take(a, values, sizeof *m->model);
    m->residual = fit_take(a, values, sizeof *m->residual);
    m->mask = fit_take(a, values, sizeof *m->mask);
    m->npoint = fit_take(a, m->ngroup, sizeof *m->npoint);
    if (pairs && !a->failed)
        grids(m, l);
    return m;
}

void fit_maps_free(struct fit_maps *m)
{
    if (!m)
        return;
    fit_arena_free(&m->storage_);
    free(m);
}

static void allocate_sums(struct work *w)
{
    const struct fit_maps *m = w->maps;
    size_t values = w->k->space == FIT_PAIRS ? m->ngroup * triangle(m, m->n - 1, m->n) : m->n,
           cuts = m->ngroup * FIT_MAPS_AGES * m->nlag;
    for (int c = 0; c < 4; c++) {
        FIT_TAKE_DOUBLES(&w->storage, values, &w->map[c]);
        FIT_TAKE_DOUBLES(&w->storage, cuts, &w->cut[c]);
    }
    w->sums = fit_take(&w->storage, m->ngroup, sizeof *w->sums);
    w->alike = fit_take(&w->storage, m->ngroup, sizeof *w->alike);
    for (size_t g = 0; w->alike && g < m->ngroup; g++)
        w->alike[g] = inverse_sigma(w, g, 1);
}

/* What a batch of tiles needs. */
static void allocate_batch(struct work *w, int threads)
{
    const struct fit_layout *l = &w->ds->layout;
    const size_t batch = (size_t)threads * TILES_PER_THREAD, row = (size_t)threads * room_of_row(l);
    for (size_t k = 0; k < w->ds->ntile; k++) {
        size_t d = fit_tile_doubles(l, &w->ds->tile[k]);
        w->stride = d > w->stride ? d : w->stride;
    }
    w->stride = (w->stride + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
    w->nbuffer = (fit_dataset_buffer(w->ds) + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
    FIT_TAKE_DOUBLES(&w->storage, batch * w->stride, &w->model);
    FIT_TAKE_DOUBLES(&w->storage, batch * w->nbuffer, &w->buffer);
    FIT_TAKE_DOUBLES(&w->storage, 3 * row, &w->row);
    w->own = fit_take(&w->storage, batch, sizeof *w->own);
    w->tile = fit_take(&w->storage, batch, sizeof *w->tile);
    w->column = fit_take(&w->storage, row, sizeof *w->column);
    if (w->k->density)
        FIT_TAKE_DOUBLES(&w->storage, batch * w->stride * MOST_ARGUMENTS, &w->argument);
}

static int allocate_work(struct work *w, int threads)
{
    const struct fit_layout *l = &w->ds->layout;
    const struct fit_maps *m = w->maps;
    w->age = fit_take(&w->storage, 2 * l->ntime, sizeof *w->age);
    for (size_t k = 0; w->age && k < 2 * l->ntime; k++)
        w->age[k] = (unsigned char)(k * FIT_MAPS_AGES / (2 * l->ntime));
    while ((size_t)1 << w->shift < m->bin)
        w->shift++;
    w->share = m->ngroup / ((size_t)threads * SHARES_PER_THREAD) + 1;
    FIT_TAKE_DOUBLES(&w->storage, w->k->workspace(l), &w->ws);
    FIT_TAKE_DOUBLES(&w->storage, m->ngroup * w->k->nlinear, &w->lin);
    allocate_sums(w);
    allocate_batch(w, threads);
    return !w->storage.failed;
}

enum fit_status fit_maps_new(const struct fit_kernel *kernel, const struct fit_dataset *ds,
                             const struct fit_result *fit, int threads, struct fit_maps **maps,
                             struct fit_error *err)
{
    struct work w = {.k = kernel, .ds = ds, .fit = fit, .maps = allocate(kernel, ds)};
    enum fit_status st = FIT_OK;
    threads = threads > 0 ? threads : fit_topology_threads();
    *maps = NULL;
    if (!w.maps || w.maps->storage_.failed || !allocate_work(&w, threads)) {
        st = fit_no_memory(err, "maps of data and model");
        goto done;
    }
    memcpy(w.lin, fit->lin, w.maps->ngroup * kernel->nlinear * sizeof *w.lin);
    for (size_t g = 0; g < w.maps->ngroup && kernel->intercept >= 0; g++)
        w.lin[g * kernel->nlinear + (size_t)kernel->intercept] -= ds->reference[g];
    if (kernel->prepare(&ds->layout, fit->theta, 0, w.ws) != FIT_EVAL_OK) {
        st = fit_fail(err, FIT_ERR_NUMERIC,
                      "the model has no finite value at the fitted parameters");
        goto done;
    }
    one_pass(&w, threads);
    if ((st = fit_dataset_status(ds, err)) != FIT_OK)
        goto done;
    finish_maps(&w);
    finish_cuts(&w);
    finish_sums(&w);
    *maps = w.maps;
    w.maps = NULL;
done:
    fit_arena_free(&w.storage);
    fit_maps_free(w.maps);
    return st;
}
