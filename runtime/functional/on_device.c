/* on_device.c -- see on_device.h.
 *
 * An evaluation consists of the phases of the objective, forward, the terms, and, for a gradient, gradients of
 * numbers and the phases backward; each is a kernel (fit/gpu_functional.h), one after the other in the queue of the
 * device. */
#include "functional/on_device.h"

#include <string.h>

#include "fit/operator_data.h"
#include "functional/device_pool.h"
#include "fit/gpu_shape.h"

struct evaluation {
    struct fit_device_asked asked;
    struct fit_bound *b;
    int gradient;
};

static const struct evaluation *evaluation(const struct fit_device_asked *asked)
{
    return (const struct evaluation *)asked;
}

int fit_objective_together(const struct fit_device_asked *a, const struct fit_device_asked *b)
{
    return evaluation(a)->b->on == evaluation(b)->b->on && evaluation(a)->gradient == evaluation(b)->gradient;
}

/* ---- kernels ---------------------------------------------------------------------------------------------------- */

static int run(struct fit_objective_pool *p, size_t pass, void *item, size_t blocks, size_t parts, size_t calls)
{
    const struct fit_gpu_pass *x = &p->program->pass[pass];
    void *none = p->shape_there;
    const struct fit_device_call c = {
        .kernel = x->name, .plain = x->plain, .grid = {blocks, parts, calls},
        .buffer = {p->shape_there, item ? item : none, none, none, none, none, none, none, p->store}, .nbuffer = 9};
    return fit_device_run(p->module, &c);
}

static size_t behind(const struct fit_objective_pool *p, enum fit_objective_kernel k)
{
    return p->o->nforward + p->o->nbackward + (size_t)k;
}

static size_t blocks_of(size_t n)
{
    return (n + FIT_GPU_THREADS - 1) / FIT_GPU_THREADS;
}

/* Kernel and blocks of an operator. */
static size_t operator_kernel(const struct fit_objective_pool *p, const struct fit_phase *f, int back, const long *x,
                              size_t *blocks)
{
    const size_t n = (size_t)x[FIT_OPERATOR_N], from = (size_t)x[FIT_OPERATOR_NFROM];
    const size_t grid = (size_t)(x[FIT_OPERATOR_NROW] * x[FIT_OPERATOR_NCOLUMN]);
    switch (p->o->operation[f->operation].kind) {
    case FIT_OUTER:
        *blocks = back || f->unit == FIT_UNIT_ONE ? blocks_of(grid) : n;
        return behind(p, back ? FIT_KERNEL_OUTER_BACK : f->unit == FIT_UNIT_ONE ? FIT_KERNEL_FOLD : FIT_KERNEL_OUTER);
    case FIT_DIFFERENCE:
        *blocks = blocks_of(n);
        return behind(p, back ? FIT_KERNEL_DIFFERENCE_BACK : FIT_KERNEL_DIFFERENCE);
    case FIT_GATHER:
        *blocks = blocks_of(back ? from : n);
        return behind(p, back ? FIT_KERNEL_GATHER_BACK : FIT_KERNEL_GATHER);
    case FIT_BLOCKS:
        *blocks = n;
        return behind(p, back ? FIT_KERNEL_BLOCKS_BACK : FIT_KERNEL_BLOCKS);
    default:
        *blocks = back ? blocks_of(from) : n;
        return behind(p, back ? FIT_KERNEL_DENSE_BACK : FIT_KERNEL_DENSE);
    }
}

static int run_phases(struct fit_objective_pool *p, int back, uint64_t on, size_t calls)
{
    const struct fit_functional *o = p->o;
    const uint32_t n = back ? o->nbackward : o->nforward;
    int failed = 0;
    for (uint32_t i = 0; i < n && !failed; i++) {
        const size_t k = back ? o->nforward + i : i;
        const struct fit_phase *f = back ? &o->backward[i] : &o->forward[i];
        size_t blocks, kernel;
        if (!(f->need & on) || !p->parts[k])
            continue;
        if (f->kind == FIT_PHASE_OPERATOR) {
            kernel = operator_kernel(p, f, back, p->item[k], &blocks);
            failed = run(p, kernel, p->item_there[k], blocks, p->parts[k], calls);
            continue;
        }
        failed = run(p, k, p->item_there[k], (size_t)p->item[k][FIT_PHASE_BLOCKS], 1, calls);
        if (f->nsum && !failed)
            failed = run(p, behind(p, FIT_KERNEL_NUMBER), p->item_there[k], f->nsum, 1, calls);
    }
    return failed;
}

