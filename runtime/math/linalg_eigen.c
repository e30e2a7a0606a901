/* linalg_eigen.c -- eigenvectors of symmetric matrices, singular values of triangular ones, least squares by QR.
 *
 * Written out, with sums in a fixed order and without contraction, so that they give the same bits on every machine; an
 * optimised library selects its loops by the processor. Inner loops run along rows, over independent elements: the
 * compiler vectorises them without changing a bit.
 *
 *     eigenvectors     reduction to a tridiagonal matrix by reflections, then QL with implicit shifts (Bowdler, Martin,
 *                      Reinsch & Wilkinson, Numer. Math. 11, 293, 1968; Dubrulle, Martin & Wilkinson, ibid. 12, 377,
 *                      1968); a block is reversed when its large end is at the top (LAPACK working note 35)
 *     singular values  one-sided Jacobi rotations (Hestenes 1958; de Rijk, SIAM J. Sci. Stat. Comput. 10, 359, 1989)
 *     least squares    Householder reflections (Golub & Van Loan, Matrix Computations, 4th ed., section 5.2)
 */
#include "math/linalg.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double ORTHOGONAL = 1e-14; /* cosine of two vectors that rounding explains */
enum { SWEEPS = 40, TURNS = 60 };       /* largest numbers of sweeps, and of QL steps for one eigenvalue, which
                                         * takes two or three */
enum { NEARLY_ONE = 32 };               /* a power of two that needs no scaling */

/* The largest component positive. */
static void turn_positive(size_t n, double *v)
{
    size_t top = 0;
    for (size_t j = 1; j < n; j++)
        if (fabs(v[j]) > fabs(v[top]) * (1 + 1e-9))
            top = j;
    for (size_t j = 0; v[top] < 0 && j < n; j++)
        if (j != top)
            v[j] = -v[j];
    v[top] = fabs(v[top]);
}

static void swap_rows(size_t n, double *a, double *b)
{
    for (size_t j = 0; j < n; j++) {
        const double t = a[j];
        a[j] = b[j];
        b[j] = t;
    }
}

/* Scales a by a power of two, exactly, so that its largest element is about 1: no relevant square over- or
 * underflows. Returns the exponent; INT_MIN when an element is not finite. */
static int scale(size_t n, double *a)
{
    double largest = 0;
    int e;
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(a[i]))
            return INT_MIN;
        largest = fabs(a[i]) > largest ? fabs(a[i]) : largest;
    }
    if (!(largest > 0))
        return 0;
    (void)frexp(largest, &e);
    e = e < -1000 ? -1000 : e;
    if (abs(e) < NEARLY_ONE)
        return 0;
    const double factor = ldexp(1, -e);
    for (size_t i = 0; i < n; i++)
        a[i] *= factor;
    return e;
}

/* out += f * x */
static void add(size_t n, double f, const double *restrict x, double *restrict out)
{
    for (size_t j = 0; j < n; j++)
        out[j] += f * x[j];
}

/* Sum of v[i] x[i] in four interleaved sums, which hide the latency of an addition. */
static double long_dot(size_t n, const double *v, const double *x)
{
    double t[4] = {0, 0, 0, 0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t c = 0; c < 4; c++)
            t[c] += v[i + c] * x[i + c];
    for (size_t c = 0; i < n; i++, c++)
        t[c] += v[i] * x[i];
    return (t[0] + t[1]) + (t[2] + t[3]);
}

/* The reflection I - beta v v^T that turns x into (alpha, 0, 0, ..); v overwrites x. Returns alpha. */
static double reflect(size_t n, double *x, double *beta)
{
    const double rest = long_dot(n - 1, x + 1, x + 1);
    *beta = 0;
    if (!(rest > 0))
        return x[0];
    const double norm = sqrt(x[0] * x[0] + rest), alpha = x[0] > 0 ? -norm : norm;
    x[0] -= alpha;
    *beta = 2 / (x[0] * x[0] + rest);
    return alpha;
}

static void swap_columns(size_t n, double *a, size_t i, size_t k)
{
    for (size_t r = 0; r < n; r++) {
        const double t = a[r * n + i];
        a[r * n + i] = a[r * n + k];
        a[r * n + k] = t;
    }
}

/* Sorts rows and columns by their diagonal elements, the largest first: reflections then keep the digits of the
 * small ones of a graded matrix. with[i]: the index exchanged with i. */
