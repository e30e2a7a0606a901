/* test_gpu_models.c -- kernels for accelerators of random models, judged by the interpreter (judge.h) like those for
 * processors: their text as plain C and, where there is OpenCL, there.
 *
 *   HG_SEED=n, HG_CASES=n   as in test_models.c (default 6 models)
 *   HG_DEVICE   plain, opencl:0; default: all models by plain, two of them by OpenCL */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <unistd.h>

#include "device/device.h"
#include "fit/gpu_shape.h"
#include "generator/emit/emit_gpu.h"
#include "property/gen_model.h"
#include "property/judge.h"
#include "support/emit_kernel.h"

#ifndef HG_CC
#define HG_CC "cc"
#endif

enum { GEOMETRIES = 4, MOST = 4096 };

/* ---- a kernel whose tile functions are those of a device ------------------------------------------------- */

static struct {
    struct fit_device *d;
    struct fit_device_module *module;
    const struct fit_gpu_program *program;
    const struct fit_kernel *kernel;
} now;

static void *put(const void *from, size_t bytes)
{
    void *b = fit_device_buffer(now.d, bytes);
    assert_non_null(b);
    if (from)
        assert_int_equal(fit_device_write(now.d, b, 0, from, bytes), 0);
    return b;
}

/* The items of a tile: strips of columns, or all rows. */
static size_t cut(const struct fit_layout *l, const struct fit_tile *t, long *item)
{
    size_t n = 0;
    for (size_t c = t->j0; !l->nrow && c < t->j1; c += FIT_GPU_COLUMNS, n++) {
        const size_t end = c + FIT_GPU_COLUMNS < t->j1 ? c + FIT_GPU_COLUMNS : t->j1;
        const long x[FIT_ITEM_NUMBERS] = {(long)t->i0, (long)t->i1, (long)t->j0, (long)t->j1, (long)t->i0,
                                          (long)t->i1, (long)c, (long)end, 0, 0};
        memcpy(item + n * FIT_ITEM_NUMBERS, x, sizeof x);
    }
    const long row[FIT_ITEM_NUMBERS] = {(long)t->i0, (long)t->i1, 0, 0, (long)t->i0, (long)t->i1, 0, 0, 0,
                                        (long)t->group};
    if (l->nrow)
        memcpy(item, row, sizeof row);
    return l->nrow ? 1 : n;
}

static void *fixed_of(const struct fit_layout *l)
{
    const size_t ng = l->ngroup, rows = (l->nrow + FIT_LANES - 1) / FIT_LANES * FIT_LANES;
    const size_t n = 1 + now.program->axes * ng + now.program->columns * rows;
    double *x = calloc(n, sizeof *x);
    x[0] = l->step;
    for (size_t a = 0; a < now.kernel->naxis; a++)
        memcpy(x + 1 + a * ng, l->coord[a], ng * sizeof *x);
    for (size_t c = 0; rows && c < now.kernel->ncolumn; c++)
        memcpy(x + 1 + now.program->axes * ng + c * rows, l->column[c], rows * sizeof *x);
    void *b = put(x, n * sizeof *x);
    free(x);
    return b;
}

/* Doubles stored for a tile: as the last lane of its last row says. */
static size_t doubles_of(const struct fit_layout *l, const struct fit_tile *t)
{
    size_t n = 0;
    for (size_t i = t->i0; !l->nrow && i < t->i1; i++)
        n += ((t->j1 + 7) / 8 - (t->j0 > i + 1 ? t->j0 : i + 1) / 8) * 8 * l->ngroup;
    return l->nrow ? (t->i1 + 7) / 8 * 8 - t->i0 : n;
}

struct call {
    const struct fit_layout *l;
    const double *ws, *lin, *adj;
    const struct fit_tile *t;
    long item[64 * FIT_ITEM_NUMBERS];
    size_t nitem, doubles;
    void *buffer[9];
};

