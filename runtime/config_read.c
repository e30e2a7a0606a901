/* config_read.c -- life of a configuration: defaults, file, checks that need the whole, free. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_impl.h"
#include "units.h"

/* ---- Defaults -------------------------------------------------------------------------------------- */

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
    c->scaling.peers_enabled.value = 1;
    c->output.log_level.value = FIT_LOG_INFO;
    c->output.figures.value = 1;
    c->max_seconds.value = NAN;
    c->seed.value = 42;
}

static void default_nlsq(struct fit_config_nlsq *n)
{
    n->max_iterations.value = 200; /* these four as in fit_options_default */
    n->ftol.value = 1e-14;
    n->xtol.value = 1e-12;
    n->gtol.value = 1e-6;
    n->f_scale.value = 1;
    n->n_starts.value = 8;
    n->memory_fraction.value = 0.75;
}

/* As homodyne's command line and templates have them, where they have a meaning here. */
static void default_sampling(struct fit_config_sampling *s)
{
    s->warmup.value = 500;
    s->draws.value = 1500;
    s->chains.value = 4;
    s->target_accept.value = 0.85;
    s->max_tree_depth.value = 10;
    s->dense_mass.value = s->adaptive.value = s->warm_start.value = 1;
    s->min_warmup.value = 100;
    s->min_draws.value = 200;
    s->informed_priors.value = 1;
    s->prior_width_factor.value = 2;
    s->max_rhat.value = 1.1;
    s->min_ess.value = 400;
    s->max_divergence_rate.value = 0.1;
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
    s->checkpoint_frequency.value = 1;
    s->keep_checkpoints.value = 3;
}

static void default_params(struct fit_config *c)
{
    const struct fit_kernel *k = c->kernel;
    const struct fit_origin model = {.kind = FIT_FROM_MODEL};
    for (size_t i = 0; i < c->nparam + c->nlinear; i++) {
        const struct fit_param *p = i < c->nparam ? &k->param[i] : &k->linear[i - c->nparam];
        c->param[i] = (struct fit_config_param){
            .declared = p,
            .start = {p->start, model},
            .automatic = 1,
            .lower = {p->lower, model},
            .upper = {p->upper, model},
            .fixed = {0, model},
            .tied = -1,
            .tied_from = model,
            .prior = {(int)p->prior, model},
            .prior_a = p->prior_a,
            .prior_b = p->prior_b,
            .list = {0, NULL, model},
        };
    }
    for (size_t i = 0; i < c->nsetting; i++)
        c->setting[i] = (struct fit_cfg_real){k->setting[i].value, model};
}

static enum fit_status new_config(const struct fit_kernel *kernel, const char *file, struct fit_config **cfg,
                                  struct fit_error *err)
{
    struct fit_config *c = calloc(1, sizeof *c);
    struct fit_config_private *p = calloc(1, sizeof *p);
    *cfg = NULL;
    if (!c || !p) {
        free(c);
        free(p);
        return fit_fail(err, FIT_ERR_MEMORY, "out of memory");
    }
    c->private_ = p;
    c->kernel = kernel;
    c->nparam = kernel->nparam;
    c->nlinear = kernel->nlinear;
    c->nsetting = kernel->nsetting;
    c->file = fit_arena_string(&p->arena, file);
    c->param = fit_arena_alloc(&p->arena, (c->nparam + c->nlinear) * sizeof *c->param);
    c->setting = fit_arena_alloc(&p->arena, c->nsetting * sizeof *c->setting);
    if (!c->file || !c->param || !c->setting) {
        fit_config_free(c);
        return fit_fail(err, FIT_ERR_MEMORY, "out of memory");
    }
    c->mode = (struct fit_cfg_text){kernel->name, {.kind = FIT_FROM_MODEL}};
    default_input(c);
    default_nlsq(&c->nlsq);
    default_sampling(&c->sampling);
    default_params(c);
    *cfg = c;
    return FIT_OK;
}

enum fit_status fit_config_new(const struct fit_kernel *kernel, struct fit_config **cfg, struct fit_error *err)
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

/* ---- Reading --------------------------------------------------------------------------------------- */

static void read_tree(struct fit_cfg_reader *r, const struct fit_yaml *root)
{
    fit_cfg_walk(r, root);
    const int right_model = fit_cfg_later_mode(r);
    fit_cfg_later_input(r);
    fit_cfg_later_angles(r);
    fit_cfg_later_compat(r);
    if (right_model) /* else every name would be an error */
        fit_cfg_later_params(r);
    if (r->cfg->nignored)
        fit_cfg_note(r, 0, 0, "%zu keys have no effect here", r->cfg->nignored);
}

