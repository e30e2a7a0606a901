/* stream.c -- passes over values that stay in their file, against reading alone and computing alone.
 *
 * Usage: bench-stream FILE [THREADS [ROUNDS [cold]]]        2 threads, least of 5 rounds
 *
 * For each kind of pass of a laminar fit (moments, normal equations, gradient of the posterior):
 *   streamed      the pass, values from the file
 *   into tiles    the same without the model: values from the file into tiles as kernels read them
 *   read(2)       as many bytes of the file, into a buffer, by as many threads
 *   computing     the model alone, on tiles that are not filled
 *   in memory     the pass of a fit that holds its values, where they fit into half of the memory
 * and the ratio of streamed to the larger of reading (of the two: into tiles) and computing.  cold: the
 * page cache is emptied of the file before each reading.  Rounds alternate; seconds are those of the wall,
 * and below, in brackets, of all processors together, which other programs disturb less.
 */
#include "base/clock.h"
#include "input/measurement.h"
#include "machine/memory.h"
#include "data/tile_sums.h"
#include "support.h"
#include "machine/team.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOMENTS, NORMAL, GRADIENT, KINDS, MOST = 16 };
enum { STREAMED, TILES, READ, COMPUTING, MEMORY, WAYS };
#define PIECE ((size_t)256 << 10)

static const double THETA[] = {2000, -0.3, 100, 0.004, -0.4, 3e-4, -4};

struct pass {
    const struct fit_kernel *k;
    const struct fit_dataset *ds;
    struct fit_parallel *par;
    struct e2e_prepared at;
    double *lin, *adj, *out;
    size_t nout[KINDS];
    int kind;
};

struct cost {
    double wall, processor;
};

static const char *file;
static int threads = 2, cold;
static double *buffer[MOST];

static void stop(const char *what, const struct fit_error *err)
{
    fprintf(stderr, "bench-stream: %s: %s\n", what, err->message);
    exit(1);
}

static struct cost now(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (struct cost){fit_seconds(), (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                                            1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec)};
}

