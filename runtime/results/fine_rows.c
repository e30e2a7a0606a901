/* fine_rows.c -- the model of a table on a fine grid, on which it looks smooth: steps between neighbouring values of
 * the only covariate are divided, in equal ratios if they are long, else in equal parts.
 *
 * Takes a fit of a table whose rows differ in one covariate, apart from the axis or the measured quantity that
 * distinguishes its curves. States depend on the rows of the data, so models with states have no such grid. */
#include "fit/tables.h"
#include "math/special.h"
#include "results/results.h"

#include <math.h>
#include <stdlib.h>

enum { OF_CURVE = 400, LEAST = 60, ALL = 40000 }; /* places of a curve; of all */
static const double LONG = 1.3;                   /* ratio of neighbours above which steps are ratios */

/* The covariate; ncolumn: there is none, or several. */
static size_t covariate(const struct fit_kernel *k, const struct fit_layout *l)
{
    size_t at = k->ncolumn;
    for (size_t c = 0; c < k->ncolumn; c++) {
        if (k->column[c].role != FIT_ROLE_COVARIATE || !l->column[c] || (k->nobservable && c == k->which))
            continue;
        if (at < k->ncolumn)
            return k->ncolumn;
        at = c;
    }
    return at;
}

/* Distinct values of the covariate on a curve, in order; returns their number. */
static size_t gather(const struct fit_results *r, size_t column, size_t group, size_t which, double *x)
{
    const struct fit_kernel *k = r->kernel;
    const struct fit_dataset *ds = r->ds;
    size_t n = 0, m = 0;
    for (size_t t = 0; t < ds->ntile; t++)
        for (size_t i = ds->tile[t].i0; i < ds->tile[t].i1 && ds->tile[t].group == group; i++)
            if (isfinite(ds->layout.column[column][i]) &&
                (!k->nobservable || ds->layout.column[k->which][i] == (double)which))
                x[n++] = ds->layout.column[column][i];
    qsort(x, n, sizeof *x, fit_ascending);
    for (size_t i = 0; i < n; i++)
        if (m == 0 || x[i] > x[m - 1])
            x[m++] = x[i];
    return m;
}

/* Points between and at n values: their positions, or (x NULL) only their number. */
static size_t divide(const double *value, size_t n, size_t want, double *x)
{
    const size_t pieces = n > 1 ? (want + n - 2) / (n - 1) : 1;
    size_t m = 0;
    for (size_t i = 0; i + 1 < n; i++)
        for (size_t p = 0; p < pieces; p++, m++) {
            const double a = value[i], b = value[i + 1], u = (double)p / (double)pieces;
            if (x)
                x[m] = p == 0 ? a : a > 0 && b > LONG * a ? a * pow(b / a, u) : a + (b - a) * u;
        }
    if (x && n)
        x[m] = value[n - 1];
    return n ? m + 1 : 0;
}

/* Rows that are not data: all values of other columns are 0. */
static int open_layout(const struct fit_kernel *k, const struct fit_layout *l, size_t column, size_t nplace,
                       struct fit_fine_rows *fine, struct fit_arena *a)
{
    double **own = fit_take(a, k->ncolumn, sizeof *own), *zero = fit_take(a, nplace, sizeof *zero);
    FIT_TAKE_DOUBLES(a, nplace, &fine->x, &fine->model, &fine->curve);
    for (size_t c = 0; own && c < k->ncolumn; c++)
        own[c] = c == column || (k->nobservable && c == k->which) ? fit_take(a, nplace, sizeof **own) : zero;
    fine->place = fit_take(a, nplace, sizeof *fine->place);
    fine->group = fit_take(a, nplace, sizeof *fine->group);
    fine->column = own;
    fine->layout = *l;
    fine->layout.nrow = nplace;
    fine->layout.column = (const double *const *)own;
    return !a->failed;
}

/* Adds the points of one curve after `at`; each group is padded with copies of its last point. */
static size_t put_curve(const struct fit_kernel *k, struct fit_fine_rows *fine, size_t column, size_t at, size_t group,
                        size_t which, const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        fine->column[column][at + i] = x[i];
        if (k->nobservable)
            fine->column[k->which][at + i] = (double)which;
        fine->x[fine->n] = x[i];
        fine->curve[fine->n] = k->nobservable ? (double)which : k->naxis ? fine->layout.coord[0][group] : 0;
        fine->place[fine->n] = (uint32_t)(at + i);
        fine->group[fine->n++] = (uint32_t)group;
    }
    return at + n;
}

static void pad(const struct fit_kernel *k, struct fit_fine_rows *fine, size_t column, size_t from, size_t to)
{
    for (size_t i = from; i < to && from; i++) {
        fine->column[column][i] = fine->column[column][from - 1];
        if (k->nobservable)
            fine->column[k->which][i] = fine->column[k->which][from - 1];
    }
}

static int evaluate(const struct fit_results *r, struct fit_fine_rows *fine, struct fit_arena *a)
{
    const struct fit_kernel *k = r->kernel;
    double *ws = fit_take(a, k->workspace(&fine->layout), sizeof *ws);
    if (!ws || k->prepare(&fine->layout, r->fit->theta, 0, ws) != FIT_EVAL_OK)
        return 0;
    const struct fit_points list = {fine->n, fine->place, NULL, fine->group};
    k->points(&fine->layout, ws, r->fit->lin, &list, fine->model, NULL);
    return 1;
}

int fit_results_fine_rows(const struct fit_results *r, struct fit_fine_rows *fine, struct fit_arena *a)
{
    const struct fit_kernel *k = r->kernel;
    const struct fit_layout *l = &r->ds->layout;
    const size_t curves = k->nobservable ? k->nobservable : 1;
    *fine = (struct fit_fine_rows){.n = 0};
    if (k->space != FIT_ROWS || k->nstate || k->naxis + (k->nobservable != 0) > 1 || !r->fit || !r->maps)
        return 0;
    const size_t column = covariate(k, l);
    if (column == k->ncolumn)
        return 0;
    size_t want = ALL / (l->ngroup * curves), nplace = 0;
    want = want < LEAST ? LEAST : want > OF_CURVE ? OF_CURVE : want;
    FIT_SCRATCH(own);
    double *x = fit_take(&own, r->ds->nrow, sizeof *x), *place;
    for (size_t g = 0; x && g < l->ngroup; nplace = fit_padded(nplace), g++)
        for (size_t w = 0; w < curves; w++)
            nplace += divide(x, gather(r, column, g, w, x), want, NULL);
    place = fit_take(&own, nplace, sizeof *place);
    if (own.failed || !open_layout(k, l, column, nplace, fine, a))
        return 0;
    for (size_t g = 0, at = 0, end; g < l->ngroup; g++, at = end) {
        for (size_t w = 0; w < curves; w++) {
            const size_t n = divide(x, gather(r, column, g, w, x), want, place);
            at = put_curve(k, fine, column, at, g, w, place, n);
        }
        end = fit_padded(at);
        pad(k, fine, column, at, end);
    }
    return fine->n > 1 && evaluate(r, fine, a);
}
