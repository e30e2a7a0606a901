/* table_columns.c -- assigns the columns of a table to those of the model: by names, by units after names, by
 * position; reports doubtful cases. */
#include "input/table_impl.h"

#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The text after a column's name that may be a unit: "delay (ms)", "delay [ms]", delay/ms, delay_ms. */
struct suffix {
    char kind;   /* '(' (or '['), '/', '_'; 0: there is none */
    size_t stem; /* characters before it */
    char text[64];
};

/* Position of the bracket that the last character closes; NULL: it closes none. */
static const char *opening(const char *name)
{
    const char *p = name + strlen(name);
    int depth = 0;
    while (p-- > name) {
        depth += (*p == ')' || *p == ']') - (*p == '(' || *p == '[');
        if (depth <= 0)
            return depth == 0 && (*p == '(' || *p == '[') ? p : NULL;
    }
    return NULL;
}

static struct suffix suffix_of(const char *name)
{
    struct suffix s = {0};
    const char *begin = opening(name);
    if (!begin && !(begin = strchr(name, '/')))
        begin = strrchr(name, '_');
    if (!begin || begin == name)
        return s;
    s.kind = *begin == '[' ? '(' : *begin;
    for (s.stem = (size_t)(begin - name); s.stem > 0 && name[s.stem - 1] == ' ';)
        --s.stem;
    snprintf(s.text, sizeof s.text, "%s", begin + 1);
    if (s.kind == '(' && *s.text)
        s.text[strlen(s.text) - 1] = '\0';
    return s;
}

/* Is the name of a column `source` followed by a unit? In brackets any unit is accepted, after / only a known one. */
static int is_stem(const char *name, const char *source)
{
    struct fit_unit unit;
    const struct suffix s = suffix_of(name);
    return (s.kind == '(' || (s.kind == '/' && fit_unit_parse(s.text, &unit))) && strlen(source) == s.stem &&
           strncasecmp(name, source, s.stem) == 0;
}

int fit_table_find(const struct fit_table *t, const char *source)
{
    char *end;
    for (size_t c = 0; c < t->ncolumn; c++)
        if (*source && strcmp(t->name[c], source) == 0)
            return (int)c;
    for (size_t c = 0; c < t->ncolumn; c++)
        if (*source && strcasecmp(t->name[c], source) == 0)
            return (int)c;
    for (size_t c = 0; c < t->ncolumn; c++)
        if (*source && is_stem(t->name[c], source))
            return (int)c;
    long n = strtol(source, &end, 10);
    return *source && !*end && n >= 1 && (size_t)n <= t->ncolumn ? (int)n - 1 : -1;
}

/* Column of the file for the model's column (or axis) of this name; -1: not there. */
static int match(const struct fit_table *t, const struct fit_config_table *cfg, const char *name, const char **wanted)
{
    *wanted = name;
    for (size_t i = 0; cfg && i < cfg->ncolumn; i++)
        if (strcmp(cfg->column[i].role, name) == 0) {
            *wanted = cfg->column[i].source;
            return fit_table_find(t, *wanted);
        }
    return fit_table_find(t, name);
}

/* "'q', 'g2', ... of 12": the columns that the file has. */
static const char *names_there(const struct fit_table *t, char *text, size_t size)
{
    size_t at = 0, c = 0;
    for (; c < t->ncolumn && at + 40 < size; c++) {
        int n = snprintf(text + at, size - at, "%s'%.24s'", c ? ", " : "", t->name[c]);
        at += n > 0 ? (size_t)n : 0;
    }
    if (c < t->ncolumn)
        snprintf(text + at, size - at, ", ... of %zu", t->ncolumn);
    return text;
}

/* g2(tau): the text in brackets is not a unit, but the name of another column of the file or of the model. */
static int is_argument(const struct fit_table *t, const struct fit_kernel *k, const char *text)
{
    char copy[64], *save;
    struct fit_unit unit;
    if (!strpbrk(text, "0123456789") && fit_unit_parse(text, &unit)) /* g2 is not a square of grams, s may be seconds */
        return 0;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, ", ", &save); word; word = strtok_r(NULL, ", ", &save)) {
        int known = 0;
        for (size_t c = 0; c < t->ncolumn; c++)
            known |= strcasecmp(t->name[c], word) == 0 || is_stem(t->name[c], word);
        for (size_t i = 0; i < k->naxis + k->ncolumn; i++)
            known |= strcasecmp(fit_table_wanted(k, i), word) == 0;
        if (!known)
            return 0;
    }
    return *text != 0;
}

