/* statistics.c -- means and standard deviations of columns: sums in the order of the rows, of differences from the
 * first number and then from the mean. */
#include "model/statistics.h"

#include <math.h>

/* The sum of (x - from)^power over what is finite; *n of them. */
static double moment(const double *x, size_t nrow, double from, int power, size_t *n)
{
    double sum = 0;
    *n = 0;
    for (size_t r = 0; r < nrow; r++)
        if (isfinite(x[r])) {
            sum += power == 1 ? x[r] - from : (x[r] - from) * (x[r] - from);
            ++*n;
        }
    return sum;
}

static double statistic(const double *x, size_t nrow, enum fit_statistic which)
{
    size_t n, first = 0;
    while (first < nrow && !isfinite(x[first]))
        first++;
    if (first == nrow)
        return NAN;
    const double sum = moment(x, nrow, x[first], 1, &n), mean = x[first] + sum / (double)n;
    if (which == FIT_STATISTIC_MEAN)
        return mean;
    const double squares = moment(x, nrow, mean, 2, &n);
    return n > 1 && squares > 0 ? sqrt(squares / (double)(n - 1)) : NAN;
}

enum fit_status fit_statistics_fill(const struct fit_kernel *k, const char *file, size_t nrow,
                                    const double *const *column, double *setting, struct fit_error *err)
{
    for (size_t s = 0; s < k->nsetting; s++) {
        const struct fit_setting *x = &k->setting[s];
        if (x->statistic == FIT_STATISTIC_NONE || !isnan(setting[s]))
            continue;
        if (column[x->column])
            setting[s] = statistic(column[x->column], nrow, x->statistic);
        if (isnan(setting[s]))
            return fit_fail(err, FIT_ERR_DATA, "%s%sno %s: it needs %s; or give --set %s=VALUE", file,
                            *file ? ": " : "", x->doc,
                            x->statistic == FIT_STATISTIC_SD ? "two rows that differ" : "a finite number", x->name);
    }
    return FIT_OK;
}
