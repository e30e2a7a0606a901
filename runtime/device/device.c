/* device.c -- the devices of all kinds: listed, chosen by a word, used.
 *
 * Takes a word, gives an open device; everything else is passed on to its driver. */
#include "device/device.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/driver.h"

static const struct fit_device_driver *const drivers[] = {&fit_driver_cuda, &fit_driver_opencl, &fit_driver_plain};

static struct fit_device *used;

void fit_device_use(struct fit_device *d)
{
    used = d;
}

struct fit_device *fit_device_used(void)
{
    return used;
}

void fit_device_list(void (*fn)(void *user, const struct fit_device_info *info), void *user, char *missing,
                     size_t size)
{
    size_t n = 0;
    missing[0] = 0;
    for (int k = FIT_DEVICE_CUDA; k < FIT_DEVICE_PLAIN; k++) {
        const char *why = drivers[k]->list(fn, user);
        if (why && n < size)
            n += (size_t)snprintf(missing + n, size - n, "%s%s", n ? "; " : "", why);
    }
}

int fit_device_fail(struct fit_device *d, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(d->failure, sizeof d->failure, format, args);
    va_end(args);
    return -1;
}

/* ---- choice ------------------------------------------------------------------------------------------ */

/* Single precision more than so many times as fast: double precision is an afterthought of that card. */
enum { MOST_WEAK = 4 };

struct choice {
    const char *word;
    int found, card;
    struct fit_device_info info;
    char seen[400]; /* cards that will not do, and why; or what there is */
};

static void add_seen(struct choice *c, const char *name, const char *why)
{
    size_t n = strlen(c->seen);
    snprintf(c->seen + n, sizeof c->seen - n, "%s%s%s%s", n ? "; " : "", name, why[0] ? ": " : "", why);
}

static void consider(void *user, const struct fit_device_info *info)
{
    struct choice *c = user;
    char why[200];
    if (c->found)
        return;
    if (!c->card) {
        c->found = strcmp(info->word, c->word) == 0;
        if (c->found)
            c->info = *info;
        else
            add_seen(c, info->word, "");
        return;
    }
    if (!info->is_card)
        return;
    if (info->unusable[0] || info->weak > MOST_WEAK) {
        snprintf(why, sizeof why, "double precision is 1/%d of single", info->weak);
        add_seen(c, info->name, info->unusable[0] ? info->unusable : why);
        return;
    }
    c->info = *info;
    c->found = 1;
}

static enum fit_status open_found(const struct choice *c, struct fit_device **d, struct fit_error *err)
{
    struct fit_device *x = calloc(1, sizeof *x);
    if (!x)
        return fit_no_memory(err, "device");
    x->driver = drivers[c->info.kind];
    x->info = c->info;
    x->automatic = strcmp(c->word, "auto") == 0;
    pthread_mutex_init(&x->lock, NULL);
    if (c->info.unusable[0] || x->driver->open(x) != 0) {
        enum fit_status st = fit_fail(err, FIT_ERR_CONFIG, "device %s (%s): %s", c->info.word, c->info.name,
                                      c->info.unusable[0] ? c->info.unusable : x->failure);
        pthread_mutex_destroy(&x->lock);
        free(x);
        return st;
    }
    *d = x;
    return FIT_OK;
}

static void plain_info(void *user, const struct fit_device_info *info)
{
    consider(user, info);
}

