/* model_keys.c -- keys that can be read only when the whole file is known: angles, conventions of the packages; and
 * rows of kind READ. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/nearest.h"
#include "config/config_impl.h"

/* ---- Angles ---------------------------------------------------------------------------------- */

/* The ends of a range written as {min_angle, max_angle, description}. */
static void ends_of_map(struct fit_cfg_reader *r, const struct fit_yaml *node, const struct fit_yaml **lo,
                        const struct fit_yaml **hi)
{
    static const char *const names[] = {"min_angle", "max_angle", "description"};
    for (size_t i = 0; node->kind == FIT_YAML_MAP && i < node->n; i++) {
        const struct fit_yaml_entry *e = &node->entry[i];
        const char *near = nearest_of(e->key, names, 3);
        if (strcmp(e->key, names[0]) == 0)
            *lo = e->value;
        else if (strcmp(e->key, names[1]) == 0)
            *hi = e->value;
        else if (strcmp(e->key, names[2]) != 0)
            fit_cfg_error_at(r, e->line, e->column, "%s: unknown key '%.60s'%s%s%s", r->path, e->key,
                             near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
}

/* A range: {min_angle, max_angle, description}, [min, max], or one angle +- tolerance. */
static int angle_range(struct fit_cfg_reader *r, const struct fit_yaml *node, double tolerance,
                       struct fit_angle_range *out)
{
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
    ends_of_map(r, node, &lo, &hi);
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

/* All differences of a package: both triangles, sigma 0.01 (homodyne), first frame left out (homodyne, xpcsjax with
 * two components), its smooth |x|, its files. */
static void imply_peer(struct fit_cfg_reader *r, enum fit_peer peer)
{
    struct fit_config *cfg = r->cfg;
    imply_flag(&cfg->compat.full_matrix, peer != FIT_PEER_NONE);
    imply_flag(&cfg->compat.parity, peer != FIT_PEER_NONE);
    imply_flag(&cfg->compat.files, peer != FIT_PEER_NONE);
    imply_flag(&cfg->compat.exclude_t0,
               peer == FIT_PEER_HOMODYNE ||
                   (peer == FIT_PEER_XPCSJAX && cfg->kernel->peer == FIT_PEER_HETERODYNE));
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
    static const char *const words[] = {"full_matrix", "homodyne_old_q10", "exclude_t0", "parity"};
    struct fit_config *cfg = r->cfg;
    const struct fit_origin from = fit_cfg_origin(r, node);
    char word[64] = "";
    if (!fit_cfg_want(r, node, FIT_YAML_SCALAR, "a word"))
        return;
    snprintf(word, sizeof word, "%.63s", node->text);
    char *version = strpbrk(word, "-=");
    if (version && version[1] >= '0' && version[1] <= '9')
        *version = 0;
    struct nearest near = {.name = word};
    for (int i = 0; fit_peer_names[i]; i++) {
        nearest_offer(&near, fit_peer_names[i]);
        if (same_word(word, fit_peer_names[i])) {
            cfg->compat.peer = (struct fit_cfg_choice){i, from};
            return;
        }
    }
    size_t i = 0;
    for (; i < 4 && !same_word(word, words[i]); i++)
        nearest_offer(&near, words[i]);
    switch (i) {
    case 0: cfg->compat.full_matrix = (struct fit_cfg_flag){1, from}; break;
    case 1: cfg->input.q_rule = (struct fit_cfg_choice){FIT_Q_HOMODYNE_OLD, from}; break;
    case 2: cfg->compat.exclude_t0 = (struct fit_cfg_flag){1, from}; break;
    case 3: cfg->compat.parity = (struct fit_cfg_flag){1, from}; break;
    default:
        fit_cfg_error(r, node, "compat: unknown word '%.60s'; %s%s%s", node->text,
                      near.best ? "did you mean '" : "possible are homodyne-2.23, heterodyne-2.0.1, xpcsjax-0.1.8",
                      near.best ? near.best : "", near.best ? "'?" : "");
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
        fit_cfg_note(r, node->line, node->column, "%s = %.60s is not a number of angles; 3 is used",
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
