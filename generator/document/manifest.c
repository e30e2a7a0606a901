/* manifest.c -- the model as JSON and as a commented configuration. */
#include "document/manifest.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>

#include "common/text.h"
#include "emit/code.h"
#include "judge/degenerate.h"

/* --- JSON ------------------------------------------------------------------------------------- */

static void json_string(FILE *out, const char *s)
{
    char one[TEXT_ONE];
    fputc('"', out);
    while (s && *s) {
        s += text_json(s, one);
        fputs(one, out);
    }
    fputc('"', out);
}

/* Members of an object; before: the text in front of them. */
static void json_text(FILE *out, const char *before, const char *key, const char *value)
{
    fprintf(out, "%s\"%s\": ", before, key);
    if (value)
        json_string(out, value);
    else
        fputs("null", out);
}

static void json_number(FILE *out, struct hg_model *m, const char *before, const char *key, double x)
{
    fprintf(out, "%s\"%s\": %s", before, key, isfinite(x) ? hg_number(m->expr->arena, x) : "null");
}

static void json_texts(FILE *out, const char *before, const char *key, const char *const *list)
{
    fprintf(out, "%s\"%s\": [", before, key);
    for (const char *const *s = list; s && *s; s++) {
        fputs(s == list ? "" : ", ", out);
        json_string(out, *s);
    }
    fputc(']', out);
}

#define WORD(KIND, word, ...) word,
static const char *const prior_word[] = {FIT_PRIORS(WORD)};

static void json_symbol(FILE *out, const struct hg_symbol_decl *s)
{
    json_text(out, "    {", "name", s->name);
    json_text(out, ", ", "unit", s->unit);
    json_text(out, ", ", "doc", s->doc);
    fprintf(out, ", \"line\": %u", (unsigned)s->line);
}

static void json_param(FILE *out, struct hg_model *m, const struct hg_symbol_decl *s, int linear)
{
    json_symbol(out, s);
    json_number(out, m, ",\n     ", "start", s->start);
    json_number(out, m, ", ", "lower", s->lower);
    json_number(out, m, ", ", "upper", s->upper);
    fprintf(out, ", \"linear\": %s, ", linear ? "true" : "false");
    json_text(out, "", "over", s->over >= 0 ? m->axis.item[s->over].name : NULL);
    fprintf(out, ",\n     \"prior\": {\"kind\": \"%s\", ", prior_word[s->prior]);
    json_number(out, m, "", "a", s->prior_a);
    json_number(out, m, ", ", "b", s->prior_b);
    json_texts(out, "}, ", "alias", s->alias);
    fputc('}', out);
}

static void json_params(FILE *out, struct hg_model *m)
{
    fputs("  \"parameters\": [", out);
    for (uint32_t k = 0; k < m->param.n + m->linear.n; k++) {
        int linear = k >= m->param.n;
        fputs(k ? ",\n" : "\n", out);
        json_param(out, m, hg_model_unknown(m, k), linear);
    }
    fputs("\n  ],\n", out);
}

static void json_list(FILE *out, struct hg_model *m, const char *key, const struct hg_list *list)
{
    static const char *const role[] = {
        [FIT_ROLE_COVARIATE] = "covariate", [FIT_ROLE_VALUE] = "value", [FIT_ROLE_SIGMA] = "sigma"};
    fprintf(out, "  \"%s\": [", key);
    for (uint32_t k = 0; k < list->n; k++) {
        fputs(k ? ",\n" : "\n", out);
        json_symbol(out, &list->item[k]);
        if (list == &m->setting) {
            json_number(out, m, ", ", "default", list->item[k].statistic ? NAN : list->item[k].start);
        }
        if (list == &m->column)
            fprintf(out, ", \"role\": \"%s\"", role[list->item[k].role]);
        fputc('}', out);
    }
    fputs(list->n ? "\n  ],\n" : "],\n", out);
}

