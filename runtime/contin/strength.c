/* strength.c -- the smoothing strength: the evidence of the positive points, and the L-curve.
 *
 * Evidence (MacKay, Neural Computation 4, 415 (1992)): where the bounds hold the points of a set, and the others, P,
 * are free, the strength of greatest marginal likelihood has alpha |L x|^2 = gamma, the number of directions that
 * the data determine, gamma = |P| - alpha trace((H + alpha L^T L)_P^-1 (L^T L)_P). The draws start there and treat
 * the bounds exactly (draw.c).
 *
 * L-curve (Hansen, SIAM Review 34, 561 (1992)): log |L x| versus log misfit has a corner between strengths that cost
 * misfit and strengths that cost roughness. With x >= 0 the curve ends where smoothing no longer matters, and its
 * curvature there is rounding noise; the corner is therefore the point farthest from the line between the ends. */
#include "contin/contin_impl.h"
#include "math/linalg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 60 };

/* H = lambda B^T B and G = alpha L^T L, of all points. */
static double data_part(const struct contin_work *w, size_t i, size_t j)
{
    const size_t f = w->nfree, rows = w->rows;
    const size_t below = rows > f ? rows - f : 0;
    return w->lambda * fit_dot(below, w->tri + (f + i) * rows + f, w->tri + (f + j) * rows + f);
}

/* L^T L has the rows 1 -4 6 -4 1. */
static double smooth_part(const struct contin_work *w, size_t i, size_t j)
{
    static const double band[] = {6, -4, 1};
    const size_t d = i > j ? i - j : j - i;
    return d < 3 ? w->alpha * band[d] : 0;
}

enum fit_status contin_inverse(const struct contin_work *w, int all, double *S, double *trace, double *work,
                               struct fit_error *err)
{
    const size_t n = w->p->n;
    size_t m = 0;
    double *l = work;
    for (size_t j = 0; j < n; j++)
        if (all || w->now.x[j] > 0)
            w->index[m++] = j;
    for (size_t r = 0; r < m; r++)
        for (size_t c = 0; c <= r; c++)
            l[r * m + c] = data_part(w, w->index[r], w->index[c]) + smooth_part(w, w->index[r], w->index[c]);
    if (fit_cholesky(m, l, 1e-16) != 0)
        return fit_fail(err, FIT_ERR_NUMERIC, "the smoothing %.3g is too weak for these data: no errors can be given",
                        w->alpha);
    double *inverse = S; /* m x m, then spread from behind */
    fit_cholesky_inverse(m, l, inverse);
    if (trace) {
        *trace = (double)m;
        for (size_t r = 0; r < m; r++)
            for (size_t c = 0; c < m; c++)
                *trace -= inverse[r * m + c] * smooth_part(w, w->index[r], w->index[c]);
    }
    memcpy(l, inverse, m * m * sizeof *l);
    memset(S, 0, n * n * sizeof *S);
    for (size_t r = 0; r < m; r++)
        for (size_t c = 0; c < m; c++)
            S[w->index[r] * n + w->index[c]] = l[r * m + c];
    return FIT_OK;
}

/* The strength at which the prior is as stiff as the data on average. */
static double balance(const struct contin_work *w)
{
    double sum = 0;
    for (size_t j = 0; j < w->p->n; j++)
        sum += data_part(w, j, j);
    return sum / (6.0 * (double)w->p->n);
}

static double variance(struct contin_work *w, double determined)
{
    const double left = (double)w->nvalue - (double)w->nfree - determined;
    return contin_misfit(w, &w->now) / fmax(left, 1);
}

static int has_errors(const struct contin_work *w)
{
    return w->p->curve[0].sigma != NULL;
}

/* Iterates the strength until it changes by less than one per cent. */
enum fit_status contin_first_strength(struct contin_work *w, struct fit_error *err)
{
    const size_t n = w->p->n;
    double *S = calloc(2 * n * n, sizeof *S);
    enum fit_status st = S ? FIT_OK : fit_no_memory(err, "the distribution");
    if (st == FIT_OK && !has_errors(w)) { /* errors of a hundredth of the data to begin with */
        double sum = 0;
        for (size_t i = 0; i < w->nvalue; i++)
            sum += w->y[i] * w->y[i];
        w->lambda = sum > 0 ? 1e4 * (double)w->nvalue / sum : 1;
    }
    const int fixed = w->p->smoothing == CONTIN_FIXED;
    for (size_t turn = 0; st == FIT_OK && turn < TURNS; turn++) {
        double gamma = 0;
        if (turn == 0 && !fixed && (st = contin_minimum(w, err)) == FIT_OK)
            w->alpha = 1e-4 * balance(w);
        if (st == FIT_OK && (st = contin_minimum(w, err)) == FIT_OK)
            st = contin_inverse(w, 0, S, &gamma, S + n * n, err);
        const double rough = contin_roughness(n, w->now.x), before = w->alpha, noise = w->lambda;
        if (st != FIT_OK || !(rough > 0))
            break;
        if (!fixed)
            w->alpha = fmax(gamma, 1) / rough;
        if (!has_errors(w))
            w->lambda = 1 / variance(w, gamma);
        if (!isfinite(w->alpha) || !isfinite(w->lambda))
            st = fit_fail(err, FIT_ERR_NUMERIC, "no finite smoothing: the data leave no residual");
        if (fabs(log(w->alpha / before)) + fabs(log(w->lambda / noise)) < 0.01)
            break;
    }
    free(S);
    return st;
}

/* The point farthest below the line from the first to the last point that still moves. */
static size_t corner(size_t n, double (*point)[2])
{
    static const double MOVES = 0.01;
    size_t last = n - 1, best = n / 2;
    while (last > 1 && fabs(point[last][0] - point[last - 1][0]) + fabs(point[last][1] - point[last - 1][1]) < MOVES)
        last--;
    const double u = point[last][0] - point[0][0], v = point[last][1] - point[0][1];
    double most = 0;
    for (size_t k = 1; k < last; k++) {
        const double far = v * (point[0][0] - point[k][0]) - u * (point[0][1] - point[k][1]);
        if (far > most) {
            most = far;
            best = k;
        }
    }
    return best;
}

/* Strengths over sixteen decades, from the strongest, each started at the solution of the one before. */
enum fit_status contin_lcurve(struct contin_work *w, struct contin_result *r, struct fit_error *err)
{
    enum { N = CONTIN_LCURVE_POINTS };
    double point[N][2];
    w->alpha = 1;
    enum fit_status st = contin_minimum(w, err);
    const double top = 1e2 * balance(w);
    for (size_t k = 0; k < N && st == FIT_OK; k++) {
        w->alpha = top * pow(10, -0.5 * (double)k);
        if ((st = contin_minimum(w, err)) != FIT_OK)
            break;
        r->lcurve[k][0] = w->alpha;
        r->lcurve[k][1] = w->lambda * contin_misfit(w, &w->now);
        r->lcurve[k][2] = contin_roughness(w->p->n, w->now.x);
        point[k][0] = 0.5 * log(fmax(r->lcurve[k][1], 1e-300));
        point[k][1] = 0.5 * log(fmax(r->lcurve[k][2], 1e-300));
    }
    r->nlcurve = st == FIT_OK ? N : 0;
    if (st != FIT_OK)
        return st;
    w->alpha = r->lcurve[corner(N, point)][0];
    return contin_minimum(w, err);
}
