/* summary_consensus.c -- the consensus of shards on the screen: its method, the agreement of the shards, and its
 * distance from the exact posterior before its correction. */
#include "results/results.h"

/* Shards that stand out. */
static void worst_shards(const struct fit_consensus *c, FILE *f)
{
    for (size_t k = 0; k < c->nworst; k++) {
        const struct fit_shard_report *r = &c->shard[c->worst[k]];
        fprintf(f, "%s %zu (chi2 %.0f of %zu, p %.1g)", k ? "," : "  far from the others: shard", c->worst[k] + 1,
                r->distance, c->nz, r->p);
    }
    if (c->nworst)
        fprintf(f, "\n");
}

void fit_write_consensus_head(const struct fit_samples *s, FILE *f)
{
    const struct fit_consensus *c = s->consensus;
    size_t least = c->shard[0].npoint, most = least;
    for (size_t k = 0; k < c->nshard; k++) {
        least = c->shard[k].npoint < least ? c->shard[k].npoint : least;
        most = c->shard[k].npoint > most ? c->shard[k].npoint : most;
    }
    fprintf(f, "posterior: consensus of %zu shards of %zu..%zu points, %zu chains of %zu + %zu each,\n", c->nshard,
            least, most, c->chains, c->warmup, c->draws);
    fprintf(f, "  %.3g gradients, %.3g s for the shards, %.3g s in all", c->gradients, c->seconds, s->seconds.total);
    if (c->retries)
        fprintf(f, "; %zu runs of shards repeated", c->retries);
    if (c->nshard > 1)
        fprintf(f, "\n  agreement of the shards: chi2 %.0f of %.0f, p %.2g", c->heterogeneity, c->freedom, c->p);
    fprintf(f, "\n");
    worst_shards(c, f);
    if (!c->raw)
        fprintf(f, "  corrected with all data: k of the combination %.2f, effective %.0f of %zu%s\n", c->k, c->ess,
                s->draws, s->pareto_k < c->k || s->pareto_k > c->k ? "; a second proposal was made" : "");
}

/* The combination before its correction, beside the exact posterior. */
void fit_write_consensus_bias(const struct fit_results *r, FILE *f)
{
    const struct fit_samples *s = r->samples;
    const struct fit_consensus *c = s->consensus;
    if (!c)
        return;
    fprintf(f, "  before the correction:       mean        sd   shift  %s\n",
            c->exact ? "  exact mean  exact sd    bias" : "");
    for (size_t k = 0; k < s->nparam; k++) {
        if (s->column[k].constant)
            continue;
        double shift = (s->column[k].c.mean - c->theta_mean[k]) / s->column[k].c.sd;
        fprintf(f, "  %-18s   %11.5g %9.2g %+7.2f", r->kernel->param[k].name, c->theta_mean[k], c->theta_sd[k], shift);
        if (c->exact)
            fprintf(f, "   %11.5g %9.2g %+7.2f", c->exact_mean[k], c->exact_sd[k],
                    (c->theta_mean[k] - c->exact_mean[k]) / c->exact_sd[k]);
        fprintf(f, "\n");
    }
    fprintf(f, "  shift: by the correction, bias: from the exact posterior (%s), in its sd\n",
            c->exact ? c->exact : "too dear here");
}
