/* measurement.c -- loads the selected matrices of a file into a dataset. See measurement.h.
 *
 * Order of work: open, select, time axis, list of used frames; then per matrix: read, compare with the file's own
 * diagonal means, cut the window, search for blank frames, scatter into tiles. When blank frames are found, the
 * remaining matrices are searched for more, and all are read again with the shorter list.
 *
 * Large matrices, and those that stay in the file, are read by blocks of rows instead: blocks.c.
 */
#include "input/measurement_impl.h"

#include "base/clock.h"
#include "base/identity.h"
#include "base/units.h"
#include "data/share.h"
#include "data/stream.h"
#include "ranks/ranks.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LARGE ((size_t)64 << 20) /* bytes of a matrix above which it is read by blocks */
static const double LATER = 1e-2; /* of the period: tolerance for a file whose times begin later than 0 */
enum { FRAMES_MIN = 3 };

/* ---- the file's identity, in another thread; of several ranks the first reads the file for it ---- */

struct identity {
    pthread_t thread;
    int started, running;
    const char *file;
    char sha256[65];
    uint64_t size;
    enum fit_status status;
    struct fit_error error;
};

static void *identify(void *job)
{
    struct identity *id = job;
    fit_clock_name("checksum");
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_LOAD);
    id->status = fit_file_identity(id->file, id->sha256, &id->size, &id->error);
    fit_clock_enter(was);
    return NULL;
}

/* Large files are not read a second time as a whole: their identity is that of the fitted values. */
static int is_large(struct fit_measurement *m)
{
    static const size_t ALWAYS = (size_t)64 << 20; /* bytes of files that are read as a whole */
    struct stat is;
    if (stat(m->file, &is) != 0 || (uint64_t)is.st_size <= ALWAYS)
        return 0;
    m->size = (uint64_t)is.st_size;
    return 1;
}

static void identity_start(struct identity *id, struct fit_measurement *m)
{
    *id = (struct identity){.file = m->file, .started = 1};
    m->of_values = is_large(m);
    id->running = !m->of_values && fit_ranks_rank() == 0 && pthread_create(&id->thread, NULL, identify, id) == 0;
}

static enum fit_status identity_finish(struct identity *id, struct fit_measurement *m, const struct fit_kernel *kernel,
                                       struct fit_error *err)
{
    if (!id->started || (m->of_values && !err))
        return FIT_OK;
    if (m->of_values) {
        fit_dataset_digest(m->dataset, kernel->naxis, m->sha256);
        return FIT_OK;
    }
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_WAIT);
    if (id->running)
        pthread_join(id->thread, NULL);
    else if (fit_ranks_rank() == 0)
        identify(id);
    fit_clock_enter(was);
    id->status = fit_ranks_agree_status(id->status, &id->error);
    fit_ranks_copy(0, id->sha256, sizeof id->sha256);
    fit_ranks_copy(0, &id->size, sizeof id->size);
    if (id->status != FIT_OK)
        return fit_fail(err, id->status, "%s", id->error.message);
    memcpy(m->sha256, id->sha256, sizeof m->sha256);
    m->size = id->size;
    return FIT_OK;
}

/* ---- labels ---------------------------------------------------------------------------------- */

/* Index of matrix g among those of its q, which are consecutive (all_q); *n: their number. */
static size_t place_in_ring(const struct loading *l, size_t g, size_t *n)
{
    static const double same = 1e-9; /* relative, as select.c has it */
    const struct fit_source_matrix *m = l->src->matrix;
    const double q = m[l->index[g]].q;
    size_t first = g, end = g + 1;
    if (!l->sel->all_q || isnan(q)) {
        const size_t nq = l->sel->all_q && l->sel->nq ? l->sel->nq : 1; /* labels of a file without any: q by q */
        *n = l->m->ngroup / nq;
        return *n ? g % *n : g;
    }
    while (first > 0 && fabs(m[l->index[first - 1]].q - q) <= same * q)
        first--;
    while (end < l->m->ngroup && fabs(m[l->index[end]].q - q) <= same * q)
        end++;
    *n = end - first;
    return g - first;
}

