/* info.c -- `info`: the model; its parameters, units, bounds, axes, and its cost.
 */
#include "base/json.h"
#include "device/report.h"
#include "commands/program.h"
#include "machine/cpu.h"
#include "model/prior.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* "normal(0, 2)"; a number that is another parameter, of a hierarchy, appears as its name: "normal(mu, spread)". */
static const char *prior_text(const struct fit_kernel *k, const struct fit_param *p, char *text, size_t size)
{
    const int n = fit_prior_numbers(p->prior);
    const double value[2] = {p->prior_a, p->prior_b};
    const int there[2] = {n > 1, n > 0};
    char number[2][64] = {"", ""};
    const size_t place = p >= k->param && p < k->param + k->nparam ? (size_t)(p - k->param) : k->nparam;
    for (int i = 0; i < 2; i++) {
        const unsigned from = k->level && place < k->nparam ? k->level[place].from[i] : 0;
        if (there[i] && from)
            snprintf(number[i], sizeof number[i], "%.60s", k->param[from - 1].name);
        else if (there[i])
            snprintf(number[i], sizeof number[i], "%g", value[i]);
    }
    snprintf(text, size, "%s%s%s%s%s%s", p->prior == FIT_PRIOR_NONE ? "flat" : fit_prior_word(p->prior), n ? "(" : "",
             number[0], n == 2 ? ", " : "", number[1], n ? ")" : "");
    return text;
}

static void json_params(struct fit_json *j, const char *key, const struct fit_kernel *k, size_t n,
                        const struct fit_param *param)
{
    char prior[160];
    fit_json_begin(j, key, '[');
    for (size_t i = 0; i < n; i++) {
        fit_json_begin(j, NULL, '{');
        fit_json_string(j, "name", param[i].name);
        fit_json_string(j, "unit", param[i].unit);
        fit_json_string(j, "doc", param[i].doc);
        fit_json_number(j, "start", param[i].start);
        fit_json_number(j, "lower", param[i].lower);
        fit_json_number(j, "upper", param[i].upper);
        fit_json_string(j, "prior", prior_text(k, &param[i], prior, sizeof prior));
        fit_json_string(j, "over",
                        param[i].over >= 0 && (size_t)param[i].over < k->naxis
                            ? k->axis[param[i].over].name
                            : NULL);
        fit_json_begin(j, "alias", '[');
        for (size_t a = 0; param[i].alias && param[i].alias[a]; a++)
            fit_json_string(j, NULL, param[i].alias[a]);
        fit_json_end(j);
        fit_json_end(j);
    }
    fit_json_end(j);
}

static void json_named(struct fit_json *j, const char *name, const char *unit, const char *doc)
{
    fit_json_begin(j, NULL, '{');
    fit_json_string(j, "name", name);
    fit_json_string(j, "unit", unit);
    fit_json_string(j, "doc", doc);
}

static void json_kernels(struct fit_json *j, const struct fit_kernel *const *kernels)
{
    fit_json_begin(j, "kernels", '[');
    for (size_t n = 0; kernels[n]; n++) {
        fit_json_begin(j, NULL, '{');
        fit_json_string(j, "variant", kernels[n]->variant);
        fit_json_string(j, "isa", kernels[n]->isa);
        fit_json_boolean(j, "usable", fit_cpu_supports(kernels[n]->isa));
        fit_json_end(j);
    }
    fit_json_end(j);
}

static void json_lists(struct fit_json *j, const struct fit_kernel *k)
{
    static const char *const role[] = {"covariate", "value", "sigma"};
    fit_json_begin(j, "settings", '[');
    for (size_t s = 0; s < k->nsetting; s++) {
        json_named(j, k->setting[s].name, k->setting[s].unit, k->setting[s].doc);
        fit_json_number(j, "default", k->setting[s].value);
        fit_json_end(j);
    }
    fit_json_end(j);
    fit_json_begin(j, "axes", '[');
    for (size_t a = 0; a < k->naxis; a++) {
        json_named(j, k->axis[a].name, k->axis[a].unit, k->axis[a].doc);
        fit_json_end(j);
    }
    fit_json_end(j);
    fit_json_begin(j, "columns", '[');
    for (size_t c = 0; c < k->ncolumn; c++) {
        json_named(j, k->column[c].name, k->column[c].unit, k->column[c].doc);
        fit_json_string(j, "role", k->nobservable && c == k->which ? "quantity" : role[k->column[c].role]);
        if (k->column[c].lower < k->column[c].upper)
            fit_json_numbers(j, "range", (double[]){k->column[c].lower, k->column[c].upper}, 2);
        fit_json_end(j);
    }
    fit_json_end(j);
    fit_json_begin(j, "states", '[');
    for (size_t c = 0; c < k->nstate; c++) {
        json_named(j, k->state[c].name, k->state[c].unit, k->state[c].doc);
        fit_json_end(j);
    }
    fit_json_end(j);
    fit_json_begin(j, "curves", '[');
    for (size_t c = 0; c < k->ncurve; c++) {
        json_named(j, k->curve[c].name, k->curve[c].unit, k->curve[c].doc);
        fit_json_end(j);
    }
    fit_json_end(j);
}

