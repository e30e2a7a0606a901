/* test_gpu_predict.c -- what `auto` and `estimate --device` go by: when a card is predicted to pay, and the table of
 * docs/gpu.md, whose numbers are these. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "device/predict.h"

/* The model laminar, as its kernel counts, with 23 angles; its tables of 125 numbers a frame. */
static struct fit_device_work work_of(double values, double frames)
{
    return (struct fit_device_work){values, 23, 64, 20, 92, 8 * 125 * frames};
}

static const struct {
    double frames, values;
} size[] = {{94, 1e5}, {295, 1e6}, {1000, 11.5e6}, {2950, 1e8}, {9325, 1e9}};
static const char *const card[] = {"NVIDIA H200", "NVIDIA A100-SXM4-80GB", "NVIDIA GeForce RTX 4090"};
static const int threads[] = {1, 16, 64};

static double on_card(const char *name, unsigned together, size_t k)
{
    struct fit_device_info info = {.kind = FIT_DEVICE_CUDA, .is_card = 1, .units = 128, .mhz = 2520,
                                   .together = together};
    snprintf(info.name, sizeof info.name, "%s", name);
    if (info.name[7] == 'G') /* a game's card: double precision at 1/64 */
        info.mhz = 2520 / 16;
    const struct fit_device_work w = work_of(size[k].values, size[k].frames);
    return fit_device_seconds(&info, &w);
}

static double on_processor(int n, size_t k)
{
    const struct fit_device_work w = work_of(size[k].values, size[k].frames);
    return fit_processor_seconds(&w, n);
}

/* Column c of the table, in ms. */
static double cell(size_t c, size_t k)
{
    return 1e3 * (c < 3 ? on_processor(threads[c], k) : c < 6 ? on_card(card[c - 3], 1, k) : on_card(card[0], 4, k));
}

/* The cells of a line are those of size k, to half of the second digit. */
static void compare_line(char *line, size_t k)
{
    size_t c = 0;
    strtok(line, "|");
    for (char *text = strtok(NULL, "|"); text && *text != '\n'; text = strtok(NULL, "|"), c++) {
        const double written = strtod(text, NULL), predicted = cell(c, k);
        if (!(fabs(written - predicted) <= 0.051 * predicted))
            fail_msg("%g values, column %zu: the page says %g ms, %.3g ms is predicted", size[k].values, c, written,
                     predicted);
    }
    assert_int_equal(c, 7);
}

static void test_table_of_the_page(void **state)
{
    enum { SIZES = sizeof size / sizeof *size };
    FILE *f = fopen(FIT_SOURCE_DIR "/docs/gpu.md", "r");
    char line[2000];
    size_t k = 0;
    int inside = 0;
    (void)state;
    assert_non_null(f);
    while (fgets(line, sizeof line, f) && k < SIZES) {
        if (inside && line[0] == '|' && line[1] != '-')
            compare_line(line, k++);
        inside |= strstr(line, "| 1 core |") != NULL;
    }
    fclose(f);
    assert_int_equal(k, SIZES);
}

static void test_cards_pay_for_many_values(void **state)
{
    (void)state;
    for (size_t k = 1; k < sizeof size / sizeof *size; k++) {
        assert_true(on_card(card[0], 1, k) > on_card(card[0], 1, k - 1));
        assert_true(on_processor(1, k) / on_card(card[0], 1, k) > on_processor(1, k - 1) / on_card(card[0], 1, k - 1));
    }
    assert_true(on_card(card[0], 1, 0) > on_processor(64, 0)); /* launches cost more than the sums */
    assert_true(on_card(card[0], 1, 4) < on_processor(16, 4) && on_card(card[0], 1, 2) < on_processor(16, 2));
    assert_true(on_card(card[0], 4, 4) < on_processor(64, 4));
    assert_true(on_card(card[1], 1, 4) > on_card(card[0], 1, 4));
    assert_true(on_card(card[2], 1, 4) > on_processor(64, 4)); /* double precision is an afterthought there */
}

static void test_cards_together_divide_the_sums(void **state)
{
    (void)state;
    const double one = on_card(card[0], 1, 4), four = on_card(card[0], 4, 4);
    assert_true(four < one / 3.5 && four > one / 4);
    assert_true(on_card(card[0], 4, 0) > 0.5 * on_card(card[0], 1, 0)); /* launches are not */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_of_the_page),
        cmocka_unit_test(test_cards_pay_for_many_values),
        cmocka_unit_test(test_cards_together_divide_the_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
