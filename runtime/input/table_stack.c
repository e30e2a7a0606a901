/* table_stack.c -- several measured quantities in a row of a file: the data set gets one row for each. */
#include "input/table_impl.h"

#include <math.h>
#include <string.h>

/* Errors weigh the quantities against each other: each must have them, or none if the noise distribution of the
 * model gives them. */
static enum fit_status check_errors(const char *file, const struct fit_kernel *k, const double *const *all,
                                    struct fit_error *err)
{
    const struct fit_column *column = k->column;
    for (size_t n = 0; n < k->nobservable; n++) {
        const struct fit_observable *q = &k->observable[n];
        if (q->sigma < 0 || all[k->naxis + (size_t)q->sigma])
            continue;
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: no column '%s', the standard deviation of '%s'; several measured quantities are weighed by"
                        " their errors; --set 'data.columns={%s: NAME}' takes a column for it",
                        file, column[q->sigma].name, column[q->value].name, column[q->sigma].name);
    }
    return FIT_OK;
}

/* The rows that have a value of the quantity, n of them; all rows if states go through them. */
static size_t measured_rows(const struct fit_kernel *k, const double *value, size_t nrow, size_t *row)
{
    size_t n = 0;
    for (size_t r = 0; r < nrow; r++)
        if (k->times || !isnan(value[r]))
            row[n++] = r;
    return n;
}

/* The column of the file that fills column i of the data set for the rows of quantity q. */
static const double *source_of(const struct fit_kernel *k, const double *const *all, size_t i,
                               const struct fit_observable *q)
{
    if (i < k->naxis || k->column[i - k->naxis].role == FIT_ROLE_COVARIATE)
        return all[i];
    if (k->column[i - k->naxis].role == FIT_ROLE_VALUE)
        return all[k->naxis + q->value];
    return q->sigma < 0 ? NULL : all[k->naxis + (size_t)q->sigma];
}

enum fit_status fit_table_stack(const char *file, const struct fit_kernel *k, const double **all, size_t *nrow,
                                struct fit_arena *a, struct fit_notes *notes, struct fit_error *err)
{
    const size_t width = k->naxis + k->ncolumn;
    enum fit_status st = check_errors(file, k, all, err);
    size_t *row = fit_take(a, *nrow, sizeof *row), total = 0;
    double **to = fit_take(a, width, sizeof *to);
    for (size_t i = 0; to && i < width; i++)
        to[i] = fit_take(a, *nrow * k->nobservable, sizeof **to);
    if (st != FIT_OK || a->failed)
        return st != FIT_OK ? st : fit_no_memory(err, file);
    for (size_t q = 0; q < k->nobservable; q++) {
        const size_t n = measured_rows(k, all[k->naxis + k->observable[q].value], *nrow, row);
        for (size_t i = 0; i < width; i++) {
            const double *from = source_of(k, all, i, &k->observable[q]);
            for (size_t r = 0; r < n; r++)
                to[i][total + r] = !fit_table_takes(k, i) ? (double)q : from ? from[row[r]] : 1;
        }
        total += n;
        if (n < *nrow)
            fit_notes_add(notes, "%s: '%s' has a value in %zu of %zu rows", file,
                          k->column[k->observable[q].value].name, n, *nrow);
    }
    for (size_t i = 0; i < width; i++) /* errors of all, or of none */
        all[i] = fit_table_needs(k, i) || !fit_table_takes(k, i) || k->observable[0].sigma >= 0 ? to[i] : NULL;
    *nrow = total;
    return FIT_OK;
}
