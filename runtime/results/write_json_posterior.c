/* write_json_posterior.c -- the section `posterior` of fit.json: how it was sampled, whether it is reliable, and every
 * parameter beside its prior and its least-squares value.
 *
 * status: complete, time_limit or interrupted. shift: (posterior mean - least squares) / sd. contraction: 1 - (sd / sd
 * of the prior)^2. Parameters of groups are called contrast[0], contrast[1], ... in the order of `scaling`. The draws
 * are in posterior.nc.
 */
#include "sampler/psis.h"
#include "results/results.h"
#include "results/write_json.h"

#include <math.h>
#include <string.h>

static void put_prior(struct fit_json *j, const struct fit_prior *p)
{
    fit_json_begin(j, "prior", '{');
    fit_json_string(j, "type", fit_prior_word(p->kind));
    fit_json_number(j, "a", p->a);
    fit_json_number(j, "b", p->b);
    fit_json_number(j, "lower", p->lower);
    fit_json_number(j, "upper", p->upper);
    fit_json_boolean(j, "proper", p->proper);
    fit_json_number(j, "q025", p->proper ? fit_prior_quantile(p, 0.025) : NAN);
    fit_json_number(j, "median", p->proper ? fit_prior_quantile(p, 0.5) : NAN);
    fit_json_number(j, "q975", p->proper ? fit_prior_quantile(p, 0.975) : NAN);
    fit_json_end(j);
}

static void put_convergence(struct fit_json *j, const struct fit_convergence *c)
{
    fit_json_number(j, "r_hat", c->r_hat);
    fit_json_number(j, "r_hat_p", c->r_hat_p);
    fit_json_number(j, "tail_k", c->tail_k);
    fit_json_number(j, "ess_bulk", c->ess_bulk);
    fit_json_number(j, "ess_tail", c->ess_tail);
    fit_json_number(j, "mcse_mean", c->mcse_mean);
    fit_json_number(j, "mcse_sd", c->mcse_sd);
}

static void put_column(struct fit_json *j, const struct fit_results *r, size_t column)
{
    const struct fit_samples *s = r->samples;
    const struct fit_column_summary *c = &s->column[column];
    double value = fit_results_column_value(r, column),
           std = fit_results_column_std(r, column);
    char name[64];
    fit_samples_name(r->kernel, s->ngroup, column, name);
    fit_json_begin(j, name, '{');
    fit_json_number(j, "mean", c->heavy > 1 ? NAN : c->c.mean);
    fit_json_boolean(j, "fixed", c->constant);
    fit_json_string(j, "unit", fit_results_column_unit(r, column));
    fit_json_number(j, "sd", c->constant ? 0 : c->heavy ? NAN : c->c.sd);
    fit_json_number(j, "median", c->constant ? c->c.mean : c->median);
    fit_json_number(j, "q025", c->constant ? c->c.mean : c->q025);
    fit_json_number(j, "q05", c->constant ? c->c.mean : c->q05);
    fit_json_number(j, "q95", c->constant ? c->c.mean : c->q95);
    fit_json_number(j, "q975", c->constant ? c->c.mean : c->q975);
    if (!c->constant) {
        fit_json_number(j, "sd_robust", c->sd_robust);
        fit_json_number(j, "q025_robust", c->q025_robust);
        fit_json_number(j, "q975_robust", c->q975_robust);
        put_convergence(j, &c->c);
        fit_json_number(j, "mcse_median", c->mcse_median);
        if (column < s->nsampled) {
            put_prior(j, &c->prior);
            fit_json_number(j, "contraction", c->contraction);
            fit_json_number(j, "near_lower", c->near_lower);
            fit_json_number(j, "near_upper", c->near_upper);
        }
        fit_json_number(j, "least_squares", value);
        fit_json_number(j, "least_squares_std", std);
        int undetermined = (column < r->fit->nfull || column >= s->nsampled) && !(std > 0);
        fit_json_number(j, "shift", undetermined ? NAN : (c->c.mean - value) / c->c.sd);
        fit_json_number(j, "sd_ratio", c->c.sd / std);
    }
    fit_json_end(j);
}

static void put_settings(struct fit_json *j, const struct fit_samples *s)
{
    int nuts = s->method == FIT_SAMPLING_NUTS;
    fit_json_integer(j, "chains", (int64_t)s->chains);
    fit_json_integer(j, "warmup", (int64_t)s->warmup);
    fit_json_integer(j, "draws", (int64_t)s->draws);
    fit_json_integer(j, "seed", (int64_t)s->seed);
    fit_json_integer(j, "threads", s->threads);
    if (!nuts)
        return;
    fit_json_number(j, "target_accept", s->target_accept);
    fit_json_integer(j, "max_tree_depth", s->max_depth);
    fit_json_string(j, "metric", s->dense ? "dense" : "diagonal");
    fit_json_number(j, "resumed_iterations", s->resumed);
}

