/* machine.h -- what a person wants to know of the machine beyond the processors that may be used (topology.h):
 * its name, caches, sockets, NUMA nodes with their memory.  From hwloc where the program was built with it
 * (machine_hwloc.c), else from /sys and /proc (machine.c). */
#ifndef FRONT_MACHINE_H
#define FRONT_MACHINE_H

#include "topology.h"

#include <stddef.h>

enum { MACHINE_CACHES = 4, MACHINE_NODES = 64 };

struct machine_cache {
    int level;    /* 1: of data */
    double bytes; /* of one */
    int sharing;  /* logical processors that share it */
};

struct machine_node {
    int number;
    double memory_mb; /* 1e6 bytes; 0: not known */
    char cpus[128];   /* "0-15,32-47" */
};

struct machine {
    char name[128]; /* of the processor */
    int packages;
    int ncache, nnode;
    struct machine_cache cache[MACHINE_CACHES];
    struct machine_node node[MACHINE_NODES];
    const char *from; /* "hwloc 2.9.0", "/sys" */
};

void machine_read(struct machine *m);

/* 1 when hwloc was asked for another machine than this one (HWLOC_SYNTHETIC, HWLOC_XMLFILE): its processors. */
int machine_other(struct fit_topology *t);

/* From /proc/cpuinfo; shared by both. */
void machine_read_name(struct machine *m);

#endif
