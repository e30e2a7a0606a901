/* diagnostics.c -- R-hat, effective sample sizes and Monte Carlo errors.
 *
 * Formulas of Vehtari, Gelman, Simpson, Carpenter & Buerkner (2021), with the details (splitting,
 * ends of Geyer's sequences, quantiles) of the implementations in the R package posterior and in
 * ArviZ.  Autocovariances are summed directly, lag by lag: Geyer's sequence ends long before the
 * lags do, and the sums have a fixed order. */
#include "sampler/diagnostics.h"

#include "base/arena.h"
#include "math/special.h"
#include "sampler/psis.h"

#include <math.h>
#include <string.h>

static double square(double x)
{
    return x * x;
}

/* ---- chains split in halves ------------------------------------------------------------------ */

/* m sequences of n draws, one after the other. */
struct split {
    size_t m, n;
    double *x;     /* the draws */
    double *y;     /* a function of them */
    double *work;  /* m + 2 n, for ess_of() and scatter_p() */
    size_t *index; /* of all draws */
};

static double at(const struct fit_draws *d, size_t chain, size_t i)
{
    return d->x[chain][i * d->stride];
}

static size_t all_size(const struct fit_draws *d)
{
    return d->chains * d->draws;
}

/* Every draw is finite, there are at least 4 of each chain, and they are not all the same. */
static int usable(const struct fit_draws *d)
{
    if (d->chains == 0 || d->draws < 4)
        return 0;
    double low = at(d, 0, 0), high = low;
    for (size_t c = 0; c < d->chains; c++)
        for (size_t i = 0; i < d->draws; i++) {
            double v = at(d, c, i);
            if (!isfinite(v))
                return 0;
            low = fmin(low, v);
            high = fmax(high, v);
        }
    return high > low;
}

static enum fit_status new_split(const struct fit_draws *d, struct split *s, struct fit_arena *a, struct fit_error *err)
{
    size_t all = all_size(d), half = d->draws / 2;
    *s = (struct split){.m = 2 * d->chains, .n = half};
    FIT_TAKE_DOUBLES(a, all, &s->x, &s->y);
    FIT_TAKE_DOUBLES(a, s->m + 2 * s->n, &s->work);
    s->index = fit_take(a, all, sizeof *s->index);
    return a->failed ? fit_fail(err, FIT_ERR_MEMORY, "no memory for diagnostics of %zu draws", all) : FIT_OK;
}

/* to <- f(draw), in halves; the middle draw of an odd length is left out. */
static void split_draws(const struct fit_draws *d, const struct split *s, double *to)
{
    size_t second = d->draws - s->n;
    for (size_t c = 0; c < d->chains; c++)
        for (size_t i = 0; i < s->n; i++) {
            to[2 * c * s->n + i] = at(d, c, i);
            to[(2 * c + 1) * s->n + i] = at(d, c, second + i);
        }
}

/* All draws, also those in the middle. */
static void all_draws(const struct fit_draws *d, double *to)
{
    for (size_t c = 0; c < d->chains; c++)
        for (size_t i = 0; i < d->draws; i++)
            *to++ = at(d, c, i);
}

/* ---- numbers of one set ---------------------------------------------------------------------- */

static double mean_of(size_t n, const double *x)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += x[i];
    return s / (double)n;
}

/* Sum of squares around the mean. */
static double scatter_of(size_t n, const double *x, double mean)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += square(x[i] - mean);
    return s;
}

/* Type 7 of Hyndman & Fan (1996), of x in the order of index. */
static double sorted_quantile(size_t n, const double *x, const size_t *index, double p)
{
    double nn = (double)n, h = nn * p + (1 - p); /* counted from 1 */
    double below = floor(fmin(fmax(h, 1), nn - 1)), part = fmin(fmax(h - below, 0), 1);
    size_t k = (size_t)below;
    return (1 - part) * x[index[k - 1]] + part * x[index[k]];
}

/* x[n] <- normal scores of its ranks (Blom 1958); ties get their mean rank. */
static void rank_normalise(size_t n, double *x, size_t *index)
{
    fit_sort_index(n, x, index);
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && !(x[index[j]] > x[index[i]]); j++)
            ;
        double rank = 0.5 * (double)(i + j + 1); /* ranks i + 1 ... j */
        double z = fit_normal_quantile((rank - 0.375) / ((double)n + 0.25));
        /* Elements behind j are compared with later ones only, so this may overwrite. */
        for (size_t k = i; k < j; k++)
            x[index[k]] = z;
    }
}

/* ---- R-hat ----------------------------------------------------------------------------------- */

