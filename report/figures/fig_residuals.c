/* fig_residuals.c -- are the residuals white and normal?
 *
 * From the maps: their distribution, and their correlation with the residual k points further along
 * the lag (t2 -> t2 + k) and along the age (t1 and t2 -> + k); white noise stays within 2 /
 * sqrt(pairs of values). From fit.json: the variance by tenths of the lag, which shows noise that
 * is not the same everywhere. */
#include "report/figures/figures.h"
#include "report/draw/panel.h"

#include <math.h>
#include <stdlib.h>

enum { REACH = 20, BARS = 48, HEIGHT = 190 };

static struct rp_panel open_panel(struct rp_canvas *c, const struct rp_figure *f, double top,
                                  const struct rp_axis *x, const struct rp_axis *y)
{
    const double left = rp_panel_left(y, HEIGHT);
    struct rp_panel p = {
        .x = left, .y = top, .w = f->width - left - 14, .h = HEIGHT, .ax = *x, .ay = *y};
    rp_panel_grid(c, &p);
    return p;
}

/* ---- autocorrelation ------------------------------------------------------------------------- */

struct acf {
    double value[2][REACH + 1], limit[2][REACH + 1]; /* along lag, along age */
};

static void correlate(const struct rp_result *r, size_t along, size_t k, double *rho, double *limit)
{
    const size_t n = r->side;
    double product = 0, square = 0, count = 0;
    for (size_t g = 0; g < r->ngroup; g++) {
        const double *z = r->residual + g * n * n;
        for (size_t i = 0; i + (along ? k : 0) < n; i++)
            for (size_t j = i + 1; j + k < n; j++) {
                const double a = z[i * n + j], b = z[(along ? i + k : i) * n + j + k];
                if (isnan(a) || isnan(b))
                    continue;
                product += a * b;
                square += (a * a + b * b) / 2;
                count++;
            }
    }
    *rho = square > 0 ? product / square : NAN;
    *limit = count > 0 ? 2 / sqrt(count) : NAN;
}

/* The range of white noise, and the correlations along both directions. */
static void draw_lags(struct rp_canvas *c, const struct rp_panel *p, const struct acf *a, size_t reach, double step)
{
    for (size_t k = 1; k <= reach; k++)
        (k > 1 ? rp_line : rp_move)(c, rp_panel_x(p, (double)k * step), rp_panel_y(p, a->limit[0][k]));
    for (size_t k = reach; k >= 1; k--)
        rp_line(c, rp_panel_x(p, (double)k * step), rp_panel_y(p, -a->limit[0][k]));
    rp_close(c);
    rp_draw(c, &(struct rp_style){.fill = RP_SOFT, .opacity = 0.25});
    for (uint32_t d = 0; d < 2; d++) {
        for (size_t k = 1; k <= reach; k++)
            (k > 1 ? rp_line : rp_move)(c, rp_panel_x(p, (double)k * step), rp_panel_y(p, a->value[d][k]));
        rp_draw(c, &(struct rp_style){.stroke = RP_S0 + d, .width = 1.5});
        for (size_t k = 1; k <= reach; k++)
            rp_dot(c, rp_panel_x(p, (double)k * step), rp_panel_y(p, a->value[d][k]));
        rp_draw(c, &(struct rp_style){.stroke = RP_S0 + d, .width = 4.5});
    }
}

static void draw_acf(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f)
{
    const size_t reach = r->side / 3 < REACH ? r->side / 3 : REACH;
    struct acf a;
    struct rp_axis x = {
        .lo = 0, .hi = (double)(reach + 1) * (double)r->bin, .name = "distance (frames)"};
    struct rp_axis y = {.name = "correlation"};
    rp_axis_begin(&y);
    rp_axis_take(&y, 0.01);
    rp_axis_take(&y, -0.01);
    for (size_t d = 0; d < 2; d++)
        for (size_t k = 1; k <= reach; k++) {
            correlate(r, d, k, &a.value[d][k], &a.limit[d][k]);
            rp_axis_take(&y, a.value[d][k]);
            rp_axis_take(&y, -a.limit[d][k]);
            rp_axis_take(&y, a.limit[d][k]);
        }
    rp_axis_end(&y, 0.1);
    struct rp_panel p = open_panel(c, f, 30, &x, &y);
    draw_lags(c, &p, &a, reach, (double)r->bin);
    rp_panel_frame(c, &p);
    const struct rp_key key[] = {{"along lag", {.stroke = RP_S0, .width = 2}, 0},
                                 {"along age", {.stroke = RP_S0 + 1, .width = 2}, 0},
                                 {"white noise", {.fill = RP_SOFT, .opacity = 0.25}, 0}};
    rp_keys(c, 8, 6, f->width, key, 3);
}

/* ---- distribution ---------------------------------------------------------------------------- */

static const double widest = 5; /* standard deviations */

static size_t count_bars(const struct rp_result *r, double bar[BARS])
{
    const size_t all = r->pairs ? r->ngroup * r->side * r->side : r->nrow;
    const double *z = r->pairs ? r->residual : r->row_residual;
    size_t n = 0;
    for (size_t k = 0; k < BARS; k++)
        bar[k] = 0;
    for (size_t k = 0; k < all; k++) {
        const size_t i = k / (r->side ? r->side : 1) % (r->side ? r->side : 1),
                     j = r->pairs ? k % r->side : 0;
        if (isnan(z[k]) || (r->pairs && j < i)) /* maps are symmetric */
            continue;
        const double at = (z[k] + widest) / (2 * widest) * BARS;
        bar[at < 0 ? 0 : at >= BARS ? BARS - 1 : (size_t)at]++;
        n++;
    }
    return n;
}

