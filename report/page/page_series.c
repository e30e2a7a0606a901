/* page_series.c -- the page about a series of fits (`homodyne batch`): its table, and every parameter over the fits, or
 * over q where each has its own; see page.h.  Takes series.h5 of the folder.
 *
 * Drawn are parameters of all fits, not those of single angles; a value without an error has its interval, an open one
 * none.  Fits that have failed or not converged stand in the table. */
#include "report/page/page.h"
#include "report/page/series_axis.h"

#include "base/number_text.h"
#include "common/text.h"
#include "hdf5/reader.h"
#include "report/draw/panel.h"
#include "report/draw/rich.h"
#include "report/draw/typeset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 440, HIGH = 250, MOST_ROWS = 2000 };

struct series {
    struct fit_h5 *h;
    size_t n, nparam;
    char **name, **file, **status, **quality, **param; /* n; nparam */
    size_t nname, nfile, nstatus, nquality, nlist;
    char **list;
    double *chi2; /* n */
    struct rp_series_axis axis;
};

static void series_free(struct series *s)
{
    fit_h5_free_strings(s->name, s->nname);
    fit_h5_free_strings(s->file, s->nfile);
    fit_h5_free_strings(s->status, s->nstatus);
    fit_h5_free_strings(s->quality, s->nquality);
    fit_h5_free_strings(s->list, s->nlist);
    free(s->param);
    free(s->axis.x);
    free(s->chi2);
    fit_h5_close(s->h);
}

/* Column of n numbers; NULL: not there. */
static double *column(const struct series *s, const char *name, const char *ending)
{
    char path[200];
    double *x = NULL;
    size_t n = 0;
    snprintf(path, sizeof path, "/series/%.100s%s", name, ending);
    if (!fit_h5_exists(s->h, path) || fit_h5_read_doubles(s->h, path, &x, &n, NULL) != FIT_OK || n != s->n) {
        free(x);
        return NULL;
    }
    return x;
}

/* Parameters are the columns that have a standard deviation beside them. */
static enum fit_status find_params(struct series *s, struct fit_error *err)
{
    enum fit_status st = fit_h5_list(s->h, "/series", &s->list, &s->nlist, err);
    if (st != FIT_OK)
        return st;
    if (!(s->param = calloc(s->nlist + 1, sizeof *s->param)))
        return fit_no_memory(err, "series");
    for (size_t k = 0; k < s->nlist; k++) {
        char path[200];
        snprintf(path, sizeof path, "/series/%.100s_std", s->list[k]);
        if (fit_h5_exists(s->h, path) && !strchr(s->list[k], '['))
            s->param[s->nparam++] = s->list[k];
    }
    return FIT_OK;
}

/* Each fit has a q of its own, within its file; of one q alone, files stand side by side. */
static int is_over_q(const struct series *s)
{
    double *q = column(s, "q", "");
    int own = q != NULL && s->n > 1, several = 0;
    for (size_t i = 0; own && i < s->n; i++) {
        own = isfinite(q[i]);
        several |= fabs(q[i] - q[0]) > 1e-9 * q[0];
        for (size_t k = 0; k < i; k++)
            own &= fabs(q[i] - q[k]) > 1e-9 * q[i] || strcmp(s->file[i], s->file[k]) != 0;
    }
    free(q);
    return own && several;
}

static enum fit_status read_series(const char *folder, const char *axis, struct series *s, struct fit_error *err)
{
    char file[1200];
    snprintf(file, sizeof file, "%.1100s/series.h5", folder);
    enum fit_status st = fit_h5_open(file, &s->h, err);
    if (st == FIT_OK)
        st = fit_h5_read_strings(s->h, "/series/name", &s->name, &s->nname, err);
    if (st == FIT_OK)
        st = fit_h5_read_strings(s->h, "/series/file", &s->file, &s->nfile, err);
    if (st == FIT_OK)
        st = fit_h5_read_strings(s->h, "/series/status", &s->status, &s->nstatus, err);
    if (st == FIT_OK)
        st = fit_h5_read_strings(s->h, "/series/quality", &s->quality, &s->nquality, err);
    s->n = s->nname;
    if (st == FIT_OK && (s->nstatus != s->n || s->nquality != s->n || s->nfile != s->n))
        st = fit_fail(err, FIT_ERR_DATA, "%s: columns of different lengths", file);
    if (st == FIT_OK)
        st = find_params(s, err);
    if (st != FIT_OK)
        return st;
    s->chi2 = column(s, "reduced_chi2", "");
    return rp_series_axis_read(axis           ? axis
                               : is_over_q(s) ? "q"
                                              : "fit",
                               folder, s->h, s->n, s->name, s->file, &s->axis, err);
}

