/* source_nexus.c -- layouts in groups below an entry: NeXus NXxpcs, ESRF ID02, European XFEL MID (midtools).
 *
 * NXxpcs (NeXus, contributed definition): ENTRY/twotime/two_time_corr_func, q and azimuths of the regions in
 * ENTRY/instrument/masks, the period of frames in ENTRY/instrument/detector/frame_time. Older writers put all of it
 * below ENTRY/XPCS.
 *
 * ID02: the order is q, then two times, as in the beamline's own readers; one analysis (KEY) of several. Newer files
 * have q in KEY/parameters/q, older ones ranges of q in q_index_min_max (number, lowest, highest) and the numbers in
 * KEY/q_index.
 *
 * midtools: trains, q, two times. A train is an experiment of its own; the mean over all trains is taken, where values
 * are finite.
 */
#include "base/arena.h"
#include "base/units.h"
#include "input/source_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 512 };

/* prefix/name; 0: too long. */
static int join(char path[PATH], const char *prefix, const char *name)
{
    const int n = snprintf(path, PATH, "%s/%s", strcmp(prefix, "/") == 0 ? "" : prefix, name);
    return n > 0 && n < PATH;
}

/* The first group below the root that contains one of `inside`: as root/GROUP/INSIDE up to the last part. */
static int find_entry(const struct fit_source *s, const char *const *inside, const char *leaf, char base[PATH],
                      char entry[PATH])
{
    char **name, path[2 * PATH];
    size_t n;
    int found = 0;
    if (fit_h5_list(s->private_->h5, "/", &name, &n, NULL) != FIT_OK)
        return 0;
    for (size_t i = 0; i < n && !found; i++) {
        if (!join(entry, "/", name[i]) || fit_h5_kind(s->private_->h5, entry) != FIT_H5_GROUP)
            continue;
        for (const char *const *in = inside; *in && !found; in++) {
            snprintf(base, PATH, "%.400s%s", entry, *in);
            snprintf(path, sizeof path, "%s/%s", base, leaf);
            found = fit_h5_exists(s->private_->h5, path);
        }
    }
    fit_h5_free_strings(name, n);
    return found;
}

/* ---- NXxpcs ---------------------------------------------------------------------------------- */

#define TWO_TIME "twotime/two_time_corr_func"

static int find_nexus(const struct fit_source *s, char base[PATH], char entry[PATH])
{
    static const char *const inside[] = {"/XPCS", "/xpcs", "", NULL};
    return find_entry(s, inside, TWO_TIME, base, entry);
}

static int detect_nxxpcs(const struct fit_source *s)
{
    char base[PATH], entry[PATH];
    return find_nexus(s, base, entry);
}

static int attr_is(const struct fit_source *s, const char *path, const char *name, const char *value)
{
    FIT_OWNED char *text = NULL;
    return fit_h5_read_attr_string(s->private_->h5, path, name, &text, NULL) == FIT_OK && strcmp(text, value) == 0;
}

/* One array, or a dataset for each region. */
static enum fit_status use_matrices(struct fit_source *s, const char *path, struct fit_error *err)
{
    struct fit_source_private *p = s->private_;
    if (fit_h5_kind(p->h5, path) == FIT_H5_GROUP)
        return fit_source_list_matrices(s, path, err);
    if (attr_is(s, path, "storage_mode", "data_exchange_keys") || attr_is(s, path, "storage_mode", "other"))
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: %s: this storage_mode of one array is not known; one_array_q_first and one_array_q_last "
                        "are",
                        s->file, path);
    enum fit_status st = fit_source_use_cube(s, path, err);
    if (st == FIT_OK && p->cube.rank == 3 && p->cube.n == s->nframe)
        p->cube.last = attr_is(s, path, "storage_mode", "one_array_q_last");
    return st;
}

static enum fit_status read_nexus(struct fit_source *s, size_t k, double *m, struct fit_error *err)
{
    return *s->private_->group ? fit_source_read_member(s, k, m, err) : fit_source_read_cube(s, k, m, err);
}

/* Attributes that describe the values. */
static void take_attributes(struct fit_source *s, const char *path)
{
    struct fit_source_private *p = s->private_;
    double *base = NULL;
    size_t n = 0;
    p->half = attr_is(s, path, "populated_elements", "all")          ? FIT_HALF_FULL
              : attr_is(s, path, "populated_elements", "upper_half") ? FIT_HALF_UPPER
              : attr_is(s, path, "populated_elements", "lower_half") ? FIT_HALF_LOWER
                                                                     : FIT_HALF_UNKNOWN;
    p->flipped = attr_is(s, path, "time_origin_location", "lower_left");
    if (fit_h5_read_attr_doubles(p->h5, path, "baseline_reference", &base, &n, NULL) == FIT_OK && n &&
        base[0] == 0) { /* exact: 0 or 1 */
        p->baseline = 1;
        fit_notes_add(&s->notes, "%s: the file states a baseline of 0; 1 was added to all values", s->file);
    }
    free(base);
}

