/* test_loss.c -- robust losses: their sums and weights against the formulas in long double, the median against the
 * histogram that defines it, and the vectors at the edges of tiles. */
#include "leastsquares/objective.h"
#include "leastsquares/robust_loss.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "mock_kernels.h"

enum { VECTORS = 6, GROUPS = 3, N = VECTORS * FIT_LANES };
static const enum fit_loss all_losses[] = {FIT_LOSS_LINEAR, FIT_LOSS_SOFT_L1, FIT_LOSS_HUBER, FIT_LOSS_CAUCHY,
                                           FIT_LOSS_ARCTAN};

/* rho, rho', rho' + 2 z rho''. */
static void exact(enum fit_loss loss, long double z, long double out[3])
{
    long double root = sqrtl(1 + z);
    out[0] = z, out[1] = out[2] = 1;
    if (loss == FIT_LOSS_SOFT_L1)
        out[0] = 2 * (root - 1), out[1] = 1 / root, out[2] = 1 / (root * root * root);
    if (loss == FIT_LOSS_HUBER && z > 1)
        out[0] = 2 * sqrtl(z) - 1, out[1] = 1 / sqrtl(z), out[2] = 0;
    if (loss == FIT_LOSS_CAUCHY)
        out[0] = log1pl(z), out[1] = 1 / (1 + z), out[2] = (1 - z) / ((1 + z) * (1 + z));
    if (loss == FIT_LOSS_ARCTAN)
        out[0] = atanl(z), out[1] = 1 / (1 + z * z), out[2] = (1 - 3 * z * z) / ((1 + z * z) * (1 + z * z));
}

/* Residuals of all sizes, from 1e-9 to 1e4 standard deviations. */
static void fill(double *y, double *mean, double *w0)
{
    uint64_t state = 3;
    for (size_t k = 0; k < N; k++) {
        mean[k] = 1 + 0.1 * (double)k;
        y[k] = mean[k] + 1e-2 * mock_noise(&state) * pow(10, (double)(k % 14) - 9);
        w0[k] = 1e4 * (1 + (double)(k % 3));
    }
}

static void test_sums_and_weights_are_those_of_the_formulas(void **s)
{
    double y[N], mean[N], w0[N], w[N], both[N], moved[N], factor[GROUPS] = {1, 0.5, 3}, sum[FIT_RHO_SUMS];
    const double f = 1.3, curve = 0.7;
    (void)s;
    fill(y, mean, w0);
    for (size_t l = 0; l < sizeof all_losses / sizeof *all_losses; l++) {
        long double want[FIT_RHO_SUMS] = {0}, size[FIT_RHO_SUMS] = {0};
        struct fit_lanes t = {VECTORS, GROUPS, y, mean, w0, factor};
        fit_rho_weights(&t, all_losses[l], f, curve, w, moved);
        fit_rho_both(&t, all_losses[l], f, both, sum);
        for (size_t k = 0; k < N; k++) {
            long double v = w0[k] * factor[k / FIT_LANES % GROUPS], r = y[k] - mean[k], rho[3];
            exact(all_losses[l], v * r * r / (f * f), rho);
            const long double add[] = {0.5L * f * f * rho[0], v * (rho[1] - 1),
                                       v * (rho[2] - 1),      v * r * r * rho[1] * rho[1],
                                       rho[2] - 1,            v * r * r};
            for (size_t i = 0; i < FIT_RHO_SUMS; i++)
                want[i] += add[i], size[i] += fabsl(add[i]) + (i == FIT_RHO_SLOPE || i == FIT_RHO_CURVE ? v : 1);
            assert_true(fabsl(w[k] - curve * v * rho[1]) <= 4e-15L * v * rho[1]);
            assert_true(fabsl(both[k] - v * rho[1]) <= 4e-15L * v * rho[1]);
            assert_true(fabsl(moved[k] - (mean[k] + r / curve)) <= 4e-16L * (fabs(mean[k]) + fabs((double)r)));
        }
        for (size_t i = 0; i < FIT_RHO_SUMS; i++)
            assert_true(fabsl(sum[i] - want[i]) <= 1e-14L * size[i]);
    }
}

static struct fit_objective *open_objective(const struct fit_kernel *k, const struct fit_dataset *ds)
{
    struct fit_objective_setup setup = {.threads = 1};
    struct fit_objective *o = NULL;
    struct fit_error err = {0};
    assert_non_null(ds);
    assert_int_equal(fit_objective_new(k, ds, &setup, &o, &err), FIT_OK);
    return o;
}

static struct fit_dataset *two_groups(size_t n)
{
    static const double contrast[2] = {0.3, 0.2}, offset[2] = {1, 1.1}, sigma[2] = {0.02, 0.02};
    struct mock_pairs m = {n, 2, 0.05, 1.5, 4, contrast, offset, sigma, 1, 17};
    return mock_pairs(&m);
}

