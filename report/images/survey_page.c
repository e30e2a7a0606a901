/* survey_page.c -- the page about a survey: the number of points that explain the data, the values of each axis
 * among them, the images of the best, their mean and scatter. */
#include "report/images/images.h"

#include "imaging/ranking.h"
#include "report/draw/panel.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN = 24, ROWS = 100 };

/* ---- histograms ------------------------------------------------------------------------------------------- */

static void bars(struct rp_canvas *c, const struct fit_ranking *t, size_t axis)
{
    enum { NAME = 84, LINE = 24, END = 92 };
    double y = 8;
    size_t all, in;
    const struct rp_label left = {.anchor = RP_RIGHT, .size = RP_FONT}, right = {.anchor = RP_LEFT, .size = RP_FONT};
    for (size_t p = 0; p < t->n; p++) {
        char text[64];
        if (!fit_ranking_value(t, axis, p, &all, &in))
            continue;
        const double room = c->width - NAME - END, w = room * (double)in / (double)all;
        snprintf(text, sizeof text, "%g", t->value[axis][p]);
        c->text(c, NAME - 8, y + 13, &left, text);
        rp_box(c, NAME, y + 1, room, 16);
        rp_draw(c, &(struct rp_style){.fill = RP_GRID});
        rp_box(c, NAME, y + 1, w, 16);
        rp_draw(c, &(struct rp_style){.fill = RP_S0});
        snprintf(text, sizeof text, "%zu of %zu", in, all);
        c->text(c, NAME + room + 8, y + 13, &right, text);
        y += LINE;
    }
}

static enum fit_status histogram(struct rp_markup *out, const struct fit_ranking *t, size_t axis, struct fit_error *err)
{
    struct rp_canvas c;
    size_t values = 0, all, in;
    char alt[200];
    for (size_t p = 0; p < t->n; p++)
        values += (size_t)fit_ranking_value(t, axis, p, &all, &in);
    snprintf(alt, sizeof alt, "points of the Top Set for each of %zu values of %s", values, t->axis[axis]);
    rp_put(out, "<figure><h3>%s</h3>", t->axis[axis]);
    rp_svg_open(&c, out, 380, 16 + 24 * (double)values, alt);
    bars(&c, t, axis);
    const enum fit_status s = rp_svg_close(&c, err);
    rp_put(out, "</figure>\n");
    return s;
}

/* ---- images ----------------------------------------------------------------------------------------------- */

static enum fit_status read_image(const struct fit_ranking *t, size_t point, struct rp_map *map, struct fit_error *err)
{
    return fit_h5_read_block(t->h, "/images", (size_t[]){point, 0, 0}, (size_t[]){1, map->ny, map->nx}, map->value,
                             err);
}

/* Values of the axes and chi2 of a point. */
static void describe(struct rp_markup *out, const struct fit_ranking *t, size_t p)
{
    for (size_t k = 0; k < t->naxis; k++)
        rp_put(out, "%s <span class=\"o\">%g</span>%s", t->axis[k], t->value[k][p], k + 1 < t->naxis ? ", " : "");
    for (size_t k = 0; k < t->nterm; k++)
        if (t->chi2[k])
            rp_put(out, "; <span class=\"o\">χ² %s %.4f</span>", t->term[k], t->chi2[k][p]);
}

static enum fit_status gallery(struct rp_markup *out, const struct fit_ranking *t, struct rp_map *map,
                               struct fit_error *err)
{
    enum fit_status s = FIT_OK;
    rp_put(out, "<section id=\"best\"><h2>The best</h2>\n<p class=\"caption\">Each from 0 to its own maximum; North is "
                "up, East is left.</p>\n<div class=\"figures sky\">\n");
    for (size_t i = 0; s == FIT_OK && i < t->nbest && i < SHOWN; i++) {
        const size_t p = t->best[i].point;
        char title[64];
        s = read_image(t, p, map, err);
        map->lo = map->hi = 0;
        for (size_t k = 0; k < map->nx * map->ny; k++)
            map->hi = fmax(map->hi, map->value[k]);
        snprintf(title, sizeof title, "image of point %zu", p);
        rp_put(out, "<figure>");
        s = s == FIT_OK ? rp_map_figure(out, map, title, 1, err) : s;
        rp_put(out, "<p class=\"caption\"><b>%zu</b>: ", p);
        describe(out, t, p);
        rp_put(out, "</p></figure>\n");
    }
    rp_put(out, "</div></section>\n");
    return s;
}

/* Mean and standard deviation over the Top Set, by Welford's recurrence. */
static enum fit_status means(struct rp_markup *out, const struct fit_ranking *t, struct rp_map *map,
                             struct fit_error *err)
{
    const size_t n = map->nx * map->ny;
    enum fit_status s = FIT_OK;
    struct rp_map of[2] = {*map, *map};
    for (int i = 0; i < 2; i++)
        of[i].value = calloc(n, sizeof(double));
    if (!of[0].value || !of[1].value)
        s = fit_no_memory(err, "page");
    for (size_t i = 0; s == FIT_OK && i < t->nbest; i++) {
        s = read_image(t, t->best[i].point, map, err);
        for (size_t k = 0; k < n; k++) {
            const double d = map->value[k] - of[0].value[k];
            of[0].value[k] += d / (double)(i + 1);
            of[1].value[k] += d * (map->value[k] - of[0].value[k]);
        }
    }
    rp_put(out, "<section id=\"mean\"><h2>Mean and scatter of the Top Set</h2>\n<div class=\"figures w360\">\n");
    for (int i = 0; s == FIT_OK && i < 2; i++) {
        of[i].lo = of[i].hi = 0;
        for (size_t k = 0; k < n; k++) {
            of[i].value[k] = i ? sqrt(of[i].value[k] / (double)(t->nbest > 1 ? t->nbest - 1 : 1)) : of[i].value[k];
            of[i].hi = fmax(of[i].hi, of[i].value[k]);
        }
        of[i].hi = of[i].hi > 0 ? of[i].hi : 1;
        of[i].unit = "Jy per pixel";
        rp_put(out, "<figure>");
        s = rp_map_figure(out, &of[i], i ? "standard deviation between images" : "mean image", 0, err);
        rp_put(out, "</figure>\n");
    }
    rp_put(out, "</div></section>\n");
    rp_map_free(&of[0]);
    rp_map_free(&of[1]);
    return s;
}