static void begin(struct call *c)
{
    const size_t ng = c->l->ngroup, q = now.kernel->nlinear, nws = now.kernel->workspace(c->l);
    c->nitem = cut(c->l, c->t, c->item);
    c->doubles = doubles_of(c->l, c->t);
    const long shape[FIT_SHAPE_NUMBERS] = {(long)ng, (long)c->l->ntime, (long)c->l->nframe, (long)c->l->nrow,
                                           (long)c->nitem, c->t->w != NULL};
    const double none = 0;
    c->buffer[0] = put(shape, sizeof shape);
    c->buffer[1] = put(c->item, c->nitem * FIT_ITEM_NUMBERS * sizeof(long));
    c->buffer[2] = fixed_of(c->l);
    c->buffer[3] = put(c->ws, nws * sizeof(double));
    c->buffer[4] = c->lin && q ? put(c->lin, ng * q * sizeof(double)) : put(&none, sizeof none);
    c->buffer[5] = c->adj ? put(c->adj, ng * (1 + q * (q + 1) / 2) * sizeof(double)) : put(&none, sizeof none);
    c->buffer[6] = put(c->t->y, c->doubles * sizeof(double));
    c->buffer[7] = c->t->w ? put(c->t->w, c->doubles * sizeof(double)) : put(&none, sizeof none);
}

static void end(struct call *c)
{
    for (int k = 0; k < 8; k++)
        fit_device_release(now.d, c->buffer[k]);
}

/* out <- the results of a kind, each group `each` numbers behind the last; of one group for a table. */
static void take(struct call *c, enum fit_gpu_kind kind, size_t each, double *out)
{
    static double part[64 * 128 * 5], total[MOST];
    for (size_t k = 0; k < now.program->npass; k++) {
        const struct fit_gpu_pass *p = &now.program->pass[k];
        const size_t rows = p->groups && !c->l->nrow ? c->l->ngroup : 1, at = p->groups && c->l->nrow ? c->t->group : 0;
        const long shape[FIT_TOTAL_NUMBERS] = {(long)c->nitem};
        if (p->kind != kind)
            continue;
        c->buffer[8] = put(NULL, sizeof part);
        struct fit_device_call run = {p->name, p->plain, {c->nitem, rows, 1}, {NULL}, 9};
        memcpy(run.buffer, c->buffer, sizeof c->buffer);
        assert_int_equal(fit_device_run(now.module, &run), 0);
        struct fit_device_call sum = {"fit_gpu_total", NULL, {p->count, rows, 1}, {NULL}, 4};
        sum.buffer[0] = put(shape, sizeof shape);
        sum.buffer[1] = put(shape, sizeof shape);
        sum.buffer[2] = c->buffer[8];
        sum.buffer[3] = put(NULL, rows * p->count * sizeof(double));
        assert_int_equal(fit_device_run(now.module, &sum), 0);
        assert_int_equal(fit_device_read(now.d, sum.buffer[3], total, rows * p->count * sizeof(double)), 0);
        for (size_t r = 0; r < rows; r++)
            memcpy(out + (at + r) * each + p->first, total + r * p->count, p->count * sizeof(double));
        fit_device_release(now.d, sum.buffer[0]);
        fit_device_release(now.d, sum.buffer[1]);
        fit_device_release(now.d, sum.buffer[3]);
        fit_device_release(now.d, c->buffer[8]);
    }
}

static void moments(const struct fit_layout *l, const double *ws, const struct fit_tile *t, double *scratch,
                    double *out)
{
    const size_t q = now.kernel->nlinear, each = q * (q + 1) / 2 + q + 1;
    struct call c = {.l = l, .ws = ws, .t = t};
    (void)scratch;
    memset(out, 0, l->ngroup * each * sizeof *out);
    begin(&c);
    take(&c, FIT_GPU_MOMENTS, each, out);
    end(&c);
}

static void normal(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t,
                   double *scratch, double *out)
{
    const size_t q = now.kernel->nlinear, p = now.kernel->nparam, n = p * (p + 1) / 2 + p;
    struct call c = {.l = l, .ws = ws, .lin = lin, .t = t};
    (void)scratch;
    memset(out, 0, (n + l->ngroup * q * p) * sizeof *out);
    begin(&c);
    take(&c, FIT_GPU_NORMAL, n, out);
    take(&c, FIT_GPU_CROSS, q * p, out + n);
    end(&c);
}

