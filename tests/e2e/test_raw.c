/* test_raw.c -- tiles in single precision (fit_tile.raw) give the sums of the same values in double precision, bit for
 * bit, in every emitted kernel of pairs that this machine can run.
 *
 * The matrices end where a page ends behind which nothing may be read; below the diagonal there is no number.
 */
#define _DEFAULT_SOURCE
#include "support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "machine/cpu.h"
#include "math/rng.h"

enum { NT = 151, NG = 3, FIRST = 5 };

/* NG matrices of NT x NT floats before a page that cannot be read. */
struct matrices {
    void *map;
    size_t bytes;
    float *value;
};

static struct matrices matrices_new(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), need = NG * NT * NT * sizeof(float);
    struct matrices m = {.bytes = (need + page - 1) / page * page + page};
    m.map = mmap(NULL, m.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(m.map, MAP_FAILED);
    unsigned char *end = (unsigned char *)m.map + m.bytes - page;
    m.value = (float *)(void *)(end - need);
    double z[2];
    for (size_t g = 0; g < NG; g++)
        for (size_t i = 0; i < NT; i++)
            for (size_t j = 0; j < NT; j++) {
                fit_rng_normal(11, g, i * NT + j, z);
                m.value[(g * NT + i) * NT + j] = j > i ? (float)(1.1 + 0.05 * z[0]) : NAN;
            }
    assert_int_equal(mprotect(end, page, PROT_NONE), 0);
    return m;
}

/* Used frames FIRST .. NT - 1. */
static struct fit_dataset *dataset_of(const struct fit_kernel *k, const struct matrices *m)
{
    static const double phi[NG] = {-4, 33, 60};
    uint32_t frame[NT - FIRST];
    struct fit_error err = {0};
    for (uint32_t i = 0; i < NT - FIRST; i++)
        frame[i] = FIRST + i;
    struct e2e_grid grid = {.ntime = NT, .dt = 0.1, .q = 0.0054, .gap = 2e6, .nphi = NG, .phi = phi,
                            .nframe = NT - FIRST, .frame = frame};
    struct fit_dataset *ds = e2e_dataset(k, &grid);
    double *matrix = e2e_doubles(NT * NT);
    for (size_t g = 0; g < NG; g++) {
        for (size_t n = 0; n < NT * NT; n++)
            matrix[n] = (double)m->value[g * NT * NT + n];
        assert_int_equal(fit_dataset_put(ds, g, matrix, NULL, &err), FIT_OK);
    }
    free(matrix);
    assert_int_equal(fit_dataset_finish(ds, &err), FIT_OK);
    return ds;
}

static struct fit_tile raw_tile(const struct fit_dataset *ds, const struct fit_tile *t, const struct matrices *m,
                                const float *raw[NG], double *row)
{
    struct fit_tile own = *t;
    for (size_t g = 0; g < NG; g++)
        raw[g] = m->value + (g * NT + FIRST + t->i0) * NT + FIRST + t->j0;
    own.y = NULL;
    own.raw = raw;
    own.raw_row = NT;
    own.reference = ds->reference;
    own.row = row;
    return own;
}

static void same(const struct fit_kernel *k, const char *what, size_t n, const double *a, const double *b)
{
    for (size_t i = 0; i < n; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0 || !isfinite(a[i]))
            fail_msg("%s %s %s: %s %zu: %.17g from double, %.17g from single precision", k->name, k->variant, k->isa,
                     what, i, a[i], b[i]);
}

static void compare(const struct fit_kernel *k, const struct matrices *m)
{
    struct fit_dataset *ds = dataset_of(k, m);
    double theta[64];
    for (size_t p = 0; p < k->nparam; p++)
        theta[p] = k->param[p].start;
    struct e2e_prepared at = e2e_prepare(k, &ds->layout, theta);
    assert_int_equal(at.answer, FIT_EVAL_OK);
    size_t np = k->nparam, nl = k->nlinear, most = np * (np + 1) / 2 + np + NG * (nl * np + nl * (nl + 1) / 2 + nl + 1);
    double *a = e2e_doubles(most), *b = e2e_doubles(most), *lin = e2e_doubles(NG * nl);
    double *adj = e2e_doubles(NG * (1 + nl * (nl + 1) / 2));
    for (size_t n = 0; n < NG * nl; n++)
        lin[n] = 0.3 + 0.1 * (double)n;
    for (size_t n = 0; n < NG * (1 + nl * (nl + 1) / 2); n++)
        adj[n] = 1 + 0.01 * (double)n;
    double *row = e2e_doubles(NG * ds->layout.panel);
    for (size_t n = 0; n < ds->ntile; n++) {
        const float *raw[NG];
        const struct fit_tile *t = &ds->tile[n], own = raw_tile(ds, t, m, raw, row);
        k->moments(&ds->layout, at.ws, t, at.scratch, a);
        k->moments(&ds->layout, at.ws, &own, at.scratch, b);
        same(k, "moments", NG * (nl * (nl + 1) / 2 + nl + 1), a, b);
        k->normal(&ds->layout, at.ws, lin, t, at.scratch, a);
        k->normal(&ds->layout, at.ws, lin, &own, at.scratch, b);
        same(k, "normal", np * (np + 1) / 2 + np + NG * nl * np, a, b);
        k->gradient(&ds->layout, at.ws, lin, adj, t, at.scratch, a);
        k->gradient(&ds->layout, at.ws, lin, adj, &own, at.scratch, b);
        same(k, "gradient", np, a, b);
    }
    e2e_release(&at);
    free(a);
    free(b);
    free(lin);
    free(adj);
    free(row);
    fit_dataset_free(ds);
}

static void test_same_bits(void **state)
{
    (void)state;
    struct matrices m = matrices_new();
    size_t count = 0;
    for (size_t n = 0; e2e_kernels[n]; n++) {
        const struct fit_kernel *k = e2e_kernels[n];
        if (k->space != FIT_PAIRS || !k->raw || !fit_cpu_supports(k->isa))
            continue;
        compare(k, &m);
        count++;
    }
    munmap(m.map, m.bytes);
    assert_true(count > 0);
    printf("%zu kernels\n", count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
