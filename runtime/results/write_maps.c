/* write_maps.c -- the part of a result file about the data: their origin, maps and cuts or rows, with the model and the
 * residuals beside them if there is a fit.
 *
 * fit.h5 begins with it (write_hdf5.c); the file that `extract` writes contains nothing else.
 */
#include "hdf5/h5_writer.h"
#include "results/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void iso_time(time_t t, char text[32])
{
    struct tm tm;
    gmtime_r(&t, &tm);
    strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

/* The equations of the model in MathML, one per line. */
static void put_equations(struct fit_h5r *w, const struct fit_kernel *k)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = k->equation ? open_memstream(&text, &size) : NULL;
    for (size_t i = 0; f && k->equation[i]; i++)
        fprintf(f, "%s\n", k->equation[i]);
    if (f && fclose(f) == 0)
        fit_h5r_text(w, "/entry/model_mathml", text);
    free(text);
}

static void put_entry(struct fit_h5r *w, const struct fit_results *r)
{
    char text[32];
    iso_time(r->end, text);
    fit_h5r_group(w, "/", "NXroot");
    fit_h5r_attribute(w, "/", "default", "entry");
    fit_h5r_attribute(w, "/", "creator", "homodyne-gen " FIT_VERSION);
    fit_h5r_attribute(w, "/", "file_time", text);
    fit_h5r_group(w, "/entry", "NXentry");
    fit_h5r_attribute(w, "/entry", "default", "data");
    fit_h5r_text(w, "/entry/title", r->kernel->title);
    fit_h5r_text(w, "/entry/end_time", text);
    iso_time(r->begin, text);
    fit_h5r_text(w, "/entry/start_time", text);
    fit_h5r_text(w, "/entry/program_name", r->program);
    fit_h5r_text(w, "/entry/program_version", FIT_VERSION);
    fit_h5r_text(w, "/entry/model_name", r->kernel->name);
    fit_h5r_text(w, "/entry/model_formula", r->kernel->formula);
    put_equations(w, r->kernel);
    fit_h5r_text(w, "/entry/model_reference", r->kernel->reference);
    fit_h5r_text(w, "/entry/model_sha256", r->kernel->hash);
    fit_h5r_text(w, "/entry/kernel_variant", r->kernel->variant);
    fit_h5r_text(w, "/entry/kernel_isa", r->kernel->isa);
    fit_h5r_text(w, "/entry/command_line", r->command_line);
    if (r->run_id)
        fit_h5r_text(w, "/entry/run_id", r->run_id);
    fit_h5r_text(w, "/entry/config_yaml", r->config_text);
    fit_h5r_text(w, "/entry/host", r->host);
}

/* Frames and times of each file. */
static void put_file_frames(struct fit_h5r *w, const struct fit_input *in)
{
    FIT_SCRATCH(a);
    double *dt, *begin;
    FIT_TAKE_DOUBLES(&a, in->npart, &dt, &begin);
    int64_t *first = fit_take(&a, in->npart, sizeof *first), *last = fit_take(&a, in->npart, sizeof *last);
    if (a.failed) {
        fit_h5r_no_memory(w, "/entry/input/files_dt");
        return;
    }
    for (size_t f = 0; f < in->npart; f++) {
        dt[f] = in->part[f].dt;
        begin[f] = in->part[f].begin;
        first[f] = in->part[f].first;
        last[f] = in->part[f].last;
    }
    fit_h5r_reals(w, "/entry/input/files_dt", 1, &in->npart, dt, "s");
    fit_h5r_reals(w, "/entry/input/files_first_time", 1, &in->npart, begin, "s");
    fit_h5r_integers(w, "/entry/input/files_start_frame", in->npart, first);
    fit_h5r_integers(w, "/entry/input/files_end_frame", in->npart, last);
}

