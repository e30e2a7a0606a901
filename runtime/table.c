/* table.c -- reading tables.  See table.h. */
#include "table_impl.h"

#include "hdf5_io.h"
#include "npz.h"
#include "source.h"
#include "units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static enum fit_status no_memory(const char *file, struct fit_error *err)
{
    return fit_fail(err, FIT_ERR_MEMORY, "%s: out of memory", file);
}

static char *copy_text(const char *from, size_t n)
{
    char *p = malloc(n + 1);
    if (p) {
        memcpy(p, from, n);
        p[n] = 0;
    }
    return p;
}

void fit_table_free(struct fit_table *t)
{
    if (!t)
        return;
    for (size_t c = 0; c < t->ncolumn; c++) {
        if (t->name)
            free(t->name[c]);
        if (t->column)
            free(t->column[c]);
    }
    free(t->name);
    free(t->column);
    free(t);
}

/* An empty table of this shape with empty names. */
struct fit_table *fit_table_new(size_t nrow, size_t ncolumn)
{
    struct fit_table *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->nrow = nrow;
    t->ncolumn = ncolumn;
    t->name = calloc(ncolumn + 1, sizeof *t->name);
    t->column = calloc(ncolumn + 1, sizeof *t->column);
    int ok = t->name && t->column;
    for (size_t c = 0; ok && c < ncolumn; c++) {
        t->name[c] = calloc(1, 1);
        t->column[c] = malloc((nrow ? nrow : 1) * sizeof(double));
        ok = t->name[c] && t->column[c];
    }
    if (!ok) {
        fit_table_free(t);
        return NULL;
    }
    return t;
}

