/* test_models.c -- random models, compiled and judged by the interpreter.
 *
 * A batch of models is written by gen_model.c, compiled by the generator to C and by the C compiler
 * to one shared object, loaded, and judged (judge.h).  This is the test that keeps the compiler
 * general: nothing in it knows what the emitted loops look like.
 *
 *   HG_SEED=n   another batch (default 1)        HG_CASES=n   models of the batch (default 12)
 *   HG_CC, HG_FLAGS     another C compiler, more options (such as -O3)
 * A failure prints the seed, the model, and the folder where model and C are left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <unistd.h>

#include "support/emit_kernel.h"
#include "property/gen_model.h"
#include "property/judge.h"

#ifndef HG_CC
#define HG_CC "cc"
#endif

enum { GEOMETRIES = 5, LEVELS = 3 };

struct subject {
    struct hg_arena *a;
    char *text;
    struct hg_model *m;
    int hessian;
};

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* From text to DIR/mK.c, and DIR/wK.c that gives the kernel its names. */
static int compile(struct subject *s, const char *dir, uint32_t number)
{
    char path[300], wrapper[300];
    snprintf(path, sizeof path, "%s/m%u.messages", dir, number);
    struct hg_diag d = {.out = fopen(path, "w")};
    assert_non_null(d.out);
    snprintf(path, sizeof path, "%s/m%u.lua", dir, number);
    write_text(path, s->text);
    s->m = hg_dsl_load_text(s->a, "random.lua", s->text, &d);
    if (!s->m) {
        fclose(d.out);
        return 0;
    }
    s->hessian = number % 3 != 1; /* of every kind and level some with and some without */
    snprintf(path, sizeof path, "%s/m%u.c", dir, number);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    int ok = emit_kernel(s->m, s->hessian, &d, f);
    assert_int_equal(fclose(f), 0);
    fclose(d.out);
    snprintf(path, sizeof path, "%s/w%u.c", dir, number);
    snprintf(wrapper, sizeof wrapper,
             "#define FIT_KERNEL_SYMBOL random_kernel_%u\n#define FIT_KERNEL_ISA \"native\"\n"
             "#define FIT_ISA_SUFFIX _native\n#include \"m%u.c\"\n",
             number, number);
    write_text(path, wrapper);
    return ok;
}

/* Instruction-set levels that the models of a batch take in turn: vectors of 8, 4 and 2 lanes. */
static const char *flags_of(uint32_t level)
{
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (level == 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return "-march=x86-64-v3";
    return level == 0 ? "-march=native" : "-march=x86-64-v2";
#else
    (void)level;
    return "";
#endif
}

/* Compiles the models of one level to DIR/batchLEVEL.so and loads it. */
static void *build(const char *dir, uint32_t n, uint32_t level)
{
    const char *cc = getenv("HG_CC"), *more = getenv("HG_FLAGS");
    size_t size = 1500 + 20 * (size_t)n, at;
    char *command = malloc(size), path[300];
    assert_non_null(command);
    at = (size_t)snprintf(
        command, size,
        "cd '%s' && %s -std=gnu11 -O1 %s %s %s -shared -fPIC -Wall -Wextra -Wconversion"
        " -Wno-unused-parameter -Wno-unused-variable -Wno-unknown-warning-option"
        " -Wno-maybe-uninitialized -Werror -fno-math-errno"
        " -fno-trapping-math -ffp-contract=fast -I'%s/runtime/include'",
        dir, cc && *cc ? cc : HG_CC, flags_of(level), HG_SANITIZE, more ? more : "",
        FIT_SOURCE_DIR);
    for (uint32_t k = level; k < n; k += LEVELS)
        at += (size_t)snprintf(command + at, size - at, " w%u.c", k);
    snprintf(command + at, size - at, " -o batch%u.so -lm", level);
    int rc = system(command);
    if (rc != 0)
        fail_msg("the C compiler refused an emitted kernel: %s", command);
    free(command);
    snprintf(path, sizeof path, "%s/batch%u.so", dir, level);
    void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!so)
        fail_msg("%s", dlerror());
    return so;
}