/* Several files: their names, sums and settings, and the file of each group, from 1. */
static void put_files(struct fit_h5r *w, const struct fit_results *r, size_t ngroup)
{
    const struct fit_input *in = r->input;
    const size_t n = r->kernel->nsetting, shape[2] = {in->npart, n};
    if (!in->npart)
        return;
    if (r->kernel->space == FIT_PAIRS)
        put_file_frames(w, in);
    FIT_OWNED const char **name = malloc(in->npart * sizeof *name), **sum = malloc(in->npart * sizeof *sum);
    FIT_OWNED int64_t *of = malloc(ngroup * sizeof *of);
    if (!name || !sum || !of) {
        fit_h5r_no_memory(w, "/entry/input/files");
        return;
    }
    for (size_t f = 0; f < in->npart; f++) {
        name[f] = in->part[f].file;
        sum[f] = in->part[f].sha256;
    }
    for (size_t g = 0; g < ngroup; g++)
        of[g] = (int64_t)in->files->of[g] + 1;
    fit_h5r_texts(w, "/entry/input/files", in->npart, name);
    fit_h5r_texts(w, "/entry/input/files_sha256", in->npart, sum);
    fit_h5r_integers(w, "/entry/input/file_of_group", ngroup, of);
    if (n)
        fit_h5r_reals(w, "/entry/input/files_settings", 2, shape, in->files->setting, NULL);
}

static void put_input(struct fit_h5r *w, const struct fit_results *r)
{
    const struct fit_input *in = r->input;
    size_t ngroup = r->maps ? r->maps->ngroup : r->fit->ngroup;
    char text[32];
    fit_h5r_group(w, "/entry/input", "NXcollection");
    fit_h5r_text(w, "/entry/input/file_name", in->file);
    fit_h5r_text(w, "/entry/input/sha256", in->sha256);
    fit_h5r_text(w, "/entry/input/sha256_of", in->of_values ? "values" : "file");
    fit_h5r_integer(w, "/entry/input/file_size", (int64_t)in->size);
    iso_time(in->mtime, text);
    fit_h5r_text(w, "/entry/input/file_mtime", text);
    fit_h5r_text(w, "/entry/input/layout", in->layout);
    put_files(w, r, ngroup);
    if (r->kernel->space != FIT_PAIRS)
        return;
    FIT_OWNED int64_t *bin = in->bin ? malloc(ngroup * sizeof *bin) : NULL;
    for (size_t g = 0; bin && g < ngroup; g++)
        bin[g] = (int64_t)in->bin[g];
    if (bin)
        fit_h5r_integers(w, "/entry/input/bins", ngroup, bin);
    else if (in->bin)
        fit_h5r_no_memory(w, "/entry/input/bins");
    if (in->key)
        fit_h5r_texts(w, "/entry/input/keys", ngroup, in->key);
    fit_h5r_integer(w, "/entry/input/start_frame", (int64_t)in->first);
    fit_h5r_integer(w, "/entry/input/end_frame", (int64_t)in->last);
    fit_h5r_integer(w, "/entry/input/masked_frames", (int64_t)in->nmasked);
    fit_h5r_real(w, "/entry/input/q", in->q, "1/angstrom");
    fit_h5r_real(w, "/entry/input/gap", in->gap, "angstrom");
    fit_h5r_real(w, "/entry/input/dt", in->dt, "s");
    fit_h5r_text(w, "/entry/input/dt_source", in->dt_text);
}

/* ---- data */

/* Smaller maps are not compressed, which would take longer than the rest of the file. Neither are residuals, which
 * are noise: compression would save only an eighth of their bytes. */
enum { PACKED = 1 << 18 };

/* The quantity that distinguishes the groups along the first dimension: q, if each has its own, else phi. */
static const char *group_scale(const struct fit_results *r)
{
    return fit_input_groups(r->input, r->maps->ngroup) == FIT_GROUP_Q ? "q" : "phi";
}

