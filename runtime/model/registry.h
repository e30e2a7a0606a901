/* registry.h -- which of the kernels compiled into the program is used.
 *
 * fit_kernels[] (written by the build) lists the kernels from the best instruction set to the
 * worst.  The first one that the machine can run and whose variant is asked for is taken.
 */
#pragma once

#include "base/status.h"
#include "fit/kernel.h"

/* Parameter i of both kinds: the nonlinear ones in their order, then the linear ones. */
static inline const struct fit_param *fit_kernel_unknown(const struct fit_kernel *k, size_t i)
{
    return i < k->nparam ? &k->param[i] : &k->linear[i - k->nparam];
}

/* variant: "fast" or "parity"; NULL: "fast".  isa: "x86-64-v3", or short "v3"; NULL: the
 * environment variable FIT_ISA, else the best.  The kernel is constant and lives as long as the
 * program. Errors: FIT_ERR_USAGE when no kernel fits; the message lists those there are. */
enum fit_status fit_registry_pick(const struct fit_kernel *const *kernels, const char *variant,
                                  const char *isa, const struct fit_kernel **kernel,
                                  struct fit_error *err);