/* Azimuths (of each q) that the file lacks come from the list; a single matrix needs none. Likewise for wavevectors. */
static enum fit_status label_groups(struct loading *l, struct fit_error *err)
{
    const struct fit_selection *sel = l->sel;
    struct fit_measurement *m = l->m;
    for (size_t g = 0; g < m->ngroup; g++) {
        const struct fit_source_matrix *from = &l->src->matrix[l->index[g]];
        struct fit_group *to = &m->group[g];
        *to = (struct fit_group){.q = from->q, .phi = from->phi, .bin = from->bin, .matrix = l->index[g], .sigma = NAN};
        memcpy(to->key, from->key, sizeof to->key);
        size_t ring, place = place_in_ring(l, g, &ring);
        if (isnan(to->q) && sel->nq && ring * sel->nq != m->ngroup)
            return fit_fail(err, FIT_ERR_DATA, "%s: gives no q and holds %zu matrices; the list of q has %zu",
                            l->src->file, m->ngroup, sel->nq);
        if (isnan(to->q))
            to->q = sel->nq ? sel->q_list[g / ring] : sel->q;
        if (isnan(to->phi) && sel->nlist == ring)
            to->phi = sel->list[place];
        else if (isnan(to->phi) && sel->nlist)
            return fit_fail(
                err, FIT_ERR_DATA,
                "%s: gives no azimuths and holds %zu matrices%s; the list of angles has %zu",
                l->src->file, ring, ring < m->ngroup ? " of one q" : "", sel->nlist);
    }
    return FIT_OK;
}

static enum fit_status fill_settings(struct loading *l, const double *setting,
                                     struct fit_error *err)
{
    const struct fit_kernel *k = l->kernel;
    struct fit_measurement *m = l->m;
    for (size_t i = 0; i < k->nsetting; i++) {
        const struct fit_setting *s = &k->setting[i];
        const int means = fit_units_means(s->name, s->unit), is_q = means && strcmp(s->name, "q") == 0;
        m->setting[i] = setting ? setting[i] : s->value;
        if (is_q && !isnan(m->group[0].q))
            m->setting[i] = fit_units_to_model("q", s->unit, m->group[0].q);
        if (is_q && fit_units_doubt_q(m->group[0].q))
            fit_notes_doubt(&m->notes,
                            "%s: q = %.4g, which is taken for 1/angstrom: another unit is read when the dataset's "
                            "attribute `units` names it",
                            l->src->file, m->group[0].q);
        if (means && strcmp(s->name, "dt") == 0)
            m->setting[i] = fit_units_to_model("dt", s->unit, m->dt);
        if (isnan(m->setting[i]) && is_q) {
            char where[200];
            fit_selection_where(l->sel, l->sel->q_line, where, sizeof where);
            return fit_fail(err, FIT_ERR_CONFIG,
                            "%s%s does not give q; set analyzer_parameters.scattering.wavevector_q in 1/angstrom "
                            "(or --q)",
                            where, l->src->file);
        }
        if (isnan(m->setting[i]))
            return fit_fail(err, FIT_ERR_CONFIG, "%s: the setting %s (%s) is not known; give it",
                            l->src->file, k->setting[i].name, k->setting[i].unit);
    }
    return FIT_OK;
}

/* Coordinates of one axis of the model; the caller frees. */
static enum fit_status axis_values(struct loading *l, size_t a, double **value,
                                   struct fit_error *err)
{
    const char *name = l->kernel->axis[a].name, *unit = l->kernel->axis[a].unit;
    int is_q = strcmp(name, "q") == 0, is_phi = strcmp(name, "phi") == 0;
    const struct fit_measurement *m = l->m;
    if (!is_q && !is_phi)
        return fit_fail(err, FIT_ERR_CONFIG, "model %s: data files know the axes phi and q, not %s",
                        l->kernel->name, name);
    if (!fit_units_means(name, unit))
        return fit_fail(err, FIT_ERR_CONFIG, "model %s: its axis %s is in %s; data files give %s in %s",
                        l->kernel->name, name, unit, name, fit_units_of(name));
    if (!(*value = fit_take(&l->storage, m->ngroup, sizeof **value)))
        return fit_no_memory(err, "data");
    for (size_t g = 0; g < m->ngroup; g++) {
        double v = is_q ? m->group[g].q : m->group[g].phi;
        if (isnan(v) && is_phi && m->ngroup == 1)
            v = 0;
        (*value)[g] = fit_units_to_model(name, unit, v);
        if (isnan(v))
            return fit_fail(err, FIT_ERR_DATA, "%s: does not give %s of matrix %s; add %s",
                            l->src->file, name, m->group[g].key,
                            is_q ? "the wavevectors, one per matrix: --q Q1,Q2,..., in 1/angstrom"
                                 : "the angles, one per matrix: phi_filtering.angles, or --phi");
    }
    return FIT_OK;
}

