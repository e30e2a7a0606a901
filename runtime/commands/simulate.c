/* simulate.c -- `simulate`: a synthetic experiment with noise, in the layout that beamlines
 * write.
 *
 * Pairs: an HDF5 file as the correlator of 8-ID-I at the APS writes it (upper halves including the
 * diagonal, zeros below, compressed, one chunk per matrix up to 2048 frames, bins numbered from 1), plus
 * /entry/simulation with the truth. Float32 as there; float64 when there is no noise, so that the
 * model can be compared to the last digit. Table models: a .csv with the covariates, the value and,
 * when the model has a column for it, its standard deviation; the truth stands in its first lines.
 *
 * Noise is normal, independent for each pair, a function of (seed, angle, pair) only, so that files
 * do not depend on the number of threads.  Its standard deviation is given, as a number or as a
 * part of the value (3%), or follows from counting statistics: for k counts per pixel and frame, averaged over n
 * pixels, with <I1 I2> = c2, var c2 = [c2 (2/k + 1/k^2) + c2^2 - 1] / n which is exact for Poisson counts of a constant
 * intensity (c2 = 1) and close for weak contrast. `speckle`: c2 of finitely many speckles, one for each pixel, with
 * errors in common between frames (speckle.h), of which photons may be counted, and whose frames may be averages of
 * shorter exposures: then the model is that of the exposures.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "commands/model_grid.h"
#include "errors/jacobian.h"
#include "hdf5/h5_writer.h"
#include "base/json.h"
#include "machine/topology.h"
#include "model/law.h"
#include "base/output.h"
#include "commands/program.h"
#include "commands/progress.h"
#include "math/rng.h"
#include "commands/speckle.h"
#include "machine/team.h"
#include "base/units.h"

#include "common/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct noise {
    double sigma;          /* constant, or */
    double relative;       /* a part of the value, or */
    double counts, pixels; /* counts > 0: from counting statistics, or */
    int speckle;           /* from `pixels` speckles, */
    double photons;        /* so many counted of each (0: intensities), */
    size_t average;        /* exposures averaged into a frame, */
    struct fit_experiment *exposures; /* their experiment; NULL: one for a frame */
    int law;               /* from the model's noise distribution */
    uint64_t seed;
};

/* A standard deviation: absolute, or with % of the value. */
static enum fit_status read_deviation(const struct fit_cli *cli, struct noise *noise, struct fit_error *err)
{
    char *end;
    double s = strtod(cli->noise, &end);
    int percent = strcmp(end, "%") == 0;
    if (end == cli->noise || (*end && !percent) || !(s >= 0) || !isfinite(s))
        return fit_fail(err, FIT_ERR_USAGE,
                        "--noise '%s': give a standard deviation, 0.01 or 3%% of the value,"
                        " from-counts or speckle",
                        cli->noise);
    noise->sigma = percent ? 0 : s;
    noise->relative = percent ? s / 100 : 0;
    return FIT_OK;
}

static const double USUAL_COUNTS = 0.2; /* from-counts */

/* Speckles: their number, photons of each, exposures of a frame. */
static enum fit_status read_speckle(const struct fit_cli *cli, struct noise *noise, struct fit_error *err)
{
    if (!(cli->pixels >= 2))
        return fit_fail(err, FIT_ERR_USAGE, "--noise speckle: --pixels %g is too few; give 2 or more", cli->pixels);
    if (cli->counts <= 0 || isinf(cli->counts))
        return fit_fail(err, FIT_ERR_USAGE, "--noise speckle: --counts %g: give a number above 0, or leave it out for "
                                            "intensities",
                        cli->counts);
    noise->speckle = 1;
    noise->pixels = cli->pixels;
    noise->photons = isnan(cli->counts) ? 0 : cli->counts;
    noise->average = cli->average > 1 ? (size_t)cli->average : 1;
    return FIT_OK;
}

static enum fit_status read_noise(const struct fit_cli *cli, const struct fit_kernel *k, struct noise *noise,
                                  struct fit_error *err)
{
    *noise = (struct noise){.seed = cli->seed};
    if (k->density && cli->noise && strcmp(cli->noise, "0") != 0)
        return fit_fail(err, FIT_ERR_USAGE,
                        "--noise %s: %s draws values from its noise distribution, %s; --noise 0 gives the mean",
                        cli->noise, k->name, k->density->name);
    if (k->density && !cli->noise && !fit_law_known(k->density->law))
        return fit_fail(err, FIT_ERR_USAGE,
                        "%s has a log density of its own, and no way to draw from it; --noise 0 gives the mean",
                        k->name);
    noise->law = k->density && !cli->noise;
    if (!cli->noise)
        return FIT_OK;
    if (strcmp(cli->noise, "from-counts") == 0) {
        const double counts = isnan(cli->counts) ? USUAL_COUNTS : cli->counts;
        if (!(counts > 0) || !(cli->pixels >= 1))
            return fit_fail(err, FIT_ERR_USAGE,
                            "--noise from-counts: --counts %g, --pixels %g: both must be above 0",
                            counts, cli->pixels);
        noise->counts = counts;
        noise->pixels = cli->pixels;
        return FIT_OK;
    }
    if (strcmp(cli->noise, "speckle") == 0)
        return read_speckle(cli, noise, err);
    return read_deviation(cli, noise, err);
}

