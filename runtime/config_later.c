/* config_later.c -- what can only be read when the whole file has been seen: the model, data paths, angles,
 * masks, noise, conventions of the packages. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_impl.h"
#include "nearest.h"
#include "paths.h"

/* ---- The model ------------------------------------------------------------------------------------- */

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
        if (fit_edit_distance(name, modes[i].written, 0) == 0)
            return modes[i].canonical;
    return name;
}

/* homodyne knows one static mode; both static models here may read its files. */
static int fits_kernel(const char *written, const char *kernel)
{
    if (strcmp(written, kernel) == 0 || strcmp(fit_config_canonical_mode(written), kernel) == 0)
        return 1;
    return fit_edit_distance(written, "static", 0) == 0 && strcmp(kernel, "static_isotropic") == 0;
}

/* Legacy switch: static_mode: true | false, static_submode: isotropic | anisotropic. */
static const char *legacy_mode(const struct fit_yaml *flag, const struct fit_yaml *submode)
{
    if (!flag || flag->kind != FIT_YAML_SCALAR)
        return NULL;
    if (fit_edit_distance(flag->text, "true", 0) != 0)
        return fit_edit_distance(flag->text, "false", 0) == 0 ? "laminar_flow" : NULL;
    if (submode && submode->kind == FIT_YAML_SCALAR && fit_edit_distance(submode->text, "isotropic", 0) == 0)
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
    char model[64] = "";
    snprintf(model, sizeof model, "%.60s", fit_config_canonical_mode(written));
    fit_cfg_error(r, at, "%s is '%.60s', and this program fits '%s'; run homodyne-%s", r->path, written, k->name,
                  model);
    return 0;
}

/* ---- Data files ------------------------------------------------------------------------------------ */

void fit_cfg_set_files(struct fit_cfg_reader *r, const struct fit_yaml *at, size_t n, const char *const *written,
                       const char *beside)
{
    struct fit_config_input *in = &r->cfg->input;
    const char **path = fit_cfg_alloc(r, (n + 1) * sizeof *path);
    if (!path)
        return;
    for (size_t i = 0; i < n; i++) {
        char *resolved;
        struct fit_error err = {0};
        if (fit_path_resolve(written[i], beside, &resolved, &err) != FIT_OK) {
            fit_cfg_error(r, at, "%s", err.message);
            return;
        }
        path[i] = fit_cfg_copy(r, resolved);
        free(resolved);
    }
    in->path.n = n;
    in->path.value = path;
    in->path.from = fit_cfg_origin(r, at);
    in->path_as_written.value = n ? fit_cfg_copy(r, written[0]) : NULL;
    in->path_as_written.from = in->path.from;
}

/* Text of a row that is not empty, or NULL. */
static const char *text_of(struct fit_cfg_reader *r, const char *path, const struct fit_yaml **at)
{
    const struct fit_yaml *node = fit_cfg_seen(r, path);
    const char *text;
    if (!node || !fit_cfg_get_text(r, node, &text) || !*text)
        return NULL;
    *at = node;
    return text;
}

/* A text or a list of texts; returns their number. */
static size_t texts_of(struct fit_cfg_reader *r, const struct fit_yaml *node, const char *const **out)
{
    const int list = node->kind == FIT_YAML_LIST;
    const size_t n = list ? node->n : 1;
    const char **text = fit_cfg_alloc(r, (n + 1) * sizeof *text);
    size_t kept = 0;
    for (size_t i = 0; text && i < n; i++) {
        const struct fit_yaml *e = list ? node->entry[i].value : node;
        if (!fit_yaml_is_null(e) && fit_cfg_get_text(r, e, &text[kept]) && *text[kept])
            kept++;
    }
    *out = text;
    return text ? kept : 0;
}

static int is_there(const char *written, const char *beside)
{
    char *path;
    if (fit_path_resolve(written, beside, &path, NULL) != FIT_OK)
        return 0;
    const int there = fit_path_exists(path);
    free(path);
    return there;
}

