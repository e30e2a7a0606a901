/* selfcheck.c -- `selfcheck FILE..`: the kernels of this program against the reference values of the compiler, on
 * every instruction-set level of the machine.
 *
 * A file (its form: generator/emit/emit_check.h) holds, for a few parameter sets, the mean and its derivatives at
 * all pairs of a small grid in extended precision, and with each number the error that rounding in double may cause:
 * a running error bound (Higham, Accuracy and Stability of Numerical Algorithms, 2002, section 3.3). All products of
 * a kernel are compared; the sums of moments, normal and gradient are formed here in extended precision. Kernels use
 * other formulas than the bound assumes -- tables re-centred per tile, angle addition -- so LIMIT bounds are
 * allowed; correct kernels stay near 1, and a wrong sign or table gives 1e8 and more. Second derivatives (all of
 * them, and along a direction) are compared when both the kernel and the file have them. For a kernel with a density
 * the log density is compared row by row, and its sums with their derivatives. */
#include "base/arena.h"
#include "commands/program.h"
#include "machine/cpu.h"

#include "common/regular.h"
#include "model/registry.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT 8.0
#define TINY 1e-280 /* below this tables underflow where their product does not */
#define UNIT 0x1p-53L

enum { L = FIT_LANES, PANEL = 8, CHUNK = 8, MOST = 100000000 };
enum product { POINTS, JACOBIAN, MODEL, MOMENTS, NORMAL, GRADIENT, HESSIAN, SECOND, DENSITY, PRODUCTS };
static const char *const product_name[PRODUCTS] = {"points",   "derivatives", "model",  "moments",    "normal",
                                                   "gradient", "hessian",     "second", "log density"};

struct value {
    long double v, e;
};

struct selfcheck {
    FILE *f;
    const char *file;
    const struct fit_kernel *k;
    struct fit_error *err;
    int bad; /* the file cannot be read, or memory ran out */
    char model[256], variant[256], hash[256];
    size_t K, Q, nset, npoint, width; /* width: values of a point, 1 + K + Q */
    struct fit_layout l;
    double *coord, *column, *theta, *lin, *time, *setting;
    const double **coord_of, **column_of;
    uint32_t *frame, *i, *j, *g;
    struct value *ref, *top; /* npoint x width; largest |value| of a column */
    double *ws, *scratch, *y, *w, *out, *sum;
    double *adj; /* seeds of the gradient: 1 for the residual, 0 for the rest */
    double worst[PRODUCTS], worst_ulp;
    size_t worst_column, compared;
    int second; /* second derivatives were compared */
    struct value *bend; /* of a density: npoint x K (K + 1) / 2 */
    void *kept[24];
    size_t nkept;
};

/* --- reading --------------------------------------------------------------------------------- */

/* Zeroed memory until release(), aligned for vectors. */
static void *room(struct selfcheck *s, size_t n, size_t size)
{
    size_t bytes = (n * size + 2 * 64) / 64 * 64;
    void *p = s->nkept < sizeof s->kept / sizeof *s->kept ? aligned_alloc(64, bytes) : NULL;
    if (!p) {
        s->bad = 1;
        return NULL;
    }
    memset(p, 0, bytes);
    return s->kept[s->nkept++] = p;
}

static void release(struct selfcheck *s)
{
    for (size_t k = 0; k < s->nkept; k++)
        free(s->kept[k]);
    if (s->f)
        fclose(s->f);
}

static void expect(struct selfcheck *s, const char *word)
{
    char seen[32];
    if (!s->bad && (fscanf(s->f, "%31s", seen) != 1 || strcmp(seen, word) != 0))
        s->bad = 1;
}

static size_t read_size(struct selfcheck *s)
{
    size_t n = 0;
    if (!s->bad && (fscanf(s->f, "%zu", &n) != 1 || n > MOST))
        s->bad = 1;
    return s->bad ? 0 : n;
}

static void read_reals(struct selfcheck *s, size_t n, double *x)
{
    for (size_t k = 0; k < n && !s->bad; k++)
        if (fscanf(s->f, "%lf", &x[k]) != 1)
            s->bad = 1;
}

static double *read_list(struct selfcheck *s, const char *name, size_t n)
{
    double *x = room(s, n, sizeof *x);
    expect(s, name);
    if (x)
        read_reals(s, n, x);
    return x;
}

