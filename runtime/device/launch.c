/* launch.c -- kernels for combined calls, and their results. See sums_impl.h.
 *
 * A launch has passes (fit/gpu_program.h): sums of items, then their totals in a fixed tree of FIT_GPU_THREADS leaves,
 * each a share of the items. Data that do not fit are processed in pieces, every pass over a piece while the next one
 * is being copied. Ranks, or devices of one process, that share a launch own different leaves, and finish the tree
 * together: the same bits for any number of them.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "device/driver.h"
#include "device/sums_impl.h"
#include "ranks/ranks.h"

enum { LEAVES = FIT_GPU_THREADS };

/* The first kind of a launch. */
static enum fit_gpu_kind first_kind(enum fit_device_sum what)
{
    return what == FIT_DEVICE_MOMENTS    ? FIT_GPU_MOMENTS
           : what == FIT_DEVICE_GRADIENT ? FIT_GPU_GRADIENT
                                         : FIT_GPU_NORMAL;
}

static int same_launch(enum fit_gpu_kind a, enum fit_gpu_kind b)
{
    return a == b || (a == FIT_GPU_NORMAL && b == FIT_GPU_CROSS) || (a == FIT_GPU_CROSS && b == FIT_GPU_NORMAL);
}

static int kind_of(enum fit_device_sum what, enum fit_gpu_kind kind)
{
    return same_launch(first_kind(what), kind);
}

size_t fit_launch_numbers(const struct fit_kernel *k, enum fit_gpu_kind kind)
{
    const size_t p = k->nparam, q = k->nlinear;
    return kind == FIT_GPU_MOMENTS  ? q * (q + 1) / 2 + q + 1
           : kind == FIT_GPU_NORMAL ? p * (p + 1) / 2 + p
           : kind == FIT_GPU_CROSS  ? q * p
                                    : p;
}

/* Blocks of a pass side by side for one item; rows of its totals. */
static size_t groups_of(const struct fit_device_pool *p, const struct fit_gpu_pass *x)
{
    return x->groups && p->kernel->space == FIT_PAIRS ? p->layout.ngroup : 1;
}

static size_t rows_of(const struct fit_device_pool *p, const struct fit_gpu_pass *x)
{
    return x->groups ? p->layout.ngroup : 1;
}

/* Doubles of one evaluation before pass k of a launch (k = npass: all of them): sums of items, totals. */
static size_t parts_before(const struct fit_device_pool *p, size_t k, enum fit_gpu_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < k; i++) {
        const struct fit_gpu_pass *x = &p->source->program->pass[i];
        n += same_launch(x->kind, kind) ? groups_of(p, x) * p->items.n * x->count : 0;
    }
    return n;
}

static size_t totals_before(const struct fit_device_pool *p, size_t k, enum fit_gpu_kind kind)
{
    size_t n = 0;
    for (size_t i = 0; i < k; i++) {
        const struct fit_gpu_pass *x = &p->source->program->pass[i];
        n += same_launch(x->kind, kind) ? rows_of(p, x) * x->count : 0;
    }
    return n;
}

/* The first leaf of a rank; the number of leaves for one past the last. */
static size_t leaf_of(size_t rank)
{
    return LEAVES * rank / fit_ranks_size();
}

struct fit_launch_range fit_launch_items(const struct fit_device_pool *p, int shared)
{
    const size_t begin = shared ? leaf_of(fit_ranks_rank()) : LEAVES * p->index / p->together;
    const size_t end = shared ? leaf_of(fit_ranks_rank() + 1) : LEAVES * (p->index + 1) / p->together;
    return (struct fit_launch_range){p->items.n * begin / LEAVES, p->items.n * end / LEAVES};
}

struct fit_launch_range fit_launch_tiles(const struct fit_device_pool *p, struct fit_launch_range items, size_t ntile)
{
    size_t from = 0, to = ntile;
    while (from < to && p->items.tile[from + 1] <= items.first)
        from++;
    while (to > from && p->items.tile[to - 1] >= items.end)
        to--;
    return (struct fit_launch_range){from, to};
}

