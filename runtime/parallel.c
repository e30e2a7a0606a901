/* parallel.c -- sums over tiles in a fixed tree, and how many threads to use for them.
 *
 * Takes a data set and a function that sums one tile; gives the total.  The order of additions is
 * decided by the number of tiles: leaf k holds tiles [k T / n, (k+1) T / n) for T tiles and n
 * leaves; the tree adds leaf k + 2^s to leaf k at level s.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "parallel.h"

#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct fit_parallel {
    const struct fit_dataset *ds;
    const volatile sig_atomic_t *interrupt;
    int threads;
    size_t nleaf, nout, stride; /* stride: doubles of the largest tile, rounded up */
    size_t nscratch;            /* doubles of scratch per thread */
    size_t nbuffer;             /* doubles per thread for a tile that is read from a file */
    double *partial;            /* nleaf x nout */
    double *tile;               /* threads x nout */
    double *scratch;            /* threads x nscratch */
    double *buffer;             /* threads x nbuffer */
};

double fit_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- how many threads ------------------------------------------------------------------------ */

#ifdef __linux__
/* The first hardware thread of the core to which cpu belongs, or cpu itself when the system does
 * not say. */
static int first_sibling(int cpu)
{
    char path[96];
    int first = cpu;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
    FILE *f = fopen(path, "r");
    if (f) {
        if (fscanf(f, "%d", &first) != 1)
            first = cpu;
        fclose(f);
    }
    return first;
}

static int physical_cores(void)
{
    cpu_set_t set;
    int n = 0, seen[CPU_SETSIZE] = {0};
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return omp_get_num_procs();
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET((size_t)cpu, &set))
            continue;
        int core = first_sibling(cpu);
        if (core < 0 || core >= CPU_SETSIZE)
            core = cpu;
        n += !seen[core];
        seen[core] = 1;
    }
    return n > 0 ? n : 1;
}

/* Reads "quota period" (cgroup v2) at path; cores granted, or 0 when there is no limit. */
static double quota_v2(const char *path)
{
    double quota = 0, period = 0;
    FILE *f = fopen(path, "r");
    if (!f)
        return 0;
    int got = fscanf(f, "%lf %lf", &quota, &period); /* "max 100000" gives 0 */
    fclose(f);
    return got == 2 && quota > 0 && period > 0 ? quota / period : 0;
}

static double read_number(const char *path)
{
    double v = 0;
    FILE *f = fopen(path, "r");
    if (!f)
        return 0;
    if (fscanf(f, "%lf", &v) != 1)
        v = 0;
    fclose(f);
    return v;
}

/* The least quota on the way from our cgroup to the root; 0 when there is none. */
static double cgroup_quota(void)
{
    char line[512], path[640];
    double least = 0, v1_quota, v1_period;
    FILE *f = fopen("/proc/self/cgroup", "r");
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, "0::", 3) != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        char *name = line + 3;
        for (;;) {
            snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", name);
            double q = quota_v2(path);
            if (q > 0 && (least <= 0 || q < least))
                least = q;
            char *slash = strrchr(name, '/');
            if (!slash)
                break;
            *slash = '\0';
        }
    }
    if (f)
        fclose(f);
    v1_quota = read_number("/sys/fs/cgroup/cpu/cpu.cfs_quota_us");
    v1_period = read_number("/sys/fs/cgroup/cpu/cpu.cfs_period_us");
    if (v1_quota > 0 && v1_period > 0 && (least <= 0 || v1_quota / v1_period < least))
        least = v1_quota / v1_period;
    return least;
}
#else
static int physical_cores(void)
{
    return omp_get_num_procs();
}

static double cgroup_quota(void)
{
    return 0;
}
#endif

