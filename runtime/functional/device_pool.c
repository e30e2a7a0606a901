/* device_pool.c -- an objective on a device: offsets, lists, the numbers of operators, slots. See on_device.h,
 * fit/gpu_functional.h. */
#include "functional/device_pool.h"

#include <stdlib.h>
#include <string.h>

#include "device/sums.h"
#include "fit/gpu_shape.h"
#include "fit/operator_data.h"
#include "functional/evaluate.h"

static size_t rounded(size_t n)
{
    return (n + FIT_BLOCK - 1) / FIT_BLOCK * FIT_BLOCK;
}

/* ---- the memory of a slot --------------------------------------------------------------------------- */

static size_t take(size_t *at, size_t n)
{
    const size_t here = *at;
    *at += rounded(n);
    return here;
}

static size_t most_blocks(const struct fit_bound *b)
{
    size_t n = 1, sums = 1;
    for (uint32_t k = 0; k < b->o->naxis; k++)
        n = b->size[k] / FIT_GPU_THREADS + 1 > n ? b->size[k] / FIT_GPU_THREADS + 1 : n;
    for (uint32_t k = 0; k < b->o->nbackward; k++)
        sums = b->o->backward[k].nsum > sums ? b->o->backward[k].nsum : sums;
    return n * sums;
}

static void lay_out(struct fit_objective_pool *p, const struct fit_bound *b)
{
    const struct fit_functional *o = b->o;
    struct fit_objective_area *a = &p->area;
    size_t at = 0;
    a->number = take(&at, o->nnumber);
    a->weight = take(&at, o->nterm);
    a->term = take(&at, o->nterm);
    a->partial = take(&at, most_blocks(b));
    for (uint32_t k = 0; k < o->narray; k++)
        a->array[k] = take(&at, b->array[k] ? b->size[o->array[k].axis] : 0);
    for (uint32_t k = 0; k < o->noperator; k++) {
        const struct fit_outer *outer = b->operation[k];
        a->plane[k] = take(&at, outer && o->operation[k].kind == FIT_OUTER ? 4 * outer->plane_size : 0);
    }
    a->slopes = a->number_slope = take(&at, o->nnumber);
    for (uint32_t k = 0; k < o->narray; k++)
        a->slope[k] = take(&at, b->slope[k] ? b->size[o->array[k].axis] : 0);
    a->nslope = at - a->slopes;
    a->size = at;
}

/* ---- lists and shared numbers ----------------------------------------------------------------------- */

static long put_longs(struct fit_objective_pool *p, size_t n)
{
    const size_t at = p->nshape;
    long *bigger = realloc(p->shape, (at + n + FIT_DEVICE_BATCH) * sizeof *bigger);
    if (!bigger) {
        p->arena.failed = 1;
        return -1;
    }
    p->shape = bigger;
    p->nshape += n;
    memset(p->shape + at, 0, (n + FIT_DEVICE_BATCH) * sizeof *bigger);
    return (long)at;
}

static long put_sizes(struct fit_objective_pool *p, size_t n, const size_t *from)
{
    const long at = put_longs(p, n);
    for (size_t k = 0; at >= 0 && k < n; k++)
        p->shape[(size_t)at + k] = (long)from[k];
    return at;
}

static long put_shared(struct fit_objective_pool *p, size_t n, const double *from)
{
    const size_t at = p->nshared;
    double *bigger = realloc(p->shared, (at + n + 1) * sizeof *bigger);
    if (!bigger) {
        p->arena.failed = 1;
        return -1;
    }
    p->shared = bigger;
    memcpy(p->shared + at, from, n * sizeof *from);
    p->nshared += n;
    return (long)at;
}

/* Offsets of the factors of operator q where an earlier operator has stored the same ones. */
static int find_factors(const struct fit_objective_pool *p, const struct fit_bound *b, uint32_t q, long *factors)
{
    const struct fit_outer *f = b->operation[q];
    for (uint32_t k = 0; k < q; k++) {
        const struct fit_outer *g = b->operation[k];
        if (b->o->operation[k].kind == FIT_OUTER && g && g->row_re == f->row_re) {
            memcpy(factors, p->shape + p->shape[FIT_OBJECTIVE_NUMBERS + b->o->naxis + 2 * b->o->narray + k],
                   4 * sizeof *factors);
            return 1;
        }
    }
    return 0;
}

