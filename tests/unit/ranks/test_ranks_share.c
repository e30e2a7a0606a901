/* test_ranks_share.c -- shares of a data set: whole, in order, each with its owner; sums, thinned copies and passes
 * that give patches have the bits of one process, whether each rank holds all values or those of its tiles alone. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS of forked_ranks.h */
#include "data/dataset_impl.h"
#include "data/share.h"
#include "data/tile_patches.h"
#include "data/tile_sums.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "forked_ranks.h"

enum { FRAMES = 420, FEW_FRAMES = 40, GROUPS = 3, TILES = 400, BLANK = 17 };

struct layout {
    size_t frames;
    int common, divided, threads;
};

/* Values that differ by orders of magnitude, some of which do not count. */
static double value(size_t g, size_t i, size_t j)
{
    const double x = sin(0.37 * (double)(i * 7 + j * 3 + g));
    return (i * j) % 1013 == BLANK ? (double)NAN : x * pow(10, (double)((i + j) % 5) - 2);
}

static struct fit_dataset *new_pairs(const struct layout *l)
{
    static double time[FRAMES], matrix[FRAMES * FRAMES];
    const double coord[GROUPS] = {1, 2, 3}, *const coords[] = {coord};
    struct fit_dataset *ds = NULL;
    struct fit_error err;
    for (size_t i = 0; i < l->frames; i++)
        time[i] = 0.1 * (double)i;
    const struct fit_dataset_pairs spec = {.ntime = l->frames,
                                           .time = time,
                                           .step = 0.1,
                                           .ngroup = GROUPS,
                                           .naxis = 1,
                                           .coord = coords,
                                           .center = 1,
                                           .table_doubles = 2,
                                           .common = l->common,
                                           .divided = l->divided};
    if (fit_dataset_new_pairs(&spec, &ds, &err) != FIT_OK)
        _exit(80);
    for (size_t g = 0; g < GROUPS; g++) {
        for (size_t i = 0; i < l->frames; i++)
            for (size_t j = i + 1; j < l->frames; j++)
                matrix[i * l->frames + j] = value(g, i, j);
        if (fit_dataset_put(ds, g, matrix, NULL, &err) != FIT_OK)
            _exit(81);
    }
    if (fit_dataset_finish(ds, &err) != FIT_OK)
        _exit(82);
    return ds;
}

/* ---- which tiles are whose --------------------------------------------------------------------- */

enum { FIRST, LAST, NTILE, SHARED, DIVIDED, HELD, OWNER };

static void tell_share(const void *user, double *result)
{
    struct fit_dataset *ds = new_pairs(user);
    size_t first, last;
    fit_dataset_share(ds, &first, &last);
    result[FIRST] = (double)first;
    result[LAST] = (double)last;
    result[NTILE] = (double)ds->ntile;
    result[SHARED] = fit_dataset_shared(ds);
    result[DIVIDED] = fit_dataset_divided(ds);
    result[HELD] = (double)ds->private_->ndouble;
    for (size_t k = 0; k < ds->ntile && k < TILES && fit_dataset_shared(ds); k++)
        result[OWNER + k] = (double)fit_share_owner(ds, k);
    fit_dataset_free(ds);
}

static void check_shares(int size, int divided)
{
    enum { N = OWNER + TILES };
    const struct layout l = {FRAMES, 1, divided, 1};
    double *x = forked_ranks(size, N, tell_share, &l), *whole = forked_ranks(1, N, tell_share, &l), at = 0, held = 0;
    for (int r = 0; r < size; r++, x += N) {
        assert_true(x[SHARED] > 0 && x[NTILE] > size && x[NTILE] <= TILES);
        assert_true(x[FIRST] == at && x[LAST] > x[FIRST]); /* one after the other, and none without */
        assert_true((x[DIVIDED] > 0) == divided);
        for (size_t k = 0; k < (size_t)x[NTILE]; k++)
            assert_true((x[OWNER + k] == r) == ((double)k >= x[FIRST] && (double)k < x[LAST]));
        at = x[LAST];
        held += x[HELD];
    }
    assert_true(at == whole[NTILE]);
    assert_true(held == (divided ? 1 : size) * whole[HELD]); /* together they hold the values once */
    assert_true(whole[SHARED] == 0 && whole[DIVIDED] == 0 && whole[FIRST] == 0 && whole[LAST] == at);
    forked_ranks_free(x - size * N, size, N);
    forked_ranks_free(whole, 1, N);
}

