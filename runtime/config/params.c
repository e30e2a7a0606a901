/* params.c -- starts, bounds, priors, fixed and tied parameters, settings: by the model's names.
 *
 * Two forms are read: lists (parameter_space.bounds and initial_parameters of homodyne and xpcsjax) and one entry
 * per parameter (`parameters:` of heterodyne, with or without groups). Where both give the same bound, the second
 * takes precedence, as in heterodyne. Any alias of a parameter is accepted; two spellings of one parameter in the
 * same place are an error. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/nearest.h"
#include "base/units.h"
#include "config/config_impl.h"
#include "model/prior.h"
#include "model/registry.h"

/* ---- Names ----------------------------------------------------------------------------------- */

int fit_config_axis_index(const struct fit_kernel *kernel, const char *name)
{
    for (size_t a = 0; a < kernel->naxis; a++)
        if (strcmp(kernel->axis[a].name, name) == 0)
            return (int)a;
    return -1;
}

int fit_config_param_index(const struct fit_kernel *kernel, const char *name)
{
    const size_t n = kernel->nparam + kernel->nlinear;
    for (size_t i = 0; i < n; i++)
        if (strcmp(fit_kernel_unknown(kernel, i)->name, name) == 0)
            return (int)i;
    for (size_t i = 0; i < n; i++) {
        const char *const *alias = fit_kernel_unknown(kernel, i)->alias;
        for (; alias && *alias; alias++)
            if (strcmp(*alias, name) == 0)
                return (int)i;
    }
    return -1;
}

int fit_cfg_setting_index(const struct fit_kernel *k, const char *name)
{
    for (size_t i = 0; i < k->nsetting; i++)
        if (strcmp(k->setting[i].name, name) == 0)
            return (int)i;
    return -1;
}

struct fit_cfg_real *fit_cfg_setting(struct fit_config *cfg, size_t i)
{
    const char *name = cfg->kernel->setting[i].name;
    if (!fit_units_means(name, cfg->kernel->setting[i].unit))
        return &cfg->setting[i];
    if (strcmp(name, "q") == 0)
        return &cfg->input.q;
    if (strcmp(name, "gap") == 0)
        return &cfg->input.gap;
    if (strcmp(name, "dt") == 0)
        return &cfg->input.dt;
    return &cfg->setting[i];
}

double fit_cfg_kept(struct fit_config *cfg, size_t i, double value)
{
    const struct fit_setting *s = &cfg->kernel->setting[i];
    return fit_cfg_setting(cfg, i) == &cfg->setting[i] ? value : fit_units_from_model(s->name, s->unit, value);
}

static void offer_param(struct nearest *near, const struct fit_param *p)
{
    nearest_offer(near, p->name);
    for (const char *const *alias = p->alias; alias && *alias; alias++)
        nearest_offer(near, *alias);
}

int fit_cfg_param_named(struct fit_cfg_reader *r, const char *name, unsigned line, unsigned column)
{
    const struct fit_kernel *k = r->cfg->kernel;
    const int i = fit_config_param_index(k, name);
    if (i >= 0)
        return i;
    struct nearest near = {.name = name};
    for (size_t j = 0; j < k->nparam + k->nlinear; j++)
        offer_param(&near, fit_kernel_unknown(k, j));
    if (near.best)
        fit_cfg_error_at(r, line, column,
                         "%s: the model %s has no parameter '%.60s'; did you mean '%s'?", r->path,
                         k->name, name, near.best);
    else
        fit_cfg_error_at(r, line, column,
                         "%s: the model %s has no parameter '%.60s' (see the command info)",
                         r->path, k->name, name);
    return -1;
}

static int param_of_node(struct fit_cfg_reader *r, const struct fit_yaml *node)
{
    if (!fit_cfg_want(r, node, FIT_YAML_SCALAR, "the name of a parameter"))
        return -1;
    return fit_cfg_param_named(r, node->text, node->line, node->column);
}

