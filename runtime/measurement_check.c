/* measurement_check.c -- is a matrix what the file says it is?  Its means over the diagonals against
 * those that the file holds for its bin; frames without a positive value. */
#include "measurement_impl.h"

#include "source_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define G2_MISMATCH 1e-3 /* relative, of the diagonal means: sums of float32 */
#define BLANK_MOST 0.2   /* share of blank frames that is accepted */

/* Root mean square difference of two g2 curves relative to the second, lags 1 .. n - 1, weighted
 * by the number of pairs. */
static double g2_distance(const double *a, const double *b, size_t n, size_t frames)
{
    double d = 0, s = 0;
    for (size_t lag = 1; lag < n; lag++) {
        double w = (double)(frames - lag);
        if (!isfinite(a[lag]) || !isfinite(b[lag]))
            continue;
        d += w * (a[lag] - b[lag]) * (a[lag] - b[lag]);
        s += w * b[lag] * b[lag];
    }
    return s > 0 ? sqrt(d / s) : 0;
}

/* Means over the diagonals of the upper triangle, NaN left out. */
static void diagonal_means(const double *m, size_t n, double *g2)
{
    memset(g2, 0, n * sizeof *g2);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            g2[j - i] += m[i * n + j];
    for (size_t lag = 0; lag < n; lag++)
        g2[lag] /= (double)(n - lag);
}

enum fit_status fit_loading_mapping(struct loading *l, size_t g, const double *means,
                                    struct fit_error *err)
{
    size_t n, k = l->index[g], frames = l->m->file_frames;
    double *g2;
    enum fit_status st = fit_source_read_g2(l->src, k, &g2, &n, err);
    if (st != FIT_OK || !g2)
        return st;
    double off = g2_distance(means, g2, n, frames);
    free(g2);
    for (size_t other = 0; off > G2_MISMATCH && other < l->src->nmatrix; other++) {
        if (fit_source_read_g2(l->src, other, &g2, &n, NULL) != FIT_OK || !g2)
            continue;
        int same = g2_distance(means, g2, n, frames) <= G2_MISMATCH;
        free(g2);
        if (same)
            return fit_fail(
                err, FIT_ERR_DATA,
                "%s: bin mapping: the diagonal means of matrix %s are those of column %zu of "
                "normalized_g2, its own column is %zu; the bins are mixed up",
                l->src->file, l->m->group[g].key, other + 1, k + 1);
    }
    if (off > G2_MISMATCH)
        return fit_fail(
            err, FIT_ERR_DATA,
            "%s: bin mapping: the diagonal means of matrix %s differ by %.2g from column %zu of "
            "normalized_g2 (at most %g is expected)",
            l->src->file, l->m->group[g].key, off, k + 1, G2_MISMATCH);
    return FIT_OK;
}

enum fit_status fit_loading_check_mapping(struct loading *l, size_t g, struct fit_error *err)
{
    size_t frames = l->m->file_frames;
    if (!fit_source_tells_g2(l->src))
        return FIT_OK;
    if (!l->g2 && !(l->g2 = malloc(frames * sizeof *l->g2)))
        return fit_fail(err, FIT_ERR_MEMORY, "data: out of memory");
    diagonal_means(l->matrix, frames, l->g2);
    return fit_loading_mapping(l, g, l->g2, err);
}

/* 1 when frame i has a finite positive value with any other frame. */
static int frame_lives(const double *m, size_t n, size_t i)
{
    for (size_t j = i + 1; j < n; j++)
        if (m[i * n + j] > 0 && isfinite(m[i * n + j]))
            return 1;
    for (size_t j = 0; j < i; j++)
        if (m[j * n + i] > 0 && isfinite(m[j * n + i]))
            return 1;
    return 0;
}

size_t fit_loading_find_blank(struct loading *l)
{
    size_t found = 0, n = l->m->ntime;
    for (size_t i = 0; i < n; i++)
        if (!l->out[i] && !frame_lives(l->matrix, n, i)) {
            l->out[i] = 2;
            found++;
        }
    return found;
}

/* "0,90": the azimuths of the other matrices; empty: none, or not known. */
static void other_angles(const struct fit_measurement *m, size_t g, char *text, size_t size)
{
    size_t at = 0;
    *text = '\0';
    for (size_t k = 0; k < m->ngroup && at + 24 < size; k++)
        if (k != g && !isnan(m->group[k].phi))
            at += (size_t)snprintf(text + at, size - at, "%s%.6g", at ? "," : "", m->group[k].phi);
}

enum fit_status fit_loading_blank(const struct loading *l, size_t g, struct fit_error *err)
{
    const struct fit_measurement *m = l->m;
    const struct fit_group *group = &m->group[g];
    char list[200], advice[80] = "";
    size_t n = 0;
    if ((double)l->nblank <= BLANK_MOST * (double)m->ntime)
        return FIT_OK;
    uint32_t *blank = calloc(l->nblank, sizeof *blank);
    if (!blank)
        return fit_fail(err, FIT_ERR_MEMORY, "data: out of memory");
    for (size_t i = 0; i < m->ntime; i++)
        if (l->out[i] == 2)
            blank[n++] = (uint32_t)i;
    fit_format_list(blank, n, m->first, list, sizeof list);
    if (n == m->ntime) {
        other_angles(m, g, list, sizeof list);
        free(blank);
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: %s (phi = %g): %zu of %zu frames are blank (rows without a positive value): the whole "
                        "matrix.%s%s",
                        l->src->file, group->key, group->phi, n, n, *list ? " Leave it out: --phi=" : "", list);
    }
    if (blank[n - 1] - blank[0] == n - 1 && blank[n - 1] == m->ntime - 1 && blank[0] > 0)
        snprintf(advice, sizeof advice, "Set end_frame: %ld or list",
                 (long)blank[0] + m->first - 1);
    enum fit_status st = fit_fail(
        err, FIT_ERR_DATA,
        "%s: %s (phi = %g): %zu of %zu frames are blank (rows without a positive "
        "value): %s. %s them under mask.",
        l->src->file, group->key, group->phi, n, m->ntime, list, *advice ? advice : "List");
    free(blank);
    return st;
}
