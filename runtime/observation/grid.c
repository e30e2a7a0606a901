/* grid.c -- pixels, pulses, factors of visibilities and initial images (grid.h). */
#include "observation/grid.h"

#include "math/pcg64.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

static const char *const names[FIT_PULSES] = {
    [FIT_PULSE_TRIANGLE] = "triangle", [FIT_PULSE_DELTA] = "delta", [FIT_PULSE_BOX] = "rectangle",
    [FIT_PULSE_GAUSSIAN] = "gaussian", [FIT_PULSE_CUBIC] = "cubic", [FIT_PULSE_SINC] = "sinc",
};

const char *fit_pulse_name(enum fit_pulse pulse)
{
    return names[pulse];
}

int fit_pulse_of(const char *name)
{
    for (int k = 0; k < FIT_PULSES; k++)
        if (!strcmp(name, names[k]))
            return k;
    return -1;
}

static double sinc(double z)
{
    return z == 0 ? 1 : sin(z) / z;
}

/* 2 (3 sin a / (2 a) - cos a) (sin a / a)^3 */
static double cubic(double a)
{
    double s = sinc(a);
    return (3 * s - 2 * cos(a)) * s * s * s;
}

double fit_pulse_transform(enum fit_pulse pulse, double pixel, double w)
{
    double z = PI * pixel * w, s = 2 * z / 3;
    switch (pulse) {
    case FIT_PULSE_TRIANGLE: return sinc(z) * sinc(z);
    case FIT_PULSE_BOX: return sinc(z);
    case FIT_PULSE_GAUSSIAN: return exp(-s * s / 2);
    case FIT_PULSE_CUBIC: return cubic(z);
    case FIT_PULSE_SINC: return fabs(2 * pixel * w) < 1;
    case FIT_PULSE_DELTA:
    case FIT_PULSES: break;
    }
    return 1;
}

/* ---- coordinates and factors -------------------------------------------------------------------- */

static double centre(size_t n, size_t k, double pixel)
{
    return (((double)n - 1) / 2 - (double)k) * pixel;
}

double fit_grid_x(const struct fit_grid *g, size_t c)
{
    return centre(g->nx, c, g->pixel);
}

double fit_grid_y(const struct fit_grid *g, size_t r)
{
    return centre(g->ny, r, g->pixel);
}

/* K(w) exp(2 pi i w x_k), k = 0 .. n - 1. Whole turns are removed before the angle is formed, so that its rounding
 * does not grow with the baseline; x is antisymmetric, so half of the factors are conjugates of the other half. */
static void factors(const struct fit_grid *g, size_t n, double w, double *re, double *im)
{
    double k = fit_pulse_transform(g->pulse, g->pixel, w);
    for (size_t i = 0; i < (n + 1) / 2; i++) {
        double turns = w * centre(n, i, g->pixel), angle = 2 * PI * (turns - nearbyint(turns));
        re[i] = re[n - 1 - i] = k * cos(angle);
        im[i] = k * sin(angle);
        im[n - 1 - i] = -im[i];
    }
}

void fit_grid_factors(const struct fit_grid *g, size_t n, const double *u, const double *v, const struct fit_factors *f)
{
    for (size_t i = 0; i < n; i++) {
        factors(g, g->nx, u[i], f->ex_re + i * g->nx, f->ex_im + i * g->nx);
        factors(g, g->ny, v[i], f->ey_re + i * g->ny, f->ey_im + i * g->ny);
    }
}

void fit_grid_visibilities(const struct fit_grid *g, const double *image, size_t n, const double *u, const double *v,
                           double *re, double *im, double *work)
{
    size_t nx = g->nx, ny = g->ny;
    double *ex_re = work, *ex_im = ex_re + nx, *ey_re = ex_im + nx, *ey_im = ey_re + ny, *s_re = ey_im + ny,
           *s_im = s_re + nx;
    for (size_t i = 0; i < n; i++) {
        fit_grid_factors(g, 1, u + i, v + i, &(struct fit_factors){ex_re, ex_im, ey_re, ey_im});
        memset(s_re, 0, 2 * nx * sizeof *s_re);
        for (size_t r = 0; r < ny; r++)
            for (size_t c = 0; c < nx; c++) {
                s_re[c] += ey_re[r] * image[r * nx + c];
                s_im[c] += ey_im[r] * image[r * nx + c];
            }
        re[i] = im[i] = 0;
        for (size_t c = 0; c < nx; c++) {
            re[i] += ex_re[c] * s_re[c] - ex_im[c] * s_im[c];
            im[i] += ex_re[c] * s_im[c] + ex_im[c] * s_re[c];
        }
    }
}

/* ---- images ------------------------------------------------------------------------------------------ */

static double gaussian(const struct fit_grid *g, double fwhm, double x0, double y0, size_t i)
{
    double x = fit_grid_x(g, i % g->nx) - x0, y = fit_grid_y(g, i / g->nx) - y0;
    return exp(-4 * log(2) * (x * x + y * y) / (fwhm * fwhm));
}

void fit_grid_add_gaussian(const struct fit_grid *g, double flux, double fwhm, double x0, double y0, double *image)
{
    double sum = 0;
    size_t n = g->nx * g->ny;
    for (size_t i = 0; i < n; i++)
        sum += gaussian(g, fwhm, x0, y0, i);
    for (size_t i = 0; sum > 0 && i < n; i++)
        image[i] += flux * gaussian(g, fwhm, x0, y0, i) / sum;
}

void fit_grid_prior(const struct fit_grid *g, double flux, double fwhm, double *image)
{
    memset(image, 0, g->nx * g->ny * sizeof *image);
    fit_grid_add_gaussian(g, flux, fwhm, 0, 0, image);
    fit_grid_add_gaussian(g, 1e-3 * flux, fwhm, fwhm, fwhm, image);
}

size_t fit_mask(size_t n, const double *prior, double clipfloor, unsigned char *mask)
{
    size_t m = 0;
    for (size_t i = 0; i < n; i++)
        m += mask[i] = prior[i] > clipfloor;
    return m;
}

enum fit_status fit_normalise(size_t n, double *image, const unsigned char *mask, double flux, struct fit_error *err)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += !mask || mask[i] ? image[i] : 0;
    if (!(sum > 0) || !isfinite(sum))
        return fit_fail(err, FIT_ERR_NUMERIC, "an image of total flux %g Jy cannot be scaled to %g Jy", sum, flux);
    for (size_t i = 0; i < n; i++)
        image[i] *= flux / sum;
    return FIT_OK;
}

void fit_random_floor(size_t n, const unsigned char *mask, double level, double *value)
{
    struct fit_pcg64 g;
    fit_pcg64_seed(&g, 0);
    for (size_t k = 0; k < n; k++)
        value[k] = mask[k] ? 0 : level * fabs(fit_pcg64_normal(&g));
}
