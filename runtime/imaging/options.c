/* options.c -- the table of options, its parser and its help. */
#include "imaging/options.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/number_text.h"
#include "common/nearest.h"

enum kind { FLAG, TEXT, REAL, COUNT, WEIGHTS, AXIS };

#define AT(field) offsetof(struct fit_imaging_options, field)

static const struct row {
    const char *name;
    enum kind kind;
    size_t at, count; /* count: WEIGHTS, where their number is */
    const char *argument, *help, *heading;
    const char *only; /* the command that looks at it; NULL: several */
} table[] = {
    {"term", WEIGHTS, AT(term), AT(nterm), "NAME=W,..",
     "data terms and their weights: vis amp logamp bs cphase "
     "cphase_diag camp logcamp logcamp_diag; pvis m vvis",
     "Objective", NULL},
    {"regularizer", WEIGHTS, AT(regularizer), AT(nregularizer), "NAME=W,..",
     "regularizers: simple gs l1 l1w lA tv tv2 "
     "tvlog tv2log flux patch cm compact compact2 rgauss; msimple hw ptv vflux l1v l2v vtv vtv2; l2_alpha tv_alpha "
     "l2_beta tv_beta flux_mf",
     NULL, NULL},
    {"flux", REAL, AT(flux), 0, "F", "total flux, Jy; else that of /grid in the observation, or of the prior", NULL,
     NULL},
    {"prior", TEXT, AT(prior), 0, "IMAGE", "prior image: FILE.fits, FILE.h5:/PATH", NULL, NULL},
    {"eps-tv", REAL, AT(epsilon_tv), 0, "E", "rounds the corner of total variation, Jy^2 (0)", NULL, NULL},
    {"norm-reg", FLAG, AT(norm_reg), 0, NULL, "regularizers are divided by their norms", NULL, NULL},
    {"set", WEIGHTS, AT(hyper), AT(nhyper), "NAME=V,..",
     "other numbers of the model: alpha_A major minor PA (info "
     "lists them)",
     NULL, NULL},
    {"no-log", FLAG, AT(no_log), 0, NULL, "solve for I, not for ln I", NULL, NULL},
    {"clipfloor", REAL, AT(clipfloor), 0, "I", "pixels where the prior is not above are empty (0)", NULL, NULL},
    {"image", TEXT, AT(image), 0, "IMAGE", "where the objective is evaluated, or begun: FILE.fits, FILE.h5:/PATH",
     "Image", NULL},
    {"npix", COUNT, AT(npix), 0, "N", "pixels along a side, where no image is given", NULL, NULL},
    {"fov", REAL, AT(fov_uas), 0, "UAS", "field of view, micro arc seconds", NULL, NULL},
    {"pixel", REAL, AT(pixel_uas), 0, "UAS", "side of a pixel, where image and observation do not tell it", NULL, NULL},
    {"fwhm", REAL, AT(fwhm_uas), 0, "UAS", "of the Gaussian that stands for prior and start where none is given", NULL,
     NULL},
    {"pulse", TEXT, AT(pulse), 0, "NAME", "shape of a pixel: triangle delta rectangle gaussian cubic sinc", NULL, NULL},
    {"no-norm-init", FLAG, AT(no_norm_init), 0, NULL, "fit: start and prior keep their flux", NULL, NULL},
    {"solve", TEXT, AT(solve), 0, "MODE",
     "I, P, V, IP, IV, PV or IPV: what is solved for; else what the data terms measure", "Polarisation and spectra",
     NULL},
    {"spectral-order", TEXT, AT(spectral_order), 0, "N",
     "of several observations: 1 solves for alpha (default), 2 for beta, too, 0 for neither", NULL, NULL},
    {"reference", REAL, AT(reference), 0, "HZ", "frequency of the image; else its own, or the mean of the observations",
     NULL, NULL},
    {"alpha", TEXT, AT(alpha), 0, "IMAGE", "spectral index: start and prior (0)", NULL, NULL},
    {"beta", TEXT, AT(beta), 0, "IMAGE", "its curvature: start and prior (0)", NULL, NULL},
    {"truth", TEXT, AT(truth), 0, "IMAGE", "fit: the correlation with this image is told", NULL, NULL},
    {"truth-alpha", TEXT, AT(truth_alpha), 0, "IMAGE", "fit: how far alpha is off this map is told", NULL, "fit"},
    {"systematic-noise", REAL, AT(systematic_noise), 0, "F", "of visibilities and amplitudes: sigma^2 + 2 F^2 |V|^2",
     "Data", NULL},
    {"systematic-cphase-noise", REAL, AT(systematic_cphase_noise), 0, "DEG", "added to the errors of closure phases",
     NULL, NULL},
    {"snrcut", REAL, AT(snrcut), 0, "S", "rows below are left out", NULL, NULL},
    {"cp-uv-min", REAL, AT(cp_uv_min), 0, "L", "shorter baselines make no closure phases, wavelengths", NULL, NULL},
    {"maxset", FLAG, AT(maximal), 0, NULL, "maximal sets of closures", NULL, NULL},
    {"debias", FLAG, AT(debias), 0, NULL, "amplitudes without the bias of noise", NULL, NULL},
    {"uniform", FLAG, AT(uniform), 0, NULL, "the median error for all rows of a term", NULL, NULL},
    {"axis", AXIS, 0, 0, "NAME=V,V,..",
     "survey: weight of a term, a number of the model, prior-fwhm (UAS) or sys-noise; may be repeated",
     "Survey", "survey"},
    {"part", TEXT, AT(part), 0, "K/N", "survey: every N-th point, from the K-th on: for several machines", NULL,
     "survey"},
    {"threshold", WEIGHTS, AT(threshold), AT(nthreshold), "TERM=C,..", "top: the largest reduced chi2 of data terms",
     NULL, "top"},
    {"seed", COUNT, AT(seed), 0, "S", "of all that is drawn (1)", "Simulation", NULL},
    {"cadence", REAL, AT(cadence), 0, "SEC",
     "simulate: rows of all stations of the observation over a day; else its own rows", NULL, "simulate"},
    {"no-noise", FLAG, AT(no_noise), 0, NULL, "simulate: visibilities of the image alone", NULL, "simulate"},
    {"uncertainty", TEXT, AT(uncertainty), 0, "METHOD",
     "fit: laplace (second derivatives at the minimum) or nuts (draws; small images): standard deviations of pixels",
     "Uncertainty", "fit"},
    {"draws", COUNT, AT(draws), 0, "N", "images drawn: laplace none, nuts 1000 of each chain", NULL, "fit"},
    {"chains", COUNT, AT(chains), 0, "N", "nuts (4)", NULL, "fit"},
    {"optimizer", TEXT, AT(optimizer), 0, "NAME",
     "lbfgsb (default) lbfgs-zoom lbfgs-bt adam adamw sgd rmsprop; or your own: FILE.so:NAME, FILE.lua", "Optimizer",
     NULL},
    {"maxiter", COUNT, AT(maxiter), 0, "N", "iterations (200)", NULL, NULL},
    {"rounds", COUNT, AT(rounds), 0, "N", "fit: so many times, each from the image before, blurred (1)", NULL, "fit"},
    {"blur", REAL, AT(blur), 0, "F", "--rounds: full width, in units of 1/(longest baseline) (1)", NULL, "fit"},
    {"ftol", REAL, AT(ftol), 0, "T", "relative change of J (1e-6)", NULL, NULL},
    {"gtol", REAL, AT(gtol), 0, "T", "largest slope (1e-6)", NULL, NULL},
    {"memory", COUNT, AT(memory), 0, "M", "pairs that L-BFGS keeps (50)", NULL, NULL},
    {"maxls", COUNT, AT(maxls), 0, "N", "evaluations of a line search (40)", NULL, NULL},
    {"learning-rate", REAL, AT(learning_rate), 0, "R", "first-order methods (0.01)", NULL, NULL},
    {"state", TEXT, AT(state), 0, "FILE", "written every 50 iterations; a run goes on where it ends", NULL, "fit"},
    {"output", TEXT, AT(output), 0, "FILE.h5", "the result", "Program", NULL},
    {"fits", TEXT, AT(fits), 0, "FILE.fits", "fit: the image", NULL, "fit"},
    {"threads", COUNT, AT(threads), 0, "N", "no bit of the result depends on it", NULL, NULL},
    {"device", TEXT, AT(device), 0, "D",
     "cpu (default), gpu, auto, or one of `homodyne info --devices`: where the objective is evaluated", NULL, NULL},
    {"isa", TEXT, AT(isa), 0, "LEVEL", "instruction set: v2 v3 v4", NULL, NULL},
    {"quiet", FLAG, AT(quiet), 0, NULL, "print errors only", NULL, NULL},
    {"help", FLAG, AT(help), 0, NULL, "this text", NULL, NULL},
    {"version", FLAG, AT(version), 0, NULL, "version and kernels", NULL, NULL},
};
enum { NROW = sizeof table / sizeof *table };

