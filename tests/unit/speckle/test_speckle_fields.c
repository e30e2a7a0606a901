/* test_speckle_fields.c -- simulated speckles: means and covariances of many simulations against the formulas
 * (speckle/noise.h), with photons counted and without, frames single and averaged; the numbers of the noise are found.
 * */
#include "commands/speckle.h"
#include "speckle/likelihood.h"
#include "speckle/outliers.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { N = 5, MOST = 2 * N, PAIRS = N * (N - 1) / 2, TIMES = 3000 };

/* Correlations of exposures and of frames; frames are means of `average` exposures. */
struct truth {
    size_t average, exposures;
    double b, shot, square[MOST * MOST]; /* |g|^2 of exposures */
    double C[N][N], Ct[N][N], g[N][N], f[MOST][MOST];
};

static struct truth truth_of(double b, double counts, size_t average)
{
    struct truth t = {.average = average, .exposures = N * average, .b = b, .shot = counts > 0 ? 1 / counts : 0};
    for (size_t i = 0; i < t.exposures; i++)
        for (size_t j = 0; j < t.exposures; j++) {
            t.f[i][j] = exp(-0.25 * fabs((double)i - (double)j) / (double)average);
            t.square[i * t.exposures + j] = t.f[i][j] * t.f[i][j];
            t.C[i / average][j / average] += b * t.f[i][j] * t.f[i][j] / (double)(average * average);
        }
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            t.Ct[i][j] = t.C[i][j] + (i == j ? t.shot : 0);
    return t;
}

/* Mean over the exposures of frames i, j, k, l of g_ij g_jk g_kl g_li; of three frames, l = i. */
static double cycle(const struct truth *t, size_t i, size_t j, size_t k, size_t l)
{
    const size_t a = t->average;
    double sum = 0;
    for (size_t e = 0; e < a * a * a * a; e++) {
        const size_t x[4] = {i * a + e % a, j * a + e / a % a, k * a + e / a / a % a, l * a + e / a / a / a};
        sum += t->f[x[0]][x[1]] * t->f[x[1]][x[2]] * t->f[x[2]][x[3]] * t->f[x[3]][x[0]];
    }
    return sum / (double)(a * a * a * a);
}

/* Third moment; the variance of photon noise is in proportion to the intensity: two frames may be the same. */
static double triple(const struct truth *t, size_t i, size_t j, size_t k)
{
    const size_t a = t->average;
    double sum = 0;
    for (size_t e = 0; e < a * a * a; e++) {
        const size_t x[3] = {i * a + e % a, j * a + e / a % a, k * a + e / a / a};
        sum += t->f[x[0]][x[1]] * t->f[x[1]][x[2]] * t->f[x[2]][x[0]];
    }
    return 2 * t->b * t->b * sum / (double)(a * a * a);
}

static double triple_seen(const struct truth *t, size_t i, size_t j, size_t k)
{
    return triple(t, i, j, k) + (i == j ? t->shot * t->C[i][k] : 0) + (i == k ? t->shot * t->C[i][j] : 0);
}

/* What photon noise that is in proportion to the intensity adds to the fourth moment of s, t, u, v. */
static double shared(const struct truth *x, size_t s, size_t t, size_t u, size_t v)
{
    const size_t a[2] = {s, t}, b[2] = {u, v};
    double sum = s == u && t == v ? x->shot * x->shot * x->C[s][t] : 0;
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 2; j++)
            sum += a[i] == b[j] ? x->shot * triple(x, a[i], a[1 - i], b[1 - j]) : 0;
    return sum;
}

