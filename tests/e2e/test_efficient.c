/* test_efficient.c -- efficient estimates: the equations against dense matrices over all pairs of frames, the kernel
 * made of them against itself, and fits of simulated speckles. */
#include "errors/scores.h"
#include "errors/speckle_kernel.h"
#include "fit/fit.h"
#include "leastsquares/fit_types.h"
#include "leastsquares/objective.h"
#include "math/linalg.h"
#include "math/rng.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_FRAMES = 400, P = 5, NPARAM = 3, NLINEAR = 2 }; /* P: of a group: D0, alpha, D_offset, contrast, offset */

static const double truth[NPARAM] = {6000, -0.25, 0};
static const unsigned char fixed[NPARAM] = {0, 0, 1};
static const double phi[] = {0, 30, 60};
static const double followed[P] = {1, 1, 0, 1, 1}; /* part of each parameter that residuals have followed */

/* ---- simulated experiments -------------------------------------------------------------------------------- */

struct design {
    size_t frames, groups, modes, pixels;
    double dt, shot; /* shot noise of one pixel and frame */
    size_t shot_only; /* group with a thousand times the shot noise, or groups and more: none */
    uint64_t seed;
    size_t masked;    /* frames that are left out after the tenth */
};

static const struct design usual = {40, 1, 3, 1000, 2, 0.2, 9, 1, 0};

/* root <- factor of g = |g1| of a group. */
static void take_root(const struct fit_kernel *k, const struct e2e_prepared *p, uint32_t g, size_t n, double *root)
{
    const double lin[] = {1, 0, 1, 0, 1, 0};
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i; j < n; j++) {
            double square;
            k->points(p->layout, p->ws, lin, &(struct fit_points){1, &i, &j, &g}, &square, NULL);
            root[i * n + j] = root[j * n + i] = i == j ? 1 + 1e-9 : sqrt(square);
        }
    assert_int_equal(fit_cholesky(n, root, 1e-15), 0);
}

/* Adds |L z|^2 / (2 modes), z complex normal. */
static void add_mode(const struct design *d, const double *root, struct fit_rng *rng, double *z, double *intensity)
{
    fit_rng_next_normals(rng, 2 * d->frames, z);
    for (size_t i = 0; i < d->frames; i++) {
        double re = 0, im = 0;
        for (size_t k = 0; k <= i; k++) {
            re += root[i * d->frames + k] * z[k];
            im += root[i * d->frames + k] * z[d->frames + k];
        }
        intensity[i] += (re * re + im * im) / (double)(2 * d->modes);
    }
}

/* c2: <I I> / (<I> <I>) over pixels.  The variance of the shot noise is in proportion to the intensity. */
static void draw(const struct design *d, const double *root, double shot, struct fit_rng *rng, double *c2)
{
    const size_t n = d->frames;
    double *room = e2e_doubles(5 * n), *intensity = room, *mean = room + n, *z = room + 2 * n, *photons = room + 4 * n;
    memset(c2, 0, n * n * sizeof *c2);
    for (size_t pixel = 0; pixel < d->pixels; pixel++) {
        fit_rng_next_normals(rng, n, photons);
        memset(intensity, 0, n * sizeof *intensity);
        for (size_t m = 0; m < d->modes; m++)
            add_mode(d, root, rng, z, intensity);
        for (size_t i = 0; i < n; i++)
            intensity[i] += sqrt(shot * intensity[i]) * photons[i];
        for (size_t i = 0; i < n; i++) {
            mean[i] += intensity[i];
            for (size_t j = i; j < n; j++)
                c2[i * n + j] += intensity[i] * intensity[j];
        }
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = i; j < n; j++)
            c2[i * n + j] = c2[j * n + i] = c2[i * n + j] * (double)d->pixels / (mean[i] * mean[j]);
    free(room);
}

/* Independent noise of values, on 1 + |g|^2 / 3. */
static void draw_white(const struct fit_kernel *k, const struct e2e_prepared *p, uint32_t g, size_t n,
                       struct fit_rng *rng, double *c2)
{
    const double lin[] = {1.0 / 3, 1, 1.0 / 3, 1, 1.0 / 3, 1};
    fit_rng_next_normals(rng, n * n, c2);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = i; j < n; j++) {
            double mean;
            k->points(p->layout, p->ws, lin, &(struct fit_points){1, &i, &j, &g}, &mean, NULL);
            c2[i * n + j] = mean + 0.02 * c2[i * n + j];
        }
}

/* modes 0: white noise.  missing: every so many values there is none; 0: all are there. */
static struct fit_dataset *experiment(const struct fit_kernel *k, const struct design *d, size_t missing,
                                      const double *sigma)
{
    const size_t n = d->frames;
    struct fit_error err = {0};
    uint32_t frame[MOST_FRAMES];
    for (size_t i = 0; i < n; i++)
        frame[i] = (uint32_t)(i < 10 ? i : i + d->masked);
    const struct e2e_grid grid = {.ntime = n + d->masked, .dt = d->dt, .q = 0.0054, .nframe = n, .frame = frame,
                                  .nphi = d->groups, .phi = phi};
    struct fit_dataset *ds = e2e_dataset(k, &grid);
    struct e2e_prepared p = e2e_prepare(k, &ds->layout, truth);
    struct fit_rng rng = {.seed = d->seed, .purpose = FIT_RNG_START};
    double *root = e2e_doubles(n * n), *c2 = e2e_doubles(n * n), *matrix = e2e_doubles(grid.ntime * grid.ntime);
    for (uint32_t g = 0; g < d->groups; g++) {
        if (d->modes > 0) {
            take_root(k, &p, g, n, root);
            draw(d, root, g == d->shot_only ? 1000 * d->shot : d->shot, &rng, c2);
        } else {
            draw_white(k, &p, g, n, &rng, c2);
        }
        for (size_t at = 0; missing && at < n * n; at += missing)
            c2[at] = NAN;
        for (size_t at = 0; at < n * n; at++)
            matrix[frame[at / n] * grid.ntime + frame[at % n]] = c2[at];
        assert_int_equal(fit_dataset_put(ds, g, matrix, sigma, &err), FIT_OK);
    }
    assert_int_equal(fit_dataset_finish(ds, &err), FIT_OK);
    e2e_release(&p);
    free(root);
    free(c2);
    free(matrix);
    return ds;
}

