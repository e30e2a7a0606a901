/* harness.c -- times of the kernels for accelerators on the card at hand, without the rest of homodyne-gen.
 *
 * Built by bench/gpu.sh from this file, runtime/device, the emitted text of the model laminar (tests/golden/gpu) as
 * kernels of one core, as plain C and as PTX.  Needs a C compiler, and the CUDA driver when it runs.
 *     harness DEVICE FRAMES GROUPS PTX     one line of JSON to standard output
 * Data are noise about 1 with one tile grid as data/dataset.c makes it; parameters are those of the model's screen. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/sums_impl.h"
#include "fit/gpu_shape.h"

enum { PANEL = 64, CHUNK = 64, MOST = 8192, REPEAT = 9, CHAINS = 4 };

extern const struct fit_kernel laminar_kernel;
extern const struct fit_gpu_program laminar_program;
static const struct fit_kernel *const kernels[] = {&laminar_kernel, NULL};
static struct fit_gpu_source sources[] = {{&laminar_program, NULL, NULL}, {NULL, NULL, NULL}};

/* ---- what of the runtime is not linked ------------------------------------------------------------------- */

const unsigned char embedded_gpu_h[1], embedded_gpu_shape_h[1], embedded_gpu_libm_h[1],
    embedded_gpu_coefficients_h[1], embedded_gpu_functional_h[1],
    embedded_gpu_objective_h[1], embedded_vmath_exp_h[1], embedded_vmath_trig_h[1],
    embedded_vmath_gamma_h[1], embedded_vmath_coefficients_h[1], embedded_vmath_special_h[1],
    embedded_vmath_bessel_h[1], embedded_vmath_bessel_second_h[1], embedded_vmath_faddeeva_h[1],
    embedded_vmath_erf_h[1];

size_t fit_tile_doubles(const struct fit_layout *l, const struct fit_tile *t)
{
    size_t n = 0;
    for (size_t i = t->i0; i < t->i1; i++)
        n += (t->j1 + 7) / 8 - (t->j0 > i + 1 ? t->j0 : i + 1) / 8;
    return n * l->ngroup * FIT_LANES;
}

size_t fit_dataset_buffer(const struct fit_dataset *ds)
{
    (void)ds;
    return 0;
}

int fit_dataset_streamed(const struct fit_dataset *ds)
{
    (void)ds;
    return 0;
}

void fit_dataset_begin(const struct fit_dataset *ds)
{
    (void)ds;
}

void fit_dataset_begin_share(const struct fit_dataset *ds, size_t first, size_t last)
{
    (void)ds, (void)first, (void)last;
}

void fit_dataset_end(const struct fit_dataset *ds)
{
    (void)ds;
}

void fit_dataset_abandon(const struct fit_dataset *ds)
{
    (void)ds;
}

const struct fit_tile *fit_dataset_tile(const struct fit_dataset *ds, size_t k, double *buffer, struct fit_tile *own)
{
    (void)buffer, (void)own;
    return &ds->tile[k];
}

int fit_ranks_shared(void)
{
    return 0;
}

size_t fit_ranks_size(void)
{
    return 1;
}

size_t fit_ranks_rank(void)
{
    return 0;
}

double fit_ranks_least(double x)
{
    return x;
}

void fit_ranks_gather(const double *mine, const size_t *count, double *all)
{
    memcpy(all, mine, count[0] * sizeof *all);
}

/* ---- data ------------------------------------------------------------------------------------------------ */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *room(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 127) / 64 * 64);
    if (!p) {
        fprintf(stderr, "harness: no memory for %zu MB\n", bytes >> 20);
        exit(1);
    }
    return p;
}

