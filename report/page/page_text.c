/* page_text.c -- verdict, tables and notes of the report; see page.h.  All text comes from fit.json
 * and fit.h5. */
#include "report/page/page.h"

#include "base/number_text.h"
#include "report/draw/panel.h"
#include "report/draw/rich.h"
#include "report/draw/typeset.h"
#include "results/results.h"
#include "sampling/sampling.h"

#include "common/text.h"

#include <math.h>
#include <string.h>

/* ---- words and numbers ----------------------------------------------------------------------- */

static const struct fit_yaml *names_of(const struct rp_result *r)
{
    return rp_get(r->json, "parameters");
}

static void paragraph(struct rp_markup *out, const struct rp_result *r, const char *class, const char *text)
{
    if (!*text)
        return;
    rp_put(out, "<p class=\"%s\">", class);
    rp_sentence(out, names_of(r), text);
    rp_put(out, "</p>\n");
}

/* A value without an error: no more digits than can mean anything. */
static void rough_text(const struct fit_yaml *v, char *text, size_t size)
{
    const struct fit_yaml *ends = rp_get(v, "interval_95");
    const double value = rp_json_number(v, "value");
    double x[2] = {NAN, NAN};
    char number[48];
    for (size_t k = 0; ends && ends->kind == FIT_YAML_LIST && k < ends->n && k < 2; k++)
        x[k] = rp_json_value(ends->entry[k].value);
    fit_format_unsure(value, x[0], x[1], number, sizeof number);
    snprintf(text, size, isnan(value) ? "–" : "≈ %s", number);
}

/* A value to the digits of its error, as on the screen. */
static void with_error(double value, double error, char *text, size_t size)
{
    char e[40];
    if (isnan(value))
        snprintf(text, size, "–");
    else
        fit_format_error(value, error, text, size, e, sizeof e);
}

/* The error of a value. */
static void error_text(double value, double error, char *text, size_t size)
{
    char v[40];
    fit_format_error(value, error, v, sizeof v, text, size);
    if (!*text)
        snprintf(text, size, "–");
}

static void cell(struct rp_markup *out, const char *class, const char *text)
{
    char set[1000];
    rp_typeset(text, set, sizeof set);
    rp_put(out, "<td class=\"%s\">%s</td>", class, set);
}

static void cell_error(struct rp_markup *out, double value, double error)
{
    char text[64];
    error_text(value, error, text, sizeof text);
    cell(out, "n", text);
}

static void cell_number(struct rp_markup *out, const char *class, double x, int digits)
{
    char text[64];
    rp_number(x, digits, text, sizeof text);
    cell(out, class, text);
}

static void fact(struct rp_markup *out, const char *name, const char *text)
{
    if (!*text)
        return;
    rp_put(out, "<div><dt>%s</dt><dd>%s</dd></div>\n", name, text);
}

static void fact_number(struct rp_markup *out, const char *name, double x, int digits, const char *unit)
{
    char text[96], number[48];
    if (isnan(x))
        return;
    rp_number(x, digits, text, sizeof text);
    rp_typeset(text, number, sizeof number);
    snprintf(text, sizeof text, "%s%s%s", number, *unit ? " " : "", unit);
    fact(out, name, text);
}

static void fact_count(struct rp_markup *out, const char *name, double x)
{
    char text[64];
    if (isnan(x))
        return;
    rp_count(x, text, sizeof text);
    fact(out, name, text);
}

/* ---- head ------------------------------------------------------------------------------------ */

static const char *mood(const char *quality, int converged)
{
    if (!converged)
        return "bad";
    switch (fit_quality_find(quality)) {
    case FIT_QUALITY_GOOD: return "good";
    case FIT_QUALITY_POOR:
    case FIT_QUALITY_FLAT:
    case FIT_QUALITY_UNDETERMINED:
    case FIT_QUALITY_UNFINISHED: return "bad";
    default: return "fair";
    }
}

