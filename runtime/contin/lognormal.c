/* lognormal.c -- intervals of modes of unknown shape.
 *
 * The prior of CONTIN considers likely what is smooth on the scale of its grid. A narrower mode comes out too wide,
 * mostly towards small rates, where additional weight costs the data less: its mean is too low by more than the
 * draws about the smooth solution show. The data are therefore fitted once more, with each mode a log-normal of free
 * mean m, variance v of ln u and amount a,
 *     h(t) = sum_k a_k int N(l; m_k, v_k) exp(-s t e^l) dl + rest(t),      y = b + A h^p,
 * the integral by nine-point Gauss-Hermite quadrature, by Levenberg-Marquardt steps: once with the rest of the
 * solution as it is, including light modes and those at an end of the grid, and once without it. Where that
 * describes the data as well as the smooth distribution does, intervals of means, weights and widths include all
 * results. */
#include "contin/contin_impl.h"
#include "math/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 9, TURNS = 200, MOST_MODES = 8 };
static const double LIGHT = 0.03;                     /* fraction of the whole: a lighter mode is left as it is */
static const double NARROWEST = 0.02, WIDEST = 2;     /* standard deviation of ln u */
static const double QUANTILE = 1.959963984540054;     /* of a normal distribution: 95 % */

/* Nodes and weights for a normal distribution (Abramowitz & Stegun 25.4.46). */
static const double node[NODES] = {-4.512745863399783, -3.20542900285647,  -2.07684797867783,
                                   -1.0232556637891326, 0,                  1.0232556637891326,
                                   2.07684797867783,   3.20542900285647,   4.512745863399783};
static const double part[NODES] = {2.2345844007746607e-05, 0.0027891413212317692, 0.04991640676521782,
                                   0.24409750289493953,    0.40634920634920635,   0.24409750289493953,
                                   0.04991640676521782,    0.0027891413212317692, 2.2345844007746607e-05};

struct shapes {
    const struct contin_work *w;
    size_t nmode, n;           /* n numbers: m, v, a of each mode, then baselines, then amplitudes */
    size_t mode[MOST_MODES];   /* which of the result */
    double *rest;              /* nvalue */
    double *now, *next, *pull; /* n */
    double *row;               /* n: slopes of one value */
    double *H, *l;             /* n x n */
    double amount;             /* of the rest */
};

/* h of curve c at the delay t and its derivatives with respect to m, v, a of all modes. */
static double response(const struct shapes *s, const double *at, double ct, double *slope)
{
    double h = 0;
    for (size_t k = 0; k < s->nmode; k++) {
        const double *mode = at + 3 * k, sd = sqrt(mode[1]);
        double sum = 0, dm = 0, ds = 0;
        for (size_t j = 0; j < NODES; j++) {
            const double q = ct * exp(mode[0] + sd * node[j]), e = part[j] * exp(-q);
            sum += e;
            dm -= e * q;
            ds -= e * q * node[j];
        }
        slope[3 * k] = mode[2] * dm;
        slope[3 * k + 1] = mode[2] * ds / (2 * sd);
        slope[3 * k + 2] = sum;
        h += mode[2] * sum;
    }
    return h;
}

/* The weighted residual of one value; its derivatives in s->row. */
static double residual(struct shapes *s, const double *at, size_t i, double delay)
{
    const struct contin_work *w = s->w;
    const struct contin_problem *p = w->p;
    const size_t c = w->of[i], nb = p->free_baseline ? p->ncurve : 0, behind = 3 * s->nmode;
    memset(s->row, 0, s->n * sizeof *s->row);
    const double h = response(s, at, p->curve[c].scale * delay, s->row) + s->rest[i];
    const double A = c ? at[behind + nb + c - 1] : 1, b = nb ? at[behind + c] : 0;
    const double hp = p->power == 2 ? h * h : h, slope = (p->power == 2 ? 2 * h : 1) * A;
    for (size_t k = 0; k < behind; k++)
        s->row[k] *= slope * w->w[i];
    if (nb)
        s->row[behind + c] = w->w[i];
    if (c)
        s->row[behind + nb + c - 1] = hp * w->w[i];
    return (w->y[i] - b - A * hp) * w->w[i];
}

