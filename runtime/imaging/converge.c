/* converge.c -- see converge.h. */
#include "imaging/converge.h"

#include <math.h>
#include <string.h>

#include "imaging/planes.h"

/* ---- blurring ----------------------------------------------------------------------------------- */

/* n numbers, `step` apart. */
static void convolve(size_t n, size_t step, size_t reach, const double *kernel, const double *in, double *out)
{
    for (size_t k = 0; k < n; k++) {
        const size_t from = k < reach ? 0 : k - reach, to = k + reach < n ? k + reach : n - 1;
        double sum = 0;
        for (size_t j = from; j <= to; j++)
            sum += kernel[j < k ? k - j : j - k] * in[j * step];
        out[k * step] = sum;
    }
}

enum fit_status fit_imaging_blur(size_t ny, size_t nx, double sigma, double *image, struct fit_error *err)
{
    const size_t reach = (size_t)ceil(5 * sigma);
    FIT_SCRATCH(a);
    double *kernel = fit_take(&a, reach + 1, sizeof *kernel), *rows = fit_take(&a, nx * ny, sizeof *rows), sum = 0;
    if (!(sigma > 0))
        return FIT_OK;
    if (a.failed)
        return fit_no_memory(err, "blurring");
    for (size_t k = 0; k <= reach; k++) {
        kernel[k] = exp(-0.5 * pow((double)k / sigma, 2));
        sum += (k ? 2 : 1) * kernel[k];
    }
    for (size_t k = 0; k <= reach; k++)
        kernel[k] /= sum;
    for (size_t r = 0; r < ny; r++)
        convolve(nx, 1, reach, kernel, image + r * nx, rows + r * nx);
    for (size_t c = 0; c < nx; c++)
        convolve(ny, nx, reach, kernel, rows + c, image + c);
    return FIT_OK;
}

/* ---- the next round ----------------------------------------------------------------------------- */

/* Blurs the planes as images; maps of the spectrum, which are not intensities, stay as they are. */
static enum fit_status take(struct fit_imaging_run *r, double sigma, struct fit_sky *sky, struct fit_error *err)
{
    struct fit_imaging_output output[FIT_IMAGING_OUTPUTS];
    const struct fit_imaging *q = r->q;
    const size_t n = fit_imaging_outputs(q, output);
    enum fit_status s = FIT_OK;
    for (size_t k = 0; s == FIT_OK && k < n; k++) {
        const enum fit_stokes stokes = (enum fit_stokes)output[k].stokes;
        if (output[k].stokes < 0) {
            const int is_alpha = strcmp(output[k].name, "alpha") == 0;
            memcpy(q->first[is_alpha ? FIT_FREE_ALPHA : FIT_FREE_BETA], output[k].values, q->n * sizeof(double));
            continue;
        }
        if (!fit_image_add_stokes(sky, stokes))
            return fit_no_memory(err, "fit");
        if (k == 0)
            fit_imaging_image(q, r->full, sky->stokes[stokes]);
        else
            memcpy(sky->stokes[stokes], output[k].values, q->n * sizeof(double));
        s = fit_imaging_blur(q->grid.ny, q->grid.nx, sigma, sky->stokes[stokes], err);
    }
    return s;
}

enum fit_status fit_imaging_again(struct fit_imaging_run *r, double fwhm, struct fit_error *err)
{
    struct fit_imaging *q = r->q;
    const double sigma = fwhm / sqrt(8 * log(2)) / q->grid.pixel;
    struct fit_sky *sky = fit_image_new(q->grid.nx, q->grid.ny);
    if (!sky)
        return fit_no_memory(err, "fit");
    sky->pixel = q->grid.pixel;
    enum fit_status s = take(r, sigma, sky, err);
    if (s != FIT_OK) {
        fit_image_free(sky);
        return s;
    }
    sky->frequency = q->image ? q->image->frequency : NAN;
    fit_image_free(q->image);
    q->image = sky;
    memcpy(q->start, sky->stokes[FIT_STOKES_I], q->n * sizeof *q->start);
    if (!q->options->no_norm_init)
        s = fit_normalise(q->n, q->start, q->mask, q->flux, err);
    fit_arena_free(&r->arena);
    *r = (struct fit_imaging_run){.q = q, .interrupt = r->interrupt};
    return s == FIT_OK ? fit_imaging_begin(r, err) : s;
}
