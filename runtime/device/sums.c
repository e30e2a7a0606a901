/* sums.c -- sums over a data set by a device: calls from many threads, launches of what has come together.
 *
 * One of the threads that wait does the work of all: it takes every call of the kind of the first one, up to
 * FIT_DEVICE_BATCH, as evaluations of one launch.  A launch has passes (fit/gpu_program.h): sums of items, then their
 * totals in a fixed tree.
 */
#define _GNU_SOURCE
#include "device/sums.h"

#include <stdlib.h>
#include <string.h>

#include "device/sums_impl.h"
#include "fit/gpu_shape.h"

static struct {
    pthread_mutex_t lock;
    const struct fit_gpu_source *sources;
    const struct fit_kernel *const *kernels;
    struct fit_device_sums *first;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

void fit_device_offer(const struct fit_gpu_source *sources, const struct fit_kernel *const *kernels)
{
    all.sources = sources;
    all.kernels = kernels;
}

/* ---- one launch -------------------------------------------------------------------------------------- */

static int kind_of(enum fit_device_sum what, enum fit_gpu_kind kind)
{
    return what == FIT_DEVICE_MOMENTS    ? kind == FIT_GPU_MOMENTS
           : what == FIT_DEVICE_GRADIENT ? kind == FIT_GPU_GRADIENT
                                         : kind == FIT_GPU_NORMAL || kind == FIT_GPU_CROSS;
}

/* Numbers that one group, or all of the data, have of a kind. */
static size_t numbers_of(const struct fit_kernel *k, enum fit_gpu_kind kind)
{
    const size_t p = k->nparam, q = k->nlinear;
    return kind == FIT_GPU_MOMENTS  ? q * (q + 1) / 2 + q + 1
           : kind == FIT_GPU_NORMAL ? p * (p + 1) / 2 + p
           : kind == FIT_GPU_CROSS  ? q * p
                                    : p;
}

static void shape_of(const struct fit_device_sums *s, size_t tile, long shape[FIT_SHAPE_NUMBERS])
{
    const struct fit_layout *l = &s->ds->layout;
    shape[FIT_SHAPE_GROUPS] = (long)l->ngroup;
    shape[FIT_SHAPE_TIMES] = (long)l->ntime;
    shape[FIT_SHAPE_FRAMES] = (long)l->nframe;
    shape[FIT_SHAPE_ROWS] = (long)l->nrow;
    shape[FIT_SHAPE_ITEMS] = (long)s->items.n;
    shape[FIT_SHAPE_WEIGHTED] = s->weighted;
    shape[FIT_SHAPE_WS] = (long)s->nws;
    shape[FIT_SHAPE_LIN] = (long)s->nlin;
    shape[FIT_SHAPE_ADJ] = (long)s->nadj;
    shape[FIT_SHAPE_DATA] = shape[FIT_SHAPE_FIXED] = 0;
    shape[FIT_SHAPE_FIRST] = (long)s->items.tile[tile];
    shape[FIT_SHAPE_AT] = (long)s->items.at[tile];
}

/* Blocks of a pass beside each other for one item. */
static size_t groups_of(const struct fit_device_sums *s, const struct fit_gpu_pass *p)
{
    return p->groups && s->kernel->space == FIT_PAIRS ? s->ds->layout.ngroup : 1;
}

/* The sums of the items of some tiles. */
static int run_items(struct fit_device_sums *s, const struct fit_gpu_pass *p, size_t from, size_t to, size_t calls,
                     struct fit_device_buffer *out)
{
    long shape[FIT_SHAPE_NUMBERS];
    const size_t first = s->items.tile[from], end = s->items.tile[to];
    struct fit_device_call c = {.kernel = p->name, .plain = p->plain, .grid = {end - first, groups_of(s, p), calls},
                                .buffer = {s->shape.b, s->item.b, s->fixed.b, s->ws.b, s->lin.b, s->adj.b, s->y.b,
                                           s->w.b, out->b},
                                .nbuffer = 9};
    shape_of(s, from, shape);
    return fit_device_write(s->d, s->shape.b, 0, shape, sizeof shape) != 0 ? -1 : fit_device_run(s->module, &c);
}

/* Their totals: for each call and row (a group, or one) as many numbers as the pass has. */
static int run_totals(struct fit_device_sums *s, const struct fit_gpu_pass *p, size_t calls)
{
    const size_t rows = p->groups ? s->ds->layout.ngroup : 1;
    const long shape[2] = {(long)s->items.n, p->groups && s->kernel->space == FIT_ROWS};
    struct fit_device_call c = {.kernel = "fit_gpu_total", .grid = {p->count, rows, calls},
                                .buffer = {s->total_shape.b, s->first.b, s->part.b, s->total.b}, .nbuffer = 4};
    return fit_device_write(s->d, s->total_shape.b, 0, shape, sizeof shape) != 0 ||
                   fit_device_run(s->module, &c) != 0 ||
                   fit_device_read(s->d, s->total.b, s->staging, calls * rows * p->count * sizeof(double)) != 0
               ? -1 : 0;
}

/* From the totals of a pass to the results of the calls. */
static void scatter(const struct fit_device_sums *s, const struct fit_gpu_pass *p, size_t calls,
                    struct fit_device_waiting *const *call)
{
    const size_t rows = p->groups ? s->ds->layout.ngroup : 1, each = numbers_of(s->kernel, p->kind);
    const size_t behind = p->kind == FIT_GPU_CROSS ? numbers_of(s->kernel, FIT_GPU_NORMAL) : 0;
    const double *from = s->staging;
    for (size_t e = 0; e < calls; e++)
        for (size_t r = 0; r < rows; r++, from += p->count)
            memcpy(call[e]->r.out + behind + r * each + p->first, from, p->count * sizeof *from);
}

static int make_room(struct fit_device_sums *s, size_t calls)
{
    size_t part = 1, total = 1;
    for (size_t k = 0; k < s->source->program->npass; k++) {
        const struct fit_gpu_pass *p = &s->source->program->pass[k];
        const size_t n = groups_of(s, p) * s->items.n * p->count, t = s->ds->layout.ngroup * p->count;
        part = n > part ? n : part;
        total = t > total ? t : total;
    }
    if (calls * total > s->nstaging) {
        free(s->staging);
        s->staging = malloc(calls * total * sizeof *s->staging);
        s->nstaging = s->staging ? calls * total : 0;
        if (!s->staging)
            return -1;
    }
    return fit_device_room(s, &s->part, calls * part * sizeof(double)) != 0 ||
                   fit_device_room(s, &s->total, calls * total * sizeof(double)) != 0 ||
                   fit_device_room(s, &s->ws, calls * s->nws * sizeof(double)) != 0 ||
                   fit_device_room(s, &s->lin, (calls * s->nlin + 1) * sizeof(double)) != 0 ||
                   fit_device_room(s, &s->adj, (calls * s->nadj + 1) * sizeof(double)) != 0 ||
                   fit_device_room(s, &s->shape, FIT_SHAPE_NUMBERS * sizeof(long)) != 0 ||
                   fit_device_room(s, &s->total_shape, 2 * sizeof(long)) != 0
               ? -1 : 0;
}

static int put_call(struct fit_device_sums *s, size_t e, const struct fit_device_request *r)
{
    const size_t d = sizeof(double);
    int failed = fit_device_write(s->d, s->ws.b, e * s->nws * d, r->ws, s->nws * d);
    if (!failed && r->lin)
        failed = fit_device_write(s->d, s->lin.b, e * s->nlin * d, r->lin, s->nlin * d);
    if (!failed && r->adj)
        failed = fit_device_write(s->d, s->adj.b, e * s->nadj * d, r->adj, s->nadj * d);
    return failed;
}

/* The items of all tiles: at once, or piece by piece. */
static int run_pieces(struct fit_device_sums *s, const struct fit_gpu_pass *p, size_t calls)
{
    int failed = 0;
    if (s->resident)
        return run_items(s, p, 0, s->ds->ntile, calls, &s->part);
    fit_dataset_begin(s->ds);
    for (size_t from = 0; from < s->ds->ntile && !failed;) {
        const size_t to = fit_device_piece(s, from);
        failed = fit_device_put_tiles(s, from, to) != 0 || run_items(s, p, from, to, calls, &s->part) != 0;
        from = to;
    }
    if (failed)
        fit_dataset_abandon(s->ds);
    fit_dataset_end(s->ds);
    return failed ? -1 : 0;
}

static int launch(struct fit_device_sums *s, size_t calls, struct fit_device_waiting *const *call)
{
    const struct fit_gpu_program *program = s->source->program;
    int failed;
    fit_device_lock(s->d);
    failed = make_room(s, calls);
    for (size_t e = 0; e < calls && !failed; e++)
        failed = put_call(s, e, &call[e]->r);
    for (size_t k = 0; k < program->npass && !failed; k++) {
        const struct fit_gpu_pass *p = &program->pass[k];
        if (!kind_of(call[0]->r.what, p->kind))
            continue;
        failed = run_pieces(s, p, calls) != 0 || run_totals(s, p, calls) != 0;
        if (!failed)
            scatter(s, p, calls, call);
    }
    if (!failed)
        fit_device_add(s->d, calls);
    s->count.launches++;
    s->count.calls += calls;
    fit_device_unlock(s->d);
    return failed ? -1 : 0;
}

/* ---- calls that wait --------------------------------------------------------------------------------- */

/* Takes calls of the kind of the first one out of the queue. */
static size_t take_calls(struct fit_device_sums *s, struct fit_device_waiting **call)
{
    const enum fit_device_sum what = s->queue->r.what;
    size_t n = 0;
    struct fit_device_waiting **at = &s->queue;
    s->end = &s->queue;
    while (*at) {
        if ((*at)->r.what == what && n < FIT_DEVICE_BATCH) {
            call[n] = *at;
            call[n++]->state = 1;
            *at = (*at)->next;
        } else {
            at = &(*at)->next;
            s->end = at;
        }
    }
    return n;
}

int fit_device_sums_take(struct fit_device_sums *s, const struct fit_device_request *request)
{
    struct fit_device_waiting own = {.r = *request}, *call[FIT_DEVICE_BATCH];
    pthread_mutex_lock(&s->lock);
    *s->end = &own;
    s->end = &own.next;
    while (own.state != 2) {
        if (s->busy || own.state == 1) {
            pthread_cond_wait(&s->turn, &s->lock);
            continue;
        }
        s->busy = 1;
        const size_t n = take_calls(s, call);
        pthread_mutex_unlock(&s->lock);
        const int failed = launch(s, n, call);
        pthread_mutex_lock(&s->lock);
        for (size_t k = 0; k < n; k++) {
            call[k]->failed = failed;
            call[k]->state = 2;
        }
        s->busy = 0;
        pthread_cond_broadcast(&s->turn);
    }
    pthread_mutex_unlock(&s->lock);
    return own.failed;
}

/* ---- values ------------------------------------------------------------------------------------------ */

size_t fit_device_sums_doubles(const struct fit_device_sums *s)
{
    return s->items.at[s->ds->ntile];
}

int fit_device_values(struct fit_device_sums *s, const double *ws, const double *lin, double *out)
{
    const struct fit_gpu_program *program = s->source->program;
    const size_t bytes = fit_device_sums_doubles(s) * sizeof *out;
    struct fit_device_request r = {.ws = ws, .lin = lin};
    struct fit_device_buffer values = {0};
    int failed = -1;
    if (!s->resident)
        return -1;
    fit_device_lock(s->d);
    for (size_t k = 0; k < program->npass; k++)
        if (program->pass[k].kind == FIT_GPU_VALUE)
            failed = make_room(s, 1) != 0 || put_call(s, 0, &r) != 0 || fit_device_room(s, &values, bytes) != 0 ||
                     fit_device_write(s->d, values.b, 0, out, bytes) != 0 ||
                     run_items(s, &program->pass[k], 0, s->ds->ntile, 1, &values) != 0 ||
                     fit_device_read(s->d, values.b, out, bytes) != 0;
    fit_device_release(s->d, values.b);
    fit_device_unlock(s->d);
    return failed ? -1 : 0;
}

/* ---- made, shared, freed ----------------------------------------------------------------------------- */

struct fit_device_count fit_device_sums_count(const struct fit_device_sums *s)
{
    return s->count;
}

/* The program of a kernel; NULL, and why there is none. */
static const struct fit_gpu_source *source_of(const struct fit_kernel *kernel, const struct fit_dataset *ds,
                                              const char **why)
{
    int known = 0;
    for (size_t k = 0; all.kernels && all.kernels[k]; k++)
        known |= all.kernels[k] == kernel;
    *why = "parameters are tied, or the kernel is one that was made for this fit";
    if (!known || ds->layout.context)
        return NULL;
    *why = "the program has no kernels of this model, or variant, for accelerators";
    for (const struct fit_gpu_source *s = all.sources; s && s->program; s++)
        if (strcmp(s->program->name, kernel->name) == 0 && strcmp(s->program->variant, kernel->variant) == 0 &&
            strcmp(s->program->hash, kernel->hash) == 0) {
            *why = s->program->lacks;
            return s->program->npass ? s : NULL;
        }
    return NULL;
}

const char *fit_device_lacks(const struct fit_kernel *kernel, const struct fit_dataset *ds)
{
    const char *why;
    return source_of(kernel, ds, &why) ? NULL : why;
}

static void destroy(struct fit_device_sums *s)
{
    struct fit_device_buffer *const b[] = {&s->shape, &s->total_shape, &s->item, &s->first, &s->fixed, &s->y,
                                           &s->w,     &s->ws,          &s->lin,  &s->adj,   &s->part,  &s->total};
    fit_device_lock(s->d);
    for (size_t k = 0; k < sizeof b / sizeof *b; k++)
        fit_device_release(s->d, b[k]->b);
    fit_device_unlock(s->d);
    fit_items_free(&s->items);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->turn);
    free(s->staging);
    free(s->values);
    free(s);
}

