/* join.c -- several copies of this program become the ranks of one run.  See join.h. */
#define _GNU_SOURCE /* sched_getaffinity, dladdr, alarm */
#include "commands/join.h"

#include <dlfcn.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
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

/* The words of the command, each with its end, and an empty one behind them; NULL: no memory. */
static char *words_of(const struct fit_program *p, size_t *length)
{
    size_t at = 0;
    *length = 0;
    for (int k = 1; k < p->argc; k++)
        *length += strlen(p->argv[k]) + 1;
    char *text = calloc(*length + 1, 1);
    for (int k = 1; text && k < p->argc; at += strlen(p->argv[k]) + 1, k++)
        strcpy(text + at, p->argv[k]);
    return text;
}

static double number_of_words(const struct fit_program *p)
{
    size_t length;
    FIT_OWNED char *text = words_of(p, &length);
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
    r.command = number_of_words(p);
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

enum { VERSION, LIBC, ISA, MODEL, COMMAND, PROGRAM, QUESTIONS };

static const char *const differs[QUESTIONS] = {
    [VERSION] = "have different versions of the program",
    [LIBC] = "have different versions of the C library, which round differently",
    [ISA] = "have different FIT_ISA in their environment",
    [MODEL] = "have different models",
    [COMMAND] = "have different command lines",
    [PROGRAM] = "have different builds of the program or of the model",
};

/* The first question of `few` that a and b answer differently; QUESTIONS: none. *of_a, *of_b: their answers, if they
 * are words. */
static int difference(const struct rank *a, const struct rank *b, int few, const char **of_a, const char **of_b)
{
    const char *const word[][2] = {
        [VERSION] = {a->version, b->version}, [LIBC] = {a->libc, b->libc}, [ISA] = {a->isa, b->isa}};
    const double number[][2] = {
        [MODEL] = {a->model, b->model}, [COMMAND] = {a->command, b->command}, [PROGRAM] = {a->program, b->program}};
    *of_a = *of_b = NULL;
    for (int k = VERSION; k <= ISA && k < few; k++)
        if (strcmp(word[k][0], word[k][1]) != 0) {
            *of_a = *word[k][0] ? word[k][0] : "none";
            *of_b = *word[k][1] ? word[k][1] : "none";
            return k;
        }
    for (int k = MODEL; k < few; k++)
        if (!same(number[k][0], number[k][1]))
            return k;
    return QUESTIONS;
}

/* Meeting: the words of rank r, which the caller frees; NULL: no memory. */
static char *sent_words(const struct fit_program *p, size_t r)
{
    size_t length;
    char *text = words_of(p, &length);
    int failed = !text;
    fit_ranks_copy(r, &length, sizeof length);
    if (fit_ranks_rank() != r) {
        free(text);
        text = calloc(length + 1, 1);
        failed = !text;
    }
    if (fit_ranks_total(failed) > 0) {
        free(text);
        return NULL;
    }
    fit_ranks_copy(r, text, length);
    return text;
}

/* "'--seed 7'": the word at `at` with the option to which it belongs, or the option with its value; "nothing more" at
 * the end. */
static void quote(const char *before, const char *at, char text[160])
{
    const char *next = *at ? at + strlen(at) + 1 : at;
    if (!*at)
        snprintf(text, 160, "nothing more");
    else if (*before == '-' && *at != '-')
        snprintf(text, 160, "'%.40s %.80s'", before, at);
    else if (*at == '-' && *next && *next != '-')
        snprintf(text, 160, "'%.40s %.80s'", at, next);
    else
        snprintf(text, 160, "'%.120s'", at);
}

/* Meeting: what differs first in the command lines of ranks 0 and r. */
static void quote_words(const struct fit_program *p, size_t r, char of_first[160], char of_other[160])
{
    FIT_OWNED char *first = sent_words(p, 0);
    FIT_OWNED char *other = sent_words(p, r);
    const char *a = first, *b = other, *before = "";
    of_first[0] = of_other[0] = '\0';
    while (a && b && *a && strcmp(a, b) == 0) {
        before = a;
        a += strlen(a) + 1;
        b += strlen(b) + 1;
    }
    if (a && b) {
        quote(before, a, of_first);
        quote(before, b, of_other);
    }
}

/* Meeting: the ranks answer the first questions, up to `few`, alike. */
static enum fit_status compare(const struct fit_program *p, const struct rank *rank, int few, struct fit_error *err)
{
    for (size_t r = 1; r < fit_ranks_size(); r++) {
        const char *a, *b;
        char first[FIT_RANKS_WHERE], other[FIT_RANKS_WHERE], of_a[160], of_b[160], values[400] = "";
        const int what = difference(&rank[0], &rank[r], few, &a, &b);
        if (what == QUESTIONS)
            continue;
        if (what == COMMAND) {
            quote_words(p, r, of_a, of_b);
            a = of_a[0] ? of_a : NULL;
            b = of_b;
        }
        if (a)
            snprintf(values, sizeof values, ": the first has %s, the other %s", a, b);
        return fit_fail(err, FIT_ERR_USAGE, "%s and %s %s%s; all ranks of a fit need the same",
                        fit_ranks_where(0, first), fit_ranks_where(r, other), differs[what], values);
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

/* ---- the others may never come ------------------------------------------------------------------------------- */

static char late_words[480];

int fit_join_late(void)
{
    return write(STDERR_FILENO, late_words, strlen(late_words)) < 0 ? fit_status_exit(FIT_ERR_IO)
                                                                    : fit_status_exit(FIT_ERR_INTERNAL);
}

static enum fit_status patience(long *seconds, struct fit_error *err)
{
    enum { DEFAULT = 300, MOST = 86400 };
    const char *told = getenv("HOMODYNE_MPI_SECONDS");
    char *end;
    *seconds = DEFAULT;
    if (!told || !*told)
        return FIT_OK;
    errno = 0;
    const long wanted = strtol(told, &end, 10);
    if (errno || end == told || *end || wanted < 1 || wanted > MOST)
        return fit_fail(err, FIT_ERR_USAGE,
                        "HOMODYNE_MPI_SECONDS=%s: not a whole number of seconds from 1 to %d, for which ranks wait for"
                        " each other to begin", told, MOST);
    *seconds = wanted;
    return FIT_OK;
}

static void limit_waiting(const char *name, long seconds, long copies, long rank, void (*late)(int))
{
    char where[FIT_RANKS_WHERE];
    late_words[0] = '\0';
    if (rank == 0) /* one speaks, before the others end */
        snprintf(late_words, sizeof late_words,
                 "%.60s: error: %s of %ld has waited %ld s for the others to begin: does each node have this program"
                 " and its plugin for MPI? HOMODYNE_MPI_SECONDS sets another limit\n",
                 name, fit_copies_where(where), copies, seconds);
    signal(SIGALRM, late);
    alarm((unsigned)(rank == 0 ? seconds : seconds + 5));
}

/* ---- joining ------------------------------------------------------------------------------------------------ */

/* The plugin finds another number than the launcher has started: the copies are independent. */
static enum fit_status begin(const struct fit_ranks_plugin *plugin, const char *path, long copies,
                             atomic_int *interrupt, struct fit_error *err)
{
    const enum fit_status st = fit_ranks_begin(plugin, copies, interrupt, err);
    const char *wish = getenv("HOMODYNE_MPI");
    const struct fit_error why = *err;
    return st != FIT_ERR_USAGE
               ? st
               : fit_fail(err, st, "%s%.300s: %.700s", wish && *wish ? "HOMODYNE_MPI=" : "",
                          wish && *wish ? wish : path, why.message);
}

/* This copy becomes a rank; *ranks: what all of them are, which the caller frees. early: it has failed before. */
static enum fit_status meet(const struct fit_program *p, enum fit_status early, struct rank **ranks,
                            struct fit_error *err)
{
    const size_t size = fit_ranks_size();
    *ranks = calloc(size, sizeof **ranks);
    FIT_OWNED size_t *count = calloc(size, sizeof *count);
    struct rank own = about(p);
    if (!*ranks || !count)
        return fit_no_memory(err, "ranks");
    for (size_t r = 0; r < size; r++)
        count[r] = NUMBERS;
    fit_ranks_gather(&own.mask, count, &(*ranks)->mask);
    struct fit_error why = {.status = FIT_OK};
    enum fit_status st = compare(p, *ranks, VERSION + 1, &why); /* others may not speak as this one does */
    if (st == FIT_OK)
        return fit_ranks_agree_status(early, err);
    *err = why;
    return st;
}

/* What the environment says of copies, or what is wrong there. */
static enum fit_status settings(int *of_one, long *seconds, struct fit_error *err)
{
    enum fit_status st = fit_copies_of_one(of_one, err);
    const enum fit_status other = *of_one ? patience(seconds, st == FIT_OK ? err : NULL) : FIT_OK;
    return st == FIT_OK ? other : st;
}

/* The plugin by which copies meet. */
static enum fit_status find(const char *command, const char *told, const struct fit_ranks_plugin **plugin,
                            char path[FIT_RANKS_PATH], struct fit_error *err)
{
    const enum fit_status st = fit_copies_can_meet(told) ? fit_ranks_find(told, plugin, path, err) : FIT_OK;
    return st == FIT_OK && !*plugin ? fit_copies_refuse(command, 0, err) : st;
}

/* *ranks stays NULL where this is not one of several copies. early: what has failed before, with its err. */
static enum fit_status join(const char *command, const struct fit_program *p, void (*late)(int), atomic_int *interrupt,
                            enum fit_status early, struct rank **ranks, struct fit_error *err)
{
    const struct fit_ranks_plugin *plugin = NULL;
    struct fit_error why = {.status = FIT_OK};
    const char *told;
    char path[FIT_RANKS_PATH];
    int of_one;
    long rank, seconds;
    const long copies = fit_copies(&rank, &told);
    enum fit_status st = settings(&of_one, &seconds, early == FIT_OK ? err : NULL);
    early = early == FIT_OK ? st : early;
    if (!of_one)
        return early;
    st = find(command, told, &plugin, path, &why);
    if (plugin) {
        limit_waiting(p->name, seconds, copies, rank, late);
        st = begin(plugin, path, copies, interrupt, &why);
    }
    if (st == FIT_OK)
        st = meet(p, early, ranks, err);
    else if (early == FIT_OK)
        *err = why;
    else
        st = early;
    alarm(0);
    return st;
}

enum fit_status fit_join(const char *command, struct fit_program *p, void (*late)(int), atomic_int *interrupt,
                         struct fit_error *err)
{
    FIT_OWNED struct rank *ranks = NULL;
    enum fit_status st = join(command, p, late, interrupt, FIT_OK, &ranks, err);
    if (st == FIT_OK && ranks)
        st = compare(p, ranks, QUESTIONS, err);
    if (st != FIT_OK || !ranks)
        return st;
    settle(ranks, &p->cores);
    return fit_ranks_rank() > 0 ? be_silent(p, err) : FIT_OK;
}

enum fit_status fit_join_failed(const struct fit_program *p, void (*late)(int), enum fit_status st,
                                struct fit_error *err)
{
    static atomic_int ignored;
    static const struct fit_kernel *const none[] = {NULL};
    struct fit_program own = *p;
    FIT_OWNED struct rank *ranks = NULL;
    if (!own.kernels)
        own.kernels = none;
    return join("fit", &own, late, &ignored, st, &ranks, err);
}