static enum fit_status real(const char *option, const char *text, double *value, struct fit_error *err)
{
    char *end;
    *value = strtod(text, &end);
    if (end == text || *end || !isfinite(*value))
        return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' is no number", option, text);
    return FIT_OK;
}

static enum fit_status count(const char *option, const char *text, size_t *value, struct fit_error *err)
{
    char *end;
    const unsigned long long n = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || n == 0 || n > 1000000000)
        return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' is no whole number from 1 to 1000000000", option, text);
    *value = (size_t)n;
    return FIT_OK;
}

/* vis=1,amp=100 */
static enum fit_status weights(struct fit_imaging_options *o, const struct row *r, const char *text,
                               struct fit_error *err)
{
    struct fit_imaging_weight *list = (struct fit_imaging_weight *)(void *)((char *)o + r->at);
    size_t *n = (size_t *)(void *)((char *)o + r->count);
    while (*text) {
        const size_t size = strcspn(text, ",");
        char *name = fit_arena_copy(&o->arena, text, size), *equal = name ? strchr(name, '=') : NULL;
        if (!name)
            return fit_no_memory(err, "options");
        if (!equal || equal == name)
            return fit_fail(err, FIT_ERR_USAGE, "--%s: '%s' is not NAME=NUMBER, such as %s", r->name, name,
                            strcmp(r->name, "term") == 0  ? "vis=1"
                            : strcmp(r->name, "set") == 0 ? "alpha_A=1"
                                                          : "tv=1");
        *equal = 0;
        if (*n == FIT_IMAGING_MOST_WEIGHTS)
            return fit_fail(err, FIT_ERR_USAGE, "--%s: more than %d names", r->name, FIT_IMAGING_MOST_WEIGHTS);
        list[*n].name = name;
        if (real(r->name, equal + 1, &list[*n].value, err) != FIT_OK)
            return FIT_ERR_USAGE;
        ++*n;
        text += size + (text[size] == ',');
    }
    return FIT_OK;
}

