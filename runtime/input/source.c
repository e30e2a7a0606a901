/* source.c -- opens a file of two-time matrices: finds its layout and the source of errors; common parts of the
 * layouts. Reading the matrices is source_read.c. */
#include "base/arena.h"
#include "input/source_impl.h"

#include "base/units.h"

#include "base/paths.h"

#include "common/regular.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static const double TURN = 6.2832; /* 2 pi, rounded up */
static const double UNEVEN = 1e-2; /* of the period: largest departure of a time axis from even steps */

enum {
    FRAMES_MIN = 3,
    FRAMES_MAX = 100000,
    MATRICES_MAX = 100000,
    PIECE_BYTES = 4 << 20, /* of a q-last array read at a time */
    BAND_BYTES = 192 << 20 /* of expanded chunks kept for the next matrix */
};

static const struct fit_source_layout *const layouts[] = {
    &fit_layout_aps_u,    &fit_layout_aps_legacy, &fit_layout_chx,          &fit_layout_nxxpcs,
    &fit_layout_id02,     &fit_layout_midtools,   &fit_layout_homodyne_npz, &fit_layout_heterodyne_npz,
    &fit_layout_exchange, &fit_layout_sirius,     &fit_layout_flat,         &fit_layout_npy};

/* ---- helpers of the layouts ------------------------------------------------------------------ */

enum fit_status fit_source_matrices(struct fit_source *s, size_t n, struct fit_error *err)
{
    if (n == 0 || n > MATRICES_MAX)
        return fit_fail(err, FIT_ERR_DATA, "%s: holds %zu two-time matrices", s->file, n);
    if (!(s->matrix = calloc(n, sizeof *s->matrix)))
        return fit_no_memory(err, s->file);
    s->nmatrix = n;
    for (size_t k = 0; k < n; k++) {
        snprintf(s->matrix[k].key, sizeof s->matrix[k].key, "[%zu]", k);
        s->matrix[k].q = s->matrix[k].phi = NAN;
    }
    return FIT_OK;
}

enum fit_status fit_source_label(struct fit_source *s, const char *what, int is_q,
                                 const double *value, size_t n, struct fit_error *err)
{
    if (n != 1 && n != s->nmatrix)
        return fit_fail(err, FIT_ERR_DATA, "%s: %s has %zu values for %zu matrices", s->file, what,
                        n, s->nmatrix);
    for (size_t k = 0; k < s->nmatrix; k++)
        *(is_q ? &s->matrix[k].q : &s->matrix[k].phi) = value[n == 1 ? 0 : k];
    return FIT_OK;
}

/* 0, 1, 2, ... or 1, 2, 3, ...: frame numbers instead of seconds. */
static int counts_frames(const double *t, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (t[i] - t[0] != (double)i || (t[0] != 0 && t[0] != 1)) /* exact: small integers */
            return 0;
    return 1;
}

enum fit_status fit_source_convert(struct fit_source *s, const char *what, const char *name, const char *unit,
                                   double *value, size_t n, struct fit_error *err)
{
    struct fit_unit_factor f;
    if (!unit)
        return FIT_OK;
    const char *wanted = fit_units_of(name);
    const enum fit_quantity kind = fit_unit_between(unit, wanted, &f);
    if (kind != FIT_QUANTITY_CONVERTED)
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: the unit of %s is '%.60s', which %s; expected is %s, or a unit that becomes one: "
                        "correct the file's attribute `units`", s->file, what, unit, fit_quantity_why(kind), wanted);
    if (fit_unit_same(f))
        return FIT_OK;
    for (size_t i = 0; i < n; i++)
        value[i] = fit_unit_apply(f, value[i]);
    fit_notes_add(&s->notes, "%s: %s is stored in %s and was converted to %s", s->file, what, unit, wanted);
    return FIT_OK;
}

static const char *wished(const struct fit_config_column *c, size_t n, const char *role)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(c[i].role, role) == 0)
            return c[i].source;
    return NULL;
}

const char *fit_source_wished_axis(const struct fit_source *s, const char *role)
{
    return wished(s->private_->wish.axis, s->private_->wish.naxis, role);
}

const char *fit_source_wished_unit(const struct fit_source *s, const char *role)
{
    return wished(s->private_->wish.unit, s->private_->wish.nunit, role);
}