static int judge_one(const struct subject *s, void *so, uint32_t number, struct random *r,
                     struct judge_report *report)
{
    char symbol[40];
    snprintf(symbol, sizeof symbol, "random_kernel_%u", number);
    const struct fit_kernel *k = dlsym(so, symbol);
    assert_non_null(k);
    struct judge *j = judge_new(s->m, s->hessian);
    const char *wrong = NULL;
    for (int n = 0; n < GEOMETRIES && !wrong; n++)
        wrong = judge_case(j, k, r, n >= GEOMETRIES - 2, report);
    if (wrong)
        print_message("model %u: %s\n%s\n", number, wrong, s->text);
    judge_free(j);
    return wrong == NULL;
}

static void clean(const char *dir, uint32_t n)
{
    static const char *const form[] = {"%s/m%u.lua", "%s/m%u.messages", "%s/m%u.c", "%s/w%u.c"};
    char path[300];
    for (uint32_t k = 0; k < n; k++)
        for (size_t f = 0; f < sizeof form / sizeof *form; f++) {
            snprintf(path, sizeof path, form[f], dir, k);
            unlink(path);
        }
    for (uint32_t level = 0; level < LEVELS; level++) {
        snprintf(path, sizeof path, "%s/batch%u.so", dir, level);
        unlink(path);
    }
    rmdir(dir);
}

/* Compiles and judges n models, s[k].text; hessian as `compile` has it. */
static void judge_batch(struct subject *s, uint32_t n, struct random *r)
{
    uint32_t bad = 0;
    struct judge_report report = {{0}, 0};
    const char *base = getenv("TMPDIR");
    char dir[200];
    snprintf(dir, sizeof dir, "%s/homodyne-models-XXXXXX", base && *base ? base : "/tmp");
    assert_non_null(mkdtemp(dir));
    print_message("%u models in %s\n", n, dir);
    for (uint32_t k = 0; k < n; k++)
        if (!compile(&s[k], dir, k))
            fail_msg("the compiler refused model %u:\n%s", k, s[k].text);
    void *so[LEVELS] = {NULL};
    for (uint32_t level = 0; level < LEVELS && level < n; level++)
        so[level] = build(dir, n, level);
    for (uint32_t k = 0; k < n; k++)
        bad += !judge_one(&s[k], so[k % LEVELS], k, r, &report);
    for (uint32_t level = 0; level < LEVELS; level++)
        if (so[level])
            dlclose(so[level]);
    print_message("%lu numbers compared; worst error in bounds:", report.compared);
    for (int p = 0; p < JUDGE_PRODUCTS; p++)
        print_message(" %s %.2g", judge_name[p], report.worst[p]);
    print_message("\n");
    if (!bad)
        clean(dir, n);
    assert_int_equal(bad, 0);
}

static void test_random_models(void **state)
{
    uint64_t seed = random_environment("HG_SEED", 1);
    uint32_t n = (uint32_t)random_environment("HG_CASES", 12);
    struct random r = {seed};
    char name[40];
    (void)state;
    print_message("HG_SEED=%llu HG_CASES=%u\n", (unsigned long long)seed, n);
    struct subject *s = calloc(n, sizeof *s);
    assert_non_null(s);
    for (uint32_t k = 0; k < n; k++) {
        snprintf(name, sizeof name, "random_%u", k);
        s[k].a = hg_arena_new();
        s[k].text = gen_model(s[k].a, &r, name, k % 7 == 5);
    }
    judge_batch(s, n, &r);
    for (uint32_t k = 0; k < n; k++)
        hg_arena_free(s[k].a);
    free(s);
}