static int same_file(const char *a, const char *b, const char *beside)
{
    char *x = NULL, *y = NULL;
    int same = fit_path_resolve(a, beside, &x, NULL) == FIT_OK &&
               fit_path_resolve(b, beside, &y, NULL) == FIT_OK && strcmp(x, y) == 0;
    free(x);
    free(y);
    return same;
}

/* folder + name of homodyne and xpcsjax; NULL when there is no name. */
static const char *folder_and_name(struct fit_cfg_reader *r, const struct fit_yaml **at)
{
    const struct fit_yaml *ignored;
    const char *folder = text_of(r, "experimental_data.data_folder_path", &ignored);
    const char *name = text_of(r, "experimental_data.data_file_name", at);
    if (!name)
        return NULL;
    char *joined = fit_path_join(folder ? folder : "", name);
    const char *copy = joined ? fit_cfg_copy(r, joined) : NULL;
    free(joined);
    return copy;
}

/* Two different files are named: the one that exists is meant; both, and we do not know. */
static const char *choose(struct fit_cfg_reader *r, const char *path, const struct fit_yaml **at,
                          const char *joined, const struct fit_yaml *joined_at)
{
    const char *beside = r->cfg->file;
    if (same_file(path, joined, beside))
        return path;
    const int first = is_there(path, beside), second = is_there(joined, beside);
    if (first && second) {
        fit_cfg_error(r, *at, "file_path names '%.200s', data_folder_path and data_file_name (line %u) name "
                              "'%.200s', and both exist; keep one",
                      path, joined_at->line, joined);
        return NULL;
    }
    fit_cfg_note(r, (*at)->line, (*at)->column, "file_path and data_folder_path + data_file_name differ; %s",
                 second  ? "the second exists and is read"
                 : first ? "the first exists and is read"
                         : "neither exists");
    if (second) {
        *at = joined_at;
        return joined;
    }
    return path;
}

static void later_files(struct fit_cfg_reader *r)
{
    static const char *const spelling[] = {"experimental_data.file_path", "data.file", "data.file_path",
                                           "data.path", "data_file"};
    const char *const *text = NULL;
    const struct fit_yaml *at = NULL, *joined_at = NULL;
    size_t n = 0;
    for (size_t i = 0; i < sizeof spelling / sizeof *spelling; i++) {
        const struct fit_yaml *node = fit_cfg_seen(r, spelling[i]);
        const char *const *found = NULL;
        const size_t nfound = node ? texts_of(r, node, &found) : 0;
        if (nfound && n) {
            fit_cfg_error(r, node, "%s: the data file is already given in line %u; keep one", spelling[i],
                          at->line);
        } else if (nfound) {
            n = nfound;
            text = found;
            at = node;
        }
    }
    const char *joined = folder_and_name(r, &joined_at), *one;
    if (n == 1 && joined) {
        one = choose(r, text[0], &at, joined, joined_at);
        text = &one;
        n = one != NULL;
    } else if (!n && joined) {
        one = joined;
        text = &one;
        at = joined_at;
        n = 1;
    }
    if (n)
        fit_cfg_set_files(r, at, n, text, r->source == FIT_FROM_FILE ? r->cfg->file : NULL);
}

/* ---- Frames, noise --------------------------------------------------------------------------------- */

/* "5", "5:9", "5..9", "5-9": 1, or 0. */
static int parse_range(const char *text, struct fit_frame_range *range)
{
    char *end;
    range->first = range->last = strtol(text, &end, 10);
    if (end == text)
        return 0;
    while (*end == ' ')
        end++;
    if (!*end)
        return 1;
    if (*end == ':' || *end == '-')
        end++;
    else if (end[0] == '.' && end[1] == '.')
        end += 2;
    else
        return 0;
    char *last = end;
    range->last = strtol(last, &end, 10);
    while (*end == ' ')
        end++;
    return end != last && !*end;
}

