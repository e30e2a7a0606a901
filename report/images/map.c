/* map.c -- an image of the sky as a figure: East to the left, North up. */
#include "report/images/images.h"

#include "observation/observation.h"
#include "report/draw/colour.h"
#include "report/draw/panel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* RIGHT: half of the last number below a bar that ends with its maximum, as 0.010. */
enum { WIDE = 400, NARROW = 190, LEFT = 62, RIGHT = 24, TOP = 30, BAR = 108 };

/* An attribute of the dataset; NaN: none. */
static double attribute(const struct fit_h5 *h, const char *path, const char *name)
{
    double *x = NULL, value = NAN;
    size_t n = 0;
    if (fit_h5_has_attr(h, path, name) && fit_h5_read_attr_doubles(h, path, name, &x, &n, NULL) == FIT_OK && n == 1)
        value = x[0];
    free(x);
    return value;
}

void rp_map_free(struct rp_map *map)
{
    free(map->value);
    map->value = NULL;
}

static void set_range(struct rp_map *m)
{
    double lo = INFINITY, hi = -INFINITY;
    for (size_t k = 0; k < m->nx * m->ny; k++)
        if (isfinite(m->value[k])) {
            lo = fmin(lo, m->value[k]);
            hi = fmax(hi, m->value[k]);
        }
    hi = hi > -INFINITY ? hi : 1;
    m->lo = lo < -0.02 * fabs(hi) ? -fmax(-lo, hi) : 0;
    m->hi = m->lo < 0 ? -m->lo : hi > 0 ? hi : 1;
}

enum fit_status rp_map_read(const struct fit_h5 *h, const char *path, struct rp_map *map, struct fit_error *err)
{
    size_t dims[8], n = 0;
    int rank = 0;
    *map = (struct rp_map){.pixel = attribute(h, path, "psize")};
    enum fit_status s = fit_h5_shape(h, path, &rank, dims, err);
    if (s == FIT_OK && rank != 2)
        return fit_fail(err, FIT_ERR_DATA, "%s: %s is not an image of rows and columns", fit_h5_file(h), path);
    s = s == FIT_OK ? fit_h5_read_doubles(h, path, &map->value, &n, err) : s;
    if (s != FIT_OK)
        return s;
    map->ny = dims[0];
    map->nx = dims[1];
    set_range(map);
    return FIT_OK;
}

/* The colours of all pixels. */
static unsigned char *levels(const struct rp_map *m)
{
    unsigned char *level = malloc(m->nx * m->ny);
    for (size_t k = 0; level && k < m->nx * m->ny; k++)
        level[k] = rp_level(m->value[k], m->lo, m->hi);
    return level;
}

/* Offsets from the centre in micro arc seconds, or pixels. */
static void axes(const struct rp_map *m, struct rp_panel *p)
{
    const double side = isfinite(m->pixel) ? m->pixel / FIT_OBS_UAS : 1;
    const char *unit = isfinite(m->pixel) ? "µas" : NULL;
    const double x = side * (double)m->nx / 2, y = side * (double)m->ny / 2;
    p->ax = (struct rp_axis){.lo = -x, .hi = x, .name = "West", .unit = unit};
    p->ay = (struct rp_axis){.lo = -y, .hi = y, .name = "North", .unit = unit};
}

static void draw_small(struct rp_canvas *c, const struct rp_image *image)
{
    c->image(c, 0, 0, c->width, c->height, image);
}

static void draw_large(struct rp_canvas *c, const struct rp_map *m, const struct rp_image *image, const char *title)
{
    struct rp_panel p = {.x = LEFT, .y = TOP, .w = c->width - LEFT - RIGHT, .h = c->height - TOP - BAR, .title = title};
    struct rp_axis bar = {.lo = m->lo, .hi = m->hi, .name = m->unit};
    axes(m, &p);
    c->image(c, p.x, p.y, p.w, p.h, image);
    rp_panel_frame(c, &p);
    rp_colour_bar(c, p.x, p.y + p.h + BAR - 54, p.w, image->palette, &bar);
}

enum fit_status rp_map_figure(struct rp_markup *out, const struct rp_map *m, const char *title, int small,
                              struct fit_error *err)
{
    unsigned char *level = levels(m);
    if (!level)
        return fit_no_memory(err, "page");
    const double aspect = (double)m->ny / (double)m->nx;
    const double width = small ? NARROW : WIDE, inner = small ? NARROW : WIDE - LEFT - RIGHT;
    const double height = inner * aspect + (small ? 0 : TOP + BAR);
    const struct rp_image image = {m->nx, m->ny, level, m->lo < 0 ? rp_diverging() : rp_viridis()};
    struct rp_canvas c;
    rp_svg_open(&c, out, width, height, title);
    if (small)
        draw_small(&c, &image);
    else
        draw_large(&c, m, &image, title);
    const enum fit_status s = rp_svg_close(&c, err);
    free(level);
    return s;
}
