/* diag.c -- messages of the compiler to its user: location, sentence, line with a caret, remedy. */
#include "base/diag.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/names.h"

enum { MAX_PRINTED = 20 };

/* Start and length of a line of the text; NULL when there is no such line. */
static const char *find_line(const char *text, uint32_t line, size_t *length)
{
    for (uint32_t k = 1; text && k < line; k++) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    if (!text || line == 0)
        return NULL;
    *length = strcspn(text, "\r\n");
    return text;
}

/* Is an operator at column k, not a sign before a value? */
static int is_between(const char *line, size_t k)
{
    while (k > 0 && (line[k - 1] == ' ' || line[k - 1] == '\t'))
        k--;
    return k > 0 && (hg_in_name(line[k - 1]) || strchr(")]}", line[k - 1]));
}

/* Column of `near` in the line: first as a word of its own, then anywhere. -1 when it is absent, or when it is an
 * operator or a function that occurs more than once: nothing shows which one is meant. */
static long find_near(const char *line, size_t length, const char *near)
{
    size_t n = strlen(near);
    long anywhere = -1, word = -1;
    for (size_t k = 0; n > 0 && k + n <= length; k++) {
        if (memcmp(line + k, near, n) != 0)
            continue;
        int left = (k > 0 && hg_in_name(line[k - 1]) && hg_in_name(near[0])) ||
                   (n == 1 && strchr("+-*/^", *near) && !is_between(line, k));
        int right = k + n < length && hg_in_name(line[k + n]) && hg_in_name(near[n - 1]);
        int variable = hg_in_name(near[0]) && !(k + n < length && line[k + n] == '(');
        if (!left && !right && word >= 0)
            return variable ? word : -1;
        if (!left && !right)
            word = (long)k;
        if (anywhere < 0)
            anywhere = (long)k;
    }
    return word >= 0 ? word : anywhere;
}

/* Column of `near` in a line of the text; -1: none. */
static long column_of(const struct hg_diag *d, uint32_t line, const char *near)
{
    size_t length = 0;
    const char *text = find_line(d->text, line, &length);
    return text && near ? find_near(text, length, near) : -1;
}

static void print_source(const struct hg_diag *d, uint32_t line, long column)
{
    size_t length = 0;
    const char *text = find_line(d->text, line, &length);
    if (!text || length == 0)
        return;
    fprintf(d->out, "%6u | %.*s\n", (unsigned)line, (int)(length < 200 ? length : 200), text);
    if (column < 0 || column >= 200)
        return;
    fputs("       | ", d->out);
    for (long k = 0; k < column; k++) { /* tabs are kept; continuation bytes of UTF-8 take no column */
        if (((unsigned char)text[k] & 0xC0) != 0x80)
            fputc(text[k] == '\t' ? '\t' : ' ', d->out);
    }
    fputs("^\n", d->out);
}

static void report(const struct hg_diag *d, const char *kind, uint32_t line, long column, const char *help,
                   const char *message)
{
    if (line)
        fprintf(d->out, "%s:%u: %s: %s\n", d->file, (unsigned)line, kind, message);
    else
        fprintf(d->out, "%s: %s: %s\n", d->file, kind, message);
    print_source(d, line, column);
    if (help)
        fprintf(d->out, "    help: %s\n", help);
}

/* Is this error the same as the last one? Remembers it. */
static int is_repeated(struct hg_diag *d, uint32_t line, const char *message)
{
    int same = d->errors > 0 && line > 0 && d->last_line == line && strncmp(d->last, message, sizeof d->last - 1) == 0;
    d->last_line = line;
    snprintf(d->last, sizeof d->last, "%.*s", (int)sizeof d->last - 1, message);
    return same;
}

static void add_error(struct hg_diag *d, uint32_t line, long column, const char *help, const char *message)
{
    if (is_repeated(d, line, message))
        return;
    if (d->errors < MAX_PRINTED)
        report(d, "error", line, column, help, message);
    else if (d->errors == MAX_PRINTED)
        fprintf(d->out, "%s: more than %d errors; the others are only counted\n", d->file, MAX_PRINTED);
    d->errors++;
}

void hg_error(struct hg_diag *d, uint32_t line, const char *near, const char *help, const char *format, ...)
{
    char message[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    add_error(d, line, column_of(d, line, near), help, message);
}

void hg_error_at(struct hg_diag *d, size_t place, const char *help, const char *format, ...)
{
    char message[1000];
    uint32_t line = 1;
    size_t start = 0;
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    for (size_t k = 0; k < place; k++)
        if (d->text[k] == '\n') {
            line++;
            start = k + 1;
        }
    add_error(d, line, (long)(place - start), help, message);
}

void hg_warning(struct hg_diag *d, uint32_t line, const char *near, const char *help, const char *format, ...)
{
    char message[1000];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (d->errors <= MAX_PRINTED)
        report(d, "warning", line, column_of(d, line, near), help, message);
    d->warnings++;
}

void hg_bug(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("homodyne-gen: internal error: ", stderr);
    vfprintf(stderr, format, args);
    fputs("\nThis is a mistake in the compiler; please report it with the model file.\n", stderr);
    va_end(args);
    abort();
}