/* phi (0 if unknown) and, for models with the axis q, q of the groups, in `folder`: one of them is the scale of the
 * dimension, written to `scale`, the other a coordinate along it. */
static void put_groups(struct fit_h5r *w, const struct fit_results *r, const char *folder, char *scale, size_t size)
{
    static const char *const name[] = {"phi", "q"}, *const unit[] = {"degree", "1/angstrom"};
    const size_t n = r->maps->ngroup;
    FIT_OWNED double *zero = calloc(n, sizeof *zero);
    const double *value[] = {r->input->phi ? r->input->phi : zero, r->input->q_group};
    char path[80];
    snprintf(scale, size, "%s/%s", folder, group_scale(r));
    if (!zero)
        fit_h5r_no_memory(w, scale);
    for (int k = 0; k < 2 && value[k]; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, name[k]);
        fit_h5r_reals(w, path, 1, &n, value[k], unit[k]);
    }
    fit_h5r_scale(w, scale, group_scale(r));
    for (int k = 0; k < 2 && value[k]; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, name[k]);
        if (strcmp(path, scale) != 0)
            fit_h5r_attach(w, path, 0, scale);
    }
}

/* Files with their own times: the same of every group. */
static void put_group_times(struct fit_h5r *w, const char *path, const char *groups, size_t ngroup, size_t n,
                            const double *value, const char *unit)
{
    if (!value)
        return;
    fit_h5r_reals(w, path, 2, (size_t[]){ngroup, n}, value, unit);
    fit_h5r_attach(w, path, 0, groups);
}

static void put_map(struct fit_h5r *w, const struct fit_results *r, const char *path, const char *groups,
                    const float *value)
{
    const struct fit_maps *m = r->maps;
    const int noise = value == m->residual;
    struct fit_h5_array a = {.type = FIT_H5_F32,
                             .rank = 3,
                             .dims = (size_t[]){m->ngroup, m->n, m->n},
                             .value = value,
                             .deflate = !noise && m->ngroup * m->n * m->n >= PACKED};
    fit_h5r_array(w, path, &a, "1");
    fit_h5r_attach(w, path, 0, groups);
    fit_h5r_attach(w, path, 1, "/entry/data/t1");
    fit_h5r_attach(w, path, 2, "/entry/data/t2");
}

static void put_data_pairs(struct fit_h5r *w, const struct fit_results *r)
{
    const struct fit_maps *m = r->maps;
    const char *unit = r->time_unit ? r->time_unit : "s";
    char groups[80];
    fit_h5r_group(w, "/entry/data", "NXdata");
    fit_h5r_attribute(w, "/entry/data", "signal", "c2");
    fit_h5r_attributes(w, "/entry/data", "axes", 3, (const char *const[]){group_scale(r), "t1", "t2"});
    if (r->fit)
        fit_h5r_attributes(w, "/entry/data", "auxiliary_signals", 2,
                           (const char *const[]){"c2_model", "residual"});
    fit_h5r_attribute_real(w, "/entry/data", "bin", (double)m->bin);
    put_groups(w, r, "/entry/data", groups, sizeof groups);
    fit_h5r_reals(w, "/entry/data/t1", 1, &m->n, m->t, unit);
    fit_h5r_scale(w, "/entry/data/t1", "t1");
    fit_h5r_reals(w, "/entry/data/t2", 1, &m->n, m->t, unit);
    fit_h5r_scale(w, "/entry/data/t2", "t2");
    put_group_times(w, "/entry/data/t_of_group", groups, m->ngroup, m->n, m->t_group, unit);
    put_map(w, r, "/entry/data/c2", groups, m->c2);
    if (r->fit) {
        put_map(w, r, "/entry/data/c2_model", groups, m->model);
        put_map(w, r, "/entry/data/residual", groups, m->residual);
        fit_h5r_attribute(w, "/entry/data/residual", "long_name", "(c2 - c2_model) / sigma");
    }
    fit_h5r_reals(w, "/entry/data/sigma", 1, &m->ngroup, r->fit ? r->fit->sigma : r->sigma, "1");
    fit_h5r_attach(w, "/entry/data/sigma", 0, groups);
    struct fit_h5_array mask = {.type = FIT_H5_U8,
                                .rank = 3,
                                .dims = (size_t[]){m->ngroup, m->n, m->n},
                                .value = m->mask,
                                .deflate = 1};
    fit_h5r_array(w, "/entry/data/mask", &mask, NULL);
}

