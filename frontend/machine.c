/* machine.c -- what the system tells of the machine, without hwloc.  See machine.h. */
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void machine_read_name(struct machine *m)
{
    char line[256];
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && !m->name[0] && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (colon && strncmp(line, "model name", 10) == 0)
            snprintf(m->name, sizeof m->name, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    }
    if (f)
        fclose(f);
}

#ifndef FRONT_HWLOC
int machine_other(struct fit_topology *t)
{
    (void)t;
    return 0;
}

static int read_line(const char *path, char *line, int size)
{
    FILE *f = fopen(path, "r");
    int ok = f && fgets(line, size, f) != NULL;
    if (f)
        fclose(f);
    if (ok)
        line[strcspn(line, "\n")] = '\0';
    return ok;
}

/* Numbers in a list like "0-3,8". */
static int count_list(const char *list)
{
    int n = 0;
    for (const char *c = list; *c;) {
        char *end;
        long a = strtol(c, &end, 10), b = a;
        if (end == c)
            break;
        if (*end == '-')
            b = strtol(end + 1, &end, 10);
        n += (int)(b - a + 1);
        c = *end == ',' ? end + 1 : end;
    }
    return n;
}

/* Caches of data of the first processor, as /sys/devices/system/cpu/cpu0/cache/indexN. */
static void read_caches(struct machine *m)
{
    char path[128], text[256];
    for (int k = 0; k < 10 && m->ncache < MACHINE_CACHES; k++) {
        struct machine_cache c = {0};
        char unit = 0;
        const char *root = "/sys/devices/system/cpu/cpu0/cache/index";
        snprintf(path, sizeof path, "%s%d/type", root, k);
        if (!read_line(path, text, sizeof text))
            return;
        if (strcmp(text, "Instruction") == 0)
            continue;
        snprintf(path, sizeof path, "%s%d/level", root, k);
        c.level = read_line(path, text, sizeof text) ? atoi(text) : 0;
        snprintf(path, sizeof path, "%s%d/size", root, k);
        if (read_line(path, text, sizeof text) && sscanf(text, "%lf%c", &c.bytes, &unit) == 2)
            c.bytes *= unit == 'K' ? 1024 : unit == 'M' ? 1048576 : 1;
        snprintf(path, sizeof path, "%s%d/shared_cpu_list", root, k);
        c.sharing = read_line(path, text, sizeof text) ? count_list(text) : 1;
        m->cache[m->ncache++] = c;
    }
}

static void read_node(struct machine_node *n)
{
    char path[128], line[256];
    double kb;
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", n->number);
    if (read_line(path, line, sizeof line))
        snprintf(n->cpus, sizeof n->cpus, "%.127s", line);
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d/meminfo", n->number);
    if (read_line(path, line, sizeof line) && sscanf(line, "Node %*d MemTotal: %lf", &kb) == 1)
        n->memory_mb = kb * 1024 / 1e6;
}

static void read_nodes(struct machine *m)
{
    char list[256];
    if (!read_line("/sys/devices/system/node/online", list, sizeof list))
        return;
    for (const char *c = list; *c;) {
        char *end;
        long a = strtol(c, &end, 10), b = a;
        if (end == c)
            return;
        if (*end == '-')
            b = strtol(end + 1, &end, 10);
        for (long k = a; k <= b && m->nnode < MACHINE_NODES; k++) {
            m->node[m->nnode].number = (int)k;
            read_node(&m->node[m->nnode++]);
        }
        c = *end == ',' ? end + 1 : end;
    }
}

static void count_packages(struct machine *m)
{
    int seen[256] = {0}, n = 0;
    for (int cpu = 0; cpu < 4096 && n < 256; cpu++) {
        char path[128], text[32];
        int k = 0;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
        if (!read_line(path, text, sizeof text))
            break;
        while (k < n && seen[k] != atoi(text))
            k++;
        if (k == n)
            seen[n++] = atoi(text);
    }
    m->packages = n > 0 ? n : 1;
}

void machine_read(struct machine *m)
{
    *m = (struct machine){.from = "/sys"};
    machine_read_name(m);
    count_packages(m);
    read_caches(m);
    read_nodes(m);
}
#endif