static void put_outer(struct fit_objective_pool *p, const struct fit_bound *b, uint32_t q, long *x)
{
    const struct fit_outer *f = b->operation[q];
    long factors[4];
    if (!find_factors(p, b, q, factors)) {
        factors[0] = put_shared(p, f->n * f->nrow, f->row_re);
        factors[1] = put_shared(p, f->n * f->nrow, f->row_im);
        factors[2] = put_shared(p, f->n * f->pitch, f->column_re);
        factors[3] = put_shared(p, f->n * f->pitch, f->column_im);
    }
    const long at = put_longs(p, 4);
    if (at < 0)
        return;
    memcpy(p->shape + at, factors, sizeof factors);
    p->shape[FIT_OBJECTIVE_NUMBERS + b->o->naxis + 2 * b->o->narray + q] = at;
    memcpy(x + FIT_OPERATOR_ROW_RE, factors, sizeof factors);
    x[FIT_OPERATOR_N] = (long)f->n, x[FIT_OPERATOR_NX] = (long)f->nx, x[FIT_OPERATOR_NY] = (long)f->ny;
    x[FIT_OPERATOR_PITCH] = (long)f->pitch, x[FIT_OPERATOR_NROW] = (long)f->nrow;
    x[FIT_OPERATOR_NCOLUMN] = (long)f->ncolumn, x[FIT_OPERATOR_PLANE] = (long)p->area.plane[q];
    x[FIT_OPERATOR_PLANE_SIZE] = (long)f->plane_size, x[FIT_OPERATOR_FOLDED] = f->folded;
}

/* The numbers of operator q that its parts and both directions share. */
static void put_operator(struct fit_objective_pool *p, const struct fit_bound *b, uint32_t q, long *x)
{
    const struct fit_gather *g = b->operation[q];
    const struct fit_difference *f = b->operation[q];
    const struct fit_blocks *m = b->operation[q];
    const struct fit_dense *e = b->operation[q];
    switch (b->o->operation[q].kind) {
    case FIT_OUTER: put_outer(p, b, q, x); break;
    case FIT_DIFFERENCE:
        x[FIT_OPERATOR_N] = (long)f->n, x[FIT_OPERATOR_NX] = (long)f->nx, x[FIT_OPERATOR_STRIDE] = (long)f->stride;
        break;
    case FIT_GATHER:
        x[FIT_OPERATOR_N] = (long)g->n, x[FIT_OPERATOR_NFROM] = (long)g->nfrom;
        x[FIT_OPERATOR_PLACE] = put_longs(p, g->n);
        for (size_t k = 0; !p->arena.failed && k < g->n; k++)
            p->shape[(size_t)x[FIT_OPERATOR_PLACE] + k] = (long)g->place[k];
        x[FIT_OPERATOR_BEGIN] = put_sizes(p, g->nfrom + 1, g->begin);
        x[FIT_OPERATOR_USER] = put_sizes(p, g->begin[g->nfrom], g->user);
        break;
    case FIT_BLOCKS:
        x[FIT_OPERATOR_N] = (long)m->n, x[FIT_OPERATOR_BEGIN] = put_sizes(p, m->n + 1, m->begin);
        x[FIT_OPERATOR_PLACE] = put_sizes(p, m->n + 1, m->offset);
        x[FIT_OPERATOR_MATRIX] = put_shared(p, m->offset[m->n], m->matrix);
        break;
    case FIT_DENSE:
        x[FIT_OPERATOR_N] = (long)e->n, x[FIT_OPERATOR_NFROM] = (long)e->nfrom;
        x[FIT_OPERATOR_PITCH] = (long)e->pitch, x[FIT_OPERATOR_MATRIX] = put_shared(p, e->n * e->pitch, e->matrix);
    }
}

/* ---- items of phases -------------------------------------------------------------------------------- */

