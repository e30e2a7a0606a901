/* speckle_rise.c -- see speckle_rise.h. */
#include "errors/speckle_rise.h"

#include <math.h>
#include <string.h>

#include "errors/speckle_kernel_impl.h"
#include "math/linalg.h"

enum { ENOUGH = 64 };        /* blocks of frames */
static const double SLOW = 3; /* blocks of a decay: enough for a covariance */
static const double TOLERANCE = 1e-12;
static const double DEPENDENT = 1e-12;

struct fit_speckle_rise {
    struct fit_speckle_rise_spec s;
    const struct fit_speckle_private *k;
    const struct fit_layout *layout; /* of the table */
    size_t p, q, ng, P, nrow, nclass; /* nrow: of all groups */
    size_t together, n;               /* blocks of the table that make one here; how many there are then */
    size_t *rank;                     /* ng: rows of each */
    double *ws;                       /* of the kernel */
    double *residual, *slope;         /* nrow; nrow x (p + q) */
    double *S, *C, *root, *shot, *field, *room; /* P x P; n x n; n x n; n; P x n x n */
    double *A, *b, *R, *work;     /* of the linear problem */
    struct fit_arena storage;
};

static size_t unknowns(const struct fit_speckle_rise *r)
{
    return r->p + r->nclass;
}

static void count_rows(struct fit_speckle_rise *r)
{
    for (size_t g = 0; g < r->ng; g++) {
        while (r->rank[g] < r->P && !isnan(r->k->value[g * r->P + r->rank[g]]))
            r->rank[g]++;
        r->nrow += r->rank[g];
    }
    for (size_t e = 0; e < r->ng * r->q; e++)
        if (!r->s.fixed[e % r->q] && r->s.class[e] + 1 > r->nclass)
            r->nclass = r->s.class[e] + 1;
}

/* As few blocks as suffice for the covariance where all decays last for SLOW of them. */
static void choose_blocks(struct fit_speckle_rise *r)
{
    double least = INFINITY;
    for (size_t g = 0; g < r->ng; g++)
        least = r->s.noise[g].known == FIT_SPECKLE_BOTH ? fmin(least, r->s.noise[g].frames) : least;
    r->together = (r->k->n + ENOUGH - 1) / ENOUGH;
    while (r->together > 1 && least < SLOW * (double)(r->together * r->k->frames))
        r->together--;
    r->n = (r->k->n + r->together - 1) / r->together;
}

struct fit_speckle_rise *fit_speckle_rise_new(const struct fit_speckle_rise_spec *spec)
{
    const struct fit_speckle_private *k = spec->made->private_;
    struct fit_arena a = {NULL, 0};
    struct fit_speckle_rise *r = fit_take(&a, 1, sizeof *r);
    if (!r)
        return NULL;
    *r = (struct fit_speckle_rise){.s = *spec, .k = k, .layout = &spec->made->ds->layout, .p = k->inner->nparam,
                                   .q = k->inner->nlinear, .ng = k->ng, .P = k->P};
    r->rank = fit_take(&a, r->ng, sizeof *r->rank);
    if (r->rank)
        count_rows(r);
    choose_blocks(r);
    const size_t n = r->n, m = unknowns(r), rows = r->nrow > m ? r->nrow : m;
    FIT_TAKE_DOUBLES(&a, spec->made->kernel.workspace(r->layout), &r->ws);
    FIT_TAKE_DOUBLES(&a, r->nrow + 1, &r->residual);
    FIT_TAKE_DOUBLES(&a, (r->nrow + 1) * (r->p + r->q), &r->slope);
    FIT_TAKE_DOUBLES(&a, r->P * r->P, &r->S);
    FIT_TAKE_DOUBLES(&a, n * n, &r->C, &r->root);
    FIT_TAKE_DOUBLES(&a, n, &r->shot);
    FIT_TAKE_DOUBLES(&a, r->P * n * n, &r->field);
    FIT_TAKE_DOUBLES(&a, fit_speckle_covariance_room(n, r->P), &r->room);
    FIT_TAKE_DOUBLES(&a, rows * (m + 1), &r->A);
    FIT_TAKE_DOUBLES(&a, rows, &r->b);
    FIT_TAKE_DOUBLES(&a, m * m + 1, &r->R);
    FIT_TAKE_DOUBLES(&a, fit_qr_work(rows, m) + r->P, &r->work);
    if (a.failed) {
        fit_arena_free(&a);
        return NULL;
    }
    r->storage = a;
    return r;
}

void fit_speckle_rise_free(struct fit_speckle_rise *r)
{
    if (!r)
        return;
    struct fit_arena all = r->storage; /* itself in it */
    fit_arena_free(&all);
}

/* ---- rows and their covariance --------------------------------------------------------------------------------- */

/* Residuals and derivatives of all rows; 0: they are not finite. */
static int look(struct fit_speckle_rise *r, const double *theta, const double *lin)
{
    const struct fit_speckle_kernel *made = r->s.made;
    double jac[r->p + r->q + 1];
    size_t row = 0;
    if (made->kernel.prepare(r->layout, theta, 1, r->ws) != FIT_EVAL_OK)
        return 0;
    for (size_t g = 0; g < r->ng; g++)
        for (size_t k = 0; k < r->rank[g]; k++, row++) {
            const uint32_t at = (uint32_t)(r->k->first[g] + k), group = (uint32_t)g;
            double mean;
            made->kernel.points(r->layout, r->ws, lin, &(struct fit_points){1, &at, &at, &group}, &mean, jac);
            r->residual[row] = r->k->value[g * r->P + k] - mean;
            memcpy(r->slope + row * (r->p + r->q), jac, (r->p + r->q) * sizeof *jac);
        }
    return 1;
}