/* Marks parameter i as seen in this place; 0 after an error when it was there already. */
static int first_time(struct fit_cfg_reader *r, unsigned *line, int i, unsigned now,
                      unsigned column)
{
    if (line[i]) {
        fit_cfg_error_at(r, now, column,
                         "%s: %s is given twice (first in line %u; other spellings count)", r->path,
                         r->cfg->param[i].declared->name, line[i]);
        return 0;
    }
    line[i] = now ? now : 1;
    return 1;
}

static unsigned *new_marks(struct fit_cfg_reader *r)
{
    return fit_cfg_alloc(r, (r->cfg->nparam + r->cfg->nlinear + 1) * sizeof(unsigned));
}

static const struct fit_yaml *value_or_null(const struct fit_yaml *map, const char *key)
{
    const struct fit_yaml *v = fit_yaml_get(map, key);
    return v && !fit_yaml_is_null(v) ? v : NULL;
}

/* ---- Single values --------------------------------------------------------------------------- */

/* Labels in the templates of the packages that differ slightly from the unit: a dash for dimensionless numbers, and in
 * those of heterodyne and xpcsjax units with powers. Lengths are in angstrom and times in s in all of them, as in the
 * model.
 */
static int is_template_label(const struct fit_kernel *k, const char *label)
{
    static const char *const known[] = {"Å²/s^α", "Å/s^β", "Å²", "dimensionless"};
    for (size_t i = 0; k->peer == FIT_PEER_HETERODYNE && i < sizeof known / sizeof *known; i++)
        if (strcmp(label, known[i]) == 0)
            return 1;
    return strcmp(label, "—") == 0 || strcmp(label, "-") == 0;
}

/* A number in the parameter's unit; label: unit written beside it (`unit: nm^2/s`), or NULL. */
static int param_number(struct fit_cfg_reader *r, int i, const struct fit_yaml *node,
                        const char *label, double *value)
{
    const char *unit = r->cfg->param[i].declared->unit;
    struct fit_unit_factor f;
    int bare;
    if (!fit_cfg_get_real(r, node, unit, value, &bare))
        return 0;
    const enum fit_quantity kind = bare && label && !is_template_label(r->cfg->kernel, label)
                                       ? fit_unit_between(label, unit, &f)
                                       : FIT_QUANTITY_BARE;
    if (kind == FIT_QUANTITY_NO_UNIT || kind == FIT_QUANTITY_OTHER_KIND) {
        fit_cfg_error(r, node, "%s: unit '%.60s' of %s %s; expected is %s", r->path, label,
                      r->cfg->param[i].declared->name, fit_quantity_why(kind), unit);
        return 0;
    }
    if (kind == FIT_QUANTITY_CONVERTED)
        *value = fit_unit_apply(f, *value);
    return 1;
}

static void set_start(struct fit_cfg_reader *r, int i, const struct fit_yaml *node,
                      const char *label, const char *written)
{
    struct fit_config_param *p = &r->cfg->param[i];
    double value;
    if (!param_number(r, i, node, label, &value))
        return;
    if (!isfinite(value)) {
        fit_cfg_error(r, node, "%s: the start of %s is infinite", r->path, p->declared->name);
        return;
    }
    p->start = (struct fit_cfg_real){value, fit_cfg_origin(r, node)};
    p->automatic = 0;
    if (strcmp(written, p->declared->name) != 0)
        p->written = fit_cfg_copy(r, written);
}

static void set_bound(struct fit_cfg_reader *r, int i, struct fit_cfg_real *bound,
                      const struct fit_yaml *node, const char *label)
{
    double value;
    if (param_number(r, i, node, label, &value))
        *bound = (struct fit_cfg_real){value, fit_cfg_origin(r, node)};
}

/* ---- Priors ---------------------------------------------------------------------------------- */

struct prior_text {
    const struct fit_yaml *type, *mu, *sigma; /* NULL: not given */
};

/* Shape parameters of a beta distribution on the bounds with this mean and standard deviation; (2,
 * 2) when there is none. */
