/* progress_line.h -- a progress line on a terminal.
 *
 * Nothing is written when the stream is not a terminal or TERM is "dumb", unless JSON lines were requested (one object
 * per iteration, for supervising programs). There are no colours, so NO_COLOR does not matter.
 */
#pragma once

#include "base/status.h"

#include <stdio.h>

#define FIT_PROGRESS_INTERVAL 0.2 /* s between lines */

enum fit_progress_mode { FIT_PROGRESS_NONE, FIT_PROGRESS_LINE, FIT_PROGRESS_JSON };

struct fit_progress_view {
    FILE *f;
    enum fit_progress_mode mode;
    size_t npoint; /* for the rms of the (weighted) residuals; 0: unknown */
    double last;   /* clock at the last line */
    int shown;     /* a line is on the terminal, below the cursor */
    double last_ess, ess; /* time and result of the last effective sample size */
    double gtol; /* distance at which least squares ends; 0: unknown, and the time left is not shown */
    double first_distance, first_seconds; /* of the current run of iterations */
    size_t last_iteration;
    struct fit_progress_ticker *ticker; /* of the current phase, or NULL */
};

/* choice: "auto" (or NULL), "none", "json".  FIT_ERR_USAGE for other words. */
enum fit_status fit_progress_begin(struct fit_progress_view *v, FILE *f, int terminal,
                                   const char *choice, int quiet, struct fit_error *err);

/* Shows "comparing data and model" until the next line, or fit_progress_clear; after a second with the elapsed time. */
void fit_progress_phase(struct fit_progress_view *v, const char *text);

/* The same while this process reads about so many bytes, with the time left; NaN: unknown. */
void fit_progress_reading(struct fit_progress_view *v, const char *text, double bytes);

/* The fraction of the phase that is done; the time left is then shown, too. */
void fit_progress_part(struct fit_progress_view *v, double done, double total);

/* Wipes what is shown. */
void fit_progress_clear(struct fit_progress_view *v);

/* The line becomes this text. */
void fit_progress_line(struct fit_progress_view *v, const char *line);

/* Ends the count of seconds behind a phase. */
void fit_progress_stop(struct fit_progress_view *v);

/* "40 s", "12 min"; the time left is never shown as zero. */
void fit_progress_duration(double seconds, char *text, size_t size);
