/* scalar.c -- nodes of the tree as numbers, flags, words, lists; precedence of sources. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/nearest.h"
#include "base/units.h"
#include "config/config_impl.h"

static const char *const kind_name[] = {"a single value", "a list", "a section (key: value)"};

void *fit_cfg_alloc(struct fit_cfg_reader *r, size_t size)
{
    void *p = fit_arena_alloc(&r->cfg->private_->arena, size);
    if (!p)
        r->no_memory = 1;
    return p;
}

const char *fit_cfg_copy(struct fit_cfg_reader *r, const char *text)
{
    const char *copy = fit_arena_string(&r->cfg->private_->arena, text);
    if (!copy)
        r->no_memory = 1;
    return copy;
}

int fit_cfg_want(struct fit_cfg_reader *r, const struct fit_yaml *node, enum fit_yaml_kind kind,
                 const char *what)
{
    if (node->kind == kind)
        return 1;
    fit_cfg_error(r, node, "%s: expected %s here, found %s", r->path, what,
                  kind_name[node->kind]);
    return 0;
}

static int is_flag_word(const char *text, int *value)
{
    static const struct {
        const char *text;
        int value;
    } words[] = {{"true", 1}, {"false", 0}, {"yes", 1}, {"no", 0},
                 {"on", 1},   {"off", 0},   {"y", 1},   {"n", 0}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (same_word(text, words[i].text)) {
            *value = words[i].value;
            return 1;
        }
    }
    return 0;
}

int fit_cfg_get_real(struct fit_cfg_reader *r, const struct fit_yaml *node, const char *unit,
                     double *value, int *bare)
{
    if (!fit_cfg_want(r, node, FIT_YAML_SCALAR, "a number"))
        return 0;
    const char *wanted = unit && strcmp(unit, "1") != 0 ? unit : "a number without unit";
    const enum fit_quantity q = fit_quantity_parse(node->text, unit, value);
    *bare = q == FIT_QUANTITY_BARE;
    switch (q) {
    case FIT_QUANTITY_BARE:
    case FIT_QUANTITY_CONVERTED:
        if (!isnan(*value))
            return 1;
        fit_cfg_error(r, node, "%s: not a number (nan); give a value, or null to leave it open",
                      r->path);
        return 0;
    case FIT_QUANTITY_NO_NUMBER:
        fit_cfg_error(r, node, "%s: '%.100s' is not a number", r->path, node->text);
        return 0;
    case FIT_QUANTITY_NO_UNIT:
        fit_cfg_error(r, node, "%s: '%.100s': the text behind the number is not a unit of this quantity; expected is "
                               "%s",
                      r->path, node->text, wanted);
        return 0;
    default:
        fit_cfg_error(r, node, "%s: '%.100s' has another kind of unit; expected is %s", r->path,
                      node->text, wanted);
        return 0;
    }
}

int fit_cfg_get_int(struct fit_cfg_reader *r, const struct fit_yaml *node, long *value)
{
    double x;
    if (!fit_cfg_want(r, node, FIT_YAML_SCALAR, "a whole number"))
        return 0;
    if (!fit_number_parse(node->text, &x) || !(fabs(x) <= 9e15) || x != floor(x)) {
        fit_cfg_error(r, node, "%s: '%.100s' is not a whole number", r->path, node->text);
        return 0;
    }
    *value = (long)x;
    return 1;
}

int fit_cfg_get_flag(struct fit_cfg_reader *r, const struct fit_yaml *node, int *value)
{
    if (!fit_cfg_want(r, node, FIT_YAML_SCALAR, "true or false"))
        return 0;
    if (is_flag_word(node->text, value))
        return 1;
    fit_cfg_error(r, node, "%s: '%.100s' is neither true nor false", r->path, node->text);
    return 0;
}

int fit_cfg_get_text(struct fit_cfg_reader *r, const struct fit_yaml *node, const char **value)
{
    if (!fit_cfg_want(r, node, FIT_YAML_SCALAR, "a text"))
        return 0;
    *value = fit_cfg_copy(r, node->text);
    return *value != NULL;
}

/* "a, b or c": the accepted words. */
static void list_words(const struct fit_cfg_word *word, char *text, size_t size)
{
    size_t n = 0;
    text[0] = 0;
    int last = -2;
    for (const struct fit_cfg_word *w = word; w->name && n < size; w++) {
        if (w->value >= 0 && w->value != last) {
            const int k = snprintf(text + n, size - n, "%s%s", n ? ", " : "", w->name);
            n += k > 0 ? (size_t)k : 0;
        }
        last = w->value;
    }
}

