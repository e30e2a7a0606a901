/* load.c -- data files as arrays: two-time data of every layout that programs know, and tables. */
#include "api/api.h"

#include "base/arena.h"
#include "input/select.h"
#include "input/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct loaded {
    struct fit_api_file c; /* the first: what callers see */
    struct fit_notes notes;
    struct fit_arena storage;
};

enum { SOME = 16 };

/* NAME, SOURCE, NAME, SOURCE, ..., NULL as a list of columns; more than SOME: an error. */
static enum fit_status take_pairs(const char *const *text, const char *what, struct fit_config_column *to, size_t *n,
                                  struct fit_error *err)
{
    *n = 0;
    for (; text && text[0] && text[1]; text += 2) {
        if (*n == SOME)
            return fit_fail(err, FIT_ERR_USAGE, "%s: at most %d", what, SOME);
        to[(*n)++] = (struct fit_config_column){.role = text[0], .source = text[1]};
    }
    return FIT_OK;
}

/* ---- two-time data --------------------------------------------------------------------------- */

/* The window of matrix k of the source, after the previous ones. */
static enum fit_status read_matrix(struct fit_source *src, size_t k, size_t first, size_t n, double *whole, double *to,
                                   int sigma, struct fit_error *err)
{
    const size_t all = src->nframe;
    enum fit_status st = sigma ? fit_source_read_sigma(src, k, whole, err) : fit_source_read(src, k, whole, err);
    for (size_t i = 0; i < n && st == FIT_OK; i++)
        for (size_t j = 0; j < n; j++) {
            const size_t a = first + (i < j ? i : j), b = first + (i < j ? j : i);
            to[i * n + j] = whole[a * all + b]; /* of errors the upper triangle is there */
        }
    return st;
}

static enum fit_status read_matrices(struct loaded *l, struct fit_source *src, const size_t *index, size_t first,
                                     struct fit_error *err)
{
    struct fit_api_file *c = &l->c;
    const size_t one = c->nframe * c->nframe;
    FIT_OWNED double *whole = malloc(src->nframe * src->nframe * sizeof *whole);
    double *value = fit_take_unset(&l->storage, c->nmatrix * one, sizeof *value), *q, *phi, *time;
    double *sigma = src->has_sigma ? fit_take_unset(&l->storage, c->nmatrix * one, sizeof *sigma) : NULL;
    FIT_TAKE_DOUBLES(&l->storage, c->nmatrix, &q, &phi);
    time = fit_take(&l->storage, c->nframe, sizeof *time);
    if (l->storage.failed || !whole)
        return fit_no_memory(err, src->file);
    enum fit_status st = FIT_OK;
    for (size_t g = 0; g < c->nmatrix && st == FIT_OK; g++) {
        q[g] = src->matrix[index[g]].q;
        phi[g] = src->matrix[index[g]].phi;
        st = read_matrix(src, index[g], first, c->nframe, whole, value + g * one, 0, err);
        if (st == FIT_OK && sigma)
            st = read_matrix(src, index[g], first, c->nframe, whole, sigma + g * one, 1, err);
    }
    for (size_t i = 0; i < c->nframe; i++)
        time[i] = src->time ? src->time[first + i] - src->time[first] : c->dt * (double)i;
    c->value = value;
    c->sigma = sigma;
    c->q = q;
    c->phi = phi;
    c->time = isnan(c->dt) ? NULL : time;
    return st;
}

static void take_wishes(const struct fit_api_file_options *o, struct fit_selection *sel)
{
    sel->q = o->q;
    sel->all_q = isnan(o->q);
    sel->nlist = o->nphi;
    sel->list = o->phi;
    if (o->first > 0)
        sel->first = o->first;
    if (o->last > 0)
        sel->last = o->last;
    sel->dt = o->dt;
}

