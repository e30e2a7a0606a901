/* fit.c -- `fit`: the image that minimises the objective.
 *
 * The optimizer sees the pixels of the mask alone. */
#include "imaging/commands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/output.h"
#include "imaging/output.h"
#include "optimizers/registry.h"

struct run {
    struct fit_imaging_program *program;
    struct fit_imaging *q;
    struct fit_arena arena;
    size_t n, *place;        /* pixels that are solved for */
    double *full, *gradient; /* all pixels */
    double *x;               /* n */
    struct fit_optimize_result result;
};

static enum fit_status value_gradient(void *context, const double *x, double *f, double *g, struct fit_error *err)
{
    struct run *r = context;
    (void)err;
    for (size_t k = 0; k < r->n; k++)
        r->full[r->place[k]] = x[k];
    *f = fit_bound_value(r->q->bound, r->full, g ? r->gradient : NULL);
    for (size_t k = 0; g && k < r->n; k++)
        g[k] = r->gradient[r->place[k]];
    return FIT_OK;
}

static int watch(void *user, const struct fit_optimize_report *report)
{
    const struct run *r = user;
    (void)report;
    return atomic_load(r->program->interrupt);
}

static enum fit_status begin(struct run *r, struct fit_error *err)
{
    const size_t n = r->q->n;
    r->place = fit_take(&r->arena, n, sizeof *r->place);
    FIT_TAKE_DOUBLES(&r->arena, n, &r->full, &r->gradient, &r->x);
    if (r->arena.failed)
        return fit_no_memory(err, "fit");
    const enum fit_status s = fit_imaging_start(r->q, r->full, err);
    for (size_t k = 0; k < n; k++)
        if (r->q->mask[k]) {
            r->x[r->n] = r->full[k];
            r->place[r->n++] = k;
        }
    return s;
}

/* One line that tells this problem from others, for state files. */
static const char *identity(struct run *r)
{
    const struct fit_bound *b = r->q->bound;
    char text[1500];
    int at = snprintf(text, sizeof text, "%.16s %s %zux%zu", b->o->hash, r->q->obs->file, r->q->grid.ny, r->q->grid.nx);
    for (uint32_t t = 0; t < b->o->nterm && at < (int)sizeof text - 64; t++)
        if (b->on >> t & 1)
            at += snprintf(text + at, sizeof text - (size_t)at, " %s=%.17g", b->o->term[t].name, b->weight[t]);
    return fit_arena_string(&r->arena, text);
}

static enum fit_status minimise(struct run *r, const struct fit_imaging_options *o, struct fit_error *err)
{
    struct fit_optimizer method;
    struct fit_optimize *work = NULL;
    struct fit_optimize_options options = fit_optimize_defaults();
    struct fit_optimize_problem problem = {
        .n = r->n, .context = r, .value_gradient = value_gradient, .identity = identity(r)};
    options.maxiter = o->maxiter;
    options.ftol = o->ftol;
    options.gtol = o->gtol;
    options.memory = o->memory;
    options.maxls = o->maxls;
    options.learning_rate = o->learning_rate;
    options.watch = watch;
    options.watch_user = r;
    options.state_file = o->state;
    options.state_every = 50;
    enum fit_status s = fit_optimizer_find(&method, o->optimizer, err);
    if (s != FIT_OK)
        return s;
    s = fit_optimize_new(&work, &method.method, r->n, &options, err);
    s = s == FIT_OK ? fit_optimize_run(work, &problem, r->x, &r->result, err) : s;
    fit_optimize_free(work);
    fit_optimizer_close(&method);
    return s;
}

/* Pearson's correlation of two images. */
static double correlation(size_t n, const double *a, const double *b)
{
    double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
    for (size_t k = 0; k < n; k++) {
        ma += a[k] / (double)n;
        mb += b[k] / (double)n;
    }
    for (size_t k = 0; k < n; k++) {
        aa += (a[k] - ma) * (a[k] - ma);
        bb += (b[k] - mb) * (b[k] - mb);
        ab += (a[k] - ma) * (b[k] - mb);
    }
    return ab / sqrt(aa * bb);
}

static void put_image_attributes(struct fit_h5r *w, const struct run *r, const struct fit_obs *obs)
{
    const struct {
        const char *name;
        double value;
    } number[] = {{"psize", r->q->grid.pixel},
                  {"ra_h", obs->ra},
                  {"dec_deg", obs->dec},
                  {"rf", obs->frequency},
                  {"mjd", obs->mjd}};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        if (isfinite(number[k].value))
            fit_h5r_attribute_real(w, "/image", number[k].name, number[k].value);
}

