/* model_keys.c -- what can only be read when the whole file has been seen: the model, angles,
 * conventions of the packages; and rows of kind READ. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../common/nearest.h"
#include "config/config_impl.h"

/* ---- The model ------------------------------------------------------------------------------- */

static const struct {
    const char *written, *canonical;
} modes[] = {{"static", "static_anisotropic"},
             {"static_isotropic", "static_isotropic"},
             {"static_anisotropic", "static_anisotropic"},
             {"laminar", "laminar"},
             {"laminar_flow", "laminar"},
             {"two_component", "heterodyne"},
             {"heterodyne", "heterodyne"}};

const char *fit_config_canonical_mode(const char *name)
{
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (same_word(name, modes[i].written))
            return modes[i].canonical;
    return name;
}

const char *fit_config_other_mode(const char *canonical)
{
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strcmp(modes[i].canonical, canonical) == 0 && strcmp(modes[i].written, canonical) != 0)
            return modes[i].written;
    return NULL;
}

const char *fit_config_near_mode(const char *name)
{
    struct nearest near = {.name = name};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        nearest_offer(&near, modes[i].written);
    return near.best;
}

/* True when kernel is `name`, or a variation of it: name_something. */
static int is_variation(const char *kernel, const char *name)
{
    const size_t n = strlen(name);
    return strncmp(kernel, name, n) == 0 && (!kernel[n] || kernel[n] == '_');
}

int fit_config_of_packages(const struct fit_kernel *kernel)
{
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (is_variation(kernel->name, modes[i].canonical))
            return 1;
    return 0;
}

/* homodyne knows one static mode; both static models here may read its files. */
static int fits_kernel(const char *written, const char *kernel)
{
    if (is_variation(kernel, written) || is_variation(kernel, fit_config_canonical_mode(written)))
        return 1;
    return same_word(written, "static") && is_variation(kernel, "static_isotropic");
}

/* Is there a program for this mode?  Else *meant is the nearest mode, or NULL. */
static int is_known(const char *written, const char **meant)
{
    struct nearest near = {.name = written};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        nearest_offer(&near, modes[i].written);
    nearest_offer(&near, "laminar_theory");
    *meant = near.best;
    return near.best && near.distance == 0;
}

/* Legacy switch: static_mode: true | false, static_submode: isotropic | anisotropic. */
static const char *legacy_mode(const struct fit_yaml *flag, const struct fit_yaml *submode)
{
    if (!flag || flag->kind != FIT_YAML_SCALAR)
        return NULL;
    if (!same_word(flag->text, "true"))
        return same_word(flag->text, "false") ? "laminar_flow" : NULL;
    if (submode && submode->kind == FIT_YAML_SCALAR && same_word(submode->text, "isotropic"))
        return "static_isotropic";
    return "static";
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
    if (fits_kernel(written, k->name)) {
        r->cfg->mode.from = fit_cfg_origin(r, at);
        return 1;
    }
    const char *meant = NULL;
    if (is_known(written, &meant))
        fit_cfg_error(r, at, "%s is '%.60s', and this program fits '%s'; run homodyne-%s", r->path,
                      written, k->name, fit_config_canonical_mode(written));
    else if (meant)
        fit_cfg_error(r, at, "%s is '%.60s', and this program fits '%s'; did you mean '%s'?",
                      r->path, written, k->name, meant);
    else
        fit_cfg_error(r, at, "%s is '%.60s', and this program fits '%s'", r->path, written,
                      k->name);
    return 0;
}

/* ---- Angles ---------------------------------------------------------------------------------- */

/* A range: {min_angle, max_angle, description}, [min, max], or one angle +- tolerance. */
static int angle_range(struct fit_cfg_reader *r, const struct fit_yaml *node, double tolerance,
                       struct fit_angle_range *out)
{
    static const char *const names[] = {"min_angle", "max_angle", "description"};
    int bare;
    out->from = fit_cfg_origin(r, node);
    if (node->kind == FIT_YAML_SCALAR) {
        double centre;
        if (!fit_cfg_get_real(r, node, "deg", &centre, &bare))
            return 0;
        out->lower = centre - tolerance;
        out->upper = centre + tolerance;
        return isfinite(centre);
    }
    const struct fit_yaml *lo = NULL, *hi = NULL;
    if (node->kind == FIT_YAML_LIST && node->n == 2) {
        lo = node->entry[0].value;
        hi = node->entry[1].value;
    }
    for (size_t i = 0; node->kind == FIT_YAML_MAP && i < node->n; i++) {
        const struct fit_yaml_entry *e = &node->entry[i];
        const char *near = nearest_of(e->key, names, 3);
        if (strcmp(e->key, names[0]) == 0)
            lo = e->value;
        else if (strcmp(e->key, names[1]) == 0)
            hi = e->value;
        else if (strcmp(e->key, names[2]) != 0)
            fit_cfg_error_at(r, e->line, e->column, "%s: unknown key '%.60s'%s%s%s", r->path,
                             e->key, near ? "; did you mean '" : "", near ? near : "",
                             near ? "'?" : "");
    }
    if (!lo || !hi || fit_yaml_is_null(lo) || fit_yaml_is_null(hi)) {
        fit_cfg_error(r, node, "%s: a range is written {min_angle: -10, max_angle: 10}", r->path);
        return 0;
    }
    if (!fit_cfg_get_real(r, lo, "deg", &out->lower, &bare) ||
        !fit_cfg_get_real(r, hi, "deg", &out->upper, &bare))
        return 0;
    if (isfinite(out->lower) && isfinite(out->upper))
        return 1;
    fit_cfg_error(r, node, "%s: an infinite angle", r->path);
    return 0;
}

