/* linalg.c -- small dense linear algebra for fits with a few parameters.
 *
 * Cholesky and triangular solves are written out, as are the functions of linalg_eigen.c: for n < 50 a library call
 * costs more than the work, and these loops give the same bits on every machine.
 *
 * The box-constrained quadratic program is solved in variables scaled to a unit diagonal (van der Sluis 1969: within a
 * factor n of the best condition number that scaling can give) by a primal active-set method; see Nocedal & Wright,
 * Numerical Optimization (2006), section 16.5.
 */
#include "math/linalg.h"

#include <math.h>
#include <string.h>

void fit_multiply(size_t m, size_t n, size_t p, const double *A, const double *B, size_t step, double *out)
{
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < p; k++) {
            double sum = 0;
            for (size_t e = 0; e < n; e++)
                sum += A[i * n + e] * B[e * step + k];
            out[i * p + k] = sum;
        }
}

/* An addition waits for the one before it; so many independent sums hide the latency, each in its own order. */
enum { SIDE_BY_SIDE = 8 };

/* Column j of the factor in the rows r, once row j, aj, has its diagonal. */
static void rows_of_factor(size_t n, double *r, const double *aj, size_t j)
{
    double t[SIDE_BY_SIDE];
    for (size_t c = 0; c < SIDE_BY_SIDE; c++)
        t[c] = r[c * n + j];
    for (size_t k = 0; k < j; k++)
        for (size_t c = 0; c < SIDE_BY_SIDE; c++)
            t[c] -= r[c * n + k] * aj[k];
    for (size_t c = 0; c < SIDE_BY_SIDE; c++)
        r[c * n + j] = t[c] / aj[j];
}

size_t fit_cholesky(size_t n, double *a, double tol)
{
    for (size_t j = 0; j < n; j++) {
        double *aj = a + j * n;
        double diagonal = aj[j], s = diagonal;
        for (size_t k = 0; k < j; k++)
            s -= aj[k] * aj[k];
        if (!(s > tol * diagonal) || !isfinite(s))
            return j + 1;
        double pivot = sqrt(s);
        aj[j] = pivot;
        size_t i = j + 1;
        for (; i + SIDE_BY_SIDE <= n; i += SIDE_BY_SIDE)
            rows_of_factor(n, a + i * n, aj, j);
        for (; i < n; i++) {
            double *ai = a + i * n;
            double t = ai[j];
            for (size_t k = 0; k < j; k++)
                t -= ai[k] * aj[k];
            ai[j] = t / pivot;
        }
    }
    return 0;
}

void fit_lower_solve(size_t n, const double *l, double *b)
{
    for (size_t i = 0; i < n; i++) {
        double t = b[i];
        for (size_t k = 0; k < i; k++)
            t -= l[i * n + k] * b[k];
        b[i] = t / l[i * n + i];
    }
}

void fit_lower_solve_transposed(size_t n, const double *l, double *b)
{
    for (size_t i = n; i-- > 0;) {
        double t = b[i];
        for (size_t k = i + 1; k < n; k++)
            t -= l[k * n + i] * b[k];
        b[i] = t / l[i * n + i];
    }
}

void fit_cholesky_solve(size_t n, const double *l, double *b)
{
    fit_lower_solve(n, l, b);
    fit_lower_solve_transposed(n, l, b);
}

void fit_cholesky_inverse(size_t n, const double *l, double *inverse)
{
    memset(inverse, 0, n * n * sizeof *inverse);
    for (size_t k = 0; k < n; k++) {
        inverse[k * n + k] = 1;
        fit_cholesky_solve(n, l, inverse + k * n);
    }
}

/* ---- quadratic program in a box -------------------------------------------------------------- */

/* In scaled variables, measured from ref: y = d (x - ref), matrix with unit diagonal. */
struct boxqp {
    size_t n;
    double ridge;
    double *a, *b, *lower, *upper, *y, *d;
    double *factor, *rhs; /* of the free variables */
    size_t *index;
    signed char *state;
};

size_t fit_boxqp_work(size_t n)
{
    return 2 * n * n + 7 * n + 8;
}

/* x, or the bound that it exceeds. */
static double inside(double x, double lower, double upper)
{
    return x < lower ? lower : x > upper ? upper : x;
}

/* Writes into target (rhs) the minimiser over the free variables, the others held. */
static int solve_free(struct boxqp *q, size_t *nfree)
{
    size_t n = q->n, m = 0;
    for (size_t i = 0; i < n; i++)
        if (q->state[i] == 0)
            q->index[m++] = i;
    for (size_t r = 0; r < m; r++) {
        size_t i = q->index[r];
        double t = q->b[i];
        for (size_t j = 0; j < n; j++)
            if (q->state[j] != 0)
                t -= q->a[i * n + j] * q->y[j];
        q->rhs[r] = t;
        for (size_t c = 0; c <= r; c++)
            q->factor[r * m + c] = q->a[i * n + q->index[c]];
        q->factor[r * m + r] += q->ridge;
    }
    *nfree = m;
    if (fit_cholesky(m, q->factor, 1e-13) != 0)
        return 1;
    fit_cholesky_solve(m, q->factor, q->rhs);
    return 0;
}

/* Moves from y toward the minimiser of the free variables as far as the box allows; a variable
 * that stops the move becomes active.  Returns 1 when the whole step was taken. */
