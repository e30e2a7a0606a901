/* notes.c -- notes to the user beside the result; see notes.h. */
#include "base/notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void insert(struct fit_notes *notes, size_t at, const char *text)
{
    char **grown = realloc(notes->text, (notes->n + 1) * sizeof *grown);
    if (!grown)
        return;
    notes->text = grown;
    char *copy = strdup(text);
    if (!copy)
        return;
    memmove(grown + at + 1, grown + at, (notes->n - at) * sizeof *grown);
    grown[at] = copy;
    notes->n++;
}

void fit_notes_add(struct fit_notes *notes, const char *format, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    insert(notes, notes->n, text);
}

void fit_notes_doubt(struct fit_notes *notes, const char *format, ...)
{
    char text[1024];
    const size_t before = notes->n;
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    insert(notes, notes->ndoubt, text);
    notes->ndoubt += notes->n - before;
}

static int is_there(const struct fit_notes *notes, const char *text)
{
    for (size_t i = 0; i < notes->n; i++)
        if (strcmp(notes->text[i], text) == 0)
            return 1;
    return 0;
}

void fit_notes_copy(struct fit_notes *to, const struct fit_notes *from)
{
    for (size_t i = 0; i < from->n; i++)
        if (is_there(to, from->text[i]))
            continue;
        else if (i < from->ndoubt)
            fit_notes_doubt(to, "%s", from->text[i]);
        else
            fit_notes_add(to, "%s", from->text[i]);
}

void fit_notes_free(struct fit_notes *notes)
{
    for (size_t i = 0; i < notes->n; i++)
        free(notes->text[i]);
    free(notes->text);
    *notes = (struct fit_notes){0};
}