/* Of every vector its place and lanes; of edges only those that are not whole. */
struct seen {
    int edges, whole;
    size_t n, at[4000][4];
};

static void see(void *user, size_t g, size_t offset, size_t lo, size_t hi)
{
    struct seen *x = user;
    const size_t v[4] = {g, offset, lo, hi};
    if (!x->edges && lo == 0 && hi == FIT_LANES) {
        x->whole++;
        return;
    }
    assert_true(x->n < sizeof x->at / sizeof *x->at);
    memcpy(x->at[x->n++], v, sizeof v);
}

static int before(const void *a, const void *b)
{
    const size_t *x = a, *y = b;
    return x[1] < y[1] ? -1 : x[1] > y[1];
}

static void check_edges(const struct fit_objective *o)
{
    static struct seen all, edges;
    for (size_t k = 0; k < o->ds->ntile; k++) {
        all = (struct seen){0}, edges = (struct seen){.edges = 1};
        fit_objective_vectors(o, &o->ds->tile[k], see, &all);
        fit_objective_edges(o, &o->ds->tile[k], see, &edges);
        qsort(all.at, all.n, sizeof *all.at, before);
        qsort(edges.at, edges.n, sizeof *edges.at, before);
        assert_int_equal(all.n, edges.n);
        assert_memory_equal(all.at, edges.at, all.n * sizeof *all.at);
    }
}

static void test_edges_are_the_vectors_that_are_not_whole(void **s)
{
    double t[50], y[50];
    (void)s;
    for (size_t n = 9; n <= 60; n++) {
        struct fit_dataset *ds = two_groups(n);
        struct fit_objective *o = open_objective(&fringe, ds);
        check_edges(o);
        fit_objective_free(o);
        fit_dataset_free(ds);
    }
    for (size_t n = 33; n <= 50; n++) {
        for (size_t i = 0; i < n; i++)
            t[i] = 0.1 * (double)i, y[i] = exp(-t[i]) + 0.01 * (double)(i % 3);
        struct fit_dataset *ds = mock_rows(n, t, y, NULL, 0);
        struct fit_objective *o = open_objective(&decay, ds);
        check_edges(o);
        fit_objective_free(o);
        fit_dataset_free(ds);
    }
}

/* What the header promises: bins of a sixteenth of an octave of the size, in units of its root mean square. */
struct sizes {
    struct fit_objective *o;
    double unit, bin[FIT_OBJECTIVE_BINS];
};

static const double *means;
static const struct fit_tile *of;

static void count(void *user, size_t g, size_t offset, size_t lo, size_t hi)
{
    struct sizes *x = user;
    (void)g;
    for (size_t k = offset + lo; k < offset + hi; k++) {
        double r = sqrt(of->w ? of->w[k] : 1) * fabs(of->y[k] - means[k]) / x->unit;
        x->bin[(size_t)fmin(fmax(16 * (log2(r) + 28), 0), FIT_OBJECTIVE_BINS - 1)]++;
    }
}

static size_t count_tile(void *user, const struct fit_tile *t, const double *mean, double *patch)
{
    struct sizes *x = user;
    of = t, means = mean;
    fit_objective_vectors(x->o, t, count, x);
    (void)patch;
    return 0;
}

static void add_nothing(void *user, const struct fit_tile *t, const double *patch, size_t n)
{
    (void)user, (void)t, (void)patch, (void)n;
}

static void test_median_is_that_of_the_histogram(void **s)
{
    const double theta[2] = {1.4, 3.8}, factor[2] = {4, 9};
    (void)s;
    for (int weighted = 0; weighted < 2; weighted++) {
        struct fit_dataset *ds = two_groups(150);
        struct fit_objective *o = open_objective(&fringe, ds);
        struct sizes x = {.o = o};
        double median, total = 0, below = 0;
        fit_objective_group_factor(o, weighted ? factor : NULL);
        assert_int_equal(fit_objective_value(o, theta), FIT_EVAL_OK);
        assert_int_equal(fit_objective_median(o, theta, &median), FIT_EVAL_OK);
        x.unit = sqrt((o->ssr[0] + o->ssr[1]) / (double)o->npoint);
        assert_int_equal(fit_objective_residuals(o, &(struct fit_residual_patches){1, &x, count_tile, add_nothing}),
                         FIT_EVAL_OK);
        for (size_t k = 0; k < FIT_OBJECTIVE_BINS; k++)
            total += x.bin[k];
        size_t k = 0;
        for (; below + x.bin[k] < total / 2; k++)
            below += x.bin[k];
        double want = x.unit * exp2(((double)k + (total / 2 - below) / x.bin[k]) / 16 - 28);
        assert_true(total > 20000 && fabs(median - want) < 1e-12 * want);
        fit_objective_free(o);
        fit_dataset_free(ds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_and_weights_are_those_of_the_formulas),
        cmocka_unit_test(test_edges_are_the_vectors_that_are_not_whole),
        cmocka_unit_test(test_median_is_that_of_the_histogram),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
