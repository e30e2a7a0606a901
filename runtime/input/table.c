/* table.c -- reading tables.  See table.h. */
#include "input/table_impl.h"

#include "base/identity.h"
#include "files/npz.h"
#include "hdf5/reader.h"
#include "input/source.h"
#include "model/statistics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest number of columns of a table: those of the file, and the same in other units. */
enum { MOST_COLUMNS = 2 * FIT_TABLE_COLUMNS };

void fit_table_free(struct fit_table *t)
{
    if (!t)
        return;
    fit_notes_free(&t->notes);
    fit_arena_free(&t->storage_);
    free(t);
}

struct fit_table *fit_table_new(size_t nrow, size_t ncolumn)
{
    struct fit_table *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->nrow = nrow;
    t->ncolumn = ncolumn;
    t->name = fit_take(&t->storage_, MOST_COLUMNS, sizeof *t->name);
    t->column = fit_take(&t->storage_, MOST_COLUMNS, sizeof *t->column);
    for (size_t c = 0; !t->storage_.failed && c < ncolumn; c++) {
        t->name[c] = fit_arena_string(&t->storage_, "");
        t->column[c] = fit_take(&t->storage_, nrow, sizeof **t->column);
    }
    if (!t->storage_.failed)
        return t;
    fit_table_free(t);
    return NULL;
}

