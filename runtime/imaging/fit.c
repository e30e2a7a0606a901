/* fit.c -- `fit`: the image that minimises the objective. */
#include "imaging/commands.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "imaging/converge.h"
#include "imaging/minimise.h"
#include "imaging/output.h"
#include "imaging/planes.h"
#include "imaging/spread.h"

/* The frequency of the image; NaN: unknown. */
static double frequency(const struct fit_imaging *q)
{
    return q->nchannel > 1 ? q->reference : q->obs->frequency;
}

static void put_image_attributes(struct fit_h5r *w, const char *path, const struct fit_imaging_run *r)
{
    const struct fit_obs *obs = r->q->obs;
    const struct {
        const char *name;
        double value;
    } number[] = {{"psize", r->q->grid.pixel},
                  {"ra_h", obs->ra},
                  {"dec_deg", obs->dec},
                  {"rf", frequency(r->q)},
                  {"mjd", obs->mjd}};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        if (isfinite(number[k].value))
            fit_h5r_attribute_real(w, path, number[k].name, number[k].value);
}

static void put_images(struct fit_h5r *w, const struct fit_imaging_run *r)
{
    struct fit_imaging_output output[FIT_IMAGING_OUTPUTS];
    const size_t shape[] = {r->q->grid.ny, r->q->grid.nx}, n = fit_imaging_outputs(r->q, output);
    FIT_OWNED double *pixels = malloc(r->q->n * sizeof *pixels);
    char path[64];
    if (!pixels) {
        fit_h5r_no_memory(w, "/image");
        return;
    }
    fit_imaging_image(r->q, r->full, pixels);
    for (size_t k = 0; k < n; k++) {
        const double *values = output[k].values ? output[k].values : pixels;
        snprintf(path, sizeof path, "/%s", output[k].name);
        fit_h5r_reals(w, path, 2, shape, values, output[k].stokes >= 0 ? "Jy" : NULL);
        put_image_attributes(w, path, r);
    }
}

/* /sd, /sd_q, ..; of draws /mean, .. and /draws. */
static void put_spread(struct fit_h5r *w, const struct fit_imaging_run *r, const struct fit_imaging_spread *u)
{
    struct fit_imaging_output output[FIT_IMAGING_OUTPUTS];
    const size_t shape[] = {r->q->grid.ny, r->q->grid.nx};
    char path[64];
    if (u->scale == 0)
        return;
    fit_imaging_outputs(r->q, output);
    for (size_t k = 0; k < u->noutput; k++) {
        const int stokes = output[k].stokes >= 0; /* sd, sd_q, sd_alpha */
        const char *end = stokes ? output[k].name + strlen("image") : output[k].name;
        for (int mean = 0; mean < 1 + u->is_nuts; mean++) {
            snprintf(path, sizeof path, "/%s%s%s", mean ? "mean" : "sd", stokes ? "" : "_", end);
            fit_h5r_reals(w, path, 2, shape, mean ? u->mean[k] : u->sd[k], stokes ? "Jy" : NULL);
            put_image_attributes(w, path, r);
        }
    }
    fit_h5r_attribute(w, "/sd", "method", u->is_nuts ? "nuts" : "laplace");
    fit_h5r_attribute_real(w, "/sd", "scale", u->scale);
    fit_h5r_attribute_real(w, "/sd", "away", u->away);
    if (!u->is_nuts)
        return;
    fit_h5r_reals(w, "/draws", 3, (size_t[]){u->ndraw, shape[0], shape[1]}, u->draw, "Jy");
    fit_h5r_attribute_real(w, "/draws", "chains", (double)u->chains);
    fit_h5r_attribute_real(w, "/draws", "r_hat", u->r_hat);
    fit_h5r_attribute_real(w, "/draws", "ess", u->ess);
    fit_h5r_attribute_real(w, "/draws", "divergent", u->divergent);
}

static enum fit_status write_result(const struct fit_imaging_run *r, const struct fit_imaging_spread *spread,
                                    const char *file, double value, struct fit_error *err)
{
    struct fit_h5r_file f;
    const enum fit_status s = fit_h5r_begin(&f, file, err);
    if (s != FIT_OK)
        return s;
    fit_imaging_put(&f.w, r->q, value, r->gradient);
    fit_imaging_put_x(&f.w, r->q, "/x", r->full);
    put_images(&f.w, r);
    put_spread(&f.w, r, spread);
    fit_h5r_attribute(&f.w, "/", "status", fit_optimize_end_name(r->result.end));
    fit_h5r_attribute(&f.w, "/", "reason", r->result.reason);
    fit_h5r_attribute_real(&f.w, "/", "nit", (double)r->result.nit);
    fit_h5r_attribute_real(&f.w, "/", "nfev", (double)r->result.nfev);
    fit_h5r_attribute_real(&f.w, "/", "gradient_max", r->result.gradient_max);
    fit_h5r_attribute_real(&f.w, "/", "gradient_norm", r->result.gradient_norm);
    return fit_h5r_end(&f, FIT_OK, err);
}