/* ---- the kernel ------------------------------------------------------------------------------------------- */

struct made {
    struct fit_objective *obj;
    struct fit_scores scores;
    struct fit_speckle_noise noise[3];
    double lin[6];
    struct fit_speckle_kernel *made;
};

/* The kernel at `theta`, and the linear parameters that are best there. */
static void make(const struct fit_kernel *k, const struct fit_dataset *ds, const double *theta, int threads,
                 struct made *m)
{
    const struct fit_objective_setup setup = {.threads = threads};
    const struct fit_score_loss loss = {FIT_LOSS_LINEAR, 1, NULL};
    const size_t n = NPARAM + ds->layout.ngroup * NLINEAR;
    double B[NPARAM * NPARAM], g[NPARAM], *D = e2e_doubles(n * n);
    struct fit_error err = {0};
    memset(m, 0, sizeof *m);
    assert_int_equal(fit_objective_new(k, ds, &setup, &m->obj, &err), FIT_OK);
    assert_int_equal(fit_objective_value(m->obj, theta), FIT_EVAL_OK);
    assert_int_equal(fit_objective_normal(m->obj, theta, B, g), FIT_EVAL_OK);
    assert_int_equal(fit_scores_new(m->obj, &loss, D, 1, &m->scores, &err), FIT_OK);
    for (size_t e = 0; e < ds->layout.ngroup * NLINEAR; e++)
        m->lin[e] = fit_objective_linear(m->obj, e / NLINEAR, e % NLINEAR);
    for (size_t h = 0; h < ds->layout.ngroup; h++)
        m->noise[h] = (struct fit_speckle_noise){.known = FIT_SPECKLE_BOTH, .contrast = m->lin[h * NLINEAR],
                                                 .shot = 0.2, .count = 300, .frames = 5};
    const struct fit_speckle_reference at = {m->obj, &m->scores, m->lin, m->noise, {.count = 0}, followed,
                                             threads};
    assert_int_equal(fit_speckle_kernel_new(&at, &m->made, &err), FIT_OK);
    free(D);
}

static void made_free(struct made *m)
{
    fit_speckle_kernel_free(m->made);
    fit_scores_free(&m->scores);
    fit_objective_free(m->obj);
}

/* Values and derivatives of all rows of one group, row by row. */
static void rows_at(const struct made *m, const double *theta, const double *lin, size_t g, double *mean, double *jac)
{
    const struct fit_layout *l = &m->made->ds->layout;
    struct e2e_prepared p = e2e_prepare(&m->made->kernel, l, theta);
    assert_int_equal(p.answer, FIT_EVAL_OK);
    for (uint32_t row = 0, at = 0; row < l->nrow; row++) {
        const uint32_t group = (uint32_t)(m->made->ds->row[row] == FIT_NO_ROW ? 99 : m->made->ds->row[row] / P);
        if (group != g)
            continue;
        m->made->kernel.points(l, p.ws, lin, &(struct fit_points){1, &row, &row, &group}, &mean[at],
                               jac ? &jac[at * P] : NULL);
        at++;
    }
    e2e_release(&p);
}

/* Data of the rows of one group. */
static void data_of(const struct made *m, size_t g, double *y)
{
    const struct fit_dataset *ds = m->made->ds;
    for (size_t t = 0, at = 0; t < ds->ntile; t++)
        for (size_t row = ds->tile[t].i0; row < ds->tile[t].i1; row++)
            if (ds->tile[t].group == g)
                y[at++] = ds->tile[t].y[ds->tile[t].i0 % FIT_LANES + row - ds->tile[t].i0] + ds->reference[g];
}

static void rows_have_the_derivatives_they_tell(void **state)
{
    const struct fit_kernel *k = e2e_kernel("static_anisotropic", "fast", NULL);
    struct design d = usual;
    (void)state;
    d.groups = 2;
    struct fit_dataset *ds = experiment(k, &d, 0, NULL);
    const double theta[NPARAM] = {6500, -0.3, 20}, lin[4] = {0.3, 1.01, 0.35, 0.99};
    struct made m;
    make(k, ds, truth, 1, &m);
    for (size_t g = 0; g < 2; g++) {
        double mean[3][P], jac[P * P];
        rows_at(&m, theta, lin, g, mean[0], jac);
        for (size_t e = 0; e < P; e++) {
            double at[2][NPARAM + 4];
            for (size_t side = 0; side < 2; side++) {
                memcpy(at[side], theta, sizeof theta);
                memcpy(at[side] + NPARAM, lin, sizeof lin);
                double *x = &at[side][e < NPARAM ? e : NPARAM + g * NLINEAR + e - NPARAM];
                const double step = 1e-5 * (e == 2 ? 1000 : fabs(*x));
                *x += side ? -step : step;
                rows_at(&m, at[side], at[side] + NPARAM, g, mean[1 + side], NULL);
            }
            const size_t place = e < NPARAM ? e : NPARAM + g * NLINEAR + e - NPARAM;
            for (size_t row = 0; row < P; row++) {
                const double slope = (mean[1][row] - mean[2][row]) / (at[0][place] - at[1][place]);
                double size = 0;
                for (size_t other = 0; other < P; other++)
                    size = fmax(size, fabs(jac[other * P + e]));
                assert_true(fabs(slope - jac[row * P + e]) < 1e-6 * size);
            }
        }
    }
    made_free(&m);
    fit_dataset_free(ds);
}

