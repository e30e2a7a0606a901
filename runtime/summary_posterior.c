/* summary_posterior.c -- the posterior beside the least-squares result, on one screen of 80 columns. */
#include "results.h"

#include <math.h>
#include <string.h>

enum { MOST_ROWS = 24 };

static void head(const struct fit_samples *s, FILE *f)
{
    if (s->method == FIT_SAMPLING_NUTS)
        fprintf(f, "posterior: NUTS, %zu chains of %zu + %zu iterations, %.3g gradients, %.3g s\n", s->chains, s->warmup,
                s->draws, s->gradients, s->seconds.total);
    else
        fprintf(f, "posterior: Laplace, %zu weighted draws, k %.2f, effective %.0f, %.3g s\n", s->draws, s->pareto_k,
                s->weight_ess, s->seconds.total);
}

/* Least squares and posterior of one column. */
static void row(const struct fit_results *r, size_t k, FILE *f)
{
    const struct fit_samples *s = r->samples;
    const struct fit_column_summary *c = &s->column[k];
    char name[64], fit[40] = "";
    fit_samples_name(r->kernel, s->ngroup, k, name);
    size_t nfull = r->fit->nfull;
    double value = k < s->nparam ? r->fit->theta[k] : k < nfull ? r->fit->lin[k - s->nparam] : r->fit->sigma[k - nfull];
    if (k < nfull && r->fit->std[k] > 0)
        snprintf(fit, sizeof fit, "%.5g +- %.2g", value, r->fit->std[k]);
    else
        snprintf(fit, sizeof fit, "%.5g", value);
    if (c->constant) {
        fprintf(f, "  %-18s fixed at %g\n", name, c->c.mean);
        return;
    }
    fprintf(f, "  %-18s %11.5g %9.2g  [%.4g, %.4g]", name, c->c.mean, c->c.sd, c->q025, c->q975);
    if (s->method == FIT_SAMPLING_NUTS)
        fprintf(f, "  %.3f %5.0f", c->c.r_hat, fmin(c->c.ess_bulk, c->c.ess_tail));
    fprintf(f, "\n");
    (void)fit;
}

void fit_write_posterior_summary(const struct fit_results *r, FILE *f)
{
    const struct fit_samples *s = r->samples;
    if (!s)
        return;
    fprintf(f, "\n");
    head(s, f);
    fprintf(f, "  %-18s %11s %9s  %s%s\n", "", "mean", "sd", "95 % interval",
            s->method == FIT_SAMPLING_NUTS ? "  R-hat  ESS" : "");
    size_t rows = s->ncolumn < MOST_ROWS ? s->ncolumn : s->nparam;
    for (size_t k = 0; k < rows; k++)
        row(r, k, f);
    if (rows < s->ncolumn)
        fprintf(f, "  and %zu linear parameters and noise levels, see posterior.nc\n", s->ncolumn - rows);
    fprintf(f, "verdict: %s -- %s\n", fit_verdict_word(s->verdict), s->verdict_text);
}
