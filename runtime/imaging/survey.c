/* survey.c -- `survey`: the minimum at each point of a grid.
 *
 * An axis is a weight or a number of the model, which the objective uses directly, or a setup: prior-fwhm changes
 * prior and start, sys-noise the errors of all data products (sigma^2 + f^2 |V|^2). The first axis is the slowest.
 * Threads take points one by one, each with an objective of its own, which is rebuilt when the setup changes; the
 * result of a point does not depend on the thread. Points go to FILE.d (store.h); when all are complete, FILE is
 * written, in the order of the grid. */
#include "imaging/commands.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/identity.h"
#include "base/progress_line.h"
#include "common/nearest.h"
#include "common/range.h"
#include "device/device.h"
#include "imaging/minimise.h"
#include "imaging/output.h"
#include "imaging/planes.h"
#include "imaging/store.h"
#include "machine/team.h"
#include "machine/topology.h"
#include "ranks/copies.h"

enum axis_kind { WEIGHT, HYPER, PRIOR_FWHM, SYS_NOISE };

struct worker { /* of a thread */
    struct fit_imaging_options options;
    struct fit_imaging_run run;
    size_t setup; /* 1 + the setup of run.q; 0: none */
};

struct survey {
    struct fit_imaging_program *program;
    const struct fit_imaging_options *o;
    enum axis_kind kind[FIT_IMAGING_MOST_AXES];
    size_t n, nterm, npixel, part, parts;
    size_t noutput; /* images of a point, of npixel each */
    struct fit_imaging_output output[FIT_IMAGING_OUTPUTS];
    struct fit_sky *truth;
    char base[SHA256_HEX]; /* of everything but the axes */
    struct fit_store store;
    struct worker *worker;
    size_t *todo, ntodo, done;
    double start, pixel; /* pixel: its side, radians */
    struct fit_progress_view view;
    pthread_mutex_t lock;
    enum fit_status status;
    struct fit_error error;
};

/* --- the grid ------------------------------------------------------------------------------------------- */

/* The kind of an axis, or -1; the names compared are offered to near. */
static int axis_kind(const struct fit_functional *k, const char *name, struct nearest *near)
{
    static const char *const setup[] = {"prior-fwhm", "sys-noise"};
    for (uint32_t t = 0; t < k->nterm; t++, nearest_offer(near, k->term[t - 1].name))
        if (strcmp(k->term[t].name, name) == 0)
            return WEIGHT;
    for (uint32_t n = 0; n < k->nnumber; n++) {
        if (k->number[n].kind != FIT_NUMBER_HYPER)
            continue;
        if (strcmp(k->number[n].name, name) == 0)
            return HYPER;
        nearest_offer(near, k->number[n].name);
    }
    for (int i = 0; i < 2; i++, nearest_offer(near, setup[i - 1]))
        if (strcmp(setup[i], name) == 0)
            return PRIOR_FWHM + i;
    return -1;
}

/* The meaning of an axis, as a number of the model. */
static struct fit_number_desc describe(const struct fit_functional *o, const char *name, enum axis_kind kind)
{
    struct fit_number_desc d = {.name = name, .upper = INFINITY}; /* weights and errors are not negative */
    if (kind == PRIOR_FWHM) {
        d.unit = "uas";
        d.lower = RANGE_ABOVE_0;
    }
    for (uint32_t k = 0; kind == HYPER && k < o->nnumber; k++)
        if (strcmp(o->number[k].name, name) == 0)
            d = o->number[k];
    return d;
}

static enum fit_status read_values(const struct fit_functional *o, const struct fit_imaging_axis *a,
                                   enum axis_kind kind, struct fit_error *err)
{
    const struct fit_number_desc d = describe(o, a->name, kind);
    enum fit_status s = kind == HYPER ? fit_imaging_settable("axis", a->name, err) : FIT_OK;
    for (size_t i = 0; s == FIT_OK && i < a->n; i++)
        s = fit_number_read(&d, a->text[i], &a->value[i], err);
    return s;
}

