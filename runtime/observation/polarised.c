/* polarised.c -- rows of linear polarisation: visibilities of Q + iU, and their ratios to those of I (closures.h). */
#include "observation/closures_impl.h"

#include <math.h>

/* Row j of 2 n: row j of the observation, or row j - n in the other direction; 1: it was measured. */
static int one_row(const struct fit_obs *obs, const struct fit_product_options *o, struct fit_product *p, size_t j)
{
    const struct fit_visibility *s = obs->stokes, *q = &s[FIT_STOKES_Q], *u = &s[FIT_STOKES_U];
    const size_t i = j % obs->n;
    const double way = j < obs->n ? 1 : -1, e = hypot(q->sigma[i], u->sigma[i]);
    p->leg[j] = (int32_t)way * ((int32_t)i + 1);
    p->data[j] = q->re[i] - way * u->im[i];
    p->imag[j] = way * q->im[i] + u->re[i];
    p->sigma[j] = e;
    if (p->kind == FIT_PRODUCT_M) {
        const double re = s->re[i], im = way * s->im[i], square = re * re + im * im, a = p->data[j], b = p->imag[j];
        p->data[j] = (a * re + b * im) / square;
        p->imag[j] = (b * re - a * im) / square;
        p->sigma[j] = hypot(e, s->sigma[i] * hypot(p->data[j], p->imag[j])) / sqrt(square);
    }
    return isfinite(p->sigma[j]) && isfinite(p->data[j]) && isfinite(p->imag[j]) &&
           !(hypot(p->data[j], p->imag[j]) / p->sigma[j] < o->snrcut);
}

enum fit_status fit_polarised_make(const struct fit_obs *obs, const struct fit_product_options *o,
                                   struct fit_product *p, struct fit_error *err)
{
    FIT_SCRATCH(a);
    unsigned char *keep = fit_take(&a, 2 * obs->n, 1);
    p->n = 2 * obs->n;
    p->leg = fit_take(&p->arena, p->n, sizeof *p->leg);
    const enum fit_status st = fit_product_take(p, err);
    if (st != FIT_OK || !keep)
        return fit_no_memory(err, fit_product_name(p->kind));
    for (size_t j = 0; j < p->n; j++)
        keep[j] = (unsigned char)one_row(obs, o, p, j);
    fit_product_keep(p, keep);
    return FIT_OK;
}
