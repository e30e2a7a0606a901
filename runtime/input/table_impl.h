/* table_impl.h -- shared by table.c and table_text.c. */
#pragma once

#include "input/table.h"

/* A part of a text. */
struct fit_cell {
    const char *at;
    size_t n;
};

/* Splits the line [p, e) into cells, without surrounding spaces and quotes; keeps at most `most` and returns their
 * number. delimiter ' ': any run of spaces and tabs. */
size_t fit_text_split(char delimiter, const char *p, const char *e, struct fit_cell *cell,
                      size_t most);

/* An empty table of this shape with empty names; NULL: out of memory. */
struct fit_table *fit_table_new(size_t nrow, size_t ncolumn);

/* 0: out of memory. */
int fit_table_set_name(struct fit_table *t, size_t c, const char *name, size_t n);

/* Adds a column.  0: out of memory. */
int fit_table_add_column(struct fit_table *t, const char *name, const double *value, size_t n);

/* Name of the k-th of the axes and columns of a model; whether the file must have it (errors may be missing, and the
 * program makes the number of the measured quantity); whether the file may have it. */
const char *fit_table_wanted(const struct fit_kernel *k, size_t i);
const char *fit_table_unit(const struct fit_kernel *k, size_t i); /* as the model declares it */
int fit_table_needs(const struct fit_kernel *k, size_t i);
int fit_table_takes(const struct fit_kernel *k, size_t i);

/* Fills from[]: the table's column for each axis, then for each column of the model; -1: none.  Columns in other units
 * than the model's are converted (as further columns of the table), or refused. */
enum fit_status fit_table_match(const char *file, struct fit_table *t, const struct fit_config_table *cfg,
                                const struct fit_kernel *kernel, int *from, struct fit_notes *notes,
                                struct fit_error *err);

/* Converts column *from of the table, for the i-th of the axes and columns, to the unit that the model declares: if
 * its name, an attribute or cfg (may be NULL) states another unit, *from becomes a further column of the table.
 * notes may be NULL. */
enum fit_status fit_table_take_unit(const char *file, struct fit_table *t, const struct fit_config_table *cfg,
                                    const struct fit_kernel *k, size_t i, int *from, struct fit_notes *notes,
                                    struct fit_error *err);

/* Several measured quantities: one row for each value of a row. all: naxis + ncolumn columns of *nrow, NULL where
 * the file has none. They and *nrow become those of the data set: first all rows of the first quantity, and so on,
 * without values that were not measured (NaN). The columns lie in a. */
enum fit_status fit_table_stack(const char *file, const struct fit_kernel *k, const double **all, size_t *nrow,
                                struct fit_arena *a, struct fit_notes *notes, struct fit_error *err);

/* FIT_ERR_DATA when a value of the dataset, in memory, is impossible under the kernel's noise distribution. */
enum fit_status fit_table_check_law(const char *file, const struct fit_kernel *k, const struct fit_dataset *ds,
                                    struct fit_error *err);

enum { FIT_TABLE_COLUMNS = 4096 };

/* The first stage of loading: *table as it was read, its *columns for those of the model (as fit_table_match() has
 * them, in *whole), and *whole, which holds file, settings and notes. The caller frees table and whole, also after
 * an error. */
enum fit_status fit_table_open(const char *file, const struct fit_config_table *cfg, const struct fit_kernel *kernel,
                               const double *setting, struct fit_measurement **whole, struct fit_table **table,
                               int **columns, struct fit_error *err);

/* The dataset of m, from a table. */
enum fit_status fit_table_dataset(const struct fit_table *t, const struct fit_kernel *k, const int *from,
                                  struct fit_measurement *m, struct fit_error *err);

/* A table of correlation functions in a result file of a beamline: of the bin with the number `dataset`, NULL: of
 * all. *out stays NULL when the file is not of this kind. */
struct fit_h5;
enum fit_status fit_table_g2(struct fit_h5 *h, const char *dataset, struct fit_table **out, struct fit_error *err);

/* 1: the text begins like a file of an ALV correlator; its table. */
int fit_table_is_alv(const char *text, size_t n);
enum fit_status fit_table_read_alv(const char *file, const char *text, size_t size, struct fit_table **out,
                                   struct fit_error *err);

/* fit_table_read for text. */
enum fit_status fit_table_read_text(const char *file, const struct fit_table_options *o,
                                    struct fit_table **out, struct fit_error *err);