/* Half the weight of every pair of blocks in each row of group g. */
static void fields_of(const struct fit_speckle_rise *r, size_t g)
{
    const size_t n = r->n;
    memset(r->field, 0, r->rank[g] * n * n * sizeof *r->field);
    for (size_t row = 0; row < r->rank[g]; row++) {
        const double *from = r->k->weight + (g * r->P + row) * r->k->each;
        double *to = r->field + row * n * n;
        for (size_t a = 0; a < r->k->n; a++)
            for (size_t c = a; c < r->k->n; c++, from++) {
                const size_t A = a / r->together, C = c / r->together;
                to[A * n + C] += *from / 2;
                to[C * n + A] += *from / 2;
            }
    }
}

/* S <- covariance of the rows of group g with this noise, whose fields are set. */
static void covariance(struct fit_speckle_rise *r, size_t g, const double *lin, const struct fit_speckle_noise *noise)
{
    const struct fit_speckle_model model = {r->k->inner, r->k->layout, r->ws, lin};
    const struct fit_speckle_blocks blocks = {&model, r->n, r->together * r->k->frames};
    const double count = fit_speckle_between(&blocks, g, noise, r->C, r->root, r->shot);
    const struct fit_speckle_fields f = {.n = r->n, .nfield = r->rank[g], .C = r->C, .g = r->root,
                                         .contrast = noise->contrast, .shot = r->shot, .field = r->field,
                                         .coarse = fit_speckle_coarse(&blocks, noise)};
    fit_speckle_covariance(&f, r->room, r->S);
    for (size_t k = 0; k < r->rank[g] * r->rank[g]; k++)
        r->S[k] /= count;
}

/* Noise of group g at the present model: its numbers follow the contrast. 0: the model cannot have such noise. */
static int noise_at(const struct fit_speckle_rise *r, size_t g, const double *lin, struct fit_speckle_noise *x)
{
    const struct fit_speckle_model model = {r->k->inner, r->k->layout, r->ws, lin};
    struct fit_speckle_noise seen;
    const char *why;
    *x = r->s.noise[g];
    if (!fit_speckle_suits(&model, g, &seen, &why) || !(seen.contrast > 0))
        return 0;
    const double times = seen.contrast / x->contrast;
    x->count *= times * times;
    x->shot *= times;
    x->noise = x->shot / sqrt(x->count);
    x->contrast = seen.contrast;
    x->frames = seen.frames;
    return 1;
}

/* ---- the rise -------------------------------------------------------------------------------------------------- */

/* Column of unknown element e of a row of group g; -1: none. */
static long column_of(const struct fit_speckle_rise *r, size_t g, size_t e, size_t held)
{
    if (e < r->p)
        return r->s.open[e] && e != held ? (long)e : -1;
    return r->s.fixed[e - r->p] ? -1 : (long)(r->p + r->s.class[g * r->q + e - r->p]);
}

/* Rows of group g, from `row` on, by independent errors of 1, into A and b. */
static int put_group(struct fit_speckle_rise *r, size_t g, size_t row, size_t held)
{
    const size_t n = r->rank[g], m = unknowns(r), each = r->p + r->q;
    double *y = r->work;
    if (fit_cholesky(n, r->S, TOLERANCE) != 0)
        return 0;
    memcpy(r->b + row, r->residual + row, n * sizeof *r->b);
    fit_lower_solve(n, r->S, r->b + row);
    for (size_t e = 0; e < each; e++) {
        const long at = column_of(r, g, e, held);
        if (at < 0)
            continue;
        for (size_t k = 0; k < n; k++)
            y[k] = r->slope[(row + k) * each + e];
        fit_lower_solve(n, r->S, y);
        for (size_t k = 0; k < n; k++)
            r->A[(row + k) * m + (size_t)at] += y[k];
    }
    return 1;
}

/* Leaves out columns that are 0; returns how many are left. */
static size_t pack(struct fit_speckle_rise *r)
{
    const size_t m = unknowns(r);
    size_t kept = 0, which[m + 1];
    for (size_t c = 0; c < m; c++) {
        int any = 0;
        for (size_t k = 0; k < r->nrow; k++)
            any |= r->A[k * m + c] != 0;
        which[kept] = c;
        kept += (size_t)any;
    }
    for (size_t k = 0; k < r->nrow; k++)
        for (size_t c = 0; c < kept; c++)
            r->A[k * kept + c] = r->A[k * m + which[c]];
    return kept;
}

double fit_speckle_rise_at(struct fit_speckle_rise *r, const double *theta, const double *lin, size_t held)
{
    size_t row = 0;
    if (!look(r, theta, lin))
        return NAN;
    memset(r->A, 0, r->nrow * unknowns(r) * sizeof *r->A);
    for (size_t g = 0; g < r->ng; row += r->rank[g], g++) {
        struct fit_speckle_noise noise;
        if (!noise_at(r, g, lin, &noise))
            return NAN;
        fields_of(r, g);
        covariance(r, g, lin, &noise);
        if (!put_group(r, g, row, held))
            return NAN;
    }
    const size_t m = pack(r);
    if (r->nrow < m)
        return NAN;
    if (m > 0 && fit_qr_solve(r->nrow, m, r->A, r->b, r->R, DEPENDENT, r->work) != 0)
        return NAN;
    return fit_dot(r->nrow - m, r->b + m, r->b + m);
}

double fit_speckle_freedom(const struct fit_speckle_noise *noise, size_t ngroup)
{
    double sum = 0;
    for (size_t g = 0; g < ngroup; g++)
        if (noise[g].known == FIT_SPECKLE_BOTH && noise[g].count_std > 0)
            sum += pow(noise[g].count_std / noise[g].count, 2);
    return 2 * (double)ngroup * (double)ngroup / sum;
}
