/* fig_pair.c -- two results side by side; see pair.h.
 *
 * Groups correspond when their azimuths agree within half a degree, their wavevectors within a millionth, or the curves
 * of a table have the same value.
 */
#include "report/figures/pair.h"

#include "report/draw/colour.h"
#include "report/draw/rich.h"
#include "report/figures/figures.h"
#include "report/figures/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 24 };
static const double map_side = 150, between = 16, before_other = 40;
static const char *const label[2] = {"A", "B"};

/* ---- places ---------------------------------------------------------------------------------- */

static int near(double a, double b, double part)
{
    return fabs(a - b) <= part * fmax(fabs(a), fabs(b)) || (isnan(a) && isnan(b));
}

static int is_same_place(const struct rp_result *a, size_t g, const struct rp_result *b, size_t h)
{
    if (!a->pairs)
        return a->axis && b->axis ? near(a->axis_value[g], b->axis_value[h], 1e-9) : !a->axis && !b->axis;
    const double qa = a->q ? a->q[g] : a->origin.q, qb = b->q ? b->q[h] : b->origin.q;
    return fabs(a->phi[g] - b->phi[h]) < 0.5 && (isnan(qa) || isnan(qb) || near(qa, qb, 1e-6));
}

static size_t groups(const struct rp_result *r)
{
    return r->pairs || r->axis ? r->ngroup : 1;
}

enum fit_status rp_pair_match(struct rp_pair *p, struct fit_error *err)
{
    const struct rp_result *a = p->r[0], *b = p->r[1];
    p->n = 0;
    p->place = calloc(groups(a) + 1, sizeof *p->place);
    if (!p->place)
        return fit_no_memory(err, "compare");
    for (size_t g = 0; g < groups(a) && a->pairs == b->pairs; g++)
        for (size_t h = 0; h < groups(b); h++)
            if (is_same_place(a, g, b, h)) {
                p->place[p->n++] = (struct rp_place){{g, h}};
                break;
            }
    return FIT_OK;
}

int rp_pair_same_grid(const struct rp_pair *p)
{
    const struct rp_result *a = p->r[0], *b = p->r[1];
    int same = a->pairs && b->pairs && a->side == b->side && a->bin == b->bin && a->side > 1;
    for (size_t i = 0; same && i < a->side; i++)
        same = fabs(a->t[i] - b->t[i]) < 0.01 * (a->t[1] - a->t[0]);
    return same;
}

static void title_of(const struct rp_result *r, size_t group, char *text, size_t size)
{
    if (r->pairs)
        rp_group_title(r, group, text, size);
    else
        rp_rows_title(r, group, text, size);
}

/* Name of the group, and the colours of the results. */
static void draw_head(struct rp_canvas *c, const struct rp_pair *p, size_t k, double x, double right)
{
    char title[160] = "";
    const struct rp_key key[] = {{label[0], {.stroke = RP_S0, .width = 6}, 1},
                                 {label[1], {.stroke = RP_S0 + 1, .width = 6}, 1}};
    if (k < p->n)
        title_of(p->r[0], p->place[k].group[0], title, sizeof title);
    c->text(c, x, RP_FONT + 2, &(struct rp_label){.size = RP_FONT + 1, .bold = 1}, title);
    rp_keys(c, right - rp_keys_width(key, 2), 4, right, key, 2);
}

/* ---- maps ------------------------------------------------------------------------------------ */

static double left_of(const struct rp_result *r)
{
    const struct rp_axis ay = {.lo = r->t[0], .hi = r->t[r->side - 1], .name = "t2", .unit = r->time_unit};
    return rp_panel_left(&ay, map_side);
}

double rp_pair_maps_width(const struct rp_pair *p)
{
    return left_of(p->r[0]) + (p->same_data ? 3 : 4) * map_side + between + before_other +
           (p->same_data ? 0 : between) + 14;
}

static double *difference(const double *a, const double *b, size_t n)
{
    double *d = malloc((n + 1) * sizeof *d);
    for (size_t k = 0; d && k < n; k++)
        d[k] = b[k] - a[k];
    return d;
}

