/* fig_sequence.c -- groups, or wavevectors, that were fitted alone (`--sequence`): every parameter over them, beside
 * the fit of all together; and other minima that the search met: where each parameter stands there.
 *
 * Takes "sequence" and "minima" of fit.json.  The first member of a row of a sequence is its coordinate.  A value
 * without an error is drawn pale, and sets no scale beside others that have one. */
#include "report/draw/panel.h"
#include "report/draw/rich.h"
#include "report/figures/figures.h"

#include <math.h>
#include <string.h>

enum { HIGH = 190 };

/* ---- sequences ------------------------------------------------------------------------------- */

static const struct fit_yaml *rows_of(const struct rp_result *r)
{
    const struct fit_yaml *list = rp_get(r->json, "sequence");
    return list && list->kind == FIT_YAML_LIST && list->n > 1 ? list : NULL;
}

static double coordinate(const struct fit_yaml *row)
{
    return row->kind == FIT_YAML_MAP && row->n ? rp_json_value(row->entry[0].value) : NAN;
}

struct point {
    double x, value, error;
};

/* Row k of parameter `name`; error NaN: none. */
static struct point point_of(const struct fit_yaml *rows, size_t k, const char *name)
{
    const struct fit_yaml *row = rows->entry[k].value, *all = rp_get(row, "parameters"),
                          *p = all && all->kind == FIT_YAML_MAP ? fit_yaml_get(all, name) : NULL;
    const double std = rp_json_number(p, "std"), robust = rp_json_number(p, "std_robust");
    return (struct point){coordinate(row), rp_json_number(p, "value"), robust > 0 ? robust : std};
}

/* The fit of all together; NaN: it has several values of this parameter. */
static double joint(const struct rp_result *r, const char *name)
{
    const struct fit_yaml *p = fit_yaml_get(rp_get(r->json, "parameters"), name);
    return p ? rp_json_number(p, "value") : NAN;
}

static void sequence_axes(const struct rp_result *r, const struct fit_yaml *rows, const char *name, struct rp_axis *x,
                          struct rp_axis *y)
{
    size_t sure = 0;
    rp_axis_begin(x);
    rp_axis_begin(y);
    for (size_t k = 0; k < rows->n; k++) {
        const struct point p = point_of(rows, k, name);
        rp_axis_take(x, p.x);
        if (!(p.error > 0))
            continue;
        sure++;
        rp_axis_take(y, p.value - p.error);
        rp_axis_take(y, p.value + p.error);
    }
    for (size_t k = 0; k < rows->n && sure < 2; k++)
        rp_axis_take(y, point_of(rows, k, name).value);
    rp_axis_take(y, joint(r, name));
    rp_axis_end(x, 0.05);
    rp_axis_end(y, 0.08);
}

static void draw_points(struct rp_canvas *c, const struct rp_panel *p, const struct fit_yaml *rows, const char *name,
                        int sure)
{
    for (size_t k = 0; k < rows->n; k++) {
        const struct point at = point_of(rows, k, name);
        if (!(at.error > 0) || !sure || !isfinite(at.value))
            continue;
        rp_move(c, rp_panel_x(p, at.x), rp_panel_y(p, at.value - at.error));
        rp_line(c, rp_panel_x(p, at.x), rp_panel_y(p, at.value + at.error));
    }
    rp_draw(c, &(struct rp_style){.stroke = RP_S0, .width = 1.2});
    for (size_t k = 0; k < rows->n; k++) {
        const struct point at = point_of(rows, k, name);
        if ((at.error > 0) == sure && rp_panel_holds(p, at.x, at.value))
            rp_dot(c, rp_panel_x(p, at.x), rp_panel_y(p, at.value));
    }
    rp_draw(c, &(struct rp_style){.stroke = RP_S0, .width = 6, .opacity = sure ? 1 : 0.35});
}

static void draw_sequence(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f)
{
    const struct fit_yaml *rows = rows_of(r), *first = rows->entry[0].value;
    const char *name = rp_get(first, "parameters")->entry[f->index].key, *of = first->entry[0].key;
    char x_name[160], y_name[160];
    rp_symbol(of, x_name, sizeof x_name);
    rp_symbol(name, y_name, sizeof y_name);
    struct rp_axis x = {.name = x_name,
                        .unit = strcmp(of, "phi") == 0 ? "degree"
                                : strcmp(of, "q") == 0 ? "1/angstrom"
                                : r->axis              ? r->axis->unit
                                                       : NULL},
                   y = {.name = y_name,
                        .unit = rp_json_text(fit_yaml_get(rp_get(r->json, "parameters"), name), "unit")};
    sequence_axes(r, rows, name, &x, &y);
    const double left = rp_panel_left(&y, HIGH), all = joint(r, name);
    const struct rp_panel p = {.x = left, .y = 12, .w = f->width - left - 14, .h = HIGH, .ax = x, .ay = y};
    rp_panel_grid(c, &p);
    if (rp_panel_holds(&p, x.lo, all)) {
        rp_move(c, p.x, rp_panel_y(&p, all));
        rp_line(c, p.x + p.w, rp_panel_y(&p, all));
        rp_draw(c, &(struct rp_style){.stroke = RP_S0 + 1, .width = 1.5, .dash = 1});
    }
    draw_points(c, &p, rows, name, 0);
    draw_points(c, &p, rows, name, 1);
    rp_panel_frame(c, &p);
}

