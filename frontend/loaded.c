/* loaded.c -- homodyne-any: a fitter whose kernel is read when it starts.
 *
 *     homodyne-any KERNEL.so COMMAND ...
 *
 * KERNEL.so was made by the front end from a model file (compile.c) and defines fit_kernel_loaded.
 * Everything else is as in the fitters that the build makes. */
#include "fit/kernel.h"
#include "commands/program.h"

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

int main(int argc, char **argv)
{
    static char name[128];
    if (argc < 2 || argv[1][0] == '-')
        return refuse("no kernel", "this program is run by homodyne --model FILE.lua");
    if (regular_what(argv[1]))
        return refuse(argv[1], regular_what(argv[1]));
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return refuse(argv[1], dlerror());
    const struct fit_kernel *kernel = dlsym(library, "fit_kernel_loaded");
    if (!kernel)
        return refuse(argv[1], dlerror());
    if (kernel->abi != FIT_KERNEL_ABI)
        return refuse(argv[1],
                      "made for another version of the fitters; remove it, it will be made again");
    const struct fit_kernel *const kernels[] = {kernel, NULL};
    snprintf(name, sizeof name, "homodyne-%s", kernel->name);
    argv[1] = name;
    return fit_program_main(argc - 1, argv + 1, kernels);
}