/* Sum of squares; with_slopes: H = J^T J and pull = J^T r, too. */
static double squares(struct shapes *s, const double *at, int with_slopes)
{
    double sum = 0;
    size_t i = 0;
    if (with_slopes) {
        memset(s->H, 0, s->n * s->n * sizeof *s->H);
        memset(s->pull, 0, s->n * sizeof *s->pull);
    }
    for (size_t c = 0; c < s->w->p->ncurve; c++)
        for (size_t k = 0; k < s->w->p->curve[c].n; k++, i++) {
            const double r = residual(s, at, i, s->w->p->curve[c].delay[k]);
            sum += r * r;
            for (size_t a = 0; with_slopes && a < s->n; a++) {
                s->pull[a] += s->row[a] * r;
                for (size_t b = 0; b <= a; b++)
                    s->H[a * s->n + b] += s->row[a] * s->row[b];
            }
        }
    return sum;
}

/* next <- now + a step with this damping, within the permitted ranges; 0: there is none. */
static int damped(struct shapes *s, double damping)
{
    const double *u = s->w->p->u, low = log(u[0]), high = log(u[s->w->p->n - 1]);
    memcpy(s->l, s->H, s->n * s->n * sizeof *s->l);
    memcpy(s->next, s->pull, s->n * sizeof *s->next);
    for (size_t a = 0; a < s->n; a++)
        s->l[a * s->n + a] += damping * (s->H[a * s->n + a] > 0 ? s->H[a * s->n + a] : 1);
    if (fit_cholesky(s->n, s->l, 1e-14) != 0)
        return 0;
    fit_cholesky_solve(s->n, s->l, s->next);
    for (size_t a = 0; a < s->n; a++)
        s->next[a] += s->now[a];
    for (size_t k = 0; k < s->nmode; k++) {
        double *mode = s->next + 3 * k;
        mode[0] = fmin(fmax(mode[0], low), high);
        mode[1] = fmin(fmax(mode[1], NARROWEST * NARROWEST), WIDEST * WIDEST);
        mode[2] = fmax(mode[2], 0.1 * s->now[3 * k + 2]);
    }
    return 1;
}

/* Minimises the sum of squares from s->now; H is that of the minimum. */
static double descend(struct shapes *s)
{
    double value = squares(s, s->now, 1), damping = 1e-3;
    for (size_t turn = 0; turn < TURNS && damping < 1e10; turn++) {
        const double next = damped(s, damping) ? squares(s, s->next, 0) : INFINITY;
        if (!(next < value)) {
            damping *= 8;
            continue;
        }
        const double gain = value - next;
        memcpy(s->now, s->next, s->n * sizeof *s->now);
        value = squares(s, s->now, 1);
        damping = fmax(damping / 8, 1e-12);
        if (gain < 1e-6)
            break;
    }
    return value;
}

/* Modes that are not light, and their starting values. */
static void begin(struct shapes *s, const struct contin_result *r)
{
    const struct contin_problem *p = s->w->p;
    double all = 0;
    for (size_t k = 0; k < p->n; k++)
        all += r->x[k];
    s->amount = all;
    s->nmode = 0;
    for (size_t k = 0; k < r->npeak && s->nmode < MOST_MODES; k++)
        if (!r->peak[k].at_edge && r->peak[k].weight[0] >= LIGHT)
            s->mode[s->nmode++] = k;
    for (size_t k = 0; k < s->nmode; k++) {
        const struct contin_peak *peak = &r->peak[s->mode[k]];
        double *at = s->now + 3 * k;
        at[0] = log(peak->mean[0]);
        at[1] = fmin(fmax(peak->width[0], NARROWEST), WIDEST);
        at[1] *= at[1];
        at[2] = peak->weight[0] * all;
        s->amount -= at[2];
    }
    s->n = 3 * s->nmode + s->w->nfree;
    for (size_t c = 0; c < p->ncurve; c++) {
        const size_t nb = p->free_baseline ? p->ncurve : 0;
        if (nb)
            s->now[3 * s->nmode + c] = s->w->now.b[c];
        if (c)
            s->now[3 * s->nmode + nb + c - 1] = s->w->now.A[c];
    }
}

