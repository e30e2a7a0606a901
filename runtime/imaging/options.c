/* options.c -- the table of options, its parser and its help. */
#include "imaging/options.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>


/* Commands; an option that would have no effect on a command is refused by it. */
enum { EVAL = 1, FIT = 2, SURVEY = 4, TOP = 8, SIMULATE = 16, INFO = 32 };
static const struct option_command commands[] = {{"eval", EVAL}, {"fit", FIT},           {"survey", SURVEY},
                                                 {"top", TOP},   {"simulate", SIMULATE}, {"info", INFO},
                                                 {NULL, 0}};

enum { AXIS = FIT_OPTION_OWN };

#define MANY (unsigned)OPTION_MANY
#define AT(member) offsetof(struct fit_imaging_options, member)
#define FLAG(member) OPTION_FLAG, AT(member), 0
#define TEXT(member) OPTION_TEXT, AT(member), 0
#define COUNT(member) OPTION_COUNT, AT(member), 1
#define REAL(member) OPTION_REAL, AT(member), OPTION_ANY
#define POSITIVE(member) OPTION_REAL, AT(member), OPTION_POSITIVE
#define NOT_NEGATIVE(member) OPTION_REAL, AT(member), OPTION_NOT_NEGATIVE
#define WEIGHTS(member) FIT_OPTION_WEIGHTS, AT(member), AT(n##member)
#define LIMITS(member) FIT_OPTION_LIMITS, AT(member), AT(n##member)
#define TEXTS(member) FIT_OPTION_TEXTS, AT(member), AT(n##member)