static void geometry(struct fit_dataset *ds, size_t n, size_t ng)
{
    static double setting[] = {0.0054, 2e6};
    static const double *coord[1];
    double *time = room(n * sizeof *time), *phi = room(ng * sizeof *phi);
    uint32_t *frame = room(n * sizeof *frame);
    for (size_t k = 0; k < n; k++) {
        time[k] = 0.1 * (double)k;
        frame[k] = (uint32_t)k;
    }
    for (size_t g = 0; g < ng; g++)
        phi[g] = -90 + 180.0 * (double)g / (double)ng;
    coord[0] = phi;
    ds->layout = (struct fit_layout){.setting = setting, .ngroup = ng, .coord = coord, .ntime = n, .time = time,
                                     .step = 0.1, .nframe = n, .frame = frame, .panel = PANEL, .chunk = CHUNK};
    ds->stamp = 1;
    ds->npoint = n * (n - 1) / 2 * ng;
}

static struct fit_dataset data(size_t n, size_t ng)
{
    struct fit_dataset ds = {0};
    size_t at = 0;
    geometry(&ds, n, ng);
    ds.tile = room((n / CHUNK + 1) * (n / PANEL + 1) * sizeof *ds.tile);
    for (size_t i0 = 0; i0 + 1 < n; i0 += CHUNK)
        for (size_t j0 = (i0 + 1) / PANEL * PANEL; j0 < n; j0 += PANEL) {
            const size_t j1 = j0 + PANEL < n ? j0 + PANEL : n, i1 = i0 + CHUNK < j1 - 1 ? i0 + CHUNK : j1 - 1;
            struct fit_tile *t = &ds.tile[ds.ntile++];
            *t = (struct fit_tile){.i0 = i0, .i1 = i1, .j0 = j0, .j1 = j1};
            at += fit_tile_doubles(&ds.layout, t);
        }
    double *y = room(at * sizeof *y), *sum = room(3 * ng * sizeof *sum);
    for (size_t k = 0; k < at; k++)
        y[k] = 0.1 + 0.01 * (double)(k * 2654435761u % 1000) / 1000;
    for (size_t k = 0; k < 3 * ng; k++)
        sum[k] = 1;
    for (size_t k = 0; k < ds.ntile; k++) {
        ds.tile[k].y = y;
        ds.tile[k].sum = sum;
        y += fit_tile_doubles(&ds.layout, &ds.tile[k]);
    }
    return ds;
}

struct point {
    double *ws, *lin, *adj, *out;
};

static struct point point_at(const struct fit_dataset *ds, size_t n)
{
    const size_t ng = ds->layout.ngroup, each = 4;
    struct point p = {room(laminar_kernel.workspace(&ds->layout) * 8), room(2 * ng * 8), room(each * ng * 8),
                      room(MOST * 8)};
    if (laminar_kernel.prepare(&ds->layout, laminar_kernel.screen + n * laminar_kernel.nparam, 1, p.ws) != FIT_EVAL_OK)
        exit(1);
    for (size_t g = 0; g < ng; g++) {
        p.lin[2 * g] = 0.3;
        p.lin[2 * g + 1] = 0.02;
        memcpy(p.adj + each * g, (double[]){1, 0.1, 0.02, 0.1}, 4 * sizeof(double));
    }
    return p;
}

/* ---- times ----------------------------------------------------------------------------------------------- */

static void call(struct fit_device_sums *s, enum fit_device_sum what, const struct point *p)
{
    const struct fit_device_request r = {what, p->ws, p->lin, p->adj, p->out};
    if (fit_device_sums_take(s, &r) != 0) {
        fprintf(stderr, "harness: %s\n", fit_device_failure(s->pool->shelf.d));
        exit(1);
    }
}

/* Whole calls: tables there, kernels, totals, sums back.  The best of some. */
static double time_call(struct fit_device_sums *s, enum fit_device_sum what, const struct point *p)
{
    double best = INFINITY;
    for (int k = 0; k < REPEAT; k++) {
        const double begin = now();
        call(s, what, p);
        best = fmin(best, now() - begin);
    }
    return best;
}

