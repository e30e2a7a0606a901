/* criteria.c -- the information criteria of Akaike and Schwarz; see criteria.h.
 *
 * With k parameters and n values
 *     AIC = -2 log L + 2 k          (Akaike, IEEE Trans. Automat. Control 19 (1974) 716)
 *     BIC = -2 log L + k log n      (Schwarz, Ann. Statist. 6 (1978) 461)
 * where -2 log L is, up to a constant that is the same for all models of the same values,
 *     chi2             for normal errors that are known
 *     n log(RSS / n)   for normal errors of one estimated standard deviation, which counts as a parameter
 *     -2 log L         for a noise distribution of the model
 * These criteria assume independent values. A difference of the BIC below 2 is hardly worth a mention, one above 10
 * very strong (Kass and Raftery, J. Am. Stat. Assoc. 90 (1995) 773, section 3.2).
 *
 * When neighbouring residuals are correlated by more than chance, L is a composite likelihood, made of marginal
 * densities of values that are not independent. Its criterion (Varin & Vidoni, Biometrika 92 (2005) 519) is
 *     CLIC = -2 log L + 2 tr(J H^-1),   tr(J H^-1) = k / eta,
 * J the covariance of the score, H its curvature, and eta the effective fraction of the values (sandwich.h), here of
 * the better fit, for correlations in the other one may be its misfit. d parameters without effect lower -2 log L by
 * 1/eta times chi2 with d degrees of freedom or, if J is known only from clusters of frames, d F(d, clusters - 1).
 * The decision uses the probability p that they lower it as much as they do: below 0.01 the larger model is
 * preferred, above 0.16, where CLIC of one parameter changes sign, the smaller; in between, and for two models with
 * equally many parameters, the data do not decide. For tables eta = (1 - rho)/(1 + rho) with the correlation rho of
 * neighbouring rows. */
#include "frontend/criteria.h"

#include "math/special.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int is_estimated(const struct front_result *r)
{
    return strcmp(r->noise, "residuals") == 0;
}

static int is_law(const struct front_result *r)
{
    return strcmp(r->noise, "law") == 0;
}

/* Known deviations are the same when they give the same chi2 for the same cost. */
static int same_noise(const struct front_result *a, const struct front_result *b)
{
    if (is_law(a) || is_law(b))
        return is_law(a) && is_law(b);
    if (is_estimated(a) || is_estimated(b))
        return is_estimated(a) && is_estimated(b);
    const double x = a->cost / a->chi2, y = b->cost / b->chi2;
    return fabs(x - y) <= 1e-9 * fmax(x, y);
}

/* NULL: they can be compared. */
static const char *obstacle(const struct front_result *const r[2], int same_data)
{
    if (!same_data)
        return "the data are different";
    if (r[0]->npoint != r[1]->npoint || strcmp(r[0]->selection, r[1]->selection) != 0)
        return "they were fitted to different values of these data";
    for (int k = 0; k < 2; k++) {
        if (r[k]->package || !r[k]->noise[0] || isnan(r[k]->nfree))
            return "one of the results does not say how its errors were found";
        if (strcmp(r[k]->loss, "linear") != 0)
            return "a robust loss is not a likelihood; fit both with --loss linear";
        if (strcmp(r[k]->scaling, "hierarchical") == 0)
            return "contrasts of a population are not free parameters; fit both with another --scaling";
        if (r[k]->reweighted)
            return "the values were weighted by the residuals of each fit; give both the noise (--sigma)";
        if (r[k]->efficient)
            return "efficient estimates do not minimise a sum of squares; fit both with --estimator least-squares";
        if (r[k]->converged != 1)
            return "one of the two fits did not converge";
    }
    return same_noise(r[0], r[1]) ? NULL : "the errors of the values are not the same in both";
}

/* ---- values that are not independent --------------------------------------------------------------------- */

static const double BY_CHANCE = 4;                    /* standard errors of a correlation */
static const double SURELY = 0.01, LIKELY_NOT = 0.16; /* probabilities of the gain by chance */