static int frame_range(struct fit_cfg_reader *r, const struct fit_yaml *node, struct fit_frame_range *range)
{
    int ok;
    if (node->kind == FIT_YAML_LIST) {
        ok = node->n == 2 && fit_cfg_get_int(r, node->entry[0].value, &range->first) &&
             fit_cfg_get_int(r, node->entry[1].value, &range->last);
    } else {
        ok = node->kind == FIT_YAML_SCALAR && parse_range(node->text, range);
    }
    if (!ok || range->first < 1 || range->last < range->first) {
        fit_cfg_error(r, node, "%s: frames are written 5, or 788..1000, counted from 1", r->path);
        return 0;
    }
    return 1;
}

static int by_first(const void *a, const void *b)
{
    const struct fit_frame_range *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static void later_mask(struct fit_cfg_reader *r)
{
    struct fit_config_input *in = &r->cfg->input;
    const struct fit_yaml *node = fit_cfg_seen(r, "mask");
    if (!node)
        node = fit_cfg_seen(r, "mask.frames");
    if (!node)
        return;
    const int list = node->kind == FIT_YAML_LIST;
    const size_t n = list ? node->n : 1;
    struct fit_frame_range *range = fit_cfg_alloc(r, (n + 1) * sizeof *range);
    if (!range)
        return;
    for (size_t i = 0; i < n; i++)
        if (!frame_range(r, list ? node->entry[i].value : node, &range[i]))
            return;
    if (n)
        qsort(range, n, sizeof *range, by_first);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept && range[i].first <= range[kept - 1].last + 1) {
            if (range[kept - 1].last < range[i].last)
                range[kept - 1].last = range[i].last;
        } else {
            range[kept++] = range[i];
        }
    }
    in->mask = range;
    in->nmask = kept;
    in->mask_from = fit_cfg_origin(r, node);
}

static void later_sigma(struct fit_cfg_reader *r)
{
    struct fit_config_input *in = &r->cfg->input;
    const struct fit_yaml *node = fit_cfg_seen(r, "sigma");
    double number;
    if (!node)
        return;
    struct fit_error err = {0};
    if (node->kind == FIT_YAML_SCALAR && (node->quoted || !((number = strtod(node->text, NULL)) > 0))) {
        if (fit_edit_distance(node->text, "auto", 0) == 0 || fit_edit_distance(node->text, "estimate", 0) == 0) {
            in->sigma = (struct fit_cfg_choice){FIT_SIGMA_AUTO, fit_cfg_origin(r, node)};
            return;
        }
        char *path;
        if (strtod(node->text, NULL) <= 0 && strspn(node->text, "+-.0123456789eE") == strlen(node->text)) {
            fit_cfg_error(r, node, "sigma: %.60s is not possible; give a positive number", node->text);
        } else if (fit_path_resolve(node->text, r->source == FIT_FROM_FILE ? r->cfg->file : NULL, &path, &err)) {
            fit_cfg_error(r, node, "%s", err.message);
        } else {
            in->sigma_path = (struct fit_cfg_text){fit_cfg_copy(r, path), fit_cfg_origin(r, node)};
            in->sigma = (struct fit_cfg_choice){FIT_SIGMA_FILE, fit_cfg_origin(r, node)};
            free(path);
        }
        return;
    }
    struct fit_cfg_reals value;
    if (!fit_cfg_get_reals(r, node, NULL, &value))
        return;
    for (size_t i = 0; i < value.n; i++) {
        if (!(value.value[i] > 0)) {
            fit_cfg_error(r, node, "sigma: %g is not possible; give positive numbers", value.value[i]);
            return;
        }
    }
    in->sigma_value = value;
    in->sigma = (struct fit_cfg_choice){FIT_SIGMA_VALUE, value.from};
}

