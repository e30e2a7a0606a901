/* table.c -- reading tables.  See table.h. */
#include "table.h"

#include "hdf5_io.h"
#include "npz.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { COLUMNS_MAX = 4096 };
#define TEXT_MAX ((size_t)1 << 32)

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
static struct fit_table *table_new(size_t nrow, size_t ncolumn)
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

static int set_name(struct fit_table *t, size_t c, const char *name, size_t n)
{
    char *p = copy_text(name, n);
    if (!p)
        return 0;
    free(t->name[c]);
    t->name[c] = p;
    return 1;
}

/* ---- text -------------------------------------------------------------------------------------------- */

struct text {
    const char *file;
    char *bytes, *end;
    char delimiter; /* ' ' means any run of spaces and tabs */
    size_t line;    /* number of the line that `at` begins, from 1 */
};

struct cell {
    const char *at;
    size_t n;
};

static enum fit_status read_text(const char *file, struct text *t, struct fit_error *err)
{
    FILE *f = fopen(file, "rb");
    size_t room = 1 << 16, n = 0, got;
    enum fit_status st = FIT_OK;
    char *b = f ? malloc(room + 1) : NULL;
    if (!f)
        return fit_fail(err, FIT_ERR_IO, "%s: no such file, or no permission to read it", file);
    while (b && (got = fread(b + n, 1, room - n, f)) > 0) {
        n += got;
        if (n == room) {
            char *grown = room < TEXT_MAX ? realloc(b, 2 * room + 1) : NULL;
            if (!grown) {
                free(b);
                b = NULL;
                break;
            }
            b = grown;
            room *= 2;
        }
    }
    if (!b)
        st = no_memory(file, err);
    else if (ferror(f))
        st = fit_fail(err, FIT_ERR_IO, "%s: cannot be read", file);
    fclose(f);
    if (st == FIT_OK && memchr(b, 0, n))
        st = fit_fail(err, FIT_ERR_DATA, "%s: is no text, and neither HDF5 nor npz nor npy", file);
    if (st != FIT_OK) {
        free(b);
        return st;
    }
    b[n] = 0;
    *t = (struct text){.file = file, .bytes = b, .end = b + n, .line = 1};
    return FIT_OK;
}

/* End of the line that begins at p: its newline, or the end of the text. */
static char *line_end(const struct text *t, char *p)
{
    char *e = memchr(p, '\n', (size_t)(t->end - p));
    return e ? e : t->end;
}

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static struct cell trim(const char *a, const char *b)
{
    while (a < b && is_space(*a))
        a++;
    while (a < b && is_space(b[-1]))
        b--;
    if (b - a >= 2 && *a == '"' && b[-1] == '"') {
        a++;
        b--;
    }
    return (struct cell){a, (size_t)(b - a)};
}

/* Cuts the line [p, e) into at most `most` cells and returns how many there are. */
static size_t split(char delimiter, const char *p, const char *e, struct cell *cell, size_t most)
{
    size_t n = 0;
    while (e > p && is_space(e[-1]) && (delimiter != '\t' || e[-1] == '\r'))
        e--;
    if (delimiter == ' ') {
        for (;;) {
            while (p < e && is_space(*p))
                p++;
            if (p == e)
                return n;
            const char *a = p;
            while (p < e && !is_space(*p))
                p++;
            if (n < most)
                cell[n] = trim(a, p);
            n++;
        }
    }
    for (;;) {
        const char *a = p;
        while (p < e && *p != delimiter)
            p++;
        if (n < most)
            cell[n] = trim(a, p);
        n++;
        if (p == e)
            return n;
        p++;
    }
}

/* The number in a cell; an empty one is NaN.  0: it is no number. */
static int number(struct cell c, double *v)
{
    char *end;
    *v = NAN;
    if (c.n == 0)
        return 1;
    if (isspace((unsigned char)*c.at))
        return 0;
    *v = strtod(c.at, &end);
    return end == c.at + c.n;
}

static int is_blank(const char *p, const char *e)
{
    while (p < e && is_space(*p))
        p++;
    return p == e;
}

static char detect_delimiter(const char *p, const char *e)
{
    for (const char *d = ",;\t"; *d; d++)
        if (memchr(p, *d, (size_t)(e - p)))
            return *d;
    return ' ';
}

