/* machine.h -- information about the machine beyond the available processors (topology.h): its name, caches,
 * sockets, NUMA nodes with their memory, from /sys and /proc. */
#ifndef FRONT_MACHINE_H
#define FRONT_MACHINE_H

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
};

/* root: folder that has /sys and /proc of another machine; "": this one. */
void machine_read(struct machine *m, const char *root);

#endif
