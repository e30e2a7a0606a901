/* problem.c -- binds an objective of images to images, masks, data products. */
#include "imaging/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hdf5/reader.h"
#include "imaging/spectrum.h"
#include "machine/team.h"

/* --- grid ----------------------------------------------------------------------------------------------- */

/* The number `name` in the observation's file under /grid; NaN: none. */
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

/* Size of the grid: that of the images, else from --npix. */
static enum fit_status set_grid(struct fit_imaging *p, struct fit_error *err)
{
    const struct fit_imaging_options *o = p->options;
    const struct fit_sky *like = p->image ? p->image : p->prior;
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
        return fit_fail(err, FIT_ERR_USAGE, "nothing gives the size of a pixel: --fov UAS or --pixel UAS");
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

/* Start and prior; a Gaussian of the total flux for a fit without an image, and where --fwhm requests one. */
static enum fit_status set_images(struct fit_imaging *p, int fit, struct fit_error *err)
{
    const double fwhm = p->options->fwhm_uas * FIT_OBS_UAS;
    enum fit_status s = FIT_OK;
    const double *prior = p->prior ? p->prior->stokes[FIT_STOKES_I] : NULL;
    const int make = !prior && (fit || !isnan(fwhm));
    p->mask = fit_take(&p->arena, p->n, 1);
    p->start = fit_take(&p->arena, p->n, sizeof *p->start);
    for (int i = 0; i < FIT_IMAGING_FREE; i++)
        p->first[i] = fit_take(&p->arena, p->n, sizeof(double));
    if (prior || make)
        p->P = fit_take(&p->arena, p->n, sizeof *p->P);
    if (p->arena.failed)
        return fit_no_memory(err, "images");
    if (prior)
        memcpy(p->P, prior, p->n * sizeof *p->P);
    else if (make)
        fit_grid_prior(&p->grid, p->flux, isnan(fwhm) ? 0.4 * p->grid.pixel * (double)p->grid.nx : fwhm, p->P);
    memcpy(p->start, p->image ? p->image->stokes[FIT_STOKES_I] : p->P, p->n * sizeof *p->start);
    memset(p->mask, 1, p->n);
    if (p->P && fit_mask(p->n, p->P, p->options->clipfloor, p->mask) == 0)
        return fit_fail(err, FIT_ERR_DATA, "no pixel of the prior is above %g: nothing is left to solve for",
                        p->options->clipfloor);
    if ((fit || make) && !p->options->no_norm_init)
        s = fit_normalise(p->n, p->P, p->mask, p->flux, err);
    if (s == FIT_OK && fit && !p->options->no_norm_init)
        s = fit_normalise(p->n, p->start, p->mask, p->flux, err);
    return s;
}

/* --- data ----------------------------------------------------------------------------------------------- */

/* With several observations names contain the number of theirs: vis_data, vis_2_data. */
static char *name_of(struct fit_imaging *p, const char *term, size_t channel, const char *what)
{
    char text[64], number[24] = "";
    if (p->nchannel > 1)
        snprintf(number, sizeof number, "_%zu", channel + 1);
    snprintf(text, sizeof text, "%s%s%s", term, number, what);
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
static void put_product(struct fit_imaging *p, size_t c, const struct fit_product *q)
{
    static const char *const leg_name[] = {"_leg1", "_leg2", "_leg3", "_leg4"};
    const char *term = fit_product_name(q->kind);
    const double unit = in_degrees(q->kind) ? FIT_OBS_DEGREE : 1;
    double *weight = fit_take(&p->arena, q->n, sizeof *weight), *data = fit_take(&p->arena, q->n, sizeof *data);
    if (!weight || !data)
        return;
    for (size_t k = 0; k < q->n; k++) {
        weight[k] = 1 / (q->sigma[k] * unit * (q->sigma[k] * unit));
        data[k] = q->data[k] * unit;
    }
    put_axis(p, name_of(p, term, c, ""), q->n);
    put_array(p, name_of(p, term, c, "_weight"), q->n, weight);
    put_array(p, name_of(p, term, c, q->imag ? "_data_re" : "_data"), q->n, data);
    if (q->imag)
        put_array(p, name_of(p, term, c, "_data_im"), q->n, q->imag);
    for (int leg = 0; leg < q->nleg; leg++)
        fit_inputs_put(&p->in, (struct fit_input){
                                   .name = name_of(p, term, c, leg_name[leg]),
                                   .kind = FIT_INPUT_PLACES,
                                   .n = q->n,
                                   .place = q->leg + leg,
                                   .stride = (size_t)q->nleg});
    if (q->nblock)
        fit_inputs_put(&p->in, (struct fit_input){.name = name_of(p, term, c, "_T"),
                                                  .kind = FIT_INPUT_BLOCKS,
                                                  .nblock = q->nblock,
                                                  .block = q->block,
                                                  .array = q->T});
}

/* Are products computed with the user's options instead of taken from the file? */
static int has_wishes(const struct fit_imaging_options *o)
{
    return o->maximal || o->debias || o->uniform || o->systematic_noise != 0 || o->systematic_cphase_noise != 0 ||
           o->snrcut != 0 || o->cp_uv_min != 0;
}

static enum fit_status make_product(struct fit_imaging *p, size_t c, enum fit_product_kind kind,
                                    struct fit_error *err)
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
    struct fit_product **product = &p->product[c][kind];
    if (*product)
        return FIT_OK;
    if (!has_wishes(o) && fit_h5_is_hdf5(p->channel[c]->file))
        s = fit_product_read(p->channel[c]->file, p->channel[c], kind, product, err);
    if (s == FIT_OK && !*product)
        s = fit_product_make(p->channel[c], kind, &options, product, err);
    if (s == FIT_OK)
        put_product(p, c, *product);
    return s;
}

static void put_factors(struct fit_imaging *p, size_t c)
{
    const struct fit_obs *obs = p->channel[c];
    const size_t n = obs->n;
    double *ex = fit_take(&p->arena, 2 * n * p->grid.nx, sizeof *ex),
           *ey = fit_take(&p->arena, 2 * n * p->grid.ny, sizeof *ey);
    if (!ex || !ey)
        return;
    const struct fit_factors f = {ex, ex + n * p->grid.nx, ey, ey + n * p->grid.ny};
    fit_grid_factors(&p->grid, n, obs->u, obs->v, &f);
    put_axis(p, name_of(p, "uv", c, ""), n);
    fit_inputs_put(&p->in, (struct fit_input){.name = name_of(p, "z", c, ""),
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
    fit_random_floor(p->n, p->mask, 1.0, x[5]);
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

/* --- weights --------------------------------------------------------------------------------------------- */

static const struct fit_term_desc *term_of(const struct fit_functional *kernel, const char *name)
{
    for (uint32_t t = 0; t < kernel->nterm; t++)
        if (strcmp(kernel->term[t].name, name) == 0)
            return &kernel->term[t];
    return NULL;
}

/* With several observations a data term becomes one for each: vis_1, vis_2, .. */
static enum fit_status check_channels(const struct fit_functional *kernel, const char *term, struct fit_error *err)
{
    char name[64];
    snprintf(name, sizeof name, "%s_1", term);
    if (term_of(kernel, name))
        return FIT_OK;
    return fit_fail(err, FIT_ERR_CONFIG,
                    "the term '%s' is not one of several observations; vis, amp, cphase and logcamp are", term);
}

enum fit_status fit_imaging_weight(struct fit_imaging *p, const char *term, double weight, struct fit_error *err)
{
    const struct fit_functional *kernel = p->bound->o;
    const struct fit_term_desc *t = term_of(kernel, term);
    char name[64];
    if (t && !p->P && p->bound->lack[t - kernel->term] && strcmp(p->bound->lack[t - kernel->term], "prior") == 0)
        return fit_fail(err, FIT_ERR_CONFIG,
                        "the term '%s' cannot be used: the data have no 'prior'; --prior IMAGE, or --fwhm UAS for a "
                        "Gaussian",
                        term);
    if (p->nchannel < 2 || (t && t->kind != FIT_TERM_DATA))
        return fit_bound_weight(p->bound, term, weight, err);
    enum fit_status s = check_channels(kernel, term, err);
    for (size_t c = 0; s == FIT_OK && c < p->nchannel; c++) {
        snprintf(name, sizeof name, "%s_%zu", term, c + 1);
        s = fit_bound_weight(p->bound, name, weight, err);
    }
    return s;
}

/* --- the whole ------------------------------------------------------------------------------------------ */

/* The total V by default: that of the prior or of the image. */
static void set_vflux(struct fit_imaging *p)
{
    const struct fit_functional *o = p->bound->o;
    const struct fit_sky *of = p->prior && p->prior->stokes[FIT_STOKES_V] ? p->prior : p->image;
    for (uint32_t k = 0; of && of->stokes[FIT_STOKES_V] && k < o->nnumber; k++) {
        if (strcmp(o->number[k].name, "vflux") != 0 || !isnan(p->bound->number_given[k]))
            continue;
        p->bound->number_given[k] = sum_of(p->n, of->stokes[FIT_STOKES_V]);
        if (o->number[k].need & p->bound->on)
            fit_notes_add(&p->notes, "vflux, the total V, is %.6g Jy, from the %s", p->bound->number_given[k],
                          of == p->prior ? "prior" : "image");
    }
}

const char *fit_imaging_follows_from(const char *name)
{
    static const struct {
        const char *begin, *from;
    } own[] = {{"log_transform", "--no-log"},
               {"pixel_size", "--npix with --fov, or --pixel"},
               {"solve_", "--solve"},
               {"channels", "the number of observations"},
               {"log_ratio_", "the frequencies of the observations and --reference"}};
    for (size_t k = 0; k < sizeof own / sizeof *own; k++)
        if (strncmp(name, own[k].begin, strlen(own[k].begin)) == 0)
            return own[k].from;
    return NULL;
}

enum fit_status fit_imaging_settable(const char *option, const char *name, struct fit_error *err)
{
    const char *from = fit_imaging_follows_from(name);
    return from ? fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' follows from %s", option, name, from) : FIT_OK;
}

static enum fit_status set_weights(struct fit_imaging *p, struct fit_error *err)
{
    const struct fit_imaging_options *o = p->options;
    enum fit_status s = FIT_OK;
    p->bound->on = 0;
    for (size_t k = 0; s == FIT_OK && k < o->nterm; k++)
        s = fit_imaging_weight(p, o->term[k].name, o->term[k].value, err);
    for (size_t k = 0; s == FIT_OK && k < o->nregularizer; k++)
        s = fit_imaging_weight(p, o->regularizer[k].name, o->regularizer[k].value, err);
    for (size_t k = 0; s == FIT_OK && k < o->nhyper; k++)
        if ((s = fit_imaging_settable("set", o->hyper[k].name, err)) == FIT_OK)
            s = fit_bound_quantity(p->bound, o->hyper[k].name, o->hyper[k].text, err);
    set_vflux(p);
    return s == FIT_OK ? fit_bound_ready(p->bound, err) : s;
}

/* Requires every name to stand under the option of its kind. */
static enum fit_status check_names(const struct fit_functional *kernel, const char *option, size_t n,
                                   const struct fit_named_number *list, int data, struct fit_error *err)
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
    enum fit_status s = FIT_OK;
    for (size_t c = 0; s == FIT_OK && c <= o->nmore; c++) {
        s = fit_obs_read(c ? o->more[c - 1] : o->observation, &p->channel[c], err);
        p->nchannel += s == FIT_OK;
        if (s == FIT_OK)
            fit_notes_copy(&p->notes, &p->channel[c]->notes);
    }
    p->obs = p->channel[0];
    if (s == FIT_OK && o->image)
        s = fit_image_read(o->image, &p->image, err);
    if (s == FIT_OK && o->prior)
        s = fit_image_read(o->prior, &p->prior, err);
    if (p->image)
        fit_notes_copy(&p->notes, &p->image->notes);
    if (p->prior)
        fit_notes_copy(&p->notes, &p->prior->notes);
    return s;
}

static enum fit_status fill(struct fit_imaging *p, const struct fit_functional *kernel, struct fit_error *err)
{
    const struct fit_imaging_options *o = p->options;
    enum fit_status s = check_names(kernel, "term", o->nterm, o->term, 1, err);
    s = s == FIT_OK ? check_names(kernel, "regularizer", o->nregularizer, o->regularizer, 0, err) : s;
    for (size_t k = 0; s == FIT_OK && o->nmore && k < o->nterm; k++)
        s = check_channels(kernel, o->term[k].name, err);
    s = s == FIT_OK ? read_files(p, err) : s;
    s = s == FIT_OK ? set_grid(p, err) : s;
    if (s != FIT_OK)
        return s;
    p->beam = fit_obs_beam(p->obs);
    for (size_t c = 1; c < p->nchannel; c++)
        p->beam = fmin(p->beam, fit_obs_beam(p->channel[c]));
    set_flux(p);
    s = set_images(p, p->fits, err);
    s = s == FIT_OK ? fit_imaging_set_spectrum(p, err) : s;
    if (s != FIT_OK)
        return s;
    put_image(p);
    for (size_t c = 0; c < p->nchannel; c++)
        put_factors(p, c);
    for (size_t k = 0; s == FIT_OK && k < o->nterm; k++) {
        const int kind = fit_product_kind(o->term[k].name);
        for (size_t c = 0; s == FIT_OK && kind >= 0 && c < p->nchannel; c++)
            s = make_product(p, c, (enum fit_product_kind)kind, err);
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
    p->fits = fit;
    const enum fit_status s = fill(p, kernel, err);
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
    for (int c = 0; c < FIT_IMAGING_MOST_CHANNELS; c++)
        for (int k = 0; k < FIT_PRODUCTS; k++)
            fit_product_free(p->product[c][k]);
    fit_image_free(p->image);
    fit_image_free(p->prior);
    for (size_t c = 0; c < p->nchannel; c++)
        fit_obs_free(p->channel[c]);
    fit_inputs_free(&p->in);
    fit_notes_free(&p->notes);
    fit_arena_free(&p->arena);
    free(p);
}