/* heterodyne's older section `temporal`: t_start counts from 0, time_length is a number of frames. */
static void later_temporal(struct fit_cfg_reader *r)
{
    struct fit_config_input *in = &r->cfg->input;
    long start = 0, length;
    const struct fit_yaml *at = fit_cfg_seen(r, "temporal.t_start");
    if (at && fit_cfg_get_int(r, at, &start)) {
        if (start < 0 || start > 1000000000)
            fit_cfg_error(r, at, "temporal.t_start: %ld is not possible; it counts frames from 0", start);
        else
            fit_cfg_set_int(r, &in->start_frame, at, start + 1, 0);
    }
    at = fit_cfg_seen(r, "temporal.time_length");
    if (at && fit_cfg_get_int(r, at, &length)) {
        if (length < 3 || length > 1000000000)
            fit_cfg_error(r, at, "temporal.time_length: %ld is not possible; give 3 or more frames", length);
        else
            fit_cfg_set_int(r, &in->end_frame, at, start + length, 0);
    }
}

static void later_columns(struct fit_cfg_reader *r)
{
    struct fit_config_table *t = &r->cfg->table;
    const struct fit_kernel *k = r->cfg->kernel;
    const struct fit_yaml *node = fit_cfg_seen(r, "data.columns");
    if (!node || !fit_cfg_want(r, node, FIT_YAML_MAP, "a section (column of the model: column of the file)"))
        return;
    struct fit_config_column *c = fit_cfg_alloc(r, (node->n + 1) * sizeof *c);
    size_t n = 0;
    for (size_t i = 0; c && i < node->n; i++) {
        const struct fit_yaml_entry *e = &node->entry[i];
        struct fit_nearest near = {.name = e->key};
        int known = fit_edit_distance(e->key, "sigma", 0) == 0;
        for (size_t j = 0; j < k->ncolumn; j++) {
            known |= strcmp(k->column[j].name, e->key) == 0;
            fit_nearest_offer(&near, k->column[j].name);
        }
        if (!known)
            fit_cfg_error_at(r, e->line, e->column, "the model %s has no column '%.60s'%s%s%s", k->name, e->key,
                             near.best ? "; did you mean '" : "", near.best ? near.best : "",
                             near.best ? "'?" : "");
        else if (!fit_yaml_is_null(e->value) && fit_cfg_get_text(r, e->value, &c[n].source)) {
            c[n].role = fit_cfg_copy(r, e->key);
            c[n++].from = fit_cfg_origin(r, e->value);
        }
    }
    t->column = c;
    t->ncolumn = c ? n : 0;
}

static void later_output(struct fit_cfg_reader *r)
{
    struct fit_cfg_text *dir = &r->cfg->output.dir;
    const struct fit_yaml *at = NULL;
    const char *base = text_of(r, "output.base_directory", &at), *folder = text_of(r, "output.directory", &at);
    if (!base && !folder)
        return;
    char *joined = base && folder ? fit_path_join(base, folder) : NULL;
    const char *value = fit_cfg_copy(r, joined ? joined : folder ? folder : base);
    free(joined);
    if (value && fit_cfg_claim(r, &dir->from, at, 1, 1))
        dir->value = value;
}

void fit_cfg_later_input(struct fit_cfg_reader *r)
{
    later_files(r);
    later_mask(r);
    later_sigma(r);
    later_temporal(r);
    later_columns(r);
    later_output(r);
}

