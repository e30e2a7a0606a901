/* fig_rows.c -- a table: data with errors, the fit, the residuals below; one figure for each curve
 * of the table.  Before any fit: the data alone. */
#include "report/draw/rich.h"
#include "report/figures/figures.h"
#include "report/figures/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1500, CURVES = 40 }; /* points drawn; figures */

/* The covariate along x: the first one; single: there is no other. */
static const struct rp_column *x_of(const struct rp_result *r, const struct rp_column *axis, int *single)
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

static int by_x(const void *a, const void *b)
{
    const double x = ((const struct rp_row *)a)->x, y = ((const struct rp_row *)b)->x;
    return (x > y) - (x < y);
}

struct rp_rows rp_rows_of(const struct rp_result *r, size_t group)
{
    struct rp_rows rows = {.group = group};
    const struct rp_column *axis = r->axis, *x = rows.column = x_of(r, axis, &rows.single);
    struct rp_row *row = rows.row = malloc((r->nrow + 1) * sizeof *row);
    for (size_t k = 0; row && k < r->nrow; k++)
        if (!isnan(r->value[k]) && (!axis || axis->value[k] == r->axis_value[group]))
            row[rows.n++] =
                (struct rp_row){x ? x->value[k] : (double)k,       r->value[k], r->fit ? r->fit[k] : NAN,
                                r->fit ? r->row_residual[k] : NAN, r->sigma[k], r->fit_low ? r->fit_low[k] : NAN,
                                r->fit_high ? r->fit_high[k] : NAN};
    if (row)
        qsort(row, rows.n, sizeof *row, by_x);
    return rows;
}

/* Do the steps of x grow?  On a logarithmic axis points with equal steps crowd at the right. */
static int steps_grow(const struct rp_row *row, size_t n)
{
    const size_t third = n / 3;
    return third > 0 && row[n - 1].x - row[n - 1 - third].x > 3 * (row[third].x - row[0].x);
}

static int spans(const struct rp_row *row, size_t n, int of_value, double ratio)
{
    double lo = INFINITY, hi = -INFINITY;
    for (size_t k = 0; k < n; k++) {
        lo = fmin(lo, of_value ? row[k].value : row[k].x);
        hi = fmax(hi, of_value ? row[k].value : row[k].x);
    }
    return lo > 0 && hi > ratio * lo;
}

/* The 95 % band of the posterior. */
static void draw_band(struct rp_canvas *c, const struct rp_panel *p, const struct rp_rows *rows, uint32_t ink)
{
    const struct rp_row *row = rows->row;
    for (size_t k = 0; k < rows->n; k++)
        if (!rows->single || !isfinite(row[k].low) || !isfinite(row[k].high))
            return;
    for (size_t k = 0; k < rows->n; k++)
        (k ? rp_line : rp_move)(c, rp_panel_x(p, row[k].x), rp_panel_y(p, row[k].high));
    for (size_t k = rows->n; k-- > 0;)
        rp_line(c, rp_panel_x(p, row[k].x), rp_panel_y(p, row[k].low));
    if (c->nstep)
        rp_close(c);
    rp_draw(c, &(struct rp_style){.fill = ink, .opacity = 0.3});
}

static void draw_data(struct rp_canvas *c, const struct rp_panel *p, const struct rp_panel *below,
                      const struct rp_rows *rows, uint32_t ink)
{
    const struct rp_row *row = rows->row;
    const size_t n = rows->n, every = n / MOST + 1;
    const double dot = n > 300 ? 2.5 : n > 80 ? 3.5 : 5;
    for (size_t k = 0; k < n; k += every)
        if (row[k].sigma > 0) {
            rp_move(c, rp_panel_x(p, row[k].x), rp_panel_y(p, row[k].value - row[k].sigma));
            rp_line(c, rp_panel_x(p, row[k].x), rp_panel_y(p, row[k].value + row[k].sigma));
        }
    rp_draw(c, &(struct rp_style){.stroke = ink, .width = 1, .opacity = 0.8});
    for (size_t k = 0; k < n; k += every)
        rp_dot(c, rp_panel_x(p, row[k].x), rp_panel_y(p, row[k].value));
    for (size_t k = 0; k < n && below; k += every)
        if (rp_panel_holds(below, row[k].x, row[k].z))
            rp_dot(c, rp_panel_x(below, row[k].x), rp_panel_y(below, row[k].z));
    rp_draw(c, &(struct rp_style){.stroke = ink, .width = dot});
}

/* A line through the model on its own grid, where the result has that; through the rows, or dots where the rows
 * differ in more than x. */
static void draw_fit(struct rp_canvas *c, const struct rp_result *r, const struct rp_panel *p,
                     const struct rp_rows *rows, uint32_t ink)
{
    const struct rp_row *row = rows->row;
    const size_t every = rows->n / MOST + 1;
    int down = 0;
    for (size_t k = 0; rows->single && k < r->nfine; k++) {
        const double x = r->fine_x[k], y = r->fine_fit[k];
        const int good = isfinite(y) && (!r->axis || r->fine_curve[k] == r->axis_value[rows->group]);
        if (good)
            (down ? rp_line : rp_move)(c, rp_panel_x(p, x), rp_panel_y(p, y));
        down = good;
    }
    for (size_t k = 0; !(rows->single && r->nfine) && k < rows->n; k += rows->single ? 1 : every)
        if (rows->single)
            (k ? rp_line : rp_move)(c, rp_panel_x(p, row[k].x), rp_panel_y(p, row[k].fit));
        else
            rp_dot(c, rp_panel_x(p, row[k].x), rp_panel_y(p, row[k].fit));
    rp_draw(c, &(struct rp_style){.stroke = ink, .width = rows->single ? 1.8 : 2.5});
}