/* ---- time and frames ------------------------------------------------------------------------- */

static enum fit_status make_time(struct loading *l, struct fit_error *err)
{
    const struct fit_selection *sel = l->sel;
    const struct fit_source *s = l->src;
    struct fit_measurement *m = l->m;
    double origin = sel->first_time;
    if (sel->time_origin == FIT_TIME_FILE)
        origin += (s->time ? s->time[0] : 0) + m->dt * (double)(m->first - 1);
    else if (sel->time_origin == FIT_TIME_STEP)
        origin += m->dt;
    if (s->time && sel->time_origin == FIT_TIME_WINDOW && !sel->origin_given && fabs(s->time[0]) > LATER * m->dt)
        fit_notes_add(&m->notes,
                      "%s: its times begin at %.9g s; the first frame is taken for t = 0, which matters to rates"
                      " that go with a power of t (analyzer_parameters.time_origin: file takes the times of the file)",
                      s->file, s->time[0]);
    if (!(m->time = fit_take(&m->storage_, m->ntime, sizeof *m->time)))
        return fit_no_memory(err, "data");
    for (size_t i = 0; i < m->ntime; i++)
        m->time[i] = origin + m->dt * (double)i;
    return FIT_OK;
}

/* Frames of the window that are used; l->out gives the reasons for the others. */
enum fit_status fit_loading_frames(struct loading *l, struct fit_error *err)
{
    struct fit_measurement *m = l->m;
    m->nframe = m->nmasked = 0;
    for (size_t i = 0; i < m->ntime; i++) {
        if (l->out[i])
            m->masked[m->nmasked++] = (uint32_t)((long)i + m->first);
        else if (i || !m->t0_excluded)
            l->frame[m->nframe++] = (uint32_t)i;
    }
    if (m->nframe < FRAMES_MIN)
        return fit_fail(err, FIT_ERR_DATA,
                        "%s: %zu frames are left of %ld..%ld; at least %d are needed", l->src->file,
                        m->nframe, m->first, m->last, FRAMES_MIN);
    return FIT_OK;
}

static enum fit_status set_up(struct loading *l, const double *setting, struct fit_error *err)
{
    struct fit_measurement *m = l->m;
    const struct fit_selection *sel = l->sel;
    enum fit_status st;
    m->file_frames = l->src->nframe;
    if ((st = fit_select_matrices(l->src, sel, &l->index, &m->ngroup, &m->notes, err)) != FIT_OK ||
        (st = fit_select_window(l->src, sel, &l->row, &m->ntime, &m->notes, err)) != FIT_OK ||
        (st = fit_select_dt(l->src, sel, &m->dt, &m->notes, err)) != FIT_OK)
        return st;
    m->first = (long)l->row + l->src->first_frame;
    m->last = m->first + (long)m->ntime - 1;
    m->t0_excluded = sel->exclude_t0;
    m->group = fit_take(&m->storage_, m->ngroup, sizeof *m->group);
    m->setting = fit_take(&m->storage_, l->kernel->nsetting, sizeof *m->setting);
    m->masked = fit_take(&m->storage_, m->ntime, sizeof *m->masked);
    l->out = fit_take(&l->storage, m->ntime, sizeof *l->out);
    l->dead = fit_take(&l->storage, m->ngroup, sizeof *l->dead);
    l->frame = fit_take(&l->storage, m->ntime, sizeof *l->frame);
    if (m->storage_.failed || l->storage.failed)
        return fit_no_memory(err, "data");
    for (size_t r = 0; r < sel->nmask; r++)
        for (size_t i = 0; i < m->ntime; i++)
            if ((long)i + m->first >= sel->mask[r].first && (long)i + m->first <= sel->mask[r].last)
                l->out[i] = 1;
    if ((st = label_groups(l, err)) != FIT_OK || (st = fill_settings(l, setting, err)) != FIT_OK ||
        (st = make_time(l, err)) != FIT_OK)
        return st;
    return fit_loading_frames(l, err);
}

/* ---- errors of the data ---------------------------------------------------------------------- */