static void order_by_size(size_t n, double *a, size_t *with)
{
    for (size_t i = 0; i < n; i++) {
        with[i] = i;
        for (size_t k = i + 1; k < n; k++)
            with[i] = fabs(a[k * n + k]) > fabs(a[with[i] * n + with[i]]) ? k : with[i];
        if (with[i] == i)
            continue;
        swap_rows(n, a + i * n, a + with[i] * n);
        swap_columns(n, a, i, with[i]);
    }
}

/* ---- symmetric matrices: to a tridiagonal one ----------------------------------------------------------------------
 */

/* On return d and e (e[k] couples k and k + 1); row k of a holds the reflection k behind its diagonal, beta[k]. */
static void tridiagonal(size_t n, double *restrict a, double *d, double *e, double *beta, double *p)
{
    for (size_t k = 0; k + 1 < n; k++) {
        double *v = a + k * n, s = 0;
        const size_t first = k + 1, m = n - first;
        d[k] = v[k];
        e[k] = reflect(m, v + first, &beta[k]);
        if (!(beta[k] > 0))
            continue;
        memset(p + first, 0, m * sizeof *p);
        for (size_t i = first; i < n; i++) /* p = beta A v, of the remaining block */
            add(m, beta[k] * v[i], a + i * n + first, p + first);
        for (size_t i = first; i < n; i++)
            s += p[i] * v[i];
        add(m, -0.5 * beta[k] * s, v + first, p + first);
        for (size_t i = first; i < n; i++) {
            const double vi = v[i], pi = p[i];
            double *restrict row = a + i * n;
            for (size_t j = first; j < n; j++)
                row[j] -= vi * p[j] + pi * v[j];
        }
    }
    d[n - 1] = a[n * n - 1];
    e[n - 1] = 0;
}

/* Overwrites a by the transposed product of the reflections: its row k belongs to d[k]. */
static void accumulate(size_t n, double *restrict a, const double *beta, double *v, double *t)
{
    for (size_t k = n; k-- > 0;) { /* Q = H_0 (H_1 (..)); the block behind k is done */
        const size_t first = k + 1, m = n - first;
        if (m > 0)
            memcpy(v + first, a + k * n + first, m * sizeof *v);
        for (size_t j = k; j < n; j++)
            a[k * n + j] = a[j * n + k] = j == k;
        if (m == 0 || !(beta[k] > 0))
            continue;
        memset(t + first, 0, m * sizeof *t);
        for (size_t i = first; i < n; i++)
            add(m, v[i], a + i * n + first, t + first);
        for (size_t i = first; i < n; i++)
            add(m, -beta[k] * v[i], t + first, a + i * n + first);
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            const double x = a[i * n + j];
            a[i * n + j] = a[j * n + i];
            a[j * n + i] = x;
        }
}

/* ---- the eigenvalues of the tridiagonal one ------------------------------------------------------------------------
 */

static void rotate(size_t n, double c, double s, double *restrict low, double *restrict high)
{
    for (size_t j = 0; j < n; j++) {
        const double f = high[j];
        high[j] = s * low[j] + c * f;
        low[j] = c * low[j] - s * f;
    }
}

/* The last index of the block that begins at l and is not yet decoupled. */
static size_t end_of_block(size_t n, size_t l, const double *d, const double *e)
{
    size_t m = l;
    while (m + 1 < n && fabs(e[m]) > DBL_EPSILON * sqrt(fabs(d[m])) * sqrt(fabs(d[m + 1])) && fabs(e[m]) > DBL_MIN)
        m++;
    return m;
}