/* The range in which 99 % have a colour of their own. */
static double limit_of(const double *d, size_t n)
{
    const double most = fmax(-rp_quantile(d, n, 0.005), rp_quantile(d, n, 0.995));
    return most > 0 ? most : 1e-12;
}

/* The differences of maps, all with one limit. */
static void draw_differences(struct rp_canvas *c, const struct rp_pair *p, size_t group, struct rp_panel *at,
                             double *const difference_of[2], const char *const title[2], size_t first)
{
    const size_t n = p->r[0]->side * p->r[0]->side;
    const double x0 = at->x, limit = fmax(limit_of(difference_of[first], n), limit_of(difference_of[1], n));
    for (size_t d = first; d < 2; d++, at->x += map_side + between) {
        at->title = title[d];
        rp_map_draw(c, p->r[0], group, at, difference_of[d], -limit, limit, rp_diverging());
    }
    const struct rp_axis scale = {.lo = -limit, .hi = limit, .name = "B − A"};
    rp_colour_bar(c, x0, at->y + map_side + 46, at->x - between - x0, rp_diverging(), &scale);
}

static void draw_both(struct rp_canvas *c, const struct rp_pair *p, size_t k, struct rp_panel *at)
{
    double range[2][3];
    const double x0 = at->x;
    for (size_t e = 0; e < 2; e++)
        rp_map_range(p->r[e], p->place[k].group[e], range[e]);
    const struct rp_axis value = {
        .lo = fmin(range[0][0], range[1][0]), .hi = fmax(range[0][1], range[1][1]), .name = RP_C2};
    for (size_t e = 0; e < 2; e++, at->x += map_side + between) {
        const struct rp_result *r = p->r[e];
        const double *map = (p->same_data ? r->model : r->c2) + p->place[k].group[e] * r->side * r->side;
        at->title = p->same_data ? (e ? "fit B" : "fit A") : e ? "data B" : "data A";
        rp_map_draw(c, r, p->place[k].group[e], at, map, value.lo, value.hi, rp_viridis());
        at->ay.hidden = 1;
    }
    rp_colour_bar(c, x0, at->y + map_side + 46, at->x - between - x0, rp_viridis(), &value);
}

void rp_pair_maps(struct rp_canvas *c, const struct rp_pair *p, size_t k)
{
    const struct rp_result *a = p->r[0], *b = p->r[1];
    const size_t n = a->side * a->side, *g = p->place[k].group;
    const struct rp_axis time = rp_map_axis(a, g[0]);
    struct rp_panel at = {.x = left_of(a), .y = 46, .w = map_side, .h = map_side, .ax = time, .ay = time};
    double *const d[2] = {p->same_data ? NULL : difference(a->c2 + g[0] * n, b->c2 + g[1] * n, n),
                          difference(a->model + g[0] * n, b->model + g[1] * n, n)};
    static const char *const title[2] = {"data B − A", "fit B − A"};
    char text[160];
    at.ay.name = RP_T2;
    title_of(a, g[0], text, sizeof text);
    c->text(c, at.x, RP_FONT + 2, &(struct rp_label){.size = RP_FONT + 1, .bold = 1}, text);
    if ((!p->same_data && !d[0]) || !d[1]) {
        c->failed = 1;
    } else {
        draw_both(c, p, k, &at);
        at.x += before_other - between;
        draw_differences(c, p, g[0], &at, d, title, p->same_data ? 1 : 0);
    }
    free(d[0]);
    free(d[1]);
}

/* ---- g2 -------------------------------------------------------------------------------------- */

static size_t ages(const struct rp_pair *p)
{
    return p->r[0]->nage < p->r[1]->nage ? p->r[0]->nage : p->r[1]->nage;
}