/* Parameters that vary: fixed ones show nothing. */
static int differs(const struct fit_yaml *rows, const char *name)
{
    double first = NAN;
    int some = 0;
    for (size_t k = 0; k < rows->n; k++) {
        const double value = point_of(rows, k, name).value;
        first = isnan(first) ? value : first;
        some |= isfinite(value) && value != first;
    }
    return some;
}

void rp_list_sequence(const struct rp_result *r, struct rp_figures *list)
{
    const struct fit_yaml *rows = rows_of(r), *all = rows ? rp_get(rows->entry[0].value, "parameters") : NULL;
    char name[RP_NAME + 16];
    for (size_t k = 0; all && all->kind == FIT_YAML_MAP && k < all->n; k++) {
        if (!differs(rows, all->entry[k].key))
            continue;
        snprintf(name, sizeof name, "sequence_%.50s", all->entry[k].key);
        struct rp_figure *f = rp_figure_add(list, RP_SEQUENCE, name, 360, HIGH + 64);
        if (!f)
            return;
        f->index = k;
        f->draw = draw_sequence;
        snprintf(f->alt, sizeof f->alt, "%.50s of %zu that were fitted alone", all->entry[k].key, rows->n);
    }
}

/* ---- other minima ---------------------------------------------------------------------------- */

static const struct fit_yaml *minima_of(const struct rp_result *r)
{
    const struct fit_yaml *list = rp_get(r->json, "minima");
    return list && list->kind == FIT_YAML_LIST && list->n > 1 ? list : NULL;
}

static double place_of(const struct fit_yaml *minimum, size_t param)
{
    const struct fit_yaml *theta = rp_get(minimum, "theta");
    return theta && theta->kind == FIT_YAML_LIST && param < theta->n ? rp_json_value(theta->entry[param].value) : NAN;
}

static double above(const struct fit_yaml *minimum)
{
    return fmax(0, rp_json_number(minimum, "chi2_above_best"));
}

static void draw_minima(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f)
{
    const struct fit_yaml *list = minima_of(r), *names = rp_get(r->json, "parameters");
    const char *key = names->entry[f->index].key;
    const double as_good = 3.84;
    char name[160];
    rp_symbol(key, name, sizeof name);
    struct rp_axis x = {.name = name, .unit = rp_json_text(names->entry[f->index].value, "unit")},
                   y = {.lo = 0, .name = "χ² above the best"};
    rp_axis_begin(&x);
    rp_axis_begin(&y);
    for (size_t k = 0; k < list->n; k++) {
        rp_axis_take(&x, place_of(list->entry[k].value, f->index));
        rp_axis_take(&y, above(list->entry[k].value));
    }
    rp_axis_take(&y, as_good);
    rp_axis_end(&x, 0.06);
    rp_axis_end(&y, 0.08);
    const double left = rp_panel_left(&y, HIGH);
    const struct rp_panel p = {.x = left, .y = 12, .w = f->width - left - 14, .h = HIGH, .ax = x, .ay = y};
    rp_panel_grid(c, &p);
    rp_move(c, p.x, rp_panel_y(&p, as_good));
    rp_line(c, p.x + p.w, rp_panel_y(&p, as_good));
    rp_draw(c, &(struct rp_style){.stroke = RP_SOFT, .width = 1.2, .dash = 1});
    for (size_t k = 0; k < list->n; k++) {
        const struct fit_yaml *m = list->entry[k].value;
        rp_dot(c, rp_panel_x(&p, place_of(m, f->index)), rp_panel_y(&p, above(m)));
        rp_draw(c, &(struct rp_style){.stroke = k ? RP_S0 : RP_S0 + 1, .width = k ? 6 : 8});
    }
    rp_panel_frame(c, &p);
}

/* One figure for each parameter that differs in another minimum. */
void rp_list_minima(const struct rp_result *r, struct rp_figures *list)
{
    const struct fit_yaml *all = minima_of(r), *names = rp_get(r->json, "parameters");
    char name[RP_NAME + 16];
    for (size_t k = 0; all && names && names->kind == FIT_YAML_MAP && k < names->n; k++) {
        const double best = place_of(all->entry[0].value, k);
        int moved = 0;
        for (size_t i = 1; i < all->n; i++)
            moved |= fabs(place_of(all->entry[i].value, k) - best) > 1e-9 * fabs(best);
        if (!moved)
            continue;
        snprintf(name, sizeof name, "minima_%.50s", names->entry[k].key);
        struct rp_figure *f = rp_figure_add(list, RP_MINIMA, name, 360, HIGH + 64);
        if (!f)
            return;
        f->index = k;
        f->draw = draw_minima;
        snprintf(f->alt, sizeof f->alt, "%.50s in %zu minima, over their heights", names->entry[k].key, all->n);
    }
}
