/* fig_posterior.c -- draws of the posterior: traces and ranks of the chains, energies.
 *
 * Ranks: Vehtari et al., Bayesian Analysis 16 (2021) 667.  Energy: Betancourt, arXiv:1604.00695:
 * the changes between draws of a chain should spread about as much as the energies themselves. */
#include "report/draw/colour.h"
#include "report/figures/figures.h"
#include "report/draw/panel.h"
#include "report/draw/rich.h"
#include "report/figures/corner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 44, RANKS = 20, TRACE = 400 };

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
    struct rp_axis y = rp_draws_axis(r, f->index), rank = {.lo = 0, .hi = 1, .name = "rank / draws"};
    char symbol[160];
    rp_symbol(d->name, symbol, sizeof symbol);
    y.name = symbol;
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
    snprintf(title, sizeof title, "%s · R-hat %.3f, ESS %.0f", name, d->r_hat, d->ess);
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
        const size_t u = rp_draws_bin(r->energy[k] - mean, &x, POINTS);
        if (u < POINTS)
            count[0][u]++;
        const size_t v =
            k % r->draws ? rp_draws_bin(r->energy[k] - r->energy[k - 1], &x, POINTS) : POINTS;
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
    rp_list_corner(r, list);
    rp_list_forest(r, list);
    if (r->energy) { /* draws of chains; those of a Laplace approximation have no order */
        list_chains(r, list);
        struct rp_figure *f = rp_figure_add(list, RP_ENERGY, "energy", 360, 262);
        if (!f)
            return;
        f->draw = draw_energy;
        snprintf(f->alt, sizeof f->alt, "Energies of the draws and their changes");
    }
}
