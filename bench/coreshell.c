/* coreshell.c -- times the kernel emitted from bench/coreshell.lua against coreshell_hand.c: 200 values of q, 40 radii,
 * one core, microseconds; values alone, and with the derivatives.  The numbers are compared first. */
#include "coreshell_hand.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "fit/kernel.h"

enum { N = 200, TURNS = 400, WAYS = 4 };
static const char *const name[WAYS] = {"by hand, values", "emitted model", "by hand, values and slopes",
                                       "emitted points, values and slopes"};

extern const struct fit_kernel FIT_KERNEL_SYMBOL;

struct run {
    const struct fit_kernel *k;
    struct fit_layout layout;
    struct fit_tile tile;
    struct coreshell hand;
    double *q, *value[2], *slope[2], *ws;
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

/* Linear parameters of the emitted model: those of the average alone. */
static const double lin[2] = {1e5, 0};

static void once(struct run *r, int way)
{
    switch (way) {
    case 0: coreshell_values(&r->hand, N, r->q, r->value[0]); break;
    case 1:
        r->k->prepare(&r->layout, r->hand.theta, 0, r->ws);
        r->k->model(&r->layout, r->ws, lin, &r->tile, r->value[1]);
        break;
    case 2: coreshell_slopes(&r->hand, N, r->q, r->value[0], r->slope[0]); break;
    default:
        r->k->prepare(&r->layout, r->hand.theta, 1, r->ws);
        r->k->points(&r->layout, r->ws, lin, &(struct fit_points){N, r->index, NULL, NULL}, r->value[1], r->slope[1]);
        break;
    }
}

/* Zeros of orthonormal Hermite polynomials of exp(-z^2/2), by Newton from those of a fit to their density. */
static void hermite(double *z, double *w)
{
    enum { n = CORESHELL_NODES };
    double lower = 0;
    for (int k = n / 2; k < n; k++) {
        double x = lower + (k == n / 2 ? 0.24 : 0.49), p = 1, before, slope, sum = 1, step = 1;
        for (int turn = 0; turn < 60 && fabs(step) > 1e-15; turn++) {
            before = 0, p = 1, sum = 0, slope = 0;
            for (int j = 0; j < n; j++) {
                const double next = (x * p - sqrt(j) * before) / sqrt(j + 1);
                sum += p * p;
                before = p;
                p = next;
            }
            slope = sqrt(n) * before;
            step = p / slope;
            for (int m = n / 2; m < k; m++) /* without the zeros known, which come in pairs */
                step = 1 / (1 / step - 1 / (x - z[m]) - 1 / (x + z[m]));
            x -= step;
        }
        z[k] = x, z[n - 1 - k] = -x;
        w[k] = w[n - 1 - k] = 1 / sum;
        lower = x;
    }
}

static void set_up(struct run *r)
{
    static double z[CORESHELL_NODES], w[CORESHELL_NODES];
    static const double *column[2];
    hermite(z, w);
    r->k = &FIT_KERNEL_SYMBOL;
    r->hand = (struct coreshell){z, w, {10, 0.1, 3, 0.5}};
    r->q = doubles(N);
    r->index = malloc(N * sizeof *r->index);
    for (int way = 0; way < 2; way++) {
        r->value[way] = doubles(N);
        r->slope[way] = doubles(6 * N);
    }
    for (size_t i = 0; i < N; i++) {
        r->q[i] = 0.01 * pow(100, (double)i / (N - 1));
        r->index[i] = (uint32_t)i;
    }
    column[0] = column[1] = r->q;
    r->layout = (struct fit_layout){.ngroup = 1, .nrow = N, .column = column};
    r->tile = (struct fit_tile){.i1 = N, .y = r->q};
    r->ws = doubles(r->k->workspace(&r->layout));
}

/* Largest difference relative to the largest of its column. */
static double difference(struct run *r)
{
    double worst = 0;
    once(r, 2);
    once(r, 3);
    for (int c = 0; c < 5; c++) {
        const double *x = c ? r->slope[0] + (c - 1) * N : r->value[0], *y = c ? r->slope[1] + (c - 1) * N : r->value[1];
        for (size_t i = 0; i < N; i++)
            worst = fmax(worst, fabs(x[i] - y[i]) / (fabs(x[i]) + 1e-6 * fabs(x[0])));
    }
    once(r, 0);
    once(r, 1);
    for (size_t i = 0; i < N; i++)
        worst = fmax(worst, fabs(r->value[0][i] / r->value[1][i] - 1));
    return worst;
}

int main(void)
{
    struct run r;
    double best[WAYS] = {0}, worst;
    set_up(&r);
    worst = difference(&r);
    if (!(worst < 1e-10)) {
        printf("coreshell: results differ by %.2g\n", worst);
        return 1;
    }
    for (int turn = 0; turn < TURNS; turn++)
        for (int way = 0; way < WAYS; way++) {
            double begin = seconds();
            once(&r, way);
            double t = seconds() - begin;
            best[way] = turn == 0 || t < best[way] ? t : best[way];
        }
    for (int way = 0; way < WAYS; way++)
        printf("  %-34s %8.1f us\n", name[way], 1e6 * best[way]);
    printf("  emitted / by hand: values %.2f, values and slopes %.2f   (results agree to %.1g)\n", best[1] / best[0],
           best[3] / best[2], worst);
    return 0;
}
