/* noise.c -- sigma.prior: the prior of the standard deviation of the noise, for data without errors.
 *
 * Written as a word and its numbers, "half_normal 0.02", or as {type: half_normal, sigma: 0.02}. By default it is that
 * of the model, or else density 1/sigma (Jeffreys), which needs no knowledge about sigma and gives Student's t
 * intervals for a linear model.
 */
#include "config/config_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "model/prior.h"

static const struct fit_cfg_word word_noise[] = {
    {"jeffreys", FIT_PRIOR_JEFFREYS},       {"half_normal", FIT_PRIOR_HALF_NORMAL},
    {"half_cauchy", FIT_PRIOR_HALF_CAUCHY}, {"exponential", FIT_PRIOR_EXPONENTIAL},
    {"log_normal", FIT_PRIOR_LOG_NORMAL},   {NULL, 0}};

static void set(struct fit_cfg_reader *r, const struct fit_yaml *at, int kind, const double *x, int n)
{
    struct fit_config_sampling *s = &r->cfg->sampling;
    if (n != fit_prior_numbers(kind)) {
        fit_cfg_error(r, at,
                      "%s: jeffreys, half_normal S, half_cauchy S, exponential S or log_normal M S is expected, M the "
                      "mean of log sigma",
                      r->path);
        return;
    }
    if (n && (!isfinite(x[0]) || !(x[n - 1] > 0) || !isfinite(x[n - 1]))) {
        fit_cfg_error(r, at, "%s: the width of the prior is %g; it must be positive", r->path, x[n - 1]);
        return;
    }
    s->noise_prior = (struct fit_cfg_choice){kind, fit_cfg_origin(r, at)};
    s->noise_a = n > 1 ? x[0] : 0;
    s->noise_b = n ? x[n - 1] : 0;
}

static void read_map(struct fit_cfg_reader *r, const struct fit_yaml *map)
{
    const struct fit_yaml *type = fit_yaml_get(map, "type"), *m = fit_yaml_get(map, "mu"),
                          *s = fit_yaml_get(map, "sigma");
    double x[2];
    int kind, n = 0, bare;
    if (!type || map->n != (size_t)(1 + (m != NULL) + (s != NULL))) {
        fit_cfg_error(r, map, "%s: {type: half_normal, sigma: S}, or with mu for log_normal, is expected", r->path);
        return;
    }
    if (!fit_cfg_get_word(r, type, word_noise, &kind) || (m && !fit_cfg_get_real(r, m, NULL, &x[n++], &bare)) ||
        (s && !fit_cfg_get_real(r, s, NULL, &x[n++], &bare)))
        return;
    set(r, map, kind, x, n);
}

void fit_cfg_read_noise_prior(struct fit_cfg_reader *r, const struct fit_yaml *node)
{
    char word[32];
    double x[2];
    int kind, n = 0, used = 0;
    r->path = "sigma.prior";
    if (node->kind == FIT_YAML_MAP) {
        read_map(r, node);
        return;
    }
    if (!fit_cfg_want(r, node, FIT_YAML_SCALAR, "a word and its numbers"))
        return;
    if (sscanf(node->text, "%31[^ :,(]%n", word, &used) != 1)
        used = 0;
    for (const char *at = node->text + used; *at && used; n++) {
        char number[64];
        int size = 0;
        at += strspn(at, " :,()");
        if (*at && (n == 2 || sscanf(at, "%63[^ :,()]%n", number, &size) != 1 || !fit_number_parse(number, &x[n]))) {
            fit_cfg_error(r, node, "%s: '%.60s': expected a word and its numbers, as in half_normal 0.02", r->path,
                          node->text);
            return;
        }
        if (!*at)
            break;
        at += size;
    }
    const struct fit_yaml type = {.kind = FIT_YAML_SCALAR,
                                  .text = used ? word : node->text,
                                  .size = 1,
                                  .line = node->line,
                                  .column = node->column};
    if (fit_cfg_get_word(r, &type, word_noise, &kind))
        set(r, node, kind, x, n);
}

struct fit_config_noise fit_config_noise(const struct fit_config *cfg)
{
    const struct fit_config_sampling *s = &cfg->sampling;
    const struct fit_kernel *k = cfg->kernel;
    if (!fit_given(s->noise_prior.from) && k->has_noise_prior)
        return (struct fit_config_noise){k->noise_prior, k->noise_a, k->noise_b, {.kind = FIT_FROM_MODEL}};
    return (struct fit_config_noise){(enum fit_prior_kind)s->noise_prior.value, s->noise_a, s->noise_b,
                                     s->noise_prior.from};
}

/* The shortest decimal that reads back as the same number. */
static void append_number(char text[96], double x)
{
    size_t at = strlen(text);
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text + at, 96 - at, " %.*g", digits, x);
        if (strtod(text + at, NULL) == x)
            return;
    }
}

void fit_config_noise_text(struct fit_config_noise p, char text[96])
{
    snprintf(text, 96, "%s", fit_prior_word(p.kind));
    if (fit_prior_numbers(p.kind) > 1)
        append_number(text, p.a);
    if (fit_prior_numbers(p.kind))
        append_number(text, p.b);
}
