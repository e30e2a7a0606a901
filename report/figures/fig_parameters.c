/* fig_parameters.c -- contrast, offset and the like over the groups, and the correlation of the
 * parameters. */
#include "report/draw/colour.h"
#include "report/figures/figures.h"
#include "report/draw/panel.h"
#include "report/draw/rich.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- parameters of groups -------------------------------------------------------------------- */

/* Groups of fit.json; NULL when there are fewer than two. */
static const struct fit_yaml *groups(const struct rp_result *r)
{
    const struct fit_yaml *list = rp_get(r->json, "scaling");
    return list && list->kind == FIT_YAML_LIST && list->n > 1 &&
                   list->entry[0].value->kind == FIT_YAML_MAP && list->entry[0].value->n > 1
               ? list
               : NULL;
}

/* The robust error where there is one and it is larger. */
static double error_of(const struct fit_yaml *group, const char *name)
{
    char key[2 * RP_NAME];
    snprintf(key, sizeof key, "%s_std", name);
    const double usual = rp_json_number(group, key);
    snprintf(key, sizeof key, "%s_std_robust", name);
    return fmax(usual, rp_json_number(group, key));
}

static const char *unit_of(const struct rp_result *r, const char *name)
{
    const struct fit_yaml *list = rp_get(r->json, "scaling_units");
    for (size_t k = 0; list && list->kind == FIT_YAML_LIST && k < list->n; k++)
        if (strcmp(rp_json_text(list->entry[k].value, "name"), name) == 0)
            return rp_json_text(list->entry[k].value, "unit");
    return NULL;
}

/* Errors first, dots over them. */
static void draw_values(struct rp_canvas *c, const struct rp_panel *p, const struct fit_yaml *list, const char *name)
{
    for (int pass = 0; pass < 2; pass++) {
        for (size_t g = 0; g < list->n; g++) {
            const struct fit_yaml *group = list->entry[g].value;
            const double v = rp_json_number(group, name), e = error_of(group, name),
                         u = rp_panel_x(p, rp_json_number(group, list->entry[0].value->entry[0].key));
            if (isnan(v))
                continue;
            if (pass)
                rp_dot(c, u, rp_panel_y(p, v));
            else if (e > 0) {
                rp_move(c, u, rp_panel_y(p, v - e));
                rp_line(c, u, rp_panel_y(p, v + e));
            }
        }
        rp_draw(c, &(struct rp_style){.stroke = RP_S0, .width = pass ? 6 : 1.5});
    }
}

static void draw_groups(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f)
{
    const struct fit_yaml *list = groups(r);
    const char *axis = list->entry[0].value->entry[0].key,
               *name = list->entry[0].value->entry[f->index].key;
    const int q = r->pairs && strcmp(axis, "q") == 0;
    char symbol[2][160];
    rp_symbol(axis, symbol[0], sizeof symbol[0]);
    rp_symbol(name, symbol[1], sizeof symbol[1]);
    struct rp_axis x = {.name = r->pairs && !q ? RP_PHI : symbol[0],
                        .unit = q ? "1/angstrom" : r->pairs ? "degree" : NULL},
                   y = {.name = symbol[1], .unit = unit_of(r, name)};
    for (size_t k = 0; !r->pairs && k < r->ncolumn; k++)
        if (strcmp(r->column[k].name, axis) == 0)
            x.unit = r->column[k].unit;
    rp_axis_begin(&x);
    rp_axis_begin(&y);
    for (size_t g = 0; g < list->n; g++) {
        const struct fit_yaml *group = list->entry[g].value;
        const double v = rp_json_number(group, name), e = error_of(group, name);
        rp_axis_take(&x, rp_json_number(group, axis));
        rp_axis_take(&y, v - (e > 0 ? e : 0));
        rp_axis_take(&y, v + (e > 0 ? e : 0));
    }
    rp_axis_end(&x, 0.05);
    rp_axis_end(&y, 0.08);
    const double left = rp_panel_left(&y, 180);
    struct rp_panel p = {.x = left, .y = 10, .w = f->width - left - 14, .h = 180, .ax = x, .ay = y};
    rp_panel_grid(c, &p);
    draw_values(c, &p, list, name);
    rp_panel_frame(c, &p);
}

static void list_groups(const struct rp_result *r, struct rp_figures *list)
{
    const struct fit_yaml *scaling = groups(r), *first = scaling ? scaling->entry[0].value : NULL;
    char key[2 * RP_NAME], name[64];
    for (size_t k = 1; first && k < first->n; k++) {
        snprintf(key, sizeof key, "%s_std", first->entry[k].key);
        if (!rp_get(first, key) || isnan(rp_json_number(first, first->entry[k].key)))
            continue;
        snprintf(name, sizeof name, "groups_%.50s", first->entry[k].key);
        struct rp_figure *f = rp_figure_add(list, RP_SCALING, name, 440, 240);
        if (!f)
            return;
        f->index = k;
        f->draw = draw_groups;
        snprintf(f->alt, sizeof f->alt, "%.80s over %.40s, with errors", first->entry[k].key,
                 r->pairs && !r->q ? "the azimuth" : first->entry[0].key);
    }
}

/* ---- correlation ----------------------------------------------------------------------------- */

enum { CELL = 52 };

