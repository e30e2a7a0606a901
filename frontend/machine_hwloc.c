/* machine_hwloc.c -- the machine as hwloc (Broquedis et al., PDP 2010) sees it.  See machine.h. */
#include "machine.h"

#include <hwloc.h>
#include <stdio.h>
#include <string.h>

static void read_caches(hwloc_topology_t t, struct machine *m)
{
    static const hwloc_obj_type_t type[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE};
    for (int k = 0; k < MACHINE_CACHES; k++) {
        hwloc_obj_t o = hwloc_get_obj_by_type(t, type[k], 0);
        if (o)
            m->cache[m->ncache++] = (struct machine_cache){.level = k + 1,
                                                           .bytes = (double)o->attr->cache.size,
                                                           .sharing = hwloc_bitmap_weight(o->cpuset)};
    }
}

static void read_nodes(hwloc_topology_t t, struct machine *m)
{
    int n = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_NUMANODE);
    for (int k = 0; k < n && m->nnode < MACHINE_NODES; k++) {
        hwloc_obj_t o = hwloc_get_obj_by_type(t, HWLOC_OBJ_NUMANODE, (unsigned)k);
        struct machine_node *to = &m->node[m->nnode++];
        to->number = (int)o->os_index;
        to->memory_mb = (double)o->attr->numanode.local_memory / 1e6;
        hwloc_bitmap_list_snprintf(to->cpus, sizeof to->cpus, o->cpuset);
    }
}

/* Processors of a machine that is not this one. */
static void read_processors(hwloc_topology_t t, struct fit_topology *to)
{
    int n = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PU);
    *to = (struct fit_topology){.online = n};
    for (int k = 0; k < n && to->logical < FIT_TOPOLOGY_CPUS; k++) {
        hwloc_obj_t pu = hwloc_get_obj_by_type(t, HWLOC_OBJ_PU, (unsigned)k);
        hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_CORE, pu),
                    package = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_PACKAGE, pu);
        to->cpu[to->logical++] =
            (struct fit_topology_cpu){.cpu = (int)pu->os_index,
                                      .core = core ? hwloc_bitmap_first(core->cpuset) : (int)pu->os_index,
                                      .package = package ? (int)package->os_index : -1,
                                      .node = hwloc_bitmap_first(pu->nodeset)};
    }
    fit_topology_count(to);
}

int machine_other(struct fit_topology *to)
{
    hwloc_topology_t t;
    int other = 0;
    if (hwloc_topology_init(&t) != 0)
        return 0;
    if (hwloc_topology_load(t) == 0 && (other = !hwloc_topology_is_thissystem(t)))
        read_processors(t, to);
    hwloc_topology_destroy(t);
    return other;
}

void machine_read(struct machine *m)
{
    static char from[40];
    unsigned v = hwloc_get_api_version();
    hwloc_topology_t t;
    snprintf(from, sizeof from, "hwloc %u.%u", v >> 16, v >> 8 & 0xff);
    *m = (struct machine){.from = from, .packages = 1};
    machine_read_name(m);
    if (hwloc_topology_init(&t) != 0)
        return;
    /* the whole machine, as /sys shows it; what of it may be used is in topology.h */
    hwloc_topology_set_flags(t, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    if (hwloc_topology_load(t) == 0) {
        int n = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PACKAGE);
        m->packages = n > 0 ? n : 1;
        read_caches(t, m);
        read_nodes(t, m);
    }
    hwloc_topology_destroy(t);
}
