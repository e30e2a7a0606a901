/* test_sandwich.c -- robust errors against the definition: sums over all pairs of values, one by one. */
#include "fit/fit.h"
#include "leastsquares/fit_types.h"
#include "math/rng.h"
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "math/linalg.h"

enum { NT = 40, NG = 2, MOST = 12, NROW = 60 };

struct value { /* its score over the free parameters */
    size_t i, j, g;
    double score[MOST], jac[MOST], r;
};

/* ---- pairs ---------------------------------------------------------------------------------------------- */

static const double phi[NG] = {-4, 40};
static const double truth[] = {30000, -0.2, 100, 0.005, -0.3, 0.001, -3};
static const double linear[NG * 2] = {0.3, 1, 0.25, 1.01};

/* Data with noise that frames have in common, so that the sandwich is far from the usual errors; independent from frame
 * to frame, or, of slow = 1, kept for several. */
static struct fit_dataset *pairs_data(const struct fit_kernel *k, int slow)
{
    struct fit_error err = {0};
    struct fit_dataset *ds =
        e2e_dataset(k, &(struct e2e_grid){.ntime = NT, .dt = 0.05, .q = 0.0054, .gap = 2e6, .nphi = NG, .phi = phi});
    struct e2e_prepared p = e2e_prepare(k, &ds->layout, truth);
    double matrix[NT * NT] = {0}, frame[NT];
    struct fit_rng rng = {.seed = 5, .purpose = FIT_RNG_START};
    for (uint32_t g = 0; g < NG; g++) {
        fit_rng_next_normals(&rng, NT, frame);
        for (uint32_t i = 1; i < NT && slow; i++)
            frame[i] = 0.9 * frame[i - 1] + 2 * frame[i];
        for (uint32_t i = 0; i < NT; i++)
            for (uint32_t j = i + 1; j < NT; j++) {
                double z;
                k->points(&ds->layout, p.ws, linear, &(struct fit_points){1, &i, &j, &g}, &matrix[i * NT + j], NULL);
                fit_rng_next_normals(&rng, 1, &z);
                matrix[i * NT + j] += 0.0005 * (z + 0.5 * frame[i] + 0.5 * frame[j]);
            }
        matrix[3 * NT + 7] = NAN; /* a value that does not count */
        assert_int_equal(fit_dataset_put(ds, g, matrix, NULL, &err), FIT_OK);
    }
    assert_int_equal(fit_dataset_finish(ds, &err), FIT_OK);
    e2e_release(&p);
    return ds;
}

static struct fit_result run_fit(const struct fit_kernel *k, const struct fit_dataset *ds, const struct fit_options *o)
{
    struct fit_result r;
    struct fit_error err = {0};
    enum fit_status st = fit_run(k, ds, o, &r, &err);
    if (st != FIT_OK)
        print_message("%s\n", err.message);
    assert_int_equal(st, FIT_OK);
    return r;
}

static int counts(const struct fit_dataset *ds, size_t i, size_t j, size_t g, double *y)
{
    for (size_t t = 0; t < ds->ntile; t++) {
        const struct fit_tile *tile = &ds->tile[t];
        if (i < tile->i0 || i >= tile->i1 || j < tile->j0 || j >= tile->j1)
            continue;
        size_t at = fit_tile_offset(&ds->layout, tile, i, j, g);
        *y = tile->y[at] + ds->reference[g];
        return !tile->w || tile->w[at] > 0;
    }
    return 0;
}

/* All values with their scores over `count` parameters of the full vector named in index. */
static size_t pairs_values(const struct fit_kernel *k, const struct fit_dataset *ds, const struct fit_result *r,
                           const size_t *index, size_t count, struct value *v)
{
    struct e2e_prepared p = e2e_prepare(k, &ds->layout, r->theta);
    size_t n = 0, np = k->nparam, nl = k->nlinear;
    for (uint32_t g = 0; g < NG; g++)
        for (uint32_t i = 0; i < NT; i++)
            for (uint32_t j = i + 1; j < NT; j++) {
                double y = 0, mean, jac[MOST];
                if (!counts(ds, i, j, g, &y))
                    continue;
                k->points(&ds->layout, p.ws, r->lin, &(struct fit_points){1, &i, &j, &g}, &mean, jac);
                v[n] = (struct value){i, j, g, {0}, {0}, 0};
                for (size_t c = 0; c < count; c++) {
                    size_t e = index[c], place = e < np ? e : np + (e - np) % nl;
                    v[n].jac[c] = e < np || (e - np) / nl == g ? jac[place] : 0;
                    v[n].score[c] = (y - mean) * v[n].jac[c];
                }
                v[n].r = y - mean;
                n++;
            }
    e2e_release(&p);
    return n;
}