static enum fit_status write_fits(const struct fit_imaging_run *r, const char *file, struct fit_error *err)
{
    struct fit_sky *image = fit_image_new(r->q->grid.nx, r->q->grid.ny);
    if (!image)
        return fit_no_memory(err, file);
    const struct fit_obs *obs = r->q->obs;
    image->pixel = r->q->grid.pixel;
    image->ra = obs->ra;
    image->dec = obs->dec;
    image->frequency = frequency(r->q);
    image->mjd = obs->mjd;
    image->object = fit_arena_string(&image->arena, obs->object);
    fit_imaging_image(r->q, r->full, image->stokes[FIT_STOKES_I]);
    struct fit_imaging_output output[FIT_IMAGING_OUTPUTS];
    const size_t n = fit_imaging_outputs(r->q, output);
    enum fit_status s = FIT_OK;
    for (size_t k = 1; s == FIT_OK && k < n && output[k].stokes > 0; k++) {
        const enum fit_stokes stokes = (enum fit_stokes)output[k].stokes;
        if (fit_image_add_stokes(image, stokes))
            memcpy(image->stokes[stokes], output[k].values, r->q->n * sizeof(double));
        else
            s = fit_no_memory(err, file);
    }
    s = s == FIT_OK ? fit_image_write(file, image, err) : s;
    fit_image_free(image);
    return s;
}

/* An image of the size of the grid. */
static enum fit_status read_truth(const char *file, const struct fit_imaging *q, struct fit_sky **truth,
                                  struct fit_error *err)
{
    enum fit_status s = fit_image_read(file, truth, err);
    if (s == FIT_OK && ((*truth)->nx != q->grid.nx || (*truth)->ny != q->grid.ny)) {
        s = fit_fail(err, FIT_ERR_DATA, "%s: %zu x %zu pixels, the image has %zu x %zu", file, (*truth)->ny,
                     (*truth)->nx, q->grid.ny, q->grid.nx);
        fit_image_free(*truth);
        *truth = NULL;
    }
    return s;
}

static enum fit_status tell_truth(const struct fit_imaging_program *p, const struct fit_imaging_run *r,
                                  const char *file, struct fit_error *err)
{
    static const char *const of[FIT_STOKES] = {"", " of Q", " of U", " of V"};
    struct fit_imaging_output output[FIT_IMAGING_OUTPUTS];
    const size_t n = fit_imaging_outputs(r->q, output);
    struct fit_sky *truth;
    const enum fit_status s = read_truth(file, r->q, &truth, err);
    if (s != FIT_OK)
        return s;
    fit_imaging_image(r->q, r->full, r->gradient);
    for (size_t k = 0; k < n && output[k].stokes >= 0; k++)
        if (truth->stokes[output[k].stokes])
            fprintf(p->out, "correlation%s with %s: %.6f\n", of[output[k].stokes], file,
                    fit_imaging_correlation(r->q->n, k ? output[k].values : r->gradient,
                                            truth->stokes[output[k].stokes]));
    fit_image_free(truth);
    return FIT_OK;
}

/* The root of the mean square of the error of alpha, with the weights I. */
static enum fit_status tell_alpha(const struct fit_imaging_program *p, const struct fit_imaging_run *r,
                                  const char *file, struct fit_error *err)
{
    struct fit_imaging_output output[FIT_IMAGING_OUTPUTS];
    const size_t n = fit_imaging_outputs(r->q, output);
    struct fit_sky *truth;
    const enum fit_status s = read_truth(file, r->q, &truth, err);
    if (s != FIT_OK)
        return s;
    fit_imaging_image(r->q, r->full, r->gradient);
    for (size_t k = 0; k < n; k++) {
        double sum = 0, total = 0;
        for (size_t i = 0; strcmp(output[k].name, "alpha") == 0 && i < r->q->n; i++) {
            const double off = output[k].values[i] - truth->stokes[FIT_STOKES_I][i];
            sum += r->gradient[i] * off * off;
            total += r->gradient[i];
        }
        if (total > 0)
            fprintf(p->out, "alpha is off %s by %.4f\n", file, sqrt(sum / total));
    }
    fit_image_free(truth);
    return FIT_OK;
}

static enum fit_status find_spread(const struct fit_imaging_program *p, struct fit_imaging_run *r,
                                   const struct fit_imaging_options *o, struct fit_imaging_spread *u,
                                   struct fit_error *err)
{
    struct fit_progress_view view;
    enum fit_status s = fit_progress_begin(&view, p->err, p->err_is_terminal, NULL, o->quiet, err);
    const int draws = strcmp(o->uncertainty, "nuts") == 0;
    s = s == FIT_OK ? fit_imaging_laplace(r, &view, u, err) : s;
    if (draws && (s == FIT_OK || s == FIT_ERR_NUMERIC))
        s = fit_imaging_nuts(r, o, &view, u, err);
    if (draws && s == FIT_OK)
        err->status = FIT_OK;
    return s;
}

