/* joint.c -- the measurement of several files; see joint.h. */
#include "input/joint.h"
#include "common/text.h"
#include "base/identity.h"
#include "data/file_times.h"
#include "input/table_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Arguments that the functions below pass on. */
struct joint {
    const struct fit_config *cfg;
    const struct fit_kernel *kernel;
    struct fit_kernel with; /* the kernel with the axis of the files */
    size_t n;
    struct fit_measurement **part; /* n */
    struct fit_measurement *m;
    double *setting; /* n x nsetting, as they are given */
    double *known;   /* the same with numbers from the files; those of the measurement */
    size_t *of;      /* the file of each group */
    struct fit_arena storage;
};

/* ---- settings ---------------------------------------------------------------------------------- */

static enum fit_status fill_settings(struct joint *j, struct fit_error *err)
{
    const size_t n = j->kernel->nsetting;
    for (size_t f = 0; f < j->n; f++)
        for (size_t i = 0; i < n; i++) {
            const struct fit_cfg_reals *list = &j->cfg->setting_list[i];
            if (list->n && list->n != j->n)
                return fit_fail(err, FIT_ERR_CONFIG,
                                "settings: %s has %zu values for %zu data files; give one, or one each",
                                j->kernel->setting[i].name, list->n, j->n);
            j->setting[f * n + i] = list->n ? list->value[f] : j->cfg->setting[i].value;
        }
    return FIT_OK;
}

void fit_joint_selection(const struct fit_config *cfg, size_t f, struct fit_selection *sel)
{
    fit_selection_from_config(cfg, sel);
    sel->path = cfg->input.path.value[f];
    if (!sel->all_q && sel->nq > 1 && sel->nq == cfg->input.path.n) {
        sel->q = sel->q_list[f];
        sel->nq = 0;
    }
    if (sel->sigma == FIT_SIGMA_VALUE && sel->nsigma > 1 && cfg->input.path.n > 1 && sel->nsigma == cfg->input.path.n) {
        sel->sigma_value += f;
        sel->nsigma = 1;
    }
    if (cfg->input.path.n > 1)
        sel->stream = FIT_STREAM_OFF;
}

/* ---- the parts --------------------------------------------------------------------------------- */

/* Notes of a part under its name; a note common to all parts appears once. */
static void take_notes(struct joint *j, const struct fit_measurement *part)
{
    for (size_t k = 0; k < part->notes.n; k++) {
        const char *text = part->notes.text[k];
        int there = 0;
        for (size_t i = 0; i < j->m->notes.n; i++)
            there |= strcmp(j->m->notes.text[i], text) == 0;
        if (there)
            continue;
        if (strstr(text, part->file))
            fit_notes_add(&j->m->notes, "%s", text);
        else
            fit_notes_add(&j->m->notes, "%s: %s", text_file_name(part->file), text);
    }
}

/* Fails when the values of file e occur twice: each would count twice. */
static int same_values(const struct joint *j, size_t e, size_t f)
{
    const struct fit_measurement *a = j->part[e], *b = j->part[f];
    const size_t n = j->kernel->nsetting;
    if (strcmp(a->sha256, b->sha256) != 0 || a->of_values != b->of_values || a->ngroup != b->ngroup ||
        (n && memcmp(a->setting, b->setting, n * sizeof *a->setting) != 0))
        return 0;
    for (size_t g = 0; a->group && b->group && g < a->ngroup; g++)
        if (a->group[g].matrix != b->group[g].matrix)
            return 0;
    return 1;
}

static enum fit_status differ(const struct joint *j, struct fit_error *err)
{
    for (size_t f = 1; f < j->n; f++)
        for (size_t e = 0; e < f; e++)
            if (same_values(j, e, f))
                return fit_fail(err, FIT_ERR_DATA,
                                "%s and %s, files %zu and %zu, hold the same values: each would count twice, and "
                                "errors be too small",
                                j->part[e]->file, j->part[f]->file, e + 1, f + 1);
    return FIT_OK;
}

