/* fig_cuts.c -- g2(tau) of a group at a few ages, with the fit, and the residuals of the points
 * below; before any fit the points alone.
 *
 * Points are means over ranges of the lag of equal length on a logarithmic scale, weighted with 1 /
 * error^2; for the residuals the fit is averaged with the same weights.  The line is the fit at every lag. */
#include "report/draw/rich.h"
#include "report/figures/figures.h"
#include "report/figures/parts.h"

#include <math.h>
#include <stdlib.h>

enum { PER_DECADE = 14, SMOOTH = 12 };

size_t rp_cut_bins(const struct rp_result *r, size_t group, size_t age, struct rp_bin bin[RP_BINS])
{
    const size_t at = (group * r->nage + age) * r->nlag;
    size_t n = 0;
    const double *low = r->g2_low, *high = r->g2_high;
    const double *tau = rp_cut_lags(r, group);
    int known = 0; /* the errors; data that are too few have none */
    for (size_t k = 0; k < r->nlag && !known; k++)
        known = r->g2_error[at + k] > 0;
    for (size_t k = 0; k < r->nlag && n < RP_BINS && !isnan(tau[k]);) {
        const long which = lround(PER_DECADE * log10(tau[k]));
        double w = 0;
        struct rp_bin b = {0, 0, 0, 0, 0, 0};
        for (; k < r->nlag && !isnan(tau[k]) && lround(PER_DECADE * log10(tau[k])) == which; k++) {
            const double e = known ? r->g2_error[at + k] : 1;
            if (!(e > 0) || isnan(r->g2[at + k]) || (r->g2_model && isnan(r->g2_model[at + k])))
                continue;
            w += 1 / (e * e);
            b.tau += tau[k] / (e * e);
            b.g2 += r->g2[at + k] / (e * e);
            b.model += (r->g2_model ? r->g2_model[at + k] : NAN) / (e * e);
            b.low += (low ? low[at + k] : NAN) / (e * e);
            b.high += (high ? high[at + k] : NAN) / (e * e);
        }
        if (w > 0)
            bin[n++] =
                (struct rp_bin){b.tau / w, b.g2 / w, b.model / w, known ? 1 / sqrt(w) : NAN, b.low / w, b.high / w};
    }
    return n;
}

/* ---- marks ----------------------------------------------------------------------------------- */

/* A line through known points (lag, value), smooth over the logarithm of the lag: cubic pieces whose slopes keep it
 * monotone between two points (Fritsch and Carlson, SIAM J. Numer. Anal. 17 (1980) 238; slopes: the harmonic mean). */
struct smooth {
    size_t nlag;
    const double *tau, *y; /* at the lags; NaN: not known */
};

static double x_of(const struct smooth *s, size_t k)
{
    return log(s->tau[k]);
}

static double secant(const struct smooth *s, size_t k)
{
    return (s->y[k + 1] - s->y[k]) / (x_of(s, k + 1) - x_of(s, k));
}

static int known(const struct smooth *s, size_t k)
{
    return k < s->nlag && s->tau[k] > 0 && isfinite(s->y[k]);
}

/* At an end: that of the parabola through three points, if it has the sign of the secant. */
static double end_slope(const struct smooth *s, size_t k, size_t next)
{
    const size_t third = next > k ? next + 1 : next - 1;
    const double h = x_of(s, next) - x_of(s, k), a = (s->y[next] - s->y[k]) / h;
    if ((next < k && !next) || !known(s, third))
        return a;
    const double g = x_of(s, third) - x_of(s, next), b = (s->y[third] - s->y[next]) / g;
    const double m = ((2 * h + g) * a - h * b) / (h + g);
    return m * a <= 0 ? 0 : fabs(m) > 3 * fabs(a) ? 3 * a : m;
}

static double slope(const struct smooth *s, size_t k)
{
    const int before = k > 0 && known(s, k - 1), after = known(s, k + 1);
    if (!before || !after)
        return before ? end_slope(s, k, k - 1) : after ? end_slope(s, k, k + 1) : 0;
    const double a = secant(s, k - 1), b = secant(s, k);
    return a * b > 0 ? 2 * a * b / (a + b) : 0;
}

