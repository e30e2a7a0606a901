/* opencl.c -- devices by OpenCL 1.2, whose loader libOpenCL.so.1 is loaded at run time; no header of it is needed.
 * Types and numbers are those of The OpenCL Specification 1.2 (Khronos 2012).
 *
 * Kernels are compiled from their text when they are loaded, without any option that changes results. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/driver.h"
#include "fit/gpu_shape.h"

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;

enum { CL_DEVICE_NAME = 0x102B, CL_DEVICE_TYPE = 0x1000, CL_DEVICE_MAX_COMPUTE_UNITS = 0x1002,
       CL_DEVICE_MAX_CLOCK_FREQUENCY = 0x100C, CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F, CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
       CL_DEVICE_VERSION = 0x102F, CL_DEVICE_AVAILABLE = 0x1027, CL_PLATFORM_NAME = 0x0902,
       CL_PROGRAM_BUILD_LOG = 0x1183, CL_MEM_READ_WRITE = 1, CL_TYPE_GPU = 4, MOST = 16 };

/* Functions of the loader. */
static struct {
    cl_int (*GetPlatformIDs)(cl_uint, void **, cl_uint *);
    cl_int (*GetPlatformInfo)(void *, cl_uint, size_t, void *, size_t *);
    cl_int (*GetDeviceIDs)(void *, cl_ulong, cl_uint, void **, cl_uint *);
    cl_int (*GetDeviceInfo)(void *, cl_uint, size_t, void *, size_t *);
    void *(*CreateContext)(const intptr_t *, cl_uint, void *const *, void *, void *, cl_int *);
    cl_int (*ReleaseContext)(void *);
    void *(*CreateCommandQueue)(void *, void *, cl_ulong, cl_int *);
    cl_int (*ReleaseCommandQueue)(void *);
    void *(*CreateBuffer)(void *, cl_ulong, size_t, void *, cl_int *);
    cl_int (*ReleaseMemObject)(void *);
    cl_int (*EnqueueWriteBuffer)(void *, void *, cl_uint, size_t, size_t, const void *, cl_uint, void *, void *);
    cl_int (*EnqueueReadBuffer)(void *, void *, cl_uint, size_t, size_t, void *, cl_uint, void *, void *);
    void *(*CreateProgramWithSource)(void *, cl_uint, const char **, const size_t *, cl_int *);
    cl_int (*BuildProgram)(void *, cl_uint, void *const *, const char *, void *, void *);
    cl_int (*GetProgramBuildInfo)(void *, void *, cl_uint, size_t, void *, size_t *);
    cl_int (*ReleaseProgram)(void *);
    void *(*CreateKernel)(void *, const char *, cl_int *);
    cl_int (*ReleaseKernel)(void *);
    cl_int (*SetKernelArg)(void *, cl_uint, size_t, const void *);
    cl_int (*EnqueueNDRangeKernel)(void *, void *, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint,
                                   void *, void *);
    cl_int (*EnqueueMarkerWithWaitList)(void *, cl_uint, void *const *, void **);
    cl_int (*EnqueueBarrierWithWaitList)(void *, cl_uint, void *const *, void **);
    cl_int (*WaitForEvents)(cl_uint, void *const *);
    cl_int (*ReleaseEvent)(void *);
    cl_int (*Flush)(void *);
    cl_int (*Finish)(void *);
} cl;

