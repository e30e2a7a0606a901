/* warmup.c -- dual averaging and the windows of the warm-up. */
#include "sampler/warmup.h"

#include <math.h>

/* ---- dual averaging -------------------------------------------------------------------------- */

static const double GAMMA = 0.05, T0 = 10, KAPPA = 0.75;

void fit_dual_start(struct fit_dual *d, double target, double step)
{
    *d = (struct fit_dual){
        .target = target, .gamma = GAMMA, .mu = log(10 * step), .log_step = log(step)};
}

/* Hoffman & Gelman (2014), equation (6) and the lines after it. */
void fit_dual_update(struct fit_dual *d, double accept)
{
    accept = accept >= 0 ? fmin(accept, 1) : 0;
    d->count++;
    double eta = 1 / (d->count + T0);
    d->h_mean = (1 - eta) * d->h_mean + eta * (d->target - accept);
    d->log_step = d->mu - d->h_mean * sqrt(d->count) / d->gamma;
    double weight = pow(d->count - d->settled, -KAPPA);
    d->log_step_mean = weight * d->log_step + (1 - weight) * d->log_step_mean;
}

void fit_dual_settle(struct fit_dual *d)
{
    if (d->count <= 0 || d->settled > 0)
        return;
    d->mu = d->log_step = d->log_step_mean;
    d->h_mean = 0;
    d->gamma = 4 * GAMMA;
    d->settled = d->count;
}

double fit_dual_step(const struct fit_dual *d)
{
    return exp(d->log_step);
}

double fit_dual_final(const struct fit_dual *d)
{
    return exp(d->count > 0 ? d->log_step_mean : d->log_step);
}

/* ---- windows --------------------------------------------------------------------------------- */

enum { SHORTEST = 20 }; /* of a warm-up with windows */

static void add_end(struct fit_windows *w, uint32_t end)
{
    if (w->n < sizeof w->end / sizeof *w->end)
        w->end[w->n++] = end;
}

/* Windows of sizes size, 2 size, ... from `begin`, the last one stretched to end before `stop`. */
static void add_doubling(struct fit_windows *w, uint32_t begin, uint32_t size, uint32_t stop)
{
    uint32_t last = stop - 1, end = begin + size - 1;
    for (;;) {
        add_end(w, end);
        if (end >= last)
            return;
        size *= 2;
        end += size;
        if (end + 2 * size >= stop) /* no room for another one */
            end = last;
    }
}

void fit_windows_plan(struct fit_windows *w, enum fit_schedule s, size_t warmup, int known)
{
    *w = (struct fit_windows){0};
    uint32_t n = (uint32_t)warmup;
    if (n < SHORTEST)
        return;
    if (s == FIT_SCHEDULE_STAN) {
        /* cmdstan's windowed_adaptation; 15, 75 and 10 percent when the usual ones do not fit */
        int fits = 75 + 25 + 50 <= n;
        uint32_t init = fits ? 75 : (uint32_t)(0.15 * n), term = fits ? 50 : (uint32_t)(0.1 * n);
        w->collect = init;
        add_doubling(w, init, fits ? 25 : n - init - term, n - term);
    } else if (known) {
        w->collect = n / 6;
        add_end(w, n / 3 - 1);
        add_end(w, n - n / 6 - 1);
    } else {
        add_doubling(w, 0, n / 30 > 10 ? n / 30 : 10, n - n * 3 / 20);
    }
}