/* ---- transfers -------------------------------------------------------------------------------------- */

static int put(struct fit_objective_pool *p, const struct fit_bound *b)
{
    const struct fit_objective_area *a = &p->area;
    const size_t d = sizeof(double), base = p->nshared + b->device_place * a->size;
    memcpy(p->staging, b->number, b->o->nnumber * d);
    memcpy(p->staging + (a->weight - a->number), b->weight, b->o->nterm * d);
    int failed = fit_device_write(p->shelf.d, p->store, (base + a->number) * d, p->staging,
                                  (a->weight - a->number + b->o->nterm) * d);
    for (uint32_t k = 0; k < b->o->narray && !failed; k++)
        if (b->array[k] && b->o->array[k].kind == FIT_ARRAY_FREE)
            failed = fit_device_write(p->shelf.d, p->store, (base + a->array[k]) * d, b->array[k],
                                      b->size[b->o->array[k].axis] * d);
    return failed;
}

static int get(struct fit_objective_pool *p, struct fit_bound *b, int gradient)
{
    const struct fit_objective_area *a = &p->area;
    const size_t d = sizeof(double), base = p->nshared + b->device_place * a->size;
    int failed = fit_device_read_at(p->shelf.d, p->store, (base + a->term) * d, b->term, b->o->nterm * d);
    for (uint32_t k = 0; k < b->o->narray && gradient && !failed; k++)
        if (fit_bound_solves(b, k))
            failed = fit_device_read_at(p->shelf.d, p->store, (base + a->slope[k]) * d, b->slope[k],
                                        b->size[b->o->array[k].axis] * d);
    return failed;
}

int fit_objective_serve(void *user, size_t n, struct fit_device_asked *const *asked)
{
    struct fit_objective_pool *p = user;
    const uint64_t on = evaluation(asked[0])->b->on;
    const int gradient = evaluation(asked[0])->gradient;
    long place[FIT_DEVICE_BATCH];
    const long wanted = (long)on;
    int failed = 0;
    fit_device_lock(p->shelf.d);
    for (size_t e = 0; e < n && !failed; e++) {
        place[e] = (long)evaluation(asked[e])->b->device_place;
        failed = put(p, evaluation(asked[e])->b);
    }
    void *const shape = p->shape_there;
    failed = failed || fit_device_write(p->shelf.d, shape, p->nshape * sizeof(long), place, n * sizeof *place) != 0 ||
             fit_device_write(p->shelf.d, shape, FIT_OBJECTIVE_ON * sizeof(long), &wanted, sizeof wanted) != 0 ||
             run_phases(p, 0, on, n) != 0 || run(p, behind(p, FIT_KERNEL_TERMS), NULL, 1, 1, n) != 0;
    if (gradient && !failed)
        failed = run(p, behind(p, FIT_KERNEL_ZERO), NULL, blocks_of(p->area.nslope), 1, n) != 0 ||
                 run(p, behind(p, FIT_KERNEL_SEEDS), NULL, 1, 1, n) != 0 || run_phases(p, 1, on, n) != 0;
    for (size_t e = 0; e < n && !failed; e++)
        failed = get(p, evaluation(asked[e])->b, gradient);
    if (!failed)
        fit_device_add(p->shelf.d, n);
    fit_device_unlock(p->shelf.d);
    return failed ? -1 : 0;
}

/* ---- for evaluate.c --------------------------------------------------------------------------------- */

int fit_objective_take(struct fit_bound *b, int gradient)
{
    struct fit_device *d = fit_device_used();
    if (!d || b->device_over)
        return 0;
    if (!b->device && !(b->device = fit_objective_enter(d, b, &b->device_place))) {
        b->device_over = 1;
        return 0;
    }
    struct evaluation own = {.b = b, .gradient = gradient};
    if (fit_device_queue_ask(&b->device->queue, &own.asked, b->device) == 0)
        return 1;
    fit_device_say(d, fit_device_failure(b->device->shelf.d));
    fit_objective_leave(b);
    b->device_over = 1;
    return 0;
}

void fit_objective_leave(struct fit_bound *b)
{
    if (b->device)
        fit_objective_free_place(b->device, b->device_place);
    b->device = NULL;
}