static enum fit_status read_doc(struct fit_yaml_doc *doc, const char *name, const struct fit_kernel *kernel,
                                const struct fit_config_options *options, struct fit_config_log *log,
                                struct fit_config **cfg, struct fit_error *err)
{
    struct fit_config_log own;
    struct fit_cfg_reader r = {.source = FIT_FROM_FILE, .log = log, .err = err, .path = ""};
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
    read_tree(&r, fit_yaml_root(doc));
done:
    st = fit_cfg_status(&r, FIT_ERR_CONFIG, first);
    free(r.seen);
    fit_config_log_free(&own);
    if (st == FIT_OK)
        *cfg = r.cfg;
    else
        fit_config_free(r.cfg);
    return st;
}

/* Messages of the YAML reader go into the log, too. */
static void log_syntax(struct fit_config_log *log, const struct fit_error *err)
{
    if (!log || !err)
        return;
    struct fit_config_message *m = realloc(log->message, (log->n + 1) * sizeof *m);
    char *text = strdup(err->message);
    if (m)
        log->message = m;
    if (!m || !text) {
        free(text);
        return;
    }
    m[log->n++] = (struct fit_config_message){1, 0, 0, text};
    log->nerror++;
}

enum fit_status fit_config_read_text(const char *text, size_t length, const char *name,
                                     const struct fit_kernel *kernel,
                                     const struct fit_config_options *options, struct fit_config_log *log,
                                     struct fit_config **cfg, struct fit_error *err)
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

enum fit_status fit_config_read(const char *file, const struct fit_kernel *kernel,
                                const struct fit_config_options *options, struct fit_config_log *log,
                                struct fit_config **cfg, struct fit_error *err)
{
    struct fit_yaml_doc *doc;
    struct fit_error own = {0};
    err = err ? err : &own;
    *cfg = NULL;
    enum fit_status st = fit_yaml_parse_file(file, &doc, err);
    if (st != FIT_OK) {
        log_syntax(log, err);
        return st;
    }
    st = read_doc(doc, file, kernel, options, log, cfg, err);
    fit_yaml_free(doc);
    return st;
}

/* ---- Which model ----------------------------------------------------------------------------------- */

static const char *scalar(const struct fit_yaml *node)
{
    return node && node->kind == FIT_YAML_SCALAR && !fit_yaml_is_null(node) && *node->text ? node->text : NULL;
}

enum fit_status fit_config_detect(const char *file, char name[64], struct fit_error *err)
{
    struct fit_yaml_doc *doc;
    name[0] = 0;
    const enum fit_status st = fit_yaml_parse_file(file, &doc, err);
    if (st != FIT_OK)
        return st;
    const struct fit_yaml *root = fit_yaml_root(doc), *settings = fit_yaml_get(root, "analysis_settings");
    const char *mode = scalar(fit_yaml_get(root, "analysis_mode"));
    if (!mode)
        mode = scalar(fit_yaml_get(fit_yaml_get(fit_yaml_get(root, "optimization"), "nlsq"), "analysis_mode"));
    const char *is_static = scalar(fit_yaml_get(settings, "static_mode"));
    const char *submode = scalar(fit_yaml_get(settings, "static_submode"));
    if (!mode && is_static && strcmp(is_static, "false") == 0)
        mode = "laminar";
    if (!mode && is_static)
        mode = submode && strcmp(submode, "isotropic") == 0 ? "static_isotropic" : "static_anisotropic";
    if (!mode && fit_yaml_get(fit_yaml_get(root, "parameters"), "reference"))
        mode = "heterodyne"; /* its template has no mode */
    if (mode)
        snprintf(name, 64, "%s", fit_config_canonical_mode(mode));
    fit_yaml_free(doc);
    return FIT_OK;
}

/* ---- Checks that need the whole -------------------------------------------------------------------- */

static const char *where(const struct fit_config *cfg, struct fit_origin from, char text[160])
{
    fit_origin_text(cfg, from, text, 160);
    return text;
}

/* The value that can be blamed: the one that the user wrote. */
static struct fit_origin blamed(struct fit_origin a, struct fit_origin b)
{
    return fit_given(a) ? a : b;
}

/* Note or error about a value wherever it was written: a place in the file, or an option. */
#define AT_ORIGIN(r, from) ((r)->source = (from).kind == FIT_FROM_COMMAND ? FIT_FROM_COMMAND : FIT_FROM_FILE, \
                            (r)->option = (from).option)

static void check_bounds(struct fit_cfg_reader *r, struct fit_config_param *p)
{
    char a[160], b[160];
    const char *name = p->declared->name;
    if (p->lower.value < p->upper.value || p->fixed.value)
        return;
    const struct fit_origin from = blamed(p->upper.from, p->lower.from);
    AT_ORIGIN(r, from);
    fit_cfg_error_at(r, from.line, from.column, "%s: the lower bound %g (%s) is not below the upper bound %g (%s)",
                     name, p->lower.value, where(r->cfg, p->lower.from, a), p->upper.value,
                     where(r->cfg, p->upper.from, b));
}

