/* closure_values.c -- bispectra, closure phases and closure amplitudes with their errors (closures.h). */
#include "observation/closures_impl.h"

#include <math.h>
#include <stdlib.h>

double fit_closure_amplitude(const struct fit_visibility *s, size_t row, int debias)
{
    double a = hypot(s->re[row], s->im[row]), e = s->sigma[row];
    if (!debias)
        return a;
    return a < e ? e : sqrt(a * a - e * e);
}

/* ---- triangles ---------------------------------------------------------------------------------------- */

static void bispectrum(const struct fit_visibility *s, const int32_t leg[3], double b[2], double *relative)
{
    double re = 1, im = 0, sum = 0;
    for (int k = 0; k < 3; k++) {
        size_t row = fit_leg_row(leg[k]);
        double x = s->re[row], y = leg[k] < 0 ? -s->im[row] : s->im[row], e = s->sigma[row], t = re * x - im * y;
        im = re * y + im * x;
        re = t;
        sum += e * e / (x * x + y * y);
    }
    b[0] = re;
    b[1] = im;
    *relative = sqrt(sum);
}

static void triangle(const struct fit_visibility *s, struct fit_product *p, size_t i, double *snr)
{
    double b[2], relative;
    bispectrum(s, p->leg + 3 * i, b, &relative);
    snr[i] = 1 / relative;
    if (p->kind == FIT_PRODUCT_BS) {
        p->data[i] = b[0];
        p->imag[i] = b[1];
        p->sigma[i] = hypot(b[0], b[1]) * relative;
        return;
    }
    p->data[i] = atan2(b[1], b[0]) / FIT_OBS_DEGREE;
    p->sigma[i] = relative / FIT_OBS_DEGREE;
}

/* ---- quadrangles ---------------------------------------------------------------------------------------- */

static void quadrangle(const struct fit_visibility *s, int debias, struct fit_product *p, size_t i, double *snr)
{
    double a[4], noise[4]; /* |V|, 1 / snr^2 */
    for (int k = 0; k < 4; k++) {
        size_t row = fit_leg_row(p->leg[4 * i + (size_t)k]);
        a[k] = fit_closure_amplitude(s, row, debias);
        noise[k] = s->sigma[row] / a[k] * (s->sigma[row] / a[k]);
    }
    double c = a[0] * a[1] / (a[2] * a[3]), relative = sqrt(noise[0] + noise[1] + noise[2] + noise[3]);
    snr[i] = 1 / relative;
    if (p->kind == FIT_PRODUCT_CAMP) {
        p->data[i] = debias ? c / (1 + noise[2] + noise[3]) : c;
        p->sigma[i] = c * relative;
        return;
    }
    p->data[i] = log(c) + (debias ? (noise[0] + noise[1] - noise[2] - noise[3]) / 2 : 0);
    p->sigma[i] = relative;
}

/* The reason why closure i has no value. */
static enum fit_status no_value(const struct fit_visibility *s, const struct fit_product *p, size_t i,
                                struct fit_error *err)
{
    const int32_t *leg = p->leg + i * (size_t)p->nleg;
    double largest = 0;
    for (int k = 0; k < p->nleg; k++) {
        const size_t row = fit_leg_row(leg[k]);
        const double a = hypot(s->re[row], s->im[row]);
        if (a == 0)
            return fit_fail(err, FIT_ERR_NUMERIC,
                            "closure of rows %d, %d and %d: the visibility of row %zu is 0, which has no phase and no "
                            "logarithm: give the row sigma = inf",
                            abs(leg[0]), abs(leg[1]), abs(leg[2]), row + 1);
        largest = fmax(largest, fmax(a, s->sigma[row]));
    }
    return fit_fail(
        err, FIT_ERR_NUMERIC,
        "closure of rows %d, %d and %d: value %g, sigma %g: visibilities or errors up to %g Jy, whose products "
        "are beyond the range of numbers; are they in Jy?",
        abs(leg[0]), abs(leg[1]), abs(leg[2]), p->data[i], p->sigma[i], largest);
}

enum fit_status fit_closure_values(const struct fit_visibility *s, const struct fit_product_options *o,
                                   struct fit_product *p, double *snr, struct fit_error *err)
{
    for (size_t i = 0; i < p->n; i++) {
        if (p->nleg == 3)
            triangle(s, p, i, snr);
        else
            quadrangle(s, o->debias, p, i, snr);
        if (!isfinite(p->data[i]) || !isfinite(p->sigma[i]) || !(p->sigma[i] > 0))
            return no_value(s, p, i, err);
    }
    return FIT_OK;
}
