/* qr_steps.c -- Gauss-Newton steps by QR, and errors from R. See qr_steps.h.
 *
 * Columns of J are scaled to unit length, linear ones first. Then with
 *         [ R11  R12 ]
 *     R = [          ]     J^T J = D R^T R D,     D the lengths of the columns,
 *         [  0   R22 ]
 * R22^T R22 is Kaufman's matrix of objective.h, and its singular values are those of the projected Jacobian. |R z|, z
 * the step, is the part of the residual in the space of J: divided by the standard deviation of the residuals it is the
 * distance to the minimum in standard errors.
 *
 * A step is taken while the cost falls; where the rounding of the cost hides it, while |R z| falls. With large
 * residuals Gauss-Newton contracts slowly, so several steps without progress are allowed. The end is reached where |R
 * z| is below the rounding of the residuals: a residual is the difference of two numbers as large as the data.
 */
#include "leastsquares/qr_steps.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "math/linalg.h"

static const double DEPENDENT = 1e-12; /* a diagonal of R below this is rounding */
enum { TURNS = 200, PATIENCE = 6, HALVINGS = 12 };

struct work {
    const struct fit_polish_spec *s;
    const struct fit_objective *o;
    struct fit_polish *p;
    size_t m, np, nl;    /* rows; nonlinear and linear parameters */
    const double *w;     /* m: square roots of weights, or NULL */
    double *y, *root;    /* m: data; square roots of weights */
    uint32_t *row;       /* m */
    double *ws;          /* tables of the kernel */
    double *mean, *jac;  /* m; np + nl columns of m */
    double *a, *b, *qr;  /* for fit_qr_solve() */
    const double **column; /* n: those of jac that are fitted */
    double *theta, *lin; /* the point */
    double *z, *from;    /* n: the step from there, in units of the parameters; where the last one began */
    double *r, *scale;   /* there */
    double chi2, length; /* there; |R z| */
};

int fit_polish_suits(const struct fit_objective *o)
{
    size_t n = o->nparam + o->nlinear;
    return o->kernel->space == FIT_ROWS && !o->kernel->density && o->ngroup == 1 && o->kernel->points && n > 0 &&
           o->ds->layout.nrow <= FIT_POLISH_MOST / n;
}

/* ---- memory ---------------------------------------------------------------------------------- */

static void result_new(struct fit_polish *p, size_t np, size_t nl)
{
    const size_t n = np + nl;
    p->column = fit_take(&p->storage_, n, sizeof *p->column);
    FIT_TAKE_DOUBLES(&p->storage_, np, &p->theta);
    FIT_TAKE_DOUBLES(&p->storage_, nl, &p->lin);
    FIT_TAKE_DOUBLES(&p->storage_, n, &p->scale);
    FIT_TAKE_DOUBLES(&p->storage_, n * n, &p->r);
}

void fit_polish_free(struct fit_polish *p)
{
    fit_arena_free(&p->storage_);
    *p = (struct fit_polish){0};
}

static void work_new(struct work *c, struct fit_arena *a)
{
    const size_t m = c->m, n = c->np + c->nl;
    c->row = fit_take(a, m, sizeof *c->row);
    FIT_TAKE_DOUBLES(a, m, &c->y, &c->root, &c->mean, &c->b);
    c->column = fit_take(a, n, sizeof *c->column);
    c->jac = fit_take_unset(a, m * n, sizeof *c->jac); /* written before they are read */
    c->a = fit_take_unset(a, m * n, sizeof *c->a);
    FIT_TAKE_DOUBLES(a, fit_qr_work(m, n), &c->qr);
    FIT_TAKE_DOUBLES(a, c->np, &c->theta);
    FIT_TAKE_DOUBLES(a, c->nl, &c->lin);
    FIT_TAKE_DOUBLES(a, n, &c->z, &c->scale, &c->from);
    FIT_TAKE_DOUBLES(a, n * n, &c->r);
    FIT_TAKE_DOUBLES(a, c->o->kernel->workspace(&c->o->ds->layout), &c->ws);
}

/* ---- the problem ----------------------------------------------------------------------------- */

