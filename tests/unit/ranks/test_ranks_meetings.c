/* test_ranks_meetings.c -- what ranks tell each other: sums in their order, the least, the first error, results of
 * divided loops; and a stop that one of them is asked for. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS of forked_ranks.h */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "forked_ranks.h"
#include "ranks/same.h"

enum { SIZE = 3, TURNS = 10, MANY = 600000 }; /* MANY: sums that take several meetings */

static double mine(void)
{
    return 0.1 * (double)(fit_ranks_rank() + 1);
}

static void numbers(const void *user, double *result)
{
    const size_t count[SIZE] = {2, 0, 1}, me = fit_ranks_rank();
    double *x = calloc(MANY, sizeof *x), own[2] = {mine(), -mine()}, all[3];
    (void)user;
    result[0] = fit_ranks_total(mine());
    result[1] = fit_ranks_least(mine());
    x[MANY - 1] = mine();
    fit_ranks_add(x, MANY);
    result[2] = x[MANY - 1];
    result[3] = x[0];
    fit_ranks_gather(own, count, all);
    result[4] = all[0];
    result[5] = all[1];
    result[6] = all[2];
    result[7] = me == 2 ? 5 : 6;
    fit_ranks_copy(2, &result[7], sizeof result[7]);
    free(x);
}

static void test_numbers(void **state)
{
    double *x = forked_ranks(SIZE, 8, numbers, NULL);
    const double sum = 0.1 * 1 + 0.1 * 2 + 0.1 * 3, want[8] = {sum, 0.1, sum, 0, 0.1, -0.1, 0.1 * 3, 5};
    (void)state;
    for (int r = 0; r < SIZE; r++)
        assert_memory_equal(x + 8 * r, want, sizeof want);
    forked_ranks_free(x, SIZE, 8);
}

static void status(const void *user, double *result)
{
    struct fit_error err = {0};
    const int rank = (int)fit_ranks_rank();
    (void)user;
    result[0] = fit_ranks_agree_status(FIT_OK, &err);
    const enum fit_status code = rank == 1 ? FIT_ERR_DATA : FIT_ERR_NUMERIC;
    const enum fit_status st = rank ? fit_fail(&err, code, "rank %d", rank) : FIT_OK;
    result[1] = fit_ranks_agree_status(st, &err);
    result[2] = err.message[5] - '0';
    const enum fit_status one = rank == 2 ? fit_fail_at(&err, FIT_ERR_CONFIG, "a.yaml", 1, 2, "words") : FIT_OK;
    result[3] = fit_ranks_agree_status(one, &err);
    result[4] = strncmp(err.message, "rank 2 (", 8) == 0 && strcmp(err.message + err.says, "words") == 0;
    const enum fit_status every = fit_fail(&err, FIT_ERR_DATA, "all");
    fit_ranks_agree_status(every, &err);
    result[5] = strcmp(err.message, "all") == 0;
}

/* Files and texts that are those of rank 0, or not. */
static void sameness(const void *user, double *result)
{
    const size_t rank = fit_ranks_rank();
    const char *folder = user;
    struct fit_error err = {0};
    char path[4][64];
    for (int k = 0; k < 4; k++)
        snprintf(path[k], sizeof path[k], "%s/%d", folder, k);
    result[0] = fit_ranks_same_file("it", path[0], FIT_ERR_DATA, &err);
    result[1] = fit_ranks_same_file("it", path[3], FIT_ERR_DATA, &err); /* nowhere */
    result[2] = fit_ranks_same_file("it", path[rank < 2 ? 0 : 1], FIT_ERR_DATA, &err);
    result[3] = strstr(err.message, "have the same size and different contents") != NULL;
    result[4] = fit_ranks_same_file("it", path[rank < 1 ? 0 : 2], FIT_ERR_DATA, &err);
    result[5] = strstr(err.message, "has 40000000 bytes") != NULL && strstr(err.message, "40000001") != NULL;
    result[6] = fit_ranks_same_file("it", path[rank == 1 ? 3 : 0], FIT_ERR_CONFIG, &err);
    result[7] = strstr(err.message, "rank 1 (") != NULL && strstr(err.message, "cannot read it, which rank 0") != NULL;
    result[8] = (double)fit_ranks_odd("same", 4);
    result[9] = (double)fit_ranks_odd("same", rank == 2 ? 3 : 4);
}

static void test_sameness(void **state)
{
    static const double want[10] = {0, 0, FIT_ERR_DATA, 1, FIT_ERR_DATA, 1, FIT_ERR_CONFIG, 1, 0, 2};
    static const long size[3] = {40000000, 40000000, 40000001};
    char folder[] = "/tmp/ranks_XXXXXX", path[64];
    (void)state;
    assert_non_null(mkdtemp(folder));
    for (int k = 0; k < 3; k++) { /* the second differs in its last byte alone */
        snprintf(path, sizeof path, "%s/%d", folder, k);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        assert_int_equal(fseek(f, size[k] - 1, SEEK_SET), 0);
        fputc(k, f);
        fclose(f);
    }
    double *x = forked_ranks(SIZE, 10, sameness, folder);
    for (int r = 0; r < SIZE; r++)
        for (int k = 0; k < 10; k++)
            assert_int_equal((long)x[10 * r + k], (long)want[k]);
    forked_ranks_free(x, SIZE, 10);
    for (int k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "%s/%d", folder, k);
        unlink(path);
    }
    rmdir(folder);
}