/* 1: leaves are needed instead of totals, because others have some of them. */
static int wants_leaves(const struct fit_device_pool *p, int shared)
{
    return shared || p->together > 1;
}

/* ---- shapes --------------------------------------------------------------------------------------------------- */

static void shape_of(const struct fit_device_pool *p, size_t k, long shape[FIT_SHAPE_NUMBERS])
{
    const struct fit_layout *l = &p->layout;
    const enum fit_gpu_kind kind = p->source->program->pass[k].kind;
    shape[FIT_SHAPE_GROUPS] = (long)l->ngroup;
    shape[FIT_SHAPE_TIMES] = (long)l->ntime;
    shape[FIT_SHAPE_FRAMES] = (long)l->nframe;
    shape[FIT_SHAPE_ROWS] = (long)l->nrow;
    shape[FIT_SHAPE_ITEMS] = (long)p->items.n;
    shape[FIT_SHAPE_WEIGHTED] = p->weighted;
    shape[FIT_SHAPE_WS] = (long)p->nws;
    shape[FIT_SHAPE_LIN] = (long)p->nlin;
    shape[FIT_SHAPE_ADJ] = (long)p->nadj;
    shape[FIT_SHAPE_DATA] = p->shelf.nplace > 1 ? (long)p->ndata : 0;
    shape[FIT_SHAPE_FIXED] = p->shelf.nplace > 1 ? (long)p->nfixed : 0;
    shape[FIT_SHAPE_FIRST] = 0;
    shape[FIT_SHAPE_AT] = p->resident ? (long)p->items.at[p->from] : 0;
    shape[FIT_SHAPE_OUT] = kind == FIT_GPU_VALUE ? 0 : (long)parts_before(p, k, kind);
}

/* Shapes of all passes, alone or shared by ranks. */
static int put_shapes(struct fit_device_pool *p, int shared)
{
    int failed = 0;
    for (size_t k = 0; k < p->source->program->npass && !failed; k++) {
        const struct fit_gpu_pass *x = &p->source->program->pass[k];
        long shape[FIT_SHAPE_NUMBERS];
        const long total[FIT_TOTAL_NUMBERS] = {(long)p->items.n, x->groups && p->kernel->space == FIT_ROWS,
                                               (long)parts_before(p, k, x->kind), (long)totals_before(p, k, x->kind),
                                               wants_leaves(p, shared)};
        shape_of(p, k, shape);
        shape[FIT_SHAPE_FIRST] = (long)fit_launch_items(p, shared && x->kind != FIT_GPU_VALUE).first;
        failed = fit_device_write(p->shelf.d, p->shape[k].b, 0, shape, sizeof shape) != 0 ||
                 fit_device_write(p->shelf.d, p->total_shape[k].b, 0, total, sizeof total) != 0;
    }
    p->shared = shared;
    return failed ? -1 : 0;
}

int fit_launch_begin(struct fit_device_pool *p)
{
    const size_t npass = p->source->program->npass;
    int failed = 0;
    for (size_t k = 0; k < npass && !failed; k++)
        failed = fit_device_room(p->shelf.d, &p->shape[k],
                                 (FIT_SHAPE_NUMBERS + FIT_DEVICE_BATCH) * sizeof(long)) != 0 ||
                 fit_device_room(p->shelf.d, &p->total_shape[k], FIT_TOTAL_NUMBERS * sizeof(long)) != 0;
    for (size_t s = 0; s < FIT_DEVICE_SLOTS && !p->resident && !failed; s++) {
        p->slot[s].shape = calloc(npass, sizeof *p->slot[s].shape);
        p->slot[s].numbers = calloc(npass, sizeof *p->slot[s].numbers);
        failed = !p->slot[s].shape || !p->slot[s].numbers;
        for (size_t k = 0; k < npass && !failed; k++)
            failed = fit_device_room(p->shelf.d, &p->slot[s].shape[k], FIT_SHAPE_NUMBERS * sizeof(long)) != 0;
    }
    return failed || put_shapes(p, 0) != 0 ? -1 : 0;
}

