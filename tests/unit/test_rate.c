/* test_rate.c -- coordinates of rates: there and back, derivatives against differences, the Jacobian as a determinant,
 * the same density by quadrature, the limit without bounds, bounds kept, fixed parts, and rates that have no
 * coordinates. */
#include "posterior/rate_coordinates.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define INF INFINITY
enum { A = FIT_RATE_A, C = FIT_RATE_C, E = FIT_RATE_E, X = FIT_RATE_X, PARTS = FIT_RATE_PARTS };
enum { COORDINATES = FIT_RATE_COORDINATES };

/* What a map is made of: bounds of A, C, E, X (equal: fixed), and a point inside. */
struct sample {
    const char *name;
    double reference, bounds[PARTS][2], start[PARTS], width;
};

static const struct sample samples[] = {
    {"transport coefficient", 1.5, {{100, 1e5}, {-1e5, 1e5}, {-2, 2}, {0, 0}}, {6000, -200, -0.3, 0}, 0},
    {"shear rate", 1.5, {{1e-6, 0.5}, {-0.1, 0.1}, {-2, 2}, {0, 0}}, {0.003, 2e-4, 0.4, 0}, 0},
    {"no bounds", -2, {{0, INF}, {0, INF}, {-INF, INF}, {0, 0}}, {2, 3, 0.1, 0}, 0},
    {"bounds near", 0.7, {{100, 5000}, {50, 200}, {-1, 3}, {0, 0}}, {700, 100, 0.7, 0}, 0},
    {"no bound of the offset", 0.7, {{0, INF}, {-INF, INF}, {-0.5, INF}, {0, 0}}, {5, -3, 0.5, 0}, 0},
    {"offset fixed", 1.5, {{100, 1e5}, {30, 30}, {-2, 2}, {0, 0}}, {500, 30, 0.2, 0}, 0},
    {"offset below 0 fixed", 1.5, {{100, 1e5}, {-30, -30}, {-2, 2}, {0, 0}}, {500, -30, -0.2, 0}, 0},
    {"amplitude fixed", 1.5, {{800, 800}, {-1e3, 1e5}, {-2, 2}, {0, 0}}, {800, 20, 0.2, 0}, 0},
    {"exponent above 0", 1.5, {{100, 1e5}, {-1e5, 1e5}, {0.1, 2}, {0, 0}}, {6000, -200, 0.3, 0}, 0},
    {"exponent fixed", 1.5, {{100, 1e5}, {-1e5, 1e5}, {0.4, 0.4}, {0, 0}}, {6000, -200, 0.4, 0}, 0},
    {"fraction", 10, {{0, 1}, {0, 1}, {-10, 10}, {-1e4, 1e4}}, {0.5, 0.1, 0.02, 9}, 1000},
    {"fraction, falling", 10, {{0, 1}, {-1, 1}, {-10, 10}, {-300, 200}}, {0.4, 0.3, -0.03, 5}, 70},
    {"fraction, nearly constant", 10, {{0, 1}, {-1, 1}, {-10, 10}, {-1e4, 1e4}}, {0.4, 0.3, -1e-4, 5}, 1000},
    {"fraction, constant", 10, {{0, 9}, {0, 9}, {-10, 10}, {-1e4, 1e4}}, {0.3, 0.2, 0, 5}, 1000},
    {"fraction with bounds near", 10, {{0.2, 0.6}, {0, 1}, {-10, 10}, {-1e3, 2e3}}, {0.4, 0.3, -0.01, 5}, 400},
    {"time without bounds", 10, {{0, 1}, {-1, 1}, {-10, 10}, {-INF, INF}}, {0.4, 0.3, 0.03, -50}, 1000},
    {"exponent fixed beside a time", 10, {{0, 1}, {0, 1}, {0.02, 0.02}, {-1e4, 1e4}}, {0.5, 0.1, 0.02, 9}, 1000},
    {"offset fixed beside a time", 10, {{0, 1}, {0, 0}, {-1, 1}, {-1e4, 1e4}}, {0.5, 0, 0.02, 9}, 1000},
};
enum { SAMPLES = sizeof samples / sizeof *samples };

static struct fit_rate_map map_of(const struct sample *s)
{
    struct fit_rate_map m = {.reference = s->reference, .width = s->width};
    for (int n = 0; n < PARTS; n++) {
        m.part[n] = fit_coordinate_for(s->bounds[n][0], s->bounds[n][1]);
        m.fixed[n] = s->bounds[n][0] == s->bounds[n][1];
        m.start[n] = s->start[n];
    }
    return m;
}

static void point(const struct fit_rate_map *m, const double *q, struct fit_rate_point *p)
{
    assert_true(fit_rate_at(m, q, p));
}

/* Fourth-order difference of part n, or of the logarithm of the Jacobian (PARTS), along coordinate k.  y is a slope and
 * may be small; beside a shift its scale is that of the bounds of b, which go away as 1 / E. */
