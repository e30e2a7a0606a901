/* driver.h -- the interface between device.c and a kind of devices: cuda.c, opencl.c, plain.c. */
#pragma once

#include <pthread.h>

#include "device/device.h"

struct fit_device_driver {
    /* Calls fn for every device; returns what is missing, or NULL. */
    const char *(*list)(void (*fn)(void *user, const struct fit_device_info *info), void *user);
    int (*open)(struct fit_device *d); /* d->info is the listed one; d->own belongs to the driver */
    void (*close)(struct fit_device *d);
    void *(*buffer)(struct fit_device *d, size_t bytes);
    void (*release)(struct fit_device *d, void *buffer);
    int (*write)(struct fit_device *d, void *buffer, size_t at, const void *from, size_t bytes);
    int (*read)(struct fit_device *d, void *buffer, size_t at, void *to, size_t bytes);
    int (*load)(struct fit_device_module *m); /* m->own from m->source */
    void (*unload)(struct fit_device_module *m);
    int (*run)(struct fit_device_module *m, const struct fit_device_call *call);
    /* As in device.h; NULL where values are copied at once and nothing is waited for. */
    void *(*host)(struct fit_device *d, size_t bytes);
    void (*host_free)(struct fit_device *d, void *memory);
    int (*send)(struct fit_device *d, void *buffer, const void *from, size_t bytes);
    int (*arrive)(struct fit_device *d, size_t slot);
    int (*leave)(struct fit_device *d, size_t slot);
    int (*settle)(struct fit_device *d, size_t slot);
};

struct fit_device {
    const struct fit_device_driver *driver;
    struct fit_device_info info;
    void *own;
    char failure[2000];
    pthread_mutex_t lock;
    struct fit_device_module *loaded; /* programs, each once */
    struct fit_device_tally tally;
    int automatic;                    /* used where it is the faster */
    size_t expected;                  /* fits side by side */
    int crowded;                      /* they are those of the whole program */
    struct fit_device *next;          /* that shares sums with it */
};

struct fit_device_module {
    struct fit_device *d;
    const struct fit_gpu_source *source;
    struct fit_device_module *next;
    void *own;
};

extern const struct fit_device_driver fit_driver_cuda, fit_driver_opencl, fit_driver_plain;

/* -1, with what went wrong. */
int fit_device_fail(struct fit_device *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The text of a program with the headers fit/... inserted; NULL: no memory. */
char *fit_gpu_whole_text(const struct fit_gpu_source *source);

/* nvrtc.c: PTX of a text for compute capability `arch` (80, 90); NULL, with the reason in d->failure. */
char *fit_nvrtc_compile(struct fit_device *d, const char *text, unsigned arch);
