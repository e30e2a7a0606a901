/* covariance.c -- covariance of all parameters from the bordered matrix at the optimum.
 *
 * With H over the nonlinear parameters, A over the linear unknowns and C between them,
 *     [ H  C^T ]^-1     [  S^-1         -S^-1 T^T          ]      S = H - C^T A^-1 C
 *     [ C   A  ]     =  [ -T S^-1       A^-1 + T S^-1 T^T  ]      T = A^-1 C
 * (S is Kaufman's matrix of objective.h). Both inverses use eigenvectors of the matrices scaled to a unit diagonal.
 * Directions with an eigenvalue below 1e-12 of the largest are left out, and every parameter with a component along one
 * gets NaN: a pseudo-inverse would give it a small, false error. Parameters on a bound are held.
 */
#include "leastsquares/covariance.h"

#include <math.h>
#include <string.h>

#include "leastsquares/objective_impl.h"
#include "math/linalg.h"

/* Normal equations carry the square of J's condition number; below this, eigenvalues are rounding.
 */
static const double NULL_EIGENVALUE = 1e-12;
/* A component of a null vector below this is rounding of its eigenvector. */
static const double NULL_COMPONENT = 1e-6;

struct work {
    const struct fit_covariance_spec *s;
    const struct fit_objective *o;
    size_t p, m, nu;      /* all and free nonlinear parameters; linear unknowns */
    size_t *free;         /* m */
    signed char *open;    /* nparam + nu: 1 when it takes part in an undetermined direction */
    signed char *lost;    /* nu: 1 when that is one of the linear unknowns alone */
    double *cov;          /* nparam x nparam: S^-1 */
    double *T;            /* nu x nparam */
    double *inverse;      /* blocks of A^-1, in the layout of objective->A */
    double *V, *w, *work; /* eigenvectors; eigenvalues; work space of fit_eigen */
};

static void work_new(struct work *c, struct fit_arena *a)
{
    size_t largest = c->m, all = 0;
    for (size_t k = 0; k < c->o->nblock; k++) {
        size_t n = fit_objective_block(c->o, k);
        all += n * n;
        largest = n > largest ? n : largest;
    }
    c->free = fit_take(a, largest, sizeof *c->free);
    c->open = fit_take(a, c->p + c->nu, sizeof *c->open);
    c->lost = fit_take(a, c->nu, sizeof *c->lost);
    c->cov = fit_take(a, c->p * c->p, sizeof *c->cov);
    c->T = fit_take(a, c->nu * c->p, sizeof *c->T);
    c->inverse = fit_take(a, all, sizeof *c->inverse);
    c->V = fit_take(a, largest * largest, sizeof *c->V);
    c->w = fit_take(a, largest, sizeof *c->w);
    c->work = fit_take(a, fit_eigen_work(largest + 1) + largest, sizeof *c->work);
}

static int is_fixed(const struct fit_covariance_spec *s, size_t k)
{
    return !(s->upper[k] > s->lower[k]);
}

static signed char bound_of(const struct fit_covariance_spec *s, size_t k)
{
    if (is_fixed(s, k))
        return 0;
    return s->theta[k] <= s->lower[k] ? -1 : s->theta[k] >= s->upper[k] ? 1 : 0;
}

/* Replaces V (n rows) by the eigenvectors (rows) of V scaled to unit diagonal; d gets the scale. Returns the number
 * of null directions (they come first; relative eigenvalue not above limit), or -1. */
static int scaled_eigen(double *V, double *w, double *work, size_t n, double limit, double *d)
{
    int null = 0;
    for (size_t i = 0; i < n; i++)
        d[i] = V[i * n + i] > 0 ? sqrt(V[i * n + i]) : 1;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            V[i * n + j] /= d[i] * d[j];
    if (fit_eigen(n, V, w, work))
        return -1;
    while ((size_t)null < n && !(w[null] > limit * w[n - 1]))
        null++;
    return null;
}

/* Rounding mixes eigenvectors by 1e-16 divided by the distance of their eigenvalues. */
static double component_limit(const struct work *c, size_t n, int null)
{
    double next = (size_t)null < n ? c->w[null] / c->w[n - 1] : 1;
    return fmax(NULL_COMPONENT, 1e-14 / next);
}

/* S is a difference, H - C^T A^-1 C: where little is left of H, its rounding is relatively larger.
 */
static double null_limit(const struct work *c)
{
    double worst = 1;
    for (size_t i = 0; i < c->m; i++) {
        size_t k = c->free[i] * (c->p + 1);
        if (c->s->B[k] > 0)
            worst = fmax(worst, c->o->hessian[k] / c->s->B[k]);
    }
    return fmax(NULL_EIGENVALUE, 1e-15 * worst);
}

