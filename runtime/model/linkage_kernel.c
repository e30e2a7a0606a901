/* linkage_kernel.c -- the functions of the kernel of a linkage; see linkage.h.
 *
 * The values of a class are gathered from the tile, whose stream has the groups innermost, into a separate tile. With
 * M, v, s the inner moments of a group, and lin = P c + p,
 *     sum w b' b'  = P^T M P     sum w b' r = P^T (v - M p)     sum w r^2 = s - 2 p.v + p.M p.
 * The adjoint sums need rho lin and the matrix of b: P c + p and P M' P^T.
 */
#include "model/linkage_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { L = FIT_LANES };

static size_t padded(size_t n)
{
    return (n + L - 1) / L * L;
}

static size_t triangle(size_t n)
{
    return n * (n + 1) / 2;
}

static size_t upper(size_t n, size_t p, size_t q)
{
    return p <= q ? p * n - p * (p + 1) / 2 + q : q * n - q * (q + 1) / 2 + p;
}

static const struct fit_linkage *linkage(const struct fit_layout *l)
{
    return l->context;
}

void fit_sparse_apply(const struct fit_sparse *s, const double *in, double *out)
{
    for (size_t r = 0; r < s->nrow; r++) {
        double t = s->constant[r];
        for (size_t e = s->first[r]; e < s->first[r + 1]; e++)
            t += s->value[e] * in[s->column[e]];
        out[r] = t;
    }
}

static struct fit_layout class_layout(const struct fit_linkage *k, const struct fit_layout *l, size_t class)
{
    const struct fit_link_class *c = &k->private_->class[class];
    struct fit_layout sub = *l;
    sub.context = NULL;
    sub.ngroup = c->ngroup;
    if (k->private_->naxis)
        sub.coord = (const double *const *)c->coord;
    sub.first = c->first;
    sub.count = c->count;
    if (c->setting)
        sub.setting = c->setting;
    if (c->time) {
        sub.time = c->time;
        sub.step = c->step;
    }
    return sub;
}

/* ---- work space: theta of each class, then its tables ------------------------------------------------------ */

static size_t class_space(const struct fit_linkage *k, const struct fit_layout *l, size_t c)
{
    struct fit_layout sub = class_layout(k, l, c);
    return padded(k->inner->nparam) + padded(k->inner->workspace(&sub));
}

static size_t workspace(const struct fit_layout *l)
{
    const struct fit_linkage *k = linkage(l);
    size_t n = 0;
    for (size_t c = 0; c < k->nclass; c++)
        n += class_space(k, l, c);
    return n;
}

static enum fit_eval prepare(const struct fit_layout *l, const double *x, int derivative, double *ws)
{
    const struct fit_linkage *k = linkage(l);
    for (size_t c = 0; c < k->nclass; c++) {
        struct fit_layout sub = class_layout(k, l, c);
        fit_sparse_apply(&k->private_->class[c].theta, x, ws);
        enum fit_eval e = k->inner->prepare(&sub, ws, derivative, ws + padded(k->inner->nparam));
        if (e != FIT_EVAL_OK)
            return e;
        ws += class_space(k, l, c);
    }
    return FIT_EVAL_OK;
}

const struct fit_linkage *fit_linkage_of(const struct fit_kernel *kernel, const struct fit_layout *layout)
{
    return kernel->prepare == prepare ? linkage(layout) : NULL;
}

/* ---- scratch ----------------------------------------------------------------------------------------------- */

/* Parts of the scratch of one thread. */
struct parts {
    double *inner, *out, *lin, *adj, *sum, *y, *w, *raw, *reference;
};

static size_t longest_out(const struct fit_linkage *k)
{
    size_t p = k->inner->nparam, q = k->inner->nlinear, n = k->private_->most;
    size_t moments = n * (triangle(q) + q + 1), normal = triangle(p) + p + n * q * p;
    return moments > normal ? moments : normal;
}