static int is_noisy(const struct noise *n)
{
    return n->sigma > 0 || n->relative > 0 || n->counts > 0 || n->speckle;
}

static double sigma_at(const struct noise *n, double c2)
{
    if (n->relative > 0)
        return n->relative * fabs(c2);
    if (!(n->counts > 0))
        return n->sigma;
    double k = n->counts, v = c2 * (2 / k + 1 / (k * k)) + c2 * c2 - 1;
    return v > 0 ? sqrt(v / n->pixels) : 0;
}

/* Adds noise to columns j0.. of row i of matrix g. */
static void add_noise(const struct noise *noise, uint64_t g, size_t i, size_t j0, size_t n,
                      double *row)
{
    double z[2] = {0, 0};
    size_t half = (n + 1) / 2;
    for (size_t j = j0; j < n; j++) {
        if (j == j0 || j % 2 == 0)
            fit_rng_normal(noise->seed, g, i * half + j / 2, z);
        row[j] += sigma_at(noise, row[j]) * z[j % 2];
    }
}

/* ---- two-time matrices ----------------------------------------------------------------------- */

static void matrix_path(char *path, size_t size, size_t g)
{
    snprintf(path, size, "/xpcs/twotime/correlation_map/c2_%05zu", g + 1);
}

static const double SPECKLE_CHANGE = 0.01; /* of |g1|^2: more is another model */

/* |g1|^2 of group g at all exposures, upper half, from c2. */
static enum fit_status correlation(const struct fit_experiment *e, size_t g, double offset, double contrast,
                                   int threads, double *square, struct fit_error *err)
{
    const size_t n = e->layout.nframe;
    enum fit_status st = fit_experiment_rows(e, &(struct fit_experiment_part){g, 0, n, 1, threads}, square, NULL, err);
    for (size_t i = 0; i < n && st == FIT_OK; i++)
        for (size_t j = i; j < n; j++)
            square[i * n + j] = (square[i * n + j] - offset) / contrast;
    return st;
}

/* matrix <- that of finitely many speckles: its contrast times their correlation, plus its baseline. */
static enum fit_status speckle_matrix(const struct fit_experiment *e, const struct noise *noise, size_t g, int threads,
                                      double *matrix, struct fit_error *err)
{
    const struct fit_experiment *of = noise->exposures ? noise->exposures : e;
    const size_t n = e->layout.nframe, all = of->layout.nframe, nl = e->kernel->nlinear;
    double change, offset = e->kernel->intercept >= 0 ? e->lin[g * nl + (size_t)e->kernel->intercept] : NAN;
    double contrast = nl == 2 ? e->lin[g * nl + (size_t)(1 - e->kernel->intercept)] : NAN;
    if (!(contrast > 0) || isnan(offset))
        return fit_fail(err, FIT_ERR_USAGE, "--noise speckle: only for models c2 = offset + contrast |g1|^2");
    FIT_SCRATCH(a);
    double *square = fit_take(&a, all * all, sizeof *square);
    if (!square)
        return fit_fail(err, FIT_ERR_MEMORY, "simulate: out of memory for matrices of %zu exposures", all);
    const struct fit_speckle_part part = {.square = square};
    const struct fit_speckle_draw draw = {1, &part, (size_t)noise->pixels, noise->average, contrast, noise->photons,
                                          noise->seed, g};
    enum fit_status st = correlation(of, g, offset, contrast, threads, square, err);
    if (st == FIT_OK)
        st = fit_speckle_parts(all, &draw, matrix, &change, err);
    if (st == FIT_OK && change > SPECKLE_CHANGE)
        st = fit_fail(err, FIT_ERR_NUMERIC, "--noise speckle: at these parameters |g1| is not a correlation function"
                      " (g1 changes sign or phase): |g1|^2 would be changed by %.2g", change);
    for (size_t i = 0; i < n && st == FIT_OK; i++)
        for (size_t j = i; j < n; j++)
            matrix[i * n + j] = offset + contrast * matrix[i * n + j];
    return st;
}

struct noisy {
    const struct noise *noise;
    size_t g, n;
    double *matrix;
};

static void add_row_noise(void *user, size_t i, size_t thread)
{
    const struct noisy *x = user;
    (void)thread;
    add_noise(x->noise, x->g, i, i, x->n, x->matrix + i * x->n);
}

