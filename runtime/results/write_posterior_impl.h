/* write_posterior_impl.h -- the parts of posterior.nc (write_posterior.c): the functions that write its groups.
 *
 * Errors stick to the file (h5_writer.h). A group has its own coordinates; a variable is attached to them.
 */
#pragma once

#include "hdf5/h5_writer.h"
#include "results/results.h"

enum { FIT_NC_PATH = 192, FIT_NC_PRIOR_DRAWS = 1000 };

struct fit_nc {
    struct fit_h5r *w;
    const struct fit_results *r;
    const struct fit_samples *s;
    const double *x;        /* of the samples: x or x_robust */
    const char *group_name; /* of the dimension of the groups of data; NULL: there is none */
    const char *group_unit;
    double *group_coord; /* ngroup */
    double *buffer;      /* chains x draws x max(ngroup, ncoordinate) */
    int64_t *count;      /* max(chains, draws, chains x draws) */
    unsigned char *flag; /* chains x draws */
};

/* Columns first, first + stride, ...: one per group, or a single one. */
struct fit_nc_variable {
    char name[80];
    const char *unit, *doc;
    size_t first, stride;
    int grouped;
};

/* ---- write_posterior_layout.c ---------------------------------------------------------------- */

/* "/group/name" -> path, which is returned. */
const char *fit_nc_path(char path[FIT_NC_PATH], const char *group, const char *name);

/* The coordinate 0, 1, ... n - 1 as a dimension of a group; one with values; those of draws, of the groups of data. */
void fit_nc_index(struct fit_nc *f, const char *group, const char *name, size_t n);
void fit_nc_coordinate(struct fit_nc *f, const char *group, const char *name, size_t n, const double *value,
                       const char *unit);
void fit_nc_draw_dimensions(struct fit_nc *f, const char *group);
void fit_nc_group_dimension(struct fit_nc *f, const char *group);

/* The dimensions of a dataset: names of scales in its own group, ended by NULL. */
void fit_nc_attach(struct fit_nc *f, const char *group, const char *name, const char *const *dims);

/* A variable over (chain, draw) and perhaps one dimension more. */
void fit_nc_draws(struct fit_nc *f, const char *group, const char *name, size_t extra, const char *dimension,
                  const double *value, const char *unit);

/* Attributes: a text, if there is one, and those that ArviZ expects of every group. */
void fit_nc_integer(struct fit_nc *f, const char *path, const char *name, int64_t value);
void fit_nc_text(struct fit_nc *f, const char *path, const char *name, const char *value);
void fit_nc_describe(struct fit_nc *f, const char *path);

/* `name`, or with "_parameter" if a dimension has that name. */
const char *fit_nc_variable_name(const struct fit_nc *f, const char *name, char text[80]);

/* Calls put for all variables that are fixed, or are not. */
void fit_nc_each_variable(struct fit_nc *f, const char *group, int fixed,
                          void (*put)(struct fit_nc *, const char *, const struct fit_nc_variable *));

/* ---- write_posterior_data.c ------------------------------------------------------------------ */

/* The groups prior, log_likelihood, posterior_predictive, predictive_check, observed_data, constant_data. */
void fit_nc_put_prior(struct fit_nc *f);
void fit_nc_put_predictive(struct fit_nc *f);
void fit_nc_put_residual_check(struct fit_nc *f);
void fit_nc_put_observed(struct fit_nc *f);
void fit_nc_put_constants(struct fit_nc *f);
