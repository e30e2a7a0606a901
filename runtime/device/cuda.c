/* cuda.c -- devices by the CUDA driver, libcuda.so.1, loaded at run time; no header or library of the toolkit is
 * needed. Names and numbers are those of the CUDA Driver API reference (NVIDIA), versions 11 and later.
 *
 * Kernels come as PTX that the build has embedded, which the driver compiles for its card, or from their text by NVRTC.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/driver.h"
#include "fit/gpu_shape.h"

enum { CLOCK_KHZ = 13, MULTIPROCESSORS = 16, MAJOR = 75, MINOR = 76, SINGLE_TO_DOUBLE = 87, LEAST_MAJOR = 8 };

static struct {
    int (*Init)(unsigned);
    int (*DeviceGetCount)(int *);
    int (*DeviceGet)(int *, int);
    int (*DeviceGetName)(char *, int, int);
    int (*DeviceGetAttribute)(int *, int, int);
    int (*DeviceTotalMem)(size_t *, int);
    int (*DevicePrimaryCtxRetain)(void **, int);
    int (*DevicePrimaryCtxRelease)(int);
    int (*CtxSetCurrent)(void *);
    int (*ModuleLoadDataEx)(void **, const void *, unsigned, int *, void **);
    int (*ModuleUnload)(void *);
    int (*ModuleGetFunction)(void **, void *, const char *);
    int (*MemAlloc)(uint64_t *, size_t);
    int (*MemFree)(uint64_t);
    int (*MemcpyHtoD)(uint64_t, const void *, size_t);
    int (*MemcpyDtoH)(void *, uint64_t, size_t);
    int (*LaunchKernel)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                        void **);
    int (*GetErrorString)(int, const char **);
    int (*MemHostAlloc)(void **, size_t, unsigned);
    int (*MemFreeHost)(void *);
    int (*MemcpyHtoDAsync)(uint64_t, const void *, size_t, void *);
    int (*StreamCreate)(void **, unsigned);
    int (*StreamDestroy)(void *);
    int (*StreamWaitEvent)(void *, void *, unsigned);
    int (*EventCreate)(void **, unsigned);
    int (*EventRecord)(void *, void *);
    int (*EventSynchronize)(void *);
    int (*EventDestroy)(void *);
} cu;

static const struct {
    const char *name;
    void *at;
} functions[] = {{"cuInit", &cu.Init},
                 {"cuDeviceGetCount", &cu.DeviceGetCount},
                 {"cuDeviceGet", &cu.DeviceGet},
                 {"cuDeviceGetName", &cu.DeviceGetName},
                 {"cuDeviceGetAttribute", &cu.DeviceGetAttribute},
                 {"cuDeviceTotalMem_v2", &cu.DeviceTotalMem},
                 {"cuDevicePrimaryCtxRetain", &cu.DevicePrimaryCtxRetain},
                 {"cuDevicePrimaryCtxRelease_v2", &cu.DevicePrimaryCtxRelease},
                 {"cuCtxSetCurrent", &cu.CtxSetCurrent},
                 {"cuModuleLoadDataEx", &cu.ModuleLoadDataEx},
                 {"cuModuleUnload", &cu.ModuleUnload},
                 {"cuModuleGetFunction", &cu.ModuleGetFunction},
                 {"cuMemAlloc_v2", &cu.MemAlloc},
                 {"cuMemFree_v2", &cu.MemFree},
                 {"cuMemcpyHtoD_v2", &cu.MemcpyHtoD},
                 {"cuMemcpyDtoH_v2", &cu.MemcpyDtoH},
                 {"cuLaunchKernel", &cu.LaunchKernel},
                 {"cuGetErrorString", &cu.GetErrorString},
                 {"cuMemHostAlloc", &cu.MemHostAlloc},
                 {"cuMemFreeHost", &cu.MemFreeHost},
                 {"cuMemcpyHtoDAsync_v2", &cu.MemcpyHtoDAsync},
                 {"cuStreamCreate", &cu.StreamCreate},
                 {"cuStreamDestroy_v2", &cu.StreamDestroy},
                 {"cuStreamWaitEvent", &cu.StreamWaitEvent},
                 {"cuEventCreate", &cu.EventCreate},
                 {"cuEventRecord", &cu.EventRecord},
                 {"cuEventSynchronize", &cu.EventSynchronize},
                 {"cuEventDestroy_v2", &cu.EventDestroy}};

enum { SLOTS = 2, NON_BLOCKING = 1, NO_TIMING = 2 };

/* Kernels run in the default stream; asynchronous copies of values have their own stream, made when needed. */
struct cuda {
    int device;
    void *context;
    void *copies, *sent[SLOTS], *used[SLOTS]; /* stream; events of slots */
};

struct cuda_module {
    void *module;
};

static void *library;

