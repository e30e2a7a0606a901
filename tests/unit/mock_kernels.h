/* mock_kernels.h -- small kernels for tests of the runtime, written by the direct formula.
 *
 * MOCK_KERNEL(name, space, np, nl, intercept) makes a struct fit_kernel from
 * static int name_eval(const struct fit_layout *l, const double *th, size_t i, size_t j, size_t g,
 *                          double *b, double *rest, double *db, double *drest);
 * which gives, for one point, b[nl], rest, db[nl][np] = d b_q / d theta_k and drest[np], and the
 * arrays name_param[np or 1] and name_linear[nl or 1].  Its return value is that of `prepare` when
 * i is SIZE_MAX.
 */
#ifndef MOCK_KERNELS_H
#define MOCK_KERNELS_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/dataset.h"
#include "fit/kernel.h"

typedef int mock_eval(const struct fit_layout *l, const double *th, size_t i, size_t j, size_t g,
                      double *b, double *rest, double *db, double *drest);

struct mock {
    mock_eval *eval;
    enum fit_space space;
    size_t np, nl;
};

struct mock_sums {
    const struct mock *m;
    const struct fit_layout *l;
    const double *th, *lin;
    const struct fit_tile *t;
    double *out;
    int what; /* 0 moments, 1 normal, 2 model */
};

static inline void mock_point(struct mock_sums *s, size_t i, size_t j, size_t g, size_t at)
{
    size_t np = s->m->np, nl = s->m->nl;
    double b[8] = {0}, rest = 0, db[64] = {0}, drest[16] = {0}, m[16];
    double y = s->t->y[at], w = s->t->w ? s->t->w[at] : 1;
    s->m->eval(s->l, s->th, i, j, g, b, &rest, db, drest);
    if (s->what == 0) {
        double *o = s->out + g * (nl * (nl + 1) / 2 + nl + 1);
        for (size_t p = 0; p < nl; p++)
            for (size_t q = p; q < nl; q++)
                *o++ += w * b[p] * b[q];
        for (size_t q = 0; q < nl; q++)
            *o++ += w * b[q] * (y - rest);
        *o += w * (y - rest) * (y - rest);
        return;
    }
    double mean = rest;
    for (size_t q = 0; q < nl; q++)
        mean += s->lin[g * nl + q] * b[q];
    if (s->what == 2) {
        s->out[at] = mean;
        return;
    }
    for (size_t k = 0; k < np; k++) {
        m[k] = drest[k];
        for (size_t q = 0; q < nl; q++)
            m[k] += s->lin[g * nl + q] * db[q * np + k];
    }
    double *o = s->out;
    for (size_t k = 0; k < np; k++)
        for (size_t n = k; n < np; n++)
            *o++ += w * m[k] * m[n];
    for (size_t k = 0; k < np; k++)
        *o++ += w * m[k] * (y - mean);
    o += g * nl * np;
    for (size_t q = 0; q < nl; q++)
        for (size_t k = 0; k < np; k++)
            *o++ += w * b[q] * m[k];
}

static inline void mock_pass(struct mock_sums *s)
{
    const struct fit_tile *t = s->t;
    size_t ng = s->m->space == FIT_ROWS ? 1 : s->l->ngroup;
    if (s->m->space == FIT_ROWS) {
        for (size_t i = t->i0; i < t->i1; i++)
            mock_point(s, i, 0, 0, i - t->i0 / 8 * 8);
        return;
    }
    size_t at = 0;
    for (size_t i = t->i0; i < t->i1; i++)
        for (size_t b = (t->j0 > i + 1 ? t->j0 : i + 1) / 8; b * 8 < t->j1; b++)
            for (size_t g = 0; g < ng; g++, at += 8)
                for (size_t k = 0; k < 8; k++)
                    if (b * 8 + k > i && b * 8 + k < t->j1)
                        mock_point(s, i, b * 8 + k, g, at + k);
}