/* Linear unknowns inside their bounds, then nonlinear parameters inside theirs. */
static void choose_columns(struct work *c)
{
    const struct fit_objective *o = c->o;
    struct fit_polish *p = c->p;
    for (size_t q = 0; q < c->nl; q++) {
        int u = o->map[q];
        if (u >= 0 && o->upper[u] > o->lower[u] && !o->state[u])
            p->column[p->n++] = c->np + q;
    }
    p->nlin = p->n;
    for (size_t k = 0; k < c->np; k++)
        if (c->s->theta[k] > c->s->lower[k] && c->s->theta[k] < c->s->upper[k])
            p->column[p->n++] = k;
}

static void copy_data(struct work *c)
{
    const struct fit_dataset *ds = c->o->ds;
    for (size_t t = 0; t < ds->ntile; t++) {
        const struct fit_tile *tile = &ds->tile[t];
        for (size_t i = tile->i0; i < tile->i1; i++) {
            size_t at = i - tile->i0;
            c->y[i] = tile->y[at];
            c->root[i] = tile->w ? sqrt(tile->w[at]) : 1;
            c->row[i] = (uint32_t)i;
        }
    }
}

static double *parameter(const struct work *c, double *theta, double *lin, size_t j)
{
    size_t e = c->p->column[j];
    return e < c->np ? &theta[e] : &lin[e - c->np];
}

/* Kahan summation: four interleaved sums, which hide the latency of an addition. */
static double sum_of_squares(size_t n, const double *x)
{
    double sum[4] = {0, 0, 0, 0}, lost[4] = {0, 0, 0, 0};
    for (size_t i = 0; i < n; i += 4)
        for (size_t c = 0; c < 4 && i + c < n; c++) {
            const double r = x[i + c] * x[i + c] - lost[c], t = sum[c] + r;
            lost[c] = (t - sum[c]) - r;
            sum[c] = t;
        }
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) - ((lost[0] + lost[1]) + (lost[2] + lost[3]));
}

/* Mean, derivatives, residuals (into b) and chi2 at (theta, lin) of c. 0: not finite. Steps are nearly always
 * accepted, so that the derivatives are needed. */
static int evaluate(struct work *c)
{
    const struct fit_kernel *k = c->o->kernel;
    const struct fit_layout *l = &c->o->ds->layout;
    if (k->prepare(l, c->theta, 1, c->ws) != FIT_EVAL_OK)
        return 0;
    k->points(l, c->ws, c->lin, &(struct fit_points){c->m, c->row, NULL, NULL}, c->mean, c->jac);
    for (size_t i = 0; i < c->m; i++)
        c->b[i] = c->root[i] > 0 ? c->root[i] * (c->y[i] - c->mean[i]) : 0;
    c->chi2 = sum_of_squares(c->m, c->b);
    return isfinite(c->chi2);
}

/* Weighted columns into a, `count` of n, at most 4, and the sums of their squares. */
static inline void weigh_columns(size_t m, size_t n, size_t count, const double *restrict root,
                                 const double *const *column, double *restrict a, double *restrict square)
{
    double sum[4] = {0, 0, 0, 0};
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < count; j++) {
            const double v = root[i] > 0 ? root[i] * column[j][i] : 0;
            a[i * n + j] = v;
            sum[j] += v * v;
        }
    memcpy(square, sum, count * sizeof *sum);
}

/* The same for any number of columns: loops of known length. */
static void weigh_all(size_t m, size_t n, const double *restrict root, const double *const *column,
                      double *restrict a, double *restrict square)
{
    size_t left = n;
    for (; left >= 4; left -= 4, column += 4, a += 4, square += 4)
        weigh_columns(m, n, 4, root, column, a, square);
    switch (left) {
    case 3: weigh_columns(m, n, 3, root, column, a, square); break;
    case 2: weigh_columns(m, n, 2, root, column, a, square); break;
    case 1: weigh_columns(m, n, 1, root, column, a, square); break;
    default: break;
    }
}

/* Weighted columns of unit length into a.  0: not finite, or a column is zero. */
static int fill_columns(struct work *c)
{
    const size_t n = c->p->n, m = c->m;
    double *restrict a = c->a;
    const double *restrict z = c->z;
    for (size_t j = 0; j < n; j++)
        c->column[j] = c->jac + c->p->column[j] * m;
    weigh_all(m, n, c->root, c->column, a, c->scale);
    for (size_t j = 0; j < n; j++) {
        c->scale[j] = sqrt(c->scale[j]);
        if (!(c->scale[j] > DBL_MIN) || !isfinite(c->scale[j]))
            return 0;
        c->z[j] = 1 / c->scale[j];
    }
    for (size_t i = 0; i < m; i++, a += n)
        for (size_t j = 0; j < n; j++)
            a[j] *= z[j];
    return 1;
}

