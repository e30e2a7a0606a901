/* verdict.c -- evaluates the draws: moments and quantiles of every parameter, convergence, a verdict.
 *
 * Limits of the verdict: Vehtari et al. (2021) require R-hat < 1.01 and 100 effective draws of bulk and tail per chain;
 * chains that differ by more than chance fail (fit_convergence.r_hat_p); Betancourt (2016) requires an energy fraction
 * above 0.3; importance sampling is judged by the shape of the tail of its weights (Vehtari et al. 2024).
 */
#include "sampling/sampling_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number_text.h"
#include "model/derived.h"
#include "sampler/psis.h"

static const double OTHER_PART = 0.01; /* of the mass in another mode that is worth a word */
static const double NO_VARIANCE = 0.5,
                    NO_MEAN = 0.7; /* shape of a tail; means above 0.7 need too many draws */
static const double BY_CHANCE = 1e-3;                 /* probability below which chains are different */
static const double APART = 1.05;                     /* R-hat of chains that give different numbers */
static const double OFTEN = 0.05;                     /* fraction of diverging draws above which the numbers are in
                                                       * doubt */
static const double SELDOM = 1e-3;
static const double EDGE = 0.25; /* standard deviations: near a bound */

static double given(double x, double otherwise)
{
    return x > 0 ? x : otherwise;
}

/* What the posterior declares about a column: bounds, prior, and whether it is fixed. */
static const struct fit_posterior_param *declared(const struct fit_samples *s, const struct fit_posterior *p,
                                                  size_t column)
{
    if (column < s->nparam)
        return &p->setup.param[column];
    size_t e = column - s->nparam;
    return e < s->ngroup * s->nlinear ? &p->setup.param[s->nparam + e % s->nlinear] : NULL;
}

/* dev[chains x draws] <- a nonlinear parameter minus the mean of the draws nearest to the same one of several modes.
 * 0: a mode has no parameters. */
static int deviations(const struct fit_samples *s, const struct fit_posterior *p, size_t column, double *theta,
                      double *dev)
{
    double at[FIT_MODES], count[FIT_MODES] = {0}, mean[FIT_MODES] = {0};
    size_t n = s->chains * s->draws;
    for (size_t k = 0; k < s->nmode; k++) {
        if (!fit_posterior_theta(p, s->modes + k * s->ncoordinate, theta))
            return 0;
        at[k] = theta[column];
    }
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < n; i++) {
            double x = s->x[i * s->ncolumn + column];
            size_t k = 0;
            for (size_t j = 1; j < s->nmode; j++)
                k = fabs(x - at[j]) < fabs(x - at[k]) ? j : k;
            count[k] += pass == 0;
            mean[k] += pass == 0 ? x : 0;
            dev[i] = x - mean[k] / count[k];
        }
    return 1;
}

/* With several modes, width and tail are those of a mode, not of their distances. *sd is unchanged where there is
 * one. */
static enum fit_status about_modes(struct fit_samples *s, const struct fit_posterior *p, size_t column,
                                   struct fit_convergence *c, double *sd, struct fit_error *err)
{
    FIT_SCRATCH(a);
    enum fit_status st = FIT_OK;
    struct fit_convergence about;
    *sd = c->sd;
    if (s->nmode < 2 || column >= s->nparam)
        return st;
    double *dev = fit_take(&a, s->nparam + s->chains * s->draws, sizeof *dev);
    const double **chain = fit_take(&a, s->chains, sizeof *chain);
    if (a.failed)
        st = fit_no_memory(err, "posterior");
    for (size_t k = 0; k < s->chains && st == FIT_OK; k++)
        chain[k] = dev + s->nparam + k * s->draws;
    if (st == FIT_OK && deviations(s, p, column, dev, dev + s->nparam) &&
        (st = fit_convergence(&(struct fit_draws){s->chains, s->draws, chain, 1}, &about, err)) == FIT_OK) {
        *sd = about.sd;
        c->tail_k = about.tail_k;
        c->tail_k_error = about.tail_k_error;
    }
    return st;
}

