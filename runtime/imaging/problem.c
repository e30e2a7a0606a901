/* problem.c -- images, masks, data products: what an objective of images is bound to. */
#include "imaging/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hdf5/reader.h"
#include "machine/team.h"

/* --- grid ----------------------------------------------------------------------------------------------- */

/* The number `name` that the observation's file keeps at /grid; NaN: none. */
static double grid_number(const struct fit_imaging *p, const char *name)
{
    struct fit_h5 *h = NULL;
    double *value = NULL, x = NAN;
    size_t n = 0;
    if (!fit_h5_is_hdf5(p->obs->file) || fit_h5_open(p->obs->file, &h, NULL) != FIT_OK)
        return NAN;
    if (fit_h5_exists(h, "/grid") && fit_h5_has_attr(h, "/grid", name) &&
        fit_h5_read_attr_doubles(h, "/grid", name, &value, &n, NULL) == FIT_OK && n == 1)
        x = value[0];
    free(value);
    fit_h5_close(h);
    return x;
}

/* Size of the grid: that of the images, else of --npix. */
static enum fit_status set_grid(struct fit_imaging *p, struct fit_error *err)
{
    const struct fit_imaging_options *o = p->options;
    const struct fit_image *like = p->image ? p->image : p->prior;
    const int pulse = o->pulse ? fit_pulse_of(o->pulse) : FIT_PULSE_TRIANGLE;
    if (pulse < 0)
        return fit_fail(err, FIT_ERR_USAGE, "--pulse: there is no pulse '%s'", o->pulse);
    if (p->image && p->prior && (p->image->nx != p->prior->nx || p->image->ny != p->prior->ny))
        return fit_fail(err, FIT_ERR_DATA, "image and prior differ: %zu x %zu and %zu x %zu pixels", p->image->ny,
                        p->image->nx, p->prior->ny, p->prior->nx);
    if (p->image && p->prior && fabs(p->image->pixel / p->prior->pixel - 1) > 1e-9)
        return fit_fail(err, FIT_ERR_DATA, "image and prior differ: pixels of %g and %g rad", p->image->pixel,
                        p->prior->pixel);
    if (!like && !o->npix)
        return fit_fail(err, FIT_ERR_USAGE, "no image: --image FILE, or --npix N --fov UAS");
    p->grid = (struct fit_grid){.nx = like ? like->nx : o->npix,
                                .ny = like ? like->ny : o->npix,
                                .pixel = like ? like->pixel : NAN,
                                .pulse = (enum fit_pulse)pulse};
    if (isnan(p->grid.pixel))
        p->grid.pixel = !isnan(o->pixel_uas) ? o->pixel_uas * FIT_OBS_UAS
                        : !isnan(o->fov_uas) ? o->fov_uas * FIT_OBS_UAS / (double)p->grid.nx
                                             : grid_number(p, "psize");
    if (!(p->grid.pixel > 0))
        return fit_fail(err, FIT_ERR_USAGE, "nothing tells the size of a pixel: --fov UAS or --pixel UAS");
    p->n = p->grid.nx * p->grid.ny;
    return FIT_OK;
}

/* --- images --------------------------------------------------------------------------------------------- */

static double sum_of(size_t n, const double *x)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += x[k];
    return sum;
}

static void set_flux(struct fit_imaging *p)
{
    const char *from = "--flux";
    p->flux = p->options->flux;
    if (isnan(p->flux)) {
        p->flux = grid_number(p, "flux");
        from = "/grid of the observation";
    }
    if (isnan(p->flux) && (p->prior || p->image)) {
        p->flux = sum_of(p->n, p->prior ? p->prior->stokes[FIT_STOKES_I] : p->image->stokes[FIT_STOKES_I]);
        from = p->prior ? "the prior" : "the image";
    }
    if (isnan(p->flux)) {
        p->flux = 0;
        for (size_t k = 0; k < p->obs->n; k++)
            if (fit_obs_measured(p->obs, k))
                p->flux = fmax(p->flux, hypot(p->obs->stokes[FIT_STOKES_I].re[k], p->obs->stokes[FIT_STOKES_I].im[k]));
        from = "the largest visibility";
    }
    if (isnan(p->options->flux))
        fit_notes_add(&p->notes, "the total flux is %.6g Jy, from %s", p->flux, from);
}

