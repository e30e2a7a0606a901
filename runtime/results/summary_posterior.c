/* summary_posterior.c -- the posterior on one screen of 80 columns: parameters, comparison with the prior and least
 * squares, the state of the chains, a verdict.
 *
 * Parameters of the groups stand on one line each when there are more than a few groups. ESS: the smaller of bulk and
 * tail.
 */
#include "base/number_text.h"
#include "results/results.h"

#include <limits.h>
#include <math.h>
#include <string.h>

enum { WIDTH = 80, FEW_GROUPS = 4, TEXT = 1024 };

/* A line truncated to the width, without blanks at its end. */
static void line(FILE *f, const char *text)
{
    size_t n = strlen(text);
    if (n > WIDTH)
        n = WIDTH;
    while (n > 0 && (((unsigned char)text[n] & 0xC0) == 0x80 || text[n - 1] == ' '))
        n--;
    fprintf(f, "%.*s\n", (int)n, text);
}

static void head(const struct fit_samples *s, FILE *f)
{
    char text[TEXT];
    if (s->consensus) {
        fit_write_consensus_head(s, f);
        return;
    }
    if (s->method == FIT_SAMPLING_NUTS)
        snprintf(text, sizeof text,
                 "posterior: NUTS, %zu chains of %zu + %zu iterations, %.0f gradients, %.3g s",
                 s->chains, s->warmup, s->draws, s->gradients, s->seconds.total);
    else
        snprintf(text, sizeof text,
                 "posterior: Laplace, %zu weighted draws, k %.2f, effective %.0f, %.3g s", s->draws,
                 s->pareto_k, s->weight_ess, s->seconds.total);
    line(f, text);
}

/* ---- the table ------------------------------------------------------------------------------- */

static const char *unit_of(const struct fit_results *r, size_t column)
{
    const char *unit = fit_results_column_unit(r, column);
    return strcmp(unit, "1") == 0 ? "" : unit;
}

/* "1.002  2917" for chains */
static void convergence(const struct fit_samples *s, double r_hat, double ess, char text[24])
{
    text[0] = '\0';
    if (s->method == FIT_SAMPLING_NUTS)
        snprintf(text, 24, "%5.3f %5.0f", r_hat, ess);
}

static void row(const struct fit_results *r, size_t column, int width, FILE *f)
{
    const struct fit_samples *s = r->samples;
    const struct fit_column_summary *c = &s->column[column];
    char name[64], mean[40], sd[40], low[40], high[40], none[40], chains[24], text[TEXT];
    fit_samples_name(r->kernel, s->ngroup, column, name);
    if (c->constant) {
        snprintf(text, sizeof text, "  %-*s %8.6g fixed %s", width, name, c->c.mean,
                 unit_of(r, column));
        line(f, text);
        return;
    }
    fit_format_error(c->c.mean, c->c.sd, mean, sizeof mean, sd, sizeof sd);
    fit_format_error(c->q025, c->c.sd, low, sizeof low, none, sizeof none);
    fit_format_error(c->q975, c->c.sd, high, sizeof high, none, sizeof none);
    convergence(s, c->c.r_hat, fmin(c->c.ess_bulk, c->c.ess_tail), chains);
    if (c->heavy) /* no moments: only intervals exist */
        snprintf(sd, sizeof sd, "-");
    if (c->heavy > 1)
        snprintf(mean, sizeof mean, "-");
    snprintf(text, sizeof text, "  %-*s %8s %7s %8s %8s %s %s", width, name, mean, sd, low, high,
             chains, unit_of(r, column));
    line(f, text);
}

/* One line for the columns first, first + stride, ... of all groups: the span of their means, the worst of the other
 * numbers; below a head of its own. */
static void span(const struct fit_results *r, size_t first, size_t stride, int width, FILE *f)
{
    const struct fit_samples *s = r->samples;
    double low = INFINITY, high = -INFINITY, sd = 0, r_hat = 0, ess = INFINITY;
    char name[64], from[40], to[40], error[40], chains[24], text[TEXT];
    for (size_t g = 0; g < s->ngroup; g++) {
        const struct fit_column_summary *c = &s->column[first + g * stride];
        low = fmin(low, c->c.mean);
        high = fmax(high, c->c.mean);
        sd = fmax(sd, c->c.sd);
        r_hat = fmax(r_hat, c->c.r_hat);
        ess = fmin(ess, fmin(c->c.ess_bulk, c->c.ess_tail));
    }
    fit_samples_name(r->kernel, s->ngroup, first, name);
    name[strcspn(name, "[")] = '\0';
    fit_format_error(low, sd, from, sizeof from, error, sizeof error);
    fit_format_error(high, sd, to, sizeof to, error, sizeof error);
    convergence(s, r_hat, ess, chains);
    snprintf(text, sizeof text, "  %-*s %9s %9s %14s %s %s", width, name, from, to, error, chains,
             unit_of(r, first));
    line(f, text);
}