/* Neighbouring residuals of independent noise have a correlation of about 0 +- n^(-1/2). */
int front_is_correlated(const struct front_result *r)
{
    if (strcmp(r->robust, "independent noise") == 0)
        return 0;
    return r->correlation * sqrt(r->npoint) > BY_CHANCE;
}

/* Effective fraction of the values; NaN: unknown. */
static double part_that_counts(const struct front_result *r)
{
    if (r->pairs)
        return fmin(r->eta, 1);
    return (1 - r->correlation) / (1 + r->correlation);
}

/* Probability that F(d, n) exceeds f. */
static double f_tail(double f, double d, double n)
{
    return f > 0 ? fit_beta_cdf(n / (n + d * f), 0.5 * n, 0.5 * d) : 1;
}

static const char *choose(const struct front_result *const r[2], const struct front_criteria c[2],
                          struct front_choice *x)
{
    const int fits = c[1].minus_two_log_l < c[0].minus_two_log_l;
    *x = (struct front_choice){.correlated = front_is_correlated(r[fits]), .eta = 1, .p = NAN, .better = -1};
    if (!x->correlated)
        return NULL;
    x->eta = part_that_counts(r[fits]);
    if (!(x->eta > 0))
        return "residuals are correlated, and nothing tells how many values count";
    const int larger = c[1].nparam > c[0].nparam;
    const double more = fabs(c[1].nparam - c[0].nparam);
    if (more == 0)
        return "residuals are correlated: between models of equally many parameters nothing decides";
    const double gain = (c[!larger].minus_two_log_l - c[larger].minus_two_log_l) * x->eta;
    const double known = r[fits]->pairs && r[fits]->clusters > 1 ? r[fits]->clusters - 1 : 1e6;
    x->p = f_tail(gain / more, more, known);
    x->better = x->p < SURELY ? larger : x->p > LIKELY_NOT ? !larger : -1;
    return NULL;
}

int front_criteria(const struct front_result *const r[2], int same_data, struct front_criteria out[2],
                   struct front_choice *choice, char *why, size_t size)
{
    const char *reason = obstacle(r, same_data);
    for (int k = 0; k < 2 && !reason; k++) {
        const double n = r[k]->npoint;
        struct front_criteria *c = &out[k];
        c->nparam = r[k]->nfree + is_estimated(r[k]);
        c->what = is_law(r[k]) ? "-2 log L" : is_estimated(r[k]) ? "n log(RSS/n)" : "chi2";
        c->minus_two_log_l = is_law(r[k])         ? -2 * r[k]->log_likelihood
                             : is_estimated(r[k]) ? n * log(2 * r[k]->cost / n) /* cost: RSS / 2 */
                                                  : r[k]->chi2;
        c->aic = c->minus_two_log_l + 2 * c->nparam;
        c->bic = c->minus_two_log_l + c->nparam * log(n);
    }
    if (!reason)
        reason = choose(r, out, choice);
    for (int k = 0; k < 2 && !reason; k++)
        out[k].clic = out[k].minus_two_log_l + 2 * out[k].nparam / choice->eta;
    snprintf(why, size, "%s", reason ? reason : "");
    return !reason;
}

double front_bayes_factor(const struct front_result *const r[2], int same_data, char *why, size_t size)
{
    *why = '\0';
    if ((r[0]->efficient || r[1]->efficient) && *r[0]->posterior && *r[1]->posterior) { /* weights are each model's */
        snprintf(why, size, "%s", "efficient estimates solve the equations of one model, which another model does not "
                                  "share");
        return NAN;
    }
    if (isnan(r[0]->log_evidence) || isnan(r[1]->log_evidence))
        return NAN;
    if (!same_data || r[0]->npoint != r[1]->npoint || strcmp(r[0]->selection, r[1]->selection) != 0)
        snprintf(why, size, "%s", "they are of different values");
    else if (strcmp(r[0]->improper, r[1]->improper) != 0)
        snprintf(why, size, "%s",
                 "a parameter of one of them has an improper prior, which the other does not share");
    else if (front_is_correlated(r[0]) && front_is_correlated(r[1]))
        snprintf(why, size, "%s", "residuals are correlated, and evidence takes the values as independent");
    return *why ? NAN : r[1]->log_evidence - r[0]->log_evidence;
}