enum fit_status fit_measurement_give_sigma(struct fit_measurement *m, size_t n, const double *sigma,
                                           struct fit_error *err)
{
    const int by_file = n > 1 && n == m->nfile;
    if (n != 1 && n != m->ngroup && !by_file)
        return fit_fail(err, FIT_ERR_CONFIG, "sigma: %zu values for %zu groups of data; give one, or one each%s", n,
                        m->ngroup, m->nfile ? ", or one for each file" : "");
    for (size_t g = 0; g < m->ngroup; g++) {
        double v = sigma[n == 1 ? 0 : by_file ? m->group[g].file : g];
        if (!(v > 0) || !isfinite(v))
            return fit_fail(err, FIT_ERR_CONFIG, "sigma: %g is not possible; it must be positive", v);
        m->group[g].sigma = v;
    }
    m->sigma_from = FIT_SIGMA_GIVEN;
    return FIT_OK;
}

static enum fit_status set_up_sigma(struct loading *l, struct fit_error *err)
{
    const struct fit_selection *sel = l->sel;
    struct fit_measurement *m = l->m;
    enum fit_status st = FIT_OK;
    int differ = 0;
    if (sel->sigma == FIT_SIGMA_FILE &&
        (st = fit_source_attach_sigma(l->src, sel->sigma_path, err)) != FIT_OK)
        return st;
    if (sel->sigma == FIT_SIGMA_VALUE) {
        if ((st = fit_measurement_give_sigma(m, sel->nsigma, sel->sigma_value, err)) != FIT_OK)
            return st;
        for (size_t g = 0; g < m->ngroup; g++)
            differ |= m->group[g].sigma < m->group[0].sigma || m->group[g].sigma > m->group[0].sigma;
    } else if (l->src->has_sigma) {
        m->sigma_from = FIT_SIGMA_ARRAY;
        fit_notes_add(&m->notes, "errors (sigma) of the data are read from %s",
                      sel->sigma == FIT_SIGMA_FILE ? sel->sigma_path : "the data file");
    }
    l->errors = differ || m->sigma_from == FIT_SIGMA_ARRAY;
    return FIT_OK;
}

void fit_loading_cut(const struct loading *l, double *v)
{
    size_t n = l->m->ntime, wide = l->m->file_frames;
    if (n == wide)
        return;
    for (size_t i = 0; i < n; i++)
        memmove(v + i * n, v + (i + l->row) * wide + l->row, n * sizeof *v);
}

static enum fit_status read_sigma(struct loading *l, size_t g, struct fit_error *err)
{
    if (!l->sigma)
        return FIT_OK;
    if (l->m->sigma_from == FIT_SIGMA_GIVEN) {
        for (size_t i = 0; i < l->m->ntime * l->m->ntime; i++)
            l->sigma[i] = l->m->group[g].sigma;
        return FIT_OK;
    }
    enum fit_status st = fit_source_read_sigma(l->src, l->index[g], l->sigma, err);
    if (st == FIT_OK)
        fit_loading_cut(l, l->sigma);
    return st;
}

/* ---- filling --------------------------------------------------------------------------------- */

enum fit_status fit_loading_dataset(struct loading *l, int streamed, struct fit_error *err)
{
    struct fit_measurement *m = l->m;
    const struct fit_kernel *k = l->kernel;
    double **coord = fit_take(&l->storage, k->naxis, sizeof *coord);
    enum fit_status st = coord ? FIT_OK : fit_no_memory(err, "data");
    for (size_t a = 0; a < k->naxis && st == FIT_OK; a++)
        st = axis_values(l, a, &coord[a], err);
    if (st == FIT_OK) {
        const struct fit_dataset_pairs spec = {.ntime = m->ntime,
                                               .time = m->time,
                                               .step = m->dt,
                                               .nframe = m->nframe,
                                               .frame = l->frame,
                                               .ngroup = m->ngroup,
                                               .naxis = k->naxis,
                                               .nsetting = k->nsetting,
                                               .coord = (const double *const *)coord,
                                               .setting = m->setting,
                                               .center = k->intercept >= 0,
                                               .table_doubles = k->table_doubles,
                                               .streamed = streamed,
                                               .common = fit_ranks_shared(),
                                               .divided = l->divided};
        fit_dataset_free(m->dataset);
        st = fit_dataset_new_pairs(&spec, &m->dataset, err);
    }
    return st;
}

