/* loo.c -- leave-one-out cross-validation from the draws of posterior.nc; see loo.h.
 *
 * Vehtari, Gelman & Gabry, Stat. Comput. 27 (2017) 1413: with draws s of the posterior of all n rows, the predictive
 * density of row i given the others is (section 2.2), with weights 1 / p(y_i | s) that are smoothed (psis.h), elpd_i
 * = log( sum_s w_is p(y_i | s) / sum_s w_is ), elpd = sum_i elpd_i, its standard error sqrt(n var_i(elpd_i)), and
 * that of the difference of two models sqrt(n var_i(elpd_i^B - elpd_i^A)) (section 5). Draws count as independent in
 * the length of the smoothed tail. Rows are treated as independent: where neighbours are correlated, a row is
 * predicted from its neighbours' noise. */
#define _POSIX_C_SOURCE 200809L
#include "frontend/loo.h"

#include "frontend/criteria.h"

#include "common/text.h"
#include "hdf5/reader.h"
#include "sampler/psis.h"
#include "sampling/sampling.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char VARIABLE[] = "/log_likelihood/value";

/* Log likelihoods of one posterior, draws x nrow; NaN: an unused row. */
struct rows {
    size_t draws, nrow;
    double *value, *elpd; /* elpd: nrow */
};

static void rows_free(struct rows *x)
{
    free(x->value);
    free(x->elpd);
}

/* draws = 0: the file has none. */
static enum fit_status rows_read(const struct front_result *r, struct rows *x, struct fit_error *err)
{
    char path[sizeof r->file + 16];
    struct fit_h5 *h;
    size_t dims[FIT_H5_RANK], n = 0;
    int rank;
    snprintf(path, sizeof path, "%.*sposterior.nc", (int)(text_file_name(r->file) - r->file), r->file);
    if (!fit_h5_is_hdf5(path))
        return FIT_OK;
    enum fit_status st = fit_h5_open(path, &h, err);
    if (st != FIT_OK)
        return st;
    if (fit_h5_kind(h, VARIABLE) == FIT_H5_NUMBER) {
        st = fit_h5_shape(h, VARIABLE, &rank, dims, err);
        if (st == FIT_OK)
            st = fit_h5_read_doubles(h, VARIABLE, &x->value, &n, err);
        if (st == FIT_OK && rank == 3 && n > 0)
            *x = (struct rows){.draws = dims[0] * dims[1], .nrow = dims[2], .value = x->value};
    }
    fit_h5_close(h);
    return st;
}

/* elpd of every used row; -infinity: the density is 0 at some draw. */
static enum fit_status smooth(struct rows *x, size_t *unreliable, struct fit_error *err)
{
    const size_t n = x->draws;
    double *l = malloc(n * sizeof *l), *lw = malloc(n * sizeof *lw), *work = malloc(n * sizeof *work);
    size_t *index = malloc(n * sizeof *index);
    x->elpd = malloc(x->nrow * sizeof *x->elpd);
    const int room = l && lw && work && index && x->elpd;
    for (size_t i = 0; room && i < x->nrow; i++) {
        x->elpd[i] = NAN;
        if (isnan(x->value[i]))
            continue;
        for (size_t s = 0; s < n; s++) {
            l[s] = x->value[s * x->nrow + i];
            lw[s] = -l[s];
        }
        const double k = fit_psis_smooth(n, lw, work, index);
        for (size_t s = 0; s < n; s++)
            l[s] += lw[s];
        x->elpd[i] = isnan(k) ? -INFINITY : fit_log_sum_exp(n, l);
        *unreliable += !(k <= fit_psis_threshold(n));
    }
    free(l);
    free(lw);
    free(work);
    free(index);
    return room ? FIT_OK : fit_no_memory(err, NULL);
}

/* Sum over the rows of b minus a (NULL: 0), and its standard error. */
static double sum_of(size_t nrow, const double *b, const double *a, double *se)
{
    double n = 0, sum = 0, square = 0;
    for (size_t i = 0; i < nrow; i++)
        if (!isnan(b[i])) {
            n += 1;
            sum += b[i] - (a ? a[i] : 0);
        }
    for (size_t i = 0; i < nrow; i++)
        if (!isnan(b[i])) {
            const double d = b[i] - (a ? a[i] : 0) - sum / n;
            square += d * d;
        }
    *se = sqrt(n * square / (n - 1));
    return sum;
}

/* NULL: results can be compared; "": there is nothing to compare. */
static const char *obstacle(const struct front_result *const r[2], int same_data)
{
    if (!r[0]->posterior[0] || !r[1]->posterior[0] || r[0]->pairs || r[1]->pairs)
        return "";
    if (!same_data || r[0]->npoint != r[1]->npoint || strcmp(r[0]->selection, r[1]->selection) != 0)
        return "they are of different values";
    if (r[0]->reweighted || r[1]->reweighted)
        return "the values were weighted by the residuals of each fit; give both the noise (--sigma)";
    if (r[0]->feedback || r[1]->feedback)
        return "rows follow from the values of those before them (a recurrence), and cannot be left out one by one";
    if (fit_verdict_find(r[0]->posterior) == FIT_VERDICT_FAILED ||
        fit_verdict_find(r[1]->posterior) == FIT_VERDICT_FAILED)
        return "one of the posteriors failed";
    if (front_is_correlated(r[0]) && front_is_correlated(r[1]))
        return "residuals are correlated, and it takes the values as independent";
    return NULL;
}

static const char *obstacle_of_rows(const struct rows x[2])
{
    if (!x[0].draws || !x[1].draws)
        return "posterior.nc of one of them has no log likelihood of its rows";
    int same = x[0].nrow == x[1].nrow;
    for (size_t i = 0; same && i < x[0].nrow; i++)
        same = isnan(x[0].value[i]) == isnan(x[1].value[i]);
    return same ? NULL : "they are of different values";
}

enum fit_status front_loo(const struct front_result *const r[2], int same_data, struct front_loo *out, char *why,
                          size_t size, struct fit_error *err)
{
    struct rows x[2] = {{0}, {0}};
    enum fit_status st = FIT_OK;
    *out = (struct front_loo){0};
    const char *reason = obstacle(r, same_data);
    for (int k = 0; k < 2 && !reason && st == FIT_OK; k++)
        st = rows_read(r[k], &x[k], err);
    if (!reason && st == FIT_OK)
        reason = obstacle_of_rows(x);
    for (int k = 0; k < 2 && !reason && st == FIT_OK; k++) {
        st = smooth(&x[k], &out->unreliable[k], err);
        out->draws[k] = x[k].draws;
        out->threshold[k] = fit_psis_threshold(x[k].draws);
        if (st == FIT_OK)
            out->elpd[k] = sum_of(x[k].nrow, x[k].elpd, NULL, &out->se[k]);
    }
    if (!reason && st == FIT_OK && !(isfinite(out->elpd[0]) && isfinite(out->elpd[1])))
        reason = "a row has no density at a draw of one of them";
    if (!reason && st == FIT_OK) {
        out->difference = sum_of(x[0].nrow, x[1].elpd, x[0].elpd, &out->difference_se);
        for (size_t i = 0; i < x[0].nrow; i++)
            out->nrow += isnan(x[0].elpd[i]) ? 0 : 1;
    }
    snprintf(why, size, "%s", reason ? reason : "");
    rows_free(&x[0]);
    rows_free(&x[1]);
    return st;
}