/* ---- input of the calls --------------------------------------------------------------------------------------- */

static int make_room(struct fit_device_pool *p, size_t calls, size_t part, size_t total)
{
    const size_t d = sizeof(double);
    if (total > p->nstaging) {
        free(p->staging);
        p->staging = malloc(total * d);
        p->nstaging = p->staging ? total : 0;
        if (!p->staging)
            return -1;
    }
    return fit_device_room(p->shelf.d, &p->part, (part + 1) * d) != 0 ||
                   fit_device_room(p->shelf.d, &p->total, (total + 1) * d) != 0 ||
                   fit_device_room(p->shelf.d, &p->ws, calls * p->nws * d) != 0 ||
                   fit_device_room(p->shelf.d, &p->lin, (calls * p->nlin + 1) * d) != 0 ||
                   fit_device_room(p->shelf.d, &p->adj, (calls * p->nadj + 1) * d) != 0
               ? -1 : 0;
}

static int put_call(struct fit_device_pool *p, size_t e, const struct fit_device_request *r)
{
    const size_t d = sizeof(double);
    int failed = fit_device_write(p->shelf.d, p->ws.b, e * p->nws * d, r->ws, p->nws * d);
    if (!failed && r->lin)
        failed = fit_device_write(p->shelf.d, p->lin.b, e * p->nlin * d, r->lin, p->nlin * d);
    if (!failed && r->adj)
        failed = fit_device_write(p->shelf.d, p->adj.b, e * p->nadj * d, r->adj, p->nadj * d);
    return failed;
}

/* Assigns data to each evaluation. */
static int put_places(struct fit_device_pool *p, size_t k, size_t n, const long *place)
{
    return p->shelf.nplace > 1 ? fit_device_write(p->shelf.d, p->shape[k].b, FIT_SHAPE_NUMBERS * sizeof(long), place,
                                                  n * sizeof *place)
                               : 0;
}

/* ---- passes ---------------------------------------------------------------------------------------------------- */

struct job {
    struct fit_device_pool *p;
    const struct fit_dataset *ds;
    enum fit_device_sum what;
    size_t calls;
    struct fit_launch_range items;
    int shared;
};

static int run_items(const struct job *j, size_t k, size_t items, void *shape, void *y, void *w, void *out)
{
    const struct fit_device_pool *p = j->p;
    const struct fit_gpu_pass *x = &p->source->program->pass[k];
    const struct fit_device_call c = {.kernel = x->name, .plain = x->plain, .grid = {items, groups_of(p, x), j->calls},
                                      .buffer = {shape, p->item.b, p->fixed.b, p->ws.b, p->lin.b, p->adj.b, y, w, out},
                                      .nbuffer = 9};
    return fit_device_run(p->module, &c);
}

static int run_resident(const struct job *j)
{
    struct fit_device_pool *p = j->p;
    int failed = 0;
    for (size_t k = 0; k < p->source->program->npass && !failed; k++)
        if (kind_of(j->what, p->source->program->pass[k].kind))
            failed = run_items(j, k, j->items.end - j->items.first, p->shape[k].b, p->y.b, p->w.b, p->part.b);
    return failed;
}