/* M times the covariance of values (s, t) and (u, v), s < t, u < v, of modes of equal parts. */
static double covariance(const struct truth *x, size_t s, size_t t, size_t u, size_t v)
{
    return x->Ct[s][u] * x->Ct[t][v] + x->Ct[s][v] * x->Ct[t][u] + shared(x, s, t, u, v) +
           2 * pow(x->b, 3) * (cycle(x, s, t, u, v) + cycle(x, s, t, v, u) + cycle(x, s, u, t, v)) -
           x->C[u][v] * (triple_seen(x, u, s, t) + triple_seen(x, v, s, t)) -
           x->C[s][t] * (triple_seen(x, s, u, v) + triple_seen(x, t, u, v)) +
           x->C[s][t] * x->C[u][v] * (x->Ct[s][u] + x->Ct[s][v] + x->Ct[t][u] + x->Ct[t][v]);
}

static void simulate(const struct truth *t, size_t speckles, double counts, uint64_t seed, double *c)
{
    const struct fit_speckle_part part = {.square = t->square};
    const struct fit_speckle_draw draw = {1, &part, speckles, t->average, t->b, counts, seed, 3};
    struct fit_error err = {0};
    double change;
    assert_int_equal(fit_speckle_parts(t->exposures, &draw, c, &change, &err), FIT_OK);
    assert_true(change < 1e-12);
}

/* Sums of many simulations. */
struct sums {
    double mean[N * N], square[PAIRS][PAIRS];
};

static struct sums simulate_all(const struct truth *t, size_t speckles, double counts)
{
    struct sums s = {{0}, {{0}}};
    double c[N * N] = {0}, z[PAIRS];
    for (uint64_t k = 0; k < TIMES; k++) {
        simulate(t, speckles, counts, k, c);
        for (size_t i = 0, p = 0; i < N; i++)
            for (size_t j = i; j < N; j++) {
                s.mean[i * N + j] += t->b * c[i * N + j] / TIMES;
                if (j > i)
                    z[p++] = t->b * c[i * N + j] - t->C[i][j];
            }
        for (size_t p = 0; p < PAIRS; p++)
            for (size_t q = 0; q < PAIRS; q++)
                s.square[p][q] += z[p] * z[q] / TIMES;
    }
    return s;
}

static void check(double b, double counts, size_t average, size_t speckles)
{
    const struct truth t = truth_of(b, counts, average);
    const struct sums s = simulate_all(&t, speckles, counts);
    size_t at[PAIRS][2];
    for (size_t i = 0, p = 0; i < N; i++)
        for (size_t j = i; j < N; j++) {
            const double scatter = (b + t.shot) * 3 / sqrt((double)speckles * TIMES);
            const double bias = 4 * (b + t.shot) / (double)speckles; /* of the ratio of means */
            assert_true(fabs(s.mean[i * N + j] - t.Ct[i][j]) < bias + 5 * scatter);
            if (j > i) {
                at[p][0] = i;
                at[p++][1] = j;
            }
        }
    for (size_t p = 0; p < PAIRS; p++)
        for (size_t q = p; q < PAIRS; q++) {
            const double vp = covariance(&t, at[p][0], at[p][1], at[p][0], at[p][1]) / (double)speckles;
            const double vq = covariance(&t, at[q][0], at[q][1], at[q][0], at[q][1]) / (double)speckles;
            const double v = covariance(&t, at[p][0], at[p][1], at[q][0], at[q][1]) / (double)speckles;
            if (fabs(s.square[p][q] - v) > 0.12 * sqrt(vp * vq))
                fail_msg("contrast %g, counts %g, average %zu: covariance of (%zu, %zu) and (%zu, %zu) %g, not %g", b,
                         counts, average, at[p][0], at[p][1], at[q][0], at[q][1], s.square[p][q], v);
        }
}

static void intensities_have_the_noise_of_speckles(void **state)
{
    (void)state;
    check(1, 0, 1, 400);
    check(1.0 / 3, 0, 1, 200);
}

static void counted_photons_have_shot_noise(void **state)
{
    (void)state;
    check(0.5, 4, 1, 200);
    check(1.0 / 3, 0.5, 1, 300);
}

static void averaged_frames_have_that_of_their_exposures(void **state)
{
    (void)state;
    check(0.5, 0, 2, 200);
    check(0.5, 2, 2, 200);
}