/* ---- figures --------------------------------------------------------------------------------- */

struct values {
    double *value, *std, *lower, *upper; /* of 95 %; NULL: none */
};

static void ends(const struct values *v, size_t i, double *lower, double *upper)
{
    const double std = v->std ? v->std[i] : NAN;
    *lower = std > 0 ? v->value[i] - std : v->lower ? v->lower[i] : NAN;
    *upper = std > 0 ? v->value[i] + std : v->upper ? v->upper[i] : NAN;
}

static double place(const struct series *s, size_t i)
{
    return s->axis.x[i];
}

/* Files, where several stand over one axis: the number of that of fit i; *n: of all. */
static size_t file_of(const struct series *s, size_t i, size_t *n)
{
    size_t own = 0;
    *n = 0;
    for (size_t k = 0; k < s->n; k++) {
        size_t before = 0;
        while (before < k && strcmp(s->file[before], s->file[k]) != 0)
            before++;
        if (strcmp(s->file[k], s->file[i]) == 0 && before == k)
            own = *n;
        *n += before == k;
    }
    return own;
}

/* A colour for each file where fits are drawn over q and files are few. */
static uint32_t ink_of(const struct series *s, size_t i)
{
    size_t n = 1, own = 0;
    if (strcmp(s->axis.name, "q") == 0)
        own = file_of(s, i, &n);
    return RP_S0 + (uint32_t)(n > 1 && n <= RP_SERIES && n < s->n ? own : 0);
}

static void draw_points(struct rp_canvas *c, const struct series *s, const struct values *v, const struct rp_panel *p)
{
    for (size_t i = 0; i < s->n; i++) {
        double lower, upper;
        const uint32_t ink = ink_of(s, i);
        ends(v, i, &lower, &upper);
        if (!isfinite(v->value[i]) || !isfinite(place(s, i)))
            continue;
        if (isfinite(lower) && isfinite(upper)) {
            rp_move(c, rp_panel_x(p, place(s, i)), rp_panel_y(p, lower));
            rp_line(c, rp_panel_x(p, place(s, i)), rp_panel_y(p, upper));
            rp_draw(c, &(struct rp_style){.stroke = ink, .width = 1.2});
        }
        rp_dot(c, rp_panel_x(p, place(s, i)), rp_panel_y(p, v->value[i]));
        rp_draw(c, &(struct rp_style){.stroke = ink, .width = s->n > 100 ? 3.5 : 6});
    }
}

/* The axes: bars that are far longer than the values are apart do not set the scale. */
static void make_axes(const struct series *s, const struct values *v, struct rp_axis *x, struct rp_axis *y)
{
    double lo = INFINITY, hi = -INFINITY;
    rp_axis_begin(x);
    rp_axis_begin(y);
    for (size_t i = 0; i < s->n; i++) {
        rp_axis_take(x, place(s, i));
        if (!isfinite(v->value[i]) || !isfinite(place(s, i)))
            continue;
        lo = fmin(lo, v->value[i]);
        hi = fmax(hi, v->value[i]);
    }
    const double more = 2 * (hi - lo) + 0.5 * fmax(fabs(lo), fabs(hi));
    for (size_t i = 0; i < s->n; i++) {
        double lower, upper;
        ends(v, i, &lower, &upper);
        rp_axis_take(y, v->value[i]);
        rp_axis_take(y, fmax(lower, lo - more));
        rp_axis_take(y, fmin(upper, hi + more));
    }
    rp_axis_end(x, 0.04);
    rp_axis_end(y, 0.07);
}

static void unit_of(const struct series *s, const char *name, char *unit, size_t size)
{
    char path[200], *told = NULL;
    snprintf(path, sizeof path, "/series/%.100s", name);
    unit[0] = '\0';
    if (fit_h5_has_attr(s->h, path, "units") && fit_h5_read_attr_string(s->h, path, "units", &told, NULL) == FIT_OK)
        snprintf(unit, size, "%s", told);
    free(told);
}

static enum fit_status draw_param(struct rp_markup *out, const struct series *s, const char *name,
                                  const struct values *v, struct fit_error *err)
{
    char unit[80], symbol[160], over[160];
    struct rp_canvas c;
    unit_of(s, name, unit, sizeof unit);
    rp_symbol(name, symbol, sizeof symbol);
    rp_symbol(s->axis.name, over, sizeof over);
    struct rp_axis x = {.name = over, .unit = s->axis.unit}, y = {.name = symbol, .unit = unit};
    make_axes(s, v, &x, &y);
    const double left = rp_panel_left(&y, HIGH - 64);
    const struct rp_panel p = {.x = left, .y = 12, .w = WIDE - left - 14, .h = HIGH - 64, .ax = x, .ay = y};
    rp_put(out, "<figure>");
    rp_svg_open(&c, out, WIDE, HIGH, name);
    rp_panel_grid(&c, &p);
    draw_points(&c, s, v, &p);
    rp_panel_frame(&c, &p);
    enum fit_status st = rp_svg_close(&c, err);
    rp_put(out, "</figure>\n");
    return st;
}