/* tv=1,10,100 */
static enum fit_status axis(struct fit_imaging_options *o, const char *text, struct fit_error *err)
{
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
        if (real("axis", word, &a.value[a.n++], err) != FIT_OK)
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

static enum fit_status set(struct fit_imaging_options *o, const struct row *r, const char *value, struct fit_error *err)
{
    void *at = (char *)o + r->at;
    switch (r->kind) {
    case FLAG: *(int *)at = 1; return FIT_OK;
    case TEXT: *(const char **)at = value; return FIT_OK;
    case REAL: return real(r->name, value, at, err);
    case COUNT: return count(r->name, value, at, err);
    case AXIS: return axis(o, value, err);
    default: return weights(o, r, value, err);
    }
}

/* --name, --name=value; -o and -h. */
static const struct row *find(const char *word, const char **value, struct fit_error *err)
{
    const char *name = strcmp(word, "-o") == 0 ? "output" : strcmp(word, "-h") == 0 ? "help" : word + 2;
    const size_t n = strcspn(name, "=");
    struct nearest near = {.name = name};
    *value = name[n] ? name + n + 1 : NULL;
    for (size_t k = 0; (word[1] == '-' || name != word + 2) && k < NROW; k++) {
        if (strlen(table[k].name) == n && strncmp(table[k].name, name, n) == 0)
            return &table[k];
        nearest_offer(&near, table[k].name);
    }
    fit_fail(err, FIT_ERR_USAGE, "unknown option '%s'%s%s", word, near.best ? "; did you mean --" : "",
             near.best ? near.best : "");
    return NULL;
}

static enum fit_status word(struct fit_imaging_options *o, const char *text, struct fit_error *err)
{
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

/* given: NROW flags.  An option of another command would change nothing: it is refused. */
static enum fit_status judge(const struct fit_imaging_options *o, const unsigned char *given, struct fit_error *err)
{
    for (size_t k = 0; k < NROW; k++)
        if (given[k] && o->command && table[k].only && strcmp(table[k].only, o->command) != 0)
            return fit_fail(err, FIT_ERR_USAGE, "%s: --%s is of the command %s", o->command, table[k].name,
                            table[k].only);
    return FIT_OK;
}

enum fit_status fit_imaging_parse(int argc, char **argv, struct fit_imaging_options *o, struct fit_error *err)
{
    unsigned char given[NROW] = {0};
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
    for (int k = 1; k < argc; k++) {
        const char *value;
        enum fit_status s = FIT_OK;
        if (argv[k][0] != '-') {
            if ((s = word(o, argv[k], err)) != FIT_OK)
                return s;
            continue;
        }
        const struct row *r = find(argv[k], &value, err);
        if (!r)
            return FIT_ERR_USAGE;
        if (r->kind == FLAG && value)
            return fit_fail(err, FIT_ERR_USAGE, "--%s takes no value", r->name);
        if (r->kind != FLAG && !value && (value = ++k < argc ? argv[k] : NULL) == NULL)
            return fit_fail(err, FIT_ERR_USAGE, "--%s needs a value: %s", r->name, r->argument);
        given[r - table] = 1;
        if ((s = set(o, r, value, err)) != FIT_OK)
            return s;
    }
    return judge(o, given, err);
}

void fit_imaging_options_free(struct fit_imaging_options *o)
{
    fit_arena_free(&o->arena);
}

void fit_imaging_help(const char *program, const char *title, FILE *out)
{
    enum { LEFT = 25, WIDTH = 79 };
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
    for (size_t k = 0; k < NROW; k++) {
        char left[64], line[300];
        if (table[k].heading)
            fprintf(out, "\n%s\n", table[k].heading);
        const int n = snprintf(left, sizeof left, "  %s--%s %s", strcmp(table[k].name, "output") == 0 ? "-o, " : "",
                               table[k].name, table[k].argument ? table[k].argument : "");
        if (n > LEFT)
            fprintf(out, "%s\n", left);
        snprintf(line, sizeof line, "%-*s  %s", LEFT, n > LEFT ? "" : left, table[k].help);
        fit_put_wrapped(out, line, WIDTH, LEFT + 2, 20);
    }
}
