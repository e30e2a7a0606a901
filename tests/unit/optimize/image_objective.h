/* image_objective.h -- an objective of many variables with the shape of a real one: an image from visibilities.
 *
 *     J(x) = chi2(I) - 1 + sum I ln(I / P) + sum sqrt(Dr^2 + Dc^2 + eps),   I = exp(x),
 *     chi2 = sum |A I - d|^2 / s^2 / (2 N),   A_vk = K(u) K(v) exp(2 pi i (u X_k + v Y_k)),   K(w) = (sin z / z)^2,
 *
 * z = pi p w, pixels of side p (Chael et al., ApJ 857 (2018) 23, with a triangular pixel); maximum entropy and total
 * variation, Dr and Dc differences to the next row and column.  A is a product of a factor of the row and one of the
 * column, so that J and its gradient take 8 operations for every visibility and pixel.
 *
 * tests/data/gauss1600.f64: little-endian doubles; p, flux, eps, J at the logarithm of the prior and at x_rand; then u,
 * v, s, Re d, Im d of 2592 visibilities; prior, true image, x_rand and the gradient there, of 40 x 40 pixels.  Numbers
 * of a simulated observation at 230 GHz and of an independent program. */
#pragma once

#include "base/arena.h"
#include "base/each_isa.h"
#include "base/status.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define IMAGE_PI 3.14159265358979323846

enum { IMAGE_VISIBILITIES = 2592, IMAGE_SIDE = 40, IMAGE_PIXELS = IMAGE_SIDE * IMAGE_SIDE };

struct image_objective {
    size_t nvis, side, n;                               /* n = side^2 */
    double p, eps, *is2;                                /* is2: 1/s^2 */
    double *re, *im, *row, *column;                     /* row, column: nvis x 2 side: real parts, imaginary parts */
    double *prior, *truth, *image, *grad_image, *start; /* start: ln of the prior */
    double *point, *point_grad;
    double value_start, value_point, flux;
    size_t calls;
    struct fit_arena storage;
};

/* ---- making ----------------------------------------------------------------------------------- */

static double image_pulse(double z)
{
    return z == 0 ? 1 : sin(z) / z * (sin(z) / z);
}

static void image_factors(struct image_objective *q, const double *u, const double *v)
{
    const size_t m = q->side;
    for (size_t k = 0; k < q->nvis; k++)
        for (size_t j = 0; j < m; j++) {
            const double at = ((double)(m - 1) / 2 - (double)j) * q->p;
            const double kr = image_pulse(IMAGE_PI * q->p * v[k]), kc = image_pulse(IMAGE_PI * q->p * u[k]);
            q->row[k * 2 * m + j] = kr * cos(2 * IMAGE_PI * v[k] * at);
            q->row[k * 2 * m + m + j] = kr * sin(2 * IMAGE_PI * v[k] * at);
            q->column[k * 2 * m + j] = kc * cos(2 * IMAGE_PI * u[k] * at);
            q->column[k * 2 * m + m + j] = kc * sin(2 * IMAGE_PI * u[k] * at);
        }
}

static void image_take(struct image_objective *q, size_t nvis, size_t side)
{
    q->nvis = nvis;
    q->side = side;
    q->n = side * side;
    FIT_TAKE_DOUBLES(&q->storage, nvis, &q->is2, &q->re, &q->im);
    FIT_TAKE_DOUBLES(&q->storage, nvis * 2 * side, &q->row, &q->column);
    FIT_TAKE_DOUBLES(&q->storage, q->n, &q->prior, &q->truth, &q->image, &q->grad_image, &q->start, &q->point,
                     &q->point_grad);
}

/* The file's numbers; 0: they are not there. */
static int image_read(double *numbers, size_t n)
{
    FILE *f = fopen(FIT_SOURCE_DIR "/tests/data/gauss1600.f64", "rb");
    const size_t got = f ? fread(numbers, sizeof *numbers, n, f) : 0;
    if (f)
        fclose(f);
    return got == n;
}

enum { IMAGE_NUMBERS = 5 + 5 * IMAGE_VISIBILITIES + 4 * IMAGE_PIXELS };

