/* observation_hdf5.c -- observations in HDF5 files, one group of plain arrays (observation.h): read and written. */
#include "observation/formats.h"
#include "observation/observation.h"

#include "hdf5/h5_writer.h"
#include "hdf5/reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 512 };

static const char *const prefix[FIT_STOKES] = {"", "q", "u", "v"};

/* ---- reading ---------------------------------------------------------------------------------------- */

struct reading {
    const struct fit_h5 *h;
    const char *group;
    struct fit_obs *obs;
};

static const char *member(const struct reading *r, char path[PATH], const char *before, const char *name)
{
    snprintf(path, PATH, "%s%s%s%s", r->group, strcmp(r->group, "/") ? "/" : "", before, name);
    return path;
}

static int has(const struct reading *r, const char *name)
{
    char path[PATH];
    return fit_h5_kind(r->h, member(r, path, "", name)) == FIT_H5_NUMBER;
}

/* n numbers, or an error that states how many there are. */
static enum fit_status column(const struct reading *r, const char *before, const char *name, size_t n, double *value,
                              struct fit_error *err)
{
    char path[PATH];
    int rank;
    size_t dims[FIT_H5_RANK], all = 1;
    enum fit_status st = fit_h5_shape(r->h, member(r, path, before, name), &rank, dims, err);
    if (st != FIT_OK)
        return st;
    for (int k = 0; k < rank; k++)
        all *= dims[k];
    if (all != n)
        return fit_fail(err, FIT_ERR_DATA, "%s: %s has %zu numbers; the group has %zu (its u)", fit_h5_file(r->h), path,
                        all, n);
    return fit_h5_read_into(r->h, path, value, n, err);
}

static enum fit_status stations(const struct reading *r, const char *name, int *t, struct fit_error *err)
{
    FIT_SCRATCH(a);
    double *x = fit_take(&a, r->obs->n, sizeof *x);
    if (!x)
        return fit_no_memory(err, r->obs->file);
    enum fit_status st = column(r, "", name, r->obs->n, x, err);
    for (size_t i = 0; st == FIT_OK && i < r->obs->n; i++) {
        if (!(x[i] >= 0 && x[i] < (double)r->obs->nsite && x[i] == floor(x[i])))
            return fit_fail(
                err, FIT_ERR_DATA,
                "%s: %s/%s: row %zu is %g; a station is a whole number from 0 to %zu, its place in the attribute sites",
                r->obs->file, r->group, name, i + 1, x[i], r->obs->nsite - 1);
        t[i] = (int)x[i];
    }
    return st;
}

enum fit_status fit_obs_attribute(const struct fit_h5 *h, const char *group, const char *name, double *value,
                                  struct fit_error *err)
{
    const char *place[] = {group, "/"};
    *value = NAN;
    for (int k = 0; k < 2; k++) {
        double *x = NULL;
        size_t n;
        if (!fit_h5_has_attr(h, place[k], name))
            continue;
        enum fit_status st = fit_h5_read_attr_doubles(h, place[k], name, &x, &n, err);
        if (st == FIT_OK && n)
            *value = x[0];
        free(x);
        return st;
    }
    return FIT_OK;
}

static enum fit_status attributes(const struct reading *r, struct fit_error *err)
{
    struct fit_obs *o = r->obs;
    struct {
        const char *name;
        double *to;
    } number[] = {{"rf", &o->frequency}, {"bw", &o->bandwidth}, {"ra_h", &o->ra},
                  {"dec_deg", &o->dec},  {"mjd", &o->mjd},      {"tint", &o->tint}};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++) {
        enum fit_status st = fit_obs_attribute(r->h, r->group, number[k].name, number[k].to, err);
        if (st != FIT_OK)
            return st;
    }
    char *object = NULL;
    if (fit_h5_has_attr(r->h, r->group, "object") &&
        fit_h5_read_attr_string(r->h, r->group, "object", &object, NULL) == FIT_OK)
        o->object = fit_arena_string(&o->arena, object);
    free(object);
    return o->arena.failed ? fit_no_memory(err, o->file) : FIT_OK;
}