static double difference(const struct fit_rate_map *m, const double *q, int k, int n)
{
    const double h = 1e-3 * (k != FIT_RATE_Y ? 1 : m->fixed[X] ? fabs(q[k]) : 0.1), weight[] = {1, -8, 8, -1};
    const int step[] = {-2, -1, 1, 2};
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        double y[COORDINATES];
        struct fit_rate_point p;
        memcpy(y, q, sizeof y);
        y[k] += step[i] * h;
        point(m, y, &p);
        sum += weight[i] * (n == PARTS ? p.log_slope : p.part[n]);
    }
    return sum / (12 * h);
}

/* Determinant of a (n x n), by elimination with the largest pivot. */
static double determinant(int n, double a[PARTS][PARTS])
{
    double product = 1;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            best = fabs(a[i][k]) > fabs(a[best][k]) ? i : best;
        for (int j = 0; j < n; j++) {
            double t = a[k][j];
            a[k][j] = a[best][j];
            a[best][j] = t;
        }
        product *= a[k][k];
        for (int i = k + 1; i < n; i++)
            for (int j = n - 1; j >= k; j--)
                a[i][j] -= a[i][k] / a[k][k] * a[k][j];
    }
    return fabs(product);
}

static double jacobian(const struct fit_rate_map *m, const struct fit_rate_point *p)
{
    double a[PARTS][PARTS];
    int row = 0, column = 0;
    for (int n = 0; n < PARTS; n++) {
        if (m->fixed[n])
            continue;
        column = 0;
        for (int k = 0; k < COORDINATES; k++)
            if (fit_rate_uses(m, k))
                a[row][column++] = p->d_part[n][k];
        row++;
    }
    assert_int_equal(row, column);
    return determinant(row, a);
}

static void check_inside(const struct fit_rate_map *m, const struct fit_rate_point *p)
{
    for (int n = 0; n < PARTS; n++)
        assert_true(p->part[n] >= m->part[n].lower && p->part[n] <= m->part[n].upper);
}

/* Points around that of the sample. */
static void nearby(const struct fit_rate_map *m, int i, double *q)
{
    assert_true(fit_rate_of(m, m->start, q));
    for (int k = 0; k < COORDINATES; k++, i /= 3)
        if (fit_rate_uses(m, k))
            q[k] += (i % 3 - 1) * (k == FIT_RATE_Y && m->fixed[X] ? 0.05 * fabs(q[k]) : 0.4);
}

static void test_there_and_back_with_derivatives(void **state)
{
    (void)state;
    double worst = 0;
    for (size_t s = 0; s < SAMPLES; s++)
        for (int i = 0; i < 81; i++) {
            struct fit_rate_map m = map_of(&samples[s]);
            struct fit_rate_point p;
            double q[COORDINATES], back[COORDINATES], scale = 1e-3;
            nearby(&m, i, q);
            point(&m, q, &p);
            check_inside(&m, &p);
            for (int n = 0; n < PARTS; n++)
                scale = fmax(scale, fabs(p.part[n]));
            for (int k = 0; k < COORDINATES; k++)
                for (int n = 0; n <= PARTS && fit_rate_uses(&m, k); n++) {
                    double d = n == PARTS ? p.d_log_slope[k] : p.d_part[n][k], unit = n == PARTS ? 1 : scale;
                    double off = fabs(difference(&m, q, k, n) - d) / fmax(unit, fabs(d));
                    if (!(off < 1e-7)) /* h^4 = 1e-12 times a fifth derivative, rounding 1e-16 / h times cancellation */
                        fail_msg("%s: part %d along coordinate %d: %.12g, by differences %.12g", samples[s].name, n, k,
                                 d, difference(&m, q, k, n));
                    worst = fmax(worst, off);
                }
            if (!(fabs(p.log_slope - log(jacobian(&m, &p))) < 1e-8))
                fail_msg("%s: %.12g is no log determinant, %.12g is", samples[s].name, p.log_slope,
                         log(jacobian(&m, &p)));
            assert_true(fit_rate_of(&m, p.part, back));
            for (int k = 0; k < COORDINATES; k++)
                if (fit_rate_uses(&m, k) && !(fabs(back[k] - q[k]) < 1e-6 * fmax(1, fabs(q[k]))))
                    fail_msg("%s: coordinate %d comes back as %.12g, not %.12g", samples[s].name, k, back[k], q[k]);
        }
    printf("    derivatives within %.1e\n", worst);
}

/* The start itself keeps its value. */
static void test_the_start_is_kept(void **state)
{
    (void)state;
    for (size_t s = 0; s < SAMPLES; s++) {
        struct fit_rate_map m = map_of(&samples[s]);
        struct fit_rate_point p;
        double q[COORDINATES];
        assert_true(fit_rate_of(&m, m.start, q));
        point(&m, q, &p);
        for (int n = 0; n < PARTS; n++)
            if (!(fabs(p.part[n] - m.start[n]) <= 1e-9 * fmax(fabs(m.start[A]), fabs(m.start[n]))))
                fail_msg("%s: part %d comes back as %.15g, not %.15g", samples[s].name, n, p.part[n], m.start[n]);
    }
}