static void fill_rest(struct shapes *s, const struct contin_result *r)
{
    const size_t N = s->w->nvalue;
    for (size_t j = 0; j < r->n; j++) {
        int inside = 0;
        for (size_t k = 0; k < s->nmode; k++)
            inside |= j >= r->peak[s->mode[k]].first && j <= r->peak[s->mode[k]].last;
        for (size_t i = 0; !inside && r->x[j] > 0 && i < N; i++)
            s->rest[i] += s->w->kernel[j * N + i] * r->x[j];
    }
}

static void widen(double number[3], double centre, double sd, double low, double high)
{
    number[1] = fmax(fmin(number[1], centre - QUANTILE * sd), low);
    number[2] = fmin(fmax(number[2], centre + QUANTILE * sd), high);
}

/* The covariance is H^-1 / lambda; that of a weight follows by its derivatives. */
static void widen_modes(struct shapes *s, struct contin_result *r)
{
    const size_t n = s->n;
    double *S = s->H, all = s->amount, *g = s->pull;
    for (size_t k = 0; k < s->nmode; k++)
        all += s->now[3 * k + 2];
    memcpy(s->l, s->H, n * n * sizeof *s->l);
    if (fit_cholesky(n, s->l, 1e-14) != 0)
        return;
    fit_cholesky_inverse(n, s->l, S);
    for (size_t k = 0; k < s->nmode; k++) {
        struct contin_peak *peak = &r->peak[s->mode[k]];
        const double weight = s->now[3 * k + 2] / all;
        double mean[3], variance = 0;
        for (size_t e = 0; e < 3; e++)
            mean[e] = log(peak->mean[e]);
        widen(mean, s->now[3 * k], sqrt(S[3 * k * n + 3 * k] / s->w->lambda), -INFINITY, INFINITY);
        peak->mean[1] = exp(mean[1]);
        peak->mean[2] = exp(mean[2]);
        const double v = s->now[3 * k + 1], spread = QUANTILE * sqrt(S[(3 * k + 1) * n + 3 * k + 1] / s->w->lambda);
        peak->width[1] = fmin(peak->width[1], sqrt(fmax(v - spread, 0)));
        peak->width[2] = fmax(peak->width[2], sqrt(v + spread));
        for (size_t j = 0; j < s->nmode; j++)
            g[j] = ((j == k) - weight) / all;
        for (size_t i = 0; i < s->nmode; i++)
            for (size_t j = 0; j < s->nmode; j++)
                variance += g[i] * g[j] * S[(3 * i + 2) * n + 3 * j + 2];
        widen(peak->weight, weight, sqrt(variance / s->w->lambda), 0, 1);
    }
}

enum fit_status contin_lognormal(const struct contin_work *w, struct contin_result *r, struct fit_error *err)
{
    const size_t most = 3 * MOST_MODES + w->nfree;
    double *room = calloc(w->nvalue + 4 * most + 2 * most * most, sizeof *room);
    if (!room)
        return fit_no_memory(err, "the errors of modes");
    struct shapes s = {.w = w, .rest = room, .now = room + w->nvalue};
    s.next = s.now + most;
    s.pull = s.next + most;
    s.row = s.pull + most;
    s.H = s.row + most;
    s.l = s.H + most * most;
    const struct contin_result found = *r; /* as it was */
    for (int has_rest = 1; has_rest >= 0; has_rest--) {
        begin(&s, &found);
        memset(s.rest, 0, w->nvalue * sizeof *s.rest);
        if (has_rest)
            fill_rest(&s, r);
        else
            s.amount = 0;
        /* As good: allows for what a distribution gains by its greater freedom. */
        if (s.nmode && w->lambda * descend(&s) <= r->chi2 + r->determined + 4)
            widen_modes(&s, r);
    }
    free(room);
    return FIT_OK;
}
