/* standin.c -- a kernel written by hand, plain and slow: a stand-in for emitted ones in tests of
 * the program.
 *
 * Equilibrium-like diffusion without flow (He et al., PNAS 121 (2024) e2401162121, eq. 3 at zero
 * shear): c2(phi, t1, t2) = offset + contrast exp(-q^2 |S(t2) - S(t1)|),   S(t) = int_0^t D0
 * s^alpha + D_offset ds with the cumulative trapezoid on the time grid and s floored at half a
 * frame. */
#include "fit/kernel.h"

#include <math.h>

#ifndef FIT_KERNEL_SYMBOL
#define FIT_KERNEL_SYMBOL fit_kernel_standin
#define FIT_KERNEL_ISA "base"
#endif

enum { NP = 3, NL = 2, NT = NP + 1 }; /* parameters, linear ones, tables: S and its derivatives */

static size_t workspace(const struct fit_layout *l)
{
    return NT * l->nframe;
}

static enum fit_eval prepare(const struct fit_layout *l, const double *theta, int derivative,
                             double *ws)
{
    double sum[NT] = {0}, before[NT] = {0};
    size_t k = 0;
    (void)derivative;
    for (size_t n = 0; n < l->ntime; n++) {
        double s = fmax(l->time[n], l->step / 2);
        double power = pow(s, theta[1]);
        double now[NT] = {theta[0] * power + theta[2], power, theta[0] * power * log(s), 1};
        for (size_t c = 0; c < NT; c++) {
            if (n > 0)
                sum[c] += 0.5 * (now[c] + before[c]) * (l->time[n] - l->time[n - 1]);
            before[c] = now[c];
        }
        if (k < l->nframe && l->frame[k] == n) {
            for (size_t c = 0; c < NT; c++)
                ws[c * l->nframe + k] = sum[c];
            k++;
        }
        if (!isfinite(sum[0]))
            return FIT_EVAL_REJECT;
    }
    return FIT_EVAL_OK;
}

/* b = exp(-q^2 |S_j - S_i|) and its derivatives. */
static void point(const struct fit_layout *l, const double *ws, size_t i, size_t j, double *b,
                  double d[NP])
{
    double q2 = l->setting[0] * l->setting[0], sign = i < j ? 1 : -1;
    double x = sign * (ws[j] - ws[i]);
    *b = exp(-q2 * x);
    for (size_t k = 0; k < NP; k++) {
        const double *s = ws + (k + 1) * l->nframe;
        d[k] = -q2 * sign * (s[j] - s[i]) * *b;
    }
}

/* Calls visit for each lane that counts, in the order of the tile. */
typedef void visit_fn(void *user, size_t at, size_t i, size_t j, size_t g);
static void walk(const struct fit_layout *l, const struct fit_tile *t, visit_fn *visit, void *user)
{
    size_t at = 0;
    for (size_t i = t->i0; i < t->i1; i++) {
        size_t first = (t->j0 > i + 1 ? t->j0 : i + 1) / FIT_LANES;
        for (size_t b = first; b < (t->j1 + FIT_LANES - 1) / FIT_LANES; b++)
            for (size_t g = 0; g < l->ngroup; g++)
                for (size_t c = 0; c < FIT_LANES; c++, at++) {
                    size_t j = b * FIT_LANES + c;
                    if (i < j && j < t->j1)
                        visit(user, at, i, j, g);
                }
    }
}

struct sums {
    const struct fit_layout *l;
    const double *ws, *lin;
    const struct fit_tile *t;
    double *out;
};

static void add_moments(void *user, size_t at, size_t i, size_t j, size_t g)
{
    const struct sums *s = user;
    double b, d[NP], w = s->t->w ? s->t->w[at] : 1, y = s->t->y[at], *out = s->out + 6 * g;
    point(s->l, s->ws, i, j, &b, d);
    out[0] += w * b * b;
    out[1] += w * b;
    out[2] += w;
    out[3] += w * b * y;
    out[4] += w * y;
    out[5] += w * y * y;
}

static size_t scratch_size(const struct fit_layout *l)
{
    (void)l;
    return 0;
}

static void moments(const struct fit_layout *l, const double *ws, const struct fit_tile *t,
                    double *scratch, double *out)
{
    (void)scratch;
    for (size_t k = 0; k < 6 * l->ngroup; k++)
        out[k] = 0;
    walk(l, t, add_moments, &(struct sums){l, ws, 0, t, out});
}

static void add_normal(void *user, size_t at, size_t i, size_t j, size_t g)
{
    const struct sums *s = user;
    double b, d[NP], w = s->t->w ? s->t->w[at] : 1, *out = s->out;
    double c = s->lin[NL * g], r;
    point(s->l, s->ws, i, j, &b, d);
    r = s->t->y[at] - c * b - s->lin[NL * g + 1];
    for (size_t k = 0; k < NP; k++)
        for (size_t m = k; m < NP; m++)
            *out++ += w * c * d[k] * c * d[m];
    for (size_t k = 0; k < NP; k++)
        *out++ += w * c * d[k] * r;
    out += g * NL * NP;
    for (size_t k = 0; k < NP; k++) {
        out[k] += w * b * c * d[k];
        out[NP + k] += w * c * d[k];
    }
}