static struct values values_of(const struct series *s, const char *name)
{
    return (struct values){column(s, name, ""), column(s, name, "_std"), column(s, name, "_lower95"),
                           column(s, name, "_upper95")};
}

static void values_free(struct values *v)
{
    free(v->value);
    free(v->std);
    free(v->lower);
    free(v->upper);
}

/* Some fit has a value, and it is not that at which all were held. */
static int says_something(const struct series *s, const struct values *v)
{
    double first = NAN;
    int some = 0;
    for (size_t i = 0; v->value && i < s->n; i++) {
        if (!isfinite(v->value[i]))
            continue;
        some |= (v->std && v->std[i] > 0) || (v->lower && isfinite(v->lower[i])) ||
                (v->upper && isfinite(v->upper[i])) || (!isnan(first) && v->value[i] != first);
        first = isnan(first) ? v->value[i] : first;
    }
    return some;
}

/* Which colour is which file. */
static void file_keys(struct rp_markup *out, const struct series *s)
{
    size_t all;
    if (!s->n || (file_of(s, 0, &all), strcmp(s->axis.name, "q") != 0 || all < 2 || all > RP_SERIES || all >= s->n))
        return;
    rp_put(out, "<p>");
    for (size_t i = 0, told = 0, n; i < s->n; i++)
        if (file_of(s, i, &n) == told) {
            rp_put(out, "<span style=\"color:var(--s%zu)\">● %s</span> ", told, text_file_name(s->file[i]));
            told++;
        }
    rp_put(out, "</p>\n");
}

static enum fit_status figures(struct rp_markup *out, const struct series *s, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    const int numbered = strcmp(s->axis.name, "fit") == 0 || strcmp(s->axis.name, "file") == 0;
    rp_put(
        out,
        "<section id=\"parameters\"><h2>Parameters versus %s</h2>\n<p class=\"caption\">Values with standard errors, "
        "or intervals of 95 %% where there is no error.%s%s</p>\n",
        s->axis.name, numbered ? " Fits are numbered as in the table." : "",
        strcmp(s->axis.name, "time") == 0 ? " Times are those of the data files, from the first on." : "");
    file_keys(out, s);
    rp_put(out, "<div class=\"figures w440\">\n");
    for (size_t k = 0; k < s->nparam && st == FIT_OK; k++) {
        struct values v = values_of(s, s->param[k]);
        if (says_something(s, &v))
            st = draw_param(out, s, s->param[k], &v, err);
        values_free(&v);
    }
    rp_put(out, "</div></section>\n");
    return st;
}

/* ---- table ----------------------------------------------------------------------------------- */

static void cell_value(struct rp_markup *out, const struct values *v, size_t i)
{
    char value[64] = "", error[64] = "", set[96];
    if (v->value && isfinite(v->value[i])) {
        if (v->std && v->std[i] > 0)
            fit_format_error(v->value[i], v->std[i], value, sizeof value, error, sizeof error);
        else
            fit_format_unsure(v->value[i], v->lower ? v->lower[i] : NAN, v->upper ? v->upper[i] : NAN, value,
                              sizeof value);
    }
    rp_typeset(value, set, sizeof set);
    rp_put(out, "<td class=\"n\">%s%s%s</td>", set, *error ? " ± " : "", error);
}

static const char *mood(const char *quality)
{
    return strcmp(quality, "good") == 0                                          ? "good"
           : strcmp(quality, "partial") == 0 || strcmp(quality, "doubtful") == 0 ? "fair"
                                                                                 : "bad";
}

/* Where fits are drawn over something that is no parameter, their table has it. */
static int has_column(const struct series *s)
{
    for (size_t k = 0; k < s->nparam; k++)
        if (strcmp(s->param[k], s->axis.name) == 0)
            return 0;
    return strcmp(s->axis.name, "fit") != 0 && strcmp(s->axis.name, "file") != 0;
}

/* A column's symbol and unit. */
static void column_head(struct rp_markup *out, const char *name, const char *unit)
{
    char set[80];
    rp_unit(unit, set, sizeof set);
    rp_put(out, "<th class=\"n\">");
    rp_put_symbol(out, name);
    rp_put(out, "%s%s%s</th>", *set ? " (" : "", set, *set ? ")" : "");
}

