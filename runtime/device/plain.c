/* plain.c -- the kernels as plain C, on this processor and one thread: for comparison, and where there is no device.
 * Memory is that of the program. */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "device/driver.h"
#include "fit/gpu_shape.h"

enum { THREADS = FIT_GPU_THREADS };

static const char *list(void (*fn)(void *user, const struct fit_device_info *info), void *user)
{
    struct fit_device_info info = {.kind = FIT_DEVICE_PLAIN, .units = 1};
    snprintf(info.word, sizeof info.word, "plain");
    snprintf(info.name, sizeof info.name, "this processor, one thread");
    snprintf(info.what, sizeof info.what, "kernels as plain C, for comparison");
    fn(user, &info);
    return NULL;
}

static int nothing(struct fit_device *d)
{
    (void)d;
    return 0;
}

static void close_plain(struct fit_device *d)
{
    (void)d;
}

static void *buffer(struct fit_device *d, size_t bytes)
{
    (void)d;
    return malloc(bytes);
}

static void release(struct fit_device *d, void *b)
{
    (void)d;
    free(b);
}

static int write_bytes(struct fit_device *d, void *b, size_t at, const void *from, size_t bytes)
{
    (void)d;
    memcpy((char *)b + at, from, bytes);
    return 0;
}

static int read_bytes(struct fit_device *d, void *b, size_t at, void *to, size_t bytes)
{
    (void)d;
    memcpy(to, (char *)b + at, bytes);
    return 0;
}

static int load(struct fit_device_module *m)
{
    (void)m;
    return 0;
}

static void unload(struct fit_device_module *m)
{
    (void)m;
}

/* fit_gpu_total of fit/gpu.h, in its order. */
static void one_total(const struct fit_device_call *c, size_t k, size_t r, size_t e)
{
    const long *shape = c->buffer[0], *first = c->buffer[1];
    const double *part = c->buffer[2];
    double *out = c->buffer[3], all[THREADS] = {0};
    const size_t n = c->grid[0], rows = c->grid[1], own = (size_t)shape[FIT_TOTAL_OWN];
    const size_t items = (size_t)shape[FIT_TOTAL_ITEMS];
    const size_t begin = own ? (size_t)first[2 * r] : 0, end = own ? (size_t)first[2 * r + 1] : items;
    const size_t at = (size_t)shape[FIT_TOTAL_OUT] * c->grid[2] + (e * rows + r) * n + k;
    part += (own ? e : e * rows + r) * items * n + (size_t)shape[FIT_TOTAL_PART] * c->grid[2];
    for (size_t t = 0; t < THREADS; t++)
        for (size_t m = items * t / THREADS; m < items * (t + 1) / THREADS; m++)
            all[t] += m >= begin && m < end ? part[m * n + k] : 0.0;
    if (shape[FIT_TOTAL_LEAVES])
        memcpy(out + at * THREADS, all, sizeof all);
    else
        out[at] = fit_device_tree(all);
}

static int run(struct fit_device_module *m, const struct fit_device_call *c)
{
    (void)m;
    struct {
        size_t n[3];
    } grid = {{c->grid[0], c->grid[1], c->grid[2]}};
    void *const *b = c->buffer;
    if (c->plain)
        c->plain((const struct fit_gpu_grid *)&grid, b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8]);
    for (size_t e = 0; !c->plain && e < c->grid[2]; e++)
        for (size_t r = 0; r < c->grid[1]; r++)
            for (size_t k = 0; k < c->grid[0]; k++)
                one_total(c, k, r, e);
    return 0;
}

const struct fit_device_driver fit_driver_plain = {
    .list = list, .open = nothing, .close = close_plain, .buffer = buffer, .release = release, .write = write_bytes,
    .read = read_bytes, .load = load, .unload = unload, .run = run};