/* The unit of a dataset: from the caller, else from the dataset itself. */
static enum fit_status unit_of(struct fit_source *s, const char *path, const char *role, char **unit,
                               struct fit_error *err)
{
    const char *said = fit_source_wished_unit(s, role);
    *unit = NULL;
    if (!said)
        return fit_h5_read_unit(s->private_->h5, path, unit, err);
    *unit = strdup(said);
    return *unit ? FIT_OK : fit_no_memory(err, s->file);
}

enum fit_status fit_source_units(struct fit_source *s, const char *path, const char *name, double *value, size_t n,
                                 struct fit_error *err)
{
    FIT_OWNED char *unit = NULL;
    enum fit_status st = unit_of(s, path, strcmp(name, "dt") == 0 ? "t" : name, &unit, err);
    if (st == FIT_OK)
        st = fit_source_convert(s, path, name, unit, value, n, err);
    return st;
}

enum fit_status fit_source_time_units(struct fit_source *s, const char *path, double *time, size_t n,
                                      struct fit_error *err)
{
    FIT_OWNED char *unit = NULL;
    enum fit_status st = unit_of(s, path, "t", &unit, err);
    const int frames = unit && (strcasecmp(unit, "frame") == 0 || strcasecmp(unit, "frames") == 0);
    if (frames)
        fit_notes_add(&s->notes, "%s: %s holds frame numbers, not seconds", s->file, path);
    s->private_->seconds = unit != NULL;
    if (st == FIT_OK && !frames)
        st = fit_source_convert(s, path, "dt", unit, time, n, err);
    return st == FIT_OK && !frames ? fit_source_time(s, path, time, n, err) : st;
}

enum fit_status fit_source_time(struct fit_source *s, const char *what, const double *time,
                                size_t n, struct fit_error *err)
{
    if (n != s->nframe) {
        fit_notes_add(&s->notes, "%s: %s has %zu values for %zu frames and is not used", s->file, what, n,
                        s->nframe);
        return FIT_OK;
    }
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(time[i]))
            return fit_fail(err, FIT_ERR_DATA, "%s: %s: the time of frame %zu is %g", s->file, what,
                            i + 1, time[i]);
        if (i && !(time[i] > time[i - 1]))
            return fit_fail(
                err, FIT_ERR_DATA,
                "%s: %s: times must increase, but frame %zu has %.9g and frame %zu has %.9g",
                s->file, what, i, time[i - 1], i + 1, time[i]);
    }
    if (!s->private_->seconds && counts_frames(time, n)) {
        fit_notes_add(&s->notes, "%s: %s holds frame numbers, not seconds", s->file, what);
        return FIT_OK;
    }
    if (!(s->time = malloc(n * sizeof *s->time)))
        return fit_no_memory(err, s->file);
    memcpy(s->time, time, n * sizeof *time);
    if (isnan(s->dt)) {
        s->dt = (time[n - 1] - time[0]) / (double)(n - 1);
        snprintf(s->dt_text, sizeof s->dt_text, "mean step of %s = %.9g s", what, s->dt);
    }
    return FIT_OK;
}

enum fit_status fit_cube_shape(const struct fit_source *s, const char *what, int rank,
                               const size_t *dims, struct fit_cube *c, struct fit_error *err)
{
    char shape[96] = "";
    for (int i = 0; i < rank; i++) {
        size_t at = strlen(shape);
        snprintf(shape + at, sizeof shape - at, "%s%zu", i ? " x " : "", dims[i]);
    }
    c->rank = rank;
    c->last = 0;
    if (rank == 2 && dims[0] == dims[1]) {
        c->n = 1;
        c->nframe = dims[0];
    } else if (rank == 3 && dims[1] == dims[2]) {
        c->n = dims[0];
        c->nframe = dims[1];
    } else if (rank == 3 && dims[0] == dims[1]) {
        c->n = dims[2];
        c->nframe = dims[0];
        c->last = 1;
    } else if (rank == 4 && dims[2] == dims[3]) {
        c->n = dims[0] * dims[1];
        c->inner = dims[1];
        c->nframe = dims[2];
    } else {
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: %s is %s; square matrices are needed: N x N, n x N x N, N x N x n or n1 x n2 x N x N",
                        s->file, what, rank ? shape : "one number");
    }
    if (c->nframe < FRAMES_MIN || c->nframe > FRAMES_MAX)
        return fit_fail(err, FIT_ERR_DATA, "%s: %s is %s; %d to %d frames are possible", s->file,
                        what, shape, FRAMES_MIN, FRAMES_MAX);
    return FIT_OK;
}

