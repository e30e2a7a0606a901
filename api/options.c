/* options.c -- makes options of fit_api.h into a configuration of the runtime (config.h): so everything that a
 * configuration can request (ties, values of groups, priors, sampling) is available for arrays as well.
 */
#include "api/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct fit_origin here = {.kind = FIT_FROM_COMMAND, .option = "options"};

static void set_real(struct fit_cfg_real *x, const double *array, size_t k)
{
    if (array && !isnan(array[k]))
        *x = (struct fit_cfg_real){array[k], here};
}

static void set_count(struct fit_cfg_int *x, size_t value)
{
    if (value)
        *x = (struct fit_cfg_int){(long)value, here};
}

static void take_parameters(struct fit_config *cfg, const struct fit_api_options *o)
{
    for (size_t k = 0; k < cfg->nparam; k++) {
        struct fit_config_param *p = &cfg->param[k];
        set_real(&p->start, o->start, k);
        set_real(&p->lower, o->lower, k);
        set_real(&p->upper, o->upper, k);
        if (o->start && !isnan(o->start[k]))
            p->automatic = 0;
        if (o->fixed && o->fixed[k])
            p->fixed = (struct fit_cfg_flag){1, here};
    }
}

/* list: room for nlinear x ngroup. */
static void take_linear(struct fit_config *cfg, const struct fit_api_options *o, size_t ngroup,
                        double *list)
{
    const size_t n = cfg->nlinear;
    for (size_t q = 0; q < n; q++, list += ngroup) {
        struct fit_config_param *p = &cfg->param[cfg->nparam + q];
        size_t given = 0;
        set_real(&p->lower, o->linear_lower, q);
        set_real(&p->upper, o->linear_upper, q);
        if (o->linear_fixed && o->linear_fixed[q])
            p->fixed = (struct fit_cfg_flag){1, here};
        for (size_t g = 0; o->linear_start && g < ngroup; g++) {
            list[g] = o->linear_start[g * n + q];
            given += isnan(list[g]) ? 0 : 1;
        }
        if (given == ngroup && ngroup) {
            p->automatic = 0;
            p->start = (struct fit_cfg_real){list[0], here};
            p->list = (struct fit_cfg_reals){ngroup, list, here};
        }
    }
}

static enum fit_status word(struct api_run *r, const char *option, const char *value,
                            struct fit_error *err)
{
    return value ? fit_config_override(r->cfg, option, value, &r->log, err) : FIT_OK;
}

static enum fit_status take_words(struct api_run *r, struct fit_error *err)
{
    const struct fit_api_options *o = &r->o;
    enum fit_status st = word(r, "loss", o->loss, err);
    if (st == FIT_OK)
        st = word(r, "scaling", o->scaling ? o->scaling : "individual", err);
    for (const char *const *w = o->also; st == FIT_OK && w && *w; w += 2)
        st = fit_config_override(r->cfg, w[0], w[1], &r->log, err);
    return st;
}

static void take_numbers(struct fit_config *cfg, const struct fit_api_options *o)
{
    set_count(&cfg->nlsq.max_iterations, o->max_iterations);
    set_count(&cfg->nlsq.n_starts, o->multi_start);
    if (o->f_scale > 0)
        cfg->nlsq.f_scale = (struct fit_cfg_real){o->f_scale, here};
    if (o->max_seconds > 0)
        cfg->max_seconds = (struct fit_cfg_real){o->max_seconds, here};
    if (o->multi_start)
        cfg->nlsq.multi_start = (struct fit_cfg_flag){1, here};
    if (o->global)
        cfg->nlsq.global = (struct fit_cfg_flag){1, here};
    if (o->seed)
        cfg->seed = (struct fit_cfg_int){(long)(o->seed & 0x7fffffff), here};
    cfg->threads = (struct fit_cfg_int){o->threads, here};
}

/* Messages of a configuration begin with their position, which is meaningless here: "--draws: error: where: text" ->
 * "draws: text". */
static enum fit_status without_place(struct fit_error *err)
{
    if (!err->says)
        return err->status;
    const char *name = err->file + (strncmp(err->file, "--", 2) == 0 ? 2 : 0), *text = err->message + err->says;
    const char *key = strrchr(name, ' ') || strcmp(name, "options") == 0 ? "" : name; /* "command line" */
    const char *dots = strstr(text, ": ");
    if (*key && dots && memchr(text, '.', (size_t)(dots - text)) &&
        !memchr(text, ' ', (size_t)(dots - text)))
        text += dots + 2 - text; /* the path of a key */
    const int said = *key && strncmp(text, key, strlen(key)) == 0;
    char whole[sizeof err->message];
    snprintf(whole, sizeof whole, "%s%s%s", said ? "" : key, *key && !said ? ": " : "", text);
    return fit_fail(err, err->status, "%s", whole);
}

enum fit_status api_configure(const struct fit_api_problem *p, int sample, struct api_run *r,
                              struct fit_error *err)
{
    const size_t ngroup = p->data->layout.ngroup;
    fit_config_log_init(&r->log);
    r->list = malloc((p->kernel->nlinear * ngroup + 1) * sizeof *r->list);
    if (!r->list)
        return fit_no_memory(err, "options");
    enum fit_status st = fit_config_new(p->kernel, &r->cfg, err);
    if (st != FIT_OK)
        return st;
    r->cfg->data_only = 1; /* settings are in the layout */
    take_parameters(r->cfg, &r->o);
    take_linear(r->cfg, &r->o, ngroup, r->list);
    take_numbers(r->cfg, &r->o);
    if (sample)
        st = word(r, "method", "nuts", err);
    if (st == FIT_OK)
        st = take_words(r, err);
    if (st == FIT_OK)
        st = fit_config_finish(r->cfg, &r->log, err);
    if (st == FIT_OK && sample && !fit_sampling_wanted(r->cfg))
        st = fit_fail(err, FIT_ERR_USAGE,
                      "sample: method nlsq has no draws; there are nuts and laplace");
    return st == FIT_OK ? st : without_place(err);
}