/* The integral of a density over the parameters is that over the coordinates: f0 and f2 at given f1 and f3, where data
 * know f0 exp(-f1 f2) alone.  Density: normal in log S (width 0.05), in A (0.5, 0.25) and X (0, 1000). */
static double log_density(const struct fit_rate_point *p, double reference)
{
    double S = p->part[A] * exp(p->part[E] * (reference - p->part[X])), a = (log(S) - log(0.5)) / 0.05;
    double b = (p->part[A] - 0.5) / 0.25, x = p->part[X] / 1000;
    return -0.5 * (a * a + b * b + x * x);
}

static void test_the_same_mass_in_both(void **state)
{
    (void)state;
    struct sample s = {"quadrature", 10, {{0, 1}, {0, 0}, {0.02, 0.02}, {-1e4, 1e4}}, {0.5, 0, 0.02, 9}, 1000};
    double mass[2] = {0};
    const double du = 0.008, dz = 0.05;
    struct fit_rate_map m = map_of(&s);
    double q[COORDINATES];
    assert_true(fit_rate_of(&m, m.start, q));
    for (int i = -500; i <= 500; i++) /* the trapezoidal rule: the density vanishes at the ends */
        for (int j = -100; j <= 100; j++) {
            double z[COORDINATES] = {q[0] + du * j, 0, 0, q[3] + dz * i};
            struct fit_rate_point p;
            if (fit_rate_at(&m, z, &p))
                mass[0] += du * dz * exp(log_density(&p, 10) + p.log_slope);
        }
    for (int i = 1; i < 2000; i++) /* over A, and over log S instead of X: dX = d log S / E */
        for (int j = -100; j <= 100; j++) {
            double a = i / 2000.0, log_s = log(0.5) + 0.005 * j, x = 10 - (log_s - log(a)) / 0.02;
            struct fit_rate_point p = {.part = {a, 0, 0.02, x}};
            mass[1] += 0.005 / 2000 / 0.02 * exp(log_density(&p, 10));
        }
    printf("    %.10g in the coordinates, %.10g in the parameters\n", mass[0], mass[1]);
    assert_true(fabs(mass[0] / mass[1] - 1) < 1e-3); /* the sum over A cuts the density at 0 and 1 */
}

static void test_without_bounds_it_is_the_logarithm(void **state)
{
    (void)state;
    struct sample s = {"", 1.5, {{0, INF}, {-INF, INF}, {-INF, INF}, {0, 0}}, {5, 0, -0.4, 0}, 0};
    struct fit_rate_map m = map_of(&s);
    struct fit_rate_point p;
    const double q[COORDINATES] = {7, 0.3, -0.9, 0};
    point(&m, q, &p);
    double c = exp(p.part[E] * 1.5), T = p.part[A] * c + p.part[C];
    assert_true(fabs(log(T) - 7) < 1e-14);
    assert_true(fabs(p.part[A] * c / T - 2 * log1p(exp(0.3))) < 1e-14);
    assert_true(fabs(p.part[E] * p.part[A] * c / T - -0.9) < 1e-14); /* the slope of the logarithm */
}

/* However far the coordinates are, there are numbers within bounds or none at all. */
static void test_far_away_bounds_hold(void **state)
{
    (void)state;
    for (size_t s = 0; s < SAMPLES; s++)
        for (int i = 0; i < 2401; i++) {
            static const double far[] = {-800, -60, -10, 0, 10, 60, 800};
            struct fit_rate_map m = map_of(&samples[s]);
            double q[COORDINATES] = {far[i % 7], far[i / 7 % 7], far[i / 49 % 7], far[i / 343]};
            struct fit_rate_point p;
            if (fit_rate_at(&m, q, &p))
                check_inside(&m, &p);
        }
}

static void test_where_there_are_none(void **state)
{
    (void)state;
    struct fit_rate_map m = map_of(&samples[0]), shear = map_of(&samples[1]);
    struct sample none = {"", 0, {{0, 5}, {-10, -6}, {-1, 1}, {0, 0}}, {5, -6, 0, 0}, 0};
    struct fit_rate_map negative = map_of(&none);
    struct fit_rate_point p;
    double q[COORDINATES] = {0};
    assert_false(fit_rate_at(&negative, q, &p));                            /* no rate is above 0 */
    assert_false(fit_rate_of(&m, (double[]){1000, -1e5, 0, 0}, q));         /* the rate is below 0 */
    assert_true(fit_rate_of(&m, (double[]){100, 1e5, 0, 0}, q));            /* a corner */
    assert_true(isfinite(q[0]) && isfinite(q[1]));
    assert_true(fit_rate_of(&shear, (double[]){0.003, 0, 0.3, 0}, q));      /* small beside the bounds: not moved */
    point(&shear, q, &p);
    assert_true(fabs(p.part[A] - 0.003) < 1e-15 && fabs(p.part[C]) < 1e-15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back_with_derivatives),
        cmocka_unit_test(test_the_start_is_kept),
        cmocka_unit_test(test_the_same_mass_in_both),
        cmocka_unit_test(test_without_bounds_it_is_the_logarithm),
        cmocka_unit_test(test_far_away_bounds_hold),
        cmocka_unit_test(test_where_there_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
