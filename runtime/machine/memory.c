/* memory.c -- how much memory there is. See memory.h.
 *
 * Control groups: memory.max and memory.current of cgroup v2 from our group up to the root, memory.limit_in_bytes of
 * v1. Files in the page cache that were not used recently (inactive_file) count as free: the kernel reclaims them
 * first.
 */
#define _DEFAULT_SOURCE /* getrusage */
#include "machine/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The number after `name` in a file of "name number" lines, or of a single number (name ""). */
static double number_in(const char *path, const char *name)
{
    char line[256];
    double v = NAN;
    size_t n = strlen(name);
    FILE *f = fopen(path, "r");
    while (f && isnan(v) && fgets(line, sizeof line, f))
        if (strncmp(line, name, n) == 0 && sscanf(line + n, "%*[: ]%lf", &v) != 1 &&
            sscanf(line + n, "%lf", &v) != 1) /* "max" */
            v = NAN;
    if (f)
        fclose(f);
    return v;
}

/* Bytes still available in the cgroup of this folder, or NaN. */
static double left_in(const char *folder, const char *limit, const char *usage)
{
    char path[800];
    snprintf(path, sizeof path, "%s/%s", folder, limit);
    double most = number_in(path, "");
    snprintf(path, sizeof path, "%s/%s", folder, usage);
    double used = number_in(path, "");
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    double idle = number_in(path, "inactive_file");
    if (isnan(most) || isnan(used) || most > 1e15) /* v1 writes a huge number for none */
        return NAN;
    return fmax(most - used + (isnan(idle) ? 0 : idle), 0);
}

/* The minimum over the cgroups up to the root. */
static double left_in_cgroups(void)
{
    char line[512], folder[640];
    double least = left_in("/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                           "memory.usage_in_bytes");
    FILE *f = fopen("/proc/self/cgroup", "r");
    while (f && fgets(line, sizeof line, f)) {
        if (strncmp(line, "0::", 3) != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        for (char *name = line + 3;;) {
            snprintf(folder, sizeof folder, "/sys/fs/cgroup%s", name);
            least = fmin(least, left_in(folder, "memory.max", "memory.current"));
            char *slash = strrchr(name, '/');
            if (!slash)
                break;
            *slash = '\0';
        }
    }
    if (f)
        fclose(f);
    return least; /* fmin passes over NaN */
}

static size_t sharers = 1;

void fit_memory_share(size_t processes)
{
    sharers = processes > 0 ? processes : 1;
}

double fit_memory_available_mb(void)
{
    double system = number_in("/proc/meminfo", "MemAvailable") * 1024;
    if (isnan(system)) {
        long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
        system = pages > 0 && size > 0 ? (double)pages * (double)size : NAN;
    }
    return fmin(system, left_in_cgroups()) / 1e6 / (double)sharers;
}

int fit_memory_room(double bytes)
{
    return bytes <= 64e6 || !(bytes / 1e6 > fit_memory_available_mb());
}

double fit_memory_peak_mb(void)
{
    struct rusage u;
    return getrusage(RUSAGE_SELF, &u) == 0 ? (double)u.ru_maxrss * 1024 / 1e6 : NAN; /* Linux: KiB */
}