static const struct {
    const char *name;
    void *at;
} functions[] = {{"clGetPlatformIDs", &cl.GetPlatformIDs},
                 {"clGetPlatformInfo", &cl.GetPlatformInfo},
                 {"clGetDeviceIDs", &cl.GetDeviceIDs},
                 {"clGetDeviceInfo", &cl.GetDeviceInfo},
                 {"clCreateContext", &cl.CreateContext},
                 {"clReleaseContext", &cl.ReleaseContext},
                 {"clCreateCommandQueue", &cl.CreateCommandQueue},
                 {"clReleaseCommandQueue", &cl.ReleaseCommandQueue},
                 {"clCreateBuffer", &cl.CreateBuffer},
                 {"clReleaseMemObject", &cl.ReleaseMemObject},
                 {"clEnqueueWriteBuffer", &cl.EnqueueWriteBuffer},
                 {"clEnqueueReadBuffer", &cl.EnqueueReadBuffer},
                 {"clCreateProgramWithSource", &cl.CreateProgramWithSource},
                 {"clBuildProgram", &cl.BuildProgram},
                 {"clGetProgramBuildInfo", &cl.GetProgramBuildInfo},
                 {"clReleaseProgram", &cl.ReleaseProgram},
                 {"clCreateKernel", &cl.CreateKernel},
                 {"clReleaseKernel", &cl.ReleaseKernel},
                 {"clSetKernelArg", &cl.SetKernelArg},
                 {"clEnqueueNDRangeKernel", &cl.EnqueueNDRangeKernel},
                 {"clEnqueueMarkerWithWaitList", &cl.EnqueueMarkerWithWaitList},
                 {"clEnqueueBarrierWithWaitList", &cl.EnqueueBarrierWithWaitList},
                 {"clWaitForEvents", &cl.WaitForEvents},
                 {"clReleaseEvent", &cl.ReleaseEvent},
                 {"clFlush", &cl.Flush},
                 {"clFinish", &cl.Finish}};

enum { SLOTS = 2 };

struct opencl {
    void *device, *context;
    void *queue, *copies;  /* kernels; values on their way */
    void *used[SLOTS];     /* events: kernels that work on a slot are done */
};

struct opencl_module {
    void *program;
    const char *name[512]; /* an objective has some hundred */
    void *kernel[512];
    unsigned n;
};

static void *library;

/* NULL, or why there are no functions. */
static const char *load_functions(void)
{
    static const char none[] = "no OpenCL (libOpenCL.so.1)";
    if (library)
        return NULL;
    void *h = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
    for (size_t k = 0; h && k < sizeof functions / sizeof *functions; k++) {
        void *f = dlsym(h, functions[k].name);
        if (!f)
            return "libOpenCL.so.1 is older than OpenCL 1.2";
        memcpy(functions[k].at, &f, sizeof f);
    }
    library = h;
    return h ? NULL : none;
}

/* ---- list -------------------------------------------------------------------------------------------- */

static void describe(void *device, const char *platform, struct fit_device_info *info)
{
    cl_ulong memory = 0, config = 0, type = 0;
    cl_uint units = 0, mhz = 0, available = 0;
    char version[200] = "";
    cl.GetDeviceInfo(device, CL_DEVICE_NAME, sizeof info->name - 1, info->name, NULL);
    cl.GetDeviceInfo(device, CL_DEVICE_VERSION, sizeof version - 1, version, NULL);
    cl.GetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof memory, &memory, NULL);
    cl.GetDeviceInfo(device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof config, &config, NULL);
    cl.GetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    cl.GetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    cl.GetDeviceInfo(device, CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof mhz, &mhz, NULL);
    cl.GetDeviceInfo(device, CL_DEVICE_AVAILABLE, sizeof available, &available, NULL);
    snprintf(info->what, sizeof info->what, "%.40s, %.60s", version[0] ? version : "OpenCL", platform);
    info->memory = (size_t)memory;
    info->units = units;
    info->mhz = mhz;
    info->is_card = (type & CL_TYPE_GPU) != 0;
    if (!config)
        snprintf(info->unusable, sizeof info->unusable, "it has no double precision");
    else if (!available)
        snprintf(info->unusable, sizeof info->unusable, "it is not available");
}