static enum fit_status new_buffers(struct loading *l, struct fit_error *err)
{
    size_t wide = l->m->file_frames, bytes = wide * wide * sizeof *l->matrix;
    l->matrix = malloc(bytes);
    l->sigma = l->errors ? malloc(bytes) : NULL;
    if (!l->matrix || (l->errors && !l->sigma))
        return fit_fail(err, FIT_ERR_MEMORY, "%s: no memory for a matrix of %zu frames (%zu MB)",
                        l->src->file, wide, bytes >> 20);
    return FIT_OK;
}

/* Too many frames are blank: finds the matrices that are blank as a whole. */
static enum fit_status look_for_dead(struct loading *l, struct fit_error *err)
{
    const size_t n = l->m->ntime;
    enum fit_status st = FIT_OK;
    for (size_t g = 0; g < l->m->ngroup && st == FIT_OK; g++) {
        st = fit_source_read_upper(l->src, l->index[g], l->matrix, err);
        if (st == FIT_OK)
            fit_loading_cut(l, l->matrix);
        l->dead[g] = 1;
        for (size_t i = 0; i < n && st == FIT_OK && l->dead[g]; i++)
            l->dead[g] = !fit_loading_lives(l, i);
    }
    return st;
}

/* One pass over the matrices; *blank counts frames found blank. From the first of them on no values are stored. */
static enum fit_status fill(struct loading *l, int again, size_t *blank, struct fit_error *err)
{
    struct fit_measurement *m = l->m;
    enum fit_status st = fit_loading_dataset(l, 0, err);
    *blank = 0;
    for (size_t g = 0; g < m->ngroup && st == FIT_OK; g++) {
        if ((st = fit_source_read_upper(l->src, l->index[g], l->matrix, err)) != FIT_OK)
            break;
        if (!again && (st = fit_loading_check_mapping(l, g, err)) != FIT_OK)
            break;
        fit_loading_cut(l, l->matrix);
        if (!again && (*blank += fit_loading_find_blank(l)) > 0) { /* values are not needed: the list will change */
            l->nblank = *blank;
            if (fit_loading_too_blank(l) && (st = look_for_dead(l, err)) == FIT_OK)
                st = fit_loading_blank(l, g, err);
            continue;
        }
        if ((st = read_sigma(l, g, err)) == FIT_OK)
            st = fit_dataset_put(m->dataset, g, l->matrix, l->sigma, err);
    }
    return st;
}

static enum fit_status fill_whole(struct loading *l, struct fit_error *err)
{
    size_t blank;
    int done = 0;
    enum fit_status st = new_buffers(l, err);
    if (l->divided)
        st = fit_ranks_agree_status(st, err);
    if (st == FIT_OK && l->divided)
        st = fit_loading_by_ranks(l, &done, err);
    l->divided &= done;
    if (st != FIT_OK || done)
        return st;
    st = fill(l, 0, &blank, err);
    if (st == FIT_OK && blank) {
        if ((st = fit_loading_frames(l, err)) != FIT_OK)
            return st;
        st = fill(l, 1, &blank, err);
    }
    return st;
}

/* 1 when each of several ranks is to hold only its share of the values. */
static int wants_shares(const struct loading *l)
{
    const double n = (double)l->m->nframe;
    return l->sel->divide && fit_ranks_shared() && !l->errors &&
           n * (n - 1) / 2 * (double)l->m->ngroup >= FIT_DIVIDED_LEAST;
}

/* 1 when the values are to stay in the file. */
static int wants_stream(const struct loading *l)
{
    const struct fit_measurement *m = l->m;
    const struct fit_selection *sel = l->sel;
    if (sel->stream != FIT_STREAM_AUTO)
        return sel->stream == FIT_STREAM_ON;
    const size_t need =
        wants_shares(l) ? fit_measurement_memory_of_rank(m->file_frames, m->nframe, m->ngroup, fit_ranks_size())
                        : fit_measurement_memory(m->file_frames, m->nframe, m->ngroup, l->errors);
    return sel->memory > 0 && need > sel->memory;
}

