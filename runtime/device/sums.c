/* sums.c -- sums over a data set by a device, requested by many threads.
 *
 * Calls of one kind that wait at the same time (queue.h) are evaluations of one launch (launch.c). Data sets of one
 * shape share a pool (pool.c), and so their launches.
 */
#include "device/sums.h"

#include <stdlib.h>
#include <string.h>

#include "device/sums_impl.h"
#include "ranks/ranks.h"

static struct {
    pthread_mutex_t lock;
    struct fit_device_sums *first;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- calls ------------------------------------------------------------------------------------------- */

int fit_device_sums_take(struct fit_device_sums *s, const struct fit_device_request *request)
{
    struct fit_device_waiting own = {.r = *request, .place = s->place};
    struct fit_launch_user user = {s->pool, s->ds, fit_ranks_shared()}; /* shared: then nobody else calls */
    return fit_device_queue_ask(&s->pool->queue, &own.asked, &user);
}

/* ---- values ------------------------------------------------------------------------------------------ */

size_t fit_device_sums_doubles(const struct fit_device_sums *s)
{
    return s->pool->nall;
}

int fit_device_values(struct fit_device_sums *s, const double *ws, const double *lin, double *out)
{
    const struct fit_device_request r = {.ws = ws, .lin = lin};
    return fit_launch_values(s->pool, s->place, &r, out);
}

/* ---- making, sharing, freeing ----------------------------------------------------------------------- */

struct fit_device_count fit_device_sums_count(const struct fit_device_sums *s)
{
    return s->pool->count;
}

const char *fit_device_sums_failure(const struct fit_device_sums *s)
{
    const struct fit_device_pool *p = s->pool;
    while (p->mate && !fit_device_failure(p->shelf.d)[0])
        p = p->mate;
    return fit_device_failure(p->shelf.d);
}

const char *fit_device_lacks(const struct fit_kernel *kernel, const struct fit_dataset *ds)
{
    const char *why;
    return fit_device_source_for(kernel, ds, &why) ? NULL : why;
}

static enum fit_status make(struct fit_device *d, const struct fit_kernel *kernel, const struct fit_dataset *ds,
                            const struct fit_gpu_source *source, struct fit_device_sums **out, struct fit_error *err)
{
    struct fit_device_sums *s = calloc(1, sizeof *s);
    if (!s)
        return fit_no_memory(err, "device");
    s->ds = ds;
    s->asked = d;
    s->stamp = ds->stamp;
    s->owners = 1;
    enum fit_status st = fit_pool_enter(d, kernel, ds, source, &s->pool, &s->place, err);
    if (st == FIT_OK)
        *out = s;
    else
        free(s);
    return st;
}

/* 1: s has these values, and they are unchanged. */
static int is_for(const struct fit_device_sums *s, const struct fit_device *d, const struct fit_kernel *kernel,
                  const struct fit_dataset *ds)
{
    return s->stamp == ds->stamp && s->ds == ds && s->asked == d && s->pool->kernel == kernel;
}

enum fit_status fit_device_sums_new(struct fit_device *d, const struct fit_kernel *kernel, const struct fit_dataset *ds,
                                    struct fit_device_sums **sums, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    const char *why;
    *sums = NULL;
    const struct fit_gpu_source *source = fit_device_source_for(kernel, ds, &why);
    if (!source)
        return fit_fail(err, FIT_ERR_CONFIG, "%s", why);
    pthread_mutex_lock(&all.lock);
    for (struct fit_device_sums *s = all.first; s && !*sums; s = s->next)
        if (is_for(s, d, kernel, ds)) {
            s->owners++;
            *sums = s;
        }
    if (!*sums && (st = make(d, kernel, ds, source, sums, err)) == FIT_OK) {
        (*sums)->next = all.first;
        all.first = *sums;
    }
    pthread_mutex_unlock(&all.lock);
    return st;
}

struct fit_device_sums *fit_device_sums_share(struct fit_device_sums *s)
{
    pthread_mutex_lock(&all.lock);
    if (s)
        s->owners++;
    pthread_mutex_unlock(&all.lock);
    return s;
}

void fit_device_sums_free(struct fit_device_sums *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&all.lock);
    const int last = --s->owners == 0;
    struct fit_device_sums **at = &all.first;
    while (last && *at != s)
        at = &(*at)->next;
    if (last)
        *at = s->next;
    pthread_mutex_unlock(&all.lock);
    if (last) {
        fit_pool_leave(s->pool, s->place);
        free(s);
    }
}
