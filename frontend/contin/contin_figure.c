/* contin_figure.c -- contin.svg: the distribution with its 95 % band, and the data with the resulting curves. */
#include "frontend/contin/contin_front.h"

#include "report/draw/panel.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 640, HEIGHT = 560, SERIES = 6, PANEL = 215, LINE = 200 };

/* Fraction per decade of the axis, from the fraction at a point: the same for all grids. */
static double per_decade(const struct contin_job *j)
{
    const size_t n = j->result.n;
    return (double)(n - 1) / log10(j->u[n - 1] / j->u[0]);
}

static double total(const struct contin_result *r)
{
    double sum = 0;
    for (size_t k = 0; k < r->n; k++)
        sum += r->x[k];
    return sum;
}

static void draw_band(struct rp_canvas *c, const struct rp_panel *p, const struct contin_job *j, double scale)
{
    const struct contin_result *r = &j->result;
    for (size_t k = 0; k < r->n; k++)
        (k ? rp_line : rp_move)(c, rp_panel_x(p, j->shown[k]), rp_panel_y(p, scale * r->upper[k]));
    for (size_t k = r->n; k-- > 0;)
        rp_line(c, rp_panel_x(p, j->shown[k]), rp_panel_y(p, scale * r->lower[k]));
    rp_close(c);
    rp_draw(c, &(struct rp_style){.fill = RP_S0, .opacity = 0.2});
}

static void draw_distribution(struct rp_canvas *c, const struct contin_job *j)
{
    const struct contin_result *r = &j->result;
    const double scale = per_decade(j), all = total(r);
    struct rp_axis x = {.log = 1, .name = contin_axis_name(j->words.axis), .unit = contin_axis_unit(j->words.axis)};
    struct rp_axis y = {.name = "part per decade"};
    rp_axis_begin(&x);
    rp_axis_begin(&y);
    rp_axis_take(&y, 0);
    for (size_t k = 0; k < r->n; k++) {
        rp_axis_take(&x, j->shown[k]);
        rp_axis_take(&y, 1.05 * scale * r->x[k] / all);
        if (r->ndraw)
            rp_axis_take(&y, 1.05 * scale * r->upper[k]);
    }
    rp_axis_end(&x, 0);
    rp_axis_end(&y, 0);
    const double left = rp_panel_left(&y, PANEL);
    const struct rp_panel p = {.x = left, .y = 14, .w = WIDTH - left - 20, .h = PANEL, .ax = x, .ay = y};
    rp_panel_grid(c, &p);
    if (r->ndraw)
        draw_band(c, &p, j, scale);
    for (size_t k = 0; k < r->n; k++)
        (k ? rp_line : rp_move)(c, rp_panel_x(&p, j->shown[k]), rp_panel_y(&p, scale * r->x[k] / all));
    rp_draw(c, &(struct rp_style){.stroke = RP_S0, .width = 2});
    for (size_t k = 0; k < r->npeak; k++) {
        if (r->peak[k].at_edge)
            continue;
        const double at = rp_panel_x(&p, contin_show(&j->words, r->peak[k].mean[0]));
        rp_move(c, at, p.y);
        rp_line(c, at, p.y + p.h);
    }
    rp_draw(c, &(struct rp_style){.stroke = RP_SOFT, .width = 1, .dash = 1});
    rp_panel_frame(c, &p);
}

/* The value that the distribution gives for curve i at this delay. */
static double model(const struct contin_job *j, size_t i, double delay)
{
    const struct contin_result *r = &j->result;
    double h = 0, all = 0;
    for (size_t k = 0; k < r->n; k++) {
        h += r->x[k] * exp(-j->curve[i].scale * j->u[k] * delay);
        all += r->x[k];
    }
    h /= all;
    return r->baseline[i] + r->contrast[i] * (j->words.power == 2 ? h * h : h);
}

static void draw_curve(struct rp_canvas *c, const struct rp_panel *p, const struct contin_job *j, size_t i)
{
    const struct contin_data *d = &j->data[i];
    const uint32_t ink = (uint32_t)(RP_S0 + i % SERIES);
    double lo = INFINITY, hi = 0;
    for (size_t k = 0; k < d->n; k++) {
        if (rp_panel_holds(p, d->delay[k], d->y[k]))
            rp_dot(c, rp_panel_x(p, d->delay[k]), rp_panel_y(p, d->y[k]));
        lo = fmin(lo, d->delay[k]);
        hi = fmax(hi, d->delay[k]);
    }
    rp_draw(c, &(struct rp_style){.stroke = ink, .width = 3.5, .opacity = 0.6});
    for (size_t k = 0; k <= LINE; k++) {
        const double t = exp(log(lo) + (log(hi) - log(lo)) * (double)k / LINE);
        (k ? rp_line : rp_move)(c, rp_panel_x(p, t), rp_panel_y(p, model(j, i, t)));
    }
    rp_draw(c, &(struct rp_style){.stroke = RP_INK, .width = 1.2});
}

static void draw_data(struct rp_canvas *c, const struct contin_job *j)
{
    struct rp_axis x = {.log = 1, .name = "delay", .unit = "s"};
    struct rp_axis y = {.name = j->words.power == 1 ? "g1" : "g2 - 1"};
    rp_axis_begin(&x);
    rp_axis_begin(&y);
    for (size_t i = 0; i < j->ncurve; i++)
        for (size_t k = 0; k < j->data[i].n; k++) {
            rp_axis_take(&x, j->data[i].delay[k]);
            rp_axis_take(&y, j->data[i].y[k]);
        }
    rp_axis_end(&x, 0.02);
    rp_axis_end(&y, 0.05);
    const double left = rp_panel_left(&y, PANEL);
    const struct rp_panel p = {.x = left, .y = 14 + PANEL + 62, .w = WIDTH - left - 20, .h = PANEL, .ax = x, .ay = y};
    rp_panel_grid(c, &p);
    for (size_t i = 0; i < j->ncurve; i++)
        draw_curve(c, &p, j, i);
    rp_panel_frame(c, &p);
}

enum fit_status contin_draw_figure(const struct contin_job *j, const char *path, struct fit_error *err)
{
    char alt[160];
    struct rp_canvas c;
    struct rp_markup out = {.file = fopen(path, "w")};
    if (!out.file)
        return fit_fail(err, FIT_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    snprintf(alt, sizeof alt, "Distribution of the %s with %zu modes, and the correlation functions with their fits",
             contin_axis_name(j->words.axis), j->result.npeak);
    rp_svg_paper(&c, &out, &(struct rp_paper){.point = 0.75}, WIDTH, HEIGHT, alt);
    draw_distribution(&c, j);
    draw_data(&c, j);
    enum fit_status st = rp_svg_close(&c, err);
    const int bad = ferror(out.file);
    if ((fclose(out.file) != 0 || bad) && st == FIT_OK)
        st = fit_fail(err, FIT_ERR_IO, "%s: cannot be written: %s", path, strerror(errno));
    return st;
}
