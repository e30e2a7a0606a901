/* psis.c -- Pareto-smoothed importance sampling.
 *
 * The largest weights are replaced by the expected order statistics of a generalised Pareto
 * distribution that is fitted to them (Vehtari et al. 2024, algorithm 1).  The fit is the empirical
 * Bayes estimate of Zhang & Stephens (2009) with a prior of ten observations at k = 1/2. */
#include "sampler/psis.h"

#include "math/special.h"

#include <float.h>
#include <math.h>

size_t fit_psis_tail(size_t n)
{
    return (size_t)ceil(fmin(0.2 * (double)n, 3 * sqrt((double)n)));
}

double fit_psis_threshold(size_t n)
{
    return n > 1 ? fmin(1 - 1 / log10((double)n), 0.7) : -INFINITY;
}

/* ---- generalised Pareto ---------------------------------------------------------------------- */

static double mean_log1p(size_t n, const double *x, double theta)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += log1p(-theta * x[i]);
    return s / (double)n;
}

/* Zhang & Stephens (2009), section 3: theta = k / sigma (up to sign) is averaged over a grid with
 * the weights of its profile likelihood. */
void fit_pareto_fit(size_t n, const double *x, double *k, double *sigma)
{
    size_t m = 30 + (size_t)sqrt((double)n);
    double quartile = x[(size_t)((double)n / 4 + 0.5) - 1], largest = x[n - 1];
    double best = -INFINITY, sum = 0, sum_theta = 0;
    /* One pass: when a better likelihood turns up, what was summed before is scaled down. */
    for (size_t j = 1; j <= m; j++) {
        double theta = (1 - sqrt((double)m / ((double)j - 0.5))) / (3 * quartile) + 1 / largest;
        double kj = mean_log1p(n, x, theta);
        double l = (double)n * (log(-theta / kj) - kj - 1);
        if (isnan(l))
            continue;
        if (l > best) {
            double down = exp(best - l);
            sum *= down;
            sum_theta *= down;
            best = l;
        }
        double w = exp(l - best);
        sum += w;
        sum_theta += w * theta;
    }
    double theta = sum_theta / sum, nn = (double)n;
    double raw = mean_log1p(n, x, theta);
    *sigma = -raw / theta;
    *k = (nn * raw + 5) / (nn + 10);
}

/* Quantile p. */
static double pareto_quantile(double p, double k, double sigma)
{
    double x = fabs(k) < DBL_EPSILON ? -log1p(-p) : expm1(-k * log1p(-p)) / k;
    return sigma * x;
}

/* ---- smoothing ------------------------------------------------------------------------------- */

double fit_log_sum_exp(size_t n, const double *x)
{
    double top = -INFINITY, s = 0;
    for (size_t i = 0; i < n; i++)
        top = fmax(top, x[i]);
    if (isinf(top))
        return top;
    for (size_t i = 0; i < n; i++)
        s += exp(x[i] - top);
    return top + log(s);
}

/* lw has its maximum at 0.  index: its order; work: the excesses of the tail. */
static double smooth_tail(size_t n, double *lw, double *work, const size_t *index)
{
    size_t m = fit_psis_tail(n);
    double k, sigma;
    if (m + 1 > n)
        return INFINITY;
    double cutoff = fmax(lw[index[n - m - 1]], log(DBL_MIN));
    size_t first = n - m; /* equal weights at the cutoff are not in the tail */
    while (first < n && !(lw[index[first]] > cutoff))
        first++;
    m = n - first;
    if (m <= 4)
        return INFINITY;
    double base = exp(cutoff);
    for (size_t i = 0; i < m; i++)
        work[i] = exp(lw[index[first + i]]) - base;
    fit_pareto_fit(m, work, &k, &sigma);
    if (!isfinite(k) || !(sigma > 0))
        return INFINITY;
    for (size_t i = 0; i < m; i++) {
        double p = ((double)i + 0.5) / (double)m;
        lw[index[first + i]] = fmin(log(pareto_quantile(p, k, sigma) + base), 0);
    }
    return k;
}

double fit_psis_smooth(size_t n, double *lw, double *work, size_t *index)
{
    double top = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (isnan(lw[i]))
            return NAN;
        top = fmax(top, lw[i]);
    }
    if (!isfinite(top))
        return NAN;
    for (size_t i = 0; i < n; i++)
        lw[i] -= top;
    fit_sort_index(n, lw, index);
    double k = smooth_tail(n, lw, work, index);
    double total = fit_log_sum_exp(n, lw);
    for (size_t i = 0; i < n; i++)
        lw[i] -= total;
    return k;
}

double fit_importance_ess(size_t n, const double *lw)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += exp(2 * lw[i]);
    return 1 / s;
}

void fit_importance_resample(size_t n, const double *lw, size_t m, double u, size_t *pick)
{
    double sum = exp(lw[0]);
    size_t i = 0;
    for (size_t k = 0; k < m; k++) {
        double at = ((double)k + u) / (double)m;
        while (sum < at && i + 1 < n)
            sum += exp(lw[++i]);
        pick[k] = i;
    }
}
