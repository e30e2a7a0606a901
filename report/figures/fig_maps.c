/* fig_maps.c -- data, fit and residuals of a group over (t1, t2); before any fit the data alone.
 *
 * Data and fit share the colours of one bar; residuals are in standard deviations, symmetric about
 * zero.  The range is that of 0.2 % to 99.8 % of the data, and what is beside the diagonal: the same for all groups
 * when each of them fills at least half of it. */
#include "report/draw/colour.h"
#include "report/draw/rich.h"
#include "report/figures/figures.h"
#include "report/figures/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double between = 12, before_residual = 34, right = 14;

/* Of a map; a single one may be large. */
static double side_of(const struct rp_result *r)
{
    return !r->fitted ? (r->ngroup > 1 ? 240 : 400) : r->ngroup > 1 ? 124 : 190;
}

static double width_of(const struct rp_result *r)
{
    return r->fitted ? 3 * side_of(r) + between + before_residual : side_of(r);
}

/* Above the frame: name of the group, and of the panels where there are several. */
static double top_of(const struct rp_result *r)
{
    return r->fitted ? 46 : 30;
}

const double *rp_map_times(const struct rp_result *r, size_t group)
{
    return r->t_group ? r->t_group + group * r->side : r->t;
}

size_t rp_map_side(const struct rp_result *r, size_t group)
{
    const double *t = rp_map_times(r, group);
    size_t n = r->side;
    while (n > 1 && isnan(t[n - 1]))
        n--;
    return n;
}

const double *rp_cut_lags(const struct rp_result *r, size_t group)
{
    return r->tau_group ? r->tau_group + group * r->nlag : r->tau;
}

const double *rp_cut_ages(const struct rp_result *r, size_t group)
{
    return r->age_group ? r->age_group + group * r->nage : r->age;
}

struct rp_axis rp_map_axis(const struct rp_result *r, size_t group)
{
    const double *t = rp_map_times(r, group);
    const size_t n = rp_map_side(r, group);
    const double half = n > 1 ? (t[1] - t[0]) / 2 : 0.5;
    return (struct rp_axis){.lo = t[0] - half, .hi = t[n - 1] + half, .name = RP_T1, .unit = r->time_unit};
}

static double left_of(const struct rp_result *r, size_t group)
{
    const struct rp_axis ay = {.lo = rp_map_times(r, group)[0],
                               .hi = rp_map_times(r, group)[rp_map_side(r, group) - 1],
                               .name = "t2",
                               .unit = r->time_unit};
    return rp_panel_left(&ay, side_of(r));
}

double rp_map_value(const double *map, size_t n, size_t i, size_t j)
{
    const double own = map[i * n + j];
    if (i != j || !isnan(own))
        return own;
    const double after = i + 1 < n ? map[i * n + i + 1] : NAN,
                 before = i ? map[(i - 1) * n + i] : NAN;
    return isnan(after) ? before : isnan(before) ? after : (after + before) / 2;
}

/* Rows from the top: the latest t2. */
static unsigned char *colours(const double *map, size_t all, size_t n, double lo, double hi)
{
    unsigned char *pixel = malloc(n * n + 1);
    for (size_t i = 0; pixel && i < n; i++)
        for (size_t j = 0; j < n; j++)
            pixel[(n - 1 - i) * n + j] = rp_level(rp_map_value(map, all, i, j), lo, hi);
    return pixel;
}

void rp_map_draw(struct rp_canvas *c, const struct rp_result *r, size_t group, const struct rp_panel *p,
                 const double *map, double lo, double hi, const struct rp_palette *palette)
{
    const size_t n = rp_map_side(r, group);
    unsigned char *pixel = colours(map, r->side, n, lo, hi);
    if (pixel)
        c->image(c, p->x, p->y, p->w, p->h, &(struct rp_image){n, n, pixel, palette});
    else
        c->failed = 1;
    free(pixel);
    rp_panel_frame(c, p);
}

/* The size of the residuals: relative to known errors, else by themselves. */
static void noise_of(const struct rp_result *r, size_t group, char *text, size_t size)
{
    const struct fit_yaml *scaling = rp_get(r->json, "scaling"),
                          *sigma = rp_get(r->json, "noise.sigma");
    const int own = strcmp(rp_json_text(r->json, "noise.source"), "residuals") == 0;
    const struct fit_yaml *list = own ? sigma : scaling;
    text[0] = '\0';
    if (!r->fitted && r->noise && r->noise[group] > 0)
        snprintf(text, size, " · σ ≈ %#.2g", r->noise[group]);
    if (!list || list->kind != FIT_YAML_LIST || group >= list->n)
        return;
    const double x = rp_json_number(list->entry[group].value, own ? "" : "chi2_per_point");
    if (!isnan(x))
        snprintf(text, size, own ? " · σ = %#.3g" : " · χ²/N = %.3f", x);
}

