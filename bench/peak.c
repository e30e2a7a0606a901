/* peak.c -- what the machine can do, as a scale for kernels: additions and multiplications per second of a
 * loop that lives in registers, and bytes per second of a loop that reads a long array, on one core and on
 * two.
 *
 *   fma     10 independent chains of vectors v = v*a + b, a fused multiply-add counts as two operations
 *   read    64 MiB per core (beyond the caches), one addition for each double
 *
 * Usage: peak [NAME CORES NS OPERATIONS BYTES]...
 * For kernels, on one core or two: nanoseconds, operations and bytes per point, and which part of the peak of
 * as many cores they reach.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FIT_VL FIT_VL_NATIVE
#include "fit/vmath.h"

enum { CHAINS = 10, STEPS = 200000, DOUBLES = 8 << 20, TURNS = 60 };

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct worker {
    void (*loop)(struct worker *);
    pthread_barrier_t *together;
    double *data, result, best;
};

static void fma_loop(struct worker *w)
{
    fit_vd v[CHAINS], a = fit_vset1(1 - 0x1p-40), b = fit_vset1(0x1p-40), sum = {0};
    for (int c = 0; c < CHAINS; c++)
        v[c] = fit_vset1(0.5 + 0.01 * c);
    for (int k = 0; k < STEPS; k++)
        for (int c = 0; c < CHAINS; c++)
            v[c] = v[c] * a + b;
    for (int c = 0; c < CHAINS; c++)
        sum += v[c];
    w->result = fit_vsum(sum);
}

static void read_loop(struct worker *w)
{
    fit_vd s[8] = {{0}};
    for (size_t i = 0; i < DOUBLES; i += 8 * FIT_VL)
        for (size_t c = 0; c < 8; c++)
            s[c] += fit_vload(w->data + i + c * FIT_VL);
    for (size_t c = 1; c < 8; c++)
        s[0] += s[c];
    w->result = fit_vsum(s[0]);
}

static void *work(void *p)
{
    struct worker *w = p;
    for (int turn = 0; turn < TURNS; turn++) {
        pthread_barrier_wait(w->together);
        double begin = seconds();
        w->loop(w);
        pthread_barrier_wait(w->together);
        double t = seconds() - begin;
        w->best = turn == 0 || t < w->best ? t : w->best;
    }
    return NULL;
}

/* Least time of the loop on all workers at once. */
static double timed(void (*loop)(struct worker *), int n, double *const data[2])
{
    pthread_barrier_t together;
    pthread_t thread[2];
    struct worker w[2];
    pthread_barrier_init(&together, NULL, (unsigned)n);
    for (int k = 0; k < n; k++) {
        w[k] = (struct worker){loop, &together, data[k], 0, 0};
        if (pthread_create(&thread[k], NULL, work, &w[k]) != 0)
            exit(1);
    }
    double slowest = 0;
    for (int k = 0; k < n; k++) {
        pthread_join(thread[k], NULL);
        slowest = w[k].best > slowest ? w[k].best : slowest;
        if (w[k].result == 0.125) /* never: the loops are not removed */
            printf(" ");
    }
    pthread_barrier_destroy(&together);
    return slowest;
}

int main(int argc, char **argv)
{
    double *data[2];
    for (int k = 0; k < 2; k++) {
        data[k] = aligned_alloc(64, DOUBLES * sizeof(double));
        if (!data[k])
            return 1;
        for (size_t i = 0; i < DOUBLES; i++)
            data[k][i] = 1e-3 * (double)(i % 97);
    }
    double flops[2], bytes[2];
    for (int n = 1; n <= 2; n++) {
        flops[n - 1] = 2.0 * STEPS * CHAINS * FIT_VL * n / timed(fma_loop, n, data);
        bytes[n - 1] = (double)n * DOUBLES * sizeof(double) / timed(read_loop, n, data);
        printf("  %d core%s                            %6.1f Gflop/s   %6.1f GB/s read   (vectors of %d)\n", n,
               n > 1 ? "s" : " ", 1e-9 * flops[n - 1], 1e-9 * bytes[n - 1], FIT_VL);
    }
    for (int k = 1; k + 4 < argc; k += 5) {
        int n = argv[k + 1][0] == '2' ? 2 : 1;
        double ns = strtod(argv[k + 2], NULL), operations = strtod(argv[k + 3], NULL),
               read = strtod(argv[k + 4], NULL);
        printf("  %-25s %d core%s  %6.1f Gflop/s = %2.0f %%   %5.1f GB/s = %2.0f %%\n", argv[k], n, n > 1 ? "s" : " ",
               operations / ns, 1e11 * operations / ns / flops[n - 1], read / ns, 1e11 * read / ns / bytes[n - 1]);
    }
    free(data[0]);
    free(data[1]);
    return 0;
}
