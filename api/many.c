/* many.c -- one model fitted to many curves of as many rows: the values of one file, of one detector, of one night.
 *
 * Data that curves share are made once: the options as a configuration, the covariates, names. Every curve is then
 * fitted like in fit_api_fit() (run.h), on one thread, so that its numbers have the bits of a single fit, whichever
 * thread fits it. A curve that cannot be fitted has a code and a message; the others continue.
 */
#include "api/run.h"

#include "base/clock.h"
#include "machine/team.h"
#include "machine/topology.h"
#include "model/derived.h"
#include "model/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The working data of a thread. */
struct hand {
    struct api_run *run;
    const double **column; /* its own list of columns, for the current curve */
    double *setting;       /* with the statistics of these */
    const char *last[2];   /* its last message and text of a quality: most curves have the same */
};

struct many {
    struct fit_api_many shown; /* first: its address is that of the whole */
    struct api_parts parts;
    struct fit_api_many_data data;
    struct hand *hand;
    size_t nhand, nderived;
    const volatile int *interrupt;
    struct api_device_use device;

    double *number;       /* all numerical results, NaN at first */
    size_t *count;        /* npoint, nfree, iterations, evaluations */
    int *code, *converged;
    const char **word;    /* status, quality, message, quality_text of the curves */
    char **text;          /* message, quality_text: copies */
    char (*label)[64];
    const char **name;
    double *value, *std, *robust, *interval, *covariance, *chi2, *reduced, *variance, *sigma, *derived, *derived_std;
};

/* ---- storage --------------------------------------------------------------------------------- */

static double *next(double **at, size_t n)
{
    double *here = *at;
    *at += n;
    return here;
}

static enum fit_status make_room(struct many *m, struct fit_error *err)
{
    const size_t n = m->data.ncurve, f = m->shown.nfull, d = m->nderived;
    const size_t each = 7 * f + f * f + 4 + 2 * d;
    m->number = malloc((n * each + 1) * sizeof *m->number);
    m->count = calloc(4 * n, sizeof *m->count);
    m->code = calloc(2 * n, sizeof *m->code);
    m->word = calloc(4 * n, sizeof *m->word);
    m->text = calloc(2 * n, sizeof *m->text);
    if (!m->number || !m->count || !m->code || !m->word || !m->text)
        return fit_no_memory(err, "results of the curves");
    for (size_t k = 0; k < n * each; k++)
        m->number[k] = NAN;
    double *at = m->number;
    m->value = next(&at, n * f);
    m->std = next(&at, n * f);
    m->robust = next(&at, n * f);
    m->interval = next(&at, 4 * n * f);
    m->covariance = next(&at, n * f * f);
    m->chi2 = next(&at, n);
    m->reduced = next(&at, n);
    m->variance = next(&at, n);
    m->sigma = next(&at, n);
    m->derived = next(&at, n * d);
    m->derived_std = next(&at, n * d);
    m->converged = m->code + n;
    return FIT_OK;
}

static void show_all(struct many *m, int threads)
{
    struct fit_api_many *s = &m->shown;
    const size_t n = m->data.ncurve;
    s->size = sizeof *s;
    s->ncurve = n;
    s->nderived = m->nderived;
    s->value = m->value;
    s->std = m->std;
    s->std_robust = m->robust;
    s->interval = m->interval;
    s->covariance = m->covariance;
    s->chi2 = m->chi2;
    s->reduced_chi2 = m->reduced;
    s->residual_variance = m->variance;
    s->sigma_common = m->sigma;
    s->derived = m->derived;
    s->derived_std = m->derived_std;
    s->npoint = m->count;
    s->nfree = m->count + n;
    s->iterations = m->count + 2 * n;
    s->evaluations = m->count + 3 * n;
    s->code = m->code;
    s->converged = m->converged;
    s->status = m->word;
    s->quality = m->word + n;
    s->message = m->word + 2 * n;
    s->quality_text = m->word + 3 * n;
    s->threads = threads;
    s->device = m->device.name[0] ? m->device.name : NULL;
    s->device_text = m->device.text;
    s->device_sums = m->device.sums;
    s->device_launches = m->device.launches;
    for (size_t c = 0; c < n; c++)
        s->nfailed += m->code[c] != FIT_API_OK;
}