static void later_ranges(struct fit_cfg_reader *r, const char *path)
{
    struct fit_config_angles *a = &r->cfg->angles;
    double tolerance = 5; /* heterodyne's default for single angles */
    int bare;
    const struct fit_yaml *node = fit_cfg_seen(r, "phi_filtering.tolerance");
    if (node && (!fit_cfg_get_real(r, node, "deg", &tolerance, &bare) ||
                 !(tolerance >= 0 && tolerance <= 180))) {
        tolerance = 5;
        fit_cfg_error(r, node, "phi_filtering.tolerance: give 0 to 180 degrees");
    }
    node = fit_cfg_seen(r, path);
    if (!node)
        return;
    if (!fit_cfg_want(r, node, FIT_YAML_LIST, "a list of ranges"))
        return;
    struct fit_angle_range *range = fit_cfg_alloc(r, (node->n + 1) * sizeof *range);
    size_t n = 0;
    for (size_t i = 0; range && i < node->n; i++)
        n += (size_t)angle_range(r, node->entry[i].value, tolerance, &range[n]);
    if (range && (!a->nrange || r->source == FIT_FROM_COMMAND)) {
        a->range = range;
        a->nrange = n;
    }
}

void fit_cfg_later_angles(struct fit_cfg_reader *r)
{
    static const char *const lists[] = {"phi_filtering.angles",
                                        "analyzer_parameters.scattering.phi_angles",
                                        "scattering.phi_angles"};
    struct fit_config_angles *a = &r->cfg->angles;
    later_ranges(r, "phi_filtering.target_ranges");
    later_ranges(r, "optimization_config.angle_filtering.target_ranges");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const struct fit_yaml *node = fit_cfg_seen(r, lists[i]);
        struct fit_cfg_reals list;
        if (!node || !fit_cfg_get_reals(r, node, "deg", &list) || !list.n)
            continue;
        if (a->list.n && a->list.from.kind == r->source && r->source == FIT_FROM_FILE)
            fit_cfg_error(r, node, "%s: angles are already given in line %u", lists[i],
                          a->list.from.line);
        else
            a->list = list;
    }
}

/* ---- Conventions of the packages ------------------------------------------------------------- */

static void imply_flag(struct fit_cfg_flag *flag, int value)
{
    if (!fit_given(flag->from))
        *flag = (struct fit_cfg_flag){value, {.kind = FIT_FROM_COMPAT}};
}

/* Everything that a package does otherwise: both triangles, sigma 0.01
 * (homodyne), first frame left out (homodyne, xpcsjax with two components), its
 * smooth |x|, its files. */
static void imply_peer(struct fit_cfg_reader *r, enum fit_peer peer)
{
    struct fit_config *cfg = r->cfg;
    const int heterodyne_model = strcmp(cfg->kernel->name, "heterodyne") == 0;
    imply_flag(&cfg->compat.full_matrix, peer != FIT_PEER_NONE);
    imply_flag(&cfg->compat.parity, peer != FIT_PEER_NONE);
    imply_flag(&cfg->compat.files, peer != FIT_PEER_NONE);
    imply_flag(&cfg->compat.exclude_t0,
               peer == FIT_PEER_HOMODYNE || (peer == FIT_PEER_XPCSJAX && heterodyne_model));
    double *sigma = fit_cfg_alloc(r, sizeof *sigma);
    if (peer == FIT_PEER_HOMODYNE && sigma && !fit_given(cfg->input.sigma.from)) {
        const struct fit_origin from = {.kind = FIT_FROM_COMPAT};
        *sigma = 0.01;
        cfg->input.sigma = (struct fit_cfg_choice){FIT_SIGMA_VALUE, from};
        cfg->input.sigma_value = (struct fit_cfg_reals){1, sigma, from};
    }
}

