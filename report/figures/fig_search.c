/* fig_search.c -- the start and end of the search for the minimum: costs of all starts.
 *
 * Costs of the first stage belong to a part of the data; they are compared only with each other. */
#include "report/figures/figures.h"
#include "math/special.h"
#include "report/draw/panel.h"

#include <math.h>
#include <stdlib.h>

/* Sorted final costs of the starts fitted to all data (1) or a part (0); the caller frees. */
static double *costs(const struct rp_result *r, int all, size_t *n)
{
    const struct fit_yaml *list = rp_get(r->json, "starts");
    *n = 0;
    if (!list || list->kind != FIT_YAML_LIST)
        return NULL;
    double *cost = malloc((list->n + 1) * sizeof *cost);
    for (size_t k = 0; cost && k < list->n; k++) {
        const double x = rp_json_number(list->entry[k].value, "cost_final");
        if (x > 0 && rp_json_true(list->entry[k].value, "all_data") == all)
            cost[(*n)++] = x;
    }
    if (cost)
        qsort(cost, *n, sizeof *cost, fit_ascending);
    return cost;
}

static void draw(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f)
{
    size_t n;
    double *cost = costs(r, (int)f->index, &n);
    struct rp_axis x = {.lo = 0, .hi = (double)n + 1, .name = "starts, best first"};
    struct rp_axis y = {.log = 1, .name = "cost / best"};
    rp_axis_begin(&y);
    for (size_t k = 0; k < n; k++)
        rp_axis_take(&y, cost[k] / cost[0]);
    y.hi = fmax(y.hi, 1.01); /* less is no difference */
    y.log = y.hi > 3;
    rp_axis_end(&y, 0.08);
    const double left = rp_panel_left(&y, 180);
    struct rp_panel p = {.x = left, .y = 30, .w = f->width - left - 14, .h = 180, .ax = x, .ay = y};
    c->text(c, left, RP_FONT + 2, &(struct rp_label){.size = RP_FONT, .bold = 1},
            f->index ? "Refined with all data" : "Coarse search on a subset of the data");
    rp_panel_grid(c, &p);
    for (size_t k = 0; k < n; k++)
        rp_dot(c, rp_panel_x(&p, (double)(k + 1)), rp_panel_y(&p, cost[k] / cost[0]));
    rp_draw(c, &(struct rp_style){.stroke = RP_S0, .width = 6});
    rp_panel_frame(c, &p);
    free(cost);
}

void rp_list_search(const struct rp_result *r, struct rp_figures *list)
{
    static const char *const name[] = {"starts_coarse", "starts"};
    for (size_t all = 0; all < 2; all++) {
        size_t n;
        free(costs(r, (int)all, &n));
        if (n < 3)
            continue;
        struct rp_figure *f = rp_figure_add(list, RP_SEARCH, name[all], 360, 260);
        if (!f)
            return;
        f->index = all;
        f->draw = draw;
        snprintf(f->alt, sizeof f->alt, "Costs that %zu starts ended with, relative to the best",
                 n);
    }
}