/* Kernels of some kinds alone, one behind the other, for so many evaluations at a time. */
static double time_kernels(struct fit_device_sums *s, unsigned kinds, size_t calls)
{
    enum { RUNS = 20 };
    double one;
    const double begin = now();
    const struct fit_device_pool *x = s->pool;
    for (int run = 0; run < RUNS; run++)
        for (size_t k = 0; k < laminar_program.npass; k++) {
            const struct fit_gpu_pass *p = &laminar_program.pass[k];
            struct fit_device_call c = {p->name, p->plain, {x->items.n, p->groups ? s->ds->layout.ngroup : 1, calls},
                                        {x->shape[k].b, x->item.b, x->fixed.b, x->ws.b, x->lin.b, x->adj.b, x->y.b,
                                         x->w.b, x->part.b}, 9};
            if (kinds >> p->kind & 1 && fit_device_run(x->module, &c) != 0)
                exit(1);
        }
    fit_device_read(x->shelf.d, x->part.b, &one, sizeof one);
    return (now() - begin) / RUNS;
}

static double time_core(const struct fit_dataset *ds, const struct point *p, int derivatives)
{
    double *scratch = room(laminar_kernel.scratch(&ds->layout) * 8), *one = room(MOST * 8), best = INFINITY;
    for (int k = 0; k < 3; k++) {
        const double begin = now();
        for (size_t t = 0; t < ds->ntile; t++)
            if (derivatives)
                laminar_kernel.normal(&ds->layout, p->ws, p->lin, &ds->tile[t], scratch, one);
            else
                laminar_kernel.moments(&ds->layout, p->ws, &ds->tile[t], scratch, one);
        best = fmin(best, now() - begin);
        if (best > 5)
            break;
    }
    return best;
}

/* The largest difference of the sums from those of one core, over their scale. */
static double compare_core(const struct fit_dataset *ds, const struct point *p)
{
    const size_t K = laminar_kernel.nparam, n = K * (K + 1) / 2 + K;
    double *scratch = room(laminar_kernel.scratch(&ds->layout) * 8), *one = room(MOST * 8), sum[64] = {0}, worst = 0;
    for (size_t t = 0; t < ds->ntile; t++) {
        laminar_kernel.normal(&ds->layout, p->ws, p->lin, &ds->tile[t], scratch, one);
        for (size_t k = 0; k < n; k++)
            sum[k] += one[k];
    }
    for (size_t k = 0, d = 0; k < K; d += K - k++)
        for (size_t l = k, e = d; l < K; e += K - l++)
            worst = fmax(worst, fabs(p->out[d + l - k] - sum[d + l - k]) / (sqrt(sum[d] * sum[e]) + 1e-300));
    return worst;
}

/* 1: two calls have the same bits. */
static int same_again(struct fit_device_sums *s, const struct point *p)
{
    double *before = room(MOST * 8);
    call(s, FIT_DEVICE_NORMAL, p);
    memcpy(before, p->out, MOST * 8);
    call(s, FIT_DEVICE_NORMAL, p);
    return memcmp(before, p->out, (35 + 14 * s->ds->layout.ngroup) * 8) == 0;
}

struct chain {
    struct fit_device_sums *s;
    struct point p;
    int steps;
};

static void *leap(void *user)
{
    const struct chain *c = user;
    for (int k = 0; k < c->steps; k++) {
        call(c->s, FIT_DEVICE_MOMENTS, &c->p);
        call(c->s, FIT_DEVICE_GRADIENT, &c->p);
    }
    return NULL;
}

/* Seconds of a leapfrog of all chains: moments and gradients, with their tables, as NUTS wants them. */
static double time_chains(struct fit_device_sums *s)
{
    enum { STEPS = 100 };
    pthread_t thread[CHAINS];
    struct chain c[CHAINS];
    for (size_t k = 0; k < CHAINS; k++)
        c[k] = (struct chain){s, point_at(s->ds, k), STEPS};
    const double begin = now();
    for (size_t k = 0; k < CHAINS; k++)
        pthread_create(&thread[k], NULL, leap, &c[k]);
    for (size_t k = 0; k < CHAINS; k++)
        pthread_join(thread[k], NULL);
    return (now() - begin) / STEPS;
}