/* Sends the values of the tiles from .. to-1 to a slot, and runs the kernels on them. */
static int run_piece(const struct job *j, size_t s, size_t from, size_t to)
{
    struct fit_device_pool *p = j->p;
    struct fit_device_slot *slot = &p->slot[s];
    const size_t d = sizeof(double), n = (p->items.at[to] - p->items.at[from]) * d;
    const size_t first = p->items.tile[from] > j->items.first ? p->items.tile[from] : j->items.first;
    const size_t end = p->items.tile[to] < j->items.end ? p->items.tile[to] : j->items.end;
    int failed = fit_device_settle(p->shelf.d, s) != 0 || fit_pool_read(p, j->ds, from, to, slot->y, slot->w) != 0 ||
                 fit_device_send(p->shelf.d, slot->y_there.b, slot->y, n) != 0 ||
                 (p->weighted && fit_device_send(p->shelf.d, slot->w_there.b, slot->w, n) != 0);
    for (size_t k = 0; k < p->source->program->npass && !failed; k++) {
        if (!kind_of(j->what, p->source->program->pass[k].kind))
            continue;
        shape_of(p, k, slot->numbers[k]);
        slot->numbers[k][FIT_SHAPE_FIRST] = (long)first;
        slot->numbers[k][FIT_SHAPE_AT] = (long)p->items.at[from];
        failed = fit_device_send(p->shelf.d, slot->shape[k].b, slot->numbers[k], sizeof slot->numbers[k]);
    }
    failed = failed || fit_device_arrive(p->shelf.d, s) != 0;
    for (size_t k = 0; k < p->source->program->npass && !failed; k++)
        if (kind_of(j->what, p->source->program->pass[k].kind))
            failed = run_items(j, k, end - first, slot->shape[k].b, slot->y_there.b, slot->w_there.b, p->part.b);
    return failed || fit_device_leave(p->shelf.d, s) != 0;
}

/* Tile after tile, as many as fit into a slot. */
static int run_pieces(const struct job *j)
{
    const struct fit_items *x = &j->p->items;
    const struct fit_launch_range own = fit_launch_tiles(j->p, j->items, j->ds->ntile);
    size_t from = own.first, last = own.end, to, s = 0;
    int failed = 0;
    if (from == last)
        return 0;
    fit_dataset_begin_share(j->ds, from, last);
    for (; from < last && !failed; from = to, s = (s + 1) % FIT_DEVICE_SLOTS) {
        for (to = from + 1; to < last && x->at[to + 1] - x->at[from] <= j->p->piece;)
            to++;
        failed = run_piece(j, s, from, to);
    }
    if (failed)
        fit_dataset_abandon(j->ds);
    fit_dataset_end(j->ds);
    for (s = 0; s < FIT_DEVICE_SLOTS; s++)
        failed |= fit_device_settle(j->p->shelf.d, s) != 0;
    return failed;
}

static int run_totals(const struct job *j)
{
    struct fit_device_pool *p = j->p;
    int failed = 0;
    for (size_t k = 0; k < p->source->program->npass && !failed; k++) {
        const struct fit_gpu_pass *x = &p->source->program->pass[k];
        const struct fit_device_call c = {.kernel = "fit_gpu_total", .grid = {x->count, rows_of(p, x), j->calls},
                                          .buffer = {p->total_shape[k].b, p->first.b, p->part.b, p->total.b},
                                          .nbuffer = 4};
        if (kind_of(j->what, x->kind))
            failed = fit_device_run(p->module, &c);
    }
    return failed;
}

/* ---- results --------------------------------------------------------------------------------------------------- */

