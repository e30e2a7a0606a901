/* progress.c -- one line on the terminal, or JSON lines; see progress.h. */
#include "progress.h"

#include "json.h"
#include "parallel.h"

#include <math.h>
#include <string.h>

static const double interval = 0.2; /* s between lines: 5 Hz */

enum fit_status fit_progress_begin(struct fit_progress_view *v, FILE *f, int terminal,
                                   const char *choice, int quiet, struct fit_error *err)
{
    *v = (struct fit_progress_view){.f = f, .mode = FIT_PROGRESS_NONE};
    if (choice && strcmp(choice, "json") == 0)
        v->mode = FIT_PROGRESS_JSON;
    else if (!choice || strcmp(choice, "auto") == 0)
        v->mode = terminal && !quiet ? FIT_PROGRESS_LINE : FIT_PROGRESS_NONE;
    else if (strcmp(choice, "none") != 0)
        return fit_fail(err, FIT_ERR_USAGE, "--progress '%s': auto, none or json", choice);
    return FIT_OK;
}

static void show(struct fit_progress_view *v, const char *line)
{
    fprintf(v->f, "\r%.99s\033[K", line);
    fflush(v->f);
    v->shown = 1;
    v->last = fit_seconds();
}

void fit_progress_phase(struct fit_progress_view *v, const char *text)
{
    if (v->mode == FIT_PROGRESS_LINE)
        show(v, text);
}

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

int fit_progress_show(void *user, const struct fit_progress *p)
{
    struct fit_progress_view *v = user;
    char line[128];
    if (v->mode == FIT_PROGRESS_JSON)
        show_json(v, p);
    if (v->mode != FIT_PROGRESS_LINE || fit_seconds() - v->last < interval)
        return 0;
    double n = v->npoint ? (double)v->npoint : 1;
    snprintf(line, sizeof line, "fit  it %3zu  rms %.6g  step %.1e  distance %.1e  %.1f s",
             p->iteration, sqrt(p->chi2 / n), p->step, p->gradient, p->seconds);
    show(v, line);
    return 0;
}

/* "2 min 5 s" */
static void duration(double seconds, char *text, size_t size)
{
    if (seconds < 90)
        snprintf(text, size, "%.0f s", seconds);
    else if (seconds < 5400)
        snprintf(text, size, "%.0f min", seconds / 60);
    else
        snprintf(text, size, "%.1f h", seconds / 3600);
}

int fit_progress_sampling(struct fit_progress_view *v, const struct fit_sampling_progress *p)
{
    char line[128], left[32];
    double rest = p->done > 0 ? p->seconds * (p->total / p->done - 1) : 0;
    if (v->mode == FIT_PROGRESS_JSON) {
        struct fit_json j = {.compact = 1};
        fit_json_begin(&j, NULL, '{');
        fit_json_number(&j, "done", p->done);
        fit_json_number(&j, "total", p->total);
        fit_json_number(&j, "step_size", p->step);
        fit_json_number(&j, "divergences", p->divergences);
        fit_json_number(&j, "gradients", p->gradients);
        fit_json_number(&j, "seconds", p->seconds);
        fit_json_end(&j);
        const char *text = fit_json_text(&j);
        fprintf(v->f, "%s\n", text ? text : "{}");
        fflush(v->f);
        fit_json_free(&j);
    }
    if (v->mode != FIT_PROGRESS_LINE || fit_seconds() - v->last < interval)
        return 0;
    duration(rest, left, sizeof left);
    snprintf(line, sizeof line, "sampling  %3.0f %%  step size %.2g  divergences %.0f  %.0f gradients  %s left",
             100 * p->done / p->total, p->step, p->divergences, p->gradients, left);
    show(v, line);
    return 0;
}

void fit_progress_clear(struct fit_progress_view *v)
{
    if (v->shown)
        fprintf(v->f, "\r\033[K");
    if (v->shown)
        fflush(v->f);
    v->shown = 0;
}