/* ---- Angles ---------------------------------------------------------------------------------------- */

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
        const char *near = fit_nearest_of(e->key, names, 3);
        if (strcmp(e->key, names[0]) == 0)
            lo = e->value;
        else if (strcmp(e->key, names[1]) == 0)
            hi = e->value;
        else if (strcmp(e->key, names[2]) != 0)
            fit_cfg_error_at(r, e->line, e->column, "%s: unknown key '%.60s'%s%s%s", r->path, e->key,
                             near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    if (!lo || !hi || fit_yaml_is_null(lo) || fit_yaml_is_null(hi)) {
        fit_cfg_error(r, node, "%s: a range is written {min_angle: -10, max_angle: 10}", r->path);
        return 0;
    }
    if (!fit_cfg_get_real(r, lo, "deg", &out->lower, &bare) || !fit_cfg_get_real(r, hi, "deg", &out->upper, &bare))
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
    if (node && (!fit_cfg_get_real(r, node, "deg", &tolerance, &bare) || !(tolerance >= 0 && tolerance <= 180))) {
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
    static const char *const lists[] = {"phi_filtering.angles", "analyzer_parameters.scattering.phi_angles",
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
            fit_cfg_error(r, node, "%s: angles are already given in line %u", lists[i], a->list.from.line);
        else
            a->list = list;
    }
}

/* ---- Conventions of the packages ------------------------------------------------------------------- */

static void imply_flag(struct fit_cfg_flag *flag, int value)
{
    if (!fit_given(flag->from))
        *flag = (struct fit_cfg_flag){value, {.kind = FIT_FROM_COMPAT}};
}

static void imply_choice(struct fit_cfg_choice *choice, int value)
{
    if (!fit_given(choice->from))
        *choice = (struct fit_cfg_choice){value, {.kind = FIT_FROM_COMPAT}};
}

/* Everything that a package does otherwise (data-config section 7.4): both triangles, sigma 0.01 and plain
 * errors (homodyne), first frame left out (homodyne, xpcsjax with two components), its smooth |x|, its files. */
static void imply_peer(struct fit_cfg_reader *r, enum fit_peer peer)
{
    struct fit_config *cfg = r->cfg;
    const int heterodyne_model = strcmp(cfg->kernel->name, "heterodyne") == 0;
    imply_flag(&cfg->compat.full_matrix, peer != FIT_PEER_NONE);
    imply_flag(&cfg->compat.parity, peer != FIT_PEER_NONE);
    imply_flag(&cfg->compat.files, peer != FIT_PEER_NONE);
    imply_flag(&cfg->compat.exclude_t0,
               peer == FIT_PEER_HOMODYNE || (peer == FIT_PEER_XPCSJAX && heterodyne_model));
    imply_choice(&cfg->compat.errors, peer == FIT_PEER_NONE ? FIT_ERRORS_ROBUST : FIT_ERRORS_PLAIN);
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
    while (i < 8 && fit_edit_distance(word, words[i], 0) != 0)
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
        const char *near = fit_nearest_of(word, words, 8);
        fit_cfg_error(r, node, "compat: unknown word '%.60s'; %s%s%s", node->text,
                      near ? "did you mean '" : "possible are homodyne-2.23, heterodyne-2.0.1, xpcsjax-0.1.8",
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

/* ---- Rows of kind READ ----------------------------------------------------------------------------- */

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
        fit_cfg_note(r, node->line, node->column, "%s = %.60s is no number of angles; 3 is used", r->path,
                     node->text);
}

static int wanted_on(struct fit_cfg_reader *r, const struct fit_yaml *node)
{
    int on = 0;
    return fit_cfg_get_flag(r, node, &on) && on;
}

void fit_cfg_refuse_filtering(struct fit_cfg_reader *r, const struct fit_yaml *node)
{
    if (wanted_on(r, node))
        fit_cfg_error(r, node, "data_filtering is not done here; choose angles with phi_filtering, frames with "
                               "start_frame, end_frame and mask.frames, and set data_filtering.enabled: false");
}

void fit_cfg_refuse_preprocessing(struct fit_cfg_reader *r, const struct fit_yaml *node)
{
    if (wanted_on(r, node))
        fit_cfg_error(r, node, "preprocessing changes the data and with them contrast and offset; it is not done "
                               "here. Set preprocessing.enabled: false");
}

void fit_cfg_note_quality(struct fit_cfg_reader *r, const struct fit_yaml *node)
{
    if (wanted_on(r, node))
        fit_cfg_note(r, node->line, node->column,
                     "quality_control: data are checked but never repaired; unusable frames are masked and told");
}
