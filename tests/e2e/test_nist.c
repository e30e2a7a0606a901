/* test_nist.c -- the 27 problems of nonlinear regression of the NIST Statistical Reference Datasets,
 * each from both starting points: 54 fits of compiled models, through the functions that the command
 * `fit` calls; and the same without a search for other starts.
 *
 * Judged by the log relative error, LRE = -log10(|value - certified| / |certified|), at most 11, of
 * parameters and of their standard deviations (McCullough, American Statistician 52 (1998) 358).
 * Certified values have eleven digits.  Lanczos1's residuals are the rounding of its data, 1e-13: its
 * standard deviations and residual sum of squares can only be met to three digits.
 *
 * Without a search two far starts lead elsewhere, as NIST says of them; then the fit must not claim
 * to have converged.
 *
 * Usage: test_nist            assert all this
 *        test_nist NAME       one problem, with its numbers
 *        test_nist --table    the table of the fits with a search, and what it sums up to
 */
#include "fit/fit.h"
#include "leastsquares/fit_types.h"
#include "fit/kernel.h"
#include "input/measurement.h"
#include "input/table.h"
#include "files/yaml_tree.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct fit_kernel *const nist_kernels[]; /* made by the build; ended by NULL */

enum { PARAMETERS = 16, PROBLEMS = 27 };

static const double MOST = 11;       /* digits that the certified values have */
static const double AVERAGE = 10;    /* wanted of the parameters, all runs together */
static const double AVERAGE_STD = 8; /* of the standard deviations */
static const double LEAST = 9;       /* of each parameter */
static const double LEAST_STD = 9;   /* of each standard deviation, but for Lanczos1: */
static const double LEAST_STD_LANCZOS1 = 2;

struct problem {
    const char *name; /* as NIST writes it */
    const struct fit_kernel *kernel;
    size_t n;
    const char *parameter[PARAMETERS];
    double start[2][PARAMETERS], value[PARAMETERS], std[PARAMETERS];
    double square; /* residual sum of squares */
};

/* What one run reached. */
struct score {
    double least, mean, least_std, mean_std, square;
    int met; /* converged to the certified values */
    int converged;
};

static double lre(double value, double certified)
{
    double e = fabs(value - certified) / fabs(certified);
    if (!isfinite(e))
        return 0;
    return e > 0 ? fmin(fmax(-log10(e), 0), MOST) : MOST;
}

/* ---- the certified values -------------------------------------------------------------------- */

static const struct fit_kernel *find_kernel(const char *name)
{
    for (size_t k = 0; nist_kernels[k]; k++) {
        const char *a = nist_kernels[k]->name, *b = name;
        while (*a && tolower((unsigned char)*b) == *a)
            a++, b++;
        if (!*a && !*b)
            return nist_kernels[k];
    }
    return NULL;
}

static double number(const struct fit_yaml *node, const char *key)
{
    const struct fit_yaml *v = fit_yaml_get(node, key);
    return v && v->kind == FIT_YAML_SCALAR ? strtod(v->text, NULL) : NAN;
}

static int read_problem(const struct fit_yaml_entry *entry, struct problem *p)
{
    const struct fit_yaml *list = fit_yaml_get(entry->value, "parameters");
    *p = (struct problem){.name = entry->key, .kernel = find_kernel(entry->key)};
    p->square = number(entry->value, "residual_sum_of_squares");
    if (!p->kernel || !list || list->n > PARAMETERS ||
        list->n != p->kernel->nparam + p->kernel->nlinear) {
        printf("%s: no model with its parameters\n", entry->key);
        return 0;
    }
    p->n = list->n;
    for (size_t k = 0; k < p->n; k++) {
        const struct fit_yaml *v = list->entry[k].value;
        p->parameter[k] = fit_yaml_get(v, "name")->text;
        p->start[0][k] = number(v, "start1");
        p->start[1][k] = number(v, "start2");
        p->value[k] = number(v, "certified");
        p->std[k] = number(v, "sd");
    }
    return 1;
}

/* Where the certified parameter stands in the full vector of a fit of one group. */
static size_t place(const struct problem *p, size_t k)
{
    const struct fit_kernel *kernel = p->kernel;
    for (size_t i = 0; i < kernel->nparam; i++)
        if (strcmp(kernel->param[i].name, p->parameter[k]) == 0)
            return i;
    for (size_t i = 0; i < kernel->nlinear; i++)
        if (strcmp(kernel->linear[i].name, p->parameter[k]) == 0)
            return kernel->nparam + i;
    printf("%s: the model has no %s\n", p->name, p->parameter[k]);
    exit(1);
}

/* ---- one run --------------------------------------------------------------------------------- */

static enum fit_status run(const struct problem *p, int which, int start_only,
                           struct fit_result *res, struct fit_error *err)
{
    char path[1024];
    double start[PARAMETERS], linear[PARAMETERS];
    struct fit_measurement *m = NULL;
    struct fit_options opt;
    for (size_t k = 0; k < p->n; k++) {
        size_t at = place(p, k);
        if (at < p->kernel->nparam)
            start[at] = p->start[which][k];
        else
            linear[at - p->kernel->nparam] = p->start[which][k];
    }
    snprintf(path, sizeof path, "%s/tests/data/nist/%s.csv", FIT_SOURCE_DIR, p->name);
    enum fit_status st = fit_table_load(path, NULL, p->kernel, NULL, &m, err);
    if (st != FIT_OK)
        return st;
    fit_options_default(&opt);
    opt.threads = 1;
    opt.start = start;
    opt.linear_start = linear;
    opt.start_only = start_only;
    st = fit_run(p->kernel, m->dataset, &opt, res, err);
    fit_measurement_free(m);
    return st;
}