static int name_width(const struct fit_results *r)
{
    size_t longest = 8;
    char name[64];
    for (size_t k = 0; k < r->samples->ncolumn; k++) {
        fit_samples_name(r->kernel, r->samples->ngroup, k, name);
        longest = strlen(name) > longest ? strlen(name) : longest;
    }
    return longest < 18 ? (int)longest : 18;
}

/* 1: of a linear parameter that all groups share, in another group than the first. */
static int told_before(const struct fit_results *r, size_t column)
{
    const struct fit_samples *s = r->samples;
    const size_t first = s->nparam, n = s->nlinear;
    return column >= first + n && column < first + s->ngroup * n && r->kernel->linear[(column - first) % n].over < 0;
}

/* A row for each column, but for noise that is known. */
static void each(const struct fit_results *r, int width, FILE *f)
{
    const struct fit_samples *s = r->samples;
    for (size_t k = s->nparam; k < s->ncolumn; k++) {
        const int noise = k >= s->nparam + s->ngroup * s->nlinear && k < s->nsampled;
        if (!told_before(r, k) && !(noise && s->column[k].constant))
            row(r, k, width, f);
    }
}

static void table(const struct fit_results *r, FILE *f)
{
    const struct fit_samples *s = r->samples;
    int width = name_width(r);
    char text[TEXT], groups[40];
    snprintf(text, sizeof text, "  %-*s %8s %7s %8s %8s %s", width, "", "mean", "sd", "2.5 %",
             "97.5 %", s->method == FIT_SAMPLING_NUTS ? "R-hat   ESS" : "");
    line(f, text);
    for (size_t k = 0; k < s->nparam; k++)
        row(r, k, width, f);
    if (s->ngroup <= FEW_GROUPS) {
        each(r, width, f);
        return;
    }
    for (size_t k = 0; k < r->fit->nderived; k++)
        if (r->fit->derived[k].group < 0)
            row(r, s->nsampled + k, width, f);
    snprintf(groups, sizeof groups, "%zu groups", s->ngroup);
    snprintf(text, sizeof text, "  %-*s %9s %9s %14s %s", width, groups, "mean from", "to", "largest sd",
             s->method == FIT_SAMPLING_NUTS ? "  the worst" : "");
    line(f, text);
    for (size_t q = 0; q < s->nlinear; q++)
        span(r, s->nparam + q, s->nlinear, width, f);
    if (!s->column[s->nparam + s->ngroup * s->nlinear].constant)
        span(r, s->nparam + s->ngroup * s->nlinear, 1, width, f);
    for (size_t k = 0; k < r->fit->nderived; k++)
        if (r->fit->derived[k].group == 0)
            span(r, s->nsampled + k, 1, width, f);
}

/* ---- below the table ------------------------------------------------------------------------- */

/* The parameter with the largest shift from its least-squares value. */
static void against_least_squares(const struct fit_results *r, FILE *f)
{
    const struct fit_samples *s = r->samples;
    double most = 0;
    size_t at = s->ncolumn;
    char name[64], text[TEXT];
    for (size_t k = 0; k < s->nparam + s->ngroup * s->nlinear; k++) {
        const struct fit_column_summary *c = &s->column[k];
        double shift = (c->c.mean - fit_results_column_value(r, k)) / c->c.sd;
        if (!c->constant && r->fit->std[k] > 0 &&
            fabs(shift) > fabs(most)) { /* not those undetermined */
            most = shift;
            at = k;
        }
    }
    if (at == s->ncolumn)
        return;
    fit_samples_name(r->kernel, s->ngroup, at, name);
    int n = snprintf(text, sizeof text, "%s: largest shift %.2g sd (%s)",
                     r->kernel->density ? "maximum likelihood" : "least squares",
                     fabs(most), name);
    double std = at < r->fit->nfull ? r->fit->std[at] : NAN, ratio = s->column[at].c.sd / std;
    if (n > 0 && (ratio < 0.5 || ratio > 2))
        snprintf(text + n, sizeof text - (size_t)n, ", its sd / standard error %.2g",
                 ratio);
    fit_put_wrapped(f, text, WIDTH, 2, INT_MAX);
}

/* Parameters that the data hardly constrain. */
static void where_priors_rule(const struct fit_results *r, FILE *f)
{
    const struct fit_samples *s = r->samples;
    char name[64], text[TEXT] = "";
    for (size_t k = 0; k < s->nparam; k++) {
        const struct fit_column_summary *c = &s->column[k];
        size_t n = strlen(text);
        if (c->constant || !fit_prior_decides(c->contraction))
            continue;
        fit_samples_name(r->kernel, s->ngroup, k, name);
        snprintf(text + n, sizeof text - n, "%s%s (sd %.2f of the prior's)",
                 n ? ", " : "prior-dominated: ", name, sqrt(fmax(0, 1 - c->contraction)));
    }
    fit_put_wrapped(f, text, WIDTH, 2, INT_MAX);
}