static double r_hat(size_t m, size_t n, const double *x)
{
    double within = 0, mean = 0, between = 0;
    for (size_t c = 0; c < m; c++) {
        double mc = mean_of(n, x + c * n);
        within += scatter_of(n, x + c * n, mc) / (double)(n - 1);
        mean += mc;
    }
    within /= (double)m;
    mean /= (double)m;
    for (size_t c = 0; c < m; c++)
        between += square(mean_of(n, x + c * n) - mean);
    between *= (double)n / (double)(m - 1);
    return sqrt((between / within + (double)n - 1) / (double)n);
}

/* ---- effective sample size ------------------------------------------------------------------- */

/* Biased autocovariance at a lag, averaged over the sequences; mean[m] are theirs. */
static double autocovariance(size_t m, size_t n, const double *x, const double *mean, size_t lag)
{
    double total = 0;
    for (size_t c = 0; c < m; c++) {
        const double *a = x + c * n, *b = a + lag;
        double s = 0;
        for (size_t i = 0; i + lag < n; i++)
            s += (a[i] - mean[c]) * (b[i] - mean[c]);
        total += s / (double)n;
    }
    return total / (double)m;
}

/* between: variance of the means of the sequences, as it is or as it should be.
 *
 * Autocorrelations of pairs of lags, pair k = (rho_2k, rho_2k+1), while their sum is positive
 * (Geyer 1992).  rho: at least n numbers.  Returns the number of rho stored by pairs; *last <- what
 * follows them. */
static size_t positive_sequence(size_t m, size_t n, const double *x, const double *mean, double between,
                                double *rho, double *last)
{
    double g0 = autocovariance(m, n, x, mean, 0);
    double w = g0 * (double)n / ((double)n - 1), var = g0 + between;
    double even = 1, odd = 1 - (w - autocovariance(m, n, x, mean, 1)) / var;
    rho[0] = even;
    rho[1] = odd;
    size_t t = 1;
    while (t + 3 < n && even + odd > 0) {
        even = 1 - (w - autocovariance(m, n, x, mean, t + 1)) / var;
        odd = 1 - (w - autocovariance(m, n, x, mean, t + 2)) / var;
        if (even + odd >= 0) {
            rho[t + 1] = even;
            rho[t + 2] = odd;
        }
        t += 2;
    }
    *last = even > 0 ? even : 0;
    return t - 1; /* rho_0 ... rho_T with T = t - 2 */
}

/* Integrated autocorrelation time, in draws, of m sequences of n whose means are in work[m]; work: m + n doubles.
 * *lags (may be NULL) <- how many it was summed over. */
static double time_of(size_t m, size_t n, const double *x, double between, double *work, double *lags)
{
    double *mean = work, *rho = work + m, last;
    memset(rho, 0, n * sizeof *rho);
    size_t stored = positive_sequence(m, n, x, mean, between, rho, &last);
    /* Initial monotone sequence of pair sums. */
    for (size_t t = 1; t + 3 <= stored; t += 2)
        if (rho[t + 1] + rho[t + 2] > rho[t - 1] + rho[t])
            rho[t + 1] = rho[t + 2] = 0.5 * (rho[t - 1] + rho[t]);
    double tau = -1;
    for (size_t t = 0; t < stored; t++)
        tau += 2 * rho[t];
    if (lags)
        *lags = (double)stored;
    return tau + last;
}

static void means_of(size_t m, size_t n, const double *x, double *mean)
{
    for (size_t c = 0; c < m; c++)
        mean[c] = mean_of(n, x + c * n);
}

/* x: m sequences of n draws; work: m + n doubles.  NaN when all are the same. */
static double ess_of(size_t m, size_t n, const double *x, double *work)
{
    double total = (double)m * (double)n;
    means_of(m, n, x, work);
    double between = m > 1 ? scatter_of(m, work, mean_of(m, work)) / (double)(m - 1) : 0;
    double tau = time_of(m, n, x, between, work, NULL);
    return isnan(tau) ? NAN : total / fmax(tau, 1 / log10(total));
}

/* Probability that the means of m sequences of n scatter as much as they do when all are of one distribution.  Their
 * variance is then W tau / n, W the variance within and tau the autocorrelation time of the draws, so that
 *
 *     F = n B / (W tau)  ~  F(m - 1, f),   B the variance of the means,   f = m n / (2 l + 1),
 *
 * for tau, summed over l lags, has the relative variance 2 (2 l + 1) / (m n) (Priestley 1981, section 7.1; Sokal 1997,
 * section 3), and a mean square with f degrees of freedom 2 / f.  Both halves of a chain go into tau together: pairs of
 * sequences follow each other.  A mean that is taken from each chain lowers autocovariances by W tau / (2 n), which is
 * put back. */
