/* mode.c -- the model that a configuration names.
 *
 * Files name it by analysis_mode: the model's name, one of its aliases, or its name in a Python package, in any case
 * of letters; older files of homodyne by static_mode and static_submode; those of heterodyne not at all. The models'
 * files declare the names: fit_model_names has all of them, a kernel its own. */
#include <stdio.h>
#include <string.h>

#include "common/nearest.h"
#include "config/config_impl.h"
#include "config/model_names.h"

const char *const fit_peer_names[] = {"none", "homodyne", "heterodyne", "xpcsjax", NULL};

static int is_among(const char *word, const char *const *list)
{
    for (; list && *list; list++)
        if (same_word(word, *list))
            return 1;
    return 0;
}

static const struct fit_model_name *model_of(const char *name)
{
    const struct fit_model_name *m = fit_model_names;
    while (m->name && !same_word(name, m->name) && !is_among(name, m->alias))
        m++;
    return m->name ? m : NULL;
}

const char *fit_config_canonical_mode(const char *name)
{
    const struct fit_model_name *m = model_of(name);
    return m ? m->name : name;
}

const char *fit_config_other_mode(const char *canonical)
{
    const struct fit_model_name *m = model_of(canonical);
    return m ? *m->alias : NULL;
}

int fit_config_same_mode(const char *a, const char *b)
{
    const struct fit_model_name *x = model_of(a), *y = model_of(b);
    return strcmp(a, b) == 0 || (x && y && x->mode && y->mode && strcmp(x->mode, y->mode) == 0);
}

const char *fit_config_written_mode(const char *name)
{
    const struct fit_model_name *m = model_of(name);
    for (const struct fit_model_name *o = fit_model_names; m && m->mode && o->name; o++)
        if (o != m && o->mode && strcmp(o->mode, m->mode) == 0)
            return name; /* the packages have one name for both */
    return m && m->mode ? m->mode : name;
}

static void nearest_mode(struct nearest *near)
{
    for (const struct fit_model_name *m = fit_model_names; m->name; m++) {
        nearest_offer(near, m->name);
        for (const char *const *a = m->alias; *a; a++)
            nearest_offer(near, *a);
    }
}

const char *fit_config_near_mode(const char *name)
{
    struct nearest near = {.name = name};
    nearest_mode(&near);
    return near.best;
}

/* True when kernel is `name`, or a variant of it: name_something. */
static int is_variation(const char *kernel, const char *name)
{
    const size_t n = strlen(name);
    return strncmp(kernel, name, n) == 0 && (!kernel[n] || kernel[n] == '_');
}

static int fits_kernel(const char *written, const struct fit_kernel *k)
{
    return is_variation(k->name, written) || is_variation(k->name, fit_config_canonical_mode(written)) ||
           is_among(written, k->alias) || (k->mode && same_word(written, k->mode));
}

/* ---- Files without analysis_mode -------------------------------------------------------------- */

static const char *scalar(const struct fit_yaml *node)
{
    return node && node->kind == FIT_YAML_SCALAR && !fit_yaml_is_null(node) && *node->text ? node->text : NULL;
}

/* Older files of homodyne: static_mode: true | false, static_submode: isotropic | anisotropic. */
static const char *legacy_mode(const struct fit_yaml *flag, const struct fit_yaml *submode)
{
    static const char *const fit_peer_legacy[] = {"laminar_flow", "static", "static_isotropic"};
    const char *on = scalar(flag), *kind = scalar(submode);
    if (!on || !same_word(on, "true"))
        return on && same_word(on, "false") ? fit_peer_legacy[0] : NULL;
    return fit_peer_legacy[kind && same_word(kind, "isotropic") ? 2 : 1];
}

int fit_cfg_later_mode(struct fit_cfg_reader *r)
{
    const struct fit_kernel *k = r->cfg->kernel;
    const char *written = NULL;
    const struct fit_yaml *at = fit_cfg_seen(r, "analysis_mode");
    if (!at)
        at = fit_cfg_seen(r, "optimization.nlsq.analysis_mode");
    if (at) {
        if (!fit_cfg_get_text(r, at, &written))
            return 0;
    } else {
        const struct fit_yaml *submode = fit_cfg_seen(r, "analysis_settings.static_submode");
        at = fit_cfg_seen(r, "analysis_settings.model_description.static_mode");
        if (!at)
            at = fit_cfg_seen(r, "analysis_settings.static_mode");
        written = legacy_mode(at, submode);
    }
    if (!written)
        return 1;
    if (fits_kernel(written, k)) {
        r->cfg->mode.from = fit_cfg_origin(r, at);
        return 1;
    }
    struct nearest near = {.name = written};
    nearest_mode(&near);
    if (model_of(written))
        fit_cfg_error(r, at, "%s is '%.60s', and this program fits '%s'; run homodyne-%s", r->path, written, k->name,
                      fit_config_canonical_mode(written));
    else
        fit_cfg_error(r, at, "%s is '%.60s', and this program fits '%s'%s%s%s", r->path, written, k->name,
                      near.best ? "; did you mean '" : "", near.best ? near.best : "", near.best ? "'?" : "");
    return 0;
}

enum fit_status fit_config_detect(const char *file, char name[64], struct fit_error *err)
{
    struct fit_yaml_doc *doc;
    name[0] = 0;
    const enum fit_status st = fit_yaml_parse_file(file, &doc, err);
    if (st != FIT_OK)
        return fit_cfg_cannot_read(st, err);
    const struct fit_yaml *root = fit_yaml_root(doc), *settings = fit_yaml_get(root, "analysis_settings");
    const char *mode = scalar(fit_yaml_get(root, "analysis_mode"));
    if (!mode)
        mode = scalar(fit_yaml_get(fit_yaml_get(fit_yaml_get(root, "optimization"), "nlsq"), "analysis_mode"));
    if (!mode)
        mode = legacy_mode(fit_yaml_get(settings, "static_mode"), fit_yaml_get(settings, "static_submode"));
    if (!mode && fit_yaml_get(fit_yaml_get(root, "parameters"), "reference"))
        mode = fit_peer_names[FIT_PEER_HETERODYNE]; /* its template has no mode */
    if (mode)
        snprintf(name, 64, "%s", fit_config_canonical_mode(mode));
    fit_yaml_free(doc);
    return FIT_OK;
}
