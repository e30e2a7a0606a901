/* source_numpy.c -- layouts in numpy files: the caches of homodyne, xpcsjax and heterodyne, arrays
 * of users. */
#include "input/source_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum fit_status use_cube(struct fit_source *s, int member, struct fit_error *err)
{
    struct fit_cube *c = &s->private_->cube;
    const struct fit_npz_array *a = fit_npz_array(s->private_->npz, member);
    const char *what = *a->name ? a->name : "the array";
    if (a->fortran && a->rank > 2)
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: %s is in Fortran order; save numpy.ascontiguousarray(...) of it",
                        s->file, what);
    enum fit_status st = fit_cube_shape(s, what, a->rank, a->dims, c, err);
    if (st != FIT_OK)
        return st;
    c->member = member;
    s->nframe = c->nframe;
    return fit_source_matrices(s, c->n, err);
}

static enum fit_status read_cube(struct fit_source *s, size_t k, double *m, struct fit_error *err)
{
    return fit_cube_read_npz(s, &s->private_->cube, k, m, err);
}

enum axis { Q, PHI, TIME };

static enum fit_status use_axis(struct fit_source *s, int member, enum axis axis,
                                struct fit_error *err)
{
    double *v;
    size_t n;
    if (member < 0)
        return FIT_OK;
    const char *name = fit_npz_array(s->private_->npz, member)->name;
    enum fit_status st = fit_npz_read_all(s->private_->npz, member, &v, &n, err);
    if (st == FIT_OK)
        st = axis == TIME ? fit_source_time(s, name, v, n, err)
                          : fit_source_label(s, name, axis == Q, v, n, err);
    free(v);
    return st;
}

static void use_sigma(struct fit_source *s)
{
    struct fit_cube *c = &s->private_->sigma;
    int member = fit_npz_find(s->private_->npz, "sigma");
    const struct fit_npz_array *a = fit_npz_array(s->private_->npz, member);
    if (!a || !a->rank)
        return;
    if ((a->fortran && a->rank > 2) ||
        fit_cube_shape(s, "sigma", a->rank, a->dims, c, NULL) != FIT_OK || c->nframe != s->nframe ||
        (c->n != 1 && c->n != s->nmatrix)) {
        fit_notes_doubt(&s->notes, "%s: sigma does not have the shape of the data and is not used",
                        s->file);
        return;
    }
    c->member = member;
    s->has_sigma = 1;
}

/* ---- homodyne and xpcsjax: c2_exp, t1, wavevector_q_list, phi_angles_list -------------------- */

static int detect_homodyne(const struct fit_source *s)
{
    return fit_npz_find(s->private_->npz, "c2_exp") >= 0;
}

/* The cache is a window of the original frames, which its JSON text gives. */
static void homodyne_window(struct fit_source *s)
{
    static const char key[] = "\"start_frame\":";
    char *json = NULL;
    int member = fit_npz_find(s->private_->npz, "cache_metadata_json");
    if (member >= 0 && fit_npz_read_text(s->private_->npz, member, &json, NULL) == FIT_OK) {
        const char *at = strstr(json, key);
        long first = at ? strtol(at + sizeof key - 1, NULL, 10) : 1;
        s->first_frame = first > 1 ? first : 1;
    }
    free(json);
    if (s->first_frame > 1)
        fit_notes_add(&s->notes, "%s: the cache begins with frame %ld of its file", s->file,
                        s->first_frame);
}

static enum fit_status open_homodyne(struct fit_source *s, struct fit_error *err)
{
    struct fit_npz *z = s->private_->npz;
    int c2 = fit_npz_find(z, "c2_exp");
    enum fit_status st;
    if (c2 < 0)
        return fit_fail(err, FIT_ERR_DATA, "%s: no member c2_exp", s->file);
    if ((st = use_cube(s, c2, err)) != FIT_OK ||
        (st = use_axis(s, fit_npz_find(z, "wavevector_q_list"), Q, err)) != FIT_OK ||
        (st = use_axis(s, fit_npz_find(z, "phi_angles_list"), PHI, err)) != FIT_OK ||
        (st = use_axis(s, fit_npz_find(z, "t1"), TIME, err)) != FIT_OK)
        return st;
    use_sigma(s);
    homodyne_window(s);
    return FIT_OK;
}

const struct fit_source_layout fit_layout_homodyne_npz = {
    .name = "homodyne_npz", .detect = detect_homodyne, .open = open_homodyne, .read = read_cube};

/* ---- heterodyne: c2, t, q or q_values, phi; dynamix: data ------------------------------------ */

static int heterodyne_member(const struct fit_source *s)
{
    int m = fit_npz_find(s->private_->npz, "c2");
    return m >= 0 ? m : fit_npz_find(s->private_->npz, "data");
}

static int detect_heterodyne(const struct fit_source *s)
{
    return heterodyne_member(s) >= 0;
}

/* A member whose length fits the matrices. */
static int fitting(const struct fit_source *s, const char *name)
{
    int m = fit_npz_find(s->private_->npz, name);
    const struct fit_npz_array *a = fit_npz_array(s->private_->npz, m);
    return a && strchr("fiu", a->kind) && (a->n == 1 || a->n == s->nmatrix) ? m : -1;
}

static enum fit_status open_heterodyne(struct fit_source *s, struct fit_error *err)
{
    struct fit_npz *z = s->private_->npz;
    int c2 = heterodyne_member(s);
    enum fit_status st;
    if (c2 < 0)
        return fit_fail(err, FIT_ERR_DATA, "%s: no member c2", s->file);
    if ((st = use_cube(s, c2, err)) != FIT_OK)
        return st;
    int q = fitting(s, "q_values") >= 0 ? fitting(s, "q_values") : fitting(s, "q");
    const struct fit_npz_array *t = fit_npz_array(z, fit_npz_find(z, "t"));
    if ((st = use_axis(s, q, Q, err)) != FIT_OK ||
        (st = use_axis(s, fitting(s, "phi"), PHI, err)) != FIT_OK ||
        (st = use_axis(s, t && t->rank == 1 ? fit_npz_find(z, "t") : -1, TIME, err)) != FIT_OK)
        return st;
    use_sigma(s);
    return FIT_OK;
}

const struct fit_source_layout fit_layout_heterodyne_npz = {.name = "heterodyne_npz",
                                                            .detect = detect_heterodyne,
                                                            .open = open_heterodyne,
                                                            .read = read_cube};

/* ---- one bare array -------------------------------------------------------------------------- */

static int detect_npy(const struct fit_source *s)
{
    const struct fit_npz_array *a = fit_npz_array(s->private_->npz, 0);
    return fit_npz_count(s->private_->npz) == 1 && strchr("fiu", a->kind) && a->rank >= 2;
}

static enum fit_status open_npy(struct fit_source *s, struct fit_error *err)
{
    if (fit_npz_count(s->private_->npz) < 1)
        return fit_fail(err, FIT_ERR_DATA, "%s: holds no array", s->file);
    return use_cube(s, 0, err);
}

const struct fit_source_layout fit_layout_npy = {
    .name = "npy", .detect = detect_npy, .open = open_npy, .read = read_cube};