static int image_standard(struct image_objective *q)
{
    static double all[IMAGE_NUMBERS];
    const double *vis = all + 5, *pixel = vis + 5 * IMAGE_VISIBILITIES;
    *q = (struct image_objective){0};
    image_take(q, IMAGE_VISIBILITIES, IMAGE_SIDE);
    if (q->storage.failed || !image_read(all, IMAGE_NUMBERS))
        return 0;
    q->p = all[0], q->flux = all[1], q->eps = all[2], q->value_start = all[3], q->value_point = all[4];
    image_factors(q, vis, vis + IMAGE_VISIBILITIES);
    for (size_t k = 0; k < q->nvis; k++) {
        const double s = vis[2 * IMAGE_VISIBILITIES + k];
        q->is2[k] = 1 / (s * s);
        q->re[k] = vis[3 * IMAGE_VISIBILITIES + k];
        q->im[k] = vis[4 * IMAGE_VISIBILITIES + k];
    }
    double sum = 0;
    for (size_t k = 0; k < q->n; k++)
        sum += pixel[k];
    for (size_t k = 0; k < q->n; k++) {
        q->prior[k] = pixel[k] * q->flux / sum;
        q->start[k] = log(q->prior[k]);
        q->truth[k] = pixel[IMAGE_PIXELS + k];
        q->point[k] = pixel[2 * IMAGE_PIXELS + k];
        q->point_grad[k] = pixel[3 * IMAGE_PIXELS + k];
    }
    return 1;
}

static void image_free(struct image_objective *q)
{
    fit_arena_free(&q->storage);
}

/* ---- value and gradient ----------------------------------------------------------------------- */

/* Real and imaginary parts of one visibility. */
EACH_ISA static void image_forward(size_t m, const double *image, const double *row, const double *column, double z[2])
{
    double re[64] = {0}, im[64] = {0};
    for (size_t r = 0; r < m; r++)
        for (size_t c = 0; c < m; c++) {
            re[c] += row[r] * image[r * m + c];
            im[c] += row[m + r] * image[r * m + c];
        }
    z[0] = z[1] = 0;
    for (size_t c = 0; c < m; c++) {
        z[0] += column[c] * re[c] - column[m + c] * im[c];
        z[1] += column[c] * im[c] + column[m + c] * re[c];
    }
}

/* g += Re(conj(row column) (a + i b)). */
EACH_ISA static void image_adjoint(size_t m, double a, double b, const double *row, const double *column, double *g)
{
    double re[64], im[64];
    for (size_t c = 0; c < m; c++) {
        re[c] = column[c] * a + column[m + c] * b;
        im[c] = column[c] * b - column[m + c] * a;
    }
    for (size_t r = 0; r < m; r++)
        for (size_t c = 0; c < m; c++)
            g[r * m + c] += row[r] * re[c] + row[m + r] * im[c];
}

static double image_chi2(struct image_objective *q)
{
    double chi2 = 0;
    for (size_t k = 0; k < q->nvis; k++) {
        const double *row = q->row + k * 2 * q->side, *column = q->column + k * 2 * q->side;
        double z[2];
        image_forward(q->side, q->image, row, column, z);
        const double a = z[0] - q->re[k], b = z[1] - q->im[k], w = q->is2[k] / (double)q->nvis;
        chi2 += (a * a + b * b) * w / 2;
        image_adjoint(q->side, a * w, b * w, row, column, q->grad_image);
    }
    return chi2;
}

static double image_variation(struct image_objective *q)
{
    const size_t m = q->side;
    double sum = 0;
    for (size_t r = 0; r < m; r++)
        for (size_t c = 0; c < m; c++) {
            const size_t k = r * m + c;
            const double dr = (r + 1 < m ? q->image[k + m] : 0) - q->image[k];
            const double dc = (c + 1 < m ? q->image[k + 1] : 0) - q->image[k];
            const double d = sqrt(dr * dr + dc * dc + q->eps);
            sum += d;
            q->grad_image[k] -= (dr + dc) / d;
            if (r + 1 < m)
                q->grad_image[k + m] += dr / d;
            if (c + 1 < m)
                q->grad_image[k + 1] += dc / d;
        }
    return sum;
}

static enum fit_status image_value_gradient(void *context, const double *x, double *f, double *g, struct fit_error *err)
{
    struct image_objective *q = context;
    double entropy = 0;
    (void)err;
    q->calls++;
    for (size_t k = 0; k < q->n; k++) {
        q->image[k] = exp(x[k]);
        const double ratio = log(q->image[k] / q->prior[k]);
        entropy += q->image[k] * ratio;
        q->grad_image[k] = ratio + 1;
    }
    *f = image_chi2(q) - 1 + entropy;
    *f += image_variation(q);
    for (size_t k = 0; k < q->n; k++)
        g[k] = q->image[k] * q->grad_image[k];
    return FIT_OK;
}

/* Pearson's correlation of exp(x) and the true image. */
static double image_correlation(const struct image_objective *q, const double *x)
{
    double a = 0, b = 0, ab = 0, aa = 0, bb = 0;
    for (size_t k = 0; k < q->n; k++) {
        a += exp(x[k]) / (double)q->n;
        b += q->truth[k] / (double)q->n;
    }
    for (size_t k = 0; k < q->n; k++) {
        const double u = exp(x[k]) - a, v = q->truth[k] - b;
        ab += u * v, aa += u * u, bb += v * v;
    }
    return ab / sqrt(aa * bb);
}