static double axis_value(const struct survey *s, size_t point, size_t axis)
{
    for (size_t k = s->o->naxis; k-- > axis + 1;)
        point /= s->o->axis[k].n;
    return s->o->axis[axis].value[point % s->o->axis[axis].n];
}

/* A number for each combination of setups. */
static size_t setup_of(const struct survey *s, size_t point)
{
    size_t setup = 0;
    for (size_t k = 0; k < s->o->naxis; k++) {
        size_t at = point;
        for (size_t i = s->o->naxis; i-- > k + 1;)
            at /= s->o->axis[i].n;
        if (s->kind[k] >= PRIOR_FWHM)
            setup = setup * s->o->axis[k].n + at % s->o->axis[k].n;
    }
    return setup;
}

static enum fit_status read_axes(struct survey *s, struct fit_error *err)
{
    s->n = 1;
    for (size_t k = 0; k < s->o->naxis; k++) {
        struct nearest near = {.name = s->o->axis[k].name};
        const int kind = axis_kind(s->program->kernel, near.name, &near);
        if (kind < 0)
            return fit_fail(err, FIT_ERR_USAGE,
                            "--axis: '%s' is neither a term nor a number of the model (info lists them), nor "
                            "prior-fwhm or sys-noise%s%s%s",
                            near.name, near.best ? "; did you mean '" : "", near.best ? near.best : "",
                            near.best ? "'?" : "");
        if (read_values(s->program->kernel, &s->o->axis[k], (enum axis_kind)kind, err) != FIT_OK)
            return err->status;
        if (kind == PRIOR_FWHM && s->o->prior)
            return fit_fail(err, FIT_ERR_USAGE, "--axis prior-fwhm makes the prior: --prior cannot be given with it");
        s->kind[k] = (enum axis_kind)kind;
        s->n *= s->o->axis[k].n;
        if (s->n > 100000000)
            return fit_fail(err, FIT_ERR_USAGE, "the survey has more than 1e8 points");
    }
    fit_copies_part(&s->part, &s->parts); /* of an array, of ranks */
    char rest;
    if (s->o->part &&
        (sscanf(s->o->part, "%zu/%zu%c", &s->part, &s->parts, &rest) != 2 || s->part < 1 || s->part > s->parts))
        return fit_fail(err, FIT_ERR_USAGE, "--part: '%s' is not K/N with 1 <= K <= N", s->o->part);
    return FIT_OK;
}

/* --- identity ------------------------------------------------------------------------------------------- */

static enum fit_status add_file(struct sha256 *h, const char *name, struct fit_error *err)
{
    char hex[SHA256_HEX], path[1024];
    const char *colon = name ? strrchr(name, ':') : NULL;
    uint64_t size;
    if (!name)
        return FIT_OK;
    snprintf(path, sizeof path, "%.*s", colon && colon[1] == '/' ? (int)(colon - name) : (int)strlen(name), name);
    sha256_update(h, colon ? colon : "", colon ? strlen(colon) : 0);
    const enum fit_status s = fit_file_identity(path, hex, &size, err);
    if (s == FIT_OK)
        sha256_update(h, hex, strlen(hex));
    return s;
}

static void add_texts(struct sha256 *h, size_t n, const struct fit_named_text *list)
{
    for (size_t k = 0; k < n; k++) {
        sha256_update(h, list[k].name, strlen(list[k].name) + 1);
        sha256_update(h, list[k].text, strlen(list[k].text) + 1);
    }
}

