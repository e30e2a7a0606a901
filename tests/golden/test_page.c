/* test_page.c -- pages that document a model: golden/page/X.lua must give golden/page/X.html and
 * X.tex, byte by byte; the pages of all models are well formed, name everything the model declares,
 * and need neither network nor script; pdflatex, where there is one, compiles them.
 *
 * UPDATE=1 in the environment rewrites the texts; look at the pages. */
#include <ctype.h>
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "generator/language/dsl.h"
#include "generator/document/page.h"

#define GOLDEN FIT_SOURCE_DIR "/tests/golden/page"

struct made {
    struct hg_arena *arena;
    struct hg_model *m;
    char *html, *tex;
};

static char *written(struct hg_model *m, const struct hg_page_format *f)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    /* not the cost of a kernel: the pages stay as they are when kernels get faster */
    const struct hg_analysis found = {.cost = {.per_frame = 11, .per_pair = 22, .per_pair_group = 33,
                                               .value_per_pair_group = 44, .functions_per_pair = 55}};
    hg_page(m, &m->variant[0], &found, f, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static struct made make(const char *path)
{
    struct made p = {.arena = hg_arena_new()};
    struct hg_diag d = {.out = stderr};
    p.m = hg_dsl_load(p.arena, path, &d);
    if (!p.m)
        fail_msg("%s is not accepted", path);
    p.html = written(p.m, &hg_page_html);
    p.tex = written(p.m, &hg_page_latex);
    return p;
}

static void drop(struct made *p)
{
    free(p->html);
    free(p->tex);
    hg_arena_free(p->arena);
}

static int is_model(const struct dirent *e)
{
    size_t n = strlen(e->d_name);
    return n > 4 && strcmp(e->d_name + n - 4, ".lua") == 0;
}

/* Calls f for each model of a folder; the number of those for which it returned 0. */
static int for_each(const char *dir, int at_least, int (*f)(const char *stem, struct made *p))
{
    struct dirent **entry;
    int n = scandir(dir, &entry, is_model, alphasort), bad = 0;
    assert_true(n >= at_least);
    for (int k = 0; k < n; k++) {
        char lua[600], stem[600];
        snprintf(lua, sizeof lua, "%s/%s", dir, entry[k]->d_name);
        snprintf(stem, sizeof stem, "%.*s", (int)strlen(lua) - 4, lua);
        struct made p = make(lua);
        if (!f(stem, &p)) {
            print_message("... of %s\n", lua);
            bad++;
        }
        drop(&p);
        free(entry[k]);
    }
    free(entry);
    return bad;
}

/* --- stored texts ------------------------------------------------------------------------------
 */

static int same_text(const char *path, const char *seen)
{
    enum { ROOM = 1 << 20 };
    const char *update = getenv("UPDATE");
    FILE *f = fopen(path, update && *update == '1' ? "w+" : "r");
    char *stored = calloc(1, ROOM);
    assert_non_null(stored);
    if (f && update && *update == '1')
        fputs(seen, f), rewind(f);
    size_t n = f ? fread(stored, 1, ROOM - 1, f) : 0, same = 0;
    stored[n] = 0;
    while (stored[same] && stored[same] == seen[same])
        same++;
    int ok = stored[same] == seen[same];
    if (!ok)
        print_message(
            "%s differs at byte %zu; UPDATE=1 rewrites it\n  stored: %.60s\n  seen:   %.60s\n",
            path, same, stored + same, seen + same);
    if (f)
        fclose(f);
    free(stored);
    return ok;
}

static int as_stored(const char *stem, struct made *p)
{
    char path[700];
    snprintf(path, sizeof path, "%s.html", stem);
    int ok = same_text(path, p->html);
    snprintf(path, sizeof path, "%s.tex", stem);
    return same_text(path, p->tex) && ok;
}

static void test_pages_are_as_stored(void **state)
{
    (void)state;
    assert_int_equal(for_each(GOLDEN, 2, as_stored), 0);
}

/* --- well-formed -------------------------------------------------------------------------------
 */

static int is_void(const char *name)
{
    return strcmp(name, "meta") == 0 || strcmp(name, "wbr") == 0 || strcmp(name, "!doctype") == 0;
}

/* Every element is closed, in the right order; every & starts an entity; no bare < in text. */
static int balanced(const char *s)
{
    char open[100][20];
    int depth = 0;
    for (; *s; s++) {
        if (*s == '&' &&
            !(strspn(s + 1, "#abcdefghijklmnopqrstuvwxyz0123456789") == strcspn(s, ";") - 1))
            return print_message("bare & at %.40s\n", s), 0;
        if (*s != '<')
            continue;
        char name[20] = "";
        int close = s[1] == '/';
        size_t n = strcspn(s + 1 + close, " >\n");
        if (n == 0 || n >= sizeof name)
            return print_message("bare < at %.40s\n", s), 0;
        for (size_t k = 0; k < n; k++)
            name[k] = (char)tolower((unsigned char)s[1 + close + (int)k]);
        if (close && (depth == 0 || strcmp(open[--depth], name) != 0))
            return print_message("</%s> closes %s at %.40s\n", name, open[depth], s), 0;
        if (!close && !is_void(name))
            strcpy(open[depth++], name);
        assert_true(depth < 99);
        s += strcspn(s, ">");
    }
    return depth == 0;
}

/* Braces, environments and dollars are even; nothing in between that LaTeX would take as a command.
 */
static int balanced_tex(const char *s)
{
    int depth = 0, dollars = 0, begins = 0;
    for (; *s && depth >= 0; s++) {
        if (strncmp(s, "\\begin{", 7) == 0)
            begins++;
        if (strncmp(s, "\\end{", 5) == 0)
            begins--;
        if (*s == '\\' && s[1]) {
            s++;
            continue;
        }
        depth += (*s == '{') - (*s == '}');
        dollars += *s == '$';
        if (*s == '%' || (*s == '#'))
            return print_message("bare %c at %.40s\n", *s, s), 0;
    }
    return depth == 0 && dollars % 2 == 0 && begins == 0;
}

static int well_formed(const char *stem, struct made *p)
{
    static const char *const outside[] = {
        "<script", "http:", "https:", "src=", "@import", "url(", ">nan", ">inf"};
    int ok = balanced(p->html) && balanced_tex(p->tex);
    (void)stem;
    for (size_t k = 0; k < sizeof outside / sizeof *outside; k++)
        if (strstr(p->html, outside[k])) {
            print_message("the page contains %s\n", outside[k]);
            ok = 0;
        }
    return ok;
}

static void test_pages_are_well_formed(void **state)
{
    (void)state;
    assert_int_equal(for_each(GOLDEN, 2, well_formed), 0);
    assert_int_equal(for_each(FIT_SOURCE_DIR "/models", 6, well_formed), 0);
    assert_int_equal(for_each(FIT_SOURCE_DIR "/models/nist", 27, well_formed), 0);
}

/* --- complete ----------------------------------------------------------------------------------
 */

static int has_name(const struct made *p, const char *name)
{
    char html[200], tex[400] = "\\texttt{";
    size_t n = strlen(tex), letters = 0;
    snprintf(html, sizeof html, "<code>%s</code>", name);
    for (const char *s = name; *s;
         s++) { /* may be broken after underscores and each eighth letter */
        letters++;
        n += (size_t)snprintf(tex + n, sizeof tex - n, "%s%c%s", *s == '_' ? "\\" : "", *s,
                              *s == '_' || letters % 8 == 0 ? "\\allowbreak{}" : "");
    }
    snprintf(tex + n, sizeof tex - n, "}");
    if (strstr(p->html, html) && strstr(p->tex, tex))
        return 1;
    print_message("the page does not name %s\n", name);
    return 0;
}

static int complete(const char *stem, struct made *p)
{
    const struct hg_model *m = p->m;
    const struct hg_list *const list[] = {&m->param, &m->linear, &m->setting,
                                          &m->axis,  &m->column, &m->curve};
    int ok = has_name(p, m->hash) && has_name(p, m->file);
    (void)stem;
    for (size_t l = 0; l < sizeof list / sizeof *list; l++)
        for (uint32_t k = 0; k < list[l]->n; k++)
            ok = has_name(p, list[l]->item[k].name) && ok;
    for (uint32_t v = 1; v < m->nvariant; v++) {
        char head[100];
        snprintf(head, sizeof head, "<h3>%s</h3>", m->variant[v].name);
        if (!strstr(p->html, head))
            print_message("the page lacks the variant %s\n", m->variant[v].name), ok = 0;
    }
    return ok;
}

static void test_pages_name_everything(void **state)
{
    (void)state;
    assert_int_equal(for_each(GOLDEN, 2, complete), 0);
    assert_int_equal(for_each(FIT_SOURCE_DIR "/models", 6, complete), 0);
}

static void test_formulas_keep_the_authors_names(void **state)
{
    (void)state;
    struct made p = make(FIT_SOURCE_DIR "/models/laminar.lua");
    assert_non_null(strstr(
        p.tex, "{g}_{1} & = \\exp \\left({-}\\frac{{q}^{2}}{2}\\,\\int_{{t}_{1}}^{{t}_{2}}D(t)"));
    assert_non_null(strstr(
        p.tex, "D(t) & = \\max ({D}_{0}\\,{\\mathrm{ts}(t)}^{\\alpha } + {D}_{\\mathrm{offset}}"));
    assert_non_null(strstr(p.tex, "\\dot{\\gamma }"));
    assert_non_null(strstr(p.html, "<mover accent=\"true\"><mi>γ</mi>"));
    drop(&p);
}

/* --- hostile texts -----------------------------------------------------------------------------
 */

static void test_a_formula_too_deep_or_too_large_is_left_out(void **state)
{
    static const char *const mean[] = {"f(300, function(r) return sin(r) end)",
                                       "f(60, function(r) return r * exp(r) end)"};
    static const char deep[] =
        "local m = model \"deep\" { title = \"deep\" }\n"
        "local x, y = m.columns(\"x\", \"y\")\n"
        "local a = m.parameter(\"a\", { start = 1, linear = false })\n"
        "local function f(n, g) local r = a * x  for k = 1, n do r = g(r) end  return r end\n"
        "m.observe(y, { mean = %s })\n";
    (void)state;
    for (size_t k = 0; k < sizeof mean / sizeof *mean; k++) {
        struct hg_arena *a = hg_arena_new();
        struct hg_diag d = {.out = stderr};
        struct hg_model *m = hg_dsl_load_text(a, "deep.lua", hg_format(a, deep, mean[k]), &d);
        assert_non_null(m);
        char *html = written(m, &hg_page_html);
        assert_true(strlen(html) < 5000000);
        assert_true(balanced(html));
        free(html);
        hg_arena_free(a);
    }
}

static void test_pdflatex_compiles_the_pages(void **state)
{
    static const char *const stem[] = {GOLDEN "/table_page", GOLDEN "/pair_page"};
    char dir[] = "/tmp/page-XXXXXX", command[1500];
    (void)state;
    if (system("command -v pdflatex >/dev/null 2>&1") != 0) {
        print_message("no pdflatex: not tried\n");
        skip();
    }
    assert_non_null(mkdtemp(dir));
    for (size_t k = 0; k < sizeof stem / sizeof *stem; k++) {
        snprintf(command, sizeof command,
                 "cd %s && pdflatex -interaction=nonstopmode -halt-on-error '%s.tex' >log 2>&1 || "
                 "{ tail -20 log; "
                 "exit 1; }",
                 dir, stem[k]);
        assert_int_equal(system(command), 0);
    }
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages_are_as_stored),
        cmocka_unit_test(test_pages_are_well_formed),
        cmocka_unit_test(test_pages_name_everything),
        cmocka_unit_test(test_formulas_keep_the_authors_names),
        cmocka_unit_test(test_a_formula_too_deep_or_too_large_is_left_out),
        cmocka_unit_test(test_pdflatex_compiles_the_pages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
