/* test_speckle_whiten.c -- weights, cost and law of what is measured between frames against dense matrices: the
 * covariance of all elements, M Cov[c_st, c_uv] = Ct_su Ct_tv + Ct_sv Ct_tu, those that are not measured struck out. */
#include "speckle/likelihood.h"
#include "speckle/whiten.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "math/linalg.h"
#include "math/rng.h"

enum { MOST = 18, ALL = MOST * (MOST + 1) / 2 };

static const double CONTRAST = 0.3;

/* C of n frames whose correlation ages. */
static void correlate(size_t n, double *C)
{
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            C[i * n + j] = CONTRAST * exp(-0.6 * fabs(pow((double)i + 1, 0.7) - pow((double)j + 1, 0.7)));
}

/* The same with shot noise, of which frames have different parts. */
static void correlate_with(size_t n, double shot, double *Ct)
{
    correlate(n, Ct);
    for (size_t i = 0; i < n; i++)
        Ct[i * (n + 1)] += shot / (double)(1 + i % 2);
}

static const unsigned char measured[3][MOST] = {{0}, {0, 1, 0, 0, 1, 1}, {1, 1, 1, 1, 1, 1, 1, 1}};

/* Elements that are measured, s <= t. */
struct elements {
    size_t number, s[ALL], t[ALL];
};

static struct elements elements_of(size_t n, const unsigned char *of_diagonal)
{
    struct elements e = {0};
    for (size_t s = 0; s < n; s++)
        for (size_t t = s; t < n; t++)
            if (s != t || of_diagonal[s]) {
                e.s[e.number] = s;
                e.t[e.number++] = t;
            }
    return e;
}

static void dense_covariance(size_t n, const double *Ct, const struct elements *e, double *K)
{
    for (size_t a = 0; a < e->number; a++)
        for (size_t b = 0; b < e->number; b++) {
            const size_t s = e->s[a], t = e->t[a], u = e->s[b], v = e->t[b];
            K[a * e->number + b] = Ct[s * n + u] * Ct[t * n + v] + Ct[s * n + v] * Ct[t * n + u];
        }
}

/* x <- K^-1 x by elimination; returns log det K. */
static double eliminate(size_t n, double *K, double *x)
{
    double log_determinant = 0;
    for (size_t k = 0; k < n; k++) {
        assert_true(K[k * n + k] > 0);
        log_determinant += log(K[k * n + k]);
        for (size_t i = k + 1; i < n; i++) {
            const double f = K[i * n + k] / K[k * n + k];
            for (size_t j = k; j < n; j++)
                K[i * n + j] -= f * K[k * n + j];
            x[i] -= f * x[k];
        }
    }
    for (size_t k = n; k-- > 0;) {
        for (size_t j = k + 1; j < n; j++)
            x[k] -= K[k * n + j] * x[j];
        x[k] /= K[k * n + k];
    }
    return log_determinant;
}

/* Random residuals; what is not measured is large. */
static void draw_residuals(size_t n, const unsigned char *of_diagonal, double *R)
{
    struct fit_rng rng = {.seed = 8, .purpose = FIT_RNG_START};
    double z[MOST * MOST];
    fit_rng_next_normals(&rng, n * n, z);
    for (size_t s = 0; s < n; s++)
        for (size_t t = s; t < n; t++)
            R[s * n + t] = R[t * n + s] = s == t && !of_diagonal[s] ? 100 * z[s] : z[s * n + t];
}

static struct fit_whitener whitener_of(size_t n, double shot, const unsigned char *of_diagonal)
{
    double Ct[MOST * MOST];
    struct fit_whitener w;
    correlate_with(n, shot, Ct);
    assert_true(fit_whitener_new(n, Ct, of_diagonal, &w));
    return w;
}

enum { N = 8 };