static void json_line(FILE *out, const char *key, const char *value)
{
    json_text(out, "  ", key, value);
    fputs(",\n", out);
}

static void json_degeneracy(FILE *out, struct hg_model *m, const struct hg_degeneracies *all,
                            const struct hg_degeneracy *d)
{
    static const char *const kind[] = {"everywhere", "at value", "one group", "mirror", "mirror of angles"};
    fprintf(out, "    {\"kind\": \"%s\", \"parameters\": [", kind[d->kind]);
    for (uint32_t k = 0; k < d->n; k++) {
        uint32_t p = d->param[k];
        fputs(k ? ", " : "", out);
        json_string(out, hg_model_unknown(m, p)->name);
    }
    json_text(out, "], ", "condition", d->kind == FIT_DEGENERATE_AT_VALUE ? m->param.item[d->condition].name : NULL);
    json_number(out, m, ", ", "value", d->kind == FIT_DEGENERATE_AT_VALUE ? d->value : NAN);
    fputs(",\n     \"combinations\": [", out);
    for (uint32_t k = 0; k < d->ncombination; k++) {
        fputs(k ? ", " : "", out);
        json_string(out, all->combination[d->first + k].text);
    }
    fprintf(out, "], \"proof\": \"%s\", \"inside_bounds\": %s,\n     ", d->proved ? "simplified to zero" : "evaluated",
            d->inside ? "true" : "false");
    json_text(out, "", "text", d->text);
    fputc('}', out);
}

static void json_degeneracies(FILE *out, struct hg_model *m, const struct hg_degeneracies *all)
{
    uint32_t n = all ? all->n : 0;
    fputs("  \"degeneracies\": [", out);
    for (uint32_t k = 0; k < n; k++) {
        fputs(k ? ",\n" : "\n", out);
        json_degeneracy(out, m, all, &all->item[k]);
    }
    fputs(n ? "\n  ],\n" : "],\n", out);
}

void hg_manifest_json(struct hg_model *m, const struct hg_analysis *found, FILE *out)
{
    fputs("{\n", out);
    json_line(out, "name", m->name);
    json_line(out, "title", m->title);
    json_line(out, "formula", m->formula);
    json_line(out, "reference", m->reference);
    json_line(out, "validity", m->validity);
    json_line(out, "source", m->file);
    json_line(out, "hash", m->hash);
    fprintf(out, "  \"abi\": %d,\n", FIT_KERNEL_ABI);
    json_line(out, "space", m->space == FIT_ROWS ? "rows" : "pairs");
    json_texts(out, "  ", "alias", m->alias);
    fputs(",\n", out);
    json_line(out, "package", m->package);
    json_line(out, "mode", m->mode);
    json_text(out, "  \"observable\": {", "name", m->observable);
    json_text(out, ", ", "unit", m->observable_unit);
    fputs("},\n", out);
    json_params(out, m);
    json_list(out, m, "settings", &m->setting);
    json_list(out, m, "axes", &m->axis);
    json_list(out, m, "columns", &m->column);
    json_list(out, m, "curves", &m->curve);
    json_list(out, m, "derived", &m->derived);
    json_degeneracies(out, m, found->degenerate);
    fputs("  \"variants\": [", out);
    for (uint32_t k = 0; k < m->nvariant; k++) {
        fputs(k ? ", " : "", out);
        json_string(out, m->variant[k].name);
    }
    fprintf(out, "],\n  \"tests\": %u\n}\n", (unsigned)m->ntest);
}

/* --- YAML ------------------------------------------------------------------------------------- */

/* A name as a key or a value: in quotes when a reader of YAML 1.1 would read it as something other than text, such
 * as y, no, null, 1e3, or as a structure. */
