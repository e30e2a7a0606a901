/* test_noise_source.c -- fit.h5 and fit.json name the same source of the noise, for each of them: deviations of the
 * file, a deviation that was given, residuals, the law of the model.
 */
#include "support.h"

#include "hdf5/reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *folder;

/* A path in the folder; in one of two buffers by turns. */
static const char *in_folder(const char *name)
{
    static char path[2][600];
    static int turn;
    turn = !turn;
    snprintf(path[turn], sizeof *path, "%s/%s", folder, name);
    return path[turn];
}

/* The option --data with a new table of these lines. */
static const char *with_table(const char *text)
{
    static char option[620];
    FILE *file = fopen(in_folder("data.csv"), "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    snprintf(option, sizeof option, "--data=%s", in_folder("data.csv"));
    return option;
}

/* data: with_table(), or a configuration; sigma: an option, or NULL.  Returns the exit status. */
static int fit(const char *program, const char *data, const char *sigma)
{
    const char *argv[] = {program, "fit", "--quiet", "-o", in_folder("out"), data, sigma, NULL};
    return e2e_run(argv, NULL, NULL);
}

static void expect_source(const char *program, const char *data, const char *sigma, const char *source)
{
    char *text = NULL, word[64];
    struct fit_h5 *h = NULL;
    struct fit_error err = {0};
    int status = fit(program, data, sigma);
    assert_true(status == 0 || status == 2); /* so few points: converged or not */
    if (fit_h5_open(in_folder("out/fit.h5"), &h, &err) != FIT_OK ||
        fit_h5_read_string(h, "/entry/fit_quality/sigma_source", &text, &err) != FIT_OK)
        fail_msg("%s: %s", program, err.message);
    assert_string_equal(text, source);
    free(text);
    fit_h5_close(h);
    e2e_json_text(in_folder("out/fit.json"), (const char *const[]){"noise", "source", NULL}, word, sizeof word);
    assert_string_equal(word, source);
}

static const char decay[] = "delay,g2\n0.001,1.299\n0.01,1.291\n0.05,1.25\n0.1,1.21\n0.2,1.141\n0.5,1.05\n"
                            "1,1.012\n2,1\n5,1.001\n";
static const char decay_sigma[] = "delay,g2,sigma\n0.001,1.299,0.002\n0.01,1.291,0.002\n0.05,1.25,0.002\n"
                                  "0.1,1.21,0.002\n0.2,1.141,0.002\n0.5,1.05,0.002\n1,1.012,0.002\n2,1,0.002\n";
static const char counts[] = "T,n\n0.05,1\n0.1,0\n0.1,2\n0.2,3\n0.2,1\n0.5,5\n0.5,3\n1,12\n1,9\n2,22\n2,17\n";

static void test_each_source(void **state)
{
    (void)state;
    expect_source("homodyne-kww", with_table(decay), NULL, "residuals");
    expect_source("homodyne-kww", with_table(decay), "--sigma=0.002", "given");
    expect_source("homodyne-kww", with_table(decay_sigma), NULL, "file");
    expect_source("homodyne-laminar", FIT_SOURCE_DIR "/examples/laminar/experiment.yaml", "--sigma=0.01", "given");
    expect_source("homodyne-speckle_counts", with_table(counts), NULL, "law");
}

static void test_sigma_is_not_given_twice(void **state)
{
    (void)state;
    assert_int_equal(fit("homodyne-kww", with_table(decay_sigma), "--sigma=0.002"), 3);
    assert_int_equal(fit("homodyne-kww", with_table(decay), "--sigma=0.002,0.003"), 3); /* one curve */
    assert_int_equal(fit("homodyne-speckle_counts", with_table(counts), "--sigma=1"), 3);
}

static int open_folder(void **state)
{
    (void)state;
    folder = e2e_folder();
    return folder ? 0 : -1;
}

static int close_folder(void **state)
{
    (void)state;
    e2e_remove(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_source),
                                       cmocka_unit_test(test_sigma_is_not_given_twice)};
    return cmocka_run_group_tests(tests, open_folder, close_folder);
}