/* Number of parts of an operator: on the backward pass those of a complex value whose array varies. */
static void operator_items(struct fit_objective_pool *p, const struct fit_bound *b, size_t phase,
                           const struct fit_phase *f, int back, const long *numbers)
{
    const struct fit_operator_desc *q = &b->o->operation[f->operation];
    const struct fit_objective_area *a = &p->area;
    const uint32_t parts = q->kind == FIT_OUTER || !q->is_complex ? 1 : 2;
    for (uint32_t k = 0; k < parts; k++) {
        long *x = p->item[phase] + p->parts[phase] * FIT_OPERATOR_NUMBERS;
        if (back && !b->o->array[q->in + k].moves)
            continue;
        memcpy(x, numbers, FIT_OPERATOR_NUMBERS * sizeof *x);
        x[FIT_OPERATOR_FROM] = (long)(back ? a->slope[q->out + k] : a->array[q->in + k]);
        x[FIT_OPERATOR_TO] = (long)(back ? a->slope[q->in + k] : a->array[q->out + k]);
        x[FIT_OPERATOR_SIGN] = k ? -1 : 1;
        if (q->kind == FIT_OUTER)
            x[FIT_OPERATOR_IM] = (long)(back ? a->slope[q->out + 1] : a->array[q->out + 1]);
        p->parts[phase]++;
    }
    p->nitem[phase] = p->parts[phase] * FIT_OPERATOR_NUMBERS;
}

static void formula_item(struct fit_objective_pool *p, const struct fit_bound *b, size_t phase,
                         const struct fit_phase *f, int back)
{
    long *x = p->item[phase];
    x[FIT_PHASE_BLOCKS] = (long)((b->size[f->axis] + FIT_GPU_THREADS - 1) / FIT_GPU_THREADS);
    x[FIT_PHASE_BACK] = back;
    for (uint32_t k = 0; k < f->nsum; k++)
        x[FIT_PHASE_WHICH + k] = (long)f->sum[k];
    p->parts[phase] = 1;
    p->nitem[phase] = FIT_PHASE_WHICH + f->nsum;
}

static void make_items(struct fit_objective_pool *p, const struct fit_bound *b, const long *numbers)
{
    const struct fit_functional *o = b->o;
    for (size_t k = 0; k < o->nforward + o->nbackward && !p->arena.failed; k++) {
        const int back = k >= o->nforward;
        const struct fit_phase *f = back ? &o->backward[k - o->nforward] : &o->forward[k];
        const size_t most = 2 * FIT_OPERATOR_NUMBERS > FIT_PHASE_WHICH + f->nsum ? 2 * FIT_OPERATOR_NUMBERS
                                                                                 : FIT_PHASE_WHICH + f->nsum;
        if (!(p->item[k] = fit_take(&p->arena, most, sizeof **p->item)))
            return;
        if (f->kind != FIT_PHASE_OPERATOR)
            formula_item(p, b, k, f, back);
        else if (b->operation[f->operation])
            operator_items(p, b, k, f, back, numbers + f->operation * FIT_OPERATOR_NUMBERS);
    }
}

/* ---- the description of an objective ---------------------------------------------------------------- */

static void describe(struct fit_objective_pool *p, const struct fit_bound *b)
{
    const struct fit_functional *o = b->o;
    const struct fit_objective_area *a = &p->area;
    long *numbers = calloc(o->noperator + 1, FIT_OPERATOR_NUMBERS * sizeof *numbers);
    if (!numbers || put_longs(p, FIT_OBJECTIVE_NUMBERS + o->naxis + 2 * o->narray + o->noperator) < 0)
        p->arena.failed = 1;
    for (uint32_t k = 0; k < o->noperator && !p->arena.failed; k++)
        if (b->operation[k])
            put_operator(p, b, k, numbers + k * FIT_OPERATOR_NUMBERS);
    if (!p->arena.failed) {
        long *s = p->shape;
        s[FIT_OBJECTIVE_SHARED] = (long)p->nshared, s[FIT_OBJECTIVE_AREA] = (long)a->size;
        s[FIT_OBJECTIVE_NUMBER] = (long)a->number, s[FIT_OBJECTIVE_NUMBER_SLOPE] = (long)a->number_slope;
        s[FIT_OBJECTIVE_TERM] = (long)a->term, s[FIT_OBJECTIVE_WEIGHT] = (long)a->weight;
        s[FIT_OBJECTIVE_PARTIAL] = (long)a->partial, s[FIT_OBJECTIVE_SLOPE] = (long)a->slopes;
        s[FIT_OBJECTIVE_SLOPES] = (long)a->nslope, s[FIT_OBJECTIVE_PLACES] = (long)p->nshape;
        s += FIT_OBJECTIVE_NUMBERS;
        for (uint32_t k = 0; k < o->naxis; k++)
            s[k] = (long)b->size[k];
        for (uint32_t k = 0; k < o->narray; k++) {
            s[o->naxis + k] = (long)a->array[k];
            s[o->naxis + o->narray + k] = (long)a->slope[k];
        }
        make_items(p, b, numbers);
    }
    free(numbers);
}