/* One word of `compat:`; a version may follow the name of a package ("homodyne-2.23"). */
static void compat_word(struct fit_cfg_reader *r, const struct fit_yaml *node)
{
    static const char *const words[] = {"none",        "homodyne",         "heterodyne", "xpcsjax",
                                        "full_matrix", "homodyne_old_q10", "exclude_t0", "parity"};
    struct fit_config *cfg = r->cfg;
    char word[64] = "";
    if (!fit_cfg_want(r, node, FIT_YAML_SCALAR, "a word"))
        return;
    snprintf(word, sizeof word, "%.63s", node->text);
    char *version = strpbrk(word, "-=");
    if (version && version[1] >= '0' && version[1] <= '9')
        *version = 0;
    size_t i = 0;
    while (i < 8 && !same_word(word, words[i]))
        i++;
    const struct fit_origin from = fit_cfg_origin(r, node);
    if (i < 4) {
        cfg->compat.peer = (struct fit_cfg_choice){(int)i, from};
    } else if (i == 4) {
        cfg->compat.full_matrix = (struct fit_cfg_flag){1, from};
    } else if (i == 5) {
        cfg->input.q_rule = (struct fit_cfg_choice){FIT_Q_HOMODYNE_OLD, from};
    } else if (i == 6) {
        cfg->compat.exclude_t0 = (struct fit_cfg_flag){1, from};
    } else if (i == 7) {
        cfg->compat.parity = (struct fit_cfg_flag){1, from};
    } else {
        const char *near = nearest_of(word, words, 8);
        fit_cfg_error(r, node, "compat: unknown word '%.60s'; %s%s%s", node->text,
                      near ? "did you mean '"
                           : "possible are homodyne-2.23, heterodyne-2.0.1, xpcsjax-0.1.8",
                      near ? near : "", near ? "'?" : "");
    }
}

void fit_cfg_later_compat(struct fit_cfg_reader *r)
{
    const struct fit_yaml *node = fit_cfg_seen(r, "compat");
    if (!node)
        node = fit_cfg_seen(r, "compat.version");
    if (!node)
        return;
    if (node->kind == FIT_YAML_LIST)
        for (size_t i = 0; i < node->n; i++)
            compat_word(r, node->entry[i].value);
    else
        compat_word(r, node);
    imply_peer(r, (enum fit_peer)r->cfg->compat.peer.value);
}

/* ---- Rows of kind READ ----------------------------------------------------------------------- */

void fit_cfg_read_scaling(struct fit_cfg_reader *r, const struct fit_yaml *node)
{
    struct fit_config_scaling *s = &r->cfg->scaling;
    int value;
    if (!fit_cfg_get_word(r, node, fit_cfg_word_scaling_mode, &value))
        return;
    const int automatic = value == FIT_CFG_SCALING_AUTO;
    if (automatic)
        value = FIT_SCALING_INDIVIDUAL;
    const int same = s->automatic == automatic && s->mode.value == value;
    if (fit_cfg_claim(r, &s->mode.from, node, 0, same)) {
        s->mode.value = value;
        s->automatic = automatic;
    }
}

void fit_cfg_read_method(struct fit_cfg_reader *r, const struct fit_yaml *node)
{
    struct fit_config *cfg = r->cfg;
    int value;
    if (!fit_cfg_get_word(r, node, fit_cfg_word_method, &value))
        return;
    const int after = value == FIT_CFG_METHOD_BOTH;
    if (fit_cfg_claim(r, &cfg->method.from, node, 0, 1)) {
        cfg->method.value = after ? FIT_METHOD_NLSQ : value;
        cfg->sample_after = (struct fit_cfg_flag){after, cfg->method.from};
    }
}

void fit_cfg_read_threshold(struct fit_cfg_reader *r, const struct fit_yaml *node)
{
    double x;
    int bare;
    if (!fit_cfg_get_real(r, node, NULL, &x, &bare))
        return;
    if (x == floor(x) && x >= 1 && x <= 1e6)
        fit_cfg_set_int(r, &r->cfg->scaling.average_threshold, node, (long)x, 0);
    else
        fit_cfg_note(r, node->line, node->column, "%s = %.60s is no number of angles; 3 is used",
                     r->path, node->text);
}

static int wanted_on(struct fit_cfg_reader *r, const struct fit_yaml *node)
{
    int on = 0;
    return fit_cfg_get_flag(r, node, &on) && on;
}

void fit_cfg_refuse_filtering(struct fit_cfg_reader *r, const struct fit_yaml *node)
{
    if (wanted_on(r, node))
        fit_cfg_error(
            r, node,
            "data_filtering is not done here; choose angles with phi_filtering, frames with "
            "start_frame, end_frame and mask.frames, and set data_filtering.enabled: false");
}

void fit_cfg_refuse_preprocessing(struct fit_cfg_reader *r, const struct fit_yaml *node)
{
    if (wanted_on(r, node))
        fit_cfg_error(
            r, node,
            "preprocessing changes the data and with them contrast and offset; it is not done "
            "here. Set preprocessing.enabled: false");
}

void fit_cfg_note_quality(struct fit_cfg_reader *r, const struct fit_yaml *node)
{
    if (wanted_on(r, node))
        fit_cfg_note(r, node->line, node->column,
                     "quality_control: data are checked but never repaired; unusable frames are "
                     "masked and told");
}