/* At the reference, rows of the model between blocks of one frame have the slope that is told. */
static void slopes_are_those_of_the_rows(void **state)
{
    const struct fit_kernel *k = e2e_kernel("static_anisotropic", "fast", NULL);
    struct fit_dataset *ds = experiment(k, &usual, 0, NULL);
    struct made m;
    double mean[P], jac[P * P], y[P];
    (void)state;
    make(k, ds, truth, 1, &m);
    rows_at(&m, truth, m.lin, 0, mean, jac);
    data_of(&m, 0, y);
    for (size_t e = 0; e < P; e++) {
        double size = 0;
        for (size_t row = 0; row < P; row++)
            size = fmax(size, fabs(jac[row * P + e]));
        for (size_t row = 0; row < P; row++)
            assert_true(fabs(jac[row * P + e] - m.made->slope[row * P + e]) < 1e-7 * size);
    }
    for (size_t row = 0; row < P; row++) /* residuals have errors of 1 */
        assert_true(fabs(y[row] - mean[row]) < 5);
    made_free(&m);
    fit_dataset_free(ds);
}

/* The gradient is that of the cost. */
static void check_gradient(struct fit_objective *o, const double *theta, const double *B, const double *g, double cost)
{
    for (size_t a = 0; a < NPARAM; a++) {
        const double step = 1e-4 * (a == 2 ? 1000 : fabs(theta[a]));
        const double size = sqrt(B[a * (NPARAM + 1)]) * (1 + sqrt(cost));
        double at[NPARAM], side[2];
        for (int k = 0; k < 2; k++) {
            memcpy(at, theta, sizeof at);
            at[a] += k ? -step : step;
            assert_int_equal(fit_objective_value(o, at), FIT_EVAL_OK);
            side[k] = o->cost;
        }
        assert_true(fabs(g[a] + (side[0] - side[1]) / (2 * step)) < 1e-5 * size);
    }
}

static void sums_are_those_of_the_rows(void **state)
{
    const struct fit_kernel *k = e2e_kernel("static_anisotropic", "fast", NULL);
    struct design d = usual;
    (void)state;
    d.groups = 2;
    struct fit_dataset *ds = experiment(k, &d, 0, NULL);
    struct made m;
    make(k, ds, truth, 1, &m);
    const struct fit_objective_setup setup = {.threads = 1};
    struct fit_objective *o;
    struct fit_error err = {0};
    const double theta[NPARAM] = {6300, -0.22, 10};
    double B[NPARAM * NPARAM], g[NPARAM], plain = 0, H[NPARAM * NPARAM] = {0};
    assert_int_equal(fit_objective_new(&m.made->kernel, m.made->ds, &setup, &o, &err), FIT_OK);
    assert_int_equal(fit_objective_value(o, theta), FIT_EVAL_OK);
    assert_int_equal(fit_objective_normal(o, theta, B, g), FIT_EVAL_OK);
    for (size_t group = 0; group < 2; group++) {
        double mean[P], jac[P * P], y[P];
        rows_at(&m, theta, o->lin, group, mean, jac);
        data_of(&m, group, y);
        for (size_t row = 0; row < P; row++) {
            plain += pow(y[row] - mean[row], 2) / 2;
            for (size_t a = 0; a < NPARAM; a++)
                for (size_t b = 0; b < NPARAM; b++)
                    H[a * NPARAM + b] += jac[row * P + a] * jac[row * P + b];
        }
    }
    assert_true(fabs(o->cost / plain - 1) < 1e-9);
    for (size_t a = 0; a < NPARAM * NPARAM; a++)
        assert_true(fabs(o->hessian[a] / H[a] - 1) < 1e-9);
    check_gradient(o, theta, B, g, plain);
    fit_objective_free(o);
    made_free(&m);
    fit_dataset_free(ds);
}

static void threads_make_no_difference(void **state)
{
    const struct fit_kernel *k = e2e_kernel("static_anisotropic", "fast", NULL);
    struct design d = usual;
    (void)state;
    d.groups = 3;
    struct fit_dataset *ds = experiment(k, &d, 0, NULL);
    const double theta[NPARAM] = {6500, -0.3, 20};
    double mean[3][3][P], jac[3][3][P * P], y[3][3][P], *slope[3];
    struct made m[3];
    for (int t = 0; t < 3; t++) {
        make(k, ds, truth, t + 1, &m[t]);
        slope[t] = m[t].made->slope;
        for (size_t g = 0; g < 3; g++) {
            rows_at(&m[t], theta, m[0].lin, g, mean[t][g], jac[t][g]);
            data_of(&m[t], g, y[t][g]);
        }
    }
    for (int t = 1; t < 3; t++) {
        assert_memory_equal(mean[t], mean[0], sizeof mean[0]);
        assert_memory_equal(jac[t], jac[0], sizeof jac[0]);
        assert_memory_equal(y[t], y[0], sizeof y[0]);
        assert_memory_equal(slope[t], slope[0], 3 * P * P * sizeof *slope[0]);
    }
    for (int t = 0; t < 3; t++)
        made_free(&m[t]);
    fit_dataset_free(ds);
}

