/* fit.c -- `fit`: the image that minimises the objective. */
#include "imaging/commands.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/output.h"
#include "imaging/minimise.h"
#include "imaging/output.h"

static void put_image_attributes(struct fit_h5r *w, const struct fit_imaging_run *r, const struct fit_obs *obs)
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

static enum fit_status write_result(const struct fit_imaging_run *r, const char *file, double value,
                                    struct fit_error *err)
{
    struct fit_output out;
    struct fit_h5r w;
    const char *path;
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
            fit_imaging_image(r->q, r->full, pixels);
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

static enum fit_status write_fits(const struct fit_imaging_run *r, const char *file, struct fit_error *err)
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

static enum fit_status tell_truth(const struct fit_imaging_program *p, const struct fit_imaging_run *r,
                                  const char *file, struct fit_error *err)
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
        fprintf(p->out, "correlation with %s: %.6f\n", file,
                fit_imaging_correlation(r->q->n, r->gradient, truth->stokes[FIT_STOKES_I]));
    }
    fit_image_free(truth);
    return s;
}

static enum fit_status conclude(const struct fit_imaging_program *p, struct fit_imaging_run *r,
                                const struct fit_imaging_options *o, double seconds, struct fit_error *err)
{
    const double value = fit_imaging_conclude(r);
    enum fit_status s = FIT_OK;
    if (!o->quiet) {
        fit_imaging_print_notes(p->err, &r->q->notes);
        fit_imaging_print(p->out, r->q, value);
        fprintf(p->out, "%s: %s; %zu iterations, %zu evaluations, %.2f s\n", fit_optimize_end_name(r->result.end),
                r->result.reason, r->result.nit, r->result.nfev, seconds);
    }
    if (!isfinite(value))
        return fit_fail(err, FIT_ERR_NUMERIC, "the objective is %g where the optimizer ended", value);
    if (s == FIT_OK && o->output)
        s = write_result(r, o->output, value, err);
    if (s == FIT_OK && o->fits)
        s = write_fits(r, o->fits, err);
    if (s == FIT_OK && o->truth && !o->quiet)
        s = tell_truth(p, r, o->truth, err);
    return s;
}

enum fit_status fit_imaging_fit(struct fit_imaging_program *p, const struct fit_imaging_options *o,
                                struct fit_error *err)
{
    struct fit_imaging_run r = {.interrupt = p->interrupt};
    const double start = fit_seconds();
    enum fit_status s = fit_imaging_new(p->kernel, o, 1, &r.q, err);
    s = s == FIT_OK ? fit_imaging_begin(&r, err) : s;
    s = s == FIT_OK ? fit_imaging_minimise(&r, o, err) : s;
    s = s == FIT_OK ? conclude(p, &r, o, fit_seconds() - start, err) : s;
    if (s == FIT_OK && r.result.end == FIT_OPTIMIZE_USER_STOP)
        s = fit_fail(err, FIT_ERR_INTERRUPTED, "interrupted after %zu iterations", r.result.nit);
    fit_arena_free(&r.arena);
    fit_imaging_free(r.q);
    return s;
}
