/* closures_file.c -- closures that an HDF5 file holds beside its visibilities (closures.h, fit_product_read). */
#include "observation/closures_impl.h"

#include "hdf5/reader.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATH = 64 };

/* n numbers of /NAME/member. */
static enum fit_status column(const struct fit_h5 *h, enum fit_product_kind kind, const char *member, size_t n,
                              double *value, struct fit_error *err)
{
    char path[PATH];
    int rank;
    size_t dims[FIT_H5_RANK], all = 1;
    snprintf(path, sizeof path, "/%s/%s", fit_product_name(kind), member);
    enum fit_status st = fit_h5_shape(h, path, &rank, dims, err);
    if (st != FIT_OK)
        return st;
    for (int k = 0; k < rank; k++)
        all *= dims[k];
    if (all != n)
        return fit_fail(err, FIT_ERR_DATA, "%s: %s has %zu numbers, not %zu", fit_h5_file(h), path, all, n);
    return fit_h5_read_into(h, path, value, n, err);
}

static enum fit_status legs(const struct fit_h5 *h, const struct fit_obs *obs, struct fit_product *p,
                            struct fit_error *err)
{
    FIT_SCRATCH(a);
    size_t n = p->n * (size_t)p->nleg;
    double *x = fit_take(&a, n, sizeof *x);
    p->leg = fit_take(&p->arena, n, sizeof *p->leg);
    if (!x || !p->leg)
        return fit_no_memory(err, fit_h5_file(h));
    enum fit_status st = column(h, p->kind, "leg_row_signed1", n, x, err);
    for (size_t i = 0; st == FIT_OK && i < n; i++) {
        if (!(fabs(x[i]) >= 1 && fabs(x[i]) <= (double)obs->n && x[i] == floor(x[i])))
            return fit_fail(err, FIT_ERR_DATA, "%s: /%s/leg_row_signed1: %g is not a row: +-1 to +-%zu", fit_h5_file(h),
                            fit_product_name(p->kind), x[i], obs->n);
        p->leg[i] = (int32_t)x[i];
    }
    return st;
}

static enum fit_status check(const struct fit_h5 *h, const struct fit_product *p, struct fit_error *err)
{
    for (size_t i = 0; i < p->n; i++)
        if (!isfinite(p->data[i]) || (p->imag && !isfinite(p->imag[i])) || !(p->sigma[i] > 0))
            return fit_fail(err, FIT_ERR_DATA, "%s: /%s: row %zu has the value %g and sigma %g", fit_h5_file(h),
                            fit_product_name(p->kind), i + 1, p->data[i], p->sigma[i]);
    return FIT_OK;
}

static enum fit_status read_all(const struct fit_h5 *h, const struct fit_obs *obs, struct fit_product *p,
                                struct fit_error *err)
{
    char path[PATH];
    int rank;
    size_t dims[FIT_H5_RANK];
    snprintf(path, sizeof path, "/%s/sigma", fit_product_name(p->kind));
    enum fit_status st = fit_h5_shape(h, path, &rank, dims, err);
    if (st != FIT_OK)
        return st;
    p->n = dims[0];
    if ((st = fit_product_take(p, err)) != FIT_OK || (st = legs(h, obs, p, err)) != FIT_OK ||
        (st = column(h, p->kind, p->imag ? "data_re" : "data", p->n, p->data, err)) != FIT_OK ||
        (st = column(h, p->kind, "sigma", p->n, p->sigma, err)) != FIT_OK)
        return st;
    if (p->imag && (st = column(h, p->kind, "data_im", p->n, p->imag, err)) != FIT_OK)
        return st;
    return check(h, p, err);
}

enum fit_status fit_product_read(const char *file, const struct fit_obs *obs, enum fit_product_kind kind,
                                 struct fit_product **p, struct fit_error *err)
{
    struct fit_h5 *h = NULL;
    char path[PATH];
    *p = NULL;
    enum fit_status st = fit_h5_open(file, &h, err);
    if (st != FIT_OK)
        return st;
    snprintf(path, sizeof path, "/%s/leg_row_signed1", fit_product_name(kind));
    if (fit_h5_kind(h, path) == FIT_H5_NUMBER) {
        struct fit_product *made = fit_product_new(kind);
        st = made ? read_all(h, obs, made, err) : fit_no_memory(err, file);
        if (st == FIT_OK)
            *p = made;
        else
            fit_product_free(made);
    }
    fit_h5_close(h);
    return st;
}