static void many_free(struct many *m)
{
    if (!m)
        return;
    for (size_t t = 0; m->hand && t < m->nhand; t++) {
        api_run_free(m->hand[t].run);
        free(m->hand[t].column);
        free(m->hand[t].setting);
    }
    for (size_t k = 0; m->text && k < 2 * m->data.ncurve; k++)
        free(m->text[k]);
    api_parts_free(&m->parts);
    free(m->hand);
    free(m->number);
    free(m->count);
    free(m->code);
    free(m->word);
    free(m->text);
    free(m->label);
    free(m->name);
    free(m);
}

/* ---- a curve --------------------------------------------------------------------------------- */

/* Copies of the texts of a curve, or those of the previous curve; FIT_ERR_MEMORY when memory runs out. */
static enum fit_status keep_texts(struct many *m, struct hand *h, size_t c, const char *message, const char *quality)
{
    const char *const text[2] = {message, quality};
    const size_t n = m->data.ncurve;
    for (size_t k = 0; k < 2; k++) {
        if (!h->last[k] || strcmp(h->last[k], text[k]) != 0)
            h->last[k] = m->text[k * n + c] = strdup(text[k]);
        m->word[(2 + k) * n + c] = h->last[k];
    }
    return h->last[0] && h->last[1] ? FIT_OK : FIT_ERR_MEMORY;
}

static void keep_numbers(struct many *m, size_t c, const struct fit_api_result *r)
{
    const size_t n = m->data.ncurve, f = m->shown.nfull, d = m->nderived;
    memcpy(m->value + c * f, r->param, r->nparam * sizeof *m->value);
    memcpy(m->value + c * f + r->nparam, r->linear, r->ngroup * r->nlinear * sizeof *m->value);
    memcpy(m->std + c * f, r->std, f * sizeof *m->std);
    memcpy(m->robust + c * f, r->std_robust, f * sizeof *m->robust);
    memcpy(m->interval + 4 * c * f, r->interval, 4 * f * sizeof *m->interval);
    memcpy(m->covariance + c * f * f, r->covariance, f * f * sizeof *m->covariance);
    memcpy(m->derived + c * d, r->derived, d * sizeof *m->derived);
    memcpy(m->derived_std + c * d, r->derived_std, d * sizeof *m->derived_std);
    m->chi2[c] = r->chi2;
    m->reduced[c] = r->reduced_chi2;
    m->variance[c] = r->residual_variance;
    m->sigma[c] = r->sigma_common;
    m->count[c] = r->npoint;
    m->count[n + c] = r->nfree;
    m->count[2 * n + c] = r->iterations;
    m->count[3 * n + c] = r->evaluations;
    m->converged[c] = r->converged;
    m->word[c] = r->status;
    m->word[n + c] = r->quality;
}

/* The columns of curve c: shared, or its own. */
static void find_columns(const struct many *m, struct hand *h, size_t c)
{
    const struct fit_api_many_data *d = &m->data;
    for (size_t k = 0; k < m->parts.k->ncolumn; k++) {
        const int role = m->parts.k->column[k].role;
        const int own = role == FIT_ROLE_COVARIATE ? d->own && d->own[k]
                                                   : role == FIT_ROLE_VALUE && m->parts.k->feedback;
        h->column[k] = m->parts.column[k] + (own ? c * d->nrow : 0);
    }
}

/* Settings of the curve: statistics of its own columns by default. */
static enum fit_status find_settings(const struct many *m, struct hand *h, struct fit_error *err)
{
    const struct fit_kernel *k = m->parts.k;
    for (size_t s = 0; s < k->nsetting; s++) {
        const int given = !k->setting[s].statistic || (m->data.setting && !isnan(m->data.setting[s]));
        h->setting[s] = given ? m->parts.setting[s] : (double)NAN;
    }
    return fit_statistics_fill(k, "", m->data.nrow, h->column, h->setting, err);
}

