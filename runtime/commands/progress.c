/* progress.c -- the progress display of fits and chains; see progress.h. */
#include "commands/progress.h"

#include "common/stream.h"

#include "base/clock.h"
#include "base/json.h"

#include <math.h>
#include <string.h>

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

/* Seconds until the distance to the minimum has fallen to gtol, if its logarithm continues to fall as it has since
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
    if (fit_seconds() - v->last < FIT_PROGRESS_INTERVAL)
        return 0;
    double n = v->npoint ? (double)v->npoint : 1;
    if (isfinite(seconds)) {
        fit_progress_duration(seconds, left, sizeof left);
        snprintf(rest, sizeof rest, "  about %s left", left);
    }
    snprintf(line, sizeof line, "fit  step %zu  rms %.6g  distance %.1e  %.1f s%s", p->iteration,
             sqrt(p->chi2 / n), p->gradient, p->seconds, rest);
    fit_progress_line(v, line);
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

/* Effective draws of the log density so far, computed once a second; 0: too few draws. */
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

/* Shards of the consensus mode: there are no chains to display. */
static void show_shards(struct fit_progress_view *v, const struct fit_sampling_progress *p, const char *left)
{
    char line[128];
    snprintf(line, sizeof line, "sampling  %.0f of %.0f shards  %s%s", p->done, p->total,
             p->done > p->resumed ? left : "", p->done > p->resumed ? " left" : "");
    fit_progress_line(v, line);
}

/* A line for each chain and one for all; the cursor goes back to the first. */
int fit_progress_sampling(struct fit_progress_view *v, const struct fit_sampling_progress *p)
{
    char left[32], rate[48] = "", up[48];
    if (v->mode == FIT_PROGRESS_JSON)
        sampling_json(v, p);
    if (v->mode != FIT_PROGRESS_LINE || fit_seconds() - v->last < FIT_PROGRESS_INTERVAL)
        return 0;
    fit_progress_stop(v);
    size_t n = p->chains < CHAINS_SHOWN ? p->chains : CHAINS_SHOWN;
    double fresh = p->done - p->resumed;
    fit_progress_duration(fresh > 0 ? p->seconds * (p->total - p->done) / fresh : 0, left, sizeof left);
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
