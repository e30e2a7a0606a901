/* test_linalg.c -- factorisations reproduce their matrices; the box program agrees with
 * enumeration. */
#include "math/linalg.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const uint64_t BITS = 0xfb9f4a287f1286aa; /* test_the_bits_are_those_of_every_machine */
static uint64_t state = 1;

static double uniform(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(state >> 11) * 0x1p-52 - 1;
}

/* a = m^T m of a random m with n + extra rows. */
static void random_spd(size_t n, size_t rows, double *a)
{
    double m[20 * 20];
    for (size_t i = 0; i < rows * n; i++)
        m[i] = uniform();
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            a[i * n + j] = 0;
            for (size_t k = 0; k < rows; k++)
                a[i * n + j] += m[k * n + i] * m[k * n + j];
        }
}

/* Rows side by side have the bits of rows one by one. */
static void test_cholesky_sums_in_order(void **s)
{
    enum { N = 29 };
    double a[N * N], l[N * N];
    (void)s;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            a[i * N + j] = l[i * N + j] = cos((double)(i * j)) / (1 + fabs((double)i - (double)j)) + (i == j ? N : 0);
    for (size_t j = 0; j < N; j++)
        for (size_t i = j; i < N; i++) {
            double t = a[i * N + j];
            for (size_t k = 0; k < j; k++)
                t -= a[i * N + k] * a[j * N + k];
            a[i * N + j] = i == j ? sqrt(t) : t / a[j * N + j];
        }
    assert_int_equal(fit_cholesky(N, l, 1e-14), 0);
    for (size_t i = 0; i < N; i++)
        assert_memory_equal(l + i * N, a + i * N, (i + 1) * sizeof *a);
}

static void test_cholesky_solves_and_names_the_bad_pivot(void **s)
{
    double a[36], l[36], x[6], b[6];
    (void)s;
    random_spd(6, 8, a);
    memcpy(l, a, sizeof a);
    for (size_t i = 0; i < 6; i++) {
        x[i] = uniform();
        b[i] = 0;
    }
    for (size_t i = 0; i < 6; i++)
        for (size_t j = 0; j < 6; j++)
            b[i] += a[i * 6 + j] * x[j];
    assert_int_equal(fit_cholesky(6, l, 1e-14), 0);
    fit_cholesky_solve(6, l, b);
    for (size_t i = 0; i < 6; i++)
        assert_true(fabs(b[i] - x[i]) < 1e-11);
    double singular[9] = {1, 1, 0, 1, 1, 0, 0, 0, 1};
    assert_int_equal(fit_cholesky(3, singular, 1e-14), 2);
}

static void test_eigenvectors_rebuild_the_matrix_in_ascending_order(void **s)
{
    double a[25], v[25], w[5], work[200];
    (void)s;
    random_spd(5, 7, a);
    memcpy(v, a, sizeof a);
    assert_true(fit_eigen_work(5) <= 200);
    assert_int_equal(fit_eigen(5, v, w, work), 0);
    for (size_t i = 0; i < 5; i++) {
        assert_true(i == 0 || w[i] >= w[i - 1]);
        for (size_t j = 0; j < 5; j++) {
            double t = 0;
            for (size_t k = 0; k < 5; k++)
                t += w[k] * v[k * 5 + i] * v[k * 5 + j];
            assert_true(fabs(t - a[i * 5 + j]) < 1e-13 * w[4]);
        }
    }
    a[3] = NAN;
    assert_int_not_equal(fit_eigen(5, a, w, work), 0);
}

/* Largest of |V^T W V - A| and |V V^T - 1|, against the largest element of A. */
static double rebuilt(size_t n, const double *a, const double *v, const double *w)
{
    double worst = 0, size = 0;
    for (size_t i = 0; i < n * n; i++)
        size = fmax(size, fabs(a[i]));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double t = 0, u = 0;
            for (size_t k = 0; k < n; k++) {
                t += size > 0 ? w[k] / size * v[k * n + i] * v[k * n + j] : 0;
                u += v[i * n + k] * v[j * n + k];
            }
            worst = fmax(worst, fabs(t - (size > 0 ? a[i * n + j] / size : 0)));
            worst = fmax(worst, fabs(u - (i == j)));
        }
    return worst;
}

