/* picture.c -- a figure as a file of its own: SVG here, PNG and PDF by Cairo. */
#include "report/draw/canvas.h"
#include "report/draw/markup.h"

#include <string.h>

static enum fit_status write_svg(const char *path, const struct rp_paper *paper, const struct rp_picture *p,
                                 struct fit_error *err)
{
    struct rp_canvas c;
    FILE *out = fopen(path, "w");
    if (!out)
        return fit_fail(err, FIT_ERR_IO, "%s: cannot be written", path);
    struct rp_markup markup = {out};
    rp_put(&markup, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    rp_svg_paper(&c, &markup, paper, p->width, p->height, p->alt);
    p->draw(&c, p->what);
    enum fit_status st = rp_svg_close(&c, err);
    if (fclose(out) != 0 && st == FIT_OK)
        st = fit_fail(err, FIT_ERR_IO, "%s: cannot be written; is the disk full?", path);
    return st;
}

enum fit_status rp_picture_write(const char *path, const struct rp_paper *paper, const struct rp_picture *p,
                                 struct fit_error *err)
{
    struct rp_canvas c;
    if (strcmp(paper->format, "svg") == 0)
        return write_svg(path, paper, p, err);
    enum fit_status st = rp_cairo_open(&c, path, paper, p->width, p->height, err);
    if (st != FIT_OK)
        return st;
    p->draw(&c, p->what);
    return rp_cairo_close(&c, path, err);
}
