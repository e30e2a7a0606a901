/* walk.c -- assigns every key of the tree to its row of the table.
 *
 * A key path is known when it has a row, when rows lie below it (a section), or when a row above it ignores
 * everything below. All others are errors with the nearest name of the same section, or the section where the name
 * would be correct. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/nearest.h"
#include "config/config_impl.h"

#define LONGEST_PATH 512

/* Number of values below a node: the number of keys that a reader of the file would count. */
static size_t count_keys(const struct fit_yaml *node)
{
    if (node->kind != FIT_YAML_MAP)
        return 1;
    size_t n = 0;
    for (size_t i = 0; i < node->n; i++)
        n += count_keys(node->entry[i].value);
    return n ? n : 1;
}

/* Records that the node has no effect. Each row is recorded once, except for keys below an ignored section. */
static void ignore(struct fit_cfg_reader *r, const struct fit_cfg_key *key,
                   const struct fit_yaml *node)
{
    struct fit_config *cfg = r->cfg;
    if (r->source != FIT_FROM_FILE)
        return;
    const size_t n = count_keys(node);
    cfg->nignored += n;
    if (!cfg->reason)
        cfg->reason = fit_cfg_alloc(r, fit_cfg_nkeys * sizeof *cfg->reason);
    if (!cfg->reason)
        return;
    if (cfg->nreason && cfg->reason[cfg->nreason - 1].path == key->path)
        cfg->reason[cfg->nreason - 1].nkey += n;
    else if (cfg->nreason < fit_cfg_nkeys)
        cfg->reason[cfg->nreason++] =
            (struct fit_config_ignored){key->path, key->about, node->line, n};
}

/* The row that ignores everything below it and stands above path, or NULL. */
static const struct fit_cfg_key *ignored_above(const char *path)
{
    char part[LONGEST_PATH];
    snprintf(part, sizeof part, "%s", path);
    for (char *dot; (dot = strrchr(part, '.')) != NULL;) {
        *dot = 0;
        const struct fit_cfg_key *key = fit_cfg_find(part);
        if (key && key->kind == FIT_CFG_IGNORE)
            return key;
    }
    return NULL;
}

/* The next component of `path` below `section` ("" for the top): 1 and its text in word. */
static int component(const char *path, const char *section, char word[64])
{
    const size_t n = strlen(section);
    if (n && (strncmp(path, section, n) != 0 || path[n] != '.'))
        return 0;
    const char *begin = path + n + (n > 0);
    const size_t length = strcspn(begin, ".");
    if (length >= 64)
        return 0;
    memcpy(word, begin, length);
    word[length] = 0;
    return 1;
}

static void unknown_key(struct fit_cfg_reader *r, const struct fit_yaml_entry *e,
                        const char *section)
{
    char word[64], best[64] = "", elsewhere[LONGEST_PATH] = "", hint[LONGEST_PATH + 64] = "";
    struct nearest near = {.name = e->key};
    for (size_t i = 0; i < fit_cfg_nkeys; i++) {
        const char *path = fit_cfg_keys[i].path, *leaf = strrchr(path, '.');
        const char *before = near.best;
        if (component(path, section, word)) {
            nearest_offer(&near, word);
            if (near.best != before) {
                snprintf(best, sizeof best, "%s", word);
                near.best = best;
            }
        }
        if (leaf && strcmp(leaf + 1, e->key) == 0 && !elsewhere[0] &&
            fit_cfg_keys[i].kind != FIT_CFG_IGNORE)
            snprintf(elsewhere, sizeof elsewhere, "%.*s", (int)(leaf - path), path);
    }
    if (near.best)
        snprintf(hint, sizeof hint, "; did you mean '%s'?", near.best);
    else if (elsewhere[0])
        snprintf(hint, sizeof hint, "; it belongs under %s", elsewhere);
    if (r->lax)
        fit_cfg_note(r, e->line, e->column, "unknown key '%.100s'%s%s is not read%s", e->key,
                     *section ? " in " : "", section, hint);
    else
        fit_cfg_error_at(r, e->line, e->column, "unknown key '%.100s'%s%s%s", e->key,
                         *section ? " in " : "", section, hint);
}