/* Fewer bars for few values. */
static size_t bars_for(size_t n)
{
    return n > 2000 ? 1 : n > 300 ? 2 : 4;
}

static void draw_distribution(struct rp_canvas *c, const struct rp_result *r,
                              const struct rp_figure *f)
{
    double bar[BARS], most = 0;
    const double n = (double)count_bars(r, bar);
    const size_t merge = bars_for((size_t)n);
    const double width = 2 * widest / BARS * (double)merge, normal = 1 / sqrt(2 * acos(-1.0));
    for (size_t k = 0; k < BARS / merge; k++) {
        double sum = 0;
        for (size_t m = 0; m < merge; m++)
            sum += bar[k * merge + m];
        bar[k] = sum / n / width;
        most = fmax(most, bar[k]);
    }
    const struct rp_axis x = {.lo = -widest, .hi = widest, .name = "(data − fit) / σ"},
                         y = {.lo = 0, .hi = 1.08 * fmax(most, normal), .name = "density"};
    struct rp_panel p = open_panel(c, f, 30, &x, &y);
    for (size_t k = 0; k < BARS / merge; k++) {
        const double u = rp_panel_x(&p, -widest + (double)k * width),
                     v = rp_panel_x(&p, -widest + (double)(k + 1) * width),
                     top = rp_panel_y(&p, bar[k]);
        if (bar[k] > 0)
            rp_box(c, u, top, v - u, p.y + p.h - top);
    }
    rp_draw(c, &(struct rp_style){.fill = RP_S0, .opacity = 0.45});
    for (int k = -100; k <= 100; k++) {
        const double z = widest * k / 100;
        (k > -100 ? rp_line : rp_move)(c, rp_panel_x(&p, z),
                                       rp_panel_y(&p, normal * exp(-z * z / 2)));
    }
    rp_draw(c, &(struct rp_style){.stroke = RP_INK, .width = 1.5});
    rp_panel_frame(c, &p);
    const struct rp_key key[] = {{"residuals", {.fill = RP_S0, .opacity = 0.45}, 0},
                                 {"normal", {.stroke = RP_INK, .width = 1.5}, 0}};
    rp_keys(c, p.x, 6, f->width, key, 2);
}

/* ---- variance by lag ------------------------------------------------------------------------- */

static double decile(const struct fit_yaml *list, size_t g, size_t k)
{
    const struct fit_yaml *v = rp_get(list->entry[g].value, "variance_by_lag_decile");
    return v && v->kind == FIT_YAML_LIST && k < v->n ? rp_json_number(v->entry[k].value, "") : NAN;
}

static void draw_deciles(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f)
{
    const struct fit_yaml *list = rp_get(r->json, "residuals");
    const size_t n = rp_get(list->entry[0].value, "variance_by_lag_decile")->n;
    struct rp_axis x = {.lo = 0, .hi = (double)n, .name = "lag decile"},
                   y = {.name = "variance / σ²"};
    double *mean = calloc(n, sizeof *mean);
    rp_axis_begin(&y);
    for (size_t g = 0; g < list->n; g++)
        for (size_t k = 0; k < n; k++) {
            rp_axis_take(&y, decile(list, g, k));
            if (mean)
                mean[k] += decile(list, g, k) / (double)list->n;
        }
    rp_axis_take(&y, 0.95);
    rp_axis_take(&y, 1.05);
    rp_axis_end(&y, 0.08);
    struct rp_panel p = open_panel(c, f, 30, &x, &y);
    for (size_t g = 0; g < list->n; g++)
        for (size_t k = 0; k < n; k++)
            rp_dot(c, rp_panel_x(&p, (double)k + 0.5), rp_panel_y(&p, decile(list, g, k)));
    rp_draw(c, &(struct rp_style){.stroke = RP_S0, .width = 4, .opacity = 0.5});
    for (size_t k = 0; mean && k < n; k++)
        (k ? rp_line : rp_move)(c, rp_panel_x(&p, (double)k + 0.5), rp_panel_y(&p, mean[k]));
    rp_draw(c, &(struct rp_style){.stroke = RP_INK, .width = 1.5});
    rp_panel_frame(c, &p);
    const struct rp_key key[] = {{"each angle", {.stroke = RP_S0, .width = 5}, 1},
                                 {"mean", {.stroke = RP_INK, .width = 1.5}, 0}};
    rp_keys(c, p.x, 6, f->width, key, 2);
    free(mean);
}

/* ---------------------------------------------------------------------------------------------- */

static void list_one(struct rp_figures *list, const char *name, const char *alt,
                     void (*draw)(struct rp_canvas *, const struct rp_result *,
                                  const struct rp_figure *))
{
    struct rp_figure *f = rp_figure_add(list, RP_RESIDUALS, name, 360, 272);
    if (!f)
        return;
    f->draw = draw;
    snprintf(f->alt, sizeof f->alt, "%s", alt);
}

void rp_list_residuals(const struct rp_result *r, struct rp_figures *list)
{
    double bar[BARS];
    const struct fit_yaml *tests = rp_get(r->json, "residuals");
    if (r->pairs && r->side > 12)
        list_one(list, "residual_correlation", "Correlation of residuals along lag and age",
                 draw_acf);
    if (count_bars(r, bar) >= 30)
        list_one(list, "residual_distribution",
                 "Distribution of the residuals beside the normal one", draw_distribution);
    if (tests && tests->kind == FIT_YAML_LIST && tests->n && !isnan(decile(tests, 0, 0)))
        list_one(list, "residual_variance", "Variance of the residuals by tenths of the lag",
                 draw_deciles);
}