/* Model, files and settings; without settings that do not influence the result. */
static enum fit_status identify(struct survey *s, struct fit_error *err)
{
    const struct fit_imaging_options *o = s->o;
    const struct fit_functional *k = s->program->kernel;
    unsigned char digest[SHA256_BYTES];
    struct sha256 h;
    sha256_init(&h);
    const double number[] = {o->pixel_uas,      o->fov_uas,          o->fwhm_uas,
                             o->flux,           o->clipfloor,        (double)o->npix,
                             o->epsilon_tv,     o->norm_reg,         o->no_log,
                             o->no_norm_init,   o->systematic_noise, o->systematic_cphase_noise,
                             o->snrcut,         o->cp_uv_min,        o->maximal,
                             o->debias,         o->uniform,          (double)o->maxiter,
                             (double)o->memory, (double)o->maxls,    o->ftol,
                             o->gtol,           o->learning_rate,     o->reference};
    const char *text[] = {k->hash, k->isa, o->pulse, o->optimizer, o->solve, o->spectral_order};
    const struct fit_named_number *list[] = {o->term, o->regularizer};
    const size_t n[] = {o->nterm, o->nregularizer};
    sha256_update(&h, number, sizeof number);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        sha256_update(&h, text[i] ? text[i] : "", text[i] ? strlen(text[i]) + 1 : 1);
    add_texts(&h, o->nhyper, o->hyper);
    for (int i = 0; i < 2; i++)
        for (size_t j = 0; j < n[i]; j++) {
            sha256_update(&h, list[i][j].name, strlen(list[i][j].name) + 1);
            sha256_update(&h, &list[i][j].value, sizeof list[i][j].value);
        }
    const char *file[] = {o->observation, o->image, o->prior, o->truth,
                          o->alpha,       o->beta,  o->prior_alpha, o->prior_beta};
    enum fit_status status = FIT_OK;
    for (size_t i = 0; status == FIT_OK && i < o->nmore; i++)
        status = add_file(&h, o->more[i], err);
    for (size_t i = 0; status == FIT_OK && i < sizeof file / sizeof *file; i++)
        status = add_file(&h, file[i], err);
    sha256_final(&h, digest);
    sha256_hex(digest, s->base);
    return status;
}

static void key_of(const struct survey *s, size_t point, char key[SHA256_HEX])
{
    unsigned char digest[SHA256_BYTES];
    struct sha256 h;
    sha256_init(&h);
    sha256_update(&h, s->base, strlen(s->base));
    for (size_t k = 0; k < s->o->naxis; k++) {
        const double value = axis_value(s, point, k);
        sha256_update(&h, s->o->axis[k].name, strlen(s->o->axis[k].name) + 1);
        sha256_update(&h, &value, sizeof value);
    }
    sha256_final(&h, digest);
    sha256_hex(digest, key);
}

/* --- points --------------------------------------------------------------------------------------------- */

static void free_run(struct fit_imaging_run *r)
{
    fit_arena_free(&r->arena);
    fit_imaging_free(r->q);
    *r = (struct fit_imaging_run){.q = NULL};
}

/* The problem of the point's setup, in the thread's own copy. */
static enum fit_status set_up(struct survey *s, struct worker *w, size_t point, struct fit_error *err)
{
    const size_t setup = 1 + setup_of(s, point);
    if (w->setup == setup)
        return FIT_OK;
    free_run(&w->run);
    w->setup = 0;
    w->options = *s->o;
    w->options.threads = 1;
    w->options.state = NULL;
    for (size_t k = 0; k < s->o->naxis; k++) {
        if (s->kind[k] == PRIOR_FWHM)
            w->options.fwhm_uas = axis_value(s, point, k);
        if (s->kind[k] == SYS_NOISE) /* systematic_noise is sigma^2 + 2 f^2 |V|^2 */
            w->options.systematic_noise = axis_value(s, point, k) * sqrt(0.5);
    }
    const enum fit_status status = fit_imaging_new(s->program->kernel, &w->options, 1, &w->run.q, err);
    if (status == FIT_OK)
        w->setup = setup;
    return status;
}

/* The point's weights and numbers. */
static enum fit_status set_values(const struct survey *s, struct fit_imaging *q, size_t point, struct fit_error *err)
{
    enum fit_status status = FIT_OK;
    for (size_t k = 0; status == FIT_OK && k < s->o->naxis; k++)
        if (s->kind[k] == WEIGHT)
            status = fit_imaging_weight(q, s->o->axis[k].name, axis_value(s, point, k), err);
        else if (s->kind[k] == HYPER)
            status = fit_bound_hyper(q->bound, s->o->axis[k].name, axis_value(s, point, k), err);
    return status;
}

