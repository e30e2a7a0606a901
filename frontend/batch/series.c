/* series.c -- the table of many fits; see series.h. */
#define _POSIX_C_SOURCE 200809L
#include "frontend/batch/series.h"

#include "base/json.h"
#include "base/output.h"
#include "hdf5/h5_writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The parameters of all results, in the order of first occurrence. */
struct names {
    size_t n;
    const struct front_param **first; /* for name and unit */
};

static int add_names(struct names *all, const struct front_result *r)
{
    for (size_t k = 0; r && k < r->nparam; k++) {
        size_t at = 0;
        while (at < all->n && strcmp(all->first[at]->name, r->param[k].name) != 0)
            at++;
        if (at < all->n)
            continue;
        const struct front_param **list = realloc(all->first, (all->n + 1) * sizeof *list);
        if (!list)
            return 0;
        all->first = list;
        list[all->n++] = &r->param[k];
    }
    return 1;
}

static double member(const struct front_row *row, const char *what)
{
    const struct front_result *r = row->result;
    if (strcmp(what, "q") == 0)
        return !isnan(row->q) || !r ? row->q : r->q;
    if (strcmp(what, "exit") == 0)
        return row->code < 0 ? (double)NAN : (double)row->code;
    if (!r)
        return NAN;
    return strcmp(what, "converged") == 0      ? r->converged
           : strcmp(what, "reduced_chi2") == 0 ? r->reduced_chi2
           : strcmp(what, "sigma") == 0        ? r->sigma
           : strcmp(what, "speckles") == 0     ? r->speckles
           : strcmp(what, "shot") == 0         ? r->shot
           : strcmp(what, "npoint") == 0       ? r->npoint
                                               : r->wall_seconds;
}

static const char *const figures[][2] = {{"q", "1/angstrom"},   {"exit", "1"},  {"converged", "1"},
                                         {"reduced_chi2", "1"}, {"sigma", "1"}, {"speckles", "1"},
                                         {"shot", "1"},         {"npoint", "1"}, {"seconds", "s"}};
enum { FIGURES = sizeof figures / sizeof *figures };

static const char *status_text(const struct front_row *row)
{
    return row->result                  ? row->result->status
           : row->code < 0              ? "waiting"
           : row->code == FRONT_STOPPED ? "interrupted"
                                        : "failed";
}

static const char *quality_text(const struct front_row *row)
{
    return row->result ? row->result->quality : "";
}

/* ---- columns of a parameter ------------------------------------------------------------------- */

enum { WITHOUT_INTERVAL = 3, WITH_INTERVAL = 5 };
static const char *const ending[WITH_INTERVAL] = {"", "_std", "_std_robust", "_lower95", "_upper95"};

static double column_value(const struct front_row *row, const char *name, size_t column)
{
    const struct front_param *p = row->result ? front_result_param(row->result, name) : NULL;
    const double value[WITH_INTERVAL] = {p && !p->undetermined ? p->value : NAN, p ? p->std : NAN,
                                         p ? p->std_robust : NAN, p ? p->lower95 : NAN, p ? p->upper95 : NAN};
    return value[column];
}

/* If a row has an interval instead of the error, its ends get columns. */
static size_t columns_of(const struct front_row *row, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++) {
        const struct front_param *p = row[i].result ? front_result_param(row[i].result, name) : NULL;
        if (p && p->interval)
            return WITH_INTERVAL;
    }
    return WITHOUT_INTERVAL;
}

/* ---- CSV ------------------------------------------------------------------------------------- */

static void put_text(FILE *f, const char *text)
{
    if (!strpbrk(text, ",\"\n")) {
        fputs(text, f);
        return;
    }
    fputc('"', f);
    for (; *text; text++)
        fputs(*text == '"' ? "\"\"" : (char[]){*text, 0}, f);
    fputc('"', f);
}

static void put_number(FILE *f, double x)
{
    char number[40];
    if (!isfinite(x)) { /* an empty field */
        fputc(',', f);
        return;
    }
    fit_format_double(number, sizeof number, x);
    fprintf(f, ",%s", number);
}

static void put_table(FILE *f, const struct front_row *row, size_t n, const struct names *all)
{
    fprintf(f, "name,file,status,quality");
    for (size_t k = 0; k < FIGURES; k++)
        fprintf(f, ",%s", figures[k][0]);
    for (size_t k = 0; k < all->n; k++) {
        const char *name = all->first[k]->name;
        const size_t ncolumn = columns_of(row, n, name);
        for (size_t c = 0; c < ncolumn; c++)
            fprintf(f, ",%s%s", name, ending[c]);
    }
    fputc('\n', f);
    for (size_t i = 0; i < n; i++) {
        put_text(f, row[i].name);
        fputc(',', f);
        put_text(f, row[i].file);
        fprintf(f, ",%s,%s", status_text(&row[i]), quality_text(&row[i]));
        for (size_t k = 0; k < FIGURES; k++)
            put_number(f, member(&row[i], figures[k][0]));
        for (size_t k = 0; k < all->n; k++) {
            const char *name = all->first[k]->name;
            const size_t ncolumn = columns_of(row, n, name);
            for (size_t c = 0; c < ncolumn; c++)
                put_number(f, column_value(&row[i], name, c));
        }
        fputc('\n', f);
    }
}

