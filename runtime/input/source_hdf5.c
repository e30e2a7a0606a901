/* source_hdf5.c -- layouts in which one HDF5 dataset holds all matrices: CHX, exchange, SIRIUS, flat; others are in
 * source_nexus.c. */
#include "base/arena.h"
#include "input/source_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Makes the dataset the source's array of matrices. */
enum fit_status fit_source_use_cube(struct fit_source *s, const char *path, struct fit_error *err)
{
    struct fit_cube *c = &s->private_->cube;
    int rank;
    size_t dims[FIT_H5_RANK];
    enum fit_status st = fit_h5_shape(s->private_->h5, path, &rank, dims, err);
    if (st != FIT_OK || (st = fit_cube_shape(s, path, rank, dims, c, err)) != FIT_OK)
        return st;
    snprintf(c->path, sizeof c->path, "%.*s", (int)sizeof c->path - 1, path);
    s->nframe = c->nframe;
    return fit_source_matrices(s, c->n, err);
}

enum fit_status fit_source_read_cube(struct fit_source *s, size_t k, double *m, struct fit_error *err)
{
    return fit_cube_read_h5(s, &s->private_->cube, k, m, err);
}

int fit_source_is_number(const struct fit_source *s, const char *path)
{
    return fit_h5_kind(s->private_->h5, path) == FIT_H5_NUMBER;
}

/* The unit of the layout, used when neither the file nor the caller gives one. */
static enum fit_status layout_unit(struct fit_source *s, const char *path, enum fit_source_axis axis, const char *unit,
                                   double *v, size_t n, struct fit_error *err)
{
    static const char *const role[] = {"q", "phi", "t"};
    FIT_OWNED char *said = NULL;
    enum fit_status st = unit ? fit_h5_read_unit(s->private_->h5, path, &said, err) : FIT_OK;
    if (st != FIT_OK || !unit || said || fit_source_wished_unit(s, role[axis]))
        return st;
    fit_notes_add(&s->notes, "%s: %s states no unit; files of this layout have %s", s->file, path, unit);
    return fit_source_convert(s, path, axis == FIT_SOURCE_TIME ? "dt" : role[axis], unit, v, n, err);
}

enum fit_status fit_source_use_axis(struct fit_source *s, const char *path, enum fit_source_axis axis, const char *unit,
                                    struct fit_error *err)
{
    double *v;
    size_t n;
    if (!fit_source_is_number(s, path))
        return FIT_OK;
    enum fit_status st = fit_h5_read_doubles(s->private_->h5, path, &v, &n, err);
    if (st == FIT_OK)
        st = layout_unit(s, path, axis, unit, v, n, err);
    if (st == FIT_OK && axis != FIT_SOURCE_TIME)
        st = fit_source_units(s, path, axis == FIT_SOURCE_Q ? "q" : "phi", v, n, err);
    if (st == FIT_OK)
        st = axis == FIT_SOURCE_TIME ? fit_source_time_units(s, path, v, n, err)
                                     : fit_source_label(s, path, axis == FIT_SOURCE_Q, v, n, err);
    free(v);
    return st;
}

void fit_source_use_sigma(struct fit_source *s, const char *path)
{
    struct fit_cube *c = &s->private_->sigma;
    int rank;
    size_t dims[FIT_H5_RANK];
    if (!fit_source_is_number(s, path) || fit_h5_shape(s->private_->h5, path, &rank, dims, NULL) != FIT_OK)
        return;
    if (fit_cube_shape(s, path, rank, dims, c, NULL) != FIT_OK || c->nframe != s->nframe ||
        (c->n != 1 && c->n != s->nmatrix)) {
        fit_notes_doubt(&s->notes, "%s: %s does not have the shape of the data and is not used", s->file,
                        path);
        return;
    }
    snprintf(c->path, sizeof c->path, "%.*s", (int)sizeof c->path - 1, path);
    s->has_sigma = 1;
}

/* ---- CHX: /g12b (N, N, n), attributes of qval_dict and md ------------------------------------ */

static int detect_chx(const struct fit_source *s)
{
    return fit_source_is_number(s, "/g12b");
}

/* A number among the attributes of md; NaN: not present. */
static double md_number(const struct fit_source *s, const char *name)
{
    double *v, x = NAN;
    size_t n;
    if (fit_h5_read_attr_doubles(s->private_->h5, "/md", name, &v, &n, NULL) != FIT_OK)
        return NAN;
    x = n && v[0] > 0 && isfinite(v[0]) ? v[0] : NAN;
    free(v);
    return x;
}