/* The model has no finite value: an error of the parameters, which the caller chose. */
static enum fit_status no_value(const struct fit_experiment *e, double value, const char *where, struct fit_error *err)
{
    return fit_fail(err, FIT_ERR_USAGE, "simulate: at these parameters the model %s is %s at %s: there is nothing to "
                    "measure; give others (--set NAME=VALUE), or other places", e->kernel->name,
                    isnan(value) ? "not a number" : "infinite", where);
}

static enum fit_status check_matrix(const struct fit_experiment *e, size_t g, const double *matrix,
                                    struct fit_error *err)
{
    const size_t n = e->layout.nframe;
    char where[80];
    for (size_t i = 0; i < n; i++)
        for (size_t j = i + 1; j < n; j++)
            if (!isfinite(matrix[i * n + j])) {
                snprintf(where, sizeof where, "frames %zu and %zu of matrix %zu", i + 1, j + 1, g + 1);
                return no_value(e, matrix[i * n + j], where, err);
            }
    return FIT_OK;
}

/* One matrix as doubles: upper half, noise added. */
static enum fit_status make_matrix(const struct fit_experiment *e, const struct noise *noise,
                                   size_t g, int threads, double *matrix, struct fit_error *err)
{
    size_t n = e->layout.nframe;
    enum fit_status st = fit_experiment_rows(e, &(struct fit_experiment_part){g, 0, n, 1, threads}, matrix, NULL, err);
    if (st == FIT_OK)
        st = check_matrix(e, g, matrix, err);
    if (st != FIT_OK || !is_noisy(noise))
        return st;
    if (threads <= 0)
        threads = fit_topology_threads();
    if (noise->speckle)
        return speckle_matrix(e, noise, g, threads, matrix, err);
    struct noisy all = {noise, g, n, matrix};
    fit_team_run((struct fit_team){threads, FIT_TEAM_NEXT}, n, add_row_noise, &all);
    return FIT_OK;
}

/* Makes the matrices g0 .. g0 + m - 1 and writes them. */
static enum fit_status write_batch(struct fit_h5r *h, const struct fit_experiment *e,
                                   const struct noise *noise, size_t g0, size_t m, int threads,
                                   struct fit_error *err)
{
    FIT_SCRATCH(a);
    const size_t n = e->layout.nframe, each = fit_h5r_matrix_rows(n) * n;
    double *matrix = fit_take(&a, n * n, sizeof *matrix);
    float *single = fit_take(&a, m * each, sizeof *single);
    enum fit_status st = FIT_OK;
    if (a.failed)
        st = fit_fail(err, FIT_ERR_MEMORY, "simulate: out of memory for matrices of %zu frames", n);
    for (size_t k = 0; k < m && st == FIT_OK; k++) {
        st = make_matrix(e, noise, g0 + k, threads, matrix, err);
        for (size_t c = 0; c < n * n && st == FIT_OK; c++)
            single[k * each + c] = (float)matrix[c];
    }
    if (st == FIT_OK)
        fit_h5r_matrices(h, matrix_path, g0, m, n, single);
    return st;
}

static enum fit_status write_exact(struct fit_h5r *h, const struct fit_experiment *e,
                                   const struct noise *noise, int threads, struct fit_error *err)
{
    size_t n = e->layout.nframe, dims[2] = {n, n};
    FIT_OWNED double *matrix = malloc(n * n * sizeof *matrix);
    enum fit_status st = matrix ? FIT_OK : fit_no_memory(err, "simulate");
    for (size_t g = 0; g < e->layout.ngroup && st == FIT_OK; g++) {
        char path[80];
        matrix_path(path, sizeof path, g);
        st = make_matrix(e, noise, g, threads, matrix, err);
        if (st == FIT_OK)
            fit_h5r_reals(h, path, 2, dims, matrix, NULL);
    }
    return st;
}

static double setting_value(const struct fit_experiment *e, const char *name, double otherwise)
{
    for (size_t s = 0; s < e->kernel->nsetting; s++)
        if (strcmp(e->kernel->setting[s].name, name) == 0 && fit_units_means(name, e->kernel->setting[s].unit))
            return fit_units_from_model(name, e->kernel->setting[s].unit, e->setting[s]);
    return otherwise;
}

