/* fig_cuts.c -- g2(tau) of a group at a few ages, with the fit, and the residuals of the points
 * below; before any fit the points alone.
 *
 * Points are means over ranges of the lag of equal length on a logarithmic scale, weighted with 1 /
 * error^2; the fit is averaged with the same weights, so that both mean the same. */
#include "report/figures/figures.h"
#include "report/draw/panel.h"

#include <math.h>
#include <stdlib.h>

enum { BINS = 72, PER_DECADE = 14 };

struct bin {
    double tau, g2, model, error, low, high;
};

/* The bins of one age; how many there are. */
static size_t gather(const struct rp_result *r, size_t at, struct bin bin[BINS])
{
    size_t n = 0;
    const double *low = r->g2_low, *high = r->g2_high;
    int known = 0; /* the errors; data that are too few have none */
    for (size_t k = 0; k < r->nlag && !known; k++)
        known = r->g2_error[at + k] > 0;
    for (size_t k = 0; k < r->nlag && n < BINS;) {
        const long which = lround(PER_DECADE * log10(r->tau[k]));
        double w = 0;
        struct bin b = {0, 0, 0, 0, 0, 0};
        for (; k < r->nlag && lround(PER_DECADE * log10(r->tau[k])) == which; k++) {
            const double e = known ? r->g2_error[at + k] : 1;
            if (!(e > 0) || isnan(r->g2[at + k]) || (r->g2_model && isnan(r->g2_model[at + k])))
                continue;
            w += 1 / (e * e);
            b.tau += r->tau[k] / (e * e);
            b.g2 += r->g2[at + k] / (e * e);
            b.model += (r->g2_model ? r->g2_model[at + k] : NAN) / (e * e);
            b.low += (low ? low[at + k] : NAN) / (e * e);
            b.high += (high ? high[at + k] : NAN) / (e * e);
        }
        if (w > 0)
            bin[n++] = (struct bin){b.tau / w, b.g2 / w,  b.model / w, known ? 1 / sqrt(w) : NAN,
                                    b.low / w, b.high / w};
    }
    return n;
}

/* The fit: a finer line than the points, where the lags allow it. */
static void draw_fit(struct rp_canvas *c, const struct rp_panel *p, const struct bin *bin, size_t n,
                     uint32_t ink)
{
    for (size_t k = 0; k < n && !isnan(bin[k].low); k++)
        (k ? rp_line : rp_move)(c, rp_panel_x(p, bin[k].tau), rp_panel_y(p, bin[k].high));
    if (c->nstep) {
        for (size_t k = n; k-- > 0;)
            rp_line(c, rp_panel_x(p, bin[k].tau), rp_panel_y(p, bin[k].low));
        rp_close(c);
        rp_draw(c, &(struct rp_style){.fill = ink, .opacity = 0.3});
    }
    for (size_t k = 0; k < n; k++)
        (k ? rp_line : rp_move)(c, rp_panel_x(p, bin[k].tau), rp_panel_y(p, bin[k].model));
    rp_draw(c, &(struct rp_style){.stroke = ink, .width = 1.5});
}

static void draw_points(struct rp_canvas *c, const struct rp_panel *p, const struct rp_panel *below,
                        const struct bin *bin, size_t n, uint32_t ink)
{
    for (size_t k = 0; k < n && !isnan(bin[k].error); k++) {
        rp_move(c, rp_panel_x(p, bin[k].tau), rp_panel_y(p, bin[k].g2 - bin[k].error));
        rp_line(c, rp_panel_x(p, bin[k].tau), rp_panel_y(p, bin[k].g2 + bin[k].error));
    }
    rp_draw(c, &(struct rp_style){.stroke = ink, .width = 1});
    for (size_t k = 0; k < n; k++)
        rp_dot(c, rp_panel_x(p, bin[k].tau), rp_panel_y(p, bin[k].g2));
    for (size_t k = 0; k < n && below; k++)
        rp_dot(c, rp_panel_x(below, bin[k].tau),
               rp_panel_y(below, (bin[k].g2 - bin[k].model) / bin[k].error));
    rp_draw(c, &(struct rp_style){.stroke = ink, .width = 3.6});
}

struct cuts {
    struct bin (*bin)[BINS]; /* of each age */
    size_t *n;
    struct rp_axis tau, g2, z;
};