/* FNV-1a over 8 bytes at a time. */
static uint64_t digest_of(uint64_t h, const void *data, size_t bytes)
{
    const unsigned char *at = data;
    for (size_t k = 0; k + 8 <= bytes; k += 8) {
        uint64_t x;
        memcpy(&x, at + k, sizeof x);
        h = (h ^ x) * UINT64_C(0x100000001b3);
    }
    return h;
}

static void free_host(struct fit_objective_pool *p)
{
    free(p->shape);
    free(p->shared);
    fit_arena_free(&p->arena);
    free(p);
}

/* A pool that is not on the device yet; NULL: no memory. */
static struct fit_objective_pool *new_pool(struct fit_device *d, const struct fit_gpu_source *source,
                                           const struct fit_bound *b)
{
    struct fit_objective_pool *p = calloc(1, sizeof *p);
    const struct fit_functional *o = b->o;
    const size_t nphase = o->nforward + o->nbackward;
    if (!p)
        return NULL;
    *p = (struct fit_objective_pool){.shelf.d = d, .o = o, .program = source->program};
    p->area.array = fit_take(&p->arena, o->narray, sizeof *p->area.array);
    p->area.slope = fit_take(&p->arena, o->narray, sizeof *p->area.slope);
    p->area.plane = fit_take(&p->arena, o->noperator + 1, sizeof *p->area.plane);
    p->item = fit_take(&p->arena, nphase, sizeof *p->item);
    p->nitem = fit_take(&p->arena, nphase, sizeof *p->nitem);
    p->parts = fit_take(&p->arena, nphase, sizeof *p->parts);
    p->item_there = fit_take(&p->arena, nphase, sizeof *p->item_there);
    if (!p->arena.failed) {
        lay_out(p, b);
        describe(p, b);
    }
    if (p->arena.failed) {
        free_host(p);
        return NULL;
    }
    p->digest = digest_of(digest_of(UINT64_C(0xcbf29ce484222325), p->shape, p->nshape * sizeof *p->shape), p->shared,
                          p->nshared * sizeof *p->shared);
    return p;
}

/* ---- on the device ---------------------------------------------------------------------------------- */

static void destroy(struct fit_shelved *shelf)
{
    struct fit_objective_pool *p = (struct fit_objective_pool *)(void *)shelf;
    fit_device_lock(p->shelf.d);
    fit_device_release(p->shelf.d, p->shape_there);
    fit_device_release(p->shelf.d, p->store);
    for (size_t k = 0; k < p->o->nforward + p->o->nbackward; k++)
        fit_device_release(p->shelf.d, p->item_there[k]);
    fit_device_unlock(p->shelf.d);
    if (p->shelf.used)
        fit_device_queue_end(&p->queue);
    free(p->shelf.used);
    free(p->staging);
    free_host(p);
}

