/* write.c -- the effective configuration as text, each value with its source.
 *
 * The table of keys is sorted, so keys of a section stand together. A row of role MAIN writes its member; the rows
 * of `special` below write values with a form of their own. */
#define _XOPEN_SOURCE 700 /* realpath */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "config/config_impl.h"
#include "model/prior.h"

struct text {
    char *text;
    size_t n, room;
    int failed;
    char section[256]; /* open section, "a.b" */
};

static void put(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct text *t, const char *format, ...)
{
    va_list ap;
    for (int attempt = 0; attempt < 2 && !t->failed; attempt++) {
        va_start(ap, format);
        const int n = vsnprintf(t->text ? t->text + t->n : NULL, t->room - t->n, format, ap);
        va_end(ap);
        if (n >= 0 && (size_t)n < t->room - t->n) {
            t->n += (size_t)n;
            return;
        }
        const size_t room = 2 * (t->room + (size_t)(n < 0 ? 0 : n) + 256);
        char *bigger = realloc(t->text, room);
        t->failed = !bigger;
        if (bigger) {
            t->text = bigger;
            t->room = room;
        }
    }
}

/* The shortest decimal that reads back as the same number. */
static const char *number(double x, char text[32])
{
    if (isnan(x))
        return "null";
    if (isinf(x))
        return x > 0 ? ".inf" : "-.inf";
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 32, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    return text;
}

static void put_quoted(struct text *t, const char *s)
{
    put(t, "\"");
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            put(t, "\\%c", *s);
        else if ((unsigned char)*s < 0x20 || *s == 0x7f)
            put(t, "\\x%02X", (unsigned)(unsigned char)*s);
        else
            put(t, "%c", *s);
    }
    put(t, "\"");
}

static void put_reals(struct text *t, struct fit_cfg_reals v)
{
    char buffer[32];
    put(t, "[");
    for (size_t i = 0; i < v.n; i++)
        put(t, "%s%s", i ? ", " : "", number(v.value[i], buffer));
    put(t, "]");
}

static void put_source(struct text *t, const struct fit_config *cfg, struct fit_origin from)
{
    char source[160];
    fit_origin_text(cfg, from, source, sizeof source);
    for (char *s = source; *s; s++) /* a file name may hold anything */
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            *s = '?';
    put(t, "  # %s\n", source);
}

static void indent(struct text *t, int depth)
{
    put(t, "%*s", 4 * depth, "");
}

/* Opens the sections of path that are not open yet, then writes "key: ". */
static void put_key(struct text *t, const char *path)
{
    const char *begin = path;
    int depth = 0;
    size_t common = 0; /* length of the part of path that is open */
    for (const char *dot; (dot = strchr(begin, '.')) != NULL; begin = dot + 1, depth++) {
        const size_t n = (size_t)(dot - path);
        const int open =
            strncmp(t->section, path, n) == 0 && (t->section[n] == '.' || !t->section[n]);
        if (open && common + (common > 0) == (size_t)(begin - path)) {
            common = n;
            continue;
        }
        indent(t, depth);
        put(t, "%.*s:\n", (int)(dot - begin), begin);
    }
    snprintf(t->section, sizeof t->section, "%.*s", begin > path ? (int)(begin - path) - 1 : 0,
             path);
    indent(t, depth);
    put(t, "%s: ", begin);
}

/* ---- Rows with a member ---------------------------------------------------------------------- */

static const char *word_of(const struct fit_cfg_word *word, int value)
{
    for (; word->name; word++)
        if (word->value == value)
            return word->name;
    return "null";
}

/* Given with a unit, and so small or large that the bare number would be doubted on reading. */
static int needs_unit(const struct fit_config *cfg, const struct fit_cfg_real *x)
{
    const char *doubt = x == &cfg->input.q     ? fit_units_doubt_q(x->value)
                        : x == &cfg->input.gap ? fit_units_doubt_gap(x->value)
                                               : NULL;
    return doubt && fit_given(x->from) && !x->from.bare;
}

static void put_real(struct text *t, const struct fit_config *cfg, const struct fit_cfg_key *key)
{
    const struct fit_cfg_real *x = (const void *)((const char *)cfg + key->offset);
    const int list = x == &cfg->input.q && cfg->input.q_list.n;
    char buffer[32];
    if (!list && isnan(x->value))
        return;
    put_key(t, key->path);
    if (list)
        put_reals(t, cfg->input.q_list);
    else if (needs_unit(cfg, x))
        put(t, "\"%s %s\"", number(x->value, buffer), key->unit);
    else
        put(t, "%s", number(x->value, buffer));
    put_source(t, cfg, x->from);
}

