/* fig_profiles.c -- profile likelihoods: the rise of chi2 over the values of a parameter, all others refitted at
 * each, with the levels at which the intervals of 68 and 95 % end.
 *
 * Near a minimum the root of the rise is a straight line through zero at the best value. The curve between its
 * points is drawn in this way: not a polygon, and exact for a quadratic. */
#include "report/figures/figures.h"
#include "report/draw/panel.h"
#include "report/draw/rich.h"

#include <math.h>
#include <stdlib.h>

enum { PIECES = 12, MOST_PARTS = 8 };  /* lines between two points; parts of an interval */
static const double WIDE = 100; /* times the smallest value: above it the axis is logarithmic */

struct profile {
    const char *name, *unit;
    size_t n;
    double *value, *rise; /* the best value among them */
    double best;
    struct interval {
        double level;
        size_t n;
        double lower[MOST_PARTS], upper[MOST_PARTS];
    } interval[2]; /* 68 %, 95 % */
};

static const struct fit_yaml *profiles(const struct rp_result *r)
{
    const struct fit_yaml *list = rp_get(r->json, "profiles");
    return list && list->kind == FIT_YAML_MAP ? list : NULL;
}

static double item(const struct fit_yaml *list, size_t k)
{
    return list && list->kind == FIT_YAML_LIST && k < list->n ? rp_json_value(list->entry[k].value) : NAN;
}

/* The interval of one level: its pieces if it has gaps. An end that is null or a bound is the end of the curve. */
static void read_interval(const struct fit_yaml *node, int wide, struct interval *to)
{
    const struct fit_yaml *one = rp_get(node, wide ? "interval_95" : "interval_68"),
                          *parts = rp_get(node, wide ? "intervals_95" : "intervals_68");
    *to = (struct interval){.level = one ? rp_json_number(one, "chi2_rise") : NAN};
    if (!one)
        return;
    to->n = 1;
    to->lower[0] = rp_json_number(one, "lower");
    to->upper[0] = rp_json_number(one, "upper");
    if (!parts || parts->kind != FIT_YAML_LIST || !parts->n)
        return;
    to->n = parts->n < MOST_PARTS ? parts->n : MOST_PARTS;
    for (size_t k = 0; k < to->n; k++) {
        to->lower[k] = item(parts->entry[k].value, 0);
        to->upper[k] = item(parts->entry[k].value, 1);
    }
}

static void insert(struct profile *p, double value, double rise)
{
    size_t k = p->n;
    for (size_t i = 0; i < p->n; i++)
        if (p->value[i] >= value && p->value[i] <= value)
            return;
    for (; k > 0 && p->value[k - 1] > value; k--) {
        p->value[k] = p->value[k - 1];
        p->rise[k] = p->rise[k - 1];
    }
    p->value[k] = value;
    p->rise[k] = rise;
    p->n++;
}

/* Profile k; 0: it has no curve, or there is no memory. */
static int read_profile(const struct rp_result *r, size_t k, struct profile *p)
{
    const struct fit_yaml *node = profiles(r)->entry[k].value, *value = rp_get(node, "value");
    const size_t n = value && value->kind == FIT_YAML_LIST ? value->n : 0;
    *p = (struct profile){.name = profiles(r)->entry[k].key, .unit = rp_json_text(node, "unit")};
    p->value = malloc((n + 1) * sizeof *p->value);
    p->rise = malloc((n + 1) * sizeof *p->rise);
    for (size_t i = 0; p->value && p->rise && i < n; i++) {
        const double v = item(value, i), rise = item(rp_get(node, "chi2_rise"), i);
        if (isfinite(v) && isfinite(rise))
            insert(p, v, fmax(rise, 0));
    }
    p->best = rp_json_number(node, "best");
    if (p->value && p->rise && isfinite(p->best))
        insert(p, p->best, 0);
    read_interval(node, 0, &p->interval[0]);
    read_interval(node, 1, &p->interval[1]);
    return p->n > 2;
}

static void profile_free(struct profile *p)
{
    free(p->value);
    free(p->rise);
}

/* ---- drawing --------------------------------------------------------------------------------- */

static void ranges(const struct profile *p, struct rp_axis *x, struct rp_axis *y)
{
    const double level = p->interval[1].level, first = p->value[0];
    double most = 0;
    x->log = first > 0 && p->value[p->n - 1] > WIDE * first;
    rp_axis_begin(x);
    for (size_t k = 0; k < p->n; k++) {
        rp_axis_take(x, p->value[k]);
        most = fmax(most, p->rise[k]);
    }
    rp_axis_end(x, 0.03);
    /* values far above the 95 % level show nothing more */
    *y = (struct rp_axis){.lo = 0, .hi = level > 0 ? fmax(fmin(1.05 * most, 2 * level), 1.3 * level) : 1.05 * most,
                          .name = "Δχ²"};
}