static void read_text(struct selfcheck *s, const char *name, char *text)
{
    expect(s, name);
    if (!s->bad && fscanf(s->f, "%255s", text) != 1)
        s->bad = 1;
}

static void read_head(struct selfcheck *s)
{
    size_t n[11];
    expect(s, "homodyne-selfcheck");
    expect(s, "1");
    read_text(s, "model", s->model);
    read_text(s, "variant", s->variant);
    read_text(s, "hash", s->hash);
    expect(s, "sizes");
    for (size_t k = 0; k < 11; k++)
        n[k] = read_size(s);
    s->K = n[0], s->Q = n[1], s->l.ngroup = n[5], s->l.ntime = n[6], s->l.nframe = n[7];
    s->l.nrow = n[8], s->npoint = n[9], s->nset = n[10], s->width = 1 + s->K + s->Q;
    s->setting = read_list(s, "setting", n[2]);
    s->coord = read_list(s, "coord", n[3] * n[5]);
    double *step = read_list(s, "step", 1);
    s->time = read_list(s, "time", n[6]);
    s->frame = room(s, n[7], sizeof *s->frame);
    expect(s, "frame");
    for (size_t k = 0; k < n[7] && !s->bad; k++)
        s->frame[k] = (uint32_t)read_size(s);
    s->column = room(s, n[4] * (n[8] + L), sizeof *s->column);
    s->coord_of = room(s, n[3], sizeof *s->coord_of);
    s->column_of = room(s, n[4], sizeof *s->column_of);
    expect(s, "column");
    size_t padded = (n[8] + L - 1) / L * L;
    for (size_t c = 0; c < n[4] && !s->bad; c++) {
        double *x = s->column + c * padded;
        read_reals(s, n[8], x);
        for (size_t r = n[8]; r && r < padded; r++)
            x[r] = x[n[8] - 1];
        s->column_of[c] = x;
    }
    for (size_t a = 0; a < n[3] && !s->bad; a++)
        s->coord_of[a] = s->coord + a * n[5];
    if (s->bad)
        return;
    s->l.step = *step, s->l.setting = s->setting, s->l.time = s->time, s->l.frame = s->frame;
    s->l.coord = s->coord_of, s->l.column = s->column_of, s->l.panel = PANEL, s->l.chunk = CHUNK;
}

static void make_room(struct selfcheck *s)
{
    size_t lanes = (s->l.nframe + s->l.nrow + 2 * L) * 2 * L * (s->l.ngroup + 1);
    size_t sums = s->l.ngroup * (s->width + 1) * (s->width + 1) + s->width * s->width;
    s->theta = room(s, s->K, sizeof *s->theta);
    s->lin = room(s, s->Q * s->l.ngroup, sizeof *s->lin);
    s->i = room(s, s->npoint, sizeof *s->i);
    s->j = room(s, s->npoint, sizeof *s->j);
    s->g = room(s, s->npoint, sizeof *s->g);
    s->ref = room(s, s->npoint * s->width, sizeof *s->ref);
    s->top = room(s, s->width, sizeof *s->top);
    s->ws = room(s, s->k->workspace(&s->l), sizeof *s->ws);
    size_t G = s->l.ngroup, nadj = 1 + s->Q * (s->Q + 1) / 2;
    s->scratch = room(s, s->k->scratch(&s->l), sizeof *s->scratch);
    s->adj = room(s, G * nadj, sizeof *s->adj);
    for (size_t g = 0; s->adj && g < G; g++)
        s->adj[g * nadj] = 1;
    s->y = room(s, lanes, sizeof *s->y);
    s->w = room(s, lanes, sizeof *s->w);
    s->sum = room(s, 3 * s->l.ngroup, sizeof *s->sum);
    size_t points = s->npoint * s->width;
    lanes = lanes > points ? lanes : points;
    s->out = room(s, lanes + sums + s->npoint, sizeof *s->out);
}