static void put_chains(struct fit_json *j, const struct fit_results *r)
{
    const struct fit_samples *s = r->samples;
    char name[64];
    fit_samples_name(r->kernel, s->ngroup, s->worst_column, name);
    fit_json_number(j, "max_r_hat", s->worst_r_hat);
    fit_json_string(j, "max_r_hat_of", name);
    fit_json_number(j, "min_ess", s->least_ess);
    fit_json_number(j, "divergences", s->divergences);
    fit_json_number(j, "divergence_rate", s->divergences / (double)(s->chains * s->draws));
    fit_json_string(j, "divergences_where", s->divergence_text);
    fit_json_number(j, "saturated_trees", s->saturated);
    fit_json_number(j, "min_ebfmi", s->least_bfmi);
    fit_json_begin(j, "chain", '[');
    for (size_t k = 0; k < s->chains; k++) {
        const struct fit_chain_health *h = &s->health[k];
        fit_json_begin(j, NULL, '{');
        fit_json_number(j, "acceptance_rate", h->accept_mean);
        fit_json_number(j, "step_size", h->step_mean);
        fit_json_number(j, "divergences", h->divergences);
        fit_json_number(j, "saturated_trees", h->saturated);
        fit_json_number(j, "ebfmi", h->ebfmi);
        fit_json_number(j, "leapfrog_steps", h->leapfrogs);
        fit_json_end(j);
    }
    fit_json_end(j);
}

/* Modes with their fractions of the mass. */
static void put_modes(struct fit_json *j, const struct fit_results *r)
{
    const struct fit_samples *s = r->samples;
    if (s->nmode < 2)
        return;
    fit_json_string(j, "modes", s->modes_text);
    fit_json_numbers(j, "mode_parts", s->mode_part, s->nmode);
    fit_json_boolean(j, "modes_apart", s->modes_apart);
}

static void put_weights(struct fit_json *j, const struct fit_samples *s)
{
    fit_json_number(j, "pareto_k", s->pareto_k);
    fit_json_number(j, "pareto_k_threshold", fit_psis_threshold(s->draws));
    fit_json_number(j, "weight_ess", s->weight_ess);
    fit_json_number(j, "log_evidence", s->log_evidence);
}

static void put_shards(struct fit_json *j, const struct fit_consensus *c)
{
    fit_json_begin(j, "shard", '[');
    for (size_t k = 0; k < c->nshard; k++) {
        const struct fit_shard_report *h = &c->shard[k];
        fit_json_begin(j, NULL, '{');
        fit_json_integer(j, "points", (int64_t)h->npoint);
        fit_json_number(j, "r_hat", h->r_hat);
        fit_json_number(j, "ess", h->ess);
        fit_json_number(j, "divergences", h->divergences);
        fit_json_integer(j, "retries", h->retries);
        fit_json_number(j, "chi2", h->distance);
        fit_json_number(j, "p", h->p);
        fit_json_number(j, "seconds", h->seconds);
        fit_json_end(j);
    }
    fit_json_end(j);
}

/* Numbers of shards by their place; means and deviations by parameter. */
static void put_consensus(struct fit_json *j, const struct fit_results *r)
{
    const struct fit_consensus *c = r->samples->consensus;
    if (!c)
        return;
    fit_json_begin(j, "consensus", '{');
    fit_json_integer(j, "shards", (int64_t)c->nshard);
    fit_json_integer(j, "chains", (int64_t)c->chains);
    fit_json_integer(j, "warmup", (int64_t)c->warmup);
    fit_json_integer(j, "draws", (int64_t)c->draws);
    fit_json_integer(j, "runs_repeated", (int64_t)c->retries);
    fit_json_number(j, "heterogeneity_chi2", c->heterogeneity);
    fit_json_number(j, "heterogeneity_dof", c->freedom);
    fit_json_number(j, "heterogeneity_p", c->p);
    fit_json_number(j, "pareto_k", c->k);
    fit_json_number(j, "weight_ess", c->ess);
    fit_json_string(j, "exact_method", c->exact);
    fit_json_begin(j, "uncorrected", '{');
    for (size_t k = 0; k < r->samples->nparam; k++) {
        fit_json_begin(j, r->kernel->param[k].name, '{');
        fit_json_number(j, "mean", c->theta_mean[k]);
        fit_json_number(j, "sd", c->theta_sd[k]);
        fit_json_number(j, "exact_mean", c->exact_mean[k]);
        fit_json_number(j, "exact_sd", c->exact_sd[k]);
        fit_json_end(j);
    }
    fit_json_end(j);
    put_shards(j, c);
    fit_json_end(j);
}