enum fit_status fit_device_open(const char *word, struct fit_device **d, char *note, size_t size, struct fit_error *err)
{
    struct choice c = {.word = word, .card = strcmp(word, "gpu") == 0 || strcmp(word, "auto") == 0};
    char missing[400];
    *d = NULL;
    note[0] = 0;
    if (strcmp(word, "cpu") == 0)
        return FIT_OK;
    if (!c.card && strncmp(word, "cuda:", 5) != 0 && strncmp(word, "opencl:", 7) != 0 && strcmp(word, "plain") != 0)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "--device %s: must be cpu, gpu, auto, or one that `homodyne info --devices` shows", word);
    fit_device_list(consider, &c, missing, sizeof missing);
    if (!c.card)
        fit_driver_plain.list(plain_info, &c);
    if (c.found)
        return open_found(&c, d, err);
    if (!c.card)
        return fit_fail(err, FIT_ERR_CONFIG, "--device %s: there is no such device%s%s%s%s", word,
                        c.seen[0] ? "; there is: " : "", c.seen, missing[0] ? "; " : "", missing);
    const char *none = c.seen[0] || missing[0] ? "" : "none found";
    snprintf(note, size, "no card with full double precision (%s%s%s%s); the processor is used", c.seen,
             c.seen[0] && missing[0] ? "; " : "", missing, none);
    return FIT_OK;
}

/* ---- passed on --------------------------------------------------------------------------------------- */

void fit_device_close(struct fit_device *d)
{
    if (!d)
        return;
    if (used == d)
        used = NULL;
    for (struct fit_device_module *m = d->loaded, *next; m; m = next) {
        next = m->next;
        d->driver->unload(m);
        free(m);
    }
    d->driver->close(d);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

const struct fit_device_info *fit_device_about(const struct fit_device *d)
{
    return &d->info;
}

int fit_device_is_automatic(const struct fit_device *d)
{
    return d->automatic;
}

const char *fit_device_failure(const struct fit_device *d)
{
    return d->failure;
}

void *fit_device_buffer(struct fit_device *d, size_t bytes)
{
    return d->driver->buffer(d, bytes ? bytes : sizeof(double));
}

void fit_device_release(struct fit_device *d, void *buffer)
{
    if (buffer)
        d->driver->release(d, buffer);
}

int fit_device_write(struct fit_device *d, void *buffer, size_t at, const void *from, size_t bytes)
{
    return bytes ? d->driver->write(d, buffer, at, from, bytes) : 0;
}

int fit_device_read(struct fit_device *d, void *buffer, void *to, size_t bytes)
{
    return bytes ? d->driver->read(d, buffer, to, bytes) : 0;
}

enum fit_status fit_device_load(struct fit_device *d, const struct fit_gpu_source *source,
                                struct fit_device_module **module, struct fit_error *err)
{
    struct fit_device_module *m = d->loaded;
    while (m && m->source != source)
        m = m->next;
    *module = m;
    if (m)
        return FIT_OK;
    m = calloc(1, sizeof *m);
    if (!m)
        return fit_no_memory(err, "device");
    m->d = d;
    m->source = source;
    if (d->driver->load(m) != 0) {
        free(m);
        return fit_fail(err, FIT_ERR_INTERNAL, "device %s: the kernels of %s cannot be loaded: %s", d->info.word,
                        source->program->name, d->failure);
    }
    m->next = d->loaded;
    *module = d->loaded = m;
    return FIT_OK;
}

int fit_device_run(struct fit_device_module *m, const struct fit_device_call *call)
{
    if (!call->grid[0] || !call->grid[1] || !call->grid[2])
        return 0;
    return m->d->driver->run(m, call);
}

struct fit_device_tally fit_device_tally(struct fit_device *d)
{
    fit_device_lock(d);
    const struct fit_device_tally t = d->tally;
    fit_device_unlock(d);
    return t;
}

void fit_device_add(struct fit_device *d, size_t calls)
{
    d->tally.calls += calls;
    d->tally.launches++;
}

void fit_device_say(struct fit_device *d, const char *why)
{
    fit_device_lock(d);
    snprintf(d->tally.why, sizeof d->tally.why, "%.230s", why ? why : "");
    fit_device_unlock(d);
}

void fit_device_lock(struct fit_device *d)
{
    pthread_mutex_lock(&d->lock);
}

void fit_device_unlock(struct fit_device *d)
{
    pthread_mutex_unlock(&d->lock);
}