/* ---- against dense matrices --------------------------------------------------------------------------------- */

enum { FEW = 12, PAIRS = FEW * (FEW - 1) / 2 };

struct dense {
    double C[FEW][FEW], Ct[FEW][FEW], g[FEW][FEW], b, shot, jac[PAIRS * P];
    size_t s[PAIRS], t[PAIRS];
};

static void dense_of(const struct fit_kernel *k, const struct fit_dataset *ds, const struct made *m, struct dense *x)
{
    struct e2e_prepared p = e2e_prepare(k, &ds->layout, truth);
    size_t n = 0;
    x->b = m->lin[0];
    x->shot = m->noise[0].shot;
    for (uint32_t i = 0; i < FEW; i++)
        for (uint32_t j = i; j < FEW; j++) {
            const uint32_t g = 0;
            double mean, jac[P];
            k->points(&ds->layout, p.ws, m->lin, &(struct fit_points){1, &i, &j, &g}, &mean, jac);
            x->C[i][j] = x->C[j][i] = i == j ? x->b : mean - m->lin[1];
            x->g[i][j] = x->g[j][i] = sqrt(x->C[i][j] / x->b);
            x->Ct[i][j] = x->Ct[j][i] = x->C[i][j] + (i == j ? x->shot : 0);
            if (i == j)
                continue;
            memcpy(x->jac + n * P, jac, sizeof jac);
            x->s[n] = i;
            x->t[n++] = j;
        }
    e2e_release(&p);
}

static double triple(const struct dense *x, size_t i, size_t j, size_t k)
{
    return 2 * x->b * x->b * x->g[i][j] * x->g[j][k] * x->g[k][i];
}

/* The same with photons, whose variance is in proportion to the intensity; i != j. */
static double triple_seen(const struct dense *x, size_t i, size_t j, size_t k)
{
    return triple(x, i, j, k) + (i == k || j == k ? x->shot * x->C[i][j] : 0);
}

/* What these add to the fourth moment. */
static double photons(const struct dense *x, size_t s, size_t t, size_t u, size_t v)
{
    const double one = (s == u ? triple(x, s, t, v) : 0) + (s == v ? triple(x, s, t, u) : 0) +
                       (t == u ? triple(x, s, t, v) : 0) + (t == v ? triple(x, s, t, u) : 0);
    return x->shot * (one + (s == u && t == v ? x->shot * x->C[s][t] : 0));
}

static double cycle(const struct dense *x, size_t i, size_t j, size_t k, size_t l)
{
    return x->g[i][j] * x->g[j][k] * x->g[k][l] * x->g[l][i];
}

static double second_moments(const struct dense *x, size_t a, size_t c)
{
    const size_t s = x->s[a], t = x->t[a], u = x->s[c], v = x->t[c];
    return x->Ct[s][u] * x->Ct[t][v] + x->Ct[s][v] * x->Ct[t][u];
}

/* M times the covariance of two values, all terms (noise.h). */
static double all_moments(const struct dense *x, size_t a, size_t c)
{
    const size_t s = x->s[a], t = x->t[a], u = x->s[c], v = x->t[c];
    return second_moments(x, a, c) + photons(x, s, t, u, v) +
           2 * pow(x->b, 3) * (cycle(x, s, t, u, v) + cycle(x, s, t, v, u) + cycle(x, s, u, t, v)) -
           x->C[u][v] * (triple_seen(x, s, t, u) + triple_seen(x, s, t, v)) -
           x->C[s][t] * (triple_seen(x, u, v, s) + triple_seen(x, u, v, t)) +
           x->C[s][t] * x->C[u][v] * (x->Ct[s][u] + x->Ct[s][v] + x->Ct[t][u] + x->Ct[t][v]);
}

/* W = K^-1 J for the covariance K of second moments, F = J^T W, S and `plain` the covariances of W^T c2 and J^T c2. */
static void dense_equations(const struct dense *x, double count, double *F, double *S, double *plain)
{
    static double K[PAIRS * PAIRS], W[P * PAIRS];
    for (size_t a = 0; a < PAIRS; a++)
        for (size_t c = 0; c < PAIRS; c++)
            K[a * PAIRS + c] = second_moments(x, a, c) / count;
    assert_int_equal(fit_cholesky(PAIRS, K, 1e-14), 0);
    for (size_t e = 0; e < P; e++) {
        for (size_t a = 0; a < PAIRS; a++)
            W[e * PAIRS + a] = x->jac[a * P + e];
        fit_cholesky_solve(PAIRS, K, W + e * PAIRS);
    }
    for (size_t e = 0; e < P; e++)
        for (size_t f = 0; f < P; f++) {
            double *to = &F[e * P + f], *with = &S[e * P + f], *of = &plain[e * P + f];
            *to = *with = *of = 0;
            for (size_t a = 0; a < PAIRS; a++) {
                *to += W[e * PAIRS + a] * x->jac[a * P + f];
                for (size_t c = 0; c < PAIRS; c++) {
                    const double v = all_moments(x, a, c) / count;
                    *with += W[e * PAIRS + a] * v * W[f * PAIRS + c];
                    *of += x->jac[a * P + e] * v * x->jac[c * P + f];
                }
            }
        }
}

