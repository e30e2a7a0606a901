/* speckle.c -- two-time correlation functions of finitely many speckles; see speckle.h.
 *
 * Fields are E = R z with R R^T = g1 from eigenvectors, z independent complex normal numbers; of components the sum. */
#include "commands/speckle.h"

#include "base/arena.h"

#include <math.h>
#include <string.h>

#include "math/linalg.h"
#include "math/rng.h"

struct work {
    size_t nparts, nmode;
    double mode[FIT_SPECKLE_MODES]; /* parts of the mean intensity */
    const struct fit_speckle_part *part;
    double *root; /* nparts x n x n: V sqrt(w), column k of the k-th direction */
    double *vector, *value, *eigen;
    double *sum;       /* n x n: sum of I I^T, upper half */
    double *intensity; /* n: of a speckle; its sum behind */
    double *z;     /* 2 n */
    double *field; /* 2 n: of a speckle, real and imaginary part of each frame */
};

/* root <- a square root of g1 with unit diagonal; returns the largest change of |g1|^2, or -1. */
static double take_root(struct work *w, size_t n, const double *square, double *root)
{
    double change = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            w->vector[i * n + j] = w->vector[j * n + i] = i == j ? 1 : sqrt(fmax(square[i * n + j], 0));
    if (fit_eigen(n, w->vector, w->value, w->eigen))
        return -1;
    for (size_t i = 0; i < n; i++) {
        double norm = 0;
        for (size_t k = 0; k < n; k++) {
            root[i * n + k] = w->vector[k * n + i] * sqrt(fmax(w->value[k], 0));
            norm += root[i * n + k] * root[i * n + k];
        }
        for (size_t k = 0; k < n; k++)
            root[i * n + k] /= sqrt(norm);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++) {
            double g = 0;
            for (size_t k = 0; k < n; k++)
                g += root[i * n + k] * root[j * n + k];
            change = fmax(change, fabs(g * g - fmax(square[i * n + j], 0)));
        }
    return change;
}

/* Adds to `field` that of component c. */
static void add_part(struct work *w, size_t n, size_t c)
{
    const double *a = w->part[c].amplitude, *p = w->part[c].phase;
    for (size_t i = 0; i < n; i++) {
        double re = 0, im = 0, size = a ? a[i] : 1, x = p ? size * cos(p[i]) : size, y = p ? size * sin(p[i]) : 0;
        const double *row = w->root + (c * n + i) * n;
        for (size_t k = 0; k < n; k++) {
            re += row[k] * w->z[2 * k];
            im += row[k] * w->z[2 * k + 1];
        }
        w->field[2 * i] += x * re - y * im;
        w->field[2 * i + 1] += x * im + y * re;
    }
}

/* Adds the intensity of mode m. */
static void add_mode(struct work *w, size_t n, size_t m, uint64_t seed, uint64_t stream, uint64_t index)
{
    memset(w->field, 0, 2 * n * sizeof *w->field);
    for (size_t c = 0; c < w->nparts; c++) {
        for (size_t k = 0; k < n; k++)
            fit_rng_normal(seed, stream, ((index * w->nmode + m) * w->nparts + c) * n + k, w->z + 2 * k);
        add_part(w, n, c);
    }
    for (size_t i = 0; i < n; i++) {
        double re = w->field[2 * i], im = w->field[2 * i + 1];
        w->intensity[i] += w->mode[m] * 0.5 * (re * re + im * im);
    }
}

static void add_speckle(struct work *w, size_t n, uint64_t seed, uint64_t stream, uint64_t index)
{
    memset(w->intensity, 0, n * sizeof *w->intensity);
    for (size_t m = 0; m < w->nmode; m++)
        add_mode(w, n, m, seed, stream, index);
    for (size_t i = 0; i < n; i++)
        w->intensity[n + i] += w->intensity[i];
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            w->sum[i * n + j] += w->intensity[i] * w->intensity[j];
}

/* All modes but the last alike, with sum 1 and sum of squares `contrast`; returns that sum. */
static double choose_modes(struct work *w, double contrast)
{
    double k = contrast < 1 ? ceil(1 / contrast - 1e-9) : 1;
    k = fmin(k, FIT_SPECKLE_MODES);
    const double b = fmax(contrast, 1 / k), m = k - 1;
    w->nmode = (size_t)k;
    const double each = k > 1 ? (m + sqrt(fmax(m * m - m * k * (1 - b), 0))) / (m * k) : 0;
    double square = 0;
    for (size_t i = 0; i < w->nmode; i++) {
        w->mode[i] = i + 1 < w->nmode ? each : 1 - m * each;
        square += w->mode[i] * w->mode[i];
    }
    return square;
}

enum fit_status fit_speckle_parts(size_t n, const struct fit_speckle_draw *draw, double *square, double *change,
                                  struct fit_error *err)
{
    const size_t nparts = draw->nparts;
    FIT_SCRATCH(a);
    const double m = (double)draw->speckles;
    struct work w = {.nparts = nparts, .part = draw->part};
    FIT_TAKE_DOUBLES(&a, nparts * n * n, &w.root);
    FIT_TAKE_DOUBLES(&a, n * n, &w.vector, &w.sum);
    FIT_TAKE_DOUBLES(&a, n, &w.value);
    FIT_TAKE_DOUBLES(&a, 2 * n, &w.intensity, &w.z, &w.field);
    FIT_TAKE_DOUBLES(&a, fit_eigen_work(n), &w.eigen);
    if (a.failed)
        return fit_fail(err, FIT_ERR_MEMORY, "speckles: out of memory for %zu frames", n);
    const double scale = choose_modes(&w, draw->contrast);
    *change = 0;
    for (size_t c = 0; *change >= 0 && c < nparts; c++) {
        double one = take_root(&w, n, draw->part[c].square, w.root + c * n * n);
        *change = one < 0 ? one : fmax(*change, one);
    }
    for (uint64_t s = 0; *change >= 0 && s < draw->speckles; s++)
        add_speckle(&w, n, draw->seed, draw->stream, s);
    for (size_t i = 0; *change >= 0 && i < n; i++)
        for (size_t j = i; j < n; j++)
            square[i * n + j] = (m * w.sum[i * n + j] / (w.intensity[n + i] * w.intensity[n + j]) - 1) / scale;
    return *change >= 0 ? FIT_OK : fit_fail(err, FIT_ERR_NUMERIC, "speckles: the correlation is not finite");
}

enum fit_status fit_speckle(size_t n, size_t speckles, double contrast, uint64_t seed, uint64_t stream, double *square,
                            double *change, struct fit_error *err)
{
    const struct fit_speckle_draw draw = {1,     &(struct fit_speckle_part){.square = square}, speckles, contrast, seed,
                                          stream};
    return fit_speckle_parts(n, &draw, square, change, err);
}