/* Returns the doubles of all parts. */
static size_t divide(const struct fit_linkage *k, const struct fit_layout *l, double *scratch, struct parts *t)
{
    size_t q = k->inner->nlinear, n = k->private_->most, inner = 0, tile = 0, at = 0;
    for (size_t c = 0; c < k->nclass; c++) {
        struct fit_layout sub = class_layout(k, l, c);
        size_t s = k->inner->scratch(&sub);
        inner = s > inner ? s : inner;
    }
    if (k->nclass > 1 && k->inner->space == FIT_PAIRS)
        tile = l->chunk * l->panel * n;
    const size_t size[] = {inner, longest_out(k), n * q, n * (1 + triangle(q)), 3 * n, tile, tile, n, n};
    double **part[] = {&t->inner, &t->out, &t->lin, &t->adj, &t->sum, &t->y, &t->w, &t->raw, &t->reference};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        *part[i] = scratch ? scratch + at : NULL;
        at += padded(size[i]);
    }
    return at;
}

static size_t scratch_size(const struct fit_layout *l)
{
    struct parts t;
    return divide(linkage(l), l, NULL, &t);
}

/* Copies vectors of eight lanes between a tile's stream and that of a class: of `own`, which may end earlier. */
static void gather(const struct fit_link_class *c, size_t ngroup, const struct fit_tile *t, const struct fit_tile *own,
                   const double *from, double *to)
{
    for (size_t i = own->i0; i < own->i1; i++)
        for (size_t b = (t->j0 > i + 1 ? t->j0 : i + 1) / L; b * L < t->j1; b++, from += ngroup * L)
            for (size_t g = 0; b * L < own->j1 && g < c->ngroup; g++, to += L)
                memcpy(to, from + c->group[g] * L, L * sizeof *to);
}

static void scatter(const struct fit_link_class *c, size_t ngroup, const struct fit_tile *t, const double *from,
                    double *to)
{
    for (size_t i = t->i0; i < t->i1; i++)
        for (size_t b = (t->j0 > i + 1 ? t->j0 : i + 1) / L; b * L < t->j1; b++, to += ngroup * L)
            for (size_t g = 0; g < c->ngroup; g++, from += L)
                memcpy(to + c->group[g] * L, from, L * sizeof *from);
}

/* Frames that the file of a class lacks are cut off the tile; 0: nothing is left. */
static int cut(const struct fit_layout *l, const struct fit_link_class *c, struct fit_tile *t)
{
    if (!c->ntime || l->frame[t->j1 - 1] < c->ntime)
        return 1;
    size_t lo = t->j0, hi = t->j1 - 1; /* the first frame that it lacks */
    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;
        if (l->frame[mid] < c->ntime)
            lo = mid + 1;
        else
            hi = mid;
    }
    t->j1 = lo;
    t->i1 = lo && t->i1 > lo - 1 ? lo - 1 : t->i1;
    return t->j0 < t->j1 && t->i0 < t->i1;
}

/* The tile of one class; 0 when it has no values of it. */
static int class_tile(const struct fit_layout *l, const struct fit_tile *t, size_t class, const struct parts *s,
                      struct fit_tile *own)
{
    const struct fit_linkage *k = linkage(l);
    const struct fit_link_class *c = &k->private_->class[class];
    size_t ngroup = l->ngroup;
    *own = *t;
    if (k->inner->space == FIT_ROWS) {
        if (k->class_of[t->group] != class)
            return 0;
        own->group = k->private_->place[t->group];
    }
    if (t->sum) {
        for (size_t g = 0; g < c->ngroup; g++)
            memcpy(s->sum + 3 * g, t->sum + 3 * c->group[g], 3 * sizeof *s->sum);
        own->sum = s->sum;
    }
    if (k->nclass == 1 || k->inner->space == FIT_ROWS)
        return 1;
    if (!cut(l, c, own))
        return 0;
    if (t->raw) {
        const float **raw = (const float **)(void *)s->raw;
        for (size_t g = 0; g < c->ngroup; g++) {
            raw[g] = t->raw[c->group[g]];
            s->reference[g] = t->reference[c->group[g]];
        }
        own->raw = raw;
        own->reference = s->reference;
    }
    if (t->y) {
        gather(c, ngroup, t, own, t->y, s->y);
        own->y = s->y;
    }
    if (t->w) {
        gather(c, ngroup, t, own, t->w, s->w);
        own->w = s->w;
    }
    return 1;
}

