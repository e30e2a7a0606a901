/* dataset.c -- measured values divided into tiles, in the order in which kernels read them.
 *
 * Takes the geometry of a two-time experiment and one matrix per group, or the columns of a table. Gives struct
 * fit_dataset, read-only after fit_dataset_finish().
 *
 * Pairs. With nframe used frames, columns are divided into panels of `panel` (a multiple of 8) and rows into chunks of
 * `chunk`. Tiles are ordered by chunk, then by panel, because files store matrices row by row; a tile exists when it
 * contains a pair i < j. Row i of the tile [i0, i1) x [j0, j1) starts at block max(j0, i+1) / 8 and ends before block
 * ceil(j1 / 8); each block holds 8 lanes for every group in turn. i1 <= j1 - 1, so every row of a tile contains a pair.
 *
 * The offset of (i, j, g) needs the number of blocks in the rows above i. With S(n) = sum_{k<n} floor(k/8) = 4 m (m -
 * 1) + r m, n = 8 m + r, that number is a difference of S: no loop.
 *
 * Storage is one anonymous mapping (zero pages until written), aligned to 2 MiB for huge pages. Pages are touched first
 * by the thread that has the tile under a static schedule over tiles.
 *
 * Sums: per tile and group, lane by lane in stream order, then the 8 lanes in a fixed tree. Nothing depends on the
 * number of threads.
 */
#define _DEFAULT_SOURCE
#include "base/arena.h"
#include "data/dataset_impl.h"
#include "data/file_times.h"
#include "data/share.h"
#include "data/stream.h"
#include "machine/pages.h"
#include "machine/team.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define L FIT_LANES

enum {
    TABLE_BYTES =
        24 * 1024, /* table lines of a panel: they share a first-level cache of 32 KiB or more */
    PANEL_MIN = 64, /* shorter pieces of a row cost more than lines that miss that cache (measured) */
    PANEL_MAX = 256,
    CHUNK_MIN = 32,
    CHUNK_MAX = 256,
    TILE_VALUES = 100000, /* target number of values per tile: long compared with the cost of handing out work */
    TILES_WANTED = 16,    /* minimum number of tiles for FRAMES_SPLIT frames and more: work for a few threads */
    FRAMES_SPLIT = 100,
    PAGE_DOUBLES = 512,
    SMALLEST = 16 /* no panel or chunk below this for small data, or when they are split further */
};

/* ---- storage --------------------------------------------------------------------------------- */

enum fit_status fit_dataset_block_new(struct fit_pages *b, size_t ndouble, struct fit_error *err)
{
    if (fit_pages_new(b, ndouble))
        return FIT_OK;
    if (ndouble > (SIZE_MAX >> 5))
        return fit_fail(err, FIT_ERR_MEMORY, "data: %zu values are more than memory can address", ndouble);
    return fit_fail(err, FIT_ERR_MEMORY, "data: no memory for the %zu MB of the upper triangle",
                    ndouble * sizeof(double) >> 20);
}

/* ---- geometry of tiles ----------------------------------------------------------------------- */

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t clamp_size(size_t v, size_t lo, size_t hi)
{
    return v < lo ? lo : v > hi ? hi : v;
}

static size_t ceil_div(size_t a, size_t b)
{
    return (a + b - 1) / b;
}

/* sum of floor(k / 8) for k < n */
static size_t sum_of_eighths(size_t n)
{
    size_t m = n / L, r = n % L;
    return m ? L / 2 * m * (m - 1) + r * m : 0;
}

/* Blocks in the rows [i0, i) of a tile whose columns are [j0, j1). */
static size_t blocks_above(size_t i0, size_t i, size_t j0, size_t j1)
{
    size_t end = ceil_div(j1, L);
    size_t full =
        i0 < j0 ? min_size(i, j0) - i0 : 0; /* rows with i + 1 <= j0 start at block j0 / 8 */
    size_t from = i0 + full;                /* the others start at block (i + 1) / 8 */
    size_t started = sum_of_eighths(i + 1) - sum_of_eighths(from + 1);
    return full * (end - j0 / L) + (i - from) * end - started;
}