/* S^-1 over the free nonlinear parameters; identifiability into res. */
static int invert_nonlinear(struct work *c, struct fit_result *res)
{
    size_t m = c->m, p = c->p;
    double *d = c->work + fit_eigen_work(m + 1);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            c->V[i * m + j] = c->s->B[c->free[i] * p + c->free[j]];
    int null = scaled_eigen(c->V, c->w, c->work, m, null_limit(c), d);
    if (null < 0)
        return 1;
    double limit = component_limit(c, m, null);
    res->neigen = m;
    res->nnull = (size_t)null;
    for (size_t k = 0; k < m; k++) {
        res->eigenvalue[k] = c->w[k];
        for (size_t i = 0; i < m; i++)
            res->eigenvector[k * p + c->free[i]] = c->V[k * m + i];
    }
    for (int k = 0; k < null; k++)
        for (size_t i = 0; i < m; i++)
            if (fabs(c->V[(size_t)k * m + i]) > limit)
                c->open[c->free[i]] = 1;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++) {
            double t = 0;
            for (size_t k = (size_t)null; k < m; k++)
                t += c->V[k * m + i] * c->V[k * m + j] / c->w[k];
            c->cov[c->free[i] * p + c->free[j]] = t / (d[i] * d[j]);
        }
    return 0;
}

/* A^-1 and the rows of T of one block. */
static int invert_block(struct work *c, size_t block)
{
    const struct fit_objective *o = c->o;
    size_t n = fit_objective_block(o, block), m = 0;
    const double *A = o->A + o->block_matrix[block];
    double *inverse = c->inverse + o->block_matrix[block], *d = c->work + fit_eigen_work(n + 1);
    size_t *index = c->free;
    for (size_t i = 0; i < n; i++) {
        size_t u = o->order[o->block_first[block] + i];
        if (o->state[u] == 0 && o->upper[u] > o->lower[u])
            index[m++] = i;
    }
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            c->V[i * m + j] = A[index[i] * n + index[j]];
    int null = m ? scaled_eigen(c->V, c->w, c->work, m, NULL_EIGENVALUE, d) : 0;
    if (null < 0)
        return 1;
    double limit = m ? component_limit(c, m, null) : 0;
    for (size_t i = 0; i < m; i++) {
        size_t u = o->order[o->block_first[block] + index[i]];
        for (int k = 0; k < null; k++)
            if (fabs(c->V[(size_t)k * m + i]) > limit)
                c->open[c->p + u] = c->lost[u] = 1;
        for (size_t j = 0; j < m; j++) {
            size_t v = o->order[o->block_first[block] + index[j]];
            double t = 0;
            for (size_t k = (size_t)null; k < m; k++)
                t += c->V[k * m + i] * c->V[k * m + j] / c->w[k];
            t /= d[i] * d[j];
            inverse[index[i] * n + index[j]] = t;
            for (size_t k = 0; k < c->p; k++)
                c->T[u * c->p + k] += t * o->cross[v * c->p + k];
        }
    }
    return 0;
}

/* Linear unknowns that move along undetermined directions of the nonlinear parameters. */
static void spread_open(struct work *c, const struct fit_result *res)
{
    const struct fit_objective *o = c->o;
    for (size_t u = 0; u < c->nu; u++) {
        size_t block = o->block_of[u], n = fit_objective_block(o, block);
        double size = sqrt(fmax(o->A[o->block_matrix[block] + o->place[u] * (n + 1)], 0));
        for (size_t k = 0; k < res->nnull; k++) {
            double t = 0;
            for (size_t j = 0; j < c->p; j++)
                if (res->scale[j] > 0)
                    t += c->T[u * c->p + j] * res->eigenvector[k * c->p + j] / res->scale[j];
            if (fabs(t) * size > 1e-4) /* the null vector has unit length in the same measure */
                c->open[c->p + u] = 1;
        }
    }
}

/* ---- the full matrix ------------------------------------------------------------------------- */

enum kind { FIXED, HELD, OPEN, DETERMINED };

/* The meaning of an element of the full vector; *at: its nonlinear parameter, or p + its unknown. */
static enum kind element(const struct work *c, size_t e, size_t *at)
{
    if (e < c->p) {
        *at = e;
        if (is_fixed(c->s, e))
            return FIXED;
        return bound_of(c->s, e) ? HELD : c->open[e] ? OPEN : DETERMINED;
    }
    int u = c->o->map[e - c->p];
    if (u < 0 || !(c->o->upper[u] > c->o->lower[u]))
        return FIXED;
    *at = c->p + (size_t)u;
    return c->o->state[u] ? HELD : c->open[*at] ? OPEN : DETERMINED;
}