/* Bins of the rings of q, one ring after the other, each with the same azimuths. */
static void write_qmap(struct fit_h5r *h, const struct fit_experiment *e, const double *q)
{
    size_t n = e->layout.ngroup, nq = e->nring, nphi = n / nq;
    FIT_OWNED int64_t *number = malloc(n * sizeof *number);
    fit_h5r_reals(h, "/xpcs/qmap/dynamic_v_list_dim0", 1, &nq, q, NULL);
    fit_h5r_attribute(h, "/xpcs/qmap/dynamic_v_list_dim0", "unit",
                      "\xC3\x85\xE2\x81\xBB\xC2\xB9"); /* Å⁻¹ */
    fit_h5r_reals(h, "/xpcs/qmap/dynamic_v_list_dim1", 1, &nphi, e->phi, NULL);
    fit_h5r_attribute(h, "/xpcs/qmap/dynamic_v_list_dim1", "unit", "deg");
    fit_h5r_integers(h, "/xpcs/qmap/dynamic_num_pts", 2, (int64_t[]){(int64_t)nq, (int64_t)nphi});
    fit_h5r_texts(h, "/xpcs/qmap/map_names", 2, (const char *const[]){"q", "phi"});
    fit_h5r_texts(h, "/xpcs/qmap/map_units", 2,
                  (const char *const[]){"\xC3\x85\xE2\x81\xBB\xC2\xB9", "deg"});
    if (!number)
        fit_h5r_no_memory(h, "/xpcs/qmap/dynamic_index_mapping");
    for (size_t g = 0; number && g < n; g++)
        number[g] = (int64_t)g;
    if (number)
        fit_h5r_integers(h, "/xpcs/qmap/dynamic_index_mapping", n, number);
    for (size_t g = 0; number && g < n; g++)
        number[g] = (int64_t)g + 1;
    if (number)
        fit_h5r_integers(h, "/xpcs/twotime/processed_bins", n, number);
}

static void write_noise(struct fit_h5r *h, const struct noise *noise)
{
    fit_h5r_real(h, "/entry/simulation/sigma",
                 noise->counts > 0 || noise->relative > 0 || noise->speckle ? NAN : noise->sigma, NULL);
    if (noise->counts > 0) {
        fit_h5r_real(h, "/entry/simulation/counts", noise->counts, NULL);
        fit_h5r_real(h, "/entry/simulation/pixels", noise->pixels, NULL);
    }
    if (noise->speckle) {
        fit_h5r_real(h, "/entry/simulation/speckles", noise->pixels, NULL);
        fit_h5r_real(h, "/entry/simulation/counts", noise->photons > 0 ? noise->photons : NAN, NULL);
        fit_h5r_integer(h, "/entry/simulation/exposures", (int64_t)noise->average);
    }
    fit_h5r_integer(h, "/entry/simulation/seed", (int64_t)noise->seed);
}

static void write_truth(struct fit_h5r *h, const struct fit_experiment *e, const struct noise *noise)
{
    const struct fit_kernel *k = e->kernel;
    size_t ngroup = e->layout.ngroup;
    FIT_OWNED double *column = malloc(ngroup * sizeof *column);
    char path[128];
    if (!column)
        fit_h5r_no_memory(h, "/entry/simulation");
    fit_h5r_group(h, "/entry/simulation", NULL);
    fit_h5r_attribute(h, "/entry/simulation", "model", k->name);
    fit_h5r_attribute(h, "/entry/simulation", "model_sha256", k->hash);
    fit_h5r_attribute(h, "/entry/simulation", "program", "homodyne-gen " FIT_VERSION);
    for (size_t p = 0; p < k->nparam; p++) {
        snprintf(path, sizeof path, "/entry/simulation/%s", k->param[p].name);
        fit_h5r_real(h, path, e->theta[p], k->param[p].unit);
    }
    for (size_t q = 0; column && q < k->nlinear; q++) {
        for (size_t g = 0; g < ngroup; g++)
            column[g] = e->lin[g * k->nlinear + q];
        snprintf(path, sizeof path, "/entry/simulation/%s", k->linear[q].name);
        fit_h5r_reals(h, path, 1, &ngroup, column, k->linear[q].unit);
    }
    for (size_t s = 0; s < k->nsetting; s++) {
        snprintf(path, sizeof path, "/entry/simulation/%s", k->setting[s].name);
        fit_h5r_real(h, path, e->setting[s], k->setting[s].unit);
    }
    fit_h5r_real(h, "/entry/simulation/first_time", e->time[0], "s");
    write_noise(h, noise);
}

/* Wavevectors of the rings, the setting of a single one, NaN if unknown; the caller frees. */
static double *ring_values(const struct fit_experiment *e, struct fit_error *err)
{
    double *q = malloc(e->nring * sizeof *q);
    if (!q)
        fit_no_memory(err, "simulate");
    for (size_t k = 0; q && k < e->nring; k++)
        q[k] = e->q[k * (e->layout.ngroup / e->nring)];
    if (q && e->nring == 1)
        q[0] = setting_value(e, "q", q[0]);
    return q;
}