/* ---- HDF5 ------------------------------------------------------------------------------------ */

static enum fit_status put_column(struct fit_h5 *h, const char *name, const char *suffix,
                                  const char *unit, const double *x, size_t n,
                                  struct fit_error *err)
{
    char path[128];
    snprintf(path, sizeof path, "/series/%s%s", name, suffix);
    enum fit_status st = fit_h5_write_doubles(h, path, x, n, err);
    return st == FIT_OK ? fit_h5_write_attr_string(h, path, "units", unit, err) : st;
}

static enum fit_status put_strings(struct fit_h5 *h, const struct front_row *row, size_t n,
                                   const char **text, struct fit_error *err)
{
    for (size_t i = 0; i < n; i++)
        text[i] = row[i].name;
    enum fit_status st = fit_h5_write_strings(h, "/series/name", text, n, err);
    for (size_t i = 0; i < n; i++)
        text[i] = row[i].file;
    if (st == FIT_OK)
        st = fit_h5_write_strings(h, "/series/file", text, n, err);
    for (size_t i = 0; i < n; i++)
        text[i] = status_text(&row[i]);
    if (st == FIT_OK)
        st = fit_h5_write_strings(h, "/series/status", text, n, err);
    for (size_t i = 0; i < n; i++)
        text[i] = quality_text(&row[i]);
    return st == FIT_OK ? fit_h5_write_strings(h, "/series/quality", text, n, err) : st;
}

static enum fit_status put_params(struct fit_h5 *h, const struct front_row *row, size_t n,
                                  const struct names *all, double *x, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    for (size_t k = 0; k < all->n; k++) {
        const struct front_param *first = all->first[k];
        const size_t ncolumn = columns_of(row, n, first->name);
        for (size_t c = 0; c < ncolumn && st == FIT_OK; c++) {
            for (size_t i = 0; i < n; i++)
                x[i] = column_value(&row[i], first->name, c);
            st = put_column(h, first->name, ending[c], first->unit[0] ? first->unit : "1", x, n, err);
        }
    }
    return st;
}

static enum fit_status write_h5(const char *path, const struct front_row *row, size_t n,
                                const struct names *all, struct fit_error *err)
{
    struct fit_h5 *h = NULL;
    double *x = malloc((n + 1) * sizeof *x);
    const char **text = malloc((n + 1) * sizeof *text);
    enum fit_status st = x && text ? fit_h5_create(path, &h, err) : fit_no_memory(err, NULL);
    if (st == FIT_OK)
        st = fit_h5_make_group(h, "/series", err);
    if (st == FIT_OK)
        st = put_strings(h, row, n, text, err);
    for (size_t k = 0; k < FIGURES && st == FIT_OK; k++) {
        for (size_t i = 0; i < n; i++)
            x[i] = member(&row[i], figures[k][0]);
        st = put_column(h, figures[k][0], "", figures[k][1], x, n, err);
    }
    if (st == FIT_OK)
        st = put_params(h, row, n, all, x, err);
    if (h) {
        const enum fit_status end = fit_h5_finish(h, st == FIT_OK ? err : NULL);
        st = st == FIT_OK ? end : st;
    }
    free(x);
    free(text);
    return st;
}

enum fit_status front_series_write(const char *folder, const struct front_row *row, size_t n,
                                   struct fit_error *err)
{
    struct names all = {0};
    struct fit_output out;
    const char *path = NULL;
    char *text = NULL;
    size_t size = 0;
    enum fit_status st = fit_output_begin(&out, folder, err);
    if (st != FIT_OK)
        return st;
    for (size_t i = 0; i < n && st == FIT_OK; i++)
        if (!add_names(&all, row[i].result))
            st = fit_no_memory(err, NULL);
    FILE *f = st == FIT_OK ? open_memstream(&text, &size) : NULL;
    if (f)
        put_table(f, row, n, &all);
    if (st == FIT_OK && (!f || fclose(f) != 0))
        st = fit_no_memory(err, NULL);
    if (st == FIT_OK)
        st = fit_output_add_text(&out, "series.csv", text, size, err);
    if (st == FIT_OK)
        st = fit_output_add(&out, "series.h5", &path, err);
    if (st == FIT_OK)
        st = write_h5(path, row, n, &all, err);
    free(text);
    free(all.first);
    if (st == FIT_OK)
        return fit_output_commit(&out, err);
    fit_output_abandon(&out);
    return st;
}