static void read_set(struct selfcheck *s)
{
    expect(s, "theta");
    read_reals(s, s->K, s->theta);
    expect(s, "lin");
    read_reals(s, s->Q * s->l.ngroup, s->lin);
    for (size_t c = 0; c < s->width && !s->bad; c++)
        s->top[c].v = 0;
    for (size_t p = 0; p < s->npoint && !s->bad; p++) {
        s->i[p] = (uint32_t)read_size(s);
        s->j[p] = (uint32_t)read_size(s);
        s->g[p] = (uint32_t)read_size(s);
        for (size_t c = 0; c < s->width; c++) {
            double x[2] = {0, 0};
            read_reals(s, 2, x);
            s->ref[p * s->width + c] = (struct value){x[0], x[1]};
            if (isfinite(x[0]))
                s->top[c].v = fmaxl(s->top[c].v, fabsl((long double)x[0]));
        }
    }
}

/* --- comparing ------------------------------------------------------------------------------- */

/* Where the reference has no value, or no bound of its rounding (beyond the range of a function), nothing is
 * compared. */
static int agrees(struct selfcheck *s, enum product what, double x, struct value ref,
                  const char *name)
{
    double error = (double)fabsl((long double)x - ref.v);
    s->compared++;
    if (!isfinite((double)ref.v) || isnan((double)ref.e) || error <= TINY)
        return 1;
    double ratio = error / (double)(ref.e + TINY);
    if (!(ratio <= s->worst[what]))
        s->worst[what] = ratio;
    if (ratio <= LIMIT)
        return 1;
    fit_fail(s->err, FIT_ERR_INTERNAL,
             "selfcheck: %s of kernel %s %s %s: %s is %.17g, expected %.17Lg; the error is %.3g "
             "times what"
             " rounding explains.  Rebuild; if this stays, please report it",
             product_name[what], s->k->name, s->k->variant, s->k->isa, name, x, ref.v, ratio);
    return 0;
}

static const char *column_name(const struct selfcheck *s, size_t c)
{
    return c == 0 ? "mean" : fit_kernel_unknown(s->k, c - 1)->name;
}

static void note_ulp(struct selfcheck *s, size_t c, double x, struct value ref)
{
    double scale = (double)fmaxl(s->top[c].v, TINY);
    double ulp = fabs(x - (double)ref.v) / (scale * 0x1p-52);
    if (ulp > s->worst_ulp) {
        s->worst_ulp = ulp;
        s->worst_column = c;
    }
}

static int rows(const struct selfcheck *s)
{
    return s->k->space == FIT_ROWS;
}

static int check_points(struct selfcheck *s)
{
    size_t W = s->width - 1;
    double *jac = s->out, *mean = s->out + s->npoint * W;
    s->k->points(&s->l, s->ws, s->lin, &(struct fit_points){s->npoint, s->i, s->j, s->g}, mean, jac);
    for (size_t p = 0; p < s->npoint; p++)
        for (size_t c = 0; c < s->width; c++) {
            double x = c ? jac[(c - 1) * s->npoint + p] : mean[p];
            if (!agrees(s, c ? JACOBIAN : POINTS, x, s->ref[p * s->width + c], column_name(s, c)))
                return 0;
            note_ulp(s, c, x, s->ref[p * s->width + c]);
        }
    return 1;
}

/* Reads the second derivatives of the file and compares them when the kernel has them. */
static int check_second(struct selfcheck *s)
{
    size_t W = s->width - 1, n, each = W * (W + 1) / 2, nv = s->K + s->l.ngroup * s->Q;
    expect(s, "hessian");
    if (s->bad || (n = read_size(s)) == 0)
        return !s->bad;
    FIT_OWNED double *v = calloc(nv + 3 + 3 * each, sizeof *v);
    if (!v)
        return s->bad = 1, 0;
    double *x = v + nv + 1, *hess = x + 2 + 2 * each;
    expect(s, "direction");
    read_reals(s, nv, v);
    int ok = !s->bad;
    s->second = s->k->hessian != NULL;
    if (ok && s->second)
        s->k->direction(&s->l, s->theta, v, s->ws);
    for (size_t k = 0; k < n && ok; k++) {
        size_t p = read_size(s);
        double along;
        read_reals(s, 2 + 2 * each, x);
        ok = !s->bad && p < s->npoint;
        if (!ok || !s->second)
            continue;
        s->k->hessian(&s->l, s->ws, s->lin, &(struct fit_points){1, s->i + p, s->j + p, s->g + p}, hess);
        s->k->second(&s->l, s->ws, s->lin, &(struct fit_points){1, s->i + p, s->j + p, s->g + p}, &along);
        ok = agrees(s, SECOND, along, (struct value){x[0], x[1]}, "along the direction");
        for (size_t h = 0; h < each && ok; h++)
            ok = agrees(s, HESSIAN, hess[h], (struct value){x[2 + 2 * h], x[3 + 2 * h]}, "an entry");
    }
    return ok;
}