/* Element (i, j) in [-1, 1]; NaN: not determined. */
static double element(const struct fit_yaml *matrix, size_t i, size_t j)
{
    if (!matrix || matrix->kind != FIT_YAML_LIST || i >= matrix->n ||
        matrix->entry[i].value->kind != FIT_YAML_LIST || j >= matrix->entry[i].value->n)
        return NAN;
    return rp_json_number(matrix->entry[i].value->entry[j].value, "");
}

static void draw_cell(struct rp_canvas *c, double x, double y, double rho, int diagonal)
{
    char text[32];
    const uint32_t fill = isnan(rho) ? RP_NONE : rp_colour_at(rp_diverging(), 0.5 + rho / 2);
    rp_box(c, x, y, CELL, CELL);
    rp_draw(c,
            &(struct rp_style){.fill = diagonal ? RP_GRID : fill, .stroke = RP_GRID, .width = 1});
    if (diagonal)
        return;
    snprintf(text, sizeof text, "%s%.2f", rho <= -0.005 ? "−" : "", fabs(rho));
    const int near = fabs(rho) > 0.99 && fabs(rho) < 1;
    if (near) /* what matters is how near to 1 */
        snprintf(text, sizeof text, "%s0.%03.0f", rho < 0 ? "−" : "",
                 fmin(999, floor(1000 * fabs(rho))));
    c->text(c, x + CELL / 2.0, y + CELL / 2.0 + 0.35 * RP_FONT,
            &(struct rp_label){.anchor = RP_MIDDLE,
                               .size = near ? RP_FONT - 2 : RP_FONT - 1,
                               .bold = fabs(rho) > 0.9,
                               .ink = isnan(rho) ? RP_SOFT
                                                 : RP_RGB(fabs(rho) > 0.62 ? 0xffffff : 0x1c1f23)},
            isnan(rho) ? "–" : text);
}

/* Parameters that are not held and have a correlation with another one: index[names->n]; returns
 * their number. */
static size_t determined(const struct rp_result *r, const struct fit_yaml *names, size_t *index)
{
    const struct fit_yaml *matrix = rp_get(r->json, "correlation.matrix");
    size_t n = 0;
    for (size_t i = 0; i < names->n; i++) {
        size_t known = 0;
        for (size_t j = 0; j < names->n; j++)
            known += i == j || isnan(element(matrix, i, j)) ? 0 : 1;
        const struct fit_yaml *own =
            fit_yaml_get(rp_get(r->json, "parameters"), names->entry[i].value->text);
        if (known && !rp_json_true(own, "fixed"))
            index[n++] = i;
    }
    return n;
}

static double longest_name(const struct fit_yaml *names, const size_t *index, size_t n)
{
    double w = 0;
    char symbol[160];
    for (size_t k = 0; k < n; k++) {
        rp_symbol(names->entry[index[k]].value->text, symbol, sizeof symbol);
        w = fmax(w, rp_text_width(symbol, RP_FONT));
    }
    return w + 12;
}

static void draw_correlation(struct rp_canvas *c, const struct rp_result *r,
                             const struct rp_figure *f)
{
    const struct fit_yaml *names = rp_get(r->json, "correlation.names"),
                          *matrix = rp_get(r->json, "correlation.matrix");
    size_t *index = malloc((names->n + 1) * sizeof *index),
           n = index ? determined(r, names, index) : 0;
    const double left = longest_name(names, index, n);
    (void)f;
    c->failed |= !index;
    for (size_t i = 0; i < n; i++) {
        const double y = 8 + (double)i * CELL;
        char name[160];
        rp_symbol(names->entry[index[i]].value->text, name, sizeof name);
        c->text(c, left - 6, y + CELL / 2.0 + 0.35 * RP_FONT,
                &(struct rp_label){.anchor = RP_RIGHT, .size = RP_FONT}, name);
        c->text(c, left + ((double)i + 0.5) * CELL + 0.35 * RP_FONT, 8 + (double)n * CELL + 8,
                &(struct rp_label){.anchor = RP_RIGHT, .size = RP_FONT, .upward = 1}, name);
        for (size_t j = 0; j < n; j++)
            draw_cell(c, left + (double)j * CELL, y, element(matrix, index[i], index[j]), i == j);
    }
    free(index);
}

static void list_correlation(const struct rp_result *r, struct rp_figures *list)
{
    const struct fit_yaml *names = rp_get(r->json, "correlation.names");
    if (!names || names->kind != FIT_YAML_LIST)
        return;
    for (size_t i = 0; i < names->n; i++)
        if (names->entry[i].value->kind != FIT_YAML_SCALAR)
            return;
    size_t *index = malloc((names->n + 1) * sizeof *index),
           n = index ? determined(r, names, index) : 0;
    const double w = longest_name(names, index, n), side = (double)n * CELL;
    struct rp_figure *f =
        n > 1 ? rp_figure_add(list, RP_CORRELATION, "correlation", w + side + 10, side + w + 12) : NULL;
    if (f) {
        f->draw = draw_correlation;
        snprintf(f->alt, sizeof f->alt, "Correlation matrix of %zu parameters", n);
    }
    list->failed |= !index;
    free(index);
}

void rp_list_parameters(const struct rp_result *r, struct rp_figures *list)
{
    list_groups(r, list);
    list_correlation(r, list);
}