/* Rows of a q-last array that are read at a time. */
static size_t rows_at_a_time(const struct fit_cube *c)
{
    size_t rows = PIECE_BYTES / sizeof(double) / (c->nframe * c->n);
    return rows < 1 ? 1 : rows < c->nframe ? rows : c->nframe;
}

/* Extracts matrix k from `rows` rows of all matrices. */
static void pick(const struct fit_cube *c, size_t k, const double *piece, size_t rows, double *m)
{
    for (size_t i = 0; i < rows * c->nframe; i++)
        m[i] = piece[i * c->n + k];
}

/* A matrix of a cube in compressed chunks. Its expanded chunks are kept, since the next matrix is usually in the
 * same ones: each is expanded once. */
static enum fit_status read_chunks(struct fit_source *s, const struct fit_cube *c, size_t k, double *m, int *done,
                                   struct fit_error *err)
{
    struct fit_source_private *p = s->private_;
    struct fit_h5_raw *raw = NULL;
    const char *why = NULL;
    const size_t n = c->nframe;
    enum fit_status st = p->set ? FIT_OK : fit_h5_raw_new(0, &p->set, err);
    if (st == FIT_OK)
        st = fit_h5_raw_open(p->set, p->h5, c->path, &raw, &why, err);
    *done = st != FIT_OK || (raw && fit_h5_raw_compressed(raw));
    if (st != FIT_OK || !*done)
        return st;
    const size_t band = fit_h5_raw_band(raw, c->last ? 4u : 1u), item = fit_h5_raw_item(raw);
    fit_h5_raw_keep(p->set, band < BAND_BYTES ? band : BAND_BYTES);
    char *stored = (char *)m + n * n * (sizeof *m - item); /* widened in place */
    st = fit_h5_raw_read(raw, c->last ? (size_t[]){0, 0, k} : (size_t[]){k, 0, 0},
                         c->last ? (size_t[]){n, n, 1} : (size_t[]){1, n, n}, stored, err);
    for (size_t i = 0; st == FIT_OK && item == sizeof(float) && i < n * n; i++) {
        float f;
        memcpy(&f, stored + i * item, sizeof f);
        m[i] = (double)f;
    }
    return st;
}

enum fit_status fit_cube_read_h5(struct fit_source *s, const struct fit_cube *c, size_t k,
                                 double *m, struct fit_error *err)
{
    size_t n = c->nframe, step = rows_at_a_time(c);
    int done;
    if (c->rank == 2)
        return fit_h5_read_into(s->private_->h5, c->path, m, n * n, err);
    if (c->rank == 4)
        return fit_h5_read_block(s->private_->h5, c->path, (size_t[]){k / c->inner, k % c->inner, 0, 0},
                                 (size_t[]){1, 1, n, n}, m, err);
    enum fit_status st = read_chunks(s, c, k, m, &done, err);
    if (done)
        return st;
    if (!c->last)
        return fit_h5_read_block(s->private_->h5, c->path, (size_t[]){k, 0, 0}, (size_t[]){1, n, n},
                                 m, err);
    FIT_OWNED double *piece = malloc(step * n * c->n * sizeof *piece);
    if (!piece)
        return fit_no_memory(err, s->file);
    for (size_t i = 0; i < n && st == FIT_OK; i += step) {
        size_t rows = n - i < step ? n - i : step;
        st = fit_h5_read_block(s->private_->h5, c->path, (size_t[]){i, 0, 0},
                               (size_t[]){rows, n, c->n}, piece, err);
        if (st == FIT_OK)
            pick(c, k, piece, rows, m + i * n);
    }
    return st;
}

enum fit_status fit_cube_read_npz(struct fit_source *s, const struct fit_cube *c, size_t k,
                                  double *m, struct fit_error *err)
{
    size_t n = c->nframe, step = rows_at_a_time(c);
    struct fit_npz *z = s->private_->npz;
    enum fit_status st = FIT_OK;
    if (!c->last)
        return fit_npz_read(z, c->member, k * n * n, n * n, m, err);
    FIT_OWNED double *piece = malloc(step * n * c->n * sizeof *piece);
    if (!piece)
        return fit_no_memory(err, s->file);
    for (size_t i = 0; i < n && st == FIT_OK; i += step) {
        size_t rows = n - i < step ? n - i : step;
        st = fit_npz_read(z, c->member, i * n * c->n, rows * n * c->n, piece, err);
        if (st == FIT_OK)
            pick(c, k, piece, rows, m + i * n);
    }
    return st;
}

