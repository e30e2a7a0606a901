/* write_derived.h -- derived quantities in the files of results. */
#pragma once

#include "base/json.h"
#include "hdf5/h5_writer.h"
#include "results/results.h"

/* "derived": {...}; nothing when the model has none. */
void fit_json_derived(struct fit_json *j, const struct fit_results *r);

/* /entry/derived, with NAME, NAME_err and NAME_err_robust of each. */
void fit_hdf5_derived(struct fit_h5r *w, const struct fit_results *r);