static void put_cuts(struct fit_h5r *w, const struct fit_results *r)
{
    const struct fit_maps *m = r->maps;
    size_t dims[3] = {m->ngroup, FIT_MAPS_AGES, m->nlag}, ages = FIT_MAPS_AGES;
    static const char *const name[] = {"/entry/cuts/g2", "/entry/cuts/g2_err",
                                       "/entry/cuts/g2_model"};
    const double *value[] = {m->g2, m->g2_error, m->g2_model};
    const char *unit = r->time_unit ? r->time_unit : "s";
    char groups[80];
    fit_h5r_group(w, "/entry/cuts", "NXdata");
    fit_h5r_attribute(w, "/entry/cuts", "signal", "g2");
    fit_h5r_attributes(w, "/entry/cuts", "axes", 3, (const char *const[]){group_scale(r), "age", "tau"});
    put_groups(w, r, "/entry/cuts", groups, sizeof groups);
    fit_h5r_reals(w, "/entry/cuts/age", 1, &ages, m->age, unit);
    fit_h5r_scale(w, "/entry/cuts/age", "age");
    fit_h5r_reals(w, "/entry/cuts/tau", 1, &m->nlag, m->tau, unit);
    fit_h5r_scale(w, "/entry/cuts/tau", "tau");
    put_group_times(w, "/entry/cuts/tau_of_group", groups, m->ngroup, m->nlag, m->tau_group, unit);
    put_group_times(w, "/entry/cuts/age_of_group", groups, m->ngroup, ages, m->age_group, unit);
    for (int c = 0; c < (r->fit ? 3 : 2); c++) {
        struct fit_h5_array a = {
            .type = FIT_H5_F64, .rank = 3, .dims = dims, .value = value[c], .deflate = 1};
        fit_h5r_array(w, name[c], &a, "1");
        fit_h5r_attach(w, name[c], 0, groups);
        fit_h5r_attach(w, name[c], 1, "/entry/cuts/age");
        fit_h5r_attach(w, name[c], 2, "/entry/cuts/tau");
    }
}

static void put_row_values(struct fit_h5r *w, const char *path, size_t n, const float *value, const char *unit)
{
    struct fit_h5_array a = {.type = FIT_H5_F32, .rank = 1, .dims = &n, .value = value};
    fit_h5r_array(w, path, &a, unit);
}

/* A column, or the coordinates of the groups, in the order of the file. */
static void put_column(struct fit_h5r *w, const struct fit_results *r, const char *name,
                       const char *unit, const double *column, const double *coord)
{
    const struct fit_dataset *ds = r->ds;
    FIT_OWNED double *value = malloc((ds->nrow + 1) * sizeof *value);
    char path[128];
    for (size_t t = 0; value && t < ds->ntile; t++)
        for (size_t i = ds->tile[t].i0; i < ds->tile[t].i1; i++)
            value[ds->row ? ds->row[i] : i] = coord ? coord[ds->tile[t].group] : column[i];
    snprintf(path, sizeof path, "/entry/data/%s", name);
    if (value)
        fit_h5r_reals(w, path, 1, &ds->nrow, value, unit);
    else
        fit_h5r_no_memory(w, path);
}