static void gradient(const struct fit_layout *l, const double *ws, const double *lin, const double *adj,
                     const struct fit_tile *t, double *scratch, double *out)
{
    struct call c = {.l = l, .ws = ws, .lin = lin, .adj = adj, .t = t};
    (void)scratch;
    memset(out, 0, now.kernel->nparam * sizeof *out);
    begin(&c);
    take(&c, FIT_GPU_GRADIENT, now.kernel->nparam, out);
    end(&c);
}

static void model(const struct fit_layout *l, const double *ws, const double *lin, const struct fit_tile *t,
                  double *out)
{
    struct call c = {.l = l, .ws = ws, .lin = lin, .t = t};
    begin(&c);
    for (size_t k = 0; k < now.program->npass; k++) {
        const struct fit_gpu_pass *p = &now.program->pass[k];
        struct fit_device_call run = {p->name, p->plain, {c.nitem, l->nrow ? 1 : l->ngroup, 1}, {NULL}, 9};
        if (p->kind != FIT_GPU_VALUE)
            continue;
        c.buffer[8] = put(out, c.doubles * sizeof *out);
        memcpy(run.buffer, c.buffer, sizeof c.buffer);
        assert_int_equal(fit_device_run(now.module, &run), 0);
        assert_int_equal(fit_device_read(now.d, c.buffer[8], out, c.doubles * sizeof *out), 0);
        fit_device_release(now.d, c.buffer[8]);
    }
    end(&c);
}

/* ---- models ---------------------------------------------------------------------------------------------- */

struct subject {
    struct hg_arena *a;
    char *text, *gpu;
    struct hg_model *m;
};

static void write_file(const char *dir, const char *form, unsigned number, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, form, dir, number);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

/* DIR/mK.c, DIR/mK_gpu.c, and what gives them names. */
static void compile(struct subject *s, const char *dir, unsigned number)
{
    char *text = NULL, wrapper[400];
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
    write_file(dir, "%s/m%u_gpu.c", number, s->gpu);
    snprintf(wrapper, sizeof wrapper, "#define FIT_KERNEL_SYMBOL kernel_%u\n#define FIT_KERNEL_ISA \"native\"\n"
             "#define FIT_ISA_SUFFIX _n\n#include \"m%u.c\"\n", number, number);
    write_file(dir, "%s/w%u.c", number, wrapper);
    snprintf(wrapper, sizeof wrapper, "#define FIT_GPU_SYMBOL program_%u\n#include \"m%u_gpu.c\"\n", number, number);
    write_file(dir, "%s/g%u.c", number, wrapper);
}

static void *build(const char *dir, unsigned n)
{
    char command[4000], path[300];
    size_t at = (size_t)snprintf(command, sizeof command,
                                 "cd '%s' && %s -std=gnu11 -O1 %s -shared -fPIC -Wall -Wextra -Werror "
                                 "-Wno-unused-parameter -Wno-unused-variable -Wno-maybe-uninitialized "
                                 "-fno-math-errno -ffp-contract=off -I'%s/runtime/include'",
                                 dir, HG_CC, HG_SANITIZE, FIT_SOURCE_DIR);
    for (unsigned k = 0; k < n; k++)
        at += (size_t)snprintf(command + at, sizeof command - at, " w%u.c g%u.c", k, k);
    snprintf(command + at, sizeof command - at, " -o batch.so -lm");
    if (system(command) != 0)
        fail_msg("the C compiler refused a text: %s", command);
    snprintf(path, sizeof path, "%s/batch.so", dir);
    void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!so)
        fail_msg("%s", dlerror());
    return so;
}