/* Adds the line from point k to the next to the path; back: from its end to its beginning. */
static void piece(struct rp_canvas *c, const struct rp_panel *p, const struct smooth *s, size_t k, int back)
{
    const double x0 = x_of(s, k), h = x_of(s, k + 1) - x0, m0 = slope(s, k), m1 = slope(s, k + 1);
    const int n = h * PER_DECADE > 0.5 ? SMOOTH : h * PER_DECADE > 0.1 ? 3 : 1;
    for (int i = 1; i <= n; i++) {
        const double u = back ? 1 - (double)i / n : (double)i / n, v = 1 - u;
        const double y =
            (1 + 2 * u) * v * v * s->y[k] + u * v * v * h * m0 + u * u * (3 - 2 * u) * s->y[k + 1] - u * u * v * h * m1;
        rp_line(c, rp_panel_x(p, exp(x0 + u * h)), rp_panel_y(p, y));
    }
}

/* The 95 % band, if it is known at all lags. */
static void draw_band(struct rp_canvas *c, const struct rp_panel *p, const struct smooth *low,
                      const struct smooth *high, size_t first, size_t last, uint32_t ink)
{
    const double *tau = low->tau;
    for (size_t k = first; k < last; k++)
        if (!known(low, k) || !known(high, k))
            return;
    if (last < first + 2)
        return;
    rp_move(c, rp_panel_x(p, tau[first]), rp_panel_y(p, high->y[first]));
    for (size_t k = first; k + 1 < last; k++)
        piece(c, p, high, k, 0);
    rp_line(c, rp_panel_x(p, tau[last - 1]), rp_panel_y(p, low->y[last - 1]));
    for (size_t k = last - 1; k > first; k--)
        piece(c, p, low, k - 1, 1);
    rp_close(c);
    rp_draw(c, &(struct rp_style){.fill = ink, .opacity = 0.3});
}

void rp_cut_fit(struct rp_canvas *c, const struct rp_result *r, size_t group, size_t age, const struct rp_panel *p,
                uint32_t ink)
{
    const size_t at = (group * r->nage + age) * r->nlag;
    const double *tau = rp_cut_lags(r, group);
    const struct smooth model = {r->nlag, tau, r->g2_model + at},
                        low = {r->nlag, tau, r->g2_low ? r->g2_low + at : NULL},
                        high = {r->nlag, tau, r->g2_high ? r->g2_high + at : NULL};
    size_t first = 0, last = r->nlag;
    while (first < last && !known(&model, first))
        first++;
    while (last > first && !known(&model, last - 1))
        last--;
    if (low.y && high.y)
        draw_band(c, p, &low, &high, first, last, ink);
    for (size_t k = first; k + 1 < last; k++) {
        if (!known(&model, k) || !known(&model, k + 1))
            continue;
        if (k == first || !known(&model, k - 1))
            rp_move(c, rp_panel_x(p, tau[k]), rp_panel_y(p, model.y[k]));
        piece(c, p, &model, k, 0);
    }
    rp_draw(c, &(struct rp_style){.stroke = ink, .width = 1.5});
}

void rp_cut_points(struct rp_canvas *c, const struct rp_panel *p, const struct rp_bin *bin, size_t n, uint32_t ink)
{
    for (size_t k = 0; k < n && !isnan(bin[k].error); k++) {
        rp_move(c, rp_panel_x(p, bin[k].tau), rp_panel_y(p, bin[k].g2 - bin[k].error));
        rp_line(c, rp_panel_x(p, bin[k].tau), rp_panel_y(p, bin[k].g2 + bin[k].error));
    }
    rp_draw(c, &(struct rp_style){.stroke = ink, .width = 1});
    for (size_t k = 0; k < n; k++)
        rp_dot(c, rp_panel_x(p, bin[k].tau), rp_panel_y(p, bin[k].g2));
    rp_draw(c, &(struct rp_style){.stroke = ink, .width = 3.6});
}

static void draw_residuals(struct rp_canvas *c, const struct rp_panel *below, const struct rp_bin *bin, size_t n,
                           uint32_t ink)
{
    for (size_t k = 0; k < n; k++)
        rp_dot(c, rp_panel_x(below, bin[k].tau), rp_panel_y(below, (bin[k].g2 - bin[k].model) / bin[k].error));
    rp_draw(c, &(struct rp_style){.stroke = ink, .width = 3.6});
}

/* ---- axes ------------------------------------------------------------------------------------ */

