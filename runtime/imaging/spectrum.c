/* spectrum.c -- see spectrum.h. */
#include "imaging/spectrum.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_number(struct fit_imaging *p, const char *name, double x)
{
    fit_inputs_put(&p->in, (struct fit_input){.name = name, .kind = FIT_INPUT_NUMBER, .value = x});
}

/* The reference frequency of I: that of --reference, of the image, else the logarithmic mean. */
static double reference(struct fit_imaging *p)
{
    double sum = 0;
    if (!isnan(p->options->reference))
        return p->options->reference;
    if (p->image && p->image->frequency > 0)
        return p->image->frequency;
    for (size_t c = 0; c < p->nchannel; c++)
        sum += log(p->channel[c]->frequency);
    const double f = exp(sum / (double)p->nchannel);
    fit_notes_add(&p->notes, "the image is that at %.6g GHz, the mean of the observations", f / 1e9);
    return f;
}

/* The sources of a map. */
struct source {
    const char *option; /* a file, or NULL */
    const double *own;  /* that of an image, or NULL */
    const char *what, *file;
};

static enum fit_status read_map(const struct fit_imaging *p, const char *file, double *to, struct fit_error *err)
{
    struct fit_sky *map;
    enum fit_status s = fit_image_read(file, &map, err);
    if (s != FIT_OK)
        return s;
    if (map->nx != p->grid.nx || map->ny != p->grid.ny)
        s = fit_fail(err, FIT_ERR_DATA, "%s: %zu x %zu pixels, the image has %zu x %zu", file, map->ny, map->nx,
                     p->grid.ny, p->grid.nx);
    else
        memcpy(to, map->stokes[FIT_STOKES_I], p->n * sizeof *to);
    fit_image_free(map);
    return s;
}

static enum fit_status take_map(struct fit_imaging *p, const struct source *from, double *to, struct fit_error *err)
{
    if (from->option)
        return read_map(p, from->option, to, err);
    if (from->own) {
        memcpy(to, from->own, p->n * sizeof *to);
        fit_notes_add(&p->notes, "%s is taken from %s", from->what, from->file);
    }
    return FIT_OK;
}

static enum fit_status set_maps(struct fit_imaging *p, struct fit_error *err)
{
    const struct fit_imaging_options *o = p->options;
    const struct fit_sky *image = p->image, *prior = p->prior;
    double *prior_alpha = NULL, *prior_beta = NULL;
    FIT_TAKE_DOUBLES(&p->arena, p->n, &prior_alpha, &prior_beta);
    const struct {
        struct source from;
        double *to;
    } map[] = {
        {{o->alpha, image ? image->alpha : NULL, "the start of alpha", o->image}, p->first[FIT_FREE_ALPHA]},
        {{o->beta, image ? image->beta : NULL, "the start of beta", o->image}, p->first[FIT_FREE_BETA]},
        {{o->prior_alpha, prior ? prior->alpha : NULL, "the prior of alpha", o->prior}, prior_alpha},
        {{o->prior_beta, prior ? prior->beta : NULL, "the prior of beta", o->prior}, prior_beta},
    };
    enum fit_status s = p->arena.failed ? fit_no_memory(err, "maps of the spectrum") : FIT_OK;
    for (size_t k = 0; s == FIT_OK && k < sizeof map / sizeof *map; k++)
        s = take_map(p, &map[k].from, map[k].to, err);
    fit_inputs_put(&p->in,
                   (struct fit_input){.name = "alpha_prior", .kind = FIT_INPUT_ARRAY, .n = p->n, .array = prior_alpha});
    fit_inputs_put(&p->in,
                   (struct fit_input){.name = "beta_prior", .kind = FIT_INPUT_ARRAY, .n = p->n, .array = prior_beta});
    return s;
}

static enum fit_status check(const struct fit_imaging *p, const char *order, struct fit_error *err)
{
    const struct fit_imaging_options *o = p->options;
    if (strlen(order) != 1 || *order < '0' || *order > '2')
        return fit_fail(err, FIT_ERR_USAGE, "--spectral-order: '%s' is not 0, 1 or 2", order);
    if (p->nchannel < 2 && (o->spectral_order || o->alpha || o->beta || o->prior_alpha || o->prior_beta))
        return fit_fail(err, FIT_ERR_USAGE, "a spectrum needs two observations or more: %s OBS.h5 OBS.h5 ..",
                        o->command);
    for (size_t c = 0; p->nchannel > 1 && c < p->nchannel; c++)
        if (!(p->channel[c]->frequency > 0))
            return fit_fail(err, FIT_ERR_DATA, "%s: no frequency (attribute rf, Hz), which a spectrum needs",
                            p->channel[c]->file);
    return FIT_OK;
}

enum fit_status fit_imaging_set_spectrum(struct fit_imaging *p, struct fit_error *err)
{
    const char *order = p->options->spectral_order ? p->options->spectral_order : "1";
    char name[32];
    enum fit_status s = check(p, order, err);
    if (s != FIT_OK || p->nchannel < 2)
        return s;
    s = set_maps(p, err);
    p->order = *order - '0';
    const double at = p->reference = reference(p);
    for (size_t c = 0; c < p->nchannel; c++) {
        snprintf(name, sizeof name, "log_ratio_%zu", c + 1);
        put_number(p, name, log(p->channel[c]->frequency / at));
        snprintf(name, sizeof name, "flux_%zu", c + 1);
        put_number(p, name, p->flux);
    }
    put_number(p, "channels", (double)p->nchannel);
    return s;
}
