/* image.c -- images in memory and in HDF5 files (image.h); FITS: image_fits.c. */
#include "observation/image.h"

#include "base/output.h"
#include "hdf5/h5_writer.h"
#include "hdf5/reader.h"
#include "observation/formats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 512 };

static const char *const suffix[FIT_STOKES] = {"", "_q", "_u", "_v"};

struct fit_sky *fit_image_new(size_t nx, size_t ny)
{
    struct fit_sky *m = calloc(1, sizeof *m);
    size_t n;
    if (!m || __builtin_mul_overflow(nx, ny, &n)) {
        free(m);
        return NULL;
    }
    m->nx = nx;
    m->ny = ny;
    m->pixel = m->ra = m->dec = m->frequency = m->mjd = NAN;
    m->object = fit_arena_string(&m->arena, "");
    if (fit_image_add_stokes(m, FIT_STOKES_I))
        return m;
    fit_image_free(m);
    return NULL;
}

int fit_image_add_stokes(struct fit_sky *m, enum fit_stokes stokes)
{
    m->stokes[stokes] = fit_take(&m->arena, m->nx * m->ny, sizeof(double));
    return !m->arena.failed;
}

void fit_image_free(struct fit_sky *m)
{
    if (!m)
        return;
    fit_notes_free(&m->notes);
    fit_arena_free(&m->arena);
    free(m);
}

/* ---- reading of HDF5 -------------------------------------------------------------------------------- */

/* A number that belongs to the image at `path`: from the image, its group, /grid or the file. */
static enum fit_status number(const struct fit_h5 *h, const char *path, const char *name, double *value,
                              struct fit_error *err)
{
    char group[PATH];
    const char *slash = strrchr(path, '/');
    int length = slash && slash > path ? (int)(slash - path) : 0;
    snprintf(group, sizeof group, "%.*s", length ? length : 1, length ? path : "/");
    const char *place[] = {path, group, "/grid"};
    enum fit_status st = FIT_OK;
    *value = NAN;
    for (int k = 0; k < 3 && st == FIT_OK && isnan(*value); k++)
        if (fit_h5_exists(h, place[k]))
            st = fit_obs_attribute(h, place[k], name, value, err);
    return st;
}

static int is_count(double x)
{
    return x >= 1 && x < 0x1p31 && x == floor(x);
}

/* Rows and columns of the dataset. */
static enum fit_status shape(const struct fit_h5 *h, const char *path, size_t *nx, size_t *ny, struct fit_error *err)
{
    int rank;
    size_t dims[FIT_H5_RANK];
    double x, y;
    enum fit_status st = fit_h5_shape(h, path, &rank, dims, err);
    if (st != FIT_OK)
        return st;
    *ny = dims[0];
    *nx = dims[1];
    if (rank == 2 && *nx && *ny)
        return FIT_OK;
    if ((st = number(h, path, "xdim", &x, err)) != FIT_OK || (st = number(h, path, "ydim", &y, err)) != FIT_OK)
        return st;
    if (rank != 1 || !is_count(x) || !is_count(y) || x * y != (double)dims[0])
        return fit_fail(
            err, FIT_ERR_DATA,
            "%s: %s is not an image: an array of ny x nx numbers, or of ny nx with the attributes xdim and ydim",
            fit_h5_file(h), path);
    *nx = (size_t)x;
    *ny = (size_t)y;
    return FIT_OK;
}

static enum fit_status read_plane(const struct fit_h5 *h, const char *path, const struct fit_sky *m, double *value,
                                  struct fit_error *err)
{
    size_t nx, ny;
    enum fit_status st = shape(h, path, &nx, &ny, err);
    if (st != FIT_OK)
        return st;
    if (nx != m->nx || ny != m->ny)
        return fit_fail(err, FIT_ERR_DATA, "%s: %s has %zu x %zu pixels, Stokes I %zu x %zu", fit_h5_file(h), path, ny,
                        nx, m->ny, m->nx);
    if ((st = fit_h5_read_into(h, path, value, nx * ny, err)) != FIT_OK)
        return st;
    for (size_t i = 0; i < nx * ny; i++)
        if (!isfinite(value[i]))
            return fit_fail(err, FIT_ERR_DATA, "%s: %s: the pixel in row %zu, column %zu is %g", fit_h5_file(h), path,
                            i / nx, i % nx, value[i]);
    return FIT_OK;
}

static enum fit_status read_numbers(const struct fit_h5 *h, const char *path, struct fit_sky *m,
                                    struct fit_error *err)
{
    struct {
        const char *name;
        double *to;
    } n[] = {{"psize", &m->pixel}, {"ra_h", &m->ra}, {"dec_deg", &m->dec}, {"rf", &m->frequency}, {"mjd", &m->mjd}};
    enum fit_status st = FIT_OK;
    for (size_t k = 0; k < sizeof n / sizeof *n && st == FIT_OK; k++)
        st = number(h, path, n[k].name, n[k].to, err);
    char *object = NULL;
    if (fit_h5_has_attr(h, path, "object") && fit_h5_read_attr_string(h, path, "object", &object, NULL) == FIT_OK)
        m->object = fit_arena_string(&m->arena, object);
    free(object);
    return st == FIT_OK && m->arena.failed ? fit_no_memory(err, fit_h5_file(h)) : st;
}