/* ---- the whole -------------------------------------------------------------------------------------------- */

static void table(struct rp_markup *out, const struct fit_ranking *t)
{
    rp_put(out, "<section id=\"points\"><h2>Points</h2>\n");
    if (t->nbest > ROWS)
        rp_put(out, "<p class=\"caption\">The first %d of %zu.</p>\n", ROWS, t->nbest);
    rp_put(out, "<div class=\"wide\"><table><thead><tr><th class=\"n\">index</th>");
    for (size_t k = 0; k < t->naxis; k++)
        rp_put(out, "<th class=\"n\">%s</th>", t->axis[k]);
    for (size_t k = 0; k < t->nterm; k++)
        if (t->chi2[k])
            rp_put(out, "<th class=\"n\">χ² %s</th>", t->term[k]);
    rp_put(out, "<th class=\"n\">J</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < t->nbest && i < ROWS; i++) {
        const size_t p = t->best[i].point;
        rp_put(out, "<tr><td class=\"n\">%zu</td>", p);
        for (size_t k = 0; k < t->naxis; k++)
            rp_put(out, "<td class=\"n\">%g</td>", t->value[k][p]);
        for (size_t k = 0; k < t->nterm; k++)
            if (t->chi2[k])
                rp_put(out, "<td class=\"n\">%.5f</td>", t->chi2[k][p]);
        rp_put(out, "<td class=\"n\">%.6g</td></tr>\n", t->J[p]);
    }
    rp_put(out, "</tbody></table></div></section>\n");
}

static void head(struct rp_markup *out, const struct fit_ranking *t)
{
    char *obs = NULL;
    size_t unfinished = 0;
    if (fit_h5_has_attr(t->h, "/", "observation"))
        fit_h5_read_attr_string(t->h, "/", "observation", &obs, NULL);
    for (size_t p = 0; p < t->n; p++)
        unfinished += t->status[p] == 2;
    rp_put(out, "<h1>Survey of images</h1>\n<p class=\"sub\">%zu points%s%s</p>\n", t->n, obs ? ", from " : "",
           obs ? obs : "");
    rp_put(out, "<div class=\"verdict %s\"><p><b>%zu of %zu</b> points explain the data: reduced χ² at most",
           t->nbest ? "good" : "bad", t->nbest, t->n);
    for (size_t k = 0, first = 1; k < t->nterm; k++)
        if (t->chi2[k]) {
            rp_put(out, "%s <span class=\"o\">%g of %s</span>", first ? "" : ",", fit_ranking_threshold(t, t->term[k]),
                   t->term[k]);
            first = 0;
        }
    rp_put(out, ".</p>");
    if (unfinished)
        rp_put(out, "<p>%zu of all points used up their iterations before they converged.</p>", unfinished);
    rp_put(out, "</div>\n");
    free(obs);
}

static enum fit_status body(struct rp_markup *out, const struct fit_ranking *t, struct fit_error *err)
{
    size_t dims[8];
    int rank = 0;
    double *psize = NULL;
    size_t n = 0;
    struct rp_map map = {.pixel = NAN};
    enum fit_status s = fit_h5_shape(t->h, "/images", &rank, dims, err);
    if (s == FIT_OK && (rank != 3 || dims[0] != t->n))
        s = fit_fail(err, FIT_ERR_DATA, "%s: /images are not %zu images", fit_h5_file(t->h), t->n);
    if (s != FIT_OK)
        return s;
    map.ny = dims[1];
    map.nx = dims[2];
    if (fit_h5_has_attr(t->h, "/images", "psize") &&
        fit_h5_read_attr_doubles(t->h, "/images", "psize", &psize, &n, NULL) == FIT_OK && n == 1)
        map.pixel = psize[0];
    free(psize);
    map.value = malloc(map.nx * map.ny * sizeof *map.value);
    s = map.value ? FIT_OK : fit_no_memory(err, "page");
    rp_put(out, "<section id=\"axes\"><h2>Values in the Top Set</h2>\n<div class=\"figures w360\">\n");
    for (size_t k = 0; s == FIT_OK && k < t->naxis; k++)
        s = histogram(out, t, k, err);
    rp_put(out, "</div></section>\n");
    if (s == FIT_OK && t->nbest)
        s = means(out, t, &map, err);
    if (s == FIT_OK && t->nbest)
        s = gallery(out, t, &map, err);
    rp_map_free(&map);
    if (s == FIT_OK && t->nbest)
        table(out, t);
    return s;
}

enum fit_status rp_survey_page(struct rp_markup *out, const struct fit_h5 *h, size_t nthreshold,
                               const struct fit_named_number *threshold, struct fit_error *err)
{
    struct fit_ranking t = {.h = h, .threshold = threshold, .nthreshold = nthreshold};
    enum fit_status s = fit_ranking_read(&t, err);
    if (s == FIT_OK) {
        head(out, &t);
        s = body(out, &t, err);
    }
    fit_ranking_free(&t);
    return s;
}