/* The weight of two pairs of frames for clusters of m frames: one for each that they have in common, less one when both
 * pairs are between the same two; each divided by what the fit leaves of it. */
static double common(const struct value *a, const struct value *b, size_t m, size_t offset)
{
    double part = (double)m / NT, one = 1 / ((1 - 2 * part) * (1 - 2 * part)), both = 1 - 2 * part * part;
    size_t x[2] = {(a->i + offset) / m, (a->j + offset) / m}, y[2] = {(b->i + offset) / m, (b->j + offset) / m};
    int n = (x[0] == y[0] || x[0] == y[1]) + (x[1] != x[0] && (x[1] == y[0] || x[1] == y[1]));
    return n * one - (n == 2 ? 1 / (both * both) : 0);
}

/* std <- square roots of the diagonal of (J^T J)^-1 M (J^T J)^-1. */
static void sandwich(const struct value *v, size_t n, size_t count, const double *M, double *std)
{
    double H[MOST * MOST] = {0};
    for (size_t k = 0; k < n; k++)
        for (size_t a = 0; a < count; a++)
            for (size_t b = 0; b < count; b++)
                H[a * count + b] += v[k].jac[a] * v[k].jac[b];
    assert_int_equal(fit_cholesky(count, H, 1e-15), 0);
    for (size_t a = 0; a < count; a++) {
        double x[MOST] = {0}, var = 0;
        x[a] = 1;
        fit_cholesky_solve(count, H, x);
        for (size_t b = 0; b < count; b++)
            for (size_t c = 0; c < count; c++)
                var += x[b] * M[b * count + c] * x[c];
        std[a] = sqrt(var);
    }
}

/* -(H - F)^-1 s and the diagonal of (H - F)^-1 - H^-1, s and F those of pairs with the first frame. */
static void without_first_frame(const struct value *v, size_t n, size_t count, double *move, double *more)
{
    double H[2][MOST * MOST] = {{0}}, s[MOST] = {0};
    for (size_t k = 0; k < n; k++)
        for (size_t a = 0; a < count; a++) {
            for (size_t b = 0; b < count; b++) {
                H[0][a * count + b] += v[k].jac[a] * v[k].jac[b];
                H[1][a * count + b] += v[k].i > 0 ? v[k].jac[a] * v[k].jac[b] : 0;
            }
            s[a] += v[k].i == 0 ? v[k].score[a] : 0;
        }
    assert_int_equal(fit_cholesky(count, H[0], 1e-15), 0);
    assert_int_equal(fit_cholesky(count, H[1], 1e-15), 0);
    for (size_t a = 0; a < count; a++) {
        double x[2][MOST] = {{0}};
        x[0][a] = x[1][a] = 1;
        fit_cholesky_solve(count, H[0], x[0]);
        fit_cholesky_solve(count, H[1], x[1]);
        more[a] = x[1][a] - x[0][a];
        move[a] = 0;
        for (size_t b = 0; b < count; b++)
            move[a] -= x[1][b] * s[b];
    }
}

static void check_symmetry(const struct fit_result *r)
{
    for (size_t a = 0; a < r->nfull; a++)
        for (size_t b = 0; b < a; b++) {
            const double low = r->covariance_robust[a * r->nfull + b], up = r->covariance_robust[b * r->nfull + a];
            assert_true(fabs(low - up) <= 1e-9 * r->std_robust[a] * r->std_robust[b]);
        }
}

