/* study.h -- further analyses of a fit: profile likelihoods, a bootstrap, every angle alone; and their output.
 */
#pragma once

#include "base/json.h"
#include "fit/bootstrap.h"
#include "hdf5/h5_writer.h"
#include "setup/sequence.h"

#include <stdio.h>

struct fit_results;

struct fit_study {
    struct fit_bootstrap bootstrap;      /* kind FIT_BOOTSTRAP_NONE: none */
    struct fit_sequence_result sequence; /* n = 0: none */
};
void fit_study_free(struct fit_study *s);

/* Indices in the full vector of the parameters that `profile` names: of the fit ("D0[45]", "contrast[2]"), of the
 * model (all values of it), "all" (all nonlinear ones). list is the caller's. FIT_ERR_CONFIG with position and
 * nearest name. */
enum fit_status fit_study_profiles(const struct fit_config *cfg, const struct fit_kernel *kernel,
                                   const struct fit_linkage *link, size_t ngroup, size_t **list, size_t *n,
                                   struct fit_error *err);

/* Parts of fit.json, fit.h5 and the summary; nothing without such analyses. */
void fit_study_json(struct fit_json *j, const struct fit_results *r);
void fit_study_hdf5(struct fit_h5r *w, const struct fit_results *r);
void fit_study_summary(const struct fit_results *r, FILE *f);

/* The sequence as CSV; the caller frees.  NULL: out of memory. */
char *fit_study_csv(const struct fit_results *r);