/* One step with Wilkinson's shift on l .. m; row k of z is the vector that belongs to d[k]. */
static void step(size_t n, size_t l, size_t m, double *d, double *e, double *z)
{
    double g = (d[l + 1] - d[l]) / (2 * e[l]), r = sqrt(g * g + 1), s = 1, c = 1, p = 0;
    g = d[m] - d[l] + e[l] / (g + (g < 0 ? -r : r));
    for (size_t i = m; i-- > l;) {
        const double f = s * e[i], b = c * e[i];
        r = sqrt(f * f + g * g);
        e[i + 1] = r;
        if (!(r > 0)) { /* decoupled on the way */
            d[i + 1] -= p;
            e[m] = 0;
            return;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        rotate(n, c, s, z + i * n, z + (i + 1) * n);
    }
    d[l] -= p;
    e[l] = g;
    e[m] = 0;
}

/* Reverses the indices l .. m: QL begins at the small end of a graded matrix. */
static void turn_round(size_t n, size_t l, size_t m, double *d, double *e, double *z)
{
    for (size_t i = l, k = m; i < k; i++, k--) {
        const double x = d[i];
        d[i] = d[k];
        d[k] = x;
        swap_rows(n, z + i * n, z + k * n);
    }
    for (size_t i = l, k = m; i + 1 < k; i++, k--) {
        const double x = e[i];
        e[i] = e[k - 1];
        e[k - 1] = x;
    }
}

static int diagonalise(size_t n, double *d, double *e, double *z)
{
    for (size_t l = 0; l < n; l++) {
        size_t m = end_of_block(n, l, d, e);
        if (m > l && fabs(d[m]) < fabs(d[l]))
            turn_round(n, l, m, d, e, z);
        for (int turn = 0; (m = end_of_block(n, l, d, e)) != l; turn++) {
            if (turn == TURNS)
                return 1;
            step(n, l, m, d, e, z);
        }
    }
    return 0;
}

size_t fit_eigen_work(size_t n)
{
    return 8 * n + 32;
}

int fit_eigen(size_t n, double *a, double *w, double *work)
{
    double *e = work, *beta = e + n + 1, *p = beta + n + 1, *t = p + n + 1;
    size_t *with = (size_t *)(void *)(t + n + 1);
    if (n == 0)
        return 0;
    const int exponent = scale(n * n, a);
    if (exponent == INT_MIN)
        return 1;
    order_by_size(n, a, with);
    tridiagonal(n, a, w, e, beta, p);
    beta[n - 1] = 0;
    accumulate(n, a, beta, p, t);
    if (diagonalise(n, w, e, a) != 0)
        return 1;
    for (size_t i = n; i-- > 0;)
        if (with[i] != i)
            swap_columns(n, a, i, with[i]);
    for (size_t i = 0; i < n; i++) { /* ascending */
        size_t least = i;
        for (size_t k = i + 1; k < n; k++)
            least = w[k] < w[least] ? k : least;
        if (least == i)
            continue;
        const double x = w[i];
        w[i] = w[least];
        w[least] = x;
        swap_rows(n, a + i * n, a + least * n);
    }
    for (size_t k = 0; k < n; k++) {
        w[k] = ldexp(w[k], exponent);
        turn_positive(n, a + k * n);
    }
    return 0;
}

/* ---- singular values -----------------------------------------------------------------------------------------------
 */

/* Rotates two rows so that they are orthogonal, the longer one first; returns the cosine that they had. */
static double make_orthogonal(size_t n, double *restrict x, double *restrict y)
{
    const double a = fit_dot(n, x, x), b = fit_dot(n, y, y), c = fit_dot(n, x, y), product = sqrt(a) * sqrt(b);
    const double cosine = product > 0 ? fabs(c) / product : 0;
    if (b > a)
        swap_rows(n, x, y);
    if (cosine <= DBL_EPSILON)
        return cosine;
    const double zeta = -fabs(b - a) / (2 * c), root = sqrt(1 + zeta * zeta);
    const double t = 1 / (zeta < 0 ? zeta - root : zeta + root);
    const double cs = 1 / sqrt(1 + t * t), sn = cs * t;
    for (size_t j = 0; j < n; j++) {
        const double f = x[j];
        x[j] = cs * f - sn * y[j];
        y[j] = sn * f + cs * y[j];
    }
    return cosine;
}

/* A direction that is orthogonal to rows k + 1 .. n - 1, for a row without length. */
static void complete(size_t n, size_t k, double *a)
{
    double *x = a + k * n;
    for (size_t unit = 0; unit < n; unit++) {
        memset(x, 0, n * sizeof *x);
        x[unit] = 1;
        for (int twice = 0; twice < 2; twice++)
            for (size_t i = k + 1; i < n; i++)
                add(n, -fit_dot(n, a + i * n, x), a + i * n, x);
        const double norm = sqrt(fit_dot(n, x, x));
        for (size_t j = 0; j < n; j++)
            x[j] /= norm;
        if (norm * norm * (double)n >= 0.5) /* the best of the unit vectors keeps 1/n or more */
            return;
    }
}

int fit_singular(size_t n, double *a, double *w)
{
    if (n == 0)
        return 0;
    const int exponent = scale(n * n, a);
    if (exponent == INT_MIN)
        return 1;
    double worst = 1;
    for (int sweep = 0; sweep < SWEEPS && worst > DBL_EPSILON * sqrt((double)n); sweep++) {
        worst = 0;
        for (size_t i = 0; i + 1 < n; i++)
            for (size_t k = i + 1; k < n; k++)
                worst = fmax(worst, make_orthogonal(n, a + i * n, a + k * n));
    }
    if (!(worst < ORTHOGONAL))
        return 1;
    for (size_t i = 0; i < n / 2; i++) /* descending -> ascending */
        swap_rows(n, a + i * n, a + (n - 1 - i) * n);
    for (size_t k = n; k-- > 0;) {
        w[k] = sqrt(fit_dot(n, a + k * n, a + k * n));
        for (size_t j = 0; j < n && w[k] > 0; j++)
            a[k * n + j] /= w[k];
        if (!(w[k] > 0))
            complete(n, k, a);
        w[k] = ldexp(w[k], exponent);
        turn_positive(n, a + k * n);
    }
    return 0;
}

/* ---- least squares -------------------------------------------------------------------------------------------------
 */

size_t fit_qr_work(size_t m, size_t n)
{
    return m + n + 1;
}

/* Applies the reflection (v, beta) to `count` columns a[i * n + 0 ..], i < m, at most 4. Every number is that of a
 * single column; the sums over even and over odd rows are interleaved. */
static inline void reflect_columns(size_t m, size_t n, size_t count, double beta, const double *restrict v,
                                   double *restrict a)
{
    double even[4] = {0, 0, 0, 0}, odd[4] = {0, 0, 0, 0};
    size_t i = 0;
    for (; i + 2 <= m; i += 2)
        for (size_t j = 0; j < count; j++) {
            even[j] += v[i] * a[i * n + j];
            odd[j] += v[i + 1] * a[(i + 1) * n + j];
        }
    for (size_t j = 0; j < count; j++) {
        even[j] += i < m ? v[i] * a[i * n + j] : 0;
        even[j] = beta * (even[j] + odd[j]);
    }
    for (i = 0; i < m; i++)
        for (size_t j = 0; j < count; j++)
            a[i * n + j] -= v[i] * even[j];
}

/* The same for any number of columns: loops of known length. */
static void reflect_all(size_t m, size_t n, size_t columns, double beta, const double *restrict v, double *restrict a)
{
    for (; columns >= 4; columns -= 4, a += 4)
        reflect_columns(m, n, 4, beta, v, a);
    switch (columns) {
    case 3: reflect_columns(m, n, 3, beta, v, a); break;
    case 2: reflect_columns(m, n, 2, beta, v, a); break;
    case 1: reflect_columns(m, n, 1, beta, v, a); break;
    default: break;
    }
}

/* a becomes R above its diagonal, b becomes Q^T b. */
static void eliminate(size_t m, size_t n, double *restrict a, double *restrict b, double *v)
{
    for (size_t k = 0; k < n; k++) {
        const size_t rows = m - k, columns = n - k;
        double beta;
        for (size_t i = 0; i < rows; i++)
            v[i] = a[(k + i) * n + k];
        const double alpha = reflect(rows, v, &beta);
        if (!(beta > 0))
            continue;
        reflect_all(rows, n, columns, beta, v, a + k * n + k);
        add(rows, -beta * long_dot(rows, v, b + k), v, b + k);
        a[k * n + k] = alpha;
    }
}

int fit_qr_solve(size_t m, size_t n, double *a, double *b, double *r, double tol, double *work)
{
    double largest = 0;
    const int exponent = scale(m * n, a);
    if (exponent == INT_MIN)
        return 1;
    eliminate(m, n, a, b, work);
    memset(r, 0, n * n * sizeof *r);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i; j < n; j++)
            r[i * n + j] = ldexp(a[i * n + j], exponent);
        largest = fmax(largest, fabs(r[i * n + i]));
    }
    for (size_t i = n; i-- > 0;) {
        if (!(fabs(r[i * n + i]) > tol * largest))
            return 1;
        for (size_t j = i + 1; j < n; j++)
            b[i] -= r[i * n + j] * b[j];
        b[i] /= r[i * n + i];
    }
    return 0;
}