static void normal(const struct fit_layout *l, const double *ws, const double *lin,
                   const struct fit_tile *t, double *scratch, double *out)
{
    (void)scratch;
    for (size_t k = 0; k < NP * (NP + 1) / 2 + NP + l->ngroup * NL * NP; k++)
        out[k] = 0;
    walk(l, t, add_normal, &(struct sums){l, ws, lin, t, out});
}

static void put_model(void *user, size_t at, size_t i, size_t j, size_t g)
{
    const struct sums *s = user;
    double b, d[NP];
    point(s->l, s->ws, i, j, &b, d);
    s->out[at] = s->lin[NL * g] * b + s->lin[NL * g + 1];
}

static void model(const struct fit_layout *l, const double *ws, const double *lin,
                  const struct fit_tile *t, double *out)
{
    walk(l, t, put_model, &(struct sums){l, ws, lin, t, out});
}

static void points(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_points *list,
                   double *mean, double *jac)
{
    const uint32_t *i = list->i, *j = list->j, *g = list->g;
    const size_t n = list->n;
    for (size_t k = 0; k < n; k++) {
        double b, d[NP], c = lin[NL * g[k]];
        point(l, ws, i[k], j[k], &b, d);
        mean[k] = c * b + lin[NL * g[k] + 1];
        if (!jac)
            continue;
        for (size_t m = 0; m < NP; m++)
            jac[m * n + k] = c * d[m];
        jac[NP * n + k] = b;
        jac[(NP + 1) * n + k] = 1;
    }
}

static void curves(const struct fit_layout *l, const double *theta, double *value, double *tangent)
{
    for (size_t n = 0; n < l->ntime; n++) {
        double s = fmax(l->time[n], l->step / 2), power = pow(s, theta[1]);
        value[n] = theta[0] * power + theta[2];
        if (tangent) {
            tangent[n] = power;
            tangent[l->ntime + n] = theta[0] * power * log(s);
            tangent[2 * l->ntime + n] = 1;
        }
    }
}

static const char *const d0_alias[] = {"d0", "D_0", 0};
static const struct fit_param param[] = {
    {"D0", "angstrom^2/s", "prefactor of the diffusion coefficient", d0_alias, 1000, 100, 1e5,
     FIT_PRIOR_LOG_UNIFORM, 0, 0, -1},
    {"alpha", "1", "exponent of its growth with time", 0, 0, -2, 2, FIT_PRIOR_NORMAL, 0, 1, -1},
    {"D_offset", "angstrom^2/s", "constant part", 0, 10, -1e5, 1e5, FIT_PRIOR_NORMAL, 0, 1e3, -1},
};
static const struct fit_param linear[] = {
    {"contrast", "1", "speckle contrast", 0, 0.3, 0, 1, FIT_PRIOR_NONE, 0, 0, 0},
    {"offset", "1", "baseline", 0, 1, 0.5, 1.5, FIT_PRIOR_NONE, 0, 0, 0},
};
static const struct fit_setting setting[] = {{"q", "1/angstrom", "wavevector", NAN, FIT_STATISTIC_NONE, 0},
                                             {"dt", "s", "frame period", NAN, FIT_STATISTIC_NONE, 0}};
static const struct fit_axis axis[] = {{"phi", "deg", "azimuth"}};
static const struct fit_curve curve[] = {{"D", "angstrom^2/s", "diffusion coefficient"}};
static const double screen[] = {300, 0, 0, 3000, -0.3, 100, 10000, 0.2, 0};

extern const struct fit_kernel FIT_KERNEL_SYMBOL;
const struct fit_kernel FIT_KERNEL_SYMBOL = {
    .abi = FIT_KERNEL_ABI,
    .name = "standin",
    .variant = "fast",
    .title = "Anomalous diffusion without flow (written by hand)",
    .formula = "c2 = offset + contrast exp(-q^2 int D)",
    .reference = "He et al., PNAS 121 (2024) e2401162121",
    .source = "standin.c",
    .hash = "0000000000000000000000000000000000000000000000000000000000000000",
    .isa = FIT_KERNEL_ISA,
    .space = FIT_PAIRS,
    .nparam = NP,
    .param = param,
    .nlinear = NL,
    .linear = linear,
    .intercept = 1,
    .nsetting = 2,
    .setting = setting,
    .naxis = 1,
    .axis = axis,
    .ncurve = 1,
    .curve = curve,
    .nscreen = 3,
    .screen = screen,
    .cost = {20, 30, 20, 10, 1},
    .table_doubles = NT,
    .workspace = workspace,
    .scratch = scratch_size,
    .prepare = prepare,
    .moments = moments,
    .normal = normal,
    .model = model,
    .points = points,
    .curves = curves,
};
