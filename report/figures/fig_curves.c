/* fig_curves.c -- curves that follow from the parameters, D(t) and the like, with bands of 68 % and
 * 95 %.
 *
 * Bands are normal (1 and 1.96 standard errors of least squares) unless the posterior says more. */
#include "report/figures/figures.h"
#include "report/draw/panel.h"

#include <math.h>
#include <string.h>

static int shown(const struct rp_result *r, const struct rp_axis *t, size_t k)
{
    return isfinite(r->curve_t[k]) && (!t->log || r->curve_t[k] > 0);
}

static void band(struct rp_canvas *c, const struct rp_result *r, const struct rp_panel *p,
                 const double *lo, const double *hi, const double *error, double factor,
                 const double *value)
{
    for (size_t run = 0; run < r->nt;) { /* where it is known */
        size_t end = run;
        while (end < r->nt && shown(r, &p->ax, end) && isfinite(lo ? lo[end] : error[end]))
            end++;
        for (size_t k = run; k < end; k++)
            (k > run ? rp_line : rp_move)(c, rp_panel_x(p, r->curve_t[k]),
                                          rp_panel_y(p, hi ? hi[k] : value[k] + factor * error[k]));
        for (size_t k = end; k-- > run;)
            rp_line(c, rp_panel_x(p, r->curve_t[k]),
                    rp_panel_y(p, lo ? lo[k] : value[k] - factor * error[k]));
        if (end > run)
            rp_close(c);
        run = end + 1;
    }
    rp_draw(c, &(struct rp_style){.fill = RP_S0, .opacity = 0.22});
}

/* Time and value that the axes should hold; the first times of a power law would hide the rest. */
static void ranges(const struct rp_result *r, const struct rp_curve *v, struct rp_axis *t,
                   struct rp_axis *y)
{
    double lowest = INFINITY, highest = -INFINITY;
    t->log =
        r->curve_t[r->nt - 1] > 30 * r->curve_t[1] && r->curve_t[1] > 0; /* time 0 is left out */
    rp_axis_begin(t);
    for (size_t k = 0; k < r->nt; k++) {
        if (!shown(r, t, k))
            continue;
        rp_axis_take(t, r->curve_t[k]);
        if (isfinite(v->value[k])) {
            lowest = fmin(lowest, v->value[k]);
            highest = fmax(highest, v->value[k]);
        }
    }
    y->log = lowest > 0 && highest > 8 * lowest;
    rp_axis_begin(y);
    for (size_t k = 0; k < r->nt; k++) {
        if (!shown(r, t, k))
            continue;
        const double e = v->error && isfinite(v->error[k]) ? 1.96 * v->error[k] : 0;
        const double lo = v->low ? v->low[k] : v->value[k] - e,
                     hi = v->high ? v->high[k] : v->value[k] + e;
        /* bands may be wider than anything worth to be seen */
        rp_axis_take(y, v->value[k]);
        rp_axis_take(y, fmax(lo, lowest - 1.5 * (highest - lowest) - 0.5 * fabs(lowest)));
        rp_axis_take(y, fmin(hi, highest + 1.5 * (highest - lowest) + 0.5 * fabs(highest)));
    }
    if (y->log)
        y->lo = fmax(y->lo, lowest / 10);
    rp_axis_end(t, 0.02);
    rp_axis_end(y, 0.05);
}

/* shear_rate: shear rate; J_ref, with an index, stays. */
static void words(const char *curve, char *text, size_t size)
{
    snprintf(text, size, "%s", curve);
    for (char *at = strchr(text, '_'); at; at = strchr(at + 1, '_'))
        if (at - text > 2)
            *at = ' ';
}

static void draw(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f)
{
    const struct rp_curve *v = &r->curve[f->index];
    char name[RP_NAME + 8];
    struct rp_axis t = {.name = "t", .unit = "s"};
    struct rp_axis y = {.unit = v->unit};
    words(v->name, name, sizeof name);
    y.name = name;
    ranges(r, v, &t, &y);
    const double left = rp_panel_left(&y, 200);
    struct rp_panel p = {.x = left, .y = 30, .w = f->width - left - 14, .h = 200, .ax = t, .ay = y};
    c->text(c, left, RP_FONT + 2, &(struct rp_label){.size = RP_FONT, .bold = 1},
            v->doc[0] ? v->doc : name);
    rp_panel_grid(c, &p);
    if (v->low && v->high)
        band(c, r, &p, v->low, v->high, NULL, 0, v->value);
    else if (v->error) {
        band(c, r, &p, NULL, NULL, v->error, 1.96, v->value);
        band(c, r, &p, NULL, NULL, v->error, 1, v->value);
    }
    int down = 0;
    for (size_t k = 0; k < r->nt; k++) {
        const int good = isfinite(v->value[k]) && shown(r, &t, k);
        if (good)
            (down ? rp_line : rp_move)(c, rp_panel_x(&p, r->curve_t[k]),
                                       rp_panel_y(&p, v->value[k]));
        down = good;
    }
    rp_draw(c, &(struct rp_style){.stroke = RP_S0, .width = 2});
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
