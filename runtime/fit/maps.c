/* maps.c -- data, model and residuals at the optimum; see maps.h.
 *
 * Each tile gives sums over its values: of groups, of points of the maps, of lags and ages.  They are added tile after
 * tile (data/tile_patches.h), in the same order whatever the number of threads and ranks. */
#include "fit/maps.h"

#include "data/file_times.h"
#include "data/tile_patches.h"
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
    unsigned char *age; /* files x 2 ntime: range of ages by the sum of two frame numbers */
    unsigned shift;     /* log2 of maps->bin */
    double *model;      /* of each thread: `stride` doubles */
    size_t stride;
    double *argument;     /* of the noise distribution: `stride` doubles each per thread; NULL: they are normal */
    double *row, *alike; /* of each thread: room for a row of a tile, three times; ngroup: inverse_sigma of weight 1 */
    uint32_t *column;    /* the same for its frames */
    struct fit_arena storage;
};

/* Results of a tile: sums of groups, of points of the map [a0, a0 + na) x [b0, b0 + nb), of lags and ages. */
struct patch {
    struct sums *sums; /* ngroup */
    double *map[4];    /* ngroup x na x nb */
    double *cut[4];    /* ngroup x nage x nlag */
    size_t a0, na, b0, nb, age0, nage, lag0, nlag;
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

/* Index of (a, b), a <= b, in the upper triangle of a map. */
static size_t triangle(const struct fit_maps *m, size_t a, size_t b)
{
    return a * (2 * m->n - a - 1) / 2 + b;
}

/* Row i of a tile, group g: its values consecutively, without those that do not count. */
struct row {
    size_t g, i, from, n;        /* [from, n) of the arrays */
    double *y, *model, *inverse; /* inverse[k]: 1 / standard deviation; of rows without weights it is `alike` */
    double alike;
    uint32_t *j; /* frames of the list of used ones */
};

/* Converts the weights of a row to 1 / standard deviation: values that do not count are left out. */
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

/* Gathers the values of the row from blocks of 8 lanes that are ngroup blocks apart. */
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
static void add_sums_of_row(const struct work *w, const struct row *row, int weighted, struct patch *p)
{
    const size_t map = (row->g * p->na + (row->i >> w->shift) - p->a0) * p->nb - p->b0;
    const double reference = w->ds->reference[row->g];
    struct sums s = p->sums[row->g];
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
            p->map[0][map + point] += n;
            p->map[1][map + point] += data;
            p->map[2][map + point] += model;
            p->map[3][map + point] += residual;
            n = data = model = residual = 0;
        }
    }
    p->sums[row->g] = s;
}

/* The ranges of ages of the file of group g. */
static const unsigned char *ages_of(const struct work *w, size_t g)
{
    return w->age + (w->ds->files ? w->ds->files->of[g] : 0) * 2 * w->ds->layout.ntime;
}

