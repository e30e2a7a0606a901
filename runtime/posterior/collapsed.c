/* collapsed.c -- linear parameters and variances integrated out; see collapsed.h for the formulas.
 *
 * Everything that depends on the data comes from two passes: the moments of the basis functions, and the adjoint sums,
 * whose seeds are known once the moments are (d log p of a value):
 *
 *     a_n/b_n lin_q r - sum_p (A^-1)_qp b_p      for basis function q   (variance given: v instead of both
 *                                                factors, a_n/b_n and that of A^-1, which is 1).
 *
 * The residual sum c is formed from moments of data minus each group's mean; its cancellation error is the square of
 * signal over noise in units of the last place.
 */
#include "posterior/collapsed.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "leastsquares/objective_impl.h"
#include "math/linalg.h"
#include "math/special.h"

static const double LOG_2 = 0.69314718055994530942;

static size_t block_begin(const struct fit_objective *o, size_t k)
{
    return o->block_first[k];
}

/* ---- setting up ---------------------------------------------------------------------------------------- */

/* The block of a group's unknowns, or -1. */
static long group_block(const struct fit_objective *o, size_t g)
{
    for (size_t q = 0; q < o->nlinear; q++)
        if (o->map[g * o->nlinear + q] >= 0)
            return (long)o->block_of[o->map[g * o->nlinear + q]];
    return -1;
}

int fit_variance_given(enum fit_variance v)
{
    return v == FIT_VARIANCE_GIVEN || v == FIT_VARIANCE_GIVEN_SHARED;
}

static int one_for_each(enum fit_variance v)
{
    return v == FIT_VARIANCE_UNIT || v == FIT_VARIANCE_GIVEN;
}

/* 1 when sigma is part of the conjugate prior. */
static int conjugate(const struct fit_collapsed *c)
{
    return c->variance == FIT_VARIANCE_UNIT || c->variance == FIT_VARIANCE_SHARED;
}

static void number_units(struct fit_collapsed *c)
{
    const struct fit_objective *o = c->o;
    c->nunit = 0;
    for (size_t g = 0; g < o->ngroup; g++) {
        long block = group_block(o, g);
        size_t unit = one_for_each(c->variance) ? c->nunit : 0;
        for (size_t h = 0; h < g && block >= 0 && one_for_each(c->variance); h++)
            if (group_block(o, h) == block) {
                unit = c->unit[h];
                break;
            }
        c->unit[g] = unit;
        if (block >= 0)
            c->block_unit[block] = unit;
        c->nunit += unit == c->nunit;
    }
}

/* Prior of unknown u from that of its parameter. */
static void set_prior(struct fit_collapsed *c, const struct fit_collapsed_setup *s, size_t g, size_t q)
{
    const struct fit_objective *o = c->o;
    int u = o->map[g * o->nlinear + q];
    if (u < 0)
        return;
    double s0 = conjugate(c) ? c->s0[c->unit[g]] : 1;
    int flat = !isfinite(s->sd[q]);
    c->m0[u] = flat ? 0 : s->mean[q] - o->origin[u];
    c->precision0[u] = flat ? 0 : c->temper * s0 * s0 / (s->sd[q] * s->sd[q]);
}

/* Reduction of a_n of its unit by unknown u while it is integrated out. */
static double freedom_of(const struct fit_collapsed *c, size_t u)
{
    return 0.5 * (c->precision0[u] > 0 ? 1 - c->temper : 1);
}

static size_t unit_of(const struct fit_collapsed *c, size_t u)
{
    return c->block_unit[c->o->block_of[u]];
}

static void set_priors(struct fit_collapsed *c, const struct fit_collapsed_setup *s)
{
    const struct fit_objective *o = c->o;
    for (size_t k = 0; k < c->nunit; k++) {
        double square = 0, n = 0;
        for (size_t g = 0; g < o->ngroup; g++)
            if (c->unit[g] == k) {
                double ng = (double)o->ds->npoint_group[g], sigma = s->sigma ? s->sigma[g] : 1;
                square += ng * sigma * sigma;
                n += ng;
            }
        c->s0[k] = s->like ? s->like->s0[k] : n > 0 ? sqrt(square / n) : 1;
        c->npoint[k] = c->count * n;
        c->a_n[k] = c->temper * c->a0 + 0.5 * c->npoint[k];
        c->scale[k] = c->count;
    }
    for (size_t g = 0; g < o->ngroup; g++)
        for (size_t q = 0; q < o->nlinear; q++)
            set_prior(c, s, g, q);
    for (size_t u = 0; u < o->nu; u++)
        c->a_n[unit_of(c, u)] -= freedom_of(c, u);
}