#define MOCK_KERNEL(NAME, SPACE, NP, NL, INTERCEPT)                                                \
    static const struct mock NAME##_mock = {NAME##_eval, SPACE, NP, NL};                           \
    static size_t NAME##_workspace(const struct fit_layout *l)                                     \
    {                                                                                              \
        (void)l;                                                                                   \
        return 8;                                                                                  \
    }                                                                                              \
    static enum fit_eval NAME##_prepare(const struct fit_layout *l, const double *th, int d,       \
                                        double *ws)                                                \
    {                                                                                              \
        double b[8], r, db[64], dr[8];                                                             \
        (void)d;                                                                                   \
        memcpy(ws, th, (NP) * sizeof *ws);                                                         \
        return (enum fit_eval)NAME##_eval(l, th, SIZE_MAX, 0, 0, b, &r, db, dr);                   \
    }                                                                                              \
    static void NAME##_moments(const struct fit_layout *l, const double *ws,                       \
                               const struct fit_tile *t, double *scratch, double *out)             \
    {                                                                                              \
        size_t ng = SPACE == FIT_ROWS ? 1 : l->ngroup;                                             \
        memset(out, 0, ng *((NL) * ((NL) + 1) / 2 + (NL) + 1) * sizeof *out);                      \
        scratch[0] = 0;                                                                            \
        mock_pass(&(struct mock_sums){&NAME##_mock, l, ws, NULL, t, out, 0});                      \
    }                                                                                              \
    static void NAME##_normal(const struct fit_layout *l, const double *ws, const double *lin,     \
                              const struct fit_tile *t, double *scratch, double *out)              \
    {                                                                                              \
        size_t ng = SPACE == FIT_ROWS ? 1 : l->ngroup;                                             \
        memset(out, 0, ((NP) * ((NP) + 1) / 2 + (NP) + ng * (NL) * (NP)) * sizeof *out);           \
        scratch[0] = 0;                                                                            \
        mock_pass(&(struct mock_sums){&NAME##_mock, l, ws, lin, t, out, 1});                       \
    }                                                                                              \
    static void NAME##_model(const struct fit_layout *l, const double *ws, const double *lin,      \
                             const struct fit_tile *t, double *out)                                \
    {                                                                                              \
        mock_pass(&(struct mock_sums){&NAME##_mock, l, ws, lin, t, out, 2});                       \
    }                                                                                              \
    static void NAME##_points(const struct fit_layout *l, const double *ws, const double *lin,     \
                              const struct fit_points *list, double *mean, double *jac)            \
    {                                                                                              \
        const uint32_t *i = list->i, *j = list->j, *g = list->g;                                   \
        const size_t n = list->n;                                                                  \
        for (size_t a = 0; a < n; a++) {                                                           \
            double b[8] = {0}, rest = 0, db[64] = {0}, dr[16] = {0};                               \
            size_t gg = g ? g[a] : 0;                                                              \
            NAME##_eval(l, ws, i[a], j ? j[a] : 0, gg, b, &rest, db, dr);                          \
            mean[a] = rest;                                                                        \
            for (size_t q = 0; q < NAME##_mock.nl; q++)                                            \
                mean[a] += lin[gg * (NL) + q] * b[q];                                              \
            for (size_t k = 0; jac && k < NAME##_mock.np; k++) {                                   \
                double m = dr[k];                                                                  \
                for (size_t q = 0; q < NAME##_mock.nl; q++)                                        \
                    m += lin[gg * (NL) + q] * db[q * (NP) + k];                                    \
                jac[k * n + a] = m;                                                                \
            }                                                                                      \
            for (size_t q = 0; jac && q < NAME##_mock.nl; q++)                                     \
                jac[((NP) + q) * n + a] = b[q];                                                    \
        }                                                                                          \
    }                                                                                              \
    static const struct fit_kernel NAME = {.abi = FIT_KERNEL_ABI,                                  \
                                           .name = #NAME,                                          \
                                           .variant = "fast",                                      \
                                           .space = SPACE,                                         \
                                           .nparam = NP,                                           \
                                           .param = NAME##_param,                                  \
                                           .nlinear = NL,                                          \
                                           .linear = NAME##_linear,                                \
                                           .intercept = INTERCEPT,                                 \
                                           .table_doubles = 2,                                     \
                                           .workspace = NAME##_workspace,                          \
                                           .scratch = NAME##_workspace,                            \
                                           .prepare = NAME##_prepare,                              \
                                           .moments = NAME##_moments,                              \
                                           .normal = NAME##_normal,                                \
                                           .model = NAME##_model,                                  \
                                           .points = NAME##_points}

/* ---- b + a exp(-k t): a table, two linear parameters, one nonlinear -------------------------- */

static const struct fit_param decay_param[] = {
    {.name = "k", .unit = "1/s", .start = 1, .lower = 1e-3, .upper = 100, .over = -1}};
static const struct fit_param decay_linear[] = {
    {.name = "a", .unit = "1", .start = 1, .lower = -INFINITY, .upper = INFINITY, .over = -1},
    {.name = "b", .unit = "1", .start = 0, .lower = -INFINITY, .upper = INFINITY, .over = -1}};

static int decay_eval(const struct fit_layout *l, const double *th, size_t i, size_t j, size_t g,
                      double *b, double *rest, double *db, double *drest)
{
    (void)j, (void)g;
    if (i == SIZE_MAX)
        return isfinite(th[0]) ? FIT_EVAL_OK : FIT_EVAL_REJECT;
    double t = l->column[0][i];
    b[0] = exp(-th[0] * t);
    b[1] = 1;
    *rest = 0;
    db[0] = -t * b[0];
    db[1] = 0;
    drest[0] = 0;
    return 0;
}
MOCK_KERNEL(decay, FIT_ROWS, 1, 2, 1);

/* ---- the same without linear parameters: a exp(-k t) + b ------------------------------------- */

static const struct fit_param plain_param[] = {
    {.name = "a", .unit = "1", .start = 1, .lower = -INFINITY, .upper = INFINITY, .over = -1},
    {.name = "b", .unit = "1", .start = 0, .lower = -INFINITY, .upper = INFINITY, .over = -1},
    {.name = "k", .unit = "1/s", .start = 1, .lower = 1e-3, .upper = 100, .over = -1}};
static const struct fit_param plain_linear[] = {{.name = ""}};

static int plain_eval(const struct fit_layout *l, const double *th, size_t i, size_t j, size_t g,
                      double *b, double *rest, double *db, double *drest)
{
    (void)j, (void)g, (void)b, (void)db;
    if (i == SIZE_MAX)
        return FIT_EVAL_OK;
    double t = l->column[0][i], e = exp(-th[2] * t);
    *rest = th[0] * e + th[1];
    drest[0] = e;
    drest[1] = 1;
    drest[2] = -t * th[0] * e;
    return 0;
}
MOCK_KERNEL(plain, FIT_ROWS, 3, 0, -1);

/* ---- a straight line: linear parameters only ------------------------------------------------- */

static const struct fit_param line_param[] = {{.name = ""}};

static int line_eval(const struct fit_layout *l, const double *th, size_t i, size_t j, size_t g,
                     double *b, double *rest, double *db, double *drest)
{
    (void)th, (void)j, (void)g, (void)db, (void)drest;
    if (i == SIZE_MAX)
        return FIT_EVAL_OK;
    b[0] = l->column[0][i];
    b[1] = 1;
    *rest = 0;
    return 0;
}
#define line_linear decay_linear
MOCK_KERNEL(line, FIT_ROWS, 0, 2, 1);

/* ---- pairs: offset_g + contrast_g exp(-D s) cos(v coord_g s), s = t_j - t_i ------------------ */

static const struct fit_param fringe_param[] = {
    {.name = "D", .unit = "1/s", .start = 1, .lower = 1e-3, .upper = 1e3, .over = -1},
    {.name = "v", .unit = "1/s", .start = 1, .lower = -50, .upper = 50, .over = -1}};
static const struct fit_param fringe_linear[] = {
    {.name = "contrast", .unit = "1", .start = 0.3, .lower = 0, .upper = 1, .over = 0},
    {.name = "offset", .unit = "1", .start = 1, .lower = 0.5, .upper = 1.5, .over = 0}};

static int fringe_eval(const struct fit_layout *l, const double *th, size_t i, size_t j, size_t g,
                       double *b, double *rest, double *db, double *drest)
{
    (void)drest;
    if (i == SIZE_MAX)
        return isfinite(th[0]) && isfinite(th[1]) ? FIT_EVAL_OK : FIT_EVAL_REJECT;
    double s = l->time[l->frame[j]] - l->time[l->frame[i]], c = l->coord[0][g];
    double e = exp(-th[0] * s), x = th[1] * c * s;
    b[0] = e * cos(x);
    b[1] = 1;
    *rest = 0;
    db[0] = -s * b[0];
    db[1] = -e * sin(x) * c * s;
    db[2] = db[3] = 0;
    return 0;
}
MOCK_KERNEL(fringe, FIT_PAIRS, 2, 2, 1);

/* ---- rank-deficient: only D1 + D2 enters; the third parameter is determined ------------------ */

static const struct fit_param twin_param[] = {
    {.name = "D1", .unit = "1/s", .start = 1, .lower = 1e-3, .upper = 1e3, .over = -1},
    {.name = "D2", .unit = "1/s", .start = 1, .lower = 1e-3, .upper = 1e3, .over = -1},
    {.name = "v", .unit = "1/s", .start = 1, .lower = -50, .upper = 50, .over = -1}};

static int twin_eval(const struct fit_layout *l, const double *th, size_t i, size_t j, size_t g,
                     double *b, double *rest, double *db, double *drest)
{
    double sum[2] = {th[0] + th[1], th[2]}, d[4] = {0};
    int r = fringe_eval(l, sum, i, j, g, b, rest, d, drest);
    db[0] = db[1] = d[0];
    db[2] = d[1];
    db[3] = db[4] = db[5] = 0;
    return r;
}
#define twin_linear fringe_linear
MOCK_KERNEL(twin, FIT_PAIRS, 3, 2, 1);

/* ---- data ------------------------------------------------------------------------------------ */

/* A reproducible standard normal: sum of 12 uniforms of a linear congruential generator, minus 6.
 */
static inline double mock_noise(uint64_t *state)
{
    double s = -6;
    for (int k = 0; k < 12; k++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        s += (double)(*state >> 11) * 0x1p-53;
    }
    return s;
}

static inline struct fit_dataset *mock_rows(size_t n, const double *t, const double *y,
                                            const double *sigma, int center)
{
    struct fit_dataset *ds = NULL;
    struct fit_error err = {0};
    const double *column[] = {t};
    if (fit_dataset_new_table(
            &(struct fit_dataset_table){
                .nrow = n, .ncolumn = 1, .column = column, .value = y, .sigma = sigma, .center = center},
            &ds, &err) == FIT_OK)
        fit_dataset_finish(ds, &err);
    return ds;
}

/* n frames of step dt, ng groups with coord 1, 2, ...; matrices of the fringe model with noise. */
struct mock_pairs {
    size_t n, ng;
    double dt, D, v;
    const double *contrast, *offset, *sigma; /* ng each; sigma NULL: no noise */
    int center;
    uint64_t seed;
};

static inline struct fit_dataset *mock_pairs(const struct mock_pairs *m)
{
    struct fit_dataset *ds = NULL;
    struct fit_error err = {0};
    double *time = malloc(m->n * sizeof *time), coord[16], *c2 = malloc(m->n * m->n * sizeof *c2);
    const double *coords[] = {coord};
    uint64_t state = m->seed;
    for (size_t i = 0; i < m->n; i++)
        time[i] = (double)i * m->dt;
    for (size_t g = 0; g < m->ng; g++)
        coord[g] = (double)(g + 1);
    struct fit_dataset_pairs spec = {.ntime = m->n,
                                     .time = time,
                                     .step = m->dt,
                                     .ngroup = m->ng,
                                     .naxis = 1,
                                     .coord = coords,
                                     .center = m->center,
                                     .table_doubles = 2};
    fit_dataset_new_pairs(&spec, &ds, &err);
    for (size_t g = 0; ds && g < m->ng; g++) {
        for (size_t i = 0; i < m->n; i++)
            for (size_t j = 0; j < m->n; j++) {
                double s = time[j] - time[i];
                c2[i * m->n + j] = m->offset[g] +
                                   m->contrast[g] * exp(-m->D * s) * cos(m->v * coord[g] * s) +
                                   (m->sigma && j > i ? m->sigma[g] * mock_noise(&state) : 0);
            }
        fit_dataset_put(ds, g, c2, NULL, &err);
    }
    if (ds)
        fit_dataset_finish(ds, &err);
    free(time);
    free(c2);
    return ds;
}

#endif