static void beta_by_moments(double lower, double upper, double mu, double sigma, double *a,
                            double *b)
{
    const double m = (mu - lower) / (upper - lower), s = sigma / (upper - lower),
                 c = m * (1 - m) / (s * s) - 1;
    const int possible = m > 0 && m < 1 && c > 0 && isfinite(c);
    *a = possible ? m * c : 2;
    *b = possible ? (1 - m) * c : 2;
}

/* Mean and deviation of a logarithm: the unit of the label is a factor, which shifts only the mean. */
static int log_numbers(struct fit_cfg_reader *r, int i, struct prior_text t, const char *label, double *mu,
                       double *sigma)
{
    int bare;
    double one = 1;
    struct fit_unit_factor f;
    if ((t.mu && !fit_cfg_get_real(r, t.mu, "1", mu, &bare)) ||
        (t.sigma && !fit_cfg_get_real(r, t.sigma, "1", sigma, &bare)))
        return 0;
    if (label && !is_template_label(r->cfg->kernel, label) &&
        fit_unit_between(label, r->cfg->param[i].declared->unit, &f) == FIT_QUANTITY_CONVERTED)
        one = fit_unit_apply(f, 1);
    *mu += t.mu ? log(one) : 0;
    return 1;
}

static int prior_numbers(struct fit_cfg_reader *r, int i, struct prior_text t, const char *label, double *mu,
                         double *sigma)
{
    return (!t.mu || param_number(r, i, t.mu, label, mu)) && (!t.sigma || param_number(r, i, t.sigma, label, sigma));
}

/* By default the mean is the centre of the bounds and the deviation a quarter of their distance, as in the packages;
 * the type is a truncated normal. */
static void set_prior(struct fit_cfg_reader *r, int i, struct prior_text t, const char *label)
{
    struct fit_config_param *p = &r->cfg->param[i];
    const double lower = p->lower.value, upper = p->upper.value;
    double mu = 0.5 * (lower + upper), sigma = 0.25 * (upper - lower);
    int kind = FIT_PRIOR_TRUNCATED_NORMAL;
    const struct fit_yaml *at = t.type ? t.type : t.mu ? t.mu : t.sigma;
    if (!at || (t.type && !fit_cfg_get_word(r, t.type, fit_cfg_word_prior, &kind)))
        return;
    if (kind == FIT_PRIOR_LOG_NORMAL && !(t.mu && t.sigma)) {
        fit_cfg_error(r, at, "%s: the prior of %s needs mean and deviation of the logarithm", r->path,
                      p->declared->name);
        return;
    }
    if (!(kind == FIT_PRIOR_LOG_NORMAL ? log_numbers : prior_numbers)(r, i, t, label, &mu, &sigma))
        return;
    if (!t.sigma &&
        !(sigma > 0 && isfinite(sigma))) /* no finite box: the model's own prior stays */
        return;
    if (fit_prior_numbers(kind) == 0) {
        mu = sigma = 0;
    } else if (!isfinite(mu) || !(sigma > 0) || !isfinite(sigma)) {
        fit_cfg_error(r, at, "%s: the prior of %s needs a finite mean and a positive deviation",
                      r->path, p->declared->name);
        return;
    }
    p->prior = (struct fit_cfg_choice){kind, fit_cfg_origin(r, at)};
    p->prior_a = mu;
    p->prior_b = sigma;
    if (kind == FIT_PRIOR_BETA_SCALED)
        beta_by_moments(lower, upper, mu, sigma, &p->prior_a, &p->prior_b);
    if (fit_prior_numbers(kind) == 1)
        p->prior_a = 0;
}

/* ---- parameter_space.bounds ------------------------------------------------------------------ */

static int known_key(struct fit_cfg_reader *r, const struct fit_yaml_entry *e,
                     const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(e->key, names[i]) == 0)
            return 1;
    const char *near = nearest_of(e->key, names, n);
    if (r->lax)
        fit_cfg_note(r, e->line, e->column, "%s: unknown key '%.60s' is not read", r->path, e->key);
    else
        fit_cfg_error_at(r, e->line, e->column, "%s: unknown key '%.60s'%s%s%s", r->path, e->key,
                         near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    return 0;
}

