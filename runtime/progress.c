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
    size_t draws = (size_t)(p->total / (double)p->chains) - p->warmup;
    if (c->draws == 0)
        fprintf(f, "\rchain %zu  warm-up %5zu of %-6zu step %-8.2g\033[K\n", number + 1, c->iteration, p->warmup, c->step);
    else
        fprintf(f, "\rchain %zu  draw    %5zu of %-6zu step %-8.2g acceptance %.2f  divergences %.0f\033[K\n", number + 1,
                c->draws, draws, c->step, c->accept, c->divergences);
}

/* A line for each chain and one for all; the cursor goes back to the first. */
int fit_progress_sampling(struct fit_progress_view *v, const struct fit_sampling_progress *p)
{
    char left[32], rate[48] = "";
    if (v->mode == FIT_PROGRESS_JSON)
        sampling_json(v, p);
    if (v->mode != FIT_PROGRESS_LINE || fit_seconds() - v->last < interval)
        return 0;
    size_t n = p->chains < CHAINS_SHOWN ? p->chains : CHAINS_SHOWN;
    double fresh = p->done - p->resumed, ess = effective(v, p);
    duration(fresh > 0 ? p->seconds * (p->total - p->done) / fresh : 0, left, sizeof left);
    if (ess > 0 && p->resumed == 0)
        snprintf(rate, sizeof rate, "  %.3g effective draws/s", ess / p->seconds);
    for (size_t k = 0; k < n; k++)
        show_chain(v->f, k, p);
    fprintf(v->f, "\rsampling  %3.0f %%  %.4g gradients%s  %s left\033[K\033[%zuA\r", 100 * p->done / p->total,
            p->gradients, rate, left, n);
    fflush(v->f);
    v->shown = 1;
    v->last = fit_seconds();
    return 0;
}

void fit_progress_clear(struct fit_progress_view *v)
{
    if (v->shown)
        fprintf(v->f, "\r\033[J");
    if (v->shown)
        fflush(v->f);
    v->shown = 0;
}
