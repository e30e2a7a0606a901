/* read.c -- life of a configuration: defaults, file, model, release. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config_impl.h"
#include "model/prior.h"

#include "common/text.h"
#include "model/registry.h"

/* ---- Defaults -------------------------------------------------------------------------------- */

static void default_input(struct fit_config *c)
{
    struct fit_config_input *in = &c->input;
    in->dt.value = in->q.value = in->gap.value = NAN;
    in->start_frame.value = 1;
    in->end_frame.value = -1;
    in->q_tolerance.value = 0.05;
    c->angles.tolerance.value = 5;
    c->scaling.automatic = 1;
    c->scaling.average_threshold.value = 3;
    c->scaling.fourier_order.value = 2;
    c->study.replicates.value = 200;
    c->scaling.peers_enabled.value = 1;
    c->max_seconds.value = NAN;
    c->robust.count.value = c->robust.shot.value = NAN;
    c->seed.value = 42;
}

static void default_nlsq(struct fit_config_nlsq *n)
{
    n->max_iterations.value = 200; /* these four as in fit_options_default */
    n->ftol.value = 1e-14;
    n->xtol.value = 1e-12;
    n->gtol.value = 1e-6;
    n->estimator.value = FIT_ESTIMATOR_LEAST_SQUARES;
    n->f_scale.value = 1;
    n->n_starts.value = 8;
    n->memory_fraction.value = 0.75;
}

/* Settings of the chains; those of consensus Monte Carlo are homodyne's. */
static void default_sampling(struct fit_config_sampling *s)
{
    s->warmup.value = 300; /* draws, min_ess: depend on the method, when everything has been read */
    s->chains.value = 4;
    s->noise_prior.value = FIT_PRIOR_JEFFREYS;
    s->target_accept.value = 0.85;
    s->max_tree_depth.value = 10;
    s->dense_mass.value = s->adaptive.value = s->warm_start.value = 1;
    s->min_warmup.value = 100;
    s->min_draws.value = 200;
    s->informed_priors.value = 1;
    s->prior_width_factor.value = 2;
    s->max_rhat.value = 1.01; /* Vehtari et al. (2021) */
    s->min_bfmi.value = 0.3;
    s->max_parameter_cv.value = 1;
    s->heterogeneity_abort.value = s->prior_tempering.value = 1;
    s->min_shard_points.value = 10000;
    s->min_points_per_param.value = 1500;
    s->min_success_rate.value = 0.9;
    s->min_success_rate_warning.value = 0.8;
    s->shard_timeout.value = 3600;
    s->heartbeat_timeout.value = 600;
    s->checkpoints.value = s->resume.value = 1;
    s->checkpoint_seconds.value = 60;
    s->checkpoint_frequency.value = 1;
    s->keep_checkpoints.value = 3;
}

static void default_params(struct fit_config *c)
{
    const struct fit_kernel *k = c->kernel;
    const struct fit_origin model = {.kind = FIT_FROM_MODEL};
    for (size_t i = 0; i < c->nparam + c->nlinear; i++) {
        const struct fit_param *p = fit_kernel_unknown(k, i);
        c->param[i] = (struct fit_config_param){
            .declared = p,
            .start = {p->start, model},
            .automatic = 1,
            .lower = {p->lower, model},
            .upper = {p->upper, model},
            .fixed = {0, model},
            .share = {.from = model},
            .prior = {(int)p->prior, model},
            .prior_a = p->prior_a,
            .prior_b = p->prior_b,
            .list = {0, NULL, model},
        };
    }
    for (size_t i = 0; i < c->nsetting; i++)
        c->setting[i] = (struct fit_cfg_real){k->setting[i].value, model};
}

static enum fit_status new_config(const struct fit_kernel *kernel, const char *file,
                                  struct fit_config **cfg, struct fit_error *err)
{
    struct fit_config *c = calloc(1, sizeof *c);
    struct fit_config_private *p = calloc(1, sizeof *p);
    *cfg = NULL;
    if (!c || !p) {
        free(c);
        free(p);
        return fit_no_memory(err, NULL);
    }
    c->private_ = p;
    c->kernel = kernel;
    c->nparam = kernel->nparam;
    c->nlinear = kernel->nlinear;
    c->nsetting = kernel->nsetting;
    c->file = fit_arena_string(&p->arena, file);
    c->param = fit_arena_alloc(&p->arena, (c->nparam + c->nlinear) * sizeof *c->param);
    c->setting = fit_arena_alloc(&p->arena, c->nsetting * sizeof *c->setting);
    c->setting_list = fit_arena_alloc(&p->arena, c->nsetting * sizeof *c->setting_list);
    if (!c->file || !c->param || !c->setting || !c->setting_list) {
        fit_config_free(c);
        return fit_no_memory(err, NULL);
    }
    c->mode = (struct fit_cfg_text){kernel->name, {.kind = FIT_FROM_MODEL}};
    default_input(c);
    default_nlsq(&c->nlsq);
    default_sampling(&c->sampling);
    default_params(c);
    *cfg = c;
    return FIT_OK;
}

enum fit_status fit_config_new(const struct fit_kernel *kernel, struct fit_config **cfg,
                               struct fit_error *err)
{
    return new_config(kernel, "command line", cfg, err);
}