static enum fit_status make(struct fit_device *d, const struct fit_kernel *kernel, const struct fit_dataset *ds,
                            const struct fit_gpu_source *source, struct fit_device_sums **out, struct fit_error *err)
{
    struct fit_device_module *module = NULL;
    enum fit_status st = fit_device_load(d, source, &module, err);
    struct fit_device_sums *s = st == FIT_OK ? calloc(1, sizeof *s) : NULL;
    if (st != FIT_OK)
        return st;
    if (!s)
        return fit_no_memory(err, "device");
    const size_t ng = ds->layout.ngroup, q = kernel->nlinear;
    *s = (struct fit_device_sums){.d = d, .kernel = kernel, .ds = ds, .source = source, .module = module,
                                  .stamp = ds->stamp, .owners = 1, .nws = kernel->workspace(&ds->layout),
                                  .nlin = ng * q, .nadj = ng * (1 + q * (q + 1) / 2)};
    s->end = &s->queue;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->turn, NULL);
    fit_device_lock(d);
    const int failed = !fit_items_new(ds, &s->items) || fit_device_put_data(s) != 0;
    fit_device_unlock(d);
    if (failed) {
        st = fit_fail(err, FIT_ERR_MEMORY, "device %s: no memory for the data: %s", fit_device_about(d)->word,
                      fit_device_failure(d));
        destroy(s);
        return st;
    }
    *out = s;
    return FIT_OK;
}