static const char *label_of(const struct fit_yaml *map)
{
    const struct fit_yaml *unit = value_or_null(map, "unit");
    return unit && unit->kind == FIT_YAML_SCALAR ? unit->text : NULL;
}

static void bounds_entry(struct fit_cfg_reader *r, const struct fit_yaml *node, unsigned *marks)
{
    static const char *const names[] = {"name",      "min",         "max",  "type",
                                        "prior_mu",  "prior_sigma", "unit", "description",
                                        "log_space", "default"};
    if (!fit_cfg_want(r, node, FIT_YAML_MAP, "an entry {name, min, max}"))
        return;
    for (size_t k = 0; k < node->n; k++)
        known_key(r, &node->entry[k], names, sizeof names / sizeof *names);
    const struct fit_yaml *name = fit_yaml_get(node, "name");
    if (!name) {
        fit_cfg_error(r, node, "%s: an entry without name", r->path);
        return;
    }
    const int i = param_of_node(r, name);
    if (i < 0 || !first_time(r, marks, i, name->line, name->column))
        return;
    struct fit_config_param *p = &r->cfg->param[i];
    const struct fit_yaml *lower = value_or_null(node, "min"), *upper = value_or_null(node, "max");
    if (lower)
        set_bound(r, i, &p->lower, lower, label_of(node));
    if (upper)
        set_bound(r, i, &p->upper, upper, label_of(node));
    set_prior(r, i,
              (struct prior_text){value_or_null(node, "type"), value_or_null(node, "prior_mu"),
                                  value_or_null(node, "prior_sigma")},
              label_of(node));
}

static void read_bounds(struct fit_cfg_reader *r)
{
    const struct fit_yaml *node = fit_cfg_seen(r, "parameter_space.bounds");
    unsigned *marks = node ? new_marks(r) : NULL;
    if (!marks || !fit_cfg_want(r, node, FIT_YAML_LIST, "a list of entries {name, min, max}"))
        return;
    for (size_t k = 0; k < node->n; k++)
        bounds_entry(r, node->entry[k].value, marks);
}

/* ---- initial_parameters ---------------------------------------------------------------------- */

static void values_by_order(struct fit_cfg_reader *r, const struct fit_yaml *values)
{
    if (values->n != r->cfg->nparam) {
        fit_cfg_error(r, values,
                      "%s: %zu values without parameter_names; the model %s has %zu parameters",
                      r->path, values->n, r->cfg->kernel->name, r->cfg->nparam);
        return;
    }
    fit_cfg_note(r, values->line, values->column,
                 "values without parameter_names are taken in the model's order");
    for (size_t k = 0; k < values->n; k++)
        if (!fit_yaml_is_null(values->entry[k].value))
            set_start(r, (int)k, values->entry[k].value, NULL, r->cfg->param[k].declared->name);
}

static void values_by_name(struct fit_cfg_reader *r, const struct fit_yaml *map, unsigned *marks)
{
    for (size_t k = 0; k < map->n; k++) {
        const struct fit_yaml_entry *e = &map->entry[k];
        const int i = fit_cfg_param_named(r, e->key, e->line, e->column);
        if (i >= 0 && first_time(r, marks, i, e->line, e->column) && !fit_yaml_is_null(e->value))
            set_start(r, i, e->value, NULL, e->key);
    }
}