/* Everything that places share. */
static int put_pool(struct fit_objective_pool *p)
{
    const size_t memory = fit_device_about(p->shelf.d)->memory, d = sizeof(double);
    p->shelf.nplace = fit_device_expected(p->shelf.d);
    while (p->shelf.nplace > 1 && (p->nshared + p->shelf.nplace * p->area.size) * d > memory / 4)
        p->shelf.nplace /= 2;
    p->shelf.used = calloc(p->shelf.nplace, 1);
    p->staging = malloc((p->o->nnumber + 2 * p->o->nterm + 3 * FIT_BLOCK) * d);
    if (p->shelf.used)
        fit_device_queue_begin(&p->queue);
    p->queue.together = fit_objective_together;
    p->queue.serve = fit_objective_serve;
    const size_t bytes = (p->nshape + FIT_DEVICE_BATCH) * sizeof *p->shape;
    int failed = !p->shelf.used || !p->staging || !(p->shape_there = fit_device_buffer(p->shelf.d, bytes)) ||
                 !(p->store = fit_device_buffer(p->shelf.d, (p->nshared + p->shelf.nplace * p->area.size) * d)) ||
                 fit_device_write(p->shelf.d, p->shape_there, 0, p->shape, bytes) != 0 ||
                 fit_device_write(p->shelf.d, p->store, 0, p->shared, p->nshared * d) != 0;
    for (size_t k = 0; k < p->o->nforward + p->o->nbackward && !failed; k++)
        failed = !(p->item_there[k] = fit_device_buffer(p->shelf.d, (p->nitem[k] + 1) * sizeof(long))) ||
                 fit_device_write(p->shelf.d, p->item_there[k], 0, p->item[k], p->nitem[k] * sizeof(long)) != 0;
    free(p->shared);
    p->shared = NULL;
    return failed ? -1 : 0;
}

/* Copies the data of b to its slot. */
static int put_data(struct fit_objective_pool *p, const struct fit_bound *b, size_t place)
{
    const size_t d = sizeof(double), base = p->nshared + place * p->area.size;
    int failed = 0;
    for (uint32_t k = 0; k < b->o->narray && !failed; k++)
        if (b->array[k] && b->o->array[k].kind == FIT_ARRAY_DATA)
            failed = fit_device_write(p->shelf.d, p->store, (base + p->area.array[k]) * d, b->array[k],
                                      b->size[b->o->array[k].axis] * d);
    return failed;
}

static int is_equal(const struct fit_shelved *shelf, const void *wanted)
{
    const struct fit_objective_pool *q = (const struct fit_objective_pool *)(const void *)shelf, *p = wanted;
    return q->o == p->o && q->digest == p->digest && q->nshape == p->nshape;
}

/* An existing pool equal to p, which it then replaces; or p, copied to the device. NULL: the device has no room. */
static struct fit_objective_pool *settle(struct fit_objective_pool *p, const struct fit_gpu_source *source)
{
    struct fit_device *d = p->shelf.d;
    struct fit_error err;
    struct fit_shelved *there = fit_shelf_find(d, destroy, is_equal, p);
    if (there) {
        free_host(p);
        return (struct fit_objective_pool *)(void *)there;
    }
    fit_shelf_clear(d);
    fit_device_lock(d);
    const int failed = fit_device_load(d, source, &p->module, &err) != FIT_OK || put_pool(p) != 0;
    fit_device_unlock(d);
    if (failed) {
        destroy(&p->shelf);
        return NULL;
    }
    p->shelf.destroy = destroy;
    fit_shelf_put(&p->shelf);
    return p;
}

struct fit_objective_pool *fit_objective_enter(struct fit_device *d, const struct fit_bound *b, size_t *place)
{
    const struct fit_gpu_source *source = fit_device_source(b->o->name, "objective", b->o->hash);
    fit_shelf_lock();
    d = fit_shelf_least(d);
    fit_shelf_unlock();
    struct fit_objective_pool *p = source ? new_pool(d, source, b) : NULL;
    if (!p) {
        fit_device_say(d, source ? "out of memory" : "the program has no kernels of this objective for accelerators");
        return NULL;
    }
    fit_shelf_lock();
    p = settle(p, source);
    if (p) {
        *place = fit_shelf_take(&p->shelf);
        fit_device_lock(d);
        const int failed = put_data(p, b, *place);
        fit_device_unlock(d);
        if (failed) {
            fit_shelf_give_back(&p->shelf, *place);
            p = NULL;
        }
    }
    fit_shelf_unlock();
    if (!p)
        fit_device_say(d, fit_device_failure(d));
    return p;
}

void fit_objective_free_place(struct fit_objective_pool *p, size_t place)
{
    fit_shelf_leave(&p->shelf, place);
}
