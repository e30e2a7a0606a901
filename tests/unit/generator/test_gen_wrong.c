/* test_gen_wrong.c -- what people write first, and what the compiler says of it: the table
 * tests/golden/wrong_models.txt.
 *
 * Of each model the first message must stand at the line and column that the table names (the column is that of the
 * caret), with these words, and its remedy with those.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "generator/judge/check.h"
#include "generator/judge/domain.h"
#include "generator/judge/stability.h"
#include "generator/language/dsl.h"

#ifndef FIT_SOURCE_DIR
#define FIT_SOURCE_DIR "."
#endif

enum { MOST = 4000 };

static const struct preamble {
    const char *name, *text;
    int lines;
} preamble[] = {
    {"none", "", 0},
    {"table",
     "local m = model \"wrong\" { title = \"t\" }\n"
     "local x, y = m.columns({ \"x\", unit = \"s\", range = {0, 10} }, \"y\")\n"
     "local a = m.parameter(\"a\", { start = 1, bounds = {0, 10} })\n"
     "local tau = m.parameter(\"tau\", { unit = \"s\", start = 1, bounds = {0.1, 10} })\n",
     4},
    {"pair",
     "local m = model \"wrong\" { title = \"t\" }\n"
     "local t = m.grid(\"t\", \"s\")\n"
     "local t1, t2 = pair(t)\n"
     "local a = m.parameter(\"a\", { start = 1, bounds = {0, 10} })\n",
     4},
};

struct wrong {
    char name[80], text[MOST], place[40], words[MOST], cure[MOST];
    const struct preamble *before;
};

/* All that the compiler says. */
static char *messages(const char *text)
{
    static char *said;
    static size_t size;
    FILE *f = open_memstream(&said, &size);
    assert_non_null(f);
    struct hg_arena *a = hg_arena_new();
    struct hg_diag d = {.out = f};
    struct hg_model *m = hg_dsl_load_text(a, "wrong.lua", text, &d);
    struct hg_analysis found = {0};
    if (m) {
        hg_model_warn_linear(m, &d);
        hg_domain_check(m, &m->variant[0], &d);
        if (hg_stability(m, &m->variant[0], &found, &d, NULL))
            hg_check(m, &m->variant[0], 0, &d, f);
    }
    hg_arena_free(a);
    fclose(f);
    return said;
}

/* Line, counted behind the preamble, and column of the first message: "2:14", "2" without a caret, "0" without a line.
 */
static void place_of(const char *said, const struct preamble *before, char *place, size_t n)
{
    unsigned line = 0;
    const char *caret = strchr(said, '\n'), *bar;
    snprintf(place, n, "0");
    if (sscanf(said, "wrong.lua:%u:", &line) != 1)
        return;
    snprintf(place, n, "%d", (int)line - before->lines);
    caret = caret ? strchr(caret + 1, '\n') : NULL;
    if (!caret || strncmp(caret, "\n       | ", 10) != 0)
        return;
    bar = caret + 10;
    if (bar[strspn(bar, " \t")] == '^')
        snprintf(place, n, "%d:%d", (int)line - before->lines, (int)strspn(bar, " \t") + 1);
}

/* 1 when the first message is as the table says. */
static int check(const struct wrong *w)
{
    char text[2 * MOST], place[40];
    snprintf(text, sizeof text, "%s%s", w->before->text, w->text);
    char *said = messages(text), *first = said ? strchr(said, '\n') : NULL;
    if (!said || !first) {
        printf("%s: silent\n", w->name);
        free(said);
        return 0;
    }
    const char *second = strstr(first, "\nwrong.lua:");
    const char *help = strstr(first, "    help: ");
    *first = '\0';
    const int words = strstr(said, w->words) != NULL;
    *first = '\n';
    const int cure = !*w->cure || (help && (!second || help < second) && strstr(help, w->cure) && *w->cure);
    place_of(said, w->before, place, sizeof place);
    const int at = strcmp(place, w->place) == 0, same = words && cure && at;
    if (!same)
        printf("%s: %s\nwanted at %s, with \"%s\", help \"%s\"; at %s it says\n%s\n", w->name,
               !at     ? "another place"
               : words ? "another cure"
                       : "other words",
               w->place, w->words, w->cure, place, said);
    free(said);
    return same;
}

/* The rest of the line without its end. */
static void take(char *to, size_t n, const char *line)
{
    snprintf(to, n, "%.*s", (int)strcspn(line, "\n"), line);
}

static void begin(struct wrong *w, const char *line)
{
    char before[40];
    *w = (struct wrong){.before = NULL};
    assert_int_equal(sscanf(line, "@ %79s %39s", w->name, before), 2);
    for (size_t k = 0; k < sizeof preamble / sizeof *preamble; k++)
        if (strcmp(preamble[k].name, before) == 0)
            w->before = &preamble[k];
    assert_non_null(w->before);
}

static void test_first_mistakes(void **state)
{
    static struct wrong w;
    char line[MOST];
    int n = 0, bad = 0;
    (void)state;
    FILE *f = fopen(FIT_SOURCE_DIR "/tests/golden/wrong_models.txt", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (strncmp(line, "@ ", 2) == 0) {
            bad += n > 0 && !check(&w);
            begin(&w, line);
            n++;
        } else if (n > 0 && strncmp(line, "> ", 2) == 0) {
            take(w.place, sizeof w.place, line + 2);
        } else if (n > 0 && strncmp(line, "! ", 2) == 0) {
            take(w.words, sizeof w.words, line + 2);
        } else if (n > 0 && strncmp(line, "? ", 2) == 0) {
            take(w.cure, sizeof w.cure, line + 2);
        } else if (n > 0) {
            assert_true(strlen(w.text) + strlen(line) < sizeof w.text);
            strcat(w.text, line);
        }
    }
    bad += n > 0 && !check(&w);
    fclose(f);
    assert_true(n >= 124);
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_first_mistakes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
