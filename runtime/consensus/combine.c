/* combine.c -- the product of normal approximations to the posteriors of shards, and whether they agree; see
 * consensus.h.
 *
 * d^T (S_s + S_-s)^-1 d with d = mu_s - mu_-s, S_-s = (L - L_s)^-1 is computed from e = mu_s - mu, in terms of
 * which it is (L e)^T (L - L_s)^-1 L_s e, for e = L^-1 (L - L_s) d.
 */
#include "consensus/consensus_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/linalg.h"
#include "math/special.h"

static const double ALARM = 1e-3; /* probability below which shards are reported */

/* y <- a x. */
static void multiply(size_t n, const double *a, const double *x, double *y)
{
    for (size_t i = 0; i < n; i++) {
        y[i] = 0;
        for (size_t j = 0; j < n; j++)
            y[i] += a[i * n + j] * x[j];
    }
}

int fit_consensus_invert(size_t n, double *a, double *inverse, double *unit)
{
    for (size_t i = 0; i < n; i++)
        unit[i] = 1 / sqrt(a[i * n + i]);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            a[i * n + j] *= unit[i] * unit[j];
    if (fit_cholesky(n, a, 1e-12) != 0)
        return 1;
    fit_cholesky_inverse(n, a, inverse);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++)
            inverse[i * n + j] = inverse[j * n + i] =
                0.5 * (inverse[i * n + j] + inverse[j * n + i]) * unit[i] * unit[j];
    return 0;
}

/* Draw by draw, around the mean of the first shard.  L^-1 is the covariance. */
static void combine_draws(const struct fit_consensus_run *c, double *work)
{
    const struct fit_consensus *out = c->out;
    size_t n = out->nz;
    double *e = work, *sum = e + n, *one = sum + n;
    for (size_t k = 0; k < c->opt.keep; k++) {
        memset(sum, 0, n * sizeof *sum);
        for (size_t s = 0; s < out->nshard; s++) {
            const double *z = c->kept + (s * c->opt.keep + k) * n;
            for (size_t i = 0; i < n; i++)
                e[i] = z[i] - c->mean[i];
            multiply(n, c->precision + s * n * n, e, one);
            for (size_t i = 0; i < n; i++)
                sum[i] += one[i];
        }
        multiply(n, out->covariance, sum, out->kept + k * n);
        for (size_t i = 0; i < n; i++)
            out->kept[k * n + i] += c->mean[i];
    }
}

/* Distance of a shard from the others together; total: L.  work: n x n + 3 n. */
static double distance(size_t n, const double *total, const double *precision, const double *e, double *work)
{
    double *rest = work, *v = rest + n * n, *w = v + n, *unit = w + n, d = 0;
    for (size_t i = 0; i < n; i++)
        unit[i] = 1 / sqrt(total[i * n + i]);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            rest[i * n + j] = (total[i * n + j] - precision[i * n + j]) * unit[i] * unit[j];
    if (fit_cholesky(n, rest, 1e-14) != 0)
        return NAN;
    multiply(n, precision, e, v);
    for (size_t i = 0; i < n; i++)
        v[i] *= unit[i];
    fit_cholesky_solve(n, rest, v);
    multiply(n, total, e, w);
    for (size_t i = 0; i < n; i++)
        d += v[i] * unit[i] * w[i];
    return d;
}

/* Q, the distances and the worst shards. */
static void judge_shards(struct fit_consensus_run *c, const double *total, double *work)
{
    struct fit_consensus *out = c->out;
    size_t n = out->nz;
    double *e = work, *v = e + n, *room = v + n;
    out->freedom = (double)((out->nshard - 1) * n);
    out->p = 1;
    for (size_t s = 0; out->nshard > 1 && s < out->nshard; s++) {
        struct fit_shard_report *r = &out->shard[s];
        const double *precision = c->precision + s * n * n;
        for (size_t i = 0; i < n; i++)
            e[i] = c->mean[s * n + i] - out->mean[i];
        multiply(n, precision, e, v);
        for (size_t i = 0; i < n; i++)
            out->heterogeneity += e[i] * v[i];
        r->distance = distance(n, total, precision, e, room);
        r->p = fit_chi2_tail(r->distance, (double)n);
        size_t at = out->nworst; /* insertion into the few worst, farthest first */
        if (!(r->p < ALARM / (double)out->nshard))
            continue;
        while (at > 0 && out->shard[out->worst[at - 1]].distance < r->distance)
            at--;
        if (at == FIT_CONSENSUS_WORST)
            continue;
        out->nworst += out->nworst < FIT_CONSENSUS_WORST;
        for (size_t k = out->nworst - 1; k > at; k--)
            out->worst[k] = out->worst[k - 1];
        out->worst[at] = s;
    }
    if (out->nshard > 1)
        out->p = fit_chi2_tail(out->heterogeneity, out->freedom);
}

enum fit_status fit_consensus_combine(struct fit_consensus_run *c, struct fit_error *err)
{
    struct fit_consensus *out = c->out;
    size_t n = out->nz;
    FIT_OWNED double *total = calloc(3 * n * n + 8 * n, sizeof *total);
    if (!total)
        return fit_no_memory(err, "consensus");
    double *work = total + n * n, *right = work + n * n, *e = right + n, *one = e + n;
    for (size_t s = 0; s < out->nshard; s++) { /* in order, around the mean of the first shard */
        for (size_t i = 0; i < n; i++)
            e[i] = c->mean[s * n + i] - c->mean[i];
        multiply(n, c->precision + s * n * n, e, one);
        for (size_t i = 0; i < n; i++)
            right[i] += one[i];
        for (size_t i = 0; i < n * n; i++)
            total[i] += c->precision[s * n * n + i];
    }
    memcpy(work, total, n * n * sizeof *work);
    int bad = fit_consensus_invert(n, work, out->covariance, e);
    if (!bad) {
        multiply(n, out->covariance, right, out->mean);
        for (size_t i = 0; i < n; i++)
            out->mean[i] += c->mean[i];
        combine_draws(c, right);
        judge_shards(c, total, work);
    }
    return bad ? fit_fail(err, FIT_ERR_NUMERIC, "consensus: the shards together do not determine all parameters")
               : FIT_OK;
}
