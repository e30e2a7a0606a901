/* model.c -- shared objects with kernels: found, opened, described.
 *
 * An object defines fit_kernels[], the kernels of one model for all variants and instruction sets as the build makes
 * it, or fit_kernel_loaded, a single one that the program `homodyne` makes from a model file. */
#define _GNU_SOURCE /* dladdr */
#include "api/api.h"

#include "common/nearest.h"
#include "model/registry.h"

#include "common/regular.h"

#include <dirent.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_MOST = 4096 };

/* ---- errors ---------------------------------------------------------------------------------- */

static _Thread_local struct fit_error last;

int api_failed(const struct fit_error *err)
{
    last = *err;
    return (int)err->status;
}

API const char *fit_api_message(void)
{
    return last.message;
}

API enum fit_api_status fit_api_status(void)
{
    return (enum fit_api_status)last.status;
}

_Static_assert((int)FIT_API_INTERRUPTED == (int)FIT_ERR_INTERRUPTED &&
                   (int)FIT_API_DATA == (int)FIT_ERR_DATA &&
                   (int)FIT_API_NUMERIC == (int)FIT_ERR_NUMERIC,
               "statuses are those of the runtime");

enum fit_status api_take(void *to, size_t size, const void *from, const char *name,
                         struct fit_error *err)
{
    size_t given;
    memcpy(&given, from, sizeof given);
    if (given < sizeof given || given > size)
        return fit_fail(
            err, FIT_ERR_USAGE,
            "struct %s: size is %zu; set it to sizeof(struct %s), at most %zu for this library",
            name, given, name, size);
    memset(to, 0, size);
    memcpy(to, from, given);
    return FIT_OK;
}

API int fit_api_version(void)
{
    return FIT_API_VERSION;
}

API const char *fit_api_release(void)
{
    return FIT_VERSION;
}

/* ---- finding --------------------------------------------------------------------------------- */

API const char *fit_api_folder(void)
{
    static _Thread_local char folder[PATH_MOST];
    Dl_info me;
    folder[0] = '\0';
    if (dladdr((void *)(uintptr_t)fit_api_version, &me) == 0 || !me.dli_fname)
        return folder;
    const char *slash = strrchr(me.dli_fname, '/');
    int n = slash ? (int)(slash - me.dli_fname) : 1;
    snprintf(folder, sizeof folder, "%.*s/homodyne-gen", n, slash ? me.dli_fname : ".");
    return folder;
}

/* The available models, and the one that was probably meant. */
static enum fit_status no_model(const char *name, struct fit_error *err)
{
    static const char end[] = ".so";
    char list[512] = "", best[128] = "", one[128];
    struct nearest near = {.name = name};
    DIR *dir = opendir(fit_api_folder());
    size_t at = 0;
    for (struct dirent *e; dir && (e = readdir(dir)) != NULL;) {
        size_t n = strlen(e->d_name);
        if (n < sizeof end || n >= sizeof one || strcmp(e->d_name + n - 3, end) != 0)
            continue;
        snprintf(one, sizeof one, "%.*s", (int)(n - 3), e->d_name);
        near.best = NULL;
        size_t before = near.distance;
        nearest_offer(&near, one);
        if (near.best && (!best[0] || near.distance < before))
            snprintf(best, sizeof best, "%s", one);
        near.best = best[0] ? best : NULL;
        if (at < sizeof list)
            at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", at ? ", " : "", one);
    }
    if (dir)
        closedir(dir);
    if (!list[0])
        return fit_fail(err, FIT_ERR_USAGE, "no model '%s': there are none in %s", name,
                        fit_api_folder());
    return fit_fail(err, FIT_ERR_USAGE,
                    "no model '%s'%s%s%s; there are %s; or give the path of a compiled one", name,
                    best[0] ? "; did you mean '" : "", best, best[0] ? "'?" : "", list);
}

static enum fit_status load(const char *name, const char *variant, struct fit_api_model *m,
                            struct fit_error *err)
{
    char path[PATH_MOST + 256];
    if (strchr(name, '/'))
        snprintf(path, sizeof path, "%s", name);
    else
        snprintf(path, sizeof path, "%s/%s.so", fit_api_folder(), name);
    FILE *f = regular_open(path);
    if (!f)
        return strchr(name, '/') ? fit_fail(err, FIT_ERR_IO, "%s: cannot be read", name)
                                 : no_model(name, err);
    fclose(f);
    m->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!m->library)
        return fit_fail(err, FIT_ERR_IO, "no compiled model: %s", dlerror());
    m->single[0] = dlsym(m->library, "fit_kernel_loaded");
    const struct fit_kernel *const *all = m->single[0] ? m->single : dlsym(m->library, "fit_kernels");
    if (!all || !all[0])
        return fit_fail(err, FIT_ERR_IO,
                        "%s: holds neither fit_kernels nor fit_kernel_loaded: no compiled model",
                        path);
    if (all[0]->abi != FIT_KERNEL_ABI)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "%s: compiled for version %u of the runtime, this is %u; compile it anew",
                        path, all[0]->abi, FIT_KERNEL_ABI);
    m->devices = api_devices_new(m->library, path, all);
    return m->devices ? fit_registry_pick(all, variant, NULL, &m->kernel, err) : fit_no_memory(err, path);
}

