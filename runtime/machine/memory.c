/* memory.c -- how much memory there is, and what a fit takes of it.  See memory.h.
 *
 * Control groups: memory.max and memory.current of cgroup v2 on the way from ours to the root,
 * memory.limit_in_bytes of v1.  Files in the page cache that were not used lately (inactive_file)
 * count as free: the kernel gives them back first.
 */
#include "machine/memory.h"

#include "input/measurement.h"
#include "leastsquares/objective.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAM_MB 40 /* libraries, tables, maps of the results: measured */
#define LEAST_MB 50   /* for the data, however small the limit: streaming takes something too */

/* The number behind `name` in a file of "name number" lines, or of a single number (name ""). */
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

/* Bytes that the cgroup of this folder leaves, or NaN. */
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

/* The least that a cgroup on the way to the root leaves. */
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

double fit_memory_available_mb(void)
{
    double system = number_in("/proc/meminfo", "MemAvailable") * 1024;
    if (isnan(system)) {
        long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
        system = pages > 0 && size > 0 ? (double)pages * (double)size : NAN;
    }
    return fmin(system, left_in_cgroups()) / 1e6;
}

int fit_memory_room(double bytes)
{
    return bytes <= 64e6 || !(bytes / 1e6 > fit_memory_available_mb());
}

static void decide(const struct fit_selection *sel, double fraction, int weighted,
                   struct fit_memory_plan *p)
{
    p->points = 0.5 * (double)p->frames * (double)(p->frames - 1) * (double)p->ngroup;
    p->held_mb =
        PROGRAM_MB +
        (double)fit_measurement_memory(p->file_frames, p->frames, p->ngroup, weighted) / 1e6;
    p->streamed_mb =
        PROGRAM_MB + (double)fit_measurement_memory_streamed(p->frames, p->ngroup, weighted) / 1e6;
    p->available_mb = fit_memory_available_mb();
    p->limit_mb = fraction > 0 ? fraction * p->available_mb : NAN;
    if (p->limit_mb > 0)
        p->data_limit = (size_t)(1e6 * fmax(p->limit_mb - PROGRAM_MB, LEAST_MB));
    p->streamed = sel->stream == FIT_STREAM_AUTO
                      ? p->data_limit && p->held_mb - PROGRAM_MB > 1e-6 * (double)p->data_limit
                      : sel->stream == FIT_STREAM_ON;
}

enum fit_status fit_memory_plan(const struct fit_selection *sel, double fraction,
                                struct fit_memory_plan *plan, struct fit_error *err)
{
    struct fit_source *src = NULL;
    size_t *index = NULL, first = 0;
    struct fit_notes notes = {0}; /* the same ones come again with the data */
    *plan = (struct fit_memory_plan){0};
    enum fit_status st = fit_source_open(sel->path, sel->layout, &src, err);
    if (st == FIT_OK)
        st = fit_select_matrices(src, sel, &index, &plan->ngroup, &notes, err);
    if (st == FIT_OK)
        st = fit_select_window(src, sel, &first, &plan->frames, &notes, err);
    if (st == FIT_OK) {
        plan->file_frames = src->nframe;
        plan->nmatrix = src->nmatrix;
        decide(sel, fraction, sel->sigma == FIT_SIGMA_FILE || src->has_sigma, plan);
    }
    free(index);
    fit_notes_free(&notes);
    fit_source_close(src);
    return st;
}

void fit_memory_plan_loss(struct fit_memory_plan *plan, enum fit_loss loss)
{
    if (loss != FIT_LOSS_LINEAR && plan->points <= FIT_OBJECTIVE_KEPT)
        plan->held_mb += 2 * sizeof(double) * plan->points / 1e6;
}

double fit_memory_plan_bytes(const struct fit_selection *sel, const struct fit_memory_plan *plan)
{
    static const double looks = 2.7; /* times that values are read which stay in the file, measured */
    struct stat s;
    if (stat(sel->path, &s) != 0 || plan->nmatrix == 0)
        return NAN;
    const double share = (double)plan->ngroup / (double)plan->nmatrix;
    return (double)s.st_size * (1 + share * (plan->streamed ? looks : 1));
}
