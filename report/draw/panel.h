/* panel.h -- a frame with axes, into which figures draw. */
#ifndef RP_PANEL_H
#define RP_PANEL_H

#include "report/draw/canvas.h"

enum { RP_FONT = 13 }; /* of all texts of a figure, in units */

struct rp_axis {
    double lo, hi;
    int log;
    const char *name, *unit; /* unit as in the files ("angstrom^2/s"), "1" and NULL: none */
    int hidden; /* 1: neither numbers nor name, those of an adjacent panel apply; 2: no ticks either */
};

struct rp_panel {
    double x, y, w, h; /* the frame: upper left corner, size */
    struct rp_axis ax, ay;
    const char *title;
    int grid;
};

/* Range of n values (without NaN), widened by a fraction of its length; never empty. log: of the positive ones. */
void rp_axis_begin(struct rp_axis *a);
void rp_axis_take(struct rp_axis *a, double value);
void rp_axis_end(struct rp_axis *a, double widen);
/* Both ranges in one, *a; logarithmic where both are. */
void rp_axis_join(struct rp_axis *a, const struct rp_axis *b);

double rp_panel_x(const struct rp_panel *p,
                  double x); /* position of a value, kept inside the frame */
double rp_panel_y(const struct rp_panel *p, double y);
int rp_panel_holds(const struct rp_panel *p, double x, double y);

/* Space for the numbers of the vertical axis and its name, left of the frame. */
double rp_panel_left(const struct rp_axis *ay, double height);

void rp_panel_grid(struct rp_canvas *c, const struct rp_panel *p); /* before the data */
/* Two panels, one above the other. `below`: that of residuals with a line at 0, or NULL; functions that draw under
 * and over the data. */
void rp_panels_open(struct rp_canvas *c, const struct rp_panel *p, const struct rp_panel *below);
void rp_panels_close(struct rp_canvas *c, const struct rp_panel *p, const struct rp_panel *below);
void rp_panel_frame(struct rp_canvas *c,
                    const struct rp_panel *p); /* after them: frame, numbers, names */

/* Horizontal colour bar below maps. */
void rp_colour_bar(struct rp_canvas *c, double x, double y, double w,
                   const struct rp_palette *palette, const struct rp_axis *a);

/* A vertical one, its numbers to the right, its name above; and how wide it is. */
void rp_colour_bar_upright(struct rp_canvas *c, double x, double y, double h, const struct rp_palette *palette,
                           const struct rp_axis *a);
double rp_colour_bar_width(const struct rp_axis *a, double h);

/* Names of series in a row from x on, folded at right; returns the height used. */
struct rp_key {
    const char *text;
    struct rp_style style;
    int dot;
};
double rp_keys_width(const struct rp_key *key, size_t n); /* of all in one row */
double rp_keys(struct rp_canvas *c, double x, double y, double right, const struct rp_key *key,
               size_t n);

/* Range of an axis of residuals that holds the largest of them, with room for numbers on a low
 * frame. */
void rp_axis_residuals(struct rp_axis *a, double largest);

/* Name and unit as they appear at an axis of this length: "D (10³ Å² s⁻¹)". */
void rp_axis_text(const struct rp_axis *a, double length, char *text, size_t size);

/* "angstrom^2/s" -> "Å² s⁻¹", "degree" -> "°" */
void rp_unit(const char *unit, char *text, size_t size);

/* A number for a sentence or a table: 4 digits by default. */
void rp_number(double x, int digits, char *text, size_t size);

#endif