/* The definition gives azimuths the unit of q, and writers copy that: such azimuths are degrees. */
static enum fit_status use_azimuths(struct fit_source *s, const char *path, struct fit_error *err)
{
    FIT_OWNED char *unit = NULL;
    FIT_OWNED double *v = NULL;
    struct fit_unit_factor f;
    size_t n;
    if (!fit_source_is_number(s, path))
        return FIT_OK;
    enum fit_status st = fit_h5_read_unit(s->private_->h5, path, &unit, err);
    if (st != FIT_OK || !unit || fit_source_wished_unit(s, "phi") ||
        fit_unit_between(unit, fit_units_of("q"), &f) != FIT_QUANTITY_CONVERTED)
        return st == FIT_OK ? fit_source_use_axis(s, path, FIT_SOURCE_PHI, NULL, err) : st;
    fit_notes_doubt(&s->notes,
                    "%s: the unit of %s is '%.40s', as the definition of NXxpcs has it; they are taken for "
                    "degrees",
                    s->file, path, unit);
    if ((st = fit_h5_read_doubles(s->private_->h5, path, &v, &n, err)) == FIT_OK)
        st = fit_source_label(s, path, 0, v, n, err);
    return st;
}

/* frame_time of the first detector of an instrument that has one. */
static enum fit_status use_frame_time(struct fit_source *s, const char *parent, struct fit_error *err)
{
    char **name = NULL, instrument[PATH], path[2 * PATH];
    size_t n = 0;
    enum fit_status st = FIT_OK;
    if (!isnan(s->dt) || !join(instrument, parent, "instrument") ||
        fit_h5_kind(s->private_->h5, instrument) != FIT_H5_GROUP ||
        fit_h5_list(s->private_->h5, instrument, &name, &n, NULL) != FIT_OK)
        return FIT_OK;
    for (size_t i = 0; i < n && isnan(s->dt) && st == FIT_OK; i++) {
        double period;
        snprintf(path, sizeof path, "%s/%.200s/frame_time", instrument, name[i]);
        if (!fit_source_is_number(s, path) ||
            (st = fit_h5_read_scalar(s->private_->h5, path, &period, err)) != FIT_OK ||
            (st = fit_source_units(s, path, "dt", &period, 1, err)) != FIT_OK)
            continue;
        s->dt = period;
        snprintf(s->dt_text, sizeof s->dt_text, "frame_time = %.9g s", period);
    }
    fit_h5_free_strings(name, n);
    return st;
}

static enum fit_status open_nxxpcs(struct fit_source *s, struct fit_error *err)
{
    char base[PATH], entry[PATH], path[2 * PATH];
    enum fit_status st;
    if (!find_nexus(s, base, entry))
        return fit_fail(err, FIT_ERR_DATA, "%s: no dataset " TWO_TIME " below a group of the root", s->file);
    snprintf(path, sizeof path, "%s/" TWO_TIME, base);
    if ((st = use_matrices(s, path, err)) != FIT_OK)
        return st;
    take_attributes(s, path);
    snprintf(path, sizeof path, "%s/instrument/masks/dynamic_q_list", base);
    if ((st = fit_source_use_axis(s, path, FIT_SOURCE_Q, NULL, err)) != FIT_OK)
        return st;
    snprintf(path, sizeof path, "%s/instrument/masks/dynamic_phi_list", base);
    if ((st = use_azimuths(s, path, err)) != FIT_OK)
        return st;
    snprintf(path, sizeof path, "%s/twotime/time", base);
    if ((st = fit_source_use_axis(s, path, FIT_SOURCE_TIME, NULL, err)) != FIT_OK ||
        (st = use_frame_time(s, base, err)) != FIT_OK)
        return st;
    return use_frame_time(s, entry, err);
}

const struct fit_source_layout fit_layout_nxxpcs = {
    .name = "nxxpcs", .in_hdf5 = 1, .detect = detect_nxxpcs, .open = open_nxxpcs, .read = read_nexus};

/* ---- ESRF ID02 ------------------------------------------------------------------------------- */

enum id02 { NEW, OLD };
static const char *const id02_groups[] = {"/correlations", "/dynamix/correlations/directions"};
static const char *const id02_maps[] = {"twotime", "2times_correlation"};

