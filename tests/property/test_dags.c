/* test_dags.c -- random expression graphs as emitted C, by every compiler that is there, against the
 * interpreter.
 *
 * Each graph is a function of three parameters, a few scalars and two columns.  It and its derivatives are
 * written by code.c as the product writes them, vectors of rows (every fourth graph: one row at a time as
 * well; every second one: factored), many graphs to a file; compiled with the product's flags by gcc and by
 * clang; loaded; and compared at eight rows with the interpreter's values and dual numbers, within its bound
 * of the rounding error (tests/support/tol.h).
 *
 *   HG_SEED=n   other graphs (default 1)        HG_CASES=n   graphs (default 1000)
 * A failure prints the seed, the compiler, and the smallest graph found that still fails.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <unistd.h>

#include "fit/kernel.h"
#include "generator/emit/code.h"
#include "generator/graph/eval.h"
#include "generator/structure/factor.h"
#include "property/gen_expr.h"
#include "support/tol.h"

enum { ROWS = FIT_LANES, P = RECIPE_PARAMETERS, MOST_ROOTS = 1 + P + P * (P + 1) / 2, COLUMNS = 2, FILES = 2 };

/* Everything that leaves stand for; the emitted functions take the same names. */
struct place {
    double param[P], one[4]; /* lin, set, coord, step */
    _Alignas(64) double column[COLUMNS][ROWS];
};

typedef void function(const double *param, const double *one, const double *const *column, double *out);

/* A graph with what is wanted of it. */
struct dag {
    struct recipe recipe;
    int second, factored, scalar; /* second derivatives as well; through factor.c; also row by row */
    struct place at;
};

/* --- writing ----------------------------------------------------------------------------------------- */

static int is_leaf(const struct hg_code *c, hg_id id)
{
    return hg_at(c->e, id)->nargs == 0;
}

static const char *leaf(struct hg_code *c, hg_id id)
{
    const struct hg_node *n = hg_at(c->e, id);
    switch (n->op) {
    case HG_PARAM: return hg_format(c->e->arena, "param[%u]", n->ref);
    case HG_LINEAR: return "one[0]";
    case HG_SETTING: return "one[1]";
    case HG_COORD: return "one[2]";
    case HG_STEP: return "one[3]";
    case HG_COLUMN:
        return hg_format(c->e->arena, c->vector_if ? "fit_vload(column[%u] + h)" : "column[%u][h]", n->ref);
    default: fail_msg("no leaf %s here", hg_op_text[n->op]); return "";
    }
}

/* The graph, its derivatives, and, when asked for, its second derivatives; their number. */
static uint32_t build(const struct dag *d, struct hg_expr *e, hg_id *root)
{
    uint32_t n = 0;
    root[n++] = recipe_build(&d->recipe, e, 0, NULL);
    for (uint32_t k = 0; k < P; k++)
        root[n++] = hg_diff(e, root[0], hg_symbol(e, HG_PARAM, k));
    for (uint32_t k = 0; k < P && d->second; k++)
        for (uint32_t l = k; l < P; l++)
            root[n++] = hg_diff(e, root[1 + k], hg_symbol(e, HG_PARAM, l));
    return n;
}

static void write_function(const struct dag *d, const char *name, unsigned vector_if, FILE *out)
{
    static const char *const reserve[] = {"param", "one", "column", "out", "h"};
    struct hg_arena *a = hg_arena_new();
    struct hg_expr *e = hg_expr_new(a);
    hg_id root[MOST_ROOTS];
    uint32_t n = build(d, e, root);
    if (d->factored)
        hg_factor(e, n, root);
    struct hg_tree *t = hg_tree_new(e->arena);
    struct hg_code c = {.e = e, .out = t, .vector_if = vector_if, .leaf = leaf, .is_leaf = is_leaf,
                        .reserve = reserve, .nreserve = sizeof reserve / sizeof *reserve};
    hg_code_begin(&c, n, root);
    hg_open_function(t, "static void", name,
                     "const double *param, const double *one, const double *const *column, double *out");
    hg_line(t, "(void)param, (void)one, (void)column;");
    hg_open(t, "for (int h = 0; h < %d; h += %s) {", ROWS, vector_if ? "FIT_VL" : "1");
    hg_code_push(&c);
    for (uint32_t k = 0; k < n; k++) {
        hg_code_need(&c, root[k]);
        if (vector_if)
            hg_do(t, "fit_vstore(out + %u + h, %s);", k * ROWS, hg_code_vector(&c, root[k]));
        else
            hg_do(t, "out[%u + h] = %s;", k * ROWS, hg_code_text(&c, root[k]));
    }
    hg_code_pop(&c);
    hg_code_end(&c);
    hg_close(t);
    hg_close(t);
    hg_tree_print(t, out);
    hg_arena_free(a);
}