static int judge_one(struct subject *s, void *so, unsigned number, struct random *r, struct judge_report *report)
{
    char symbol[40];
    const char *wrong = NULL;
    struct fit_error err;
    snprintf(symbol, sizeof symbol, "kernel_%u", number);
    now.kernel = dlsym(so, symbol);
    snprintf(symbol, sizeof symbol, "program_%u", number);
    now.program = dlsym(so, symbol);
    assert_non_null(now.kernel);
    assert_non_null(now.program);
    if (!now.program->npass) {
        print_message("model %u: none for accelerators: %s\n", number, now.program->lacks);
        return 1;
    }
    const struct fit_gpu_source source = {now.program, (const unsigned char *)s->gpu, NULL};
    if (fit_device_load(now.d, &source, &now.module, &err) != FIT_OK)
        fail_msg("model %u: %s\n%s", number, err.message, s->text);
    struct fit_kernel k = *now.kernel;
    k.moments = moments;
    k.normal = normal;
    k.gradient = gradient;
    k.model = model;
    struct judge *j = judge_new(s->m, 0);
    for (int n = 0; n < GEOMETRIES && !wrong; n++)
        wrong = judge_case(j, &k, r, n >= GEOMETRIES - 1, report);
    if (wrong)
        print_message("model %u: %s\n%s\n", number, wrong, s->text);
    judge_free(j);
    return wrong == NULL;
}

static void on_device(const char *word, struct subject *s, void *so, unsigned n, struct random *r)
{
    struct judge_report report = {{0}, 0};
    struct fit_error err;
    char note[300];
    unsigned bad = 0;
    if (fit_device_open(word, &now.d, note, sizeof note, &err) != FIT_OK) {
        print_message("skipped: %s\n", err.message);
        return;
    }
    for (unsigned k = 0; k < n; k++) {
        bad += !judge_one(&s[k], so, k, r, &report);
        fit_device_close(now.d);
        assert_int_equal(fit_device_open(word, &now.d, note, sizeof note, &err), FIT_OK);
    }
    print_message("%s: %lu numbers compared; worst error in bounds:", word, report.compared);
    for (int p = 0; p < JUDGE_PRODUCTS; p++)
        print_message(" %s %.2g", judge_name[p], report.worst[p]);
    print_message("\n");
    fit_device_close(now.d);
    assert_int_equal(bad, 0);
}

static void clean(const char *dir, unsigned n)
{
    static const char *const form[] = {"%s/m%u.c", "%s/m%u_gpu.c", "%s/w%u.c", "%s/g%u.c"};
    char path[300];
    for (unsigned k = 0; k < n; k++)
        for (size_t f = 0; f < sizeof form / sizeof *form; f++) {
            snprintf(path, sizeof path, form[f], dir, k);
            unlink(path);
        }
    snprintf(path, sizeof path, "%s/batch.so", dir);
    unlink(path);
    rmdir(dir);
}

static void test_random_models(void **state)
{
    const unsigned n = (unsigned)random_environment("HG_CASES", 6);
    struct random r = {random_environment("HG_SEED", 1)};
    struct subject *s = calloc(n, sizeof *s);
    char name[40], dir[] = "/tmp/homodyne-gpu-XXXXXX";
    const char *only = getenv("HG_DEVICE");
    (void)state;
    print_message("HG_SEED=%llu HG_CASES=%u\n", (unsigned long long)r.state, n);
    assert_non_null(mkdtemp(dir));
    for (unsigned k = 0; k < n; k++) {
        snprintf(name, sizeof name, "random_%u", k);
        s[k].a = hg_arena_new();
        s[k].text = gen_model(s[k].a, &r, name, k % 7 == 5);
        compile(&s[k], dir, k);
    }
    void *so = build(dir, n);
    on_device(only ? only : "plain", s, so, n, &r);
    if (!only)
        on_device("opencl:0", s, so, n < 2 ? n : 2, &r); /* its compiler takes seconds for each kernel */
    dlclose(so);
    for (unsigned k = 0; k < n; k++) {
        hg_arena_free(s[k].a);
        free(s[k].gpu);
    }
    free(s);
    clean(dir, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_models)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