static void describe_part(struct fit_measurement *m, const struct fit_measurement *from,
                          struct fit_measurement_file *to)
{
    *to = (struct fit_measurement_file){.file = fit_arena_string(&m->storage_, from->file), .size = from->size,
                                        .of_values = from->of_values, .npoint = from->dataset->npoint,
                                        .ngroup = from->ngroup, .file_frames = from->file_frames,
                                        .ntime = from->ntime, .nmasked = from->nmasked, .first = from->first,
                                        .last = from->last, .dt = from->dt,
                                        .begin = from->ntime ? from->time[0] : 0};
    to->masked = fit_take_copy(&m->storage_, from->masked, from->nmasked, sizeof *to->masked);
    memcpy(to->sha256, from->sha256, sizeof to->sha256);
}

static enum fit_status describe(struct joint *j, struct fit_error *err)
{
    struct fit_measurement *m = j->m, *first = j->part[0];
    const size_t n = j->kernel->nsetting;
    size_t ngroup = 0;
    if (differ(j, err) != FIT_OK)
        return FIT_ERR_DATA;
    m->nfile = j->n;
    m->part = fit_take(&m->storage_, j->n, sizeof *m->part);
    j->known = fit_take(&m->storage_, j->n * n, sizeof *j->known);
    m->file = fit_arena_string(&m->storage_, first->file);
    for (size_t f = 0; f < j->n && !m->storage_.failed; f++) {
        const struct fit_measurement *from = j->part[f];
        describe_part(m, from, &m->part[f]);
        if (n)
            memcpy(j->known + f * n, from->setting, n * sizeof *j->known);
        ngroup += from->ngroup;
        take_notes(j, from);
    }
    j->of = fit_take(&m->storage_, ngroup, sizeof *j->of);
    m->setting = fit_take_copy(&m->storage_, j->known, n, sizeof *m->setting);
    if (m->storage_.failed)
        return fit_no_memory(err, first->file);
    for (size_t f = 0, g = 0; f < j->n; f++)
        for (size_t e = 0; e < j->part[f]->ngroup; e++)
            j->of[g++] = f;
    m->layout = first->layout;
    m->size = first->size;
    m->of_values = first->of_values;
    memcpy(m->sha256, first->sha256, sizeof m->sha256);
    m->ngroup = ngroup;
    m->files = (struct fit_dataset_files){.n = j->n, .of = j->of, .setting = j->known};
    return FIT_OK;
}

/* Requires the same kind of errors in all files. */
static enum fit_status same_errors(const struct joint *j, struct fit_error *err)
{
    for (size_t f = 1; f < j->n; f++)
        if ((j->part[f]->sigma_from == FIT_SIGMA_NONE) != (j->part[0]->sigma_from == FIT_SIGMA_NONE)) {
            const int first = j->part[0]->sigma_from == FIT_SIGMA_NONE;
            return fit_fail(err, FIT_ERR_DATA,
                            "%s has standard deviations of its values, and %s has none: files of one fit need them in "
                            "all or in none (--sigma gives one number, or one for each file)",
                            j->part[first ? f : 0]->file, j->part[first ? 0 : f]->file);
        }
    return FIT_OK;
}

/* Groups of the parts, one after the other. */
static enum fit_status take_groups(struct joint *j, struct fit_error *err)
{
    struct fit_measurement *m = j->m;
    m->group = fit_take(&m->storage_, m->ngroup, sizeof *m->group);
    if (!m->group)
        return fit_no_memory(err, m->file);
    for (size_t f = 0, g = 0; f < j->n; f++)
        for (size_t e = 0; e < j->part[f]->ngroup; e++, g++) {
            m->group[g] = j->part[f]->group[e];
            m->group[g].file = f;
        }
    return FIT_OK;
}

/* ---- tables -------------------------------------------------------------------------------------- */

/* The columns of the model in all files, and the number of the file. */
static enum fit_status add_rows(struct joint *j, const struct fit_table *t, const int *from, size_t f,
                                struct fit_table *to, int *has, struct fit_error *err)
{
    const size_t naxis = j->kernel->naxis, n = naxis + j->kernel->ncolumn, old = to->nrow;
    for (size_t c = 0; c < n; c++) {
        const size_t at = c < naxis ? c : c + 1;
        if (f && (from[c] >= 0) != has[at])
            return fit_fail(err, FIT_ERR_DATA,
                            "%s: %s the column %s, which the files before it %s: files of one fit need the same "
                            "columns",
                            j->part[f]->file, from[c] < 0 ? "has not" : "has",
                            fit_table_wanted(j->kernel, c), from[c] < 0 ? "have" : "lack");
        has[at] = from[c] >= 0;
    }
    has[naxis] = 1;
    for (size_t c = 0; c < n + 1; c++) {
        double *grown = realloc(to->column[c], (old + t->nrow) * sizeof *grown);
        if (!grown)
            return fit_no_memory(err, j->part[f]->file);
        to->column[c] = grown;
        const int source = c == naxis || !has[c] ? -1 : from[c < naxis ? c : c - 1];
        for (size_t r = 0; r < t->nrow; r++)
            grown[old + r] = c == naxis ? (double)(f + 1) : source < 0 ? 1 : t->column[source][r];
    }
    to->nrow += t->nrow;
    return FIT_OK;
}