/* lin of the groups of a class, in the form of the inner kernel. */
static void class_lin(const struct fit_linkage *k, size_t class, const double *lin, double *out)
{
    const struct fit_link_class *c = &k->private_->class[class];
    size_t q = k->inner->nlinear, outer = k->kernel.nlinear;
    for (size_t g = 0; q > 0 && g < c->ngroup; g++) /* without, lin may be NULL */
        if (k->private_->plain)
            memcpy(out + g * q, lin + c->group[g] * q, q * sizeof *out);
        else
            fit_sparse_apply(&k->private_->lin[c->group[g]], lin + c->group[g] * outer, out + g * q);
}

/* ---- sums -------------------------------------------------------------------------------------------------- */

static void link_moments(const struct fit_sparse *P, size_t m, size_t outer, const double *in, double *out)
{
    const double *v = in + triangle(m), *p = P->constant;
    double *vo = out + triangle(outer), *so = vo + outer;
    memset(out, 0, (triangle(outer) + outer + 1) * sizeof *out);
    *so = v[m];
    for (size_t a = 0; a < m; a++) {
        double Mp = 0;
        for (size_t b = 0; b < m; b++) {
            double M = in[upper(m, a, b)];
            Mp += M * p[b];
            for (size_t e = P->first[a]; e < P->first[a + 1]; e++)
                for (size_t f = P->first[b]; f < P->first[b + 1]; f++)
                    if (P->column[e] <= P->column[f])
                        out[upper(outer, P->column[e], P->column[f])] += P->value[e] * M * P->value[f];
        }
        for (size_t e = P->first[a]; e < P->first[a + 1]; e++)
            vo[P->column[e]] += P->value[e] * (v[a] - Mp);
        *so += p[a] * (Mp - 2 * v[a]);
    }
}

static void moments(const struct fit_layout *l, const double *ws, const struct fit_tile *t, double *scratch,
                    double *out)
{
    const struct fit_linkage *k = linkage(l);
    size_t m = k->inner->nlinear, outer = k->kernel.nlinear;
    size_t in = triangle(m) + m + 1, each = triangle(outer) + outer + 1;
    struct parts s;
    divide(k, l, scratch, &s);
    memset(out, 0, l->ngroup * each * sizeof *out);
    for (size_t c = 0; c < k->nclass; ws += class_space(k, l, c), c++) {
        const struct fit_link_class *class = &k->private_->class[c];
        struct fit_layout sub = class_layout(k, l, c);
        struct fit_tile own;
        if (!class_tile(l, t, c, &s, &own))
            continue;
        k->inner->moments(&sub, ws + padded(k->inner->nparam), &own, s.inner, s.out);
        for (size_t g = 0; g < class->ngroup; g++) {
            double *to = out + class->group[g] * each;
            if (k->private_->plain)
                memcpy(to, s.out + g * in, in * sizeof *to);
            else
                link_moments(&k->private_->lin[class->group[g]], m, outer, s.out + g * in, to);
        }
    }
}

/* out (upper triangle over x) += T^T in T. */
static void link_square(const struct fit_sparse *T, size_t n, const double *in, double *out)
{
    for (size_t a = 0; a < T->nrow; a++)
        for (size_t b = 0; b < T->nrow; b++) {
            double h = in[upper(T->nrow, a, b)];
            for (size_t e = T->first[a]; e < T->first[a + 1]; e++)
                for (size_t f = T->first[b]; f < T->first[b + 1]; f++)
                    if (T->column[e] <= T->column[f])
                        out[upper(n, T->column[e], T->column[f])] += T->value[e] * h * T->value[f];
        }
}

/* out[x] += T^T in, times a factor. */
static void link_row(const struct fit_sparse *T, double factor, const double *in, double *out)
{
    for (size_t a = 0; a < T->nrow; a++)
        for (size_t e = T->first[a]; e < T->first[a + 1]; e++)
            out[T->column[e]] += factor * T->value[e] * in[a];
}

