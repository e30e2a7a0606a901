/* input.c -- the input: data files, frames, masks, noise, columns; the folder of results. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/nearest.h"
#include "base/paths.h"
#include "base/units.h"
#include "config/config_impl.h"

/* ---- Data files ------------------------------------------------------------------------------ */

/* The full path, to be freed by the caller; NULL: out of memory, or err gives the reason. */
static char *resolve(struct fit_cfg_reader *r, const char *written, const char *beside, struct fit_error *err)
{
    char *path;
    if (fit_path_resolve(written, beside, &path, err) == FIT_ERR_MEMORY)
        r->no_memory = 1;
    return path;
}

/* The same, kept with the configuration; reports errors. */
static const char *resolve_and_tell(struct fit_cfg_reader *r, const struct fit_yaml *at, const char *written,
                                    const char *beside)
{
    struct fit_error err = {0};
    FIT_OWNED char *path = resolve(r, written, beside, &err);
    const char *copy = path ? fit_cfg_copy(r, path) : NULL;
    if (!path && !r->no_memory)
        fit_cfg_error(r, at, "%s", err.message);
    return copy;
}

/* folder/name, kept with the configuration. */
static const char *join(struct fit_cfg_reader *r, const char *folder, const char *name)
{
    FIT_OWNED char *joined = fit_path_join(folder, name);
    const char *copy = joined ? fit_cfg_copy(r, joined) : NULL;
    if (!joined)
        r->no_memory = 1;
    return copy;
}