static void forget_file(void)
{
    int fd = open(file, O_RDONLY);
    if (fd < 0 || !cold)
        return;
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

/* ---- passes ------------------------------------------------------------------------------------------------- */

static void sum_tile(void *user, const struct fit_tile *t, double *scratch, size_t stride, double *out)
{
    const struct pass *p = user;
    const struct fit_layout *l = &p->ds->layout;
    (void)stride;
    if (p->kind == MOMENTS)
        p->k->moments(l, p->at.ws, t, scratch, out);
    else if (p->kind == NORMAL)
        p->k->normal(l, p->at.ws, p->lin, t, scratch, out);
    else
        p->k->gradient(l, p->at.ws, p->lin, p->adj, t, scratch, out);
}

static void nothing(void *user, const struct fit_tile *t, double *scratch, size_t stride, double *out)
{
    (void)user;
    (void)t;
    (void)scratch;
    (void)stride;
    out[0] = 0;
}

static void sum_unfilled(void *user, size_t k, size_t thread)
{
    struct pass *p = user;
    struct fit_tile own = p->ds->tile[k];
    double *work = buffer[thread];
    own.y = work;
    own.w = NULL;
    size_t n = (fit_tile_doubles(&p->ds->layout, &own) + 7) / 8 * 8;
    double *scratch = work + n;
    sum_tile(p, &own, scratch, 0, scratch + (p->k->scratch ? (p->k->scratch(&p->ds->layout) + 7) / 8 * 8 : 0));
}

static void read_piece(void *user, size_t k, size_t thread)
{
    if (pread(*(int *)user, buffer[thread], PIECE, (off_t)(k * PIECE)) < 0)
        perror(file);
}

static void read_alone(void)
{
    struct stat s;
    int fd = open(file, O_RDONLY);
    if (fd < 0 || fstat(fd, &s) != 0)
        return;
    size_t pieces = (size_t)s.st_size / 2 / PIECE;
    fit_team_run((struct fit_team){threads, FIT_TEAM_NEXT}, pieces, read_piece, &fd);
    close(fd);
}

static struct cost one_pass(struct pass *p, int way)
{
    if (way == STREAMED || way == TILES || way == READ)
        forget_file();
    struct cost was = now();
    struct fit_parallel_task task = {way == TILES ? nothing : sum_tile, p, p->nout[p->kind],
                                     way != TILES && p->k->raw};
    if (way == READ)
        read_alone();
    else if (way == COMPUTING)
        fit_team_run((struct fit_team){threads, FIT_TEAM_NEXT}, p->ds->ntile, sum_unfilled, p);
    else if (fit_parallel_sum(p->par, &task, p->out))
        stop(file, &(struct fit_error){.message = "the pass failed"});
    struct cost is = now();
    return (struct cost){is.wall - was.wall, is.processor - was.processor};
}

/* ---- setting up --------------------------------------------------------------------------------------------- */

static struct fit_measurement *load(const struct fit_kernel *k, int stream)
{
    struct fit_selection sel;
    struct fit_measurement *m;
    struct fit_error err;
    double setting[MOST];
    for (size_t i = 0; i < k->nsetting; i++)
        setting[i] = strcmp(k->setting[i].name, "gap") == 0 ? 2e6
                     : strcmp(k->setting[i].name, "q") == 0 ? 0.0054
                                                            : k->setting[i].value;
    fit_selection_init(&sel, file);
    sel.dt = 0.1;
    sel.dt_policy = FIT_DT_YAML;
    sel.stream = stream;
    if (fit_measurement_load(&sel, k, setting, &m, &err) != FIT_OK)
        stop(file, &err);
    return m;
}

static struct pass make_pass(const struct fit_kernel *k, const struct fit_dataset *ds)
{
    struct pass p = {.k = k, .ds = ds, .at = e2e_prepare(k, &ds->layout, THETA)};
    size_t np = k->nparam, nl = k->nlinear, ng = ds->layout.ngroup;
    struct fit_error err;
    p.nout[MOMENTS] = ng * (nl * (nl + 1) / 2 + nl + 1);
    p.nout[NORMAL] = np * (np + 1) / 2 + np + ng * nl * np;
    p.nout[GRADIENT] = np + ng * (nl + 1) * 4;
    size_t most = p.nout[NORMAL] + p.nout[MOMENTS] + p.nout[GRADIENT];
    p.lin = e2e_doubles(ng * nl);
    p.adj = e2e_doubles(ng * (1 + nl * nl));
    p.out = e2e_doubles(most);
    for (size_t g = 0; g < ng; g++) {
        p.lin[nl * g] = 0.3;
        p.lin[nl * g + 1] = 1;
    }
    struct fit_parallel_need need = {
        .nout = most, .nextra = k->scratch ? k->scratch(&ds->layout) : 0, .threads = threads};
    if (fit_parallel_new(ds, &need, &p.par, &err) != FIT_OK)
        stop(file, &err);
    size_t largest = 0;
    for (size_t t = 0; t < ds->ntile; t++) {
        size_t n = fit_tile_doubles(&ds->layout, &ds->tile[t]);
        largest = n > largest ? n : largest;
    }
    for (int t = 0; t < threads; t++)
        if (!buffer[t])
            buffer[t] = e2e_doubles(largest + need.nextra + most + PIECE / sizeof(double) + 64);
    return p;
}

static void print(int kind, struct cost cost[WAYS], int held)
{
    static const char *const name[] = {"moments", "normal", "gradient"};
    double reading = fmax(cost[TILES].wall, cost[READ].wall), larger = fmax(reading, cost[COMPUTING].wall);
    double tiles = fmax(cost[TILES].wall, cost[COMPUTING].wall);
    printf("  %-9s", name[kind]);
    for (int w = 0; w < WAYS - !held; w++)
        printf("%10.4f", cost[w].wall);
    printf("%s%8.2f %8.2f\n  %-9s", held ? "" : "         -", cost[STREAMED].wall / larger, cost[STREAMED].wall / tiles,
           "");
    for (int w = 0; w < WAYS - !held; w++)
        printf("  (%6.3f)", cost[w].processor);
    printf("\n");
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 3;
    file = argv[1];
    threads = argc > 2 ? atoi(argv[2]) : 2;
    threads = threads < 1 ? 1 : threads > MOST ? MOST : threads;
    int rounds = argc > 3 ? atoi(argv[3]) : 5;
    cold = argc > 4 && strcmp(argv[4], "cold") == 0;
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    struct fit_measurement *m = load(k, FIT_STREAM_ON), *all = NULL;
    if ((double)m->dataset->npoint * 8e-6 < fit_memory_available_mb() / 2 && !cold)
        all = load(k, FIT_STREAM_OFF);
    struct pass from_file = make_pass(k, m->dataset), held = {0};
    if (all)
        held = make_pass(k, all->dataset);
    printf("%zu values, %d threads%s\n  %-9s%10s%10s%10s%10s%10s%8s %8s\n", m->dataset->npoint, threads,
           cold ? ", cold" : "", "seconds", "streamed", "tiles", "read(2)", "computing", "in memory", "ratio",
           "to tiles");
    for (int kind = 0; kind < KINDS; kind++) {
        struct cost least[WAYS];
        for (int r = 0; r < rounds; r++)
            for (int w = 0; w < WAYS - !all; w++) {
                struct pass *p = w == MEMORY ? &held : &from_file;
                p->kind = kind;
                struct cost c = one_pass(p, w);
                least[w].wall = r ? fmin(least[w].wall, c.wall) : c.wall;
                least[w].processor = r ? fmin(least[w].processor, c.processor) : c.processor;
            }
        print(kind, least, all != NULL);
    }
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    if (!all)
        printf("  peak memory %.0f MB\n", (double)u.ru_maxrss / 1e3);
    return 0;
}