static int is_rows(const struct fit_layout *l)
{
    return l->nrow > 0;
}

size_t fit_tile_doubles(const struct fit_layout *l, const struct fit_tile *t)
{
    if (is_rows(l))
        return (ceil_div(t->i1, L) - t->i0 / L) * L;
    return blocks_above(t->i0, t->i1, t->j0, t->j1) * l->ngroup * L;
}

size_t fit_tile_offset(const struct fit_layout *l, const struct fit_tile *t, size_t i, size_t j,
                       size_t g)
{
    if (is_rows(l))
        return i - t->i0 / L * L;
    size_t first = (t->j0 > i + 1 ? t->j0 : i + 1) / L;
    size_t block = blocks_above(t->i0, i, t->j0, t->j1) + (j / L - first);
    return (block * l->ngroup + g) * L + j % L;
}

static size_t count_tiles(size_t n, size_t panel, size_t chunk)
{
    size_t count = 0;
    for (size_t j0 = 0; j0 < n; j0 += panel) {
        size_t j1 = min_size(j0 + panel, n);
        count += ceil_div(j1 - 1, chunk);
    }
    return count;
}

/* Widths that keep a panel's table lines in the first-level cache and make tiles of TILE_VALUES values; small data
 * are divided further so that several threads have work. */
static void choose_tiles(struct fit_layout *l, size_t table_doubles)
{
    size_t per_column = l->ngroup * (table_doubles ? table_doubles : 1) * sizeof(double);
    size_t least = l->nframe >= FRAMES_SPLIT ? PANEL_MIN : SMALLEST; /* few frames: pieces to be shared out */
    size_t panel = clamp_size(TABLE_BYTES / per_column / L * L, least, PANEL_MAX);
    size_t chunk = clamp_size(TILE_VALUES / (panel * l->ngroup) / L * L, CHUNK_MIN, CHUNK_MAX);
    while (l->nframe >= FRAMES_SPLIT && count_tiles(l->nframe, panel, chunk) < TILES_WANTED &&
           (panel > SMALLEST || chunk > SMALLEST)) {
        if (panel > chunk)
            panel = clamp_size(panel / 2 / L * L, SMALLEST, panel);
        else
            chunk = clamp_size(chunk / 2 / L * L, SMALLEST, chunk);
    }
    l->panel = panel;
    l->chunk = chunk;
}

size_t fit_dataset_tile_rows(size_t ngroup)
{
    return clamp_size(TILE_VALUES / (SMALLEST * ngroup) / L * L, CHUNK_MIN, CHUNK_MAX);
}

static enum fit_status make_pair_tiles(struct fit_dataset *ds, struct fit_error *err)
{
    struct fit_layout *l = &ds->layout;
    struct fit_dataset_private *p = ds->private_;
    size_t nrow = ceil_div(l->nframe - 1, l->chunk), k = 0;
    ds->ntile = count_tiles(l->nframe, l->panel, l->chunk);
    ds->tile = fit_take(&p->storage, ds->ntile, sizeof *ds->tile);
    p->offset = fit_take(&p->storage, ds->ntile, sizeof *p->offset);
    p->row_first = fit_take(&p->storage, nrow, sizeof *p->row_first);
    p->sum = fit_take(&p->storage, ds->ntile * l->ngroup * 3, sizeof *p->sum);
    if (p->storage.failed)
        return fit_no_memory(err, "data");
    for (size_t c = 0; c < nrow; c++) {
        size_t i0 = c * l->chunk;
        p->row_first[c] = k;
        for (size_t j0 = (i0 + 1) / l->panel * l->panel; j0 < l->nframe; j0 += l->panel, k++) {
            size_t j1 = min_size(j0 + l->panel, l->nframe), n;
            ds->tile[k] = (struct fit_tile){
                .i0 = i0, .i1 = min_size(i0 + l->chunk, j1 - 1), .j0 = j0, .j1 = j1};
            p->offset[k] = p->ndouble;
            p->ndouble += n = fit_tile_doubles(l, &ds->tile[k]);
            p->largest = n > p->largest ? n : p->largest;
        }
    }
    ds->last = ds->ntile;
    return FIT_OK;
}