static void put_int(struct text *t, const struct fit_config *cfg, const struct fit_cfg_key *key)
{
    const struct fit_cfg_int *x = (const void *)((const char *)cfg + key->offset);
    put_key(t, key->path);
    if (key->kind == FIT_CFG_INT_AUTO && !x->value)
        put(t, "auto");
    else
        put(t, "%ld", x->value);
    put_source(t, cfg, x->from);
}

static void put_choice(struct text *t, const struct fit_config *cfg, const struct fit_cfg_key *key)
{
    const struct fit_cfg_choice *x = (const void *)((const char *)cfg + key->offset);
    put_key(t, key->path);
    if (key->kind == FIT_CFG_FLAG)
        put(t, "%s", x->value ? "true" : "false");
    else
        put(t, "%s", word_of(key->word, x->value));
    put_source(t, cfg, x->from);
}

static void put_text(struct text *t, const struct fit_config *cfg, const struct fit_cfg_key *key)
{
    const struct fit_cfg_text *x = (const void *)((const char *)cfg + key->offset);
    if (!x->value)
        return;
    put_key(t, key->path);
    put_quoted(t, x->value);
    put_source(t, cfg, x->from);
}

static void put_row(struct text *t, const struct fit_config *cfg, const struct fit_cfg_key *key)
{
    switch (key->kind) {
    case FIT_CFG_REAL: put_real(t, cfg, key); break;
    case FIT_CFG_INT:
    case FIT_CFG_INT_AUTO: put_int(t, cfg, key); break;
    case FIT_CFG_FLAG:
    case FIT_CFG_CHOICE: put_choice(t, cfg, key); break;
    case FIT_CFG_TEXT: put_text(t, cfg, key); break;
    default: break;
    }
}

/* ---- Rows with a form of their own ----------------------------------------------------------- */

static void put_mode(struct text *t, const struct fit_config *cfg, const char *path)
{
    put_key(t, path);
    put_quoted(t, cfg->mode.value);
    put_source(t, cfg, cfg->mode.from);
}

static void put_peer(struct text *t, const struct fit_config *cfg, const char *path)
{
    put_key(t, path);
    put(t, "%s", fit_peer_names[cfg->compat.peer.value]);
    put_source(t, cfg, cfg->compat.peer.from);
}

static void put_roles(struct text *t, const struct fit_config *cfg, const char *path, size_t n,
                      const struct fit_config_column *column)
{
    if (!n)
        return;
    put_key(t, path);
    put(t, "{");
    for (size_t i = 0; i < n; i++) {
        put(t, "%s", i ? ", " : "");
        put_quoted(t, column[i].role);
        put(t, ": ");
        put_quoted(t, column[i].source);
    }
    put(t, "}");
    put_source(t, cfg, column[0].from);
}

static void put_columns(struct text *t, const struct fit_config *cfg, const char *path)
{
    put_roles(t, cfg, path, cfg->table.ncolumn, cfg->table.column);
}

static void put_units(struct text *t, const struct fit_config *cfg, const char *path)
{
    put_roles(t, cfg, path, cfg->table.nunit, cfg->table.unit);
}

/* Absolute if the file exists, so that the text can be read in another folder. */
static void put_file(struct text *t, const char *path)
{
    FIT_OWNED char *full = realpath(path, NULL);
    put_quoted(t, full ? full : path);
}

static void put_files(struct text *t, const struct fit_config *cfg, const char *path)
{
    const struct fit_cfg_texts *p = &cfg->input.path;
    if (!p->n)
        return;
    put_key(t, path);
    put(t, "%s", p->n > 1 ? "[" : "");
    for (size_t i = 0; i < p->n; i++) {
        put(t, "%s", i ? ", " : "");
        put_file(t, p->value[i]);
    }
    put(t, "%s", p->n > 1 ? "]" : "");
    put_source(t, cfg, p->from);
}

static void put_mask(struct text *t, const struct fit_config *cfg, const char *path)
{
    const struct fit_config_input *in = &cfg->input;
    if (!in->nmask)
        return;
    put_key(t, path);
    put(t, "[");
    for (size_t i = 0; i < in->nmask; i++)
        put(t, "%s%ld..%ld", i ? ", " : "", in->mask[i].first, in->mask[i].last);
    put(t, "]");
    put_source(t, cfg, in->mask_from);
}