int fit_parallel_default_threads(void)
{
    const char *asked = getenv("OMP_NUM_THREADS");
    int n = asked ? atoi(asked) : 0;
    if (n > 0)
        return n;
    n = physical_cores();
    double quota = cgroup_quota();
    if (quota > 0 && n > (int)(quota + 0.5))
        n = (int)(quota + 0.5);
    return n > 0 ? n : 1;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static double *alloc_doubles(size_t n)
{
    size_t bytes = (n * sizeof(double) + 127) / 64 * 64;
    double *p = aligned_alloc(64, bytes);
    if (p)
        memset(p, 0, bytes);
    return p;
}

static size_t multiple_of_8(size_t n)
{
    return (n + 7) / 8 * 8;
}

/* Waking a thread costs as much as it saves on fewer points than this. */
static int worthwhile_threads(size_t npoint)
{
    enum { POINTS_PER_THREAD = 200000 };
    size_t most = 1 + npoint / POINTS_PER_THREAD, all = (size_t)fit_parallel_default_threads();
    return (int)(all < most ? all : most);
}

enum fit_status fit_parallel_new(const struct fit_dataset *ds, const struct fit_parallel_need *need,
                                 struct fit_parallel **par, struct fit_error *err)
{
    struct fit_parallel *p = calloc(1, sizeof *p);
    *par = NULL;
    if (!p)
        return fit_fail(err, FIT_ERR_MEMORY, "fit: out of memory");
    p->ds = ds;
    p->interrupt = need->interrupt;
    p->threads = need->threads > 0 ? need->threads : worthwhile_threads(ds->npoint);
    p->nleaf = ds->ntile < FIT_PARALLEL_LEAVES ? ds->ntile : FIT_PARALLEL_LEAVES;
    p->nout = multiple_of_8(need->nout);
    for (size_t t = 0; need->nscratch > 0 && t < ds->ntile; t++) {
        size_t n = multiple_of_8(fit_tile_doubles(&ds->layout, &ds->tile[t]));
        p->stride = n > p->stride ? n : p->stride;
    }
    p->nscratch = need->nscratch * p->stride + multiple_of_8(need->nextra);
    size_t threads = (size_t)p->threads;
    p->partial = alloc_doubles(p->nleaf * p->nout);
    p->tile = alloc_doubles(threads * p->nout);
    p->scratch = alloc_doubles(threads * p->nscratch);
    p->nbuffer = multiple_of_8(fit_dataset_buffer(ds));
    p->buffer = alloc_doubles(threads * p->nbuffer);
    if (!p->partial || !p->tile || !p->scratch || !p->buffer) {
        size_t numbers =
            (p->nleaf + threads) * p->nout + threads * (p->nscratch + p->nbuffer);
        fit_parallel_free(p);
        return fit_fail(err, FIT_ERR_MEMORY, "fit: cannot allocate %zu MB of work space",
                        numbers >> 17);
    }
    *par = p;
    return FIT_OK;
}

void fit_parallel_free(struct fit_parallel *par)
{
    if (!par)
        return;
    free(par->partial);
    free(par->tile);
    free(par->scratch);
    free(par->buffer);
    free(par);
}

int fit_parallel_threads(const struct fit_parallel *par)
{
    return par->threads;
}

void fit_parallel_uninterruptible(struct fit_parallel *par)
{
    par->interrupt = NULL;
}

static void sum_leaf(struct fit_parallel *p, const struct fit_parallel_task *task, size_t leaf,
                     size_t thread)
{
    size_t first = leaf * p->ds->ntile / p->nleaf, last = (leaf + 1) * p->ds->ntile / p->nleaf;
    double *sum = p->partial + leaf * p->nout, *one = p->tile + thread * p->nout;
    double *scratch = p->scratch + thread * p->nscratch;
    struct fit_tile own;
    for (size_t t = first; t < last; t++) {
        if (p->interrupt && *p->interrupt) {
            fit_dataset_abandon(p->ds);
            return;
        }
        const struct fit_tile *tile =
            fit_dataset_tile(p->ds, t, p->buffer + thread * p->nbuffer, &own);
        if (!tile)
            return;
        double *out = t == first ? sum : one;
        task->tile(task->user, tile, scratch, p->stride, out);
        for (size_t k = 0; t != first && k < task->nout; k++)
            sum[k] += one[k];
    }
}

int fit_parallel_sum(struct fit_parallel *par, const struct fit_parallel_task *task, double *total)
{
    size_t n = par->nleaf;
    fit_dataset_begin(par->ds);
    if (par->threads == 1 || n == 1) {
        for (size_t k = 0; k < n; k++)
            sum_leaf(par, task, k, 0);
    } else {
#pragma omp parallel for schedule(dynamic, 1) num_threads(par->threads)
        for (size_t k = 0; k < n; k++)
            sum_leaf(par, task, k, (size_t)omp_get_thread_num());
    }
    fit_dataset_end(par->ds);
    if ((par->interrupt && *par->interrupt) || fit_dataset_status(par->ds, NULL) != FIT_OK)
        return 1;
    for (size_t step = 1; step < n; step *= 2)
        for (size_t k = 0; k + step < n; k += 2 * step) {
            double *a = par->partial + k * par->nout;
            const double *b = par->partial + (k + step) * par->nout;
            for (size_t i = 0; i < task->nout; i++)
                a[i] += b[i];
        }
    for (size_t i = 0; i < task->nout; i++)
        total[i] = n > 0 ? par->partial[i] : 0;
    return 0;
}

void fit_parallel_each(struct fit_parallel *par, size_t n, void (*body)(void *user, size_t k),
                       void *user)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads(par->threads)
    for (size_t k = 0; k < n; k++)
        body(user, k);
}
