/* cairo.c -- the canvas as PNG or PDF, drawn by Cairo; see canvas.h.
 *
 * RP_CAIRO is defined when the library is available. SVG files and the page are made without it. */
#include "report/draw/canvas.h"

#ifdef RP_CAIRO
#include "common/text.h"
#include "report/draw/png.h"
#include "report/draw/rich.h"

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

/* ---- texts ----------------------------------------------------------------------------------- */

/* The accents of rich.c, drawn by signs that every font has, over the letter before. */
static const char *accent_sign(const char *text)
{
    static const char *const accent[][2] = {{"\u0307", "˙"}, {"\u0302", "ˆ"}, {"\u0304", "¯"}, {"\u0303", "˜"}};
    for (size_t k = 0; k < 4; k++)
        if (strncmp(text, accent[k][0], 2) == 0)
            return accent[k][1];
    return NULL;
}

/* Does the current font have this character? Index 0 is the glyph for missing characters. */
static int has_glyph(cairo_t *k, const char *character)
{
    cairo_glyph_t *glyph = NULL;
    int n = 0;
    const cairo_status_t st = cairo_scaled_font_text_to_glyphs(cairo_get_scaled_font(k), 0, 0, character, -1, &glyph,
                                                               &n,
                                                               NULL, NULL, NULL);
    const int there = st == CAIRO_STATUS_SUCCESS && n == 1 && glyph[0].index != 0;
    cairo_glyph_free(glyph);
    return there;
}

static void set_font(struct rp_canvas *c, const struct rp_label *l, const struct rp_run *run, int other)
{
    const char *family = other ? "DejaVu Sans" : c->paper->font ? c->paper->font : "sans-serif";
    cairo_select_font_face(c->cairo, family, run->italic ? CAIRO_FONT_SLANT_ITALIC : CAIRO_FONT_SLANT_NORMAL,
                           l->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(c->cairo, l->size * (run->shift ? rp_small : 1));
}

/* Characters from text on that one font has: returns their length in bytes, and sets the font. */
static size_t same_font(struct rp_canvas *c, const struct rp_label *l, const struct rp_run *run, const char *text)
{
    size_t n = 0;
    int other = 0;
    set_font(c, l, run, 0);
    while (text + n < run->text + run->n && !accent_sign(text + n)) {
        char one[5] = "";
        const size_t valid = text_utf8_length(text + n), m = valid ? valid : 1;
        memcpy(one, text + n, m);
        const int there = (unsigned char)one[0] < 128 || has_glyph(c->cairo, one);
        if (n == 0 && !there)
            set_font(c, l, run, other = 1);
        else if (n > 0 && !there)
            break;
        n += m;
        if (other) /* one at a time: the next may be in the font again */
            break;
    }
    return n;
}

/* Draws (or only measures) the text from x on; returns its end. */
static double put_text(struct rp_canvas *c, const struct rp_label *l, const char *text, double x, int draw)
{
    struct rp_run run = {0};
    cairo_text_extents_t e;
    double before = x; /* where the last character begins, for an accent */
    while (rp_run_next(&text, &run)) {
        const double y = -rp_shift * (run.shift > 0 ? 1.6 : 1) * l->size * run.shift;
        for (const char *at = run.text; at < run.text + run.n;) {
            char piece[512];
            const char *sign = accent_sign(at);
            const size_t n = sign ? 2 : same_font(c, l, &run, at);
            snprintf(piece, sizeof piece, "%.*s", (int)n, sign ? sign : at);
            if (sign)
                set_font(c, l, &run, 0);
            cairo_text_extents(c->cairo, piece, &e);
            cairo_move_to(c->cairo, sign ? (before + x - e.x_advance) / 2 + 0.06 * l->size * run.italic : x, y);
            if (draw)
                cairo_show_text(c->cairo, piece);
            before = x;
            x += sign ? 0 : e.x_advance;
            at += n;
        }
    }
    return x;
}

static void cairo_write(struct rp_canvas *c, double x, double y, const struct rp_label *l, const char *text)
{
    static const double part[] = {0, 0.5, 1};
    cairo_t *k = c->cairo;
    const double width = put_text(c, l, text, 0, 0);
    source(k, l->ink ? l->ink : RP_INK, 1);
    cairo_save(k);
    cairo_translate(k, x, y);
    if (l->upward)
        cairo_rotate(k, -acos(-1.0) / 2);
    put_text(c, l, text, -part[l->anchor] * width, 1);
    cairo_new_path(k);
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

static cairo_surface_t *surface(const char *file, const struct rp_paper *paper, double width, double height)
{
    const double scale = paper->point * paper->dpi / 72;
    if (strcmp(paper->format, "pdf") != 0)
        return cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)ceil(width * scale - 1e-6),
                                          (int)ceil(height * scale - 1e-6));
    cairo_surface_t *s = cairo_pdf_surface_create(file, width * paper->point, height * paper->point);
    cairo_pdf_surface_set_metadata(s, CAIRO_PDF_METADATA_CREATE_DATE,
                                   paper->date ? paper->date : "1970-01-01T00:00:00Z");
    return s;
}