static void put_facts(struct rp_markup *out, const struct rp_result *r)
{
    const struct fit_yaml *j = r->json;
    char text[160];
    rp_put(out, "<dl class=\"facts\">\n");
    if (*rp_json_text(j, "reduced_chi2_reason")) {
        fact(out, "χ²/dof", "not known");
        fact_number(out, "variance of the residuals", rp_json_number(j, "residual_variance"), 4, "");
    } else {
        const double reduced = rp_json_number(j, "reduced_chi2");
        snprintf(text, sizeof text, "%.4f", reduced);
        fact(out, "χ²/dof", isnan(reduced) ? "" : text);
        const char *known = rp_json_text(j, "noise.source"); /* else values have no weights, and chi2 has their unit */
        if (strcmp(known, "file") == 0 || strcmp(known, "given") == 0)
            fact_number(out, "χ²", rp_json_number(j, "chi2"), 6, "");
    }
    fact_count(out, "data points", rp_json_number(j, "n_points"));
    fact_number(out, "free parameters", rp_json_number(j, "n_free"), 6, "");
    if (strcmp(rp_json_text(j, "noise.source"), "file") != 0)
        fact_number(out, "σ of the noise", rp_json_number(j, "noise.sigma_common"), 4, "");
    fact_number(out, "normalised rms residual", rp_json_number(j, "nrmse"), 3, "");
    if (r->pairs) {
        snprintf(text, sizeof text, "%zu", r->ngroup);
        fact(out, r->q ? "groups" : "angles", text);
        snprintf(text, sizeof text, "%.0f to %.0f", rp_json_number(j, "data.first_frame"),
                 rp_json_number(j, "data.last_frame"));
        fact(out, "frames", text);
        fact_number(out, "frame period", rp_json_number(j, "data.dt"), 6, "s");
        fact_number(out, "q", rp_json_number(j, "data.q"), 5, "Å⁻¹");
        fact_number(out, "gap", rp_json_number(j, "data.gap") / 1e4, 5, "µm");
    }
    rp_put(out, "</dl>\n");
}

/* Of data before any fit. */
static void data_head(struct rp_markup *out, const struct rp_result *r)
{
    const struct rp_origin *o = &r->origin;
    char text[160];
    rp_put(out, "<header>\n<h1>");
    rp_put(out, "%s", o->file ? text_file_name(o->file) : "Data");
    rp_put(out, "</h1>\n<p class=\"sub\">The data as a fit sees them, before any fit</p>\n<dl "
                "class=\"facts\">\n");
    if (r->pairs) {
        snprintf(text, sizeof text, "%zu", r->ngroup);
        fact(out, r->q ? "groups" : "angles", text);
        snprintf(text, sizeof text, "%.0f to %.0f", o->first, o->last);
        fact(out, "frames", text);
        if (strcmp(r->time_unit, "s") == 0)
            fact_number(out, "frame period", o->dt, 6, "s");
        else
            fact(out, "frame period", "not known: times are counted in frames");
        fact_number(out, "q", o->q, 5, "Å⁻¹");
    } else {
        fact_count(out, "data points", (double)r->nrow);
    }
    fact(out, "layout", o->layout ? o->layout : "");
    rp_put(out, "</dl>\n</header>\n");
}

