/* status.c -- status codes and error messages of the runtime.  Messages hold names out of files, options and models:
 * here, the one place where they are made, what would act on a terminal becomes visible. */
#include "status.h"

#include "../common/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum fit_status(fit_fail)(struct fit_error *err, enum fit_status s, const char *format, ...)
{
    if (err) {
        char raw[sizeof err->message];
        va_list ap;
        err->status = s;
        va_start(ap, format);
        vsnprintf(raw, sizeof raw, format, ap);
        va_end(ap);
        text_printable(raw, strlen(raw), 1, err->message, sizeof err->message);
    }
    return s;
}

int fit_status_exit(enum fit_status s)
{
    switch (s) {
    case FIT_OK: return 0;
    case FIT_ERR_USAGE:
    case FIT_ERR_CONFIG: return 3;
    case FIT_ERR_DATA:
    case FIT_ERR_NUMERIC: /* no finite number from these data: theirs is the fault, or the model's, not the program's */
    case FIT_ERR_IO: return 4;
    case FIT_ERR_INTERRUPTED: return 130;
    default: return 1;
    }
}