static void put_work(struct fit_json *j, const struct fit_samples *s)
{
    fit_json_number(j, "gradients", s->gradients);
    fit_json_number(j, "passes", s->passes);
    fit_json_begin(j, "seconds", '{');
    fit_json_number(j, "mode", s->seconds.mode);
    fit_json_number(j, "sampling", s->seconds.sampling);
    fit_json_number(j, "summary", s->seconds.summary);
    fit_json_number(j, "total", s->seconds.total);
    fit_json_end(j);
    fit_json_integer(j, "starts", (int64_t)s->starts);
    fit_json_string(j, "starts_text", s->start_text);
    fit_json_integer(j, "undetermined_directions", (int64_t)s->weak);
    fit_json_integer(j, "linear_near_bounds", (int64_t)s->nbound);
    fit_json_integer(j, "draws_outside_bounds", (int64_t)s->outside);
}

static void put_residual_result(struct fit_json *j, const char *key, const struct fit_residual_result *x)
{
    fit_json_begin(j, key, '{');
    fit_json_number(j, "data", x->data);
    fit_json_number(j, "model", x->model);
    fit_json_number(j, "p", x->p);
    fit_json_number(j, "z", x->z);
    fit_json_boolean(j, "unusual", x->unusual != 0);
    fit_json_end(j);
}

/* Measures of the predictive check: of the mean over groups, then of each. */
static void put_residual_check(struct fit_json *j, const struct fit_results *r)
{
    const struct fit_residual_check *c = r->residuals;
    char text[1024];
    if (!c)
        return;
    fit_residual_text(c, r->input->phi && !r->input->q_group ? "angles" : "groups", sizeof text, text);
    fit_json_begin(j, "predictive_check", '{');
    fit_json_string(j, "text", text);
    fit_json_integer(j, "draws", (int64_t)c->draws);
    fit_json_integer(j, "points", (int64_t)c->points);
    for (size_t m = 0; m < FIT_RESIDUAL_MEASURES; m++) {
        const struct fit_residual_result *all = &c->result[c->ngroup * FIT_RESIDUAL_MEASURES + m];
        if (isnan(all->p))
            continue;
        fit_json_begin(j, fit_residual_word((enum fit_residual_measure)m), '{');
        put_residual_result(j, "all", all);
        fit_json_begin(j, "groups", '[');
        for (size_t g = 0; g < c->ngroup; g++)
            put_residual_result(j, NULL, &c->result[g * FIT_RESIDUAL_MEASURES + m]);
        fit_json_end(j);
        fit_json_end(j);
    }
    fit_json_end(j);
}

void fit_json_posterior(struct fit_json *j, const struct fit_results *r)
{
    const struct fit_samples *s = r->samples;
    if (!s && !r->no_samples)
        return;
    fit_json_begin(j, "posterior", '{');
    fit_json_string(j, "status", s ? fit_sampling_end_word(s->end) : "none");
    fit_json_boolean(j, "complete", s && s->complete);
    fit_json_string(j, "verdict", s ? fit_verdict_word(s->verdict) : "failed");
    fit_json_string(j, "verdict_text", s ? s->verdict_text : r->no_samples);
    if (s) {
        fit_json_string(j, "method", fit_sampling_method_word(s->method));
        put_settings(j, s);
        if (s->method == FIT_SAMPLING_NUTS)
            put_chains(j, r);
        else
            put_weights(j, s);
        if (r->fit->estimates.used == FIT_ESTIMATOR_EFFICIENT)
            fit_json_string(j, "log_evidence_reason",
                            "efficient estimates solve the equations of one model, which another model does not share");
        put_modes(j, r);
        put_consensus(j, r);
        put_work(j, s);
        if (r->predictive && r->kernel->density)
            fit_json_number(j, "predictive_p", r->predictive->p);
        put_residual_check(j, r);
        fit_json_begin(j, "parameters", '{');
        const size_t noise = s->nparam + s->ngroup * s->nlinear; /* when it is known, it is not a parameter */
        for (size_t k = 0; k < s->ncolumn; k++)
            if (k < noise || k >= s->nsampled || !s->column[k].constant)
                put_column(j, r, k);
        fit_json_end(j);
    }
    fit_json_end(j);
}
