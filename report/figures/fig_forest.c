/* fig_forest.c -- values of the groups in the posterior, one below the other, with their intervals; and the posterior
 * predictive check: quantities of the residuals beside those of data drawn from the model.
 *
 * Intervals: one standard deviation (thick), 2.5 % to 97.5 % (thin).  Check: z is the distance of the data from the
 * draws in standard deviations of these; all takes every group together. */
#include "report/draw/rich.h"
#include "report/figures/corner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 19, MOST_GROUPS = 60 };

static const struct fit_yaml *parameters(const struct rp_result *r)
{
    const struct fit_yaml *map = rp_get(r->json, "posterior.parameters");
    return map && map->kind == FIT_YAML_MAP ? map : NULL;
}

/* Entry k is value 0 of a parameter of groups: how many groups it has, else 0. */
static size_t groups_from(const struct fit_yaml *map, size_t k)
{
    const char *key = map->entry[k].key, *bracket = strchr(key, '[');
    const size_t n = bracket ? (size_t)(bracket - key) : 0;
    size_t groups = 0;
    if (!bracket || strcmp(bracket, "[0]") != 0)
        return 0;
    for (size_t i = 0; i < map->n; i++)
        groups += strncmp(map->entry[i].key, key, n + 1) == 0 && !rp_json_true(map->entry[i].value, "fixed");
    return groups;
}

static const struct fit_yaml *value_of(const struct fit_yaml *map, size_t first, size_t group)
{
    char key[2 * RP_NAME];
    snprintf(key, sizeof key, "%.*s[%zu]", (int)strcspn(map->entry[first].key, "["), map->entry[first].key, group);
    return fit_yaml_get(map, key);
}

static void group_label(const struct rp_result *r, size_t group, char *text, size_t size)
{
    if (r->pairs && group < r->ngroup)
        rp_group_title(r, group, text, size);
    else
        snprintf(text, size, "%zu", group);
}

/* A horizontal line per group: from lower to upper. */
static void draw_lines(struct rp_canvas *c, const struct rp_panel *p, const struct fit_yaml *map, size_t first,
                       size_t n, int wide)
{
    for (size_t g = 0; g < n; g++) {
        const struct fit_yaml *v = value_of(map, first, g);
        const double mean = rp_json_number(v, "mean"), sd = rp_json_number(v, "sd"),
                     y = p->y + ((double)g + 0.5) * LINE;
        const double lower = wide ? rp_json_number(v, "q025") : mean - sd,
                     upper = wide ? rp_json_number(v, "q975") : mean + sd;
        if (!isfinite(lower) || !isfinite(upper))
            continue;
        rp_move(c, rp_panel_x(p, lower), y);
        rp_line(c, rp_panel_x(p, upper), y);
    }
    rp_draw(c, &(struct rp_style){.stroke = RP_S0, .width = wide ? 1.2 : 3.6});
}

static void draw_forest(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f)
{
    const struct fit_yaml *map = parameters(r);
    const size_t first = f->index, all = groups_from(map, first), n = all < MOST_GROUPS ? all : MOST_GROUPS;
    char name[RP_NAME], symbol[160], label[96];
    double left = 20;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(map->entry[first].key, "["), map->entry[first].key);
    rp_symbol(name, symbol, sizeof symbol);
    struct rp_axis x = {.name = symbol, .unit = rp_json_text(map->entry[first].value, "unit")},
                   y = {.lo = 0, .hi = 1, .hidden = 2};
    rp_axis_begin(&x);
    for (size_t g = 0; g < n; g++) {
        rp_axis_take(&x, rp_json_number(value_of(map, first, g), "q025"));
        rp_axis_take(&x, rp_json_number(value_of(map, first, g), "q975"));
        group_label(r, g, label, sizeof label);
        left = fmax(left, rp_text_width(label, RP_FONT) + 14);
    }
    rp_axis_end(&x, 0.06);
    const struct rp_panel p = {.x = left, .y = 10, .w = f->width - left - 14, .h = (double)n * LINE, .ax = x, .ay = y};
    rp_panel_grid(c, &p);
    draw_lines(c, &p, map, first, n, 1);
    draw_lines(c, &p, map, first, n, 0);
    for (size_t g = 0; g < n; g++)
        rp_dot(c, rp_panel_x(&p, rp_json_number(value_of(map, first, g), "mean")), p.y + ((double)g + 0.5) * LINE);
    rp_draw(c, &(struct rp_style){.stroke = RP_S0, .width = 6});
    rp_panel_frame(c, &p);
    for (size_t g = 0; g < n; g++) {
        group_label(r, g, label, sizeof label);
        c->text(c, left - 8, p.y + ((double)g + 0.5) * LINE + 0.35 * RP_FONT,
                &(struct rp_label){.anchor = RP_RIGHT, .size = RP_FONT}, label);
    }
}

