/* view.c -- the line on the terminal; see view.h. */
#define _POSIX_C_SOURCE 200809L
#include "frontend/view.h"

#include "base/clock.h"
#include "common/stream.h"
#include "common/text.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const double interval = 0.2; /* s between two lines */

struct front_view front_view_begin(const struct front *f, int quiet)
{
    const char *term = getenv("TERM");
    const int dumb = !term || strcmp(term, "dumb") == 0;
    return (struct front_view){.f = f->err, .live = f->err_is_terminal && !dumb && !quiet};
}

void front_view_show(struct front_view *v, const char *format, ...)
{
    char line[256], text[80];
    va_list ap;
    if (!v->live || fit_seconds() - v->last < interval)
        return;
    va_start(ap, format);
    vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    text_printable(line, strlen(line), 0, text, sizeof text);
    text_stream_control(v->f, "\r");
    fputs(text, v->f);
    text_stream_control(v->f, "\033[K");
    v->shown = 1;
    v->last = fit_seconds();
}

void front_view_clear(struct front_view *v)
{
    if (v->shown)
        text_stream_control(v->f, "\r\033[K");
    v->shown = 0;
    v->last = 0;
}

void front_duration(double seconds, char *text, size_t size)
{
    if (seconds < 90)
        snprintf(text, size, "%.0f s", seconds);
    else if (seconds < 5400)
        snprintf(text, size, "%.0f min", seconds / 60);
    else
        snprintf(text, size, "%.1f h", seconds / 3600);
}
