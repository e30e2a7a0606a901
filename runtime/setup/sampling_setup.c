/* sampling_setup.c -- the settings of the posterior in the configuration. */
#include "setup/sampling_setup.h"

#include "setup/prior_compat.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FEW = 400 }; /* values of a group below which the standard deviation of their noise is uncertain by more than
                     * 3.5 % */

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
        .target_accept = fit_given(c->target_accept.from) ? c->target_accept.value : 0,
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

/* Method cmc in shards: options of the shards as configured under optimization.cmc; by default homodyne's numbers of
 * iterations, and admission by 1.05, 100 and 0.05. */
static void set_consensus(const struct fit_config *cfg, struct fit_sampling_options *o)
{
    const struct fit_config_sampling *c = &cfg->sampling;
    o->method = FIT_SAMPLING_CONSENSUS;
    o->draws = 2000;
    o->seed += (uint64_t)c->shard_seed.value;
    o->consensus = (struct fit_consensus_options){
        .shards = (size_t)c->shards.value,
        .most_points = (size_t)c->max_shard_points.value,
        .flow = cfg->nparam > 3, /* homodyne's two cases: without flow the parameters are D0, alpha and D_offset */
        .chains = (size_t)c->chains.value,
        .warmup = fit_given(c->warmup.from) ? (size_t)c->warmup.value : 0,
        .draws = fit_given(c->draws.from) ? (size_t)c->draws.value : 0,
        .adapt = c->adaptive.value,
        .least_warmup = (size_t)c->min_warmup.value,
        .least_draws = (size_t)c->min_draws.value,
        .target_accept = c->target_accept.value,
        .max_depth = (unsigned)c->max_tree_depth.value,
        .diagonal = !c->dense_mass.value,
        .max_r_hat = fit_given(c->max_rhat.from) ? c->max_rhat.value : 0,
        .min_ess = fit_given(c->min_ess.from) ? c->min_ess.value : 0,
        .max_divergence_rate = fit_given(c->max_divergence_rate.from) ? c->max_divergence_rate.value : 0,
    };
}

/* The parameter of the model that corresponds to parameter k of the kernel. */
static const struct fit_config_param *model_param(const struct fit_config *cfg, const struct fit_linkage *link,
                                                  size_t k)
{
    if (!link)
        return &cfg->param[k];
    return &cfg->param[k < link->kernel.nparam ? link->of[k] : cfg->nparam + link->of_linear[k - link->kernel.nparam]];
}

/* 1: only its bounds determine linear parameter q of a table, neither the data, at the least-squares result, nor a
 * prior. */
static int is_open(const struct fit_kernel *kernel, const struct fit_result *fit, const struct fit_posterior_param *x,
                   size_t q)
{
    int open = 0;
    for (size_t g = 0; g < fit->ngroup; g++) {
        const size_t e = fit->nparam + g * fit->nlinear + q;
        open |= isnan(fit->std[e]) && !fit->at_bound[e];
    }
    return open && kernel->space == FIT_ROWS && !x->fixed && x->prior == FIT_PRIOR_NONE && isfinite(x->lower) &&
           isfinite(x->upper);
}

static void set_params(const struct fit_config *cfg, const struct fit_kernel *kernel, const struct fit_setup *from,
                       const struct fit_result *fit, struct fit_posterior_param *param,
                       struct fit_posterior_level *level)
{
    size_t n = kernel->nparam;
    for (size_t k = 0; k < n + kernel->nlinear; k++) {
        const struct fit_config_param *c = model_param(cfg, from->link, k);
        param[k] = (struct fit_posterior_param){
            .lower = k < n ? from->lower[k] : from->linear_lower[k - n],
            .upper = k < n ? from->upper[k] : from->linear_upper[k - n],
            .prior = (enum fit_prior_kind)c->prior.value,
            .a = c->prior_a,
            .b = c->prior_b,
            .fixed = c->fixed.value != 0,
            .value = k < n ? fit->theta[k] : 0,
        };
        for (int i = 0; k < n && kernel->level && i < 2 && !fit_given(c->prior.from); i++)
            level[k].from[i] = kernel->level[k].from[i];
        if (k < n && kernel->level && kernel->level[k].hyper &&
            !c->fixed.value) { /* the fit has held it, for nothing */
            param[k].lower = c->lower.value;
            param[k].upper = c->upper.value;
        }
        if (from->link && k >= n && from->link->term_linear[k - n]) { /* of a Fourier series */
            param[k].prior = FIT_PRIOR_NONE;
            param[k].fixed = 0;
        }
    }
}