/* Step of the lags that belong to g12b; NaN: the file has none. */
static enum fit_status lag_step(struct fit_source *s, double *step, struct fit_error *err)
{
    static const char *const path[] = {"/taus2", "/tausb"};
    enum fit_status st = FIT_OK;
    *step = NAN;
    for (size_t k = 0; k < 2 && isnan(*step) && st == FIT_OK; k++) {
        double *t;
        size_t n;
        if (!fit_source_is_number(s, path[k]) || fit_h5_read_doubles(s->private_->h5, path[k], &t, &n, NULL) != FIT_OK)
            continue;
        st = fit_source_units(s, path[k], "dt", t, n, err);
        for (size_t i = 1; i < n; i++)
            if (t[i] > t[i - 1] && !(t[i] - t[i - 1] >= *step)) /* of lags that become coarser, the first */
                *step = t[i] - t[i - 1];
        free(t);
    }
    return st;
}

/* md has the period of the detector's frames; those of g12b may be sums of bin_frame_number of them. */
static enum fit_status chx_period(struct fit_source *s, struct fit_error *err)
{
    static const char *const period[] = {"frame_time", "acquire period", "acquire_period"};
    static const double SAME = 0.01;
    double one = NAN, bins = md_number(s, "bin_frame_number"), step;
    size_t k = 0;
    while (k < 3 && isnan(one = md_number(s, period[k])))
        k++;
    enum fit_status st = lag_step(s, &step, err);
    if (st != FIT_OK || (isnan(one) && isnan(step)))
        return st;
    if (isnan(one)) {
        s->dt = step;
        snprintf(s->dt_text, sizeof s->dt_text, "step of the lags of g12b = %.9g s", step);
        return FIT_OK;
    }
    if (isnan(bins) && !isnan(step) && step > 1.5 * one && fabs(step / one - rint(step / one)) < SAME)
        bins = rint(step / one); /* the lags tell how many */
    s->dt = isnan(bins) ? one : one * bins;
    snprintf(s->dt_text, sizeof s->dt_text,
             isnan(bins) || bins < 2 ? "%s of md = %.9g s" : "%s of md x bin_frame_number = %.9g x %g s", period[k],
             one, bins);
    if (!isnan(step) && fabs(step - s->dt) > SAME * s->dt) {
        fit_notes_doubt(&s->notes, "%s: the lags of g12b have steps of %.9g s, %s: which is right says --dt", s->file,
                        step, s->dt_text);
        s->dt = NAN;
    }
    return FIT_OK;
}

/* The meaning of the second number of a bin: an azimuth, in degrees, or, under grazing incidence, qz. */
static int is_grazing(const struct fit_source *s, const double *second)
{
    static const char *const key[] = {"scat_geometry", "geometry", "scattering_geometry"};
    int grazing = -1, small = 1, any = 0;
    for (size_t k = 0; k < 3 && grazing < 0; k++) {
        char *text = NULL;
        if (fit_h5_read_attr_string(s->private_->h5, "/md", key[k], &text, NULL) == FIT_OK)
            grazing = strncasecmp(text, "gi", 2) == 0 ? 1 : strncasecmp(text, "ang", 3) == 0 ? 0 : -1;
        free(text);
    }
    for (size_t k = 0; k < s->nmatrix; k++)
        if (!isnan(second[k])) { /* angular bins are never all within one degree */
            small &= second[k] > 0 && second[k] < 1;
            any = 1;
        }
    return grazing >= 0 ? grazing : any && small;
}

static enum fit_status chx_labels(struct fit_source *s, struct fit_error *err)
{
    FIT_OWNED double *second = malloc((s->nmatrix + 1) * sizeof *second);
    int any = 0;
    if (!second)
        return fit_no_memory(err, s->file);
    for (size_t k = 0; k < s->nmatrix; k++) {
        char name[24];
        double *v;
        size_t n;
        second[k] = NAN;
        snprintf(name, sizeof name, "%zu", k);
        if (fit_h5_read_attr_doubles(s->private_->h5, "/qval_dict", name, &v, &n, NULL) != FIT_OK)
            continue;
        if (n > 0)
            s->matrix[k].q = v[0];
        if (n > 1)
            second[k] = v[1];
        any |= n > 1;
        free(v);
    }
    if (any && is_grazing(s, second))
        fit_notes_doubt(&s->notes,
                        "%s: the second numbers of qval_dict, %.4g .., are qz of grazing incidence by their size or "
                        "md, no azimuths: q is qr, in the plane, and azimuths are not known (--phi)",
                        s->file, second[0]);
    else
        for (size_t k = 0; k < s->nmatrix; k++)
            s->matrix[k].phi = isnan(second[k]) ? s->matrix[k].phi : second[k];
    return FIT_OK;
}

static enum fit_status open_chx(struct fit_source *s, struct fit_error *err)
{
    enum fit_status st = fit_source_use_cube(s, "/g12b", err);
    if (st != FIT_OK)
        return st;
    if (s->private_->cube.rank == 3 && s->private_->cube.n == s->nframe)
        s->private_->cube.last = 1; /* the shape N x N x N is ambiguous; this layout has q last */
    if ((st = chx_labels(s, err)) != FIT_OK)
        return st;
    return chx_period(s, err);
}