/* A file with the functions of graphs first, first + step, ...; their table has two places for each graph. */
static void write_file(const char *path, const struct dag *dag, uint32_t n, uint32_t first, uint32_t step)
{
    FILE *out = fopen(path, "w");
    char name[40];
    assert_non_null(out);
    fprintf(out, "#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n\n#define FIT_VL FIT_VL_NATIVE\n"
                 "#include \"fit/kernel.h\"\n#include \"fit/tables.h\"\n#include \"fit/vmath.h\"\n"
                 "#include \"fit/vmath_incomplete.h\"\n\n");
    for (uint32_t k = first; k < n; k += step) {
        snprintf(name, sizeof name, "dag_%u", k);
        write_function(&dag[k], name, HG_R, out);
        snprintf(name, sizeof name, "dag_%u_row", k);
        if (dag[k].scalar)
            write_function(&dag[k], name, 0, out);
    }
    fprintf(out, "typedef void function(const double *, const double *, const double *const *, double *);\n"
                 "extern function *const dags[];\nfunction *const dags[] = {\n");
    for (uint32_t k = first; k < n; k += step)
        fprintf(out, dag[k].scalar ? "    dag_%u, dag_%u_row,\n" : "    dag_%u, NULL,\n", k, k);
    fprintf(out, "};\n");
    assert_int_equal(fclose(out), 0);
}

/* --- compiling --------------------------------------------------------------------------------------- */

struct compiler {
    const char *name, *flags;
};

/* Each at another width of vectors. */
static const struct compiler compiler[] = {
    {HG_GCC, HG_NATIVE}, {"clang", "-march=x86-64-v3"}, {"clang", HG_TARGET}};

