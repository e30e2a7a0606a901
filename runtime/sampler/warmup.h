/* warmup.h -- step size by dual averaging, and the schedule of the warm-up. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Dual averaging (Nesterov 2009; Hoffman & Gelman 2014, section 3.2.1): gamma 0.05, t0 10,
 * kappa 0.75. */
struct fit_dual {
    double target; /* acceptance to reach */
    double gamma;
    double mu, h_mean, log_step, log_step_mean, count;
    double settled; /* count when it settled; 0: it has not */
};

/* (Re)starts at a step size; mu = log(10 step). */
void fit_dual_start(struct fit_dual *d, double target, double step);
/* After a transition with acceptance statistic `accept` (not a number counts as 0). */
void fit_dual_update(struct fit_dual *d, double accept);
/* Once the metric is final: continues around the average found so far, no longer pulled to the large steps of mu,
 * with a quarter of the gain, and restarts the average. Because the acceptance is concave, steps that vary widely
 * around the average have a lower mean acceptance than the average step, which would come out too small; earlier
 * steps must therefore not count. A second call does nothing. */
void fit_dual_settle(struct fit_dual *d);
/* Step size to use while it adapts, and the average to use afterwards. */
double fit_dual_step(const struct fit_dual *d);
double fit_dual_final(const struct fit_dual *d);

enum fit_schedule {
    FIT_SCHEDULE_FISHER, /* few windows, metric from draws and gradients */
    FIT_SCHEDULE_STAN    /* windows 75 | 25, 50, 100, ... | 50 of Stan, metric from draws */
};

/* Iterations of the warm-up, counted from 0: those in [collect, windows) go to the moments; after
 * iteration end[k] (k < n) the metric is updated and the moments are cleared. */
struct fit_windows {
    uint32_t collect, n;
    uint32_t end[32];
};

/* Schedule of a warm-up of `warmup` iterations.  known: a metric is given from outside (Hessian at
 * the mode).  FISHER, 300 iterations with a known metric: step size 0-49, windows 50-99 and
 * 100-249, step size 250-299, in these proportions for other lengths; without a metric the windows
 * begin at once and double.  STAN: as in Stan, the same windows for both. */
void fit_windows_plan(struct fit_windows *w, enum fit_schedule s, size_t warmup, int known);
