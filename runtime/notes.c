/* notes.c -- what the user should know besides the result; see notes.h. */
#include "notes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fit_notes_add(struct fit_notes *notes, const char *format, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    char **grown = realloc(notes->text, (notes->n + 1) * sizeof *grown);
    if (!grown)
        return;
    notes->text = grown;
    if ((grown[notes->n] = strdup(text)) != NULL)
        notes->n++;
}

void fit_notes_free(struct fit_notes *notes)
{
    for (size_t i = 0; i < notes->n; i++)
        free(notes->text[i]);
    free(notes->text);
    *notes = (struct fit_notes){0};
}
