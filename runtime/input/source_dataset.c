/* source_dataset.c -- matrices and axes that the caller names, in any HDF5 or npz file; and the list of datasets that
 * can be named.
 *
 * Axes without names are searched for beside the matrices, under the names of the layout `flat`. A path begins at the
 * root, or beside the matrices. For n1 x n2 matrices an axis of n1 values belongs to the first dimension, one of n2 to
 * the second; where n1 = n2, q is the first.
 */
#include "base/arena.h"
#include "input/source_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 512, DEEP = 8, LISTED = 60 };

static const char *const roles[] = {"q", "phi", "t"};

/* The group that holds the matrices, without a final '/'; "" for the root. */
static void folder_of(const struct fit_source *s, char *to, size_t size)
{
    const struct fit_source_private *p = s->private_;
    snprintf(to, size, "%s", *p->group ? p->group : p->cube.path);
    const size_t n = strlen(to);
    if (*p->group && n && to[n - 1] == '/')
        to[n - 1] = 0; /* axes stand beside the group */
    char *slash = strrchr(to, '/');
    if (slash)
        *slash = 0;
    else
        *to = 0;
}

/* A path as the caller wrote it: beside the matrices if it exists there, else from the root. */
static void resolve(const struct fit_source *s, const char *name, char path[PATH])
{
    char folder[PATH];
    folder_of(s, folder, sizeof folder);
    snprintf(path, PATH, "%.300s/%.200s", *name == '/' ? "" : folder, name + (*name == '/'));
    if (*name != '/' && !fit_h5_exists(s->private_->h5, path))
        snprintf(path, PATH, "/%.500s", name);
}

/* n values of one axis of n1 x n2 matrices, repeated for each matrix; NULL with n unchanged: they need no change. */
static double *spread(const struct fit_source *s, enum fit_source_axis axis, const double *v, size_t *n)
{
    const struct fit_cube *c = &s->private_->cube;
    const size_t outer = c->rank == 4 ? c->n / c->inner : 0;
    if (!outer || *n == c->n || (*n != outer && *n != c->inner))
        return NULL;
    const int first = *n == outer && (*n != c->inner || axis == FIT_SOURCE_Q);
    double *all = malloc(c->n * sizeof *all);
    for (size_t k = 0; all && k < c->n; k++)
        all[k] = v[first ? k / c->inner : k % c->inner];
    *n = c->n;
    return all;
}

static enum fit_status use_values(struct fit_source *s, const char *path, enum fit_source_axis axis,
                                  struct fit_error *err)
{
    FIT_OWNED double *v = NULL, *all = NULL;
    size_t n;
    if (axis == FIT_SOURCE_TIME)
        return fit_source_use_axis(s, path, axis, NULL, err);
    enum fit_status st = fit_h5_read_doubles(s->private_->h5, path, &v, &n, err);
    if (st == FIT_OK)
        st = fit_source_units(s, path, roles[axis], v, n, err);
    if (st != FIT_OK)
        return st;
    all = spread(s, axis, v, &n);
    return fit_source_label(s, path, axis == FIT_SOURCE_Q, all ? all : v, n, err);
}

static enum fit_status take_member(struct fit_source *s, const char *name, enum fit_source_axis axis,
                                   struct fit_error *err)
{
    struct fit_npz *z = s->private_->npz;
    const int member = fit_npz_find(z, name + (*name == '/'));
    FIT_OWNED double *v = NULL;
    size_t n;
    if (member < 0)
        return fit_fail(err, FIT_ERR_DATA, "%s: no member %s, which was named for %s", s->file, name, roles[axis]);
    enum fit_status st = fit_npz_read_all(z, member, &v, &n, err);
    const char *unit = fit_source_wished_unit(s, roles[axis]);
    s->private_->seconds |= axis == FIT_SOURCE_TIME && unit;
    if (st == FIT_OK)
        st = fit_source_convert(s, name, axis == FIT_SOURCE_TIME ? "dt" : roles[axis], unit, v, n, err);
    if (st != FIT_OK)
        return st;
    return axis == FIT_SOURCE_TIME ? fit_source_time(s, name, v, n, err)
                                   : fit_source_label(s, name, axis == FIT_SOURCE_Q, v, n, err);
}