static void check_pairs(size_t length, int joint)
{
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    struct fit_dataset *ds = pairs_data(k, 0);
    unsigned char fixed[] = {0, 0, 1, 0, 1, 1, 1};
    struct fit_options o;
    fit_options_default(&o);
    o.start = truth;
    o.start_only = 1;
    o.fixed = fixed;
    o.cluster_length = length;
    o.cluster_joint = joint;
    o.threads = 1;
    struct fit_result r = run_fit(k, ds, &o);
    assert_int_equal(r.robust.kind, FIT_ROBUST_FRAMES);
    assert_int_equal(r.robust.length, length);
    static const size_t index[] = {0, 1, 3, 7, 8, 9, 10};
    enum { N = sizeof index / sizeof *index };
    static struct value v[NG * NT * NT];
    size_t n = pairs_values(k, ds, &r, index, N, v);
    assert_int_equal(n, NG * (NT * (NT - 1) / 2 - 1));
    double M[N * N] = {0}, std[N];
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            double weight = 0;
            for (size_t offset = 0; offset < length; offset++)
                weight += joint || v[a].g == v[b].g ? common(&v[a], &v[b], length, offset) : 0;
            for (size_t x = 0; x < N && weight > 0; x++)
                for (size_t y = 0; y < N; y++)
                    M[x * N + y] += weight / (double)length * v[a].score[x] * v[b].score[y];
        }
    sandwich(v, n, N, M, std);
    assert_false(r.robust.clipped);
    double freedom = ((double)NT / (double)length - 1) * (joint ? 1 : NG), tails = sqrt(freedom / (freedom - 2));
    for (size_t c = 0; c < N; c++)
        assert_true(fabs(r.std_robust[index[c]] / (std[c] * tails) - 1) < 1e-6); /* of an optimum to 1e-7 of a std */
    assert_true(r.std_robust[2] == 0 && r.std_robust[5] == 0);
    check_symmetry(&r);
    double move[N], more[N];
    without_first_frame(v, n, N, move, more);
    for (size_t c = 0; index[c] < k->nparam;
         c++) { /* the scatter: times the variance of the other frames, of all alike */
        double ratio = r.first_frame_std[index[c]] / r.first_frame_std[0] / sqrt(more[c] / more[0]);
        assert_true(fabs(r.first_frame[index[c]] - move[c]) < 1e-6 * r.std[index[c]]);
        assert_true(fabs(ratio - 1) < 1e-6);
    }
    assert_true(r.first_frame_std[0] >= sqrt(more[0] * r.residual_variance) * (1 - 1e-6));
    assert_true(r.first_frame[2] == 0 && r.first_frame_std[5] == 0);
    fit_result_free(&r);
    o.threads = 2;
    r = run_fit(k, ds, &o);
    struct fit_result again = run_fit(k, ds, &o);
    assert_memory_equal(r.std_robust, again.std_robust, r.nfull * sizeof *r.std_robust);
    fit_result_free(&again);
    fit_result_free(&r);
    fit_dataset_free(ds);
}

static void test_frames_one_by_one(void **s)
{
    (void)s;
    check_pairs(1, 0);
}

static void test_clusters_of_two_frames_at_all_positions(void **s)
{
    (void)s;
    check_pairs(2, 0);
}

static void test_clusters_over_all_angles(void **s)
{
    (void)s;
    check_pairs(2, 1);
}

/* Too few clusters as long as the noise lasts: no errors, of no parameter but those that are fixed. */
static void test_noise_that_lasts_has_no_errors(void **s)
{
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    struct fit_dataset *ds = pairs_data(k, 1);
    unsigned char fixed[] = {0, 0, 1, 0, 1, 1, 1};
    struct fit_options o;
    (void)s;
    fit_options_default(&o);
    o.start = truth;
    o.start_only = 1;
    o.fixed = fixed;
    o.cluster_joint = 1; /* speckles of each angle do not account for it */
    struct fit_result r = run_fit(k, ds, &o);
    assert_int_equal(r.robust.kind, FIT_ROBUST_WITHHELD);
    assert_non_null(strstr(r.robust.reason, "fewer than 8 correlation times"));
    for (size_t a = 0; a < r.nfull; a++) {
        const int held = a < k->nparam && fixed[a];
        assert_true(held ? r.std[a] == 0 && r.std_robust[a] == 0 : r.std[a] > 0 && isnan(r.std_robust[a]));
        for (size_t b = 0; b < r.nfull; b++) {
            const double v = r.covariance_robust[a * r.nfull + b];
            assert_true(held || (b < k->nparam && fixed[b]) ? v == 0 : isnan(v));
        }
    }
    fit_result_free(&r);
    fit_dataset_free(ds);
}

