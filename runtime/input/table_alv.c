/* table_alv.c -- correlation functions of ALV correlators (.ASC): the columns delay (s), g2, sigma (if the file has
 * errors), q (1/angstrom) and angle (deg); g2_2, ... for further channels.
 *
 * The file: lines NAME : VALUE, then sections that begin with a name in quotes. "Correlation" has lags in ms and g2 - 1
 * of each channel, "StandardDeviation" lags and errors of the first. Numbers may have a decimal comma. q = 4 pi n
 * sin(angle / 2) / wavelength.
 */
#include "input/table_impl.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { CHANNELS = 4, ROWS_MOST = 1 << 20 };

struct alv {
    double angle, wavelength, index; /* deg, nm; NaN: not told */
    size_t n, nsigma, channels;
    double *lag, *value[CHANNELS], *sigma_lag, *sigma; /* ms */
    struct fit_arena storage;
};

int fit_table_is_alv(const char *text, size_t n)
{
    return n >= 4 && memcmp(text, "ALV-", 4) == 0;
}

/* A number with a point or a comma; 0: none. */
static int number(const char *p, const char *e, double *v, const char **end)
{
    char copy[64];
    size_t n = 0;
    while (p < e && (isspace((unsigned char)*p) || *p == '"'))
        p++;
    for (; p + n < e && n + 1 < sizeof copy && strchr("0123456789+-.,eE", p[n]); n++)
        copy[n] = (char)(p[n] == ',' ? '.' : p[n]);
    copy[n] = 0;
    char *stop;
    *v = strtod(copy, &stop);
    *end = p + n;
    return n > 0 && !*stop;
}

static int begins(const char *p, const char *e, const char *word)
{
    const size_t n = strlen(word);
    return (size_t)(e - p) >= n && memcmp(p, word, n) == 0;
}

/* NAME : VALUE in the header. */
static void take_head(struct alv *a, const char *p, const char *e)
{
    const char *colon = memchr(p, ':', (size_t)(e - p)), *end;
    double *to = begins(p, e, "Angle")              ? &a->angle
                 : begins(p, e, "Wavelength")       ? &a->wavelength
                 : begins(p, e, "Refractive Index") ? &a->index
                                                    : NULL;
    double v;
    if (to && colon && number(colon + 1, e, &v, &end))
        *to = v;
}

/* A row of lags and values; returns the number of values after the lag. */
static size_t take_row(const char *p, const char *e, double *lag, double value[CHANNELS])
{
    size_t n = 0;
    if (!number(p, e, lag, &p))
        return 0;
    while (n < CHANNELS && number(p, e, &value[n], &p))
        n++;
    return n;
}

static void keep(struct alv *a, int errors, double lag, const double value[CHANNELS], size_t n)
{
    if (errors) {
        if (a->nsigma < a->n) {
            a->sigma_lag[a->nsigma] = lag;
            a->sigma[a->nsigma++] = value[0];
        }
        return;
    }
    a->lag[a->n] = lag;
    for (size_t c = 0; c < CHANNELS; c++)
        a->value[c][a->n] = c < n ? value[c] : 0;
    a->channels = n > a->channels ? n : a->channels;
    a->n++;
}

static void scan(struct alv *a, const char *text, size_t size)
{
    enum { HEAD, CORRELATION, ERRORS, OTHER } part = HEAD;
    for (const char *p = text, *end = text + size; p < end;) {
        const char *e = memchr(p, '\n', (size_t)(end - p)), *next = e ? e + 1 : end;
        double lag, value[CHANNELS] = {0};
        e = e ? e : end;
        if (begins(p, e, "\"Correlation"))
            part = CORRELATION;
        else if (begins(p, e, "\"StandardDeviation"))
            part = ERRORS;
        else if (p < e && *p == '"')
            part = OTHER;
        else if (part == HEAD)
            take_head(a, p, e);
        else if (part != OTHER) {
            const size_t n = take_row(p, e, &lag, value);
            if (n)
                keep(a, part == ERRORS, lag, value, n);
        }
        p = next;
    }
}

static int is_used(const struct alv *a, size_t channel)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->value[channel][i] < 0 || a->value[channel][i] > 0)
            return 1;
    return 0;
}

