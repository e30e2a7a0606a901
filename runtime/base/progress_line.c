/* progress_line.c -- one line on a terminal; see progress_line.h. */
#include "base/progress_line.h"

#include "common/stream.h"
#include "common/text.h"

#include "base/clock.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum fit_status fit_progress_begin(struct fit_progress_view *v, FILE *f, int terminal,
                                   const char *choice, int quiet, struct fit_error *err)
{
    const char *term = getenv("TERM");
    *v = (struct fit_progress_view){.f = f, .mode = FIT_PROGRESS_NONE};
    terminal = terminal && !(term && strcmp(term, "dumb") == 0);
    if (choice && strcmp(choice, "json") == 0)
        v->mode = FIT_PROGRESS_JSON;
    else if (!choice || strcmp(choice, "auto") == 0)
        v->mode = terminal && !quiet ? FIT_PROGRESS_LINE : FIT_PROGRESS_NONE;
    else if (strcmp(choice, "none") != 0)
        return fit_fail(err, FIT_ERR_USAGE, "--progress '%s': auto, none or json", choice);
    return FIT_OK;
}

static void write_line(FILE *f, const char *line)
{
    char text[80];
    text_printable(line, strlen(line), 0, text, sizeof text);
    text_stream_control(f, "\r");
    fputs(text, f);
    text_stream_control(f, "\033[K");
}

void fit_progress_duration(double seconds, char *text, size_t size)
{
    if (seconds < 90)
        snprintf(text, size, "%.0f s", fmax(seconds, 1));
    else if (seconds < 5400)
        snprintf(text, size, "%.0f min", seconds / 60);
    else
        snprintf(text, size, "%.1f h", seconds / 3600);
}

/* ---- phases without progress: a thread shows their duration ------------------------------------ */

struct fit_progress_ticker {
    FILE *f;
    char text[64];
    double begin, bytes, read_before; /* bytes: to be read; NaN: unknown */
    double part;                      /* fraction done, set by others; NaN: unknown */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int stop;
};

/* Bytes that this process has read since it began, Linux; NaN elsewhere. */
static double bytes_read(void)
{
    char line[64];
    double bytes = NAN;
    FILE *f = fopen("/proc/self/io", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "rchar: ", 7) == 0)
            bytes = strtod(line + 7, NULL);
    if (f)
        fclose(f);
    return bytes;
}

static void tick(const struct fit_progress_ticker *t)
{
    enum { MOST = 99 }; /* per cent: the guess was too low */
    char line[160], left[32];
    const double seconds = fit_seconds() - t->begin;
    const double part = isnan(t->part) ? (bytes_read() - t->read_before) / t->bytes : t->part;
    if (seconds < 1)
        return;
    if (part > 0 && part < 0.01 * MOST) {
        fit_progress_duration(seconds * (1 - part) / part, left, sizeof left);
        snprintf(line, sizeof line, "%s  %2.0f %%  about %s left", t->text, 100 * part, left);
    } else {
        snprintf(line, sizeof line, "%s  %.0f s", t->text, seconds);
    }
    write_line(t->f, line);
}

static void *ticking(void *user)
{
    struct fit_progress_ticker *t = user;
    struct timespec when;
    pthread_mutex_lock(&t->lock);
    while (!t->stop) {
        clock_gettime(CLOCK_MONOTONIC, &when); /* the time of day may jump */
        when.tv_nsec += (long)(1e9 * FIT_PROGRESS_INTERVAL);
        when.tv_sec += when.tv_nsec / 1000000000;
        when.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&t->changed, &t->lock, &when);
        if (!t->stop)
            tick(t);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

void fit_progress_stop(struct fit_progress_view *v)
{
    struct fit_progress_ticker *t = v->ticker;
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->stop = 1;
    pthread_cond_signal(&t->changed);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    pthread_mutex_destroy(&t->lock);
    pthread_cond_destroy(&t->changed);
    free(t);
    v->ticker = NULL;
}

void fit_progress_line(struct fit_progress_view *v, const char *line)
{
    fit_progress_stop(v);
    write_line(v->f, line);
    v->shown = 1;
    v->last = fit_seconds();
}

/* Without a thread the line does not change. */
void fit_progress_reading(struct fit_progress_view *v, const char *text, double bytes)
{
    if (v->mode != FIT_PROGRESS_LINE)
        return;
    fit_progress_line(v, text);
    struct fit_progress_ticker *t = calloc(1, sizeof *t);
    if (!t)
        return;
    t->f = v->f;
    t->begin = fit_seconds();
    t->bytes = bytes;
    t->part = NAN;
    t->read_before = isnan(bytes) ? NAN : bytes_read();
    snprintf(t->text, sizeof t->text, "%s", text);
    pthread_mutex_init(&t->lock, NULL);
    pthread_condattr_t how;
    pthread_condattr_init(&how);
    pthread_condattr_setclock(&how, CLOCK_MONOTONIC);
    pthread_cond_init(&t->changed, &how);
    pthread_condattr_destroy(&how);
    if (pthread_create(&t->thread, NULL, ticking, t) == 0)
        v->ticker = t;
    else
        free(t);
}

void fit_progress_phase(struct fit_progress_view *v, const char *text)
{
    fit_progress_reading(v, text, NAN);
}

void fit_progress_part(struct fit_progress_view *v, double done, double total)
{
    struct fit_progress_ticker *t = v->ticker;
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->part = done / total;
    pthread_mutex_unlock(&t->lock);
}

void fit_progress_clear(struct fit_progress_view *v)
{
    fit_progress_stop(v);
    if (v->shown)
        text_stream_control(v->f, "\r\033[J");
    v->shown = 0;
}