static void test_shares_are_whole(void **state)
{
    (void)state;
    for (int size = 2; size <= 7; size++) {
        check_shares(size, 0);
        check_shares(size, 1);
    }
}

static void test_few_values_and_those_of_one_rank_are_not_shared(void **state)
{
    enum { N = OWNER + TILES };
    const struct layout few = {FEW_FRAMES, 1, 0, 1}, own = {FRAMES, 0, 0, 1}, *const both[] = {&few, &own};
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        double *x = forked_ranks(3, N, tell_share, both[k]);
        for (size_t r = 0; r < 3; r++)
            assert_true(x[r * N + SHARED] == 0 && x[r * N + FIRST] == 0 && x[r * N + LAST] == x[r * N + NTILE]);
        forked_ranks_free(x, 3, N);
    }
}

/* ---- sums and thinned copies ------------------------------------------------------------------- */

/* All that a data set knows of its values, as numbers. */
static size_t tell(const struct fit_dataset *ds, double *to)
{
    char hex[SHA256_HEX];
    size_t n = 0;
    to[n++] = (double)ds->npoint;
    to[n++] = (double)ds->ndropped;
    for (size_t g = 0; g < GROUPS; g++) {
        to[n++] = (double)ds->npoint_group[g];
        to[n++] = ds->reference[g];
        to[n++] = ds->range[g].low;
        to[n++] = ds->range[g].high;
    }
    fit_dataset_digest(ds, 1, hex);
    for (size_t k = 0; k + 1 < SHA256_HEX; k++)
        to[n++] = hex[k];
    return n;
}

enum { TOLD = 2 + 4 * GROUPS + SHA256_HEX };

static void tell_sums(const void *user, double *result)
{
    struct fit_dataset *ds = new_pairs(user), *thin = NULL;
    struct fit_error err;
    tell(ds, result);
    if (fit_dataset_thin(ds, 50, &thin, &err) != FIT_OK)
        _exit(83);
    tell(thin, result + TOLD);
    fit_dataset_free(thin);
    fit_dataset_free(ds);
}

static void test_sums_have_the_bits_of_one_process(void **state)
{
    (void)state;
    forked_ranks_agree(2 * TOLD, tell_sums, &(struct layout){FRAMES, 1, 0, 1});
    forked_ranks_agree(2 * TOLD, tell_sums, &(struct layout){FRAMES, 1, 1, 1});
}

/* ---- sums of groups of ranks ------------------------------------------------------------------- */

static void add_tile_sum(void *user, const struct fit_tile *t, double *scratch, size_t stride, double *out)
{
    (void)scratch, (void)stride;
    out[0] = t->sum[1];
    atomic_fetch_add((atomic_int *)user, 1);
}

/* By all ranks, in groups, by all again; then how many tiles were summed here. */
static void tell_groups(const void *user, double *result)
{
    struct fit_dataset *ds = new_pairs(user);
    struct fit_parallel *par;
    struct fit_error err;
    atomic_int n = 0;
    const struct fit_parallel_need need = {.nout = 1, .threads = 1};
    const struct fit_parallel_task task = {add_tile_sum, &n, 1, 0};
    if (fit_parallel_new(ds, &need, &par, &err) != FIT_OK || fit_parallel_sum(par, &task, &result[0]) != 0)
        _exit(84);
    fit_ranks_group(3);
    const int before = n;
    if (fit_parallel_sum(par, &task, &result[1]) != 0) /* not known yet: everyone sums all of it */
        _exit(85);
    result[4] = n - before == (int)ds->ntile;
    if (fit_parallel_group(par, &err) != FIT_OK || fit_parallel_sum(par, &task, &result[2]) != 0)
        _exit(86);
    fit_ranks_ungroup();
    if (fit_parallel_sum(par, &task, &result[3]) != 0)
        _exit(87);
    result[5] = (double)n;
    fit_parallel_free(par);
    fit_dataset_free(ds);
}

