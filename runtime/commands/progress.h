/* progress.h -- the display while a fit runs: one line on the terminal, five times a second; while chains run, one line
 * for each of them (base/progress_line.h).
 */
#pragma once

#include "base/progress_line.h"
#include "leastsquares/fit_types.h"
#include "sampling/sampling.h"

/* A fit_progress_fn; user is the view.  Always returns 0. */
int fit_progress_show(void *user, const struct fit_progress *p);

/* The same for sampling: chains, effective draws of the log density per second, the remaining time. */
int fit_progress_sampling(struct fit_progress_view *v, const struct fit_sampling_progress *p);
