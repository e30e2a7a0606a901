/* subspace.c -- the minimum of the model among the variables that the Cauchy point leaves free: Byrd, Lu, Nocedal & Zhu
 * (1995), section 5.1, direct primal method; see box.h.
 *
 * With r the gradient of the model at the Cauchy point, Z the free variables and W' = Z^T W,
 *     d = -r / theta - W' K^-1 W'^T r / theta^2,   K = M^-1 - W'^T W' / theta,
 *     K = ( -(D + Y'^T Y' / theta)    L^T - Y'^T S'     )
 *         (  L - S'^T Y'              theta S''^T S''   ),     S'' the steps of the other variables,
 * whose first block is negative and whose Schur complement is positive definite: two Cholesky factors. */
#include "optimize/box.h"

#include <math.h>
#include <string.h>

#include "math/linalg.h"
#include "optimize/vectors.h"

/* Variable k has become free (sign 1) or bound (-1). */
static void change(struct fit_box_model *b, size_t k, double sign)
{
    const size_t c = b->c, m = b->m;
    fit_box_row(b, k, b->w);
    const double *y = b->w, *s = b->w + c; /* s: theta s */
    for (size_t i = 0; i < c; i++) {
        const double yi = sign * y[i], si = sign * s[i] / b->theta;
        for (size_t j = 0; j < c; j++) {
            b->YYfree[i * m + j] += yi * y[j];
            b->SYfree[i * m + j] += si * y[j];
            b->SSbound[i * m + j] -= si * (s[j] / b->theta);
        }
    }
    b->is_free[k] = sign > 0;
}

/* Recomputes all sums: many updates have accumulated rounding errors. */
static void refresh(struct fit_box_model *b)
{
    const size_t c = b->c, m = b->m;
    for (size_t i = 0; i < c; i++)
        for (size_t j = 0; j < c; j++) {
            b->YYfree[i * m + j] = b->SYfree[i * m + j] = 0;
            b->SSbound[i * m + j] = b->SS[i * m + j];
        }
    for (size_t k = 0; k < b->n; k++) {
        b->is_free[k] = 0;
        if (!b->fixed[k])
            change(b, k, 1);
    }
}

/* Factors: A of D + Y'^T Y' / theta = A A^T, E^T = A^-1 (L - S'^T Y')^T by rows, K of the Schur complement. */
static int factor(struct fit_box_model *b)
{
    const size_t c = b->c, m = b->m, newest = (size_t)b->o->s->newest;
    for (size_t i = 0; i < c; i++)
        for (size_t j = 0; j <= i; j++)
            b->A[i * c + j] = (i == j ? b->SY[i * m + i] : 0) + b->YYfree[i * m + j] / b->theta;
    if (fit_cholesky(c, b->A, 0) != 0)
        return 0;
    for (size_t i = 0; i < c; i++) {
        for (size_t j = 0; j < c; j++) {
            const int younger = (newest + m - i) % m < (newest + m - j) % m;
            b->E[i * c + j] = (younger ? b->SY[i * m + j] : 0) - b->SYfree[i * m + j];
        }
        fit_lower_solve(c, b->A, b->E + i * c);
    }
    for (size_t i = 0; i < c; i++)
        for (size_t j = 0; j <= i; j++)
            b->K[i * c + j] = b->theta * b->SSbound[i * m + j] + fit_vector_dot(c, b->E + i * c, b->E + j * c);
    return fit_cholesky(c, b->K, 0) == 0;
}

/* u = K^-1 v:  with A^T u1 = z,  z = E^T u2 - A^-1 v1  and  (C + E E^T) u2 = v2 + E A^-1 v1. */
static void solve(struct fit_box_model *b, double *v, double *u)
{
    const size_t c = b->c;
    fit_lower_solve(c, b->A, v);
    for (size_t i = 0; i < c; i++)
        u[c + i] = v[c + i] + fit_vector_dot(c, b->E + i * c, v);
    fit_cholesky_solve(c, b->K, u + c);
    for (size_t j = 0; j < c; j++)
        u[j] = -v[j];
    for (size_t i = 0; i < c; i++)
        fit_vector_add(c, u[c + i], b->E + i * c, u);
    fit_lower_solve_transposed(c, b->A, u);
}

/* y += a W u. */
static void add_rows(const struct fit_box_model *b, double a, const double *u, double *y)
{
    for (size_t j = 0; j < b->c; j++) {
        fit_vector_add(b->n, a * u[j], b->p.y + j * b->n, y);
        fit_vector_add(b->n, a * b->theta * u[b->c + j], b->p.s + j * b->n, y);
    }
}

static void keep_free(const struct fit_box_model *b, double *r)
{
    for (size_t k = 0; k < b->n; k++)
        if (b->fixed[k])
            r[k] = 0;
}

/* From the Cauchy point by d: every variable to its nearest value within the bounds if that is a descent direction
 * from x, otherwise the whole step up to the first bound (Morales & Nocedal 2011, section 2). */
static void come_back(struct fit_box_model *b, const double *d)
{
    const struct fit_optimize_problem *p = b->o->problem;
    double part = 1;
    size_t first = b->n;
    memcpy(b->xt, b->cauchy, b->n * sizeof *b->xt);
    fit_vector_add(b->n, 1, d, b->xt);
    fit_optimize_inside(p, b->xt);
    fit_vector_minus(b->n, b->xt, b->o->x, b->d);
    if (fit_vector_dot(b->n, b->d, b->o->g) <= 0) {
        memcpy(b->cauchy, b->xt, b->n * sizeof *b->xt);
        return;
    }
    for (size_t k = 0; k < b->n; k++) {
        const double bound = d[k] < 0 ? p->lower ? p->lower[k] : -INFINITY : p->upper ? p->upper[k] : INFINITY;
        const double room = bound - b->cauchy[k];
        if (d[k] != 0 && fabs(room) < part * fabs(d[k]))
            part = room / d[k], first = k;
    }
    fit_vector_add(b->n, part, d, b->cauchy);
    if (first < b->n)
        b->cauchy[first] = d[first] < 0 ? p->lower[first] : p->upper[first];
}

int fit_box_subspace(struct fit_box_model *b)
{
    const size_t n = b->n;
    if (b->c == 0)
        return 1; /* the Cauchy point is the minimum */
    for (size_t k = 0; k < n; k++)
        if (b->is_free[k] == b->fixed[k])
            change(b, k, b->fixed[k] ? -1 : 1);
    if (!factor(b)) {
        refresh(b);
        if (!factor(b))
            return 0;
    }
    for (size_t k = 0; k < n; k++)
        b->r[k] = b->o->g[k] + b->theta * (b->cauchy[k] - b->o->x[k]);
    add_rows(b, -1, b->Mc, b->r);
    keep_free(b, b->r);
    fit_box_project(b, b->r, b->v);
    solve(b, b->v, b->u);
    fit_vector_scale(n, -1 / b->theta, b->r, b->r);
    add_rows(b, -1 / (b->theta * b->theta), b->u, b->r);
    keep_free(b, b->r);
    come_back(b, b->r);
    return 1;
}