/* The images of the point, one after the other. */
static void take_images(const struct survey *s, const struct fit_imaging_run *r, double *image)
{
    struct fit_imaging_output output[FIT_IMAGING_OUTPUTS];
    fit_imaging_outputs(r->q, output);
    fit_imaging_image(r->q, r->full, image);
    for (size_t i = 1; i < s->noutput; i++)
        memcpy(image + i * s->npixel, output[i].values, s->npixel * sizeof *image);
}

static enum fit_status compute(struct survey *s, struct worker *w, size_t point, struct fit_point *p, double *image,
                               struct fit_error *err)
{
    const double start = fit_seconds();
    enum fit_status status = set_up(s, w, point, err);
    status = status == FIT_OK ? set_values(s, w->run.q, point, err) : status;
    if (status != FIT_OK)
        return status;
    struct fit_bound *b = w->run.q->bound;
    fit_arena_free(&w->run.arena);
    w->run = (struct fit_imaging_run){.q = w->run.q, .interrupt = s->program->interrupt};
    status = fit_imaging_begin(&w->run, err);
    status = status == FIT_OK ? fit_imaging_minimise(&w->run, &w->options, err) : status;
    if (status != FIT_OK)
        return status;
    const struct fit_optimize_result *r = &w->run.result;
    *p = (struct fit_point){.end = r->end, .nit = r->nit, .nfev = r->nfev, .gradient_max = r->gradient_max};
    p->J = fit_imaging_conclude(&w->run);
    take_images(s, &w->run, image);
    p->correlation = s->truth ? fit_imaging_correlation(s->npixel, image, s->truth->stokes[FIT_STOKES_I]) : NAN;
    for (size_t t = 0; t < s->nterm; t++)
        if (!(b->on >> t & 1))
            b->term[t] = NAN;
    p->seconds = fit_seconds() - start;
    key_of(s, point, p->key);
    return FIT_OK;
}

static void one_point(void *user, size_t k, size_t thread)
{
    struct survey *s = user;
    struct fit_point p;
    struct fit_error err = {.status = FIT_OK};
    FIT_OWNED double *image = malloc(s->noutput * s->npixel * sizeof *image);
    pthread_mutex_lock(&s->lock);
    const int go = s->status == FIT_OK && !atomic_load(s->program->interrupt);
    pthread_mutex_unlock(&s->lock);
    if (!go)
        return;
    enum fit_status status =
        image ? compute(s, &s->worker[thread], s->todo[k], &p, image, &err) : fit_no_memory(&err, "survey");
    pthread_mutex_lock(&s->lock);
    if (status == FIT_OK && p.end != FIT_OPTIMIZE_USER_STOP) {
        status = fit_store_add(&s->store, &p, s->worker[thread].run.q->bound->term, image, &err);
        s->done++;
        fit_progress_part(&s->view, (double)s->done, (double)s->ntodo);
    }
    if (status != FIT_OK && s->status == FIT_OK) {
        s->status = status;
        s->error = err;
    }
    pthread_mutex_unlock(&s->lock);
}

/* --- the result ----------------------------------------------------------------------------------------- */

