/* box.c -- the compact form: its sums and its middle matrix; see box.h. */
#include "optimize/box.h"

#include <math.h>
#include <string.h>

#include "math/linalg.h"
#include "optimize/vectors.h"

enum { KEPT_MATRICES = 5, WORK_MATRICES = 4, WORK_VECTORS = 9, WORK_ROWS = 7 };

size_t fit_box_kept(size_t n, size_t m)
{
    return fit_pairs_size(n, m) + KEPT_MATRICES * m * m + n;
}

size_t fit_box_work(size_t n, size_t m)
{
    return WORK_VECTORS * n + WORK_ROWS * 2 * m + WORK_MATRICES * m * m;
}

static void divide(double *at, size_t size, double **const part[], size_t npart)
{
    for (size_t k = 0; k < npart; k++, at += size)
        *part[k] = at;
}

#define DIVIDE(at, size, ...)                                                                                          \
    divide(at, size, (double **[]){__VA_ARGS__}, sizeof((double **[]){__VA_ARGS__}) / sizeof(double **))

struct fit_box_model fit_box_of(struct fit_optimize *o)
{
    const size_t n = o->n, m = o->opt.memory;
    struct fit_box_model b = {.o = o, .p = fit_pairs_of(o), .n = n, .m = m, .theta = 1};
    double *kept = o->kept + fit_pairs_size(n, m), *work = o->work;
    b.c = b.p.count;
    if (b.c)
        b.theta = o->s->theta;
    DIVIDE(kept, m * m, &b.SY, &b.SS, &b.YYfree, &b.SYfree, &b.SSbound, &b.is_free);
    DIVIDE(work, n, &b.d, &b.xt, &b.gt, &b.cauchy, &b.r, &b.masked, &b.fixed, &b.heap);
    work += WORK_VECTORS * n;
    DIVIDE(work, 2 * m, &b.u, &b.v, &b.w, &b.Mw, &b.Mp, &b.Mc, &b.pd);
    work += WORK_ROWS * 2 * m;
    DIVIDE(work, m * m, &b.J, &b.A, &b.E, &b.K);
    return b;
}

/* masked = x among the free variables (of = 1) or the others (0). */
static void mask(const struct fit_box_model *b, const double *x, double of)
{
    for (size_t k = 0; k < b->n; k++)
        b->masked[k] = b->is_free[k] == of ? x[k] : 0;
}

void fit_box_take(struct fit_box_model *b)
{
    const size_t n = b->n, m = b->m, i = fit_pairs_slot(&b->p, 0);
    const double *s = b->p.s, *y = b->p.y;
    b->c = b->p.count;
    b->theta = b->o->s->theta;
    for (size_t j = 0; j < b->c; j++) {
        b->SY[i * m + j] = fit_vector_dot(n, s + i * n, y + j * n);
        b->SY[j * m + i] = fit_vector_dot(n, s + j * n, y + i * n);
        b->SS[i * m + j] = b->SS[j * m + i] = fit_vector_dot(n, s + i * n, s + j * n);
    }
    mask(b, y + i * n, 1);
    for (size_t j = 0; j < b->c; j++) {
        b->YYfree[i * m + j] = b->YYfree[j * m + i] = fit_vector_dot(n, b->masked, y + j * n);
        b->SYfree[j * m + i] = fit_vector_dot(n, b->masked, s + j * n);
    }
    mask(b, s + i * n, 1);
    for (size_t j = 0; j < b->c; j++)
        b->SYfree[i * m + j] = fit_vector_dot(n, b->masked, y + j * n);
    mask(b, s + i * n, 0);
    for (size_t j = 0; j < b->c; j++)
        b->SSbound[i * m + j] = b->SSbound[j * m + i] = fit_vector_dot(n, b->masked, s + j * n);
}

/* L of slots i and j: S^T Y where the step is younger than the change of the gradient. */
static double below(const struct fit_box_model *b, size_t i, size_t j)
{
    const size_t newest = (size_t)b->o->s->newest, m = b->m;
    const size_t age_i = (newest + m - i) % m, age_j = (newest + m - j) % m;
    return age_i < age_j ? b->SY[i * m + j] : 0;
}

int fit_box_factor(struct fit_box_model *b)
{
    const size_t c = b->c, m = b->m;
    for (size_t i = 0; i < c; i++) /* E: L D^-1/2 */
        for (size_t j = 0; j < c; j++)
            b->E[i * c + j] = below(b, i, j) / sqrt(b->SY[j * m + j]);
    for (size_t i = 0; i < c; i++)
        for (size_t j = 0; j <= i; j++)
            b->J[i * c + j] = b->theta * b->SS[i * m + j] + fit_vector_dot(c, b->E + i * c, b->E + j * c);
    return fit_cholesky(c, b->J, 0) == 0;
}

/* Of  -D q1 + L^T q2 = v1,  L q1 + theta S^T S q2 = v2:  J J^T q2 = v2 + L D^-1 v1,  q1 = D^-1 (L^T q2 - v1). */
void fit_box_middle(const struct fit_box_model *b, const double *v, double *q)
{
    const size_t c = b->c, m = b->m;
    for (size_t i = 0; i < c; i++) {
        double sum = v[c + i];
        for (size_t j = 0; j < c; j++)
            sum += below(b, i, j) * v[j] / b->SY[j * m + j];
        q[c + i] = sum;
    }
    fit_cholesky_solve(c, b->J, q + c);
    for (size_t j = 0; j < c; j++) {
        double sum = -v[j];
        for (size_t i = 0; i < c; i++)
            sum += below(b, i, j) * q[c + i];
        q[j] = sum / b->SY[j * m + j];
    }
}

void fit_box_project(const struct fit_box_model *b, const double *x, double *v)
{
    for (size_t j = 0; j < b->c; j++) {
        v[j] = fit_vector_dot(b->n, b->p.y + j * b->n, x);
        v[b->c + j] = b->theta * fit_vector_dot(b->n, b->p.s + j * b->n, x);
    }
}

void fit_box_row(const struct fit_box_model *b, size_t k, double *w)
{
    for (size_t j = 0; j < b->c; j++) {
        w[j] = b->p.y[j * b->n + k];
        w[b->c + j] = b->theta * b->p.s[j * b->n + k];
    }
}
