/* check.c -- does a matrix agree with the other contents of the file? Compares its means over the diagonals with
 * those that the file holds for its bin; finds frames without a positive value. */
#include "input/measurement_impl.h"

#include "input/source_impl.h"

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
        return fit_no_memory(err, "data");
    diagonal_means(l->matrix, frames, l->g2);
    return fit_loading_mapping(l, g, l->g2, err);
}

int fit_loading_lives(const struct loading *l, size_t i)
{
    const double *m = l->matrix;
    const size_t n = l->m->ntime;
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
        if (!l->out[i] && !fit_loading_lives(l, i)) {
            l->out[i] = 2;
            found++;
        }
    return found;
}

/* "0,90": the azimuths of the matrices that are dead, or not; how many. */
static size_t angles(const struct loading *l, int dead, size_t without, char *text, size_t size)
{
    size_t at = 0, n = 0;
    *text = '\0';
    for (size_t k = 0; k < l->m->ngroup; k++) {
        if (l->dead[k] != dead || k == without)
            continue;
        n++;
        if (!isnan(l->m->group[k].phi) && at + 24 < size)
            at += (size_t)snprintf(text + at, size - at, "%s%.6g", at ? "," : "", l->m->group[k].phi);
    }
    return n;
}

int fit_loading_too_blank(const struct loading *l)
{
    return (double)l->nblank > BLANK_MOST * (double)l->m->ntime;
}

/* Matrix g holds no value at all. */
static enum fit_status whole_matrix(const struct loading *l, size_t g, struct fit_error *err)
{
    const struct fit_measurement *m = l->m;
    char dead[160], good[160], others[200] = "", advice[260];
    const size_t ndead = angles(l, 1, g, dead, sizeof dead), ngood = angles(l, 0, g, good, sizeof good);
    if (ndead && ngood)
        snprintf(others, sizeof others, ", as %s%s", *dead ? "those of phi = " : "others", dead);
    else if (ndead)
        snprintf(others, sizeof others, ", as all others of them");
    if (!ngood)
        snprintf(advice, sizeof advice, ": there is nothing to fit");
    else
        snprintf(advice, sizeof advice, *good ? ". Leave %s out: --phi=%s" : ".", ndead ? "them" : "it", good);
    return fit_fail(err, FIT_ERR_DATA,
                    "%s: %s (phi = %g): %zu of %zu frames are blank (rows without a positive value): the whole "
                    "matrix%s%s",
                    l->src->file, m->group[g].key, m->group[g].phi, m->ntime, m->ntime, others, advice);
}

/* "1:60,70": n frames as --mask takes them, from 1; empty when it would be long. */
static void as_mask(const uint32_t *frame, size_t n, long first, char *text, size_t size)
{
    size_t at = 0;
    *text = '\0';
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && frame[j] == frame[j - 1] + 1;)
            j++;
        if (at + 30 > size) {
            *text = '\0';
            return;
        }
        at += (size_t)snprintf(text + at, size - at, "%s%ld", i ? "," : "", (long)frame[i] + first);
        if (j - i > 1)
            at += (size_t)snprintf(text + at, size - at, ":%ld", (long)frame[j - 1] + first);
    }
}

enum fit_status fit_loading_blank(const struct loading *l, size_t g, struct fit_error *err)
{
    const struct fit_measurement *m = l->m;
    const struct fit_group *group = &m->group[g];
    char list[200], mask[100], range[60] = "";
    size_t n = 0, head = 0, tail = 0;
    if (l->dead[g])
        return whole_matrix(l, g, err);
    FIT_OWNED uint32_t *blank = calloc(l->nblank, sizeof *blank);
    if (!blank)
        return fit_no_memory(err, "data");
    for (size_t i = 0; i < m->ntime; i++)
        if (l->out[i] == 2)
            blank[n++] = (uint32_t)i;
    fit_format_list(blank, n, m->first, list, sizeof list);
    as_mask(blank, n, m->first, mask, sizeof mask);
    while (head < n && blank[head] == head)
        head++;
    while (tail < n && blank[n - 1 - tail] == m->ntime - 1 - tail)
        tail++;
    const char *how = *mask || head + tail == n ? ":" : " by mask in the configuration";
    if (n == m->ntime) { /* each of them in some matrix */
        *mask = '\0';
        how = ", or matrices by --phi";
    } else if (head + tail == n) {
        snprintf(range, sizeof range, " --frames %ld:%ld%s", m->first + (long)head,
                 m->first + (long)(m->ntime - tail) - 1, *mask ? " or" : "");
    }
    return fit_fail(
        err, FIT_ERR_DATA,
        "%s: %s (phi = %g): %zu of %zu frames are blank (rows without a positive "
        "value): %s. Leave them out%s%s%s%s",
        l->src->file, group->key, group->phi, n, m->ntime, list, how, range, *mask ? " --mask " : "", mask);
}