/* The analyses below a group that have two-time data: their names one after the other in `all`, the first in key. */
static size_t id02_keys(const struct fit_source *s, const char *group, enum id02 kind, char key[PATH], char *all,
                        size_t size)
{
    char **name = NULL, path[2 * PATH];
    size_t n = 0, found = 0;
    *all = 0;
    if (fit_h5_kind(s->private_->h5, group) != FIT_H5_GROUP ||
        fit_h5_list(s->private_->h5, group, &name, &n, NULL) != FIT_OK)
        return 0;
    for (size_t i = 0; i < n; i++) {
        const size_t at = strlen(all);
        snprintf(path, sizeof path, "%s/%.200s/%s/ttcf", group, name[i], id02_maps[kind]);
        if (!fit_source_is_number(s, path))
            continue;
        if (!found++)
            snprintf(key, PATH, "%.400s/%.100s", group, name[i]);
        snprintf(all + at, size - at, "%s%.40s", at ? ", " : "", name[i]);
    }
    fit_h5_free_strings(name, n);
    return found;
}

/* The location of the two-time data in a file: the group of the entry and that of the analysis. */
static size_t find_id02(const struct fit_source *s, enum id02 *kind, char key[PATH], char *all, size_t size)
{
    char group[PATH], entry[PATH];
    for (int k = NEW; k <= OLD; k++) {
        const char *const inside[] = {id02_groups[k], NULL};
        if (!find_entry(s, inside, "", group, entry))
            continue;
        const size_t n = id02_keys(s, group, (enum id02)k, key, all, size);
        *kind = (enum id02)k;
        if (n)
            return n;
    }
    return 0;
}

static int detect_id02(const struct fit_source *s)
{
    enum id02 kind;
    char key[PATH], all[PATH];
    return find_id02(s, &kind, key, all, sizeof all) > 0;
}

/* Centres of the ranges whose numbers stand in KEY/q_index. */
static enum fit_status use_ranges(struct fit_source *s, const char *key, struct fit_error *err)
{
    char path[2 * PATH], table[2 * PATH];
    FIT_OWNED double *index = NULL, *range = NULL, *q = calloc(s->nmatrix, sizeof *q);
    size_t nindex, nrange, rows;
    snprintf(path, sizeof path, "%s/q_index", key);
    snprintf(table, sizeof table, "%.*s/q_index_min_max", (int)(strstr(key, "/directions/") - key), key);
    if (!q)
        return fit_no_memory(err, s->file);
    if (!fit_source_is_number(s, path) || !fit_source_is_number(s, table))
        return FIT_OK;
    enum fit_status st = fit_h5_read_doubles(s->private_->h5, path, &index, &nindex, err);
    if (st != FIT_OK || (st = fit_h5_read_doubles(s->private_->h5, table, &range, &nrange, err)) != FIT_OK)
        return st;
    rows = nrange / 3;
    if (nindex != s->nmatrix || rows * 3 != nrange)
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: %s has %zu numbers for %zu matrices, %s %zu values; three each are "
                        "needed",
                        s->file, path, nindex, s->nmatrix, table, nrange);
    for (size_t k = 0; k < s->nmatrix; k++) {
        q[k] = NAN;
        for (size_t i = 0; i < rows; i++)
            if (range[3 * i] == index[k]) /* exact: small integers */
                q[k] = (range[3 * i + 1] + range[3 * i + 2]) / 2;
        s->matrix[k].bin = index[k] >= 1 ? (size_t)index[k] : 0;
    }
    const char *unit = fit_source_wished_unit(s, "q");
    FIT_OWNED char *said = NULL;
    if ((st = fit_h5_read_unit(s->private_->h5, table, &said, err)) != FIT_OK)
        return st;
    if (!unit && !said)
        fit_notes_add(&s->notes, "%s: %s states no unit; files of this layout have nm^-1", s->file, table);
    st = fit_source_convert(s, table, "q", unit ? unit : said ? said : "nm^-1", q, s->nmatrix, err);
    return st == FIT_OK ? fit_source_label(s, table, 1, q, s->nmatrix, err) : st;
}