static double covariance_of(const struct work *c, size_t a, size_t b)
{
    size_t p = c->p;
    const struct fit_objective *o = c->o;
    if (a < p && b < p)
        return c->cov[a * p + b];
    if (b < p || a < p) {
        size_t k = a < p ? a : b, u = (a < p ? b : a) - p;
        double t = 0;
        for (size_t j = 0; j < p; j++)
            t -= c->T[u * p + j] * c->cov[j * p + k];
        return t;
    }
    size_t u = a - p, v = b - p, block = o->block_of[u];
    double t = 0;
    if (block == o->block_of[v])
        t = c->inverse[o->block_matrix[block] + o->place[u] * fit_objective_block(o, block) + o->place[v]];
    for (size_t j = 0; j < p; j++)
        for (size_t k = 0; k < p; k++)
            t += c->T[u * p + j] * c->cov[j * p + k] * c->T[v * p + k];
    return t;
}

static void fill_matrix(const struct work *c, struct fit_result *res)
{
    size_t n = res->nfull;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b <= a; b++) {
            size_t i = 0, j = 0;
            enum kind x = element(c, a, &i), y = element(c, b, &j);
            double v = NAN;
            if (x == FIXED || y == FIXED)
                v = 0;
            else if (x == DETERMINED && y == DETERMINED)
                v = c->s->variance * covariance_of(c, i, j);
            res->covariance[a * n + b] = res->covariance[b * n + a] = v;
        }
    for (size_t a = 0; a < n; a++)
        res->std[a] = sqrt(res->covariance[a * n + a]);
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            double s = res->std[a] * res->std[b], v = res->covariance[a * n + b];
            /* fixed parameters are correlated with nothing */
            res->correlation[a * n + b] = a == b ? 1 : isnan(s) || s > 0 ? v / s : 0;
        }
}

/* ---- derived quantities ---------------------------------------------------------------------------------------- */

/* A relative component of a gradient along an undetermined direction below this is rounding. */
static const double ALONG = 1e-3;

/* Gradients with respect to the unknowns that vary: x[nparam + nu] from that over the full vector; 0: one of its
 * unknowns is undetermined. */
static int gather(const struct work *c, const struct fit_result *res, const double *g, double *x)
{
    memset(x, 0, (c->p + c->nu) * sizeof *x);
    for (size_t e = 0; e < res->nfull; e++) {
        size_t at = 0;
        const enum kind kind = element(c, e, &at);
        if (g[e] == 0 || kind == FIXED || kind == HELD)
            continue;
        x[at] += g[e];
        if (at >= c->p && c->lost[at - c->p])
            return 0;
    }
    return 1;
}

/* g^T C g with the generalised inverse; with the response of the linear unknowns to a step, G = g_theta - T^T g_lin:
 *     g_lin^T A^-1 g_lin + G^T S^- G.        NaN when G has a component along an undetermined direction. */
static double spread_of(const struct work *c, const struct fit_result *res, const double *g, double *x)
{
    const struct fit_objective *o = c->o;
    double *G = x + c->p + c->nu, *size = G + c->p, whole = 0, sum = 0;
    if (!gather(c, res, g, x))
        return NAN;
    for (size_t k = 0; k < c->p; k++) {
        G[k] = x[k];
        size[k] = fabs(x[k]);
        for (size_t u = 0; u < c->nu; u++) {
            G[k] -= c->T[u * c->p + k] * x[c->p + u];
            size[k] += fabs(c->T[u * c->p + k] * x[c->p + u]);
        }
        if (!is_fixed(c->s, k) && !bound_of(c->s, k))
            whole = hypot(whole, size[k] / res->scale[k]);
    }
    for (size_t n = 0; n < res->nnull; n++) {
        double t = 0;
        for (size_t k = 0; k < c->p; k++)
            t += res->eigenvector[n * c->p + k] * G[k] / res->scale[k];
        if (fabs(t) > ALONG * whole)
            return NAN;
    }
    for (size_t a = 0; a < c->p; a++)
        for (size_t b = 0; b < c->p; b++)
            sum += G[a] * c->cov[a * c->p + b] * G[b];
    for (size_t u = 0; u < c->nu; u++)
        for (size_t v = 0; v < c->nu; v++)
            if (o->block_of[u] == o->block_of[v])
                sum += x[c->p + u] * x[c->p + v] *
                       c->inverse[o->block_matrix[o->block_of[u]] +
                                  o->place[u] * fit_objective_block(o, o->block_of[u]) + o->place[v]];
    return sqrt(c->s->variance * sum);
}