/* ---- opening --------------------------------------------------------------------------------- */

enum { LISTED = 90 /* bytes for one object */ };

/* Appends ", NAME (3 x 200 x 200)", or the text `what` about another object. */
static void list_one(const char *name, const char *what, int rank, const size_t *dims, char *text, size_t size)
{
    const int numbers = !what;
    size_t at = strlen(text);
    if (at + LISTED > size)
        return;
    at += (size_t)snprintf(text + at, size - at, "%s%.40s%s", at ? ", " : "", name, numbers ? " (" : "");
    for (int i = 0; numbers && i < rank && at + 24 < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%zu", i ? " x " : "", dims[i]);
    if (numbers && at + 24 < size)
        snprintf(text + at, size - at, "%s", rank ? ")" : "one number)");
    else if (at + 24 < size)
        snprintf(text + at, size - at, " (%s)", what);
}

/* The description of an object without readable numbers; NULL: it has numbers, of this shape. */
static const char *what_is(const struct fit_h5 *h, const char *path, int *rank, size_t *dims, struct fit_error *err)
{
    const enum fit_h5_kind kind = fit_h5_kind(h, path);
    struct fit_error why = {.status = FIT_OK};
    if (kind != FIT_H5_NUMBER && kind != FIT_H5_AWAY)
        return "no numbers";
    if (fit_h5_shape(h, path, rank, dims, &why) == FIT_OK)
        return NULL;
    if (err->status == FIT_OK)
        *err = why;
    return kind == FIT_H5_AWAY ? "a link that leads to nothing" : "cannot be read";
}

/* Datasets of a group, and of its subgroups to this depth. *err: the first that cannot be read. */
static void list_group(const struct fit_h5 *h, const char *group, int depth, char *text, size_t size,
                       struct fit_error *err)
{
    char **name, path[200];
    size_t n;
    struct fit_error why = {.status = FIT_OK};
    if (fit_h5_list(h, group, &name, &n, &why) != FIT_OK) {
        if (err->status == FIT_OK)
            *err = why;
        return;
    }
    for (size_t i = 0; i < n && strlen(text) + LISTED < size; i++) { /* no look at what is not listed */
        int rank = 0;
        size_t dims[FIT_H5_RANK] = {0};
        snprintf(path, sizeof path, "%s/%.60s", strcmp(group, "/") == 0 ? "" : group, name[i]);
        if (depth && fit_h5_kind(h, path) == FIT_H5_GROUP) {
            list_group(h, path, depth - 1, text, size, err);
            continue;
        }
        const char *what = what_is(h, path, &rank, dims, err);
        list_one(path + 1, what, rank, dims, text, size);
    }
    fit_h5_free_strings(name, n);
}

static void list_members(const struct fit_source *s, char *text, size_t size, struct fit_error *err)
{
    text[0] = 0;
    if (s->private_->h5)
        list_group(s->private_->h5, "/", 2, text, size, err);
    for (size_t i = 0; s->private_->npz && i < fit_npz_count(s->private_->npz); i++) {
        const struct fit_npz_array *a = fit_npz_array(s->private_->npz, (int)i);
        list_one(a->name, strchr("fiub", a->kind) ? NULL : "no numbers", a->rank, a->dims, text, size);
    }
}

static enum fit_status not_understood(const struct fit_source *s, struct fit_error *err)
{
    const struct fit_h5 *h = s->private_->h5;
    struct fit_error why = {.status = FIT_OK};
    char members[600], cubes[300];
    int rank = 0;
    size_t dims[FIT_H5_RANK] = {0};
    if (h && fit_h5_exists(h, "/xpcs/multitau") &&
        !fit_h5_exists(h, "/xpcs/twotime/correlation_map")) {
        fit_h5_shape(h, "/xpcs/multitau/normalized_g2", &rank, dims, NULL);
        return fit_fail(
            err, FIT_ERR_DATA,
            "%s: no two-time data. The file holds multi-tau results only (/xpcs/multitau, %zu "
            "bins), which models of tables fit (homodyne models lists them). For two-time data run boost_corr again "
            "with type Twotime or Both.",
            s->file, rank == 2 ? dims[1] : 0);
    }
    fit_source_list_cubes(s, cubes, sizeof cubes);
    list_members(s, members, *cubes ? sizeof members / 2 : sizeof members, &why);
    if (*cubes)
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: no layout of two-time data is recognised; matrices may be %s: --dataset PATH takes one of "
                        "them, --columns q=PATH,phi=PATH,t=PATH what belongs to it. The file holds: %s%s%.300s",
                        s->file, cubes, members, why.status == FIT_OK ? "" : "; ",
                        why.status == FIT_OK ? "" : why.message);
    if (why.status != FIT_OK)
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: no layout of two-time data is recognised; the file holds: %.350s; %.450s", s->file,
                        *members ? members : "nothing that can be read", why.message);
    return fit_fail(err, FIT_ERR_DATA,
                    "%s: no layout of two-time data is recognised; the file holds: %s. The simplest is numbers "
                    "c2 (matrices x frames x frames) at the root of an HDF5 file, beside t, q and phi; "
                    "--layout NAME takes one of the others (docs/aps-to-paper.md)",
                    s->file, *members ? members : "nothing");
}