static enum fit_status write_pairs(const char *path, const struct fit_experiment *e,
                                   const struct fit_cli *cli, const struct noise *noise,
                                   struct fit_progress_view *view, struct fit_error *err)
{
    struct fit_h5r h;
    int threads = cli->threads ? (int)cli->threads : fit_topology_threads();
    size_t batch = threads < 16 ? (size_t)threads : 16, ngroup = e->layout.ngroup;
    enum fit_status st = fit_h5r_create(path, &h, err);
    if (st != FIT_OK)
        return st;
    double *q = ring_values(e, err);
    if (!q) {
        fit_h5r_close(&h, NULL);
        return err->status;
    }
    write_qmap(&h, e, q);
    free(q);
    fit_h5r_real(&h, "/entry/instrument/detector_1/frame_time", cli->dt, "s");
    fit_h5r_integer(&h, "/xpcs/twotime/config/stride_frame", 1);
    fit_h5r_integer(&h, "/xpcs/twotime/config/avg_frame", 1);
    write_truth(&h, e, noise);
    if (!is_noisy(noise))
        st = write_exact(&h, e, noise, threads, err);
    fit_progress_phase(view, "simulating");
    for (size_t g = 0; is_noisy(noise) && g < ngroup && st == FIT_OK; g += batch) {
        st = write_batch(&h, e, noise, g, g + batch < ngroup ? batch : ngroup - g, threads, err);
        fit_progress_part(view, (double)(g + batch), (double)ngroup);
    }
    fit_progress_clear(view);
    enum fit_status closed = fit_h5r_close(&h, st == FIT_OK ? err : NULL);
    return st == FIT_OK ? closed : st;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* The column with this role, or NULL. */
static const struct fit_column *column_of(const struct fit_kernel *k, enum fit_role role)
{
    for (size_t c = 0; c < k->ncolumn; c++)
        if (k->column[c].role == role)
            return &k->column[c];
    return NULL;
}

static void print_number(FILE *f, double x)
{
    char text[40];
    fit_format_double(text, sizeof text, x);
    fputs(text, f);
}

/* "# name = value unit"; n values, of the groups, are separated by commas. */
static void print_truth(FILE *f, const char *name, const double *x, size_t n, size_t stride,
                        const char *unit)
{
    fprintf(f, "# %s = ", name);
    for (size_t g = 0; g < n; g++) {
        fputs(g ? "," : "", f);
        print_number(f, x[g * stride]);
    }
    fprintf(f, strcmp(unit, "1") == 0 ? "\n" : " %s\n", unit);
}

/* Is column c a covariate of the file? */
static int is_written(const struct fit_kernel *k, size_t c)
{
    return k->column[c].role == FIT_ROLE_COVARIATE && !(k->nobservable && c == k->which);
}

/* Comment lines that describe the origin of the file; then the names of the columns. */
static void write_table_head(FILE *f, const struct fit_experiment *e, const struct fit_cli *cli,
                             int with_sigma)
{
    const struct fit_kernel *k = e->kernel;
    fprintf(f, "# simulated with homodyne-%s, noise %s, seed %llu\n", k->name,
            cli->noise ? cli->noise : k->density ? k->density->name : "0", (unsigned long long)cli->seed);
    for (size_t p = 0; p < k->nparam; p++)
        print_truth(f, k->param[p].name, e->theta + p, e->own && k->param[p].over >= 0 ? e->layout.ngroup : 1,
                    k->nparam, k->param[p].unit);
    for (size_t q = 0; q < k->nlinear; q++)
        print_truth(f, k->linear[q].name, e->lin + q, k->linear[q].over < 0 ? 1 : e->layout.ngroup,
                    k->nlinear, k->linear[q].unit);
    for (size_t s = 0; s < k->nsetting; s++)
        print_truth(f, k->setting[s].name, e->setting + s, 1, 1, k->setting[s].unit);
    for (size_t a = 0; a < k->naxis; a++)
        fprintf(f, "%s,", k->axis[a].name);
    for (size_t c = 0; c < k->ncolumn; c++)
        if (is_written(k, c))
            fprintf(f, "%s,", k->column[c].name);
    const struct fit_column *value = column_of(k, FIT_ROLE_VALUE);
    for (size_t n = 0; n < k->nobservable; n++) {
        fprintf(f, "%s%s", n ? "," : "", k->column[k->observable[n].value].name);
        if (with_sigma && k->observable[n].sigma >= 0)
            fprintf(f, ",%s", k->column[k->observable[n].sigma].name);
    }
    if (!k->nobservable)
        fputs(value ? value->name : "value", f);
    if (!k->nobservable && with_sigma)
        fprintf(f, ",%s", column_of(k, FIT_ROLE_SIGMA)->name);
    fputc('\n', f);
}

/* Row i, drawn from the noise distribution about its mean. */
static enum fit_status draw_from_law(struct fit_experiment *e, size_t i, double mean, const struct noise *noise,
                                     double *value, struct fit_error *err)
{
    enum { MOST_ARGUMENTS = 8 };
    const struct fit_density *d = e->kernel->density;
    struct fit_rng rng = {.seed = noise->seed, .iteration = (uint32_t)i, .purpose = FIT_RNG_PREDICT};
    struct fit_tile t = {.i0 = i / FIT_LANES * FIT_LANES, .i1 = i + 1, .group = e->group[i]};
    double arg[MOST_ARGUMENTS] = {0};
    _Alignas(64) double all[MOST_ARGUMENTS * FIT_LANES];
    enum fit_status st = fit_experiment_turn(e, e->group[i], err);
    if (st != FIT_OK)
        return st;
    d->arguments(&e->layout, e->workspace, &t, all);
    for (size_t a = 0; a < d->nargument && a < MOST_ARGUMENTS; a++)
        arg[a] = all[a * FIT_LANES + i % FIT_LANES];
    *value = fit_law_draw(d->law, mean, arg, &rng);
    return FIT_OK;
}

/* The value measured in row i influences the following rows: their mean is computed again. */
static enum fit_status feed_back(struct fit_experiment *e, size_t i, double value, double *mean, struct fit_error *err)
{
    const size_t n = e->layout.nrow;
    for (size_t c = 0; c < e->kernel->ncolumn; c++)
        if (e->kernel->column[c].role == FIT_ROLE_VALUE)
            e->column[c][i] = value;
    if (i + 1 == n)
        return FIT_OK;
    const uint32_t row = (uint32_t)i + 1;
    enum fit_status st = fit_experiment_follow(e, row, err);
    if (st == FIT_OK)
        fit_jacobian_rows(&(struct fit_tables){e->kernel, &e->layout, e->workspace, e->lin},
                          &(struct fit_points){1, &row, NULL, &e->group[row]}, mean + row, NULL);
    return st;
}

/* The value of row i, and its error. */
static enum fit_status write_value(FILE *f, struct fit_experiment *e, size_t i, double *all, const struct noise *noise,
                                   int with_sigma, struct fit_error *err)
{
    const double mean = all[i], sigma = sigma_at(noise, mean);
    double z[2] = {0, 0}, value = mean;
    enum fit_status st = noise->law ? draw_from_law(e, i, mean, noise, &value, err) : FIT_OK;
    if (is_noisy(noise))
        fit_rng_normal(noise->seed, 0, i, z);
    value = noise->law ? value : mean + sigma * z[0];
    if (st == FIT_OK && e->kernel->feedback)
        st = feed_back(e, i, value, all, err);
    print_number(f, value);
    if (with_sigma) {
        fputc(',', f);
        print_number(f, sigma);
    }
    return st;
}

/* Row i of the grid; with several measured quantities, each of which has `stride` rows, one line for all. */
static enum fit_status write_table_row(FILE *f, struct fit_experiment *e, size_t i, size_t stride, double *mean,
                                       const struct noise *noise, int with_sigma, struct fit_error *err)
{
    const struct fit_kernel *k = e->kernel;
    enum fit_status st = FIT_OK;
    for (size_t a = 0; a < k->naxis; a++) {
        print_number(f, e->coord[a][e->group[i]]);
        fputc(',', f);
    }
    for (size_t c = 0; c < k->ncolumn; c++)
        if (is_written(k, c)) {
            print_number(f, e->column[c][i]);
            fputc(',', f);
        }
    for (size_t n = 0; n < (k->nobservable ? k->nobservable : 1) && st == FIT_OK; n++) {
        const size_t row = i + n * stride;
        const int sigma = with_sigma && (!k->nobservable || k->observable[n].sigma >= 0);
        fputs(n ? "," : "", f);
        st = write_value(f, e, row, mean, noise, sigma, err);
    }
    fputc('\n', f);
    return st;
}

/* "x = -100 (row 1)" */
static enum fit_status check_table(const struct fit_experiment *e, const double *mean, struct fit_error *err)
{
    char where[200] = "";
    size_t at = 0;
    for (size_t i = 0; i < e->layout.nrow; i++) {
        if (isfinite(mean[i]))
            continue;
        for (size_t c = 0; c < e->kernel->ncolumn && at < sizeof where; c++)
            if (e->kernel->column[c].role == FIT_ROLE_COVARIATE)
                at += (size_t)snprintf(where + at, sizeof where - at, "%s%s = %g", at ? ", " : "",
                                       e->kernel->column[c].name, e->column[c][i]);
        if (at < sizeof where)
            snprintf(where + at, sizeof where - at, " (row %zu)", i + 1);
        return no_value(e, mean[i], where, err);
    }
    return FIT_OK;
}

static enum fit_status write_table(const char *path, struct fit_experiment *e,
                                   const struct fit_cli *cli, const struct noise *noise,
                                   struct fit_error *err)
{
    const struct fit_kernel *k = e->kernel;
    const size_t n = e->layout.nrow;
    int with_sigma = is_noisy(noise) && column_of(k, FIT_ROLE_SIGMA);
    FIT_OWNED double *mean = malloc(n * sizeof *mean);
    FILE *f = fopen(path, "w");
    enum fit_status st = FIT_OK;
    if (!mean || !f) {
        st = mean ? fit_fail(err, FIT_ERR_IO, "%s: cannot be written: %s", path, strerror(errno))
                  : fit_fail(err, FIT_ERR_MEMORY, "simulate: out of memory for %zu rows", n);
        goto done;
    }
    if ((st = fit_experiment_table(e, mean, NULL, err)) != FIT_OK || (st = check_table(e, mean, err)) != FIT_OK)
        goto done;
    write_table_head(f, e, cli, with_sigma);
    const size_t stride = n / (k->nobservable ? k->nobservable : 1);
    for (size_t i = 0; i < stride && st == FIT_OK; i++)
        st = write_table_row(f, e, i, stride, mean, noise, with_sigma, err);
done:
    if (f && fclose(f) != 0 && st == FIT_OK)
        st = fit_fail(err, FIT_ERR_IO, "%s: cannot be written", path);
    return st;
}

/* ---- configuration --------------------------------------------------------------------------- */

static int same_folder(const char *a, const char *b)
{
    const ptrdiff_t n = text_file_name(a) - a;
    return n == text_file_name(b) - b && strncmp(a, b, (size_t)n) == 0;
}

/* Path of the data in the configuration: relative when the two files lie side by side. */
static void data_path(const char *data, const char *config, char *text, size_t size)
{
    char *full = NULL;
    if (same_folder(data, config)) {
        snprintf(text, size, "%s", text_file_name(data));
    } else {
        full = realpath(data, NULL);
        snprintf(text, size, "%s", full ? full : data);
    }
    free(full);
}

/* 1 when the setting has its own key in a configuration. */
static int dedicated(const char *name)
{
    return strcmp(name, "q") == 0 || strcmp(name, "gap") == 0 || strcmp(name, "dt") == 0;
}

static void config_line(FILE *f, const char *before, double x, const char *after)
{
    fputs(before, f);
    print_number(f, x);
    fprintf(f, "%s\n", after);
}

/* Frames, wavevector and gap under the names of the Python packages. */
static void write_geometry(FILE *f, const struct fit_experiment *e, const struct fit_cli *cli)
{
    double q = e->nring > 1 ? 0 : setting_value(e, "q", e->q[0]), gap = setting_value(e, "gap", cli->gap);
    fputs("analyzer_parameters:\n", f);
    config_line(f, "  dt: ", cli->dt, "               # s");
    fputs("  start_frame: 1       # from 1, inclusive\n"
          "  end_frame: -1        # the last\n", f);
    if (q > 0)
        config_line(f, "  scattering: {wavevector_q: ", q, "}   # 1/angstrom");
    if (gap > 0)
        config_line(f, "  geometry: {stator_rotor_gap: ", gap, "}   # angstrom");
}

/* The settings that have no name of their own elsewhere. */
static void write_settings(FILE *f, const struct fit_experiment *e)
{
    int first = 1;
    for (size_t s = 0; s < e->kernel->nsetting; s++) {
        const struct fit_setting *x = &e->kernel->setting[s];
        if (e->kernel->space == FIT_PAIRS && dedicated(x->name))
            continue;
        fprintf(f, "%s  %s: ", first ? "settings:\n" : "", x->name);
        print_number(f, e->setting[s]);
        fprintf(f, strcmp(x->unit, "1") ? "   # %s\n" : "\n", x->unit);
        first = 0;
    }
}

static enum fit_status write_config(const struct fit_experiment *e, const struct fit_cli *cli,
                                    struct fit_error *err)
{
    char path[1024], *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return fit_no_memory(err, "simulate");
    data_path(cli->output, cli->config_out, path, sizeof path);
    fprintf(f, "# Made by %s simulate.\n", e->kernel->name);
    if (e->kernel->space == FIT_PAIRS)
        fprintf(f, "analysis_mode: %s\n", e->kernel->name);
    fprintf(f, "experimental_data:\n  file_path: \"%s\"\n", path);
    if (e->kernel->space == FIT_PAIRS)
        write_geometry(f, e, cli);
    write_settings(f, e);
    enum fit_status st = fclose(f) == 0
                             ? fit_output_write(cli->config_out, text, size, err)
                             : fit_no_memory(err, "simulate");
    free(text);
    return st;
}

static void print_pairs(FILE *f, const struct fit_experiment *e, const struct fit_cli *cli)
{
    const size_t nphi = e->layout.ngroup / e->nring;
    fprintf(f, "%s: ", cli->output);
    if (e->nring > 1)
        fprintf(f, "%zu wavevectors%s", e->nring, nphi > 1 ? " x " : ", ");
    if (e->nring == 1 || nphi > 1)
        fprintf(f, "%zu angles, ", nphi);
    fprintf(f, "%zu frames, dt %g s\n", e->layout.nframe, cli->dt);
}

/* A file has no readable name for matrices of other axes. */
static enum fit_status known_axes(const struct fit_kernel *k, struct fit_error *err)
{
    for (size_t a = 0; k->space == FIT_PAIRS && a < k->naxis; a++)
        if (strcmp(k->axis[a].name, "q") != 0 && strcmp(k->axis[a].name, "phi") != 0)
            return fit_fail(err, FIT_ERR_USAGE,
                            "simulate: data files know the axes q and phi, not %s of the model %s; eval "
                            "writes its values",
                            k->axis[a].name, k->name);
    return FIT_OK;
}

/* A description of the output, as JSON or in a line. */
static enum fit_status tell(FILE *out, const struct fit_experiment *e, const struct fit_cli *cli,
                            const struct noise *noise, struct fit_error *err)
{
    const struct fit_kernel *k = e->kernel;
    if (cli->json)
        return fit_experiment_json(e, cli, out, err);
    if (!cli->quiet && k->space == FIT_PAIRS)
        print_pairs(out, e, cli);
    else if (!cli->quiet)
        fprintf(out, "%s: %zu rows%s\n", cli->output, e->layout.nrow / (k->nobservable ? k->nobservable : 1),
                is_noisy(noise) && !column_of(k, FIT_ROLE_SIGMA) ? "; without errors: the model has no column for them"
                                                                 : "");
    return FIT_OK;
}

/* Checks that the requested output and noise are possible. */
static enum fit_status check_request(const struct fit_cli *cli, const struct fit_kernel *k, struct noise *noise,
                                     struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    if (st == FIT_OK && !cli->output)
        st = fit_fail(err, FIT_ERR_USAGE, "simulate: -o FILE is missing");
    if (st == FIT_OK)
        st = fit_experiment_file(cli->output, k->space == FIT_ROWS, err);
    if (st == FIT_OK && !cli->force)
        st = fit_output_is_new(cli->output, "-o", err);
    if (st == FIT_OK && !cli->force && cli->config_out)
        st = fit_output_is_new(cli->config_out, "--config-out", err);
    if (st == FIT_OK)
        st = read_noise(cli, k, noise, err);
    if (st == FIT_OK)
        st = known_axes(k, err);
    if (st == FIT_OK && k->space == FIT_ROWS && (noise->counts > 0 || noise->speckle))
        st = fit_fail(err, FIT_ERR_USAGE, "--noise %s: for two-time models only", cli->noise);
    return st;
}

/* The experiment at the exposures that frames are averages of. */
static enum fit_status make_exposures(const struct fit_kernel *k, const struct fit_cli *cli, struct noise *noise,
                                      struct fit_error *err)
{
    struct fit_cli fine = *cli;
    enum fit_status st = FIT_OK;
    if (cli->average > 1 && !noise->speckle)
        return fit_fail(err, FIT_ERR_USAGE, "--average: for --noise speckle only");
    if (cli->average <= 1)
        return FIT_OK;
    fine.frames *= cli->average;
    fine.dt /= (double)cli->average;
    if ((st = fit_experiment_new(k, &fine, &noise->exposures, err)) == FIT_OK)
        st = fit_experiment_prepare(noise->exposures, 0, err);
    return st;
}

enum fit_status fit_cmd_simulate(struct fit_program *p, const struct fit_cli *cli, struct fit_error *err)
{
    const struct fit_kernel *k;
    struct fit_experiment *e = NULL;
    struct fit_output out = {0};
    struct noise noise = {.exposures = NULL};
    struct fit_progress_view view = {0};
    const char *temporary;
    enum fit_status st = fit_program_kernel(p, cli, &k, err);
    if (st == FIT_OK)
        st = check_request(cli, k, &noise, err);
    if (st == FIT_OK)
        st = fit_experiment_new(k, cli, &e, err);
    if (st == FIT_OK)
        st = fit_experiment_prepare(e, 0, err);
    if (st == FIT_OK)
        st = make_exposures(k, cli, &noise, err);
    if (st == FIT_OK)
        st = fit_progress_begin(&view, p->err, p->err_is_terminal, NULL, cli->quiet, err);
    if (st == FIT_OK)
        st = fit_output_one(&out, cli->output, &temporary, err);
    if (st == FIT_OK)
        st = k->space == FIT_PAIRS ? write_pairs(temporary, e, cli, &noise, &view, err)
                                   : write_table(temporary, e, cli, &noise, err);
    if (st == FIT_OK)
        st = fit_output_commit(&out, err);
    else
        fit_output_abandon(&out);
    if (st == FIT_OK && cli->config_out)
        st = write_config(e, cli, err);
    if (st == FIT_OK)
        st = tell(p->out, e, cli, &noise, err);
    fit_experiment_free(e);
    fit_experiment_free(noise.exposures);
    return st;
}