void fit_dataset_point_tiles(struct fit_dataset *ds)
{
    struct fit_dataset_private *p = ds->private_;
    for (size_t k = 0; k < ds->ntile; k++) {
        const int here = k >= ds->first && k < ds->last;
        ds->tile[k].y = here && p->y.data ? p->y.data + p->offset[k] : NULL;
        ds->tile[k].w = here && p->w.data ? p->w.data + p->offset[k] : NULL;
        ds->tile[k].sum = p->sum + k * ds->layout.ngroup * 3;
    }
    ds->bytes = p->y.data ? p->ndouble * sizeof(double) * (p->w.data ? 2 : 1) : 0;
}

static const struct fit_team everyone = {FIT_TEAM_ALL, FIT_TEAM_SHARE};

static void touch_pages(void *user, size_t k, size_t thread)
{
    const struct fit_dataset *ds = user;
    const struct fit_dataset_private *p = ds->private_;
    const size_t at = ds->first + k, to = at + 1 < ds->last ? p->offset[at + 1] : p->ndouble;
    (void)thread;
    for (size_t o = p->offset[at]; o < to; o += PAGE_DOUBLES) {
        p->y.data[o] = 0;
        if (p->w.data)
            p->w.data[o] = 0;
    }
}

void fit_dataset_touch(struct fit_dataset *ds)
{
    fit_team_run(everyone, ds->last - ds->first, touch_pages, ds);
}

/* ---- making and freeing ---------------------------------------------------------------------- */

struct fit_dataset *fit_dataset_alloc(size_t ngroup)
{
    struct fit_dataset *ds = calloc(1, sizeof *ds);
    struct fit_dataset_private *p = calloc(1, sizeof *p);
    if (!ds || !p) {
        free(ds);
        free(p);
        return NULL;
    }
    ds->private_ = p;
    ds->reference = fit_take(&p->storage, ngroup, sizeof *ds->reference);
    ds->npoint_group = fit_take(&p->storage, ngroup, sizeof *ds->npoint_group);
    p->put = fit_take(&p->storage, ngroup, sizeof *p->put);
    if (p->storage.failed) {
        fit_dataset_free(ds);
        return NULL;
    }
    ds->layout.ngroup = ngroup;
    return ds;
}

void fit_dataset_free(struct fit_dataset *ds)
{
    if (!ds)
        return;
    struct fit_dataset_private *p = ds->private_;
    fit_pages_free(&p->y);
    fit_pages_free(&p->w);
    fit_stream_free(p->stream);
    fit_arena_free(&p->storage);
    free(p);
    free(ds);
}