static void draw_intervals(struct rp_canvas *c, const struct profile *p, const struct rp_panel *panel)
{
    for (int wide = 1; wide >= 0; wide--) {
        const struct interval *a = &p->interval[wide];
        for (size_t k = 0; k < a->n && a->level > 0; k++) {
            const double lower = isfinite(a->lower[k]) ? a->lower[k] : panel->ax.lo,
                         upper = isfinite(a->upper[k]) ? a->upper[k] : panel->ax.hi;
            const double left = rp_panel_x(panel, lower), top = rp_panel_y(panel, a->level);
            rp_box(c, left, top, rp_panel_x(panel, upper) - left, panel->y + panel->h - top);
        }
        rp_draw(c, &(struct rp_style){.fill = RP_S0, .opacity = 0.16});
    }
}

/* The level of an interval, its number at the right end. */
static void draw_levels(struct rp_canvas *c, const struct profile *p, const struct rp_panel *panel)
{
    for (int wide = 0; wide < 2; wide++) {
        if (!(p->interval[wide].level > 0))
            continue;
        const double y = rp_panel_y(panel, p->interval[wide].level), right = panel->x + panel->w;
        rp_move(c, panel->x, y);
        rp_line(c, right, y);
        rp_draw(c, &(struct rp_style){.stroke = RP_SOFT, .width = 1, .dash = 1});
        c->text(c, right + 4, y + 0.35 * RP_FONT, &(struct rp_label){.size = RP_FONT - 1, .ink = RP_SOFT},
                wide ? "95 %" : "68 %");
    }
}

/* Root of the rise, negative left of the best value. */
static double root(const struct profile *p, size_t k, int left)
{
    return (left ? -1 : 1) * sqrt(p->rise[k]);
}

static void draw_curve(struct rp_canvas *c, const struct profile *p, const struct rp_panel *panel)
{
    int down = 0;
    for (size_t k = 0; k + 1 < p->n; k++) {
        const int left = p->value[k + 1] <= p->best;
        const double a = root(p, k, left), b = root(p, k + 1, left);
        const double from = rp_panel_x(panel, p->value[k]), to = rp_panel_x(panel, p->value[k + 1]);
        for (int i = 0; i <= PIECES; i++) {
            const double part = (double)i / PIECES, z = a + part * (b - a), rise = z * z;
            const int shown = rise <= panel->ay.hi;
            if (shown)
                (down ? rp_line : rp_move)(c, from + part * (to - from), rp_panel_y(panel, rise));
            down = shown;
        }
    }
    rp_draw(c, &(struct rp_style){.stroke = RP_S0, .width = 2});
    for (size_t k = 0; k < p->n; k++)
        if (rp_panel_holds(panel, p->value[k], p->rise[k]))
            rp_dot(c, rp_panel_x(panel, p->value[k]), rp_panel_y(panel, p->rise[k]));
    rp_draw(c, &(struct rp_style){.stroke = RP_S0, .width = 5});
}

static void draw(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f)
{
    enum { RIGHT = 42 }; /* room for the names of the levels */
    struct profile p;
    if (read_profile(r, f->index, &p)) {
        char symbol[160];
        rp_symbol(p.name, symbol, sizeof symbol);
        struct rp_axis x = {.name = symbol, .unit = p.unit}, y;
        ranges(&p, &x, &y);
        const double left = rp_panel_left(&y, 180);
        struct rp_panel panel = {.x = left, .y = 10, .w = f->width - left - RIGHT, .h = 180, .ax = x, .ay = y};
        rp_panel_grid(c, &panel);
        draw_intervals(c, &p, &panel);
        draw_levels(c, &p, &panel);
        draw_curve(c, &p, &panel);
        rp_panel_frame(c, &panel);
    }
    profile_free(&p);
}

void rp_list_profiles(const struct rp_result *r, struct rp_figures *list)
{
    const struct fit_yaml *all = profiles(r);
    char name[64];
    for (size_t k = 0; all && k < all->n; k++) {
        struct profile p;
        const int there = read_profile(r, k, &p);
        profile_free(&p);
        if (!there)
            continue;
        snprintf(name, sizeof name, "profile_%.50s", all->entry[k].key);
        struct rp_figure *f = rp_figure_add(list, RP_PROFILES, name, 360, 240);
        if (!f)
            return;
        f->index = k;
        f->draw = draw;
        snprintf(f->alt, sizeof f->alt,
                 "Profile likelihood of %.60s: rise of chi2 over its values, with the levels of 68 and "
                 "95 %%",
                 all->entry[k].key);
    }
}