/* Terms independent of theta; for the prior itself, whatever its power (a constant). */
static double constant_part(const struct fit_collapsed *c)
{
    double lp = 0;
    if (c->o->kernel->density)
        return c->count * c->o->density_constant;
    for (size_t k = 0; k < c->nunit; k++) {
        lp -= 0.5 * c->npoint[k] * FIT_LOG_2_PI;
        if (conjugate(c))
            lp += fit_log_gamma(c->a_n[k]) - (c->a0 > 0 ? 0 : LOG_2);
        if (c->a0 > 0)
            lp += c->a0 * log(0.5 * c->a0 * c->s0[k] * c->s0[k]) - fit_log_gamma(c->a0);
    }
    for (size_t u = 0; u < c->o->nu; u++)
        lp += c->explicit_[u] || c->precision0[u] > 0 ? 0 : 0.5 * FIT_LOG_2_PI;
    return lp;
}

/* The integral over the noise exists where there are more values than flat parameters. */
static enum fit_status check_freedom(const struct fit_collapsed *c, struct fit_error *err)
{
    for (size_t g = 0; g < c->o->ngroup && conjugate(c); g++)
        if (!(c->a_n[c->unit[g]] > 0))
            return fit_fail(
                err, FIT_ERR_CONFIG,
                "posterior: %.0f values of group %zu do not determine their noise beside as many linear parameters;"
                " give the noise (sigma), or a prior for it (sigma.prior)",
                c->npoint[c->unit[g]], g + 1);
    return FIT_OK;
}

/* Doubles for the matrices of all blocks. */
static size_t matrices(const struct fit_objective *o)
{
    size_t n = 0;
    for (size_t k = 0; k < o->nblock; k++)
        n += fit_objective_block(o, k) * fit_objective_block(o, k);
    return n;
}

static int allocate(struct fit_collapsed *c)
{
    const struct fit_objective *o = c->o;
    struct fit_arena *a = &c->storage_;
    const size_t ng = o->ngroup, nadj = 1 + o->nlinear * (o->nlinear + 1) / 2;
    c->unit = fit_take(a, ng, sizeof *c->unit);
    c->explicit_ = fit_take(a, o->nu, sizeof *c->explicit_);
    c->block_unit = fit_take(a, o->nblock, sizeof *c->block_unit);
    FIT_TAKE_DOUBLES(a, o->nu, &c->m0, &c->precision0, &c->u);
    FIT_TAKE_DOUBLES(a, ng, &c->s0, &c->npoint, &c->scale, &c->residual, &c->a_n, &c->b_n);
    FIT_TAKE_DOUBLES(a, matrices(o), &c->factor);
    FIT_TAKE_DOUBLES(a, ng * o->nlinear, &c->lin);
    FIT_TAKE_DOUBLES(a, ng * nadj, &c->adj);
    FIT_TAKE_DOUBLES(a, matrices(o) + 2 * o->nu, &c->work);
    return !a->failed;
}

/* Converts known deviations of unweighted data to weights. */
static enum fit_status known_sigmas(struct fit_collapsed *c, const struct fit_collapsed_setup *s, struct fit_error *err)
{
    for (size_t g = 0; g < c->o->ngroup; g++) {
        if (!(s->sigma[g] > 0))
            return fit_fail(err, FIT_ERR_CONFIG, "posterior: the known noise of group %zu is %g; it must be positive",
                            g + 1, s->sigma[g]);
        c->s0[g] = 1 / (s->sigma[g] * s->sigma[g]);
    }
    fit_objective_group_factor(c->o, c->s0);
    return FIT_OK;
}