static enum fit_status read_table(struct joint *j, size_t f, struct fit_table *to, int *has, struct fit_error *err)
{
    struct fit_table *t = NULL;
    int *from;
    const size_t n = j->kernel->nsetting;
    enum fit_status st = fit_table_open(j->cfg->input.path.value[f], &j->cfg->table, j->kernel, j->setting + f * n,
                                        &j->part[f], &t, &from, err);
    if (st == FIT_OK)
        st = fit_table_dataset(t, j->kernel, from, j->part[f], err);
    if (st == FIT_OK)
        st = fit_file_identity(j->part[f]->file, j->part[f]->sha256, &j->part[f]->size, err);
    if (st == FIT_OK)
        st = add_rows(j, t, from, f, to, has, err);
    fit_table_free(t);
    return st;
}

static enum fit_status make_table(struct joint *j, const struct fit_table *all, const int *has, struct fit_error *err)
{
    const size_t n = j->with.naxis + j->with.ncolumn;
    int *from = fit_take(&j->storage, n, sizeof *from);
    if (!from)
        return fit_no_memory(err, NULL);
    for (size_t c = 0; c < n; c++)
        from[c] = has[c] ? (int)c : -1;
    const size_t ns = j->kernel->nsetting;
    if (ns)
        memcpy(j->m->setting, j->setting, ns * sizeof *j->setting);
    struct fit_notes keep = j->m->notes; /* those of the parts say all */
    j->m->notes = (struct fit_notes){0};
    enum fit_status st = fit_table_dataset(all, &j->with, from, j->m, err);
    fit_notes_free(&j->m->notes);
    j->m->notes = keep;
    if (st != FIT_OK)
        return st;
    for (size_t f = 0; f < j->n; f++) /* statistics are those of all rows */
        for (size_t i = 0; i < ns; i++)
            if (j->kernel->setting[i].statistic)
                j->known[f * ns + i] = j->m->setting[i];
    for (size_t g = 0; g < j->m->ngroup; g++) {
        j->of[g] = (size_t)j->m->dataset->layout.coord[j->kernel->naxis][g] - 1;
        j->m->group[g].file = j->of[g];
    }
    return FIT_OK;
}

static enum fit_status load_tables(struct joint *j, struct fit_error *err)
{
    const size_t columns = j->kernel->naxis + j->kernel->ncolumn + 1;
    double **column = fit_take(&j->storage, columns, sizeof *column);
    int *has = fit_take(&j->storage, columns, sizeof *has);
    struct fit_table all = {.ncolumn = columns, .column = column};
    enum fit_status st = j->storage.failed ? fit_no_memory(err, NULL) : FIT_OK;
    for (size_t f = 0; f < j->n && st == FIT_OK; f++)
        st = read_table(j, f, &all, has, err);
    if (st == FIT_OK && (st = same_errors(j, err)) == FIT_OK && (st = describe(j, err)) == FIT_OK)
        st = make_table(j, &all, has, err);
    for (size_t c = 0; column && c < columns; c++)
        free(column[c]);
    return st;
}

/* ---- matrices ------------------------------------------------------------------------------------ */

/* Frames and times of all parts, and the part with the most frames. */
static enum fit_status join_times(struct joint *j, struct fit_file_time *all, size_t *longest, struct fit_error *err)
{
    struct fit_file_time *part = fit_take(&j->storage, j->n, sizeof *part);
    *longest = 0;
    for (size_t f = 0; part && f < j->n; f++) {
        const struct fit_measurement *p = j->part[f];
        part[f] = (struct fit_file_time){p->ntime, p->time, p->dt};
        if (p->ntime > j->part[*longest]->ntime)
            *longest = f;
    }
    return part && fit_file_times_join(part, &j->m->files, all, &j->m->storage_) ? FIT_OK : fit_no_memory(err, "data");
}