static const struct value *at_point(const struct selfcheck *s, size_t g, size_t i, size_t j)
{
    size_t n = s->l.nframe;
    size_t p = rows(s) ? g * s->l.nrow + j : g * (n * (n - 1) / 2) + i * (2 * n - i - 1) / 2 + (j - i - 1);
    return s->ref + p * s->width;
}

/* The action at a used lane; 0 ends the walk. */
typedef int visit(struct selfcheck *s, size_t lane, size_t g, const struct value *x, void *user);

/* All lanes of a tile in the kernel's order. Without `user`, unused ones become 0. */
static int each_lane(struct selfcheck *s, const struct fit_tile *t, visit *f, void *user)
{
    size_t n = 0, G = rows(s) ? t->group + 1 : s->l.ngroup, g0 = rows(s) ? t->group : 0;
    for (size_t i = t->i0; i < t->i1; i = rows(s) ? (i / L + 1) * L : i + 1) {
        size_t b = rows(s) ? i / L : (t->j0 > i + 1 ? t->j0 : i + 1) / L;
        size_t end = rows(s) ? b + 1 : (t->j1 + L - 1) / L;
        for (; b < end; b++)
            for (size_t g = g0; g < G; g++)
                for (size_t lane = 0; lane < L; lane++, n++) {
                    size_t j = b * L + lane;
                    int counts = rows(s) ? j < t->i1 : j > i && j < t->j1;
                    if (counts && !f(s, n, g, at_point(s, g, i, j), user))
                        return 0;
                    if (!counts && !user)
                        s->y[n] = s->w[n] = 0;
                }
    }
    return 1;
}

/* Data: the mean plus a deviation that changes from lane to lane; every seventh weight is 0. */
static int fill(struct selfcheck *s, size_t n, size_t g, const struct value *x, void *user)
{
    (void)user;
    double mean = isfinite((double)x->v) ? (double)x->v : 0;
    s->y[n] = mean + 0.3 * sin((double)n) * (fabs(mean) + 1e-3);
    s->w[n] = n % 7 ? 1 + 0.5 * cos((double)(2 * n)) : 0;
    s->sum[3 * g] += s->w[n];
    s->sum[3 * g + 1] += s->w[n] * s->y[n];
    s->sum[3 * g + 2] += s->w[n] * s->y[n] * s->y[n];
    return 1;
}

static int compare_model(struct selfcheck *s, size_t n, size_t g, const struct value *x, void *user)
{
    const double *out = user;
    (void)g;
    return agrees(s, MODEL, out[n], *x, "the mean");
}

/* Adds w a b; the bound counts the roundings of product and sum. */
static void add(struct value *sum, long double w, struct value a, struct value b)
{
    sum->v += w * a.v * b.v;
    sum->e += w * (fabsl(a.v) * b.e + fabsl(b.v) * a.e + a.e * b.e + 4 * fabsl(a.v * b.v) * UNIT);
}

static struct value residual(double y, struct value m)
{
    return (struct value){y - m.v, m.e + (fabsl((long double)y) + fabsl(m.v)) * UNIT};
}

static int sum_moments(struct selfcheck *s, size_t n, size_t g, const struct value *x, void *user)
{
    struct value *at = (struct value *)user + g * (s->Q * (s->Q + 1) / 2 + s->Q + 1), rest = x[0];
    const struct value *b = x + 1 + s->K;
    for (size_t q = 0; q < s->Q; q++) {
        rest.v -= s->lin[g * s->Q + q] * b[q].v;
        rest.e += fabs(s->lin[g * s->Q + q]) * b[q].e;
    }
    struct value r = residual(s->y[n], rest);
    for (size_t q = 0; q < s->Q; q++)
        for (size_t u = q; u < s->Q; u++)
            add(at++, s->w[n], b[q], b[u]);
    for (size_t q = 0; q < s->Q; q++)
        add(at++, s->w[n], b[q], r);
    add(at, s->w[n], r, r);
    return 1;
}

