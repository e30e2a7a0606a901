/* sampling_setup.c -- what the configuration says about the posterior. */
#include "sampling_setup.h"

#include <math.h>
#include <stdlib.h>

int fit_sampling_wanted(const struct fit_config *cfg)
{
    return cfg->method.value != FIT_METHOD_NLSQ || cfg->sample_after.value;
}

static void set_options(const struct fit_config *cfg, struct fit_sampling_options *o)
{
    const struct fit_config_sampling *c = &cfg->sampling;
    *o = (struct fit_sampling_options){
        .method = cfg->method.value == FIT_METHOD_LAPLACE ? FIT_SAMPLING_LAPLACE : FIT_SAMPLING_NUTS,
        .chains = (size_t)c->chains.value,
        .warmup = (size_t)c->warmup.value,
        .draws = (size_t)c->draws.value,
        .target_accept = c->target_accept.value,
        .max_depth = (unsigned)c->max_tree_depth.value,
        .diagonal = !c->dense_mass.value,
        .seed = (uint64_t)cfg->seed.value,
        .threads = (int)cfg->threads.value,
        .max_seconds = isnan(cfg->max_seconds.value) ? 0 : cfg->max_seconds.value,
        .max_r_hat = c->max_rhat.value,
        .min_ess = c->min_ess.value,
        .max_divergence_rate = c->max_divergence_rate.value,
        .min_bfmi = c->min_bfmi.value,
        .checkpoint_seconds = c->checkpoint_seconds.value,
    };
}

static void set_params(const struct fit_config *cfg, const struct fit_result *fit, struct fit_posterior_param *param)
{
    for (size_t k = 0; k < cfg->nparam + cfg->nlinear; k++) {
        const struct fit_config_param *c = &cfg->param[k];
        param[k] = (struct fit_posterior_param){
            .lower = c->lower.value,
            .upper = c->upper.value,
            .prior = (enum fit_prior_kind)c->prior.value,
            .a = c->prior_a,
            .b = c->prior_b,
            .fixed = c->fixed.value != 0,
            .value = k < cfg->nparam ? fit->theta[k] : 0,
        };
    }
}

enum fit_status fit_sampling_setup(const struct fit_config *cfg, const struct fit_kernel *kernel,
                                   const struct fit_dataset *ds, const struct fit_result *fit,
                                   struct fit_sampling_setup *s, struct fit_error *err)
{
    *s = (struct fit_sampling_setup){0};
    s->param = malloc((cfg->nparam + cfg->nlinear + 1) * sizeof *s->param);
    if (!s->param)
        return fit_fail(err, FIT_ERR_MEMORY, "posterior: out of memory");
    set_params(cfg, fit, s->param);
    set_options(cfg, &s->options);
    s->posterior = (struct fit_posterior_setup){
        .kernel = kernel,
        .ds = ds,
        .param = s->param,
        .scaling = fit_config_scaling(cfg, ds->layout.ngroup),
        .variance = fit->noise != FIT_NOISE_RESIDUALS ? FIT_VARIANCE_KNOWN
                    : kernel->has_noise_prior       ? FIT_VARIANCE_GIVEN
                                                    : FIT_VARIANCE_UNIT,
        .noise = {0, INFINITY, kernel->noise_prior, kernel->noise_a, kernel->noise_b, 0, 0},
        .theta = fit->theta,
        .lin = fit->lin,
        .sigma = fit->sigma,
        .a0 = 2,
        .count = cfg->compat.full_matrix.value ? 2 : 1,
    };
    return FIT_OK;
}

void fit_sampling_setup_free(struct fit_sampling_setup *s)
{
    free(s->param);
    *s = (struct fit_sampling_setup){0};
}
