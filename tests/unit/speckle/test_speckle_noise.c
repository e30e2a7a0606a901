/* test_speckle_noise.c -- covariance of weighted sums and moments of residuals against their definitions, element by
 * element. */
#include "speckle/noise.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "math/rng.h"

enum { N = 10, K = 3 };

struct model {
    double C[N][N], Ct[N][N], g[N][N], b, shot;
};

/* Decay with an age, so that nothing is stationary. */
static struct model model_of(double b, double shot)
{
    struct model m = {.b = b, .shot = shot};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            m.g[i][j] = exp(-0.3 * fabs(pow(i + 1, 0.7) - pow(j + 1, 0.7)));
            m.C[i][j] = m.Ct[i][j] = b * m.g[i][j] * m.g[i][j];
            m.Ct[i][j] += i == j ? shot : 0;
        }
    return m;
}

static double k3(const struct model *m, int i, int j, int k)
{
    return 2 * m->b * m->b * m->g[i][j] * m->g[j][k] * m->g[k][i];
}

/* With photons, whose variance is in proportion to the intensity; i != j. */
static double k3_seen(const struct model *m, int i, int j, int k)
{
    return k3(m, i, j, k) + ((k == i) + (k == j)) * m->shot * m->C[i][j];
}

static double photons(const struct model *m, int s, int t, int u, int v)
{
    return m->shot * ((s == u) * k3(m, s, t, v) + (s == v) * k3(m, s, t, u) + (t == u) * k3(m, t, s, v) +
                      (t == v) * k3(m, t, s, u)) +
           m->shot * m->shot * ((s == u) * (t == v) + (s == v) * (t == u)) * m->C[s][t];
}

static double cycle(const struct model *m, int i, int j, int k, int l)
{
    return m->g[i][j] * m->g[j][k] * m->g[k][l] * m->g[l][i];
}

static double element(const struct model *m, int s, int t, int u, int v)
{
    return m->Ct[s][u] * m->Ct[t][v] + m->Ct[s][v] * m->Ct[t][u] + photons(m, s, t, u, v) +
           2 * pow(m->b, 3) * (cycle(m, s, t, u, v) + cycle(m, s, t, v, u) + cycle(m, s, u, t, v)) -
           m->C[u][v] * (k3_seen(m, s, t, u) + k3_seen(m, s, t, v)) -
           m->C[s][t] * (k3_seen(m, u, v, s) + k3_seen(m, u, v, t)) +
           m->C[s][t] * m->C[u][v] * (m->Ct[s][u] + m->Ct[s][v] + m->Ct[t][u] + m->Ct[t][v]);
}

