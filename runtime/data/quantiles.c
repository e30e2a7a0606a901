/* quantiles.c -- contrast and offset by percentiles; see quantiles.h. */
#include "data/file_times.h"
#include "data/quantiles.h"

#include <math.h>
#include <stdlib.h>

enum { FEWEST = 100, FEWEST_IN_SET = 10 };

/* Moves the k-th smallest of n values to x[k], smaller ones before it (Hoare 1961). */
static double select_rank(double *x, size_t n, size_t k)
{
    size_t lo = 0, hi = n - 1;
    while (lo < hi) {
        double pivot = x[lo + (hi - lo) / 2];
        size_t i = lo, j = hi;
        for (;;) {
            while (x[i] < pivot)
                i++;
            while (x[j] > pivot)
                j--;
            if (i >= j)
                break;
            double t = x[i];
            x[i++] = x[j];
            x[j--] = t;
        }
        if (k <= j)
            hi = j;
        else
            lo = j + 1;
    }
    return x[k];
}

double fit_percentile(double *x, size_t n, double p)
{
    double rank = p / 100 * (double)(n - 1), below = floor(rank);
    size_t k = (size_t)below;
    double a = select_rank(x, n, k), b = a;
    if (rank > below) {
        b = INFINITY; /* the smallest of those behind it */
        for (size_t i = k + 1; i < n; i++)
            b = fmin(b, x[i]);
    }
    return rank > below ? a + (rank - below) * (b - a) : a;
}

/* Percentile of Delta in frames over a whole matrix: n times 0, 2 (n - d) times d. */
static double lag_percentile(size_t n, double p)
{
    double rank = p / 100 * ((double)n * (double)n - 1), below = floor(rank), count = (double)n;
    size_t d = 0;
    while (count <= below && d + 1 < n)
        count += 2 * (double)(n - ++d);
    double next = count <= below + 1 ? (double)(d + 1) : (double)d;
    return (double)d + (rank - below) * (next - (double)d);
}

/* Collects the values of group g whose distance in frames is in [low, high]; returns how many. */
static size_t collect(const struct fit_dataset *ds, size_t g, double low, double high, double *x)
{
    const struct fit_layout *l = &ds->layout;
    size_t n = 0;
    for (size_t k = 0; k < ds->ntile; k++) {
        const struct fit_tile *t = &ds->tile[k];
        for (size_t i = t->i0; i < t->i1; i++)
            for (size_t j = i + 1 > t->j0 ? i + 1 : t->j0; j < t->j1; j++) {
                double lag = (double)(l->frame[j] - l->frame[i]);
                if (lag < low || lag > high)
                    continue;
                size_t at = fit_tile_offset(l, t, i, j, g);
                if (!t->w || t->w[at] > 0)
                    x[n++] = t->y[at] + ds->reference[g];
            }
    }
    return n;
}

enum fit_status fit_quantiles(const struct fit_dataset *ds, size_t g, double *contrast, double *offset,
                              struct fit_error *err)
{
    const struct fit_layout *l = &ds->layout;
    const size_t nframe = fit_dataset_group_frames(ds, g);
    size_t span = nframe ? l->frame[nframe - 1] - l->frame[0] + 1 : 0;
    if (fit_dataset_streamed(ds))
        return fit_fail(err, FIT_ERR_CONFIG, "scaling constant: give contrast and offset, or hold the data in memory "
                                             "(--stream off): their quantiles are not taken from a file");
    if (ds->npoint_group[g] < FEWEST)
        return fit_fail(err, FIT_ERR_DATA, "scaling constant: %zu values are too few for quantiles; give contrast and "
                                           "offset",
                        ds->npoint_group[g]);
    double *x = malloc((ds->npoint_group[g] + 1) * sizeof *x);
    if (!x)
        return fit_no_memory(err, "scaling constant");
    size_t n = collect(ds, g, lag_percentile(span, 80), INFINITY, x);
    if (n < FEWEST_IN_SET)
        n = collect(ds, g, 0, INFINITY, x);
    *offset = fit_percentile(x, n, 10);
    n = collect(ds, g, 0, lag_percentile(span, 20), x);
    if (n < FEWEST_IN_SET)
        n = collect(ds, g, 0, INFINITY, x);
    *contrast = fit_percentile(x, n, 90) - *offset;
    free(x);
    return FIT_OK;
}