static void fill_derived(const struct work *c, struct fit_result *res, double *x)
{
    for (size_t k = 0; k < res->nderived; k++)
        res->derived[k].spread = spread_of(c, res, res->derived[k].gradient, x);
}

static void note_bounds(const struct work *c, struct fit_result *res)
{
    for (size_t e = 0; e < res->nfull; e++) {
        int u = e < c->p ? -1 : c->o->map[e - c->p];
        if (e < c->p)
            res->at_bound[e] = bound_of(c->s, e);
        else if (u >= 0 && c->o->upper[u] > c->o->lower[u])
            res->at_bound[e] = c->o->state[u];
    }
}

static void clear(struct fit_result *r)
{
    size_t p = r->nparam, n = r->nfull;
    r->neigen = r->nnull = 0;
    memset(r->at_bound, 0, n);
    memset(r->std, 0, n * sizeof *r->std);
    memset(r->covariance, 0, n * n * sizeof *r->covariance);
    memset(r->correlation, 0, n * n * sizeof *r->correlation);
    memset(r->scale, 0, p * sizeof *r->scale);
    memset(r->eigenvalue, 0, p * sizeof *r->eigenvalue);
    memset(r->eigenvector, 0, p * p * sizeof *r->eigenvector);
}

enum fit_status fit_covariance(const struct fit_covariance_spec *spec, struct fit_result *res,
                               struct fit_error *err)
{
    struct work c = {.s = spec, .o = spec->obj, .p = spec->obj->nparam, .nu = spec->obj->nu};
    FIT_SCRATCH(a);
    int bad = 0;
    for (size_t k = 0; k < c.p; k++)
        c.m += !is_fixed(spec, k) && !bound_of(spec, k);
    work_new(&c, &a);
    double *x = fit_take(&a, 3 * c.p + c.nu, sizeof *x);
    if (a.failed)
        return fit_no_memory(err, "fit, covariance");
    clear(res);
    for (size_t k = 0, m = 0; k < c.p; k++) {
        double diagonal = spec->B[k * c.p + k];
        res->scale[k] = diagonal > 0 ? sqrt(diagonal) : 1;
        if (!is_fixed(spec, k) && !bound_of(spec, k))
            c.free[m++] = k;
    }
    bad = c.m ? invert_nonlinear(&c, res) : 0;
    for (size_t k = 0; k < c.o->nblock && !bad; k++)
        bad = invert_block(&c, k);
    if (bad)
        return fit_fail(err, FIT_ERR_NUMERIC, "fit: J^T J is not finite at the optimum");
    spread_open(&c, res);
    note_bounds(&c, res);
    fill_matrix(&c, res);
    fill_derived(&c, res, x);
    return FIT_OK;
}

/* ---- some of the parameters ------------------------------------------------------------------ */

void fit_spread_new(struct fit_spread *s, size_t p, struct fit_arena *a)
{
    *s = (struct fit_spread){.p = p, .index = fit_take(a, p, sizeof *s->index)};
    FIT_TAKE_DOUBLES(a, p, &s->w, &s->d);
    FIT_TAKE_DOUBLES(a, p * p, &s->V);
    FIT_TAKE_DOUBLES(a, fit_eigen_work(p + 1), &s->work);
}

int fit_spread_set(struct fit_spread *s, const struct fit_result *res, const unsigned char *free)
{
    size_t m = 0;
    for (size_t k = 0; k < s->p; k++)
        if (free[k])
            s->index[m++] = k;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            s->V[i * m + j] = res->normal_matrix[s->index[i] * s->p + s->index[j]];
    /* what was rounding for all parameters is rounding here */
    double limit = NULL_EIGENVALUE;
    if (res->nnull)
        limit = fmax(limit, 1.001 * res->eigenvalue[res->nnull - 1] / res->eigenvalue[res->neigen - 1]);
    int null = m ? scaled_eigen(s->V, s->w, s->work, m, limit, s->d) : 0;
    s->m = m;
    s->null = null > 0 ? (size_t)null : 0;
    return null < 0;
}

double fit_spread_variance(const struct fit_spread *s, const double *gradient, double along)
{
    double variance = 0, size = 0;
    for (size_t i = 0; i < s->m; i++)
        size = hypot(size, gradient[s->index[i]] / s->d[i]);
    for (size_t k = 0; k < s->m; k++) {
        double t = 0;
        for (size_t i = 0; i < s->m; i++)
            t += s->V[k * s->m + i] * gradient[s->index[i]] / s->d[i];
        if (k >= s->null)
            variance += t * t / s->w[k];
        else if (fabs(t) > along * size)
            return NAN;
    }
    return variance;
}