static const char *yaml_word(struct hg_model *m, const char *word)
{
    static const char *const other[] = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"};
    int plain = isalpha((unsigned char)*word) != 0;
    for (const char *s = word; *s; s++)
        plain &= isalnum((unsigned char)*s) || *s == '_' || (*s == '-' && s > word);
    for (size_t k = 0; k < sizeof other / sizeof *other; k++)
        plain &= strcasecmp(other[k], word) != 0;
    if (plain)
        return word;
    char *quoted = hg_alloc(m->expr->arena, 2 * strlen(word) + 3), *end = quoted;
    *end++ = '"';
    for (const char *s = word; *s; s++) {
        if (*s == '"' || *s == '\\')
            *end++ = '\\';
        *end++ = *s;
    }
    strcpy(end, "\"");
    return quoted;
}

static void comment(FILE *out, const char *text)
{
    while (text && *text) {
        size_t n = strcspn(text, "\n");
        fprintf(out, n ? "# %.*s\n" : "#\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

/* "  key: value" with a remark that starts in a fixed column. */
__attribute__((format(printf, 3, 4)))
static void yaml_line(FILE *out, const char *text, const char *format, ...)
{
    va_list args;
    fprintf(out, "%-44s # ", text);
    va_start(args, format);
    vfprintf(out, format, args);
    va_end(args);
    fputc('\n', out);
}

/* told: the unit of a bare number there, when it differs from the model's. */
static void yaml_setting(FILE *out, struct hg_model *m, const struct hg_symbol_decl *s,
                         const char *key, const char *told)
{
    struct hg_arena *a = m->expr->arena;
    const int differs = strcmp(told, s->unit) != 0, open = isnan(s->start);
    const char *value = open ? "null" : differs ? hg_format(a, "%s %s", hg_number(a, s->start), s->unit)
                                                : hg_number(a, s->start);
    yaml_line(out, hg_format(a, "%s: %s", key, value), "%s%s%s%s", told, s->doc ? ", " : "",
              s->doc ? s->doc : "", open ? "   FILL IN" : "");
}

static const struct hg_symbol_decl *find_setting(const struct hg_model *m, const char *name)
{
    for (uint32_t k = 0; k < m->setting.n; k++) {
        if (strcmp(m->setting.item[k].name, name) == 0)
            return &m->setting.item[k];
    }
    return NULL;
}

/* Frames, wavevector and gap keep their old keys; other settings stand under `settings`. */
static void yaml_pairs(FILE *out, struct hg_model *m)
{
    const struct hg_symbol_decl *q = find_setting(m, "q"), *gap = find_setting(m, "gap");
    fputs("\nexperimental_data:\n", out);
    yaml_line(out, "  file_path: null", "HDF5, NPZ or NPY file   FILL IN");
    fputs("\nanalyzer_parameters:\n", out);
    yaml_line(out, "  dt: null", "s per frame; null: from the data file");
    yaml_line(out, "  start_frame: 1", "first frame used, counted from 1");
    yaml_line(out, "  end_frame: -1", "last frame used; -1: all");
    if (q) {
        fputs("  scattering:\n", out);
        yaml_setting(out, m, q, "    wavevector_q", "1/angstrom");
    }
    if (gap) {
        fputs("  geometry:\n", out);
        yaml_setting(out, m, gap, "    stator_rotor_gap", "angstrom");
    }
    if (m->axis.n)
        fputs("\nphi_filtering:\n"
              "  enabled: false                             # true: only the angles in these "
              "ranges, in degrees\n"
              "  target_ranges:\n"
              "    - {min_angle: -10, max_angle: 10}\n"
              "    - {min_angle: 85, max_angle: 95}\n",
              out);
}

static void yaml_table(FILE *out, struct hg_model *m)
{
    struct hg_arena *a = m->expr->arena;
    fputs("\ndata:\n", out);
    yaml_line(out, "  file: null", "CSV, HDF5 or NPY file   FILL IN");
    yaml_line(out, "  columns:", "column of the model: column of the file, by name or number");
    for (uint32_t k = 0; k < m->column.n; k++) {
        const struct hg_symbol_decl *s = &m->column.item[k];
        yaml_line(out, hg_format(a, "    %s: %s", yaml_word(m, s->name), yaml_word(m, s->name)), "%s%s%s%s", s->unit,
                  s->doc ? ", " : "", s->doc ? s->doc : "", s->role == FIT_ROLE_SIGMA ? "; may be absent" : "");
    }
}

static void yaml_other_settings(FILE *out, struct hg_model *m)
{
    int any = 0;
    for (uint32_t k = 0; k < m->setting.n; k++) {
        const struct hg_symbol_decl *s = &m->setting.item[k];
        int placed =
            m->space == FIT_PAIRS && (strcmp(s->name, "q") == 0 || strcmp(s->name, "gap") == 0);
        if (placed || s->statistic || strcmp(s->name, "dt") == 0)
            continue;
        if (!any++)
            fputs("\nsettings:\n", out);
        yaml_setting(out, m, s, hg_format(m->expr->arena, "  %s", yaml_word(m, s->name)), s->unit);
    }
}

/* A prior in the packages' notation. */
static const char *yaml_prior(struct hg_model *m, const struct hg_symbol_decl *s)
{
#define NAME(KIND, word, name, ...) name,
    static const char *const word[] = {FIT_PRIORS(NAME)};
    struct hg_arena *a = m->expr->arena;
    if (s->prior != FIT_PRIOR_NORMAL && s->prior != FIT_PRIOR_TRUNCATED_NORMAL &&
        s->prior != FIT_PRIOR_LOG_NORMAL && s->prior != FIT_PRIOR_LAPLACE)
        return "";
    const char *mean = hg_number(a, s->prior_a), *sd = hg_number(a, s->prior_b);
    return hg_format(a, ", prior: %s, prior_mu: %s, prior_sigma: %s", word[s->prior], mean, sd);
}

static const char *yaml_number(struct hg_model *m, double x)
{
    return isinf(x) ? x > 0 ? ".inf" : "-.inf" : hg_number(m->expr->arena, x);
}

static void yaml_param(FILE *out, struct hg_model *m, const struct hg_symbol_decl *s)
{
    fprintf(out, "  # %s%s[%s]%s%s\n", s->doc ? s->doc : "", s->doc ? " " : "", s->unit,
            s->over >= 0 ? ", one for each " : "", s->over >= 0 ? m->axis.item[s->over].name : "");
    fprintf(out, "  %s: {value: %s, ", yaml_word(m, s->name), yaml_number(m, s->start));
    fprintf(out, "min: %s, ", yaml_number(m, s->lower));
    fprintf(out, "max: %s, vary: true%s}\n", yaml_number(m, s->upper), yaml_prior(m, s));
}

void hg_manifest_yaml(struct hg_model *m, FILE *out)
{
    fprintf(out,
            "# Configuration of homodyne-%s.  What is left out keeps the value shown here.\n#\n",
            m->name);
    comment(out, m->title);
    comment(out, m->formula);
    fprintf(out, "analysis_mode: %s\n", yaml_word(m, m->alias && m->alias[0] ? m->alias[0] : m->name));
    if (m->space == FIT_ROWS)
        yaml_table(out, m);
    else
        yaml_pairs(out, m);
    yaml_other_settings(out, m);
    fputs("\n# Starts, bounds and priors.  value: null lets the program choose; vary: false keeps "
          "it fixed.\n"
          "parameters:\n",
          out);
    for (uint32_t k = 0; k < m->param.n; k++)
        yaml_param(out, m, &m->param.item[k]);
    for (uint32_t k = 0; k < m->linear.n; k++)
        yaml_param(out, m, &m->linear.item[k]);
    fputs("\noptimization:\n", out);
    yaml_line(out, "  method: nlsq", "nlsq, nuts, laplace or cmc");
    fputs("  nlsq:\n", out);
    fputs("    max_iterations: 200\n", out);
    yaml_line(out, "    loss: linear", "linear, soft_l1, huber, cauchy or arctan");
    fputs("    multi_start: {enable: false, n_starts: 16}\n", out);
}