static enum fit_status put_images(const struct survey *s, const struct fit_stored *const *point, const size_t shape[2],
                                  struct fit_h5r *w, struct fit_error *err)
{
    enum fit_status status = FIT_OK;
    FIT_OWNED double *image = malloc(s->noutput * s->npixel * sizeof *image);
    char path[FIT_IMAGING_OUTPUTS][32];
    if (!image)
        return fit_no_memory(err, "survey");
    for (size_t i = 0; i < s->noutput; i++) {
        const int stokes = s->output[i].stokes; /* images, images_q, alpha */
        snprintf(path[i], sizeof path[i], stokes >= 0 ? "/images%s" : "/%s",
                 s->output[i].name + (stokes >= 0 ? strlen("image") : 0));
        fit_h5r_empty(w, path[i], 3, (size_t[]){s->n, shape[0], shape[1]}, stokes >= 0 ? "Jy" : NULL);
        fit_h5r_attribute_real(w, path[i], "psize", s->pixel);
    }
    for (size_t k = 0; status == FIT_OK && k < s->n; k++) {
        status = fit_store_image(&s->store, point[k], image, err);
        for (size_t i = 0; status == FIT_OK && i < s->noutput; i++)
            fit_h5r_block(w, path[i], (size_t[]){k, 0, 0}, (size_t[]){1, shape[0], shape[1]}, image + i * s->npixel);
    }
    return status;
}

static void put_column(struct fit_h5r *w, const char *path, size_t n, double *column)
{
    fit_h5r_reals(w, path, 1, &n, column, NULL);
}

static void put_points(const struct survey *s, const struct fit_stored *const *point, double *column, struct fit_h5r *w)
{
    const struct fit_functional *f = s->program->kernel;
    char path[128];
    fit_h5r_group(w, "/grid", NULL);
    fit_h5r_group(w, "/terms", NULL);
    for (size_t a = 0; a < s->o->naxis; a++) {
        for (size_t k = 0; k < s->n; k++)
            column[k] = axis_value(s, k, a);
        snprintf(path, sizeof path, "/grid/%s", s->o->axis[a].name);
        put_column(w, path, s->n, column);
    }
    for (size_t t = 0; t < s->nterm; t++) {
        if (isnan(point[0]->term[t]))
            continue;
        for (size_t k = 0; k < s->n; k++)
            column[k] = point[k]->term[t];
        snprintf(path, sizeof path, "/terms/%s", f->term[t].name);
        put_column(w, path, s->n, column);
        fit_h5r_attribute(w, path, "kind", f->term[t].kind == FIT_TERM_DATA ? "data" : "regularizer");
    }
    static const struct {
        const char *path;
        int which;
    } number[] = {{"/J", 0}, {"/gradient_max", 1}, {"/nit", 2}, {"/nfev", 3}, {"/status", 4}, {"/correlation", 5}};
    for (size_t i = 0; i < sizeof number / sizeof *number; i++) {
        for (size_t k = 0; k < s->n; k++) {
            const struct fit_point *p = &point[k]->point;
            column[k] = (const double[]){
                p->J, p->gradient_max, (double)p->nit, (double)p->nfev, p->end, p->correlation}[number[i].which];
        }
        put_column(w, number[i].path, s->n, column);
    }
    fit_h5r_attribute(w, "/status", "words", "0 gtol, 1 ftol, 2 maxiter, 3 linesearch_failed, 4 nonfinite");
}

static enum fit_status write_survey(const struct survey *s, const struct fit_stored *const *point,
                                    const size_t shape[2], struct fit_error *err)
{
    struct fit_h5r_file f;
    const char *axis[FIT_IMAGING_MOST_AXES];
    FIT_OWNED double *column = malloc(s->n * sizeof *column);
    enum fit_status status = column ? fit_h5r_begin(&f, s->o->output, err) : fit_no_memory(err, "survey");
    if (status != FIT_OK)
        return status;
    put_points(s, point, column, &f.w);
    status = put_images(s, point, shape, &f.w, err);
    for (size_t a = 0; a < s->o->naxis; a++)
        axis[a] = s->o->axis[a].name;
    fit_h5r_attributes(&f.w, "/", "axes", s->o->naxis, axis);
    fit_h5r_attribute(&f.w, "/", "model_hash", s->program->kernel->hash);
    fit_h5r_attribute(&f.w, "/", "observation", s->o->observation);
    return fit_h5r_end(&f, status, err);
}