static enum fit_status fill_all(struct loading *l, struct fit_error *err)
{
    struct fit_measurement *m = l->m;
    const char *why = NULL;
    char list[200];
    enum fit_status st = FIT_OK;
    int streamed = wants_stream(l);
    l->divided = !streamed && wants_shares(l);
    if (streamed || l->sel->slot_bytes || m->file_frames * m->file_frames * sizeof(double) >= LARGE) {
        st = fit_loading_blocks(l, streamed, &why, err);
        if (st == FIT_OK && why && streamed && l->sel->stream == FIT_STREAM_ON)
            st = fit_fail(err, FIT_ERR_DATA,
                          "%s: cannot be streamed: %s; a copy as float32 in chunks of 256 x 256 can "
                          "(docs/troubleshooting.md), --stream off loads it",
                          l->src->file, why);
        if (st == FIT_OK && why && streamed)
            fit_notes_add(&m->notes, "the data are larger than the memory allowed, but cannot be "
                                     "streamed: %s", why);
    } else {
        why = "";
    }
    if (st == FIT_OK && why)
        st = fill_whole(l, err);
    if (st == FIT_OK && m->nmasked) {
        fit_format_list(m->masked, m->nmasked, 0, list, sizeof list);
        char blank[60] = "";
        if (l->nblank == m->nmasked)
            snprintf(blank, sizeof blank, "%s blank", m->nmasked > 1 ? ", all" : ",");
        else if (l->nblank)
            snprintf(blank, sizeof blank, ", of which %zu %s blank", l->nblank, l->nblank > 1 ? "are" : "is");
        fit_notes_add(&m->notes, "frame%s left out: %s (%zu%s)", m->nmasked > 1 ? "s" : "", list, m->nmasked, blank);
    }
    return st;
}

const char *fit_measurement_doubt(double mean)
{
    return mean > 0.3 && mean < 3 ? NULL
           : fabs(mean) <= 0.3    ? "this looks like c2 - 1; add 1"
                                  : "divide it by its values at long lags";
}

/* Means far from 1: one sentence about all matrices. */
static void doubt_means(struct fit_measurement *m)
{
    const struct fit_group *first = NULL;
    size_t n = 0;
    double other = 0; /* of all wrong means, the one farthest from 0 */
    char more[72] = "";
    for (size_t g = 0; g < m->ngroup; g++)
        if (fit_measurement_doubt(m->group[g].mean)) {
            first = first ? first : &m->group[g];
            other = fabs(m->group[g].mean) > fabs(other) ? m->group[g].mean : other;
            n++;
        }
    if (n > 1)
        snprintf(more, sizeof more, " (so do %zu of %zu in all)", n, m->ngroup);
    if (n)
        fit_notes_doubt(&m->notes, "matrix %s (phi = %g) has the mean %.4g%s; c2 is near 1 when normalised: %s",
                        first->key, first->phi, first->mean, more,
                        fit_measurement_doubt(other));
}

/* Sums over all tiles: of the weights, of the values, of their squares, without the reference. */
static void sums_of(const struct fit_dataset *ds, size_t g, double s[3])
{
    s[0] = s[1] = s[2] = 0;
    for (size_t t = 0; t < ds->ntile; t++)
        for (int i = 0; i < 3; i++)
            s[i] += ds->tile[t].sum[3 * g + (size_t)i];
}

/* The reference is the mean of a matrix, by a rank that has read all of it; the sums over tiles come from those that
 * own the tiles. Files that differ do not agree. The error of the mean of n frames is below n roundings. */
static enum fit_status check_ranks(const struct loading *l, struct fit_error *err)
{
    static const double rounding = 1e-10;
    const struct fit_dataset *ds = l->m->dataset;
    enum fit_status st = FIT_OK;
    if (!fit_ranks_shared() || l->errors || l->kernel->intercept < 0)
        return FIT_OK;
    for (size_t g = 0; g < l->m->ngroup && st == FIT_OK; g++) {
        double s[3];
        sums_of(ds, g, s);
        const double scale = fabs(ds->reference[g]) + sqrt(s[2] / s[0]);
        if (s[0] > 0 && fabs(s[1]) > rounding * scale * s[0])
            st = fit_fail(err, FIT_ERR_DATA,
                          "%s: the ranks have read different values of matrix %s: all of them need the same file",
                          l->src->file, l->m->group[g].key);
    }
    return fit_ranks_agree_status(st, err);
}

/* Facts about the data that are known once the dataset is complete. */
static void describe(struct loading *l)
{
    struct fit_measurement *m = l->m;
    const struct fit_dataset *ds = m->dataset;
    for (size_t g = 0; g < m->ngroup; g++) {
        double s[3];
        sums_of(ds, g, s);
        m->group[g].mean = s[1] / s[0] + ds->reference[g];
    }
    doubt_means(m);
    if (ds->ndropped)
        fit_notes_add(&m->notes, "%zu of %zu values are not finite and have weight zero",
                      ds->ndropped, ds->ndropped + ds->npoint);
}