/* sd: of a mode. */
static void edges(struct fit_column_summary *c, const struct fit_samples *s, size_t column, double sd, double lower,
                  double upper)
{
    double near = EDGE * sd, n = (double)(s->chains * s->draws), low = 0, high = 0;
    for (size_t k = 0; k < s->chains * s->draws; k++) {
        double x = s->x[k * s->ncolumn + column];
        low += x < lower + near; /* false without a bound */
        high += x > upper - near;
    }
    c->near_lower = low / n;
    c->near_upper = high / n;
}

/* Standard deviation of a prior, from the distance of its quartiles as for a normal one. */
static double prior_sd(const struct fit_prior *p)
{
    return (fit_prior_quantile(p, 0.75) - fit_prior_quantile(p, 0.25)) / 1.3489795003921634;
}

static int is_constant(const struct fit_samples *s, size_t column)
{
    for (size_t k = 1; k < s->chains * s->draws; k++)
        if (s->x[k * s->ncolumn + column] != s->x[column])
            return 0;
    return 1;
}

/* The prior of a column, of which levels may leave no number. */
static void column_prior(const struct fit_samples *s, const struct fit_posterior *p, size_t column,
                         const struct fit_posterior_param *d)
{
    struct fit_column_summary *c = &s->column[column];
    c->contraction = NAN;
    if (column >= s->nsampled) /* it has what follows from those of the parameters */
        c->prior = (struct fit_prior){.kind = FIT_PRIOR_NONE, .lower = -INFINITY, .upper = INFINITY};
    else if (d)
        fit_prior_init(&c->prior, d->prior, d->a, d->b, d->lower, d->upper);
    else
        fit_prior_init(&c->prior, p->setup.noise.prior, p->setup.noise.a, p->setup.noise.b, 0, INFINITY);
    const struct fit_posterior_level *level = column < s->nparam ? p->setup.level : NULL;
    for (int k = 0; d && level && k < 2; k++)
        if ((c->prior_from[k] = level[column].from[k]) != 0) { /* no number, and no distribution by itself */
            *(k ? &c->prior.b : &c->prior.a) = NAN;
            c->prior.proper = 0;
        }
}

/* Convergence of the sampled draws, when the result is combined from them. */
static void take_within(struct fit_convergence *c, const struct fit_convergence *w)
{
    c->r_hat = w->r_hat;
    c->r_hat_p = w->r_hat_p;
    c->ess_bulk = w->ess_bulk;
    c->ess_tail = w->ess_tail;
    c->ess_mean = w->ess_mean;
    c->mcse_mean = c->sd / sqrt(w->ess_mean);
}

static enum fit_status summarise_column(struct fit_samples *s, const struct fit_posterior *p, size_t column,
                                        const double **chain, struct fit_error *err)
{
    struct fit_column_summary *c = &s->column[column];
    const struct fit_posterior_param *d = declared(s, p, column);
    struct fit_draws draws = {s->chains, s->draws, chain, s->ncolumn};
    for (size_t k = 0; k < s->chains; k++)
        chain[k] = s->x + k * s->draws * s->ncolumn + column;
    column_prior(s, p, column, d);
    c->constant = is_constant(s, column);
    enum fit_status st = fit_convergence(&draws, &c->c, err);
    if (st == FIT_OK && s->within && !c->constant)
        take_within(&c->c, &s->within[column]);
    double sd = c->c.sd;
    if (st == FIT_OK && !c->constant)
        st = about_modes(s, p, column, &c->c, &sd, err);
    c->heavy = c->c.tail_k >= NO_MEAN ? 2 : c->c.tail_k >= NO_VARIANCE;
    static const double part[] = {0.025, 0.05, 0.5, 0.95, 0.975};
    double *to[] = {&c->q025, &c->q05, &c->median, &c->q95, &c->q975};
    for (size_t k = 0; k < 5 && st == FIT_OK; k++)
        st = fit_quantile(&draws, part[k], to[k], NULL, part[k] == 0.5 ? &c->mcse_median : NULL, err);
    if (c->constant)
        c->c.mean = c->median = s->x[column];
    if (st != FIT_OK || !d || c->constant)
        return st;
    if (c->prior.proper)
        c->contraction = 1 - pow(c->c.sd / prior_sd(&c->prior), 2);
    edges(c, s, column, sd, d->lower, d->upper);
    return FIT_OK;
}

