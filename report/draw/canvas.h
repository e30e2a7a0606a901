/* canvas.h -- the surface on which figures are drawn: an SVG text or a page of Cairo (PNG, PDF).
 *
 * Coordinates are in units of a CSS pixel, y downwards. A path is built with rp_move, rp_line, rp_dot, rp_box and
 * rp_close and drawn by rp_draw, which also clears it. Functions in between do not fail: a lack of memory is remembered
 * and reported by rp_svg_close or rp_cairo_close.
 *
 * Inks have names, so that a page can change them for a dark screen; files have the colours of white paper.
 */
#ifndef RP_CANVAS_H
#define RP_CANVAS_H

#include "base/status.h"
#include "report/draw/markup.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum rp_ink { /* or RP_RGB: a fixed colour */
              RP_NONE,
              RP_INK,   /* text, frames, models */
              RP_SOFT,  /* ticks, remarks */
              RP_GRID,  /* lines behind data */
              RP_PAPER, /* background */
              RP_S0,    /* series 0 .. RP_SERIES - 1 */
              RP_RGB_BIT = 1 << 24
};
enum { RP_SERIES = 8 };
#define RP_RGB(hex) ((uint32_t)RP_RGB_BIT | (hex))

struct rp_style {
    uint32_t fill, stroke; /* enum rp_ink or RP_RGB */
    double width;          /* of the stroke; its ends are round */
    double opacity;        /* of all; 0 means 1 */
    int dash;
};

enum rp_anchor { RP_LEFT, RP_MIDDLE, RP_RIGHT };

struct rp_label {
    enum rp_anchor anchor;
    double size;      /* of the font */
    uint32_t ink;     /* 0: RP_INK */
    int bold, upward; /* upward: turned by 90 degrees, read from below */
};

enum { RP_LEVELS = 127 }; /* colours of a map; index 0 is transparent: no data */

struct rp_palette {
    unsigned char rgba[RP_LEVELS + 1][4];
};

struct rp_image { /* rows from the top */
    size_t width, height;
    const unsigned char *pixel; /* indices 0 .. RP_LEVELS */
    const struct rp_palette *palette;
};

struct rp_canvas {
    double width, height;
    struct rp_step {
        double x, y;
        char what; /* M, L, Z */
    } * step;
    size_t nstep, capacity;
    int failed;
    void (*path)(struct rp_canvas *c, const struct rp_style *s);
    void (*text)(struct rp_canvas *c, double x, double y, const struct rp_label *l,
                 const char *text);
    void (*image)(struct rp_canvas *c, double x, double y, double w, double h,
                  const struct rp_image *image);
    struct rp_markup *out; /* svg */
    int page;    /* svg: colours by name */
    void *cairo; /* cairo_t */
    const struct rp_paper *paper; /* png, pdf */
};

void rp_move(struct rp_canvas *c, double x, double y);
void rp_line(struct rp_canvas *c, double x, double y);
void rp_close(struct rp_canvas *c);
void rp_dot(struct rp_canvas *c, double x, double y); /* as wide as the stroke */
void rp_box(struct rp_canvas *c, double x, double y, double w, double h);
void rp_draw(struct rp_canvas *c, const struct rp_style *s);

/* Width of a text, slightly overestimated: by the widths of Helvetica, times the ratio of the widest common
 * sans-serif (DejaVu Sans) to it. */
double rp_text_width(const char *text, double size);

/* Colour of an ink on white paper, 0xRRGGBB. */
uint32_t rp_ink_rgb(uint32_t ink);

/* How a file is made of a figure. */
struct rp_paper {
    const char *format; /* "svg", "png" or "pdf" */
    double point;       /* points (1/72 inch) of a unit */
    double dpi;         /* of png */
    const char *font;   /* family; NULL: sans-serif */
    const char *date;   /* of a pdf, "2026-11-27T17:00:00Z": that of the fit, so that the same figure is the same file;
                           or NULL */
};

/* SVG as part of an HTML page, colours are its CSS variables; alt: what the picture shows, for those who cannot see
 * it. */
void rp_svg_open(struct rp_canvas *c, struct rp_markup *out, double width, double height, const char *alt);
/* A file of its own, its size in millimetres. */
void rp_svg_paper(struct rp_canvas *c, struct rp_markup *out, const struct rp_paper *paper, double width, double height,
                  const char *alt);
enum fit_status rp_svg_close(struct rp_canvas *c, struct fit_error *err);

int rp_cairo_there(void); /* 1: PNG and PDF can be made */

/* PNG or PDF, made by Cairo; the paper lives as long as the canvas.  FIT_ERR_USAGE when this program was built without
 * it. */
enum fit_status rp_cairo_open(struct rp_canvas *c, const char *file, const struct rp_paper *paper, double width,
                              double height, struct fit_error *err);
enum fit_status rp_cairo_close(struct rp_canvas *c, const char *file, struct fit_error *err);

/* A file of its own in the format of the paper. */
struct rp_picture {
    double width, height;
    const char *alt;
    void (*draw)(struct rp_canvas *c, const void *what);
    const void *what;
};
enum fit_status rp_picture_write(const char *path, const struct rp_paper *paper, const struct rp_picture *p,
                                 struct fit_error *err);

#endif
