/* fig_rows.c -- a table: data with errors, the fit, the residuals below; one figure for each curve
 * of the table.  Before any fit: the data alone. */
#include "report/figures/figures.h"
#include "report/draw/panel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1500, CURVES = 40 }; /* points drawn; figures */

/* The covariate that is drawn along x: the first one; single: there is no other. */
static const struct rp_column *x_of(const struct rp_result *r, const struct rp_column *axis,
                                    int *single)
{
    const struct rp_column *x = NULL;
    *single = 1;
    for (size_t k = 0; k < r->ncolumn; k++)
        if (&r->column[k] == axis)
            continue;
        else if (!x)
            x = &r->column[k];
        else
            *single = 0;
    return x;
}

struct row {
    double x, value, fit, z, sigma, low, high;
};

static int by_x(const void *a, const void *b)
{
    const double x = ((const struct row *)a)->x, y = ((const struct row *)b)->x;
    return (x > y) - (x < y);
}

static struct row *rows_of(const struct rp_result *r, size_t g, size_t *n)
{
    int single;
    const struct rp_column *axis = r->axis, *x = x_of(r, axis, &single);
    struct row *row = malloc((r->nrow + 1) * sizeof *row);
    *n = 0;
    for (size_t k = 0; row && k < r->nrow; k++)
        if (!isnan(r->value[k]) && (!axis || axis->value[k] == r->axis_value[g]))
            row[(*n)++] = (struct row){
                x ? x->value[k] : (double)k,       r->value[k], r->fit ? r->fit[k] : NAN,
                r->fit ? r->row_residual[k] : NAN, r->sigma[k], r->fit_low ? r->fit_low[k] : NAN,
                r->fit_high ? r->fit_high[k] : NAN};
    if (row)
        qsort(row, *n, sizeof *row, by_x);
    return row;
}

/* Do the steps of x grow?  On a logarithmic axis points with equal steps crowd at the right. */
static int steps_grow(const struct row *row, size_t n)
{
    const size_t third = n / 3;
    return third > 0 && row[n - 1].x - row[n - 1 - third].x > 3 * (row[third].x - row[0].x);
}

static int spans(const struct row *row, size_t n, int of_value, double ratio)
{
    double lo = INFINITY, hi = -INFINITY;
    for (size_t k = 0; k < n; k++) {
        lo = fmin(lo, of_value ? row[k].value : row[k].x);
        hi = fmax(hi, of_value ? row[k].value : row[k].x);
    }
    return lo > 0 && hi > ratio * lo;
}

static void draw_rows(struct rp_canvas *c, const struct rp_panel *p, const struct rp_panel *below,
                      const struct row *row, size_t n, int line)
{
    const size_t every = n / MOST + 1;
    size_t known = 0;
    while (line && known < n && isfinite(row[known].low) && isfinite(row[known].high))
        known++;
    for (size_t k = 0; k < n && known == n; k++)
        (k ? rp_line : rp_move)(c, rp_panel_x(p, row[k].x), rp_panel_y(p, row[k].high));
    for (size_t k = n; known == n && k-- > 0;)
        rp_line(c, rp_panel_x(p, row[k].x), rp_panel_y(p, row[k].low));
    if (c->nstep)
        rp_close(c);
    rp_draw(c, &(struct rp_style){.fill = RP_S0 + 1, .opacity = 0.3});
    const double dot = n > 300 ? 2.5 : n > 80 ? 3.5 : 5;
    for (size_t k = 0; k < n; k += every)
        if (row[k].sigma > 0) {
            rp_move(c, rp_panel_x(p, row[k].x), rp_panel_y(p, row[k].value - row[k].sigma));
            rp_line(c, rp_panel_x(p, row[k].x), rp_panel_y(p, row[k].value + row[k].sigma));
        }
    rp_draw(c, &(struct rp_style){.stroke = RP_S0, .width = 1, .opacity = 0.8});
    for (size_t k = 0; k < n; k += every)
        rp_dot(c, rp_panel_x(p, row[k].x), rp_panel_y(p, row[k].value));
    for (size_t k = 0; k < n && below; k += every)
        if (rp_panel_holds(below, row[k].x, row[k].z))
            rp_dot(c, rp_panel_x(below, row[k].x), rp_panel_y(below, row[k].z));
    rp_draw(c, &(struct rp_style){.stroke = RP_S0, .width = dot});
    if (!below)
        return;
    for (size_t k = 0; k < n; k += line ? 1 : every)
        if (line)
            (k ? rp_line : rp_move)(c, rp_panel_x(p, row[k].x), rp_panel_y(p, row[k].fit));
        else
            rp_dot(c, rp_panel_x(p, row[k].x), rp_panel_y(p, row[k].fit));
    rp_draw(c, &(struct rp_style){.stroke = RP_S0 + 1, .width = line ? 1.8 : 2.5});
}

