/* metric.c -- inverse mass matrix: momenta, velocities, and estimates from a window of the warm-up.
 *
 * The dense Fisher estimate solves S C_g S = C_x.  With the Cholesky factor C_g = K K^T the
 * positive definite solution is S = K^-T (K^T C_x K)^1/2 K^-1 (the geometric mean of C_g^-1 and
 * C_x; Bhatia 2007, section 4.1): one Cholesky, one symmetric eigenproblem.  K^T C_x K is near the
 * identity squared when S is right, so its square root is well conditioned even if S is not. */
#include "sampler/metric.h"

#include "math/linalg.h"

#include <math.h>
#include <string.h>

size_t fit_metric_size(size_t n, int dense)
{
    return dense ? n * n : n;
}

/* ---- setting --------------------------------------------------------------------------------- */

static int set_diagonal(struct fit_metric *m, const double *v, size_t stride)
{
    for (size_t k = 0; k < m->n; k++)
        if (!(v[k * stride] > 0) || !isfinite(v[k * stride]))
            return 1;
    memset(m->inverse, 0, fit_metric_size(m->n, m->dense) * sizeof *m->inverse);
    memset(m->factor, 0, fit_metric_size(m->n, m->dense) * sizeof *m->factor);
    for (size_t k = 0; k < m->n; k++) {
        size_t at = m->dense ? k * m->n + k : k;
        m->inverse[at] = v[k * stride];
        m->factor[at] = sqrt(v[k * stride]);
    }
    return 0;
}

int fit_metric_diagonal(struct fit_metric *m, const double *v)
{
    return set_diagonal(m, v, 1);
}

/* covariance with its Cholesky factor already found. */
static void set_dense(struct fit_metric *m, const double *covariance, const double *factor)
{
    for (size_t i = 0; i < m->n; i++)
        for (size_t j = 0; j < m->n; j++) {
            m->inverse[i * m->n + j] = covariance[i * m->n + j];
            m->factor[i * m->n + j] = j <= i ? factor[i * m->n + j] : 0;
        }
}

int fit_metric_covariance(struct fit_metric *m, const double *covariance)
{
    size_t n = m->n;
    if (!m->dense)
        return set_diagonal(m, covariance, n + 1);
    /* The factor is tried in place; the old one comes back from the old matrix if it fails. */
    memcpy(m->factor, covariance, n * n * sizeof *m->factor);
    if (fit_cholesky(n, m->factor, 1e-15) != 0) {
        memcpy(m->factor, m->inverse, n * n * sizeof *m->factor);
        fit_cholesky(n, m->factor, 0);
        set_dense(m, m->inverse, m->factor);
        return 1;
    }
    set_dense(m, covariance, m->factor);
    return 0;
}

/* ---- using ----------------------------------------------------------------------------------- */

void fit_metric_velocity(const struct fit_metric *m, const double *p, double *v)
{
    size_t n = m->n;
    if (!m->dense) {
        for (size_t k = 0; k < n; k++)
            v[k] = m->inverse[k] * p[k];
        return;
    }
    /* By columns, so that the sums become vectors in a fixed order; the matrix is symmetric. */
    for (size_t i = 0; i < n; i++)
        v[i] = m->inverse[i] * p[0];
    for (size_t j = 1; j < n; j++) {
        const double *row = m->inverse + j * n;
        for (size_t i = 0; i < n; i++)
            v[i] += row[i] * p[j];
    }
}

void fit_metric_momentum(const struct fit_metric *m, const double *z, double *p)
{
    if (p != z)
        memmove(p, z, m->n * sizeof *p);
    if (m->dense)
        fit_lower_solve_transposed(m->n, m->factor, p);
    else
        for (size_t k = 0; k < m->n; k++)
            p[k] /= m->factor[k];
}

void fit_metric_position(const struct fit_metric *m, const double *z, double *x)
{
    size_t n = m->n;
    if (!m->dense) {
        for (size_t k = 0; k < n; k++)
            x[k] = m->factor[k] * z[k];
        return;
    }
    for (size_t i = n; i-- > 0;) {
        double t = 0;
        for (size_t j = 0; j <= i; j++)
            t += m->factor[i * n + j] * z[j];
        x[i] = t;
    }
}

/* ---- moments of a window --------------------------------------------------------------------- */

size_t fit_window_size(size_t n, int dense)
{
    return 2 * n + 2 * fit_metric_size(n, dense);
}