/* Kinds of matrices that are hard for one method or the other. */
static double element(int kind, size_t n, size_t i, size_t j)
{
    const double x = (double)i, y = (double)j, m = (double)n;
    switch (kind) {
    case 0: return sin(1 + x * y) + (i == j ? x : 0);                   /* no structure, indefinite */
    case 1: return pow(10, -(x + y) / m * 8) * (1 + cos(x - y));        /* graded downward */
    case 2: return pow(10, (x + y) / m * 8) * (1 + cos(x - y));         /* graded upward */
    case 3: return i == j ? 3 : 1;                                      /* n - 1 equal eigenvalues */
    case 4: return (1 + x) * (1 + y);                                   /* of rank one */
    case 5: return i + 1 == j || j + 1 == i ? 1 : i == j ? fabs(x - m / 2) : 0; /* Wilkinson's: pairs to the last bit */
    case 6: return 1e-290 / (x + y + 1);
    case 7: return 1e290 / (x + y + 1);
    case 8: return i == j && i % 2 ? -1 : 0;
    default: return 0;
    }
}

static void test_eigenvectors_of_difficult_matrices(void **s)
{
    static const size_t size[] = {1, 2, 3, 4, 7, 16, 33, 120};
    (void)s;
    for (int kind = 0; kind < 10; kind++)
        for (size_t z = 0; z < sizeof size / sizeof *size; z++) {
            const size_t n = size[z];
            double *a = malloc((2 * n * n + n + fit_eigen_work(n)) * sizeof *a), *v = a + n * n, *w = v + n * n;
            for (size_t i = 0; i < n; i++)
                for (size_t j = 0; j < n; j++)
                    a[i * n + j] = element(kind, n, i < j ? i : j, i < j ? j : i);
            memcpy(v, a, n * n * sizeof *v);
            assert_int_equal(fit_eigen(n, v, w, w + n), 0);
            for (size_t k = 1; k < n; k++)
                assert_true(w[k] >= w[k - 1]);
            if (!(rebuilt(n, a, v, w) < 4e-16 * (double)(n + 8) * sqrt((double)n)))
                fail_msg("kind %d, n = %zu: off by %g", kind, n, rebuilt(n, a, v, w));
            free(a);
        }
}

/* Small eigenvalues of a graded matrix keep their digits: D S D with S well conditioned, large elements first or last.
 */
static void test_small_eigenvalues_of_graded_matrices(void **s)
{
    enum { N = 6 };
    double up[N * N], down[N * N], a[N], b[N], work[8 * N + 32];
    (void)s;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            up[i * N + j] = pow(1e-3, (double)(i + j)) * (i == j ? 2 : 0.5);
            down[(N - 1 - i) * N + N - 1 - j] = up[i * N + j];
        }
    assert_int_equal(fit_eigen(N, up, a, work), 0);
    assert_int_equal(fit_eigen(N, down, b, work), 0);
    double product = 1, determinant = pow(1.5, N - 1) * (1.5 + 0.5 * N); /* of S: 1.5 + ones / 2 */
    for (size_t k = 0; k < N; k++) {
        assert_true(fabs(a[k] / b[k] - 1) < 1e-12);
        product *= a[k];
        determinant *= pow(1e-6, (double)k);
    }
    assert_true(fabs(product / determinant - 1) < 1e-12);
}

/* Not one bit depends on the machine: its vectors, its fused operations, its libraries. */
static void test_the_bits_are_those_of_every_machine(void **s)
{
    enum { N = 24 };
    double a[N * N], w[N], r[N * N], b[N], work[N * N], u[N * N], sv[N];
    uint64_t sum = 14695981039346656037u; /* FNV-1a of all results, but for the signs of zeros */
    (void)s;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            a[i * N + j] = 1 / (double)(i + j + 1) + (i == j);
            u[i * N + j] = i <= j ? 1 / (double)(1 + 2 * i + 3 * j) + (i == j) : 0;
            r[i * N + j] = a[i * N + j] + (double)(i * j % 7) / 8;
        }
    for (size_t i = 0; i < N; i++)
        b[i] = 1 / (double)(i + 3);
    assert_true(fit_eigen_work(N) <= N * N && fit_qr_work(N, N) <= N * N);
    assert_int_equal(fit_eigen(N, a, w, work), 0);
    assert_int_equal(fit_singular(N, u, sv), 0);
    double *const result[] = {a, w, u, sv};
    const size_t size[] = {N * N, N, N * N, N};
    for (size_t k = 0; k < 4; k++)
        for (size_t i = 0; i < size[k]; i++) {
            const double x = result[k][i] + 0.0;
            uint64_t bits;
            memcpy(&bits, &x, sizeof bits);
            sum = (sum ^ bits) * 1099511628211u;
        }
    double triangle[N * N];
    assert_int_equal(fit_qr_solve(N, N, r, b, triangle, 1e-14, work), 0);
    for (size_t i = 0; i < N; i++) {
        uint64_t bits;
        memcpy(&bits, &b[i], sizeof bits);
        sum = (sum ^ bits) * 1099511628211u;
    }
    if (sum != BITS)
        fail_msg("the sum of the bits is %#llx", (unsigned long long)sum);
}