enum fit_status fit_collapsed_new(const struct fit_kernel *kernel, const struct fit_dataset *ds,
                                  const struct fit_collapsed_setup *s, struct fit_collapsed **out,
                                  struct fit_error *err)
{
    *out = NULL;
    if (!kernel->gradient)
        return fit_fail(err, FIT_ERR_CONFIG, "the kernel of %s has no gradient: it cannot be sampled", kernel->name);
    struct fit_collapsed *c = calloc(1, sizeof *c);
    if (!c)
        return fit_no_memory(err, "posterior");
    struct fit_objective_setup os = {.scaling = s->scaling, .linear_class = s->linear_class,
                                     .linear_fixed = s->linear_fixed,
                                     .linear_start = s->linear_value, .threads = s->threads,
                                     .interrupt = s->interrupt};
    enum fit_status st = fit_objective_new(kernel, ds, &os, &c->o, err);
    c->variance = s->variance;
    c->count = s->count > 0 ? s->count : 1;
    c->a0 = conjugate(c) ? s->a0 : 0;
    c->temper = s->temper > 0 ? s->temper : 1;
    if (st == FIT_OK && !allocate(c))
        st = fit_no_memory(err, "posterior");
    if (st == FIT_OK && s->variance == FIT_VARIANCE_KNOWN && !ds->weighted && s->sigma && !kernel->density)
        st = known_sigmas(c, s, err);
    if (st == FIT_OK) {
        number_units(c);
        set_priors(c, s);
        st = check_freedom(c, err);
    }
    if (st != FIT_OK) {
        fit_collapsed_free(c);
        return st;
    }
    c->constant = constant_part(c);
    *out = c;
    return FIT_OK;
}

void fit_collapsed_free(struct fit_collapsed *c)
{
    if (!c)
        return;
    fit_objective_free(c->o);
    fit_arena_free(&c->storage_);
    free(c);
}

void fit_collapsed_explicit(struct fit_collapsed *c, size_t u)
{
    c->a_n[unit_of(c, u)] += c->explicit_[u] ? 0 : freedom_of(c, u);
    c->explicit_[u] = 1;
    c->constant = constant_part(c);
}

/* ---- density ------------------------------------------------------------------------------------------- */

/* Lists the collapsed unknowns of a block, in the order of the block; returns how many. */
static size_t collapsed_of(const struct fit_collapsed *c, size_t block, const size_t **order)
{
    const struct fit_objective *o = c->o;
    size_t n = 0, first = block_begin(o, block), size = fit_objective_block(o, block);
    size_t *index = (size_t *)(void *)c->work; /* nu doubles at its head */
    for (size_t i = 0; i < size; i++)
        if (!c->explicit_[o->order[first + i]])
            index[n++] = o->order[first + i];
    *order = index;
    return n;
}

/* Mean of the block's collapsed unknowns; adds 1/2 log|L0| - 1/2 log|A| to *lp.  0: A is not positive
 * definite. */
static int solve_block(struct fit_collapsed *c, size_t block, double *lp)
{
    const struct fit_objective *o = c->o;
    const size_t *index;
    size_t n = collapsed_of(c, block, &index), size = fit_objective_block(o, block);
    const double *A = o->A + o->block_matrix[block], scale = c->scale[c->block_unit[block]];
    double *L = c->factor + o->block_matrix[block], *x = c->work + o->nu;
    for (size_t r = 0; r < n; r++) {
        size_t u = index[r];
        const double *row = A + o->place[u] * size;
        double b = scale * o->b[u] + c->precision0[u] * c->m0[u];
        for (size_t i = 0; i < size; i++) {
            size_t v = o->order[block_begin(o, block) + i];
            b -= c->explicit_[v] ? scale * row[i] * c->u[v] : 0;
        }
        for (size_t k = 0; k <= r; k++)
            L[r * n + k] = scale * row[o->place[index[k]]] + (k == r ? c->precision0[u] : 0);
        x[r] = b;
    }
    if (fit_cholesky(n, L, 1e-14) != 0)
        return 0;
    for (size_t r = 0; r < n; r++) {
        double p0 = c->precision0[index[r]];
        *lp += (p0 > 0 ? 0.5 * log(p0) : 0) - log(L[r * n + r]);
    }
    fit_cholesky_solve(n, L, x);
    for (size_t r = 0; r < n; r++)
        c->u[index[r]] = x[r];
    return 1;
}