/* Start and prior; a Gaussian for a fit that is given none. */
static enum fit_status set_images(struct fit_imaging *p, int fit, struct fit_error *err)
{
    const double fwhm = p->options->fwhm_uas * FIT_OBS_UAS;
    enum fit_status s = FIT_OK;
    const double *prior = p->prior ? p->prior->stokes[FIT_STOKES_I] : NULL;
    p->mask = fit_take(&p->arena, p->n, 1);
    p->start = fit_take(&p->arena, p->n, sizeof *p->start);
    if (prior || fit)
        p->P = fit_take(&p->arena, p->n, sizeof *p->P);
    if (p->arena.failed)
        return fit_no_memory(err, "images");
    if (prior)
        memcpy(p->P, prior, p->n * sizeof *p->P);
    else if (fit)
        fit_grid_prior(&p->grid, p->flux, isnan(fwhm) ? 0.4 * p->grid.pixel * (double)p->grid.nx : fwhm, p->P);
    memcpy(p->start, p->image ? p->image->stokes[FIT_STOKES_I] : p->P, p->n * sizeof *p->start);
    memset(p->mask, 1, p->n);
    if (p->P && fit_mask(p->n, p->P, p->options->clipfloor, p->mask) == 0)
        return fit_fail(err, FIT_ERR_DATA, "no pixel of the prior is above %g: nothing is left to solve for",
                        p->options->clipfloor);
    if (fit && !p->options->no_norm_init) {
        s = fit_normalise(p->n, p->P, p->mask, p->flux, err);
        s = s == FIT_OK ? fit_normalise(p->n, p->start, p->mask, p->flux, err) : s;
    }
    return s;
}

/* --- data ----------------------------------------------------------------------------------------------- */

static char *name_of(struct fit_imaging *p, const char *term, const char *what)
{
    char text[64];
    snprintf(text, sizeof text, "%s%s", term, what);
    return fit_arena_string(&p->arena, text);
}

static void put_array(struct fit_imaging *p, const char *name, size_t n, const double *x)
{
    fit_inputs_put(&p->in, (struct fit_input){.name = name, .kind = FIT_INPUT_ARRAY, .n = n, .array = x});
}

static void put_number(struct fit_imaging *p, const char *name, double x)
{
    fit_inputs_put(&p->in, (struct fit_input){.name = name, .kind = FIT_INPUT_NUMBER, .value = x});
}

static void put_axis(struct fit_imaging *p, const char *name, size_t n)
{
    fit_inputs_put(
        &p->in, (struct fit_input){.name = name, .kind = FIT_INPUT_AXIS, .n = n, .nx = p->grid.nx, .ny = p->grid.ny});
}

static int in_degrees(enum fit_product_kind kind)
{
    return kind == FIT_PRODUCT_CPHASE || kind == FIT_PRODUCT_CPHASE_DIAG;
}

/* Data and weights of a term: phases in radians. */
static void put_product(struct fit_imaging *p, const struct fit_product *q)
{
    const char *term = fit_product_name(q->kind);
    const double unit = in_degrees(q->kind) ? FIT_OBS_DEGREE : 1;
    double *weight = fit_take(&p->arena, q->n, sizeof *weight), *data = fit_take(&p->arena, q->n, sizeof *data);
    if (!weight || !data)
        return;
    for (size_t k = 0; k < q->n; k++) {
        weight[k] = 1 / (q->sigma[k] * unit * (q->sigma[k] * unit));
        data[k] = q->data[k] * unit;
    }
    put_axis(p, term, q->n);
    put_array(p, name_of(p, term, "_weight"), q->n, weight);
    put_array(p, name_of(p, term, q->imag ? "_data_re" : "_data"), q->n, data);
    if (q->imag)
        put_array(p, name_of(p, term, "_data_im"), q->n, q->imag);
    for (int leg = 0; leg < q->nleg; leg++)
        fit_inputs_put(&p->in, (struct fit_input){
                                   .name = name_of(p, term, (const char *[]){"_leg1", "_leg2", "_leg3", "_leg4"}[leg]),
                                   .kind = FIT_INPUT_PLACES,
                                   .n = q->n,
                                   .place = q->leg + leg,
                                   .stride = (size_t)q->nleg});
    if (q->nblock)
        fit_inputs_put(&p->in, (struct fit_input){.name = name_of(p, term, "_T"),
                                                  .kind = FIT_INPUT_BLOCKS,
                                                  .nblock = q->nblock,
                                                  .block = q->block,
                                                  .array = q->T});
}

/* Are products made as the user says, not taken from the file? */
static int has_wishes(const struct fit_imaging_options *o)
{
    return o->maximal || o->debias || o->uniform || o->systematic_noise != 0 || o->systematic_cphase_noise != 0 ||
           o->snrcut != 0 || o->cp_uv_min != 0;
}

