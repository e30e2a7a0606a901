/* load.c -- see load.h. */
#include "arrays/load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "common/nearest.h"
#include "hdf5/reader.h"
#include "machine/team.h"

/* A file, and its contents. */
struct source {
    struct fit_arrays *p;
    const struct fit_functional *kernel;
    struct fit_h5 *h;
    const char *group; /* "" : the root */
    size_t *size, *nx, *ny;
    const char **told; /* of axes: what their size was taken from */
};

static const char *path_of(struct source *s, const char *name, const char *end)
{
    char text[512];
    snprintf(text, sizeof text, "%s/%s%s", s->group, name, end);
    return fit_arena_string(&s->p->arena, text);
}

static int is_there(const struct source *s, const char *path)
{
    return path && fit_h5_kind(s->h, path) == FIT_H5_NUMBER;
}

/* --- numbers -------------------------------------------------------------------------------------------- */

/* The factor from the unit of a dataset to the one that is declared. */
static enum fit_status factor_of(struct source *s, const char *path, const char *unit, struct fit_unit_factor *f,
                                 struct fit_error *err)
{
    char *own = NULL;
    *f = (struct fit_unit_factor){1, 1};
    enum fit_status st = fit_h5_read_unit(s->h, path, &own, err);
    if (st == FIT_OK && own && unit) {
        const enum fit_quantity kind = fit_unit_between(own, unit, f);
        if (kind != FIT_QUANTITY_CONVERTED)
            st = fit_fail(err, FIT_ERR_DATA, "%s: %s: the unit '%s' %s; '%s' is declared", fit_h5_file(s->h), path, own,
                          fit_quantity_why(kind), unit);
        else if (!fit_unit_same(*f))
            fit_notes_add(&s->p->notes, "%s is in %s and was converted to %s", path, own, unit);
    }
    free(own);
    return st;
}

/* All numbers of a dataset, in the declared unit; NULL where there is none. */
static enum fit_status read_numbers(struct source *s, const char *path, const char *unit, double **x, size_t *n,
                                    struct fit_error *err)
{
    double *value = NULL;
    struct fit_unit_factor f;
    *x = NULL;
    if (!is_there(s, path))
        return FIT_OK;
    enum fit_status st = fit_h5_read_doubles(s->h, path, &value, n, err);
    st = st == FIT_OK ? factor_of(s, path, unit, &f, err) : st;
    for (size_t k = 0; st == FIT_OK && k < *n; k++) {
        if (!isfinite(value[k]))
            st = fit_fail(err, FIT_ERR_DATA, "%s: %s: element %zu is %g", fit_h5_file(s->h), path, k + 1, value[k]);
        value[k] = fit_unit_apply(f, value[k]);
    }
    if (st == FIT_OK && !(*x = fit_take_copy(&s->p->arena, value, *n, sizeof *value)))
        st = fit_no_memory(err, path);
    free(value);
    return st;
}

/* --- axes ----------------------------------------------------------------------------------------------- */

/* The first input that determines the size of an axis sets it; later ones are compared when they are bound. */
static void tell(struct source *s, uint32_t axis, size_t n, size_t nx, const char *what)
{
    if (s->told[axis])
        return;
    s->size[axis] = n;
    s->nx[axis] = nx;
    s->ny[axis] = nx ? n / nx : 0;
    s->told[axis] = what;
}

static enum fit_status shape_of(struct source *s, const char *path, size_t dims[FIT_H5_RANK], int *rank,
                                struct fit_error *err)
{
    *rank = -1;
    return is_there(s, path) ? fit_h5_shape(s->h, path, rank, dims, err) : FIT_OK;
}

/* Arrays over axes; a grid has two dimensions. */
static enum fit_status sizes_of_arrays(struct source *s, struct fit_error *err)
{
    for (uint32_t k = 0; k < s->kernel->narray; k++) {
        const struct fit_array_desc *a = &s->kernel->array[k];
        size_t dims[FIT_H5_RANK], n = 1;
        int rank;
        if (a->kind != FIT_ARRAY_DATA && a->kind != FIT_ARRAY_FREE)
            continue;
        const enum fit_status st = shape_of(s, path_of(s, a->name, ""), dims, &rank, err);
        if (st != FIT_OK)
            return st;
        for (int i = 0; i < rank; i++)
            n *= dims[i];
        if (rank > 0 && (rank == 2 || !s->kernel->axis[a->axis].row))
            tell(s, a->axis, n, dims[rank - 1], a->name);
    }
    return FIT_OK;
}