static void covariances(struct fit_samples *s)
{
    size_t n = s->ncolumn, m = s->chains * s->draws;
    for (size_t a = 0; a < n; a++)
        for (size_t b = a; b < n; b++) {
            double sum = 0;
            for (size_t k = 0; k < m; k++)
                sum += (s->x[k * n + a] - s->column[a].c.mean) * (s->x[k * n + b] - s->column[b].c.mean);
            s->covariance[a * n + b] = s->covariance[b * n + a] = m > 1 ? sum / (double)(m - 1) : NAN;
        }
}

/* Counts draws with a linear parameter outside its bounds: integrated ones are not bounded. */
static void count_outside(struct fit_samples *s, const struct fit_posterior *p)
{
    for (size_t k = 0; k < s->chains * s->draws; k++)
        for (size_t e = 0; e < s->ngroup * s->nlinear; e++) {
            const struct fit_posterior_param *d = declared(s, p, s->nparam + e);
            double x = s->x[k * s->ncolumn + s->nparam + e];
            if (x < d->lower || x > d->upper) {
                s->outside++;
                break;
            }
        }
}

static void worst_of(struct fit_samples *s)
{
    size_t worst = 0;
    s->worst_r_hat = 0;
    s->least_ess = INFINITY;
    for (size_t k = 0; k < s->nsampled; k++) {
        const struct fit_convergence *c = &s->column[k].c;
        if (s->column[k].constant)
            continue;
        if (!(c->r_hat <= s->worst_r_hat)) {
            s->worst_r_hat = c->r_hat;
            worst = k;
        }
        s->least_ess = fmin(s->least_ess, fmin(c->ess_bulk, c->ess_tail));
    }
    s->worst_column = worst;
    s->least_bfmi = INFINITY;
    for (size_t k = 0; s->health && k < s->chains; k++) {
        s->divergences += s->health[k].divergences;
        s->saturated += s->health[k].saturated;
        s->least_bfmi = fmin(s->least_bfmi, s->health[k].ebfmi);
    }
}

/* ---- the verdict --------------------------------------------------------------------------------------- */

/* Adds a sentence and lowers the verdict. */
static void reason(struct fit_samples *s, enum fit_verdict v, const char *text)
{
    size_t n = strlen(s->verdict_text);
    s->verdict = v > s->verdict ? v : s->verdict;
    snprintf(s->verdict_text + n, sizeof s->verdict_text - n, "%s%s", n ? "; " : "", text);
}

/* The column whose mean over diverging trajectories differs most from that over all draws. */
static void locate_divergences(struct fit_samples *s, const struct fit_posterior *p)
{
    size_t at = s->ncolumn, n = s->chains * s->draws;
    double most = 0;
    char name[64];
    s->divergence_text[0] = 0;
    for (size_t c = 0; c < s->nsampled && s->divergences > 0; c++) {
        double sum = 0;
        if (s->column[c].constant)
            continue;
        for (size_t k = 0; k < n; k++)
            sum += s->stats[k].divergent > 0 ? s->x[k * s->ncolumn + c] : 0;
        double off = (sum / s->divergences - s->column[c].c.mean) / s->column[c].c.sd;
        if (!(fabs(off) > fabs(most)))
            continue;
        most = off;
        at = c;
    }
    if (!(fabs(most) > 0.5 && fabs(most) * sqrt(s->divergences) > 3)) /* no more than chance would have it */
        return;
    fit_samples_name(p->setup.kernel, s->ngroup, at, name);
    snprintf(s->divergence_text, sizeof s->divergence_text, "where %s is %s (mean %.1f sd %s that of all draws)", name,
             most > 0 ? "high" : "low", fabs(most), most > 0 ? "above" : "below");
}

/* "0.02, 0.21, 0.02, 0.03": of at most eight chains, with the digits in which they differ. */
static void chain_means(const struct fit_samples *s, size_t column, char *text, size_t size)
{
    double mean[8] = {0}, low = INFINITY, high = -INFINITY;
    size_t n = 0, chains = s->chains < 8 ? s->chains : 8;
    for (size_t c = 0; c < chains; c++) {
        for (size_t k = 0; k < s->draws; k++)
            mean[c] += s->x[(c * s->draws + k) * s->ncolumn + column] / (double)s->draws;
        low = fmin(low, mean[c]);
        high = fmax(high, mean[c]);
    }
    text[0] = 0;
    for (size_t c = 0; c < chains && n < size; c++) {
        char one[40], none[40];
        fit_format_error(mean[c], high - low, one, sizeof one, none, sizeof none);
        n += (size_t)snprintf(text + n, size - n, "%s%s", c ? ", " : "", one);
    }
}