enum fit_status fit_source_take_axes(struct fit_source *s, struct fit_error *err)
{
    char path[PATH];
    for (int axis = FIT_SOURCE_Q; axis <= FIT_SOURCE_TIME; axis++) {
        const char *name = fit_source_wished_axis(s, roles[axis]);
        enum fit_status st = FIT_OK;
        if (!name)
            continue;
        if (axis == FIT_SOURCE_TIME) { /* it takes the place of the layout's */
            free(s->time);
            s->time = NULL;
            s->dt = NAN;
        }
        if (!s->private_->h5) {
            st = take_member(s, name, (enum fit_source_axis)axis, err);
        } else {
            resolve(s, name, path);
            st = fit_source_is_number(s, path)
                     ? use_values(s, path, (enum fit_source_axis)axis, err)
                     : fit_fail(err, FIT_ERR_DATA, "%s: no dataset of numbers %s, which was named for %s", s->file,
                                name, roles[axis]);
        }
        if (st != FIT_OK)
            return st;
    }
    const char *sigma = fit_source_wished_axis(s, "sigma");
    if (sigma && s->private_->h5) {
        resolve(s, sigma, path);
        fit_source_use_sigma(s, path);
    }
    return FIT_OK;
}

/* ---- HDF5 ------------------------------------------------------------------------------------ */

/* Axes beside the matrices under their usual names, unless others were named. */
static enum fit_status look_beside(struct fit_source *s, struct fit_error *err)
{
    const char *const *const names[] = {fit_source_names_q, fit_source_names_phi, fit_source_names_t};
    char folder[PATH], path[PATH];
    enum fit_status st = FIT_OK;
    folder_of(s, folder, sizeof folder);
    for (int axis = FIT_SOURCE_Q; axis <= FIT_SOURCE_TIME && st == FIT_OK; axis++)
        if (!fit_source_wished_axis(s, roles[axis]) && fit_source_first_of(s, folder, names[axis], path, sizeof path)) {
            st = use_values(s, path, (enum fit_source_axis)axis, err);
            if (st == FIT_OK)
                fit_notes_add(&s->notes, "%s: %s is taken for %s", s->file, path, roles[axis]);
        }
    return st;
}

static enum fit_status open_dataset(struct fit_source *s, struct fit_error *err)
{
    const struct fit_h5 *h = s->private_->h5;
    char path[PATH];
    const char *name = s->private_->wish.dataset;
    snprintf(path, sizeof path, "%s%.500s", *name == '/' ? "" : "/", name);
    const enum fit_h5_kind kind = fit_h5_kind(h, path);
    enum fit_status st;
    if (kind == FIT_H5_GROUP)
        st = fit_source_list_matrices(s, path, err);
    else
        st = fit_source_use_cube(s, path, err);
    if (st != FIT_OK)
        return st;
    if (s->private_->cube.rank == 3 && s->private_->cube.n == s->nframe && kind != FIT_H5_GROUP)
        fit_notes_doubt(&s->notes, "%s: %s is as long in all directions: the first is taken for that of the matrices",
                        s->file, path);
    return look_beside(s, err);
}

static enum fit_status read_dataset(struct fit_source *s, size_t k, double *m, struct fit_error *err)
{
    return *s->private_->group ? fit_source_read_member(s, k, m, err) : fit_source_read_cube(s, k, m, err);
}

const struct fit_source_layout fit_layout_dataset = {
    .name = "dataset", .in_hdf5 = 1, .detect = NULL, .open = open_dataset, .read = read_dataset};

/* ---- npz ------------------------------------------------------------------------------------- */