/* slope^T slope is F S^-1 F. */
static void check_information(const double *slope, double *F, double *S)
{
    double left[P * P], d[P];
    for (size_t e = 0; e < P; e++)
        d[e] = sqrt(S[e * (P + 1)]);
    for (size_t e = 0; e < P * P; e++)
        S[e] /= d[e / P] * d[e % P];
    assert_int_equal(fit_cholesky(P, S, 1e-14), 0);
    for (size_t e = 0; e < P; e++) {
        for (size_t f = 0; f < P; f++)
            left[e * P + f] = F[f * P + e] / d[f];
        fit_lower_solve(P, S, left + e * P);
    }
    for (size_t e = 0; e < P; e++)
        for (size_t f = 0; f < P; f++) {
            double ours = 0, dense = 0, size[2] = {0};
            for (size_t row = 0; row < P; row++) {
                ours += slope[row * P + e] * slope[row * P + f];
                dense += left[e * P + row] * left[f * P + row];
                size[0] += left[e * P + row] * left[e * P + row];
                size[1] += left[f * P + row] * left[f * P + row];
            }
            if (fabs(ours - dense) > 1e-6 * sqrt(size[0] * size[1]))
                fail_msg("element %zu, %zu of the information: %.10g, dense %.10g", e, f, ours, dense);
        }
}

static void equations_are_those_of_dense_matrices(void **state)
{
    const struct fit_kernel *k = e2e_kernel("static_anisotropic", "fast", NULL);
    struct design d = usual;
    static struct dense x;
    double F[P * P], S[P * P], plain[P * P];
    struct made m;
    (void)state;
    d.frames = FEW;
    struct fit_dataset *ds = experiment(k, &d, 0, NULL);
    make(k, ds, truth, 1, &m);
    assert_int_equal(m.made->frames, 1);
    dense_of(k, ds, &m, &x);
    dense_equations(&x, m.noise[0].count, F, S, plain);
    for (size_t e = 0; e < P * P; e++)
        assert_true(fabs(m.made->plain[e] - plain[e]) <
                    1e-8 * sqrt(plain[e / P * (P + 1)] * plain[e % P * (P + 1)]));
    check_information(m.made->slope, F, S);
    made_free(&m);
    fit_dataset_free(ds);
}

/* ---- fits --------------------------------------------------------------------------------------------------- */

static struct fit_options options_for(enum fit_estimator estimator)
{
    struct fit_options o;
    fit_options_default(&o);
    o.start = truth;
    o.fixed = fixed;
    o.start_only = 1;
    o.threads = 1;
    o.estimator = estimator;
    return o;
}

static struct fit_result run_fit(const struct fit_kernel *k, const struct fit_dataset *ds, const struct fit_options *o)
{
    struct fit_result r;
    struct fit_error err = {0};
    const enum fit_status st = fit_run(k, ds, o, &r, &err);
    if (st != FIT_OK)
        print_message("%s\n", err.message);
    assert_int_equal(st, FIT_OK);
    return r;
}

/* The values that were simulated, those of contrast and offset too, are within 5 errors where they have some. */
static void check_values(const struct fit_result *r, const struct design *d)
{
    for (size_t e = 0; e < r->nfull; e++) {
        const double value = e < NPARAM ? r->theta[e] : r->lin[e - NPARAM];
        const double true_ = e < NPARAM ? truth[e] : (e - NPARAM) % 2 ? 1 : 1 / (double)d->modes;
        if (fabs(value - true_) > 5 * r->std[e])
            fail_msg("parameter %zu: %g +- %g, not %g", e, value, r->std[e], true_);
    }
}

/* Both estimates, each in its place; the errors of the efficient ones are smaller. */
static void check_both(const struct fit_kernel *k, const struct fit_dataset *ds, struct fit_options *o,
                       const struct design *d)
{
    o->estimator = FIT_ESTIMATOR_LEAST_SQUARES;
    struct fit_result plain = run_fit(k, ds, o);
    o->estimator = FIT_ESTIMATOR_EFFICIENT;
    struct fit_result r = run_fit(k, ds, o);
    const struct fit_estimates *e = &r.estimates;
    assert_int_equal(plain.estimates.used, FIT_ESTIMATOR_LEAST_SQUARES);
    assert_false(plain.estimates.compared);
    assert_int_equal(e->used, FIT_ESTIMATOR_EFFICIENT);
    assert_true(e->compared && e->p > 1e-4 && e->p <= 1);
    assert_memory_equal(e->other, plain.theta, NPARAM * sizeof *plain.theta);
    assert_memory_equal(e->other + NPARAM, plain.lin, r.ngroup * NLINEAR * sizeof *plain.lin);
    assert_memory_equal(e->other_std, plain.std_robust, r.nfull * sizeof *plain.std);
    for (size_t a = 0; a < NPARAM; a++) {
        const double size = a == 0 ? r.theta[a] / plain.theta[a] : 1; /* the error of D0 is in proportion to it */
        if (!o->fixed[a] && (!(r.std[a] > 0) || r.std[a] > 1.05 * size * plain.std_robust[a]))
            fail_msg("parameter %zu: %g +- %g, least squares %g +- %g", a, r.theta[a], r.std[a], plain.theta[a],
                     plain.std_robust[a]);
    }
    for (size_t g = 0; g < r.ngroup; g++) {
        const struct fit_speckle_noise *s = &r.speckle[g];
        if (g == d->shot_only || s->known != FIT_SPECKLE_BOTH)
            continue;
        if (fabs(log(s->count / (double)d->pixels)) > 5 * s->count_std / s->count ||
            fabs(log(s->shot / d->shot)) > 5 * s->shot_std / s->shot)
            fail_msg("group %zu: %g +- %g speckles with %g +- %g", g, s->count, s->count_std, s->shot, s->shot_std);
    }
    check_values(&r, d);
    fit_result_free(&plain);
    fit_result_free(&r);
}

