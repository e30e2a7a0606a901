/* gpu_subject.c -- see gpu_subject.h. */
#include "property/gpu_subject.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <unistd.h>

#include "generator/emit/emit_gpu.h"
#include "property/gen_model.h"
#include "support/emit_kernel.h"

#ifndef HG_CC
#define HG_CC "cc"
#endif

static void write_file(const char *dir, const char *form, unsigned number, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, form, dir, number);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* The same text without kernels of sums: their functions are used by nothing, and no compiler makes code of them. */
static char *values_alone(const char *text)
{
    static const char include[] = "#include \"fit/gpu.h\"\n", less[] =
        "#undef FIT_GPU_SUMS\n#ifdef FIT_GPU_PLAIN\n#define FIT_GPU_SUMS(name, count) "
        "static void name(const struct fit_gpu_grid *grid, FIT_GPU_ARGUMENTS) {}\n"
        "#else\n#define FIT_GPU_SUMS(name, count)\n#endif\n";
    const char *at = strstr(text, include);
    assert_non_null(at);
    const size_t before = (size_t)(at - text) + sizeof include - 1, size = strlen(text) + sizeof less;
    char *s = malloc(size);
    assert_non_null(s);
    snprintf(s, size, "%.*s%s%s", (int)before, text, less, text + before);
    return s;
}

/* DIR/mK.c and s->gpu. */
static void emit(struct gpu_subject *s, const char *dir, unsigned number)
{
    char *text = NULL;
    size_t size = 0;
    struct hg_diag d = {.out = tmpfile()};
    s->m = hg_dsl_load_text(s->a, "random.lua", s->text, &d);
    assert_non_null(s->m);
    const struct hg_variant *v = hg_model_variant(s->m, "fast");
    struct hg_plan *plan = hg_plan_new(s->m, v, &d);
    assert_non_null(plan);
    struct hg_form *form = hg_form_separate(plan);
    hg_form_factor(form);
    struct hg_emit *em = hg_emit_functions(form, v, 0);
    const struct hg_analysis found = {.degenerate = hg_degenerate(s->m, v), .cost = em->cost};
    FILE *f = open_memstream(&text, &size);
    hg_emit_file(em, &found, f);
    fclose(f);
    write_file(dir, "%s/m%u.c", number, text);
    free(text);
    f = open_memstream(&s->gpu, &size);
    hg_emit_gpu(em, f);
    fclose(f);
    fclose(d.out);
}

/* Its texts, and what gives them names: DIR/mK.c, mK_gpu.c, wK.c, gK.c. */
static void write_texts(struct gpu_subject *s, const char *dir, unsigned number, enum gpu_subject_part part)
{
    char wrapper[400];
    emit(s, dir, number);
    if (part == GPU_SUBJECT_VALUES) {
        char *less = values_alone(s->gpu);
        free(s->gpu);
        s->gpu = less;
    }
    write_file(dir, "%s/m%u_gpu.c", number, s->gpu);
    snprintf(wrapper, sizeof wrapper, "#define FIT_KERNEL_SYMBOL kernel_%u\n#define FIT_KERNEL_ISA \"native\"\n"
             "#define FIT_ISA_SUFFIX _n\n#include \"m%u.c\"\n", number, number);
    write_file(dir, "%s/w%u.c", number, wrapper);
    snprintf(wrapper, sizeof wrapper, "#define FIT_GPU_SYMBOL program_%u\n#include \"m%u_gpu.c\"\n", number, number);
    write_file(dir, "%s/g%u.c", number, wrapper);
}

static void *build(const char *dir, unsigned n, enum gpu_subject_part part)
{
    const char *cc = getenv("HG_CC");
    const size_t size = 1000 + 20 * (size_t)n;
    char *command = malloc(size), path[300];
    assert_non_null(command);
    size_t at = (size_t)snprintf(command, size,
                                 "cd '%s' && %s -std=gnu11 %s %s -shared -fPIC -Wall -Wextra -Werror "
                                 "-Wno-unused-parameter -Wno-unused-variable -Wno-unknown-warning-option "
                                 "-Wno-maybe-uninitialized -fno-math-errno -ffp-contract=off -I'%s/runtime/include'",
                                 dir, cc ? cc : HG_CC, part == GPU_SUBJECT_VALUES ? "-O0" : "-O1", HG_SANITIZE,
                                 FIT_SOURCE_DIR);
    for (unsigned k = 0; k < n; k++)
        at += (size_t)snprintf(command + at, size - at, " w%u.c g%u.c", k, k);
    snprintf(command + at, size - at, " -o batch.so -lm");
    if (system(command) != 0)
        fail_msg("the C compiler refused a text: %s", command);
    free(command);
    snprintf(path, sizeof path, "%s/batch.so", dir);
    void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!so)
        fail_msg("%s", dlerror());
    return so;
}

static const void *symbol_of(void *so, const char *form, unsigned number)
{
    char symbol[40];
    snprintf(symbol, sizeof symbol, form, number);
    const void *found = dlsym(so, symbol);
    assert_non_null(found);
    return found;
}

struct gpu_subject *gpu_subjects_new(const char *dir, unsigned n, enum gpu_subject_part part, struct random *r,
                                     void **so)
{
    struct gpu_subject *s = calloc(n, sizeof *s);
    char name[40];
    assert_non_null(s);
    for (unsigned k = 0; k < n; k++) {
        snprintf(name, sizeof name, "random_%u", k);
        s[k].a = hg_arena_new();
        s[k].text = gen_model(s[k].a, r, name, k % 7 == 5);
        write_texts(&s[k], dir, k, part);
    }
    *so = build(dir, n, part);
    for (unsigned k = 0; k < n; k++) {
        s[k].kernel = symbol_of(*so, "kernel_%u", k);
        s[k].program = symbol_of(*so, "program_%u", k);
    }
    return s;
}

void gpu_subjects_free(struct gpu_subject *s, unsigned n, const char *dir)
{
    static const char *const form[] = {"%s/m%u.c", "%s/m%u_gpu.c", "%s/w%u.c", "%s/g%u.c"};
    char path[300];
    for (unsigned k = 0; k < n; k++) {
        for (size_t f = 0; f < sizeof form / sizeof *form; f++) {
            snprintf(path, sizeof path, form[f], dir, k);
            unlink(path);
        }
        hg_arena_free(s[k].a);
        free(s[k].gpu);
    }
    snprintf(path, sizeof path, "%s/batch.so", dir);
    unlink(path);
    rmdir(dir);
    free(s);
}