/* b_n of every unit, from the residuals and the distance to the prior means. */
static void sum_squares(struct fit_collapsed *c)
{
    const struct fit_objective *o = c->o;
    for (size_t k = 0; k < c->nunit; k++)
        c->b_n[k] = 0;
    for (size_t g = 0; g < o->ngroup; g++)
        c->b_n[c->unit[g]] +=
            0.5 * c->scale[c->unit[g]] * fit_objective_group(o, g, c->u, c->lin + g * o->nlinear);
    for (size_t k = 0; k < c->nunit; k++) {
        c->residual[k] = 2 * c->b_n[k];
        c->b_n[k] += 0.5 * c->temper * c->a0 * c->s0[k] * c->s0[k];
    }
    for (size_t u = 0; u < o->nu; u++) {
        double d = c->u[u] - c->m0[u];
        if (!c->explicit_[u])
            c->b_n[c->block_unit[o->block_of[u]]] += 0.5 * c->precision0[u] * d * d;
    }
}

/* The part of the variance; h: log sigma of the units, or NULL. */
static double variance_part(const struct fit_collapsed *c, const double *h)
{
    double lp = c->constant;
    for (size_t k = 0; k < c->nunit; k++) {
        lp -= conjugate(c) ? c->a_n[k] * log(c->b_n[k]) : c->b_n[k];
        lp -= fit_variance_given(c->variance) ? c->npoint[k] * h[k] : 0;
    }
    return lp;
}

/* d log p / d (c/2), with the opposite sign: the weight of a squared residual. */
static double rho(const struct fit_collapsed *c, size_t k)
{
    return c->scale[k] * (conjugate(c) ? c->a_n[k] / c->b_n[k] : 1);
}

/* Seeds of the adjoint pass. */
static void set_seeds(struct fit_collapsed *c)
{
    const struct fit_objective *o = c->o;
    size_t Q = o->nlinear, nadj = 1 + Q * (Q + 1) / 2;
    memset(c->adj, 0, o->ngroup * nadj * sizeof *c->adj);
    for (size_t g = 0; g < o->ngroup; g++)
        c->adj[g * nadj] = rho(c, c->unit[g]);
    for (size_t block = 0; block < o->nblock; block++) {
        const size_t *index;
        size_t n = collapsed_of(c, block, &index);
        double *inverse = c->work + 2 * o->nu, scale = c->scale[c->block_unit[block]];
        fit_cholesky_inverse(n, c->factor + o->block_matrix[block], inverse);
        for (size_t g = 0; g < o->ngroup; g++) {
            if (group_block(o, g) != (long)block)
                continue;
            double *M = c->adj + g * nadj + 1;
            for (size_t p = 0; p < Q; p++)
                for (size_t q = p; q < Q; q++, M++)
                    for (size_t r = 0; r < n; r++)
                        for (size_t k = 0; k < n; k++)
                            if (o->map[g * Q + p] == (int)index[r] && o->map[g * Q + q] == (int)index[k])
                                *M = scale * inverse[r * n + k];
        }
    }
}

/* d lp / d u of explicit unknowns: rho times (right side - matrix u). */
static void explicit_gradient(const struct fit_collapsed *c, double *gu)
{
    const struct fit_objective *o = c->o;
    for (size_t u = 0; u < o->nu; u++) {
        size_t block = o->block_of[u], size = fit_objective_block(o, block);
        const double *row = o->A + o->block_matrix[block] + o->place[u] * size;
        double t = o->b[u];
        gu[u] = 0;
        if (!c->explicit_[u])
            continue;
        for (size_t i = 0; i < size; i++)
            t -= row[i] * c->u[o->order[block_begin(o, block) + i]];
        gu[u] = rho(c, c->block_unit[block]) * t;
    }
}

/* d lp / d log sigma = -n + v (sum w r^2 + tr A^-1 X^T W X), and v A^-1 X^T W X = 1 - A^-1 L0. */
static void sigma_gradient(struct fit_collapsed *c, double *gh)
{
    const struct fit_objective *o = c->o;
    for (size_t k = 0; k < c->nunit; k++)
        gh[k] = c->residual[k] - c->npoint[k];
    for (size_t block = 0; block < o->nblock; block++) {
        const size_t *index;
        size_t n = collapsed_of(c, block, &index);
        double *inverse = c->work + 2 * o->nu;
        fit_cholesky_inverse(n, c->factor + o->block_matrix[block], inverse);
        for (size_t r = 0; r < n; r++)
            gh[c->block_unit[block]] += 1 - inverse[r * n + r] * c->precision0[index[r]];
    }
}

