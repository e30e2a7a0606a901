/* finish.c -- checks that values agree with each other, when file and command line have been read. */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "config/config_impl.h"

static const char *where(const struct fit_config *cfg, struct fit_origin from, char text[160])
{
    fit_origin_text(cfg, from, text, 160);
    return text;
}

/* The value to blame: the one that the user wrote. */
static struct fit_origin blamed(struct fit_origin a, struct fit_origin b)
{
    return fit_given(a) ? a : b;
}

/* Note or error about a value, with its source: a position in the file, or an option. */
#define AT_ORIGIN(r, from)                                                                         \
    ((r)->source = (from).kind == FIT_FROM_COMMAND ? FIT_FROM_COMMAND : FIT_FROM_FILE,             \
     (r)->option = (from).option)

static void check_bounds(struct fit_cfg_reader *r, struct fit_config_param *p)
{
    char a[160], b[160];
    const char *name = p->declared->name;
    if (p->lower.value < p->upper.value || p->fixed.value)
        return;
    const struct fit_origin from = blamed(p->upper.from, p->lower.from);
    AT_ORIGIN(r, from);
    fit_cfg_error_at(r, from.line, from.column,
                     "%s: the lower bound %g (%s) is not below the upper bound %g (%s)", name,
                     p->lower.value, where(r->cfg, p->lower.from, a), p->upper.value,
                     where(r->cfg, p->upper.from, b));
}

static int inside(const struct fit_config_param *p, double x)
{
    return x >= p->lower.value && x <= p->upper.value;
}

