/* svg.c -- the canvas as SVG 1.1, for a page or as a file; see canvas.h.
 *
 * Coordinates are written in tenths of a unit and relative to the last point, which makes long
 * curves short. */
#include "report/draw/canvas.h"
#include "report/draw/png.h"
#include "report/draw/rich.h"

#include <math.h>
#include <stdlib.h>

/* x / 10 in the fewest characters: 125 is 12.5, -5 is -.5 */
static void tenths(struct rp_markup *out, long x, int space)
{
    const long a = labs(x);
    if (space && x >= 0)
        rp_put(out, " ");
    if (x < 0)
        rp_put(out, "-");
    if (a >= 10 || a == 0)
        rp_put(out, "%ld", a / 10);
    if (a % 10)
        rp_put(out, ".%ld", a % 10);
}

static long tenth(double x)
{
    return lround(10 * x);
}

static void ink(struct rp_canvas *c, const char *attribute, uint32_t of)
{
    static const char *const name[] = {"none", "ink", "soft", "grid", "paper"};
    if (of == RP_NONE)
        rp_put(c->out, " %s=\"none\"", attribute);
    else if (!c->page || of & RP_RGB_BIT)
        rp_put(c->out, " %s=\"#%06lx\"", attribute, (unsigned long)rp_ink_rgb(of));
    else if (of < RP_S0)
        rp_put(c->out, " %s=\"var(--%s)\"", attribute, name[of]);
    else
        rp_put(c->out, " %s=\"var(--s%lu)\"", attribute, (unsigned long)(of - RP_S0));
}

static void open_path(struct rp_canvas *c, const struct rp_style *s)
{
    rp_put(c->out, "<path");
    ink(c, "fill", s->fill);
    if (s->stroke != RP_NONE) {
        ink(c, "stroke", s->stroke);
        rp_put(c->out, " stroke-width=\"%.3g\" stroke-linejoin=\"round\" stroke-linecap=\"round\"", s->width);
    }
    if (s->dash)
        rp_put(c->out, " stroke-dasharray=\"5 4\"");
    if (s->opacity > 0 && s->opacity < 1)
        rp_put(c->out, " opacity=\"%.3g\"", s->opacity);
}

static void svg_path(struct rp_canvas *c, const struct rp_style *s)
{
    long x = 0, y = 0, x0 = 0, y0 = 0;
    char last = ' ';
    open_path(c, s);
    rp_put(c->out, " d=\"");
    for (size_t k = 0; k < c->nstep; k++) {
        const struct rp_step *p = &c->step[k];
        if (p->what == 'Z') {
            rp_put(c->out, "z");
            x = x0;
            y = y0;
            last = 'Z';
            continue;
        }
        const long u = tenth(p->x), v = tenth(p->y);
        const int named = p->what != last;
        if (named)
            rp_put(c->out, p->what == 'M' ? "m" : "l");
        else if (p->what == 'M')
            rp_put(c->out, "m");
        tenths(c->out, u - x, !(named || p->what == 'M'));
        tenths(c->out, v - y, 1);
        x = u;
        y = v;
        if (p->what == 'M') {
            x0 = x;
            y0 = y;
        }
        last = p->what;
    }
    rp_put(c->out, "\"/>\n");
}

/* Stretches of a text; those that are shifted move the line, which the next one moves back. */
static void put_runs(struct rp_markup *out, const char *text, double size)
{
    struct rp_run run = {0};
    double down = 0;
    while (rp_run_next(&text, &run)) {
        const double want = -rp_shift * (run.shift > 0 ? 1.6 : 1) * size * run.shift, dy = want - down;
        const int plain = !run.italic && !run.shift && dy > -0.01 && dy < 0.01;
        char piece[512];
        snprintf(piece, sizeof piece, "%.*s", (int)run.n, run.text);
        if (!plain)
            rp_put(out, "<tspan");
        if (dy < -0.01 || dy > 0.01)
            rp_put(out, " dy=\"%.1f\"", dy);
        if (run.shift)
            rp_put(out, " font-size=\"%.3g\"", rp_small * size);
        if (run.italic)
            rp_put(out, " font-style=\"italic\"");
        rp_put(out, plain ? "%s" : ">%s</tspan>", piece);
        down = want;
    }
}

static void svg_text(struct rp_canvas *c, double x, double y, const struct rp_label *l,
                     const char *text)
{
    static const char *const anchor[] = {"start", "middle", "end"};
    rp_put(c->out, "<text font-size=\"%.3g\"", l->size);
    ink(c, "fill", l->ink ? l->ink : RP_INK);
    if (l->anchor != RP_LEFT)
        rp_put(c->out, " text-anchor=\"%s\"", anchor[l->anchor]);
    if (l->bold)
        rp_put(c->out, " font-weight=\"600\"");
    if (l->upward)
        rp_put(c->out, " transform=\"translate(%.1f %.1f) rotate(-90)\">", x, y);
    else
        rp_put(c->out, " x=\"%.1f\" y=\"%.1f\">", x, y);
    put_runs(c->out, text, l->size);
    rp_put(c->out, "</text>\n");
}

static void svg_image(struct rp_canvas *c, double x, double y, double w, double h,
                      const struct rp_image *image)
{
    /* few points are drawn as squares; many are averaged by the browser, so that there is no moire
     */
    rp_put(c->out,
           "<image x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" preserveAspectRatio=\"none\" "
           "style=\"image-rendering:%s\" %shref=\"",
           x, y, w, h, (double)image->width < w ? "pixelated" : "auto", c->page ? "" : "xlink:");
    if (!rp_png_uri(c->out->file, image))
        c->failed = 1;
    rp_put(c->out, "\"/>\n");
}

static struct rp_canvas svg_canvas(struct rp_markup *out, double width, double height, int page)
{
    return (struct rp_canvas){.width = width,
                              .height = height,
                              .out = out,
                              .page = page,
                              .path = svg_path,
                              .text = svg_text,
                              .image = svg_image};
}

static void white(struct rp_canvas *c)
{
    rp_box(c, 0, 0, c->width, c->height);
    rp_draw(c, &(struct rp_style){.fill = RP_PAPER});
}

void rp_svg_open(struct rp_canvas *c, struct rp_markup *out, double width, double height, const char *alt)
{
    *c = svg_canvas(out, width, height, 1);
    rp_put(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\"",
           width, height, width, height);
    /* as wide as there is room, but letters no larger than those of the text */
    rp_put(out, " style=\"max-width:%.0fpx\" role=\"img\" aria-label=\"%s\">\n", 1.2 * width, alt);
}

void rp_svg_paper(struct rp_canvas *c, struct rp_markup *out, const struct rp_paper *paper, double width, double height,
                  const char *alt)
{
    const double mm = paper->point * 25.4 / 72;
    *c = svg_canvas(out, width, height, 0);
    rp_put(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\"");
    rp_put(out, " viewBox=\"0 0 %.2f %.2f\" width=\"%.3fmm\" height=\"%.3fmm\"", width, height, width * mm,
           height * mm);
    rp_put(out, " role=\"img\" aria-label=\"%s\" font-family=\"%s%sHelvetica, Arial, 'DejaVu Sans', sans-serif\">\n",
           alt, paper->font ? paper->font : "", paper->font ? ", " : "");
    white(c);
}

enum fit_status rp_svg_close(struct rp_canvas *c, struct fit_error *err)
{
    rp_put(c->out, "</svg>\n");
    free(c->step);
    c->step = NULL;
    return c->failed || ferror(c->out->file)
               ? fit_no_memory(err, "a figure could not be written")
               : FIT_OK;
}
