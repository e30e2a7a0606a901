/* heterodyne.c -- times the kernel emitted from models/heterodyne.lua against heterodyne_hand.c:
 * normal equations of 600 frames and 1, 3 and 23 angles, nanoseconds per pair and angle, one core.
 *
 * Tile by tile in turn; the least time of each tile counts, since other work of the machine only
 * adds.  The numbers are compared first; a difference of more than 1e-9 of the size of the sums
 * ends the program.
 */
#include "heterodyne_hand.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

extern const struct fit_kernel FIT_KERNEL_SYMBOL;

enum { FRAMES = 600, PANEL = 256, CHUNK = 128, TURNS = 9, NP = 14, NSUM = NP * (NP + 1) / 2 + NP };
static const double theta[NP] = {1e4, 0.1, 50, 3e4, 0.2, 10, 1e3, -0.1, 20, 0.5, 0.01, 0, 0.1, 3},
                    q = 0.0054;

struct run {
    struct fit_layout layout;
    double time[FRAMES], phi[64], *lin, *ws, *scratch, *y, *sum, *out[2];
    uint32_t frame[FRAMES];
    const double *coord[1];
    struct heterodyne_hand *hand;
    size_t nout;
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

static void set_up(struct run *r, size_t ngroup)
{
    const struct fit_kernel *k = &FIT_KERNEL_SYMBOL;
    for (size_t i = 0; i < FRAMES; i++)
        r->time[i] = 0.1 * (double)i, r->frame[i] = (uint32_t)i;
    for (size_t g = 0; g < ngroup; g++)
        r->phi[g] = 180.0 * (double)g / (double)ngroup + 5;
    r->coord[0] = r->phi;
    r->layout = (struct fit_layout){.setting = &q,
                                    .ngroup = ngroup,
                                    .coord = r->coord,
                                    .ntime = FRAMES,
                                    .time = r->time,
                                    .step = 0.1,
                                    .nframe = FRAMES,
                                    .frame = r->frame,
                                    .panel = PANEL,
                                    .chunk = CHUNK};
    r->nout = NSUM + ngroup * 2 * NP;
    r->lin = doubles(2 * ngroup);
    for (size_t g = 0; g < ngroup; g++)
        r->lin[2 * g] = 0.3 + 0.001 * (double)g, r->lin[2 * g + 1] = 0.01;
    r->ws = doubles(k->workspace(&r->layout));
    r->scratch = doubles(k->scratch(&r->layout));
    r->out[0] = doubles(r->nout);
    r->out[1] = doubles(r->nout);
    r->sum = doubles(3 * ngroup);
    r->y = doubles((size_t)CHUNK * PANEL * ngroup);
    for (size_t i = 0; i < (size_t)CHUNK * PANEL * ngroup; i++)
        r->y[i] = 0.05 + 1e-3 * (double)(i % 97);
    r->hand = heterodyne_hand_new(&r->layout);
    if (!r->hand)
        exit(1);
    heterodyne_hand_prepare(r->hand, theta, q);
    k->prepare(&r->layout, theta, 1, r->ws);
}

static void clean_up(struct run *r)
{
    double *all[] = {r->lin, r->ws, r->scratch, r->out[0], r->out[1], r->sum, r->y};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
    heterodyne_hand_free(r->hand);
}

static double once(struct run *r, const struct fit_tile *t, int emitted)
{
    double begin = seconds();
    if (emitted)
        FIT_KERNEL_SYMBOL.normal(&r->layout, r->ws, r->lin, t, r->scratch, r->out[1]);
    else
        heterodyne_hand_normal(r->hand, r->lin, t, r->out[0]);
    return seconds() - begin;
}

/* Each sum of products against the diagonal, the others against the largest. */
static void compare(const struct run *r)
{
    double largest = 0, diagonal[NP];
    for (size_t k = 0; k < r->nout; k++)
        largest = fmax(largest, k < NSUM - NP ? 0 : fabs(r->out[0][k]));
    for (size_t k = 0; k < NP; k++)
        diagonal[k] = sqrt(r->out[0][k * NP - k * (k + 1) / 2 + k]);
    for (size_t k = 0, n = 0; k < NP; k++)
        for (size_t l = k; l < NP; l++, n++)
            if (!(fabs(r->out[0][n] - r->out[1][n]) <= 1e-9 * diagonal[k] * diagonal[l])) {
                fprintf(stderr, "heterodyne: sum %zu, %zu: by hand %.17g, emitted %.17g\n", k, l,
                        r->out[0][n], r->out[1][n]);
                exit(1);
            }
    for (size_t n = NSUM - NP; n < r->nout; n++)
        if (!(fabs(r->out[0][n] - r->out[1][n]) <= 1e-9 * largest)) {
            fprintf(stderr, "heterodyne: sum %zu: by hand %.17g, emitted %.17g\n", n, r->out[0][n],
                    r->out[1][n]);
            exit(1);
        }
}

static void measure(size_t ngroup)
{
    static struct run r;
    double time[2] = {0}, pairs = 0;
    set_up(&r, ngroup);
    for (size_t j0 = 0; j0 < FRAMES; j0 += PANEL) {
        size_t j1 = j0 + PANEL < FRAMES ? j0 + PANEL : FRAMES;
        for (size_t i0 = 0; i0 < j1 - 1; i0 += CHUNK) {
            size_t i1 = i0 + CHUNK < j1 - 1 ? i0 + CHUNK : j1 - 1;
            struct fit_tile t = {.i0 = i0, .i1 = i1, .j0 = j0, .j1 = j1, .y = r.y, .sum = r.sum};
            double best[2] = {INFINITY, INFINITY};
            for (int turn = 0; turn < TURNS; turn++)
                for (int way = 0; way < 2; way++)
                    best[way] = fmin(best[way], once(&r, &t, way));
            compare(&r);
            time[0] += best[0], time[1] += best[1];
            for (size_t i = i0; i < i1; i++)
                pairs += (double)(j1 - (i + 1 > j0 ? i + 1 : j0));
        }
    }
    double scale = 1e9 / (pairs * (double)ngroup);
    printf("  %2zu angle%s  by hand %6.3f, emitted %6.3f ns per pair and angle; emitted / by hand "
           "%.2f\n",
           ngroup, ngroup == 1 ? " " : "s", scale * time[0], scale * time[1], time[1] / time[0]);
    clean_up(&r);
}

int main(void)
{
    measure(1);
    measure(3);
    measure(23);
    return 0;
}
