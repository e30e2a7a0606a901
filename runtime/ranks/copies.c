/* copies.c -- detects several copies of a program that does not divide its work. See copies.h.
 *
 * SLURM also sets SLURM_NTASKS and SLURM_PROCID = 0 for the script of a job, which runs once: there only the
 * variables of a step count, which srun sets (man srun, "output environment variables"). MPI: the variables of Open
 * MPI, of PMI-1 and -2 (MPICH, Intel MPI, Cray), of MVAPICH, of jsrun and of PALS; a PMIx server gives only the
 * rank. */
#define _DEFAULT_SOURCE /* setenv, nanosleep, gethostname */
#include "ranks/copies.h"

#include "ranks/find.h"
#include "ranks/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* An integer of the environment; -1: none. */
static long number(const char *name)
{
    const char *text = getenv(name);
    char *end;
    const long x = text ? strtol(text, &end, 10) : -1;
    return text && end != text && !*end && x >= 0 ? x : -1;
}

static const struct launcher {
    const char *size, *rank, *starter;
} launcher[] = {{"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun"},
                {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "mpirun"},
                {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK", "mpirun"},
                {"PMI_SIZE", "PMI_RANK", "mpirun"},
                {"JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_RANK", "jsrun"},
                {"PALS_SIZE", "PALS_RANKID", "mpiexec"},
                {NULL, "PMIX_RANK", "mpirun"}};

/* The number of copies, and the variable that gives it; *rank: ours, from 0. */
static long copies(const struct launcher *l, long *rank, const char **told)
{
    long n = l->size ? number(l->size) : -1;
    *rank = number(l->rank);
    *told = l->size;
    if (n < 0 && strcmp(l->starter, "srun") == 0 &&
        (number("SLURM_STEP_ID") >= 0 || number("SLURM_STEPID") >= 0 || *rank > 0)) {
        n = number("SLURM_NTASKS");
        *told = "SLURM_NTASKS";
    }
    if (n < 0 && *rank > 0) { /* one of more than one */
        n = *rank + 1;
        *told = l->rank;
    }
    return n;
}

static const struct launcher *of_copies(long *n, long *rank, const char **told)
{
    for (size_t k = 0; k < sizeof launcher / sizeof *launcher; k++)
        if ((*n = copies(&launcher[k], rank, told)) > 1)
            return &launcher[k];
    return NULL;
}

long fit_copies(long *rank, const char **told)
{
    long n;
    if (of_copies(&n, rank, told))
        return n;
    *rank = 0;
    *told = NULL;
    return 1;
}

int fit_copies_can_meet(const char *told)
{
    if (strncmp(told, "SLURM_", 6) == 0)
        return getenv("PMIX_NAMESPACE") || getenv("PMI_RANK") || getenv("PMI_FD");
    return strcmp(told, "PMIX_RANK") != 0;
}

static int is_each(void)
{
    const char *wanted = getenv("FIT_COPIES");
    return wanted && strcmp(wanted, "each") == 0;
}

enum fit_status fit_copies_of_one(int *of_one, struct fit_error *err)
{
    const char *wanted = getenv("FIT_COPIES"), *told;
    long rank;
    *of_one = !is_each() && fit_copies(&rank, &told) > 1;
    return !*of_one || !wanted || !*wanted
               ? FIT_OK
               : fit_fail(err, FIT_ERR_USAGE, "FIT_COPIES=%s: the word is 'each', where each copy has work of its own;"
                                              " without it copies work on one fit", wanted);
}

const char *fit_copies_where(char text[FIT_RANKS_WHERE])
{
    const char *told;
    char host[FIT_RANKS_HOST] = "";
    long rank;
    text[0] = '\0';
    if (is_each() || fit_copies(&rank, &told) < 2)
        return text;
    gethostname(host, sizeof host - 1);
    if (rank < 0) /* the launcher tells the number of copies alone */
        snprintf(text, FIT_RANKS_WHERE, "a rank (%s)", host);
    else
        snprintf(text, FIT_RANKS_WHERE, "rank %ld (%s)", rank, host);
    return text;
}

/* srun gives a terminal only where the user asks for one; other launchers may give theirs, as Open MPI does for
 * standard output ("orte_iof_base_setup.c"), and pass on what is written there. */
int fit_copies_terminal(int fd)
{
    int started = getenv("OMPI_COMM_WORLD_RANK") != NULL;
    for (size_t k = 0; !getenv("SLURM_PTY_PORT") && k < sizeof launcher / sizeof *launcher; k++)
        started |= strcmp(launcher[k].starter, "srun") != 0 && number(launcher[k].rank) >= 0;
    return !started && isatty(fd);
}

static int refused; /* by fit_copies_refuse: all copies alike */

/* Copies that can meet may have failed alone, for want of a plugin on their node: these speak, too, if they still
 * can. */
int fit_copies_spoken_for(int is_fit)
{
    const char *told;
    long rank;
    if ((!is_fit && !refused) || is_each() || fit_copies(&rank, &told) < 2 || rank == 0)
        return 0;
    if (!fit_copies_can_meet(told))
        return strcmp(told, "SLURM_STEP_NUM_TASKS") == 0; /* others only suggest that there is a first */
    if (refused)
        return 1;
    nanosleep(&(struct timespec){.tv_sec = 3}, NULL); /* Open MPI takes up to two to end them */
    return 0;
}

void fit_copies_part(size_t *part, size_t *parts)
{
    const char *told;
    long rank, step = number("SLURM_ARRAY_TASK_STEP");
    const long n = fit_copies(&rank, &told), count = number("SLURM_ARRAY_TASK_COUNT"),
               id = number("SLURM_ARRAY_TASK_ID"), least = number("SLURM_ARRAY_TASK_MIN");
    const size_t elements = count > 1 && id >= 0 && least >= 0 && id >= least ? (size_t)count : 1;
    step = step > 0 ? step : 1;
    size_t element = elements > 1 ? (size_t)((id - least) / step) : 0;
    element = element < elements ? element : elements - 1; /* an array with gaps: 1,5,100 */
    *parts = elements * (size_t)n;
    *part = element * (size_t)n + (size_t)rank + 1;
}

void fit_copies_divide(void)
{
    setenv("FIT_COPIES", "each", 1);
}

/* MPICH's launcher waits for a process that ends before MPI_Init, whatever its exit code: it takes the command of
 * PMI-1 (MPICH, "PMI-1 wire protocol"). Others end all when one process fails. */
void fit_copies_leave(int exit_code)
{
    const long socket = number("PMI_FD");
    char word[64];
    const int n = snprintf(word, sizeof word, "cmd=abort exitcode=%d\n", exit_code);
    if (socket <= 2 || is_each())
        return;
    nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL); /* what was printed is on its way */
    if (write((int)socket, word, (size_t)n) != n)
        close((int)socket);
}

enum fit_status fit_copies_refuse(const char *command, int alike, struct fit_error *err)
{
    const char *told, *off = "";
    long n, rank;
    int of_one;
    const enum fit_status st = fit_copies_of_one(&of_one, err);
    const struct launcher *l = of_one ? of_copies(&n, &rank, &told) : NULL;
    refused = alike && (st != FIT_OK || l);
    if (!l)
        return st;
    if (!alike && fit_ranks_unwanted() && fit_copies_can_meet(told))
        off = " HOMODYNE_MPI=none keeps them apart: without it they are ranks of one fit.";
    return fit_fail(err, FIT_ERR_USAGE,
                    "%s: %s has started several copies of this program (%s=%s), and each would do the whole work: it"
                    " uses the cores of one node by threads.%s Start one (srun -n 1 -c CORES, mpirun -np 1), or one fit"
                    " of several ranks (srun --mpi=pmix; mpirun with the plugin of its MPI: `homodyne mpi --build`),"
                    " and for many files `batch`, whose copies share the work; FIT_COPIES=each where each copy has"
                    " files and a folder of its own",
                    command, l->starter, told, getenv(told), off);
}
