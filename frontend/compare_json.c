/* compare_json.c -- two results side by side as JSON, and as a page: homodyne-report draws it, from both folders and
 * from this JSON, in a temporary file; see compare.h. */
#include "base/json.h"
#include "frontend/compare.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_pair(struct fit_json *j, const char *name, const char *a, const char *b)
{
    fit_json_begin(j, name, '[');
    fit_json_string(j, NULL, a);
    fit_json_string(j, NULL, b);
    fit_json_end(j);
}

static void put_loo_json(struct fit_json *j, const struct comparison *c)
{
    const struct front_loo *x = &c->loo;
    if (!x->nrow) {
        if (c->no_loo[0])
            fit_json_string(j, "no_loo", c->no_loo);
        return;
    }
    fit_json_begin(j, "loo", '{');
    fit_json_numbers(j, "elpd", x->elpd, 2);
    fit_json_numbers(j, "elpd_error", x->se, 2);
    fit_json_number(j, "difference", x->difference);
    fit_json_number(j, "difference_error", x->difference_se);
    fit_json_integer(j, "rows", (int64_t)x->nrow);
    fit_json_numbers(j, "draws", (double[]){(double)x->draws[0], (double)x->draws[1]}, 2);
    fit_json_numbers(j, "pareto_k_threshold", x->threshold, 2);
    fit_json_numbers(j, "rows_unreliable", (double[]){(double)x->unreliable[0], (double)x->unreliable[1]}, 2);
    fit_json_end(j);
}

static void put_parameters_json(struct fit_json *j, const struct comparison *c, int all)
{
    const struct front_result *a = c->r[0], *b = c->r[1];
    fit_json_begin(j, "parameters", '{');
    for (size_t k = 0; k < a->nparam; k++) {
        const struct front_param *p = &a->param[k], *q = comparison_partner(c, 1, p->name);
        if (!q || !comparison_shown(p, all) || !comparison_same_unit(p, q) || !c->same_model)
            continue;
        fit_json_begin(j, p->name, '{');
        fit_json_numbers(j, "value", (double[]){front_estimate(a, p), front_estimate(b, q)}, 2);
        fit_json_numbers(j, "std", (double[]){front_error(a, p), front_error(b, q)}, 2);
        fit_json_number(j, "difference", front_estimate(b, q) - front_estimate(a, p));
        fit_json_number(j, "sigma", comparison_sigma(c, p, q));
        fit_json_end(j);
    }
    fit_json_end(j);
}

/* Every parameter of either result as in the table; NaN in a result without it. */
static void put_row_json(struct fit_json *j, const struct comparison *c, const struct front_param *p,
                         const struct front_param *q)
{
    const struct front_result *a = c->r[0], *b = c->r[1];
    fit_json_begin(j, NULL, '{');
    fit_json_string(j, "name", p ? p->name : q->name);
    put_pair(j, "unit", p ? p->unit : "", q ? q->unit : "");
    fit_json_numbers(j, "value", (double[]){p ? front_estimate(a, p) : NAN, q ? front_estimate(b, q) : NAN}, 2);
    fit_json_numbers(j, "std", (double[]){p ? front_error(a, p) : NAN, q ? front_error(b, q) : NAN}, 2);
    fit_json_number(j, "sigma",
                    p && q && c->same_model && comparison_same_unit(p, q) ? comparison_sigma(c, p, q) : NAN);
    put_pair(j, "remark",
             !p                ? "none"
             : p->fixed        ? "held"
             : p->undetermined ? "undetermined"
                               : "",
             !q                ? "none"
             : q->fixed        ? "held"
             : q->undetermined ? "undetermined"
                               : "");
    fit_json_end(j);
}

static void put_rows_json(struct fit_json *j, const struct comparison *c, int all)
{
    const struct front_result *a = c->r[0], *b = c->r[1];
    fit_json_begin(j, "rows", '[');
    for (size_t k = 0; k < a->nparam; k++)
        if (comparison_shown(&a->param[k], all))
            put_row_json(j, c, &a->param[k], comparison_partner(c, 1, a->param[k].name));
    for (size_t k = 0; k < b->nparam; k++)
        if (comparison_shown(&b->param[k], all) && !comparison_partner(c, 0, b->param[k].name))
            put_row_json(j, c, NULL, &b->param[k]);
    fit_json_end(j);
}

static void put_criteria_json(struct fit_json *j, const struct comparison *c)
{
    if (c->ranked) {
        const struct front_criteria *x = &c->criteria[0], *y = &c->criteria[1];
        fit_json_begin(j, "criteria", '{');
        fit_json_string(j, "likelihood", x->what);
        fit_json_numbers(j, "parameters", (double[]){x->nparam, y->nparam}, 2);
        fit_json_numbers(j, "minus_two_log_likelihood", (double[]){x->minus_two_log_l, y->minus_two_log_l}, 2);
        fit_json_boolean(j, "correlated", c->choice.correlated);
        if (c->choice.correlated) {
            fit_json_numbers(j, "clic", (double[]){x->clic, y->clic}, 2);
            fit_json_number(j, "eta", c->choice.eta);
            fit_json_number(j, "p", c->choice.p);
            fit_json_string(j, "prefers", c->choice.better < 0 ? "none" : c->choice.better ? "second" : "first");
        } else {
            fit_json_numbers(j, "aic", (double[]){x->aic, y->aic}, 2);
            fit_json_numbers(j, "bic", (double[]){x->bic, y->bic}, 2);
        }
        fit_json_end(j);
    } else {
        fit_json_string(j, "no_criteria", c->why_not);
    }
}

