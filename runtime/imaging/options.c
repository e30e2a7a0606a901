/* options.c -- the table of options, its parser and its help. */
#include "imaging/options.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>


#define AT(field) offsetof(struct fit_imaging_options, field)

static const struct fit_option_row table[] = {
    {"term", FIT_OPTION_NUMBERS, AT(term), AT(nterm), "NAME=W,..",
     "data terms and their weights: vis amp logamp bs cphase "
     "cphase_diag camp logcamp logcamp_diag; pvis m vvis",
     "Objective", NULL},
    {"regularizer", FIT_OPTION_NUMBERS, AT(regularizer), AT(nregularizer), "NAME=W,..",
     "regularizers: simple gs l1 l1w lA tv tv2 "
     "tvlog tv2log flux patch cm compact compact2 rgauss; msimple hw ptv vflux l1v l2v vtv vtv2; l2_alpha tv_alpha "
     "l2_beta tv_beta flux_mf",
     NULL, NULL},
    {"flux", FIT_OPTION_REAL, AT(flux), 0, "F", "total flux, Jy; else that of /grid in the observation, or of the prior", NULL,
     NULL},
    {"prior", FIT_OPTION_TEXT, AT(prior), 0, "IMAGE", "prior image: FILE.fits, FILE.h5:/PATH", NULL, NULL},
    {"eps-tv", FIT_OPTION_REAL, AT(epsilon_tv), 0, "E", "rounds the corner of total variation, Jy^2 (0)", NULL, NULL},
    {"norm-reg", FIT_OPTION_FLAG, AT(norm_reg), 0, NULL, "regularizers are divided by their norms", NULL, NULL},
    {"set", FIT_OPTION_NUMBERS, AT(hyper), AT(nhyper), "NAME=V,..",
     "other numbers of the model: alpha_A major minor PA (info "
     "lists them)",
     NULL, NULL},
    {"no-log", FIT_OPTION_FLAG, AT(no_log), 0, NULL, "solve for I, not for ln I", NULL, NULL},
    {"clipfloor", FIT_OPTION_REAL, AT(clipfloor), 0, "I", "pixels where the prior is not above are empty (0)", NULL, NULL},
    {"image", FIT_OPTION_TEXT, AT(image), 0, "IMAGE", "where the objective is evaluated, or begun: FILE.fits, FILE.h5:/PATH",
     "Image", NULL},
    {"npix", FIT_OPTION_COUNT, AT(npix), 0, "N", "pixels along a side, where no image is given", NULL, NULL},
    {"fov", FIT_OPTION_REAL, AT(fov_uas), 0, "UAS", "field of view, micro arc seconds", NULL, NULL},
    {"pixel", FIT_OPTION_REAL, AT(pixel_uas), 0, "UAS", "side of a pixel, where image and observation do not tell it", NULL, NULL},
    {"fwhm", FIT_OPTION_REAL, AT(fwhm_uas), 0, "UAS", "of the Gaussian that stands for prior and start where none is given", NULL,
     NULL},
    {"pulse", FIT_OPTION_TEXT, AT(pulse), 0, "NAME", "shape of a pixel: triangle delta rectangle gaussian cubic sinc", NULL, NULL},
    {"no-norm-init", FIT_OPTION_FLAG, AT(no_norm_init), 0, NULL, "fit: start and prior keep their flux", NULL, NULL},
    {"solve", FIT_OPTION_TEXT, AT(solve), 0, "MODE",
     "I, P, V, IP, IV, PV or IPV: what is solved for; else what the data terms measure", "Polarisation and spectra",
     NULL},
    {"spectral-order", FIT_OPTION_TEXT, AT(spectral_order), 0, "N",
     "of several observations: 1 solves for alpha (default), 2 for beta, too, 0 for neither", NULL, NULL},
    {"reference", FIT_OPTION_REAL, AT(reference), 0, "HZ", "frequency of the image; else its own, or the mean of the observations",
     NULL, NULL},
    {"alpha", FIT_OPTION_TEXT, AT(alpha), 0, "IMAGE", "spectral index: where it begins; else that of --image, or 0", NULL, NULL},
    {"beta", FIT_OPTION_TEXT, AT(beta), 0, "IMAGE", "its curvature, likewise", NULL, NULL},
    {"prior-alpha", FIT_OPTION_TEXT, AT(prior_alpha), 0, "IMAGE", "prior of alpha; else the alpha of --prior, or 0", NULL, NULL},
    {"prior-beta", FIT_OPTION_TEXT, AT(prior_beta), 0, "IMAGE", "prior of beta, likewise", NULL, NULL},
    {"truth", FIT_OPTION_TEXT, AT(truth), 0, "IMAGE", "fit: the correlation with this image is told", NULL, NULL},
    {"truth-alpha", FIT_OPTION_TEXT, AT(truth_alpha), 0, "IMAGE", "fit: how far alpha is off this map is told", NULL, "fit"},
    {"systematic-noise", FIT_OPTION_REAL, AT(systematic_noise), 0, "F", "of visibilities and amplitudes: sigma^2 + 2 F^2 |V|^2",
     "Data", NULL},
    {"systematic-cphase-noise", FIT_OPTION_REAL, AT(systematic_cphase_noise), 0, "DEG", "added to the errors of closure phases",
     NULL, NULL},
    {"snrcut", FIT_OPTION_REAL, AT(snrcut), 0, "S", "rows below are left out", NULL, NULL},
    {"cp-uv-min", FIT_OPTION_REAL, AT(cp_uv_min), 0, "L", "shorter baselines make no closure phases, wavelengths", NULL, NULL},
    {"maxset", FIT_OPTION_FLAG, AT(maximal), 0, NULL, "maximal sets of closures", NULL, NULL},
    {"debias", FIT_OPTION_FLAG, AT(debias), 0, NULL, "amplitudes without the bias of noise", NULL, NULL},
    {"uniform", FIT_OPTION_FLAG, AT(uniform), 0, NULL, "the median error for all rows of a term", NULL, NULL},
    {"axis", FIT_OPTION_OTHER, 0, 0, "NAME=V,V,..",
     "survey: weight of a term, a number of the model, prior-fwhm (UAS) or sys-noise; may be repeated",
     "Survey", "survey"},
    {"part", FIT_OPTION_TEXT, AT(part), 0, "K/N", "survey: every N-th point, from the K-th on: for several machines", NULL,
     "survey"},
    {"threshold", FIT_OPTION_NUMBERS, AT(threshold), AT(nthreshold), "TERM=C,..", "top: the largest reduced chi2 of data terms",
     NULL, "top"},
    {"seed", FIT_OPTION_COUNT, AT(seed), 0, "S", "of all that is drawn (1)", "Simulation", NULL},
    {"cadence", FIT_OPTION_REAL, AT(cadence), 0, "SEC",
     "simulate: rows of all stations of the observation over a day; else its own rows", NULL, "simulate"},
    {"no-noise", FIT_OPTION_FLAG, AT(no_noise), 0, NULL, "simulate: visibilities of the image alone", NULL, "simulate"},
    {"uncertainty", FIT_OPTION_TEXT, AT(uncertainty), 0, "METHOD",
     "fit: laplace (second derivatives at the minimum) or nuts (draws; small images): standard deviations of pixels",
     "Uncertainty", "fit"},
    {"draws", FIT_OPTION_COUNT, AT(draws), 0, "N", "images drawn: laplace none, nuts 1000 of each chain", NULL, "fit"},
    {"chains", FIT_OPTION_COUNT, AT(chains), 0, "N", "nuts (4)", NULL, "fit"},
    {"optimizer", FIT_OPTION_TEXT, AT(optimizer), 0, "NAME",
     "lbfgsb (default) lbfgs-zoom lbfgs-bt adam adamw sgd rmsprop; or your own: FILE.so:NAME, FILE.lua", "Optimizer",
     NULL},
    {"maxiter", FIT_OPTION_COUNT, AT(maxiter), 0, "N", "iterations (200)", NULL, NULL},
    {"rounds", FIT_OPTION_COUNT, AT(rounds), 0, "N", "fit: so many times, each from the image before, blurred (1)", NULL, "fit"},
    {"blur", FIT_OPTION_REAL, AT(blur), 0, "F", "--rounds: full width, in units of 1/(longest baseline) (1)", NULL, "fit"},
    {"ftol", FIT_OPTION_REAL, AT(ftol), 0, "T", "relative change of J (1e-6)", NULL, NULL},
    {"gtol", FIT_OPTION_REAL, AT(gtol), 0, "T", "largest slope (1e-6)", NULL, NULL},
    {"memory", FIT_OPTION_COUNT, AT(memory), 0, "M", "pairs that L-BFGS keeps (50)", NULL, NULL},
    {"maxls", FIT_OPTION_COUNT, AT(maxls), 0, "N", "evaluations of a line search (40)", NULL, NULL},
    {"learning-rate", FIT_OPTION_REAL, AT(learning_rate), 0, "R", "first-order methods (0.01)", NULL, NULL},
    {"state", FIT_OPTION_TEXT, AT(state), 0, "FILE", "written every 50 iterations; a run goes on where it ends", NULL, "fit"},
    {"output", FIT_OPTION_TEXT, AT(output), 0, "FILE.h5", "the result", "Program", NULL},
    {"fits", FIT_OPTION_TEXT, AT(fits), 0, "FILE.fits", "fit: the image", NULL, "fit"},
    {"threads", FIT_OPTION_COUNT, AT(threads), 0, "N", "no bit of the result depends on it", NULL, NULL},
    {"isa", FIT_OPTION_TEXT, AT(isa), 0, "LEVEL", "instruction set: v2 v3 v4", NULL, NULL},
    {"quiet", FIT_OPTION_FLAG, AT(quiet), 0, NULL, "print errors only", NULL, NULL},
    {"help", FIT_OPTION_FLAG, AT(help), 0, NULL, "this text", NULL, NULL},
    {"version", FIT_OPTION_FLAG, AT(version), 0, NULL, "version and kernels", NULL, NULL},
};
enum { NROW = sizeof table / sizeof *table };

