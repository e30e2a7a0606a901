/* links.c -- parameters that follow others (`ties`), and parameters with values of their own for angles (`share`).
 *
 *     ties: {gamma_dot_t_offset: "0.1*gamma_dot_t0 + 1e-4"}
 *     share: {D0: per_angle, alpha: [[0, 45], [90, 135]], contrast: shared}
 *
 * Numbers in an expression are in the units of the model. A chain of ties is followed to the parameters that are
 * free; a circular one is an error. A tied parameter has as many values as those that it follows. */
#include <stdio.h>
#include <string.h>

#include "common/nearest.h"
#include "config/affine.h"
#include "config/config_impl.h"

static size_t count(const struct fit_config *cfg)
{
    return cfg->nparam + cfg->nlinear;
}

/* ---- ties ---------------------------------------------------------------------------------------------------- */

struct names {
    struct fit_cfg_reader *r;
    char message[200];
};

static int find_name(void *user, const char *name, size_t length, const char **message)
{
    struct names *n = user;
    const struct fit_kernel *k = n->r->cfg->kernel;
    char word[80];
    snprintf(word, sizeof word, "%.*s", (int)(length < 79 ? length : 79), name);
    int i = fit_config_param_index(k, word);
    if (i >= 0)
        return i;
    struct nearest near = {.name = word};
    for (size_t j = 0; j < count(n->r->cfg); j++)
        nearest_offer(&near, n->r->cfg->param[j].declared->name);
    snprintf(n->message, sizeof n->message, "the model %.40s has no parameter '%.60s'%s%s%s", k->name, word,
             near.best ? "; did you mean '" : "", near.best ? near.best : "", near.best ? "'?" : "");
    *message = n->message;
    return -1;
}

/* A linear parameter cannot follow a nonlinear one, nor the reverse. */
static int same_kind(struct fit_cfg_reader *r, int child, const double *factor, const struct fit_yaml *at)
{
    const struct fit_config *cfg = r->cfg;
    for (size_t j = 0; j < count(cfg); j++) {
        int other = (j < cfg->nparam) != ((size_t)child < cfg->nparam);
        if (factor[j] == 0 || !other)
            continue;
        fit_cfg_error(r, at,
                      "%s: %s cannot follow %s: one of them is linear (a scaling, found by itself for all values of "
                      "the others)",
                      r->path, cfg->param[child].declared->name, cfg->param[j].declared->name);
        return 0;
    }
    return 1;
}

void fit_cfg_tie(struct fit_cfg_reader *r, int child, const struct fit_yaml *at)
{
    struct fit_config *cfg = r->cfg;
    struct names names = {.r = r};
    struct fit_affine_names of = {count(cfg), find_name, &names};
    char message[700];
    const char *name = cfg->param[child].declared->name;
    if (!fit_cfg_want(r, at, FIT_YAML_SCALAR, "an expression, as in \"0.1*a + 2\""))
        return;
    struct fit_config_tie *tie = fit_cfg_alloc(r, sizeof *tie);
    double *factor = fit_cfg_alloc(r, (count(cfg) + 1) * sizeof *factor);
    if (!tie || !factor)
        return;
    if (!fit_affine_parse(at->text, &of, factor, message, sizeof message)) {
        fit_cfg_error(r, at, "%s: %s = %s", r->path, name, message);
        return;
    }
    size_t terms = 0;
    for (size_t j = 0; j < count(cfg); j++)
        terms += factor[j] != 0;
    if (terms == 0) {
        fit_cfg_error(r, at, "%s: '%.100s' names no parameter; to hold %s at a value: --fix %s=VALUE", r->path,
                      at->text, name, name);
        return;
    }
    if (factor[child] != 0) {
        fit_cfg_error(r, at, "%s: %s cannot be tied to itself", r->path, name);
        return;
    }
    if (!same_kind(r, child, factor, at))
        return;
    *tie = (struct fit_config_tie){fit_cfg_copy(r, at->text), factor, fit_cfg_origin(r, at)};
    cfg->param[child].tie = tie;
}

static void read_ties(struct fit_cfg_reader *r, const char *path)
{
    const struct fit_yaml *node = fit_cfg_seen(r, path);
    if (!node || !fit_cfg_want(r, node, FIT_YAML_MAP, "a section (name: \"expression\")"))
        return;
    for (size_t k = 0; k < node->n; k++) {
        const struct fit_yaml_entry *e = &node->entry[k];
        if (fit_yaml_is_null(e->value))
            continue;
        const int child = fit_cfg_param_named(r, e->key, e->line, e->column);
        if (child >= 0)
            fit_cfg_tie(r, child, e->value);
    }
}