static int sum_normal(struct selfcheck *s, size_t n, size_t g, const struct value *x, void *user)
{
    struct value *at = user, r = residual(s->y[n], x[0]);
    const struct value *m = x + 1, *b = m + s->K;
    for (size_t k = 0; k < s->K; k++)
        for (size_t u = k; u < s->K; u++)
            add(at++, s->w[n], m[k], m[u]);
    for (size_t k = 0; k < s->K; k++)
        add(at++, s->w[n], m[k], r);
    at += g * s->Q * s->K;
    for (size_t q = 0; q < s->Q; q++)
        for (size_t k = 0; k < s->K; k++)
            add(at++, s->w[n], b[q], m[k]);
    return 1;
}

static int compare_sums(struct selfcheck *s, enum product what, const struct value *sum, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        char name[40];
        snprintf(name, sizeof name, "sum %zu", k);
        if (!agrees(s, what, s->out[k], sum[k], name))
            return 0;
    }
    return 1;
}

static int check_tile(struct selfcheck *s, const struct fit_tile *t)
{
    size_t K = s->K, Q = s->Q, G = s->l.ngroup, nm = G * (Q * (Q + 1) / 2 + Q + 1);
    size_t nn = K * (K + 1) / 2 + K + G * Q * K;
    memset(s->sum, 0, 3 * G * sizeof *s->sum);
    each_lane(s, t, fill, NULL);
    s->k->model(&s->l, s->ws, s->lin, t, s->out);
    if (!each_lane(s, t, compare_model, s->out))
        return 0;
    if (s->k->density)
        return 1;
    FIT_OWNED struct value *sum = calloc(nm + nn, sizeof *sum);
    if (!sum)
        return s->bad = 1, 0;
    each_lane(s, t, sum_moments, sum);
    s->k->moments(&s->l, s->ws, t, s->scratch, s->out);
    int ok = compare_sums(s, MOMENTS, sum, nm);
    each_lane(s, t, sum_normal, sum + nm);
    s->k->normal(&s->l, s->ws, s->lin, t, s->scratch, s->out);
    ok = ok && compare_sums(s, NORMAL, sum + nm, nn);
    s->k->gradient(&s->l, s->ws, s->lin, s->adj, t, s->scratch, s->out);
    ok = ok && compare_sums(s, GRADIENT, sum + nm + K * (K + 1) / 2, K); /* J^T r */
    return ok;
}

static int check_tiles(struct selfcheck *s)
{
    size_t n = rows(s) ? s->l.ngroup : s->l.nframe, step = rows(s) ? 1 : PANEL; /* rows: j0 is the group */
    for (size_t j0 = 0; j0 < n; j0 += step) {
        size_t j1 = rows(s)         ? 0
                    : j0 + step < n ? j0 + step
                                    : n,
               last = rows(s) ? s->l.nrow : j1 - 1;
        for (size_t i0 = 0; i0 < last; i0 += CHUNK) {
            struct fit_tile t = {.i0 = i0,
                                 .i1 = i0 + CHUNK < last ? i0 + CHUNK : last,
                                 .j0 = j0,
                                 .j1 = j1,
                                 .group = rows(s) ? j0 : 0,
                                 .y = s->y,
                                 .w = s->w,
                                 .sum = s->sum};
            if (!check_tile(s, &t))
                return 0;
        }
    }
    return 1;
}

/* --- the command ----------------------------------------------------------------------------- */

/* 1 when the file belongs to this kernel. */
static int concerns(const struct selfcheck *s)
{
    return strcmp(s->model, s->k->name) == 0 && strcmp(s->variant, s->k->variant) == 0;
}

static int same_shape(const struct selfcheck *s)
{
    return strcmp(s->hash, s->k->hash) == 0 && s->K == s->k->nparam && s->Q == s->k->nlinear;
}

/* 0 when the reference, too, has values that are not numbers: then a kernel may reject the set. */
static int all_finite(const struct selfcheck *s)
{
    for (size_t k = 0; k < s->npoint * s->width; k++)
        if (!isfinite((double)s->ref[k].v))
            return 0;
    return 1;
}