int fit_table_set_name(struct fit_table *t, size_t c, const char *name, size_t n)
{
    char *p = fit_arena_copy(&t->storage_, name, n);
    t->name[c] = p ? p : t->name[c];
    return p != NULL;
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

int fit_table_add_column(struct fit_table *t, const char *name, const double *value, size_t n)
{
    t->nrow = n;
    t->name[t->ncolumn] = fit_arena_string(&t->storage_, name);
    t->column[t->ncolumn++] = fit_take_copy(&t->storage_, value, n, sizeof *value);
    return !t->storage_.failed;
}

static enum fit_status unequal(const char *file, const struct fit_table *t, const char *name,
                               size_t n, struct fit_error *err)
{
    return fit_fail(err, FIT_ERR_DATA,
                    "%s: %s has %zu values, %s has %zu; columns must be equally long", file,
                    t->name[0], t->nrow, name, n);
}

/* The unit that a dataset states for its column c. */
static enum fit_status take_unit(struct fit_h5 *h, const char *path, struct fit_table *t, size_t c,
                                 struct fit_error *err)
{
    FIT_OWNED char *text = NULL;
    enum fit_status st = fit_h5_read_unit(h, path, &text, err);
    if (st != FIT_OK || !text)
        return st;
    if (!t->unit)
        t->unit = fit_take(&t->storage_, MOST_COLUMNS, sizeof *t->unit);
    if (t->unit)
        t->unit[c] = fit_arena_string(&t->storage_, text);
    return t->storage_.failed ? fit_no_memory(err, fit_h5_file(h)) : FIT_OK;
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
        if (t->ncolumn && n != t->nrow)
            st = unequal(fit_h5_file(h), t, name[i], n, err);
        else if (!fit_table_add_column(t, name[i], v, n))
            st = fit_no_memory(err, fit_h5_file(h));
        else
            st = take_unit(h, path, t, t->ncolumn - 1, err);
        t->unordered = 1;
        free(v);
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
    FIT_OWNED char *names = NULL;
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
        return fit_no_memory(err, fit_h5_file(h));
    /* one text with the names, separated by commas */
    if (fit_h5_read_attr_string(h, path, "columns", &names, NULL) == FIT_OK) {
        struct fit_cell cell[64];
        size_t count = fit_text_split(',', names, names + strlen(names), cell, 64);
        for (size_t c = 0; count == (*out)->ncolumn && c < count && c < 64; c++)
            fit_table_set_name(*out, c, cell[c].at, cell[c].n);
    }
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
    if ((st = fit_table_g2(h, o->dataset, out, err)) != FIT_OK || *out) {
        ;
    } else if (fit_h5_kind(h, path) == FIT_H5_GROUP) {
        if (!(*out = fit_table_new(0, 0)))
            st = fit_no_memory(err, file);
        else
            st = read_h5_group(h, path, *out, err);
    } else {
        st = read_h5_matrix(h, path, out, err);
    }
    if (fit_h5_starved(h))
        st = fit_no_memory(err, file);
    if (*out)
        fit_notes_copy(&(*out)->notes, fit_h5_notes(h));
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
    return *out ? FIT_OK : fit_no_memory(err, fit_npz_file(z));
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
        if (t->ncolumn && n != t->nrow)
            st = unequal(fit_npz_file(z), t, a->name, n, err);
        else if (!fit_table_add_column(t, a->name, v, n))
            st = fit_no_memory(err, fit_npz_file(z));
        free(v);
        t->unordered = 1;
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
        st = fit_no_memory(err, file);
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

/* ---- datasets -------------------------------------------------------------------------------- */

/* A curve needs more rows than it has parameters of its own (without prior). Otherwise the column does not
 * distinguish curves, or it is rounded differently in rows of one curve. */
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
    if (!(m->group = fit_take(&m->storage_, m->ngroup, sizeof *m->group)))
        return fit_no_memory(err, m->file);
    for (size_t g = 0; g < m->ngroup; g++)
        m->group[g] = (struct fit_group){.q = NAN, .phi = NAN, .sigma = NAN};
    return FIT_OK;
}

/* "line 7: g2 is nan, line 9: sigma is 0, ...": the rows that are not used. */
static void tell_dropped(const struct fit_table *t, const struct fit_kernel *k, const int *from, size_t size,
                         char *text)
{
    enum { MOST = 4 };
    size_t at = 0, n = 0;
    for (size_t r = 0; r < t->nrow && n <= MOST && at < size; r++)
        for (size_t i = 0; i < k->naxis + k->ncolumn; i++) {
            const double v = from[i] < 0 ? 1 : t->column[from[i]][r];
            const double weight = 1 / (v * v); /* as fit_dataset_counts() has it */
            if (isfinite(v) && (fit_table_needs(k, i) || (v > 0 && weight > 0 && isfinite(weight))))
                continue;
            const size_t where = t->line ? t->line[r] : r + 1;
            int w = n == MOST ? snprintf(text + at, size - at, ", ...")
                              : snprintf(text + at, size - at, "%s%s %zu: %.24s is %.4g", at ? ", " : "",
                                         t->line ? "line" : "row", where, fit_table_wanted(k, i), v);
            at += w > 0 ? (size_t)w : 0;
            n++;
            break;
        }
}

/* Does a row lack an entry other than a measured value or its error? */
static int lacks_columns(const struct fit_table *t, const struct fit_kernel *k, const int *from)
{
    for (size_t i = 0; i < k->naxis + k->ncolumn; i++) {
        const int given = i < k->naxis || k->column[i - k->naxis].role == FIT_ROLE_COVARIATE;
        for (size_t r = 0; given && from[i] >= 0 && r < t->nrow; r++)
            if (!isfinite(t->column[from[i]][r]))
                return 1;
    }
    return 0;
}

/* Requires the order of time where states go through all rows: in each group and, with several measured quantities,
 * for each of these. */
static enum fit_status check_times(const struct fit_kernel *k, const struct fit_measurement *m, struct fit_error *err)
{
    const struct fit_layout *l = &m->dataset->layout;
    const double *t = k->times ? l->column[k->times - 1] : NULL;
    for (size_t g = 0; t && g < l->ngroup; g++)
        for (size_t r = l->first[g] + 1; r < l->first[g] + l->count[g]; r++) {
            const double *which = k->nobservable ? l->column[k->which] : NULL;
            if (t[r] >= t[r - 1] || (which && (which[r] < which[r - 1] || which[r] > which[r - 1])))
                continue;
            return fit_fail(err, FIT_ERR_DATA,
                            "%s: %s goes back from %.10g to %.10g: rows of the model %s have doses, or columns in "
                            "rates, and so must be in the order of time within each curve",
                            m->file, k->column[k->times - 1].name, t[r - 1], t[r], k->name);
        }
    return FIT_OK;
}

/* A note; for a model with states an error: the states of the following rows would be unknown. */
static enum fit_status note_dropped(const struct fit_table *t, const struct fit_kernel *k, const int *from,
                                    struct fit_measurement *m, struct fit_error *err)
{
    char text[400] = "";
    tell_dropped(t, k, from, sizeof text, text);
    if (k->times && !lacks_columns(t, k, from)) {
        fit_notes_add(&m->notes, "%zu of %zu values are not there, or have no positive error: these rows move the "
                                 "states on and are not compared with anything",
                      m->dataset->ndropped, m->dataset->nrow);
        return FIT_OK;
    }
    if (k->nstate)
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: the model %s goes from row to row (%s), and rows have no value, or no positive error: %s. "
                        "Leave them out of the table where a row fewer means nothing, as in a differential equation; "
                        "else give every row its value",
                        m->file, k->name, k->state[0].name, text);
    fit_notes_add(&m->notes, "%zu of %zu rows are not finite, or have no positive error, and have weight zero (%s)",
                  m->dataset->ndropped, t->nrow, text);
    return FIT_OK;
}