static enum fit_status sizes_of_operators(struct source *s, struct fit_error *err)
{
    size_t dims[FIT_H5_RANK], other[FIT_H5_RANK];
    int rank, second;
    enum fit_status st = FIT_OK;
    for (uint32_t k = 0; st == FIT_OK && k < s->kernel->noperator; k++) {
        const struct fit_operator_desc *q = &s->kernel->operation[k];
        st = shape_of(s, path_of(s, q->data, q->kind == FIT_OUTER ? "_row_re" : ""), dims, &rank, err);
        if (st != FIT_OK || rank < 1)
            continue;
        if (q->kind == FIT_DENSE && rank == 2) {
            tell(s, q->to, dims[0], dims[0], q->data);
            tell(s, q->from, dims[1], dims[1], q->data);
        }
        if (q->kind == FIT_GATHER)
            tell(s, q->to, dims[0], dims[0], q->data);
        if (q->kind != FIT_OUTER || rank != 2)
            continue;
        tell(s, q->to, dims[0], dims[0], q->data);
        st = shape_of(s, path_of(s, q->data, "_column_re"), other, &second, err);
        if (st == FIT_OK && second == 2)
            tell(s, q->from, dims[1] * other[1], other[1], q->data);
    }
    return st;
}

static enum fit_status sizes_of_options(struct source *s, struct fit_error *err)
{
    const struct fit_arrays_options *o = s->p->options;
    for (size_t i = 0; i < o->nsize; i++) {
        struct nearest near = {.name = o->size[i].name};
        int found = 0;
        for (uint32_t k = 0; k < s->kernel->naxis; k++) {
            nearest_offer(&near, s->kernel->axis[k].name);
            if (strcmp(s->kernel->axis[k].name, near.name) != 0)
                continue;
            found = 1;
            tell(s, k, (size_t)o->size[i].value, (size_t)o->size[i].value, "--size");
        }
        if (!found || o->size[i].value != floor(o->size[i].value))
            return fit_fail(err, FIT_ERR_USAGE, "--size: %s=%g: %s%s%s", near.name, o->size[i].value,
                            found ? "no whole number" : "there is no such axis",
                            near.best && !found ? "; did you mean " : "", near.best && !found ? near.best : "");
    }
    return FIT_OK;
}

static enum fit_status set_axes(struct source *s, struct fit_error *err)
{
    enum fit_status st = sizes_of_options(s, err);
    st = st == FIT_OK ? sizes_of_arrays(s, err) : st;
    st = st == FIT_OK ? sizes_of_operators(s, err) : st;
    for (uint32_t k = 0; st == FIT_OK && k < s->kernel->naxis; k++)
        if (s->told[k])
            fit_inputs_put(&s->p->in, (struct fit_input){.name = s->kernel->axis[k].name,
                                                         .kind = FIT_INPUT_AXIS,
                                                         .n = s->size[k],
                                                         .nx = s->nx[k],
                                                         .ny = s->ny[k]});
    for (uint32_t k = 0; st == FIT_OK && k < s->kernel->narray; k++) {
        const struct fit_array_desc *a = &s->kernel->array[k];
        if (a->kind == FIT_ARRAY_FREE && !s->told[a->axis])
            st = fit_fail(err, FIT_ERR_DATA,
                          "%s: nothing gives the size of the axis '%s' of '%s': a dataset '%s' where it begins, or "
                          "--size %s=N",
                          fit_h5_file(s->h), s->kernel->axis[a->axis].name, a->name, a->name,
                          s->kernel->axis[a->axis].name);
    }
    return st;
}

/* --- arrays, operators, numbers ------------------------------------------------------------------------- */

static enum fit_status put_arrays(struct source *s, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    for (uint32_t k = 0; st == FIT_OK && k < s->kernel->narray; k++) {
        const struct fit_array_desc *a = &s->kernel->array[k];
        double *x = NULL;
        size_t n = 0;
        if (a->kind != FIT_ARRAY_DATA && a->kind != FIT_ARRAY_FREE)
            continue;
        st = read_numbers(s, path_of(s, a->name, ""), a->unit, &x, &n, err);
        if (st != FIT_OK || !x)
            continue;
        if (a->kind == FIT_ARRAY_DATA)
            fit_inputs_put(&s->p->in, (struct fit_input){.name = a->name, .kind = FIT_INPUT_ARRAY, .n = n, .array = x});
        else if (n != s->size[a->axis])
            st = fit_fail(err, FIT_ERR_DATA, "'%s' has %zu elements, its axis '%s' %zu", a->name, n,
                          s->kernel->axis[a->axis].name, s->size[a->axis]);
        else
            s->p->start[k] = x;
    }
    return st;
}