/* d mean / d f(t1) is a linear parameter alone, known at the points only. */
static void test_mean_linear_in_a_function_of_time(void **state)
{
    static char text[] =
        "local m = model \"plain\" { title = \"plain\" }\n"
        "local t, phi = m.grid(\"t\", \"s\"), m.axis(\"psi\", \"1\", \"an angle\")\n"
        "local height = m.parameter(\"height\", { start = 0.5, bounds = {-2, 2}, over = phi })\n"
        "local base = m.parameter(\"base\", { start = 0.5, bounds = {-2, 2}, over = phi })\n"
        "local rate = m.parameter(\"rate\", { start = 1, bounds = {0.3, 2}, unit = \"1/s\" })\n"
        "local power = m.parameter(\"power\", { start = 1, bounds = {0.3, 2} })\n"
        "local f = exp(-rate * t) + (1 + t / second)^power\n"
        "local t1, t2 = pair(t)\n"
        "m.observe(\"c2\", { over = {phi, t1, t2}, mean = base + height * (at(f, t1) + 3 * at(f, t2)) })\n";
    struct random r = {1};
    struct subject s = {hg_arena_new(), text, NULL, 0};
    (void)state;
    judge_batch(&s, 1, &r);
    hg_arena_free(s.a);
}

/* Names of a model that emitted functions have themselves, or that are macros. */
static void test_names_that_emitted_code_uses(void **state)
{
    static char pairs[] =
        "local m = model \"names\" { title = \"names\" }\n"
        "local t, phi = m.grid(\"t\", \"s\"), m.axis(\"psi\", \"1\", \"an angle\")\n"
        "local seeds = m.parameter(\"seeds\", { start = 0.5, bounds = {-2, 2}, over = phi })\n"
        "local pieces = m.parameter(\"pieces\", { start = 1, bounds = {0.3, 2}, unit = \"1/s\" })\n"
        "local k0 = m.parameter(\"k0\", { start = 1, bounds = {0.3, 2}, unit = \"1/s\" })\n"
        "local t1, t2 = pair(t)\n"
        "local place = pieces * exp(-k0 * t)\n"
        "local here = sin(integral(place, t1, t2) * (1 + phi))\n"
        "local root = exp(here * 0.5)\n"
        "local at_m = sin(root + 0.5 * here)\n"
        "local first = exp(-at_m * root)\n"
        "local at_lin = sin(first + at_m * here)\n"
        "local I = exp(at_lin * first * 0.1)\n"
        "local unix = sin(I + at_lin)\n"
        "local row1 = exp(-I * unix)\n"
        "m.observe(\"c2\", { over = {phi, t1, t2}, mean = seeds * (row1 + unix * I + here * at_m) })\n";
    static char table[] =
        "local m = model \"names\" { title = \"names\" }\n"
        "local x, to = m.columns(\"x\", \"to\")\n"
        "local adj = m.parameter(\"adj\", { start = 0.5, bounds = {-2, 2} })\n"
        "local H = m.parameter(\"H\", { start = 1, bounds = {0.3, 2} })\n"
        "local plain = sin(H * x)\n"
        "local from = exp(-plain * H)\n"
        "local mw0 = sin(from + 0.5 * plain)\n"
        "local factor = exp(-mw0 * from)\n"
        "local SUMS = sin(factor + mw0 * plain)\n"
        "local NULL = exp(SUMS * factor * 0.1)\n"
        "m.observe(to, { mean = adj * (NULL + SUMS * factor + mw0 * plain) })\n";
    struct random r = {1};
    struct subject s[2] = {{hg_arena_new(), pairs, NULL, 0}, {hg_arena_new(), table, NULL, 0}};
    (void)state;
    judge_batch(s, 2, &r);
    hg_arena_free(s[0].a);
    hg_arena_free(s[1].a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_models),
                                       cmocka_unit_test(test_mean_linear_in_a_function_of_time),
                                       cmocka_unit_test(test_names_that_emitted_code_uses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