/* "G1 (Pa),G2 (Pa)": the quantities that the numbers in the column of the measured quantity refer to. */
static void name_quantities(struct fit_h5r *w, const struct fit_kernel *k)
{
    char names[500] = "", path[128];
    size_t at = 0;
    for (size_t n = 0; n < k->nobservable && at < sizeof names; n++) {
        const struct fit_column *c = &k->column[k->observable[n].value];
        const int plain = strcmp(c->unit, "1") == 0;
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s%s%s%s", n ? "," : "", c->name, plain ? "" : " (",
                               plain ? "" : c->unit, plain ? "" : ")");
    }
    snprintf(path, sizeof path, "/entry/data/%s", k->column[k->which].name);
    fit_h5r_attribute(w, path, "names", names);
}

static void put_data_rows(struct fit_h5r *w, const struct fit_results *r)
{
    const struct fit_kernel *k = r->kernel;
    const struct fit_maps *m = r->maps;
    const struct fit_layout *l = &r->ds->layout;
    fit_h5r_group(w, "/entry/data", "NXdata");
    fit_h5r_attribute(w, "/entry/data", "signal", "value");
    if (k->naxis) /* the column that tells curves apart */
        fit_h5r_attribute(w, "/entry/data", "groups", k->axis[0].name);
    else if (k->nobservable)
        fit_h5r_attribute(w, "/entry/data", "groups", k->column[k->which].name);
    for (size_t a = 0; a < k->naxis; a++)
        put_column(w, r, k->axis[a].name, k->axis[a].unit, NULL, l->coord[a]);
    for (size_t c = 0; c < k->ncolumn; c++)
        if (k->column[c].role == FIT_ROLE_COVARIATE && l->column[c])
            put_column(w, r, k->column[c].name, k->column[c].unit, l->column[c], NULL);
    if (k->nobservable)
        name_quantities(w, k);
    const char *unit = NULL, *name = NULL; /* of what is measured */
    for (size_t c = 0; c < k->ncolumn; c++)
        if (k->column[c].role == FIT_ROLE_VALUE) {
            unit = k->column[c].unit;
            name = k->nobservable ? "value" : k->column[c].name;
        }
    if (k->nobservable) /* of several, perhaps in several units */
        unit = NULL;
    put_row_values(w, "/entry/data/value", m->n, m->c2, unit);
    if (name)
        fit_h5r_attribute(w, "/entry/data/value", "long_name", name);
    if (r->fit) {
        put_row_values(w, "/entry/data/model", m->n, m->model, unit);
        put_row_values(w, "/entry/data/residual", m->n, m->residual, NULL);
    } else {
        put_row_values(w, "/entry/data/sigma", m->n, m->residual, unit);
    }
}

/* The model between the rows: x, its value, and the value of the column that distinguishes curves. */
static void put_fine_rows(struct fit_h5r *w, const struct fit_results *r)
{
    FIT_SCRATCH(a);
    struct fit_fine_rows fine;
    static const char *const path[] = {"/entry/data_fine/x", "/entry/data_fine/model", "/entry/data_fine/curve"};
    if (!fit_results_fine_rows(r, &fine, &a))
        return;
    const double *value[] = {fine.x, fine.model, fine.curve};
    fit_h5r_group(w, "/entry/data_fine", "NXdata");
    fit_h5r_attribute(w, "/entry/data_fine", "signal", "model");
    for (int k = 0; k < 3; k++) {
        struct fit_h5_array column = {.type = FIT_H5_F64, .rank = 1, .dims = &fine.n, .value = value[k], .deflate = 1};
        fit_h5r_array(w, path[k], &column, NULL);
    }
}

/* ---- all of it */

void fit_write_data(struct fit_h5r *w, const struct fit_results *r)
{
    put_entry(w, r);
    put_input(w, r);
    if (r->maps && r->kernel->space == FIT_PAIRS) {
        put_data_pairs(w, r);
        put_cuts(w, r);
        fit_write_kernel(w, r);
    } else if (r->maps) {
        put_data_rows(w, r);
        put_fine_rows(w, r);
        fit_write_kernel(w, r);
    }
}