static unsigned char *read_all(const char *path)
{
    enum { ROOM = 1 << 22 };
    FILE *f = fopen(path, "rb");
    unsigned char *text = calloc(1, ROOM);
    if (!f || !text || fread(text, 1, ROOM - 1, f) == 0)
        return NULL;
    fclose(f);
    return text;
}

static void report(struct fit_device_sums *s, const struct fit_dataset *ds, double upload)
{
    struct point p = point_at(ds, 0);
    const double core = time_core(ds, &p, 1), value = time_core(ds, &p, 0);
    const double call_moments = time_call(s, FIT_DEVICE_MOMENTS, &p);
    const double moments = time_kernels(s, 1u << FIT_GPU_MOMENTS, 1);
    const double call_gradient = time_call(s, FIT_DEVICE_GRADIENT, &p);
    const double gradient = time_kernels(s, 1u << FIT_GPU_GRADIENT, 1);
    const double call_normal = time_call(s, FIT_DEVICE_NORMAL, &p);
    const double normal = time_kernels(s, 1u << FIT_GPU_NORMAL | 1u << FIT_GPU_CROSS, 1);
    const int same = same_again(s, &p);
    const double worst = compare_core(ds, &p), leapfrog = time_chains(s);
    printf("{\"device\": \"%s\", \"values\": %zu, \"frames\": %zu, \"groups\": %zu, \"items\": %zu,\n"
           " \"upload_s\": %.4g, \"normal_kernels_ms\": %.4g, \"normal_call_ms\": %.4g, \"moments_kernels_ms\": %.4g,\n"
           " \"moments_call_ms\": %.4g, \"gradient_kernels_ms\": %.4g, \"gradient_call_ms\": %.4g,\n"
           " \"core_normal_ms\": %.4g, \"core_moments_ms\": %.4g, \"times_one_core\": %.4g,\n"
           " \"leapfrog_of_4_chains_ms\": %.4g, \"nuts_4_chains_2000_draws_15_leapfrogs_s\": %.4g,\n"
           " \"same_bits_again\": %s, \"worst_against_core\": %.2e}\n",
           fit_device_about(s->pool->shelf.d)->name, ds->npoint, ds->layout.nframe, ds->layout.ngroup,
           s->pool->items.n, upload, 1e3 * normal, 1e3 * call_normal, 1e3 * moments, 1e3 * call_moments, 1e3 * gradient,
           1e3 * call_gradient, 1e3 * core, 1e3 * value, core / normal, 1e3 * leapfrog, leapfrog * 2000 * 15,
           same ? "true" : "false", worst);
}

int main(int argc, char **argv)
{
    struct fit_device *d;
    struct fit_device_sums *s;
    struct fit_error err;
    char note[400];
    if (argc != 5) {
        fprintf(stderr, "usage: harness DEVICE FRAMES GROUPS PTX\n");
        return 2;
    }
    sources[0].ptx = read_all(argv[4]);
    sources[0].text = (const unsigned char *)"";
    struct fit_dataset ds = data((size_t)strtoul(argv[2], NULL, 10), (size_t)strtoul(argv[3], NULL, 10));
    fit_device_offer(sources, kernels);
    if (fit_device_open(argv[1], &d, note, sizeof note, &err) != FIT_OK || !d) {
        fprintf(stderr, "harness: %s\n", note[0] ? note : err.message);
        return 3;
    }
    const double begin = now();
    if (fit_device_sums_new(d, &laminar_kernel, &ds, &s, &err) != FIT_OK) {
        fprintf(stderr, "harness: %s\n", err.message);
        return 1;
    }
    report(s, &ds, now() - begin);
    fit_device_sums_free(s);
    fit_device_close(d);
    return 0;
}