static int inside(const struct fit_config_param *p, double x)
{
    return x >= p->lower.value && x <= p->upper.value;
}

static void check_start(struct fit_cfg_reader *r, struct fit_config_param *p)
{
    char bound[160], bound2[160];
    if (p->fixed.value || p->tied >= 0 || !(p->lower.value < p->upper.value))
        return;
    for (size_t i = 0; i < p->list.n; i++) {
        if (!inside(p, p->list.value[i])) {
            AT_ORIGIN(r, p->list.from);
            fit_cfg_error_at(r, p->list.from.line, p->list.from.column, "%s: %g lies outside the bounds %g .. %g",
                             p->declared->name, p->list.value[i], p->lower.value, p->upper.value);
        }
    }
    if (inside(p, p->start.value))
        return;
    if (p->automatic || !fit_given(p->start.from)) { /* the model's start in bounds of the user */
        p->start.value = isfinite(p->lower.value) && isfinite(p->upper.value)
                             ? p->lower.value + 0.5 * (p->upper.value - p->lower.value)
                         : p->start.value < p->lower.value ? p->lower.value
                                                           : p->upper.value;
        return;
    }
    AT_ORIGIN(r, p->start.from);
    where(r->cfg, p->lower.from, bound);
    where(r->cfg, p->upper.from, bound2);
    fit_cfg_error_at(r, p->start.from.line, p->start.from.column,
                     "the start of %s, %g, lies outside its bounds %g .. %g (%s%s%s)", p->declared->name,
                     p->start.value, p->lower.value, p->upper.value, bound, strcmp(bound, bound2) ? ", " : "",
                     strcmp(bound, bound2) ? bound2 : "");
}

static void check_ties(struct fit_cfg_reader *r, size_t i)
{
    struct fit_config_param *p = &r->cfg->param[i];
    if (p->tied < 0)
        return;
    AT_ORIGIN(r, p->tied_from);
    if (r->cfg->param[p->tied].tied >= 0)
        fit_cfg_error_at(r, p->tied_from.line, p->tied_from.column,
                         "%s is tied to %s, which is tied itself; tie both to the same parameter",
                         p->declared->name, r->cfg->param[p->tied].declared->name);
    if (p->fixed.value && fit_given(p->fixed.from))
        fit_cfg_error_at(r, p->tied_from.line, p->tied_from.column, "%s is both fixed and tied", p->declared->name);
}

/* Files of homodyne and xpcsjax can name fixed parameters, but these programs fit them all the same. */
static void note_fixed(struct fit_cfg_reader *r, const struct fit_config_param *p)
{
    if (!p->fixed.value || p->fixed.from.kind != FIT_FROM_FILE || strcmp(r->cfg->kernel->name, "heterodyne") == 0)
        return;
    r->source = FIT_FROM_FILE;
    fit_cfg_note(r, p->fixed.from.line, p->fixed.from.column,
                 "%s is fixed at %g; homodyne and xpcsjax would fit it in least squares", p->declared->name,
                 p->start.value);
}

static void check_params(struct fit_cfg_reader *r)
{
    struct fit_config *cfg = r->cfg;
    size_t length = 0;
    for (size_t i = 0; i < cfg->nparam + cfg->nlinear; i++) {
        struct fit_config_param *p = &cfg->param[i];
        check_bounds(r, p);
        check_start(r, p);
        check_ties(r, i);
        note_fixed(r, p);
        if (p->list.n > 1 && length && p->list.n != length) {
            AT_ORIGIN(r, p->list.from);
            fit_cfg_error_at(r, p->list.from.line, p->list.from.column,
                             "%zu values for %s, %zu for the parameter before; one for each angle is wanted",
                             p->list.n, p->declared->name, length);
        }
        length = p->list.n > 1 ? p->list.n : length;
    }
}

static void check_frames(struct fit_cfg_reader *r)
{
    const struct fit_config_input *in = &r->cfg->input;
    const long first = in->start_frame.value, last = in->end_frame.value;
    const struct fit_origin from = blamed(in->end_frame.from, in->start_frame.from);
    AT_ORIGIN(r, from);
    if (last == 0)
        fit_cfg_error_at(r, from.line, from.column, "end_frame = 0 is not possible; give -1 for the last frame");
    else if (last > 0 && last < first + 2)
        fit_cfg_error_at(r, from.line, from.column, "frames %ld to %ld: at least three are needed", first, last);
}