static const char *load_functions(void)
{
    if (library)
        return NULL;
    void *h = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    for (size_t k = 0; h && k < sizeof functions / sizeof *functions; k++) {
        void *f = dlsym(h, functions[k].name);
        if (!f)
            return "libcuda.so.1 is older than CUDA 11";
        memcpy(functions[k].at, &f, sizeof f);
    }
    library = h;
    return h ? NULL : "no CUDA driver (libcuda.so.1)";
}

/* ---- list -------------------------------------------------------------------------------------------- */

static int attribute(int device, int which)
{
    int v = 0;
    return cu.DeviceGetAttribute(&v, which, device) == 0 ? v : 0;
}

static void describe(int device, struct fit_device_info *info)
{
    const int major = attribute(device, MAJOR), minor = attribute(device, MINOR);
    cu.DeviceGetName(info->name, sizeof info->name - 1, device);
    cu.DeviceTotalMem(&info->memory, device);
    snprintf(info->what, sizeof info->what, "CUDA, compute capability %d.%d", major, minor);
    info->units = (unsigned)attribute(device, MULTIPROCESSORS);
    info->mhz = (unsigned)attribute(device, CLOCK_KHZ) / 1000;
    info->weak = attribute(device, SINGLE_TO_DOUBLE);
    info->is_card = 1;
    if (major < LEAST_MAJOR)
        snprintf(info->unusable, sizeof info->unusable, "compute capability %d.%d is older than %d.0", major, minor,
                 LEAST_MAJOR);
}

static const char *list(void (*fn)(void *user, const struct fit_device_info *info), void *user)
{
    const char *why = load_functions();
    int n = 0, device;
    if (why)
        return why;
    if (cu.Init(0) != 0 || cu.DeviceGetCount(&n) != 0 || n == 0)
        return "the CUDA driver finds no card";
    for (int k = 0; k < n; k++) {
        struct fit_device_info info = {.kind = FIT_DEVICE_CUDA, .index = (unsigned)k};
        if (cu.DeviceGet(&device, k) != 0)
            continue;
        snprintf(info.word, sizeof info.word, "cuda:%d", k);
        describe(device, &info);
        fn(user, &info);
    }
    return NULL;
}

/* ---- one device -------------------------------------------------------------------------------------- */

static int check(struct fit_device *d, int status, const char *what)
{
    const char *text = "unknown error";
    if (status == 0)
        return 0;
    cu.GetErrorString(status, &text);
    return fit_device_fail(d, "CUDA: %s: %s (%d)", what, text ? text : "unknown error", status);
}

/* Contexts belong to threads. */
static int enter(struct fit_device *d)
{
    return check(d, cu.CtxSetCurrent(((struct cuda *)d->own)->context), "cuCtxSetCurrent");
}

static int open_cuda(struct fit_device *d)
{
    struct cuda *c = d->own = calloc(1, sizeof *c);
    if (!c)
        return fit_device_fail(d, "out of memory");
    if (check(d, cu.DeviceGet(&c->device, (int)d->info.index), "cuDeviceGet") == 0 &&
        check(d, cu.DevicePrimaryCtxRetain(&c->context, c->device), "cuDevicePrimaryCtxRetain") == 0)
        return 0;
    free(c);
    return -1;
}

static void close_cuda(struct fit_device *d)
{
    struct cuda *c = d->own;
    cu.CtxSetCurrent(c->context);
    for (size_t k = 0; k < SLOTS && c->copies; k++) {
        cu.EventDestroy(c->sent[k]);
        cu.EventDestroy(c->used[k]);
    }
    if (c->copies)
        cu.StreamDestroy(c->copies);
    cu.DevicePrimaryCtxRelease(c->device);
    free(c);
}

/* Converts a device pointer to the type of the interface, and back. */
static void *handle(uint64_t pointer)
{
    return (void *)(uintptr_t)pointer;
}

static uint64_t pointer_of(const void *b)
{
    return (uint64_t)(uintptr_t)b;
}

static void *buffer(struct fit_device *d, size_t bytes)
{
    uint64_t p = 0;
    return enter(d) == 0 && check(d, cu.MemAlloc(&p, bytes), "cuMemAlloc") == 0 ? handle(p) : NULL;
}

static void release(struct fit_device *d, void *b)
{
    if (enter(d) == 0)
        cu.MemFree(pointer_of(b));
}

static int write_bytes(struct fit_device *d, void *b, size_t at, const void *from, size_t bytes)
{
    return enter(d) == 0 ? check(d, cu.MemcpyHtoD(pointer_of(b) + at, from, bytes), "cuMemcpyHtoD") : -1;
}

static int read_bytes(struct fit_device *d, void *b, size_t at, void *to, size_t bytes)
{
    return enter(d) == 0 ? check(d, cu.MemcpyDtoH(to, pointer_of(b) + at, bytes), "cuMemcpyDtoH") : -1;
}

/* ---- asynchronous copies of values --------------------------------------------------------------- */

