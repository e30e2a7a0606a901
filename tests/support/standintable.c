/* standintable.c -- a table kernel written by hand: a stand-in for emitted ones in tests of the
 * program.
 *
 *     y = amplitude exp(-x / tau) + background          columns x, y, sigma; amplitude and
 * background linear */
#include "fit/kernel.h"

#include <math.h>

#ifndef FIT_KERNEL_SYMBOL
#define FIT_KERNEL_SYMBOL fit_kernel_standintable
#define FIT_KERNEL_ISA "base"
#endif

static size_t workspace(const struct fit_layout *l)
{
    (void)l;
    return 8;
}

static enum fit_eval prepare(const struct fit_layout *l, const double *theta, int derivative,
                             double *ws)
{
    (void)l;
    (void)derivative;
    ws[0] = theta[0];
    return theta[0] > 0 ? FIT_EVAL_OK : FIT_EVAL_REJECT;
}

static void point(const struct fit_layout *l, const double *ws, size_t row, double *b, double *d)
{
    double x = l->column[0][row];
    *b = exp(-x / ws[0]);
    *d = *b * x / (ws[0] * ws[0]);
}

static size_t first_row(const struct fit_tile *t)
{
    return t->i0 / FIT_LANES * FIT_LANES;
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
    for (size_t k = 0; k < 6; k++)
        out[k] = 0;
    for (size_t row = t->i0; row < t->i1; row++) {
        size_t at = row - first_row(t);
        double b, d, w = t->w ? t->w[at] : 1, y = t->y[at];
        point(l, ws, row, &b, &d);
        out[0] += w * b * b;
        out[1] += w * b;
        out[2] += w;
        out[3] += w * b * y;
        out[4] += w * y;
        out[5] += w * y * y;
    }
}

static void normal(const struct fit_layout *l, const double *ws, const double *lin,
                   const struct fit_tile *t, double *scratch, double *out)
{
    (void)scratch;
    for (size_t k = 0; k < 4; k++)
        out[k] = 0;
    for (size_t row = t->i0; row < t->i1; row++) {
        size_t at = row - first_row(t);
        double b, d, w = t->w ? t->w[at] : 1;
        point(l, ws, row, &b, &d);
        double m = lin[0] * d, r = t->y[at] - lin[0] * b - lin[1];
        out[0] += w * m * m;
        out[1] += w * m * r;
        out[2] += w * b * m;
        out[3] += w * m;
    }
}

static void model(const struct fit_layout *l, const double *ws, const double *lin,
                  const struct fit_tile *t, double *out)
{
    for (size_t row = t->i0; row < t->i1; row++) {
        double b, d;
        point(l, ws, row, &b, &d);
        out[row - first_row(t)] = lin[0] * b + lin[1];
    }
}

static void points(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_points *list,
                   double *mean, double *jac)
{
    const size_t n = list->n;
    for (size_t k = 0; k < n; k++) {
        double b, d;
        point(l, ws, list->i[k], &b, &d);
        mean[k] = lin[0] * b + lin[1];
        if (jac) {
            jac[k] = lin[0] * d;
            jac[n + k] = b;
            jac[2 * n + k] = 1;
        }
    }
}

static const struct fit_param param[] = {
    {"tau", "s", "decay time", 0, 1, 1e-3, 1e3, FIT_PRIOR_LOG_UNIFORM, 0, 0, -1}};
static const struct fit_param linear[] = {
    {"amplitude", "1", "value at 0", 0, 1, -1e6, 1e6, FIT_PRIOR_NONE, 0, 0, -1},
    {"background", "1", "value at infinity", 0, 0, -1e6, 1e6, FIT_PRIOR_NONE, 0, 0, -1}};
static const struct fit_column column[] = {
    {"x", "s", "time", FIT_ROLE_COVARIATE, 0, 0},
    {"y", "1", "signal", FIT_ROLE_VALUE, 0, 0},
    {"sigma", "1", "its standard deviation", FIT_ROLE_SIGMA, 0, 0}};
static const double screen[] = {0.1, 1, 10};

extern const struct fit_kernel FIT_KERNEL_SYMBOL;
const struct fit_kernel FIT_KERNEL_SYMBOL = {
    .abi = FIT_KERNEL_ABI,
    .name = "standintable",
    .variant = "fast",
    .title = "Exponential decay (written by hand)",
    .formula = "y = amplitude exp(-x / tau) + background",
    .reference = "textbook",
    .source = "standintable.c",
    .hash = "1111111111111111111111111111111111111111111111111111111111111111",
    .isa = FIT_KERNEL_ISA,
    .space = FIT_ROWS,
    .nparam = 1,
    .param = param,
    .nlinear = 2,
    .linear = linear,
    .intercept = 1,
    .ncolumn = 3,
    .column = column,
    .nscreen = 3,
    .screen = screen,
    .cost = {0, 10, 10, 5, 1},
    .table_doubles = 1,
    .workspace = workspace,
    .scratch = scratch_size,
    .prepare = prepare,
    .moments = moments,
    .normal = normal,
    .model = model,
    .points = points,
};
