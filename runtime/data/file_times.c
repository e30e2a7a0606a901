/* file_times.c -- frames and times of several files in one data set; see file_times.h. */
#include "data/file_times.h"

#include "math/special.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double SAME_STEP = 1e-9, SAME_TIME = 1e-6; /* of the frame period */

/* Times behind the last frame of a file increase, as kernels want them to, by so small a part of the frame period that
 * the model there is that at its end: nothing that grows with time overflows where nothing was measured. */
static const double BEHIND = 1.0 / 1024;

static int same_times(const struct fit_file_time *part, size_t n)
{
    for (size_t f = 1; f < n; f++) {
        const struct fit_file_time *a = &part[0], *b = &part[f];
        if (!(fabs(a->step - b->step) <= SAME_STEP * a->step))
            return 0;
        for (size_t i = 0; i < a->ntime && i < b->ntime; i++)
            if (!(fabs(a->time[i] - b->time[i]) <= SAME_TIME * a->step))
                return 0;
    }
    return 1;
}

static void extend(const struct fit_file_time *part, size_t n, double *time)
{
    memcpy(time, part->time, part->ntime * sizeof *time);
    for (size_t i = part->ntime; i < n; i++)
        time[i] = part->time[part->ntime - 1] + (double)(i + 1 - part->ntime) * BEHIND * part->step;
}

/* The times of all files in their order, each once; returns how many. */
static size_t sorted(const struct fit_file_time *part, size_t n, double step, double *t)
{
    size_t all = 0, count = 0;
    for (size_t f = 0; f < n; all += part[f++].ntime)
        memcpy(t + all, part[f].time, part[f].ntime * sizeof *t);
    qsort(t, all, sizeof *t, fit_ascending);
    for (size_t k = 0; k < all; k++)
        if (!count || t[k] - t[count - 1] > SAME_TIME * step)
            t[count++] = t[k];
    return count;
}

/* all->ntime of the times of all files, with the first and the last. */
static int span(const struct fit_file_time *part, size_t n, struct fit_file_time *all, struct fit_arena *a)
{
    size_t total = 0;
    for (size_t f = 0; f < n; f++)
        total += part[f].ntime;
    FIT_OWNED double *t = malloc(total * sizeof *t);
    double *time = fit_take(a, all->ntime, sizeof *time);
    if (!t || !time)
        return 0;
    const size_t count = sorted(part, n, all->step, t);
    for (size_t i = 0; i < all->ntime; i++) /* count is not below ntime: the longest file has so many */
        time[i] = t[all->ntime > 1 ? i * (count - 1) / (all->ntime - 1) : 0];
    all->time = time;
    return 1;
}

int fit_file_times_join(const struct fit_file_time *part, struct fit_dataset_files *files, struct fit_file_time *all,
                        struct fit_arena *a)
{
    const size_t n = files->n;
    size_t *ntime = fit_take(a, n, sizeof *ntime);
    if (!ntime)
        return 0;
    *all = part[0];
    for (size_t f = 0; f < n; f++) {
        ntime[f] = part[f].ntime;
        if (part[f].ntime > all->ntime) {
            all->ntime = part[f].ntime;
            all->time = part[f].time;
        }
        all->step = fmin(all->step, part[f].step);
    }
    files->ntime = ntime;
    if (same_times(part, n)) {
        all->step = part[0].step;
        return 1;
    }
    double *time = fit_take(a, n * all->ntime, sizeof *time), *step = fit_take(a, n, sizeof *step);
    for (size_t f = 0; time && step && f < n; f++) {
        extend(&part[f], all->ntime, time + f * all->ntime);
        step[f] = part[f].step;
    }
    files->time = time;
    files->step = step;
    return time && step && span(part, n, all, a);
}

int fit_dataset_times_differ(const struct fit_dataset *ds)
{
    return ds->files && ds->files->time;
}

struct fit_file_time fit_dataset_group_time(const struct fit_dataset *ds, size_t g)
{
    const struct fit_layout *l = &ds->layout;
    const struct fit_dataset_files *x = ds->files;
    struct fit_file_time t = {l->ntime, l->time, l->step};
    if (x && x->ntime)
        t.ntime = x->ntime[x->of[g]];
    if (x && x->time) {
        t.time = x->time + x->of[g] * l->ntime;
        t.step = x->step[x->of[g]];
    }
    return t;
}

size_t fit_dataset_group_frames(const struct fit_dataset *ds, size_t g)
{
    const struct fit_layout *l = &ds->layout;
    const size_t all = fit_dataset_group_time(ds, g).ntime;
    size_t lo = 0, hi = l->nframe;
    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;
        if (l->frame[mid] < all)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

struct fit_time_range fit_dataset_time_range(const struct fit_dataset *ds, long group)
{
    const struct fit_layout *l = &ds->layout;
    const uint32_t a = l->frame[0], b = l->frame[l->nframe - 1];
    if (!fit_dataset_times_differ(ds))
        return (struct fit_time_range){l->time[a], l->time[b] - l->time[a], l->step};
    if (group < 0)
        return (struct fit_time_range){a, b - a, 1};
    const struct fit_file_time x = fit_dataset_group_time(ds, (size_t)group);
    return (struct fit_time_range){x.time[a], (b - a) * x.step, x.step};
}