/* Do chains scatter more than their own autocorrelation explains, by the least of the probabilities of all columns
 * (Bonferroni)? R-hat alone would not tell: with M half chains and S effective draws in all R-hat^2 - 1 is M/S times
 * chi2_(M-1)/(M - 1) when all is well, above the limit of 1.01 in half of the runs of 400 effective draws. */
static void judge_agreement(struct fit_samples *s, const struct fit_sampling_options *o, const struct fit_posterior *p)
{
    double limit = given(o->max_r_hat, 1.01), least = 1, tests = 0;
    char text[320], means[128], name[64];
    size_t at = s->worst_column;
    for (size_t k = 0; k < s->nsampled; k++) {
        const struct fit_convergence *c = &s->column[k].c;
        tests += !s->column[k].constant;
        if (!s->column[k].constant && c->r_hat > limit && !(c->r_hat_p >= least)) {
            least = isnan(c->r_hat_p) ? 0 : c->r_hat_p;
            at = k;
        }
    }
    if (isnan(s->worst_r_hat)) {
        least = 0;
        at = s->worst_column;
    }
    if (!(least * tests < BY_CHANCE))
        return;
    const double r_hat = s->column[at].c.r_hat;
    fit_samples_name(p->setup.kernel, s->ngroup, at, name);
    chain_means(s, at, means, sizeof means);
    snprintf(text, sizeof text, "the chains disagree about %s (R-hat %.3f, %.2f allowed): their means are %s", name,
             r_hat, limit, means);
    reason(s, r_hat <= fmax(APART, limit) ? FIT_VERDICT_DOUBTFUL : FIT_VERDICT_FAILED, text);
}

static void judge_divergences(struct fit_samples *s, const struct fit_sampling_options *o)
{
    double n = (double)(s->chains * s->draws), often = given(o->max_divergence_rate, OFTEN);
    char text[320];
    if (!(s->divergences > 0))
        return;
    snprintf(text, sizeof text, "%.0f of %.0f draws ended in a divergence%s%s%s", s->divergences, n,
             s->divergence_text[0] ? ", mostly " : "", s->divergence_text,
             s->divergences > SELDOM * n ? ": parts of the posterior may not have been reached" : "");
    reason(s, s->divergences > often * n + 3 * sqrt(often * n)  ? FIT_VERDICT_FAILED
              : s->divergences > SELDOM * n                     ? FIT_VERDICT_DOUBTFUL
                                                                : FIT_VERDICT_GOOD, text);
}

static void judge_chains(struct fit_samples *s, const struct fit_sampling_options *o, const struct fit_posterior *p)
{
    double ess = given(o->min_ess, 100.0 * (double)s->chains), n = (double)(s->chains * s->draws);
    char text[320];
    if (s->mirror_apart)
        reason(s, FIT_VERDICT_FAILED, s->mirror_text);
    else
        judge_agreement(s, o, p);
    if (!(s->least_ess >= ess)) {
        snprintf(text, sizeof text,
                 "only %.0f effective draws of a parameter (%.0f wanted), its mean has an error of %.2g"
                 " sd: sample longer",
                 s->least_ess, ess, 1 / sqrt(s->least_ess));
        reason(s, s->least_ess >= 2 * (double)s->chains ? FIT_VERDICT_DOUBTFUL : FIT_VERDICT_FAILED, text);
    }
    judge_divergences(s, o);
    if (s->least_bfmi < given(o->min_bfmi, 0.3)) {
        snprintf(text, sizeof text, "the energy moves too slowly (E-BFMI %.2f): tails may be missing", s->least_bfmi);
        reason(s, FIT_VERDICT_DOUBTFUL, text);
    }
    if (s->saturated > 0.01 * n) {
        snprintf(text, sizeof text, "%.0f trajectories reached the largest tree depth", s->saturated);
        reason(s, FIT_VERDICT_DOUBTFUL, text);
    }
}