static enum fit_status info_json(const struct fit_program *p, const struct fit_kernel *k,
                                 struct fit_error *err)
{
    struct fit_json j = {0};
    fit_json_begin(&j, NULL, '{');
    fit_json_string(&j, "name", k->name);
    fit_json_string(&j, "title", k->title);
    fit_json_string(&j, "formula", k->formula);
    fit_json_string(&j, "reference", k->reference);
    fit_json_string(&j, "source", k->source);
    fit_json_string(&j, "hash", k->hash);
    fit_json_string(&j, "version", FIT_VERSION);
    fit_json_integer(&j, "abi", k->abi);
    fit_json_string(&j, "space", k->space == FIT_PAIRS ? "pairs" : "rows");
    fit_json_string(&j, "variant", k->variant);
    fit_json_string(&j, "isa", k->isa);
    if (k->density)
        fit_json_string(&j, "law", k->density->name);
    if (k->feedback) /* rows depend on values measured in earlier ones */
        fit_json_boolean(&j, "feedback", 1);
    json_params(&j, "parameters", k, k->nparam, k->param);
    json_params(&j, "linear", k, k->nlinear, k->linear);
    json_lists(&j, k);
    fit_json_begin(&j, "cost", '{');
    fit_json_integer(&j, "per_frame", k->cost.per_frame);
    fit_json_integer(&j, "per_pair", k->cost.per_pair);
    fit_json_integer(&j, "per_pair_group", k->cost.per_pair_group);
    fit_json_integer(&j, "value_per_pair_group", k->cost.value_per_pair_group);
    fit_json_integer(&j, "functions_per_pair", k->cost.functions_per_pair);
    fit_json_end(&j);
    json_kernels(&j, p->kernels);
    fit_json_end(&j);
    const char *text = fit_json_text(&j);
    if (text)
        fputs(text, p->out);
    fit_json_free(&j);
    return text ? FIT_OK : fit_no_memory(err, "info");
}

static void print_param(FILE *f, const struct fit_kernel *k, const struct fit_param *p)
{
    char bounds[64], prior[160];
    snprintf(bounds, sizeof bounds, "[%g, %g]", p->lower, p->upper);
    fprintf(f, "  %-19s %-13s %10g  %-18s %s\n", p->name, p->unit, p->start, bounds,
            prior_text(k, p, prior, sizeof prior));
    fprintf(f, "      %s%s%s%s", p->doc, *p->doc && p->over >= 0 ? "; " : "",
            p->over >= 0 ? "one per " : "",
            p->over >= 0 && (size_t)p->over < k->naxis ? k->axis[p->over].name : "");
    for (size_t a = 0; p->alias && p->alias[a]; a++)
        fprintf(f, "%s%s", a ? ", " : "; also ", p->alias[a]);
    fprintf(f, "\n");
}

static void info_text(const struct fit_program *p, const struct fit_kernel *k)
{
    FILE *f = p->out;
    fprintf(f, "%s: %s\n%s\n%s\n\n", k->name, k->title, k->formula, k->reference);
    fprintf(f, "  %-19s %-13s %10s  %-18s %s\n", "parameter", "unit", "start", "bounds", "prior");
    for (size_t i = 0; i < k->nparam; i++)
        print_param(f, k, &k->param[i]);
    if (k->nlinear)
        fprintf(f, "linear (eliminated exactly)\n");
    for (size_t i = 0; i < k->nlinear; i++)
        print_param(f, k, &k->linear[i]);
    if (k->nsetting)
        fprintf(f, "settings\n");
    for (size_t s = 0; s < k->nsetting; s++) {
        fprintf(f, "  %-19s %-13s ", k->setting[s].name, k->setting[s].unit);
        if (isnan(k->setting[s].value))
            fprintf(f, "%10s  %s\n", k->setting[s].statistic ? "of data" : "required", k->setting[s].doc);
        else
            fprintf(f, "%10g  %s\n", k->setting[s].value, k->setting[s].doc);
    }
    for (size_t a = 0; a < k->naxis; a++)
        fprintf(f, "axis %s, %s: %s\n", k->axis[a].name, k->axis[a].unit, k->axis[a].doc);
    for (size_t c = 0; c < k->ncolumn; c++)
        fprintf(f, "column %s, %s: %s\n", k->column[c].name, k->column[c].unit, k->column[c].doc);
    for (size_t c = 0; c < k->nstate; c++)
        fprintf(f, "state %s, %s: %s\n", k->state[c].name, k->state[c].unit, k->state[c].doc ? k->state[c].doc : "");
    for (size_t c = 0; c < k->ncurve; c++)
        fprintf(f, "curve %s, %s: %s\n", k->curve[c].name, k->curve[c].unit, k->curve[c].doc);
    if (k->space == FIT_ROWS)
        fprintf(f, "\noperations: %u per row, of them %u functions\n",
                k->cost.per_pair + k->cost.per_pair_group, k->cost.functions_per_pair);
    else
        fprintf(f,
                "\noperations: %u per frame, %u per pair, %u per pair and angle (value only %u); "
                "%u functions per pair\n",
                k->cost.per_frame, k->cost.per_pair, k->cost.per_pair_group,
                k->cost.value_per_pair_group, k->cost.functions_per_pair);
    fprintf(f, "source %s, SHA-256 %.16s..., kernel %s %s, homodyne-gen %s\n", k->source, k->hash,
            k->variant, k->isa, FIT_VERSION);
}

enum fit_status fit_cmd_info(struct fit_program *p, const struct fit_cli *cli,
                             struct fit_error *err)
{
    const struct fit_kernel *k;
    enum fit_status st = fit_program_kernel(p, cli, &k, err);
    if (st != FIT_OK)
        return st;
    if (cli->devices)
        return fit_device_report(p->out, cli->json, err);
    if (cli->json)
        return info_json(p, k, err);
    if (!cli->quiet)
        info_text(p, k);
    return FIT_OK;
}
