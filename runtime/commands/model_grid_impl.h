/* model_grid_impl.h -- shared by model_grid.c and model_grid_axes.c. */
#pragma once

#include "commands/model_grid.h"

/* 1: values of this name belong to an axis or a covariate, not to a parameter. */
int fit_experiment_is_grid(const struct fit_kernel *k, const char *name);

/* The groups: layout.ngroup, coord, phi, q, nring.  For tables from a file (--data) the rows as well. */
enum fit_status fit_experiment_groups(struct fit_experiment *e, const struct fit_cli *cli, struct fit_error *err);

/* The rows of a table: layout.nrow, column, group; after the groups. */
enum fit_status fit_experiment_columns(struct fit_experiment *e, const struct fit_cli *cli, struct fit_error *err);
