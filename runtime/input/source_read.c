/* source_read.c -- the matrices of an opened file: which half of them holds data, whole matrices made from halves,
 * their errors, the means over their diagonals. */
#include "input/source_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PROBE_ROWS = 32 }; /* looked at to tell halves from wholes */

/* Largest difference of mirrored elements, relative to the row's largest: float32 sums in different order. */
#define ASYMMETRY 1e-5

static int is_something(double v)
{
    return !(v == 0); /* exactly: the missing half is stored as 0; NaN counts as a value */
}

/* Examines row i: bit 1 values above the diagonal, bit 2 values below; *bad: a column where the mirrored elements
 * differ, or n. Element (j, i) is column[j step]. */
static int look_at_row(const double *row, const double *column, size_t step, size_t n, size_t i,
                       size_t *bad)
{
    int seen = 0;
    double top = 0;
    *bad = n;
    for (size_t j = 0; j < n; j++) {
        if (j == i)
            continue;
        if (is_something(row[j]))
            seen |= j > i ? 1 : 2;
        if (fabs(row[j]) > top)
            top = fabs(row[j]);
    }
    for (size_t j = 0; j < n && *bad == n; j++) {
        double a = row[j], b = column[j * step];
        if (isfinite(a) && isfinite(b) && fabs(a - b) > ASYMMETRY * (top > fabs(b) ? top : fabs(b)))
            *bad = j;
    }
    return seen;
}

size_t fit_source_probes(const struct fit_source *s)
{
    return s->nframe < PROBE_ROWS ? s->nframe : PROBE_ROWS;
}

size_t fit_source_probe(const struct fit_source *s, size_t p)
{
    return p * (s->nframe - 1) / (fit_source_probes(s) - 1);
}

enum fit_status fit_source_half(const struct fit_source *s, size_t k,
                                const struct fit_probes *look, enum fit_half *half,
                                struct fit_error *err)
{
    size_t n = s->nframe, probes = fit_source_probes(s), odd = n, where = 0;
    size_t step = look->whole ? n : 1;
    double here = 0, there = 0;
    int seen = 0;
    for (size_t p = 0; p < probes; p++) {
        size_t i = fit_source_probe(s, p), bad;
        const double *row = look->whole ? look->whole + i * n : look->row + p * n;
        const double *column = look->whole ? look->whole + i : look->column + p * n;
        seen |= look_at_row(row, column, step, n, i, &bad);
        if (bad < n && odd == n) {
            odd = bad;
            where = i;
            here = row[odd];
            there = column[odd * step];
        }
    }
    *half = seen == 1 ? FIT_HALF_UPPER : seen == 2 ? FIT_HALF_LOWER : FIT_HALF_FULL;
    if (*half == FIT_HALF_FULL && odd < n)
        return fit_fail(
            err, FIT_ERR_DATA,
            "%s: matrix %s is neither symmetric nor one half: element (%zu,%zu) is %.7g, "
            "(%zu,%zu) is %.7g",
            s->file, s->matrix[k].key, where + 1, odd + 1, here, odd + 1, where + 1, there);
    return FIT_OK;
}

/* Upper half, lower half or full, from a few rows. */
static enum fit_status find_half(const struct fit_source *s, size_t k, const double *m,
                                 enum fit_half *half, struct fit_error *err)
{
    return fit_source_half(s, k, &(struct fit_probes){.whole = m}, half, err);
}

/* Copies one triangle onto the other, in square blocks that stay in the cache. */
static void mirror(double *m, size_t n, int upper_to_lower)
{
    enum { B = 32 };
    for (size_t ib = 0; ib < n; ib += B)
        for (size_t jb = ib; jb < n; jb += B)
            for (size_t i = ib; i < ib + B && i < n; i++)
                for (size_t j = jb > i ? jb : i + 1; j < jb + B && j < n; j++) {
                    if (upper_to_lower)
                        m[j * n + i] = m[i * n + j];
                    else
                        m[i * n + j] = m[j * n + i];
                }
}

static void flip_rows(double *m, size_t n)
{
    for (size_t i = 0; i < n / 2; i++)
        for (size_t j = 0; j < n; j++) {
            double v = m[i * n + j];
            m[i * n + j] = m[(n - 1 - i) * n + j];
            m[(n - 1 - i) * n + j] = v;
        }
}

enum fit_status fit_source_read_known(struct fit_source *s, size_t k, double *m, enum fit_half *half,
                                      struct fit_error *err)
{
    const struct fit_source_private *p = s->private_;
    *half = p->half;
    if (k >= s->nmatrix)
        return fit_fail(err, FIT_ERR_INTERNAL, "%s: matrix %zu of %zu", s->file, k, s->nmatrix);
    enum fit_status st = p->ops->read(s, k, m, err);
    if (st != FIT_OK)
        return st;
    if (p->flipped)
        flip_rows(m, s->nframe);
    if (*half == FIT_HALF_UNKNOWN && (st = find_half(s, k, m, half, err)) != FIT_OK)
        return st;
    if (*half == FIT_HALF_LOWER)
        mirror(m, s->nframe, 0);
    for (size_t i = 0; p->baseline > 0 && i < s->nframe * s->nframe; i++)
        m[i] += p->baseline;
    return FIT_OK;
}