int fit_table_set_name(struct fit_table *t, size_t c, const char *name, size_t n)
{
    char *p = copy_text(name, n);
    if (!p)
        return 0;
    free(t->name[c]);
    t->name[c] = p;
    return 1;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* Values of a matrix nrow x ncolumn, row by row (or column by column), into a new table. */
static struct fit_table *from_matrix(const double *v, size_t nrow, size_t ncolumn, int by_column)
{
    struct fit_table *t = ncolumn <= FIT_TABLE_COLUMNS ? fit_table_new(nrow, ncolumn) : NULL;
    for (size_t c = 0; t && c < ncolumn; c++)
        for (size_t r = 0; r < nrow; r++)
            t->column[c][r] = by_column ? v[c * nrow + r] : v[r * ncolumn + c];
    return t;
}

/* Adds a column; takes the values. */
static int add_column(struct fit_table *t, const char *name, double *value, size_t n)
{
    char **names = realloc(t->name, (t->ncolumn + 2) * sizeof *names);
    if (names)
        t->name = names;
    double **columns = realloc(t->column, (t->ncolumn + 2) * sizeof *columns);
    if (columns)
        t->column = columns;
    char *copy = names && columns ? copy_text(name, strlen(name)) : NULL;
    if (!copy) {
        free(value);
        return 0;
    }
    t->nrow = n;
    t->unordered = 1;
    t->name[t->ncolumn] = copy;
    t->column[t->ncolumn++] = value;
    return 1;
}

static enum fit_status unequal(const char *file, const struct fit_table *t, const char *name,
                               size_t n, struct fit_error *err)
{
    return fit_fail(err, FIT_ERR_DATA,
                    "%s: %s has %zu values, %s has %zu; columns must be equally long", file,
                    t->name[0], t->nrow, name, n);
}

static enum fit_status read_h5_group(struct fit_h5 *h, const char *group, struct fit_table *t,
                                     struct fit_error *err)
{
    char **name, path[512];
    size_t count;
    enum fit_status st = fit_h5_list(h, group, &name, &count, err);
    if (st != FIT_OK)
        return st;
    for (size_t i = 0; i < count && st == FIT_OK && t->ncolumn < FIT_TABLE_COLUMNS; i++) {
        int rank;
        size_t dims[FIT_H5_RANK], n;
        double *v;
        snprintf(path, sizeof path, "%s/%s", strcmp(group, "/") == 0 ? "" : group, name[i]);
        if (fit_h5_kind(h, path) != FIT_H5_NUMBER ||
            fit_h5_shape(h, path, &rank, dims, NULL) != FIT_OK || rank != 1)
            continue;
        if ((st = fit_h5_read_doubles(h, path, &v, &n, err)) != FIT_OK)
            break;
        if (t->ncolumn && n != t->nrow) {
            st = unequal(fit_h5_file(h), t, name[i], n, err);
            free(v);
        } else if (!add_column(t, name[i], v, n)) {
            st = no_memory(fit_h5_file(h), err);
        }
    }
    fit_h5_free_strings(name, count);
    if (st == FIT_OK && !t->ncolumn)
        st = fit_fail(err, FIT_ERR_DATA, "%s: %s holds no 1-D datasets of numbers", fit_h5_file(h),
                      group);
    return st;
}

static enum fit_status read_h5_matrix(struct fit_h5 *h, const char *path, struct fit_table **out,
                                      struct fit_error *err)
{
    int rank;
    size_t dims[FIT_H5_RANK], n;
    double *v = NULL;
    char *names = NULL;
    enum fit_status st = fit_h5_shape(h, path, &rank, dims, err);
    if (st != FIT_OK)
        return st;
    if (rank < 1 || rank > 2)
        return fit_fail(err, FIT_ERR_DATA, "%s: %s has %d dimensions; rows and columns are needed",
                        fit_h5_file(h), path, rank);
    if ((st = fit_h5_read_doubles(h, path, &v, &n, err)) != FIT_OK)
        return st;
    *out = from_matrix(v, dims[0], rank == 2 ? dims[1] : 1, 0);
    free(v);
    if (!*out)
        return no_memory(fit_h5_file(h), err);
    /* one text with the names, separated by commas */
    if (fit_h5_read_attr_string(h, path, "columns", &names, NULL) == FIT_OK) {
        struct fit_cell cell[64];
        size_t count = fit_text_split(',', names, names + strlen(names), cell, 64);
        for (size_t c = 0; count == (*out)->ncolumn && c < count && c < 64; c++)
            fit_table_set_name(*out, c, cell[c].at, cell[c].n);
    }
    free(names);
    return FIT_OK;
}

static enum fit_status read_hdf5(const char *file, const struct fit_table_options *o,
                                 struct fit_table **out, struct fit_error *err)
{
    const char *path = o->dataset ? o->dataset : "/";
    struct fit_h5 *h;
    enum fit_status st = fit_h5_open(file, &h, err);
    *out = NULL;
    if (st != FIT_OK)
        return st;
    if (fit_h5_kind(h, path) == FIT_H5_GROUP) {
        if (!(*out = fit_table_new(0, 0)))
            st = no_memory(file, err);
        else
            st = read_h5_group(h, path, *out, err);
    } else {
        st = read_h5_matrix(h, path, out, err);
    }
    if (fit_h5_starved(h))
        st = no_memory(file, err);
    fit_h5_close(h);
    return st;
}

static enum fit_status npz_matrix(struct fit_npz *z, int member, struct fit_table **out,
                                  struct fit_error *err)
{
    const struct fit_npz_array *a = fit_npz_array(z, member);
    double *v;
    size_t n;
    if (a->rank < 1 || a->rank > 2)
        return fit_fail(err, FIT_ERR_DATA, "%s: %s has %d dimensions; rows and columns are needed",
                        fit_npz_file(z), *a->name ? a->name : "the array", a->rank);
    enum fit_status st = fit_npz_read_all(z, member, &v, &n, err);
    if (st != FIT_OK)
        return st;
    *out = from_matrix(v, a->dims[0], a->rank == 2 ? a->dims[1] : 1, a->fortran);
    free(v);
    return *out ? FIT_OK : no_memory(fit_npz_file(z), err);
}

static enum fit_status npz_columns(struct fit_npz *z, struct fit_table *t, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    for (int i = 0; (size_t)i < fit_npz_count(z) && st == FIT_OK && t->ncolumn < FIT_TABLE_COLUMNS;
         i++) {
        const struct fit_npz_array *a = fit_npz_array(z, i);
        double *v;
        size_t n;
        if (a->rank != 1 || !strchr("fiub", a->kind))
            continue;
        if ((st = fit_npz_read_all(z, i, &v, &n, err)) != FIT_OK)
            break;
        if (t->ncolumn && n != t->nrow) {
            st = unequal(fit_npz_file(z), t, a->name, n, err);
            free(v);
        } else if (!add_column(t, a->name, v, n)) {
            st = no_memory(fit_npz_file(z), err);
        }
    }
    if (st == FIT_OK && !t->ncolumn)
        st = fit_fail(err, FIT_ERR_DATA, "%s: holds no 1-D arrays of numbers", fit_npz_file(z));
    return st;
}

static enum fit_status read_npz(const char *file, const struct fit_table_options *o,
                                struct fit_table **out, struct fit_error *err)
{
    struct fit_npz *z;
    enum fit_status st = fit_npz_open(file, &z, err);
    *out = NULL;
    if (st != FIT_OK)
        return st;
    int member = o->dataset ? fit_npz_find(z, o->dataset) : fit_npz_count(z) == 1 ? 0 : -1;
    if (o->dataset && member < 0)
        st = fit_fail(err, FIT_ERR_DATA, "%s: no member %s", file, o->dataset);
    else if (member >= 0)
        st = npz_matrix(z, member, out, err);
    else if (!(*out = fit_table_new(0, 0)))
        st = no_memory(file, err);
    else
        st = npz_columns(z, *out, err);
    fit_npz_close(z);
    return st;
}

enum fit_status fit_table_read(const char *file, const struct fit_table_options *options,
                               struct fit_table **table, struct fit_error *err)
{
    static const struct fit_table_options none;
    const struct fit_table_options *o = options ? options : &none;
    enum fit_status st =
        fit_npz_is_npz(file) || fit_npz_is_npy(file) ? read_npz(file, o, table, err)
        : fit_h5_is_hdf5(file)                       ? read_hdf5(file, o, table, err)
                               : (*table = NULL, fit_table_read_text(file, o, table, err));
    if (st == FIT_OK && (*table)->nrow == 0)
        st = fit_fail(err, FIT_ERR_DATA, "%s: holds no rows", file);
    if (st != FIT_OK) {
        fit_table_free(*table);
        *table = NULL;
    }
    return st;
}

int fit_table_find(const struct fit_table *t, const char *source)
{
    char *end;
    for (size_t c = 0; c < t->ncolumn; c++)
        if (*source && strcmp(t->name[c], source) == 0)
            return (int)c;
    for (size_t c = 0; c < t->ncolumn; c++)
        if (*source && strcasecmp(t->name[c], source) == 0)
            return (int)c;
    long n = strtol(source, &end, 10);
    return *source && !*end && n >= 1 && (size_t)n <= t->ncolumn ? (int)n - 1 : -1;
}

/* ---- datasets -------------------------------------------------------------------------------- */

/* Column of the file for the model's column (or axis) of this name; -1: not there. */
static int match(const struct fit_table *t, const struct fit_config_table *cfg, const char *name,
                 const char **wanted)
{
    *wanted = name;
    for (size_t i = 0; cfg && i < cfg->ncolumn; i++)
        if (strcmp(cfg->column[i].role, name) == 0) {
            *wanted = cfg->column[i].source;
            return fit_table_find(t, *wanted);
        }
    return fit_table_find(t, name);
}

/* "'q', 'g2', ... of 12": the columns that the file has. */
static const char *names_there(const struct fit_table *t, char *text, size_t size)
{
    size_t at = 0, c = 0;
    for (; c < t->ncolumn && at + 40 < size; c++) {
        int n = snprintf(text + at, size - at, "%s'%.24s'", c ? ", " : "", t->name[c]);
        at += n > 0 ? (size_t)n : 0;
    }
    if (c < t->ncolumn)
        snprintf(text + at, size - at, ", ... of %zu", t->ncolumn);
    return text;
}

/* The unit at the end of a column's name: delay_ms, "delay (ms)", "delay [ms]"; 0: there is none. */
static int unit_in_name(const char *name, char *text, size_t size, struct fit_unit *unit)
{
    const char *begin = strpbrk(name, "([");
    begin = begin ? begin : strrchr(name, '_');
    if (!begin)
        return 0;
    snprintf(text, size, "%s", begin + 1);
    text[strcspn(text, ")]")] = '\0';
    return *text && fit_unit_parse(text, unit);
}

/* Names that speak of another unit than the model's: numbers are taken as they are. */
static void doubt_units(const char *file, const struct fit_table *t, const struct fit_kernel *k, const int *from,
                        struct fit_notes *notes)
{
    for (size_t c = 0; c < k->naxis + k->ncolumn; c++) {
        const char *model = c < k->naxis ? k->axis[c].unit : k->column[c - k->naxis].unit;
        const char *name = from[c] < 0 ? "" : t->name[from[c]];
        struct fit_unit wanted, said;
        char text[32];
        if (unit_in_name(name, text, sizeof text, &said) && fit_unit_parse(model, &wanted) &&
            fit_unit_compatible(said, wanted) && fabs(said.scale / wanted.scale - 1) > 1e-9)
            fit_notes_doubt(notes, "%s: column '%s' is taken in %s, as the model has it; its name says %s: convert the"
                          " numbers if that is so", file, name, model, text);
    }
}

/* Name of the k-th of the axes and columns of a model, and whether the file must have it: errors may be missing. */
static const char *wanted_name(const struct fit_kernel *k, size_t i)
{
    return i < k->naxis ? k->axis[i].name : k->column[i - k->naxis].name;
}

static int is_needed(const struct fit_kernel *k, size_t i)
{
    return i < k->naxis || k->column[i - k->naxis].role != FIT_ROLE_SIGMA;
}

/* By position, where no name is known: without names in the file, or when it has as many columns as are needed, so that
 * none with an unknown name is taken for the errors.  Arrays with a name each have no order. */
static int take_by_position(const char *file, const struct fit_table *t, const struct fit_kernel *kernel,
                            size_t needed, int *from, struct fit_notes *notes)
{
    const size_t all = kernel->naxis + kernel->ncolumn;
    const int nameless = !*t->name[0], errors = nameless && t->ncolumn >= all;
    char text[400] = "";
    size_t next = 0, at = 0;
    if (t->unordered || t->ncolumn < needed || (!nameless && t->ncolumn > needed))
        return 0;
    for (size_t k = 0; k < all; k++) {
        from[k] = errors || is_needed(kernel, k) ? (int)next++ : -1;
        if (from[k] < 0 || at >= sizeof text)
            continue;
        const char *name = t->name[from[k]];
        int n = snprintf(text + at, sizeof text - at, "%s%s%s%.24s%s", at ? ", " : "", wanted_name(kernel, k),
                         *name ? " is '" : "", name, *name ? "'" : "");
        at += n > 0 ? (size_t)n : 0;
    }
    fit_notes_doubt(notes, "%s: columns are taken by position: %s", file, text);
    return 1;
}

/* "one of them is taken for it by --set 'data.columns={delay: NAME}'" */
static enum fit_status no_columns(const char *file, const struct fit_table *t, const struct fit_kernel *kernel,
                                  const int *from, const char *missing, struct fit_error *err)
{
    char there[200], roles[200] = "";
    size_t at = 0;
    for (size_t k = 0; k < kernel->naxis + kernel->ncolumn && at < sizeof roles; k++) {
        if (from[k] >= 0 || !is_needed(kernel, k))
            continue;
        int n = snprintf(roles + at, sizeof roles - at, "%s%s: NAME", at ? ", " : "", wanted_name(kernel, k));
        at += n > 0 ? (size_t)n : 0;
    }
    return fit_fail(err, FIT_ERR_DATA,
                    "%s: no column '%s'; there are %s; one of them is taken for it by"
                    " --set 'data.columns={%s}'", file, missing,
                    *t->name[0] ? names_there(t, there, sizeof there) : "columns without names", roles);
}

/* Fills from[]: the table's column for each axis, then for each column of the model. */
static enum fit_status match_all(const char *file, const struct fit_table *t,
                                 const struct fit_config_table *cfg,
                                 const struct fit_kernel *kernel, int *from,
                                 struct fit_notes *notes, struct fit_error *err)
{
    size_t needed = 0, found = 0;
    const char *wanted, *missing = NULL;
    for (size_t k = 0; k < kernel->naxis + kernel->ncolumn; k++) {
        const int must = is_needed(kernel, k);
        from[k] = match(t, cfg, wanted_name(kernel, k), &wanted);
        needed += must ? 1 : 0;
        found += must && from[k] >= 0;
        if (must && from[k] < 0 && !missing)
            missing = wanted;
    }
    if (found < needed && (found || (cfg && cfg->ncolumn) || !take_by_position(file, t, kernel, needed, from, notes)))
        return no_columns(file, t, kernel, from, missing, err);
    doubt_units(file, t, kernel, from, notes);
    return FIT_OK;
}

/* A curve needs more rows than it has parameters of its own (without prior): else the column does not tell curves
 * apart, or is not rounded alike in all rows of one. */
static enum fit_status check_groups(const struct fit_kernel *k, const struct fit_measurement *m,
                                    struct fit_error *err)
{
    const struct fit_dataset *ds = m->dataset;
    size_t own = 0;
    for (size_t q = 0; q < k->nlinear; q++)
        own += k->linear[q].over >= 0 && k->linear[q].prior == FIT_PRIOR_NONE;
    for (size_t g = 0; k->naxis && g < ds->layout.ngroup; g++)
        if (ds->npoint_group[g] <= own)
            return fit_fail(err, FIT_ERR_DATA,
                            "%s: %s = %.10g has %zu row%s, for %zu parameters of its own; rows of one"
                            " curve must have the same %s to the last digit",
                            m->file, k->axis[0].name, ds->layout.coord[0][g], ds->npoint_group[g],
                            ds->npoint_group[g] == 1 ? "" : "s", own, k->axis[0].name);
    return FIT_OK;
}

static enum fit_status describe_groups(struct fit_measurement *m, struct fit_error *err)
{
    m->ngroup = m->dataset->layout.ngroup;
    if (!(m->group = calloc(m->ngroup, sizeof *m->group)))
        return no_memory(m->file, err);
    for (size_t g = 0; g < m->ngroup; g++)
        m->group[g] = (struct fit_group){.q = NAN, .phi = NAN, .sigma = NAN};
    return FIT_OK;
}

static enum fit_status make_dataset(const struct fit_table *t, const struct fit_kernel *k,
                                    const int *from, struct fit_measurement *m,
                                    struct fit_error *err)
{
    const double **all = calloc(k->naxis + k->ncolumn + 1, sizeof *all);
    const double *value = NULL, *sigma = NULL;
    double *ones = malloc(t->nrow * sizeof *ones);
    enum fit_status st = FIT_OK;
    if (!all || !ones) {
        st = no_memory(m->file, err);
        goto done;
    }
    const double **column = all + k->naxis;
    for (size_t c = 0; c < k->naxis + k->ncolumn; c++)
        all[c] = from[c] < 0 ? NULL : t->column[from[c]];
    for (size_t r = 0; r < t->nrow; r++)
        ones[r] = 1;
    for (size_t c = 0; c < k->ncolumn; c++) {
        if (k->column[c].role == FIT_ROLE_VALUE)
            value = column[c];
        if (k->column[c].role == FIT_ROLE_SIGMA)
            sigma = column[c];
        column[c] = column[c] ? column[c] : ones;
    }
    if (!value) {
        st = fit_fail(err, FIT_ERR_CONFIG, "model %s has no column of measured values", k->name);
        goto done;
    }
    m->sigma_from = sigma ? FIT_SIGMA_ARRAY : FIT_SIGMA_NONE;
    const struct fit_dataset_table table = {.nrow = t->nrow,
                                            .ncolumn = k->ncolumn,
                                            .naxis = k->naxis,
                                            .nsetting = k->nsetting,
                                            .column = column,
                                            .axis = all,
                                            .value = value,
                                            .sigma = sigma,
                                            .setting = m->setting,
                                            .center = k->intercept >= 0};
    if ((st = fit_dataset_new_table(&table, &m->dataset, err)) == FIT_OK &&
        (st = fit_dataset_finish(m->dataset, err)) == FIT_OK &&
        (st = check_groups(k, m, err)) == FIT_OK &&
        (st = fit_table_check_law(m->file, k, m->dataset, err)) == FIT_OK)
        st = describe_groups(m, err);
    if (st == FIT_OK && m->dataset->ndropped)
        fit_notes_add(
            &m->notes,
            "%zu of %zu rows are not finite, or have no positive error, and have weight zero",
            m->dataset->ndropped, t->nrow);
done:
    free(all);
    free(ones);
    return st;
}

/* Why no table is found, when the file is one of two-time data. */
static void name_two_time(const char *file, const struct fit_kernel *kernel, struct fit_error *err)
{
    struct fit_source *src = NULL;
    if (!fit_h5_is_hdf5(file) && !fit_npz_is_npz(file) && !fit_npz_is_npy(file))
        return;
    if (fit_source_open(file, NULL, &src, NULL) == FIT_OK && src->nmatrix)
        fit_fail(err, FIT_ERR_DATA,
                 "%s: is two-time data (%s); the model %s is for tables. Take one for two-time data, as "
                 "static_isotropic, or a table of g2",
                 file, src->layout, kernel->name);
    fit_source_close(src);
}

static enum fit_status copy_settings(const struct fit_kernel *k, const double *setting,
                                     struct fit_measurement *m, struct fit_error *err)
{
    if (!(m->setting = calloc(k->nsetting + 1, sizeof *m->setting)))
        return no_memory(m->file, err);
    for (size_t i = 0; i < k->nsetting; i++) {
        m->setting[i] = setting ? setting[i] : k->setting[i].value;
        if (isnan(m->setting[i]))
            return fit_fail(err, FIT_ERR_CONFIG, "%s: the setting %s (%s) is not known; give it",
                            m->file, k->setting[i].name, k->setting[i].unit);
    }
    return FIT_OK;
}

enum fit_status fit_table_load(const char *file, const struct fit_config_table *cfg,
                               const struct fit_kernel *kernel, const double *setting,
                               struct fit_measurement **out, struct fit_error *err)
{
    struct fit_table_options o = {0};
    struct fit_table *t = NULL;
    struct fit_measurement *m = calloc(1, sizeof *m);
    int *from = calloc(kernel->naxis + kernel->ncolumn + 1, sizeof *from);
    enum fit_status st = FIT_OK;
    *out = NULL;
    if (!m || !from || !(m->file = copy_text(file, strlen(file)))) {
        st = no_memory(file, err);
        goto done;
    }
    m->layout = "table";
    if (cfg) {
        o.dataset = cfg->dataset.value;
        o.delimiter = cfg->delimiter.value ? cfg->delimiter.value[0] : 0;
        o.skip_rows = cfg->skip_rows.value > 0 ? (size_t)cfg->skip_rows.value : 0;
    }
    if ((st = fit_table_read(file, &o, &t, err)) == FIT_OK && (st = copy_settings(kernel, setting, m, err)) == FIT_OK)
        st = match_all(file, t, cfg, kernel, from, &m->notes, err);
    if (st == FIT_ERR_DATA)
        name_two_time(file, kernel, err);
    if (st != FIT_OK ||
        (st = make_dataset(t, kernel, from, m, err)) != FIT_OK)
        goto done;
    st = fit_file_identity(file, m->sha256, &m->size, err);
done:
    fit_table_free(t);
    free(from);
    if (st == FIT_OK)
        *out = m;
    else
        fit_measurement_free(m);
    return st;
}