static enum fit_status check_pairs(const struct fit_dataset_pairs *s, struct fit_error *err)
{
    if (s->ngroup == 0)
        return fit_fail(err, FIT_ERR_DATA, "data: no group (matrix); at least one is needed");
    if (s->ntime < 2 || s->ntime > UINT32_MAX)
        return fit_fail(err, FIT_ERR_DATA, "data: %zu frames; at least 2 are needed", s->ntime);
    for (size_t i = 0; i < s->ntime; i++) {
        if (!isfinite(s->time[i]))
            return fit_fail(err, FIT_ERR_DATA, "data: time of frame %zu is %g", i + 1, s->time[i]);
        if (i && !(s->time[i] > s->time[i - 1]))
            return fit_fail(err, FIT_ERR_DATA,
                            "data: times must increase: frame %zu has %.9g s, frame %zu has %.9g s",
                            i, s->time[i - 1], i + 1, s->time[i]);
    }
    if (!(s->step > 0) || !isfinite(s->step))
        return fit_fail(err, FIT_ERR_DATA, "data: frame period is %g s; it must be positive",
                        s->step);
    if (s->frame && s->nframe) {
        if (s->nframe < 2)
            return fit_fail(err, FIT_ERR_DATA, "data: 1 used frame; at least 2 are needed");
        for (size_t i = 0; i < s->nframe; i++)
            if (s->frame[i] >= s->ntime || (i && s->frame[i] <= s->frame[i - 1]))
                return fit_fail(
                    err, FIT_ERR_INTERNAL,
                    "data: list of used frames is not increasing below %zu at position %zu",
                    s->ntime, i);
    }
    return FIT_OK;
}

/* Copies the geometry into the dataset; pointers of the layout refer to the copies. */
static enum fit_status copy_geometry(struct fit_dataset *ds, const struct fit_dataset_pairs *s,
                                     struct fit_error *err)
{
    struct fit_dataset_private *p = ds->private_;
    struct fit_layout *l = &ds->layout;
    int all = !s->frame || !s->nframe;
    l->ntime = s->ntime;
    l->step = s->step;
    l->nframe = all ? s->ntime : s->nframe;
    p->nsetting = s->nsetting;
    p->naxis = s->naxis;
    p->time = fit_take_copy(&p->storage, s->time, s->ntime, sizeof *p->time);
    p->setting = fit_take_copy(&p->storage, s->setting, s->nsetting, sizeof *p->setting);
    p->frame = fit_take_copy(&p->storage, all ? NULL : s->frame, l->nframe, sizeof *p->frame);
    p->coord = fit_take(&p->storage, s->naxis, sizeof *p->coord);
    for (size_t a = 0; p->coord && a < s->naxis; a++)
        p->coord[a] = fit_take_copy(&p->storage, s->coord[a], s->ngroup, sizeof **p->coord);
    if (p->storage.failed)
        return fit_no_memory(err, "data");
    if (all)
        for (size_t i = 0; i < l->nframe; i++)
            p->frame[i] = (uint32_t)i;
    p->contiguous = p->frame[l->nframe - 1] - p->frame[0] == l->nframe - 1;
    p->center = s->center;
    p->table_doubles = s->table_doubles;
    l->time = p->time;
    l->setting = p->setting;
    l->frame = p->frame;
    l->coord = (const double *const *)p->coord;
    return FIT_OK;
}

enum fit_status fit_dataset_new_pairs(const struct fit_dataset_pairs *spec,
                                      struct fit_dataset **out, struct fit_error *err)
{
    enum fit_status st = check_pairs(spec, err);
    *out = NULL;
    if (st != FIT_OK)
        return st;
    struct fit_dataset *ds = fit_dataset_alloc(spec->ngroup);
    if (!ds)
        return fit_no_memory(err, "data");
    if ((st = copy_geometry(ds, spec, err)) != FIT_OK)
        goto done;
    choose_tiles(&ds->layout, spec->table_doubles);
    if ((st = make_pair_tiles(ds, err)) != FIT_OK)
        goto done;
    ds->common = spec->common;
    if (spec->common && (st = fit_share_begin(ds, err)) != FIT_OK)
        goto done;
    if (spec->divided && !spec->streamed)
        fit_dataset_divide(ds);
    if (!spec->streamed &&
        (st = fit_dataset_block_new(&ds->private_->y, ds->private_->ndouble, err)) != FIT_OK)
        goto done;
    if (!spec->streamed && ds->layout.nframe < FIT_FRAMES_PARALLEL) /* else the threads of fit_dataset_put do it */
        fit_dataset_touch(ds);
    fit_dataset_point_tiles(ds);
done:
    if (st == FIT_OK)
        *out = ds;
    else
        fit_dataset_free(ds);
    return st;
}