/* ---- the test of fit ------------------------------------------------------------------------------------ */

enum { BINS = 12, SUMS = BINS + 4 * NG, FREE = 7 };

/* Classes of lags begin at 0, 3 and two more by equal ratios; three of the age in each. */
static size_t bin_of(size_t i, size_t j)
{
    size_t c = 0;
    while (c < 3 && (double)(j - i) >= ceil(3 * pow(NT / 3.0, 0.275 * (double)c)))
        c++;
    return c * 3 + i * 3 / (NT - (j - i));
}

/* Independent noise; in bin 4 it is `smaller` times as small as elsewhere: what is fitted is known from there. */
static struct fit_dataset *white_data(const struct fit_kernel *k, double smaller, double *sigma)
{
    struct fit_error err = {0};
    struct fit_dataset *ds =
        e2e_dataset(k, &(struct e2e_grid){.ntime = NT, .dt = 0.05, .q = 0.0054, .gap = 2e6, .nphi = NG, .phi = phi});
    struct e2e_prepared p = e2e_prepare(k, &ds->layout, truth);
    double matrix[NT * NT] = {0};
    struct fit_rng rng = {.seed = 9, .purpose = FIT_RNG_START};
    for (uint32_t g = 0; g < NG; g++) {
        for (uint32_t i = 0; i < NT; i++)
            for (uint32_t j = i + 1; j < NT; j++) {
                double z, *s = &sigma[i * NT + j];
                *s = bin_of(i, j) == 4 ? 0.002 / smaller : 0.002;
                k->points(&ds->layout, p.ws, linear, &(struct fit_points){1, &i, &j, &g}, &matrix[i * NT + j], NULL);
                fit_rng_next_normals(&rng, 1, &z);
                matrix[i * NT + j] += *s * z;
            }
        assert_int_equal(fit_dataset_put(ds, g, matrix, sigma, &err), FIT_OK);
    }
    assert_int_equal(fit_dataset_finish(ds, &err), FIT_OK);
    e2e_release(&p);
    return ds;
}

struct sums {
    double W[SUMS * SUMS], X[SUMS * FREE], B[SUMS], D[FREE * FREE], Q[SUMS * SUMS];
};

/* Sums over bins of all groups, and over the lags of each: of weights, of weighted derivatives and residuals. */
static void plain_sums(const struct value *v, size_t n, const double *sigma, struct sums *s)
{
    double H[FREE * FREE] = {0};
    memset(s, 0, sizeof *s);
    for (size_t k = 0; k < n; k++) {
        const size_t bin = bin_of(v[k].i, v[k].j), to[2] = {bin, BINS + v[k].g * 4 + bin / 3};
        const double w = pow(sigma[v[k].i * NT + v[k].j], -2);
        for (size_t a = 0; a < 2; a++) {
            for (size_t b = 0; b < 2; b++)
                s->W[to[a] * SUMS + to[b]] += w;
            for (size_t c = 0; c < FREE; c++)
                s->X[to[a] * FREE + c] += w * v[k].jac[c];
            s->B[to[a]] += w * v[k].r;
        }
        for (size_t a = 0; a < FREE; a++)
            for (size_t b = 0; b < FREE; b++)
                H[a * FREE + b] += w * v[k].jac[a] * v[k].jac[b];
    }
    assert_int_equal(fit_cholesky(FREE, H, 1e-15), 0);
    for (size_t a = 0; a < FREE; a++) {
        s->D[a * FREE + a] = 1;
        fit_cholesky_solve(FREE, H, s->D + a * FREE);
    }
}

/* Their covariance when the noise of values is independent, W - X D X^T, in units of the variance of values. */
static void covariance(struct sums *s)
{
    for (size_t k = 0; k < SUMS; k++)
        for (size_t l = 0; l < SUMS; l++) {
            s->Q[k * SUMS + l] = s->W[k * SUMS + l];
            for (size_t a = 0; a < FREE; a++)
                for (size_t b = 0; b < FREE; b++)
                    s->Q[k * SUMS + l] -= s->X[k * FREE + a] * s->D[a * FREE + b] * s->X[l * FREE + b];
        }
}

