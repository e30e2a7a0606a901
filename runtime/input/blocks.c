/* blocks.c -- loads matrices that are too large to be held one by one, or that stay in their file.
 *
 * The first pass determines which half of each matrix holds data (as source.c does, from the same rows). The second
 * pass, over i < j in blocks of rows, finds blank frames, means over diagonals, mean and number of the values that
 * count; the sums have the order of measurement.c and dataset.c, and therefore the same bits. Then the dataset reads
 * its values by tiles, once or in every pass.
 *
 * Where every matrix can be read by itself, the ranks of a run and their threads share the matrices, and each rank
 * sends its findings to all. Where all matrices are interleaved, the threads share the groups of each block.
 */
#include "input/measurement_impl.h"

#include "base/clock.h"
#include "data/dataset_impl.h"
#include "data/stream.h"
#include "input/source_impl.h"
#include "machine/team.h"
#include "ranks/ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_BYTES ((size_t)8 << 20)
#define CHUNKS_MOST ((size_t)512 << 20) /* upper limit, even where a row needs more */

/* The findings about one matrix. */
struct look {
    double *row, *column; /* probes */
    double *g2;           /* file_frames, or NULL */
    unsigned char *alive; /* ntime */
    double *sum;          /* ntime: of the row's values that count */
    size_t *count;        /* ntime */
};

struct blocks {
    struct loading *l;
    struct fit_plane *y, *sigma; /* sigma NULL: no errors in the file */
    struct look *look;
    double *given; /* ngroup, or NULL: one error for each matrix */
    double *mean;
    size_t *bad;
    unsigned char *used; /* ntime */
    struct fit_arena storage;
};

/* ---- all rows, block by block ---------------------------------------------------------------- */

/* A block of matrix g; sigma is NULL when there is none. */
typedef void visit(struct blocks *b, size_t g, const struct fit_rect *box, const struct fit_view *y,
                   const struct fit_view *sigma);

struct sweep {
    struct blocks *b;
    const struct fit_plane *y, *sigma; /* ngroup each */
    visit *fn;
    size_t from, to; /* rows */
    int upper;       /* only columns from the block's first row on */
    size_t right;    /* end of the columns */
};

static size_t box_bytes(const struct fit_plane *p, const struct fit_rect *box)
{
    return (box->r1 - box->r0) * (box->c1 - box->c0) * fit_plane_together(p) *
           fit_h5_raw_item(p->raw);
}

static struct fit_rect block_at(const struct sweep *s, size_t row)
{
    size_t left = s->upper ? row : 0;
    size_t one = (s->right - left) * fit_plane_together(&s->y[0]) * fit_h5_raw_item(s->y[0].raw);
    size_t rows = BLOCK_BYTES / (one ? one : 1), most = s->to - row;
    rows = rows < 1 ? 1 : rows < most ? rows : most;
    return (struct fit_rect){row, row + rows, left, s->right};
}

static enum fit_status read_box(const struct fit_plane *p, const struct fit_rect *box, void **bytes,
                                struct fit_error *err)
{
    free(*bytes);
    *bytes = malloc(box_bytes(p, box));
    return *bytes ? fit_plane_read(p, box, *bytes, err) : fit_no_memory(err, "data");
}

/* The current block of rows. */
struct block {
    const struct sweep *s;
    const struct fit_rect *box;
    const void *y, *e;
};

static void visit_group(void *user, size_t g, size_t thread)
{
    const struct block *t = user;
    const struct sweep *s = t->s;
    struct fit_view v = fit_plane_view(&s->y[g], t->box, t->y), w = {0};
    (void)thread;
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_DECODE);
    if (s->sigma)
        w = fit_plane_view(&s->sigma[g], t->box, t->e);
    s->fn(s->b, g, t->box, &v, s->sigma ? &w : NULL);
    fit_clock_enter(was);
}

