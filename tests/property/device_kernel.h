/* device_kernel.h -- a kernel whose functions of tiles are those of a device, for judge.h. */
#ifndef DEVICE_KERNEL_H
#define DEVICE_KERNEL_H

#include "device/device.h"
#include "fit/kernel.h"

struct device_kernel {
    struct fit_device *d;
    struct fit_device_module *module;
    const struct fit_gpu_program *program;
    const struct fit_kernel *kernel; /* for processors, of the same model */
};

/* Its functions work for one of these at a time: the last that this was called for.  A device that fails ends the test.
 */
struct fit_kernel device_kernel_of(const struct device_kernel *what);

/* Doubles stored for a tile. */
size_t device_kernel_doubles(const struct fit_layout *l, const struct fit_tile *t);

#endif