/* 1/40 is the lowest contrast of modes; below it both kinds of noise are those of a higher one, in proportion. */
static void low_contrasts_keep_their_shot_noise(void **state)
{
    const struct truth t = truth_of(0.01, 5, 1);
    double c[N * N] = {0}, mean = 0;
    (void)state;
    for (uint64_t k = 0; k < 200; k++) {
        simulate(&t, 100, 5, k, c);
        for (size_t i = 0; i < N; i++)
            mean += t.b * c[i * (N + 1)] / (200 * N);
    }
    assert_true(fabs(mean / (t.b + t.shot) - 1) < 0.05);
}

static void frames_without_photons_are_told(void **state)
{
    const struct truth t = truth_of(0.5, 1e-6, 1);
    const struct fit_speckle_part part = {.square = t.square};
    const struct fit_speckle_draw draw = {1, &part, 10, 1, 0.5, 1e-6, 1, 0};
    struct fit_error err = {0};
    double change, c[N * N];
    (void)state;
    assert_int_equal(fit_speckle_parts(N, &draw, c, &change, &err), FIT_ERR_DATA);
    assert_non_null(strstr(err.message, "frame 1 has no photon"));
}

/* ---- the numbers of the noise ----------------------------------------------------------------------------- */

enum { FRAMES = 48, DRAWS = 60 };

/* Means over the draws: number of speckles and shot noise over the true ones, kurtosis over the one expected, less 3;
 * and how many draws have outliers. */
struct found {
    double count, shot, kurtosis, expected;
    int outliers;
};

/* Adds one draw, of residuals that room begins with; all values are there. */
static void add_outliers(const struct fit_speckle_noise *x, const double *room, struct found *found)
{
    static double cover[FRAMES * FRAMES], space[FRAMES * (FRAMES + 3) / 2];
    for (size_t k = 0; k < FRAMES * FRAMES; k++)
        cover[k] = 1;
    const struct fit_speckle_elements e = {FRAMES, room, cover, x->contrast, x->shot};
    const struct fit_speckle_outliers o = fit_speckle_find_outliers(&e, space);
    assert_true(o.p > 0 && o.p <= 1);
    found->kurtosis += (o.kurtosis - 3) / DRAWS;
    found->expected += (o.expected - 3) / DRAWS;
    found->outliers += o.p < 1e-3;
}

/* Of residuals from the true model; off: what is added to those of frame 11 and, in turn, to others. */
static struct found find_numbers(double b, double lasting, double counts, size_t speckles, double off)
{
    struct found found = {0};
    double square[FRAMES * FRAMES], C[FRAMES * FRAMES], c[FRAMES * FRAMES], part[FRAMES], change;
    const unsigned char measured[FRAMES] = {0};
    const struct fit_speckle_residuals r = {FRAMES, C, part, c, measured, 0, 0, NULL, NULL};
    double *room = malloc(fit_speckle_likelihood_room(FRAMES, 0) * sizeof *room);
    struct fit_error err = {0};
    assert_non_null(room);
    for (int i = 0; i < FRAMES; i++) {
        part[i] = 1;
        for (int j = 0; j < FRAMES; j++) {
            square[i * FRAMES + j] = exp(-abs(i - j) / lasting);
            C[i * FRAMES + j] = b * square[i * FRAMES + j];
        }
    }
    for (uint64_t k = 0; k < DRAWS; k++) {
        const struct fit_speckle_part field = {.square = square};
        const struct fit_speckle_draw draw = {1, &field, speckles, 1, b, counts, k, 3};
        struct fit_speckle_noise x = {.known = FIT_SPECKLE_BOTH, .contrast = b, .shot = 1 / counts, .count = 1};
        assert_int_equal(fit_speckle_parts(FRAMES, &draw, c, &change, &err), FIT_OK);
        for (int i = 0; i < FRAMES; i++)
            for (int j = i; j < FRAMES; j++)
                c[i * FRAMES + j] = c[j * FRAMES + i] = b * c[i * FRAMES + j] - C[i * FRAMES + j];
        for (int i = 0; i < FRAMES; i++)
            for (int j = i + 1; j < FRAMES; j++)
                c[i * FRAMES + j] = c[j * FRAMES + i] += (i == 11 || j == 11 || j == 30) * off;
        fit_speckle_even_out(FRAMES, C, c);
        assert_true(fit_speckle_likelihood(&r, &(struct fit_noise_model){0}, room, &x));
        found.count += x.count / (double)speckles / DRAWS;
        found.shot += x.shot * counts / DRAWS;
        add_outliers(&x, room, &found);
    }
    free(room);
    return found;
}