static void read_values(struct fit_cfg_reader *r)
{
    const struct fit_yaml *names = fit_cfg_seen(r, "initial_parameters.parameter_names");
    unsigned *marks = new_marks(r);
    if (!marks || (names && !fit_cfg_want(r, names, FIT_YAML_LIST, "a list of names")))
        return;
    const struct fit_yaml *values = fit_cfg_seen(r, "initial_parameters.values");
    if (values && values->kind == FIT_YAML_MAP) {
        values_by_name(r, values, marks);
        return;
    }
    if (values && !fit_cfg_want(r, values, FIT_YAML_LIST, "a list of numbers (or null)"))
        return;
    if (values && !names) {
        values_by_order(r, values);
        return;
    }
    if (values && values->n != names->n) {
        fit_cfg_error(r, values, "%s: %zu values for %zu parameter_names (line %u)", r->path,
                      values->n, names->n, names->line);
        values = NULL;
    }
    for (size_t k = 0; names && k < names->n; k++) {
        const struct fit_yaml *name = names->entry[k].value;
        r->path = "initial_parameters.parameter_names";
        const int i = param_of_node(r, name);
        if (i < 0 || !first_time(r, marks, i, name->line, name->column))
            continue;
        r->path = "initial_parameters.values";
        if (values && !fit_yaml_is_null(values->entry[k].value))
            set_start(r, i, values->entry[k].value, NULL, name->text);
    }
}

static void read_per_angle(struct fit_cfg_reader *r)
{
    const struct fit_yaml *node = fit_cfg_seen(r, "initial_parameters.per_angle_scaling");
    if (!node || !fit_cfg_want(r, node, FIT_YAML_MAP, "a section (contrast: [..], offset: [..])"))
        return;
    for (size_t k = 0; k < node->n; k++) {
        const struct fit_yaml_entry *e = &node->entry[k];
        if (fit_yaml_is_null(e->value))
            continue;
        const int i = fit_cfg_param_named(r, e->key, e->line, e->column);
        if (i < 0)
            continue;
        struct fit_config_param *p = &r->cfg->param[i];
        if ((size_t)i < r->cfg->nparam)
            fit_cfg_error(r, e->value, "%s: %s is not a scaling of single angles", r->path,
                          p->declared->name);
        else if (fit_cfg_get_reals(r, e->value, p->declared->unit, &p->list) && p->list.n)
            p->automatic = 0;
    }
}

/* ---- Fixed, tied ----------------------------------------------------------------------------- */

static void fix(struct fit_cfg_reader *r, int i, const struct fit_yaml *at, int fixed)
{
    r->cfg->param[i].fixed = (struct fit_cfg_flag){fixed, fit_cfg_origin(r, at)};
}

static void read_fixed(struct fit_cfg_reader *r)
{
    const struct fit_yaml *node = fit_cfg_seen(r, "initial_parameters.fixed_parameters");
    if (!node)
        return;
    if (node->kind == FIT_YAML_SCALAR) {
        const int i = param_of_node(r, node);
        if (i >= 0)
            fix(r, i, node, 1);
        return;
    }
    for (size_t k = 0; k < node->n; k++) {
        const struct fit_yaml_entry *e = &node->entry[k];
        const int map = node->kind == FIT_YAML_MAP;
        const int i =
            map ? fit_cfg_param_named(r, e->key, e->line, e->column) : param_of_node(r, e->value);
        if (i < 0)
            continue;
        fix(r, i, e->value, 1);
        if (map && !fit_yaml_is_null(e->value))
            set_start(r, i, e->value, NULL, e->key);
    }
}

/* Parameters that are not in the list are fixed. */
static void read_active(struct fit_cfg_reader *r)
{
    const struct fit_yaml *node = fit_cfg_seen(r, "initial_parameters.active_parameters");
    unsigned *marks = node ? new_marks(r) : NULL;
    if (!marks || !fit_cfg_want(r, node, FIT_YAML_LIST, "a list of names") || !node->n)
        return;
    int ok = 1;
    for (size_t k = 0; k < node->n; k++) {
        const struct fit_yaml *e = node->entry[k].value;
        const int i = param_of_node(r, e);
        ok &= i >= 0 && first_time(r, marks, i, e->line, e->column);
    }
    for (size_t i = 0; ok && i < r->cfg->nparam; i++)
        if (!marks[i])
            fix(r, (int)i, node, 1);
}

/* ---- parameters: ----------------------------------------------------------------------------- */

static const char *const param_keys[] = {
    "value",  "start",     "min",      "max",         "lower",        "upper",
    "bounds", "vary",      "fixed",    "tie",         "tied_to",      "prior",
    "type",   "unit",      "prior_mu", "prior_sigma", "prior_params", "description",
    "name",   "log_space", "scale",    "per_angle",   "share"};

