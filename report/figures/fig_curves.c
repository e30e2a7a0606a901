/* fig_curves.c -- curves that follow from the parameters, D(t) and the like, with bands of 68 % and
 * 95 %.
 *
 * Bands are normal (1 and 1.96 standard errors of least squares) unless the posterior says more. */
#include "report/draw/rich.h"
#include "report/figures/figures.h"
#include "report/figures/parts.h"

#include <math.h>
#include <string.h>

static int shown(const struct rp_result *r, const struct rp_axis *t, size_t k)
{
    return isfinite(r->curve_t[k]) && (!t->log || r->curve_t[k] > 0);
}

static void band(struct rp_canvas *c, const struct rp_result *r, const struct rp_panel *p, const double *lo,
                 const double *hi, const double *error, double factor, const double *value, uint32_t ink)
{
    for (size_t run = 0; run < r->nt;) { /* where it is known */
        size_t end = run;
        while (end < r->nt && shown(r, &p->ax, end) && isfinite(lo ? lo[end] : error[end]))
            end++;
        for (size_t k = run; k < end; k++)
            (k > run ? rp_line : rp_move)(c, rp_panel_x(p, r->curve_t[k]),
                                          rp_panel_y(p, hi ? hi[k] : value[k] + factor * error[k]));
        for (size_t k = end; k-- > run;)
            rp_line(c, rp_panel_x(p, r->curve_t[k]), rp_panel_y(p, lo ? lo[k] : value[k] - factor * error[k]));
        if (end > run)
            rp_close(c);
        run = end + 1;
    }
    rp_draw(c, &(struct rp_style){.fill = ink, .opacity = 0.22});
}

/* ---- axes ------------------------------------------------------------------------------------ */

static void value_range(const struct rp_result *r, const struct rp_curve *v, const struct rp_axis *t, double ends[2])
{
    for (size_t k = 0; k < r->nt; k++)
        if (shown(r, t, k) && isfinite(v->value[k])) {
            ends[0] = fmin(ends[0], v->value[k]);
            ends[1] = fmax(ends[1], v->value[k]);
        }
}

/* Limits bands that are too wide to be useful. */
static void take_values(const struct rp_result *r, const struct rp_curve *v, const struct rp_axis *t,
                        const double ends[2], struct rp_axis *y)
{
    const double length = ends[1] - ends[0];
    for (size_t k = 0; k < r->nt; k++) {
        if (!shown(r, t, k))
            continue;
        const double e = v->error && isfinite(v->error[k]) ? 1.96 * v->error[k] : 0;
        const double lo = v->low ? v->low[k] : v->value[k] - e, hi = v->high ? v->high[k] : v->value[k] + e;
        rp_axis_take(y, v->value[k]);
        rp_axis_take(y, fmax(lo, ends[0] - 1.5 * length - 0.5 * fabs(ends[0])));
        rp_axis_take(y, fmin(hi, ends[1] + 1.5 * length + 0.5 * fabs(ends[1])));
    }
}

/* The first times of a power law would dominate the plot: time 0 is left out, and time is logarithmic over decades. */
void rp_curve_axes(const struct rp_result *r, const size_t *curve, size_t n, struct rp_axis *t, struct rp_axis *y)
{
    double ends[2] = {INFINITY, -INFINITY};
    t->log = r->curve_t[r->nt - 1] > 30 * r->curve_t[1] && r->curve_t[1] > 0;
    rp_axis_begin(t);
    for (size_t k = 0; k < r->nt; k++)
        if (shown(r, t, k))
            rp_axis_take(t, r->curve_t[k]);
    for (size_t k = 0; k < n; k++)
        value_range(r, &r->curve[curve[k]], t, ends);
    y->log = ends[0] > 0 && ends[1] > 8 * ends[0];
    rp_axis_begin(y);
    for (size_t k = 0; k < n; k++)
        take_values(r, &r->curve[curve[k]], t, ends, y);
    if (y->log)
        y->lo = fmax(y->lo, ends[0] / 10);
    rp_axis_end(t, 0.02);
    rp_axis_end(y, 0.05);
}

/* ---- marks ----------------------------------------------------------------------------------- */

void rp_curve_marks(struct rp_canvas *c, const struct rp_result *r, const size_t *curve, size_t n,
                    const struct rp_panel *p, uint32_t first)
{
    for (size_t s = 0; s < n; s++) {
        const struct rp_curve *v = &r->curve[curve[s]];
        const uint32_t ink = RP_S0 + (first - RP_S0 + (uint32_t)s) % RP_SERIES;
        int down = 0;
        if (v->low && v->high)
            band(c, r, p, v->low, v->high, NULL, 0, v->value, ink);
        else if (v->error) {
            band(c, r, p, NULL, NULL, v->error, 1.96, v->value, ink);
            band(c, r, p, NULL, NULL, v->error, 1, v->value, ink);
        }
        for (size_t k = 0; k < r->nt; k++) {
            const int good = isfinite(v->value[k]) && shown(r, &p->ax, k);
            if (good)
                (down ? rp_line : rp_move)(c, rp_panel_x(p, r->curve_t[k]), rp_panel_y(p, v->value[k]));
            down = good;
        }
        rp_draw(c, &(struct rp_style){.stroke = ink, .width = 2});
    }
}

/* shear_rate: shear rate; J_ref, with an index, stays. */
static void words(const char *curve, char *text, size_t size)
{
    snprintf(text, size, "%s", curve);
    for (char *at = strchr(text, '_'); at; at = strchr(at + 1, '_'))
        if (at - text > 2)
            *at = ' ';
}

void rp_curve_name(const char *curve, char *text, size_t size)
{
    char symbol[128];
    rp_symbol(curve, symbol, sizeof symbol);
    snprintf(text, size, "%s(%s)", symbol, RP_TIME);
}

static void draw(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f)
{
    const struct rp_curve *v = &r->curve[f->index];
    char name[160];
    struct rp_axis t = {.name = RP_TIME, .unit = "s"}, y = {.name = name, .unit = v->unit};
    rp_curve_name(v->name, name, sizeof name);
    rp_curve_axes(r, &f->index, 1, &t, &y);
    const double left = rp_panel_left(&y, 200);
    struct rp_panel p = {.x = left, .y = 30, .w = f->width - left - 14, .h = 200, .ax = t, .ay = y};
    if (v->doc[0])
        c->text(c, left, RP_FONT + 2, &(struct rp_label){.size = RP_FONT, .bold = 1}, v->doc);
    rp_panel_grid(c, &p);
    rp_curve_marks(c, r, &f->index, 1, &p, RP_S0);
    rp_panel_frame(c, &p);
}

void rp_list_curves(const struct rp_result *r, struct rp_figures *list)
{
    char name[RP_NAME + 16];
    for (size_t k = 0; k < r->ncurve && r->nt > 1; k++) {
        size_t finite = 0;
        for (size_t i = 0; i < r->nt; i++)
            finite += isfinite(r->curve[k].value[i]) != 0;
        if (finite < 2)
            continue;
        snprintf(name, sizeof name, "curve_%.50s", r->curve[k].name);
        struct rp_figure *f = rp_figure_add(list, RP_CURVES, name, 440, 280);
        if (!f)
            return;
        f->index = k;
        f->draw = draw;
        words(r->curve[k].name, name, sizeof name);
        snprintf(f->alt, sizeof f->alt, "%.90s over time, with its errors", name);
    }
}