/* End of the values from k on with consecutive lags and the same age. */
static size_t end_of_cut(const struct work *w, const struct row *row, size_t k)
{
    const uint32_t *frame = w->ds->layout.frame;
    const size_t fi = frame[row->i], fj = frame[row->j[k]], last = row->n - 1;
    const unsigned char *const ages = ages_of(w, row->g), age = ages[fi + fj];
    if (frame[row->j[last]] - fj == last - k && ages[fi + frame[row->j[last]]] == age) /* ages increase */
        return row->n;
    size_t end = k + 1;
    while (end < row->n && frame[row->j[end]] == fj + (end - k) && ages[fi + frame[row->j[end]]] == age)
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
static void add_cuts_of_row(const struct work *w, const struct row *row, int weighted, struct patch *p)
{
    const uint32_t *frame = w->ds->layout.frame;
    const size_t fi = frame[row->i];
    const unsigned char *ages = ages_of(w, row->g);
    const double reference = w->ds->reference[row->g], variance = 1 / (row->alike * row->alike);
    for (size_t k = row->from, end; k < row->n; k = end) {
        const size_t fj = frame[row->j[k]];
        const size_t to = (row->g * p->nage + ages[fi + fj] - p->age0) * p->nlag + (fj - fi) - p->lag0;
        end = end_of_cut(w, row, k);
        add_number(p->cut[0] + to, 1, end - k);
        add_values(p->cut[1] + to, row->y + k, reference, end - k);
        add_values(p->cut[2] + to, row->model + k, reference, end - k);
        if (!weighted)
            add_number(p->cut[3] + to, variance, end - k);
        for (size_t c = k; weighted && c < end; c++)
            p->cut[3][to + c - k] += 1 / (row->inverse[c] * row->inverse[c]);
    }
}

static size_t files_of(const struct fit_dataset *ds)
{
    return ds->files ? ds->files->n : 1;
}

/* Locates the sums of a tile; returns their number. numbers: NULL: only the number. */
static size_t lay_out_patch(const struct work *w, const struct fit_tile *t, double *numbers, struct patch *p)
{
    const uint32_t *frame = w->ds->layout.frame;
    const size_t ng = w->maps->ngroup, first = t->j0 > t->i0 + 1 ? t->j0 : t->i0 + 1;
    *p = (struct patch){.a0 = t->i0 >> w->shift, .b0 = first >> w->shift, .age0 = FIT_MAPS_AGES};
    p->na = ((t->i1 - 1) >> w->shift) + 1 - p->a0;
    p->nb = ((t->j1 - 1) >> w->shift) + 1 - p->b0;
    for (size_t f = 0; f < files_of(w->ds); f++) {
        const unsigned char *ages = w->age + f * 2 * w->ds->layout.ntime;
        const size_t age = ages[frame[t->i0] + frame[first]],
                     end = (size_t)ages[frame[t->i1 - 1] + frame[t->j1 - 1]] + 1;
        p->age0 = age < p->age0 ? age : p->age0;
        p->nage = end > p->nage ? end : p->nage; /* so far the end */
    }
    p->nage -= p->age0;
    p->lag0 = t->j0 > t->i1 - 1 ? frame[t->j0] - frame[t->i1 - 1] : 1;
    p->nlag = frame[t->j1 - 1] - frame[t->i0] + 1 - p->lag0;
    const size_t sums = ng * sizeof(struct sums) / sizeof(double);
    const size_t map = ng * p->na * p->nb, cut = ng * p->nage * p->nlag;
    p->sums = (struct sums *)(void *)numbers;
    for (size_t c = 0; c < 4 && numbers; c++) {
        p->map[c] = numbers + sums + c * map;
        p->cut[c] = numbers + sums + 4 * map + c * cut;
    }
    return sums + 4 * (map + cut);
}

static size_t room_of_row(const struct fit_layout *l)
{
    return (l->panel / FIT_LANES + 1) * FIT_LANES;
}

/* Rows in the order of the tile's memory. */
static size_t take_pairs(const struct work *w, const struct fit_tile *t, const double *model, size_t thread,
                         double *numbers)
{
    const size_t most = room_of_row(&w->ds->layout);
    double *room = w->row + thread * 3 * most;
    struct row row = {.y = room, .model = room + most, .inverse = room + 2 * most, .j = w->column + thread * most};
    struct patch p;
    const size_t n = lay_out_patch(w, t, numbers, &p);
    memset(numbers, 0, n * sizeof *numbers);
    for (row.i = t->i0; row.i < t->i1; row.i++)
        for (row.g = 0; row.g < w->maps->ngroup; row.g++) {
            row.alike = w->alike[row.g];
            take_row(w, t, model, &row);
            add_sums_of_row(w, &row, t->w != NULL, &p);
            add_cuts_of_row(w, &row, t->w != NULL, &p);
        }
    return n;
}

static void add_numbers(double *restrict to, const double *restrict from, size_t n)
{
    for (size_t k = 0; k < n; k++)
        to[k] += from[k];
}

/* Maps and cuts of one group. */
static void add_pairs(const struct work *w, const struct patch *p, size_t g)
{
    const struct fit_maps *m = w->maps;
    for (size_t c = 0; c < 4; c++) {
        for (size_t a = 0; a < p->na; a++) {
            const size_t skip = p->a0 + a > p->b0 ? p->a0 + a - p->b0 : 0; /* below the diagonal */
            if (skip < p->nb)
                add_numbers(w->map[c] + g * triangle(m, m->n - 1, m->n) + triangle(m, p->a0 + a, p->b0 + skip),
                            p->map[c] + (g * p->na + a) * p->nb + skip, p->nb - skip);
        }
        for (size_t a = 0; a < p->nage; a++)
            add_numbers(w->cut[c] + (g * FIT_MAPS_AGES + p->age0 + a) * m->nlag + p->lag0 - 1,
                        p->cut[c] + (g * p->nage + a) * p->nlag, p->nlag);
    }
}

/* 1 / standard deviation of row i of a tile, from the noise distribution. */
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

/* Maps of rows have a place for each of them. */
static size_t take_rows(const struct work *w, const struct fit_tile *t, const double *model, const double *argument,
                        double *numbers)
{
    size_t first = t->i0 / FIT_LANES * FIT_LANES, g = t->group;
    struct sums *sums = (struct sums *)(void *)numbers;
    *sums = (struct sums){0};
    for (size_t i = t->i0; i < t->i1; i++) {
        double weight = t->w ? t->w[i - first] : 1;
        double y = t->y[i - first], r = y - model[i - first];
        double z =
            r * (argument ? inverse_deviation(w, t, model[i - first], argument, i) : inverse_sigma(w, g, weight));
        if (!(weight > 0))
            continue;
        add_sums(sums, y, r, z);
        size_t row = w->ds->row ? w->ds->row[i] : i; /* results are in the order of the file */
        w->map[0][row] = 1;
        w->map[1][row] = y + w->ds->reference[g];
        w->map[2][row] = model[i - first] + w->ds->reference[g];
        w->map[3][row] = z;
    }
    return sizeof *sums / sizeof(double);
}

static size_t take_tile(void *user, size_t k, const struct fit_tile *t, size_t thread, double *numbers)
{
    const struct work *w = user;
    double *model = w->model + thread * w->stride;
    double *argument = w->argument ? w->argument + thread * w->stride * MOST_ARGUMENTS : NULL;
    (void)k;
    w->k->model(&w->ds->layout, w->ws, w->lin, t, model);
    if (argument)
        w->k->density->arguments(&w->ds->layout, w->ws, t, argument);
    return w->k->space == FIT_PAIRS ? take_pairs(w, t, model, thread, numbers)
                                    : take_rows(w, t, model, argument, numbers);
}

static void add_tile(void *user, size_t k, const double *numbers, size_t n)
{
    const struct work *w = user;
    const struct fit_tile *t = &w->ds->tile[k];
    const size_t each = sizeof(struct sums) / sizeof(double);
    struct patch p;
    (void)n;
    if (w->k->space == FIT_ROWS) {
        add_numbers((double *)&w->sums[t->group], numbers, each);
        return;
    }
    lay_out_patch(w, t, (double *)(uintptr_t)numbers, &p);
    add_numbers((double *)w->sums, numbers, w->maps->ngroup * each);
    for (size_t g = 0; g < w->maps->ngroup; g++)
        add_pairs(w, &p, g);
}

static enum fit_status one_pass(struct work *w, int threads, struct fit_error *err)
{
    struct fit_patches patches = {.ds = w->ds, .threads = threads, .most = sizeof(struct sums) / sizeof(double),
                                  .user = w, .take = take_tile, .add = add_tile};
    struct patch p;
    for (size_t k = 0; k < w->ds->ntile && w->k->space == FIT_PAIRS; k++) {
        const size_t n = lay_out_patch(w, &w->ds->tile[k], NULL, &p);
        patches.most = n > patches.most ? n : patches.most;
    }
    return fit_patches_run(&patches, err);
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

/* Of a group: its file has the first `nframe` of the used frames; NaN behind them. */
static void grids(const struct fit_maps *m, const struct fit_layout *l, const struct fit_file_time *x, size_t nframe,
                  double *t, double *tau, double *age)
{
    for (size_t a = 0; a < m->n; a++) {
        size_t first = a * m->bin, last = first + m->bin < nframe ? first + m->bin : nframe;
        double sum = 0;
        for (size_t i = first; i < last; i++)
            sum += x->time[l->frame[i]];
        t[a] = last > first ? sum / (double)(last - first) : NAN;
    }
    for (size_t k = 0; k < m->nlag; k++)
        tau[k] = k + 1 < x->ntime ? (double)(k + 1) * x->step : NAN;
    double length = x->time[x->ntime - 1] - x->time[0];
    for (size_t a = 0; a < FIT_MAPS_AGES; a++)
        age[a] = x->time[0] + length * ((double)a + 0.5) / FIT_MAPS_AGES;
}

/* Those of every group, where they differ; those of the group with the most frames. */
static void all_grids(struct fit_maps *m, const struct fit_dataset *ds)
{
    size_t longest = 0;
    for (size_t g = 0; g < m->ngroup; g++) {
        const struct fit_file_time x = fit_dataset_group_time(ds, g);
        longest = x.ntime > fit_dataset_group_time(ds, longest).ntime ? g : longest;
        if (m->t_group)
            grids(m, &ds->layout, &x, fit_dataset_group_frames(ds, g), m->t_group + g * m->n,
                  m->tau_group + g * m->nlag, m->age_group + g * FIT_MAPS_AGES);
    }
    const struct fit_file_time x = fit_dataset_group_time(ds, longest);
    grids(m, &ds->layout, &x, ds->layout.nframe, m->t, m->tau, m->age);
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
    if (pairs && fit_dataset_times_differ(ds)) {
        FIT_TAKE_DOUBLES(a, m->ngroup * m->n, &m->t_group);
        FIT_TAKE_DOUBLES(a, m->ngroup * m->nlag, &m->tau_group);
        FIT_TAKE_DOUBLES(a, m->ngroup * FIT_MAPS_AGES, &m->age_group);
    }
    if (pairs && !a->failed)
        all_grids(m, ds);
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

/* Memory for tiles in progress. */
static void allocate_tiles(struct work *w, int threads)
{
    const struct fit_layout *l = &w->ds->layout;
    const size_t many = (size_t)threads, row = many * room_of_row(l);
    for (size_t k = 0; k < w->ds->ntile; k++) {
        size_t d = fit_tile_doubles(l, &w->ds->tile[k]);
        w->stride = d > w->stride ? d : w->stride;
    }
    w->stride = (w->stride + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
    FIT_TAKE_DOUBLES(&w->storage, many * w->stride, &w->model);
    FIT_TAKE_DOUBLES(&w->storage, 3 * row, &w->row);
    w->column = fit_take(&w->storage, row, sizeof *w->column);
    if (w->k->density)
        FIT_TAKE_DOUBLES(&w->storage, many * w->stride * MOST_ARGUMENTS, &w->argument);
}

static int allocate_work(struct work *w, int threads)
{
    const struct fit_layout *l = &w->ds->layout;
    const struct fit_maps *m = w->maps;
    const size_t sums = 2 * l->ntime;
    w->age = fit_take(&w->storage, files_of(w->ds) * sums, sizeof *w->age);
    for (size_t g = 0; w->age && w->k->space == FIT_PAIRS && g < m->ngroup; g++) {
        const size_t ntime = fit_dataset_group_time(w->ds, g).ntime, f = w->ds->files ? w->ds->files->of[g] : 0;
        for (size_t k = 0; k < sums; k++) /* of frames that the file lacks: the last range */
            w->age[f * sums + k] = (unsigned char)(k < 2 * ntime ? k * FIT_MAPS_AGES / (2 * ntime) : FIT_MAPS_AGES - 1);
    }
    while ((size_t)1 << w->shift < m->bin)
        w->shift++;
    FIT_TAKE_DOUBLES(&w->storage, w->k->workspace(l), &w->ws);
    FIT_TAKE_DOUBLES(&w->storage, m->ngroup * w->k->nlinear, &w->lin);
    allocate_sums(w);
    allocate_tiles(w, threads);
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
    if ((st = one_pass(&w, threads, err)) != FIT_OK)
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