/* Skips the second derivatives of a set that the kernel rejects. */
static int skip_second(struct selfcheck *s)
{
    size_t W = s->width - 1;
    expect(s, "hessian");
    size_t n = read_size(s);
    if (n)
        expect(s, "direction");
    double x;
    for (size_t k = n ? s->K + s->l.ngroup * s->Q + n * (3 + W * (W + 1)) : 0; k > 0 && !s->bad; k--)
        read_reals(s, 1, &x);
    return !s->bad;
}

/* ---- noise distributions ---------------------------------------------------------------------- */

/* A set of the log density: values, slopes and second derivatives of all points. */
static void read_density(struct selfcheck *s)
{
    size_t each = s->K * (s->K + 1) / 2;
    double x[2];
    read_set(s);
    expect(s, "hessian");
    size_t n = read_size(s);
    expect(s, "direction");
    for (size_t k = 0; k < s->K && !s->bad; k++)
        read_reals(s, 1, x);
    s->bad |= n != s->npoint;
    for (size_t p = 0; p < n && !s->bad; p++) {
        s->bad |= read_size(s) != p;
        read_reals(s, 2, x);
        for (size_t h = 0; h < each && !s->bad; h++) {
            read_reals(s, 2, x);
            s->bend[p * each + h] = (struct value){x[0], x[1]};
        }
    }
}

/* Measured values are the (first) column of that role; every seventh row is unused. */
static int fill_measured(struct selfcheck *s, size_t n, size_t g, const struct value *x, void *user)
{
    const struct fit_tile *t = user;
    (void)g, (void)x;
    size_t c = 0;
    while (c < s->k->ncolumn && s->k->column[c].role != FIT_ROLE_VALUE)
        c++;
    s->y[n] = c < s->k->ncolumn ? s->column_of[c][t->i0 + n] : 0;
    s->w[n] = n % 7 ? 1 : 0;
    return 1;
}

static int compare_density(struct selfcheck *s, size_t n, size_t g, const struct value *x, void *user)
{
    const double *out = user;
    (void)g;
    return agrees(s, DENSITY, out[n], *x, "the log density");
}

/* Sums of second derivatives, slopes and values of the used rows; the last with the terms' own size. */
static int sum_density(struct selfcheck *s, size_t n, size_t g, const struct value *x, void *user)
{
    struct value *at = user;
    size_t each = s->K * (s->K + 1) / 2;
    const struct value *bend = s->bend + (size_t)(x - s->ref) / s->width * each;
    (void)g;
    if (!(s->w[n] > 0))
        return 1;
    for (size_t k = 0; k < each + s->K + 1; k++, at++) {
        struct value term = k < each ? bend[k] : x[(k - each + 1) % s->width];
        at->v += k < each ? -term.v : term.v;
        at->e += term.e + 2 * fabsl(term.v) * UNIT;
    }
    return 1;
}

static int check_density_tile(struct selfcheck *s, struct fit_tile *t)
{
    const struct fit_density *d = s->k->density;
    size_t each = s->K * (s->K + 1) / 2;
    memset(s->w, 0, 2 * L * sizeof *s->w);
    each_lane(s, t, fill_measured, t);
    d->log_density(&s->l, s->ws, t, s->out);
    if (!each_lane(s, t, compare_density, s->out))
        return 0;
    FIT_OWNED struct value *sum = calloc(each + s->K + 1, sizeof *sum);
    if (!sum)
        return s->bad = 1, 0;
    each_lane(s, t, sum_density, sum);
    s->k->moments(&s->l, s->ws, t, s->scratch, s->out);
    s->out[0] = d->constant(&s->l, t) - 0.5 * s->out[t->group];
    int ok = compare_sums(s, MOMENTS, sum + each + s->K, 1);
    s->k->normal(&s->l, s->ws, s->lin, t, s->scratch, s->out);
    ok = ok && compare_sums(s, NORMAL, sum, each + s->K);
    s->k->gradient(&s->l, s->ws, s->lin, s->adj, t, s->scratch, s->out);
    ok = ok && compare_sums(s, GRADIENT, sum + each, s->K);
    return ok;
}

