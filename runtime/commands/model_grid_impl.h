/* model_grid_impl.h -- what model_grid.c and model_grid_axes.c share. */
#pragma once

#include "commands/model_grid.h"

/* 1: values of this name are those of an axis or a covariate, and no parameter's. */
int fit_experiment_is_grid(const struct fit_kernel *k, const char *name);

/* The groups: layout.ngroup, coord, phi, q, nring.  For tables from a file (--data) the rows as well. */
enum fit_status fit_experiment_groups(struct fit_experiment *e, const struct fit_cli *cli, struct fit_error *err);

/* The rows of a table: layout.nrow, column, group; after the groups. */
enum fit_status fit_experiment_columns(struct fit_experiment *e, const struct fit_cli *cli, struct fit_error *err);
