/* page_said.c -- the sentences of the summary on the screen that no table of the page repeats: rates that the data fix
 * although not their parameters, and parameters about which the prior decides (runtime/summary.c,
 * runtime/summary_posterior.c).  Takes fit.json. */
#include "page.h"
#include "panel.h"
#include "results.h"
#include "sampling.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void put_char(FILE *out, char c)
{
    rp_xml(out, (char[]){c, '\0'});
}

void rp_sentence(FILE *out, const char *text)
{
    for (const char *at = text; *at;) {
        const int begins = at == text || !isalnum((unsigned char)at[-1]);
        if (strncmp(at, "+- ", 3) == 0 && begins) {
            fputs("± ", out);
            at += 3;
        } else if (strncmp(at, "--", 2) == 0 && begins && isalpha((unsigned char)at[2])) {
            fputs("<span class=\"o\">", out);
            for (; *at == '-' || isalnum((unsigned char)*at); at++)
                put_char(out, *at);
            fputs("</span>", out);
        } else {
            put_char(out, *at++);
        }
    }
}

void rp_formula(FILE *out, const char *text)
{
    for (const char *at = text; *at; at++)
        if (*at == '-' && !(at > text && isalpha((unsigned char)at[-1]) && isalpha((unsigned char)at[1])))
            fputs("−", out);
        else
            put_char(out, *at);
}

static void value_text(double value, double std, char *text, size_t size)
{
    char v[40], e[40];
    fit_format_error(value, std, v, sizeof v, e, sizeof e);
    snprintf(text, size, "%s ± %s", v, e);
}

void rp_page_rates(FILE *out, const struct rp_result *r)
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
        fputs("<p>The data fix <code>", out);
        rp_xml(out, rp_json_text(x, "expression"));
        fprintf(out, "</code> at t = %.4g s: %s ", rp_json_number(x, "time"), value);
        rp_xml(out, unit);
        if (slope_std > 0) {
            value_text(rp_json_number(x, "slope_by_ln_t"), slope_std, slope, sizeof slope);
            fprintf(out, ", slope along ln t %s", slope);
        }
        fputs("</p>\n", out);
    }
}

void rp_page_priors(FILE *out, const struct fit_yaml *map)
{
    size_t said = 0;
    for (size_t k = 0; map && map->kind == FIT_YAML_MAP && k < map->n; k++) {
        const struct fit_yaml *v = map->entry[k].value;
        const double contraction = rp_json_number(v, "contraction");
        if (rp_json_true(v, "fixed") || strchr(map->entry[k].key, '[') || !fit_prior_decides(contraction))
            continue;
        fputs(said++ ? ", " : "<p>The prior decides about: ", out);
        rp_xml(out, map->entry[k].key);
        fprintf(out, " (deviation %.2f of the prior's)", sqrt(fmax(0, 1 - contraction)));
    }
    if (said)
        fputs("</p>\n", out);
}