static const struct option_row rows[] = {
    {NULL, 0, NULL, "Objective", 0, OPTION_KEPT},
    {"term", 0, "NAME=W,..",
     "data terms and their weights: vis amp logamp bs cphase cphase_diag camp logcamp logcamp_diag; pvis m vvis",
     MANY, WEIGHTS(term)},
    {"regularizer", 0, "NAME=W,..",
     "regularizers: simple gs l1 l1w lA tv tv2 tvlog tv2log flux patch cm compact compact2 rgauss; msimple hw ptv "
     "vflux l1v l2v vtv vtv2; l2_alpha tv_alpha l2_beta tv_beta flux_mf", MANY, WEIGHTS(regularizer)},
    {"flux", 0, "F", "total flux, Jy; else that of /grid in the observation, or of the prior", 0, POSITIVE(flux)},
    {"prior", 0, "IMAGE", "prior image: FILE.fits, FILE.h5:/PATH", 0, TEXT(prior)},
    {"eps-tv", 0, "E", "rounds the corner of total variation, Jy^2 (0)", 0, NOT_NEGATIVE(epsilon_tv)},
    {"norm-reg", 0, NULL, "regularizers are divided by their norms", 0, FLAG(norm_reg)},
    {"set", 0, "NAME=V,..",
     "other numbers of the model: alpha_A major minor PA (info lists them), with or without a unit: "
     "PA=30deg,major=60uas", MANY, TEXTS(hyper)},
    {"no-log", 0, NULL, "solve for I, not for ln I", 0, FLAG(no_log)},
    {"clipfloor", 0, "I", "pixels where the prior is not above are empty (0)", 0, REAL(clipfloor)},
    {NULL, 0, NULL, "Image", 0, OPTION_KEPT},
    {"image", 0, "IMAGE", "where the objective is evaluated, or begun: FILE.fits, FILE.h5:/PATH", 0, TEXT(image)},
    {"npix", 0, "N", "pixels along a side, where no image is given", 0, COUNT(npix)},
    {"fov", 0, "UAS", "field of view, micro arc seconds", 0, POSITIVE(fov_uas)},
    {"pixel", 0, "UAS", "side of a pixel, where image and observation do not tell it", 0, POSITIVE(pixel_uas)},
    {"fwhm", 0, "UAS", "of the Gaussian that stands for prior and start where none is given", 0, POSITIVE(fwhm_uas)},
    {"pulse", 0, "NAME", "shape of a pixel: triangle delta rectangle gaussian cubic sinc", 0, TEXT(pulse)},
    {"no-norm-init", 0, NULL, "fit: start and prior keep their flux", 0, FLAG(no_norm_init)},
    {NULL, 0, NULL, "Polarisation and spectra", 0, OPTION_KEPT},
    {"solve", 0, "MODE",
     "I, P, V, IP, IV, PV or IPV: what is solved for; else what the data terms measure", 0, TEXT(solve)},
    {"spectral-order", 0, "N",
     "of several observations: 1 solves for alpha (default), 2 for beta, too, 0 for neither", 0, TEXT(spectral_order)},
    {"reference", 0, "HZ",
     "frequency of the image; else its own, or the mean of the observations", 0, POSITIVE(reference)},
    {"alpha", 0, "IMAGE", "spectral index: where it begins; else that of --image, or 0", 0, TEXT(alpha)},
    {"beta", 0, "IMAGE", "its curvature, likewise", 0, TEXT(beta)},
    {"prior-alpha", 0, "IMAGE", "prior of alpha; else the alpha of --prior, or 0", 0, TEXT(prior_alpha)},
    {"prior-beta", 0, "IMAGE", "prior of beta, likewise", 0, TEXT(prior_beta)},
    {"truth", 0, "IMAGE", "fit: the correlation with this image is told", 0, TEXT(truth)},
    {"truth-alpha", 0, "IMAGE", "fit: how far alpha is off this map is told", FIT, TEXT(truth_alpha)},
    {NULL, 0, NULL, "Data", 0, OPTION_KEPT},
    {"systematic-noise", 0, "F",
     "of visibilities and amplitudes: sigma^2 + 2 F^2 |V|^2", 0, NOT_NEGATIVE(systematic_noise)},
    {"systematic-cphase-noise", 0, "DEG",
     "added to the errors of closure phases", 0, NOT_NEGATIVE(systematic_cphase_noise)},
    {"snrcut", 0, "S", "rows below are left out", 0, NOT_NEGATIVE(snrcut)},
    {"cp-uv-min", 0, "L", "shorter baselines make no closure phases, wavelengths", 0, NOT_NEGATIVE(cp_uv_min)},
    {"maxset", 0, NULL, "maximal sets of closures", 0, FLAG(maximal)},
    {"debias", 0, NULL, "amplitudes without the bias of noise", 0, FLAG(debias)},
    {"uniform", 0, NULL, "the median error for all rows of a term", 0, FLAG(uniform)},
    {NULL, 0, NULL, "Survey", 0, OPTION_KEPT},
    {"axis", 0, "NAME=V,V,..",
     "survey: weight of a term, a number of the model, prior-fwhm (UAS) or sys-noise; may be repeated",
     SURVEY | MANY, AXIS, 0, 0},
    {"part", 0, "K/N",
     "survey: every N-th point, from the K-th on; default: that of an array of SLURM, of ranks", SURVEY, TEXT(part)},
    {"threshold", 0, "TERM=C,..", "top: the largest reduced chi2 of data terms", TOP | MANY, LIMITS(threshold)},
    {NULL, 0, NULL, "Simulation", 0, OPTION_KEPT},
    {"seed", 0, "S", "of all that is drawn (1)", 0, COUNT(seed)},
    {"cadence", 0, "SEC",
     "simulate: rows of all stations of the observation over a day; else its own rows", SIMULATE, POSITIVE(cadence)},
    {"no-noise", 0, NULL, "simulate: visibilities of the image alone", SIMULATE, FLAG(no_noise)},
    {NULL, 0, NULL, "Uncertainty", 0, OPTION_KEPT},
    {"uncertainty", 0, "METHOD",
     "fit: laplace (second derivatives at the minimum) or nuts (draws; small images): standard deviations of pixels",
     FIT, TEXT(uncertainty)},
    {"draws", 0, "N", "images drawn: laplace none, nuts 1000 of each chain", FIT, COUNT(draws)},
    {"chains", 0, "N", "nuts (4)", FIT, COUNT(chains)},
    {NULL, 0, NULL, "Optimizer", 0, OPTION_KEPT},
    {"optimizer", 0, "NAME",
     "lbfgsb (default) lbfgs-zoom lbfgs-bt adam adamw sgd rmsprop; or your own: FILE.so:NAME, FILE.lua",
     0, TEXT(optimizer)},
    {"maxiter", 0, "N", "iterations (200)", 0, COUNT(maxiter)},
    {"rounds", 0, "N", "fit: so many times, each from the image before, blurred (1)", FIT, COUNT(rounds)},
    {"blur", 0, "F", "--rounds: full width, in units of 1/(longest baseline) (1)", FIT, NOT_NEGATIVE(blur)},
    {"ftol", 0, "T", "relative change of J (1e-6)", 0, NOT_NEGATIVE(ftol)},
    {"gtol", 0, "T", "largest slope (1e-6)", 0, NOT_NEGATIVE(gtol)},
    {"memory", 0, "M", "pairs that L-BFGS keeps (50)", 0, COUNT(memory)},
    {"maxls", 0, "N", "evaluations of a line search (40)", 0, COUNT(maxls)},
    {"learning-rate", 0, "R", "first-order methods (0.01)", 0, POSITIVE(learning_rate)},
    {"state", 0, "FILE", "written every 50 iterations; a run goes on where it ends", FIT, TEXT(state)},
    {NULL, 0, NULL, "Program", 0, OPTION_KEPT},
    {"output", 'o', "FILE.h5", "the result", 0, TEXT(output)},
    {"fits", 0, "FILE.fits", "fit: the image", FIT, TEXT(fits)},
    {"threads", 0, "N", "no bit of the result depends on it", 0, COUNT(threads)},
    {"device", 0, "D",
     "cpu (default), gpu, auto, or one of `homodyne info --devices`: where the objective is evaluated",
     0, TEXT(device)},
    {"isa", 0, "LEVEL", "instruction set: v2 v3 v4", 0, TEXT(isa)},
    {"quiet", 'q', NULL, "print errors only", 0, FLAG(quiet)},
    {"verbose", 'v', NULL, "also notes on the device", 0, FLAG(verbose)},
    {"help", 'h', NULL, "this text", 0, FLAG(help)},
    {"version", 0, NULL, "version and kernels", 0, FLAG(version)},
};
static const struct option_table table = {rows, sizeof rows / sizeof *rows};