/* Calls fn for one device after the other; with `wanted` >= 0 returns that one. */
static void *walk(void (*fn)(void *user, const struct fit_device_info *info), void *user, int wanted)
{
    void *platform[MOST], *device[MOST];
    cl_uint np = 0, nd, index = 0;
    if (cl.GetPlatformIDs(MOST, platform, &np) != 0)
        return NULL;
    for (cl_uint p = 0; p < np && p < MOST; p++) {
        char name[80] = "";
        cl.GetPlatformInfo(platform[p], CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
        nd = 0;
        if (cl.GetDeviceIDs(platform[p], 0xFFFFFFFF, MOST, device, &nd) != 0)
            continue;
        for (cl_uint k = 0; k < nd && k < MOST; k++, index++) {
            struct fit_device_info info = {.kind = FIT_DEVICE_OPENCL, .index = index};
            if (wanted == (int)index)
                return device[k];
            if (!fn)
                continue;
            snprintf(info.word, sizeof info.word, "opencl:%u", index);
            describe(device[k], name, &info);
            fn(user, &info);
        }
    }
    return NULL;
}

struct counted {
    void (*fn)(void *user, const struct fit_device_info *info);
    void *user;
    int n;
};

static void count(void *user, const struct fit_device_info *info)
{
    struct counted *c = user;
    c->n++;
    c->fn(c->user, info);
}

static const char *list(void (*fn)(void *user, const struct fit_device_info *info), void *user)
{
    struct counted c = {fn, user, 0};
    const char *why = load_functions();
    if (why)
        return why;
    walk(count, &c, -1);
    return c.n ? NULL : "OpenCL has no device";
}

/* ---- one device -------------------------------------------------------------------------------------- */

static int check(struct fit_device *d, cl_int status, const char *what)
{
    return status == 0 ? 0 : fit_device_fail(d, "OpenCL: %s: error %d", what, (int)status);
}

static void close_opencl(struct fit_device *d)
{
    struct opencl *o = d->own;
    if (!o)
        return;
    for (size_t k = 0; k < SLOTS; k++)
        if (o->used[k])
            cl.ReleaseEvent(o->used[k]);
    if (o->copies)
        cl.ReleaseCommandQueue(o->copies);
    if (o->queue)
        cl.ReleaseCommandQueue(o->queue);
    if (o->context)
        cl.ReleaseContext(o->context);
    free(o);
}

static int open_opencl(struct fit_device *d)
{
    cl_int status = 0;
    struct opencl *o = d->own = calloc(1, sizeof *o);
    if (!o)
        return fit_device_fail(d, "out of memory");
    o->device = walk(NULL, NULL, (int)d->info.index);
    o->context = cl.CreateContext(NULL, 1, &o->device, NULL, NULL, &status);
    if (check(d, status, "clCreateContext") == 0) {
        o->queue = cl.CreateCommandQueue(o->context, o->device, 0, &status);
        o->copies = status == 0 ? cl.CreateCommandQueue(o->context, o->device, 0, &status) : NULL;
        if (check(d, status, "clCreateCommandQueue") == 0)
            return 0;
    }
    close_opencl(d);
    return -1;
}

static void *buffer(struct fit_device *d, size_t bytes)
{
    const struct opencl *o = d->own;
    cl_int status = 0;
    void *b = cl.CreateBuffer(o->context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    return check(d, status, "clCreateBuffer") == 0 ? b : NULL;
}

static void release(struct fit_device *d, void *b)
{
    (void)d;
    cl.ReleaseMemObject(b);
}

static int write_bytes(struct fit_device *d, void *b, size_t at, const void *from, size_t bytes)
{
    const struct opencl *o = d->own;
    return check(d, cl.EnqueueWriteBuffer(o->queue, b, 1, at, bytes, from, 0, NULL, NULL), "clEnqueueWriteBuffer");
}

static int read_bytes(struct fit_device *d, void *b, size_t at, void *to, size_t bytes)
{
    const struct opencl *o = d->own;
    return check(d, cl.EnqueueReadBuffer(o->queue, b, 1, at, bytes, to, 0, NULL, NULL), "clEnqueueReadBuffer");
}

/* ---- asynchronous copies of values --------------------------------------------------------------- */

static int send_bytes(struct fit_device *d, void *b, const void *from, size_t bytes)
{
    const struct opencl *o = d->own;
    return check(d, cl.EnqueueWriteBuffer(o->copies, b, 0, 0, bytes, from, 0, NULL, NULL), "clEnqueueWriteBuffer");
}

static int arrive(struct fit_device *d, size_t slot)
{
    const struct opencl *o = d->own;
    void *sent = NULL;
    (void)slot;
    if (check(d, cl.EnqueueMarkerWithWaitList(o->copies, 0, NULL, &sent), "clEnqueueMarkerWithWaitList") != 0)
        return -1;
    const cl_int status = cl.EnqueueBarrierWithWaitList(o->queue, 1, &sent, NULL);
    cl.Flush(o->copies);
    cl.ReleaseEvent(sent);
    return check(d, status, "clEnqueueBarrierWithWaitList");
}

static int leave(struct fit_device *d, size_t slot)
{
    struct opencl *o = d->own;
    const cl_int status = cl.EnqueueMarkerWithWaitList(o->queue, 0, NULL, &o->used[slot]);
    cl.Flush(o->queue);
    return check(d, status, "clEnqueueMarkerWithWaitList");
}

static int settle(struct fit_device *d, size_t slot)
{
    struct opencl *o = d->own;
    if (!o->used[slot])
        return 0;
    const cl_int status = cl.WaitForEvents(1, &o->used[slot]);
    cl.ReleaseEvent(o->used[slot]);
    o->used[slot] = NULL;
    return check(d, status, "clWaitForEvents");
}

/* ---- kernels ----------------------------------------------------------------------------------------- */

static void unload(struct fit_device_module *m)
{
    struct opencl_module *x = m->own;
    for (unsigned k = 0; x && k < x->n; k++)
        cl.ReleaseKernel(x->kernel[k]);
    if (x && x->program)
        cl.ReleaseProgram(x->program);
    free(x);
}

static int build(struct fit_device_module *m, struct opencl_module *x, const char *text)
{
    const struct opencl *o = m->d->own;
    cl_int status = 0;
    x->program = cl.CreateProgramWithSource(o->context, 1, &text, NULL, &status);
    if (check(m->d, status, "clCreateProgramWithSource") != 0)
        return -1;
    status = cl.BuildProgram(x->program, 1, &o->device, "-cl-std=CL1.2", NULL, NULL);
    if (status == 0)
        return 0;
    char log[1500] = "";
    cl.GetProgramBuildInfo(x->program, o->device, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
    return fit_device_fail(m->d, "OpenCL: error %d: %s", (int)status, log);
}

static int load(struct fit_device_module *m)
{
    char *text = fit_gpu_whole_text(m->source);
    struct opencl_module *x = m->own = calloc(1, sizeof *x);
    int failed = !text || !x ? fit_device_fail(m->d, "out of memory") : build(m, x, text);
    free(text);
    if (failed)
        unload(m);
    return failed;
}

/* The kernel of that name, made when it is first asked for; NULL: failed. */
static void *kernel(struct fit_device_module *m, const char *name)
{
    struct opencl_module *x = m->own;
    cl_int status = 0;
    for (unsigned k = 0; k < x->n; k++)
        if (strcmp(x->name[k], name) == 0)
            return x->kernel[k];
    if (x->n == sizeof x->kernel / sizeof *x->kernel)
        return fit_device_fail(m->d, "more than %u kernels", x->n), NULL;
    void *made = cl.CreateKernel(x->program, name, &status);
    if (check(m->d, status, name) != 0)
        return NULL;
    x->name[x->n] = name;
    x->kernel[x->n++] = made;
    return made;
}

static int run(struct fit_device_module *m, const struct fit_device_call *c)
{
    const struct opencl *o = m->d->own;
    const size_t all[3] = {c->grid[0] * FIT_GPU_THREADS, c->grid[1], c->grid[2]}, block[3] = {FIT_GPU_THREADS, 1, 1};
    void *k = kernel(m, c->kernel);
    if (!k)
        return -1;
    for (unsigned n = 0; n < c->nbuffer; n++)
        if (check(m->d, cl.SetKernelArg(k, n, sizeof(void *), &c->buffer[n]), c->kernel) != 0)
            return -1;
    return check(m->d, cl.EnqueueNDRangeKernel(o->queue, k, 3, NULL, all, block, 0, NULL, NULL), c->kernel);
}

const struct fit_device_driver fit_driver_opencl = {
    .list = list, .open = open_opencl, .close = close_opencl, .buffer = buffer, .release = release,
    .write = write_bytes, .read = read_bytes, .load = load, .unload = unload, .run = run, .send = send_bytes,
    .arrive = arrive, .leave = leave, .settle = settle};