static double scatter_p(size_t m, size_t n, const double *x, double *work)
{
    double within = 0, tau = 1, lags = 1, total = (double)m * (double)n;
    means_of(m, n, x, work);
    for (size_t c = 0; c < m; c++)
        within += scatter_of(n, x + c * n, work[c]) / (double)(m * (n - 1));
    double between = scatter_of(m, work, mean_of(m, work)) / (double)(m - 1);
    means_of(m / 2, 2 * n, x, work);
    for (int k = 0; k < 4; k++)
        tau = fmax(time_of(m / 2, 2 * n, x, k ? within * fmin(tau / (2 * (double)n), 1) : 0, work, &lags),
                   1 / log10(total));
    double f = total / (2 * lags + 1), d = (double)(m - 1), value = (double)n * between / (within * tau);
    return isnan(value) ? NAN : fit_beta_cdf(f / (f + d * value), 0.5 * f, 0.5 * d);
}

/* Of the indicator x <= q. */
static double ess_below(struct split *s, double q)
{
    for (size_t k = 0; k < s->m * s->n; k++)
        s->y[k] = s->x[k] <= q;
    return ess_of(s->m, s->n, s->y, s->work);
}

/* ---- interface ----------------------------------------------------------------------------- */

/* Both R-hat, and the bulk ESS. */
static void ranked(struct split *s, struct fit_convergence *out)
{
    size_t used = s->m * s->n;
    memcpy(s->y, s->x, used * sizeof *s->y);
    rank_normalise(used, s->y, s->index);
    double bulk = r_hat(s->m, s->n, s->y), p = scatter_p(s->m, s->n, s->y, s->work);
    out->ess_bulk = ess_of(s->m, s->n, s->y, s->work);
    fit_sort_index(used, s->x, s->index);
    double median = sorted_quantile(used, s->x, s->index, 0.5);
    for (size_t k = 0; k < used; k++)
        s->y[k] = fabs(s->x[k] - median);
    rank_normalise(used, s->y, s->index);
    double folded = r_hat(s->m, s->n, s->y);
    out->r_hat = isnan(bulk) || isnan(folded) ? NAN : fmax(bulk, folded);
    out->r_hat_p = fmin(2 * fmin(p, scatter_p(s->m, s->n, s->y, s->work)), 1);
}

/* Standard error of the standard deviation by the delta method from that of the variance. */
static double mcse_sd(const struct fit_draws *d, struct split *s, double mean)
{
    size_t all = all_size(d), used = s->m * s->n;
    double second = 0, fourth = 0;
    for (size_t c = 0; c < d->chains; c++)
        for (size_t i = 0; i < d->draws; i++) {
            double v = square(at(d, c, i) - mean);
            second += v;
            fourth += v * v;
        }
    second /= (double)all;
    fourth /= (double)all;
    for (size_t k = 0; k < used; k++)
        s->y[k] = square(s->x[k] - mean);
    double ess = ess_of(s->m, s->n, s->y, s->work);
    return sqrt((fourth - second * second) / ess / second / 4);
}

/* Shape of a generalised Pareto distribution of the excesses beyond the M-th last draw, M = 3 sqrt(S / r) of S draws of
 * which the part r is effective, at most a fifth of them (Vehtari et al. 2024, section 3.1); its error (1 + k)/sqrt M
 * (Smith 1987).  excess: room for M; side: 1 or -1.  NaN: too few. */
static double tail_shape(size_t n, const double *x, const size_t *index, double part, int side, double *excess,
                         double *error)
{
    size_t most = (size_t)ceil(fmin(0.2 * (double)n, 3 * sqrt((double)n / part))), m = 0;
    double edge = x[index[side > 0 ? n - most - 1 : most]], k, sigma;
    for (size_t i = most; i > 0; i--) {
        double e = side * (x[index[side > 0 ? n - i : i - 1]] - edge);
        if (e > 0)
            excess[m++] = e;
    }
    *error = NAN;
    if (m < 5)
        return NAN;
    fit_pareto_fit(m, excess, &k, &sigma);
    *error = (1 + fmax(k, 0)) / sqrt((double)m);
    return k;
}

/* Of both tails of all draws, in s->y, the one that reaches farther. */
static void tails(struct split *s, size_t all, double part, struct fit_convergence *out)
{
    for (int side = -1; side <= 1; side += 2) {
        double error, k = tail_shape(all, s->y, s->index, part, side, s->x, &error);
        if (!(k <= out->tail_k) && isfinite(k)) {
            out->tail_k = k;
            out->tail_k_error = error;
        }
    }
}