/* W is K^-1 R of what is measured, half of it on the diagonal, 0 elsewhere; |X|^2 / 2 is R K^-1 R. */
static void check_weights(const unsigned char *of_diagonal, double shot)
{
    const struct elements e = elements_of(N, of_diagonal);
    double Ct[N * N], R[N * N], X[N * N], W[N * N], K[ALL * ALL], dense[ALL], square = 0, dense_square = 0;
    double *room = malloc(fit_whitener_room(N) * sizeof *room);
    assert_non_null(room);
    correlate_with(N, shot, Ct);
    dense_covariance(N, Ct, &e, K);
    draw_residuals(N, of_diagonal, R);
    for (size_t a = 0; a < e.number; a++)
        dense[a] = R[e.s[a] * N + e.t[a]];
    eliminate(e.number, K, dense);
    struct fit_whitener w = whitener_of(N, shot, of_diagonal);
    fit_whiten(&w, R, room, X);
    fit_whitened_weights(&w, X, room, W);
    for (size_t a = 0; a < e.number; a++) {
        const size_t s = e.s[a], t = e.t[a];
        dense_square += dense[a] * R[s * N + t];
        assert_true(fabs(W[s * N + t] * (s == t ? 0.5 : 1) - dense[a]) < 1e-9 * (1 + fabs(dense[a])));
        assert_true(fabs(W[s * N + t] - W[t * N + s]) < 1e-9 * (1 + fabs(dense[a])));
    }
    for (size_t s = 0; s < N; s++)
        assert_true(of_diagonal[s] || fabs(W[s * (N + 1)]) < 1e-9 * fabs(W[s * N + (s + 1) % N]) + 1e-9);
    for (size_t k = 0; k < N * N; k++)
        square += X[k] * X[k] / 2;
    assert_true(fabs(square / dense_square - 1) < 1e-9);
    fit_whiten(&w, R, room, R); /* in its own place */
    assert_memory_equal(R, X, sizeof R);
    fit_whitener_free(&w);
    free(room);
}

static void weights_are_those_of_generalised_least_squares(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++)
        for (double shot = 0.03; shot < 10; shot *= 6)
            check_weights(measured[k], shot);
}

static void determinant_is_that_of_what_is_measured(void **state)
{
    (void)state;
    for (size_t k = 0; k < 3; k++) {
        const struct elements e = elements_of(N, measured[k]);
        double dense[2], ours[2];
        for (size_t of = 0; of < 2; of++) {
            const double shot = of ? 1.7 : 0.04;
            double Ct[N * N], K[ALL * ALL], none[ALL] = {0};
            struct fit_whitener w = whitener_of(N, shot, measured[k]);
            correlate_with(N, shot, Ct);
            dense_covariance(N, Ct, &e, K);
            dense[of] = eliminate(e.number, K, none);
            ours[of] = fit_whitener_log_determinant(&w);
            fit_whitener_free(&w);
        }
        assert_true(fabs((ours[1] - ours[0]) / (dense[1] - dense[0]) - 1) < 1e-9);
    }
}

static void what_is_not_positive_is_refused(void **state)
{
    double Ct[4] = {1, 2, 2, 1};
    struct fit_whitener w;
    (void)state;
    assert_false(fit_whitener_new(2, Ct, measured[0], &w));
    fit_whitener_free(&w);
}

/* ---- number of speckles and shot noise ------------------------------------------------------------------ */

static const struct fit_noise_model found = {.count = 0}; /* from the residuals alone */

enum { DRAWS = 200 };

struct truth {
    double count, shot;
};

/* Residuals of exactly that covariance: the Cholesky factor of the dense one times normal numbers. */
static void draw_speckles(size_t n, const struct elements *e, const double *factor, struct fit_rng *rng, double *R)
{
    double z[ALL];
    fit_rng_next_normals(rng, e->number, z);
    for (size_t k = 0; k < n * n; k++)
        R[k] = 50; /* where nothing is measured */
    for (size_t a = 0; a < e->number; a++) {
        double sum = 0;
        for (size_t b = 0; b <= a; b++)
            sum += factor[a * e->number + b] * z[b];
        R[e->s[a] * n + e->t[a]] = R[e->t[a] * n + e->s[a]] = sum;
    }
}

/* Of the logarithm of a number over the truth, which is not far from normal: mean, mean square, mean error told. */
struct summary {
    double mean, scatter, told;
};

static void add_to(struct summary *s, double value, double std, double true_)
{
    const double x = log(value / true_);
    assert_true(fabs(x) < 4.5 * std / value);
    s->mean += x / DRAWS;
    s->scatter += x * x / DRAWS;
    s->told += std / value / DRAWS;
}

static void check_summary(const char *what, const struct truth *t, const struct summary *s)
{
    const double scatter = sqrt(s->scatter - s->mean * s->mean);
    if (fabs(s->mean) > 0.2 * scatter + 4 * scatter / sqrt(DRAWS) || fabs(s->told / scatter - 1) > 0.3)
        fail_msg("%s of %g speckles with %g: %.3g off in the mean, scatter %.3g, told %.3g", what, t->count, t->shot,
                 s->mean, scatter, s->told);
}