/* The mode, unless it was the one nearest to the least-squares result. */
static void where_it_began(const struct fit_samples *s, FILE *f)
{
    char text[TEXT];
    if (s->starts < 2 && s->weak == 0)
        return;
    size_t n = 0;
    text[0] = 0;
    if (s->starts > 1)
        n = (size_t)snprintf(text, sizeof text,
                             "mode: %s%sbest of those found from %zu starts by Pathfinder and Newton's method",
                             s->start_text, s->start_text[0] ? ", " : "", s->starts);
    if (s->weak && n < sizeof text)
        snprintf(text + n, sizeof text - n, "%s%zu directions without curvature there", n ? "; " : "mode: ", s->weak);
    fit_put_wrapped(f, text, WIDTH, 2, INT_MAX);
}

static void chains(const struct fit_results *r, FILE *f)
{
    const struct fit_samples *s = r->samples;
    char name[64], text[TEXT];
    fit_samples_name(r->kernel, s->ngroup, s->worst_column, name);
    snprintf(text, sizeof text,
             "chains: divergences %.0f, at max tree depth %.0f, E-BFMI %.2f, R-hat up to %.3f (%s), ESS from %.0f",
             s->divergences, s->saturated, s->least_bfmi, s->worst_r_hat, name, s->least_ess);
    fit_put_wrapped(f, text, WIDTH, 2, INT_MAX);
}

/* Deviations of the nonlinear parameters from the stretched draws. */
static void for_correlated_noise(const struct fit_results *r, FILE *f)
{
    const struct fit_samples *s = r->samples;
    char text[2 * TEXT];
    static const char *const why[2][2] = {
        {"residuals are correlated, because the noise is or the model misses something",
         "residuals are correlated, because the model misses something or the noise is"},
        {"rows scatter more or less than their errors say, or the model misses something",
         "the model misses something, or rows scatter more or less than their errors say"}};
    size_t n =
        (size_t)snprintf(text, sizeof text, "%s: sd is too small by a factor of %.2g",
                         why[r->fit->robust.kind == FIT_ROBUST_ROWS][fit_results_misses(r)], fit_results_wider(r));
    int told = 0;
    for (size_t k = 0; k < s->nparam && n < sizeof text - 100; k++)
        if (s->column[k].sd_robust > 0)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s %s %.2g", told++ ? "," : "; rightly it is",
                                  r->kernel->param[k].name, s->column[k].sd_robust);
    snprintf(text + n, sizeof text - n, told ? " (posterior_robust in posterior.nc)"
                                             : "; no parameter has a robust sd to put in its place");
    fit_put_wrapped(f, text, WIDTH, 2, INT_MAX);
}

/* Compares data drawn from the noise distribution at the draws with the measured data. */
static void predicted(const struct fit_results *r, FILE *f)
{
    double p = r->predictive->p;
    char text[TEXT];
    snprintf(text, sizeof text, "data drawn from the model scatter more than those measured in %.3g %% of the draws%s",
             100 * p, p < 0.01   ? ": THE DATA SCATTER MORE THAN THE NOISE DISTRIBUTION ALLOWS"
                      : p > 0.99 ? ": the data scatter less than the noise distribution allows"
                                 : "");
    fit_put_wrapped(f, text, WIDTH, 2, INT_MAX);
}

void fit_write_posterior_summary(const struct fit_results *r, FILE *f)
{
    const struct fit_samples *s = r->samples;
    char text[sizeof ((struct fit_samples *)0)->verdict_text + 32];
    if (!s && r->no_samples) {
        fprintf(f, "\n");
        snprintf(text, sizeof text, "NO POSTERIOR: %s", r->no_samples);
        fit_put_wrapped(f, text, WIDTH, 2, INT_MAX);
    }
    if (!s)
        return;
    fprintf(f, "\n");
    head(s, f);
    table(r, f);
    against_least_squares(r, f);
    where_priors_rule(r, f);
    where_it_began(s, f);
    if (s->method == FIT_SAMPLING_NUTS)
        chains(r, f);
    if (s->consensus)
        fit_write_consensus_bias(r, f);
    if (fit_results_wider(r) > 1.2)
        for_correlated_noise(r, f);
    if (r->predictive && !isnan(r->predictive->p))
        predicted(r, f);
    if (r->residuals) {
        fit_residual_text(r->residuals, r->input->phi && !r->input->q_group ? "angles" : "groups", sizeof text, text);
        fit_put_wrapped(f, text, WIDTH, 2, INT_MAX);
    }
    snprintf(text, sizeof text, "verdict: %s: %s", fit_verdict_word(s->verdict), s->verdict_text);
    fit_put_wrapped(f, text, WIDTH, 2, INT_MAX);
}
