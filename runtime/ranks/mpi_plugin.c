/* mpi_plugin.c -- the plugin for MPI: the only file of the project that includes <mpi.h>.
 *
 * One shared object for each MPI, made by the compiler wrapper of that MPI (mpicc -shared -fPIC): by the build where
 * it finds one, and by `homodyne mpi --build` for the MPI of a site. Standard: MPI 3.0 (MPI_Iallgatherv,
 * MPI_Ibarrier).
 *
 * Waiting: MPICH and others poll for messages without a pause. Where ranks share cores, as in tests and on
 * overcommitted nodes, the awaited rank would get no time. The requests here therefore do not block, a rank yields
 * its core between two polls, and after about a millisecond it sleeps for some 50 microseconds at a time.
 *
 * Start: libraries of MPI examine the machine by hwloc, whose components for displays and OpenCL open these: 0.05 s
 * where a compiler comes with OpenCL, seconds where there is a display. Nothing here needs them.
 */
#define _POSIX_C_SOURCE 200809L
#include "ranks/plugin.h"

#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

enum { LOOKS = 100, LONG = 4000 }; /* polls before the core is yielded; polls before the rank sleeps */

static MPI_Comm world, work;           /* of all ranks; those that meet now */
static MPI_Comm farewell;              /* of meet(): what others wait for in `work` is not met by it */
static MPI_Comm part = MPI_COMM_NULL; /* of the last groups, `parts` of them */
static int parts;
static char words[MPI_MAX_LIBRARY_VERSION_STRING];

static int begin(int *rank, int *size)
{
    int provided, length;
    setenv("HWLOC_COMPONENTS", "-gl,-opencl", 0);
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
        MPI_Comm_dup(MPI_COMM_WORLD, &world) != MPI_SUCCESS || MPI_Comm_dup(MPI_COMM_WORLD, &farewell) != MPI_SUCCESS)
        return 1;
    work = world;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); /* of MPI_Test, which knows no communicator */
    MPI_Comm_set_errhandler(work, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(farewell, MPI_ERRORS_RETURN);
    MPI_Get_library_version(words, &length);
    for (char *at = words; *at; at++)
        if (*at == '\n' || *at == ',') {
            *at = '\0';
            break;
        }
    return MPI_Comm_rank(work, rank) != MPI_SUCCESS || MPI_Comm_size(work, size) != MPI_SUCCESS;
}

static const char *name(void)
{
    return words;
}

/* Polls a request until `deadline` (0: forever); 0 done, 1 not, -1 an error. */
static int finish(MPI_Request *request, double deadline)
{
    for (int done = 0, looks = 0;; looks++) {
        if (MPI_Test(request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return -1;
        if (done)
            return 0;
        if (looks >= LOOKS) {
            if (looks < LONG)
                sched_yield();
            else
                nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
            if (deadline > 0 && MPI_Wtime() > deadline)
                return 1;
        }
    }
}

static int gather(const double *mine, double *all, const int *count, const int *place)
{
    MPI_Request request;
    int rank;
    MPI_Comm_rank(work, &rank);
    if (MPI_Iallgatherv(mine, count[rank], MPI_DOUBLE, all, count, place, MPI_DOUBLE, work, &request) != MPI_SUCCESS)
        return 1;
    return finish(&request, 0) != 0;
}

static int broadcast(void *data, size_t bytes, int root)
{
    const size_t most = (size_t)1 << 30;
    for (size_t at = 0; at < bytes; at += most) {
        MPI_Request request;
        const int n = (int)(bytes - at < most ? bytes - at : most);
        if (MPI_Ibcast((char *)data + at, n, MPI_BYTE, root, work, &request) != MPI_SUCCESS || finish(&request, 0) != 0)
            return 1;
    }
    return 0;
}

/* The last groups are kept: they are those of the next turn, too. */
static int group(int n)
{
    int rank, size;
    if (n > 1 && n != parts) {
        if (part != MPI_COMM_NULL)
            MPI_Comm_free(&part);
        parts = 0;
        if (MPI_Comm_rank(world, &rank) != MPI_SUCCESS || MPI_Comm_size(world, &size) != MPI_SUCCESS ||
            MPI_Comm_split(world, rank / (size / n), rank, &part) != MPI_SUCCESS ||
            MPI_Comm_set_errhandler(part, MPI_ERRORS_RETURN) != MPI_SUCCESS)
            return 1;
        parts = n;
    }
    work = n > 1 ? part : world;
    return 0;
}

static int meet(double seconds)
{
    MPI_Request request;
    if (MPI_Ibarrier(farewell, &request) != MPI_SUCCESS)
        return 0;
    return finish(&request, seconds > 0 ? MPI_Wtime() + seconds : 0) == 0;
}

static void fail(int code)
{
    MPI_Abort(MPI_COMM_WORLD, code);
}

static void end(void)
{
    MPI_Finalize();
}

const struct fit_ranks_plugin fit_ranks_plugin = {.abi = FIT_RANKS_ABI,
                                                  .begin = begin,
                                                  .name = name,
                                                  .gather = gather,
                                                  .broadcast = broadcast,
                                                  .group = group,
                                                  .meet = meet,
                                                  .fail = fail,
                                                  .end = end};