static void take_cuts(const struct rp_pair *p, size_t k, struct rp_axis *tau, struct rp_axis *g2)
{
    for (size_t e = 0; e < 2; e++)
        for (size_t age = 0; age < ages(p); age++) {
            struct rp_bin bin[RP_BINS];
            const size_t n = rp_cut_bins(p->r[e], p->place[k].group[e], age, bin);
            for (size_t i = 0; i < n; i++) {
                rp_axis_take(tau, bin[i].tau);
                rp_axis_take(g2, bin[i].g2);
                rp_axis_take(g2, bin[i].model);
            }
        }
}

void rp_pair_cuts(struct rp_canvas *c, const struct rp_pair *p, size_t k)
{
    struct rp_axis tau = {.log = 1, .name = RP_TAU, .unit = p->r[0]->time_unit}, g2 = {.name = RP_G2};
    rp_axis_begin(&tau);
    rp_axis_begin(&g2);
    take_cuts(p, k, &tau, &g2);
    rp_axis_end(&tau, 0.03);
    rp_axis_end(&g2, 0.06);
    const size_t n = ages(p);
    const double left = rp_panel_left(&g2, 180), wide = (c->width - left - 14 - 12 * (double)(n - 1)) / (double)n;
    struct rp_panel at = {.x = left, .y = 56, .w = wide, .h = 180, .ax = tau, .ay = g2, .grid = 1};
    for (size_t age = 0; age < n; age++, at.x += wide + 12, at.ay.hidden = 1) {
        char title[48];
        snprintf(title, sizeof title, "age %.3g %s",
                 rp_cut_ages(p->r[0], p->place[k].group[0])[age], p->r[0]->time_unit);
        at.title = title;
        rp_panel_grid(c, &at);
        for (size_t e = 0; e < 2; e++) {
            struct rp_bin bin[RP_BINS];
            rp_cut_points(c, &at, bin, rp_cut_bins(p->r[e], p->place[k].group[e], age, bin), RP_S0 + (uint32_t)e);
        }
        for (size_t e = 0; e < 2; e++)
            rp_cut_fit(c, p->r[e], p->place[k].group[e], age, &at, RP_S0 + (uint32_t)e);
        rp_panel_frame(c, &at);
    }
    draw_head(c, p, k, left, c->width - 14);
}

/* ---- tables and curves ------------------------------------------------------------------------ */

void rp_pair_rows(struct rp_canvas *c, const struct rp_pair *p, size_t k)
{
    struct rp_rows rows[2] = {rp_rows_of(p->r[0], p->place[k].group[0]), rp_rows_of(p->r[1], p->place[k].group[1])};
    char name[2][160];
    struct rp_axis x[2] = {{.name = name[0]}, {.name = name[0]}}, y[2] = {{.name = name[1]}, {.name = name[1]}}, z;
    if (rows[0].row && rows[1].row) {
        for (size_t e = 0; e < 2; e++)
            rp_rows_axes(p->r[e], &rows[e], 1, &x[e], &y[e], &z);
        rp_rows_names(p->r[0], &rows[0], name[0], name[1], sizeof name[0]);
        rp_axis_join(&x[0], &x[1]);
        rp_axis_join(&y[0], &y[1]);
        const double left = rp_panel_left(&y[0], 200);
        const struct rp_panel at = {.x = left, .y = 30, .w = c->width - left - 14, .h = 200, .ax = x[0], .ay = y[0]};
        rp_panel_grid(c, &at);
        for (size_t e = 0; e < 2; e++)
            rp_rows_marks(c, p->r[e], &at, NULL, &rows[e], RP_S0 + (uint32_t)e, RP_S0 + (uint32_t)e);
        rp_panel_frame(c, &at);
        draw_head(c, p, k, left, c->width - 14);
    } else {
        c->failed = 1;
    }
    free(rows[0].row);
    free(rows[1].row);
}

long rp_pair_curve_partner(const struct rp_pair *p, size_t of)
{
    const struct rp_curve *v = &p->r[0]->curve[of], *w = p->r[1]->curve;
    for (size_t k = 0; k < p->r[1]->ncurve && p->r[0]->nt > 1 && p->r[1]->nt > 1; k++)
        if (strcmp(w[k].name, v->name) == 0 && strcmp(w[k].unit, v->unit) == 0)
            return (long)k;
    return -1;
}

