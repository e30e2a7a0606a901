/* progress.c -- one line on the terminal, or JSON lines; see progress.h. */
#include "commands/progress.h"

#include "common/stream.h"
#include "common/text.h"

#include "base/json.h"
#include "data/tile_sums.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const double interval = 0.2; /* s between lines: 5 Hz */

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

/* "40 s", "12 min"; what is left is never nothing */
static void duration(double seconds, char *text, size_t size)
{
    if (seconds < 90)
        snprintf(text, size, "%.0f s", fmax(seconds, 1));
    else if (seconds < 5400)
        snprintf(text, size, "%.0f min", seconds / 60);
    else
        snprintf(text, size, "%.1f h", seconds / 3600);
}

/* ---- phases without news: a thread of their own writes how long they take ---------------------- */

struct fit_progress_ticker {
    FILE *f;
    char text[64];
    double begin, bytes, read_before; /* bytes: to be read; NaN: unknown */
    double part;                      /* that is done, as others tell; NaN: unknown */
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
        duration(seconds * (1 - part) / part, left, sizeof left);
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
        when.tv_nsec += (long)(1e9 * interval);
        when.tv_sec += when.tv_nsec / 1000000000;
        when.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&t->changed, &t->lock, &when);
        if (!t->stop)
            tick(t);
    }
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

static void stop_ticker(struct fit_progress_view *v)
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

static void show(struct fit_progress_view *v, const char *line)
{
    stop_ticker(v);
    write_line(v->f, line);
    v->shown = 1;
    v->last = fit_seconds();
}

