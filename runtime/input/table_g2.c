/* table_g2.c -- correlation functions g2(delay) of many bins in result files of beamlines, as a table: a row for each
 * bin and delay, with the columns delay (s), g2, sigma, q (1/angstrom), phi (deg), bin (from 1).
 *
 *   boost_corr   /xpcs/multitau/normalized_g2 (delay, bin), normalized_g2_err, delay_list in frames; q and azimuths of
 *                the cells of /xpcs/qmap
 *   xpcs-eigen   <output>/norm-0-g2 (delay, bin), norm-0-stderr, tau in frames; /xpcs/dqlist, dphilist
 *   NXxpcs       ENTRY/data/g2 (delay, bin), g2_derr, delay_difference in frames; ENTRY/instrument/masks
 *   pyCHX        /g2 (delay, bin), /taus in s; attributes of /qval_dict
 *
 * Rows without a value, or with an error that is not positive, are left out.
 */
#include "base/arena.h"
#include "base/units.h"
#include "hdf5/reader.h"
#include "input/table_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 300, DELAY, G2, SIGMA, Q, PHI, BIN, COLUMNS = BIN - DELAY + 1 };

struct curves {
    struct fit_h5 *h;
    size_t ndelay, nbin;
    double *delay, *g2, *sigma; /* ndelay; ndelay x nbin; the same, or NULL */
    double *q, *phi;            /* nbin */
    struct fit_arena storage;
};

/* The paths of a layout; NULL: it has none. Several paths are tried in turn. */
struct places {
    const char *g2, *sigma, *delay;
    int in_frames;
    const char *period[3], *stride, *average;
    const char *q, *phi;
    enum { BY_BIN, GRID, ATTRIBUTES } labels;
};

static int is_number(const struct curves *c, const char *path)
{
    return path && fit_h5_kind(c->h, path) == FIT_H5_NUMBER;
}

/* Numbers of a dataset, converted to the unit `wanted` if it states another; *v stays NULL when it does not exist. */
static enum fit_status take(struct curves *c, const char *path, const char *wanted, double **v, size_t *n,
                            struct fit_error *err)
{
    FIT_OWNED double *read = NULL;
    FIT_OWNED char *unit = NULL;
    struct fit_unit_factor f = {1, 1};
    *v = NULL;
    *n = 0;
    if (!is_number(c, path))
        return FIT_OK;
    enum fit_status st = fit_h5_read_doubles(c->h, path, &read, n, err);
    if (st == FIT_OK && wanted)
        st = fit_h5_read_unit(c->h, path, &unit, err);
    if (st != FIT_OK)
        return st;
    if (unit && fit_unit_between(unit, wanted, &f) != FIT_QUANTITY_CONVERTED)
        return fit_fail(err, FIT_ERR_DATA, "%s: the unit of %s is '%.60s'; expected is %s, or a unit that becomes one",
                        fit_h5_file(c->h), path, unit, wanted);
    for (size_t i = 0; i < *n; i++)
        read[i] = fit_unit_apply(f, read[i]);
    *v = fit_take_copy(&c->storage, read, *n, sizeof **v);
    return *v ? FIT_OK : fit_no_memory(err, fit_h5_file(c->h));
}

/* A single number, or `otherwise`. */
static double one(struct curves *c, const char *path, const char *unit, double otherwise)
{
    double *v;
    size_t n;
    return path && take(c, path, unit, &v, &n, NULL) == FIT_OK && n && v[0] > 0 && isfinite(v[0]) ? v[0] : otherwise;
}

/* ---- delays ---------------------------------------------------------------------------------- */

static enum fit_status take_delays(struct curves *c, const struct places *p, struct fit_error *err)
{
    size_t n;
    enum fit_status st = take(c, p->delay, p->in_frames ? NULL : "s", &c->delay, &n, err);
    if (st != FIT_OK)
        return st;
    if (n != c->ndelay)
        return fit_fail(err, FIT_ERR_DATA, "%s: %s has %zu values, %s has %zu delays", fit_h5_file(c->h), p->delay, n,
                        p->g2, c->ndelay);
    double period = p->in_frames ? NAN : 1;
    for (size_t k = 0; k < 3 && isnan(period); k++)
        period = one(c, p->period[k], "s", NAN);
    if (isnan(period))
        return fit_fail(err, FIT_ERR_DATA, "%s: %s is in frames, and the file does not give their period (%s)",
                        fit_h5_file(c->h), p->delay, p->period[0]);
    if (p->in_frames)
        period *= one(c, p->stride, NULL, 1) * one(c, p->average, NULL, 1);
    for (size_t i = 0; i < n; i++)
        c->delay[i] *= period;
    return FIT_OK;
}

