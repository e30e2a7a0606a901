/* fig_corner.c -- draws of the posterior: distributions of parameters with their priors, densities of pairs with the
 * contours that contain 68 % and 95 % of the draws.
 *
 * A density is a histogram, smoothed five times by the binomial filter 1 2 1 in both directions; its contours are
 * those of highest density: cells in descending order until they contain this fraction. */
#include "fit/kernel.h"
#include "model/prior.h"
#include "report/draw/colour.h"
#include "report/draw/rich.h"
#include "report/figures/corner.h"
#include "base/number_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS = 44, FINER = 2, SIDE = POINTS * FINER, GAP = 42, HEAD = 40 };

struct rp_axis rp_draws_axis(const struct rp_result *r, size_t k)
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

size_t rp_draws_bin(double x, const struct rp_axis *a, size_t n)
{
    const double at = (x - a->lo) / (a->hi - a->lo) * (double)n;
    return at >= 0 && at < (double)n ? (size_t)at : n;
}

/* Cells are smaller where there are many. */
static double cell_of(size_t n)
{
    return n <= 6 ? 110 : n <= 9 ? 96 : 84;
}

/* ---- densities ------------------------------------------------------------------------------- */

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

/* Density of a pair, rows from below; 1 at its maximum. */
static void density(const struct rp_result *r, const struct rp_panel *p, size_t i, size_t j,
                    double count[POINTS * POINTS])
{
    double most = 0;
    memset(count, 0, POINTS * POINTS * sizeof *count);
    for (size_t k = 0; k < r->chains * r->draws; k++) {
        const size_t u = rp_draws_bin(r->draw[j].value[k], &p->ax, POINTS),
                     v = rp_draws_bin(r->draw[i].value[k], &p->ay, POINTS);
        if (u < POINTS && v < POINTS)
            count[v * POINTS + u]++;
    }
    for (int pass = 0; pass < 5; pass++) {
        smooth(count, 1, POINTS);
        smooth(count, POINTS, 1);
    }
    for (size_t k = 0; k < POINTS * POINTS; k++)
        most = fmax(most, count[k]);
    for (size_t k = 0; k < POINTS * POINTS && most > 0; k++)
        count[k] /= most;
}

static int descending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The density above which a given fraction of the draws lies. */
static double level_of(const double count[POINTS * POINTS], double part)
{
    static double sorted[POINTS * POINTS];
    double all = 0, sum = 0;
    memcpy(sorted, count, sizeof sorted);
    qsort(sorted, POINTS * POINTS, sizeof *sorted, descending);
    for (size_t k = 0; k < POINTS * POINTS; k++)
        all += sorted[k];
    for (size_t k = 0; k < POINTS * POINTS; k++)
        if ((sum += sorted[k]) >= part * all)
            return sorted[k];
    return 0;
}

/* Linear interpolation between the centres of cells; u, v in cells. */
static double between(const double count[POINTS * POINTS], double u, double v)
{
    const double x = fmin(fmax(u - 0.5, 0), POINTS - 1), y = fmin(fmax(v - 0.5, 0), POINTS - 1);
    const size_t i = (size_t)fmin(x, POINTS - 2), j = (size_t)fmin(y, POINTS - 2);
    const double a = x - (double)i, b = y - (double)j, *at = count + j * POINTS + i;
    return (1 - b) * ((1 - a) * at[0] + a * at[1]) + b * ((1 - a) * at[POINTS] + a * at[POINTS + 1]);
}

static void draw_density(struct rp_canvas *c, const struct rp_panel *p, const double count[POINTS * POINTS])
{
    static unsigned char pixel[SIDE * SIDE];
    for (size_t j = 0; j < SIDE; j++)
        for (size_t i = 0; i < SIDE; i++) {
            const double x = between(count, ((double)i + 0.5) / FINER, ((double)j + 0.5) / FINER);
            pixel[(SIDE - 1 - j) * SIDE + i] = x > 0.01 ? rp_level(0.75 * sqrt(x), 0, 1) : 0;
        }
    c->image(c, p->x, p->y, p->w, p->h, &(struct rp_image){SIDE, SIDE, pixel, rp_density()});
}