static int move_free(struct boxqp *q, size_t m)
{
    double alpha = 1;
    size_t block = m;
    for (size_t r = 0; r < m; r++) {
        size_t i = q->index[r];
        double step = q->rhs[r] - q->y[i], room;
        if (q->rhs[r] < q->lower[i])
            room = (q->lower[i] - q->y[i]) / step;
        else if (q->rhs[r] > q->upper[i])
            room = (q->upper[i] - q->y[i]) / step;
        else
            continue;
        if (room < alpha || block == m) {
            alpha = fmin(room, alpha);
            block = r;
        }
    }
    for (size_t r = 0; r < m; r++) {
        size_t i = q->index[r];
        q->y[i] = block == m ? q->rhs[r] : q->y[i] + alpha * (q->rhs[r] - q->y[i]);
    }
    if (block == m)
        return 1;
    size_t i = q->index[block];
    q->state[i] = q->rhs[block] < q->lower[i] ? -1 : 1;
    q->y[i] = q->state[i] < 0 ? q->lower[i] : q->upper[i];
    return 0;
}

/* Releases the active variable with the largest multiplier of the wrong sign.  Returns 1 when
 * none. */
static int release(struct boxqp *q)
{
    double worst = 0, size = 0;
    size_t n = q->n, which = n;
    for (size_t i = 0; i < n; i++)
        size = fmax(size, fabs(q->b[i]));
    for (size_t i = 0; i < n; i++) {
        if (q->state[i] == 0 || !(q->upper[i] > q->lower[i]))
            continue;
        double g = q->ridge * q->y[i] - q->b[i];
        for (size_t j = 0; j < n; j++)
            g += q->a[i * n + j] * q->y[j];
        double wrong = q->state[i] < 0 ? -g : g;
        if (wrong > worst && wrong > 1e-14 * size) {
            worst = wrong;
            which = i;
        }
    }
    if (which == n)
        return 1;
    q->state[which] = 0;
    return 0;
}

/* Returns 0 when solved, 1 when the matrix of the free variables is not positive enough. */
static int active_set(struct boxqp *q)
{
    size_t m;
    for (size_t i = 0; i < q->n; i++)
        q->state[i] = q->upper[i] > q->lower[i] ? 0 : -1;
    for (size_t i = 0; i < q->n; i++)
        q->y[i] = q->state[i] ? q->lower[i] : inside(0, q->lower[i], q->upper[i]);
    for (size_t turn = 0; turn < 20 + 10 * q->n; turn++) {
        if (solve_free(q, &m))
            return 1;
        if (turn == 0 && m > 0) { /* start from the unconstrained minimum, moved into the box */
            int outside = 0;
            for (size_t r = 0; r < m; r++) {
                size_t i = q->index[r];
                q->state[i] = q->rhs[r] < q->lower[i] ? -1 : q->rhs[r] > q->upper[i] ? 1 : 0;
                q->y[i] = inside(q->rhs[r], q->lower[i], q->upper[i]);
                outside |= q->state[i] != 0;
            }
            if (!outside && m == q->n)
                return 0;
            continue;
        }
        if (move_free(q, m) && release(q))
            return 0;
    }
    return 0; /* degenerate cycling: y is feasible and no worse than its start */
}

/* The problem in units of the diagonal, about ref; 0: something is not finite. */
static int scale(const struct fit_box *box, struct boxqp *q)
{
    const size_t n = box->n;
    const double *a = box->a, *ref = box->ref;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(a[i * n + i]) || !isfinite(box->b[i]))
            return 0;
        q->d[i] = a[i * n + i] > 0 ? sqrt(a[i * n + i]) : 1;
    }
    for (size_t i = 0; i < n; i++) {
        double t = box->b[i];
        for (size_t j = 0; j < n; j++) {
            t -= a[i * n + j] * ref[j];
            q->a[i * n + j] = a[i * n + j] / (q->d[i] * q->d[j]);
        }
        q->b[i] = t / q->d[i];
        q->lower[i] = (box->lower[i] - ref[i]) * q->d[i];
        q->upper[i] = (box->upper[i] - ref[i]) * q->d[i];
    }
    return 1;
}

double fit_boxqp(const struct fit_box *box, double *x, signed char *state, double *work)
{
    const size_t n = box->n;
    const double *lower = box->lower, *upper = box->upper, *ref = box->ref;
    static const double ridges[] = {0, 1e-12, 1e-10, 1e-6, 1};
    struct boxqp q = {.n = n, .a = work, .state = state};
    q.factor = q.a + n * n;
    q.b = q.factor + n * n;
    q.lower = q.b + n;
    q.upper = q.lower + n;
    q.y = q.upper + n;
    q.d = q.y + n;
    q.rhs = q.d + n;
    q.index = (size_t *)(void *)(q.rhs + n);
    if (!scale(box, &q))
        return -1;
    for (size_t k = 0; k < sizeof ridges / sizeof *ridges; k++) {
        q.ridge = ridges[k];
        if (active_set(&q) == 0)
            break;
    }
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(q.y[i]))
            return -1;
        x[i] = state[i] < 0 ? lower[i] : state[i] > 0 ? upper[i] : ref[i] + q.y[i] / q.d[i];
        x[i] = inside(x[i], lower[i], upper[i]);
    }
    return q.ridge;
}
