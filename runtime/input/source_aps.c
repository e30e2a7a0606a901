/* source_aps.c -- result files of APS 8-ID-I and 9-ID: boost_corr (aps_u) and xpcs-eigen
 * (aps_legacy).
 *
 * aps_u.  Matrix k is the k-th name c2_00001, c2_00002, ... and has the bin label
 * processed_bins[k].  The cell of bin b on the (q, phi) grid is dynamic_index_mapping[b - 1] = i0
 * n1 + i1: the program that makes the grid (pySimpleMask) leaves out empty cells and numbers the
 * others.  Without a mapping the cell is b - 1.
 *
 * aps_legacy.  The number in g2_00017 is the bin label; q and phi are dqlist[16] and dphilist[16].
 * The name of the output group stands in /xpcs/output_data.
 */
#include "base/arena.h"
#include "input/source_impl.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAP "/xpcs/twotime/correlation_map"
#define QMAP "/xpcs/qmap"

/* ---- names of matrices ----------------------------------------------------------------------- */

/* The number at the end of a name, or -1. */
static long trailing_number(const char *name)
{
    size_t n = strlen(name), i = n;
    while (i && isdigit((unsigned char)name[i - 1]))
        i--;
    return i == n || n - i > 9 ? -1 : strtol(name + i, NULL, 10);
}

/* By number, so that c2_2 comes before c2_10; names without one in the order of their bytes. */
static int by_number(const void *a, const void *b)
{
    const char *x = *(char *const *)a, *y = *(char *const *)b;
    long i = trailing_number(x), j = trailing_number(y);
    return i != j ? (i < j ? -1 : 1) : strcmp(x, y);
}

/* Key and shape of matrix k. */
static enum fit_status list_matrix(struct fit_source *s, size_t k, const char *name, const char *group,
                                   struct fit_error *err)
{
    struct fit_source_private *p = s->private_;
    char path[512];
    struct fit_cube c;
    int rank;
    size_t dims[FIT_H5_RANK];
    if (strlen(name) >= sizeof s->matrix[k].key)
        return fit_fail(err, FIT_ERR_DATA, "%s: the name %s/%.40s... is too long", s->file, group, name);
    snprintf(s->matrix[k].key, sizeof s->matrix[k].key, "%s", name);
    snprintf(path, sizeof path, "%s%s", p->group, name);
    enum fit_status st = fit_h5_shape(p->h5, path, &rank, dims, err);
    if (st != FIT_OK)
        return st;
    if (rank != 2)
        return fit_fail(err, FIT_ERR_DATA, "%s: %s has %d dimensions; a matrix N x N was expected", s->file, path,
                        rank);
    if ((st = fit_cube_shape(s, path, rank, dims, &c, err)) != FIT_OK)
        return st;
    if (k && c.nframe != s->nframe)
        return fit_fail(err, FIT_ERR_DATA, "%s: %s is %zu x %zu, the matrices before are %zu x %zu", s->file, path,
                        c.nframe, c.nframe, s->nframe, s->nframe);
    s->nframe = c.nframe;
    return FIT_OK;
}

enum fit_status fit_source_list_matrices(struct fit_source *s, const char *group, struct fit_error *err)
{
    struct fit_source_private *p = s->private_;
    char **name = NULL;
    size_t n = 0;
    enum fit_status st = fit_h5_list(p->h5, group, &name, &n, err);
    if (st != FIT_OK)
        return st;
    if (n == 0)
        st = fit_fail(err, FIT_ERR_DATA, "%s: %s is empty: no two-time matrices", s->file, group);
    else
        st = fit_source_matrices(s, n, err);
    if (st != FIT_OK)
        goto done;
    qsort(name, n, sizeof *name, by_number);
    snprintf(p->group, sizeof p->group, "%s/", group);
    for (size_t k = 0; k < n && st == FIT_OK; k++)
        st = list_matrix(s, k, name[k], group, err);
done:
    fit_h5_free_strings(name, n);
    return st;
}