/* ---- labels ---------------------------------------------------------------------------------- */

static void label(double *to, size_t nbin, const double *v, size_t n)
{
    for (size_t k = 0; k < nbin; k++)
        to[k] = n == 1 ? v[0] : k < n ? v[k] : NAN;
}

/* Bin b is cell mapping[b] of the grid, or cell b: i0 n1 + i1. */
static enum fit_status label_grid(struct curves *c, const double *q, size_t nq, const double *phi, size_t nphi,
                                  struct fit_error *err)
{
    double *cell;
    size_t n;
    enum fit_status st = take(c, "/xpcs/qmap/dynamic_index_mapping", NULL, &cell, &n, err);
    for (size_t k = 0; st == FIT_OK && nphi && k < c->nbin; k++) {
        const double at = cell && k < n ? cell[k] : cell ? NAN : (double)k;
        if (!(at >= 0 && at < (double)nq * (double)nphi))
            continue;
        c->q[k] = q[(size_t)at / nphi];
        c->phi[k] = phi[(size_t)at % nphi];
    }
    return st;
}

static void label_attributes(struct curves *c)
{
    for (size_t k = 0; k < c->nbin; k++) {
        char name[24];
        double *v;
        size_t n;
        snprintf(name, sizeof name, "%zu", k);
        if (fit_h5_read_attr_doubles(c->h, "/qval_dict", name, &v, &n, NULL) != FIT_OK)
            continue;
        c->q[k] = n > 0 ? v[0] : NAN;
        c->phi[k] = n > 1 ? v[1] : NAN;
        free(v);
    }
}

static enum fit_status take_labels(struct curves *c, const struct places *p, struct fit_error *err)
{
    double *q, *phi;
    size_t nq, nphi;
    for (size_t k = 0; k < c->nbin; k++)
        c->q[k] = c->phi[k] = NAN;
    if (p->labels == ATTRIBUTES) {
        label_attributes(c);
        return FIT_OK;
    }
    enum fit_status st = take(c, p->q, "1/angstrom", &q, &nq, err);
    if (st == FIT_OK)
        st = take(c, p->phi, p->labels == GRID || !strstr(p->phi, "masks") ? "deg" : NULL, &phi, &nphi, err);
    if (st != FIT_OK)
        return st;
    if (p->labels == GRID)
        return q && phi ? label_grid(c, q, nq, phi, nphi, err) : FIT_OK;
    if (q)
        label(c->q, c->nbin, q, nq);
    if (phi)
        label(c->phi, c->nbin, phi, nphi);
    return FIT_OK;
}

/* ---- the table ------------------------------------------------------------------------------- */

static int is_good(const struct curves *c, size_t i, size_t k)
{
    const size_t at = i * c->nbin + k;
    return isfinite(c->g2[at]) && (!c->sigma || (c->sigma[at] > 0 && isfinite(c->sigma[at])));
}

static size_t count_rows(const struct curves *c, size_t only)
{
    size_t n = 0;
    for (size_t k = 0; k < c->nbin; k++)
        for (size_t i = 0; i < c->ndelay && (!only || only == k + 1); i++)
            n += is_good(c, i, k) ? 1 : 0;
    return n;
}

static enum fit_status make_table(const struct curves *c, size_t only, struct fit_table **out, struct fit_error *err)
{
    static const char *const name[] = {"delay", "g2", "sigma", "q", "phi", "bin"};
    const size_t rows = count_rows(c, only);
    struct fit_table *t = fit_table_new(rows, COLUMNS);
    if (!(*out = t))
        return fit_no_memory(err, fit_h5_file(c->h));
    for (size_t k = 0; k < COLUMNS; k++)
        if (!fit_table_set_name(t, k, name[k], strlen(name[k])))
            return fit_no_memory(err, fit_h5_file(c->h));
    size_t r = 0;
    for (size_t k = 0; k < c->nbin; k++)
        for (size_t i = 0; i < c->ndelay && (!only || only == k + 1); i++) {
            if (!is_good(c, i, k))
                continue;
            const double row[] = {
                c->delay[i], c->g2[i * c->nbin + k], c->sigma ? c->sigma[i * c->nbin + k] : NAN, c->q[k],
                c->phi[k],   (double)(k + 1)};
            for (size_t j = 0; j < COLUMNS; j++)
                t->column[j][r] = row[j];
            r++;
        }
    t->unordered = 1;
    t->ncurve = only ? 1 : c->nbin;
    if (!c->sigma) /* no errors: its column is given up */
        fit_table_set_name(t, SIGMA - DELAY, "-", 1);
    const size_t all = only ? c->ndelay : c->ndelay * c->nbin;
    if (rows < all)
        fit_notes_add(&t->notes, "%s: %zu of %zu values of g2 are missing, or have no positive error, and are left out",
                      fit_h5_file(c->h), all - rows, all);
    return FIT_OK;
}