/* Names between commas. */
static enum fit_status site_names(struct fit_obs *o, const char *text, struct fit_error *err)
{
    size_t n = *text != 0;
    for (const char *c = text; *c; c++)
        n += *c == ',';
    o->site = fit_take(&o->arena, n, sizeof *o->site);
    for (size_t k = 0; o->site && k < n; k++) {
        size_t length = strcspn(text, ",");
        o->site[k] = fit_arena_copy(&o->arena, text, length);
        text += length + 1;
    }
    o->nsite = n;
    return o->arena.failed ? fit_no_memory(err, o->file) : FIT_OK;
}

static enum fit_status sites(const struct reading *r, struct fit_error *err)
{
    struct fit_obs *o = r->obs;
    char *text = NULL;
    enum fit_status st = fit_h5_read_attr_string(r->h, r->group, "sites", &text, err);
    if (st == FIT_OK)
        st = site_names(o, text, err);
    free(text);
    if (st == FIT_OK && has(r, "site_xyz")) {
        o->site_xyz = fit_take(&o->arena, 3 * o->nsite, sizeof *o->site_xyz);
        st = o->site_xyz ? column(r, "", "site_xyz", 3 * o->nsite, o->site_xyz, err) : fit_no_memory(err, o->file);
    }
    if (st == FIT_OK && has(r, "site_sefd")) {
        o->sefd = fit_take(&o->arena, o->nsite, sizeof *o->sefd);
        st = o->sefd ? column(r, "", "site_sefd", o->nsite, o->sefd, err) : fit_no_memory(err, o->file);
    }
    return st;
}

/* Position and time, if the group has all of it. */
static enum fit_status baselines(const struct reading *r, struct fit_error *err)
{
    struct fit_obs *o = r->obs;
    if (!has(r, "time") || !has(r, "t1") || !has(r, "t2")) {
        o->time = NULL;
        o->t1 = o->t2 = NULL;
        return FIT_OK;
    }
    enum fit_status st = sites(r, err);
    if (st == FIT_OK)
        st = column(r, "", "time", o->n, o->time, err);
    if (st == FIT_OK)
        st = stations(r, "t1", o->t1, err);
    return st == FIT_OK ? stations(r, "t2", o->t2, err) : st;
}

static enum fit_status visibilities(const struct reading *r, struct fit_error *err)
{
    struct fit_obs *o = r->obs;
    for (int s = 0; s < FIT_STOKES; s++) {
        char path[PATH];
        if (s && fit_h5_kind(r->h, member(r, path, prefix[s], "vis_re")) != FIT_H5_NUMBER)
            continue;
        if (s && !fit_obs_add_stokes(o, (enum fit_stokes)s))
            return fit_no_memory(err, o->file);
        struct fit_visibility *v = &o->stokes[s];
        enum fit_status st = column(r, prefix[s], "vis_re", o->n, v->re, err);
        if (st == FIT_OK)
            st = column(r, prefix[s], "vis_im", o->n, v->im, err);
        if (st == FIT_OK)
            st = column(r, prefix[s], "sigma", o->n, v->sigma, err);
        if (st != FIT_OK)
            return st;
    }
    return FIT_OK;
}

static enum fit_status read_group(struct fit_h5 *h, const char *group, struct fit_obs **obs, struct fit_error *err)
{
    struct reading r = {.h = h, .group = group};
    char path[PATH];
    double *u = NULL;
    size_t n;
    enum fit_status st = fit_h5_read_doubles(h, member(&r, path, "", "u"), &u, &n, err);
    if (st != FIT_OK)
        return st;
    struct fit_obs *o = *obs = r.obs = fit_obs_new(fit_h5_file(h), n);
    if (o && n)
        memcpy(o->u, u, n * sizeof *u);
    free(u);
    if (!o)
        return fit_no_memory(err, fit_h5_file(h));
    if ((st = column(&r, "", "v", n, o->v, err)) == FIT_OK && (st = visibilities(&r, err)) == FIT_OK &&
        (st = baselines(&r, err)) == FIT_OK && (st = attributes(&r, err)) == FIT_OK)
        st = fit_obs_check(o, err);
    fit_notes_copy(&o->notes, fit_h5_notes(h));
    return st;
}