/* Numbers that cannot be negative, or that must be above 0. */
static const struct fit_option_range ranges[] = {
    {"term", 0},   {"regularizer", 0}, {"threshold", 1}, {"flux", 1},  {"eps-tv", 0},
    {"pixel", 1},  {"fov", 1},         {"fwhm", 1},      {"reference", 1}, {"systematic-noise", 0},
    {"snrcut", 0}, {"cp-uv-min", 0},   {"cadence", 1},   {"blur", 0},  {"systematic-cphase-noise", 0},
    {"ftol", 0},   {"gtol", 0},        {"learning-rate", 1},
};

/* tv=1,10,100 */
static enum fit_status axis(void *options, const struct fit_option_row *r, const char *text, struct fit_error *err)
{
    struct fit_imaging_options *o = options;
    const struct fit_option_table plain = {.nrange = 0};
    const size_t size = strcspn(text, "=");
    struct fit_imaging_axis a = {.name = fit_arena_copy(&o->arena, text, size),
                                 .value = fit_take(&o->arena, strlen(text), sizeof *a.value)};
    if (!text[size] || size == 0)
        return fit_fail(err, FIT_ERR_USAGE, "--axis: '%s' is not NAME=NUMBER,NUMBER,.., such as tv=1,10", text);
    if (o->naxis == FIT_IMAGING_MOST_AXES)
        return fit_fail(err, FIT_ERR_USAGE, "--axis: more than %d axes", FIT_IMAGING_MOST_AXES);
    for (const char *s = text + size + 1; *s; s += strcspn(s, ","), s += *s == ',') {
        char *word = fit_arena_copy(&o->arena, s, strcspn(s, ","));
        if (!word || !a.name || !a.value)
            return fit_no_memory(err, "options");
        if (fit_option_real(&plain, r->name, word, &a.value[a.n++], err) != FIT_OK)
            return FIT_ERR_USAGE;
    }
    for (size_t k = 0; k < o->naxis; k++)
        if (strcmp(o->axis[k].name, a.name) == 0)
            return fit_fail(err, FIT_ERR_USAGE, "--axis: '%s' is given twice", a.name);
    if (a.n == 0)
        return fit_fail(err, FIT_ERR_USAGE, "--axis: '%s' has no values", a.name);
    o->axis[o->naxis++] = a;
    return FIT_OK;
}