static void fits_of(const struct design *d, size_t missing)
{
    const struct fit_kernel *k = e2e_kernel("static_anisotropic", "fast", NULL);
    struct fit_dataset *ds = experiment(k, d, missing, NULL);
    struct fit_options o = options_for(FIT_ESTIMATOR_EFFICIENT);
    check_both(k, ds, &o, d);
    fit_dataset_free(ds);
}

static void speckles_are_fitted_with_smaller_errors(void **state)
{
    struct design d = usual;
    (void)state;
    fits_of(&d, 0);
    d.modes = 1;
    fits_of(&d, 0);
    d.groups = 3;
    d.modes = 3;
    fits_of(&d, 0);
}

/* Efficient, or least squares with a word why, for several seeds; returns how many were efficient. */
static int try_seeds(struct design d)
{
    const struct fit_kernel *k = e2e_kernel("static_anisotropic", "fast", NULL);
    const struct fit_options o = options_for(FIT_ESTIMATOR_AUTO);
    int efficient = 0;
    for (d.seed = 1; d.seed < 9; d.seed++) {
        struct fit_dataset *ds = experiment(k, &d, 0, NULL);
        struct fit_result r = run_fit(k, ds, &o);
        const struct fit_estimates *e = &r.estimates;
        assert_true(e->used == FIT_ESTIMATOR_EFFICIENT ? e->compared && !*e->reason : *e->reason);
        efficient += e->used == FIT_ESTIMATOR_EFFICIENT;
        if (e->used == FIT_ESTIMATOR_EFFICIENT)
            check_values(&r, &d);
        fit_result_free(&r);
        fit_dataset_free(ds);
    }
    return efficient;
}

static void one_angle_may_see_shot_noise_alone(void **state)
{
    struct design d = usual;
    (void)state;
    d.groups = 3;
    d.shot_only = 1;
    assert_true(try_seeds(d) > 0);
}

/* Blocks of two and three frames, the last of them with fewer. */
static void frames_are_taken_together(void **state)
{
    struct design d = usual;
    (void)state;
    d.frames = 193;
    d.pixels = 300;
    d.dt = 0.5;
    fits_of(&d, 0);
    d.frames = 400;
    d.pixels = 100;
    fits_of(&d, 0);
}

static void few_frames_are_fitted(void **state)
{
    struct design d = usual;
    (void)state;
    d.frames = 13;
    try_seeds(d);
    d.groups = 3;
    try_seeds(d);
}

/* Few decays: least squares end far away now and then.  Both still agree, and the efficient estimates are taken. */
static void flat_valleys_are_no_disagreement(void **state)
{
    const struct fit_kernel *k = e2e_kernel("static_anisotropic", "fast", NULL);
    const struct fit_options o = options_for(FIT_ESTIMATOR_AUTO);
    struct design d = usual;
    size_t differ = 0, number = 0;
    (void)state;
    d.pixels = 200;
    d.shot = 0.05;
    d.dt = 1;
    for (d.seed = 1; d.seed <= 150; d.seed++) {
        struct fit_dataset *ds = experiment(k, &d, 0, NULL);
        struct fit_result r = run_fit(k, ds, &o);
        number += r.estimates.compared ? 1 : 0;
        differ += r.estimates.compared && r.estimates.p < 0.01 ? 1 : 0;
        fit_result_free(&r);
        fit_dataset_free(ds);
    }
    if (number < 100 || differ > 2)
        fail_msg("%zu of %zu differ", differ, number);
}

/* Least squares of few decays: the number of speckles scatters little, and the true model is not called wrong. */
static void numbers_of_slow_noise_are_known(void **state)
{
    const struct fit_kernel *k = e2e_kernel("static_anisotropic", "fast", NULL);
    const struct fit_options o = options_for(FIT_ESTIMATOR_LEAST_SQUARES);
    enum { TIMES = 60 };
    struct design d = usual;
    size_t wrong = 0, known = 0;
    double square = 0;
    (void)state;
    d.pixels = 200;
    d.dt = 1;
    for (d.seed = 1; d.seed <= TIMES; d.seed++) {
        struct fit_dataset *ds = experiment(k, &d, 0, NULL);
        struct fit_result r = run_fit(k, ds, &o);
        wrong += r.speckle_test.p < 0.01;
        if (r.speckle[0].known == FIT_SPECKLE_BOTH) {
            square += pow(log(r.speckle[0].count / (double)d.pixels), 2);
            known++;
        }
        fit_result_free(&r);
        fit_dataset_free(ds);
    }
    if (known < TIMES * 9 / 10 || wrong > 2 || sqrt(square / (double)known) > 0.45)
        fail_msg("%zu known, logarithm off by %.3g, %zu called wrong", known, sqrt(square / (double)known), wrong);
}