static void put_method(struct text *t, const struct fit_config *cfg, const char *path)
{
    put_key(t, path);
    put(t, "%s",
        cfg->sample_after.value ? "both" : word_of(fit_cfg_word_method, cfg->method.value));
    put_source(t, cfg, cfg->method.from);
}

static void put_scaling(struct text *t, const struct fit_config *cfg, const char *path)
{
    put_key(t, path);
    put(t, "%s",
        cfg->scaling.automatic ? "auto"
                               : word_of(fit_cfg_word_scaling_mode, cfg->scaling.mode.value));
    put_source(t, cfg, cfg->scaling.mode.from);
}

static void put_threshold(struct text *t, const struct fit_config *cfg, const char *path)
{
    put_key(t, path);
    put(t, "%ld", cfg->scaling.average_threshold.value);
    put_source(t, cfg, cfg->scaling.average_threshold.from);
}

static void put_prior(struct text *t, const struct fit_config_param *p, int has_parameters)
{
    char buffer[32];
    const int kind = p->prior.value;
    double a = p->prior_a, b = p->prior_b;
    if (has_parameters && !fit_given(p->prior.from))
        return; /* that of the model, which has parameters */
    if (fit_prior_numbers(kind) == 0) {
        put(t, "prior: %s", word_of(fit_cfg_word_prior, kind));
        return;
    }
    if (kind == FIT_PRIOR_BETA_SCALED) { /* mean and deviation of the shape parameters, on the bounds */
        const double width = p->upper.value - p->lower.value, sum = a + b;
        b = width * sqrt(a * b / (sum + 1)) / sum;
        a = p->lower.value + width * a / sum;
    }
    put(t, "prior: {type: %s", word_of(fit_cfg_word_prior, kind));
    if (fit_prior_numbers(kind) == 2)
        put(t, ", mu: %s", number(a, buffer));
    put(t, ", sigma: %s}", number(b, buffer));
}

static void put_share(struct text *t, const struct fit_config *cfg, const struct fit_config_share *s)
{
    const char *const each = cfg->kernel->space == FIT_ROWS ? "per_group" : "per_angle";
    const char *const word[] = {"", "shared", each, "per_file", ""};
    if (s->kind == FIT_SHARE_MODEL)
        return;
    put(t, "share: %s", word[s->kind]);
    for (size_t i = 0; i < s->nset; i++) {
        put(t, i ? ", " : "[");
        put_reals(t, s->set[i]);
    }
    put(t, s->nset ? "], " : ", ");
}

static void put_param(struct text *t, const struct fit_config *cfg,
                      const struct fit_config_param *p)
{
    char buffer[32], source[4][160];
    fit_origin_text(cfg, p->start.from, source[0], sizeof *source);
    fit_origin_text(cfg, p->lower.from, source[1], sizeof *source);
    fit_origin_text(cfg, p->upper.from, source[2], sizeof *source);
    fit_origin_text(cfg, p->prior.from, source[3], sizeof *source);
    indent(t, 1);
    put_quoted(t, p->declared->name);
    put(t, ": {value: %s, ", p->automatic ? "null" : number(p->start.value, buffer));
    put(t, "min: %s, ", number(p->lower.value, buffer));
    put(t, "max: %s, vary: %s, ", number(p->upper.value, buffer),
        p->fixed.value ? "false" : "true");
    if (p->tie) {
        put(t, "tie: ");
        put_quoted(t, p->tie->text);
        put(t, ", ");
    }
    put_share(t, cfg, &p->share);
    if (p->list.n) {
        put(t, "per_angle: ");
        put_reals(t, p->list);
        put(t, ", ");
    }
    const struct fit_level *level = cfg->kernel->level;
    size_t k = (size_t)(p - cfg->param);
    put_prior(t, p, level && k < cfg->nparam && (level[k].from[0] || level[k].from[1]));
    put(t, "}  # %s", p->declared->unit);
    put(t, "; value: %s, min: %s, max: %s, prior: %s", p->automatic ? "from the data" : source[0],
        source[1], source[2], source[3]);
    if (fit_given(p->fixed.from)) {
        fit_origin_text(cfg, p->fixed.from, source[0], sizeof *source);
        put(t, ", vary: %s", source[0]);
    }
    put(t, "\n");
}

static void put_params(struct text *t, const struct fit_config *cfg, const char *path)
{
    t->section[0] = 0;
    if (!(cfg->nparam + cfg->nlinear))
        return;
    put(t, "%s:\n", path);
    for (size_t i = 0; i < cfg->nparam + cfg->nlinear; i++)
        put_param(t, cfg, &cfg->param[i]);
}