static void normal(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t,
                   double *scratch, double *out)
{
    const struct fit_linkage *k = linkage(l);
    size_t p = k->inner->nparam, m = k->inner->nlinear, n = k->kernel.nparam, outer = k->kernel.nlinear;
    double *cross = out + triangle(n) + n;
    struct parts s;
    divide(k, l, scratch, &s);
    memset(out, 0, (triangle(n) + n + l->ngroup * outer * n) * sizeof *out);
    for (size_t c = 0; c < k->nclass; ws += class_space(k, l, c), c++) {
        const struct fit_link_class *class = &k->private_->class[c];
        struct fit_layout sub = class_layout(k, l, c);
        struct fit_tile own;
        if (!class_tile(l, t, c, &s, &own))
            continue;
        class_lin(k, c, lin, s.lin);
        k->inner->normal(&sub, ws + padded(p), s.lin, &own, s.inner, s.out);
        link_square(&class->theta, n, s.out, out);
        link_row(&class->theta, 1, s.out + triangle(p), out + triangle(n));
        const double *row = s.out + triangle(p) + p;
        for (size_t g = 0; g < class->ngroup; g++)
            for (size_t q = 0; q < m; q++, row += p) {
                double *to = cross + class->group[g] * outer * n;
                const struct fit_sparse *P = &k->private_->lin[class->group[g]];
                if (k->private_->plain)
                    link_row(&class->theta, 1, row, to + q * n);
                for (size_t e = P->first[q]; !k->private_->plain && e < P->first[q + 1]; e++)
                    link_row(&class->theta, P->value[e], row, to + P->column[e] * n);
            }
    }
}

/* rho and P M' P^T of one group. */
static void link_adjoint(const struct fit_sparse *P, size_t m, size_t outer, const double *in, double *out)
{
    memset(out, 0, (1 + triangle(m)) * sizeof *out);
    out[0] = in[0];
    for (size_t a = 0; a < m; a++)
        for (size_t b = a; b < m; b++)
            for (size_t e = P->first[a]; e < P->first[a + 1]; e++)
                for (size_t f = P->first[b]; f < P->first[b + 1]; f++)
                    out[1 + upper(m, a, b)] +=
                        P->value[e] * in[1 + upper(outer, P->column[e], P->column[f])] * P->value[f];
}

static void gradient(const struct fit_layout *l, const double *ws, const double *lin, const double *adj,
                     const struct fit_tile *t, double *scratch, double *out)
{
    const struct fit_linkage *k = linkage(l);
    size_t p = k->inner->nparam, m = k->inner->nlinear, outer = k->kernel.nlinear;
    struct parts s;
    divide(k, l, scratch, &s);
    memset(out, 0, k->kernel.nparam * sizeof *out);
    for (size_t c = 0; c < k->nclass; ws += class_space(k, l, c), c++) {
        const struct fit_link_class *class = &k->private_->class[c];
        struct fit_layout sub = class_layout(k, l, c);
        struct fit_tile own;
        if (!class_tile(l, t, c, &s, &own))
            continue;
        class_lin(k, c, lin, s.lin);
        for (size_t g = 0; g < class->ngroup; g++) {
            const double *from = adj + class->group[g] * (1 + triangle(outer));
            double *to = s.adj + g * (1 + triangle(m));
            if (k->private_->plain)
                memcpy(to, from, (1 + triangle(m)) * sizeof *to);
            else
                link_adjoint(&k->private_->lin[class->group[g]], m, outer, from, to);
        }
        k->inner->gradient(&sub, ws + padded(p), s.lin, s.adj, &own, s.inner, s.out);
        link_row(&class->theta, 1, s.out, out);
    }
}

/* ---- values ------------------------------------------------------------------------------------------------ */

static double *doubles(size_t n)
{
    return aligned_alloc(64, padded(n + 1) * sizeof(double));
}

static void model(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t,
                  double *out)
{
    const struct fit_linkage *k = linkage(l);
    size_t most = k->private_->most, m = k->inner->nlinear;
    size_t tile = k->nclass > 1 && k->inner->space == FIT_PAIRS ? l->chunk * l->panel * most : 0;
    double *own_lin = doubles(most * m), *own = doubles(tile);
    for (size_t c = 0; own_lin && own && c < k->nclass; ws += class_space(k, l, c), c++) {
        struct fit_layout sub = class_layout(k, l, c);
        struct fit_tile of = *t;
        if (k->inner->space == FIT_ROWS && k->class_of[t->group] != c)
            continue;
        if (k->inner->space == FIT_ROWS)
            of.group = k->private_->place[t->group];
        class_lin(k, c, lin, own_lin);
        k->inner->model(&sub, ws + padded(k->inner->nparam), own_lin, &of, tile ? own : out);
        if (tile)
            scatter(&k->private_->class[c], l->ngroup, t, own, out);
    }
    if (!own_lin || !own)
        out[0] = NAN;
    free(own_lin);
    free(own);
}

/* ---- noise distributions: tables, whose tiles are of one group -------------------------------------------- */