/* Without a thread the line simply stands still. */
void fit_progress_reading(struct fit_progress_view *v, const char *text, double bytes)
{
    if (v->mode != FIT_PROGRESS_LINE)
        return;
    show(v, text);
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

/* ---- least squares ---------------------------------------------------------------------------- */

static void show_json(struct fit_progress_view *v, const struct fit_progress *p)
{
    struct fit_json j = {.compact = 1};
    fit_json_begin(&j, NULL, '{');
    fit_json_integer(&j, "iteration", (int64_t)p->iteration);
    fit_json_number(&j, "chi2", p->chi2);
    fit_json_number(&j, "step", p->step);
    fit_json_number(&j, "gradient", p->gradient);
    fit_json_number(&j, "seconds", p->seconds);
    fit_json_end(&j);
    const char *text = fit_json_text(&j);
    if (text)
        fprintf(v->f, "%s\n", text);
    fflush(v->f);
    fit_json_free(&j);
}

/* Seconds until the distance to the minimum has fallen to gtol, if its logarithm goes on to fall as it did since
 * this run of iterations began; NaN: it does not fall. */
static double time_left(struct fit_progress_view *v, const struct fit_progress *p)
{
    if (v->first_distance <= 0 || p->iteration < v->last_iteration || p->gradient > v->first_distance) {
        v->first_distance = p->gradient;
        v->first_seconds = p->seconds;
    }
    v->last_iteration = p->iteration;
    const double fallen = log(v->first_distance / p->gradient), wanted = log(p->gradient / v->gtol);
    const double taken = p->seconds - v->first_seconds;
    return v->gtol > 0 && fallen > 0 && taken > 0 ? taken * fmax(wanted, 0) / fallen : NAN;
}

int fit_progress_show(void *user, const struct fit_progress *p)
{
    struct fit_progress_view *v = user;
    char line[160], rest[48] = "", left[32];
    if (v->mode == FIT_PROGRESS_JSON && !p->phase)
        show_json(v, p);
    if (v->mode != FIT_PROGRESS_LINE)
        return 0;
    if (p->phase) {
        fit_progress_phase(v, p->phase);
        return 0;
    }
    const double seconds = time_left(v, p);
    if (fit_seconds() - v->last < interval)
        return 0;
    double n = v->npoint ? (double)v->npoint : 1;
    if (isfinite(seconds)) {
        duration(seconds, left, sizeof left);
        snprintf(rest, sizeof rest, "  about %s left", left);
    }
    snprintf(line, sizeof line, "fit  step %zu  rms %.6g  distance %.1e  %.1f s%s", p->iteration,
             sqrt(p->chi2 / n), p->gradient, p->seconds, rest);
    show(v, line);
    return 0;
}

/* ---- sampling --------------------------------------------------------------------------------- */

static void sampling_json(struct fit_progress_view *v, const struct fit_sampling_progress *p)
{
    struct fit_json j = {.compact = 1};
    fit_json_begin(&j, NULL, '{');
    fit_json_number(&j, "done", p->done);
    fit_json_number(&j, "total", p->total);
    fit_json_number(&j, "step_size", p->step);
    fit_json_number(&j, "divergences", p->divergences);
    fit_json_number(&j, "gradients", p->gradients);
    fit_json_number(&j, "seconds", p->seconds);
    fit_json_begin(&j, "chains", '[');
    for (size_t k = 0; k < p->chains; k++) {
        const struct fit_chain_progress *c = &p->chain[k];
        fit_json_begin(&j, NULL, '{');
        fit_json_integer(&j, "iteration", (int64_t)c->iteration);
        fit_json_integer(&j, "draws", (int64_t)c->draws);
        fit_json_number(&j, "step_size", c->step);
        fit_json_number(&j, "divergences", c->divergences);
        fit_json_number(&j, "acceptance_rate", c->accept);
        fit_json_end(&j);
    }
    fit_json_end(&j);
    fit_json_end(&j);
    const char *text = fit_json_text(&j);
    fprintf(v->f, "%s\n", text ? text : "{}");
    fflush(v->f);
    fit_json_free(&j);
}

enum { CHAINS_SHOWN = 8 };

/* Effective draws of the log density so far, looked at once a second; 0: too few draws. */
static double effective(struct fit_progress_view *v, const struct fit_sampling_progress *p)
{
    const double *x[CHAINS_SHOWN];
    size_t n = p->chains < CHAINS_SHOWN ? p->chains : CHAINS_SHOWN, draws = p->chain[0].draws;
    struct fit_error err;
    if (fit_seconds() - v->last_ess < 1)
        return v->ess;
    for (size_t k = 0; k < n; k++) {
        x[k] = &p->chain[k].stats->lp;
        draws = p->chain[k].draws < draws ? p->chain[k].draws : draws;
    }
    struct fit_draws d = {n, draws, x, sizeof *p->chain->stats / sizeof(double)};
    if (draws < 20 || fit_ess_mean(&d, &v->ess, &err) != FIT_OK || !isfinite(v->ess))
        v->ess = 0;
    v->ess *= (double)p->chains / (double)n;
    v->last_ess = fit_seconds();
    return v->ess;
}

static void show_chain(FILE *f, size_t number, const struct fit_sampling_progress *p)
{
    const struct fit_chain_progress *c = &p->chain[number];
    text_stream_control(f, "\r");
    size_t draws = (size_t)(p->total / (double)p->chains) - p->warmup;
    if (c->draws == 0)
        fprintf(f, "chain %zu  warm-up %5zu of %-6zu step %-8.2g", number + 1, c->iteration, p->warmup, c->step);
    else
        fprintf(f, "chain %zu  draw    %5zu of %-6zu step %-8.2g acceptance %.2f  divergences %.0f", number + 1,
                c->draws, draws, c->step, c->accept, c->divergences);
    text_stream_control(f, "\033[K\n");
}

/* Shards of the consensus mode: there are no chains to be seen. */
static void show_shards(struct fit_progress_view *v, const struct fit_sampling_progress *p, const char *left)
{
    char line[128];
    snprintf(line, sizeof line, "sampling  %.0f of %.0f shards  %s%s", p->done, p->total,
             p->done > p->resumed ? left : "", p->done > p->resumed ? " left" : "");
    show(v, line);
}

/* A line for each chain and one for all; the cursor goes back to the first. */
int fit_progress_sampling(struct fit_progress_view *v, const struct fit_sampling_progress *p)
{
    char left[32], rate[48] = "", up[48];
    if (v->mode == FIT_PROGRESS_JSON)
        sampling_json(v, p);
    if (v->mode != FIT_PROGRESS_LINE || fit_seconds() - v->last < interval)
        return 0;
    stop_ticker(v);
    size_t n = p->chains < CHAINS_SHOWN ? p->chains : CHAINS_SHOWN;
    double fresh = p->done - p->resumed;
    duration(fresh > 0 ? p->seconds * (p->total - p->done) / fresh : 0, left, sizeof left);
    if (n == 0) {
        show_shards(v, p, left);
        return 0;
    }
    double ess = effective(v, p);
    if (ess > 0 && p->resumed == 0)
        snprintf(rate, sizeof rate, "  %.3g effective draws/s", ess / p->seconds);
    for (size_t k = 0; k < n; k++)
        show_chain(v->f, k, p);
    text_stream_control(v->f, "\r");
    fprintf(v->f, "sampling  %3.0f %%  %.4g gradients%s  %s left", 100 * p->done / p->total, p->gradients, rate, left);
    snprintf(up, sizeof up, "\033[K\033[%zuA\r", n);
    text_stream_control(v->f, up);
    v->shown = 1;
    v->last = fit_seconds();
    return 0;
}

void fit_progress_clear(struct fit_progress_view *v)
{
    stop_ticker(v);
    if (v->shown)
        text_stream_control(v->f, "\r\033[J");
    v->shown = 0;
}