/* A description of where the unit is given; the unit itself in text. NULL: nowhere. */
static const char *said_unit(const struct fit_table *t, const struct fit_config_table *cfg, const struct fit_kernel *k,
                             size_t i, size_t c, char text[64], char *kind)
{
    struct fit_unit_factor f;
    struct suffix s;
    *kind = 0;
    for (size_t u = 0; cfg && u < cfg->nunit; u++)
        if (strcmp(cfg->unit[u].role, fit_table_wanted(k, i)) == 0) {
            snprintf(text, 64, "%s", cfg->unit[u].source);
            return "data.units";
        }
    if (t->unit && t->unit[c]) {
        snprintf(text, 64, "%s", t->unit[c]);
        return "its attribute";
    }
    s = suffix_of(t->name[c]);
    memcpy(text, s.text, sizeof s.text);
    *kind = s.kind;
    if (s.kind == '(' && (s.text[strspn(s.text, " ")] == '\0' || is_argument(t, k, s.text)))
        return NULL;
    /* any word may follow _ and /; it counts as a unit if it is one of this quantity */
    if (s.kind == '_' && fit_unit_between(text, fit_table_unit(k, i), &f) != FIT_QUANTITY_CONVERTED)
        return NULL;
    struct fit_unit known;
    if (s.kind == '/' && !fit_unit_parse(text, &known))
        return NULL;
    return s.kind ? "its name" : NULL;
}

/* Words after _ that are often not units: t_min, x_m. */
static int is_doubtful(const char *text)
{
    return !text[1] || strcmp(text, "min") == 0;
}

/* The values of column c times a factor, as a further column of the table, which replaces c. */
static enum fit_status convert(const char *file, struct fit_table *t, int *from, struct fit_unit_factor f,
                               struct fit_error *err)
{
    if (!fit_table_add_column(t, t->name[*from], t->column[*from], t->nrow))
        return fit_no_memory(err, file);
    *from = (int)t->ncolumn - 1;
    for (size_t r = 0; r < t->nrow; r++)
        t->column[*from][r] = fit_unit_apply(f, t->column[*from][r]);
    return FIT_OK;
}

enum fit_status fit_table_take_unit(const char *file, struct fit_table *t, const struct fit_config_table *cfg,
                                    const struct fit_kernel *k, size_t i, int *from, struct fit_notes *notes,
                                    struct fit_error *err)
{
    const char *model = fit_table_unit(k, i), *column = t->name[*from];
    char unit[64], kind;
    struct fit_unit_factor f;
    const char *where = said_unit(t, cfg, k, i, (size_t)*from, unit, &kind);
    if (!where)
        return FIT_OK;
    const enum fit_quantity is = fit_unit_between(unit, model, &f);
    const int sigma = i >= k->naxis && k->column[i - k->naxis].role == FIT_ROLE_SIGMA;
    const char *why = is != FIT_QUANTITY_CONVERTED                            ? fit_quantity_why(is)
                      : sigma && strchr(unit, '%')                            ? "may be of the value or of 1"
                      : kind == '_' && !fit_unit_same(f) && is_doubtful(unit) ? "may be no unit here"
                                                                              : NULL;
    if (why)
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: column '%s': %s says '%s', which %s; the model %s has %s in %s."
                        " --set 'data.units={%s: %s}' says what the numbers are in",
                        file, column, where, unit, why, k->name, fit_table_wanted(k, i), model, fit_table_wanted(k, i),
                        model);
    if (fit_unit_same(f))
        return FIT_OK;
    if (notes)
        fit_notes_add(notes, "%s: column '%s' is in %s (%s) and was converted to %s", file, column, unit, where, model);
    return convert(file, t, from, f, err);
}

const char *fit_table_wanted(const struct fit_kernel *k, size_t i)
{
    return i < k->naxis ? k->axis[i].name : k->column[i - k->naxis].name;
}

const char *fit_table_unit(const struct fit_kernel *k, size_t i)
{
    return i < k->naxis ? k->axis[i].unit : k->column[i - k->naxis].unit;
}

int fit_table_takes(const struct fit_kernel *k, size_t i)
{
    return !k->nobservable || i != k->naxis + k->which;
}

int fit_table_needs(const struct fit_kernel *k, size_t i)
{
    return fit_table_takes(k, i) && (i < k->naxis || k->column[i - k->naxis].role != FIT_ROLE_SIGMA);
}

/* Errors, which may be missing. */
static int may_lack(const struct fit_kernel *k, size_t i)
{
    return fit_table_takes(k, i) && !fit_table_needs(k, i);
}

