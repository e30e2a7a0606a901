/* fig_posterior.c -- draws of the posterior: pairs of parameters, traces and ranks of the chains,
 * energies.
 *
 * Ranks: Vehtari et al., Bayesian Analysis 16 (2021) 667.  Energy: Betancourt, arXiv:1604.00695:
 * the changes between draws of a chain should spread about as much as the energies themselves. */
#include "report/draw/colour.h"
#include "report/figures/figures.h"
#include "report/draw/panel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 106, STEP = 40, POINTS = 44, RANKS = 20, TRACE = 400 };

/* Limits of a parameter: all but 0.2 % of its draws, and the least-squares value where that is
 * near. */
static struct rp_axis limits(const struct rp_result *r, size_t k)
{
    const struct rp_draws *d = &r->draw[k];
    const size_t n = r->chains * r->draws;
    struct rp_axis a = {.name = d->name, .unit = d->unit};
    rp_axis_begin(&a);
    rp_axis_take(&a, rp_quantile(d->value, n, 0.001));
    rp_axis_take(&a, rp_quantile(d->value, n, 0.999));
    const double length = a.hi - a.lo;
    if (d->least_squares > a.lo - 0.3 * length && d->least_squares < a.hi + 0.3 * length)
        rp_axis_take(&a, d->least_squares);
    rp_axis_end(&a, 0.05);
    return a;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static size_t bin_of(double x, const struct rp_axis *a, size_t n)
{
    const double at = (x - a->lo) / (a->hi - a->lo) * (double)n;
    return at >= 0 && at < (double)n ? (size_t)at : n;
}

/* One pass of the binomial filter 1 2 1 along a direction of the square. */
static void smooth(double *x, size_t step, size_t other)
{
    for (size_t j = 0; j < POINTS; j++) {
        double before = 0;
        for (size_t i = 0; i < POINTS; i++) {
            double *at = x + i * step + j * other;
            const double own = *at, after = i + 1 < POINTS ? at[step] : 0;
            *at = (before + 2 * own + after) / 4;
            before = own;
        }
    }
}

static void draw_density(struct rp_canvas *c, const struct rp_result *r, const struct rp_panel *p,
                         size_t i, size_t j)
{
    static double count[POINTS * POINTS];
    unsigned char pixel[POINTS * POINTS];
    double most = 0;
    memset(count, 0, sizeof count);
    for (size_t k = 0; k < r->chains * r->draws; k++) {
        const size_t u = bin_of(r->draw[j].value[k], &p->ax, POINTS),
                     v = bin_of(r->draw[i].value[k], &p->ay, POINTS);
        if (u < POINTS && v < POINTS)
            count[(POINTS - 1 - v) * POINTS + u]++;
    }
    for (int pass = 0; pass < 2; pass++) {
        smooth(count, 1, POINTS);
        smooth(count, POINTS, 1);
    }
    for (size_t k = 0; k < POINTS * POINTS; k++)
        most = fmax(most, count[k]);
    for (size_t k = 0; k < POINTS * POINTS; k++)
        pixel[k] = count[k] > 0.01 * most ? rp_level(sqrt(count[k] / most), 0, 1) : 0;
    c->image(c, p->x, p->y, p->w, p->h, &(struct rp_image){POINTS, POINTS, pixel, rp_density()});
}

static void draw_histogram(struct rp_canvas *c, const struct rp_result *r, const struct rp_panel *p,
                           size_t k)
{
    double count[POINTS] = {0}, most = 0;
    for (size_t n = 0; n < r->chains * r->draws; n++) {
        const size_t u = bin_of(r->draw[k].value[n], &p->ax, POINTS);
        if (u < POINTS)
            count[u]++;
    }
    for (size_t u = 0; u < POINTS; u++)
        most = fmax(most, count[u]);
    rp_move(c, p->x, p->y + p->h);
    for (size_t u = 0; u < POINTS; u++) {
        const double y = p->y + p->h * (1 - count[u] / (1.08 * most));
        rp_line(c, p->x + p->w * (double)u / POINTS, y);
        rp_line(c, p->x + p->w * (double)(u + 1) / POINTS, y);
    }
    rp_line(c, p->x + p->w, p->y + p->h);
    rp_close(c);
    rp_draw(c, &(struct rp_style){.fill = RP_S0, .opacity = 0.45});
}

/* Lines at the least-squares values, where they are inside. */
static void draw_cross(struct rp_canvas *c, const struct rp_panel *p, double x, double y, int both)
{
    if (x > p->ax.lo && x < p->ax.hi) {
        rp_move(c, rp_panel_x(p, x), p->y);
        rp_line(c, rp_panel_x(p, x), p->y + p->h);
    }
    if (both && y > p->ay.lo && y < p->ay.hi) {
        rp_move(c, p->x, rp_panel_y(p, y));
        rp_line(c, p->x + p->w, rp_panel_y(p, y));
    }
    rp_draw(c, &(struct rp_style){.stroke = RP_S0 + 1, .width = 1.2});
}

static double corner_left(const struct rp_result *r, size_t n)
{
    double left = 0;
    for (size_t k = 0; k < n; k++) {
        struct rp_axis a = limits(r, k);
        a.name = ""; /* above the diagonal there is more room for it */
        left = fmax(left, rp_panel_left(&a, CELL));
    }
    return left;
}

static void draw_corner(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f)
{
    const size_t n = f->index;
    const double left = corner_left(r, n), step = CELL + STEP;
    char title[3 * RP_NAME];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            struct rp_panel p = {.x = left + step * (double)j,
                                 .y = 26 + step * (double)i,
                                 .w = CELL,
                                 .h = CELL,
                                 .ax = limits(r, j),
                                 .ay = limits(r, i)};
            p.ay.hidden = j > 0 || i == 0; /* the first is a histogram */
            p.ax.hidden = i + 1 < n;
            p.ax.name = p.ay.name = "";
            if (i == j) {
                rp_axis_text(
                    &(struct rp_axis){
                        .lo = p.ax.lo, .hi = p.ax.hi, .name = r->draw[i].name, .unit = p.ax.unit},
                    CELL, title, sizeof title);
                c->text(c, p.x, p.y - 6, &(struct rp_label){.size = RP_FONT, .bold = 1}, title);
                draw_histogram(c, r, &p, i);
                p.ay.hidden = 2;
            } else
                draw_density(c, r, &p, i, j);
            draw_cross(c, &p, r->draw[j].least_squares, r->draw[i].least_squares, i != j);
            rp_panel_frame(c, &p);
        }
}

