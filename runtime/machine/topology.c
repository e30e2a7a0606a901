/* topology.c -- processors that this process may use. See topology.h.
 *
 * Control groups: cpu.max of v2 ("quota period") from our group up to the root, cpu.cfs_quota_us and cpu.cfs_period_us
 * of v1.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "machine/topology.h"

#include <pthread.h>
#include <dirent.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
enum { PATH = 1200 };

/* The number in a file of the processor, or `otherwise`. */
static int cpu_number(const char *root, int cpu, const char *name, int otherwise)
{
    char path[PATH];
    int v = otherwise;
    snprintf(path, sizeof path, "%.1000s/sys/devices/system/cpu/cpu%d/topology/%s", root, cpu, name);
    FILE *f = fopen(path, "r");
    if (f) {
        if (fscanf(f, "%d", &v) != 1)
            v = otherwise;
        fclose(f);
    }
    return v;
}

/* The node is a link cpuN/nodeM. */
static int node_of(const char *root, int cpu)
{
    char path[PATH];
    int node = 0;
    snprintf(path, sizeof path, "%.1000s/sys/devices/system/cpu/cpu%d", root, cpu);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;)
        if (sscanf(e->d_name, "node%d", &node) == 1)
            break;
    if (d)
        closedir(d);
    return node;
}

static void add_cpu(struct fit_topology *t, const char *root, int cpu)
{
    if (t->logical < FIT_TOPOLOGY_CPUS)
        t->cpu[t->logical++] = (struct fit_topology_cpu){.cpu = cpu,
                                                         .core = cpu_number(root, cpu, "thread_siblings_list", cpu),
                                                         .package = cpu_number(root, cpu, "physical_package_id", -1),
                                                         .node = node_of(root, cpu)};
}

/* Processors of a list "0-3,8" in a file. */
static void read_list(struct fit_topology *t, const char *root)
{
    char path[PATH];
    int from, to;
    snprintf(path, sizeof path, "%.1000s/sys/devices/system/cpu/online", root);
    FILE *f = fopen(path, "r");
    for (int n; f && (n = fscanf(f, "%d-%d", &from, &to)) >= 1;) {
        for (int cpu = from; cpu <= (n > 1 ? to : from) && t->logical < FIT_TOPOLOGY_CPUS; cpu++)
            add_cpu(t, root, cpu);
        if (fgetc(f) != ',')
            break;
    }
    if (f)
        fclose(f);
}

static void read_cpus(struct fit_topology *t)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t)cpu, &set))
            add_cpu(t, "", cpu);
}

/* ---- control groups -------------------------------------------------------------------------- */

static void limit(struct fit_topology *t, double quota, const char *path)
{
    if (!(quota > 0) || (t->quota > 0 && t->quota <= quota))
        return;
    t->quota = quota;
    snprintf(t->quota_from, sizeof t->quota_from, "%.255s", path);
}

static int read_numbers(const char *path, double *a, double *b)
{
    FILE *f = fopen(path, "r");
    if (!f)
        return 0;
    int n = fscanf(f, "%lf %lf", a, b); /* "max 100000" gives 0 */
    fclose(f);
    return n;
}

static void quota_v2(struct fit_topology *t, char *group)
{
    char path[640];
    for (;;) {
        double quota = 0, period = 0;
        snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group);
        if (read_numbers(path, &quota, &period) == 2 && period > 0)
            limit(t, quota / period, path);
        char *slash = strrchr(group, '/');
        if (!slash)
            return;
        *slash = '\0';
    }
}

static void quota_v1(struct fit_topology *t, const char *root, char *group)
{
    char path[700];
    for (;;) {
        double quota = 0, period = 0, none;
        snprintf(path, sizeof path, "%s%s/cpu.cfs_period_us", root, group);
        read_numbers(path, &period, &none);
        snprintf(path, sizeof path, "%s%s/cpu.cfs_quota_us", root, group);
        if (read_numbers(path, &quota, &none) >= 1 && period > 0)
            limit(t, quota / period, path);
        char *slash = strrchr(group, '/');
        if (!slash)
            return;
        *slash = '\0';
    }
}