static void draw(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f)
{
    const size_t at = f->index * r->side * r->side;
    const double side = side_of(r), x0 = left_of(r, f->index);
    const struct rp_axis time = rp_map_axis(r, f->index);
    struct rp_panel p = {.x = x0,
                         .y = top_of(r),
                         .w = side,
                         .h = side,
                         .ax = time,
                         .ay = time,
                         .title = r->fitted ? "data" : NULL};
    char title[160], part[80], noise[64];
    p.ay.name = RP_T2;
    rp_group_title(r, f->index, part, sizeof part);
    noise_of(r, f->index, noise, sizeof noise);
    snprintf(title, sizeof title, "%s%s", part, noise);
    c->text(c, x0, RP_FONT + 2, &(struct rp_label){.size = RP_FONT + 1, .bold = 1}, title);
    rp_map_draw(c, r, f->index, &p, r->c2 + at, f->range[0], f->range[1], rp_viridis());
    const double y = top_of(r) + side + 46;
    const struct rp_axis value = {.lo = f->range[0], .hi = f->range[1], .name = RP_C2},
                         sigma = {
                             .lo = -f->range[2], .hi = f->range[2], .name = "(data − fit) / σ"};
    rp_colour_bar(c, x0, y, r->fitted ? 2 * side + between : side, rp_viridis(), &value);
    if (!r->fitted)
        return;
    p.x += side + between;
    p.ay.hidden = 1;
    p.title = "fit";
    rp_map_draw(c, r, f->index, &p, r->model + at, f->range[0], f->range[1], rp_viridis());
    p.x += side + before_residual;
    p.title = "residual";
    rp_map_draw(c, r, f->index, &p, r->residual + at, -f->range[2], f->range[2], rp_diverging());
    rp_colour_bar(c, p.x, y, side, rp_diverging(), &sigma);
}

/* Means over the pairs next to the diagonal, where correlation is highest: a thin ridge fills few pixels. */
static double ridge(const double *map, size_t n)
{
    double sum = 0, count = 0;
    for (size_t i = 0; i + 1 < n; i++)
        if (!isnan(map[i * n + i + 1])) {
            sum += map[i * n + i + 1];
            count++;
        }
    return count > 0 ? sum / count : NAN;
}

/* 0.2 % to 99.8 % of the data, and the ridge; residuals: at least 4, so that pure noise looks pale. */
void rp_map_range(const struct rp_result *r, size_t g, double range[3])
{
    const size_t n = r->side * r->side;
    double sides[2];
    range[0] = rp_quantile(r->c2 + g * n, n, 0.002);
    range[1] = fmax(rp_quantile(r->c2 + g * n, n, 0.998), ridge(r->fitted ? r->model + g * n : r->c2 + g * n, r->side));
    if (!(range[1] > range[0])) {
        range[0] = isnan(range[0]) ? 0 : range[0] - 0.5;
        range[1] = range[0] + 1;
    }
    range[2] = 4;
    if (!r->fitted)
        return;
    sides[0] = -rp_quantile(r->residual + g * n, n, 0.005);
    sides[1] = rp_quantile(r->residual + g * n, n, 0.995);
    range[2] = ceil(fmax(4, fmax(sides[0], sides[1])));
}

void rp_list_maps(const struct rp_result *r, struct rp_figures *list)
{
    const size_t first = list->n;
    double all[3] = {INFINITY, -INFINITY, 4}, least = INFINITY;
    char name[64];
    if (r->side < 2)
        return;
    const double side = side_of(r);
    for (size_t g = 0; g < r->ngroup; g++) {
        char place[80];
        rp_group_place(r, g, place, sizeof place);
        if (r->q)
            snprintf(name, sizeof name, "map_%02zu_q%.6g_phi%+.6g", g, r->q[g], r->phi[g]);
        else
            snprintf(name, sizeof name, "map_%02zu_phi%+.6g", g, r->phi[g]);
        struct rp_figure *f = rp_figure_add(list, RP_MAPS, name, left_of(r, g) + width_of(r) + right,
                                            top_of(r) + side + 46 + 50);
        if (!f)
            return;
        f->index = g;
        f->draw = draw;
        snprintf(f->alt, sizeof f->alt, "%s at %s over t1 and t2",
                 r->fitted ? "Data, fit and residuals" : "Data", place);
        rp_map_range(r, g, f->range);
        all[0] = fmin(all[0], f->range[0]);
        all[1] = fmax(all[1], f->range[1]);
        all[2] = fmax(all[2], f->range[2]);
        least = fmin(least, f->range[1] - f->range[0]);
    }
    list->shared_scale = least >= 0.5 * (all[1] - all[0]);
    for (size_t k = first; k < list->n; k++)
        for (int e = list->shared_scale ? 0 : 2; e < 3; e++)
            list->figure[k].range[e] = all[e];
}
