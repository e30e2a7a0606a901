/* machine.c -- the system's information about the machine. See machine.h. */
#include "frontend/machine/machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 256 };

/* The first line of a file below root. */
__attribute__((format(printf, 3, 4))) static int read_line(const char *root, char line[LINE], const char *path, ...)
{
    char name[128], whole[1200];
    va_list ap;
    va_start(ap, path);
    vsnprintf(name, sizeof name, path, ap);
    va_end(ap);
    snprintf(whole, sizeof whole, "%.1000s%s", root, name);
    FILE *f = fopen(whole, "r");
    const int ok = f && fgets(line, LINE, f) != NULL;
    if (f)
        fclose(f);
    if (ok)
        line[strcspn(line, "\n")] = '\0';
    return ok;
}

static void read_name(struct machine *m, const char *root)
{
    char line[LINE], path[1200];
    snprintf(path, sizeof path, "%.1000s/proc/cpuinfo", root);
    FILE *f = fopen(path, "r");
    while (f && !m->name[0] && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (colon && strncmp(line, "model name", 10) == 0)
            snprintf(m->name, sizeof m->name, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
    }
    if (f)
        fclose(f);
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
static void read_caches(struct machine *m, const char *root)
{
    static const char index[] = "/sys/devices/system/cpu/cpu0/cache/index";
    char text[LINE];
    for (int k = 0; k < 10 && m->ncache < MACHINE_CACHES && read_line(root, text, "%s%d/type", index, k); k++) {
        struct machine_cache c = {0};
        char unit = 0;
        if (strcmp(text, "Instruction") == 0)
            continue;
        c.level = read_line(root, text, "%s%d/level", index, k) ? atoi(text) : 0;
        if (read_line(root, text, "%s%d/size", index, k) && sscanf(text, "%lf%c", &c.bytes, &unit) == 2)
            c.bytes *= unit == 'K' ? 1024 : unit == 'M' ? 1048576 : 1;
        c.sharing = read_line(root, text, "%s%d/shared_cpu_list", index, k) ? count_list(text) : 1;
        m->cache[m->ncache++] = c;
    }
}

static void read_node(struct machine_node *n, const char *root)
{
    char line[LINE];
    double kb;
    if (read_line(root, line, "/sys/devices/system/node/node%d/cpulist", n->number))
        snprintf(n->cpus, sizeof n->cpus, "%.127s", line);
    if (read_line(root, line, "/sys/devices/system/node/node%d/meminfo", n->number) &&
        sscanf(line, "Node %*d MemTotal: %lf", &kb) == 1)
        n->memory_mb = kb * 1024 / 1e6;
}

static void read_nodes(struct machine *m, const char *root)
{
    char list[LINE];
    if (!read_line(root, list, "/sys/devices/system/node/online"))
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
            read_node(&m->node[m->nnode++], root);
        }
        c = *end == ',' ? end + 1 : end;
    }
}

static void count_packages(struct machine *m, const char *root)
{
    int seen[256] = {0}, n = 0;
    char text[LINE];
    for (int cpu = 0; cpu < 4096 && n < 256; cpu++) {
        int k = 0;
        if (!read_line(root, text, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu))
            break;
        while (k < n && seen[k] != atoi(text))
            k++;
        if (k == n)
            seen[n++] = atoi(text);
    }
    m->packages = n > 0 ? n : 1;
}

void machine_read(struct machine *m, const char *root)
{
    *m = (struct machine){0};
    read_name(m, root);
    count_packages(m, root);
    read_caches(m, root);
    read_nodes(m, root);
}