/* One value for all angles, a value that is held, a value on its bound. */
static void options_hold_for_both(void **state)
{
    const struct fit_kernel *k = e2e_kernel("static_anisotropic", "fast", NULL);
    struct design d = usual;
    (void)state;
    d.groups = 2;
    struct fit_dataset *ds = experiment(k, &d, 0, NULL);
    struct fit_options o = options_for(FIT_ESTIMATOR_EFFICIENT);
    o.scaling = FIT_SCALING_AVERAGED;
    check_both(k, ds, &o, &d);
    struct fit_result r = run_fit(k, ds, &o);
    assert_true(r.lin[0] == r.lin[2] && r.lin[1] == r.lin[3]);
    assert_true(r.std[NPARAM] == r.std[NPARAM + 2] && r.std[NPARAM] > 0);
    fit_result_free(&r);
    o = options_for(FIT_ESTIMATOR_EFFICIENT);
    const unsigned char held[NPARAM] = {0, 1, 1};
    o.fixed = held;
    r = run_fit(k, ds, &o);
    assert_true(r.theta[1] == truth[1] && r.theta[2] == 0 && r.std[1] == 0 && r.std[0] > 0);
    check_values(&r, &d);
    fit_result_free(&r);
    const double low[NPARAM] = {9000, NAN, NAN}, start[NPARAM] = {10000, -0.25, 0};
    o = options_for(FIT_ESTIMATOR_AUTO);
    o.lower = low;
    o.start = start;
    r = run_fit(k, ds, &o);
    assert_true(r.theta[0] == 9000 && r.at_bound[0] == -1);
    fit_result_free(&r);
    fit_dataset_free(ds);
}

/* ---- where they are not ----------------------------------------------------------------------------------- */

static void refuse(const struct fit_kernel *k, const struct fit_dataset *ds, struct fit_options o, const char *why)
{
    struct fit_result r;
    struct fit_error err = {0};
    o.estimator = FIT_ESTIMATOR_EFFICIENT;
    assert_int_equal(fit_run(k, ds, &o, &r, &err), FIT_ERR_CONFIG);
    if (!strstr(err.message, why))
        fail_msg("'%s' has no '%s'", err.message, why);
    o.estimator = FIT_ESTIMATOR_AUTO;
    r = run_fit(k, ds, &o);
    assert_int_equal(r.estimates.used, FIT_ESTIMATOR_LEAST_SQUARES);
    assert_false(r.estimates.compared);
    assert_non_null(strstr(r.estimates.reason, why));
    assert_true(r.theta[0] > 0);
    fit_result_free(&r);
}

static void what_is_no_matter_of_speckles_is_refused(void **state)
{
    const struct fit_kernel *k = e2e_kernel("static_anisotropic", "fast", NULL);
    struct fit_options o = options_for(FIT_ESTIMATOR_EFFICIENT);
    struct design d = usual;
    double *sigma = e2e_doubles(d.frames * d.frames);
    (void)state;
    for (size_t i = 0; i < d.frames * d.frames; i++)
        sigma[i] = 0.01;
    struct fit_dataset *ds = experiment(k, &d, 0, sigma);
    refuse(k, ds, o, "the errors of the values are given");
    fit_dataset_free(ds);
    ds = experiment(k, &d, 0, NULL);
    o.loss = FIT_LOSS_SOFT_L1;
    refuse(k, ds, o, "linear loss");
    o = options_for(FIT_ESTIMATOR_EFFICIENT);
    o.cluster_joint = 1;
    refuse(k, ds, o, "groups share their noise");
    fit_dataset_free(ds);
    d.modes = 0;
    ds = experiment(k, &d, 0, NULL);
    refuse(k, ds, options_for(FIT_ESTIMATOR_EFFICIENT), "least squares are efficient");
    fit_dataset_free(ds);
    free(sigma);
}

static void missing_values_are_left_out(void **state)
{
    struct design d = usual;
    (void)state;
    d.seed = 3;
    fits_of(&d, 29);
    d.masked = 3;
    fits_of(&d, 29);
}

/* Of any number of threads. */
static void estimates_have_the_same_bits(void **state)
{
    const struct fit_kernel *k = e2e_kernel("static_anisotropic", "fast", NULL);
    struct design d = usual;
    (void)state;
    d.groups = 3;
    struct fit_dataset *ds = experiment(k, &d, 0, NULL);
    struct fit_options o = options_for(FIT_ESTIMATOR_EFFICIENT);
    struct fit_result r = run_fit(k, ds, &o);
    for (o.threads = 2; o.threads < 4; o.threads++) {
        struct fit_result other = run_fit(k, ds, &o);
        assert_memory_equal(r.theta, other.theta, NPARAM * sizeof *r.theta);
        assert_memory_equal(r.lin, other.lin, r.ngroup * NLINEAR * sizeof *r.lin);
        assert_memory_equal(r.std, other.std, r.nfull * sizeof *r.std);
        assert_memory_equal(r.covariance, other.covariance, r.nfull * r.nfull * sizeof *r.covariance);
        assert_true(r.speckle[2].count == other.speckle[2].count && r.estimates.p == other.estimates.p);
        fit_result_free(&other);
    }
    fit_result_free(&r);
    fit_dataset_free(ds);
}

/* ---- the program ------------------------------------------------------------------------------------------ */

static int fit_program(const char *data, const char *to, const char *more[4], const char *err)
{
    const char *argv[] = {"homodyne-static_anisotropic", "fit", "--data", data, "-o", to, "--fix", "D_offset=0",
                          "--quiet", more[0], more[1], more[2], more[3], NULL};
    return e2e_run(argv, NULL, err);
}