void rp_pair_curve(struct rp_canvas *c, const struct rp_pair *p, size_t of)
{
    const size_t k[2] = {of, (size_t)rp_pair_curve_partner(p, of)};
    const struct rp_curve *v = &p->r[0]->curve[of];
    char name[160];
    struct rp_axis t[2] = {{.name = RP_TIME, .unit = "s"}, {.name = RP_TIME, .unit = "s"}};
    struct rp_axis y[2] = {{.name = name, .unit = v->unit}, {.name = name, .unit = v->unit}};
    rp_curve_name(v->name, name, sizeof name);
    for (size_t e = 0; e < 2; e++)
        rp_curve_axes(p->r[e], &k[e], 1, &t[e], &y[e]);
    rp_axis_join(&t[0], &t[1]);
    rp_axis_join(&y[0], &y[1]);
    const double left = rp_panel_left(&y[0], 200);
    const struct rp_panel at = {.x = left, .y = 30, .w = c->width - left - 14, .h = 200, .ax = t[0], .ay = y[0]};
    rp_panel_grid(c, &at);
    for (size_t e = 0; e < 2; e++)
        rp_curve_marks(c, p->r[e], &k[e], 1, &at, RP_S0 + (uint32_t)e);
    rp_panel_frame(c, &at);
    draw_head(c, p, p->n, left, c->width - 14);
}

/* ---- parameters ------------------------------------------------------------------------------ */

static double sigma_of(const struct fit_yaml *rows, size_t k)
{
    return rp_json_number(rows->entry[k].value, "sigma");
}

double rp_pair_sigmas_height(const struct fit_yaml *rows)
{
    size_t n = 0;
    for (size_t k = 0; rows && rows->kind == FIT_YAML_LIST && k < rows->n; k++)
        n += isnan(sigma_of(rows, k)) ? 0 : 1;
    return n ? 12 + (double)n * LINE + 50 : 0;
}

void rp_pair_sigmas(struct rp_canvas *c, const struct fit_yaml *rows, double limit)
{
    const double beyond = 12; /* further away is drawn at the edge */
    double left = 40, most = 1.3 * limit;
    char name[160];
    for (size_t k = 0; k < rows->n; k++) {
        if (isnan(sigma_of(rows, k)))
            continue;
        rp_symbol(rp_json_text(rows->entry[k].value, "name"), name, sizeof name);
        left = fmax(left, rp_text_width(name, RP_FONT) + 16);
        most = fmax(most, fmin(1.1 * fabs(sigma_of(rows, k)), beyond * limit));
    }
    const struct rp_axis x = {.lo = -most, .hi = most, .name = "(B − A) / standard deviation"},
                         y = {.lo = 0, .hi = 1, .hidden = 2};
    const struct rp_panel p = {.x = left, .y = 8, .w = c->width - left - 14, .h = c->height - 60, .ax = x, .ay = y};
    rp_box(c, rp_panel_x(&p, -limit), p.y, rp_panel_x(&p, limit) - rp_panel_x(&p, -limit), p.h);
    rp_draw(c, &(struct rp_style){.fill = RP_SOFT, .opacity = 0.18});
    double middle = p.y + LINE / 2.0;
    for (size_t k = 0; k < rows->n; k++) {
        const double z = sigma_of(rows, k);
        if (isnan(z))
            continue;
        rp_symbol(rp_json_text(rows->entry[k].value, "name"), name, sizeof name);
        c->text(c, left - 8, middle + 0.35 * RP_FONT, &(struct rp_label){.anchor = RP_RIGHT, .size = RP_FONT}, name);
        rp_move(c, rp_panel_x(&p, 0), middle);
        rp_line(c, rp_panel_x(&p, z), middle);
        rp_draw(c, &(struct rp_style){.stroke = fabs(z) > limit ? RP_S0 + 1 : RP_S0, .width = 7});
        middle += LINE;
    }
    rp_panel_frame(c, &p);
}
