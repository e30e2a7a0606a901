/* page_series.c -- the page about a series of fits (`homodyne batch`): its table, and every parameter over the fits, or
 * over q where each has its own; see page.h.  Takes series.h5 of the folder.
 *
 * Drawn are parameters of all fits, not those of single angles; a value without an error has its interval, an open one
 * none.  Fits that have failed or not converged stand in the table. */
#include "report/page/page.h"

#include "base/number_text.h"
#include "common/text.h"
#include "hdf5/reader.h"
#include "report/draw/panel.h"
#include "report/draw/rich.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 440, HIGH = 250, MOST_ROWS = 2000 };

struct series {
    struct fit_h5 *h;
    size_t n, nparam;
    char **name, **status, **quality, **param; /* n; nparam */
    size_t nname, nstatus, nquality, nlist;
    char **list;
    double *q, *chi2; /* n */
    int over_q;       /* each fit has a q of its own */
};

static void series_free(struct series *s)
{
    fit_h5_free_strings(s->name, s->nname);
    fit_h5_free_strings(s->status, s->nstatus);
    fit_h5_free_strings(s->quality, s->nquality);
    fit_h5_free_strings(s->list, s->nlist);
    free(s->param);
    free(s->q);
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

static enum fit_status read_series(const char *folder, struct series *s, struct fit_error *err)
{
    char file[1200];
    snprintf(file, sizeof file, "%.1100s/series.h5", folder);
    enum fit_status st = fit_h5_open(file, &s->h, err);
    if (st == FIT_OK)
        st = fit_h5_read_strings(s->h, "/series/name", &s->name, &s->nname, err);
    if (st == FIT_OK)
        st = fit_h5_read_strings(s->h, "/series/status", &s->status, &s->nstatus, err);
    if (st == FIT_OK)
        st = fit_h5_read_strings(s->h, "/series/quality", &s->quality, &s->nquality, err);
    s->n = s->nname;
    if (st == FIT_OK && (s->nstatus != s->n || s->nquality != s->n))
        st = fit_fail(err, FIT_ERR_DATA, "%s: columns of different lengths", file);
    if (st == FIT_OK)
        st = find_params(s, err);
    if (st != FIT_OK)
        return st;
    s->q = column(s, "q", "");
    s->chi2 = column(s, "reduced_chi2", "");
    s->over_q = s->q != NULL && s->n > 1;
    for (size_t i = 0; s->over_q && i < s->n; i++)
        for (size_t k = 0; k < i; k++)
            s->over_q &= isfinite(s->q[i]) && fabs(s->q[i] - s->q[k]) > 1e-9 * s->q[i];
    return FIT_OK;
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
    return s->over_q ? s->q[i] : (double)i + 1;
}

static void draw_points(struct rp_canvas *c, const struct series *s, const struct values *v, const struct rp_panel *p)
{
    for (size_t i = 0; i < s->n; i++) {
        double lower, upper;
        ends(v, i, &lower, &upper);
        if (!isfinite(v->value[i]) || !isfinite(lower) || !isfinite(upper))
            continue;
        rp_move(c, rp_panel_x(p, place(s, i)), rp_panel_y(p, lower));
        rp_line(c, rp_panel_x(p, place(s, i)), rp_panel_y(p, upper));
    }
    rp_draw(c, &(struct rp_style){.stroke = RP_S0, .width = 1.2});
    for (size_t i = 0; i < s->n; i++)
        if (isfinite(v->value[i]))
            rp_dot(c, rp_panel_x(p, place(s, i)), rp_panel_y(p, v->value[i]));
    rp_draw(c, &(struct rp_style){.stroke = RP_S0, .width = s->n > 100 ? 3.5 : 6});
}

/* The axes: bars that are far longer than the values are apart do not set the scale. */
static void make_axes(const struct series *s, const struct values *v, struct rp_axis *x, struct rp_axis *y)
{
    double lo = INFINITY, hi = -INFINITY;
    rp_axis_begin(x);
    rp_axis_begin(y);
    for (size_t i = 0; i < s->n; i++) {
        rp_axis_take(x, place(s, i));
        if (!isfinite(v->value[i]))
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
    rp_axis_end(x, s->over_q ? 0.04 : 0.02);
    rp_axis_end(y, 0.07);
}

static enum fit_status draw_param(struct rp_markup *out, const struct series *s, const char *name,
                                  const struct values *v, struct fit_error *err)
{
    char unit[80] = "", path[200], symbol[160], *told = NULL;
    struct rp_canvas c;
    snprintf(path, sizeof path, "/series/%.100s", name);
    if (fit_h5_has_attr(s->h, path, "units") && fit_h5_read_attr_string(s->h, path, "units", &told, NULL) == FIT_OK)
        snprintf(unit, sizeof unit, "%s", told);
    free(told);
    rp_symbol(name, symbol, sizeof symbol);
    struct rp_axis x = {.name = s->over_q ? RP_IT "q" RP_IT : "fit", .unit = s->over_q ? "1/angstrom" : NULL},
                   y = {.name = symbol, .unit = unit};
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

static enum fit_status figures(struct rp_markup *out, const struct series *s, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    rp_put(out,
           "<section id=\"parameters\"><h2>%s</h2>\n<p class=\"caption\">Values with standard errors, or intervals of "
           "95 %% where there is no error.%s</p>\n<div class=\"figures w440\">\n",
           s->over_q ? "Parameters versus q" : "Parameters versus fit",
           s->over_q ? "" : " Fits are numbered as in the table.");
    for (size_t k = 0; k < s->nparam && st == FIT_OK; k++) {
        struct values v = values_of(s, s->param[k]);
        size_t some = 0;
        for (size_t i = 0; v.value && i < s->n; i++)
            some += isfinite(v.value[i]) != 0;
        if (some)
            st = draw_param(out, s, s->param[k], &v, err);
        values_free(&v);
    }
    rp_put(out, "</div></section>\n");
    return st;
}

/* ---- table ----------------------------------------------------------------------------------- */

static void cell_value(struct rp_markup *out, const struct values *v, size_t i)
{
    char value[64] = "", error[64] = "";
    if (v->value && isfinite(v->value[i])) {
        if (v->std && v->std[i] > 0)
            fit_format_error(v->value[i], v->std[i], value, sizeof value, error, sizeof error);
        else
            fit_format_unsure(v->value[i], v->lower ? v->lower[i] : NAN, v->upper ? v->upper[i] : NAN, value,
                              sizeof value);
    }
    rp_put(out, "<td class=\"n\">%s%s%s</td>", value, *error ? " ± " : "", error);
}

static const char *mood(const char *quality)
{
    return strcmp(quality, "good") == 0                                          ? "good"
           : strcmp(quality, "partial") == 0 || strcmp(quality, "doubtful") == 0 ? "fair"
                                                                                 : "bad";
}

static void table_head(struct rp_markup *out, const struct series *s)
{
    rp_put(
        out,
        "<section id=\"table\"><h2>Fits</h2>\n<div class=\"wide\"><table><thead><tr><th class=\"n\">#</th><th>fit</th>"
        "<th>quality</th><th class=\"n\">χ²/dof</th>");
    for (size_t k = 0; k < s->nparam; k++) {
        rp_put(out, "<th class=\"n\">");
        rp_put_symbol(out, s->param[k]);
        rp_put(out, "</th>");
    }
    rp_put(out, "</tr></thead><tbody>\n");
}

static enum fit_status table(struct rp_markup *out, const struct series *s, struct fit_error *err)
{
    struct values *v = calloc(s->nparam + 1, sizeof *v);
    if (!v)
        return fit_no_memory(err, "series");
    for (size_t k = 0; k < s->nparam; k++)
        v[k] = values_of(s, s->param[k]);
    table_head(out, s);
    for (size_t i = 0; i < s->n && i < MOST_ROWS; i++) {
        const char *word = *s->quality[i] ? s->quality[i] : s->status[i];
        rp_put(out, "<tr><td class=\"n\">%zu</td><th scope=\"row\">%s</th><td class=\"%s\"><b>%s</b></td>", i + 1,
               s->name[i], mood(word), word);
        if (s->chi2 && isfinite(s->chi2[i]))
            rp_put(out, "<td class=\"n\">%.4g</td>", s->chi2[i]);
        else
            rp_put(out, "<td></td>");
        for (size_t k = 0; k < s->nparam; k++)
            cell_value(out, &v[k], i);
        rp_put(out, "</tr>\n");
    }
    rp_put(out, "</tbody></table></div></section>\n");
    for (size_t k = 0; k < s->nparam; k++)
        values_free(&v[k]);
    free(v);
    return FIT_OK;
}

enum fit_status rp_series_write(struct rp_markup *out, const char *folder, struct fit_error *err)
{
    struct series s = {0};
    enum fit_status st = read_series(folder, &s, err);
    if (st == FIT_OK) {
        rp_put(out,
               "<!DOCTYPE html>\n<html lang=\"en\" xmlns=\"http://www.w3.org/1999/xhtml\">\n<head>\n<meta "
               "charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
               "<title>%s: %zu fits</title>\n<link rel=\"icon\" href=\"data:,\"/>\n<style>\n",
               text_file_name(folder), s.n);
        rp_put_raw(out, (const char *)embedded_report_css);
        rp_put(
            out,
            "</style>\n</head>\n<body>\n<header><h1>%s</h1>\n<p class=\"sub\">%zu fits</p></header>\n"
            "<nav aria-label=\"Contents\"><a href=\"#parameters\">Parameters</a> <a href=\"#table\">Fits</a></nav>\n",
            text_file_name(folder), s.n);
        st = figures(out, &s, err);
    }
    if (st == FIT_OK)
        st = table(out, &s, err);
    if (st == FIT_OK) {
        rp_put(out, "<script>\n//<![CDATA[\n");
        rp_put_raw(out, (const char *)embedded_live_js);
        rp_put(out, "//]]>\n</script>\n</body>\n</html>\n");
    }
    series_free(&s);
    return st;
}