/* The intensity modulates its own noise, of photons and of fields: with no regard to that, 0.5 to 0.8 of the speckles
 * are found here.  Contrasts near 1 have cumulants left. */
static void number_of_speckles_is_found(void **state)
{
    static const struct {
        double b, lasting, counts, margin;
    } c[] = {{1.0 / 3, 60, 6, 0.08}, {1.0 / 3, 10, 3, 0.08}, {0.9, 30, 2, 0.2}};
    (void)state;
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        const struct found f = find_numbers(c[k].b, c[k].lasting, c[k].counts, 300, 0);
        if (!(fabs(f.count - 1) < c[k].margin && fabs(f.shot - 1) < c[k].margin))
            fail_msg("contrast %g, decay %g frames, %g counts: %g of the speckles, %g of the shot noise", c[k].b,
                     c[k].lasting, c[k].counts, f.count, f.shot);
    }
}

/* Kurtosis of what is new in frames, few speckles and few photons: as it is told, and at most one draw of 60 is called
 * wrong; with two frames off by what the number of speckles follows, three of four are at least, where
 * shot noise is no more than twice the contrast: with more of it, it takes their place. */
static void frames_that_are_off_are_no_speckles(void **state)
{
    static const struct {
        double b, lasting, counts;
        size_t speckles;
    } c[] = {{1.0 / 3, 60, 6, 50}, {1.0 / 3, 10, 1, 50}, {0.9, 30, 0.4, 300}, {0.1, 100, 5, 1000}};
    (void)state;
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        const struct found f = find_numbers(c[k].b, c[k].lasting, c[k].counts, c[k].speckles, 0);
        const double scatter = sqrt(24.0 * 2 / (FRAMES * (FRAMES - 1.0) * DRAWS));
        if (!(fabs(f.kurtosis - 0.8 * f.expected) < 0.5 * f.expected + 3 * scatter && f.outliers <= 1))
            fail_msg("contrast %g, decay %g frames, %g counts: kurtosis 3 + %g, not %g; %d draws have outliers", c[k].b,
                     c[k].lasting, c[k].counts, f.kurtosis, f.expected, f.outliers);
        const double noise = (c[k].b + 1 / c[k].counts) / sqrt((double)c[k].speckles);
        const struct found off = find_numbers(c[k].b, c[k].lasting, c[k].counts, c[k].speckles, 15 * noise);
        if (1 / c[k].counts < 2.5 * c[k].b && off.outliers < DRAWS * 3 / 4)
            fail_msg("contrast %g, decay %g frames, %g counts: %d of %d draws have outliers", c[k].b, c[k].lasting,
                     c[k].counts, off.outliers, DRAWS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intensities_have_the_noise_of_speckles),
        cmocka_unit_test(counted_photons_have_shot_noise),
        cmocka_unit_test(averaged_frames_have_that_of_their_exposures),
        cmocka_unit_test(low_contrasts_keep_their_shot_noise),
        cmocka_unit_test(frames_without_photons_are_told),
        cmocka_unit_test(number_of_speckles_is_found),
        cmocka_unit_test(frames_that_are_off_are_no_speckles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