static double density_constant(const struct fit_layout *l, const struct fit_tile *t)
{
    const struct fit_linkage *k = linkage(l);
    const struct fit_layout sub = class_layout(k, l, k->class_of[t->group]);
    struct fit_tile own = *t;
    own.group = k->private_->place[t->group];
    return k->inner->density->constant(&sub, &own);
}

/* The tile as its class sees it; *ws moves to the tables of the class. */
static struct fit_tile in_class(const struct fit_layout *l, const double **ws, const struct fit_tile *t,
                                struct fit_layout *sub)
{
    const struct fit_linkage *k = linkage(l);
    struct fit_tile own = *t;
    size_t class = k->class_of[t->group];
    for (size_t c = 0; c < class; c++)
        *ws += class_space(k, l, c);
    *ws += padded(k->inner->nparam);
    *sub = class_layout(k, l, class);
    own.group = k->private_->place[t->group];
    return own;
}

static void log_density(const struct fit_layout *l, const double *ws, const struct fit_tile *t, double *out)
{
    struct fit_layout sub;
    struct fit_tile own = in_class(l, &ws, t, &sub);
    linkage(l)->inner->density->log_density(&sub, ws, &own, out);
}

static void law_arguments(const struct fit_layout *l, const double *ws, const struct fit_tile *t, double *out)
{
    struct fit_layout sub;
    struct fit_tile own = in_class(l, &ws, t, &sub);
    linkage(l)->inner->density->arguments(&sub, ws, &own, out);
}

/* Converts a row of the Jacobian from (theta, lin) to (x, c). */
static void link_jacobian(const struct fit_linkage *k, size_t group, const double *in, double *out)
{
    size_t p = k->inner->nparam, m = k->inner->nlinear, n = k->kernel.nparam, outer = k->kernel.nlinear;
    memset(out, 0, (n + outer) * sizeof *out);
    link_row(&k->private_->class[k->class_of[group]].theta, 1, in, out);
    if (k->private_->plain)
        memcpy(out + n, in + p, m * sizeof *out);
    else
        link_row(&k->private_->lin[group], 1, in + p, out + n);
}

static void points(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_points *list,
                   double *mean, double *jac)
{
    enum { SOME = 256 };
    const struct fit_linkage *k = linkage(l);
    const uint32_t *i = list->i, *j = list->j, *g = list->g;
    const size_t n = list->n;
    size_t p = k->inner->nparam, m = k->inner->nlinear, width = k->kernel.nparam + k->kernel.nlinear;
    double *own_lin = doubles(k->private_->most * m), *columns = doubles(jac ? (SOME + 1) * (p + m) + width : 0);
    double *in = columns ? columns + SOME * (p + m) : NULL, *out = columns ? in + p + m : NULL;
    const double **space = malloc(k->nclass * sizeof *space);
    uint32_t place[SOME];
    for (size_t c = 0; space && c < k->nclass; ws += class_space(k, l, c), c++)
        space[c] = ws + padded(p);
    for (size_t a = 0, b; a < n; a = b) { /* runs of points of one class */
        size_t c = k->class_of[g ? g[a] : 0];
        for (b = a; b < n && b - a < SOME && k->class_of[g ? g[b] : 0] == c; b++)
            place[b - a] = (uint32_t)k->private_->place[g ? g[b] : 0];
        if (!own_lin || !columns || !space) {
            for (size_t e = a; e < b; e++)
                mean[e] = NAN;
            continue;
        }
        struct fit_layout sub = class_layout(k, l, c);
        class_lin(k, c, lin, own_lin);
        k->inner->points(&sub, space[c], own_lin, &(struct fit_points){b - a, i + a, j ? j + a : NULL, place},
                         mean + a, jac ? columns : NULL);
        for (size_t e = a; jac && e < b; e++) {
            for (size_t q = 0; q < p + m; q++)
                in[q] = columns[q * (b - a) + e - a];
            link_jacobian(k, g ? g[e] : 0, in, out);
            for (size_t q = 0; q < width; q++)
                jac[q * n + e] = out[q];
        }
    }
    free(own_lin);
    free(columns);
    free(space);
}

/* ---- curves and combinations: those of the classes, one after the other -------------------------------------- */