API struct fit_api_model *fit_api_open(const char *name, const char *variant)
{
    struct fit_error err = {.status = FIT_OK};
    struct fit_api_model *m = calloc(1, sizeof *m);
    enum fit_status st = !m ? fit_no_memory(&err, NULL)
                         : name && *name
                             ? load(name, variant, m, &err)
                             : fit_fail(&err, FIT_ERR_USAGE, "fit_api_open: no name of a model");
    if (st == FIT_OK)
        return m;
    api_failed(&err);
    fit_api_close(m);
    return NULL;
}

API void fit_api_close(struct fit_api_model *m)
{
    if (m)
        api_devices_free(m->devices);
    if (m && m->library)
        dlclose(m->library);
    free(m);
}

/* ---- description ----------------------------------------------------------------------------- */

API const char *fit_api_text(const struct fit_api_model *m, enum fit_api_text which)
{
    const struct fit_kernel *k = m->kernel;
    switch (which) {
    case FIT_API_NAME: return k->name;
    case FIT_API_VARIANT: return k->variant;
    case FIT_API_TITLE: return k->title;
    case FIT_API_FORMULA: return k->formula;
    case FIT_API_REFERENCE: return k->reference;
    case FIT_API_HASH: return k->hash;
    case FIT_API_ISA: return k->isa;
    }
    return NULL;
}

API int fit_api_is_pairs(const struct fit_api_model *m)
{
    return m->kernel->space == FIT_PAIRS;
}

API size_t fit_api_count(const struct fit_api_model *m, enum fit_api_kind kind)
{
    const struct fit_kernel *k = m->kernel;
    switch (kind) {
    case FIT_API_PARAM: return k->nparam;
    case FIT_API_LINEAR: return k->nlinear;
    case FIT_API_SETTING: return k->nsetting;
    case FIT_API_AXIS: return k->naxis;
    case FIT_API_COLUMN: return k->ncolumn;
    }
    return 0;
}

static struct fit_api_item of_param(const struct fit_param *p)
{
    return (struct fit_api_item){.name = p->name,
                                 .unit = p->unit,
                                 .doc = p->doc,
                                 .start = p->start,
                                 .lower = p->lower,
                                 .upper = p->upper,
                                 .per_group = p->over >= 0};
}

static struct fit_api_item of_words(const char *name, const char *unit, const char *doc,
                                    double start, int role)
{
    return (struct fit_api_item){.name = name,
                                 .unit = unit,
                                 .doc = doc,
                                 .start = start,
                                 .lower = NAN,
                                 .upper = NAN,
                                 .role = role};
}

static struct fit_api_item describe(const struct fit_kernel *k, enum fit_api_kind kind, size_t i)
{
    switch (kind) {
    case FIT_API_PARAM: return of_param(&k->param[i]);
    case FIT_API_LINEAR: return of_param(&k->linear[i]);
    case FIT_API_SETTING:
        return of_words(k->setting[i].name, k->setting[i].unit, k->setting[i].doc,
                        k->setting[i].value, 0);
    case FIT_API_AXIS: return of_words(k->axis[i].name, k->axis[i].unit, k->axis[i].doc, NAN, 0);
    case FIT_API_COLUMN: break;
    }
    return of_words(k->column[i].name, k->column[i].unit, k->column[i].doc, NAN,
                    (int)k->column[i].role);
}

API int fit_api_item(const struct fit_api_model *m, enum fit_api_kind kind, size_t i,
                     struct fit_api_item *item)
{
    struct fit_error err = {.status = FIT_OK};
    struct fit_api_item checked;
    if (api_take(&checked, sizeof checked, item, "fit_api_item", &err) != FIT_OK)
        return api_failed(&err);
    if (i >= fit_api_count(m, kind)) {
        fit_fail(&err, FIT_ERR_USAGE, "fit_api_item: no item %zu of kind %d; there are %zu", i,
                 (int)kind, fit_api_count(m, kind));
        return api_failed(&err);
    }
    size_t size = item->size;
    checked = describe(m->kernel, kind, i);
    checked.size = size;
    memcpy(item, &checked, size);
    return 0;
}
