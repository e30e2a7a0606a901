/* view.h -- one line on the terminal that shows the progress of a long command.
 *
 * Only plain lines are written when standard error is not a terminal, TERM is "dumb" or --quiet was given; NO_COLOR
 * does not matter, since there are no colours. */
#ifndef HOMODYNE_VIEW_H
#define HOMODYNE_VIEW_H

#include "frontend/front.h"

struct front_view {
    FILE *f;
    int live; /* lines may be overwritten */
    int shown;
    double last; /* clock */
};

struct front_view front_view_begin(const struct front *f, int quiet);

/* Replaces the line, at most five times a second; at most 79 characters are shown. */
void front_view_show(struct front_view *v, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Wipes it, before other text is written. */
void front_view_clear(struct front_view *v);

/* "40 s", "12 min", "1.5 h" */
void front_duration(double seconds, char *text, size_t size);

#endif