/* 1: a normal prior of a linear parameter matters in a group of few values. When it is integrated out together with
 * the noise, it is a prior in units of the noise (collapsed.h), which are known only to 1/sqrt(2 n); so the noise is
 * sampled there. */
static int has_few(const struct fit_posterior_setup *s)
{
    const struct fit_dataset *ds = s->ds;
    int normal = 0, few = 0;
    for (size_t q = 0; q < s->kernel->nlinear; q++) {
        const struct fit_posterior_param *x = &s->param[s->kernel->nparam + q];
        normal |= !x->fixed && (x->prior == FIT_PRIOR_NORMAL || x->prior == FIT_PRIOR_TRUNCATED_NORMAL);
    }
    for (size_t g = 0; g < ds->layout.ngroup; g++)
        few |= ds->npoint_group[g] < FEW;
    return normal && few;
}

static void set_noise(const struct fit_config *cfg, const struct fit_result *fit, struct fit_posterior_setup *s)
{
    const struct fit_config_noise prior = fit_config_noise(cfg);
    s->noise = (struct fit_posterior_param){.upper = INFINITY, .prior = prior.kind, .a = prior.a, .b = prior.b};
    s->a0 = 0;
    s->variance = fit->noise != FIT_NOISE_RESIDUALS                          ? FIT_VARIANCE_KNOWN
                  : prior.kind != FIT_PRIOR_JEFFREYS || has_few(s) ? FIT_VARIANCE_GIVEN
                                                                   : FIT_VARIANCE_UNIT;
}

static void set_posterior(const struct fit_config *cfg, const struct fit_setup *from, const struct fit_result *fit,
                          struct fit_sampling_setup *s)
{
    s->posterior = (struct fit_posterior_setup){
        .kernel = s->posterior.kernel,
        .ds = s->posterior.ds,
        .param = s->param,
        .level = s->level,
        .scaling = from->options.scaling,
        .linear_class = from->linear_class,
        .theta = s->theta,
        .lin = fit->lin,
        .sigma = fit->noise == FIT_NOISE_GIVEN ? fit->against : fit->sigma,
        .count = cfg->compat.full_matrix.value ? 2 : 1,
    };
}

/* The equations of efficient estimates instead of kernel and values. */
static enum fit_status take_table(const struct fit_config *cfg, const struct fit_setup *from,
                                  const struct fit_result *fit, struct fit_sampling_setup *s, struct fit_error *err)
{
    struct fit_posterior_setup *p = &s->posterior;
    if (cfg->sampling.consensus.value)
        return fit_fail(err, FIT_ERR_CONFIG, "consensus: not with efficient estimates, whose posterior takes all data "
                                             "together; --estimator least-squares, or without shards");
    enum fit_status st = fit_efficient_table(p->kernel, p->ds, &from->options, fit, &s->table, err);
    if (st != FIT_OK)
        return st;
    p->kernel = &s->table.made->kernel;
    p->ds = s->table.made->ds;
    p->variance = FIT_VARIANCE_KNOWN; /* errors of the table are 1 */
    p->sigma = NULL;
    p->count = 1;
    p->linear_class = s->table.linear_class;
    if (p->scaling != FIT_SCALING_CONSTANT)
        p->scaling = FIT_SCALING_INDIVIDUAL;
    return FIT_OK;
}

