/* test_imaging_operators.c -- operators of objectives and their adjoints: <A x, y> = <x, A^T y> for every operator of
 * models/imaging/imaging.lua, on grids that are symmetric and on others, and for dense matrices. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#pragma GCC diagnostic ignored "-Wunused-function"
#define FIT_VL FIT_VL_NATIVE
#include "fit/kernel.h"
#include "fit/functional.h"
#include "fit/tables.h"
#include "fit/vmath.h"

#include "fit/operators.h"

#include "golden_images.h"

enum { MOST = 60000 };
static double x[2][MOST], y[2][MOST], Ax[2][MOST], Aty[2][MOST];

static double number(void)
{
    static uint64_t s = 7;
    s = s * 6364136223846793005u + 1442695040888963407u;
    return (double)(s >> 11) / 9007199254740992.0 - 0.5;
}

static void fill(size_t n, double *a)
{
    memset(a, 0, MOST * sizeof *a);
    for (size_t k = 0; k < n; k++)
        a[k] = number();
}

static double dot(size_t n, const double *a, const double *b, double *size)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++) {
        sum += a[k] * b[k];
        *size += fabs(a[k] * b[k]);
    }
    return sum;
}

static size_t blocks_of(size_t n)
{
    return (n + FIT_BLOCK - 1) / FIT_BLOCK;
}

static void apply_one(const struct fit_operator_desc *q, const void *of, int part, size_t nfrom, size_t nto)
{
    const double sign = part ? -1 : 1;
    switch (q->kind) {
    case FIT_OUTER:
        fit_outer_fold(of, x[0]);
        fit_outer_apply(of, Ax[0], Ax[1], 0, blocks_of(nto));
        fit_outer_adjoint(of, y[0], y[1], Aty[0], 0,
                          (((const struct fit_outer *)of)->nrow + FIT_UNIT_OF_ROWS - 1) / FIT_UNIT_OF_ROWS);
        break;
    case FIT_DIFFERENCE:
        fit_difference_apply(of, x[0], Ax[0], 0, blocks_of(nto));
        fit_difference_adjoint(of, y[0], Aty[0], 0, blocks_of(nfrom));
        break;
    case FIT_GATHER:
        fit_gather_apply(of, sign, x[part], Ax[part], 0, blocks_of(nto));
        fit_gather_adjoint(of, sign, y[part], Aty[part], 0, blocks_of(nfrom));
        break;
    case FIT_BLOCKS:
        fit_blocks_apply(of, x[0], Ax[0], 0, ((const struct fit_blocks *)of)->n);
        fit_blocks_adjoint(of, y[0], Aty[0], 0, ((const struct fit_blocks *)of)->n);
        break;
    case FIT_DENSE:
        fit_dense_apply(of, x[0], Ax[0], 0, blocks_of(nto));
        fit_dense_adjoint(of, y[0], Aty[0], 0, blocks_of(nfrom));
        break;
    }
}

static void check(const struct fit_operator_desc *q, const void *of, size_t nfrom, size_t nto)
{
    const int nin = q->is_complex ? 2 : 1, nout = q->kind == FIT_OUTER ? 2 : nin;
    double forward = 0, back = 0, size = 0;
    assert_true(nfrom <= MOST && nto <= MOST);
    for (int part = 0; part < 2; part++) {
        fill(part < nin ? nfrom : 0, x[part]);
        fill(part < nout ? nto : 0, y[part]);
        fill(0, Ax[part]);
        fill(0, Aty[part]);
    }
    for (int part = 0; part < (q->kind == FIT_GATHER ? nin : 1); part++)
        apply_one(q, of, part, nfrom, nto);
    for (int part = 0; part < 2; part++) {
        forward += dot(nto, Ax[part], y[part], &size);
        back += dot(nfrom, x[part], Aty[part], &size);
    }
    if (!(size > 0 && fabs(forward - back) <= 1e-13 * size))
        fail_msg("%s: <A x, y> = %.17g, <x, A^T y> = %.17g", q->name, forward, back);
}

/* How many of each kind there were. */
static void check_all(const struct fit_bound *b, int seen[5])
{
    for (uint32_t k = 0; k < b->o->noperator; k++) {
        const struct fit_operator_desc *q = &b->o->operation[k];
        if (!b->operation[k])
            continue;
        check(q, b->operation[k], b->size[q->from], b->size[q->to]);
        seen[q->kind]++;
    }
}

static void every_adjoint_is_one(void **state)
{
    (void)state;
    for (int symmetric = 0; symmetric < 2; symmetric++) {
        struct fit_inputs in = image_inputs(NULL);
        int seen[5] = {0};
        put_data(&in);
        if (!symmetric) {
            const struct fit_input *z = fit_inputs_find(&in, "z", FIT_INPUT_OUTER);
            struct fit_input other = *z;
            double *row = doubles(2 * z->n * NY), *column = doubles(2 * z->n * NX);
            for (size_t k = 0; k < 2 * z->n * NY; k++)
                row[k] = number();
            for (size_t k = 0; k < 2 * z->n * NX; k++)
                column[k] = number();
            other.row_re = row;
            other.row_im = row + z->n * NY;
            other.column_re = column;
            other.column_im = column + z->n * NX;
            fit_inputs_put(&in, other);
        }
        struct fit_bound *b = bind_objective(&in);
        check_all(b, seen);
        assert_true(seen[FIT_OUTER] >= 4 && seen[FIT_GATHER] >= 20 && seen[FIT_DIFFERENCE] >= 4);
        assert_true(seen[FIT_BLOCKS] == 2);
        fit_bound_free(b);
    }
}

static void dense_matrices(void **state)
{
    (void)state;
    static const struct fit_operator_desc q = {.name = "dense", .kind = FIT_DENSE};
    struct fit_dense d = {.n = 77, .nfrom = 131, .pitch = 136, .matrix = doubles(77 * 136 + 8)};
    for (size_t k = 0; k < d.n; k++)
        for (size_t j = 0; j < d.nfrom; j++)
            d.matrix[k * d.pitch + j] = number();
    check(&q, &d, d.nfrom, d.n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_adjoint_is_one),
        cmocka_unit_test(dense_matrices),
    };
    return cmocka_run_group_tests(tests, open_golden, close_golden);
}