/* ---- finishing ------------------------------------------------------------------------------- */

/* Adds 8 lanes in a fixed tree. */
static double add_lanes(const double v[L])
{
    return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

size_t fit_tile_sum(const struct fit_layout *l, const struct fit_tile *t, size_t g, double out[3])
{
    double s0[L] = {0}, s1[L] = {0}, s2[L] = {0};
    size_t stride = is_rows(l) ? L : l->ngroup * L, at = is_rows(l) ? 0 : g * L, count = 0;
    size_t i1 = is_rows(l) && t->group != g ? t->i0 : t->i1;
    for (size_t i = t->i0; i < i1; i = is_rows(l) ? (i / L + 1) * L : i + 1) {
        size_t b = is_rows(l) ? i / L : (t->j0 > i + 1 ? t->j0 : i + 1) / L;
        size_t end = is_rows(l) ? b + 1 : ceil_div(t->j1, L);
        size_t from = is_rows(l) ? t->i0 : i + 1, to = is_rows(l) ? t->i1 : t->j1;
        for (; b < end; b++, at += stride) {
            for (size_t lane = 0; lane < L; lane++) {
                size_t j = b * L + lane;
                double w = j < from || j >= to ? 0 : t->w ? t->w[at + lane] : 1;
                double y = t->y[at + lane];
                s0[lane] += w;
                s1[lane] += w * y;
                s2[lane] += w * y * y;
                count += w > 0;
            }
        }
    }
    out[0] = add_lanes(s0);
    out[1] = add_lanes(s1);
    out[2] = add_lanes(s2);
    return count;
}

struct summing {
    const struct fit_dataset *ds;
    size_t *count;           /* ntile x ngroup */
    struct fit_range *range; /* the same */
};

static void sum_groups(void *user, size_t k, const struct fit_tile *t)
{
    struct summing *s = user;
    size_t ngroup = s->ds->layout.ngroup;
    for (size_t g = 0; g < ngroup; g++) {
        struct fit_range *r = &s->range[k * ngroup + g];
        s->count[k * ngroup + g] =
            fit_tile_sum(&s->ds->layout, t, g, s->ds->private_->sum + (k * ngroup + g) * 3);
        *r = (struct fit_range){INFINITY, -INFINITY};
        fit_tile_range(&s->ds->layout, t, g, r);
    }
}

/* Pairs of the frames that the files have. */
static size_t pairs_possible(const struct fit_dataset *ds)
{
    size_t sum = 0;
    for (size_t g = 0; g < ds->layout.ngroup; g++) {
        const size_t n = fit_dataset_group_frames(ds, g);
        sum += n ? n * (n - 1) / 2 : 0;
    }
    return sum;
}

/* Counts and ranges of the groups, from those of their tiles. */
static enum fit_status add_tiles(struct fit_dataset *ds, const size_t *count, const struct fit_range *range,
                                 struct fit_error *err)
{
    const struct fit_layout *l = &ds->layout;
    enum fit_status st = FIT_OK;
    const size_t possible = is_rows(l) ? ds->nrow : pairs_possible(ds);
    ds->npoint = 0;
    for (size_t g = 0; g < l->ngroup; g++) {
        struct fit_range *r = &ds->range[g];
        ds->npoint_group[g] = 0;
        *r = (struct fit_range){INFINITY, -INFINITY};
        for (size_t k = 0; k < ds->ntile; k++) {
            const struct fit_range *t = &range[k * l->ngroup + g];
            ds->npoint_group[g] += count[k * l->ngroup + g];
            *r = (struct fit_range){fmin(r->low, t->low), fmax(r->high, t->high)};
        }
        ds->npoint += ds->npoint_group[g];
        if (!ds->npoint_group[g] && st == FIT_OK)
            st = fit_fail(err, FIT_ERR_DATA, "data: matrix %zu of %zu holds no finite value", g + 1,
                          l->ngroup);
    }
    ds->ndropped = possible - ds->npoint;
    return st;
}

static atomic_ulong stamps;

enum fit_status fit_dataset_finish(struct fit_dataset *ds, struct fit_error *err)
{
    FIT_SCRATCH(a);
    const struct fit_layout *l = &ds->layout;
    size_t *count = fit_take(&a, ds->ntile * l->ngroup, sizeof *count);
    struct fit_range *range = fit_take(&a, ds->ntile * l->ngroup, sizeof *range);
    enum fit_status st = FIT_OK;
    if (!ds->range)
        ds->range = fit_take(&ds->private_->storage, l->ngroup, sizeof *ds->range);
    if (a.failed || !ds->range)
        return fit_no_memory(err, "data");
    for (size_t g = 0; g < l->ngroup && !is_rows(l); g++)
        if (!ds->private_->put[g])
            return fit_fail(err, FIT_ERR_INTERNAL, "data: matrix %zu of %zu was never put", g + 1, l->ngroup);
    if ((st = fit_dataset_each(ds, sum_groups, &(struct summing){ds, count, range}, err)) != FIT_OK ||
        (st = fit_share_sums(ds, ds->private_->sum, count, range, err)) != FIT_OK)
        return st;
    st = add_tiles(ds, count, range, err);
    ds->private_->finished = 1;
    ds->stamp = 1 + atomic_fetch_add(&stamps, 1);
    return st;
}

/* ---- thinned copies, single groups ------------------------------------------------------------- */

const struct fit_tile *fit_dataset_tile_of(const struct fit_dataset *ds, size_t i, size_t j)
{
    const struct fit_layout *l = &ds->layout;
    size_t c = i / l->chunk, first = (c * l->chunk + 1) / l->panel;
    return &ds->tile[ds->private_->row_first[c] + j / l->panel - first];
}

struct thinning {
    const struct fit_dataset *from;
    struct fit_dataset *to;
    const uint32_t *pick; /* used frames that are taken, increasing */
    size_t n, group;      /* how many; the first group that is taken */
};

/* The first of the picked frames at or after `frame`. */
static size_t pick_from(const struct thinning *x, size_t frame)
{
    size_t lo = 0, hi = x->n;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (x->pick[mid] < frame)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Copies what the thinned dataset needs from tile s of the full one. */
static void thin_tile(void *user, size_t k, const struct fit_tile *s)
{
    const struct thinning *x = user;
    const struct fit_layout *l = &x->to->layout;
    const struct fit_dataset_private *p = x->to->private_;
    (void)k;
    for (size_t i = pick_from(x, s->i0); i < x->n && x->pick[i] < s->i1; i++)
        for (size_t j = pick_from(x, s->j0 > x->pick[i] ? s->j0 : x->pick[i] + 1); j < x->n && x->pick[j] < s->j1;
             j++) {
            const struct fit_tile *t = fit_dataset_tile_of(x->to, i, j);
            size_t a = fit_tile_offset(&x->from->layout, s, x->pick[i], x->pick[j], x->group);
            size_t b = p->offset[t - x->to->tile] + fit_tile_offset(l, t, i, j, 0);
            for (size_t g = 0; g < l->ngroup; g++) {
                p->y.data[b + g * L] = s->y[a + g * L];
                if (p->w.data)
                    p->w.data[b + g * L] = s->w[a + g * L];
            }
        }
}

/* Copies the values of the picked frames of ds into thin. */
static enum fit_status fill_part(struct fit_dataset *thin, const struct fit_dataset *ds, size_t n, const uint32_t *pick,
                                 size_t group, struct fit_error *err)
{
    const struct fit_dataset_private *p = ds->private_;
    const size_t ngroup = thin->layout.ngroup;
    enum fit_status st = FIT_OK;
    if ((p->w.data || p->stream_weights) && (st = fit_dataset_need_weights(thin, err)) != FIT_OK)
        return st;
    memcpy(thin->reference, ds->reference + group, ngroup * sizeof *thin->reference);
    memset(thin->private_->put, 1, ngroup);
    thin->weighted = ds->weighted;
    if (fit_dataset_shared(ds) && thin->private_->w.data)
        memset(thin->private_->w.data, 0, thin->private_->ndouble * sizeof(double));
    st = fit_dataset_each(ds, thin_tile, &(struct thinning){ds, thin, pick, n, group}, err);
    if (st == FIT_OK && fit_dataset_shared(ds))
        fit_share_add(thin->private_);
    if (st == FIT_OK)
        st = fit_dataset_finish(thin, err);
    return st;
}

/* The n picked frames of groups [group, group + ngroup). */
static enum fit_status take_part(const struct fit_dataset *ds, size_t n, const uint32_t *pick, size_t group,
                                 size_t ngroup, struct fit_dataset **part, struct fit_error *err)
{
    const struct fit_layout *l = &ds->layout;
    const struct fit_dataset_private *p = ds->private_;
    struct fit_dataset *thin = NULL;
    FIT_SCRATCH(scratch);
    uint32_t *frame = fit_take(&scratch, n, sizeof *frame);
    const double **coord = fit_take(&scratch, p->naxis, sizeof *coord);
    if (scratch.failed)
        return fit_no_memory(err, "data");
    for (size_t i = 0; i < n; i++)
        frame[i] = l->frame[pick[i]];
    for (size_t a = 0; a < p->naxis; a++)
        coord[a] = l->coord[a] + group;
    struct fit_dataset_pairs spec = {.ntime = l->ntime,
                                     .time = l->time,
                                     .step = l->step,
                                     .nframe = n,
                                     .frame = frame,
                                     .ngroup = ngroup,
                                     .naxis = p->naxis,
                                     .nsetting = p->nsetting,
                                     .coord = coord,
                                     .setting = l->setting,
                                     .center = p->center,
                                     .table_doubles = p->table_doubles};
    enum fit_status st = fit_dataset_new_pairs(&spec, &thin, err);
    if (st == FIT_OK)
        st = fill_part(thin, ds, n, pick, group, err);
    if (st != FIT_OK)
        fit_dataset_free(thin);
    *part = st == FIT_OK ? thin : NULL;
    return st;
}

enum fit_status fit_dataset_coarse(const struct fit_dataset *ds, size_t n, const uint32_t *pick,
                                   struct fit_dataset **coarse, struct fit_error *err)
{
    const struct fit_layout *l = &ds->layout;
    int ordered = n >= 2;
    for (size_t k = 0; k < n && ordered; k++)
        ordered = pick[k] < l->nframe && (k == 0 || pick[k] > pick[k - 1]);
    *coarse = NULL;
    if (is_rows(l) || !ordered)
        return fit_fail(err, FIT_ERR_USAGE, "data: no %zu increasing ones of %zu frames", n, l->nframe);
    enum fit_status st = take_part(ds, n, pick, 0, l->ngroup, coarse, err);
    if (st == FIT_OK)
        (*coarse)->layout.context = l->context;
    if (st == FIT_OK)
        (*coarse)->files = ds->files;
    return st;
}

enum fit_status fit_dataset_group(const struct fit_dataset *ds, size_t g, struct fit_dataset **one,
                                  struct fit_error *err)
{
    size_t n = ds->layout.nframe;
    *one = NULL;
    if (is_rows(&ds->layout))
        return fit_dataset_group_rows(ds, g, one, err);
    FIT_SCRATCH(a);
    uint32_t *all = fit_take(&a, n, sizeof *all);
    if (!all)
        return fit_no_memory(err, "data");
    for (size_t k = 0; k < n; k++)
        all[k] = (uint32_t)k;
    return take_part(ds, n, all, g, 1, one, err);
}
