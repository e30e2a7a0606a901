/* status.c -- status codes and error messages of the runtime. Messages contain names from files, options and models:
 * here, the one place where messages are made, control characters in them become visible. */
#include "base/status.h"

#include "common/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Appends the text to the message. */
static void append(struct fit_error *err, const char *format, va_list ap)
{
    char raw[sizeof err->message];
    const size_t n = strlen(err->message);
    vsnprintf(raw, sizeof raw - n, format, ap);
    text_printable(raw, strlen(raw), 1, err->message + n, sizeof err->message - n);
}

enum fit_status(fit_fail)(struct fit_error *err, enum fit_status s, const char *format, ...)
{
    if (err) {
        va_list ap;
        err->status = s;
        err->file[0] = err->message[0] = '\0';
        err->line = err->column = err->says = 0;
        va_start(ap, format);
        append(err, format, ap);
        va_end(ap);
    }
    return s;
}

enum fit_status fit_no_memory(struct fit_error *err, const char *what)
{
    return fit_fail(err, FIT_ERR_MEMORY, "%s%sout of memory", what ? what : "", what ? ": " : "");
}

int fit_place_text(char *text, size_t size, const char *file, size_t line, size_t column, const char *kind)
{
    return column ? snprintf(text, size, "%.300s:%zu:%zu: %s: ", file, line, column, kind)
           : line ? snprintf(text, size, "%.300s:%zu: %s: ", file, line, kind)
                  : snprintf(text, size, "%.300s: %s: ", file, kind);
}

enum fit_status fit_fail_at(struct fit_error *err, enum fit_status s, const char *file, size_t line, size_t column,
                            const char *format, ...)
{
    if (err) {
        char place[400];
        va_list ap;
        fit_place_text(place, sizeof place, file, line, column, "error");
        fit_fail(err, s, "%s", place);
        snprintf(err->file, sizeof err->file, "%s", file);
        err->line = (unsigned)line;
        err->column = (unsigned)column;
        err->says = (unsigned)strlen(err->message);
        va_start(ap, format);
        append(err, format, ap);
        va_end(ap);
    }
    return s;
}

const char *fit_error_word(const struct fit_error *err)
{
    return err->says || err->status == FIT_ERR_INTERRUPTED ? "" : "error: ";
}

int fit_status_exit(enum fit_status s)
{
    switch (s) {
    case FIT_OK: return 0;
    case FIT_ERR_USAGE:
    case FIT_ERR_CONFIG: return 3;
    case FIT_ERR_DATA:
    case FIT_ERR_UNSUPPORTED:
    case FIT_ERR_NUMERIC: /* no finite number from these data: a fault of the data, or of the model, not of the
                           * program */
    case FIT_ERR_IO: return 4;
    case FIT_ERR_INTERRUPTED: return 130;
    default: return 1;
    }
}
