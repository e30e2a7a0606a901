/* topology.h -- processors that this process may use: cores in its affinity mask, limits of its control groups, NUMA
 * nodes. From /sys and /proc, without further libraries. */
#pragma once

#include <stddef.h>

enum { FIT_TOPOLOGY_CPUS = 1024 };

/* One logical processor of the affinity mask. */
struct fit_topology_cpu {
    int cpu;     /* its number */
    int core;    /* the first logical processor of its core */
    int package; /* socket; -1: not known */
    int node;    /* NUMA node; 0 where the system has none */
};

struct fit_topology {
    int online;         /* logical processors of the machine */
    int logical, cores; /* inside the affinity mask */
    int nodes;          /* NUMA nodes with a processor inside it */
    double quota;       /* processors that the control groups grant; 0: no limit */
    char quota_from[256]; /* the file that says so, or "" */
    struct fit_topology_cpu cpu[FIT_TOPOLOGY_CPUS]; /* logical, in the order of their numbers */
};

void fit_topology_read(struct fit_topology *t);

/* The same for another machine, whose /sys was copied into a folder `root`: all of its processors, without limits.
 * 0: the folder has none. */
int fit_topology_read_copy(struct fit_topology *t, const char *root);

/* Number of cores that may be used: those of the mask, at most the quota; at least 1. */
int fit_topology_usable(const struct fit_topology *t);

/* Counts the cores and nodes in cpu. */
void fit_topology_count(struct fit_topology *t);

/* Puts one logical processor of each core into order (t->cores of them): node after node, or (spread) the nodes in
 * turn. Returns how many. */
int fit_topology_order(const struct fit_topology *t, int spread, int order[FIT_TOPOLOGY_CPUS]);

/* The logical processor for thread k: one per core, node after node, or (spread) the nodes in turn; -1: not
 * known.  Counted modulo the cores. */
int fit_topology_core(size_t k, int spread);

/* Physical cores in the affinity mask of the process, at most the quota of its cgroup (at least 1). */
int fit_topology_cores(void);
/* The same; OMP_NUM_THREADS, when set, takes precedence. */
int fit_topology_threads(void);
/* Those with whom this process shares its cores wait: so many threads from now on; 0: as before. */
void fit_topology_lend(int threads);
