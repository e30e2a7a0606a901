/* table_law.c -- are the measured values possible under their noise distribution?  Reports the first row that is not,
 * since one such row makes the likelihood of all parameters 0. */
#include "input/table_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int is_count(double y)
{
    return y >= 0 && floor(y) >= y && y <= 0x1p53;
}

/* The fault of a value, or NULL. */
static const char *fault(enum fit_support support, double y, double trials)
{
    switch (support) {
    case FIT_SUPPORT_NONNEGATIVE: return y >= 0 ? NULL : "is negative";
    case FIT_SUPPORT_POSITIVE: return y > 0 ? NULL : "is not positive";
    case FIT_SUPPORT_COUNTS: return is_count(y) ? NULL : "is not a count: 0, 1, 2, ...";
    case FIT_SUPPORT_TRIALS:
        return !is_count(y) ? "is not a count: 0, 1, 2, ..." : y > trials ? "is more than the number of trials" : NULL;
    default: return NULL;
    }
}

/* The support of the value at position i. */
static enum fit_support support_of(const struct fit_kernel *k, const struct fit_layout *l, size_t i)
{
    return k->nobservable ? k->observable[(size_t)l->column[k->which][i]].support : k->density->support;
}

/* The name of the quantity measured at position i. */
static const char *measured_name(const struct fit_kernel *k, const struct fit_layout *l, size_t i)
{
    if (k->nobservable)
        return k->column[k->observable[(size_t)l->column[k->which][i]].value].name;
    for (size_t c = 0; c < k->ncolumn; c++)
        if (k->column[c].role == FIT_ROLE_VALUE)
            return k->column[c].name;
    return "y";
}

/* The trials of the rows of a tile, at the starts of the parameters; NaN where they are not known. */
static void find_trials(const struct fit_kernel *k, const struct fit_layout *l, const struct fit_tile *t,
                        const double *theta, double *ws, double *trials)
{
    if (k->prepare(l, theta, 0, ws) == FIT_EVAL_OK)
        k->density->arguments(l, ws, t, trials);
}

enum fit_status fit_table_check_law(const char *file, const struct fit_kernel *k, const struct fit_dataset *ds,
                                    struct fit_error *err)
{
    const struct fit_layout *l = &ds->layout;
    enum fit_status st = FIT_OK;
    if (!k->density)
        return FIT_OK;
    FIT_SCRATCH(a);
    double *ws = fit_take(&a, k->workspace(l), sizeof *ws), *theta = fit_take(&a, k->nparam, sizeof *theta);
    double *trials = fit_take(&a, (l->chunk + FIT_LANES) * (k->density->nargument + 1), sizeof *trials);
    if (a.failed)
        return fit_no_memory(err, file);
    for (size_t p = 0; p < k->nparam; p++)
        theta[p] = k->param[p].start;
    for (size_t n = 0; st == FIT_OK && n < ds->ntile; n++) {
        const struct fit_tile *t = &ds->tile[n];
        if (k->density->support == FIT_SUPPORT_TRIALS)
            find_trials(k, l, t, theta, ws, trials);
        for (size_t i = 0; i < t->i1 - t->i0 && st == FIT_OK; i++) {
            size_t row = ds->row ? ds->row[t->i0 + i] : t->i0 + i;
            const enum fit_support support = support_of(k, l, t->i0 + i);
            double most = k->density->support == FIT_SUPPORT_TRIALS ? trials[i] : INFINITY;
            const char *what = t->w && !(t->w[i] > 0) ? NULL : fault(support, t->y[i], most);
            if (what)
                st = fit_fail(err, FIT_ERR_DATA, "%s: row %zu: %s = %.10g %s; the errors of the model %s are %s", file,
                              row + 1, measured_name(k, l, t->i0 + i), t->y[i], what, k->name, k->density->name);
        }
    }
    return st;
}