/* p->staging: n totals, each of LEAVES, of which every rank has its own -> n totals. */
static int finish_leaves(struct fit_device_pool *p, size_t n)
{
    const size_t ranks = fit_ranks_size(), first = leaf_of(fit_ranks_rank()), own = leaf_of(fit_ranks_rank() + 1);
    double *mine = malloc((n * (own - first) + 1) * sizeof *mine), *every = malloc(n * LEAVES * sizeof *every);
    size_t *count = calloc(ranks, sizeof *count);
    const int failed = fit_ranks_least(mine && every && count) < 1;
    for (size_t k = 0; k < n && !failed; k++)
        memcpy(mine + k * (own - first), p->staging + k * LEAVES + first, (own - first) * sizeof *mine);
    for (size_t r = 0; r < ranks && !failed; r++)
        count[r] = n * (leaf_of(r + 1) - leaf_of(r));
    if (!failed)
        fit_ranks_gather(mine, count, every);
    for (size_t k = 0; k < n && !failed; k++) {
        double leaf[LEAVES];
        for (size_t r = 0; r < ranks; r++) {
            const size_t begin = leaf_of(r), each = leaf_of(r + 1) - begin;
            memcpy(leaf + begin, every + n * begin + k * each, each * sizeof *leaf);
        }
        p->staging[k] = fit_device_tree(leaf);
    }
    free(mine);
    free(every);
    free(count);
    return failed ? -1 : 0;
}

/* The leaves of n totals in the staging buffer of each device -> n totals in that of the first. */
static void finish_devices(struct fit_device_pool *p, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        double leaf[LEAVES];
        for (const struct fit_device_pool *q = p; q; q = q->mate) {
            const size_t begin = LEAVES * q->index / q->together, end = LEAVES * (q->index + 1) / q->together;
            memcpy(leaf + begin, q->staging + k * LEAVES + begin, (end - begin) * sizeof *leaf);
        }
        p->staging[k] = fit_device_tree(leaf);
    }
}

/* From the totals to the results of the calls. */
static const struct fit_device_waiting *waiting(const struct fit_device_asked *asked)
{
    return (const struct fit_device_waiting *)asked;
}

static void scatter(const struct job *j, struct fit_device_asked *const *call)
{
    const struct fit_device_pool *p = j->p;
    for (size_t k = 0; k < p->source->program->npass; k++) {
        const struct fit_gpu_pass *x = &p->source->program->pass[k];
        const size_t rows = rows_of(p, x), each = fit_launch_numbers(p->kernel, x->kind);
        const size_t behind = x->kind == FIT_GPU_CROSS ? fit_launch_numbers(p->kernel, FIT_GPU_NORMAL) : 0;
        const double *from = p->staging + totals_before(p, k, x->kind) * j->calls;
        for (size_t e = 0; e < j->calls && kind_of(j->what, x->kind); e++)
            for (size_t r = 0; r < rows; r++, from += x->count)
                memcpy(waiting(call[e])->r.out + behind + r * each + x->first, from, x->count * sizeof *from);
    }
}

/* All work on the device: the totals, or leaves, of all calls in p->staging. */
static int run_job(const struct job *j, struct fit_device_asked *const *call)
{
    struct fit_device_pool *p = j->p;
    const size_t npass = p->source->program->npass;
    const enum fit_gpu_kind kind = first_kind(j->what);
    const size_t total = j->calls * totals_before(p, npass, kind) * (wants_leaves(p, j->shared) ? LEAVES : 1);
    long place[FIT_DEVICE_BATCH];
    int failed = make_room(p, j->calls, j->calls * parts_before(p, npass, kind), total);
    if (!failed && p->shared != j->shared)
        failed = put_shapes(p, j->shared);
    for (size_t e = 0; e < j->calls && !failed; e++) {
        failed = put_call(p, e, &waiting(call[e])->r);
        place[e] = (long)waiting(call[e])->place;
    }
    for (size_t k = 0; k < npass && !failed; k++)
        if (kind_of(j->what, p->source->program->pass[k].kind))
            failed = put_places(p, k, j->calls, place);
    return failed || (p->resident ? run_resident(j) : run_pieces(j)) != 0 || run_totals(j) != 0 ||
                   fit_device_read(p->shelf.d, p->total.b, p->staging, total * sizeof(double)) != 0
               ? -1 : 0;
}

int fit_launch_together(const struct fit_device_asked *a, const struct fit_device_asked *b)
{
    return waiting(a)->r.what == waiting(b)->r.what;
}