/* Free arrays of a result. */
static enum fit_status put_from(struct source *s, const char *file, struct fit_error *err)
{
    struct source other = *s;
    if (!file)
        return FIT_OK;
    other.group = "";
    enum fit_status st = fit_h5_open(file, &other.h, err);
    for (uint32_t k = 0; st == FIT_OK && k < s->kernel->narray; k++) {
        const struct fit_array_desc *a = &s->kernel->array[k];
        double *x = NULL;
        size_t n = 0;
        if (a->kind != FIT_ARRAY_FREE)
            continue;
        st = read_numbers(&other, path_of(&other, a->name, ""), a->unit, &x, &n, err);
        if (st == FIT_OK && x && n != s->size[a->axis])
            st = fit_fail(err, FIT_ERR_DATA, "%s: '%s' has %zu elements, its axis '%s' %zu", file, a->name, n,
                          s->kernel->axis[a->axis].name, s->size[a->axis]);
        s->p->start[k] = x ? x : s->p->start[k];
    }
    fit_h5_close(other.h);
    return st;
}

static enum fit_status put_places(struct source *s, const struct fit_operator_desc *q, struct fit_error *err)
{
    double *x = NULL;
    size_t n = 0;
    const enum fit_status st = read_numbers(s, path_of(s, q->data, ""), NULL, &x, &n, err);
    int32_t *place = x ? fit_take(&s->p->arena, n, sizeof *place) : NULL;
    if (st != FIT_OK || !x || !place)
        return st;
    for (size_t k = 0; k < n; k++) {
        if (x[k] != floor(x[k]) || fabs(x[k]) > INT32_MAX)
            return fit_fail(err, FIT_ERR_DATA, "%s: '%s', element %zu: %g is not a place", fit_h5_file(s->h), q->data,
                            k + 1, x[k]);
        place[k] = (int32_t)x[k];
    }
    fit_inputs_put(&s->p->in, (struct fit_input){.name = q->data, .kind = FIT_INPUT_PLACES, .n = n, .place = place});
    return FIT_OK;
}

static enum fit_status put_blocks(struct source *s, const struct fit_operator_desc *q, struct fit_error *err)
{
    double *x = NULL, *rows = NULL, numbers = 0;
    size_t n = 0, nblock = 0;
    enum fit_status st = read_numbers(s, path_of(s, q->data, ""), NULL, &x, &n, err);
    st = st == FIT_OK ? read_numbers(s, path_of(s, q->data, "_sizes"), NULL, &rows, &nblock, err) : st;
    size_t *block = x && rows ? fit_take(&s->p->arena, nblock, sizeof *block) : NULL;
    if (st != FIT_OK || !block)
        return st;
    for (size_t k = 0; k < nblock; k++) {
        block[k] = rows[k] >= 0 && rows[k] < 1e9 ? (size_t)rows[k] : 0;
        numbers += rows[k] * rows[k];
    }
    if (numbers != (double)n)
        return fit_fail(err, FIT_ERR_DATA, "%s: '%s' has %zu numbers; matrices of the rows in '%s_sizes' have %g",
                        fit_h5_file(s->h), q->data, n, q->data, numbers);
    fit_inputs_put(
        &s->p->in,
        (struct fit_input){.name = q->data, .kind = FIT_INPUT_BLOCKS, .nblock = nblock, .block = block, .array = x});
    return FIT_OK;
}

