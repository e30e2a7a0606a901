/* terminal_text.c -- symbols and the colour of a screen of text; see terminal_text.h. */
#include "base/terminal_text.h"

#include "common/stream.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

int fit_locale_is_utf8(void)
{
    static const char *const name[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
        const char *value = getenv(name[k]);
        if (value && *value)
            return strstr(value, "UTF-8") || strstr(value, "utf8") || strstr(value, "utf-8") || strstr(value, "UTF8");
    }
    return 0;
}

int fit_colours_wanted(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return !(no && *no) && term && *term && strcmp(term, "dumb") != 0;
}

/* Symbols, and how many columns they take; a word ends where it does in the text. */
static const struct sign {
    const char *word, *sign;
    size_t columns;
    int unit; /* stands alone, or in a unit */
} signs_of[] = {{"+-", "±", 1, 0},  {"angstrom", "Å", 1, 1}, {"deg", "°", 1, 1},
                {"um", "µm", 2, 1}, {"us", "µs", 2, 1},      {"^2", "²", 1, 2},
                {"^3", "³", 1, 2},  {"^-1", "⁻¹", 2, 2},     {"chi2", "χ²", 2, 1}};

static int is_end(char c)
{
    return !isalnum((unsigned char)c) && c != '_' && c != '-';
}

/* The symbol of what begins at `at`, or NULL; in_unit: after the symbol of a unit. */
static const struct sign *sign_at(const char *line, const char *at, int in_unit)
{
    for (size_t k = 0; k < sizeof signs_of / sizeof *signs_of; k++) {
        const struct sign *s = &signs_of[k];
        const size_t n = strlen(s->word);
        if (strncmp(at, s->word, n) != 0)
            continue;
        if (s->unit == 0 && (at == line || at[-1] == ' ') && at[n] == ' ')
            return s;
        if (s->unit == 1 && (at == line || at[-1] == ' ' || at[-1] == '/' || at[-1] == '*') && is_end(at[n]))
            return s;
        if (s->unit == 2 && in_unit && is_end(at[n]))
            return s;
    }
    return NULL;
}

/* One line; where symbols are shorter than their words, blanks at the next gap of two compensate, so that columns
 * stay aligned. */
static void put_line(FILE *f, const char *line, size_t n, int signs)
{
    size_t owed = 0;
    int in_unit = 0;
    for (const char *at = line; at < line + n;) {
        const struct sign *s = signs ? sign_at(line, at, in_unit) : NULL;
        if (s) {
            fputs(s->sign, f);
            owed += strlen(s->word) - s->columns;
            in_unit = 1;
            at += strlen(s->word);
            continue;
        }
        if (*at == ' ' && owed && (at[1] == ' ' || (at > line + 2 && strncmp(at - 2, "+-", 2) == 0))) {
            fprintf(f, "%*s", (int)owed, "");
            owed = 0;
        }
        in_unit = in_unit && *at != ' ';
        fputc(*at++, f);
    }
}

static const char *colour_of(const char *word)
{
    static const char *const mood[][2] = {{"good", "32"}, {"partial", "33"}, {"doubtful", "33"}, {"fair", "33"}};
    for (size_t k = 0; k < sizeof mood / sizeof *mood; k++)
        if (strncmp(word, mood[k][0], strlen(mood[k][0])) == 0)
            return mood[k][1];
    return "31";
}

void fit_put_screen(FILE *f, const char *text, int signs, int colour)
{
    static const char *const head[] = {"quality: ", "verdict: "};
    while (*text) {
        size_t n = strcspn(text, "\n");
        for (size_t k = 0; colour && k < 2; k++) {
            const size_t m = strlen(head[k]);
            if (strncmp(text, head[k], m) != 0)
                continue;
            const size_t word = strcspn(text + m, ":\n");
            char colour_on[16];
            snprintf(colour_on, sizeof colour_on, "\033[1;%sm", colour_of(text + m));
            fputs(head[k], f);
            text_stream_control(f, colour_on);
            fprintf(f, "%.*s", (int)word, text + m);
            text_stream_control(f, "\033[0m");
            text += m + word;
            n -= m + word;
        }
        put_line(f, text, n, signs);
        text += n;
        if (*text)
            fputc(*text++, f);
    }
}