static enum fit_status sweep_one(const struct sweep *s, size_t g, struct fit_error *err)
{
    void *y = NULL, *e = NULL;
    enum fit_status st = FIT_OK;
    for (size_t r = s->from; r < s->to && st == FIT_OK;) {
        struct fit_rect box = block_at(s, r);
        st = read_box(&s->y[g], &box, &y, err);
        if (st == FIT_OK && s->sigma)
            st = read_box(&s->sigma[g], &box, &e, err);
        if (st == FIT_OK) {
            struct block t = {s, &box, y, e};
            visit_group(&t, g, 0);
        }
        r = box.r1;
    }
    free(y);
    free(e);
    return st;
}

/* The index of matrices comes last: a block is read once for all. */
static enum fit_status sweep_together(const struct sweep *s, struct fit_error *err)
{
    size_t ngroup = s->b->l->m->ngroup;
    void *y = NULL, *e = NULL;
    enum fit_status st = FIT_OK;
    for (size_t r = s->from; r < s->to && st == FIT_OK;) {
        struct fit_rect box = block_at(s, r);
        st = read_box(&s->y[0], &box, &y, err);
        if (st == FIT_OK && s->sigma)
            st = read_box(&s->sigma[0], &box, &e, err);
        struct block t = {s, &box, y, e};
        if (st == FIT_OK)
            fit_team_run((struct fit_team){FIT_TEAM_ALL, FIT_TEAM_NEXT}, ngroup, visit_group, &t);
        r = box.r1;
    }
    free(y);
    free(e);
    return st;
}

struct apart {
    const struct sweep *s;
    struct fit_error *why; /* ngroup */
    unsigned char *mine;   /* ngroup: 1: of this rank */
};

/* The rank that reads matrix g; this one, where ranks do not meet. */
static size_t looker(size_t g)
{
    return fit_ranks_shared() ? g % fit_ranks_size() : fit_ranks_rank();
}

static void sweep_turn(void *user, size_t g, size_t thread)
{
    const struct apart *a = user;
    (void)thread;
    if (a->mine[g])
        sweep_one(a->s, g, &a->why[g]);
}

static int is_together(const struct sweep *s)
{
    return s->y[0].last && (!s->sigma || s->sigma[0].last || s->sigma[0].total == 1);
}

/* The first error in the order of the groups is the one reported. */
static enum fit_status sweep(const struct sweep *s, struct fit_error *err)
{
    size_t ngroup = s->b->l->m->ngroup;
    if (is_together(s))
        return sweep_together(s, err);
    FIT_SCRATCH(room);
    struct fit_error *why = fit_take(&room, ngroup, sizeof *why);
    struct apart all = {s, why, fit_take(&room, ngroup, 1)};
    if (room.failed)
        return fit_no_memory(err, "data");
    for (size_t g = 0; g < ngroup; g++)
        all.mine[g] = looker(g) == fit_ranks_rank();
    fit_team_run((struct fit_team){FIT_TEAM_ALL, FIT_TEAM_NEXT}, ngroup, sweep_turn, &all);
    enum fit_status st = FIT_OK;
    for (size_t g = 0; g < ngroup && st == FIT_OK; g++)
        if (why[g].status != FIT_OK)
            st = fit_fail(err, why[g].status, "%s", why[g].message);
    return fit_ranks_agree_status(st, err);
}

/* ---- which half ------------------------------------------------------------------------------ */

static void keep_probes(struct blocks *b, size_t g, const struct fit_rect *box,
                        const struct fit_view *v, const struct fit_view *sigma)
{
    const struct fit_source *s = b->l->src;
    struct look *k = &b->look[g];
    (void)sigma;
    for (size_t p = 0; p < fit_source_probes(s); p++) {
        size_t i = fit_source_probe(s, p), n = s->nframe;
        for (size_t r = box->r0; r < box->r1; r++)
            k->column[p * n + r] = fit_view_get(v, r - box->r0, i);
        for (size_t c = 0; i >= box->r0 && i < box->r1 && c < n; c++)
            k->row[p * n + c] = fit_view_get(v, i - box->r0, c);
    }
}