static enum fit_status fit_curve(struct many *m, struct hand *h, size_t c, struct fit_error *err)
{
    const struct fit_api_many_data *d = &m->data;
    struct fit_api_problem p = {.kernel = m->parts.k};
    struct api_parts own = m->parts;
    if (m->interrupt && *m->interrupt)
        return fit_fail(err, FIT_ERR_INTERRUPTED, "fit: interrupted before its turn");
    find_columns(m, h, c);
    own.column = h->column;
    own.setting = h->setting;
    own.d.value = d->value + c * d->nrow;
    own.d.sigma = d->sigma ? d->sigma + (d->sigma_shared ? 0 : c * d->nrow) : NULL;
    enum fit_status st = find_settings(m, h, err);
    if (st == FIT_OK)
        st = api_parts_rows(&own, 1, &p.data, err);
    if (st == FIT_OK)
        st = api_run_again(&p, h->run, err);
    if (st == FIT_OK && h->run->own.nfull != m->shown.nfull)
        st = fit_fail(err, FIT_ERR_INTERNAL, "curve %zu: %zu numbers, not %zu", c, h->run->own.nfull, m->shown.nfull);
    if (st == FIT_OK)
        keep_numbers(m, c, &h->run->shown);
    if (st == FIT_OK && keep_texts(m, h, c, h->run->shown.message, h->run->shown.quality_text) != FIT_OK)
        st = fit_no_memory(err, "results of the curves");
    api_run_clear(h->run);
    fit_dataset_free(p.data);
    return st;
}

static void turn(void *user, size_t c, size_t thread)
{
    struct many *m = user;
    struct fit_error err = {.status = FIT_OK};
    m->code[c] = (int)fit_curve(m, &m->hand[thread], c, &err);
    if (m->code[c] == FIT_API_OK)
        return;
    m->word[c] = "failed";
    m->word[m->data.ncurve + c] = "none";
    if (m->code[c] != FIT_API_MEMORY && keep_texts(m, &m->hand[thread], c, err.message, "") != FIT_OK)
        m->code[c] = FIT_API_MEMORY;
    for (size_t k = 2; k < 4; k++)
        if (!m->word[k * m->data.ncurve + c])
            m->word[k * m->data.ncurve + c] = "";
}

/* ---- all of them ----------------------------------------------------------------------------- */

static enum fit_status check(const struct fit_api_model *model, const struct fit_api_many_data *d,
                             struct fit_error *err)
{
    if (model->kernel->space != FIT_ROWS)
        return fit_fail(err, FIT_ERR_USAGE,
                        "fit_many: %s is fitted to pairs of frames; curves are for models of tables",
                        model->kernel->name);
    if (d->ncurve == 0 || !d->value)
        return fit_fail(err, FIT_ERR_DATA, "fit_many: no curves; value has ncurve x nrow numbers, 1 curve or more");
    return FIT_OK;
}

/* Makes the configuration of every thread from the options; finds the common data of all curves. geometry: their
 * rows, without values. */
static enum fit_status open_hands(struct many *m, const struct fit_api_problem *geometry,
                                  const struct fit_api_options *options, struct fit_error *err)
{
    enum fit_status st = FIT_OK;
    for (size_t t = 0; st == FIT_OK && t < m->nhand; t++) {
        struct hand *h = &m->hand[t];
        h->column = malloc((m->parts.k->ncolumn + 1) * sizeof *h->column);
        h->run = calloc(1, sizeof *h->run);
        h->setting = malloc((m->parts.k->nsetting + 1) * sizeof *h->setting);
        st = h->column && h->run && h->setting ? api_run_begin(geometry, options, 0, h->run, err)
                                 : fit_no_memory(err, "results of the curves");
    }
    return st;
}

