/* series_axis.c -- what the fits of a series are drawn over; see series_axis.h. */
#define _GNU_SOURCE /* timegm */
#include "report/page/series_axis.h"

#include "common/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_LINE = 4096 };

struct names {
    size_t n;
    char *const *fit, *const *file;
};

/* ---- numbers in names -------------------------------------------------------------------------- */

/* The number that stands behind `name`, which begins a word: "T300", "T_300", "T=-5"; NaN: none. */
static double number_behind(const char *text, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = strstr(text, name); at; at = strstr(at + 1, name)) {
        const char *from = at + n;
        if (at > text && isalnum((unsigned char)at[-1]))
            continue;
        const int equal = *from == '=';
        from += strchr("=_-", *from) && *from ? 1 : 0;
        if (!isdigit((unsigned char)*from) && !(equal && *from == '-' && isdigit((unsigned char)from[1])))
            continue;
        char number[32];
        size_t k = 0;
        for (; k + 1 < sizeof number && (isdigit((unsigned char)from[k]) || (k == 0 && from[k] == '-') ||
                                         (from[k] == '.' && isdigit((unsigned char)from[k + 1])));
             k++)
            number[k] = from[k];
        number[k] = '\0';
        return strtod(number, NULL);
    }
    return NAN;
}

static void from_names(const struct names *names, const char *name, double *x)
{
    for (size_t i = 0; i < names->n; i++) {
        x[i] = number_behind(names->fit[i], name);
        if (isnan(x[i]))
            x[i] = number_behind(text_file_name(names->file[i]), name);
    }
}

/* ---- times ------------------------------------------------------------------------------------- */

/* Of the data file, as the fit has written it down; seconds. */
static double time_of(const char *folder, const char *fit)
{
    char path[2300], *text = NULL;
    struct fit_h5 *h = NULL;
    struct tm tm = {0};
    double t = NAN;
    snprintf(path, sizeof path, "%.1100s/%.1000s/fit.h5", folder, fit);
    if (fit_h5_open(path, &h, NULL) != FIT_OK)
        return NAN;
    if (fit_h5_read_string(h, "/entry/input/file_mtime", &text, NULL) == FIT_OK &&
        strptime(text, "%Y-%m-%dT%H:%M:%S", &tm))
        t = (double)timegm(&tm);
    free(text);
    fit_h5_close(h);
    return t;
}

/* In seconds, minutes or hours, as long as it is. */
static void from_times(const struct names *names, const char *folder, struct rp_series_axis *axis)
{
    double first = INFINITY, last = -INFINITY;
    for (size_t i = 0; i < names->n; i++) {
        axis->x[i] = time_of(folder, names->fit[i]);
        first = fmin(first, axis->x[i]);
        last = fmax(last, axis->x[i]);
    }
    const double unit = last - first > 7200 ? 3600 : last - first > 600 ? 60 : 1;
    for (size_t i = 0; i < names->n; i++)
        axis->x[i] = (axis->x[i] - first) / unit;
    snprintf(axis->unit, sizeof axis->unit, "%s", unit > 60 ? "h" : unit > 1 ? "min" : "s");
}

/* ---- tables ------------------------------------------------------------------------------------ */

/* Field k of a line, without blanks and quotes around it; 0: there are fewer. */
static int field(const char *line, size_t k, char *text, size_t size)
{
    static const char separators[] = ",;\t";
    for (; k; k--) {
        line += strcspn(line, separators);
        if (!*line)
            return 0;
        line++;
    }
    size_t n = strcspn(line, ",;\t\r\n");
    while (n && strchr(" \"", *line))
        line++, n--;
    while (n && strchr(" \"", line[n - 1]))
        n--;
    snprintf(text, size, "%.*s", (int)(n < size ? n : size - 1), line);
    return 1;
}

/* "T (K)" is T with the unit K. */
static int is_header(const char *text, const char *name, char *unit, size_t size)
{
    const size_t n = strlen(name);
    if (strncmp(text, name, n) != 0)
        return 0;
    const char *rest = text + n + strspn(text + n, " ");
    if ((*rest == '(' || *rest == '[') && strcspn(rest + 1, ")]") < size) {
        if (!*unit)
            snprintf(unit, size, "%.*s", (int)strcspn(rest + 1, ")]"), rest + 1);
        return 1;
    }
    return !*rest;
}