void fit_config_free(struct fit_config *cfg)
{
    if (!cfg)
        return;
    fit_arena_free(&cfg->private_->arena);
    free(cfg->private_);
    free(cfg);
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* 1: the file belongs to this model. */
static int read_tree(struct fit_cfg_reader *r, const struct fit_yaml *root)
{
    fit_cfg_walk(r, root);
    const int right_model = fit_cfg_later_mode(r);
    fit_cfg_later_input(r);
    fit_cfg_later_angles(r);
    fit_cfg_later_compat(r);
    if (right_model) /* else every name would be an error */
        fit_cfg_later_params(r);
    if (r->cfg->nignored)
        fit_cfg_note(r, 0, 0, "%zu keys have no effect here (validate lists them)", r->cfg->nignored);
    return right_model;
}

static enum fit_status read_doc(struct fit_yaml_doc *doc, const char *name,
                                const struct fit_kernel *kernel,
                                const struct fit_config_options *options,
                                struct fit_config_log *log, struct fit_config **cfg,
                                struct fit_error *err)
{
    struct fit_config_log own;
    struct fit_cfg_reader r = {.source = FIT_FROM_FILE, .log = log, .err = err, .path = ""};
    int keep = 0;
    *cfg = NULL;
    fit_config_log_init(&own);
    if (!log)
        r.log = &own;
    const size_t first = r.log->n;
    enum fit_status st = new_config(kernel, name, &r.cfg, err);
    if (st != FIT_OK)
        return st;
    r.lax = options && options->lax;
    r.seen = calloc(fit_cfg_nkeys, sizeof *r.seen);
    if (!r.seen) {
        r.no_memory = 1;
        goto done;
    }
    keep = read_tree(&r, fit_yaml_root(doc)) && options && options->keep;
done:
    st = fit_cfg_status(&r, FIT_ERR_CONFIG, first);
    free(r.seen);
    fit_config_log_free(&own);
    if (st == FIT_OK || (st == FIT_ERR_CONFIG && keep))
        *cfg = r.cfg;
    else
        fit_config_free(r.cfg);
    return st;
}

/* Copies messages of the YAML reader into the log. */
static void log_syntax(struct fit_config_log *log, struct fit_error *err)
{
    if (log)
        fit_cfg_keep(log, (struct fit_config_message){.error = 1,
                                                      .line = err->line,
                                                      .column = err->column,
                                                      .file = err->file,
                                                      .text = err->message,
                                                      .says = err->message + err->says});
}

enum fit_status fit_config_read_text(const char *text, size_t length, const char *name,
                                     const struct fit_kernel *kernel,
                                     const struct fit_config_options *options,
                                     struct fit_config_log *log, struct fit_config **cfg,
                                     struct fit_error *err)
{
    struct fit_yaml_doc *doc;
    struct fit_error own = {0};
    err = err ? err : &own;
    *cfg = NULL;
    enum fit_status st = fit_yaml_parse(text, length, name, &doc, err);
    if (st != FIT_OK) {
        log_syntax(log, err);
        return st;
    }
    st = read_doc(doc, name, kernel, options, log, cfg, err);
    fit_yaml_free(doc);
    return st;
}

enum fit_status fit_cfg_cannot_read(enum fit_status st, struct fit_error *err)
{
    if (st == FIT_ERR_IO)
        st = FIT_ERR_CONFIG;
    if (err)
        err->status = st;
    return st;
}

enum fit_status fit_config_read(const char *file, const struct fit_kernel *kernel,
                                const struct fit_config_options *options,
                                struct fit_config_log *log, struct fit_config **cfg,
                                struct fit_error *err)
{
    struct fit_yaml_doc *doc;
    struct fit_error own = {0};
    err = err ? err : &own;
    *cfg = NULL;
    enum fit_status st = fit_yaml_parse_file(file, &doc, err);
    if (st != FIT_OK) {
        log_syntax(log, err);
        return fit_cfg_cannot_read(st, err);
    }
    st = read_doc(doc, file, kernel, options, log, cfg, err);
    fit_yaml_free(doc);
    return st;
}

/* ---- Answers --------------------------------------------------------------------------------- */

int fit_config_peers_average(const struct fit_config *cfg, size_t nangle)
{
    const struct fit_config_scaling *s = &cfg->scaling;
    return s->automatic && s->peers_enabled.value && s->average_threshold.value >= 1 &&
           nangle >= (size_t)s->average_threshold.value;
}

enum fit_scaling fit_config_scaling(const struct fit_config *cfg, size_t nangle)
{
    if (!cfg->scaling.automatic)
        return (enum fit_scaling)cfg->scaling.mode.value;
    return cfg->compat.peer.value && fit_config_peers_average(cfg, nangle) ? FIT_SCALING_AVERAGED
                                                                           : FIT_SCALING_INDIVIDUAL;
}

void fit_origin_text(const struct fit_config *cfg, struct fit_origin from, char *text, size_t size)
{
    switch (from.kind) {
    case FIT_FROM_FILE: snprintf(text, size, "%.100s:%u", text_file_name(cfg->file), from.line); break;
    case FIT_FROM_COMMAND:
        snprintf(text, size, "command line %s", from.option ? from.option : "");
        break;
    case FIT_FROM_MODEL:
        snprintf(text, size, "model");
        break;
    case FIT_FROM_COMPAT:
        snprintf(text, size, "compat");
        break;
    default:
        snprintf(text, size, "default");
        break;
    }
}