static enum fit_status find_halves(struct blocks *b, struct fit_plane *plane, struct fit_error *err)
{
    struct loading *l = b->l;
    size_t n = l->m->file_frames, ngroup = l->m->ngroup, size = fit_source_probes(l->src) * n;
    FIT_SCRATCH(a);
    struct fit_plane *raw = fit_take_copy(&a, plane, ngroup, sizeof *raw);
    for (size_t g = 0; g < ngroup && raw; g++) {
        raw[g].baseline = 0;
        FIT_TAKE_DOUBLES(&a, size, &b->look[g].row, &b->look[g].column);
    }
    if (a.failed)
        return fit_no_memory(err, "data");
    const struct sweep s = {.b = b, .y = raw, .fn = keep_probes, .to = n, .right = n};
    enum fit_status st = sweep(&s, err);
    for (size_t g = 0; g < ngroup; g++) {
        enum fit_half half = FIT_HALF_FULL;
        struct fit_probes p = {.row = b->look[g].row, .column = b->look[g].column};
        if (st == FIT_OK && (is_together(&s) || looker(g) == fit_ranks_rank()))
            st = fit_source_half(l->src, l->index[g], &p, &half, err);
        plane[g].lower = half == FIT_HALF_LOWER;
        if (!is_together(&s))
            fit_ranks_copy(looker(g), &plane[g].lower, sizeof plane[g].lower);
        b->look[g].row = b->look[g].column = NULL;
    }
    return fit_ranks_agree_status(st, err);
}

/* ---- statistics of the values ------------------------------------------------------------------ */

static void survey_row(struct blocks *b, struct look *k, size_t r, const struct fit_rect *box,
                       const struct fit_view *y, const struct fit_view *sigma)
{
    size_t first = b->l->row, n = b->l->m->ntime, at = r - box->r0;
    if (r < first || r >= first + n)
        return;
    size_t i = r - first, count = k->count[i];
    double sum = k->sum[i];
    int lives = k->alive[i], used = b->used[i];
    for (size_t j = i + 1; j < n; j++) {
        size_t c = j + first - box->c0;
        double v = fit_view_get(y, at, c);
        if (v > 0 && isfinite(v))
            lives = k->alive[j] = 1;
        if (!used || !b->used[j])
            continue;
        double e = sigma ? fit_view_get(sigma, at, c) : 0;
        if (fit_dataset_counts(v, sigma ? &e : NULL, 0)) {
            sum += v;
            count++;
        }
    }
    k->alive[i] = (unsigned char)lives;
    k->sum[i] = sum;
    k->count[i] = count;
}

static void survey_block(struct blocks *b, size_t g, const struct fit_rect *box,
                         const struct fit_view *y, const struct fit_view *sigma)
{
    struct look *k = &b->look[g];
    for (size_t r = box->r0; r < box->r1; r++) {
        for (size_t c = r; k->g2 && c < box->c1; c++)
            k->g2[c - r] += fit_view_get(y, r - box->r0, c - box->c0);
        survey_row(b, k, r, box, y, sigma);
    }
}

/* Sends the findings of each rank in its matrices to all. */
static void tell(const struct blocks *b)
{
    const struct fit_measurement *m = b->l->m;
    for (size_t g = 0; fit_ranks_shared() && g < m->ngroup; g++) {
        const struct look *k = &b->look[g];
        fit_ranks_copy(looker(g), k->alive, m->ntime);
        fit_ranks_copy(looker(g), k->sum, m->ntime * sizeof *k->sum);
        fit_ranks_copy(looker(g), k->count, m->ntime * sizeof *k->count);
        if (k->g2)
            fit_ranks_copy(looker(g), k->g2, m->file_frames * sizeof *k->g2);
    }
}