enum fit_status fit_convergence(const struct fit_draws *d, struct fit_convergence *out,
                                struct fit_error *err)
{
    struct split s;
    *out = (struct fit_convergence){NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    if (!usable(d))
        return FIT_OK;
    FIT_SCRATCH(a);
    enum fit_status st = new_split(d, &s, &a, err);
    if (st != FIT_OK)
        return st;
    size_t all = all_size(d);
    all_draws(d, s.y);
    out->mean = mean_of(all, s.y);
    out->sd = sqrt(scatter_of(all, s.y, out->mean) / (double)(all - 1));
    fit_sort_index(all, s.y, s.index);
    double low = sorted_quantile(all, s.y, s.index, 0.05);
    double high = sorted_quantile(all, s.y, s.index, 0.95);
    split_draws(d, &s, s.x);
    double low_ess = ess_below(&s, low), high_ess = ess_below(&s, high);
    out->ess_tail = isnan(low_ess) || isnan(high_ess) ? NAN : fmin(low_ess, high_ess);
    ranked(&s, out);
    out->ess_mean = ess_of(s.m, s.n, s.x, s.work);
    out->mcse_mean = out->sd / sqrt(out->ess_mean);
    out->mcse_sd = mcse_sd(d, &s, out->mean);
    all_draws(d, s.y);
    fit_sort_index(all, s.y, s.index);
    if (all >= 100)
        tails(&s, all, fmin(fmax(out->ess_tail / (double)all, 0.01), 1), out);
    return FIT_OK;
}

enum fit_status fit_ess_mean(const struct fit_draws *d, double *ess, struct fit_error *err)
{
    struct fit_convergence c;
    enum fit_status st = fit_convergence(d, &c, err);
    *ess = c.ess_mean;
    return st;
}

/* Half the distance of the order statistics at the quantiles 16 % and 84 % of Beta(ess p + 1,
 * ess (1 - p) + 1) (Vehtari et al. 2021, section 4.4). */
static double mcse_quantile(size_t n, const double *x, const size_t *index, double p, double ess)
{
    const double tail = 0.1586553;
    double a = ess * p + 1, b = ess * (1 - p) + 1, nn = (double)n;
    double low = floor(fmax(fit_beta_quantile(tail, a, b) * nn - 1, 0));
    double high = ceil(fmin(fit_beta_quantile(1 - tail, a, b) * nn - 1, nn - 1));
    return 0.5 * (x[index[(size_t)high]] - x[index[(size_t)low]]);
}

enum fit_status fit_quantile(const struct fit_draws *d, double p, double *value, double *ess,
                             double *mcse, struct fit_error *err)
{
    struct split s;
    double unused[2];
    ess = ess ? ess : &unused[0];
    mcse = mcse ? mcse : &unused[1];
    *value = *ess = *mcse = NAN;
    if (!usable(d))
        return FIT_OK;
    FIT_SCRATCH(a);
    enum fit_status st = new_split(d, &s, &a, err);
    if (st != FIT_OK)
        return st;
    size_t all = all_size(d);
    all_draws(d, s.y);
    fit_sort_index(all, s.y, s.index);
    *value = sorted_quantile(all, s.y, s.index, p);
    split_draws(d, &s, s.x);
    *ess = ess_below(&s, *value);
    all_draws(d, s.y);
    if (isfinite(*ess))
        *mcse = mcse_quantile(all, s.y, s.index, p, *ess);
    return FIT_OK;
}

/* ---- Hamiltonian Monte Carlo ----------------------------------------------------------------- */

double fit_ebfmi(const struct fit_draw_stats *stats, size_t n)
{
    double mean = 0, steps = 0, scatter = 0;
    if (n < 2)
        return NAN;
    for (size_t i = 0; i < n; i++)
        mean += stats[i].energy / (double)n;
    for (size_t i = 0; i < n; i++) {
        scatter += square(stats[i].energy - mean);
        if (i > 0)
            steps += square(stats[i].energy - stats[i - 1].energy);
    }
    return scatter > 0 ? steps / scatter : NAN;
}

void fit_chain_health(const struct fit_draw_stats *stats, size_t n, unsigned max_depth,
                      struct fit_chain_health *out)
{
    *out = (struct fit_chain_health){.ebfmi = fit_ebfmi(stats, n)};
    for (size_t i = 0; i < n; i++) {
        out->divergences += stats[i].divergent;
        out->saturated += stats[i].tree_depth >= max_depth;
        out->leapfrogs += stats[i].n_leapfrog;
        out->gradients += stats[i].n_gradient;
        out->accept_mean += stats[i].accept_stat / (double)n;
        out->step_mean += stats[i].step / (double)n;
    }
}
