/* test_scale.c -- how the compiler grows: models of tests/scale with 200 parameters.
 *
 * Nothing is timed.  The generator stays within 100 MB, and twice the model is twice the nodes, the memory and
 * the text: what is quadratic would be four times.  And a kernel large enough for loops over tables, whose
 * functions are called and not inlined, is judged by the interpreter like the random models.
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
#include "property/judge.h"

enum { MEMORY = 100 << 20 };

struct size {
    size_t nodes, memory, text;
    uint32_t parameters;
};

static char *read_model(const char *name)
{
    enum { ROOM = 10000 };
    char path[400], *text = calloc(1, ROOM);
    snprintf(path, sizeof path, "%s/tests/scale/%s.lua", FIT_SOURCE_DIR, name);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    assert_non_null(text);
    assert_true(fread(text, 1, ROOM - 1, f) > 0);
    fclose(f);
    return text;
}

/* Writes n with two digits over the two digits of the text `= NN`, the size of the model. */
static void set_size(char *text, int from, int n)
{
    char seen[20], wanted[20];
    snprintf(seen, sizeof seen, "= %d", from);
    snprintf(wanted, sizeof wanted, "= %d", n);
    char *at = strstr(text, seen);
    assert_non_null(at);
    size_t length = strlen(seen);
    memset(at, ' ', length);
    memcpy(at, wanted, strlen(wanted));
}

/* The model and its kernel's text (to be freed). */
static char *compile(struct hg_arena *a, const char *text, struct hg_model **m)
{
    char *kernel = NULL;
    size_t size = 0;
    struct hg_diag d = {.out = stderr};
    FILE *f = open_memstream(&kernel, &size);
    assert_non_null(f);
    *m = hg_dsl_load_text(a, "scale.lua", text, &d);
    assert_non_null(*m);
    assert_true(emit_kernel(*m, 0, &d, f));
    fclose(f);
    return kernel;
}

static struct size measure(const char *name, int from, int n)
{
    struct hg_arena *a = hg_arena_new();
    struct hg_model *m;
    char *text = read_model(name);
    set_size(text, from, n);
    char *kernel = compile(a, text, &m);
    struct size s = {m->expr->n, hg_arena_size(a), strlen(kernel), m->param.n + m->linear.n};
    print_message("%s %d: %u parameters, %zu nodes, %.1f MB, kernel of %.0f kB\n", name, n, s.parameters, s.nodes,
                  (double)s.memory / 1048576, (double)s.text / 1024);
    free(kernel);
    free(text);
    hg_arena_free(a);
    return s;
}

static void grows_linearly(const char *name, int size, uint32_t parameters)
{
    struct size half = measure(name, size, size / 2), whole = measure(name, size, size);
    assert_int_equal(whole.parameters, parameters);
    assert_true(whole.memory < MEMORY);
    assert_true(2 * whole.nodes < 5 * half.nodes);
    assert_true(2 * whole.memory < 5 * half.memory);
    assert_true(2 * whole.text < 5 * half.text);
}

static void test_table_model_of_200_parameters(void **state)
{
    (void)state;
    grows_linearly("many_peaks", 40, 200);
}

static void test_lines_of_66_amplitudes(void **state)
{
    (void)state;
    grows_linearly("lines", 66, 198);
}

static void test_pair_model_of_202_parameters(void **state)
{
    (void)state;
    grows_linearly("many_modes", 100, 202);
}

/* The kernel of a model of size n, with the loop that is looked for in its text, is judged by the interpreter. */
static void loops_are_right(const char *name, int size, int n, const char *loop)
{
    char dir[] = "/tmp/homodyne-scale-XXXXXX", path[100], command[1000];
    struct hg_arena *a = hg_arena_new();
    struct judge_report report = {{0}, 0};
    struct random r = {random_environment("HG_SEED", 1)};
    struct hg_model *m;
    char *text = read_model(name);
    set_size(text, size, n);
    char *kernel = compile(a, text, &m);
    assert_non_null(strstr(kernel, loop));
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/kernel.c", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "#define FIT_KERNEL_SYMBOL scale\n#define FIT_KERNEL_ISA \"native\"\n#define FIT_ISA_SUFFIX _n\n"
               "#define FIT_VMATH_CALLED\n%s", kernel);
    fclose(f);
    snprintf(command, sizeof command,
             "%s -std=gnu11 -O1 %s %s -shared -fPIC -Wall -Wextra -Wconversion -Wshadow -Werror"
             " -Wno-maybe-uninitialized -fno-math-errno -fno-trapping-math -ffp-contract=fast -I'%s/runtime/include'"
             " '%s' -o '%s/kernel.so' -lm",
             HG_CC, HG_NATIVE, HG_SANITIZE, FIT_SOURCE_DIR, path, dir);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/kernel.so", dir);
    void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(so);
    struct judge *j = judge_new(m, 0);
    for (int turn = 0; turn < 2; turn++) {
        const char *wrong = judge_case(j, dlsym(so, "scale"), &r, 0, &report);
        if (wrong)
            fail_msg("%s (in %s)", wrong, dir);
    }
    judge_free(j);
    dlclose(so);
    unlink(path);
    snprintf(path, sizeof path, "%s/kernel.c", dir);
    unlink(path);
    rmdir(dir);
    free(kernel);
    free(text);
    hg_arena_free(a);
}

static void test_loops_over_tables_are_right(void **state)
{
    (void)state;
    loops_are_right("many_modes", 100, 17, "u_a[a]");
}

static void test_loops_over_basis_functions_are_right(void **state)
{
    (void)state;
    loops_are_right("lines", 66, 18, "seed[q]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_model_of_200_parameters),
        cmocka_unit_test(test_lines_of_66_amplitudes),
        cmocka_unit_test(test_pair_model_of_202_parameters),
        cmocka_unit_test(test_loops_over_tables_are_right),
        cmocka_unit_test(test_loops_over_basis_functions_are_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
