/* progress_line.h -- one line on a terminal that tells what goes on.
 *
 * Nothing is written when the stream is not a terminal or TERM is "dumb", unless JSON lines were asked for (one object
 * per iteration, for programs that watch).  There are no colours, so that NO_COLOR has nothing to forbid.
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
    int shown;     /* something stands on the terminal, below the cursor */
    double last_ess, ess; /* clock at, and result of, the last effective sample size */
    double gtol; /* distance at which least squares end; 0: unknown, and the time left is not told */
    double first_distance, first_seconds; /* of the run of iterations that is shown */
    size_t last_iteration;
    struct fit_progress_ticker *ticker; /* of the phase that is shown, or NULL */
};

/* choice: "auto" (or NULL), "none", "json".  FIT_ERR_USAGE for other words. */
enum fit_status fit_progress_begin(struct fit_progress_view *v, FILE *f, int terminal,
                                   const char *choice, int quiet, struct fit_error *err);

/* "comparing data and model": until the next line, or fit_progress_clear.  After a second the time that it has
 * taken stands behind. */
void fit_progress_phase(struct fit_progress_view *v, const char *text);

/* The same while this process reads about so many bytes, with the time that is left; NaN: unknown. */
void fit_progress_reading(struct fit_progress_view *v, const char *text, double bytes);

/* How much of the phase is done: then the time that is left stands there, too. */
void fit_progress_part(struct fit_progress_view *v, double done, double total);

/* Wipes what is shown. */
void fit_progress_clear(struct fit_progress_view *v);

/* The line becomes this text. */
void fit_progress_line(struct fit_progress_view *v, const char *line);

/* Ends the count of seconds behind a phase. */
void fit_progress_stop(struct fit_progress_view *v);

/* "40 s", "12 min"; what is left is never nothing. */
void fit_progress_duration(double seconds, char *text, size_t size);