static int all_numbers(const struct cell *cell, size_t n)
{
    double v;
    for (size_t c = 0; c < n; c++)
        if (!number(cell[c], &v))
            return 0;
    return 1;
}

/* Where the numbers begin, how many columns there are, and the cells that hold their names (nname 0: none). */
struct plan {
    char *first;
    size_t line, ncolumn, nname;
};

static enum fit_status make_plan(struct text *t, const struct fit_table_options *o, struct plan *plan,
                                 struct cell *cell, struct cell *name, struct fit_error *err)
{
    char *p = t->bytes, *comment = NULL, *comment_end = NULL;
    int named = 0;
    *plan = (struct plan){0};
    if (t->end - p >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
        p += 3;
    for (; p < t->end; t->line++) {
        char *e = line_end(t, p), *next = e < t->end ? e + 1 : e;
        char *q = p;
        while (q < e && is_space(*q))
            q++;
        if (t->line > o->skip_rows && *q == '#' && q < e) {
            comment = q + 1;
            comment_end = e;
        } else if (t->line > o->skip_rows && !is_blank(p, e)) {
            if (!t->delimiter)
                t->delimiter = o->delimiter ? o->delimiter : detect_delimiter(p, e);
            size_t n = split(t->delimiter, p, e, cell, COLUMNS_MAX);
            if (n > COLUMNS_MAX)
                return fit_fail(err, FIT_ERR_DATA, "%s:%zu: more than %d columns", t->file, t->line,
                                COLUMNS_MAX);
            if (named || all_numbers(cell, n)) {
                *plan = (struct plan){.first = p, .line = t->line, .ncolumn = n,
                                      .nname = named ? plan->nname : 0};
                if (!named && comment)
                    plan->nname = split(detect_delimiter(comment, comment_end), comment, comment_end, name,
                                        COLUMNS_MAX);
                if (plan->nname != n)
                    plan->nname = 0;
                return FIT_OK;
            }
            memcpy(name, cell, n * sizeof *cell);
            plan->nname = n;
            named = 1;
        }
        p = next;
    }
    return fit_fail(err, FIT_ERR_DATA, "%s: holds no row of numbers", t->file);
}

static size_t count_rows(const struct text *t, char *p)
{
    size_t n = 0;
    while (p < t->end) {
        char *e = line_end(t, p);
        n += !is_blank(p, e);
        p = e < t->end ? e + 1 : e;
    }
    return n;
}

static enum fit_status fill_rows(const struct text *t, const struct plan *plan, struct fit_table *table,
                                 struct cell *cell, struct fit_error *err)
{
    size_t row = 0, line = plan->line;
    for (char *p = plan->first; p < t->end; line++) {
        char *e = line_end(t, p), *q = p;
        while (q < e && is_space(*q))
            q++;
        if (q < e && *q != '#') {
            size_t n = split(t->delimiter, p, e, cell, COLUMNS_MAX);
            if (n != plan->ncolumn)
                return fit_fail(err, FIT_ERR_DATA, "%s:%zu: %zu columns; the rows before have %zu", t->file,
                                line, n, plan->ncolumn);
            for (size_t c = 0; c < n; c++)
                if (!number(cell[c], &table->column[c][row]))
                    return fit_fail(err, FIT_ERR_DATA, "%s:%zu: column %zu: '%.*s' is no number", t->file,
                                    line, c + 1, (int)(cell[c].n < 40 ? cell[c].n : 40), cell[c].at);
            row++;
        }
        p = e < t->end ? e + 1 : e;
    }
    table->nrow = row;
    return FIT_OK;
}

static enum fit_status read_csv(const char *file, const struct fit_table_options *o, struct fit_table **out,
                                struct fit_error *err)
{
    struct text t = {0};
    struct plan plan;
    struct cell *cell = malloc(2 * COLUMNS_MAX * sizeof *cell), *name = cell + COLUMNS_MAX;
    struct fit_table *table = NULL;
    if (!cell)
        return no_memory(file, err);
    enum fit_status st = read_text(file, &t, err);
    if (st != FIT_OK || (st = make_plan(&t, o, &plan, cell, name, err)) != FIT_OK)
        goto done;
    if (!(table = table_new(count_rows(&t, plan.first), plan.ncolumn))) {
        st = no_memory(file, err);
        goto done;
    }
    for (size_t c = 0; c < plan.nname; c++)
        if (!set_name(table, c, name[c].at, name[c].n))
            st = no_memory(file, err);
    if (st == FIT_OK)
        st = fill_rows(&t, &plan, table, cell, err);
done:
    free(t.bytes);
    free(cell);
    if (st == FIT_OK)
        *out = table;
    else
        fit_table_free(table);
    return st;
}

/* ---- arrays ------------------------------------------------------------------------------------------ */

/* Values of a matrix nrow x ncolumn, row by row (or column by column), into a new table. */
static struct fit_table *from_matrix(const double *v, size_t nrow, size_t ncolumn, int by_column)
{
    struct fit_table *t = ncolumn <= COLUMNS_MAX ? table_new(nrow, ncolumn) : NULL;
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
    t->name[t->ncolumn] = copy;
    t->column[t->ncolumn++] = value;
    return 1;
}

static enum fit_status unequal(const char *file, const struct fit_table *t, const char *name, size_t n,
                               struct fit_error *err)
{
    return fit_fail(err, FIT_ERR_DATA, "%s: %s has %zu values, %s has %zu; columns must be equally long", file,
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
    for (size_t i = 0; i < count && st == FIT_OK && t->ncolumn < COLUMNS_MAX; i++) {
        int rank;
        size_t dims[FIT_H5_RANK], n;
        double *v;
        snprintf(path, sizeof path, "%s/%s", strcmp(group, "/") == 0 ? "" : group, name[i]);
        if (fit_h5_kind(h, path) != FIT_H5_NUMBER || fit_h5_shape(h, path, &rank, dims, NULL) != FIT_OK ||
            rank != 1)
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
        st = fit_fail(err, FIT_ERR_DATA, "%s: %s holds no 1-D datasets of numbers", fit_h5_file(h), group);
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
        struct cell cell[64];
        size_t count = split(',', names, names + strlen(names), cell, 64);
        for (size_t c = 0; count == (*out)->ncolumn && c < count && c < 64; c++)
            set_name(*out, c, cell[c].at, cell[c].n);
    }
    free(names);
    return FIT_OK;
}

static enum fit_status read_hdf5(const char *file, const struct fit_table_options *o, struct fit_table **out,
                                 struct fit_error *err)
{
    const char *path = o->dataset ? o->dataset : "/";
    struct fit_h5 *h;
    enum fit_status st = fit_h5_open(file, &h, err);
    *out = NULL;
    if (st != FIT_OK)
        return st;
    if (fit_h5_kind(h, path) == FIT_H5_GROUP) {
        if (!(*out = table_new(0, 0)))
            st = no_memory(file, err);
        else
            st = read_h5_group(h, path, *out, err);
    } else {
        st = read_h5_matrix(h, path, out, err);
    }
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
    for (int i = 0; (size_t)i < fit_npz_count(z) && st == FIT_OK && t->ncolumn < COLUMNS_MAX; i++) {
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

static enum fit_status read_npz(const char *file, const struct fit_table_options *o, struct fit_table **out,
                                struct fit_error *err)
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
    else if (!(*out = table_new(0, 0)))
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
    enum fit_status st = fit_npz_is_npz(file) || fit_npz_is_npy(file) ? read_npz(file, o, table, err)
                         : fit_h5_is_hdf5(file)                       ? read_hdf5(file, o, table, err)
                                                                      : (*table = NULL, read_csv(file, o, table, err));
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

/* ---- datasets ---------------------------------------------------------------------------------------- */

/* Column of the file for column k of the model; -1: not there. */
static int match(const struct fit_table *t, const struct fit_config_table *cfg, const struct fit_column *k,
                 const char **wanted)
{
    *wanted = k->name;
    for (size_t i = 0; cfg && i < cfg->ncolumn; i++)
        if (strcmp(cfg->column[i].role, k->name) == 0) {
            *wanted = cfg->column[i].source;
            return fit_table_find(t, *wanted);
        }
    return fit_table_find(t, k->name);
}

/* Fills from[]: the table's column for each of the model's. */
static enum fit_status match_all(const char *file, const struct fit_table *t,
                                 const struct fit_config_table *cfg, const struct fit_kernel *kernel,
                                 int *from, struct fit_notes *notes, struct fit_error *err)
{
    size_t needed = 0, found = 0;
    const char *wanted, *missing = "";
    for (size_t k = 0; k < kernel->ncolumn; k++) {
        int must = kernel->column[k].role != FIT_ROLE_SIGMA;
        from[k] = match(t, cfg, &kernel->column[k], &wanted);
        needed += must ? 1 : 0;
        found += must && from[k] >= 0;
        if (must && from[k] < 0)
            missing = wanted;
    }
    if (found == needed)
        return FIT_OK;
    if (found == 0 && (!cfg || !cfg->ncolumn) && t->ncolumn >= needed) { /* no name known: by position */
        for (size_t k = 0; k < kernel->ncolumn; k++)
            from[k] = k < t->ncolumn ? (int)k : -1;
        fit_notes_add(notes, "%s: columns are taken by position: the model's %s is the first", file,
                      kernel->column[0].name);
        return FIT_OK;
    }
    return fit_fail(err, FIT_ERR_DATA, "%s: no column '%s' among %zu (%.60s, ...); name it under table.columns",
                    file, missing, t->ncolumn, *t->name[0] ? t->name[0] : "without names");
}

static enum fit_status make_dataset(const struct fit_table *t, const struct fit_kernel *k, const int *from,
                                    struct fit_measurement *m, struct fit_error *err)
{
    const double **column = calloc(k->ncolumn + 1, sizeof *column), *value = NULL, *sigma = NULL;
    double *ones = malloc(t->nrow * sizeof *ones);
    enum fit_status st = FIT_OK;
    if (!column || !ones) {
        st = no_memory(m->file, err);
        goto done;
    }
    for (size_t r = 0; r < t->nrow; r++)
        ones[r] = 1;
    for (size_t c = 0; c < k->ncolumn; c++) {
        column[c] = from[c] < 0 ? ones : t->column[from[c]];
        if (k->column[c].role == FIT_ROLE_VALUE)
            value = column[c];
        if (k->column[c].role == FIT_ROLE_SIGMA && from[c] >= 0)
            sigma = column[c];
    }
    if (!value) {
        st = fit_fail(err, FIT_ERR_CONFIG, "model %s has no column of measured values", k->name);
        goto done;
    }
    m->sigma_from = sigma ? FIT_SIGMA_ARRAY : FIT_SIGMA_NONE;
    if ((st = fit_dataset_new_rows(t->nrow, k->ncolumn, column, value, sigma, k->nsetting, m->setting,
                                   k->intercept >= 0, &m->dataset, err)) == FIT_OK)
        st = fit_dataset_finish(m->dataset, err);
    if (st == FIT_OK && m->dataset->ndropped)
        fit_notes_add(&m->notes, "%zu of %zu rows are not finite, or have no positive error, and have weight zero",
                      m->dataset->ndropped, t->nrow);
done:
    free(column);
    free(ones);
    return st;
}

static enum fit_status copy_settings(const struct fit_kernel *k, const double *setting,
                                     struct fit_measurement *m, struct fit_error *err)
{
    if (!(m->setting = calloc(k->nsetting + 1, sizeof *m->setting)))
        return no_memory(m->file, err);
    for (size_t i = 0; i < k->nsetting; i++) {
        m->setting[i] = setting ? setting[i] : k->setting[i].value;
        if (isnan(m->setting[i]))
            return fit_fail(err, FIT_ERR_CONFIG, "%s: the setting %s (%s) is not known; give it", m->file,
                            k->setting[i].name, k->setting[i].unit);
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
    int *from = calloc(kernel->ncolumn + 1, sizeof *from);
    enum fit_status st = FIT_OK;
    *out = NULL;
    if (!m || !from || !(m->file = copy_text(file, strlen(file)))) {
        st = no_memory(file, err);
        goto done;
    }
    m->layout = "table";
    m->ngroup = 1;
    if (!(m->group = calloc(1, sizeof *m->group))) {
        st = no_memory(file, err);
        goto done;
    }
    m->group[0] = (struct fit_group){.q = NAN, .phi = NAN, .sigma = NAN};
    if (cfg) {
        o.dataset = cfg->dataset.value;
        o.delimiter = cfg->delimiter.value ? cfg->delimiter.value[0] : 0;
        o.skip_rows = cfg->skip_rows.value > 0 ? (size_t)cfg->skip_rows.value : 0;
    }
    if ((st = fit_table_read(file, &o, &t, err)) != FIT_OK ||
        (st = copy_settings(kernel, setting, m, err)) != FIT_OK ||
        (st = match_all(file, t, cfg, kernel, from, &m->notes, err)) != FIT_OK ||
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