/* By position, if no name is known: the file has no names, or exactly as many columns as are needed, so that none
 * with an unknown name is taken for the errors. Named arrays have no order. */
static int take_by_position(const char *file, const struct fit_table *t, const struct fit_kernel *kernel, size_t needed,
                            int *from, struct fit_notes *notes)
{
    const size_t all = kernel->naxis + kernel->ncolumn;
    const int nameless = !*t->name[0], errors = nameless && t->ncolumn >= all - (kernel->nobservable > 0);
    char text[400] = "";
    size_t next = 0, at = 0;
    if (t->unordered || t->ncolumn < needed || (!nameless && t->ncolumn > needed))
        return 0;
    for (size_t k = 0; k < all; k++) {
        from[k] = (errors && may_lack(kernel, k)) || fit_table_needs(kernel, k) ? (int)next++ : -1;
        if (from[k] < 0 || at >= sizeof text)
            continue;
        const char *name = t->name[from[k]];
        int n = snprintf(text + at, sizeof text - at, "%s%s%s%.24s%s", at ? ", " : "", fit_table_wanted(kernel, k),
                         *name ? " is '" : "", name, *name ? "'" : "");
        at += n > 0 ? (size_t)n : 0;
    }
    fit_notes_doubt(notes, "%s: columns are taken by position: %s", file, text);
    return 1;
}

/* 1: a word for errors: err, sigma, std, dg2, g2_err, err_g2, ... */
static int names_errors(const char *name, const char *value)
{
    static const char *const word[] = {"err",    "error", "errors", "sigma", "sig",         "std", "sd", "se",
                                       "stddev", "stdev", "stderr", "unc",   "uncertainty", "e",   "s"};
    const char *last = strrchr(name, '_'), *first = strchr(name, '_');
    const size_t n = strcspn(name, " (["); /* without a unit */
    if ((*name == 'd' || *name == 'D' || *name == 'e' || *name == 'E') && strlen(value) + 1 == n &&
        strncasecmp(name + 1, value, n - 1) == 0)
        return 1;
    for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
        const size_t w = strlen(word[i]);
        if ((n == w && strncasecmp(name, word[i], w) == 0) || (w > 1 && last && strcasecmp(last + 1, word[i]) == 0) ||
            (w > 1 && first && (size_t)(first - name) == w && strncasecmp(name, word[i], w) == 0))
            return 1;
    }
    return 0;
}

/* An unused column that looks like errors: by its name, and because all its finite values are positive; -1: none.
 */
static int unused_errors(const struct fit_table *t, const struct fit_kernel *k, const int *from)
{
    const char *value = "";
    for (size_t c = 0; c < k->ncolumn; c++)
        value = k->column[c].role == FIT_ROLE_VALUE ? k->column[c].name : value;
    for (size_t c = 0; c < t->ncolumn; c++) {
        int free_ = names_errors(t->name[c], value);
        for (size_t i = 0; i < k->naxis + k->ncolumn; i++)
            free_ &= from[i] != (int)c;
        for (size_t r = 0; free_ && r < t->nrow; r++)
            free_ = !(t->column[c][r] <= 0);
        if (free_)
            return (int)c;
    }
    return -1;
}

/* Reports errors that the file seems to contain but the fit would not use, and duplicate names. */
static void doubt_columns(const char *file, const struct fit_table *t, const struct fit_kernel *k, const int *from,
                          struct fit_notes *notes)
{
    const size_t all = k->naxis + k->ncolumn;
    const int errors = unused_errors(t, k, from);
    char roles[400] = "";
    size_t at = 0, open = 0;
    for (size_t i = 0; i < all && at < sizeof roles; i++) {
        const int is_open = from[i] < 0 && may_lack(k, i), c = is_open ? errors : from[i];
        open += is_open ? 1 : 0;
        if (c < 0 || strcmp(t->name[c], fit_table_wanted(k, i)) == 0)
            continue;
        int n = snprintf(roles + at, sizeof roles - at, "%s%s: %s", at ? ", " : "", fit_table_wanted(k, i), t->name[c]);
        at += n > 0 ? (size_t)n : 0;
    }
    if (open && errors >= 0)
        fit_notes_doubt(notes, "%s: column '%s' is not used; --set 'data.columns={%s}' takes it as the errors", file,
                        t->name[errors], roles);
    for (size_t i = 0; i < all; i++)
        for (size_t c = 0; from[i] >= 0 && *t->name[from[i]] && c < t->ncolumn; c++)
            if ((int)c > from[i] && strcmp(t->name[c], t->name[from[i]]) == 0)
                fit_notes_doubt(notes, "%s: column '%s' is there twice, as number %d and %zu: the first is taken", file,
                                t->name[c], from[i] + 1, c + 1);
}