void fit_cfg_set_files(struct fit_cfg_reader *r, const struct fit_yaml *at, size_t n,
                       const char *const *written, const char *beside)
{
    struct fit_config_input *in = &r->cfg->input;
    const char **path = fit_cfg_alloc(r, (n + 1) * sizeof *path);
    if (!path)
        return;
    for (size_t i = 0; i < n; i++)
        if (!(path[i] = resolve_and_tell(r, at, written[i], beside)))
            return;
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
static size_t texts_of(struct fit_cfg_reader *r, const struct fit_yaml *node,
                       const char *const **out)
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

static int is_there(struct fit_cfg_reader *r, const char *written, const char *beside)
{
    FIT_OWNED char *path = resolve(r, written, beside, NULL);
    const int there = path && fit_path_exists(path);
    return there;
}

static int same_file(struct fit_cfg_reader *r, const char *a, const char *b, const char *beside)
{
    char *x = resolve(r, a, beside, NULL), *y = resolve(r, b, beside, NULL);
    const int same = x && y && strcmp(x, y) == 0;
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
    return join(r, folder ? folder : "", name);
}

/* Two different files are named: the one that exists is meant; if both exist, the choice is an error. */
static const char *choose(struct fit_cfg_reader *r, const char *path, const struct fit_yaml **at,
                          const char *joined, const struct fit_yaml *joined_at)
{
    const char *beside = r->cfg->file;
    if (same_file(r, path, joined, beside))
        return path;
    const int first = is_there(r, path, beside), second = is_there(r, joined, beside);
    if (first && second) {
        fit_cfg_error(
            r, *at,
            "file_path names '%.200s', data_folder_path and data_file_name (line %u) name "
            "'%.200s', and both exist; keep one",
            path, joined_at->line, joined);
        return NULL;
    }
    fit_cfg_note(r, (*at)->line, (*at)->column,
                 "file_path and data_folder_path + data_file_name differ; %s",
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
    static const char *const spelling[] = {"experimental_data.file_path", "data.file",
                                           "data.file_path", "data.path", "data_file"};
    const char *const *text = NULL;
    const struct fit_yaml *at = NULL, *joined_at = NULL;
    size_t n = 0;
    for (size_t i = 0; i < sizeof spelling / sizeof *spelling; i++) {
        const struct fit_yaml *node = fit_cfg_seen(r, spelling[i]);
        const char *const *found = NULL;
        const size_t nfound = node ? texts_of(r, node, &found) : 0;
        if (nfound && n) {
            fit_cfg_error(r, node, "%s: the data file is already given in line %u; keep one",
                          spelling[i], at->line);
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

/* ---- Frames, noise --------------------------------------------------------------------------- */

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

static int frame_range(struct fit_cfg_reader *r, const struct fit_yaml *node,
                       struct fit_frame_range *range)
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
    node = node ? node : fit_cfg_seen(r, "sigma.value");
    if (!node)
        return;
    if (node->kind == FIT_YAML_SCALAR && (node->quoted || !(strtod(node->text, NULL) > 0))) {
        if (same_word(node->text, "auto") || same_word(node->text, "estimate")) {
            in->sigma = (struct fit_cfg_choice){FIT_SIGMA_AUTO, fit_cfg_origin(r, node)};
            return;
        }
        const char *path;
        if (strtod(node->text, NULL) <= 0 &&
            strspn(node->text, "+-.0123456789eE") == strlen(node->text)) {
            fit_cfg_error(r, node, "sigma: %.60s is not possible; give a positive number",
                          node->text);
        } else if ((path = resolve_and_tell(r, node, node->text, r->source == FIT_FROM_FILE ? r->cfg->file : NULL))) {
            in->sigma_path = (struct fit_cfg_text){path, fit_cfg_origin(r, node)};
            in->sigma = (struct fit_cfg_choice){FIT_SIGMA_FILE, fit_cfg_origin(r, node)};
        }
        return;
    }
    struct fit_cfg_reals value;
    if (!fit_cfg_get_reals(r, node, NULL, &value))
        return;
    for (size_t i = 0; i < value.n; i++) {
        if (!(value.value[i] > 0)) {
            fit_cfg_error(r, node, "sigma: %g is not possible; give positive numbers",
                          value.value[i]);
            return;
        }
    }
    in->sigma_value = value;
    in->sigma = (struct fit_cfg_choice){FIT_SIGMA_VALUE, value.from};
}

/* heterodyne's older section `temporal`: t_start counts from 0, time_length counts frames. */
static void later_temporal(struct fit_cfg_reader *r)
{
    struct fit_config_input *in = &r->cfg->input;
    long start = 0, length;
    const struct fit_yaml *at = fit_cfg_seen(r, "temporal.t_start");
    if (at && fit_cfg_get_int(r, at, &start)) {
        if (start < 0 || start > 1000000000)
            fit_cfg_error(r, at, "temporal.t_start: %ld is not possible; it counts frames from 0",
                          start);
        else
            fit_cfg_set_int(r, &in->start_frame, at, start + 1, 0);
    }
    at = fit_cfg_seen(r, "temporal.time_length");
    if (at && fit_cfg_get_int(r, at, &length)) {
        if (length < 3 || length > 1000000000)
            fit_cfg_error(r, at, "temporal.time_length: %ld is not possible; give 3 or more frames",
                          length);
        else
            fit_cfg_set_int(r, &in->end_frame, at, start + length, 0);
    }
}

/* The unit in which the model declares its column or axis; NULL: it has none of this name. */
static const char *declared_unit(const struct fit_kernel *k, const char *name)
{
    if (k->space == FIT_PAIRS) /* what belongs to the matrices */
        return strcmp(name, "q") == 0 || strcmp(name, "phi") == 0 ? fit_units_of(name)
               : strcmp(name, "t") == 0                           ? fit_units_of("dt")
                                                                  : NULL;
    for (size_t j = 0; j < k->ncolumn; j++)
        if (strcmp(k->column[j].name, name) == 0)
            return k->column[j].unit;
    for (size_t j = 0; k->space == FIT_ROWS && j < k->naxis; j++)
        if (strcmp(k->axis[j].name, name) == 0)
            return k->axis[j].unit;
    return NULL;
}

static void no_column(struct fit_cfg_reader *r, const struct fit_yaml_entry *e)
{
    const struct fit_kernel *k = r->cfg->kernel;
    struct nearest near = {.name = e->key};
    if (k->space == FIT_PAIRS) {
        fit_cfg_error_at(r, e->line, e->column, "two-time data have no '%.60s'; q, phi, t and sigma are known", e->key);
        return;
    }
    for (size_t j = 0; j < k->ncolumn; j++)
        nearest_offer(&near, k->column[j].name);
    for (size_t j = 0; k->space == FIT_ROWS && j < k->naxis; j++)
        nearest_offer(&near, k->axis[j].name);
    fit_cfg_error_at(r, e->line, e->column, "the model %s has no column '%.60s'%s%s%s",
                     k->name, e->key, near.best ? "; did you mean '" : "",
                     near.best ? near.best : "", near.best ? "'?" : "");
}

/* A section NAME OF THE MODEL: text; returns the number of entries in *out. */
static size_t later_roles(struct fit_cfg_reader *r, const char *path, const char *what,
                          const struct fit_config_column **out)
{
    const struct fit_yaml *node = fit_cfg_seen(r, path);
    if (!node || !fit_cfg_want(r, node, FIT_YAML_MAP, what))
        return 0;
    struct fit_config_column *c = fit_cfg_alloc(r, (node->n + 1) * sizeof *c);
    size_t n = 0;
    for (size_t i = 0; c && i < node->n; i++) {
        const struct fit_yaml_entry *e = &node->entry[i];
        if (!declared_unit(r->cfg->kernel, e->key) && !same_word(e->key, "sigma"))
            no_column(r, e);
        else if (!fit_yaml_is_null(e->value) && fit_cfg_get_text(r, e->value, &c[n].source)) {
            c[n].role = fit_cfg_copy(r, e->key);
            c[n++].from = fit_cfg_origin(r, e->value);
        }
    }
    *out = c;
    return n;
}

static void later_columns(struct fit_cfg_reader *r)
{
    struct fit_config_table *t = &r->cfg->table;
    struct fit_unit_factor f;
    if (fit_cfg_seen(r, "data.columns"))
        t->ncolumn = later_roles(r, "data.columns", "a section (column of the model: column of the file)", &t->column);
    if (fit_cfg_seen(r, "data.units"))
        t->nunit = later_roles(r, "data.units", "a section (column of the model: unit in the file)", &t->unit);
    for (size_t i = 0; i < t->nunit; i++) {
        const char *wanted = declared_unit(r->cfg->kernel, t->unit[i].role);
        const enum fit_quantity kind =
            wanted ? fit_unit_between(t->unit[i].source, wanted, &f) : FIT_QUANTITY_CONVERTED;
        if (kind != FIT_QUANTITY_CONVERTED)
            fit_cfg_error(r, fit_cfg_seen(r, "data.units"), "data.units: '%.60s' of %s %s; the model %s has it in %s",
                          t->unit[i].source, t->unit[i].role, fit_quantity_why(kind), r->cfg->kernel->name, wanted);
    }
}

static void later_output(struct fit_cfg_reader *r)
{
    struct fit_cfg_text *dir = &r->cfg->output.dir;
    const struct fit_yaml *at = NULL;
    const char *base = text_of(r, "output.base_directory", &at),
               *folder = text_of(r, "output.directory", &at);
    if (!base && !folder)
        return;
    const char *value = base && folder ? join(r, base, folder) : fit_cfg_copy(r, folder ? folder : base);
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