enum fit_status fit_sampling_setup(const struct fit_config *cfg, const struct fit_kernel *kernel,
                                   const struct fit_dataset *ds, const struct fit_setup *from,
                                   const struct fit_result *fit, struct fit_sampling_setup *s, struct fit_error *err)
{
    *s = (struct fit_sampling_setup){0};
    if (cfg->sampling.consensus.value && cfg->method.value != FIT_METHOD_CMC)
        return fit_fail(err, FIT_ERR_CONFIG, "consensus: shards are for --method cmc; every other method takes all data"
                                             " together");
    s->param = fit_take(&s->storage_, kernel->nparam + kernel->nlinear, sizeof *s->param);
    s->level = fit_take(&s->storage_, kernel->nparam, sizeof *s->level);
    s->theta = fit_take(&s->storage_, kernel->nparam, sizeof *s->theta);
    if (s->storage_.failed)
        return fit_no_memory(err, "posterior");
    set_params(cfg, kernel, from, fit, s->param, s->level);
    memcpy(s->theta, fit->theta, kernel->nparam * sizeof *s->theta);
    fit_posterior_levels(kernel, fit->std, s->param, s->level, s->theta);
    set_options(cfg, &s->options);
    if (cfg->sampling.consensus.value)
        set_consensus(cfg, &s->options);
    s->posterior.kernel = kernel;
    s->posterior.ds = ds;
    set_posterior(cfg, from, fit, s);
    set_noise(cfg, fit, &s->posterior);
    if (fit->estimates.used == FIT_ESTIMATOR_EFFICIENT) {
        enum fit_status st = take_table(cfg, from, fit, s, err);
        if (st != FIT_OK)
            return st;
    }
    for (size_t q = 0; q < kernel->nlinear && q < 64; q++)
        s->posterior.open |= is_open(kernel, fit, &s->param[kernel->nparam + q], q) ? (uint64_t)1 << q : 0;
    if (cfg->sampling.prior_compat.value == FIT_PEER_HOMODYNE && from->link)
        return fit_fail(err, FIT_ERR_CONFIG, "prior_compat homodyne: not with ties or values of angles");
    if (cfg->sampling.prior_compat.value == FIT_PEER_HOMODYNE)
        return fit_prior_compat_homodyne(cfg, s->param, &s->posterior, err);
    return FIT_OK;
}

/* ---- in words ------------------------------------------------------------------------------------------- */

/* Adds to a text of limited size; truncates. */
static void append(char *text, size_t size, const char *format, ...)
{
    size_t n = strlen(text);
    va_list more;
    va_start(more, format);
    vsnprintf(text + n, size - n, format, more);
    va_end(more);
}

void fit_sampling_prior_text(const struct fit_posterior_param *x, const struct fit_posterior_level *level, char *text,
                             size_t size)
{
    struct fit_prior p;
    int numbers = !level || (!level->from[0] && !level->from[1]);
    const int n = fit_prior_numbers(x->prior);
    text[0] = 0;
    append(text, size, "%s", x->prior == FIT_PRIOR_NONE ? "flat" : fit_prior_word(x->prior));
    if (n == 2)
        append(text, size, " %.6g,", x->a);
    if (n > 0)
        append(text, size, " %.6g", x->b);
    if (isfinite(x->lower) && isfinite(x->upper))
        append(text, size, " between %.6g and %.6g", x->lower, x->upper);
    else if (isfinite(x->lower) || isfinite(x->upper))
        append(text, size, isfinite(x->lower) ? " above %.6g" : " below %.6g",
               isfinite(x->lower) ? x->lower : x->upper);
    if (!numbers)
        append(text, size, "; its numbers are parameters%s",
               level->deviation ? ", sampled as deviations in its units" : "");
    else if (fit_prior_init(&p, x->prior, x->a, x->b, x->lower, x->upper) && p.proper)
        append(text, size, "; 2.5, 50 and 97.5 %% at %.4g, %.4g, %.4g", fit_prior_quantile(&p, 0.025),
               fit_prior_quantile(&p, 0.5), fit_prior_quantile(&p, 0.975));
    else
        append(text, size, "; improper");
}

/* ---- settings without effect --------------------------------------------------------------------------- */

struct unused {
    struct fit_origin from;
    const char *name;
};

/* One note for those of the list that the user gave. */
static void note(const struct unused *u, size_t n, const char *why, struct fit_notes *notes)
{
    char text[512] = "";
    const char *last = "";
    for (size_t k = 0; k < n; k++) {
        size_t at = strlen(text);
        if (!fit_given(u[k].from) || strcmp(u[k].name, last) == 0)
            continue;
        last = u[k].name;
        snprintf(text + at, sizeof text - at, "%s%s", at ? ", " : "", u[k].name);
    }
    if (text[0])
        fit_notes_add(notes, "%s: no effect, %s", text, why);
}

#define NOTE(list, why) note(list, sizeof(list) / sizeof *(list), why, notes)