static void print_run(const struct problem *p, const struct fit_result *res)
{
    printf("    %s: %s; %zu iterations, %zu passes; distance %.2g; from %s; chi2 %.11g (%.11g)\n",
           fit_word_name(res->status), res->message, res->iterations, res->evaluations,
           res->gradient, res->start_origin, res->chi2, p->square);
    for (size_t k = 0; k < p->n; k++) {
        size_t at = place(p, k);
        double v = at < res->nparam ? res->theta[at] : res->lin[at - res->nparam];
        printf("      %-3s %19.12g  certified %17.11g  %4.1f   "
               "std %17.11g  certified %17.11g  %4.1f\n",
               p->parameter[k], v, p->value[k], lre(v, p->value[k]), res->std[at], p->std[k],
               lre(res->std[at], p->std[k]));
    }
}

static struct score judge(const struct problem *p, const struct fit_result *res)
{
    struct score s = {.least = MOST, .least_std = MOST};
    for (size_t k = 0; k < p->n; k++) {
        size_t at = place(p, k);
        double v = at < res->nparam ? res->theta[at] : res->lin[at - res->nparam];
        double d = lre(v, p->value[k]), e = lre(res->std[at], p->std[k]);
        s.least = fmin(s.least, d);
        s.least_std = fmin(s.least_std, e);
        s.mean += d / (double)p->n;
        s.mean_std += e / (double)p->n;
    }
    s.square = lre(res->chi2, p->square);
    double least_std = strcmp(p->name, "Lanczos1") == 0 ? LEAST_STD_LANCZOS1 : LEAST_STD;
    s.converged = res->converged;
    s.met = res->converged && s.least >= LEAST && s.least_std >= least_std;
    return s;
}

/* Without a search these run into a valley from which nothing leads back. */
static int lost(const struct problem *p, int which)
{
    return which == 0 && (strcmp(p->name, "MGH10") == 0 || strcmp(p->name, "MGH17") == 0);
}

/* Both starts; writes a line of the table.  Returns the number of runs that failed. */
static int run_problem(const struct problem *p, int detailed, int start_only, struct score s[2])
{
    int failed = 0;
    for (int which = 0; which < 2; which++) {
        struct fit_result res;
        struct fit_error err = {0};
        s[which] = (struct score){0};
        if (run(p, which, start_only, &res, &err) != FIT_OK) {
            printf("%s from start %d: %s\n", p->name, which + 1, err.message);
            failed++;
            continue;
        }
        s[which] = judge(p, &res);
        int good = s[which].met || (start_only && lost(p, which) && !s[which].converged);
        if (detailed || !good)
            print_run(p, &res);
        failed += !good;
        fit_result_free(&res);
    }
    printf("%-9s  %4.1f %4.1f  %4.1f %4.1f   %4.1f %4.1f  %4.1f %4.1f   %4.1f %4.1f  %s %s%s\n", p->name,
           s[0].least, s[0].mean, s[1].least, s[1].mean, s[0].least_std, s[0].mean_std,
           s[1].least_std, s[1].mean_std, s[0].square, s[1].square, s[0].converged ? "yes" : "no ",
           s[1].converged ? "yes" : "no ", failed ? "  FAILED" : "");
    return failed;
}

/* All problems, or one; returns the number of assertions that failed. */
static int run_all(const struct fit_yaml *root, const char *only, int start_only)
{
    double sum = 0, sum_std = 0;
    int failed = 0, runs = 0, converged = 0, met = 0;
    printf("\n%s\nlog relative errors: least and mean\n"
           "problem    parameters            standard deviations     sum of     converged\n"
           "           start 1    start 2     start 1    start 2     squares\n",
           start_only ? "The given start alone" : "The given start and a search");
    for (size_t k = 0; k < root->n; k++) {
        struct problem p;
        struct score s[2];
        if (only && strcmp(only, root->entry[k].key) != 0)
            continue;
        if (!read_problem(&root->entry[k], &p)) {
            failed++;
            continue;
        }
        failed += run_problem(&p, only != NULL, start_only, s);
        sum += s[0].mean + s[1].mean;
        sum_std += s[0].mean_std + s[1].mean_std;
        converged += s[0].converged + s[1].converged;
        met += s[0].met + s[1].met;
        runs += 2;
    }
    printf("mean of %d runs: parameters %.2f, standard deviations %.2f; %d converged, %d to the certified "
           "values\n",
           runs, sum / runs, sum_std / runs, converged, met);
    if (!only && (runs != 2 * PROBLEMS || !(sum / runs >= AVERAGE) ||
                  !(sum_std / runs >= AVERAGE_STD))) {
        printf("wanted: %d runs, parameters %g, standard deviations %g\n", 2 * PROBLEMS, AVERAGE,
               AVERAGE_STD);
        failed++;
    }
    return failed;
}

int main(int argc, char **argv)
{
    struct fit_yaml_doc *doc = NULL;
    struct fit_error err = {0};
    int failed = 0;
    if (fit_yaml_parse_file(FIT_SOURCE_DIR "/tests/data/nist/certified.json", &doc, &err) !=
        FIT_OK) {
        printf("%s\n", err.message);
        return 1;
    }
    int table = argc > 1 && strcmp(argv[1], "--table") == 0;
    for (int start_only = 0; start_only < (table ? 1 : 2); start_only++)
        failed += run_all(fit_yaml_root(doc), argc > 1 && !table ? argv[1] : NULL, start_only);
    fit_yaml_free(doc);
    printf("%d failed\n", failed);
    return failed ? 1 : 0;
}