static void test_the_first_error_is_that_of_all(void **state)
{
    double *x = forked_ranks(SIZE, 6, status, NULL);
    const double want[6] = {FIT_OK, FIT_ERR_DATA, 1, FIT_ERR_CONFIG, 1, 1};
    (void)state;
    for (int r = 0; r < SIZE; r++)
        assert_memory_equal(x + 6 * r, want, sizeof want);
    forked_ranks_free(x, SIZE, 6);
}

struct done {
    double rank, turn, shared;
};

static void turn(void *user, size_t k, size_t thread)
{
    struct done *d = user;
    (void)thread;
    d[k] = (struct done){(double)fit_ranks_rank(), (double)k, fit_ranks_shared()};
}

static void loop(const void *user, double *result)
{
    struct done done[TURNS] = {{0, 0, 0}};
    const int *threads = user;
    fit_ranks_run((struct fit_team){*threads, FIT_TEAM_NEXT}, TURNS, turn, done);
    fit_ranks_spread(done, TURNS, sizeof *done);
    memcpy(result, done, sizeof done);
}

static void test_turns_are_divided_and_told(void **state)
{
    (void)state;
    for (int threads = 1; threads < 4; threads++) {
        double *x = forked_ranks(SIZE, 3 * TURNS, loop, &threads);
        for (size_t r = 0; r < SIZE; r++)
            for (size_t k = 0; k < TURNS; k++) {
                const double *d = x + (r * TURNS + k) * 3;
                assert_true(d[0] == (double)(k % SIZE) && d[1] == (double)k && d[2] == 0); /* alone in its turn */
            }
        forked_ranks_free(x, SIZE, 3 * TURNS);
    }
}

static void stop(const void *user, double *result)
{
    (void)user;
    fit_ranks_agree();
    result[0] = forked_interrupt;
    if (fit_ranks_rank() == 2)
        fit_ranks_ask();
    result[1] = forked_interrupt; /* not before the ranks have met */
    fit_ranks_agree();
    result[2] = forked_interrupt;
}

static void test_one_is_asked_and_all_stop(void **state)
{
    double *x = forked_ranks(SIZE, 3, stop, NULL);
    const double want[3] = {0, 0, 1};
    (void)state;
    for (int r = 0; r < SIZE; r++)
        assert_memory_equal(x + 3 * r, want, sizeof want);
    forked_ranks_free(x, SIZE, 3);
}

/* ---- groups ------------------------------------------------------------------------------------ */

enum { SIX = 6, GROUPS = 3, TOLD = 9 };

static void in_groups(const void *user, double *result)
{
    const size_t me = fit_ranks_rank(), count[SIZE] = {1, 1, 1};
    double mine = (double)me, both[2];
    (void)user;
    result[0] = (double)fit_ranks_group(GROUPS);
    result[1] = (double)fit_ranks_size();
    result[2] = (double)fit_ranks_rank();
    result[3] = fit_ranks_total(mine);
    fit_ranks_gather(&mine, count, both);
    result[4] = both[1];
    fit_ranks_copy(1, &mine, sizeof mine); /* from the second of the group */
    result[5] = mine;
    if (me == 4)
        fit_ranks_ask();
    fit_ranks_agree();
    result[6] = forked_interrupt; /* told to its group alone */
    fit_ranks_ungroup();
    result[7] = forked_interrupt;
    result[8] = fit_ranks_total((double)me) + 100 * (double)(fit_ranks_rank() == me);
}

static void test_groups_meet_by_themselves(void **state)
{
    double *x = forked_ranks(SIX, TOLD, in_groups, NULL);
    (void)state;
    for (size_t r = 0; r < SIX; r++) {
        const double group = (double)(r / 2), first = 2 * group;
        const double want[TOLD] = {group, 2, (double)(r % 2), 2 * first + 1, first + 1, first + 1, group == 2, 1, 115};
        for (size_t k = 0; k < TOLD; k++)
            assert_true(x[r * TOLD + k] == want[k]);
    }
    forked_ranks_free(x, SIX, TOLD);
}

static void leaders(const void *user, double *result)
{
    (void)user;
    for (size_t k = 0; k < GROUPS; k++)
        result[k] = (double)fit_ranks_leader(GROUPS, k);
}

static void test_leaders_of_groups(void **state)
{
    double *x = forked_ranks(SIX, GROUPS, leaders, NULL);
    (void)state;
    for (size_t k = 0; k < SIX * GROUPS; k++)
        assert_true(x[k] == 2 * (double)(k % GROUPS));
    forked_ranks_free(x, SIX, GROUPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_the_first_error_is_that_of_all),
        cmocka_unit_test(test_sameness),
        cmocka_unit_test(test_turns_are_divided_and_told),
        cmocka_unit_test(test_one_is_asked_and_all_stop),
        cmocka_unit_test(test_groups_meet_by_themselves),
        cmocka_unit_test(test_leaders_of_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