/* The share of one of several devices, on its own thread. */
struct share {
    struct job job;
    struct fit_device_asked *const *call;
    pthread_t thread;
    int running, failed;
};

static void *run_share(void *user)
{
    struct share *s = user;
    fit_device_lock(s->job.p->shelf.d);
    s->failed = run_job(&s->job, s->call) != 0;
    fit_device_unlock(s->job.p->shelf.d);
    return NULL;
}

/* run_job on every device of the pool. */
static int run_devices(const struct job *j, struct fit_device_asked *const *call)
{
    enum { MOST = 16 };
    struct share share[MOST];
    size_t n = 0;
    for (struct fit_device_pool *q = j->p->mate; q && n < MOST; q = q->mate, n++) {
        share[n] = (struct share){.job = *j, .call = call};
        share[n].job.p = q;
        share[n].job.items = fit_launch_items(q, 0);
        share[n].running = pthread_create(&share[n].thread, NULL, run_share, &share[n]) == 0;
    }
    int failed = run_job(j, call) != 0;
    for (size_t k = 0; k < n; k++) {
        if (share[k].running)
            pthread_join(share[k].thread, NULL);
        else
            run_share(&share[k]);
        failed |= share[k].failed;
    }
    return failed;
}

int fit_launch(void *user, size_t n, struct fit_device_asked *const *call)
{
    const struct fit_launch_user *u = user;
    struct fit_device_pool *p = u->pool;
    const int shared = u->shared;
    const struct job j = {p, u->ds, waiting(call[0])->r.what, n, fit_launch_items(p, shared), shared};
    const size_t totals = totals_before(p, p->source->program->npass, first_kind(j.what));
    fit_device_lock(p->shelf.d);
    int failed = run_devices(&j, call);
    if (shared && (failed = fit_ranks_least(failed ? 0 : 1) < 1) == 0)
        failed = finish_leaves(p, totals) != 0;
    else if (p->mate && !failed)
        finish_devices(p, n * totals);
    if (!failed) {
        scatter(&j, call);
        fit_device_add(p->shelf.d, n);
    }
    p->count.launches++;
    p->count.calls += n;
    fit_device_unlock(p->shelf.d);
    return failed ? -1 : 0;
}

static int values_of(struct fit_device_pool *p, size_t place, const struct fit_device_request *r, double *out)
{
    const struct fit_gpu_program *program = p->source->program;
    const struct job j = {.p = p, .calls = 1, .items = fit_launch_items(p, 0)};
    const size_t bytes = p->ndata * sizeof *out;
    const long at = (long)place;
    struct fit_device_buffer values = {0};
    int failed = -1;
    if (!p->resident)
        return -1;
    fit_device_lock(p->shelf.d);
    for (size_t k = 0; k < program->npass; k++)
        if (program->pass[k].kind == FIT_GPU_VALUE)
            failed = make_room(p, 1, 0, 0) != 0 || put_call(p, 0, r) != 0 || put_places(p, k, 1, &at) != 0 ||
                     fit_device_room(p->shelf.d, &values, bytes) != 0 ||
                     fit_device_write(p->shelf.d, values.b, 0, out, bytes) != 0 ||
                     run_items(&j, k, j.items.end - j.items.first, p->shape[k].b, p->y.b, p->w.b, values.b) != 0 ||
                     fit_device_read(p->shelf.d, values.b, out, bytes) != 0;
    fit_device_release(p->shelf.d, values.b);
    fit_device_unlock(p->shelf.d);
    return failed ? -1 : 0;
}

/* One device after the other: devices that share a tile fill in its values in turn. */
int fit_launch_values(struct fit_device_pool *p, size_t place, const struct fit_device_request *r, double *out)
{
    int failed = 0;
    for (struct fit_device_pool *q = p; q && !failed; q = q->mate)
        failed = values_of(q, place, r, out + q->items.at[q->from]);
    return failed;
}