/* ---- predictive check ------------------------------------------------------------------------ */

static const struct {
    const char *key, *text;
} quantity[] = {{"mean_short", "mean at short lags"},
                {"mean_long", "mean at long lags"},
                {"neighbours_lag", "correlation along the lag"},
                {"neighbours_age", "correlation along the age"},
                {"beyond_3", "share beyond 3 σ"},
                {"largest", "largest residual"}};
enum { QUANTITIES = sizeof quantity / sizeof *quantity };

static const struct fit_yaml *check_of(const struct rp_result *r, size_t k)
{
    char path[96];
    snprintf(path, sizeof path, "posterior.predictive_check.%s", quantity[k].key);
    const struct fit_yaml *node = rp_get(r->json, path);
    return node && node->kind == FIT_YAML_MAP ? node : NULL;
}

static double z_of(const struct fit_yaml *node, size_t g)
{
    const struct fit_yaml *list = rp_get(node, "groups");
    return list && list->kind == FIT_YAML_LIST && g < list->n ? rp_json_number(list->entry[g].value, "z") : NAN;
}

static void draw_check(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f)
{
    struct rp_axis x = {.name = "(data − draws) / sd of the draws"}, y = {.lo = 0, .hi = 1, .hidden = 2};
    double left = 20, most = 3.2;
    for (size_t k = 0; k < QUANTITIES; k++) {
        left = fmax(left, rp_text_width(quantity[k].text, RP_FONT) + 14);
        for (size_t g = 0; g < r->ngroup; g++)
            most = fmax(most, isfinite(z_of(check_of(r, k), g)) ? 1.1 * fabs(z_of(check_of(r, k), g)) : 0);
    }
    x.hi = fmin(most, 50);
    x.lo = -x.hi;
    const double line = 26;
    const struct rp_panel p = {.x = left, .y = 30, .w = f->width - left - 14, .h = QUANTITIES * line, .ax = x, .ay = y};
    rp_box(c, rp_panel_x(&p, -2), p.y, rp_panel_x(&p, 2) - rp_panel_x(&p, -2), p.h);
    rp_draw(c, &(struct rp_style){.fill = RP_SOFT, .opacity = 0.18});
    for (size_t k = 0; k < QUANTITIES; k++) {
        const double middle = p.y + ((double)k + 0.5) * line, all = rp_json_number(rp_get(check_of(r, k), "all"), "z");
        for (size_t g = 0; g < r->ngroup; g++)
            if (isfinite(z_of(check_of(r, k), g)))
                rp_dot(c, rp_panel_x(&p, z_of(check_of(r, k), g)), middle);
        rp_draw(c, &(struct rp_style){.stroke = RP_S0, .width = 5, .opacity = 0.7});
        if (isfinite(all)) {
            rp_move(c, rp_panel_x(&p, all), middle - 8);
            rp_line(c, rp_panel_x(&p, all), middle + 8);
        }
        rp_draw(c, &(struct rp_style){.stroke = RP_S0 + 1, .width = 2.4});
        c->text(c, left - 8, middle + 0.35 * RP_FONT, &(struct rp_label){.anchor = RP_RIGHT, .size = RP_FONT},
                quantity[k].text);
    }
    rp_panel_frame(c, &p);
    const struct rp_key key[] = {{r->q ? "a group" : "an angle", {.stroke = RP_S0, .width = 6}, 1},
                                 {"all together", {.stroke = RP_S0 + 1, .width = 2.4}, 0},
                                 {"2 sd", {.fill = RP_SOFT, .opacity = 0.18}, 0}};
    rp_keys(c, left, 6, f->width, key, 3);
}

void rp_list_forest(const struct rp_result *r, struct rp_figures *list)
{
    const struct fit_yaml *map = parameters(r);
    char name[2 * RP_NAME];
    for (size_t k = 0; map && k < map->n; k++) {
        const size_t all = groups_from(map, k), n = all < MOST_GROUPS ? all : MOST_GROUPS;
        if (n < 2)
            continue;
        snprintf(name, sizeof name, "forest_%.*s", (int)strcspn(map->entry[k].key, "["), map->entry[k].key);
        struct rp_figure *f = rp_figure_add(list, RP_FOREST, name, 360, 10 + (double)n * LINE + 46);
        if (!f)
            return;
        f->index = k;
        f->draw = draw_forest;
        snprintf(f->alt, sizeof f->alt, "%.60s of %zu groups with intervals of the posterior", name + strlen("forest_"),
                 all);
    }
    if (!r->pairs || !check_of(r, 0))
        return;
    struct rp_figure *f = rp_figure_add(list, RP_PREDICTIVE, "predictive", 560, 30 + QUANTITIES * 26 + 46);
    if (!f)
        return;
    f->draw = draw_check;
    snprintf(f->alt, sizeof f->alt,
             "Posterior predictive check: quantities of the residuals beside those of drawn data");
}