struct cuts {
    struct rp_bin (*bin)[RP_BINS]; /* of each age */
    size_t *n;
    struct rp_axis tau, g2, z;
    double largest; /* residual */
};

/* Bins of all ages of a group; axes take them. */
static void gather(const struct rp_result *r, size_t group, struct cuts *x)
{
    for (size_t a = 0; a < r->nage; a++) {
        x->n[a] = rp_cut_bins(r, group, a, x->bin[a]);
        for (const struct rp_bin *b = x->bin[a]; b < x->bin[a] + x->n[a]; b++) {
            rp_axis_take(&x->tau, b->tau);
            /* few pairs contribute to the last lags: their errors must not set the scale */
            rp_axis_take(&x->g2, b->g2);
            if (r->g2_model) {
                rp_axis_take(&x->g2, b->model);
                x->largest = fmax(x->largest, fabs(b->g2 - b->model) / b->error);
            }
        }
    }
}

/* The axes span all groups, so that they can be compared, unless one would be invisible; 0: out of memory. */
static int gather_all(const struct rp_result *r, size_t group, struct cuts *x)
{
    const double lost = 0.4; /* of the common range */
    *x = (struct cuts){.bin = malloc(r->nage * sizeof *x->bin),
                       .n = malloc(r->nage * sizeof *x->n),
                       .tau = {.log = 1, .name = RP_TAU, .unit = r->time_unit},
                       .g2 = {.name = RP_G2},
                       .z = {.name = "res. / σ"}};
    if (!x->bin || !x->n)
        return 0;
    rp_axis_begin(&x->tau);
    rp_axis_begin(&x->g2);
    gather(r, group, x);
    const struct cuts own = *x;
    for (size_t g = 0; g < r->ngroup; g++)
        gather(r, g, x);
    const double length = x->g2.hi - x->g2.lo;
    if (own.g2.hi >= own.g2.lo && own.g2.hi - own.g2.lo < lost * length) {
        x->g2 = own.g2;
        x->largest = own.largest;
    }
    gather(r, group, x);
    rp_axis_end(&x->tau, 0.03);
    rp_axis_end(&x->g2, 0.06);
    rp_axis_residuals(&x->z, x->largest);
    return 1;
}

/* The colours of the ages. */
static void draw_keys(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f,
                      const struct rp_panel *p)
{
    struct rp_key key[RP_SERIES] = {{0}};
    char title[80], text[RP_SERIES][48];
    const size_t n = r->nage < RP_SERIES ? r->nage : RP_SERIES;
    const double *age = rp_cut_ages(r, f->index);
    for (size_t a = 0; a < n; a++) {
        snprintf(text[a], sizeof text[a], age[a] >= 100 ? "%.0f" : "%.3g", age[a]);
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
    for (size_t a = 0; a < r->nage; a++) {
        const uint32_t ink = RP_S0 + (uint32_t)(a % RP_SERIES);
        rp_cut_points(c, &p, x->bin[a], x->n[a], ink);
        if (below)
            draw_residuals(c, below, x->bin[a], x->n[a], ink);
    }
    for (size_t a = 0; a < r->nage && r->fitted; a++)
        rp_cut_fit(c, r, f->index, a, &p, RP_S0 + (uint32_t)(a % RP_SERIES));
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
        struct rp_bin bin[RP_BINS];
        size_t some = 0;
        for (size_t a = 0; a < r->nage; a++)
            some += rp_cut_bins(r, g, a, bin);
        if (!some) /* nothing measured at this angle */
            continue;
        char place[80];
        rp_group_place(r, g, place, sizeof place);
        if (r->q)
            snprintf(name, sizeof name, "cuts_%02zu_q%.6g_phi%+.6g", g, r->q[g], r->phi[g]);
        else
            snprintf(name, sizeof name, "cuts_%02zu_phi%+.6g", g, r->phi[g]);
        struct rp_figure *f = rp_figure_add(list, RP_CUTS, name, r->ngroup > 1 ? 360 : 560, r->fitted ? 356 : 274);
        if (!f)
            return;
        f->index = g;
        f->draw = draw;
        snprintf(f->alt, sizeof f->alt, "g2 over the lag at %s and %zu ages%s", place, r->nage,
                 r->fitted ? ", with the fit" : "");
    }
}
