/* speckle.c -- two-time correlation functions of finitely many speckles; see speckle.h.
 *
 * Fields are E = R z with R R^T = g1 from eigenvectors, z independent complex normal numbers; for components, their
 * sum. */
#include "commands/speckle.h"

#include "base/arena.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "math/linalg.h"
#include "math/rng.h"
#include "model/law.h"

struct work {
    const struct fit_speckle_draw *draw;
    size_t nparts, nmode, n, frames; /* n: exposures */
    double mode[FIT_SPECKLE_MODES]; /* parts of the mean intensity */
    double counts;                  /* whose shot noise is proportional to the contrast of the modes */
    const struct fit_speckle_part *part;
    double *root; /* nparts x n x n: V sqrt(w), column k of the k-th direction */
    double *vector, *value, *eigen;
    double *sum;       /* frames x frames: sum of I I^T, upper half */
    double *intensity; /* n: of a speckle */
    double *seen;      /* frames: of a speckle; its sum behind */
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

/* Exposures become frames, intensities photons. */
static void see(struct work *w, uint64_t index)
{
    const struct fit_speckle_draw *d = w->draw;
    const size_t each = w->n / w->frames;
    struct fit_rng rng = {.seed = d->seed, .chain = (uint32_t)d->stream, .iteration = (uint32_t)index,
                          .purpose = FIT_RNG_PHOTONS};
    for (size_t i = 0; i < w->frames; i++) {
        double mean = 0;
        for (size_t k = 0; k < each; k++)
            mean += w->intensity[i * each + k] / (double)each;
        w->seen[i] = w->counts > 0 ? fit_law_draw(FIT_LAW_POISSON, w->counts * mean, NULL, &rng) / w->counts : mean;
    }
}

static void add_speckle(struct work *w, uint64_t index)
{
    memset(w->intensity, 0, w->n * sizeof *w->intensity);
    for (size_t m = 0; m < w->nmode; m++)
        add_mode(w, w->n, m, w->draw->seed, w->draw->stream, index);
    see(w, index);
    for (size_t i = 0; i < w->frames; i++)
        w->seen[w->frames + i] += w->seen[i];
    for (size_t i = 0; i < w->frames; i++)
        for (size_t j = i; j < w->frames && w->seen[i] != 0; j++)
            w->sum[i * w->frames + j] += w->seen[i] * w->seen[j];
}

/* All modes except the last are equal, with sum 1 and sum of squares `contrast`; returns that sum. */
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

/* c / contrast from the sums; scale: the contrast of the modes. */
static enum fit_status finish(const struct work *w, double scale, double *square, struct fit_error *err)
{
    const size_t n = w->frames;
    const double m = (double)w->draw->speckles, *mean = w->seen + n;
    for (size_t i = 0; i < n; i++)
        if (!(mean[i] > 0))
            return fit_fail(err, FIT_ERR_DATA, "speckles: frame %zu has no photon; give more counts or more pixels",
                            i + 1);
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            square[i * n + j] = (m * w->sum[i * n + j] / (mean[i] * mean[j]) - 1) / scale;
    return FIT_OK;
}

enum fit_status fit_speckle_parts(size_t n, const struct fit_speckle_draw *draw, double *square, double *change,
                                  struct fit_error *err)
{
    const size_t nparts = draw->nparts, average = draw->average > 1 ? draw->average : 1;
    struct work w = {.draw = draw, .nparts = nparts, .part = draw->part, .n = n, .frames = n / average};
    FIT_SCRATCH(a);
    FIT_TAKE_DOUBLES(&a, nparts * n * n, &w.root);
    FIT_TAKE_DOUBLES(&a, n * n, &w.vector);
    FIT_TAKE_DOUBLES(&a, w.frames * w.frames, &w.sum);
    FIT_TAKE_DOUBLES(&a, n, &w.value, &w.intensity);
    FIT_TAKE_DOUBLES(&a, 2 * w.frames, &w.seen);
    FIT_TAKE_DOUBLES(&a, 2 * n, &w.z, &w.field);
    FIT_TAKE_DOUBLES(&a, fit_eigen_work(n), &w.eigen);
    if (a.failed)
        return fit_fail(err, FIT_ERR_MEMORY, "speckles: out of memory for %zu frames", n);
    const double scale = choose_modes(&w, draw->contrast);
    w.counts = draw->counts * fmin(draw->contrast / scale, 1);
    *change = 0;
    for (size_t c = 0; c < nparts; c++) {
        const double one = take_root(&w, n, draw->part[c].square, w.root + c * n * n);
        if (one < 0)
            return fit_fail(err, FIT_ERR_NUMERIC, "speckles: the correlation is not finite");
        *change = fmax(*change, one);
    }
    for (uint64_t s = 0; s < draw->speckles; s++)
        add_speckle(&w, s);
    return finish(&w, scale, square, err);
}
