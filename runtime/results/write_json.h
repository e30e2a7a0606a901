/* write_json.h -- parts of fit.json that have files of their own. */
#pragma once

#include "base/json.h"
#include "results/results.h"

/* "posterior": {...}; nothing when no posterior was requested. */
void fit_json_posterior(struct fit_json *j, const struct fit_results *r);