void rp_page_head(struct rp_markup *out, const struct rp_result *r)
{
    if (!r->fitted) {
        data_head(out, r);
        return;
    }
    const struct fit_yaml *j = r->json;
    const char *quality = rp_json_text(j, "quality");
    const int converged = rp_json_true(j, "converged");
    rp_put(out, "<header>\n<h1>%s</h1>\n<p class=\"sub\"><b>",
           r->title && *r->title ? r->title : rp_json_text(j, "model.name"));
    const struct fit_yaml *files = fit_yaml_get(fit_yaml_get(j, "data"), "files");
    for (size_t k = 0; files && k < files->n; k++)
        rp_put(out, "%s%s", k ? ", " : "", text_file_name(rp_json_text(files->entry[k].value, "file")));
    if (!files)
        rp_put(out, "%s", text_file_name(rp_json_text(j, "data.file")));
    rp_put(out, "</b>, model ");
    rp_put(out, "%s", rp_json_text(j, "model.name"));
    if (r->end_time)
        rp_put(out, ", %.10s %.5s UTC", r->end_time, strlen(r->end_time) > 16 ? r->end_time + 11 : "");
    rp_put(out, "</p>\n");
    if (r->mathml && rp_put_mathml(out, r->mathml)) {
        /* the equations stand there */
    } else if (r->formula && *r->formula) {
        rp_put(out, "<p class=\"formula\"><code>");
        rp_formula(out, r->formula);
        rp_put(out, "</code></p>\n");
    }
    rp_put(out, "<div class=\"verdict %s\"><p><b>", mood(quality, converged));
    rp_put(out, "%s", *quality ? quality : converged ? "converged" : "not converged");
    rp_put(out, "</b>: ");
    const char *said = rp_json_text(j, "quality_text");
    rp_sentence(out, names_of(r), said);
    rp_put(out, "%s</p>\n<p>%s: ", *said && strchr("?.", said[strlen(said) - 1]) ? "" : ".",
           converged ? "Converged" : "Not converged");
    rp_sentence(out, names_of(r), rp_json_text(j, "message"));
    rp_put(out, ".</p></div>\n");
    put_facts(out, r);
    rp_put(out, "</header>\n");
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* A reason that the list of what is not told apart gives in the same words, is not said twice. */
static int is_listed(const struct rp_result *r, const char *reason)
{
    const struct fit_yaml *list = rp_get(r->json, "degeneracies");
    int found = 0;
    for (size_t k = 0; list && list->kind == FIT_YAML_LIST && k < list->n; k++)
        found |= strcmp(rp_json_text(list->entry[k].value, "text"), reason) == 0;
    return found;
}

static void remark(struct rp_markup *out, const struct rp_result *r, const struct fit_yaml *v)
{
    const char *reason = rp_json_text(v, "std_reason");
    const char *bound = rp_json_text(v, "at_bound"), *tied = rp_json_text(v, "tied");
    char text[512] = "";
    if (rp_json_true(v, "fixed"))
        snprintf(text, sizeof text, "held");
    else if (*tied)
        snprintf(text, sizeof text, "= %s", tied);
    else if (*bound)
        snprintf(text, sizeof text, "at its %s bound", bound);
    else
        snprintf(text, sizeof text, "%s", is_listed(r, reason) ? "not identifiable, see below" : reason);
    rp_put(out, "</tr>\n");
    if (!*text)
        return;
    rp_put(out, "<tr class=\"why\"><td colspan=\"8\">");
    rp_sentence(out, names_of(r), text);
    rp_put(out, "</td></tr>\n");
}

/* "0.0149 … 0.0203"; an open end: "above 1340". */
static void interval_text(const struct fit_yaml *ends, double value, char *text, size_t size)
{
    double x[2] = {NAN, NAN};
    char a[64], b[64];
    for (size_t k = 0; ends && ends->kind == FIT_YAML_LIST && k < ends->n && k < 2; k++)
        x[k] = rp_json_value(ends->entry[k].value);
    const double way = !isnan(x[0]) && !isnan(x[1]) ? 0.1 * (x[1] - x[0]) : fabs((isnan(x[0]) ? x[1] : x[0]) - value);
    with_error(x[0], way, a, sizeof a);
    with_error(x[1], way, b, sizeof b);
    text[0] = '\0';
    if (!isnan(x[0]) && !isnan(x[1]))
        snprintf(text, size, "%s … %s", a, b);
    else if (!isnan(x[0]))
        snprintf(text, size, "above %s", a);
    else if (!isnan(x[1]))
        snprintf(text, size, "below %s", b);
}

/* Of 95 %; where several minima fit, all parts. */
static void interval_cell(struct rp_markup *out, const struct fit_yaml *v)
{
    const struct fit_yaml *parts = rp_get(v, "intervals_95");
    const double value = rp_json_number(v, "value");
    char text[640] = "", one[160];
    if (!parts || parts->kind != FIT_YAML_LIST)
        interval_text(rp_get(v, "interval_95"), value, text, sizeof text);
    for (size_t k = 0; parts && parts->kind == FIT_YAML_LIST && k < parts->n; k++) {
        size_t used = strlen(text);
        interval_text(parts->entry[k].value, value, one, sizeof one);
        snprintf(text + used, sizeof text - used, "%s%s", k ? " or " : "", one);
    }
    cell(out, "n i", text);
}

static void parameter_row(struct rp_markup *out, const struct rp_result *r, const char *name, const struct fit_yaml *v)
{
    char text[160], unit[RP_NAME];
    const double value = rp_json_number(v, "value"), std = rp_json_number(v, "std"),
                 robust = rp_json_number(v, "std_robust");
    const int fixed = rp_json_true(v, "fixed");
    rp_put(out, "<tr>");
    rp_put(out, "<th scope=\"row\">");
    rp_put_named(out, name);
    rp_put(out, "</th>");
    if (rp_get(v, "determined") && !fixed && !(std > 0) && !*rp_json_text(v, "tied"))
        rough_text(v, text, sizeof text);
    else
        with_error(value, fixed ? NAN : std, text, sizeof text);
    cell(out, std > 0 || fixed ? "n v" : "n v rough", text);
    cell_error(out, value, fixed ? NAN : std);
    cell_error(out, value, fixed ? NAN : robust);
    interval_cell(out, v);
    rp_unit(rp_json_text(v, "unit"), unit, sizeof unit);
    cell(out, "u", unit);
    cell_number(out, "n x", rp_json_number(v, "start"), 5);
    const double lower = rp_json_number(v, "lower"), upper = rp_json_number(v, "upper");
    text[0] = '\0';
    if (!isnan(lower) || !isnan(upper)) {
        char a[32] = "−∞", b[32] = "∞";
        if (!isnan(lower))
            rp_number(lower, 4, a, sizeof a);
        if (!isnan(upper))
            rp_number(upper, 4, b, sizeof b);
        snprintf(text, sizeof text, "%s … %s", a, b);
    }
    cell(out, "n x", text);
    remark(out, r, v);
}

static void degeneracies(struct rp_markup *out, const struct rp_result *r)
{
    const struct fit_yaml *list = rp_get(r->json, "degeneracies");
    if (!list || list->kind != FIT_YAML_LIST || !list->n)
        return;
    rp_put(out, "<h3>Not identifiable from these data</h3>\n<ul>\n");
    for (size_t k = 0; k < list->n; k++) {
        const struct fit_yaml *d = list->entry[k].value, *c = rp_get(d, "combinations");
        rp_put(out, "<li>");
        rp_sentence(out, names_of(r), rp_json_text(d, "text"));
        for (size_t i = 0; c && c->kind == FIT_YAML_MAP && i < c->n; i++) {
            char value[64], error[64], unit[RP_NAME];
            const double std = rp_json_number(c->entry[i].value, "std");
            if (isnan(rp_json_number(c->entry[i].value, "value")))
                continue;
            with_error(rp_json_number(c->entry[i].value, "value"), std, value, sizeof value);
            error_text(rp_json_number(c->entry[i].value, "value"), std, error, sizeof error);
            rp_unit(rp_json_text(c->entry[i].value, "unit"), unit, sizeof unit);
            rp_put(out, std > 0 ? "<br/>determined: " : "<br/>");
            rp_expression(out, c->entry[i].key);
            rp_put(out, std > 0 ? " = %s ± %s " : " = %s ", value, error);
            rp_put(out, "%s", unit);
            rp_put(out, std > 0 ? "" : ", without an error");
        }
        rp_put(out, "</li>\n");
    }
    rp_put(out, "</ul>\n");
}

static void notes(struct rp_markup *out, const struct rp_result *r)
{
    const struct fit_yaml *list = rp_get(r->json, "notes");
    if (!list || list->kind != FIT_YAML_LIST || !list->n)
        return;
    rp_put(out, "<h3>Notes</h3>\n<ul>\n");
    for (size_t k = 0; k < list->n; k++)
        if (list->entry[k].value->kind == FIT_YAML_SCALAR) {
            rp_put(out, "<li>");
            rp_sentence(out, names_of(r), list->entry[k].value->text);
            rp_put(out, "</li>\n");
        }
    rp_put(out, "</ul>\n");
}

/* Element g of a list, or the one number (g < 0). */
static const struct fit_yaml *of_list(const struct fit_yaml *v, long g)
{
    return g < 0 ? v : v && v->kind == FIT_YAML_LIST && (size_t)g < v->n ? v->entry[g].value : NULL;
}

static void derived_row(struct rp_markup *out, const struct rp_result *r, const char *name, const struct fit_yaml *v,
                        long g)
{
    char text[160], unit[RP_NAME];
    const struct fit_yaml *reason = of_list(rp_get(v, "std_reason"), g);
    const double value = rp_json_value(of_list(rp_get(v, "value"), g)),
                 std = rp_json_value(of_list(rp_get(v, "std"), g));
    rp_put(out, "<tr>");
    snprintf(text, sizeof text, g < 0 ? "%s" : "%s[%ld]", name, g);
    rp_put(out, "<th scope=\"row\">");
    rp_put_named(out, text);
    rp_put(out, "</th>");
    with_error(value, std, text, sizeof text);
    cell(out, "n v", text);
    cell_error(out, value, std);
    cell_error(out, value, rp_json_value(of_list(rp_get(v, "std_robust"), g)));
    interval_text(of_list(rp_get(v, "interval_95"), g), value, text, sizeof text);
    cell(out, "n i", text);
    rp_unit(rp_json_text(v, "unit"), unit, sizeof unit);
    cell(out, "u", unit);
    cell(out, "n x", "derived");
    cell(out, "n x", "");
    rp_put(out, "</tr>\n");
    if (!isnan(std) || !reason || fit_yaml_is_null(reason))
        return;
    rp_put(out, "<tr class=\"why\"><td colspan=\"8\">");
    rp_sentence(out, names_of(r), reason->text);
    rp_put(out, "</td></tr>\n");
}

/* Derived quantities, below the parameters. */
static void derived_rows(struct rp_markup *out, const struct rp_result *r)
{
    const struct fit_yaml *map = rp_get(r->json, "derived");
    for (size_t k = 0; map && map->kind == FIT_YAML_MAP && k < map->n; k++) {
        const struct fit_yaml *v = map->entry[k].value, *value = rp_get(v, "value");
        if (!value || value->kind != FIT_YAML_LIST)
            derived_row(out, r, map->entry[k].key, v, -1);
        for (size_t g = 0; value && value->kind == FIT_YAML_LIST && g < value->n; g++)
            derived_row(out, r, map->entry[k].key, v, (long)g);
    }
}

void rp_page_parameters(struct rp_markup *out, const struct rp_result *r)
{
    const struct fit_yaml *map = rp_get(r->json, "parameters");
    char text[256];
    rp_put(out, "<section id=\"parameters\"><h2>%s</h2>\n<div class=\"wide\"><table class=\"rows "
                "fitted\">\n<thead><tr>"
                "<th></th><th class=\"n\">value</th><th class=\"n\">std. error</th><th "
                "class=\"n\">robust</th><th class=\"n\">95 %%</th>"
                "<th>unit</th><th class=\"n x\">start</th><th class=\"n x\">bounds</th></tr></thead>\n<tbody>\n",
           r->sampled ? "Least squares" : "Parameters");
    for (size_t k = 0; map->kind == FIT_YAML_MAP && k < map->n; k++)
        parameter_row(out, r, map->entry[k].key, map->entry[k].value);
    derived_rows(out, r);
    rp_put(out, "</tbody></table></div>\n");
    const double wider = rp_json_number(r->json, "robust.errors_wider_by");
    if (wider > 0.995 && wider < 1.005)
        snprintf(text, sizeof text, " (here as wide as the others at the median)");
    else
        snprintf(text, sizeof text, " (here %.2f times the others at the median)", wider);
    rp_put(out,
           "<p class=\"caption\">Errors are one standard deviation. Robust (sandwich): valid for %s%s. "
           "95 %%: where no error is given, the profile-likelihood interval, in which χ² rises by no more than 3.84. "
           "Start: where the search began that found this minimum. ≈: a value that these data do not determine.</p>\n",
           r->pairs ? "correlated residuals"
                    : "rows that scatter more or less than their errors say, but independently",
           wider > 0 ? text : "");
    snprintf(text, sizeof text, "Noise: %s.", rp_json_text(r->json, "noise.text"));
    paragraph(out, r, "caption", text);
    paragraph(out, r, "caption", rp_json_text(r->json, "estimator.text"));
    rp_page_rates(out, r);
    degeneracies(out, r);
    notes(out, r);
    rp_put(out, "</section>\n");
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Words for keys of fit.json. */
static const char *group_key(const struct rp_result *r, const char *key)
{
    static const char *const word[][2] = {{"phi", "φ (°)"},
                                          {"q", "q (Å⁻¹)"},
                                          {"contrast_std", "error"},
                                          {"offset_std", "error"},
                                          {"contrast_std_robust", "robust error"},
                                          {"offset_std_robust", "robust error"},
                                          {"chi2_per_point", "χ² per point"}};
    for (size_t k = 0; r->pairs && k < sizeof word / sizeof *word; k++)
        if (strcmp(key, word[k][0]) == 0)
            return word[k][1];
    return key;
}

/* A list of maps with the same keys: a row each. */
static void table_of(struct rp_markup *out, const struct rp_result *r, const char *title, const struct fit_yaml *list)
{
    if (!list || list->kind != FIT_YAML_LIST || !list->n ||
        list->entry[0].value->kind != FIT_YAML_MAP)
        return;
    const struct fit_yaml *first = list->entry[0].value;
    rp_put(out, "<details><summary>%s</summary><div class=\"wide\"><table><thead><tr>", title);
    for (size_t k = 0; k < first->n; k++) {
        rp_put(out, "<th class=\"n\">%s</th>", group_key(r, first->entry[k].key));
    }
    rp_put(out, "</tr></thead><tbody>\n");
    for (size_t g = 0; g < list->n; g++) {
        rp_put(out, "<tr>");
        for (size_t k = 0; k < first->n; k++) {
            const double x = rp_json_number(list->entry[g].value, first->entry[k].key);
            if (isnan(x))
                cell(out, "n", rp_json_text(list->entry[g].value, first->entry[k].key));
            else
                cell_number(out, "n", x, 6);
        }
        rp_put(out, "</tr>\n");
    }
    rp_put(out, "</tbody></table></div></details>\n");
}

void rp_page_groups(struct rp_markup *out, const struct rp_result *r)
{
    table_of(out, r, "as a table", rp_get(r->json, "scaling"));
    table_of(out, r, "noise: number of speckles, shot noise", rp_get(r->json, "speckle.groups"));
}

/* ---- search ---------------------------------------------------------------------------------- */

static void minima(struct rp_markup *out, const struct rp_result *r)
{
    const struct fit_yaml *list = rp_get(r->json, "minima"), *names = rp_get(r->json, "parameters");
    if (!list || list->kind != FIT_YAML_LIST || list->n < 2)
        return;
    rp_put(out, "<div class=\"wide\"><table><thead><tr><th class=\"n\">χ² above the best</th><th "
                "class=\"n\">found</th>");
    const struct fit_yaml *theta = rp_get(list->entry[0].value, "theta");
    const size_t n = theta && theta->kind == FIT_YAML_LIST ? theta->n : 0;
    for (size_t k = 0; k < n; k++) {
        rp_put(out, "<th class=\"n\">");
        rp_put_symbol(out, names->kind == FIT_YAML_MAP && k < names->n ? names->entry[k].key : "");
        rp_put(out, "</th>");
    }
    rp_put(out, "</tr></thead><tbody>\n");
    for (size_t i = 0; i < list->n; i++) {
        const struct fit_yaml *m = list->entry[i].value;
        rp_put(out, "<tr>");
        cell_number(out, "n", rp_json_number(m, "chi2_above_best"), 4);
        cell_number(out, "n", rp_json_number(m, "found"), 4);
        theta = rp_get(m, "theta");
        for (size_t k = 0; k < n; k++)
            cell_number(out, "n", k < theta->n ? rp_json_number(theta->entry[k].value, "") : NAN,
                        5);
        rp_put(out, "</tr>\n");
    }
    rp_put(out, "</tbody></table></div>\n");
    if (strcmp(rp_json_text(r->json, "settings.loss"), "linear") != 0)
        rp_put(out,
               "<p class=\"caption\">Minima of the plain sum of squares. From the best of them the fit went on "
               "with loss %s, which gives outliers less weight: its end is the result above.</p>\n",
               rp_json_text(r->json, "settings.loss"));
}

/* Words of fit_types.c, as a reader would say them. */
static const char *ended(const char *status)
{
    static const char *const word[][2] = {{"converged_gradient", "gradient is zero"},
                                          {"converged_cost", "cost no longer falls"},
                                          {"converged_step", "step is nothing"},
                                          {"at_bound", "minimum at a bound"},
                                          {"max_iterations", "limit of iterations"}};
    for (size_t k = 0; k < sizeof word / sizeof *word; k++)
        if (strcmp(status, word[k][0]) == 0)
            return word[k][1];
    return status;
}

void rp_page_search(struct rp_markup *out, const struct rp_result *r)
{
    const struct fit_yaml *j = r->json, *starts = rp_get(j, "starts"),
                          *minimum = rp_get(j, "minima");
    rp_put(out, "<section id=\"convergence\"><h2>Convergence</h2>\n<dl class=\"facts\">\n");
    fact(out, "ended", ended(rp_json_text(j, "status")));
    fact_count(out, "iterations", rp_json_number(j, "accepted_steps"));
    fact_count(out, "evaluations", rp_json_number(j, "evaluations"));
    fact_number(out, "gradient, relative", rp_json_number(j, "gradient"), 2, "");
    if (starts && starts->kind == FIT_YAML_LIST)
        fact_count(out, "starts", (double)starts->n);
    if (minimum && minimum->kind == FIT_YAML_LIST)
        fact_count(out, "distinct minima", (double)minimum->n);
    fact_number(out, "time", rp_json_number(j, "wall_seconds"), 3, "s");
    fact_number(out, "threads", rp_json_number(j, "threads"), 4, "");
    rp_put(out, "</dl>\n");
    minima(out, r);
    rp_put(out, "</section>\n");
}

/* ---- posterior ------------------------------------------------------------------------------- */

static void posterior_row(struct rp_markup *out, const char *name, const struct fit_yaml *v)
{
    char text[64], unit[RP_NAME];
    const double sd = rp_json_number(v, "sd");
    rp_put(out, "<tr><th scope=\"row\">");
    rp_put_named(out, name);
    rp_put(out, "</th>");
    static const char *const key[] = {"mean", "sd", "q025", "q975", "least_squares"};
    for (size_t k = 0; k < 5; k++) {
        const double x = rp_json_number(v, key[k]);
        if (k == 1)
            error_text(rp_json_number(v, "mean"), x, text, sizeof text);
        else
            with_error(x, sd, text, sizeof text);
        cell(out, k ? "n" : "n v", text);
    }
    rp_unit(rp_json_text(v, "unit"), unit, sizeof unit);
    cell(out, "u", unit);
    snprintf(text, sizeof text, "%.3f", rp_json_number(v, "r_hat"));
    cell(out, "n", isnan(rp_json_number(v, "r_hat")) ? "–" : text);
    cell_number(out, "n", round(fmin(rp_json_number(v, "ess_bulk"), rp_json_number(v, "ess_tail"))), 6);
    snprintf(text, sizeof text, "%.3f", rp_json_number(v, "contraction"));
    cell(out, "n x", isnan(rp_json_number(v, "contraction")) ? "–" : text);
    rp_put(out, "</tr>\n");
}

static int of_group(const struct fit_yaml *map, size_t k)
{
    return !rp_json_true(map->entry[k].value, "fixed") && strchr(map->entry[k].key, '[') != NULL;
}

static int any_of_group(const struct fit_yaml *map)
{
    int any = 0;
    for (size_t k = 0; map && map->kind == FIT_YAML_MAP && k < map->n; k++)
        any |= of_group(map, k);
    return any;
}

/* The parameters of groups, or the others. */
static void posterior_table(struct rp_markup *out, const struct fit_yaml *map, int groups)
{
    rp_put(out, "<div class=\"wide\"><table class=\"rows drawn\"><thead><tr><th></th><th "
                "class=\"n\">mean</th>"
                "<th class=\"n\">sd</th><th class=\"n\">2.5 %%</th><th class=\"n\">97.5 %%</th>"
                "<th class=\"n\">least squares</th><th>unit</th><th class=\"n\">R-hat</th><th "
                "class=\"n\">ESS</th>"
                "<th class=\"n x\">contraction</th></tr></thead><tbody>\n");
    for (size_t k = 0; map && map->kind == FIT_YAML_MAP && k < map->n; k++)
        if (!rp_json_true(map->entry[k].value, "fixed") && of_group(map, k) == groups)
            posterior_row(out, map->entry[k].key, map->entry[k].value);
    rp_put(out, "</tbody></table></div>\n");
}

static void posterior_facts(struct rp_markup *out, const struct fit_yaml *p)
{
    rp_put(out, "<dl class=\"facts\">\n");
    fact(out, "method", rp_json_text(p, "method"));
    fact_number(out, "chains", rp_json_number(p, "chains"), 4, "");
    fact_count(out, "draws of each", rp_json_number(p, "draws"));
    fact_number(out, "largest R-hat", rp_json_number(p, "max_r_hat"), 4, "");
    fact_number(out, "smallest ESS", round(rp_json_number(p, "min_ess")), 6, "");
    fact_number(out, "divergences", rp_json_number(p, "divergences"), 6, "");
    fact_number(out, "smallest E-BFMI", rp_json_number(p, "min_ebfmi"), 3, "");
    fact_number(out, "Pareto k", rp_json_number(p, "pareto_k"), 3, "");
    fact_number(out, "time", rp_json_number(p, "seconds.total"), 3, "s");
    rp_put(out, "</dl>\n");
}

void rp_page_posterior(struct rp_markup *out, const struct rp_result *r)
{
    const struct fit_yaml *p = rp_get(r->json, "posterior"), *map = rp_get(p, "parameters");
    if (!p)
        return;
    static const char *const class[] = {
        [FIT_VERDICT_GOOD] = "good", [FIT_VERDICT_DOUBTFUL] = "fair", [FIT_VERDICT_FAILED] = "bad"};
    const char *verdict = rp_json_text(p, "verdict");
    rp_put(out, "<section id=\"posterior\"><h2>Posterior</h2>\n");
    rp_put(out, "<div class=\"verdict %s\"><p><b>", class[fit_verdict_find(verdict)]);
    rp_put(out, "%s", verdict);
    rp_put(out, "</b>: ");
    rp_sentence(out, names_of(r), rp_json_text(p, "verdict_text"));
    rp_put(out, "</p></div>\n");
    posterior_facts(out, p);
    posterior_table(out, map, 0);
    rp_page_priors(out, map);
    rp_put(out, "<p class=\"caption\">ESS: effective sample size, of the bulk or of the tails, the lesser. "
                "Contraction of the posterior: 1 − (sd / sd of the prior)²; near 0 the data "
                "say nothing.</p>\n");
    if (any_of_group(map)) {
        rp_put(out, "<details><summary>per-angle values</summary>\n");
        posterior_table(out, map, 1);
        rp_put(out, "</details>\n");
    }
    rp_put(out, "</section>\n");
}

/* ---- origin ---------------------------------------------------------------------------------- */

void rp_page_origin(struct rp_markup *out, const struct rp_result *r)
{
    static const char *const fact_of[][2] = {{"data", "data.file"},
                                             {"layout", "data.layout"},
                                             {"SHA-256 of the data", "data.sha256"},
                                             {"model", "model.name"},
                                             {"hash of the model", "model.hash"},
                                             {"method", "settings.method"},
                                             {"loss", "settings.loss"},
                                             {"scaling", "settings.scaling"},
                                             {"configuration", "settings.config"},
                                             {"seed", "settings.seed"},
                                             {"command", "command_line"},
                                             {"version", "version"}};
    rp_put(out, "<section id=\"origin\"><h2>Provenance</h2>\n<dl class=\"origin\">\n");
    const struct rp_origin *o = &r->origin;
    const char *const own[][2] = {{"data", o->file},
                                  {"layout", o->layout},
                                  {"SHA-256 of the data", o->sha256},
                                  {"command", o->command},
                                  {"version", o->version}};
    for (size_t k = 0; !r->fitted && k < sizeof own / sizeof *own; k++)
        fact(out, own[k][0], own[k][1] ? own[k][1] : "");
    for (size_t k = 0; k < sizeof fact_of / sizeof *fact_of; k++)
        fact(out, fact_of[k][0], rp_json_text(r->json, fact_of[k][1]));
    if (!r->fitted) {
        rp_put(out, "</dl>\n</section>\n");
        return;
    }
    const struct fit_yaml *files = fit_yaml_get(fit_yaml_get(r->json, "data"), "files");
    for (size_t k = 1; files && k < files->n; k++) {
        char name[32];
        snprintf(name, sizeof name, "file %zu", k + 1);
        fact(out, name, rp_json_text(files->entry[k].value, "file"));
        fact(out, "SHA-256", rp_json_text(files->entry[k].value, "sha256"));
    }
    fact(out, "reference", r->reference ? r->reference : "");
    fact(out, "results", r->folder);
    rp_put(out, "</dl>\n</section>\n");
}