static void check_start(struct fit_cfg_reader *r, struct fit_config_param *p)
{
    char bound[160], bound2[160];
    if (p->fixed.value || p->tie || !(p->lower.value < p->upper.value))
        return;
    for (size_t i = 0; i < p->list.n; i++) {
        if (!inside(p, p->list.value[i])) {
            AT_ORIGIN(r, p->list.from);
            fit_cfg_error_at(r, p->list.from.line, p->list.from.column,
                             "%s: %g lies outside the bounds %g .. %g", p->declared->name,
                             p->list.value[i], p->lower.value, p->upper.value);
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
                     "the start of %s, %g, lies outside its bounds %g .. %g (%s%s%s)",
                     p->declared->name, p->start.value, p->lower.value, p->upper.value, bound,
                     strcmp(bound, bound2) ? ", " : "", strcmp(bound, bound2) ? bound2 : "");
}

/* Files of homodyne and xpcsjax can name fixed parameters, but these programs fit them nevertheless. */
static void note_fixed(struct fit_cfg_reader *r, const struct fit_config_param *p)
{
    if (!p->fixed.value || p->fixed.from.kind != FIT_FROM_FILE ||
        r->cfg->kernel->peer == FIT_PEER_HETERODYNE)
        return;
    r->source = FIT_FROM_FILE;
    fit_cfg_note(r, p->fixed.from.line, p->fixed.from.column,
                 "%s is fixed at %g; homodyne and xpcsjax would fit it in least squares",
                 p->declared->name, p->start.value);
}

static void check_params(struct fit_cfg_reader *r)
{
    struct fit_config *cfg = r->cfg;
    size_t length = 0;
    for (size_t i = 0; i < cfg->nparam + cfg->nlinear; i++) {
        struct fit_config_param *p = &cfg->param[i];
        check_bounds(r, p);
        check_start(r, p);
        note_fixed(r, p);
        if (p->list.n > 1 && length && p->list.n != length) {
            AT_ORIGIN(r, p->list.from);
            fit_cfg_error_at(
                r, p->list.from.line, p->list.from.column,
                "%zu values for %s, %zu for the parameter before; give one for each angle",
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
        fit_cfg_error_at(r, from.line, from.column,
                         "end_frame = 0 is not possible; give -1 for the last frame");
    else if (last > 0 && last < first + 2)
        fit_cfg_error_at(r, from.line, from.column, "frames %ld to %ld: at least three are needed",
                         first, last);
}

/* Models from heterodyne and xpcsjax's two_component count t = dt, 2 dt, ..., the others t = 0, dt, ... */
static void choose_time_origin(struct fit_cfg_reader *r)
{
    struct fit_cfg_choice *origin = &r->cfg->input.time_origin;
    if (fit_given(origin->from) || !r->cfg->kernel->first_step)
        return;
    origin->value = FIT_TIME_STEP;
    r->source = FIT_FROM_FILE;
    fit_cfg_note(r, 0, 0,
                 "frames of the window lie at t = dt, 2 dt, ..., as in heterodyne and xpcsjax "
                 "(analyzer_parameters.time_origin: window puts the first one at 0)");
}

static void doubt(struct fit_cfg_reader *r, const struct fit_cfg_real *x, const char *name,
                  const char *why)
{
    if (!why || !fit_given(x->from) || !x->from.bare || r->cfg->trust_units.value)
        return;
    AT_ORIGIN(r, x->from);
    fit_cfg_error_at(r, x->from.line, x->from.column, "%s = %g: %s (or say 'units: trust')", name,
                     x->value, why);
}

/* --q, --gap, --dt for a model whose setting of this name has another meaning. */
static void check_meaning(struct fit_cfg_reader *r, size_t i, const struct fit_cfg_real *given)
{
    const struct fit_setting *s = &r->cfg->kernel->setting[i];
    if (!given || !fit_given(given->from) || fit_units_means(s->name, s->unit))
        return;
    AT_ORIGIN(r, given->from);
    fit_cfg_error_at(r, given->from.line, given->from.column,
                     "%s is given in %s; the setting %s of the model %s is in %s: --set %s=VALUE, or settings:",
                     s->name, fit_units_of(s->name), s->name, r->cfg->kernel->name, s->unit, s->name);
}

/* A table for a model of two-time data: further missing entries do not matter then. */
static int is_wrong_data(struct fit_cfg_reader *r)
{
    static const char *const tables[] = {".csv", ".tsv", ".txt", ".asc", ".ASC"};
    const struct fit_cfg_texts *path = &r->cfg->input.path;
    const char *dot = path->n ? strrchr(path->value[0], '.') : NULL;
    for (size_t k = 0; dot && r->cfg->kernel->space == FIT_PAIRS && k < sizeof tables / sizeof *tables; k++)
        if (strcmp(dot, tables[k]) == 0) {
            AT_ORIGIN(r, path->from);
            fit_cfg_error_at(r, path->from.line, path->from.column,
                             "%s: a table; the model %s is of two-time data (HDF5, npz, npy). Take a model of tables, "
                             "as kww (homodyne models lists them)",
                             path->value[0], r->cfg->kernel->name);
            return 1;
        }
    return 0;
}

static void check_settings(struct fit_cfg_reader *r)
{
    struct fit_config *cfg = r->cfg;
    const struct fit_kernel *k = cfg->kernel;
    if (fit_cfg_setting_index(k, "q") >= 0)
        doubt(r, &cfg->input.q, "wavevector_q", fit_units_doubt_q(cfg->input.q.value));
    if (fit_cfg_setting_index(k, "gap") >= 0 && !cfg->input.gap.from.bare && cfg->input.gap.value > 1e8)
        fit_cfg_note(r, cfg->input.gap.from.line, cfg->input.gap.from.column,
                     "a gap of %.4g mm is wider than those of shear cells; is its unit right?",
                     cfg->input.gap.value / 1e7);
    if (fit_cfg_setting_index(k, "gap") >= 0)
        doubt(r, &cfg->input.gap, "stator_rotor_gap", fit_units_doubt_gap(cfg->input.gap.value));
    else if (fit_given(cfg->input.gap.from) && cfg->input.gap.from.kind == FIT_FROM_COMMAND)
        fit_cfg_note(r, 0, 0, "--gap has no effect: the model %s has no gap", k->name);
    for (size_t i = 0; i < cfg->nsetting; i++) {
        const struct fit_cfg_real *x = fit_cfg_setting(cfg, i);
        const char *name = k->setting[i].name;
        check_meaning(r, i, strcmp(name, "q") == 0     ? &cfg->input.q
                            : strcmp(name, "gap") == 0 ? &cfg->input.gap
                            : strcmp(name, "dt") == 0  ? &cfg->input.dt
                                                       : NULL);
        if (x != &cfg->setting[i] && !isnan(x->value)) {
            cfg->setting[i] = *x;
            cfg->setting[i].value = fit_units_to_model(name, k->setting[i].unit, x->value);
        }
        if (!isnan(cfg->setting[i].value) || x == &cfg->input.q || x == &cfg->input.dt || cfg->data_only ||
            k->setting[i].statistic)
            continue; /* q and dt may come from the data file, and statistics always do */
        r->source = FIT_FROM_FILE;
        fit_cfg_error_at(
            r, x->from.line, x->from.column, "no value for the setting '%s' (%s); write %s", name, k->setting[i].unit,
            x == &cfg->input.gap ? "--gap \"200 um\", or analyzer_parameters.geometry.stator_rotor_gap"
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
                 "per_angle_mode has no effect while anti_degeneracy.enable is false (line %u), as "
                 "in the packages",
                 s->peers_enabled.from.line);
    s->mode.value = FIT_SCALING_INDIVIDUAL;
}

/* Two-time models (pairs) with per-angle linear parameters only. */
static void note_average(struct fit_cfg_reader *r)
{
    const struct fit_config *cfg = r->cfg;
    const struct fit_config_scaling *s = &cfg->scaling;
    if (!fit_given(s->mode.from) || !s->automatic || !s->peers_enabled.value ||
        cfg->compat.peer.value || s->mode.from.kind != FIT_FROM_FILE)
        return;
    r->source = FIT_FROM_FILE;
    fit_cfg_note(r, s->mode.from.line, s->mode.from.column,
                 "per_angle_mode auto: contrast and offset of every angle are fitted; with %ld "
                 "angles or more the "
                 "Python packages average them",
                 s->average_threshold.value);
    r->cfg->scaling.average_noted = 1;
}

/* Defaults that depend on the method and on other values. */
static void complete_sampling(struct fit_config *cfg)
{
    struct fit_config_sampling *s = &cfg->sampling;
    if (!fit_given(s->draws.from))
        s->draws.value = cfg->method.value == FIT_METHOD_LAPLACE ? 2000 : 1000;
    if (!fit_given(s->min_ess.from))
        s->min_ess.value = 100 * (double)s->chains.value;
}

enum fit_status fit_config_finish(struct fit_config *cfg, struct fit_config_log *log,
                                  struct fit_error *err)
{
    struct fit_config_log own;
    struct fit_error own_err = {0};
    fit_config_log_init(&own);
    struct fit_cfg_reader r = {
        .cfg = cfg, .log = log ? log : &own, .err = err ? err : &own_err, .path = ""};
    r.source = FIT_FROM_FILE;
    const size_t first = r.log->n;
    fit_cfg_check_links(&r);
    check_params(&r);
    check_frames(&r);
    choose_time_origin(&r);
    if (!is_wrong_data(&r))
        check_settings(&r);
    check_scaling(&r);
    note_average(&r);
    complete_sampling(cfg);
    if (cfg->angles.nrange && !cfg->angles.filter.value && !fit_given(cfg->angles.filter.from) &&
        !cfg->angles.list.n && r.log->nerror == 0) {
        r.source = FIT_FROM_FILE;
        fit_cfg_note(&r, cfg->angles.range[0].from.line, cfg->angles.range[0].from.column,
                     "target_ranges are not used: phi_filtering.enabled is not given");
    }
    const enum fit_status st = fit_cfg_status(&r, FIT_ERR_CONFIG, first);
    fit_config_log_free(&own);
    return st;
}