static void table_head(struct rp_markup *out, const struct series *s, const int *shown)
{
    rp_put(
        out,
        "<section id=\"table\"><h2>Fits</h2>\n<div class=\"wide\"><table><thead><tr><th class=\"n\">#</th><th>fit</th>"
        "<th>quality</th><th class=\"n\">χ²/dof</th>");
    if (has_column(s))
        column_head(out, s->axis.name, s->axis.unit);
    for (size_t k = 0; k < s->nparam; k++) {
        char unit[80];
        unit_of(s, s->param[k], unit, sizeof unit);
        if (shown[k])
            column_head(out, s->param[k], unit);
    }
    rp_put(out, "</tr></thead><tbody>\n");
}

static void table_row(struct rp_markup *out, const struct series *s, const struct values *v, const int *shown, size_t i)
{
    const char *word = *s->quality[i] ? s->quality[i] : s->status[i];
    rp_put(out, "<tr><td class=\"n\">%zu</td><th scope=\"row\">%s</th><td class=\"%s\"><b>%s</b></td>", i + 1,
           s->name[i], mood(word), word);
    if (s->chi2 && isfinite(s->chi2[i]))
        rp_put(out, "<td class=\"n\">%.4f</td>", s->chi2[i]);
    else
        rp_put(out, "<td></td>");
    if (has_column(s))
        rp_put(out, isfinite(place(s, i)) ? "<td class=\"n\">%.5g</td>" : "<td></td>", place(s, i));
    for (size_t k = 0; k < s->nparam; k++)
        if (shown[k])
            cell_value(out, &v[k], i);
    rp_put(out, "</tr>\n");
}

/* What was held at one value in all fits, in a sentence instead of a column. */
static void tell_held(struct rp_markup *out, const struct series *s, const struct values *v, const int *shown)
{
    size_t told = 0;
    for (size_t k = 0; k < s->nparam; k++) {
        char value[64], set[96], unit[80], sign[80];
        double held = NAN;
        for (size_t i = 0; v[k].value && i < s->n; i++)
            held = isnan(held) ? v[k].value[i] : held;
        if (shown[k] || !isfinite(held))
            continue;
        rp_number(held, 6, value, sizeof value);
        rp_typeset(value, set, sizeof set);
        unit_of(s, s->param[k], unit, sizeof unit);
        rp_unit(unit, sign, sizeof sign);
        rp_put(out, told++ ? ", " : "<p class=\"caption\">Held in all fits: ");
        rp_put_symbol(out, s->param[k]);
        rp_put(out, " = %s%s%s", set, *sign ? " " : "", sign);
    }
    if (told)
        rp_put(out, ".</p>\n");
}

static enum fit_status table(struct rp_markup *out, const struct series *s, struct fit_error *err)
{
    struct values *v = calloc(s->nparam + 1, sizeof *v);
    int *shown = calloc(s->nparam + 1, sizeof *shown);
    for (size_t k = 0; v && shown && k < s->nparam; k++) {
        v[k] = values_of(s, s->param[k]);
        shown[k] = says_something(s, &v[k]);
    }
    if (v && shown) {
        table_head(out, s, shown);
        for (size_t i = 0; i < s->n && i < MOST_ROWS; i++)
            table_row(out, s, v, shown, i);
        rp_put(out, "</tbody></table></div>\n");
        tell_held(out, s, v, shown);
        rp_put(out, "</section>\n");
    }
    for (size_t k = 0; v && k < s->nparam; k++)
        values_free(&v[k]);
    const int ok = v && shown;
    free(v);
    free(shown);
    return ok ? FIT_OK : fit_no_memory(err, "series");
}

enum fit_status rp_series_write(struct rp_markup *out, const char *folder, const char *axis, struct fit_error *err)
{
    struct series s = {0};
    enum fit_status st = read_series(folder, axis, &s, err);
    if (st == FIT_OK) {
        char title[1200];
        snprintf(title, sizeof title, "%.1000s: %zu fits", text_file_name(folder), s.n);
        rp_page_open(out, title);
        rp_put(
            out,
            "<header><h1>%s</h1>\n<p class=\"sub\">%zu fits</p></header>\n"
            "<nav aria-label=\"Contents\"><a href=\"#parameters\">Parameters</a> <a href=\"#table\">Fits</a></nav>\n",
            text_file_name(folder), s.n);
        st = figures(out, &s, err);
    }
    if (st == FIT_OK)
        st = table(out, &s, err);
    if (st == FIT_OK)
        rp_page_close(out);
    series_free(&s);
    return st;
}