/* Bins of all ages, and axes on which they find room; 0: out of memory. */
static int gather_all(const struct rp_result *r, size_t group, struct cuts *x)
{
    double largest = 0;
    *x = (struct cuts){.bin = malloc(r->nage * sizeof *x->bin),
                       .n = malloc(r->nage * sizeof *x->n),
                       .tau = {.log = 1, .name = "τ", .unit = r->time_unit},
                       .g2 = {.name = "g₂"},
                       .z = {.name = "res. / σ"}};
    if (!x->bin || !x->n)
        return 0;
    rp_axis_begin(&x->tau);
    rp_axis_begin(&x->g2);
    for (size_t a = 0; a < r->nage; a++) {
        x->n[a] = gather(r, (group * r->nage + a) * r->nlag, x->bin[a]);
        for (const struct bin *b = x->bin[a]; b < x->bin[a] + x->n[a]; b++) {
            rp_axis_take(&x->tau, b->tau);
            if (r->g2_model)
                rp_axis_take(&x->g2, b->model);
            /* the last lags are seen by few pairs: their errors must not set the scale */
            rp_axis_take(&x->g2, b->g2);
            if (r->g2_model)
                largest = fmax(largest, fabs(b->g2 - b->model) / b->error);
        }
    }
    rp_axis_end(&x->tau, 0.03);
    rp_axis_end(&x->g2, 0.06);
    rp_axis_residuals(&x->z, largest);
    return 1;
}

/* Which colour is which age. */
static void draw_keys(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f,
                      const struct rp_panel *p)
{
    struct rp_key key[RP_SERIES] = {{0}};
    char title[80], text[RP_SERIES][48];
    const size_t n = r->nage < RP_SERIES ? r->nage : RP_SERIES;
    for (size_t a = 0; a < n; a++) {
        snprintf(text[a], sizeof text[a], r->age[a] >= 100 ? "%.0f" : "%.3g", r->age[a]);
        key[a] = (struct rp_key){text[a], {.stroke = RP_S0 + (uint32_t)a, .width = 6}, 1};
    }
    snprintf(title, sizeof title, "age (%s)", r->time_unit);
    const double wide = rp_text_width(title, RP_FONT) + 6;
    const int fits = p->x + wide + rp_keys_width(key, n) <= f->width; /* else what they are stands above them */
    c->text(c, fits ? p->x : p->x + p->w, fits ? 32.5 : RP_FONT + 2,
            &(struct rp_label){.anchor = fits ? RP_LEFT : RP_RIGHT, .size = RP_FONT, .ink = RP_SOFT}, title);
    rp_keys(c, fits ? p->x + wide : p->x, 18.5, f->width, key, n);
}

static void draw_cuts(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f, const struct cuts *x)
{
    char title[80];
    const double left = fmax(rp_panel_left(&x->g2, 180), rp_panel_left(&x->z, 72)), w = f->width - left - 14;
    struct rp_panel p = {.x = left, .y = 46, .w = w, .h = 180, .ax = x->tau, .ay = x->g2, .grid = 1};
    const struct rp_panel residuals = {.x = left, .y = 236, .w = w, .h = 72, .ax = x->tau, .ay = x->z},
                          *below = r->fitted ? &residuals : NULL;
    p.ax.hidden = r->fitted;
    rp_group_title(r, f->index, title, sizeof title);
    c->text(c, left, RP_FONT + 2, &(struct rp_label){.size = RP_FONT + 1, .bold = 1}, title);
    rp_panels_open(c, &p, below);
    for (size_t a = 0; a < r->nage; a++)
        draw_points(c, &p, below, x->bin[a], x->n[a], RP_S0 + (uint32_t)(a % RP_SERIES));
    for (size_t a = 0; a < r->nage && r->fitted; a++)
        draw_fit(c, &p, x->bin[a], x->n[a], RP_S0 + (uint32_t)(a % RP_SERIES));
    rp_panels_close(c, &p, below);
    draw_keys(c, r, f, &p);
}

static void draw(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f)
{
    struct cuts x;
    if (gather_all(r, f->index, &x))
        draw_cuts(c, r, f, &x);
    else
        c->failed = 1;
    free(x.bin);
    free(x.n);
}

void rp_list_cuts(const struct rp_result *r, struct rp_figures *list)
{
    char name[64];
    for (size_t g = 0; g < r->ngroup && r->nlag > 1; g++) {
        struct bin bin[BINS];
        size_t some = 0;
        for (size_t a = 0; a < r->nage; a++)
            some += gather(r, (g * r->nage + a) * r->nlag, bin);
        if (!some) /* nothing measured at this angle */
            continue;
        char place[80];
        rp_group_place(r, g, place, sizeof place);
        if (r->q)
            snprintf(name, sizeof name, "cuts_%02zu_q%.6g_phi%+.6g", g, r->q[g], r->phi[g]);
        else
            snprintf(name, sizeof name, "cuts_%02zu_phi%+.6g", g, r->phi[g]);
        struct rp_figure *f =
            rp_figure_add(list, RP_CUTS, name, r->ngroup > 1 ? 360 : 560, r->fitted ? 356 : 274);
        if (!f)
            return;
        f->index = g;
        f->draw = draw;
        snprintf(f->alt, sizeof f->alt, "g2 over the lag at %s and %zu ages%s", place, r->nage,
                 r->fitted ? ", with the fit" : "");
    }
}