static enum fit_status finish_dataset(const struct fit_table *t, const struct fit_kernel *k, const int *from,
                                      const struct fit_dataset_table *table, struct fit_measurement *m,
                                      struct fit_error *err)
{
    enum fit_status st;
    if ((st = fit_dataset_new_table(table, &m->dataset, err)) == FIT_OK &&
        (st = fit_dataset_finish(m->dataset, err)) == FIT_OK && (st = check_groups(k, m, err)) == FIT_OK &&
        (st = fit_table_check_law(m->file, k, m->dataset, err)) == FIT_OK &&
        (st = fit_measurement_sound(m, k, err)) == FIT_OK)
        st = describe_groups(m, err);
    if (st == FIT_OK && m->dataset->ndropped)
        st = note_dropped(t, k, from, m, err);
    return st == FIT_OK ? check_times(k, m, err) : st;
}

/* Finds the columns of the values and their errors; columns that the table lacks are filled with ones. */
static void find_roles(const struct fit_kernel *k, const double **column, const double *ones, const double **value,
                       const double **sigma)
{
    for (size_t c = 0; c < k->ncolumn; c++) {
        if (k->column[c].role == FIT_ROLE_VALUE)
            *value = column[c];
        if (k->column[c].role == FIT_ROLE_SIGMA)
            *sigma = column[c];
        column[c] = column[c] ? column[c] : ones;
    }
}

enum fit_status fit_table_dataset(const struct fit_table *t, const struct fit_kernel *k, const int *from,
                                  struct fit_measurement *m, struct fit_error *err)
{
    FIT_SCRATCH(a);
    const double **all = fit_take(&a, k->naxis + k->ncolumn, sizeof *all);
    const double *value = NULL, *sigma = NULL;
    size_t nrow = t->nrow;
    if (a.failed)
        return fit_no_memory(err, m->file);
    const double **column = all + k->naxis;
    for (size_t c = 0; c < k->naxis + k->ncolumn; c++)
        all[c] = from[c] < 0 ? NULL : t->column[from[c]];
    enum fit_status st = fit_statistics_fill(k, m->file, nrow, column, m->setting, err);
    if (st == FIT_OK && k->nobservable)
        st = fit_table_stack(m->file, k, all, &nrow, &a, &m->notes, err);
    double *ones = fit_take(&a, nrow, sizeof *ones);
    if (st != FIT_OK || a.failed)
        return st != FIT_OK ? st : fit_no_memory(err, m->file);
    for (size_t r = 0; r < nrow; r++)
        ones[r] = 1;
    find_roles(k, column, ones, &value, &sigma);
    if (!value)
        return fit_fail(err, FIT_ERR_CONFIG, "model %s has no column of measured values", k->name);
    m->sigma_from = sigma ? FIT_SIGMA_ARRAY : FIT_SIGMA_NONE;
    const struct fit_dataset_table table = {.nrow = nrow,
                                            .ncolumn = k->ncolumn,
                                            .naxis = k->naxis,
                                            .nsetting = k->nsetting,
                                            .column = column,
                                            .axis = all,
                                            .value = value,
                                            .sigma = sigma,
                                            .setting = m->setting,
                                            .center = k->intercept >= 0,
                                            .keep = k->times != 0};
    return finish_dataset(t, k, from, &table, m, err);
}