static enum fit_status make_product(struct fit_imaging *p, enum fit_product_kind kind, struct fit_error *err)
{
    const struct fit_imaging_options *o = p->options;
    const struct fit_product_options options = {.debias = o->debias,
                                                .maximal = o->maximal,
                                                .uniform = o->uniform,
                                                .systematic_noise = o->systematic_noise,
                                                .systematic_cphase_noise = o->systematic_cphase_noise,
                                                .snrcut = o->snrcut,
                                                .cp_uv_min = o->cp_uv_min};
    enum fit_status s = FIT_OK;
    if (p->product[kind])
        return FIT_OK;
    if (!has_wishes(o) && fit_h5_is_hdf5(p->obs->file))
        s = fit_product_read(p->obs->file, p->obs, kind, &p->product[kind], err);
    if (s == FIT_OK && !p->product[kind])
        s = fit_product_make(p->obs, kind, &options, &p->product[kind], err);
    if (s == FIT_OK)
        put_product(p, p->product[kind]);
    return s;
}

static void put_factors(struct fit_imaging *p)
{
    const size_t n = p->obs->n;
    double *ex = fit_take(&p->arena, 2 * n * p->grid.nx, sizeof *ex),
           *ey = fit_take(&p->arena, 2 * n * p->grid.ny, sizeof *ey);
    if (!ex || !ey)
        return;
    const struct fit_factors f = {ex, ex + n * p->grid.nx, ey, ey + n * p->grid.ny};
    fit_grid_factors(&p->grid, n, p->obs->u, p->obs->v, &f);
    put_axis(p, "uv", n);
    fit_inputs_put(&p->in, (struct fit_input){.name = "z",
                                              .kind = FIT_INPUT_OUTER,
                                              .n = n,
                                              .nx = p->grid.nx,
                                              .ny = p->grid.ny,
                                              .column_re = f.ex_re,
                                              .column_im = f.ex_im,
                                              .row_re = f.ey_re,
                                              .row_im = f.ey_im});
}

/* Coordinates of pixels, prior, mask. */
static void put_image(struct fit_imaging *p)
{
    static const char *const name[] = {"x_pixel", "y_pixel", "x_whole", "y_whole", "mask", "floor"};
    double *x[6];
    const size_t nx = p->grid.nx, ny = p->grid.ny;
    for (int k = 0; k < 6; k++)
        if (!(x[k] = fit_take(&p->arena, p->n, sizeof(double))))
            return;
    for (size_t k = 0; k < p->n; k++) {
        x[0][k] = ((double)(k % nx) - ((double)nx - 1) / 2) * p->grid.pixel;
        x[1][k] = ((double)(k / nx) - ((double)ny - 1) / 2) * p->grid.pixel;
        x[2][k] = ((double)(nx / 2) - (double)(k % nx)) * p->grid.pixel;
        x[3][k] = ((double)(ny / 2) - (double)(k / nx)) * p->grid.pixel;
        x[4][k] = p->mask[k];
    }
    fit_random_floor(p->n, 1.0, x[5]);
    put_axis(p, "pixel", p->n);
    for (int k = 0; k < 6; k++)
        put_array(p, name[k], p->n, x[k]);
    if (p->P)
        put_array(p, "prior", p->n, p->P);
    put_number(p, "flux", p->flux);
    put_number(p, "beam", p->beam);
    put_number(p, "pixel_size", p->grid.pixel);
    put_number(p, "norm_reg", p->options->norm_reg);
    put_number(p, "log_transform", !p->options->no_log);
    if (!isnan(p->options->epsilon_tv))
        put_number(p, "epsilon_tv", p->options->epsilon_tv);
}

/* --- the whole ------------------------------------------------------------------------------------------ */

static enum fit_status set_weights(struct fit_imaging *p, struct fit_error *err)
{
    const struct fit_imaging_options *o = p->options;
    enum fit_status s = FIT_OK;
    p->bound->on = 0;
    for (size_t k = 0; s == FIT_OK && k < o->nterm; k++)
        s = fit_bound_weight(p->bound, o->term[k].name, o->term[k].value, err);
    for (size_t k = 0; s == FIT_OK && k < o->nregularizer; k++)
        s = fit_bound_weight(p->bound, o->regularizer[k].name, o->regularizer[k].value, err);
    for (size_t k = 0; s == FIT_OK && k < o->nhyper; k++)
        s = fit_bound_hyper(p->bound, o->hyper[k].name, o->hyper[k].value, err);
    return s == FIT_OK ? fit_bound_ready(p->bound, err) : s;
}