static int present(const struct compiler *cc)
{
    char command[100];
    snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", cc->name);
    if (system(command) != 0)
        return 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    return !strstr(cc->flags, "v3") || (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
#else
    return !strstr(cc->flags, "x86");
#endif
}

/* The compiler for graphs of a file: clang with AVX2, or without where there is none. */
static const struct compiler *choose(size_t which)
{
    if (which == 0)
        return present(&compiler[0]) ? &compiler[0] : NULL;
    return present(&compiler[1]) ? &compiler[1] : present(&compiler[2]) ? &compiler[2] : NULL;
}

static void *load(const char *source, const char *so, const struct compiler *cc, function *const **table)
{
    char command[1500];
    snprintf(command, sizeof command,
             "%s -std=gnu11 -O2 %s -fno-math-errno -fno-trapping-math -ffp-contract=fast -shared -fPIC -Wall -Wextra"
             " -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes -Werror -I'%s/runtime/include' '%s' -o '%s' -lm",
             cc->name, cc->flags, FIT_SOURCE_DIR, source, so);
    if (system(command) != 0)
        fail_msg("the compiler refused emitted code: %s", command);
    void *handle = dlopen(so, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail_msg("%s", dlerror());
    *table = (function *const *)dlsym(handle, "dags");
    assert_non_null(*table);
    return handle;
}

/* --- judging ----------------------------------------------------------------------------------------- */

struct report {
    const char *compiler;
    unsigned long compared, skipped;
    double worst[3]; /* values, first, second derivatives, in bounds */
    char message[400];
};

static int agrees(struct report *r, int order, double x, long double v, long double e)
{
    long double error = fabsl((long double)x - v), ratio;
    r->compared++;
    if (!(fabsl(v) < 1e30L && e < 1e30L)) {
        r->skipped++;
        return 1;
    }
    if (error <= TOL_TINY)
        return 1;
    ratio = error / ((e + fabsl(v)) * TOL_UNIT);
    if (ratio > (long double)r->worst[order])
        r->worst[order] = (double)ratio;
    if (ratio <= TOL_POINTS)
        return 1;
    snprintf(r->message, sizeof r->message, "%s: %.17g, expected %.19Lg: %.3Lg bounds", r->compiler, x, v, ratio);
    return 0;
}

/* Reference at one row: values from the last place that was derived by a dual number, bounds of all. */
static void reference(struct hg_expr *e, struct hg_eval *ev, const hg_id *root, uint32_t n, struct hg_point *p,
                      long double *v, long double *bound)
{
    p->seed = 0;
    hg_eval_run(ev, p);
    for (uint32_t k = 0; k < n; k++) {
        v[k] = hg_eval_get(ev, root[k], 0).v;
        bound[k] = hg_eval_get(ev, root[k], 0).e;
    }
    for (uint32_t k = 0; k < P; k++) {
        p->seed = hg_symbol(e, HG_PARAM, k);
        hg_eval_run(ev, p);
        v[1 + k] = hg_eval_get(ev, root[0], 0).d;
        for (uint32_t l = 0, at = 1 + P; l < P && n > 1 + P; at += P - l, l++)
            if (l <= k)
                v[at + k - l] = hg_eval_get(ev, root[1 + l], 0).d;
    }
}

/* Both forms of a graph at all rows; 0 when one is wrong. */
static int judge(const struct dag *d, function *const pair[2], struct report *r)
{
    struct hg_arena *a = hg_arena_new();
    struct hg_expr *e = hg_expr_new(a);
    hg_id root[MOST_ROOTS];
    uint32_t n = build(d, e, root);
    struct hg_eval *ev = hg_eval_new(e, n, root);
    const double *const column[COLUMNS] = {d->at.column[0], d->at.column[1]};
    _Alignas(64) double out[2][MOST_ROOTS * ROWS];
    int ok = 1;
    for (int form = 0; form < 2; form++)
        if (pair[form])
            pair[form](d->at.param, d->at.one, column, out[form]);
    for (int row = 0; row < ROWS && ok; row++) {
        double here[COLUMNS] = {column[0][row], column[1][row]};
        struct hg_point p = {.param = d->at.param, .linear = d->at.one, .setting = d->at.one + 1,
                             .coord = d->at.one + 2, .step = d->at.one[3], .column = here};
        long double v[MOST_ROOTS], bound[MOST_ROOTS];
        reference(e, ev, root, n, &p, v, bound);
        for (uint32_t k = 0; k < n && ok; k++)
            for (int form = 0; form < 2 && ok; form++)
                ok = !pair[form] || agrees(r,
                                           k == 0   ? 0
                                           : k <= P ? 1
                                                    : 2,
                                           out[form][k * ROWS + (uint32_t)row], v[k], bound[k]);
    }
    hg_eval_free(ev);
    hg_arena_free(a);
    return ok;
}

/* --- running ----------------------------------------------------------------------------------------- */

static void draw(struct dag *d, struct random *r, uint32_t number)
{
    *d = (struct dag){.second = number % 4 == 1, .factored = number % 2 == 0, .scalar = number % 4 == 3};
    recipe_draw(&d->recipe, r, 5 + random_below(r, RECIPE_MOST - 5), 1, 0);
    for (uint32_t k = 0; k < d->recipe.n && d->second; k++) /* the family of sinc ends at its second derivative */
        if (d->recipe.step[k].op == HG_DSINC)
            d->recipe.step[k].op = HG_SINC;
    for (int k = 0; k < P; k++)
        d->at.param[k] = random_in(r, -2, 2);
    for (int k = 0; k < 4; k++)
        d->at.one[k] = random_in(r, 0.2, 2);
    for (int k = 0; k < COLUMNS; k++)
        for (int row = 0; row < ROWS; row++)
            d->at.column[k][row] = random_in(r, -2, 2);
}

struct shrinking {
    struct dag dag;
    const struct compiler *cc;
    struct report *report;
    const char *dir;
    int number;
};

static int still_fails(const struct recipe *recipe, void *user)
{
    struct shrinking *s = user;
    char source[300], so[300];
    function *const *table;
    s->dag.recipe = *recipe;
    snprintf(source, sizeof source, "%s/smaller.c", s->dir);
    snprintf(so, sizeof so, "%s/smaller%d.so", s->dir, s->number++); /* a loaded file is not loaded again */
    write_file(source, &s->dag, 1, 0, 1);
    void *handle = load(source, so, s->cc, &table);
    int bad = !judge(&s->dag, table, s->report);
    dlclose(handle);
    unlink(so);
    return bad;
}

static void shrink(const struct dag *d, const struct compiler *cc, struct report *report, const char *dir)
{
    struct shrinking s = {.dag = *d, .cc = cc, .report = report, .dir = dir};
    struct recipe r = d->recipe;
    recipe_shrink(&r, still_fails, &s);
    if (!still_fails(&r, &s))
        return;
    print_message("  %s\n", report->message);
    struct hg_arena *a = hg_arena_new();
    struct hg_expr *e = hg_expr_new(a);
    print_message("  smallest graph: %s\n  (%s/smaller.c)\n", hg_text(e, recipe_build(&r, e, 0, NULL), 1), dir);
    hg_arena_free(a);
}

/* All graphs by one compiler; the number that are wrong. */
static uint32_t run(const struct dag *dag, uint32_t n, const struct compiler *cc, const char *dir)
{
    struct report report = {.compiler = cc->name};
    uint32_t bad = 0;
    for (uint32_t file = 0; file < FILES; file++) {
        char source[300], so[300];
        function *const *table;
        snprintf(source, sizeof source, "%s/dags%u.c", dir, file);
        snprintf(so, sizeof so, "%s/dags%u_%s.so", dir, file, cc->name);
        write_file(source, dag, n, file, FILES);
        void *handle = load(source, so, cc, &table);
        for (uint32_t k = file, at = 0; k < n && bad < 3; k += FILES, at += 2)
            if (!judge(&dag[k], table + at, &report)) {
                bad++;
                print_message("graph %u, %s\n", k, report.message);
                shrink(&dag[k], cc, &report, dir);
            }
        dlclose(handle);
        unlink(so);
        if (!bad)
            unlink(source);
    }
    print_message("%s %s: %lu numbers compared, %lu too large; worst error in bounds: values %.2g, first derivatives"
                  " %.2g, second %.2g\n", cc->name, cc->flags, report.compared, report.skipped, report.worst[0],
                  report.worst[1], report.worst[2]);
    assert_true(report.skipped * 10 <= report.compared); /* the graphs must not be mostly nonsense */
    return bad;
}

static void test_random_graphs(void **state)
{
    uint64_t seed = random_environment("HG_SEED", 1);
    uint32_t n = (uint32_t)random_environment("HG_CASES", 1000), bad = 0, compilers = 0;
    struct random r = {seed};
    const char *base = getenv("TMPDIR");
    char dir[200];
    (void)state;
    snprintf(dir, sizeof dir, "%s/homodyne-dags-XXXXXX", base && *base ? base : "/tmp");
    assert_non_null(mkdtemp(dir));
    print_message("HG_SEED=%llu HG_CASES=%u, in %s\n", (unsigned long long)seed, n, dir);
    struct dag *dag = aligned_alloc(64, n * sizeof *dag);
    assert_non_null(dag);
    for (uint32_t k = 0; k < n; k++)
        draw(&dag[k], &r, k);
    for (size_t which = 0; which < 2; which++) {
        const struct compiler *cc = choose(which);
        if (!cc) {
            print_message("skipped: there is no %s\n", which ? "clang" : "gcc");
            continue;
        }
        compilers++;
        bad += run(dag, n, cc, dir);
    }
    free(dag);
    if (!bad)
        rmdir(dir);
    assert_int_equal(bad, 0);
    if (!compilers)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_graphs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