/* True when the file begins with characters of text only. */
static int is_text(FILE *f)
{
    unsigned char b[512];
    const size_t n = fread(b, 1, sizeof b, f);
    size_t k = 0;
    while (k < n && (b[k] >= ' ' || strchr("\t\r\n", b[k])) && b[k] != 0)
        k++;
    return n > 0 && k == n;
}

static enum fit_status open_container(struct fit_source *s, struct fit_error *err)
{
    struct stat is;
    FILE *f = regular_open(s->file);
    if (!f && stat(s->file, &is) == 0 && S_ISDIR(is.st_mode))
        return fit_fail(err, FIT_ERR_DATA, "%s: is a folder; name a file in it", s->file);
    if (!f)
        return fit_path_missing(s->file, err);
    const int text = is_text(f);
    fclose(f);
    if (fit_npz_is_npz(s->file) || fit_npz_is_npy(s->file))
        return fit_npz_open(s->file, &s->private_->npz, err);
    if (fit_h5_is_hdf5(s->file))
        return fit_h5_open(s->file, &s->private_->h5, err);
    if (text)
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: is text; two-time data are HDF5, npz or npy. A table with a name over each column "
                        "is fitted with homodyne fit --data %s --model MODEL (homodyne models lists them)",
                        s->file, s->file);
    return fit_fail(err, FIT_ERR_DATA, "%s: is neither HDF5 nor npz nor npy", s->file);
}

static enum fit_status choose_layout(struct fit_source *s, const char *wanted,
                                     struct fit_error *err)
{
    int in_hdf5 = s->private_->h5 != NULL, known = 0;
    if (s->private_->wish.dataset) {
        s->private_->ops = in_hdf5 ? &fit_layout_dataset : &fit_layout_member;
        s->layout = s->private_->ops->name;
        return FIT_OK;
    }
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        known |= wanted && strcmp(layouts[i]->name, wanted) == 0;
        if (layouts[i]->in_hdf5 == in_hdf5 &&
            (wanted ? strcmp(layouts[i]->name, wanted) == 0 : layouts[i]->detect(s))) {
            s->private_->ops = layouts[i];
            s->layout = layouts[i]->name;
            return FIT_OK;
        }
    }
    if (wanted && !known) {
        char names[300] = "";
        for (size_t i = 0, n = 0; i < sizeof layouts / sizeof *layouts; i++, n = strlen(names))
            snprintf(names + n, sizeof names - n, "%s%s", n ? ", " : "", layouts[i]->name);
        return fit_fail(err, FIT_ERR_CONFIG, "layout '%s' is not known; there are %s, and --dataset PATH", wanted,
                        names);
    }
    if (wanted)
        return fit_fail(err, FIT_ERR_DATA, "%s: layout %s is not one of %s files", s->file, wanted,
                        in_hdf5 ? "HDF5" : "npz and npy");
    return not_understood(s, err);
}