static enum fit_status put_outer(struct source *s, const struct fit_operator_desc *q, struct fit_error *err)
{
    static const char *const end[] = {"_row_re", "_row_im", "_column_re", "_column_im"};
    double *x[4];
    size_t dims[4][FIT_H5_RANK], n;
    enum fit_status st = FIT_OK;
    for (int i = 0; st == FIT_OK && i < 4; i++) {
        int rank;
        const char *path = path_of(s, q->data, end[i]);
        st = read_numbers(s, path, NULL, &x[i], &n, err);
        if (st != FIT_OK || !x[i])
            return st;
        st = shape_of(s, path, dims[i], &rank, err);
        if (st == FIT_OK && (rank != 2 || dims[i][0] != dims[0][0] || dims[i][1] != dims[i & 2][1]))
            st = fit_fail(err, FIT_ERR_DATA, "%s: the factors '%s' differ in shape from each other", fit_h5_file(s->h),
                          q->data);
    }
    if (st == FIT_OK)
        fit_inputs_put(&s->p->in, (struct fit_input){.name = q->data,
                                                     .kind = FIT_INPUT_OUTER,
                                                     .n = dims[0][0],
                                                     .ny = dims[0][1],
                                                     .nx = dims[2][1],
                                                     .row_re = x[0],
                                                     .row_im = x[1],
                                                     .column_re = x[2],
                                                     .column_im = x[3]});
    return st;
}

static enum fit_status put_matrix(struct source *s, const struct fit_operator_desc *q, struct fit_error *err)
{
    double *x = NULL;
    size_t n = 0, dims[FIT_H5_RANK];
    int rank;
    const char *path = path_of(s, q->data, "");
    enum fit_status st = read_numbers(s, path, NULL, &x, &n, err);
    st = st == FIT_OK ? shape_of(s, path, dims, &rank, err) : st;
    if (st != FIT_OK || !x)
        return st;
    if (rank != 2)
        return fit_fail(err, FIT_ERR_DATA, "%s: '%s' is not a matrix, which has two dimensions", fit_h5_file(s->h),
                        q->data);
    fit_inputs_put(&s->p->in, (struct fit_input){
                                  .name = q->data, .kind = FIT_INPUT_MATRIX, .n = dims[0], .nx = dims[1], .array = x});
    return FIT_OK;
}

static enum fit_status put_operators(struct source *s, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    for (uint32_t k = 0; st == FIT_OK && k < s->kernel->noperator; k++) {
        const struct fit_operator_desc *q = &s->kernel->operation[k];
        switch (q->kind) {
        case FIT_OUTER: st = put_outer(s, q, err); break;
        case FIT_GATHER: st = put_places(s, q, err); break;
        case FIT_BLOCKS: st = put_blocks(s, q, err); break;
        case FIT_DENSE: st = put_matrix(s, q, err); break;
        case FIT_DIFFERENCE: break;
        }
    }
    return st;
}

/* A scalar dataset, or an attribute of the group. */
static enum fit_status put_numbers(struct source *s, struct fit_error *err)
{
    const char *group = *s->group ? s->group : "/";
    for (uint32_t k = 0; k < s->kernel->nnumber; k++) {
        const struct fit_number_desc *d = &s->kernel->number[k];
        double *x = NULL;
        size_t n = 0;
        if (d->kind != FIT_NUMBER_HYPER)
            continue;
        enum fit_status st = read_numbers(s, path_of(s, d->name, ""), d->unit, &x, &n, err);
        if (st == FIT_OK && !x && fit_h5_has_attr(s->h, group, d->name)) {
            double *own = NULL;
            st = fit_h5_read_attr_doubles(s->h, group, d->name, &own, &n, err);
            x = st == FIT_OK ? fit_take_copy(&s->p->arena, own, n, sizeof *x) : NULL;
            free(own);
        }
        if (st != FIT_OK)
            return st;
        if (x && n == 1)
            fit_inputs_put(&s->p->in, (struct fit_input){.name = d->name, .kind = FIT_INPUT_NUMBER, .value = x[0]});
    }
    return FIT_OK;
}

/* --- options -------------------------------------------------------------------------------------------- */

/* A number with or without a unit, in the declared one. */
static enum fit_status quantity(const struct fit_named_text *q, const char *unit, double *value, struct fit_error *err)
{
    const enum fit_quantity kind = fit_quantity_parse(q->text, unit, value);
    if (kind == FIT_QUANTITY_BARE || kind == FIT_QUANTITY_CONVERTED)
        return FIT_OK;
    return fit_fail(err, FIT_ERR_USAGE, "--start %s: '%s' %s%s%s", q->name, q->text,
                    kind == FIT_QUANTITY_NO_NUMBER ? "is no number" : fit_quantity_why(kind),
                    unit ? "; declared is " : "", unit ? unit : "");
}