/* Frames that some part uses. */
static size_t all_frames(const struct joint *j, size_t ntime, uint32_t *frame)
{
    size_t n = 0;
    for (size_t i = 0; i < ntime; i++) {
        int used = 0;
        for (size_t f = 0; f < j->n && !used; f++) {
            const struct fit_layout *l = &j->part[f]->dataset->layout;
            for (size_t k = 0; k < l->nframe && l->frame[k] <= i && !used; k++)
                used = l->frame[k] == i;
        }
        if (used)
            frame[n++] = (uint32_t)i;
    }
    return n;
}

/* Frames of the longest file, times of all. */
static void take_frames(struct fit_measurement *m, const struct fit_measurement *longest,
                        const struct fit_file_time *all)
{
    m->time = fit_take_copy(&m->storage_, all->time, all->ntime, sizeof *m->time);
    m->masked = fit_take_copy(&m->storage_, longest->masked, longest->nmasked, sizeof *m->masked);
    m->file_frames = longest->file_frames;
    m->first = longest->first;
    m->last = longest->last;
    m->ntime = longest->ntime;
    m->dt = all->step;
    m->nmasked = longest->nmasked;
    m->t0_excluded = longest->t0_excluded;
}

static enum fit_status new_dataset(struct joint *j, struct fit_error *err)
{
    struct fit_measurement *m = j->m;
    struct fit_file_time all;
    size_t longest;
    if (join_times(j, &all, &longest, err) != FIT_OK)
        return FIT_ERR_MEMORY;
    const struct fit_measurement *time = j->part[longest];
    const size_t naxis = j->kernel->naxis;
    take_frames(m, time, &all);
    double **coord = fit_take(&j->storage, naxis + 1, sizeof *coord);
    uint32_t *frame = fit_take(&j->storage, time->ntime, sizeof *frame);
    for (size_t a = 0; coord && a <= naxis; a++)
        coord[a] = fit_take(&j->storage, m->ngroup, sizeof **coord);
    if (j->storage.failed || m->storage_.failed)
        return fit_no_memory(err, "data");
    for (size_t f = 0, g = 0; f < j->n; f++)
        for (size_t e = 0; e < j->part[f]->ngroup; e++, g++) {
            for (size_t a = 0; a < naxis; a++)
                coord[a][g] = j->part[f]->dataset->layout.coord[a][e];
            coord[naxis][g] = (double)(f + 1);
        }
    m->nframe = all_frames(j, m->ntime, frame);
    const struct fit_dataset_pairs spec = {.ntime = m->ntime, .time = m->time, .step = m->dt, .nframe = m->nframe,
                                           .frame = frame, .ngroup = m->ngroup, .naxis = naxis + 1,
                                           .nsetting = j->kernel->nsetting, .coord = (const double *const *)coord,
                                           .setting = m->setting, .center = j->kernel->intercept >= 0,
                                           .table_doubles = j->kernel->table_doubles};
    enum fit_status st = fit_dataset_new_pairs(&spec, &m->dataset, err);
    if (st == FIT_OK)
        m->dataset->files = &m->files;
    return st;
}

/* Values (and standard deviations, unless NULL) of group g of a part, ntime x ntime; NaN where it has none. */
static void unpack(const struct fit_measurement *part, size_t g, size_t ntime, double *value, double *sigma)
{
    const struct fit_dataset *ds = part->dataset;
    const struct fit_layout *l = &ds->layout;
    for (size_t i = 0; i < ntime * ntime; i++)
        value[i] = NAN;
    for (size_t k = 0; k < ds->ntile; k++) {
        const struct fit_tile *t = &ds->tile[k];
        for (size_t i = t->i0; i < t->i1; i++)
            for (size_t c = t->j0 > i + 1 ? t->j0 : i + 1; c < t->j1; c++) {
                const size_t from = fit_tile_offset(l, t, i, c, g), to = l->frame[i] * ntime + l->frame[c];
                const double w = t->w ? t->w[from] : 1;
                value[to] = w > 0 ? t->y[from] : NAN;
                if (sigma)
                    sigma[to] = ds->weighted ? 1 / sqrt(w) : part->group[g].sigma;
            }
    }
}

