/* join.c -- several copies of this program become the ranks of one run.  See join.h. */
#define _GNU_SOURCE /* sched_getaffinity, dladdr */
#include "commands/join.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "base/arena.h"
#include "base/identity.h"
#include "ranks/copies.h"
#include "common/sha256.h"
#include "machine/cpu.h"
#include "machine/memory.h"
#include "machine/topology.h"
#include "ranks/find.h"
#include "ranks/ranks.h"
#include "ranks/same.h"

/* What ranks know of each other. Its layout stays: it tells programs of other versions apart. */
struct rank {
    double mask, threads, given; /* given: threads are those of OMP_NUM_THREADS */
    double level, command, model, program; /* level: of the processor; the others: numbers of their contents */
    char version[24], libc[16], isa[16]; /* libc: its version; isa: FIT_ISA */
};
enum { NUMBERS = sizeof(struct rank) / sizeof(double) };
_Static_assert(sizeof(struct rank) % sizeof(double) == 0, "a rank is sent as numbers");

static const char *const level[] = {"", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
enum { LEVELS = sizeof level / sizeof *level };

/* The words of the command, each with its end. */
static double number_of_words(int n, char *const *word)
{
    size_t length = 0, at = 0;
    for (int k = 1; k < n; k++)
        length += strlen(word[k]) + 1;
    FIT_OWNED char *text = malloc(length + 1);
    for (int k = 1; text && k < n; at += strlen(word[k]) + 1, k++)
        strcpy(text + at, word[k]);
    return text ? fit_ranks_number(text, length) : 0;
}

/* The files that hold the program's code and the kernels'; a compiled model has a library of its own. */
static double number_of_program(const struct fit_kernel *kernel)
{
    char hex[2][SHA256_HEX] = {"", ""};
    uint64_t size;
    Dl_info from, own;
    fit_file_identity("/proc/self/exe", hex[0], &size, NULL);
    if (kernel && dladdr(kernel, &from) && dladdr(level, &own) && from.dli_fbase != own.dli_fbase)
        fit_file_identity(from.dli_fname, hex[1], &size, NULL);
    return fit_ranks_number(hex, sizeof hex);
}

static struct rank about(const struct fit_program *p)
{
    const struct fit_kernel *k = p->kernels[0];
    const char *isa = getenv("FIT_ISA");
    cpu_set_t set;
    struct rank r = {.threads = fit_topology_threads(), .given = getenv("OMP_NUM_THREADS") != NULL};
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    r.mask = fit_ranks_number(&set, sizeof set);
    for (size_t l = 1; l < LEVELS; l++)
        r.level = fit_cpu_supports(level[l]) ? (double)l : r.level;
    r.command = number_of_words(p->argc, p->argv);
    r.model = k ? fit_ranks_number(k->hash, strlen(k->hash)) : 0;
    r.program = number_of_program(k);
    snprintf(r.version, sizeof r.version, "%s", FIT_VERSION);
#ifdef __GLIBC__
    snprintf(r.libc, sizeof r.libc, "%s", gnu_get_libc_version());
#endif
    snprintf(r.isa, sizeof r.isa, "%s", isa ? isa : "");
    return r;
}

static int same(double a, double b)
{
    return !(a < b || a > b);
}

/* Why a and b cannot be ranks of one fit: words, with what each has; NULL: they can. */
static const char *difference(const struct rank *a, const struct rank *b, const char **of_a, const char **of_b)
{
    const struct {
        const char *what, *a, *b;
    } word[] = {{"have different versions of the program", a->version, b->version},
                {"have different versions of the C library, which round differently", a->libc, b->libc},
                {"have different FIT_ISA in their environment", a->isa, b->isa}};
    const struct {
        const char *what;
        double a, b;
    } number[] = {{"have different models", a->model, b->model},
                  {"have different command lines", a->command, b->command},
                  {"have different builds of the program or of the model", a->program, b->program}};
    *of_a = *of_b = NULL;
    for (size_t k = 0; k < sizeof word / sizeof *word; k++)
        if (strcmp(word[k].a, word[k].b) != 0) {
            *of_a = word[k].a;
            *of_b = word[k].b;
            return word[k].what;
        }
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        if (!same(number[k].a, number[k].b))
            return number[k].what;
    return NULL;
}

static enum fit_status compare(const struct rank *rank, struct fit_error *err)
{
    for (size_t r = 1; r < fit_ranks_size(); r++) {
        const char *a, *b, *what = difference(&rank[0], &rank[r], &a, &b);
        char first[FIT_RANKS_WHERE], other[FIT_RANKS_WHERE], values[64] = "";
        if (!what)
            continue;
        if (a)
            snprintf(values, sizeof values, ": %s and %s", *a ? a : "none", *b ? b : "none");
        return fit_fail(err, FIT_ERR_USAGE, "%s and %s %s%s; all ranks of a fit need the same",
                        fit_ranks_where(0, first), fit_ranks_where(r, other), what, values);
    }
    return FIT_OK;
}

/* Ranks on the machine of rank r; *beside: those of them that have the same cores. */
static size_t on_its_host(const struct rank *rank, size_t r, double *beside)
{
    size_t n = 0;
    *beside = 0;
    for (size_t k = 0; k < fit_ranks_size(); k++) {
        const int here = strcmp(fit_ranks_host(k), fit_ranks_host(r)) == 0;
        n += (size_t)here;
        *beside += here && same(rank[k].mask, rank[r].mask);
    }
    return n;
}

/* The lowest level and number of threads: cores available to several ranks are divided between them. */
static void settle(const struct rank *rank, int *cores)
{
    double least = LEVELS, threads = 1e9, beside;
    char text[16];
    for (size_t r = 0; r < fit_ranks_size(); r++) {
        const size_t here = on_its_host(rank, r, &beside);
        const double own = rank[r].given > 0 ? rank[r].threads : (double)(int)(rank[r].threads / beside);
        if (r == fit_ranks_rank()) {
            fit_memory_share(here);
            *cores = rank[r].given > 0 ? 0 : (int)rank[r].threads;
        }
        threads = own < threads ? own : threads;
        least = rank[r].level < least ? rank[r].level : least;
    }
    snprintf(text, sizeof text, "%d", threads > 1 ? (int)threads : 1);
    setenv("OMP_NUM_THREADS", text, 1);
    if (!getenv("FIT_ISA") && least > 0)
        setenv("FIT_ISA", level[(size_t)least], 1);
}

/* The others neither print nor show progress. */
static enum fit_status be_silent(struct fit_program *p, struct fit_error *err)
{
    FILE *nowhere = fopen("/dev/null", "w");
    if (!nowhere)
        return fit_fail(err, FIT_ERR_IO, "/dev/null cannot be opened");
    p->out = p->err = nowhere;
    p->out_is_terminal = p->err_is_terminal = 0;
    return FIT_OK;
}

/* The plugin finds another number than the launcher has started: the copies are independent. */
static enum fit_status begin(const struct fit_ranks_plugin *plugin, long copies, atomic_int *interrupt,
                             const char *command, struct fit_error *err)
{
    const enum fit_status st = fit_ranks_begin(plugin, copies, interrupt, err);
    const struct fit_error why = *err;
    if (st == FIT_ERR_USAGE && fit_copies_refuse(command, err) != FIT_OK) {
        const size_t n = strlen(err->message);
        snprintf(err->message + n, sizeof err->message - n, ". %.400s", why.message);
    }
    return st;
}

enum fit_status fit_join(const char *command, struct fit_program *p, atomic_int *interrupt, struct fit_error *err)
{
    const struct fit_ranks_plugin *plugin = NULL;
    const char *told, *each = getenv("FIT_COPIES");
    char path[FIT_RANKS_PATH];
    long rank;
    const long copies = fit_copies(&rank, &told);
    if (copies < 2 || (each && strcmp(each, "each") == 0))
        return FIT_OK;
    enum fit_status st = fit_copies_can_meet(told) ? fit_ranks_find(told, &plugin, path, err) : FIT_OK;
    if (st == FIT_OK && !plugin)
        return fit_copies_refuse(command, err);
    if (st == FIT_OK)
        st = begin(plugin, copies, interrupt, command, err);
    if (st != FIT_OK)
        return st;
    const size_t size = fit_ranks_size();
    FIT_OWNED struct rank *ranks = calloc(size, sizeof *ranks);
    FIT_OWNED size_t *count = calloc(size, sizeof *count);
    struct rank own = about(p);
    if (!ranks || !count)
        return fit_no_memory(err, "ranks");
    for (size_t r = 0; r < size; r++)
        count[r] = NUMBERS;
    fit_ranks_gather(&own.mask, count, &ranks->mask);
    if ((st = compare(ranks, err)) != FIT_OK)
        return st;
    settle(ranks, &p->cores);
    return fit_ranks_rank() > 0 ? be_silent(p, err) : FIT_OK;
}
