/* provenance.c -- the origin of the data for the results, from the findings of the loader. */
#include "results/results.h"
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum fit_group_kind fit_input_groups(const struct fit_input *in, size_t ngroup)
{
    for (size_t g = 0; in->q_group && g < ngroup; g++)
        for (size_t h = 0; h < g; h++)
            if (fabs(in->q_group[g] - in->q_group[h]) <= 1e-9 * in->q_group[g]) /* as select.c has it */
                return FIT_GROUP_BOTH;
    return in->q_group ? FIT_GROUP_Q : FIT_GROUP_PHI;
}

const char *fit_group_word(enum fit_group_kind kind, size_t n)
{
    static const char *const word[][2] = {[FIT_GROUP_PHI] = {"angles", "angle"},
                                          [FIT_GROUP_Q] = {"wavevectors", "wavevector"},
                                          [FIT_GROUP_BOTH] = {"groups (q, phi)", "group (q, phi)"}};
    return word[kind][n == 1];
}

static enum fit_status describe_groups(const struct fit_measurement *m, int has_q, struct fit_input *in,
                                       struct fit_error *err)
{
    struct fit_arena *a = &in->storage_;
    size_t *bin = fit_take(a, m->ngroup, sizeof *bin);
    const char **key = fit_take(a, m->ngroup, sizeof *key);
    double *phi = fit_take(a, m->ngroup, sizeof *phi), *q = has_q ? fit_take(a, m->ngroup, sizeof *q) : NULL;
    int known = 1;
    if (a->failed)
        return fit_no_memory(err, NULL);
    for (size_t g = 0; g < m->ngroup; g++) {
        bin[g] = m->group[g].bin;
        key[g] = m->group[g].key;
        phi[g] = m->group[g].phi;
        known = known && !isnan(phi[g]);
        if (q)
            q[g] = m->group[g].q;
    }
    in->q = m->group[0].q;
    for (size_t g = 1; g < m->ngroup; g++)
        if (fabs(m->group[g].q - in->q) > 1e-9 * in->q)
            in->q = NAN;
    in->q_group = q;
    in->bin = bin;
    in->key = key;
    in->phi = known ? phi : NULL;
    return FIT_OK;
}

enum fit_status fit_input_describe(const struct fit_kernel *kernel, const struct fit_measurement *m,
                                   struct fit_input *in, struct fit_error *err)
{
    struct stat s;
    *in = (struct fit_input){.size = m->size,
                             .of_values = m->of_values,
                             .q = NAN,
                             .gap = NAN,
                             .dt = m->dt,
                             .nfile = m->file_frames,
                             .first = (size_t)m->first,
                             .last = (size_t)m->last,
                             .nmasked = m->nmasked,
                             .npart = m->nfile,
                             .part = m->part,
                             .files = m->nfile ? &m->files : NULL};
    snprintf(in->file, sizeof in->file, "%s", m->file);
    snprintf(in->sha256, sizeof in->sha256, "%s", m->sha256);
    snprintf(in->layout, sizeof in->layout, "%s", m->layout);
    in->mtime = stat(m->file, &s) == 0 ? s.st_mtime : 0;
    for (size_t i = 0; i < kernel->nsetting; i++)
        if (strcmp(kernel->setting[i].name, "gap") == 0)
            in->gap = fit_units_from_model("gap", kernel->setting[i].unit, m->setting[i]);
    if (!m->ngroup || kernel->space != FIT_PAIRS)
        return FIT_OK;
    return describe_groups(m, fit_config_axis_index(kernel, "q") >= 0, in, err);
}

void fit_input_free(struct fit_input *in)
{
    fit_arena_free(&in->storage_);
    *in = (struct fit_input){.q = NAN, .gap = NAN, .dt = NAN};
}
