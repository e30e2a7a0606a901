/* test_gpu_models.c -- kernels for accelerators of random models, judged by the interpreter (judge.h) like those for
 * processors: their text as plain C and, where there is OpenCL, there.
 *
 *   HG_SEED=n, HG_CASES=n   as in test_models.c (default 6 models)
 *   HG_DEVICE   plain, opencl:0; default: all models by plain, two of them by OpenCL
 *
 * All kernels of a model take OpenCL's compiler on processors some seconds: many models, by their values alone, are
 * those of test_gpu_values.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <dlfcn.h>

#include "property/device_kernel.h"
#include "property/gpu_subject.h"
#include "property/judge.h"

enum { GEOMETRIES = 4 };

static int judge_one(const struct gpu_subject *s, struct fit_device *d, unsigned number, struct random *r,
                     struct judge_report *report)
{
    struct device_kernel x = {d, NULL, s->program, s->kernel};
    const struct fit_gpu_source source = {s->program, (const unsigned char *)s->gpu, NULL};
    const char *wrong = NULL;
    struct fit_error err;
    if (!s->program->npass) {
        print_message("model %u: none for accelerators: %s\n", number, s->program->lacks);
        return 1;
    }
    if (fit_device_load(d, &source, &x.module, &err) != FIT_OK)
        fail_msg("model %u: %s\n%s", number, err.message, s->text);
    const struct fit_kernel k = device_kernel_of(&x);
    struct judge *j = judge_new(s->m, 0);
    for (int n = 0; n < GEOMETRIES && !wrong; n++)
        wrong = judge_case(j, &k, r, n >= GEOMETRIES - 1, report);
    if (wrong)
        print_message("model %u: %s\n%s\n", number, wrong, s->text);
    judge_free(j);
    return wrong == NULL;
}

static void on_device(const char *word, const struct gpu_subject *s, unsigned n, struct random *r)
{
    struct judge_report report = {{0}, 0};
    struct fit_device *d;
    struct fit_error err;
    char note[300];
    unsigned bad = 0;
    if (fit_device_open(word, &d, note, sizeof note, &err) != FIT_OK) {
        print_message("skipped: %s\n", err.message);
        return;
    }
    for (unsigned k = 0; k < n; k++) {
        bad += !judge_one(&s[k], d, k, r, &report);
        fit_device_close(d);
        assert_int_equal(fit_device_open(word, &d, note, sizeof note, &err), FIT_OK);
    }
    print_message("%s: %lu numbers compared; worst error in bounds:", word, report.compared);
    for (int p = 0; p < JUDGE_PRODUCTS; p++)
        print_message(" %s %.2g", judge_name[p], report.worst[p]);
    print_message("\n");
    fit_device_close(d);
    assert_int_equal(bad, 0);
}

static void test_random_models(void **state)
{
    const unsigned n = (unsigned)random_environment("HG_CASES", 6);
    struct random r = {random_environment("HG_SEED", 1)};
    char dir[] = "/tmp/homodyne-gpu-XXXXXX";
    const char *only = getenv("HG_DEVICE");
    void *so;
    (void)state;
    print_message("HG_SEED=%llu HG_CASES=%u\n", (unsigned long long)r.state, n);
    assert_non_null(mkdtemp(dir));
    struct gpu_subject *s = gpu_subjects_new(dir, n, GPU_SUBJECT_ALL, &r, &so);
    on_device(only ? only : "plain", s, n, &r);
    if (!only)
        on_device("opencl:0", s, n < 2 ? n : 2, &r);
    dlclose(so);
    gpu_subjects_free(s, n, dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_models)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