static void test_sums_of_groups_have_the_same_bits(void **state)
{
    const struct layout l = {FRAMES, 1, 0, 0};
    double *alone = forked_ranks(1, 6, tell_groups, &l), *six = forked_ranks(6, 6, tell_groups, &l), summed = 0;
    (void)state;
    for (size_t r = 0; r < 6; r++) {
        assert_memory_equal(six + 6 * r, alone, 5 * sizeof *alone);
        summed += six[6 * r + 5];
    }
    /* once by all together, once by each, once by each of three groups, once by all */
    assert_true(summed == alone[5] / 4 * (1 + 6 + 3 + 1));
    forked_ranks_free(six, 6, 6);
    forked_ranks_free(alone, 1, 6);
}

/* ---- patches ----------------------------------------------------------------------------------- */

enum { LONG = 20000, SUMS = 8 }; /* patches so long that a rank gives them in several meetings */

struct taking {
    double *sum; /* SUMS */
    double next, order;
};

/* Of some tiles nothing, of others much. */
static size_t take(void *user, size_t k, const struct fit_tile *t, size_t thread, double *patch)
{
    const size_t n = k % 5 == 3 ? 0 : k % 2 ? LONG : k + 1;
    (void)user, (void)thread;
    for (size_t i = 0; i < n; i++)
        patch[i] = t->y[i % 8] + 1e-3 * (double)(i + k);
    return n;
}

static void add(void *user, size_t k, const double *patch, size_t n)
{
    struct taking *x = user;
    x->order += (double)k < x->next; /* never back, never twice */
    x->next = (double)k + 1;
    for (size_t i = 0; i < n; i++)
        x->sum[i % SUMS] += patch[i];
    x->sum[k % SUMS] += (double)n;
}

static void tell_patches(const void *user, double *result)
{
    const struct layout *l = user;
    struct fit_dataset *ds = new_pairs(l);
    struct fit_error err;
    struct taking x = {.sum = result};
    const struct fit_patches p = {.ds = ds, .threads = l->threads, .most = LONG, .user = &x, .take = take, .add = add};
    if (fit_patches_run(&p, &err) != FIT_OK)
        _exit(84);
    result[SUMS] = x.order;
    result[SUMS + 1] = x.next;
    fit_dataset_free(ds);
}

static void test_patches_are_taken_up_in_order(void **state)
{
    (void)state;
    for (int divided = 0; divided < 2; divided++)
        for (int threads = 1; threads < 4; threads += 2) {
            const struct layout l = {FRAMES, 1, divided, threads};
            double *x = forked_ranks(1, SUMS + 2, tell_patches, &l);
            assert_true(x[SUMS] == 0 && x[SUMS + 1] > 0);
            forked_ranks_free(x, 1, SUMS + 2);
            forked_ranks_agree(SUMS + 2, tell_patches, &l);
        }
}

/* One rank is asked to stop: all end, with the same status. */
static void tell_stop(const void *user, double *result)
{
    struct fit_dataset *ds = new_pairs(user);
    struct fit_error err;
    const atomic_int stop = fit_ranks_rank() == 1;
    struct taking x = {.sum = (double[SUMS]){0}};
    const struct fit_patches p = {
        .ds = ds, .threads = 1, .interrupt = &stop, .most = LONG, .user = &x, .take = take, .add = add};
    *result = fit_patches_run(&p, &err);
    fit_dataset_free(ds);
}

static void test_a_stop_of_one_rank_is_that_of_all(void **state)
{
    double *x = forked_ranks(3, 1, tell_stop, &(struct layout){FRAMES, 1, 0, 1});
    (void)state;
    for (size_t r = 0; r < 3; r++)
        assert_int_equal((int)x[r], FIT_ERR_INTERRUPTED);
    forked_ranks_free(x, 3, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_are_whole),
        cmocka_unit_test(test_few_values_and_those_of_one_rank_are_not_shared),
        cmocka_unit_test(test_sums_have_the_bits_of_one_process),
        cmocka_unit_test(test_sums_of_groups_have_the_same_bits),
        cmocka_unit_test(test_patches_are_taken_up_in_order),
        cmocka_unit_test(test_a_stop_of_one_rank_is_that_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