/* Lines of /proc/self/cgroup: "0::/name" (v2), "4:cpu,cpuacct:/name" (v1). */
static void read_quota(struct fit_topology *t)
{
    char line[512];
    FILE *f = fopen("/proc/self/cgroup", "r");
    while (f && fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = '\0';
        char *list = strchr(line, ':'), *group = list ? strchr(list + 1, ':') : NULL;
        if (!group)
            continue;
        *group++ = '\0';
        if (list[1] == '\0')
            quota_v2(t, group);
        else if (strncmp(list + 1, "cpu", 3) == 0 && (list[4] == ',' || list[4] == '\0'))
            quota_v1(t, "/sys/fs/cgroup/cpu", group);
    }
    if (f)
        fclose(f);
    char root[] = ""; /* inside a container the names above are those of the host */
    quota_v1(t, "/sys/fs/cgroup/cpu", root);
}
#else
static void read_list(struct fit_topology *t, const char *root)
{
    (void)t;
    (void)root;
}

static void read_cpus(struct fit_topology *t)
{
    (void)t;
}

static void read_quota(struct fit_topology *t)
{
    (void)t;
}
#endif

/* ---- all ------------------------------------------------------------------------------------- */

/* Whether cpu k is the first with its core, or with its node. */
static int first_of_core(const struct fit_topology *t, int k)
{
    for (int i = 0; i < k; i++)
        if (t->cpu[i].core == t->cpu[k].core)
            return 0;
    return 1;
}

static int first_of_node(const struct fit_topology *t, int k)
{
    for (int i = 0; i < k; i++)
        if (t->cpu[i].node == t->cpu[k].node)
            return 0;
    return 1;
}

void fit_topology_count(struct fit_topology *t)
{
    t->cores = t->nodes = 0;
    for (int k = 0; k < t->logical; k++) {
        t->cores += first_of_core(t, k);
        t->nodes += first_of_node(t, k);
    }
}

void fit_topology_read(struct fit_topology *t)
{
    *t = (struct fit_topology){0};
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    t->online = online > 0 ? (int)online : 1;
    read_cpus(t);
    fit_topology_count(t);
    if (!t->logical) {
        t->logical = t->cores = t->online;
        t->nodes = 1;
    }
    read_quota(t);
}

int fit_topology_read_copy(struct fit_topology *t, const char *root)
{
    *t = (struct fit_topology){0};
    read_list(t, root);
    t->online = t->logical;
    fit_topology_count(t);
    return t->logical > 0;
}

int fit_topology_usable(const struct fit_topology *t)
{
    int granted = (int)(t->quota + 0.5);
    int n = t->quota > 0 && granted < t->cores ? granted : t->cores;
    return n > 0 ? n : 1;
}

/* Sorts cores by node and position in it, or by position and node. */
int fit_topology_order(const struct fit_topology *t, int spread, int order[FIT_TOPOLOGY_CPUS])
{
    long rank[FIT_TOPOLOGY_CPUS];
    int n = 0;
    for (int i = 0; i < t->logical; i++) {
        long place = 0;
        if (!first_of_core(t, i))
            continue;
        for (int j = 0; j < i; j++)
            place += t->cpu[j].node == t->cpu[i].node && first_of_core(t, j);
        long key = spread ? place * FIT_TOPOLOGY_CPUS + t->cpu[i].node
                          : t->cpu[i].node * (long)FIT_TOPOLOGY_CPUS + place;
        int at = n++;
        for (; at > 0 && rank[at - 1] > key; at--) {
            rank[at] = rank[at - 1];
            order[at] = order[at - 1];
        }
        rank[at] = key;
        order[at] = t->cpu[i].cpu;
    }
    return n;
}

int fit_topology_core(size_t k, int spread)
{
    static struct fit_topology t;
    static int order[FIT_TOPOLOGY_CPUS], n = -1; /* callers hold a lock (team.c) */
    if (n < 0) {
        fit_topology_read(&t);
        n = fit_topology_order(&t, spread, order);
    }
    return n > 0 ? order[k % (size_t)n] : -1;
}

/* ---- how many threads ------------------------------------------------------------------------------------------- */

static pthread_once_t asked_once = PTHREAD_ONCE_INIT;
static int usable;

static void ask(void)
{
    struct fit_topology *t = malloc(sizeof *t);
    usable = 1;
    if (t) {
        fit_topology_read(t);
        usable = fit_topology_usable(t);
    }
    free(t);
}

int fit_topology_cores(void)
{
    pthread_once(&asked_once, ask);
    return usable;
}

static atomic_int lent;

void fit_topology_lend(int threads)
{
    atomic_store(&lent, threads);
}

int fit_topology_threads(void)
{
    const char *wish = getenv("OMP_NUM_THREADS");
    int n = atomic_load(&lent);
    if (n <= 0)
        n = wish ? atoi(wish) : 0;
    if (n > 0)
        return n;
    return fit_topology_cores();
}