static void take_line(const struct names *names, const char *line, size_t column, double *x)
{
    char name[1024], text[64], *end;
    if (!field(line, 0, name, sizeof name) || !field(line, column, text, sizeof text))
        return;
    const double value = strtod(text, &end);
    for (size_t i = 0; i < names->n && end != text && !*end; i++)
        if (strcmp(name, names->fit[i]) == 0 || strcmp(name, names->file[i]) == 0 ||
            strcmp(name, text_file_name(names->file[i])) == 0)
            x[i] = value;
}

static enum fit_status from_table(const struct names *names, const char *file, struct rp_series_axis *axis,
                                  struct fit_error *err)
{
    FILE *f = fopen(file, "r");
    char line[MOST_LINE], text[256];
    size_t column = 0;
    if (!f)
        return fit_fail(err, FIT_ERR_IO, "--axis: %s: %s", file, strerror(errno));
    if (fgets(line, sizeof line, f))
        for (size_t k = 1; !column && field(line, k, text, sizeof text); k++)
            column = is_header(text, axis->name, axis->unit, sizeof axis->unit) ? k : 0;
    while (column && fgets(line, sizeof line, f))
        take_line(names, line, column, axis->x);
    fclose(f);
    return column
               ? FIT_OK
               : fit_fail(err, FIT_ERR_USAGE,
                          "--axis: %s has no column %s in its first line, behind that with the names of fits or files",
                          file, axis->name);
}

/* ---- all of it --------------------------------------------------------------------------------- */

/* A column of series.h5. */
static int from_column(const struct fit_h5 *h, size_t n, struct rp_series_axis *axis)
{
    char path[120], *unit = NULL;
    double *x = NULL;
    size_t m = 0;
    snprintf(path, sizeof path, "/series/%s", axis->name);
    if (strchr(axis->name, '/') || !fit_h5_exists(h, path) || fit_h5_read_doubles(h, path, &x, &m, NULL) != FIT_OK ||
        m != n) {
        free(x);
        return 0;
    }
    memcpy(axis->x, x, n * sizeof *x);
    free(x);
    if (!axis->unit[0] && fit_h5_has_attr(h, path, "units") &&
        fit_h5_read_attr_string(h, path, "units", &unit, NULL) == FIT_OK)
        snprintf(axis->unit, sizeof axis->unit, "%s", unit);
    free(unit);
    return 1;
}

static enum fit_status check(const struct rp_series_axis *axis, size_t n, const char *table, struct fit_error *err)
{
    size_t known = 0;
    for (size_t i = 0; i < n; i++)
        known += isfinite(axis->x[i]) != 0;
    if (known)
        return FIT_OK;
    if (table)
        return fit_fail(err, FIT_ERR_USAGE, "--axis: %s names none of these fits or files with a number", table);
    return fit_fail(err, FIT_ERR_USAGE,
                    "--axis %s: no column of series.h5 (q, a parameter), and no number behind '%s' in names of fits or "
                    "files; there are fit, time, and NAME=TABLE.csv",
                    axis->name, axis->name);
}

enum fit_status rp_series_axis_read(const char *text, const char *folder, const struct fit_h5 *h, size_t n,
                                    char *const *fit, char *const *file, struct rp_series_axis *axis,
                                    struct fit_error *err)
{
    const struct names names = {n, fit, file};
    const size_t end = strcspn(text, "="), colon = strcspn(text, ":="), unit = end > colon ? end - colon - 1 : 0;
    const char *table = text[end] ? text + end + 1 : NULL;
    enum fit_status st = FIT_OK;
    if (colon == 0 || colon >= sizeof axis->name || unit >= sizeof axis->unit)
        return fit_fail(err, FIT_ERR_USAGE, "--axis %s: NAME, NAME:UNIT or NAME=TABLE.csv", text);
    *axis = (struct rp_series_axis){.x = malloc((n + 1) * sizeof *axis->x)};
    if (!axis->x)
        return fit_no_memory(err, "series");
    snprintf(axis->name, sizeof axis->name, "%.*s", (int)colon, text);
    snprintf(axis->unit, sizeof axis->unit, "%.*s", (int)unit, text + colon + 1);
    for (size_t i = 0; i < n; i++)
        axis->x[i] = strcmp(axis->name, "fit") == 0 || strcmp(axis->name, "file") == 0 ? (double)i + 1 : (double)NAN;
    if (table)
        st = from_table(&names, table, axis, err);
    else if (strcmp(axis->name, "time") == 0)
        from_times(&names, folder, axis);
    else if (n && isnan(axis->x[0]) && !from_column(h, n, axis))
        from_names(&names, axis->name, axis->x);
    return st == FIT_OK ? check(axis, n, table, err) : st;
}