/* PATH_alpha; of GROUP/image also GROUP/alpha. */
static enum fit_status read_spectrum(const struct fit_h5 *h, const char *path, const char *name, struct fit_sky *m,
                                     double **map, struct fit_error *err)
{
    static const char image[] = "image";
    const size_t n = strlen(path), tail = sizeof image - 1;
    char plane[PATH];
    snprintf(plane, sizeof plane, "%s_%s", path, name);
    if (fit_h5_kind(h, plane) != FIT_H5_NUMBER && n > tail && path[n - tail - 1] == '/' &&
        strcmp(path + n - tail, image) == 0)
        snprintf(plane, sizeof plane, "%.*s%s", (int)(n - tail), path, name);
    if (fit_h5_kind(h, plane) != FIT_H5_NUMBER)
        return FIT_OK;
    *map = fit_take(&m->arena, m->nx * m->ny, sizeof **map);
    return *map ? read_plane(h, plane, m, *map, err) : fit_no_memory(err, fit_h5_file(h));
}

static enum fit_status read_planes(const struct fit_h5 *h, const char *path, struct fit_sky *m, struct fit_error *err)
{
    enum fit_status st = read_numbers(h, path, m, err);
    for (int s = 0; s < FIT_STOKES && st == FIT_OK; s++) {
        char plane[PATH];
        snprintf(plane, sizeof plane, "%s%s", path, suffix[s]);
        if (s && fit_h5_kind(h, plane) != FIT_H5_NUMBER)
            continue;
        if (s && !fit_image_add_stokes(m, (enum fit_stokes)s))
            return fit_no_memory(err, fit_h5_file(h));
        st = read_plane(h, plane, m, m->stokes[s], err);
    }
    st = st == FIT_OK ? read_spectrum(h, path, "alpha", m, &m->alpha, err) : st;
    st = st == FIT_OK ? read_spectrum(h, path, "beta", m, &m->beta, err) : st;
    fit_notes_copy(&m->notes, fit_h5_notes(h));
    return st;
}

static enum fit_status read_hdf5(const char *file, const char *path, struct fit_sky **image, struct fit_error *err)
{
    struct fit_h5 *h = NULL;
    size_t nx, ny;
    enum fit_status st = fit_h5_open(file, &h, err);
    if (st == FIT_OK)
        st = shape(h, path, &nx, &ny, err);
    if (st == FIT_OK) {
        *image = fit_image_new(nx, ny);
        st = *image ? read_planes(h, path, *image, err) : fit_no_memory(err, file);
    }
    fit_h5_close(h);
    return st;
}

enum fit_status fit_image_read(const char *name, struct fit_sky **image, struct fit_error *err)
{
    FIT_SCRATCH(a);
    const char *path;
    char *file = fit_obs_split(&a, name, &path);
    *image = NULL;
    if (!file)
        return fit_no_memory(err, name);
    enum fit_status st;
    if (!fit_fits_is_fits(file))
        st = read_hdf5(file, path ? path : "/image", image, err);
    else if (path)
        st = fit_fail(err, FIT_ERR_DATA, "%s: a FITS file has no dataset %s", file, path);
    else
        st = fit_image_read_fits(file, image, err);
    if (st != FIT_OK) {
        fit_image_free(*image);
        *image = NULL;
    }
    return st;
}

/* ---- writing ---------------------------------------------------------------------------------------- */

static void put(struct fit_h5r *w, const char *path, const struct fit_sky *m)
{
    for (int s = 0; s < FIT_STOKES; s++) {
        char plane[PATH];
        snprintf(plane, sizeof plane, "%s%s", path, suffix[s]);
        if (m->stokes[s])
            fit_h5r_reals(w, plane, 2, (size_t[]){m->ny, m->nx}, m->stokes[s], "Jy/pixel");
    }
    const struct {
        const char *name;
        double value;
    } n[] = {{"psize", m->pixel}, {"ra_h", m->ra},         {"dec_deg", m->dec},    {"rf", m->frequency},
             {"mjd", m->mjd},     {"xdim", (double)m->nx}, {"ydim", (double)m->ny}};
    for (size_t k = 0; k < sizeof n / sizeof *n; k++)
        if (!isnan(n[k].value))
            fit_h5r_attribute_real(w, path, n[k].name, n[k].value);
    if (*m->object)
        fit_h5r_attribute(w, path, "object", m->object);
}

static enum fit_status put_hdf5(const char *file, const char *path, const struct fit_sky *m, struct fit_error *err)
{
    struct fit_h5r w;
    enum fit_status st = fit_h5r_create(file, &w, err);
    if (st != FIT_OK)
        return st;
    put(&w, path, m);
    return fit_h5r_close(&w, err);
}

static int is_fits_name(const char *file)
{
    size_t n = strlen(file);
    return n > 5 && !strcmp(file + n - 5, ".fits");
}

enum fit_status fit_image_write(const char *name, const struct fit_sky *image, struct fit_error *err)
{
    FIT_SCRATCH(a);
    struct fit_output out;
    const char *path, *temporary;
    char *file = fit_obs_split(&a, name, &path);
    enum fit_status st = file ? fit_output_one(&out, file, &temporary, err) : fit_no_memory(err, name);
    if (st != FIT_OK)
        return st;
    st = is_fits_name(file) ? fit_image_put_fits(temporary, image, err)
                            : put_hdf5(temporary, path ? path : "/image", image, err);
    if (st == FIT_OK)
        return fit_output_commit(&out, err);
    fit_output_abandon(&out);
    return st;
}
