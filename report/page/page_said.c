/* page_said.c -- the sentences of the summary on the screen that no table of the page repeats: rates that the data fix
 * although not their parameters, and parameters about which the prior decides (runtime/results/summary.c,
 * runtime/results/summary_posterior.c).  Takes fit.json. */
#include "report/page/page.h"

#include "base/number_text.h"
#include "common/text.h"
#include "report/draw/panel.h"
#include "report/draw/rich.h"
#include "sampling/sampling.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* One character; returns its length in bytes. */
static size_t put_char(struct rp_markup *out, const char *at)
{
    char one[5] = "";
    const size_t valid = text_utf8_length(at), n = valid ? valid : 1;
    memcpy(one, at, n);
    rp_put(out, "%s", one);
    return n;
}

void rp_sentence(struct rp_markup *out, const char *text)
{
    for (const char *at = text; *at;) {
        const int begins = at == text || !isalnum((unsigned char)at[-1]);
        if (strncmp(at, "+- ", 3) == 0 && begins) {
            rp_put(out, "± ");
            at += 3;
        } else if (strncmp(at, "--", 2) == 0 && begins && isalpha((unsigned char)at[2])) {
            rp_put(out, "<span class=\"o\">");
            for (; *at == '-' || isalnum((unsigned char)*at);)
                at += put_char(out, at);
            rp_put(out, "</span>");
        } else {
            at += put_char(out, at);
        }
    }
}

void rp_formula(struct rp_markup *out, const char *text)
{
    for (const char *at = text; *at;)
        if (*at == '-' && !(at > text && isalpha((unsigned char)at[-1]) && isalpha((unsigned char)at[1]))) {
            rp_put(out, "−");
            at++;
        } else {
            at += put_char(out, at);
        }
}

static void value_text(double value, double std, char *text, size_t size)
{
    char v[40], e[40];
    fit_format_error(value, std, v, sizeof v, e, sizeof e);
    snprintf(text, size, "%s ± %s", v, e);
}

void rp_page_rates(struct rp_markup *out, const struct rp_result *r)
{
    const struct fit_yaml *list = rp_get(r->json, "rates");
    for (size_t k = 0; list && list->kind == FIT_YAML_LIST && k < list->n; k++) {
        const struct fit_yaml *x = list->entry[k].value;
        const double std = rp_json_number(x, "std"), slope_std = rp_json_number(x, "slope_std");
        char value[96], slope[96], unit[RP_NAME];
        if (!rp_json_true(x, "only_these_are_determined") || !(std > 0))
            continue;
        value_text(rp_json_number(x, "value"), std, value, sizeof value);
        rp_unit(rp_json_text(x, "unit"), unit, sizeof unit);
        rp_put(out, "<p>Best determined: <code>%s</code> at <i>t</i> = %.4g s is %s ", rp_json_text(x, "expression"),
               rp_json_number(x, "time"), value);
        rp_put(out, "%s", unit);
        if (slope_std > 0) {
            value_text(rp_json_number(x, "slope_by_ln_t"), slope_std, slope, sizeof slope);
            rp_put(out, ", its slope d/d ln <i>t</i> is %s", slope);
        }
        rp_put(out, "</p>\n");
    }
}

void rp_page_priors(struct rp_markup *out, const struct fit_yaml *map)
{
    size_t said = 0;
    for (size_t k = 0; map && map->kind == FIT_YAML_MAP && k < map->n; k++) {
        const struct fit_yaml *v = map->entry[k].value;
        const double contraction = rp_json_number(v, "contraction");
        if (rp_json_true(v, "fixed") || strchr(map->entry[k].key, '[') || !fit_prior_decides(contraction))
            continue;
        rp_put(out, said++ ? ", " : "<p>Prior-dominated: ");
        rp_put(out, "%s", map->entry[k].key);
        rp_put(out, " (sd %.2f of that of the prior)", sqrt(fmax(0, 1 - contraction)));
    }
    if (said)
        rp_put(out, "</p>\n");
}

void rp_put_named(struct rp_markup *out, const char *name)
{
    char symbol[256];
    rp_symbol(name, symbol, sizeof symbol);
    if (strcmp(symbol, name) == 0) {
        rp_put(out, "%s", name);
        return;
    }
    rp_put(out, "<span class=\"sym\">");
    rp_put_rich(out, symbol);
    rp_put(out, "</span> <code class=\"name\">%s</code>", name);
}