static void sums_have_the_covariance_of_their_elements(void **state)
{
    (void)state;
    struct model m = model_of(0.3, 0.2);
    double J[K][N][N] = {{{0}}}, field[K][N][N], shot[N], out[K * K];
    for (int k = 0; k < K; k++)
        for (int i = 0; i < N; i++)
            for (int j = i + 1; j < N; j++)
                J[k][i][j] = k == 0 ? 1 : k == 1 ? m.C[i][j] : (j - i < 3 && i > 2); /* the last one mostly zero */
    for (int k = 0; k < K; k++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                field[k][i][j] = (J[k][i][j] + J[k][j][i]) / 2;
    for (int i = 0; i < N; i++)
        shot[i] = 0.2;
    struct fit_speckle_fields f = {.n = N, .nfield = K, .C = m.C[0], .g = m.g[0], .contrast = m.b, .shot = shot,
                                   .field = field[0][0], .coarse = 1};
    double *room = malloc(fit_speckle_covariance_room(N, K) * sizeof *room);
    assert_non_null(room);
    fit_speckle_covariance(&f, room, out);
    for (int a = 0; a < K; a++)
        for (int b = 0; b < K; b++) {
            double sum = 0;
            for (int s = 0; s < N; s++)
                for (int t = s + 1; t < N; t++)
                    for (int u = 0; u < N; u++)
                        for (int v = u + 1; v < N; v++)
                            sum += J[a][s][t] * J[b][u][v] * element(&m, s, t, u, v);
            assert_true(fabs(out[a * K + b] / sum - 1) < 1e-12);
        }
    free(room);
}

/* Frames together: of what varies little within them the covariance is the same. */
static void frames_may_be_taken_together(void **state)
{
    (void)state;
    enum { FINE = 48, PART = 4, FEW = FINE / PART };
    double C[FINE * FINE], g[FINE * FINE], field[FINE * FINE], c[FEW * FEW] = {0}, h[FEW * FEW] = {0},
                                                                       sum[FEW * FEW] = {0};
    double shot[FINE], fine, together;
    for (size_t i = 0; i < FINE; i++)
        for (size_t j = 0; j < FINE; j++) {
            const double x = exp(-fabs((double)i - (double)j) / 20), p = i == j ? 0 : x * x / 2;
            const size_t at = i / PART * FEW + j / PART;
            C[i * FINE + j] = 0.3 * x * x;
            g[i * FINE + j] = x;
            field[i * FINE + j] = p;
            c[at] += 0.3 * x * x / (PART * PART);
            h[at] += x / (PART * PART);
            sum[at] += p;
            shot[i] = 0.1;
        }
    double *room = malloc(fit_speckle_covariance_room(FINE, 1) * sizeof *room);
    assert_non_null(room);
    struct fit_speckle_fields f = {
        .n = FINE, .nfield = 1, .C = C, .g = g, .contrast = 0.3, .shot = shot, .field = field, .coarse = 1};
    fit_speckle_covariance(&f, room, &fine);
    f.coarse = 2;
    fit_speckle_covariance(&f, room, &together);
    assert_true(fabs(together / fine - 1) < 5e-3);
    for (size_t i = 0; i < FEW; i++)
        shot[i] = 0.1 / PART;
    struct fit_speckle_fields less = {
        .n = FEW, .nfield = 1, .C = c, .g = h, .contrast = 0.3, .shot = shot, .field = sum, .coarse = 1};
    fit_speckle_covariance(&less, room, &together);
    assert_true(fabs(together / fine - 1) < 2e-2);
    free(room);
}

/* ---- moments ---------------------------------------------------------------------------------------------- */

enum { FRAMES = 40, PANEL = 24, CHUNK = 16, GROUPS = 2 };

/* Residual of (i, j), group g; one in fifty is none. */
static double residual(size_t g, size_t i, size_t j)
{
    double z[2];
    fit_rng_normal(3, g, i * FRAMES + j, z);
    return z[1] > 2 ? NAN : z[0];
}

static double difference(const struct fit_tile *t, size_t g, size_t i, size_t j, size_t apart)
{
    return j + apart < t->j1 && j >= t->j0 && j >= i + 3 ? residual(g, i, j) - residual(g, i, j + apart) : NAN;
}

static void add_defined(double x, double *sum, double *number)
{
    *sum += isnan(x) ? 0 : x;
    *number += !isnan(x);
}

static void told_by_definition(const struct fit_tile *t, size_t g, struct fit_speckle_moments *m)
{
    for (size_t j = t->j0; j < t->j1; j++) {
        const size_t q = j * FIT_SPECKLE_SLICES / FRAMES;
        for (size_t i = t->i0; i < t->i1; i++) {
            for (size_t k = 0; k < FIT_SPECKLE_DISTANCES; k++)
                add_defined(pow(difference(t, g, i, j, (size_t)1 << k), 2), &m->square[k][q], &m->nsquare[k][q]);
            for (size_t s = t->i0; s < t->i1; s++)
                for (size_t h = 0; h < FIT_SPECKLE_LEVELS; h++)
                    if (s != i && s / ((size_t)2 << h) == i / ((size_t)2 << h))
                        add_defined(difference(t, g, i, j, 1) * difference(t, g, s, j, 1), &m->product[h][q],
                                    &m->nproduct[h][q]);
        }
    }
}

static void moments_are_sums_over_neighbours(void **state)
{
    (void)state;
    struct fit_layout l = {.ngroup = GROUPS, .nframe = FRAMES, .panel = PANEL, .chunk = CHUNK};
    struct fit_tile t = {.i0 = 16, .i1 = 32, .j0 = 24, .j1 = 40};
    double r[PANEL], *room = malloc(fit_speckle_room(&l) * sizeof *room);
    assert_non_null(room);
    for (size_t g = 0; g < GROUPS; g++) {
        struct fit_speckle_moments ours, told;
        memset(&ours, 0, sizeof ours);
        memset(&told, 0, sizeof told);
        struct fit_speckle_columns columns;
        fit_speckle_moments_begin(&l, &t, room, &columns);
        for (size_t i = t.i0; i < t.i1; i++) {
            for (size_t j = t.j0; j < t.j1; j++)
                r[j - t.j0] = j > i ? residual(g, i, j) : 1e9; /* below the diagonal: anything */
            fit_speckle_moments_row(&columns, i, r);
        }
        fit_speckle_moments_end(&columns, &ours);
        told_by_definition(&t, g, &told);
        const double *a = (const double *)&ours, *b = (const double *)&told;
        for (size_t k = 0; k < sizeof ours / sizeof *a; k++)
            assert_true(fabs(a[k] - b[k]) < 1e-9);
        assert_true(told.nproduct[3][5] > 0 && told.nsquare[2][4] > 0);
    }
    free(room);
}

/* ---- estimate --------------------------------------------------------------------------------------------- */

enum { TIMES = 200, SEGMENT = 64 };

static const double base = 1.05, contrast[] = {0.3, 0.04}, plateau[] = {0.7, 0.85};

/* c2 of two groups: the contrast at equal times, a part of it between any others. */
static void plateau_points(const struct fit_layout *l, const double *ws, const double *lin,
                           const struct fit_points *list, double *mean, double *jac)
{
    const uint32_t *i = list->i, *j = list->j, *g = list->g;
    (void)l, (void)ws, (void)jac;
    for (size_t k = 0; k < list->n; k++)
        mean[k] = lin[g[k]] + contrast[g[k]] * (i[k] == j[k] ? 1 : plateau[g[k]]);
}

static struct model plateau_of(size_t g, double shot)
{
    struct model m = {.b = contrast[g], .shot = shot};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            m.g[i][j] = i == j ? 1 : sqrt(plateau[g]);
            m.C[i][j] = m.Ct[i][j] = m.b * m.g[i][j] * m.g[i][j];
            m.Ct[i][j] += i == j ? shot : 0;
        }
    return m;
}