static const struct fit_yaml *first_of(const struct fit_yaml *map, const char *a, const char *b)
{
    const struct fit_yaml *v = value_or_null(map, a);
    return v ? v : value_or_null(map, b);
}

static void param_bounds(struct fit_cfg_reader *r, int i, const struct fit_yaml *map)
{
    struct fit_config_param *p = &r->cfg->param[i];
    const struct fit_yaml *lower = first_of(map, "min", "lower"),
                          *upper = first_of(map, "max", "upper");
    const struct fit_yaml *both = value_or_null(map, "bounds");
    if (both) {
        if (both->kind != FIT_YAML_LIST || both->n != 2) {
            fit_cfg_error(r, both, "%s: bounds are written [lower, upper]", r->path);
            return;
        }
        lower = fit_yaml_is_null(both->entry[0].value) ? lower : both->entry[0].value;
        upper = fit_yaml_is_null(both->entry[1].value) ? upper : both->entry[1].value;
    }
    if (lower)
        set_bound(r, i, &p->lower, lower, label_of(map));
    if (upper)
        set_bound(r, i, &p->upper, upper, label_of(map));
}

/* prior: normal | {type, mu, sigma}; prior_params: {mu, sigma} or {loc, scale} or {mean, std} or
 * {low, high}. */
static void param_prior(struct fit_cfg_reader *r, int i, const struct fit_yaml *map)
{
    struct prior_text t = {first_of(map, "type", "prior"), value_or_null(map, "prior_mu"),
                           value_or_null(map, "prior_sigma")};
    const struct fit_yaml *params = value_or_null(map, "prior_params");
    if (t.type && t.type->kind == FIT_YAML_MAP) {
        params = t.type;
        t.type = value_or_null(params, "type");
    }
    static const char *const mu[] = {"mu", "loc", "mean"}, *const sigma[] = {"sigma", "scale",
                                                                             "std"};
    for (size_t k = 0; params && k < 3; k++) {
        t.mu = t.mu ? t.mu : value_or_null(params, mu[k]);
        t.sigma = t.sigma ? t.sigma : value_or_null(params, sigma[k]);
    }
    set_prior(r, i, t, label_of(map));
}

static void param_section(struct fit_cfg_reader *r, int i, const struct fit_yaml_entry *e)
{
    const struct fit_yaml *map = e->value, *v;
    int flag;
    for (size_t k = 0; k < map->n; k++)
        known_key(r, &map->entry[k], param_keys, sizeof param_keys / sizeof *param_keys);
    param_bounds(r, i, map);
    if ((v = first_of(map, "value", "start")) != NULL)
        set_start(r, i, v, label_of(map), e->key);
    if ((v = value_or_null(map, "per_angle")) != NULL && (size_t)i >= r->cfg->nparam)
        fit_cfg_get_reals(r, v, r->cfg->param[i].declared->unit, &r->cfg->param[i].list);
    param_prior(r, i, map);
    if ((v = value_or_null(map, "vary")) != NULL && fit_cfg_get_flag(r, v, &flag))
        fix(r, i, v, !flag);
    if ((v = value_or_null(map, "fixed")) != NULL && fit_cfg_get_flag(r, v, &flag))
        fix(r, i, v, flag);
    if ((v = first_of(map, "tie", "tied_to")) != NULL)
        fit_cfg_tie(r, i, v);
    if ((v = value_or_null(map, "share")) != NULL)
        fit_cfg_share(r, i, v);
}

/* True when the map holds parameters, false when it holds the keys of one. */
static int is_group(const struct fit_yaml *node)
{
    if (node->kind != FIT_YAML_MAP)
        return 0;
    for (size_t k = 0; k < node->n; k++)
        for (size_t j = 0; j < sizeof param_keys / sizeof *param_keys; j++)
            if (strcmp(node->entry[k].key, param_keys[j]) == 0)
                return 0;
    return 1;
}

