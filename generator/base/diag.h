/* diag.h -- messages of the compiler to its user.
 *
 * laminar.lua:14: error: unit mismatch: angstrom^2/s + 1/s
 *     14 | local bad = D + shear
 *        |             ^
 *     help: ...
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

struct hg_diag {
    FILE *out;          /* stderr; tests use a memory stream */
    const char *file;   /* name printed */
    const char *text;   /* source text, for the line and the caret; may be NULL */
    unsigned errors, warnings;
    uint32_t last_line; /* of the last error: repetitions (in a loop) are only counted */
    char last[160];
};

/* An error or a warning at a line (0: none). near: text of the line to put the caret under, or NULL; help: a remedy,
 * or NULL. After 20 errors, further ones are only counted. */
void hg_error(struct hg_diag *d, uint32_t line, const char *near, const char *help, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void hg_warning(struct hg_diag *d, uint32_t line, const char *near, const char *help, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* An error at a position of the text, with the caret there. */
void hg_error_at(struct hg_diag *d, size_t place, const char *help, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* An error of the compiler itself: prints the pass and the message, then aborts. */
_Noreturn void hg_bug(const char *format, ...) __attribute__((format(printf, 1, 2)));