static enum fit_status open_id02(struct fit_source *s, struct fit_error *err)
{
    enum id02 kind = NEW;
    char key[PATH], all[PATH], path[2 * PATH];
    size_t n = find_id02(s, &kind, key, all, sizeof all), dims[FIT_H5_RANK];
    int rank;
    enum fit_status st;
    if (!n)
        return fit_fail(err, FIT_ERR_DATA, "%s: no two-time data of ID02 (.../KEY/twotime/ttcf)", s->file);
    snprintf(path, sizeof path, "%s/%s/ttcf", key, id02_maps[kind]);
    if ((st = fit_h5_shape(s->private_->h5, path, &rank, dims, err)) != FIT_OK)
        return st;
    if (rank == 3 && dims[1] != dims[2])
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: %s is %zu x %zu x %zu: maps over age and lag; maps over two times are needed, as many in "
                        "one direction as in the other",
                        s->file, path, dims[0], dims[1], dims[2]);
    if ((st = fit_source_use_cube(s, path, err)) != FIT_OK)
        return st;
    if (n > 1)
        fit_notes_doubt(&s->notes,
                        "%s: several analyses, %.200s: the first is taken; --dataset PATH takes another, now "
                        "%s",
                        s->file, all, path);
    snprintf(path, sizeof path, "%s/parameters/q", key);
    st = kind == OLD ? use_ranges(s, key, err) : fit_source_use_axis(s, path, FIT_SOURCE_Q, "nm^-1", err);
    snprintf(path, sizeof path, "%s/%s/age", key, id02_maps[kind]);
    return st == FIT_OK ? fit_source_use_axis(s, path, FIT_SOURCE_TIME, NULL, err) : st;
}

const struct fit_source_layout fit_layout_id02 = {
    .name = "id02", .in_hdf5 = 1, .detect = detect_id02, .open = open_id02, .read = fit_source_read_cube};

/* ---- European XFEL, MID ---------------------------------------------------------------------- */

#define TRAINS "/train_resolved/correlation"

static int detect_midtools(const struct fit_source *s)
{
    return fit_source_is_number(s, TRAINS "/ttc");
}

static enum fit_status open_midtools(struct fit_source *s, struct fit_error *err)
{
    struct fit_cube *c = &s->private_->cube;
    int rank;
    size_t dims[FIT_H5_RANK];
    enum fit_status st = fit_h5_shape(s->private_->h5, TRAINS "/ttc", &rank, dims, err);
    if (st != FIT_OK || (st = fit_cube_shape(s, TRAINS "/ttc", rank, dims, c, err)) != FIT_OK)
        return st;
    const size_t nq = rank == 4 ? dims[1] : 1;
    snprintf(c->path, sizeof c->path, TRAINS "/ttc");
    s->nframe = c->nframe;
    s->private_->averaged = rank > 2 ? dims[0] : 1;
    if (c->last)
        return fit_fail(err, FIT_ERR_DATA, "%s: " TRAINS "/ttc has q last; trains x q x times x times are needed",
                        s->file);
    c->n = nq;
    if ((st = fit_source_matrices(s, nq, err)) != FIT_OK ||
        (st = fit_source_use_axis(s, TRAINS "/q", FIT_SOURCE_Q, "nm^-1", err)) != FIT_OK ||
        (st = fit_source_use_axis(s, TRAINS "/t", FIT_SOURCE_TIME, NULL, err)) != FIT_OK)
        return st;
    if (s->private_->averaged > 1)
        fit_notes_add(&s->notes, "%s: the mean over %zu trains is taken", s->file, s->private_->averaged);
    return FIT_OK;
}

static enum fit_status read_midtools(struct fit_source *s, size_t k, double *m, struct fit_error *err)
{
    const struct fit_cube *c = &s->private_->cube;
    const size_t n = c->nframe, one = n * n;
    FIT_OWNED double *train = malloc(one * sizeof *train);
    FIT_OWNED uint32_t *count = calloc(one, sizeof *count);
    enum fit_status st = train && count ? FIT_OK : fit_no_memory(err, s->file);
    memset(m, 0, one * sizeof *m);
    for (size_t t = 0; t < s->private_->averaged && st == FIT_OK; t++) {
        const size_t start[] = {t, c->rank == 4 ? k : 0, 0, 0}, counts4[] = {1, 1, n, n}, counts3[] = {1, n, n};
        st = c->rank == 2
                 ? fit_h5_read_into(s->private_->h5, c->path, train, one, err)
                 : fit_h5_read_block(s->private_->h5, c->path, start, c->rank == 4 ? counts4 : counts3, train, err);
        for (size_t i = 0; i < one && st == FIT_OK; i++)
            if (isfinite(train[i])) {
                m[i] += train[i];
                count[i]++;
            }
    }
    for (size_t i = 0; i < one && st == FIT_OK; i++)
        m[i] = count[i] ? m[i] / (double)count[i] : NAN;
    return st;
}

const struct fit_source_layout fit_layout_midtools = {
    .name = "midtools", .in_hdf5 = 1, .detect = detect_midtools, .open = open_midtools, .read = read_midtools};
