/* join.c -- several copies of this program become the ranks of one run.  See join.h. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "commands/join.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "ranks/copies.h"
#include "common/sha256.h"
#include "machine/cpu.h"
#include "machine/memory.h"
#include "machine/topology.h"
#include "ranks/find.h"
#include "ranks/ranks.h"

/* The data that a rank sends about itself. Hashes are numbers of 48 bits: exact in a double. */
struct rank {
    double host, mask, threads, level, command;
};
enum { NUMBERS = sizeof(struct rank) / sizeof(double) };

static double number_of(const void *bytes, size_t n)
{
    struct sha256 h;
    unsigned char digest[SHA256_BYTES];
    double x = 0;
    sha256_init(&h);
    sha256_update(&h, bytes, n);
    sha256_final(&h, digest);
    for (size_t k = 0; k < 6; k++)
        x = 256 * x + digest[k];
    return x;
}

static const char *const level[] = {"", "x86-64-v2", "x86-64-v3", "x86-64-v4"};
enum { LEVELS = sizeof level / sizeof *level };

static struct rank about(const struct fit_program *p)
{
    char host[256] = "", text[4096];
    cpu_set_t set;
    struct rank r = {.threads = fit_topology_threads()};
    gethostname(host, sizeof host - 1);
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    r.host = number_of(host, strlen(host));
    r.mask = number_of(&set, sizeof set);
    for (size_t k = 1; k < LEVELS; k++)
        r.level = fit_cpu_supports(level[k]) ? (double)k : r.level;
    int n = snprintf(text, sizeof text, "%s %s", FIT_VERSION, p->kernels[0] ? p->kernels[0]->hash : "");
    for (int k = 1; k < p->argc && n < (int)sizeof text; k++)
        n += snprintf(text + n, sizeof text - (size_t)n, " %s", p->argv[k]);
    r.command = number_of(text, strlen(text));
    return r;
}

/* Ranks on the machine of rank r. */
static size_t on_its_host(const struct rank *rank, size_t r)
{
    size_t n = 0;
    for (size_t k = 0; k < fit_ranks_size(); k++)
        n += rank[k].host == rank[r].host;
    return n;
}

/* The lowest level and number of threads: cores available to several ranks are divided between them. */
static enum fit_status settle(const struct rank *rank, int *cores, struct fit_error *err)
{
    double least = LEVELS, threads = 1e9;
    char text[16];
    for (size_t r = 0; r < fit_ranks_size(); r++) {
        double beside = 0;
        if (rank[r].command != rank[0].command)
            return fit_fail(err, FIT_ERR_USAGE,
                            "ranks 0 and %zu have different programs or command lines: one fit needs the same", r);
        for (size_t k = 0; k < fit_ranks_size(); k++)
            beside += rank[k].host == rank[r].host && rank[k].mask == rank[r].mask;
        if (r == fit_ranks_rank()) {
            fit_memory_share(on_its_host(rank, r));
            *cores = getenv("OMP_NUM_THREADS") ? 0 : (int)rank[r].threads;
        }
        const double own = getenv("OMP_NUM_THREADS") ? rank[r].threads : (double)(int)(rank[r].threads / beside);
        threads = own < threads ? own : threads;
        least = rank[r].level < least ? rank[r].level : least;
    }
    snprintf(text, sizeof text, "%d", threads > 1 ? (int)threads : 1);
    setenv("OMP_NUM_THREADS", text, 1);
    if (!getenv("FIT_ISA") && least > 0)
        setenv("FIT_ISA", level[(size_t)least], 1);
    return FIT_OK;
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

/* Can these copies communicate? Not those of srun without --mpi: they are independent, and some MPIs end a program
 * that starts so. With only a PMIx server the number of copies is unknown. */
static int can_meet(const char *told)
{
    if (strncmp(told, "SLURM_", 6) == 0)
        return getenv("PMIX_NAMESPACE") || getenv("PMI_RANK") || getenv("PMI_FD");
    return strcmp(told, "PMIX_RANK") != 0;
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
    enum fit_status st = can_meet(told) ? fit_ranks_find(told, &plugin, path, err) : FIT_OK;
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
    fit_ranks_gather(&own.host, count, &ranks->host);
    if ((st = settle(ranks, &p->cores, err)) == FIT_OK && fit_ranks_rank() > 0)
        st = be_silent(p, err);
    return st;
}
