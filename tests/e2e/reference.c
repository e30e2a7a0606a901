/* reference.c -- see reference.h. */
#include "reference.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const long double PI = 3.14159265358979323846264338327950288L;
static const long double FLOOR = 1e-10; /* as written in the model files, in double */

/* F[0..3] <- sums of a ts^b + c and of its derivatives by a, b, c. */
static void integrate(const struct fit_layout *l, const double *abc, long double *F)
{
    size_t n = l->ntime;
    long double last[4] = {0}, now[4];
    for (size_t k = 0; k < n; k++) {
        long double t = l->time[k], half = (long double)l->step / 2, ts = t > half ? t : half;
        long double power = powl(ts, abc[1]), rate = abc[0] * power + abc[2];
        int on = rate > FLOOR;
        now[0] = on ? rate : FLOOR;
        now[1] = on ? power : 0;
        now[2] = on ? abc[0] * power * logl(ts) : 0;
        now[3] = on ? 1 : 0;
        for (size_t m = 0; m < 4; m++) {
            long double step = k ? (long double)l->time[k] - l->time[k - 1] : 0;
            F[m * n + k] = (k ? F[m * n + k - 1] : 0) + step * (last[m] + now[m]) / 2;
            last[m] = now[m];
        }
    }
}

static double setting(const struct fit_kernel *k, const struct fit_layout *l, const char *name)
{
    for (size_t s = 0; s < k->nsetting; s++)
        if (strcmp(k->setting[s].name, name) == 0)
            return l->setting[s];
    return 0;
}

struct reference reference_new(const struct fit_kernel *k, const struct fit_layout *l, const double *theta)
{
    struct reference r = {.layout = l, .nparam = k->nparam};
    long double q = setting(k, l, "q"), gap = setting(k, l, "gap");
    if (strcmp(k->name, "laminar") == 0)
        r.sinc_power = 4, r.factor = q * gap / (2 * PI);
    else if (strcmp(k->name, "laminar_theory") == 0)
        r.sinc_power = 2, r.factor = q * gap / 2;
    else if (strncmp(k->name, "static_", 7) != 0)
        fail_msg("no reference for the model %s", k->name);
    r.q2 = q * q;
    r.F = calloc(8 * l->ntime, sizeof *r.F);
    assert_non_null(r.F);
    integrate(l, theta, r.F);
    if (r.sinc_power) {
        integrate(l, theta + 3, r.F + 4 * l->ntime);
        r.phi0 = theta[6];
    }
    return r;
}

void reference_free(struct reference *r)
{
    free(r->F);
    r->F = NULL;
}

/* sin x / x and its derivative. */
static void sinc(long double x, long double *s, long double *ds)
{
    long double z = x * x;
    if (z < 0.01L) { /* next terms: x^14 / 15! and x^13 / 14! / 15 */
        *s = 1 - z / 6 * (1 - z / 20 * (1 - z / 42 * (1 - z / 72 * (1 - z / 110 * (1 - z / 156)))));
        *ds = -x / 3 * (1 - z / 10 * (1 - z / 28 * (1 - z / 54 * (1 - z / 88 * (1 - z / 130)))));
        return;
    }
    *s = sinl(x) / x;
    *ds = (cosl(x) - *s) / x;
}

long double reference_g(const struct reference *r, size_t i, size_t j, size_t p, long double *dg)
{
    const struct fit_layout *l = r->layout;
    size_t n = l->ntime, a = l->frame[i], b = l->frame[j];
    long double d[8], g, shear = 1, slope = 0, s = 0, ds_dphi0 = 0;
    for (size_t m = 0; m < 8; m++)
        d[m] = r->F[m * n + b] - r->F[m * n + a];
    if (r->sinc_power) {
        long double angle = (r->phi0 - l->coord[0][p]) * PI / 180, value, derivative;
        s = r->factor * cosl(angle);
        ds_dphi0 = -r->factor * sinl(angle) * PI / 180;
        sinc(s * d[4], &value, &derivative);
        shear = powl(value, r->sinc_power);
        slope = r->sinc_power * powl(value, r->sinc_power - 1) * derivative;
    }
    long double decay = expl(-r->q2 * d[0]);
    g = decay * shear;
    if (dg) {
        for (size_t m = 0; m < 3; m++) {
            dg[m] = -r->q2 * d[1 + m] * g;
            dg[3 + m] = decay * slope * s * d[5 + m];
        }
        dg[6] = decay * slope * d[4] * ds_dphi0;
    }
    return g;
}

double reference_argument_error(const struct reference *r)
{
    size_t last = r->layout->ntime - 1;
    long double D = r->q2 * r->F[last], G = r->factor * r->F[4 * r->layout->ntime + last];
    return DBL_EPSILON * (double)(D > G ? D : G);
}