/* For shards: settings that the consensus mode makes itself, and those that do not apply to it. */
static void note_consensus(const struct fit_config_sampling *c, struct fit_notes *notes)
{
    const struct unused dealt[] = {{c->shard_strategy.from, "sharding.strategy"}};
    const struct unused sizes[] = {{c->min_shard_points.from, "min_points_per_shard"},
                                   {c->min_points_per_param.from, "min_points_per_param"}};
    const struct unused combined[] = {{c->combination.from, "combination.method"},
                                      {c->min_success_rate.from, "min_success_rate"},
                                      {c->min_success_rate_warning.from, "min_success_rate_warning"}};
    const struct unused times[] = {{c->shard_timeout.from, "timeouts"}, {c->heartbeat_timeout.from, "timeouts"}};
    const struct unused agreement[] = {{c->max_parameter_cv.from, "max_parameter_cv"},
                                       {c->heterogeneity_abort.from, "heterogeneity_abort"}};
    NOTE(dealt, "shards are dealt at random within strata of lag, all angles in each");
    NOTE(sizes, "num_shards and max_points_per_shard decide");
    NOTE(combined, "all shards are combined with their full covariances; one that does not converge is repeated, and"
                   " after three attempts there is no result");
    NOTE(times, "--max-seconds is for the whole, and finished shards are in the checkpoint");
    NOTE(agreement, "shards are compared by chi2");
    if (!c->prior_tempering.value)
        fit_notes_add(notes, "prior_tempering false: no effect; priors would count once for every shard");
}

/* Settings of shards, in a run without shards. */
static void note_no_shards(const struct fit_config_sampling *c, struct fit_notes *notes)
{
    const struct unused shards[] = {
        {c->shard_strategy.from, "sharding"},
        {c->shards.from, "sharding"},
        {c->max_shard_points.from, "sharding"},
        {c->min_shard_points.from, "sharding"},
        {c->min_points_per_param.from, "sharding"},
        {c->shard_seed.from, "sharding"},
        {c->combination.from, "combination"},
        {c->min_success_rate.from, "combination"},
        {c->min_success_rate_warning.from, "combination"},
        {c->prior_tempering.from, "prior_tempering"},
        {c->adaptive.from, "adaptive_sampling"},
        {c->min_warmup.from, "min_warmup"},
        {c->min_draws.from, "min_samples"},
        {c->shard_timeout.from, "timeouts"},
        {c->heartbeat_timeout.from, "timeouts"},
        {c->max_parameter_cv.from, "max_parameter_cv"},
        {c->heterogeneity_abort.from, "heterogeneity_abort"},
    };
    NOTE(shards, "all data are sampled at once, there are no shards");
}

void fit_sampling_notes(const struct fit_config *cfg, enum fit_sampling_method method, struct fit_notes *notes)
{
    const struct fit_config_sampling *c = &cfg->sampling;
    const struct unused priors[] = {{c->informed_priors.from, "use_nlsq_informed_priors"},
                                    {c->prior_width_factor.from, "nlsq_prior_width_factor"}};
    const struct unused files[] = {{c->checkpoint_dir.from, "checkpoint_dir"},
                                   {c->checkpoint_frequency.from, "checkpoint_frequency"},
                                   {c->keep_checkpoints.from, "keep_last_checkpoints"}};
    const struct unused run[] = {{c->backend.from, "backend_config.name"}, {c->chain_method.from, "chain_method"}};
    const struct unused warm[] = {{c->warm_start.from, "use_nlsq_warmstart"},
                                  {c->require_warm_start.from, "require_nlsq_warmstart"}};
    if (method == FIT_SAMPLING_CONSENSUS)
        note_consensus(c, notes);
    else
        note_no_shards(c, notes);
    if (cfg->method.value == FIT_METHOD_CMC && method != FIT_SAMPLING_CONSENSUS)
        fit_notes_add(notes, "method cmc: all data were sampled together; no sharding was needed (--consensus)");
    if (c->informed_priors.value)
        NOTE(priors, "priors made of the fit would count the data twice");
    NOTE(files, "there is one checkpoint, in the output folder, written again every checkpoint_seconds");
    NOTE(run, "chains run in threads of this process (--threads)");
    NOTE(warm, "chains always begin around the mode next to the least-squares result");
    if (fit_given(c->scaling.from) && strcmp(c->scaling.value, "auto") != 0 &&
        strcmp(c->scaling.value, "individual") != 0)
        fit_notes_add(notes, "cmc.per_angle_mode %s: no effect; the chains take contrast and offset as the fit does"
                             " (--scaling), and integrate them out", c->scaling.value);
}

void fit_sampling_setup_free(struct fit_sampling_setup *s)
{
    fit_efficient_table_free(&s->table);
    fit_arena_free(&s->storage_);
    *s = (struct fit_sampling_setup){0};
}
