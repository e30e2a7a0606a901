/* scores_rows.c -- scores and residuals of the rows of a table.  Tables are small: one thread. */
#include "errors/scores_impl.h"

#include <math.h>

#include "errors/jacobian.h"
#include "math/special.h"

enum { PIECE = 256 };

/* A stretch of values of one group, at most PIECE of them. */
struct piece {
    double mean[PIECE], y[PIECE], v[PIECE], w[PIECE], room[PIECE], *jac;
    uint32_t i[PIECE], g[PIECE];
    double *D; /* P x P: covariance of what the group has, in the order of jac; 0 for what is held */
};

/* Model, derivatives row by row, and weights of a piece of n values with y and v set. */
static void settle(const struct fit_score_pass *p, struct piece *x, size_t n)
{
    const struct fit_objective *o = p->o;
    const size_t nvector = (n + FIT_LANES - 1) / FIT_LANES;
    const struct fit_tables tables = {o->kernel, &o->ds->layout, o->ws, o->lin};
    fit_jacobian_rows(&tables, &(struct fit_points){n, x->i, NULL, x->g}, x->mean, x->jac);
    for (size_t k = n; k < nvector * FIT_LANES; k++)
        x->y[k] = x->mean[k] = x->v[k] = 0;
    fit_score_weights(p->loss, nvector, x->y, x->mean, x->v, x->w, x->room);
}

/* x->D of group g. */
static void take_covariance(const struct fit_score_pass *p, struct piece *x, size_t g)
{
    const size_t n = p->o->nparam + p->o->nu, P = p->s->P;
    for (size_t a = 0; a < P; a++)
        for (size_t b = 0; b < P; b++) {
            const long u = fit_score_unknown(p->o, g, a), v = fit_score_unknown(p->o, g, b);
            x->D[a * P + b] = u >= 0 && v >= 0 ? p->D[(size_t)u * n + (size_t)v] : 0;
        }
}

/* w j^T D j: the leverage, the fraction of a value's error that the fit absorbs. */
static double leverage(size_t P, const double *D, const double *jac, double w)
{
    double h = 0;
    for (size_t a = 0; a < P; a++) {
        double t = 0;
        for (size_t b = 0; b < P; b++)
            t += D[a * P + b] * jac[b];
        h += jac[a] * t;
    }
    return w * h;
}

/* HC3: the residual is divided by 1 - h, which gives its value had the datum not been fitted (MacKinnon & White, J.
 * Econometrics 29 (1985) 305). */
static void add_square(struct fit_score_pass *p, const struct piece *x, size_t k)
{
    const size_t P = p->s->P, g = x->g[k];
    const double *jac = x->jac + k * P;
    double h = leverage(P, x->D, jac, x->v[k]), score = x->w[k] * (x->y[k] - x->mean[k]) / fmax(1 - h, 1e-6);
    double *to = p->s->product + g * P * P;
    for (size_t a = 0; a < P; a++) {
        const double t = score * score * jac[a];
        for (size_t b = 0; b < P; b++)
            to[a * P + b] += t * jac[b];
    }
}

/* Rows of one group: residuals, and the coordinate by which they are ordered (at: of all positions; NULL: in their
 * order).
 */
struct curve {
    const double *at;
    double *x, *z;
    size_t *order, n;
};

static void rows_tile(struct fit_score_pass *p, const struct fit_tile *t, struct piece *x, struct curve *c)
{
    size_t base = t->i0 / FIT_LANES * FIT_LANES;
    struct fit_score_sums *s = &p->sums[t->group];
    double factor = fit_score_factor(p->o, t->group);
    take_covariance(p, x, t->group);
    for (size_t i = t->i0, n = 0; i < t->i1; i += n) {
        for (n = 0; n < PIECE && i + n < t->i1; n++) {
            x->i[n] = (uint32_t)(i + n);
            x->g[n] = (uint32_t)t->group;
            x->y[n] = t->y[i + n - base];
            x->v[n] = (t->w ? t->w[i + n - base] : 1) * factor;
        }
        settle(p, x, n);
        for (size_t k = 0; k < n; k++) {
            double z = sqrt(x->v[k]) * (x->y[k] - x->mean[k]);
            if (!(x->v[k] > 0))
                continue;
            add_square(p, x, k);
            s->n += 1;
            s->z2 += z * z;
            s->z4 += z * z * z * z;
            c->x[c->n] = c->at ? c->at[i + k] : 0;
            c->z[c->n++] = z;
        }
    }
}

/* Products of neighbours in the order of the coordinate; rows without one are in order. */
static void add_neighbours(struct curve *c, struct fit_score_sums *s)
{
    int sorted = 1;
    for (size_t k = 1; k < c->n; k++)
        sorted &= c->x[k - 1] <= c->x[k];
    if (!sorted)
        fit_sort_index(c->n, c->x, c->order);
    for (size_t k = 1; k < c->n; k++)
        s->lag += c->z[sorted ? k : c->order[k]] * c->z[sorted ? k - 1 : c->order[k - 1]];
    s->nlag += c->n > 0 ? (double)(c->n - 1) : 0;
    c->n = 0;
}

int fit_scores_of_rows(struct fit_score_pass *p)
{
    const struct fit_dataset *ds = p->o->ds;
    const size_t column = fit_score_coordinate(p->o->kernel), n = ds->layout.nrow + 1;
    FIT_SCRATCH(a);
    struct piece *x = fit_take_unset(&a, 1, sizeof *x); /* every value is set before it is read */
    double *jac = fit_take_unset(&a, PIECE * p->s->P, sizeof *jac);
    double *D = fit_take_unset(&a, p->s->P * p->s->P, sizeof *D);
    struct curve c = {.at = column < p->o->kernel->ncolumn ? ds->layout.column[column] : NULL,
                      .x = fit_take(&a, n, sizeof *c.x),
                      .z = fit_take(&a, n, sizeof *c.z),
                      .order = fit_take(&a, n, sizeof *c.order)};
    for (size_t k = 0; !a.failed && k < ds->ntile; k++) {
        const struct fit_tile *t = &ds->tile[k];
        x->jac = jac;
        x->D = D;
        rows_tile(p, t, x, &c);
        if (k + 1 == ds->ntile || t[1].group != t->group)
            add_neighbours(&c, &p->sums[t->group]);
    }
    return !a.failed;
}
