/* nnls.c -- see nnls.h. */
#include "math/nnls.h"

#include <float.h>
#include <math.h>

/* Reflection that makes the rows below p of column v 0: of all columns of index[0..n) (NULL: 0, 1, ... n - 1) behind
 * `from`, and of b (may be NULL). */
struct reflection {
    size_t m, p;
    double *a, *v, *b;
};

static void reflect_one(const struct reflection *r, double v0, double beta, double *c)
{
    double t = v0 * c[r->p];
    for (size_t l = r->p + 1; l < r->m; l++)
        t += r->v[l] * c[l];
    t /= beta;
    c[r->p] -= t * v0;
    for (size_t l = r->p + 1; l < r->m; l++)
        c[l] -= t * r->v[l];
}

static void reflect(const struct reflection *r, const size_t *index, size_t from, size_t n)
{
    double largest = 0, square = 0;
    for (size_t l = r->p; l < r->m; l++)
        largest = fmax(largest, fabs(r->v[l]));
    if (!(largest > 0))
        return;
    for (size_t l = r->p; l < r->m; l++)
        square += (r->v[l] / largest) * (r->v[l] / largest);
    const double norm = largest * sqrt(square), pivot = r->v[r->p];
    const double v0 = pivot + copysign(norm, pivot), beta = norm * (norm + fabs(pivot));
    if (!(beta > 0))
        return;
    for (size_t j = from; j < n; j++)
        reflect_one(r, v0, beta, r->a + (index ? index[j] : j) * r->m);
    if (r->b)
        reflect_one(r, v0, beta, r->b);
    r->v[r->p] = -copysign(norm, pivot);
    for (size_t l = r->p + 1; l < r->m; l++)
        r->v[l] = 0;
}

void fit_triangularise(size_t m, size_t k, size_t ncolumn, double *a)
{
    for (size_t j = 0; j < k; j++)
        reflect(&(struct reflection){.m = m, .p = j, .a = a, .v = a + j * m}, NULL, j + 1, ncolumn);
}

/* index: the np columns whose x is free, in the order of the rows of their triangle, then the others. */
struct nnls {
    size_t m, n, np;
    double *a, *b, *x, *z;
    size_t *index;
};

static double norm_of(size_t m, const double *v)
{
    double s = 0;
    for (size_t l = 0; l < m; l++)
        s += v[l] * v[l];
    return sqrt(s);
}

/* The column at position k becomes free. */
static void enter(struct nnls *s, size_t k)
{
    const size_t j = s->index[k];
    s->index[k] = s->index[s->np];
    s->index[s->np] = j;
    reflect(&(struct reflection){.m = s->m, .p = s->np, .a = s->a, .v = s->a + j * s->m, .b = s->b}, s->index,
            s->np + 1, s->n);
    s->np++;
}

/* Rotates rows i and i + 1 of every column so that row i + 1 of column j becomes 0. */
static void rotate(struct nnls *s, size_t j, size_t i)
{
    double *v = s->a + j * s->m + i;
    const double r = hypot(v[0], v[1]);
    if (!(r > 0))
        return;
    const double c = v[0] / r, d = v[1] / r;
    for (size_t k = 0; k <= s->n; k++) {
        double *u = (k < s->n ? s->a + k * s->m : s->b) + i;
        const double t = c * u[0] + d * u[1];
        u[1] = c * u[1] - d * u[0];
        u[0] = t;
    }
    v[0] = r;
    v[1] = 0;
}

/* The free column at position k is held at 0. */
static void leave(struct nnls *s, size_t k)
{
    const size_t j = s->index[k];
    for (size_t i = k; i + 1 < s->np; i++) {
        s->index[i] = s->index[i + 1];
        rotate(s, s->index[i], i);
    }
    s->np--;
    s->index[s->np] = j;
    s->x[j] = 0;
}

/* z: the minimum over the free columns. */
static void solve(struct nnls *s)
{
    for (size_t i = s->np; i-- > 0;) {
        double t = s->b[i];
        for (size_t k = i + 1; k < s->np; k++)
            t -= s->a[s->index[k] * s->m + i] * s->z[k];
        s->z[i] = t / s->a[s->index[i] * s->m + i];
    }
}

/* Moves x to the minimum over the free columns; those that would fall below 0 on the way are held. Returns how many. */
static size_t descend(struct nnls *s)
{
    size_t held = 0;
    while (s->np) {
        double part = 2;
        size_t first = s->np;
        solve(s);
        for (size_t k = 0; k < s->np; k++) {
            const double x = s->x[s->index[k]];
            if (s->z[k] <= 0 && x / (x - s->z[k]) < part) {
                part = x / (x - s->z[k]);
                first = k;
            }
        }
        for (size_t k = 0; k < s->np; k++) {
            double *x = &s->x[s->index[k]];
            *x = first == s->np ? s->z[k] : *x + part * (s->z[k] - *x);
        }
        if (first == s->np)
            break;
        s->x[s->index[first]] = 0;
        for (size_t k = s->np; k-- > 0;)
            if (!(s->x[s->index[k]] > 0)) {
                leave(s, k);
                held++;
            }
    }
    return held;
}

/* Position of the column with the steepest descent for its length, excluding refused ones (z < 0 there); n: none. */
static size_t steepest(const struct nnls *s, double size)
{
    double most = 0;
    size_t best = s->n;
    for (size_t k = s->np; k < s->n; k++) {
        const double *v = s->a + s->index[k] * s->m;
        const double length = norm_of(s->m, v), below = norm_of(s->m - s->np, v + s->np);
        double w = 0;
        for (size_t l = s->np; l < s->m; l++)
            w += v[l] * s->b[l];
        /* a column that depends on the free ones; a gradient that is rounding */
        if (below <= 4 * DBL_EPSILON * (double)s->m * length || w <= 8 * DBL_EPSILON * length * size)
            continue;
        if (s->x[s->index[k]] >= 0 && w / length > most) {
            most = w / length;
            best = k;
        }
    }
    return best;
}

int fit_nnls(size_t m, size_t n, double *a, double *b, double *x, size_t *index, double *work)
{
    struct nnls s = {.m = m, .n = n, .a = a, .b = b, .x = x, .z = work, .index = index};
    const double size = norm_of(m, b);
    for (size_t j = 0; j < n; j++) {
        index[j] = j;
        x[j] = x[j] > 0 ? x[j] : 0;
    }
    for (size_t k = 0; k < n && s.np < m; k++)
        if (x[index[k]] > 0 && norm_of(m - s.np, a + index[k] * m + s.np) > 1e-12 * norm_of(m, a + index[k] * m))
            enter(&s, k);
    for (size_t k = s.np; k < n; k++)
        x[index[k]] = 0;
    descend(&s);
    for (size_t turn = 0; turn < 30 * n + 100; turn++) {
        const size_t best = s.np < m ? steepest(&s, size) : n;
        if (best == n) {
            for (size_t j = 0; j < n; j++)
                x[j] = x[j] > 0 ? x[j] : 0;
            return 0;
        }
        const size_t j = index[best];
        enter(&s, best);
        descend(&s);
        if (!(x[j] > 0)) /* by rounding: it is refused until another one was freed */
            x[j] = -1;
        else
            for (size_t k = s.np; k < n; k++)
                x[index[k]] = 0;
    }
    for (size_t j = 0; j < n; j++)
        x[j] = x[j] > 0 ? x[j] : 0;
    return 1;
}