void rp_rows_marks(struct rp_canvas *c, const struct rp_result *r, const struct rp_panel *p,
                   const struct rp_panel *below, const struct rp_rows *rows, uint32_t data, uint32_t fit)
{
    draw_band(c, p, rows, fit);
    draw_data(c, p, below, rows, data);
    if (r->fitted)
        draw_fit(c, r, p, rows, fit);
}

/* ---- axes ------------------------------------------------------------------------------------ */

static void take_rows(const struct rp_result *r, const struct rp_rows *rows, struct rp_axis *x, struct rp_axis *y,
                      double *largest)
{
    for (const struct rp_row *row = rows->row; row < rows->row + rows->n; row++) {
        rp_axis_take(x, row->x);
        rp_axis_take(y, row->value);
        if (r->fit) {
            rp_axis_take(y, row->fit);
            *largest = fmax(*largest, fabs(row->z));
        } else if (row->sigma > 0 && !y->log) {
            rp_axis_take(y, row->value - row->sigma);
            rp_axis_take(y, row->value + row->sigma);
        }
    }
}

void rp_rows_axes(const struct rp_result *r, const struct rp_rows *rows, size_t n, struct rp_axis *x, struct rp_axis *y,
                  struct rp_axis *z)
{
    double largest = 0;
    x->log = y->log = 1;
    for (size_t k = 0; k < n; k++) {
        x->log &= spans(rows[k].row, rows[k].n, 0, 30) && steps_grow(rows[k].row, rows[k].n);
        y->log &= spans(rows[k].row, rows[k].n, 1, 50);
    }
    x->unit = rows->column ? rows->column->unit : NULL;
    y->unit = r->value_unit;
    rp_axis_begin(x);
    rp_axis_begin(y);
    for (size_t k = 0; k < n; k++)
        take_rows(r, &rows[k], x, y, &largest);
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

void rp_rows_title(const struct rp_result *r, size_t group, char *text, size_t size)
{
    char unit[RP_NAME], symbol[160];
    text[0] = '\0';
    if (!r->axis || name_of(r->axis, r->axis_value[group], text, size))
        return;
    rp_unit(r->axis->unit, unit, sizeof unit);
    rp_symbol(r->axis->name, symbol, sizeof symbol);
    snprintf(text, size, "%s = %.5g %s", symbol, r->axis_value[group], unit);
}

/* Names at the axes. */
void rp_rows_names(const struct rp_result *r, const struct rp_rows *rows, char *x, char *y, size_t size)
{
    if (rows->column)
        rp_symbol(rows->column->name, x, size);
    else
        snprintf(x, size, "row");
    if (r->value_name[0])
        rp_symbol(r->value_name, y, size);
    else
        snprintf(y, size, "value");
}

static void draw(struct rp_canvas *c, const struct rp_result *r, const struct rp_figure *f)
{
    struct rp_rows rows = rp_rows_of(r, f->index);
    char name[2][160], title[3 * RP_NAME];
    struct rp_axis x = {.name = name[0]}, y = {.name = name[1]}, z = {.name = "res. / σ"};
    rp_rows_axes(r, &rows, 1, &x, &y, &z);
    rp_rows_names(r, &rows, name[0], name[1], sizeof name[0]);
    const double left = fmax(rp_panel_left(&y, 200), rp_panel_left(&z, 72)), w = f->width - left - 14,
                 top = (r->axis ? 28 : 10) + (r->fitted ? 18 : 0);
    struct rp_panel p = {.x = left, .y = top, .w = w, .h = 200, .ax = x, .ay = y};
    const struct rp_panel residuals = {.x = left, .y = top + 210, .w = w, .h = 72, .ax = x, .ay = z},
                          *below = r->fitted ? &residuals : NULL;
    const struct rp_key key[] = {{"data", {.stroke = RP_S0, .width = 6}, 1},
                                 {"fit", {.stroke = RP_S0 + 1, .width = rows.single ? 1.8 : 5}, !rows.single}};
    p.ax.hidden = r->fitted;
    rp_rows_title(r, f->index, title, sizeof title);
    c->text(c, left, RP_FONT + 2, &(struct rp_label){.size = RP_FONT + 1, .bold = 1}, title);
    rp_panels_open(c, &p, below);
    if (r->fitted)
        rp_keys(c, left, top - 24, f->width, key, 2);
    rp_rows_marks(c, r, &p, below, &rows, RP_S0, RP_S0 + 1);
    rp_panels_close(c, &p, below);
    free(rows.row);
}

void rp_list_rows(const struct rp_result *r, struct rp_figures *list)
{
    const struct rp_column *axis = r->axis;
    const size_t groups = axis ? r->ngroup : 1;
    char name[64];
    for (size_t g = 0; g < groups && g < CURVES; g++) {
        const struct rp_rows rows = rp_rows_of(r, g);
        const size_t n = rows.n;
        const int failed = !rows.row;
        free(rows.row);
        list->failed |= failed;
        if (failed || n == 0)
            continue;
        snprintf(name, sizeof name, groups > 1 ? "data_%02zu" : "data", g);
        struct rp_figure *f =
            rp_figure_add(list, RP_ROWS, name, groups > 1 ? 360 : 460, (axis ? 374 : 356) - (r->fitted ? 0 : 100));
        if (!f)
            return;
        f->index = g;
        f->draw = draw;
        snprintf(f->alt, sizeof f->alt, "%zu values with errors%s", n, r->fitted ? ", the fit, and the residuals" : "");
    }
}