/* Parameters with a tail that has no variance, or may have none: k of the tail within one standard error of 1/2. */
static void judge_tails(struct fit_samples *s, const struct fit_posterior *p)
{
    char text[320], name[64], list[200] = "";
    int heaviest = 0;
    double most = 0;
    for (size_t k = 0; k < s->nsampled; k++) {
        const struct fit_column_summary *c = &s->column[k];
        size_t n = strlen(list);
        if (c->constant || !(c->c.tail_k + c->c.tail_k_error >= NO_VARIANCE))
            continue;
        fit_samples_name(p->setup.kernel, s->ngroup, k, name);
        snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "", name);
        most = fmax(most, c->c.tail_k);
        heaviest = c->heavy > heaviest ? c->heavy : heaviest;
    }
    if (!list[0])
        return;
    snprintf(text, sizeof text, "the tail of %s falls so slowly (k %.2f) that %s: take intervals", list, most,
             heaviest > 1 ? "neither its mean nor its sd means anything"
                          : heaviest ? "it has no variance" : "its sd need not exist");
    reason(s, FIT_VERDICT_DOUBTFUL, text);
}

static void judge_weights(struct fit_samples *s)
{
    char text[256];
    double threshold = fit_psis_threshold(s->draws);
    if (s->pareto_k < threshold)
        return;
    snprintf(text, sizeof text, "the posterior is not like its %s (k %.2f, below %.2f wanted): use --method nuts",
             s->consensus ? "combination of the shards" : "normal approximation", s->pareto_k, threshold);
    reason(s, FIT_VERDICT_FAILED, text);
}

static void judge_consensus(struct fit_samples *s)
{
    const struct fit_consensus *c = s->consensus;
    char text[256];
    if (c->raw)
        reason(s, FIT_VERDICT_DOUBTFUL, "the draws of the shards are combined but not corrected: they are biased");
    else
        judge_weights(s);
    if (!(c->p >= 1e-3)) {
        snprintf(text, sizeof text, "the shards disagree (chi2 %.0f where %.0f is expected, p %.1g)", c->heterogeneity,
                 c->freedom, c->p);
        reason(s, FIT_VERDICT_DOUBTFUL, text);
    }
}

/* Modes that the chains are not in.  Importance sampling has its own measure. */
static void judge_modes(struct fit_samples *s)
{
    char text[512];
    if (s->nmode > 1 && s->mode_k >= fit_psis_threshold(1000)) {
        snprintf(text, sizeof text,
                 "there are %zu modes, %s, whose masses are not known (k %.2f): the draws may have them in"
                 " another proportion",
                 s->nmode, s->modes_text, s->mode_k);
        reason(s, FIT_VERDICT_DOUBTFUL, text);
    } else if (s->nmode > 1 && s->mode_missed > OTHER_PART) {
        snprintf(text, sizeof text, "%.2g %% of the mass is in modes that no chain is in, of %s: take more --chains",
                 100 * s->mode_missed, s->modes_text);
        reason(s, FIT_VERDICT_DOUBTFUL, text);
    } else if (s->nmode > 1 && s->mode_part[0] < 1 - OTHER_PART) {
        snprintf(text, sizeof text, "there are %zu modes, in the draws in proportion to their masses: %s",
                 s->nmode, s->modes_text);
        reason(s, FIT_VERDICT_GOOD, text);
    }
    if (s->nmode > 1)
        return;
    if (!(s->other_mass > OTHER_PART))
        return;
    snprintf(text, sizeof text, "another mode, with %s, has about %.0f %% of the mass by its normal approximation: the"
                                " draws need not represent it", s->other_text, 100 * s->other_mass);
    reason(s, FIT_VERDICT_DOUBTFUL, text);
}

static void judge_bounds(struct fit_samples *s, const struct fit_posterior *p)
{
    char name[64], text[256];
    for (size_t k = 0; k < s->nsampled; k++) {
        const struct fit_column_summary *c = &s->column[k];
        fit_samples_name(p->setup.kernel, s->ngroup, k, name);
        int scale = fit_prior_numbers(c->prior.kind) == 1; /* 0 is where such a prior is largest */
        if (c->prior.kind == FIT_PRIOR_BETA_SCALED)
            continue; /* its bounds cut nothing: they are where such a density ends */
        if (c->constant || fmax(scale ? 0 : c->near_lower, c->near_upper) < 0.05)
            continue;
        snprintf(text, sizeof text, "%s piles up at its %s bound", name,
                 c->near_lower > c->near_upper ? "lower" : "upper");
        reason(s, FIT_VERDICT_DOUBTFUL, text);
    }
}