/* Axes on which all rows find room. */
static void make_axes(const struct rp_result *r, const struct row *row, size_t n, struct rp_axis *x, struct rp_axis *y,
                      struct rp_axis *z)
{
    double largest = 0;
    rp_axis_begin(x);
    rp_axis_begin(y);
    for (size_t k = 0; k < n; k++) {
        rp_axis_take(x, row[k].x);
        rp_axis_take(y, row[k].value);
        if (r->fit) {
            rp_axis_take(y, row[k].fit);
            largest = fmax(largest, fabs(row[k].z));
        } else if (row[k].sigma > 0 && !y->log) {
            rp_axis_take(y, row[k].value - row[k].sigma);
            rp_axis_take(y, row[k].value + row[k].sigma);
        }
    }
    rp_axis_residuals(z, largest);
    rp_axis_end(x, 0.03);
    rp_axis_end(y, 0.06);
}

/* The name that a value of the column has; 0: none. */
static int name_of(const struct rp_column *c, double value, char *text, size_t size)
{
    const char *name = value >= 0 ? c->names : ""; /* what a file says may be anything */
    for (double k = 0; k < value && *name; k++)
        name += strcspn(name, ",") + (name[strcspn(name, ",")] == ',');
    snprintf(text, size, "%.*s", (int)strcspn(name, ","), name);
    return *name != '\0';
}

static void draw_title(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f, double left)
{
    char title[3 * RP_NAME], unit[RP_NAME];
    if (!r->axis)
        return;
    rp_unit(r->axis->unit, unit, sizeof unit);
    if (!name_of(r->axis, r->axis_value[f->index], title, sizeof title))
        snprintf(title, sizeof title, "%s = %.5g %s", r->axis->name, r->axis_value[f->index], unit);
    c->text(c, left, RP_FONT + 2, &(struct rp_label){.size = RP_FONT + 1, .bold = 1}, title);
}

static void draw(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f)
{
    size_t n;
    int single;
    struct row *row = rows_of(r, f->index, &n);
    const struct rp_column *column = x_of(r, r->axis, &single);
    struct rp_axis x = {.log = spans(row, n, 0, 30) && steps_grow(row, n),
                        .name = column ? column->name : "row",
                        .unit = column ? column->unit : NULL};
    struct rp_axis y = {.log = spans(row, n, 1, 50),
                        .name = r->value_name[0] ? r->value_name : "value",
                        .unit = r->value_unit},
                   z = {.name = "res. / σ"};
    make_axes(r, row, n, &x, &y, &z);
    const double left = fmax(rp_panel_left(&y, 200), rp_panel_left(&z, 72)), w = f->width - left - 14,
                 top = (r->axis ? 28 : 10) + (r->fitted ? 18 : 0);
    struct rp_panel p = {.x = left, .y = top, .w = w, .h = 200, .ax = x, .ay = y};
    const struct rp_panel residuals = {.x = left, .y = top + 210, .w = w, .h = 72, .ax = x, .ay = z},
                          *below = r->fitted ? &residuals : NULL;
    const struct rp_key key[] = {
        {"data", {.stroke = RP_S0, .width = 6}, 1},
        {"fit", {.stroke = RP_S0 + 1, .width = single ? 1.8 : 5}, !single}};
    p.ax.hidden = r->fitted;
    draw_title(c, r, f, left);
    rp_panels_open(c, &p, below);
    if (r->fitted)
        rp_keys(c, left, top - 24, f->width, key, 2);
    draw_rows(c, &p, below, row, n, single);
    rp_panels_close(c, &p, below);
    free(row);
}

void rp_list_rows(const struct rp_result *r, struct rp_figures *list)
{
    const struct rp_column *axis = r->axis;
    const size_t groups = axis ? r->ngroup : 1;
    char name[64];
    for (size_t g = 0; g < groups && g < CURVES; g++) {
        size_t n;
        struct row *row = rows_of(r, g, &n);
        const int failed = !row;
        free(row);
        list->failed |= failed;
        if (failed || n == 0)
            continue;
        snprintf(name, sizeof name, groups > 1 ? "data_%02zu" : "data", g);
        struct rp_figure *f = rp_figure_add(list, RP_ROWS, name, groups > 1 ? 360 : 560,
                                            (axis ? 374 : 356) - (r->fitted ? 0 : 100));
        if (!f)
            return;
        f->index = g;
        f->draw = draw;
        snprintf(f->alt, sizeof f->alt, "%zu values with errors%s", n,
                 r->fitted ? ", the fit, and the residuals" : "");
    }
}