static enum fit_status write_result(const struct run *r, const char *file, double value, struct fit_error *err)
{
    struct fit_output out;
    struct fit_h5r w;
    const char *path;
    double *image = r->full + 0;
    enum fit_status s = fit_output_one(&out, file, &path, err);
    if (s != FIT_OK)
        return s;
    if ((s = fit_h5r_create(path, &w, err)) == FIT_OK) {
        const size_t shape[] = {r->q->grid.ny, r->q->grid.nx};
        fit_imaging_put(&w, r->q, value, r->gradient);
        fit_h5r_reals(&w, "/x", 2, shape, r->full, NULL);
        double *pixels = malloc(r->q->n * sizeof *pixels);
        if (!pixels)
            fit_h5r_no_memory(&w, "/image");
        else {
            fit_imaging_image(r->q, image, pixels);
            fit_h5r_reals(&w, "/image", 2, shape, pixels, "Jy");
            put_image_attributes(&w, r, r->q->obs);
        }
        free(pixels);
        fit_h5r_attribute(&w, "/", "status", fit_optimize_end_name(r->result.end));
        fit_h5r_attribute(&w, "/", "reason", r->result.reason);
        fit_h5r_attribute_real(&w, "/", "nit", (double)r->result.nit);
        fit_h5r_attribute_real(&w, "/", "nfev", (double)r->result.nfev);
        fit_h5r_attribute_real(&w, "/", "gradient_max", r->result.gradient_max);
        fit_h5r_attribute_real(&w, "/", "gradient_norm", r->result.gradient_norm);
        s = fit_h5r_close(&w, err);
    }
    if (s == FIT_OK)
        return fit_output_commit(&out, err);
    fit_output_abandon(&out);
    return s;
}

static enum fit_status write_fits(const struct run *r, const char *file, struct fit_error *err)
{
    struct fit_image *image = fit_image_new(r->q->grid.nx, r->q->grid.ny);
    if (!image)
        return fit_no_memory(err, file);
    const struct fit_obs *obs = r->q->obs;
    image->pixel = r->q->grid.pixel;
    image->ra = obs->ra;
    image->dec = obs->dec;
    image->frequency = obs->frequency;
    image->mjd = obs->mjd;
    image->object = fit_arena_string(&image->arena, obs->object);
    fit_imaging_image(r->q, r->full, image->stokes[FIT_STOKES_I]);
    const enum fit_status s = fit_image_write(file, image, err);
    fit_image_free(image);
    return s;
}

static enum fit_status tell_truth(const struct run *r, const char *file, struct fit_error *err)
{
    struct fit_image *truth;
    enum fit_status s = fit_image_read(file, &truth, err);
    if (s != FIT_OK)
        return s;
    if (truth->nx != r->q->grid.nx || truth->ny != r->q->grid.ny)
        s = fit_fail(err, FIT_ERR_DATA, "%s: %zu x %zu pixels, the image has %zu x %zu", file, truth->ny, truth->nx,
                     r->q->grid.ny, r->q->grid.nx);
    else {
        fit_imaging_image(r->q, r->full, r->gradient);
        fprintf(r->program->out, "correlation with %s: %.6f\n", file,
                correlation(r->q->n, r->gradient, truth->stokes[FIT_STOKES_I]));
    }
    fit_image_free(truth);
    return s;
}

static enum fit_status conclude(struct run *r, const struct fit_imaging_options *o, double seconds,
                                struct fit_error *err)
{
    double value;
    enum fit_status s = value_gradient(r, r->x, &value, NULL, err); /* all arrays are those of the result */
    value = fit_bound_value(r->q->bound, r->full, r->gradient);
    if (!o->quiet) {
        fit_imaging_print_notes(r->program->err, &r->q->notes);
        fit_imaging_print(r->program->out, r->q, value);
        fprintf(r->program->out, "%s: %s; %zu iterations, %zu evaluations, %.2f s\n",
                fit_optimize_end_name(r->result.end), r->result.reason, r->result.nit, r->result.nfev, seconds);
    }
    if (!isfinite(value))
        return fit_fail(err, FIT_ERR_NUMERIC, "the objective is %g where the optimizer ended", value);
    if (s == FIT_OK && o->output)
        s = write_result(r, o->output, value, err);
    if (s == FIT_OK && o->fits)
        s = write_fits(r, o->fits, err);
    if (s == FIT_OK && o->truth && !o->quiet)
        s = tell_truth(r, o->truth, err);
    return s;
}

enum fit_status fit_imaging_fit(struct fit_imaging_program *p, const struct fit_imaging_options *o,
                                struct fit_error *err)
{
    struct run r = {.program = p};
    const double start = fit_seconds();
    enum fit_status s = fit_imaging_new(p->kernel, o, 1, &r.q, err);
    s = s == FIT_OK ? begin(&r, err) : s;
    s = s == FIT_OK ? minimise(&r, o, err) : s;
    s = s == FIT_OK ? conclude(&r, o, fit_seconds() - start, err) : s;
    if (s == FIT_OK && r.result.end == FIT_OPTIMIZE_USER_STOP)
        s = fit_fail(err, FIT_ERR_INTERRUPTED, "interrupted after %zu iterations", r.result.nit);
    fit_arena_free(&r.arena);
    fit_imaging_free(r.q);
    return s;
}