enum fit_status fit_obs_read_hdf5(const char *file, const char *group, struct fit_obs **obs, struct fit_error *err)
{
    struct fit_h5 *h = NULL;
    *obs = NULL;
    enum fit_status st = fit_h5_open(file, &h, err);
    if (st == FIT_OK)
        st = read_group(h, group, obs, err);
    fit_h5_close(h);
    if (st != FIT_OK) {
        fit_obs_free(*obs);
        *obs = NULL;
    }
    return st;
}

/* ---- writing ---------------------------------------------------------------------------------------- */

static void put_number(struct fit_h5r *w, const char *name, double value)
{
    if (!isnan(value))
        fit_h5r_attribute_real(w, "/obs", name, value);
}

static void put_stations(struct fit_h5r *w, const char *path, const struct fit_obs *o, const int *t)
{
    FIT_SCRATCH(a);
    int64_t *x = fit_take(&a, o->n, sizeof *x);
    if (!x) {
        fit_h5r_no_memory(w, path);
        return;
    }
    for (size_t i = 0; i < o->n; i++)
        x[i] = t[i];
    fit_h5r_integers(w, path, o->n, x);
}

static void put_sites(struct fit_h5r *w, const struct fit_obs *o)
{
    FIT_SCRATCH(a);
    size_t size = 1;
    for (size_t k = 0; k < o->nsite; k++)
        size += strlen(o->site[k]) + 1;
    char *text = fit_take(&a, size, 1);
    if (!text) {
        fit_h5r_no_memory(w, "/obs");
        return;
    }
    for (size_t k = 0; k < o->nsite; k++) {
        strcat(text, k ? "," : "");
        strcat(text, o->site[k]);
    }
    fit_h5r_attribute(w, "/obs", "sites", text);
    if (o->site_xyz)
        fit_h5r_reals(w, "/obs/site_xyz", 2, (size_t[]){o->nsite, 3}, o->site_xyz, "m");
    if (o->sefd)
        fit_h5r_reals(w, "/obs/site_sefd", 1, &o->nsite, o->sefd, "Jy");
}

static void put_visibilities(struct fit_h5r *w, const struct fit_obs *o)
{
    for (int s = 0; s < FIT_STOKES; s++) {
        const struct fit_visibility *v = &o->stokes[s];
        const char *name[] = {"vis_re", "vis_im", "sigma"};
        const double *value[] = {v->re, v->im, v->sigma};
        for (int k = 0; v->re && k < 3; k++) {
            char path[PATH];
            snprintf(path, sizeof path, "/obs/%s%s", prefix[s], name[k]);
            fit_h5r_reals(w, path, 1, &o->n, value[k], "Jy");
        }
    }
}

static void put_all(struct fit_h5r *w, const struct fit_obs *o)
{
    fit_h5r_group(w, "/obs", NULL);
    fit_h5r_reals(w, "/obs/u", 1, &o->n, o->u, NULL); /* wavelengths */
    fit_h5r_reals(w, "/obs/v", 1, &o->n, o->v, NULL);
    put_visibilities(w, o);
    if (o->time) {
        fit_h5r_reals(w, "/obs/time", 1, &o->n, o->time, "h");
        put_stations(w, "/obs/t1", o, o->t1);
        put_stations(w, "/obs/t2", o, o->t2);
        put_sites(w, o);
    }
    put_number(w, "rf", o->frequency);
    put_number(w, "bw", o->bandwidth);
    put_number(w, "ra_h", o->ra);
    put_number(w, "dec_deg", o->dec);
    put_number(w, "mjd", o->mjd);
    put_number(w, "tint", o->tint);
    if (*o->object)
        fit_h5r_attribute(w, "/obs", "object", o->object);
}

enum fit_status fit_obs_write(const char *file, const struct fit_obs *obs, struct fit_error *err)
{
    struct fit_h5r_file f;
    const enum fit_status st = fit_h5r_begin(&f, file, err);
    if (st != FIT_OK)
        return st;
    put_all(&f.w, obs);
    return fit_h5r_end(&f, FIT_OK, err);
}