static void check_density(struct selfcheck *s)
{
    s->bend = room(s, s->npoint * (s->K * (s->K + 1) / 2), sizeof *s->bend);
    expect(s, "density");
    for (size_t n = 0; n < s->nset && !s->bad; n++) {
        read_density(s);
        if (s->bad || s->k->prepare(&s->l, s->theta, 2, s->ws) != FIT_EVAL_OK)
            continue; /* rejected: told of the mean */
        for (size_t g = 0; g < s->l.ngroup; g++)
            for (size_t i0 = 0; i0 < s->l.nrow; i0 += CHUNK) {
                struct fit_tile t = {.i0 = i0, .i1 = i0 + CHUNK < s->l.nrow ? i0 + CHUNK : s->l.nrow, .group = g,
                                     .y = s->y, .w = s->w, .sum = s->sum};
                if (!check_density_tile(s, &t))
                    return;
            }
    }
}

static void check_sets(struct selfcheck *s)
{
    make_room(s);
    for (size_t n = 0; n < s->nset && !s->bad; n++) {
        read_set(s);
        if (s->bad)
            return;
        if (s->k->prepare(&s->l, s->theta, 2, s->ws) != FIT_EVAL_OK) {
            if (!all_finite(s) && skip_second(s))
                continue;
            fit_fail(s->err, FIT_ERR_INTERNAL, "selfcheck: kernel %s %s %s rejects parameter set %zu of %s", s->k->name,
                     s->k->variant, s->k->isa, n, s->file);
            return;
        }
        if (!check_points(s) || !check_tiles(s) || !check_second(s))
            return;
    }
    if (s->k->density && !s->bad)
        check_density(s);
}

static enum fit_status check_kernel(struct fit_program *p, const struct fit_cli *cli,
                                    const struct fit_kernel *k, const char *file, int *used,
                                    struct fit_error *err)
{
    struct fit_error local = {.status = FIT_OK};
    struct selfcheck s = {.k = k, .file = file, .err = err ? err : &local};
    s.err->status = FIT_OK;
    s.f = regular_open(file);
    if (!s.f)
        return fit_fail(err, FIT_ERR_IO, "selfcheck: %s cannot be opened", file);
    read_head(&s);
    int mine = !s.bad && concerns(&s);
    if (mine && !same_shape(&s))
        fit_fail(s.err, FIT_ERR_DATA, "selfcheck: %s was made from another text of model %s", file,
                 s.model);
    else if (mine)
        check_sets(&s);
    *used |= mine;
    if (s.bad && s.err->status == FIT_OK)
        fit_fail(s.err, FIT_ERR_DATA, "selfcheck: %s is not complete", file);
    if (mine && s.err->status == FIT_OK && !cli->quiet) {
        fprintf(p->out, "%s %s %s:", k->name, k->variant, k->isa);
        for (int n = 0; n < PRODUCTS; n++)
            if ((n < HESSIAN || n == DENSITY || s.second) && (n != DENSITY || k->density))
                fprintf(p->out, " %s %.2f", product_name[n], s.worst[n]);
        fprintf(p->out,
                " of the rounding error allowed for, %zu numbers; worst column %s: %.1f ulp\n",
                s.compared, column_name(&s, s.worst_column), s.worst_ulp);
    }
    release(&s);
    return s.err->status;
}

enum fit_status fit_cmd_selfcheck(struct fit_program *p, const struct fit_cli *cli,
                                  struct fit_error *err)
{
    if (cli->nword == 0)
        return fit_fail(err, FIT_ERR_USAGE,
                        "selfcheck: name the files that the compiler wrote with"
                        " --emit=check");
    for (size_t n = 0; n < cli->nword; n++) {
        int used = 0;
        for (size_t k = 0; p->kernels[k]; k++) {
            if (!fit_cpu_supports(p->kernels[k]->isa))
                continue;
            enum fit_status st = check_kernel(p, cli, p->kernels[k], cli->word[n], &used, err);
            if (st != FIT_OK)
                return st;
        }
        if (!used)
            return fit_fail(err, FIT_ERR_DATA, "selfcheck: %s is for no kernel of this program",
                            cli->word[n]);
    }
    return FIT_OK;
}
