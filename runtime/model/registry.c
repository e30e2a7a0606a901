/* registry.c -- choice of a kernel by variant and instruction set.
 *
 * The levels x86-64-v2..v4 are those of the System V psABI (version 1.0, section 3.1.1).  They are
 * put together from single features because older compilers do not know them by name.  Of v3, the
 * features that a kernel of arithmetic can contain are asked for (AVX2, FMA, BMI); no processor has
 * these and lacks the others. */
#include "model/registry.h"

#include "machine/cpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum fit_status no_kernel(const struct fit_kernel *const *kernels, const char *variant,
                                 const char *isa, struct fit_error *err)
{
    char list[512] = "";
    size_t n = 0;
    for (size_t k = 0; kernels[k] && n < sizeof list; k++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s %s%s", k ? ", " : "",
                              kernels[k]->variant, kernels[k]->isa,
                              fit_cpu_supports(kernels[k]->isa) ? "" : " (not this machine)");
    return fit_fail(err, FIT_ERR_USAGE,
                    "no kernel of variant %s%s%s that this machine runs; there are: %s", variant,
                    isa ? " for " : "", isa ? isa : "", list[0] ? list : "none");
}

enum fit_status fit_registry_pick(const struct fit_kernel *const *kernels, const char *variant,
                                  const char *isa, const struct fit_kernel **kernel,
                                  struct fit_error *err)
{
    if (!variant)
        variant = "fast";
    if (!isa)
        isa = getenv("FIT_ISA");
    if (isa && !*isa)
        isa = NULL;
    for (size_t k = 0; kernels[k]; k++) {
        const struct fit_kernel *c = kernels[k];
        if (strcmp(c->variant, variant) != 0 || (isa && !fit_cpu_is_named(c->isa, isa)) ||
            !fit_cpu_supports(c->isa))
            continue;
        if (c->abi != FIT_KERNEL_ABI)
            return fit_fail(err, FIT_ERR_INTERNAL,
                            "kernel %s: ABI %u; this program was made for %u; rebuild", c->name,
                            c->abi, FIT_KERNEL_ABI);
        *kernel = c;
        return FIT_OK;
    }
    return no_kernel(kernels, variant, isa, err);
}