static enum fit_status read_places(struct curves *c, const struct places *p, size_t only, struct fit_table **out,
                                   struct fit_error *err)
{
    int rank;
    size_t dims[FIT_H5_RANK], n;
    enum fit_status st = fit_h5_shape(c->h, p->g2, &rank, dims, err);
    if (st != FIT_OK || rank != 2 || !dims[0] || !dims[1])
        return st; /* columns, or a matrix of something else */
    c->ndelay = dims[0];
    c->nbin = dims[1];
    if (only > c->nbin)
        return fit_fail(err, FIT_ERR_DATA, "%s: bin %zu is not there; %s has %zu", fit_h5_file(c->h), only, p->g2,
                        c->nbin);
    c->q = fit_take(&c->storage, c->nbin, sizeof *c->q);
    c->phi = fit_take(&c->storage, c->nbin, sizeof *c->phi);
    if (c->storage.failed)
        return fit_no_memory(err, fit_h5_file(c->h));
    if ((st = take(c, p->g2, NULL, &c->g2, &n, err)) != FIT_OK ||
        (st = take(c, p->sigma, NULL, &c->sigma, &n, err)) != FIT_OK)
        return st;
    if (c->sigma && n != c->ndelay * c->nbin)
        return fit_fail(err, FIT_ERR_DATA, "%s: %s has %zu values, %s %zu", fit_h5_file(c->h), p->sigma, n, p->g2,
                        c->ndelay * c->nbin);
    if ((st = take_delays(c, p, err)) != FIT_OK || (st = take_labels(c, p, err)) != FIT_OK)
        return st;
    return make_table(c, only, out, err);
}

/* ---- layouts --------------------------------------------------------------------------------- */

#define QMAP "/xpcs/qmap"
#define MULTITAU "/xpcs/multitau"
#define FRAME_TIME "/entry/instrument/detector_1/frame_time"
#define EXPOSURE "/measurement/instrument/detector/exposure_period"

static const struct places known[] = {
    {MULTITAU "/normalized_g2",
     MULTITAU "/normalized_g2_err",
     MULTITAU "/delay_list",
     1,
     {FRAME_TIME, EXPOSURE, NULL},
     MULTITAU "/config/stride_frame",
     MULTITAU "/config/avg_frame",
     QMAP "/dynamic_v_list_dim0",
     QMAP "/dynamic_v_list_dim1",
     GRID},
    {"/exchange/norm-0-g2",
     "/exchange/norm-0-stderr",
     "/exchange/tau",
     1,
     {EXPOSURE, "/measurement/instrument/detector/exposure_time", FRAME_TIME},
     "/xpcs/stride_frames",
     "/xpcs/avg_frames",
     "/xpcs/dqlist",
     "/xpcs/dphilist",
     BY_BIN},
    {"/entry/data/g2",
     "/entry/data/g2_derr",
     "/entry/data/delay_difference",
     1,
     {"/entry/instrument/detector/frame_time", FRAME_TIME, NULL},
     NULL,
     NULL,
     "/entry/instrument/masks/dynamic_q_list",
     "/entry/instrument/masks/dynamic_phi_list",
     BY_BIN},
    {"/entry/XPCS/data/g2",
     "/entry/XPCS/data/g2_derr",
     "/entry/XPCS/data/delay_difference",
     1,
     {"/entry/XPCS/instrument/detector/frame_time", "/entry/instrument/detector/frame_time", FRAME_TIME},
     NULL,
     NULL,
     "/entry/XPCS/instrument/masks/dynamic_q_list",
     "/entry/XPCS/instrument/masks/dynamic_phi_list",
     BY_BIN},
    {"/g2", NULL, "/taus", 0, {NULL, NULL, NULL}, NULL, NULL, NULL, NULL, ATTRIBUTES}};

/* "3": the number of a bin; 0: not a number. */
static size_t bin_of(const char *dataset)
{
    char *end;
    const long n = dataset ? strtol(dataset, &end, 10) : 0;
    return dataset && *dataset && !*end && n > 0 ? (size_t)n : 0;
}

enum fit_status fit_table_g2(struct fit_h5 *h, const char *dataset, struct fit_table **out, struct fit_error *err)
{
    struct curves c = {.h = h};
    const size_t only = bin_of(dataset);
    *out = NULL;
    if (dataset && !only)
        return FIT_OK;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (!is_number(&c, known[k].g2) || !is_number(&c, known[k].delay))
            continue;
        const enum fit_status st = read_places(&c, &known[k], only, out, err);
        fit_arena_free(&c.storage);
        return st;
    }
    return FIT_OK;
}