/* R and the step at the last derivatives. 0: J has no full rank, or is not finite. */
static int linearise(struct work *c)
{
    size_t n = c->p->n;
    double s = 0;
    if (!fill_columns(c) || fit_qr_solve(c->m, n, c->a, c->b, c->r, DEPENDENT, c->qr))
        return 0;
    for (size_t i = 0; i < n; i++) {
        double t = 0;
        for (size_t j = i; j < n; j++)
            t += c->r[i * n + j] * c->b[j];
        s += t * t;
    }
    for (size_t j = 0; j < n; j++)
        c->z[j] = c->b[j] / c->scale[j];
    c->length = sqrt(s);
    return isfinite(s);
}

/* The point becomes the result. */
static void keep(struct work *c)
{
    size_t n = c->p->n;
    double variance = c->s->dof > 0 ? c->chi2 / c->s->dof : 0;
    if (c->s->noise > 0)
        variance = fmin(variance, c->s->noise);
    memcpy(c->p->theta, c->theta, c->np * sizeof *c->theta);
    memcpy(c->p->lin, c->lin, c->nl * sizeof *c->lin);
    memcpy(c->p->r, c->r, n * n * sizeof *c->r);
    memcpy(c->p->scale, c->scale, n * sizeof *c->scale);
    c->p->chi2 = c->chi2;
    c->p->gradient = c->length > 0 ? c->length / sqrt(variance) : 0;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* (theta, lin) = (from_theta, from_lin) + part z.  0: not inside the bounds. */
static int move(struct work *c, const double *from_theta, const double *from_lin, double part)
{
    const struct fit_objective *o = c->o;
    memcpy(c->theta, from_theta, c->np * sizeof *from_theta);
    memcpy(c->lin, from_lin, c->nl * sizeof *from_lin);
    for (size_t j = 0; j < c->p->n; j++) {
        size_t e = c->p->column[j];
        double *x = parameter(c, c->theta, c->lin, j), lo, hi;
        *x += part * c->z[j];
        if (e < c->np) {
            lo = c->s->lower[e];
            hi = c->s->upper[e];
        } else {
            size_t q = e - c->np, u = (size_t)o->map[q];
            lo = o->lower[u] + o->shift[q];
            hi = o->upper[u] + o->shift[q];
        }
        if (!(*x > lo && *x < hi))
            return 0;
    }
    return 1;
}

/* Takes the step of the point, shortened while it raises the cost by more than rounding. 0: no such step, or it
 * leaves the box (the optimiser has determined which parameters are held). */
static int step(struct work *c)
{
    double *from = c->from;
    double before = c->chi2, part = 1, square = c->o->data_square + c->o->reference_square;
    /* rounding of the residuals moves the cost by about this */
    double fuzz = 1e-13 * before + 8 * DBL_EPSILON * sqrt(before * square);
    memcpy(from, c->theta, c->np * sizeof *from);
    memcpy(from + c->np, c->lin, c->nl * sizeof *from);
    for (int k = 0; k < HALVINGS; k++, part /= 2) {
        if (!move(c, from, from + c->np, part))
            return 0;
        if (evaluate(c) && c->chi2 <= before + fuzz)
            return linearise(c);
    }
    return 0;
}

static void improve(struct work *c)
{
    const double rounding = DBL_EPSILON / 2 * sqrt(c->o->data_square + c->o->reference_square);
    double best = c->length, chi2 = c->chi2;
    int idle = 0;
    keep(c);
    for (int turn = 0; turn < TURNS && idle < PATIENCE && c->length > rounding; turn++) {
        if (!step(c))
            return;
        int lower = c->chi2 < chi2 * (1 - 1e-10), nearer = c->length < best;
        idle = lower || c->length < 0.9 * best ? 0 : idle + 1;
        if (!lower && !nearer)
            continue;
        best = c->length;
        chi2 = c->chi2;
        keep(c);
    }
}

enum fit_status fit_polish(const struct fit_polish_spec *spec, struct fit_polish *p,
                           struct fit_error *err)
{
    struct work c = {.s = spec, .o = spec->obj, .p = p};
    FIT_SCRATCH(a);
    *p = (struct fit_polish){0};
    c.m = spec->obj->ds->layout.nrow;
    c.np = spec->obj->nparam;
    c.nl = spec->obj->nlinear;
    result_new(p, c.np, c.nl);
    work_new(&c, &a);
    if (p->storage_.failed || a.failed)
        return fit_no_memory(err, "fit, last steps");
    choose_columns(&c);
    copy_data(&c);
    memcpy(c.theta, spec->theta, c.np * sizeof *c.theta);
    memcpy(c.lin, spec->obj->lin, c.nl * sizeof *c.lin);
    if (p->n == 0 || c.m < p->n || !evaluate(&c) || !linearise(&c))
        p->n = 0;
    else
        improve(&c);
    return FIT_OK;
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* Row j of inv: row j of R^-1, divided by the length of column j. */
static void invert(const struct fit_polish *p, double *inv)
{
    size_t n = p->n;
    for (size_t j = 0; j < n; j++) {
        double *column = inv + n * n; /* R column = e_j */
        for (size_t i = n; i-- > 0;) {
            double t = i == j;
            for (size_t k = i + 1; k < n; k++)
                t -= p->r[i * n + k] * column[k];
            column[i] = t / p->r[i * n + i];
            inv[i * n + j] = column[i] / p->scale[i];
        }
    }
}

static void fill_covariance(const struct fit_polish *p, const double *inv, double variance,
                            struct fit_result *res)
{
    size_t n = p->n, all = res->nfull;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            size_t a = p->column[i], b = p->column[j];
            double t = 0;
            for (size_t k = i; k < n; k++)
                t += inv[i * n + k] * inv[j * n + k];
            res->covariance[a * all + b] = res->covariance[b * all + a] = variance * t;
        }
    for (size_t i = 0; i < n; i++)
        res->std[p->column[i]] = sqrt(res->covariance[p->column[i] * (all + 1)]);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            size_t a = p->column[i], b = p->column[j];
            double s = res->std[a] * res->std[b];
            res->correlation[a * all + b] =
                i == j ? 1 : s > 0 ? res->covariance[a * all + b] / s : 0;
        }
}