struct place {
    double x, y;
};

/* Where the level is crossed between two corners of a square (in cells). */
static struct place cross(double level, double x0, double y0, double v0, double x1, double y1, double v1)
{
    const double u = (level - v0) / (v1 - v0);
    return (struct place){x0 + u * (x1 - x0), y0 + u * (y1 - y0)};
}

/* The line of a level through squares between the centres of four cells (marching squares); at a saddle two lines
 * that do not meet. */
static void draw_contour(struct rp_canvas *c, const struct rp_panel *p, const double count[POINTS * POINTS],
                         double level, double width)
{
    static const int dx[] = {0, 1, 1, 0}, dy[] = {0, 0, 1, 1};
    for (int j = -1; j < POINTS; j++)
        for (int i = -1; i < POINTS; i++) {
            double v[4];
            struct place at[4];
            size_t n = 0;
            for (int k = 0; k < 4; k++) {
                const int x = i + dx[k], y = j + dy[k];
                v[k] = x < 0 || y < 0 || x >= POINTS || y >= POINTS ? 0 : count[y * POINTS + x];
            }
            for (int k = 0; k < 4; k++) {
                const int l = (k + 1) % 4;
                if ((v[k] > level) != (v[l] > level))
                    at[n++] =
                        cross(level, i + dx[k] + 0.5, j + dy[k] + 0.5, v[k], i + dx[l] + 0.5, j + dy[l] + 0.5, v[l]);
            }
            for (size_t k = 0; k + 1 < n; k += 2)
                for (size_t e = 0; e < 2; e++)
                    (e ? rp_line : rp_move)(c, p->x + p->w * fmin(fmax(at[k + e].x / POINTS, 0), 1),
                                            p->y + p->h * (1 - fmin(fmax(at[k + e].y / POINTS, 0), 1)));
        }
    rp_draw(c, &(struct rp_style){.stroke = RP_S0, .width = width});
}

/* ---- distributions --------------------------------------------------------------------------- */

/* The prior of a parameter; 0: it has no density. */
static int read_prior(const struct rp_result *r, size_t k, struct fit_prior *prior)
{
#define WORD(KIND, ...) FIT_PRIOR_##KIND,
    static const enum fit_prior_kind kind[] = {FIT_PRIORS(WORD)};
#undef WORD
    const struct fit_yaml *map = rp_get(r->json, "posterior.parameters"),
                          *node = map ? rp_get(fit_yaml_get(map, r->draw[k].name), "prior") : NULL;
    const char *type = rp_json_text(node, "type");
    const double lower = rp_json_number(node, "lower"), upper = rp_json_number(node, "upper");
    for (size_t i = 0; node && rp_json_true(node, "proper") && i < sizeof kind / sizeof *kind; i++)
        if (strcmp(fit_prior_word(kind[i]), type) == 0)
            return fit_prior_init(prior, kind[i], rp_json_number(node, "a"), rp_json_number(node, "b"),
                                  isnan(lower) ? -INFINITY : lower, isnan(upper) ? INFINITY : upper);
    return 0;
}

/* Its density in the units of the histogram, whose bars are counts of `all` draws. */
static void draw_prior(struct rp_canvas *c, const struct rp_result *r, const struct rp_panel *p, size_t k, double most,
                       double all)
{
    struct fit_prior prior;
    const double step = (p->ax.hi - p->ax.lo) / POINTS;
    int down = 0;
    if (!read_prior(r, k, &prior))
        return;
    for (size_t u = 0; u <= POINTS; u++) {
        const double x = p->ax.lo + step * (double)u, y = exp(fit_prior_log(&prior, x, NULL)) * step * all;
        const int good = isfinite(y) && y <= 1.08 * most;
        if (good)
            (down ? rp_line : rp_move)(c, rp_panel_x(p, x), p->y + p->h * (1 - y / (1.08 * most)));
        down = good;
    }
    rp_draw(c, &(struct rp_style){.stroke = RP_SOFT, .width = 1.2, .dash = 1});
}