static void error_at(struct fit_cfg_reader *r, struct fit_origin from, const char *format, const char *a,
                     const char *b)
{
    r->source = from.kind == FIT_FROM_COMMAND ? FIT_FROM_COMMAND : FIT_FROM_FILE;
    r->option = from.option;
    fit_cfg_error_at(r, from.line, from.column, format, a, b);
}

/* Substitutes the expressions of tied parameters into that of parameter i, until none is left. */
static void resolve(struct fit_cfg_reader *r, size_t i)
{
    struct fit_config *cfg = r->cfg;
    struct fit_config_param *p = &cfg->param[i];
    size_t n = count(cfg);
    double *factor = fit_cfg_alloc(r, (n + 1) * sizeof *factor);
    struct fit_config_tie *tie = fit_cfg_alloc(r, sizeof *tie);
    if (!factor || !tie)
        return;
    memcpy(factor, p->tie->factor, (n + 1) * sizeof *factor);
    size_t turns = 0;
    for (size_t j = 0; j < n; j++) {
        const struct fit_config_tie *other = cfg->param[j].tie;
        double c = factor[j];
        if (c == 0 || !other)
            continue;
        if (j == i || turns++ > n) {
            error_at(r, p->tie->from, "%s is tied to %s, which is tied to it in its turn; leave one of them free",
                     p->declared->name, cfg->param[j].declared->name);
            return;
        }
        factor[j] = 0;
        for (size_t k = 0; k <= n; k++)
            factor[k] += c * other->factor[k];
        if (factor[i] != 0) {
            error_at(r, p->tie->from, "%s is tied to %s, which is tied to it in its turn; leave one of them free",
                     p->declared->name, cfg->param[j].declared->name);
            return;
        }
        j = SIZE_MAX; /* once more from the first */
    }
    *tie = (struct fit_config_tie){p->tie->text, factor, p->tie->from};
    p->tie = tie;
}

/* ---- values of groups ---------------------------------------------------------------------------------------- */

static void read_sets(struct fit_cfg_reader *r, int i, const struct fit_yaml *at)
{
    struct fit_config_share *s = &r->cfg->param[i].share;
    struct fit_cfg_reals *set = fit_cfg_alloc(r, (at->n + 1) * sizeof *set);
    for (size_t k = 0; set && k < at->n; k++)
        if (!fit_cfg_want(r, at->entry[k].value, FIT_YAML_LIST, "a list of angles for each value: [[0, 45], [90]]") ||
            !fit_cfg_get_reals(r, at->entry[k].value, "deg", &set[k]))
            return;
    *s = (struct fit_config_share){FIT_SHARE_SETS, at->n, set, fit_cfg_origin(r, at)};
}

/* The word for separate values of each group: per_angle or, in tables, named after their axis, per_T. */
static void each_word(const struct fit_kernel *k, char *word, size_t size)
{
    const int rows = k->space == FIT_ROWS;
    snprintf(word, size, "per_%.100s", !rows ? "angle" : k->naxis ? k->axis[0].name : "group");
}

void fit_cfg_share(struct fit_cfg_reader *r, int i, const struct fit_yaml *at)
{
    char own[128];
    const struct fit_cfg_word words[] = {{"shared", FIT_SHARE_ALL},     {"all", FIT_SHARE_ALL},
                                         {own, FIT_SHARE_EACH},         {"each", FIT_SHARE_EACH},
                                         {"per_group", FIT_SHARE_EACH}, {"per_angle", FIT_SHARE_EACH},
                                         {"per_file", FIT_SHARE_FILE},  {NULL, 0}};
    int kind;
    each_word(r->cfg->kernel, own, sizeof own);
    if (at->kind == FIT_YAML_LIST)
        read_sets(r, i, at);
    else if (fit_cfg_get_word(r, at, words, &kind))
        r->cfg->param[i].share = (struct fit_config_share){(enum fit_share_kind)kind, 0, NULL, fit_cfg_origin(r, at)};
}

