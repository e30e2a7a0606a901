/* speckle_kernel_impl.h -- shared by the kernel (speckle_kernel.c) and its making (speckle_equations.c). */
#pragma once

#include "base/arena.h"
#include "errors/speckle_kernel.h"

struct fit_speckle_private {
    const struct fit_kernel *inner;
    const struct fit_layout *layout; /* of the inner kernel */
    size_t ng, n, frames, P, nterm, each; /* P: rows of a group; each: pairs of blocks */
    long *term;          /* nterm: linear parameter, -1: the rest */
    int threads;
    double *weight;      /* ng x P x each: of the means between blocks a <= c in the sums */
    double *constant;    /* ng x P: the intercept's b_q */
    double *value;       /* ng x P: the rows; NaN: there is none */
    size_t *first;       /* ng: place of the first row */
    struct fit_param *linear;
    struct fit_axis axis;
    struct fit_arena storage;
};

/* Index at which the pairs of block a with itself and later ones begin. */
static inline size_t fit_speckle_row(size_t n, size_t a)
{
    return a * n - a * (a - 1) / 2;
}

/* Room for one row of blocks: places of pairs, values, derivatives; and lin. */
struct fit_speckle_room {
    uint32_t *i, *j, *g;
    double *mean, *jac, *lin;
};

size_t fit_speckle_room_size(const struct fit_speckle_private *k);
struct fit_speckle_room fit_speckle_room_of(const struct fit_speckle_private *k, double *at);

/* The mean with the lin of the room, and its derivatives, between block a and those from a on; returns how many. */
size_t fit_speckle_model_row(const struct fit_speckle_private *k, const double *ws, const struct fit_speckle_room *r,
                             size_t g, size_t a, int derivative);

/* The descriptor of the kernel. */
void fit_speckle_descriptor(struct fit_speckle_kernel *made);