/* The reason why a file of two-time data contains no table. */
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
    if (!(m->setting = fit_take(&m->storage_, k->nsetting, sizeof *m->setting)))
        return fit_no_memory(err, m->file);
    for (size_t i = 0; i < k->nsetting; i++) {
        m->setting[i] = setting ? setting[i] : k->setting[i].value;
        if (isnan(m->setting[i]) && !k->setting[i].statistic)
            return fit_fail(err, FIT_ERR_CONFIG, "%s: the setting %s (%s) is not known; give it",
                            m->file, k->setting[i].name, k->setting[i].unit);
    }
    return FIT_OK;
}

enum fit_status fit_table_open(const char *file, const struct fit_config_table *cfg, const struct fit_kernel *kernel,
                               const double *setting, struct fit_measurement **whole, struct fit_table **table,
                               int **columns, struct fit_error *err)
{
    struct fit_table_options o = {0};
    struct fit_table *t = NULL;
    struct fit_measurement *m = *whole = calloc(1, sizeof *m);
    *table = NULL;
    if (!m)
        return fit_no_memory(err, file);
    int *from = *columns = fit_take(&m->storage_, kernel->naxis + kernel->ncolumn, sizeof *from);
    m->file = fit_arena_string(&m->storage_, file);
    if (m->storage_.failed)
        return fit_no_memory(err, file);
    m->layout = "table";
    if (cfg) {
        o.dataset = cfg->dataset.value;
        o.delimiter = cfg->delimiter.value ? cfg->delimiter.value[0] : 0;
        o.skip_rows = cfg->skip_rows.value > 0 ? (size_t)cfg->skip_rows.value : 0;
    }
    enum fit_status st = fit_table_read(file, &o, &t, err);
    *table = t;
    if (st == FIT_OK && (st = copy_settings(kernel, setting, m, err)) == FIT_OK)
        st = fit_table_match(file, t, cfg, kernel, from, &m->notes, err);
    if (t)
        fit_notes_copy(&m->notes, &t->notes);
    if (st == FIT_ERR_DATA)
        name_two_time(file, kernel, err);
    return st;
}

/* Curves of many bins are not one curve: the model must distinguish them. */
static enum fit_status check_curves(const char *file, const struct fit_table *t, const struct fit_kernel *k,
                                    const int *from, struct fit_error *err)
{
    int apart = t->ncurve < 2;
    for (size_t i = 0; i < k->naxis + k->ncolumn && !apart; i++)
        apart = from[i] >= 0 && (strcmp(t->name[from[i]], "bin") == 0 || strcmp(t->name[from[i]], "q") == 0 ||
                                 strcmp(t->name[from[i]], "phi") == 0);
    return apart ? FIT_OK
                 : fit_fail(err, FIT_ERR_DATA,
                            "%s: holds g2 of %zu bins: --each bin fits every one, --dataset N that of bin N; a model "
                            "with q as a column or an axis fits all together",
                            file, t->ncurve);
}

enum fit_status fit_table_load(const char *file, const struct fit_config_table *cfg,
                               const struct fit_kernel *kernel, const double *setting,
                               struct fit_measurement **out, struct fit_error *err)
{
    struct fit_measurement *m = NULL;
    struct fit_table *t = NULL;
    int *from;
    *out = NULL;
    enum fit_status st = fit_table_open(file, cfg, kernel, setting, &m, &t, &from, err);
    if (st == FIT_OK)
        st = check_curves(file, t, kernel, from, err);
    if (st == FIT_OK)
        st = fit_table_dataset(t, kernel, from, m, err);
    if (st == FIT_OK)
        st = fit_file_identity(file, m->sha256, &m->size, err);
    fit_table_free(t);
    if (st == FIT_OK)
        *out = m;
    else
        fit_measurement_free(m);
    return st;
}
