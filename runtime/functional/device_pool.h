/* device_pool.h -- shared by on_device.c (evaluations) and device_pool.c (data on the device). */
#pragma once

#include "device/device.h"
#include "device/queue.h"
#include "device/shelf.h"
#include "fit/gpu_objective.h"
#include "functional/functional.h"

/* Offsets in the memory of a slot, in doubles. */
struct fit_objective_area {
    size_t size, number, weight, term, partial, number_slope, slopes, nslope;
    size_t *array, *slope; /* narray */
    size_t *plane;         /* noperator */
};

struct fit_objective_pool {
    struct fit_shelved shelf; /* its places are for evaluations */
    struct fit_device_module *module;
    const struct fit_functional *o;
    const struct fit_gpu_program *program;
    struct fit_objective_area area;
    size_t *size;          /* of axes */
    long *shape;           /* nshape, then the places of evaluations */
    size_t nshape;
    double *shared;        /* until they are there */
    size_t nshared;
    uint64_t digest;       /* of shape and shared */
    long **item;           /* of each phase, forward and backward: numbers */
    size_t *nitem, *parts; /* parts of a complex value */
    void *shape_there, *store, **item_there;
    double *staging;
    struct fit_device_queue queue;
    struct fit_arena arena;
};

/* A slot for b, with its data; NULL: the device has no kernels for it, or no memory (fit_device_say has the reason). */
struct fit_objective_pool *fit_objective_enter(struct fit_device *d, const struct fit_bound *b, size_t *place);
void fit_objective_free_place(struct fit_objective_pool *p, size_t place);

/* on_device.c: the function that the queue of a pool calls. */
int fit_objective_together(const struct fit_device_asked *a, const struct fit_device_asked *b);
int fit_objective_serve(void *user, size_t n, struct fit_device_asked *const *asked);
