/* page_said.c -- the sentences of the summary on the screen that no table of the page repeats: rates that the data
 * determine although not their parameters, and prior-dominated parameters (runtime/results/summary.c,
 * runtime/results/summary_posterior.c). Takes fit.json. */
#include "report/page/page.h"

#include "base/number_text.h"
#include "common/text.h"
#include "report/draw/panel.h"
#include "report/draw/rich.h"
#include "report/draw/typeset.h"
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

static const char identifier[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

/* Text without anything special: its numbers are set, when it is short enough to be no path of a file. */
static void put_plain(struct rp_markup *out, const char *from, const char *to)
{
    char plain[400], set[1200];
    if ((size_t)(to - from) < sizeof plain) {
        snprintf(plain, sizeof plain, "%.*s", (int)(to - from), from);
        rp_typeset(plain, set, sizeof set);
        rp_put(out, "%s", set);
        return;
    }
    while (from < to)
        from += put_char(out, from);
}

/* The symbol of the word of n characters, where it names a parameter (names NULL: any word) and has a symbol. */
static int put_word(struct rp_markup *out, const struct fit_yaml *names, const char *at, size_t n)
{
    char word[RP_NAME], symbol[256];
    if (n >= sizeof word)
        return 0;
    snprintf(word, sizeof word, "%.*s", (int)n, at);
    rp_symbol(word, symbol, sizeof symbol);
    if ((names && !fit_yaml_get(names, word)) || strcmp(symbol, word) == 0)
        return 0;
    rp_put(out, "<span class=\"sym\">");
    rp_put_rich(out, symbol);
    rp_put(out, "</span>");
    return 1;
}

/* "--fix D0=5" is one piece, "--scaling" of "--scaling averaged" another. */
static const char *put_option(struct rp_markup *out, const char *at)
{
    const size_t n = 2 + strspn(at + 2, "abcdefghijklmnopqrstuvwxyz-");
    const size_t more = at[n] == ' ' ? 1 + strspn(at + n + 1, identifier) : 0;
    const size_t whole = more > 1 && at[n + more] == '=' ? n + more + strcspn(at + n + more, " ,;)") : n;
    rp_put(out, whole > n ? "<code class=\"o\">" : "<span class=\"o\">");
    for (const char *end = at + whole; at < end;)
        at += put_char(out, at);
    rp_put(out, whole > n ? "</code>" : "</span>");
    return at;
}

/* Characters after a word that make it part of a path, a file's name, a key. */
static int goes_on(const char *behind)
{
    return *behind == '/' || *behind == '=' || (*behind == '.' && isalnum((unsigned char)behind[1]));
}

void rp_sentence(struct rp_markup *out, const struct fit_yaml *names, const char *text)
{
    const char *from = text, *at = text;
    int after_minus = 0;
    while (*at) {
        const int minus = *at == '-' && isalpha((unsigned char)at[1]) && at > text && strchr(" (", at[-1]);
        const int begins = at == text || !(isalnum((unsigned char)at[-1]) || strchr("_./-", at[-1])) || after_minus;
        const size_t word = begins ? strspn(at, identifier) : 0;
        const int special = begins && (strncmp(at, "+- ", 3) == 0 ||
                                       (strncmp(at, "--", 2) == 0 && isalpha((unsigned char)at[2])));
        const int named = word && names && !isdigit((unsigned char)*at) && !goes_on(at + word);
        if (special || named || minus || (*at == ' ' && at - from > 200)) {
            put_plain(out, from, at);
            from = at;
        }
        after_minus = minus;
        if (minus)
            from = at = (rp_put(out, "−"), at + 1);
        else if (special)
            from = at = *at == '+' ? (rp_put(out, "± "), at + 3) : put_option(out, at);
        else if (named && put_word(out, names, at, word))
            from = at = at + word;
        else
            at += word ? word : 1;
    }
    put_plain(out, from, at);
}

/* "^alpha", "^2": raised. */
static const char *put_power(struct rp_markup *out, const char *at)
{
    const size_t n = strspn(++at, identifier);
    char power[RP_NAME];
    snprintf(power, sizeof power, "%.*s", (int)n, at);
    rp_put(out, "<sup>");
    if (!put_word(out, NULL, at, n))
        rp_put(out, "%s", power);
    rp_put(out, "</sup>");
    return at + n;
}

void rp_expression(struct rp_markup *out, const char *text)
{
    rp_put(out, "<span class=\"expression\">");
    for (const char *at = text; *at;) {
        const size_t n = strspn(at, identifier);
        if (*at == '^' && strspn(at + 1, identifier))
            at = put_power(out, at);
        else if (n && at[n] != '(' && !isdigit((unsigned char)*at) && put_word(out, NULL, at, n))
            at += n;
        else if (n > 1 || *at != '-')
            for (size_t k = n ? n : 1; k && *at; k--)
                at += put_char(out, at);
        else
            at += (rp_put(out, "−"), 1);
    }
    rp_put(out, "</span>");
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
    char v[40], e[40], plain[96];
    fit_format_error(value, std, v, sizeof v, e, sizeof e);
    snprintf(plain, sizeof plain, "%s ± %s", v, e);
    rp_typeset(plain, text, size);
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
        rp_put(out, "<p>Best determined: ");
        rp_expression(out, rp_json_text(x, "expression"));
        rp_put(out, " at <i>t</i> = %.4g s is %s ", rp_json_number(x, "time"), value);
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
        rp_sentence(out, map, map->entry[k].key);
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