/* NAME=per_angle, NAME=shared, NAME=0,45/90,135; for tables NAME=per_T */
void fit_cfg_call_share(struct fit_cfg_reader *r, const char *text)
{
    char name[128], own[128];
    const char *equal = strchr(text, '=');
    r->path = "share";
    each_word(r->cfg->kernel, own, sizeof own);
    if (!equal || equal == text || !equal[1] || (size_t)(equal - text) >= sizeof name) {
        fit_cfg_error(r, NULL, "'%.100s': expected NAME=%s, NAME=shared or NAME=0,45/90", text, own);
        return;
    }
    snprintf(name, sizeof name, "%.*s", (int)(equal - text), text);
    const int i = fit_cfg_param_named(r, name, 0, 0);
    if (i < 0)
        return;
    if (!strchr("+-.0123456789", equal[1])) {
        const struct fit_yaml word = {.kind = FIT_YAML_SCALAR, .text = equal + 1, .size = 1};
        fit_cfg_share(r, i, &word);
        return;
    }
    size_t room = strlen(equal) + 1, nset = 0, n = 0;
    struct fit_yaml *scalar = fit_cfg_alloc(r, room * sizeof *scalar), *list = fit_cfg_alloc(r, room * sizeof *list);
    struct fit_yaml_entry *entry = fit_cfg_alloc(r, room * sizeof *entry);
    struct fit_yaml_entry *sets = fit_cfg_alloc(r, room * sizeof *sets);
    char *copy = fit_arena_string(&r->cfg->private_->arena, equal + 1), *outer, *inner;
    if (!scalar || !list || !entry || !sets || !copy)
        return;
    for (char *part = strtok_r(copy, "/", &outer); part; part = strtok_r(NULL, "/", &outer), nset++) {
        struct fit_yaml *set = &list[nset];
        *set = (struct fit_yaml){.kind = FIT_YAML_LIST, .entry = entry + n, .size = 1, .depth = 1};
        for (char *word = strtok_r(part, ",", &inner); word; word = strtok_r(NULL, ",", &inner), n++, set->n++) {
            scalar[n] = (struct fit_yaml){.kind = FIT_YAML_SCALAR, .text = word, .size = 1};
            entry[n].value = &scalar[n];
        }
        sets[nset].value = set;
    }
    const struct fit_yaml all = {.kind = FIT_YAML_LIST, .n = nset, .entry = sets, .size = n + nset + 1, .depth = 2};
    read_sets(r, i, &all);
}

static void read_shares(struct fit_cfg_reader *r)
{
    const struct fit_yaml *node = fit_cfg_seen(r, "share");
    if (!node || !fit_cfg_want(r, node, FIT_YAML_MAP, "a section (name: per_angle)"))
        return;
    for (size_t k = 0; k < node->n; k++) {
        const struct fit_yaml_entry *e = &node->entry[k];
        const int i = fit_yaml_is_null(e->value) ? -1 : fit_cfg_param_named(r, e->key, e->line, e->column);
        if (i >= 0)
            fit_cfg_share(r, i, e->value);
    }
}

/* ---- profiles -------------------------------------------------------------------------------------------------- */

static int is_derived(const struct fit_kernel *k, const char *name)
{
    for (size_t d = 0; d < k->nderived; d++)
        if (strcmp(k->derived[d].name, name) == 0)
            return 1;
    return 0;
}

/* profile: NAME, or [NAME, ...]; names of the fit: "D0", "D0[45]", "contrast[2]", "all". */
static void read_profile(struct fit_cfg_reader *r)
{
    const struct fit_yaml *node = fit_cfg_seen(r, "profile");
    struct fit_cfg_texts *list = &r->cfg->study.profile;
    if (!node)
        return;
    size_t n = node->kind == FIT_YAML_LIST ? node->n : 1;
    const char **name = fit_cfg_alloc(r, (n + 1) * sizeof *name);
    for (size_t k = 0; name && k < n; k++) {
        const struct fit_yaml *one = node->kind == FIT_YAML_LIST ? node->entry[k].value : node;
        char word[128];
        if (!fit_cfg_want(r, one, FIT_YAML_SCALAR, "the name of a parameter"))
            return;
        snprintf(word, sizeof word, "%.*s", (int)strcspn(one->text, "["), one->text);
        const int known = strcmp(word, "all") == 0 || is_derived(r->cfg->kernel, word);
        if (!known && fit_cfg_param_named(r, word, one->line, one->column) < 0)
            return;
        snprintf(word, sizeof word, "%s", one->text);
        for (char *c = word; *c; c++) /* the command line writes commas inside brackets as ; */
            *c = *c == ';' ? ',' : *c;
        name[k] = fit_cfg_copy(r, word);
    }
    if (name)
        *list = (struct fit_cfg_texts){n, name, fit_cfg_origin(r, node)};
}

/* ---- together ------------------------------------------------------------------------------------------------ */

void fit_cfg_later_links(struct fit_cfg_reader *r)
{
    read_ties(r, "initial_parameters.tied_parameters");
    read_ties(r, "ties");
    read_shares(r);
    read_profile(r);
}

void fit_cfg_check_links(struct fit_cfg_reader *r)
{
    for (size_t i = 0; i < count(r->cfg); i++) {
        struct fit_config_param *p = &r->cfg->param[i];
        if (!p->tie)
            continue;
        if (p->fixed.value && fit_given(p->fixed.from))
            error_at(r, p->tie->from, "%s is both fixed and tied%s", p->declared->name, "");
        if (p->share.kind != FIT_SHARE_MODEL)
            error_at(r, p->share.from,
                     "%s is tied: it has as many values as the parameters that it follows; share those%s",
                     p->declared->name, "");
        resolve(r, i);
    }
}