/* chi2 = B^T Q^+ B without the sums that the fit leaves no thousandth of, nor the directions; the sum that is farthest
 * from 0 in *far, in standard deviations. */
static double plain_chi2(struct sums *s, size_t *rank, size_t *worst, double *far)
{
    double root[SUMS], R[SUMS * SUMS], w[SUMS], chi2 = 0, *work = malloc(fit_eigen_work(SUMS) * sizeof *work);
    for (size_t k = 0; k < SUMS; k++) {
        const double q = s->Q[k * SUMS + k];
        root[k] = q > 1e-3 * s->W[k * SUMS + k] ? sqrt(q) : INFINITY;
    }
    *far = 0;
    for (size_t k = 0; k < SUMS; k++) {
        for (size_t l = 0; l < SUMS; l++)
            R[k * SUMS + l] = s->Q[k * SUMS + l] / root[k] / root[l];
        if (fabs(s->B[k] / root[k]) > fabs(*far)) {
            *worst = k;
            *far = s->B[k] / root[k];
        }
    }
    assert_int_equal(fit_eigen(SUMS, R, w, work), 0);
    *rank = 0;
    for (size_t k = 0; k < SUMS; k++) {
        double z = 0;
        for (size_t l = 0; l < SUMS; l++)
            z += R[k * SUMS + l] * s->B[l] / root[l];
        chi2 += w[k] > 1e-3 * w[SUMS - 1] ? z * z / w[k] : 0;
        *rank += w[k] > 1e-3 * w[SUMS - 1];
    }
    free(work);
    return chi2;
}

static void check_place(const struct fit_dataset *ds, const struct fit_speckle_test *t, size_t k)
{
    const double one = ds->layout.step, span = one * (NT - 1);
    const size_t lag = k < BINS ? k / 3 : (k - BINS) % 4;
    const double first[] = {0, 3, ceil(3 * pow(NT / 3.0, 0.275)), ceil(3 * pow(NT / 3.0, 0.55)), NT - 1};
    assert_int_equal(t->group, k < BINS ? -1 : (long)((k - BINS) / 4));
    assert_true(fabs(t->lag[0] - one * fmax(first[lag], 1)) < 1e-12 && fabs(t->lag[1] - one * first[lag + 1]) < 1e-12);
    assert_true(fabs(t->age[0] - (k < BINS ? span * (double)(k % 3) / 3 : 0)) < 1e-12);
    assert_true(fabs(t->age[1] - (k < BINS ? span * (double)(k % 3 + 1) / 3 : span)) < 1e-12);
}

static void check_test_of_fit(double smaller, size_t want)
{
    const struct fit_kernel *k = e2e_kernel("laminar", "fast", NULL);
    static const size_t index[FREE] = {0, 1, 3, 7, 8, 9, 10};
    static struct value v[NG * NT * NT];
    static struct sums s;
    static double sigma[NT * NT];
    unsigned char fixed[] = {0, 0, 1, 0, 1, 1, 1};
    struct fit_dataset *ds = white_data(k, smaller, sigma);
    struct fit_options o;
    fit_options_default(&o);
    o.start = truth;
    o.start_only = 1;
    o.fixed = fixed;
    struct fit_result r = run_fit(k, ds, &o);
    size_t n = pairs_values(k, ds, &r, index, FREE, v), rank, worst = 0;
    double far;
    plain_sums(v, n, sigma, &s);
    covariance(&s);
    const double chi2 = plain_chi2(&s, &rank, &worst, &far), one = sqrt(r.residual_variance);
    assert_int_equal(rank, want);
    assert_int_equal(r.speckle_test.rank, rank);
    assert_true(fabs(r.speckle_test.chi2 / (chi2 / r.residual_variance) - 1) < 1e-5);
    assert_true(fabs(r.speckle_test.z / (far / one) - 1) < 1e-5);
    assert_true(r.speckle_test.p > 0.001 && r.speckle_test.p < 0.999);
    check_place(ds, &r.speckle_test, worst);
    fit_result_free(&r);
    fit_dataset_free(ds);
}