enum fit_status fit_device_sums_new(struct fit_device *d, const struct fit_kernel *kernel, const struct fit_dataset *ds,
                                    struct fit_device_sums **sums, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    const char *why;
    *sums = NULL;
    const struct fit_gpu_source *source = source_of(kernel, ds, &why);
    if (!source)
        return fit_fail(err, FIT_ERR_CONFIG, "%s", why);
    pthread_mutex_lock(&all.lock);
    for (struct fit_device_sums *s = all.first; s && !*sums; s = s->next)
        if (s->stamp == ds->stamp && s->source == source && s->d == d) {
            s->owners++;
            *sums = s;
        }
    if (!*sums && (st = make(d, kernel, ds, source, sums, err)) == FIT_OK) {
        (*sums)->next = all.first;
        all.first = *sums;
    }
    pthread_mutex_unlock(&all.lock);
    return st;
}

struct fit_device_sums *fit_device_sums_share(struct fit_device_sums *s)
{
    pthread_mutex_lock(&all.lock);
    if (s)
        s->owners++;
    pthread_mutex_unlock(&all.lock);
    return s;
}

void fit_device_sums_free(struct fit_device_sums *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&all.lock);
    const int last = --s->owners == 0;
    struct fit_device_sums **at = &all.first;
    while (last && *at != s)
        at = &(*at)->next;
    if (last)
        *at = s->next;
    pthread_mutex_unlock(&all.lock);
    if (last)
        destroy(s);
}