/* 1: values need errors of their own in the dataset. */
static int needs_sigma(const struct joint *j)
{
    for (size_t f = 0; f < j->n; f++) {
        const struct fit_measurement *p = j->part[f];
        if (p->dataset->weighted)
            return 1;
        for (size_t g = 0; p->sigma_from == FIT_SIGMA_GIVEN && g < p->ngroup; g++)
            if (p->group[g].sigma < j->part[0]->group[0].sigma || p->group[g].sigma > j->part[0]->group[0].sigma)
                return 1;
    }
    return 0;
}

static enum fit_status put_parts(struct joint *j, struct fit_error *err)
{
    const size_t n = j->m->ntime;
    const int errors = needs_sigma(j);
    FIT_OWNED double *value = malloc(n * n * sizeof *value), *sigma = errors ? malloc(n * n * sizeof *sigma) : NULL;
    if (!value || (errors && !sigma))
        return fit_no_memory(err, "data");
    enum fit_status st = FIT_OK;
    for (size_t f = 0, g = 0; f < j->n && st == FIT_OK; f++) {
        struct fit_measurement *part = j->part[f];
        for (size_t e = 0; e < part->ngroup && st == FIT_OK; e++, g++) {
            unpack(part, e, n, value, sigma);
            st = fit_dataset_put(j->m->dataset, g, value, sigma, err);
        }
        fit_dataset_free(part->dataset); /* its memory is wanted */
        part->dataset = NULL;
    }
    return st == FIT_OK ? fit_dataset_finish(j->m->dataset, err) : st;
}

static enum fit_status load_matrices(struct joint *j, struct fit_error *err)
{
    struct fit_kernel plain = *j->kernel;
    enum fit_status st = FIT_OK;
    plain.intercept = -1; /* values as they are in the file */
    for (size_t f = 0; f < j->n && st == FIT_OK; f++) {
        struct fit_selection sel;
        fit_joint_selection(j->cfg, f, &sel);
        st = fit_measurement_load(&sel, &plain, j->setting + f * j->kernel->nsetting, &j->part[f], err);
    }
    if (st == FIT_OK && (st = same_errors(j, err)) == FIT_OK && (st = describe(j, err)) == FIT_OK &&
        (st = take_groups(j, err)) == FIT_OK)
        st = new_dataset(j, err);
    if (st == FIT_OK)
        j->m->sigma_from = j->part[0]->sigma_from;
    return st == FIT_OK ? put_parts(j, err) : st;
}

/* ---- together ------------------------------------------------------------------------------------ */

static enum fit_status add_axis(struct joint *j, struct fit_error *err)
{
    const size_t n = j->kernel->naxis;
    struct fit_axis *axis = fit_take(&j->storage, n + 1, sizeof *axis);
    if (!axis)
        return fit_no_memory(err, NULL);
    for (size_t a = 0; a < n; a++)
        axis[a] = j->kernel->axis[a];
    axis[n] = (struct fit_axis){"file", "1", "number of the data file"};
    j->with = *j->kernel;
    j->with.axis = axis;
    j->with.naxis = n + 1;
    return FIT_OK;
}

enum fit_status fit_joint_load(const struct fit_config *cfg, const struct fit_kernel *kernel,
                               struct fit_measurement **out, struct fit_error *err)
{
    struct joint j = {.cfg = cfg, .kernel = kernel, .n = cfg->input.path.n, .m = calloc(1, sizeof *j.m)};
    *out = NULL;
    j.part = fit_take(&j.storage, j.n, sizeof *j.part);
    j.setting = fit_take(&j.storage, j.n * kernel->nsetting, sizeof *j.setting);
    enum fit_status st = !j.m || j.storage.failed ? fit_no_memory(err, NULL) : fill_settings(&j, err);
    if (st == FIT_OK)
        st = add_axis(&j, err);
    if (st == FIT_OK)
        st = kernel->space == FIT_PAIRS ? load_matrices(&j, err) : load_tables(&j, err);
    for (size_t f = 0; j.part && f < j.n; f++)
        fit_measurement_free(j.part[f]);
    fit_arena_free(&j.storage);
    if (st == FIT_OK) {
        j.m->dataset->files = &j.m->files;
        *out = j.m;
    } else {
        fit_measurement_free(j.m);
    }
    return st;
}