static void *member(struct fit_cfg_reader *r, const struct fit_cfg_key *key)
{
    return (char *)r->cfg + key->offset;
}

static void out_of_range(struct fit_cfg_reader *r, const struct fit_cfg_key *key,
                         const struct fit_yaml *node)
{
    if (key->kind == FIT_CFG_REAL && key->lower > 0 && key->lower < 1e-300)
        fit_cfg_error(r, node, "%s: %.100s is not possible; give a positive, finite number",
                      key->path, node->text);
    else if (key->kind == FIT_CFG_REAL)
        fit_cfg_error(r, node, "%s: %.100s is not possible; give a number from %g to %g", key->path,
                      node->text, key->lower, key->upper);
    else if (key->highest >= 1000000000)
        fit_cfg_error(r, node, "%s: %.100s is not possible; give %ld or more", key->path,
                      node->text, key->lowest);
    else
        fit_cfg_error(r, node, "%s: %.100s is not possible; give a number from %ld to %ld",
                      key->path, node->text, key->lowest, key->highest);
}

/* Several wavevectors, for models with the axis q. */
static void read_wavevectors(struct fit_cfg_reader *r, const struct fit_cfg_key *key, const struct fit_yaml *node)
{
    struct fit_config_input *in = &r->cfg->input;
    struct fit_cfg_reals list;
    if (!fit_cfg_get_reals(r, node, key->unit, &list))
        return;
    for (size_t i = 0; i < list.n; i++)
        if (!(list.value[i] >= key->lower)) {
            out_of_range(r, key, node->entry[i].value);
            return;
        }
    if (list.n && fit_cfg_claim(r, &in->q.from, node, key->role == FIT_CFG_WEAK, 0)) {
        in->q.value = list.n == 1 ? list.value[0] : NAN;
        list.n = list.n == 1 ? 0 : list.n;
        in->q_list = list;
    }
}

static void read_real(struct fit_cfg_reader *r, const struct fit_cfg_key *key,
                      const struct fit_yaml *node)
{
    struct fit_cfg_real *x = member(r, key);
    double value;
    int bare;
    if (x == &r->cfg->input.q && node->kind == FIT_YAML_LIST) {
        read_wavevectors(r, key, node);
        return;
    }
    if (!fit_cfg_get_real(r, node, key->unit, &value, &bare))
        return;
    if (!(value >= key->lower && value <= key->upper && value <= 1e300)) {
        out_of_range(r, key, node);
        return;
    }
    fit_cfg_set_real(r, x, node, value, key->role == FIT_CFG_WEAK);
    if (x->value != value)
        return;
    x->from.bare = bare;
    if (x == &r->cfg->input.q)
        r->cfg->input.q_list.n = 0;
}

static void read_int(struct fit_cfg_reader *r, const struct fit_cfg_key *key,
                     const struct fit_yaml *node)
{
    long value = 0;
    const int automatic =
        key->kind == FIT_CFG_INT_AUTO && node->kind == FIT_YAML_SCALAR && same_word(node->text, "auto");
    if (!automatic && !fit_cfg_get_int(r, node, &value))
        return;
    if (value < key->lowest || value > key->highest)
        out_of_range(r, key, node);
    else
        fit_cfg_set_int(r, member(r, key), node, value, key->role == FIT_CFG_WEAK);
}

static void read_choice(struct fit_cfg_reader *r, const struct fit_cfg_key *key,
                        const struct fit_yaml *node)
{
    struct fit_cfg_choice *x = member(r, key); /* the same shape as struct fit_cfg_flag */
    int value;
    if (key->kind == FIT_CFG_FLAG ? !fit_cfg_get_flag(r, node, &value)
                                  : !fit_cfg_get_word(r, node, key->word, &value))
        return;
    if (fit_cfg_claim(r, &x->from, node, key->role == FIT_CFG_WEAK, x->value == value))
        x->value = value;
}