static void check_likelihood(size_t n, const unsigned char *of_diagonal, struct truth truth)
{
    const struct elements e = elements_of(n, of_diagonal);
    double C[MOST * MOST], Ct[MOST * MOST], part[MOST], R[MOST * MOST];
    static double K[ALL * ALL];
    double *room = malloc(fit_speckle_likelihood_room(n, 0) * sizeof *room);
    struct summary count = {0}, shot = {0};
    struct fit_rng rng = {.seed = 21, .purpose = FIT_RNG_START};
    assert_non_null(room);
    correlate(n, C);
    correlate_with(n, truth.shot, Ct);
    for (size_t k = 0; k < n; k++)
        part[k] = 1 / (double)(1 + k % 2);
    dense_covariance(n, Ct, &e, K);
    for (size_t k = 0; k < e.number * e.number; k++)
        K[k] /= truth.count;
    assert_int_equal(fit_cholesky(e.number, K, 1e-15), 0);
    for (size_t d = 0; d < DRAWS; d++) {
        const double start = (d % 2 ? 3 : 0.4) * truth.shot;
        struct fit_speckle_noise x = {.known = FIT_SPECKLE_BOTH, .contrast = CONTRAST, .shot = start, .count = 1};
        const struct fit_speckle_residuals r = {n, C, part, R, of_diagonal, 0, 0, NULL, NULL};
        draw_speckles(n, &e, K, &rng, R);
        assert_true(fit_speckle_likelihood(&r, &found, room, &x));
        assert_true(fabs(x.noise / (x.shot / sqrt(x.count)) - 1) < 1e-12);
        add_to(&count, x.count, x.count_std, truth.count);
        add_to(&shot, x.shot, x.shot_std, truth.shot);
    }
    check_summary("count", &truth, &count);
    check_summary("shot noise", &truth, &shot);
    free(room);
}

static void count_and_shot_noise_are_found_with_their_errors(void **state)
{
    (void)state;
    check_likelihood(MOST, measured[0], (struct truth){500, 0.3});
    check_likelihood(MOST, measured[1], (struct truth){40, 0.1});
    check_likelihood(MOST, measured[2], (struct truth){2e4, 0.6});
}

/* What the fit has followed counts: of the same residuals there are fewer speckles when more of them were fitted. */
static void parameters_are_counted(void **state)
{
    double C[N * N], R[N * N], part[N], *room = malloc(fit_speckle_likelihood_room(N, 0) * sizeof *room);
    struct fit_speckle_noise x[2];
    (void)state;
    assert_non_null(room);
    correlate(N, C);
    draw_residuals(N, measured[0], R);
    for (size_t k = 0; k < N; k++)
        part[k] = 1;
    for (size_t k = 0; k < 2; k++) {
        const struct fit_speckle_residuals r = {N, C, part, R, measured[0], k ? 7 : 0, 0, NULL, NULL};
        x[k] = (struct fit_speckle_noise){.known = FIT_SPECKLE_BOTH, .contrast = CONTRAST, .shot = 1};
        assert_true(fit_speckle_likelihood(&r, &found, room, &x[k]));
    }
    assert_true(x[1].count < x[0].count);
    const struct fit_speckle_residuals none = {N, C, part, R, measured[0], N * (N - 1) / 2, 0, NULL, NULL};
    const struct fit_speckle_noise before = x[0];
    assert_false(fit_speckle_likelihood(&none, &found, room, &x[0])); /* nothing is left that could tell */
    assert_memory_equal(&before, &x[0], sizeof before);
    free(room);
}

enum { SMOOTH = 4, FRAMES = 16 };

/* What a fit follows: slow functions of lag and age. */
static void smooth_fields(size_t n, double *field)
{
    double C[MOST * MOST];
    correlate(n, C);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const double lag = fabs((double)i - (double)j), c = C[i * n + j], values[SMOOTH] = {1, c, lag * c,
                                                                                                (double)(i + j) * c};
            for (size_t k = 0; k < SMOOTH; k++)
                field[(k * n + i) * n + j] = values[k];
        }
}

/* R less its part along the fields, by least squares over all pairs: normal equations. */
static void follow(size_t n, const double *field, double *R)
{
    double A[SMOOTH * SMOOTH] = {0}, b[SMOOTH] = {0};
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            for (size_t k = 0; k < SMOOTH; k++) {
                const double x = field[(k * n + i) * n + j];
                b[k] += x * R[i * n + j];
                for (size_t l = 0; l < SMOOTH; l++)
                    A[k * SMOOTH + l] += x * field[(l * n + i) * n + j];
            }
    assert_int_equal(fit_cholesky(SMOOTH, A, 1e-14), 0);
    fit_cholesky_solve(SMOOTH, A, b);
    for (size_t k = 0; k < SMOOTH; k++)
        for (size_t i = 0; i < n * n; i++)
            R[i] -= b[k] * field[k * n * n + i];
}