static enum fit_status open_member(struct fit_source *s, struct fit_error *err)
{
    struct fit_cube *c = &s->private_->cube;
    const char *name = s->private_->wish.dataset;
    const int member = fit_npz_find(s->private_->npz, name + (*name == '/'));
    const struct fit_npz_array *a = fit_npz_array(s->private_->npz, member);
    if (!a)
        return fit_fail(err, FIT_ERR_DATA, "%s: no member %s", s->file, name);
    if (a->fortran && a->rank > 2)
        return fit_fail(err, FIT_ERR_DATA, "%s: %s is in Fortran order; save numpy.ascontiguousarray(...) of it",
                        s->file, name);
    enum fit_status st = fit_cube_shape(s, name, a->rank, a->dims, c, err);
    if (st != FIT_OK)
        return st;
    c->member = member;
    s->nframe = c->nframe;
    return fit_source_matrices(s, c->n, err);
}

static enum fit_status read_member(struct fit_source *s, size_t k, double *m, struct fit_error *err)
{
    return fit_cube_read_npz(s, &s->private_->cube, k, m, err);
}

const struct fit_source_layout fit_layout_member = {
    .name = "dataset", .in_hdf5 = 0, .detect = NULL, .open = open_member, .read = read_member};

/* ---- datasets that can be named ------------------------------------------------------------------- */

static int is_square(int rank, const size_t *d)
{
    enum { LEAST = 3 };
    return (rank == 2 && d[0] == d[1] && d[0] >= LEAST) ||
           (rank == 3 && ((d[1] == d[2] && d[1] >= LEAST) || (d[0] == d[1] && d[0] >= LEAST))) ||
           (rank == 4 && d[2] == d[3] && d[2] >= LEAST);
}

static void list_cube(const char *path, int rank, const size_t *dims, char *text, size_t size)
{
    size_t at = strlen(text);
    at += (size_t)snprintf(text + at, size - at, "%s%s (", at ? ", " : "", path);
    for (int i = 0; i < rank && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%zu", i ? " x " : "", dims[i]);
    if (at < size)
        snprintf(text + at, size - at, ")");
}

/* Of names that differ only in their final number (c2_00001, ...) the first represents all: their group is named. */
static void list_below(const struct fit_h5 *h, const char *group, int depth, char *text, size_t size)
{
    char **name, path[PATH];
    size_t n, dims[FIT_H5_RANK], singles = 0;
    if (fit_h5_list(h, group, &name, &n, NULL) != FIT_OK)
        return;
    for (size_t i = 0; i < n && strlen(text) + LISTED + 2 * strlen(group) < size; i++) {
        int rank = 0;
        snprintf(path, sizeof path, "%.300s/%.200s", strcmp(group, "/") == 0 ? "" : group, name[i]);
        const enum fit_h5_kind kind = fit_h5_kind(h, path);
        if (kind == FIT_H5_GROUP && depth)
            list_below(h, path, depth - 1, text, size);
        if (kind != FIT_H5_NUMBER || fit_h5_shape(h, path, &rank, dims, NULL) != FIT_OK || !is_square(rank, dims))
            continue;
        if (rank == 2 && singles++ > 0)
            continue;
        list_cube(rank == 2 && n > 1 ? group : path, rank, dims, text, size);
    }
    fit_h5_free_strings(name, n);
}

void fit_source_list_cubes(const struct fit_source *s, char *text, size_t size)
{
    *text = 0;
    if (s->private_->h5)
        list_below(s->private_->h5, "/", DEEP, text, size);
    for (size_t i = 0; s->private_->npz && i < fit_npz_count(s->private_->npz); i++) {
        const struct fit_npz_array *a = fit_npz_array(s->private_->npz, (int)i);
        if (strchr("fiu", a->kind) && is_square(a->rank, a->dims) && strlen(text) + LISTED + strlen(a->name) < size)
            list_cube(a->name, a->rank, a->dims, text, size);
    }
}
