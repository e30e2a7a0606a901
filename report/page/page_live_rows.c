/* page_live_rows.c -- the data of a table for scripts, as JSON: its rows, the model between them, the rows of each
 * curve; see page.h. Names of columns are letters, digits and _, titles of curves are texts of rich.h without marks:
 * all other content of untrusted files stays away from scripts. */
#include "report/page/page.h"

#include "report/draw/panel.h"
#include "report/draw/rich.h"
#include "report/figures/parts.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 20000 };

int rp_page_has_rows(const struct rp_result *r)
{
    return !r->pairs && r->nrow > 1 && r->nrow <= MOST_ROWS;
}

static void put_number(struct rp_markup *out, size_t k, double x)
{
    rp_put(out, x - x == 0 ? "%s%.17g" : "%snull", k ? "," : "", x);
}

static void put_array(struct rp_markup *out, const char *name, const double *x, size_t n)
{
    rp_put(out, ",\"%s\":[", name);
    for (size_t k = 0; x && k < n; k++)
        put_number(out, k, x[k]);
    rp_put(out, "]");
}

/* A text of ours: marks of rich.h are told, quotes and backslashes are not. */
static void put_text(struct rp_markup *out, const char *name, const char *text)
{
    rp_put(out, ",\"%s\":\"", name);
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at < ' ')
            rp_put(out, "\\u%04x", (unsigned)(unsigned char)*at);
        else if (!strchr("\"\\<>&", *at))
            fputc(*at, out->file);
    rp_put(out, "\"");
}

static int is_name(const char *text)
{
    return *text && strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == strlen(text);
}

static void put_axis(struct rp_markup *out, const char *name, const struct rp_axis *a)
{
    char unit[80];
    rp_unit(a->unit ? a->unit : "1", unit, sizeof unit);
    rp_put(out, ",\"%s\":{\"log\":%s", name, a->log ? "true" : "false");
    put_text(out, "symbol", a->name);
    put_text(out, "unit", unit);
    rp_put(out, "}");
}

/* Curve k: its title, and the value of the column that tells it apart. */
static void put_curves(struct rp_markup *out, const struct rp_result *r)
{
    char title[3 * RP_NAME];
    rp_put(out, ",\"curves\":[");
    for (size_t g = 0; g < (r->axis ? r->ngroup : 1); g++) {
        rp_put(out, "%s{\"value\":", g ? "," : "");
        put_number(out, 0, r->axis ? r->axis_value[g] : 0);
        rp_rows_title(r, g, title, sizeof title);
        put_text(out, "title", title);
        rp_put(out, "}");
    }
    rp_put(out, "]");
}

static void put_axes(struct rp_markup *out, const struct rp_result *r)
{
    struct rp_rows rows = rp_rows_of(r, 0);
    char name[2][160] = {"", ""};
    struct rp_axis x = {.name = name[0]}, y = {.name = name[1]}, z = {0};
    if (rows.row && rows.n) {
        rp_rows_axes(r, &rows, 1, &x, &y, &z);
        rp_rows_names(r, &rows, name[0], name[1], sizeof name[0]);
    }
    put_axis(out, "xaxis", &x);
    put_axis(out, "yaxis", &y);
    rp_put(out, ",\"single\":%s", rows.single ? "true" : "false");
    if (rows.column && is_name(rows.column->name))
        rp_put(out, ",\"x\":\"%s\"", rows.column->name);
    free(rows.row);
}

void rp_page_rows(struct rp_markup *out, const struct rp_result *r)
{
    rp_put(out, "{\"table\":true,\"rows\":%zu", r->nrow);
    put_axes(out, r);
    if (r->axis && is_name(r->axis->name))
        rp_put(out, ",\"axis\":\"%s\"", r->axis->name);
    put_curves(out, r);
    rp_put(out, ",\"columns\":{");
    for (size_t k = 0, some = 0; k < r->ncolumn; k++) {
        if (!is_name(r->column[k].name))
            continue;
        rp_put(out, "%s\"%s\":[", some++ ? "," : "", r->column[k].name);
        for (size_t i = 0; i < r->nrow; i++)
            put_number(out, i, r->column[k].value[i]);
        rp_put(out, "]");
    }
    rp_put(out, "}");
    put_array(out, "value", r->value, r->nrow);
    put_array(out, "sigma", r->sigma, r->nrow);
    if (r->fitted)
        put_array(out, "fit", r->fit, r->nrow);
    put_array(out, "fine_x", r->fine_x, r->nfine);
    put_array(out, "fine_fit", r->fine_fit, r->nfine);
    put_array(out, "fine_curve", r->fine_curve, r->nfine);
    rp_page_kernel(out, r, 1);
    rp_put(out, "}");
}