void fit_window_clear(struct fit_window *w)
{
    w->count = 0;
    memset(w->mean_x, 0, w->n * sizeof *w->mean_x);
    memset(w->mean_g, 0, w->n * sizeof *w->mean_g);
    memset(w->sum_x, 0, fit_metric_size(w->n, w->dense) * sizeof *w->sum_x);
    memset(w->sum_g, 0, fit_metric_size(w->n, w->dense) * sizeof *w->sum_g);
}

/* Welford: with d = x - old mean, the sum grows by d d^T (count - 1) / count, then the mean moves.
 */
static void add_moments(const struct fit_window *w, const double *x, double *mean, double *sum)
{
    size_t n = w->n;
    double shrink = (w->count - 1) / w->count;
    for (size_t i = 0; i < n; i++) {
        double di = x[i] - mean[i];
        if (!w->dense) {
            sum[i] += di * di * shrink;
            continue;
        }
        for (size_t j = 0; j <= i; j++) {
            sum[i * n + j] += di * (x[j] - mean[j]) * shrink;
            sum[j * n + i] = sum[i * n + j];
        }
    }
    for (size_t i = 0; i < n; i++)
        mean[i] += (x[i] - mean[i]) / w->count;
}

void fit_window_add(struct fit_window *w, const double *x, const double *g)
{
    w->count++;
    add_moments(w, x, w->mean_x, w->sum_x);
    add_moments(w, g, w->mean_g, w->sum_g);
}

/* ---- estimates ------------------------------------------------------------------------------- */

static const double PSEUDO_DRAWS = 5;       /* weight of the regularisation */
static const double ROUND_TOLERANCE = 1e-6; /* far below what the draws can tell */
enum { MAX_ROUNDS = 60 };

size_t fit_metric_work(size_t n)
{
    return 6 * n * n + 2 * n + fit_eigen_work(n);
}

static int fisher_diagonal(struct fit_metric *m, const struct fit_window *w, double *s)
{
    for (size_t k = 0; k < m->n; k++) {
        double v = m->inverse[k];
        for (int round = 0; round < MAX_ROUNDS; round++) {
            double old = v;
            v = sqrt((w->sum_x[k] + PSEUDO_DRAWS * v) / (w->sum_g[k] + PSEUDO_DRAWS / v));
            if (fabs(v - old) <= ROUND_TOLERANCE * v)
                break;
        }
        s[k] = v;
    }
    return set_diagonal(m, s, 1);
}

/* s <- the solution of s A s = B for positive definite A and B (A, B are destroyed); work: n * n +
 * n + fit_eigen_work(n).  Returns nonzero when A or B is not positive definite. */
static int geometric_mean(size_t n, double *A, double *B, double *s, double *work)
{
    double *lambda = work, *T = work + n, *eigen_work = T + n * n;
    if (fit_cholesky(n, A, 1e-15) != 0)
        return 1;
    /* T = K^T B K, K lower triangular in A. */
    for (size_t i = 0; i < n; i++) /* s <- B K */
        for (size_t j = 0; j < n; j++) {
            double t = 0;
            for (size_t k = j; k < n; k++)
                t += B[i * n + k] * A[k * n + j];
            s[i * n + j] = t;
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double t = 0;
            for (size_t k = i; k < n; k++)
                t += A[k * n + i] * s[k * n + j];
            T[i * n + j] = T[j * n + i] = t;
        }
    if (fit_eigen(n, T, lambda, eigen_work) != 0 || !(lambda[0] > 0))
        return 1;
    /* s = sum_k sqrt(lambda_k) y_k y_k^T with y_k = K^-T v_k. */
    memset(s, 0, n * n * sizeof *s);
    for (size_t k = 0; k < n; k++) {
        double *y = T + k * n, root = sqrt(lambda[k]);
        fit_lower_solve_transposed(n, A, y);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                s[i * n + j] += root * y[i] * y[j];
    }
    return 0;
}

/* inverse[n x n] <- of the positive definite matrix s; factor: n x n. */
static int invert(size_t n, const double *s, double *inverse, double *factor)
{
    memcpy(factor, s, n * n * sizeof *s);
    if (fit_cholesky(n, factor, 1e-15) != 0)
        return 1;
    fit_cholesky_inverse(n, factor, inverse);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            inverse[i * n + j] = inverse[j * n + i] =
                0.5 * (inverse[i * n + j] + inverse[j * n + i]);
    return 0;
}

/* s <- one round of the regularised estimate: S A S = B with A = C_g + 5 S^-1, B = C_x + 5 S (sums,
 * in units of the old standard deviations).  work: 3 n * n + n + fit_eigen_work(n). */