static void curves(const struct fit_layout *l, const double *x, double *value, double *tangent)
{
    const struct fit_linkage *k = linkage(l);
    size_t p = k->inner->nparam, n = k->kernel.nparam, nc = k->inner->ncurve, nt = l->ntime;
    double *theta = doubles(p), *own = doubles(tangent ? nc * p * nt : 0);
    for (size_t c = 0; theta && own && c < k->private_->ncurve_class; c++) {
        const size_t class = k->private_->curve_class[c];
        const struct fit_sparse *T = &k->private_->class[class].theta;
        struct fit_layout sub = class_layout(k, l, class);
        sub.time = l->time; /* the same for all files */
        fit_sparse_apply(T, x, theta);
        k->inner->curves(&sub, theta, value + c * nc * nt, tangent ? own : NULL);
        for (size_t v = 0; tangent && v < nc; v++) {
            double *to = tangent + (c * nc + v) * n * nt;
            memset(to, 0, n * nt * sizeof *to);
            for (size_t a = 0; a < p; a++)
                for (size_t e = T->first[a]; e < T->first[a + 1]; e++)
                    for (size_t t = 0; t < nt; t++)
                        to[T->column[e] * nt + t] += T->value[e] * own[(v * p + a) * nt + t];
        }
    }
    for (size_t e = 0; (!theta || !own) && e < k->kernel.ncurve * nt; e++)
        value[e] = NAN;
    free(theta);
    free(own);
}

static void combine(const struct fit_layout *l, const double *x, double *value, double *gradient_)
{
    const struct fit_linkage *k = linkage(l);
    size_t p = k->inner->nparam, n = k->kernel.nparam, nc = k->inner->ncombination;
    double *theta = doubles(p), *own = doubles(nc * p);
    memset(gradient_, 0, k->kernel.ncombination * n * sizeof *gradient_);
    for (size_t c = 0; theta && own && c < k->nclass; c++) {
        const struct fit_sparse *T = &k->private_->class[c].theta;
        struct fit_layout sub = class_layout(k, l, c);
        fit_sparse_apply(T, x, theta);
        k->inner->combine(&sub, theta, value + c * nc, own);
        for (size_t v = 0; v < nc; v++)
            link_row(T, 1, own + v * p, gradient_ + (c * nc + v) * n);
    }
    for (size_t v = 0; (!theta || !own) && v < k->kernel.ncombination; v++)
        value[v] = NAN;
    free(theta);
    free(own);
}

static void derive(const struct fit_layout *l, const double *x, const double *lin, size_t g, double *value,
                   double *slope)
{
    const struct fit_linkage *k = linkage(l);
    const size_t p = k->inner->nparam, m = k->inner->nlinear, c = k->class_of[g], nd = k->inner->nderived;
    const size_t width = k->kernel.nparam + k->kernel.nlinear;
    double *theta = doubles(p), *own_lin = doubles(k->private_->most * m), *own = doubles(slope ? nd * (p + m) : 0);
    if (theta && own_lin && own) {
        struct fit_layout sub = class_layout(k, l, c);
        fit_sparse_apply(&k->private_->class[c].theta, x, theta);
        class_lin(k, c, lin, own_lin);
        k->inner->derive(&sub, theta, own_lin, k->private_->place[g], value, slope ? own : NULL);
    }
    for (size_t v = 0; v < nd; v++)
        if (!theta || !own_lin || !own)
            value[v] = NAN;
        else if (slope)
            link_jacobian(k, g, own + v * (p + m), slope + v * width);
    free(theta);
    free(own_lin);
    free(own);
}

void fit_linkage_functions(struct fit_linkage *link)
{
    struct fit_kernel *k = &link->kernel;
    const struct fit_kernel *inner = link->inner;
    k->workspace = workspace;
    k->scratch = scratch_size;
    k->prepare = prepare;
    k->moments = moments;
    k->normal = normal;
    k->gradient = inner->gradient ? gradient : NULL;
    k->model = model;
    k->points = inner->points ? points : NULL;
    k->curves = inner->curves ? curves : NULL;
    k->combine = inner->combine ? combine : NULL;
    k->derive = inner->derive ? derive : NULL;
    if (inner->density) {
        link->density = *inner->density;
        link->density.constant = density_constant;
        link->density.log_density = log_density;
        link->density.arguments = law_arguments;
        k->density = &link->density;
    }
    k->hessian = NULL;
    k->direction = NULL;
    k->second = NULL;
}