/* Azimuths that differ, lie within one turn in radians, and are not all integers. */
static void doubt_angles(struct fit_source *s)
{
    double least = INFINITY, most = -INFINITY;
    int whole = 1;
    for (size_t k = 0; k < s->nmatrix; k++) {
        const double phi = s->matrix[k].phi;
        least = fmin(least, phi);
        most = fmax(most, phi);
        whole &= isnan(phi) || phi == rint(phi);
    }
    if (!whole && most - least > 1 && fmax(-least, most) <= TURN)
        fit_notes_doubt(&s->notes, "%s: all azimuths lie within %.4g .. %.4g; they are taken in degrees: when they are "
                                   "radians, multiply them by 180/pi", s->file, least, most);
}

/* The step of the majority (the vote of Boyer and Moore, Automated Reasoning, 1991, 105). */
static double usual_step(const struct fit_source *s)
{
    double step = NAN;
    size_t votes = 0;
    for (size_t i = 0; i + 1 < s->nframe; i++) {
        const double x = s->time[i + 1] - s->time[i];
        if (votes == 0)
            step = x;
        votes = fabs(x - step) <= UNEVEN * fabs(step) ? votes + 1 : votes - 1;
    }
    return step;
}

int fit_source_is_uneven(const struct fit_source *s, char *text, size_t size)
{
    if (!s->time)
        return 0;
    const double mean = (s->time[s->nframe - 1] - s->time[0]) / (double)(s->nframe - 1), usual = usual_step(s);
    size_t off = 0, first = 0, lies = 0;
    for (size_t i = s->nframe; i-- > 0;) {
        if (fabs(s->time[i] - s->time[0] - mean * (double)i) > UNEVEN * mean)
            lies = i;
        if (i + 1 < s->nframe && !(fabs(s->time[i + 1] - s->time[i] - usual) <= UNEVEN * fabs(usual))) {
            first = i;
            off++;
        }
    }
    if (!lies)
        return 0;
    if (off == 1)
        snprintf(text, size, "the step from frame %zu to %zu is %.6g s, all others %.6g s", first + 1, first + 2,
                 s->time[first + 1] - s->time[first], usual);
    else if (off && 2 * off < s->nframe)
        snprintf(text, size, "%zu steps are not %.6g s as the others; the first is that from frame %zu to %zu, %.6g s",
                 off, usual, first + 1, first + 2, s->time[first + 1] - s->time[first]);
    else
        snprintf(text, size, "frame %zu lies at %.9g s, even steps of %.9g s would be %.9g s", lies + 1,
                 s->time[lies], mean, s->time[0] + mean * (double)lies);
    return 1;
}

static enum fit_status check_opened(const struct fit_source *s, struct fit_error *err)
{
    if (s->nframe < FRAMES_MIN || s->nframe > FRAMES_MAX)
        return fit_fail(err, FIT_ERR_DATA, "%s: %zu frames; %d to %d are possible", s->file,
                        s->nframe, FRAMES_MIN, FRAMES_MAX);
    for (size_t k = 0; k < s->nmatrix; k++) {
        const struct fit_source_matrix *m = &s->matrix[k];
        if (isinf(m->q) || m->q <= 0)
            return fit_fail(err, FIT_ERR_DATA, "%s: matrix %s has q = %g; it must be positive",
                            s->file, m->key, m->q);
        if (isinf(m->phi))
            return fit_fail(err, FIT_ERR_DATA, "%s: matrix %s has phi = %g", s->file, m->key,
                            m->phi);
    }
    if (!isnan(s->dt) && !(s->dt > 0 && isfinite(s->dt)))
        return fit_fail(err, FIT_ERR_DATA, "%s: %s; the frame period must be positive", s->file,
                        s->dt_text);
    return FIT_OK;
}

enum fit_status fit_source_open(const char *file, const struct fit_source_wish *wish, struct fit_source **out,
                                struct fit_error *err)
{
    struct fit_source *s = calloc(1, sizeof *s);
    struct fit_source_private *p = calloc(1, sizeof *p);
    enum fit_status st = FIT_OK;
    *out = NULL;
    if (!s || !p || !(p->file = malloc(strlen(file) + 1))) {
        free(s);
        free(p);
        return fit_no_memory(err, file);
    }
    strcpy(p->file, file);
    s->private_ = p;
    p->wish = wish ? *wish : (struct fit_source_wish){0};
    s->file = p->file;
    s->dt = NAN;
    s->first_frame = 1;
    p->sigma.member = -1;
    if ((st = open_container(s, err)) != FIT_OK || (st = choose_layout(s, p->wish.layout, err)) != FIT_OK ||
        (st = p->ops->open(s, err)) != FIT_OK || (st = fit_source_take_axes(s, err)) != FIT_OK ||
        (st = check_opened(s, err)) != FIT_OK)
        goto done;
    doubt_angles(s);
done:
    p->wish = (struct fit_source_wish){0};
    if (p->h5 && fit_h5_starved(p->h5))
        st = fit_no_memory(err, file);
    if (st == FIT_OK)
        *out = s;
    else
        fit_source_close(s);
    return st;
}