/* Errors of the first channel: of every lag, or none. */
static int has_sigma(const struct alv *a)
{
    int same = a->nsigma == a->n && a->n > 0;
    for (size_t i = 0; same && i < a->n; i++)
        same = fabs(a->lag[i] - a->sigma_lag[i]) <= 1e-6 * a->lag[i] && a->sigma[i] > 0;
    return same;
}

static void fill(struct fit_table *t, const struct alv *a)
{
    static const double MS = 1000, NM = 10; /* ms in 1 s, angstrom in 1 nm */
    const double q = 4 * PI * a->index * sin(a->angle * PI / 360) / (a->wavelength * NM);
    char name[16];
    size_t k = 0, used = 0;
    fit_table_set_name(t, k, "delay", 5);
    for (size_t i = 0; i < a->n; i++)
        t->column[k][i] = a->lag[i] / MS;
    for (size_t c = 0; c < a->channels; c++) {
        if (!is_used(a, c))
            continue;
        snprintf(name, sizeof name, used ? "g2_%zu" : "g2", used + 1);
        fit_table_set_name(t, ++k, name, strlen(name));
        for (size_t i = 0; i < a->n; i++)
            t->column[k][i] = 1 + a->value[c][i];
        used++;
    }
    if (has_sigma(a)) {
        fit_table_set_name(t, ++k, "sigma", 5);
        memcpy(t->column[k], a->sigma, a->n * sizeof *a->sigma);
    }
    fit_table_set_name(t, ++k, "q", 1);
    fit_table_set_name(t, ++k, "angle", 5);
    for (size_t i = 0; i < a->n; i++) {
        t->column[k - 1][i] = q;
        t->column[k][i] = a->angle;
    }
    t->unordered = 1;
}

static enum fit_status make_table(const char *file, const struct alv *a, struct fit_table **out, struct fit_error *err)
{
    size_t used = 0;
    for (size_t c = 0; c < a->channels; c++)
        used += is_used(a, c) ? 1 : 0;
    if (!a->n || !used)
        return fit_fail(err, FIT_ERR_DATA, "%s: a file of ALV without values below \"Correlation\"", file);
    struct fit_table *t = *out = fit_table_new(a->n, 1 + used + (has_sigma(a) ? 1 : 0) + 2);
    if (!t)
        return fit_no_memory(err, file);
    fill(t, a);
    fit_notes_add(&t->notes, "%s: an ALV correlator's g2 - 1, to which 1 was added; lags in ms became delays in s",
                  file);
    if (used > 1)
        fit_notes_add(&t->notes, "%s: %zu channels: g2 is the first, g2_2 .. the others (--columns g2=g2_2)", file,
                      used);
    if (!isfinite(t->column[t->ncolumn - 2][0]))
        fit_notes_add(&t->notes, "%s: does not give angle, wavelength and refractive index, and so not q", file);
    return t->storage_.failed ? fit_no_memory(err, file) : FIT_OK;
}

enum fit_status fit_table_read_alv(const char *file, const char *text, size_t size, struct fit_table **out,
                                   struct fit_error *err)
{
    struct alv a = {.angle = NAN, .wavelength = NAN, .index = NAN};
    size_t lines = 1;
    *out = NULL;
    for (const char *p = text; (p = memchr(p, '\n', (size_t)(text + size - p))) != NULL; p++)
        lines++;
    if (lines > ROWS_MOST)
        return fit_fail(err, FIT_ERR_DATA, "%s: a file of ALV with more than %d lines", file, ROWS_MOST);
    FIT_TAKE_DOUBLES(&a.storage, lines, &a.lag, &a.sigma_lag, &a.sigma, &a.value[0], &a.value[1], &a.value[2],
                     &a.value[3]);
    enum fit_status st = a.storage.failed ? fit_no_memory(err, file) : FIT_OK;
    if (st == FIT_OK) {
        scan(&a, text, size);
        st = make_table(file, &a, out, err);
    }
    fit_arena_free(&a.storage);
    if (st != FIT_OK) {
        fit_table_free(*out);
        *out = NULL;
    }
    return st;
}