static enum fit_status survey(struct blocks *b, int means, struct fit_error *err)
{
    struct loading *l = b->l;
    const struct fit_measurement *m = l->m;
    size_t n = m->file_frames;
    memset(b->used, 0, m->ntime);
    for (size_t i = 0; i < m->nframe; i++)
        b->used[l->frame[i]] = 1;
    for (size_t g = 0; g < m->ngroup; g++) {
        struct look *k = &b->look[g];
        memset(k->alive, 0, m->ntime);
        memset(k->sum, 0, m->ntime * sizeof *k->sum);
        memset(k->count, 0, m->ntime * sizeof *k->count);
        free(k->g2);
        k->g2 = means ? calloc(n, sizeof *k->g2) : NULL;
        if (means && !k->g2)
            return fit_no_memory(err, "data");
    }
    const struct sweep s = {.b = b,
                            .y = b->y,
                            .sigma = b->sigma,
                            .fn = survey_block,
                            .from = means ? 0 : l->row,
                            .to = means ? n : l->row + m->ntime,
                            .right = means ? n : l->row + m->ntime,
                            .upper = 1};
    const enum fit_status st = sweep(&s, err);
    if (st == FIT_OK && !is_together(&s))
        tell(b);
    return st;
}

/* Mapping of the bins and blank frames, matrix after matrix. */
static enum fit_status judge(struct blocks *b, struct fit_error *err)
{
    struct loading *l = b->l;
    size_t nfile = l->m->file_frames, n = l->m->ntime;
    for (size_t g = 0; g < l->m->ngroup; g++) {
        struct look *k = &b->look[g];
        enum fit_status st = FIT_OK;
        for (size_t lag = 0; k->g2 && lag < nfile; lag++)
            k->g2[lag] /= (double)(nfile - lag);
        if (k->g2 && (st = fit_loading_mapping(l, g, k->g2, err)) != FIT_OK)
            return st;
        for (size_t i = 0; i < n; i++)
            if (!l->out[i] && !k->alive[i]) {
                l->out[i] = 2;
                l->nblank++;
            }
        if (fit_loading_too_blank(l)) {
            for (size_t m = 0; m < l->m->ngroup; m++)
                l->dead[m] = !memchr(b->look[m].alive, 1, n);
            return fit_loading_blank(l, g, err);
        }
    }
    return FIT_OK;
}

static void conclude(struct blocks *b)
{
    const struct fit_measurement *m = b->l->m;
    size_t n = m->nframe;
    for (size_t g = 0; g < m->ngroup; g++) {
        double total = 0;
        size_t count = 0;
        for (size_t i = 0; i < n; i++) {
            total += b->look[g].sum[b->l->frame[i]];
            count += b->look[g].count[b->l->frame[i]];
        }
        b->mean[g] = count ? total / (double)count : 0;
        b->bad[g] = n * (n - 1) / 2 - count;
    }
}

static enum fit_status look_at_values(struct blocks *b, struct fit_error *err)
{
    struct loading *l = b->l;
    enum fit_status st = survey(b, fit_source_tells_g2(l->src), err);
    if (st == FIT_OK)
        st = judge(b, err);
    if (st == FIT_OK && l->nblank) { /* sums without the blank frames */
        st = fit_loading_frames(l, err);
        if (st == FIT_OK)
            st = survey(b, 0, err);
    }
    if (st == FIT_OK)
        conclude(b);
    return st;
}

/* ---- all together ---------------------------------------------------------------------------- */

static enum fit_status open_planes(struct blocks *b, struct fit_h5_raw_set *set, const char **why,
                                   struct fit_error *err)
{
    struct loading *l = b->l;
    enum fit_status st = FIT_OK;
    for (size_t g = 0; g < l->m->ngroup && st == FIT_OK && !*why; g++) {
        st = fit_source_plane(l->src, set, l->index[g], 0, &b->y[g], why, err);
        if (st == FIT_OK && !*why && b->sigma)
            st = fit_source_plane(l->src, set, l->index[g], 1, &b->sigma[g], why, err);
    }
    return st;
}

