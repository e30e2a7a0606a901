/* identity_text.c -- the identity of the run of a checkpoint: model, data, posterior and sampler in lines of text.
 *
 * Two runs with the same lines have the same posterior and the same random numbers. Threads and the time limit are not
 * included: they do not change a draw. Neither is the instruction set: the density then differs in its last digits, and
 * a continued chain is as good as any.
 */
#include "base/number_text.h"
#include "model/linkage.h"
#include "model/registry.h"
#include "sampling/sampling.h"

#include "common/sha256.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void put_data(FILE *f, const struct fit_posterior_setup *p, const char *data)
{
    const struct fit_dataset *ds = p->ds;
    const struct fit_kernel *k = p->kernel;
    char hex[SHA256_HEX];
    fprintf(f, "data: %s\n", data);
    if (k->space == FIT_PAIRS)
        fprintf(f, "frames: %zu of %zu, step %.17g s\n", ds->layout.nframe, ds->layout.ntime,
                ds->layout.step);
    fprintf(f, "groups: %zu\npoints: %zu\n", ds->layout.ngroup, ds->npoint);
    for (size_t a = 0; a < k->naxis && ds->layout.coord; a++) {
        fprintf(f, "axis %s:", k->axis[a].name);
        for (size_t g = 0; g < ds->layout.ngroup; g++)
            fprintf(f, " %.17g", ds->layout.coord[a][g]);
        fprintf(f, "\n");
    }
    for (size_t s = 0; s < k->nsetting; s++)
        fprintf(f, "setting %s: %.17g\n", k->setting[s].name, ds->layout.setting[s]);
    fit_dataset_digest(ds, k->naxis, hex);
    fprintf(f, "values: %s\n", hex);
}

static void put_posterior(FILE *f, const struct fit_posterior_setup *p)
{
    static const char *const scaling[] = {"individual", "constant", "averaged", "fourier", "hierarchical"};
    static const char *const variance[] = {"one for each group", "one for all", "known", "sampled",
                                           "sampled, one for all"};
    const struct fit_kernel *k = p->kernel;
    for (size_t n = 0; n < k->nparam + k->nlinear; n++) {
        const struct fit_posterior_param *x = &p->param[n];
        const char *name = fit_kernel_unknown(k, n)->name;
        if (x->fixed && n < k->nparam)
            fprintf(f, "parameter %s: fixed at %.17g\n", name, x->value);
        else
            fprintf(f, "parameter %s: [%.17g, %.17g], %s %.17g %.17g%s%s\n", name, x->lower, x->upper,
                    fit_prior_word(x->prior), x->a, x->b, x->fixed ? ", fixed" : "",
                    n < k->nparam && p->level && p->level[n].deviation ? ", deviation" : "");
    }
    const struct fit_linkage *link = fit_linkage_of(k, &p->ds->layout);
    for (size_t t = 0; link && t < link->ntied; t++)
        fprintf(f, "tied: %s = %s\n", link->tied[t].name, link->tied[t].text);
    for (size_t e = 0; p->linear_class && e < p->ds->layout.ngroup * k->nlinear; e++)
        fprintf(f, "%s%zu%s", e ? " " : "linear values: ", p->linear_class[e],
                e + 1 < p->ds->layout.ngroup * k->nlinear ? "" : "\n");
    fprintf(f, "scaling: %s\nvariance: %s, a0 %.17g\ncount: %.17g\n", scaling[p->scaling],
            variance[p->variance], p->a0, p->count);
    if (p->variance == FIT_VARIANCE_GIVEN || p->variance == FIT_VARIANCE_GIVEN_SHARED)
        fprintf(f, "noise: [%.17g, %.17g], %s %.17g %.17g\n", p->noise.lower, p->noise.upper,
                fit_prior_word(p->noise.prior), p->noise.a, p->noise.b);
}

static void put_consensus(FILE *f, const struct fit_consensus_options *o)
{
    fprintf(f, "shards: %zu, of at most %zu points\nshard chains: %zu x (%zu + %zu), %s\n", o->shards, o->most_points,
            o->chains, o->warmup, o->draws, o->adapt ? "fewer for few points" : "for any number of points");
    fprintf(f, "shard iterations: at least %zu + %zu\nshard target acceptance: %.17g\n", o->least_warmup,
            o->least_draws, o->target_accept);
    fprintf(f, "shard admission: %.17g %.17g %.17g\n", o->max_r_hat, o->min_ess, o->max_divergence_rate);
}

char *fit_sampling_identity(const struct fit_posterior_setup *p,
                            const struct fit_sampling_options *o, const char *data)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return NULL;
    fprintf(f, "program: %s\nmodel: %s\nequations: %s\nvariant: %s\n", FIT_VERSION, p->kernel->name,
            p->kernel->hash, p->kernel->variant);
    put_data(f, p, data);
    put_posterior(f, p);
    fprintf(f,
            "chains: %zu\nwarmup: %zu\ndraws: %zu\ntarget acceptance: %.17g\nlargest tree depth: "
            "%u\nmetric: %s\n"
            "seed: %llu\nmethod: %s\n",
            o->chains, o->warmup, o->draws, o->target_accept, o->max_depth,
            o->diagonal ? "diagonal" : "dense", (unsigned long long)o->seed, fit_sampling_method_word(o->method));
    if (o->method == FIT_SAMPLING_CONSENSUS)
        put_consensus(f, &o->consensus);
    return fit_text_end(f, &text);
}