static enum fit_status set_start(struct source *s, const struct fit_named_text *q, struct fit_error *err)
{
    struct nearest near = {.name = q->name};
    for (uint32_t k = 0; k < s->kernel->narray; k++) {
        const struct fit_array_desc *a = &s->kernel->array[k];
        if (a->kind != FIT_ARRAY_FREE)
            continue;
        nearest_offer(&near, a->name);
        if (strcmp(a->name, q->name) != 0)
            continue;
        double value, *x = fit_take(&s->p->arena, s->size[a->axis], sizeof *x);
        const enum fit_status st = x ? quantity(q, a->unit, &value, err) : fit_no_memory(err, "start");
        for (size_t i = 0; st == FIT_OK && i < s->size[a->axis]; i++)
            x[i] = value;
        s->p->start[k] = x;
        return st;
    }
    return fit_fail(err, FIT_ERR_USAGE, "--start: %s has no free array '%s'%s%s%s", s->kernel->name, q->name,
                    near.best ? "; did you mean '" : "", near.best ? near.best : "", near.best ? "'?" : "");
}

static enum fit_status apply_options(struct source *s, struct fit_error *err)
{
    struct fit_arrays *p = s->p;
    const struct fit_arrays_options *o = p->options;
    enum fit_status st = FIT_OK;
    for (size_t k = 0; st == FIT_OK && k < o->nweight; k++)
        st = fit_bound_weight(p->bound, o->weight[k].name, o->weight[k].value, err);
    for (size_t k = 0; st == FIT_OK && k < o->nset; k++)
        st = fit_bound_quantity(p->bound, o->set[k].name, o->set[k].text, err);
    for (size_t k = 0; st == FIT_OK && k < o->nstart; k++)
        st = set_start(s, &o->start[k], err);
    if (st == FIT_OK && !p->bound->on)
        return fit_fail(err, FIT_ERR_CONFIG, "no term of %s has a weight: --weight %s=1", s->kernel->name,
                        s->kernel->term[0].name);
    return st == FIT_OK ? fit_bound_ready(p->bound, err) : st;
}

/* --- the whole ------------------------------------------------------------------------------------------ */

static enum fit_status fill(struct source *s, struct fit_error *err)
{
    struct fit_arrays *p = s->p;
    struct fit_arena *a = &p->arena;
    s->size = fit_take(a, s->kernel->naxis, sizeof *s->size);
    s->nx = fit_take(a, s->kernel->naxis, sizeof *s->nx);
    s->ny = fit_take(a, s->kernel->naxis, sizeof *s->ny);
    s->told = fit_take(a, s->kernel->naxis, sizeof *s->told);
    p->start = fit_take(a, s->kernel->narray, sizeof *p->start);
    if (a->failed)
        return fit_no_memory(err, s->kernel->name);
    enum fit_status st = set_axes(s, err);
    st = st == FIT_OK ? put_arrays(s, err) : st;
    st = st == FIT_OK ? put_from(s, p->options->from, err) : st;
    st = st == FIT_OK ? put_operators(s, err) : st;
    st = st == FIT_OK ? put_numbers(s, err) : st;
    if (st == FIT_OK && (a->failed || p->in.arena.failed))
        st = fit_no_memory(err, s->kernel->name);
    st = st == FIT_OK ? fit_bound_new(s->kernel, &p->in, &p->bound, err) : st;
    if (st == FIT_OK && p->options->threads)
        p->bound->threads = (int)p->options->threads;
    return st == FIT_OK ? apply_options(s, err) : st;
}

enum fit_status fit_arrays_load(const struct fit_functional *kernel, const struct fit_arrays_options *o,
                                struct fit_arrays *p, struct fit_error *err)
{
    *p = (struct fit_arrays){.options = o};
    struct source s = {.p = p, .kernel = kernel};
    const char *colon = strrchr(o->data, ':');
    const int has_group = colon && colon[1] == '/';
    const char *file = fit_arena_copy(&p->arena, o->data, has_group ? (size_t)(colon - o->data) : strlen(o->data));
    s.group = has_group && colon[2] ? colon + 1 : "";
    if (!file)
        return fit_no_memory(err, o->data);
    enum fit_status st = fit_h5_open(file, &s.h, err);
    st = st == FIT_OK ? fill(&s, err) : st;
    fit_h5_close(s.h);
    return st;
}

void fit_arrays_free(struct fit_arrays *p)
{
    fit_bound_free(p->bound);
    fit_inputs_free(&p->in);
    fit_notes_free(&p->notes);
    fit_arena_free(&p->arena);
}
