/* loaded.c -- homodyne-any: a fitter whose kernels are loaded when it starts.
 *
 *     homodyne-any KERNEL.so COMMAND ...
 *
 * The front end has made KERNEL.so from a model file (compile.c), which defines fit_kernel_loaded; or it is one of
 * the shared objects lib/homodyne-gen/MODEL.so, whose table fit_kernels has all variants and levels. The table
 * fit_gpu_sources of kernels for accelerators is in the same file, or in KERNEL.gpu beside it (compile_gpu.c), or
 * does not exist. Everything else is as in the fitters that the build makes. */
#include "fit/kernel.h"
#include "commands/program.h"
#include "device/sums.h"

#include "common/regular.h"

#include "common/stream.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int refuse(const char *what, const char *why)
{
    fprintf(text_stream(STDERR_FILENO), "homodyne-any: error: %s: %s\n", what, why);
    return fit_status_exit(FIT_ERR_USAGE);
}

/* Its table of kernels; NULL: it has none, and *why gives the reason. */
static const struct fit_kernel *const *kernels_of(void *library, const char **why)
{
    static const struct fit_kernel *one[2];
    const struct fit_kernel *const *table = dlsym(library, "fit_kernels");
    if (table && table[0])
        return table;
    one[0] = dlsym(library, "fit_kernel_loaded");
    *why = one[0] ? NULL : "it holds no compiled model";
    return one[0] ? one : NULL;
}

int main(int argc, char **argv)
{
    static char name[128];
    const char *why;
    void *beside; /* stays open */
    if (argc < 2 || argv[1][0] == '-')
        return refuse("no kernel", "this program is run by homodyne --model FILE.lua");
    if (regular_what(argv[1]))
        return refuse(argv[1], regular_what(argv[1]));
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return refuse(argv[1], dlerror());
    const struct fit_kernel *const *kernels = kernels_of(library, &why);
    if (!kernels)
        return refuse(argv[1], why);
    if (kernels[0]->abi != FIT_KERNEL_ABI)
        return refuse(argv[1],
                      "made for another version of the fitters; remove it, it will be made again");
    fit_device_offer(fit_device_sources_of(library, argv[1], &beside), kernels);
    snprintf(name, sizeof name, "homodyne-%s", kernels[0]->name);
    argv[1] = name;
    return fit_program_main(argc - 1, argv + 1, kernels);
}
