/* image_page.c -- the page about one image: its planes, their standard deviations, terms, the end of the
 * optimization. */
#include "report/images/images.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct plane {
    const char *path, *title, *unit;
} planes[] = {{"/image", "Stokes I", "Jy per pixel"},
              {"/sd", "standard deviation of I", "Jy per pixel"},
              {"/mean", "mean of the draws of I", "Jy per pixel"},
              {"/image_q", "Stokes Q", "Jy per pixel"},
              {"/sd_q", "standard deviation of Q", "Jy per pixel"},
              {"/image_u", "Stokes U", "Jy per pixel"},
              {"/sd_u", "standard deviation of U", "Jy per pixel"},
              {"/image_v", "Stokes V", "Jy per pixel"},
              {"/sd_v", "standard deviation of V", "Jy per pixel"},
              {"/alpha", "spectral index", NULL},
              {"/sd_alpha", "standard deviation of the spectral index", NULL},
              {"/beta", "curvature of the spectrum", NULL},
              {"/sd_beta", "standard deviation of the curvature", NULL}};

/* Planes that are not unknowns, and stay zero, are left out. */
static int is_empty(const struct rp_map *map)
{
    for (size_t k = 0; k < map->nx * map->ny; k++)
        if (map->value[k] != 0)
            return 0;
    return 1;
}

static enum fit_status one_plane(struct rp_markup *out, const struct fit_h5 *h, const struct plane *p,
                                 struct fit_error *err)
{
    struct rp_map map;
    enum fit_status s = rp_map_read(h, p->path, &map, err);
    if (s == FIT_OK && is_empty(&map) && p != planes) {
        rp_map_free(&map);
        return FIT_OK;
    }
    map.unit = p->unit;
    rp_put(out, "<figure>");
    s = s == FIT_OK ? rp_map_figure(out, &map, p->title, 0, err) : s;
    rp_put(out, "</figure>\n");
    rp_map_free(&map);
    return s;
}

static double number(const struct fit_h5 *h, const char *group, const char *name)
{
    char path[256];
    double x = NAN;
    snprintf(path, sizeof path, "%s%s", group, name);
    return fit_h5_exists(h, path) && fit_h5_read_scalar(h, path, &x, NULL) == FIT_OK ? x : NAN;
}

static enum fit_status terms(struct rp_markup *out, const struct fit_h5 *h, struct fit_error *err)
{
    char **name = NULL;
    size_t n = 0;
    const enum fit_status s = fit_h5_list(h, "/terms", &name, &n, err);
    rp_put(out,
           "<section id=\"terms\"><h2>Terms</h2>\n<p class=\"caption\">Values of data terms are reduced chi².</p>\n"
           "<table><thead><tr><th>term</th><th class=\"n\">value</th><th class=\"n\">weight</th></tr></thead>"
           "<tbody>\n");
    for (size_t k = 0; s == FIT_OK && k < n; k++)
        rp_put(out, "<tr><th>%s</th><td class=\"n\">%.6g</td><td class=\"n\">%g</td></tr>\n", name[k],
               number(h, "/terms/", name[k]), number(h, "/weights/", name[k]));
    rp_put(out, "</tbody></table></section>\n");
    fit_h5_free_strings(name, n);
    return s;
}

static char *text(const struct fit_h5 *h, const char *path, const char *name)
{
    char *t = NULL;
    if (fit_h5_exists(h, path) && fit_h5_has_attr(h, path, name))
        fit_h5_read_attr_string(h, path, name, &t, NULL);
    return t;
}

static void head(struct rp_markup *out, const struct fit_h5 *h)
{
    char *status = text(h, "/", "status"), *reason = text(h, "/", "reason"), *obs = text(h, "/", "observation"),
         *method = text(h, "/sd", "method");
    const int good = status && (strcmp(status, "gtol") == 0 || strcmp(status, "ftol") == 0);
    rp_put(out, "<h1>Image</h1>\n<p class=\"sub\">from %s</p>\n", obs ? obs : "an observation");
    if (status)
        rp_put(out, "<div class=\"verdict %s\"><p><b>%s</b> %s</p></div>\n", good ? "good" : "fair",
               good ? "Converged." : "Not converged:", good ? "" : reason ? reason : status);
    rp_put(out, "<dl class=\"facts\"><div><dt>J</dt><dd>%.8g</dd></div>", number(h, "", "/value"));
    if (method)
        rp_put(out, "<div><dt>uncertainties</dt><dd>%s</dd></div>", method);
    rp_put(out, "</dl>\n");
    free(status);
    free(reason);
    free(obs);
    free(method);
}

enum fit_status rp_image_page(struct rp_markup *out, const struct fit_h5 *h, struct fit_error *err)
{
    enum fit_status s = FIT_OK;
    head(out, h);
    rp_put(out, "<section id=\"images\"><h2>Images</h2>\n<p class=\"caption\">North is up, East is left; offsets from "
                "the centre. Maps of both signs are white at 0.</p>\n<div class=\"figures w360\">\n");
    for (size_t k = 0; s == FIT_OK && k < sizeof planes / sizeof *planes; k++)
        if (fit_h5_exists(h, planes[k].path))
            s = one_plane(out, h, &planes[k], err);
    rp_put(out, "</div></section>\n");
    return s == FIT_OK ? terms(out, h, err) : s;
}