/* Reports values outside the range of their column, or in so small a part of it that another unit is probable. A
 * range that begins above 0 may span many decades; data may then lie in any part of it. */
static void doubt_ranges(const char *file, const struct fit_table *t, const struct fit_kernel *k, const int *from,
                         struct fit_notes *notes)
{
    static const double SMALL = 0.03;
    for (size_t c = 0; c < k->ncolumn; c++) {
        const struct fit_column *x = &k->column[c];
        const int at = from[k->naxis + c];
        double least = INFINITY, most = -INFINITY;
        for (size_t r = 0; at >= 0 && r < t->nrow; r++)
            if (isfinite(t->column[at][r])) {
                least = fmin(least, t->column[at][r]);
                most = fmax(most, t->column[at][r]);
            }
        if (!(x->lower < x->upper) || x->role != FIT_ROLE_COVARIATE || !(least <= most))
            continue;
        const int within = least >= x->lower && most <= x->upper;
        if (!within || (x->lower <= 0 && t->nrow > 1 && most - least < SMALL * (x->upper - x->lower)))
            fit_notes_doubt(notes, "%s: %s lies in %.4g .. %.4g%s%s; the model declares %.4g .. %.4g: another unit?",
                            file, x->name, least, most, strcmp(x->unit, "1") == 0 ? "" : " ",
                            strcmp(x->unit, "1") == 0 ? "" : x->unit, x->lower, x->upper);
    }
}

/* "one of them is taken for it by --set 'data.columns={delay: NAME}'" */
static enum fit_status no_columns(const char *file, const struct fit_table *t, const struct fit_kernel *kernel,
                                  const int *from, const char *missing, struct fit_error *err)
{
    char there[200], roles[200] = "";
    size_t at = 0;
    for (size_t k = 0; k < kernel->naxis + kernel->ncolumn && at < sizeof roles; k++) {
        const int errors = may_lack(kernel, k) ? unused_errors(t, kernel, from) : -1;
        if (from[k] >= 0 || (!fit_table_needs(kernel, k) && errors < 0))
            continue;
        int n = snprintf(roles + at, sizeof roles - at, "%s%s: %.24s", at ? ", " : "", fit_table_wanted(kernel, k),
                         errors < 0 ? "NAME" : t->name[errors]);
        at += n > 0 ? (size_t)n : 0;
    }
    return fit_fail(err, FIT_ERR_DATA,
                    "%s: no column '%s'; there are %s; one of them is taken for it by"
                    " --set 'data.columns={%s}'",
                    file, missing, *t->name[0] ? names_there(t, there, sizeof there) : "columns without names", roles);
}

/* Fills empty cells of columns that declare a value for them. */
static void fill_empty(struct fit_table *t, const struct fit_kernel *k, const int *from)
{
    for (size_t c = 0; k->empty && c < k->ncolumn; c++) {
        double *column = from[k->naxis + c] < 0 ? NULL : t->column[from[k->naxis + c]];
        for (size_t r = 0; column && !isnan(k->empty[c]) && r < t->nrow; r++)
            column[r] = isnan(column[r]) ? k->empty[c] : column[r];
    }
}

enum fit_status fit_table_match(const char *file, struct fit_table *t, const struct fit_config_table *cfg,
                                const struct fit_kernel *kernel, int *from, struct fit_notes *notes,
                                struct fit_error *err)
{
    size_t needed = 0, found = 0;
    const char *wanted, *missing = NULL;
    for (size_t k = 0; k < kernel->naxis + kernel->ncolumn; k++) {
        const int must = fit_table_needs(kernel, k);
        from[k] = match(t, cfg, fit_table_wanted(kernel, k), &wanted);
        needed += must ? 1 : 0;
        found += must && from[k] >= 0;
        if (must && from[k] < 0 && !missing)
            missing = wanted;
    }
    if (found < needed && (found || (cfg && cfg->ncolumn) || !take_by_position(file, t, kernel, needed, from, notes)))
        return no_columns(file, t, kernel, from, missing, err);
    doubt_columns(file, t, kernel, from, notes);
    enum fit_status st = FIT_OK;
    for (size_t k = 0; k < kernel->naxis + kernel->ncolumn && st == FIT_OK; k++)
        if (from[k] >= 0)
            st = fit_table_take_unit(file, t, cfg, kernel, k, &from[k], notes, err);
    if (st == FIT_OK) {
        fill_empty(t, kernel, from);
        doubt_ranges(file, t, kernel, from, notes);
    }
    return st;
}