/* Data that stay in their file; what cannot be is refused. */
static void the_program_estimates_and_refuses(void **state)
{
    char *folder = e2e_folder(), data[600], out[2][500], json[2][600], err[600], text[2000] = "";
    (void)state;
    snprintf(data, sizeof data, "%s/d.h5", folder);
    snprintf(err, sizeof err, "%s/err", folder);
    const char *simulate[] = {"homodyne-static_anisotropic", "simulate", "-o", data, "--frames", "60", "--dt", "1",
                              "--q", "0.0054", "--phi", "0,30", "--contrast", "0.3", "--set", "D0=6000",
                              "--set", "alpha=-0.2", "--set", "D_offset=0", "--noise", "speckle", "--pixels", "500",
                              "--quiet", NULL};
    assert_int_equal(e2e_run(simulate, NULL, NULL), 0);
    for (int k = 0; k < 2; k++) {
        snprintf(out[k], sizeof out[k], "%s/out%d", folder, k);
        snprintf(json[k], sizeof json[k], "%s/out%d/fit.json", folder, k);
        const char *more[4] = {"--estimator", "efficient", "--stream", k ? "on" : "off"};
        assert_int_equal(fit_program(data, out[k], more, NULL), 0);
        e2e_json_text(json[k], (const char *const[]){"estimator", "used", NULL}, text, sizeof text);
        assert_string_equal(text, "efficient");
    }
    for (int k = 0; k < 2; k++) {
        static const char *const name[] = {"D0", "alpha"};
        const double value = E2E_JSON(json[0], "parameters", name[k], "value");
        const double std = E2E_JSON(json[0], "parameters", name[k], "std");
        const double other = E2E_JSON(json[0], "estimator", "least_squares", name[k], "value");
        assert_true(fabs(value - (k ? -0.2 : 6000)) < 5 * std && other != value);
        assert_true(value == E2E_JSON(json[1], "parameters", name[k], "value"));
        assert_true(std == E2E_JSON(json[1], "parameters", name[k], "std"));
        assert_true(other == E2E_JSON(json[1], "estimator", "least_squares", name[k], "value"));
    }
    const char *robust[4] = {"--estimator", "efficient", "--loss", "soft_l1"};
    snprintf(out[0], sizeof out[0], "%s/none", folder);
    assert_int_equal(fit_program(data, out[0], robust, err), 3);
    FILE *f = fopen(err, "r");
    assert_non_null(f);
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    assert_non_null(strstr(text, "estimator efficient: they are for the linear loss; take auto or least-squares"));
    const char *table[] = {"homodyne-kww", "fit", "--data", FIT_SOURCE_DIR "/examples/kww/data.csv", "--estimator",
                           "efficient", NULL};
    assert_int_equal(e2e_run(table, NULL, NULL), 3);
    e2e_remove(folder);
}

static int simulate(const char *to, const char *noise, const char *counts, const char *average, const char *threads)
{
    const char *argv[] = {"homodyne-static_anisotropic", "simulate", "-o", to, "--frames", "60", "--dt", "1", "--q",
                          "0.0054", "--phi", "0,30", "--contrast", "0.3", "--set", "D0=6000", "--set", "alpha=-0.2",
                          "--set", "D_offset=0", "--noise", noise, "--pixels", "500", "--counts", counts, "--average",
                          average, "--threads", threads, "--force", "--quiet", NULL};
    return e2e_run(argv, NULL, NULL);
}

/* Photons that are counted: 1 / counts is the shot noise that a fit finds.  Exposures that are averaged lose contrast;
 * files do not depend on the number of threads. */
static void counted_photons_are_found(void **state)
{
    char *folder = e2e_folder(), data[600], out[600], json[700];
    const char *more[4] = {"--estimator", "efficient", "--threads", "1"};
    double value[3];
    (void)state;
    snprintf(data, sizeof data, "%s/d.h5", folder);
    for (int k = 0; k < 3; k++) {
        snprintf(out, sizeof out, "%s/out%d", folder, k);
        snprintf(json, sizeof json, "%s/out%d/fit.json", folder, k);
        assert_int_equal(simulate(data, "speckle", "2", k < 2 ? "1" : "4", k == 1 ? "2" : "1"), 0);
        assert_int_equal(fit_program(data, out, more, NULL), 0);
        value[k] = E2E_JSON(json, "parameters", "D0", "value");
        assert_true(fabs(value[k] - 6000) < 5 * E2E_JSON(json, "parameters", "D0", "std"));
        const double shot = E2E_JSON(json, "speckle", "groups", "0", "shot");
        assert_true(fabs(log(shot / 0.5)) < 5 * E2E_JSON(json, "speckle", "groups", "0", "shot_std") / shot);
    }
    assert_true(value[0] == value[1] && value[2] != value[0]);
    assert_int_equal(simulate(data, "speckle", "0", "1", "1"), 3);
    assert_int_equal(simulate(data, "speckle", "-3", "1", "1"), 3);
    assert_int_equal(simulate(data, "0.01", "2", "4", "1"), 3);
    e2e_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_have_the_derivatives_they_tell),
        cmocka_unit_test(slopes_are_those_of_the_rows),
        cmocka_unit_test(sums_are_those_of_the_rows),
        cmocka_unit_test(threads_make_no_difference),
        cmocka_unit_test(equations_are_those_of_dense_matrices),
        cmocka_unit_test(speckles_are_fitted_with_smaller_errors),
        cmocka_unit_test(one_angle_may_see_shot_noise_alone),
        cmocka_unit_test(frames_are_taken_together),
        cmocka_unit_test(few_frames_are_fitted),
        cmocka_unit_test(missing_values_are_left_out),
        cmocka_unit_test(estimates_have_the_same_bits),
        cmocka_unit_test(flat_valleys_are_no_disagreement),
        cmocka_unit_test(numbers_of_slow_noise_are_known),
        cmocka_unit_test(options_hold_for_both),
        cmocka_unit_test(what_is_no_matter_of_speckles_is_refused),
        cmocka_unit_test(the_program_estimates_and_refuses),
        cmocka_unit_test(counted_photons_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
