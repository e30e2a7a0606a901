/* table.h -- ordinary tables as input of models with columns: text, HDF5, npz, npy.
 *
 * Text: numbers separated by commas, semicolons, tabs or spaces (detected, or given); lines that begin with '#' or '%'
 * and empty lines are skipped, and so is the text after a '#' in a row. Names of columns come from a first line that is
 * not all numbers, or from the last such comment before the numbers if its number of words matches. An empty cell, and
 * NA, are NaN. Decimals may be written with a comma where cells are not separated by commas; a note reports it. Files
 * of ALV correlators (.ASC) are known (table_alv.c). HDF5: a group of 1-D datasets of one length, or a 2-D dataset
 * (rows, columns) with names in its attribute `columns`; results of beamlines with g2 of many bins (table_g2.c). npz:
 * 1-D members of one length, or one 2-D member. npy: 1-D or 2-D.
 */
#pragma once

#include "base/status.h"
#include "config/config.h"
#include "fit/kernel.h"
#include "input/measurement.h"

#include <stddef.h>

struct fit_table {
    size_t nrow, ncolumn;
    int unordered;   /* columns are named arrays: their order in the file has no meaning */
    char **name;     /* ncolumn; "" when the file has no names */
    double **column; /* ncolumn arrays of nrow */
    char **unit;     /* ncolumn: the attribute `units` or `unit`, or NULL; NULL: no column has one */
    size_t ncurve;   /* more than 1: the rows belong to so many bins, which q, phi and bin distinguish (table_g2.c) */
    size_t *line;    /* nrow: line numbers in a text; NULL: not from a text */
    struct fit_notes notes; /* on how the file was read */
    struct fit_arena storage_;
};

struct fit_table_options {
    const char *dataset; /* group or dataset of HDF5, member of npz; NULL: "/", all */
    char delimiter;      /* 0: found out */
    size_t skip_rows;    /* lines of text to skip before anything else */
};

/* options may be NULL. */
enum fit_status fit_table_read(const char *file, const struct fit_table_options *options,
                               struct fit_table **table, struct fit_error *err);
void fit_table_free(struct fit_table *table);

/* Index of the column with this name (case matters only when two names differ in nothing else), with this name
 * before a unit, as "t (s)" and "t/s", or 1-based number; -1: none. */
int fit_table_find(const struct fit_table *table, const char *source);

/* Reads the table and makes the dataset of a model with columns. The axes of the model are columns too: rows with
 * equal values there form one group. cfg: the names of the columns in the file (NULL: equal names; if none is equal,
 * by position, if the file has no names or exactly as many columns as are needed). A missing column of errors means
 * equal weights. */
enum fit_status fit_table_load(const char *file, const struct fit_config_table *cfg,
                               const struct fit_kernel *kernel, const double *setting,
                               struct fit_measurement **m, struct fit_error *err);
