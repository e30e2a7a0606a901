/* device.c -- accelerators for fits of arrays: each belongs to a model, whose kernels it holds.
 *
 * A device is opened when a fit first asks for its word, and kept, because contexts and compiled kernels cost more than
 * small fits; fits by several threads share it. It is closed with the model, before the library with the kernels is. */
#include "api/api.h"

#include "device/offered.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct opened {
    char word[256], note[300];
    struct fit_device *d; /* NULL: the processor, and note says why */
    struct opened *next;
};

struct api_devices {
    struct fit_device_offered offered;
    void *beside; /* a library with the programs alone, or NULL */
    pthread_mutex_t lock;
    struct opened *first;
};

struct api_devices *api_devices_new(void *library, const char *path, const struct fit_kernel *const *kernels)
{
    struct api_devices *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    a->offered.sources = fit_device_sources_of(library, path, &a->beside);
    a->offered.kernels = kernels;
    pthread_mutex_init(&a->lock, NULL);
    fit_device_offer_also(&a->offered);
    return a;
}

void api_devices_free(struct api_devices *a)
{
    if (!a)
        return;
    for (struct opened *o = a->first, *next; o; o = next) {
        next = o->next;
        fit_device_close(o->d);
        free(o);
    }
    fit_device_withdraw(&a->offered);
    pthread_mutex_destroy(&a->lock);
    if (a->beside)
        dlclose(a->beside);
    free(a);
}

/* The lock is held. */
static enum fit_status open_new(struct api_devices *a, const char *word, struct opened **out, struct fit_error *err)
{
    struct opened *o = calloc(1, sizeof *o);
    if (!o)
        return fit_no_memory(err, "device");
    const int n = snprintf(o->word, sizeof o->word, "%s", word);
    enum fit_status st = (size_t)n < sizeof o->word ? fit_device_open(word, &o->d, o->note, sizeof o->note, err)
                                                    : fit_fail(err, FIT_ERR_CONFIG, "device: %d characters", n);
    if (st != FIT_OK) {
        free(o);
        return st;
    }
    o->next = a->first;
    *out = a->first = o;
    return FIT_OK;
}

enum fit_status api_device_begin(struct api_devices *a, const char *word, struct api_device_use *use,
                                 struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    *use = (struct api_device_use){0};
    if (!word || strcmp(word, "cpu") == 0)
        return FIT_OK;
    pthread_mutex_lock(&a->lock);
    struct opened *o = a->first;
    while (o && strcmp(o->word, word) != 0)
        o = o->next;
    if (!o)
        st = open_new(a, word, &o, err);
    pthread_mutex_unlock(&a->lock);
    if (st != FIT_OK)
        return st;
    use->d = o->d;
    snprintf(use->text, sizeof use->text, "%s", o->note);
    if (o->d) {
        for (struct fit_device *k = o->d; k; k = fit_device_next(k))
            fit_device_say(k, "");
        use->before = fit_device_tally(o->d);
        fit_device_use_here(o->d);
    }
    return FIT_OK;
}

void api_device_end(struct api_device_use *use)
{
    if (!use->d)
        return;
    const struct fit_device_tally now = fit_device_tally(use->d);
    fit_device_use_here(NULL);
    fit_device_expect(use->d, 1);
    use->sums = now.calls - use->before.calls;
    use->launches = now.launches - use->before.launches;
    if (use->sums)
        snprintf(use->name, sizeof use->name, "%s", fit_device_about(use->d)->name);
    if (now.why[0])
        snprintf(use->text, sizeof use->text, "%s%s", use->sums ? "in part by the processor: " : "", now.why);
    use->d = NULL;
}