/* Names and number of the results of a curve; from the first thread's data. */
static enum fit_status find_names(struct many *m, const struct fit_api_problem *geometry, struct fit_error *err)
{
    struct api_run *r = m->hand[0].run;
    struct fit_api_many *s = &m->shown;
    enum fit_status st = api_run_kernel(geometry, r, err);
    if (st != FIT_OK)
        return st;
    s->ngroup = geometry->data->layout.ngroup;
    s->nparam = r->k->nparam;
    s->nlinear = r->k->nlinear;
    s->nfull = s->nparam + s->ngroup * s->nlinear;
    m->nderived = fit_derived_count(r->k, s->ngroup);
    const size_t n = s->nfull + s->ngroup + m->nderived;
    m->label = calloc(n + 1, sizeof *m->label);
    m->name = calloc(n + 1, sizeof *m->name);
    if (!m->label || !m->name)
        return fit_no_memory(err, "results of the curves");
    for (size_t k = 0; k < n; k++) {
        fit_samples_name(r->k, s->ngroup, k, m->label[k]);
        m->name[k] = m->label[k];
    }
    s->name = m->name;
    s->derived_name = m->name + s->nfull + s->ngroup;
    api_run_clear(r);
    return FIT_OK;
}

/* m->data is there. */
static enum fit_status prepare(const struct fit_api_model *model, const struct fit_api_options *options, int threads,
                               struct many *m, struct fit_error *err)
{
    const struct fit_api_many_data *d = &m->data;
    const struct fit_api_data rows = {.size = sizeof rows, .setting = d->setting, .nrow = d->nrow,
                                      .column = d->column, .axis = d->axis, .value = d->value};
    struct fit_api_problem geometry = {.kernel = model->kernel};
    struct fit_api_options o;
    enum fit_status st = check(model, d, err);
    if (st == FIT_OK)
        st = api_parts_new(model->kernel, &rows, &m->parts, err);
    if (st == FIT_OK)
        st = api_parts_rows(&m->parts, 0, &geometry.data, err);
    if (st == FIT_OK && options)
        st = api_take(&o, sizeof o, options, "fit_api_options", err);
    if (st == FIT_OK) {
        o = options ? o : (struct fit_api_options){0};
        o.size = sizeof o;
        o.threads = 1;
        o.progress = NULL;
        m->interrupt = o.interrupt;
        st = api_device_begin(model->devices, o.device, &m->device, err);
    }
    if (st == FIT_OK) {
        threads = fit_device_threads(threads, d->ncurve);
        m->nhand = (size_t)threads < d->ncurve ? (size_t)threads : d->ncurve;
        m->hand = calloc(m->nhand, sizeof *m->hand);
        st = m->hand ? open_hands(m, &geometry, &o, err) : fit_no_memory(err, "results of the curves");
    }
    if (st == FIT_OK)
        st = find_names(m, &geometry, err);
    if (st == FIT_OK)
        st = make_room(m, err);
    fit_dataset_free(geometry.data);
    return st;
}

API const struct fit_api_many *fit_api_fit_many(const struct fit_api_model *model, const struct fit_api_many_data *data,
                                                const struct fit_api_options *options)
{
    const double began = fit_seconds();
    struct fit_error err = {.status = FIT_OK};
    struct many *m = calloc(1, sizeof *m);
    int threads = options && options->threads > 0 ? options->threads : fit_topology_threads();
    enum fit_status st =
        m ? api_take(&m->data, sizeof m->data, data, "fit_api_many_data", &err) : fit_no_memory(&err, NULL);
    if (st == FIT_OK)
        st = prepare(model, options, threads, m, &err);
    if (st == FIT_OK)
        fit_team_run((struct fit_team){(int)m->nhand, FIT_TEAM_NEXT}, m->data.ncurve, turn, m);
    if (m)
        api_device_end(&m->device);
    if (st != FIT_OK) {
        api_failed(&err);
        many_free(m);
        return NULL;
    }
    show_all(m, (int)m->nhand);
    m->shown.seconds = fit_seconds() - began;
    return &m->shown;
}

API void fit_api_many_free(const struct fit_api_many *m)
{
    many_free((struct many *)(uintptr_t)m);
}