static void params_map(struct fit_cfg_reader *r, const struct fit_yaml *map, int depth,
                       unsigned *marks)
{
    for (size_t k = 0; k < map->n; k++) {
        const struct fit_yaml_entry *e = &map->entry[k];
        const int known = fit_config_param_index(r->cfg->kernel, e->key) >= 0;
        if (!known && depth == 0 && is_group(e->value) && e->value->n) {
            params_map(r, e->value, 1, marks);
            continue;
        }
        const int i = fit_cfg_param_named(r, e->key, e->line, e->column);
        if (i < 0 || !first_time(r, marks, i, e->line, e->column) || fit_yaml_is_null(e->value))
            continue;
        if (e->value->kind == FIT_YAML_MAP)
            param_section(r, i, e);
        else if (e->value->kind == FIT_YAML_SCALAR)
            set_start(r, i, e->value, NULL, e->key);
        else
            fit_cfg_error(r, e->value,
                          "parameters.%.60s: expected a number or {value, min, max, vary}",
                          e->key);
    }
}

static void read_parameters(struct fit_cfg_reader *r)
{
    const struct fit_yaml *node = fit_cfg_seen(r, "parameters");
    unsigned *marks = node ? new_marks(r) : NULL;
    if (marks && fit_cfg_want(r, node, FIT_YAML_MAP, "a section (name: {value, min, max})"))
        params_map(r, node, 0, marks);
}

/* One value for each of several data files. Settings given by the files themselves have none here. */
static void read_setting_list(struct fit_cfg_reader *r, size_t i, const struct fit_yaml *node)
{
    const struct fit_setting *s = &r->cfg->kernel->setting[i];
    struct fit_cfg_reals list;
    if (fit_cfg_setting(r->cfg, i) == &r->cfg->input.dt) {
        fit_cfg_error(r, node, "settings: dt is that of the files, the same for all");
        return;
    }
    if (!fit_cfg_get_reals(r, node, s->unit, &list) || !list.n)
        return;
    r->cfg->setting_list[i] = list;
    fit_cfg_set_real(r, fit_cfg_setting(r->cfg, i), node, fit_cfg_kept(r->cfg, i, list.value[0]), 0);
}

/* ---- settings: ------------------------------------------------------------------------------- */

static void read_settings(struct fit_cfg_reader *r)
{
    const struct fit_kernel *k = r->cfg->kernel;
    const struct fit_yaml *node = fit_cfg_seen(r, "settings");
    if (!node || !fit_cfg_want(r, node, FIT_YAML_MAP, "a section (name: value)"))
        return;
    for (size_t j = 0; j < node->n; j++) {
        const struct fit_yaml_entry *e = &node->entry[j];
        const int i = fit_cfg_setting_index(k, e->key);
        if (i < 0) {
            struct nearest near = {.name = e->key};
            for (size_t s = 0; s < k->nsetting; s++)
                nearest_offer(&near, k->setting[s].name);
            fit_cfg_error_at(r, e->line, e->column,
                             "settings: the model %s has no setting '%.60s'%s%s%s", k->name, e->key,
                             near.best ? "; did you mean '" : "", near.best ? near.best : "",
                             near.best ? "'?" : "");
            continue;
        }
        double value;
        int bare;
        if (e->value->kind == FIT_YAML_LIST) {
            read_setting_list(r, (size_t)i, e->value);
            continue;
        }
        if (fit_yaml_is_null(e->value) ||
            !fit_cfg_get_real(r, e->value, k->setting[i].unit, &value, &bare))
            continue;
        struct fit_cfg_real *x = fit_cfg_setting(r->cfg, (size_t)i);
        value = fit_cfg_kept(r->cfg, (size_t)i, value);
        fit_cfg_set_real(r, x, e->value, value, 0);
        if (x->value == value)
            x->from.bare = bare;
    }
}

void fit_cfg_later_params(struct fit_cfg_reader *r)
{
    read_bounds(r);
    read_parameters(r);
    read_values(r);
    read_per_angle(r);
    read_active(r);
    read_fixed(r);
    fit_cfg_later_links(r);
    read_settings(r);
}