int fit_cfg_get_word(struct fit_cfg_reader *r, const struct fit_yaml *node,
                     const struct fit_cfg_word *word, int *value)
{
    char all[256];
    if (!fit_cfg_want(r, node, FIT_YAML_SCALAR, "a word"))
        return 0;
    struct nearest near = {.name = node->text};
    list_words(word, all, sizeof all);
    for (const struct fit_cfg_word *w = word; w->name; w++) {
        if (same_word(node->text, w->name)) {
            *value = w->value;
            if (w->value >= 0)
                return 1;
            fit_cfg_error(r, node, "%s: '%s' is not available here; possible are %s", r->path,
                          node->text, all);
            return 0;
        }
        if (w->value >= 0)
            nearest_offer(&near, w->name);
    }
    if (near.best)
        fit_cfg_error(r, node, "%s: unknown word '%.100s'; did you mean '%s'?", r->path, node->text,
                      near.best);
    else
        fit_cfg_error(r, node, "%s: unknown word '%.100s'; possible are %s", r->path, node->text,
                      all);
    return 0;
}

int fit_cfg_get_reals(struct fit_cfg_reader *r, const struct fit_yaml *node, const char *unit,
                      struct fit_cfg_reals *out)
{
    const int list = node->kind == FIT_YAML_LIST;
    const size_t n = list ? node->n : 1;
    double *value = fit_cfg_alloc(r, (n + 1) * sizeof *value);
    if (!value)
        return 0;
    for (size_t i = 0; i < n; i++) {
        const struct fit_yaml *e = list ? node->entry[i].value : node;
        int bare;
        if (!fit_cfg_get_real(r, e, unit, &value[i], &bare))
            return 0;
        if (!isfinite(value[i])) {
            fit_cfg_error(r, e, "%s: infinite", r->path);
            return 0;
        }
    }
    out->n = n;
    out->value = value;
    out->from = fit_cfg_origin(r, node);
    return 1;
}

struct fit_origin fit_cfg_origin(const struct fit_cfg_reader *r, const struct fit_yaml *node)
{
    struct fit_origin from = {.kind = r->source};
    if (r->source == FIT_FROM_FILE && node) {
        from.line = node->line;
        from.column = node->column;
    }
    if (r->source == FIT_FROM_COMMAND)
        from.option = r->option;
    return from;
}

int fit_cfg_claim(struct fit_cfg_reader *r, struct fit_origin *from, const struct fit_yaml *node,
                  int weak, int same)
{
    if (r->source < from->kind)
        return 0;
    if (r->source == FIT_FROM_FILE && from->kind == FIT_FROM_FILE && (weak || !from->weak)) {
        if (!weak && !same)
            fit_cfg_error(r, node,
                          "%s: line %u says otherwise for the same thing; keep one of them",
                          r->path, from->line);
        return 0;
    }
    *from = fit_cfg_origin(r, node);
    from->weak = weak;
    return 1;
}

void fit_cfg_set_real(struct fit_cfg_reader *r, struct fit_cfg_real *x, const struct fit_yaml *node,
                      double value, int weak)
{
    if (fit_cfg_claim(r, &x->from, node, weak, x->value == value)) /* exactly the same number */
        x->value = value;
}

void fit_cfg_set_int(struct fit_cfg_reader *r, struct fit_cfg_int *x, const struct fit_yaml *node,
                     long value, int weak)
{
    if (fit_cfg_claim(r, &x->from, node, weak, x->value == value))
        x->value = value;
}
