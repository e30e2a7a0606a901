/* rat43.c -- times the kernel emitted from models/nist/rat43.lua against rat43_hand.c: residual and
 * Jacobian of 1000 points, nanoseconds per point, one core.
 *
 *   points  the emitted direct formula, J stored: against naive, shared and vectors
 *   normal  the emitted sums J^T J, J^T r: against fused
 *
 * All in turn, again and again; the least time of each counts, since other work of the machine only adds.
 * The numbers are compared first; a difference of more than 1e-12 ends the program.
 */
#include "rat43_hand.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fit/kernel.h"

enum { POINTS = 1000, TURNS = 400, WAYS = 6, SUMS = 12 };
static const char *const name[WAYS] = {"naive, libm", "by hand, libm", "by hand, vectors", "emitted points",
                                       "by hand, vectors, sums", "emitted normal"};

extern const struct fit_kernel FIT_KERNEL_SYMBOL;

struct run {
    const struct fit_kernel *k;
    struct fit_layout layout;
    struct fit_tile tile;
    double b[4], *x, *y, *r, *mean, *J, *ws, *scratch, sum[2][SUMS];
    uint32_t *index;
};

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double *doubles(size_t n)
{
    double *p = aligned_alloc(64, (n * sizeof *p + 127) / 64 * 64);
    if (!p)
        exit(1);
    return p;
}

static void once(struct run *q, int way)
{
    switch (way) {
    case 0: rat43_naive(q->b, POINTS, q->x, q->y, q->r, q->J); break;
    case 1: rat43_shared(q->b, POINTS, q->x, q->y, q->r, q->J); break;
    case 2: rat43_vectors(q->b, POINTS, q->x, q->y, q->r, q->J); break;
    case 3:
        q->k->prepare(&q->layout, q->b, 1, q->ws);
        q->k->points(&q->layout, q->ws, q->b + 3, &(struct fit_points){POINTS, q->index, NULL, NULL}, q->mean, q->J);
        for (size_t i = 0; i < POINTS; i++)
            q->r[i] = q->y[i] - q->mean[i];
        break;
    case 4: rat43_fused(q->b, POINTS, q->x, q->y, q->sum[0]); break;
    default:
        q->k->prepare(&q->layout, q->b, 1, q->ws);
        q->k->normal(&q->layout, q->ws, q->b + 3, &q->tile, q->scratch, q->sum[1]);
        break;
    }
}

static void set_up(struct run *q)
{
    q->k = &FIT_KERNEL_SYMBOL;
    q->x = doubles(POINTS);
    q->y = doubles(POINTS);
    q->r = doubles(POINTS);
    q->mean = doubles(POINTS);
    q->J = doubles(4 * POINTS);
    q->index = malloc(POINTS * sizeof *q->index);
    if (!q->index)
        exit(1);
    for (size_t i = 0; i < POINTS; i++) {
        q->x[i] = 0.1 + 0.015 * (double)i;
        q->y[i] = 1.02 * q->b[3] * pow(1 + exp(q->b[0] - q->b[1] * q->x[i]), -1 / q->b[2]);
        q->index[i] = (uint32_t)i;
    }
    static const double *column[2];
    column[0] = q->x;
    column[1] = q->y;
    q->layout = (struct fit_layout){.ngroup = 1, .nrow = POINTS, .column = column};
    q->tile = (struct fit_tile){.i1 = POINTS, .y = q->y};
    q->ws = doubles(q->k->workspace(&q->layout));
    q->scratch = doubles(q->k->scratch(&q->layout));
}

/* Largest difference of the Jacobians and of the sums, relative to the largest of their kind. */
static double difference(struct run *q)
{
    static double J[4 * POINTS];
    double worst = 0;
    once(q, 0);
    for (size_t i = 0; i < 4 * POINTS; i++)
        J[i] = q->J[i];
    for (int way = 1; way < 4; way++) {
        once(q, way);
        for (size_t i = 0; i < 4 * POINTS; i++) { /* of the kernel: columns */
            const double x = q->J[way == 3 ? i % 4 * POINTS + i / 4 : i];
            worst = fmax(worst, fabs(x - J[i]) / fmax(fabs(J[i]), 1e-30));
        }
    }
    once(q, 4);
    once(q, 5);
    for (int k = 0; k < SUMS; k++)
        worst = fmax(worst, fabs(q->sum[0][k] - q->sum[1][k]) / fabs(q->sum[0][k]));
    return worst;
}

int main(void)
{
    struct run q = {.b = {5.2771, 0.75963, 1.2792, 699.64}};
    double best[WAYS] = {0};
    set_up(&q);
    double worst = difference(&q);
    if (!(worst < 1e-12)) {
        printf("rat43: results differ by %.2g\n", worst);
        return 1;
    }
    for (int turn = 0; turn < TURNS; turn++)
        for (int way = 0; way < WAYS; way++) {
            double begin = seconds();
            once(&q, way);
            double t = seconds() - begin;
            best[way] = turn == 0 || t < best[way] ? t : best[way];
        }
    for (int way = 0; way < WAYS; way++)
        printf("  %-34s %8.2f ns per point\n", name[way], 1e9 * best[way] / POINTS);
    printf("  emitted / by hand: points %.2f (of libm), %.2f (of vectors), normal %.2f   (results agree to %.1g)\n",
           best[3] / best[1], best[3] / best[2], best[5] / best[4], worst);
    return 0;
}