static int fisher_round(const struct fit_window *w, const double *unit, double *s, double *work)
{
    size_t n = w->n, nn = n * n;
    double *A = work, *B = A + nn, *rest = B + nn;
    if (invert(n, s, A, B) != 0)
        return 1;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            size_t at = i * n + j;
            A[at] = w->sum_g[at] * unit[i] * unit[j] + PSEUDO_DRAWS * A[at];
            B[at] = w->sum_x[at] / (unit[i] * unit[j]) + PSEUDO_DRAWS * s[at];
        }
    return geometric_mean(n, A, B, s, rest);
}

/* Coordinates are divided by the standard deviations of the old metric, so that parameters of very different size do
 * not meet in one sum. The rounds contract: an error by a factor e in a direction about which n draws are
 * informative becomes sqrt((n + 5 e) / (n + 5 / e)). */
static int fisher_dense(struct fit_metric *m, const struct fit_window *w, double *work)
{
    size_t n = m->n, nn = n * n;
    double *s = work, *old = s + nn, *unit = old + nn, *rest = unit + n;
    for (size_t k = 0; k < n; k++)
        unit[k] = sqrt(m->inverse[k * n + k]);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            s[i * n + j] = m->inverse[i * n + j] / (unit[i] * unit[j]);
    for (int round = 0; round < MAX_ROUNDS; round++) {
        memcpy(old, s, nn * sizeof *s);
        if (fisher_round(w, unit, s, rest) != 0)
            return 1;
        double change = 0;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j <= i; j++)
                change = fmax(change, fabs(s[i * n + j] - old[i * n + j]) /
                                          sqrt(s[i * n + i] * s[j * n + j]));
        if (change <= ROUND_TOLERANCE)
            break;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            s[i * n + j] *= unit[i] * unit[j];
    return fit_metric_covariance(m, s);
}

static int stan(struct fit_metric *m, const struct fit_window *w, double *work)
{
    size_t n = m->n;
    double count = w->count;
    for (size_t k = 0; k < fit_metric_size(n, m->dense); k++) {
        int diagonal = !m->dense || k % (n + 1) == 0;
        work[k] = w->sum_x[k] / (count - 1) * (count / (count + PSEUDO_DRAWS)) +
                  (diagonal ? 1e-3 * PSEUDO_DRAWS / (count + PSEUDO_DRAWS) : 0);
    }
    return m->dense ? fit_metric_covariance(m, work) : set_diagonal(m, work, 1);
}

/* |A^-1 B|^2 (Frobenius) for lower triangular A and B: the trace of B B^T (A A^T)^-1.  v: n. */
static double trace_ratio(size_t n, const double *A, const double *B, double *v)
{
    double s = 0;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++)
            v[i] = B[i * n + j];
        fit_lower_solve(n, A, v);
        for (size_t i = 0; i < n; i++)
            s += v[i] * v[i];
    }
    return s;
}

/* old: the factor before. */
static double change_of(const struct fit_metric *m, const double *old, double *work)
{
    size_t n = m->n;
    double s = 0;
    if (m->dense)
        return trace_ratio(n, old, m->factor, work) + trace_ratio(n, m->factor, old, work) -
               2 * (double)n;
    for (size_t k = 0; k < n; k++) {
        double r = m->factor[k] / old[k];
        s += (r - 1 / r) * (r - 1 / r);
    }
    return s;
}

static int update(struct fit_metric *m, const struct fit_window *w, double *work, double *change,
                  int (*estimate)(struct fit_metric *, const struct fit_window *, double *))
{
    size_t size = fit_metric_size(m->n, m->dense);
    double *old = work, *rest = work + size;
    if (w->count < 2)
        return 1;
    memcpy(old, m->factor, size * sizeof *old);
    int failed = estimate(m, w, rest);
    if (change)
        *change = failed ? 0 : change_of(m, old, rest);
    return failed;
}

static int fisher(struct fit_metric *m, const struct fit_window *w, double *work)
{
    return m->dense ? fisher_dense(m, w, work) : fisher_diagonal(m, w, work);
}

int fit_metric_fisher(struct fit_metric *m, const struct fit_window *w, double *work,
                      double *change)
{
    return update(m, w, work, change, fisher);
}

int fit_metric_stan(struct fit_metric *m, const struct fit_window *w, double *work, double *change)
{
    return update(m, w, work, change, stan);
}