const struct fit_source_layout fit_layout_chx = {
    .name = "chx", .in_hdf5 = 1, .detect = detect_chx, .open = open_chx, .read = fit_source_read_cube};

/* ---- exchange group and flat files ----------------------------------------------------------- */

const char *fit_source_first_of(const struct fit_source *s, const char *prefix, const char *const *name, char *path,
                                size_t size)
{
    for (; *name; name++) {
        const int n = snprintf(path, size, "%s/%s", prefix, *name);
        if (n > 0 && (size_t)n < size && fit_source_is_number(s, path))
            return path;
    }
    return NULL;
}

static const char *const names_c2[] = {"twotime_corr", "twotime", "c2", "corr",
                                       "correlation",  "data",    NULL};
const char *const fit_source_names_t[] = {"tau", "t", "times", "delay_time", NULL};
const char *const fit_source_names_q[] = {"q_val", "q_values", "q", "qval", NULL};
const char *const fit_source_names_phi[] = {"phi", "phi_angles", "azimuth", NULL};

static enum fit_status open_group(struct fit_source *s, const char *prefix, const char *const *c2,
                                  struct fit_error *err)
{
    char path[64];
    enum fit_status st;
    if (!fit_source_first_of(s, prefix, c2, path, sizeof path))
        return fit_fail(err, FIT_ERR_DATA, "%s: no dataset %s/%s", s->file, prefix, c2[0]);
    if ((st = fit_source_use_cube(s, path, err)) != FIT_OK)
        return st;
    if (fit_source_first_of(s, prefix, fit_source_names_q, path, sizeof path) &&
        (st = fit_source_use_axis(s, path, FIT_SOURCE_Q, NULL, err)) != FIT_OK)
        return st;
    if (fit_source_first_of(s, prefix, fit_source_names_phi, path, sizeof path) &&
        (st = fit_source_use_axis(s, path, FIT_SOURCE_PHI, NULL, err)) != FIT_OK)
        return st;
    snprintf(path, sizeof path, "%s/sigma", prefix);
    fit_source_use_sigma(s, path);
    return fit_source_first_of(s, prefix, fit_source_names_t, path, sizeof path)
               ? fit_source_use_axis(s, path, FIT_SOURCE_TIME, NULL, err)
               : FIT_OK;
}

static int detect_exchange(const struct fit_source *s)
{
    char path[64];
    return fit_source_first_of(s, "/exchange", names_c2, path, sizeof path) != NULL;
}

static enum fit_status open_exchange(struct fit_source *s, struct fit_error *err)
{
    return open_group(s, "/exchange", names_c2, err);
}

const struct fit_source_layout fit_layout_exchange = {
    .name = "exchange", .in_hdf5 = 1, .detect = detect_exchange, .open = open_exchange, .read = fit_source_read_cube};

static const char *const flat_c2[] = {"c2", NULL};

static int detect_flat(const struct fit_source *s)
{
    return fit_source_is_number(s, "/c2");
}

static enum fit_status open_flat(struct fit_source *s, struct fit_error *err)
{
    return open_group(s, "", flat_c2, err);
}

const struct fit_source_layout fit_layout_flat = {
    .name = "flat", .in_hdf5 = 1, .detect = detect_flat, .open = open_flat, .read = fit_source_read_cube};

/* ---- SIRIUS (LNLS) --------------------------------------------------------------------------- */

static const char *const sirius_c2[] = {"Two-time correlation function/2-TCF",
                                        "Two-time correlation/2-TCF", NULL};

static int detect_sirius(const struct fit_source *s)
{
    char path[64];
    return fit_source_first_of(s, "", sirius_c2, path, sizeof path) != NULL;
}

/* q stands in a group whose name ends with "Fitting results". */
static enum fit_status open_sirius(struct fit_source *s, struct fit_error *err)
{
    char path[320], **name = NULL;
    size_t n = 0;
    enum fit_status st;
    if (!fit_source_first_of(s, "", sirius_c2, path, 64))
        return fit_fail(err, FIT_ERR_DATA, "%s: no dataset /%s", s->file, sirius_c2[0]);
    if ((st = fit_source_use_cube(s, path, err)) != FIT_OK ||
        (st = fit_h5_list(s->private_->h5, "/", &name, &n, err)) != FIT_OK)
        return st;
    for (size_t i = 0; i < n && st == FIT_OK; i++) {
        if (strlen(name[i]) > 200 || !strstr(name[i], "Fitting results"))
            continue;
        snprintf(path, sizeof path, "/%s/q values (angstroms)", name[i]);
        st = fit_source_use_axis(s, path, FIT_SOURCE_Q, NULL, err);
    }
    fit_h5_free_strings(name, n);
    return st;
}

const struct fit_source_layout fit_layout_sirius = {
    .name = "sirius", .in_hdf5 = 1, .detect = detect_sirius, .open = open_sirius, .read = fit_source_read_cube};
