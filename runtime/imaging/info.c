/* info.c -- `info`: the contents of the model and of an observation. */
#include "imaging/commands.h"

#include <math.h>

#include "imaging/output.h"

static void print_model(const struct fit_functional *k, FILE *f)
{
    static const char *const kind[] = {"data", "regularizer", "prior"};
    fprintf(f, "%s\n  %s\n\nterms\n", k->title, k->formula);
    for (uint32_t t = 0; t < k->nterm; t++)
        fprintf(f, "  %-14s %-12s %s\n", k->term[t].name, kind[k->term[t].kind], k->term[t].doc ? k->term[t].doc : "");
    fprintf(f, "\nnumbers (--set NAME=VALUE)\n");
    for (uint32_t n = 0; n < k->nnumber; n++)
        if (k->number[n].kind == FIT_NUMBER_HYPER && !fit_imaging_follows_from(k->number[n].name))
            fit_number_print(f, &k->number[n]);
}

static void print_observation(const struct fit_obs *obs, FILE *f)
{
    size_t measured = 0;
    double longest = 0, most = 0;
    for (size_t k = 0; k < obs->n; k++)
        if (fit_obs_measured(obs, k)) {
            measured++;
            longest = fmax(longest, hypot(obs->u[k], obs->v[k]));
            most = fmax(most, hypot(obs->stokes[FIT_STOKES_I].re[k], obs->stokes[FIT_STOKES_I].im[k]));
        }
    fprintf(f, "\n%s%s%s\n  %zu visibilities, %zu measured; %zu stations\n", obs->file, obs->object[0] ? ": " : "",
            obs->object, obs->n, measured, obs->nsite);
    fprintf(f, "  longest baseline %.4g wavelengths, its inverse %.4g uas; largest visibility %.4g Jy\n", longest,
            fit_obs_beam(obs) / FIT_OBS_UAS, most);
    for (int k = 0; k < FIT_PRODUCTS; k++) {
        struct fit_product *q = NULL;
        const struct fit_product_options options = {.debias = 0};
        if (fit_product_make(obs, (enum fit_product_kind)k, &options, &q, NULL) == FIT_OK)
            fprintf(f, "  %-14s %zu rows\n", fit_product_name((enum fit_product_kind)k), q->n);
        fit_product_free(q);
    }
}

enum fit_status fit_imaging_info(struct fit_imaging_program *p, const struct fit_imaging_options *o,
                                 struct fit_error *err)
{
    struct fit_obs *obs;
    print_model(p->kernel, p->out);
    if (!o->observation)
        return FIT_OK;
    const enum fit_status s = fit_obs_read(o->observation, &obs, err);
    if (s != FIT_OK)
        return s;
    fit_imaging_print_notes(p->err, &obs->notes);
    print_observation(obs, p->out);
    fit_obs_free(obs);
    return FIT_OK;
}
