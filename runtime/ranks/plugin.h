/* plugin.h -- communication between the ranks of one run: the interface between ranks.c and the shared object that
 * is opened at run time (mpi_plugin.c).
 *
 * No MPI type appears here: handles stay in the plugin, so that one program serves every MPI. All functions are
 * called by one thread. Those that return int give 0 on success. */
#pragma once

#include <stddef.h>

enum { FIT_RANKS_ABI = 2 };

struct fit_ranks_plugin {
    unsigned abi; /* FIT_RANKS_ABI */
    int (*begin)(int *rank, int *size);
    const char *(*name)(void); /* what the library calls itself, after begin */
    /* Every rank sends count[rank] numbers; all receive those of rank r at all + place[r]. Waits without occupying
     * the core where ranks share one. */
    int (*gather)(const double *mine, double *all, const int *count, const int *place);
    int (*broadcast)(void *data, size_t bytes, int root);
    /* From now on the two above are those of this rank's group: of n, all of the same size, of ranks that follow one
     * another; count, place and root are of the group.  n = 1: of all ranks.  All ranks call it. */
    int (*group)(int n);
    /* 1: every rank has come here within so many seconds (0: however long it takes); 0: not.  Apart from the two
     * above: it may be called while other ranks wait in one of them. */
    int (*meet)(double seconds);
    void (*fail)(int code); /* ends all ranks with this exit status */
    void (*end)(void);
};

/* The only symbol of a plugin. */
extern const struct fit_ranks_plugin fit_ranks_plugin;