void fit_source_tell(const struct fit_source *s, struct fit_notes *notes)
{
    if (s->private_->h5)
        fit_notes_copy(notes, fit_h5_notes(s->private_->h5));
    if (s->private_->sigma_h5)
        fit_notes_copy(notes, fit_h5_notes(s->private_->sigma_h5));
}

void fit_source_close(struct fit_source *s)
{
    if (!s)
        return;
    fit_h5_raw_free(s->private_->set);
    fit_h5_close(s->private_->h5);
    fit_npz_close(s->private_->npz);
    fit_h5_close(s->private_->sigma_h5);
    fit_npz_close(s->private_->sigma_npz);
    fit_notes_free(&s->notes);
    free(s->matrix);
    free(s->time);
    free(s->private_->file);
    free(s->private_);
    free(s);
}

/* ---- errors from another file ----------------------------------------------------------------- */

/* Opens the array of errors: an npy, a member of an npz, or a dataset. */
static enum fit_status open_sigma(struct fit_source *s, const char *file, const char *name,
                                  int *rank, size_t dims[FIT_H5_RANK], struct fit_error *err)
{
    struct fit_source_private *p = s->private_;
    enum fit_status st;
    if (!fit_npz_is_npz(file) && !fit_npz_is_npy(file)) {
        if ((st = fit_h5_open(file, &p->sigma_h5, err)) != FIT_OK)
            return st;
        snprintf(p->sigma.path, sizeof p->sigma.path, "%s", name ? name : "/sigma");
        return fit_h5_shape(p->sigma_h5, p->sigma.path, rank, dims, err);
    }
    if ((st = fit_npz_open(file, &p->sigma_npz, err)) != FIT_OK)
        return st;
    const char *member = name ? name + (*name == '/') : fit_npz_is_npy(file) ? "" : "sigma";
    p->sigma.member = fit_npz_find(p->sigma_npz, member);
    const struct fit_npz_array *a = fit_npz_array(p->sigma_npz, p->sigma.member);
    if (!a)
        return fit_fail(err, FIT_ERR_DATA, "%s: no member %s", file, member);
    if (a->fortran && a->rank > 2)
        return fit_fail(err, FIT_ERR_DATA, "%s: %s is in Fortran order", file, member);
    *rank = a->rank;
    memcpy(dims, a->dims, sizeof a->dims);
    return FIT_OK;
}

enum fit_status fit_source_attach_sigma(struct fit_source *s, const char *where,
                                        struct fit_error *err)
{
    struct fit_source_private *p = s->private_;
    const char *colon = strstr(where, ":/");
    size_t dims[FIT_H5_RANK] = {0}, length = colon ? (size_t)(colon - where) : strlen(where);
    int rank = 0, member = -1;
    char path[sizeof p->sigma.path], *file = malloc(length + 1);
    if (!file)
        return fit_no_memory(err, where);
    memcpy(file, where, length);
    file[length] = 0;
    s->has_sigma = 0;
    enum fit_status st = open_sigma(s, file, colon ? colon + 1 : NULL, &rank, dims, err);
    member = p->sigma.member;
    memcpy(path, p->sigma.path, sizeof path);
    if (st == FIT_OK)
        st = fit_cube_shape(s, where, rank, dims, &p->sigma, err);
    p->sigma.member = member;
    memcpy(p->sigma.path, path, sizeof path);
    if (st == FIT_OK &&
        (p->sigma.nframe != s->nframe || (p->sigma.n != 1 && p->sigma.n != s->nmatrix)))
        st = fit_fail(err, FIT_ERR_DATA,
                      "%s: errors for %zu matrices of %zu frames; the data are %zu of %zu", where,
                      p->sigma.n, p->sigma.nframe, s->nmatrix, s->nframe);
    s->has_sigma = st == FIT_OK;
    free(file);
    return st;
}