/* Of 20 sums, 12 bins and 4 lags of each of 2 groups, 4 follow from others, and the total of each group is 0. */
static void test_of_independent_noise_by_bins(void **s)
{
    (void)s;
    check_test_of_fit(1, 14);
}

/* The sum over one bin is 0, whatever the noise is: that bin and the lags that hold it are no part of the test; 3 of
 * the other 17 follow from others.  */
static void test_a_bin_that_is_fitted_says_nothing(void **s)
{
    (void)s;
    check_test_of_fit(1e9, 14);
}

/* ---- rows ----------------------------------------------------------------------------------------------- */

static void test_rows_are_hc3(void **s)
{
    const struct fit_kernel *k = e2e_kernel("kww", "fast", NULL);
    double x[NROW], y[NROW];
    const double *column = x, theta[] = {1, 0.8}, lin[] = {0.2, 1};
    struct fit_dataset *ds;
    struct fit_error err = {0};
    struct fit_rng rng = {.seed = 3, .purpose = FIT_RNG_START};
    (void)s;
    for (size_t i = 0; i < NROW; i++) {
        double z;
        x[i] = 0.01 * pow(1e4, (double)i / NROW);
        fit_rng_next_normals(&rng, 1, &z);
        y[i] = lin[1] + lin[0] * exp(-2 * pow(x[i] / theta[0], theta[1])) + z * (i < 10 ? 0.02 : 0.002);
    }
    assert_int_equal(
        fit_dataset_new_table(
            &(struct fit_dataset_table){.nrow = NROW, .ncolumn = 1, .column = &column, .value = y, .center = 1}, &ds,
            &err),
        FIT_OK);
    assert_int_equal(fit_dataset_finish(ds, &err), FIT_OK);
    struct fit_options o;
    fit_options_default(&o);
    o.start = theta;
    o.start_only = 1;
    struct fit_result r = run_fit(k, ds, &o);
    assert_int_equal(r.robust.kind, FIT_ROBUST_ROWS);
    struct e2e_prepared p = e2e_prepare(k, &ds->layout, r.theta);
    static struct value v[NROW];
    double M[16] = {0}, H[16] = {0}, std[4];
    for (uint32_t i = 0; i < NROW; i++) {
        uint32_t zero = 0;
        double mean;
        k->points(&ds->layout, p.ws, r.lin, &(struct fit_points){1, &i, &zero, &zero}, &mean, v[i].jac);
        v[i].score[0] = y[i] - mean;
        for (size_t a = 0; a < 16; a++)
            H[a] += v[i].jac[a / 4] * v[i].jac[a % 4];
    }
    assert_int_equal(fit_cholesky(4, H, 1e-15), 0);
    for (size_t i = 0; i < NROW; i++) {
        double t[4], h = 0;
        memcpy(t, v[i].jac, sizeof t);
        fit_cholesky_solve(4, H, t);
        for (size_t a = 0; a < 4; a++)
            h += t[a] * v[i].jac[a];
        double u = v[i].score[0] / (1 - h);
        for (size_t a = 0; a < 16; a++)
            M[a] += u * u * v[i].jac[a / 4] * v[i].jac[a % 4];
    }
    sandwich(v, NROW, 4, M, std);
    for (size_t a = 0; a < 4; a++)
        assert_true(fabs(r.std_robust[a] / std[a] - 1) < 1e-6);
    /* the contrast hangs on the ten noisy rows: the usual error is far too small */
    assert_true(r.std_robust[2] > 1.5 * r.std[2]);
    e2e_release(&p);
    fit_result_free(&r);
    fit_dataset_free(ds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_one_by_one),
        cmocka_unit_test(test_clusters_of_two_frames_at_all_positions),
        cmocka_unit_test(test_clusters_over_all_angles),
        cmocka_unit_test(test_noise_that_lasts_has_no_errors),
        cmocka_unit_test(test_of_independent_noise_by_bins),
        cmocka_unit_test(test_a_bin_that_is_fitted_says_nothing),
        cmocka_unit_test(test_rows_are_hc3),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