static void test_qr_finds_a_polynomial_that_normal_equations_lose(void **s)
{
    enum { M = 40, N = 9 };
    static double a[M * N], b[M], r[N * N];
    double *work = malloc(fit_qr_work(M, N) * sizeof *work);
    (void)s;
    for (size_t i = 0; i < M; i++) {
        double t = (double)i / (M - 1), p = 1;
        b[i] = 0;
        for (size_t k = 0; k < N; k++, p *= t) {
            a[i * N + k] = p;
            b[i] += p * (double)(k + 1);
        }
    }
    assert_int_equal(fit_qr_solve(M, N, a, b, r, 1e-14, work), 0);
    for (size_t k = 0; k < N; k++)
        assert_true(fabs(b[k] - (double)(k + 1)) <
                    1e-8); /* condition 1e7; squared, nothing would be left */
    for (size_t i = 0; i < M; i++)
        a[i * N] = a[i * N + 1] = 1;
    assert_int_not_equal(fit_qr_solve(M, N, a, b, r, 1e-12, work), 0);
    free(work);
}

static double quadratic(size_t n, const double *a, const double *b, const double *x)
{
    double t = 0;
    for (size_t i = 0; i < n; i++) {
        t -= b[i] * x[i];
        for (size_t j = 0; j < n; j++)
            t += 0.5 * x[i] * a[i * n + j] * x[j];
    }
    return t;
}

/* Least value over all 3^n guesses of who is on which bound. */
static double enumerate(size_t n, const double *a, const double *b, const double *lo,
                        const double *hi)
{
    double best = INFINITY;
    size_t all = 1;
    for (size_t i = 0; i < n; i++)
        all *= 3;
    for (size_t code = 0; code < all; code++) {
        double x[4], m[16], rhs[4];
        size_t free_[4], nf = 0, c = code;
        for (size_t i = 0; i < n; i++, c /= 3) {
            x[i] = c % 3 == 1 ? lo[i] : hi[i];
            if (c % 3 == 0)
                free_[nf++] = i;
        }
        for (size_t r = 0; r < nf; r++)
            x[free_[r]] = 0;
        for (size_t r = 0; r < nf; r++) {
            rhs[r] = b[free_[r]];
            for (size_t j = 0; j < n; j++)
                rhs[r] -= a[free_[r] * n + j] * x[j];
            for (size_t k = 0; k < nf; k++)
                m[r * nf + k] = a[free_[r] * n + free_[k]];
        }
        if (fit_cholesky(nf, m, 1e-15))
            continue;
        fit_cholesky_solve(nf, m, rhs);
        int inside = 1;
        for (size_t r = 0; r < nf; r++) {
            x[free_[r]] = rhs[r];
            inside &= rhs[r] >= lo[free_[r]] && rhs[r] <= hi[free_[r]];
        }
        if (inside)
            best = fmin(best, quadratic(n, a, b, x));
    }
    return best;
}

static void test_singular_values_are_relatively_accurate(void **s)
{
    /* columns of unit length, the second 1e-9 away from the first */
    enum { N = 3 };
    double c = 1e-9, a[N * N] = {1, sqrt(1 - c * c), 0.6, 0, c, 0, 0, 0, 0.8}, b[N * N], w[N];
    (void)s;
    memcpy(b, a, sizeof b);
    assert_int_equal(fit_singular(N, a, w), 0);
    assert_true(w[0] < w[1] && w[1] < w[2]);
    assert_true(fabs(w[0] * w[1] * w[2] / (c * 0.8) - 1) < 1e-13); /* the determinant */
    for (size_t p = 0; p < N; p++)
        for (size_t q = 0; q < N; q++) {
            double dot = 0, first = 0, second = 0; /* b^T b = V w^2 V^T */
            for (size_t k = 0; k < N; k++) {
                dot += a[p * N + k] * a[q * N + k];
                first += b[k * N + p] * b[k * N + q];
                second += a[k * N + p] * w[k] * w[k] * a[k * N + q];
            }
            assert_true(fabs(dot - (p == q)) < 1e-14);
            assert_true(fabs(first - second) < 1e-14);
        }
    a[1] = NAN;
    assert_true(fit_singular(N, a, w) != 0);
}

/* Two columns of unit length at angle a: sqrt(1 - |cos a|), sqrt(1 + |cos a|).  In one of a hundred the
 * cosine that is left never falls below one rounding. */