static int begin_copies(struct fit_device *d)
{
    struct cuda *c = d->own;
    if (enter(d) != 0)
        return -1;
    if (c->copies)
        return 0;
    for (size_t k = 0; k < SLOTS; k++)
        if (check(d, cu.EventCreate(&c->sent[k], NO_TIMING), "cuEventCreate") != 0 ||
            check(d, cu.EventCreate(&c->used[k], NO_TIMING), "cuEventCreate") != 0)
            return -1;
    return check(d, cu.StreamCreate(&c->copies, NON_BLOCKING), "cuStreamCreate");
}

static void *host(struct fit_device *d, size_t bytes)
{
    void *memory = NULL;
    return enter(d) == 0 && check(d, cu.MemHostAlloc(&memory, bytes, 0), "cuMemHostAlloc") == 0 ? memory : NULL;
}

static void host_free(struct fit_device *d, void *memory)
{
    if (enter(d) == 0)
        cu.MemFreeHost(memory);
}

static int send_bytes(struct fit_device *d, void *b, const void *from, size_t bytes)
{
    const struct cuda *c = d->own;
    return begin_copies(d) != 0
               ? -1 : check(d, cu.MemcpyHtoDAsync(pointer_of(b), from, bytes, c->copies), "cuMemcpyHtoDAsync");
}

static int arrive(struct fit_device *d, size_t slot)
{
    const struct cuda *c = d->own;
    return enter(d) != 0 || check(d, cu.EventRecord(c->sent[slot], c->copies), "cuEventRecord") != 0
               ? -1 : check(d, cu.StreamWaitEvent(NULL, c->sent[slot], 0), "cuStreamWaitEvent");
}

static int leave(struct fit_device *d, size_t slot)
{
    const struct cuda *c = d->own;
    return enter(d) != 0 ? -1 : check(d, cu.EventRecord(c->used[slot], NULL), "cuEventRecord");
}

/* An event that was never recorded counts as completed. */
static int settle(struct fit_device *d, size_t slot)
{
    const struct cuda *c = d->own;
    return begin_copies(d) != 0 ? -1 : check(d, cu.EventSynchronize(c->used[slot]), "cuEventSynchronize");
}

/* ---- kernels ----------------------------------------------------------------------------------------- */

static int load_ptx(struct fit_device_module *m, struct cuda_module *x, const char *ptx)
{
    enum { ERROR_LOG = 5, ERROR_LOG_SIZE = 6 };
    char log[1000] = "";
    int option[] = {ERROR_LOG, ERROR_LOG_SIZE};
    void *value[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
    const int status = cu.ModuleLoadDataEx(&x->module, ptx, 2, option, value);
    return status == 0 ? 0 : fit_device_fail(m->d, "CUDA: error %d: %s", status, log);
}

static int load_text(struct fit_device_module *m, struct cuda_module *x)
{
    struct cuda *c = m->d->own;
    const unsigned arch = (unsigned)(10 * attribute(c->device, MAJOR) + attribute(c->device, MINOR));
    char *text = fit_gpu_whole_text(m->source);
    char *ptx = text ? fit_nvrtc_compile(m->d, text, arch) : NULL;
    int failed = !text ? fit_device_fail(m->d, "out of memory") : !ptx ? -1 : load_ptx(m, x, ptx);
    free(ptx);
    free(text);
    return failed;
}

static void unload(struct fit_device_module *m)
{
    struct cuda_module *x = m->own;
    if (x && x->module && enter(m->d) == 0)
        cu.ModuleUnload(x->module);
    free(x);
}

static int load(struct fit_device_module *m)
{
    struct cuda_module *x = m->own = calloc(1, sizeof *x);
    if (!x)
        return fit_device_fail(m->d, "out of memory");
    const char *ptx = (const char *)m->source->ptx;
    int failed = enter(m->d) != 0 || (ptx ? load_ptx(m, x, ptx) : load_text(m, x)) != 0;
    if (failed)
        unload(m);
    return failed ? -1 : 0;
}

static int run(struct fit_device_module *m, const struct fit_device_call *c)
{
    struct cuda_module *x = m->own;
    void *function = NULL, *argument[10];
    uint64_t value[10];
    for (unsigned k = 0; k < c->nbuffer; k++) {
        value[k] = pointer_of(c->buffer[k]);
        argument[k] = &value[k];
    }
    if (enter(m->d) != 0 || check(m->d, cu.ModuleGetFunction(&function, x->module, c->kernel), c->kernel) != 0)
        return -1;
    return check(m->d, cu.LaunchKernel(function, (unsigned)c->grid[0], (unsigned)c->grid[1], (unsigned)c->grid[2],
                                       FIT_GPU_THREADS, 1, 1, 0, NULL, argument, NULL), c->kernel);
}

const struct fit_device_driver fit_driver_cuda = {
    .list = list, .open = open_cuda, .close = close_cuda, .buffer = buffer, .release = release, .write = write_bytes,
    .read = read_bytes, .load = load, .unload = unload, .run = run, .host = host, .host_free = host_free,
    .send = send_bytes, .arrive = arrive, .leave = leave, .settle = settle};