static void doubt(struct fit_cfg_reader *r, const struct fit_cfg_real *x, const char *name, const char *why)
{
    if (!why || !fit_given(x->from) || !x->from.bare || r->cfg->trust_units.value)
        return;
    AT_ORIGIN(r, x->from);
    fit_cfg_error_at(r, x->from.line, x->from.column, "%s = %g: %s (or say 'units: trust')", name, x->value, why);
}

static void check_settings(struct fit_cfg_reader *r)
{
    struct fit_config *cfg = r->cfg;
    const struct fit_kernel *k = cfg->kernel;
    if (fit_cfg_setting_index(k, "q") >= 0)
        doubt(r, &cfg->input.q, "wavevector_q", fit_units_doubt_q(cfg->input.q.value));
    if (fit_cfg_setting_index(k, "gap") >= 0)
        doubt(r, &cfg->input.gap, "stator_rotor_gap", fit_units_doubt_gap(cfg->input.gap.value));
    for (size_t i = 0; i < cfg->nsetting; i++) {
        const struct fit_cfg_real *x = fit_cfg_setting(cfg, i);
        const char *name = k->setting[i].name;
        if (x != &cfg->setting[i] && !isnan(x->value))
            cfg->setting[i] = *x;
        if (!isnan(cfg->setting[i].value) || x == &cfg->input.q || x == &cfg->input.dt)
            continue; /* q and dt may come from the data file */
        r->source = FIT_FROM_FILE;
        fit_cfg_error_at(r, 0, 0, "no value for the setting '%s' (%s); write %s", name, k->setting[i].unit,
                         x == &cfg->input.gap ? "analyzer_parameters.geometry.stator_rotor_gap, or --gap"
                                              : "it under settings:, or --set");
    }
}

static void check_scaling(struct fit_cfg_reader *r)
{
    struct fit_config_scaling *s = &r->cfg->scaling;
    if (s->automatic || s->mode.from.kind != FIT_FROM_FILE || s->peers_enabled.value ||
        s->mode.value == FIT_SCALING_INDIVIDUAL)
        return;
    r->source = FIT_FROM_FILE;
    fit_cfg_note(r, s->mode.from.line, s->mode.from.column,
                 "per_angle_mode has no effect while anti_degeneracy.enable is false (line %u), as in the packages",
                 s->peers_enabled.from.line);
    s->mode.value = FIT_SCALING_INDIVIDUAL;
}

/* Two-time models (pairs) with per-angle linear parameters only. */
static void note_average(struct fit_cfg_reader *r)
{
    const struct fit_config *cfg = r->cfg;
    const struct fit_config_scaling *s = &cfg->scaling;
    if (!fit_given(s->mode.from) || !s->automatic || !s->peers_enabled.value || cfg->compat.peer.value ||
        s->mode.from.kind != FIT_FROM_FILE)
        return;
    r->source = FIT_FROM_FILE;
    fit_cfg_note(r, s->mode.from.line, s->mode.from.column,
                 "per_angle_mode auto: contrast and offset of every angle are fitted; with %ld angles or more the "
                 "Python packages average them",
                 s->average_threshold.value);
}

enum fit_status fit_config_finish(struct fit_config *cfg, struct fit_config_log *log, struct fit_error *err)
{
    struct fit_config_log own;
    struct fit_error own_err = {0};
    fit_config_log_init(&own);
    struct fit_cfg_reader r = {.cfg = cfg, .log = log ? log : &own, .err = err ? err : &own_err, .path = ""};
    r.source = FIT_FROM_FILE;
    const size_t first = r.log->n;
    check_params(&r);
    check_frames(&r);
    check_settings(&r);
    check_scaling(&r);
    note_average(&r);
    if (cfg->angles.nrange && !cfg->angles.filter.value && !fit_given(cfg->angles.filter.from) &&
        !cfg->angles.list.n) {
        r.source = FIT_FROM_FILE;
        fit_cfg_note(&r, cfg->angles.range[0].from.line, cfg->angles.range[0].from.column,
                     "target_ranges are not used: phi_filtering.enabled is not given");
    }
    const enum fit_status st = fit_cfg_status(&r, FIT_ERR_CONFIG, first);
    fit_config_log_free(&own);
    return st;
}

/* ---- Answers --------------------------------------------------------------------------------------- */

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
    case FIT_FROM_FILE: {
        const char *slash = strrchr(cfg->file, '/');
        snprintf(text, size, "%.100s:%u", slash ? slash + 1 : cfg->file, from.line);
        break;
    }
    case FIT_FROM_COMMAND: snprintf(text, size, "command line %s", from.option ? from.option : ""); break;
    case FIT_FROM_MODEL: snprintf(text, size, "model"); break;
    case FIT_FROM_COMPAT: snprintf(text, size, "compat"); break;
    default: snprintf(text, size, "default"); break;
    }
}