static void test_singular_values_of_two_columns(void **unused)
{
    (void)unused;
    for (int k = 1; k < 3000; k++) {
        double cosine = cos(k * 1e-3 * 1.0471), sine = sin(k * 1e-3 * 1.0471);
        double a[4] = {1, cosine, 0, sine}, w[2];
        assert_int_equal(fit_singular(2, a, w), 0);
        assert_true(fabs(w[0] - sqrt(1 - fabs(cosine))) < 1e-15 / w[0]);
        assert_true(fabs(w[1] - sqrt(1 + fabs(cosine))) < 1e-14);
    }
}

static void test_box_program_agrees_with_enumeration(void **s)
{
    (void)s;
    for (int trial = 0; trial < 2000; trial++) {
        size_t n = 1 + (size_t)trial % 4;
        double a[16], b[4], lo[4], hi[4], ref[4] = {0}, x[4], work[100];
        signed char at[4];
        random_spd(n, n + 1, a);
        for (size_t i = 0; i < n; i++) {
            b[i] = uniform();
            lo[i] = uniform();
            hi[i] = lo[i] + fabs(uniform());
        }
        assert_true(fit_boxqp_work(n) <= 100);
        assert_true(fit_boxqp(&(struct fit_box){n, a, b, lo, hi, ref}, x, at, work) >= 0);
        for (size_t i = 0; i < n; i++) {
            assert_true(x[i] >= lo[i] && x[i] <= hi[i]);
            assert_true(at[i] == 0 || x[i] == (at[i] < 0 ? lo[i] : hi[i])); /* exactly */
        }
        double best = enumerate(n, a, b, lo, hi);
        assert_true(quadratic(n, a, b, x) <= best + 1e-10 * (1 + fabs(best)));
    }
}

static void test_box_program_keeps_to_the_reference_where_the_matrix_is_silent(void **s)
{
    /* only x0 + x1 = 2 is asked for, and nothing of x2 */
    double a[9] = {1, 1, 0, 1, 1, 0, 0, 0, 0}, b[3] = {2, 2, 0}, x[3], work[80];
    double lo[3] = {-INFINITY, -INFINITY, -5}, hi[3] = {INFINITY, INFINITY, 5}, ref[3] = {3, 1, 4};
    signed char at[3];
    (void)s;
    assert_true(fit_boxqp(&(struct fit_box){3, a, b, lo, hi, ref}, x, at, work) > 0);
    assert_true(fabs(x[0] + x[1] - 2) < 1e-9);
    assert_true(fabs(x[0] - 2) < 1e-2 && fabs(x[1]) < 1e-2); /* nearest to (3, 1) */
    assert_true(x[2] == 4);
    b[0] = NAN;
    assert_true(fit_boxqp(&(struct fit_box){3, a, b, lo, hi, ref}, x, at, work) < 0);
}

static void test_large_box_program_satisfies_the_kkt_conditions(void **s)
{
    enum { N = 18 };
    static double a[N * N], b[N], lo[N], hi[N], ref[N], x[N];
    signed char at[N];
    double *work = malloc(fit_boxqp_work(N) * sizeof *work);
    (void)s;
    for (int trial = 0; trial < 50; trial++) {
        random_spd(N, N, a);
        for (size_t i = 0; i < N; i++) {
            b[i] = 3 * uniform();
            lo[i] = i % 3 ? -0.1 : -INFINITY;
            hi[i] = i % 4 ? 0.2 : 0;
        }
        assert_true(fit_boxqp(&(struct fit_box){N, a, b, lo, hi, ref}, x, at, work) >= 0);
        for (size_t i = 0; i < N; i++) {
            double g = -b[i];
            for (size_t j = 0; j < N; j++)
                g += a[i * N + j] * x[j];
            assert_true(at[i] < 0 ? g > -1e-8 : at[i] > 0 ? g < 1e-8 : fabs(g) < 1e-8);
        }
    }
    free(work);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cholesky_sums_in_order),
        cmocka_unit_test(test_cholesky_solves_and_names_the_bad_pivot),
        cmocka_unit_test(test_eigenvectors_rebuild_the_matrix_in_ascending_order),
        cmocka_unit_test(test_eigenvectors_of_difficult_matrices),
        cmocka_unit_test(test_small_eigenvalues_of_graded_matrices),
        cmocka_unit_test(test_the_bits_are_those_of_every_machine),
        cmocka_unit_test(test_qr_finds_a_polynomial_that_normal_equations_lose),
        cmocka_unit_test(test_singular_values_are_relatively_accurate),
        cmocka_unit_test(test_singular_values_of_two_columns),
        cmocka_unit_test(test_box_program_agrees_with_enumeration),
        cmocka_unit_test(test_box_program_keeps_to_the_reference_where_the_matrix_is_silent),
        cmocka_unit_test(test_large_box_program_satisfies_the_kkt_conditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