enum fit_eval fit_collapsed_eval(struct fit_collapsed *c, const struct fit_collapsed_point *at, double *lp,
                                 const struct fit_collapsed_slope *slope)
{
    struct fit_objective *o = c->o;
    enum fit_eval e = fit_objective_sums(o, at->theta, slope != NULL);
    if (e != FIT_EVAL_OK)
        return e;
    for (size_t u = 0; u < o->nu; u++)
        if (c->explicit_[u])
            c->u[u] = at->u[u];
    for (size_t k = 0; k < c->nunit && fit_variance_given(c->variance); k++)
        c->scale[k] = c->count * exp(-2 * at->log_sigma[k]);
    *lp = 0;
    for (size_t k = 0; k < o->nblock; k++)
        if (!solve_block(c, k, lp))
            return FIT_EVAL_REJECT;
    sum_squares(c);
    c->height = variance_part(c, at->log_sigma);
    *lp += c->height;
    if (!isfinite(*lp))
        return FIT_EVAL_REJECT;
    if (!slope)
        return FIT_EVAL_OK;
    set_seeds(c);
    if (slope->u)
        explicit_gradient(c, slope->u);
    if (slope->log_sigma && fit_variance_given(c->variance))
        sigma_gradient(c, slope->log_sigma);
    return fit_objective_adjoint(o, c->lin, c->adj, slope->theta);
}

/* ---- draws of integrated parameters ------------------------------------------------------------------- */

void fit_collapsed_draw(struct fit_collapsed *c, struct fit_rng *rng, double *lin, double *sigma)
{
    struct fit_objective *o = c->o;
    size_t Q = o->nlinear;
    double *z = c->work + o->nu, *of_unit = c->adj; /* not needed until the next evaluation */
    for (size_t k = 0; k < c->nunit; k++)
        of_unit[k] = conjugate(c) ? sqrt(c->b_n[k] / fit_rng_next_gamma(rng, c->a_n[k])) : 1;
    for (size_t g = 0; g < o->ngroup; g++) /* v = 1 when the variance is known */
        sigma[g] = conjugate(c) ? of_unit[c->unit[g]] : sqrt(c->count / c->scale[c->unit[g]]);
    for (size_t g = 0; g < o->ngroup * Q; g++)
        lin[g] = c->lin[g];
    for (size_t block = 0; block < o->nblock; block++) {
        const size_t *index;
        size_t n = collapsed_of(c, block, &index);
        fit_rng_next_normals(rng, n, z);
        fit_lower_solve_transposed(n, c->factor + o->block_matrix[block], z);
        double s = of_unit[c->block_unit[block]];
        for (size_t e = 0; e < o->ngroup * Q; e++)
            for (size_t r = 0; r < n; r++)
                if (o->map[e] == (int)index[r])
                    lin[e] += s * z[r];
    }
    for (size_t e = 0; e < o->ngroup * Q; e++)
        if ((int)(e % Q) == o->kernel->intercept)
            lin[e] += o->ds->reference[e / Q];
}

void fit_collapsed_unknown(const struct fit_collapsed *c, size_t u, double *mean, double *sd)
{
    const struct fit_objective *o = c->o;
    const size_t *index;
    size_t block = o->block_of[u], unit = c->block_unit[block], n = collapsed_of(c, block, &index);
    double *x = c->work + o->nu;
    *mean = c->u[u];
    *sd = 0;
    for (size_t r = 0; r < n; r++) {
        if (index[r] != u)
            continue;
        memset(x, 0, n * sizeof *x);
        x[r] = 1;
        fit_lower_solve(n, c->factor + o->block_matrix[block], x);
        double square = 0, variance = 1;
        for (size_t k = 0; k < n; k++)
            square += x[k] * x[k];
        if (conjugate(c))
            variance = c->a_n[unit] > 1 ? c->b_n[unit] / (c->a_n[unit] - 1) : INFINITY;
        *sd = sqrt(variance * square);
    }
}