/* Every name stands under the option of its kind. */
static enum fit_status check_names(const struct fit_functional *kernel, const char *option, size_t n,
                                   const struct fit_imaging_weight *list, int data, struct fit_error *err)
{
    for (size_t k = 0; k < n; k++)
        for (uint32_t t = 0; t < kernel->nterm; t++)
            if (strcmp(kernel->term[t].name, list[k].name) == 0 && (kernel->term[t].kind == FIT_TERM_DATA) != data)
                return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' is %s; it stands behind --%s", option, list[k].name,
                                data ? "a regularizer" : "a data term", data ? "regularizer" : "term");
    return FIT_OK;
}

static enum fit_status read_files(struct fit_imaging *p, struct fit_error *err)
{
    const struct fit_imaging_options *o = p->options;
    enum fit_status s = fit_obs_read(o->observation, &p->obs, err);
    if (s == FIT_OK && o->image)
        s = fit_image_read(o->image, &p->image, err);
    if (s == FIT_OK && o->prior)
        s = fit_image_read(o->prior, &p->prior, err);
    if (p->obs)
        fit_notes_copy(&p->notes, &p->obs->notes);
    if (p->image)
        fit_notes_copy(&p->notes, &p->image->notes);
    if (p->prior)
        fit_notes_copy(&p->notes, &p->prior->notes);
    return s;
}

static enum fit_status fill(struct fit_imaging *p, const struct fit_functional *kernel, int fit, struct fit_error *err)
{
    const struct fit_imaging_options *o = p->options;
    enum fit_status s = check_names(kernel, "term", o->nterm, o->term, 1, err);
    s = s == FIT_OK ? check_names(kernel, "regularizer", o->nregularizer, o->regularizer, 0, err) : s;
    s = s == FIT_OK ? read_files(p, err) : s;
    s = s == FIT_OK ? set_grid(p, err) : s;
    if (s != FIT_OK)
        return s;
    p->beam = fit_obs_beam(p->obs);
    set_flux(p);
    if ((s = set_images(p, fit, err)) != FIT_OK)
        return s;
    put_image(p);
    put_factors(p);
    for (size_t k = 0; s == FIT_OK && k < o->nterm; k++) {
        const int kind = fit_product_kind(o->term[k].name);
        if (kind >= 0)
            s = make_product(p, (enum fit_product_kind)kind, err);
    }
    if (s == FIT_OK && (p->arena.failed || p->in.arena.failed))
        s = fit_no_memory(err, o->observation);
    s = s == FIT_OK ? fit_bound_new(kernel, &p->in, &p->bound, err) : s;
    if (s == FIT_OK && o->threads)
        p->bound->threads = (int)o->threads;
    return s == FIT_OK ? set_weights(p, err) : s;
}

enum fit_status fit_imaging_new(const struct fit_functional *kernel, const struct fit_imaging_options *o, int fit,
                                struct fit_imaging **problem, struct fit_error *err)
{
    struct fit_imaging *p = calloc(1, sizeof *p);
    *problem = NULL;
    if (!p)
        return fit_no_memory(err, "imaging");
    p->options = o;
    const enum fit_status s = fill(p, kernel, fit, err);
    if (s == FIT_OK)
        *problem = p;
    else
        fit_imaging_free(p);
    return s;
}

void fit_imaging_free(struct fit_imaging *p)
{
    if (!p)
        return;
    fit_bound_free(p->bound);
    for (int k = 0; k < FIT_PRODUCTS; k++)
        fit_product_free(p->product[k]);
    fit_image_free(p->image);
    fit_image_free(p->prior);
    fit_obs_free(p->obs);
    fit_inputs_free(&p->in);
    fit_notes_free(&p->notes);
    fit_arena_free(&p->arena);
    free(p);
}

enum fit_status fit_imaging_start(const struct fit_imaging *p, double *x, struct fit_error *err)
{
    for (size_t k = 0; k < p->n; k++) {
        if (!p->options->no_log && p->mask[k] && !(p->start[k] > 0))
            return fit_fail(
                err, FIT_ERR_DATA,
                "pixel %zu, %zu of the image is %g Jy: ln I needs positive values (--no-log solves for I; a "
                "--prior that is 0 there leaves the pixel out)",
                k / p->grid.nx, k % p->grid.nx, p->start[k]);
        x[k] = !p->mask[k] ? 0 : p->options->no_log ? p->start[k] : log(p->start[k]);
    }
    return FIT_OK;
}

void fit_imaging_image(const struct fit_imaging *p, const double *x, double *image)
{
    for (size_t k = 0; k < p->n; k++)
        image[k] = !p->mask[k] ? 0 : p->options->no_log ? x[k] : exp(x[k]);
}