enum fit_status fit_source_read_member(struct fit_source *s, size_t k, double *m, struct fit_error *err)
{
    char path[512];
    snprintf(path, sizeof path, "%s%s", s->private_->group, s->matrix[k].key);
    return fit_h5_read_into(s->private_->h5, path, m, s->nframe * s->nframe, err);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* A positive number, or NaN when it is missing. */
static double positive(const struct fit_source *s, const char *path)
{
    double v;
    if (fit_h5_kind(s->private_->h5, path) != FIT_H5_NUMBER ||
        fit_h5_read_scalar(s->private_->h5, path, &v, NULL) != FIT_OK || !(v > 0) || !isfinite(v))
        return NAN;
    return v;
}

/* A period of frames, s, in the unit that the file states; NaN when it is missing. */
static enum fit_status read_period(struct fit_source *s, const char *path, double *period, struct fit_error *err)
{
    *period = positive(s, path);
    return isnan(*period) ? FIT_OK : fit_source_units(s, path, "dt", period, 1, err);
}

static void set_dt(struct fit_source *s, const char *name, double period, const char *stride_path,
                   const char *avg_path)
{
    double stride = positive(s, stride_path), avg = positive(s, avg_path);
    if (isnan(period))
        return;
    stride = isnan(stride) ? 1 : stride;
    avg = isnan(avg) ? 1 : avg;
    s->dt = period * stride * avg;
    snprintf(s->dt_text, sizeof s->dt_text, "%s x stride x avg = %.9g x %g x %g s", name, period,
             stride, avg);
}

/* A time axis with one value per frame, from the first of the paths that is there. */
static enum fit_status time_axis(struct fit_source *s, const char *const *path,
                                 struct fit_error *err)
{
    for (; *path; path++) {
        double *t;
        size_t n;
        if (fit_h5_kind(s->private_->h5, *path) != FIT_H5_NUMBER)
            continue;
        enum fit_status st = fit_h5_read_doubles(s->private_->h5, *path, &t, &n, err);
        if (st == FIT_OK)
            st = fit_source_time_units(s, *path, t, n, err);
        free(t);
        return st;
    }
    return FIT_OK;
}

/* ---- aps_u ----------------------------------------------------------------------------------- */

static int detect_aps_u(const struct fit_source *s)
{
    return fit_h5_kind(s->private_->h5, QMAP "/dynamic_v_list_dim0") == FIT_H5_NUMBER &&
           fit_h5_kind(s->private_->h5, MAP) == FIT_H5_GROUP;
}

/* Refuses grids with axes other than q and phi, which would otherwise silently be taken for them. */
static enum fit_status check_map_names(const struct fit_source *s, struct fit_error *err)
{
    char **name;
    size_t n;
    enum fit_status st = FIT_OK;
    if (fit_h5_kind(s->private_->h5, QMAP "/map_names") != FIT_H5_TEXT)
        return FIT_OK;
    if ((st = fit_h5_read_strings(s->private_->h5, QMAP "/map_names", &name, &n, err)) != FIT_OK)
        return st;
    if (n < 2 || strcasecmp(name[0], "q") != 0 || strcasecmp(name[1], "phi") != 0)
        st = fit_fail(err, FIT_ERR_DATA,
                      "%s: " QMAP "/map_names are %.40s, %.40s; bins of q and phi are needed",
                      s->file, n > 0 ? name[0] : "(none)", n > 1 ? name[1] : "(none)");
    fit_h5_free_strings(name, n);
    return st;
}

struct grid {
    double *q, *phi, *mapping, *bin;
    size_t nq, nphi, nmapping, nbin;
};

static enum fit_status optional(const struct fit_source *s, const char *path, double **v, size_t *n,
                                struct fit_error *err)
{
    if (fit_h5_kind(s->private_->h5, path) != FIT_H5_NUMBER)
        return FIT_OK;
    return fit_h5_read_doubles(s->private_->h5, path, v, n, err);
}

static enum fit_status read_grid(struct fit_source *s, struct grid *g, struct fit_error *err)
{
    const struct fit_h5 *h = s->private_->h5;
    FIT_OWNED double *points = NULL;
    size_t n = 0;
    enum fit_status st;
    if ((st = fit_h5_read_doubles(h, QMAP "/dynamic_v_list_dim0", &g->q, &g->nq, err)) != FIT_OK ||
        (st = fit_h5_read_doubles(h, QMAP "/dynamic_v_list_dim1", &g->phi, &g->nphi, err)) !=
            FIT_OK ||
        (st = fit_h5_read_doubles(h, "/xpcs/twotime/processed_bins", &g->bin, &g->nbin, err)) !=
            FIT_OK ||
        (st = optional(s, QMAP "/dynamic_index_mapping", &g->mapping, &g->nmapping, err)) !=
            FIT_OK ||
        (st = optional(s, QMAP "/dynamic_num_pts", &points, &n, err)) != FIT_OK)
        return st;
    if (g->nbin != s->nmatrix)
        st = fit_fail(err, FIT_ERR_DATA,
                      "%s: /xpcs/twotime/processed_bins has %zu bins, " MAP " %zu matrices",
                      s->file, g->nbin, s->nmatrix);
    else if (n >= 2 &&
             (points[0] != (double)g->nq || points[1] != (double)g->nphi)) /* exact: counts */
        st = fit_fail(err, FIT_ERR_DATA,
                      "%s: " QMAP
                      "/dynamic_num_pts says %g x %g cells, the lists of centres have %zu and %zu",
                      s->file, points[0], points[1], g->nq, g->nphi);
    return st;
}

/* The units of the grid: those of the lists themselves, or of /xpcs/qmap/map_units. */
static enum fit_status convert_grid(struct fit_source *s, struct grid *g, struct fit_error *err)
{
    static const char *const list[] = {QMAP "/dynamic_v_list_dim0", QMAP "/dynamic_v_list_dim1"};
    char **map = NULL;
    size_t nmap = 0;
    enum fit_status st = FIT_OK;
    if (fit_h5_kind(s->private_->h5, QMAP "/map_units") == FIT_H5_TEXT)
        st = fit_h5_read_strings(s->private_->h5, QMAP "/map_units", &map, &nmap, err);
    for (size_t k = 0; k < 2 && st == FIT_OK; k++) {
        char *own = NULL;
        st = fit_h5_read_unit(s->private_->h5, list[k], &own, err);
        const char *unit = own ? own : k < nmap && *map[k] ? map[k] : NULL;
        if (st == FIT_OK)
            st = fit_source_convert(s, k ? list[k] : "q", k ? "phi" : "q", unit, k ? g->phi : g->q,
                                    k ? g->nphi : g->nq, err);
        free(own);
    }
    fit_h5_free_strings(map, nmap);
    return st;
}

static enum fit_status label_bins(struct fit_source *s, const struct grid *g, struct fit_error *err)
{
    size_t moved = 0, example = 0, cells = g->nq * g->nphi;
    for (size_t k = 0; k < s->nmatrix; k++) {
        double b = g->bin[k], most = g->mapping ? (double)g->nmapping : (double)cells;
        if (!(b >= 1 && b <= most && b == floor(b)))
            return fit_fail(err, FIT_ERR_DATA,
                            "%s: /xpcs/twotime/processed_bins[%zu] is %g; bins go from 1 to %g",
                            s->file, k, b, most);
        double cell = g->mapping ? g->mapping[(size_t)b - 1] : b - 1;
        if (!(cell >= 0 && cell < (double)cells && cell == floor(cell)))
            return fit_fail(err, FIT_ERR_DATA, "%s: " QMAP "/dynamic_index_mapping[%zu] is %g; the grid has %zu cells",
                            s->file, (size_t)b - 1, cell, cells);
        s->matrix[k].bin = (size_t)b;
        s->matrix[k].q = g->q[(size_t)cell / g->nphi];
        s->matrix[k].phi = g->phi[(size_t)cell % g->nphi];
        if ((size_t)cell != (size_t)b - 1 && !moved++)
            example = k;
    }
    if (!g->mapping)
        fit_notes_add(&s->notes,
                      "%s: no list of which cell of the (q, phi) grid each bin is; bin n is taken for cell n - 1 (" QMAP
                      "/dynamic_index_mapping would tell)",
                      s->file);
    if (moved) {
        size_t wrong = s->matrix[example].bin - 1;
        fit_notes_add(&s->notes,
                      "%s: %zu of %zu bins follow empty cells of masked sectors; labels follow "
                      "dynamic_index_mapping (homodyne would read bin %zu as q = %.6g, phi = %g instead of "
                      "q = %.6g, phi = %g)",
                      s->file, moved, s->nmatrix, wrong + 1, g->q[wrong / g->nphi < g->nq ? wrong / g->nphi : 0],
                      g->phi[wrong % g->nphi], s->matrix[example].q, s->matrix[example].phi);
    }
    return FIT_OK;
}

static enum fit_status open_aps_u(struct fit_source *s, struct fit_error *err)
{
    static const char *const times[] = {"/xpcs/twotime/t", "/xpcs/t", "/exchange/t", NULL};
    struct grid g = {0};
    enum fit_status st;
    if ((st = check_map_names(s, err)) != FIT_OK || (st = fit_source_list_matrices(s, MAP, err)) != FIT_OK ||
        (st = read_grid(s, &g, err)) != FIT_OK)
        goto done;
    if (!g.nq || !g.nphi) {
        st = fit_fail(err, FIT_ERR_DATA, "%s: " QMAP "/dynamic_v_list_dim0 or _dim1 is empty",
                      s->file);
        goto done;
    }
    if ((st = convert_grid(s, &g, err)) != FIT_OK || (st = label_bins(s, &g, err)) != FIT_OK)
        goto done;
    double period;
    if ((st = read_period(s, "/entry/instrument/detector_1/frame_time", &period, err)) != FIT_OK)
        goto done;
    set_dt(s, "frame_time", period,
           "/xpcs/twotime/config/stride_frame", "/xpcs/twotime/config/avg_frame");
    snprintf(s->private_->g2, sizeof s->private_->g2, "/xpcs/twotime/normalized_g2");
    st = time_axis(s, times, err);
done:
    free(g.q);
    free(g.phi);
    free(g.mapping);
    free(g.bin);
    return st;
}

const struct fit_source_layout fit_layout_aps_u = {
    .name = "aps_u", .in_hdf5 = 1, .detect = detect_aps_u, .open = open_aps_u, .read = fit_source_read_member};

/* ---- aps_legacy ------------------------------------------------------------------------------ */

/* The group of results, normally /exchange; reprocessed files name another one, and boost_corr had /xpcs until 2025. */
static void output_group(const struct fit_source *s, char *group, size_t size)
{
    FIT_OWNED char *text = NULL;
    snprintf(group, size, "/exchange");
    if (fit_h5_read_string(s->private_->h5, "/xpcs/output_data", &text, NULL) == FIT_OK && *text &&
        strlen(text) < 100) {
        size_t n = strlen(text);
        while (n > 1 && text[n - 1] == '/')
            text[--n] = 0;
        snprintf(group, size, "%s%s", *text == '/' ? "" : "/", text);
    }
    char path[160];
    snprintf(path, sizeof path, "%s/C2T_all", group);
    if (fit_h5_kind(s->private_->h5, path) != FIT_H5_GROUP &&
        fit_h5_kind(s->private_->h5, "/xpcs/C2T_all") == FIT_H5_GROUP)
        snprintf(group, size, "/xpcs");
}

static int detect_aps_legacy(const struct fit_source *s)
{
    char group[128], path[160];
    output_group(s, group, sizeof group);
    snprintf(path, sizeof path, "%s/C2T_all", group);
    return fit_h5_exists(s->private_->h5, "/xpcs/dqlist") &&
           fit_h5_exists(s->private_->h5, "/xpcs/dphilist") &&
           fit_h5_kind(s->private_->h5, path) == FIT_H5_GROUP;
}

/* Period of the frames: exposure_period if it is positive; xpcs-eigen itself takes exposure_time. When both are
 * present and differ, the user must decide. */
static enum fit_status legacy_dt(struct fit_source *s, struct fit_error *err)
{
    double period, exposure;
    enum fit_status st = read_period(s, "/measurement/instrument/detector/exposure_period", &period, err);
    if (st == FIT_OK)
        st = read_period(s, "/measurement/instrument/detector/exposure_time", &exposure, err);
    if (st != FIT_OK)
        return st;
    if (!isnan(period) && !isnan(exposure) && fabs(period - exposure) > 1e-6 * period) {
        fit_notes_add(
            &s->notes,
            "%s: exposure_period is %.9g s, exposure_time %.9g s; the frame period must come from "
            "the configuration (dt)",
            s->file, period, exposure);
        return FIT_OK;
    }
    const char *name = isnan(period) ? "exposure_time" : "exposure_period";
    period = isnan(period) ? exposure : period;
    if (isnan(period)) {
        name = "frame_time";
        if ((st = read_period(s, "/entry/instrument/detector_1/frame_time", &period, err)) != FIT_OK)
            return st;
    }
    set_dt(s, name, period, "/xpcs/stride_frames", "/xpcs/avg_frames");
    return FIT_OK;
}

static enum fit_status open_aps_legacy(struct fit_source *s, struct fit_error *err)
{
    char group[128], path[160];
    FIT_OWNED double *q = NULL, *phi = NULL;
    size_t nq, nphi;
    enum fit_status st;
    output_group(s, group, sizeof group);
    snprintf(path, sizeof path, "%s/C2T_all", group);
    if ((st = fit_source_list_matrices(s, path, err)) != FIT_OK ||
        (st = fit_h5_read_doubles(s->private_->h5, "/xpcs/dqlist", &q, &nq, err)) != FIT_OK ||
        (st = fit_h5_read_doubles(s->private_->h5, "/xpcs/dphilist", &phi, &nphi, err)) != FIT_OK ||
        (st = fit_source_units(s, "/xpcs/dqlist", "q", q, nq, err)) != FIT_OK ||
        (st = fit_source_units(s, "/xpcs/dphilist", "phi", phi, nphi, err)) != FIT_OK)
        return st;
    for (size_t k = 0; k < s->nmatrix && st == FIT_OK; k++) {
        long bin = trailing_number(s->matrix[k].key);
        if (bin < 1 || (size_t)bin > nq || (size_t)bin > nphi) {
            st = fit_fail(err, FIT_ERR_DATA,
                          "%s: %s/%s: the number is the bin, from 1 to %zu (length of /xpcs/dqlist)",
                          s->file, path, s->matrix[k].key, nq < nphi ? nq : nphi);
        } else {
            s->matrix[k].bin = (size_t)bin;
            s->matrix[k].q = q[bin - 1];
            s->matrix[k].phi = phi[bin - 1];
        }
    }
    if (st != FIT_OK || (st = legacy_dt(s, err)) != FIT_OK)
        return st;
    snprintf(path, sizeof path, "%s/t", group);
    return time_axis(s, (const char *const[]){path, "/xpcs/t", NULL}, err);
}

const struct fit_source_layout fit_layout_aps_legacy = {.name = "aps_legacy",
                                                        .in_hdf5 = 1,
                                                        .detect = detect_aps_legacy,
                                                        .open = open_aps_legacy,
                                                        .read = fit_source_read_member};