/* Moments that are what the covariance of M speckles makes of them, the same in all slices; between frames that are not
 * the same the model is the same, and so is every moment of one kind. */
static struct fit_speckle_moments moments_of(size_t g, double count, double shot)
{
    const struct model m = plateau_of(g, shot);
    const double square = element(&m, 0, 3, 0, 3) - 2 * element(&m, 0, 3, 0, 4) + element(&m, 0, 4, 0, 4);
    const double product = element(&m, 0, 5, 1, 5) - element(&m, 0, 5, 1, 6) - element(&m, 0, 6, 1, 5) +
                           element(&m, 0, 6, 1, 6);
    struct fit_speckle_moments x;
    for (size_t q = 0; q < FIT_SPECKLE_SLICES; q++) {
        for (size_t k = 0; k < FIT_SPECKLE_DISTANCES; k++) {
            x.nsquare[k][q] = 1000 + (double)q;
            x.square[k][q] = x.nsquare[k][q] * square / count;
        }
        for (size_t h = 0; h < FIT_SPECKLE_LEVELS; h++) {
            x.nproduct[h][q] = 500 + (double)q;
            x.product[h][q] = x.nproduct[h][q] * product / count;
        }
    }
    return x;
}

static void count_and_shot_noise_are_found(void **state)
{
    static const struct {
        double count, shot; /* the shot noise in units of the contrast */
    } c[] = {{100, 1}, {3000, 0.1}, {1e5, 10}, {40, 0.01}, {2000, 3}};
    const struct fit_kernel kernel = {.space = FIT_PAIRS, .nlinear = 1, .intercept = 0, .points = plateau_points};
    const struct fit_layout layout = {.ntime = TIMES, .nframe = TIMES, .ngroup = 2, .chunk = SEGMENT, .panel = SEGMENT};
    const double lin[] = {base, 2 * base};
    const struct fit_speckle_model m = {.kernel = &kernel, .layout = &layout, .lin = lin};
    (void)state;
    for (size_t k = 0; k < sizeof c / sizeof *c; k++)
        for (size_t g = 0; g < 2; g++) {
            const double shot = c[k].shot * contrast[g];
            const struct fit_speckle_moments moments = moments_of(g, c[k].count, shot);
            struct fit_speckle_noise x;
            const char *why = "";
            assert_true(fit_speckle_suits(&m, g, &x, &why));
            assert_true(fabs(x.contrast / contrast[g] - 1) < 1e-12 && x.frames > TIMES);
            fit_speckle_estimate(&m, g, &moments, 1, &(struct fit_noise_model){0}, &x);
            assert_int_equal(x.known, FIT_SPECKLE_BOTH);
            if (!(fabs(x.count / c[k].count - 1) < 1e-3 && fabs(x.shot / shot - 1) < 1e-3))
                fail_msg("%zu: %g speckles with %g, not %g with %g", k, x.count, x.shot, c[k].count, shot);
            assert_true(x.count_std < 1e-3 * x.count && x.shot_std < 1e-3 * x.shot); /* slices agree */
            assert_true(fabs(x.noise / (x.shot / sqrt(x.count)) - 1) < 1e-12);
            fit_speckle_estimate(&m, g, &moments, 0, &(struct fit_noise_model){0}, &x);
            assert_int_equal(x.known, FIT_SPECKLE_SHOT);
            assert_true(fabs(x.noise / sqrt(moments.square[0][0] / moments.nsquare[0][0] / 2) - 1) < 1e-12);
        }
}