static enum fit_status load(struct loading *l, const double *setting, struct identity *id, struct fit_error *err)
{
    struct fit_measurement *m = l->m;
    enum fit_status st = fit_source_open(l->sel->path, &l->sel->wish, &l->src, err);
    if (st != FIT_OK)
        return st;
    m->layout = l->src->layout;
    fit_notes_copy(&m->notes, &l->src->notes);
    if ((st = set_up(l, setting, err)) != FIT_OK || (st = set_up_sigma(l, err)) != FIT_OK)
        return st;
    identity_start(id, m);
    if ((st = fill_all(l, err)) != FIT_OK || (st = fit_dataset_finish(m->dataset, err)) != FIT_OK)
        return st;
    if ((st = check_ranks(l, err)) != FIT_OK)
        return st;
    fit_source_tell(l->src, &m->notes);
    describe(l);
    return fit_measurement_sound(m, l->kernel, err);
}

enum fit_status fit_measurement_load(const struct fit_selection *sel,
                                     const struct fit_kernel *kernel, const double *setting,
                                     struct fit_measurement **out, struct fit_error *err)
{
    struct identity id = {.file = NULL};
    struct fit_measurement *m = calloc(1, sizeof *m);
    *out = NULL;
    if (!m || !(m->file = fit_arena_string(&m->storage_, sel->path))) {
        fit_measurement_free(m);
        return fit_no_memory(err, "data");
    }
    struct loading l = {.sel = sel, .kernel = kernel, .m = m};
    enum fit_clock was = fit_clock_enter(FIT_CLOCK_LOAD);
    enum fit_status st = load(&l, setting, &id, err);
    fit_clock_enter(was);
    enum fit_status known = identity_finish(&id, m, kernel, st == FIT_OK ? err : NULL);
    if (st == FIT_OK)
        st = known;
    fit_source_close(l.src);
    free(l.index);
    fit_arena_free(&l.storage);
    free(l.matrix);
    free(l.sigma);
    free(l.g2);
    if (st == FIT_OK)
        *out = m;
    else
        fit_measurement_free(m);
    return st;
}

void fit_measurement_free(struct fit_measurement *m)
{
    if (!m)
        return;
    fit_dataset_free(m->dataset);
    fit_notes_free(&m->notes);
    fit_arena_free(&m->storage_);
    free(m);
}

size_t fit_measurement_memory(size_t file_frames, size_t used_frames, size_t ngroup, int weighted)
{
    size_t triangle =
        used_frames * (used_frames + 9) / 2 * ngroup * sizeof(double); /* 8 lanes at the edge */
    size_t matrix = file_frames * file_frames * sizeof(double);
    if (matrix >= LARGE)
        matrix = fit_stream_bound(used_frames, ngroup, 0) + FIT_CHUNKS_ONCE; /* read by blocks */
    return weighted ? 2 * triangle + 2 * matrix : triangle + matrix;
}

/* A share is at most an eighth larger than the mean (sum_tree.h); matrices that go from rank to rank need two halves
 * and a whole one more (ranks_share.c). */
size_t fit_measurement_memory_of_rank(size_t file_frames, size_t used_frames, size_t ngroup, size_t ranks)
{
    const size_t matrix = file_frames * file_frames * sizeof(double), none = 0;
    const size_t beside = fit_measurement_memory(file_frames, none, ngroup, 0);
    const size_t values = fit_measurement_memory(file_frames, used_frames, ngroup, 0) - beside;
    if (used_frames * (used_frames - 1) / 2 * ngroup < FIT_DIVIDED_LEAST)
        return values + beside;
    return (values + values / 8) / ranks + (matrix >= LARGE ? beside : 3 * matrix);
}

/* Slots, and the expanded chunks that are kept. */
size_t fit_measurement_memory_streamed(size_t used_frames, size_t ngroup, int weighted)
{
    size_t item = (weighted ? 2 : 1) * sizeof(float), chunks = used_frames * used_frames * ngroup * item;
    size_t most = (weighted ? 2 : 1) * FIT_CHUNKS_KEPT;
    chunks = chunks < most ? chunks : most;
    return fit_stream_bound(used_frames, ngroup, weighted) + chunks;
}
