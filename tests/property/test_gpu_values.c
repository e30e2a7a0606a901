/* test_gpu_values.c -- means of many random models by accelerators: those by OpenCL have the bits of the same text as
 * plain C, and both are within the bound of the interpreter (judge.h), as are those of the kernel for processors.
 *
 *   HG_SEED=n, HG_CASES=n   the first batch, models in batches of 12 (default 1, one batch): batches are the same in
 *                           whatever slices they are taken, so 1000 models are HG_CASES=120 HG_SEED=1, 11, 21, ... 81
 *   HG_DEVICE               instead of opencl:0
 *   HG_CC                   another C compiler: clang takes a third of the time
 *
 * Kernels of sums are left out of the text, for their compilation takes OpenCL on processors minutes for a batch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>

#include "property/device_kernel.h"
#include "property/gpu_subject.h"
#include "property/judge.h"

enum { GEOMETRIES = 3, BATCH = 12, MOST = 1 << 16 };

/* What stands beside each other: plain C, a device (or NULL, where there is none), processors. */
static struct {
    struct device_kernel plain, device;
    unsigned long values, different;
} now;

/* Number of values that differ in a bit; NaN are all the same. */
static unsigned long differing(const double *a, const double *b, size_t n)
{
    unsigned long different = 0;
    for (size_t k = 0; k < n; k++) {
        const int differs = memcmp(&a[k], &b[k], sizeof *a) != 0 && !(a[k] != a[k] && b[k] != b[k]);
        if (differs && !different)
            print_message("value %zu of a tile: %.17g as plain C, %.17g there\n", k, a[k], b[k]);
        different += (unsigned long)differs;
    }
    return different;
}

/* `model` of all of them. */
static void model(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t,
                  double *out)
{
    static double other[MOST];
    const size_t n = device_kernel_doubles(l, t);
    assert_true(n <= MOST);
    memcpy(other, out, n * sizeof *out);
    device_kernel_of(&now.plain).model(l, ws, lin, t, out);
    if (!now.device.d)
        return;
    device_kernel_of(&now.device).model(l, ws, lin, t, other);
    now.values += n;
    now.different += differing(out, other, n);
}

static void load(struct device_kernel *x, const struct gpu_subject *s)
{
    const struct fit_gpu_source source = {s->program, (const unsigned char *)s->gpu, NULL};
    struct fit_error err;
    x->program = s->program;
    x->kernel = s->kernel;
    if (x->d && fit_device_load(x->d, &source, &x->module, &err) != FIT_OK)
        fail_msg("%s\n%s", err.message, s->text);
}

/* NULL, or what was wrong. */
static const char *judge_one(const struct gpu_subject *s, struct random *r, struct judge_report *processor,
                             struct judge_report *device)
{
    struct fit_kernel k = *s->kernel;
    struct judge *j = judge_new(s->m, 0);
    const unsigned long before = now.different;
    static char message[1100];
    const char *wrong = NULL;
    k.model = model;
    for (int n = 0; n < GEOMETRIES && !wrong; n++) {
        struct random same = *r;
        wrong = judge_values(j, s->kernel, &same, n == GEOMETRIES - 1, processor);
        if (!wrong)
            wrong = judge_values(j, &k, r, n == GEOMETRIES - 1, device);
    }
    if (wrong)
        snprintf(message, sizeof message, "%s", wrong);
    else if (now.different > before)
        snprintf(message, sizeof message, "%lu values are not those of plain C", now.different - before);
    judge_free(j);
    return wrong || now.different > before ? message : NULL;
}

static struct fit_device *opened(const char *word)
{
    struct fit_device *d = NULL;
    struct fit_error err;
    char note[300];
    if (fit_device_open(word, &d, note, sizeof note, &err) != FIT_OK)
        print_message("not done: %s\n", err.message);
    return d;
}

/* Models for which something is wrong; *without: that have no kernels for accelerators. */
static unsigned judge_batch(unsigned n, uint64_t seed, struct judge_report report[2], unsigned *without)
{
    struct random r = {seed};
    char dir[] = "/tmp/homodyne-gpu-XXXXXX";
    const char *word = getenv("HG_DEVICE");
    unsigned bad = 0;
    void *so;
    assert_non_null(mkdtemp(dir));
    struct gpu_subject *s = gpu_subjects_new(dir, n, GPU_SUBJECT_VALUES, &r, &so);
    for (unsigned k = 0; k < n; k++) {
        if (!s[k].program->npass) {
            *without += 1;
            continue;
        }
        now.plain.d = opened("plain");
        now.device.d = opened(word ? word : "opencl:0");
        load(&now.plain, &s[k]);
        load(&now.device, &s[k]);
        const char *wrong = judge_one(&s[k], &r, &report[0], &report[1]);
        if (wrong)
            print_message("batch %llu, model %u: %s\n", (unsigned long long)seed, k, wrong);
        if (wrong) /* longer than a message may be */
            puts(s[k].text);
        bad += wrong != NULL;
        fit_device_close(now.plain.d);
        fit_device_close(now.device.d);
    }
    dlclose(so);
    gpu_subjects_free(s, n, dir);
    return bad;
}

static void test_random_values(void **state)
{
    const unsigned n = (unsigned)random_environment("HG_CASES", BATCH);
    const uint64_t seed = random_environment("HG_SEED", 1);
    struct judge_report report[2] = {{{0}, 0}, {{0}, 0}};
    unsigned bad = 0, without = 0;
    (void)state;
    for (unsigned k = 0; k < n; k += BATCH)
        bad += judge_batch(n - k < BATCH ? n - k : BATCH, seed + k / BATCH, report, &without);
    print_message("HG_SEED=%llu HG_CASES=%u: %lu values of %u models; worst error in bounds: processor %.2g, "
                  "device %.2g; %lu of %lu differ from plain C\n", (unsigned long long)seed, n, report[1].compared,
                  n - without, report[0].worst[JUDGE_MODEL], report[1].worst[JUDGE_MODEL], now.different, now.values);
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