/* ---- a part that outlasts the measurement ------------------------------------------------------------------- */

/* 0.3 times the sum of two decays: the second, of size part[g], falls by e in slow[g] frames. */
static const double part[] = {1e-5, 1e-4, 0.2, 1e-9, 1e-5}, slow[] = {1e5, 50, 400, 1e5, 20};

static void two_decays(const struct fit_layout *l, const double *ws, const double *lin,
                       const struct fit_points *list, double *mean, double *jac)
{
    const uint32_t *i = list->i, *j = list->j, *g = list->g;
    (void)l, (void)ws, (void)jac;
    for (size_t k = 0; k < list->n; k++) {
        const double lag = fabs((double)i[k] - (double)j[k]), p = part[g[k]];
        mean[k] = lin[g[k]] + 0.3 * ((1 - p) * exp(-lag / 4) + p * exp(-lag / slow[g[k]]));
    }
}

static void what_outlasts_the_data_is_seen(void **state)
{
    (void)state;
    const struct fit_kernel kernel = {.space = FIT_PAIRS, .nlinear = 1, .intercept = 0, .points = two_decays};
    const struct fit_layout layout = {.ntime = TIMES, .nframe = TIMES, .ngroup = 5};
    const double lin[] = {1, 1, 1, 1, 1}, expected[] = {1e5, 50, 400, 0, 0};
    const struct fit_speckle_model m = {.kernel = &kernel, .layout = &layout, .lin = lin};
    for (size_t g = 0; g < 5; g++) { /* the fourth is too small, the last is gone at the end */
        struct fit_speckle_noise x;
        const char *why = "";
        assert_true(fit_speckle_suits(&m, g, &x, &why));
        assert_true(x.frames > 3.9 && x.frames < (g == 2 ? 10 : 4.1));
        if (!(fabs(x.longest / (expected[g] > 0 ? expected[g] : x.frames) - 1) < 0.35))
            fail_msg("%zu: %g frames", g, x.longest);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_have_the_covariance_of_their_elements),
        cmocka_unit_test(frames_may_be_taken_together),
        cmocka_unit_test(moments_are_sums_over_neighbours),
        cmocka_unit_test(count_and_shot_noise_are_found),
        cmocka_unit_test(what_outlasts_the_data_is_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