static void judge(struct fit_samples *s, const struct fit_posterior *p, const struct fit_sampling_options *o)
{
    char text[256];
    s->verdict = FIT_VERDICT_GOOD;
    s->verdict_text[0] = 0;
    if (!s->complete) {
        snprintf(text, sizeof text, "ended early, with %zu draws of each chain", s->draws);
        reason(s, FIT_VERDICT_DOUBTFUL, text);
    }
    if (s->stats)
        locate_divergences(s, p);
    if (s->method == FIT_SAMPLING_NUTS)
        judge_chains(s, o, p);
    else if (s->method == FIT_SAMPLING_CONSENSUS)
        judge_consensus(s);
    else
        judge_weights(s);
    judge_bounds(s, p);
    judge_tails(s, p);
    judge_modes(s);
    if (s->mirror_missed && !s->mirror_apart)
        reason(s, FIT_VERDICT_DOUBTFUL, s->mirror_text);
    if (s->verdict == FIT_VERDICT_GOOD)
        reason(s, FIT_VERDICT_GOOD,
               s->method == FIT_SAMPLING_NUTS
                   ? "the chains agree, and the effective sample size is sufficient for means and intervals"
                   : "the weighted draws represent the posterior");
    if (s->mirror_text[0] && !s->mirror_apart && !s->mirror_missed)
        reason(s, FIT_VERDICT_GOOD, s->mirror_text);
}

enum fit_status fit_samples_summarise(struct fit_samples *s, const struct fit_posterior *p,
                                      const struct fit_sampling_options *opt, struct fit_error *err)
{
    const double **chain = malloc(s->chains * sizeof *chain);
    enum fit_status st = chain ? FIT_OK : fit_no_memory(err, "posterior");
    for (size_t k = 0; st == FIT_OK && k < s->ncolumn; k++)
        st = summarise_column(s, p, k, chain, err);
    for (size_t k = 0; st == FIT_OK && s->stats && !s->within && k < s->chains; k++)
        fit_chain_health(s->stats + k * s->draws, s->draws, s->max_depth, &s->health[k]);
    free(chain);
    if (st != FIT_OK)
        return st;
    covariances(s);
    count_outside(s, p);
    worst_of(s);
    judge(s, p, opt);
    return FIT_OK;
}

const char *fit_sampling_method_word(enum fit_sampling_method m)
{
    return m == FIT_SAMPLING_NUTS ? "nuts" : m == FIT_SAMPLING_LAPLACE ? "laplace" : "consensus";
}

static const char *const verdicts[] = {"good", "doubtful", "failed"};

const char *fit_verdict_word(enum fit_verdict v)
{
    return verdicts[v];
}

enum fit_verdict fit_verdict_find(const char *word)
{
    return strcmp(word, verdicts[FIT_VERDICT_GOOD]) == 0     ? FIT_VERDICT_GOOD
           : strcmp(word, verdicts[FIT_VERDICT_FAILED]) == 0 ? FIT_VERDICT_FAILED
                                                             : FIT_VERDICT_DOUBTFUL;
}

void fit_samples_name(const struct fit_kernel *k, size_t ngroup, size_t column, char *name)
{
    size_t e = column - k->nparam, sigma = ngroup * k->nlinear;
    if (column < k->nparam) {
        snprintf(name, 64, "%s", k->param[column].name);
        return;
    }
    if (e >= sigma + ngroup) {
        long group;
        const size_t which = fit_derived_which(k, ngroup, e - sigma - ngroup, &group);
        snprintf(name, 64, group >= 0 && ngroup > 1 ? "%.50s[%ld]" : "%.50s", k->derived[which].name, group);
        return;
    }
    const char *stem = e < sigma ? k->linear[e % k->nlinear].name : "sigma";
    size_t group = e < sigma ? e / k->nlinear : e - sigma;
    if (ngroup > 1 && (e >= sigma || k->linear[e % k->nlinear].over >= 0))
        snprintf(name, 64, "%s[%zu]", stem, group);
    else
        snprintf(name, 64, "%s", stem);
}