static void put_all_json(struct fit_json *j, const struct comparison *c, int all)
{
    const struct front_result *a = c->r[0], *b = c->r[1];
    put_pair(j, "model", a->model, b->model);
    put_pair(j, "estimate", a->sampled ? "posterior" : "least_squares", b->sampled ? "posterior" : "least_squares");
    put_parameters_json(j, c, all);
    fit_json_numbers(j, "reduced_chi2", (double[]){a->reduced_chi2, b->reduced_chi2}, 2);
    fit_json_boolean(j, "same_data", c->same_data);
    fit_json_boolean(j, "same_model", c->same_model);
    put_criteria_json(j, c);
    fit_json_numbers(j, "log_evidence", (double[]){a->log_evidence, b->log_evidence}, 2);
    fit_json_number(j, "log_bayes_factor", c->bayes);
    put_loo_json(j, c);
    fit_json_number(j, "limit", c->limit);
    fit_json_integer(j, "beyond", (int64_t)c->nbeyond);
    fit_json_boolean(j, "agree", !comparison_differs(c) && c->ncompared > 0);
}

enum fit_status comparison_json(FILE *f, const struct comparison *c, int all, struct fit_error *err)
{
    struct fit_json j = {0};
    fit_json_begin(&j, NULL, '{');
    put_all_json(&j, c, all);
    fit_json_end(&j);
    return fit_json_put(&j, f) == 0 ? FIT_OK : fit_no_memory(err, NULL);
}

/* ---- the page -------------------------------------------------------------------------------- */

/* The conclusions of the command, in which the results are A and B. */
static enum fit_status put_said(struct fit_json *j, const struct comparison *c, struct fit_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (!f)
        return fit_no_memory(err, "compare");
    comparison_verdict(f, c, (const char *const[]){"A", "B"});
    if (fclose(f) != 0) {
        free(text);
        return fit_no_memory(err, "compare");
    }
    fit_json_begin(j, "said", '[');
    for (char *line = text, *end; *line; line = end) { /* a continuation line is indented */
        while ((end = strchr(line, '\n')) && end[1] == ' ')
            memmove(end, end + 1, strlen(end));
        end = end ? (*end = 0, end + 1) : line + strlen(line);
        fit_json_string(j, NULL, line);
    }
    fit_json_end(j);
    free(text);
    return FIT_OK;
}

static enum fit_status write_told(const struct comparison *c, const struct front_args *a, const char *file,
                                  struct fit_error *err)
{
    struct fit_json j = {0};
    FILE *f = fopen(file, "w");
    if (!f)
        return fit_fail(err, FIT_ERR_IO, "%s: cannot be written: %s", file, strerror(errno));
    fit_json_begin(&j, NULL, '{');
    put_all_json(&j, c, option_given(&a->own, "all"));
    put_rows_json(&j, c, option_given(&a->own, "all"));
    enum fit_status st = put_said(&j, c, err);
    fit_json_end(&j);
    if (st == FIT_OK && fit_json_put(&j, f) != 0)
        st = fit_no_memory(err, "compare");
    fit_json_free(&j);
    if (fclose(f) != 0 && st == FIT_OK)
        st = fit_fail(err, FIT_ERR_IO, "%s: cannot be written; is the disk full?", file);
    return st;
}

enum fit_status comparison_page(struct front *f, const struct comparison *c, char *const where[2],
                                const struct front_args *a, struct fit_error *err)
{
    const char *named = option_value(&a->own, "report"), *output = option_value(&a->own, "output");
    char program[FRONT_PATH + 32];
    struct front_temporary told;
    int code = 0;
    enum fit_status st = front_temporary_begin(&told, "told.json", err);
    if (st != FIT_OK)
        return st;
    snprintf(program, sizeof program, "%s/homodyne-report", f->dir);
    output = named && *named ? named : output ? output : "compare.html";
    const char *how = a->quiet ? "--quiet" : a->json ? "--json" : NULL;
    char *const word[] = {program, front_word("compare"),  where[0],           where[1],        front_word("--told"),
                          told.file, front_word("--output"), front_word(output), front_word(how), NULL};
    long pid = 0;
    fflush(f->out); /* the conclusions come before the page's line */
    st = write_told(c, a, told.file, err);
    if (st == FIT_OK)
        st = front_start(program, word, NULL, &pid, err);
    if (st == FIT_OK)
        st = front_wait(pid, &code, err);
    front_temporary_end(&told);
    f->exit_code = code; /* it has said what was wrong */
    return st;
}
