/* sequence.h -- fits every group of data (azimuth, curve), or every q of a file, alone.
 *
 * Each is the same fit as that of all groups together, with the values of one group only: ties hold; values of groups
 * are their own anyway. It starts from the result of the joint fit, in addition to a search of its own. Parameters that
 * one group cannot determine (the direction of the flow) are reported as such.
 */
#pragma once

#include "input/select.h"
#include "setup/setup.h"

struct fit_sequence_row {
    double coord;      /* of the first axis; NaN: none */
    int fitted;        /* 0: no result; text says why */
    int converged;
    enum fit_word status;
    double reduced_chi2, chi2; /* as in struct fit_result */
    size_t npoint;
    double *value, *std, *robust; /* nvalue: parameters of the model, nonlinear then linear; robust NaN: none */
    signed char *at_bound;        /* nvalue */
    char text[256];
};

struct fit_sequence_result {
    size_t n, nvalue;
    struct fit_sequence_row *row;
    const char *axis; /* the meaning of coord; NULL: the first axis of the model */
    double seconds;
    struct fit_arena storage_;
};

/* joint: the fit of all groups, made with the options and links of setup. model: the model's own kernel.
 * FIT_ERR_MEMORY, FIT_ERR_INTERRUPTED. */
enum fit_status fit_sequence(const struct fit_config *cfg, const struct fit_kernel *model,
                             const struct fit_dataset *ds, const struct fit_setup *setup,
                             const struct fit_result *joint, struct fit_sequence_result *out, struct fit_error *err);

/* Fits every q of the file of `sel` (other settings as for the joint fit), each with all its azimuths from the file;
 * starts from the fit `joint` of one of them, in addition to a search of its own. Linear parameters are the means
 * over the azimuths. setting: nsetting of the model. interrupt may be NULL. FIT_ERR_CONFIG where groups have values
 * of their own. */
struct fit_sequence_q {
    const struct fit_config *cfg;
    const struct fit_kernel *model;
    const struct fit_selection *sel;
    const double *setting;
    const struct fit_setup *setup;
    const struct fit_result *joint;
};
enum fit_status fit_sequence_every_q(const struct fit_sequence_q *spec, struct fit_sequence_result *out,
                                     struct fit_error *err);

/* n rows without results. */
enum fit_status fit_sequence_new(size_t n, const struct fit_kernel *model, struct fit_sequence_result *out,
                                 struct fit_error *err);

/* Status, chi2 and message of a fit. */
void fit_sequence_outcome(const struct fit_result *r, struct fit_sequence_row *row);
void fit_sequence_free(struct fit_sequence_result *s);
