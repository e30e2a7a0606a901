/* rich.c -- texts with italics and subscripts; see rich.h. */
#include "report/draw/rich.h"

#include "common/symbol.h"

#include <stdio.h>
#include <string.h>

const double rp_small = 0.72, rp_shift = 0.22;

int rp_run_next(const char **at, struct rp_run *run)
{
    for (;; ++*at)
        switch (**at) {
        case 1: run->italic = !run->italic; break;
        case 2: run->shift = -1; break;
        case 3: run->shift = 1; break;
        case 4: run->shift = 0; break;
        case 0: return 0;
        default:
            run->text = *at;
            run->n = strcspn(*at, "\1\2\3\4");
            *at += run->n;
            return 1;
        }
}

static void put(char *text, size_t size, const char *more, size_t n)
{
    const size_t used = strlen(text);
    if (used + n < size)
        snprintf(text + used, size - used, "%.*s", (int)n, more);
}

static void put_part(char *text, size_t size, const struct symbol_part *p)
{
    const int italic = p->kind == SYMBOL_LETTER;
    put(text, size, RP_IT, (size_t)italic);
    put(text, size, p->greek ? p->greek->text : p->text, p->greek ? strlen(p->greek->text) : p->n);
    put(text, size, RP_IT, (size_t)italic);
}

static const char *accent_mark(const char *accent)
{
    return strcmp(accent, "dot") == 0   ? "\u0307"
           : strcmp(accent, "hat") == 0 ? "\u0302"
           : strcmp(accent, "bar") == 0 ? "\u0304"
                                        : "\u0303";
}

/* Words that have a letter in the field. */
static const char *usual(const char *name)
{
    static const char *const letter[][2] = {
        {"delay", "tau"}, {"shear_rate", "gamma_dot"}, {"fraction", "f"}, {"velocity", "v"}};
    for (size_t k = 0; k < sizeof letter / sizeof *letter; k++)
        if (strcmp(name, letter[k][0]) == 0)
            return letter[k][1];
    return name;
}

void rp_symbol(const char *name, char *text, size_t size)
{
    struct symbol s;
    name = usual(name);
    symbol_cut(name, &s);
    text[0] = '\0';
    for (size_t k = 0; k < s.n; k++) {
        if (k == 1)
            put(text, size, RP_SUB, 1);
        if (s.part[k].comma)
            put(text, size, ",", 1);
        put_part(text, size, &s.part[k]);
        if (k == 0 && s.accent) { /* inside the italics, behind its letter */
            text[strlen(text) - 1] = '\0';
            put(text, size, accent_mark(s.accent), 2);
            put(text, size, RP_IT, 1);
        }
    }
    if (s.n > 1)
        put(text, size, RP_LINE, 1);
    if (!s.n)
        put(text, size, name, strlen(name));
}

void rp_put_rich(struct rp_markup *out, const char *text)
{
    struct rp_run run = {0};
    while (rp_run_next(&text, &run)) {
        char piece[512];
        snprintf(piece, sizeof piece, "%.*s", (int)run.n, run.text);
        rp_put(out, run.shift < 0 ? "<sub>" : run.shift ? "<sup>" : "");
        rp_put(out, run.italic ? "<i>%s</i>" : "%s", piece);
        rp_put(out, run.shift < 0 ? "</sub>" : run.shift ? "</sup>" : "");
    }
}

void rp_put_symbol(struct rp_markup *out, const char *name)
{
    char text[256];
    rp_symbol(name, text, sizeof text);
    rp_put_rich(out, text);
}