/* ---- chains ---------------------------------------------------------------------------------- */

static void draw_traces(struct rp_canvas *c, const struct rp_result *r, const struct rp_panel *p,
                        size_t k)
{
    const size_t every = (r->draws + TRACE - 1) / TRACE;
    for (size_t chain = 0; chain < r->chains; chain++) {
        const double *x = r->draw[k].value + chain * r->draws;
        for (size_t i = 0; i < r->draws; i += every)
            (i ? rp_line : rp_move)(c, rp_panel_x(p, (double)i), rp_panel_y(p, x[i]));
        rp_draw(c, &(struct rp_style){.stroke = RP_S0 + (uint32_t)(chain % RP_SERIES),
                                      .width = 0.7,
                                      .opacity = 0.75});
    }
    for (size_t i = 0; r->diverging && i < r->chains * r->draws; i++)
        if (r->diverging[i]) {
            rp_move(c, rp_panel_x(p, (double)(i % r->draws)), p->y + p->h);
            rp_line(c, rp_panel_x(p, (double)(i % r->draws)), p->y + p->h - 8);
        }
    rp_draw(c, &(struct rp_style){.stroke = RP_INK, .width = 1});
}

struct ranked {
    double x;
    size_t at;
};

static int by_value(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return x->x < y->x ? -1 : x->x > y->x ? 1 : (x->at > y->at) - (x->at < y->at);
}

/* Draws of each chain in RANKS ranges of the rank among all, over what is expected; NULL: no
 * memory. */
static double *ranks(const struct rp_result *r, size_t k, double *most)
{
    const size_t n = r->chains * r->draws;
    struct ranked *all = malloc(n * sizeof *all);
    double *count = calloc(r->chains * RANKS, sizeof *count);
    *most = 0;
    for (size_t i = 0; all && i < n; i++)
        all[i] = (struct ranked){r->draw[k].value[i], i};
    if (all)
        qsort(all, n, sizeof *all, by_value);
    for (size_t i = 0; all && count && i < n; i++)
        count[all[i].at / r->draws * RANKS + i * RANKS / n] += (double)RANKS / (double)r->draws;
    for (size_t i = 0; count && i < r->chains * RANKS; i++)
        *most = fmax(*most, count[i]);
    free(all);
    return count;
}

static void draw_ranks(struct rp_canvas *c, const struct rp_result *r, struct rp_panel *p, size_t k)
{
    double most;
    double *count = ranks(r, k, &most);
    p->ay = (struct rp_axis){.lo = 0, .hi = fmax(2, 1.1 * most), .name = "draws / expected"};
    rp_panel_grid(c, p);
    for (size_t chain = 0; count && chain < r->chains; chain++) {
        for (size_t u = 0; u < RANKS; u++) {
            const double y = rp_panel_y(p, count[chain * RANKS + u]);
            (u ? rp_line : rp_move)(c, p->x + p->w * (double)u / RANKS, y);
            rp_line(c, p->x + p->w * (double)(u + 1) / RANKS, y);
        }
        rp_draw(c,
                &(struct rp_style){.stroke = RP_S0 + (uint32_t)(chain % RP_SERIES), .width = 1.3});
    }
    c->failed |= !count;
    free(count);
}