static void put_angles(struct text *t, const struct fit_config *cfg, const char *path)
{
    if (!cfg->angles.list.n)
        return;
    put_key(t, path);
    put_reals(t, cfg->angles.list);
    put_source(t, cfg, cfg->angles.list.from);
}

static void put_ranges(struct text *t, const struct fit_config *cfg, const char *path)
{
    const struct fit_config_angles *a = &cfg->angles;
    char buffer[32];
    if (!a->nrange)
        return;
    put_key(t, path);
    put(t, "[");
    for (size_t i = 0; i < a->nrange; i++) {
        put(t, "%s{min_angle: %s, ", i ? ", " : "", number(a->range[i].lower, buffer));
        put(t, "max_angle: %s}", number(a->range[i].upper, buffer));
    }
    put(t, "]");
    put_source(t, cfg, a->range[0].from);
}

static void put_profile(struct text *t, const struct fit_config *cfg, const char *path)
{
    const struct fit_cfg_texts *p = &cfg->study.profile;
    if (!p->n)
        return;
    put_key(t, path);
    for (size_t i = 0; i < p->n; i++) {
        put(t, i ? ", " : "[");
        put_quoted(t, p->value[i]);
    }
    put(t, "]");
    put_source(t, cfg, p->from);
}

static void put_settings(struct text *t, const struct fit_config *cfg, const char *path)
{
    char buffer[32], key[160];
    for (size_t i = 0; i < cfg->nsetting; i++) {
        const struct fit_setting *s = &cfg->kernel->setting[i];
        if (isnan(cfg->setting[i].value) || strcmp(s->name, "q") == 0 ||
            strcmp(s->name, "gap") == 0 || strcmp(s->name, "dt") == 0)
            continue;
        snprintf(key, sizeof key, "%s.%.100s", path, s->name);
        put_key(t, key);
        if (cfg->setting_list[i].n)
            put_reals(t, cfg->setting_list[i]);
        else
            put(t, "%s", number(cfg->setting[i].value, buffer));
        put_source(t, cfg, cfg->setting[i].from);
    }
}

static void put_sigma(struct text *t, const struct fit_config *cfg, const char *path)
{
    const struct fit_config_input *in = &cfg->input;
    put_key(t, path);
    if (in->sigma.value == FIT_SIGMA_VALUE)
        put_reals(t, in->sigma_value);
    else if (in->sigma.value == FIT_SIGMA_FILE)
        put_quoted(t, in->sigma_path.value);
    else
        put(t, "auto");
    put_source(t, cfg, in->sigma.from);
}

static void put_noise_prior(struct text *t, const struct fit_config *cfg, const char *path)
{
    char words[96];
    const struct fit_config_noise p = fit_config_noise(cfg);
    fit_config_noise_text(p, words);
    put_key(t, path);
    put_quoted(t, words);
    put_source(t, cfg, p.from);
}

static const struct {
    const char *path;
    void (*put)(struct text *t, const struct fit_config *cfg, const char *path);
} special[] = {
    {"analysis_mode", put_mode},
    {"compat.version", put_peer},
    {"data.columns", put_columns},
    {"data.units", put_units},
    {"experimental_data.file_path", put_files},
    {"mask.frames", put_mask},
    {"optimization.method", put_method},
    {"optimization.nlsq.anti_degeneracy.constant_scaling_threshold", put_threshold},
    {"optimization.nlsq.anti_degeneracy.per_angle_mode", put_scaling},
    {"parameters", put_params},
    {"phi_filtering.angles", put_angles},
    {"phi_filtering.target_ranges", put_ranges},
    {"profile", put_profile},
    {"settings", put_settings},
    {"sigma.prior", put_noise_prior},
    {"sigma.value", put_sigma},
};

char *fit_config_text(const struct fit_config *cfg)
{
    struct text t = {0};
    put(&t,
        "# Configuration in effect, for the model %s.  Behind each value: where it comes from.\n",
        cfg->kernel->name);
    for (size_t i = 0; i < fit_cfg_nkeys; i++) {
        const struct fit_cfg_key *key = &fit_cfg_keys[i];
        size_t s = 0;
        while (s < sizeof special / sizeof *special && strcmp(special[s].path, key->path) != 0)
            s++;
        if (s < sizeof special / sizeof *special)
            special[s].put(&t, cfg, key->path);
        else if (key->role == FIT_CFG_MAIN)
            put_row(&t, cfg, key);
    }
    if (!t.failed)
        return t.text;
    free(t.text);
    return NULL;
}
