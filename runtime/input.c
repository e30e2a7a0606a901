/* input.c -- where data came from, as results tell it: from what the loader found. */
#include "results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static enum fit_status describe_groups(const struct fit_measurement *m, struct fit_input *in,
                                       struct fit_error *err)
{
    size_t *bin = calloc(m->ngroup, sizeof *bin);
    const char **key = calloc(m->ngroup, sizeof *key);
    double *phi = calloc(m->ngroup, sizeof *phi);
    int known = 1;
    if (!bin || !key || !phi) {
        free(bin);
        free(key);
        free(phi);
        return fit_fail(err, FIT_ERR_MEMORY, "out of memory");
    }
    for (size_t g = 0; g < m->ngroup; g++) {
        bin[g] = m->group[g].bin;
        key[g] = m->group[g].key;
        phi[g] = m->group[g].phi;
        known = known && !isnan(phi[g]);
    }
    in->q = m->group[0].q;
    in->bin = bin;
    in->key = key;
    in->phi = known ? phi : NULL;
    if (!known)
        free(phi);
    return FIT_OK;
}

enum fit_status fit_input_describe(const struct fit_kernel *kernel, const struct fit_measurement *m,
                                   struct fit_input *in, struct fit_error *err)
{
    struct stat s;
    *in = (struct fit_input){.size = m->size,
                             .q = NAN,
                             .gap = NAN,
                             .dt = m->dt,
                             .nfile = m->file_frames,
                             .first = (size_t)m->first,
                             .last = (size_t)m->last,
                             .nmasked = m->nmasked};
    snprintf(in->file, sizeof in->file, "%s", m->file);
    snprintf(in->sha256, sizeof in->sha256, "%s", m->sha256);
    snprintf(in->layout, sizeof in->layout, "%s", m->layout);
    in->mtime = stat(m->file, &s) == 0 ? s.st_mtime : 0;
    for (size_t i = 0; i < kernel->nsetting; i++)
        if (strcmp(kernel->setting[i].name, "gap") == 0)
            in->gap = m->setting[i];
    return m->ngroup && kernel->space == FIT_PAIRS ? describe_groups(m, in, err) : FIT_OK;
}

void fit_input_free(struct fit_input *in)
{
    free((void *)(uintptr_t)in->bin);
    free((void *)(uintptr_t)in->key);
    free((void *)(uintptr_t)in->phi);
    *in = (struct fit_input){.q = NAN, .gap = NAN, .dt = NAN};
}