static void read_text(struct fit_cfg_reader *r, const struct fit_cfg_key *key,
                      const struct fit_yaml *node)
{
    struct fit_cfg_text *x = member(r, key);
    const char *value;
    if (!fit_cfg_get_text(r, node, &value) || !*value)
        return;
    if (fit_cfg_claim(r, &x->from, node, key->role == FIT_CFG_WEAK,
                      x->value && strcmp(x->value, value) == 0))
        x->value = value;
}

/* Keeps the line of a number left null, for messages that request it; the number stays "not given". */
static void note_hole(struct fit_cfg_reader *r, const struct fit_cfg_key *key, const struct fit_yaml *node)
{
    if (key->kind != FIT_CFG_REAL)
        return;
    struct fit_cfg_real *x = member(r, key);
    if (fit_given(x->from))
        return;
    x->from.line = node->line;
    x->from.column = node->column;
}

void fit_cfg_read_key(struct fit_cfg_reader *r, const struct fit_cfg_key *key,
                      const struct fit_yaml *node)
{
    r->path = key->path;
    if (key->kind == FIT_CFG_IGNORE) {
        ignore(r, key, node);
        return;
    }
    if (fit_yaml_is_null(node)) {
        note_hole(r, key, node);
        return;
    }
    switch (key->kind) {
    case FIT_CFG_REAL:
        read_real(r, key, node);
        break;
    case FIT_CFG_INT:
    case FIT_CFG_INT_AUTO:
        read_int(r, key, node);
        break;
    case FIT_CFG_FLAG:
    case FIT_CFG_CHOICE:
        read_choice(r, key, node);
        break;
    case FIT_CFG_TEXT:
        read_text(r, key, node);
        break;
    case FIT_CFG_READ:
        key->read(r, node);
        break;
    default:
        if (r->seen[key - fit_cfg_keys])
            fit_cfg_error(r, node, "%s: already given in line %u", key->path,
                          r->seen[key - fit_cfg_keys]->line);
        else
            r->seen[key - fit_cfg_keys] = node;
    }
}

const struct fit_yaml *fit_cfg_seen(struct fit_cfg_reader *r, const char *path)
{
    const struct fit_cfg_key *key = fit_cfg_find(path);
    if (!key)
        return NULL;
    r->path = key->path;
    return r->seen[key - fit_cfg_keys];
}

static void walk_section(struct fit_cfg_reader *r, const struct fit_yaml *node,
                         const char *section);

static void walk_entry(struct fit_cfg_reader *r, const struct fit_yaml_entry *e,
                       const char *section)
{
    char path[LONGEST_PATH];
    const int n = snprintf(path, sizeof path, "%s%s%s", section, *section ? "." : "", e->key);
    if (n < 0 || (size_t)n >= sizeof path || !*e->key) {
        fit_cfg_error_at(r, e->line, e->column, "unknown key '%.100s'", e->key);
        return;
    }
    if (!*section && strncmp(e->key, "x-", 2) == 0) /* free for the user: anchors, remarks */
        return;
    const struct fit_cfg_key *key = fit_cfg_find(path);
    const int has_rows_below = fit_cfg_is_section(path);
    if (key && !(has_rows_below && e->value->kind == FIT_YAML_MAP))
        fit_cfg_read_key(r, key, e->value);
    else if (has_rows_below && e->value->kind == FIT_YAML_MAP)
        walk_section(r, e->value, path);
    else if (has_rows_below && !fit_yaml_is_null(e->value))
        fit_cfg_error(r, e->value, "%s: expected a section (key: value) here", path);
    else if (!has_rows_below && (key = ignored_above(path)) != NULL)
        ignore(r, key, e->value);
    else if (!has_rows_below)
        unknown_key(r, e, section);
}

static void walk_section(struct fit_cfg_reader *r, const struct fit_yaml *node, const char *section)
{
    for (size_t i = 0; i < node->n; i++)
        walk_entry(r, &node->entry[i], section);
}

void fit_cfg_walk(struct fit_cfg_reader *r, const struct fit_yaml *root)
{
    if (fit_yaml_is_null(root))
        return;
    if (root->kind != FIT_YAML_MAP) {
        fit_cfg_error(r, root, "a configuration is a list of 'key: value'; this is something else");
        return;
    }
    walk_section(r, root, "");
}