static void draw_histogram(struct rp_canvas *c, const struct rp_result *r, const struct rp_panel *p, size_t k)
{
    double count[POINTS] = {0}, most = 0;
    for (size_t n = 0; n < r->chains * r->draws; n++) {
        const size_t u = rp_draws_bin(r->draw[k].value[n], &p->ax, POINTS);
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
    draw_prior(c, r, p, k, most, (double)(r->chains * r->draws));
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
    rp_draw(c, &(struct rp_style){.stroke = RP_S0 + 1, .width = 1});
}

/* ---- the figure ------------------------------------------------------------------------------ */

static double corner_left(const struct rp_result *r, size_t n)
{
    double left = 0;
    for (size_t k = 0; k < n; k++) {
        struct rp_axis a = rp_draws_axis(r, k);
        a.name = ""; /* above the diagonal there is more room for it */
        left = fmax(left, rp_panel_left(&a, cell_of(n)));
    }
    return left;
}

/* Above the diagonal: the symbol with its unit, mean and standard deviation. */
static void draw_title(struct rp_canvas *c, const struct rp_result *r, const struct rp_panel *p, size_t k)
{
    const struct fit_yaml *map = rp_get(r->json, "posterior.parameters"), *node = fit_yaml_get(map, r->draw[k].name);
    char symbol[160], title[256], value[40], error[40];
    rp_symbol(r->draw[k].name, symbol, sizeof symbol);
    rp_axis_text(&(struct rp_axis){.lo = p->ax.lo, .hi = p->ax.hi, .name = symbol, .unit = p->ax.unit}, p->w, title,
                 sizeof title);
    c->text(c, p->x, p->y - 6 - RP_FONT - 3, &(struct rp_label){.size = RP_FONT, .bold = 1}, title);
    fit_format_error(rp_json_number(node, "mean"), rp_json_number(node, "sd"), value, sizeof value, error,
                     sizeof error);
    snprintf(title, sizeof title, "%s%s ± %s", value[0] == '-' ? "−" : "", value + (value[0] == '-'), error);
    if (*error)
        c->text(c, p->x, p->y - 6, &(struct rp_label){.size = RP_FONT - 1, .ink = RP_SOFT}, title);
}

static void draw_pair(struct rp_canvas *c, const struct rp_result *r, const struct rp_panel *p, size_t i, size_t j)
{
    static double count[POINTS * POINTS];
    density(r, p, i, j, count);
    draw_density(c, p, count);
    draw_contour(c, p, count, level_of(count, 0.95), 0.8);
    draw_contour(c, p, count, level_of(count, 0.68), 1.3);
}

static void draw_corner(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f)
{
    const size_t n = f->index;
    const double left = corner_left(r, n), cell = cell_of(n), step = cell + GAP;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            struct rp_panel p = {.x = left + step * (double)j,
                                 .y = HEAD + step * (double)i,
                                 .w = cell,
                                 .h = cell,
                                 .ax = rp_draws_axis(r, j),
                                 .ay = rp_draws_axis(r, i)};
            p.ay.hidden = j > 0 || i == 0; /* the first is a histogram */
            p.ax.hidden = i + 1 < n;
            p.ax.name = p.ay.name = "";
            if (i == j) {
                draw_title(c, r, &p, i);
                draw_histogram(c, r, &p, i);
                p.ay.hidden = 2;
            } else
                draw_pair(c, r, &p, i, j);
            draw_cross(c, &p, r->draw[j].least_squares, r->draw[i].least_squares, i != j);
            rp_panel_frame(c, &p);
        }
}

void rp_list_corner(const struct rp_result *r, struct rp_figures *list)
{
    const size_t n = r->ndraws < RP_CORNER_MOST ? r->ndraws : RP_CORNER_MOST;
    const double side = (double)n * (cell_of(n) + GAP);
    struct rp_figure *f =
        rp_figure_add(list, RP_CORNER, "corner", fmax(240, corner_left(r, n) + side + 90), HEAD + side + 14);
    if (!f)
        return;
    f->index = n;
    f->draw = draw_corner;
    snprintf(f->alt, sizeof f->alt,
             "Posterior of %zu parameters: distributions, densities of pairs, contours of 68 and 95 %%", n);
}
