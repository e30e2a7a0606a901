/* offered.c -- see offered.h. */
#include "device/offered.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "common/regular.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct fit_device_offered own; /* of the executable; those of libraries follow */

void fit_device_offer(const struct fit_gpu_source *sources, const struct fit_kernel *const *kernels)
{
    own.sources = sources;
    own.kernels = kernels;
}

void fit_device_offer_also(struct fit_device_offered *more)
{
    pthread_mutex_lock(&lock);
    more->next = own.next;
    own.next = more;
    pthread_mutex_unlock(&lock);
}

void fit_device_withdraw(struct fit_device_offered *more)
{
    pthread_mutex_lock(&lock);
    for (struct fit_device_offered **at = &own.next; *at; at = &(*at)->next)
        if (*at == more) {
            *at = more->next;
            break;
        }
    pthread_mutex_unlock(&lock);
}

const struct fit_gpu_source *fit_device_sources_of(void *library, const char *path, void **beside)
{
    char name[4096];
    const char *dot = strrchr(path, '.');
    const struct fit_gpu_source *sources = dlsym(library, "fit_gpu_sources");
    *beside = NULL;
    if (sources || !dot || snprintf(name, sizeof name, "%.*s.gpu", (int)(dot - path), path) >= (int)sizeof name ||
        regular_what(name))
        return sources;
    *beside = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    return *beside ? dlsym(*beside, "fit_gpu_sources") : NULL;
}

/* ---- seeking ----------------------------------------------------------------------------------------- */

static const struct fit_gpu_source *among(const struct fit_device_offered *o, const char *name, const char *variant,
                                          const char *hash)
{
    for (const struct fit_gpu_source *s = o->sources; s && s->program; s++)
        if (strcmp(s->program->name, name) == 0 && strcmp(s->program->variant, variant) == 0 &&
            strcmp(s->program->hash, hash) == 0)
            return s;
    return NULL;
}

const struct fit_gpu_source *fit_device_source(const char *name, const char *variant, const char *hash)
{
    const struct fit_gpu_source *found = NULL;
    pthread_mutex_lock(&lock);
    for (const struct fit_device_offered *o = &own; o && !found; o = o->next)
        found = among(o, name, variant, hash);
    pthread_mutex_unlock(&lock);
    return found;
}

static int has(const struct fit_device_offered *o, const struct fit_kernel *kernel)
{
    for (size_t k = 0; o->kernels && o->kernels[k]; k++)
        if (o->kernels[k] == kernel)
            return 1;
    return 0;
}

const struct fit_gpu_source *fit_device_source_for(const struct fit_kernel *kernel, const struct fit_dataset *ds,
                                                   const char **why)
{
    const struct fit_gpu_source *s = NULL;
    pthread_mutex_lock(&lock);
    const struct fit_device_offered *o = ds->layout.context ? NULL : &own;
    while (o && !has(o, kernel))
        o = o->next;
    if (o)
        s = among(o, kernel->name, kernel->variant, kernel->hash);
    pthread_mutex_unlock(&lock);
    *why = !o ? "parameters are tied, or the kernel is one that was made for this fit"
           : !s ? "the program has no kernels of this model, or variant, for accelerators" : s->program->lacks;
    return s && s->program->npass ? s : NULL;
}