/* Its points, and their sources. */
static void summarise(const struct survey *s, const struct fit_stored *const *point, size_t converged)
{
    FILE *f = s->program->out;
    const struct fit_functional *k = s->program->kernel;
    size_t best = 0;
    fprintf(f, "%zu points: ", s->n);
    for (size_t a = 0; a < s->o->naxis; a++)
        fprintf(f, "%s%s %zu", a ? " x " : "", s->o->axis[a].name, s->o->axis[a].n);
    fprintf(f, "; %zu converged, %zu used up their iterations or ended otherwise\n", converged, s->n - converged);
    for (size_t t = 0; t < s->nterm; t++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = 0; i < s->n && k->term[t].kind == FIT_TERM_DATA; i++) {
            low = fmin(low, point[i]->term[t]);
            high = fmax(high, point[i]->term[t]);
        }
        if (low <= high)
            fprintf(f, "  chi2 of %s: %.4g to %.4g\n", k->term[t].name, low, high);
    }
    for (size_t i = 0; s->truth && i < s->n; i++)
        best = point[i]->point.correlation > point[best]->point.correlation ? i : best;
    if (s->truth)
        fprintf(f, "  largest correlation with %s: %.5f, point %zu\n", s->o->truth, point[best]->point.correlation,
                best);
    fprintf(f, "written: %s (its points are kept in %s, for further values of the axes)\n", s->o->output,
            s->store.folder);
    fprintf(f, "next: %s top %s;  homodyne report %s\n", s->program->name, s->o->output, s->o->output);
}

/* Writes the file when every point is complete. */
static enum fit_status collect(struct survey *s, const size_t shape[2], struct fit_error *err)
{
    char folder[1024], key[SHA256_HEX];
    size_t missing = 0, converged = 0;
    snprintf(folder, sizeof folder, "%s", s->store.folder);
    fit_store_close(&s->store);
    enum fit_status status = fit_store_open(&s->store, folder, s->nterm, s->noutput * s->npixel, err);
    if (status != FIT_OK)
        return status;
    FIT_OWNED const struct fit_stored **point = calloc(s->n, sizeof *point);
    if (!point)
        return fit_no_memory(err, "survey");
    for (size_t k = 0; k < s->n; k++) {
        key_of(s, k, key);
        point[k] = fit_store_find(&s->store, key);
        missing += !point[k];
        converged += point[k] && fit_optimize_converged((enum fit_optimize_end)point[k]->point.end);
    }
    /* launchers stop all parts at once when one of them returns another code */
    s->program->exit_code = s->parts == 1 && converged < s->n ? 2 : 0;
    if (missing) {
        fprintf(s->program->out, "%zu of %zu points are missing; %s is written when all are there\n", missing, s->n,
                s->o->output);
        return FIT_OK;
    }
    status = write_survey(s, point, shape, err);
    if (status == FIT_OK && !s->o->quiet)
        summarise(s, point, converged);
    return status;
}

/* --- the command ---------------------------------------------------------------------------------------- */

static enum fit_status find_todo(struct survey *s, struct fit_error *err)
{
    char key[SHA256_HEX];
    s->todo = malloc(s->n * sizeof *s->todo);
    if (!s->todo)
        return fit_no_memory(err, "survey");
    for (size_t k = s->part - 1; k < s->n; k += s->parts) {
        key_of(s, k, key);
        if (!fit_store_find(&s->store, key))
            s->todo[s->ntodo++] = k;
    }
    return FIT_OK;
}

