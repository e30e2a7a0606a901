/* table_columns.c -- which column of a table is which of the model: by names, by units behind names, by position; and
 * what is doubtful about it. */
#include "table_impl.h"

#include "units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The unit at the end of a column's name: delay_ms, "delay (ms)", "delay [ms]", delay/ms; *stem: characters before it.
 * 0: there is none. */
static int unit_in_name(const char *name, char *text, size_t size, struct fit_unit *unit, size_t *stem)
{
    const char *begin = strpbrk(name, "([/");
    begin = begin ? begin : strrchr(name, '_');
    if (!begin)
        return 0;
    for (*stem = (size_t)(begin - name); *stem > 0 && name[*stem - 1] == ' ';)
        --*stem;
    snprintf(text, size, "%s", begin + 1);
    text[strcspn(text, *begin == '/' ? "" : ")]")] = '\0';
    return *text && fit_unit_parse(text, unit);
}

/* Is the name of a column `source` and a unit?  In brackets it may be any, behind / one that is known. */
static int is_stem(const char *name, const char *source)
{
    struct fit_unit unit;
    char text[32];
    size_t stem = 0;
    const int known = unit_in_name(name, text, sizeof text, &unit, &stem), brackets = strpbrk(name, "([") != NULL;
    return (brackets || (known && strchr(name, '/'))) && strlen(source) == stem && strncasecmp(name, source, stem) == 0;
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

/* Names, or attributes, that speak of another unit than the model's: numbers are taken as they are. */
static void doubt_units(const char *file, const struct fit_table *t, const struct fit_kernel *k, const int *from,
                        struct fit_notes *notes)
{
    for (size_t c = 0; c < k->naxis + k->ncolumn; c++) {
        const char *model = c < k->naxis ? k->axis[c].unit : k->column[c - k->naxis].unit;
        const char *name = from[c] < 0 ? "" : t->name[from[c]];
        const char *own = from[c] < 0 || !t->unit ? NULL : t->unit[from[c]];
        struct fit_unit wanted, said;
        char text[32];
        size_t stem;
        const int known = own ? fit_unit_parse(own, &said) : unit_in_name(name, text, sizeof text, &said, &stem);
        if (!known || !fit_unit_parse(model, &wanted))
            continue;
        if (fit_unit_compatible(said, wanted) ? fabs(said.scale / wanted.scale - 1) > 1e-9 : own != NULL)
            fit_notes_doubt(notes,
                            "%s: column '%s' is taken in %s, as the model has it; its %s says %s: convert the"
                            " numbers if that is so",
                            file, name, model, own ? "attribute" : "name", own ? own : text);
    }
}

const char *fit_table_wanted(const struct fit_kernel *k, size_t i)
{
    return i < k->naxis ? k->axis[i].name : k->column[i - k->naxis].name;
}

int fit_table_needs(const struct fit_kernel *k, size_t i)
{
    return i < k->naxis || k->column[i - k->naxis].role != FIT_ROLE_SIGMA;
}

/* By position, where no name is known: without names in the file, or when it has as many columns as are needed, so that
 * none with an unknown name is taken for the errors.  Arrays with a name each have no order. */
static int take_by_position(const char *file, const struct fit_table *t, const struct fit_kernel *kernel, size_t needed,
                            int *from, struct fit_notes *notes)
{
    const size_t all = kernel->naxis + kernel->ncolumn;
    const int nameless = !*t->name[0], errors = nameless && t->ncolumn >= all;
    char text[400] = "";
    size_t next = 0, at = 0;
    if (t->unordered || t->ncolumn < needed || (!nameless && t->ncolumn > needed))
        return 0;
    for (size_t k = 0; k < all; k++) {
        from[k] = errors || fit_table_needs(kernel, k) ? (int)next++ : -1;
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

/* A column that is not taken and looks like errors: by its name, and all of it positive where it is finite; -1: none.
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

/* Errors that the file seems to have and the fit would not take; names that are there twice. */
static void doubt_columns(const char *file, const struct fit_table *t, const struct fit_kernel *k, const int *from,
                          struct fit_notes *notes)
{
    const size_t all = k->naxis + k->ncolumn;
    const int errors = unused_errors(t, k, from);
    char roles[400] = "";
    size_t at = 0, open = 0;
    for (size_t i = 0; i < all && at < sizeof roles; i++) {
        const int is_open = from[i] < 0 && !fit_table_needs(k, i), c = is_open ? errors : from[i];
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

/* Values that the range of their column does not foresee: outside of it, or in a part of it so small that another unit
 * is meant.  A range that begins above 0 may be one of many decades, of which any part will do. */
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
        const int errors = fit_table_needs(kernel, k) ? -1 : unused_errors(t, kernel, from);
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

enum fit_status fit_table_match(const char *file, const struct fit_table *t, const struct fit_config_table *cfg,
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
    doubt_units(file, t, kernel, from, notes);
    doubt_columns(file, t, kernel, from, notes);
    doubt_ranges(file, t, kernel, from, notes);
    return FIT_OK;
}
