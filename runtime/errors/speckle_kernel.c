/* speckle_kernel.c -- see speckle_kernel.h.
 *
 * Tables of the kernel, in its work space: for each term of the mean (a linear parameter times b_q, except the
 * intercept, whose b_q is constant; and the rest, if any) the sums of b_q and its derivatives, in the order of the
 * rows.
 */
#include "errors/speckle_kernel_impl.h"

#include <math.h>
#include <string.h>

#include "speckle/matrix.h"
#include "machine/team.h"

static const struct fit_speckle_private *of(const struct fit_layout *l)
{
    return l->context;
}

static size_t padded(size_t n)
{
    return (n + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
}

/* ---- the model between blocks ------------------------------------------------------------------------------ */

/* The pair of frames that represents blocks a <= c: at their distance; for one block, at the mean distance of two of
 * its frames. */
static void middle_pair(const struct fit_speckle_blocks *b, size_t a, size_t c, uint32_t *i, uint32_t *j)
{
    const size_t fa = fit_speckle_block_frames(b, a), fc = fit_speckle_block_frames(b, c);
    const size_t lag = a != c || fa < 2 ? 0 : fa < 5 ? 1 : (fa + 1) / 3;
    *i = (uint32_t)(a * b->frames + (fa - 1 - lag) / 2);
    *j = (uint32_t)(a == c ? *i + lag : c * b->frames + (fc - 1) / 2);
}

size_t fit_speckle_room_size(const struct fit_speckle_private *k)
{
    const size_t most = padded(k->n);
    return 2 * most + (1 + k->P) * most + padded(k->ng * k->inner->nlinear);
}

struct fit_speckle_room fit_speckle_room_of(const struct fit_speckle_private *k, double *at)
{
    const size_t most = padded(k->n);
    struct fit_speckle_room r = {.i = (uint32_t *)(void *)at, .mean = at + 2 * most};
    r.j = r.i + most;
    r.g = r.j + most;
    r.jac = r.mean + most;
    r.lin = r.jac + k->P * most;
    return r;
}

size_t fit_speckle_model_row(const struct fit_speckle_private *k, const double *ws, const struct fit_speckle_room *r,
                             size_t g, size_t a, int derivative)
{
    const struct fit_speckle_model m = {.layout = k->layout};
    const struct fit_speckle_blocks b = {&m, k->n, k->frames};
    const size_t n = k->n - a;
    for (size_t e = 0; e < n; e++) {
        middle_pair(&b, a, a + e, &r->i[e], &r->j[e]);
        r->g[e] = (uint32_t)g;
    }
    k->inner->points(k->layout, ws, r->lin, &(struct fit_points){n, r->i, r->j, r->g}, r->mean,
                     derivative ? r->jac : NULL);
    return n;
}

/* ---- tables ------------------------------------------------------------------------------------------------ */

static size_t inner_space(const struct fit_speckle_private *k)
{
    return padded(k->inner->workspace(k->layout));
}

/* Tables of one term: of its value and its derivatives. */
static size_t of_term(const struct fit_speckle_private *k)
{
    return 1 + k->inner->nparam;
}

static double *table(const struct fit_layout *l, double *ws, size_t term, size_t which)
{
    const struct fit_speckle_private *k = of(l);
    return ws + inner_space(k) + (term * of_term(k) + which) * padded(l->nrow);
}

/* Sums over one row of blocks: all tables x P. */
static size_t partial_size(const struct fit_speckle_private *k)
{
    return k->nterm * of_term(k) * k->P;
}

static size_t workspace(const struct fit_layout *l)
{
    const struct fit_speckle_private *k = of(l);
    return inner_space(k) + k->nterm * of_term(k) * padded(l->nrow) + k->ng * k->n * partial_size(k) +
           (size_t)k->threads * fit_speckle_room_size(k);
}

struct preparing {
    const struct fit_speckle_private *k;
    double *ws, *partial, *room;
    size_t ntable; /* of each term: 1, or with derivatives */
};

static void evaluate_row(void *user, size_t at, size_t thread)
{
    const struct preparing *p = user;
    const struct fit_speckle_private *k = p->k;
    const size_t g = at / k->n, a = at % k->n, q = k->inner->nlinear;
    const struct fit_speckle_room r = fit_speckle_room_of(k, p->room + thread * fit_speckle_room_size(k));
    double *to = p->partial + at * partial_size(k);
    for (size_t t = 0; t < k->nterm; t++) {
        for (size_t e = 0; e < k->ng * q; e++)
            r.lin[e] = (long)(e % q) == k->term[t];
        const size_t n = fit_speckle_model_row(k, p->ws, &r, g, a, p->ntable > 1);
        for (size_t e = 0; e < p->ntable; e++)
            for (size_t row = 0; row < k->P; row++)
                to[(t * of_term(k) + e) * k->P + row] =
                    fit_matrix_dot(n, k->weight + (g * k->P + row) * k->each + fit_speckle_row(k->n, a),
                                   e == 0 ? r.mean : r.jac + (e - 1) * n);
    }
}

/* The tables of group g; 0: they are not finite. */
static int add_rows(const struct preparing *p, const struct fit_layout *l, size_t g)
{
    const struct fit_speckle_private *k = p->k;
    int finite = 1;
    for (size_t t = 0; t < k->nterm; t++)
        for (size_t e = 0; e < p->ntable; e++)
            for (size_t row = 0; row < k->P; row++) {
                double sum = 0;
                for (size_t a = 0; a < k->n; a++)
                    sum += p->partial[(g * k->n + a) * partial_size(k) + (t * of_term(k) + e) * k->P + row];
                table(l, p->ws, t, e)[k->first[g] + row] = sum;
                finite = finite && isfinite(sum);
            }
    return finite;
}

static enum fit_eval prepare(const struct fit_layout *l, const double *theta, int derivative, double *ws)
{
    const struct fit_speckle_private *k = of(l);
    enum fit_eval e = k->inner->prepare(k->layout, theta, derivative ? 1 : 0, ws);
    struct preparing p = {.k = k, .ws = ws, .ntable = derivative ? of_term(k) : 1};
    int finite = 1;
    if (e != FIT_EVAL_OK)
        return e;
    p.partial = ws + inner_space(k) + k->nterm * of_term(k) * padded(l->nrow);
    p.room = p.partial + k->ng * k->n * partial_size(k);
    fit_team_run((struct fit_team){k->threads, FIT_TEAM_NEXT}, k->ng * k->n, evaluate_row, &p);
    for (size_t g = 0; g < k->ng; g++)
        finite = add_rows(&p, l, g) && finite;
    return finite ? FIT_EVAL_OK : FIT_EVAL_REJECT;
}

/* ---- sums over the rows of a tile -------------------------------------------------------------------------- */

/* Data of the rows of a tile: r1 - r0 of them, from index r0 on. */
struct rows {
    const struct fit_layout *l;
    const double *ws, *y;
    size_t r0, n;
};

static struct rows rows_of(const struct fit_layout *l, const double *ws, const struct fit_tile *t)
{
    return (struct rows){l, ws, t->y ? t->y + t->i0 % FIT_LANES : NULL, t->i0, t->i1 - t->i0};
}

static const double *column(const struct rows *r, size_t term, size_t which)
{
    return table(r->l, (double *)(void *)(uintptr_t)r->ws, term, which) + r->r0;
}

/* b_q, or NULL where q has none; q = -1 is the rest. */
static const double *basis(const struct rows *r, size_t g, long q)
{
    const struct fit_speckle_private *k = of(r->l);
    if (q >= 0 && q == k->inner->intercept)
        return k->constant + g * k->P + (r->r0 - k->first[g]);
    for (size_t t = 0; t < k->nterm; t++)
        if (k->term[t] == q)
            return column(r, t, 0);
    return NULL;
}

static double sum_of(size_t n, const double *a, const double *b)
{
    double s = 0;
    for (size_t i = 0; i < n; i++)
        s += a[i] * b[i];
    return s;
}

/* out <- y minus the contribution of lin to the mean; lin NULL: minus the rest. */
static void residuals(const struct rows *r, size_t g, const double *lin, double *out)
{
    const struct fit_speckle_private *k = of(r->l);
    const double *rest = basis(r, g, -1);
    for (size_t i = 0; i < r->n; i++)
        out[i] = r->y[i] - (rest ? rest[i] : 0);
    for (size_t q = 0; lin && q < k->inner->nlinear; q++) {
        const double *b = basis(r, g, (long)q), v = lin[g * k->inner->nlinear + q];
        for (size_t i = 0; i < r->n; i++)
            out[i] -= v * b[i];
    }
}

static size_t scratch(const struct fit_layout *l)
{
    const struct fit_speckle_private *k = of(l);
    return (2 + k->inner->nparam) * padded(k->P);
}

static void moments(const struct fit_layout *l, const double *ws, const struct fit_tile *t, double *room, double *out)
{
    const struct fit_speckle_private *k = of(l);
    const size_t q = k->inner->nlinear, each = q * (q + 1) / 2 + q + 1;
    const struct rows r = rows_of(l, ws, t);
    memset(out, 0, k->ng * each * sizeof *out);
    out += t->group * each;
    residuals(&r, t->group, NULL, room);
    for (size_t a = 0; a < q; a++)
        for (size_t b = a; b < q; b++)
            *out++ = sum_of(r.n, basis(&r, t->group, (long)a), basis(&r, t->group, (long)b));
    for (size_t a = 0; a < q; a++)
        *out++ = sum_of(r.n, basis(&r, t->group, (long)a), room);
    *out = sum_of(r.n, room, room);
}

/* to <- d mean / d theta_p */
static void derivative_of(const struct rows *r, size_t p, const double *lin, double *to)
{
    const struct fit_speckle_private *k = of(r->l);
    memset(to, 0, r->n * sizeof *to);
    for (size_t t = 0; t < k->nterm; t++) {
        const double *d = column(r, t, 1 + p), v = k->term[t] < 0 ? 1 : lin[k->term[t]];
        for (size_t i = 0; i < r->n; i++)
            to[i] += v * d[i];
    }
}

static void normal(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t,
                   double *room, double *out)
{
    const struct fit_speckle_private *k = of(l);
    const size_t p = k->inner->nparam, q = k->inner->nlinear, g = t->group;
    const struct rows r = rows_of(l, ws, t);
    double *rest = room, *m = room + k->P, *cross = out + p * (p + 1) / 2 + p;
    memset(cross, 0, k->ng * q * p * sizeof *cross);
    residuals(&r, g, lin, rest);
    for (size_t a = 0; a < p; a++)
        derivative_of(&r, a, lin + g * q, m + a * k->P);
    for (size_t a = 0; a < p; a++)
        for (size_t b = a; b < p; b++)
            *out++ = sum_of(r.n, m + a * k->P, m + b * k->P);
    for (size_t a = 0; a < p; a++)
        *out++ = sum_of(r.n, m + a * k->P, rest);
    for (size_t e = 0; e < q; e++)
        for (size_t a = 0; a < p; a++)
            cross[(g * q + e) * p + a] = sum_of(r.n, basis(&r, g, (long)e), m + a * k->P);
}

static void gradient(const struct fit_layout *l, const double *ws, const double *lin, const double *adj,
                     const struct fit_tile *t, double *room, double *out)
{
    const struct fit_speckle_private *k = of(l);
    const size_t p = k->inner->nparam, q = k->inner->nlinear, g = t->group;
    const struct rows r = rows_of(l, ws, t);
    const double *of_group = adj + g * (1 + q * (q + 1) / 2), rho = of_group[0];
    double *rest = room, *factor = room + k->P;
    memset(out, 0, p * sizeof *out);
    residuals(&r, g, lin, rest);
    for (size_t e = 0; e < k->nterm; e++) {
        const long at = k->term[e];
        const double v = rho * (at < 0 ? 1 : lin[g * q + (size_t)at]);
        for (size_t i = 0; i < r.n; i++)
            factor[i] = v * rest[i];
        for (size_t b = 0; at >= 0 && b < q; b++) {
            const size_t lo = b < (size_t)at ? b : (size_t)at, hi = b < (size_t)at ? (size_t)at : b;
            const double M = of_group[1 + lo * q - lo * (lo + 1) / 2 + hi], *base = basis(&r, g, (long)b);
            for (size_t i = 0; i < r.n; i++)
                factor[i] -= M * base[i];
        }
        for (size_t a = 0; a < p; a++)
            out[a] += sum_of(r.n, factor, column(&r, e, 1 + a));
    }
}

/* ---- values ------------------------------------------------------------------------------------------------ */

static double mean_at(const struct rows *r, size_t g, const double *lin, size_t i)
{
    const struct fit_speckle_private *k = of(r->l);
    const double *rest = basis(r, g, -1);
    double sum = rest ? rest[i] : 0;
    for (size_t q = 0; q < k->inner->nlinear; q++)
        sum += lin[g * k->inner->nlinear + q] * basis(r, g, (long)q)[i];
    return sum;
}

static void model(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t,
                  double *out)
{
    const struct rows r = rows_of(l, ws, t);
    for (size_t i = 0; i < r.n; i++)
        out[t->i0 % FIT_LANES + i] = mean_at(&r, t->group, lin, i);
}

static void points(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_points *list,
                   double *mean, double *jac)
{
    const struct fit_speckle_private *k = of(l);
    const size_t p = k->inner->nparam, q = k->inner->nlinear, n = list->n;
    for (size_t e = 0; e < n; e++) {
        const size_t group = list->g ? list->g[e] : 0;
        const struct rows r = {l, ws, NULL, list->i[e], 1};
        mean[e] = mean_at(&r, group, lin, 0);
        for (size_t a = 0; jac && a < p; a++)
            derivative_of(&r, a, lin + group * q, &jac[a * n + e]);
        for (size_t a = 0; jac && a < q; a++)
            jac[(p + a) * n + e] = *basis(&r, group, (long)a);
    }
}

static void combine(const struct fit_layout *l, const double *theta, double *value, double *slope)
{
    of(l)->inner->combine(of(l)->layout, theta, value, slope);
}

static void derive(const struct fit_layout *l, const double *theta, const double *lin, size_t g, double *value,
                   double *slope)
{
    of(l)->inner->derive(of(l)->layout, theta, lin, g, value, slope);
}

/* ---- its descriptor ---------------------------------------------------------------------------------------- */

void fit_speckle_descriptor(struct fit_speckle_kernel *made)
{
    struct fit_speckle_private *k = made->private_;
    struct fit_kernel *to = &made->kernel;
    *to = *k->inner;
    for (size_t q = 0; q < to->nlinear; q++)
        k->linear[q].over = k->linear[q].over < 0 ? -1 : 0;
    k->axis = (struct fit_axis){.name = "group", .unit = "1"};
    to->space = FIT_ROWS;
    to->raw = 0;
    to->linear = k->linear;
    to->intercept = -1;
    to->naxis = 1;
    to->axis = &k->axis;
    to->ncolumn = to->ncurve = to->nscreen = 0;
    to->workspace = workspace;
    to->scratch = scratch;
    to->prepare = prepare;
    to->moments = moments;
    to->normal = normal;
    to->gradient = gradient;
    to->model = model;
    to->points = points;
    to->curves = NULL;
    to->hessian = NULL;
    to->direction = NULL;
    to->second = NULL;
    to->combine = k->inner->combine ? combine : NULL;
    to->derive = k->inner->derive ? derive : NULL;
}
