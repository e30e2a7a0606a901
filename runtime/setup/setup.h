/* setup.h -- from a configuration to the input of a fit. */
#pragma once

#include "config/config.h"
#include "input/measurement.h"
#include "leastsquares/fit_types.h"
#include "model/linkage.h"

/* Recognises data given in place of a configuration, by the name or by the first bytes. */
int fit_setup_is_data(const char *file);

/* FIT_ERR_CONFIG for requests that this version cannot meet. */
enum fit_status fit_setup_supported(const struct fit_config *cfg, const struct fit_kernel *kernel,
                                    struct fit_error *err);

/* Options of the fit.  The arrays they point to belong to *storage (released by free() on each of
 * its members: fit_setup_free). */
struct fit_setup {
    struct fit_options options;
    double *start, *lower, *upper, *linear_lower, *linear_upper, *linear_start, *sigma;
    unsigned char *fixed, *linear_fixed;
    size_t *linear_class;
    struct fit_minimiser *minimiser; /* options.minimiser; NULL: nlsq */
    struct fit_linkage *link; /* NULL: the model's own parameters are those of the fit */
    int copies;               /* 1: some parameter has values of its own for groups */
    struct fit_arena storage_;
};
enum fit_status fit_setup_options(const struct fit_config *cfg, const struct fit_kernel *kernel,
                                  const struct fit_dataset *ds, const struct fit_measurement *m,
                                  struct fit_setup *s, struct fit_error *err);
void fit_setup_free(struct fit_setup *s);

/* s->options <- the arrays of s. */
void fit_setup_borrow(struct fit_setup *s);

/* After fit_setup_options(): makes ties and values of groups into a linkage whose kernel is to be fitted instead,
 * with the options translated to it. shared: 1 for a preceding fit in which nonlinear parameters have one value for
 * all groups; then 0. Without links nothing is changed. Sets ds->layout.context. */
enum fit_status fit_setup_links(const struct fit_config *cfg, const struct fit_kernel *kernel,
                                struct fit_dataset *ds, int shared, struct fit_setup *s, struct fit_error *err);

/* Starts of s at the end of the shared fit `from`, whose linkage was link (or NULL). */
void fit_setup_start_from(struct fit_setup *s, const struct fit_linkage *link, const struct fit_result *from);
