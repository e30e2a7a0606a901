/* simulate.c -- `simulate`: the measurement of an image by an interferometer.
 *
 * Rows and errors are those of the observation, or (--cadence) those of its stations over a day. Visibilities are
 * those of the image in every Stokes parameter that both have, plus noise; with maps of spectral index and curvature
 * they are at the frequency of the observation. */
#include "imaging/commands.h"

#include <math.h>
#include <string.h>

#include "imaging/output.h"
#include "observation/schedule.h"

/* The image times exp(map l^power). */
static void scale(struct fit_sky *image, const double *map, int power, double l)
{
    for (size_t k = 0; map && k < image->nx * image->ny; k++)
        for (int i = 0; i < FIT_STOKES; i++)
            if (image->stokes[i])
                image->stokes[i][k] *= exp(map[k] * pow(l, power));
}

/* The map of an option, which replaces the image's own. */
static enum fit_status read_map(const char *file, struct fit_sky *image, double **own, struct fit_error *err)
{
    struct fit_sky *map = NULL;
    if (!file)
        return FIT_OK;
    enum fit_status s = fit_image_read(file, &map, err);
    if (s == FIT_OK && (map->nx != image->nx || map->ny != image->ny))
        s = fit_fail(err, FIT_ERR_DATA, "%s: %zu x %zu pixels, the image has %zu x %zu", file, map->ny, map->nx,
                     image->ny, image->nx);
    if (s == FIT_OK &&
        !(*own = fit_take_copy(&image->arena, map->stokes[FIT_STOKES_I], map->nx * map->ny, sizeof **own)))
        s = fit_no_memory(err, file);
    fit_image_free(map);
    return s;
}

/* The image at the frequency of the observation: exp(alpha l + beta l^2) times that at the reference. */
static enum fit_status to_frequency(const struct fit_imaging_options *o, const struct fit_obs *obs,
                                    struct fit_sky *image, FILE *notes, struct fit_error *err)
{
    const double reference = !isnan(o->reference) ? o->reference : image->frequency;
    enum fit_status s = read_map(o->alpha, image, &image->alpha, err);
    s = s == FIT_OK ? read_map(o->beta, image, &image->beta, err) : s;
    if (s != FIT_OK || (!image->alpha && !image->beta))
        return s;
    if (!(reference > 0) || !(obs->frequency > 0))
        return fit_fail(err, FIT_ERR_USAGE,
                        "the spectrum of the image needs the frequency of the image (--reference HZ) and that of %s",
                        obs->file);
    const double l = log(obs->frequency / reference);
    scale(image, image->alpha, 1, l);
    scale(image, image->beta, 2, l);
    if (!o->quiet)
        fprintf(notes, "note: the image is brought from %.6g to %.6g GHz by its spectrum\n", reference / 1e9,
                obs->frequency / 1e9);
    return FIT_OK;
}

static enum fit_status grid_of(const struct fit_imaging_options *o, const struct fit_sky *image, struct fit_grid *g,
                               struct fit_error *err)
{
    const int pulse = o->pulse ? fit_pulse_of(o->pulse) : FIT_PULSE_TRIANGLE;
    if (pulse < 0)
        return fit_fail(err, FIT_ERR_USAGE, "--pulse: there is no pulse '%s'", o->pulse);
    *g = (struct fit_grid){.nx = image->nx, .ny = image->ny, .pixel = image->pixel, .pulse = (enum fit_pulse)pulse};
    if (isnan(g->pixel))
        g->pixel = !isnan(o->pixel_uas) ? o->pixel_uas * FIT_OBS_UAS : o->fov_uas * FIT_OBS_UAS / (double)g->nx;
    return g->pixel > 0 ? FIT_OK
                        : fit_fail(err, FIT_ERR_USAGE, "nothing gives the size of a pixel: --fov UAS or --pixel UAS");
}

/* Visibilities of the image; unmeasured rows get none. */
static enum fit_status measure(const struct fit_grid *g, const struct fit_sky *image, struct fit_obs *obs,
                               struct fit_error *err)
{
    FIT_SCRATCH(a);
    double *work = fit_take(&a, 4 * g->nx + 2 * g->ny, sizeof *work);
    if (!work)
        return fit_no_memory(err, "simulate");
    for (int s = 0; s < FIT_STOKES; s++)
        if (obs->stokes[s].re && image->stokes[s])
            fit_grid_visibilities(g, image->stokes[s], obs->n, obs->u, obs->v, obs->stokes[s].re, obs->stokes[s].im,
                                  work);
        else if (obs->stokes[s].re) /* of a source without polarisation */
            for (size_t k = 0; k < obs->n; k++)
                obs->stokes[s].re[k] = obs->stokes[s].im[k] = 0;
    return FIT_OK;
}

static enum fit_status make(const struct fit_imaging_options *o, struct fit_obs *obs, struct fit_sky *image,
                            FILE *notes, struct fit_error *err)
{
    struct fit_grid g;
    enum fit_status s = to_frequency(o, obs, image, notes, err);
    s = s == FIT_OK ? grid_of(o, image, &g, err) : s;
    s = s == FIT_OK ? measure(&g, image, obs, err) : s;
    if (s == FIT_OK && !o->no_noise)
        fit_obs_add_noise(obs, o->seed);
    for (int k = 1; s == FIT_OK && !o->quiet && k < FIT_STOKES; k++)
        if (image->stokes[k] && !obs->stokes[k].re)
            fprintf(notes, "note: the image has Stokes %c, the observation has not: it is left out\n", "IQUV"[k]);
    return s == FIT_OK ? fit_obs_write(o->output, obs, err) : s;
}

enum fit_status fit_imaging_simulate(struct fit_imaging_program *p, const struct fit_imaging_options *o,
                                     struct fit_error *err)
{
    struct fit_obs *like = NULL, *day = NULL;
    struct fit_sky *image = NULL;
    if (!o->image || !o->output)
        return fit_fail(err, FIT_ERR_USAGE, "simulate needs --image FILE.fits or FILE.h5:/PATH, and -o FILE.h5");
    enum fit_status s = fit_obs_read(o->observation, &like, err);
    s = s == FIT_OK ? fit_image_read(o->image, &image, err) : s;
    if (s == FIT_OK && !isnan(o->cadence))
        s = fit_obs_schedule(like, &(struct fit_schedule){.cadence = o->cadence}, &day, err);
    struct fit_obs *obs = day ? day : like;
    s = s == FIT_OK ? make(o, obs, image, p->err, err) : s;
    if (s == FIT_OK && !o->quiet)
        fprintf(p->out, "%s: %zu visibilities, %s\n", o->output, obs->n, o->no_noise ? "without noise" : "with noise");
    fit_image_free(image);
    fit_obs_free(day);
    fit_obs_free(like);
    return s;
}
