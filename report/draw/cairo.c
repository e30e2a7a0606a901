/* cairo.c -- the canvas as PNG or PDF, drawn by Cairo; see canvas.h.
 *
 * RP_CAIRO is defined when the library is there.  Without it SVG files and the page are made all
 * the same. */
#include "report/draw/canvas.h"

#ifdef RP_CAIRO
#include <cairo-pdf.h>
#include <cairo.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void source(cairo_t *k, uint32_t ink, double opacity)
{
    const uint32_t rgb = rp_ink_rgb(ink);
    cairo_set_source_rgba(k, (rgb >> 16 & 255) / 255.0, (rgb >> 8 & 255) / 255.0,
                          (rgb & 255) / 255.0, opacity > 0 ? opacity : 1);
}

static void cairo_draw(struct rp_canvas *c, const struct rp_style *s)
{
    cairo_t *k = c->cairo;
    cairo_new_path(k);
    for (size_t i = 0; i < c->nstep; i++)
        if (c->step[i].what == 'M')
            cairo_move_to(k, c->step[i].x, c->step[i].y);
        else if (c->step[i].what == 'L')
            cairo_line_to(k, c->step[i].x, c->step[i].y);
        else
            cairo_close_path(k);
    cairo_set_line_cap(k, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_join(k, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_width(k, s->width);
    cairo_set_dash(k, (double[]){5, 4}, s->dash ? 2 : 0, 0);
    if (s->fill != RP_NONE) {
        source(k, s->fill, s->opacity);
        cairo_fill_preserve(k);
    }
    if (s->stroke != RP_NONE) {
        source(k, s->stroke, s->opacity);
        cairo_stroke_preserve(k);
    }
    cairo_new_path(k);
}

static void cairo_write(struct rp_canvas *c, double x, double y, const struct rp_label *l,
                        const char *text)
{
    static const double part[] = {0, 0.5, 1};
    cairo_t *k = c->cairo;
    cairo_text_extents_t e;
    cairo_select_font_face(k, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           l->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(k, l->size);
    cairo_text_extents(k, text, &e);
    source(k, l->ink ? l->ink : RP_INK, 1);
    cairo_save(k);
    cairo_translate(k, x, y);
    if (l->upward)
        cairo_rotate(k, -acos(-1.0) / 2);
    cairo_move_to(k, -part[l->anchor] * e.x_advance, 0);
    cairo_show_text(k, text);
    cairo_restore(k);
}

/* Cairo wants native 32-bit words with the colours multiplied by alpha. */
static void cairo_picture(struct rp_canvas *c, double x, double y, double w, double h,
                          const struct rp_image *m)
{
    cairo_t *k = c->cairo;
    cairo_surface_t *s =
        cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (int)m->width, (int)m->height);
    unsigned char *data = cairo_image_surface_get_data(s);
    const int stride = cairo_image_surface_get_stride(s);
    if (!data) {
        c->failed = 1;
        cairo_surface_destroy(s);
        return;
    }
    for (size_t r = 0; r < m->height; r++)
        for (size_t i = 0; i < m->width; i++) {
            const unsigned char *p = m->palette->rgba[m->pixel[r * m->width + i]];
            const uint32_t a = p[3], word = a << 24 | (p[0] * a / 255) << 16 |
                                            (p[1] * a / 255) << 8 | (p[2] * a / 255);
            memcpy(data + r * (size_t)stride + 4 * i, &word, 4);
        }
    cairo_surface_mark_dirty(s);
    cairo_save(k);
    cairo_translate(k, x, y);
    cairo_scale(k, w / (double)m->width, h / (double)m->height);
    cairo_set_source_surface(k, s, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(k), CAIRO_FILTER_NEAREST);
    cairo_rectangle(k, 0, 0, (double)m->width, (double)m->height);
    cairo_fill(k);
    cairo_restore(k);
    cairo_surface_destroy(s);
}

int rp_cairo_there(void)
{
    return 1;
}

enum fit_status rp_cairo_open(struct rp_canvas *c, const char *file, int pdf, double scale,
                              double width, double height, struct fit_error *err)
{
    const double points = 0.75; /* of a unit: 96 units and 72 points are an inch */
    cairo_surface_t *s =
        pdf ? cairo_pdf_surface_create(file, width * points, height * points)
            : cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(width * scale),
                                         (int)ceil(height * scale));
    *c = (struct rp_canvas){.width = width,
                            .height = height,
                            .path = cairo_draw,
                            .text = cairo_write,
                            .image = cairo_picture,
                            .cairo = cairo_create(s)};
    cairo_surface_destroy(s); /* the context holds it */
    if (cairo_status(c->cairo) != CAIRO_STATUS_SUCCESS) {
        const char *why = cairo_status_to_string(cairo_status(c->cairo));
        cairo_destroy(c->cairo);
        return fit_fail(err, FIT_ERR_IO, "%s: cannot be drawn: %s", file, why);
    }
    source(c->cairo, RP_PAPER, 1);
    cairo_paint(c->cairo);
    cairo_scale(c->cairo, pdf ? points : scale, pdf ? points : scale);
    return FIT_OK;
}

enum fit_status rp_cairo_close(struct rp_canvas *c, const char *file, int pdf,
                               struct fit_error *err)
{
    cairo_surface_t *s = cairo_surface_reference(cairo_get_target(c->cairo));
    cairo_status_t st = cairo_status(c->cairo);
    if (st == CAIRO_STATUS_SUCCESS && !pdf)
        st = cairo_surface_write_to_png(s, file);
    cairo_surface_finish(s);
    if (st == CAIRO_STATUS_SUCCESS)
        st = cairo_surface_status(s);
    cairo_destroy(c->cairo);
    cairo_surface_destroy(s);
    free(c->step);
    if (c->failed)
        return fit_no_memory(err, file);
    if (st != CAIRO_STATUS_SUCCESS)
        return fit_fail(err, FIT_ERR_IO, "%s: cannot be written: %s", file,
                        cairo_status_to_string(st));
    return FIT_OK;
}

#else

int rp_cairo_there(void)
{
    return 0;
}

enum fit_status rp_cairo_open(struct rp_canvas *c, const char *file, int pdf, double scale,
                              double width, double height, struct fit_error *err)
{
    (void)c, (void)pdf, (void)scale, (void)width, (void)height;
    return fit_fail(err, FIT_ERR_INTERNAL, "%s: there is no Cairo", file);
}

enum fit_status rp_cairo_close(struct rp_canvas *c, const char *file, int pdf,
                               struct fit_error *err)
{
    (void)c, (void)pdf;
    return fit_fail(err, FIT_ERR_INTERNAL, "%s: no canvas is open", file);
}

#endif