static enum fit_status work(struct survey *s, struct fit_error *err)
{
    const int own = s->o->threads ? (int)s->o->threads : fit_topology_threads();
    const int threads = fit_device_threads(own, s->ntodo); /* a device processes the images of several points at a
                                                            * time */
    s->start = fit_seconds();
    const enum fit_status shown =
        fit_progress_begin(&s->view, s->program->err, s->program->err_is_terminal, NULL, s->o->quiet, err);
    if (shown != FIT_OK)
        return shown;
    fit_progress_phase(&s->view, "minima of the survey");
    fit_team_run((struct fit_team){.threads = threads, .order = FIT_TEAM_NEXT}, s->ntodo, one_point, s);
    fit_progress_clear(&s->view);
    if (s->status != FIT_OK) {
        *err = s->error;
        return s->status;
    }
    const double seconds = fit_seconds() - s->start;
    if (!s->o->quiet && s->done)
        fprintf(s->program->out, "%zu of %zu points computed in %.1f s, %.2f a second; %zu were there\n", s->done, s->n,
                seconds, (double)s->done / seconds, (s->n - s->part) / s->parts + 1 - s->ntodo);
    if (atomic_load(s->program->interrupt))
        return fit_fail(err, FIT_ERR_INTERRUPTED, "interrupted; what is done is kept in %s", s->store.folder);
    return FIT_OK;
}

/* One problem of the survey gives the sizes, and reports wrong options. */
static enum fit_status probe(struct survey *s, size_t shape[2], struct fit_error *err)
{
    struct worker w = {.setup = 0};
    enum fit_status status = set_up(s, &w, 0, err);
    status = status == FIT_OK ? set_values(s, w.run.q, 0, err) : status;
    status = status == FIT_OK ? fit_imaging_prepare(w.run.q, err) : status;
    if (status == FIT_OK) {
        s->noutput = fit_imaging_outputs(w.run.q, s->output);
        s->npixel = w.run.q->n;
        s->pixel = w.run.q->grid.pixel;
        shape[0] = w.run.q->grid.ny;
        shape[1] = w.run.q->grid.nx;
        if (!s->o->quiet)
            fit_imaging_print_notes(s->program->err, &w.run.q->notes);
        if (s->truth && (s->truth->nx != shape[1] || s->truth->ny != shape[0]))
            status = fit_fail(err, FIT_ERR_DATA, "%s: %zu x %zu pixels, the images have %zu x %zu", s->o->truth,
                              s->truth->ny, s->truth->nx, shape[0], shape[1]);
    }
    free_run(&w.run);
    return status;
}

static enum fit_status run_survey(struct survey *s, struct fit_error *err)
{
    char folder[1024];
    size_t shape[2];
    enum fit_status status = read_axes(s, err);
    if (status == FIT_OK && s->o->truth)
        status = fit_image_read(s->o->truth, &s->truth, err);
    status = status == FIT_OK ? probe(s, shape, err) : status;
    status = status == FIT_OK ? identify(s, err) : status;
    if (status != FIT_OK)
        return status;
    snprintf(folder, sizeof folder, "%s.d", s->o->output);
    status = fit_store_open(&s->store, folder, s->nterm, s->noutput * s->npixel, err);
    status = status == FIT_OK ? find_todo(s, err) : status;
    s->worker = calloc(s->ntodo + 1, sizeof *s->worker); /* there are no more threads than turns */
    if (status == FIT_OK && !s->worker)
        status = fit_no_memory(err, "survey");
    status = status == FIT_OK ? work(s, err) : status;
    return status == FIT_OK ? collect(s, shape, err) : status;
}

enum fit_status fit_imaging_survey(struct fit_imaging_program *p, const struct fit_imaging_options *o,
                                   struct fit_error *err)
{
    struct survey s = {.program = p, .o = o, .nterm = p->kernel->nterm, .store.fd = -1};
    if (!o->output)
        return fit_fail(err, FIT_ERR_USAGE, "survey needs -o FILE.h5");
    if (!o->naxis)
        return fit_fail(err, FIT_ERR_USAGE, "survey needs an axis, such as --axis tv=1,10");
    pthread_mutex_init(&s.lock, NULL);
    const enum fit_status status = run_survey(&s, err);
    for (size_t k = 0; s.worker && k < s.ntodo; k++)
        free_run(&s.worker[k].run);
    free(s.worker);
    free(s.todo);
    fit_image_free(s.truth);
    fit_store_close(&s.store);
    pthread_mutex_destroy(&s.lock);
    return status;
}