enum fit_status rp_cairo_open(struct rp_canvas *c, const char *file, const struct rp_paper *paper, double width,
                              double height, struct fit_error *err)
{
    const double scale = strcmp(paper->format, "pdf") == 0 ? paper->point : paper->point * paper->dpi / 72;
    cairo_surface_t *s = surface(file, paper, width, height);
    *c = (struct rp_canvas){.width = width,
                            .height = height,
                            .path = cairo_draw,
                            .text = cairo_write,
                            .image = cairo_picture,
                            .paper = paper,
                            .cairo = cairo_create(s)};
    cairo_surface_destroy(s); /* the context holds it */
    if (cairo_status(c->cairo) != CAIRO_STATUS_SUCCESS) {
        const char *why = cairo_status_to_string(cairo_status(c->cairo));
        cairo_destroy(c->cairo);
        return fit_fail(err, FIT_ERR_IO, "%s: cannot be drawn: %s", file, why);
    }
    source(c->cairo, RP_PAPER, 1);
    cairo_paint(c->cairo);
    cairo_scale(c->cairo, scale, scale);
    return FIT_OK;
}

/* The bytes of a PNG as they come; behind the first chunk its resolution. */
struct png {
    FILE *out;
    size_t n; /* bytes so far */
    double dpi;
};

static cairo_status_t png_bytes(void *closure, const unsigned char *data, unsigned n)
{
    enum { HEAD = 8 + 25 }; /* signature, IHDR */
    struct png *png = closure;
    const size_t first = png->n < HEAD ? HEAD - png->n < n ? HEAD - png->n : n : 0;
    size_t done = fwrite(data, 1, first, png->out);
    if (png->n < HEAD && png->n + first == HEAD)
        rp_png_resolution(png->out, png->dpi);
    done += fwrite(data + first, 1, n - first, png->out);
    png->n += n;
    return done == n ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

static cairo_status_t write_png(cairo_surface_t *s, const char *file, double dpi)
{
    struct png png = {.out = fopen(file, "wb"), .dpi = dpi};
    if (!png.out)
        return CAIRO_STATUS_WRITE_ERROR;
    const cairo_status_t st = cairo_surface_write_to_png_stream(s, png_bytes, &png);
    return fclose(png.out) == 0 ? st : CAIRO_STATUS_WRITE_ERROR;
}

enum fit_status rp_cairo_close(struct rp_canvas *c, const char *file, struct fit_error *err)
{
    cairo_surface_t *s = cairo_surface_reference(cairo_get_target(c->cairo));
    cairo_status_t st = cairo_status(c->cairo);
    if (st == CAIRO_STATUS_SUCCESS && strcmp(c->paper->format, "pdf") != 0)
        st = write_png(s, file, c->paper->dpi);
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

enum fit_status rp_cairo_open(struct rp_canvas *c, const char *file, const struct rp_paper *paper, double width,
                              double height, struct fit_error *err)
{
    (void)c, (void)paper, (void)width, (void)height;
    return fit_fail(err, FIT_ERR_INTERNAL, "%s: there is no Cairo", file);
}

enum fit_status rp_cairo_close(struct rp_canvas *c, const char *file, struct fit_error *err)
{
    (void)c;
    return fit_fail(err, FIT_ERR_INTERNAL, "%s: no canvas is open", file);
}

#endif