static size_t bands(const struct fit_plane *p, size_t n)
{
    size_t all = 0;
    for (size_t g = 0; p && g < (p[0].last ? 1 : n); g++)
        all += fit_plane_band(&p[g]);
    return all;
}

/* Do chunks of one row of all matrices fit into memory? NULL: they do. */
static const char *keep_chunks(const struct blocks *b, struct fit_h5_raw_set *set)
{
    size_t n = b->l->m->ngroup, need = bands(b->y, n) + bands(b->sigma, n);
    if (need > CHUNKS_MOST)
        return "its chunks are so large that one row of all matrices takes more than 512 MB";
    fit_h5_raw_keep(set, need);
    return NULL;
}

static enum fit_status allocate(struct blocks *b, struct fit_error *err)
{
    const struct fit_measurement *m = b->l->m;
    size_t n = m->ngroup;
    struct fit_arena *a = &b->storage;
    b->y = fit_take(a, n, sizeof *b->y);
    b->sigma = m->sigma_from == FIT_SIGMA_ARRAY ? fit_take(a, n, sizeof *b->sigma) : NULL;
    b->given = b->l->errors && m->sigma_from != FIT_SIGMA_ARRAY ? fit_take(a, n, sizeof *b->given) : NULL;
    b->look = fit_take(a, n, sizeof *b->look);
    b->mean = fit_take(a, n, sizeof *b->mean);
    b->bad = fit_take(a, n, sizeof *b->bad);
    b->used = fit_take(a, m->ntime, sizeof *b->used);
    for (size_t g = 0; !a->failed && g < n; g++) {
        struct look *k = &b->look[g];
        k->alive = fit_take(a, m->ntime, sizeof *k->alive);
        k->sum = fit_take(a, m->ntime, sizeof *k->sum);
        k->count = fit_take(a, m->ntime, sizeof *k->count);
        if (b->given)
            b->given[g] = m->group[g].sigma;
    }
    return a->failed ? fit_no_memory(err, "data") : FIT_OK;
}

static void release(struct blocks *b)
{
    for (size_t g = 0; b->look && g < b->l->m->ngroup; g++)
        free(b->look[g].g2);
    fit_arena_free(&b->storage);
}

enum fit_status fit_loading_blocks(struct loading *l, int streamed, const char **why,
                                   struct fit_error *err)
{
    struct blocks b = {.l = l};
    struct fit_h5_raw_set *set = NULL;
    enum fit_status st;
    *why = NULL;
    if ((st = allocate(&b, err)) != FIT_OK ||
        (st = fit_h5_raw_new(streamed ? FIT_CHUNKS_KEPT : FIT_CHUNKS_ONCE, &set, err)) != FIT_OK ||
        (st = open_planes(&b, set, why, err)) != FIT_OK || *why ||
        (*why = keep_chunks(&b, set)) != NULL)
        goto done;
    if ((!fit_source_half_known(l->src) && (st = find_halves(&b, b.y, err)) != FIT_OK) ||
        (b.sigma && (st = find_halves(&b, b.sigma, err)) != FIT_OK) ||
        (st = look_at_values(&b, err)) != FIT_OK || (st = fit_loading_dataset(l, 1, err)) != FIT_OK)
        goto done;
    const struct fit_stream_spec spec = {.set = set,
                                         .ngroup = l->m->ngroup,
                                         .y = b.y,
                                         .sigma = b.sigma,
                                         .row = l->row,
                                         .slot_bytes = l->sel->slot_bytes};
    const struct fit_dataset_seen seen = {.mean = b.mean, .bad = b.bad, .sigma = b.given};
    set = NULL; /* the stream's from now on */
    st = fit_dataset_stream(l->m->dataset, &spec, &seen, err);
    if (st == FIT_OK && !streamed)
        st = fit_dataset_fill(l->m->dataset, err);
done:
    fit_h5_raw_free(set);
    release(&b);
    return st;
}