/* Where shot noise is large, slow noise alone tells the number of speckles, and the fit has followed much of it: by the
 * restricted likelihood it is found as if there had been no fit, by their number alone too few are. */
static void what_the_fit_has_followed_is_left_out(void **state)
{
    const size_t n = FRAMES;
    const struct elements e = elements_of(n, measured[0]);
    const struct truth truth = {500, 0.6};
    double C[MOST * MOST], Ct[MOST * MOST], part[MOST], R[MOST * MOST], field[SMOOTH * MOST * MOST], mean[2] = {0};
    static double K[ALL * ALL];
    double *room = malloc(fit_speckle_likelihood_room(n, SMOOTH) * sizeof *room);
    struct fit_rng rng = {.seed = 5, .purpose = FIT_RNG_START};
    double first = truth.shot;
    (void)state;
    assert_non_null(room);
    correlate(n, C);
    correlate_with(n, truth.shot, Ct);
    smooth_fields(n, field);
    for (size_t k = 0; k < n; k++)
        part[k] = 1 / (double)(1 + k % 2);
    dense_covariance(n, Ct, &e, K);
    for (size_t k = 0; k < e.number * e.number; k++)
        K[k] /= truth.count;
    assert_int_equal(fit_cholesky(e.number, K, 1e-15), 0);
    for (size_t d = 0; d < DRAWS; d++) {
        draw_speckles(n, &e, K, &rng, R);
        for (size_t turn = 0; turn < 3; turn++) { /* no fit; its parameters counted; what it follows left out */
            const double share[SMOOTH] = {1, 1, 1, 1};
            const struct fit_speckle_residuals r = {n, C, part, R, measured[0], turn ? SMOOTH : 0,
                                                    turn > 1 ? SMOOTH : 0, field, share};
            struct fit_speckle_noise x = {.known = FIT_SPECKLE_BOTH, .contrast = CONTRAST, .shot = truth.shot};
            if (turn == 1)
                follow(n, field, R);
            assert_true(fit_speckle_likelihood(&r, &found, room, &x));
            if (turn == 0)
                first = x.shot;
            else
                mean[turn - 1] += fmax(fmin(log(x.shot / first), 1), -1) / DRAWS; /* none is seen: far below */
        }
    }
    if (fabs(mean[1]) > 0.35 * fabs(mean[0]))
        fail_msg("shot noise by the restricted likelihood %.3f off, without it %.3f", mean[1], mean[0]);
    free(room);
}

/* What is given stays, has no error, and makes that of the other one smaller. */
static void what_is_given_stays(void **state)
{
    double C[N * N], R[N * N], part[N], *room = malloc(fit_speckle_likelihood_room(N, 0) * sizeof *room);
    const struct fit_noise_model given[3] = {{.count = 0}, {.count = 30}, {.shot = 0.7}};
    struct fit_speckle_noise x[3];
    (void)state;
    assert_non_null(room);
    correlate(N, C);
    draw_residuals(N, measured[0], R);
    for (size_t k = 0; k < N * N; k++)
        R[k] *= 0.2;
    for (size_t k = 0; k < N; k++)
        part[k] = 1;
    const struct fit_speckle_residuals r = {N, C, part, R, measured[0], 0, 0, NULL, NULL};
    for (size_t k = 0; k < 3; k++) {
        x[k] = (struct fit_speckle_noise){.known = FIT_SPECKLE_BOTH, .contrast = CONTRAST, .shot = 1};
        assert_true(fit_speckle_likelihood(&r, &given[k], room, &x[k]));
        assert_true(x[k].count > 0 && x[k].shot > 0);
    }
    assert_true(x[0].count_std > 0 && x[0].shot_std > 0);
    assert_true(x[1].count == 30 && x[1].count_std == 0 && x[1].shot_std / x[1].shot < x[0].shot_std / x[0].shot);
    assert_true(fabs(x[2].shot - 0.7) < 1e-12 && x[2].shot_std == 0);
    assert_true(x[2].count_std / x[2].count < x[0].count_std / x[0].count);
    free(room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_those_of_generalised_least_squares),
        cmocka_unit_test(determinant_is_that_of_what_is_measured),
        cmocka_unit_test(what_is_not_positive_is_refused),
        cmocka_unit_test(count_and_shot_noise_are_found_with_their_errors),
        cmocka_unit_test(parameters_are_counted),
        cmocka_unit_test(what_the_fit_has_followed_is_left_out),
        cmocka_unit_test(what_is_given_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