/* Eigenvalues and vectors of the projected J^T J, scaled to a unit diagonal, from R22. */
static int fill_eigen(const struct fit_polish *p, struct fit_result *res, double *a, double *w)
{
    size_t n = p->n, first = p->nlin, m = n - first, np = res->nparam;
    for (size_t j = 0; j < m; j++) {
        double s = 0;
        for (size_t i = 0; i <= j; i++)
            s = hypot(s, p->r[(first + i) * n + first + j]);
        for (size_t i = 0; i < m; i++)
            a[i * m + j] = i <= j ? p->r[(first + i) * n + first + j] / s : 0;
        res->scale[p->column[first + j]] = s * p->scale[first + j];
    }
    if (m > 0 && fit_singular(m, a, w))
        return 1;
    res->neigen = m;
    res->nnull = 0;
    memset(res->eigenvector, 0, np * np * sizeof *res->eigenvector);
    for (size_t k = 0; k < m; k++) {
        res->eigenvalue[k] = w[k] * w[k];
        for (size_t j = 0; j < m; j++)
            res->eigenvector[k * np + p->column[first + j]] = a[k * m + j];
    }
    return 0;
}

/* The projected J^T J itself; held parameters keep their numbers. */
static void fill_normal(const struct fit_polish *p, struct fit_result *res)
{
    size_t n = p->n, first = p->nlin;
    for (size_t a = first; a < n; a++)
        for (size_t b = first; b < n; b++) {
            double t = 0;
            for (size_t i = first; i <= (a < b ? a : b); i++)
                t += p->r[i * n + a] * p->r[i * n + b];
            res->normal_matrix[p->column[a] * res->nparam + p->column[b]] =
                t * p->scale[a] * p->scale[b];
        }
}

enum fit_status fit_polish_covariance(const struct fit_polish *p, double variance,
                                      struct fit_result *res, struct fit_error *err)
{
    size_t n = p->n;
    FIT_SCRATCH(a);
    double *all = fit_take(&a, n * n + 2 * n, sizeof *all);
    if (!all)
        return fit_no_memory(err, "fit, covariance");
    invert(p, all);
    fill_covariance(p, all, variance, res);
    fill_normal(p, res);
    if (fill_eigen(p, res, all, all + n * n))
        return fit_fail(err, FIT_ERR_NUMERIC, "fit: J is not finite at the optimum");
    return FIT_OK;
}