static enum fit_status load_pairs(struct loaded *l, struct fit_selection *sel, struct fit_source *src,
                                  struct fit_error *err)
{
    FIT_OWNED size_t *index = NULL;
    struct fit_api_file *c = &l->c;
    struct fit_error why = {.status = FIT_OK};
    size_t first;
    enum fit_status st;
    int told = 0;
    for (size_t k = 0; k < src->nmatrix; k++)
        told |= !isnan(src->matrix[k].q);
    sel->all_q &= told;
    fit_notes_copy(&l->notes, &src->notes);
    if ((st = fit_select_matrices(src, sel, &index, &c->nmatrix, &l->notes, err)) != FIT_OK ||
        (st = fit_select_window(src, sel, &first, &c->nframe, &l->notes, err)) != FIT_OK)
        return st;
    c->dt = NAN; /* of a file that does not contain it */
    if (fit_select_dt(src, sel, &c->dt, &l->notes, &why) != FIT_OK && (!isnan(sel->dt) || !isnan(src->dt)))
        return fit_fail(err, why.status, "%s", why.message);
    c->layout = src->layout;
    c->first = (long)first + src->first_frame;
    if ((st = read_matrices(l, src, index, first, err)) == FIT_OK)
        fit_source_tell(src, &l->notes);
    return st;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static enum fit_status load_table(struct loaded *l, const char *file, const struct fit_api_file_options *o,
                                  struct fit_error *err)
{
    struct fit_table *t;
    struct fit_api_file *c = &l->c;
    enum fit_status st = fit_table_read(file, &(struct fit_table_options){.dataset = o->dataset}, &t, err);
    if (st != FIT_OK)
        return st;
    const char **name = fit_take(&l->storage, t->ncolumn, sizeof *name),
               **unit = fit_take(&l->storage, t->ncolumn, sizeof *unit);
    const double **column = fit_take(&l->storage, t->ncolumn, sizeof *column);
    for (size_t k = 0; k < t->ncolumn && !l->storage.failed; k++) {
        name[k] = fit_arena_string(&l->storage, t->name[k]);
        unit[k] = t->unit && t->unit[k] ? fit_arena_string(&l->storage, t->unit[k]) : NULL;
        column[k] = fit_take_copy(&l->storage, t->column[k], t->nrow, sizeof **column);
    }
    c->layout = "table";
    c->nrow = t->nrow;
    c->ncolumn = t->ncolumn;
    c->column_name = name;
    c->column_unit = unit;
    c->column = column;
    fit_notes_copy(&l->notes, &t->notes);
    fit_table_free(t);
    return l->storage.failed ? fit_no_memory(err, file) : FIT_OK;
}

/* ---- the interface --------------------------------------------------------------------------- */

static enum fit_status load(struct loaded *l, const char *file, const struct fit_api_file_options *o,
                            struct fit_error *err)
{
    struct fit_config_column axis[SOME], unit[SOME];
    struct fit_selection sel;
    struct fit_source *src = NULL;
    struct fit_error table = {.status = FIT_OK};
    enum fit_status st;
    fit_selection_init(&sel, file);
    take_wishes(o, &sel);
    sel.wish = (struct fit_source_wish){.layout = o->layout, .dataset = o->dataset, .axis = axis, .unit = unit};
    if ((st = take_pairs(o->columns, "columns", axis, &sel.wish.naxis, err)) != FIT_OK ||
        (st = take_pairs(o->units, "units", unit, &sel.wish.nunit, err)) != FIT_OK)
        return st;
    if (o->kind != FIT_API_TABLE) {
        st = fit_source_open(file, &sel.wish, &src, err);
        if (st == FIT_OK)
            st = load_pairs(l, &sel, src, err);
        const int other = !src && st == FIT_ERR_DATA && o->kind == FIT_API_ANY;
        fit_source_close(src);
        if (!other)
            return st;
    }
    st = load_table(l, file, o, &table); /* when it is not a table either, the message about two-time data is more
                                          * helpful */
    return st == FIT_OK || (o->kind == FIT_API_ANY && !strstr(err->message, "is text;"))
               ? st
               : fit_fail(err, st, "%s", table.message);
}

API const struct fit_api_file *fit_api_load(const char *file, const struct fit_api_file_options *given)
{
    struct fit_error err = {.status = FIT_OK};
    struct fit_api_file_options o;
    struct loaded *l = calloc(1, sizeof *l);
    enum fit_status st = given ? api_take(&o, sizeof o, given, "fit_api_file_options", &err) : FIT_OK;
    if (!given)
        o = (struct fit_api_file_options){.q = NAN, .dt = NAN};
    if (st == FIT_OK && !l)
        st = fit_no_memory(&err, file);
    if (st == FIT_OK) {
        l->c.size = sizeof l->c;
        st = load(l, file, &o, &err);
    }
    if (st != FIT_OK) {
        err.status = st;
        api_failed(&err);
        if (l)
            fit_api_file_free(&l->c);
        return NULL;
    }
    l->c.nnote = l->notes.n;
    l->c.note = (const char *const *)l->notes.text;
    return &l->c;
}

API void fit_api_file_free(const struct fit_api_file *c)
{
    struct loaded *l = (struct loaded *)(uintptr_t)c;
    if (!l)
        return;
    fit_notes_free(&l->notes);
    fit_arena_free(&l->storage);
    free(l);
}