static enum fit_status word(void *options, const char *text, struct fit_error *err)
{
    struct fit_imaging_options *o = options;
    const char **to = !o->command                               ? &o->command
                      : !o->observation                         ? &o->observation
                      : o->nmore < FIT_IMAGING_MOST_CHANNELS - 1 ? &o->more[o->nmore++]
                                                                 : NULL;
    if (!to)
        return fit_fail(err, FIT_ERR_USAGE, "'%s' is one word too many: at most %d observations; images follow --image",
                        text, FIT_IMAGING_MOST_CHANNELS);
    *to = text;
    return FIT_OK;
}

static struct fit_option_table table_of(struct fit_imaging_options *o)
{
    return (struct fit_option_table){.row = table,
                                     .nrow = NROW,
                                     .range = ranges,
                                     .nrange = sizeof ranges / sizeof *ranges,
                                     .most = FIT_IMAGING_MOST_WEIGHTS,
                                     .options = o,
                                     .arena = &o->arena,
                                     .other = axis,
                                     .word = word};
}

enum fit_status fit_imaging_parse(int argc, char **argv, struct fit_imaging_options *o, struct fit_error *err)
{
    *o = (struct fit_imaging_options){.pixel_uas = NAN,
                                      .fov_uas = NAN,
                                      .fwhm_uas = NAN,
                                      .flux = NAN,
                                      .epsilon_tv = NAN,
                                      .reference = NAN,
                                      .cadence = NAN,
                                      .seed = 1,
                                      .maxiter = 200,
                                      .rounds = 1,
                                      .blur = 1,
                                      .ftol = 1e-6,
                                      .gtol = 1e-6,
                                      .memory = 50,
                                      .maxls = 40,
                                      .learning_rate = 1e-2};
    const struct fit_option_table t = table_of(o);
    return fit_option_parse(&t, argc, argv, &o->command, err);
}

void fit_imaging_options_free(struct fit_imaging_options *o)
{
    fit_arena_free(&o->arena);
}

void fit_imaging_help(const char *program, const char *title, FILE *out)
{
    static const char *const usage[] = {
        "eval OBS.h5 --image X.h5:/PATH --term vis=1 -o out.h5",
        "fit OBS.uvfits --npix 64 --fov 128 --term vis=1 --regularizer tv=1 -o out.h5",
        "survey OBS.h5 --npix 64 --fov 128 --term vis=1 --axis tv=1,10 -o survey.h5",
        "top survey.h5 --threshold vis=2",
        "simulate OBS.h5 --image X.h5:/PATH --seed 7 -o new.h5",
        "info [OBS.h5]",
    };
    fprintf(out, "%s: %s\n\n", program, title);
    for (size_t k = 0; k < sizeof usage / sizeof *usage; k++)
        fprintf(out, "  %s\n", usage[k]);
    struct fit_imaging_options none = {.command = NULL};
    const struct fit_option_table t = table_of(&none);
    fit_option_help(&t, out);
}