static void draw_chains(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f)
{
    const struct rp_draws *d = &r->draw[f->index];
    char title[4 * RP_NAME], name[3 * RP_NAME];
    struct rp_axis y = limits(r, f->index), rank = {.lo = 0, .hi = 1, .name = "rank / draws"};
    rp_axis_text(&y, 150, name, sizeof name);
    y.name = ""; /* may be longer than the panel is high */
    const double left = rp_panel_left(&y, 150), space = 62,
                 trace = (f->width - left - space) * 0.58;
    struct rp_panel p = {.x = left,
                         .y = 28,
                         .w = trace,
                         .h = 150,
                         .ay = y,
                         .ax = {.lo = 0, .hi = (double)r->draws, .name = "draw"}};
    snprintf(title, sizeof title, "%s · R-hat %.3f, effective size %.0f", name, d->r_hat, d->ess);
    c->text(c, left, RP_FONT + 2, &(struct rp_label){.size = RP_FONT, .bold = 1}, title);
    draw_traces(c, r, &p, f->index);
    rp_panel_frame(c, &p);
    struct rp_panel q = {.x = left + trace + space,
                         .y = 28,
                         .w = f->width - left - trace - space - 12,
                         .h = 150,
                         .ax = rank};
    draw_ranks(c, r, &q, f->index);
    rp_panel_frame(c, &q);
}

/* ---- energy ---------------------------------------------------------------------------------- */

static void draw_energy(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f)
{
    const size_t n = r->chains * r->draws;
    double count[2][POINTS] = {{0}}, mean = 0, most = 0;
    struct rp_axis x = {.name = "energy − mean; change"},
                   y = {.lo = 0, .hi = 1, .hidden = 2}; /* counts */
    for (size_t k = 0; k < n; k++)
        mean += r->energy[k] / (double)n;
    rp_axis_begin(&x);
    for (size_t k = 0; k < n; k++)
        rp_axis_take(&x, fabs(r->energy[k] - mean));
    x.lo = -x.hi;
    rp_axis_end(&x, 0);
    for (size_t k = 0; k < n; k++) {
        const size_t u = bin_of(r->energy[k] - mean, &x, POINTS);
        if (u < POINTS)
            count[0][u]++;
        const size_t v =
            k % r->draws ? bin_of(r->energy[k] - r->energy[k - 1], &x, POINTS) : POINTS;
        if (v < POINTS)
            count[1][v]++;
    }
    for (size_t u = 0; u < POINTS; u++)
        most = fmax(most, fmax(count[0][u], count[1][u]));
    y.hi = 1.08 * most;
    struct rp_panel p = {.x = 14, .y = 30, .w = f->width - 28, .h = 180, .ax = x, .ay = y};
    for (uint32_t s = 0; s < 2; s++) {
        rp_move(c, p.x, p.y + p.h);
        for (size_t u = 0; u < POINTS; u++)
            for (size_t e = 0; e < 2; e++)
                rp_line(c, p.x + p.w * (double)(u + e) / POINTS, rp_panel_y(&p, count[s][u]));
        rp_line(c, p.x + p.w, p.y + p.h);
        rp_close(c);
        rp_draw(c, &(struct rp_style){.fill = RP_S0 + s, .opacity = 0.5});
    }
    rp_panel_frame(c, &p);
    const struct rp_key key[] = {{"energy", {.fill = RP_S0, .opacity = 0.5}, 0},
                                 {"change between draws", {.fill = RP_S0 + 1, .opacity = 0.5}, 0}};
    rp_keys(c, p.x, 6, f->width, key, 2);
}

/* ---------------------------------------------------------------------------------------------- */

static void list_corner(const struct rp_result *r, struct rp_figures *list)
{
    const size_t n = r->ndraws < RP_CORNER_MOST ? r->ndraws : RP_CORNER_MOST;
    const double side = (double)n * (CELL + STEP);
    struct rp_figure *f = rp_figure_add(list, RP_CORNER, "corner",
                                        fmax(240, corner_left(r, n) + side + 110), 26 + side + 14);
    if (!f)
        return;
    f->index = n;
    f->draw = draw_corner;
    snprintf(f->alt, sizeof f->alt,
             "Posterior of %zu parameters: distributions and densities of pairs", n);
}

static void list_chains(const struct rp_result *r, struct rp_figures *list)
{
    char name[64];
    for (size_t k = 0; k < r->ndraws; k++) {
        snprintf(name, sizeof name, "chains_%.50s", r->draw[k].name);
        struct rp_figure *f = rp_figure_add(list, RP_TRACES, name, 560, 228);
        if (!f)
            return;
        f->index = k;
        f->draw = draw_chains;
        snprintf(f->alt, sizeof f->alt, "Draws of %.70s by chain, and their ranks",
                 r->draw[k].name);
    }
}

void rp_list_posterior(const struct rp_result *r, struct rp_figures *list)
{
    list_corner(r, list);
    if (r->energy) { /* draws of chains; those of a Laplace approximation have no order */
        list_chains(r, list);
        struct rp_figure *f = rp_figure_add(list, RP_ENERGY, "energy", 360, 262);
        if (!f)
            return;
        f->draw = draw_energy;
        snprintf(f->alt, sizeof f->alt, "Energies of the draws and their changes");
    }
}
