/* offered.h -- the programs for accelerators that this process has, and the kernels that they replace.
 *
 * Kernels are recognised by their pointers; kernels that the runtime has made around them are not. The program of a
 * kernel is sought among those that were offered with it, so that both leave the process together. */
#pragma once

#include "data/dataset.h"
#include "fit/gpu_program.h"

/* Those of the executable itself; sources ends with a program NULL, kernels with NULL, and each may be NULL. */
void fit_device_offer(const struct fit_gpu_source *sources, const struct fit_kernel *const *kernels);

/* Those of a library that was loaded; `more` is the caller's, until it is withdrawn, which has to come after everything
 * that was computed with them. */
struct fit_device_offered {
    const struct fit_gpu_source *sources;
    const struct fit_kernel *const *kernels;
    struct fit_device_offered *next;
};
void fit_device_offer_also(struct fit_device_offered *more);
void fit_device_withdraw(struct fit_device_offered *more);

/* The table fit_gpu_sources of a library with kernels, or of the file NAME.gpu beside it at `path`, NAME.so: then
 * *beside is to be closed (dlclose), otherwise NULL. NULL: there is none. */
const struct fit_gpu_source *fit_device_sources_of(void *library, const char *path, void **beside);

/* The program of a model or an objective; NULL: there is none. */
const struct fit_gpu_source *fit_device_source(const char *name, const char *variant, const char *hash);
/* That of a kernel for the values of ds; NULL, and the reason. */
const struct fit_gpu_source *fit_device_source_for(const struct fit_kernel *kernel, const struct fit_dataset *ds,
                                                   const char **why);
