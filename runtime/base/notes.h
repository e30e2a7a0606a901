/* notes.h -- notes to the user beside the result, one sentence each, collected from data files, configurations and
 * fits. */
#pragma once

#include <stddef.h>

struct fit_notes {
    size_t n, ndoubt;
    char **text; /* n notes; the first ndoubt say that the data may not be what they seem */
};

/* Adds a sentence of at most 1023 bytes; without memory it is lost. An empty list: {0}. */
void fit_notes_add(struct fit_notes *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void fit_notes_doubt(struct fit_notes *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds those that are not there yet. */
void fit_notes_copy(struct fit_notes *to, const struct fit_notes *from);
void fit_notes_free(struct fit_notes *notes);