enum fit_status fit_source_read_upper(struct fit_source *s, size_t k, double *m,
                                      struct fit_error *err)
{
    enum fit_half half;
    return fit_source_read_known(s, k, m, &half, err);
}

enum fit_status fit_source_read(struct fit_source *s, size_t k, double *m, struct fit_error *err)
{
    enum fit_status st = fit_source_read_upper(s, k, m, err);
    if (st == FIT_OK)
        mirror(m, s->nframe, 1);
    return st;
}

enum fit_status fit_source_read_sigma(struct fit_source *s, size_t k, double *sigma,
                                      struct fit_error *err)
{
    struct fit_source_private *p = s->private_;
    enum fit_half half;
    if (!s->has_sigma || k >= s->nmatrix)
        return fit_fail(err, FIT_ERR_INTERNAL, "%s: holds no errors for matrix %zu", s->file, k);
    struct fit_source other = *s; /* the same names, another file */
    struct fit_source_private files = *p;
    size_t of = p->sigma.n == 1 ? 0 : k;
    if (p->sigma_h5 || p->sigma_npz) {
        files.h5 = p->sigma_h5;
        files.npz = p->sigma_npz;
    }
    other.private_ = &files;
    enum fit_status st = files.h5 ? fit_cube_read_h5(&other, &p->sigma, of, sigma, err)
                                  : fit_cube_read_npz(&other, &p->sigma, of, sigma, err);
    p->set = files.set; /* which may be new */
    if (st == FIT_OK && (st = find_half(s, k, sigma, &half, err)) == FIT_OK &&
        half == FIT_HALF_LOWER)
        mirror(sigma, s->nframe, 0);
    return st;
}

enum fit_status fit_source_plane(const struct fit_source *s, struct fit_h5_raw_set *set, size_t k,
                                 int sigma, struct fit_plane *plane, const char **why,
                                 struct fit_error *err)
{
    const struct fit_source_private *p = s->private_;
    const struct fit_cube *c = sigma ? &p->sigma : &p->cube;
    const struct fit_h5 *h = !sigma || (!p->sigma_h5 && !p->sigma_npz) ? p->h5 : p->sigma_h5;
    char path[512];
    *why = h ? "it is a mean over trains" : "it is no HDF5 file";
    if (!h || (p->averaged && !sigma))
        return FIT_OK;
    int single = !sigma && *p->group; /* each matrix is a dataset */
    snprintf(path, sizeof path, "%s%s", single ? p->group : c->path,
             single ? s->matrix[k].key : "");
    *plane = (struct fit_plane){.n = s->nframe,
                                .at = single || c->n == 1 ? 0 : k,
                                .total = single ? 1 : c->n,
                                .rank = single ? 2 : c->rank,
                                .last = !single && c->last,
                                .flipped = !sigma && p->flipped,
                                .lower = !sigma && p->half == FIT_HALF_LOWER,
                                .baseline = sigma ? 0 : p->baseline};
    return fit_h5_raw_open(set, h, path, &plane->raw, why, err);
}

int fit_source_half_known(const struct fit_source *s)
{
    return s->private_->half != FIT_HALF_UNKNOWN;
}

int fit_source_tells_g2(const struct fit_source *s)
{
    return *s->private_->g2 != 0;
}

enum fit_status fit_source_read_g2(struct fit_source *s, size_t k, double **g2, size_t *n,
                                   struct fit_error *err)
{
    const struct fit_source_private *p = s->private_;
    int rank;
    size_t dims[FIT_H5_RANK];
    *g2 = NULL;
    *n = 0;
    if (!p->h5 || !*p->g2 || fit_h5_kind(p->h5, p->g2) != FIT_H5_NUMBER)
        return FIT_OK;
    enum fit_status st = fit_h5_shape(p->h5, p->g2, &rank, dims, err);
    if (st != FIT_OK || rank != 2 || dims[1] != s->nmatrix || dims[0] < 2 || dims[0] > s->nframe)
        return st;
    double *v = malloc(dims[0] * sizeof *v);
    if (!v)
        return fit_no_memory(err, s->file);
    st = fit_h5_read_block(p->h5, p->g2, (size_t[]){0, k}, (size_t[]){dims[0], 1}, v, err);
    if (st != FIT_OK) {
        free(v);
        return st;
    }
    *g2 = v;
    *n = dims[0];
    return FIT_OK;
}