static void tell_spread(FILE *f, const struct fit_imaging_run *r, const struct fit_imaging_spread *u)
{
    double largest = 0, total = 0;
    fit_imaging_image(r->q, r->full, r->gradient);
    for (size_t k = 0; k < r->q->n; k++) {
        largest = fmax(largest, u->sd[0][k]);
        total = fmax(total, r->gradient[k]);
    }
    fprintf(f, "uncertainty (%s): standard deviations up to %.3g Jy per pixel, the brightest pixel %.3g Jy\n",
            u->is_nuts ? "nuts" : "laplace", largest, total);
    if (u->is_nuts)
        fprintf(f, "  %zu draws of %zu chains; R-hat %.4f, %.0f effective draws of the worst unknown; %.0f divergent\n",
                u->ndraw, u->chains, u->r_hat, u->ess, u->divergent);
}

static enum fit_status conclude(const struct fit_imaging_program *p, struct fit_imaging_run *r,
                                const struct fit_imaging_options *o, double seconds, struct fit_error *err)
{
    const double value = fit_imaging_conclude(r);
    struct fit_imaging_spread spread = {.scale = 0};
    struct fit_error without = {.status = FIT_OK}; /* reason for missing uncertainties; the image is written */
    enum fit_status s = FIT_OK;
    const int goes_on = r->result.end != FIT_OPTIMIZE_USER_STOP && isfinite(value);
    if (o->uncertainty && goes_on && find_spread(p, r, o, &spread, &without) != FIT_OK)
        spread.scale = 0;
    if (!o->quiet) {
        fit_imaging_print_notes(p->err, &r->q->notes);
        fit_imaging_print(p->out, r->q, value);
        fprintf(p->out, "%s: %s; %zu iterations, %zu evaluations, %.2f s\n", fit_optimize_end_name(r->result.end),
                r->result.reason, r->result.nit, r->result.nfev, seconds);
    }
    if (!isfinite(value))
        s = fit_fail(err, FIT_ERR_NUMERIC, "the objective is %g where the optimizer ended", value);
    if (s == FIT_OK && spread.scale > 0 && !o->quiet)
        tell_spread(p->out, r, &spread);
    if (s == FIT_OK && o->output)
        s = write_result(r, &spread, o->output, value, err);
    if (s == FIT_OK && o->fits)
        s = write_fits(r, o->fits, err);
    if (s == FIT_OK && o->truth && !o->quiet)
        s = tell_truth(p, r, o->truth, err);
    if (s == FIT_OK && o->truth_alpha && !o->quiet)
        s = tell_alpha(p, r, o->truth_alpha, err);
    if (s == FIT_OK && !o->quiet)
        fit_imaging_print_written(p->out, o->output, o->fits);
    fit_arena_free(&spread.arena);
    if (s == FIT_OK && without.status != FIT_OK) {
        *err = without;
        s = without.status;
    }
    return s;
}

/* One round, or several. */
static enum fit_status rounds(struct fit_imaging_run *r, const struct fit_imaging_options *o, struct fit_error *err)
{
    enum fit_status s = fit_imaging_minimise(r, o, err);
    for (size_t k = 1; s == FIT_OK && k < o->rounds && r->result.end != FIT_OPTIMIZE_USER_STOP; k++) {
        fit_imaging_conclude(r);
        s = fit_imaging_again(r, o->blur * r->q->beam, err);
        s = s == FIT_OK ? fit_imaging_minimise(r, o, err) : s;
    }
    return s;
}

static enum fit_status check_options(const struct fit_imaging_options *o, struct fit_error *err)
{
    if (o->uncertainty && strcmp(o->uncertainty, "laplace") != 0 && strcmp(o->uncertainty, "nuts") != 0)
        return fit_fail(err, FIT_ERR_USAGE, "--uncertainty: '%s' is neither laplace nor nuts", o->uncertainty);
    if (!(o->blur >= 0))
        return fit_fail(err, FIT_ERR_USAGE, "--blur: %g is below 0", o->blur);
    if (o->rounds > 1 && o->state)
        return fit_fail(err, FIT_ERR_USAGE, "--state keeps one run, --rounds %zu makes several", o->rounds);
    return FIT_OK;
}

enum fit_status fit_imaging_fit(struct fit_imaging_program *p, const struct fit_imaging_options *o,
                                struct fit_error *err)
{
    struct fit_imaging_run r = {.interrupt = p->interrupt};
    const double start = fit_seconds();
    if (check_options(o, err) != FIT_OK)
        return err->status;
    enum fit_status s = fit_imaging_new(p->kernel, o, 1, &r.q, err);
    s = s == FIT_OK ? fit_imaging_begin(&r, err) : s;
    s = s == FIT_OK ? rounds(&r, o, err) : s;
    s = s == FIT_OK ? conclude(p, &r, o, fit_seconds() - start, err) : s;
    p->exit_code = fit_optimize_converged(r.result.end) ? 0 : 2;
    if (s == FIT_OK && r.result.end == FIT_OPTIMIZE_USER_STOP)
        s = fit_fail(err, FIT_ERR_INTERRUPTED, "interrupted after %zu iterations", r.result.nit);
    fit_arena_free(&r.arena);
    fit_imaging_free(r.q);
    return s;
}