/* tv=1,10,100 */
static enum fit_status axis(struct fit_imaging_options *o, const char *text, struct fit_error *err)
{
    const size_t size = strcspn(text, "=");
    struct fit_imaging_axis a = {.name = fit_arena_copy(&o->arena, text, size),
                                 .text = fit_take(&o->arena, strlen(text), sizeof *a.text),
                                 .value = fit_take(&o->arena, strlen(text), sizeof *a.value)};
    if (!text[size] || size == 0)
        return fit_fail(err, FIT_ERR_USAGE, "--axis: '%s' is not NAME=NUMBER,NUMBER,.., such as tv=1,10", text);
    if (o->naxis == FIT_IMAGING_MOST_AXES)
        return fit_fail(err, FIT_ERR_USAGE, "--axis: more than %d axes", FIT_IMAGING_MOST_AXES);
    for (const char *s = text + size + 1; *s; s += strcspn(s, ","), s += *s == ',') {
        const char *word = fit_arena_copy(&o->arena, s, strcspn(s, ","));
        if (!word || !a.name || !a.text || !a.value)
            return fit_no_memory(err, "options");
        a.text[a.n++] = word;
    }
    for (size_t k = 0; k < o->naxis; k++)
        if (strcmp(o->axis[k].name, a.name) == 0)
            return fit_fail(err, FIT_ERR_USAGE, "--axis: '%s' is given twice", a.name);
    if (a.n == 0)
        return fit_fail(err, FIT_ERR_USAGE, "--axis: '%s' has no values", a.name);
    o->axis[o->naxis++] = a;
    return FIT_OK;
}

static enum fit_status take_words(struct fit_imaging_options *o, const struct command_line *line,
                                  struct fit_error *err)
{
    const size_t most = 1 + FIT_IMAGING_MOST_CHANNELS;
    if (line->nword > most)
        return fit_fail(err, FIT_ERR_USAGE, "'%s' is one word too many: at most %d observations; images follow --image",
                        line->word[most], FIT_IMAGING_MOST_CHANNELS);
    o->command = line->nword ? line->word[0] : NULL;
    o->observation = line->nword > 1 ? line->word[1] : NULL;
    for (size_t k = 2; k < line->nword; k++)
        o->more[o->nmore++] = line->word[k];
    return FIT_OK;
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
    const struct option_set all = {.table = {table}, .help = "homodyne-imaging --help", .other = commands};
    struct command_line line;
    enum fit_status st = fit_options_read_command(&all, argc, argv, &line, err);
    if (st == FIT_OK)
        st = take_words(o, &line, err);
    for (size_t k = 0; st == FIT_OK && k < line.ngiven; k++)
        st = line.given[k].row->kind == AXIS
                 ? axis(o, line.given[k].value, err)
                 : fit_options_store(o, &line.given[k], &o->arena, FIT_IMAGING_MOST_WEIGHTS, err);
    options_free(&line);
    return st;
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
    options_put(out, &table);
}
